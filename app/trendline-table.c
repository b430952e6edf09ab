/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-table.h"

#include <string.h>

#ifdef APR_ZSTD
# include <zstd.h>
#endif

#include <aprender/aprender.h>

#include "app/trendline-preview.h"

/* What is read to be looked at: twice as much each time, until it has enough rows. */
#define HEAD_SIZE (64 * 1024)
#define MAX_HEAD_SIZE (4 * 1024 * 1024)
#define MIN_ROWS 10
#define MAX_ROWS 200

struct _TrendlineTable
{
  GObject parent_instance;

  GFile *file;
  GListStore *columns; /* (element-type TrendlineColumn) */
  GPtrArray *rows;     /* (element-type GStrv) */
  char delimiter;
  gboolean decimal_comma;
};

G_DEFINE_QUARK (trendline - table - error - quark, trendline_table_error)

G_DEFINE_FINAL_TYPE (TrendlineTable, trendline_table, G_TYPE_OBJECT)

static void
trendline_table_finalize (GObject *object)
{
  TrendlineTable *self = TRENDLINE_TABLE (object);

  g_clear_object (&self->file);
  g_clear_object (&self->columns);
  g_clear_pointer (&self->rows, g_ptr_array_unref);

  G_OBJECT_CLASS (trendline_table_parent_class)->finalize (object);
}

static void
trendline_table_class_init (TrendlineTableClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = trendline_table_finalize;
}

static void
trendline_table_init (TrendlineTable *self)
{
  self->columns = g_list_store_new (TRENDLINE_TYPE_COLUMN);
}

/* Decompresses members of gzip as far as there is room; says whether that is all of them. */
static gboolean
decompress_gzip (const char *compressed, gsize size, char *head, gsize room, gsize *length)
{
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  gsize offset = 0;

  *length = 0;
  while (offset < size && *length < room)
    {
      gsize n_read = 0;
      gsize n_written = 0;
      GConverterResult result =
        g_converter_convert (converter, compressed + offset, size - offset, head + *length, room - *length,
                             G_CONVERTER_NO_FLAGS, &n_read, &n_written, NULL);

      /* What is wrong with the file is told when it is fitted. */
      if (result == G_CONVERTER_ERROR)
        return FALSE;
      offset += n_read;
      *length += n_written;
      if (result == G_CONVERTER_FINISHED)
        g_converter_reset (converter);
    }

  return offset == size;
}

#ifdef APR_ZSTD
/* The same of frames of zstd. */
static gboolean
decompress_zstd (const char *compressed, gsize size, char *head, gsize room, gsize *length)
{
  ZSTD_DStream *stream = ZSTD_createDStream ();
  ZSTD_inBuffer in = { compressed, size, 0 };
  ZSTD_outBuffer out = { head, room, 0 };
  gsize left = 0;

  while (stream != NULL && in.pos < in.size && out.pos < out.size && !ZSTD_isError (left))
    left = ZSTD_decompressStream (stream, &out, &in);
  ZSTD_freeDStream (stream);
  *length = out.pos;

  return in.pos == in.size && left == 0;
}
#endif

/* The rows that are in the first bytes, of which there is room for @size. */
static gboolean
read_head (TrendlineTable *self,
           gsize size,
           gsize n_columns,
           gboolean *is_whole,
           GCancellable *cancellable,
           GError **error)
{
  gboolean (*decompress) (const char *, gsize, char *, gsize, gsize *) = NULL;
  g_autofree char *head = g_malloc (size);
  g_autoptr (GInputStream) stream = NULL;
  gsize length;

  stream = G_INPUT_STREAM (g_file_read (self->file, cancellable, error));
  if (stream == NULL || !g_input_stream_read_all (stream, head, size, &length, cancellable, error))
    return FALSE;

  *is_whole = length < size;
  if (length > 2 && memcmp (head, "\x1f\x8b", 2) == 0)
    decompress = decompress_gzip;
#ifdef APR_ZSTD
  if (length > 4 && memcmp (head, "\x28\xb5\x2f\xfd", 4) == 0)
    decompress = decompress_zstd;
#endif
  if (decompress != NULL)
    {
      g_autofree char *compressed = g_steal_pointer (&head);

      head = g_malloc (size);
      *is_whole &= decompress (compressed, length, head, size, &length);
    }
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  self->rows = trendline_preview_parse (head, length, *is_whole, n_columns, MAX_ROWS, &self->delimiter);

  return TRUE;
}

static gboolean
read_rows (TrendlineTable *self, gsize n_columns, GCancellable *cancellable, GError **error)
{
  gboolean is_whole = FALSE;
  gsize size = HEAD_SIZE;

  do
    {
      if (!read_head (self, size, n_columns, &is_whole, cancellable, error))
        return FALSE;
      size *= 2;
    }
  while (!is_whole && self->rows->len < MIN_ROWS && size <= MAX_HEAD_SIZE);

  return TRUE;
}

/* A column without a name cannot be chosen, so it is not shown either. */
static void
remove_unnamed (TrendlineTable *self, const char *const *names)
{
  gsize row;

  for (row = 0; row < self->rows->len; row++)
    {
      char **cells = self->rows->pdata[row];
      gsize n_kept = 0;
      gsize column;

      for (column = 0; names[column] != NULL; column++)
        if (*names[column] != '\0')
          cells[n_kept++] = cells[column];
        else
          g_free (cells[column]);
      cells[n_kept] = NULL;
    }
}

static void
add_columns (TrendlineTable *self, const char *const *names)
{
  gsize n_points = 0;
  gsize n_commas = 0;
  gsize column = 0;
  gsize row;

  for (; *names != NULL; names++)
    {
      g_autoptr (TrendlineColumn) item = NULL;
      gboolean is_text = FALSE;

      if (**names == '\0')
        continue;

      for (row = 0; row < self->rows->len; row++)
        {
          const char *cell = trendline_table_get_cell (self, row, column);

          if (!trendline_preview_is_number (cell))
            is_text = TRUE;
          else if (strchr (cell, ',') != NULL)
            n_commas++;
          else if (strchr (cell, '.') != NULL)
            n_points++;
        }
      item = trendline_column_new (*names, is_text);
      g_list_store_append (self->columns, item);
      column++;
    }
  self->decimal_comma = self->delimiter != ',' && n_commas > n_points;
}

static AprTableReader *
open_reader (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GError) local_error = NULL;

  reader = apr_table_reader_new_for_file (file, cancellable, error);
  if (reader == NULL || apr_table_reader_read_names (reader, cancellable, &local_error))
    return g_steal_pointer (&reader);

  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA) ||
      g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    g_set_error_literal (error, TRENDLINE_TABLE_ERROR, TRENDLINE_TABLE_ERROR_FORMAT, local_error->message);
  else
    g_propagate_error (error, g_steal_pointer (&local_error));

  return NULL;
}

/* Reads the names of a table's columns and its first rows. This blocks; the asynchronous twin does not. */
TrendlineTable *
trendline_table_load (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (TrendlineTable) self = g_object_new (TRENDLINE_TYPE_TABLE, NULL);
  g_autoptr (AprTableReader) reader = NULL;
  const char *const *names;

  self->file = g_object_ref (file);
  reader = open_reader (file, cancellable, error);
  if (reader == NULL)
    return NULL;
  names = apr_table_reader_get_names (reader);
  if (!read_rows (self, g_strv_length ((char **) names), cancellable, error))
    return NULL;
  remove_unnamed (self, names);
  add_columns (self, names);

  return g_steal_pointer (&self);
}

static void
load_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  TrendlineTable *self = trendline_table_load (data, cancellable, &error);

  if (self != NULL)
    g_task_return_pointer (task, self, g_object_unref);
  else
    g_task_return_error (task, error);
}

void
trendline_table_load_async (GFile *file,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_return_if_fail (G_IS_FILE (file));

  g_task_set_source_tag (task, trendline_table_load_async);
  /* To open a pipe, or a file of a server that does not answer, can block for ever. */
  g_task_set_return_on_cancel (task, TRUE);
  g_task_set_task_data (task, g_object_ref (file), g_object_unref);
  g_task_run_in_thread (task, load_in_thread);
}

TrendlineTable *
trendline_table_load_finish (GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

GFile *
trendline_table_get_file (TrendlineTable *self)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), NULL);

  return self->file;
}

GListModel *
trendline_table_get_columns (TrendlineTable *self)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), NULL);

  return G_LIST_MODEL (self->columns);
}

/* Returns (transfer none) (nullable): the column of this name. */
TrendlineColumn *
trendline_table_find_column (TrendlineTable *self, const char *name)
{
  guint i;

  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), NULL);

  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->columns)); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (G_LIST_MODEL (self->columns), i);

      if (g_strcmp0 (trendline_column_get_name (column), name) == 0)
        return column;
    }

  return NULL;
}

/* How many rows there are to look at. */
gsize
trendline_table_get_n_rows (TrendlineTable *self)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), 0);

  return self->rows->len;
}

const char *
trendline_table_get_cell (TrendlineTable *self, gsize row, gsize column)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), NULL);
  g_return_val_if_fail (row < self->rows->len, NULL);

  return ((char **) self->rows->pdata[row])[column];
}

/* Whether the numbers that were looked at have decimal commas. */
gboolean
trendline_table_get_decimal_comma (TrendlineTable *self)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), FALSE);

  return self->decimal_comma;
}
