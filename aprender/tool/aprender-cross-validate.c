/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/tool/apr-tool-digits.h"
#include "aprender/tool/apr-tool-folds.h"
#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

/* As many as a column of a table can have texts. */
#define MAX_FOLDS 10000
#define DEFAULT_FOLDS 5

/* The digits of a mean or an error that people are shown. */
#define DIGITS 5

/* No number of folds that anybody would ask for. */
#define NOT_GIVEN G_MININT64

typedef struct
{
  AprToolFitOptions fit;
  char **alphas; /* (nullable) */
  gint64 n_folds;
  char *metric; /* (nullable) */
  gboolean json;
} CrossValidateOptions;

static const CrossValidateOptions defaults = { .n_folds = NOT_GIVEN };

static const AprToolOption options_of_cross_validate[] = {
  APR_TOOL_TARGET_OPTION,
  { "alpha", 0, APR_TOOL_TEXTS, G_STRUCT_OFFSET (CrossValidateOptions, alphas),
    "Penalties of ridge regressions to compare, such as 0.01,0.1,1; may be given again (default: 0)",
    "NUMBERS" },
  { "folds", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (CrossValidateOptions, n_folds),
    "Deal the rows out to N folds in turn (default: 5)", "N" },
  { "fold-column", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (AprToolFitOptions, fold_column),
    "Instead, make a fold of the rows with the same value in this column, which is no feature", "COLUMN" },
  { "metric", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (CrossValidateOptions, metric),
    "r2 (the default), explained-variance, mean-squared-error or root-mean-squared-error", "METRIC",
    "r2|explained-variance|mean-squared-error|root-mean-squared-error" },
  APR_TOOL_FIT_OPTIONS,
  APR_TOOL_JSON_OPTION (CrossValidateOptions),
  { NULL },
};

/* Those that fit does not have, or not with the same value. */
static const char *const own_options[] = { "alpha", "folds", "fold-column", "metric", "json", NULL };

/* What is found for one penalty. */
typedef struct
{
  double alpha;
  AprTensor *scores; /* (owned) (nullable) of the folds */
  double mean;
  double error; /* of the mean */
} Result;

static void
result_clear (gpointer data)
{
  Result *self = data;

  g_clear_pointer (&self->scores, apr_tensor_unref);
}

/* One call. */
typedef struct
{
  char **paths;                        /* (unowned) */
  const CrossValidateOptions *options; /* (unowned) */
  const char *metric;                  /* (unowned) */
  AprToolFolds folds;
  GArray *results;    /* (owned) (element-type Result) */
  const Result *best; /* (unowned) of the results */
} Validation;

static void
validation_clear (Validation *self)
{
  apr_tool_folds_clear (&self->folds);
  g_clear_pointer (&self->results, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Validation, validation_clear)

/* The option may be given again, and each may be a list. */
static gboolean
parse_alphas (Validation *self, AprToolStatus *status)
{
  char *none[] = { (char *) "0", NULL };
  char **list = self->options->alphas != NULL ? self->options->alphas : none;

  for (; *list != NULL; list++)
    {
      const char *next = *list;
      char *end;

      do
        {
          Result result = { .alpha = g_ascii_strtod (next, &end) };

          if (end == next || (*end != '\0' && *end != ',') || !isfinite (result.alpha) || result.alpha < 0)
            {
              *status = apr_tool_usage_error (
                "cross-validate",
                "--alpha is a finite number of at least 0, or several with commas between them, not “%s”",
                *list);
              return FALSE;
            }
          g_array_append_val (self->results, result);
          next = end + 1;
        }
      while (*end == ',');
    }

  return TRUE;
}

static gboolean
check_options (char **paths, const CrossValidateOptions *options, AprToolStatus *status)
{
  if (!apr_tool_fit_check ("cross-validate", paths, &options->fit, status))
    return FALSE;
  if (options->n_folds == NOT_GIVEN)
    return TRUE;

  if (options->fit.fold_column != NULL)
    *status = apr_tool_usage_error ("cross-validate", "--folds and --fold-column exclude each other");
  else if (options->n_folds < 2 || options->n_folds > MAX_FOLDS)
    *status =
      apr_tool_usage_error ("cross-validate", "--folds is a number from 2 to %d, not %" G_GINT64_FORMAT,
                            MAX_FOLDS, options->n_folds);
  else
    return TRUE;

  return FALSE;
}

/* What compares with the variance says nothing of 1 sample: R² is a NaN, and the explained variance is 1 whatever is
 * predicted. */
static gboolean
check_samples (const Validation *self, AprMetric metric, GError **error)
{
  gsize i;

  if (metric != APR_METRIC_R2 && metric != APR_METRIC_EXPLAINED_VARIANCE)
    return TRUE;
  for (i = 0; i < self->folds.n_folds; i++)
    if (apr_cross_products_get_n_samples (self->folds.states[i]) == 1)
      {
        g_autofree char *fold = apr_tool_folds_describe (&self->folds, i);

        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "%s: %s needs 2 samples at least: take %sanother metric (--metric)", fold, self->metric,
                     self->folds.names == NULL ? "fewer folds, or " : "");
        return FALSE;
      }

  return TRUE;
}

static gboolean
check_scores (const Validation *self, AprTensor *scores, GError **error)
{
  gsize i;

  for (i = 0; i < self->folds.n_folds; i++)
    if (!isfinite (apr_tensor_get_double (scores, i, NULL)))
      {
        g_autofree char *fold = apr_tool_folds_describe (&self->folds, i);
        guint64 n = apr_cross_products_get_n_samples (self->folds.states[i]);

        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "%s: the %s of %" G_GUINT64_FORMAT " %s is beyond the range of a double", fold,
                     self->metric, n, n == 1 ? "sample" : "samples");
        return FALSE;
      }

  return TRUE;
}

/* The mean of the scores and its standard error. Differences from the first score, in units of a power of 2 that is
 * about the greatest of them, keep sums and squares within the range of a double. */
static void
summarise (Result *self)
{
  gsize n = apr_tensor_get_n_elements (self->scores);
  const double first = apr_tensor_get_double (self->scores, 0, NULL);
  double greatest = 0;
  double sum = 0;
  int exponent;
  gsize i;

  for (i = 0; i < n; i++)
    greatest = MAX (greatest, fabs (apr_tensor_get_double (self->scores, i, NULL) - first));
  (void) frexp (greatest, &exponent);

  for (i = 0; i < n; i++)
    sum += ldexp (apr_tensor_get_double (self->scores, i, NULL) - first, -exponent);
  self->mean = first + ldexp (sum / (double) n, exponent);

  sum = 0;
  for (i = 0; i < n; i++)
    {
      double deviation = ldexp (apr_tensor_get_double (self->scores, i, NULL) - self->mean, -exponent);

      sum += deviation * deviation;
    }
  self->error = ldexp (sqrt (sum / (double) (n - 1) / (double) n), exponent);
}

static gboolean
validate (Validation *self, AprMetric metric, GError **error)
{
  g_autoptr (AprLinearRegression) model = apr_tool_fit_create_model (&self->options->fit);
  g_autoptr (AprFolds) folds =
    apr_folds_new_from_cross_products (self->folds.states, self->folds.n_folds, error);
  guint i;

  for (i = 0; folds != NULL && i < self->results->len; i++)
    {
      Result *result = &g_array_index (self->results, Result, i);

      apr_linear_regression_set_alpha (model, result->alpha);
      result->scores = apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, metric, NULL, error);
      if (result->scores == NULL || !check_scores (self, result->scores, error))
        return FALSE;
      summarise (result);
    }

  return folds != NULL;
}

static const Result *
find_best (GArray *results, AprMetric metric)
{
  gboolean is_error = metric == APR_METRIC_MEAN_SQUARED_ERROR || metric == APR_METRIC_ROOT_MEAN_SQUARED_ERROR;
  const Result *best = &g_array_index (results, Result, 0);
  guint i;

  for (i = 1; i < results->len; i++)
    {
      const Result *result = &g_array_index (results, Result, i);

      if (is_error ? result->mean < best->mean : result->mean > best->mean)
        best = result;
    }

  return best;
}

/* Appends a word of a command line as a shell takes it. */
static void
append_word (GString *text, const char *word)
{
  gboolean is_plain = *word != '\0';
  g_autofree char *quoted = g_shell_quote (word);
  const char *p;

  for (p = word; *p != '\0'; p++)
    is_plain = is_plain && (g_ascii_isalnum (*p) || strchr ("-_./,:=+@%", *p) != NULL);
  g_string_append_printf (text, " %s", is_plain ? word : quoted);
}

static void
append_option (GString *text, const char *name, const char *value)
{
  g_string_append_printf (text, " --%s", name);
  append_word (text, value);
}

/* The command that fits the best model. */
static char *
get_fit_command (const Validation *self)
{
  const CrossValidateOptions *options = self->options;
  g_autoptr (GString) text = g_string_new ("aprender fit");
  char buffer[APR_NUMBER_SIZE];
  const AprToolOption *option;
  gsize i;

  for (i = 0; self->paths[i] != NULL; i++)
    append_word (text, self->paths[i]);
  for (option = options_of_cross_validate; option->name != NULL; option++)
    {
      gconstpointer place = (const char *) options + option->offset;
      char **values;

      if (g_strv_contains (own_options, option->name))
        continue;
      if (option->type == APR_TOOL_FLAG && *(const gboolean *) place)
        g_string_append_printf (text, " --%s", option->name);
      else if (option->type == APR_TOOL_TEXT && *(char *const *) place != NULL)
        append_option (text, option->name, *(char *const *) place);
      else if (option->type == APR_TOOL_TEXTS)
        for (values = *(char **const *) place; values != NULL && *values != NULL; values++)
          append_option (text, option->name, *values);
    }
  if (options->fit.fold_column != NULL)
    append_option (text, "drop", options->fit.fold_column);
  append_option (text, "alpha", apr_number_format (self->best->alpha, FALSE, buffer));
  g_string_append (text, " -o MODEL.safetensors");

  return apr_tool_escape (text->str);
}

static gsize
get_width (char **texts, const char *heading)
{
  gsize width = apr_tool_get_width (heading);

  for (; *texts != NULL; texts++)
    width = MAX (width, apr_tool_get_width (*texts));

  return width;
}

static void
append_results (GString *text, const Validation *self)
{
  static const char *const headings[] = { "alpha", "mean", "Std. Error" };
  const guint n = self->results->len;
  g_autofree double *means = g_new (double, n);
  g_autofree double *errors = g_new (double, n);
  g_auto (GStrv) alphas = g_new0 (char *, n + 1);
  g_auto (GStrv) shown_means = NULL;
  g_auto (GStrv) shown_errors = NULL;
  guint i;

  for (i = 0; i < n; i++)
    {
      const Result *result = &g_array_index (self->results, Result, i);
      char buffer[APR_NUMBER_SIZE];

      alphas[i] = g_strdup (apr_number_format (result->alpha, FALSE, buffer));
      means[i] = result->mean;
      errors[i] = result->error;
    }
  shown_means = apr_tool_format_column (means, n, DIGITS);
  shown_errors = apr_tool_format_column (errors, n, DIGITS);

  apr_tool_append_padded (text, headings[0], get_width (alphas, headings[0]));
  apr_tool_append_aligned (text, headings[1], get_width (shown_means, headings[1]));
  apr_tool_append_aligned (text, headings[2], get_width (shown_errors, headings[2]));
  g_string_append_c (text, '\n');
  for (i = 0; i < n; i++)
    {
      apr_tool_append_padded (text, alphas[i], get_width (alphas, headings[0]));
      apr_tool_append_aligned (text, shown_means[i], get_width (shown_means, headings[1]));
      apr_tool_append_aligned (text, shown_errors[i], get_width (shown_errors, headings[2]));
      g_string_append (text,
                       self->best == &g_array_index (self->results, Result, i) && n > 1 ? " best\n" : "\n");
    }
}

static void
print_text (const Validation *self)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text,
                          "samples  %" G_GUINT64_FORMAT "\nfolds    %" G_GSIZE_FORMAT "\nmetric   %s\n\n",
                          apr_tool_folds_count_samples (&self->folds), self->folds.n_folds, self->metric);
  append_results (text, self);
  if (self->results->len > 1)
    {
      g_autofree char *command = get_fit_command (self);

      g_string_append_printf (text, "\nTo fit with the best alpha:\n  %s\n", command);
    }
  fputs (text->str, stdout);
}

static void
print_json (const Validation *self)
{
  const AprToolFolds *folds = &self->folds;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *json = NULL;
  gsize fold;
  guint i;

  json_builder_begin_object (builder);
  apr_tool_json_add_count (builder, "samples", apr_tool_folds_count_samples (folds));
  apr_tool_json_add_count (builder, "folds", folds->n_folds);
  if (folds->names != NULL)
    {
      json_builder_set_member_name (builder, "fold_values");
      json_builder_begin_array (builder);
      for (fold = 0; fold < folds->n_folds; fold++)
        json_builder_add_string_value (builder, apr_tool_folds_get_value (folds, fold));
      json_builder_end_array (builder);
    }
  apr_tool_json_add_text (builder, "metric", self->metric);
  json_builder_set_member_name (builder, "alphas");
  json_builder_begin_array (builder);
  for (i = 0; i < self->results->len; i++)
    {
      const Result *result = &g_array_index (self->results, Result, i);

      json_builder_begin_object (builder);
      apr_tool_json_add_number (builder, "alpha", result->alpha);
      apr_tool_json_add_number (builder, "mean", result->mean);
      apr_tool_json_add_number (builder, "standard_error", result->error);
      json_builder_set_member_name (builder, "scores");
      json_builder_begin_array (builder);
      for (fold = 0; fold < folds->n_folds; fold++)
        apr_tool_json_add_value (builder, apr_tensor_get_double (result->scores, fold, NULL), APR_DTYPE_F64);
      json_builder_end_array (builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  apr_tool_json_add_number (builder, "best_alpha", self->best->alpha);
  json_builder_end_object (builder);
  json = apr_tool_json_to_string (builder, FALSE);
  fputs (json, stdout);
}

static gboolean
read_and_validate (Validation *self, GError **error)
{
  const CrossValidateOptions *options = self->options;
  g_autoptr (GEnumClass) metrics = g_type_class_ref (APR_TYPE_METRIC);
  AprMetric metric = (AprMetric) g_enum_get_value_by_nick (metrics, self->metric)->value;
  gsize n_folds = options->n_folds != NOT_GIVEN ? (gsize) options->n_folds : DEFAULT_FOLDS;

  if (!apr_tool_folds_read (&self->folds, self->paths, &options->fit, n_folds, error))
    return FALSE;
  if (!check_samples (self, metric, error) || !validate (self, metric, error))
    {
      g_autofree char *name = apr_tool_get_display_name (self->paths[0]);

      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }
  self->best = find_best (self->results, metric);

  return TRUE;
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const CrossValidateOptions *options = data;
  g_auto (Validation) self = { .paths = arguments,
                               .options = options,
                               .metric = options->metric != NULL ? options->metric : "r2",
                               .results = g_array_new (FALSE, FALSE, sizeof (Result)) };
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  g_array_set_clear_func (self.results, result_clear);
  if (!check_options (arguments, options, &status) || !parse_alphas (&self, &status))
    return status;

  if (!read_and_validate (&self, &error))
    {
      apr_tool_fit_add_hint (error, &options->fit);
      return apr_tool_fail (error);
    }
  if (options->json)
    print_json (&self);
  else
    print_text (&self);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_cross_validate = {
  .name = "cross-validate",
  .title = "Tell how well fits predict rows that they have not seen",
  .summary =
    "Tells how well a linear regression predicts rows that it has not seen: cuts a table into folds, and "
    "for\n"
    "each fits to all other rows and scores the predictions for these. Compares penalties (--alpha).",
  .parameters = { "DATA.csv" },
  .repeats = TRUE,
  .options = options_of_cross_validate,
  .size = sizeof (CrossValidateOptions),
  .defaults = &defaults,
  .notes =
    "DATA.csv, and the options that “aprender fit” has too, are as there; see “aprender fit --help”. Row i,\n"
    "counted from 0, is in the fold i mod N. For each alpha, the mean of the scores of all folds is "
    "printed,\n"
    "and its standard error; with --json also the scores.",
  .example = "aprender cross-validate rents.csv --target rent --alpha 0.01,0.1,1",
  .run = run,
};
