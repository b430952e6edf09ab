/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-application.h"

#include <glib/gi18n.h>

#include "app/trendline-window.h"

struct _TrendlineApplication
{
  AdwApplication parent_instance;
};

G_DEFINE_FINAL_TYPE (TrendlineApplication, trendline_application, ADW_TYPE_APPLICATION)

static void
on_new_window (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_present (GTK_WINDOW (trendline_window_new (data)));
}

static void
on_about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWindow *window = gtk_application_get_active_window (data);

  adw_show_about_window (window, "application-name", _ ("Trendline"), "application-icon", TRENDLINE_ID,
                         "version", PACKAGE_VERSION, "comments",
                         _ ("Fits linear models to tables, with answers that are rounded once."),
                         "license-type", GTK_LICENSE_LGPL_2_1, NULL);
}

static void
on_quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GList *window;

  /* Each fit ends, and each window goes. */
  while ((window = gtk_application_get_windows (data)) != NULL)
    gtk_window_destroy (window->data);
}

static const GActionEntry actions[] = {
  { "new-window", on_new_window },
  { "about", on_about },
  { "quit", on_quit },
};

typedef struct
{
  const char *action;
  const char *keys[3];
} Shortcut;

static const Shortcut shortcuts[] = {
  { "app.new-window", { "<Control>n" } },      { "app.quit", { "<Control>q" } },
  { "window.close", { "<Control>w" } },        { "win.open", { "<Control>o" } },
  { "win.add-data", { "<Control><Shift>o" } }, { "win.save-model", { "<Control>s" } },
  { "win.predict-table", { "<Control>p" } },   { "win.fit", { "<Control>Return", "<Control>KP_Enter" } },
  { "win.cancel", { "<Control>period" } },     { "win.sidebar", { "F9" } },
  { "win.show-page::data", { "<Alt>1" } },     { "win.show-page::model", { "<Alt>2" } },
  { "win.show-page::plots", { "<Alt>3" } },    { "win.show-page::predict", { "<Alt>4" } },
};

static void
trendline_application_startup (GApplication *application)
{
  gsize i;

  G_APPLICATION_CLASS (trendline_application_parent_class)->startup (application);

  gtk_window_set_default_icon_name (TRENDLINE_ID);
  g_action_map_add_action_entries (G_ACTION_MAP (application), actions, G_N_ELEMENTS (actions), application);
  for (i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (application), shortcuts[i].action,
                                           shortcuts[i].keys);
}

static void
trendline_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window == NULL)
    window = GTK_WINDOW (trendline_window_new (GTK_APPLICATION (application)));
  gtk_window_present (window);
}

static void
trendline_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  int i;

  for (i = 0; i < n_files; i++)
    {
      TrendlineWindow *window = trendline_window_new (GTK_APPLICATION (application));

      gtk_window_present (GTK_WINDOW (window));
      trendline_window_open (window, files[i]);
    }
}

static void
trendline_application_class_init (TrendlineApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  application_class->startup = trendline_application_startup;
  application_class->activate = trendline_application_activate;
  application_class->open = trendline_application_open;
}

static void
trendline_application_init (TrendlineApplication *self)
{
}

TrendlineApplication *
trendline_application_new (GApplicationFlags flags)
{
  return g_object_new (TRENDLINE_TYPE_APPLICATION, "application-id", TRENDLINE_ID, "resource-base-path",
                       "/org/aprender/Trendline", "flags", flags | G_APPLICATION_HANDLES_OPEN, NULL);
}
