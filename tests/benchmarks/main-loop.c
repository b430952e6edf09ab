/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>
#include <glib/gstdio.h>
#include <stdlib.h>

#include "clock.h"

/* How long the main loop has no turn during each asynchronous method, and how long a method goes on when it is
 * cancelled: after a quarter, a half and three quarters of what it takes. Each is the minimum of some rounds, in
 * milliseconds, since other processes can only make it longer. The first line is of a method that does nothing, so
 * it is the machine's own.
 *
 * The processor time that the main thread has between two turns is what the library itself keeps the loop from; other
 * processes do not count. Arguments: a part of the methods' names, and how many rounds. */

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprEstimator *model; /* fitted */
  AprCrossProducts *sums;
  GFile *file;
} Data;

typedef struct
{
  const char *name;
  void (*begin) (const Data *data,
                 GCancellable *cancellable,
                 GAsyncReadyCallback callback,
                 gpointer user_data);
} Method;

typedef struct
{
  GMainLoop *loop;
  gint64 last;
  gint64 longest;
  gint64 last_held; /* of the main thread's processor time */
  gint64 longest_held;
} Watch;

static void
do_nothing (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  int i;

  for (i = 0; i < 300 && !g_cancellable_is_cancelled (cancellable); i++)
    g_usleep (1000);
  g_task_return_boolean (task, TRUE);
}

static void
begin_nothing (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_task_run_in_thread (task, do_nothing);
}

static void
begin_fit (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (AprEstimator) model = apr_estimator_clone (data->model);

  apr_estimator_fit_async (model, data->x, data->y, NULL, G_PRIORITY_DEFAULT, cancellable, callback,
                           user_data);
}

static void
begin_partial_fit (const Data *data,
                   GCancellable *cancellable,
                   GAsyncReadyCallback callback,
                   gpointer user_data)
{
  g_autoptr (AprEstimator) model = apr_estimator_copy (data->model, NULL);

  apr_linear_regression_partial_fit_async (APR_LINEAR_REGRESSION (model), data->x, data->y, NULL,
                                           G_PRIORITY_DEFAULT, cancellable, callback, user_data);
}

static void
begin_fit_cross_products (const Data *data,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_autoptr (AprEstimator) model = apr_estimator_clone (data->model);

  apr_linear_regression_fit_cross_products_async (APR_LINEAR_REGRESSION (model), data->sums,
                                                  G_PRIORITY_DEFAULT, cancellable, callback, user_data);
}

static void
begin_update (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (AprCrossProducts) sums =
    apr_cross_products_new (apr_estimator_get_n_features (data->model), 1, NULL);

  apr_cross_products_update_async (sums, data->x, data->y, NULL, G_PRIORITY_DEFAULT, cancellable, callback,
                                   user_data);
}

static void
begin_predict (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  apr_estimator_predict_async (data->model, data->x, G_PRIORITY_DEFAULT, cancellable, callback, user_data);
}

static void
begin_score (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  apr_estimator_score_async (data->model, data->x, data->y, NULL, G_PRIORITY_DEFAULT, cancellable, callback,
                             user_data);
}

/* Statistics stay with what was found: each time it has to be found anew. */
static void
refit (const Data *data)
{
  g_autoptr (GError) error = NULL;

  apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (data->model), data->sums, NULL, &error);
  g_assert_no_error (error);
}

static void
begin_get_statistics (const Data *data,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer user_data)
{
  apr_linear_regression_get_statistics_async (APR_LINEAR_REGRESSION (data->model), 0, G_PRIORITY_DEFAULT,
                                              cancellable, callback, user_data);
}

static void
begin_predict_interval (const Data *data,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  apr_linear_regression_predict_interval_async (APR_LINEAR_REGRESSION (data->model), data->x, 0.95,
                                                APR_INTERVAL_PREDICTION, G_PRIORITY_DEFAULT, cancellable,
                                                callback, user_data);
}

static void
begin_save (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  apr_estimator_save_to_file_async (data->model, data->file, G_PRIORITY_DEFAULT, cancellable, callback,
                                    user_data);
}

static void
begin_load (const Data *data, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  apr_estimator_load_from_file_async (APR_TYPE_LINEAR_REGRESSION, data->file, G_PRIORITY_DEFAULT, cancellable,
                                      callback, user_data);
}

static const Method methods[] = {
  { "nothing", begin_nothing },
  { "fit", begin_fit },
  { "partial_fit", begin_partial_fit },
  { "update", begin_update },
  { "fit_cross_products", begin_fit_cross_products },
  { "predict", begin_predict },
  { "score", begin_score },
  { "get_statistics", begin_get_statistics },
  { "predict_interval", begin_predict_interval },
  { "save_to_file", begin_save },
  { "load_from_file", begin_load },
};

static gint64
get_processor_time (void)
{
  return clock_read (CLOCK_THREAD_CPUTIME_ID) / 1000;
}

static gboolean
turn_cb (gpointer user_data)
{
  Watch *watch = user_data;
  gint64 now = g_get_monotonic_time ();
  gint64 held = get_processor_time ();

  watch->longest = MAX (watch->longest, now - watch->last);
  watch->last = now;
  watch->longest_held = MAX (watch->longest_held, held - watch->last_held);
  watch->last_held = held;

  return G_SOURCE_CONTINUE;
}

static void
done_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  turn_cb (user_data);
  g_main_loop_quit (((Watch *) user_data)->loop);
}

static gboolean
cancel_cb (gpointer user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_REMOVE;
}

/* Runs a method, and cancels it after a time where that is not 0. Returns how long it took, in microseconds. */
static gint64
run (const Method *method, const Data *data, gint64 cancel_after, Watch *watch)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GSource) cancel = g_timeout_source_new ((guint) (cancel_after / 1000));
  guint turns;
  gint64 start;
  gint64 time;

  refit (data);
  if (cancel_after > 0)
    {
      g_source_set_callback (cancel, cancel_cb, cancellable, NULL);
      g_source_attach (cancel, NULL);
    }
  turns = g_timeout_add (1, turn_cb, watch);
  start = g_get_monotonic_time ();
  *watch = (Watch){ .loop = loop, .last = start, .last_held = get_processor_time () };
  method->begin (data, cancellable, done_cb, watch);
  g_main_loop_run (loop);
  time = g_get_monotonic_time () - start;
  g_source_remove (turns);
  g_source_destroy (cancel);

  return time;
}

static void
measure (const Method *method, const Data *data, int n_rounds)
{
  gint64 gap = G_MAXINT64;
  gint64 held = G_MAXINT64;
  gint64 time = G_MAXINT64;
  gint64 late[3] = { G_MAXINT64, G_MAXINT64, G_MAXINT64 };
  Watch watch;
  int i;
  int j;

  for (i = 0; i < n_rounds; i++)
    {
      gint64 taken = run (method, data, 0, &watch);

      time = MIN (time, taken);
      gap = MIN (gap, watch.longest);
      held = MIN (held, watch.longest_held);
    }
  for (i = 0; i < n_rounds; i++)
    for (j = 0; j < 3; j++)
      {
        gint64 moment = MAX (time * (j + 1) / 4, 1000);

        gint64 taken = run (method, data, moment, &watch);

        late[j] = MIN (late[j], MAX (taken - moment, 0));
      }

  g_print ("| %-20s | %9.1f | %9.1f | %9.1f | %12.1f | %6.1f | %6.1f |\n", method->name, (double) time / 1000,
           (double) gap / 1000, (double) held / 1000, (double) late[0] / 1000, (double) late[1] / 1000,
           (double) late[2] / 1000);
}

static void
data_init (Data *data, gsize n_samples, gsize n_features)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;
  g_autofree float *x = g_new (float, n_samples *n_features);
  g_autofree float *y = g_new (float, n_samples);
  gsize shape[] = { n_samples, n_features };
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "aprender-main-loop-XXXXXX", NULL);
  gsize i;

  for (i = 0; i < n_samples * n_features; i++)
    x[i] = (float) g_rand_double (rand);
  for (i = 0; i < n_samples; i++)
    y[i] = (float) (x[i * n_features] + g_rand_double (rand));
  data->x = apr_tensor_new_from_floats (x, n_samples * n_features, shape, 2, NULL);
  data->y = apr_tensor_new_from_floats (y, n_samples, shape, 1, NULL);
  data->sums = apr_cross_products_new (n_features, 1, NULL);
  data->model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_close (g_mkstemp (path), NULL);
  data->file = g_file_new_for_path (path);
  apr_cross_products_update (data->sums, data->x, data->y, NULL, NULL, &error);
  g_assert_no_error (error);
  refit (data);
  apr_estimator_save_to_file (data->model, data->file, NULL, &error);
  g_assert_no_error (error);
}

static void
data_clear (Data *data)
{
  g_file_delete (data->file, NULL, NULL);
  g_object_unref (data->file);
  g_object_unref (data->model);
  g_object_unref (data->sums);
  apr_tensor_unref (data->y);
  apr_tensor_unref (data->x);
}

int
main (int argc, char **argv)
{
  static const gsize shapes[][2] = { { 5000000, 10 }, { 5000, 1000 } };
  const char *part = argc > 1 ? argv[1] : "";
  int n_rounds = argc > 2 ? MAX (atoi (argv[2]), 1) : 3;
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      Data data;

      data_init (&data, shapes[i][0], shapes[i][1]);
      g_print ("# %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT ", milliseconds, minimum of %d rounds\n",
               shapes[i][0], shapes[i][1], n_rounds);
      g_print (
        "| %-20s | %9s | %9s | %9s | %12s | %6s | %6s |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        "method", "takes", "gap", "held", "cancel 25 %", "50 %", "75 %");
      for (j = 0; j < G_N_ELEMENTS (methods); j++)
        if (j == 0 || g_strstr_len (methods[j].name, -1, part) != NULL)
          measure (&methods[j], &data, n_rounds);
      data_clear (&data);
    }

  return 0;
}
