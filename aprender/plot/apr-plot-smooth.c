/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-smooth.h"

#include <math.h>

typedef struct
{
  guint64 key;
  guint place;
} Entry;

/* Whole numbers in the order of the numbers; -0 is 0. */
static guint64
get_key (double value)
{
  union
  {
    double number;
    guint64 bits;
  } both = { value + 0.0 };
  const guint64 sign = G_GUINT64_CONSTANT (1) << 63;

  return both.bits & sign ? ~both.bits : both.bits | sign;
}

/* By one byte of the keys after the other, from the lowest: each pass keeps the order of what it finds equal. */
guint *
apr_plot_sort (const double *values, gsize n)
{
  g_autofree Entry *entries = g_new (Entry, MAX (n, 1));
  g_autofree Entry *sorted = g_new (Entry, MAX (n, 1));
  guint *places = g_new (guint, MAX (n, 1));
  guint shift;
  gsize i;

  for (i = 0; i < n; i++)
    entries[i] = (Entry){ get_key (values[i]), (guint) i };
  for (shift = 0; shift < 64; shift += 8)
    {
      gsize begins[257] = { 0 };
      Entry *swapped = entries;

      for (i = 0; i < n; i++)
        begins[(entries[i].key >> shift & 0xff) + 1]++;
      for (i = 0; i < 256; i++)
        begins[i + 1] += begins[i];
      for (i = 0; i < n; i++)
        sorted[begins[entries[i].key >> shift & 0xff]++] = entries[i];
      entries = sorted;
      sorted = swapped;
    }
  for (i = 0; i < n; i++)
    places[i] = entries[i].place;

  return places;
}

/* The weighted straight line through the points from @begin to @end, at a place. */
static double
fit_at (const double *x, const double *y, gsize begin, gsize end, double place)
{
  double width = fmax (place - x[begin], x[end - 1] - place) * (1 + 1e-9);
  double sum = 0;
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  double mean_x;
  double mean_y;
  double variance;
  gsize i;

  for (i = begin; i < end; i++)
    {
      double distance = width > 0 ? fabs (x[i] - place) / width : 0;
      double weight = pow (fmax (0, 1 - distance * distance * distance), 3);
      double dx = x[i] - place;

      sum += weight;
      sum_x += weight * dx;
      sum_y += weight * y[i];
      sum_xx += weight * dx * dx;
      sum_xy += weight * dx * y[i];
    }
  if (!(sum > 0))
    return NAN;
  mean_x = sum_x / sum;
  mean_y = sum_y / sum;
  variance = sum_xx / sum - mean_x * mean_x;
  if (!(variance > 1e-12 * width * width))
    return mean_y;

  return mean_y - mean_x * (sum_xy / sum - mean_x * mean_y) / variance;
}

/* Of very many points, a tenth tells the same: each @step-th of the sorted ones. */
#define MAX_POINTS 20000

guint
apr_plot_smooth (const double *x,
                 const double *y,
                 gsize n,
                 double line_x[APR_PLOT_SMOOTH_N],
                 double line_y[APR_PLOT_SMOOTH_N])
{
  g_autofree guint *places = apr_plot_sort (x, n);
  gsize step = MAX (1, n / MAX_POINTS);
  gsize n_used = n / step;
  g_autofree double *used_x = g_new (double, MAX (n_used, 1));
  g_autofree double *used_y = g_new (double, MAX (n_used, 1));
  gsize n_near = MAX (2, n_used * 2 / 3);
  gsize begin = 0;
  gsize nearest = 0;
  guint n_line = 0;
  gsize i;
  gsize j;

  if (n_used < 4 || !(x[places[n - 1]] > x[places[0]]))
    return 0;
  /* Of each @step points, their means. */
  for (i = 0; i < n_used; i++)
    {
      used_x[i] = used_y[i] = 0;
      for (j = i * step; j < (i + 1) * step; j++)
        {
          used_x[i] += x[places[j]] / (double) step;
          used_y[i] += y[places[j]] / (double) step;
        }
    }

  for (i = 0; i < APR_PLOT_SMOOTH_N; i++)
    {
      double place = used_x[0] + (used_x[n_used - 1] - used_x[0]) * (double) i / (APR_PLOT_SMOOTH_N - 1);

      /* Where there are no points, a line through those far away can go anywhere. */
      while (nearest + 1 < n_used && used_x[nearest + 1] - place <= place - used_x[nearest])
        nearest++;
      place = used_x[nearest];
      if (n_line > 0 && place == line_x[n_line - 1])
        continue;
      while (begin + n_near < n_used && used_x[begin + n_near] - place < place - used_x[begin])
        begin++;
      line_x[n_line] = place;
      line_y[n_line++] = fit_at (used_x, used_y, begin, begin + n_near, place);
    }

  return n_line;
}

/* A first value by Abramowitz and Stegun 26.2.23, whose error is below 4.5e-4, then Halley's method. */
double
apr_plot_normal_quantile (double share)
{
  double tail = fmin (share, 1 - share);
  double t = sqrt (-2 * log (tail));
  double z =
    t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  int i;

  /* z is above 0, with @tail beyond it. */
  for (i = 0; i < 2; i++)
    {
      double excess = (0.5 * erfc (z * M_SQRT1_2) - tail) * sqrt (2 * M_PI) * exp (z * z / 2);

      z += excess / (1 - z * excess / 2);
    }

  return share < 0.5 ? -z : z;
}
