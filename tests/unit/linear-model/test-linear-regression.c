/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

#include <math.h>

static double
coefficient (AprLinearRegression *model, gsize index)
{
  return element (coefficients_of (model), index);
}

static double
intercept (AprLinearRegression *model)
{
  return element (intercept_of (model), 0);
}

static void
count_cb (GObject *object, GParamSpec *pspec, gpointer user_data)
{
  ++*(int *) user_data;
}

static void
test_properties (void)
{
  AprLinearRegression *model = apr_linear_regression_new ();
  AprDType dtype;
  gboolean fit_intercept;
  int n_notified = 0;
  gint64 rank;

  g_signal_connect (model, "notify::fit-intercept", G_CALLBACK (count_cb), &n_notified);
  g_signal_connect (model, "notify::dtype", G_CALLBACK (count_cb), &n_notified);

  g_assert_true (apr_linear_regression_get_fit_intercept (model));
  g_assert_cmpint (apr_linear_regression_get_dtype (model), ==, APR_DTYPE_NONE);
  g_assert_null (coefficients_of (model));
  g_assert_null (intercept_of (model));
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, -1);

  apr_linear_regression_set_fit_intercept (model, TRUE);
  apr_linear_regression_set_dtype (model, APR_DTYPE_NONE);
  g_assert_cmpint (n_notified, ==, 0);
  apr_linear_regression_set_fit_intercept (model, FALSE);
  apr_linear_regression_set_dtype (model, APR_DTYPE_F32);
  g_assert_cmpint (n_notified, ==, 2);
  g_object_set (model, "fit-intercept", FALSE, "dtype", APR_DTYPE_F32, NULL);
  g_assert_cmpint (n_notified, ==, 2);

  g_object_get (model, "fit-intercept", &fit_intercept, "dtype", &dtype, "rank", &rank, NULL);
  g_assert_false (fit_intercept);
  g_assert_cmpint (dtype, ==, APR_DTYPE_F32);
  g_assert_cmpint (rank, ==, -1);

  g_assert_finalize_object (model);
}

static void
test_wrong_enumerations (void)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  g_test_expect_message ("aprender", G_LOG_LEVEL_CRITICAL, "*set_precision*assertion*failed*");
  apr_linear_regression_set_precision (model, APR_PRECISION_DOUBLE + 1);
  g_test_expect_message ("aprender", G_LOG_LEVEL_CRITICAL, "*set_dtype*assertion*failed*");
  apr_linear_regression_set_dtype (model, APR_DTYPE_U64 + 1);
  g_test_assert_expected_messages ();
  g_assert_cmpint (apr_linear_regression_get_precision (model), ==, APR_PRECISION_EXACT);
  g_assert_cmpint (apr_linear_regression_get_dtype (model), ==, APR_DTYPE_NONE);
}

static void
test_years (void)
{
  double years[20];
  double targets[20];
  float float_years[20];
  float float_targets[20];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) float_x = NULL;
  g_autoptr (AprTensor) float_y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprLinearRegression) float_model = NULL;
  int i;

  g_test_summary ("Data far from zero: uncentred float32 normal equations give 2.024 here.");
  for (i = 0; i < 20; i++)
    {
      years[i] = 2000 + i;
      targets[i] = 2 * years[i] + 1;
      float_years[i] = (float) years[i];
      float_targets[i] = (float) targets[i];
    }
  x = matrix_new (20, 1, years);
  y = vector_new (20, targets);
  float_x = float_matrix_new (20, 1, float_years);
  float_y = float_vector_new (20, float_targets);
  model = fitted_new (x, y, NULL, TRUE);
  float_model = fitted_new (float_x, float_y, NULL, TRUE);

  assert_same_double (coefficient (model, 0), 2);
  assert_same_double (intercept (model), 1);
  assert_same_double (coefficient (float_model, 0), 2);
  assert_same_double (intercept (float_model), 1);
  assert_same_double (apr_estimator_score (APR_ESTIMATOR (model), x, y, NULL, NULL), 1);
}

static void
test_notifies_in_one_go (void)
{
  const double values[] = { 1, 2, 3, 4 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, values);
  g_autoptr (AprTensor) y = vector_new (4, values);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  const char *const names[] = { "notify::coefficients", "notify::intercept", "notify::rank", "notify::fitted",
                                "notify::n-features" };
  int n_notified = 0;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_connect (model, names[i], G_CALLBACK (count_cb), &n_notified);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  g_assert_cmpint (n_notified, ==, 5);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 1);
}

static void
test_dtypes (void)
{
  const float floats[] = { 1, 2, 3 };
  const double doubles[] = { 1, 2, 4 };
  const struct
  {
    gboolean narrow;
    AprDType asked;
    AprDType expected;
  } cases[] = {
    { FALSE, APR_DTYPE_NONE, APR_DTYPE_F64 },
    { TRUE, APR_DTYPE_NONE, APR_DTYPE_F32 },
    { FALSE, APR_DTYPE_F32, APR_DTYPE_F32 },
    { TRUE, APR_DTYPE_F64, APR_DTYPE_F64 },
  };
  g_autoptr (AprTensor) narrow = float_matrix_new (3, 1, floats);
  g_autoptr (AprTensor) wide = apr_tensor_cast (narrow, APR_DTYPE_F64, NULL);
  g_autoptr (AprTensor) y = vector_new (3, doubles);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprTensor *x = cases[i].narrow ? narrow : wide;
      g_autoptr (AprLinearRegression) model =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "dtype", cases[i].asked, NULL);
      g_autoptr (AprTensor) predictions = NULL;

      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
      g_assert_cmpint (apr_linear_regression_get_dtype (model), ==, cases[i].asked);
      g_assert_cmpint (apr_tensor_get_dtype (coefficients_of (model)), ==, cases[i].expected);
      g_assert_cmpint (apr_tensor_get_dtype (intercept_of (model)), ==, cases[i].expected);
      predictions = apr_estimator_predict (APR_ESTIMATOR (model), wide, NULL);
      g_assert_cmpint (apr_tensor_get_dtype (predictions), ==, cases[i].expected);

      /* Exactly 3/2 and -2/3. */
      assert_same_double (coefficient (model, 0), 1.5);
      assert_same_double (intercept (model),
                          cases[i].expected == APR_DTYPE_F32 ? (double) (-2.0f / 3.0f) : -2.0 / 3.0);
    }
}

static void
test_other_dtypes_are_refused (void)
{
  const double values[] = { 1, 2, 3 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, values);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "dtype", APR_DTYPE_F16, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  assert_message_has (error, "F16");
}

static void
test_several_targets (void)
{
  const double x_values[] = { 1, 0, 0, 1, 1, 1, 2, 1 };
  const double y_values[] = { 3, 1, 4, 0, 6, 0.5, 8, 1 };
  g_autoptr (AprTensor) x = matrix_new (4, 2, x_values);
  g_autoptr (AprTensor) y = matrix_new (4, 2, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprTensor) predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL);
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients_of (model), &n_dims);
  gsize target;
  gsize i;

  g_assert_cmpuint (n_dims, ==, 2);
  g_assert_cmpuint (shape[0], ==, 2);
  g_assert_cmpuint (shape[1], ==, 2);
  g_assert_cmpuint (apr_estimator_get_n_targets (APR_ESTIMATOR (model)), ==, 2);
  g_assert_cmpuint (apr_tensor_get_n_dims (predictions), ==, 2);

  g_test_summary ("Each target's model is that of the target alone.");
  for (target = 0; target < 2; target++)
    {
      const double alone[] = { y_values[target], y_values[2 + target], y_values[4 + target],
                               y_values[6 + target] };
      g_autoptr (AprTensor) y_alone = vector_new (4, alone);
      g_autoptr (AprLinearRegression) model_alone = fitted_new (x, y_alone, NULL, TRUE);
      g_autoptr (AprTensor) predictions_alone = apr_estimator_predict (APR_ESTIMATOR (model_alone), x, NULL);

      for (i = 0; i < 2; i++)
        assert_same_double (coefficient (model, 2 * target + i), coefficient (model_alone, i));
      assert_same_double (element (intercept_of (model), target), intercept (model_alone));
      for (i = 0; i < 4; i++)
        assert_same_double (element (predictions, 2 * i + target), element (predictions_alone, i));
    }
}

static void
test_column_of_targets_keeps_its_shape (void)
{
  const double values[] = { 1, 2, 4 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, x, NULL, TRUE);
  g_autoptr (AprTensor) predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL);

  g_assert_cmpuint (apr_tensor_get_n_dims (coefficients_of (model)), ==, 2);
  g_assert_cmpuint (apr_tensor_get_n_dims (predictions), ==, 2);
  assert_same_double (coefficient (model, 0), 1);
}

static void
test_weight_laws (void)
{
  const double x_values[] = { 1, 5, 2, 3, 4, 4, 7, 1, 3, 9 };
  const double y_values[] = { 2.5, -1, 4, 0.25, 7 };
  const double ones[] = { 1, 1, 1, 1, 1 };
  const double thirds[] = { 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3 };
  const double counts[] = { 1, 2, 0, 1, 3 };
  const double repeated_x[] = { 1, 5, 2, 3, 2, 3, 7, 1, 3, 9, 3, 9, 3, 9 };
  const double repeated_y[] = { 2.5, -1, -1, 0.25, 7, 7, 7 };
  g_autoptr (AprTensor) x = matrix_new (5, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (5, y_values);
  g_autoptr (AprTensor) all_ones = vector_new (5, ones);
  g_autoptr (AprTensor) all_thirds = vector_new (5, thirds);
  g_autoptr (AprTensor) weights = vector_new (5, counts);
  g_autoptr (AprTensor) long_x = matrix_new (7, 2, repeated_x);
  g_autoptr (AprTensor) long_y = vector_new (7, repeated_y);
  gsize i;
  int with;

  g_test_summary ("One, or any other constant, is no weight; two is the row twice; zero is the row removed.");
  for (with = 0; with < 2; with++)
    {
      g_autoptr (AprLinearRegression) plain = fitted_new (x, y, NULL, with);
      g_autoptr (AprLinearRegression) by_ones = fitted_new (x, y, all_ones, with);
      g_autoptr (AprLinearRegression) by_thirds = fitted_new (x, y, all_thirds, with);
      g_autoptr (AprLinearRegression) by_counts = fitted_new (x, y, weights, with);
      g_autoptr (AprLinearRegression) by_rows = fitted_new (long_x, long_y, NULL, with);

      for (i = 0; i < 2; i++)
        {
          assert_same_double (coefficient (by_ones, i), coefficient (plain, i));
          assert_same_double (coefficient (by_thirds, i), coefficient (plain, i));
          assert_same_double (coefficient (by_counts, i), coefficient (by_rows, i));
        }
      assert_same_double (intercept (by_ones), intercept (plain));
      assert_same_double (intercept (by_thirds), intercept (plain));
      assert_same_double (intercept (by_counts), intercept (by_rows));
    }
}

static void
test_dependent_columns (void)
{
  /* c, 2 c and a constant: the least norm splits b c over (1, 2) / 5, and gives nothing to the constant. */
  const double x_values[] = { 1, 2, 7, 2, 4, 7, 4, 8, 7, 5, 10, 7 };
  const double y_values[] = { 8, 13, 23, 28 };
  g_autoptr (AprTensor) x = matrix_new (4, 3, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);

  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 1);
  assert_same_double (coefficient (model, 0), 1);
  assert_same_double (coefficient (model, 1), 2);
  assert_same_double (coefficient (model, 2), 0);
  assert_same_double (intercept (model), 3);
}

static void
test_more_features_than_samples (void)
{
  /* Two samples: centred, x1 - x2 = (2, 1, 0, -2) and y1 - y2 = 3: b = 3 (2, 1, 0, -2) / 9. */
  const double x_values[] = { 3, 2, 5, 0, 1, 1, 5, 2 };
  const double y_values[] = { 4, 1 };
  g_autoptr (AprTensor) x = matrix_new (2, 4, x_values);
  g_autoptr (AprTensor) y = vector_new (2, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);

  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 1);
  assert_same_double (coefficient (model, 0), 2.0 / 3);
  assert_same_double (coefficient (model, 1), 1.0 / 3);
  assert_same_double (coefficient (model, 2), 0);
  assert_same_double (coefficient (model, 3), -2.0 / 3);
  assert_same_double (intercept (model), 4.0 / 3);
}

static void
test_one_sample (void)
{
  const double x_values[] = { 3, 4 };
  const double y_values[] = { 5 };
  g_autoptr (AprTensor) x = matrix_new (1, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (1, y_values);
  g_autoptr (AprLinearRegression) with = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprLinearRegression) without = fitted_new (x, y, NULL, FALSE);

  g_assert_cmpint (apr_linear_regression_get_rank (with), ==, 0);
  assert_same_double (coefficient (with, 0), 0);
  assert_same_double (intercept (with), 5);
  g_assert_cmpint (apr_linear_regression_get_rank (without), ==, 1);
  assert_same_double (coefficient (without, 0), 0.6);
  assert_same_double (coefficient (without, 1), 0.8);
  assert_same_double (intercept (without), 0);
}

static void
test_minimum_norm_of_many_features (void)
{
  enum
  {
    N = 12,
    P = 40
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  double x_values[N * P];
  double y_values[N];
  double transposed_sums[N];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;
  gsize j;

  g_test_summary (
    "The least norm lies in the space of the rows: it is X' a for some a, here found by elimination.");
  for (i = 0; i < N * P; i++)
    x_values[i] = (double) g_rand_int_range (rand, -9, 10);
  for (i = 0; i < N; i++)
    y_values[i] = (double) g_rand_int_range (rand, -9, 10);
  x = matrix_new (N, P, x_values);
  y = vector_new (N, y_values);
  model = fitted_new (x, y, NULL, FALSE);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, N);

  /* It fits exactly ... */
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL);
  for (i = 0; i < N; i++)
    g_assert_cmpfloat_with_epsilon (element (predictions, i), y_values[i], 1e-13);

  /* ... and solving X X' a = X b by plain elimination gives an a with X' a = b. */
  {
    double system[N][N + 1];

    for (i = 0; i < N; i++)
      {
        gsize k;

        for (j = 0; j < N; j++)
          for (system[i][j] = 0, k = 0; k < P; k++)
            system[i][j] += x_values[i * P + k] * x_values[j * P + k];
        for (system[i][N] = 0, k = 0; k < P; k++)
          system[i][N] += x_values[i * P + k] * coefficient (model, k);
      }
    for (i = 0; i < N; i++)
      for (j = 0; j < N; j++)
        {
          double ratio = system[j][i] / system[i][i];
          gsize k;

          for (k = 0; k <= N && j != i; k++)
            system[j][k] -= ratio * system[i][k];
        }
    for (i = 0; i < N; i++)
      transposed_sums[i] = system[i][N] / system[i][i];
  }
  for (j = 0; j < P; j++)
    {
      double sum = 0;

      for (i = 0; i < N; i++)
        sum += x_values[i * P + j] * transposed_sums[i];
      g_assert_cmpfloat_with_epsilon (coefficient (model, j), sum, 1e-13);
    }
}

static void
test_scaling_by_powers_of_two (void)
{
  const double x_values[] = { 1, 5, 2, 3, 4, 4, 7, 1, 3, 9 };
  const double y_values[] = { 2.5, -1, 4, 0.25, 7 };
  double scaled_values[10];
  g_autoptr (AprTensor) x = matrix_new (5, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (5, y_values);
  g_autoptr (AprTensor) scaled = NULL;
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprLinearRegression) scaled_model = NULL;
  gsize i;

  for (i = 0; i < 10; i++)
    scaled_values[i] = ldexp (x_values[i], i % 2 == 0 ? 500 : -500);
  scaled = matrix_new (5, 2, scaled_values);
  scaled_model = fitted_new (scaled, y, NULL, TRUE);

  assert_same_double (coefficient (scaled_model, 0), ldexp (coefficient (model, 0), -500));
  assert_same_double (coefficient (scaled_model, 1), ldexp (coefficient (model, 1), 500));
  assert_same_double (intercept (scaled_model), intercept (model));
}

static void
test_small_coefficient_beside_a_large_column (void)
{
  /* y = 2e-7 x1 + 3 x2 + 1 with x1 about 1e7: a rank rule that depends on units drops x2. */
  double x_values[200];
  double y_values[100];
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;

  for (i = 0; i < 100; i++)
    {
      x_values[2 * i] = g_rand_double_range (rand, -1e7, 1e7);
      x_values[2 * i + 1] = g_rand_double_range (rand, -1, 1);
      y_values[i] = 2e-7 * x_values[2 * i] + 3 * x_values[2 * i + 1] + 1;
    }
  x = matrix_new (100, 2, x_values);
  y = vector_new (100, y_values);
  model = fitted_new (x, y, NULL, TRUE);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 2);
  g_assert_cmpfloat_with_epsilon (coefficient (model, 0), 2e-7, 1e-21);
  g_assert_cmpfloat_with_epsilon (coefficient (model, 1), 3, 1e-14);
}

static void
test_bad_data (void)
{
  const double good_x[] = { 1, 2, 3, 4, 5, 6 };
  const double nan_x[] = { 1, 2, 3, NAN, 5, 6 };
  const double infinite_x[] = { 1, 2, 3, 4, -INFINITY, 6 };
  const double good_y[] = { 1, 2, 4 };
  const double nan_y[] = { 1, 2, NAN };
  const double negative[] = { 1, -0.5, 1 };
  const double zeros[] = { 0, 0, 0 };
  const double nan_at_zero_weight[] = { 1, 0, 1 };
  const struct
  {
    const double *x;
    const double *y;
    const double *weights;
    gint code;
    const char *text;
  } cases[] = {
    { nan_x, good_y, NULL, APR_ERROR_NOT_FINITE, "X has a NaN at row 1, column 1" },
    { nan_x, good_y, nan_at_zero_weight, APR_ERROR_NOT_FINITE, "X has a NaN at row 1, column 1" },
    { infinite_x, good_y, NULL, APR_ERROR_NOT_FINITE, "X has an infinity at row 2, column 0" },
    { good_x, nan_y, NULL, APR_ERROR_NOT_FINITE, "y has a NaN at row 2 (counted from 0)" },
    { good_x, good_y, nan_y, APR_ERROR_NOT_FINITE, "sample_weight has a NaN at row 2 (counted from 0)" },
    { good_x, good_y, negative, APR_ERROR_WEIGHTS, "-0.5 at row 1" },
    { good_x, good_y, zeros, APR_ERROR_WEIGHTS, "no value above zero" },
  };
  g_autoptr (AprTensor) x = matrix_new (3, 2, good_x);
  g_autoptr (AprTensor) y = vector_new (3, good_y);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  AprTensor *coefficients = coefficients_of (model);
  gsize i;

  g_test_summary ("A fit that fails leaves the model as it was.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTensor) bad_x = matrix_new (3, 2, cases[i].x);
      g_autoptr (AprTensor) bad_y = vector_new (3, cases[i].y);
      g_autoptr (AprTensor) weights = cases[i].weights != NULL ? vector_new (3, cases[i].weights) : NULL;
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), bad_x, bad_y, weights, NULL, &error));
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].text);
      g_assert_true (coefficients_of (model) == coefficients);
      g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 1);
    }
}

static void
test_coefficient_out_of_range (void)
{
  const double x_values[] = { 1e-200, 3e-200 };
  const double y_values[] = { 1e200, 2e200 };
  const double small_x[] = { 1e-30, 3e-30 };
  const double small_y[] = { 1e20, 2e20 };
  g_autoptr (AprTensor) x = matrix_new (2, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (2, y_values);
  g_autoptr (AprTensor) narrow_x = matrix_new (2, 1, small_x);
  g_autoptr (AprTensor) narrow_y = vector_new (2, small_y);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "feature 0");
  assert_message_has (error, "F64");
  g_clear_error (&error);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), narrow_x, narrow_y, NULL, NULL, &error));
  apr_linear_regression_set_dtype (model, APR_DTYPE_F32);
  g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), narrow_x, narrow_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "F32");
}

static void
remember_thread_cb (GObject *object, GParamSpec *pspec, gpointer user_data)
{
  *(GThread **) user_data = g_thread_self ();
}

static void
test_fit_async (void)
{
  const double values[] = { 1, 2, 4 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, values);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  GThread *thread = NULL;

  g_test_summary ("The fit runs in a thread; the model changes and notifies in the caller's.");
  g_signal_connect (model, "notify::coefficients", G_CALLBACK (remember_thread_cb), &thread);
  apr_estimator_fit_async (APR_ESTIMATOR (model), x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, &result);
  g_assert_null (coefficients_of (model));
  wait_for (&result);
  g_assert_true (thread == g_thread_self ());
  g_assert_true (apr_estimator_fit_finish (APR_ESTIMATOR (model), result, &error));
  g_assert_no_error (error);
  assert_same_double (coefficient (model, 0), 1);
}

static void
test_fit_async_is_cancelled (void)
{
  const double values[] = { 1, 2, 4 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, values);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  apr_estimator_fit_async (APR_ESTIMATOR (model), x, y, NULL, G_PRIORITY_DEFAULT, cancellable, on_ready,
                           &result);
  wait_for (&result);
  g_assert_false (apr_estimator_fit_finish (APR_ESTIMATOR (model), result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));
}

/* Features far from 0, of which the last one is constant, in two updates. */
static void
check_offset (gsize p, double offset, gboolean weighted)
{
  enum
  {
    N = 3000
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (41);
  g_autofree double *values = g_new (double, N *p);
  g_autofree double *targets = g_new (double, N);
  g_autofree double *weights = g_new (double, N);
  const AprPrecision precisions[] = { APR_PRECISION_EXACT, APR_PRECISION_DOUBLE };
  AprLinearRegression *models[2];
  AprTensor *coefficients[2];
  double intercepts[2];
  gsize i;
  gsize j;

  for (i = 0; i < N; i++)
    {
      targets[i] = offset + g_rand_double (rand);
      weights[i] = g_rand_double (rand);
      for (j = 0; j < p; j++)
        {
          double deviate = g_rand_double (rand) + g_rand_double (rand) - 1;

          values[i * p + j] = j + 1 == p ? offset / 3 : offset + deviate;
          targets[i] += (double) (j + 1) * deviate;
        }
    }
  for (i = 0; i < 2; i++)
    {
      const gsize parts[] = { 0, 1000, N };
      g_autoptr (AprTensor) intercept = NULL;

      models[i] = g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", precisions[i], NULL);
      for (j = 0; j < 2; j++)
        {
          gsize n = parts[j + 1] - parts[j];
          g_autoptr (AprTensor) x = matrix_new (n, p, values + parts[j] * p);
          g_autoptr (AprTensor) y = vector_new (n, targets + parts[j]);
          g_autoptr (AprTensor) w = weighted ? vector_new (n, weights + parts[j]) : NULL;
          g_autoptr (GError) error = NULL;

          g_assert_true (apr_linear_regression_partial_fit (models[i], x, y, w, NULL, &error));
          g_assert_no_error (error);
        }
      g_assert_cmpuint (apr_linear_regression_get_rank (models[i]), ==, p - 1);
      coefficients[i] = apr_linear_regression_get_coefficients (models[i]);
      intercept = apr_linear_regression_get_intercept (models[i]);
      intercepts[i] = apr_tensor_get_double (intercept, 0, NULL);
    }

  for (j = 0; j < p; j++)
    g_assert_cmpfloat (fabs (apr_tensor_get_double (coefficients[1], j, NULL) -
                             apr_tensor_get_double (coefficients[0], j, NULL)),
                       <=, 1e-13 * (double) p);
  g_assert_cmpfloat (fabs (intercepts[1] - intercepts[0]), <=, 1e-13 * (double) (p * p) * fabs (offset));
  for (i = 0; i < 2; i++)
    {
      apr_tensor_unref (coefficients[i]);
      g_object_unref (models[i]);
    }
}

static void
test_offset_in_double (void)
{
  g_test_summary ("Sums in double keep their digits where features are far from 0.");
  check_offset (3, 1e8, FALSE);
  check_offset (3, 1e8, TRUE);
  check_offset (3, 1e12, FALSE);
  check_offset (41, 1e8, FALSE);
  check_offset (41, -1e6, TRUE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add_func ("/linear-regression/" path, function)
  ADD ("wrong-enumerations", test_wrong_enumerations);
  ADD ("properties", test_properties);
  ADD ("fit/years", test_years);
  ADD ("fit/notifies-in-one-go", test_notifies_in_one_go);
  ADD ("fit/dtypes", test_dtypes);
  ADD ("fit/other-dtypes-are-refused", test_other_dtypes_are_refused);
  ADD ("fit/several-targets", test_several_targets);
  ADD ("fit/column-of-targets", test_column_of_targets_keeps_its_shape);
  ADD ("fit/weight-laws", test_weight_laws);
  ADD ("fit/dependent-columns", test_dependent_columns);
  ADD ("fit/more-features-than-samples", test_more_features_than_samples);
  ADD ("fit/one-sample", test_one_sample);
  ADD ("fit/minimum-norm-of-many-features", test_minimum_norm_of_many_features);
  ADD ("fit/scaling-by-powers-of-two", test_scaling_by_powers_of_two);
  ADD ("fit/small-beside-large", test_small_coefficient_beside_a_large_column);
  ADD ("fit/bad-data", test_bad_data);
  ADD ("fit/coefficient-out-of-range", test_coefficient_out_of_range);
  ADD ("fit/offset-in-double", test_offset_in_double);
  ADD ("fit-async", test_fit_async);
  ADD ("fit-async/cancelled", test_fit_async_is_cancelled);
#undef ADD

  return g_test_run ();
}
