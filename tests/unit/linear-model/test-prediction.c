/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#include "aprender/linear-model/apr-linear-results-private.h"
#include "aprender/linear-model/apr-prediction-private.h"

/* Every kernel, over any number of threads, and predict_one(), against one product after the other. */

static double
draw_any (GRand *rand, AprDType dtype)
{
  switch (g_rand_int_range (rand, 0, 8))
    {
    case 0:
      return 0;
    case 1:
      return -0.0;
    case 2:
      return draw (rand, DRAW_SUBNORMAL, dtype == APR_DTYPE_F64 ? APR_DTYPE_F64 : APR_DTYPE_F32, 0);
    case 3:
      return draw_scaled (rand, -60, dtype == APR_DTYPE_F16 ? 15 : 60);
    default:
      return g_rand_double_range (rand, -100, 100);
    }
}

static AprTensor *
tensor_new (GRand *rand, AprDType dtype, gsize n_rows, gsize n_columns)
{
  g_autofree double *values = g_new (double, n_rows *n_columns);
  g_autoptr (AprTensor) doubles = NULL;
  AprTensor *tensor;
  gsize i;

  for (i = 0; i < n_rows * n_columns; i++)
    values[i] = draw_any (rand, dtype);
  doubles = matrix_new (n_rows, n_columns, values);
  tensor = apr_tensor_cast (doubles, dtype, NULL);
  g_assert_nonnull (tensor);

  return tensor;
}

/* In the order that the documentation gives; volatile, so that every operation is rounded on its own. */
static double
expect (AprTensor *coefficients, AprTensor *intercept, AprTensor *x, gsize row, gsize target)
{
  gsize n = apr_tensor_get_shape (x, NULL)[1];
  volatile double sum = 0;
  volatile double product;
  volatile float narrow;
  gsize i;

  for (i = 0; i < n; i++)
    {
      product = element (x, row * n + i) * element (coefficients, target * n + i);
      sum += product;
    }
  sum += element (intercept, target);
  narrow = (float) sum;

  return apr_tensor_get_dtype (coefficients) == APR_DTYPE_F32 ? (double) narrow : sum;
}

static void
check_predictions (AprTensor *coefficients,
                   AprTensor *intercept,
                   AprTensor *x,
                   const AprPredictionKernel *kernel,
                   guint n_threads)
{
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  gsize n_targets = apr_tensor_get_n_elements (intercept);
  gboolean wide = apr_tensor_get_dtype (coefficients) == APR_DTYPE_F64;
  gsize width = wide ? sizeof (double) : sizeof (float);
  /* Just as large: a sanitizer sees what is written beyond it. */
  g_autofree guint8 *data = g_malloc (n_rows * n_targets * width);
  gsize i;

  g_assert_true (
    apr_prediction_run (coefficients, intercept, x, kernel, &(AprRun){ .n_threads = n_threads }, data));
  for (i = 0; i < n_rows * n_targets; i++)
    {
      double actual = wide ? ((double *) (gpointer) data)[i] : (double) ((float *) (gpointer) data)[i];

      assert_same_double (actual, expect (coefficients, intercept, x, i / n_targets, i % n_targets));
    }
}

static void
test_kernels (void)
{
  const AprDType x_dtypes[] = { APR_DTYPE_F32, APR_DTYPE_F64, APR_DTYPE_F16, APR_DTYPE_BF16 };
  const AprPredictionKernel *const *kernels = apr_prediction_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  gsize round;
  gsize i;

  g_test_summary ("A prediction has the same bits on every processor: no sum is taken in another order.");
  for (round = 0; round < 300; round++)
    {
      AprDType dtype = round % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      AprDType x_dtype = x_dtypes[round / 2 % G_N_ELEMENTS (x_dtypes)];
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, 45);
      gsize n_features = (gsize) g_rand_int_range (rand, 1, 35);
      gsize n_targets = round % 3 == 0 ? (gsize) g_rand_int_range (rand, 2, 11) : 1;
      g_autoptr (AprTensor) coefficients = tensor_new (rand, dtype, n_targets, n_features);
      g_autoptr (AprTensor) intercept = tensor_new (rand, dtype, 1, n_targets);
      g_autoptr (AprTensor) x = tensor_new (rand, x_dtype, n_rows, n_features);

      for (i = 0; kernels[i] != NULL; i++)
        check_predictions (coefficients, intercept, x, kernels[i], 1);
    }
}

static void
test_threads (void)
{
  const guint n_threads[] = { 0, 1, 2, 7 };
  const gsize widths[] = { 1, 3, 11, 30 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  gsize i;

  /* Enough for seven. The last rows are no whole vector, and the last turn is no whole one. */
  for (i = 0; i < 2 * G_N_ELEMENTS (n_threads); i++)
    {
      AprDType dtype = i % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      gsize n = widths[i / 2];
      g_autoptr (AprTensor) coefficients = tensor_new (rand, dtype, 1, n);
      g_autoptr (AprTensor) intercept = tensor_new (rand, dtype, 1, 1);
      g_autoptr (AprTensor) x = tensor_new (rand, dtype, 1100013 / n, n);

      check_predictions (coefficients, intercept, x, NULL, n_threads[i % G_N_ELEMENTS (n_threads)]);
    }
}

static void
test_wide (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (AprTensor) coefficients = tensor_new (rand, APR_DTYPE_F32, 2, 5001);
  g_autoptr (AprTensor) intercept = tensor_new (rand, APR_DTYPE_F32, 1, 2);
  g_autoptr (AprTensor) x = tensor_new (rand, APR_DTYPE_F64, 70, 5001);

  check_predictions (coefficients, intercept, x, NULL, 3);
}

static void
test_not_finite (void)
{
  const AprPredictionKernel *const *kernels = apr_prediction_kernels ();
  const AprDType dtypes[] = { APR_DTYPE_F32, APR_DTYPE_F64, APR_DTYPE_F16 };
  const gsize n_features[] = { 1, 2, 4, 7, 10 };
  const double strange[] = { NAN, INFINITY, -INFINITY };
  g_autoptr (GRand) rand = g_rand_new_with_seed (14);
  gsize round;
  gsize k;

  g_test_summary ("Where a NaN or an infinity is in X, even before a coefficient of 0, it is told.");
  for (k = 0; kernels[k] != NULL; k++)
    for (round = 0; round < 300; round++)
      {
        gsize n = n_features[round % G_N_ELEMENTS (n_features)];
        gsize n_rows = (gsize) g_rand_int_range (rand, 1, 40);
        gsize n_targets = round % 2 == 0 ? 1 : 5;
        gsize place = (gsize) g_rand_int_range (rand, 0, (gint) (n_rows * n));
        g_autofree double *values = g_new0 (double, n_rows *n);
        g_autofree double *predictions = g_new (double, n_rows *n_targets);
        g_autofree double *zeros = g_new0 (double, n_targets *n);
        g_autoptr (AprTensor) doubles = NULL;
        g_autoptr (AprTensor) finite = matrix_new (n_rows, n, values);
        g_autoptr (AprTensor) wide = matrix_new (n_targets, n, zeros);
        g_autoptr (AprTensor) intercept = vector_new (n_targets, zeros);
        g_autoptr (AprTensor) coefficients =
          apr_tensor_cast (wide, round % 3 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32, NULL);
        g_autoptr (AprTensor) x = NULL;

        values[place] = strange[round % G_N_ELEMENTS (strange)];
        doubles = matrix_new (n_rows, n, values);
        x = apr_tensor_cast (doubles, dtypes[round % G_N_ELEMENTS (dtypes)], NULL);
        g_assert_false (apr_prediction_run (coefficients, intercept, x, kernels[k],
                                            &(AprRun){ .n_threads = 1 }, predictions));
        g_assert_true (apr_prediction_run (coefficients, intercept, finite, kernels[k],
                                           &(AprRun){ .n_threads = 1 }, predictions));
      }
}

static AprLinearRegression *
model_new (AprDType dtype, AprTensor *x, AprTensor *y)
{
  AprLinearRegression *model = apr_linear_regression_new ();
  GError *error = NULL;

  apr_linear_regression_set_dtype (model, dtype);
  apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error);
  g_assert_no_error (error);

  return model;
}

static AprLinearRegression *
random_model_new (GRand *rand, AprDType dtype, gsize n_features, gsize n_targets)
{
  gsize n_samples = 2 * n_features + 5;
  g_autofree double *values = g_new (double, n_samples *(n_features + n_targets));
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < n_samples * (n_features + n_targets); i++)
    values[i] = g_rand_double_range (rand, -1, 1);
  x = matrix_new (n_samples, n_features, values);
  y = matrix_new (n_samples, n_targets, values + n_samples * n_features);

  return model_new (dtype, x, y);
}

static void
test_one (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  gsize n_features;

  g_test_summary ("One sample's prediction is its row of the prediction of all, bit for bit.");
  for (n_features = 1; n_features < 24; n_features++)
    {
      AprDType dtype = n_features % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      g_autoptr (AprLinearRegression) model = random_model_new (rand, dtype, n_features, 1);
      g_autofree double *row = g_new (double, n_features);
      g_autoptr (AprTensor) x = tensor_new (rand, APR_DTYPE_F64, 50, n_features);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
      gsize i;
      gsize j;

      g_assert_no_error (error);
      for (i = 0; i < 50; i++)
        {
          for (j = 0; j < n_features; j++)
            row[j] = element (x, i * n_features + j);
          assert_same_double (apr_linear_regression_predict_one (model, row, n_features, &error),
                              element (predictions, i));
          g_assert_no_error (error);
        }
    }
}

static void
test_environment (void)
{
  const double tiny[] = { 0x1p-1074, 3 };
  g_autoptr (AprTensor) x = matrix_new (3, 2, (double[]){ 1, 0, 0, 1, 2, 5 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1.0 / 3, 0.1, 7.7 });
  g_autoptr (AprLinearRegression) model = model_new (APR_DTYPE_F32, x, y);
  g_autoptr (AprTensor) row = matrix_new (1, 2, tiny);
  double expected = apr_linear_regression_predict_one (model, tiny, 2, NULL);
  const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  gsize i;

  g_test_summary ("A program that rounds otherwise gets the same predictions, and keeps its rounding.");
  for (i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      float prediction;
      gboolean predicted;
      double one;
      int mode;

      fesetround (modes[i]);
      one = apr_linear_regression_predict_one (model, tiny, 2, NULL);
      predicted = apr_linear_regression_predict_into (model, row, &prediction, sizeof prediction, NULL);
      mode = fegetround ();
      fesetround (FE_TONEAREST);

      g_assert_true (predicted);
      g_assert_cmpint (mode, ==, modes[i]);
      assert_same_double (one, expected);
      assert_same_double ((double) prediction, expected);
    }
}

static void
test_one_overflow (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (double[]){ 0, 1, 2 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 0, 1e300, 2e300 });
  g_autoptr (AprLinearRegression) model = model_new (APR_DTYPE_F64, x, y);
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Finite data whose prediction is too large give an infinity, not an error, as predict does.");
  assert_same_double (apr_linear_regression_predict_one (model, (double[]){ 1e10 }, 1, &error), INFINITY);
  g_assert_no_error (error);
}

static void
test_score_overflow (void)
{
  const double large = 1e308;
  const double x_values[] = { 1, 10 }, y_values[] = { 1, 2 };
  g_autoptr (AprTensor) one = matrix_new (1, 1, &(const double){ 1 });
  g_autoptr (AprTensor) target = vector_new (1, &large);
  g_autoptr (AprTensor) x = matrix_new (2, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (2, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (one, target, NULL, FALSE);
  g_autoptr (GError) error = NULL;

  g_test_summary ("Predictions that are too large to be scored are called what they are.");

  g_assert_cmpfloat (apr_estimator_score (APR_ESTIMATOR (model), x, y, NULL, &error), ==, 0);
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  g_assert_cmpstr (error->message, ==, "The prediction has an infinity at row 1 (counted from 0)");
}

static void
test_overflow (void)
{
  const AprPredictionKernel *const *kernels = apr_prediction_kernels ();
  float expected[20];
  float predictions[20];
  gsize k;
  gsize i;

  g_test_summary (
    "A sum that is too large for a float is an infinity, in a vector's rows as in those after.");
  for (k = 0; kernels[k] != NULL; k++)
    {
      double values[20];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) one = matrix_new (1, 1, (double[]){ 1 });
      g_autoptr (AprTensor) zero = vector_new (1, (double[]){ 0 });
      g_autoptr (AprTensor) coefficients = apr_tensor_cast (one, APR_DTYPE_F32, NULL);

      for (i = 0; i < 20; i++)
        {
          values[i] = i % 3 == 0 ? -1e39 : (double) i;
          expected[i] = i % 3 == 0 ? -INFINITY : (float) i;
        }
      x = matrix_new (20, 1, values);
      g_assert_true (
        apr_prediction_run (coefficients, zero, x, kernels[k], &(AprRun){ .n_threads = 1 }, predictions));
      g_assert_cmpmem (predictions, sizeof predictions, expected, sizeof expected);
    }
}

static void
test_one_errors (void)
{
  g_autoptr (AprLinearRegression) unfitted = apr_linear_regression_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (AprLinearRegression) model = random_model_new (rand, APR_DTYPE_F64, 3, 1);
  g_autoptr (AprLinearRegression) two = random_model_new (rand, APR_DTYPE_F64, 3, 2);
  const double row[] = { 1, 2, 3, 4 };
  g_autoptr (GError) error = NULL;

  assert_same_double (apr_linear_regression_predict_one (unfitted, row, 3, &error), 0);
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  assert_same_double (apr_linear_regression_predict_one (model, row, 4, &error), 0);
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "4 features");
  g_clear_error (&error);

  assert_same_double (apr_linear_regression_predict_one (two, row, 3, &error), 0);
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "2 targets");
  g_clear_error (&error);

  assert_same_double (apr_linear_regression_predict_one (model, (double[]){ 1, NAN, 2 }, 3, &error), 0);
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "feature 1");
}

static void
test_into (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  guint round;

  for (round = 0; round < 8; round++)
    {
      AprDType dtype = round % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      gsize n_targets = 1 + round / 2;
      g_autoptr (AprLinearRegression) model = random_model_new (rand, dtype, 5, n_targets);
      g_autoptr (AprTensor) x = tensor_new (rand, APR_DTYPE_F32, 33, 5);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
      gsize size = g_bytes_get_size (apr_tensor_get_bytes (predictions));
      g_autofree gpointer data = g_malloc (size);

      g_assert_no_error (error);
      g_assert_true (apr_linear_regression_predict_into (model, x, data, size, &error));
      g_assert_no_error (error);
      swap_on_big_endian (data, 33 * n_targets, size / (33 * n_targets));
      g_assert_cmpmem (data, size, g_bytes_get_data (apr_tensor_get_bytes (predictions), NULL), size);
    }
}

static void
test_into_errors (void)
{
  g_autoptr (AprLinearRegression) unfitted = apr_linear_regression_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  g_autoptr (AprLinearRegression) model = random_model_new (rand, APR_DTYPE_F64, 2, 1);
  g_autoptr (AprTensor) x = matrix_new (2, 2, (double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) narrow = matrix_new (2, 1, (double[]){ 1, 2 });
  g_autoptr (AprTensor) strange = matrix_new (2, 2, (double[]){ 1, 2, 3, INFINITY });
  g_autoptr (AprTensor) none = matrix_new (0, 2, NULL);
  g_autoptr (GError) error = NULL;
  double predictions[3] = { 5, 5, 5 };

  g_assert_false (apr_linear_regression_predict_into (unfitted, x, predictions, 16, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  g_assert_false (apr_linear_regression_predict_into (model, x, predictions, 24, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "16 bytes, but there is memory for 24");
  assert_same_double (predictions[0], 5);
  g_clear_error (&error);

  g_assert_false (apr_linear_regression_predict_into (model, narrow, predictions, 16, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);

  g_assert_false (apr_linear_regression_predict_into (model, strange, predictions, 16, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "row 1, column 1");
  g_clear_error (&error);

  g_assert_true (apr_linear_regression_predict_into (model, none, NULL, 0, &error));
  g_assert_no_error (error);
}

static void
test_bad_data (void)
{
  const double values[] = { 1, 2, 3, 5 };
  const double bad[] = { 1, NAN, 3, 5 };
  const double worse[] = { 1, 2, INFINITY, 5 };
  const double huge[] = { DBL_MAX };
  g_autoptr (AprTensor) x = matrix_new (4, 1, values);
  const double doubled[] = { 2, 4, 6, 10 };
  g_autoptr (AprTensor) y = vector_new (4, doubled);
  g_autoptr (AprTensor) nan = matrix_new (4, 1, bad);
  g_autoptr (AprTensor) infinite = matrix_new (4, 1, worse);
  g_autoptr (AprTensor) great = matrix_new (1, 1, huge);
  g_autoptr (AprTensor) none = matrix_new (0, 1, NULL);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) no_predictions = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_estimator_predict (APR_ESTIMATOR (model), nan, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "X has a NaN at row 1, column 0");
  g_clear_error (&error);
  g_assert_null (apr_estimator_predict (APR_ESTIMATOR (model), infinite, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "X has an infinity at row 2, column 0");
  g_clear_error (&error);

  /* What overflows from finite data is an infinity, as in C. */
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), great, &error);
  g_assert_no_error (error);
  assert_same_double (element (predictions, 0), INFINITY);

  no_predictions = apr_estimator_predict (APR_ESTIMATOR (model), none, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (no_predictions), ==, 0);
}

static void
test_takes_all_numbers (void)
{
  const struct
  {
    AprDType dtype;
    double other; /* what the bytes are, beside a 1 */
    const char *bytes;
    gsize size;
  } cases[] = {
    { APR_DTYPE_BOOL, 0, "\1\0", 2 },
    { APR_DTYPE_U8, 255, "\1\377", 2 },
    { APR_DTYPE_I8, -1, "\1\377", 2 },
    { APR_DTYPE_U16, 65535, "\1\0\377\377", 4 },
    { APR_DTYPE_I16, -2, "\1\0\376\377", 4 },
    { APR_DTYPE_F16, -2, "\0\x3c\0\xc0", 4 },
    { APR_DTYPE_BF16, -2, "\x80\x3f\0\xc0", 4 },
    { APR_DTYPE_U32, 4294967295, "\1\0\0\0\377\377\377\377", 8 },
    { APR_DTYPE_I32, -2, "\1\0\0\0\376\377\377\377", 8 },
    { APR_DTYPE_U64, 18446744073709551616., "\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377", 16 },
    { APR_DTYPE_I64, -2, "\1\0\0\0\0\0\0\0\376\377\377\377\377\377\377\377", 16 },
  };
  const double values[] = { 1, 2, 3 };
  const double targets[] = { 3, 5, 7 };
  const gsize shape[] = { 2, 1 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, targets);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (cases[i].bytes, cases[i].size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) two = apr_tensor_new_from_bytes (cases[i].dtype, shape, 2, bytes, &error);
      g_autoptr (AprTensor) predictions = NULL;
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (AprTensor) upper = NULL;
      double into[2];

      g_assert_no_error (error);
      predictions = apr_estimator_predict (APR_ESTIMATOR (model), two, &error);
      g_assert_no_error (error);
      assert_same_double (element (predictions, 0), 3);
      assert_same_double (element (predictions, 1), 1 + 2 * cases[i].other);

      g_assert_true (apr_linear_regression_predict_into (model, two, into, sizeof into, &error));
      g_assert_no_error (error);
      assert_same_double (into[1], 1 + 2 * cases[i].other);

      /* The samples are on the line, so that all is certain. */
      g_assert_true (apr_linear_regression_predict_interval (model, two, 0.95, APR_INTERVAL_CONFIDENCE,
                                                             &lower, &upper, &error));
      g_assert_no_error (error);
      assert_same_double (element (lower, 1), 1 + 2 * cases[i].other);
    }
}

static void
test_refuses_no_numbers (void)
{
  const double values[] = { 1, 2, 3 };
  const gsize shape[] = { 1, 1 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (GBytes) bytes = g_bytes_new ("\0\0\0\0\0\0\0\0", 8);
  g_autoptr (AprTensor) complex = apr_tensor_new_from_bytes (APR_DTYPE_C64, shape, 2, bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_estimator_predict (APR_ESTIMATOR (model), complex, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  assert_message_has (error, "X has the dtype C64");
}

static void
count_free (gpointer n_freed)
{
  ++*(int *) n_freed;
}

/* A model of one feature whose coefficient is in the memory that counts when it is freed. */
static AprLinearResults *
results_new (const double *coefficient, int *n_freed)
{
  const AprLeastSquaresOptions options = { .alpha = 0 };
  const gsize shape[] = { 1 };
  g_autoptr (GBytes) bytes =
    g_bytes_new_with_free_func (coefficient, sizeof *coefficient, count_free, n_freed);
  AprLinearResults *results = apr_linear_results_new (&options);

  g_assert_true (apr_linear_results_take_tensors (
    results, apr_tensor_new_from_bytes (APR_DTYPE_F64, shape, 1, bytes, NULL), vector_new (1, coefficient),
    NULL));

  return results;
}

static void
test_leave (void)
{
  const double coefficient = 2;
  int n_freed = 0;
  AprLinearResults *others = results_new (&coefficient, &n_freed);
  AprLinearResults *results[3];
  gsize i;

  g_test_summary ("Results that were left last are freed by who makes or unrefs others, and not before.");
  for (i = 0; i < 3; i++)
    results[i] = results_new (&coefficient, &n_freed);

  apr_linear_results_ref (results[0]);
  apr_linear_results_leave (results[0]);
  apr_linear_results_unref (apr_linear_results_ref (others));
  g_assert_cmpint (n_freed, ==, 0);

  apr_linear_results_leave (results[0]);
  apr_linear_results_leave (results[1]);
  g_assert_cmpint (n_freed, ==, 0);
  apr_linear_results_unref (apr_linear_results_ref (others));
  g_assert_cmpint (n_freed, ==, 2);

  apr_linear_results_leave (results[2]);
  g_assert_cmpint (n_freed, ==, 2);
  results[0] = results_new (&coefficient, &n_freed);
  g_assert_cmpint (n_freed, ==, 3);

  apr_linear_results_unref (results[0]);
  apr_linear_results_unref (others);
  g_assert_cmpint (n_freed, ==, 5);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/prediction/kernels", test_kernels);
  g_test_add_func ("/prediction/threads", test_threads);
  g_test_add_func ("/prediction/wide", test_wide);
  g_test_add_func ("/prediction/not-finite", test_not_finite);
  g_test_add_func ("/prediction/overflow", test_overflow);
  g_test_add_func ("/prediction/environment", test_environment);
  g_test_add_func ("/prediction/one", test_one);
  g_test_add_func ("/prediction/one/overflow", test_one_overflow);
  g_test_add_func ("/prediction/score-overflow", test_score_overflow);
  g_test_add_func ("/prediction/one/errors", test_one_errors);
  g_test_add_func ("/prediction/one/leave", test_leave);
  g_test_add_func ("/prediction/into", test_into);
  g_test_add_func ("/prediction/into/errors", test_into_errors);
  g_test_add_func ("/prediction/bad-data", test_bad_data);
  g_test_add_func ("/prediction/all-numbers", test_takes_all_numbers);
  g_test_add_func ("/prediction/no-numbers", test_refuses_no_numbers);

  return g_test_run ();
}
