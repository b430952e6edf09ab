/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-block-private.h"

#include <math.h>
#include <string.h>

#include "aprender/table/apr-decimal-private.h"
#include "aprender/table/apr-table-cell-private.h"

/* What a message shows of a cell, in characters. */
#define MAX_SHOWN 40

#define LONG_NAME "the name of column %u is longer than the %d bytes that are allowed"
#define LONG_ROW "the row is longer than the %d bytes that are allowed"

typedef struct
{
  AprTableBlock *block;
  const AprTableFormat *format;
  AprTableCells cells;
  gsize n_allocated; /* rows */
  gsize max_rows;
  double *rows[APR_TABLE_N_ROLES]; /* where the numbers of the row go */
  gboolean lacks;                  /* whether a cell of this row is missing */
  /* What counts only if the row is not passed over: what is wrong with a category, and for each column whose categories
   * are collected, the one that is new. */
  char *problem; /* (owned) (nullable) */
  gsize problem_line;
  GPtrArray *found; /* (element-type utf8) */
} Parser;

/* How many rows a block may hold. */
static gsize
get_max_rows (const AprTableFormat *format)
{
  guint64 size = 0;
  gsize i;

  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    size += (guint64) format->n_numbers[i] * sizeof (double);

  return size > 0 ? (gsize) MAX (APR_TABLE_MAX_NUMBERS / size, 1) : G_MAXSIZE;
}

static gboolean
make_room (Parser *self)
{
  gsize n_rows;
  gsize i;

  if (!g_size_checked_add (&n_rows, self->n_allocated, MAX (self->n_allocated, 64)))
    return FALSE;
  n_rows = MIN (n_rows, self->max_rows);
  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    {
      gsize size;
      double *values;

      if (self->format->n_numbers[i] == 0)
        continue;
      if (!g_size_checked_mul (&size, n_rows, self->format->n_numbers[i]) ||
          !g_size_checked_mul (&size, size, sizeof (double)))
        return FALSE;
      values = g_try_realloc (self->block->values[i], size);
      if (values == NULL)
        return FALSE;
      self->block->values[i] = values;
    }
  if (self->format->drop_missing)
    {
      gsize size;
      gint64 *numbers;

      if (!g_size_checked_mul (&size, n_rows, sizeof (gint64)))
        return FALSE;
      numbers = g_try_realloc (self->block->numbers, size);
      if (numbers == NULL)
        return FALSE;
      self->block->numbers = numbers;
    }
  self->n_allocated = n_rows;

  return TRUE;
}

static void
set_error (Parser *self, gsize line, char *message)
{
  if (self->block->error != NULL)
    {
      g_free (message);
      return;
    }
  self->block->error = message;
  self->block->error_line = line;
}

/* The beginning of a cell, with a replacement character for each byte that is not text. */
static char *
shorten (const char *text, gsize length)
{
  /* No character takes more than four bytes. */
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) MIN (length, 4 * MAX_SHOWN + 4));
  g_autofree char *shown = NULL;

  if (g_utf8_strlen (valid, -1) <= MAX_SHOWN)
    return g_steal_pointer (&valid);
  shown = g_utf8_substring (valid, 0, MAX_SHOWN);

  return g_strconcat (shown, "…", NULL);
}

static gboolean
is_word (const char *text, gsize length, const char *word)
{
  return strlen (word) == length && g_ascii_strncasecmp (text, word, length) == 0;
}

/* What R, pandas, C, databases and spreadsheets write where there is no value. */
static gboolean
is_missing (const char *text, gsize length)
{
  static const char *const words[] = { "na", "n/a", "nan", "-nan", "#n/a", "<na>", "null", "none" };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (words); i++)
    if (is_word (text, length, words[i]))
      return TRUE;

  /* Databases write this one for nothing else: it is no letter in another case. */
  return length == 0 || (length == 2 && memcmp (text, "\\N", 2) == 0);
}

static gboolean
is_infinity (const char *text, gsize length)
{
  if (length > 0 && (*text == '+' || *text == '-'))
    {
      text++;
      length--;
    }

  return is_word (text, length, "nan") || is_word (text, length, "inf") || is_word (text, length, "infinity");
}

/* What a spreadsheet writes in half of Europe, or thousands: who wrote it must tell. */
static gboolean
has_decimal_comma (const char *text, gsize length)
{
  double value;

  return memchr (text, ',', length) != NULL &&
         apr_decimal_parse (text, text + length, ',', &value) == text + length;
}

static char *
describe_problem (const char *text, gsize length, gboolean overflow, char point)
{
  g_autofree char *shown = shorten (text, length);

  if (length == 0)
    return g_strdup ("the cell is empty");
  if (length > APR_TABLE_MAX_CELL)
    return g_strdup_printf ("a cell of %" G_GSIZE_FORMAT " bytes is longer than the %d that are allowed",
                            length, APR_TABLE_MAX_CELL);
  if (overflow)
    return g_strdup_printf ("“%s” is too large for a double", shown);
  if (is_infinity (text, length))
    return g_strdup_printf ("“%s” is not a finite number", shown);
  if (is_missing (text, length))
    return g_strdup_printf ("“%s” stands for a missing value", shown);
  if (point == '.' && has_decimal_comma (text, length))
    return g_strdup_printf ("“%s” is not a number, unless its comma is a decimal one (decimal-comma)", shown);

  return g_strdup_printf ("“%s” is not a number", shown);
}

static char *
describe_place (Parser *self, guint column, char *problem)
{
  g_autofree char *owned = problem;

  if (column >= self->format->n_columns)
    return g_steal_pointer (&owned);

  if (*self->format->names[column] == '\0')
    return g_strdup_printf ("column %u: %s", column + 1, problem);

  return g_strdup_printf ("column “%s”: %s", self->format->names[column], problem);
}

/* A row has 1 for its category, and 0 for all others of the column. */
static gboolean
store_category (Parser *self, const AprTableSlot *slot, const char *text, gsize length)
{
  const guint *positions = (const guint *) (gconstpointer) slot->categories->positions->data;
  guint n = slot->categories->positions->len;
  double *row = self->rows[slot->role];
  guint place;
  guint i;

  if (!apr_table_categories_find (slot->categories, text, length, &place))
    return FALSE;
  for (i = 0; i < n; i++)
    row[positions[i]] = 0;
  row[positions[place]] = 1;

  return TRUE;
}

static char *
collect_category (Parser *self, const AprTableSlot *slot, const char *text, gsize length)
{
  const AprTableCategories *categories = g_ptr_array_index (self->block->collected, slot->position);
  guint place;

  if (apr_table_categories_find (categories, text, length, &place))
    return NULL;
  if (length > APR_TABLE_MAX_CATEGORY)
    return g_strdup_printf ("a category of %" G_GSIZE_FORMAT " bytes is longer than the %d that are allowed",
                            length, APR_TABLE_MAX_CATEGORY);
  if (!g_utf8_validate_len (text, length, NULL))
    return g_strdup ("a category is not text in UTF-8");
  if (memchr (text, '\0', length) != NULL)
    return g_strdup ("a category with a NUL");
  if (categories->names->len == APR_TABLE_MAX_CATEGORIES)
    return g_strdup_printf ("there are more than the %d categories that are allowed",
                            APR_TABLE_MAX_CATEGORIES);
  g_ptr_array_index (self->found, slot->position) = g_strndup (text, length);

  return NULL;
}

/* Takes a cell of a column that holds no numbers. Returns: (nullable): what is wrong */
static char *
take_category (Parser *self, const AprTableSlot *slot, const char *text, gsize length)
{
  g_autofree char *shown = NULL;

  if (slot->role == APR_TABLE_COLLECTED)
    return collect_category (self, slot, text, length);
  if (store_category (self, slot, text, length))
    return NULL;
  shown = shorten (text, length);
  if (slot->categories->names->len == 1)
    return g_strdup_printf ("“%s” is not the one category that is known", shown);

  return g_strdup_printf ("“%s” is none of the %u categories that are known", shown,
                          slot->categories->names->len);
}

static gboolean
has_categories (const AprTableSlot *slot)
{
  return slot->role == APR_TABLE_COLLECTED || slot->categories != NULL;
}

/* Reads a cell that is not simply a number and the delimiter behind it. */
static void
take_cell (Parser *self, guint column, const AprTableCell *cell)
{
  const AprTableFormat *format = self->format;
  const char *text = cell->text;
  gsize length = cell->length;
  const char *end = NULL;
  double value = 0;

  if (length > APR_TABLE_MAX_CELL)
    set_error (self, cell->line,
               describe_place (self, column, describe_problem (text, length, FALSE, self->format->point)));
  /* Once something is missing, what else is missing is still to be counted. */
  if (column >= format->n_columns || format->slots[column].role == APR_TABLE_IGNORED ||
      (self->block->error != NULL && self->block->n_missing == 0))
    return;

  /* In quotes, spaces and line ends may stand around a number, or a missing one, but are part of a text. */
  for (; length > 0 && (apr_table_is_line_end (*text) || *text == ' ' || *text == '\t'); length--)
    text++;
  while (length > 0 &&
         (apr_table_is_line_end (text[length - 1]) || text[length - 1] == ' ' || text[length - 1] == '\t'))
    length--;

  if (is_missing (text, length))
    {
      self->lacks = TRUE;
      if (format->drop_missing)
        return;
      self->block->n_missing++;
    }
  else if (format->slots[column].role == APR_TABLE_NEEDED)
    return;
  else if (has_categories (&format->slots[column]))
    {
      char *problem = take_category (self, &format->slots[column], cell->text, cell->length);

      if (problem == NULL)
        return;
      problem = describe_place (self, column, problem);
      if (!format->drop_missing)
        set_error (self, cell->line, problem);
      else if (self->problem != NULL)
        g_free (problem);
      else
        {
          self->problem = problem;
          self->problem_line = cell->line;
        }
      return;
    }
  else
    {
      end = apr_decimal_parse (text, text + length, format->point, &value);
      if (end == text + length && isfinite (value))
        {
          if (format->slots[column].role == APR_TABLE_WEIGHTS && value < 0)
            {
              g_autofree char *shown = shorten (text, length);

              set_error (self, cell->line,
                         describe_place (self, column, g_strdup_printf ("the weight %s is negative", shown)));
            }
          self->rows[format->slots[column].role][format->slots[column].position] = value;
          return;
        }
    }

  set_error (self, cell->line,
             describe_place (
               self, column,
               describe_problem (text, length, length > 0 && end == text + length, self->format->point)));
}

/* Takes the categories of a row that has been read. */
static void
end_categories (Parser *self)
{
  gboolean passed_over = self->lacks && self->format->drop_missing;
  guint place;
  guint i;

  if (self->problem != NULL && !passed_over)
    set_error (self, self->problem_line, g_steal_pointer (&self->problem));
  g_clear_pointer (&self->problem, g_free);
  for (i = 0; i < self->found->len; i++)
    {
      AprTableCategories *categories = g_ptr_array_index (self->block->collected, i);
      g_autofree char *name = g_ptr_array_index (self->found, i);

      g_ptr_array_index (self->found, i) = NULL;
      if (name != NULL && !passed_over &&
          !apr_table_categories_find (categories, name, strlen (name), &place))
        apr_table_categories_insert (categories, name, strlen (name), place);
    }
}

/* Reads a row; false where no more can be read. */
static gboolean
parse_row (Parser *self)
{
  const AprTableFormat *format = self->format;
  AprTableCells *cells = &self->cells;
  gsize first_line = cells->line;
  gsize n_missing = self->block->n_missing;
  guint64 n_cells = 0;
  /* Otherwise a number would go on behind the end of its cell. */
  const gboolean ends_numbers = format->delimiter != format->point;
  gboolean ends_row = FALSE;
  gsize i;

  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    self->rows[i] =
      format->n_numbers[i] > 0 ? self->block->values[i] + self->block->n_rows * format->n_numbers[i] : NULL;
  self->lacks = FALSE;
  while (!ends_row)
    {
      AprTableCell cell;
      guint column = (guint) MIN (n_cells, G_MAXUINT);

      /* Most cells are a number with a delimiter or a line feed right behind it. */
      if (ends_numbers && column < format->n_columns && format->slots[column].role > APR_TABLE_IGNORED &&
          format->slots[column].categories == NULL)
        {
          AprTableSlot slot = format->slots[column];
          double value;
          const char *after = apr_decimal_parse (cells->next, cells->end, format->point, &value);

          if (after != NULL && after + 1 < cells->end && *after == '\r' && after[1] == '\n')
            after++;
          if (after != NULL && after < cells->end && (*after == format->delimiter || *after == '\n') &&
              fabs (value) <= G_MAXDOUBLE && (slot.role != APR_TABLE_WEIGHTS || value >= 0) &&
              after - cells->next <= APR_TABLE_MAX_CELL)
            {
              /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a role with a column of numbers has rows */
              self->rows[slot.role][slot.position] = value;
              ends_row = *after == '\n';
              cells->line += ends_row;
              cells->next = after + 1;
              n_cells++;
              continue;
            }
        }

      cell = apr_table_cells_read (cells);
      if (cell.problem != NULL)
        {
          /* A cell that was found wrong came first. */
          set_error (self, cell.problem_line, describe_place (self, column, g_strdup (cell.problem)));
          return FALSE;
        }
      take_cell (self, column, &cell);
      ends_row = cell.ends_row;
      n_cells++;
    }

  if (n_cells != format->n_columns)
    {
      /* Also where a cell was wrong: most likely it is wrong because it stands in another's place. */
      if (self->block->error_line >= first_line)
        g_clear_pointer (&self->block->error, g_free);
      self->block->n_missing = n_missing;
      set_error (self, first_line,
                 g_strdup_printf ("the row has %" G_GUINT64_FORMAT " %s, but the header has %u %s", n_cells,
                                  n_cells == 1 ? "cell" : "cells", format->n_columns,
                                  format->n_columns == 1 ? "column" : "columns"));
      return FALSE;
    }
  end_categories (self);
  if (self->block->error != NULL)
    return self->block->n_missing > 0;

  if (self->lacks)
    {
      self->block->n_dropped++;
      return TRUE;
    }
  if (self->block->numbers != NULL)
    self->block->numbers[self->block->n_rows] = (gint64) (self->block->n_rows + self->block->n_dropped);
  self->block->n_rows++;

  return TRUE;
}

gsize
apr_table_block_parse (AprTableBlock *self, const AprTableFormat *format, const char *text, gsize length)
{
  Parser parser = { .block = self,
                    .format = format,
                    .cells = { text, text + length, format->delimiter, 0, g_string_new (NULL) },
                    .found = g_ptr_array_new_with_free_func (g_free),
                    .max_rows = get_max_rows (format) };
  gsize end = length;
  guint i;

  self->collected = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_table_categories_free);
  for (i = 0; i < format->n_collected; i++)
    g_ptr_array_add (self->collected, apr_table_categories_new ());
  g_ptr_array_set_size (parser.found, (int) format->n_collected);

  while (apr_table_cells_find_row (&parser.cells))
    {
      if (self->n_rows == parser.max_rows)
        {
          end = (gsize) (parser.cells.next - text);
          break;
        }
      if (self->n_rows == parser.n_allocated && !make_room (&parser))
        {
          self->no_memory = TRUE;
          break;
        }
      if (!parse_row (&parser))
        break;
    }
  self->n_lines = parser.cells.line;

  g_string_free (parser.cells.unquoted, TRUE);
  g_free (parser.problem);
  g_ptr_array_unref (parser.found);

  return end;
}

void
apr_table_block_free (AprTableBlock *self)
{
  gsize i;

  for (i = 0; i < APR_TABLE_N_ROLES; i++)
    g_free (self->values[i]);
  g_free (self->numbers);
  g_clear_pointer (&self->collected, g_ptr_array_unref);
  g_free (self->error);
  g_free (self);
}

/* The delimiter that stands most often outside quotes in the first line that is not blank; a comma where none does. */
static char
find_delimiter (const char *text, gsize length, char point)
{
  static const char delimiters[] = { ',', ';', '\t' };
  gsize counts[G_N_ELEMENTS (delimiters)] = { 0 };
  gboolean quoted = FALSE;
  gboolean blank = TRUE;
  guint most = point == ',' ? 1 : 0;
  gsize i;
  guint j;

  for (i = 0; i < length && !(apr_table_is_line_end (text[i]) && !quoted && !blank); i++)
    {
      blank = blank && (apr_table_is_line_end (text[i]) || text[i] == ' ' || text[i] == '\t');
      if (text[i] == '"')
        quoted = !quoted;
      for (j = 0; j < G_N_ELEMENTS (delimiters); j++)
        counts[j] += !quoted && text[i] == delimiters[j];
    }
  for (j = most + 1; j < G_N_ELEMENTS (delimiters); j++)
    if (counts[j] > counts[most])
      most = j;

  return delimiters[most];
}

void
apr_table_header_parse (AprTableHeader *self, const char *text, gsize length, char point, char *delimiter)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) unquoted = g_string_new (NULL);
  AprTableCells cells = { .next = text, .end = text + length, .unquoted = unquoted };
  gboolean ends_row;

  if (*delimiter == '\0')
    *delimiter = find_delimiter (text, length, point);
  cells.delimiter = *delimiter;
  ends_row = !apr_table_cells_find_row (&cells);
  while (!ends_row)
    {
      AprTableCell cell = apr_table_cells_read (&cells);
      guint number = names->len + 1;

      self->error_line = cell.problem != NULL ? cell.problem_line : cell.line;
      if (cell.problem != NULL)
        self->error = g_strdup (cell.problem);
      else if (cell.length > APR_TABLE_MAX_CELL)
        self->error = g_strdup_printf (LONG_NAME, number, APR_TABLE_MAX_CELL);
      else if (!g_utf8_validate_len (cell.text, cell.length, NULL))
        self->error = g_strdup_printf ("the name of column %u is not text in UTF-8", number);
      else
        g_ptr_array_add (names, g_strndup (cell.text, cell.length));
      if (self->error != NULL)
        return;
      ends_row = cell.ends_row;
    }

  self->names = g_steal_pointer (&names);
  self->length = (gsize) (cells.next - text);
  self->n_lines = cells.line;
}

void
apr_table_header_clear (AprTableHeader *self)
{
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->error, g_free);
}

/* Where a cell begins that is too long: its line and column, counted from 0. */
static gboolean
find_long_cell (const char *text, gsize length, char delimiter, gsize *line, guint *column)
{
  gboolean quoted = FALSE;
  gsize begin = 0;
  gsize n_lines = 0;
  gsize i;

  *line = 0;
  *column = 0;
  for (i = 0; i < length; i++)
    if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted &&
             (delimiter != '\0' ? text[i] == delimiter : text[i] == ',' || text[i] == ';' || text[i] == '\t'))
      {
        begin = i + 1;
        *line = n_lines;
        ++*column;
      }
    else if (i - begin > APR_TABLE_MAX_CELL)
      return TRUE;
    else
      n_lines += text[i] == '\n' || (text[i] == '\r' && i + 1 < length && text[i + 1] != '\n');

  return FALSE;
}

gboolean
apr_table_is_too_long (const char *text, gsize length, char delimiter)
{
  gsize line;
  guint column;

  return length >= APR_TABLE_MAX_ROW || find_long_cell (text, length, delimiter, &line, &column);
}

void
apr_table_block_refuse_row (AprTableBlock *self, const AprTableFormat *format, const char *text, gsize length)
{
  Parser parser = { .block = self, .format = format };
  gsize line;
  guint column;

  if (find_long_cell (text, length, format->delimiter, &line, &column))
    set_error (&parser, line,
               describe_place (&parser, column,
                               g_strdup_printf ("a cell is longer than the %d bytes that are allowed",
                                                APR_TABLE_MAX_CELL)));
  else
    set_error (&parser, 0, g_strdup_printf (LONG_ROW, APR_TABLE_MAX_ROW));
}

void
apr_table_header_refuse_row (AprTableHeader *self, const char *text, gsize length, char point, char delimiter)
{
  guint column;

  if (delimiter == '\0')
    delimiter = find_delimiter (text, length, point);
  self->error = find_long_cell (text, length, delimiter, &self->error_line, &column)
                ? g_strdup_printf (LONG_NAME, column + 1, APR_TABLE_MAX_CELL)
                : g_strdup_printf (LONG_ROW, APR_TABLE_MAX_ROW);
}
