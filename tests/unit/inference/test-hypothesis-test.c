/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"

#include <math.h>

/* Robust covariances, and the tests that go with any covariance. The suites of Python compare them with rational
 * numbers; these are a part of what they find, and what only C can get wrong. */

static void
assert_near (double actual, double expected, double tolerance)
{
  if (!(fabs (actual - expected) <= tolerance * fabs (expected)))
    g_error ("%.17g is not %.17g", actual, expected);
}

static AprLinearRegression *
fit (AprTensor *x, AprTensor *y)
{
  AprLinearRegression *model = apr_linear_regression_new ();
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  return model;
}

static void
load_longley (AprTensor **x, AprTensor **y)
{
  gsize i;

  for (i = 0; strcmp (nist_sets[i].name, "longley") != 0; i++)
    ;
  nist_load (&nist_sets[i], x, y);
}

/* Of Longley's data, by rational numbers. */
static void
test_robust (void)
{
  static const struct
  {
    AprCovarianceKind kind;
    double errors[7];
  } cases[] = {
    { APR_COVARIANCE_HC0,
      { 832211.58058032638, 51.220347445663968, 0.024575997582644699, 0.38323911092599433,
        0.14624500114098413, 0.15820849621992381, 428.38437553509789 } },
    { APR_COVARIANCE_HC1,
      { 1109615.4407737686, 68.29379659421862, 0.032767996776859598, 0.51098548123465914, 0.19499333485464551,
        0.21094466162656508, 571.17916738013048 } },
    { APR_COVARIANCE_HC2,
      { 1202369.5126009071, 67.492082149754125, 0.036534050255994682, 0.55333671464878931,
        0.20522087372013958, 0.22323671795804048, 617.5929550837651 } },
    { APR_COVARIANCE_HC3,
      { 1799477.230661815, 91.119386601139311, 0.05562398838839349, 0.82213350201657875, 0.2987892575905412,
        0.32490582113601618, 922.80784171540347 } },
  };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;
  gsize j;

  load_longley (&x, &y);
  model = fit (x, y);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, cases[i].kind, 0, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (apr_regression_statistics_get_covariance_kind (statistics), ==, cases[i].kind);
      for (j = 0; j < 7; j++)
        assert_near (element (apr_regression_statistics_get_standard_errors (statistics), j),
                     cases[i].errors[j], 1e-9);
      assert_same_double (apr_regression_statistics_get_r_squared (statistics), 0.9954790045772957);
    }
}

/* The samples 0, 1, 2, 3, 4 with the targets 3, 1, 3, 9, 9: y = 1 + 2 x, the residuals 2, -2, -2, 2, 0,
 * σ² = 16 / 3, and Z'Z = [5 10; 10 30], whose inverse is [30 -10; -10 5] / 50. */
static void
test_line (void)
{
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  g_autoptr (AprTensor) both = matrix_new (2, 2, (const double[]){ 1, 0, 1, 1 });
  g_autoptr (AprTensor) values = vector_new (2, (const double[]){ 0, 2 });
  g_autoptr (AprLinearRegression) model = fit (x, y);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (GError) error = NULL;

  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  test = apr_regression_statistics_test_hypothesis (statistics, both, values, &error);
  g_assert_no_error (error);
  assert_near (element (apr_hypothesis_test_get_estimates (test), 1), 3, 1e-15);
  /* The variances σ² 30/50, and σ² (30 - 20 + 5) / 50. */
  assert_near (element (apr_hypothesis_test_get_standard_errors (test), 0), sqrt (16 / 3. * 0.6), 1e-15);
  assert_near (element (apr_hypothesis_test_get_standard_errors (test), 1), sqrt (16 / 3. * 0.3), 1e-15);
  assert_near (element (apr_hypothesis_test_get_t_values (test), 1), 1 / sqrt (1.6), 1e-15);
  /* The distances 1 and 1 are those of a = 1 and b = 0, whose matrix Z'Z / σ² has 5 / σ² there, by 2. */
  assert_near (apr_hypothesis_test_get_f_statistic (test), 5 * 3 / 16. / 2, 1e-14);
  /* With 2 degrees of freedom F's tail is (1 + 2 F / 3)^-3/2. */
  assert_near (apr_hypothesis_test_get_f_p_value (test), pow (1 + 2 * 15 / 32. / 3, -1.5), 1e-14);
  g_assert_cmpuint (apr_hypothesis_test_get_df_hypothesis (test), ==, 2);
  g_assert_cmpuint (apr_hypothesis_test_get_df_residual (test), ==, 3);
}

static void
on_result (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GAsyncResult **to = user_data;

  *to = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);

  return *result;
}

static void
test_async (void)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) others = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GAsyncResult *results[3] = { NULL };
  gsize i;

  load_longley (&x, &y);
  model = fit (x, y);
  apr_linear_regression_get_robust_statistics_async (model, x, y, NULL, APR_COVARIANCE_HC3, 0, 0, NULL,
                                                     on_result, &results[0]);
  apr_linear_regression_diagnose_async (model, x, y, NULL, 0, 0, NULL, on_result, &results[1]);
  g_cancellable_cancel (cancellable);
  apr_linear_regression_get_robust_statistics_async (model, x, y, NULL, APR_COVARIANCE_HC3, 0, 0, cancellable,
                                                     on_result, &results[2]);
  statistics = apr_linear_regression_get_robust_statistics_finish (model, wait_for (&results[0]), &error);
  g_assert_no_error (error);
  diagnostics = apr_linear_regression_diagnose_finish (model, wait_for (&results[1]), &error);
  g_assert_no_error (error);
  others =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC3, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (apr_regression_statistics_get_covariance (statistics),
                                   apr_regression_statistics_get_covariance (others)));
  g_assert_cmpuint (apr_tensor_get_n_elements (apr_regression_diagnostics_get_leverages (diagnostics)), ==,
                    16);
  g_assert_null (apr_linear_regression_get_robust_statistics_finish (model, wait_for (&results[2]), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

/* The statistics own what tests need: the model may be fitted to something else, or be gone. */
static void
test_without_the_model (void)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) factors = vector_new (7, (const double[]){ 0, 1, 0, 0, 0, 0, 0 });
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (GError) error = NULL;
  AprLinearRegression *model;

  load_longley (&x, &y);
  model = fit (x, y);
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_object_unref (model);
  test = apr_regression_statistics_test_hypothesis (statistics, factors, NULL, &error);
  g_assert_no_error (error);
  assert_near (element (apr_hypothesis_test_get_t_values (test), 0),
               element (apr_regression_statistics_get_t_values (statistics), 1), 1e-14);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/hypothesis-test/robust", test_robust);
  g_test_add_func ("/hypothesis-test/line", test_line);
  g_test_add_func ("/hypothesis-test/async", test_async);
  g_test_add_func ("/hypothesis-test/without-the-model", test_without_the_model);

  return g_test_run ();
}
