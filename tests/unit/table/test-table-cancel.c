/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* All rows of X as one matrix. */
static GArray *
read_all (AprTableReader *reader, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) local_error = NULL;
  AprTensor *x;

  while (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &local_error))
    {
      gsize n;
      const double *doubles = apr_tensor_get_doubles (x, &n, NULL);

      g_array_append_vals (values, doubles, (guint) n);
      apr_tensor_unref (x);
    }
  if (local_error == NULL)
    return g_steal_pointer (&values);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
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
  guint n_reads;
  guint cancelled_read;
};

G_DEFINE_FINAL_TYPE (SlowStream, slow_stream, G_TYPE_INPUT_STREAM)

static gssize
slow_stream_read (GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  SlowStream *self = SLOW_STREAM (stream);
  gsize n = MIN (MIN (count, 3), strlen (self->text));

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-cancel/before", test_cancel);
  g_test_add_func ("/table-cancel/within", test_cancel_within);

  return g_test_run ();
}
