/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/streaming-test.h"

/* The same writer's bytes, to memory, a stream, a path and a file. */
static void
assert_written (Fixture *fixture, GBytes *expected)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) streamed = NULL;
  g_autofree char *contents = NULL;
  gsize length;

  bytes = apr_safetensors_writer_write_to_bytes (fixture->writer, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, expected));

  g_assert_true (apr_safetensors_writer_write_to_stream (fixture->writer, stream, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (g_output_stream_is_closed (stream));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  streamed = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  g_assert_true (g_bytes_equal (streamed, expected));

  g_assert_true (apr_safetensors_writer_write_to_path (fixture->writer, fixture->path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));

  g_assert_true (apr_safetensors_writer_write_to_file (fixture->writer, fixture->file, NULL, &error));
  g_assert_no_error (error);
  g_clear_pointer (&contents, g_free);
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
}

static void
test_sources (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = expect (8, "a", "0123456789", "b", "a stream", "c", "bytes", "d", "added",
                                        "e", "", "f", "half of it", "g", "", NULL);
  g_autoptr (GInputStream) stream = memory_stream ("a stream");
  g_autoptr (GInputStream) half = memory_stream ("the first half of it");
  g_autoptr (GInputStream) empty = memory_stream ("");
  g_autoptr (GBytes) bytes = g_bytes_new ("bytes", 5);
  g_autoptr (GBytes) added = g_bytes_new ("added", 5);
  const gsize shape[] = { 5 };
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, added, NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Whatever the bytes come from and wherever they go to, as often as wanted, they are the same.");

  g_assert_true (g_seekable_seek (G_SEEKABLE (half), 10, G_SEEK_SET, NULL, NULL));
  declare (fixture, "g", APR_DTYPE_U8, 0);
  declare (fixture, "f", APR_DTYPE_U8, 10);
  declare (fixture, "e", APR_DTYPE_U8, 0);
  declare (fixture, "c", APR_DTYPE_U8, 5);
  declare (fixture, "b", APR_DTYPE_U8, 8);
  declare (fixture, "a", APR_DTYPE_U8, 10);
  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "d", tensor, &error));
  set_stream (fixture, "b", stream);
  set_stream (fixture, "f", half);
  set_stream (fixture, "g", empty);
  g_assert_true (apr_safetensors_writer_set_source_bytes (fixture->writer, "c", bytes, &error));
  apr_safetensors_writer_set_data_func (fixture->writer, give_digits, fixture, release);
  assert_written (fixture, expected);
  /* Ten bytes take four calls, and there were four writes. */
  g_assert_cmpuint (fixture->n_calls, ==, 16);
  g_assert_false (fixture->is_released);
  apr_safetensors_writer_set_data_func (fixture->writer, NULL, NULL, NULL);
  g_assert_true (fixture->is_released);
}

static void
test_source_is_replaced (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = expect (8, "a", "third", "b", "other", NULL);
  g_autoptr (GBytes) first = g_bytes_new ("first", 5);
  g_autoptr (GBytes) third = g_bytes_new ("third", 5);
  g_autoptr (GInputStream) second = memory_stream ("second is longer");
  g_autoptr (GInputStream) other = memory_stream ("other");
  const gsize shape[] = { 5 };
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, first, NULL);

  declare (fixture, "a", APR_DTYPE_U8, 5);
  g_assert_true (apr_safetensors_writer_set_source_bytes (fixture->writer, "a", first, NULL));
  set_stream (fixture, "a", second);
  g_assert_true (apr_safetensors_writer_set_source_bytes (fixture->writer, "a", third, NULL));
  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "b", tensor, NULL));
  set_stream (fixture, "b", other);
  assert_written (fixture, expected);
}

/* An endless stream of zeros that counts what is read of it. */
typedef struct
{
  GInputStream parent_instance;
  guint64 left;
  gsize most_asked;
} ZeroStream;

typedef GInputStreamClass ZeroStreamClass;

static GType zero_stream_get_type (void);

G_DEFINE_TYPE (ZeroStream, zero_stream, G_TYPE_INPUT_STREAM)

static gssize
zero_stream_read (GInputStream *stream, void *buffer, gsize size, GCancellable *cancellable, GError **error)
{
  ZeroStream *self = (ZeroStream *) stream;
  gsize n_given = (gsize) MIN (self->left, size);

  self->most_asked = MAX (self->most_asked, size);
  self->left -= n_given;
  memset (buffer, 0, n_given);
  return (gssize) n_given;
}

static void
zero_stream_class_init (ZeroStreamClass *klass)
{
  klass->read_fn = zero_stream_read;
}

static void
zero_stream_init (ZeroStream *self)
{
}

/* A stream that swallows everything, to write more than a disk or memory may have. */
typedef struct
{
  GOutputStream parent_instance;
  guint64 n_bytes;
} SinkStream;

typedef GOutputStreamClass SinkStreamClass;

static GType sink_stream_get_type (void);

G_DEFINE_TYPE (SinkStream, sink_stream, G_TYPE_OUTPUT_STREAM)

static gssize
sink_stream_write (
  GOutputStream *stream, const void *buffer, gsize size, GCancellable *cancellable, GError **error)
{
  ((SinkStream *) stream)->n_bytes += size;
  return (gssize) size;
}

static void
sink_stream_class_init (SinkStreamClass *klass)
{
  klass->write_fn = sink_stream_write;
}

static void
sink_stream_init (SinkStream *self)
{
}

static void
test_large (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GOutputStream) sink = g_object_new (sink_stream_get_type (), NULL);
  g_autoptr (GInputStream) zeros = g_object_new (zero_stream_get_type (), NULL);
  g_autoptr (GError) error = NULL;
  gsize n_large = g_getenv ("APR_TEST_VALGRIND") != NULL ? (gsize) 20 << 20 : (gsize) 600 << 20;

  g_test_summary ("Of tensors larger than a block no more than a block is asked for at a time, in order.");

  declare (fixture, "large", APR_DTYPE_U8, n_large + 1);
  declare (fixture, "stream", APR_DTYPE_U8, n_large + 1);
  ((ZeroStream *) zeros)->left = n_large + 1;
  set_stream (fixture, "stream", zeros);
  apr_safetensors_writer_set_data_func (fixture->writer, give_blocks, fixture, NULL);
  apr_safetensors_writer_set_progress_func (fixture->writer, count_progress, fixture, NULL);
  g_assert_true (apr_safetensors_writer_write_to_stream (fixture->writer, sink, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (fixture->n_given, ==, n_large + 1);
  g_assert_cmpuint (fixture->n_calls, ==, n_large / BLOCK + 1);
  g_assert_cmpuint (fixture->most_asked, ==, BLOCK);
  g_assert_cmpuint (((ZeroStream *) zeros)->left, ==, 0);
  g_assert_cmpuint (((ZeroStream *) zeros)->most_asked, <=, BLOCK);
  g_assert_cmpuint (((SinkStream *) sink)->n_bytes, ==, (guint64) fixture->total);
  g_assert_cmpint (fixture->progress, ==, fixture->total);
  /* The header, and each block. */
  g_assert_cmpuint (fixture->n_progress, ==, 1 + 2 * (n_large / BLOCK + 1));
}

static void
test_progress (Fixture *fixture, gconstpointer data)
{
  gsize size = (gsize) 40 << 20;
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, &size, 1, bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "large", tensor, NULL));
  apr_safetensors_writer_set_progress_func (fixture->writer, count_progress, fixture, release);
  g_assert_true (apr_safetensors_writer_write_to_path (fixture->writer, fixture->path, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (fixture->n_progress, ==, 3);
  g_assert_cmpint (fixture->progress, ==, fixture->total);
  g_assert_cmpint (fixture->total, >, (goffset) size);
  apr_safetensors_writer_set_progress_func (fixture->writer, NULL, NULL, NULL);
  g_assert_true (fixture->is_released);
}

static void
assert_fails (Fixture *fixture, GQuark domain, int code, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  g_assert_false (apr_safetensors_writer_write_to_path (fixture->writer, fixture->path, &error));
  g_assert_error (error, domain, code);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  assert_message_has (error, message);
  assert_contents (fixture, "old");
  g_clear_error (&error);
  g_assert_null (apr_safetensors_writer_write_to_bytes (fixture->writer, &error));
  g_assert_error (error, domain, code);
}

static void
test_too_few_bytes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GInputStream) stream = memory_stream ("123");

  declare (fixture, "a", APR_DTYPE_F32, 2);
  set_stream (fixture, "a", stream);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “a”: its source gave 3 of its 8 bytes");
}

static void
test_too_many_bytes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GInputStream) stream = memory_stream ("123456789");
  g_autoptr (GInputStream) more = memory_stream ("x");

  declare (fixture, "a", APR_DTYPE_F32, 2);
  declare (fixture, "b", APR_DTYPE_F32, 0);
  set_stream (fixture, "a", stream);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “a”: its source goes on after its 8 bytes");
  g_clear_object (&stream);
  stream = memory_stream ("12345678");
  set_stream (fixture, "a", stream);
  set_stream (fixture, "b", more);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “b”: its source goes on after its 0 bytes");
}

/* What a function may do wrong at its second call. */
typedef enum
{
  GIVE_NOTHING,
  GIVE_TOO_MUCH,
  GIVE_NULL,
  GIVE_ERROR,
  GIVE_BOTH,
} Misdeed;

static GBytes *
give_wrongly (AprSafetensorsWriter *writer,
              const char *name,
              guint64 offset,
              gsize size,
              gpointer user_data,
              GError **error)
{
  Misdeed misdeed = (Misdeed) GPOINTER_TO_INT (user_data);

  if (offset == 0)
    return g_bytes_new ("1234", 4);
  switch (misdeed)
    {
    case GIVE_NOTHING:
      return g_bytes_new (NULL, 0);
    case GIVE_TOO_MUCH:
      return g_bytes_new ("56789", 5);
    case GIVE_NULL:
      return NULL;
    case GIVE_ERROR:
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "the camera is slow");
      return NULL;
    case GIVE_BOTH:
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "the camera is too slow");
      return g_bytes_new ("5678", 4);
    default:
      g_assert_not_reached ();
    }
}

static void
test_function_fails (Fixture *fixture, gconstpointer data)
{
  declare (fixture, "a", APR_DTYPE_F32, 2);
  apr_safetensors_writer_set_data_func (fixture->writer, give_wrongly, GINT_TO_POINTER (GIVE_NOTHING), NULL);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “a”: its source gave 4 of its 8 bytes");
  apr_safetensors_writer_set_data_func (fixture->writer, give_wrongly, GINT_TO_POINTER (GIVE_TOO_MUCH), NULL);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “a”: its source gave 5 bytes at offset 4, where it was asked for at most 4");
  apr_safetensors_writer_set_data_func (fixture->writer, give_wrongly, GINT_TO_POINTER (GIVE_NULL), NULL);
  assert_fails (fixture, APR_ERROR, APR_ERROR_FAILED, ": tensor “a”: the function that gives data failed");
  apr_safetensors_writer_set_data_func (fixture->writer, give_wrongly, GINT_TO_POINTER (GIVE_ERROR), NULL);
  assert_fails (fixture, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, ": tensor “a”: the camera is slow");
  apr_safetensors_writer_set_data_func (fixture->writer, give_wrongly, GINT_TO_POINTER (GIVE_BOTH), NULL);
  assert_fails (fixture, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, ": tensor “a”: the camera is too slow");
}

static void
test_no_source (Fixture *fixture, gconstpointer data)
{
  declare (fixture, "a", APR_DTYPE_F32, 2);
  declare (fixture, "b", APR_DTYPE_F64, 0);
  assert_fails (fixture, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                ": tensor “a”: it has no source for its 8 bytes");
}

static void
test_stream_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GInputStream) stream = memory_stream ("12345678");

  declare (fixture, "a", APR_DTYPE_F32, 2);
  set_stream (fixture, "a", stream);
  g_assert_true (g_input_stream_close (stream, NULL, NULL));
  assert_fails (fixture, G_IO_ERROR, G_IO_ERROR_CLOSED, ": tensor “a”: ");
}

static void
test_stream_serves_once (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) expected = expect (8, "a", "12345678", NULL); /* for its size */
  g_autoptr (GInputStream) zeros = g_object_new (zero_stream_get_type (), NULL);
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A stream that cannot go back is read once, and a second write does not pretend.");

  ((ZeroStream *) zeros)->left = 8;
  declare (fixture, "a", APR_DTYPE_U8, 8);
  set_stream (fixture, "a", zeros);
  written = apr_safetensors_writer_write_to_bytes (fixture->writer, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (written), ==, g_bytes_get_size (expected));
  assert_fails (fixture, G_IO_ERROR, G_IO_ERROR_CLOSED,
                ": tensor “a”: its stream has been read, and cannot go back");
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  static const gsize huge[] = { G_MAXSIZE, 2 };
  static const gsize three[] = { 3 };
  g_autoptr (GInputStream) stream = memory_stream ("123");
  g_autoptr (GBytes) bytes = g_bytes_new ("123", 3);
  g_autoptr (GBytes) empty = NULL;
  g_autoptr (GBytes) expected = NULL;
  g_autoptr (GError) error = NULL;
  AprSafetensorsWriter *writer = fixture->writer;

#define REFUSED(call, domain, code, message) \
 G_STMT_START                                \
 {                                           \
  g_assert_false (call);                     \
  g_assert_error (error, domain, code);      \
  assert_message_has (error, message);       \
  g_clear_error (&error);                    \
 }                                           \
 G_STMT_END

  declare (fixture, "a", APR_DTYPE_U8, 0);
  expected = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "a", APR_DTYPE_U8, three, 1, &error),
           APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE, "“a”");
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "__metadata__", APR_DTYPE_U8, three, 1, &error),
           APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME, "“__metadata__”");
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "b\xff", APR_DTYPE_U8, three, 1, &error),
           APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING, "b");
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "b", APR_DTYPE_NONE, three, 1, &error), APR_ERROR,
           APR_ERROR_DTYPE, "“b”");
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "b", APR_DTYPE_U8, huge, 2, &error), APR_ERROR,
           APR_ERROR_RANGE, "“b”");
  REFUSED (apr_safetensors_writer_declare_tensor (writer, "b", APR_DTYPE_F4, three, 1, &error), APR_ERROR,
           APR_ERROR_SHAPE, "“b”");
  REFUSED (apr_safetensors_writer_set_source_stream (writer, "c", stream, &error), APR_SAFETENSORS_ERROR,
           APR_SAFETENSORS_ERROR_NOT_FOUND, "“c”");
  REFUSED (apr_safetensors_writer_set_source_bytes (writer, "c", bytes, &error), APR_SAFETENSORS_ERROR,
           APR_SAFETENSORS_ERROR_NOT_FOUND, "“c”");
  REFUSED (apr_safetensors_writer_set_source_bytes (writer, "a", bytes, &error), APR_SAFETENSORS_ERROR,
           APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "“a”: 3 bytes are given, but its dtype and shape need 0");

  empty = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_true (g_bytes_equal (empty, expected));
}

static void
test_scalar (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) bytes = g_bytes_new ("\0\0\x80\x3f", 4);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GBytes) file = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (
    apr_safetensors_writer_declare_tensor (fixture->writer, "s", APR_DTYPE_F32, NULL, 0, &error));
  g_assert_true (apr_safetensors_writer_set_source_bytes (fixture->writer, "s", bytes, &error));
  file = apr_safetensors_writer_write_to_bytes (fixture->writer, &error);
  g_assert_no_error (error);
  reader = apr_safetensors_reader_new_from_bytes (file, &error);
  g_assert_no_error (error);
  tensor = apr_safetensors_reader_get_tensor (reader, "s", &error);
  g_assert_cmpuint (apr_tensor_get_n_dims (tensor), ==, 0);
  assert_same_double (element (tensor, 0), 1);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_test_summary ("Cancelled in the middle: the old file is there and no other.");

  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  declare (fixture, "large", APR_DTYPE_U8, 200 * BLOCK);
  apr_safetensors_writer_set_data_func (fixture->writer, give_blocks, fixture, NULL);
  g_assert_false (
    apr_safetensors_writer_write_to_file (fixture->writer, fixture->file, fixture->cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  g_assert_cmpuint (fixture->n_calls, ==, 100);
  assert_contents (fixture, "old");
}

static void
cancel_at_the_end (goffset done, goffset total, gpointer cancellable)
{
  if (done == total)
    g_cancellable_cancel (cancellable);
}

static void
test_cancelled_at_the_end (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Cancelled when all is written, but not yet in its place: the old file is there and no other.");

  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  declare (fixture, "large", APR_DTYPE_U8, BLOCK);
  apr_safetensors_writer_set_data_func (fixture->writer, give_blocks, fixture, NULL);
  apr_safetensors_writer_set_progress_func (fixture->writer, cancel_at_the_end, fixture->cancellable, NULL);
  g_assert_false (
    apr_safetensors_writer_write_to_file (fixture->writer, fixture->file, fixture->cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  assert_contents (fixture, "old");
}

static void
test_alignment (Fixture *fixture, gconstpointer data)
{
  guint alignment;

  for (alignment = 8; alignment <= 4096; alignment *= 2)
    {
      g_autoptr (GBytes) bytes = expect (alignment, "a", "some data", NULL);
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (GBytes) plain = expect (8, "a", "some data", NULL);
      g_autoptr (GError) error = NULL;
      const char *text = g_bytes_get_data (bytes, NULL);
      gsize size = g_bytes_get_size (bytes);
      gsize start = size - strlen ("some data");

      g_assert_cmpuint (start % alignment, ==, 0);
      g_assert_cmpuint (start, <, alignment + 72);
      g_assert_cmpmem (text + start, size - start, "some data", 9);
      g_assert_cmpmem (text + 8, 56, (const char *) g_bytes_get_data (plain, NULL) + 8, 56);
      reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
      g_assert_no_error (error);
      g_assert_nonnull (reader);
    }
}

static void
test_bad_alignment (Fixture *fixture, gconstpointer data)
{
  static const guint alignments[] = { 0, 1, 4, 7, 9, 12, 24, 4095, 4097, 6144, 8192, G_MAXUINT };
  g_autoptr (GFile) folder = g_file_new_for_path (fixture->folder);
  guint i;

  g_test_summary (
    "A script may set any number: the write says what is wrong with it, and the old file stays.");

  for (i = 0; i < G_N_ELEMENTS (alignments); i++)
    {
      g_autofree char *message =
        g_strdup_printf (": the alignment is %u, not a power of two from 8 to 4096", alignments[i]);
      g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
      g_autoptr (GError) error = NULL;
      guint alignment;

      g_object_set (fixture->writer, "alignment", alignments[i], NULL);
      g_object_get (fixture->writer, "alignment", &alignment, NULL);
      g_assert_cmpuint (alignment, ==, alignments[i]);
      assert_fails (fixture, APR_ERROR, APR_ERROR_RANGE, message);
      g_assert_false (apr_safetensors_writer_write_to_stream (fixture->writer, stream, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      g_assert_cmpuint (g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (stream)), ==, 0);
      g_clear_error (&error);
      g_assert_false (
        apr_safetensors_writer_write_shards (fixture->writer, folder, "model", 10, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      g_assert_true (g_str_has_prefix (error->message, fixture->path));
      g_assert_true (g_str_has_suffix (error->message, message));
      assert_contents (fixture, "old");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/streaming/sources", test_sources);
  ADD ("/safetensors/streaming/source-is-replaced", test_source_is_replaced);
  ADD ("/safetensors/streaming/large", test_large);
  ADD ("/safetensors/streaming/progress", test_progress);
  ADD ("/safetensors/streaming/too-few-bytes", test_too_few_bytes);
  ADD ("/safetensors/streaming/too-many-bytes", test_too_many_bytes);
  ADD ("/safetensors/streaming/function-fails", test_function_fails);
  ADD ("/safetensors/streaming/no-source", test_no_source);
  ADD ("/safetensors/streaming/stream-fails", test_stream_fails);
  ADD ("/safetensors/streaming/stream-serves-once", test_stream_serves_once);
  ADD ("/safetensors/streaming/refused", test_refused);
  ADD ("/safetensors/streaming/scalar", test_scalar);
  ADD ("/safetensors/streaming/cancelled", test_cancelled);
  ADD ("/safetensors/streaming/cancelled-at-the-end", test_cancelled_at_the_end);
  ADD ("/safetensors/streaming/alignment", test_alignment);
  ADD ("/safetensors/streaming/bad-alignment", test_bad_alignment);

  return g_test_run ();
}
