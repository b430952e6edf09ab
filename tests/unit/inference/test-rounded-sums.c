/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* What statistics say where the sums of products are rounded. */

/* Two targets: one of whose residuals rounded sums show nothing, and one that is as it is. */
static void
check_rounded_sums (gboolean fit_intercept)
{
  const gsize n = 200;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autofree double *rows = g_new (double, n);
  g_autofree double *targets = g_new (double, 2 * n);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) rounded = g_object_new (
    APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, "fit-intercept", fit_intercept, NULL);
  g_autoptr (AprRegressionStatistics) exact = NULL;
  g_autoptr (AprRegressionStatistics) little = NULL;
  g_autoptr (AprRegressionStatistics) enough = NULL;
  g_autoptr (AprRegressionStatistics) robust = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTerm) term = NULL;
  g_autoptr (GError) error = NULL;
  const gsize n_terms = fit_intercept ? 2 : 1;
  g_autoptr (AprTensor) factors = matrix_new (n_terms, n_terms, (const double[]){ 1, 0, 0, 1 });
  gsize i;

  for (i = 0; i < n; i++)
    {
      double noise = g_rand_double_range (rand, -1, 1);

      rows[i] = g_rand_double_range (rand, -1, 1);
      targets[2 * i] = (fit_intercept ? 5 : 0) + 2 * rows[i] + 1e-9 * noise;
      targets[2 * i + 1] = (fit_intercept ? 5 : 0) + 2 * rows[i] + 1e-6 * noise;
    }
  x = matrix_new (n, 1, rows);
  y = matrix_new (n, 2, targets);
  apr_linear_regression_set_fit_intercept (model, fit_intercept);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (rounded), x, y, NULL, NULL, &error));
  exact = statistics_of (model, 1);
  enough = statistics_of (rounded, 1);
  assert_close (apr_regression_statistics_get_residual_standard_error (enough),
                apr_regression_statistics_get_residual_standard_error (exact), 1e-2);
  assert_close (apr_regression_statistics_get_log_likelihood (enough),
                apr_regression_statistics_get_log_likelihood (exact), 1e-2);

  little = statistics_of (rounded, 0);
  i = fit_intercept ? 1 : 0;
  assert_close (element (apr_regression_statistics_get_coefficients (little), i), 2, 1e-8);
  assert_close (apr_regression_statistics_get_r_squared (little), 1, 1e-14);
  assert_close (apr_regression_statistics_get_adjusted_r_squared (little), 1, 1e-14);
  g_assert_true (isnan (apr_regression_statistics_get_residual_sum_of_squares (little)));
  g_assert_true (isnan (apr_regression_statistics_get_residual_variance (little)));
  g_assert_true (isnan (apr_regression_statistics_get_residual_standard_error (little)));
  g_assert_true (isnan (apr_regression_statistics_get_f_statistic (little)));
  g_assert_true (isnan (apr_regression_statistics_get_f_p_value (little)));
  g_assert_true (isnan (apr_regression_statistics_get_log_likelihood (little)));
  g_assert_true (isnan (apr_regression_statistics_get_aic (little)));
  g_assert_true (isnan (apr_regression_statistics_get_bic (little)));
  g_assert_true (isnan (element (apr_regression_statistics_get_standard_errors (little), i)));
  g_assert_true (isnan (element (apr_regression_statistics_get_t_values (little), i)));
  g_assert_true (isnan (element (apr_regression_statistics_get_p_values (little), i)));
  g_assert_true (isnan (element (apr_regression_statistics_get_covariance (little), 0)));
  term = g_list_model_get_item (G_LIST_MODEL (little), 0);
  g_assert_true (isnan (apr_term_get_standard_error (term)));

  test = apr_regression_statistics_test_hypothesis (little, factors, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (isnan (apr_hypothesis_test_get_f_statistic (test)));
  g_assert_true (isnan (apr_hypothesis_test_get_f_p_value (test)));
  g_assert_true (isnan (element (apr_hypothesis_test_get_standard_errors (test), 0)));

  g_assert_true (apr_linear_regression_predict_interval (rounded, x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                         &upper, &error));
  g_assert_true (isnan (element (lower, 0)) && isnan (element (upper, 0)));
  g_assert_cmpfloat (element (lower, 1), <, element (upper, 1));

  robust =
    apr_linear_regression_get_robust_statistics (rounded, x, y, NULL, APR_COVARIANCE_HC3, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (isnan (element (apr_regression_statistics_get_standard_errors (robust), i)));
}

static void
test_little_left (void)
{
  g_test_summary ("With sums in double, what is left of a target may be less than their rounding.");

  check_rounded_sums (TRUE);
  check_rounded_sums (FALSE);
}

static void
test_far_without_weight (void)
{
  const double times[] = { 0, 0.31, 0.11, 0.62, 0.93, 0.47, 0.78, 0.22, 0.55, 0.84 };
  const double noise[] = { 0, 1, -1, 2, -2, 1, 0, -1, 1, -1 };
  const double weights[] = { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weight = vector_new (10, weights);
  g_autoptr (AprLinearRegression) exact = NULL;
  g_autoptr (AprLinearRegression) rounded =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, NULL);
  g_autoptr (AprRegressionStatistics) expected = NULL;
  g_autoptr (AprRegressionStatistics) found = NULL;
  g_autoptr (GError) error = NULL;
  double x_values[10] = { 0 };
  double y_values[10] = { 0 };
  gsize i;

  g_test_summary ("Sums in double keep the digits of time stamps beside a missing row, 0 with the weight 0.");
  for (i = 1; i < 10; i++)
    {
      x_values[i] = 1.7e9 + times[i];
      y_values[i] = 20 + 2 * times[i] + 0.01 * noise[i];
    }
  x = matrix_new (10, 1, x_values);
  y = vector_new (10, y_values);
  exact = fitted_new (x, y, weight, TRUE);
  expected = statistics_of (exact, 0);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (rounded), x, y, weight, NULL, &error));
  g_assert_no_error (error);
  found = statistics_of (rounded, 0);
  for (i = 0; i < 2; i++)
    assert_close (element (apr_regression_statistics_get_standard_errors (found), i),
                  element (apr_regression_statistics_get_standard_errors (expected), i), 1e-10);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rounded-sums/little-left", test_little_left);
  g_test_add_func ("/rounded-sums/far-without-weight", test_far_without_weight);

  return g_test_run ();
}
