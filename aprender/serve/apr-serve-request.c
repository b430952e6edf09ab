/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-request.h"

#include "aprender/serve/apr-serve-json.h"

gboolean
apr_serve_request_check_room (const AprServeRequest *self, gsize size, GError **error)
{
  if (self->max_answer == 0 || size <= self->max_answer)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
               "answer: at least %" G_GSIZE_FORMAT " bytes, but there is room for %" G_GSIZE_FORMAT
               " beside other requests: ask for fewer rows, or try again",
               size, self->max_answer);
  return FALSE;
}

void
apr_serve_response_clear (AprServeResponse *self)
{
  if (self->body != NULL)
    g_string_free (g_steal_pointer (&self->body), TRUE);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  self->own_size = 0;
}

void
apr_serve_response_add_part (AprServeResponse *self, GBytes *part)
{
  if (self->parts == NULL)
    self->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_ptr_array_add (self->parts, g_bytes_ref (part));
}

gboolean
apr_serve_response_fail (AprServeResponse *self, guint status, const char *code, const char *message)
{
  self->status = status;
  self->content_type = "application/json";
  self->n_rows = 0;
  /* What there is of an answer may be long. */
  apr_serve_response_clear (self);
  self->body = g_string_new ("{\"error\":");
  apr_serve_json_append_string (self->body, message);
  g_string_append_printf (self->body, ",\"code\":\"%s\"}\n", code);

  return FALSE;
}

gboolean
apr_serve_response_fail_with (AprServeResponse *self, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return apr_serve_response_fail (self, 404, "E_NO_MODEL", error->message);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY))
    return apr_serve_response_fail (self, 503, "E_BUSY", error->message);
  if (g_error_matches (error, APR_ERROR, APR_ERROR_NO_MEMORY))
    return apr_serve_response_fail (self, 503, "E_NO_MEMORY", error->message);

  return apr_serve_response_fail (
    self, 400, g_error_matches (error, APR_ERROR, APR_ERROR_EMPTY) ? "E_EMPTY_BATCH" : "E_INVALID_INPUT",
    error->message);
}
