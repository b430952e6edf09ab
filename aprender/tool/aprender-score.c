/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
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

/* What is summed over the rows. */
typedef struct
{
  AprEstimator *model; /* (unowned) */
  gsize n_targets;
  AprCrossProducts *cross_products;
  double *squares; /* of the residuals, for each target */
  double *moduli;
  double weights;
} Sums;

static void
sums_clear (Sums *self)
{
  g_clear_object (&self->cross_products);
  g_clear_pointer (&self->squares, g_free);
  g_clear_pointer (&self->moduli, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sums, sums_clear)

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
      double residual = apr_tensor_get_double (y, i, NULL) - apr_tensor_get_double (predictions, i, NULL);
      double factor = weight != NULL ? apr_tensor_get_double (weight, i / self->n_targets, NULL) : 1;

      self->squares[i % self->n_targets] += factor * residual * residual;
      self->moduli[i % self->n_targets] += factor * fabs (residual);
      self->weights += i % self->n_targets == 0 ? factor : 0;
    }

  return TRUE;
}

static gboolean
add_table (Sums *self, AprTableReader *reader, GError **error)
{
  if (!apr_tool_table_read_all (reader, add_rows, self, error))
    return FALSE;
  if (!(self->weights > 0))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "%s: no weight is above 0",
                   apr_table_reader_get_name (reader));
      return FALSE;
    }
  apr_tool_table_report_dropped (reader);

  return TRUE;
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
      const double values[] = { apr_tensor_get_double (scores, i, NULL),
                                sqrt (self->squares[i] / self->weights), self->moduli[i] / self->weights };
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
      apr_tool_json_add_number (builder, "root_mean_squared_error", sqrt (self->squares[i] / self->weights));
      apr_tool_json_add_number (builder, "mean_absolute_error", self->moduli[i] / self->weights);
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

  if (reader == NULL || !apr_tool_table_select_model (reader, estimator, error) ||
      !apr_tool_table_select_targets (reader, estimator, options->targets, error))
    return NULL;
  apr_table_reader_set_weight (reader, options->weight);
  self->model = estimator;
  self->squares = g_new0 (double, self->n_targets);
  self->moduli = g_new0 (double, self->n_targets);
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
