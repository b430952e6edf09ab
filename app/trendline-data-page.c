/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-data-page.h"

#include "app/trendline-format.h"
#include "app/trendline-heading.h"

/* More columns than this would take long to show, and nobody reads them. */
#define MAX_COLUMNS 100

/* GTK makes the cells of 200 rows at once, whether they are seen or not: a wide table shows fewer rows. */
#define MAX_CELLS 2000

/* What a cell shows of a longer text. */
#define MAX_CHARS 40

struct _TrendlineDataPage
{
  AdwBin parent_instance;

  GtkColumnView *view;
};

G_DEFINE_FINAL_TYPE (TrendlineDataPage, trendline_data_page, ADW_TYPE_BIN)

static void
trendline_data_page_class_init (TrendlineDataPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/aprender/Trendline/trendline-data-page.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlineDataPage, view);
}

static void
trendline_data_page_init (TrendlineDataPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, TrendlineColumn *column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), trendline_column_get_is_text (column) ? 0 : 1);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), MAX_CHARS);
  if (!trendline_column_get_is_text (column))
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

/* A row is the text of its number: the cells stay in the table. A number that is cut is another number: a narrow view
 * scrolls instead. */
static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item, TrendlineColumn *column)
{
  TrendlineTable *table = g_object_get_data (G_OBJECT (factory), "table");
  const gsize index = GPOINTER_TO_SIZE (g_object_get_data (G_OBJECT (factory), "index"));
  const char *text = trendline_table_get_cell (table, gtk_list_item_get_position (item), index);
  g_autofree char *isolated =
    trendline_column_get_is_text (column) ? g_strdup (text) : trendline_format_isolate (text);
  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));

  gtk_label_set_label (label, isolated);
  gtk_label_set_width_chars (label, (int) MIN (g_utf8_strlen (text, -1), MAX_CHARS));
}

static void
add_column (TrendlineDataPage *self, TrendlineTable *table, guint index)
{
  g_autoptr (TrendlineColumn) column = g_list_model_get_item (trendline_table_get_columns (table), index);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) view_column = NULL;

  g_object_set_data_full (G_OBJECT (factory), "table", g_object_ref (table), g_object_unref);
  g_object_set_data (G_OBJECT (factory), "index", GSIZE_TO_POINTER (index));
  g_signal_connect_object (factory, "setup", G_CALLBACK (on_setup), column, 0);
  g_signal_connect_data (factory, "bind", G_CALLBACK (on_bind), g_object_ref (column),
                         (GClosureNotify) (gpointer) g_object_unref, 0);
  view_column = gtk_column_view_column_new (trendline_column_get_name (column), factory);
  gtk_column_view_column_set_resizable (view_column, TRUE);
  gtk_column_view_append_column (self->view, view_column);
  if (!trendline_column_get_is_text (column))
    trendline_heading_align_end (self->view, index);
}

/* What no column needs. Without it, GTK takes the width that is left for a view that is scrolled too far. */
static void
add_space (TrendlineDataPage *self)
{
  g_autoptr (GtkColumnViewColumn) space = gtk_column_view_column_new (NULL, NULL);

  gtk_column_view_column_set_expand (space, TRUE);
  gtk_column_view_append_column (self->view, space);
}

static void
on_table (TrendlineFitSession *session, GParamSpec *pspec, TrendlineDataPage *self)
{
  TrendlineTable *table = trendline_fit_session_get_table (session);
  GListModel *old = gtk_column_view_get_columns (self->view);
  g_autoptr (GtkStringList) rows = gtk_string_list_new (NULL);
  guint n_columns;
  gsize n_rows;
  gsize i;

  gtk_column_view_set_model (self->view, NULL);
  while (g_list_model_get_n_items (old) > 0)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (old, 0);

      gtk_column_view_remove_column (self->view, column);
    }
  if (table == NULL)
    return;

  n_columns = MIN (g_list_model_get_n_items (trendline_table_get_columns (table)), MAX_COLUMNS);
  n_rows = MIN (trendline_table_get_n_rows (table), MAX_CELLS / MAX (n_columns, 1));
  for (i = 0; i < n_columns; i++)
    add_column (self, table, (guint) i);
  add_space (self);
  for (i = 0; i < n_rows; i++)
    gtk_string_list_append (rows, "");
  gtk_column_view_set_model (
    self->view, GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (g_steal_pointer (&rows)))));
}

/* Shows the first rows of the session's table, whichever it is. */
void
trendline_data_page_set_session (TrendlineDataPage *self, TrendlineFitSession *session)
{
  g_signal_connect_object (session, "notify::table", G_CALLBACK (on_table), self, 0);
  on_table (session, NULL, self);
}
