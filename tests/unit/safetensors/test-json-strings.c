/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <string.h>

#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-sip-hash-private.h"

static void
test_sip_hash (void)
{
  guint64 key[2];
  guint8 bytes[16];
  guint i;

  g_test_summary (
    "The vector of the paper's appendix A: key 00..0f, message 00..0e, 2 and 4 rounds; and what OpenSSL "
    "makes of whole words.");

  for (i = 0; i < 16; i++)
    bytes[i] = (guint8) i;
  memcpy (key, bytes, 16);
  key[0] = GUINT64_FROM_LE (key[0]);
  key[1] = GUINT64_FROM_LE (key[1]);
  g_assert_cmphex (apr_sip_hash (key, (const char *) bytes, 15, 2, 4), ==,
                   G_GUINT64_CONSTANT (0xa129ca6149be45e5));
  g_assert_cmphex (apr_sip_hash (key, (const char *) bytes, 0, 2, 4), ==,
                   G_GUINT64_CONSTANT (0x726fdb47dd0e0e31));
  g_assert_cmphex (apr_sip_hash (key, (const char *) bytes, 8, 2, 4), ==,
                   G_GUINT64_CONSTANT (0x93f5f5799a932462));
  g_assert_cmphex (apr_sip_hash (key, (const char *) bytes, 16, 2, 4), ==,
                   G_GUINT64_CONSTANT (0x3f2acc7f57c29bdb));
}

static void
test_utf8 (void)
{
  static const struct
  {
    const char *text;
    gsize length;
    gssize bad_byte;
  } cases[] = {
    { "", 0, -1 },
    { "plain and longer than eight bytes", 33, -1 },
    { "a\0b", 3, -1 },
    { "é\0b", 4, -1 },
    { "é", 2, -1 },
    { "12345678é", 10, -1 },
    { "1234567é", 9, -1 },
    { "\xef\xbf\xbf", 3, -1 },
    { "\xf4\x8f\xbf\xbf", 4, -1 },
    { "\xff", 1, 0 },
    { "12345678\xff", 9, 8 },
    { "é\x80", 3, 2 },
    { "\xc3", 1, 0 },
    { "ab\xe2\x82", 4, 2 },
    { "\xc0\x80", 2, 0 },
    { "\xe0\x80\xaf", 3, 0 },
    { "\xed\xa0\x80", 3, 0 },
    { "\xf4\x90\x80\x80", 4, 0 },
    { "\xf8\x88\x80\x80\x80", 5, 0 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_memdup2 (cases[i].text, MAX (cases[i].length, 1));
      gsize bad_byte = 0;

      g_assert_cmpint (apr_json_is_utf8 (text, cases[i].length, &bad_byte), ==, cases[i].bad_byte < 0);
      if (cases[i].bad_byte >= 0)
        g_assert_cmpuint (bad_byte, ==, (gsize) cases[i].bad_byte);
    }
}

static void
test_utf8_everywhere (void)
{
  guint i;

  g_test_summary ("Whatever is passed at once, the place of one byte in it must not matter.");

  for (i = 0; i < 160; i++)
    {
      g_autofree char *text = g_strnfill (160, 'x');
      gsize bad_byte = 0;

      text[i] = '\xff';
      g_assert_false (apr_json_is_utf8 (text, 160, &bad_byte));
      g_assert_cmpuint (bad_byte, ==, i);
      g_assert_true (apr_json_is_utf8 (text, i, &bad_byte));
      memcpy (text + i, i < 159 ? "\xc3\xa9" : "x", i < 159 ? 2 : 1);
      g_assert_true (apr_json_is_utf8 (text, 160, &bad_byte));
      /* Without their highest bit these bytes are nothing. */
      memset (text, 0x80, i + 1);
      g_assert_false (apr_json_is_utf8 (text, i + 1, &bad_byte));
      g_assert_cmpuint (bad_byte, ==, 0);
    }
}

/* Reads the string after the quote that @text begins with, and returns what it means. */
static char *
read_string (const char *text, gsize length, GError **error)
{
  AprJsonCursor cursor;
  AprJsonString string;
  char *copy = NULL;

  apr_json_cursor_init (&cursor, "text", text, length);
  if (apr_json_cursor_scan_string (&cursor, &string, error))
    {
      g_assert_true (cursor.position == cursor.end);
      copy = g_strndup (string.text, string.length);
    }
  apr_json_cursor_clear (&cursor);
  return copy;
}

static void
test_string_everywhere (void)
{
  /* What stands beside a quote, a backslash and the control characters, in ASCII or with the high bit. */
  static const char fillers[] = " !#[]\x7f\x80\xa0\xa2\xdc\xff";
  guint i, j;

  g_test_summary ("Strings are passed several bytes at once: what ends that must be seen at every place.");

  for (j = 0; j < strlen (fillers); j++)
    for (i = 0; i < 160; i++)
      {
        g_autofree char *filler = g_strnfill (i, fillers[j]);
        g_autofree char *plain = g_strdup_printf ("\"%s\"", filler);
        g_autofree char *unclosed = g_memdup2 (plain, i + 1);
        g_autofree char *escaped = g_strdup_printf ("\"%s\\n%s\"", filler, filler);
        g_autofree char *meant = g_strdup_printf ("%s\n%s", filler, filler);
        g_autofree char *control = g_strdup_printf ("\"%s\x1f\"", filler);
        g_autofree char *where = g_strdup_printf ("text byte %u: control character 0x1f", i + 1);
        g_autofree char *one = NULL;
        g_autofree char *other = NULL;
        g_autoptr (GError) error = NULL;

        one = read_string (plain, strlen (plain), &error);
        g_assert_no_error (error);
        g_assert_cmpstr (one, ==, filler);
        other = read_string (escaped, strlen (escaped), &error);
        g_assert_no_error (error);
        g_assert_cmpstr (other, ==, meant);
        g_assert_null (read_string (control, strlen (control), &error));
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
        g_assert_true (g_str_has_prefix (error->message, where));
        g_clear_error (&error);
        g_assert_null (read_string (unclosed, i + 1, &error));
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
      }
}

static void
test_string_of_escapes (void)
{
  static const struct
  {
    const char *escape;
    const char *meant;
  } cases[] = {
    { "\\t", "\t" }, { "\\u0041", "A" }, { "\\u00e9", "é" }, { "\\u20AC", "€" }, { "\\ud83d\\uDE00", "😀" }
  };
  guint i, n;

  g_test_summary (
    "Escapes are decoded several at once, whatever their number and however long they and the last are.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) text = g_string_new ("\"");
      g_autoptr (GString) meant = g_string_new (NULL);

      for (n = 1; n < 140; n++)
        {
          g_autofree char *closed = NULL;
          g_autofree char *expected = NULL;
          g_autofree char *found = NULL;
          g_autoptr (GError) error = NULL;

          g_string_append (text, cases[i].escape);
          g_string_append (meant, cases[i].meant);
          closed = g_strconcat (text->str, "\\ud83d\\ude00\"", NULL);
          expected = g_strconcat (meant->str, "😀", NULL);
          found = read_string (closed, strlen (closed), &error);
          g_assert_no_error (error);
          g_assert_cmpstr (found, ==, expected);
          g_assert_null (read_string (text->str, text->len, &error));
          g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
        }
    }
}

static void
test_hexadecimal_digits (void)
{
  guint first, byte;

  g_test_summary ("All bytes in the place of a digit, after other bits and after none.");

  for (first = 0; first < 2; first++)
    for (byte = 1; byte < 256; byte++)
      {
        char text[] = "\"\\u0000\"";
        g_autofree char *found = NULL;
        g_autoptr (GError) error = NULL;

        text[5] = "0f"[first];
        text[6] = (char) byte;
        found = read_string (text, strlen (text), &error);
        g_assert_cmpint (found != NULL, ==, g_ascii_isxdigit ((char) byte));
        if (found != NULL)
          g_assert_cmphex (g_utf8_get_char (found), ==,
                           0xf0 * first + (guint) g_ascii_xdigit_value ((char) byte));
      }
}

static void
test_string_is_not_copied (void)
{
  const char *text = " \"weights\"";
  AprJsonCursor cursor;
  AprJsonString string;
  g_autoptr (GError) error = NULL;

  apr_json_cursor_init (&cursor, "text", text, strlen (text));
  g_assert_true (apr_json_cursor_scan_string (&cursor, &string, &error));
  g_assert_no_error (error);
  g_assert_true (string.text == text + 2);
  g_assert_cmpuint (string.length, ==, 7);
  g_assert_false (string.escaped);
  g_assert_true (cursor.position == cursor.end);
  g_assert_null (cursor.scratch);
  apr_json_cursor_clear (&cursor);
}

static void
test_string_escapes (void)
{
  static const struct
  {
    const char *text;
    const char *expected;
    gsize length;
  } cases[] = {
    { "\"\"", "", 0 },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8 },
    { "\"\\u0061\"", "a", 1 },
    { "\"\\u00E9\\u00e9\"", "éé", 4 },
    { "\"\\u20ac\"", "€", 3 },
    { "\"\\ud83d\\ude00\"", "😀", 4 },
    { "\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4 },
    { "\"\\ud7ff\\ue000\"", "\xed\x9f\xbf\xee\x80\x80", 6 },
    { "\"\\ud800\\udc00\\udbff\\udc00\"", "\xf0\x90\x80\x80\xf4\x8f\xb0\x80", 8 },
    { "\"\\ud800\\udfff\"", "\xf0\x90\x8f\xbf", 4 },
    { "\"\\uffff\"", "\xef\xbf\xbf", 3 },
    { "\"a\\u0000b\"", "a\0b", 3 },
    { "\"before \\n and after, longer than a word\"", "before \n and after, longer than a word", 38 },
    { "\"\x7f é \xe2\x80\xa8\"", "\x7f é \xe2\x80\xa8", 8 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprJsonCursor cursor;
      AprJsonString string;
      g_autoptr (GError) error = NULL;

      apr_json_cursor_init (&cursor, "text", cases[i].text, strlen (cases[i].text));
      g_assert_true (apr_json_cursor_scan_string (&cursor, &string, &error));
      g_assert_no_error (error);
      g_assert_cmpmem (string.text, string.length, cases[i].expected, cases[i].length);
      g_assert_true (cursor.position == cursor.end);
      apr_json_cursor_clear (&cursor);
    }
}

static const struct
{
  const char *text;
  gsize position;
  const char *message;
} bad_strings[] = {
  { "\"ABCDEFG\x01HIJKLMNOPQRSTUVWXYZ\"", 8, "0x01" },
  { "\"ABCDEFG\x1fHIJKLMNOPQRSTUVWXYZ\"", 8, "0x1f" },
  { "", 0, "a string" },
  { "x", 0, "“x”" },
  { "'a'", 0, "a string" },
  { "\"", 1, "ends" },
  { "\"abc", 4, "ends" },
  { "\"a\\", 3, "ends" },
  { "\"\\q\"", 1, "no such escape" },
  { "\"\\x41\"", 1, "no such escape" },
  { "\"\\'\"", 1, "no such escape" },
  { "\"\\u12\"", 3, "four hexadecimal digits" },
  { "\"\\u12", 3, "four hexadecimal digits" },
  { "\"\\u12g4\"", 3, "four hexadecimal digits" },
  { "\"\\u+123\"", 3, "four hexadecimal digits" },
  { "\"\\ud800\"", 7, "\\ud800 is half" },
  { "\"\\udfff\"", 7, "\\udfff is half" },
  { "\"\\ud800xyzw\"", 7, "half" },
  { "\"\\ud800\\n\"", 7, "half" },
  { "\"\\ud800\\u0041\"", 13, "half" },
  { "\"\\ud800\\ud800\"", 13, "half" },
  { "\"\\ud800\\udbff\"", 13, "half" },
  { "\"\\ud800\\u", 9, "half" },
  { "\"\\u0061", 7, "closing quote" },
  { "\"\\n", 3, "closing quote" },
  { "\"\\ud800\\", 7, "half" },
  { "\"\\ud800\\ue000\"", 13, "half" },
  { "\"\\udc00\\udc00\"", 7, "\\udc00 is half" },
  { "\"\\ud800\\u\"", 9, "half" },
  { "\"a\nb\"", 2, "0x0a" },
  { "\"12345678\x01\"", 9, "0x01" },
  { "\"a\x1f\"", 2, "0x1f" },
};

static void
test_string_refused (void)
{
  guint i, skips;

  g_test_summary ("Read or skipped, a bad string is refused at the same byte.");

  for (i = 0; i < G_N_ELEMENTS (bad_strings); i++)
    for (skips = 0; skips < 2; skips++)
      {
        g_autofree char *position =
          g_strdup_printf ("text byte %" G_GSIZE_FORMAT ": ", bad_strings[i].position);
        g_autoptr (GError) error = NULL;
        AprJsonCursor cursor;
        AprJsonString string;

        if (skips && bad_strings[i].text[0] != '"')
          continue;
        apr_json_cursor_init (&cursor, "text", bad_strings[i].text, strlen (bad_strings[i].text));
        g_assert_false (skips ? apr_json_cursor_skip_value (&cursor, 0, &error)
                              : apr_json_cursor_scan_string (&cursor, &string, &error));
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
        g_assert_true (g_str_has_prefix (error->message, position));
        g_assert_nonnull (strstr (error->message, bad_strings[i].message));
        apr_json_cursor_clear (&cursor);
      }
}

static void
test_display (void)
{
  g_autofree char *plain = apr_json_display ("layer.0/ü €", strlen ("layer.0/ü €"));
  g_autofree char *controls = apr_json_display ("a\0\n\x7f\xe2\x80\xae\xf3\xa0\x80\x81", 11);
  g_autofree char *enormous = g_strnfill (100000, 'n');
  g_autofree char *cut = apr_json_display (enormous, 100000);

  g_assert_cmpstr (plain, ==, "layer.0/ü €");
  g_assert_cmpstr (controls, ==, "a\\u0000\\u000a\\u007f\\u202e\\U000e0001");
  g_assert_cmpuint (strlen (cut), <, 200);
  g_assert_true (g_str_has_prefix (cut, "nnnnn"));
  g_assert_nonnull (strstr (cut, "… (100000 bytes)"));
}

static void
test_string_array (void)
{
  static const struct
  {
    const char *text;
    const char *joined;
  } cases[] = {
    { "[]", "" },
    { " [ ] ", "" },
    { "[\"a\"]", "a|" },
    { "\n[ \"a\" , \"\", \"\\u00e9\\n\" ]\t", "a||é\n|" },
  };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) strings = apr_json_scan_string_array (cases[i].text, strlen (cases[i].text), &error);
      g_autoptr (GString) joined = g_string_new (NULL);

      g_assert_no_error (error);
      g_assert_nonnull (strings);
      for (j = 0; strings[j] != NULL; j++)
        g_string_append_printf (joined, "%s|", strings[j]);
      g_assert_cmpstr (joined->str, ==, cases[i].joined);
    }
}

static void
test_string_array_refused (void)
{
  static const struct
  {
    const char *text;
    gsize length;
    AprSafetensorsError code;
    const char *message;
  } cases[] = {
    { NULL, 0, APR_SAFETENSORS_ERROR_SYNTAX, "byte 0" },
    { "{}", 2, APR_SAFETENSORS_ERROR_SYNTAX, "an array of strings" },
    { "[1]", 3, APR_SAFETENSORS_ERROR_SYNTAX, "byte 1: expected a string, found “1”" },
    { "[\"a\",null]", 10, APR_SAFETENSORS_ERROR_SYNTAX, "byte 5" },
    { "[\"a\",]", 6, APR_SAFETENSORS_ERROR_SYNTAX, "byte 5" },
    { "[[\"a\"]]", 7, APR_SAFETENSORS_ERROR_SYNTAX, "byte 1" },
    { "[\"a\"", 4, APR_SAFETENSORS_ERROR_SYNTAX, "“,” or “]”" },
    { "[\"a\" \"b\"]", 9, APR_SAFETENSORS_ERROR_SYNTAX, "byte 5" },
    { "[] []", 5, APR_SAFETENSORS_ERROR_SYNTAX, "byte 3" },
    { "[]\0", 3, APR_SAFETENSORS_ERROR_SYNTAX, "\\u0000" },
    { "[\"a\\u0000\"]", 11, APR_SAFETENSORS_ERROR_NAME, "NUL" },
    { "[\"a\0\"]", 6, APR_SAFETENSORS_ERROR_SYNTAX, "0x00" },
    { "[\"a\xff\"]", 6, APR_SAFETENSORS_ERROR_ENCODING, "byte 3" },
    { "[\"\\ud800\"]", 10, APR_SAFETENSORS_ERROR_SYNTAX, "half" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_memdup2 (cases[i].text, cases[i].length);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_json_scan_string_array (text, cases[i].length, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, (int) cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s”: %s", cases[i].text, error->message);
    }
}

/* The linker sends the scanner's calls of these functions here, of which all fail from the nth on. */
gpointer __real_g_try_malloc (gsize size);
gpointer __wrap_g_try_malloc (gsize size);
gpointer __real_g_try_realloc (gpointer memory, gsize size);
gpointer __wrap_g_try_realloc (gpointer memory, gsize size);
gpointer __real_g_try_realloc_n (gpointer memory, gsize n, gsize size);
gpointer __wrap_g_try_realloc_n (gpointer memory, gsize n, gsize size);

static guint n_calls;
static guint n_good = G_MAXUINT;

gpointer
__wrap_g_try_malloc (gsize size)
{
  return n_calls++ < n_good ? __real_g_try_malloc (size) : NULL;
}

gpointer
__wrap_g_try_realloc (gpointer memory, gsize size)
{
  return n_calls++ < n_good ? __real_g_try_realloc (memory, size) : NULL;
}

gpointer
__wrap_g_try_realloc_n (gpointer memory, gsize n, gsize size)
{
  return n_calls++ < n_good ? __real_g_try_realloc_n (memory, n, size) : NULL;
}

/* Escapes, and plain text before, between and behind them. */
static void
test_string_without_memory (void)
{
  g_autofree char *plain = g_strnfill (1000, 'a');
  g_autofree char *text = g_strconcat ("\"", plain, "\\n", plain, plain, "\\n", plain, "\"", NULL);
  AprJsonString string;
  gboolean succeeded = FALSE;

  for (n_good = 0; !succeeded; n_good++)
    {
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;

      n_calls = 0;
      apr_json_cursor_init (&cursor, "text", text, strlen (text));
      succeeded = apr_json_cursor_scan_string (&cursor, &string, &error);
      g_assert_cmpuint (n_calls, ==, n_good + !succeeded);
      if (succeeded)
        g_assert_cmpuint (string.length, ==, 4002);
      else
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      apr_json_cursor_clear (&cursor);
    }
  /* So often, and not for each part. */
  g_assert_cmpuint (n_good - 1, ==, 2);
  n_good = G_MAXUINT;
}

static void
test_string_array_without_memory (void)
{
  g_autoptr (GString) text = g_string_new ("[\"\\n\"");
  g_auto (GStrv) strings = NULL;
  guint i;

  for (i = 1; i < 100; i++)
    g_string_append_printf (text, ",\"%u\"", i);
  g_string_append_c (text, ']');
  for (n_good = 0; strings == NULL; n_good++)
    {
      g_autoptr (GError) error = NULL;

      n_calls = 0;
      strings = apr_json_scan_string_array (text->str, text->len, &error);
      if (strings == NULL)
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
    }
  /* For each string, and for longer lists of them. */
  g_assert_cmpuint (n_good - 1, >, 100);
  g_assert_cmpuint (g_strv_length (strings), ==, 100);
  g_assert_cmpstr (strings[0], ==, "\n");
  g_assert_cmpstr (strings[99], ==, "99");
  n_good = G_MAXUINT;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json-scanner/sip-hash", test_sip_hash);
  g_test_add_func ("/json-scanner/utf8", test_utf8);
  g_test_add_func ("/json-scanner/utf8/everywhere", test_utf8_everywhere);
  g_test_add_func ("/json-scanner/string/everywhere", test_string_everywhere);
  g_test_add_func ("/json-scanner/string/of-escapes", test_string_of_escapes);
  g_test_add_func ("/json-scanner/string/hexadecimal-digits", test_hexadecimal_digits);
  g_test_add_func ("/json-scanner/string/is-not-copied", test_string_is_not_copied);
  g_test_add_func ("/json-scanner/string/escapes", test_string_escapes);
  g_test_add_func ("/json-scanner/string/refused", test_string_refused);
  g_test_add_func ("/json-scanner/display", test_display);
  g_test_add_func ("/json-scanner/string-array", test_string_array);
  g_test_add_func ("/json-scanner/string-array/refused", test_string_array_refused);
  g_test_add_func ("/json-scanner/string/without-memory", test_string_without_memory);
  g_test_add_func ("/json-scanner/string-array/without-memory", test_string_array_without_memory);

  return g_test_run ();
}
