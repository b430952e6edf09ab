/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-preview.h"

#include <string.h>

/* Takes a cell that begins at text, and leaves text behind the delimiter or the line end, of which ended_row tells. */
static char *
take_cell (const char **text, const char *end, char delimiter, gboolean *ended_row)
{
  g_autoptr (GString) cell = g_string_new (NULL);
  gboolean quoted = FALSE;
  const char *c;

  *ended_row = TRUE;
  for (c = *text; c < end; c++)
    {
      if (*c == '"' && quoted && c + 1 < end && c[1] == '"')
        g_string_append_c (cell, *c++);
      else if (*c == '"')
        quoted = !quoted;
      else if (!quoted && (*c == delimiter || *c == '\n'))
        {
          *ended_row = *c++ == '\n';
          break;
        }
      else
        g_string_append_c (cell, *c);
    }
  *text = c;

  return g_utf8_make_valid (g_strstrip (cell->str), -1);
}

/* The delimiter that the first row has most of, as AprTableReader finds it. */
static char
find_delimiter (const char *text, const char *end)
{
  gsize counts[3] = { 0 };
  const char delimiters[] = { ',', ';', '\t' };
  gboolean quoted = FALSE;
  const char *c;
  gsize best = 0;
  gsize i;

  for (c = text; c < end && (quoted || *c != '\n'); c++)
    {
      quoted ^= *c == '"';
      for (i = 0; i < G_N_ELEMENTS (delimiters); i++)
        counts[i] += !quoted && *c == delimiters[i];
    }
  for (i = 1; i < G_N_ELEMENTS (delimiters); i++)
    if (counts[i] > counts[best])
      best = i;

  return delimiters[best];
}

/*
 * Cuts the beginning of a table into cells, to be looked at only: fits read tables with AprTableReader.
 *
 * Rows that have not n_columns cells are shown as far as they go. Unless the text is the whole table, its last row is
 * not shown, as it may be cut.
 *
 * Returns the delimiter, and the rows below the first, each a GStrv of n_columns cells.
 */
GPtrArray *
trendline_preview_parse (
  const char *text, gsize length, gboolean is_whole, gsize n_columns, gsize max_rows, char *delimiter)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  const char *end = text + length;
  gboolean is_first = TRUE;

  if (length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    text += 3;
  while (text < end && (*text == '\n' || *text == '\r'))
    text++;
  *delimiter = find_delimiter (text, end);

  while (text < end && rows->len < max_rows)
    {
      g_autoptr (GPtrArray) cells = g_ptr_array_new_null_terminated (n_columns, g_free, TRUE);
      gboolean ended_row = FALSE;

      while (!ended_row)
        g_ptr_array_add (cells, take_cell (&text, end, *delimiter, &ended_row));
      if (text == end && !is_whole && text[-1] != '\n')
        break;
      if (cells->len == 1 && *(char *) cells->pdata[0] == '\0')
        continue;

      if (is_first)
        is_first = FALSE;
      else
        {
          g_ptr_array_set_size (cells, (int) MIN (cells->len, n_columns));
          while (cells->len < n_columns)
            g_ptr_array_add (cells, g_strdup (""));
          g_ptr_array_add (rows, g_ptr_array_steal (cells, NULL));
        }
    }

  return rows;
}

/* Whether a cell is a number, with a decimal point or comma, or may be a missing one. */
gboolean
trendline_preview_is_number (const char *cell)
{
  /* AprTableReader:drop-missing has the list; NaN is read as a number below. */
  static const char *const missing[] = { "", "na", "n/a", "#n/a", "<na>", "null", "none" };
  g_autofree char *number = g_strdup (cell);
  char *end;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (missing); i++)
    if (g_ascii_strcasecmp (cell, missing[i]) == 0)
      return TRUE;
  if (strcmp (cell, "\\N") == 0)
    return TRUE;

  g_strdelimit (number, ",", '.');
  g_ascii_strtod (number, &end);

  return *end == '\0';
}
