/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-recent.h"

#include <gtk/gtk.h>

#define MAX_ITEMS 8

static int
compare_times (gconstpointer a, gconstpointer b)
{
  GDateTime *first = gtk_recent_info_get_modified ((GtkRecentInfo *) a);
  GDateTime *second = gtk_recent_info_get_modified ((GtkRecentInfo *) b);

  return g_date_time_compare (second, first);
}

static void
fill_menu (GtkRecentManager *manager, GMenu *menu)
{
  GList *items = g_list_sort (gtk_recent_manager_get_items (manager), compare_times);
  GList *l;

  g_menu_remove_all (menu);
  for (l = items; l != NULL && g_menu_model_get_n_items (G_MENU_MODEL (menu)) < MAX_ITEMS; l = l->next)
    if (gtk_recent_info_has_application (l->data, g_get_application_name ()))
      {
        /* An underscore would mark a mnemonic. */
        g_auto (GStrv) parts = g_strsplit (gtk_recent_info_get_display_name (l->data), "_", -1);
        g_autofree char *name = g_strjoinv ("__", parts);
        g_autoptr (GMenuItem) item = g_menu_item_new (name, NULL);

        g_menu_item_set_action_and_target (item, "win.open-recent", "s", gtk_recent_info_get_uri (l->data));
        g_menu_append_item (menu, item);
      }
  g_list_free_full (items, (GDestroyNotify) gtk_recent_info_unref);
}

/* Returns (transfer none): the menu of the files that were opened last, which follows what is opened. */
GMenuModel *
trendline_recent_get_menu (void)
{
  static GMenu *menu;
  GtkRecentManager *manager = gtk_recent_manager_get_default ();

  if (menu == NULL)
    {
      menu = g_menu_new ();
      g_signal_connect (manager, "changed", G_CALLBACK (fill_menu), menu);
      fill_menu (manager, menu);
    }

  return G_MENU_MODEL (menu);
}
