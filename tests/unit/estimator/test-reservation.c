/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

/* A model that is reserved while the data of its fit are prepared. */

#define N_SAMPLES 4

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprEstimator *model;
  GString *seen; /* what handlers saw of the model's property busy */
} Fixture;

static void
note_busy_cb (AprEstimator *model, GParamSpec *pspec, GString *seen)
{
  g_string_append (seen, apr_estimator_get_busy (model) ? "busy " : "idle ");
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->x = matrix_new (N_SAMPLES, 1, (double[]){ 0, 1, 2, 4 });
  fixture->y = vector_new (N_SAMPLES, (double[]){ 1, 3, 5, 9 });
  fixture->model = APR_ESTIMATOR (apr_linear_regression_new ());
  fixture->seen = g_string_new (NULL);
  g_signal_connect (fixture->model, "notify::busy", G_CALLBACK (note_busy_cb), fixture->seen);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  assert_finalizes (fixture->model);
  g_string_free (fixture->seen, TRUE);
}

static void
reserve (AprEstimator *model)
{
  GError *error = NULL;

  g_assert_true (apr_estimator_reserve (model, &error));
  g_assert_no_error (error);
  g_assert_true (apr_estimator_get_busy (model));
}

static void
fit (Fixture *fixture)
{
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
begin_fit (Fixture *fixture, GAsyncResult **result)
{
  apr_estimator_fit_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                           result);
}

static void
assert_line (Fixture *fixture, double slope)
{
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);

  g_assert_cmpfloat (element (coefficients_of (model), 0), ==, slope);
}

/* Nothing can begin, in this thread. */
static gpointer
assert_refused (gpointer data)
{
  Fixture *fixture = data;
  g_autoptr (AprCrossProducts) sums = apr_cross_products_new (1, 1, NULL);
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  GError *error = NULL;

  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_linear_regression_partial_fit (model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, NULL));
  g_assert_false (apr_linear_regression_fit_cross_products (model, sums, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_estimator_reserve (fixture->model, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  return NULL;
}

static void
assert_others_refused (Fixture *fixture)
{
  g_thread_join (g_thread_new ("other", assert_refused, fixture));
}

static void
test_refuses_others (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) refused = NULL;
  GError *error = NULL;

  reserve (fixture->model);
  assert_refused (fixture);
  assert_others_refused (fixture);
  begin_fit (fixture, &refused);
  wait_for (&refused);
  g_assert_false (apr_estimator_fit_finish (fixture->model, refused, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  apr_estimator_admit (fixture->model);
  assert_others_refused (fixture);
  fit (fixture);
  assert_line (fixture, 2);
  /* One was let in, and the model is reserved still. */
  assert_refused (fixture);
  assert_others_refused (fixture);
  apr_estimator_release (fixture->model);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");

  apr_estimator_admit (fixture->model);
  apr_estimator_release (fixture->model);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
  fit (fixture);
}

/* The fit goes on when the model has been released, and is not to be released. */
static void
test_asynchronous_fit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  reserve (fixture->model);
  apr_estimator_admit (fixture->model);
  begin_fit (fixture, &result);
  apr_estimator_release (fixture->model);
  apr_estimator_release (fixture->model);
  assert_refused (fixture);
  assert_others_refused (fixture);
  wait_for (&result);
  g_assert_true (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_no_error (error);
  assert_line (fixture, 2);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
}

/* What does not begin leaves nothing behind that would let another fit in. */
static void
test_refused_arguments (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprTensor) short_y = vector_new (1, (double[]){ 1 });
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  reserve (fixture->model);
  apr_estimator_admit (fixture->model);
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, short_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  apr_estimator_release (fixture->model);
  g_assert_false (apr_estimator_get_busy (fixture->model));

  reserve (fixture->model);
  assert_refused (fixture);
  apr_estimator_admit (fixture->model);
  apr_estimator_fit_async (fixture->model, fixture->x, short_y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                           &result);
  apr_estimator_release (fixture->model);
  g_assert_false (apr_estimator_get_busy (fixture->model));
  wait_for (&result);
  g_assert_false (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  fit (fixture);
}

static void
test_failed_fit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GError *error = NULL;

  g_cancellable_cancel (cancellable);
  reserve (fixture->model);
  apr_estimator_admit (fixture->model);
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  assert_refused (fixture);
  apr_estimator_release (fixture->model);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  fit (fixture);
}

static void
fit_sums (Fixture *fixture)
{
  g_autoptr (AprCrossProducts) sums = apr_cross_products_new (1, 1, NULL);
  GError *error = NULL;

  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_true (
    apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (fixture->model), sums, NULL, &error));
  g_assert_no_error (error);
}

static void
fit_more (Fixture *fixture)
{
  GError *error = NULL;

  g_assert_true (apr_linear_regression_partial_fit (APR_LINEAR_REGRESSION (fixture->model), fixture->x,
                                                    fixture->y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
fit_and_wait (Fixture *fixture)
{
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  begin_fit (fixture, &result);
  apr_estimator_release (fixture->model);
  wait_for (&result);
  g_assert_true (apr_estimator_fit_finish (fixture->model, result, &error));
  g_assert_no_error (error);
}

/* Those of the model when it was reserved: what is set later is for the next fit. */
static void
test_hyper_parameters (Fixture *fixture, gconstpointer data)
{
  void (*const fits[]) (Fixture *) = { fit, fit_more, fit_sums, fit_and_wait };
  g_autoptr (AprTensor) alphas = vector_new (1, (double[]){ 7 });
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (fits); i++)
    {
      reserve (fixture->model);
      g_object_set (fixture->model, "alpha", 35.0 / 4, NULL);
      apr_estimator_admit (fixture->model);
      fits[i](fixture);
      apr_estimator_release (fixture->model);
      assert_line (fixture, 2);

      /* The sum of (x - 7/4)² is 35/4, too. */
      fit (fixture);
      assert_line (fixture, 1);
      g_object_set (fixture->model, "alpha", 0.0, NULL);

      reserve (fixture->model);
      g_object_set (fixture->model, "alphas", alphas, "fit-intercept", FALSE, NULL);
      apr_estimator_admit (fixture->model);
      fits[i](fixture);
      apr_estimator_release (fixture->model);
      assert_line (fixture, 2);

      /* Σ x y = 49, Σ x² = 21 */
      fit (fixture);
      assert_line (fixture, 1.75);
      g_object_set (fixture->model, "alphas", NULL, "fit-intercept", TRUE, NULL);
      fit (fixture);
    }
}

static void
set_names (AprEstimator *model, const char *const *names)
{
  GError *error = NULL;

  g_assert_true (apr_estimator_set_feature_names (model, names, &error));
  g_assert_no_error (error);
}

/* Names that are set meanwhile are those of the result where they are as many; otherwise it has those of before. */
static void
test_names (Fixture *fixture, gconstpointer data)
{
  const char *const one[] = { "one", NULL };
  const char *const other[] = { "other", NULL };
  const char *const two[] = { "one", "two", NULL };

  set_names (fixture->model, one);
  reserve (fixture->model);
  set_names (fixture->model, two);
  apr_estimator_admit (fixture->model);
  fit (fixture);
  apr_estimator_release (fixture->model);
  assert_feature_names (fixture->model, one);

  reserve (fixture->model);
  set_names (fixture->model, other);
  apr_estimator_admit (fixture->model);
  fit (fixture);
  apr_estimator_release (fixture->model);
  assert_feature_names (fixture->model, other);

  /* A reservation without a fit leaves nothing of what was before. */
  reserve (fixture->model);
  set_names (fixture->model, one);
  apr_estimator_release (fixture->model);
  fit (fixture);
  assert_feature_names (fixture->model, one);
}

/* A function that reserves the model itself is let in by a caller that has reserved it, and ends later. */
static void
test_reserved_by_two (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;

  reserve (fixture->model);
  g_object_set (fixture->model, "alpha", 5.0, NULL);
  apr_estimator_admit (fixture->model);
  reserve (fixture->model);
  assert_refused (fixture);
  apr_estimator_release (fixture->model);
  assert_refused (fixture);

  apr_estimator_admit (fixture->model);
  begin_fit (fixture, &result);
  apr_estimator_release (fixture->model);
  wait_for (&result);
  g_assert_true (apr_estimator_fit_finish (fixture->model, result, NULL));
  assert_line (fixture, 2);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
}

static void
release_cb (AprEstimator *model, GParamSpec *pspec, gpointer user_data)
{
  apr_estimator_release (model);
}

static void
test_released_by_a_handler (Fixture *fixture, gconstpointer data)
{
  GError *error = NULL;

  g_signal_handlers_disconnect_by_data (fixture->model, fixture->seen);
  g_signal_connect (fixture->model, "notify::busy", G_CALLBACK (release_cb), NULL);
  g_assert_true (apr_estimator_reserve (fixture->model, &error));
  g_assert_no_error (error);
  g_assert_false (apr_estimator_get_busy (fixture->model));
  fit (fixture);
}

#define N_THREADS 3
#define N_ROUNDS 20

/* Adds samples in three steps, as a caller does who reads them in blocks. */
static gpointer
add_samples (gpointer data)
{
  Fixture *fixture = data;
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  gsize i;

  for (i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (AprCrossProducts) before = NULL;
      g_autoptr (AprCrossProducts) sums = NULL;
      g_autoptr (GError) error = NULL;

      while (!apr_estimator_reserve (fixture->model, &error))
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
          g_clear_error (&error);
          g_thread_yield ();
        }
      before = apr_linear_regression_get_cross_products (model);
      sums = before != NULL ? apr_cross_products_copy (before) : apr_cross_products_new (1, 1, NULL);
      g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, &error));
      apr_estimator_admit (fixture->model);
      apr_linear_regression_fit_cross_products (model, sums, NULL, &error);
      g_assert_no_error (error);
      apr_estimator_release (fixture->model);
    }

  return NULL;
}

static void
test_threads (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprCrossProducts) sums = NULL;
  GThread *threads[N_THREADS];
  gsize i;

  g_signal_handlers_disconnect_by_data (fixture->model, fixture->seen);
  for (i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("adds samples", add_samples, fixture);
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);

  sums = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));
  g_assert_cmpuint (apr_cross_products_get_n_samples (sums), ==, N_THREADS * N_ROUNDS * N_SAMPLES);
  assert_line (fixture, 2);
}

#define ADD(name, function) g_test_add ("/reservation/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("refuses-others", test_refuses_others);
  ADD ("asynchronous-fit", test_asynchronous_fit);
  ADD ("refused-arguments", test_refused_arguments);
  ADD ("failed-fit", test_failed_fit);
  ADD ("hyper-parameters", test_hyper_parameters);
  ADD ("names", test_names);
  ADD ("reserved-by-two", test_reserved_by_two);
  ADD ("released-by-a-handler", test_released_by_a_handler);
  ADD ("threads", test_threads);

  return g_test_run ();
}
