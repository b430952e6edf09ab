/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-samples.h"

#include <string.h>

/* Tensors that are joined. */
typedef struct
{
  guint8 *data;
  gsize size;
  gsize n_allocated;
  gsize shape[2];
  guint n_dims; /* 0 where there is none yet */
  AprDType dtype;
} Joined;

/* The rows of a tensor whose weight is not 0. */
static AprTensor *
keep_weighted (AprTensor *tensor, const double *weights, gsize n_rows, gsize n_kept)
{
  gsize n_dimensions;
  const gsize *old_shape = apr_tensor_get_shape (tensor, &n_dimensions);
  const gsize shape[2] = { n_kept, n_dimensions > 1 ? old_shape[1] : 1 };
  gsize size;
  const guint8 *from = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  gsize row_size = size / n_rows;
  guint8 *kept = g_malloc (MAX (n_kept * row_size, 1));
  guint8 *to = kept;
  g_autoptr (GBytes) bytes = NULL;
  gsize i;

  for (i = 0; i < n_rows; i++)
    if (weights[i] != 0)
      {
        memcpy (to, from + i * row_size, row_size);
        to += row_size;
      }
  bytes = g_bytes_new_take (kept, n_kept * row_size);

  return apr_tensor_new_from_bytes (apr_tensor_get_dtype (tensor), shape, (guint) n_dimensions, bytes, NULL);
}

static AprTensor *
number_rows (guint64 first, gsize n_rows)
{
  gint64 *numbers = g_new (gint64, n_rows);
  g_autoptr (GBytes) bytes = g_bytes_new_take (numbers, n_rows * sizeof (gint64));
  gsize i;

  for (i = 0; i < n_rows; i++)
    numbers[i] = GINT64_TO_LE ((gint64) (first + i));

  return apr_tensor_new_from_bytes (APR_DTYPE_I64, &n_rows, 1, bytes, NULL);
}

/* The next samples, of which there may be none. */
static gboolean
read_batch (AprTableReader *reader,
            AprTensor *samples[APR_PLOT_N_TENSORS],
            GCancellable *cancellable,
            GError **error)
{
  guint64 first = apr_table_reader_get_n_rows (reader);
  g_autoptr (AprTensor) all_weights = NULL;
  const double *weights;
  gsize n_rows;
  gsize n_kept = 0;
  gsize i;

  samples[APR_PLOT_ROWS] = NULL;
  if (!apr_table_reader_read (reader, &samples[APR_PLOT_X], &samples[APR_PLOT_Y], &samples[APR_PLOT_WEIGHTS],
                              cancellable, error))
    return FALSE;
  if (apr_table_reader_get_row_numbers (reader) != NULL)
    samples[APR_PLOT_ROWS] = apr_tensor_ref (apr_table_reader_get_row_numbers (reader));
  if (samples[APR_PLOT_WEIGHTS] == NULL)
    return TRUE;

  all_weights = apr_tensor_ref (samples[APR_PLOT_WEIGHTS]);
  weights = apr_tensor_get_doubles (all_weights, &n_rows, NULL);
  /* Also where no sample of these is left out: one of the next may be. */
  if (samples[APR_PLOT_ROWS] == NULL)
    samples[APR_PLOT_ROWS] = number_rows (first, n_rows);
  for (i = 0; i < n_rows; i++)
    n_kept += weights[i] != 0;
  for (i = 0; i < APR_PLOT_N_TENSORS && n_kept < n_rows; i++)
    if (samples[i] != NULL)
      {
        AprTensor *kept = keep_weighted (samples[i], weights, n_rows, n_kept);

        apr_tensor_unref (samples[i]);
        samples[i] = kept;
      }

  return TRUE;
}

static gboolean
append (Joined *self, AprTensor *tensor, const char *name, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize size;
  gconstpointer data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  gsize total;
  gsize room;

  if (!g_size_checked_add (&total, self->size, size) || !g_size_checked_mul (&room, total, 2))
    total = G_MAXSIZE;
  if (total > self->n_allocated)
    {
      guint8 *more = total < G_MAXSIZE ? g_try_realloc (self->data, room) : NULL;

      if (more == NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                       "%s: there is no memory for more than %" G_GSIZE_FORMAT " rows of the table", name,
                       self->shape[0]);
          return FALSE;
        }
      self->data = more;
      self->n_allocated = room;
    }
  if (size > 0 && self->data != NULL)
    memcpy (self->data + self->size, data, size);
  self->size = total;
  self->shape[0] += shape[0];
  self->shape[1] = shape[n_dims - 1];
  self->n_dims = (guint) n_dims;
  self->dtype = apr_tensor_get_dtype (tensor);

  return TRUE;
}

static AprTensor *
take_tensor (Joined *self)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&self->data), self->size);

  return apr_tensor_new_from_bytes (self->dtype, self->shape, self->n_dims, bytes, NULL);
}

gboolean
apr_plot_read_samples (AprTableReader *reader,
                       AprTensor *samples[APR_PLOT_N_TENSORS],
                       GCancellable *cancellable,
                       GError **error)
{
  const char *name = apr_table_reader_get_name (reader);
  Joined joined[APR_PLOT_N_TENSORS] = { 0 };
  g_autoptr (GError) local_error = NULL;
  guint i;

  while (local_error == NULL && read_batch (reader, samples, cancellable, &local_error))
    for (i = 0; i < APR_PLOT_N_TENSORS; i++)
      {
        g_autoptr (AprTensor) tensor = g_steal_pointer (&samples[i]);

        if (tensor != NULL && local_error == NULL)
          append (&joined[i], tensor, name, &local_error);
      }
  /* A table without rows has been refused. */
  if (local_error == NULL && joined[APR_PLOT_X].shape[0] == 0)
    g_set_error (&local_error, APR_ERROR, APR_ERROR_WEIGHTS, "%s: column “%s”: no weight is above 0", name,
                 apr_table_reader_get_weight (reader));
  for (i = 0; i < APR_PLOT_N_TENSORS; i++)
    {
      samples[i] = joined[i].n_dims > 0 && local_error == NULL ? take_tensor (&joined[i]) : NULL;
      g_free (joined[i].data);
    }
  if (local_error == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}
