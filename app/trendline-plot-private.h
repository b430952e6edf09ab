/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "app/trendline-plot.h"
#include "app/trendline-points.h"

G_BEGIN_DECLS

/* A plot, and what finds its points; never changed, and shared with the thread that draws. */
typedef struct
{
  AprPlot *plot;
  TrendlinePoints *points;
  const double *x;
  const double *y;
  gsize n;
  gsize n_shown;
} TrendlinePlotContent;

struct _TrendlinePlot
{
  GtkWidget parent_instance;

  TrendlinePlotContent *content; /* (nullable) */
  GTask *making;                 /* (unowned) (nullable): its plot is wanted */
  AprPlotView view;              /* that is wanted */
  AprPlotView before;            /* a gesture */

  GdkTexture *picture; /* (nullable): what was drawn last */
  AprPlotView drawn;
  AprPlotArea area;
  graphene_size_t size;
  gboolean drawing;
  gboolean stale; /* what is being drawn */

  graphene_point_t pointer; /* where it was last */
  guint row;
  gboolean pinned; /* the row stays when the pointer leaves its point */
};

/* Has the view be drawn, in a thread. The picture before is shown meanwhile. */
void trendline_plot_draw (TrendlinePlot *self);

/* Zooms @view so that what is at a place of the widget stays there. */
void trendline_plot_zoom_at (TrendlinePlot *self, const AprPlotView *view, double factor, double x, double y);

/* Moves @view by shares of it. */
void trendline_plot_move (TrendlinePlot *self, const AprPlotView *view, double x, double y);

void trendline_plot_add_keys (GtkWidgetClass *class);
void trendline_plot_add_controllers (TrendlinePlot *self);

G_END_DECLS
