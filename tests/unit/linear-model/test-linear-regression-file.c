/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <fenv.h>

/* Whatever a model was fitted with and to can be saved, and loaded again. */

static AprLinearRegression *
fit (const double *x, const double *weights, gsize n_rows, double alpha)
{
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, "alpha", alpha, NULL);
  g_autofree double *targets = g_new0 (double, n_rows);
  g_autoptr (AprTensor) features = matrix_new (n_rows, 1, x);
  g_autoptr (AprTensor) target = vector_new (n_rows, targets);
  g_autoptr (AprTensor) sample_weight = weights != NULL ? vector_new (n_rows, weights) : NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), features, target, sample_weight, NULL, &error));
  g_assert_no_error (error);

  return g_steal_pointer (&model);
}

static AprLinearRegression *
save_and_load (AprLinearRegression *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  AprLinearRegression *loaded;

  g_assert_no_error (error);
  loaded = apr_linear_regression_from_bytes (bytes, &error);
  g_assert_no_error (error);

  return loaded;
}

static void
test_alpha (void)
{
  const double alphas[] = { 0, 0x1p-1074, 1e-320, 1e-100, 1e-91, 0.1, 1.0 / 3, G_MAXDOUBLE };
  const double x[] = { 1, 2, 4 };
  gsize i;

  g_test_summary (
    "A penalty is what it was, however small; so is that of the fit where another is set since.");

  for (i = 0; i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, NULL, 3, alphas[i]);
      g_autoptr (AprLinearRegression) loaded = save_and_load (model);
      g_autoptr (AprLinearRegression) again = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GBytes) bytes_again = NULL;

      assert_same_double (apr_linear_regression_get_alpha (loaded), alphas[i]);
      apr_linear_regression_set_alpha (loaded, 7);
      again = save_and_load (loaded);
      assert_same_double (apr_linear_regression_get_alpha (again), 7);
      apr_linear_regression_set_alpha (again, alphas[i]);
      bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      bytes_again = apr_estimator_to_bytes (APR_ESTIMATOR (again), NULL);
      g_assert_true (g_bytes_equal (bytes, bytes_again));
    }
}

static void
test_alpha_in_other_arithmetic (void)
{
  const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  const double alphas[] = { 0.1, 1.0 / 3, 1e-320, 1e300 };
  const double x[] = { 1, 2, 4 };
  gsize i;
  gsize j;

  g_test_summary ("Rounding in the program around shows neither in the file nor in what is read from it.");

  for (i = 0; i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, NULL, 3, alphas[i]);
      g_autoptr (GBytes) expected = NULL;

      apr_linear_regression_set_alpha (model, 2 * alphas[i] / 3);
      expected = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      for (j = 0; j < G_N_ELEMENTS (modes); j++)
        {
          g_autoptr (AprLinearRegression) loaded = NULL;
          g_autoptr (GBytes) bytes = NULL;
          g_autoptr (GBytes) bytes_again = NULL;

          if (fesetround (modes[j]) != 0)
            {
              g_test_skip ("this processor rounds in one way only");
              return;
            }
          bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
          loaded = apr_linear_regression_from_bytes (expected, NULL);
          fesetround (FE_TONEAREST);
          g_assert_true (g_bytes_equal (bytes, expected));
          assert_same_double (apr_linear_regression_get_alpha (loaded),
                              apr_linear_regression_get_alpha (model));
          bytes_again = apr_estimator_to_bytes (APR_ESTIMATOR (loaded), NULL);
          g_assert_true (g_bytes_equal (bytes_again, expected));
        }
    }
}

static void
test_widest (void)
{
  const double x[] = { 1.7e308, 0x1p-1074 };
  const double weights[] = { 1.7e308, 0x1p-1074 };
  gsize i;

  g_test_summary ("Cross products that reach from the least number to the greatest.");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, i == 0 ? NULL : weights, 2, 0);
      g_autoptr (AprLinearRegression) loaded = save_and_load (model);
      g_autoptr (AprCrossProducts) state = apr_linear_regression_get_cross_products (model);
      g_autoptr (AprCrossProducts) state_of_loaded = apr_linear_regression_get_cross_products (loaded);

      g_assert_true (apr_cross_products_equal (state, state_of_loaded));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/linear-regression/file/alpha", test_alpha);
  g_test_add_func ("/linear-regression/file/alpha-in-other-arithmetic", test_alpha_in_other_arithmetic);
  g_test_add_func ("/linear-regression/file/widest", test_widest);

  return g_test_run ();
}
