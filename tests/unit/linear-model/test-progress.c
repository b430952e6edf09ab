/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

#include <fenv.h>
#include <math.h>

#include "aprender/estimator/apr-estimator-private.h"

/* What the property “progress” of a fit tells, and what its handlers may do. */

#define N_SAMPLES 80021
#define N_FEATURES 3

typedef struct
{
  AprTensor *x;
  AprTensor *y;

  GThread *thread;
  double done;
  guint n_told;
  guint cancel_when; /* so many have been told; 0 for never */
  GCancellable *cancellable;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree double *values = g_new (double, N_SAMPLES *(N_FEATURES + 1));
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  gsize i;

  for (i = 0; i < N_SAMPLES * (N_FEATURES + 1); i++)
    values[i] = g_rand_double (rand);
  fixture->x = matrix_new (N_SAMPLES, N_FEATURES, values);
  fixture->y = vector_new (N_SAMPLES, values + N_SAMPLES * N_FEATURES);
  fixture->thread = g_thread_self ();
  fixture->cancellable = g_cancellable_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  g_object_unref (fixture->cancellable);
}

static void
progress_cb (AprEstimator *model, GParamSpec *pspec, Fixture *fixture)
{
  double progress = apr_estimator_get_progress (model);

  g_assert_true (g_thread_self () == fixture->thread);
  if (progress == 0)
    {
      /* A fit begins. */
      fixture->done = 0;
      fixture->n_told = 0;
      return;
    }

  g_assert_cmpfloat (progress, >, fixture->done);
  g_assert_cmpfloat (progress, <=, 1);
  fixture->done = progress;
  fixture->n_told++;
  if (fixture->n_told == fixture->cancel_when)
    g_cancellable_cancel (fixture->cancellable);
}

static AprLinearRegression *
model_new (Fixture *fixture, guint n_threads)
{
  AprLinearRegression *model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "n-threads", n_threads, NULL);

  g_signal_connect (model, "notify::progress", G_CALLBACK (progress_cb), fixture);
  fixture->done = 0;
  fixture->n_told = 0;

  return model;
}

static gboolean
fit (Fixture *fixture, AprLinearRegression *model, GError **error)
{
  return apr_estimator_fit (APR_ESTIMATOR (model), fixture->x, fixture->y, NULL, fixture->cancellable, error);
}

/* In one thread, the least that there is to tell; in more, others may have been quicker. */
static void
assert_told (const Fixture *fixture, guint least)
{
  g_assert_cmpfloat (fixture->done, ==, 1);
  g_assert_cmpuint (fixture->n_told, >=, least);
  g_assert_cmpuint (fixture->n_told, <=, 40);
}

static void
assert_same_model (AprLinearRegression *model, AprLinearRegression *other)
{
  g_assert_true (apr_tensor_equal (coefficients_of (model), coefficients_of (other)));
  g_assert_true (apr_tensor_equal (intercept_of (model), intercept_of (other)));
}

static void
test_fit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) silent = apr_linear_regression_new ();
  guint n_threads;

  g_assert_true (fit (fixture, silent, NULL));
  for (n_threads = 1; n_threads < 4; n_threads++)
    {
      g_autoptr (AprLinearRegression) model = model_new (fixture, n_threads);

      g_assert_true (fit (fixture, model, NULL));
      assert_told (fixture, n_threads == 1 ? 20 : 1);
      assert_same_model (model, silent);

      g_assert_true (
        apr_linear_regression_partial_fit (model, fixture->x, fixture->y, NULL, fixture->cancellable, NULL));
      assert_told (fixture, n_threads == 1 ? 20 : 1);
    }
}

static void
test_few (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = model_new (fixture, 0);
  g_autoptr (AprTensor) x = apr_tensor_slice_rows (fixture->x, 0, 9, NULL);
  g_autoptr (AprTensor) y = apr_tensor_slice_rows (fixture->y, 0, 9, NULL);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  assert_told (fixture, 1);
}

static void
test_cancel (Fixture *fixture, gconstpointer data)
{
  const guint when[] = { 1, 5, 0 };
  g_autoptr (AprLinearRegression) model = model_new (fixture, 1);
  guint n_all;
  gsize i;

  g_test_summary ("A handler may cancel, even when all rows have been summed: the model is as it was.");
  g_assert_true (fit (fixture, model, NULL));
  n_all = fixture->n_told;
  g_assert_cmpuint (n_all, >, 5);
  for (i = 0; i < G_N_ELEMENTS (when); i++)
    {
      g_autoptr (AprLinearRegression) unfitted = model_new (fixture, 1);
      g_autoptr (GError) error = NULL;

      g_cancellable_reset (fixture->cancellable);
      /* The last one tells that the model has changed. */
      fixture->cancel_when = when[i] != 0 ? when[i] : n_all - 1;
      g_assert_false (fit (fixture, unfitted, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (fixture->n_told, ==, fixture->cancel_when);
      g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (unfitted)));
    }
}

#define N_SOLVED 60
#define SUMS_SHARE (N_SOLVED / (N_SOLVED + 3.0 * 2 * N_SOLVED))

/* Twice as many features as samples: most of the work is to solve for them. */
static void
cut_wide (Fixture *fixture, AprTensor **x, AprTensor **y)
{
  const double *doubles = apr_tensor_get_doubles (fixture->x, NULL, NULL);

  *x = matrix_new (N_SOLVED, 2 * N_SOLVED, doubles);
  *y = apr_tensor_slice_rows (fixture->y, 0, N_SOLVED, NULL);
}

typedef struct
{
  GCancellable *cancellable;
  double limit;     /* beyond which it is cancelled */
  guint n_in_solve; /* reports strictly between the end of the sums and 1 */
} Solve;

static void
solve_progress_cb (AprEstimator *model, GParamSpec *pspec, Solve *solve)
{
  double progress = apr_estimator_get_progress (model);

  if (progress > SUMS_SHARE && progress < 1)
    solve->n_in_solve++;
  if (progress > solve->limit && progress < 1)
    g_cancellable_cancel (solve->cancellable);
}

static void
test_solve (Fixture *fixture, gconstpointer data)
{
  const double limits[] = { 0.3, 0.5, 0.7 };
  g_autoptr (AprLinearRegression) silent = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  g_test_summary ("Progress goes on while the sums are solved, and there too a handler may cancel.");
  cut_wide (fixture, &x, &y);
  g_assert_true (fit (fixture, silent, NULL));
  for (i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autoptr (AprLinearRegression) model = model_new (fixture, 1);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Solve solve = { cancellable, 1, 0 };

      g_assert_true (fit (fixture, model, NULL));
      g_signal_connect (model, "notify::progress", G_CALLBACK (solve_progress_cb), &solve);
      solve.limit = limits[i];
      g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      assert_same_model (model, silent);
      g_assert_cmpuint (apr_estimator_get_n_features (APR_ESTIMATOR (model)), ==, N_FEATURES);
      g_assert_cmpuint (solve.n_in_solve, >=, 1);

      solve = (Solve){ fixture->cancellable, 1, 0 };
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, fixture->cancellable, NULL));
      g_assert_cmpuint (solve.n_in_solve, >=, 4);
      assert_told (fixture, 5);
    }
}

static void
test_current (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  AprEstimator *estimator = APR_ESTIMATOR (model);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Methods without a cancellable of their own, such as asynchronous ones call, heed the current one.");
  g_assert_true (fit (fixture, model, NULL));
  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  g_assert_null (apr_estimator_predict (estimator, fixture->x, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_cmpfloat (apr_estimator_score (estimator, fixture->x, fixture->y, NULL, &error), ==, 0);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_cmpfloat (apr_r2_score (fixture->y, fixture->y, NULL, &error), ==, 0);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (isnan (apr_linear_regression_compute_condition_number (model)));
  g_cancellable_pop_current (cancellable);
  g_assert_cmpfloat (apr_linear_regression_compute_condition_number (model), >, 1);

  /* To describe thousands of terms takes long, even where what is described is known. */
  g_clear_error (&error);
  g_object_unref (apr_linear_regression_get_statistics (model, 0, NULL));
  g_cancellable_push_current (cancellable);
  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_summary (model, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_cancellable_pop_current (cancellable);
}

static void
test_condition_async (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) other = apr_linear_regression_new ();
  gboolean cancelled;

  g_assert_true (fit (fixture, model, NULL));
  g_assert_true (fit (fixture, other, NULL));
  for (cancelled = 1; cancelled >= 0; cancelled--)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GAsyncResult) finished = NULL;
      g_autoptr (GError) error = NULL;
      double number;

      if (cancelled)
        g_cancellable_cancel (cancellable);
      apr_linear_regression_compute_condition_number_async (model, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                                            &finished);
      wait_for (&finished);
      number = apr_linear_regression_compute_condition_number_finish (model, finished, &error);
      if (cancelled)
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_cmpfloat (number, ==, apr_linear_regression_compute_condition_number (other));
    }
}

static void
round_upward_cb (GObject *object, GParamSpec *pspec, gpointer user_data)
{
  fesetround (FE_UPWARD);
}

static void
test_environment (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) silent = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) model = model_new (fixture, 2);

  g_test_summary ("A handler that rounds otherwise does not change the fit.");
  g_assert_true (fit (fixture, silent, NULL));
  g_signal_connect (model, "notify::progress", G_CALLBACK (round_upward_cb), NULL);
  g_assert_true (fit (fixture, model, NULL));
  g_assert_cmpint (fesetround (FE_TONEAREST), ==, 0);
  assert_same_model (model, silent);
}

static void
disconnect_cb (GObject *object, GParamSpec *pspec, guint *n_told)
{
  ++*n_told;
  g_signal_handlers_disconnect_by_func (object, disconnect_cb, n_told);
}

static void
test_disconnect (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  guint n_told = 0;

  g_signal_connect (model, "notify::progress", G_CALLBACK (disconnect_cb), &n_told);
  g_assert_true (fit (fixture, model, NULL));
  g_assert_cmpuint (n_told, ==, 1);
}

static void
refit_cb (AprEstimator *model, GParamSpec *pspec, Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture->n_told++;
  g_assert_true (apr_estimator_get_busy (model));
  g_assert_false (fit (fixture, APR_LINEAR_REGRESSION (model), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
}

static void
test_refit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GAsyncResult) finished = NULL;

  g_test_summary ("Whoever hears of progress, to its end, or of a result, cannot begin another fit.");
  g_signal_connect (model, "notify::progress", G_CALLBACK (refit_cb), fixture);
  g_signal_connect (model, "notify::coefficients", G_CALLBACK (refit_cb), fixture);
  g_assert_true (fit (fixture, model, NULL));
  g_assert_cmpfloat (apr_estimator_get_progress (APR_ESTIMATOR (model)), ==, 1);
  /* 0, 1, and the coefficients */
  g_assert_cmpuint (fixture->n_told, >=, 3);

  apr_estimator_fit_async (APR_ESTIMATOR (model), fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL,
                           on_ready, &finished);
  wait_for (&finished);
  g_assert_true (apr_estimator_fit_finish (APR_ESTIMATOR (model), finished, NULL));
  g_assert_false (apr_estimator_get_busy (APR_ESTIMATOR (model)));
}

static void
set_cb (AprEstimator *model, GParamSpec *pspec, const char *const *names)
{
  GError *error = NULL;

  if (!apr_estimator_get_busy (model))
    return;
  g_object_set (model, "dtype", APR_DTYPE_F32, "alpha", 1e9, NULL);
  apr_estimator_set_feature_names (model, names, &error);
  g_assert_no_error (error);
}

static void
fit_async (Fixture *fixture, AprEstimator *model)
{
  g_autoptr (GAsyncResult) finished = NULL;
  GError *error = NULL;

  apr_estimator_fit_async (model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                           &finished);
  wait_for (&finished);
  apr_estimator_fit_finish (model, finished, &error);
  g_assert_no_error (error);
}

static void
test_set_beside (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) expected = apr_linear_regression_new ();
  gsize n_features = apr_tensor_get_shape (fixture->x, NULL)[1];
  gsize n_names;

  g_test_summary (
    "A fit uses the properties that it began with; names as many as its features become the model's.");
  g_assert_true (fit (fixture, expected, NULL));
  for (n_names = n_features; n_names < n_features + 2; n_names++)
    {
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_auto (GStrv) names = g_new0 (char *, n_names + 1);
      gsize i;

      for (i = 0; i < n_names; i++)
        names[i] = g_strdup_printf ("f%" G_GSIZE_FORMAT, i);
      g_signal_connect (model, "notify::busy", G_CALLBACK (set_cb), names);
      fit_async (fixture, APR_ESTIMATOR (model));
      assert_same_model (model, expected);
      assert_feature_names (model, n_names == n_features ? (const char *const *) names : NULL);
      g_assert_cmpfloat (apr_linear_regression_get_alpha (model), ==, 1e9);

      /* The next one has what was set. */
      g_signal_handlers_disconnect_by_data (model, names);
      fit_async (fixture, APR_ESTIMATOR (model));
      g_assert_cmpint (apr_tensor_get_dtype (coefficients_of (model)), ==, APR_DTYPE_F32);
      assert_feature_names (model, n_names == n_features ? (const char *const *) names : NULL);
    }
}

static void
test_failure (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = model_new (fixture, 1);
  g_autofree double *values = g_new0 (double, N_SAMPLES);
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What fails does not tell that all is done.");
  values[N_SAMPLES - 1] = NAN;
  y = vector_new (N_SAMPLES, values);
  g_assert_false (apr_estimator_fit (APR_ESTIMATOR (model), fixture->x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  g_assert_cmpfloat (fixture->done, <, 1);
}

static void
test_async (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (AprLinearRegression) silent = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GAsyncResult) finished = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("Of an asynchronous fit the caller's main context hears, before it ends.");
  g_assert_true (fit (fixture, silent, NULL));
  model = model_new (fixture, 1);
  g_main_context_push_thread_default (context);
  apr_estimator_fit_async (APR_ESTIMATOR (model), fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT,
                           fixture->cancellable, on_ready, &finished);
  while (finished == NULL)
    g_main_context_iteration (context, TRUE);
  g_main_context_pop_thread_default (context);
  apr_estimator_fit_finish (APR_ESTIMATOR (model), finished, &error);
  g_assert_no_error (error);
  /* A context that is slow to hear hears of several steps at once. */
  assert_told (fixture, 1);
  assert_same_model (model, silent);
}

static void
test_async_is_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = model_new (fixture, 1);
  g_autoptr (GAsyncResult) finished = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "If the thread was quicker than the handler, the fit may have succeeded; else nothing has changed.");
  fixture->cancel_when = 1;
  apr_estimator_fit_async (APR_ESTIMATOR (model), fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT,
                           fixture->cancellable, on_ready, &finished);
  wait_for (&finished);
  if (!apr_estimator_fit_finish (APR_ESTIMATOR (model), finished, &error))
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (apr_estimator_get_fitted (APR_ESTIMATOR (model)) == (error == NULL));
}

#define ADD(name, function) g_test_add ("/progress/" name, Fixture, NULL, set_up, function, tear_down)

static gpointer
report_cb (gpointer model)
{
  apr_estimator_report_progress (model, apr_estimator_get_progress (model) + 0.25);
  return NULL;
}

static void
report_again_cb (AprEstimator *model, GParamSpec *pspec, GArray *told)
{
  double progress;

  if (told->len < 2)
    g_thread_join (g_thread_new ("report", report_cb, model));
  progress = apr_estimator_get_progress (model);
  g_array_append_val (told, progress);
}

/* What is reported while a handler runs is told once, after it. */
static void
test_once (void)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GArray) told = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) error = NULL;

  g_assert_true (g_main_context_acquire (NULL));
  g_assert_true (apr_estimator_begin_update (APR_ESTIMATOR (model), g_main_context_default (),
                                             G_PRIORITY_DEFAULT, &error));
  g_assert_no_error (error);
  g_signal_connect (model, "notify::progress", G_CALLBACK (report_again_cb), told);
  g_thread_join (g_thread_new ("report", report_cb, model));
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (told->len, ==, 3);
  g_assert_cmpfloat (g_array_index (told, double, 0), ==, 0.25);
  g_assert_cmpfloat (g_array_index (told, double, 1), ==, 0.5);
  g_assert_cmpfloat (g_array_index (told, double, 2), ==, 0.75);
  apr_estimator_end_update (APR_ESTIMATOR (model), FALSE);
  g_main_context_release (NULL);
}

static void
count_cb (AprEstimator *model G_GNUC_UNUSED, GParamSpec *pspec G_GNUC_UNUSED, guint *n_told)
{
  ++*n_told;
}

static gboolean
set_true_cb (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
  return G_SOURCE_REMOVE;
}

/* The end is told once, also where who fits has reported it. */
static void
test_reported_end (void)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  guint n_told = 0;

  g_assert_true (g_main_context_acquire (NULL));
  g_assert_true (apr_estimator_begin_update (APR_ESTIMATOR (model), g_main_context_default (),
                                             G_PRIORITY_DEFAULT, &error));
  g_assert_no_error (error);
  g_signal_connect (model, "notify::progress", G_CALLBACK (count_cb), &n_told);
  apr_estimator_report_progress (APR_ESTIMATOR (model), 1);
  g_assert_cmpuint (n_told, ==, 1);
  apr_estimator_end_update (APR_ESTIMATOR (model), TRUE);
  g_assert_cmpuint (n_told, ==, 1);
  g_assert_cmpfloat (apr_estimator_get_progress (APR_ESTIMATOR (model)), ==, 1);
  g_main_context_release (NULL);
}

/* An update ends before its context has told what a thread has reported. */
static void
update_untold (AprEstimator *model, GMainContext *context)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_begin_update (model, context, G_PRIORITY_DEFAULT, &error));
  g_assert_no_error (error);
  g_thread_join (g_thread_new ("report", report_cb, model));
  apr_estimator_end_update (model, FALSE);
}

static void
test_overtaken (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GMainContext) other = g_main_context_new ();
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  guint n_told = 0;

  g_test_summary (
    "A report that the end of a fit has overtaken is not told, and the next fit's are, in its context.");
  update_untold (APR_ESTIMATOR (model), context);
  g_assert_true (apr_estimator_begin_update (APR_ESTIMATOR (model), other, G_PRIORITY_HIGH, &error));
  g_signal_connect (model, "notify::progress", G_CALLBACK (count_cb), &n_told);
  g_thread_join (g_thread_new ("report", report_cb, model));
  while (g_main_context_iteration (context, FALSE))
    ;
  g_assert_cmpuint (n_told, ==, 0);
  g_assert_true (g_main_context_iteration (other, FALSE));
  g_assert_cmpuint (n_told, ==, 1);
  g_assert_cmpfloat (apr_estimator_get_progress (APR_ESTIMATOR (model)), ==, 0.25);
  apr_estimator_end_update (APR_ESTIMATOR (model), FALSE);
}

static void
test_priority (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GSource) source = g_idle_source_new ();
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  guint n_told = 0;
  gboolean is_called = FALSE;

  g_test_summary ("Progress is told with the priority of the fit, so that its end does not come first.");
  g_assert_true (apr_estimator_begin_update (APR_ESTIMATOR (model), context, G_PRIORITY_HIGH, &error));
  g_signal_connect (model, "notify::progress", G_CALLBACK (count_cb), &n_told);
  g_source_set_priority (source, G_PRIORITY_HIGH + 1);
  g_source_set_callback (source, set_true_cb, &is_called, NULL);
  g_source_attach (source, context);
  g_thread_join (g_thread_new ("report", report_cb, model));
  g_assert_true (g_main_context_iteration (context, FALSE));
  g_assert_cmpuint (n_told, ==, 1);
  g_assert_false (is_called);
  apr_estimator_end_update (APR_ESTIMATOR (model), FALSE);
  g_source_destroy (source);
}

static void
test_thread_of_fit (void)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  guint n_told = 0;

  g_test_summary ("What a thread that a synchronous fit has started reports is not told there.");
  g_assert_true (apr_estimator_begin_update (APR_ESTIMATOR (model), NULL, G_PRIORITY_DEFAULT, &error));
  apr_estimator_set_updating (APR_ESTIMATOR (model), TRUE);
  g_signal_connect (model, "notify::progress", G_CALLBACK (count_cb), &n_told);
  g_thread_join (g_thread_new ("report", report_cb, model));
  g_assert_cmpuint (n_told, ==, 0);
  apr_estimator_report_progress (APR_ESTIMATOR (model), NAN);
  g_assert_cmpuint (n_told, ==, 0);
  apr_estimator_report_progress (APR_ESTIMATOR (model), 0.5);
  g_assert_cmpuint (n_told, ==, 1);
  g_assert_cmpfloat (apr_estimator_get_progress (APR_ESTIMATOR (model)), ==, 0.5);
  apr_estimator_end_update (APR_ESTIMATOR (model), FALSE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("fit", test_fit);
  ADD ("few", test_few);
  ADD ("cancel", test_cancel);
  ADD ("solve", test_solve);
  ADD ("current", test_current);
  ADD ("condition-number", test_condition_async);
  ADD ("environment", test_environment);
  ADD ("disconnect", test_disconnect);
  ADD ("refit", test_refit);
  ADD ("set-beside", test_set_beside);
  ADD ("failure", test_failure);
  ADD ("async", test_async);
  ADD ("async/cancelled", test_async_is_cancelled);
  g_test_add_func ("/progress/reported-end", test_reported_end);
  g_test_add_func ("/progress/once", test_once);
  g_test_add_func ("/progress/overtaken", test_overtaken);
  g_test_add_func ("/progress/priority", test_priority);
  g_test_add_func ("/progress/thread-of-fit", test_thread_of_fit);

  return g_test_run ();
}
