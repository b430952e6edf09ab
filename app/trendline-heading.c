/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-heading.h"

/*
 * Puts the heading of a column over its numbers, which end where the column ends.
 *
 * GTK has no property for it. A view begins with its header, which has a button for each column, and that a box. Where
 * a later version is made of other widgets, headings begin where columns begin.
 */
void
trendline_heading_align_end (GtkColumnView *view, guint position)
{
  GtkWidget *widget = gtk_widget_get_first_child (GTK_WIDGET (view));

  if (widget != NULL)
    widget = gtk_widget_get_first_child (widget);
  for (; widget != NULL && position > 0; position--)
    widget = gtk_widget_get_next_sibling (widget);
  if (widget != NULL)
    widget = gtk_widget_get_first_child (widget);
  if (!GTK_IS_BOX (widget))
    return;
  gtk_widget_set_halign (widget, GTK_ALIGN_END);
  /* The place of the arrow of a sorted column is kept free beside the text. */
  gtk_box_reorder_child_after (GTK_BOX (widget), gtk_widget_get_last_child (widget), NULL);
}
