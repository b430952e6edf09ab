/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include <aprender/aprender.h>
#include <glib/gstdio.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/estimator/apr-hyper-parameters-private.h"
#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  char *output;
  gboolean json;
} MergeOptions;

static const AprToolOption options_of_merge[] = {
  { "output", 'o', APR_TOOL_TEXT, G_STRUCT_OFFSET (MergeOptions, output),
    "Write the model to this file: needed", "FILE" },
  APR_TOOL_JSON_OPTION (MergeOptions),
  { NULL },
};

static char *
show_setting (const GValue *value)
{
  char number[APR_NUMBER_SIZE];

  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  if (G_VALUE_HOLDS_DOUBLE (value))
    return g_strdup (apr_number_format (g_value_get_double (value), FALSE, number));
  if (G_VALUE_HOLDS_ENUM (value))
    {
      GEnumClass *values = g_type_class_peek (G_VALUE_TYPE (value));

      return g_strdup (g_enum_get_value (values, g_value_get_enum (value))->value_nick);
    }

  return g_strdup_value_contents (value);
}

static gboolean
fail_setting (const char *name, const char *first, const char *other, GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "it was fitted with the %s %s, and the first model with %s",
               name, other, first);
  return FALSE;
}

static AprDType
get_fitted_dtype (AprLinearRegression *model)
{
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model);

  return apr_tensor_get_dtype (coefficients);
}

/* Models that were fitted in different ways have no sums in common. */
static gboolean
check_settings (AprLinearRegression *first, AprLinearRegression *model, GError **error)
{
  guint n_specs;
  g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (first), &n_specs);
  AprDType dtype = get_fitted_dtype (first);
  guint i;

  for (i = 0; i < n_specs; i++)
    {
      g_auto (GValue) a = G_VALUE_INIT;
      g_auto (GValue) b = G_VALUE_INIT;

      /* Of the dtype, below. */
      if (!apr_is_hyper_parameter (specs[i]) || strcmp (specs[i]->name, "dtype") == 0)
        continue;
      g_object_get_property (G_OBJECT (first), specs[i]->name, &a);
      g_object_get_property (G_OBJECT (model), specs[i]->name, &b);
      if (g_param_values_cmp (specs[i], &a, &b) != 0)
        {
          g_autofree char *shown_a = show_setting (&a);
          g_autofree char *shown_b = show_setting (&b);

          return fail_setting (specs[i]->name, shown_a, shown_b, error);
        }
    }

  /* One may have been asked for what the other has followed its data to. */
  if (dtype != get_fitted_dtype (model))
    return fail_setting ("dtype", apr_dtype_to_string (dtype), apr_dtype_to_string (get_fitted_dtype (model)),
                         error);
  if (apr_linear_regression_get_dtype (first) != apr_linear_regression_get_dtype (model))
    apr_linear_regression_set_dtype (first, dtype);

  return TRUE;
}

/* Those of columns that have other names are not to be added up either. */
static gboolean
check_targets (AprLinearRegression *first, AprLinearRegression *model, GError **error)
{
  g_auto (GStrv) names = apr_estimator_get_target_names (APR_ESTIMATOR (model));

  return names == NULL ||
         apr_estimator_check_target_names (APR_ESTIMATOR (first), (const char *const *) names, error);
}

/* Those that only one of the models has, such as a text of a column that is in one part of the data only. */
static gboolean
check_features (AprLinearRegression *first, AprLinearRegression *model, GError **error)
{
  g_auto (GStrv) a = apr_estimator_get_feature_names (APR_ESTIMATOR (first));
  g_auto (GStrv) b = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  const char *lacking = a != NULL && b != NULL ? apr_tool_find_other (a, b) : NULL;
  const char *added = a != NULL && b != NULL ? apr_tool_find_other (b, a) : NULL;

  if (lacking != NULL && added != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                 "it has the feature “%s”, but not “%s”, which the first model has", added, lacking);
  else if (lacking != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                 "it has no feature “%s”, which the first model has", lacking);
  else if (added != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                 "it has the feature “%s”, which the first model does not have", added);

  return lacking == NULL && added == NULL;
}

/* What stands for a file: the first path of this run that leads to it. @files has the paths by device and inode. */
static const char *
get_identity (GHashTable *files, const char *path)
{
  g_autofree char *whole_path = g_canonicalize_filename (path, NULL);
  g_autofree char *key = NULL;
  GStatBuf status;

  key = g_stat (path, &status) == 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                                       (guint64) status.st_dev, (guint64) status.st_ino)
                                    : g_strdup (whole_path);
  if (!g_hash_table_contains (files, key))
    g_hash_table_insert (files, g_strdup (key),
                         g_utf8_validate (whole_path, -1, NULL) ? g_strdup (whole_path)
                                                                : g_strescape (whole_path, NULL));

  return g_hash_table_lookup (files, key);
}

/* Adds the sums of one model to those of the first. */
static gboolean
add_model (
  const char *path, GHashTable *files, AprLinearRegression **first, AprCrossProducts **sums, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_load (path, error);
  g_autoptr (AprCrossProducts) own = NULL;

  if (model == NULL || !apr_tool_check_sums (model, name, error))
    return FALSE;
  /* So that a file that is given twice is an error, and only that: names that are no text may be shown alike. */
  own = apr_linear_regression_get_cross_products (model);
  if (!apr_cross_products_set_identity (own, get_identity (files, path), error))
    return FALSE;
  if (*first == NULL)
    {
      *sums = apr_cross_products_copy (own);
      *first = g_steal_pointer (&model);
      return TRUE;
    }
  if (check_settings (*first, model, error) && check_targets (*first, model, error) &&
      check_features (*first, model, error) && apr_cross_products_merge (*sums, own, error))
    return TRUE;

  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

static char *
merge (char **paths, const MergeOptions *options, GError **error)
{
  g_autoptr (AprLinearRegression) first = NULL;
  g_autoptr (AprLinearRegression) merged = NULL;
  g_autoptr (GHashTable) files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (AprCrossProducts) sums = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_auto (GStrv) targets = NULL;
  gsize i;

  for (i = 0; paths[i] != NULL; i++)
    if (!add_model (paths[i], files, &first, &sums, error))
      return NULL;

  merged = APR_LINEAR_REGRESSION (apr_estimator_clone (APR_ESTIMATOR (first)));
  targets = apr_estimator_get_target_names (APR_ESTIMATOR (first));
  if (!apr_linear_regression_fit_cross_products (merged, sums, NULL, error) ||
      !apr_estimator_set_target_names (APR_ESTIMATOR (merged), (const char *const *) targets, error))
    return NULL;
  scores = apr_linear_regression_score_cross_products (merged, sums, error);
  if (scores == NULL || !apr_tool_save_model (APR_ESTIMATOR (merged), options->output, error))
    return NULL;

  return apr_tool_describe_model (merged, (const char *const *) targets,
                                  apr_cross_products_get_n_samples (sums), scores, options->json);
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const MergeOptions *options = data;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  if (!apr_tool_check_output ("merge", options->output, &status))
    return status;

  text = merge (arguments, options, &error);
  if (text == NULL)
    return apr_tool_fail (error);
  fputs (text, stdout);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_merge = {
  .name = "merge",
  .title = "Merge models of parts of the data into the model of all",
  .summary = "Merges models that were fitted to parts of the data into the model of all of it: the same "
             "file, byte for\n"
             "byte, as one fit to all rows writes.",
  .parameters = { "MODEL.safetensors" },
  .repeats = TRUE,
  .options = options_of_merge,
  .size = sizeof (MergeOptions),
  .notes =
    "All must have been fitted with --keep-state and otherwise the same options, and have the same\n"
    "features: where texts of a column become features, all parts must have all of its texts, or name\n"
    "the features, such as --features color=blue --features color=red.",
  .example = "aprender merge monday.safetensors tuesday.safetensors -o week.safetensors",
  .run = run,
};
