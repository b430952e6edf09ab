/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-table.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  AprToolTableOptions table;
  char **targets;
  char *weight; /* (nullable) */
  gboolean json;
} ScoreOptions;

static const AprToolOption options_of_score[] = {
  { "target", 't', APR_TOOL_TEXTS, G_STRUCT_OFFSET (ScoreOptions, targets),
    "The column with the true values: needed; of several targets, in the order of the fit", "COLUMN" },
  { "weight", 'w', APR_TOOL_TEXT, G_STRUCT_OFFSET (ScoreOptions, weight), "Weigh each row by this column",
    "COLUMN" },
  APR_TOOL_TABLE_OPTIONS (ScoreOptions),
  APR_TOOL_JSON_OPTION (ScoreOptions),
  { NULL },
};

/* @value times two to the power of @exponent, and not negative: squares and sums of what a double holds may be beyond
 * its range. */
typedef struct
{
  double value;
  int exponent;
} Scaled;

static Scaled
scale (double value)
{
  Scaled result = { 0, 0 };

  result.value = frexp (value, &result.exponent);
  return result;
}

static Scaled
multiply (Scaled a, Scaled b)
{
  return (Scaled){ a.value * b.value, a.exponent + b.exponent };
}

static void
add (Scaled *sum, Scaled term)
{
  if (term.value == 0)
    return;
  if (sum->value == 0 || term.exponent > sum->exponent)
    {
      sum->value = ldexp (sum->value, sum->exponent - term.exponent);
      sum->exponent = term.exponent;
    }
  sum->value += ldexp (term.value, term.exponent - sum->exponent);
}

/* What is summed over the rows. */
typedef struct
{
  AprEstimator *model; /* (unowned) */
  gsize n_targets;
  AprCrossProducts *cross_products;
  Scaled *squares; /* of the residuals, for each target */
  Scaled *moduli;
  Scaled weights;
} Sums;

static void
sums_clear (Sums *self)
{
  g_clear_object (&self->cross_products);
  g_clear_pointer (&self->squares, g_free);
  g_clear_pointer (&self->moduli, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sums, sums_clear)

static Scaled
get_modulus (double truth, double prediction)
{
  double difference = fabs (truth - prediction);

  return isfinite (difference) ? scale (difference)
                               : multiply (scale (fabs (truth / 2 - prediction / 2)), scale (2));
}

static gboolean
add_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error)
{
  Sums *self = data;
  g_autoptr (AprTensor) predictions = apr_estimator_predict (self->model, x, error);
  gsize n_values = apr_tensor_get_n_elements (y);
  gsize i;

  if (predictions == NULL || !apr_cross_products_update (self->cross_products, x, y, weight, NULL, error))
    return FALSE;

  for (i = 0; i < n_values; i++)
    {
      gsize target = i % self->n_targets;
      Scaled modulus =
        get_modulus (apr_tensor_get_double (y, i, NULL), apr_tensor_get_double (predictions, i, NULL));
      Scaled factor = scale (weight != NULL ? apr_tensor_get_double (weight, i / self->n_targets, NULL) : 1);
      Scaled weighed = multiply (factor, modulus);

      if (factor.value == 0)
        continue;
      add (&self->moduli[target], weighed);
      add (&self->squares[target], multiply (weighed, modulus));
      if (target == 0)
        add (&self->weights, factor);
    }

  return TRUE;
}

static gboolean
add_table (Sums *self, AprTableReader *reader, GError **error)
{
  if (!apr_tool_table_read_all (reader, add_rows, self, error))
    return FALSE;
  if (!(self->weights.value > 0))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "%s: no weight is above 0",
                   apr_table_reader_get_name (reader));
      return FALSE;
    }
  apr_tool_table_report_dropped (reader);

  return TRUE;
}

static double
get_root_mean_square (const Sums *self, gsize target)
{
  Scaled sum = self->squares[target];
  int exponent = sum.exponent - self->weights.exponent;
  int odd = abs (exponent % 2);

  return ldexp (sqrt (ldexp (sum.value / self->weights.value, odd)), (exponent - odd) / 2);
}

static double
get_mean_modulus (const Sums *self, gsize target)
{
  Scaled sum = self->moduli[target];

  return ldexp (sum.value / self->weights.value, sum.exponent - self->weights.exponent);
}

static void
print_text (const Sums *self, char **targets, AprTensor *scores)
{
  static const char *const labels[] = { "R²", "root mean squared error", "mean absolute error" };
  const gsize width = strlen (labels[1]) + 2;
  g_autoptr (GString) text = g_string_new (NULL);
  gsize i;
  gsize j;

  apr_tool_append_padded (text, "samples", width);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT "\n",
                          apr_cross_products_get_n_samples (self->cross_products));
  for (i = 0; i < self->n_targets; i++)
    {
      const double values[] = { apr_tensor_get_double (scores, i, NULL), get_root_mean_square (self, i),
                                get_mean_modulus (self, i) };
      g_autofree char *name = apr_tool_escape (targets[i]);

      apr_tool_append_padded (text, "target", width);
      g_string_append_printf (text, "%s\n", name);
      for (j = 0; j < G_N_ELEMENTS (labels); j++)
        {
          char buffer[APR_NUMBER_SIZE];

          apr_tool_append_padded (text, labels[j], width);
          g_string_append_printf (text, "%s\n", apr_number_format (values[j], FALSE, buffer));
        }
    }
  fputs (text->str, stdout);
}

static void
print_json (const Sums *self, char **targets, AprTensor *scores)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *json = NULL;
  gsize i;

  json_builder_begin_object (builder);
  apr_tool_json_add_count (builder, "samples", apr_cross_products_get_n_samples (self->cross_products));
  json_builder_set_member_name (builder, "targets");
  json_builder_begin_array (builder);
  for (i = 0; i < self->n_targets; i++)
    {
      json_builder_begin_object (builder);
      apr_tool_json_add_text (builder, "target", targets[i]);
      apr_tool_json_add_number (builder, "r_squared", apr_tensor_get_double (scores, i, NULL));
      apr_tool_json_add_number (builder, "root_mean_squared_error", get_root_mean_square (self, i));
      apr_tool_json_add_number (builder, "mean_absolute_error", get_mean_modulus (self, i));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  json = apr_tool_json_to_string (builder, FALSE);
  fputs (json, stdout);
}

static AprTensor *
score (Sums *self, const char *path, const ScoreOptions *options, AprLinearRegression *model, GError **error)
{
  AprEstimator *estimator = APR_ESTIMATOR (model);
  g_autoptr (AprTableReader) reader = apr_tool_table_open (path, &options->table, error);
  AprTensor *scores;

  if (reader == NULL ||
      !apr_tool_table_select_model (reader, estimator, options->targets, options->weight, error))
    return NULL;
  self->model = estimator;
  self->squares = g_new0 (Scaled, self->n_targets);
  self->moduli = g_new0 (Scaled, self->n_targets);
  self->cross_products =
    apr_cross_products_new (apr_estimator_get_n_features (estimator), self->n_targets, error);
  if (self->cross_products == NULL || !add_table (self, reader, error))
    return NULL;

  scores = apr_linear_regression_score_cross_products (model, self->cross_products, error);
  if (scores == NULL)
    g_prefix_error (error, "%s: ", apr_table_reader_get_name (reader));
  return scores;
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const ScoreOptions *options = data;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_auto (Sums) sums = { 0 };
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  if (options->targets == NULL)
    return apr_tool_usage_error ("score", "--target COLUMN is missing");
  if (!apr_tool_table_check_target_and_weight ("score", options->targets, options->weight, &status))
    return status;

  sums.n_targets = g_strv_length (options->targets);
  model = apr_linear_regression_load (arguments[0], &error);
  if (model != NULL)
    scores = score (&sums, arguments[1], options, model, &error);
  if (scores == NULL)
    return apr_tool_fail (error);

  if (options->json)
    print_json (&sums, options->targets, scores);
  else
    print_text (&sums, options->targets, scores);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_score = {
  .name = "score",
  .title = "Compare a model's predictions with a table",
  .summary = "Compares a model's predictions with the true values in a table: R², the root mean squared "
             "error and the\n"
             "mean absolute error.",
  .parameters = { "MODEL.safetensors", "DATA.csv" },
  .options = options_of_score,
  .size = sizeof (ScoreOptions),
  .notes = "DATA.csv has a header row with the columns' names; “-” reads it from the standard input.",
  .example = "aprender score rents.safetensors flats.csv --target rent",
  .run = run,
};
