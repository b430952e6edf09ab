/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "aprender/tool/apr-csv.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

static const AprToolCommand command = {
  "predict",
  "Predicts the target for each row of a table, and prints one prediction per line.\n\n"
  "The model's features are found by their names, in whatever order the columns stand.",
  { "MODEL.safetensors", "DATA.csv" },
  "DATA.csv has a header row with the columns' names; “-” reads it from the standard input.\n"
  "Of several targets, the predictions stand in one line with commas between them.",
};

/* A model without names takes the columns as they stand. */
static gboolean
select_features (AprCsv *csv, AprEstimator *model, AprCsvSelection *features, GError **error)
{
  const char *const *names = apr_estimator_get_feature_names (model);
  gsize n_features = apr_estimator_get_n_features (model);
  gsize n_columns;
  gsize i;

  apr_csv_get_columns (csv, &n_columns);
  if (names == NULL && n_columns != n_features)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "%s: there %s %" G_GSIZE_FORMAT " %s, but the model has %" G_GSIZE_FORMAT
                   " %s, and no names to find %s by%s",
                   apr_csv_get_name (csv), n_columns == 1 ? "is" : "are", n_columns,
                   n_columns == 1 ? "column" : "columns", n_features,
                   n_features == 1 ? "feature" : "features", n_features == 1 ? "it" : "them",
                   apr_csv_get_separator_hint (csv));
      return FALSE;
    }

  features->n_columns = n_features;
  features->columns = g_new (gsize, n_features);
  for (i = 0; i < n_features; i++)
    {
      features->columns[i] = i;
      if (names != NULL && !apr_csv_find_column (csv, names[i], &features->columns[i], error))
        return FALSE;
    }

  return TRUE;
}

static AprTensor *
predict (const char *model_path, const char *data_path, GError **error)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_load (model_path, error);
  g_autoptr (AprCsv) csv = NULL;
  g_auto (AprCsvSelection) features = { 0 };
  AprTensor *predictions;

  if (model == NULL)
    return NULL;
  csv = apr_csv_open (data_path, error);
  if (csv == NULL || !select_features (csv, APR_ESTIMATOR (model), &features, error) ||
      !apr_csv_read (csv, &features, 1, error))
    return NULL;

  predictions = apr_estimator_predict (APR_ESTIMATOR (model), features.tensor, error);
  if (predictions == NULL)
    g_prefix_error (error, "%s: ", apr_csv_get_name (csv));

  return predictions;
}

static void
print_predictions (AprTensor *predictions, FILE *stream)
{
  AprDType dtype = apr_tensor_get_dtype (predictions);
  gsize n_values = apr_tensor_get_n_elements (predictions);
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (predictions, &n_dims);
  gsize n_targets = n_dims == 2 ? shape[1] : 1;
  char buffer[APR_TOOL_NUMBER_SIZE];
  gsize i;

  for (i = 0; i < n_values; i++)
    {
      fputs (apr_tool_format_number (apr_tensor_get_double (predictions, i, NULL), dtype, buffer), stream);
      fputc ((i + 1) % n_targets == 0 ? '\n' : ',', stream);
    }
}

static gboolean
write_predictions (AprTensor *predictions, const char *path, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  FILE *stream = g_fopen (path, "we");

  if (stream == NULL)
    {
      int code = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name, g_strerror (code));
      return FALSE;
    }

  print_predictions (predictions, stream);
  return apr_tool_close_output (stream, name, error);
}

AprToolStatus
apr_tool_predict (int argc, char **argv)
{
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the predictions to this file", "FILE" },
    { NULL },
  };
  g_auto (GStrv) arguments = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  guint i;

  if (!apr_tool_parse (&command, entries, argc, argv, &arguments, &status))
    return status;

  for (i = 0; i < 2 && output != NULL && strcmp (output, "-") != 0; i++)
    if (apr_tool_is_same_file (arguments[i], output))
      return apr_tool_usage_error ("predict", "--output must not be a file that is read: %s", output);

  predictions = predict (arguments[0], arguments[1], &error);
  if (predictions == NULL)
    return apr_tool_fail (error);

  if (output == NULL || strcmp (output, "-") == 0)
    print_predictions (predictions, stdout);
  else if (!write_predictions (predictions, output, &error))
    return apr_tool_fail (error);

  return APR_TOOL_OK;
}
