/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Updates: samples that are added to a state. All that can fail is worked out first, and then the state changes. */

/* One update: what is to be added, and what the state will be then. */
typedef struct
{
  AprTensor *x;             /* (owned) */
  AprTensor *y;             /* (owned) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  AprPrecision precision;
  guint n_threads;
  GTask *task; /* (unowned) (nullable) that of the thread, where it is not the caller's */

  AprExactSums *sums;  /* (owned) (nullable) those of all samples, or: */
  AprSampleRows *rows; /* (owned) (nullable) all samples; neither where there are no samples to add */
  guint64 n_samples;
  AprWeightLogs weight_logs;
} Update;

static void
update_clear (Update *self)
{
  apr_tensor_unref (self->x);
  apr_tensor_unref (self->y);
  g_clear_pointer (&self->sample_weight, apr_tensor_unref);
  g_clear_pointer (&self->sums, apr_exact_sums_unref);
  g_clear_pointer (&self->rows, apr_sample_rows_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Update, update_clear)

static void
update_free (gpointer data)
{
  update_clear (data);
  g_free (data);
}

static Update
update_init (AprTensor *x, AprTensor *y, AprTensor *sample_weight, AprPrecision precision, guint n_threads)
{
  return (Update){ .x = apr_tensor_ref (x),
                   .y = apr_tensor_ref (y),
                   .sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL,
                   .precision = precision,
                   .n_threads = n_threads };
}

/* The weights have been checked. */
static gboolean
update_count_samples (Update *self, AprCrossProducts *state, GError **error)
{
  guint64 n_added = apr_tensor_get_shape (self->x, NULL)[0];

  self->weight_logs = state->weight_logs;

  return (self->sample_weight == NULL ||
          apr_weight_logs_add (&self->weight_logs,
                               apr_weight_logs_of (self->sample_weight, self->n_threads, &n_added), 1,
                               error)) &&
         apr_cross_products_add_samples (state, n_added, &self->n_samples, error);
}

/* Finds the rows of all samples where the state can have them. */
static gboolean
update_find_rows (Update *self, AprCrossProducts *state, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprSampleRows) added = NULL;

  if (self->precision != APR_PRECISION_EXACT ||
      !apr_cross_products_can_have_rows (state, apr_tensor_get_shape (self->x, NULL)[0]))
    return TRUE;
  if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !apr_sample_rows_new (self->x, self->y, self->sample_weight, &added, error))
    return FALSE;

  self->rows = apr_cross_products_add_rows (state, added);
  return TRUE;
}

/* Works all out, while @state is what it was. */
static gboolean
update_run (Update *self,
            AprCrossProducts *state,
            AprExactSumsProgress progress,
            gpointer progress_data,
            GCancellable *cancellable,
            GError **error)
{
  g_autoptr (AprExactSums) before = NULL;
  gsize n_samples = apr_tensor_get_shape (self->x, NULL)[0];
  gsize n_features;
  gsize n_targets;

  if (!apr_estimator_check_samples (self->x, self->y, self->sample_weight, &n_features, &n_targets, error) ||
      !apr_cross_products_check_widths (state, n_features, n_targets, "Samples", error))
    return FALSE;
  if (n_samples == 0)
    return !g_cancellable_set_error_if_cancelled (cancellable, error);

  if (!update_find_rows (self, state, cancellable, error))
    return FALSE;
  if (self->rows != NULL)
    {
      if (progress != NULL)
        progress (n_samples, n_samples, progress_data);
      return !g_cancellable_set_error_if_cancelled (cancellable, error) &&
             update_count_samples (self, state, error);
    }

  before = apr_cross_products_ref_sums (state, error);
  self->sums = before != NULL ? apr_exact_sums_new (n_features, n_targets, error) : NULL;
  if (self->sums == NULL)
    return FALSE;

  apr_exact_sums_set_progress (self->sums, progress, progress_data);
  if (!apr_exact_sums_update (self->sums, self->x, self->y, self->sample_weight, self->precision,
                              self->n_threads, cancellable, error) ||
      !update_count_samples (self, state, error))
    return FALSE;
  apr_exact_sums_set_cancellable (self->sums, cancellable);
  if (!apr_exact_sums_add (self->sums, before, 1, error))
    return FALSE;

  apr_exact_sums_set_cancellable (self->sums, NULL);
  apr_exact_sums_set_progress (self->sums, NULL, NULL);
  return TRUE;
}

static void
update_commit (Update *self, AprCrossProducts *state)
{
  if (self->sums == NULL && self->rows == NULL)
    return;

  apr_cross_products_take (state, g_steal_pointer (&self->sums), g_steal_pointer (&self->rows));
  state->n_samples = self->n_samples;
  state->weight_logs = self->weight_logs;
  state->dtype = MAX (state->dtype, apr_estimator_choose_dtype (self->x));
  apr_cross_products_lower_precision (state, self->precision);
}

static gboolean
begin (AprCrossProducts *self, GError **error)
{
  if (!apr_cross_products_begin (self, error))
    return FALSE;

  if (self->progress > 0)
    apr_cross_products_report (self, 0, 1);
  return TRUE;
}

gboolean
apr_cross_products_update_with (AprCrossProducts *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                AprPrecision precision,
                                guint n_threads,
                                GCancellable *cancellable,
                                AprExactSumsProgress progress,
                                gpointer progress_data,
                                GError **error)
{
  g_auto (Update) update = update_init (x, y, sample_weight, precision, n_threads);
  gboolean done;

  if (!begin (self, error))
    return FALSE;

  done = update_run (&update, self, progress, progress_data, cancellable, error);
  if (done)
    update_commit (&update, self);
  apr_cross_products_end (self);

  return done;
}

static void
report_cb (guint64 n_done, guint64 n_samples, gpointer user_data)
{
  apr_cross_products_report (user_data, n_done, n_samples);
}

/**
 * apr_cross_products_update:
 * @self: a state
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Adds samples, exactly unless the state is of the precision `DOUBLE`.
 *
 * Integers of 64 bits are summed exactly, even where no double equals them; as weights they must be doubles.
 * An update without samples, as a part of a distributed computation may be, leaves the state as it is.
 *
 * Returns: true, or false with the state as it was: %G_IO_ERROR_PENDING while another write is under way, or the
 *   errors of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update (AprCrossProducts *self,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (y != NULL, FALSE);

  return apr_cross_products_update_with (self, x, y, sample_weight, self->precision, self->n_threads,
                                         cancellable, report_cb, self, error);
}

/* A report on its way to the main context of the call. */
typedef struct
{
  AprCrossProducts *state; /* (owned) */
  guint64 n_done;
  guint64 n_samples;
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

  apr_cross_products_report (self->state, self->n_done, self->n_samples);

  return G_SOURCE_REMOVE;
}

static void
report_from_thread (guint64 n_done, guint64 n_samples, gpointer user_data)
{
  const Update *update = user_data;
  Report *report = g_new (Report, 1);
  g_autoptr (GSource) source = g_idle_source_new ();

  *report = (Report){ g_object_ref (g_task_get_source_object (update->task)), n_done, n_samples };
  g_source_set_static_name (source, "AprCrossProducts progress");
  /* That of the end, which comes after it. */
  g_source_set_priority (source, g_task_get_priority (update->task));
  g_source_set_callback (source, report_emit, report, report_free);
  g_source_attach (source, g_task_get_context (update->task));
}

static void
update_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  Update *update = task_data;
  GError *error = NULL;

  update->task = task;
  if (update_run (update, source_object, report_from_thread, update, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
update_done_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);
  g_autoptr (GTask) task = user_data;
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    update_commit (g_task_get_task_data (G_TASK (result)), self);
  apr_cross_products_end (self);
  apr_cross_products_notify_busy (self);

  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

/**
 * apr_cross_products_update_async:
 * @self: a state
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a way to stop
 * @callback: (scope async) (closure user_data) (nullable): called when the update has ended
 * @user_data: what @callback is called with
 *
 * Adds samples without blocking.
 *
 * The state changes in the main context that is the caller's thread default, just before @callback is called there.
 * Until then it can be read as it was, but other writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_update_async (AprCrossProducts *self,
                                 AprTensor *x,
                                 AprTensor *y,
                                 AprTensor *sample_weight,
                                 int io_priority,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  g_autoptr (GTask) work = NULL;
  g_autoptr (GError) error = NULL;
  Update update;

  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (x != NULL);
  g_return_if_fail (y != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_cross_products_update_async);
  g_task_set_priority (task, io_priority);
  /* Samples that were added before it could be cancelled are added. */
  g_task_set_check_cancellable (task, FALSE);
  if (!begin (self, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  apr_cross_products_notify_busy (self);
  update = update_init (x, y, sample_weight, self->precision, self->n_threads);
  work = g_task_new (self, cancellable, update_done_cb, g_steal_pointer (&task));
  g_task_set_source_tag (work, apr_cross_products_update_async);
  g_task_set_priority (work, io_priority);
  g_task_set_task_data (work, g_memdup2 (&update, sizeof update), update_free);
  g_task_run_in_thread (work, update_in_thread);
}

/**
 * apr_cross_products_update_finish:
 * @self: a state
 * @result: what the callback got
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.update_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.update]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
