/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

#define N 60

/* Three shares of a whole, which add up to 1 but for their rounding, and a target that has little to do with them. */
static void
make_shares (double *x, double *y)
{
  gsize i;

  for (i = 0; i < N; i++)
    {
      const double parts[] = { 10 + (double) (i * 7 % 13) / 6, 10 + (double) (i * 5 % 17) / 8,
                               10 + (double) (i * 11 % 19) / 9 };
      gsize j;

      for (j = 0; j < 3; j++)
        x[3 * i + j] = parts[j] / (parts[0] + parts[1] + parts[2]);
      y[i] = 20 + (double) (i * 29 % 31) / 10;
    }
}

/* The definition: unit (|a| √(Σ w) + Σ |b_j| √(Σ w x_j²)) / √(Σ w (y - mean)²), in plain sums. */
static double
find_expected (const double *x, const double *y, const double *w, AprLinearRegression *model, double unit)
{
  g_autoptr (AprTensor) a = apr_linear_regression_get_intercept (model);
  g_autoptr (AprTensor) b = apr_linear_regression_get_coefficients (model);
  gsize n_features = apr_tensor_get_n_elements (b);
  double weight = 0, mean = 0, spread = 0, size = 0;
  gsize i;
  gsize j;

  for (i = 0; i < N; i++)
    {
      weight += w[i];
      mean += w[i] * y[i];
    }
  mean /= weight;
  size = fabs (apr_tensor_get_double (a, 0, NULL)) * sqrt (weight);
  for (i = 0; i < N; i++)
    spread += w[i] * (y[i] - mean) * (y[i] - mean);
  for (j = 0; j < n_features; j++)
    {
      double square = 0;

      for (i = 0; i < N; i++)
        square += w[i] * x[n_features * i + j] * x[n_features * i + j];
      size += fabs (apr_tensor_get_double (b, j, NULL)) * sqrt (square);
    }

  return unit * size / sqrt (spread);
}

static void
test_shares (void)
{
  double x[3 * N], y[N], ones[N];
  g_autoptr (AprTensor) samples = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprLinearRegression) penalised = g_object_new (APR_TYPE_LINEAR_REGRESSION, "alpha", 0.01, NULL);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autofree char *text = NULL;
  double rounding;
  gsize i;

  g_test_summary ("Shares beside an intercept are of full rank by their rounding alone: that is said.");

  make_shares (x, y);
  for (i = 0; i < N; i++)
    ones[i] = 1;
  samples = matrix_new (N, 3, x);
  targets = vector_new (N, y);
  model = fit (TRUE, samples, targets, NULL);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 3);
  rounding = apr_linear_regression_get_prediction_rounding (model);
  g_assert_cmpfloat (rounding, >, 1e-3);
  assert_close (rounding, find_expected (x, y, ones, model, 0x1p-53), 1e-9);

  statistics = statistics_of (model, 0);
  g_assert_cmpfloat (apr_regression_statistics_get_prediction_rounding (statistics), ==, rounding);
  text = apr_regression_statistics_to_string (statistics);
  g_assert_nonnull (strstr (text, "\nWarning: rounding alone may change a prediction by 0."));

  /* What is advised helps. */
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (penalised), samples, targets, NULL, NULL, NULL));
  g_assert_cmpfloat (apr_linear_regression_get_prediction_rounding (penalised), <, 1e-12);
}

static void
test_two_shares (void)
{
  double x[3 * N], y[N], w[N], two[2 * N], ones[N];
  const gboolean intercepts[] = { TRUE, FALSE };
  gsize i;

  g_test_summary ("Without one of the shares, and without an intercept, nothing is said.");

  make_shares (x, y);
  for (i = 0; i < N; i++)
    {
      two[2 * i] = x[3 * i];
      two[2 * i + 1] = x[3 * i + 1];
      w[i] = (double) (i % 4);
      ones[i] = 1;
    }
  for (i = 0; i < G_N_ELEMENTS (intercepts); i++)
    {
      g_autoptr (AprTensor) samples = intercepts[i] ? matrix_new (N, 2, two) : matrix_new (N, 3, x);
      g_autoptr (AprTensor) targets = vector_new (N, y);
      g_autoptr (AprTensor) weights = vector_new (N, w);
      g_autoptr (AprLinearRegression) model = fit (intercepts[i], samples, targets, weights);
      g_autoptr (AprLinearRegression) unweighted = fit (intercepts[i], samples, targets, NULL);
      g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
      g_autofree char *text = apr_regression_statistics_to_string (statistics);
      const double *rows = intercepts[i] ? two : x;

      g_assert_null (strstr (text, "Warning"));
      g_assert_cmpfloat (apr_linear_regression_get_prediction_rounding (model), <, 1e-12);
      assert_close (apr_linear_regression_get_prediction_rounding (model),
                    find_expected (rows, y, w, model, 0x1p-53), 1e-9);
      assert_close (apr_linear_regression_get_prediction_rounding (unweighted),
                    find_expected (rows, y, ones, unweighted, 0x1p-53), 1e-9);
    }
}

static void
test_floats (void)
{
  double x[N], y[N], ones[N];
  const AprDType dtypes[] = { APR_DTYPE_F32, APR_DTYPE_F64 };
  gsize i;

  g_test_summary (
    "Time stamps and a trend: coefficients in F32 have not the digits for it, those in F64 have.");

  for (i = 0; i < N; i++)
    {
      x[i] = 1e9 + 100 * (double) i;
      y[i] = 3 * (double) i + (double) (i * 29 % 31) / 10;
      ones[i] = 1;
    }
  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (AprTensor) samples = matrix_new (N, 1, x);
      g_autoptr (AprTensor) targets = vector_new (N, y);
      g_autoptr (AprLinearRegression) model =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "dtype", dtypes[i], NULL);

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), samples, targets, NULL, NULL, NULL));
      assert_close (apr_linear_regression_get_prediction_rounding (model),
                    find_expected (x, y, ones, model, i == 0 ? 0x1p-24 : 0x1p-53), 1e-6);
      g_assert_true ((apr_linear_regression_get_prediction_rounding (model) >= 1e-4) == (i == 0));
    }
}

static void
assert_warns (AprLinearRegression *model, gboolean warns)
{
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autofree char *text = apr_regression_statistics_to_string (statistics);

  g_assert_cmpfloat (apr_regression_statistics_get_prediction_rounding (statistics), ==,
                     apr_linear_regression_get_prediction_rounding (model));
  g_assert_true ((strstr (text, "Warning") != NULL) == warns);
}

/* By hand: the slope is 10, the intercept base + 20.2, the mean of x² is 3, and the variance of y is 200.16. */
static void
test_far_targets (void)
{
  static const struct
  {
    double base, scale;
    AprDType x, model;
    gboolean warns;
  } cases[] = {
    { 1.7e9, 1, APR_DTYPE_F32, APR_DTYPE_NONE, TRUE },  { 1.7e9, 1, APR_DTYPE_F64, APR_DTYPE_F32, TRUE },
    { 1.7e9, 1, APR_DTYPE_F32, APR_DTYPE_F64, FALSE },  { 1.7e9, 1, APR_DTYPE_F64, APR_DTYPE_NONE, FALSE },
    { 0x1p56, 16, APR_DTYPE_F64, APR_DTYPE_F64, TRUE }, { 0, 1, APR_DTYPE_F32, APR_DTYPE_F32, FALSE },
  };
  static const double x[] = { -1, 0, 1, 2, 3 }, y[] = { 10, 20, 31, 40, 50 };
  const gsize shape[] = { 5, 1 };
  gsize i;
  gsize j;

  g_test_summary ("Of targets far from 0, rounding the intercept and the prediction takes the digits.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprLinearRegression) model =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "dtype", cases[i].model, "keep-state", TRUE, NULL);
      gboolean narrow = cases[i].x == APR_DTYPE_F32 && cases[i].model == APR_DTYPE_NONE;
      double unit = cases[i].model == APR_DTYPE_F32 || narrow ? 0x1p-24 : 0x1p-53;
      double x_unit = cases[i].x == APR_DTYPE_F32 ? 0x1p-24 : unit;
      g_autoptr (AprTensor) wide = apr_tensor_new_from_doubles (x, 5, shape, 2, NULL);
      g_autoptr (AprTensor) samples = apr_tensor_cast (wide, cases[i].x, NULL);
      g_autoptr (AprTensor) targets = NULL;
      double values[5];

      for (j = 0; j < 5; j++)
        values[j] = cases[i].base + cases[i].scale * y[j];
      targets = vector_new (5, values);
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), samples, targets, NULL, NULL, NULL));
      assert_close (apr_linear_regression_get_prediction_rounding (model),
                    (unit * (cases[i].base / cases[i].scale + 20.2) + x_unit * 10 * sqrt (3)) / sqrt (200.16),
                    1e-7);
      assert_warns (model, cases[i].warns);
    }
}

/* By hand: the slope is 31/35, the intercept 4e15/35 but for 2, and the variance of y is 17.5 / 6. */
static void
test_ones (void)
{
  static const double last[] = { 1, 2, 4, 3, 6, 5 };
  double x[12], t[6], y[6];
  g_autoptr (AprTensor) with_ones = NULL;
  g_autoptr (AprTensor) times = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (AprLinearRegression) without_intercept = NULL;
  g_autoptr (AprLinearRegression) with_intercept = NULL;
  double expected = 0x1p-53 * 1e15 / sqrt (17.5 / 6);
  gsize i;

  g_test_summary ("A column of ones is as an intercept.");

  for (i = 0; i < 6; i++)
    {
      x[2 * i] = 1;
      x[2 * i + 1] = t[i] = 1e15 + (double) i;
      y[i] = 1e15 + last[i];
    }
  with_ones = matrix_new (6, 2, x);
  times = matrix_new (6, 1, t);
  targets = vector_new (6, y);
  without_intercept = fit (FALSE, with_ones, targets, NULL);
  with_intercept = fit (TRUE, times, targets, NULL);
  assert_close (apr_linear_regression_get_prediction_rounding (with_intercept), expected, 1e-12);
  assert_close (apr_linear_regression_get_prediction_rounding (without_intercept), expected, 1e-12);
  assert_warns (with_intercept, TRUE);
  assert_warns (without_intercept, TRUE);
}

static void
test_targets (void)
{
  double x[3 * N], y[N], both[2 * N];
  g_autoptr (AprTensor) samples = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (AprLinearRegression) model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprRegressionStatistics) first = NULL;
  g_autoptr (AprRegressionStatistics) second = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize i;

  g_test_summary (
    "Of several targets the model has the most; one that is constant has none. A file keeps it.");

  make_shares (x, y);
  for (i = 0; i < N; i++)
    {
      both[2 * i] = 7;
      both[2 * i + 1] = y[i];
    }
  samples = matrix_new (N, 3, x);
  targets = matrix_new (N, 2, both);
  g_assert_true (isnan (apr_linear_regression_get_prediction_rounding (model)));
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), samples, targets, NULL, NULL, NULL));
  first = statistics_of (model, 0);
  second = statistics_of (model, 1);
  g_assert_cmpfloat (apr_regression_statistics_get_prediction_rounding (first), ==, 0);
  g_assert_cmpfloat (apr_regression_statistics_get_prediction_rounding (second), >, 1e-3);
  g_assert_cmpfloat (apr_linear_regression_get_prediction_rounding (model), ==,
                     apr_regression_statistics_get_prediction_rounding (second));

  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, NULL);
  g_assert_cmpfloat (apr_linear_regression_get_prediction_rounding (APR_LINEAR_REGRESSION (loaded)), ==,
                     apr_linear_regression_get_prediction_rounding (model));
}

static void
test_few_samples (void)
{
  double x[3 * N], y[N];
  g_autoptr (AprTensor) samples = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  g_test_summary ("It is not known where the samples are kept instead of their sums.");

  make_shares (x, y);
  samples = matrix_new (2, 3 * N / 2, x);
  targets = vector_new (2, y);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), samples, targets, NULL, NULL, NULL));
  g_assert_true (isnan (apr_linear_regression_get_prediction_rounding (model)));
}

/* It is a ratio, which is the same in any unit of the targets. */
static void
test_units (void)
{
  static const int shifts[] = { -1024, 1000 };
  double x[3 * N], y[N];
  g_autoptr (AprTensor) samples = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;
  gsize j;

  make_shares (x, y);
  for (i = 0; i < N; i++)
    y[i] = round (16 * y[i]);
  samples = matrix_new (N, 1, x);
  targets = vector_new (N, y);
  model = fit (TRUE, samples, targets, NULL);
  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      g_autoptr (AprTensor) scaled_targets = NULL;
      g_autoptr (AprLinearRegression) scaled = NULL;
      double values[N];

      for (j = 0; j < N; j++)
        values[j] = ldexp (y[j], shifts[i]);
      scaled_targets = vector_new (N, values);
      scaled = fit (TRUE, samples, scaled_targets, NULL);
      assert_close (apr_linear_regression_get_prediction_rounding (scaled),
                    apr_linear_regression_get_prediction_rounding (model), 1e-12);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add_func ("/prediction-rounding/" path, function)
  ADD ("shares", test_shares);
  ADD ("two-shares", test_two_shares);
  ADD ("floats", test_floats);
  ADD ("far-targets", test_far_targets);
  ADD ("ones", test_ones);
  ADD ("targets", test_targets);
  ADD ("few-samples", test_few_samples);
  ADD ("units", test_units);
#undef ADD

  return g_test_run ();
}
