/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <string.h>

#include <glib/gi18n.h>

#include "aprender/plot/apr-plot-samples.h"

/* What the fit was made of, and the rows that are read again. */
typedef struct
{
  TrendlineRows rows;
  AprLinearRegression *model;
  AprTensor *row_numbers; /* (nullable): of the samples in the table, where some rows are passed over */
} Diagnosis;

/* Numbers that come in batches. */
typedef struct
{
  double *values;
  gsize n;
  gsize n_allocated;
} Numbers;

static void
diagnosis_free (Diagnosis *diagnosis)
{
  trendline_rows_clear (&diagnosis->rows);
  g_object_unref (diagnosis->model);
  g_clear_pointer (&diagnosis->row_numbers, apr_tensor_unref);
  g_free (diagnosis);
}

/* All dtypes that are appended have eight bytes. */
static gboolean
append (Numbers *numbers, AprTensor *tensor, GError **error)
{
  const gsize n = apr_tensor_get_n_elements (tensor);
  gsize total;
  gsize size;

  if (!g_size_checked_add (&total, numbers->n, n) || !g_size_checked_mul (&size, total, 2 * sizeof (double)))
    total = G_MAXSIZE;
  if (total > numbers->n_allocated)
    {
      double *more = total < G_MAXSIZE ? g_try_realloc (numbers->values, size) : NULL;

      if (more == NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                       _ ("There is no memory for more than %lu numbers of the table"), (gulong) numbers->n);
          return FALSE;
        }
      numbers->values = more;
      numbers->n_allocated = 2 * total;
    }
  if (n > 0 && numbers->values != NULL)
    memcpy (numbers->values + numbers->n, g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL),
            n * sizeof (double));
  numbers->n = total;

  return TRUE;
}

static AprTensor *
take_tensor (AprDType dtype, Numbers *numbers, gsize n_rows, gboolean is_matrix, gsize n_columns)
{
  const gsize shape[2] = { n_rows, n_columns };
  g_autoptr (GBytes) bytes = g_bytes_new_take (numbers->values, numbers->n * sizeof (double));

  numbers->values = NULL;

  return apr_tensor_new_from_bytes (dtype, shape, is_matrix ? 2 : 1, bytes, NULL);
}

static gboolean
read_rows (AprTableReader *reader,
           Numbers numbers[APR_PLOT_N_TENSORS],
           GCancellable *cancellable,
           GError **error)
{
  g_autoptr (GError) local_error = NULL;
  AprTensor *samples[APR_PLOT_N_TENSORS];

  while (local_error == NULL && apr_plot_read_samples (reader, samples, cancellable, &local_error))
    {
      guint i;

      for (i = 0; i < APR_PLOT_N_TENSORS; i++)
        {
          g_autoptr (AprTensor) tensor = g_steal_pointer (&samples[i]);

          if (tensor != NULL && local_error == NULL)
            append (&numbers[i], tensor, &local_error);
        }
    }
  if (local_error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local_error));

  return FALSE;
}

static AprRegressionDiagnostics *
diagnose (Diagnosis *diagnosis,
          Numbers numbers[APR_PLOT_N_TENSORS],
          GCancellable *cancellable,
          GError **error)
{
  const TrendlineRows *rows = &diagnosis->rows;
  g_autoptr (GFileInputStream) stream = g_file_read (rows->file, cancellable, error);
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  gsize n_features = g_strv_length (rows->features);
  gsize n_rows;

  if (stream == NULL)
    return NULL;
  reader = trendline_rows_create_reader (rows, stream);
  if (!read_rows (reader, numbers, cancellable, error))
    return NULL;

  n_rows = numbers[APR_PLOT_Y].n;
  y = take_tensor (APR_DTYPE_F64, &numbers[APR_PLOT_Y], n_rows, FALSE, 1);
  if (rows->weight != NULL)
    weights = take_tensor (APR_DTYPE_F64, &numbers[APR_PLOT_WEIGHTS], n_rows, FALSE, 1);
  if (rows->drop_missing || rows->weight != NULL)
    diagnosis->row_numbers = take_tensor (APR_DTYPE_I64, &numbers[APR_PLOT_ROWS], n_rows, FALSE, 1);
  x = take_tensor (APR_DTYPE_F64, &numbers[APR_PLOT_X], n_rows, TRUE, n_features);

  return apr_linear_regression_diagnose (diagnosis->model, x, y, weights, 0, cancellable, error);
}

static void
diagnose_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Numbers numbers[APR_PLOT_N_TENSORS] = { 0 };
  GError *error = NULL;
  AprRegressionDiagnostics *diagnostics = diagnose (data, numbers, cancellable, &error);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_free (numbers[i].values);
  if (diagnostics != NULL)
    g_task_return_pointer (task, diagnostics, g_object_unref);
  else
    g_task_return_error (task, error);
}

/*
 * Computes how well the model fits each row of the table that was in the fit: not those of weight 0. The table is read
 * again for it.
 *
 * The rows take memory, as much as a number of eight bytes for each cell. The session may do something else meanwhile.
 * Fails with %APR_ERROR_NO_MEMORY where there is not so much memory, with %G_IO_ERROR_NOT_FOUND if no model was fitted
 * to a table, and as reading a table and statistics do.
 */
void
trendline_fit_session_diagnose_async (TrendlineFitSession *self,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Diagnosis *diagnosis;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, trendline_fit_session_diagnose_async);
  if (self->model == NULL || self->table == NULL || self->model_target == NULL)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, _ ("No model was fitted to a table"));
      return;
    }

  diagnosis = g_new0 (Diagnosis, 1);
  diagnosis->rows.file = g_object_ref (trendline_table_get_file (self->table));
  diagnosis->rows.decimal_comma = trendline_table_get_decimal_comma (self->table);
  diagnosis->rows.drop_missing = trendline_fit_session_has_dropped_missing (self);
  diagnosis->rows.target = g_strdup (self->model_target);
  diagnosis->rows.weight = g_strdup (self->model_weight);
  diagnosis->rows.features = apr_estimator_get_feature_names (APR_ESTIMATOR (self->model));
  diagnosis->model = g_object_ref (self->model);
  g_task_set_task_data (task, diagnosis, (GDestroyNotify) diagnosis_free);
  g_task_run_in_thread (task, diagnose_in_thread);
}

/* Gets the rows of the table that the samples are, counted from 0, too; NULL where each sample is a row. */
AprRegressionDiagnostics *
trendline_fit_session_diagnose_finish (TrendlineFitSession *self,
                                       GAsyncResult *result,
                                       AprTensor **rows,
                                       GError **error)
{
  AprRegressionDiagnostics *diagnostics;
  Diagnosis *diagnosis;

  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  diagnosis = g_task_get_task_data (G_TASK (result));
  diagnostics = g_task_propagate_pointer (G_TASK (result), error);
  *rows = diagnostics != NULL ? g_steal_pointer (&diagnosis->row_numbers) : NULL;

  return diagnostics;
}
