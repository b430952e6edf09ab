/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/streaming-test.h"

static void
on_written (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_true (g_thread_self () == fixture->thread);
  fixture->result = g_object_ref (result);
}

static gboolean
write_async (Fixture *fixture, GError **error)
{
  g_clear_object (&fixture->result);
  apr_safetensors_writer_write_to_file_async (fixture->writer, fixture->file, G_PRIORITY_DEFAULT,
                                              fixture->cancellable, on_written, fixture);
  g_assert_null (fixture->result);
  /* What is done to the writer now has no part in it. */
  declare (fixture, "later", APR_DTYPE_U8, 100);
  apr_safetensors_writer_set_data_func (fixture->writer, NULL, NULL, NULL);
  apr_safetensors_writer_set_progress_func (fixture->writer, NULL, NULL, NULL);
  g_assert_false (fixture->is_released);
  apr_safetensors_writer_set_alignment (fixture->writer, 4096);
  while (fixture->result == NULL)
    g_main_context_iteration (g_main_context_get_thread_default (), TRUE);
  return apr_safetensors_writer_write_to_file_finish (fixture->writer, fixture->result, error);
}

static void
test_async (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = expect (8, "a", "0123456789", "b", "a stream", NULL);
  g_autoptr (GInputStream) stream = memory_stream ("a stream");
  GMainContext *context = g_main_context_new ();
  g_autoptr (GSource) idle = g_idle_source_new ();
  gboolean has_context = GPOINTER_TO_INT (data);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_test_summary ("The functions are called, and freed, in the thread that began the write.");

  if (has_context)
    g_main_context_push_thread_default (context);
  declare (fixture, "a", APR_DTYPE_U8, 10);
  declare (fixture, "b", APR_DTYPE_U8, 8);
  set_stream (fixture, "b", stream);
  apr_safetensors_writer_set_data_func (fixture->writer, give_digits, fixture, release);
  apr_safetensors_writer_set_progress_func (fixture->writer, count_progress, fixture, NULL);
  g_assert_true (write_async (fixture, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
  g_assert_cmpuint (fixture->n_calls, ==, 4);
  g_assert_cmpint (fixture->progress, ==, length);
  g_assert_cmpint (fixture->total, ==, length);
  g_assert_true (fixture->is_released);
  if (has_context)
    g_main_context_pop_thread_default (context);
  /* Nobody keeps the context, though the write's thread may hold it a moment longer. */
  g_source_attach (idle, context);
  g_clear_object (&fixture->result);
  g_main_context_unref (context);
  while (!g_source_is_destroyed (idle))
    g_usleep (1000);
}

static void
test_async_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  declare (fixture, "large", APR_DTYPE_U8, 200 * BLOCK);
  apr_safetensors_writer_set_data_func (fixture->writer, give_blocks, fixture, release);
  apr_safetensors_writer_set_progress_func (fixture->writer, count_progress, fixture, release);
  g_assert_false (write_async (fixture, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  g_assert_cmpuint (fixture->n_calls, ==, 100);
  g_assert_true (fixture->is_released);
  assert_contents (fixture, "old");
}

static void
test_async_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_test_summary ("What is wrong before the first byte comes through the callback too.");

  declare (fixture, "a", APR_DTYPE_U8, 1);
  g_assert_false (write_async (fixture, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  assert_message_has (error, "“a”");
}

/* Both may come in one iteration of the context. */
static void
on_one_of_two (GObject *source, GAsyncResult *result, gpointer results)
{
  g_ptr_array_add (results, g_object_ref (result));
}

static void
test_async_twice (Fixture *fixture, gconstpointer data)
{
  g_autofree char *other_path = g_build_filename (fixture->folder, "other.safetensors", NULL);
  g_autoptr (GFile) other = g_file_new_for_path (other_path);
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GBytes) expected = NULL;
  GFile *files[] = { fixture->file, other };
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (g_object_unref);
  guint n_written = 0;
  guint i;

  g_test_summary ("Two writes that want one stream at once: each is right, or says that it cannot be.");

  for (i = 0; i < 3 * BLOCK; i++)
    g_string_append_c (text, (char) ('a' + i % 23));
  expected = expect (8, "a", text->str, NULL);
  stream = memory_stream (text->str);
  declare (fixture, "a", APR_DTYPE_U8, text->len);
  set_stream (fixture, "a", stream);
  for (i = 0; i < 2; i++)
    apr_safetensors_writer_write_to_file_async (fixture->writer, files[i], G_PRIORITY_DEFAULT, NULL,
                                                on_one_of_two, results);
  while (results->len < 2)
    g_main_context_iteration (NULL, TRUE);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      if (apr_safetensors_writer_write_to_file_finish (fixture->writer, g_ptr_array_index (results, i),
                                                       &error))
        n_written++;
      else
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
          assert_message_has (error, "“a”: its stream is being read by another write");
        }
    }
  g_assert_cmpuint (n_written, >, 0);
  for (i = 0; i < 2; i++)
    {
      g_autofree char *contents = NULL;
      gsize length;

      if (!g_file_load_contents (files[i], NULL, &contents, &length, NULL, NULL))
        continue;
      g_assert_true (length == g_bytes_get_size (expected));
      g_assert_true (memcmp (contents, g_bytes_get_data (expected, NULL), length) == 0);
      n_written--;
    }
  g_assert_cmpuint (n_written, ==, 0);
  g_unlink (other_path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/streaming/async/cancelled", test_async_cancelled);
  ADD ("/safetensors/streaming/async/fails", test_async_fails);
  ADD ("/safetensors/streaming/async/twice", test_async_twice);
  g_test_add ("/safetensors/streaming/async/default-context", Fixture, GINT_TO_POINTER (FALSE), set_up,
              test_async, tear_down);
  g_test_add ("/safetensors/streaming/async/own-context", Fixture, GINT_TO_POINTER (TRUE), set_up, test_async,
              tear_down);

  return g_test_run ();
}
