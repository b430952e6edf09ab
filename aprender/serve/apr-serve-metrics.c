/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-metrics.h"

#include "aprender/serve/apr-serve-routes.h"

/* The ends of the buckets, in microseconds; the last one has none. */
static const guint64 ends[APR_SERVE_N_BUCKETS - 1] = {
  10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 100000, 1000000, 10000000,
};

static guint64
load (const guint64 *counter)
{
  return __atomic_load_n (counter, __ATOMIC_RELAXED);
}

static void
add (guint64 *counter, guint64 n)
{
  __atomic_add_fetch (counter, n, __ATOMIC_RELAXED);
}

void
apr_serve_metrics_add (AprServeMetrics *self, guint status, gint64 began, gsize n_rows)
{
  guint64 elapsed = (guint64) (g_get_monotonic_time () - began);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ends) && elapsed > ends[i]; i++)
    ;
  add (&self->buckets[i], 1);
  add (&self->microseconds, elapsed);
  add (&self->n_rows, n_rows);
  add (&self->n_requests[MIN (status, G_N_ELEMENTS (self->n_requests) - 1)], 1);
}

static void
append_seconds (GString *text, guint64 microseconds)
{
  g_string_append_printf (text, "%" G_GUINT64_FORMAT ".%06" G_GUINT64_FORMAT, microseconds / G_USEC_PER_SEC,
                          microseconds % G_USEC_PER_SEC);
}

/* In Prometheus' text format. */
static void
append_metrics (const AprServeMetrics *self, GString *text)
{
  guint64 n = 0;
  guint64 n_errors = 0;
  guint i;

  g_string_append (text, "# HELP aprender_requests_total Requests that were answered.\n"
                         "# TYPE aprender_requests_total counter\n");
  for (i = 0; i < G_N_ELEMENTS (self->n_requests); i++)
    if (load (&self->n_requests[i]) > 0)
      {
        g_string_append_printf (text, "aprender_requests_total{status=\"%u\"} %" G_GUINT64_FORMAT "\n", i,
                                load (&self->n_requests[i]));
        n_errors += i >= 400 ? load (&self->n_requests[i]) : 0;
      }
  g_string_append_printf (
    text,
    "# HELP aprender_errors_total Requests that were answered with an error.\n"
    "# TYPE aprender_errors_total counter\n"
    "aprender_errors_total %" G_GUINT64_FORMAT "\n"
    "# HELP aprender_rows_total Rows that were predicted for.\n"
    "# TYPE aprender_rows_total counter\n"
    "aprender_rows_total %" G_GUINT64_FORMAT "\n"
    "# HELP aprender_request_duration_seconds From a request's last byte to its answer.\n"
    "# TYPE aprender_request_duration_seconds histogram\n",
    n_errors, load (&self->n_rows));
  for (i = 0; i < G_N_ELEMENTS (self->buckets); i++)
    {
      n += load (&self->buckets[i]);
      g_string_append (text, "aprender_request_duration_seconds_bucket{le=\"");
      if (i < G_N_ELEMENTS (ends))
        append_seconds (text, ends[i]);
      else
        g_string_append (text, "+Inf");
      g_string_append_printf (text, "\"} %" G_GUINT64_FORMAT "\n", n);
    }
  g_string_append (text, "aprender_request_duration_seconds_sum ");
  append_seconds (text, load (&self->microseconds));
  g_string_append_printf (text, "\naprender_request_duration_seconds_count %" G_GUINT64_FORMAT "\n", n);
}

/* Prometheus' labels escape what JSON's strings do, and a line's end as \n. */
static void
append_model (GString *text, const char *metric, const AprServeModel *model, guint64 value)
{
  const char *p;

  g_string_append_printf (text, "%s{model=\"", metric);
  for (p = model->name; *p != '\0'; p++)
    if (*p == '\n')
      g_string_append (text, "\\n");
    else
      {
        if (*p == '"' || *p == '\\')
          g_string_append_c (text, '\\');
        g_string_append_c (text, *p);
      }
  g_string_append_printf (text, "\"} %" G_GUINT64_FORMAT "\n", value);
}

void
apr_serve_show_metrics (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  GString *text = response->body;
  guint i;

  response->content_type = "text/plain; version=0.0.4; charset=utf-8";
  append_metrics (&self->metrics, text);
  g_string_append (text, "# HELP aprender_model_generation How many times a model has been loaded.\n"
                         "# TYPE aprender_model_generation gauge\n");
  for (i = 0; i < apr_serve_models_get_size (self->models); i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, i);

      append_model (text, "aprender_model_generation", model, model->generation);
    }
  g_string_append (text,
                   "# HELP aprender_model_load_failures_total How often a new file could not be loaded.\n"
                   "# TYPE aprender_model_load_failures_total counter\n");
  for (i = 0; i < apr_serve_models_get_size (self->models); i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, i);

      append_model (text, "aprender_model_load_failures_total", model,
                    apr_serve_models_get_n_failures (self->models, i));
    }
}
