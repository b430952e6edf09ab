/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* A sample that is far away, and hardly counts, has the value of the line that the others make: 5.5 of 0.5 + x. */
static void
test_far_samples (void)
{
  static const double far[] = { 1e20, -1e17, 1e300 };
  static const double weights[] = { 1, 1, 1, 1, 0 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 1, 2, 3, 4, 5 });
  g_autoptr (AprTensor) sample_weight = vector_new (5, weights);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (far); i++)
    {
      g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 1.5, 2.5, 3.5, 4.5, far[i] });
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, sample_weight, NULL, NULL));
      diagnostics = apr_linear_regression_diagnose (model, x, y, sample_weight, 0, NULL, NULL);
      g_assert_cmpfloat (
        apr_tensor_get_double (apr_regression_diagnostics_get_fitted_values (diagnostics), 4, NULL), ==, 5.5);
    }
}

/* By hand: the means of two groups of three, 7/3 and 8/3, in units from subnormal numbers to those beyond which a
 * difference of two is infinite. */
static void
test_nearest (void)
{
  static const double values[] = { 1, 2, 4, 1, 3, 4 };
  static const int shifts[] = { 0, 1, -60, 500, -1021, 1021 };
  g_autoptr (AprTensor) x = matrix_new (6, 1, (const double[]){ 0, 0, 0, 1, 1, 1 });
  gsize i;
  gsize j;

  g_test_summary ("Fitted values are rounded once.");

  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
      GError *error = NULL;
      double y_values[6];

      for (j = 0; j < 6; j++)
        y_values[j] = ldexp (values[j], shifts[i]);
      y = vector_new (6, y_values);
      model = fit (TRUE, x, y, NULL);
      diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
      g_assert_no_error (error);
      for (j = 0; j < 6; j++)
        g_assert_cmpfloat (element (apr_regression_diagnostics_get_fitted_values (diagnostics), j), ==,
                           ldexp (j < 3 ? 7.0 / 3 : 8.0 / 3, shifts[i]));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/fitted-values/far-samples", test_far_samples);
  g_test_add_func ("/fitted-values/nearest", test_nearest);

  return g_test_run ();
}
