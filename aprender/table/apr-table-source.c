/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-source-private.h"

#include <string.h>

#include "aprender/table/apr-decimal-private.h"
#include "aprender/table/apr-table-block-private.h"
#include "aprender/table/apr-zstd-private.h"

/* What is read before it is cut, and what a row may be long at most. */
#define BLOCK_SIZE (1 << 20)
#define MAX_ROW (1 << 26)

/* The blocks that wait to be taken. */
#define MAX_WAITING 4

struct _AprTableSource
{
  GInputStream *stream; /* (owned) what is read, decompressed */
  char delimiter;

  /* Of the side that reads. */
  char *rest; /* (owned) (nullable) what is behind the last whole row */
  gsize rest_length;
  gsize rest_allocated;
  gboolean finished;

  AprTableText first; /* until it is taken */
  gsize skipped;      /* of it */
  gboolean peeked;

  GThread *thread;           /* (owned) (nullable) */
  GCancellable *cancellable; /* (owned) ends the thread */
  guint64 n_bytes;           /* of the stream below, atomically */

  GMutex lock;
  GCond changed;
  GQueue waiting; /* (element-type AprTableText) under the lock */
  GError *error;  /* (owned) (nullable) under the lock: what comes behind the blocks that wait */
  gboolean ended; /* under the lock: nothing comes behind them but the error */
};

/* Counts the bytes that go through, so that progress does not depend on compression. */
#define APR_TYPE_COUNTING_STREAM (apr_counting_stream_get_type ())
G_DECLARE_FINAL_TYPE (AprCountingStream, apr_counting_stream, APR, COUNTING_STREAM, GFilterInputStream)

struct _AprCountingStream
{
  GFilterInputStream parent_instance;
  AprTableSource *source; /* (unowned) */
};

G_DEFINE_TYPE (AprCountingStream, apr_counting_stream, G_TYPE_FILTER_INPUT_STREAM)

static gssize
apr_counting_stream_read (
  GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  GInputStream *base = g_filter_input_stream_get_base_stream (G_FILTER_INPUT_STREAM (stream));
  gssize n_read = g_input_stream_read (base, buffer, count, cancellable, error);

  if (n_read > 0)
    __atomic_fetch_add (&APR_COUNTING_STREAM (stream)->source->n_bytes, (guint64) n_read, __ATOMIC_RELAXED);

  return n_read;
}

static void
apr_counting_stream_class_init (AprCountingStreamClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = apr_counting_stream_read;
}

static void
apr_counting_stream_init (AprCountingStream *self)
{
}

/* Puts a decompressor on top, if the stream begins as compressed data do. */
static GInputStream *
decompress (GInputStream *stream, GCancellable *cancellable, GError **error)
{
  static const guint8 gzip[] = { 0x1f, 0x8b };
  static const guint8 zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
  g_autoptr (GInputStream) buffered = g_buffered_input_stream_new_sized (stream, 1 << 16);
  g_autoptr (GConverter) converter = NULL;
  const guint8 *bytes;
  gsize length;
  gssize n_read;

  do
    {
      n_read = g_buffered_input_stream_fill (G_BUFFERED_INPUT_STREAM (buffered), -1, cancellable, error);
      if (n_read < 0)
        return NULL;
      bytes = g_buffered_input_stream_peek_buffer (G_BUFFERED_INPUT_STREAM (buffered), &length);
    }
  while (n_read > 0 && length < sizeof zstd);

  if (length >= sizeof gzip && memcmp (bytes, gzip, sizeof gzip) == 0)
    converter = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  else if (length >= sizeof zstd && memcmp (bytes, zstd, sizeof zstd) == 0)
    {
      converter = apr_zstd_decompressor_new (error);
      if (converter == NULL)
        return NULL;
    }
  if (converter == NULL)
    return g_steal_pointer (&buffered);

  return g_converter_input_stream_new (buffered, converter);
}

AprTableSource *
apr_table_source_new (GInputStream *stream)
{
  AprTableSource *self = g_new0 (AprTableSource, 1);

  self->stream =
    g_object_new (APR_TYPE_COUNTING_STREAM, "base-stream", stream, "close-base-stream", FALSE, NULL);
  APR_COUNTING_STREAM (self->stream)->source = self;
  self->cancellable = g_cancellable_new ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->waiting);

  return self;
}

static void
text_free (gpointer data)
{
  apr_table_text_clear (data);
  g_free (data);
}

void
apr_table_source_free (AprTableSource *self)
{
  if (self->thread != NULL)
    {
      g_cancellable_cancel (self->cancellable);
      g_mutex_lock (&self->lock);
      self->ended = TRUE;
      g_cond_broadcast (&self->changed);
      g_mutex_unlock (&self->lock);
      g_thread_join (self->thread);
    }
  g_queue_clear_full (&self->waiting, text_free);
  g_clear_error (&self->error);
  apr_table_text_clear (&self->first);
  g_free (self->rest);
  g_object_unref (self->cancellable);
  g_object_unref (self->stream);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

/* Whether a text has an odd number of quotes: eight bytes at a time, as every byte of a table goes through here. */
static gboolean
has_odd_quotes (const char *text, gsize length)
{
  const guint64 low_bits = G_GUINT64_CONSTANT (0x7f7f7f7f7f7f7f7f);
  const guint64 quotes = G_GUINT64_CONSTANT (0x2222222222222222);
  guint64 parities = 0; /* the high bit of each byte is the parity of the quotes at its place */
  gsize i;

  for (i = 0; i + 8 <= length; i += 8)
    {
      guint64 word;

      memcpy (&word, text + i, sizeof word);
      word ^= quotes;
      /* The high bit of each byte that is 0: neither its low bits nor its high bit are set. */
      parities ^= ~(((word & low_bits) + low_bits) | word | low_bits);
    }
  for (; i < length; i++)
    parities ^= (guint64) (text[i] == '"') << 7;

  return __builtin_parityll (parities);
}

/* The end of the last row that ends in a line end outside quotes; 0 where none does. */
static gsize
find_last_row (const char *text, gsize length)
{
  gsize end = length;
  gsize last = 0;
  gboolean quoted = FALSE;
  gsize i;

  while (end > 0 && text[end - 1] != '\n')
    end--;
  if (end > 0 && !has_odd_quotes (text, end))
    return end;

  /* CR alone may be the first half of CR LF where the text is cut, but not before that. */
  for (i = 0; i < length; i++)
    if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == '\n' || (text[i] == '\r' && i + 1 < length && text[i + 1] != '\n')))
      last = i + 1;

  return last;
}

/* Reads the next block; %FALSE at the end, and after an error. */
static gboolean
read_block (AprTableSource *self, AprTableText *text, GCancellable *cancellable, GError **error)
{
  gsize size = MAX (BLOCK_SIZE, 2 * self->rest_length);
  g_autofree char *buffer = NULL;
  gsize length = self->rest_length;
  gsize cut = 0;

  if (self->finished)
    return FALSE;

  buffer = g_try_malloc (size + APR_DECIMAL_PADDING);
  if (buffer != NULL && length > 0)
    memcpy (buffer, self->rest, length);
  while (buffer != NULL && !self->finished && cut == 0)
    {
      gsize n_read;

      if (length == size)
        {
          char *larger;

          if (length >= MAX_ROW || apr_table_has_long_cell (buffer, length, self->delimiter))
            {
              g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                           length >= MAX_ROW ? "a row is longer than the %d bytes that are allowed"
                                             : "a cell is longer than the %d bytes that are allowed",
                           length >= MAX_ROW ? MAX_ROW : APR_TABLE_MAX_CELL);
              return FALSE;
            }
          size *= 2;
          larger = g_try_realloc (buffer, size + APR_DECIMAL_PADDING);
          if (larger == NULL)
            break;
          (void) g_steal_pointer (&buffer);
          buffer = larger;
        }
      if (!g_input_stream_read_all (self->stream, buffer + length, size - length, &n_read, cancellable,
                                    error))
        return FALSE;
      self->finished = n_read < size - length;
      length += n_read;
      cut = self->finished ? length : find_last_row (buffer, length);
    }
  if (buffer == NULL || (cut == 0 && !self->finished))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "no memory for so much data");
      return FALSE;
    }

  self->rest_length = length - cut;
  if (self->rest_length > self->rest_allocated)
    {
      self->rest = g_realloc (self->rest, self->rest_length);
      self->rest_allocated = self->rest_length;
    }
  if (self->rest_length > 0)
    memcpy (self->rest, buffer + cut, self->rest_length);
  if (cut == 0)
    return FALSE;

  memset (buffer + cut, 0, APR_DECIMAL_PADDING);
  text->text = g_steal_pointer (&buffer);
  text->length = cut;
  return TRUE;
}

const AprTableText *
apr_table_source_peek (AprTableSource *self, GCancellable *cancellable, GError **error)
{
  if (!self->peeked)
    {
      g_autoptr (GInputStream) stream = decompress (self->stream, cancellable, error);

      if (stream == NULL)
        return NULL;
      self->peeked = TRUE;
      g_set_object (&self->stream, stream);
      read_block (self, &self->first, cancellable, error);
    }

  return self->first.text != NULL ? &self->first : NULL;
}

void
apr_table_source_skip (AprTableSource *self, gsize length)
{
  self->skipped += length;
}

static gpointer
read_ahead (gpointer data)
{
  AprTableSource *self = data;
  gboolean more = TRUE;

  while (more)
    {
      AprTableText text = { 0 };
      g_autoptr (GError) error = NULL;

      more = read_block (self, &text, self->cancellable, &error);
      g_mutex_lock (&self->lock);
      while (more && self->waiting.length >= MAX_WAITING && !self->ended)
        g_cond_wait (&self->changed, &self->lock);
      if (more)
        g_queue_push_tail (&self->waiting, g_memdup2 (&text, sizeof text));
      else
        self->error = g_steal_pointer (&error);
      more = more && !self->ended;
      self->ended = !more;
      g_cond_broadcast (&self->changed);
      g_mutex_unlock (&self->lock);
    }

  return NULL;
}

void
apr_table_source_start (AprTableSource *self, char delimiter)
{
  self->delimiter = delimiter;
  if (!self->finished)
    self->thread = g_thread_try_new ("aprender-table", read_ahead, self, NULL);
}

static void
wake_up (GCancellable *cancellable, gpointer data)
{
  AprTableSource *self = data;

  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gboolean
take_waiting (AprTableSource *self, AprTableText *text, GCancellable *cancellable, GError **error)
{
  gulong handler = 0;
  g_autofree AprTableText *next = NULL;

  if (cancellable != NULL)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (wake_up), self, NULL);
  g_mutex_lock (&self->lock);
  while (g_queue_is_empty (&self->waiting) && !self->ended && !g_cancellable_is_cancelled (cancellable))
    g_cond_wait (&self->changed, &self->lock);
  if (!g_cancellable_is_cancelled (cancellable))
    next = g_queue_pop_head (&self->waiting);
  if (next == NULL && self->ended && self->error != NULL && g_queue_is_empty (&self->waiting))
    g_propagate_error (error, g_error_copy (self->error));
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, handler);

  if (next == NULL)
    {
      if (error == NULL || *error == NULL)
        g_cancellable_set_error_if_cancelled (cancellable, error);
      return FALSE;
    }
  *text = *next;

  return TRUE;
}

gboolean
apr_table_source_take (AprTableSource *self, AprTableText *text, GCancellable *cancellable, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (self->first.text != NULL)
    {
      text->text = g_steal_pointer (&self->first.text);
      text->length = self->first.length - self->skipped;
      memmove (text->text, text->text + self->skipped, text->length + APR_DECIMAL_PADDING);
      return TRUE;
    }
  if (self->thread != NULL)
    return take_waiting (self, text, cancellable, error);

  return read_block (self, text, cancellable, error);
}

guint64
apr_table_source_get_n_bytes (AprTableSource *self)
{
  return __atomic_load_n (&self->n_bytes, __ATOMIC_RELAXED);
}
