/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "aprender/plot/apr-plot-file.h"
#include "aprender/plot/apr-plot-regression.h"
#include "aprender/plot/apr-plot-samples.h"
#include "aprender/tool/apr-tool-model.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-plot-feature.h"
#include "aprender/tool/apr-tool-progress.h"
#include "aprender/tool/apr-tool-table.h"
#include "aprender/tool/apr-tool.h"

#define FONT_SIZE 11

typedef struct
{
  AprToolTableOptions table;
  char **targets;
  char *weight;  /* (nullable) */
  char *feature; /* (nullable) */
  char *kind;    /* (nullable) */
  char *output;
  gboolean dark;
  gint64 width;
  gint64 height;
} PlotOptions;

static const PlotOptions defaults = { .width = 800, .height = 600 };

static const AprToolOption options_of_plot[] = {
  { "output", 'o', APR_TOOL_TEXT, G_STRUCT_OFFSET (PlotOptions, output),
    "Write the picture to this file: .svg, .png or .pdf: needed", "FILE" },
  { "target", 't', APR_TOOL_TEXTS, G_STRUCT_OFFSET (PlotOptions, targets),
    "The column with the true values: needed; of several targets, all in the order of the fit", "COLUMN" },
  { "kind", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (PlotOptions, kind),
    "What to show (default: residuals, quantiles, scale and leverage)",
    "actual|residuals|quantiles|scale|leverage" },
  { "feature", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (PlotOptions, feature),
    "Show the target against this feature, with the model's line", "COLUMN" },
  { "weight", 'w', APR_TOOL_TEXT, G_STRUCT_OFFSET (PlotOptions, weight), "Weigh each row by this column",
    "COLUMN" },
  { "dark", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (PlotOptions, dark), "Light on dark", NULL },
  { "width", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (PlotOptions, width), "Pixels (default: 800)", "N" },
  { "height", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (PlotOptions, height), "Pixels (default: 600)", "N" },
  APR_TOOL_TABLE_OPTIONS (PlotOptions),
  { NULL },
};

/* All samples of the table: what a plot shows needs them at once. */
typedef struct
{
  gsize n_rows;
  AprTensor *tensors[APR_PLOT_N_TENSORS]; /* the weights and the rows are nullable */
} Data;

static void
data_clear (Data *self)
{
  guint i;

  for (i = 0; i < APR_PLOT_N_TENSORS; i++)
    g_clear_pointer (&self->tensors[i], apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Data, data_clear)

static void
show_progress_cb (AprTableReader *reader, GParamSpec *pspec G_GNUC_UNUSED, AprToolProgress *progress)
{
  apr_tool_progress_show (progress, reader);
}

static gboolean
read_data (Data *self, AprTableReader *reader, GError **error)
{
  AprToolProgress progress = apr_tool_progress_start ();
  gulong handler = g_signal_connect (reader, "notify::n-rows", G_CALLBACK (show_progress_cb), &progress);
  gboolean read = apr_plot_read_samples (reader, self->tensors, NULL, error);

  g_signal_handler_disconnect (reader, handler);
  apr_tool_progress_end (&progress);
  if (!read)
    return FALSE;

  self->n_rows = apr_tensor_get_shape (self->tensors[APR_PLOT_X], NULL)[0];
  apr_tool_table_report_dropped (reader);

  return TRUE;
}

static AprPlot *
plot_actual (AprLinearRegression *model, const Data *data, const PlotOptions *options, GError **error)
{
  g_autoptr (AprTensor) predictions =
    apr_estimator_predict (APR_ESTIMATOR (model), data->tensors[APR_PLOT_X], error);
  g_autofree double *actual = NULL;
  g_autofree double *predicted = NULL;

  if (predictions == NULL)
    return NULL;
  actual = apr_tool_plot_get_column (data->tensors[APR_PLOT_Y], 0);
  predicted = apr_tool_plot_get_column (predictions, 0);

  return apr_plot_new_actual (actual, predicted, data->n_rows, options->targets[0]);
}

/* The samples of a fit with weights are others without them. */
static void
add_hint (GError *error, const PlotOptions *options)
{
  char *message;

  if (options->weight != NULL || (!g_error_matches (error, APR_ERROR, APR_ERROR_SHAPE) &&
                                  !g_error_matches (error, APR_ERROR, APR_ERROR_STATE)))
    return;

  message = g_strconcat (error->message, "; if the fit had weights, give them by --weight", NULL);
  g_free (error->message);
  error->message = message;
}

/* Adds the plots that the command line asks for. */
static gboolean
make_plots (
  GPtrArray *plots, AprLinearRegression *model, const Data *data, const PlotOptions *options, GError **error)
{
  const char *kind = options->kind;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) local_error = NULL;
  AprPlot *plot = NULL;

  if (options->feature != NULL || g_strcmp0 (kind, "actual") == 0)
    {
      plot = options->feature != NULL
             ? apr_tool_plot_feature (model, data->tensors, options->feature, options->targets[0], error)
             : plot_actual (model, data, options, error);
      if (plot != NULL)
        g_ptr_array_add (plots, plot);
      return plot != NULL;
    }

  diagnostics = apr_linear_regression_diagnose (model, data->tensors[APR_PLOT_X], data->tensors[APR_PLOT_Y],
                                                data->tensors[APR_PLOT_WEIGHTS], 0, NULL, &local_error);
  if (diagnostics == NULL)
    {
      add_hint (local_error, options);
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (kind == NULL || strcmp (kind, "residuals") == 0)
    g_ptr_array_add (plots, apr_plot_new_residuals (diagnostics, data->tensors[APR_PLOT_ROWS]));
  if (kind == NULL || strcmp (kind, "quantiles") == 0)
    g_ptr_array_add (plots, apr_plot_new_quantiles (diagnostics, data->tensors[APR_PLOT_ROWS]));
  if (kind == NULL || strcmp (kind, "scale") == 0)
    g_ptr_array_add (plots, apr_plot_new_scale_location (diagnostics, data->tensors[APR_PLOT_ROWS]));
  if (kind == NULL || strcmp (kind, "leverage") == 0)
    g_ptr_array_add (plots, apr_plot_new_leverage (diagnostics,
                                                   (gsize) apr_linear_regression_get_rank (model) +
                                                     apr_linear_regression_get_fit_intercept (model),
                                                   data->tensors[APR_PLOT_ROWS]));

  return TRUE;
}

static gboolean
get_format (const char *path, AprPlotFormat *format)
{
  static const char *const ends[] = {
    [APR_PLOT_SVG] = ".svg", [APR_PLOT_PNG] = ".png", [APR_PLOT_PDF] = ".pdf"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (path, ends[i]))
      {
        *format = (AprPlotFormat) i;
        return TRUE;
      }

  return FALSE;
}

static gboolean
check_options (char **arguments, const PlotOptions *options, AprPlotFormat *format, AprToolStatus *status)
{
  gsize i;

  *status = APR_TOOL_OK;
  if (options->targets == NULL)
    *status = apr_tool_usage_error ("plot", "--target COLUMN is missing");
  else if (options->output == NULL)
    *status = apr_tool_usage_error ("plot", "--output FILE is missing");
  else if (!get_format (options->output, format))
    *status = apr_tool_usage_error ("plot", "%s ends with none of .svg, .png and .pdf", options->output);
  else if (options->width < 100 || options->width > 10000 || options->height < 100 || options->height > 10000)
    *status = apr_tool_usage_error ("plot", "--width and --height are from 100 to 10000");
  else if (options->feature != NULL && options->kind != NULL)
    *status = apr_tool_usage_error ("plot", "--feature and --kind exclude each other");
  else
    apr_tool_table_check_target_and_weight ("plot", options->targets, options->weight, status);
  for (i = 0; i < 2 && *status == APR_TOOL_OK; i++)
    if (apr_tool_is_same_file (arguments[i], options->output))
      *status =
        apr_tool_usage_error ("plot", "--output must not be a file that is read: %s", options->output);

  return *status == APR_TOOL_OK;
}

static gboolean
load (Data *data, const char *path, AprLinearRegression *model, const PlotOptions *options, GError **error)
{
  g_autoptr (AprTableReader) reader = apr_tool_table_open (path, &options->table, error);

  return reader != NULL &&
         apr_tool_table_select_model (reader, APR_ESTIMATOR (model), options->targets, options->weight,
                                      error) &&
         read_data (data, reader, error);
}

static AprToolStatus
run (char **arguments, gpointer option_data)
{
  const PlotOptions *options = option_data;
  const AprPlotStyle style = { options->dark, FONT_SIZE };
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GPtrArray) plots = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_plot_free);
  g_auto (Data) data = { 0 };
  g_auto (AprToolOutput) output = { NULL };
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  AprPlotFormat format = APR_PLOT_SVG;
  g_autofree char *name = g_filename_display_name (arguments[0]);
  gboolean needs_sums = options->feature == NULL && g_strcmp0 (options->kind, "actual") != 0;

  if (!check_options (arguments, options, &format, &status))
    return status;

  if (apr_tool_output_check (options->output, &error))
    model = apr_linear_regression_load (arguments[0], &error);
  if (model == NULL || (needs_sums && !apr_tool_check_sums (model, name, &error)) ||
      !load (&data, arguments[1], model, options, &error))
    return apr_tool_fail (error);
  if (!make_plots (plots, model, &data, options, &error))
    {
      g_prefix_error (&error, "%s: ", name);
      return apr_tool_fail (error);
    }
  if (!apr_tool_output_open (&output, options->output, &error))
    return apr_tool_fail (error);
  if (!apr_plot_write ((AprPlot *const *) plots->pdata, plots->len, format, (double) options->width,
                       (double) options->height, &style, output.stream, &error))
    {
      g_prefix_error (&error, "%s: ", output.name);
      return apr_tool_fail (error);
    }
  if (!apr_tool_output_close (&output, &error))
    return apr_tool_fail (error);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_plot = {
  .name = "plot",
  .title = "Draw the plots by which a fit is judged",
  .summary =
    "Draws the plots by which a fit is judged: residuals against fitted values, normal quantiles, scale and\n"
    "location, and leverage with Cook's distance; or one of them, or the target against one feature.",
  .parameters = { "MODEL.safetensors", "DATA.csv" },
  .options = options_of_plot,
  .size = sizeof (PlotOptions),
  .defaults = &defaults,
  .notes =
    "DATA.csv has the rows that the model was fitted to. The model must have been fitted with\n"
    "--keep-state, but for --kind actual, and for --feature without a band. Numbers in a plot are rows\n"
    "of the table, counted from 1 below the names.",
  .example = "aprender plot rents.safetensors rents.csv --target rent -o rents.svg",
  .run = run,
};
