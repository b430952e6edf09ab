/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/plot/apr-plot.h"

G_BEGIN_DECLS

/* What a colour is for. */
typedef enum
{
  APR_PLOT_PAPER,
  APR_PLOT_INK,
  APR_PLOT_FAINT, /* the grid */
  APR_PLOT_POINT,
  APR_PLOT_CURVE,
  APR_PLOT_GUIDE,
} AprPlotColour;

void apr_plot_set_colour (cairo_t *cairo, const AprPlotStyle *style, AprPlotColour colour, double alpha);

G_END_DECLS
