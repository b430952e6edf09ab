/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-samples.h"

#include <string.h>

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

gboolean
apr_plot_read_samples (AprTableReader *reader,
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
