/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-fit.h"

#include <string.h>

#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-text.h"

static gboolean
contains (char **names, const char *name)
{
  return names != NULL && name != NULL && g_strv_contains ((const char *const *) names, name);
}

/* A column has one role; but --one-hot tells more of one that --features may name. */
static gboolean
check_columns (const char *command, const AprToolFitOptions *options, AprToolStatus *status)
{
  char *weights[] = { options->weight, NULL };
  char *fold_columns[] = { options->fold_column, NULL };
  const AprToolColumns with_features[] = {
    { "target", options->targets },
    { "weight", weights },
    { "fold-column", fold_columns },
    { "features", options->features },
    { "drop", options->dropped, .may_repeat = TRUE },
    { NULL },
  };
  const AprToolColumns with_one_hot[] = {
    { "target", options->targets },
    { "weight", weights },
    { "fold-column", fold_columns },
    { "one-hot", options->one_hot },
    { "drop", options->dropped, .may_repeat = TRUE },
    { NULL },
  };

  return apr_tool_table_check_columns (command, with_features, status) &&
         apr_tool_table_check_columns (command, with_one_hot, status);
}

/* Returns: (nullable): the column of --one-hot that a --reference is of */
static const char *
find_column (const AprToolFitOptions *options, const char *reference)
{
  char **column;

  for (column = options->one_hot; column != NULL && *column != NULL; column++)
    if (g_str_has_prefix (reference, *column) && reference[strlen (*column)] == '=')
      return *column;

  return NULL;
}

/* Each is of a column of its own. */
static gboolean
check_references (const char *command, const AprToolFitOptions *options, AprToolStatus *status)
{
  char **references = options->references;
  gsize i;
  gsize j;

  for (i = 0; references != NULL && references[i] != NULL; i++)
    {
      const char *column = find_column (options, references[i]);

      if (options->one_hot == NULL)
        {
          *status = apr_tool_usage_error (command, "--reference needs --one-hot");
          return FALSE;
        }
      if (column == NULL)
        {
          g_autofree char *columns = apr_tool_quote_names (options->one_hot);

          *status = apr_tool_usage_error (
            command, "--reference is COLUMN=TEXT, not “%s”, for a column of --one-hot, which names %s",
            references[i], columns);
          return FALSE;
        }
      for (j = 0; j < i; j++)
        if (find_column (options, references[j]) == column)
          {
            *status =
              apr_tool_usage_error (command, "--reference names two texts of the column “%s”", column);
            return FALSE;
          }
    }

  return TRUE;
}

gboolean
apr_tool_fit_check (const char *command,
                    char **paths,
                    const AprToolFitOptions *options,
                    AprToolStatus *status)
{
  const char *twice = options->one_hot != NULL     ? "one-hot"
                    : options->fold_column != NULL ? "fold-column"
                                                   : NULL;
  const char *repeated = apr_tool_find_same_file (paths);
  gsize i;

  if (options->targets == NULL)
    {
      *status = apr_tool_usage_error (command, "--target COLUMN is missing");
      return FALSE;
    }
  if (repeated != NULL)
    {
      *status = apr_tool_usage_error (command, "a table must not be read twice: %s", repeated);
      return FALSE;
    }
  for (i = 0; twice != NULL && paths[i] != NULL; i++)
    if (!g_file_test (paths[i], G_FILE_TEST_IS_REGULAR))
      {
        *status = apr_tool_usage_error (command, "--%s reads a table twice, so it must be a file: %s", twice,
                                        paths[i]);
        return FALSE;
      }

  return check_columns (command, options, status) && check_references (command, options, status);
}

AprLinearRegression *
apr_tool_fit_create_model (const AprToolFitOptions *options)
{
  AprLinearRegression *model = apr_linear_regression_new ();

  apr_linear_regression_set_fit_intercept (model, !options->no_intercept);
  apr_linear_regression_set_positive (model, options->positive);
  if (options->dtype != NULL)
    apr_linear_regression_set_dtype (model,
                                     strcmp (options->dtype, "f32") == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64);

  return model;
}

/* What the tables of a fit share. */
typedef struct
{
  const AprToolFitOptions *options; /* (unowned) */
  char **categories;                /* (unowned) those of all tables */
  char **columns;        /* (owned) (nullable) those of the first table that features are made of */
  gboolean *dropped;     /* (owned) for each column of --drop, whether a table has had it */
  gboolean weighted;     /* whether a row has had a weight above 0 */
  AprToolTableFunc func; /* what is called for the rows, with: */
  gpointer data;
} Tables;

static void
tables_clear (Tables *self)
{
  g_clear_pointer (&self->columns, g_strfreev);
  g_clear_pointer (&self->dropped, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tables, tables_clear)

/* The columns that --features names, or all that are left. */
static char **
list_columns (AprTableReader *reader, const AprToolFitOptions *options, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const char *const *names;
  gsize i;

  if (!apr_table_reader_read_names (reader, NULL, error))
    return NULL;
  names = apr_table_reader_get_names (reader);
  if (options->features != NULL)
    names = (const char *const *) options->features;
  for (i = 0; names[i] != NULL; i++)
    if (options->features != NULL ||
        (*names[i] != '\0' && !contains (options->dropped, names[i]) &&
         !contains (options->targets, names[i]) && g_strcmp0 (options->weight, names[i]) != 0 &&
         g_strcmp0 (options->fold_column, names[i]) != 0))
      g_strv_builder_add (builder, names[i]);
  for (i = 0; options->features != NULL && options->one_hot != NULL && options->one_hot[i] != NULL; i++)
    if (!contains (options->features, options->one_hot[i]))
      g_strv_builder_add (builder, options->one_hot[i]);

  return g_strv_builder_end (builder);
}

static void
add_categories (GStrvBuilder *builder, char **categories, const char *column)
{
  g_autofree char *prefix = g_strconcat (column, "=", NULL);

  for (; *categories != NULL; categories++)
    if (g_str_has_prefix (*categories, prefix))
      g_strv_builder_add (builder, *categories);
}

char **
apr_tool_fit_get_categories (char **categories, const char *column)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  add_categories (builder, categories, column);

  return g_strv_builder_end (builder);
}

/* Beside an intercept, the last feature of a column follows from the others. That there are no rows is told when they
 * are read. */
static char **
move_references (char **categories, const AprToolFitOptions *options, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  char **references = options->references;
  gsize i;

  for (i = 0; categories[i] != NULL; i++)
    if (!contains (references, categories[i]))
      g_strv_builder_add (builder, categories[i]);
  for (i = 0; references != NULL && references[i] != NULL; i++)
    {
      g_auto (GStrv) known = apr_tool_fit_get_categories (categories, find_column (options, references[i]));

      if (known[0] != NULL && !contains (known, references[i]))
        {
          g_autofree char *quoted = apr_tool_quote_names (known);

          g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                       "No row has “%s”, which --reference names: there %s %s", references[i],
                       g_strv_length (known) == 1 ? "is" : "are", quoted);
          return NULL;
        }
      if (known[0] != NULL)
        g_strv_builder_add (builder, references[i]);
    }

  return g_strv_builder_end (builder);
}

char **
apr_tool_fit_list_categories (char **paths, const AprToolFitOptions *options, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GStrvBuilder) columns_builder = g_strv_builder_new ();
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) columns = NULL;
  g_auto (GStrv) categories = NULL;
  gsize i;
  gsize j;

  if (options->one_hot != NULL)
    g_strv_builder_addv (columns_builder, (const char **) options->one_hot);
  if (options->fold_column != NULL)
    g_strv_builder_add (columns_builder, options->fold_column);
  columns = g_strv_builder_end (columns_builder);

  for (i = 0; columns[0] != NULL && paths[i] != NULL; i++)
    {
      g_autoptr (AprTableReader) reader = apr_tool_table_open (paths[i], &options->table, error);
      g_auto (GStrv) features = reader != NULL ? list_columns (reader, options, error) : NULL;
      g_auto (GStrv) found = NULL;

      if (features == NULL)
        return NULL;
      /* Texts in rows that are passed over are no features. */
      apr_table_reader_set_targets (reader, (const char *const *) options->targets);
      apr_table_reader_set_weight (reader, options->weight);
      apr_table_reader_set_features (reader, (const char *const *) features);
      found = apr_table_reader_read_categories (reader, (const char *const *) columns, NULL, error);
      if (found == NULL)
        return NULL;
      for (j = 0; found[j] != NULL; j++)
        g_ptr_array_add (names, g_steal_pointer (&found[j]));
    }

  g_ptr_array_sort (names, apr_tool_compare_texts);
  for (i = 0; i < names->len; i++)
    if (i == 0 || strcmp (g_ptr_array_index (names, i - 1), g_ptr_array_index (names, i)) != 0)
      g_strv_builder_add (builder, g_ptr_array_index (names, i));
  categories = g_strv_builder_end (builder);

  return move_references (categories, options, error);
}

/* What X consists of. The categories of the columns of --one-hot stand in their places, and those of --fold-column
 * come last. */
static char **
list_features (const Tables *self)
{
  const AprToolFitOptions *options = self->options;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  gsize i;

  for (i = 0; self->columns[i] != NULL; i++)
    if (contains (options->one_hot, self->columns[i]))
      add_categories (builder, self->categories, self->columns[i]);
    else
      g_strv_builder_add (builder, self->columns[i]);
  if (options->fold_column != NULL)
    add_categories (builder, self->categories, options->fold_column);

  return g_strv_builder_end (builder);
}

/* Some table must have each column of --drop: the last one tells. */
static gboolean
check_dropped (Tables *self, AprTableReader *reader, gboolean is_last, GError **error)
{
  char **dropped = self->options->dropped;
  gsize i;

  for (i = 0; dropped != NULL && dropped[i] != NULL; i++)
    if (g_strv_contains (apr_table_reader_get_names (reader), dropped[i]))
      self->dropped[i] = TRUE;
    else if (is_last && !self->dropped[i])
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "%s: no column “%s”, which --drop names",
                     apr_table_reader_get_name (reader), dropped[i]);
        return FALSE;
      }

  return TRUE;
}

/* No table may have a feature that the first one lacks; one that it lacks itself is told when its rows are read. */
static gboolean
check_features (Tables *self, AprTableReader *reader, char **columns, GError **error)
{
  const char *more = apr_tool_find_other (columns, self->columns);

  if (more == NULL || apr_tool_find_other (self->columns, columns) != NULL)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
               "%s: column “%s” is not in the first table; of a column to leave out: --drop",
               apr_table_reader_get_name (reader), more);
  return FALSE;
}

/* Chooses the columns of a table. Of a second one, the features are those of the first. */
static gboolean
select_columns (Tables *self, AprTableReader *reader, gboolean is_last, GError **error)
{
  const AprToolFitOptions *options = self->options;
  g_auto (GStrv) columns = list_columns (reader, options, error);
  g_auto (GStrv) features = NULL;

  if (columns == NULL || !check_dropped (self, reader, is_last, error))
    return FALSE;
  if (self->columns == NULL)
    self->columns = g_steal_pointer (&columns);
  else if (!check_features (self, reader, columns, error))
    return FALSE;

  features = list_features (self);
  apr_table_reader_set_targets (reader, (const char *const *) options->targets);
  apr_table_reader_set_weight (reader, options->weight);
  apr_table_reader_set_features (reader, (const char *const *) features);

  return TRUE;
}

static gboolean
has_positive_weight (AprTensor *weight)
{
  gsize n_samples = apr_tensor_get_n_elements (weight);
  gsize i;

  for (i = 0; i < n_samples; i++)
    if (apr_tensor_get_double (weight, i, NULL) > 0)
      return TRUE;

  return FALSE;
}

static gboolean
use_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error)
{
  Tables *self = data;

  self->weighted = self->weighted || weight == NULL || has_positive_weight (weight);

  return self->func (reader, x, y, weight, self->data, error);
}

static gboolean
read_table (Tables *self, const char *path, gboolean is_last, GError **error)
{
  const AprToolFitOptions *options = self->options;
  g_autoptr (AprTableReader) reader = apr_tool_table_open (path, &options->table, error);

  if (reader == NULL || !select_columns (self, reader, is_last, error) ||
      !apr_tool_table_read_all (reader, use_rows, self, error))
    return FALSE;

  if (!self->weighted)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "%s: column “%s”: no weight is above 0",
                   apr_table_reader_get_name (reader), options->weight);
      return FALSE;
    }
  if (options->features == NULL)
    apr_tool_table_report_unnamed (reader);
  apr_tool_table_report_dropped (reader);

  return TRUE;
}

gboolean
apr_tool_fit_read_tables (char **paths,
                          const AprToolFitOptions *options,
                          char **categories,
                          AprToolTableFunc func,
                          gpointer data,
                          GError **error)
{
  g_auto (Tables) self = { .options = options, .categories = categories, .func = func, .data = data };
  gsize i;

  if (options->dropped != NULL)
    self.dropped = g_new0 (gboolean, g_strv_length (options->dropped));
  for (i = 0; paths[i] != NULL; i++)
    if (!read_table (&self, paths[i], paths[i + 1] == NULL, error))
      return FALSE;

  return TRUE;
}

/* Whether the message speaks of a column by one of these names that has a comma, or of any of them. */
static gboolean
names_column (const GError *error, char **names, gboolean any)
{
  gsize i;

  for (i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autofree char *column = g_strdup_printf ("column “%s”", names[i]);

      if ((any || strchr (names[i], ',') != NULL) && strstr (error->message, column) != NULL)
        return TRUE;
    }

  return FALSE;
}

void
apr_tool_fit_add_hint (GError *error, const AprToolFitOptions *options)
{
  char *weights[] = { options->weight, NULL };
  g_autofree char *message = NULL;

  g_assert (error != NULL);
  if (g_error_matches (error, APR_ERROR, APR_ERROR_FEATURE_NAMES) &&
      (names_column (error, options->targets, FALSE) || names_column (error, options->features, FALSE) ||
       names_column (error, options->dropped, FALSE) || names_column (error, options->one_hot, FALSE)))
    message = g_strconcat (error->message, "; of several columns, give the option again for each", NULL);
  /* A feature that holds no numbers is most often a column of texts. */
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA) &&
           g_str_has_suffix (error->message, "” is not a number") &&
           !names_column (error, options->targets, TRUE) && !names_column (error, weights, TRUE))
    message = g_strconcat (error->message, "; of a column of texts: --one-hot or --drop", NULL);
  if (message != NULL)
    {
      g_free (error->message);
      error->message = g_steal_pointer (&message);
    }
}
