/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-handler.h"

#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-routes.h"

/* Where the path of a model begins. */
#define MODELS "/v2/models/"
#define VERSIONS "/versions/"

typedef struct
{
  const char *method;
  const char *path; /* “*” is the name of a model, with or without its version */
  void (*answer) (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
} Route;

static const Route routes[] = {
  { "POST", "/predict", apr_serve_predict },
  { "POST", "/predict/batch", apr_serve_predict_batch },
  { "GET", "/models", apr_serve_list_models },
  { "GET", "/health", apr_serve_health },
  { "GET", "/ready", apr_serve_ready },
  { "GET", "/metrics", apr_serve_show_metrics },
  { "GET", "/", apr_serve_show_page },
  { "GET", "/v2", apr_serve_v2_server },
  { "GET", "/v2/health/live", apr_serve_v2_live },
  { "GET", "/v2/health/ready", apr_serve_v2_ready },
  { "GET", "/v2/models/*", apr_serve_v2_model },
  { "GET", "/v2/models/*/ready", apr_serve_v2_model_ready },
  { "POST", "/v2/models/*/infer", apr_serve_v2_infer },
};

/* Splits /v2/models/NAME[/versions/VERSION]REST, and returns REST, or NULL where the path is another one. */
static const char *
split_path (const char *path, char **model, char **version)
{
  const char *name = path + strlen (MODELS);
  const char *rest;

  if (!g_str_has_prefix (path, MODELS))
    return NULL;
  rest = name + strcspn (name, "/");
  *model = g_strndup (name, (gsize) (rest - name));
  if (g_str_has_prefix (rest, VERSIONS))
    {
      name = rest + strlen (VERSIONS);
      rest = name + strcspn (name, "/");
      *version = g_strndup (name, (gsize) (rest - name));
    }

  return rest;
}

/* @rest is what comes behind the model in a path that has one. */
static const Route *
find_route (const char *path, const char *rest)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (routes); i++)
    {
      const char *star = strchr (routes[i].path, '*');

      if (star == NULL ? strcmp (path, routes[i].path) == 0 : rest != NULL && strcmp (rest, star + 1) == 0)
        return &routes[i];
    }

  return NULL;
}

static void
fail_without_route (const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *path = apr_serve_json_display (request->path);
  g_autofree char *message = g_strdup_printf ("there is no route “%s”", path);

  apr_serve_response_fail (response, 404, "E_NOT_FOUND", message);
}

static void
fail_with_method (const Route *route, const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *method = apr_serve_json_display (request->method);
  g_autofree char *message = g_strdup_printf ("%s is for %s, not for %s", route->path, route->method, method);

  response->allow = route->method;
  apr_serve_response_fail (response, 405, "E_METHOD", message);
}

/* A body is read as it comes. */
static gboolean
is_encoded (const AprServeRequest *request)
{
  g_autofree char *encoding = g_strdup (request->content_encoding);

  /* Space around a value is not a part of it. */
  return request->body_size > 0 && encoding != NULL && *g_strstrip (encoding) != '\0' &&
         g_ascii_strcasecmp (encoding, "identity") != 0;
}

static void
fail_with_encoding (const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *encoding = apr_serve_json_display (request->content_encoding);
  g_autofree char *message =
    g_strdup_printf ("Content-Encoding: “%s” is not supported: send the body as it is", encoding);

  apr_serve_response_fail (response, 415, "E_ENCODING", message);
}

/* Takes the same time wherever the first difference is, so that the time tells nothing about the token. */
static gboolean
is_equal (const char *given, const char *token)
{
  gsize n_given = strlen (given);
  gsize n_token = strlen (token);
  guint different = n_given != n_token;
  gsize i;

  for (i = 0; i < n_given; i++)
    different |= (guchar) given[i] ^ (guchar) token[n_token > 0 ? i % n_token : 0];

  return different == 0;
}

gboolean
apr_serve_is_authorized (const AprServeHandler *self, const char *path, const char *authorization)
{
  static const char scheme[] = "Bearer ";
  static const char *const open[] = { "/health", "/ready", "/v2/health/live", "/v2/health/ready", NULL };

  if (self->token == NULL || g_strv_contains (open, path))
    return TRUE;

  return authorization != NULL && g_ascii_strncasecmp (authorization, scheme, strlen (scheme)) == 0 &&
         is_equal (authorization + strlen (scheme), self->token);
}

void
apr_serve_handle (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autofree char *model = NULL;
  g_autofree char *version = NULL;
  const char *rest = split_path (request->path, &model, &version);
  const Route *route = find_route (request->path, rest);
  AprServeRequest named = *request;
  /* The transport leaves out the body. */
  const char *method = strcmp (request->method, "HEAD") == 0 ? "GET" : request->method;

  response->status = 200;
  response->content_type = "application/json";
  response->allow = NULL;
  response->body = g_string_sized_new (128);
  response->parts = NULL;
  response->own_size = 0;
  response->n_rows = 0;
  if (!apr_serve_is_authorized (self, request->path, request->authorization))
    apr_serve_response_fail (response, 401, "E_UNAUTHORIZED", APR_SERVE_UNAUTHORIZED);
  else if (route == NULL)
    fail_without_route (request, response);
  else if (strcmp (method, route->method) != 0)
    fail_with_method (route, request, response);
  else if (is_encoded (request))
    fail_with_encoding (request, response);
  else
    {
      if (model != NULL)
        named.model = model;
      named.version = version;
      route->answer (self, &named, response);
    }
  apr_serve_metrics_add (&self->metrics, response->status, request->began, response->n_rows);
}
