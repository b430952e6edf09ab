/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* Diagnostics of samples that the fit all but goes through. */

/* The samples 0, 1, 2 and 3 of one feature and one that is so far away that its leverage is 1 but for rounding. Without
 * it, the line has the residuals 1, -1, -1 and 1, and its leverage would be w (1/4 + (x - 3/2)² / 5). */
static void
test_far (void)
{
  static const struct
  {
    double x, beside, weight; /* beside the line */
  } far[] = { { 0x1p17, 3, 1 },   { 0x1p25, 3, 1 },   { 0x1p25, -3e7, 1 }, { 0x1p25, 1e12, 1 },
              { 0x1p30, 4e9, 1 }, { 0x1p10, 5, 1e9 }, { 0x1p24, 1, 1e-3 } };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (far); i++)
    {
      const double line = 2 + 3 * far[i].x;
      g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, far[i].x });
      g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 4, 7, 12, line + far[i].beside });
      g_autoptr (AprTensor) weights = vector_new (5, (const double[]){ 1, 1, 1, 1, far[i].weight });
      double beside = element (y, 4) - line;
      double distance = far[i].weight * (0.25 + (far[i].x - 1.5) * (far[i].x - 1.5) / 5);
      double more = far[i].weight * beside * beside / (1 + distance);
      double standardized = copysign (sqrt (more * 3 / (4 + more)), beside);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error));
      diagnostics = apr_linear_regression_diagnose (model, x, y, weights, 0, NULL, &error);
      g_assert_no_error (error);
      assert_close (element (apr_regression_diagnostics_get_leverages (diagnostics), 4),
                    distance / (1 + distance), 1e-14);
      assert_close (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), 4),
                    standardized, 1e-14);
      assert_close (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), 4),
                    copysign (sqrt (more * 2 / 4), beside), 1e-14);
      assert_close (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), 4),
                    standardized * standardized * distance / 2, 1e-14);
    }
}

/* Without the last sample, the feature is constant. */
static void
test_leverage_of_one (void)
{
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0.1, 0.1, 0.1, 0.1, 0.7 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3.3, 4.1, 7, 12, 1.7 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  assert_close (element (apr_regression_diagnostics_get_leverages (diagnostics), 4), 1, 1e-14);
  g_assert_true (isnan (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), 4)));
  g_assert_true (isnan (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), 4)));
  g_assert_true (isnan (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), 4)));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/far-samples/far", test_far);
  g_test_add_func ("/far-samples/leverage-of-one", test_leverage_of_one);

  return g_test_run ();
}
