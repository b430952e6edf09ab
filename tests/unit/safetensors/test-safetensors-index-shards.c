/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/index-test.h"

#include <sys/stat.h>
#include <unistd.h>

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
    "{\"metadata\":{\"total_size\":1},\"weight_map\":{}}",
    "{\"metadata\":{\"total_size\":18446744073709551615},\"weight_map\":{\"b\":\"" TWO "\"}}",
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

#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/index/not-native", test_not_native);
  ADD ("/safetensors/index/shard-names", test_shard_names);
  ADD ("/safetensors/index/disagreement", test_disagreement);
  ADD ("/safetensors/index/agreement", test_agreement);
  ADD ("/safetensors/index/tensor-in-two-shards", test_tensor_in_two_shards);
  ADD ("/safetensors/index/bad-shards", test_bad_shards);
  ADD ("/safetensors/index/links", test_links);
  ADD ("/safetensors/index/cache", test_cache);
  ADD ("/safetensors/index/read-truncated", test_read_truncated);

  return g_test_run ();
}
