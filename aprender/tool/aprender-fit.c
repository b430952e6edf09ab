/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool-fit.h"
#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  AprToolFitOptions fit;
  char *output;
  double alpha;
  gboolean keep_state;
  gboolean json;
  gboolean verbose;
} FitOptions;

static const AprToolOption options_of_fit[] = {
  APR_TOOL_TARGET_OPTION,
  { "output", 'o', APR_TOOL_TEXT, G_STRUCT_OFFSET (FitOptions, output),
    "Write the model to this file: needed", "FILE" },
  { "alpha", 0, APR_TOOL_NUMBER, G_STRUCT_OFFSET (FitOptions, alpha),
    "Add NUMBER times the squares of the coefficients to what is minimised (ridge; default: 0)", "NUMBER" },
  { "keep-state", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, keep_state),
    "Store the sums of the data too, for summary, plot, merge and predict --interval", NULL },
  APR_TOOL_FIT_OPTIONS,
  APR_TOOL_JSON_OPTION (FitOptions),
  { "verbose", 'v', APR_TOOL_FLAG, G_STRUCT_OFFSET (FitOptions, verbose), "Say more on the standard error",
    NULL },
  { NULL },
};

static gboolean
check_options (char **paths, const FitOptions *options, AprToolStatus *status)
{
  if (!apr_tool_fit_check ("fit", paths, &options->fit, status) ||
      !apr_tool_check_output ("fit", options->output, status))
    return FALSE;
  if (isfinite (options->alpha) && options->alpha >= 0)
    return TRUE;

  *status =
    apr_tool_usage_error ("fit", "--alpha must be a finite number of at least 0, got %g", options->alpha);
  return FALSE;
}

/* Adds some rows to the cross products, which the first ones make. */
static gboolean
add_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error)
{
  AprCrossProducts **sums = data;
  const char *const *features = apr_table_reader_get_features (reader);
  const char *const *targets = apr_table_reader_get_targets (reader);

  if (*sums == NULL)
    {
      *sums =
        apr_cross_products_new (g_strv_length ((char **) features), g_strv_length ((char **) targets), error);
      if (*sums == NULL || !apr_cross_products_set_feature_names (*sums, features, error))
        return FALSE;
    }

  return apr_cross_products_update (*sums, x, y, weight, NULL, error);
}

/* Returns: (nullable): what was found. @warning becomes what people are told of rounding, or %NULL. */
static char *
fit_and_save (char **paths, const FitOptions *options, char **warning, GError **error)
{
  const char *const *targets = (const char *const *) options->fit.targets;
  g_autoptr (AprLinearRegression) model = apr_tool_fit_create_model (&options->fit);
  g_autoptr (AprCrossProducts) sums = NULL;
  g_auto (GStrv) categories = apr_tool_fit_list_categories (paths, &options->fit, error);
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) coefficients = NULL;

  if (categories == NULL ||
      !apr_tool_fit_read_tables (paths, &options->fit, categories, add_rows, &sums, error))
    return NULL;
  g_assert (sums != NULL);

  apr_linear_regression_set_alpha (model, options->alpha);
  apr_linear_regression_set_keep_state (model, options->keep_state);
  if (apr_linear_regression_fit_cross_products (model, sums, NULL, error))
    scores = apr_linear_regression_score_cross_products (model, sums, error);
  if (scores == NULL)
    {
      g_autofree char *name = apr_tool_get_display_name (paths[0]);

      g_prefix_error (error, "%s: ", name);
      return NULL;
    }

  if (!apr_estimator_set_target_names (APR_ESTIMATOR (model), targets, error) ||
      !apr_tool_save_model (APR_ESTIMATOR (model), options->output, error))
    return NULL;

  coefficients = apr_linear_regression_get_coefficients (model);
  *warning = apr_tool_describe_rounding (apr_linear_regression_get_prediction_rounding (model),
                                         apr_tensor_get_dtype (coefficients));
  return apr_tool_describe_model (model, targets, apr_cross_products_get_n_samples (sums), scores,
                                  options->json);
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const FitOptions *options = data;
  g_autofree char *summary = NULL;
  g_autofree char *warning = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  guint i;

  if (!check_options (arguments, options, &status))
    return status;

  for (i = 0; arguments[i] != NULL; i++)
    if (apr_tool_is_same_file (arguments[i], options->output))
      return apr_tool_usage_error ("fit", "--output must not be the file that is read: %s", options->output);

  summary = fit_and_save (arguments, options, &warning, &error);
  if (summary == NULL)
    {
      apr_tool_fit_add_hint (error, &options->fit);
      return apr_tool_fail (error);
    }

  fputs (summary, stdout);
  /* After the summary, also where both go to one pipe. */
  if (!apr_tool_flush (stdout, "standard output", &error))
    return apr_tool_fail (error);
  if (warning != NULL)
    fprintf (stderr, "aprender: %s\n", warning);
  /* Said where somebody has asked for it, not at each fit. */
  if (options->fit.dtype != NULL ? strcmp (options->fit.dtype, "f64") == 0 : options->verbose)
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
