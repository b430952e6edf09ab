/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

static void
test_intervals (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) w = vector_new (8, small_w);
  g_autoptr (AprTensor) new_x = matrix_new (2, 2, (const double[]){ 2, 2, 10, -3 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprTensor) intervals = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTensor) mean_lower = NULL;
  g_autoptr (AprTensor) mean_upper = NULL;
  g_autoptr (GError) error = NULL;
  const double expected_coefficients[] = { 0.30529407854520385, 2.4664746289377764,  1.798545787340677,
                                           2.682066457557289,   -0.8358222255307036, -0.3315247132448088 };
  const double expected[][4] = {
    { 4.057439652961861, 5.3408596667660255, 3.235403346589861, 6.162895973138026 },
    { 21.025249985776867, 30.05468198701231, 20.837474933463294, 30.24245703932588 }
  };
  gsize i;

  g_test_summary ("get_prediction().summary_frame (alpha=0.1) of the same fit in statsmodels 0.14.6.");
  intervals = apr_regression_statistics_get_confidence_intervals (statistics, 0.9, &error);
  g_assert_no_error (error);
  for (i = 0; i < 6; i++)
    assert_close (element (intervals, i), expected_coefficients[i], 1e-11);

  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                         &upper, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                         &mean_lower, &mean_upper, &error));
  g_assert_cmpuint (apr_tensor_get_n_dims (lower), ==, 1);
  for (i = 0; i < 2; i++)
    {
      assert_close (element (mean_lower, i), expected[i][0], 1e-11);
      assert_close (element (mean_upper, i), expected[i][1], 1e-11);
      assert_close (element (lower, i), expected[i][2], 1e-11);
      assert_close (element (upper, i), expected[i][3], 1e-11);
    }

  g_clear_pointer (&lower, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, new_x, 1, APR_INTERVAL_PREDICTION, &lower,
                                                          &upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (apr_regression_statistics_get_confidence_intervals (statistics, NAN, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static void
test_intervals_far_away (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) near_x = matrix_new (1, 2, (const double[]){ 10, -3 });
  g_autoptr (AprTensor) far_x = matrix_new (1, 2, (const double[]){ 0x1.4p603, -0x1.8p601 });
  g_autoptr (AprLinearRegression) model = fit (FALSE, x, y, NULL);
  AprIntervalKind kind;

  g_test_summary (
    "Through the origin, the interval of a mean grows as its features do; beside it, one sample's own "
    "variance is nothing.");
  for (kind = APR_INTERVAL_PREDICTION; kind <= APR_INTERVAL_CONFIDENCE; kind++)
    {
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (AprTensor) upper = NULL;
      g_autoptr (AprTensor) far_lower = NULL;
      g_autoptr (AprTensor) far_upper = NULL;

      g_assert_true (apr_linear_regression_predict_interval (model, near_x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                             &lower, &upper, NULL));
      g_assert_true (
        apr_linear_regression_predict_interval (model, far_x, 0.9, kind, &far_lower, &far_upper, NULL));
      assert_close (element (far_lower, 0), element (lower, 0) * 0x1p600, 1e-13);
      assert_close (element (far_upper, 0), element (upper, 0) * 0x1p600, 1e-13);
    }
}

static void
test_intervals_unknown (void)
{
  g_autoptr (AprTensor) x = matrix_new (2, 1, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 3 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("As many terms as samples leave no degrees of freedom.");
  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper, &error));
  g_assert_no_error (error);
  g_assert_true (isnan (element (lower, 0)));
  g_assert_true (isnan (element (upper, 1)));
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (nist_sets); i++)
    {
      g_autofree char *path = g_strconcat ("/regression-statistics/nist/", nist_sets[i].name, NULL);
      g_autofree char *bits_path = g_strconcat ("/regression-statistics/bits/", nist_sets[i].name, NULL);
    }
#define ADD(path, function) g_test_add_func ("/regression-statistics/" path, function)
  ADD ("intervals", test_intervals);
  ADD ("intervals/far-away", test_intervals_far_away);
  ADD ("intervals/unknown", test_intervals_unknown);
#undef ADD

  return g_test_run ();
}
