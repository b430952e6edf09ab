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

/* As R's panel.smooth has them: how much of the points is near, how often the points far from the curve are given less
 * weight, and, as a share of the range, how far apart the places of the curve may be. */
#define NEAR_SHARE (2 / 3.0)
#define N_ITERATIONS 3
#define GAP_SHARE 0.01

/* Of more points a curve takes so many. */
#define MAX_POINTS 50000

typedef struct
{
  gsize n;
  double *x; /* in their order */
  double *y;
  double *weights; /* how much each counts, by how far it was from the curve before */
  double *curve;   /* at each */
} Points;

static void
points_clear (Points *self)
{
  g_free (self->x);
  g_free (self->y);
  g_free (self->weights);
  g_free (self->curve);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Points, points_clear)

/* Of very many points, the first, the last, and one of each few neighbours between. Which one is left to chance, as
 * rows can take turns, such as women and men; it is the same one each time. */
static void
points_init (Points *self, const double *x, const double *y, gsize n)
{
  g_autofree guint *places = apr_plot_sort (x, n);
  g_autoptr (GRand) chance = g_rand_new_with_seed (1);
  gsize i;

  self->n = MIN (n, MAX_POINTS);
  self->x = g_new (double, self->n);
  self->y = g_new (double, self->n);
  self->weights = g_new (double, self->n);
  self->curve = g_new (double, self->n);
  for (i = 0; i < self->n; i++)
    {
      gsize begin = (gsize) ((guint64) i * n / self->n);
      gsize end = (gsize) ((guint64) (i + 1) * n / self->n);
      gsize place = begin;

      if (i == self->n - 1)
        place = n - 1;
      else if (i > 0 && end - begin > 1)
        place += (gsize) g_rand_int_range (chance, 0, (gint32) (end - begin));
      self->x[i] = x[places[place]];
      self->y[i] = y[places[place]];
      self->weights[i] = 1;
    }
}

/* The weighted straight line through the points that are nearest to a place of one, there: from @begin to @end and, as
 * others can be just as near, those as far away as these at most. */
static double
fit_at (const Points *points, gsize begin, gsize end, gsize at)
{
  const double *x = points->x;
  double place = x[at];
  double width = fmax (place - x[begin], x[end - 1] - place);
  double least_spread = 0.001 * (x[points->n - 1] - x[0]);
  double sum = 0;
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  double mean_x;
  double mean_y;
  double variance;
  gsize i;

  for (i = begin; i < points->n && x[i] - place <= width; i++)
    {
      double distance = width > 0 ? fabs (x[i] - place) / width : 0;
      double rest = 1 - distance * distance * distance;
      double weight = rest * rest * rest * points->weights[i];
      double dx = x[i] - place;

      sum += weight;
      sum_x += weight * dx;
      sum_y += weight * points->y[i];
      sum_xx += weight * dx * dx;
      sum_xy += weight * dx * points->y[i];
    }
  if (!(sum > 0))
    return points->y[at];
  mean_x = sum_x / sum;
  mean_y = sum_y / sum;
  variance = sum_xx / sum - mean_x * mean_x;
  /* Points that are nearly in one place do not tell a slope. */
  if (!(variance > least_spread * least_spread))
    return mean_y;

  return mean_y - mean_x * (sum_xy / sum - mean_x * mean_y) / variance;
}

/* Fits at places that are not much closer to each other than the gap; between two of them the curve is straight.
 * Returns: how many */
static guint
fit_curve (Points *points, double line_x[APR_PLOT_SMOOTH_N], double line_y[APR_PLOT_SMOOTH_N])
{
  const double *x = points->x;
  gsize n = points->n;
  gsize n_near = MAX (2, (gsize) (NEAR_SHARE * (double) n + 1e-7));
  double gap = GAP_SHARE * (x[n - 1] - x[0]);
  gsize begin = 0;
  gsize at = 0;
  gsize done = 0;
  guint n_line = 0;

  for (;;)
    {
      double value;

      while (begin + n_near < n && x[begin + n_near] - x[at] < x[at] - x[begin])
        begin++;
      value = fit_at (points, begin, begin + n_near, at);
      for (; done < at; done++)
        {
          double before = line_x[n_line - 1];
          double part = (x[done] - before) / (x[at] - before);

          points->curve[done] = (1 - part) * line_y[n_line - 1] + part * value;
        }
      for (; done < n && x[done] == x[at]; done++)
        points->curve[done] = value;
      line_x[n_line] = x[at];
      line_y[n_line++] = value;
      if (done == n)
        return n_line;
      /* The furthest point within the gap, or else the next one. */
      for (at = done; at + 1 < n && x[at + 1] <= line_x[n_line - 1] + gap;)
        at++;
    }
}

/* Gives points less weight that are far from the curve, and none to those that are further away than six times the
 * median. Returns: whether there is a distance to speak of */
static gboolean
weigh (Points *points)
{
  g_autofree double *distances = g_new (double, points->n);
  g_autofree guint *places = NULL;
  double mean = 0;
  double far;
  gsize i;

  for (i = 0; i < points->n; i++)
    {
      distances[i] = fabs (points->y[i] - points->curve[i]);
      mean += distances[i] / (double) points->n;
    }
  places = apr_plot_sort (distances, points->n);
  far = 3 * (distances[places[points->n / 2]] + distances[places[(points->n - 1) / 2]]);
  /* If more than half of the points are on the curve, but for rounding, none of the others would count. */
  if (!(far > 1e-7 * mean))
    return FALSE;

  for (i = 0; i < points->n; i++)
    {
      double share = fmin (distances[i] / far, 1);

      points->weights[i] = (1 - share * share) * (1 - share * share);
    }

  return TRUE;
}

/* W. S. Cleveland, Robust locally weighted regression and smoothing scatterplots, Journal of the American Statistical
 * Association 74, 829-836 (1979). That the curve is straight within a gap is from his program LOWESS, The American
 * Statistician 35, 54 (1981). */
guint
apr_plot_smooth (const double *x,
                 const double *y,
                 gsize n,
                 double line_x[APR_PLOT_SMOOTH_N],
                 double line_y[APR_PLOT_SMOOTH_N])
{
  g_auto (Points) points = { 0 };
  double range;
  guint n_line;
  guint i;

  if (n < 2)
    return 0;
  points_init (&points, x, y, n);
  range = points.x[points.n - 1] - points.x[0];
  if (!(range > 0 && isfinite (range)))
    return 0;

  n_line = fit_curve (&points, line_x, line_y);
  for (i = 0; i < N_ITERATIONS && weigh (&points); i++)
    n_line = fit_curve (&points, line_x, line_y);

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
