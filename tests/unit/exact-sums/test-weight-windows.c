/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/exact-reference.h"

#include <math.h>

#include "aprender/exact-sums/apr-weight-windows-private.h"

/* Weights whose exponents are far apart: which rows go together, and that all are summed exactly. */

typedef enum
{
  SQUARES,  /* of normal numbers: hardly any is too small */
  ANY_SIZE, /* over all exponents of a double */
  TWO_SIZES,
  OUTLIERS, /* a few that are too large, and one that is */
  FADING,   /* smaller from row to row */
  N_KINDS,
} Kind;

static double
draw_normal (GRand *rand)
{
  return sqrt (-2 * log (1 - g_rand_double (rand))) * cos (2 * G_PI * g_rand_double (rand));
}

static double
draw_weight (GRand *rand, Kind kind, gsize row, gsize n_rows)
{
  double value = 1 + g_rand_double (rand);

  if (row % 37 == 5)
    return 0;
  switch (kind)
    {
    case SQUARES:
      return pow (draw_normal (rand), 2);
    case TWO_SIZES:
      return row % 3 == 0 ? ldexp (value, 60) : row % 3 == 1 ? ldexp (value, -70) : 4 * floor (8 * value);
    case OUTLIERS:
      return row == 77 ? 0x1p-300 : ldexp (value, row % 50 == 3 ? 200 : 0);
    case FADING:
      return ldexp (value, -(gint) (900 * row / n_rows));
    case ANY_SIZE:
    case N_KINDS:
    default:
      return ldexp (value, g_rand_int_range (rand, -1080, 1023));
    }
}

static AprTensor *
draw_weights (GRand *rand, Kind kind, gsize n_rows)
{
  g_autofree double *values = g_new (double, n_rows);
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = draw_weight (rand, kind, i, n_rows);

  return vector_new (n_rows, values);
}

static AprTensor *
draw_matrix (GRand *rand, gsize n_rows, gsize n_columns)
{
  g_autofree double *values = g_new (double, n_rows *n_columns);
  gsize i;

  for (i = 0; i < n_rows * n_columns; i++)
    values[i] = draw_normal (rand);

  return matrix_new (n_rows, n_columns, values);
}

static gint
count_bits (const AprRows *weights, const gsize *rows, gsize n_rows)
{
  gint min = G_MAXINT;
  gint max = G_MININT;
  gsize i;

  for (i = 0; i < n_rows; i++)
    {
      AprWholeNumber number = apr_rows_get_number (weights, rows[i], 0);
      gint n_bits = 0;

      g_assert_cmpuint (number.size, !=, 0);
      while (n_bits < 64 && number.size >> n_bits != 0)
        n_bits++;
      min = MIN (min, number.exponent);
      max = MAX (max, number.exponent + n_bits);
    }

  return max - min;
}

static void
check_windows (AprTensor *weights)
{
  g_autoptr (AprTensor) main = NULL;
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (gsize));
  gsize n_rows = apr_tensor_get_n_elements (weights);
  g_autofree guint *n_found = g_new0 (guint, n_rows);
  g_autoptr (GError) error = NULL;
  AprWeightWindows windows;
  AprRows rows;
  gsize end = 0;
  gsize row;
  guint i;

  apr_rows_init (&rows, "sample_weight", weights);
  g_assert_true (apr_weight_windows_init (&windows, &rows, &error));
  g_assert_no_error (error);
  g_assert_nonnull (windows.windows);
  for (i = 0; i < windows.windows->len; i++)
    {
      const AprRange *window = &g_array_index (windows.windows, AprRange, i);

      g_assert_cmpuint (window->first, ==, end);
      end = window->end;
      g_assert_cmpuint (window->first, <, end);
      g_assert_cmpint (count_bits (&rows, windows.rows + window->first, end - window->first), <=,
                       APR_WEIGHT_WINDOW_BITS);
      for (row = window->first; row < end; row++)
        {
          g_assert_true (row == window->first || windows.rows[row - 1] < windows.rows[row]);
          n_found[windows.rows[row]]++;
        }
    }

  main = apr_weight_windows_get_main (&windows, &rows, &error);
  g_assert_no_error (error);
  for (row = 0; row < n_rows; row++)
    {
      double weight = apr_tensor_get_double (weights, row, NULL);
      double left = apr_tensor_get_double (main, row, NULL);

      g_assert_cmpuint (n_found[row], <=, 1);
      g_assert_cmpfloat (left, ==, n_found[row] == 1 ? 0 : weight);
      if (left != 0)
        g_array_append_val (kept, row);
    }
  g_assert_cmpint (count_bits (&rows, (const gsize *) (gconstpointer) kept->data, kept->len), <=,
                   APR_WEIGHT_WINDOW_BITS);
  for (i = 0; i < windows.windows->len; i++)
    {
      const AprRange *window = &g_array_index (windows.windows, AprRange, i);

      g_assert_cmpuint (window->end - window->first, <=, kept->len);
    }
  apr_weight_windows_clear (&windows);
}

static void
test_windows (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  int kind;

  for (kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr (AprTensor) weights = draw_weights (rand, (Kind) kind, 20000);
      g_autoptr (AprTensor) floats = apr_tensor_cast (weights, APR_DTYPE_BF16, NULL);

      check_windows (weights);
      if (kind == TWO_SIZES)
        check_windows (floats);
    }
}

static gboolean
has_windows (gsize n, const double *values)
{
  g_autoptr (AprTensor) weights = vector_new (n, values);
  AprWeightWindows windows;
  AprRows rows;
  gboolean several;

  apr_rows_init (&rows, "sample_weight", weights);
  g_assert_true (apr_weight_windows_init (&windows, &rows, NULL));
  several = windows.windows != NULL;
  apr_weight_windows_clear (&windows);

  return several;
}

static void
test_single_window (void)
{
  const double zeros[] = { 0, 0, 0 };
  const double within[] = { 0x1p-1074, 0, 0x1p-1003 };
  const double beyond[] = { 0x1p-1074, 0, 0x1p-1002 };
  const double largest[] = { G_MAXDOUBLE, 0x1p952 };
  const double too_large[] = { G_MAXDOUBLE, 0x1p951 };

  g_test_summary (
    "Whole numbers of at most 72 bits, in units of the lowest bit of all weights, are in one window.");
  g_assert_false (has_windows (0, zeros));
  g_assert_false (has_windows (3, zeros));
  g_assert_false (has_windows (3, within));
  g_assert_true (has_windows (3, beyond));
  g_assert_false (has_windows (2, largest));
  g_assert_true (has_windows (2, too_large));
}

static void
test_sums (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);
  int kind;

  g_test_summary ("Sums are those of whole numbers, whichever kernel sums how many rows of a window.");
  for (kind = 0; kind < N_KINDS; kind++)
    {
      gsize n_rows = kind == ANY_SIZE ? 100 : 1500;
      g_autoptr (AprTensor) x = draw_matrix (rand, n_rows, 5);
      g_autoptr (AprTensor) y = draw_matrix (rand, n_rows, 1);
      g_autoptr (AprTensor) weights = draw_weights (rand, (Kind) kind, n_rows);
      g_autoptr (Reference) expected = reference_new (7);
      const AprSumsKernel *const *kernel;

      reference_add_rows (expected, x, y, weights);
      for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
        {
          g_autoptr (AprExactSums) sums = apr_exact_sums_new (5, 1, NULL);
          g_autoptr (GError) error = NULL;

          g_assert_true (apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, *kernel,
                                                     &(AprRun){ .n_threads = 2 }, &error));
          g_assert_no_error (error);
          reference_assert_equal (expected, sums);
        }
    }
}

static void
test_columns (void)
{
  enum
  {
    N_ROWS = 300
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (33);
  g_autoptr (AprTensor) turned = draw_matrix (rand, 3, N_ROWS);
  g_autoptr (AprTensor) y = draw_matrix (rand, N_ROWS, 1);
  g_autoptr (AprTensor) weights = draw_weights (rand, TWO_SIZES, N_ROWS);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (Reference) expected = reference_new (5);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 1, NULL);
  g_autoptr (GError) error = NULL;
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (turned), NULL);
  const guint8 *columns[] = { data, data + N_ROWS * sizeof (double), data + 2 * N_ROWS * sizeof (double) };
  double values[N_ROWS * 3];
  AprRows x_rows;
  AprRows y_rows;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = apr_tensor_get_double (turned, i % 3 * N_ROWS + i / 3, NULL);
  x = matrix_new (N_ROWS, 3, values);
  reference_add_rows (expected, x, y, weights);

  apr_rows_init_columns (&x_rows, "X", APR_DTYPE_F64, columns, N_ROWS, 3);
  apr_rows_init (&y_rows, "y", y);
  g_assert_true (apr_exact_sums_update_columns (sums, &x_rows, &y_rows, weights, APR_PRECISION_EXACT,
                                                &(AprRun){ .n_threads = 1 }, &error));
  g_assert_no_error (error);
  reference_assert_equal (expected, sums);
}

static void
test_not_finite (void)
{
  enum
  {
    N_ROWS = 600
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (34);
  int place;

  g_test_summary ("A NaN is named by its row among all, whichever window it is in, or if its weight is 0.");
  for (place = 0; place < 40; place++)
    {
      double values[N_ROWS] = { 0 };
      g_autoptr (AprTensor) x = draw_matrix (rand, N_ROWS, 3);
      g_autoptr (AprTensor) weights = draw_weights (rand, place % 2 == 0 ? TWO_SIZES : ANY_SIZE, N_ROWS);
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 1, NULL);
      g_autoptr (GError) error = NULL;
      g_autofree char *name = g_strdup_printf ("y has a NaN at row %d ", 501 + place);

      values[501 + place] = NAN;
      y = vector_new (N_ROWS, values);
      g_assert_false (apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT,
                                             &(AprRun){ .n_threads = 2 }, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      assert_message_has (error, name);
    }
}

static void
test_no_weights (void)
{
  enum
  {
    N_ROWS = 600
  };
  const struct
  {
    double value;
    AprError code;
    const char *message;
  } cases[] = { { NAN, APR_ERROR_NOT_FINITE, "sample_weight has a NaN at row 517 " },
                { INFINITY, APR_ERROR_NOT_FINITE, "sample_weight has an infinity at row 517 " },
                { -0.5, APR_ERROR_WEIGHTS, "-0.5" } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (37);
  g_autoptr (AprTensor) x = draw_matrix (rand, N_ROWS, 3);
  g_autoptr (AprTensor) y = draw_matrix (rand, N_ROWS, 1);
  gsize i;

  g_test_summary ("What is no weight is an error that names it, wherever it is.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      double values[N_ROWS] = { 1, 0x1p200 };
      g_autoptr (AprTensor) weights = NULL;
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 1, NULL);
      g_autoptr (GError) error = NULL;

      values[517] = cases[i].value;
      weights = vector_new (N_ROWS, values);
      g_assert_false (apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT,
                                             &(AprRun){ .n_threads = 2 }, &error));
      g_assert_error (error, APR_ERROR, (gint) cases[i].code);
      assert_message_has (error, cases[i].message);
    }
}

static void
add (AprExactSums *sums, AprTensor *x, AprTensor *y, AprTensor *weights, const AprSumsKernel *kernel)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, kernel,
                                             &(AprRun){ .n_threads = 2 }, &error));
  g_assert_no_error (error);
}

static void
test_pieces (void)
{
  enum
  {
    N_ROWS = 250000
  };
  const double sizes[] = { 0x1p-400, 1, 0x1p400 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (36);
  g_autoptr (AprTensor) x = draw_matrix (rand, N_ROWS, 1);
  g_autoptr (AprTensor) y = draw_matrix (rand, N_ROWS, 1);
  g_autofree double *values = g_new0 (double, N_ROWS);
  g_autoptr (AprTensor) weights = NULL;
  const AprSumsKernel *const *kernel;
  gsize size;
  gsize i;

  g_test_summary ("Windows that are copied in several pieces have the sums of their rows alone.");
  for (i = 0; i < N_ROWS; i++)
    values[i] = sizes[i % 3];
  weights = vector_new (N_ROWS, values);

  for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
    {
      g_autoptr (AprExactSums) found = apr_exact_sums_new (1, 1, NULL);
      g_autoptr (AprExactSums) expected = apr_exact_sums_new (1, 1, NULL);
      mpz_t entries[2];

      mpz_inits (entries[0], entries[1], NULL);
      add (found, x, y, weights, *kernel);
      for (size = 0; size < G_N_ELEMENTS (sizes); size++)
        {
          g_autoptr (AprTensor) own = NULL;

          for (i = 0; i < N_ROWS; i++)
            values[i] = i % 3 == size ? sizes[size] : 0;
          own = vector_new (N_ROWS, values);
          add (expected, x, y, own, *kernel);
        }
      for (i = 0; i < 9; i++)
        {
          apr_exact_sums_get_entry (found, i / 3, i % 3, entries[0]);
          apr_exact_sums_get_entry (expected, i / 3, i % 3, entries[1]);
          g_assert_cmpint (mpz_cmp (entries[0], entries[1]), ==, 0);
        }
      mpz_clears (entries[0], entries[1], NULL);
      if (runs_slowly ())
        break;
    }
}

typedef struct
{
  guint n_calls;
  double fraction;
  GCancellable *cancellable;
} Told;

static void
hear (double fraction, gpointer user_data)
{
  Told *told = user_data;

  g_assert_cmpfloat (fraction, >, told->fraction);
  told->n_calls++;
  told->fraction = fraction;
  if (told->cancellable != NULL)
    g_cancellable_cancel (told->cancellable);
}

static void
test_progress (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (35);
  int kind;

  for (kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr (AprTensor) x = draw_matrix (rand, 20000, 3);
      g_autoptr (AprTensor) y = draw_matrix (rand, 20000, 1);
      g_autoptr (AprTensor) weights = draw_weights (rand, (Kind) kind, 20000);
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 1, NULL);
      g_autoptr (AprExactSums) stopped = apr_exact_sums_new (3, 1, NULL);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Told told = { 0 };
      Told cancelling = { .cancellable = cancellable };
      double last = 0;
      AprRun run = { .n_threads = 2, .progress = hear, .progress_data = &told, .told = &last };

      g_assert_true (apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT, &run, &error));
      g_assert_no_error (error);
      g_assert_cmpfloat (told.fraction, ==, 1);
      g_assert_cmpuint (told.n_calls, >, 10);
      g_assert_cmpuint (told.n_calls, <=, 50);

      last = 0;
      run.progress_data = &cancelling;
      run.cancellable = cancellable;
      g_assert_false (apr_exact_sums_update (stopped, x, y, weights, APR_PRECISION_EXACT, &run, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/weight-windows/windows", test_windows);
  g_test_add_func ("/weight-windows/single", test_single_window);
  g_test_add_func ("/weight-windows/sums", test_sums);
  g_test_add_func ("/weight-windows/columns", test_columns);
  g_test_add_func ("/weight-windows/pieces", test_pieces);
  g_test_add_func ("/weight-windows/not-finite", test_not_finite);
  g_test_add_func ("/weight-windows/no-weights", test_no_weights);
  g_test_add_func ("/weight-windows/progress", test_progress);

  return g_test_run ();
}
