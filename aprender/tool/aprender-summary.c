/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

static const AprToolCommand command = {
  "summary",
  "Shows the statistics of a linear regression: standard errors, p-values, R² and so on.",
  { "MODEL.safetensors" },
  "The model must have been fitted with --keep-state.",
};

AprToolStatus
apr_tool_summary (int argc, char **argv)
{
  const GOptionEntry entries[] = { { NULL } };
  g_auto (GStrv) arguments = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autofree char *text = NULL;
  g_autofree char *shown = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  if (!apr_tool_parse (&command, entries, argc, argv, &arguments, &status))
    return status;

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
