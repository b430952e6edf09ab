/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <gmp.h>
#include <math.h>

static void
assert_near (double actual, double expected, double tolerance)
{
  if (!(fabs (actual - expected) <= tolerance * fmax (1, fabs (expected))))
    g_error ("%.17g is not %.17g", actual, expected);
}

/* Samples of weight 0, wherever they stand and however far away, are not there for what goes from one sample to the
 * next, and have no influence. */
static void
test_zero_weights (void)
{
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  g_autoptr (AprTensor) more_x = matrix_new (8, 1, (const double[]){ 7, 0, 1, 7, 2, 3, 4, 1e300 });
  g_autoptr (AprTensor) more_y = vector_new (8, (const double[]){ 99, 3, 1, 99, 3, 9, 9, 99 });
  g_autoptr (AprTensor) weights = vector_new (8, (const double[]){ 0, 1, 1, 0, 1, 1, 1, 0 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) alone = NULL;
  g_autoptr (AprRegressionDiagnostics) among = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  alone = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), more_x, more_y, weights, NULL, &error));
  among = apr_linear_regression_diagnose (model, more_x, more_y, weights, 0, NULL, &error);
  g_assert_no_error (error);
  assert_near (apr_regression_diagnostics_get_durbin_watson (among),
               apr_regression_diagnostics_get_durbin_watson (alone), 1e-14);
  assert_near (element (apr_regression_diagnostics_get_leverages (among), 7), 0, 0);
  assert_near (element (apr_regression_diagnostics_get_standardized_residuals (among), 7), 0, 0);
  assert_near (element (apr_regression_diagnostics_get_studentized_residuals (among), 7), 0, 0);
  assert_near (element (apr_regression_diagnostics_get_cooks_distances (among), 7), 0, 0);
}

/* Weights of 1, 2, 2, 2 and 1, in any unit: the weighted means are 2 and 4.75, the slope is 28 / 12, and the leverages
 * are w (1/8 + (x - 2)² / 12). */
static void
test_units_of_weights (void)
{
  static const int shifts[] = { 0, -1030, -1070, 1000 };
  const double numbers[] = { 1, 2, 2, 2, 1 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      double squares[] = { 0, 0, 0 }; /* of the scores of HC1, HC2 and HC3 */
      double rest = 0;
      double values[5];
      g_autoptr (AprTensor) weights = NULL;
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
      g_autoptr (GError) error = NULL;

      for (j = 0; j < 5; j++)
        values[j] = ldexp (numbers[j], shifts[i]);
      weights = vector_new (5, values);
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error));
      diagnostics = apr_linear_regression_diagnose (model, x, y, weights, 0, NULL, &error);
      g_assert_no_error (error);
      for (j = 0; j < 5; j++)
        {
          double residual = element (y, j) - 4.75 - 28 / 12. * ((double) j - 2);

          rest += numbers[j] * residual * residual;
        }
      for (j = 0; j < 5; j++)
        {
          double distance = (double) j - 2;
          double residual = element (y, j) - 4.75 - 28 / 12. * distance;
          double leverage = numbers[j] * (1 / 8. + distance * distance / 12);
          double score = numbers[j] * distance * residual;
          double standardized = sqrt (numbers[j]) * residual / sqrt (rest / 3 * (1 - leverage));

          assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), j), leverage, 1e-14);
          assert_near (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), j),
                       standardized, 1e-14);
          assert_near (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), j),
                       standardized * standardized * leverage / (1 - leverage) / 2, 1e-13);
          squares[0] += score * score * 5 / 3;
          squares[1] += score * score / (1 - leverage);
          squares[2] += score * score / ((1 - leverage) * (1 - leverage));
        }
      for (j = 0; j < 3; j++)
        {
          g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_robust_statistics (
            model, x, y, weights, (AprCovarianceKind) (APR_COVARIANCE_HC1 + j), 0, NULL, &error);

          g_assert_no_error (error);
          assert_near (element (apr_regression_statistics_get_standard_errors (statistics), 1),
                       sqrt (squares[j]) / 12, 1e-14);
        }
    }
}

/* The samples 0, 1, 2, 3, 4 of one feature, with leverages of 1/5 + (x - 2)² / 10. */
static void
test_line (void)
{
  const double leverages[] = { 0.6, 0.3, 0.2, 0.3, 0.6 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, 4 });
  /* 1 + 2 x and residuals that are orthogonal to 1 and x: 1, -1, -1, 1, 0 less their line. */
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  double residuals[5];
  double sum = 0;
  double differences = 0;
  gsize i;
  gsize j;

  /* Exactly: the means are 2 and 5, and the slope is (2 2 + 1 4 + 0 2 + 1 4 + 2 4) / 10. */
  for (i = 0; i < 5; i++)
    {
      residuals[i] = element (y, i) - 5 - 2 * ((double) i - 2);
      sum += residuals[i] * residuals[i];
      if (i > 0)
        differences += (residuals[i] - residuals[i - 1]) * (residuals[i] - residuals[i - 1]);
    }
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  assert_near (apr_regression_diagnostics_get_durbin_watson (diagnostics), differences / sum, 1e-14);

  for (i = 0; i < 5; i++)
    {
      double sigma = sqrt (sum / 3);
      double standardized = residuals[i] / (sigma * sqrt (1 - leverages[i]));
      double x_mean = (10 - (double) i) / 4;
      double y_mean = (25 - element (y, i)) / 4;
      double xy = 0;
      double xx = 0;
      double rest = 0;
      double distance = 0;

      assert_near (element (apr_regression_diagnostics_get_fitted_values (diagnostics), i),
                   1 + 2 * (double) i, 1e-14);
      assert_near (element (apr_regression_diagnostics_get_residuals (diagnostics), i), residuals[i], 1e-14);
      assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), i), leverages[i], 1e-14);
      assert_near (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), i),
                   standardized, 1e-13);

      /* The fit without the sample, by the textbook. */
      for (j = 0; j < 5; j++)
        if (j != i)
          {
            xy += ((double) j - x_mean) * (element (y, j) - y_mean);
            xx += ((double) j - x_mean) * ((double) j - x_mean);
          }
      for (j = 0; j < 5; j++)
        {
          double fitted = y_mean + xy / xx * ((double) j - x_mean);

          distance += (1 + 2 * (double) j - fitted) * (1 + 2 * (double) j - fitted);
          if (j != i)
            rest += (element (y, j) - fitted) * (element (y, j) - fitted);
        }
      assert_near (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), i),
                   distance / (2 * sum / 3), 1e-13);
      assert_near (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), i),
                   residuals[i] / sqrt (rest / 2 * (1 - leverages[i])), 1e-12);
    }
}

/* Fitted values are those of the exact solution, as residuals are. Its slope is no float, and so far from 0 the
 * predictions of the model are wrong by about 0.01. */
static void
test_floats (void)
{
  g_autoptr (AprTensor) doubles =
    matrix_new (5, 1, (const double[]){ 0x1p21, 0x1p21 + 1, 0x1p21 + 2, 0x1p21 + 3, 0x1p21 + 4 });
  g_autoptr (AprTensor) x = apr_tensor_cast (doubles, APR_DTYPE_F32, NULL);
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 0.3, 0.1, 0.3, 0.9, 0.9 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 5; i++)
    {
      double fitted = 0.1 + 0.2 * (double) i;

      assert_near (element (apr_regression_diagnostics_get_fitted_values (diagnostics), i), fitted, 1e-15);
      assert_near (element (apr_regression_diagnostics_get_residuals (diagnostics), i),
                   element (y, i) - fitted, 1e-15);
    }
}

/* A weight of 3 is three samples: the leverage of the one is that of the three, and residuals are the same. */
static void
test_weights (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 0, 1, 2, 5 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 3, 2, 8 });
  g_autoptr (AprTensor) w = vector_new (4, (const double[]){ 1, 3, 1, 0 });
  g_autoptr (AprTensor) long_x = matrix_new (5, 1, (const double[]){ 0, 1, 1, 1, 2 });
  g_autoptr (AprTensor) long_y = vector_new (5, (const double[]){ 1, 3, 3, 3, 2 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) long_model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprRegressionDiagnostics) others = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, w, NULL, &error));
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (long_model), long_x, long_y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, w, 0, NULL, &error);
  others = apr_linear_regression_diagnose (long_model, long_x, long_y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), 1),
               3 * element (apr_regression_diagnostics_get_leverages (others), 1), 1e-14);
  assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), 2),
               element (apr_regression_diagnostics_get_leverages (others), 4), 1e-14);
  assert_near (element (apr_regression_diagnostics_get_residuals (diagnostics), 1),
               element (apr_regression_diagnostics_get_residuals (others), 2), 1e-14);
  assert_same_double (element (apr_regression_diagnostics_get_leverages (diagnostics), 3), 0);
  assert_same_double (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), 3), 0);
}

/* Their sum is the number of independent terms, whatever the features; a sample alone in a group has the leverage 1. */
static void
test_dependent (void)
{
  double x_values[21] = { 0 };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (7, (const double[]){ 1, 4, 2, 5, 3, 7, 6 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  double sum = 0;
  gsize i;

  for (i = 0; i < 7; i++)
    x_values[3 * i + i / 3] = 1;
  x = matrix_new (7, 3, x_values);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 7; i++)
    sum += element (apr_regression_diagnostics_get_leverages (diagnostics), i);
  assert_near (sum, 3, 1e-13);
  assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), 6), 1, 1e-13);
  g_assert_true (isnan (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), 6)));
  g_assert_true (isnan (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), 6)));
}

/* A sample without weight need not be as the others are, which have the same feature twice. */
static void
test_dependent_elsewhere (void)
{
  g_autoptr (AprTensor) x = matrix_new (5, 2, (const double[]){ 1, 1, 2, 2, 4, 4, 3, 9, 5, 5 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  g_autoptr (AprTensor) weights = vector_new (5, (const double[]){ 1, 1, 1, 0, 1 });
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, weights, TRUE);
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprRegressionStatistics) robust = NULL;
  g_autoptr (GError) error = NULL;
  /* 1/4 + (x - 3)² / 10 */
  const double leverages[] = { 0.65, 0.35, 0.35, 0, 0.65 };
  gsize i;

  diagnostics = apr_linear_regression_diagnose (model, x, y, weights, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 5; i++)
    assert_near (element (apr_regression_diagnostics_get_leverages (diagnostics), i), leverages[i], 1e-13);
  robust =
    apr_linear_regression_get_robust_statistics (model, x, y, weights, APR_COVARIANCE_HC3, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (robust);
}

/* What the line through samples leaves of them, in fractions, and White's standard error of its slope. */
static double
find_line (const gint64 *x, const gint64 *y, gsize n, double *residuals)
{
  double error;
  mpq_t count;
  mpq_t x_mean;
  mpq_t y_mean;
  mpq_t slope;
  mpq_t squares;
  mpq_t scores;
  mpq_t u;
  mpq_t v;
  gsize i;

  mpq_inits (count, x_mean, y_mean, slope, squares, scores, u, v, NULL);
  mpq_set_ui (count, n, 1);
  for (i = 0; i < n; i++)
    {
      mpq_set_si (u, x[i], 1);
      mpq_add (x_mean, x_mean, u);
      mpq_set_si (v, y[i], 1);
      mpq_add (y_mean, y_mean, v);
    }
  mpq_div (x_mean, x_mean, count);
  mpq_div (y_mean, y_mean, count);
  for (i = 0; i < n; i++)
    {
      mpq_set_si (u, x[i], 1);
      mpq_sub (u, u, x_mean);
      mpq_set_si (v, y[i], 1);
      mpq_sub (v, v, y_mean);
      mpq_mul (v, u, v);
      mpq_add (slope, slope, v);
      mpq_mul (u, u, u);
      mpq_add (squares, squares, u);
    }
  mpq_div (slope, slope, squares);
  for (i = 0; i < n; i++)
    {
      mpq_set_si (u, x[i], 1);
      mpq_sub (u, u, x_mean);
      mpq_mul (count, u, slope);
      mpq_set_si (v, y[i], 1);
      mpq_sub (v, v, y_mean);
      mpq_sub (v, v, count);
      residuals[i] = mpq_get_d (v);
      mpq_mul (u, u, v);
      mpq_mul (u, u, u);
      mpq_add (scores, scores, u);
    }
  error = sqrt (mpq_get_d (scores)) / mpq_get_d (squares);
  mpq_clears (count, x_mean, y_mean, slope, squares, scores, u, v, NULL);

  return error;
}

static AprTensor *
whole_numbers_new (gint64 *values, const gsize *shape, gsize n_dims)
{
  g_autoptr (GBytes) bytes = NULL;

  swap_on_big_endian (values, shape[0], 8);
  bytes = g_bytes_new (values, shape[0] * 8);
  swap_on_big_endian (values, shape[0], 8);

  return apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, n_dims, bytes, NULL);
}

/* Times of two clocks in nanoseconds: no double holds them, and predictions are 10^17 times the residuals. */
static void
test_large_terms (void)
{
  const gsize n = 100;
  const gsize shape[2] = { n, 1 };
  g_autofree gint64 *x_values = g_new (gint64, n);
  g_autofree gint64 *y_values = g_new (gint64, n);
  g_autofree double *residuals = g_new (double, n);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;
  double differences = 0;
  double squares = 0;
  double hc0;
  gsize i;

  for (i = 0; i < n; i++)
    {
      x_values[i] = G_GINT64_CONSTANT (1700000000000000000) + (gint64) i * G_GINT64_CONSTANT (1000000000);
      y_values[i] = x_values[i] + (gint64) (40000 * i + 37 * i * i % 101) - 50;
    }
  x = whole_numbers_new (x_values, shape, 2);
  y = whole_numbers_new (y_values, shape, 1);
  hc0 = find_line (x_values, y_values, n, residuals);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < n; i++)
    {
      assert_near (element (apr_regression_diagnostics_get_residuals (diagnostics), i), residuals[i], 1e-14);
      squares += residuals[i] * residuals[i];
      if (i > 0)
        differences += (residuals[i] - residuals[i - 1]) * (residuals[i] - residuals[i - 1]);
    }
  assert_near (apr_regression_diagnostics_get_durbin_watson (diagnostics), differences / squares, 1e-14);

  statistics =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC0, 0, NULL, &error);
  g_assert_no_error (error);
  assert_near (element (apr_regression_statistics_get_standard_errors (statistics), 1) / hc0, 1, 1e-13);
}

/* Fits whole numbers, and gives their leverages and half the width of their intervals. */
static void
find_leverages (
  gint64 *x_values, gsize n_features, gboolean fit_intercept, AprTensor *y, double *leverages, double *widths)
{
  const gsize shape[2] = { apr_tensor_get_shape (y, NULL)[0], n_features };
  const gsize n_values = shape[0] * n_features;
  g_autoptr (AprTensor) flat = whole_numbers_new (x_values, &n_values, 1);
  g_autoptr (AprTensor) x =
    apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, 2, apr_tensor_get_bytes (flat), NULL);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, fit_intercept);
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_CONFIDENCE, &lower, &upper, &error));
  g_assert_no_error (error);
  for (i = 0; i < shape[0]; i++)
    {
      leverages[i] = element (apr_regression_diagnostics_get_leverages (diagnostics), i);
      widths[i] = (element (upper, i) - element (lower, i)) / 2;
    }
}

/* Whole numbers that no double holds are as far from each other as they are without what they have in common. */
static void
test_large_numbers (void)
{
  const gint64 offset = G_GINT64_CONSTANT (1) << 62;
  const gint64 numbers[] = { 1, 500, 2000, 9000, 12345, 13000, 13001, 14000, 15000, 17123 };
  g_autoptr (AprTensor) y = vector_new (10, (const double[]){ 1, 2, 3, 5, 4, 6, 7, 6, 9, 8 });
  gint64 x_values[20];
  double leverages[10];
  double widths[10];
  double expected[10];
  double expected_widths[10];
  gsize i;
  gsize j;

  for (i = 0; i < 10; i++)
    x_values[i] = numbers[i];
  find_leverages (x_values, 1, TRUE, y, expected, expected_widths);
  for (i = 0; i < 10; i++)
    x_values[i] += offset;
  find_leverages (x_values, 1, TRUE, y, leverages, widths);
  for (i = 0; i < 10; i++)
    {
      assert_near (leverages[i] / expected[i], 1, 1e-10);
      assert_near (widths[i] / expected_widths[i], 1, 1e-10);
    }

  /* Without an intercept, two features that are nearly the same are as one and their difference. */
  for (j = 0; j < 2; j++)
    {
      for (i = 0; i < 10; i++)
        {
          x_values[2 * i] = offset + 999 * (gint64) i;
          x_values[2 * i + 1] = numbers[i] + (j == 0 ? 0 : x_values[2 * i]);
        }
      find_leverages (x_values, 2, FALSE, y, j == 0 ? expected : leverages,
                      j == 0 ? expected_widths : widths);
    }
  for (i = 0; i < 10; i++)
    assert_near (leverages[i] / expected[i], 1, 1e-10);
}

/* Two features that are nearly the same have coefficients of 2^60, and these residuals, whatever the fit is of. */
static void
test_large_coefficients (void)
{
  const double signs[] = { 1, -1, -1, 1, 1, -1, -1, 1 };
  double x_values[16];
  double y_values[8];
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < 8; i++)
    {
      double first = i < 4 ? -1 : 1;
      double second = i % 2 == 0 ? -1 : 1;

      /* The four vectors are orthogonal: the residual is the last. */
      x_values[2 * i] = first;
      x_values[2 * i + 1] = first + second * 0x1p-46;
      y_values[i] = 3 * first + second * 0x1p14 + signs[i] * 0x1p-36;
    }
  x = matrix_new (8, 2, x_values);
  y = vector_new (8, y_values);
  g_object_set (model, "keep-state", TRUE, NULL);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 8; i++)
    assert_near (element (apr_regression_diagnostics_get_residuals (diagnostics), i) * 0x1p36, signs[i],
                 1e-14);
}

/* In other units of the target only fitted values and residuals are others, also where squares are no doubles. */
static void
test_units (void)
{
  static const int shifts[] = { -1022, -600, 540, 1000 };
  const double values[] = { 1, 2, 2, 4, 5 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 1, 2, 3, 4, 6 });
  g_autoptr (AprTensor) y = vector_new (5, values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprRegressionDiagnostics) expected =
    apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  gsize i;
  gsize j;

  g_assert_no_error (error);
  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      double scaled[5];
      g_autoptr (AprTensor) targets = NULL;
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;

      for (j = 0; j < 5; j++)
        scaled[j] = ldexp (values[j], shifts[i]);
      targets = vector_new (5, scaled);
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, targets, NULL, NULL, &error));
      diagnostics = apr_linear_regression_diagnose (model, x, targets, NULL, 0, NULL, &error);
      g_assert_no_error (error);
      assert_same_double (apr_regression_diagnostics_get_durbin_watson (diagnostics),
                          apr_regression_diagnostics_get_durbin_watson (expected));
      for (j = 0; j < 5; j++)
        {
          assert_same_double (
            element (apr_regression_diagnostics_get_residuals (diagnostics), j),
            ldexp (element (apr_regression_diagnostics_get_residuals (expected), j), shifts[i]));
          assert_same_double (
            element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), j),
            element (apr_regression_diagnostics_get_standardized_residuals (expected), j));
          assert_same_double (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), j),
                              element (apr_regression_diagnostics_get_cooks_distances (expected), j));
        }
    }
}

static void
test_errors (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (const double[]){ 0, 1, 2 });
  g_autoptr (AprTensor) y = vector_new (3, (const double[]){ 1, 3, 2 });
  g_autoptr (AprTensor) wide = matrix_new (3, 2, (const double[]){ 0, 1, 2, 3, 4, 5 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) empty = g_object_new (APR_TYPE_REGRESSION_DIAGNOSTICS, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GError *error = NULL;

  g_assert_null (apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_null (apr_linear_regression_diagnose (model, x, y, NULL, 1, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_diagnose (model, x, wide, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_diagnose (model, wide, y, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (apr_linear_regression_diagnose (model, x, y, NULL, 0, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  g_assert_true (isnan (apr_regression_diagnostics_get_durbin_watson (empty)));
  g_assert_cmpuint (apr_tensor_get_n_elements (apr_regression_diagnostics_get_residuals (empty)), ==, 0);
}

static void
test_other_samples (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 0, 1, 2, 5 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 3, 2, 8 });
  g_autoptr (AprTensor) ones = vector_new (4, (const double[]){ 1, 1, 1, 1 });
  g_autoptr (AprTensor) other = vector_new (4, (const double[]){ 3, 1, 2, 8 });
  g_autoptr (AprTensor) infinite = matrix_new (4, 1, (const double[]){ 0, INFINITY, 2, 5 });
  g_autoptr (AprTensor) fewer_x = apr_tensor_slice_rows (x, 0, 3, NULL);
  g_autoptr (AprTensor) fewer_y = apr_tensor_slice_rows (y, 0, 3, NULL);
  g_autoptr (AprTensor) floats = apr_tensor_cast (x, APR_DTYPE_F32, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) rounded =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, NULL);
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  const double wrong_weights[][4] = { { 1, NAN, 1, 1 }, { 1, INFINITY, 1, 1 }, { 1, -1, 1, 1 } };
  const AprError codes[] = { APR_ERROR_NOT_FINITE, APR_ERROR_NOT_FINITE, APR_ERROR_WEIGHTS };
  GError *error = NULL;
  gsize i;

  g_test_summary ("The sums tell other samples, other weights and other targets from those of the fit.");

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  g_assert_null (apr_linear_regression_diagnose (model, fewer_x, fewer_y, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "X has 3 samples, but the model was fitted to 4");
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_diagnose (model, x, other, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_diagnose (model, x, y, other, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  g_clear_error (&error);

  /* The same numbers in another dtype, and weights of 1, are the same samples. */
  diagnostics = apr_linear_regression_diagnose (model, floats, y, ones, 0, NULL, &error);
  g_assert_no_error (error);

  g_clear_object (&diagnostics);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (rounded), x, y, NULL, NULL, NULL));
  g_assert_null (apr_linear_regression_diagnose (rounded, fewer_x, fewer_y, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  /* Rounded sums do not tell whether these are others. */
  g_assert_null (apr_linear_regression_diagnose (rounded, infinite, y, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "X has an infinity at row 1, column 0");
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_diagnose (rounded, x, infinite, NULL, 0, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "y has an infinity at row 1");
  g_clear_error (&error);
  for (i = 0; i < G_N_ELEMENTS (wrong_weights); i++)
    {
      g_autoptr (AprTensor) wrong = vector_new (4, wrong_weights[i]);

      g_assert_null (apr_linear_regression_diagnose (rounded, x, y, wrong, 0, NULL, &error));
      assert_message_has (error, "sample_weight");
      g_assert_error (error, APR_ERROR, (int) codes[i]);
      g_clear_error (&error);
    }
  diagnostics = apr_linear_regression_diagnose (rounded, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/regression-diagnostics/line", test_line);
  g_test_add_func ("/regression-diagnostics/floats", test_floats);
  g_test_add_func ("/regression-diagnostics/weights", test_weights);
  g_test_add_func ("/regression-diagnostics/zero-weights", test_zero_weights);
  g_test_add_func ("/regression-diagnostics/units-of-weights", test_units_of_weights);
  g_test_add_func ("/regression-diagnostics/dependent", test_dependent);
  g_test_add_func ("/regression-diagnostics/dependent-elsewhere", test_dependent_elsewhere);
  g_test_add_func ("/regression-diagnostics/large-terms", test_large_terms);
  g_test_add_func ("/regression-diagnostics/large-numbers", test_large_numbers);
  g_test_add_func ("/regression-diagnostics/large-coefficients", test_large_coefficients);
  g_test_add_func ("/regression-diagnostics/units", test_units);
  g_test_add_func ("/regression-diagnostics/errors", test_errors);
  g_test_add_func ("/regression-diagnostics/other-samples", test_other_samples);

  return g_test_run ();
}
