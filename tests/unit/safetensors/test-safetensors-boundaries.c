/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <string.h>

#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

/*
 * The last case of its kind on either side of each limit: the mutants in tests/mutation/ show which there are.
 */

/* Reads a header of which the text is @text, in memory that ends where the text ends. */
static AprSafetensorsHeader *
parse (const char *text, gsize length, gsize data_size, GError **error)
{
  g_autofree guint8 *file = g_malloc0 (8 + length);
  gsize i;

  for (i = 0; i < 8; i++)
    file[i] = (guint8) ((guint64) length >> (8 * i));
  memcpy (file + 8, text, length);
  /* The data themselves are not looked at. */
  return apr_safetensors_header_parse (file, 8 + length + data_size, APR_SAFETENSORS_MAX_HEADER_SIZE, error);
}

static void
assert_refused (const char *text, int code, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (parse (text, strlen (text), 8, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, code);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” lacks “%s”", error->message, message);
}

static void
test_number_ends_text (void)
{
  g_test_summary ("A header may end anywhere, also within a number that is too large.");

  assert_refused ("{\"a\":{\"shape\":[18446744073709551616", APR_SAFETENSORS_ERROR_OVERFLOW,
                  "shape holds 18446744073709551616, which takes more than 64 bits");
  assert_refused ("{\"a\":{\"shape\":[184467440737095516160", APR_SAFETENSORS_ERROR_OVERFLOW,
                  "184467440737095516160, which");
  assert_refused ("{\"a\":{\"shape\":[18446744073709551615", APR_SAFETENSORS_ERROR_SYNTAX, "the text ends");
  assert_refused ("{\"a\":{\"shape\":[0", APR_SAFETENSORS_ERROR_SYNTAX, "the text ends");
  assert_refused ("{\"a\":{\"shape\":[", APR_SAFETENSORS_ERROR_SYNTAX, "the text ends");
}

static void
test_too_large_for_any_file (void)
{
  static const char byte;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) tensor = NULL;
  gsize n_bytes = G_MAXSIZE / 8;
  guint i;

  g_test_summary (
    "Tensors that no file can hold, over memory that is not there: the file is not even begun.");

  if (GLIB_SIZEOF_SIZE_T < 8)
    return;
  tensor = apr_tensor_new_from_memory (APR_DTYPE_U8, &n_bytes, 1, &byte, n_bytes, NULL, NULL, NULL);
  for (i = 0; i < 4; i++)
    apr_safetensors_writer_add_tensor (writer, (char[]){ (char) ('a' + i), '\0' }, tensor, NULL);
  for (i = 0; i < 2; i++)
    {
      const char *place = i == 0 ? "/no/such/folder/file" : "resource:///file";
      g_autoptr (GFile) file = i == 0 ? g_file_new_for_path (place) : g_file_new_for_uri (place);
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_safetensors_writer_write_to_file (writer, file, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW);
      g_assert_true (g_str_has_prefix (error->message, place));
      g_assert_nonnull (strstr (error->message, "“d” of 2305843009213693951 bytes"));
    }
}

static void
test_metadata_after_space (void)
{
  const char *text = "{ \"__metadata__\" : { \"format\" : \"pt\" , \"k\" :\n\"v\" } }";
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsHeader) header = parse (text, strlen (text), 0, &error);

  g_test_summary ("As Python's json writes it, and with more spaces than that.");

  g_assert_no_error (error);
  g_assert_cmpuint (header->n_pairs, ==, 2);
  g_assert_cmpstr (header->names + header->pairs[0].value, ==, "pt");
  g_assert_cmpstr (header->names + header->pairs[1].key, ==, "k");
  g_assert_cmpstr (header->names + header->pairs[1].value, ==, "v");
  g_assert_null (apr_safetensors_header_find (header, "format"));
  assert_refused ("{\"__metadata__\": 1}", APR_SAFETENSORS_ERROR_METADATA, "“__metadata__” is a number");
  assert_refused ("{\"__metadata__\":{\"k\": 1}}", APR_SAFETENSORS_ERROR_METADATA, "“k” is a number");
  assert_refused ("{\"a\": 1}", APR_SAFETENSORS_ERROR_FIELD, "the entry is 1, not");
  assert_refused ("{\"a\":{\"shape\": \n[ 2.5]}}", APR_SAFETENSORS_ERROR_FIELD, "shape holds 2.5, not");
  assert_refused ("{\"a\":{\"dtype\": null}}", APR_SAFETENSORS_ERROR_FIELD, "dtype is null, not");
}

/* Wraps @n_levels arrays in @before and @after. */
static char *
nest (const char *before, gsize n_levels, const char *after)
{
  g_autofree char *open = g_strnfill (n_levels, '[');
  g_autofree char *close = g_strnfill (n_levels, ']');

  return g_strconcat (before, open, close, after, NULL);
}

static void
test_depth_of_wrong_types (void)
{
  static const struct
  {
    const char *before;
    const char *after;
    gsize n_outside;
    int code;
  } cases[] = {
    { "{\"__metadata__\":", "}", 1, APR_SAFETENSORS_ERROR_METADATA },
    { "{\"__metadata__\":{\"k\":", "}}", 2, APR_SAFETENSORS_ERROR_METADATA },
    { "{\"a\":{\"dtype\":", "}}", 2, APR_SAFETENSORS_ERROR_FIELD },
  };
  guint i;

  g_test_summary ("What is refused for its type is read to its end first, 127 levels in all.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *deep = nest (cases[i].before, 127 - cases[i].n_outside, cases[i].after);
      g_autofree char *deeper = nest (cases[i].before, 128 - cases[i].n_outside, cases[i].after);

      assert_refused (deep, cases[i].code, "an array");
      assert_refused (deeper, APR_SAFETENSORS_ERROR_DEPTH, "127");
    }
}

static void
test_messages_have_the_numbers (void)
{
  assert_refused ("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,2,3,4,5,6,7,8],\"data_offsets\":[0,8]}}",
                  APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "U8 [1, 2, 3, 4, 5, 6, 7, 8] needs 40320");
  assert_refused ("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,2,3,4,5,6,7,8,9],\"data_offsets\":[0,8]}}",
                  APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                  "U8 [1, 2, 3, 4, 5, 6, 7, 8, … (9 dimensions)] needs 362880");
  assert_refused ("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                  "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,8]}}",
                  APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "“b”: 6 bytes at [2, 8), but U8 [2] needs 2");
}

static void
test_hash_is_secret (void)
{
  static const char name[] = "a name that everybody knows";

  g_test_summary ("Each process has a key of its own, so that nobody can make names that collide.");

  if (g_test_subprocess ())
    {
      g_print ("%08x", apr_safetensors_name_hash (name));
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  {
    g_autofree char *own = g_strdup_printf ("*%08x*", apr_safetensors_name_hash (name));

    g_test_trap_assert_stdout_unmatched (own);
  }
  g_assert_cmphex (apr_safetensors_name_hash (name), ==, apr_safetensors_name_hash (name));
  g_assert_cmphex (apr_safetensors_name_hash (name), !=, apr_safetensors_name_hash (name + 1));
}

static void
test_special_byte_anywhere (void)
{
  static const char specials[] = { '"', '\\', '\0', '\x01', '\x1f', ' ', '!', '#', '[', ']', '\x7f' };
  gsize position, length, i;

  g_test_summary ("Strings are read a word at a time: no byte of a word may be taken for another.");

  for (length = 1; length <= 24; length++)
    for (position = 0; position < length; position++)
      for (i = 0; i < G_N_ELEMENTS (specials); i++)
        {
          g_autofree char *plain = g_strnfill (length, 'x');
          g_autofree char *text = g_strdup_printf ("\"%s\"", plain);
          g_autofree char *exact = g_memdup2 (text, length + 2);
          g_autoptr (GError) error = NULL;
          AprJsonCursor cursor;
          AprJsonString string;
          gboolean succeeded;

          exact[1 + position] = specials[i];
          apr_json_cursor_init (&cursor, "text", exact, length + 2);
          succeeded = apr_json_cursor_scan_string (&cursor, &string, &error);
          if (specials[i] == '"')
            {
              g_assert_no_error (error);
              g_assert_cmpuint (string.length, ==, position);
              g_assert_true (cursor.position == exact + position + 2);
            }
          else if (specials[i] == '\\' || (guchar) specials[i] < ' ')
            {
              /* No escape is spelled with an x; and before the last quote it leaves the string open. */
              g_assert_false (succeeded);
              g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
              g_assert_cmpuint ((gsize) (cursor.position - exact), ==,
                                specials[i] == '\\' && position + 1 == length ? length + 2 : position + 1);
            }
          else
            {
              g_assert_no_error (error);
              g_assert_cmpmem (string.text, string.length, exact + 1, length);
              g_assert_false (string.escaped);
            }
          apr_json_cursor_clear (&cursor);
        }
}

static void
test_nul_after_backslash (void)
{
  static const struct
  {
    const char *text;
    gsize length;
    gsize position;
    const char *message;
  } cases[] = {
    { "\"\\\0\"", 4, 1, "no such escape" },
    { "\"\\n\0\"", 5, 3, "control character 0x00" },
  };
  guint i;

  g_test_summary ("A NUL ends no string here, and C's functions must not think so.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *exact = g_memdup2 (cases[i].text, cases[i].length);
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;
      AprJsonString string;

      apr_json_cursor_init (&cursor, "text", exact, cases[i].length);
      g_assert_false (apr_json_cursor_scan_string (&cursor, &string, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
      g_assert_nonnull (strstr (error->message, cases[i].message));
      g_assert_cmpuint ((gsize) (cursor.position - exact), ==, cases[i].position);
      apr_json_cursor_clear (&cursor);
    }
}

static void
test_string_without_end (void)
{
  gsize length;

  for (length = 1; length <= 20; length++)
    {
      g_autofree char *exact = g_strnfill (length, 'x');
      g_autofree char *text = NULL;
      g_autoptr (GError) error = NULL;
      AprJsonCursor cursor;
      AprJsonString string;

      exact[0] = '"';
      text = g_memdup2 (exact, length);
      apr_json_cursor_init (&cursor, "text", text, length);
      g_assert_false (apr_json_cursor_scan_string (&cursor, &string, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
      g_assert_nonnull (strstr (error->message, "a closing quote, but the text ends"));
      g_assert_true (cursor.position == cursor.end);
      apr_json_cursor_clear (&cursor);
    }
}

static void
test_bad_byte_anywhere (void)
{
  gsize length, position, n_bad;

  g_test_summary ("Text is checked a word at a time: a word of bad bytes is as bad as one byte.");

  for (length = 1; length <= 24; length++)
    for (position = 0; position < length; position++)
      for (n_bad = 1; position + n_bad <= length; n_bad++)
        {
          g_autofree char *text = g_strnfill (length, 'x');
          g_autofree char *exact = NULL;
          gsize bad_byte = G_MAXSIZE;

          memset (text + position, '\x80', n_bad);
          exact = g_memdup2 (text, length);
          g_assert_false (apr_json_is_utf8 (exact, length, &bad_byte));
          g_assert_cmpuint (bad_byte, ==, position);
        }
}

static void
test_display_limit (void)
{
  g_autofree char *name = g_strnfill (101, 'n');
  g_autofree char *whole = apr_json_display (name, 100);
  g_autofree char *cut = apr_json_display (name, 101);
  g_autofree char *strange = apr_json_display ("\x01\xef\xbf\xbf\xf0\x9f\xbf\xbf", 8);

  g_assert_cmpuint (strlen (whole), ==, 100);
  g_assert_true (g_str_has_suffix (cut, "nnn… (101 bytes)"));
  g_assert_cmpuint (strlen (cut), ==, 100 + strlen ("… (101 bytes)"));
  g_assert_cmpstr (strange, ==, "\\u0001\\uffff\\U0001ffff");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/boundaries/number-ends-text", test_number_ends_text);
  g_test_add_func ("/safetensors/boundaries/metadata-after-space", test_metadata_after_space);
  g_test_add_func ("/safetensors/boundaries/depth-of-wrong-types", test_depth_of_wrong_types);
  g_test_add_func ("/safetensors/boundaries/messages-have-the-numbers", test_messages_have_the_numbers);
  g_test_add_func ("/safetensors/boundaries/hash-is-secret", test_hash_is_secret);
  g_test_add_func ("/safetensors/boundaries/special-byte-anywhere", test_special_byte_anywhere);
  g_test_add_func ("/safetensors/boundaries/nul-after-backslash", test_nul_after_backslash);
  g_test_add_func ("/safetensors/boundaries/string-without-end", test_string_without_end);
  g_test_add_func ("/safetensors/boundaries/bad-byte-anywhere", test_bad_byte_anywhere);
  g_test_add_func ("/safetensors/boundaries/display-limit", test_display_limit);
  g_test_add_func ("/safetensors/boundaries/too-large-for-any-file", test_too_large_for_any_file);

  return g_test_run ();
}
