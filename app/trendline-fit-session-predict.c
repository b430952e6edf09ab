/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <string.h>

/* The predictions of a table, which a thread writes. The model never changes, so that it can be read there. */
typedef struct
{
  GFile *input;
  GFile *output;
  AprLinearRegression *model;
  guint64 n_dropped; /* once it is done */
} Prediction;

static void
prediction_free (Prediction *prediction)
{
  g_object_unref (prediction->input);
  g_object_unref (prediction->output);
  g_object_unref (prediction->model);
  g_free (prediction);
}

static void
append_number (GString *text, AprTensor *numbers, gsize index)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text,
                   g_ascii_dtostr (buffer, sizeof buffer, apr_tensor_get_double (numbers, index, NULL)));
}

/* Rows that cannot be predicted for, as R and spreadsheets have what is not there. */
static gboolean
write_gaps (
  Prediction *prediction, guint64 n, GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  const char *line = apr_linear_regression_get_has_statistics (prediction->model) ? "NA,NA,NA\n" : "NA\n";

  for (; n > 0; n--)
    if (!g_output_stream_write_all (stream, line, strlen (line), NULL, cancellable, error))
      return FALSE;

  return TRUE;
}

/* One line for each row of x, and one for each row that was passed over since the last one: *next is the number of the
 * first row that has no line yet. */
static gboolean
write_rows (Prediction *prediction,
            AprTensor *x,
            AprTensor *rows,
            guint64 *next,
            GOutputStream *stream,
            GCancellable *cancellable,
            GError **error)
{
  const gint64 *numbers = g_bytes_get_data (apr_tensor_get_bytes (rows), NULL);
  const gsize n_rows = apr_tensor_get_n_elements (rows);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  gsize i;

  predictions = apr_estimator_predict (APR_ESTIMATOR (prediction->model), x, error);
  if (predictions == NULL)
    return FALSE;
  if (apr_linear_regression_get_has_statistics (prediction->model) &&
      !apr_linear_regression_predict_interval (prediction->model, x, 0.95, APR_INTERVAL_PREDICTION, &lower,
                                               &upper, error))
    return FALSE;

  for (i = 0; i < n_rows; i++)
    {
      const guint64 number = (guint64) GINT64_FROM_LE (numbers[i]);

      if (number > *next)
        {
          if (!g_output_stream_write_all (stream, text->str, text->len, NULL, cancellable, error) ||
              !write_gaps (prediction, number - *next, stream, cancellable, error))
            return FALSE;
          g_string_truncate (text, 0);
        }
      append_number (text, predictions, i);
      if (lower != NULL)
        {
          g_string_append_c (text, ',');
          append_number (text, lower, i);
          g_string_append_c (text, ',');
          append_number (text, upper, i);
        }
      g_string_append_c (text, '\n');
      *next = number + 1;
    }

  return g_output_stream_write_all (stream, text->str, text->len, NULL, cancellable, error);
}

static gboolean
write_table (GTask *task, AprTableReader *reader, GOutputStream *stream, GError **error)
{
  Prediction *prediction = g_task_get_task_data (task);
  GCancellable *cancellable = g_task_get_cancellable (task);
  const char *head = apr_linear_regression_get_has_statistics (prediction->model) ? "prediction,lower,upper\n"
                                                                                  : "prediction\n";
  guint64 next = 0;
  AprTensor *rows;
  GError *local_error = NULL;

  if (!g_output_stream_write_all (stream, head, strlen (head), NULL, cancellable, error))
    return FALSE;
  while (apr_table_reader_read (reader, &rows, NULL, NULL, cancellable, &local_error))
    {
      g_autoptr (AprTensor) x = rows;

      trendline_fit_session_send_fraction (task, apr_table_reader_get_progress (reader));
      if (!write_rows (prediction, x, apr_table_reader_get_row_numbers (reader), &next, stream, cancellable,
                       error))
        return FALSE;
    }
  prediction->n_dropped = apr_table_reader_get_n_dropped (reader);
  if (local_error == NULL)
    return write_gaps (prediction, apr_table_reader_get_n_rows (reader) + prediction->n_dropped - next,
                       stream, cancellable, error);
  g_propagate_error (error, local_error);

  return FALSE;
}

/* Where what is new is written until it is complete, beside its place. */
static GFile *
get_draft (GFile *output)
{
  g_autoptr (GFile) folder = g_file_get_parent (output);
  g_autofree char *name = g_strdup_printf (".trendline-%08x.csv", g_random_int ());

  return g_file_get_child (folder, name);
}

/* Ends what was written: it takes its place, or, after an error, leaves what was there before. */
static void
close_output (
  Prediction *prediction, GOutputStream *stream, GFile *draft, GCancellable *cancellable, GError **error)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  if (*error != NULL)
    {
      /* g_file_replace() leaves the file that was there if the stream is closed so. */
      g_cancellable_cancel (cancelled);
      g_output_stream_close (stream, cancelled, NULL);
    }
  else if (g_output_stream_close (stream, cancellable, error) && draft != NULL)
    g_file_move (draft, prediction->output, G_FILE_COPY_OVERWRITE, cancellable, NULL, NULL, error);

  if (draft != NULL && *error != NULL)
    g_file_delete (draft, NULL, NULL);
}

static void
predict_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Prediction *prediction = data;
  g_auto (GStrv) names = apr_estimator_get_feature_names (APR_ESTIMATOR (prediction->model));
  g_autoptr (TrendlineTable) table = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GFileOutputStream) stream = NULL;
  g_autoptr (GFile) draft = NULL;
  GError *error = NULL;

  table = trendline_table_load (prediction->input, cancellable, &error);
  if (table != NULL)
    reader = apr_table_reader_new_for_file (prediction->input, cancellable, &error);
  if (reader != NULL)
    {
      apr_table_reader_set_decimal_comma (reader, trendline_table_get_decimal_comma (table));
      apr_table_reader_set_drop_missing (reader, TRUE);
      apr_table_reader_set_n_threads (reader, trendline_fit_session_count_threads ());
      apr_table_reader_set_features (reader, (const char *const *) names);
      /* g_file_replace() itself writes a draft of what is there, but what is new in place. */
      if (!g_file_query_exists (prediction->output, cancellable))
        draft = get_draft (prediction->output);
      stream = g_file_replace (draft != NULL ? draft : prediction->output, NULL, FALSE, G_FILE_CREATE_NONE,
                               cancellable, &error);
    }
  if (stream != NULL)
    {
      write_table (task, reader, G_OUTPUT_STREAM (stream), &error);
      close_output (prediction, G_OUTPUT_STREAM (stream), draft, cancellable, &error);
    }

  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

static void
on_predicted (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  const Prediction *prediction = g_task_get_task_data (G_TASK (result));
  GError *error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  self->n_dropped = prediction->n_dropped;
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_IDLE);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

/*
 * Predicts for each row of a table, which needs the columns that the model was fitted to, and writes a CSV file with a
 * row for each: the prediction, and, where there are statistics, the interval that has a new row with a probability of
 * 95 %; all are NA for a row that misses a number.
 *
 * After a failure there is no file, or the one that was there before.
 */
void
trendline_fit_session_predict_async (
  TrendlineFitSession *self, GFile *table, GFile *output, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) thread_task = NULL;
  Prediction *prediction;
  GTask *task;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (G_IS_FILE (table));
  g_return_if_fail (G_IS_FILE (output));
  g_return_if_fail (self->model != NULL);

  task = trendline_fit_session_begin (self, TRENDLINE_FIT_STATE_PREDICTING,
                                      trendline_fit_session_predict_async, callback, user_data);
  if (task == NULL)
    return;

  prediction = g_new0 (Prediction, 1);
  prediction->input = g_object_ref (table);
  prediction->output = g_object_ref (output);
  prediction->model = g_object_ref (self->model);
  thread_task = g_task_new (self, self->cancellable, on_predicted, task);
  g_task_set_source_tag (thread_task, trendline_fit_session_predict_async);
  g_task_set_task_data (thread_task, prediction, (GDestroyNotify) prediction_free);
  g_task_run_in_thread (thread_task, predict_in_thread);
}

gboolean
trendline_fit_session_predict_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
