/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* At how many places a curve is worked out at most: two for each hundredth of the range, and the ends. */
#define APR_PLOT_SMOOTH_N 202

/* A smooth curve through points, which must be finite: at places of theirs the straight line that fits the nearest two
 * thirds of them best, where those further away count less, and in three more rounds also those that were far from the
 * curve (LOWESS, Cleveland 1979). It is what R's panel.smooth draws, of more than 50,000 points through so many of
 * them. Returns: how many places; 0 if the points are in one place */
guint apr_plot_smooth (const double *x,
                       const double *y,
                       gsize n,
                       double line_x[APR_PLOT_SMOOTH_N],
                       double line_y[APR_PLOT_SMOOTH_N]);

/* The number that a share of a normal distribution's samples is below. */
double apr_plot_normal_quantile (double share);

/* The places of numbers in their order. */
guint *apr_plot_sort (const double *values, gsize n);

G_END_DECLS
