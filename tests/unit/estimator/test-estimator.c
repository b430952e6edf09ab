/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

#include <glib/gstdio.h>
#include <math.h>

/* A subclass as a user would write it: predicts the mean of the targets, plus an offset. It misbehaves on demand. */

#define TEST_TYPE_MEAN (test_mean_get_type ())
G_DECLARE_FINAL_TYPE (TestMean, test_mean, TEST, MEAN, AprEstimator)

struct _TestMean
{
  AprEstimator parent_instance;
  double offset;
  AprTensor *mean;
  gboolean fail_silently;
  gboolean predict_too_few;
};

/* What a file is said to hold. */
static gsize loaded_n_features = 2;
static gsize loaded_n_targets = 1;

G_DEFINE_FINAL_TYPE (TestMean, test_mean, APR_TYPE_ESTIMATOR)

static gboolean
test_mean_fit (AprEstimator *estimator,
               AprTensor *x,
               AprTensor *y,
               AprTensor *sample_weight,
               GCancellable *cancellable,
               GError **error)
{
  TestMean *self = TEST_MEAN (estimator);
  gsize n;
  const double *values = apr_tensor_get_doubles (y, &n, error);
  double sum = 0;
  gsize i;

  if (values == NULL || self->fail_silently || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  for (i = 0; i < n; i++)
    sum += values[i];
  sum /= (double) n;
  g_clear_pointer (&self->mean, apr_tensor_unref);
  self->mean = vector_new (1, &sum);

  return TRUE;
}

static AprTensor *
test_mean_predict (AprEstimator *estimator, AprTensor *x, GError **error)
{
  TestMean *self = TEST_MEAN (estimator);
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  g_autofree double *values = NULL;
  gsize i;

  if (self->fail_silently)
    return NULL;

  n -= self->predict_too_few ? 1 : 0;
  values = g_new (double, n);
  for (i = 0; i < n; i++)
    values[i] = element (self->mean, 0) + self->offset;

  return vector_new (n, values);
}

static gboolean
test_mean_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error)
{
  if (TEST_MEAN (estimator)->fail_silently)
    return FALSE;

  return apr_safetensors_writer_add_tensor (writer, "mean", TEST_MEAN (estimator)->mean, error);
}

static gboolean
test_mean_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error)
{
  TEST_MEAN (estimator)->mean = apr_safetensors_reader_get_tensor (reader, "mean", error);
  *n_features = loaded_n_features;
  *n_targets = loaded_n_targets;

  return TEST_MEAN (estimator)->mean != NULL;
}

static void
test_mean_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  TEST_MEAN (object)->offset = g_value_get_double (value);
}

static void
test_mean_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  g_value_set_double (value, TEST_MEAN (object)->offset);
}

static void
test_mean_finalize (GObject *object)
{
  g_clear_pointer (&TEST_MEAN (object)->mean, apr_tensor_unref);
  G_OBJECT_CLASS (test_mean_parent_class)->finalize (object);
}

static void
test_mean_class_init (TestMeanClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  AprEstimatorClass *estimator_class = APR_ESTIMATOR_CLASS (klass);

  object_class->set_property = test_mean_set_property;
  object_class->get_property = test_mean_get_property;
  object_class->finalize = test_mean_finalize;
  estimator_class->fit = test_mean_fit;
  estimator_class->predict = test_mean_predict;
  estimator_class->save_tensors = test_mean_save_tensors;
  estimator_class->load_tensors = test_mean_load_tensors;

  g_object_class_install_property (
    object_class, 1,
    g_param_spec_double ("offset", NULL, NULL, -10, 10, 0, G_PARAM_READWRITE | G_PARAM_CONSTRUCT));
}

static void
test_mean_init (TestMean *self)
{
}

typedef struct
{
  AprEstimator *model;
  AprTensor *x;
  AprTensor *y;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const double x[] = { 1, 2, 3, 4, 5, 6 };
  const double y[] = { 1, 2, 6 };

  fixture->model = g_object_new (TEST_TYPE_MEAN, "offset", 0.5, NULL);
  fixture->x = matrix_new (3, 2, x);
  fixture->y = vector_new (3, y);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_assert_finalize_object (fixture->model);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
}

static void
fit (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
count_cb (GObject *object, GParamSpec *pspec, gpointer user_data)
{
  ++*(int *) user_data;
}

static void
test_fit_notifies (Fixture *fixture, gconstpointer data)
{
  int n_fitted = 0;
  int n_features = 0;

  g_signal_connect (fixture->model, "notify::fitted", G_CALLBACK (count_cb), &n_fitted);
  g_signal_connect (fixture->model, "notify::n-features", G_CALLBACK (count_cb), &n_features);
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  g_assert_cmpuint (apr_estimator_get_n_features (fixture->model), ==, 0);

  fit (fixture);
  g_assert_true (apr_estimator_get_fitted (fixture->model));
  g_assert_cmpuint (apr_estimator_get_n_features (fixture->model), ==, 2);
  g_assert_cmpuint (apr_estimator_get_n_targets (fixture->model), ==, 1);
  g_assert_cmpint (n_fitted, ==, 1);
  g_assert_cmpint (n_features, ==, 1);

  fit (fixture);
  g_assert_cmpint (n_fitted, ==, 1);
  g_assert_cmpint (n_features, ==, 1);
}

static void
test_properties (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "a", "b", NULL };
  g_auto (GStrv) read_names = NULL;
  guint64 n_features;
  guint64 n_targets;
  gboolean fitted;

  fit (fixture);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, NULL));
  g_object_get (fixture->model, "fitted", &fitted, "n-features", &n_features, "n-targets", &n_targets,
                "feature-names", &read_names, NULL);
  g_assert_true (fitted);
  g_assert_cmpuint (n_features, ==, 2);
  g_assert_cmpuint (n_targets, ==, 1);
  g_assert_cmpstrv (read_names, names);
}

static void
test_fit_arguments (Fixture *fixture, gconstpointer data)
{
  const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  const gsize bytes_shape[] = { 3, 2 };
  const gsize cube_shape[] = { 3, 1, 1 };
  const gsize no_columns_shape[] = { 3, 0 };
  g_autoptr (AprTensor) flat = vector_new (6, values);
  g_autoptr (AprTensor) four = vector_new (4, values);
  g_autoptr (AprTensor) cube = apr_tensor_new_from_doubles (values, 3, cube_shape, 3, NULL);
  g_autoptr (AprTensor) no_rows = matrix_new (0, 2, NULL);
  g_autoptr (AprTensor) no_columns = apr_tensor_new_from_doubles (NULL, 0, no_columns_shape, 2, NULL);
  g_autoptr (AprTensor) no_values = vector_new (0, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new ("123456", 6);
  g_autoptr (AprTensor) small = apr_tensor_new_from_bytes (APR_DTYPE_F8_E4M3, bytes_shape, 2, bytes, NULL);
  const struct
  {
    AprTensor *x;
    AprTensor *y;
    AprTensor *weights;
    gint code;
    const char *text;
  } cases[] = {
    { flat, fixture->y, NULL, APR_ERROR_SHAPE,
      "but it has [6]: the samples of one feature are [6, 1], one sample is [1, 6]" },
    { cube, fixture->y, NULL, APR_ERROR_SHAPE, "[3, 1, 1]" },
    { fixture->x, four, NULL, APR_ERROR_SHAPE, "X has 3 samples, but y has 4" },
    { fixture->x, cube, NULL, APR_ERROR_SHAPE, "[3, 1, 1]" },
    { fixture->x, fixture->y, four, APR_ERROR_SHAPE, "X has 3 samples, but sample_weight has 4" },
    { fixture->x, fixture->y, fixture->x, APR_ERROR_SHAPE,
      "sample_weight must have the shape [n_samples], but it has [3, 2]" },
    { no_rows, no_values, NULL, APR_ERROR_EMPTY, "0 samples" },
    { no_columns, fixture->y, NULL, APR_ERROR_EMPTY,
      "0 features and 1 targets: at least one of each is needed. The feature of the mean" },
    { fixture->x, no_columns, NULL, APR_ERROR_EMPTY, "0 targets" },
    { small, fixture->y, NULL, APR_ERROR_DTYPE, "X has the dtype F8_E4M3" },
    { fixture->x, small, NULL, APR_ERROR_DTYPE, "y has the dtype F8_E4M3" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (
        apr_estimator_fit (fixture->model, cases[i].x, cases[i].y, cases[i].weights, NULL, &error));
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].text);
      g_assert_false (apr_estimator_get_fitted (fixture->model));
    }
}

static void
test_predict_and_score (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;

  fit (fixture);
  predictions = apr_estimator_predict (fixture->model, fixture->x, &error);
  g_assert_no_error (error);
  assert_same_double (element (predictions, 2), 3.5);

  /* The mean 3, the offset 0.5: 1 - (14 + 3 / 4) / 14. */
  g_assert_cmpfloat_with_epsilon (apr_estimator_score (fixture->model, fixture->x, fixture->y, NULL, &error),
                                  -0.75 / 14, 1e-15);
  g_assert_no_error (error);
}

static void
test_unfitted (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "a", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_estimator_predict (fixture->model, fixture->x, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  assert_message_has (error, "unfitted TestMean");
  g_clear_error (&error);
  apr_estimator_score (fixture->model, fixture->x, fixture->y, NULL, &error);
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);
  g_assert_null (apr_estimator_to_bytes (fixture->model, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);
  g_assert_false (apr_estimator_save (fixture->model, "never-written", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_assert_false (g_file_test ("never-written", G_FILE_TEST_EXISTS));
  g_clear_error (&error);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, &error));
  g_assert_no_error (error);
  g_assert_false (apr_estimator_check_feature_names (fixture->model, names, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
}

static void
test_predict_arguments (Fixture *fixture, gconstpointer data)
{
  const double values[] = { 1, 2, 3 };
  g_autoptr (AprTensor) wide = matrix_new (1, 3, values);
  g_autoptr (AprTensor) flat = vector_new (3, values);
  g_autoptr (GError) error = NULL;

  fit (fixture);
  g_assert_null (apr_estimator_predict (fixture->model, wide, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "X has 3 features, but this model was fitted with 2");
  g_clear_error (&error);
  g_assert_null (apr_estimator_predict (fixture->model, flat, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
}

static void
test_silent_failures (Fixture *fixture, gconstpointer data)
{
  TestMean *model = TEST_MEAN (fixture->model);
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "A script's function that raises an exception of its own gives no GError: the base class does.");

  model->fail_silently = TRUE;
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "fit of TestMean");
  g_clear_error (&error);
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, NULL));

  model->fail_silently = FALSE;
  fit (fixture);
  model->fail_silently = TRUE;
  g_assert_null (apr_estimator_predict (fixture->model, fixture->x, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "predict of TestMean");
  g_clear_error (&error);
  g_assert_null (apr_estimator_to_bytes (fixture->model, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "save_tensors of TestMean");
  g_clear_error (&error);

  model->fail_silently = FALSE;
  model->predict_too_few = TRUE;
  g_assert_null (apr_estimator_predict (fixture->model, fixture->x, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "3 samples");
}

static void
test_load_numbers (Fixture *fixture, gconstpointer data)
{
  static const gsize wrong[][2] = {
    { 0, 1 },         { 2, 0 }, { (gsize) 1 << 60, 1 }, { 2, (gsize) 1 << 60 }, { G_MAXSIZE, G_MAXSIZE },
    { G_MAXSIZE, 1 },
  };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  gsize i;

  g_test_summary (
    "A subclass that says that a file is for more features than fit into memory, or for none, loads none.");

  fit (fixture);
  bytes = apr_estimator_to_bytes (fixture->model, NULL);
  for (i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *numbers = g_strdup_printf ("load_tensors of TestMean gave %" G_GSIZE_FORMAT
                                                  " features and %" G_GSIZE_FORMAT " targets",
                                                  wrong[i][0], wrong[i][1]);

      loaded_n_features = wrong[i][0];
      loaded_n_targets = wrong[i][1];
      g_assert_null (apr_estimator_from_bytes (TEST_TYPE_MEAN, bytes, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, numbers);
    }

  loaded_n_features = 2;
  loaded_n_targets = 1;
  loaded = apr_estimator_from_bytes (TEST_TYPE_MEAN, bytes, NULL);
  g_assert_cmpuint (apr_estimator_get_n_features (loaded), ==, 2);
}

static GAsyncResult *
fit_async (Fixture *fixture, AprTensor *y, GCancellable *cancellable)
{
  GAsyncResult *result = NULL;

  apr_estimator_fit_async (fixture->model, fixture->x, y, NULL, G_PRIORITY_DEFAULT, cancellable, on_ready,
                           &result);
  wait_for (&result);

  return result;
}

static void
test_fit_async (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  apr_estimator_fit_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                           &result);
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  wait_for (&result);

  g_assert_true (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_no_error (error);
  g_assert_true (apr_estimator_get_fitted (fixture->model));
}

static void
test_fit_async_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) shape = fit_async (fixture, fixture->x, NULL);
  g_autoptr (GAsyncResult) cancelled = NULL;
  g_autoptr (GAsyncResult) silent = NULL;
  g_autoptr (AprTensor) short_y = apr_tensor_slice_rows (fixture->y, 0, 2, NULL);
  g_autoptr (GAsyncResult) mismatch = fit_async (fixture, short_y, NULL);
  g_autoptr (GError) error = NULL;

  /* The subclass reads all of y, whatever its shape. */
  g_assert_true (apr_estimator_fit_finish (fixture->model, shape, &error));
  g_assert_no_error (error);

  g_assert_false (apr_estimator_fit_finish (fixture->model, mismatch, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);

  g_cancellable_cancel (cancellable);
  cancelled = fit_async (fixture, fixture->y, cancellable);
  g_assert_false (apr_estimator_fit_finish (fixture->model, cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  TEST_MEAN (fixture->model)->fail_silently = TRUE;
  silent = fit_async (fixture, fixture->y, NULL);
  g_assert_false (apr_estimator_fit_finish (fixture->model, silent, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
}

static void
test_clone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprEstimator) clone = NULL;

  fit (fixture);
  clone = apr_estimator_clone (fixture->model);
  g_assert_true (G_OBJECT_TYPE (clone) == TEST_TYPE_MEAN);
  assert_same_double (TEST_MEAN (clone)->offset, 0.5);
  g_assert_false (apr_estimator_get_fitted (clone));
}

static void
test_bytes_round_trip (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "width \"in\", cm", "h\303\266he\n\037\177", NULL };
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;

  fit (fixture);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, &error));
  bytes = apr_estimator_to_bytes (fixture->model, &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (TEST_TYPE_MEAN, bytes, &error);
  g_assert_no_error (error);

  g_assert_true (apr_estimator_get_fitted (loaded));
  assert_same_double (TEST_MEAN (loaded)->offset, 0.5);
  g_assert_true (apr_tensor_equal (TEST_MEAN (loaded)->mean, TEST_MEAN (fixture->model)->mean));
  assert_feature_names (loaded, names);
  again = apr_estimator_to_bytes (loaded, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, again));
}

static GBytes *
file_with (const char *key, const char *value)
{
  const double mean = 3;
  g_autoptr (AprTensor) tensor = vector_new (1, &mean);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "mean", tensor, NULL));
  if (key != NULL)
    g_assert_true (apr_safetensors_writer_set_metadata (writer, key, value, NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_load_metadata (Fixture *fixture, gconstpointer data)
{
  const struct
  {
    const char *key;
    const char *value;
    GQuark domain;
    gint code;
    const char *text;
  } cases[] = {
    { "aprender.model", "AprLinearRegression", APR_ERROR, APR_ERROR_MODEL,
      "“AprLinearRegression”, not “TestMean”" },
    { "aprender.format", "2", APR_ERROR, APR_ERROR_MODEL, "format “2”, but this version reads “1”" },
    { "aprender.offset", "many", APR_ERROR, APR_ERROR_MODEL, "“offset” cannot be “many”" },
    { "aprender.offset", "11", APR_ERROR, APR_ERROR_MODEL, "“offset” cannot be “11”" },
    { "aprender.feature_names", "[\"a\"]", APR_ERROR, APR_ERROR_FEATURE_NAMES,
      "There is 1 feature name, but the model was fitted with 2" },
    { "aprender.feature_names", "[\"a\",\"a\"]", APR_ERROR, APR_ERROR_FEATURE_NAMES, "the name “a”" },
    { "aprender.feature_names", "[[[[", APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX,
      "aprender.feature_names" },
  };
  g_autoptr (GBytes) plain = file_with (NULL, NULL);
  g_autoptr (GBytes) foreign = file_with ("format", "pt");
  g_autoptr (AprEstimator) from_plain = apr_estimator_from_bytes (TEST_TYPE_MEAN, plain, NULL);
  g_autoptr (AprEstimator) from_foreign = apr_estimator_from_bytes (TEST_TYPE_MEAN, foreign, NULL);
  gsize i;

  assert_same_double (TEST_MEAN (from_plain)->offset, 0);
  assert_same_double (TEST_MEAN (from_foreign)->offset, 0);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = file_with (cases[i].key, cases[i].value);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_estimator_from_bytes (TEST_TYPE_MEAN, bytes, &error));
      g_assert_error (error, cases[i].domain, cases[i].code);
      assert_message_has (error, cases[i].text);
    }
}

static void
test_load_type (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) bytes = file_with (NULL, NULL);
  const GType types[] = { APR_TYPE_ESTIMATOR, G_TYPE_OBJECT, G_TYPE_INT, G_TYPE_INVALID };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_estimator_from_bytes (types[i], bytes, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      g_clear_error (&error);
      g_assert_null (apr_estimator_load (types[i], "no-such-file", &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
    }
}

static void
test_load_names_the_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (GBytes) bytes = file_with ("aprender.model", "Other");
  g_autoptr (GError) error = NULL;

  g_assert_true (
    g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
  g_assert_null (apr_estimator_load (TEST_TYPE_MEAN, path, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, path);
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_feature_names (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "a", "b", NULL };
  const char *const swapped[] = { "b", "a", NULL };
  const char *const three[] = { "a", "b", "c", NULL };
  const char *const twice[] = { "a", "a", NULL };
  const char *const bad[] = { "a", "\377", NULL };
  const struct
  {
    const char *const *names;
    const char *text;
  } cases[] = {
    { swapped, "Feature 0 (counted from 0) is “b”, but the model was fitted with “a” there" },
    { names + 1, "Feature 0" },
    { three, "“c”" },
  };
  g_autoptr (GError) error = NULL;
  int n_notified = 0;
  gsize i;

  fit (fixture);
  g_signal_connect (fixture->model, "notify::feature-names", G_CALLBACK (count_cb), &n_notified);
  g_assert_true (apr_estimator_check_feature_names (fixture->model, swapped, &error));
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, &error));
  g_assert_no_error (error);
  g_assert_cmpint (n_notified, ==, 1);
  g_assert_true (apr_estimator_check_feature_names (fixture->model, names, &error));

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_false (apr_estimator_check_feature_names (fixture->model, cases[i].names, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
      assert_message_has (error, cases[i].text);
      g_clear_error (&error);
    }
  g_assert_false (apr_estimator_check_feature_names (fixture->model, names + 2, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "“a”, which the model was fitted with, is missing");
  g_clear_error (&error);

  g_assert_false (apr_estimator_set_feature_names (fixture->model, three, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "3 feature names, but the model was fitted with 2");
  g_clear_error (&error);
  g_assert_false (apr_estimator_set_feature_names (fixture->model, twice, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_clear_error (&error);
  g_assert_false (apr_estimator_set_feature_names (fixture->model, bad, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "feature 1");
  g_clear_error (&error);
  assert_feature_names (fixture->model, names);

  g_assert_true (apr_estimator_set_feature_names (fixture->model, NULL, &error));
  assert_feature_names (fixture->model, NULL);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, &error));
  fit (fixture);
  assert_feature_names (fixture->model, names);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add ("/estimator/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("fit/notifies", test_fit_notifies);
  ADD ("properties", test_properties);
  ADD ("fit/arguments", test_fit_arguments);
  ADD ("predict-and-score", test_predict_and_score);
  ADD ("unfitted", test_unfitted);
  ADD ("predict/arguments", test_predict_arguments);
  ADD ("silent-failures", test_silent_failures);
  ADD ("fit-async", test_fit_async);
  ADD ("fit-async/fails", test_fit_async_fails);
  ADD ("clone", test_clone);
  ADD ("bytes-round-trip", test_bytes_round_trip);
  ADD ("load/metadata", test_load_metadata);
  ADD ("load/type", test_load_type);
  ADD ("load/numbers", test_load_numbers);
  ADD ("load/names-the-file", test_load_names_the_file);
  ADD ("feature-names", test_feature_names);
#undef ADD

  return g_test_run ();
}
