/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-points.h"

#include <math.h>

#include "aprender/plot/apr-plot-smooth.h"

struct _TrendlinePoints
{
  const double *x;
  const double *y;
  guint *order;  /* the finite points from left to right */
  guint *places; /* of each point in the order */
  gsize n;
};

TrendlinePoints *
trendline_points_new (const double *x, const double *y, gsize n)
{
  TrendlinePoints *self = g_new0 (TrendlinePoints, 1);
  g_autofree double *keys = g_new (double, MAX (n, 1));
  gsize i;

  self->x = x;
  self->y = y;
  /* Those that are not finite go to the end. */
  for (i = 0; i < n; i++)
    {
      gboolean finite = isfinite (x[i]) && isfinite (y[i]);

      keys[i] = finite ? x[i] : INFINITY;
      self->n += finite;
    }
  self->order = apr_plot_sort (keys, n);
  self->places = g_new (guint, MAX (n, 1));
  for (i = 0; i < n; i++)
    self->places[self->order[i]] = (guint) i;

  return self;
}

void
trendline_points_free (TrendlinePoints *self)
{
  g_free (self->order);
  g_free (self->places);
  g_free (self);
}

/* How many points are to the left of a place. */
static gsize
count_left (const TrendlinePoints *self, double x)
{
  gsize begin = 0;
  gsize end = self->n;

  while (begin < end)
    {
      gsize middle = begin + (end - begin) / 2;

      if (self->x[self->order[middle]] < x)
        begin = middle + 1;
      else
        end = middle;
    }

  return begin;
}

gboolean
trendline_points_find (
  const TrendlinePoints *self, double x, double y, double x_radius, double y_radius, gsize *found)
{
  double nearest = 1;
  gboolean any = FALSE;
  gsize i;

  for (i = count_left (self, x - x_radius); i < self->n && self->x[self->order[i]] <= x + x_radius; i++)
    {
      guint point = self->order[i];
      double distance = hypot ((self->x[point] - x) / x_radius, (self->y[point] - y) / y_radius);

      if (distance <= nearest)
        {
          nearest = distance;
          *found = point;
          any = TRUE;
        }
    }

  return any;
}

gboolean
trendline_points_step (const TrendlinePoints *self, const gsize *from, int step, gsize *found)
{
  gint64 place = 0;

  if (self->n == 0)
    return FALSE;
  if (from != NULL)
    place = CLAMP ((gint64) self->places[*from] + step, 0, (gint64) self->n - 1);
  *found = self->order[place];

  return TRUE;
}
