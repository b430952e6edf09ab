/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* Statistics where features depend on each other: as of the model without the last ones. */

static void
test_dependent_features (void)
{
  const double x_values[] = { 1, 2, 5, 2, 4, 1, 3, 6, 7, 4, 8, 2, 5, 10, 9 };
  const double reduced_values[] = { 1, 5, 2, 1, 3, 7, 4, 2, 5, 9 };
  g_autoptr (AprTensor) x = matrix_new (5, 3, x_values);
  g_autoptr (AprTensor) reduced = matrix_new (5, 2, reduced_values);
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 1, 3, 2, 5, 9 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprLinearRegression) other_model = fit (TRUE, reduced, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprRegressionStatistics) other = statistics_of (other_model, 0);
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTensor) other_lower = NULL;
  g_autoptr (AprTensor) other_upper = NULL;
  g_autoptr (AprTensor) wrong = matrix_new (2, 3, (const double[]){ 1, 2, 5, 1, 2.001, 5 });
  g_autoptr (GError) error = NULL;
  const gsize places[] = { 0, 1, 3 };
  gsize i;

  g_test_summary ("The second feature is twice the first: it is left out, as R does.");
  for (i = 0; i < 3; i++)
    {
      assert_close (element (apr_regression_statistics_get_coefficients (statistics), places[i]),
                    element (apr_regression_statistics_get_coefficients (other), i), 1e-15);
      assert_same_double (element (apr_regression_statistics_get_standard_errors (statistics), places[i]),
                          element (apr_regression_statistics_get_standard_errors (other), i));
    }
  g_assert_true (isnan (element (apr_regression_statistics_get_coefficients (statistics), 2)));
  g_assert_true (isnan (element (apr_regression_statistics_get_p_values (statistics), 2)));
  assert_same_double (apr_regression_statistics_get_aic (statistics),
                      apr_regression_statistics_get_aic (other));

  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_predict_interval (other_model, reduced, 0.9, APR_INTERVAL_PREDICTION,
                                                         &other_lower, &other_upper, &error));
  for (i = 0; i < 5; i++)
    {
      assert_close (element (lower, i), element (other_lower, i), 1e-12);
      assert_close (element (upper, i), element (other_upper, i), 1e-12);
    }

  g_clear_pointer (&lower, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, wrong, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                          &upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "“x1”");
  assert_message_has (error, "sample 1 ");
  g_assert_null (lower);
}

/* A column for each of the three groups of plants, beside the intercept: R's PlantGrowth. */
static void
test_all_dummies (void)
{
  const double weights[] = { 4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69, /* trt1 */
                             6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26, /* trt2 */
                             4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14 /* ctrl */ };
  /* What R prints for summary (lm (weight ~ group, PlantGrowth)). */
  const double estimates[] = { 5.0320, -0.3710, 0.4940 };
  const double standard_errors[] = { 0.1971, 0.2788, 0.2788 };
  const double t_values[] = { 25.527, -1.331, 1.772 };
  double x_values[90] = { 0 };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (30, weights);
  g_autoptr (AprTensor) groups = matrix_new (3, 3, (const double[]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 });
  g_autoptr (AprTensor) none = matrix_new (1, 3, (const double[]){ 1, 1, 0 });
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  AprTensor *minimum_norm;
  gsize i;

  for (i = 0; i < 30; i++)
    x_values[3 * i + i / 10] = 1;
  x = matrix_new (30, 3, x_values);
  model = fit (TRUE, x, y, NULL);
  statistics = statistics_of (model, 0);
  for (i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (
        fabs (element (apr_regression_statistics_get_coefficients (statistics), i) - estimates[i]), <,
        0.5e-4);
      g_assert_cmpfloat (
        fabs (element (apr_regression_statistics_get_standard_errors (statistics), i) - standard_errors[i]),
        <, 0.5e-4);
      g_assert_cmpfloat (
        fabs (element (apr_regression_statistics_get_t_values (statistics), i) - t_values[i]), <, 0.5e-3);
    }
  g_assert_cmpfloat (fabs (element (apr_regression_statistics_get_p_values (statistics), 2) - 0.0877), <,
                     0.5e-4);
  g_assert_true (isnan (element (apr_regression_statistics_get_coefficients (statistics), 3)));
  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==, 27);
  g_assert_cmpfloat (fabs (apr_regression_statistics_get_residual_standard_error (statistics) - 0.6234), <,
                     0.5e-4);
  g_assert_cmpfloat (fabs (apr_regression_statistics_get_r_squared (statistics) - 0.2641), <, 0.5e-4);
  g_assert_cmpfloat (fabs (apr_regression_statistics_get_adjusted_r_squared (statistics) - 0.2096), <,
                     0.5e-4);
  g_assert_cmpfloat (fabs (apr_regression_statistics_get_f_statistic (statistics) - 4.846), <, 0.5e-3);
  g_assert_cmpfloat (fabs (apr_regression_statistics_get_f_p_value (statistics) - 0.01591), <, 0.5e-5);

  /* What the model has is in the summary too, and says the same of each group. */
  minimum_norm = apr_regression_statistics_get_minimum_norm (statistics);
  assert_same_double (element (minimum_norm, 0), element (intercept_of (model), 0));
  for (i = 0; i < 3; i++)
    {
      double own = element (minimum_norm, 0) + element (minimum_norm, 1 + i);
      double mean = estimates[0] + (i < 2 ? estimates[1 + i] : 0);

      assert_same_double (element (minimum_norm, 1 + i), element (coefficients_of (model), i));
      g_assert_cmpfloat (fabs (own - mean), <, 1e-12);
    }
  text = apr_regression_statistics_to_string (statistics);
  g_assert_nonnull (strstr (text, "minimum norm"));
  g_assert_nonnull (strstr (text, "\n1 of these depend"));
  /* Not for rows of no group, or of two. */
  g_assert_nonnull (
    strstr (text, ", which predict the same for rows that satisfy the same linear relations.\n"));

  /* The mean of a group has the standard error of R's intercept. */
  g_assert_true (apr_linear_regression_predict_interval (model, groups, 0.95, APR_INTERVAL_CONFIDENCE, &lower,
                                                         &upper, &error));
  g_assert_no_error (error);
  for (i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (
        fabs ((element (lower, i) + element (upper, i)) / 2 - estimates[0] - (i < 2 ? estimates[1 + i] : 0)),
        <, 1e-12);
      assert_close (
        (element (upper, i) - element (lower, i)) / 2,
        2.0518305164802834 * element (apr_regression_statistics_get_standard_errors (statistics), 0), 1e-12);
    }

  g_clear_pointer (&lower, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, none, 0.95, APR_INTERVAL_CONFIDENCE, &lower,
                                                          &upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "“x2”");
}

/* A column of ones more, or a feature that is twice there, changes no bit of the other estimates. */
static void
test_dependent_estimates (void)
{
  const gsize n = 200;
  g_autofree double *values = g_new (double, 2 * n);
  g_autofree double *more = g_new (double, 4 * n);
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) more_x = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprLinearRegression) more_model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  const gsize from[] = { 0, 1, 3 };
  double y_values[200];
  gsize i;

  for (i = 0; i < n; i++)
    {
      values[2 * i] = more[4 * i] = more[4 * i + 1] = (double) i;
      values[2 * i + 1] = more[4 * i + 2] = (double) i + 1e-11 * (double) (i % 3);
      more[4 * i + 3] = 1;
      y_values[i] = (double) (i % 7);
    }
  y = vector_new (n, y_values);
  x = matrix_new (n, 2, values);
  more_x = matrix_new (n, 4, more);
  model = fit (TRUE, x, y, NULL);
  more_model = fit (TRUE, more_x, y, NULL);
  statistics = statistics_of (more_model, 0);
  for (i = 0; i < 3; i++)
    assert_same_double (element (apr_regression_statistics_get_coefficients (statistics), from[i]),
                        i == 0 ? element (intercept_of (model), 0)
                               : element (coefficients_of (model), i - 1));
}

/* An intercept of exactly 0 stays that, beside a feature that is twice there. */
static void
test_dependent_zero (void)
{
  g_autoptr (AprTensor) x =
    matrix_new (5, 3, (const double[]){ 1, 1, 0.3, 2, 2, 0.5, 4, 4, 0.7, -5, -5, 0.1, 8, 8, 0.3 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 1, 2, 4, -5, 8 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);

  assert_same_double (element (apr_regression_statistics_get_coefficients (statistics), 0), 0);
  assert_same_double (element (apr_regression_statistics_get_coefficients (statistics), 1), 1);
  g_assert_true (isnan (element (apr_regression_statistics_get_t_values (statistics), 0)));
  g_assert_true (isnan (element (apr_regression_statistics_get_p_values (statistics), 0)));
}

/* The coefficient of the first feature alone is about 1e350, which no double is. */
static void
test_beyond_doubles (void)
{
  const double u[] = { 1, 2, 3, 4, 5, 6, 7, 9 };
  const double z[] = { 1, 0, 2, 5, 1, 3, 0, 1 };
  const double e[] = { .1, -.2, .3, .1, -.4, .2, -.1, .05 };
  double x_values[24];
  double y_values[8];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) factors = matrix_new (2, 4, (const double[]){ 0, 1, 0, 0, 0, 0, 0, 1 });
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) robust = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < 8; i++)
    {
      x_values[3 * i] = u[i] * 1e-200;
      x_values[3 * i + 1] = u[i] * 1e200;
      x_values[3 * i + 2] = z[i];
      y_values[i] = (u[i] + 0.3 * z[i] + e[i]) * 1e150;
    }
  x = matrix_new (8, 3, x_values);
  y = vector_new (8, y_values);
  model = fit (TRUE, x, y, NULL);
  statistics = statistics_of (model, 0);
  g_assert_true (isinf (element (apr_regression_statistics_get_coefficients (statistics), 1)));
  g_assert_null (apr_regression_statistics_test_hypothesis (statistics, factors, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  robust =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC1, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (isnan (apr_regression_statistics_get_f_statistic (robust)));
}

#define N_SHARES 30

static void
test_shares (gconstpointer data)
{
  AprDType dtype = (AprDType) GPOINTER_TO_INT (data);
  const gsize shape[] = { N_SHARES, 3 };
  double shares[3 * N_SHARES], y_values[N_SHARES];
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprLinearRegression) other_model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) other = NULL;
  gsize i;

  g_test_summary (
    "Shares that add up to 1 but for their rounding make a constant, as they do beside an intercept.");
  for (i = 0; i < N_SHARES; i++)
    {
      double a = 1 + (double) (i * 7 % 13), b = 2 + (double) (i * 5 % 17), c = 3 + (double) (i * 11 % 19);

      shares[3 * i] = a / (a + b + c);
      shares[3 * i + 1] = b / (a + b + c);
      shares[3 * i + 2] = c / (a + b + c);
      y_values[i] = 10 + shares[3 * i] - shares[3 * i + 2] + 0.1 * (double) (i % 4);
    }
  doubles = apr_tensor_new_from_doubles (shares, G_N_ELEMENTS (shares), shape, 2, NULL);
  x = apr_tensor_cast (doubles, dtype, NULL);
  y = vector_new (N_SHARES, y_values);
  model = fit (FALSE, x, y, NULL);
  other_model = fit (TRUE, x, y, NULL);
  g_assert_cmpuint (apr_linear_regression_get_rank (other_model), ==, 2);
  statistics = statistics_of (model, 0);
  other = statistics_of (other_model, 0);
  g_assert_cmpuint (apr_regression_statistics_get_df_model (statistics), ==, 2);
  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==,
                    apr_regression_statistics_get_df_residual (other));
  assert_close (apr_regression_statistics_get_r_squared (statistics),
                apr_regression_statistics_get_r_squared (other), 1e-5);
  assert_close (apr_regression_statistics_get_f_statistic (statistics),
                apr_regression_statistics_get_f_statistic (other), 1e-4);
}

static AprHypothesisTest *
test_text (AprRegressionStatistics *statistics, const char *text, GError **error)
{
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;

  return apr_regression_statistics_parse_hypothesis (statistics, text, &factors, &values, error)
         ? apr_regression_statistics_test_hypothesis (statistics, factors, values, error)
         : NULL;
}

/* Groups of two, with the means 2, 5 and 9, and the squares 2, 2 and 8 about them: σ² is 12 / 3. */
static void
test_reference (void)
{
  static const char *const names[] = { "d=a", "d=b", "d=c", NULL };
  const double x_values[] = { 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1 };
  g_autoptr (AprTensor) x = matrix_new (6, 3, x_values);
  g_autoptr (AprTensor) y = vector_new (6, (const double[]){ 1, 3, 4, 6, 7, 11 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprHypothesisTest) refused = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What is said of a contrast with the reference is how to write it.");
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  statistics = statistics_of (model, 0);
  refused = test_text (statistics, "d=a = d=c", &error);
  g_assert_null (refused);
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "leave “d=c” out");
  g_clear_error (&error);
  test = test_text (statistics, "d=a = 0", &error);
  g_assert_no_error (error);
  assert_close (element (apr_hypothesis_test_get_estimates (test), 0), -7, 1e-15);
  assert_close (element (apr_hypothesis_test_get_t_values (test), 0), -3.5, 1e-15);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dependent-features/doubled", test_dependent_features);
  g_test_add_func ("/dependent-features/estimates", test_dependent_estimates);
  g_test_add_func ("/dependent-features/zero", test_dependent_zero);
  g_test_add_func ("/dependent-features/all-dummies", test_all_dummies);
  g_test_add_func ("/dependent-features/reference", test_reference);
  g_test_add_func ("/dependent-features/beyond-doubles", test_beyond_doubles);
  g_test_add_data_func ("/dependent-features/shares/F64", GINT_TO_POINTER (APR_DTYPE_F64), test_shares);
  g_test_add_data_func ("/dependent-features/shares/F32", GINT_TO_POINTER (APR_DTYPE_F32), test_shares);

  return g_test_run ();
}
