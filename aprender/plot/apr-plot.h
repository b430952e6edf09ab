/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>
#include <glib.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* A plot: points, lines and bands between two axes. It is built once, and can be drawn any number of times, in any
 * size, by one thread at a time. */
typedef struct _AprPlot AprPlot;

typedef enum
{
  APR_PLOT_SOLID,  /* what the plot is about */
  APR_PLOT_DASHED, /* what it is compared with */
} AprPlotLine;

/* Light on dark, or dark on light; sizes are those of the type's units, such as pixels. With high contrast, what is
 * to be read is black on white, or white on black. */
typedef struct
{
  gboolean dark;
  double font_size;
  gboolean high_contrast;
} AprPlotStyle;

/* The part of a plot that is drawn: what the axes begin and end with. */
typedef struct
{
  double begin[2]; /* x, y */
  double end[2];
} AprPlotView;

/* Where something is on paper, whose y goes down. */
typedef struct
{
  double x;
  double y;
  double width;
  double height;
} AprPlotArea;

AprPlot *apr_plot_new (const char *title, const char *x_label, const char *y_label);
void apr_plot_free (AprPlot *self);

/* What is not finite is left out, as it is on paper. Of more points than can be told apart, their density is drawn. */
void apr_plot_add_points (AprPlot *self, const double *x, const double *y, gsize n);

/* Has points be called by these numbers, counted from 0, instead of by their places; @numbers is [n], I64. */
void apr_plot_set_row_numbers (AprPlot *self, AprTensor *numbers);

/* Gets what a point is called, counted from 1. */
guint64 apr_plot_get_row_number (const AprPlot *self, gsize point);

/* Names a point. */
void apr_plot_add_label (AprPlot *self, double x, double y, const char *text);

/* Says, whatever part of a plot is drawn, why there is nothing to be seen: in the middle. Where some of the points that
 * were added first are to be seen, the note is above them, and names those that are not. */
void apr_plot_set_note (AprPlot *self, const char *text);

/* Returns: (nullable): the note, as it was set */
const char *apr_plot_get_note (const AprPlot *self);

/* Returns: (transfer full) (nullable): the note, as it is drawn */
char *apr_plot_describe_note (const AprPlot *self);

/* A line of a comparison does not widen the axes. */
void apr_plot_add_line (AprPlot *self, AprPlotLine kind, const double *x, const double *y, gsize n);

void apr_plot_add_band (AprPlot *self, const double *x, const double *lower, const double *upper, gsize n);

/* Has an axis begin at 0 or below. */
void apr_plot_include_zero (AprPlot *self);

/* Gets the points that were added first, which belong to the plot. */
gsize apr_plot_get_points (const AprPlot *self, const double **x, const double **y);

/* Counts those of them that are finite. */
gsize apr_plot_get_n_shown (const AprPlot *self);

const char *apr_plot_get_title (const AprPlot *self);

/* Gets what an axis shows: of x if @axis is 0, of y if it is 1. */
const char *apr_plot_get_axis_label (const AprPlot *self, guint axis);

/* Replaces what the plot is called, as by a translation. */
void apr_plot_set_texts (AprPlot *self, const char *title, const char *x_label, const char *y_label);

/* Gets the view that shows all points, with a margin. */
void apr_plot_get_view (const AprPlot *self, AprPlotView *view);

/* Draws a plot into a rectangle of the paper, with its background. Of @view it draws that part, otherwise all.
 * Returns: where that part is on the paper, between the axes */
AprPlotArea apr_plot_draw (const AprPlot *self,
                           cairo_t *cairo,
                           const AprPlotArea *paper,
                           const AprPlotStyle *style,
                           const AprPlotView *view);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprPlot, apr_plot_free)

G_END_DECLS
