/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-cell-private.h"

#include <string.h>

static const char misplaced[] = "a quote stands in the middle of a cell, or text after a closing quote";
static const char unclosed[] = "the quote that opens a cell here is never closed";

static gboolean
is_space (char c, char delimiter)
{
  return (c == ' ' || c == '\t') && c != delimiter;
}

/* Moves behind the line end at @next. */
static void
end_line (AprTableCells *self)
{
  if (*self->next == '\r' && self->next + 1 < self->end && self->next[1] == '\n')
    self->next++;
  self->next++;
  self->line++;
}

static void
skip_spaces (AprTableCells *self)
{
  while (self->next < self->end && is_space (*self->next, self->delimiter))
    self->next++;
}

gboolean
apr_table_cells_find_row (AprTableCells *self)
{
  while (self->next < self->end)
    {
      const char *begin = self->next;

      skip_spaces (self);
      if (self->next == self->end)
        return FALSE;
      if (!apr_table_is_line_end (*self->next))
        {
          self->next = begin;
          return TRUE;
        }
      end_line (self);
    }

  return FALSE;
}

/* Counts the lines that end in a quoted part of a cell. */
static gsize
count_lines (const char *text, gsize length)
{
  gsize n_lines = 0;
  gsize i;

  for (i = 0; i < length; i++)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n')))
      n_lines++;

  return n_lines;
}

/* Reads what stands in quotes; @next is behind the first one. */
static void
read_quoted (AprTableCells *self, AprTableCell *cell)
{
  gboolean doubled = FALSE;

  cell->text = self->next;
  for (;;)
    {
      const char *quote = memchr (self->next, '"', (gsize) (self->end - self->next));

      if (quote == NULL)
        {
          cell->problem = unclosed;
          cell->problem_line = cell->line;
          return;
        }
      self->line += count_lines (self->next, (gsize) (quote - self->next));
      if (doubled)
        g_string_append_len (self->unquoted, self->next, quote - self->next);
      if (quote + 1 == self->end || quote[1] != '"')
        {
          cell->length = doubled ? self->unquoted->len : (gsize) (quote - cell->text);
          cell->text = doubled ? self->unquoted->str : cell->text;
          self->next = quote + 1;
          return;
        }

      if (!doubled)
        {
          g_string_truncate (self->unquoted, 0);
          g_string_append_len (self->unquoted, cell->text, quote - cell->text);
          doubled = TRUE;
        }
      g_string_append_c (self->unquoted, '"');
      self->next = quote + 2;
    }
}

static void
read_plain (AprTableCells *self, AprTableCell *cell)
{
  const char *last;

  cell->text = self->next;
  while (self->next < self->end && *self->next != self->delimiter && *self->next != '"' &&
         !apr_table_is_line_end (*self->next))
    self->next++;
  for (last = self->next; last > cell->text && is_space (last[-1], self->delimiter); last--)
    ;
  cell->length = (gsize) (last - cell->text);
}

AprTableCell
apr_table_cells_read (AprTableCells *self)
{
  AprTableCell cell = { .line = self->line };

  skip_spaces (self);
  if (self->next < self->end && *self->next == '"')
    {
      self->next++;
      read_quoted (self, &cell);
      if (cell.problem != NULL)
        return cell;
      skip_spaces (self);
    }
  else
    read_plain (self, &cell);

  if (self->next == self->end)
    cell.ends_row = TRUE;
  else if (*self->next == self->delimiter)
    self->next++;
  else if (apr_table_is_line_end (*self->next))
    {
      cell.ends_row = TRUE;
      end_line (self);
    }
  else
    {
      cell.problem = misplaced;
      cell.problem_line = self->line;
    }

  return cell;
}
