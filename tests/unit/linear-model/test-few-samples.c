/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"

/* Models of far more features than samples, whose state is the samples: statistics, scores, files and more samples. */

#define N 12
#define P 1100

static AprTensor *
draw_x (gsize first, gsize n, AprDType dtype)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (15);
  g_autofree double *values = g_new (double, N *P);
  g_autoptr (AprTensor) doubles = NULL;
  gsize i;

  for (i = 0; i < N * P; i++)
    values[i] = g_rand_double (rand) - 0.4;
  doubles = matrix_new (n, P, values + first * P);

  return apr_tensor_cast (doubles, dtype, NULL);
}

static AprTensor *
draw_y (gsize first, gsize n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  double values[N];
  gsize i;

  for (i = 0; i < N; i++)
    values[i] = g_rand_double (rand);

  return vector_new (n, values + first);
}

static AprLinearRegression *
fit (gsize first, gsize n, AprDType dtype, gboolean keep_state)
{
  AprLinearRegression *model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", keep_state, "dtype", APR_DTYPE_F64, NULL);
  g_autoptr (AprTensor) x = draw_x (first, n, dtype);
  g_autoptr (AprTensor) y = draw_y (first, n);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  return model;
}

static void
assert_same_bytes (gpointer one, gpointer other)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (one, &error);
  g_autoptr (GBytes) other_bytes = apr_estimator_to_bytes (other, &error);

  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
test_file (gconstpointer data)
{
  AprDType dtype = (AprDType) GPOINTER_TO_INT (data);
  g_autoptr (AprLinearRegression) model = fit (0, N, dtype, TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprCrossProducts) state = apr_linear_regression_get_cross_products (model);
  g_autoptr (AprCrossProducts) of_loaded = NULL;
  g_autoptr (GBytes) state_bytes = apr_cross_products_to_bytes (state, &error);
  g_autoptr (AprCrossProducts) of_file = apr_cross_products_from_bytes (state_bytes, &error);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (state_bytes, &error);
  gsize size = N * P * (dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double));

  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (state_bytes), <, size + 1000);
  g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "aprender.format"), ==,
                   "2");
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "rows.x"));
  g_assert_true (apr_cross_products_equal (state, of_file));

  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
  g_assert_no_error (error);
  of_loaded = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (loaded));
  g_assert_true (apr_cross_products_equal (state, of_loaded));
  g_assert_nonnull (apr_cross_products_get_rows (of_loaded));
  apr_linear_regression_set_keep_state (APR_LINEAR_REGRESSION (loaded), TRUE);
  assert_same_bytes (model, loaded);
}

/* The same samples in parts, from a file, and in another order make the same file. */
static void
test_partial_fit (void)
{
  g_autoptr (AprLinearRegression) whole = fit (0, N, APR_DTYPE_F64, TRUE);
  g_autoptr (AprLinearRegression) part = fit (5, N - 5, APR_DTYPE_F64, TRUE);
  g_autoptr (AprTensor) x = draw_x (0, 5, APR_DTYPE_F64);
  g_autoptr (AprTensor) y = draw_y (0, 5);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (APR_ESTIMATOR (part), &error);
  g_autoptr (AprEstimator) loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);

  g_assert_no_error (error);
  apr_linear_regression_set_keep_state (APR_LINEAR_REGRESSION (loaded), TRUE);
  g_assert_true (
    apr_linear_regression_partial_fit (APR_LINEAR_REGRESSION (loaded), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  assert_same_bytes (whole, loaded);
}

/* A state of the same samples that has sums: some were subtracted from more than are few. */
static AprCrossProducts *
make_sums (void)
{
  AprCrossProducts *state = apr_cross_products_new (P, 1, NULL);
  g_autoptr (AprCrossProducts) rest = apr_cross_products_new (P, 1, NULL);
  g_autoptr (AprTensor) x = draw_x (0, N, APR_DTYPE_F64);
  g_autoptr (AprTensor) y = draw_y (0, N);
  g_autofree double *zeros = g_new0 (double, P *P);
  g_autoptr (AprTensor) many = matrix_new (P, P, zeros);
  g_autoptr (AprTensor) targets = vector_new (P, zeros);

  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (rest, many, targets, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_merge (state, rest, NULL));
  g_assert_true (apr_cross_products_subtract (state, rest, NULL));
  g_assert_null (apr_cross_products_get_rows (state));

  return state;
}

static void
assert_nearly_equal (double actual, double expected)
{
  if (isnan (expected) && isnan (actual))
    return;
  g_assert_cmpfloat_with_epsilon (actual, expected, 1e-14 * (1 + ABS (expected)));
}

/* Samples tell the same as their sums: with some taken twice, so that the fit is not perfect. */
static void
test_statistics (void)
{
  g_autoptr (AprLinearRegression) model = fit (0, N, APR_DTYPE_F64, FALSE);
  g_autoptr (AprLinearRegression) other = apr_linear_regression_new ();
  g_autoptr (AprCrossProducts) sums = make_sums ();
  g_autoptr (AprCrossProducts) rows = apr_linear_regression_get_cross_products (model);
  g_autoptr (AprTensor) x = draw_x (0, N, APR_DTYPE_F64);
  g_autofree double *values = g_new0 (double, N);
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) expected = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) expected_scores = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  /* Other targets for the same samples leave residuals. */
  values[3] = 1;
  y = vector_new (N, values);
  g_assert_true (apr_cross_products_equal (rows, sums));
  g_assert_true (apr_cross_products_update (rows, x, y, NULL, NULL, &error));
  g_assert_nonnull (apr_cross_products_get_rows (rows));
  g_assert_true (apr_cross_products_update (sums, x, y, NULL, NULL, &error));
  g_assert_true (apr_linear_regression_fit_cross_products (model, rows, NULL, &error));
  g_assert_true (apr_linear_regression_fit_cross_products (other, sums, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_get_correctly_rounded (model));
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, N - 1);
  g_assert_true (apr_tensor_equal (coefficients_of (model), coefficients_of (other)));
  g_assert_true (apr_tensor_equal (intercept_of (model), intercept_of (other)));

  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);
  expected = apr_linear_regression_get_statistics (other, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==, N);
  assert_nearly_equal (apr_regression_statistics_get_r_squared (statistics),
                       apr_regression_statistics_get_r_squared (expected));
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (statistics)), ==, P + 1);
  for (i = 0; i <= P; i += 7)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), (guint) i);
      g_autoptr (AprTerm) expected_term = g_list_model_get_item (G_LIST_MODEL (expected), (guint) i);

      assert_nearly_equal (apr_term_get_estimate (term), apr_term_get_estimate (expected_term));
      assert_nearly_equal (apr_term_get_standard_error (term), apr_term_get_standard_error (expected_term));
    }

  scores = apr_linear_regression_score_cross_products (model, rows, &error);
  g_assert_no_error (error);
  expected_scores = apr_linear_regression_score_cross_products (other, sums, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (scores, expected_scores));
}

/* What no such file may hold. */
static void
test_wrong_files (void)
{
  const struct
  {
    const char *key;
    const char *value;
    gsize n;
    double weight;
    int code;
    const char *message;
  } cases[] = {
    { "aprender.n_samples", "2", 3, 1, APR_ERROR_SHAPE,
      "The tensor “rows.x” must be F32 or F64 of 2 rows and 1024 columns, but it is F64 [3, 1024]" },
    { "aprender.n_samples", "600", 3, 1, APR_ERROR_MODEL,
      "A file of 600 samples of 1024 features must hold their sums" },
    { "aprender.n_samples", "0", 3, 1, APR_ERROR_MODEL, "A file of 0 samples" },
    { "aprender.precision", "double", 3, 1, APR_ERROR_MODEL, "Samples are never of the precision “double”" },
    { "aprender.precision", "exact", 3, 0, APR_ERROR_MODEL,
      "The tensor “rows.sample_weight” has a weight of 0" },
    { "aprender.precision", "exact", 3, -1, APR_ERROR_WEIGHTS, "sample_weight has the negative value" },
    { "aprender.format", "1", 3, 1, APR_ERROR_MODEL, "first_word" },
    { "aprender.format", "4", 3, 1, APR_ERROR_MODEL, "cannot be “4”" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autofree double *zeros = g_new0 (double, cases[i].n * 1024);
      g_autoptr (AprTensor) x = matrix_new (cases[i].n, 1024, zeros);
      g_autoptr (AprTensor) y = matrix_new (cases[i].n, 1, zeros);
      g_autoptr (AprTensor) weights = vector_new (3, (double[]){ 1, 2, cases[i].weight });
      const char *const metadata[][2] = {
        { "aprender.model", "AprCrossProducts" },
        { "aprender.format", "2" },
        { "aprender.dtype", "F64" },
        { "aprender.n_features", "1024" },
        { "aprender.n_targets", "1" },
        { "aprender.n_samples", "3" },
        { "aprender.precision", "exact" },
      };
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprCrossProducts) state = NULL;
      g_autoptr (GError) error = NULL;
      gsize j;

      for (j = 0; j < G_N_ELEMENTS (metadata); j++)
        g_assert_true (apr_safetensors_writer_set_metadata (writer, metadata[j][0], metadata[j][1], NULL));
      g_assert_true (apr_safetensors_writer_set_metadata (writer, cases[i].key, cases[i].value, NULL));
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "rows.x", x, NULL));
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "rows.y", y, NULL));
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "rows.sample_weight", weights, NULL));
      bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
      g_assert_no_error (error);
      state = apr_cross_products_from_bytes (bytes, &error);
      g_assert_null (state);
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].message);
    }
}

/* A tensor without dimensions has no first one to look at. */
static void
test_scalars (void)
{
  const char *const names[] = { "rows.x", "rows.y", "rows.sample_weight" };
  const char *const metadata[][2] = {
    { "aprender.model", "AprCrossProducts" }, { "aprender.format", "2" },    { "aprender.dtype", "F64" },
    { "aprender.n_features", "1024" },        { "aprender.n_targets", "1" }, { "aprender.n_samples", "3" },
  };
  g_autofree double *zeros = g_new0 (double, 3 * 1024);
  g_autoptr (AprTensor) x = matrix_new (3, 1024, zeros);
  g_autoptr (AprTensor) y = matrix_new (3, 1, zeros);
  g_autoptr (AprTensor) weights = vector_new (3, (double[]){ 1, 2, 3 });
  g_autoptr (AprTensor) scalar = apr_tensor_new_from_doubles (zeros, 1, NULL, 0, NULL);
  AprTensor *const tensors[] = { x, y, weights };
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprCrossProducts) state = NULL;
      g_autoptr (GError) error = NULL;

      for (j = 0; j < G_N_ELEMENTS (metadata); j++)
        g_assert_true (apr_safetensors_writer_set_metadata (writer, metadata[j][0], metadata[j][1], NULL));
      for (j = 0; j < G_N_ELEMENTS (names); j++)
        g_assert_true (
          apr_safetensors_writer_add_tensor (writer, names[j], i == j ? scalar : tensors[j], NULL));
      bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
      g_assert_no_error (error);
      state = apr_cross_products_from_bytes (bytes, &error);
      g_assert_null (state);
      g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
      assert_message_has (error, names[i]);
      assert_message_has (error, "but it is F64 []");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/few-samples/file/floats", GINT_TO_POINTER (APR_DTYPE_F32), test_file);
  g_test_add_data_func ("/few-samples/file/doubles", GINT_TO_POINTER (APR_DTYPE_F64), test_file);
  g_test_add_func ("/few-samples/partial-fit", test_partial_fit);
  g_test_add_func ("/few-samples/statistics", test_statistics);
  g_test_add_func ("/few-samples/wrong-files", test_wrong_files);
  g_test_add_func ("/few-samples/scalars", test_scalars);

  return g_test_run ();
}
