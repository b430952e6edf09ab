/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "aprender/tool/apr-csv.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  char **targets; /* (owned) */
  char *weight;   /* (owned) (nullable) */
  char *output;   /* (owned) */
  char *dtype;    /* (owned) (nullable) */
  double alpha;
  gboolean positive;
  gboolean no_intercept;
  gboolean keep_state;
} FitOptions;

/* What is read from the table, in this order. */
enum
{
  FEATURES,
  TARGETS,
  WEIGHT,
  N_SELECTIONS,
};

static const AprToolCommand command = {
  "fit",
  "Fits a linear regression to a table, prints its coefficients, and saves it.\n\n"
  "All columns but the targets and the weights are features.",
  { "DATA.csv" },
  "DATA.csv has a header row with the columns' names; “-” reads it from the standard input.\n"
  "With F64, the default, the answer is the exact one rounded once; F32 is what the Rust\n"
  "aprender, realizar and Ollama read.",
};

static void
fit_options_clear (FitOptions *options)
{
  g_clear_pointer (&options->targets, g_strfreev);
  g_clear_pointer (&options->weight, g_free);
  g_clear_pointer (&options->output, g_free);
  g_clear_pointer (&options->dtype, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FitOptions, fit_options_clear)

/* The names that the command line gives to columns must be different ones. */
static const char *
find_repeated_column (const FitOptions *options)
{
  gsize i;
  gsize j;

  for (i = 0; options->targets[i] != NULL; i++)
    {
      if (g_strcmp0 (options->targets[i], options->weight) == 0)
        return options->weight;
      for (j = 0; j < i; j++)
        if (strcmp (options->targets[i], options->targets[j]) == 0)
          return options->targets[i];
    }

  return NULL;
}

static gboolean
check_options (const FitOptions *options, AprDType *dtype, AprToolStatus *status)
{
  const char *repeated;

  *dtype = APR_DTYPE_NONE;
  if (options->dtype != NULL && g_ascii_strcasecmp (options->dtype, "f32") == 0)
    *dtype = APR_DTYPE_F32;
  else if (options->dtype != NULL && g_ascii_strcasecmp (options->dtype, "f64") == 0)
    *dtype = APR_DTYPE_F64;
  else if (options->dtype != NULL)
    {
      *status = apr_tool_usage_error ("fit", "--dtype is f32 or f64, not “%s”", options->dtype);
      return FALSE;
    }

  if (options->targets == NULL)
    {
      *status = apr_tool_usage_error ("fit", "--target COLUMN is missing");
      return FALSE;
    }
  if (options->output == NULL)
    {
      *status = apr_tool_usage_error ("fit", "--output FILE is missing");
      return FALSE;
    }
  if (strcmp (options->output, "-") == 0)
    {
      *status = apr_tool_usage_error ("fit", "--output needs a file: the standard output takes the summary");
      return FALSE;
    }

  repeated = find_repeated_column (options);
  if (repeated != NULL)
    {
      *status = apr_tool_usage_error ("fit", "the column “%s” is named twice", repeated);
      return FALSE;
    }

  return TRUE;
}

/* Finds the columns that have been named; all others become features. */
static gboolean
select_columns (
  AprCsv *csv, const FitOptions *options, AprCsvSelection *selections, char ***feature_names, GError **error)
{
  gsize n_columns;
  const char *const *columns = apr_csv_get_columns (csv, &n_columns);
  g_autofree gboolean *taken = g_new0 (gboolean, n_columns);
  AprCsvSelection *features = &selections[FEATURES];
  AprCsvSelection *targets = &selections[TARGETS];
  AprCsvSelection *weight = &selections[WEIGHT];
  gsize i;

  targets->n_columns = g_strv_length (options->targets);
  targets->columns = g_new (gsize, targets->n_columns);
  targets->vector = targets->n_columns == 1;
  for (i = 0; i < targets->n_columns; i++)
    {
      if (!apr_csv_find_column (csv, options->targets[i], &targets->columns[i], error))
        return FALSE;
      taken[targets->columns[i]] = TRUE;
    }

  if (options->weight != NULL)
    {
      weight->n_columns = 1;
      weight->columns = g_new (gsize, 1);
      weight->vector = TRUE;
      weight->weights = TRUE;
      if (!apr_csv_find_column (csv, options->weight, weight->columns, error))
        return FALSE;
      taken[weight->columns[0]] = TRUE;
    }

  features->columns = g_new (gsize, n_columns);
  *feature_names = g_new0 (char *, n_columns + 1);
  for (i = 0; i < n_columns; i++)
    if (!taken[i])
      {
        (*feature_names)[features->n_columns] = g_strdup (columns[i]);
        features->columns[features->n_columns++] = i;
      }
  if (features->n_columns > 0)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
               "%s: no column is left to be a feature: all are targets or weights%s", apr_csv_get_name (csv),
               apr_csv_get_separator_hint (csv));
  return FALSE;
}

/* Somebody must count. Negative weights have been refused where they were read. */
static gboolean
check_weights (AprCsv *csv, const char *name, AprTensor *weight, GError **error)
{
  gsize n_samples = apr_tensor_get_n_elements (weight);
  gsize i;

  for (i = 0; i < n_samples; i++)
    if (apr_tensor_get_double (weight, i, NULL) > 0)
      return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "%s: column “%s”: no weight is above 0",
               apr_csv_get_name (csv), name);
  return FALSE;
}

static AprTensor *
copy_column (AprTensor *matrix, gsize column, GError **error)
{
  const gsize *shape = apr_tensor_get_shape (matrix, NULL);
  g_autofree double *values = g_new (double, shape[0]);
  gsize i;

  for (i = 0; i < shape[0]; i++)
    values[i] = apr_tensor_get_double (matrix, i * shape[1] + column, NULL);

  return apr_tensor_new_from_doubles (values, shape[0], shape, 1, error);
}

/* Computes R² of each target: that of the whole model would be their mean. */
static double *
score_targets (AprEstimator *model, AprTensor *x, AprTensor *y, AprTensor *weight, GError **error)
{
  g_autoptr (AprTensor) predicted = apr_estimator_predict (model, x, error);
  gsize n_targets = apr_estimator_get_n_targets (model);
  g_autofree double *scores = g_new0 (double, n_targets);
  g_autoptr (GError) local_error = NULL;
  gsize i;

  if (predicted == NULL)
    return NULL;

  for (i = 0; i < n_targets && local_error == NULL; i++)
    if (apr_tensor_get_n_dims (y) == 1)
      scores[i] = apr_r2_score (y, predicted, weight, &local_error);
    else
      {
        g_autoptr (AprTensor) truth = copy_column (y, i, error);
        g_autoptr (AprTensor) prediction = copy_column (predicted, i, error);

        if (truth == NULL || prediction == NULL)
          return NULL;
        scores[i] = apr_r2_score (truth, prediction, weight, &local_error);
      }

  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }

  return g_steal_pointer (&scores);
}

static void
append_text (GString *summary, const char *name, gsize width, const char *text)
{
  apr_tool_append_padded (summary, name, width + 1);
  g_string_append_printf (summary, "%s\n", text);
}

/* Numbers that are not negative stand one place to the right, so that the digits line up. */
static void
append_number (GString *summary, const char *name, gsize width, double value, AprDType dtype)
{
  char buffer[APR_TOOL_NUMBER_SIZE];

  apr_tool_format_number (value, dtype, buffer);
  apr_tool_append_padded (summary, name, width);
  g_string_append_printf (summary, "%s%s\n", buffer[0] == '-' ? "" : " ", buffer);
}

static void
append_rank (GString *summary, AprLinearRegression *model, gsize n_features, gsize width)
{
  int rank = apr_linear_regression_get_rank (model);
  g_autofree char *text = NULL;

  if (rank < 0 || (gsize) rank >= n_features || apr_linear_regression_get_alpha (model) > 0 ||
      apr_linear_regression_get_positive (model))
    return;

  text = g_strdup_printf ("%d of %" G_GSIZE_FORMAT " %s: of all answers as good as this, it has the "
                          "smallest coefficients",
                          rank, n_features, n_features == 1 ? "feature" : "features");
  append_text (summary, "rank", width, text);
}

static char *
summarize (
  AprLinearRegression *model, char **targets, char **feature_names, gsize n_samples, const double *scores)
{
  AprTensor *coefficients = apr_linear_regression_get_coefficients (model);
  AprTensor *intercept = apr_linear_regression_get_intercept (model);
  AprDType dtype = apr_tensor_get_dtype (coefficients);
  gsize n_features = g_strv_length (feature_names);
  g_autofree char *samples = g_strdup_printf ("%" G_GSIZE_FORMAT, n_samples);
  g_auto (GStrv) labels = g_new0 (char *, n_features + 1);
  GString *summary = g_string_new (NULL);
  gsize width = strlen ("coefficients");
  gsize target;
  gsize i;

  for (i = 0; i < n_features; i++)
    {
      g_autofree char *name = apr_tool_escape (feature_names[i]);

      labels[i] = g_strconcat ("  ", name, NULL);
      width = MAX (width, apr_tool_get_width (labels[i]));
    }
  width += 2;

  append_text (summary, "samples", width, samples);
  append_rank (summary, model, n_features, width);
  for (target = 0; targets[target] != NULL; target++)
    {
      g_autofree char *name = apr_tool_escape (targets[target]);

      append_text (summary, "target", width, name);
      g_string_append (summary, "coefficients\n");
      for (i = 0; i < n_features; i++)
        append_number (summary, labels[i], width,
                       apr_tensor_get_double (coefficients, target * n_features + i, NULL), dtype);
      append_number (summary, "intercept", width, apr_tensor_get_double (intercept, target, NULL), dtype);
      append_number (summary, "R²", width, scores[target], APR_DTYPE_F64);
    }

  return g_string_free (summary, FALSE);
}

static char *
fit_and_save (const char *path, const FitOptions *options, AprDType dtype, GError **error)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  AprEstimator *estimator = APR_ESTIMATOR (model);
  AprCsvSelection selections[N_SELECTIONS] = { { 0 } };
  g_auto (AprCsvSelection) x = { 0 };
  g_auto (AprCsvSelection) y = { 0 };
  g_auto (AprCsvSelection) weight = { 0 };
  g_autoptr (AprCsv) csv = apr_csv_open (path, error);
  g_auto (GStrv) feature_names = NULL;
  g_autofree double *scores = NULL;
  gboolean selected;

  if (csv == NULL)
    return NULL;

  selected = select_columns (csv, options, selections, &feature_names, error) &&
             apr_csv_read (csv, selections, options->weight != NULL ? 3 : 2, error);
  x = selections[FEATURES];
  y = selections[TARGETS];
  weight = selections[WEIGHT];
  if (!selected || (weight.tensor != NULL && !check_weights (csv, options->weight, weight.tensor, error)))
    return NULL;

  apr_linear_regression_set_fit_intercept (model, !options->no_intercept);
  apr_linear_regression_set_alpha (model, options->alpha);
  apr_linear_regression_set_positive (model, options->positive);
  apr_linear_regression_set_dtype (model, dtype);
  apr_linear_regression_set_keep_state (model, options->keep_state);
  if (apr_estimator_fit (estimator, x.tensor, y.tensor, weight.tensor, NULL, error) &&
      apr_estimator_set_feature_names (estimator, (const char *const *) feature_names, error))
    scores = score_targets (estimator, x.tensor, y.tensor, weight.tensor, error);
  if (scores == NULL)
    {
      g_prefix_error (error, "%s: ", apr_csv_get_name (csv));
      return NULL;
    }

  if (!apr_estimator_save (estimator, options->output, error))
    return NULL;

  return summarize (model, options->targets, feature_names, apr_tensor_get_shape (x.tensor, NULL)[0], scores);
}

AprToolStatus
apr_tool_fit (int argc, char **argv)
{
  g_auto (FitOptions) options = { 0 };
  /* Columns are FILENAME for their bytes to come as they are: STRING would be taken for the locale's encoding. */
  const GOptionEntry entries[] = {
    { "target", 't', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.targets,
      "Predict this column: needed, and may be given again", "COLUMN" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the model to this file: needed",
      "FILE" },
    { "dtype", 0, 0, G_OPTION_ARG_FILENAME, &options.dtype, "Store the model in f32 or f64 (default: f64)",
      "DTYPE" },
    { "weight", 'w', 0, G_OPTION_ARG_FILENAME, &options.weight, "Weigh each row by this column", "COLUMN" },
    { "no-intercept", 0, 0, G_OPTION_ARG_NONE, &options.no_intercept, "Fit through the origin", NULL },
    { "alpha", 0, 0, G_OPTION_ARG_DOUBLE, &options.alpha,
      "Add NUMBER times the squares of the coefficients to what is minimised (ridge; default: 0)", "NUMBER" },
    { "positive", 0, 0, G_OPTION_ARG_NONE, &options.positive, "Let no coefficient be negative", NULL },
    { "keep-state", 0, 0, G_OPTION_ARG_NONE, &options.keep_state,
      "Store the sums of the data too, for “aprender summary”", NULL },
    { NULL },
  };
  g_auto (GStrv) arguments = NULL;
  g_autofree char *summary = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  AprDType dtype;

  if (!apr_tool_parse (&command, entries, argc, argv, &arguments, &status) ||
      !check_options (&options, &dtype, &status))
    return status;

  if (apr_tool_is_same_file (arguments[0], options.output))
    return apr_tool_usage_error ("fit", "--output must not be the file that is read: %s", options.output);

  summary = fit_and_save (arguments[0], &options, dtype, &error);
  if (summary == NULL)
    return apr_tool_fail (error);

  fputs (summary, stdout);
  if (dtype != APR_DTYPE_F32)
    {
      g_autofree char *name = g_filename_display_name (options.output);
      g_autofree char *escaped = apr_tool_escape (name);

      /* After the summary, also where both go to one pipe. */
      fflush (stdout);
      fprintf (stderr,
               "aprender: %s holds F64; the Rust aprender, realizar and Ollama read only F32 (--dtype f32)\n",
               escaped);
    }

  return APR_TOOL_OK;
}
