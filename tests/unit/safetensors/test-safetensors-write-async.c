/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/safetensors-test.h"
#include "tests/waiting.h"

/* That asynchronous writes make what those that block make, and fail as they do. */

typedef struct
{
  GMainLoop *loop;
  GBytes *bytes;
  gboolean succeeded;
  GError *error;
} Outcome;

static void
on_bytes (GObject *source, GAsyncResult *result, gpointer data)
{
  Outcome *outcome = data;

  g_assert_true (g_async_result_is_tagged (result, apr_safetensors_writer_write_to_bytes_async));
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  outcome->bytes =
    apr_safetensors_writer_write_to_bytes_finish (APR_SAFETENSORS_WRITER (source), result, &outcome->error);
  g_main_loop_quit (outcome->loop);
}

static void
on_stream (GObject *source, GAsyncResult *result, gpointer data)
{
  Outcome *outcome = data;

  g_assert_true (g_async_result_is_tagged (result, apr_safetensors_writer_write_to_stream_async));
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  outcome->succeeded =
    apr_safetensors_writer_write_to_stream_finish (APR_SAFETENSORS_WRITER (source), result, &outcome->error);
  g_main_loop_quit (outcome->loop);
}

static void
on_shards (GObject *source, GAsyncResult *result, gpointer data)
{
  Outcome *outcome = data;

  g_assert_true (g_async_result_is_tagged (result, apr_safetensors_writer_write_shards_async));
  g_assert_cmpint (g_task_get_priority (G_TASK (result)), ==, G_PRIORITY_LOW);
  outcome->succeeded =
    apr_safetensors_writer_write_shards_finish (APR_SAFETENSORS_WRITER (source), result, &outcome->error);
  g_main_loop_quit (outcome->loop);
}

static void
outcome_clear (Outcome *self)
{
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static AprSafetensorsWriter *
writer_new (void)
{
  AprSafetensorsWriter *writer = apr_safetensors_writer_new ();
  const double values[] = { 1, 2, 3 };
  const gsize shape[] = { 3 };
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_doubles (values, 3, shape, 1, NULL);

  apr_safetensors_writer_set_durable (writer, FALSE);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "a", tensor, NULL));
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "b", tensor, NULL));
  return writer;
}

/* The bytes of what is asked for, all the same; in the thread that asks. */
static GBytes *
give_ones (
  AprSafetensorsWriter *writer, const char *name, guint64 offset, gsize size, gpointer data, GError **error)
{
  gsize given = MIN (size, 1000);

  g_assert_true (g_thread_self () == data);
  return g_bytes_new_take (memset (g_malloc (given), 1, given), given);
}

static void
test_bytes (void)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GBytes) expected = NULL;
  g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };
  const gsize shape[] = { 1500, 1000 };

  g_test_summary (
    "The function that supplies data is called here, a block at a time, and the bytes are the same.");

  g_assert_true (apr_safetensors_writer_declare_tensor (writer, "c", APR_DTYPE_U8, shape, 2, NULL));
  apr_safetensors_writer_set_data_func (writer, give_ones, g_thread_self (), NULL);
  expected = apr_safetensors_writer_write_to_bytes (writer, NULL);
  apr_safetensors_writer_write_to_bytes_async (writer, G_PRIORITY_LOW, NULL, on_bytes, &outcome);
  /* What is written is what there was. */
  apr_safetensors_writer_set_alignment (writer, 4096);
  g_main_loop_run (outcome.loop);
  g_assert_no_error (outcome.error);
  g_assert_true (g_bytes_equal (outcome.bytes, expected));
}

static void
test_bytes_cancelled (void)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };

  g_cancellable_cancel (cancellable);
  apr_safetensors_writer_write_to_bytes_async (writer, G_PRIORITY_LOW, cancellable, on_bytes, &outcome);
  g_main_loop_run (outcome.loop);
  g_assert_null (outcome.bytes);
  g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_bytes_fail (void)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const gsize shape[] = { 1 };
  guint i;

  for (i = 0; i < 2; i++)
    {
      g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };

      if (i == 0)
        g_cancellable_cancel (cancellable);
      else
        {
          g_cancellable_reset (cancellable);
          g_assert_true (apr_safetensors_writer_declare_tensor (writer, "c", APR_DTYPE_U8, shape, 1, NULL));
        }
      apr_safetensors_writer_set_data_func (writer, i == 0 ? give_ones : NULL, g_thread_self (), NULL);
      if (i == 0)
        g_assert_true (apr_safetensors_writer_declare_tensor (writer, "d", APR_DTYPE_U8, shape, 1, NULL));
      apr_safetensors_writer_write_to_bytes_async (writer, G_PRIORITY_LOW, cancellable, on_bytes, &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_null (outcome.bytes);
      if (i == 0)
        g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_error (outcome.error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
    }
}

static void
test_stream (void)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GBytes) expected = NULL;
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };
  const gsize shape[] = { 1500, 1000 };

  g_test_summary ("The stream gets the bytes of the file, and stays open.");

  g_assert_true (apr_safetensors_writer_declare_tensor (writer, "c", APR_DTYPE_U8, shape, 2, NULL));
  apr_safetensors_writer_set_data_func (writer, give_ones, g_thread_self (), NULL);
  expected = apr_safetensors_writer_write_to_bytes (writer, NULL);
  apr_safetensors_writer_write_to_stream_async (writer, stream, G_PRIORITY_LOW, NULL, on_stream, &outcome);
  apr_safetensors_writer_set_alignment (writer, 4096);
  g_main_loop_run (outcome.loop);
  g_assert_no_error (outcome.error);
  g_assert_true (outcome.succeeded);
  g_assert_false (g_output_stream_is_closed (stream));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  written = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  g_assert_true (g_bytes_equal (written, expected));
}

static void
test_stream_fails (void)
{
  const gsize shape[] = { 1 };
  guint i;

  g_test_summary ("A stream that is full, a cancelled write and a tensor without data.");

  for (i = 0; i < 3; i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = writer_new ();
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      guint8 place[20];
      g_autoptr (GOutputStream) stream = g_memory_output_stream_new (place, sizeof place, NULL, NULL);
      g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };

      if (i == 1)
        g_cancellable_cancel (cancellable);
      else if (i == 2)
        g_assert_true (apr_safetensors_writer_declare_tensor (writer, "c", APR_DTYPE_U8, shape, 1, NULL));
      apr_safetensors_writer_write_to_stream_async (writer, stream, G_PRIORITY_LOW, cancellable, on_stream,
                                                    &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_false (outcome.succeeded);
      g_assert_false (g_output_stream_is_closed (stream));
      if (i == 0)
        g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
      else if (i == 1)
        g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_error (outcome.error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
    }
}

static void
test_shards (Folder *folder, gconstpointer unused)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GFile) file = g_file_new_for_path (folder->folder);
  g_autofree char *path = g_build_filename (folder->folder, "m.safetensors.index.json", NULL);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };
  GError *error = NULL;

  apr_safetensors_writer_write_shards_async (writer, file, "m", 24, G_PRIORITY_LOW, NULL, on_shards,
                                             &outcome);
  g_clear_object (&writer);
  g_main_loop_run (outcome.loop);
  g_assert_no_error (outcome.error);
  g_assert_true (outcome.succeeded);
  reader = apr_safetensors_reader_new_from_path (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((char **) apr_safetensors_reader_get_names (reader)), ==, 2);
}

static void
test_shards_fail (Folder *folder, gconstpointer unused)
{
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (GFile) file = g_file_new_for_path (folder->folder);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GDir) dir = g_dir_open (folder->folder, 0, NULL);
  guint i;

  g_cancellable_cancel (cancellable);
  for (i = 0; i < 2; i++)
    {
      g_auto (Outcome) outcome = { g_main_loop_new (NULL, FALSE) };

      apr_safetensors_writer_write_shards_async (writer, file, i == 0 ? "m" : "m/n", 24, G_PRIORITY_LOW,
                                                 cancellable, on_shards, &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_false (outcome.succeeded);
      if (i == 0)
        g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME);
    }
  g_assert_null (g_dir_read_name (dir));
}

static gboolean
finish_bytes (AprSafetensorsWriter *writer, GAsyncResult *result, GError **error)
{
  g_autoptr (GBytes) bytes = apr_safetensors_writer_write_to_bytes_finish (writer, result, error);

  return bytes != NULL;
}

static void
test_finish_is_misused (Folder *folder, gconstpointer unused)
{
  gboolean (*const finish[]) (AprSafetensorsWriter *, GAsyncResult *,
                              GError **) = { apr_safetensors_writer_write_to_file_finish,
                                             apr_safetensors_writer_write_shards_finish, finish_bytes,
                                             apr_safetensors_writer_write_to_stream_finish };
  g_autoptr (AprSafetensorsWriter) writer = writer_new ();
  g_autoptr (AprSafetensorsWriter) other = writer_new ();
  g_autoptr (GFile) dir = g_file_new_for_path (folder->folder);
  g_autoptr (GFile) file = g_file_get_child (dir, "m.safetensors");
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  GAsyncResult *results[4] = { NULL };
  GError *error = NULL;
  guint i;
  guint j;

  g_test_summary ("The result of another call or writer fails, and the right one is still there, once.");

  apr_safetensors_writer_write_to_file_async (writer, file, G_PRIORITY_LOW, NULL, on_ready, &results[0]);
  apr_safetensors_writer_write_shards_async (writer, dir, "s", 24, G_PRIORITY_LOW, NULL, on_ready,
                                             &results[1]);
  apr_safetensors_writer_write_to_bytes_async (writer, G_PRIORITY_LOW, NULL, on_ready, &results[2]);
  apr_safetensors_writer_write_to_stream_async (writer, stream, G_PRIORITY_LOW, NULL, on_ready, &results[3]);
  wait_for (&results[0]);
  wait_for (&results[1]);
  wait_for (&results[2]);
  wait_for (&results[3]);
  for (i = 0; i < G_N_ELEMENTS (finish); i++)
    {
      for (j = 0; j < G_N_ELEMENTS (results); j++)
        {
          g_assert_false (finish[i](i == j ? other : writer, results[j], &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
          g_clear_error (&error);
        }
      g_assert_true (finish[i](writer, results[i], &error));
      g_assert_no_error (error);
      g_assert_false (finish[i](writer, results[i], &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
      g_clear_error (&error);
    }
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/write-async/bytes", test_bytes);
  g_test_add_func ("/safetensors/write-async/bytes/cancelled", test_bytes_cancelled);
  g_test_add_func ("/safetensors/write-async/bytes/fail", test_bytes_fail);
  g_test_add_func ("/safetensors/write-async/stream", test_stream);
  g_test_add_func ("/safetensors/write-async/stream/fails", test_stream_fails);
#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/write-async/shards", test_shards);
  ADD ("/safetensors/write-async/shards/fail", test_shards_fail);
  ADD ("/safetensors/write-async/finish-is-misused", test_finish_is_misused);

  return g_test_run ();
}
