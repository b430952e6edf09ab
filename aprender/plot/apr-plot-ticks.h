/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* Round numbers along an axis: multiples of 1, 2 or 5 times a power of ten. */
typedef struct
{
  double step;
  double first; /* the first that is not below the range's begin */
  guint n;
  int n_decimals;      /* that tell one from the next */
  gboolean scientific; /* where plain numbers would be long */
} AprPlotTicks;

/* At most @max_n of them from @begin to @end, which must be finite, and at least two where there is room. */
AprPlotTicks apr_plot_ticks_choose (double begin, double end, guint max_n);

double apr_plot_ticks_get (const AprPlotTicks *self, guint i);

/* With the decimal mark of the program's locale, which the command leaves as it is in C. */
char *apr_plot_ticks_format (const AprPlotTicks *self, guint i);

/* The width of the longest. */
double apr_plot_ticks_measure (const AprPlotTicks *self, cairo_t *cairo);

/* As many as there is room for side by side on a width of paper, whose font has this size. */
AprPlotTicks
apr_plot_ticks_choose_beside (double begin, double end, cairo_t *cairo, double width, double font_size);

G_END_DECLS
