/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-reader-private.h"

#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * apr_table_reader_new:
 * @stream: the text of a table, or the compressed text
 * @name: (nullable): what messages call the table, or `NULL` for “table”
 *
 * Makes a reader of a stream, and reads nothing yet.
 *
 * The stream is not closed.
 *
 * Returns: (transfer full): a reader
 *
 * Since: 0.1
 */
AprTableReader *
apr_table_reader_new (GInputStream *stream, const char *name)
{
  g_return_val_if_fail (G_IS_INPUT_STREAM (stream), NULL);

  return g_object_new (APR_TYPE_TABLE_READER, "stream", stream, "name", name, NULL);
}

/**
 * apr_table_reader_new_for_file:
 * @file: a file that holds a table
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Opens a file to read a table from. This blocks as long as it takes to open the file, which is closed again when its
 * end has been read.
 *
 * Fails with an error of %G_IO_ERROR that names the file, such as %G_IO_ERROR_NOT_FOUND.
 *
 * Returns: (transfer full): a reader
 *
 * Since: 0.1
 */
AprTableReader *
apr_table_reader_new_for_file (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileInputStream) stream = NULL;
  g_autofree char *name = NULL;
  AprTableReader *self;
  const char *path;

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  path = g_file_peek_path (file);
  name = path != NULL ? g_filename_display_name (path) : g_file_get_uri (file);
  stream = g_file_read (file, cancellable, error);
  if (stream == NULL)
    {
      /* GIO's messages name the file, but not always as it was given. */
      if (error != NULL && *error != NULL && strstr ((*error)->message, name) == NULL)
        g_prefix_error (error, "%s: ", name);
      return NULL;
    }

  self = apr_table_reader_new (G_INPUT_STREAM (stream), name);
  self->closes = TRUE;

  return self;
}

/* @line counts from 0. */
static void
set_error_at (AprTableReader *self, guint64 line, const char *message)
{
  g_clear_error (&self->error);
  g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s:%" G_GUINT64_FORMAT ": %s", self->name,
               line + 1, message);
}

gboolean
apr_table_reader_fail (AprTableReader *self, GError **error)
{
  /* What is wrong stays so. The threads that read ahead end at once where the file is no pipe. */
  if (self->closes && (self->size > 0 || !self->started))
    {
      g_clear_pointer (&self->source, apr_table_source_free);
      (void) g_input_stream_close (self->stream, NULL, NULL);
    }
  g_propagate_error (error, g_error_copy (self->error));
  return FALSE;
}

static gboolean
is_delimiter (const char *text)
{
  return text[0] != '\0' && text[1] == '\0' && g_ascii_isprint (text[0]) + (text[0] == '\t') == 1 &&
         !g_ascii_isalnum (text[0]) && strchr ("\"+-. ", text[0]) == NULL;
}

/* Reads the first row. */
gboolean
apr_table_reader_load_names (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  const AprTableText *text;
  g_auto (AprTableHeader) header = { 0 };
  g_autoptr (GError) local_error = NULL;
  const char *repeated = NULL;
  char **names;
  gsize mark = 0;
  guint n_names;

  if (self->columns != NULL)
    return TRUE;
  if (self->error != NULL)
    return apr_table_reader_fail (self, error);

  text = apr_table_source_peek (self->source, cancellable, &local_error);
  if (local_error != NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&local_error), "%s: ", self->name);
      return FALSE;
    }

  self->format.point = self->decimal_comma ? ',' : '.';
  self->format.delimiter = self->delimiter != NULL ? *self->delimiter : '\0';
  if (self->delimiter != NULL && !is_delimiter (self->delimiter))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s: “%s” cannot stand between cells",
                   self->name, self->delimiter);
      return FALSE;
    }
  if (text != NULL && text->length >= 3 && memcmp (text->text, "\xef\xbb\xbf", 3) == 0)
    mark = 3;
  if (text != NULL && text->too_long)
    apr_table_header_refuse_row (&header, text->text + mark, text->length - mark, self->format.point,
                                 self->format.delimiter);
  else if (text != NULL)
    apr_table_header_parse (&header, text->text + mark, text->length - mark, self->format.point,
                            &self->format.delimiter);
  if (header.error != NULL)
    set_error_at (self, header.error_line, header.error);
  else if (self->stream == NULL)
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "%s: the reader has no stream: give it one when it is made", self->name);
  else if (header.names == NULL || header.names->len == 0)
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: the file is empty", self->name);
  if (self->error != NULL)
    return apr_table_reader_fail (self, error);
  g_assert (header.names != NULL);

  n_names = header.names->len;
  g_ptr_array_add (header.names, NULL);
  names = (char **) g_ptr_array_free (g_steal_pointer (&header.names), FALSE);
  self->columns = apr_table_columns_new (names, &repeated);
  if (self->columns == NULL)
    {
      g_autofree char *message = g_strdup_printf ("two columns have the name “%s”", repeated);

      set_error_at (self, header.error_line, message);
      g_strfreev (names);
      return apr_table_reader_fail (self, error);
    }

  self->format.names = (const char *const *) names;
  self->format.n_columns = n_names;
  apr_table_source_skip (self->source, mark + header.length);
  self->n_lines = header.n_lines;

  return TRUE;
}

/* Assigns the columns, and starts reading ahead. */
static gboolean
start (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  guint i;

  if (self->started)
    return TRUE;
  if (!apr_table_reader_load_names (self, cancellable, error))
    return FALSE;
  if (!apr_table_columns_assign (self->columns, (const char *const *) self->chosen_features,
                                 (const char *const *) self->targets, self->weight, error))
    {
      const char *only = self->columns->names[0];

      /* The likeliest reason for a single column. */
      if (self->columns->n_columns == 1 && error != NULL && strpbrk (only, ";|\t,") != NULL)
        {
          char *message =
            self->delimiter != NULL
              ? g_strdup_printf ("%s; the cells must be separated by “%c” (delimiter)", (*error)->message,
                                 self->format.delimiter)
              : g_strdup_printf (
                  "%s; between cells, only %ssemicolons and tabs are found, and others must be given "
                  "(delimiter)",
                  (*error)->message, self->decimal_comma ? "" : "commas, ");

          g_free ((*error)->message);
          (*error)->message = message;
        }
      g_prefix_error (error, "%s: ", self->name);
      return FALSE;
    }

  self->format.slots = self->columns->slots;
  self->format.drop_missing = self->drop_missing;
  for (i = 0; i < self->columns->n_columns; i++)
    if (self->columns->slots[i].role != APR_TABLE_IGNORED)
      self->format.n_numbers[self->columns->slots[i].role]++;
  /* A column can have several, for its categories. */
  self->format.n_numbers[APR_TABLE_FEATURES] = g_strv_length (self->columns->features);
  apr_table_source_start (self->source, &self->format, apr_table_reader_get_n_threads (self));
  self->started = TRUE;

  return TRUE;
}

AprTableBlock *
apr_table_reader_load_block (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  AprTableBlock *block = apr_table_source_take (self->source, cancellable, &local_error);

  if (local_error != NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&local_error), "%s: ", self->name);
      return NULL;
    }
  self->n_bytes = apr_table_source_get_n_bytes (self->source);
  self->finished = block == NULL;
  if (self->finished && self->closes)
    (void) g_input_stream_close (self->stream, NULL, NULL);

  return block;
}

/* Adds the numbers that are missing in the rest of the table to those of a block, so that one look tells whether
 * dropping rows will do. Fails only if it is cancelled: what stops the stream otherwise comes after what is wrong. */
static gboolean
count_missing (AprTableReader *self, AprTableBlock *first, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  AprTableBlock *block;

  while (first->n_missing > 0 &&
         (block = apr_table_reader_load_block (self, cancellable, &local_error)) != NULL)
    {
      first->n_missing += block->n_missing;
      apr_table_block_free (block);
    }
  if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static void
set_error_of_block (AprTableReader *self, const AprTableBlock *block)
{
  g_autofree char *message = NULL;

  if (block->n_missing == 0)
    message = g_strdup (block->error);
  else if (block->n_missing == 1)
    message = g_strdup_printf ("%s (drop-missing)", block->error);
  else
    message = g_strdup_printf ("%s; %" G_GSIZE_FORMAT " cells are missing in all (drop-missing)",
                               block->error, block->n_missing);
  self->n_missing = block->n_missing;
  set_error_at (self, self->n_lines + block->error_line, message);
}

gboolean
apr_table_reader_fail_with_block (AprTableReader *self,
                                  AprTableBlock *block,
                                  GCancellable *cancellable,
                                  GError **error)
{
  if (block->no_memory)
    g_set_error (&self->error, APR_ERROR, APR_ERROR_NO_MEMORY, "%s: no memory for so much data", self->name);
  else if (count_missing (self, block, cancellable, error))
    set_error_of_block (self, block);
  else
    {
      apr_table_source_put_back (self->source, block);
      return FALSE;
    }
  apr_table_block_free (block);

  return apr_table_reader_fail (self, error);
}

/* What a read hands out. */
typedef struct
{
  AprTensor *tensors[APR_TABLE_N_ROLES]; /* (owned) (nullable) */
  AprTensor *numbers;                    /* (owned) (nullable) which rows of the table they are */
} Rows;

static void
rows_free (gpointer data)
{
  Rows *rows = data;
  gsize i;

  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    g_clear_pointer (&rows->tensors[i], apr_tensor_unref);
  g_clear_pointer (&rows->numbers, apr_tensor_unref);
  g_free (rows);
}

static void
take_tensors (AprTableReader *self, AprTableBlock *block, AprTensor *tensors[APR_TABLE_N_ROLES])
{
  gsize i;

  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    {
      gsize shape[2] = { block->n_rows, self->format.n_numbers[i] };
      gsize n_dims = i == APR_TABLE_FEATURES || shape[1] > 1 ? 2 : 1;
      gsize size = shape[0] * shape[1] * sizeof (double);

      if (shape[1] == 0)
        continue;
      tensors[i] =
        apr_tensor_new_take (APR_DTYPE_F64, shape, n_dims, g_steal_pointer (&block->values[i]), size);
    }
}

/* Which rows of the table those of a block are, where rows can be missing between them. */
static AprTensor *
take_row_numbers (AprTableReader *self, AprTableBlock *block)
{
  const gsize shape[1] = { block->n_rows };
  gint64 *numbers = g_steal_pointer (&block->numbers);
  gint64 n_before = (gint64) (self->n_rows + self->n_dropped);
  gsize i;

  if (numbers == NULL)
    return NULL;
  for (i = 0; i < block->n_rows; i++)
    numbers[i] += n_before;

  return apr_tensor_new_take (APR_DTYPE_I64, shape, 1, numbers, block->n_rows * sizeof (gint64));
}

/* Reads some rows; false at the end, and after an error. */
static gboolean
load_rows (AprTableReader *self, Rows *rows, GCancellable *cancellable, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (self->error != NULL)
    return apr_table_reader_fail (self, error);
  if (self->collected != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                   "%s: categories have been read, and no rows: make another reader for these", self->name);
      return FALSE;
    }
  if (!start (self, cancellable, error))
    return FALSE;

  while (!self->finished)
    {
      AprTableBlock *block = apr_table_reader_load_block (self, cancellable, error);
      gboolean taken;

      if (block == NULL && !self->finished)
        return FALSE;
      if (block == NULL)
        break;
      if (block->error != NULL || block->no_memory)
        return apr_table_reader_fail_with_block (self, block, cancellable, error);
      taken = block->n_rows > 0;
      if (taken)
        {
          take_tensors (self, block, rows->tensors);
          rows->numbers = take_row_numbers (self, block);
        }
      self->n_rows += block->n_rows;
      self->n_dropped += block->n_dropped;
      self->n_lines += block->n_lines;
      apr_table_block_free (block);
      if (taken)
        return TRUE;
    }

  if (self->n_rows > 0)
    return FALSE;
  if (self->n_dropped > 0)
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: each of the %" G_GUINT64_FORMAT " rows misses a number", self->name, self->n_dropped);
  else
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: there are no rows after the header",
                 self->name);

  return apr_table_reader_fail (self, error);
}

gboolean
apr_table_reader_enter (AprTableReader *self, AprTableBusy what, GError **error)
{
  const char *late;

  if (!g_atomic_int_compare_and_exchange (&self->busy, 0, what))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PENDING, "%s is being read already", self->name);
      return FALSE;
    }

  late = g_atomic_pointer_exchange (&self->late, NULL);
  if (late != NULL && self->error == NULL)
    g_set_error (
      &self->error, G_IO_ERROR, G_IO_ERROR_FAILED,
      "%s: the property “%s” was set after reading had begun: set it before, or make another reader",
      self->name, late);

  return TRUE;
}

void
apr_table_reader_leave (AprTableReader *self)
{
  (void) g_atomic_int_and (&self->busy, (guint) APR_TABLE_CHOOSES);
}

void
apr_table_reader_run_async_named (AprTableReader *self,
                                  const char *name,
                                  AprTableBusy what,
                                  GTaskThreadFunc run,
                                  gpointer data,
                                  GDestroyNotify free_data,
                                  gpointer source_tag,
                                  int io_priority,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  GError *error = NULL;

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, data, free_data);
  /* What was read before it could be cancelled would be lost: the reader is behind it. */
  g_task_set_check_cancellable (task, FALSE);
  if (apr_table_reader_enter (self, what, &error))
    apr_task_run_in_thread (task, run);
  else
    g_task_return_error (task, error);
}

gboolean
apr_table_reader_begin_choice (AprTableReader *self, const char *property, gboolean of_names)
{
  guint before = g_atomic_int_or (&self->busy, APR_TABLE_CHOOSES);
  guint reads = APR_TABLE_READS_ROWS | (of_names ? APR_TABLE_READS_NAMES : 0);

  if ((before & (reads | APR_TABLE_CHOOSES)) == 0 && !(of_names ? self->columns != NULL : self->started))
    return TRUE;

  g_atomic_pointer_set (&self->late, property);
  if ((before & APR_TABLE_CHOOSES) == 0)
    apr_table_reader_end_choice (self);
  return FALSE;
}

void
apr_table_reader_end_choice (AprTableReader *self)
{
  (void) g_atomic_int_and (&self->busy, ~(guint) APR_TABLE_CHOOSES);
}

static void
hand_out (AprTensor *tensor, AprTensor **place)
{
  if (place != NULL)
    *place = tensor;
  else
    g_clear_pointer (&tensor, apr_tensor_unref);
}

static void
hand_out_tensors (const Rows *rows, AprTensor **x, AprTensor **y, AprTensor **sample_weight)
{
  hand_out (rows->tensors[APR_TABLE_FEATURES], x);
  hand_out (rows->tensors[APR_TABLE_TARGETS], y);
  hand_out (rows->tensors[APR_TABLE_WEIGHTS], sample_weight);
}

/* Ends a read in the caller's thread, which may look at the numbers of rows while others are read. */
static void
end_read (AprTableReader *self, const Rows *rows, AprTensor **x, AprTensor **y, AprTensor **sample_weight)
{
  GObject *object = G_OBJECT (self);

  g_object_freeze_notify (object);
  if (self->row_numbers != NULL || rows->numbers != NULL)
    g_object_notify (object, "row-numbers");
  g_clear_pointer (&self->row_numbers, apr_tensor_unref);
  self->row_numbers = rows->numbers;
  apr_table_reader_notify_state (self);
  g_object_thaw_notify (object);
  hand_out_tensors (rows, x, y, sample_weight);
}

/**
 * apr_table_reader_read:
 * @self: a reader
 * @x: (out) (optional) (transfer full) (nullable): where to put the features of some rows, [n_rows, n_features], F64
 * @y: (out) (optional) (transfer full) (nullable): where to put the targets of the same rows, [n_rows], or
 *   [n_rows, n_targets] if there are several; `NULL` if there are none
 * @sample_weight: (out) (optional) (transfer full) (nullable): where to put their weights, [n_rows], or `NULL` if
 * there are none
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Reads the next rows, as many as a block of the table has, in the order of the table.
 *
 * This blocks; [method@Apr.TableReader.read_async] does not. It fails with %G_IO_ERROR_INVALID_DATA where the table
 * is wrong: the message has the table's name, the line where the cell begins, and the column, such as `rents.csv:7:
 * column “rooms”: “three” is not a number`. If numbers are missing, it reads on to
 * the end, and the message counts them. Once a table has been found
 * wrong, every read fails. %APR_ERROR_FEATURE_NAMES says that it has no column of a name that was set. After
 * %G_IO_ERROR_CANCELLED, reading can go on, and after %G_IO_ERROR_PENDING, which it fails with while another read of
 * this reader is under way.
 *
 * Returns: `TRUE` if there were rows; `FALSE` at the end of the table, and then @error is not set, and on failure
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_read (AprTableReader *self,
                       AprTensor **x,
                       AprTensor **y,
                       AprTensor **sample_weight,
                       GCancellable *cancellable,
                       GError **error)
{
  Rows rows = { { NULL } };
  gboolean read;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!apr_table_reader_enter (self, APR_TABLE_READS_ROWS, error))
    {
      hand_out_tensors (&rows, x, y, sample_weight);
      return FALSE;
    }

  read = load_rows (self, &rows, cancellable, error);
  apr_table_reader_leave (self);
  end_read (self, &rows, x, y, sample_weight);

  return read;
}

static void
read_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  AprTableReader *self = source_object;
  Rows *rows = g_new0 (Rows, 1);
  GError *error = NULL;

  if (load_rows (self, rows, cancellable, &error))
    g_task_return_pointer (task, rows, rows_free);
  else
    {
      rows_free (rows);
      if (error != NULL)
        g_task_return_error (task, error);
      else
        g_task_return_pointer (task, NULL, NULL);
    }
  apr_table_reader_leave (self);
}

/**
 * apr_table_reader_read_async:
 * @self: a reader
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (nullable) (scope async) (closure user_data): what to call when the rows are there
 * @user_data: data to pass to @callback
 *
 * Reads the next rows in another thread, as [method@Apr.TableReader.read] does.
 *
 * Whoever cancels it may be too late: then it succeeds. After %G_IO_ERROR_CANCELLED, the rows are those of the next
 * read.
 *
 * Since: 0.1
 */
void
apr_table_reader_read_async (AprTableReader *self,
                             int io_priority,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  apr_table_reader_run_async (self, APR_TABLE_READS_ROWS, read_in_thread, NULL, NULL,
                              apr_table_reader_read_async, io_priority, cancellable, callback, user_data);
}

/**
 * apr_table_reader_read_finish:
 * @self: a reader
 * @result: what the callback was called with
 * @x: (out) (optional) (transfer full) (nullable): where to put the features, [n_rows, n_features]
 * @y: (out) (optional) (transfer full) (nullable): where to put the targets, or `NULL`
 * @sample_weight: (out) (optional) (transfer full) (nullable): where to put the weights, or `NULL`
 * @error: return location for an error
 *
 * Ends what [method@Apr.TableReader.read_async] began.
 *
 * Returns: `TRUE` if there were rows; `FALSE` at the end of the table, and then @error is not set, and on failure
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_read_finish (AprTableReader *self,
                              GAsyncResult *result,
                              AprTensor **x,
                              AprTensor **y,
                              AprTensor **sample_weight,
                              GError **error)
{
  const Rows none = { { NULL } };
  g_autofree Rows *rows = NULL;
  GError *local_error = NULL;
  GTask *task;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  task = apr_task_check (result, self, apr_table_reader_read_async, error);
  if (task == NULL)
    {
      hand_out_tensors (&none, x, y, sample_weight);
      return FALSE;
    }

  rows = g_task_propagate_pointer (task, &local_error);
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_PENDING))
    hand_out_tensors (&none, x, y, sample_weight);
  else
    end_read (self, rows != NULL ? rows : &none, x, y, sample_weight);
  if (local_error != NULL)
    g_propagate_error (error, local_error);

  return rows != NULL;
}

/**
 * apr_table_reader_get_row_numbers:
 * @self: a reader
 *
 * Gets which rows of the table were handed out last, in the order of the samples.
 *
 * Rows count from 0, without the names of the columns and blank lines, but with those that were passed over. So the
 * samples of a table with gaps can be told by their rows.
 *
 * Returns: (transfer none) (nullable): the numbers, [n_rows], I64, until the next read has ended; `NULL` before the
 *   first read, after one without rows, and unless [property@Apr.TableReader:drop-missing] is set: all rows are handed
 *   out then
 *
 * Since: 0.1
 */
AprTensor *
apr_table_reader_get_row_numbers (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return self->row_numbers;
}
