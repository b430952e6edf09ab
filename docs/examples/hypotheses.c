/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

static gboolean
run (GError **error)
{
  const double rows[] = { 1, 3, 2, 1, 3, 5, 4, 2, 5, 6, 6, 4, 7, 9, 8, 7 };
  const double targets[] = { 4, 3, 9, 5, 12, 9, 15, 16 };
  const gsize shape[] = { 8, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 16, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (targets, 8, shape, 1, NULL);
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionStatistics) robust = NULL;
  g_autoptr (AprHypothesisTest) same = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  gsize i;

  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, error))
    return FALSE;

  robust =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC1, 0, NULL, error);
  if (robust == NULL)
    return FALSE;
  for (i = 0; i < 3; i++)
    g_print ("%.5f\n",
             apr_tensor_get_double (apr_regression_statistics_get_standard_errors (robust), i, NULL));

  /* Are the coefficients of both features the same? */
  if (!apr_regression_statistics_parse_hypothesis (robust, "x0 = x1", &factors, &values, error) ||
      (same = apr_regression_statistics_test_hypothesis (robust, factors, values, error)) == NULL)
    return FALSE;
  g_print ("F = %.5f, p = %.5f\n", apr_hypothesis_test_get_f_statistic (same),
           apr_hypothesis_test_get_f_p_value (same));

  /* How much the fit would change without the last sample. */
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, error);
  if (diagnostics == NULL)
    return FALSE;
  g_print ("%.5f\n",
           apr_tensor_get_double (apr_regression_diagnostics_get_cooks_distances (diagnostics), 7, NULL));
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (run (&error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
