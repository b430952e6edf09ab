/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <math.h>

#include "aprender/table/apr-arrow-stream-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Updates from streams of Arrow. All samples are added to a copy, which the state then becomes. */

/* Names the place of a value in the stream, instead of that in the block that was refused. */
static void
explain_not_finite (
  const char *name, AprTensor *tensor, const char *const *columns, guint64 first_row, GError **error)
{
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  AprDType dtype = apr_tensor_get_dtype (tensor);
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  gsize place = apr_dtype_find_not_finite (dtype, data, n_elements);
  gsize n_columns = n_elements / apr_tensor_get_shape (tensor, NULL)[0];

  if (place == n_elements)
    return;

  g_clear_error (error);
  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
               "%s has %s at row %" G_GUINT64_FORMAT ", column “%s” (counted from 0)", name,
               isnan (apr_dtype_read_double (dtype, data, place)) ? "a NaN" : "an infinity",
               first_row + place / n_columns, columns[place % n_columns]);
}

static void
explain_negative (AprTensor *sample_weight, guint64 first_row, GError **error)
{
  const double *weights = apr_tensor_get_doubles (sample_weight, NULL, NULL);
  gsize i = 0;

  while (weights[i] >= 0)
    i++;
  g_clear_error (error);
  g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
               "sample_weight has the negative value %g at row %" G_GUINT64_FORMAT " (counted from 0)",
               weights[i], first_row + i);
}

/* One update. */
typedef struct
{
  AprArrowArrayStream stream; /* (owned) */
  char **targets;             /* (owned) */
  char *sample_weight;        /* (owned) (nullable) */
  AprCrossProducts *updated;  /* (owned) (nullable) the state with the samples of the stream */
} ArrowUpdate;

static void
arrow_update_free (gpointer data)
{
  ArrowUpdate *self = data;

  if (self->stream.release != NULL)
    self->stream.release (&self->stream);
  g_strfreev (self->targets);
  g_free (self->sample_weight);
  g_clear_object (&self->updated);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArrowUpdate, arrow_update_free)

static ArrowUpdate *
arrow_update_new (AprArrowArrayStream *stream, const char *const *targets, const char *sample_weight)
{
  ArrowUpdate *self = g_new0 (ArrowUpdate, 1);

  /* As the interface has it moved. */
  self->stream = *stream;
  stream->release = NULL;
  self->targets = g_strdupv ((char **) targets);
  self->sample_weight = g_strdup (sample_weight);

  return self;
}

static gboolean
add_block (
  ArrowUpdate *self, AprArrowStream *stream, gboolean *ended, GCancellable *cancellable, GError **error)
{
  const char *const weights[] = { self->sample_weight, NULL };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  GError *cause = NULL;
  guint64 first_row;

  if (!apr_arrow_stream_read (stream, &x, &y, &w, &first_row, cancellable, error))
    return FALSE;
  *ended = x == NULL;
  if (*ended || apr_cross_products_update_with (self->updated, x, y, w, self->updated->precision,
                                                self->updated->n_threads, cancellable, NULL, NULL, &cause))
    return TRUE;

  if (g_error_matches (cause, APR_ERROR, APR_ERROR_WEIGHTS))
    explain_negative (w, first_row, &cause);
  else if (g_error_matches (cause, APR_ERROR, APR_ERROR_NOT_FINITE))
    {
      if (w != NULL)
        explain_not_finite ("sample_weight", w, weights, first_row, &cause);
      explain_not_finite ("y", y, (const char *const *) self->targets, first_row, &cause);
      explain_not_finite ("X", x, apr_arrow_stream_get_feature_names (stream), first_row, &cause);
    }
  g_propagate_error (error, cause);

  return FALSE;
}

/* Works all out, while @state is what it was. */
static gboolean
arrow_update_run (ArrowUpdate *self, AprCrossProducts *state, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprArrowStream) stream =
    apr_arrow_stream_new (&self->stream, (const char *const *) self->targets, self->sample_weight, error);
  const char *const *names;
  gboolean ended = FALSE;

  if (stream == NULL)
    return FALSE;

  names = apr_arrow_stream_get_feature_names (stream);
  if (!apr_cross_products_check_widths (state, g_strv_length ((char **) names),
                                        apr_arrow_stream_get_n_targets (stream), "An Arrow stream", error) ||
      !apr_cross_products_check_feature_names (state, names, error))
    return FALSE;

  self->updated = apr_cross_products_copy (state);
  if (state->feature_names == NULL && !apr_cross_products_set_feature_names (self->updated, names, error))
    return FALSE;
  while (!ended)
    if (!add_block (self, stream, &ended, cancellable, error))
      return FALSE;

  return TRUE;
}

static void
arrow_update_commit (ArrowUpdate *self, AprCrossProducts *state)
{
  AprCrossProducts *updated = self->updated;

  if (updated->rows != NULL)
    apr_cross_products_take (state, NULL, apr_sample_rows_ref (updated->rows));
  else
    apr_cross_products_take (state, apr_exact_sums_ref (updated->sums), NULL);
  state->n_samples = updated->n_samples;
  state->weight_logs = updated->weight_logs;
  state->dtype = updated->dtype;
  apr_cross_products_lower_precision (state, updated->precision);
  if (state->feature_names == NULL)
    apr_cross_products_take_feature_names (state, (const char *const *) updated->feature_names);
}

/**
 * apr_cross_products_update_arrow:
 * @self: a state
 * @stream: (type gpointer) (not nullable): the address of an `ArrowArrayStream`, of Arrow's C stream interface
 * @targets: (array zero-terminated=1): the names of the columns that are targets
 * @sample_weight: (nullable): the name of the column that says how much each sample counts; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Adds the samples of a stream of Arrow, as readers of Parquet, data frames and databases make them.
 *
 * All other columns are features, and their names become those of the features; a state that has names takes only the
 * same ones. Columns may hold truth values, integers, floats of 16 to 64 bits, or decimal numbers, which are rounded to
 * the nearest double, as are 64-bit integers where another column holds floats. Memory does not depend on the
 * number of samples: some megabytes are converted at a time, or as much as the state takes.
 *
 * The stream is moved, as consumers of the interface do: it is released when this returns, also after an error. All
 * that its structures say is checked, but what their pointers lead to can only be believed. In Python,
 * `state.update_arrow (table, ['y'])` takes any object that has the method `__arrow_c_stream__`.
 *
 * Returns: true, or false with the state as it was: %G_IO_ERROR_PENDING while another write is under way,
 *   %APR_ERROR_FEATURE_NAMES where a column is not there or the names are not those of the state, %APR_ERROR_DTYPE with
 *   the name of a column that does not hold
 *   numbers, %APR_ERROR_NOT_FINITE with the place of a value that is missing or not finite, %APR_ERROR_WEIGHTS,
 *   %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, or what the stream says in #GIOErrorEnum
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update_arrow (AprCrossProducts *self,
                                 gpointer stream,
                                 const char *const *targets,
                                 const char *sample_weight,
                                 GCancellable *cancellable,
                                 GError **error)
{
  g_autoptr (ArrowUpdate) update = NULL;
  gboolean done;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (stream != NULL, FALSE);
  g_return_val_if_fail (targets != NULL, FALSE);

  update = arrow_update_new (stream, targets, sample_weight);
  if (!apr_cross_products_begin (self, error))
    return FALSE;

  done = arrow_update_run (update, self, cancellable, error);
  if (done)
    arrow_update_commit (update, self);
  apr_cross_products_end (self);

  return done;
}

static void
update_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;

  if (arrow_update_run (task_data, source_object, cancellable, &error))
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
    arrow_update_commit (g_task_get_task_data (G_TASK (result)), self);
  apr_cross_products_end (self);
  apr_cross_products_notify_busy (self);

  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

/**
 * apr_cross_products_update_arrow_async:
 * @self: a state
 * @stream: (type gpointer) (not nullable): the address of an `ArrowArrayStream`
 * @targets: (array zero-terminated=1): the names of the columns that are targets
 * @sample_weight: (nullable): the name of the column of the weights, or `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a way to stop
 * @callback: (scope async) (closure user_data) (nullable): called when the update has ended
 * @user_data: what @callback is called with
 *
 * Adds the samples of a stream of Arrow without blocking.
 *
 * The stream is moved at once, and read and released in another thread. The state changes in the main context that is
 * the caller's thread default, just before @callback is called there. Until then it can be read as it was, but other
 * writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_update_arrow_async (AprCrossProducts *self,
                                       gpointer stream,
                                       const char *const *targets,
                                       const char *sample_weight,
                                       int io_priority,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data)
{
  g_autoptr (ArrowUpdate) update = NULL;
  g_autoptr (GTask) task = NULL;
  g_autoptr (GTask) work = NULL;
  g_autoptr (GError) error = NULL;

  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (stream != NULL);
  g_return_if_fail (targets != NULL);

  update = arrow_update_new (stream, targets, sample_weight);
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_cross_products_update_arrow_async);
  g_task_set_priority (task, io_priority);
  /* Samples that were added before it could be cancelled are added. */
  g_task_set_check_cancellable (task, FALSE);
  if (!apr_cross_products_begin (self, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  apr_cross_products_notify_busy (self);
  work = g_task_new (self, cancellable, update_done_cb, g_steal_pointer (&task));
  g_task_set_source_tag (work, apr_cross_products_update_arrow_async);
  g_task_set_priority (work, io_priority);
  g_task_set_task_data (work, g_steal_pointer (&update), arrow_update_free);
  g_task_run_in_thread (work, update_in_thread);
}

/**
 * apr_cross_products_update_arrow_finish:
 * @self: a state
 * @result: what the callback got
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.update_arrow_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.update_arrow]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update_arrow_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
