/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/exact-reference.h"

#include <math.h>

#include "aprender/base/apr-cpu-private.h"
#include "aprender/exact-sums/apr-residue-plan-private.h"
#include "aprender/exact-sums/apr-residue-sums-private.h"

/* Sums in residues against the same in slices, bit for bit, and which rows residues leave. */

typedef enum
{
  ORDINARY,
  SCALES,   /* columns of all sizes */
  OFFSET,   /* hardly any variance */
  OUTLIERS, /* a few values that take the scale */
  TINY,     /* and a few that are far below it */
  LATE,     /* columns that are 0 at first */
  GROWING,  /* new scales, again and again */
  CANCELLING,
  UNSUITED,  /* some rows beyond the range of residues */
  SCATTERED, /* every value has a scale of its own */
  N_KINDS,
} Kind;

static double
draw (GRand *rand, Kind kind, gsize row, gsize column)
{
  double value = g_rand_double_range (rand, -1, 1) + g_rand_double_range (rand, -1, 1);

  switch (kind)
    {
    case SCALES:
      return ldexp (value, (gint) (column * 7 % 120) - 60);
    case OFFSET:
      return 1000 + value * 1e-3;
    case OUTLIERS:
      return g_rand_int_range (rand, 0, 3000) == 0 ? value * 0x1p20 : value;
    case TINY:
      return g_rand_int_range (rand, 0, 3000) == 0 ? value * 0x1p-60 : value;
    case LATE:
      return row < 100 * column ? 0 : value;
    case GROWING:
      return ldexp (value, (gint) row / 256);
    case CANCELLING:
      return row % 2 == 0 ? floor (value * 1000) : -floor (value * 1000);
    case UNSUITED:
      return row / 50 % 30 == 7 ? ldexp (value, column % 2 == 0 ? 120 : -140) : value;
    case SCATTERED:
      return ldexp (value, g_rand_int_range (rand, -100, 100));
    case ORDINARY:
    case N_KINDS:
    default:
      return value;
    }
}

static AprTensor *
make_matrix (GRand *rand, Kind kind, gsize n_rows, gsize p, AprDType dtype)
{
  g_autofree double *values = g_new (double, n_rows *p);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (GError) error = NULL;
  AprTensor *tensor;
  gsize i;

  for (i = 0; i < n_rows * p; i++)
    {
      values[i] = draw (rand, kind, i / p, i % p);
      if (kind == UNSUITED && dtype == APR_DTYPE_F64)
        values[i] *= values[i] * values[i] * values[i];
    }
  doubles = matrix_new (n_rows, p, values);
  tensor = apr_tensor_cast (doubles, dtype, &error);
  g_assert_no_error (error);

  return tensor;
}

typedef enum
{
  NO_WEIGHTS,
  COUNTS,   /* whole numbers, 0 among them */
  FULL,     /* all bits of a double */
  FADING,   /* smaller and smaller */
  ALL_ZERO, /* for some blocks of rows */
  ANY_SIZE, /* too many bits for residues in some blocks */
  N_WEIGHTS,
} Weights;

static AprTensor *
make_weights (GRand *rand, Weights kind, gsize n_rows)
{
  g_autofree double *values = g_new (double, n_rows);
  gsize i;

  for (i = 0; i < n_rows; i++)
    {
      double full = g_rand_double (rand);

      switch (kind)
        {
        case COUNTS:
          values[i] = g_rand_int_range (rand, 0, 5);
          break;
        case FADING:
          values[i] = full * exp2 (-0.01 * (double) i);
          break;
        case ALL_ZERO:
          values[i] = i / 512 % 2 == 0 ? 0 : 0x1p-1040 * full;
          break;
        case ANY_SIZE:
          values[i] = i % 1700 == 3 ? ldexp (full, -500) : i % 1700 == 4 ? 0x1p400 : full;
          break;
        case FULL:
        case NO_WEIGHTS:
        case N_WEIGHTS:
        default:
          values[i] = full;
          break;
        }
    }

  return kind == NO_WEIGHTS ? NULL : vector_new (n_rows, values);
}

static guint32 *
sum (const AprSumsKernel *kernel,
     AprTensor *x,
     AprTensor *y,
     AprTensor *weights,
     guint n_threads,
     gsize *size,
     gint *first)
{
  gsize p = apr_tensor_get_shape (x, NULL)[1];
  gsize n_targets = apr_tensor_get_shape (y, NULL)[1];
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (p, n_targets, NULL);
  g_autoptr (GError) error = NULL;
  guint32 *words;

  g_assert_true (apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, kernel,
                                             &(AprRun){ .n_threads = n_threads }, &error));
  g_assert_no_error (error);
  words = apr_exact_sums_to_words (sums, size, first, NULL, NULL);
  *size *= apr_exact_sums_get_n_entries (sums) * sizeof *words;

  return words;
}

/* The rows that residues leave. */
static gsize
count_left (const AprResidueKernel *kernel, AprTensor *x, AprTensor *y, AprTensor *weights, guint n_threads)
{
  g_autoptr (AprExactSums) sums =
    apr_exact_sums_new (apr_tensor_get_shape (x, NULL)[1], apr_tensor_get_shape (y, NULL)[1], NULL);
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (AprRange));
  g_autoptr (GError) error = NULL;
  AprRows x_rows;
  AprRows y_rows;
  AprRows weight_rows;
  gsize n = 0;
  guint i;

  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);
  if (weights != NULL)
    apr_rows_init (&weight_rows, "sample_weight", weights);
  g_assert_true (apr_residue_sums_update (sums, kernel, &x_rows, &y_rows,
                                          weights != NULL ? &weight_rows : NULL,
                                          &(AprRun){ .n_threads = n_threads }, left, &error));
  g_assert_no_error (error);
  for (i = 0; i < left->len; i++)
    {
      const AprRange *range = &g_array_index (left, AprRange, i);

      g_assert_cmpuint (range->first, <, range->end);
      n += range->end - range->first;
    }

  return n;
}

static void
check (const AprSumsKernel *kernel, AprTensor *x, AprTensor *y, AprTensor *weights, Kind kind)
{
  const guint threads[] = { 2, 7, 1 };
  gsize n_threads = runs_slowly () ? 1 : G_N_ELEMENTS (threads);
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  AprSumsKernel without = *kernel;
  g_autofree guint32 *expected = NULL;
  gsize expected_size;
  gint expected_first;
  gsize i;

  without.residues = NULL;
  expected = sum (&without, x, y, weights, 1, &expected_size, &expected_first);
  for (i = 0; i < n_threads; i++)
    {
      gsize size;
      gint first;
      g_autofree guint32 *found = sum (kernel, x, y, weights, threads[i], &size, &first);
      gsize n_left = count_left (kernel->residues, x, y, weights, threads[i]);

      g_assert_cmpmem (found, size, expected, expected_size);
      g_assert_cmpint (first, ==, expected_first);
      if (kind == SCATTERED)
        g_assert_cmpuint (n_left, ==, n_rows);
      else if (kind == UNSUITED)
        g_assert_cmpuint (n_left, >, 0);
      /* A sample may not see how many outliers there are. */
      else if (kind != OUTLIERS)
        g_assert_cmpuint (n_left, ==, 0);
    }
}

static void
test_kinds (gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  int kind;
  int narrow;

  for (kind = 0; kind < N_KINDS; kind++)
    for (narrow = 0; narrow < 2; narrow++)
      {
        AprDType dtype = narrow ? APR_DTYPE_F32 : APR_DTYPE_F64;
        /* Threads work together, or each alone. What residues leave takes many times as long. */
        gsize p = kind % 2 != narrow ? 35 : runs_slowly () ? 67 : 203;
        gsize n_rows = p < 50 ? 3700 : kind < UNSUITED ? 2100 : 1100;
        g_autoptr (AprTensor) x = make_matrix (rand, (Kind) kind, n_rows, p, dtype);
        g_autoptr (AprTensor) y = make_matrix (rand, (Kind) kind, n_rows, 3, APR_DTYPE_F64);

        check (data, x, y, NULL, (Kind) kind);
      }
}

static void
test_weights (gconstpointer data)
{
  const Kind kinds[] = { ORDINARY, OUTLIERS, TINY, UNSUITED };
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  int weights;

  for (weights = COUNTS; weights < N_WEIGHTS; weights++)
    {
      Kind kind = kinds[(gsize) weights % G_N_ELEMENTS (kinds)];
      gsize p = weights % 2 != 0 ? 35 : runs_slowly () ? 67 : 203;
      gsize n_rows = p > 50 ? 2100 : 3700;
      g_autoptr (AprTensor) x =
        make_matrix (rand, kind, n_rows, p, weights % 3 == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64);
      g_autoptr (AprTensor) y = make_matrix (rand, kind, n_rows, 2, APR_DTYPE_F64);
      g_autoptr (AprTensor) w = make_weights (rand, (Weights) weights, n_rows);

      check (data, x, y, w, weights == ANY_SIZE ? UNSUITED : kind);
    }
}

/* Groups of rows that are reconstructed one after the other. */
static void
test_many_rows (gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (AprTensor) x = make_matrix (rand, ORDINARY, 40000, 17, APR_DTYPE_F32);
  g_autoptr (AprTensor) y = make_matrix (rand, ORDINARY, 40000, 1, APR_DTYPE_F32);

  check (data, x, y, NULL, ORDINARY);
}

/* Whole numbers that are larger than the values of which they are rounded, for as many rows as sums are kept for: their
 * squares are not those of the values. With three moduli of a byte, the scale of the first is 1, and the squares of the
 * values of 33 blocks stay below the limit, but those of the whole numbers are more than half the product. */
static void
test_rounded_up (gconstpointer data)
{
  const gsize n_rows = 16384;
  const gsize p = 100;
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  g_autofree double *values = g_new (double, n_rows *p);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < n_rows * p; i++)
    values[i] = i % p > 0 ? (g_rand_boolean (rand) ? 1 : -1) : i / p < 384 ? 11.515625 : 25.5078125;
  x = matrix_new (n_rows, p, values);
  y = matrix_new (n_rows, 1, values);
  /* As of outliers, residues may leave rows. */
  check (data, x, y, NULL, OUTLIERS);
}

/* Sums that are 0, of whole numbers and rests that are not. */
static void
test_zero_sums (gconstpointer data)
{
  enum
  {
    N_ROWS = 100,
    P = 100
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  double values[N_ROWS * P];
  double target[N_ROWS];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < N_ROWS * P; i++)
    values[i] = i / P % 2 == 0 ? -1 : 1;
  for (i = 0; i < 4 * P; i++)
    if (i % P % 8 == 0)
      values[i] = i < P ? 3 * 0x1p-10 : -0x1p-10;
  for (i = 0; i < N_ROWS; i++)
    target[i] = g_rand_boolean (rand) ? 1 : -1;
  x = matrix_new (N_ROWS, P, values);
  y = matrix_new (N_ROWS, 1, target);
  check (data, x, y, NULL, OUTLIERS);
}

/* Sums of which only a fraction of a unit is left. All rows but the first have ones in half of the columns, and 1 and
 * -1 in turn in the others: the products of two such columns sum to 0. The first row has ever smaller numbers. */
static void
test_fractions (gconstpointer data)
{
  enum
  {
    N_ROWS = 101,
    P = 100
  };
  double values[N_ROWS * P];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < N_ROWS * P; i++)
    values[i] = i < P ? ldexp (1, -5 - (gint) (i % (P / 2) / 2)) : i % P >= P / 2 && i / P % 2 == 0 ? -1 : 1;
  x = matrix_new (N_ROWS, P, values);
  y = matrix_new (N_ROWS, 1, values + P);
  check (data, x, y, NULL, ORDINARY);
}

/* A number that is beside large ones what doubles cannot hold any more. */
static void
test_vanishing (gconstpointer data)
{
  enum
  {
    N_ROWS = 1000
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  g_autoptr (AprTensor) x = make_matrix (rand, ORDINARY, N_ROWS, 100, APR_DTYPE_F32);
  double target[N_ROWS];
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < N_ROWS; i++)
    target[i] = 0x1p200 * (float) (1 + g_rand_double (rand));
  target[77] = 1e-300;
  y = matrix_new (N_ROWS, 1, target);
  check (data, x, y, NULL, OUTLIERS);
}

/* Of a few columns that are longer than others, the sample sees some values in each number of rows. */
static void
test_plan (gconstpointer data)
{
  enum
  {
    MAX_ROWS = 3000,
    P = 120,
    N_LONG = 3
  };
  const AprResidueKernel *kernel = ((const AprSumsKernel *) data)->residues;
  g_autofree double *values = g_new (double, MAX_ROWS *P);
  g_autofree double *targets = g_new (double, MAX_ROWS *N_LONG);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize n_rows;
  gsize i;

  for (i = 0; i < MAX_ROWS * P; i++)
    values[i] = 1;
  for (i = 0; i < MAX_ROWS * N_LONG; i++)
    targets[i] = 1 + 0x1p-52;
  x = matrix_new (MAX_ROWS, P, values);
  y = matrix_new (MAX_ROWS, N_LONG, targets);
  for (n_rows = 20; n_rows <= MAX_ROWS; n_rows += 20)
    {
      g_autofree char *rows = g_strdup_printf ("0:%" G_GSIZE_FORMAT, n_rows);
      g_autofree char *columns = g_strdup_printf ("%s,0:%d", rows, N_LONG);
      g_autoptr (AprTensor) some = apr_tensor_slice (x, rows, NULL);
      g_autoptr (AprTensor) shorter = apr_tensor_slice (x, columns, NULL);
      g_autoptr (AprTensor) longer = apr_tensor_slice (y, rows, NULL);
      AprRows some_rows;
      AprRows shorter_rows;
      AprRows longer_rows;

      apr_rows_init (&some_rows, "X", some);
      apr_rows_init (&shorter_rows, "y", shorter);
      apr_rows_init (&longer_rows, "y", longer);
      g_assert_cmpuint (apr_residue_plan_find (kernel, &some_rows, &shorter_rows, 0).n_moduli, <,
                        apr_residue_plan_find (kernel, &some_rows, &longer_rows, 0).n_moduli);
      g_assert_false (apr_residue_plan_suits_whole (&some_rows, &longer_rows));
    }
}

/* Room for the sums of short rests takes as long for few rows as for many. */
static void
test_plan_short (gconstpointer data)
{
  enum
  {
    MAX_ROWS = 20000,
    P = 50,
    VALUES_PER_REST = 499
  };
  const AprResidueKernel *kernel = ((const AprSumsKernel *) data)->residues;
  g_autofree double *values = g_new (double, MAX_ROWS *P);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) few = NULL;
  AprRows rows;
  AprRows few_rows;
  gsize i;

  for (i = 0; i < MAX_ROWS * P; i++)
    values[i] = i % VALUES_PER_REST == 0 ? 1 + 0x1p-30 : 1;
  x = matrix_new (MAX_ROWS, P, values);
  few = apr_tensor_slice (x, "0:20", NULL);
  apr_rows_init (&rows, "X", x);
  apr_rows_init (&few_rows, "X", few);
  g_assert_true (apr_residue_plan_find (kernel, &rows, &rows, 0).any_short);
  g_assert_false (apr_residue_plan_find (kernel, &few_rows, &few_rows, 0).any_short);
  /* Where there are weights, no rest is short. */
  g_assert_false (apr_residue_plan_find (kernel, &rows, &rows, 8).any_short);
}

/* Integers that no double is equal to. */
static void
test_wide_integers (gconstpointer data)
{
  const gsize shape[] = { 600, 20 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autofree guint64 *values = g_new (guint64, 600 * 20);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = make_matrix (rand, ORDINARY, 600, 1, APR_DTYPE_F64);
  gsize i;

  for (i = 0; i < 600 * 20; i++)
    values[i] = i == 11000 ? G_MAXUINT64 - 5 : g_rand_int (rand);
  swap_on_big_endian (values, 600 * 20, sizeof *values);
  bytes = g_bytes_new (values, 600 * 20 * sizeof *values);
  x = apr_tensor_new_from_bytes (APR_DTYPE_U64, shape, 2, bytes, NULL);
  check (data, x, y, NULL, UNSUITED);
}

static void
test_cancelled (gconstpointer data)
{
  const AprSumsKernel *kernel = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (AprTensor) x = make_matrix (rand, ORDINARY, 3000, 20, APR_DTYPE_F64);
  g_autoptr (AprTensor) y = make_matrix (rand, ORDINARY, 3000, 1, APR_DTYPE_F64);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  guint n_threads;

  g_cancellable_cancel (cancellable);
  for (n_threads = 1; n_threads < 4; n_threads++)
    {
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (20, 1, NULL);
      g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (AprRange));
      g_autoptr (GError) error = NULL;
      AprRows x_rows;
      AprRows y_rows;

      apr_rows_init (&x_rows, "X", x);
      apr_rows_init (&y_rows, "y", y);
      g_assert_false (apr_residue_sums_update (
        sums, kernel->residues, &x_rows, &y_rows, NULL,
        &(AprRun){ .n_threads = n_threads, .cancellable = cancellable }, left, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

static gboolean memory_is_short = FALSE;

/* Declared here, as the linker makes these names. */
gboolean __real_apr_exact_sums_cover (
  AprExactSums *self, gint min, gint max, guint n_terms, GCancellable *cancellable, GError **error);
gboolean __wrap_apr_exact_sums_cover (
  AprExactSums *self, gint min, gint max, guint n_terms, GCancellable *cancellable, GError **error);

gboolean
__wrap_apr_exact_sums_cover (
  AprExactSums *self, gint min, gint max, guint n_terms, GCancellable *cancellable, GError **error)
{
  if (!memory_is_short)
    return __real_apr_exact_sums_cover (self, min, max, n_terms, cancellable, error);

  g_set_error_literal (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory");
  return FALSE;
}

/* So long that the other threads sleep when they are told to go on. */
static void
wait_a_little (double fraction, gpointer user_data)
{
  g_usleep (3000);
}

/* Threads of a team that find no memory all end. */
static void
test_no_memory (gconstpointer data)
{
  const AprSumsKernel *kernel = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  g_autoptr (AprTensor) x = make_matrix (rand, ORDINARY, 700, 600, APR_DTYPE_F32);
  g_autoptr (AprTensor) y = make_matrix (rand, ORDINARY, 700, 1, APR_DTYPE_F32);
  guint i;

  memory_is_short = TRUE;
  for (i = 0; i < 3; i++)
    {
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (600, 1, NULL);
      g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (AprRange));
      g_autoptr (GError) error = NULL;
      double told = 0;
      const AprRun run = { .n_threads = 3, .progress = wait_a_little, .told = &told };
      AprRows x_rows;
      AprRows y_rows;

      apr_rows_init (&x_rows, "X", x);
      apr_rows_init (&y_rows, "y", y);
      g_assert_false (
        apr_residue_sums_update (sums, kernel->residues, &x_rows, &y_rows, NULL, &run, left, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
    }
  memory_is_short = FALSE;
}

static void
add (const char *kernel, const char *name, gconstpointer data, GTestDataFunc func)
{
  g_autofree char *path = g_strdup_printf ("/residue-sums/%s/%s", kernel, name);

  g_test_add_data_func (path, data, func);
}

int
main (int argc, char *argv[])
{
  static AprSumsKernel kernels[APR_CPU_N_SETS];
  const AprSumsKernel *const *all = apr_sums_kernels ();
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; all[i] != NULL; i++)
    {
      kernels[i] = *all[i];
      if (!force_residues (&kernels[i]))
        continue;
      add (kernels[i].name, "kinds", &kernels[i], test_kinds);
      add (kernels[i].name, "weights", &kernels[i], test_weights);
      add (kernels[i].name, "many-rows", &kernels[i], test_many_rows);
      add (kernels[i].name, "rounded-up", &kernels[i], test_rounded_up);
      add (kernels[i].name, "zero-sums", &kernels[i], test_zero_sums);
      add (kernels[i].name, "vanishing", &kernels[i], test_vanishing);
      add (kernels[i].name, "wide-integers", &kernels[i], test_wide_integers);
      add (kernels[i].name, "fractions", &kernels[i], test_fractions);
      add (kernels[i].name, "plan", &kernels[i], test_plan);
      add (kernels[i].name, "plan-short", &kernels[i], test_plan_short);
      add (kernels[i].name, "cancelled", &kernels[i], test_cancelled);
      add (kernels[i].name, "no-memory", &kernels[i], test_no_memory);
    }

  return g_test_run ();
}
