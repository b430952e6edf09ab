/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/reader-modes-test.h"
#include "tests/waiting.h"

#include <unistd.h>

static void
test_bytes (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (AprTensor) slice = NULL;

  assert_model (reader);
  slice = apr_safetensors_reader_get_slice (reader, "m", "1", NULL);
  g_assert_true ((const char *) g_bytes_get_data (apr_tensor_get_bytes (slice), NULL) ==
                 (const char *) g_bytes_get_data (bytes, NULL) + 8 + strlen (header) + 7);
}

static void
test_no_such_tensor (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (apr_safetensors_reader_get_size (reader, "q", &error), ==, 0);
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_cmpuint (apr_safetensors_reader_get_offset (reader, "q", &error), ==, 0);
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (apr_safetensors_reader_get_slice (reader, "q", "", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
}

static void
test_error_names (void)
{
  static const struct
  {
    AprSafetensorsError code;
    const char *nick;
  } codes[] = {
    { APR_SAFETENSORS_ERROR_TRUNCATED, "truncated" },
    { APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE, "header-too-large" },
    { APR_SAFETENSORS_ERROR_SHARD_NAME, "shard-name" },
    { APR_SAFETENSORS_ERROR_INDEX, "index" },
  };
  g_autoptr (GEnumClass) klass = g_type_class_ref (APR_TYPE_SAFETENSORS_ERROR);
  guint i;

  g_test_summary ("The codes are numbered without a gap, and a script knows them by their names.");

  g_assert_cmpint (klass->minimum, ==, 0);
  g_assert_cmpint (klass->maximum, ==, APR_SAFETENSORS_ERROR_INDEX);
  g_assert_cmpuint (klass->n_values, ==, APR_SAFETENSORS_ERROR_INDEX + 1);
  for (i = 0; i < G_N_ELEMENTS (codes); i++)
    g_assert_cmpstr (g_enum_get_value (klass, codes[i].code)->value_nick, ==, codes[i].nick);
}

static void
test_bad_slices (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_safetensors_reader_get_slice (reader, "m", "0, 7", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_cmpstr (error->message, ==, "tensor “m”: The index 7 is out of range for dimension 1 of size 3");
  g_clear_error (&error);
  g_assert_null (apr_safetensors_reader_get_slice (reader, "m", "a", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SYNTAX);
}

static void
test_properties (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprSafetensorsReader) late = NULL;
  g_autoptr (GFile) got_file = NULL;
  g_autoptr (GBytes) got_bytes = NULL;
  g_autoptr (GError) error = NULL;
  AprSafetensorsLoadMode load_mode;
  guint64 max_header_size;

  reader = apr_safetensors_reader_new_from_file (file, NULL, &error);
  g_object_get (reader, "file", &got_file, "bytes", &got_bytes, "load-mode", &load_mode, "max-header-size",
                &max_header_size, NULL);
  g_assert_true (got_file == file);
  g_assert_null (got_bytes);
  g_assert_cmpint (load_mode, ==, APR_SAFETENSORS_LOAD_MODE_MAP);
  g_assert_cmpuint (max_header_size, ==, 100000000);

  late = g_object_new (APR_TYPE_SAFETENSORS_READER, "bytes", bytes, "max-header-size", (guint64) 1000, NULL);
  g_assert_null (apr_safetensors_reader_get_tensor (late, "m", NULL));
  g_assert_true (g_initable_init (G_INITABLE (late), NULL, &error));
  g_assert_true (g_initable_init (G_INITABLE (late), NULL, &error));
  assert_model (late);

  g_assert_null (
    g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", file, "bytes", bytes, NULL));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_true (g_str_has_suffix (error->message, "both"));
  g_clear_error (&error);
  g_assert_null (g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, NULL));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_true (g_str_has_suffix (error->message, "neither"));
  g_clear_error (&error);

  g_assert_null (g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "bytes", bytes, "max-header-size",
                                 (guint64) 0, NULL));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
  g_assert_true (g_str_has_suffix (error->message, "more than the limit of 0"));
}

static void
test_max_header_size (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  guint64 length = strlen (header);
  guint i;

  g_test_summary (
    "A header as long as the limit is read, one byte more is refused, in whatever way it comes.");

  for (i = 0; i < 6; i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 limit = i % 2 == 0 ? length : length - 1;
      g_autoptr (GObject) reader =
        i < 2 ? g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "bytes", bytes, "max-header-size",
                                limit, NULL)
              : g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", file, "load-mode",
                                i < 4 ? APR_SAFETENSORS_LOAD_MODE_MAP : APR_SAFETENSORS_LOAD_MODE_READ,
                                "max-header-size", limit, NULL);

      if (i % 2 == 0)
        g_assert_no_error (error);
      else
        g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
      g_assert_true ((reader != NULL) == (i % 2 == 0));
    }
}

static void
test_read (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);
  AprTensor *one, *other;

  g_assert_no_error (error);
  assert_model (reader);
  one = apr_safetensors_reader_get_tensor (reader, "m", &error);
  other = apr_safetensors_reader_get_tensor (reader, "m", &error);
  g_assert_true (apr_tensor_equal (one, other));
  g_assert_true (apr_tensor_get_bytes (one) != apr_tensor_get_bytes (other));
  apr_tensor_unref (other);
  /* The file is open: it may be removed. */
  g_assert_no_errno (g_unlink (path));
  assert_model (reader);
  g_assert_finalize_object (g_steal_pointer (&reader));
  assert_bytes (one, "mnopqr");
  apr_tensor_unref (one);
}

static void
test_read_truncated (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (AprSafetensorsReader) reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, NULL);
  gsize start = 8 + strlen (header);
  g_autofree char *expected =
    g_strdup_printf ("%s: tensor “m”: its bytes from %zu to %zu of the file are needed, but only 2 of them "
                     "are there now",
                     path, start + 4, start + 10);
  g_autofree char *expected_of_slice =
    g_strdup_printf ("%s: tensor “m”: its bytes from %zu to %zu of the file are needed, but only 0 of them "
                     "are there now",
                     path, start + 7, start + 10);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) whole = NULL;
  g_autoptr (AprTensor) slice = NULL;
  g_autoptr (AprTensor) none = NULL;

  g_test_summary ("A file that becomes shorter while it is open is an error, and never a signal.");

  g_assert_no_errno (truncate (path, (off_t) start + 6));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "m", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  g_assert_cmpstr (error->message, ==, expected);
  g_clear_error (&error);
  g_assert_null (apr_safetensors_reader_get_slice (reader, "m", "1", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  g_assert_cmpstr (error->message, ==, expected_of_slice);
  g_clear_error (&error);

  /* What is there is still read, no byte more than is needed. */
  whole = apr_safetensors_reader_get_tensor (reader, "z", &error);
  assert_bytes (whole, "zzZZ");
  slice = apr_safetensors_reader_get_slice (reader, "m", "0, :2", &error);
  assert_bytes (slice, "mn");
  g_assert_no_errno (truncate (path, 0));
  none = apr_safetensors_reader_get_tensor (reader, "none", &error);
  assert_bytes (none, "");
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "a", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
}

static void
test_read_bad_files (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    int code;
    const char *message;
  } cases[] = {
    { "", 0, APR_SAFETENSORS_ERROR_TRUNCATED, ": 0 bytes are no SafeTensors file" },
    { "abc", 3, APR_SAFETENSORS_ERROR_TRUNCATED, ": 3 bytes are no SafeTensors file" },
    { "\0\0\0\0\0\0\0\0", 8, APR_SAFETENSORS_ERROR_SYNTAX, "header" },
    { "\1\0\0\0\0\0\0\0", 8, APR_SAFETENSORS_ERROR_TRUNCATED, "claims 1 bytes" },
    { "\xff\xff\xff\xff\xff\xff\xff\xff", 8, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE, "18446744073709551615" },
    { "\xf8\xff\xff\xff\xff\xff\xff\xff{}", 10, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
      "18446744073709551608" },
    { "\1\0\0\0\0\0\0\0\xff", 9, APR_SAFETENSORS_ERROR_ENCODING, "not UTF-8" },
    { "\2\0\0\0\0\0\0\0{}x", 11, APR_SAFETENSORS_ERROR_TRAILING_DATA, ": 1 bytes follow" },
  };
  g_autofree char *missing = g_build_filename (folder->folder, "missing", NULL);
  g_autoptr (GError) error = NULL;
  guint i, mode;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (mode = 0; mode < 3; mode++)
      {
        g_autoptr (GBytes) bytes = g_bytes_new (cases[i].bytes, cases[i].size);
        g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
        g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
        g_autoptr (GError) bad = NULL;

        /* From a stream some cases are told apart later, but all by the same code. */
        if (mode == 2)
          g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &bad));
        else
          g_assert_null (reader_open (path, (AprSafetensorsLoadMode) mode, &bad));
        g_assert_error (bad, APR_SAFETENSORS_ERROR, cases[i].code);
        if (mode < 2)
          {
            assert_message_has (bad, cases[i].message);
            g_assert_true (g_str_has_prefix (bad->message, path));
          }
      }

  g_assert_null (reader_open (missing, APR_SAFETENSORS_LOAD_MODE_READ, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (reader_open (folder->folder, APR_SAFETENSORS_LOAD_MODE_READ, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  g_clear_error (&error);
  g_assert_null (reader_open ("/dev/zero", APR_SAFETENSORS_LOAD_MODE_READ, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
}

static gpointer
read_thread (gpointer reader)
{
  guint i;

  for (i = 0; i < 50; i++)
    assert_model (reader);
  return NULL;
}

static void
test_read_threads (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (AprSafetensorsReader) reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, NULL);
  GThread *threads[4];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("read", read_thread, reader);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static void
test_sparse_file (Folder *folder, gconstpointer unused)
{
  static const char claim[] =
    "{\"w\":{\"dtype\":\"U8\",\"shape\":[8796093022208],\"data_offsets\":[0,8796093022208]}}";
  g_autoptr (GBytes) bytes = make_file (claim, "", 0);
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) slice = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("Eight tebibytes that are not there: a slice of them takes what the slice needs.");

  if (truncate (path, (off_t) (g_bytes_get_size (bytes) + 8796093022208)) < 0)
    {
      g_test_skip ("the file system has no files of 8 TiB");
      return;
    }
  reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);
  g_assert_no_error (error);
  slice = apr_safetensors_reader_get_slice (reader, "w", "-5:-1:2", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (slice), ==, 2);
}

static void
test_larger_than_memory (Folder *folder, gconstpointer unused)
{
  guint64 size = (guint64) sysconf (_SC_PHYS_PAGES) * (guint64) sysconf (_SC_PAGESIZE) + ((guint64) 64 << 30);
  g_autofree char *claim = g_strdup_printf ("{\"w\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT
                                            "],\"data_offsets\":[0,%" G_GUINT64_FORMAT "]}}",
                                            size, size);
  g_autoptr (GBytes) bytes = make_file (claim, "", 0);
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;
  GStatBuf status;
  guint8 *memory;

  g_test_summary (
    "A file that is larger than memory and swap together is mapped, and may be written to in memory.");

  if (g_getenv ("APR_TEST_VALGRIND") != NULL)
    {
      g_test_skip ("valgrind has no room for such a mapping");
      return;
    }
  if (truncate (path, (off_t) (g_bytes_get_size (bytes) + size)) < 0)
    {
      g_test_skip ("the file system has no files of this size");
      return;
    }
  reader = apr_safetensors_reader_new_from_path (path, &error);
  g_assert_no_error (error);
  tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (tensor), ==, size);
  memory = (guint8 *) g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  g_assert_cmpuint (memory[0], ==, 0);
  g_assert_cmpuint (memory[size - 1], ==, 0);

  /* As a script can whose binding hands out a writable view. */
  memory[size - 1] = 1;
  g_clear_pointer (&tensor, apr_tensor_unref);
  g_clear_object (&reader);
  g_assert_no_errno (g_stat (path, &status));
  g_assert_cmpint (status.st_blocks, <, 1024);
}

static void
test_same_verdicts (Folder *folder, gconstpointer unused)
{
  guint n_rounds = g_getenv ("APR_TEST_VALGRIND") != NULL ? 100 : 600;
  guint n_good = 0, round;

  g_test_summary (
    "Of a file with some bytes changed, cut or added, mapping, reading and a stream judge alike.");

  for (round = 0; round < n_rounds; round++)
    {
      g_autoptr (GBytes) good = model_new ();
      gsize size = g_bytes_get_size (good);
      guint8 *changed = g_malloc (size + 1);
      g_autofree char *path = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GInputStream) stream = NULL;
      GError *errors[3] = { NULL };
      g_autoptr (AprSafetensorsReader) mapped = NULL;
      g_autoptr (AprSafetensorsReader) read = NULL;
      g_autoptr (AprSafetensorsReader) streamed = NULL;
      guint i;

      memcpy (changed, g_bytes_get_data (good, NULL), size);
      changed[size] = 'x';
      for (i = 0; i < round % 3; i++)
        changed[g_test_rand_int_range (0, (int) size)] =
          (guint8) "0123456789{}[]\",:\\ u\xff"[g_test_rand_int_range (0, 22)];
      if (round % 5 == 1)
        size = (gsize) g_test_rand_int_range (0, (int) size + 2);
      bytes = g_bytes_new_take (changed, size);
      path = folder_write (folder, "model.safetensors", bytes);
      stream = g_memory_input_stream_new_from_bytes (bytes);
      mapped = reader_open (path, APR_SAFETENSORS_LOAD_MODE_MAP, &errors[0]);
      read = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &errors[1]);
      streamed = apr_safetensors_reader_new_from_stream (stream, NULL, &errors[2]);
      g_assert_true ((mapped == NULL) == (read == NULL) && (mapped == NULL) == (streamed == NULL));
      if (mapped == NULL)
        g_assert_cmpstr (errors[0]->message, ==, errors[1]->message);
      n_good += mapped != NULL;
      for (i = 0; i < 3; i++)
        g_clear_error (&errors[i]);
    }
  g_assert_cmpuint (n_good, >, 0);
  g_assert_cmpuint (n_good, <, n_rounds);
}

typedef struct
{
  GMainLoop *loop;
  AprSafetensorsReader *reader;
  GError *error;
} Async;

static void
opened_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Async *async = user_data;

  g_assert_cmpstr (g_task_get_name (G_TASK (result)), ==, "apr_safetensors_reader_new_from_file_async");
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  async->reader = apr_safetensors_reader_new_from_file_finish (result, &async->error);
  g_main_loop_quit (async->loop);
}

static void
open_async (const char *path, GCancellable *cancellable, Async *async)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  *async = (Async){ g_main_loop_new (NULL, FALSE), NULL, NULL };
  apr_safetensors_reader_new_from_file_async (file, G_PRIORITY_LOW, cancellable, opened_cb, async);
  g_assert_null (async->reader);
  g_main_loop_run (async->loop);
  g_main_loop_unref (async->loop);
}

static void
test_async (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autofree char *missing = g_build_filename (folder->folder, "missing", NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Async async;

  open_async (path, cancellable, &async);
  g_assert_no_error (async.error);
  assert_model (async.reader);
  g_object_unref (async.reader);

  open_async (missing, NULL, &async);
  g_assert_error (async.error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (async.error->message, missing));
  g_assert_null (async.reader);
  g_clear_error (&async.error);

  g_cancellable_cancel (cancellable);
  open_async (path, cancellable, &async);
  g_assert_error (async.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (async.reader);
  g_clear_error (&async.error);
}

static void
test_async_cancelled_later (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  guint i;

  g_test_summary ("Cancelled at any time, it either has opened the file or says that it was cancelled.");

  for (i = 0; i < 50; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GFile) file = g_file_new_for_path (path);
      Async async = { g_main_loop_new (NULL, FALSE), NULL, NULL };

      apr_safetensors_reader_new_from_file_async (file, G_PRIORITY_LOW, cancellable, opened_cb, &async);
      g_usleep (i * 4);
      g_cancellable_cancel (cancellable);
      g_main_loop_run (async.loop);
      g_main_loop_unref (async.loop);
      if (async.reader == NULL)
        g_assert_error (async.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true ((async.reader == NULL) == (async.error != NULL));
      g_clear_object (&async.reader);
      g_clear_error (&async.error);
    }
}

static void
test_async_finish_is_misused (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (GTask) plain = g_task_new (NULL, NULL, NULL, NULL);
  g_autoptr (GAsyncResult) of_tensor = NULL, of_reader = NULL;
  g_autoptr (AprSafetensorsReader) opened = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;
  const char *message = "The result is not that of apr_safetensors_reader_new_from_file_async ()";

  apr_safetensors_reader_get_tensor_async (reader, "m", G_PRIORITY_DEFAULT, NULL, on_ready, &of_tensor);
  wait_for (&of_tensor);
  g_assert_null (apr_safetensors_reader_new_from_file_finish (of_tensor, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);
  tensor = apr_safetensors_reader_get_tensor_finish (reader, of_tensor, &error);
  g_assert_no_error (error);
  assert_bytes (tensor, "mnopqr");

  g_assert_null (apr_safetensors_reader_new_from_file_finish (G_ASYNC_RESULT (plain), &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);

  apr_safetensors_reader_new_from_file_async (file, G_PRIORITY_DEFAULT, NULL, on_ready, &of_reader);
  opened = apr_safetensors_reader_new_from_file_finish (wait_for (&of_reader), &error);
  g_assert_no_error (error);
  assert_model (opened);
  g_assert_null (apr_safetensors_reader_new_from_file_finish (of_reader, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
}

/* Gets the tensor “m”, or what @indices take of it, in a thread. */
static AprTensor *
get_async (AprSafetensorsReader *reader, const char *indices, GCancellable *cancellable, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  if (indices != NULL)
    apr_safetensors_reader_get_slice_async (reader, "m", indices, G_PRIORITY_LOW, cancellable, on_ready,
                                            &result);
  else
    apr_safetensors_reader_get_tensor_async (reader, "m", G_PRIORITY_LOW, cancellable, on_ready, &result);
  g_assert_null (result);
  wait_for (&result);
  g_assert_cmpstr (g_task_get_name (G_TASK (result)), ==,
                   indices != NULL ? "apr_safetensors_reader_get_slice_async"
                                   : "apr_safetensors_reader_get_tensor_async");
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  return indices != NULL ? apr_safetensors_reader_get_slice_finish (reader, result, error)
                         : apr_safetensors_reader_get_tensor_finish (reader, result, error);
}

static void
test_tensor_async (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  AprSafetensorsLoadMode mode;

  for (mode = APR_SAFETENSORS_LOAD_MODE_MAP; mode <= APR_SAFETENSORS_LOAD_MODE_READ; mode++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (AprSafetensorsReader) reader =
        g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", file, "load-mode", mode, NULL);
      g_autoptr (AprTensor) whole = get_async (reader, NULL, cancellable, &error);
      g_autoptr (AprTensor) slice = get_async (reader, "::-1, ::2", NULL, &error);

      g_assert_no_error (error);
      assert_bytes (whole, "mnopqr");
      assert_bytes (slice, "prmo");

      g_assert_null (get_async (reader, "0, 7", NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      g_clear_error (&error);
      g_cancellable_cancel (cancellable);
      g_assert_null (get_async (reader, NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
}

static void
test_tensor_async_is_cancelled (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autofree char *path = folder_write (folder, "model.safetensors", bytes);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader =
    g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", file, "load-mode",
                    APR_SAFETENSORS_LOAD_MODE_READ, NULL);

  g_test_summary (
    "Reading a tensor looks at the cancellable of its call, which is the thread's current one.");

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "m", &error));
  g_cancellable_pop_current (cancellable);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_tensor_finish_is_misused (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (AprSafetensorsReader) other = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;

  apr_safetensors_reader_get_tensor_async (reader, "m", G_PRIORITY_DEFAULT, NULL, on_ready, &result);
  wait_for (&result);
  g_assert_null (apr_safetensors_reader_get_slice_finish (reader, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_null (apr_safetensors_reader_get_tensor_finish (other, result, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  tensor = apr_safetensors_reader_get_tensor_finish (reader, result, &error);
  g_assert_no_error (error);
  assert_bytes (tensor, "mnopqr");
}

static void
test_not_native (void)
{
  g_autoptr (GFile) missing = g_file_new_for_uri ("resource:///model.safetensors");
  g_autoptr (GError) error = NULL;

  g_test_summary ("A file without a path on this machine.");

  g_assert_null (apr_safetensors_reader_new_from_file (missing, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (error->message, "resource:///model.safetensors: "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/reader/bytes", test_bytes);
  g_test_add_func ("/safetensors/reader/no-such-tensor", test_no_such_tensor);
  g_test_add_func ("/safetensors/reader/error-names", test_error_names);
  g_test_add_func ("/safetensors/reader/bad-slices", test_bad_slices);
  g_test_add_func ("/safetensors/reader/not-native", test_not_native);
#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/reader/properties", test_properties);
  ADD ("/safetensors/reader/max-header-size", test_max_header_size);
  ADD ("/safetensors/reader/read", test_read);
  ADD ("/safetensors/reader/read/truncated", test_read_truncated);
  ADD ("/safetensors/reader/read/bad-files", test_read_bad_files);
  ADD ("/safetensors/reader/read/threads", test_read_threads);
  ADD ("/safetensors/reader/read/sparse-file", test_sparse_file);
  /* valgrind maps nothing that is larger than memory. */
  if (g_getenv ("APRENDER_UNDER_VALGRIND") == NULL)
    ADD ("/safetensors/reader/larger-than-memory", test_larger_than_memory);
  ADD ("/safetensors/reader/same-verdicts", test_same_verdicts);
  ADD ("/safetensors/reader/async", test_async);
  ADD ("/safetensors/reader/async/cancelled-later", test_async_cancelled_later);
  ADD ("/safetensors/reader/async/finish-is-misused", test_async_finish_is_misused);
  ADD ("/safetensors/reader/tensor-async", test_tensor_async);
  ADD ("/safetensors/reader/tensor-async/cancelled", test_tensor_async_is_cancelled);
  g_test_add_func ("/safetensors/reader/tensor-async/finish-is-misused", test_tensor_finish_is_misused);

  return g_test_run ();
}
