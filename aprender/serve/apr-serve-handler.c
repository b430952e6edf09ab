/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-handler.h"

#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-routes.h"

typedef struct
{
  const char *method;
  const char *path;
  void (*answer) (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
} Route;

static const Route routes[] = {
  { "POST", "/predict", apr_serve_predict },   { "POST", "/predict/batch", apr_serve_predict_batch },
  { "GET", "/models", apr_serve_list_models }, { "GET", "/health", apr_serve_health },
  { "GET", "/ready", apr_serve_ready },
};

static const Route *
find_route (const char *path)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (routes); i++)
    if (strcmp (path, routes[i].path) == 0)
      return &routes[i];

  return NULL;
}

/* What comes from a client may be no text. */
static char *
make_displayable (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return apr_json_display (valid, strlen (valid));
}

static void
fail_without_route (const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *path = make_displayable (request->path);
  g_autofree char *message = g_strdup_printf ("there is no route “%s”", path);

  apr_serve_response_fail (response, 404, "E_NOT_FOUND", message);
}

static void
fail_with_method (const Route *route, const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *method = make_displayable (request->method);
  g_autofree char *message = g_strdup_printf ("%s is for %s, not for %s", route->path, route->method, method);

  response->allow = route->method;
  apr_serve_response_fail (response, 405, "E_METHOD", message);
}

void
apr_serve_handle (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  const Route *route = find_route (request->path);
  /* The transport leaves out the body. */
  const char *method = strcmp (request->method, "HEAD") == 0 ? "GET" : request->method;

  response->status = 200;
  response->content_type = "application/json";
  response->allow = NULL;
  response->body = g_string_sized_new (128);
  response->n_rows = 0;
  if (route == NULL)
    fail_without_route (request, response);
  else if (strcmp (method, route->method) != 0)
    fail_with_method (route, request, response);
  else
    route->answer (self, request, response);
}
