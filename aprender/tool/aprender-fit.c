/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-table.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  AprToolTableOptions table;
  char **targets;
  char **features; /* (nullable) */
  char **dropped;  /* (nullable) */
  char **one_hot;  /* (nullable) */
  char *weight;    /* (nullable) */
  char *output;
  char *dtype; /* (nullable) */
  double alpha;
  gboolean positive;
  gboolean no_intercept;
  gboolean keep_state;
  gboolean json;
  gboolean verbose;
} FitOptions;

static const AprToolOption options_of_fit[] = {
  { "target", 't', APR_TOOL_TEXTS, G_STRUCT_OFFSET (FitOptions, targets),
    "Predict this column: needed, and may be given again", "COLUMN" },
  { "output", 'o', APR_TOOL_TEXT, G_STRUCT_OFFSET (FitOptions, output),
    "Write the model to this file: needed", "FILE" },
  { "features", 0, APR_TOOL_TEXTS, G_STRUCT_OFFSET (FitOptions, features),
    "Use only these columns as features: one, and again for more", "COLUMN" },
  { "drop", 0, APR_TOOL_TEXTS, G_STRUCT_OFFSET (FitOptions, dropped),
    "Do not use this column as a feature; may be given again", "COLUMN" },
  { "one-hot", 0, APR_TOOL_TEXTS, G_STRUCT_OFFSET (FitOptions, one_hot),
    "Make a feature of each text in this column; may be given again", "COLUMN" },
  { "dtype", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (FitOptions, dtype),
    "What the model's numbers are stored as (default: f64)", "f32|f64" },
  { "weight", 'w', APR_TOOL_TEXT, G_STRUCT_OFFSET (FitOptions, weight), "Weigh each row by this column",
    "COLUMN" },
  { "no-intercept", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, no_intercept), "Fit through the origin",
    NULL },
  { "alpha", 0, APR_TOOL_NUMBER, G_STRUCT_OFFSET (FitOptions, alpha),
    "Add NUMBER times the squares of the coefficients to what is minimised (ridge; default: 0)", "NUMBER" },
  { "positive", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, positive), "Let no coefficient be negative",
    NULL },
  { "keep-state", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, keep_state),
    "Store the sums of the data too, for summary, plot, merge and predict --interval", NULL },
  APR_TOOL_TABLE_OPTIONS (FitOptions),
  APR_TOOL_JSON_OPTION (FitOptions),
  { "verbose", 'v', APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, verbose), "Say more on the standard error",
    NULL },
  { NULL },
};

static gboolean
contains (char **names, const char *name)
{
  return names != NULL && name != NULL && g_strv_contains ((const char *const *) names, name);
}

/* A column has one role; but --one-hot tells more of one that --features may name. */
static gboolean
check_columns (const FitOptions *options, AprToolStatus *status)
{
  char *weights[] = { options->weight, NULL };
  const AprToolColumns with_features[] = {
    { "target", options->targets },
    { "weight", weights },
    { "features", options->features },
    { "drop", options->dropped, .may_repeat = TRUE },
    { NULL },
  };
  const AprToolColumns with_one_hot[] = {
    { "target", options->targets },
    { "weight", weights },
    { "one-hot", options->one_hot },
    { "drop", options->dropped, .may_repeat = TRUE },
    { NULL },
  };

  return apr_tool_table_check_columns ("fit", with_features, status) &&
         apr_tool_table_check_columns ("fit", with_one_hot, status);
}

static gboolean
check_options (char **paths, const FitOptions *options, AprDType *dtype, AprToolStatus *status)
{
  gsize i;

  *dtype = APR_DTYPE_NONE;
  if (options->dtype != NULL && strcmp (options->dtype, "f32") == 0)
    *dtype = APR_DTYPE_F32;
  else if (options->dtype != NULL && strcmp (options->dtype, "f64") == 0)
    *dtype = APR_DTYPE_F64;

  if (options->targets == NULL)
    {
      *status = apr_tool_usage_error ("fit", "--target COLUMN is missing");
      return FALSE;
    }
  if (!apr_tool_check_output ("fit", options->output, status))
    return FALSE;
  if (!isfinite (options->alpha) || options->alpha < 0)
    {
      *status =
        apr_tool_usage_error ("fit", "--alpha must be a finite number of at least 0, got %g", options->alpha);
      return FALSE;
    }

  for (i = 0; options->one_hot != NULL && paths[i] != NULL; i++)
    if (!g_file_test (paths[i], G_FILE_TEST_IS_REGULAR))
      {
        *status =
          apr_tool_usage_error ("fit", "--one-hot reads a table twice, so it must be a file: %s", paths[i]);
        return FALSE;
      }

  return check_columns (options, status);
}

/* What the tables of a fit share. */
typedef struct
{
  char **columns;         /* (owned) (nullable) those of the first table that features are made of */
  char **categories;      /* (owned) (nullable) the features that --one-hot makes of all tables */
  gboolean *dropped;      /* (owned) for each column of --drop, whether a table has had it */
  AprCrossProducts *sums; /* (owned) (nullable) */
  gboolean weighted;
} Tables;

static void
tables_clear (Tables *self)
{
  g_clear_pointer (&self->columns, g_strfreev);
  g_clear_pointer (&self->categories, g_strfreev);
  g_clear_pointer (&self->dropped, g_free);
  g_clear_object (&self->sums);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tables, tables_clear)

/* The columns that --features names, or all that are left. */
static char **
list_columns (AprTableReader *reader, const FitOptions *options, GError **error)
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
         !contains (options->targets, names[i]) && g_strcmp0 (options->weight, names[i]) != 0))
      g_strv_builder_add (builder, names[i]);
  for (i = 0; options->features != NULL && options->one_hot != NULL && options->one_hot[i] != NULL; i++)
    if (!contains (options->features, options->one_hot[i]))
      g_strv_builder_add (builder, options->one_hot[i]);

  return g_strv_builder_end (builder);
}

/* The features that --one-hot makes of all tables, sorted. */
static char **
list_categories (char **paths, const FitOptions *options, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  gsize i;
  gsize j;

  for (i = 0; paths[i] != NULL; i++)
    {
      g_autoptr (AprTableReader) reader = apr_tool_table_open (paths[i], &options->table, error);
      g_auto (GStrv) found =
        reader != NULL
          ? apr_table_reader_read_categories (reader, (const char *const *) options->one_hot, NULL, error)
          : NULL;

      if (found == NULL)
        return NULL;
      for (j = 0; found[j] != NULL; j++)
        g_ptr_array_add (names, g_steal_pointer (&found[j]));
    }

  g_ptr_array_sort (names, apr_tool_compare_texts);
  for (i = 0; i < names->len; i++)
    if (i == 0 || strcmp (g_ptr_array_index (names, i - 1), g_ptr_array_index (names, i)) != 0)
      g_strv_builder_add (builder, g_ptr_array_index (names, i));

  return g_strv_builder_end (builder);
}

/* Puts the categories of the columns of --one-hot in their places. */
static char **
replace_columns (char **columns, char **categories, const FitOptions *options)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  gsize i;
  gsize j;

  for (i = 0; columns[i] != NULL; i++)
    {
      g_autofree char *prefix = g_strconcat (columns[i], "=", NULL);

      if (!contains (options->one_hot, columns[i]))
        g_strv_builder_add (builder, columns[i]);
      else
        for (j = 0; categories != NULL && categories[j] != NULL; j++)
          if (g_str_has_prefix (categories[j], prefix))
            g_strv_builder_add (builder, categories[j]);
    }

  return g_strv_builder_end (builder);
}

/* Some table must have each column of --drop: the last one tells. */
static gboolean
check_dropped (
  Tables *self, AprTableReader *reader, const FitOptions *options, gboolean is_last, GError **error)
{
  gsize i;

  for (i = 0; options->dropped != NULL && options->dropped[i] != NULL; i++)
    if (g_strv_contains (apr_table_reader_get_names (reader), options->dropped[i]))
      self->dropped[i] = TRUE;
    else if (is_last && !self->dropped[i])
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "%s: no column “%s”, which --drop names",
                     apr_table_reader_get_name (reader), options->dropped[i]);
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
select_columns (
  Tables *self, AprTableReader *reader, const FitOptions *options, gboolean is_last, GError **error)
{
  g_auto (GStrv) columns = list_columns (reader, options, error);
  g_auto (GStrv) features = NULL;

  if (columns == NULL || !check_dropped (self, reader, options, is_last, error))
    return FALSE;
  if (self->columns == NULL)
    self->columns = g_steal_pointer (&columns);
  else if (!check_features (self, reader, columns, error))
    return FALSE;

  features = replace_columns (self->columns, self->categories, options);
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

/* Adds some rows to the cross products, which the first ones make. */
static gboolean
add_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error)
{
  Tables *self = data;
  const char *const *features = apr_table_reader_get_features (reader);
  const char *const *targets = apr_table_reader_get_targets (reader);

  if (self->sums == NULL)
    {
      self->sums =
        apr_cross_products_new (g_strv_length ((char **) features), g_strv_length ((char **) targets), error);
      if (self->sums == NULL || !apr_cross_products_set_feature_names (self->sums, features, error))
        return FALSE;
    }
  self->weighted = self->weighted || weight == NULL || has_positive_weight (weight);

  return apr_cross_products_update (self->sums, x, y, weight, NULL, error);
}

static gboolean
add_table (Tables *self, const char *path, const FitOptions *options, gboolean is_last, GError **error)
{
  g_autoptr (AprTableReader) reader = apr_tool_table_open (path, &options->table, error);

  if (reader == NULL || !select_columns (self, reader, options, is_last, error) ||
      !apr_tool_table_read_all (reader, add_rows, self, error))
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

static char *
fit_and_save (
  char **paths, const FitOptions *options, AprDType dtype, double *prediction_rounding, GError **error)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_auto (Tables) tables = { 0 };
  g_autoptr (AprTensor) scores = NULL;
  gsize i;

  if (options->dropped != NULL)
    tables.dropped = g_new0 (gboolean, g_strv_length (options->dropped));
  if (options->one_hot != NULL && (tables.categories = list_categories (paths, options, error)) == NULL)
    return NULL;
  for (i = 0; paths[i] != NULL; i++)
    if (!add_table (&tables, paths[i], options, paths[i + 1] == NULL, error))
      return NULL;
  g_assert (i > 0);

  apr_linear_regression_set_fit_intercept (model, !options->no_intercept);
  apr_linear_regression_set_alpha (model, options->alpha);
  apr_linear_regression_set_positive (model, options->positive);
  apr_linear_regression_set_dtype (model, dtype);
  apr_linear_regression_set_keep_state (model, options->keep_state);
  if (apr_linear_regression_fit_cross_products (model, tables.sums, NULL, error))
    scores = apr_linear_regression_score_cross_products (model, tables.sums, error);
  if (scores == NULL)
    {
      g_autofree char *name = apr_tool_get_display_name (paths[0]);

      g_prefix_error (error, "%s: ", name);
      return NULL;
    }

  if (!apr_estimator_set_target_names (APR_ESTIMATOR (model), (const char *const *) options->targets,
                                       error) ||
      !apr_tool_save_model (APR_ESTIMATOR (model), options->output, error))
    return NULL;

  *prediction_rounding = apr_linear_regression_get_prediction_rounding (model);
  return apr_tool_describe_model (model, (const char *const *) options->targets,
                                  apr_cross_products_get_n_samples (tables.sums), scores, options->json);
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

/* Adds what one can do about an error, where options are likely to help. */
static void
add_hint (GError *error, const FitOptions *options)
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

static AprToolStatus
run (char **arguments, gpointer data)
{
  const FitOptions *options = data;
  g_autofree char *summary = NULL;
  g_autofree char *warning = NULL;
  double prediction_rounding;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  AprDType dtype;
  guint i;

  if (!check_options (arguments, options, &dtype, &status))
    return status;

  for (i = 0; arguments[i] != NULL; i++)
    if (apr_tool_is_same_file (arguments[i], options->output))
      return apr_tool_usage_error ("fit", "--output must not be the file that is read: %s", options->output);

  summary = fit_and_save (arguments, options, dtype, &prediction_rounding, &error);
  if (summary == NULL)
    {
      add_hint (error, options);
      return apr_tool_fail (error);
    }

  fputs (summary, stdout);
  /* After the summary, also where both go to one pipe. */
  if (!apr_tool_flush (stdout, "standard output", &error))
    return apr_tool_fail (error);
  warning = apr_tool_describe_rounding (prediction_rounding);
  if (warning != NULL)
    fprintf (stderr, "aprender: %s\n", warning);
  /* Said where somebody has asked for it, not at each fit. */
  if (dtype == APR_DTYPE_F64 || (options->verbose && dtype == APR_DTYPE_NONE))
    {
      g_autofree char *name = g_filename_display_name (options->output);
      g_autofree char *escaped = apr_tool_escape (name);

      fprintf (stderr,
               "aprender: %s holds F64; the Rust aprender, realizar and Ollama read F32, but not F64 "
               "(--dtype f32)\n",
               escaped);
    }

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_fit = {
  .name = "fit",
  .title = "Fit a linear regression to a table, and save it",
  .summary =
    "Fits a linear regression to a table, prints its coefficients, and saves it.\n\n"
    "All columns but the targets and the weights are features, unless --features or --drop says otherwise.\n"
    "A column without a name, such as the index that pandas writes, is left out.",
  .parameters = { "DATA.csv" },
  .repeats = TRUE,
  .options = options_of_fit,
  .size = sizeof (FitOptions),
  .notes =
    "DATA.csv has a header row with the columns' names; “-” reads it from the standard input. Cells are\n"
    "separated by commas, semicolons or tabs, and the file may be compressed by gzip or zstd. Of several\n"
    "tables, which must have the same features, the rows are taken together. In a file that ends with\n"
    ".safetensors, each tensor of one dimension is a column, and each of two is several: NAME[0] and so on.\n"
    "With F64, the default, the answer is the exact one rounded once. The Rust aprender, realizar and\n"
    "Ollama read F32, but not F64.",
  .example = "aprender fit rents.csv --target rent --keep-state -o rents.safetensors",
  .run = run,
};
