/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

#include <gmp.h>

/* What is said of the coefficients, and of the samples, where nothing is left of the targets. */

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

static gint n_allocations; /* (atomic) for long numbers */

static gpointer
allocate (gsize size)
{
  g_atomic_int_inc (&n_allocations);

  return malloc (size);
}

static gpointer
reallocate (gpointer memory, gsize old_size, gsize size)
{
  return realloc (memory, size);
}

/* More features than samples: each sample has what it needs for a residual of 0. */
static void
test_saturated (void)
{
  enum
  {
    N = 30,
    P = 1000
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (143);
  g_autofree double *x = g_new (double, N *P);
  double y[N];
  double weights[N];
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  gsize i;
  int weighted;

  g_test_summary (
    "Without degrees of freedom the residuals are 0, without the coefficients in long numbers.");

  for (i = 0; i < N * P; i++)
    x[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < N; i++)
    {
      y[i] = g_rand_double_range (rand, -1, 1);
      weights[i] = g_rand_int_range (rand, 1, 9);
    }
  x_tensor = matrix_new (N, P, x);
  y_tensor = vector_new (N, y);
  for (weighted = 0; weighted < 2; weighted++)
    {
      g_autoptr (AprTensor) sample_weight = weighted != 0 ? vector_new (N, weights) : NULL;
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      gsize round;

      g_assert_true (
        apr_estimator_fit (APR_ESTIMATOR (model), x_tensor, y_tensor, sample_weight, NULL, NULL));
      /* The first time finds what the second has at hand. */
      for (round = 0; round < 2; round++)
        {
          g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;

          n_allocations = 0;
          mp_set_memory_functions (allocate, reallocate, NULL);
          diagnostics =
            apr_linear_regression_diagnose (model, x_tensor, y_tensor, sample_weight, 0, NULL, NULL);
          mp_set_memory_functions (NULL, NULL, NULL);
          g_assert_nonnull (diagnostics);
          /* The other features are not related to those that are independent, each by a number of its own. */
          g_assert_cmpint (n_allocations, <, round == 0 ? P / 2 : N);
          g_assert_true (isnan (apr_regression_diagnostics_get_durbin_watson (diagnostics)));
          for (i = 0; i < N; i++)
            {
              assert_same_double (element (apr_regression_diagnostics_get_fitted_values (diagnostics), i),
                                  y[i]);
              assert_same_double (element (apr_regression_diagnostics_get_residuals (diagnostics), i), 0);
              g_assert_cmpfloat_with_epsilon (
                element (apr_regression_diagnostics_get_leverages (diagnostics), i), 1, 1e-12);
              g_assert_true (
                isnan (element (apr_regression_diagnostics_get_standardized_residuals (diagnostics), i)));
              g_assert_true (
                isnan (element (apr_regression_diagnostics_get_studentized_residuals (diagnostics), i)));
              g_assert_true (
                isnan (element (apr_regression_diagnostics_get_cooks_distances (diagnostics), i)));
            }
        }
    }
}

/* Rounded sums do not tell other samples. */
static void
test_saturated_errors (void)
{
  const double numbers[] = { 1, 2, 4, 8, 3, 5, 7, 0, 2, 9, 1, 6 };
  double others[12];
  g_autoptr (AprTensor) x = matrix_new (3, 4, numbers);
  g_autoptr (AprTensor) y = vector_new (3, numbers);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, NULL);
  gsize i;

  g_test_summary ("Where X is not finite, that is an error also where nothing is known.");

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  for (i = 0; i < 12; i++)
    {
      g_autoptr (AprTensor) wrong = NULL;
      g_autoptr (GError) error = NULL;

      memcpy (others, numbers, sizeof others);
      others[i] = NAN;
      wrong = matrix_new (3, 4, others);
      g_assert_null (apr_linear_regression_diagnose (model, wrong, y, NULL, 0, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      g_clear_error (&error);
      g_assert_false (apr_linear_regression_predict_interval (model, wrong, 0.95, APR_INTERVAL_CONFIDENCE,
                                                              NULL, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-fit/hypotheses", test_hypotheses);
  g_test_add_func ("/exact-fit/wide", test_wide);
  g_test_add_func ("/exact-fit/saturated", test_saturated);
  g_test_add_func ("/exact-fit/saturated-errors", test_saturated_errors);

  return g_test_run ();
}
