/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <json-glib/json-glib.h>
#include <string.h>

#include "tool-run.h"

/* A file by hand: the length of the header, the header, and so many zero bytes. */
static GBytes *
make_file (const char *header, gsize n_bytes)
{
  GByteArray *array = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
  g_autofree guint8 *zeros = g_malloc0 (n_bytes + 1);

  g_byte_array_append (array, (const guint8 *) &length, sizeof length);
  g_byte_array_append (array, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (array, zeros, (guint) n_bytes);

  return g_byte_array_free_to_bytes (array);
}

static Run *
inspect (const char *options, const char *header, gsize n_bytes)
{
  g_autoptr (GBytes) bytes = make_file (header, n_bytes);
  g_autofree char *arguments = g_strdup_printf ("inspect - %s", options);

  return tool_run_with (arguments, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL);
}

static const char header[] = "{\"__metadata__\":{\"z\":\"last\",\"format\":\"pt\"},"
                             "\"weights\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                             "\"\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[12,13]},"
                             "\"größe\":{\"dtype\":\"F8_E4M3\",\"shape\":[100],\"data_offsets\":[13,113]},"
                             "\"none\":{\"dtype\":\"F64\",\"shape\":[0,4],\"data_offsets\":[113,113]}}";

static void
test_text (void)
{
  g_autoptr (Run) run = inspect ("", header, 113);

  g_test_summary ("Any SafeTensors file: tensors by name, their total, metadata by key.");

  g_assert_cmpstr (run->messages, ==, "");
  g_assert_cmpstr (run->output, ==,
                   "tensor   dtype    shape   bytes\n"
                   "“”       U8       []          1\n"
                   "größe    F8_E4M3  [100]     100\n"
                   "none     F64      [0, 4]      0\n"
                   "weights  BF16     [2, 3]     12\n"
                   "\n"
                   "4 tensors, 113 bytes in all\n"
                   "\n"
                   "metadata\n"
                   "  format  pt\n"
                   "  z       last\n");
  g_assert_cmpint (run->status, ==, 0);
}

static void
test_long_names (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (GString) text = g_string_new ("{\"__metadata__\":{");
  gsize offset = 0;
  gsize length;
  gsize i;

  g_test_summary ("Two spaces stand behind each name and shape, however long it is.");

  for (length = 59; length <= 64; length++)
    {
      g_string_append_printf (text, "%s\"", length > 59 ? "," : "");
      for (i = 0; i < length; i++)
        g_string_append_c (text, 'k');
      g_string_append (text, "\":\"value\"");
    }
  g_string_append_c (text, '}');
  for (length = 59; length <= 64; length++, offset++)
    {
      g_string_append (text, ",\"");
      for (i = 0; i < length; i++)
        g_string_append_c (text, 'x');
      g_string_append (text, "\":{\"dtype\":\"U8\",\"shape\":[1");
      for (i = 3; i + 3 < length; i += 3)
        g_string_append (text, ",1");
      g_string_append_printf (text, "],\"data_offsets\":[%" G_GSIZE_FORMAT ",%" G_GSIZE_FORMAT "]}", offset,
                              offset + 1);
    }
  g_string_append_c (text, '}');
  run = inspect ("", text->str, offset);

  g_assert_cmpint (run->status, ==, 0);
  for (length = 59; length <= 64; length++)
    {
      g_autofree char *name = g_strnfill (length, 'x');
      g_autofree char *key = g_strnfill (length, 'k');
      g_autofree char *row = g_strdup_printf ("\n%s  %sU8     [1, 1,", name, length == 59 ? " " : "");
      g_autofree char *entry = g_strdup_printf ("\n  %s  %svalue\n", key, length == 59 ? " " : "");

      tool_assert_contains (run->output, row);
      tool_assert_contains (run->output, entry);
    }
  tool_assert_contains (run->output, " 1]  ");
  g_assert_null (strstr (run->output, "] 1\n"));
  g_assert_null (strstr (run->output, "]1\n"));
}

static void
test_empty (void)
{
  g_autoptr (Run) run = inspect ("", "{}", 0);
  g_autoptr (Run) json = inspect ("--json", "{}", 0);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  g_test_summary ("A file may have nothing in it.");

  g_assert_cmpstr (run->output, ==, "tensor  dtype  shape  bytes\n\n0 tensors, 0 bytes in all\n");
  node = json_from_string (json->output, NULL);
  object = json_node_get_object (node);
  g_assert_cmpuint (json_object_get_size (json_object_get_object_member (object, "tensors")), ==, 0);
  g_assert_cmpuint (json_object_get_size (json_object_get_object_member (object, "metadata")), ==, 0);
}

static void
assert_tensor (JsonObject *tensors, const char *name, const char *dtype, gint64 n_bytes, guint n_dims)
{
  JsonObject *tensor = json_object_get_object_member (tensors, name);

  g_assert_cmpuint (json_object_get_size (tensor), ==, 3);
  g_assert_cmpstr (json_object_get_string_member (tensor, "dtype"), ==, dtype);
  g_assert_cmpint (json_object_get_int_member (tensor, "bytes"), ==, n_bytes);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (tensor, "shape")), ==, n_dims);
}

static void
test_json (void)
{
  g_autoptr (Run) run = inspect ("--json", header, 113);
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (GList) names = NULL;
  g_autoptr (GList) keys = NULL;
  JsonObject *object;
  JsonObject *tensors;
  JsonObject *metadata;
  JsonArray *shape;
  GError *error = NULL;

  g_test_summary ("The same for programs, in the same order.");

  g_assert_cmpint (run->status, ==, 0);
  g_assert_true (g_str_has_suffix (run->output, "}\n"));
  node = json_from_string (run->output, &error);
  g_assert_no_error (error);
  object = json_node_get_object (node);
  g_assert_cmpuint (json_object_get_size (object), ==, 2);
  tensors = json_object_get_object_member (object, "tensors");
  metadata = json_object_get_object_member (object, "metadata");

  names = json_object_get_members (tensors);
  g_assert_cmpuint (g_list_length (names), ==, 4);
  g_assert_cmpstr (g_list_nth_data (names, 0), ==, "");
  g_assert_cmpstr (g_list_nth_data (names, 1), ==, "größe");
  g_assert_cmpstr (g_list_nth_data (names, 3), ==, "weights");
  assert_tensor (tensors, "", "U8", 1, 0);
  assert_tensor (tensors, "größe", "F8_E4M3", 100, 1);
  assert_tensor (tensors, "none", "F64", 0, 2);
  assert_tensor (tensors, "weights", "BF16", 12, 2);
  shape = json_object_get_array_member (json_object_get_object_member (tensors, "weights"), "shape");
  g_assert_cmpint (json_array_get_int_element (shape, 0), ==, 2);
  g_assert_cmpint (json_array_get_int_element (shape, 1), ==, 3);

  keys = json_object_get_members (metadata);
  g_assert_cmpstr (g_list_nth_data (keys, 0), ==, "format");
  g_assert_cmpstr (json_object_get_string_member (metadata, "format"), ==, "pt");
  g_assert_cmpstr (json_object_get_string_member (metadata, "z"), ==, "last");
}

/* Every character but those that a terminal only shows. */
static void
assert_harmless (const char *text)
{
  const char *p;

  g_assert_true (g_utf8_validate (text, -1, NULL));
  for (p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      g_assert_true (c == '\n' || !g_unichar_iscntrl (c));
      g_assert_cmpint (g_unichar_type (c), !=, G_UNICODE_FORMAT);
    }
}

static void
test_hostile_names (void)
{
  /* Escape, bell, the one-character CSI of C1, the last of C0, an override of the direction, a tag beyond 16 bits. */
  static const char hostile[] = "{\"__metadata__\":{\"k\\u001b[2J\":\"v\\u0007\\u009b31m\\n\\u001f\"},"
                                "\"t\\u001b]0;x\\u0007\\u202e\\udb40\\udc41\":"
                                "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  g_autoptr (Run) run = inspect ("", hostile, 1);
  g_autoptr (Run) json = inspect ("--json", hostile, 1);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;
  GError *error = NULL;

  g_test_summary (
    "A file from elsewhere must not command the terminal; --json still tells the names exactly.");

  g_assert_cmpint (run->status, ==, 0);
  assert_harmless (run->output);
  tool_assert_contains (run->output, "t\\u001b]0;x\\u0007\\u202e\\udb40\\udc41");
  tool_assert_contains (run->output, "  k\\u001b[2J  v\\u0007\\u009b31m\\u000a\\u001f\n");

  g_assert_cmpint (json->status, ==, 0);
  assert_harmless (json->output);
  node = json_from_string (json->output, &error);
  g_assert_no_error (error);
  object = json_node_get_object (node);
  g_assert_true (json_object_has_member (json_object_get_object_member (object, "tensors"),
                                         "t\x1b]0;x\a\u202e\U000e0041"));
  g_assert_cmpstr (
    json_object_get_string_member (json_object_get_object_member (object, "metadata"), "k\x1b[2J"), ==,
    "v\a\xc2\x9b"
    "31m\n\x1f");
}

static void
test_errors (void)
{
  static const char overlap[] = "{\"a\\u001b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                                "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}";
  static const char large[] =
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[0,18446744073709551615],\"data_offsets\":[0,0]}}";
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) text = NULL;

  g_test_summary ("A file that is none is named; what the message quotes from it is harmless too.");

  tool_assert_fails ("inspect none.safetensors", NULL, 0, "none.safetensors: No such file or directory");
  tool_assert_fails ("inspect .", NULL, 0, ".: Is a directory");
  run = tool_run_with ("inspect -", "abc", 3, NULL);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_true (g_str_has_prefix (run->messages, "aprender: standard input: 3 bytes"));
  g_clear_pointer (&run, tool_run_free);
  run = inspect ("", overlap, 3);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_cmpstr (run->output, ==, "");
  assert_harmless (run->messages);
  g_clear_pointer (&run, tool_run_free);

  text = inspect ("", large, 0);
  g_assert_cmpint (text->status, ==, 0);
  tool_assert_contains (text->output, "[0, 18446744073709551615]");
  run = inspect ("--json", large, 0);
  g_assert_cmpint (run->status, ==, 1);
  tool_assert_contains (run->messages,
                        "“a” has the size 18446744073709551615, which is too large for --json\n");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/inspect/text", test_text);
  g_test_add_func ("/tool/inspect/long-names", test_long_names);
  g_test_add_func ("/tool/inspect/empty", test_empty);
  g_test_add_func ("/tool/inspect/json", test_json);
  g_test_add_func ("/tool/inspect/hostile-names", test_hostile_names);
  g_test_add_func ("/tool/inspect/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
