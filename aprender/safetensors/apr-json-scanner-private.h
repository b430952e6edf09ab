/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-error.h"

G_BEGIN_DECLS

/* The maximum nesting of arrays and objects, including the outermost: the limit of serde_json */
#define APR_JSON_MAX_DEPTH 127

/*
 * AprJsonCursor:
 *
 * A position in a JSON text: valid UTF-8 (see apr_json_is_utf8()), not NUL-terminated.
 *
 * No function recurses, and each takes time linear in the bytes that it reads. In messages the text is called `where`,
 * and positions are in bytes from its start.
 */
typedef struct
{
  const char *start;
  const char *position;
  const char *end;
  const char *where;
  GString *scratch;
} AprJsonCursor;

/*
 * AprJsonString:
 *
 * A string without its quotes, not NUL-terminated. It points into the text or, if it had escapes, into the cursor's
 * scratch space, which the next string overwrites. Only a string with escapes can contain a NUL.
 */
typedef struct
{
  const char *text;
  gsize length;
  gboolean escaped;
} AprJsonString;

void apr_json_cursor_init (AprJsonCursor *self, const char *where, const char *text, gsize length);

void apr_json_cursor_clear (AprJsonCursor *self);

/* Sets an error that begins with the position. Always returns FALSE. */
gboolean
apr_json_cursor_fail (AprJsonCursor *self, AprSafetensorsError code, GError **error, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

/* Sets a SYNTAX error that says what was expected and what was found. Always returns FALSE. */
gboolean apr_json_cursor_expected (AprJsonCursor *self, const char *what, GError **error);

gboolean apr_json_cursor_scan_string (AprJsonCursor *self, AprJsonString *string, GError **error);

/* Skips one value of any type. `depth` is the number of arrays and objects around it. */
gboolean apr_json_cursor_skip_value (AprJsonCursor *self, guint depth, GError **error);

/* The type of the value that begins here, for messages: “a string”, “null”, ... */
const char *apr_json_cursor_describe (const AprJsonCursor *self);

gboolean apr_json_is_utf8 (const char *text, gsize length, gsize *bad_byte);

char *apr_json_display (const char *text, gsize length);

char **apr_json_scan_string_array (const char *text, gsize length, GError **error);

static inline void
apr_json_cursor_skip_space (AprJsonCursor *self)
{
  while (self->position < self->end && (*self->position == ' ' || *self->position == '\n' ||
                                        *self->position == '\r' || *self->position == '\t'))
    self->position++;
}

/* Skips white space, and then @c if it is next. Returns whether it was. */
static inline gboolean
apr_json_cursor_take (AprJsonCursor *self, char c)
{
  if (self->position < self->end && *self->position != c)
    apr_json_cursor_skip_space (self);
  if (self->position == self->end || *self->position != c)
    return FALSE;
  self->position++;
  return TRUE;
}

/*
 * Reads a whole number of at most 2^64 - 1, without a sign, leading zero, point or exponent. If there is no such
 * number, the cursor skips only white space; apr_json_cursor_skip_value() then finds out what is there.
 */
static inline gboolean
apr_json_cursor_scan_u64 (AprJsonCursor *self, guint64 *value)
{
  const char *p;
  guint64 sum = 0;

  apr_json_cursor_skip_space (self);
  p = self->position;
  if (p == self->end || !g_ascii_isdigit (*p))
    return FALSE;
  if (*p == '0')
    p++;
  else
    for (; p < self->end && g_ascii_isdigit (*p); p++)
      {
        guint digit = (guint) (*p - '0');

        if (sum > (G_MAXUINT64 - digit) / 10)
          return FALSE;
        sum = sum * 10 + digit;
      }
  if (p < self->end && (g_ascii_isdigit (*p) || *p == '.' || *p == 'e' || *p == 'E'))
    return FALSE;
  self->position = p;
  *value = sum;
  return TRUE;
}

G_END_DECLS
