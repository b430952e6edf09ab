/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-watch.h"

#include "aprender/serve/apr-serve-log.h"

typedef struct
{
  AprServeModels *models; /* (unowned) */
  guint index;
  GFileMonitor *monitor; /* (nullable) */
} Watched;

struct _AprServeWatch
{
  GPtrArray *files; /* of Watched */
};

static void
reload (Watched *self)
{
  g_autoptr (GError) error = NULL;
  gboolean succeeded = apr_serve_models_reload (self->models, self->index, &error);
  g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, self->index);

  if (succeeded)
    apr_serve_log (G_LOG_LEVEL_INFO, "reloaded", "model", model->name, "version", model->version, NULL);
  else
    apr_serve_log (G_LOG_LEVEL_WARNING, "the new file is broken, the old model stays", "model", model->name,
                   "version", model->version, "error", error->message, NULL);
}

static void
changed (GFileMonitor *monitor, GFile *file, GFile *other_file, GFileMonitorEvent event, gpointer data)
{
  /* Not while a file is being written: it is loaded when it is complete, or when it is moved there. */
  if (event == G_FILE_MONITOR_EVENT_CHANGES_DONE_HINT || event == G_FILE_MONITOR_EVENT_RENAMED ||
      event == G_FILE_MONITOR_EVENT_MOVED_IN)
    reload (data);
}

static void
free_watched (gpointer data)
{
  Watched *self = data;

  if (self->monitor != NULL)
    g_file_monitor_cancel (self->monitor);
  g_clear_object (&self->monitor);
  g_free (self);
}

AprServeWatch *
apr_serve_watch_new (AprServeModels *models)
{
  AprServeWatch *self = g_new0 (AprServeWatch, 1);
  guint i;

  self->files = g_ptr_array_new_with_free_func (free_watched);
  for (i = 0; i < apr_serve_models_get_size (models); i++)
    {
      Watched *watched = g_new0 (Watched, 1);
      g_autoptr (GFile) file = g_file_new_for_path (apr_serve_models_get_path (models, i));
      g_autoptr (GError) error = NULL;

      watched->models = models;
      watched->index = i;
      watched->monitor = g_file_monitor_file (file, G_FILE_MONITOR_WATCH_MOVES, NULL, &error);
      g_ptr_array_add (self->files, watched);
      if (watched->monitor == NULL)
        {
          apr_serve_log (G_LOG_LEVEL_WARNING, "a new file will only be noticed on SIGHUP", "path",
                         apr_serve_models_get_path (models, i), "error", error->message, NULL);
          continue;
        }
      g_file_monitor_set_rate_limit (watched->monitor, 0);
      g_signal_connect (watched->monitor, "changed", G_CALLBACK (changed), watched);
    }

  return self;
}

void
apr_serve_watch_free (AprServeWatch *self)
{
  g_ptr_array_unref (self->files);
  g_free (self);
}

void
apr_serve_watch_reload_all (AprServeWatch *self)
{
  guint i;

  for (i = 0; i < self->files->len; i++)
    reload (g_ptr_array_index (self->files, i));
}
