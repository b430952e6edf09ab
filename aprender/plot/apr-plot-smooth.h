/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How many places a smooth line is worked out at. */
#define APR_PLOT_SMOOTH_N 41

/* A smooth line through points: at places of theirs the straight line that fits the nearest two thirds of them best,
 * those further away counting less (Cleveland 1979, without iterations for robustness). Returns: how many places */
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
