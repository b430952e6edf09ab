/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <math.h>

#include "aprender/exact-sums/apr-residue-plan-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "clock.h"

/* So many sums hide the time that one addition takes. */
#define N_SUMS 8

/* Memory is fetched so far ahead: by itself the processor stops at the end of a page, which takes a quarter longer. */
#define BYTES_AHEAD 2048
#define LINE 64

typedef struct
{
  const guint8 *bytes;
  gsize n_bytes;
  volatile double result; /* so that nothing is left out */
} Work;

/* The nanoseconds that it takes all, the caller's thread among them. */
static double
run (GThreadFunc func, Work *works, guint n_threads)
{
  g_autofree GThread **threads = g_new0 (GThread *, n_threads);
  gint64 start = clock_read (CLOCK_MONOTONIC);
  guint i;

  for (i = 1; i < n_threads; i++)
    threads[i] = g_thread_new ("benchmark", func, &works[i]);
  func (&works[0]);
  for (i = 1; i < n_threads; i++)
    g_thread_join (threads[i]);

  return (double) (clock_read (CLOCK_MONOTONIC) - start);
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
    {
      for (i = 0; i < sizeof sums; i += LINE)
        __builtin_prefetch ((gconstpointer) ((guintptr) work->bytes + at + BYTES_AHEAD + i));
      for (i = 0; i < N_SUMS; i++)
        sums[i] += *(const Words *) (gconstpointer) (work->bytes + at + i * sizeof (Words));
    }
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

/* Words that are sent at a time, of which the fastest time counts, and how often. */
#define N_SENT 500
#define N_TIMES 100

static gpointer
send_back (gpointer data)
{
  gint *word = data;
  gint i;

  for (i = 1; i <= 2 * N_SENT * N_TIMES; i += 2)
    {
      while (g_atomic_int_get (word) != i)
        ;
      g_atomic_int_set (word, i + 1);
    }

  return NULL;
}

double
machine_time_round_trip (void)
{
  gint *word = g_aligned_alloc0 (1, LINE, LINE);
  GThread *thread = g_thread_new ("far", send_back, word);
  double least = INFINITY;
  gint i;
  gint j;

  for (i = 0; i < N_TIMES; i++)
    {
      gint64 start = clock_read (CLOCK_MONOTONIC);

      for (j = 2 * N_SENT * i + 1; j < 2 * N_SENT * (i + 1); j += 2)
        {
          g_atomic_int_set (word, j);
          while (g_atomic_int_get (word) != j + 1)
            ;
        }
      least = MIN (least, (double) (clock_read (CLOCK_MONOTONIC) - start) / N_SENT);
    }
  g_thread_join (thread);
  g_aligned_free (word);

  return least;
}

/* Products of two numbers of one kernel. */
typedef struct
{
  const AprSumsKernel *kernel;
  const AprResidueKernel *residues; /* (nullable) */
  const AprByteKernel *bytes;       /* (nullable) */
  AprPrecision precision;
  gboolean narrow; /* the numbers are floats */
  guint n_moduli;  /* residues that take the place of a product */
  double rate;     /* in a second */
} Peak;

static double
now_in_thread (void)
{
  return 1e-9 * (double) clock_read (CLOCK_THREAD_CPUTIME_ID);
}

/* Blocks as large as can be, so that sums are reduced as seldom as they can be. The panels on either side are one, so
 * that all are in the first cache. */
static gpointer
multiply_residues (gpointer data)
{
  enum
  {
    N = 500,
    N_PAIRS = 4,
    N_TILES = 4 * N_PAIRS,
  };
  Peak *peak = data;
  const AprResidueKernel *kernel = peak->residues;
  gsize size = apr_residue_kernel_get_panel_size (kernel, APR_RESIDUE_ROWS);
  gsize left_size = apr_residue_kernel_get_left_size (kernel, APR_RESIDUE_ROWS);
  gsize tile_size = APR_RESIDUE_TILE * kernel->residue_size;
  gsize n_tiles = kernel->multiply_pairs != NULL ? N_TILES : APR_RESIDUE_RIGHT;
  guint8 *left = g_aligned_alloc0 (1, left_size, 64);
  guint8 *panel = g_aligned_alloc0 (1, size, 64);
  guint8 *tiles = g_aligned_alloc0 (N_TILES, tile_size, 64);
  guint8 *places[N_PAIRS][4];
  guint modulus = kernel->residue_size == 1 ? 255 : 9501;
  double start;
  gsize i;

  for (i = 0; i < N_TILES; i++)
    places[i / 4][i % 4] = tiles + i * tile_size;
  if (kernel->start != NULL)
    kernel->start ();
  start = now_in_thread ();
  for (i = 0; i < N; i++)
    if (kernel->multiply_pairs != NULL)
      kernel->multiply_pairs (left, 0, N_PAIRS, panel, 0, APR_RESIDUE_ROWS, modulus, places);
    else
      kernel->multiply (left, APR_RESIDUE_PANEL, panel, 0, APR_RESIDUE_RIGHT, FALSE, APR_RESIDUE_ROWS,
                        modulus, tiles, tile_size);
  peak->rate = (double) (N * n_tiles * APR_RESIDUE_ROWS * APR_RESIDUE_TILE) / (now_in_thread () - start);
  peak->rate /= peak->n_moduli;
  if (kernel->stop != NULL)
    kernel->stop ();
  g_aligned_free (left);
  g_aligned_free (panel);
  g_aligned_free (tiles);
  return NULL;
}

/* Few rows, of which the residues for all moduli are in a near cache. */
static gpointer
cut_residues (gpointer data)
{
  enum
  {
    N = 1000,
    N_ROWS = 64
  };
  Peak *peak = data;
  const AprResidueKernel *kernel = peak->residues;
  gsize size = apr_residue_kernel_get_panel_size (kernel, N_ROWS);
  AprResidueModuli moduli;
  double *values = g_aligned_alloc0 (N_ROWS * APR_RESIDUE_PANEL, sizeof *values, 64);
  double (*magic)[APR_RESIDUE_PANEL] = g_aligned_alloc0 (APR_RESIDUE_WORDS, sizeof *magic, 64);
  AprResidueRest *rests = g_new (AprResidueRest, N_ROWS * APR_RESIDUE_PANEL);
  AprResidueColumns columns = { values, peak->narrow, APR_RESIDUE_PANEL, N_ROWS };
  guint8 *residues;
  double start;
  guint word;
  gsize i;

  apr_residue_moduli_init (&moduli, kernel->residue_size, kernel->long_words, peak->n_moduli);
  apr_residue_moduli_prepare (&moduli);
  for (word = 0; word < moduli.n_words; word++)
    for (i = 0; i < APR_RESIDUE_PANEL; i++)
      magic[word][i] = ldexp (0x1.8p52 + apr_residue_moduli_get_bias (&moduli, word), 24 * (gint) word);
  residues = g_aligned_alloc0 (moduli.n_moduli, size, 64);
  start = now_in_thread ();
  for (i = 0; i < N; i++)
    kernel->cut (&moduli, &columns, magic, residues, size, rests);
  peak->rate = (double) N * N_ROWS * APR_RESIDUE_PANEL / (now_in_thread () - start);
  g_aligned_free (values);
  g_aligned_free (magic);
  g_aligned_free (residues);
  g_free (rests);
  return NULL;
}

/* A column of one block, again and again. */
static gpointer
cut_bytes (gpointer data)
{
  enum
  {
    N = 5000,
    N_STEPS = 4,
  };
  Peak *peak = data;
  double *column = g_aligned_alloc0 (N_STEPS * APR_BYTE_STEP, sizeof *column, 64);
  guint8 *tiles = g_aligned_alloc0 (N_STEPS * APR_BYTE_MAX, APR_BYTE_TILE, 64);
  double start = now_in_thread ();
  gsize i;

  for (i = 0; i < N; i++)
    peak->bytes->cut (column, N_STEPS, 1, !peak->narrow, tiles);
  peak->rate = (double) N * N_STEPS * APR_BYTE_STEP / (now_in_thread () - start);
  g_aligned_free (column);
  g_aligned_free (tiles);
  return NULL;
}

static gpointer
multiply_bytes (gpointer data)
{
  enum
  {
    N = 5000,
    N_STEPS = 2,
  };
  Peak *peak = data;
  const AprByteKernel *byte_kernel = peak->bytes;
  guint n_bytes = peak->narrow ? 6 : 9;
  gsize size = N_STEPS * APR_BYTE_MAX * APR_BYTE_TILE;
  guint8 *left = g_aligned_alloc0 (2, size, 64);
  gint64 *sums = g_aligned_alloc0 (APR_BYTE_PARTS * APR_BYTE_SUMS, sizeof (gint64), 64);
  double start;
  gsize i;

  byte_kernel->start ();
  start = now_in_thread ();
  for (i = 0; i < N; i++)
    byte_kernel->multiply (left, n_bytes, left + size, n_bytes, N_STEPS, sums);
  peak->rate = (double) N * N_STEPS * APR_BYTE_STEP * APR_BYTE_SUMS / (now_in_thread () - start);
  byte_kernel->stop ();
  g_aligned_free (left);
  g_aligned_free (sums);
  return NULL;
}

static gpointer
multiply_panels (gpointer data)
{
  enum
  {
    N = 20000
  };
  const gint8 signs[APR_SLICE_PARTS] = { 1 };
  Peak *peak = data;
  gsize size = APR_SLICE_PANEL * APR_SLICE_STRIDE;
  double *left = g_aligned_alloc0 (4 * size, sizeof (double), 64);
  gint64 sums[APR_SLICE_PARTS * APR_SLICE_TILE] = { 0 };
  double products[3 * APR_SLICE_TILE] __attribute__ ((aligned (64)));
  double start = now_in_thread ();
  gsize i;

  for (i = 0; i < N; i++)
    if (peak->precision == APR_PRECISION_EXACT)
      peak->kernel->slices->multiply (left, left + size, APR_SLICE_ROWS, APR_SLICE_STEPS, signs, sums);
    else
      peak->kernel->slices->multiply_double (left, 3 * APR_SLICE_PANEL, left + 3 * size, APR_SLICE_ROWS,
                                             products);
  peak->rate = (double) N * APR_SLICE_ROWS * APR_SLICE_TILE / (now_in_thread () - start);
  /* Of slices: those of two with two, or three with three. */
  if (peak->precision == APR_PRECISION_EXACT)
    peak->rate /= peak->narrow ? 3 : 6;
  else
    peak->rate *= 3;
  g_aligned_free (left);
  return NULL;
}

/* The same, to fixed point or two parts. */
static gpointer
cut_parts (gpointer data)
{
  enum
  {
    N = 20000
  };
  Peak *peak = data;
  const AprSliceKernel *slices = peak->kernel->slices;
  double *column = g_aligned_alloc0 (4 * APR_SLICE_STRIDE, sizeof *column, 64);
  double *parts = column + APR_SLICE_STRIDE;
  double start = now_in_thread ();
  gint64 sums[2];
  gsize i;

  for (i = 0; i < N; i++)
    if (slices->cut_fixed != NULL)
      slices->cut_fixed (column, APR_SLICE_ROWS, 1, parts, APR_SLICE_STRIDE, sums);
    else
      slices->cut_in_two (column, APR_SLICE_ROWS, 1, parts, APR_SLICE_STRIDE, sums);
  peak->rate = (double) N * APR_SLICE_ROWS / (now_in_thread () - start);
  g_aligned_free (column);
  return NULL;
}

/* Floats are multiplied as they are, but checked first: while they are turned, if their ranges are found then, or else
 * as columns. */
static gpointer
check_floats (gpointer data)
{
  enum
  {
    N = 5000,
    N_COLUMNS = 4
  };
  Peak *peak = data;
  const AprSliceKernel *slices = peak->kernel->slices;
  double *columns = g_aligned_alloc0 (N_COLUMNS * APR_SLICE_STRIDE, sizeof *columns, 64);
  float *rows = g_aligned_alloc0 (N_COLUMNS * APR_SLICE_ROWS, sizeof *rows, 64);
  AprColumnRange ranges[N_COLUMNS] = { { INFINITY, 0, 0 } };
  gboolean ranged;
  double start;
  gint64 sum;
  gsize i;
  gsize j;

  slices->transpose_floats (rows, APR_SLICE_ROWS, N_COLUMNS, APR_SLICE_STRIDE, columns, ranges);
  ranged = isfinite (ranges[0].max);
  start = now_in_thread ();
  for (i = 0; i < N; i++)
    if (ranged)
      slices->transpose_floats (rows, APR_SLICE_ROWS, N_COLUMNS, APR_SLICE_STRIDE, columns, ranges);
    else
      for (j = 0; j < N_COLUMNS; j++)
        slices->sum_whole (columns + j * APR_SLICE_STRIDE, APR_SLICE_ROWS, 1, &sum);
  peak->rate = (double) N * N_COLUMNS * APR_SLICE_ROWS / (now_in_thread () - start);
  g_aligned_free (rows);
  g_aligned_free (columns);
  return NULL;
}

static gpointer
multiply_whole (gpointer data)
{
  enum
  {
    N = 20000
  };
  Peak *peak = data;
  gsize size = APR_SLICE_PANEL * APR_SLICE_STRIDE;
  double *left = g_aligned_alloc0 (2 * size, sizeof (double), 64);
  gint64 lanes[3][APR_SLICE_TILE][APR_SLICE_LANES] = { 0 };
  const double units[APR_SLICE_PANEL] = { 1, 1, 1, 1 };
  AprSliceFetch fetch = { (const guint8 *) left, (const guint8 *) left };
  double start = now_in_thread ();
  gsize i;

  /* Doubles are of fixed point, or cut in two: their heads, the sums of heads and tails, and tails. */
  for (i = 0; i < N; i++)
    {
      if (!peak->narrow && peak->kernel->slices->multiply_fixed != NULL)
        {
          peak->kernel->slices->multiply_fixed (left, left + size, 0, APR_SLICE_ROWS, 0, &fetch, lanes[0],
                                                lanes[1], lanes[2]);
          continue;
        }
      peak->kernel->slices->multiply_whole (left, left + size, units, units, APR_SLICE_ROWS, FALSE, 0, &fetch,
                                            lanes[0], lanes[1]);
      if (peak->narrow)
        continue;
      peak->kernel->slices->multiply_whole (left, left + size, units, units, APR_SLICE_ROWS, FALSE, 0, &fetch,
                                            lanes[0], lanes[1]);
      peak->kernel->slices->multiply_tails (left, left + size, APR_SLICE_ROWS, 0, lanes[0]);
    }
  peak->rate = (double) N * APR_SLICE_ROWS * APR_SLICE_TILE / (now_in_thread () - start);
  g_aligned_free (left);
  return NULL;
}

/* The sum of what threads reach together. */
static double
measure (GThreadFunc func, const Peak *peak, guint n_threads)
{
  g_autofree GThread **threads = g_new0 (GThread *, n_threads);
  g_autofree Peak *peaks = g_new0 (Peak, n_threads);
  double rate = 0;
  guint i;

  for (i = 0; i < n_threads; i++)
    {
      peaks[i] = *peak;
      threads[i] = g_thread_new ("peak", func, &peaks[i]);
    }
  for (i = 0; i < n_threads; i++)
    {
      g_thread_join (threads[i]);
      rate += peaks[i].rate;
    }

  return rate;
}

static Peak
choose (const AprSumsKernel *kernel, AprPrecision precision, AprTensor *x, AprTensor *y)
{
  gboolean narrow = apr_tensor_get_dtype (x) == APR_DTYPE_F32;
  /* Floats are multiplied whole where there are not too many columns. */
  gboolean whole = narrow && kernel->slices->multiply_whole != NULL;
  Peak peak = { .kernel = kernel, .precision = precision, .narrow = narrow };
  AprRows x_rows;
  AprRows y_rows;
  gsize n_columns;

  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);
  n_columns = x_rows.n_columns + y_rows.n_columns + 1;
  if (precision == APR_PRECISION_EXACT)
    peak.residues = apr_sums_kernel_get_residues (kernel, x_rows.n_rows, n_columns, FALSE, whole);
  if (peak.residues != NULL)
    peak.n_moduli = apr_residue_plan_find (peak.residues, &x_rows, &y_rows, 0).n_moduli;
  if (peak.n_moduli == 0)
    peak.residues = NULL;
  if (peak.residues == NULL && precision == APR_PRECISION_EXACT)
    peak.bytes = apr_sums_kernel_get_bytes (kernel, n_columns, FALSE);

  return peak;
}

double
machine_measure_products (
  const AprSumsKernel *kernel, AprPrecision precision, AprTensor *x, AprTensor *y, guint n_threads)
{
  Peak peak = choose (kernel, precision, x, y);
  gboolean whole = precision == APR_PRECISION_EXACT && kernel->slices->multiply_whole != NULL;

  return measure (peak.residues != NULL ? multiply_residues
                  : peak.bytes != NULL  ? multiply_bytes
                  : whole               ? multiply_whole
                                        : multiply_panels,
                  &peak, n_threads);
}

double
machine_measure_cutting (
  const AprSumsKernel *kernel, AprPrecision precision, AprTensor *x, AprTensor *y, guint n_threads)
{
  Peak peak = choose (kernel, precision, x, y);

  if (precision != APR_PRECISION_EXACT ||
      (peak.residues == NULL && peak.bytes == NULL && kernel->slices->multiply_whole == NULL))
    return INFINITY;

  return measure (peak.residues != NULL ? cut_residues
                  : peak.bytes != NULL  ? cut_bytes
                  : peak.narrow         ? check_floats
                                        : cut_parts,
                  &peak, n_threads);
}
