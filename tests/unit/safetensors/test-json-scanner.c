/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <string.h>

#include "aprender/safetensors/apr-json-scanner-private.h"

static void
test_nothing (void)
{
  AprJsonCursor cursor;
  g_autoptr (GError) error = NULL;

  g_test_summary ("Empty bytes may come without an address, from which nothing may be subtracted.");

  apr_json_cursor_init (&cursor, "text", NULL, 0);
  g_assert_nonnull (cursor.position);
  g_assert_false (apr_json_cursor_skip_value (&cursor, 0, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
  g_assert_cmpstr (error->message, ==, "text byte 0: expected a value, but the text ends");
}

static void
test_u64 (void)
{
  static const struct
  {
    const char *text;
    gssize end;
    guint64 value;
  } cases[] = {
    { "0", 1, 0 },
    { "7", 1, 7 },
    { " 42,", 3, 42 },
    { "10]", 2, 10 },
    { "18446744073709551615", 20, G_MAXUINT64 },
    { "9223372036854775808 ", 19, G_GUINT64_CONSTANT (9223372036854775808) },
    { "18446744073709551616", -1, 0 },
    { "18446744073709551620", -1, 0 },
    { "28446744073709551615", -1, 0 },
    { "184467440737095516150", -1, 0 },
    { "00", -1, 0 },
    { "02", -1, 0 },
    { "-0", -1, 0 },
    { "-1", -1, 0 },
    { "+1", -1, 0 },
    { "2.0", -1, 0 },
    { "2e0", -1, 0 },
    { "2E0", -1, 0 },
    { "0.", -1, 0 },
    { "0e1", -1, 0 },
    { ".5", -1, 0 },
    { "\"2\"", -1, 0 },
    { "true", -1, 0 },
    { "x", -1, 0 },
    { "", -1, 0 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprJsonCursor cursor;
      guint64 value = 0;

      apr_json_cursor_init (&cursor, "text", cases[i].text, strlen (cases[i].text));
      g_assert_cmpint (apr_json_cursor_scan_u64 (&cursor, &value), ==, cases[i].end >= 0);
      g_assert_cmpuint (value, ==, cases[i].value);
      g_assert_cmpint (cursor.position - cursor.start, ==, MAX (cases[i].end, 0));
    }
}

static void
test_skip_accepts (void)
{
  static const char *const texts[] = {
    "null",
    "true",
    "false",
    "0",
    "-0",
    "12",
    "-12.5e+3",
    "0.0E-1",
    "1e308",
    "0e999",
    "-0e999",
    "1e-999",
    "0.1e309",
    "0.0000000001e317",
    "1.7976931348623157e308",
    "17976931348623157e292",
    "1350851717672992089e290",
    "18446744073709551615e288",
    "15000000000000000000e289",
    "1797693134862315630e290",
    "99e306",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0e99999999999999999999",
    "1e-99999999999999999999",
    "\"\"",
    "\"a\\u00e9\\n\"",
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[1]",
    "[1,2]",
    "[[],[]]",
    "{\"a\":1}",
    "{\"a\":1,\"a\":2}",
    " \t\r\n[ 1 , { \"a\" : [ ] } ]",
    "{\"\":{\"\":{\"\":[{},[],\"\",null]}}}",
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;

      apr_json_cursor_init (&cursor, "text", texts[i], strlen (texts[i]));
      g_assert_true (apr_json_cursor_skip_value (&cursor, 0, &error));
      g_assert_no_error (error);
      g_assert_true (cursor.position == cursor.end);
    }
}

static void
test_skip_refuses (void)
{
  static const struct
  {
    const char *text;
    gsize position;
    const char *message;
  } cases[] = {
    { "", 0, "expected a value, but the text ends" },
    { "  ", 2, "a value" },
    { "x", 0, "“x”" },
    { "é", 0, "“é”" },
    { "\x01", 0, "\\u0001" },
    { "nul", 0, "a value" },
    { "nulL", 0, "a value" },
    { "True", 0, "a value" },
    { "NaN", 0, "a value" },
    { "Infinity", 0, "a value" },
    { "+1", 0, "a value" },
    { ".5", 0, "a value" },
    { "/* c */ 1", 0, "a value" },
    { "'a'", 0, "a value" },
    { "\f1", 0, "a value" },
    { "\xef\xbb\xbf"
      "1",
      0, "\\ufeff" },
    { "-", 1, "a digit" },
    { "- 1", 1, "a digit" },
    { "-x", 1, "a digit" },
    { "01", 1, "leading zero" },
    { "-012", 2, "leading zero" },
    { "1.", 2, "a digit" },
    { "1.e5", 2, "a digit" },
    { "1e", 2, "a digit" },
    { "1e+", 3, "a digit" },
    { "1e-x", 3, "a digit" },
    { "1e999", 0, "range" },
    { "-1e309", 0, "range" },
    { "1.7976931348623159e308", 0, "range" },
    { "[1e999]", 1, "range" },
    { "20000000000000000000e289", 0, "range" },
    { "17976931348623156300e289", 0, "range" },
    { "1850000000000000000000e287", 0, "range" },
    { "99e307", 0, "range" },
    { "[1/5]", 2, "“,” or “]”" },
    { "1e99999999999999999999", 0, "range" },
    { "[", 1, "a value" },
    { "[1", 2, "“,” or “]”" },
    { "[1,", 3, "a value" },
    { "[1,]", 3, "a value" },
    { "[,1]", 1, "a value" },
    { "[1 2]", 3, "“,” or “]”" },
    { "[1}", 2, "“,” or “]”" },
    { "{", 1, "a string" },
    { "{\"a\"", 4, "“:”" },
    { "{\"a\":", 5, "a value" },
    { "{\"a\":1", 6, "“,” or “}”" },
    { "{\"a\":1,", 7, "a string" },
    { "{\"a\":1,}", 7, "a string" },
    { "{\"a\":1]", 6, "“,” or “}”" },
    { "{\"a\" 1}", 5, "“:”" },
    { "{a:1}", 1, "a string" },
    { "{1:1}", 1, "a string" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *position = g_strdup_printf ("text byte %" G_GSIZE_FORMAT ": ", cases[i].position);
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;

      apr_json_cursor_init (&cursor, "text", cases[i].text, strlen (cases[i].text));
      g_assert_false (apr_json_cursor_skip_value (&cursor, 0, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
      if (!g_str_has_prefix (error->message, position) || strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s”: %s", cases[i].text, error->message);
    }
}

static void
test_long_numbers (void)
{
  g_autofree char *digits = g_strnfill (400, '7');
  g_autofree char *small = g_strdup_printf ("%se-200", digits);
  g_autofree char *fraction = g_strdup_printf ("0.%s", digits);
  g_autofree char *zeros = g_strnfill (400, '0');
  g_autofree char *shifted = g_strdup_printf ("0.%s1e400", zeros);
  const struct
  {
    const char *text;
    gboolean accepted;
  } cases[] = { { digits, FALSE }, { small, TRUE }, { fraction, TRUE }, { shifted, TRUE } };
  guint i;

  g_test_summary ("The reference takes 400 digits with e-200, and refuses 400 plain ones.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprJsonCursor cursor;

      apr_json_cursor_init (&cursor, "text", cases[i].text, strlen (cases[i].text));
      g_assert_cmpint (apr_json_cursor_skip_value (&cursor, 0, NULL), ==, cases[i].accepted);
    }
}

static char *
nest (guint n_levels, gboolean objects)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < n_levels; i++)
    g_string_append (text, objects && i % 2 == 1 ? "{\"a\":" : "[");
  g_string_append (text, "1");
  for (i = n_levels; i > 0; i--)
    g_string_append (text, objects && i % 2 == 0 ? "}" : "]");
  return g_string_free (text, FALSE);
}

static void
test_digits_everywhere (void)
{
  /* What stands beside the digits, and what has the lower half of one. */
  static const char others[] = "/:;?@ 09 \x10\x29\xb0\xb9\xff,";
  guint i, j;

  g_test_summary (
    "Digits are passed several at once: what is none must be seen at every place, alone or with its like.");

  for (j = 0; j < 2 * strlen (others); j++)
    for (i = 1; i < 60; i++)
      {
        char other = others[j / 2];
        g_autofree char *text = g_strnfill (i + 20, '9');
        AprJsonCursor cursor;
        g_autoptr (GError) error = NULL;

        memset (text + i, other, j % 2 == 0 ? 1 : 20);
        apr_json_cursor_init (&cursor, "text", text, i + 20);
        g_assert_true (apr_json_cursor_skip_value (&cursor, 0, &error));
        g_assert_no_error (error);
        g_assert_cmpint (cursor.position - text, ==, g_ascii_isdigit (other) ? i + 20 : i);
        apr_json_cursor_clear (&cursor);
      }
}

static void
test_depth (void)
{
  guint objects;

  g_test_summary ("127 levels in all, of arrays and objects alike, as serde_json.");

  for (objects = 0; objects < 2; objects++)
    {
      g_autofree char *allowed = nest (127, objects);
      g_autofree char *inner = nest (125, objects);
      g_autofree char *refused = nest (128, objects);
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;

      apr_json_cursor_init (&cursor, "text", allowed, strlen (allowed));
      g_assert_true (apr_json_cursor_skip_value (&cursor, 0, &error));
      g_assert_no_error (error);
      apr_json_cursor_init (&cursor, "text", inner, strlen (inner));
      g_assert_true (apr_json_cursor_skip_value (&cursor, 2, &error));
      g_assert_no_error (error);
      apr_json_cursor_init (&cursor, "text", inner, strlen (inner));
      g_assert_false (apr_json_cursor_skip_value (&cursor, 3, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DEPTH);
      g_clear_error (&error);
      apr_json_cursor_init (&cursor, "text", refused, strlen (refused));
      g_assert_false (apr_json_cursor_skip_value (&cursor, 0, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DEPTH);
      g_assert_nonnull (strstr (error->message, "127"));
    }
}

static void
test_truncated_everywhere (void)
{
  const char *text = "{\"a\":[1,-2.5e3,true,null,\"x\\u00e9\\ud83d\\ude00\"],\"b\":{\"c\":{}}}";
  gsize length = strlen (text);
  gsize i;

  for (i = 0; i < length; i++)
    {
      g_autofree char *part = g_memdup2 (text, MAX (i, 1));
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;

      apr_json_cursor_init (&cursor, "text", part, i);
      g_assert_false (apr_json_cursor_skip_value (&cursor, 0, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
    }
}

static void
test_hostile_sizes (void)
{
  gsize length = 4000000;
  g_autofree char *brackets = g_strnfill (length, '[');
  g_autofree char *escapes = g_malloc (length);
  g_autoptr (GError) error = NULL;
  AprJsonCursor cursor;
  AprJsonString string;
  gsize i;

  g_test_summary ("Neither the stack nor the time may grow beyond the text's size.");

  apr_json_cursor_init (&cursor, "text", brackets, length);
  g_assert_false (apr_json_cursor_skip_value (&cursor, 0, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DEPTH);

  for (i = 0; i < length; i += 2)
    memcpy (escapes + i, "\\n", 2);
  escapes[0] = '"';
  escapes[1] = ' ';
  escapes[length - 2] = ' ';
  escapes[length - 1] = '"';
  apr_json_cursor_init (&cursor, "text", escapes, length);
  g_assert_true (apr_json_cursor_scan_string (&cursor, &string, NULL));
  g_assert_cmpuint (string.length, ==, length / 2);
  apr_json_cursor_clear (&cursor);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json-scanner/nothing", test_nothing);
  g_test_add_func ("/json-scanner/u64", test_u64);
  g_test_add_func ("/json-scanner/skip/accepts", test_skip_accepts);
  g_test_add_func ("/json-scanner/skip/refuses", test_skip_refuses);
  g_test_add_func ("/json-scanner/skip/long-numbers", test_long_numbers);
  g_test_add_func ("/json-scanner/skip/digits-everywhere", test_digits_everywhere);
  g_test_add_func ("/json-scanner/skip/depth", test_depth);
  g_test_add_func ("/json-scanner/skip/truncated-everywhere", test_truncated_everywhere);
  g_test_add_func ("/json-scanner/skip/hostile-sizes", test_hostile_sizes);

  return g_test_run ();
}
