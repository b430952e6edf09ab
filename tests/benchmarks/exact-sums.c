/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "clock.h"
#include "machine.h"

/*
 * What summing cross products takes, beside the least that it can take on this machine: the longer of reading the data
 * once, and of arithmetic, all measured in the same run. Arithmetic is to cut each value once, to residues, bytes or
 * fixed point, and to multiply those of all pairs of columns, each at the best of the kernel, with all that it touches
 * in a near cache. Columns are those of X and Y: those of ones have sums, which are not counted. Nor is anything else
 * that is ours: finding scales, turning, transposing, moving residues and sums through memory, and reconstruction. But
 * where floats are checked while they are turned, both count. Of the blocks' sums only the reductions are counted that
 * the largest blocks take.
 *
 * Times are those of a clock. The distance from the minimum is processor time, and so is the minimum, by threads: other
 * programs affect these only by what they take of caches and memory.
 *
 * An argument limits it to the shapes whose name begins with it; APRENDER_KERNEL has another kernel measured.
 */

#define N_ROUNDS 7
#define N_THREADS 2

static const struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
} shapes[] = {
  { "1000x10", 1000, 10 },       { "1000000x10", 1000000, 10 }, { "100000x100", 100000, 100 },
  { "500000x100", 500000, 100 }, { "20000x500", 20000, 500 },   { "5000x1000", 5000, 1000 },
};

static double
now (clockid_t clock)
{
  return 1e-9 * (double) clock_read (clock);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double one = *(const double *) a;
  double other = *(const double *) b;

  return (one > other) - (one < other);
}

static double
median (double *times)
{
  qsort (times, N_ROUNDS, sizeof *times, compare);
  return times[N_ROUNDS / 2];
}

/* Seconds of the processors' time that reading takes, by threads. */
static double
time_reading (AprTensor *tensor)
{
  gsize size;
  const void *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  gint64 start = clock_read (CLOCK_PROCESS_CPUTIME_ID);

  (void) machine_time_reading (data, size, N_THREADS);
  return 1e-9 * (double) (clock_read (CLOCK_PROCESS_CPUTIME_ID) - start) / N_THREADS;
}

/* Sums of uniform deviates, which are near enough to normal, of 53 bits. */
static AprTensor *
make_tensor (GRand *rand, gsize n_rows, gsize n_columns, AprDType dtype)
{
  gsize n = n_rows * n_columns;
  double *values = g_new (double, n);
  g_autoptr (AprTensor) tensor = NULL;
  gsize shape[] = { n_rows, n_columns };
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = (g_rand_double (rand) + g_rand_double (rand) - 1) * 2.4494897427831781;
  tensor = apr_tensor_new_from_doubles (values, n, shape, 2, NULL);
  g_free (values);
  return apr_tensor_cast (tensor, dtype, NULL);
}

/* Seconds by the clock, and of the processors' time, by threads. */
static void
time_sums (AprTensor *x, AprTensor *y, AprPrecision precision, double *seconds, double *processor)
{
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);
  double start = now (CLOCK_MONOTONIC);
  double processor_start = now (CLOCK_PROCESS_CPUTIME_ID);

  if (!apr_exact_sums_update (sums, x, y, NULL, precision, &(AprRun){ .n_threads = N_THREADS }, NULL))
    g_error ("the sums cannot be taken");
  *seconds = now (CLOCK_MONOTONIC) - start;
  *processor = (now (CLOCK_PROCESS_CPUTIME_ID) - processor_start) / N_THREADS;
}

/* What the sums take, and what the least is made of, in each round. */
typedef struct
{
  double clock[N_ROUNDS];
  double processor[N_ROUNDS];
  double reading[N_ROUNDS];
  double cutting[N_ROUNDS];
  double multiplying[N_ROUNDS];
} Times;

/* The share is the median of the rounds' own: on a machine that others use too, how fast it multiplies may change from
 * one second to the next. */
static void
report (const char *what, Times *times)
{
  double shares[N_ROUNDS];
  gsize i;

  for (i = 0; i < N_ROUNDS; i++)
    shares[i] = MAX (times->reading[i], times->cutting[i] + times->multiplying[i]) / times->processor[i];
  printf ("  %-6s %8.2f ms, processor %8.2f ms: %3.0f %% of the bound, reading %7.2f ms or "
          "cutting %7.2f ms and multiplying %7.2f ms\n",
          what, median (times->clock) * 1e3, median (times->processor) * 1e3, 100 * median (shares),
          median (times->reading) * 1e3, median (times->cutting) * 1e3, median (times->multiplying) * 1e3);
}

static void
measure_round (AprPrecision precision,
               AprTensor *x,
               AprTensor *y,
               double n_values,
               double n_products,
               Times *times,
               gsize i)
{
  const AprSumsKernel *kernel = apr_sums_kernel_choose ();

  time_sums (x, y, precision, &times->clock[i], &times->processor[i]);
  times->reading[i] = time_reading (x);
  times->multiplying[i] = n_products / machine_measure_products (kernel, precision, x, y, N_THREADS);
  times->cutting[i] = precision == APR_PRECISION_EXACT
                      ? n_values / machine_measure_cutting (kernel, precision, x, y, N_THREADS)
                      : 0;
}

static void
measure (const char *name, gsize n_rows, gsize n_features, AprDType dtype)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (AprTensor) x = make_tensor (rand, n_rows, n_features, dtype);
  g_autoptr (AprTensor) y = make_tensor (rand, n_rows, 1, dtype);
  double columns = (double) n_features + 1;
  double n_values = (double) n_rows * columns;
  double n_products = (double) n_rows * columns * (columns + 1) / 2;
  Times exact;
  Times rounded;
  gsize i;

  for (i = 0; i < N_ROUNDS; i++)
    {
      measure_round (APR_PRECISION_EXACT, x, y, n_values, n_products, &exact, i);
      measure_round (APR_PRECISION_DOUBLE, x, y, n_values, n_products, &rounded, i);
    }
  printf ("%s %s, %.0f products\n", name, apr_dtype_to_string (dtype), n_products);
  report ("exact", &exact);
  report ("double", &rounded);
}

int
main (int argc, char *argv[])
{
  gsize i;

  printf ("# kernel %s, %d threads, medians of %d rounds\n", apr_sums_kernel_choose ()->name, N_THREADS,
          N_ROUNDS);
  printf ("# the bound: reading the data once, or cutting each value and multiplying all pairs of columns,\n"
          "# whichever is longer, in processor time, each at the kernel's best in a near cache\n");
  if (g_get_num_processors () > 1)
    printf ("# a word takes %.0f ns from one processor to another and back\n", machine_time_round_trip ());
  for (i = 0; i < G_N_ELEMENTS (shapes); i++)
    if (argc < 2 || g_str_has_prefix (shapes[i].name, argv[1]))
      {
        measure (shapes[i].name, shapes[i].n_rows, shapes[i].n_features, APR_DTYPE_F32);
        measure (shapes[i].name, shapes[i].n_rows, shapes[i].n_features, APR_DTYPE_F64);
      }
  return 0;
}
