/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-table.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  AprToolTableOptions table;
  char *output;   /* (nullable) */
  char *interval; /* (nullable) */
  char *level;    /* (nullable) */
  gboolean json;
} PredictOptions;

static const AprToolOption options_of_predict[] = {
  { "output", 'o', APR_TOOL_TEXT, G_STRUCT_OFFSET (PredictOptions, output),
    "Write the predictions to this file", "FILE" },
  { "interval", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (PredictOptions, interval),
    "Add the bounds of one more sample, or of the mean of all such samples", "prediction|confidence" },
  { "level", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (PredictOptions, level),
    "How sure the bounds are (default: 0.95)", "NUMBER" },
  APR_TOOL_TABLE_OPTIONS (PredictOptions),
  APR_TOOL_JSON_OPTION (PredictOptions),
  { NULL },
};

/* How rows are predicted, and where to. It owns nothing. */
typedef struct
{
  AprLinearRegression *model;
  const PredictOptions *options;
  double level;
  FILE *stream;
} Prediction;

/* What is known of some rows. */
typedef struct
{
  AprTensor *predictions;
  AprTensor *lower; /* (nullable) */
  AprTensor *upper; /* (nullable) */
} Batch;

static void
batch_clear (Batch *self)
{
  g_clear_pointer (&self->predictions, apr_tensor_unref);
  g_clear_pointer (&self->lower, apr_tensor_unref);
  g_clear_pointer (&self->upper, apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Batch, batch_clear)

static gsize
count_targets (AprTensor *predictions)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (predictions, &n_dims);

  return n_dims == 2 ? shape[1] : 1;
}

static void
print_number (AprTensor *tensor, gsize i, FILE *stream)
{
  char buffer[APR_NUMBER_SIZE];

  fputs (apr_number_format (apr_tensor_get_double (tensor, i, NULL),
                            apr_tensor_get_dtype (tensor) == APR_DTYPE_F32, buffer),
         stream);
}

static void
print_lines (const Batch *batch, FILE *stream)
{
  gsize n_values = apr_tensor_get_n_elements (batch->predictions);
  gsize n_targets = count_targets (batch->predictions);
  gsize i;

  for (i = 0; i < n_values; i++)
    {
      print_number (batch->predictions, i, stream);
      if (batch->lower != NULL)
        {
          fputc (',', stream);
          print_number (batch->lower, i, stream);
          fputc (',', stream);
          print_number (batch->upper, i, stream);
        }
      fputc ((i + 1) % n_targets == 0 ? '\n' : ',', stream);
    }
}

static void
add_member (JsonBuilder *builder, const char *name, AprTensor *tensor, gsize first, gsize n_targets)
{
  gsize i;

  if (tensor == NULL)
    return;
  json_builder_set_member_name (builder, name);
  if (n_targets > 1)
    json_builder_begin_array (builder);
  for (i = first; i < first + n_targets; i++)
    apr_tool_json_add_value (builder, apr_tensor_get_double (tensor, i, NULL), apr_tensor_get_dtype (tensor));
  if (n_targets > 1)
    json_builder_end_array (builder);
}

/* An object on each line, as the rows are many. @numbers are those of the rows, from 0, where some can be missing. */
static void
print_json (const Batch *batch, AprTensor *numbers, FILE *stream)
{
  gsize n_values = apr_tensor_get_n_elements (batch->predictions);
  gsize n_targets = count_targets (batch->predictions);
  gsize i;

  for (i = 0; i < n_values; i += n_targets)
    {
      g_autoptr (JsonBuilder) builder = json_builder_new ();
      g_autofree char *line = NULL;

      json_builder_begin_object (builder);
      if (numbers != NULL)
        apr_tool_json_add_count (builder, "row",
                                 (guint64) apr_tensor_get_double (numbers, i / n_targets, NULL) + 1);
      add_member (builder, "prediction", batch->predictions, i, n_targets);
      add_member (builder, "lower", batch->lower, i, n_targets);
      add_member (builder, "upper", batch->upper, i, n_targets);
      json_builder_end_object (builder);
      line = apr_tool_json_to_string (builder, TRUE);
      fputs (line, stream);
    }
}

static gboolean
predict_batch (const Prediction *self, AprTensor *x, Batch *batch, GError **error)
{
  const char *interval = self->options->interval;

  batch->predictions = apr_estimator_predict (APR_ESTIMATOR (self->model), x, error);
  if (batch->predictions == NULL || interval == NULL)
    return batch->predictions != NULL;

  return apr_linear_regression_predict_interval (
    self->model, x, self->level,
    strcmp (interval, "confidence") == 0 ? APR_INTERVAL_CONFIDENCE : APR_INTERVAL_PREDICTION, &batch->lower,
    &batch->upper, error);
}

/* What is too large for the dtype of the predictions is no answer. */
static gboolean
check_range (AprTensor *predictions, AprTableReader *reader, GError **error)
{
  gsize n_values = apr_tensor_get_n_elements (predictions);
  gsize n_targets = count_targets (predictions);
  gsize n_rows = n_values / n_targets;
  AprTensor *numbers = apr_table_reader_get_row_numbers (reader);
  gsize i;

  for (i = 0; i < n_values; i++)
    if (!isfinite (apr_tensor_get_double (predictions, i, NULL)))
      {
        gsize row = i / n_targets;
        double number = numbers != NULL ? apr_tensor_get_double (numbers, row, NULL)
                                        : (double) (apr_table_reader_get_n_rows (reader) - n_rows + row);

        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "row %.0f (counted from 1 below the names): the prediction is beyond the range of %s",
                     number + 1, apr_dtype_to_string (apr_tensor_get_dtype (predictions)));
        return FALSE;
      }

  return TRUE;
}

static gboolean
predict_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error)
{
  const Prediction *self = data;
  g_auto (Batch) batch = { NULL };

  if (!predict_batch (self, x, &batch, error) || !check_range (batch.predictions, reader, error))
    return FALSE;
  if (self->options->json)
    print_json (&batch, apr_table_reader_get_row_numbers (reader), self->stream);
  else
    print_lines (&batch, self->stream);

  return TRUE;
}

/* Predicts for some rows at a time, so that the table may be of any length. */
static gboolean
predict (AprLinearRegression *model,
         AprTableReader *reader,
         const PredictOptions *options,
         double level,
         FILE *stream,
         GError **error)
{
  Prediction prediction = { model, options, level, stream };

  if (!apr_tool_table_read_all (reader, predict_rows, &prediction, error))
    return FALSE;
  apr_tool_table_report_dropped (reader);

  return TRUE;
}

static gboolean
read_level (const PredictOptions *options, double *level, AprToolStatus *status)
{
  char *end = NULL;

  *level = 0.95;
  if (options->level == NULL)
    return TRUE;
  *level = g_ascii_strtod (options->level, &end);
  if (options->interval != NULL && *end == '\0' && *level > 0 && *level < 1)
    return TRUE;

  *status =
    options->interval == NULL
      ? apr_tool_usage_error ("predict", "--level needs --interval")
      : apr_tool_usage_error ("predict", "--level is a number between 0 and 1, not “%s”", options->level);
  return FALSE;
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const PredictOptions *options = data;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_auto (AprToolOutput) output = { NULL };
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  g_autofree char *name = g_filename_display_name (arguments[0]);
  double level;
  guint i;

  if (!read_level (options, &level, &status))
    return status;
  for (i = 0; i < 2; i++)
    if (apr_tool_is_same_file (arguments[i], options->output))
      return apr_tool_usage_error ("predict", "--output must not be a file that is read: %s",
                                   options->output);

  model = apr_linear_regression_load (arguments[0], &error);
  if (model == NULL || (options->interval != NULL && !apr_tool_check_sums (model, name, &error)))
    return apr_tool_fail (error);
  reader = apr_tool_table_open (arguments[1], &options->table, &error);
  if (reader == NULL || !apr_tool_table_select_model (reader, APR_ESTIMATOR (model), NULL, NULL, &error) ||
      !apr_tool_output_open (&output, options->output, &error) ||
      !predict (model, reader, options, level, output.stream, &error) ||
      !apr_tool_output_close (&output, &error))
    return apr_tool_fail (error);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_predict = {
  .name = "predict",
  .title = "Predict the target for each row of a table",
  .summary = "Predicts the target for each row of a table, and prints one prediction per line.\n\n"
             "The model's features are found by their names, in whatever order the columns stand.",
  .parameters = { "MODEL.safetensors", "DATA.csv" },
  .options = options_of_predict,
  .size = sizeof (PredictOptions),
  .notes =
    "DATA.csv has a header row with the columns' names; “-” reads it from the standard input.\n"
    "Of several targets, the predictions stand in one line with commas between them. With --interval,\n"
    "the lower and the upper bound follow each prediction; the model must have been fitted with\n"
    "--keep-state. With --json, each line is an object.",
  .example = "aprender predict rents.safetensors flats.csv --interval prediction",
  .run = run,
};
