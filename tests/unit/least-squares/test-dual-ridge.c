/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/least-squares/apr-dual-private.h"
#include "aprender/least-squares/apr-dual-ridge-private.h"

/* What finds the dual form's answers in double, beside what finds them in whole numbers. */

#define N_TRIES 400

typedef enum
{
  EASY,
  OFFSET,
  ALIKE,
  CONSTANT,
  WIDE_SCALES,
  WHOLE,
  TINY,
  N_KINDS
} Kind;

static double
draw (GRand *rand, Kind kind, gsize column, double alike)
{
  double value = g_rand_double_range (rand, -1, 1);

  switch (kind)
    {
    case OFFSET:
      return value + 1e4;
    case ALIKE:
      return alike + value * 0x1p-20;
    case CONSTANT:
      return column % 3 == 0 ? 0.7 : value;
    case WIDE_SCALES:
      return ldexp (value, g_rand_int_range (rand, -40, 40));
    case WHOLE:
      return g_rand_int_range (rand, -2, 3);
    case TINY:
      return column % 3 == 0 ? ldexp (value, -700) : value;
    case EASY:
    case N_KINDS:
    default:
      return value;
    }
}

static AprSampleRows *
draw_rows (GRand *rand, Kind kind, gboolean floats, gsize n, gsize p)
{
  g_autofree double *x_values = g_new (double, n *p);
  g_autofree double *y_values = g_new (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  AprSampleRows *rows = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      y_values[i] = g_rand_double_range (rand, -1, 1);
      for (j = 0; j < p; j++)
        x_values[i * p + j] = draw (rand, kind, j, i > 0 ? x_values[j] : y_values[0]);
    }
  doubles = matrix_new (n, p, x_values);
  x = apr_tensor_cast (doubles, floats ? APR_DTYPE_F32 : APR_DTYPE_F64, NULL);
  y = vector_new (n, y_values);
  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, NULL));

  return rows;
}

/* Returns whether it finds an answer. */
static gboolean
compare (const AprSampleRows *rows, const AprLeastSquaresOptions *options, guint n_threads)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  const AprRun run = { .n_threads = n_threads };
  g_autofree gboolean *excluded = g_new0 (gboolean, rows->n_features);
  g_autofree double *found = g_new0 (double, rows->n_features);
  g_autofree double *expected = g_new0 (double, rows->n_features);
  g_auto (AprDualRidge) ridge = { NULL };
  g_auto (AprDualSystem) system = { NULL };
  double intercept = 0;
  double expected_intercept = 0;
  gsize i;

  g_assert_true (apr_dual_find_constants (rows, options->fit_intercept, 0, &run, excluded, NULL));
  if (!apr_dual_ridge_init (&ridge, rows, options, excluded, &run) ||
      !apr_dual_ridge_solve (&ridge, 0, options->dtype, found, &intercept))
    return FALSE;

  g_assert_true (apr_dual_system_init (&system, rows, options, excluded, NULL, 0, &run, NULL));
  g_assert_true (
    apr_dual_system_solve (&system, 0, options->dtype, &run, excluded, expected, &expected_intercept));
  for (i = 0; i < rows->n_features; i++)
    assert_same_double (found[i], expected[i]);
  assert_same_double (intercept, expected_intercept);

  return TRUE;
}

static void
test_kinds (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (47);
  guint n_found[N_KINDS] = { 0 };
  guint n[N_KINDS] = { 0 };
  guint i;

  for (i = 0; i < (runs_in_valgrind () ? 24 : N_TRIES); i++)
    {
      Kind kind = i % N_KINDS;
      gsize n_samples = (gsize) g_rand_int_range (rand, 2, 40);
      gsize n_features = (gsize) g_rand_int_range (rand, 1, 300);
      g_autoptr (AprSampleRows) rows = draw_rows (rand, kind, g_rand_boolean (rand), n_samples, n_features);
      AprLeastSquaresOptions options = { .fit_intercept = g_rand_boolean (rand),
                                         .dtype = g_rand_boolean (rand) ? APR_DTYPE_F32 : APR_DTYPE_F64 };

      options.alpha =
        pow (10, kind == EASY ? g_rand_double_range (rand, -2, 3) : g_rand_double_range (rand, -12, 6));
      options.data_dtype = apr_tensor_get_dtype (rows->x);
      n[kind]++;
      n_found[kind] += compare (rows, &options, 1) ? 1 : 0;
    }
  for (i = 0; i < N_KINDS; i++)
    g_test_message ("kind %u: %u of %u", i, n_found[i], n[i]);
  g_assert_cmpuint (10 * n_found[EASY], >=, 9 * n[EASY]);
  /* Half of these have an intercept, and some penalties are too small for doubles. */
  g_assert_cmpuint (8 * n_found[OFFSET], >=, n[OFFSET]);
  g_assert_cmpuint (8 * n_found[TINY], >=, n[TINY]);
}

static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (48);
  g_autoptr (AprSampleRows) rows = draw_rows (rand, EASY, FALSE, 50, runs_in_valgrind () ? 500 : 5000);
  AprLeastSquaresOptions options = {
    .fit_intercept = TRUE, .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };

  g_assert_true (compare (rows, &options, 4));
}

static void
test_one_sample (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (50);
  g_autoptr (AprSampleRows) rows = draw_rows (rand, EASY, FALSE, 1, 3000);
  AprLeastSquaresOptions options = { .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64 };

  g_assert_true (compare (rows, &options, 4));
}

/* X without a shift of each feature, in the order of the samples: [feature][sample], and the shift. */
static void
shift_features (const AprSampleRows *rows, gboolean centred, double *values, double *shifts)
{
  gsize i;
  gsize j;

  for (i = 0; i < rows->n_features; i++)
    {
      double *row = values + i * rows->n;

      apr_sample_rows_read_feature (rows, i, row);
      /* Where no value is less than half of the first, or more than twice as much. */
      shifts[i] = centred ? row[0] : 0;
      for (j = 0; j < rows->n; j++)
        if (!(row[j] / row[0] >= 0.5 && row[j] / row[0] <= 2))
          shifts[i] = 0;
      for (j = 0; j < rows->n; j++)
        row[j] -= shifts[i];
    }
}

static void
check_bounds (const AprSampleRows *rows, gboolean centred)
{
  const double u = 0x1p-53;
  const AprRun run = { .n_threads = 1 };
  AprLeastSquaresOptions options = {
    .fit_intercept = centred, .alpha = 0.5, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };
  gsize n = rows->n;
  double n_samples = (double) n;
  g_autofree gboolean *excluded = g_new0 (gboolean, rows->n_features);
  g_autofree double *values = g_new (double, rows->n_features *n);
  g_autofree double *shifts = g_new (double, rows->n_features);
  g_autofree double *products = g_new0 (double, n *n);
  g_autofree double *sums = g_new0 (double, n);
  g_auto (AprDualRidge) ridge = { NULL };
  double n_roundings = 4 * 64 + (double) ((rows->n_features / 64 + 2) / 4) + 1 + 3;
  double trace = 0;
  double size = 0;
  double shift_size = 0;
  double sum = 0;
  double error;
  double left = 0;
  gsize i;
  gsize j;
  gsize k;

  g_assert_true (apr_dual_ridge_init (&ridge, rows, &options, excluded, &run));
  shift_features (rows, centred, values, shifts);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < rows->n_features; k++)
        products[i * n + j] += values[k * n + i] * values[k * n + j];
  for (k = 0; k < rows->n_features; k++)
    shift_size += shifts[k] * shifts[k];
  for (i = 0; i < n; i++)
    {
      trace += products[i * n + i];
      for (j = 0; j < n; j++)
        {
          size += products[i * n + j] * products[i * n + j];
          sums[i] += products[i * n + j];
        }
      sum += sums[i];
    }
  for (i = 0; i < n; i++)
    {
      double product = 0;

      for (k = 0; k < rows->n_features; k++)
        product += shifts[k] * values[k * n + i];
      g_assert_cmpfloat_with_epsilon (ridge.shift_products[i], product,
                                      1e-9 * (1 + sqrt (shift_size * trace)));
      g_assert_cmpfloat_with_epsilon (ridge.sums[i], sums[i], 1e-9 * trace);
      for (j = 0; j < n; j++)
        {
          double expected = products[i * n + j];
          double difference;

          if (centred)
            expected -= (sums[i] + sums[j] - sum / n_samples) / n_samples;
          difference = ridge.products[i * ridge.stride + j] - expected;
          left += difference * difference;
        }
    }

  /* N. J. Higham, "Accuracy and stability of numerical algorithms", 2002, chapter 3: so many roundings of a sum of
   * squares, four for each of two means, and those of sums of n. The trace, the size of a shift and the error of the
   * products have a hundredth of room. */
  error = 1.01 * 1.01 * n_roundings * u * trace;
  g_assert_cmpfloat_with_epsilon (ridge.trace, 1.01 * trace, 1e-9 * trace);
  g_assert_cmpfloat_with_epsilon (ridge.size, sqrt (size), 1e-8 * sqrt (size));
  g_assert_cmpfloat_with_epsilon (ridge.shift_size, sqrt (1.01 * shift_size), 1e-9 * (1 + sqrt (shift_size)));
  g_assert_cmpfloat_with_epsilon (ridge.shift_error, error * sqrt (1.01 * shift_size / (1.01 * trace)),
                                  1e-6 * ridge.shift_error + DBL_MIN);
  g_assert_cmpfloat_with_epsilon (ridge.sums_error,
                                  sqrt (n_samples) * (error + (n_samples + 2) * u * sqrt (size)),
                                  1e-6 * ridge.sums_error);
  if (centred)
    error += 4 * (n_samples + 8) * u * sqrt (size);
  g_assert_cmpfloat_with_epsilon (ridge.error, error, 1e-6 * error);
  g_assert_cmpfloat (sqrt (left), <, ridge.error);
  g_assert_cmpfloat (ridge.min_eigenvalue, >=, options.alpha);
}

static void
test_bounds (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (50);
  gsize round;

  g_test_summary ("What is known of the products' errors is what the theorems say.");
  for (round = 0; round < 12; round++)
    {
      gsize n_samples = 2 + 3 * round;
      gsize n_features = 1 + 67 * round;
      Kind kind = round % 3 == 0 ? EASY : round % 3 == 1 ? OFFSET : WHOLE;
      g_autoptr (AprSampleRows) rows = draw_rows (rand, kind, round % 2 == 0, n_samples, n_features);

      check_bounds (rows, round % 4 >= 2);
    }
}

static AprSampleRows *
make_rows (const double *x_values, gsize n, gsize p)
{
  g_autofree double *y_values = g_new0 (double, n);
  g_autoptr (AprTensor) x = matrix_new (n, p, x_values);
  g_autoptr (AprTensor) y = vector_new (n, y_values);
  AprSampleRows *rows = NULL;

  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, NULL));

  return rows;
}

/* From half of the first value to twice as much, and little beyond. */
static void
test_shifts (void)
{
  /* Samples are sorted by the first feature, which is not shifted. */
  const double x[] = {
    1,   0.5,  -0.5, 0.5, -0.5, 0.5, -0.5, 3,           0.25,         -0.25, 0.25 - 1e-16, -0.25 + 1e-16,
    0.5, -0.5, 9,    1,   -1,   0.5, -0.5, 1 + 0x1p-52, -1 - 0x1p-52,
  };
  const AprRun run = { .n_threads = 1 };
  const AprLeastSquaresOptions options = {
    .fit_intercept = TRUE, .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };
  gboolean excluded[7] = { FALSE };
  g_autoptr (AprSampleRows) rows = make_rows (x, 3, 7);
  g_auto (AprDualRidge) ridge = { NULL };

  g_assert_true (apr_dual_ridge_init (&ridge, rows, &options, excluded, &run));
  g_assert_cmpfloat_with_epsilon (ridge.shift_size, sqrt (1.01 * (0.25 + 0.25)), 1e-12);
}

static void
test_eigenvalues (void)
{
  const double x[] = { 2, 0, 0, 0, 2, 0, 0, 0, 2 };
  const AprRun run = { .n_threads = 1 };
  const AprLeastSquaresOptions options = { .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64 };
  gboolean excluded[3] = { FALSE };
  g_autoptr (AprSampleRows) rows = make_rows (x, 3, 3);
  g_auto (AprDualRidge) ridge = { NULL };

  g_test_summary ("Of five times the identity, five is below 2^3, and half of it is proven to be a bound.");
  g_assert_true (apr_dual_ridge_init (&ridge, rows, &options, excluded, &run));
  g_assert_cmpint (ridge.exponent, ==, 3);
  g_assert_cmpfloat (ridge.min_eigenvalue, >, 2.4);
  g_assert_cmpfloat (ridge.min_eigenvalue, <=, 5);
}

/* It leaves to whole numbers what it cannot do. */
static void
test_none (void)
{
  static const double x_values[2][3] = { { 1, 2, 2 }, { 0, 3, -4 } };
  static const double halfway[2][1] = { { 0x1p53 }, { 0 } };
  const AprRun run = { .n_threads = 1 };
  AprLeastSquaresOptions options = { .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64 };
  gboolean excluded[3] = { FALSE };
  double found[3] = { 0 };
  double intercept = 0;
  g_autoptr (AprTensor) x = matrix_new (2, 3, &x_values[0][0]);
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) zeros = vector_new (2, (const double[]){ 0, 0 });
  g_autoptr (AprTensor) weights = vector_new (2, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) one = matrix_new (2, 1, &halfway[0][0]);
  g_autoptr (AprTensor) far = vector_new (2, (const double[]){ 0x1p600, 1 });
  g_autoptr (AprTensor) single = matrix_new (1, 1, (const double[]){ 1 });
  g_autoptr (AprTensor) twice = vector_new (1, (const double[]){ 2 });
  g_autoptr (AprTensor) opposite = matrix_new (2, 1, (const double[]){ 1, -1 });
  g_autoptr (AprTensor) opposites = vector_new (2, (const double[]){ 1, -1 });
  g_autoptr (AprTensor) ones = vector_new (2, (const double[]){ 1, 1 });
  g_autoptr (AprTensor) tie = vector_new (2, (const double[]){ 1.5, 0.5 + 0x1p-52 });
  g_autoptr (AprTensor) distant = matrix_new (2, 1, (const double[]){ 0x1p101, 0x1p101 + 0x1p49 });
  g_autofree double *values = g_new0 (double, 4097);
  g_autoptr (AprTensor) long_x = NULL;
  g_autoptr (AprTensor) long_y = NULL;
  const struct
  {
    AprTensor *x;
    AprTensor *y;
    AprTensor *weights;
    double alpha;
    gboolean fit_intercept;
  } cases[] = {
    { x, y, weights, 1, FALSE },
    { x, zeros, NULL, 1, FALSE },
    { x, far, NULL, 1, FALSE },
    { x, y, NULL, 0x1p-200, FALSE },
    { one, y, NULL, 0x1p-90, FALSE },
    /* u is 1 at once, so that there is nothing to correct. */
    { single, twice, NULL, 1, FALSE },
    /* u is 0 at once. */
    { opposite, ones, NULL, 1, TRUE },
    /* An intercept of 0, and one halfway between two doubles. */
    { opposite, opposites, NULL, 0.1, TRUE },
    { opposite, tie, NULL, 0.1, TRUE },
    { distant, y, NULL, 1, TRUE },
    { long_x = matrix_new (4097, 1, values), long_y = vector_new (4097, values), NULL, 1, FALSE },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprSampleRows) rows = NULL;
      g_auto (AprDualRidge) ridge = { NULL };

      options.alpha = cases[i].alpha;
      options.fit_intercept = cases[i].fit_intercept;
      g_assert_true (apr_sample_rows_new (cases[i].x, cases[i].y, cases[i].weights, 1, &rows, NULL));
      g_assert_false (apr_dual_ridge_init (&ridge, rows, &options, excluded, &run) &&
                      apr_dual_ridge_solve (&ridge, 0, APR_DTYPE_F64, found, &intercept));
    }
}

/* Some targets are solved for in double, and many by exact products. */
static void
test_targets (void)
{
  enum
  {
    N = 6,
    P = 70,
    N_TARGETS = 5
  };
  static const gboolean some[N_TARGETS] = { TRUE, FALSE, TRUE, FALSE, FALSE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (49);
  const AprRun run = { .n_threads = 1 };
  AprLeastSquaresOptions options = {
    .fit_intercept = TRUE, .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };
  g_auto (AprLeastSquares) of_all = { NULL };
  g_auto (AprLeastSquares) of_some = { NULL };
  g_autoptr (AprSampleRows) rows = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  double x_values[N * P];
  double y_values[N * N_TARGETS];
  gsize i;

  for (i = 0; i < N * P; i++)
    x_values[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < N * N_TARGETS; i++)
    y_values[i] = g_rand_double_range (rand, -1, 1);
  x = matrix_new (N, P, x_values);
  y = matrix_new (N, N_TARGETS, y_values);
  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, NULL));
  g_assert_true (apr_least_squares_solve_rows (&of_all, rows, &options, &run, NULL));
  options.targets = some;
  g_assert_true (apr_least_squares_solve_rows (&of_some, rows, &options, &run, NULL));
  g_assert_true (of_all.correctly_rounded && of_some.correctly_rounded);
  for (i = 0; i < N_TARGETS * P; i++)
    assert_same_double (of_some.coefficients[i], some[i / P] ? of_all.coefficients[i] : 0);
  for (i = 0; i < N_TARGETS; i++)
    assert_same_double (of_some.intercepts[i], some[i] ? of_all.intercepts[i] : 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dual-ridge/kinds", test_kinds);
  g_test_add_func ("/dual-ridge/threads", test_threads);
  g_test_add_func ("/dual-ridge/one-sample", test_one_sample);
  g_test_add_func ("/dual-ridge/bounds", test_bounds);
  g_test_add_func ("/dual-ridge/shifts", test_shifts);
  g_test_add_func ("/dual-ridge/eigenvalues", test_eigenvalues);
  g_test_add_func ("/dual-ridge/none", test_none);
  g_test_add_func ("/dual-ridge/targets", test_targets);

  return g_test_run ();
}
