/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-csv.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "aprender/tool/apr-csv-number.h"

#define BLOCK_SIZE (256 * 1024)
#define MAX_NAMES_IN_MESSAGE 20

/* The numbers that become a tensor, while there may be more of them to come. */
typedef struct
{
  double *values; /* (owned) */
  gsize n_columns;
  gsize n_rows_allocated;
  gboolean weights;
} Matrix;

/* Where a column's numbers go. */
typedef struct
{
  Matrix *matrix; /* (nullable) */
  gsize position;
} Slot;

struct _AprCsv
{
  struct csv_parser parser;
  int fd;
  char *name;  /* (owned) */
  char *block; /* (owned) */
  gsize block_begin;
  gsize block_end;
  gboolean finished;

  guint64 line;        /* where the parser is in the file, counted from 1 */
  guint64 record_line; /* where the record begins that is being read */
  guint64 cell_line;   /* where the cell begins that is being read; 0 between two records */
  gboolean after_cr;

  GPtrArray *columns;  /* (owned) (element-type utf8) */
  GHashTable *indices; /* (owned) (element-type utf8 gsize): places in columns, plus 1 */
  gboolean has_header;

  Matrix *matrices; /* (owned) */
  gsize n_matrices;
  Slot *slots; /* (owned): one for each column */
  gsize n_cells;
  gsize n_rows;
  GError *error; /* (owned) (nullable): what the record has shown to be wrong with it */
};

static void G_GNUC_PRINTF (3, 4) set_error_at (AprCsv *self, guint64 line, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  g_clear_error (&self->error);
  g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s:%" G_GUINT64_FORMAT ": %s", self->name,
               line, message);
}

static void
set_error_memory (AprCsv *self)
{
  g_clear_error (&self->error);
  g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "%s: no memory for so much data", self->name);
}

static void
add_column (AprCsv *self, const char *text, gsize length)
{
  gsize number = self->columns->len + 1;

  if (self->error != NULL)
    return;

  if (!g_utf8_validate_len (text, length, NULL))
    set_error_at (self, self->cell_line, "the name of column %" G_GSIZE_FORMAT " is not text in UTF-8",
                  number);
  else if (length == 0)
    set_error_at (self, self->cell_line, "column %" G_GSIZE_FORMAT " has no name", number);
  else if (g_hash_table_contains (self->indices, text))
    set_error_at (self, self->cell_line, "two columns have the name “%s”", text);
  else
    {
      g_ptr_array_add (self->columns, g_strndup (text, length));
      g_hash_table_insert (self->indices, g_ptr_array_index (self->columns, number - 1),
                           GSIZE_TO_POINTER (number));
    }
}

static gboolean
make_room_for_row (AprCsv *self)
{
  gsize i;

  for (i = 0; i < self->n_matrices; i++)
    {
      Matrix *matrix = &self->matrices[i];
      gsize n_rows;
      gsize size;
      double *values;

      if (self->n_rows < matrix->n_rows_allocated)
        continue;
      if (!g_size_checked_add (&n_rows, self->n_rows, self->n_rows / 2 + 64) ||
          !g_size_checked_mul (&size, n_rows, matrix->n_columns) ||
          !g_size_checked_mul (&size, size, sizeof (double)))
        return FALSE;
      values = g_try_realloc (matrix->values, size);
      if (values == NULL)
        return FALSE;
      matrix->values = values;
      matrix->n_rows_allocated = n_rows;
    }

  return TRUE;
}

static void
add_number (AprCsv *self, gsize column, const char *text, gsize length)
{
  const Slot *slot = &self->slots[column];
  g_autofree char *complaint = NULL;
  double value = 0;

  if (slot->matrix == NULL || self->error != NULL)
    return;

  if (apr_csv_parse_number (text, length, &value, &complaint))
    slot->matrix->values[self->n_rows * slot->matrix->n_columns + slot->position] = value;
  if (complaint == NULL && slot->matrix->weights && value < 0)
    complaint = g_strdup_printf ("the weight %.*s is negative", (int) MIN (length, 40), text);
  if (complaint != NULL)
    set_error_at (self, self->cell_line, "column “%s”: %s",
                  (const char *) g_ptr_array_index (self->columns, column), complaint);
}

static void
cell_cb (void *data, size_t length, void *user_data)
{
  AprCsv *self = user_data;

  if (!self->has_header)
    add_column (self, data, length);
  else if (self->n_cells < self->columns->len)
    {
      if (self->n_cells == 0 && self->error == NULL && !make_room_for_row (self))
        set_error_memory (self);
      add_number (self, self->n_cells, data, length);
    }

  self->n_cells++;
  self->cell_line = self->line;
}

static void
record_cb (int terminator, void *user_data)
{
  AprCsv *self = user_data;

  if (!self->has_header)
    self->has_header = TRUE;
  else if (self->n_cells != self->columns->len)
    /* Also where a cell was wrong: most likely it is wrong because it stands in another's place. */
    set_error_at (self, self->record_line, "the row has %" G_GSIZE_FORMAT " %s, but the header has %u %s",
                  self->n_cells, self->n_cells == 1 ? "cell" : "cells", self->columns->len,
                  self->columns->len == 1 ? "column" : "columns");
  else
    self->n_rows++;

  self->n_cells = 0;
  self->cell_line = 0;
}

/* Makes the block hold some bytes more; at the end of the file it has no more of them than before. */
static gboolean
read_block (AprCsv *self)
{
  gssize n_read;

  if (self->block_begin == self->block_end)
    self->block_begin = self->block_end = 0;
  do
    n_read = read (self->fd, self->block + self->block_end, BLOCK_SIZE - self->block_end);
  while (n_read < 0 && errno == EINTR);

  if (n_read < 0)
    {
      int code = errno;

      g_clear_error (&self->error);
      g_set_error (&self->error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", self->name,
                   g_strerror (code));
      return FALSE;
    }

  self->block_end += (gsize) n_read;
  return TRUE;
}

static gboolean
skip_byte_order_mark (AprCsv *self)
{
  gsize before;

  do
    {
      before = self->block_end;
      if (!read_block (self))
        return FALSE;
    }
  while (self->block_end > before && self->block_end < 3);

  if (self->block_end >= 3 && memcmp (self->block, "\xef\xbb\xbf", 3) == 0)
    self->block_begin = 3;

  return TRUE;
}

static void
set_error_syntax (AprCsv *self, guint64 line, const char *problem)
{
  /* A cell that was found wrong came first. */
  if (self->error != NULL)
    return;

  if (csv_error (&self->parser) != CSV_EPARSE)
    set_error_memory (self);
  else if (self->has_header && self->n_cells < self->columns->len)
    set_error_at (self, line, "column “%s”: %s",
                  (const char *) g_ptr_array_index (self->columns, self->n_cells), problem);
  else
    set_error_at (self, line, "%s", problem);
}

/* Hands the parser the bytes up to the end of a line. By lines, because it does not tell where in the file it is;
 * a record then ends no earlier than the bytes do, so that the header can be read alone. */
static gboolean
parse_line (AprCsv *self)
{
  const char *line = self->block + self->block_begin;
  gsize n_left = self->block_end - self->block_begin;
  gboolean blank = TRUE;
  gboolean ended = FALSE;
  gsize length;

  for (length = 0; length < n_left && !ended; length++)
    {
      ended = line[length] == '\n' || line[length] == '\r';
      blank = blank && (ended || line[length] == ' ' || line[length] == '\t');
    }

  if (self->cell_line == 0 && !blank)
    self->record_line = self->cell_line = self->line;

  if (csv_parse (&self->parser, line, length, cell_cb, record_cb, self) != length)
    {
      set_error_syntax (self, self->line,
                        "a quote stands in the middle of a cell, or text after a closing quote");
      return FALSE;
    }

  self->block_begin += length;
  if (ended && !(self->after_cr && length == 1 && line[0] == '\n'))
    self->line++;
  self->after_cr = ended && line[length - 1] == '\r';

  return self->error == NULL || self->cell_line != 0;
}

/* Parses one line more, or what a missing end of the last line has left. */
static gboolean
parse_more (AprCsv *self)
{
  if (self->block_begin == self->block_end)
    {
      if (!read_block (self))
        return FALSE;
      if (self->block_begin == self->block_end)
        {
          self->finished = TRUE;
          if (csv_fini (&self->parser, cell_cb, record_cb, self) != 0)
            set_error_syntax (self, self->cell_line, "the quote that opens a cell here is never closed");
          return self->error == NULL;
        }
    }

  return parse_line (self);
}

AprCsv *
apr_csv_open (const char *path, GError **error)
{
  gboolean standard_input = strcmp (path, "-") == 0;
  g_autoptr (AprCsv) self = g_new0 (AprCsv, 1);

  self->name = standard_input ? g_strdup ("standard input") : g_filename_display_name (path);
  self->block = g_malloc (BLOCK_SIZE);
  self->line = 1;
  self->columns = g_ptr_array_new_with_free_func (g_free);
  self->indices = g_hash_table_new (g_str_hash, g_str_equal);
  csv_init (&self->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL);

  self->fd = standard_input ? STDIN_FILENO : g_open (path, O_RDONLY | O_CLOEXEC, 0);
  if (self->fd < 0)
    {
      int code = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", self->name, g_strerror (code));
      return NULL;
    }

  if (skip_byte_order_mark (self))
    while (!self->has_header && !self->finished && parse_more (self))
      ;
  if (self->error == NULL && !self->has_header)
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: the file is empty", self->name);
  if (self->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return NULL;
    }

  return g_steal_pointer (&self);
}

void
apr_csv_free (AprCsv *self)
{
  gsize i;

  if (self->fd > STDIN_FILENO)
    g_close (self->fd, NULL);
  for (i = 0; i < self->n_matrices; i++)
    g_free (self->matrices[i].values);
  g_free (self->matrices);
  g_free (self->slots);
  csv_free (&self->parser);
  g_hash_table_unref (self->indices);
  g_ptr_array_unref (self->columns);
  g_clear_error (&self->error);
  g_free (self->block);
  g_free (self->name);
  g_free (self);
}

const char *
apr_csv_get_name (AprCsv *self)
{
  return self->name;
}

const char *const *
apr_csv_get_columns (AprCsv *self, gsize *n_columns)
{
  *n_columns = self->columns->len;
  return (const char *const *) self->columns->pdata;
}

/* What to add to a message about columns: empty unless the header looks like one with other separators. */
const char *
apr_csv_get_separator_hint (AprCsv *self)
{
  if (self->columns->len == 1 && strpbrk (g_ptr_array_index (self->columns, 0), ";\t|") != NULL)
    return "; the columns must be separated by commas";

  return "";
}

gboolean
apr_csv_find_column (AprCsv *self, const char *name, gsize *column, GError **error)
{
  gsize number = GPOINTER_TO_SIZE (g_hash_table_lookup (self->indices, name));
  g_autoptr (GString) names = g_string_new (NULL);
  guint i;

  if (number > 0)
    {
      *column = number - 1;
      return TRUE;
    }

  for (i = 0; i < self->columns->len && i < MAX_NAMES_IN_MESSAGE; i++)
    g_string_append_printf (names, "%s“%s”", i > 0 ? ", " : "",
                            (const char *) g_ptr_array_index (self->columns, i));
  if (i < self->columns->len)
    g_string_append_printf (names, " and %u more", self->columns->len - i);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: no column “%s”: %s %s%s", self->name, name,
               self->columns->len == 1 ? "there is only" : "there are", names->str,
               apr_csv_get_separator_hint (self));
  return FALSE;
}

static AprTensor *
take_tensor (AprCsv *self, Matrix *matrix, gboolean vector, GError **error)
{
  gsize shape[2] = { self->n_rows, matrix->n_columns };
  gsize size = self->n_rows * matrix->n_columns * sizeof (double);
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&matrix->values), size);

  return apr_tensor_new_from_bytes (APR_DTYPE_F64, shape, vector ? 1 : 2, bytes, error);
}

/* Reads all rows. Cells of columns that nobody selected may hold anything; a column can be selected once. */
gboolean
apr_csv_read (AprCsv *self, AprCsvSelection *selections, gsize n_selections, GError **error)
{
  gsize i;
  gsize j;

  g_return_val_if_fail (self->matrices == NULL, FALSE);

  self->matrices = g_new0 (Matrix, n_selections);
  self->n_matrices = n_selections;
  self->slots = g_new0 (Slot, self->columns->len);
  for (i = 0; i < n_selections; i++)
    {
      self->matrices[i].n_columns = selections[i].n_columns;
      self->matrices[i].weights = selections[i].weights;
      for (j = 0; j < selections[i].n_columns; j++)
        self->slots[selections[i].columns[j]] = (Slot){ &self->matrices[i], j };
    }

  while (!self->finished && parse_more (self))
    ;
  if (self->error == NULL && self->n_rows == 0)
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: there are no rows after the header",
                 self->name);
  if (self->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }

  for (i = 0; i < n_selections; i++)
    {
      selections[i].tensor = take_tensor (self, &self->matrices[i], selections[i].vector, error);
      if (selections[i].tensor == NULL)
        return FALSE;
    }

  return TRUE;
}

void
apr_csv_selection_clear (AprCsvSelection *selection)
{
  g_clear_pointer (&selection->tensor, apr_tensor_unref);
  g_clear_pointer (&selection->columns, g_free);
}
