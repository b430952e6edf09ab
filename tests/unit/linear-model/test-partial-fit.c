/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"
#include "tests/waiting.h"

#include <math.h>

/* A model that gets its samples piece by piece, is saved and goes on: it must be that of one fit, byte for byte. */

static AprLinearRegression *
model_new (gboolean fit_intercept)
{
  return g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, "keep-state", TRUE, NULL);
}

static GBytes *
bytes_of (AprLinearRegression *model)
{
  GError *error = NULL;
  GBytes *bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);

  g_assert_no_error (error);

  return bytes;
}

static AprLinearRegression *
reloaded (AprLinearRegression *model)
{
  g_autoptr (GBytes) bytes = bytes_of (model);
  GError *error = NULL;
  AprLinearRegression *loaded = apr_linear_regression_from_bytes (bytes, &error);

  g_assert_no_error (error);

  return loaded;
}

static void
assert_same_model (AprLinearRegression *model, AprLinearRegression *other)
{
  g_autoptr (GBytes) bytes = bytes_of (model);
  g_autoptr (GBytes) other_bytes = bytes_of (other);
  g_autoptr (AprCrossProducts) state = apr_linear_regression_get_cross_products (model);
  g_autoptr (AprCrossProducts) other_state = apr_linear_regression_get_cross_products (other);

  g_assert_true (apr_cross_products_equal (state, other_state));
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
add_rows (AprLinearRegression *model, AprTensor *x, AprTensor *y, AprTensor *w, gsize start, gsize stop)
{
  g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, start, stop, NULL);
  g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, start, stop, NULL);
  g_autoptr (AprTensor) some_w = w != NULL ? apr_tensor_slice_rows (w, start, stop, NULL) : NULL;
  GError *error = NULL;

  g_assert_true (apr_linear_regression_partial_fit (model, some_x, some_y, some_w, NULL, &error));
  g_assert_no_error (error);
}

static void
test_chunks (gconstpointer data)
{
  const NistSet *set = data;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) whole = model_new (set->fit_intercept);
  g_autoptr (GError) error = NULL;
  gsize chunks[] = { 1, 7, 0 };
  gsize n;
  gsize i;

  nist_load (set, &x, &y);
  n = apr_tensor_get_shape (x, NULL)[0];
  chunks[2] = n;
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (whole), x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  for (i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autoptr (AprLinearRegression) model = model_new (set->fit_intercept);
      gsize start;

      for (start = 0; start < n; start += chunks[i])
        {
          add_rows (model, x, y, NULL, start, MIN (n, start + chunks[i]));
          if (start / chunks[i] % 3 == 0)
            {
              AprLinearRegression *loaded = reloaded (model);

              g_object_unref (model);
              model = loaded;
            }
        }
      assert_same_model (model, whole);
    }
}

static void
test_weights (void)
{
  const double x_values[] = { 1, 2, 0.1, 5, 7, 9, 1e10, 3 };
  const double y_values[] = { 1, 3, 0.7, 8 };
  const double w_values[] = { 0.1, 2, 0, 1e-3 };
  g_autoptr (AprTensor) x = matrix_new (4, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprTensor) w = vector_new (4, w_values);
  g_autoptr (AprLinearRegression) whole = model_new (TRUE);
  g_autoptr (AprLinearRegression) model = model_new (TRUE);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (whole), x, y, w, NULL, NULL));
  add_rows (model, x, y, w, 1, 4);
  add_rows (model, x, y, w, 0, 1);
  assert_same_model (model, whole);
}

static void
test_failure_changes_nothing (void)
{
  const double x_values[] = { 1, 2, 3 };
  const double wide_values[] = { 1, 2 };
  const double y_values[] = { 2, 4, 7 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) wide = matrix_new (1, 2, wide_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprTensor) one = vector_new (1, y_values);
  g_autoptr (AprTensor) nan = vector_new (3, (const double[]){ 1, NAN, 3 });
  g_autoptr (AprTensor) tiny = matrix_new (3, 1, (const double[]){ 5e-324, 0, 0 });
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) after = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_linear_regression_partial_fit (model, x, nan, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  g_clear_error (&error);
  g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));

  add_rows (model, x, y, NULL, 0, 3);
  before = bytes_of (model);
  g_assert_false (apr_linear_regression_partial_fit (model, x, nan, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  g_clear_error (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, wide, one, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "2 features");
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (apr_linear_regression_partial_fit (model, x, y, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  /* The samples are sound, but the dtype is not: what was summed must not stay either. */
  apr_linear_regression_set_dtype (model, APR_DTYPE_I8);
  g_assert_false (apr_linear_regression_partial_fit (model, tiny, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  apr_linear_regression_set_dtype (model, APR_DTYPE_NONE);

  after = bytes_of (model);
  g_assert_true (g_bytes_equal (before, after));
}

/* As a stream may have it, from whose batch a filter took all rows away. */
static void
test_no_samples (void)
{
  const double values[] = { 1, 2, 3, 5 };
  const gsize empty_shape[] = { 0, 1 }, wide_shape[] = { 0, 2 }, narrow_shape[] = { 0, 0 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = vector_new (3, values + 1);
  g_autoptr (AprTensor) no_x = apr_tensor_new_from_doubles (NULL, 0, empty_shape, 2, NULL);
  g_autoptr (AprTensor) no_y = apr_tensor_new_from_doubles (NULL, 0, empty_shape, 1, NULL);
  g_autoptr (AprTensor) wide = apr_tensor_new_from_doubles (NULL, 0, wide_shape, 2, NULL);
  g_autoptr (AprTensor) narrow = apr_tensor_new_from_doubles (NULL, 0, narrow_shape, 2, NULL);
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) after = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_linear_regression_partial_fit (model, no_x, no_y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));

  add_rows (model, x, y, NULL, 0, 3);
  before = bytes_of (model);
  g_assert_true (apr_linear_regression_partial_fit (model, no_x, no_y, no_y, NULL, &error));
  apr_linear_regression_partial_fit_async (model, no_x, no_y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                                           &result);
  wait_for (&result);
  g_assert_true (apr_linear_regression_partial_fit_finish (model, result, &error));
  g_assert_no_error (error);

  g_assert_false (apr_linear_regression_partial_fit (model, wide, no_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "2 features");
  g_clear_error (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, no_x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, narrow, no_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_clear_error (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, no_x, narrow, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  after = bytes_of (model);
  g_assert_true (g_bytes_equal (before, after));
}

static void
test_without_the_state (void)
{
  const double x_values[] = { 1, 2, 3 };
  const double y_values[] = { 2, 4, 7 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  add_rows (model, x, y, NULL, 0, 3);
  bytes = bytes_of (model);
  reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((char **) apr_safetensors_reader_get_names (reader)), ==, 2);
  g_assert_null (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "aprender.keep_state"));

  loaded = reloaded (model);
  g_assert_null (apr_linear_regression_get_cross_products (loaded));
  g_assert_false (apr_linear_regression_partial_fit (loaded, x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  assert_message_has (error, "keep-state");
  g_clear_error (&error);

  apr_linear_regression_set_keep_state (loaded, TRUE);
  g_assert_null (apr_estimator_to_bytes (APR_ESTIMATOR (loaded), &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  g_clear_error (&error);

  /* A new fit brings the sums back. */
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (loaded), x, y, NULL, NULL, &error));
  add_rows (loaded, x, y, NULL, 0, 3);
}

static void
test_cross_products_are_a_copy (void)
{
  const double x_values[] = { 1, 2, 3 };
  const double y_values[] = { 2, 4, 7 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (AprLinearRegression) other = model_new (TRUE);
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) after = NULL;

  g_assert_null (apr_linear_regression_get_cross_products (model));
  add_rows (model, x, y, NULL, 0, 3);
  before = bytes_of (model);
  g_object_get (model, "cross-products", &state, NULL);
  g_assert_true (apr_linear_regression_fit_cross_products (other, state, NULL, NULL));
  assert_same_model (model, other);

  /* Neither what it is handed out to nor what it came from can change it. */
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  after = bytes_of (model);
  g_assert_true (g_bytes_equal (before, after));
  assert_same_model (model, other);
}

static void
test_names_stay (void)
{
  const double x_values[] = { 1, 2, 3 };
  const char *const names[] = { "height", NULL };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, x_values);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  add_rows (model, x, y, NULL, 0, 2);
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  add_rows (model, x, y, NULL, 2, 3);
  assert_feature_names (APR_ESTIMATOR (model), names);
}

static void
test_hyper_parameters_may_change (void)
{
  const double x_values[] = { 1, 2, 3 };
  const double y_values[] = { 2, 4, 7 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (AprLinearRegression) whole = model_new (FALSE);
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;

  add_rows (model, x, y, NULL, 0, 1);
  apr_linear_regression_set_fit_intercept (model, FALSE);

  /* The file tells both what the next fit does and what the last one did. */
  loaded = reloaded (model);
  assert_same_model (loaded, model);
  bytes = bytes_of (loaded);
  reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_assert_cmpstr (
    g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "aprender.fit_intercept"), ==,
    "false");
  g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader),
                                        "aprender.cross_products.fit_intercept"),
                   ==, "true");

  add_rows (loaded, x, y, NULL, 1, 3);
  add_rows (whole, x, y, NULL, 0, 3);
  assert_same_model (loaded, whole);
}

/* A file whose metadata have @value for @key, or not even the key where that is %NULL. */
static GBytes *
altered_file (const char *key, const char *value, const char *without_tensor)
{
  const double x_values[] = { 1, 2, 3 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, x_values);
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GBytes) bytes = NULL;
  const char *const *names;
  GHashTableIter iter;
  gpointer iter_key;
  gpointer iter_value;

  add_rows (model, x, y, NULL, 0, 3);
  bytes = bytes_of (model);
  reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  for (names = apr_safetensors_reader_get_names (reader); *names != NULL; names++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, *names, NULL);

      if (g_strcmp0 (*names, without_tensor) != 0)
        g_assert_true (apr_safetensors_writer_add_tensor (writer, *names, tensor, NULL));
    }
  g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
  while (g_hash_table_iter_next (&iter, &iter_key, &iter_value))
    if (strcmp (iter_key, key) != 0)
      g_assert_true (apr_safetensors_writer_set_metadata (writer, iter_key, iter_value, NULL));
  if (value != NULL)
    g_assert_true (apr_safetensors_writer_set_metadata (writer, key, value, NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_load_errors (void)
{
  const struct
  {
    const char *key;
    const char *value;
    AprError code;
  } cases[] = {
    { "aprender.cross_products.fit_intercept", "maybe", APR_ERROR_MODEL },
    { "aprender.cross_products.n_samples", "-1", APR_ERROR_MODEL },
    { "aprender.cross_products.model", "Other", APR_ERROR_MODEL },
    { "aprender.cross_products.n_features", "2", APR_ERROR_SHAPE },
    { "aprender.cross_products.n_targets", "0", APR_ERROR_MODEL },
    { "aprender.cross_products.first_word", "1000", APR_ERROR_MODEL },
    { "aprender.keep_state", "yes", APR_ERROR_MODEL },
    { "aprender.cross_products.alpha", "-1", APR_ERROR_MODEL },
    { "aprender.cross_products.alpha", "1x", APR_ERROR_MODEL },
    { "aprender.cross_products.positive", "", APR_ERROR_MODEL },
    { "aprender.condition_number", "-0.5", APR_ERROR_MODEL },
    { "aprender.correctly_rounded", "no", APR_ERROR_MODEL },
    { "aprender.dependent_features", "1", APR_ERROR_MODEL },
    { "aprender.dependent_features", "0,0", APR_ERROR_MODEL },
    { "aprender.dependent_features", "0,", APR_ERROR_MODEL },
    { "aprender.dependent_features", "0", APR_ERROR_MODEL },
    { "aprender.dependent_features", NULL, APR_ERROR_MODEL },
    { "aprender.rank", "0", APR_ERROR_MODEL },
    { "aprender.rank", NULL, APR_ERROR_MODEL },
  };
  g_autoptr (GBytes) without = altered_file ("a", "b", "cross_products.sums");
  g_autoptr (AprLinearRegression) loaded = apr_linear_regression_from_bytes (without, NULL);
  gsize i;

  g_assert_null (apr_linear_regression_get_cross_products (loaded));
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = altered_file (cases[i].key, cases[i].value, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_linear_regression_from_bytes (bytes, &error));
      g_assert_error (error, APR_ERROR, (int) cases[i].code);
    }
}

static void
test_dependent_features (void)
{
  const double x_values[] = { 1, 5, 2, 7, 2, 5, 4, 7, 3, 5, 6, 9 };
  const char *const names[] = { "a", "b", "c", "d", NULL };
  const char *const numbered[] = { "x1", "x2", NULL };
  const char *const named[] = { "b", "c", NULL };
  g_autoptr (AprTensor) x = matrix_new (3, 4, x_values);
  g_autoptr (AprTensor) y = vector_new (3, (const double[]){ 1, 2, 3 });
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_auto (GStrv) dependent = NULL;
  g_auto (GStrv) dependent_named = NULL;

  g_test_summary ("The second column is constant, the third twice the first.");
  g_assert_null (apr_linear_regression_get_dependent_features (model));
  add_rows (model, x, y, NULL, 0, 3);
  loaded = reloaded (model);
  assert_same_model (model, loaded);
  g_object_get (loaded, "dependent-features", &dependent, NULL);
  g_assert_cmpstrv (dependent, numbered);
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (loaded), names, NULL));
  dependent_named = apr_linear_regression_get_dependent_features (loaded);
  g_assert_cmpstrv (dependent_named, named);
}

static void
test_bad_alpha (void)
{
  g_autoptr (AprTensor) x = matrix_new (2, 1, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 2 });
  g_autoptr (AprLinearRegression) model = model_new (TRUE);
  const double alphas[] = { -1, NAN, INFINITY };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprLinearRegression) made =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "alpha", alphas[i], NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) error_of_made = NULL;

      apr_linear_regression_set_alpha (model, alphas[i]);
      g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      assert_message_has (error, "“alpha”");
      g_assert_false (apr_estimator_fit (APR_ESTIMATOR (made), x, y, NULL, NULL, &error_of_made));
      g_assert_error (error_of_made, APR_ERROR, APR_ERROR_RANGE);
    }
}

static void
test_file_says_no_more (void)
{
  const char *const keys[] = { "alpha",
                               "positive",
                               "keep_state",
                               "n_threads",
                               "condition_number",
                               "correctly_rounded",
                               "dependent_features" };
  g_autoptr (AprTensor) x = matrix_new (2, 1, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 2 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprEstimator) clone = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize i;

  g_test_summary ("What came later is left out of a file where it has its default; threads always are.");
  apr_linear_regression_set_n_threads (model, 3);
  add_rows (model, x, y, NULL, 0, 2);
  bytes = bytes_of (model);
  reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree char *key = g_strconcat ("aprender.", keys[i], NULL);

      g_assert_null (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), key));
    }

  clone = apr_estimator_clone (APR_ESTIMATOR (model));
  g_assert_cmpuint (apr_linear_regression_get_n_threads (APR_LINEAR_REGRESSION (clone)), ==, 3);
}

/* Orthogonal columns of lengths 2 and 8; it is worked out when it is asked for, of what the model was fitted with. */
static void
test_condition_number (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 2, (const double[]){ -1, -4, 1, -4, -1, 4, 1, 4 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 2, 3, 5 });
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (GBytes) bytes = NULL;
  double value;

  g_assert_true (isnan (apr_linear_regression_compute_condition_number (model)));
  apr_linear_regression_set_keep_state (model, TRUE);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  apr_linear_regression_set_alpha (model, 16);
  bytes = bytes_of (model);
  loaded = apr_linear_regression_from_bytes (bytes, NULL);
  value = apr_linear_regression_compute_condition_number (model);
  g_assert_cmpfloat_with_epsilon (value, 4, 1e-7);
  assert_same_double (apr_linear_regression_compute_condition_number (loaded), value);

  /* Without rows for alpha it would be 4 again: the roots of 64 + 16 and 4, of the intercept. */
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  value = apr_linear_regression_compute_condition_number (model);
  g_assert_cmpfloat_with_epsilon (value, sqrt (80.0 / 4), 1e-7);
  assert_same_double (apr_linear_regression_compute_condition_number (model), value);
}

static void
test_score (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (4, (double[]){ 1, 2, 2, 5 });
  g_autoptr (AprTensor) constant = vector_new (4, (double[]){ 7, 7, 7, 7 });
  g_autoptr (AprCrossProducts) samples = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) level = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) empty = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) wide = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) score = NULL;
  g_autoptr (AprTensor) wrong = NULL;
  GError *error = NULL;

  g_test_summary (
    "y = 1.2 x - 0.5 leaves 1.8 of 9: R² is the double nearest to 0.8; a constant target has 1 or 0.");

  g_assert_true (apr_cross_products_update (samples, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (level, x, constant, NULL, NULL, NULL));
  g_assert_null (apr_linear_regression_score_cross_products (model, samples, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  g_assert_true (apr_linear_regression_fit_cross_products (model, samples, NULL, NULL));
  score = apr_linear_regression_score_cross_products (model, samples, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (apr_tensor_get_double (score, 0, NULL), ==, 0.8);
  wrong = apr_linear_regression_score_cross_products (model, level, &error);
  g_assert_cmpfloat (apr_tensor_get_double (wrong, 0, NULL), ==, 0);
  g_assert_null (apr_linear_regression_score_cross_products (model, empty, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_score_cross_products (model, wide, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);

  g_assert_true (apr_linear_regression_fit_cross_products (model, level, NULL, NULL));
  g_clear_pointer (&score, apr_tensor_unref);
  score = apr_linear_regression_score_cross_products (model, level, &error);
  g_assert_cmpfloat (apr_tensor_get_double (score, 0, NULL), ==, 1);
}

static void
assert_no_y (GError **error)
{
  g_assert_error (*error, APR_ERROR, APR_ERROR_EMPTY);
  g_assert_nonnull (strstr ((*error)->message, "There is no y: no targets. An AprTableReader reads them if"));
  g_clear_error (error);
}

/* Who forgets set_targets() gets no y from a table: that is no mistake of a programmer in C alone. */
static void
test_forgotten_targets (void)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a,y\n1,2\n2,3\n4,5\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  AprEstimator *estimator = APR_ESTIMATOR (model);
  g_autoptr (AprTensor) targets = vector_new (3, (double[]){ 1, 3, 2 });
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  GAsyncResult *results[5] = { NULL };
  GError *error = NULL;
  gsize i;

  g_assert_true (apr_table_reader_read (reader, &x, &y, NULL, NULL, &error));
  g_assert_null (y);

  g_assert_false (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  assert_no_y (&error);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 0);
  g_assert_false (apr_estimator_fit (estimator, x, y, NULL, NULL, &error));
  assert_no_y (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, x, y, NULL, NULL, &error));
  assert_no_y (&error);
  g_assert_false (apr_estimator_get_fitted (estimator));

  apr_linear_regression_set_keep_state (model, TRUE);
  g_assert_true (apr_estimator_fit (estimator, x, targets, NULL, NULL, &error));
  g_assert_cmpfloat (apr_estimator_score (estimator, x, y, NULL, &error), ==, 0);
  assert_no_y (&error);
  g_assert_null (apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error));
  assert_no_y (&error);
  g_assert_null (
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC1, 0, NULL, &error));
  assert_no_y (&error);

  apr_cross_products_update_async (state, x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, &results[0]);
  apr_estimator_fit_async (estimator, x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, &results[1]);
  apr_linear_regression_partial_fit_async (model, x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                                           &results[2]);
  apr_estimator_score_async (estimator, x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, &results[3]);
  apr_linear_regression_diagnose_async (model, x, y, NULL, 0, G_PRIORITY_DEFAULT, NULL, on_ready,
                                        &results[4]);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    wait_for (&results[i]);
  g_assert_false (apr_cross_products_update_finish (state, results[0], &error));
  assert_no_y (&error);
  g_assert_false (apr_estimator_fit_finish (estimator, results[1], &error));
  assert_no_y (&error);
  g_assert_false (apr_linear_regression_partial_fit_finish (model, results[2], &error));
  assert_no_y (&error);
  g_assert_cmpfloat (apr_estimator_score_finish (estimator, results[3], &error), ==, 0);
  assert_no_y (&error);
  g_assert_null (apr_linear_regression_diagnose_finish (model, results[4], &error));
  assert_no_y (&error);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (nist_sets); i++)
    {
      g_autofree char *path = g_strconcat ("/partial-fit/chunks/", nist_sets[i].name, NULL);

      g_test_add_data_func (path, &nist_sets[i], test_chunks);
    }
#define ADD(path, function) g_test_add_func ("/partial-fit/" path, function)
  ADD ("weights", test_weights);
  g_test_add_func ("/linear-regression/score-cross-products", test_score);
  ADD ("failure-changes-nothing", test_failure_changes_nothing);
  ADD ("forgotten-targets", test_forgotten_targets);
  ADD ("no-samples", test_no_samples);
  ADD ("without-the-state", test_without_the_state);
  ADD ("cross-products-are-a-copy", test_cross_products_are_a_copy);
  ADD ("names-stay", test_names_stay);
  ADD ("hyper-parameters-may-change", test_hyper_parameters_may_change);
  ADD ("load-errors", test_load_errors);
  ADD ("dependent-features", test_dependent_features);
  ADD ("condition-number", test_condition_number);
  ADD ("bad-alpha", test_bad_alpha);
  ADD ("file-says-no-more", test_file_says_no_more);
#undef ADD

  return g_test_run ();
}
