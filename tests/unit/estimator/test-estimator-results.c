/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <aprender/aprender.h>

/* A subclass that has fit and predict, and hands its results to the base class: predicts the sum of the targets, and
 * counts the fits. */

#define TEST_TYPE_SUM (test_sum_get_type ())
G_DECLARE_FINAL_TYPE (TestSum, test_sum, TEST, SUM, AprEstimator)

struct _TestSum
{
  AprEstimator parent_instance;
  gboolean fail;
  gboolean set_nothing;
  const char *name;      /* (nullable): of one more result */
  GThreadFunc meanwhile; /* (nullable): runs in a thread between the two results that a prediction takes */
  gpointer data;
};

G_DEFINE_FINAL_TYPE (TestSum, test_sum, APR_TYPE_ESTIMATOR)

static gboolean
test_sum_fit (AprEstimator *estimator,
              AprTensor *x,
              AprTensor *y,
              AprTensor *sample_weight,
              GCancellable *cancellable,
              GError **error)
{
  TestSum *self = TEST_SUM (estimator);
  g_autoptr (AprTensor) before = apr_estimator_get_result (estimator, "n_fits", NULL);
  g_autoptr (AprTensor) n_fits = NULL;
  g_autoptr (AprTensor) sum = NULL;
  double count = before != NULL ? element (before, 0) + 1 : 1;
  double total = 0;
  gsize i;

  if (self->set_nothing)
    return TRUE;

  for (i = 0; i < apr_tensor_get_n_elements (y); i++)
    total += element (y, i);
  n_fits = vector_new (1, &count);
  sum = vector_new (1, &total);

  return apr_estimator_set_result (estimator, "n_fits", n_fits, error) &&
         apr_estimator_set_result (estimator, "sum", n_fits, error) &&
         apr_estimator_set_result (estimator, "sum", sum, error) &&
         (self->name == NULL || apr_estimator_set_result (estimator, self->name, sum, error)) && !self->fail;
}

static AprTensor *
test_sum_predict (AprEstimator *estimator, AprTensor *x, GError **error)
{
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  g_autofree double *values = g_new (double, n);
  g_autoptr (AprTensor) sum = apr_estimator_get_result (estimator, "sum", error);
  g_autoptr (AprTensor) n_fits = NULL;
  gsize i;

  if (sum == NULL)
    return NULL;
  if (TEST_SUM (estimator)->meanwhile != NULL)
    g_thread_join (g_thread_new ("meanwhile", TEST_SUM (estimator)->meanwhile, TEST_SUM (estimator)->data));
  n_fits = apr_estimator_get_result (estimator, "n_fits", error);
  if (n_fits == NULL)
    return NULL;
  for (i = 0; i < n; i++)
    values[i] = i == 1 ? element (n_fits, 0) : element (sum, 0);

  return vector_new (n, values);
}

static void
test_sum_class_init (TestSumClass *klass)
{
  APR_ESTIMATOR_CLASS (klass)->fit = test_sum_fit;
  APR_ESTIMATOR_CLASS (klass)->predict = test_sum_predict;
}

static void
test_sum_init (TestSum *self)
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
  const double values[] = { 1, 2, 3, 4, 5, 6 };

  fixture->model = g_object_new (TEST_TYPE_SUM, NULL);
  fixture->x = matrix_new (3, 2, values);
  fixture->y = vector_new (3, values);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_assert_finalize_object (fixture->model);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
}

static void
fit (Fixture *fixture, AprTensor *y)
{
  g_autoptr (GError) error = NULL;

  apr_estimator_fit (fixture->model, fixture->x, y, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_results (AprEstimator *model, double sum, double n_fits)
{
  g_autoptr (AprTensor) sum_result = apr_estimator_get_result (model, "sum", NULL);
  g_autoptr (AprTensor) n_fits_result = apr_estimator_get_result (model, "n_fits", NULL);

  g_assert_cmpfloat (element (sum_result, 0), ==, sum);
  g_assert_cmpfloat (element (n_fits_result, 0), ==, n_fits);
}

static void
test_keeps_results (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "a", "b", NULL };
  g_autoptr (AprEstimator) copy = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprEstimator) clone = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What a subclass gives to set_result is predicted with, copied, saved and loaded.");

  fit (fixture, fixture->x);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, NULL));
  fit (fixture, fixture->y);
  assert_results (fixture->model, 6, 2);

  copy = apr_estimator_copy (fixture->model, &error);
  g_assert_no_error (error);
  assert_results (copy, 6, 2);
  bytes = apr_estimator_to_bytes (fixture->model, &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (TEST_TYPE_SUM, bytes, &error);
  g_assert_no_error (error);
  assert_results (loaded, 6, 2);
  g_assert_cmpuint (apr_estimator_get_n_features (loaded), ==, 2);
  g_assert_cmpuint (apr_estimator_get_n_targets (loaded), ==, 1);
  g_assert_true (apr_estimator_check_feature_names (loaded, names, NULL));
  again = apr_estimator_to_bytes (loaded, &error);
  g_assert_true (g_bytes_equal (bytes, again));
  predictions = apr_estimator_predict (loaded, fixture->x, &error);
  g_assert_cmpfloat (element (predictions, 2), ==, 6);

  clone = apr_estimator_clone (loaded);
  g_assert_null (apr_estimator_get_result (clone, "sum", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "TestSum has no result “sum”");
}

static void
test_targets (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_test_summary ("The file says how many targets the model was fitted to.");

  fit (fixture, fixture->x);
  bytes = apr_estimator_to_bytes (fixture->model, NULL);
  loaded = apr_estimator_from_bytes (TEST_TYPE_SUM, bytes, NULL);
  g_assert_cmpuint (apr_estimator_get_n_targets (loaded), ==, 2);
}

static void
test_failure (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprEstimator) linear = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (GError) error = NULL;

  g_test_summary ("A fit that fails leaves the results of before; outside of fits nothing can be set.");

  TEST_SUM (fixture->model)->fail = TRUE;
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, NULL));
  g_assert_null (apr_estimator_get_result (fixture->model, "sum", NULL));
  TEST_SUM (fixture->model)->fail = FALSE;
  fit (fixture, fixture->y);
  TEST_SUM (fixture->model)->fail = TRUE;
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->x, NULL, NULL, NULL));
  assert_results (fixture->model, 6, 1);

  g_assert_false (apr_estimator_set_result (fixture->model, "sum", fixture->y, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "The result “sum” of this TestSum can be set while it is fitted or loaded only");
  g_clear_error (&error);
  assert_results (fixture->model, 6, 1);

  g_assert_false (apr_estimator_set_result (linear, "sum", fixture->y, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "AprLinearRegression keeps its results itself");
  g_clear_error (&error);
  g_assert_null (apr_estimator_get_result (linear, "coefficients", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
}

static void
test_names (Fixture *fixture, gconstpointer data)
{
  static const char *const wrong[] = { "__metadata__", "\xff" };
  static const gint codes[] = { APR_SAFETENSORS_ERROR_NAME, APR_SAFETENSORS_ERROR_ENCODING };
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  gsize i;

  g_test_summary ("A result with a name that no file can have fails the fit that sets it.");

  fit (fixture, fixture->y);
  for (i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      TEST_SUM (fixture->model)->name = wrong[i];
      g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->x, NULL, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, codes[i]);
      g_clear_error (&error);
      assert_results (fixture->model, 6, 1);
    }

  TEST_SUM (fixture->model)->name = "metadata";
  fit (fixture, fixture->x);
  bytes = apr_estimator_to_bytes (fixture->model, &error);
  g_assert_no_error (error);
}

static gpointer
fit_meanwhile (gpointer data)
{
  Fixture *fixture = data;

  fit (fixture, fixture->x);
  return NULL;
}

static void
test_fit_within_prediction (Fixture *fixture, gconstpointer data)
{
  TestSum *model = TEST_SUM (fixture->model);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "A prediction takes all its results from one fit, even if another thread fits between two of them.");

  fit (fixture, fixture->y);
  model->meanwhile = fit_meanwhile;
  model->data = fixture;
  predictions = apr_estimator_predict (fixture->model, fixture->x, &error);
  g_assert_no_error (error);
  model->meanwhile = NULL;
  g_assert_cmpfloat (element (predictions, 0), ==, 6);
  g_assert_cmpfloat (element (predictions, 1), ==, 1);

  assert_results (fixture->model, 21, 2);
}

static void
test_files (Fixture *fixture, gconstpointer data)
{
  static const char *const keys[] = { "aprender.n_features", "aprender.n_targets" };
  static const char *const wrong[] = { NULL, "", "0", "-1", "two", "18446744073709551615" };
  gsize i;

  g_test_summary ("A file that does not say how many features or targets its model has is not loaded.");

  for (i = 0; i < 2 * G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      apr_safetensors_writer_set_metadata (writer, keys[1 - i % 2], "2", NULL);
      if (wrong[i / 2] != NULL)
        apr_safetensors_writer_set_metadata (writer, keys[i % 2], wrong[i / 2], NULL);
      bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
      g_assert_null (apr_estimator_from_bytes (TEST_TYPE_SUM, bytes, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, keys[i % 2]);
    }
}

/* In a hash table of g_str_hash(), in which “aR” and “b1” are alike, each of these names would be compared with all
 * before it. */
static void
test_colliding_names (Fixture *fixture, gconstpointer data)
{
  const guint n_bits = 18;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) nothing = vector_new (0, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprTensor) result = NULL;
  char name[37] = "";
  GError *error = NULL;
  gsize i;
  guint bit;

  g_test_summary ("A file of names that all hash alike is loaded like any other.");
  for (i = 0; i < (gsize) 1 << n_bits; i++)
    {
      for (bit = 0; bit < n_bits; bit++)
        memcpy (name + 2 * (gsize) bit, (i >> bit & 1) != 0 ? "aR" : "b1", 2);
      apr_safetensors_writer_add_tensor (writer, name, nothing, &error);
      g_assert_no_error (error);
    }
  apr_safetensors_writer_set_metadata (writer, "aprender.model", "TestSum", NULL);
  apr_safetensors_writer_set_metadata (writer, "aprender.format", "1", NULL);
  apr_safetensors_writer_set_metadata (writer, "aprender.n_features", "1", NULL);
  apr_safetensors_writer_set_metadata (writer, "aprender.n_targets", "1", NULL);
  bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (TEST_TYPE_SUM, bytes, &error);
  g_assert_no_error (error);
  result = apr_estimator_get_result (loaded, name, &error);
  g_assert_no_error (error);
}

static void
test_nothing_to_save (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  TEST_SUM (fixture->model)->set_nothing = TRUE;
  fit (fixture, fixture->y);
  g_assert_null (apr_estimator_to_bytes (fixture->model, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "TestSum has nothing to save");
}

static void
fitted_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;

  apr_estimator_fit_finish (APR_ESTIMATOR (object), result, &error);
  g_assert_no_error (error);
  *(gboolean *) user_data = TRUE;
}

static void
test_async (Fixture *fixture, gconstpointer data)
{
  gboolean done = FALSE;

  apr_estimator_fit_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL, fitted_cb,
                           &done);
  while (!done)
    g_main_context_iteration (NULL, TRUE);
  assert_results (fixture->model, 6, 1);
}

static void
test_other_targets (Fixture *fixture, gconstpointer data)
{
  const double values[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprTensor) y = matrix_new (3, 2, values);
  g_autoptr (AprTensor) column = matrix_new (3, 1, values);
  g_autoptr (AprTensor) predictions = NULL;
  GError *error = NULL;

  g_test_summary ("What predicts one target after a fit to two is wrong, and predict says so.");

  fit (fixture, y);
  g_assert_null (apr_estimator_predict (fixture->model, fixture->x, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==,
                   "predict of TestSum gave predictions of the shape [3] for 3 samples and 2 targets");
  g_clear_error (&error);

  fit (fixture, column);
  predictions = apr_estimator_predict (fixture->model, fixture->x, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (predictions), ==, 3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/estimator-results/keeps-results", Fixture, NULL, set_up, test_keeps_results, tear_down);
  g_test_add ("/estimator-results/targets", Fixture, NULL, set_up, test_targets, tear_down);
  g_test_add ("/estimator-results/other-targets", Fixture, NULL, set_up, test_other_targets, tear_down);
  g_test_add ("/estimator-results/failure", Fixture, NULL, set_up, test_failure, tear_down);
  g_test_add ("/estimator-results/names", Fixture, NULL, set_up, test_names, tear_down);
  g_test_add ("/estimator-results/fit-within-prediction", Fixture, NULL, set_up, test_fit_within_prediction,
              tear_down);
  g_test_add ("/estimator-results/files", Fixture, NULL, set_up, test_files, tear_down);
  g_test_add ("/estimator-results/colliding-names", Fixture, NULL, set_up, test_colliding_names, tear_down);
  g_test_add ("/estimator-results/nothing-to-save", Fixture, NULL, set_up, test_nothing_to_save, tear_down);
  g_test_add ("/estimator-results/async", Fixture, NULL, set_up, test_async, tear_down);

  return g_test_run ();
}
