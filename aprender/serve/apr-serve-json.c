/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-json.h"

#include <string.h>

#include "aprender/table/apr-decimal-private.h"

/* Numbers that there is room for at first. */
#define MIN_NUMBERS 64

/* The most of a wrong value that a message repeats, in bytes. */
#define MAX_REPEATED 24

/* A number may begin with a point, a plus sign or zeros elsewhere, and end with a point, but not in JSON. */
static gboolean
is_json_number (const char *begin, const char *end)
{
  const char *first_digit = begin + (*begin == '-');
  const char *point;

  if (!g_ascii_isdigit (*first_digit) ||
      (*first_digit == '0' && end - first_digit > 1 && g_ascii_isdigit (first_digit[1])))
    return FALSE;
  point = memchr (first_digit, '.', (gsize) (end - first_digit));

  return point == NULL || (end - point > 1 && g_ascii_isdigit (point[1]));
}

gboolean
apr_serve_json_scan_number (AprJsonCursor *self, double *value)
{
  const char *end;

  apr_json_cursor_skip_space (self);
  end = apr_decimal_parse (self->position, self->end, '.', value);
  if (end == NULL || !is_json_number (self->position, end))
    return FALSE;
  self->position = end;

  return TRUE;
}

gboolean
apr_serve_json_reserve_numbers (double **numbers, gsize *capacity, gsize n, gsize n_more, GError **error)
{
  double *larger = NULL;
  gsize size;

  if (n_more <= *capacity - n)
    return TRUE;

  if (g_size_checked_add (&size, n, n_more) && g_size_checked_mul (&size, MAX (size, MIN_NUMBERS / 2), 2))
    larger = g_try_renew (double, *numbers, size);
  if (larger == NULL)
    {
      g_set_error_literal (error, APR_ERROR, APR_ERROR_NO_MEMORY, "There is no memory for so many numbers");
      return FALSE;
    }
  *numbers = larger;
  *capacity = size;

  return TRUE;
}

gboolean
apr_serve_json_equal (const AprJsonString *self, const char *text)
{
  /* A string of a client may hold a NUL. */
  return strlen (text) == self->length && memcmp (self->text, text, self->length) == 0;
}

static AprServeMember *
find_member (AprServeMember *members, guint n_members, const AprJsonString *key)
{
  guint i;

  for (i = 0; i < n_members; i++)
    if (apr_serve_json_equal (key, members[i].name))
      return &members[i];

  return NULL;
}

static gboolean
scan_member (AprJsonCursor *self, AprServeMember *members, guint n_members, guint depth, GError **error)
{
  AprJsonString key;
  AprServeMember *member;

  if (!apr_json_cursor_scan_string (self, &key, error))
    return FALSE;
  member = find_member (members, n_members, &key);
  if (member != NULL && member->value != NULL)
    return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error, "“%s” is there twice",
                                 member->name);
  if (!apr_json_cursor_take (self, ':'))
    return apr_json_cursor_expected (self, "“:”", error);
  if (member != NULL)
    member->value = self->position;
  if (member != NULL && member->scan != NULL)
    return member->scan (self, member->data, error);

  return apr_json_cursor_skip_value (self, depth + 1, error);
}

gboolean
apr_serve_json_scan_members (
  AprJsonCursor *self, AprServeMember *members, guint n_members, guint depth, GError **error)
{
  guint i;

  for (i = 0; i < n_members; i++)
    members[i].value = NULL;
  if (!apr_json_cursor_take (self, '{'))
    return apr_json_cursor_expected (self, "an object", error);
  if (apr_json_cursor_take (self, '}'))
    return TRUE;
  do
    if (!scan_member (self, members, n_members, depth, error))
      return FALSE;
  while (apr_json_cursor_take (self, ','));
  if (!apr_json_cursor_take (self, '}'))
    return apr_json_cursor_expected (self, "“,” or “}”", error);

  return TRUE;
}

gboolean
apr_serve_json_scan_request (AprJsonCursor *self, AprServeMember *members, guint n_members, GError **error)
{
  gsize bad_byte;

  if (!apr_json_is_utf8 (self->start, (gsize) (self->end - self->start), &bad_byte))
    {
      self->position += bad_byte;
      return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_ENCODING, error, "not UTF-8");
    }
  if (!apr_serve_json_scan_members (self, members, n_members, 0, error))
    return FALSE;
  apr_json_cursor_skip_space (self);
  if (self->position != self->end)
    return apr_json_cursor_expected (self, "the end", error);

  return TRUE;
}

char *
apr_serve_json_scan_text (AprJsonCursor *self, const char *field, GError **error)
{
  AprJsonString string;

  if (!apr_json_cursor_scan_string (self, &string, error))
    {
      g_prefix_error (error, "%s: ", field);
      return NULL;
    }
  if (string.escaped && memchr (string.text, '\0', string.length) != NULL)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME, "%s: a string with a NUL",
                   field);
      return NULL;
    }
  if (string.length > APR_SERVE_MAX_TEXT)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
                   "%s: expected at most %d bytes, got %" G_GSIZE_FORMAT, field, APR_SERVE_MAX_TEXT,
                   string.length);
      return NULL;
    }

  return g_strndup (string.text, string.length);
}

char *
apr_serve_json_describe (const AprJsonCursor *self)
{
  gsize n_left = (gsize) (self->end - self->position);
  gsize length = 0;
  g_autofree char *shown = NULL;

  if (n_left == 0)
    return g_strdup ("the end");
  if (strchr ("\"[{", *self->position) != NULL)
    return g_strdup (apr_json_cursor_describe (self));

  while (length < MIN (n_left, MAX_REPEATED) && strchr (" \t\r\n,:]}", self->position[length]) == NULL)
    length++;
  /* Not half of a character. */
  while (length > 0 && length < n_left && ((guchar) self->position[length] & 0xc0) == 0x80)
    length--;
  shown = apr_json_display (self->position, MAX (length, 1));

  return g_strdup_printf ("“%s”", shown);
}

char *
apr_serve_json_display (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return apr_json_display (valid, strlen (valid));
}

void
apr_serve_json_append_number (GString *json, double value, AprDType dtype)
{
  char buffer[APR_NUMBER_SIZE];
  gsize length = apr_decimal_format (value, dtype == APR_DTYPE_F32, buffer);

  g_string_append_len (json, buffer, (gssize) length);
}

void
apr_serve_json_append_string (GString *json, const char *text)
{
  const char *p;

  g_string_append_c (json, '"');
  for (p = text; *p != '\0'; p++)
    if (*p == '"' || *p == '\\')
      {
        g_string_append_c (json, '\\');
        g_string_append_c (json, *p);
      }
    else if ((guchar) *p < 0x20)
      g_string_append_printf (json, "\\u%04x", (guint) *p);
    else
      g_string_append_c (json, *p);
  g_string_append_c (json, '"');
}
