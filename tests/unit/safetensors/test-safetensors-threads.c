/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/safetensors-test.h"

/* What the documentation says threads may do at once with a reader, its tensors and a writer. */

#define N_THREADS 8
#define N_ROUNDS 200

static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                             "\"odd\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                             "\"floats\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[1,17]},"
                             "\"doubles\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[17,33]}}";

/* The bytes after "odd" are not aligned, so that C's view of them is a copy that one of the threads makes. */
static GBytes *
model_new (void)
{
  static const guint8 data[33] = {
    7, 0, 0, 0x80, 0x3f, 0, 0, 0,    0x40, 0, 0, 0x40, 0x40, 0, 0,    0x80, 0x40, /* 1, 2, 3, 4 */
    0, 0, 0, 0,    0,    0, 0, 0x40, 0,    0, 0, 0,    0,    0, 0x08, 0x40,       /* 2, 3 */
  };

  return make_file (header, data, sizeof data);
}

typedef struct
{
  AprSafetensorsReader *reader;
  AprTensor *floats;
  gint n_ready; /* (atomic) */
} Shared;

/* All threads go on at once, so that each is the first for something. */
static void
wait_for_all (Shared *shared)
{
  g_atomic_int_inc (&shared->n_ready);
  while (g_atomic_int_get (&shared->n_ready) < N_THREADS)
    g_thread_yield ();
}

static void
assert_floats (AprTensor *floats)
{
  g_autoptr (AprTensor) column = NULL;
  g_autoptr (AprTensor) row = NULL;
  g_autoptr (AprTensor) cast = NULL;
  g_autofree char *text = NULL;
  const float *values;
  gsize n_values;

  values = apr_tensor_get_floats (floats, &n_values, NULL);
  g_assert_cmpuint (n_values, ==, 4);
  g_assert_cmpfloat (values[0] + values[3], ==, 5);
  row = apr_tensor_slice_rows (floats, 1, 2, NULL);
  g_assert_cmpfloat (apr_tensor_get_double (row, 1, NULL), ==, 4);
  column = apr_tensor_slice (floats, ":, 0", NULL);
  g_assert_cmpfloat (apr_tensor_get_double (column, 1, NULL), ==, 3);
  cast = apr_tensor_cast (floats, APR_DTYPE_F64, NULL);
  g_assert_cmpfloat (apr_tensor_get_doubles (cast, NULL, NULL)[2], ==, 3);
  text = apr_tensor_to_string (floats);
  g_assert_cmpstr (text, ==, "F32 [2, 2] [[1, 2], [3, 4]]");
}

static gpointer
read_all (gpointer data)
{
  Shared *shared = data;
  AprSafetensorsReader *reader = shared->reader;
  guint i;

  wait_for_all (shared);
  for (i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (AprTensor) floats = apr_safetensors_reader_get_tensor (reader, "floats", NULL);
      g_autoptr (AprTensor) doubles = apr_safetensors_reader_get_tensor (reader, "doubles", NULL);
      g_autoptr (AprTensor) slice = apr_safetensors_reader_get_slice (reader, "floats", "::-1, 1", NULL);
      g_autoptr (GError) error = NULL;
      gsize n_dims;

      assert_floats (shared->floats);
      assert_floats (floats);
      g_assert_true (apr_tensor_equal (floats, shared->floats));
      g_assert_cmpfloat (apr_tensor_get_doubles (doubles, NULL, NULL)[1], ==, 3);
      g_assert_cmpfloat (apr_tensor_get_double (slice, 0, NULL), ==, 4);
      g_assert_cmpstr (apr_safetensors_reader_get_names (reader)[2], ==, "odd");
      g_assert_cmpstr (apr_safetensors_reader_get_names_in_file_order (reader)[0], ==, "odd");
      g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "format"), ==,
                       "pt");
      g_assert_cmpstr (apr_safetensors_reader_get_metadata_keys (reader)[0], ==, "format");
      g_assert_true (apr_safetensors_reader_has_tensor (reader, "odd"));
      g_assert_cmpuint (apr_safetensors_reader_get_shape (reader, "floats", &n_dims, NULL)[0], ==, 2);
      g_assert_cmpuint (apr_safetensors_reader_get_size (reader, "floats", NULL), ==, 16);
      g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, "odd", NULL), ==, APR_DTYPE_U8);
      g_assert_null (apr_safetensors_reader_get_tensor (reader, "even", &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
    }
  return NULL;
}

static void
run_threads (GThreadFunc function, gpointer data)
{
  GThread *threads[N_THREADS];
  guint i;

  for (i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("test", function, data);
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
}

static void
test_reader (Folder *folder, gconstpointer load_mode)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  Shared shared = { NULL };
  GError *error = NULL;

  shared.reader = reader_open (path, (AprSafetensorsLoadMode) GPOINTER_TO_UINT (load_mode), &error);
  g_assert_no_error (error);
  shared.floats = apr_safetensors_reader_get_tensor (shared.reader, "floats", &error);
  g_assert_no_error (error);
  run_threads (read_all, &shared);
  g_object_unref (shared.reader);

  /* A tensor outlives its reader. */
  assert_floats (shared.floats);
  apr_tensor_unref (shared.floats);
}

static void
test_bytes (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  Shared shared = { NULL };

  shared.reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  shared.floats = apr_safetensors_reader_get_tensor (shared.reader, "floats", NULL);
  run_threads (read_all, &shared);
  g_object_unref (shared.reader);
  apr_tensor_unref (shared.floats);
}

typedef struct
{
  AprSafetensorsWriter *writer;
  GBytes *expected;
  gint n_ready; /* (atomic) */
} SharedWriter;

static gpointer
write_all (gpointer data)
{
  SharedWriter *shared = data;
  guint i;

  for (i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (GBytes) bytes = apr_safetensors_writer_write_to_bytes (shared->writer, NULL);

      g_assert_true (g_bytes_equal (bytes, shared->expected));
    }
  return NULL;
}

static void
test_writer (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GBytes) expected = NULL;
  const double values[] = { 1, 2, 3 };
  const gsize shape[] = { 3 };
  SharedWriter shared = { NULL };

  g_test_summary ("A writer that nobody changes writes for several threads at once.");

  tensor = apr_tensor_new_from_doubles (values, 3, shape, 1, NULL);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "x", tensor, NULL));
  g_assert_true (apr_safetensors_writer_set_metadata (writer, "format", "pt", NULL));
  expected = apr_safetensors_writer_write_to_bytes (writer, NULL);
  shared.writer = writer;
  shared.expected = expected;
  run_threads (write_all, &shared);
}

static void
on_written (GObject *source, GAsyncResult *result, gpointer data)
{
  guint *n_left = data;
  g_autoptr (GError) error = NULL;

  g_assert_true (
    apr_safetensors_writer_write_to_file_finish (APR_SAFETENSORS_WRITER (source), result, &error));
  g_assert_no_error (error);
  --*n_left;
}

static void
test_change_while_writing (Folder *folder, gconstpointer unused)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const gsize shape[] = { 1 };
  guint n_left = 0, i;

  g_test_summary (
    "While asynchronous writes go on, their writer may be changed: each writes what it began with.");

  for (i = 0; i < 50; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      g_autofree char *path = g_build_filename (folder->folder, name, NULL);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      const double value = i;
      g_autoptr (AprTensor) tensor = apr_tensor_new_from_doubles (&value, 1, shape, 1, NULL);

      apr_safetensors_writer_set_durable (writer, FALSE);
      g_assert_true (apr_safetensors_writer_add_tensor (writer, name, tensor, NULL));
      g_assert_true (apr_safetensors_writer_set_metadata (writer, "last", name, NULL));
      apr_safetensors_writer_write_to_file_async (writer, file, G_PRIORITY_DEFAULT, NULL, on_written,
                                                  &n_left);
      n_left++;
    }
  while (n_left > 0)
    g_main_context_iteration (NULL, TRUE);

  for (i = 0; i < 50; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      g_autofree char *path = g_build_filename (folder->folder, name, NULL);
      g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, NULL);

      g_assert_cmpuint (g_strv_length ((char **) apr_safetensors_reader_get_names (reader)), ==, i + 1);
      g_assert_cmpstr (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "last"), ==, name);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/safetensors/threads/map", Folder, GUINT_TO_POINTER (APR_SAFETENSORS_LOAD_MODE_MAP),
              folder_set_up, test_reader, folder_tear_down);
  g_test_add ("/safetensors/threads/read", Folder, GUINT_TO_POINTER (APR_SAFETENSORS_LOAD_MODE_READ),
              folder_set_up, test_reader, folder_tear_down);
  g_test_add_func ("/safetensors/threads/bytes", test_bytes);
  g_test_add_func ("/safetensors/threads/writer", test_writer);
  g_test_add ("/safetensors/threads/change-while-writing", Folder, NULL, folder_set_up,
              test_change_while_writing, folder_tear_down);

  return g_test_run ();
}
