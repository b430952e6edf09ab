/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "aprender/tool/apr-table.h"
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
select_features (AprTableReader *reader, AprEstimator *model, GError **error)
{
  g_auto (GStrv) names = apr_estimator_get_feature_names (model);
  gsize n_features = apr_estimator_get_n_features (model);
  gsize n_columns;

  if (!apr_table_reader_read_names (reader, NULL, error))
    return FALSE;
  n_columns = g_strv_length ((char **) apr_table_reader_get_names (reader));
  apr_table_reader_set_features (reader, (const char *const *) names);
  if (names != NULL || n_columns == n_features)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s: there %s %" G_GSIZE_FORMAT " %s, but the model has %" G_GSIZE_FORMAT
               " %s, and no names to find %s by",
               apr_table_reader_get_name (reader), n_columns == 1 ? "is" : "are", n_columns,
               n_columns == 1 ? "column" : "columns", n_features, n_features == 1 ? "feature" : "features",
               n_features == 1 ? "it" : "them");
  return FALSE;
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

/* Predicts for some rows at a time, so that the table may be of any length. */
static gboolean
predict (AprEstimator *model, AprTableReader *reader, FILE *stream, GError **error)
{
  AprToolProgress progress = apr_tool_progress_start ();
  g_autoptr (GError) local_error = NULL;
  AprTensor *x;

  while (local_error == NULL && apr_table_reader_read (reader, &x, NULL, NULL, NULL, &local_error))
    {
      g_autoptr (AprTensor) predictions = apr_estimator_predict (model, x, &local_error);

      if (predictions != NULL)
        print_predictions (predictions, stream);
      else
        g_prefix_error (&local_error, "%s: ", apr_table_reader_get_name (reader));
      apr_tool_progress_show (&progress, reader);
      apr_tensor_unref (x);
    }
  apr_tool_progress_end (&progress);
  if (local_error == NULL)
    {
      apr_table_report_dropped (reader);
      return TRUE;
    }

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

/* A file that is there already stays as it is until all has been written. */
static gboolean
predict_to_file (AprEstimator *model, AprTableReader *reader, const char *path, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *temporary = NULL;
  GStatBuf status;
  gboolean regular = g_stat (path, &status) != 0 || S_ISREG (status.st_mode);
  FILE *stream = NULL;
  int fd = -1;
  int code;

  if (regular)
    {
      temporary = g_strdup_printf ("%s.XXXXXX", path);
      fd = g_mkstemp_full (temporary, O_WRONLY | O_CLOEXEC, 0666);
    }
  else
    fd = g_open (path, O_WRONLY | O_CLOEXEC, 0);
  code = errno;
  if (fd < 0 || (stream = fdopen (fd, "w")) == NULL)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name, g_strerror (code));
      return FALSE;
    }

  if (!predict (model, reader, stream, error))
    fclose (stream);
  else if (apr_tool_close_output (stream, name, error))
    {
      if (temporary == NULL || g_rename (temporary, path) == 0)
        return TRUE;
      code = errno;
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name, g_strerror (code));
    }
  if (temporary != NULL)
    g_unlink (temporary);

  return FALSE;
}

AprToolStatus
apr_tool_predict (int argc, char **argv)
{
  g_auto (AprTableOptions) options = { 0 };
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the predictions to this file", "FILE" },
    APR_TABLE_OPTION_ENTRIES (&options),
    { NULL },
  };
  g_auto (GStrv) arguments = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  guint i;

  if (!apr_tool_parse (&command, entries, argc, argv, &arguments, &status))
    return status;

  for (i = 0; i < 2 && output != NULL && strcmp (output, "-") != 0; i++)
    if (apr_tool_is_same_file (arguments[i], output))
      return apr_tool_usage_error ("predict", "--output must not be a file that is read: %s", output);

  model = apr_linear_regression_load (arguments[0], &error);
  reader = model != NULL ? apr_table_open (arguments[1], &options, &error) : NULL;
  if (reader == NULL || !select_features (reader, APR_ESTIMATOR (model), &error) ||
      !(output == NULL || strcmp (output, "-") == 0
          ? predict (APR_ESTIMATOR (model), reader, stdout, &error)
          : predict_to_file (APR_ESTIMATOR (model), reader, output, &error)))
    return apr_tool_fail (error);

  return APR_TOOL_OK;
}
