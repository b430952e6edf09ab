/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/table-test.h"
#include "tests/waiting.h"

/* The linker sends the library's calls of this function here: a task that returns a pointer can be cancelled when its
 * work is done, but its callback has not been called. */
void __real_g_task_return_pointer (GTask *task, gpointer result, GDestroyNotify free_result);
void __wrap_g_task_return_pointer (GTask *task, gpointer result, GDestroyNotify free_result);

static gboolean cancels_late;

void
__wrap_g_task_return_pointer (GTask *task, gpointer result, GDestroyNotify free_result)
{
  if (cancels_late)
    g_cancellable_cancel (g_task_get_cancellable (task));
  __real_g_task_return_pointer (task, result, free_result);
}

/* Without a thread that reads ahead, the caller's thread reads the stream, and knows its cancellable. */
GThread *__real_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error);
GThread *__wrap_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error);

static gboolean has_no_threads;

GThread *
__wrap_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error)
{
  return has_no_threads ? NULL : __real_g_thread_try_new (name, function, data, error);
}

static void
test_cancel (void)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a\n1\n2\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  g_test_summary ("After a cancelled read, reading goes on, and no row is lost.");

  g_cancellable_cancel (cancellable);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (values->len, ==, 2);
}

/* A stream of few bytes at a time, in which one read is cancelled from elsewhere. */
#define SLOW_TYPE_STREAM (slow_stream_get_type ())
G_DECLARE_FINAL_TYPE (SlowStream, slow_stream, SLOW, STREAM, GInputStream)

struct _SlowStream
{
  GInputStream parent_instance;
  const char *text;
  gsize max_count;
  guint n_reads;
  guint cancelled_read;
};

G_DEFINE_FINAL_TYPE (SlowStream, slow_stream, G_TYPE_INPUT_STREAM)

static gssize
slow_stream_read (GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  SlowStream *self = SLOW_STREAM (stream);
  gsize n = MIN (MIN (count, self->max_count), strlen (self->text));

  if (self->n_reads++ == self->cancelled_read)
    {
      g_cancellable_cancel (cancellable);
      g_cancellable_set_error_if_cancelled (cancellable, error);
      return -1;
    }
  memcpy (buffer, self->text, n);
  self->text += n;

  return (gssize) n;
}

static void
slow_stream_class_init (SlowStreamClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = slow_stream_read;
}

static void
slow_stream_init (SlowStream *self)
{
  self->max_count = 3;
}

static void
test_cancel_within (void)
{
  guint i;

  g_test_summary ("A read that is cancelled while bytes come loses none of them.");

  for (i = 0; i < 5; i++)
    {
      g_autoptr (SlowStream) stream = g_object_new (SLOW_TYPE_STREAM, NULL);
      g_autoptr (AprTableReader) reader = apr_table_reader_new (G_INPUT_STREAM (stream), NULL);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GArray) values = NULL;
      GError *error = NULL;

      stream->text = "a\n101\n102\n";
      stream->cancelled_read = i;
      g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      values = read_all (reader, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (values->len, ==, 2);
      g_assert_cmpfloat (g_array_index (values, double, 0), ==, 101);
      g_assert_cmpfloat (g_array_index (values, double, 1), ==, 102);
    }
}

static void
test_cancel_count (void)
{
  const char *columns[] = { "a", NULL };
  g_autoptr (GString) text = g_string_new ("a\nNA\n");
  guint n_cancelled = 0;
  guint i;

  g_test_summary ("If a read is cancelled while missing numbers are counted, the next one counts them all.");

  while (text->len < 3 << 20)
    g_string_append (text, "1.25\n");
  g_string_append (text, "NA\n");

  has_no_threads = TRUE;
  for (i = 0; i < 40; i++)
    {
      gboolean collects = i % 2 == 1;
      g_autoptr (SlowStream) stream = g_object_new (SLOW_TYPE_STREAM, NULL);
      g_autoptr (AprTableReader) reader = apr_table_reader_new (G_INPUT_STREAM (stream), "data");
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) names = NULL;

      stream->text = text->str;
      stream->max_count = 1 << 18;
      stream->cancelled_read = i / 2;
      if (collects)
        names = apr_table_reader_read_categories (reader, columns, cancellable, &error);
      g_assert_false (!collects && apr_table_reader_read (reader, NULL, NULL, NULL, cancellable, &error));
      if (g_cancellable_is_cancelled (cancellable))
        {
          n_cancelled++;
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_assert_cmpuint (apr_table_reader_get_n_missing (reader), ==, 0);
          g_clear_error (&error);
          if (collects)
            g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
          else
            g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
        }
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_assert_nonnull (strstr (error->message, "2 cells are missing in all"));
      g_assert_cmpuint (apr_table_reader_get_n_missing (reader), ==, 2);
    }
  has_no_threads = FALSE;
  g_assert_cmpuint (n_cancelled, >, 12);
}

static void
assert_reads_no_rows (AprTableReader *reader, const char *message)
{
  g_autoptr (GError) error = NULL;
  AprTensor *x = NULL;

  g_assert_false (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, message));
  g_assert_null (x);
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 0);
}

static void
test_cancel_categories (void)
{
  const char *const columns[] = { "b", NULL };
  const char *const others[] = { "a", NULL };
  const char *const expected[] = { "b=first", "b=last", "b=other", NULL };
  g_autoptr (GString) text = g_string_new ("a,b\n1,first\n");
  guint n_cancelled = 0;
  guint i;

  g_test_summary ("Categories of which reading was cancelled are read on, and no rows are.");

  while (text->len < 3 << 20)
    g_string_append (text, "1.25,other\n");
  g_string_append (text, "2,last\n");

  has_no_threads = TRUE;
  for (i = 0; i < 16; i++)
    {
      g_autoptr (SlowStream) stream = g_object_new (SLOW_TYPE_STREAM, NULL);
      g_autoptr (AprTableReader) reader = apr_table_reader_new (G_INPUT_STREAM (stream), "data");
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) names = NULL;

      stream->text = text->str;
      stream->max_count = 1 << 18;
      stream->cancelled_read = i;
      names = apr_table_reader_read_categories (reader, columns, cancellable, &error);
      /* The first reads are for the names of the columns. */
      if (g_cancellable_is_cancelled (cancellable) && i > 4)
        {
          n_cancelled++;
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_clear_error (&error);
          assert_reads_no_rows (reader, "data: categories have been read");
          g_assert_null (apr_table_reader_read_categories (reader, others, NULL, &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
          g_clear_error (&error);
        }
      if (names == NULL)
        {
          g_clear_error (&error);
          names = apr_table_reader_read_categories (reader, columns, NULL, &error);
        }
      g_assert_no_error (error);
      g_assert_cmpstrv (names, expected);
      assert_reads_no_rows (reader, "data: categories have been read");
    }
  has_no_threads = FALSE;
  g_assert_cmpuint (n_cancelled, >, 4);
}

static void
test_cancel_late (void)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a\n1\n2\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (AprTensor) x = NULL;
  GError *error = NULL;

  g_test_summary ("Rows that have been read when a call is cancelled are handed out.");

  cancels_late = TRUE;
  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, cancellable, on_ready, &result);
  wait_for (&result);
  cancels_late = FALSE;
  g_assert_true (g_cancellable_is_cancelled (cancellable));
  g_assert_true (apr_table_reader_read_finish (reader, result, &x, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (x, NULL)[0], ==, 2);
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 2);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
count_notify (guint *n_notifies)
{
  (*n_notifies)++;
}

static void
test_names (void)
{
  const char *expected[] = { "a", "b", NULL };
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a,b\n1,2\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  guint n_notifies = 0;
  guint i;

  g_test_summary (
    "Names are read in a thread, and told of once; a call that is cancelled takes none of them.");

  g_signal_connect_swapped (reader, "notify::names", G_CALLBACK (count_notify), &n_notifies);
  g_cancellable_cancel (cancellable);
  for (i = 0; i < 3; i++)
    {
      g_autoptr (GAsyncResult) result = NULL;

      apr_table_reader_read_names_async (reader, G_PRIORITY_DEFAULT, i == 0 ? cancellable : NULL, on_ready,
                                         &result);
      wait_for (&result);
      g_assert_true (apr_table_reader_read_names_finish (reader, result, &error) == (i > 0));
      g_assert_cmpuint (n_notifies, ==, i > 0 ? 1 : 0);
      if (i == 0)
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        }
      g_clear_error (&error);
    }
  g_assert_cmpstrv (apr_table_reader_get_names (reader), expected);
}

static void
test_cancel_categories_late (void)
{
  const char *columns[] = { "a", NULL };
  const char *expected[] = { "a=x", "a=y", NULL };
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a\nx\ny\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_auto (GStrv) names = NULL;
  GError *error = NULL;

  g_test_summary ("Categories that have been found when a call is cancelled are told.");

  cancels_late = TRUE;
  apr_table_reader_read_categories_async (reader, columns, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                          &result);
  wait_for (&result);
  cancels_late = FALSE;
  g_assert_true (g_cancellable_is_cancelled (cancellable));
  names = apr_table_reader_read_categories_finish (reader, result, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (names, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-cancel/before", test_cancel);
  g_test_add_func ("/table-cancel/within", test_cancel_within);
  g_test_add_func ("/table-cancel/count", test_cancel_count);
  g_test_add_func ("/table-cancel/categories", test_cancel_categories);
  g_test_add_func ("/table-cancel/late", test_cancel_late);
  g_test_add_func ("/table-cancel/names", test_names);
  g_test_add_func ("/table-cancel/categories-late", test_cancel_categories_late);

  return g_test_run ();
}
