/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

static AprToolStatus
run (char **arguments, gpointer data)
{
  g_autoptr (AprLinearRegression) model = NULL;
  g_autofree char *text = NULL;
  g_autofree char *shown = NULL;
  g_autoptr (GError) error = NULL;

  model = apr_linear_regression_load (arguments[0], &error);
  if (model == NULL)
    return apr_tool_fail (error);
  text = apr_linear_regression_summary (model, &error);
  if (text == NULL)
    {
      g_autofree char *name = g_filename_display_name (arguments[0]);

      g_prefix_error (&error, "%s: ", name);
      return apr_tool_fail (error);
    }

  shown = apr_tool_escape_lines (text);
  fputs (shown, stdout);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_summary = {
  .name = "summary",
  .title = "Show the statistics of a model that was fitted with --keep-state",
  .summary = "Shows the statistics of a linear regression: standard errors, p-values, R² and so on.",
  .parameters = { "MODEL.safetensors" },
  .notes = "The model must have been fitted with --keep-state.",
  .example = "aprender summary rents.safetensors",
  .run = run,
};
