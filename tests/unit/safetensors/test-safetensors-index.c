/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/safetensors-test.h"

#include "aprender/safetensors/apr-safetensors-index-private.h"

#include <sys/stat.h>
#include <unistd.h>

#define INDEX "model.safetensors.index.json"
#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"

/* No code of an error. */
#define NOTHING -1

static const char good_index[] = "{\"metadata\":{\"total_size\":9,\"made_by\":{\"x\":[1,null]}},\"else\":[],"
                                 "\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\",\"a\":\"" ONE "\"}}";

static void
write_text (Folder *folder, const char *name, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  g_free (folder_write (folder, name, bytes));
}

static void
write_shard (Folder *folder, const char *name, const char *header, const char *data)
{
  g_autoptr (GBytes) bytes = make_file (header, data, strlen (data));

  g_free (folder_write (folder, name, bytes));
}

static void
write_shards (Folder *folder)
{
  write_shard (folder, ONE,
               "{\"__metadata__\":{\"format\":\"pt\",\"part\":\"1\",\"first\":\"only\"},"
               "\"w\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]},"
               "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]}}",
               "wxyzabc");
  write_shard (folder, TWO,
               "{\"__metadata__\":{\"part\":\"2\",\"format\":\"pt\"},"
               "\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
               "BC");
}

static AprSafetensorsReader *
open_index (Folder *folder, AprSafetensorsLoadMode load_mode, GError **error)
{
  g_autofree char *path = g_build_filename (folder->folder, INDEX, NULL);

  return reader_open (path, load_mode, error);
}

static void
assert_opens (Folder *folder)
{
  guint mode;

  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = open_index (folder, (AprSafetensorsLoadMode) mode, &error);

      g_assert_no_error (error);
      g_assert_nonnull (reader);
    }
}

/* Fails in both load modes, and the message begins with the index's path and has all of these. */
static void
assert_refused (Folder *folder, GQuark domain, int code, const char *message)
{
  guint mode;

  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (open_index (folder, (AprSafetensorsLoadMode) mode, &error));
      g_assert_error (error, domain, code);
      assert_message_has (error, message);
      g_assert_true (g_str_has_prefix (error->message, folder->folder));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}

static void
assert_model (AprSafetensorsReader *reader)
{
  static const char *const names[] = { "a", "b", "w", NULL };
  static const char *const in_file_order[] = { "w", "a", "b", NULL };
  static const char *const keys[] = { "first", "format", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) a = apr_safetensors_reader_get_tensor (reader, "a", &error);
  g_autoptr (AprTensor) b = apr_safetensors_reader_get_tensor (reader, "b", &error);
  g_autoptr (AprTensor) slice = apr_safetensors_reader_get_slice (reader, "w", "::-1, 0", &error);
  gsize n_dims;

  g_assert_no_error (error);
  assert_bytes (a, "abc");
  assert_bytes (b, "BC");
  assert_bytes (slice, "yw");
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_names (reader), names));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_names_in_file_order (reader), in_file_order));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_metadata_keys (reader), keys));
  g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, "b", &error), ==, APR_DTYPE_I8);
  g_assert_cmpuint (apr_safetensors_reader_get_shape (reader, "w", &n_dims, &error)[1], ==, 2);
  g_assert_cmpuint (apr_safetensors_reader_get_size (reader, "w", &error), ==, 4);
  g_assert_cmpuint (apr_safetensors_reader_get_offset (reader, "a", &error) -
                      apr_safetensors_reader_get_offset (reader, "w", &error),
                    ==, 4);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "w"));
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "x"));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "x", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
  assert_message_has (error, "“x” among the 3");
}

static void
test_open (Folder *folder, gconstpointer unused)
{
  guint mode;

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = open_index (folder, (AprSafetensorsLoadMode) mode, &error);

      g_assert_no_error (error);
      assert_model (reader);
    }
}

static void
test_no_shards (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (folder->folder, INDEX, NULL);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "An index without tensors is one, and is not opened again, though it has no shards either.");

  write_text (folder, INDEX, "{\"weight_map\":{}}");
  reader = open_index (folder, APR_SAFETENSORS_LOAD_MODE_MAP, &error);
  g_assert_no_error (error);
  g_assert_no_errno (g_unlink (path));
  g_assert_true (g_initable_init (G_INITABLE (reader), NULL, &error));
  g_assert_no_error (error);
  g_assert_null (apr_safetensors_reader_get_names (reader)[0]);
}

static void
test_second_try (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (folder->folder, INDEX, NULL);
  g_autofree char *two = g_build_filename (folder->folder, TWO, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AprSafetensorsReader) reader = g_object_new (APR_TYPE_SAFETENSORS_READER, "file", file, NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("When the second shard is missing, nothing of the first one stays.");

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  g_assert_no_errno (g_unlink (two));
  g_assert_false (g_initable_init (G_INITABLE (reader), NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "a"));
  write_shards (folder);
  g_assert_true (g_initable_init (G_INITABLE (reader), NULL, &error));
  g_assert_no_error (error);
  assert_model (reader);
}

static void
test_missing (Folder *folder, gconstpointer unused)
{
  assert_refused (folder, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, INDEX ": No such file or directory");
}

static void
test_some_metadata (Folder *folder, gconstpointer unused)
{
  static const char *const keys[] = { "format", "part", NULL };
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A shard without metadata contradicts none.");

  write_shards (folder);
  write_shard (folder, ONE,
               "{\"w\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]},"
               "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]}}",
               "wxyzabc");
  write_text (folder, INDEX, good_index);
  reader = open_index (folder, APR_SAFETENSORS_LOAD_MODE_MAP, &error);
  g_assert_no_error (error);
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_metadata_keys (reader), keys));
  g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "part"), ==, "2");
}

static void
test_relative_path (Folder *folder, gconstpointer unused)
{
  g_autofree char *before = g_get_current_dir ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  g_assert_no_errno (g_chdir (folder->folder));
  reader = apr_safetensors_reader_new_from_path (INDEX, &error);
  g_assert_no_errno (g_chdir (before));
  g_assert_no_error (error);
  assert_model (reader);
}

/* The same from where there are no paths. */
static void
test_not_native (Folder *folder, gconstpointer unused)
{
  static const char list[] = "<gresources><gresource prefix='/test'><file>" INDEX "</file><file>" ONE
                             "</file><file>" TWO "</file></gresource></gresources>";
  g_autofree char *program = g_find_program_in_path ("glib-compile-resources");
  g_autofree char *xml = g_build_filename (folder->folder, "list.xml", NULL);
  g_autofree char *bundle = g_build_filename (folder->folder, "bundle", NULL);
  g_autofree char *target = g_strdup_printf ("--target=%s", bundle);
  g_autofree char *source = g_strdup_printf ("--sourcedir=%s", folder->folder);
  g_autoptr (GFile) index = g_file_new_for_uri ("resource:///test/" INDEX);
  g_autoptr (GFile) one = g_file_new_for_uri ("resource:///test/" ONE);
  char *arguments[] = { program, target, source, xml, NULL };
  GResource *resource;
  g_autoptr (GError) error = NULL;
  guint mode;

  if (program == NULL)
    {
      g_test_skip ("glib-compile-resources is not installed: apt-get install libglib2.0-dev-bin");
      return;
    }
  write_shards (folder);
  write_text (folder, INDEX, good_index);
  write_text (folder, "list.xml", list);
  g_assert_true (g_spawn_sync (NULL, arguments, NULL, 0, NULL, NULL, NULL, NULL, NULL, &error));
  resource = g_resource_load (bundle, &error);
  g_assert_no_error (error);
  g_resources_register (resource);
  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (AprSafetensorsReader) reader =
        g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", index, "load-mode", mode, NULL);
      g_autoptr (AprSafetensorsReader) single = NULL;
      g_autoptr (AprTensor) tensor = NULL;

      g_assert_no_error (error);
      assert_model (reader);
      single =
        g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", one, "load-mode", mode, NULL);
      g_assert_no_error (error);
      tensor = apr_safetensors_reader_get_tensor (single, "a", &error);
      assert_bytes (tensor, "abc");
      g_assert_null (g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", index, "load-mode",
                                     mode, "max-header-size", (guint64) 100, NULL));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
      g_clear_error (&error);
    }
  g_resources_unregister (resource);
  g_resource_unref (resource);
}

static void
test_shard_names (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    const char *name; /* as JSON */
    const char *message;
  } cases[] = {
    { "", "“” cannot be the name of a shard: it is empty" },
    { ".", "“.” cannot be the name of a shard: it is a folder" },
    { "..", "“..” cannot be the name of a shard: it is a folder" },
    { "../model.safetensors", "“../model.safetensors”" },
    { "/etc/passwd", "“/etc/passwd” cannot be the name of a shard: it holds a slash" },
    { "sub/model.safetensors", "slash" },
    { "\\/etc", "slash" },
    { "\\u002e\\u002e\\u002fx", "“../x”" },
    { "..\\\\x", "slash" },
    { "file:///etc/passwd", "colon" },
    { "http:x", "colon" },
    { "C:x", "colon" },
    { "%2e%2e%2fx", "percent" },
    { "a%00", "percent" },
    { "a\\u0000b", "NUL" },
    { "\\u0000", "NUL" },
    { "a\\nb", "control" },
    { "a\\u007f", "control" },
  };
  guint i;

  write_shards (folder);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"weight_map\":{\"a\":\"%s\"}}", cases[i].name);

      write_text (folder, INDEX, text);
      assert_refused (folder, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME, cases[i].message);
    }
}

static void
test_good_shard_names (void)
{
  static const struct
  {
    const char *name; /* as JSON */
    const char *expected;
  } cases[] = {
    { "...", "..." },   { ".x", ".x" },
    { "a..b", "a..b" }, { "-", "-" },
    { "~", "~" },       { "é", "é" },
    { "\\u0061", "a" }, { "model 1 (copy).safetensors", "model 1 (copy).safetensors" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"weight_map\":{\"a\":\"%s\"}}", cases[i].name);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsIndex) index = apr_safetensors_index_parse (text, strlen (text), &error);

      g_assert_no_error (error);
      g_assert_cmpuint (index->files->len, ==, 1);
      g_assert_cmpstr (index->files->pdata[0], ==, cases[i].expected);
    }
}

static void
test_bad_text (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    const char *text;
    int code;
    const char *message;
  } cases[] = {
    { "", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "[]", APR_SAFETENSORS_ERROR_SYNTAX, "an object" },
    { "{}", APR_SAFETENSORS_ERROR_INDEX, "no “weight_map”" },
    { "{\"weight_map\":{}} x", APR_SAFETENSORS_ERROR_SYNTAX, "after the index" },
    { "{\"weight_map\":{}}{}", APR_SAFETENSORS_ERROR_SYNTAX, "after the index" },
    { "{\"weight_map\":{},}", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "{\"weight_map\":{", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "{\"weight_map\":[]}", APR_SAFETENSORS_ERROR_INDEX, "“weight_map” is an array, not an object" },
    { "{\"weight_map\":null}", APR_SAFETENSORS_ERROR_INDEX, "“weight_map” is null" },
    { "{\"weight_map\":{\"a\":1}}", APR_SAFETENSORS_ERROR_INDEX, "“a” is a number, not the name of a shard" },
    { "{\"weight_map\":{\"a\":[\"x\"]}}", APR_SAFETENSORS_ERROR_INDEX, "“a” is an array" },
    { "{\"weight_map\":{\"a\":}}", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "{\"weight_map\":{\"a\":\"x\",\"\\u0061\":\"x\"}}", APR_SAFETENSORS_ERROR_DUPLICATE, "“a” twice" },
    { "{\"weight_map\":{\"a\\u0000b\":\"x\"}}", APR_SAFETENSORS_ERROR_NAME, "NUL" },
    { "{\"weight_map\":{},\"weight_map\":{}}", APR_SAFETENSORS_ERROR_DUPLICATE,
      "“weight_map” is there twice" },
    { "{\"metadata\":{},\"metadata\":{}}", APR_SAFETENSORS_ERROR_DUPLICATE, "“metadata” is there twice" },
    { "{\"metadata\":7}", APR_SAFETENSORS_ERROR_INDEX, "“metadata” is a number" },
    { "{\"metadata\":{\"total_size\":1,\"total_size\":1}}", APR_SAFETENSORS_ERROR_DUPLICATE, "“total_size”" },
    { "{\"metadata\":{\"total_size\":-1}}", APR_SAFETENSORS_ERROR_INDEX,
      "“total_size” is a number, not a whole" },
    { "{\"metadata\":{\"total_size\":\"9\"}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size” is a string" },
    { "{\"metadata\":{\"total_size\":9.5}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9.01}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9.0e0}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9.0E0}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9.00e0}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9e0}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9E0}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size”" },
    { "{\"metadata\":{\"total_size\":9.}}", APR_SAFETENSORS_ERROR_SYNTAX, "a digit, found “}”" },
    { "{\"metadata\":{\"total_size\": \n[9]}}", APR_SAFETENSORS_ERROR_INDEX, "“total_size” is an array" },
    { "{\"metadata\" : \t[]}", APR_SAFETENSORS_ERROR_INDEX, "“metadata” is an array" },
    { "{\"weight_map\":{\"a\": {}}}", APR_SAFETENSORS_ERROR_INDEX, "“a” is an object" },
    { "{\"metadata\":{\"total_size\":.0}}", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "{\"metadata\":{\"total_size\":9.", APR_SAFETENSORS_ERROR_SYNTAX, "a digit, but the text ends" },
    { "{\"metadata\":{\"total_size\":9.0", APR_SAFETENSORS_ERROR_SYNTAX, "but the text ends" },
    { "{\"metadata\":{\"total_size\":9.5", APR_SAFETENSORS_ERROR_INDEX, "“total_size” is a number" },
    { "{\"metadata\":{\"total_size\":99999999999999999999", APR_SAFETENSORS_ERROR_INDEX, "64 bits" },
    { "{\"metadata\":{\"total_size\":18446744073709551616}}", APR_SAFETENSORS_ERROR_INDEX, "64 bits" },
    { "{\"metadata\":{\"total_size\":18446744073709551616.0}}", APR_SAFETENSORS_ERROR_INDEX, "64 bits" },
    { "{\"weight_map\":{\"\xff\":\"x\"}}", APR_SAFETENSORS_ERROR_ENCODING, "0xff is not UTF-8" },
    { "{\"weight_map\":{'a':'x'}}", APR_SAFETENSORS_ERROR_SYNTAX, "" },
    { "// c\n{\"weight_map\":{}}", APR_SAFETENSORS_ERROR_SYNTAX, "" },
  };
  g_autoptr (GString) deep = g_string_new ("{\"x\":");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      write_text (folder, INDEX, cases[i].text);
      assert_refused (folder, APR_SAFETENSORS_ERROR, cases[i].code, cases[i].message);
    }
  for (i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  write_text (folder, INDEX, deep->str);
  assert_refused (folder, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DEPTH, "127");
}

static void
test_cut_anywhere (void)
{
  static const char *const texts[] = { good_index, "{\"metadata\":{\"total_size\":9.00},\"weight_map\":{}}" };
  gsize i, j;

  g_test_summary ("No beginning of a good text is good, and none crashes.");

  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    for (j = 0; j < strlen (texts[i]); j++)
      {
        /* Of just this size, so that a sanitizer sees the first byte too far. */
        g_autofree char *part = g_memdup2 (texts[i], j);
        g_autoptr (GError) error = NULL;

        g_assert_null (apr_safetensors_index_parse (part, j, &error));
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
      }
}

static void
test_mutations (void)
{
  gsize length = strlen (good_index);
  guint round;

  g_test_summary ("Random bytes in a good text: an index or an error, never a crash.");

  for (round = 0; round < 20000; round++)
    {
      g_autofree char *text = g_memdup2 (good_index, length);
      g_autoptr (AprSafetensorsIndex) index = NULL;
      g_autoptr (GError) error = NULL;
      guint i;

      for (i = 0; i < 1 + round % 3; i++)
        text[g_test_rand_int_range (0, (int) length)] =
          "{}[]\",:\\u0.9\xff\0x"[g_test_rand_int_range (0, 16)];
      index = apr_safetensors_index_parse (text, length, &error);
      g_assert_true ((index == NULL) == (error != NULL));
      for (i = 0; index != NULL && i < index->files->len; i++)
        g_assert_null (strpbrk (index->files->pdata[i], "/\\:%"));
    }
}

static void
test_depth (void)
{
  static const struct
  {
    const char *before, *after;
    guint n_levels; /* around the value */
    int code;       /* when it is not too deep */
  } places[] = {
    { "{\"weight_map\":{},\"x\":", "}", 1, NOTHING },
    { "{\"weight_map\":{},\"metadata\":{\"x\":", "}}", 2, NOTHING },
    { "{\"weight_map\":", "}", 1, APR_SAFETENSORS_ERROR_INDEX },
    { "{\"weight_map\":{\"x\":", "}}", 2, APR_SAFETENSORS_ERROR_INDEX },
    { "{\"metadata\":{\"total_size\":", "}}", 2, APR_SAFETENSORS_ERROR_INDEX },
  };
  guint i, n;

  g_test_summary ("127 levels may be open at once, the outermost included, wherever they are.");

  for (i = 0; i < G_N_ELEMENTS (places); i++)
    for (n = 127 - places[i].n_levels; n <= 128 - places[i].n_levels; n++)
      {
        g_autofree char *opening = g_strnfill (n, '[');
        g_autofree char *closing = g_strnfill (n, ']');
        g_autofree char *text = g_strconcat (places[i].before, opening, closing, places[i].after, NULL);
        int code = n + places[i].n_levels > 127 ? APR_SAFETENSORS_ERROR_DEPTH : places[i].code;
        g_autoptr (GError) error = NULL;
        g_autoptr (AprSafetensorsIndex) index = apr_safetensors_index_parse (text, strlen (text), &error);

        g_assert_cmpint (index != NULL, ==, code == NOTHING);
        if (code == NOTHING)
          g_assert_no_error (error);
        else
          g_assert_error (error, APR_SAFETENSORS_ERROR, code);
      }
}

static void
test_disagreement (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    const char *text;
    int code;
    const char *message;
  } cases[] = {
    { "{\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\"}}", APR_SAFETENSORS_ERROR_INDEX,
      "shard “" ONE "”: tensor “a” is in the shard, but not in the index" },
    { "{\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\",\"a\":\"" ONE "\",\"c\":\"" ONE "\"}}",
      APR_SAFETENSORS_ERROR_INDEX, "shard “" ONE "”: tensor “c” is in the index, but not in the shard" },
    { "{\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\",\"a\":\"" TWO "\"}}", APR_SAFETENSORS_ERROR_INDEX,
      "shard “" ONE "”: tensor “a” is in the shard “" TWO "” by the index" },
    { "{\"weight_map\":{\"w\":\"" ONE "\",\"a\":\"" ONE "\",\"__metadata__\":\"" ONE "\"}}",
      APR_SAFETENSORS_ERROR_INDEX, "“__metadata__” is in the index, but not in the shard" },
    { "{\"metadata\":{\"total_size\":8},\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\",\"a\":\"" ONE
      "\"}}",
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "“total_size” is 8, but the tensors have 9 bytes" },
    { "{\"metadata\":{\"total_size\":1},\"weight_map\":{}}", APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
      "have 0 bytes" },
  };
  guint i;

  write_shards (folder);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      write_text (folder, INDEX, cases[i].text);
      assert_refused (folder, APR_SAFETENSORS_ERROR, cases[i].code, cases[i].message);
    }
}

static void
test_agreement (Folder *folder, gconstpointer unused)
{
  static const char *const texts[] = {
    "{\"weight_map\":{}}",
    "{\"metadata\":{\"total_size\":0},\"weight_map\":{}}",
    "{\"metadata\":{},\"weight_map\":{\"b\":\"" TWO "\"}}",
    "{\"metadata\":{\"total_time\":\"9\",\"total_size\":2},\"weight_map\":{\"b\":\"" TWO "\"}}",
    "{\"metadatA\":9,\"weight_maP\":9,\"weight_map\":{\"b\":\"" TWO "\"}}",
    " {\"metadata\" : {\"total_size\" : 2.0 } , \"weight_map\" : {\"b\" : \"" TWO "\"} } \n",
    "{\"metadata\":{\"total_size\":2.000},\"weight_map\":{\"b\":\"" TWO "\"}}",
  };
  guint i;

  write_shards (folder);
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      write_text (folder, INDEX, texts[i]);
      assert_opens (folder);
    }
}

static void
test_tensor_in_two_shards (Folder *folder, gconstpointer unused)
{
  write_shard (folder, ONE, "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "a");
  write_shard (folder, TWO,
               "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
               "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
               "ab");
  write_text (folder, INDEX, "{\"weight_map\":{\"a\":\"" ONE "\",\"b\":\"" TWO "\"}}");
  assert_refused (folder, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE,
                  "shard “" TWO "”: tensor “a” is in the shard “" ONE "” too");
}

static void
test_bad_shards (Folder *folder, gconstpointer unused)
{
  g_autofree char *two = g_build_filename (folder->folder, TWO, NULL);

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  write_shard (folder, TWO, "{\"b\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,2]}}", "BC");
  assert_refused (folder, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                  "shard “" TWO "”: tensor “b”");
  g_assert_no_errno (g_unlink (two));
  assert_refused (folder, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "shard “" TWO "”: No such file");
  g_assert_no_errno (g_mkdir (two, 0700));
  assert_refused (folder, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "shard “" TWO "”");
  g_assert_no_errno (g_rmdir (two));
  g_assert_no_errno (mkfifo (two, 0600));
  assert_refused (folder, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "shard “" TWO "”");
}

static void
test_links (Folder *folder, gconstpointer unused)
{
  Folder inside = { g_build_filename (folder->folder, "inside", NULL) };
  g_autofree char *deeper = g_build_filename (inside.folder, "deeper", NULL);
  g_autofree char *two = g_build_filename (inside.folder, TWO, NULL);
  g_autofree char *moved = g_build_filename (deeper, "moved", NULL);
  g_autofree char *outside = g_build_filename (folder->folder, "outside", NULL);
  g_autofree char *beside = g_build_filename (folder->folder, "inside-not", NULL);

  g_test_summary ("A link within the folder is followed, one that leads out of it is not.");

  g_assert_no_errno (g_mkdir (inside.folder, 0700));
  g_assert_no_errno (g_mkdir (deeper, 0700));
  g_assert_no_errno (g_mkdir (beside, 0700));
  write_shards (&inside);
  write_text (&inside, INDEX, good_index);
  g_assert_no_errno (g_rename (two, moved));
  g_assert_no_errno (symlink ("deeper/moved", two));
  assert_opens (&inside);
  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink (moved, two));
  assert_opens (&inside);

  g_assert_no_errno (g_rename (moved, outside));
  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink ("../outside", two));
  assert_refused (&inside, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME, outside);

  /* By way of another link, and by way of a folder whose name only begins like the folder's. */
  g_assert_no_errno (symlink ("../../outside", moved));
  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink ("deeper/moved", two));
  assert_refused (&inside, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME, outside);
  g_assert_no_errno (g_unlink (two));
  g_free (g_steal_pointer (&moved));
  moved = g_build_filename (beside, "moved", NULL);
  g_assert_no_errno (g_rename (outside, moved));
  g_assert_no_errno (symlink ("../inside-not/moved", two));
  assert_refused (&inside, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME, moved);

  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink ("nowhere", two));
  assert_refused (&inside, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "shard “" TWO "”");
  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink (TWO, two));
  assert_refused (&inside, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS, "shard “" TWO "”");
  g_free (inside.folder);
}

static void
test_cache (Folder *folder, gconstpointer unused)
{
  static const char *const names[] = { INDEX, ONE, TWO };
  Folder blobs = { g_build_filename (folder->folder, "blobs", NULL) };
  Folder snapshot = { g_build_filename (folder->folder, "snapshot", NULL) };
  g_autofree char *index = g_build_filename (snapshot.folder, INDEX, NULL);
  g_autofree char *one = g_build_filename (snapshot.folder, ONE, NULL);
  g_autofree char *two = g_build_filename (snapshot.folder, TWO, NULL);
  g_autofree char *real = g_build_filename (snapshot.folder, "real", NULL);
  guint i;

  g_test_summary ("A cache of downloads is a folder of links to a folder of files, the index among them.");

  g_assert_no_errno (g_mkdir (blobs.folder, 0700));
  g_assert_no_errno (g_mkdir (snapshot.folder, 0700));
  write_shards (&blobs);
  write_text (&blobs, INDEX, good_index);
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *from = g_build_filename (snapshot.folder, names[i], NULL);
      g_autofree char *to = g_build_filename ("..", "blobs", names[i], NULL);

      g_assert_no_errno (symlink (to, from));
    }
  assert_opens (&snapshot);
  /* A link within the snapshot is as good. */
  g_assert_no_errno (g_unlink (one));
  g_assert_no_errno (g_unlink (two));
  write_shards (&snapshot);
  g_assert_no_errno (g_rename (two, real));
  g_assert_no_errno (symlink ("real", two));
  assert_opens (&snapshot);

  g_assert_no_errno (g_unlink (index));
  write_text (&snapshot, INDEX, good_index);
  g_assert_no_errno (g_unlink (two));
  g_assert_no_errno (symlink ("../blobs/" TWO, two));
  assert_refused (&snapshot, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME, "symbolic link");
  g_free (blobs.folder);
  g_free (snapshot.folder);
}

static void
test_limits (void)
{
  guint n;

  for (n = APR_SAFETENSORS_MAX_SHARDS; n <= APR_SAFETENSORS_MAX_SHARDS + 1; n++)
    {
      g_autoptr (GString) text = g_string_new ("{\"weight_map\":{");
      g_autoptr (AprSafetensorsIndex) index = NULL;
      g_autoptr (GError) error = NULL;
      guint i;

      for (i = 0; i < n; i++)
        g_string_append_printf (text, "%s\"%u\":\"s%u\"", i > 0 ? "," : "", i, i);
      g_string_append (text, "}}");
      index = apr_safetensors_index_parse (text->str, text->len, &error);
      if (n == APR_SAFETENSORS_MAX_SHARDS)
        g_assert_cmpuint (index->files->len, ==, n);
      else
        {
          g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_INDEX);
          assert_message_has (error, "10000 shards");
        }
    }
}

static void
test_many_names (void)
{
  g_autoptr (GString) text = g_string_new ("{\"weight_map\":{");
  g_autoptr (AprSafetensorsIndex) index = NULL;
  g_autoptr (GError) error = NULL;
  guint i, bit;

  g_test_summary ("65536 names of which all have one g_str_hash: with that, this would take half a minute.");

  for (i = 0; i < 65536; i++)
    {
      g_string_append (text, i > 0 ? ",\"" : "\"");
      for (bit = 0; bit < 16; bit++)
        g_string_append (text, (i >> bit & 1) != 0 ? "aa" : "b@");
      g_string_append (text, "\":\"s\"");
    }
  g_string_append (text, "}}");
  index = apr_safetensors_index_parse (text->str, text->len, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (index->owners), ==, 65536);
}

static void
test_cancelled (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (folder->folder, INDEX, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  g_cancellable_cancel (cancellable);
  g_assert_null (apr_safetensors_reader_new_from_file (file, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_read_truncated (Folder *folder, gconstpointer unused)
{
  g_autofree char *two = g_build_filename (folder->folder, TWO, NULL);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GError) error = NULL;

  write_shards (folder);
  write_text (folder, INDEX, good_index);
  reader = open_index (folder, APR_SAFETENSORS_LOAD_MODE_READ, &error);
  g_assert_no_error (error);
  g_assert_no_errno (truncate (two, 20));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "b", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  assert_message_has (error, TWO ": tensor “b”");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/index/cut-anywhere", test_cut_anywhere);
  g_test_add_func ("/safetensors/index/mutations", test_mutations);
  g_test_add_func ("/safetensors/index/good-shard-names", test_good_shard_names);
  g_test_add_func ("/safetensors/index/depth", test_depth);
  g_test_add_func ("/safetensors/index/limits", test_limits);
  g_test_add_func ("/safetensors/index/many-names", test_many_names);
#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/index/open", test_open);
  ADD ("/safetensors/index/no-shards", test_no_shards);
  ADD ("/safetensors/index/second-try", test_second_try);
  ADD ("/safetensors/index/missing", test_missing);
  ADD ("/safetensors/index/some-metadata", test_some_metadata);
  ADD ("/safetensors/index/relative-path", test_relative_path);
  ADD ("/safetensors/index/not-native", test_not_native);
  ADD ("/safetensors/index/shard-names", test_shard_names);
  ADD ("/safetensors/index/bad-text", test_bad_text);
  ADD ("/safetensors/index/disagreement", test_disagreement);
  ADD ("/safetensors/index/agreement", test_agreement);
  ADD ("/safetensors/index/tensor-in-two-shards", test_tensor_in_two_shards);
  ADD ("/safetensors/index/bad-shards", test_bad_shards);
  ADD ("/safetensors/index/links", test_links);
  ADD ("/safetensors/index/cache", test_cache);
  ADD ("/safetensors/index/cancelled", test_cancelled);
  ADD ("/safetensors/index/read-truncated", test_read_truncated);

  return g_test_run ();
}
