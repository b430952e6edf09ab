/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/reader-test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_unaligned (void)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  guint padding;

  g_test_summary ("Wherever the data begin, the numbers are right.");

  for (padding = 0; padding < 8; padding++)
    {
      g_autofree char *spaces = g_strnfill (padding, ' ');
      g_autofree char *header = g_strdup_printf ("%s%s", rust_header, spaces);

      g_clear_object (&reader);
      reader = open_bytes (header, model_data, 16);
      assert_model (reader);
    }
}

static void
test_tensor_outlives_reader (void)
{
  AprSafetensorsReader *reader = open_bytes (rust_header, model_data, 16);
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, "coefficients", NULL);
  g_autoptr (GHashTable) metadata = g_hash_table_ref (apr_safetensors_reader_get_metadata (reader));

  g_assert_finalize_object (reader);
  g_assert_cmpfloat (apr_tensor_get_double (tensor, 2, NULL), ==, 1.5);
  g_assert_cmpuint (g_hash_table_size (metadata), ==, 0);
}

static void
test_no_copy (void)
{
  g_autoptr (GBytes) file = make_file (rust_header, model_data, 16);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (file, NULL);
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, "intercept", NULL);
  const guint8 *start = g_bytes_get_data (file, NULL);

  g_assert_true ((const guint8 *) g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL) ==
                 start + 8 + 129 + 12);
}

static void
test_names (void)
{
  static const char *const sorted[] = { "", "B", "_", "a", "a.10", "a.2", "é", "😀" };
  static const char header[] = "{\"\\ud83d\\ude00\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"a.2\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"_\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"é\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"a.10\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                               "\"B\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
  g_autoptr (AprSafetensorsReader) reader = open_bytes (header, "", 0);
  const char *const *names = apr_safetensors_reader_get_names (reader);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sorted); i++)
    {
      g_assert_cmpstr (names[i], ==, sorted[i]);
      g_assert_true (apr_safetensors_reader_has_tensor (reader, sorted[i]));
    }
  g_assert_null (names[i]);
  g_assert_true (apr_safetensors_reader_get_names (reader) == names);
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "b"));
}

static gpointer
get_names_thread (gpointer reader)
{
  return (gpointer) apr_safetensors_reader_get_names (reader);
}

static void
test_threads (void)
{
  guint round;

  for (round = 0; round < 50; round++)
    {
      g_autoptr (AprSafetensorsReader) reader = open_bytes (rust_header, model_data, 16);
      GThread *threads[4];
      gpointer names;
      guint i;

      for (i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new ("names", get_names_thread, reader);
      names = (gpointer) apr_safetensors_reader_get_names (reader);
      for (i = 0; i < G_N_ELEMENTS (threads); i++)
        g_assert_true (g_thread_join (threads[i]) == names);
    }
}

static void
test_metadata (void)
{
  g_autoptr (AprSafetensorsReader) reader =
    open_bytes ("{\"__metadata__\":{\"format\":\"pt\",\"\\n\":\"\\u00e9\"}}", "", 0);
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);

  g_assert_cmpuint (g_hash_table_size (metadata), ==, 2);
  g_assert_cmpstr (g_hash_table_lookup (metadata, "format"), ==, "pt");
  g_assert_cmpstr (g_hash_table_lookup (metadata, "\n"), ==, "é");
  g_assert_null (g_hash_table_lookup (metadata, "else"));
  g_assert_cmpstr (apr_safetensors_reader_get_metadata_keys (reader)[0], ==, "\n");
  g_assert_cmpstr (apr_safetensors_reader_get_metadata_keys (reader)[1], ==, "format");
  g_assert_null (apr_safetensors_reader_get_metadata_keys (reader)[2]);
}

static void
test_not_found (void)
{
  static const struct
  {
    const char *name;
    const char *shown;
  } cases[] = { { "weights", "“weights” among the 2" },
                { "caf\xe9", "“caf�”" },
                { "__metadata__", "“__metadata__”" } };
  g_autoptr (AprSafetensorsReader) reader = open_bytes (rust_header, model_data, 16);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      gsize n_dims = 99;

      g_assert_null (apr_safetensors_reader_get_tensor (reader, cases[i].name, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
      g_assert_nonnull (strstr (error->message, cases[i].shown));
      g_clear_error (&error);
      g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, cases[i].name, &error), ==, APR_DTYPE_NONE);
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
      g_clear_error (&error);
      g_assert_null (apr_safetensors_reader_get_shape (reader, cases[i].name, &n_dims, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
      g_assert_cmpuint (n_dims, ==, 0);
      g_assert_false (apr_safetensors_reader_has_tensor (reader, cases[i].name));
    }
}

static void
test_made_by_type (void)
{
  g_autoptr (AprSafetensorsReader) reader = g_object_new (APR_TYPE_SAFETENSORS_READER, NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("A script may make a reader without a file: it has no tensors, and does not crash.");

  g_assert_null (apr_safetensors_reader_get_names (reader)[0]);
  g_assert_null (apr_safetensors_reader_get_names_in_file_order (reader)[0]);
  g_assert_null (apr_safetensors_reader_get_metadata_keys (reader)[0]);
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "w"));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "w", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
  g_assert_cmpuint (g_hash_table_size (apr_safetensors_reader_get_metadata (reader)), ==, 0);
}

static void
test_initialised_late (void)
{
  static const char text[] =
    "{\"__metadata__\":{\"key\":\"value\"},\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  g_autoptr (AprSafetensorsReader) whole = open_bytes (text, "x", 1);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What was asked for before a reader is initialised does not hide what it has afterwards.");

  g_object_get (whole, "bytes", &bytes, NULL);
  reader = g_object_new (APR_TYPE_SAFETENSORS_READER, "bytes", bytes, NULL);
  g_assert_null (apr_safetensors_reader_get_names (reader)[0]);
  g_assert_null (apr_safetensors_reader_get_names_in_file_order (reader)[0]);
  g_assert_cmpuint (g_hash_table_size (apr_safetensors_reader_get_metadata (reader)), ==, 0);
  g_assert_null (apr_safetensors_reader_get_metadata_keys (reader)[0]);

  g_assert_true (g_initable_init (G_INITABLE (reader), NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (apr_safetensors_reader_get_names (reader)[0], ==, "w");
  g_assert_cmpstr (apr_safetensors_reader_get_names_in_file_order (reader)[0], ==, "w");
  g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "key"), ==, "value");
  g_assert_cmpstr (apr_safetensors_reader_get_metadata_keys (reader)[0], ==, "key");
}

static void
test_sub_byte (void)
{
  g_autoptr (AprSafetensorsReader) reader =
    open_bytes ("{\"f4\":{\"dtype\":\"F4\",\"shape\":[3,2],\"data_offsets\":[0,3]},"
                "\"f6\":{\"dtype\":\"F6_E3M2\",\"shape\":[8],\"data_offsets\":[3,9]}}",
                "abcdefghi", 9);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) f4 = apr_safetensors_reader_get_tensor (reader, "f4", &error);
  g_autoptr (AprTensor) f6 = apr_safetensors_reader_get_tensor (reader, "f6", &error);
  gsize size;
  gconstpointer bytes;

  g_assert_no_error (error);
  bytes = g_bytes_get_data (apr_tensor_get_bytes (f4), &size);
  g_assert_cmpmem (bytes, size, "abc", 3);
  bytes = g_bytes_get_data (apr_tensor_get_bytes (f6), &size);
  g_assert_cmpmem (bytes, size, "defghi", 6);
}

static void
test_strange_shapes (void)
{
  static const char *const shapes[] = { "[0,18446744073709551615]", "[18446744073709551615,0]",
                                        "[0,9223372036854775808,2]" };
  guint i;

  g_test_summary ("Huge dimensions of nothing: valid, and they must be handed out.");

  for (i = 0; GLIB_SIZEOF_SIZE_T >= 8 && i < G_N_ELEMENTS (shapes); i++)
    {
      g_autofree char *header =
        g_strdup_printf ("{\"w\":{\"dtype\":\"U8\",\"shape\":%s,\"data_offsets\":[0,0]}}", shapes[i]);
      g_autoptr (AprSafetensorsReader) reader = open_bytes (header, "", 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);

      g_assert_no_error (error);
      g_assert_cmpuint (apr_tensor_get_n_elements (tensor), ==, 0);
    }
}

typedef struct
{
  char *folder;
  char *path;
  GFile *file;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
  fixture->file = g_file_new_for_path (fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
  g_object_unref (fixture->file);
}

static void
save_model (Fixture *fixture)
{
  g_autoptr (GBytes) file = make_file (rust_header, model_data, 16);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (fixture->path, g_bytes_get_data (file, NULL), (gssize) g_bytes_get_size (file),
                       &error);
  g_assert_no_error (error);
}

static void
test_open (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprSafetensorsReader) from_path = NULL;
  g_autoptr (AprSafetensorsReader) from_file = NULL;
  g_autoptr (GError) error = NULL;

  save_model (fixture);
  from_path = apr_safetensors_reader_new_from_path (fixture->path, &error);
  g_assert_no_error (error);
  assert_model (from_path);
  from_file = apr_safetensors_reader_new_from_file (fixture->file, NULL, &error);
  g_assert_no_error (error);
  assert_model (from_file);
}

static void
test_mapping_is_private (Fixture *fixture, gconstpointer data)
{
  AprSafetensorsReader *reader;
  g_autoptr (AprTensor) tensor = NULL;
  g_autofree char *contents = NULL;
  gsize length;
  char *bytes;

  g_test_summary (
    "A script's view of the bytes may be writable: writing neither crashes nor reaches the file.");

  save_model (fixture);
  reader = apr_safetensors_reader_new_from_path (fixture->path, NULL);
  tensor = apr_safetensors_reader_get_tensor (reader, "intercept", NULL);
  g_assert_finalize_object (reader);
  g_unlink (fixture->path);
  g_assert_cmpfloat (apr_tensor_get_double (tensor, 0, NULL), ==, 0.5);

  save_model (fixture);
  reader = apr_safetensors_reader_new_from_path (fixture->path, NULL);
  apr_tensor_unref (tensor);
  tensor = apr_safetensors_reader_get_tensor (reader, "coefficients", NULL);
  bytes = (char *) g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  bytes[0] = 'x';
  g_object_unref (reader);
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents + 8 + 129, length - 8 - 129, model_data, 16);
}

static void
assert_open_fails (const char *path, GQuark domain, int code, const char *message)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  guint i;

  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      AprSafetensorsReader *reader = i == 0 ? apr_safetensors_reader_new_from_path (path, &error)
                                            : apr_safetensors_reader_new_from_file (file, NULL, &error);

      g_assert_null (reader);
      g_assert_error (error, domain, code);
      g_assert_true (g_str_has_prefix (error->message, path));
      if (strstr (error->message, message) == NULL)
        g_error ("“%s” without “%s”", error->message, message);
    }
}

static void
test_missing (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  assert_open_fails (fixture->path, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "No such file or directory");
  g_assert_null (apr_safetensors_reader_new_from_path ("", &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

static void
test_not_a_file (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("A FIFO without a writer must not hang.");

  assert_open_fails (fixture->folder, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "Is a directory");
  assert_open_fails ("/dev/null", G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
  g_assert_no_errno (mkfifo (fixture->path, 0600));
  assert_open_fails (fixture->path, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
}

static void
test_bad_files (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *bytes;
    gssize size;
    int code;
    const char *message;
  } cases[] = {
    { "", 0, APR_SAFETENSORS_ERROR_TRUNCATED, ": 0 bytes are no SafeTensors file" },
    { "abc", 3, APR_SAFETENSORS_ERROR_TRUNCATED, ": 3 bytes are no SafeTensors file" },
    { "PK\3\4\0\0\0\0\0\0", 10, APR_SAFETENSORS_ERROR_TRUNCATED, "67324752 bytes" },
    { "\2\0\0\0\0\0\0\0{}x", 11, APR_SAFETENSORS_ERROR_TRAILING_DATA, ": 1 bytes follow" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_true (g_file_set_contents (fixture->path, cases[i].bytes, cases[i].size, NULL));
      assert_open_fails (fixture->path, APR_SAFETENSORS_ERROR, cases[i].code, cases[i].message);
    }
}

static void
test_awkward_path (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "caf\xe9", NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("A path need not be UTF-8, but a message must be.");

  g_assert_null (apr_safetensors_reader_new_from_path (path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

static void
test_not_readable (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("Root may read anything, so it goes on as somebody else.");

  save_model (fixture);
  g_assert_no_errno (g_chmod (fixture->path, 0));
  if (geteuid () == 0 && chown (fixture->folder, 65534, (gid_t) -1) == 0)
    g_assert_no_errno (seteuid (65534));
  if (faccessat (AT_FDCWD, fixture->path, R_OK, AT_EACCESS) == 0)
    g_test_skip ("this user reads files without a permission, and may not become another");
  else
    assert_open_fails (fixture->path, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "Permission denied");
  g_assert_no_errno (seteuid (getuid ()));
}

static void
test_round_trip (Fixture *fixture, gconstpointer data)
{
  guint round;

  g_test_summary ("Random tensors of every dtype come back as they were, in whatever way they went.");

  for (round = 0; round < 30; round++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_tensor_unref);
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      guint n_tensors = (guint) g_test_rand_int_range (0, 40);
      guint i, j;

      for (i = 0; i < n_tensors; i++)
        {
          char *name = g_strdup_printf ("%u\n\"\\é%c", i, g_test_rand_int_range (1, 128));
          AprDType dtype = (AprDType) g_test_rand_int_range (APR_DTYPE_BOOL, APR_DTYPE_U64 + 1);
          gsize n_dims = (gsize) g_test_rand_int_range (1, 5);
          g_autoptr (GBytes) bytes = NULL;
          gsize shape[4];
          gsize size = 1;
          guint8 *contents;

          for (j = 0; j < n_dims; j++)
            size *= shape[j] = (gsize) g_test_rand_int_range (0, 5) * (j == 0 ? 8 : 1);
          size = size * apr_dtype_get_bits (dtype) / 8;
          contents = g_malloc (size);
          for (j = 0; j < size; j++)
            contents[j] = (guint8) g_test_rand_int_range (0, 256);
          bytes = g_bytes_new_take (contents, size);
          g_ptr_array_add (tensors, apr_tensor_new_from_bytes (dtype, shape, n_dims, bytes, &error));
          g_assert_no_error (error);
          g_assert_true (apr_safetensors_writer_add_tensor (writer, name, tensors->pdata[i], &error));
          g_ptr_array_add (names, name);
        }
      g_assert_true (apr_safetensors_writer_write_to_path (writer, fixture->path, &error));
      g_assert_no_error (error);
      reader = apr_safetensors_reader_new_from_path (fixture->path, &error);
      g_assert_no_error (error);
      for (i = 0; i < n_tensors; i++)
        {
          g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, names->pdata[i], &error);

          g_assert_no_error (error);
          g_assert_true (apr_tensor_equal (tensor, tensors->pdata[i]));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/reader/unaligned", test_unaligned);
  g_test_add_func ("/safetensors/reader/tensor-outlives-reader", test_tensor_outlives_reader);
  g_test_add_func ("/safetensors/reader/no-copy", test_no_copy);
  g_test_add_func ("/safetensors/reader/names", test_names);
  g_test_add_func ("/safetensors/reader/threads", test_threads);
  g_test_add_func ("/safetensors/reader/metadata", test_metadata);
  g_test_add_func ("/safetensors/reader/not-found", test_not_found);
  g_test_add_func ("/safetensors/reader/made-by-type", test_made_by_type);
  g_test_add_func ("/safetensors/reader/initialised-late", test_initialised_late);
  g_test_add_func ("/safetensors/reader/sub-byte", test_sub_byte);
  g_test_add_func ("/safetensors/reader/strange-shapes", test_strange_shapes);
#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/reader/open", test_open);
  ADD ("/safetensors/reader/mapping-is-private", test_mapping_is_private);
  ADD ("/safetensors/reader/missing", test_missing);
  ADD ("/safetensors/reader/not-a-file", test_not_a_file);
  ADD ("/safetensors/reader/bad-files", test_bad_files);
  ADD ("/safetensors/reader/awkward-path", test_awkward_path);
  ADD ("/safetensors/reader/not-readable", test_not_readable);
  ADD ("/safetensors/reader/round-trip", test_round_trip);

  return g_test_run ();
}
