/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads a table's text cell by cell, as RFC 4180 describes it. Spaces around a cell do not count; a line may end with
 * CR, LF or both. */
typedef struct
{
  const char *next;
  const char *end;
  char delimiter;
  gsize line;        /* where @next is, from 0 */
  GString *unquoted; /* (owned) the last cell that had doubled quotes */
} AprTableCells;

typedef struct
{
  const char *text;
  gsize length;
  gsize line; /* where the cell begins, from 0 */
  gboolean ends_row;
  const char *problem; /* (nullable) what is wrong with its quotes */
  gsize problem_line;
} AprTableCell;

static inline gboolean
apr_table_is_line_end (char c)
{
  return c == '\n' || c == '\r';
}

/* Moves to the next row that is not blank; false where there is none. */
gboolean apr_table_cells_find_row (AprTableCells *self);

/* Reads one cell, and the delimiter or the line end behind it; after a problem, no more can be read. */
AprTableCell apr_table_cells_read (AprTableCells *self);

G_END_DECLS
