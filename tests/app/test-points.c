/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "app/trendline-points.h"

#define N 500

static void
test_find (void)
{
  double x[N];
  double y[N];
  guint n_found = 0;
  guint trial;
  gsize i;

  g_test_summary ("The nearest point, as looking at each of them finds it.");

  /* On a coarse grid, so that many share a place on one axis. */
  for (i = 0; i < N; i++)
    {
      x[i] = g_test_rand_int_range (0, 50);
      y[i] = g_test_rand_int_range (0, 50);
    }
  x[3] = NAN;
  y[5] = INFINITY;
  x[7] = -INFINITY;
  {
    g_autoptr (TrendlinePoints) points = trendline_points_new (x, y, N);

    for (trial = 0; trial < 2000; trial++)
      {
        double at_x = g_test_rand_double_range (-2, 52);
        double at_y = g_test_rand_double_range (-2, 52);
        double nearest = INFINITY;
        gsize found = N;
        gboolean any;

        for (i = 0; i < N; i++)
          if (isfinite (x[i]) && isfinite (y[i]))
            nearest = fmin (nearest, hypot ((x[i] - at_x) / 0.5, (y[i] - at_y) / 2));
        any = trendline_points_find (points, at_x, at_y, 0.5, 2, &found);
        g_assert_cmpint (any, ==, nearest <= 1);
        if (any)
          {
            n_found++;
            g_assert_cmpfloat (hypot ((x[found] - at_x) / 0.5, (y[found] - at_y) / 2), ==, nearest);
          }
      }
  }
  g_assert_cmpuint (n_found, >, 100);
}

static void
test_step (void)
{
  const double x[] = { 3, NAN, 1, 2, 2 };
  const double y[] = { 0, 0, 0, 0, 9 };
  g_autoptr (TrendlinePoints) points = trendline_points_new (x, y, G_N_ELEMENTS (x));
  g_autoptr (TrendlinePoints) none = trendline_points_new (x, y, 0);
  const gsize order[] = { 2, 3, 4, 0 };
  gsize at;
  guint i;

  g_test_summary ("From left to right over all that can be seen, and not beyond the ends.");

  g_assert_false (trendline_points_step (none, NULL, 1, &at));
  g_assert_true (trendline_points_step (points, NULL, 1, &at));
  for (i = 0; i < G_N_ELEMENTS (order); i++)
    {
      g_assert_cmpuint (at, ==, order[i]);
      g_assert_true (trendline_points_step (points, &at, 1, &at));
    }
  g_assert_cmpuint (at, ==, 0);
  g_assert_true (trendline_points_step (points, &at, -G_MAXINT, &at));
  g_assert_cmpuint (at, ==, 2);
  g_assert_true (trendline_points_step (points, &at, G_MAXINT, &at));
  g_assert_cmpuint (at, ==, 0);
  at = 1;
  g_assert_true (trendline_points_step (points, &at, -1, &at));
  g_assert_cmpuint (at, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trendline/points/find", test_find);
  g_test_add_func ("/trendline/points/step", test_step);

  return g_test_run ();
}
