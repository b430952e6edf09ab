/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/folder.h"

#include <sys/resource.h>
#include <unistd.h>

typedef struct
{
  char *path;
  GFile *folder;
  AprSafetensorsWriter *writer;
  GCancellable *cancellable;
  goffset progress;
  goffset total;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->path = make_folder ();
  fixture->folder = g_file_new_for_path (fixture->path);
  fixture->writer = apr_safetensors_writer_new ();
  apr_safetensors_writer_set_durable (fixture->writer, FALSE);
  fixture->cancellable = g_cancellable_new ();
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_folder (Fixture *fixture)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (fixture->path, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (folder)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_tree (fixture->path);
  g_assert_finalize_object (fixture->writer);
  g_object_unref (fixture->folder);
  g_object_unref (fixture->cancellable);
  g_free (fixture->path);
}

/* Fails unless the folder has just these files, of which the names are sorted. */
static void
assert_files (Fixture *fixture, const char *name, ...)
{
  g_autoptr (GPtrArray) names = list_folder (fixture);
  va_list args;
  guint i;

  va_start (args, name);
  for (i = 0; name != NULL; i++, name = va_arg (args, const char *))
    {
      g_assert_cmpuint (i, <, names->len);
      g_assert_cmpstr (g_ptr_array_index (names, i), ==, name);
    }
  va_end (args);
  g_assert_cmpuint (i, ==, names->len);
}

static void
add (Fixture *fixture, const char *name, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_strnfill (size, *name), size);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, &size, 1, bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, name, tensor, &error));
  g_assert_no_error (error);
}

static void
write_shards (Fixture *fixture, guint64 max_shard_size)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, "model",
                                                      max_shard_size, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_file (Fixture *fixture, const char *name, const char *expected)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);
  g_autofree char *contents = NULL;

  g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
  g_assert_cmpstr (contents, ==, expected);
}

static void
set_file (Fixture *fixture, const char *name, const char *contents)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);

  g_assert_true (g_file_set_contents (path, contents, -1, NULL));
}

/* Fails unless the shard has these tensors, in this order, and each is whole. */
static void
assert_shard (Fixture *fixture, const char *file, const char *expected)
{
  g_autofree char *path = g_build_filename (fixture->path, file, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, &error);
  const char *const *names;
  g_autofree char *joined = NULL;
  guint i;

  g_assert_no_error (error);
  names = apr_safetensors_reader_get_names (reader);
  joined = g_strjoinv (" ", (char **) names);
  g_assert_cmpstr (joined, ==, expected);
  for (i = 0; names[i] != NULL; i++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, names[i], &error);
      const char *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
      gsize size = apr_tensor_get_n_elements (tensor);
      g_autofree char *filled = g_strnfill (size, *names[i]);

      g_assert_cmpmem (data, size, filled, size);
    }
}

static void
test_greedy (Fixture *fixture, gconstpointer data)
{
  g_test_summary (
    "What huggingface_hub 2.4.0 makes of the same sizes, in the same order, with the same limit.");

  add (fixture, "a", 4);
  add (fixture, "b", 6);
  add (fixture, "c", 11);
  add (fixture, "d", 1);
  add (fixture, "e", 9);
  add (fixture, "f", 0);
  add (fixture, "g", 2);
  write_shards (fixture, 10);
  /* a and b fill one to the brim; c is too large for any, and comes first; d and e fill the next, with f,
   * which takes nothing; g is left over. */
  assert_files (fixture, "model-00001-of-00004.safetensors", "model-00002-of-00004.safetensors",
                "model-00003-of-00004.safetensors", "model-00004-of-00004.safetensors",
                "model.safetensors.index.json", NULL);
  assert_shard (fixture, "model-00001-of-00004.safetensors", "c");
  assert_shard (fixture, "model-00002-of-00004.safetensors", "a b");
  assert_shard (fixture, "model-00003-of-00004.safetensors", "d e f");
  assert_shard (fixture, "model-00004-of-00004.safetensors", "g");
  assert_file (fixture, "model.safetensors.index.json",
               "{\n"
               "  \"metadata\": {\n"
               "    \"total_size\": 33\n"
               "  },\n"
               "  \"weight_map\": {\n"
               "    \"a\": \"model-00002-of-00004.safetensors\",\n"
               "    \"b\": \"model-00002-of-00004.safetensors\",\n"
               "    \"c\": \"model-00001-of-00004.safetensors\",\n"
               "    \"d\": \"model-00003-of-00004.safetensors\",\n"
               "    \"e\": \"model-00003-of-00004.safetensors\",\n"
               "    \"f\": \"model-00003-of-00004.safetensors\",\n"
               "    \"g\": \"model-00004-of-00004.safetensors\"\n"
               "  }\n"
               "}\n");
}

static void
test_full_to_the_brim (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("As huggingface_hub: what is just as large as a shard may be does not overtake others.");

  add (fixture, "a", 4);
  add (fixture, "b", 10);
  add (fixture, "c", 1);
  write_shards (fixture, 10);
  assert_shard (fixture, "model-00001-of-00003.safetensors", "a");
  assert_shard (fixture, "model-00002-of-00003.safetensors", "b");
  assert_shard (fixture, "model-00003-of-00003.safetensors", "c");
}

static void
test_index_is_sorted_ascii (Fixture *fixture, gconstpointer data)
{
  static const gsize shape[] = { 1 };
  g_autoptr (GBytes) bytes = g_bytes_new ("\0\0\0\0\0\0\0", 8);
  g_autoptr (AprTensor) wide = apr_tensor_new_from_bytes (APR_DTYPE_F64, shape, 1, bytes, NULL);

  g_test_summary (
    "As json.dumps (index, indent=2, sort_keys=True) writes these names; in the file z comes first.");

  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "z", wide, NULL));
  add (fixture, "é", 1);
  add (fixture, "\"\\/\b\f\n\r\t\x01\x1f\x7f", 1);
  add (fixture, "€\xf0\x9f\x98\x80", 1);
  /* The ends of each way to write a character. */
  add (fixture, "\x1f !~\x7f\xc2\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 1);
  write_shards (fixture, 8);
  assert_file (
    fixture, "model.safetensors.index.json",
    "{\n"
    "  \"metadata\": {\n"
    "    \"total_size\": 12\n"
    "  },\n"
    "  \"weight_map\": {\n"
    "    \"\\u001f !~\\u007f\\u0080\\uffff\\ud800\\udc00\\udbff\\udfff\": "
    "\"model-00002-of-00002.safetensors\",\n"
    "    \"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\": \"model-00002-of-00002.safetensors\",\n"
    "    \"z\": \"model-00001-of-00002.safetensors\",\n"
    "    \"\\u00e9\": \"model-00002-of-00002.safetensors\",\n"
    "    \"\\u20ac\\ud83d\\ude00\": \"model-00002-of-00002.safetensors\"\n"
    "  }\n"
    "}\n");
}

static void
test_one_shard (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = NULL;
  g_autofree char *path = g_build_filename (fixture->path, "model.safetensors", NULL);
  g_autofree char *contents = NULL;
  gsize length;

  write_shards (fixture, 10);
  assert_files (fixture, "model.safetensors", NULL);
  assert_shard (fixture, "model.safetensors", "");

  add (fixture, "a", 4);
  add (fixture, "b", 6);
  write_shards (fixture, 10);
  assert_files (fixture, "model.safetensors", NULL);
  expected = apr_safetensors_writer_write_to_bytes (fixture->writer, NULL);
  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
}

static void
test_one_too_large (Fixture *fixture, gconstpointer data)
{
  add (fixture, "a", 100);
  write_shards (fixture, 10);
  assert_files (fixture, "model.safetensors", NULL);
}

static void
test_largest_limit (Fixture *fixture, gconstpointer data)
{
  add (fixture, "a", 100);
  add (fixture, "b", 100);
  write_shards (fixture, G_MAXUINT64);
  assert_files (fixture, "model.safetensors", NULL);
  write_shards (fixture, 0);
  assert_files (fixture, "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                "model.safetensors", "model.safetensors.index.json", NULL);
}

static void
tell (goffset done, goffset total, gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_cmpint (done, >, fixture->progress);
  fixture->progress = done;
  fixture->total = total;
}

static void
test_metadata_and_progress (Fixture *fixture, gconstpointer data)
{
  goffset size = 0;
  guint i;

  g_assert_true (apr_safetensors_writer_set_metadata (fixture->writer, "format", "pt", NULL));
  apr_safetensors_writer_set_alignment (fixture->writer, 512);
  apr_safetensors_writer_set_durable (fixture->writer, TRUE);
  apr_safetensors_writer_set_progress_func (fixture->writer, tell, fixture, NULL);
  add (fixture, "a", 10);
  add (fixture, "b", 10);
  add (fixture, "c", 10);
  write_shards (fixture, 10);
  for (i = 1; i <= 3; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/model-%05u-of-00003.safetensors", fixture->path, i);
      g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, NULL);
      GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
      g_autofree char *contents = NULL;
      gsize length;

      g_assert_cmpstr (g_hash_table_lookup (metadata, "format"), ==, "pt");
      g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
      g_assert_cmpuint ((length - 10) % 512, ==, 0);
      size += (goffset) length;
    }
  g_assert_cmpint (fixture->progress, ==, size);
  g_assert_cmpint (fixture->total, ==, size);
}

/* What goes wrong while tensor "c" is written. */
typedef enum
{
  FAIL_TO_GIVE,
  FAIL_BY_CANCEL,
  FAIL_TO_RENAME,
} Failure;

typedef struct
{
  Fixture *fixture;
  Failure failure;
} Giver;

static GBytes *
give (AprSafetensorsWriter *writer,
      const char *name,
      guint64 offset,
      gsize size,
      gpointer user_data,
      GError **error)
{
  const Giver *giver = user_data;
  g_autofree char *path = NULL;

  if (*name != 'c')
    return g_bytes_new_take (g_strnfill (size, *name), size);
  switch (giver->failure)
    {
    case FAIL_TO_GIVE:
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "too slow");
      return NULL;
    case FAIL_BY_CANCEL:
      g_cancellable_cancel (giver->fixture->cancellable);
      break;
    case FAIL_TO_RENAME:
      /* The third shard's own temporary is there already; its place is not. */
      path = g_build_filename (giver->fixture->path, "model-00003-of-00003.safetensors", NULL);
      g_assert_no_errno (g_mkdir (path, 0755));
      break;
    default:
      g_assert_not_reached ();
    }
  return g_bytes_new_take (g_strnfill (size, *name), size);
}

static void
assert_fails (Fixture *fixture, Failure failure, int code, const char *file, const char *message)
{
  Giver giver = { fixture, failure };
  g_autofree char *path = g_build_filename (fixture->path, file, NULL);
  g_autoptr (GError) error = NULL;

  apr_safetensors_writer_set_data_func (fixture->writer, give, &giver, NULL);
  g_assert_false (apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, "model", 10,
                                                       fixture->cancellable, &error));
  g_assert_error (error, G_IO_ERROR, code);
  g_assert_true (g_str_has_prefix (error->message, path));
  assert_message_has (error, message);
  g_cancellable_reset (fixture->cancellable);
  apr_safetensors_writer_set_data_func (fixture->writer, NULL, NULL, NULL);
}

static void
test_failure (Fixture *fixture, gconstpointer data)
{
  const gsize shape[] = { 10 };
  char name[2] = "a";

  g_test_summary ("After a failure in the third shard the files are there that were there, and no other.");

  for (; *name <= 'c'; ++*name)
    g_assert_true (
      apr_safetensors_writer_declare_tensor (fixture->writer, name, APR_DTYPE_U8, shape, 1, NULL));

  assert_fails (fixture, FAIL_TO_GIVE, G_IO_ERROR_TIMED_OUT, "model-00003-of-00003.safetensors",
                "tensor “c”: too slow");
  assert_files (fixture, NULL);
  assert_fails (fixture, FAIL_BY_CANCEL, G_IO_ERROR_CANCELLED, "model-00003-of-00003.safetensors", "ancel");
  assert_files (fixture, NULL);

  set_file (fixture, "model-00001-of-00003.safetensors", "old shard");
  set_file (fixture, "model.safetensors.index.json", "old index");
  set_file (fixture, "model-00002-of-00002.safetensors", "another");
  assert_fails (fixture, FAIL_TO_GIVE, G_IO_ERROR_TIMED_OUT, "model-00003-of-00003.safetensors",
                "tensor “c”: too slow");
  assert_fails (fixture, FAIL_BY_CANCEL, G_IO_ERROR_CANCELLED, "model-00003-of-00003.safetensors", "ancel");
  assert_files (fixture, "model-00001-of-00003.safetensors", "model-00002-of-00002.safetensors",
                "model.safetensors.index.json", NULL);
  assert_file (fixture, "model-00001-of-00003.safetensors", "old shard");
  assert_file (fixture, "model.safetensors.index.json", "old index");
  assert_file (fixture, "model-00002-of-00002.safetensors", "another");
}

static void
test_rename_fails (Fixture *fixture, gconstpointer data)
{
  const gsize shape[] = { 10 };
  char name[2] = "a";

  g_test_summary (
    "The third shard cannot take its place: of those that could, the new ones are removed again.");

  for (; *name <= 'c'; ++*name)
    g_assert_true (
      apr_safetensors_writer_declare_tensor (fixture->writer, name, APR_DTYPE_U8, shape, 1, NULL));
  set_file (fixture, "model-00001-of-00003.safetensors", "old shard");
  assert_fails (fixture, FAIL_TO_RENAME, G_IO_ERROR_IS_DIRECTORY, "model-00003-of-00003.safetensors", "");
  assert_files (fixture, "model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors", NULL);
  assert_shard (fixture, "model-00001-of-00003.safetensors", "a");
}

static void
test_link_to_another_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *other = make_folder ();
  g_autofree char *target = g_build_filename (other, "shard", NULL);
  g_autofree char *link = g_build_filename (fixture->path, "model-00002-of-00003.safetensors", NULL);

  g_test_summary ("A shard may be a link, as in a cache: then it is the file behind it that is replaced.");

  g_assert_no_errno (symlink (target, link));
  add (fixture, "a", 10);
  add (fixture, "b", 10);
  add (fixture, "c", 10);
  write_shards (fixture, 10);
  assert_files (fixture, "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                "model-00003-of-00003.safetensors", "model.safetensors.index.json", NULL);
  assert_shard (fixture, "model-00001-of-00003.safetensors", "a");
  assert_shard (fixture, "model-00002-of-00003.safetensors", "b");
  assert_shard (fixture, "model-00003-of-00003.safetensors", "c");
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_no_errno (g_unlink (target));
  g_assert_no_errno (g_rmdir (other));
}

static void
test_many (Fixture *fixture, gconstpointer data)
{
  struct rlimit limit, small;
  guint n_shards = 300;
  guint i;

  g_test_summary ("All shards are written before the first is renamed, but they do not stay open for it.");

  for (i = 0; i < n_shards; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      add (fixture, name, 1);
    }
  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &limit));
  small = limit;
  small.rlim_cur = 64;
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &small));
  write_shards (fixture, 1);
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
  assert_shard (fixture, "model-00300-of-00300.safetensors", "99");
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  static const char *const prefixes[] = { "", "a/b", "..\xff", "/", "llama:8b", "50%", "a\\b", "a\nb" };
  g_autoptr (GFile) missing = g_file_get_child (fixture->folder, "missing");
  g_autoptr (GError) error = NULL;
  const gsize shape[] = { 10 };
  guint i;

  add (fixture, "a", 10);
  for (i = 0; i < G_N_ELEMENTS (prefixes); i++)
    {
      g_assert_false (apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, prefixes[i], 10,
                                                           NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME);
      g_clear_error (&error);
    }
  g_assert_false (apr_safetensors_writer_write_shards (fixture->writer, missing, "model", 10, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_message_has (error, "missing/model.safetensors: ");
  g_clear_error (&error);
  g_assert_true (apr_safetensors_writer_declare_tensor (fixture->writer, "b", APR_DTYPE_U8, shape, 1, NULL));
  g_assert_false (
    apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, "model", 10, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
  assert_message_has (error, "model-00002-of-00002.safetensors: tensor “b”: it has no source");
  assert_files (fixture, NULL);
}

static void
test_readable_names (Fixture *fixture, gconstpointer data)
{
  static const char *const prefixes[] = { ".", "..", " ", "ünï 1" };
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("Whatever is written in shards can be read again: what cannot is not written.");

  add (fixture, "a", 10);
  add (fixture, "b", 10);
  for (i = 0; i < G_N_ELEMENTS (prefixes); i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s.safetensors.index.json", fixture->path, prefixes[i]);

      apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, prefixes[i], 10, NULL, &error);
      g_assert_no_error (error);
      g_clear_object (&reader);
      reader = apr_safetensors_reader_new_from_path (path, &error);
      g_assert_no_error (error);
    }
}

static void
test_too_many (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i <= 10000; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      add (fixture, name, 1);
    }
  g_assert_false (
    apr_safetensors_writer_write_shards (fixture->writer, fixture->folder, "model", 1, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_INDEX);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  assert_message_has (error, "10001 shards, more than the 10000 that are allowed");
  assert_files (fixture, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/shards/greedy", test_greedy);
  ADD ("/safetensors/shards/full-to-the-brim", test_full_to_the_brim);
  ADD ("/safetensors/shards/index-is-sorted-ascii", test_index_is_sorted_ascii);
  ADD ("/safetensors/shards/one-shard", test_one_shard);
  ADD ("/safetensors/shards/one-too-large", test_one_too_large);
  ADD ("/safetensors/shards/largest-limit", test_largest_limit);
  ADD ("/safetensors/shards/metadata-and-progress", test_metadata_and_progress);
  ADD ("/safetensors/shards/failure", test_failure);
  ADD ("/safetensors/shards/rename-fails", test_rename_fails);
  ADD ("/safetensors/shards/link-to-another-folder", test_link_to_another_folder);
  ADD ("/safetensors/shards/many", test_many);
  ADD ("/safetensors/shards/refused", test_refused);
  ADD ("/safetensors/shards/readable-names", test_readable_names);
  ADD ("/safetensors/shards/too-many", test_too_many);

  return g_test_run ();
}
