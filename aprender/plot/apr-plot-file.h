/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <gio/gio.h>

#include "aprender/plot/apr-plot.h"

G_BEGIN_DECLS

typedef enum
{
  APR_PLOT_SVG,
  APR_PLOT_PNG,
  APR_PLOT_PDF,
} AprPlotFormat;

/* Writes one plot, or four in a square, into a picture of so many pixels, or units of 1/72 inch in PDF. An error of
 * writing is left in @stream. */
gboolean apr_plot_write (AprPlot *const *plots,
                         guint n_plots,
                         AprPlotFormat format,
                         double width,
                         double height,
                         const AprPlotStyle *style,
                         FILE *stream,
                         GError **error);

G_END_DECLS
