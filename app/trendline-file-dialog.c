/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-file-dialog.h"

#include <string.h>

#include <glib/gi18n.h>

static const char *const table_suffixes[] = { "csv",    "tsv",     "txt",     "csv.gz",
                                              "tsv.gz", "csv.zst", "tsv.zst", NULL };
static const char *const model_suffixes[] = { "safetensors", NULL };

static void
add_suffixes (GtkFileFilter *filter, const char *const *suffixes)
{
  gsize i;

  for (i = 0; suffixes[i] != NULL; i++)
    gtk_file_filter_add_suffix (filter, suffixes[i]);
}

static void
add_filters (GtkFileChooser *dialog, TrendlineFiles files)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  if (files & TRENDLINE_FILES_TABLES)
    add_suffixes (filter, table_suffixes);
  if (files & TRENDLINE_FILES_MODELS)
    add_suffixes (filter, model_suffixes);
  gtk_file_filter_set_name (filter, files == TRENDLINE_FILES_TABLES   ? _ ("Tables")
                                    : files == TRENDLINE_FILES_MODELS ? _ ("Models")
                                                                      : _ ("Tables and Models"));
  gtk_file_chooser_add_filter (dialog, filter);

  gtk_file_filter_set_name (all, _ ("All Files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (dialog, all);
}

static void
on_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  TrendlineFileChosen chosen = (TrendlineFileChosen) data;
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      chosen (gtk_native_dialog_get_transient_for (dialog), file);
    }
  g_object_unref (dialog);
}

static void
show (GtkWindow *window,
      const char *title,
      GtkFileChooserAction action,
      const char *name,
      GFile *neighbour,
      TrendlineFiles files,
      TrendlineFileChosen chosen)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (title, window, action, NULL, NULL);
  g_autoptr (GFile) folder = neighbour != NULL ? g_file_get_parent (neighbour) : NULL;

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  /* If that cannot be, the dialog begins where it likes. */
  if (folder != NULL)
    gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (dialog), folder, NULL);
  if (name != NULL)
    gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  add_filters (GTK_FILE_CHOOSER (dialog), files);
  g_signal_connect (dialog, "response", G_CALLBACK (on_response), (gpointer) chosen);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* Has the user choose a file to read, by the portal where there is one, and calls chosen with the window, unless
 * closed. The dialog begins in the folder of the neighbour, if there is one. */
void
trendline_file_dialog_open (
  GtkWindow *window, const char *title, GFile *neighbour, TrendlineFiles files, TrendlineFileChosen chosen)
{
  show (window, title, GTK_FILE_CHOOSER_ACTION_OPEN, NULL, neighbour, files, chosen);
}

/* The same for a file to write, of which a name is proposed. */
void
trendline_file_dialog_save (GtkWindow *window,
                            const char *title,
                            const char *name,
                            GFile *neighbour,
                            TrendlineFiles files,
                            TrendlineFileChosen chosen)
{
  show (window, title, GTK_FILE_CHOOSER_ACTION_SAVE, name, neighbour, files, chosen);
}

/* The name of a file without what tells its format: .csv or .csv.gz. */
char *
trendline_file_dialog_get_stem (GFile *file)
{
  g_autofree char *base = g_file_get_basename (file);
  g_autofree char *name = g_filename_display_name (base);
  char *end;

  if (g_str_has_suffix (name, ".gz") || g_str_has_suffix (name, ".zst"))
    *strrchr (name, '.') = '\0';
  end = strrchr (name, '.');

  return g_strndup (name, end != NULL && end > name ? (gsize) (end - name) : strlen (name));
}
