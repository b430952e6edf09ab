/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-watch.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib-unix.h>

#include "aprender/serve/apr-serve-log.h"

/* By inotify itself: GFileMonitor looks at a folder ten times a second at most, and what writes a file beside the one
 * that it replaces is noticed before. */

#define GONE (IN_DELETE | IN_MOVED_FROM)
#define EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ATTRIB | IN_MOVE_SELF | GONE)

/* Of a folder that was moved, removed or unmounted. */
#define FOLDER_GONE (IN_MOVE_SELF | IN_IGNORED)

#define MAX_NAMES 20

typedef struct
{
  AprServeModels *models; /* (unowned) */
  guint index;
  int folder; /* what inotify calls it, or -1 */
  char *name; /* (owned) in the folder */
  gboolean stale;
  gboolean gone;
  gint queued; /* (atomic) whether it waits for the loader */
  gint denied; /* (atomic) whether it could not be loaded for lack of permission */
} Watched;

struct _AprServeWatch
{
  GPtrArray *files; /* of Watched */
  GThreadPool
    *loader; /* one thread: a wide model takes seconds, in which signals and deadlines must not wait */
  GCancellable *cancellable; /* ends it */
  int fd;                    /* or -1 */
  guint source;
};

/* What requests and answers consist of. */
static char *
describe (const AprServeModel *model)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint i;

  g_string_append_printf (text, "%" G_GSIZE_FORMAT " %s, %" G_GSIZE_FORMAT " %s", model->n_targets,
                          model->n_targets == 1 ? "target" : "targets", model->n_features,
                          model->n_features == 1 ? "feature" : "features");
  for (i = 0; model->feature_names != NULL && model->feature_names[i] != NULL && i <= MAX_NAMES; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? ": " : ", ",
                            i < MAX_NAMES ? model->feature_names[i] : "…");

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
have_same_features (const AprServeModel *self, const AprServeModel *other)
{
  if (self->n_features != other->n_features || self->n_targets != other->n_targets)
    return FALSE;

  return self->feature_names == NULL || other->feature_names == NULL ||
         g_strv_equal ((const char *const *) self->feature_names, (const char *const *) other->feature_names);
}

static void
reload (Watched *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprServeModel) before = apr_serve_models_get (self->models, self->index);
  gboolean succeeded = apr_serve_models_reload (self->models, self->index, &error);
  g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, self->index);
  g_autofree char *old_form = describe (before);
  g_autofree char *form = describe (model);

  g_atomic_int_set (&self->denied, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED));
  if (succeeded)
    apr_serve_log (G_LOG_LEVEL_INFO, "reloaded", "model", model->name, "version", model->version, NULL);
  if (succeeded && !have_same_features (before, model))
    apr_serve_log (G_LOG_LEVEL_WARNING,
                   "the new model has other features or targets: the same request means something else",
                   "model", model->name, "before", old_form, "now", form, NULL);
  /* The server is ending where the load was cancelled. */
  if (!succeeded && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    apr_serve_log (G_LOG_LEVEL_WARNING, "the new file cannot be loaded, the old model stays", "model",
                   model->name, "version", model->version, "error", error->message, NULL);
}

static void
load (gpointer data, gpointer user_data)
{
  Watched *watched = data;
  AprServeWatch *self = user_data;

  /* What is written from here on is for another load. */
  g_atomic_int_set (&watched->queued, FALSE);
  g_cancellable_push_current (self->cancellable);
  reload (watched);
  /* It may have been allowed before that was noted. */
  if (g_atomic_int_get (&watched->denied) &&
      access (apr_serve_models_get_path (watched->models, watched->index), R_OK) == 0)
    reload (watched);
  g_cancellable_pop_current (self->cancellable);
}

static void
queue (AprServeWatch *self, Watched *watched)
{
  g_autoptr (GError) error = NULL;

  if (!g_atomic_int_compare_and_exchange (&watched->queued, FALSE, TRUE))
    return;
  g_thread_pool_push (self->loader, watched, &error);
  if (error != NULL)
    {
      /* It waits until there is a thread, which the next one that is queued asks for again. */
      g_atomic_int_set (&watched->queued, FALSE);
      apr_serve_log (G_LOG_LEVEL_WARNING, "no thread can load the new file now, the old model stays", "path",
                     apr_serve_models_get_path (watched->models, watched->index), "error", error->message,
                     NULL);
    }
}

/* Whether the file is another one than that which the model was read from. */
static gboolean
is_replaced (const Watched *self)
{
  g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, self->index);
  const struct stat *before = &model->file;
  struct stat now;

  return stat (apr_serve_models_get_path (self->models, self->index), &now) == 0 &&
         (now.st_dev != before->st_dev || now.st_ino != before->st_ino || now.st_size != before->st_size ||
          now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

static gboolean
is_complete (const Watched *self, const struct inotify_event *event)
{
  struct stat status;

  /* Who was not allowed to read it may be now. Otherwise it may be half-written. */
  if ((event->mask & IN_ATTRIB) != 0)
    return g_atomic_int_get (&self->denied);

  /* Whoever creates a file writes it next, but a link is there at once. */
  return (event->mask & IN_CREATE) == 0 ||
         (lstat (apr_serve_models_get_path (self->models, self->index), &status) == 0 &&
          (S_ISLNK (status.st_mode) || status.st_nlink > 1));
}

static void
note_event (AprServeWatch *self, const struct inotify_event *event)
{
  guint i;

  for (i = 0; i < self->files->len; i++)
    {
      Watched *watched = g_ptr_array_index (self->files, i);

      if ((event->mask & FOLDER_GONE) != 0 && event->wd == watched->folder)
        {
          watched->folder = -1;
          apr_serve_log (G_LOG_LEVEL_WARNING,
                         "the folder is gone or has moved: a new file will only be noticed after SIGHUP",
                         "path", apr_serve_models_get_path (watched->models, watched->index), NULL);
        }
      /* What was lost may be of any of them. */
      else if ((event->mask & IN_Q_OVERFLOW) != 0 ||
               (event->wd == watched->folder && event->len > 0 && strcmp (event->name, watched->name) == 0 &&
                is_complete (watched, event)))
        {
          watched->gone = (event->mask & GONE) != 0;
          watched->stale = !watched->gone;
        }
    }
}

static gboolean
changed (int fd, GIOCondition condition, gpointer data)
{
  AprServeWatch *self = data;
  char events[16 * 1024] __attribute__ ((aligned (__alignof__(struct inotify_event))));
  gssize n;
  gssize place;
  guint i;

  while ((n = read (fd, events, sizeof events)) > 0)
    for (place = 0; place < n;)
      {
        const struct inotify_event *event = (const struct inotify_event *) (gconstpointer) (events + place);

        note_event (self, event);
        place += (gssize) (sizeof *event + event->len);
      }

  for (i = 0; i < self->files->len; i++)
    {
      Watched *watched = g_ptr_array_index (self->files, i);

      if (watched->stale)
        queue (self, watched);
      else if (watched->gone)
        apr_serve_log (G_LOG_LEVEL_WARNING, "the file is gone, the model stays", "path",
                       apr_serve_models_get_path (watched->models, watched->index), NULL);
      watched->stale = watched->gone = FALSE;
    }

  return G_SOURCE_CONTINUE;
}

static void
stop_watching (AprServeWatch *self)
{
  if (self->fd < 0)
    return;
  g_source_remove (self->source);
  close (self->fd);
}

/* Begins anew with the folders that have these names now, or goes on with what there is where that fails. */
static void
watch_folders (AprServeWatch *self)
{
  int fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  int code = errno;
  guint i;

  if (fd >= 0)
    {
      stop_watching (self);
      self->fd = fd;
      self->source = g_unix_fd_add (fd, G_IO_IN, changed, self);
    }
  for (i = 0; i < self->files->len; i++)
    {
      Watched *watched = g_ptr_array_index (self->files, i);
      const char *path = apr_serve_models_get_path (watched->models, watched->index);
      g_autofree char *folder = g_path_get_dirname (path);

      watched->folder = self->fd >= 0 ? inotify_add_watch (self->fd, folder, EVENTS) : -1;
      if (watched->folder < 0)
        apr_serve_log (G_LOG_LEVEL_WARNING, "a new file will only be noticed on SIGHUP", "path", path,
                       "error", g_strerror (self->fd >= 0 ? errno : code), NULL);
    }
}

static void
free_watched (gpointer data)
{
  Watched *self = data;

  g_free (self->name);
  g_free (self);
}

AprServeWatch *
apr_serve_watch_new (AprServeModels *models)
{
  AprServeWatch *self = g_new0 (AprServeWatch, 1);
  guint i;

  self->files = g_ptr_array_new_with_free_func (free_watched);
  self->loader = g_thread_pool_new (load, self, 1, FALSE, NULL);
  self->cancellable = g_cancellable_new ();
  self->fd = -1;
  for (i = 0; i < apr_serve_models_get_size (models); i++)
    {
      Watched *watched = g_new0 (Watched, 1);
      const char *path = apr_serve_models_get_path (models, i);
      g_autoptr (AprServeModel) model = apr_serve_models_get (models, i);
      g_autofree char *form = describe (model);

      apr_serve_log (G_LOG_LEVEL_INFO, "loaded", "model", model->name, "path", path, "form", form, NULL);
      watched->models = models;
      watched->index = i;
      watched->name = g_path_get_basename (path);
      g_ptr_array_add (self->files, watched);
    }
  watch_folders (self);
  /* Nothing was told of what happened since they were read. */
  for (i = 0; i < self->files->len; i++)
    if (is_replaced (g_ptr_array_index (self->files, i)))
      reload (g_ptr_array_index (self->files, i));

  return self;
}

void
apr_serve_watch_free (AprServeWatch *self)
{
  stop_watching (self);
  g_cancellable_cancel (self->cancellable);
  g_thread_pool_free (self->loader, TRUE, TRUE);
  g_object_unref (self->cancellable);
  g_ptr_array_unref (self->files);
  g_free (self);
}

void
apr_serve_watch_reload_all (AprServeWatch *self)
{
  guint i;

  watch_folders (self);
  for (i = 0; i < self->files->len; i++)
    queue (self, g_ptr_array_index (self->files, i));
}
