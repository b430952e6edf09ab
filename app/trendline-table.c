/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-table.h"

#include <string.h>

#include <aprender/aprender.h>

/* What is looked at. */
#define MAX_ROWS 200

struct _TrendlineTable
{
  GObject parent_instance;

  GFile *file;
  GListStore *columns; /* (element-type TrendlineColumn) */
  char **cells;        /* (nullable) row by row */
  gsize n_rows;
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
  g_clear_pointer (&self->cells, g_strfreev);

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

/* Whether a cell is a number, with a decimal point or comma, or may be a missing one. */
static gboolean
is_number (const char *cell)
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

/* Looks at the first rows. A column without a name cannot be chosen, so it is not shown either. */
static void
take_rows (TrendlineTable *self, AprTableReader *reader, const char *const *names)
{
  const gsize n_columns = g_strv_length ((char **) names);
  gsize n_kept = 0;
  gsize i;

  self->cells = apr_table_reader_peek_cells (reader, MAX_ROWS);
  self->n_rows = g_strv_length (self->cells) / n_columns;
  for (i = 0; self->cells[i] != NULL; i++)
    if (*names[i % n_columns] != '\0')
      self->cells[n_kept++] = self->cells[i];
    else
      g_free (self->cells[i]);
  self->cells[n_kept] = NULL;
}

static void
add_columns (TrendlineTable *self, const char *const *names)
{
  gsize n_kept = 0;
  gsize column = 0;
  gsize row;
  gsize i;

  for (i = 0; names[i] != NULL; i++)
    n_kept += *names[i] != '\0';
  for (; *names != NULL; names++)
    {
      g_autoptr (TrendlineColumn) item = NULL;
      gboolean is_text = FALSE;

      if (**names == '\0')
        continue;

      for (row = 0; row < self->n_rows; row++)
        is_text = is_text || !is_number (self->cells[row * n_kept + column]);
      item = trendline_column_new (*names, is_text);
      g_list_store_append (self->columns, item);
      column++;
    }
}

/* Whether the numbers have decimal commas, and not points, where commas do not stand between the columns. */
static gboolean
find_decimal_comma (TrendlineTable *self, const char *const *names, GCancellable *cancellable)
{
  g_autoptr (AprTableReader) reader = NULL;
  gsize n_points = 0;
  gsize n_commas = 0;
  gsize i;

  for (i = 0; self->cells[i] != NULL; i++)
    if (is_number (self->cells[i]))
      {
        n_commas += strchr (self->cells[i], ',') != NULL;
        n_points += strchr (self->cells[i], '.') != NULL;
      }
  if (n_commas <= n_points)
    return FALSE;

  reader = apr_table_reader_new_for_file (self->file, cancellable, NULL);
  if (reader == NULL)
    return FALSE;
  apr_table_reader_set_decimal_comma (reader, TRUE);

  return apr_table_reader_read_names (reader, cancellable, NULL) &&
         g_strv_equal (apr_table_reader_get_names (reader), names);
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
  take_rows (self, reader, names);
  add_columns (self, names);
  self->decimal_comma = find_decimal_comma (self, names, cancellable);

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

  return self->n_rows;
}

const char *
trendline_table_get_cell (TrendlineTable *self, gsize row, gsize column)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), NULL);
  g_return_val_if_fail (row < self->n_rows, NULL);

  return self->cells[row * g_list_model_get_n_items (G_LIST_MODEL (self->columns)) + column];
}

/* Whether the numbers that were looked at have decimal commas. */
gboolean
trendline_table_get_decimal_comma (TrendlineTable *self)
{
  g_return_val_if_fail (TRENDLINE_IS_TABLE (self), FALSE);

  return self->decimal_comma;
}
