/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Points on a plane, which are found by place, and walked through from left to right. */
typedef struct _TrendlinePoints TrendlinePoints;

/* Reads @x and @y in place, which must outlive it, and sorts: slow for very many. Points that are not finite are
 * never found. */
TrendlinePoints *trendline_points_new (const double *x, const double *y, gsize n) G_GNUC_WARN_UNUSED_RESULT;

void trendline_points_free (TrendlinePoints *self);

/* Finds the point nearest to a place among those within an ellipse around it, if there is one. */
gboolean trendline_points_find (
  const TrendlinePoints *self, double x, double y, double x_radius, double y_radius, gsize *found);

/* Finds the point that is @step points to the right of another, but not beyond the last; the first if @from is %NULL.
 * Fails where there are no points. */
gboolean trendline_points_step (const TrendlinePoints *self, const gsize *from, int step, gsize *found);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrendlinePoints, trendline_points_free)

G_END_DECLS
