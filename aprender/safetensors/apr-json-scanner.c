/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-json-scanner-private.h"

#include <string.h>

#include "aprender/base/apr-strings-private.h"

#define REPEATED(byte) (G_GUINT64_CONSTANT (0x0101010101010101) * (byte))
#define HIGH_BITS REPEATED (0x80)

/* The block size that compilers vectorise well, and the shortest text for which that pays off, in words */
#define BLOCK_SIZE 64
#define N_WORDS_BEFORE_BLOCKS 8

/* The size of the buffer in which escapes are decoded */
#define PORTION_SIZE 64

/* Longer strings are truncated in messages. */
#define MAX_DISPLAYED_CHARS 100

void
apr_json_cursor_init (AprJsonCursor *self, const char *where, const char *text, gsize length)
{
  self->start = length > 0 ? text : "";
  self->position = self->start;
  self->end = self->start + length;
  self->where = where;
  self->scratch = NULL;
}

void
apr_json_cursor_clear (AprJsonCursor *self)
{
  if (self->scratch != NULL)
    g_string_free (self->scratch, TRUE);
  self->scratch = NULL;
}

gboolean
apr_json_cursor_fail (AprJsonCursor *self, AprSafetensorsError code, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_SAFETENSORS_ERROR, (int) code, "%s byte %" G_GSIZE_FORMAT ": %s", self->where,
               (gsize) (self->position - self->start), message);
  return FALSE;
}

gboolean
apr_json_cursor_expected (AprJsonCursor *self, const char *what, GError **error)
{
  g_autofree char *found = NULL;
  gsize left;

  left = (gsize) (self->end - self->position);
  if (left == 0)
    return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error, "expected %s, but the text ends",
                                 what);
  found = apr_json_display (self->position, (gsize) g_utf8_skip[(guchar) *self->position]);
  return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error, "expected %s, found “%s”", what,
                               found);
}

/*
 * apr_json_display:
 * @text: valid UTF-8
 * @length: its length in bytes
 *
 * Makes a string fit for a message: escapes what cannot be printed, and truncates long strings.
 *
 * Returns: (transfer full): the printable text
 */
char *
apr_json_display (const char *text, gsize length)
{
  GString *display = g_string_new (NULL);
  const char *end = text + length;
  const char *p;
  guint n_chars = 0;

  for (p = text; p < end; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (n_chars++ == MAX_DISPLAYED_CHARS)
        {
          g_string_append_printf (display, "… (%" G_GSIZE_FORMAT " bytes)", length);
          break;
        }
      if (!g_unichar_isprint (c))
        g_string_append_printf (display, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
      else
        g_string_append_unichar (display, c);
    }
  return g_string_free (display, FALSE);
}

/* Whether all bytes of a block are ASCII */
static inline gboolean
is_ascii_block (const char *block)
{
  guchar all = 0;
  guint i;

  for (i = 0; i < BLOCK_SIZE; i++)
    all |= (guchar) block[i];
  return (all & 0x80) == 0;
}

/*
 * apr_json_is_utf8:
 * @text: the bytes, possibly with NULs
 * @length: how many
 * @bad_byte: (out): the offset of the first invalid sequence, on failure
 *
 * Returns: whether the bytes are valid UTF-8
 */
gboolean
apr_json_is_utf8 (const char *text, gsize length, gsize *bad_byte)
{
  const char *p = text;
  const char *end = text + length;

  while (p < end)
    {
      guint64 word;

      while (end - p >= BLOCK_SIZE && is_ascii_block (p))
        p += BLOCK_SIZE;
      while (end - p >= 8 && (memcpy (&word, p, 8), (word & HIGH_BITS) == 0))
        p += 8;
      while (p < end && ((guchar) *p & 0x80) == 0)
        p++;
      while (p < end && ((guchar) *p & 0x80) != 0)
        {
          gunichar c = g_utf8_get_char_validated (p, end - p);

          if (c == (gunichar) -1 || c == (gunichar) -2)
            {
              *bad_byte = (gsize) (p - text);
              return FALSE;
            }
          p = g_utf8_next_char (p);
        }
    }
  return TRUE;
}

/* Whether a block has no quote, backslash or control character */
static inline gboolean
is_plain_block (const char *block)
{
  guchar any = 0;
  guint i;

  for (i = 0; i < BLOCK_SIZE; i++)
    any |= (guchar) ((block[i] == '"') | (block[i] == '\\') | ((guchar) block[i] < 0x20));
  return any == 0;
}

/* Finds the end of a string's plain part: a quote, a backslash, a control character or the end of the text. */
static const char *
skip_plain (const char *p, const char *end)
{
  guint n_words = 0;

  while (end - p >= 8)
    {
      guint64 word, quote, backslash, found;

      memcpy (&word, p, 8);
      word = GUINT64_FROM_LE (word);
      quote = word ^ REPEATED ('"');
      backslash = word ^ REPEATED ('\\');
      found = (((quote - REPEATED (1)) & ~quote) | ((backslash - REPEATED (1)) & ~backslash) |
               ((word - REPEATED (0x20)) & ~word)) &
              HIGH_BITS;
      /* The first marked byte is right: only a byte that is marked itself can make a borrow mark the next one. */
      if (found != 0)
        return p + __builtin_ctzll (found) / 8;
      p += 8;
      if (++n_words == N_WORDS_BEFORE_BLOCKS)
        while (end - p >= BLOCK_SIZE && is_plain_block (p))
          p += BLOCK_SIZE;
    }
  while (p < end && *p != '"' && *p != '\\' && (guchar) *p >= 0x20)
    p++;
  return p;
}

/* The value of a hexadecimal digit, or more than 15 if it is none */
static inline guint
hex_value (char character)
{
  guint digit = (guint) (guchar) character - '0';
  guint letter = ((guint) (guchar) character | 0x20) - 'a';

  if (digit <= 9)
    return digit;
  return letter <= 5 ? letter + 10 : 16;
}

/* Reads the four digits after \u, or returns -1. */
static int
scan_hex (AprJsonCursor *self)
{
  guint value = 0;
  guint all = 0;
  guint i;

  if (self->end - self->position < 4)
    return -1;
  for (i = 0; i < 4; i++)
    {
      guint digit = hex_value (self->position[i]);

      all |= digit;
      value = value << 4 | digit;
    }
  if (all > 15)
    return -1;
  self->position += 4;
  return (int) value;
}

/* Decodes \uXXXX or a surrogate pair of them. The cursor is after the first u. */
static gboolean
scan_unicode_escape (AprJsonCursor *self, gunichar *c, GError **error)
{
  int first, second;

  first = scan_hex (self);
  if (first < 0)
    return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error,
                                 "\\u needs four hexadecimal digits");
  *c = (gunichar) first;
  if (first < 0xd800 || first > 0xdfff)
    return TRUE;
  if (first < 0xdc00 && self->end - self->position >= 2 && self->position[0] == '\\' &&
      self->position[1] == 'u')
    {
      self->position += 2;
      second = scan_hex (self);
      if (second >= 0xdc00 && second <= 0xdfff)
        {
          *c = 0x10000 + (((gunichar) first - 0xd800) << 10) + ((gunichar) second - 0xdc00);
          return TRUE;
        }
    }
  return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error,
                               "\\u%04x is half of a surrogate pair", (guint) first);
}

/* Decodes one escape. The cursor is at the backslash. */
static gboolean
scan_escape (AprJsonCursor *self, gunichar *c, GError **error)
{
  static const char escapes[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  const char *escape;

  if (self->end - self->position < 2)
    {
      self->position = self->end;
      return apr_json_cursor_expected (self, "an escape", error);
    }
  if (self->position[1] == 'u')
    {
      self->position += 2;
      return scan_unicode_escape (self, c, error);
    }
  escape = self->position[1] == '\0' ? NULL : strchr (escapes, self->position[1]);
  if (escape == NULL)
    return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error, "JSON has no such escape");
  self->position += 2;
  *c = (gunichar) meanings[escape - escapes];
  return TRUE;
}

/* Appends to @unescaped unless it is NULL. */
static gboolean
append (GString *unescaped, const char *text, gsize length, GError **error)
{
  if (unescaped == NULL)
    return TRUE;
  if (!apr_string_reserve (unescaped, length, error))
    return FALSE;
  g_string_append_len (unescaped, text, (gssize) length);
  return TRUE;
}

/* Decodes consecutive escapes, as many as fit the buffer, and appends the result to @unescaped unless it is NULL. */
static gboolean
scan_escapes (AprJsonCursor *self, GString *unescaped, GError **error)
{
  char portion[PORTION_SIZE];
  gsize size = 0;

  do
    {
      gunichar c = 0;

      if (!scan_escape (self, &c, error))
        return FALSE;
      size += (gsize) g_unichar_to_utf8 (c, portion + size);
    }
  while (size <= PORTION_SIZE - 4 && self->position < self->end && *self->position == '\\');
  return append (unescaped, portion, size, error);
}

/* Reads a string up to its closing quote, and appends it to @unescaped unless that is NULL. */
static gboolean
scan_string_tail (AprJsonCursor *self, GString *unescaped, GError **error)
{
  for (;;)
    {
      const char *plain = self->position;

      self->position = skip_plain (plain, self->end);
      if (!append (unescaped, plain, (gsize) (self->position - plain), error))
        return FALSE;
      if (self->position == self->end)
        return apr_json_cursor_expected (self, "a closing quote", error);
      if (*self->position == '"')
        return TRUE;
      if (*self->position != '\\')
        return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error,
                                     "control character 0x%02x in a string",
                                     (guint) (guchar) *self->position);
      if (!scan_escapes (self, unescaped, error))
        return FALSE;
    }
}

/* Skips an opening quote. A function of its own, so that the error path does not slow down the caller. */
static gboolean
take_quote (AprJsonCursor *self, GError **error)
{
  if (!apr_json_cursor_take (self, '"'))
    return apr_json_cursor_expected (self, "a string", error);
  return TRUE;
}

gboolean
apr_json_cursor_scan_string (AprJsonCursor *self, AprJsonString *string, GError **error)
{
  const char *text;

  if (!take_quote (self, error))
    return FALSE;
  text = self->position;
  self->position = skip_plain (text, self->end);
  if (self->position < self->end && *self->position == '"')
    {
      string->text = text;
      string->length = (gsize) (self->position - text);
      string->escaped = FALSE;
    }
  else
    {
      if (self->scratch == NULL)
        self->scratch = g_string_new (NULL);
      g_string_truncate (self->scratch, 0);
      if (!append (self->scratch, text, (gsize) (self->position - text), error) ||
          !scan_string_tail (self, self->scratch, error))
        return FALSE;
      string->text = self->scratch->str;
      string->length = self->scratch->len;
      string->escaped = TRUE;
    }
  self->position++;
  return TRUE;
}

static gboolean
skip_string (AprJsonCursor *self, GError **error)
{
  if (!take_quote (self, error) || !scan_string_tail (self, NULL, error))
    return FALSE;
  self->position++;
  return TRUE;
}

/*
 * Whether significand * 10^exponent overflows a double. At the edge it multiplies just as serde_json does.
 */
static gboolean
is_out_of_range (guint64 significand, gint64 exponent)
{
  char power[G_ASCII_DTOSTR_BUF_SIZE];
  gint64 magnitude = exponent;
  guint64 rest;

  if (significand == 0)
    return FALSE;
  for (rest = significand / 10; rest > 0; rest /= 10)
    magnitude++;
  if (magnitude != 308)
    return magnitude > 308;
  g_snprintf (power, sizeof power, "1e%d", (int) exponent);
  return (double) significand * g_ascii_strtod (power, NULL) > G_MAXDOUBLE;
}

static gboolean
at_digit (const AprJsonCursor *self)
{
  return self->position < self->end && g_ascii_isdigit (*self->position);
}

static gboolean
at (const AprJsonCursor *self, char c)
{
  return self->position < self->end && *self->position == c;
}

/* The end of a run of digits */
static const char *
find_no_digit (const char *p, const char *end)
{
  guint64 word;

  /* The high nibble of a digit is 3, and stays 3 when 6 is added. */
  while (end - p >= 8 &&
         (memcpy (&word, p, 8),
          ((word & REPEATED (0xf0)) | ((word + REPEATED (6)) & REPEATED (0xf0)) >> 4) == REPEATED (0x33)))
    p += 8;
  while (p < end && g_ascii_isdigit (*p))
    p++;
  return p;
}

/* Reads digits into the number. Digits that do not fit in 64 bits only increase the exponent. */
static void
skip_digits (AprJsonCursor *self, gboolean is_fraction, guint64 *significand, gint64 *exponent)
{
  const char *full;

  for (; at_digit (self); self->position++)
    {
      guint digit = (guint) (*self->position - '0');

      if (*significand > (G_MAXUINT64 - digit) / 10)
        break;
      *significand = *significand * 10 + digit;
      *exponent -= is_fraction;
    }
  full = self->position;
  self->position = find_no_digit (full, self->end);
  if (!is_fraction)
    *exponent += self->position - full;
}

static gboolean
skip_number (AprJsonCursor *self, GError **error)
{
  const char *start = self->position;
  guint64 significand = 0;
  gint64 exponent = 0;

  if (*self->position == '-')
    self->position++;
  if (!at_digit (self))
    return apr_json_cursor_expected (self, "a digit", error);
  if (*self->position == '0')
    self->position++;
  else
    skip_digits (self, FALSE, &significand, &exponent);
  if (at_digit (self))
    return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error, "a number with a leading zero");
  if (at (self, '.'))
    {
      self->position++;
      if (!at_digit (self))
        return apr_json_cursor_expected (self, "a digit", error);
      skip_digits (self, TRUE, &significand, &exponent);
    }
  if (at (self, 'e') || at (self, 'E'))
    {
      gboolean is_negative;
      gint64 written = 0;

      self->position++;
      is_negative = at (self, '-');
      if (is_negative || at (self, '+'))
        self->position++;
      if (!at_digit (self))
        return apr_json_cursor_expected (self, "a digit", error);
      for (; at_digit (self); self->position++)
        if (written < G_GINT64_CONSTANT (1000000000000000))
          written = written * 10 + (*self->position - '0');
      exponent += is_negative ? -written : written;
    }
  if (is_out_of_range (significand, exponent))
    {
      self->position = start;
      return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_SYNTAX, error,
                                   "a number beyond a double's range");
    }
  return TRUE;
}

static gboolean
skip_word (AprJsonCursor *self, const char *word, GError **error)
{
  gsize length = strlen (word);

  if ((gsize) (self->end - self->position) < length || memcmp (self->position, word, length) != 0)
    return apr_json_cursor_expected (self, "a value", error);
  self->position += length;
  return TRUE;
}

static gboolean
skip_key (AprJsonCursor *self, GError **error)
{
  if (!skip_string (self, error))
    return FALSE;
  if (!apr_json_cursor_take (self, ':'))
    return apr_json_cursor_expected (self, "“:”", error);
  return TRUE;
}

static gboolean
skip_scalar (AprJsonCursor *self, GError **error)
{
  char c;

  if (self->position == self->end)
    return apr_json_cursor_expected (self, "a value", error);
  c = *self->position;
  if (c == '"')
    return skip_string (self, error);
  if (c == '-' || g_ascii_isdigit (c))
    return skip_number (self, error);
  return skip_word (self, c == 't' ? "true" : c == 'f' ? "false" : "null", error);
}

gboolean
apr_json_cursor_skip_value (AprJsonCursor *self, guint depth, GError **error)
{
  gboolean is_object[APR_JSON_MAX_DEPTH];
  guint outside = depth;

  for (;;)
    {
      gboolean opens;

      apr_json_cursor_skip_space (self);
      opens = at (self, '[') || at (self, '{');
      if (opens && depth >= APR_JSON_MAX_DEPTH)
        return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_DEPTH, error,
                                     "nested deeper than the %d levels that are allowed", APR_JSON_MAX_DEPTH);
      if (opens)
        {
          is_object[depth] = *self->position++ == '{';
          if (!apr_json_cursor_take (self, is_object[depth] ? '}' : ']'))
            {
              if (is_object[depth++] && !skip_key (self, error))
                return FALSE;
              continue;
            }
        }
      else if (!skip_scalar (self, error))
        return FALSE;

      /* A value has ended, and perhaps also the arrays and objects around it. */
      while (depth > outside && apr_json_cursor_take (self, is_object[depth - 1] ? '}' : ']'))
        depth--;
      if (depth == outside)
        return TRUE;
      if (!apr_json_cursor_take (self, ','))
        return apr_json_cursor_expected (self, is_object[depth - 1] ? "“,” or “}”" : "“,” or “]”", error);
      if (is_object[depth - 1] && !skip_key (self, error))
        return FALSE;
    }
}

const char *
apr_json_cursor_describe (const AprJsonCursor *self)
{
  switch (self->position < self->end ? *self->position : '\0')
    {
    case '"':
      return "a string";
    case '[':
      return "an array";
    case '{':
      return "an object";
    case 't':
    case 'f':
      return "a truth value";
    case 'n':
      return "null";
    default:
      return "a number";
    }
}

typedef struct
{
  char **strings; /* NULL-terminated */
  gsize n;
  gsize max; /* including the NULL */
} Strings;

static gboolean
add_string (Strings *self, const AprJsonString *string, GError **error)
{
  gboolean full = self->n + 1 == self->max;
  /* They are fewer than the bytes of the text, so that this cannot overflow. */
  char **strings = full ? g_try_renew (char *, self->strings, 2 * self->max) : self->strings;
  char *copy = strings != NULL ? g_try_malloc (string->length + 1) : NULL;

  if (strings != NULL)
    *self = (Strings){ strings, self->n, full ? 2 * self->max : self->max };
  if (copy == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "There is no memory for more than %" G_GSIZE_FORMAT " strings", self->n);
      return FALSE;
    }
  memcpy (copy, string->text, string->length);
  copy[string->length] = '\0';
  strings[self->n++] = copy;
  strings[self->n] = NULL;
  return TRUE;
}

static gboolean
scan_strings (AprJsonCursor *self, Strings *strings, GError **error)
{
  if (!apr_json_cursor_take (self, '['))
    return apr_json_cursor_expected (self, "an array of strings", error);
  if (apr_json_cursor_take (self, ']'))
    return TRUE;
  do
    {
      AprJsonString string;

      if (!apr_json_cursor_scan_string (self, &string, error))
        return FALSE;
      if (string.escaped && memchr (string.text, '\0', string.length) != NULL)
        return apr_json_cursor_fail (self, APR_SAFETENSORS_ERROR_NAME, error, "a string with a NUL");
      if (!add_string (strings, &string, error))
        return FALSE;
    }
  while (apr_json_cursor_take (self, ','));
  if (!apr_json_cursor_take (self, ']'))
    return apr_json_cursor_expected (self, "“,” or “]”", error);
  return TRUE;
}

/*
 * apr_json_scan_string_array:
 * @text: (array length=length): an unchecked JSON text
 * @length: its length in bytes
 * @error: return location for an error
 *
 * Parses an array of strings, such as the names of a model's features.
 *
 * Fails with %APR_SAFETENSORS_ERROR_ENCODING if the text is not UTF-8, with %APR_SAFETENSORS_ERROR_NAME if a string
 * contains a NUL, with %APR_SAFETENSORS_ERROR_SYNTAX if the text is not one array of strings, and with
 * %APR_ERROR_NO_MEMORY if there is no memory for them.
 *
 * Returns: (transfer full) (array zero-terminated=1): the strings, unescaped
 */
char **
apr_json_scan_string_array (const char *text, gsize length, GError **error)
{
  Strings strings = { g_new0 (char *, 16), 0, 16 };
  AprJsonCursor cursor;
  gsize bad_byte;
  gboolean succeeded;

  apr_json_cursor_init (&cursor, "JSON", text, length);
  succeeded = apr_json_is_utf8 (cursor.start, length, &bad_byte);
  if (!succeeded)
    {
      cursor.position += bad_byte;
      apr_json_cursor_fail (&cursor, APR_SAFETENSORS_ERROR_ENCODING, error, "not UTF-8");
    }
  else if ((succeeded = scan_strings (&cursor, &strings, error)))
    {
      apr_json_cursor_skip_space (&cursor);
      if (cursor.position != cursor.end)
        succeeded = apr_json_cursor_expected (&cursor, "the end", error);
    }
  apr_json_cursor_clear (&cursor);
  if (!succeeded)
    g_clear_pointer (&strings.strings, g_strfreev);
  return strings.strings;
}
