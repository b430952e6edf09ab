/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-cell-private.h"
#include "aprender/table/apr-table-reader-private.h"

/* The first rows, for somebody to look at. */

/* Appends the cells of the next row; false, and nothing of it, where there is none, or it is not a whole row. */
static gboolean
append_row (GPtrArray *texts, AprTableCells *cells, guint n_columns)
{
  const guint begin = texts->len;
  gboolean ends_row = !apr_table_cells_find_row (cells);

  while (!ends_row)
    {
      AprTableCell cell = apr_table_cells_read (cells);

      if (cell.problem != NULL || texts->len - begin == n_columns)
        break;
      g_ptr_array_add (texts, g_utf8_make_valid (cell.text, (gssize) cell.length));
      ends_row = cell.ends_row;
    }
  if (ends_row && texts->len - begin == n_columns)
    return TRUE;

  g_ptr_array_set_size (texts, (gint) begin);
  return FALSE;
}

/**
 * apr_table_reader_peek_cells:
 * @self: a reader
 * @max_rows: how many rows at most
 *
 * Looks at the first rows below the names, as they are written, to show what is in a table before it is chosen what is
 * read of it.
 *
 * The rows are read all the same. What comes is what [method@Apr.TableReader.read_names] has fetched, about 1 MiB of
 * text, up to the first row that cannot be cut into as many cells as there are names. This does not block.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the cells, row by row, without their quotes, and with
 *   replacement characters for what is not UTF-8; `NULL` before the names have been read, and once reading rows has
 *   begun
 *
 * Since: 0.1
 */
char **
apr_table_reader_peek_cells (AprTableReader *self, guint64 max_rows)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  gboolean has_rows;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  if (!apr_table_reader_enter (self, APR_TABLE_READS_NAMES, NULL))
    return NULL;

  has_rows = self->columns != NULL && !self->started;
  if (has_rows)
    {
      const AprTableText *text = apr_table_source_peek (self->source, NULL, NULL);
      g_autoptr (GString) unquoted = g_string_new (NULL);

      if (text != NULL && !text->too_long)
        {
          AprTableCells cells = { .next = text->text + text->n_taken,
                                  .end = text->text + text->length,
                                  .delimiter = self->format.delimiter,
                                  .unquoted = unquoted };

          while (max_rows > 0 && append_row (texts, &cells, self->format.n_columns))
            max_rows--;
        }
    }
  apr_table_reader_leave (self);
  if (!has_rows)
    return NULL;

  g_ptr_array_add (texts, NULL);
  return (char **) g_ptr_array_steal (texts, NULL);
}
