/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/app/window.h"
#include "tests/apr-test.h"
#include "tests/folder.h"

/* What tests do with the window of a table. */

static inline GApplication *
start (void)
{
  GApplication *application = G_APPLICATION (trendline_application_new (G_APPLICATION_NON_UNIQUE));
  g_autoptr (GError) error = NULL;

  g_application_register (application, NULL, &error);
  g_assert_no_error (error);
  g_application_set_default (application);
  /* What goes is gone. */
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);

  return application;
}

static inline GtkWidget *
get_window (GApplication *application)
{
  GList *windows = gtk_application_get_windows (GTK_APPLICATION (application));

  g_assert_cmpuint (g_list_length (windows), ==, 1);

  return windows->data;
}

static inline GFile *
find_longley (void)
{
  g_autofree char *path = data_path ("nist/longley.csv");

  return g_file_new_for_path (path);
}

/* The entry of this title that can be seen. */
static inline GtkWidget *
find_entry (GtkWidget *widget, const char *title)
{
  GtkWidget *child;

  if (ADW_IS_ENTRY_ROW (widget) &&
      g_str_equal (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (widget)), title))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *entry = find_entry (child, title);

      if (entry != NULL)
        return entry;
    }

  return NULL;
}

/* A table in a folder of its own, open in a window. */
typedef struct
{
  GApplication *application;
  char *folder;
  GFile *file;
  GtkWidget *window; /* (nullable): once it is closed */
  TrendlineFitSession *session;
} Opened;

static inline void
opened_clear (Opened *self)
{
  if (self->window != NULL)
    gtk_window_destroy (GTK_WINDOW (self->window));
  remove_tree (self->folder);
  g_object_unref (self->file);
  g_free (self->folder);
  g_object_unref (self->application);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Opened, opened_clear)

static inline Opened
open_text (const char *text)
{
  Opened self = { start () };
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  self.folder = make_folder ();
  path = g_build_filename (self.folder, "table.csv", NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  self.file = g_file_new_for_path (path);
  g_application_open (self.application, &self.file, 1, "");
  self.window = get_window (self.application);
  self.session = trendline_window_get_session (TRENDLINE_WINDOW (self.window));
  wait_until_idle (self.session);
  g_assert_nonnull (trendline_fit_session_get_table (self.session));

  return self;
}

/* A file in the folder of the table, which goes with it. */
static inline GFile *
get_neighbour (Opened *opened, const char *name)
{
  return g_file_new_build_filename (opened->folder, name, NULL);
}

static inline GFile *
write_neighbour (Opened *opened, const char *name, const char *text)
{
  GFile *file = get_neighbour (opened, name);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (g_file_peek_path (file), text, -1, &error);
  g_assert_no_error (error);

  return file;
}

static inline void
fit_opened (Opened *opened)
{
  g_assert_true (gtk_widget_activate_action (opened->window, "win.fit", NULL));
  wait_until_idle (opened->session);
  g_assert_nonnull (trendline_fit_session_get_model (opened->session));
}

static inline void
wait_until_gone (GtkWidget *window, const char *text)
{
  g_test_message ("waiting for “%s” to go", text);
  while (find_label (window, text) != NULL)
    g_main_context_iteration (NULL, TRUE);
}

/* The window of this title. */
static inline GtkWidget *
find_toplevel (const char *title)
{
  GListModel *toplevels = gtk_window_get_toplevels ();
  guint i;

  for (i = 0; i < g_list_model_get_n_items (toplevels); i++)
    {
      g_autoptr (GtkWindow) window = g_list_model_get_item (toplevels, i);

      if (g_strcmp0 (gtk_window_get_title (window), title) == 0)
        return GTK_WIDGET (window);
    }

  return NULL;
}

static inline GtkWidget *
find_dialog (GtkWidget *window)
{
  g_autoptr (GListModel) windows = g_object_ref (gtk_window_get_toplevels ());
  guint i;

  for (i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWidget) found = g_list_model_get_item (windows, i);

      if (ADW_IS_MESSAGE_DIALOG (found) &&
          gtk_window_get_transient_for (GTK_WINDOW (found)) == GTK_WINDOW (window))
        return found;
    }

  return NULL;
}

static inline void
press (GtkWidget *widget, const char *text)
{
  GtkWidget *button = gtk_widget_get_ancestor (find_label (widget, text), GTK_TYPE_BUTTON);

  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
}
