/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-page.h"

#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-routes.h"

/* The page for people: what each model is, and a form that asks it. */

/* More fields than this are no use to anybody. */
#define MAX_FIELDS 100

static const char head[] =
  "<!DOCTYPE html>\n"
  "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>aprender</title>\n"
  "<meta name=\"viewport\" content=\"width=device-width\">\n"
  "<link rel=\"icon\" href=\"data:,\">\n"
  "<style>\n"
  "body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 54rem; padding: 0 1rem;\n"
  "       color-scheme: light dark; }\n"
  "pre, table { font-size: .875rem; overflow-x: auto; }\n"
  "th { font-weight: normal; padding-right: 2rem; text-align: left; }\n"
  "label { display: grid; grid-template-columns: 12rem 1fr; margin: .25rem 0; }\n"
  "output { font-weight: bold; margin-left: 1rem; }\n"
  "</style></head><body>\n"
  "<h1>aprender</h1>\n";

static const char tail[] =
  "<script>\n"
  "for (const form of document.forms)\n"
  "  form.addEventListener('submit', async event => {\n"
  "    event.preventDefault();\n"
  "    const output = form.querySelector('output');\n"
  "    const features = Array.from(form.querySelectorAll('input'), input => input.valueAsNumber);\n"
  "    try {\n"
  "      const response = await fetch('predict', {\n"
  "        method: 'POST',\n"
  "        headers: {'Content-Type': 'application/json'},\n"
  "        body: JSON.stringify({model_id: form.dataset.model, features}),\n"
  "      });\n"
  "      const answer = await response.json();\n"
  "      output.textContent = answer.error ?? [answer.prediction].flat().join(', ');\n"
  "    } catch (error) {\n"
  "      output.textContent = error.message;\n"
  "    }\n"
  "  });\n"
  "</script>\n"
  "</body></html>\n";

static void
append_escaped (GString *html, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  g_string_append (html, escaped);
}

static void
append_feature (GString *html, const AprServeModel *model, gsize i)
{
  if (model->feature_names != NULL)
    append_escaped (html, model->feature_names[i]);
  else
    g_string_append_printf (html, "Feature %" G_GSIZE_FORMAT, i);
}

/* A row for each feature and one for the intercept, a column for each target. */
static void
append_coefficients (GString *html, const AprServeModel *model)
{
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model->regression);
  g_autoptr (AprTensor) intercepts = apr_linear_regression_get_intercept (model->regression);
  gsize target;
  gsize i;

  g_string_append (html, "<table>\n");
  for (i = 0; i <= model->n_features; i++)
    {
      g_string_append (html, "<tr><th>");
      if (i < model->n_features)
        append_feature (html, model, i);
      else
        g_string_append (html, "(Intercept)");
      g_string_append (html, "</th>");
      for (target = 0; target < model->n_targets; target++)
        {
          double value = i < model->n_features
                         ? apr_tensor_get_double (coefficients, target * model->n_features + i, NULL)
                         : apr_tensor_get_double (intercepts, target, NULL);

          g_string_append (html, "<td>");
          apr_serve_json_append_number (html, value, model->dtype);
          g_string_append (html, "</td>");
        }
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table>\n");
}

static void
append_form (GString *html, const AprServeModel *model)
{
  gsize i;

  g_string_append (html, "<form data-model=\"");
  append_escaped (html, model->name);
  g_string_append (html, "\">\n");
  for (i = 0; i < model->n_features; i++)
    {
      g_string_append (html, "<label><span>");
      append_feature (html, model, i);
      g_string_append (html, "</span><input type=\"number\" step=\"any\" required></label>\n");
    }
  g_string_append (html, "<p><button>Predict</button><output></output></p>\n</form>\n");
}

GBytes *
apr_serve_page_describe (const AprServeModel *model)
{
  GString *html = g_string_new (NULL);
  g_autofree char *summary = NULL;

  g_string_append (html, "<h2>");
  append_escaped (html, model->name);
  g_string_append_printf (
    html, "</h2>\n<p>Linear regression, version %s: %" G_GSIZE_FORMAT " %s, %" G_GSIZE_FORMAT " %s.</p>\n",
    model->version, model->n_features, model->n_features == 1 ? "feature" : "features", model->n_targets,
    model->n_targets == 1 ? "target" : "targets");
  if (apr_linear_regression_get_has_statistics (model->regression))
    summary = apr_linear_regression_summary (model->regression, NULL);
  if (summary != NULL)
    {
      g_string_append (html, "<pre>");
      append_escaped (html, summary);
      g_string_append (html, "</pre>\n");
    }
  else if (model->n_features <= MAX_FIELDS && model->n_targets <= MAX_FIELDS)
    append_coefficients (html, model);
  if (model->n_features <= MAX_FIELDS)
    append_form (html, model);

  return g_string_free_to_bytes (html);
}

void
apr_serve_show_page (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (GBytes) first = g_bytes_new_static (head, strlen (head));
  g_autoptr (GBytes) last = g_bytes_new_static (tail, strlen (tail));
  guint i;

  response->content_type = "text/html; charset=utf-8";
  apr_serve_response_add_part (response, first);
  for (i = 0; i < apr_serve_models_get_size (self->models); i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, i);

      apr_serve_response_add_part (response, model->section);
    }
  apr_serve_response_add_part (response, last);
}
