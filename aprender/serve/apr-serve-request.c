/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-request.h"

#include "aprender/serve/apr-serve-json.h"

gboolean
apr_serve_response_fail (AprServeResponse *self, guint status, const char *code, const char *message)
{
  self->status = status;
  self->content_type = "application/json";
  self->n_rows = 0;
  g_string_assign (self->body, "{\"error\":");
  apr_serve_json_append_string (self->body, message);
  g_string_append_printf (self->body, ",\"code\":\"%s\"}\n", code);

  return FALSE;
}

gboolean
apr_serve_response_fail_with (AprServeResponse *self, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return apr_serve_response_fail (self, 404, "E_NO_MODEL", error->message);

  return apr_serve_response_fail (self, 400, "E_INVALID_INPUT", error->message);
}
