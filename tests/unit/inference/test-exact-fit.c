/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* What is said of the coefficients where nothing is left of the targets. */

/* A NaN has a sign. */
static void
assert_is (double actual, double expected)
{
  if (!isnan (actual) || !isnan (expected))
    assert_same_double (actual, expected);
}

static void
assert_exact (
  AprRegressionStatistics *statistics, gsize n_rows, const double *factors, const double *values, double f)
{
  g_autoptr (AprTensor) rows = matrix_new (n_rows, 3, factors);
  g_autoptr (AprTensor) sums = vector_new (n_rows, values);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprHypothesisTest) test =
    apr_regression_statistics_test_hypothesis (statistics, rows, sums, &error);

  g_assert_no_error (error);
  assert_is (apr_hypothesis_test_get_f_statistic (test), f);
  assert_is (apr_hypothesis_test_get_f_p_value (test), isnan (f) ? (double) NAN : 0);
  if (n_rows == 1)
    assert_is (fabs (element (apr_hypothesis_test_get_t_values (test), 0)), f);
}

/* y = 3 + b0 x0 + b1 x1, with whole numbers x0 and x1 that are multiples of a divisor, and whole numbers b times that
 * divisor: what is true of b is known, though doubles may not be able to hold b. */
static void
test_hypotheses (void)
{
  static const AprCovarianceKind kinds[] = { APR_COVARIANCE_CLASSICAL, APR_COVARIANCE_HC1 };
  g_autoptr (GRand) source = g_rand_new_with_seed (2);
  gsize i;
  gsize j;

  for (i = 0; i < 200; i++)
    {
      double divisor = g_rand_int_range (source, 1, 8);
      double b[] = { g_rand_int_range (source, -4, 5), g_rand_int_range (source, 1, 5) };
      double x_values[16];
      double y_values[8];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprLinearRegression) model = NULL;

      for (j = 0; j < 16; j++)
        x_values[j] = divisor * g_rand_int_range (source, -9, 9);
      for (j = 0; j < 8; j++)
        y_values[j] = 3 + (b[0] * x_values[2 * j] + b[1] * x_values[2 * j + 1]) / divisor;
      x = matrix_new (8, 2, x_values);
      y = vector_new (8, y_values);
      model = fit (TRUE, x, y, NULL);
      for (j = 0; j < G_N_ELEMENTS (kinds); j++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (AprRegressionStatistics) statistics =
            apr_linear_regression_get_robust_statistics (model, x, y, NULL, kinds[j], 0, NULL, &error);
          AprTensor *t_values = apr_regression_statistics_get_t_values (statistics);

          g_assert_no_error (error);
          assert_same_double (apr_regression_statistics_get_residual_sum_of_squares (statistics), 0);
          assert_is (element (t_values, 1), b[0] == 0 ? (double) NAN : copysign (INFINITY, b[0]));
          /* divisor x0 = b0, b1 x0 = b0 x1, and the intercept, alone and with others. */
          assert_exact (statistics, 1, (const double[]){ 0, divisor, 0 }, b, NAN);
          assert_exact (statistics, 1, (const double[]){ 0, b[1], -b[0] }, (const double[]){ 0 }, NAN);
          assert_exact (statistics, 1, (const double[]){ 1, 0, 0 }, (const double[]){ 3 }, NAN);
          assert_exact (statistics, 2, (const double[]){ 1, divisor, 0, 0, divisor, divisor },
                        (const double[]){ 3 + b[0], b[0] + b[1] }, NAN);
          assert_exact (statistics, 1, (const double[]){ 0, 0, divisor },
                        (const double[]){ nextafter (b[1], INFINITY) }, INFINITY);
          assert_exact (statistics, 1, (const double[]){ 0, 0, divisor },
                        (const double[]){ ldexp (b[1], 61) }, INFINITY);
          assert_exact (statistics, 2, (const double[]){ 1, 0, 0, 0, 0, divisor },
                        (const double[]){ 3, b[1] + 1 }, INFINITY);
        }
    }
}

/* Of more features than the sums are kept of, all of which but three are 0. */
static void
test_wide (void)
{
  const gsize p = 1100;
  g_autofree double *x_values = g_new0 (double, 8 * p);
  double y_values[8];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) source = g_rand_new_with_seed (3);
  gsize i;
  gsize j;

  for (i = 0; i < 8; i++)
    {
      for (j = 0; j < 3; j++)
        x_values[i * p + j] = 7 * g_rand_int_range (source, -9, 9);
      y_values[i] = 2 + (x_values[i * p] + 3 * x_values[i * p + 2]) / 7;
    }
  x = matrix_new (8, p, x_values);
  y = vector_new (8, y_values);
  model = fit (TRUE, x, y, NULL);
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);
  for (i = 0; i < 4; i++)
    assert_is (element (apr_regression_statistics_get_p_values (statistics), i), i == 2 ? (double) NAN : 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-fit/hypotheses", test_hypotheses);
  g_test_add_func ("/exact-fit/wide", test_wide);

  return g_test_run ();
}
