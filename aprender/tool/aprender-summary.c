/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/tool/apr-tool-digits.h"
#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

/* The digits that R's summary has. */
#define DIGITS 4
#define DECIMALS 3

/* The width of the numbers of the fit. */
#define FIT_WIDTH (DIGITS + 1)

#define BOLD "\033[1m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

typedef struct
{
  gboolean json;
  gboolean covariance;
} SummaryOptions;

enum
{
  ESTIMATE,
  STANDARD_ERROR,
  T_VALUE,
  P_VALUE,
  N_COLUMNS,
};

static const char *const headers[N_COLUMNS] = { "Estimate", "Std. Error", "t value", "Pr(>|t|)" };

static gboolean
is_coloured (void)
{
  const char *none = g_getenv ("NO_COLOR");

  return isatty (STDOUT_FILENO) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0 &&
         (none == NULL || *none == '\0');
}

static const char *
get_stars (double p_value)
{
  if (!(p_value <= 0.1))
    return "";
  return p_value > 0.05 ? "." : p_value > 0.01 ? "*" : p_value > 0.001 ? "**" : "***";
}

/* A power of ten as R computes it: beyond 10^22, others differ from it in the last bit. */
static double
compute_power (int exponent)
{
  double factor = 10;
  double power = 1;

  for (; exponent > 0; exponent /= 2, factor *= factor)
    if (exponent % 2 == 1)
      power *= factor;

  return power;
}

/* What R's round does, for numbers of places above 0: of the two neighbours with so many places, each a quotient of
 * doubles, it takes the nearer one. A column shows some of these numbers with fewer digits, so that it matters which
 * double stands for such a neighbour. */
static double
round_to_places (double value, double power)
{
  double scaled = fabs (value) * power;
  double lower = floor (scaled) / power;
  double upper = ceil (scaled) / power;
  double below = fabs (value) - lower;
  double above = upper - fabs (value);

  if (!(scaled < 1e15))
    return value;

  return copysign (below < above || (below == above && fmod (floor (scaled), 2) == 0) ? lower : upper, value);
}

/* What R's printCoefmat does: estimates and their errors are rounded to as many places as their range allows, and
 * share a format. */
static char **
format_estimates (const double *estimates, const double *errors, gsize n)
{
  g_autofree double *both = g_new (double, MAX (2 * n, 1));
  double smallest = INFINITY;
  double power;
  int n_places;
  gsize i;

  for (i = 0; i < 2 * n; i++)
    {
      both[i] = i < n ? estimates[i] : errors[i - n];
      if (isfinite (both[i]) && both[i] != 0)
        smallest = MIN (smallest, fabs (both[i]));
    }
  n_places = isfinite (smallest) ? MAX (1, DIGITS - 1 - (int) floor (log10 (smallest))) : DIGITS;
  power = compute_power (n_places);
  for (i = 0; i < 2 * n; i++)
    both[i] = round_to_places (both[i], power);

  return apr_tool_format_column (both, 2 * n, DIGITS);
}

static char **
format_t_values (const double *values, gsize n)
{
  g_autofree double *rounded = g_new (double, MAX (n, 1));
  gsize i;

  for (i = 0; i < n; i++)
    rounded[i] = round_to_places (values[i], 1000);

  return apr_tool_format_column (rounded, n, DIGITS);
}

static const double *
get_doubles (AprTensor *tensor)
{
  return apr_tensor_get_doubles (tensor, NULL, NULL);
}

/* Of a term that depends on others, R has NA, and NaN where only its error is not defined. */
static void
spell_undefined (char **texts, const double *values, const double *estimates, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    if (isnan (values[i]))
      {
        g_free (texts[i]);
        texts[i] = g_strdup (isnan (estimates[i]) ? "NA" : "NaN");
      }
}

static void
append_terms (GString *text, AprRegressionStatistics *statistics, gboolean coloured)
{
  const char *const *terms = apr_regression_statistics_get_terms (statistics);
  const double *estimates = get_doubles (apr_regression_statistics_get_coefficients (statistics));
  const double *errors = get_doubles (apr_regression_statistics_get_standard_errors (statistics));
  const double *t_values = get_doubles (apr_regression_statistics_get_t_values (statistics));
  const double *p_values = get_doubles (apr_regression_statistics_get_p_values (statistics));
  gsize n = g_strv_length ((char **) terms);
  g_auto (GStrv) both = format_estimates (estimates, errors, n);
  g_auto (GStrv) shown_t_values = format_t_values (t_values, n);
  g_auto (GStrv) shown_p_values = apr_tool_format_p_values (p_values, n, DIGITS - 1);
  char *const *columns[N_COLUMNS] = { both, both + n, shown_t_values, shown_p_values };
  g_auto (GStrv) names = g_new0 (char *, n + 1);
  gsize widths[N_COLUMNS];
  gsize name_width = 0;
  gboolean any_stars = FALSE;
  gsize i;
  gsize j;

  spell_undefined (both, estimates, estimates, n);
  spell_undefined (both + n, errors, estimates, n);
  spell_undefined (shown_t_values, t_values, estimates, n);
  spell_undefined (shown_p_values, p_values, estimates, n);
  for (i = 0; i < n; i++)
    {
      names[i] = apr_tool_escape (terms[i]);
      name_width = MAX (name_width, MIN (apr_tool_get_width (names[i]), APR_TOOL_MAX_NAME_WIDTH));
    }
  for (j = 0; j < N_COLUMNS; j++)
    for (i = 0, widths[j] = strlen (headers[j]); i < n; i++)
      widths[j] = MAX (widths[j], strlen (columns[j][i]));

  g_string_append (text, coloured ? BOLD : "");
  apr_tool_append_padded (text, "", name_width);
  for (j = 0; j < N_COLUMNS; j++)
    apr_tool_append_aligned (text, headers[j], widths[j]);
  g_string_append (text, coloured ? PLAIN "\n" : "\n");
  for (i = 0; i < n; i++)
    {
      const char *stars = get_stars (p_values[i]);

      apr_tool_append_padded (text, names[i], name_width);
      for (j = 0; j < N_COLUMNS; j++)
        apr_tool_append_aligned (text, columns[j][i], widths[j]);
      if (*stars != '\0')
        g_string_append_printf (text, coloured ? " " GREEN "%s" PLAIN : " %s", stars);
      g_string_append_c (text, '\n');
      any_stars = any_stars || *stars != '\0';
    }
  if (any_stars)
    g_string_append (text, "---\nSignif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1\n");
}

static gsize
count_undefined (AprRegressionStatistics *statistics)
{
  AprTensor *coefficients = apr_regression_statistics_get_coefficients (statistics);
  gsize n = apr_tensor_get_n_elements (coefficients);
  gsize n_undefined = 0;
  gsize i;

  for (i = 0; i < n; i++)
    n_undefined += isnan (get_doubles (coefficients)[i]);

  return n_undefined;
}

/* As R's formatC. */
static void
append_fit_number (GString *text, const char *label, double number)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (number))
    g_ascii_formatd (buffer, sizeof buffer, "%." G_STRINGIFY (DIGITS) "g", number);
  else
    g_strlcpy (buffer, isnan (number) ? "NaN" : number > 0 ? "Inf" : "-Inf", sizeof buffer);
  g_string_append_printf (text, "%s%*s", label, FIT_WIDTH, buffer);
}

/* As R's signif: also before the point, the digits behind the first ones are 0. */
static double
round_to_digits (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return value;
  g_ascii_formatd (buffer, sizeof buffer, "%." G_STRINGIFY (DECIMALS) "e", value);

  return g_ascii_strtod (buffer, NULL);
}

static void
append_fit (GString *text, AprRegressionStatistics *statistics)
{
  double residual = round_to_digits (apr_regression_statistics_get_residual_standard_error (statistics));
  double p_value = apr_regression_statistics_get_f_p_value (statistics);
  guint64 df_model = apr_regression_statistics_get_df_model (statistics);
  guint64 df_residual = apr_regression_statistics_get_df_residual (statistics);
  g_auto (GStrv) shown_residual = apr_tool_format_column (&residual, 1, DIGITS);
  g_auto (GStrv) shown_p_value = apr_tool_format_p_values (&p_value, 1, DIGITS);

  g_string_append_printf (text, "Residual standard error: %s on %" G_GUINT64_FORMAT " degrees of freedom\n",
                          shown_residual[0], df_residual);
  if (df_model == 0)
    return;
  append_fit_number (text, "Multiple R-squared:  ", apr_regression_statistics_get_r_squared (statistics));
  append_fit_number (
    text, ",\tAdjusted R-squared:  ", apr_regression_statistics_get_adjusted_r_squared (statistics));
  append_fit_number (text, "\nF-statistic: ", apr_regression_statistics_get_f_statistic (statistics));
  g_string_append_printf (text, " on %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " DF,  p-value: %s\n",
                          df_model, df_residual, shown_p_value[0]);
}

/* As R has it of several targets; those without names are counted from 1. */
static void
append_heading (GString *text, const char *name, gsize target)
{
  g_autofree char *shown =
    name != NULL ? apr_tool_escape (name) : g_strdup_printf ("%" G_GSIZE_FORMAT, target + 1);

  g_string_append_printf (text, "%sResponse %s :\n\n", target > 0 ? "\n" : "", shown);
}

static void
append_statistics (GString *text, AprRegressionStatistics *statistics, AprDType dtype, gboolean coloured)
{
  gsize n_undefined = count_undefined (statistics);
  g_autofree char *warning =
    apr_tool_describe_rounding (apr_regression_statistics_get_prediction_rounding (statistics), dtype);

  if (apr_regression_statistics_get_df_residual (statistics) == 0)
    g_string_append_printf (
      text, "The fit goes through all %" G_GUINT64_FORMAT " samples: no degrees of freedom are left\n\n",
      apr_regression_statistics_get_n_samples (statistics));
  g_string_append (text, "Coefficients:");
  if (n_undefined > 0)
    g_string_append_printf (text, " (%" G_GSIZE_FORMAT " not defined because of singularities)", n_undefined);
  g_string_append_c (text, '\n');
  append_terms (text, statistics, coloured);
  g_string_append_c (text, '\n');
  append_fit (text, statistics);
  if (warning != NULL)
    g_string_append_printf (text, "\nWarning: %s\n", warning);
}

static void
add_term (JsonBuilder *builder, AprTerm *term, double variance_inflation, double minimum_norm)
{
  json_builder_begin_object (builder);
  apr_tool_json_add_text (builder, "term", apr_term_get_name (term));
  apr_tool_json_add_number (builder, "estimate", apr_term_get_estimate (term));
  apr_tool_json_add_number (builder, "standard_error", apr_term_get_standard_error (term));
  apr_tool_json_add_number (builder, "t_value", apr_term_get_t_value (term));
  apr_tool_json_add_number (builder, "p_value", apr_term_get_p_value (term));
  apr_tool_json_add_number (builder, "lower", apr_term_get_lower (term));
  apr_tool_json_add_number (builder, "upper", apr_term_get_upper (term));
  apr_tool_json_add_number (builder, "variance_inflation", variance_inflation);
  apr_tool_json_add_number (builder, "minimum_norm", minimum_norm);
  json_builder_end_object (builder);
}

/* A row for each term. */
static void
add_covariance (JsonBuilder *builder, AprTensor *covariance)
{
  gsize n_terms = apr_tensor_get_shape (covariance, NULL)[0];
  const double *values = get_doubles (covariance);
  gsize i;
  gsize j;

  json_builder_set_member_name (builder, "covariance");
  json_builder_begin_array (builder);
  for (i = 0; i < n_terms; i++)
    {
      json_builder_begin_array (builder);
      for (j = 0; j < n_terms; j++)
        apr_tool_json_add_value (builder, values[i * n_terms + j], APR_DTYPE_F64);
      json_builder_end_array (builder);
    }
  json_builder_end_array (builder);
}

/* The members have the names of the properties of AprRegressionStatistics, or of AprTerm; but a term has its own number
 * of what the statistics have for all. */
static void
add_statistics (JsonBuilder *builder,
                AprRegressionStatistics *statistics,
                const char *target,
                const SummaryOptions *options)
{
  static const struct
  {
    const char *name;
    double (*get) (AprRegressionStatistics *self);
  } numbers[] = {
    { "residual_standard_error", apr_regression_statistics_get_residual_standard_error },
    { "residual_variance", apr_regression_statistics_get_residual_variance },
    { "residual_sum_of_squares", apr_regression_statistics_get_residual_sum_of_squares },
    { "total_sum_of_squares", apr_regression_statistics_get_total_sum_of_squares },
    { "r_squared", apr_regression_statistics_get_r_squared },
    { "adjusted_r_squared", apr_regression_statistics_get_adjusted_r_squared },
    { "f_statistic", apr_regression_statistics_get_f_statistic },
    { "f_p_value", apr_regression_statistics_get_f_p_value },
    { "log_likelihood", apr_regression_statistics_get_log_likelihood },
    { "aic", apr_regression_statistics_get_aic },
    { "bic", apr_regression_statistics_get_bic },
    { "condition_number", apr_regression_statistics_get_condition_number },
    { "prediction_rounding", apr_regression_statistics_get_prediction_rounding },
  };
  const double *inflation = get_doubles (apr_regression_statistics_get_variance_inflation (statistics));
  const double *minimum_norm = get_doubles (apr_regression_statistics_get_minimum_norm (statistics));
  GListModel *terms = G_LIST_MODEL (statistics);
  guint i;

  json_builder_begin_object (builder);
  if (target != NULL)
    apr_tool_json_add_text (builder, "target", target);
  apr_tool_json_add_count (builder, "n_samples", apr_regression_statistics_get_n_samples (statistics));
  apr_tool_json_add_count (builder, "df_model", apr_regression_statistics_get_df_model (statistics));
  apr_tool_json_add_count (builder, "df_residual", apr_regression_statistics_get_df_residual (statistics));
  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    apr_tool_json_add_number (builder, numbers[i].name, numbers[i].get (statistics));
  json_builder_set_member_name (builder, "terms");
  json_builder_begin_array (builder);
  for (i = 0; i < g_list_model_get_n_items (terms); i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (terms, i);

      add_term (builder, term, inflation[i], minimum_norm[i]);
    }
  json_builder_end_array (builder);
  if (options->covariance)
    add_covariance (builder, apr_regression_statistics_get_covariance (statistics));
  json_builder_end_object (builder);
}

static char *
describe_statistics (AprLinearRegression *model,
                     const char *const *targets,
                     const SummaryOptions *options,
                     GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model);
  gboolean coloured = is_coloured ();
  gsize n_targets = apr_estimator_get_n_targets (APR_ESTIMATOR (model));
  gsize i;

  json_builder_begin_object (builder);
  if (apr_linear_regression_get_rank (model) >= 0)
    apr_tool_json_add_count (builder, "rank", (guint64) apr_linear_regression_get_rank (model));
  json_builder_set_member_name (builder, "targets");
  json_builder_begin_array (builder);
  for (i = 0; i < n_targets; i++)
    {
      g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_statistics (model, i, error);
      const char *target = targets != NULL ? targets[i] : NULL;

      if (statistics == NULL)
        return NULL;
      add_statistics (builder, statistics, target, options);
      if (n_targets > 1)
        append_heading (text, target, i);
      append_statistics (text, statistics, apr_tensor_get_dtype (coefficients), coloured);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  return options->json ? apr_tool_json_to_string (builder, FALSE)
                       : g_string_free (g_steal_pointer (&text), FALSE);
}

/* Why there can be no statistics of a model, as the end of a sentence. Returns: (nullable): %NULL where nothing but the
 * sums of the data may be missing. */
static char *
describe_lack (AprLinearRegression *model)
{
  g_autoptr (AprTensor) alphas = apr_linear_regression_get_alphas (model);
  g_autoptr (GString) text = g_string_new (NULL);
  double alpha = apr_linear_regression_get_alpha (model);
  char buffer[APR_NUMBER_SIZE];

  if (alphas != NULL)
    g_string_append (text, "alphas");
  else if (alpha > 0)
    g_string_append_printf (text, "alpha = %s", apr_number_format (alpha, FALSE, buffer));
  if (apr_linear_regression_get_positive (model))
    g_string_append (text, text->len > 0 ? " and positive" : "positive");
  if (text->len == 0)
    return NULL;

  g_string_prepend (
    text, "no statistics: they are defined for ordinary least squares, but the model was fitted with ");

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* What is known of a model without statistics; of one with sums, also whether rounding spoils its predictions. */
static char *
describe_coefficients (AprLinearRegression *model, const char *const *targets, gboolean json)
{
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model);
  g_autofree char *text = apr_tool_describe_model (model, targets, 0, NULL, json);
  g_autofree char *lack = describe_lack (model);
  g_autofree char *warning = apr_tool_describe_rounding (
    apr_linear_regression_get_prediction_rounding (model), apr_tensor_get_dtype (coefficients));

  if (json)
    return g_steal_pointer (&text);
  if (lack == NULL)
    return g_strconcat (text, "\nFor statistics, fit with --keep-state.\n", NULL);
  *lack = g_ascii_toupper (*lack);

  return g_strconcat (text, "\n", lack, warning != NULL ? ".\n\nWarning: " : ".\n", warning,
                      warning != NULL ? "\n" : NULL, NULL);
}

static gboolean
check_covariance (AprLinearRegression *model, const char *name, GError **error)
{
  g_autofree char *lack = describe_lack (model);

  if (lack == NULL)
    return apr_tool_check_sums (model, name, error);

  g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "%s: %s", name, lack);
  return FALSE;
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const SummaryOptions *options = data;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_filename_display_name (arguments[0]);
  g_autofree char *text = NULL;
  g_auto (GStrv) targets = NULL;

  if (options->covariance && !options->json)
    return apr_tool_usage_error ("summary", "--covariance needs --json");

  model = apr_linear_regression_load (arguments[0], &error);
  if (model == NULL || (options->covariance && !check_covariance (model, name, &error)))
    return apr_tool_fail (error);
  targets = apr_estimator_get_target_names (APR_ESTIMATOR (model));
  if (apr_linear_regression_get_has_statistics (model))
    text = describe_statistics (model, (const char *const *) targets, options, &error);
  else
    text = describe_coefficients (model, (const char *const *) targets, options->json);
  if (text == NULL)
    {
      g_prefix_error (&error, "%s: ", name);
      return apr_tool_fail (error);
    }

  fputs (text, stdout);

  return APR_TOOL_OK;
}

static const AprToolOption options_of_summary[] = {
  { "covariance", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (SummaryOptions, covariance),
    "With --json, print the covariance matrix of the coefficients too", NULL },
  APR_TOOL_JSON_OPTION (SummaryOptions),
  { NULL },
};

const AprToolCommand apr_tool_summary = {
  .name = "summary",
  .title = "Show the statistics of a model, or its coefficients",
  .summary =
    "Shows the statistics of a linear regression as R prints them: estimates, standard errors, t-values,\n"
    "p-values, R² and so on. --json has more, such as confidence intervals and variance inflation factors.",
  .parameters = { "MODEL.safetensors" },
  .options = options_of_summary,
  .size = sizeof (SummaryOptions),
  .notes = "Of a model that was fitted without --keep-state, or with --alpha or --positive, it shows the\n"
           "coefficients.\n"
           "In JSON, a number that is infinite or not defined is null.",
  .example = "aprender summary rents.safetensors",
  .run = run,
};
