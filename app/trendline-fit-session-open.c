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
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_IDLE);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

/* Opens a table. The results of the last fit go, as they belong to another table. */
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
  if (task != NULL)
    trendline_table_load_async (file, self->cancellable, on_table_loaded, task);
}

gboolean
trendline_fit_session_open_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
