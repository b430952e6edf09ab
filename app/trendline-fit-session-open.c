/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <glib/gi18n.h>

/* Begins what is told of by the task; NULL if something is under way, which the callback hears of as an error. */
GTask *
trendline_fit_session_begin (TrendlineFitSession *self,
                             TrendlineFitState state,
                             gpointer source_tag,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  if (self->state != TRENDLINE_FIT_STATE_IDLE)
    {
      g_task_report_new_error (self, callback, user_data, source_tag, G_IO_ERROR, G_IO_ERROR_PENDING,
                               _ ("Another file is being opened, or fitted"));
      return NULL;
    }
  self->n_missing = 0;
  trendline_fit_session_set_state (self, state);
  task = g_task_new (self, self->cancellable, callback, user_data);
  g_task_set_source_tag (task, source_tag);
  /* What has succeeded is not to be called cancelled: the results are there. */
  g_task_set_check_cancellable (task, FALSE);

  return g_steal_pointer (&task);
}

/* Ends a task, which must not be used any more, with an error. */
void
trendline_fit_session_fail (GTask *task, GError *error)
{
  trendline_fit_session_set_state (g_task_get_source_object (task), TRENDLINE_FIT_STATE_IDLE);
  g_task_return_error (task, error);
  g_object_unref (task);
}

static void
succeed (GTask *task)
{
  trendline_fit_session_set_state (g_task_get_source_object (task), TRENDLINE_FIT_STATE_IDLE);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
on_table_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  g_autoptr (TrendlineTable) table = NULL;
  GError *error = NULL;

  table = trendline_table_load_finish (result, &error);
  if (table == NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  trendline_fit_session_set_table (self, table);
  succeed (task);
}

/* The results are those of a file, which has no table, but may name the target. */
static void
show_model (TrendlineFitSession *self, AprLinearRegression *model, AprRegressionStatistics *statistics)
{
  g_auto (GStrv) targets = apr_estimator_get_target_names (APR_ESTIMATOR (model));
  const gboolean has_target = targets != NULL && g_strv_length (targets) == 1;

  trendline_fit_session_set_table (self, NULL);
  trendline_fit_session_set_results (self, model, statistics, has_target ? targets[0] : NULL, NULL);
}

static void
on_statistics (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  AprLinearRegression *model = APR_LINEAR_REGRESSION (source);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  GError *error = NULL;

  statistics = apr_linear_regression_get_statistics_finish (model, result, &error);
  if (statistics == NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  show_model (g_task_get_source_object (task), model, statistics);
  succeed (task);
}

static void
on_model_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  g_autoptr (AprLinearRegression) model = NULL;
  GError *error = NULL;

  model = APR_LINEAR_REGRESSION (apr_estimator_load_from_file_finish (result, &error));
  if (model == NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  if (apr_linear_regression_get_has_statistics (model))
    {
      apr_linear_regression_get_statistics_async (model, 0, G_PRIORITY_DEFAULT, self->cancellable,
                                                  on_statistics, task);
      return;
    }
  show_model (self, model, NULL);
  succeed (task);
}

/* Whether a file is taken for a model rather than a table. */
gboolean
trendline_fit_session_is_model_file (GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *lower = name != NULL ? g_ascii_strdown (name, -1) : NULL;

  return lower != NULL && g_str_has_suffix (lower, ".safetensors");
}

/*
 * Opens a table, or a model if the name ends with “.safetensors”, in small or capital letters.
 *
 * What was open before is closed: the results belong to another table.
 */
void
trendline_fit_session_open_async (TrendlineFitSession *self,
                                  GFile *file,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  GTask *task;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (G_IS_FILE (file));

  task = trendline_fit_session_begin (self, TRENDLINE_FIT_STATE_OPENING, trendline_fit_session_open_async,
                                      callback, user_data);
  if (task == NULL)
    return;

  if (trendline_fit_session_is_model_file (file))
    apr_estimator_load_from_file_async (APR_TYPE_LINEAR_REGRESSION, file, G_PRIORITY_DEFAULT,
                                        self->cancellable, on_model_loaded, task);
  else
    trendline_table_load_async (file, self->cancellable, on_table_loaded, task);
}

gboolean
trendline_fit_session_open_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
