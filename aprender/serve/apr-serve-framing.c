/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-framing.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <microhttpd.h>

#include "aprender/serve/apr-serve-json.h"

/* What names of headers may have beside letters and digits. */
#define TOKEN_SIGNS "!#$%&'*+-.^_`|~"

typedef struct
{
  guint n_lengths;
  guint n_encodings;
  guint n_hosts;
  guint64 length;
  char *problem; /* (owned) (nullable) */
} Framing;

static gboolean
is_token (const char *name)
{
  gsize i;

  for (i = 0; name[i] != '\0'; i++)
    if (!g_ascii_isalnum (name[i]) && strchr (TOKEN_SIGNS, name[i]) == NULL)
      return FALSE;

  return i > 0;
}

/* A line that goes on in the next one. libmicrohttpd 0.9 adds the latter to the name, of which it makes a copy behind
 * the value; else a value is behind its name. */
static gboolean
is_folded (const char *name, const char *value)
{
  return (guintptr) value <= (guintptr) name + strlen (name);
}

static gboolean
has_control (const char *value)
{
  for (; *value != '\0'; value++)
    if (g_ascii_iscntrl (*value) && *value != '\t')
      return TRUE;

  return FALSE;
}

static char *
check_length (Framing *self, const char *value)
{
  guint64 length;

  if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &length, NULL) ||
      (self->n_lengths > 0 && length != self->length))
    return g_strdup ("Content-Length: conflicting or invalid values");

  self->length = length;
  self->n_lengths++;
  return NULL;
}

static enum MHD_Result
look_at_header (gpointer data, enum MHD_ValueKind kind, const char *name, const char *value)
{
  Framing *self = data;

  if (!is_token (name) || value == NULL || is_folded (name, value) || has_control (value))
    {
      g_autofree char *shown = apr_serve_json_display (name);

      self->problem =
        g_strdup_printf ("header “%s”: expected a name that is a token and is followed by “:”, and a "
                         "value on one line without control characters",
                         shown);
    }
  else if (g_ascii_strcasecmp (name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0)
    {
      self->n_encodings++;
      if (g_ascii_strcasecmp (value, "chunked") != 0 || self->n_encodings > 1)
        self->problem = g_strdup ("Transfer-Encoding: expected “chunked” once");
    }
  else if (g_ascii_strcasecmp (name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
    self->problem = check_length (self, value);
  else if (g_ascii_strcasecmp (name, MHD_HTTP_HEADER_HOST) == 0 && ++self->n_hosts > 1)
    self->problem = g_strdup ("Host: expected one");

  return self->problem == NULL ? MHD_YES : MHD_NO;
}

char *
apr_serve_framing_read (struct MHD_Connection *connection, const char *version, guint64 *length)
{
  Framing framing = { 0 };

  MHD_get_connection_values (connection, MHD_HEADER_KIND, look_at_header, &framing);
  *length = framing.length;
  if (framing.problem == NULL && framing.n_encodings > 0 && framing.n_lengths > 0)
    return g_strdup ("Content-Length and Transfer-Encoding exclude each other");
  if (framing.problem == NULL && framing.n_encodings > 0 && strcmp (version, MHD_HTTP_VERSION_1_0) == 0)
    return g_strdup ("Transfer-Encoding: HTTP/1.0 has none");

  return framing.problem;
}

gsize
apr_serve_framing_find_path (const char *target)
{
  gsize host = g_ascii_strncasecmp (target, "http://", 7) == 0 ? 7 : 8;
  gsize end;

  if (host == 8 && g_ascii_strncasecmp (target, "https://", 8) != 0)
    return 0;
  end = host + strcspn (target + host, "/?%");

  return end > host && target[end] != '%' ? end : 0;
}

gsize
apr_serve_framing_unescape (gpointer data, struct MHD_Connection *connection, char *text)
{
  const char *from = text;
  char *to = text;

  while (*from != '\0')
    if (from[0] == '%' && g_ascii_isxdigit (from[1]) && g_ascii_isxdigit (from[2]) &&
        (from[1] != '0' || from[2] != '0'))
      {
        *to++ = (char) (g_ascii_xdigit_value (from[1]) * 16 + g_ascii_xdigit_value (from[2]));
        from += 3;
      }
    else
      *to++ = *from++;
  *to = '\0';

  return (gsize) (to - text);
}
