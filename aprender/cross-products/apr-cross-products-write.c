/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/base/apr-strings-private.h"
#include "aprender/base/apr-task-private.h"

/* Writes beside the caller's main loop: each works on a copy, which becomes the state in the caller's main context. */

void
apr_cross_products_become (AprCrossProducts *self, AprCrossProducts *updated)
{
  if (updated->rows != NULL)
    apr_cross_products_take (self, NULL, apr_sample_rows_ref (updated->rows));
  else
    apr_cross_products_take (self, apr_exact_sums_ref (updated->sums), NULL);
  self->n_samples = updated->n_samples;
  self->weight_logs = updated->weight_logs;
  self->dtype = updated->dtype;
  apr_strings_set (&self->identities, (const char *const *) updated->identities);
  apr_cross_products_lower_precision (self, updated->precision);
  apr_cross_products_inherit_names (self, updated);
}

typedef struct
{
  AprCrossProducts *updated; /* (owned) the state as it will be */
  AprCrossProductsWriteFunc run;
  gpointer data; /* (owned) */
  GDestroyNotify free_data;
} Write;

static void
write_free (gpointer data)
{
  Write *self = data;

  g_object_unref (self->updated);
  self->free_data (self->data);
  g_free (self);
}

/* A report on its way to the main context of the call. */
typedef struct
{
  AprCrossProducts *state; /* (owned) */
  double fraction;
} Report;

static void
report_free (gpointer data)
{
  Report *self = data;

  g_object_unref (self->state);
  g_free (self);
}

static gboolean
report_emit (gpointer data)
{
  Report *self = data;

  apr_cross_products_report (self->state, self->fraction);

  return G_SOURCE_REMOVE;
}

static void
report_from_thread (double fraction, gpointer user_data)
{
  GTask *task = user_data;
  Report *report = g_new (Report, 1);

  *report = (Report){ g_object_ref (g_task_get_source_object (task)), fraction };
  /* The end has the same priority, and comes after it. */
  apr_task_post (g_task_get_context (task), g_task_get_priority (task), "AprCrossProducts progress",
                 report_emit, report, report_free);
}

static void
write_in_thread (GTask *task,
                 gpointer source_object G_GNUC_UNUSED,
                 gpointer task_data,
                 GCancellable *cancellable)
{
  Write *write = task_data;
  GError *error = NULL;
  double told = 0;
  const AprRun run = { .n_threads = write->updated->n_threads,
                       .cancellable = cancellable,
                       .progress = report_from_thread,
                       .progress_data = task,
                       .told = &told };

  if (!g_cancellable_set_error_if_cancelled (cancellable, &error) &&
      write->run (write->updated, write->data, &run, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
written_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);
  g_autoptr (GTask) task = user_data;
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    {
      const Write *write = g_task_get_task_data (G_TASK (result));

      apr_cross_products_become (self, write->updated);
      if (self->progress < 1)
        apr_cross_products_report (self, 1);
    }
  apr_cross_products_end (self);
  apr_cross_products_notify_busy (self);

  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

void
apr_cross_products_write_async_named (AprCrossProducts *self,
                                      const char *name,
                                      AprCrossProductsWriteFunc run,
                                      gpointer data,
                                      GDestroyNotify free_data,
                                      gpointer source_tag,
                                      int io_priority,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (GTask) work = NULL;
  GError *error = NULL;
  Write *write;

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, io_priority);
  /* Until the state has changed, a write can be cancelled; from then on it has succeeded. */
  g_task_set_check_cancellable (task, FALSE);
  if (!apr_cross_products_begin (self, &error))
    {
      free_data (data);
      g_task_return_error (task, error);
      return;
    }

  write = g_new (Write, 1);
  *write = (Write){ apr_cross_products_copy (self), run, data, free_data };
  if (self->progress > 0)
    apr_cross_products_report (self, 0);
  apr_cross_products_notify_busy (self);
  work = g_task_new (self, cancellable, written_cb, g_steal_pointer (&task));
  g_task_set_source_tag (work, apr_cross_products_write_async_named);
  g_task_set_priority (work, io_priority);
  g_task_set_task_data (work, write, write_free);
  apr_task_run_in_thread (work, write_in_thread);
}
