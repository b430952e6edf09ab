/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-error.h"

G_BEGIN_DECLS

/* Arrays and objects that may be open at once, the outermost included: serde_json's limit. */
#define APR_JSON_MAX_DEPTH 127

/*
 * AprJsonCursor:
 *
 * A place in a JSON text, which is `length` bytes of valid UTF-8 (see apr_json_is_utf8()) and not NUL-terminated.
 *
 * Nothing here recurses, and every function takes time linear in the bytes that it passes. `where` names the text in
 * messages, which give the position in bytes from the text's start.
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
 * A string without its quotes, not NUL-terminated: a piece of the text itself or, where it held escapes, of the
 * cursor's scratch space, which the next string overwrites. Only a string with escapes can hold a NUL.
 */
typedef struct
{
  const char *text;
  gsize length;
  gboolean escaped;
} AprJsonString;

void apr_json_cursor_init (AprJsonCursor *self, const char *where, const char *text, gsize length);

void apr_json_cursor_clear (AprJsonCursor *self);

/* Sets an error that begins with the position; always returns FALSE. */
gboolean
apr_json_cursor_fail (AprJsonCursor *self, AprSafetensorsError code, GError **error, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

/* Sets a SYNTAX error that says what was found instead of what was expected; always returns FALSE. */
gboolean apr_json_cursor_expected (AprJsonCursor *self, const char *what, GError **error);

gboolean apr_json_cursor_scan_string (AprJsonCursor *self, AprJsonString *string, GError **error);

/* Passes one value of any kind. `depth` is how many arrays and objects are open around it. */
gboolean apr_json_cursor_skip_value (AprJsonCursor *self, guint depth, GError **error);

/* What kind of value begins here, for messages: “a string”, “null”, ... */
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

/* Passes @c if it is next, after any white space. */
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
 * Passes a whole number that is written as such: no sign, no leading zero, no point, no exponent, at most 2^64 - 1.
 * Where there is none the cursor passes only white space, and apr_json_cursor_skip_value() finds out what there is.
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
