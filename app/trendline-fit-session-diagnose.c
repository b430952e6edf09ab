/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <glib/gi18n.h>

#include "aprender/plot/apr-plot-samples.h"

/* What the fit was made of, and the rows that are read again. */
typedef struct
{
  TrendlineRows rows;
  AprLinearRegression *model;
  AprTensor *row_numbers; /* (nullable): of the samples in the table, where some rows are passed over */
} Diagnosis;

static void
diagnosis_free (Diagnosis *diagnosis)
{
  trendline_rows_clear (&diagnosis->rows);
  g_object_unref (diagnosis->model);
  g_clear_pointer (&diagnosis->row_numbers, apr_tensor_unref);
  g_free (diagnosis);
}

static void
diagnose_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Diagnosis *diagnosis = data;
  g_autoptr (GFileInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  AprRegressionDiagnostics *diagnostics = NULL;
  AprTensor *samples[APR_PLOT_N_TENSORS] = { NULL };
  GError *error = NULL;
  guint i;

  stream = g_file_read (diagnosis->rows.file, cancellable, &error);
  if (stream != NULL)
    {
      reader = trendline_rows_create_reader (&diagnosis->rows, stream);
      if (apr_plot_read_samples (reader, samples, cancellable, &error))
        diagnostics =
          apr_linear_regression_diagnose (diagnosis->model, samples[APR_PLOT_X], samples[APR_PLOT_Y],
                                          samples[APR_PLOT_WEIGHTS], 0, cancellable, &error);
      diagnosis->row_numbers = g_steal_pointer (&samples[APR_PLOT_ROWS]);
      for (i = 0; i < APR_PLOT_N_TENSORS; i++)
        g_clear_pointer (&samples[i], apr_tensor_unref);
    }
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
