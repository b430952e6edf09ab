/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <math.h>

#include "aprender/base/apr-task-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/table/apr-arrow-stream-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Updates from streams of Arrow. All samples are added to a copy, which the state then becomes. */

/* Names the place in the stream, instead of that in the block that was refused: of several values, that of the first
 * row. */
static void
explain_not_finite (const AprRows *rows, const char *const *columns, guint64 first_row, GError **error)
{
  gsize row = rows->n_rows;
  gsize column = 0;
  gsize place;
  gsize i;
  double value;

  if (rows->columns != NULL)
    for (i = 0; i < rows->n_columns; i++)
      {
        place = apr_dtype_find_not_finite (rows->dtype, rows->columns[i], row);
        if (place < row)
          {
            row = place;
            column = i;
          }
      }
  else
    {
      place = apr_dtype_find_not_finite (rows->dtype, rows->data, rows->n_rows * rows->n_columns);
      row = place / rows->n_columns;
      column = place % rows->n_columns;
    }
  if (row == rows->n_rows)
    return;

  apr_rows_read (rows, row, 1, column, 1, 1, &value);
  g_clear_error (error);
  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
               "%s has %s at row %" G_GUINT64_FORMAT ", column “%s” (counted from 0)", rows->name,
               isnan (value) ? "a NaN" : "an infinity", first_row + row, columns[column]);
}

static void
explain_negative (AprTensor *sample_weight, guint64 first_row, GError **error)
{
  gsize i = 0;

  while (apr_tensor_get_double (sample_weight, i, NULL) >= 0)
    i++;
  g_clear_error (error);
  (void) apr_rows_check_weight (apr_tensor_get_double (sample_weight, i, NULL), first_row + i, error);
}

/* One update. */
typedef struct
{
  AprArrowArrayStream stream; /* (owned) */
  char **targets;             /* (owned) */
  char *sample_weight;        /* (owned) (nullable) */
} ArrowUpdate;

static void
arrow_update_free (gpointer data)
{
  ArrowUpdate *self = data;

  if (self->stream.release != NULL)
    self->stream.release (&self->stream);
  g_strfreev (self->targets);
  g_free (self->sample_weight);
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

/* Names the place of what was refused; takes @cause. */
static void
explain (const ArrowUpdate *self,
         AprArrowStream *stream,
         const AprRows *x,
         const AprRows *y,
         AprTensor *sample_weight,
         guint64 first_row,
         GError *cause,
         GError **error)
{
  const char *const weights[] = { self->sample_weight, NULL };
  AprRows w;

  if (g_error_matches (cause, APR_ERROR, APR_ERROR_WEIGHTS))
    explain_negative (sample_weight, first_row, &cause);
  else if (g_error_matches (cause, APR_ERROR, APR_ERROR_NOT_FINITE))
    {
      if (sample_weight != NULL)
        {
          apr_rows_init (&w, "sample_weight", sample_weight);
          explain_not_finite (&w, weights, first_row, &cause);
        }
      explain_not_finite (y, (const char *const *) self->targets, first_row, &cause);
      explain_not_finite (x, apr_arrow_stream_get_feature_names (stream), first_row, &cause);
    }
  g_propagate_error (error, cause);
}

static gboolean
add_block (const ArrowUpdate *self,
           AprCrossProducts *updated,
           AprArrowStream *stream,
           gboolean *ended,
           const AprRun *run,
           GError **error)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  AprRows x_rows;
  AprRows y_rows;
  GError *cause = NULL;
  guint64 first_row;

  if (!apr_arrow_stream_read (stream, &x, &y, &w, &first_row, run->cancellable, error))
    return FALSE;
  *ended = x == NULL;
  if (*ended || apr_cross_products_update_with (updated, x, y, w, updated->precision, run, &cause))
    return TRUE;

  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);
  explain (self, stream, &x_rows, &y_rows, w, first_row, cause, error);

  return FALSE;
}

/* The same of columns. What is rounded must not depend on the batches; exact sums do not. */
static gboolean
add_columns (const ArrowUpdate *self,
             AprCrossProducts *updated,
             AprArrowStream *stream,
             gboolean *ended,
             const AprRun *run,
             GError **error)
{
  gboolean exact = updated->precision == APR_PRECISION_EXACT;
  g_autoptr (AprTensor) w = NULL;
  AprArrowColumns columns;
  AprRows x;
  AprRows y;
  GError *cause = NULL;

  if (!apr_arrow_stream_read_columns (stream, exact, &columns, &w, run->cancellable, error))
    return FALSE;
  *ended = columns.n_rows == 0;
  apr_rows_init_columns (&x, "X", columns.x_dtype, columns.x, columns.n_rows,
                         g_strv_length ((char **) apr_arrow_stream_get_feature_names (stream)));
  apr_rows_init_columns (&y, "y", columns.y_dtype, columns.y, columns.n_rows,
                         apr_arrow_stream_get_n_targets (stream));
  if (*ended || apr_cross_products_update_columns (updated, &x, &y, w, run->cancellable, &cause))
    return TRUE;

  explain (self, stream, &x, &y, w, columns.first_row, cause, error);

  return FALSE;
}

static gboolean
arrow_update_run (AprCrossProducts *updated, gpointer data, const AprRun *run, GError **error)
{
  /* How long the stream is, it does not say. */
  const AprRun block = { .n_threads = run->n_threads, .cancellable = run->cancellable };
  ArrowUpdate *self = data;
  g_autoptr (AprArrowStream) stream =
    apr_arrow_stream_new (&self->stream, (const char *const *) self->targets, self->sample_weight, error);
  const char *const *names[APR_N_NAMES] = { [APR_TARGET_NAMES] = (const char *const *) self->targets };
  AprNames kind;
  gboolean by_columns;
  gboolean ended = FALSE;

  if (stream == NULL)
    return FALSE;

  names[APR_FEATURE_NAMES] = apr_arrow_stream_get_feature_names (stream);
  if (!apr_cross_products_check_widths (updated, g_strv_length ((char **) names[APR_FEATURE_NAMES]),
                                        apr_arrow_stream_get_n_targets (stream), "An Arrow stream", error))
    return FALSE;
  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (!(updated->names[kind] != NULL ? apr_cross_products_check_names
                                       : apr_cross_products_set_names) (updated, kind, names[kind], error))
      return FALSE;
  by_columns = apr_cross_products_can_have_columns (updated);
  while (!ended)
    if (!(by_columns ? add_columns : add_block) (self, updated, stream, &ended, &block, error))
      return FALSE;

  return TRUE;
}

/**
 * apr_cross_products_update_arrow:
 * @self: a state
 * @stream: (type gpointer) (not nullable): the address of an `ArrowArrayStream`, of Arrow's C stream interface
 * @targets: (array zero-terminated=1): the names of the columns that are targets
 * @sample_weight: (nullable): the name of the column that says how much each sample counts; `NULL` for equal weights
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Adds the samples of a stream of Arrow, as readers of Parquet, data frames and databases make them.
 *
 * All other columns are features, and their names become those of the features; a state that has names takes only the
 * same ones. Columns may hold truth values, integers, floats of 16 to 64 bits, or decimal numbers, which are rounded to
 * the nearest double, as are 64-bit integers where another column holds floats. Memory does not depend on the
 * number of samples: some megabytes are converted at a time, or as much as the state takes.
 *
 * The stream is moved, as consumers of the interface do: it is released when this returns, also after an error. Only
 * where the state cannot be written to, as after %G_IO_ERROR_PENDING, the stream is still the caller's. All that its
 * structures say is checked, but what their pointers lead to can only be believed. In Python,
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
  g_autoptr (AprCrossProducts) updated = NULL;
  AprRun run = { .cancellable = cancellable };
  gboolean done;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (stream != NULL, FALSE);
  g_return_val_if_fail (targets != NULL, FALSE);

  run.n_threads = self->n_threads;
  if (!apr_cross_products_begin (self, error))
    return FALSE;

  update = arrow_update_new (stream, targets, sample_weight);
  updated = apr_cross_products_copy (self);
  done = arrow_update_run (updated, update, &run, error);
  if (done)
    apr_cross_products_become (self, updated);
  apr_cross_products_end (self);

  return done;
}

/**
 * apr_cross_products_update_arrow_async:
 * @self: a state
 * @stream: (type gpointer) (not nullable): the address of an `ArrowArrayStream`
 * @targets: (array zero-terminated=1): the names of the columns that are targets
 * @sample_weight: (nullable): the name of the column of the weights, or `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the update has ended
 * @user_data: data to pass to @callback
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
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (stream != NULL);
  g_return_if_fail (targets != NULL);

  apr_cross_products_write_async (self, arrow_update_run, arrow_update_new (stream, targets, sample_weight),
                                  arrow_update_free, apr_cross_products_update_arrow_async, io_priority,
                                  cancellable, callback, user_data);
}

/**
 * apr_cross_products_update_arrow_finish:
 * @self: a state
 * @result: what the callback was called with
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
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_update_arrow_async, error);
}
