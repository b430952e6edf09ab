/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

static AprRegressionStatistics *
robust_of (gsize n, const double *x_values, const double *y_values, AprCovarianceKind kind)
{
  g_autoptr (AprTensor) x = matrix_new (n, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (n, y_values);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  GError *error = NULL;
  AprRegressionStatistics *statistics =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, kind, 0, NULL, &error);

  g_assert_no_error (error);
  return statistics;
}

/* By hand: the intercept is the mean of the first three, whatever the others are, and the sum of squares of their
 * residuals is 14/3; the slope is the difference of two such means. */
static void
test_hidden_error (void)
{
  static const double x[] = { 0, 0, 0, 1, 1, 1 }, intercept_row[] = { 1, 0 }, slope_row[] = { 0, 1 };
  static const double exponents[] = { 0, 4, 8, 10, 12, 13, 14, 16, 18, 20, 100 };
  const double leverage = 1.0 / 3;
  g_autoptr (AprTensor) intercept = matrix_new (1, 2, intercept_row);
  g_autoptr (AprTensor) slope = matrix_new (1, 2, slope_row);
  gsize i;
  gsize j;

  g_test_summary ("A robust standard error of which rounding leaves nothing is NaN, not 0 or another.");

  for (i = 0; i < G_N_ELEMENTS (exponents); i++)
    for (j = 0; j < 2; j++)
      {
        double size = pow (10, exponents[i]);
        const double y[] = { 1, 2, 4, size, 3 * size, 4 * size };
        double factor = j == 0 ? 1 : 1 / (1 - leverage);
        double expected = factor * sqrt (14.0 / 27);
        g_autoptr (AprRegressionStatistics) statistics =
          robust_of (6, x, y, j == 0 ? APR_COVARIANCE_HC0 : APR_COVARIANCE_HC3);
        AprTensor *errors = apr_regression_statistics_get_standard_errors (statistics);
        AprTensor *covariance = apr_regression_statistics_get_covariance (statistics);
        g_autoptr (AprHypothesisTest) hidden =
          apr_regression_statistics_test_hypothesis (statistics, intercept, NULL, NULL);
        g_autoptr (AprHypothesisTest) known =
          apr_regression_statistics_test_hypothesis (statistics, slope, NULL, NULL);
        g_autofree char *text = apr_regression_statistics_to_string (statistics);
        gboolean is_hidden = isnan (element (errors, 0));

        g_assert_true (exponents[i] < 10 ? !is_hidden : exponents[i] <= 13 || is_hidden);
        if (!is_hidden)
          assert_close (element (errors, 0), expected, exponents[i] <= 4 ? 1e-14 : 1e-6);
        assert_close (element (errors, 1), expected * sqrt (1 + size * size), 1e-14);
        assert_close (element (covariance, 3), expected * expected * (1 + size * size), 1e-14);
        g_assert_true (isnan (element (covariance, 0)) == is_hidden);
        g_assert_true (isnan (element (covariance, 1)) == is_hidden);
        g_assert_true (isnan (element (covariance, 2)) == is_hidden);
        g_assert_true (isnan (element (apr_regression_statistics_get_t_values (statistics), 0)) == is_hidden);
        g_assert_true (isnan (element (apr_regression_statistics_get_p_values (statistics), 0)) == is_hidden);
        g_assert_true (isnan (apr_hypothesis_test_get_f_statistic (hidden)) == is_hidden);
        g_assert_true (isnan (element (apr_hypothesis_test_get_standard_errors (hidden), 0)) == is_hidden);
        g_assert_false (isnan (apr_hypothesis_test_get_f_statistic (known)));
        g_assert_true ((strstr (text, "\nA standard error is not known") != NULL) == is_hidden);
      }
}

/* By hand: the last sample is the intercept, and its residual is 0; the sum of squares of the others is 5. */
static void
test_no_error (void)
{
  static const double x[] = { 1, 1, 1, 1, 0 }, y[] = { 1, 2, 4, 3, 7 };
  g_autoptr (AprRegressionStatistics) statistics = robust_of (5, x, y, APR_COVARIANCE_HC0);
  AprTensor *errors = apr_regression_statistics_get_standard_errors (statistics);

  g_test_summary ("A term that one sample fixes has no robust standard error, rather than one of rounding.");

  g_assert_true (isnan (element (errors, 0)));
  assert_close (element (errors, 1), sqrt (5.0 / 16), 1e-14);
}

/* The exact residuals of the first two samples are some 10^-223, as their sum with weights and that of the third is 0,
 * and so are the standard errors: what rounding leaves is far below the root mean square of all, but far above that. */
static void
test_heavy (void)
{
  static const double x_values[] = { 1, 4, 8 }, y_values[] = { 3, -1, 1e77 }, weights[] = { 1e300, 1e300, 1 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprTensor) sample_weight = vector_new (3, weights);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, sample_weight);
  GError *error = NULL;
  g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_robust_statistics (
    model, x, y, sample_weight, APR_COVARIANCE_HC0, 0, NULL, &error);
  gsize i;

  g_assert_no_error (error);
  for (i = 0; i < 2; i++)
    g_assert_true (isnan (element (apr_regression_statistics_get_standard_errors (statistics), i)));
}

/* By hand: with C = [242, -143; -143, 338] and the means m = [-11, 26], C^-1 m is [0, 1/13]. */
static void
test_zero (void)
{
  static const double x_values[] = { 0, 26, -22, 39, -11, 13, -11, 26, -11, 26 };
  static const double sizes[] = { 1, 1e200 };
  g_autoptr (AprTensor) x = matrix_new (5, 2, x_values);
  gsize i;

  g_test_summary ("A covariance of 0 is 0, in units in which what rounding makes of it is infinite too.");

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      const double y_values[] = { 1 * sizes[i], 2 * sizes[i], 4 * sizes[i], 3 * sizes[i], 7 * sizes[i] };
      g_autoptr (AprTensor) y = vector_new (5, y_values);
      g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
      g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
      AprTensor *covariance = apr_regression_statistics_get_covariance (statistics);

      g_assert_true (element (covariance, 1) == 0);
      g_assert_true (element (covariance, 3) == 0);
      g_assert_true (isinf (element (covariance, 0)) == (sizes[i] > 1));
      g_assert_cmpfloat (element (covariance, 2), <, 0);
    }
}

static void
test_far_means (void)
{
  const double x_values[] = {
    0x1p46 - 3.015625, -3.015625 + 0x1p-28,  0x1p46 - 1.046875, -1.046875 - 0x1p-27,
    0x1p46 + 1.578125, 1.578125 + 0x1.8p-27, 0x1p46 + 2.234375, 2.234375 - 0x1p-28,
    0x1p46 + 0.5,      0.5 + 0x1p-27,        0x1p46 - 0.328125, -0.328125 - 0x1p-28
  };
  const double y_values[] = { 1, -2, 3, 1, 0, 2 };
  const double expected[] = { 5.18265831750797962e21, 73650004.3886391554, 73650004.4424602663 };
  g_autoptr (AprTensor) x = matrix_new (6, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (6, y_values);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary (
    "The means of features that are far from 0 beside their spread, and nearly depend on each other: "
    "1e-30 times the largest variance inflation is 7e-14. From fractions in Python.");

  statistics =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC0, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 3; i++)
    assert_close (element (apr_regression_statistics_get_standard_errors (statistics), i), expected[i],
                  7e-14);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/covariance/hidden-error", test_hidden_error);
  g_test_add_func ("/covariance/no-error", test_no_error);
  g_test_add_func ("/covariance/heavy", test_heavy);
  g_test_add_func ("/covariance/zero", test_zero);
  g_test_add_func ("/covariance/far-means", test_far_means);

  return g_test_run ();
}
