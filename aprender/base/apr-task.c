/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-task-private.h"

#include "aprender/base/apr-error.h"

GTask *
apr_task_check_named (GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error)
{
  static const char taken[] = "apr-taken";

  if (g_task_is_valid (result, source) && g_task_get_source_tag (G_TASK (result)) == tag)
    {
      if (g_object_get_data (G_OBJECT (result), taken) == NULL)
        {
          g_object_set_data (G_OBJECT (result), taken, result);
          return G_TASK (result);
        }

      g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result has been taken before");
      return NULL;
    }

  if (source == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result is not that of %s ()", name);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The result is not that of %s () of this %s", name,
                 G_OBJECT_TYPE_NAME (source));
  return NULL;
}

gboolean
apr_task_take_boolean_named (
  GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error)
{
  GTask *task = apr_task_check_named (result, source, tag, name, error);

  return task != NULL && g_task_propagate_boolean (task, error);
}

gpointer
apr_task_take_pointer_named (
  GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error)
{
  GTask *task = apr_task_check_named (result, source, tag, name, error);

  return task != NULL ? g_task_propagate_pointer (task, error) : NULL;
}

void
apr_task_post (GMainContext *context,
               int priority,
               const char *name,
               GSourceFunc function,
               gpointer data,
               GDestroyNotify destroy)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_static_name (source, name);
  g_source_set_priority (source, priority);
  g_source_set_callback (source, function, data, destroy);
  g_source_attach (source, context);
}

static gboolean
do_nothing_cb (gpointer user_data G_GNUC_UNUSED)
{
  return G_SOURCE_REMOVE;
}

void
apr_task_free_in_context (GMainContext *context, gpointer data, GDestroyNotify destroy)
{
  apr_task_post (context, G_PRIORITY_DEFAULT, "Last reference", do_nothing_cb, data, destroy);
}

/* Who asked for a task, and what it is of. The task owns both of these until it is finalized. */
typedef struct
{
  GThread *caller; /* (unowned) */
  GMainContext *context;
  gpointer source;
} Origin;

/* The task is disposed of, in whatever thread. */
static void
leave_source_cb (gpointer user_data, GObject *task G_GNUC_UNUSED)
{
  g_autofree Origin *origin = user_data;

  if (origin->caller != g_thread_self () && !g_main_context_is_owner (origin->context))
    apr_task_free_in_context (origin->context, g_object_ref (origin->source), g_object_unref);
}

void
apr_task_run_in_thread (GTask *task, GTaskThreadFunc function)
{
  if (g_task_get_source_object (task) != NULL)
    {
      Origin *origin = g_new (Origin, 1);

      origin->caller = g_thread_self ();
      origin->context = g_task_get_context (task);
      origin->source = g_task_get_source_object (task);
      g_object_weak_ref (G_OBJECT (task), leave_source_cb, origin);
    }
  g_task_run_in_thread (task, function);
}

void
apr_task_run_reader (GTask *task, GTaskThreadFunc function)
{
  /* GTask would leak an error. */
  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_return_on_cancel (task, TRUE);
  apr_task_run_in_thread (task, function);
}
