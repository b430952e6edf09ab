/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <glib/gstdio.h>

#include "aprender/tool/apr-tool-progress.h"
#include "aprender/tool/apr-tool-safetensors.h"
#include "aprender/tool/apr-tool-tensor-table.h"
#include "aprender/tool/apr-tool-text.h"

gboolean
apr_tool_table_check_columns (const char *command, const AprToolColumns *columns, AprToolStatus *status)
{
  const AprToolColumns *other;
  char **name;

  for (; columns->option != NULL; columns++)
    for (name = columns->names; name != NULL && *name != NULL; name++)
      {
        if (!columns->may_repeat && g_strv_contains ((const char *const *) name + 1, *name))
          {
            *status = apr_tool_usage_error (command, "the column “%s” is named twice by --%s", *name,
                                            columns->option);
            return FALSE;
          }
        for (other = columns + 1; other->option != NULL; other++)
          if (other->names != NULL && g_strv_contains ((const char *const *) other->names, *name))
            {
              *status = apr_tool_usage_error (command, "the column “%s” is named by --%s and --%s", *name,
                                              columns->option, other->option);
              return FALSE;
            }
      }

  return TRUE;
}

gboolean
apr_tool_table_check_target_and_weight (const char *command,
                                        char **targets,
                                        char *weight,
                                        AprToolStatus *status)
{
  char *weights[] = { weight, NULL };
  const AprToolColumns columns[] = { { "target", targets }, { "weight", weights }, { NULL } };

  return apr_tool_table_check_columns (command, columns, status);
}

static void
set_options (AprTableReader *reader, const AprToolTableOptions *options)
{
  apr_table_reader_set_delimiter (reader,
                                  g_strcmp0 (options->delimiter, "tab") == 0 ? "\t" : options->delimiter);
  apr_table_reader_set_decimal_comma (reader, options->decimal_comma);
  apr_table_reader_set_drop_missing (reader, options->drop_missing);
}

/* What a reader refuses before it looks at its table is wrong on the command line. */
static gboolean
check_options (const AprToolTableOptions *options, GError **error)
{
  g_autoptr (GInputStream) nothing = g_memory_input_stream_new ();
  g_autoptr (AprTableReader) reader = apr_table_reader_new (nothing, "--delimiter");
  g_autoptr (GError) local_error = NULL;

  set_options (reader, options);
  if (apr_table_reader_read_names (reader, NULL, &local_error) ||
      !g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
    return TRUE;

  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, local_error->message);
  return FALSE;
}

AprTableReader *
apr_tool_table_open (const char *path, const AprToolTableOptions *options, GError **error)
{
  gboolean standard_input = strcmp (path, "-") == 0;
  g_autofree char *name = apr_tool_get_display_name (path);
  AprTableReader *reader;

  if (!check_options (options, error))
    return NULL;
  if (apr_tool_is_safetensors (path))
    {
      g_autoptr (GInputStream) stream = apr_tool_tensor_table_open (path, error);

      if (stream == NULL)
        return NULL;
      reader = apr_table_reader_new (stream, name);
      apr_table_reader_set_delimiter (reader, ",");
      apr_table_reader_set_drop_missing (reader, options->drop_missing);
      return reader;
    }
  if ((g_str_has_suffix (path, ".npy") || g_str_has_suffix (path, ".npz")) &&
      g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "%s: convert it first: aprender convert %s %.*s.safetensors", name, name,
                   (int) (strlen (name) - strlen (".npz")), name);
      return NULL;
    }
  if (standard_input)
    {
      g_autoptr (GInputStream) stream = g_unix_input_stream_new (STDIN_FILENO, FALSE);

      reader = apr_table_reader_new (stream, name);
    }
  else
    {
      /* Not by GFile, which would make the path in messages absolute. */
      int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
      struct stat status;
      int code = fd < 0 ? errno : fstat (fd, &status) == 0 && S_ISDIR (status.st_mode) ? EISDIR : 0;
      g_autoptr (GInputStream) stream = NULL;

      if (code != 0)
        {
          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name, g_strerror (code));
          if (fd >= 0)
            g_close (fd, NULL);
          return NULL;
        }
      stream = g_unix_input_stream_new (fd, TRUE);
      reader = apr_table_reader_new (stream, name);
    }

  set_options (reader, options);

  return reader;
}

gboolean
apr_tool_table_read_all (AprTableReader *reader, AprToolTableFunc func, gpointer data, GError **error)
{
  AprToolProgress progress = apr_tool_progress_start ();
  g_autoptr (GError) local_error = NULL;
  AprTensor *x;
  AprTensor *y;
  AprTensor *weight;

  while (local_error == NULL && apr_table_reader_read (reader, &x, &y, &weight, NULL, &local_error))
    {
      if (!func (reader, x, y, weight, data, &local_error))
        g_prefix_error (&local_error, "%s: ", apr_table_reader_get_name (reader));
      apr_tool_progress_show (&progress, reader);
      apr_tensor_unref (x);
      g_clear_pointer (&y, apr_tensor_unref);
      g_clear_pointer (&weight, apr_tensor_unref);
    }
  apr_tool_progress_end (&progress);
  if (local_error == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

void
apr_tool_table_report_dropped (AprTableReader *reader)
{
  g_autofree char *name = apr_tool_escape (apr_table_reader_get_name (reader));
  guint64 n_dropped = apr_table_reader_get_n_dropped (reader);

  if (n_dropped == 0)
    return;
  fflush (stdout);
  fprintf (stderr,
           "aprender: %s: passed over %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
           " rows, which miss a number\n",
           name, n_dropped, n_dropped + apr_table_reader_get_n_rows (reader));
}

static gsize
count_unnamed (AprTableReader *reader)
{
  const char *const *names = apr_table_reader_get_names (reader);
  gsize n = 0;

  for (; *names != NULL; names++)
    n += **names == '\0';

  return n;
}

void
apr_tool_table_report_unnamed (AprTableReader *reader)
{
  g_autofree char *name = apr_tool_escape (apr_table_reader_get_name (reader));
  gsize n = count_unnamed (reader);

  if (n == 0)
    return;
  fflush (stdout);
  fprintf (stderr, "aprender: %s: left out %" G_GSIZE_FORMAT " %s without a name\n", name, n,
           n == 1 ? "column" : "columns");
}

/* Selects the columns with the true values, which must be the model's targets, where it has their names. */
static gboolean
select_targets (AprTableReader *reader, AprEstimator *model, char **targets, GError **error)
{
  g_auto (GStrv) known = apr_estimator_get_target_names (model);
  gsize n_targets = apr_estimator_get_n_targets (model);
  guint n_named = g_strv_length (targets);

  if (known != NULL && !g_strv_equal ((const char *const *) known, (const char *const *) targets))
    {
      g_autofree char *fitted = apr_tool_quote_names (known);
      g_autofree char *named = apr_tool_quote_names (targets);

      g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                   "%s: --target names %s, but the model was fitted to %s%s",
                   apr_table_reader_get_name (reader), named, fitted, n_targets > 1 ? ", in this order" : "");
      return FALSE;
    }
  if (n_named != n_targets)
    {
      g_set_error (
        error, APR_ERROR, APR_ERROR_SHAPE, "%s: the model has %" G_GSIZE_FORMAT " %s, but --target names %u",
        apr_table_reader_get_name (reader), n_targets, n_targets == 1 ? "target" : "targets", n_named);
      return FALSE;
    }
  apr_table_reader_set_targets (reader, (const char *const *) targets);

  return TRUE;
}

/* How many columns are left for the features of a model without names; %FALSE where a target or the weight is no
 * column, which the reader tells. */
static gboolean
count_features (AprTableReader *reader, char **targets, char *weight, gsize *n)
{
  const char *const *names = apr_table_reader_get_names (reader);
  gsize i;

  *n = g_strv_length ((char **) names) - count_unnamed (reader);
  for (i = 0; targets != NULL && targets[i] != NULL; i++, --*n)
    if (!g_strv_contains (names, targets[i]))
      return FALSE;
  if (weight == NULL)
    return TRUE;
  --*n;

  return g_strv_contains (names, weight);
}

gboolean
apr_tool_table_select_model (
  AprTableReader *reader, AprEstimator *model, char **targets, char *weight, GError **error)
{
  g_auto (GStrv) names = apr_estimator_get_feature_names (model);
  gsize n_features = apr_estimator_get_n_features (model);
  gsize n_columns;

  if (!apr_table_reader_read_names (reader, NULL, error) ||
      (targets != NULL && !select_targets (reader, model, targets, error)))
    return FALSE;
  apr_table_reader_set_weight (reader, weight);
  apr_table_reader_set_features (reader, (const char *const *) names);
  if (names != NULL)
    return TRUE;
  apr_tool_table_report_unnamed (reader);
  if (!count_features (reader, targets, weight, &n_columns) || n_columns == n_features)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s: there %s %" G_GSIZE_FORMAT " %s%s, but the model has %" G_GSIZE_FORMAT
               " %s, and no names to find %s by",
               apr_table_reader_get_name (reader), n_columns == 1 ? "is" : "are", n_columns,
               n_columns == 1 ? "column" : "columns",
               targets == NULL  ? ""
               : weight == NULL ? " beside the target"
                                : " beside the target and the weight",
               n_features, n_features == 1 ? "feature" : "features", n_features == 1 ? "it" : "them");
  return FALSE;
}
