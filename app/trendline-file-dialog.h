/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  TRENDLINE_FILES_TABLES = 1 << 0,
  TRENDLINE_FILES_MODELS = 1 << 1,
} TrendlineFiles;

typedef void (*TrendlineFileChosen) (gpointer window, GFile *file);

void trendline_file_dialog_open (
  GtkWindow *window, const char *title, GFile *neighbour, TrendlineFiles files, TrendlineFileChosen chosen);

void trendline_file_dialog_save (GtkWindow *window,
                                 const char *title,
                                 const char *name,
                                 GFile *neighbour,
                                 TrendlineFiles files,
                                 TrendlineFileChosen chosen);

char *trendline_file_dialog_get_stem (GFile *file);

G_END_DECLS
