/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "app/trendline-column.h"

G_BEGIN_DECLS

/* Of a file that cannot be opened as a table; what is wrong with its rows is told when they are read. */
#define TRENDLINE_TABLE_ERROR (trendline_table_error_quark ())

typedef enum
{
  TRENDLINE_TABLE_ERROR_FORMAT,
} TrendlineTableError;

GQuark trendline_table_error_quark (void);

/* A file that holds a table: its columns, and its first rows to look at. It never changes but for the chosen
 * features. */
#define TRENDLINE_TYPE_TABLE (trendline_table_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineTable, trendline_table, TRENDLINE, TABLE, GObject)

TrendlineTable *
trendline_table_load (GFile *file, GCancellable *cancellable, GError **error) G_GNUC_WARN_UNUSED_RESULT;

void trendline_table_load_async (GFile *file,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data);

TrendlineTable *trendline_table_load_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

GFile *trendline_table_get_file (TrendlineTable *self);

GListModel *trendline_table_get_columns (TrendlineTable *self);

TrendlineColumn *trendline_table_find_column (TrendlineTable *self, const char *name);

gsize trendline_table_get_n_rows (TrendlineTable *self);

const char *trendline_table_get_cell (TrendlineTable *self, gsize row, gsize column);

gboolean trendline_table_get_decimal_comma (TrendlineTable *self);

G_END_DECLS
