/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

#include <glib/gstdio.h>
#include <stdio.h>

#include "aprender/cross-products/apr-cross-products-private.h"

/* What is asynchronous, and that there is one writer at a time. */

#define N_SAMPLES 20000
#define N_FEATURES 3

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprTensor *other_y;
  AprEstimator *model;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree double *values = g_new (double, N_SAMPLES *(N_FEATURES + 2));
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  gsize i;

  for (i = 0; i < N_SAMPLES * (N_FEATURES + 2); i++)
    values[i] = g_rand_double (rand);
  fixture->x = matrix_new (N_SAMPLES, N_FEATURES, values);
  fixture->y = vector_new (N_SAMPLES, values + N_SAMPLES * N_FEATURES);
  fixture->other_y = vector_new (N_SAMPLES, values + N_SAMPLES * (N_FEATURES + 1));
  fixture->model = APR_ESTIMATOR (apr_linear_regression_new ());
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  apr_tensor_unref (fixture->other_y);
  assert_finalizes (fixture->model);
}

static void
begin_fit (Fixture *fixture, AprTensor *y, GAsyncResult **result)
{
  apr_estimator_fit_async (fixture->model, fixture->x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, result);
}

static void
fit (Fixture *fixture)
{
  GError *error = NULL;

  apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
test_second_fit_is_refused (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) expected = apr_linear_regression_new ();
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autoptr (GAsyncResult) partial = NULL;
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (expected), fixture->x, fixture->y, NULL, NULL, NULL));
  begin_fit (fixture, fixture->y, &first);
  g_assert_true (apr_estimator_get_busy (fixture->model));
  begin_fit (fixture, fixture->other_y, &second);
  apr_linear_regression_partial_fit_async (APR_LINEAR_REGRESSION (fixture->model), fixture->x,
                                           fixture->other_y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                                           &partial);
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->other_y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  assert_message_has (error, "AprLinearRegression");
  g_clear_error (&error);

  wait_for (&second);
  g_assert_false (apr_estimator_fit_finish (fixture->model, second, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  wait_for (&partial);
  g_assert_false (
    apr_linear_regression_partial_fit_finish (APR_LINEAR_REGRESSION (fixture->model), partial, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  wait_for (&first);
  g_assert_true (apr_estimator_fit_finish (fixture->model, first, &error));
  g_assert_no_error (error);
  g_assert_false (apr_estimator_get_busy (fixture->model));
  g_assert_true (
    apr_tensor_equal (coefficients_of (APR_LINEAR_REGRESSION (fixture->model)), coefficients_of (expected)));
  fit (fixture);
}

static void
note_busy_cb (AprEstimator *model, GParamSpec *pspec, GString *seen)
{
  g_string_append (seen, apr_estimator_get_busy (model) ? "busy " : "idle ");
}

static void
release_cb (AprEstimator *model, GParamSpec *pspec, gpointer user_data)
{
  apr_estimator_release (model);
}

static void
test_reserve (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GAsyncResult) refused = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  g_signal_connect (fixture->model, "notify::busy", G_CALLBACK (note_busy_cb), seen);
  g_assert_true (apr_estimator_reserve (fixture->model, &error));
  g_assert_no_error (error);
  g_assert_true (apr_estimator_get_busy (fixture->model));
  g_assert_false (apr_estimator_reserve (fixture->model, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  begin_fit (fixture, fixture->other_y, &refused);
  wait_for (&refused);
  g_assert_false (apr_estimator_fit_finish (fixture->model, refused, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  g_object_freeze_notify (G_OBJECT (fixture->model));
  apr_estimator_release (fixture->model);
  begin_fit (fixture, fixture->y, &result);
  g_object_thaw_notify (G_OBJECT (fixture->model));
  /* It is reserved no longer, and the fit is not ended. */
  apr_estimator_release (fixture->model);
  g_assert_true (apr_estimator_get_busy (fixture->model));
  wait_for (&result);
  g_assert_true (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (seen->str, ==, "busy busy idle ");
  apr_estimator_release (fixture->model);
  g_assert_cmpstr (seen->str, ==, "busy busy idle ");
  g_signal_handlers_disconnect_by_data (fixture->model, seen);
  g_signal_connect (fixture->model, "notify::busy", G_CALLBACK (release_cb), NULL);
  g_assert_true (apr_estimator_reserve (fixture->model, &error));
  g_assert_false (apr_estimator_get_busy (fixture->model));
  fit (fixture);
}

static void
test_model_changes_in_the_caller_context (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;

  begin_fit (fixture, fixture->y, &result);
  g_usleep (200000);
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  wait_for (&result);
  g_assert_true (apr_estimator_fit_finish (fixture->model, result, NULL));
  g_assert_true (apr_estimator_get_fitted (fixture->model));
}

static void
test_results_are_those_of_the_twins (Fixture *fixture, gconstpointer data)
{
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  g_autoptr (GAsyncResult) predicted = NULL;
  g_autoptr (GAsyncResult) scored = NULL;
  g_autoptr (GAsyncResult) described = NULL;
  g_autoptr (GAsyncResult) bounded = NULL;
  g_autoptr (GAsyncResult) summarised = NULL;
  g_autofree char *summary = NULL;
  g_autofree char *expected_summary = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) expected = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (AprTensor) expected_lower = NULL;
  g_autoptr (AprTensor) expected_upper = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) expected_statistics = NULL;
  GError *error = NULL;

  fit (fixture);
  apr_estimator_predict_async (fixture->model, fixture->x, G_PRIORITY_DEFAULT, NULL, on_ready, &predicted);
  apr_estimator_score_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                             &scored);
  apr_linear_regression_get_statistics_async (model, 0, G_PRIORITY_DEFAULT, NULL, on_ready, &described);
  apr_linear_regression_predict_interval_async (model, fixture->x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                G_PRIORITY_DEFAULT, NULL, on_ready, &bounded);
  apr_linear_regression_summary_async (model, G_PRIORITY_DEFAULT, NULL, on_ready, &summarised);
  wait_for (&predicted);
  wait_for (&scored);
  wait_for (&described);
  wait_for (&bounded);
  wait_for (&summarised);

  g_assert_cmpstr (g_task_get_name (G_TASK (predicted)), ==, "apr_estimator_predict_async");
  g_assert_cmpstr (g_task_get_name (G_TASK (described)), ==, "apr_linear_regression_get_statistics_async");
  predictions = apr_estimator_predict_finish (fixture->model, predicted, &error);
  g_assert_no_error (error);
  expected = apr_estimator_predict (fixture->model, fixture->x, NULL);
  g_assert_true (apr_tensor_equal (predictions, expected));

  assert_same_double (apr_estimator_score_finish (fixture->model, scored, &error),
                      apr_estimator_score (fixture->model, fixture->x, fixture->y, NULL, NULL));
  g_assert_no_error (error);

  statistics = apr_linear_regression_get_statistics_finish (model, described, &error);
  g_assert_no_error (error);
  expected_statistics = apr_linear_regression_get_statistics (model, 0, NULL);
  assert_same_double (apr_regression_statistics_get_r_squared (statistics),
                      apr_regression_statistics_get_r_squared (expected_statistics));

  g_assert_true (apr_linear_regression_predict_interval_finish (model, bounded, &lower, &upper, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_predict_interval (model, fixture->x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                         &expected_lower, &expected_upper, NULL));
  g_assert_true (apr_tensor_equal (lower, expected_lower));
  g_assert_true (apr_tensor_equal (upper, expected_upper));

  summary = apr_linear_regression_summary_finish (model, summarised, &error);
  g_assert_no_error (error);
  expected_summary = apr_linear_regression_summary (model, NULL);
  g_assert_cmpstr (summary, ==, expected_summary);
}

/* Of the samples that were in the sums when the call was made. */
static void
test_cross_products (Fixture *fixture, gconstpointer data)
{
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  g_autoptr (AprLinearRegression) expected = apr_linear_regression_new ();
  g_autoptr (AprCrossProducts) sums = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_autoptr (GAsyncResult) fitted = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autoptr (GAsyncResult) empty = NULL;
  g_autoptr (GAsyncResult) scored = NULL;
  g_autoptr (GAsyncResult) cancelled = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) expected_scores = NULL;
  GError *error = NULL;

  apr_linear_regression_fit_cross_products_async (model, sums, G_PRIORITY_DEFAULT, NULL, on_ready, &empty);
  wait_for (&empty);
  g_assert_false (apr_linear_regression_fit_cross_products_finish (model, empty, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_clear_error (&error);

  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, NULL));
  apr_linear_regression_fit_cross_products_async (model, sums, G_PRIORITY_DEFAULT, NULL, on_ready, &fitted);
  apr_linear_regression_fit_cross_products_async (model, sums, G_PRIORITY_DEFAULT, NULL, on_ready, &second);
  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->other_y, NULL, NULL, NULL));
  wait_for (&second);
  g_assert_false (apr_linear_regression_fit_cross_products_finish (model, second, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  wait_for (&fitted);
  g_assert_true (apr_linear_regression_fit_cross_products_finish (model, fitted, &error));
  g_assert_no_error (error);

  expected_scores = apr_linear_regression_score_cross_products (model, sums, &error);
  g_assert_no_error (error);
  apr_linear_regression_score_cross_products_async (model, sums, G_PRIORITY_DEFAULT, NULL, on_ready, &scored);
  apr_linear_regression_score_cross_products_async (model, sums, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                                    &cancelled);
  g_cancellable_cancel (cancellable);
  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, NULL));
  wait_for (&scored);
  scores = apr_linear_regression_score_cross_products_finish (model, scored, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (scores, expected_scores));
  wait_for (&cancelled);
  g_assert_null (apr_linear_regression_score_cross_products_finish (model, cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_cancellable_push_current (cancellable);
  g_assert_null (apr_linear_regression_score_cross_products (model, sums, &error));
  g_cancellable_pop_current (cancellable);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (expected), fixture->x, fixture->y, NULL, NULL, NULL));
  g_assert_true (apr_tensor_equal (coefficients_of (model), coefficients_of (expected)));
}

static void
test_save_and_load (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GAsyncResult) saved = NULL;
  g_autoptr (GAsyncResult) opened = NULL;
  g_autoptr (GAsyncResult) missing = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprEstimator) loaded_at_once = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) loaded_bytes = NULL;
  GError *error = NULL;

  g_object_set (fixture->model, "keep-state", TRUE, NULL);
  fit (fixture);
  apr_estimator_save_to_file_async (fixture->model, file, G_PRIORITY_DEFAULT, NULL, on_ready, &saved);
  wait_for (&saved);
  g_assert_true (apr_estimator_save_to_file_finish (fixture->model, saved, &error));
  g_assert_no_error (error);

  apr_estimator_load_from_file_async (APR_TYPE_LINEAR_REGRESSION, file, G_PRIORITY_DEFAULT, NULL, on_ready,
                                      &opened);
  wait_for (&opened);
  loaded = apr_estimator_load_from_file_finish (opened, &error);
  g_assert_no_error (error);
  bytes = apr_estimator_to_bytes (fixture->model, NULL);
  loaded_bytes = apr_estimator_to_bytes (loaded, NULL);
  g_assert_true (g_bytes_equal (loaded_bytes, bytes));

  loaded_at_once = apr_estimator_load_from_file (APR_TYPE_LINEAR_REGRESSION, file, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_estimator_save_to_file (loaded_at_once, file, NULL, &error));

  g_assert_cmpint (g_unlink (path), ==, 0);
  apr_estimator_load_from_file_async (APR_TYPE_LINEAR_REGRESSION, file, G_PRIORITY_DEFAULT, NULL, on_ready,
                                      &missing);
  wait_for (&missing);
  g_assert_null (apr_estimator_load_from_file_finish (missing, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_rmdir (folder);
}

static void
test_bytes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) wrong = g_bytes_new_static ("wrong", 5);
  g_autoptr (GBytes) again = NULL;
  g_autoptr (AprEstimator) received = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GAsyncResult *results[7] = { NULL };
  GError *error = NULL;
  gsize i;

  g_object_set (fixture->model, "keep-state", TRUE, NULL);
  apr_estimator_to_bytes_async (fixture->model, G_PRIORITY_DEFAULT, NULL, on_ready, &results[0]);
  wait_for (&results[0]);
  g_assert_null (apr_estimator_to_bytes_finish (fixture->model, results[0], &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  /* Of the model as it was when the call was made. */
  fit (fixture);
  expected = apr_estimator_to_bytes (fixture->model, NULL);
  apr_estimator_to_bytes_async (fixture->model, G_PRIORITY_DEFAULT, NULL, on_ready, &results[1]);
  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->other_y, NULL, NULL, NULL));
  wait_for (&results[1]);
  bytes = apr_estimator_to_bytes_finish (fixture->model, results[1], &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, expected));

  g_cancellable_cancel (cancellable);
  apr_estimator_to_bytes_async (fixture->model, G_PRIORITY_DEFAULT, cancellable, on_ready, &results[2]);
  wait_for (&results[2]);
  g_assert_null (apr_estimator_to_bytes_finish (fixture->model, results[2], &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  apr_estimator_from_bytes_async (APR_TYPE_LINEAR_REGRESSION, bytes, G_PRIORITY_DEFAULT, NULL, on_ready,
                                  &results[3]);
  wait_for (&results[3]);
  g_assert_null (apr_estimator_load_from_file_finish (results[3], &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  received = apr_estimator_from_bytes_finish (results[3], &error);
  g_assert_no_error (error);
  again = apr_estimator_to_bytes (received, NULL);
  g_assert_true (g_bytes_equal (again, expected));

  apr_estimator_from_bytes_async (APR_TYPE_LINEAR_REGRESSION, wrong, G_PRIORITY_DEFAULT, NULL, on_ready,
                                  &results[4]);
  apr_estimator_from_bytes_async (APR_TYPE_TENSOR, bytes, G_PRIORITY_DEFAULT, NULL, on_ready, &results[5]);
  apr_estimator_from_bytes_async (APR_TYPE_LINEAR_REGRESSION, bytes, G_PRIORITY_DEFAULT, cancellable,
                                  on_ready, &results[6]);
  for (i = 4; i < 7; i++)
    {
      wait_for (&results[i]);
      g_assert_null (apr_estimator_from_bytes_finish (results[i], &error));
      if (i == 4)
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
      else if (i == 5)
        g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

static void
test_metric (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AprTensor) expected = NULL;
  g_autoptr (AprTensor) values = NULL;
  GAsyncResult *results[3] = { NULL };
  GError *error = NULL;
  gsize i;

  expected = apr_compute_metric (APR_METRIC_MEAN_ABSOLUTE_ERROR, APR_MULTIOUTPUT_RAW_VALUES, fixture->y,
                                 fixture->other_y, NULL, NULL);
  g_cancellable_cancel (cancellable);
  apr_compute_metric_async (APR_METRIC_MEAN_ABSOLUTE_ERROR, APR_MULTIOUTPUT_RAW_VALUES, fixture->y,
                            fixture->other_y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready, &results[0]);
  apr_compute_metric_async (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, fixture->y, fixture->x, NULL,
                            G_PRIORITY_DEFAULT, NULL, on_ready, &results[1]);
  apr_compute_metric_async (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, fixture->y, fixture->other_y, NULL,
                            G_PRIORITY_DEFAULT, cancellable, on_ready, &results[2]);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    wait_for (&results[i]);
  g_assert_null (apr_estimator_load_from_file_finish (results[0], &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  values = apr_compute_metric_finish (results[0], &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (values, expected));
  g_assert_null (apr_compute_metric_finish (results[1], &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_null (apr_compute_metric_finish (results[2], &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
  fit (fixture);
}

static void
test_finish_is_misused (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprEstimator) other = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GAsyncResult) foreign = G_ASYNC_RESULT (g_task_new (fixture->model, NULL, NULL, NULL));
  GError *error = NULL;

  begin_fit (fixture, fixture->y, &result);
  wait_for (&result);
  g_assert_false (apr_estimator_fit_finish (other, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_null (apr_estimator_predict_finish (fixture->model, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==,
                   "The result is not that of apr_estimator_predict_async () of this AprLinearRegression");
  g_clear_error (&error);
  g_assert_false (apr_estimator_fit_finish (fixture->model, foreign, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_null (apr_estimator_load_from_file_finish (result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_null (apr_compute_metric_finish (result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);

  g_assert_true (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_no_error (error);
  g_assert_false (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
}

static void
test_cancelled_before (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  g_cancellable_cancel (cancellable);
  apr_estimator_fit_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, cancellable,
                           on_ready, &result);
  wait_for (&result);
  g_assert_false (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  g_assert_false (apr_estimator_get_busy (fixture->model));
  fit (fixture);
}

/* Nobody waits for the thread: it may go on, and what it finds is forgotten. */
static void
test_readers_are_abandoned (Fixture *fixture, gconstpointer data)
{
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  GError *error = NULL;
  int i;

  fit (fixture);
  for (i = 0; i < 20; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GAsyncResult) predicted = NULL;
      g_autoptr (GAsyncResult) scored = NULL;
      g_autoptr (GAsyncResult) described = NULL;

      apr_estimator_predict_async (fixture->model, fixture->x, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                   &predicted);
      apr_estimator_score_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT,
                                 cancellable, on_ready, &scored);
      apr_linear_regression_get_statistics_async (model, 0, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                                  &described);
      g_usleep ((gulong) i * 100);
      g_cancellable_cancel (cancellable);
      wait_for (&predicted);
      wait_for (&scored);
      wait_for (&described);
      g_assert_null (apr_estimator_predict_finish (fixture->model, predicted, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      (void) apr_estimator_score_finish (fixture->model, scored, &error);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_assert_null (apr_linear_regression_get_statistics_finish (model, described, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
  fit (fixture);
}

static void
test_copy_shares_what_was_found (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) clone = NULL;
  g_autoptr (AprLinearRegression) copy = NULL;
  g_autoptr (AprExactSums) sums = NULL;
  g_autoptr (AprExactSums) sums_of_copy = NULL;
  g_autoptr (AprCrossProducts) before = NULL;
  g_autoptr (AprCrossProducts) of_copy = NULL;
  g_autoptr (AprCrossProducts) after = NULL;
  g_autofree char *summary = NULL;
  GError *error = NULL;

  fit (fixture);
  g_assert_true (
    apr_estimator_set_feature_names (fixture->model, (const char *const[]){ "a", "b", "c", NULL }, NULL));
  apr_linear_regression_set_n_threads (APR_LINEAR_REGRESSION (fixture->model), 3);
  clone = APR_LINEAR_REGRESSION (apr_estimator_clone (fixture->model));
  g_assert_cmpuint (apr_linear_regression_get_n_threads (clone), ==, 3);
  copy = APR_LINEAR_REGRESSION (apr_estimator_copy (fixture->model, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_linear_regression_get_n_threads (copy), ==, 3);
  g_assert_true (coefficients_of (copy) == coefficients_of (APR_LINEAR_REGRESSION (fixture->model)));
  assert_feature_names (copy, (const char *const[]){ "a", "b", "c", NULL });
  summary = apr_linear_regression_summary (copy, &error);
  g_assert_no_error (error);

  before = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));
  of_copy = apr_linear_regression_get_cross_products (copy);
  sums = apr_cross_products_ref_sums (before, NULL);
  sums_of_copy = apr_cross_products_ref_sums (of_copy, NULL);
  g_assert_true (sums == sums_of_copy);
  g_assert_true (apr_linear_regression_partial_fit (copy, fixture->x, fixture->y, NULL, NULL, NULL));
  after = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));
  g_assert_true (apr_cross_products_equal (before, after));
}

static void
notify_names_cb (AprEstimator *model, GParamSpec *pspec, gpointer user_data)
{
  assert_feature_names (model, user_data);
}

static void
test_feature_names_before_a_fit (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "a", "b", "c", NULL };
  const char *const four[] = { "a", "b", "c", "d", NULL };
  GError *error = NULL;

  g_assert_true (apr_estimator_set_feature_names (fixture->model, four, &error));
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "4 feature names, but X has 3 features");
  g_clear_error (&error);
  assert_feature_names (fixture->model, four);

  g_assert_true (apr_estimator_set_feature_names (fixture->model, names, &error));
  g_signal_connect (fixture->model, "notify::fitted", G_CALLBACK (notify_names_cb), (gpointer) names);
  fit (fixture);
  fit (fixture);
  assert_feature_names (fixture->model, names);
}

static void
test_has_statistics (Fixture *fixture, gconstpointer data)
{
  gboolean has_statistics;

  g_assert_false (apr_linear_regression_get_has_statistics (APR_LINEAR_REGRESSION (fixture->model)));
  fit (fixture);
  g_object_get (fixture->model, "has-statistics", &has_statistics, NULL);
  g_assert_true (has_statistics);
  g_object_set (fixture->model, "alpha", 1.0, NULL);
  g_assert_true (apr_linear_regression_get_has_statistics (APR_LINEAR_REGRESSION (fixture->model)));
  fit (fixture);
  g_assert_false (apr_linear_regression_get_has_statistics (APR_LINEAR_REGRESSION (fixture->model)));
}

/* The file may change: the model does not. */
static void
test_loaded_model_owns_its_tensors (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprTensor) before = NULL;
  g_autoptr (AprTensor) overwritten = NULL;
  g_autoptr (AprTensor) truncated = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *contents = NULL;
  gsize length;
  FILE *stream;

  fit (fixture);
  g_assert_true (apr_estimator_save (fixture->model, path, &error));
  loaded = apr_estimator_load (APR_TYPE_LINEAR_REGRESSION, path, &error);
  g_assert_no_error (error);
  before = apr_estimator_predict (loaded, fixture->x, NULL);

  /* In place, as cp does. */
  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  memset (contents + length - 8 * N_FEATURES, 0x3f, 8 * N_FEATURES);
  stream = fopen (path, "r+");
  g_assert_cmpuint (fwrite (contents, 1, length, stream), ==, length);
  fclose (stream);
  overwritten = apr_estimator_predict (loaded, fixture->x, NULL);
  g_assert_true (apr_tensor_equal (overwritten, before));

  stream = fopen (path, "w");
  fclose (stream);
  truncated = apr_estimator_predict (loaded, fixture->x, NULL);
  g_assert_true (apr_tensor_equal (truncated, before));

  g_unlink (path);
  g_rmdir (folder);
}

#define ADD(name, function) g_test_add ("/async/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("second-fit-is-refused", test_second_fit_is_refused);
  ADD ("reserve", test_reserve);
  ADD ("model-changes-in-the-caller-context", test_model_changes_in_the_caller_context);
  ADD ("results-are-those-of-the-twins", test_results_are_those_of_the_twins);
  ADD ("cross-products", test_cross_products);
  ADD ("save-and-load", test_save_and_load);
  ADD ("bytes", test_bytes);
  ADD ("metric", test_metric);
  ADD ("finish-is-misused", test_finish_is_misused);
  ADD ("cancelled-before", test_cancelled_before);
  ADD ("readers-are-abandoned", test_readers_are_abandoned);
  ADD ("copy", test_copy_shares_what_was_found);
  ADD ("feature-names-before-a-fit", test_feature_names_before_a_fit);
  ADD ("has-statistics", test_has_statistics);
  ADD ("loaded-model-owns-its-tensors", test_loaded_model_owns_its_tensors);

  return g_test_run ();
}
