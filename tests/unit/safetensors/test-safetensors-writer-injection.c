/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/injected-server.h"

static void
declare (AprSafetensorsWriter *writer, const char *name, gsize size)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_declare_tensor (writer, name, APR_DTYPE_U8, &size, 1, &error));
  g_assert_no_error (error);
}

static void
add (AprSafetensorsWriter *writer, const char *name, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (GError) error = NULL;

  declare (writer, name, strlen (text));
  g_assert_true (apr_safetensors_writer_set_source_bytes (writer, name, bytes, &error));
  g_assert_no_error (error);
}

/* The bytes of a file with the tensor "a" that holds the text. */
static GBytes *
expect (const char *text)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  GBytes *bytes;

  add (writer, "a", text);
  bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
  g_assert_nonnull (bytes);
  return bytes;
}

static void
assert_writes (AprSafetensorsWriter *writer, GBytes *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_safetensors_writer_write_to_bytes (writer, &error);

  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, expected));
}

static void
test_file_fails (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GFile) file = server_file_new ("model.safetensors");
  g_autoptr (GBytes) expected = expect ("12345678");
  g_autoptr (GError) error = NULL;
  Call call;

  g_test_summary ("A server that fails at any moment keeps its old file, and is told to forget the new one.");

  add (writer, "a", "12345678");
  for (call = CALL_REPLACE; call <= CALL_CLOSE; call++)
    {
      server_set_up (call, 0);
      server_put ("model.safetensors", "old");
      g_assert_false (apr_safetensors_writer_write_to_file (writer, file, NULL, &error));
      assert_error (error, "server:///model.safetensors: the server is down");
      g_clear_error (&error);
      assert_served ("model.safetensors", "old", 3);
      g_assert_cmpuint (server.n_open, ==, 0);
    }
  server_set_up (CALL_NONE, 0);
  server_put ("model.safetensors", "old");
  g_assert_true (apr_safetensors_writer_write_to_file (writer, file, NULL, &error));
  g_assert_no_error (error);
  assert_served ("model.safetensors", g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
  g_assert_cmpuint (server.n_open, ==, 0);
}

static void
test_shards_fail (void)
{
  static const char *const names[] = {
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model.safetensors.index.json",
  };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GFile) folder = server_file_new ("");
  g_autoptr (GBytes) first = expect ("12345678");
  g_autoptr (GError) error = NULL;
  guint i, j;
  Call call;

  g_test_summary ("Whichever file fails, the new ones are gone; only those may stay that replaced others.");

  add (writer, "a", "12345678");
  add (writer, "b", "1234567");
  for (call = CALL_REPLACE; call <= CALL_CLOSE; call++)
    for (i = 0; i < 3; i++)
      for (j = 0; j < 2; j++)
        {
          g_autofree char *message = g_strdup_printf ("server:///%s: the server is down", names[i]);
          gboolean replaces = j == 1;

          /* A shard's header, and its tensor, are two calls; the index is one. */
          server_set_up (call, call == CALL_WRITE ? 2 * i : i);
          if (replaces)
            {
              server_put (names[0], "old");
              server_put (names[2], "old");
            }
          g_assert_false (apr_safetensors_writer_write_shards (writer, folder, "model", 8, NULL, &error));
          assert_error (error, message);
          g_clear_error (&error);
          g_assert_cmpuint (server.n_open, ==, 0);
          g_assert_cmpuint (g_hash_table_size (server.files), ==, replaces ? 2 : 0);
          if (!replaces)
            continue;
          assert_served (names[2], "old", 3);
          if (call == CALL_CLOSE && i > 0)
            assert_served (names[0], g_bytes_get_data (first, NULL), g_bytes_get_size (first));
          else
            assert_served (names[0], "old", 3);
        }
  server_set_up (CALL_NONE, 0);
  g_assert_true (apr_safetensors_writer_write_shards (writer, folder, "model", 8, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (server.files), ==, 3);
  assert_served (names[0], g_bytes_get_data (first, NULL), g_bytes_get_size (first));
}

static GBytes *
give_zeros (AprSafetensorsWriter *writer,
            const char *name,
            guint64 offset,
            gsize size,
            gpointer user_data,
            GError **error)
{
  ++*(guint *) user_data;
  return g_bytes_new_take (g_malloc0 (size), size);
}

static void
assert_stream_fails (AprSafetensorsWriter *writer, guint n_good)
{
  g_autoptr (GOutputStream) stream = NULL;
  g_autoptr (GError) error = NULL;

  server_set_up (CALL_WRITE, n_good);
  stream = server_stream_new (NULL);
  g_assert_false (apr_safetensors_writer_write_to_stream (writer, stream, NULL, &error));
  assert_error (error, "the server is down");
  g_assert_false (g_output_stream_is_closed (stream));
  g_assert_cmpuint (server.n_calls[CALL_WRITE], ==, n_good + 1);
}

static void
test_stream_fails (void)
{
  static const gsize mebibyte = (gsize) 1 << 20;
  g_autoptr (AprSafetensorsWriter) with_function = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) with_stream = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) with_header = apr_safetensors_writer_new ();
  g_autofree char *text = g_strnfill (3 * mebibyte, 'x');
  g_autofree char *value = g_strnfill (17 * mebibyte, 'x');
  g_autoptr (TextStream) source = text_stream_new (text, TRUE);
  guint n_calls = 0;

  g_test_summary ("Once the output has failed, no source is asked for more, and nothing else is written.");

  declare (with_function, "a", 3 * mebibyte);
  apr_safetensors_writer_set_data_func (with_function, give_zeros, &n_calls, NULL);
  assert_stream_fails (with_function, 0);
  g_assert_cmpuint (n_calls, ==, 0);
  assert_stream_fails (with_function, 2);
  g_assert_cmpuint (n_calls, ==, 2);

  declare (with_stream, "a", 3 * mebibyte);
  g_assert_true (apr_safetensors_writer_set_source_stream (with_stream, "a", G_INPUT_STREAM (source), NULL));
  assert_stream_fails (with_stream, 0);
  g_assert_cmpint (source->position, ==, 0);
  assert_stream_fails (with_stream, 2);
  g_assert_cmpint (source->position, ==, 2 * mebibyte);

  g_assert_true (apr_safetensors_writer_set_metadata (with_header, "key", value, NULL));
  assert_stream_fails (with_header, 0);
  assert_stream_fails (with_header, 1);
}

static void
test_nothing_to_write (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GOutputStream) stream = NULL;
  g_autoptr (GError) error = NULL;

  server_set_up (CALL_NONE, 0);
  stream = server_stream_new (NULL);
  declare (writer, "a", 5);
  g_assert_false (apr_safetensors_writer_write_to_stream (writer, stream, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
  g_assert_cmpstr (error->message, ==, "tensor “a”: it has no source for its 5 bytes");
  g_assert_cmpuint (server.n_calls[CALL_WRITE], ==, 0);
}

static void
test_source_fails (void)
{
  g_autoptr (GBytes) expected = expect ("12345678");
  guint n_good;

  g_test_summary ("A stream that can seek is there for the next write, one that cannot is spent.");

  /* Eight bytes take four calls, and one more sees that there are no others. */
  for (n_good = 0; n_good < 5; n_good++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (TextStream) source = text_stream_new ("--12345678", n_good % 2 == 0);
      g_autoptr (GError) error = NULL;

      source->position = 2;
      declare (writer, "a", 8);
      g_assert_true (apr_safetensors_writer_set_source_stream (writer, "a", G_INPUT_STREAM (source), &error));
      server_set_up (CALL_READ, n_good);
      g_assert_null (apr_safetensors_writer_write_to_bytes (writer, &error));
      assert_error (error, "tensor “a”: the server is down");
      g_clear_error (&error);
      if (source->can_seek)
        {
          assert_writes (writer, expected);
          continue;
        }
      g_assert_null (apr_safetensors_writer_write_to_bytes (writer, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
      g_assert_cmpstr (error->message, ==, "tensor “a”: its stream has been read, and cannot go back");
      g_assert_cmpuint (server.n_calls[CALL_READ], ==, n_good + 1);
    }
}

static void
test_source_does_not_seek (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (TextStream) source = text_stream_new ("--12345678", TRUE);
  g_autoptr (GBytes) expected = expect ("12345678");
  g_autoptr (GError) error = NULL;

  source->position = 2;
  declare (writer, "a", 8);
  g_assert_true (apr_safetensors_writer_set_source_stream (writer, "a", G_INPUT_STREAM (source), &error));
  server_set_up (CALL_SEEK, 1);
  assert_writes (writer, expected);
  g_assert_null (apr_safetensors_writer_write_to_bytes (writer, &error));
  assert_error (error, "tensor “a”: the server is down");
  assert_writes (writer, expected);
}

static void
test_source_is_busy (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (TextStream) source = text_stream_new ("12345678", TRUE);
  g_autoptr (GBytes) expected = expect ("12345678");
  g_autoptr (GError) error = NULL;

  g_test_summary ("A write that another one's source begins cannot have the same source.");

  declare (writer, "a", 8);
  g_assert_true (apr_safetensors_writer_set_source_stream (writer, "a", G_INPUT_STREAM (source), &error));
  source->writer = writer;
  server_set_up (CALL_NONE, 0);
  assert_writes (writer, expected);
  g_assert_cmpuint (server.n_calls[CALL_READ], ==, 5);
}

/* What is told of a write's progress, and when it is to be cancelled. */
typedef struct
{
  goffset done[8];
  guint n_told;
  GCancellable *cancellable;
  guint n_good;
} Progress;

static void
tell (goffset done, goffset total, gpointer user_data)
{
  Progress *self = user_data;

  g_assert_cmpuint (self->n_told, <, G_N_ELEMENTS (self->done));
  self->done[self->n_told] = done;
  if (self->n_told++ == self->n_good)
    g_cancellable_cancel (self->cancellable);
}

static void
test_cancelled_by_progress (void)
{
  static const char *const messages[] = {
    "server:///model.safetensors: tensor “a”: Operation was cancelled",
    "server:///model.safetensors: tensor “a”: Operation was cancelled",
    "server:///model.safetensors: Operation was cancelled",
  };
  guint i;

  g_test_summary ("After the header, after the first of two blocks, and when only the commit is left.");

  for (i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GFile) file = server_file_new ("model.safetensors");
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Progress progress = { .cancellable = cancellable, .n_good = i };
      g_autoptr (GError) error = NULL;
      guint n_calls = 0;

      server_set_up (CALL_NONE, 0);
      server_put ("model.safetensors", "old");
      declare (writer, "a", ((gsize) 1 << 20) + 1);
      apr_safetensors_writer_set_data_func (writer, give_zeros, &n_calls, NULL);
      apr_safetensors_writer_set_progress_func (writer, tell, &progress, NULL);
      g_assert_false (apr_safetensors_writer_write_to_file (writer, file, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpstr (error->message, ==, messages[i]);
      g_assert_cmpuint (n_calls, ==, i);
      g_assert_cmpuint (progress.n_told, ==, i + 1);
      assert_served ("model.safetensors", "old", 3);
      g_assert_cmpuint (server.n_open, ==, 0);
    }
}

static void
test_batches (void)
{
  static const gsize mebibyte = (gsize) 1 << 20;
  g_autoptr (AprSafetensorsWriter) small = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) large = apr_safetensors_writer_new ();
  g_autofree char *text = g_strnfill (40 * mebibyte, 'x');
  Progress of_small = { .n_good = G_MAXUINT };
  Progress of_large = { .n_good = G_MAXUINT };
  g_autoptr (GBytes) bytes = NULL;
  goffset size;
  guint i;

  g_test_summary ("The progress is told after 64 pieces or 16 MiB, of which the header is the first.");

  for (i = 0; i < 200; i++)
    {
      g_autofree char *name = g_strdup_printf ("%03u", i);

      add (small, name, "12345678");
    }
  apr_safetensors_writer_set_progress_func (small, tell, &of_small, NULL);
  bytes = apr_safetensors_writer_write_to_bytes (small, NULL);
  size = (goffset) g_bytes_get_size (bytes);
  g_assert_cmpuint (of_small.n_told, ==, 4);
  g_assert_cmpint (of_small.done[0], ==, size - 137 * 8);
  g_assert_cmpint (of_small.done[1], ==, size - 73 * 8);
  g_assert_cmpint (of_small.done[2], ==, size - 9 * 8);
  g_assert_cmpint (of_small.done[3], ==, size);

  add (large, "a", text);
  apr_safetensors_writer_set_progress_func (large, tell, &of_large, NULL);
  g_clear_pointer (&bytes, g_bytes_unref);
  bytes = apr_safetensors_writer_write_to_bytes (large, NULL);
  g_assert_cmpuint (of_large.n_told, ==, 3);
  g_assert_cmpint (of_large.done[0], ==, 16777216);
  g_assert_cmpint (of_large.done[1], ==, 33554432);
  g_assert_cmpint (of_large.done[2], ==, g_bytes_get_size (bytes));
}

static void
test_shards_overflow (void)
{
  g_autoptr (GFile) folder = server_file_new ("");
  guint i;

  g_test_summary ("Each of these shards could be a file; all of them have 2^63 - 1 bytes, or one more.");

  if (GLIB_SIZEOF_SIZE_T < 8)
    return;
  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GError) error = NULL;
      guint n_calls = 0;

      /* Each has a header of 104 bytes, too. */
      declare (writer, "a", G_MAXSIZE / 8);
      declare (writer, "b", G_MAXSIZE / 8);
      declare (writer, "c", G_MAXSIZE / 8);
      declare (writer, "d", (gsize) G_GUINT64_CONSTANT (2305843009213693538) + i);
      apr_safetensors_writer_set_data_func (writer, give_zeros, &n_calls, NULL);
      server_set_up (CALL_REPLACE, 0);
      g_assert_false (
        apr_safetensors_writer_write_shards (writer, folder, "model", G_MAXSIZE / 8, NULL, &error));
      g_assert_cmpuint (server.n_calls[CALL_REPLACE], ==, 1 - i);
      if (i == 0)
        assert_error (error, "server:///model-00001-of-00004.safetensors: the server is down");
      else
        {
          g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW);
          g_assert_cmpstr (
            error->message, ==,
            "server:///model-00004-of-00004.safetensors: its 2305843009213693643 bytes are too many "
            "beside the 6917529027641082165 of the shards before it");
        }
      g_clear_error (&error);

      /* All in one is too much for that one. */
      g_assert_false (
        apr_safetensors_writer_write_shards (writer, folder, "model", G_MAXUINT64, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW);
      g_assert_true (g_str_has_prefix (error->message, "server:///model.safetensors: with tensor “d”"));
      g_assert_cmpuint (n_calls, ==, 0);
    }
}

static void
test_file_overflows (void)
{
  g_autoptr (GFile) file = server_file_new ("model.safetensors");
  guint i;

  g_test_summary ("A file of 2^63 - 1 bytes may be begun, where the longest header is reckoned with.");

  if (GLIB_SIZEOF_SIZE_T < 8)
    return;
  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GError) error = NULL;
      guint n_calls = 0;

      declare (writer, "a", G_MAXSIZE / 8);
      declare (writer, "b", G_MAXSIZE / 8);
      declare (writer, "c", G_MAXSIZE / 8);
      /* 2^63 - 1, without three times 2^61 - 1, 8, and 100,000,000. */
      declare (writer, "d", (gsize) G_GUINT64_CONSTANT (2305843009113693946) + i);
      apr_safetensors_writer_set_data_func (writer, give_zeros, &n_calls, NULL);
      server_set_up (CALL_REPLACE, 0);
      g_assert_false (apr_safetensors_writer_write_to_file (writer, file, NULL, &error));
      g_assert_cmpuint (server.n_calls[CALL_REPLACE], ==, 1 - i);
      if (i == 0)
        assert_error (error, "server:///model.safetensors: the server is down");
      else
        {
          g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW);
          assert_message_has (error, "with tensor “d” of 2305843009113693947 bytes");
        }
      g_assert_cmpuint (n_calls, ==, 0);
    }
}

static void
on_written (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_async_result_is_tagged (result, apr_safetensors_writer_write_to_file_async));
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  g_assert_true (
    apr_safetensors_writer_write_to_file_finish (APR_SAFETENSORS_WRITER (source), result, &error));
  g_assert_no_error (error);
  g_main_loop_quit (user_data);
}

static void
count_up (gpointer user_data)
{
  ++*(guint *) user_data;
}

static void
test_function_outlives_write (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GFile) file = server_file_new ("model.safetensors");
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  guint n_freed = 0;

  g_test_summary (
    "A function that the writer has kept is freed at once when it is replaced after the write.");

  server_set_up (CALL_NONE, 0);
  declare (writer, "a", 8);
  apr_safetensors_writer_set_data_func (writer, give_zeros, &n_freed, count_up);
  apr_safetensors_writer_write_to_file_async (writer, file, G_PRIORITY_LOW, NULL, on_written, loop);
  g_main_loop_run (loop);
  /* It was called once; it is not freed yet. */
  g_assert_cmpuint (n_freed, ==, 1);
  apr_safetensors_writer_set_data_func (writer, NULL, NULL, NULL);
  g_assert_cmpuint (n_freed, ==, 2);
}

static gpointer
unref_in_thread (gpointer object)
{
  g_object_unref (object);
  return NULL;
}

static void
test_function_dies_elsewhere (void)
{
  AprSafetensorsWriter *writer = apr_safetensors_writer_new ();
  guint n_freed = 0;

  g_test_summary ("Where nothing was written in the background, no main context has to be iterated.");

  apr_safetensors_writer_set_data_func (writer, give_zeros, &n_freed, count_up);
  g_thread_join (g_thread_new ("test", unref_in_thread, writer));
  g_assert_cmpuint (n_freed, ==, 1);
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/writer-injection/file-fails", test_file_fails);
  g_test_add_func ("/safetensors/writer-injection/shards-fail", test_shards_fail);
  g_test_add_func ("/safetensors/writer-injection/shards-overflow", test_shards_overflow);
  g_test_add_func ("/safetensors/writer-injection/file-overflows", test_file_overflows);
  g_test_add_func ("/safetensors/writer-injection/stream-fails", test_stream_fails);
  g_test_add_func ("/safetensors/writer-injection/nothing-to-write", test_nothing_to_write);
  g_test_add_func ("/safetensors/writer-injection/source-fails", test_source_fails);
  g_test_add_func ("/safetensors/writer-injection/source-does-not-seek", test_source_does_not_seek);
  g_test_add_func ("/safetensors/writer-injection/source-is-busy", test_source_is_busy);
  g_test_add_func ("/safetensors/writer-injection/cancelled-by-progress", test_cancelled_by_progress);
  g_test_add_func ("/safetensors/writer-injection/batches", test_batches);
  g_test_add_func ("/safetensors/writer-injection/function-outlives-write", test_function_outlives_write);
  g_test_add_func ("/safetensors/writer-injection/function-dies-elsewhere", test_function_dies_elsewhere);

  result = g_test_run ();
  g_clear_pointer (&server.files, g_hash_table_unref);
  return result;
}
