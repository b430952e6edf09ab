/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/reader-modes-test.h"

/* A stream that brings its bytes a few at a time, and then ends, fails or goes on for ever. */

typedef struct
{
  GInputStream parent_instance;

  GBytes *bytes;
  gsize position;
  gsize step;
  gsize fails_at; /* G_MAXSIZE: never */
  guint64 n_zeros;
} Trickle;

typedef GInputStreamClass TrickleClass;

static GType trickle_get_type (void);

G_DEFINE_TYPE (Trickle, trickle, G_TYPE_INPUT_STREAM)

static gssize
trickle_read (GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  Trickle *self = (Trickle *) stream;
  gsize left = g_bytes_get_size (self->bytes) - self->position;
  gsize n = MIN (MIN (count, left), self->step);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  if (self->position >= self->fails_at)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "gone at %zu", self->position);
      return -1;
    }
  if (n == 0)
    {
      n = (gsize) MIN (count, self->n_zeros);
      self->n_zeros -= n;
      memset (buffer, 0, n);
      return (gssize) n;
    }
  memcpy (buffer, (const char *) g_bytes_get_data (self->bytes, NULL) + self->position, n);
  self->position += n;
  return (gssize) n;
}

static void
trickle_finalize (GObject *object)
{
  g_bytes_unref (((Trickle *) object)->bytes);
  G_OBJECT_CLASS (trickle_parent_class)->finalize (object);
}

static void
trickle_class_init (TrickleClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = trickle_finalize;
  klass->read_fn = trickle_read;
}

static void
trickle_init (Trickle *self)
{
}

static Trickle *
trickle_new (GBytes *bytes, gsize length, gsize step, gsize fails_at)
{
  Trickle *self = g_object_new (trickle_get_type (), NULL);

  self->bytes = g_bytes_new_from_bytes (bytes, 0, length);
  self->step = step;
  self->fails_at = fails_at;
  return self;
}

static void
test_stream (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  gsize size = g_bytes_get_size (bytes);
  gsize step;

  for (step = 1; step <= size; step += step < 20 ? 1 : 97)
    {
      g_autoptr (GInputStream) stream = (GInputStream *) trickle_new (bytes, size, step, G_MAXSIZE);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_stream (stream, NULL, &error);

      g_assert_no_error (error);
      assert_model (reader);
      g_assert_false (g_input_stream_is_closed (stream));
    }
}

static void
test_stream_ends_early (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  gsize size = g_bytes_get_size (bytes);
  gsize length;

  g_test_summary ("Cut at any byte the stream is truncated; failing at any byte its own error comes out.");

  for (length = 0; length < size; length++)
    {
      g_autoptr (GInputStream) shortened = (GInputStream *) trickle_new (bytes, length, 7, G_MAXSIZE);
      g_autoptr (GInputStream) failing = (GInputStream *) trickle_new (bytes, size, 7, length);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_safetensors_reader_new_from_stream (shortened, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
      g_clear_error (&error);
      g_assert_null (apr_safetensors_reader_new_from_stream (failing, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
    }
}

static void
test_stream_cancelled (void)
{
  g_autoptr (GBytes) bytes = model_new ();
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (apr_safetensors_reader_new_from_stream (stream, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_stream_without_end (void)
{
  static const struct
  {
    const char *header;
    int code;
    const char *message;
  } cases[] = {
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", APR_SAFETENSORS_ERROR_TRAILING_DATA,
      "ends at byte 63, but the stream goes on" },
    { "{}", APR_SAFETENSORS_ERROR_TRAILING_DATA, "ends at byte 10" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
      "“w”" },
    { "[]", APR_SAFETENSORS_ERROR_SYNTAX, "" },
  };
  guint i;

  g_test_summary ("The header decides how much is read: of what follows, one byte too many is enough.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = make_file (cases[i].header, "", 0);
      g_autoptr (GInputStream) stream =
        (GInputStream *) trickle_new (bytes, g_bytes_get_size (bytes), 100, G_MAXSIZE);
      g_autoptr (GError) error = NULL;

      ((Trickle *) stream)->n_zeros = G_MAXUINT64;
      g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, cases[i].code);
      assert_message_has (error, cases[i].message);
      g_assert_cmpuint (((Trickle *) stream)->n_zeros, >=, G_MAXUINT64 - 3);
    }
}

static void
test_stream_goes_on (void)
{
  static const char text[] = "{\"w\":{\"dtype\":\"U8\",\"shape\":[1000],\"data_offsets\":[0,1000]}}";
  char bytes_of_data[1010] = "";
  g_autoptr (GBytes) bytes = make_file (text, bytes_of_data, sizeof bytes_of_data);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
  g_autofree char *expected =
    g_strdup_printf ("the last tensor ends at byte %zu, but the stream goes on", 8 + strlen (text) + 1000);
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRAILING_DATA);
  g_assert_cmpstr (error->message, ==, expected);
}

static void
test_stream_claims (void)
{
  static const char *const headers[] = {
    "{\"w\":{\"dtype\":\"U8\",\"shape\":[1152921504606846976],\"data_offsets\":[0,1152921504606846976]}}",
    "{\"w\":{\"dtype\":\"U8\",\"shape\":[2305843009213693951],\"data_offsets\":[0,2305843009213693951]}}",
  };
  g_autoptr (GBytes) liar = g_bytes_new_static ("\0\xe1\xf5\x05\0\0\0\0{", 9);
  g_autoptr (GInputStream) lies = g_memory_input_stream_new_from_bytes (liar);
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("An exabyte is claimed and ten bytes come: no memory is asked for that did not arrive.");

  for (i = 0; i < G_N_ELEMENTS (headers); i++)
    {
      g_autoptr (GBytes) bytes = make_file (headers[i], "0123456789", 10);
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);

      g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
      assert_message_has (error, "there are only 10");
      g_clear_error (&error);
    }
  g_assert_null (apr_safetensors_reader_new_from_stream (lies, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  assert_message_has (error, "claims 100000000 bytes, but only 1 follow");
}

/* Eight tensors, the last of which ends at @end: none alone may have so many bytes. */
static GString *
make_large_header (guint64 end)
{
  const guint64 piece = G_MAXUINT64 / 8;
  GString *text = g_string_new ("{");
  guint i;

  for (i = 0; i < 8; i++)
    {
      guint64 last = i < 7 ? (i + 1) * piece : end;

      g_string_append_printf (text,
                              "%s\"%u\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT
                              "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}",
                              i > 0 ? "," : "", i, last - i * piece, i * piece, last);
    }
  g_string_append_c (text, '}');
  return text;
}

static void
test_stream_claims_most (void)
{
  g_autoptr (GString) text = make_large_header (G_MAXUINT64 - 1000);
  guint64 end = G_MAXUINT64 - 8 - text->len - 1;
  guint i;

  g_test_summary ("The file would have 2^64 - 2 bytes, one more, or more than 64 bits can say; ten come.");

  for (i = 0; i < 4; i++)
    {
      g_autoptr (GString) header_text = make_large_header (end + i);
      g_autoptr (GBytes) bytes = make_file (header_text->str, "0123456789", 10);
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
      g_autofree char *expected =
        g_strdup_printf ("it ends at byte %" G_GUINT64_FORMAT " of the data, but there are only 10", end + i);
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (header_text->len, ==, text->len);
      g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
      assert_message_has (error, expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/reader/stream", test_stream);
  g_test_add_func ("/safetensors/reader/stream/ends-early", test_stream_ends_early);
  g_test_add_func ("/safetensors/reader/stream/cancelled", test_stream_cancelled);
  g_test_add_func ("/safetensors/reader/stream/without-end", test_stream_without_end);
  g_test_add_func ("/safetensors/reader/stream/goes-on", test_stream_goes_on);
  g_test_add_func ("/safetensors/reader/stream/claims", test_stream_claims);
  g_test_add_func ("/safetensors/reader/stream/claims-most", test_stream_claims_most);

  return g_test_run ();
}
