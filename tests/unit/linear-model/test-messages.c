/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/folder.h"
#include "tests/german-locale.h"

static AprLinearRegression *
fit (double alpha, AprTensor *alphas, double end, AprTensor *sample_weight, GError **error)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (4, (double[]){ 1, 1, 2, end });
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "alpha", alpha, "alphas", alphas, NULL);

  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, sample_weight, NULL, error))
    return NULL;

  return g_steal_pointer (&model);
}

/* Takes @error. */
static void
assert_says (GError **error, const char *expected)
{
  g_assert_nonnull (*error);
  if (strstr ((*error)->message, expected) == NULL)
    g_error ("“%s” does not say “%s”", (*error)->message, expected);
  g_clear_error (error);
}

static void
test_point (Folder *folder, gconstpointer data)
{
  g_autoptr (AprTensor) negative = vector_new (1, (double[]){ -0.5 });
  g_autoptr (AprTensor) weights = vector_new (4, (double[]){ 1, -0.25, 1, 1 });
  g_autoptr (AprTensor) narrow_weights = float_vector_new (4, (float[]){ 1, -0.1f, 1, 1 });
  g_autoptr (AprTensor) x = matrix_new (1, 1, (double[]){ 1 });
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprLinearRegression) other = NULL;
  g_autoptr (AprLinearRegression) ridge = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) other_statistics = NULL;
  AprTensor *lower;
  AprTensor *upper;
  GError *error = NULL;

  g_test_summary ("Where people write 0,5, numbers in messages have a point.");

  enter_german_numbers (folder->folder);
  g_assert_null (fit (-0.5, NULL, 3, NULL, &error));
  assert_says (&error, "“alpha” is -0.5,");
  g_assert_null (fit (0, negative, 3, NULL, &error));
  assert_says (&error, "“alphas” is -0.5 for");
  g_assert_null (fit (0, NULL, 3, weights, &error));
  assert_says (&error, "the negative value -0.25 at");
  g_assert_null (fit (0, NULL, 3, narrow_weights, &error));
  assert_says (&error, "the negative value -0.1 at");

  model = fit (0, NULL, 3, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (
    apr_linear_regression_predict_interval (model, x, 1.5, APR_INTERVAL_PREDICTION, &lower, &upper, &error));
  assert_says (&error, "it is 1.5");
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);
  g_assert_null (apr_regression_statistics_get_confidence_intervals (statistics, 1.5, &error));
  assert_says (&error, "it is 1.5");

  other = fit (0, NULL, 5, NULL, &error);
  g_assert_no_error (error);
  other_statistics = apr_linear_regression_get_statistics (other, 0, &error);
  g_assert_no_error (error);
  g_assert_null (apr_regression_statistics_compare (statistics, other_statistics, &error));
  assert_says (&error, "are 2.75 and 10.75");

  ridge = fit (0.5, NULL, 3, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (apr_linear_regression_get_statistics (ridge, 0, &error));
  assert_says (&error, "alpha = 0.5");

  leave_german_numbers ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/messages/point", Folder, NULL, folder_set_up, test_point, folder_tear_down);

  return g_test_run ();
}
