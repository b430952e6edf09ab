/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/table/apr-table-categories-private.h"

G_BEGIN_DECLS

/* A cell may be this long, in bytes, and a row. */
#define APR_TABLE_MAX_CELL (1 << 20)
#define APR_TABLE_MAX_ROW (1 << 26)

/* Which of the matrices that a row is cut into a column goes to. */
typedef enum
{
  APR_TABLE_NEEDED = -3,    /* to none: rows that miss it are passed over */
  APR_TABLE_COLLECTED = -2, /* to none: its categories are collected */
  APR_TABLE_IGNORED = -1,
  APR_TABLE_FEATURES,
  APR_TABLE_TARGETS,
  APR_TABLE_WEIGHTS,
  APR_TABLE_N_ROLES,
} AprTableRole;

/* Where a column's numbers go. */
typedef struct
{
  AprTableRole role;
  guint position; /* in the matrix, or among those whose categories are collected */
  /* (owned by the columns) (nullable): where each of its categories has a column of the matrix, which is 1 where a
   * row has it and 0 elsewhere */
  AprTableCategories *categories;
} AprTableSlot;

/* What the text of a table means; the same for all of its blocks. */
typedef struct
{
  char delimiter;
  char point;               /* the decimal point */
  gboolean drop_missing;    /* rows with a missing number are passed over */
  const char *const *names; /* (unowned) */
  guint n_columns;
  const AprTableSlot *slots;          /* (unowned) one for each column */
  guint n_numbers[APR_TABLE_N_ROLES]; /* how many columns each matrix has */
  guint n_collected;                  /* how many columns have their categories collected */
} AprTableFormat;

/* What a block of whole rows holds. */
typedef struct
{
  double *values[APR_TABLE_N_ROLES]; /* (owned) (nullable) row-major */
  gint64 *numbers; /* (owned) (nullable) which of the block's rows each row is, where rows can be dropped */
  GPtrArray *collected; /* (element-type AprTableCategories) (nullable) */
  gsize n_rows;
  gsize n_lines;
  gsize n_dropped;  /* rows that miss a number, where these are passed over */
  gsize n_missing;  /* cells, where they are not */
  gsize error_line; /* from 0, where something is wrong */
  char *error;      /* (owned) (nullable) what is wrong first */
  gboolean no_memory;
} AprTableBlock;

/* The numbers of a block take no more memory than this, in bytes, unless those of one row do: a row of few bytes can
 * have a number for each of thousands of categories. Sums of so many features take the longer, the fewer rows are
 * added at once: with half as much, a fit to 2,000 categories took a third longer. */
#define APR_TABLE_MAX_NUMBERS (1 << 25)

/* Reads rows up to the first that is wrong, or as many as a block may hold. Missing cells are wrong too, but are
 * counted up to the end of the block. @text must be followed by APR_DECIMAL_PADDING readable bytes. The caller must
 * have entered the usual arithmetic. Returns: where the next block's rows begin in the text; @length where no more are
 * to be read from it */
gsize
apr_table_block_parse (AprTableBlock *self, const AprTableFormat *format, const char *text, gsize length);

void apr_table_block_free (AprTableBlock *self);

/* The first row of a table: the names of the columns. */
typedef struct
{
  GPtrArray *names; /* (owned) (nullable) none where the text is blank, %NULL where something is wrong */
  gsize length;     /* of the text up to the end of the row */
  gsize n_lines;    /* in it */
  char *error;      /* (owned) (nullable) */
  gsize error_line; /* from 0 */
} AprTableHeader;

/* @delimiter is 0 to take the comma, semicolon or tab that the row has most of; it is set to what was taken. A comma
 * is none where it is the decimal @point. */
void
apr_table_header_parse (AprTableHeader *self, const char *text, gsize length, char point, char *delimiter);

void apr_table_header_clear (AprTableHeader *self);

/* Whether one of the cells of a row that is not yet complete is too long, or the row. @delimiter is 0 while it is not
 * known. */
gboolean apr_table_is_too_long (const char *text, gsize length, char delimiter);

/* Says of such a row what is too long, and where. */
void apr_table_block_refuse_row (AprTableBlock *self,
                                 const AprTableFormat *format,
                                 const char *text,
                                 gsize length);
void apr_table_header_refuse_row (
  AprTableHeader *self, const char *text, gsize length, char point, char delimiter);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprTableHeader, apr_table_header_clear)

G_END_DECLS
