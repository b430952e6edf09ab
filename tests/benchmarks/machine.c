/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <string.h>
#include <time.h>

#include "aprender/cross-products/kernels/apr-sums-kernel-private.h"

#if defined(__x86_64__)
# include <immintrin.h>
#endif

/* So many sums hide the time that one addition takes. */
#define N_SUMS 8

typedef struct
{
  const guint8 *bytes;
  gsize n_bytes;
  gsize n_rounds;
  double n_operations;
  volatile double result; /* so that nothing is left out */
} Work;

gint64
machine_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

gint64
machine_processor_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The nanoseconds that it takes all, the caller's thread among them. */
static double
run (GThreadFunc func, Work *works, guint n_threads)
{
  g_autofree GThread **threads = g_new0 (GThread *, n_threads);
  gint64 start = machine_now ();
  guint i;

  for (i = 1; i < n_threads; i++)
    threads[i] = g_thread_new ("benchmark", func, &works[i]);
  func (&works[0]);
  for (i = 1; i < n_threads; i++)
    g_thread_join (threads[i]);

  return (double) (machine_now () - start);
}

typedef guint64 Words __attribute__ ((vector_size (32), aligned (1), may_alias));

static gpointer
read_bytes (gpointer data)
{
  Work *work = data;
  Words sums[N_SUMS] = { 0 };
  gsize at;
  guint i;

  for (at = 0; at + sizeof sums <= work->n_bytes; at += sizeof sums)
    for (i = 0; i < N_SUMS; i++)
      sums[i] += *(const Words *) (gconstpointer) (work->bytes + at + i * sizeof (Words));
  for (i = 1; i < N_SUMS; i++)
    sums[0] += sums[i];
  work->result = (double) (sums[0][0] + sums[0][1] + sums[0][2] + sums[0][3]);

  return NULL;
}

double
machine_time_reading (const void *memory, gsize n_bytes, guint n_threads)
{
  g_autofree Work *works = g_new0 (Work, n_threads);
  guint i;

  for (i = 0; i < n_threads; i++)
    {
      works[i].bytes = (const guint8 *) memory + n_bytes / n_threads * i;
      works[i].n_bytes = n_bytes / n_threads;
    }

  return run (read_bytes, works, n_threads);
}

#define DEFINE_PEAK(name, target, VECTOR, LANES, SPLAT, MULTIPLY_ADD)    \
 target static gpointer name (gpointer data)                             \
 {                                                                       \
  Work *work = data;                                                     \
  VECTOR sums[2 * N_SUMS];                                               \
  VECTOR factor = SPLAT (1 + 1e-9);                                      \
  double result[LANES];                                                  \
  gsize n;                                                               \
  guint i;                                                               \
                                                                         \
  for (i = 0; i < 2 * N_SUMS; i++)                                       \
   sums[i] = SPLAT (i);                                                  \
  for (n = 0; n < work->n_rounds; n++)                                   \
   {                                                                     \
    _Pragma ("GCC unroll 16") for (i = 0; i < 2 * N_SUMS; i++) sums[i] = \
      MULTIPLY_ADD (sums[i], factor, factor);                            \
   }                                                                     \
  for (i = 1; i < 2 * N_SUMS; i++)                                       \
   sums[0] = MULTIPLY_ADD (sums[0], factor, sums[i]);                    \
  memcpy (result, &sums[0], sizeof result);                              \
  work->result = result[0];                                              \
  work->n_operations = (double) work->n_rounds * 2 * N_SUMS * LANES;     \
  return NULL;                                                           \
 }

#define PLAIN_SPLAT(a) (a)
#define PLAIN_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
DEFINE_PEAK (peak_plain, , double, 1, PLAIN_SPLAT, PLAIN_MULTIPLY_ADD)
#if defined(__x86_64__)
DEFINE_PEAK (peak_avx2, __attribute__ ((target ("avx2,fma"))), __m256d, 4, _mm256_set1_pd, _mm256_fmadd_pd)
DEFINE_PEAK (peak_avx512, __attribute__ ((target ("avx512f"))), __m512d, 8, _mm512_set1_pd, _mm512_fmadd_pd)
#endif

static GThreadFunc
choose_peak (void)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("avx512f"))
    return peak_avx512;
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    return peak_avx2;
#endif
  return peak_plain;
}

#ifdef APR_KERNELS_AMX
__attribute__ ((target ("amx-tile,amx-int8"))) static gpointer
peak_tiles (gpointer data)
{
  Work *work = data;
  gsize n;

  apr_byte_kernel_amx.start ();
  for (n = 0; n < work->n_rounds; n++)
    {
      _tile_dpbuud (0, 4, 6);
      _tile_dpbuud (1, 4, 7);
      _tile_dpbuud (2, 5, 6);
      _tile_dpbuud (3, 5, 7);
    }
  apr_byte_kernel_amx.stop ();
  work->n_operations = (double) work->n_rounds * 4 * APR_BYTE_SUMS * APR_BYTE_STEP;
  return NULL;
}
#endif

static double
measure_peak (GThreadFunc func, guint n_threads)
{
  g_autofree Work *works = g_new0 (Work, n_threads);
  double n_operations = 0;
  double nanoseconds;
  guint i;

  for (i = 0; i < n_threads; i++)
    works[i].n_rounds = 2000000;
  nanoseconds = run (func, works, n_threads);
  for (i = 0; i < n_threads; i++)
    n_operations += works[i].n_operations;

  return n_operations / nanoseconds * 1e9;
}

double
machine_measure_peak (guint n_threads)
{
  return measure_peak (choose_peak (), n_threads);
}

double
machine_measure_byte_peak (guint n_threads)
{
#ifdef APR_KERNELS_AMX
  if (apr_sums_kernel_choose ()->bytes == &apr_byte_kernel_amx)
    return measure_peak (peak_tiles, n_threads);
#endif
  return 0;
}
