/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* A plot: points, lines and bands between two axes. It is built once, and can be drawn any number of times, in any
 * size, by one thread at a time. */
typedef struct _AprPlot AprPlot;

typedef enum
{
  APR_PLOT_SOLID,  /* what the plot is about */
  APR_PLOT_DASHED, /* what it is compared with */
} AprPlotLine;

/* Light on dark, or dark on light; sizes are those of the type's units, such as pixels. */
typedef struct
{
  gboolean dark;
  double font_size;
} AprPlotStyle;

AprPlot *apr_plot_new (const char *title, const char *x_label, const char *y_label);
void apr_plot_free (AprPlot *self);

/* What is not finite is left out, as it is on paper. Of more points than can be told apart, their density is drawn. */
void apr_plot_add_points (AprPlot *self, const double *x, const double *y, gsize n);

/* Names a point. */
void apr_plot_add_label (AprPlot *self, double x, double y, const char *text);

/* A line of a comparison does not widen the axes. */
void apr_plot_add_line (AprPlot *self, AprPlotLine kind, const double *x, const double *y, gsize n);

void apr_plot_add_band (AprPlot *self, const double *x, const double *lower, const double *upper, gsize n);

/* Has an axis begin at 0 or below. */
void apr_plot_include_zero (AprPlot *self);

/* Draws the plot into a rectangle, with its background. */
void apr_plot_draw (const AprPlot *self,
                    cairo_t *cairo,
                    double x,
                    double y,
                    double width,
                    double height,
                    const AprPlotStyle *style);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprPlot, apr_plot_free)

G_END_DECLS
