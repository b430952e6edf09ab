/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-model.h"

#include <string.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-strings-private.h"
#include "aprender/tool/apr-tool-interrupt.h"
#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-text.h"

gboolean
apr_tool_check_sums (AprLinearRegression *model, const char *name, GError **error)
{
  g_autoptr (AprCrossProducts) sums = apr_linear_regression_get_cross_products (model);

  if (sums == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_STATE,
                 "%s: the file has no sums of the data: fit it with --keep-state", name);

  return sums != NULL;
}

gboolean
apr_tool_check_output (const char *command, const char *output, AprToolStatus *status)
{
  g_autoptr (GError) error = NULL;

  if (output == NULL)
    *status = apr_tool_usage_error (command, "--output FILE is missing");
  else if (strcmp (output, "-") == 0)
    *status = apr_tool_usage_error (command, "--output needs a file: the standard output takes the summary");
  else if (apr_tool_is_descriptor (output))
    *status =
      apr_tool_usage_error (command, "--output needs a file to replace, not one that is open: %s", output);
  else if (!apr_tool_output_check (output, &error))
    *status = apr_tool_fail (error);
  else
    return TRUE;

  return FALSE;
}

gboolean
apr_tool_save_model (AprEstimator *model, const char *path, GError **error)
{
  gboolean is_saved;

  apr_tool_interrupt_hold ();
  is_saved = apr_estimator_save (model, path, error);
  apr_tool_interrupt_release ();

  return is_saved;
}

/* A model and the names of what it consists of. */
typedef struct
{
  AprLinearRegression *model; /* (unowned) */
  AprTensor *coefficients;
  AprTensor *intercept;
  AprDType dtype;
  char **features;
  char **targets;
  gboolean has_target_names;
  gsize n_features;
  gsize n_targets;
} Description;

static char **
make_names (const char *prefix, gsize n)
{
  char **names = g_new0 (char *, n + 1);
  gsize i;

  for (i = 0; i < n; i++)
    names[i] = apr_string_new_name (NULL, prefix, i);

  return names;
}

static void
description_init (Description *self, AprLinearRegression *model, const char *const *targets)
{
  self->model = model;
  self->coefficients = apr_linear_regression_get_coefficients (model);
  self->intercept = apr_linear_regression_get_intercept (model);
  self->dtype = apr_tensor_get_dtype (self->coefficients);
  self->n_targets = apr_tensor_get_n_elements (self->intercept);
  self->n_features = apr_estimator_get_n_features (APR_ESTIMATOR (model));
  self->features = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  if (self->features == NULL)
    self->features = make_names ("x", self->n_features);
  self->has_target_names = targets != NULL || self->n_targets > 1;
  self->targets = targets != NULL ? g_strdupv ((char **) targets) : make_names ("y", self->n_targets);
}

static void
description_clear (Description *self)
{
  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  g_clear_pointer (&self->intercept, apr_tensor_unref);
  g_clear_pointer (&self->features, g_strfreev);
  g_clear_pointer (&self->targets, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Description, description_clear)

static double
get_coefficient (const Description *self, gsize target, gsize feature)
{
  return apr_tensor_get_double (self->coefficients, target * self->n_features + feature, NULL);
}

static void
append_text (GString *text, const char *name, gsize width, const char *value)
{
  apr_tool_append_padded (text, name, width);
  g_string_append_printf (text, "   %s\n", value);
}

/* Numbers that are not negative stand one place to the right, so that the digits line up. */
static void
append_number (GString *text, const char *name, gsize width, double value, AprDType dtype)
{
  char buffer[APR_NUMBER_SIZE];

  apr_number_format (value, dtype == APR_DTYPE_F32, buffer);
  apr_tool_append_padded (text, name, width);
  g_string_append_printf (text, "  %s%s\n", buffer[0] == '-' ? "" : " ", buffer);
}

static void
append_rank (GString *text, const Description *self, gsize width)
{
  gssize rank = apr_linear_regression_get_rank (self->model);
  g_autofree char *value = NULL;

  if (rank < 0 || (gsize) rank >= self->n_features || apr_linear_regression_get_alpha (self->model) > 0 ||
      apr_linear_regression_get_positive (self->model))
    return;

  value = g_strdup_printf ("%" G_GINT64_FORMAT " of %" G_GSIZE_FORMAT
                           " %s: of all answers as good as this, it has the "
                           "smallest coefficients",
                           rank, self->n_features, self->n_features == 1 ? "feature" : "features");
  append_text (text, "rank", width, value);
}

static char *
to_text (const Description *self, guint64 n_samples, AprTensor *scores)
{
  g_auto (GStrv) labels = g_new0 (char *, self->n_features + 1);
  GString *text = g_string_new (NULL);
  gsize width = strlen ("coefficients");
  gsize target;
  gsize i;

  for (i = 0; i < self->n_features; i++)
    {
      g_autofree char *name = apr_tool_escape (self->features[i]);

      labels[i] = g_strconcat ("  ", name, NULL);
      width = MAX (width, MIN (apr_tool_get_width (labels[i]), APR_TOOL_MAX_NAME_WIDTH));
    }

  if (scores != NULL)
    {
      g_autofree char *samples = g_strdup_printf ("%" G_GUINT64_FORMAT, n_samples);

      append_text (text, "samples", width, samples);
    }
  append_rank (text, self, width);
  for (target = 0; target < self->n_targets; target++)
    {
      g_autofree char *name = apr_tool_escape (self->targets[target]);

      if (self->has_target_names)
        append_text (text, "target", width, name);
      g_string_append (text, "coefficients\n");
      for (i = 0; i < self->n_features; i++)
        append_number (text, labels[i], width, get_coefficient (self, target, i), self->dtype);
      append_number (text, "intercept", width, apr_tensor_get_double (self->intercept, target, NULL),
                     self->dtype);
      if (scores != NULL)
        append_number (text, "R²", width, apr_tensor_get_double (scores, target, NULL), APR_DTYPE_F64);
    }

  return g_string_free (text, FALSE);
}

static char *
to_json (const Description *self, guint64 n_samples, AprTensor *scores)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  gsize target;
  gsize i;

  json_builder_begin_object (builder);
  if (scores != NULL)
    apr_tool_json_add_count (builder, "samples", n_samples);
  if (apr_linear_regression_get_rank (self->model) >= 0)
    apr_tool_json_add_count (builder, "rank", (guint64) apr_linear_regression_get_rank (self->model));
  if (scores != NULL)
    apr_tool_json_add_number (builder, "prediction_rounding",
                              apr_linear_regression_get_prediction_rounding (self->model));
  apr_tool_json_add_text (builder, "dtype", apr_dtype_to_string (self->dtype));
  apr_tool_json_add_texts (builder, "features", (const char *const *) self->features);
  json_builder_set_member_name (builder, "targets");
  json_builder_begin_array (builder);
  for (target = 0; target < self->n_targets; target++)
    {
      json_builder_begin_object (builder);
      if (self->has_target_names)
        apr_tool_json_add_text (builder, "target", self->targets[target]);
      json_builder_set_member_name (builder, "coefficients");
      json_builder_begin_array (builder);
      for (i = 0; i < self->n_features; i++)
        apr_tool_json_add_value (builder, get_coefficient (self, target, i), self->dtype);
      json_builder_end_array (builder);
      json_builder_set_member_name (builder, "intercept");
      apr_tool_json_add_value (builder, apr_tensor_get_double (self->intercept, target, NULL), self->dtype);
      if (scores != NULL)
        apr_tool_json_add_number (builder, "r_squared", apr_tensor_get_double (scores, target, NULL));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  return apr_tool_json_to_string (builder, FALSE);
}

char *
apr_tool_describe_rounding (double prediction_rounding, AprDType dtype)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (!(prediction_rounding >= 1e-4))
    return NULL;

  return g_strdup_printf (
    "rounding alone may change a prediction by %s standard deviations of the target.\n"
    "Features depend on each other but for their own rounding: leave one out, or fit with --alpha. Or\n"
    "features or the target are far from 0: centre these%s.",
    g_ascii_formatd (buffer, sizeof buffer, "%.2g", prediction_rounding),
    dtype == APR_DTYPE_F64 ? "" : ", or use --dtype f64");
}

char *
apr_tool_describe_model (
  AprLinearRegression *model, const char *const *targets, guint64 n_samples, AprTensor *scores, gboolean json)
{
  g_auto (Description) self = { 0 };

  description_init (&self, model, targets);

  return json ? to_json (&self, n_samples, scores) : to_text (&self, n_samples, scores);
}
