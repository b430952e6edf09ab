/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

/* The studentised residuals of samples that the others hardly agree with. */

static void
assert_within (double actual, double expected, double tolerance)
{
  if (!(actual == expected || fabs (actual - expected) <= tolerance * fabs (expected)))
    g_error ("%.17g is not %.17g", actual, expected);
}

/* The expected values are rational numbers that were computed exactly, and their roots. */
static void
test_outlier (void)
{
  const struct
  {
    double epsilon;
    double studentized;
  } cases[] = {
    { 1, 53.91638660171921 },      { 1e-1, 543.0458458525154 },
    { 1e-2, 5434.3404383605985 },  { 1e-4, 543476.7456130899 },
    { 1e-6, 54347717.25560526 },   { 1e-7, 543477177.4034418 },
    { 1e-12, 54342886580269.453 }, { 0, INFINITY },
  };
  gsize i;

  g_test_summary ("A sample that is all that spoils a line, or nearly so.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      double values[] = { 3 + cases[i].epsilon, 5, 7, 30, 11, 13, 15 };
      g_autoptr (AprTensor) x = matrix_new (7, 1, (const double[]){ 1, 2, 3, 4, 5, 6, 7 });
      g_autoptr (AprTensor) y = vector_new (7, values);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
      diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
      g_assert_no_error (error);
      assert_within (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), 3),
                     cases[i].studentized, 1e-13);
      if (cases[i].epsilon == 0)
        assert_within (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), 0),
                       -0.43133109281375365, 1e-13);
    }
}

/* The same below a plane through the origin, with weights, among several targets. */
static void
test_weighted_outlier (void)
{
  const double noise[] = { 3, -1, 4, 1, -5, 9, 2, -6 };
  const double studentized[][8] = {
    { 0.04354211070521576, 0.12419736684953198, 0.2985431779954829, 0.5242531052648794, 0.2684183868877456,
      -283.85783867191043, 1.368510841106176, 0.4153172489935618 },
    { 0.03942498278197265, 0.13018125374322712, 0.28884053345095984, 0.5264204041866087, 0.2801932345836484,
      -307332221306.8421, 1.3531194857002933, 0.4230466479418625 },
    { 0.039424982778169054, 0.13018125374875147, 0.2888405334419974, 0.5264204041885953, 0.2801932345945262,
      -1.0070662227860182e+16, 1.3531194856860895, 0.42304664794899566 },
  };
  const int exponents[] = { 0, -30, -45 };
  double rows[16];
  double targets[24];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = vector_new (8, (const double[]){ 1, 2, 3, 4, 1, 2, 3, 0.5 });
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", FALSE, NULL);
  g_autoptr (GError) error = NULL;
  gsize i;
  gsize k;

  for (i = 0; i < 8; i++)
    {
      double value = (double) (i + 1);

      rows[2 * i] = value;
      rows[2 * i + 1] = value * value;
      for (k = 0; k < 3; k++)
        targets[3 * i + k] = 3 * value - value * value + ldexp (noise[i], exponents[k]) - (i == 5 ? 1000 : 0);
    }
  x = matrix_new (8, 2, rows);
  y = matrix_new (8, 3, targets);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error));
  for (k = 0; k < 3; k++)
    {
      g_autoptr (AprRegressionDiagnostics) diagnostics =
        apr_linear_regression_diagnose (model, x, y, weights, k, NULL, &error);

      g_assert_no_error (error);
      for (i = 0; i < 8; i++)
        assert_within (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), i),
                       studentized[k][i], 1e-11);
    }
}

static void
test_outlier_in_rows (void)
{
  const gsize n_features = 1500;
  g_autofree double *rows = g_new0 (double, 7 * n_features);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (7, (const double[]){ 3 + 1e-7, 5, 7, 30, 11, 13, 15 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary (
    "Of so many features that the samples are kept in place of sums, all but one are constant.");

  for (i = 0; i < 7; i++)
    rows[i * n_features] = (double) (i + 1);
  x = matrix_new (7, n_features, rows);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  assert_within (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), 3),
                 543477177.4034418, 1e-13);
}

static void
test_outlier_in_rounded_sums (void)
{
  const double epsilons[] = { 1, 1e-9, 0 };
  gsize i;

  g_test_summary ("What is left without an outlier is not known where the sums are rounded by more.");

  for (i = 0; i < G_N_ELEMENTS (epsilons); i++)
    {
      double values[] = { 3 + epsilons[i], 5, 7, 30, 11, 13, 15 };
      g_autoptr (AprTensor) x = matrix_new (7, 1, (const double[]){ 1, 2, 3, 4, 5, 6, 7 });
      g_autoptr (AprTensor) y = vector_new (7, values);
      g_autoptr (AprLinearRegression) model =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, NULL);
      g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
      g_autoptr (GError) error = NULL;
      AprTensor *studentized;

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
      diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
      g_assert_no_error (error);
      studentized = apr_regression_diagnostics_get_studentized_residuals (diagnostics);
      if (i == 0)
        assert_within (element (studentized, 3), 53.91638660171921, 1e-9);
      else
        g_assert_true (isnan (element (studentized, 3)));
      assert_within (element (studentized, 6), i == 0 ? -0.40764998069818864 : -0.43133109281375365, 1e-8);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/outliers/plain", test_outlier);
  g_test_add_func ("/outliers/weighted", test_weighted_outlier);
  g_test_add_func ("/outliers/in-rows", test_outlier_in_rows);
  g_test_add_func ("/outliers/in-rounded-sums", test_outlier_in_rounded_sums);

  return g_test_run ();
}
