/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

/* Calls that change nothing return as soon as they are cancelled, whatever their threads do. */

/* The linker sends the library's calls of this function here. */
void __real_g_task_run_in_thread (GTask *task, GTaskThreadFunc function);
void __wrap_g_task_run_in_thread (GTask *task, GTaskThreadFunc function);

static guint n_threads;
static GTaskThreadFunc held;
static GMutex lock;
static GCond released_cond;
static gboolean released; /* under the lock */
static gint ended;        /* atomic: the task is freed */

static void
ended_cb (gpointer data G_GNUC_UNUSED)
{
  g_atomic_int_set (&ended, TRUE);
}

static void
hold (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_mutex_lock (&lock);
  while (!released)
    g_cond_wait (&released_cond, &lock);
  g_mutex_unlock (&lock);

  held (task, source, data, cancellable);
}

void
__wrap_g_task_run_in_thread (GTask *task, GTaskThreadFunc function)
{
  n_threads++;
  held = function;
  g_object_set_data_full (G_OBJECT (task), "test", task, ended_cb);
  __real_g_task_run_in_thread (task, hold);
}

#define N_SAMPLES 4

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprTensor *factors;
  AprEstimator *model;
  AprCrossProducts *state;
  AprRegressionStatistics *statistics;
  GBytes *bytes; /* of the model */
  AprSafetensorsReader *reader;
  GCancellable *cancellable;
  GAsyncResult *result;
} Fixture;

typedef struct
{
  const char *name;
  void (*begin) (Fixture *fixture);
  gboolean (*finish) (Fixture *fixture, GError **error);
} Case;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const double x[N_SAMPLES] = { 1, 2, 3, 4 };
  const double y[N_SAMPLES] = { 2, 3, 5, 7 };
  const double factors[] = { 0, 1 };
  GError *error = NULL;

  fixture->x = matrix_new (N_SAMPLES, 1, x);
  fixture->y = vector_new (N_SAMPLES, y);
  fixture->factors = vector_new (2, factors);
  fixture->model = APR_ESTIMATOR (fitted_new (fixture->x, fixture->y, NULL, TRUE));
  fixture->state = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));
  fixture->statistics =
    apr_linear_regression_get_statistics (APR_LINEAR_REGRESSION (fixture->model), 0, &error);
  g_assert_no_error (error);
  fixture->bytes = apr_estimator_to_bytes (fixture->model, &error);
  g_assert_no_error (error);
  fixture->reader = apr_safetensors_reader_new_from_bytes (fixture->bytes, &error);
  g_assert_no_error (error);
  fixture->cancellable = g_cancellable_new ();
  n_threads = 0;
  released = FALSE;
  g_atomic_int_set (&ended, FALSE);
}

static void
clear (Fixture *fixture)
{
  g_clear_object (&fixture->result);
  g_clear_pointer (&fixture->x, apr_tensor_unref);
  g_clear_pointer (&fixture->y, apr_tensor_unref);
  g_clear_pointer (&fixture->factors, apr_tensor_unref);
  g_clear_object (&fixture->model);
  g_clear_object (&fixture->state);
  g_clear_object (&fixture->statistics);
  g_clear_pointer (&fixture->bytes, g_bytes_unref);
  g_clear_object (&fixture->reader);
  g_clear_object (&fixture->cancellable);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  clear (fixture);
}

static gboolean
unref_tensor (AprTensor *tensor)
{
  gboolean made = tensor != NULL;

  g_clear_pointer (&tensor, apr_tensor_unref);
  return made;
}

static gboolean
unref_object (gpointer object)
{
  gboolean made = object != NULL;

  g_clear_object (&object);
  return made;
}

static void
begin_cast (Fixture *fixture)
{
  apr_tensor_cast_async (fixture->x, APR_DTYPE_F32, G_PRIORITY_DEFAULT, fixture->cancellable, on_ready,
                         &fixture->result);
}

static gboolean
finish_cast (Fixture *fixture, GError **error)
{
  return unref_tensor (apr_tensor_cast_finish (fixture->x, fixture->result, error));
}

static void
begin_get_tensor (Fixture *fixture)
{
  apr_safetensors_reader_get_tensor_async (fixture->reader, "coefficients", G_PRIORITY_DEFAULT,
                                           fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_get_tensor (Fixture *fixture, GError **error)
{
  return unref_tensor (apr_safetensors_reader_get_tensor_finish (fixture->reader, fixture->result, error));
}

static void
begin_get_slice (Fixture *fixture)
{
  apr_safetensors_reader_get_slice_async (fixture->reader, "coefficients", ":1", G_PRIORITY_DEFAULT,
                                          fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_get_slice (Fixture *fixture, GError **error)
{
  return unref_tensor (apr_safetensors_reader_get_slice_finish (fixture->reader, fixture->result, error));
}

static void
begin_metric (Fixture *fixture)
{
  apr_compute_metric_async (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, fixture->y, fixture->y, NULL,
                            G_PRIORITY_DEFAULT, fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_metric (Fixture *fixture, GError **error)
{
  return unref_tensor (apr_compute_metric_finish (fixture->result, error));
}

static void
begin_load (Fixture *fixture)
{
  apr_estimator_from_bytes_async (APR_TYPE_LINEAR_REGRESSION, fixture->bytes, G_PRIORITY_DEFAULT,
                                  fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_load (Fixture *fixture, GError **error)
{
  return unref_object (apr_estimator_from_bytes_finish (fixture->result, error));
}

static void
begin_predict (Fixture *fixture)
{
  apr_estimator_predict_async (fixture->model, fixture->x, G_PRIORITY_DEFAULT, fixture->cancellable, on_ready,
                               &fixture->result);
}

static gboolean
finish_predict (Fixture *fixture, GError **error)
{
  return unref_tensor (apr_estimator_predict_finish (fixture->model, fixture->result, error));
}

static void
begin_equal (Fixture *fixture)
{
  apr_cross_products_equal_async (fixture->state, fixture->state, G_PRIORITY_DEFAULT, fixture->cancellable,
                                  on_ready, &fixture->result);
}

static gboolean
finish_equal (Fixture *fixture, GError **error)
{
  return apr_cross_products_equal_finish (fixture->state, fixture->result, error);
}

static void
begin_test (Fixture *fixture)
{
  apr_regression_statistics_test_hypothesis_async (fixture->statistics, fixture->factors, NULL,
                                                   G_PRIORITY_DEFAULT, fixture->cancellable, on_ready,
                                                   &fixture->result);
}

static gboolean
finish_test (Fixture *fixture, GError **error)
{
  return unref_object (
    apr_regression_statistics_test_hypothesis_finish (fixture->statistics, fixture->result, error));
}

static void
finish (Fixture *fixture, const Case *test)
{
  g_autoptr (GError) error = NULL;

  /* What it has to do is done: no thread is to be waited for. */
  while (fixture->result == NULL && g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_nonnull (fixture->result);
  g_assert_false (test->finish (fixture, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_before (Fixture *fixture, gconstpointer data)
{
  const Case *test = data;

  g_test_summary ("What is cancelled before it begins needs no thread.");

  g_cancellable_cancel (fixture->cancellable);
  test->begin (fixture);
  g_assert_cmpuint (n_threads, ==, 0);
  finish (fixture, test);
}

static void
test_meanwhile (Fixture *fixture, gconstpointer data)
{
  const Case *test = data;

  g_test_summary (
    "What is cancelled while a thread works does not wait for it, and leaves it what it needs.");

  test->begin (fixture);
  g_assert_cmpuint (n_threads, ==, 1);
  g_cancellable_cancel (fixture->cancellable);
  finish (fixture, test);

  /* What the thread still works with is the task's. */
  clear (fixture);
  g_mutex_lock (&lock);
  released = TRUE;
  g_cond_signal (&released_cond);
  g_mutex_unlock (&lock);
  while (!g_atomic_int_get (&ended))
    g_usleep (1000);
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static const Case cases[] = {
  { "cast", begin_cast, finish_cast },
  { "get-tensor", begin_get_tensor, finish_get_tensor },
  { "get-slice", begin_get_slice, finish_get_slice },
  { "metric", begin_metric, finish_metric },
  { "from-bytes", begin_load, finish_load },
  { "predict", begin_predict, finish_predict },
  { "equal", begin_equal, finish_equal },
  { "test-hypothesis", begin_test, finish_test },
};

int
main (int argc, char **argv)
{
  gsize i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *before = g_strconcat ("/early-cancel/before/", cases[i].name, NULL);
      g_autofree char *meanwhile = g_strconcat ("/early-cancel/meanwhile/", cases[i].name, NULL);

      g_test_add (before, Fixture, &cases[i], set_up, test_before, tear_down);
      g_test_add (meanwhile, Fixture, &cases[i], set_up, test_meanwhile, tear_down);
    }

  return g_test_run ();
}
