/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "aprender/plot/apr-plot.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_PLOT (trendline_plot_get_type ())

/* Shows a plot, which zooms, and tells the row of a point. Plots are made and drawn in threads, so that the window
 * answers whatever the number of points.
 *
 * With the pointer: scroll or pinch to zoom, drag to move, double-click to see all again, point at a point or click
 * it. With the keyboard: + and - zoom, Ctrl and an arrow move, 0 shows all, the arrows, Page Up, Page Down, Home and
 * End go from point to point, Escape leaves it. */
G_DECLARE_FINAL_TYPE (TrendlinePlot, trendline_plot, TRENDLINE, PLOT, GtkWidget)

/* Makes a plot, in a thread; %NULL for none. */
typedef AprPlot *(*TrendlinePlotMake) (gconstpointer data);

GtkWidget *trendline_plot_new (void);

/* Has another plot be made and shown; the one before is shown meanwhile. @free_data is called in the main thread. */
void
trendline_plot_make (TrendlinePlot *self, TrendlinePlotMake make, gpointer data, GDestroyNotify free_data);

/* Whether a plot is being made or drawn: a property that notifies. */
gboolean trendline_plot_get_busy (TrendlinePlot *self);

/* The row of the point that is pointed at, counted from 1, or 0: a property that notifies. */
guint trendline_plot_get_row (TrendlinePlot *self);
void trendline_plot_set_row (TrendlinePlot *self, guint row);

/* What there is to say about the row, such as “Row 7: Fitted values 61.03, Residuals 0.5”, or an empty text. */
char *trendline_plot_describe_row (TrendlinePlot *self) G_GNUC_WARN_UNUSED_RESULT;

/* Zooms in, or out if @factor is below 1, around the middle. */
void trendline_plot_zoom (TrendlinePlot *self, double factor);
void trendline_plot_show_all (TrendlinePlot *self);

/* Gets where the point of a row is in the widget. Returns: whether it is to be seen */
gboolean trendline_plot_get_place (TrendlinePlot *self, guint row, graphene_point_t *place);

G_END_DECLS
