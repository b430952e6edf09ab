/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-source-private.h"

#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/table/apr-decimal-private.h"
#include "aprender/table/apr-gzip-private.h"
#include "aprender/table/apr-zstd-private.h"

/* What is read before it is cut. */
#define BLOCK_SIZE (1 << 20)

/* The bytes that tell how data are compressed. */
#define MAX_MAGIC 10

/* Threads beyond these would wait for the one that reads. */
#define MAX_THREADS 16

/* The blocks that are ahead of the one that is taken next, beside one for each thread. */
#define N_SPARE 2

/* A block that has been read, or the place of one that a thread has yet to parse. */
typedef struct
{
  AprTableBlock *block; /* (owned) (nullable) */
  gboolean parsed;
} Ahead;

struct _AprTableSource
{
  GInputStream *stream; /* (owned) what is read */
  gboolean decompressed;
  const AprTableFormat *format; /* (nullable) */

  /* Of the one that reads. */
  AprTableText rest; /* what is behind the last whole row */
  gboolean finished;

  AprTableText first; /* what was peeked at, until it is taken */
  gboolean has_first;
  AprTableText text;       /* where no thread reads ahead: what blocks are parsed from */
  AprTableBlock *put_back; /* (owned) (nullable) a block that is taken again before the others */

  guint n_threads;
  GPtrArray *threads;        /* (element-type GThread) none for a table that is read already */
  GCancellable *cancellable; /* (owned) ends the threads */
  guint64 n_bytes;           /* of the stream below, atomically */

  GMutex lock;
  GCond changed;
  GQueue ahead;     /* (element-type Ahead) under the lock: blocks in their order */
  guint n_blocks;   /* under the lock: of those that are ahead, the ones that are no mere places */
  gboolean reading; /* under the lock: whether a thread reads; the others parse meanwhile */
  GError *error;    /* (owned) (nullable) under the lock: what comes behind the blocks that are ahead */
  gboolean ended;   /* under the lock: nothing comes behind them but the error */
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

/* What data are that begin as no text does, or %NULL. */
static const char *
find_format (const guint8 *bytes, gsize length)
{
  static const struct
  {
    const char *magic;
    gsize length;
    const char *name;
  } formats[] = {
    /* With the first byte of what follows: a column may be called PAR1. */
    { "PAR1\x15", 5, "a Parquet file" },
    { "ARROW1\0\0", 8, "an Arrow file" },
    { "PK\3\4", 4, "a zip archive, as .npz and .xlsx files are" },
    { "\x93NUMPY", 6, "an array of numpy's (.npy)" },
    { "\x80\2", 2, "a pickle of Python's" },
    { "\x80\3", 2, "a pickle of Python's" },
    { "\x80\4", 2, "a pickle of Python's" },
    { "\x80\5", 2, "a pickle of Python's" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (formats); i++)
    if (length >= formats[i].length && memcmp (bytes, formats[i].magic, formats[i].length) == 0)
      return formats[i].name;

  return NULL;
}

/* Puts a decompressor on top, if the stream begins as compressed data do. */
static GInputStream *
decompress (GBufferedInputStream *stream, GCancellable *cancellable, GError **error)
{
  static const guint8 gzip[] = { 0x1f, 0x8b };
  static const guint8 zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
  static const guint8 xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0x00 };
  static const guint8 bzip2[] = { '1', 'A', 'Y', '&', 'S', 'Y' }; /* behind “BZh” and a digit */
  g_autoptr (GConverter) converter = NULL;
  const char *unsupported = NULL;
  const char *format;
  const guint8 *bytes;
  gsize length;
  gssize n_read;

  do
    {
      n_read = g_buffered_input_stream_fill (stream, -1, cancellable, error);
      if (n_read < 0)
        return NULL;
      bytes = g_buffered_input_stream_peek_buffer (stream, &length);
    }
  while (n_read > 0 && length < MAX_MAGIC);

  if (length >= sizeof gzip && memcmp (bytes, gzip, sizeof gzip) == 0)
    converter = apr_gzip_decompressor_new ();
  else if (length >= sizeof zstd && memcmp (bytes, zstd, sizeof zstd) == 0)
    {
      converter = apr_zstd_decompressor_new (error);
      if (converter == NULL)
        return NULL;
    }
  else if (length >= sizeof xz && memcmp (bytes, xz, sizeof xz) == 0)
    unsupported = "xz";
  else if (length >= MAX_MAGIC && memcmp (bytes, "BZh", 3) == 0 &&
           memcmp (bytes + 4, bzip2, sizeof bzip2) == 0)
    unsupported = "bzip2";
  if (unsupported != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "the data are compressed by %s, which is not supported; gzip and zstd are", unsupported);
      return NULL;
    }
  format = find_format (bytes, length);
  if (format != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "this is %s, not a table in CSV", format);
      return NULL;
    }
  if (converter == NULL)
    return g_object_ref (G_INPUT_STREAM (stream));

  return g_converter_input_stream_new (G_INPUT_STREAM (stream), converter);
}

AprTableSource *
apr_table_source_new (GInputStream *stream)
{
  AprTableSource *self = g_new0 (AprTableSource, 1);
  g_autoptr (GInputStream) counting =
    g_object_new (APR_TYPE_COUNTING_STREAM, "base-stream", stream, "close-base-stream", FALSE, NULL);

  APR_COUNTING_STREAM (counting)->source = self;
  self->stream = g_buffered_input_stream_new_sized (counting, 1 << 16);
  self->cancellable = g_cancellable_new ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->ahead);
  self->threads = g_ptr_array_new ();

  return self;
}

static void
ahead_free (gpointer data)
{
  Ahead *ahead = data;

  g_clear_pointer (&ahead->block, apr_table_block_free);
  g_free (ahead);
}

void
apr_table_source_free (AprTableSource *self)
{
  guint i;

  if (self->threads->len > 0)
    {
      g_cancellable_cancel (self->cancellable);
      g_mutex_lock (&self->lock);
      self->ended = TRUE;
      g_cond_broadcast (&self->changed);
      g_mutex_unlock (&self->lock);
    }
  for (i = 0; i < self->threads->len; i++)
    g_thread_join (g_ptr_array_index (self->threads, i));
  g_ptr_array_unref (self->threads);
  g_queue_clear_full (&self->ahead, ahead_free);
  g_clear_error (&self->error);
  apr_table_text_clear (&self->first);
  apr_table_text_clear (&self->text);
  g_clear_pointer (&self->put_back, apr_table_block_free);
  apr_table_text_clear (&self->rest);
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

/* Gives a text room for @size bytes and the padding. */
static gboolean
make_room (AprTableText *text, gsize size)
{
  char *larger;

  if (text->size >= size)
    return TRUE;
  larger = g_try_realloc (text->text, size + APR_DECIMAL_PADDING);
  if (larger == NULL)
    return FALSE;
  text->text = larger;
  text->size = size;

  return TRUE;
}

/* Keeps all of a text for the next block, which needs no memory. */
static void
keep_all (AprTableSource *self, AprTableText *text)
{
  AprTableText all = *text;

  *text = self->rest;
  self->rest = all;
}

/* Keeps what is behind the last whole row for the next block; all where there is no memory for that. */
static gboolean
keep_rest (AprTableSource *self, AprTableText *text, gsize cut)
{
  gsize length = text->length - cut;

  if (!make_room (&self->rest, length))
    {
      keep_all (self, text);
      return FALSE;
    }
  self->rest.length = length;
  if (length > 0)
    memcpy (self->rest.text, text->text + cut, length);

  return TRUE;
}

static gboolean
fail_without_memory (GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "no memory for so much data");
  return FALSE;
}

/* Reads the next block into @text, whose memory is used again; %FALSE at the end, and after an error, which loses
 * nothing of what has been read. */
static gboolean
read_block (AprTableSource *self, AprTableText *text, GCancellable *cancellable, GError **error)
{
  gsize cut = 0;

  if (self->finished)
    return FALSE;

  if (!make_room (text, MAX (BLOCK_SIZE, 2 * self->rest.length)))
    return fail_without_memory (error);
  text->n_taken = 0;
  text->too_long = FALSE;
  if (self->rest.length > 0)
    memcpy (text->text, self->rest.text, self->rest.length);
  text->length = self->rest.length;
  while (!self->finished && cut == 0)
    {
      gsize n_wanted;
      gsize n_read;
      gboolean read;

      if (text->length == text->size)
        {
          text->too_long = apr_table_is_too_long (text->text, text->length,
                                                  self->format != NULL ? self->format->delimiter : '\0');
          self->finished = text->too_long;
          if (text->too_long)
            return TRUE;
          if (make_room (text, 2 * text->size))
            continue;
          keep_all (self, text);
          return fail_without_memory (error);
        }
      n_wanted = text->size - text->length;
      read = g_input_stream_read_all (self->stream, text->text + text->length, n_wanted, &n_read, cancellable,
                                      error);
      text->length += n_read;
      if (!read)
        {
          /* After it has been cancelled, reading can go on. */
          keep_all (self, text);
          return FALSE;
        }
      self->finished = n_read < n_wanted;
      cut = self->finished ? text->length : find_last_row (text->text, text->length);
    }
  if (!keep_rest (self, text, cut))
    return fail_without_memory (error);
  if (cut == 0)
    return FALSE;

  memset (text->text + cut, 0, APR_DECIMAL_PADDING);
  text->length = cut;
  return TRUE;
}

const AprTableText *
apr_table_source_peek (AprTableSource *self, GCancellable *cancellable, GError **error)
{
  if (!self->decompressed)
    {
      g_autoptr (GInputStream) stream =
        decompress (G_BUFFERED_INPUT_STREAM (self->stream), cancellable, error);

      if (stream == NULL)
        return NULL;
      self->decompressed = TRUE;
      g_set_object (&self->stream, stream);
    }
  if (!self->has_first)
    self->has_first = read_block (self, &self->first, cancellable, error);

  return self->has_first ? &self->first : NULL;
}

void
apr_table_source_skip (AprTableSource *self, gsize length)
{
  self->first.n_taken += length;
}

/* The next block of text, the first one among them. */
static gboolean
take_text (AprTableSource *self, AprTableText *text, GCancellable *cancellable, GError **error)
{
  if (!self->has_first)
    {
      if (read_block (self, text, cancellable, error))
        return TRUE;
      /* What has been read of it is kept elsewhere. */
      text->length = 0;
      return FALSE;
    }

  apr_table_text_clear (text);
  *text = self->first;
  self->first = (AprTableText){ 0 };
  self->has_first = FALSE;

  return TRUE;
}

/* Parses what is left of a text, or as much of it as a block may hold. */
static void
parse (AprTableSource *self, AprTableBlock *block, AprTableText *text)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();

  if (text->too_long)
    {
      apr_table_block_refuse_row (block, self->format, text->text, text->length);
      text->n_taken = text->length;
    }
  else
    text->n_taken +=
      apr_table_block_parse (block, self->format, text->text + text->n_taken, text->length - text->n_taken);
  /* What a long row needed is not kept. */
  if (text->n_taken == text->length && text->size > BLOCK_SIZE)
    apr_table_text_clear (text);
}

/* Parses a text into blocks behind those that are ahead, under the lock, which is left meanwhile. While as many as
 * @max_ahead wait to be taken, only the one that is to be taken next is parsed. */
static void
parse_ahead (AprTableSource *self, AprTableText *text, guint max_ahead)
{
  Ahead *ahead = g_new0 (Ahead, 1);

  g_queue_push_tail (&self->ahead, ahead);
  while (ahead != NULL)
    {
      Ahead *next = NULL;

      ahead->block = g_new0 (AprTableBlock, 1);
      self->n_blocks++;
      g_mutex_unlock (&self->lock);

      parse (self, ahead->block, text);

      g_mutex_lock (&self->lock);
      /* What follows in the text comes before what other threads have read since. */
      if (text->n_taken < text->length)
        {
          next = g_new0 (Ahead, 1);
          g_queue_insert_after (&self->ahead, g_queue_find (&self->ahead, ahead), next);
        }
      ahead->parsed = TRUE;
      g_cond_broadcast (&self->changed);

      ahead = next;
      while (ahead != NULL && self->n_blocks >= max_ahead && g_queue_peek_head (&self->ahead) != ahead &&
             !g_cancellable_is_cancelled (self->cancellable))
        g_cond_wait (&self->changed, &self->lock);
      if (g_cancellable_is_cancelled (self->cancellable))
        break;
    }
}

/* Reads a block where no other thread does, and parses it while others read theirs. */
static gpointer
work_ahead (gpointer data)
{
  AprTableSource *self = data;
  const guint max_ahead = self->n_threads + N_SPARE;
  g_auto (AprTableText) text = { 0 };

  g_mutex_lock (&self->lock);
  while (!self->ended)
    {
      g_autoptr (GError) error = NULL;
      gboolean more;

      if (self->reading || self->n_blocks >= max_ahead)
        {
          g_cond_wait (&self->changed, &self->lock);
          continue;
        }
      self->reading = TRUE;
      g_mutex_unlock (&self->lock);

      more = take_text (self, &text, self->cancellable, &error);

      g_mutex_lock (&self->lock);
      self->reading = FALSE;
      g_cond_broadcast (&self->changed);
      if (!more)
        {
          self->ended = TRUE;
          self->error = g_steal_pointer (&error);
          break;
        }
      parse_ahead (self, &text, max_ahead);
    }
  g_mutex_unlock (&self->lock);

  return NULL;
}

void
apr_table_source_start (AprTableSource *self, const AprTableFormat *format, guint n_threads)
{
  /* A source read to its end needs no thread. While one runs, this thread must not read what it writes. */
  const guint n_started = self->finished ? 0 : apr_parallel_count (n_threads, MAX_THREADS);
  guint i;

  self->format = format;
  self->n_threads = n_started;
  for (i = 0; i < n_started; i++)
    {
      GThread *thread = g_thread_try_new ("aprender-table", work_ahead, self, NULL);

      if (thread != NULL)
        g_ptr_array_add (self->threads, thread);
    }
}

static void
wake_up (GCancellable *cancellable, gpointer data)
{
  AprTableSource *self = data;

  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Takes the first of the blocks that are ahead, as soon as it is parsed. */
static AprTableBlock *
take_ahead (AprTableSource *self, GCancellable *cancellable, GError **error)
{
  gulong handler = 0;
  AprTableBlock *block = NULL;

  if (cancellable != NULL)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (wake_up), self, NULL);
  g_mutex_lock (&self->lock);
  while (!g_cancellable_is_cancelled (cancellable))
    {
      const Ahead *first = g_queue_peek_head (&self->ahead);

      if (first != NULL && first->parsed)
        {
          g_autofree Ahead *taken = g_queue_pop_head (&self->ahead);

          block = taken->block;
          self->n_blocks--;
          g_cond_broadcast (&self->changed);
          break;
        }
      if (first == NULL && self->ended)
        {
          if (self->error != NULL)
            g_propagate_error (error, g_error_copy (self->error));
          break;
        }
      g_cond_wait (&self->changed, &self->lock);
    }
  g_mutex_unlock (&self->lock);
  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, handler);

  return block;
}

AprTableBlock *
apr_table_source_take (AprTableSource *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  AprTableBlock *block = NULL;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (self->put_back != NULL)
    return g_steal_pointer (&self->put_back);

  if (self->threads->len > 0)
    {
      block = take_ahead (self, cancellable, &local_error);
      if (block == NULL && local_error == NULL)
        g_cancellable_set_error_if_cancelled (cancellable, &local_error);
    }
  else if (self->text.n_taken < self->text.length || take_text (self, &self->text, cancellable, &local_error))
    {
      block = g_new0 (AprTableBlock, 1);
      parse (self, block, &self->text);
    }
  if (local_error != NULL)
    g_propagate_error (error, g_steal_pointer (&local_error));

  return block;
}

void
apr_table_source_put_back (AprTableSource *self, AprTableBlock *block)
{
  self->put_back = block;
}

guint64
apr_table_source_get_n_bytes (AprTableSource *self)
{
  return __atomic_load_n (&self->n_bytes, __ATOMIC_RELAXED);
}
