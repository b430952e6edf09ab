/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/index-test.h"

#include "aprender/safetensors/apr-safetensors-index-private.h"

/* No code of an error. */
#define NOTHING -1

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
  ADD ("/safetensors/index/bad-text", test_bad_text);
  ADD ("/safetensors/index/cancelled", test_cancelled);

  return g_test_run ();
}
