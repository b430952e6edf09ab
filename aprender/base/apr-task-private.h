/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* That @result is of the asynchronous method @tag, called for @source, or of such a function where @source is %NULL,
 * and that it is taken for the first time. The message names @tag, which must be the function's name.
 *
 * Returns: (transfer none) (nullable): @result, which is to be taken now; %NULL with %APR_ERROR_FAILED where it is of
 * another method or object, or has been taken before */
#define apr_task_check(result, source, tag, error) apr_task_check_named (result, source, tag, #tag, error)
GTask *
apr_task_check_named (GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error);

/* Takes what the task returned after the same check: false, or %NULL, with an error of either. */
#define apr_task_take_boolean(result, source, tag, error) \
 apr_task_take_boolean_named (result, source, tag, #tag, error)
gboolean apr_task_take_boolean_named (
  GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error);

#define apr_task_take_pointer(result, source, tag, error) \
 apr_task_take_pointer_named (result, source, tag, #tag, error)
gpointer apr_task_take_pointer_named (
  GAsyncResult *result, gpointer source, gpointer tag, const char *name, GError **error);

/* Runs @function as g_task_run_in_thread () does. If its thread drops the last reference to the task, the source object
 * is freed in the main context that the callback is called in: handlers and their data are not for other threads. */
void apr_task_run_in_thread (GTask *task, GTaskThreadFunc function);

/* The same for a @function that changes nothing and makes only its result: nobody waits for its thread when it is
 * cancelled, so that the task must own what the thread works with; and none is begun where it is cancelled already. */
void apr_task_run_reader (GTask *task, GTaskThreadFunc function);

/* Calls @function with @data when @context runs next, and until it returns false. The source is called @name, which is
 * static. g_main_context_invoke () would call it here and now where no other thread owns the context. */
void apr_task_post (GMainContext *context,
                    int priority,
                    const char *name,
                    GSourceFunc function,
                    gpointer data,
                    GDestroyNotify destroy);

/* Calls @destroy with @data when @context runs next; if it is freed first, in the thread that frees it. */
void apr_task_free_in_context (GMainContext *context, gpointer data, GDestroyNotify destroy);

G_END_DECLS
