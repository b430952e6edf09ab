/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

/* Intervals of predictions, and of coefficients. */

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
  g_clear_pointer (&mean_upper, apr_tensor_unref);
  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                         NULL, &error));
  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_CONFIDENCE, NULL,
                                                         &mean_upper, &error));
  g_assert_no_error (error);
  assert_close (element (lower, 0), expected[0][2], 1e-11);
  assert_close (element (mean_upper, 0), expected[0][1], 1e-11);

  g_clear_pointer (&lower, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, new_x, 1, APR_INTERVAL_PREDICTION, &lower,
                                                          &upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (apr_regression_statistics_get_confidence_intervals (statistics, NAN, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static void
test_intervals_near_origin (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) near_x = matrix_new (1, 2, (const double[]){ 10, -3 });
  g_autoptr (AprTensor) tiny_x = matrix_new (2, 2, (const double[]){ 0x1.4p-597, -0x1.8p-599, 0, 0 });
  g_autoptr (AprLinearRegression) model = fit (FALSE, x, y, NULL);
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTensor) tiny_lower = NULL;
  g_autoptr (AprTensor) tiny_upper = NULL;

  g_test_summary ("Through the origin, the interval of a mean shrinks as its features do, until it is 0.");
  g_assert_true (apr_linear_regression_predict_interval (model, near_x, 0.9, APR_INTERVAL_CONFIDENCE, &lower,
                                                         &upper, NULL));
  g_assert_true (apr_linear_regression_predict_interval (model, tiny_x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                         &tiny_lower, &tiny_upper, NULL));
  assert_close (element (tiny_lower, 0), element (lower, 0) * 0x1p-600, 1e-13);
  assert_close (element (tiny_upper, 0), element (upper, 0) * 0x1p-600, 1e-13);
  g_assert_cmpfloat (element (tiny_lower, 1), ==, 0);
  g_assert_cmpfloat (element (tiny_upper, 1), ==, 0);
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

static void
assert_intervals (AprLinearRegression *model,
                  AprTensor *x,
                  AprIntervalKind kind,
                  gsize n,
                  gsize stride,
                  const double *expected,
                  double tolerance)
{
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_assert_true (apr_linear_regression_predict_interval (model, x, 0.95, kind, &lower, &upper, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (lower), ==, n);
  for (i = 0; i < n; i++)
    {
      assert_close (element (lower, i), expected[i * stride], tolerance);
      assert_close (element (upper, i), expected[i * stride + 1], tolerance);
    }
}

static void
test_longley (void)
{
  /* Of a mean, and of one sample, for each of three samples; then the same without an intercept. */
  static const double expected[2][3][4] = {
    { { 59606.32262555921, 60504.99731492135, 59232.56180605871, 60878.758134421856 },
      { 67736.22609034587, 71960.72102833883, 67626.49788241964, 72070.44923626505 },
      { -5496529.483274762, -1467987.7859168751, -5496529.601329026, -1467987.6678626111 } },
    { { 59353.35298694838, 60732.84151450566, 58779.50460403392, 61306.68989742012 },
      { 71591.58852796382, 74584.49551706928, 71254.93201798316, 74921.15202704995 },
      { 0.0, 0.0, -1058.734729458391, 1058.734729458391 } },
  };
  static const double new_values[3][6] = { { 83, 234289, 2356, 1590, 107608, 1947 },
                                           { 120, 600000, 4500, 2900, 132000, 1963 },
                                           { 0, 0, 0, 0, 0, 0 } };
  g_autoptr (AprTensor) new_x = matrix_new (3, 6, &new_values[0][0]);
  g_autoptr (AprTensor) new_floats = apr_tensor_cast (new_x, APR_DTYPE_F32, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  g_test_summary (
    "Normal equations, the root of the variance and Student's quantile with 60 digits, by mpmath 1.3.");
  nist_load_named ("longley", &x, &y);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprLinearRegression) model = fit (i == 0, x, y, NULL);
      AprTensor *const forms[] = { new_x, new_floats };
      gsize j;

      for (j = 0; j < 2; j++)
        {
          assert_intervals (model, forms[j], APR_INTERVAL_CONFIDENCE, 3, 4, &expected[i][0][0], 1e-10);
          assert_intervals (model, forms[j], APR_INTERVAL_PREDICTION, 3, 4, &expected[i][0][2], 1e-10);
        }
    }
}

/* The entry of Hadamard's matrix of a power of two, after Sylvester. */
static double
hadamard (gsize i, gsize j)
{
  return __builtin_parityll (i & j) == 0 ? 1 : -1;
}

#define N_SAMPLES 256

/* Features that are orthogonal to each other, to 1 and to the target, so that the residual sum of squares is the number
 * of samples, and the variance of the mean at x is σ² (1 + |x|²) / N_SAMPLES. */
static void
check_orthogonal (gsize n_features, gboolean fit_intercept, AprDType dtype, double t)
{
  const gsize n_rows = 37;
  double variance = N_SAMPLES / (double) (N_SAMPLES - n_features - (fit_intercept ? 1 : 0));
  g_autofree double *x_values = g_new (double, N_SAMPLES *n_features);
  g_autofree double *new_values = g_new (double, n_rows *n_features);
  g_autofree double *expected = g_new (double, n_rows * 4);
  double y_values[N_SAMPLES];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) new_doubles = NULL;
  g_autoptr (AprTensor) new_x = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < N_SAMPLES; i++)
    {
      for (j = 0; j < n_features; j++)
        x_values[i * n_features + j] = hadamard (i, 1 + j);
      y_values[i] = hadamard (i, N_SAMPLES - 1);
    }
  for (i = 0; i < n_rows; i++)
    {
      double length = fit_intercept ? 1 : 0;

      for (j = 0; j < n_features; j++)
        {
          double value = (double) ((i * 7 + j * 5) % 23) / 4 - 2;

          new_values[i * n_features + j] = value;
          length += value * value;
        }
      for (j = 0; j < 2; j++)
        {
          double reach = t * sqrt (variance * (length / N_SAMPLES + (double) j));

          expected[4 * i + 2 * j] = -reach;
          expected[4 * i + 2 * j + 1] = reach;
        }
    }
  x = matrix_new (N_SAMPLES, n_features, x_values);
  y = vector_new (N_SAMPLES, y_values);
  new_doubles = matrix_new (n_rows, n_features, new_values);
  new_x = apr_tensor_cast (new_doubles, dtype, NULL);
  model = fit (fit_intercept, x, y, NULL);
  assert_intervals (model, new_x, APR_INTERVAL_CONFIDENCE, n_rows, 4, expected, 1e-13);
  assert_intervals (model, new_x, APR_INTERVAL_PREDICTION, n_rows, 4, expected + 2, 1e-13);
}

static void
test_orthogonal (void)
{
  g_test_summary (
    "Few and many features, in one thread's tiles of rows and what is left. The quantiles are mpmath's.");
  check_orthogonal (130, TRUE, APR_DTYPE_F64, 1.9791241094237975);
  check_orthogonal (130, TRUE, APR_DTYPE_F32, 1.9791241094237975);
  check_orthogonal (130, FALSE, APR_DTYPE_F64, 1.9789706019906284);
  check_orthogonal (3, TRUE, APR_DTYPE_F64, 1.96942236536627);
  check_orthogonal (3, FALSE, APR_DTYPE_F32, 1.9693848042206037);
}

static void
test_several_targets (void)
{
  const double both[] = { 3, 1, 5, 7, 4, 2, 9, 8, 8, 3, 12, 1, 11, 5, 100, 9 };
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = matrix_new (8, 2, both);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  gsize target;
  gsize i;

  g_test_summary ("Those of several targets are those of each alone.");
  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper, NULL));
  g_assert_cmpuint (apr_tensor_get_n_dims (lower), ==, 2);
  for (target = 0; target < 2; target++)
    {
      double one[8];
      g_autoptr (AprTensor) y_one = NULL;
      g_autoptr (AprLinearRegression) model_of_one = NULL;
      g_autoptr (AprTensor) lower_of_one = NULL;
      g_autoptr (AprTensor) upper_of_one = NULL;

      for (i = 0; i < 8; i++)
        one[i] = both[2 * i + target];
      y_one = vector_new (8, one);
      model_of_one = fit (TRUE, x, y_one, NULL);
      g_assert_true (apr_linear_regression_predict_interval (model_of_one, x, 0.9, APR_INTERVAL_PREDICTION,
                                                             &lower_of_one, &upper_of_one, NULL));
      for (i = 0; i < 8; i++)
        {
          assert_close (element (lower, 2 * i + target), element (lower_of_one, i), 1e-14);
          assert_close (element (upper, 2 * i + target), element (upper_of_one, i), 1e-14);
        }
    }
}

static void
test_dependent (void)
{
  g_autofree double *values = g_new (double, 8 * 3);
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) more_x = NULL;
  g_autoptr (AprTensor) new_x = matrix_new (1, 2, (const double[]){ 10, -3 });
  g_autoptr (AprTensor) same_x = matrix_new (1, 3, (const double[]){ 10, -3, 7 });
  g_autoptr (AprTensor) other_x = matrix_new (1, 3, (const double[]){ 10, -3, 8 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprLinearRegression) dependent = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTensor) other_lower = NULL;
  g_autoptr (AprTensor) other_upper = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary (
    "A feature that is the sum of others changes nothing where it still is, and is named where it is not.");
  for (i = 0; i < 8; i++)
    {
      values[3 * i] = small_x[2 * i];
      values[3 * i + 1] = small_x[2 * i + 1];
      values[3 * i + 2] = small_x[2 * i] + small_x[2 * i + 1];
    }
  more_x = matrix_new (8, 3, values);
  dependent = fit (TRUE, more_x, y, NULL);
  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                         &upper, NULL));
  g_assert_true (apr_linear_regression_predict_interval (dependent, same_x, 0.9, APR_INTERVAL_PREDICTION,
                                                         &other_lower, &other_upper, NULL));
  assert_close (element (other_lower, 0), element (lower, 0), 1e-12);
  assert_close (element (other_upper, 0), element (upper, 0), 1e-12);

  g_clear_pointer (&other_lower, apr_tensor_unref);
  g_clear_pointer (&other_upper, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (dependent, other_x, 0.9, APR_INTERVAL_PREDICTION,
                                                          &other_lower, &other_upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "for sample 0");
  assert_message_has (error, "“x2”");
  g_assert_null (other_lower);
}

/* Small whole numbers, of which the last feature is a sum of the others, where it may be one of them alone. Without an
 * intercept it has no constant. Where they are @near, the others are the same but for 2^-20. */
static void
check_samples (GRand *rand, gboolean fit_intercept, gboolean weighted, gboolean near)
{
  const gsize n = (gsize) g_rand_int_range (rand, 5, 9);
  const int first = g_rand_int_range (rand, -1, 2);
  const int second = g_rand_int_range (rand, -1, 2);
  const int constant = fit_intercept ? g_rand_int_range (rand, -2, 3) : 0;
  double x_values[24];
  double y_values[8];
  double weights[8];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) other_x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      double *row = x_values + 3 * i;

      row[0] = g_rand_int_range (rand, 0, 3);
      row[1] = g_rand_int_range (rand, 0, 3);
      if (near)
        row[1] = row[0] + row[1] * 0x1p-20;
      row[2] = first * row[0] + second * row[1] + constant;
      y_values[i] = g_rand_int_range (rand, 0, 9);
      weights[i] = ldexp (1, -g_rand_int_range (rand, 0, 30));
    }
  x = matrix_new (n, 3, x_values);
  y = vector_new (n, y_values);
  w = vector_new (n, weights);
  model = fit (fit_intercept, x, y, weighted ? w : NULL);
  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_CONFIDENCE, &lower, NULL, &error));
  g_assert_no_error (error);
  diagnostics = apr_linear_regression_diagnose (model, x, y, weighted ? w : NULL, 0, NULL, &error);
  g_assert_no_error (error);

  x_values[3 * n - 1] += 1;
  other_x = matrix_new (n, 3, x_values);
  g_clear_pointer (&lower, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, other_x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                          &lower, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static void
test_samples_of_the_fit (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (58);
  guint i;

  for (i = 0; i < 2000; i++)
    check_samples (rand, i % 2 != 0, i / 2 % 2 != 0, i / 4 % 2 != 0);
}

/* The second feature has no part in the third, which is twice the first, however far from 0 it is. */
static void
test_beside_far_column (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (59);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) new_x = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GError) error = NULL;
  double rows[150];
  double targets[50];
  gsize i;

  for (i = 0; i < 50; i++)
    {
      rows[3 * i] = g_rand_int_range (rand, 0, 100);
      rows[3 * i + 1] = 1.7e15 + g_rand_int_range (rand, 0, 1000);
      rows[3 * i + 2] = 2 * rows[3 * i];
      targets[i] = rows[3 * i] + g_rand_double (rand);
    }
  x = matrix_new (50, 3, rows);
  y = vector_new (50, targets);
  model = fit (TRUE, x, y, NULL);
  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper, &error));
  g_assert_no_error (error);

  new_x = matrix_new (1, 3, (const double[]){ 50, rows[1], 100.1 });
  g_clear_pointer (&lower, apr_tensor_unref);
  g_clear_pointer (&upper, apr_tensor_unref);
  g_assert_false (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                          &upper, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

/* Whole numbers that a sum of the features fits without an error, and rows whose predictions are rounded. */
static void
check_middle (gsize n_features, gsize n_targets, AprDType dtype)
{
  const gsize n_samples = n_features + 35;
  g_autoptr (GRand) rand = g_rand_new_with_seed (57);
  g_autofree double *rows = g_new (double, n_samples *n_features);
  g_autofree double *sums = g_new0 (double, n_samples *n_targets);
  g_autoptr (AprTensor) wide_x = NULL;
  g_autoptr (AprTensor) wide_new_x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) new_x = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < n_samples * n_features; i++)
    rows[i] = g_rand_int_range (rand, -9, 10);
  for (i = 0; i < n_samples; i++)
    for (j = 0; j < n_targets * n_features; j++)
      sums[i * n_targets + j % n_targets] +=
        rows[i * n_features + j / n_targets] * (double) (j % 7) - 3 * (double) (j / n_targets == 0);
  wide_x = matrix_new (n_samples, n_features, rows);
  y = matrix_new (n_samples, n_targets, sums);
  for (i = 0; i < n_samples * n_features; i++)
    rows[i] = g_rand_double_range (rand, -1, 1);
  wide_new_x = matrix_new (n_samples, n_features, rows);
  x = apr_tensor_cast (wide_x, dtype, NULL);
  new_x = apr_tensor_cast (wide_new_x, dtype, NULL);

  model = fit (TRUE, x, y, NULL);
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), new_x, NULL);
  g_assert_true (apr_linear_regression_predict_interval (model, new_x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                                         &upper, NULL));
  for (i = 0; i < n_samples * n_targets; i++)
    {
      g_assert_cmpfloat (element (lower, i), ==, element (predictions, i));
      g_assert_cmpfloat (element (upper, i), ==, element (predictions, i));
    }
}

static void
test_middle (void)
{
  g_test_summary ("Intervals of width 0 are the predictions, to the last bit.");
  check_middle (3, 1, APR_DTYPE_F64);
  check_middle (3, 1, APR_DTYPE_F32);
  check_middle (21, 1, APR_DTYPE_F64);
  check_middle (21, 1, APR_DTYPE_F32);
  check_middle (21, 1, APR_DTYPE_F16);
  check_middle (21, 2, APR_DTYPE_F32);
}

static void
test_saturated (void)
{
  const double x_values[] = { 1, 0, 1, 2, 0, 1, 1, 2, 1, 3, 2, 7 };
  const double y_values[] = { 1, 4, 2 };
  const double row[] = { 1, 1, 1, 9 };
  g_autoptr (AprTensor) x = matrix_new (3, 4, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprTensor) other = matrix_new (1, 4, row);
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = NULL;
  gsize i;

  g_test_summary (
    "Without degrees of freedom, a row is checked by the rules of the features as ever, and the "
    "statistics are the same before and after.");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
      g_autoptr (AprTensor) lower = NULL;
      g_autofree char *summary = i == 0 ? apr_linear_regression_summary (model, &error) : NULL;

      g_assert_no_error (error);
      g_assert_false (apr_linear_regression_predict_interval (model, other, 0.9, APR_INTERVAL_CONFIDENCE,
                                                              &lower, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      g_clear_error (&error);
      g_assert_true (apr_linear_regression_predict_interval (model, x, 0.9, APR_INTERVAL_CONFIDENCE, &lower,
                                                             NULL, &error));
      g_assert_no_error (error);
      g_assert_true (isnan (element (lower, 0)));
      if (i == 0)
        {
          expected = g_steal_pointer (&summary);
          continue;
        }
      summary = apr_linear_regression_summary (model, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (summary, ==, expected);
    }
}

static void
test_cancelling_means (void)
{
  const double x_values[] = {
    0x1p46 - 3.015625, -3.015625 + 0x1p-40,  0x1p46 - 1.046875, -1.046875 - 0x1p-39,
    0x1p46 + 1.578125, 1.578125 + 0x1.8p-39, 0x1p46 + 2.234375, 2.234375 - 0x1p-40
  };
  const double y_values[] = { 1, -2, 3, 1 };
  const double weights[] = { 0.001, 0.7, 0.3, 1300.1 };
  const double rows[] = { 0x1p46, 0, 0x1p46 + 1, 1, 0x1p46 + 100, 100 + 0x1p-40, 0x1p46 + 0.25, 0.5 };
  const double leverages[] = { 0.0053370658644463552, 0.99710010806374474, 0.99756409077354558,
                               0.99999873529826332 };
  const double expected[] = { 119273.46510271806, 61618.754671761334, 94146.099464516176, 1431.871026857053,
                              52757.366409308299, 36265.300151180872, 1860886.6843166727, 6216735351478580 };
  g_autoptr (AprTensor) x = matrix_new (4, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprTensor) w = vector_new (4, weights);
  g_autoptr (AprTensor) new_x = matrix_new (4, 2, rows);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary (
    "Features far from 0 that nearly depend on each other, with weights of all bits: the means have "
    "more digits than two doubles. From fractions in Python, and tan (0.999999 pi / 2) by mpmath.");
  for (i = 0; i < 8; i++)
    {
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (AprTensor) upper = NULL;

      g_assert_true (apr_linear_regression_predict_interval (
        model, i < 4 ? x : new_x, 0.999999, APR_INTERVAL_CONFIDENCE, &lower, &upper, &error));
      g_assert_no_error (error);
      assert_close ((element (upper, i % 4) - element (lower, i % 4)) / 2, expected[i], 0x1p-36);
    }

  diagnostics = apr_linear_regression_diagnose (model, x, y, w, 0, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < 4; i++)
    assert_close (element (apr_regression_diagnostics_get_leverages (diagnostics), i), leverages[i], 0x1p-35);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add_func ("/inference-interval/" path, function)
  ADD ("weighted", test_intervals);
  ADD ("near-origin", test_intervals_near_origin);
  ADD ("far-away", test_intervals_far_away);
  ADD ("unknown", test_intervals_unknown);
  ADD ("longley", test_longley);
  ADD ("orthogonal", test_orthogonal);
  ADD ("several-targets", test_several_targets);
  ADD ("dependent", test_dependent);
  ADD ("samples-of-the-fit", test_samples_of_the_fit);
  ADD ("beside-far-column", test_beside_far_column);
  ADD ("middle", test_middle);
  ADD ("saturated", test_saturated);
  ADD ("cancelling-means", test_cancelling_means);
#undef ADD

  return g_test_run ();
}
