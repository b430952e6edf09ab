/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-smooth.h"

#include <math.h>

/* The curve at a place, between its own. */
static double
get_curve (const double *line_x, const double *line_y, guint n_line, double place)
{
  guint i = 1;

  while (i + 1 < n_line && line_x[i] < place)
    i++;

  return line_y[i - 1] + (line_y[i] - line_y[i - 1]) * (place - line_x[i - 1]) / (line_x[i] - line_x[i - 1]);
}

/* A set of smooth.txt; @lines are those of its points. */
static void
assert_set (const char *name, char **lines, gsize n)
{
  g_autofree double *x = g_new (double, n);
  g_autofree double *y = g_new (double, n);
  g_autofree double *expected = g_new (double, n);
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];
  double size = 0;
  double error = 0;
  guint n_line;
  gsize i;

  for (i = 0; i < n; i++)
    {
      char *end;
      /* The points in some order. */
      gsize place = i * 7919 % n;

      x[place] = g_ascii_strtod (lines[i], &end);
      y[place] = g_ascii_strtod (end, &end);
      expected[place] = g_ascii_strtod (end, NULL);
      size = fmax (size, fabs (y[place]));
    }
  n_line = apr_plot_smooth (x, y, n, line_x, line_y);
  g_assert_cmpuint (n_line, >, 1);
  g_assert_cmpuint (n_line, <=, APR_PLOT_SMOOTH_N);
  for (i = 1; i < n_line; i++)
    g_assert_cmpfloat (line_x[i - 1], <, line_x[i]);
  for (i = 0; i < n; i++)
    error = fmax (error, fabs (get_curve (line_x, line_y, n_line, x[i]) - expected[i]));
  g_test_message ("%s: %u places, the largest error is %g of %g", name, n_line, error, size);
  g_assert_cmpfloat (error, <=, 1e-8 * size);
}

static void
test_r (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "r", "smooth.txt", NULL);
  g_autofree char *contents = NULL;
  g_auto (GStrv) lines = NULL;
  guint n_sets = 0;
  gsize n;
  gsize i;

  g_test_summary ("The curve is the one that R draws: smooth.R has made them.");

  g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
  lines = g_strsplit (contents, "\n", -1);
  for (i = 0; lines[i][0] != '\0'; i += n)
    {
      g_auto (GStrv) words = g_strsplit (lines[i++], " ", 2);

      n = (gsize) g_ascii_strtoull (words[1], NULL, 10);
      g_assert_cmpuint (n, >, 1);
      assert_set (words[0], lines + i, n);
      n_sets++;
    }
  g_assert_cmpuint (n_sets, ==, 21);
}

static void
test_line (void)
{
  double x[1000];
  double y[1000];
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];
  guint n;
  guint i;

  g_test_summary ("The curve through points of a straight line is that line.");

  for (i = 0; i < G_N_ELEMENTS (x); i++)
    {
      x[i] = (i * 617) % 1000;
      y[i] = 3 - 0.5 * x[i];
    }
  n = apr_plot_smooth (x, y, G_N_ELEMENTS (x), line_x, line_y);
  g_assert_cmpuint (n, >, 100);
  g_assert_cmpfloat (line_x[0], ==, 0);
  g_assert_cmpfloat (line_x[n - 1], ==, 999);
  for (i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (line_y[i], 3 - 0.5 * line_x[i], 1e-9);
}

static void
test_none (void)
{
  const double same[] = { 2, 2, 2, 2 };
  const double far[] = { -G_MAXDOUBLE, 0, 1, G_MAXDOUBLE };
  const double y[] = { 1, 2, 3, 4 };
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];

  g_test_summary (
    "No curve goes through points in one place, nor where there is no number for their distance.");

  g_assert_cmpuint (apr_plot_smooth (y, y, 0, line_x, line_y), ==, 0);
  g_assert_cmpuint (apr_plot_smooth (y, y, 1, line_x, line_y), ==, 0);
  g_assert_cmpuint (apr_plot_smooth (same, y, 4, line_x, line_y), ==, 0);
  g_assert_cmpuint (apr_plot_smooth (far, y, 4, line_x, line_y), ==, 0);
}

static void
test_gap (void)
{
  double x[21];
  double y[21];
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];
  guint n;
  guint i;

  g_test_summary ("Between points that are far apart, the line goes straight from one to the other.");

  for (i = 0; i < 20; i++)
    {
      x[i] = i;
      y[i] = 0.2 * i * ((double) i - 19);
    }
  x[20] = 100;
  y[20] = 0;
  n = apr_plot_smooth (x, y, G_N_ELEMENTS (x), line_x, line_y);
  g_assert_cmpuint (n, >, 2);
  g_assert_cmpfloat (line_x[n - 2], ==, 19);
  g_assert_cmpfloat (line_x[n - 1], ==, 100);
  for (i = 0; i < n; i++)
    {
      g_assert_cmpfloat (line_y[i], >, -18.1);
      g_assert_cmpfloat (line_y[i], <, 5);
    }
}

/* Numbers between 0 and 1 that are far from each other. */
static double
scatter (gsize i)
{
  return fmod ((double) i * 0.6180339887498949, 1);
}

static void
test_many (void)
{
  const gsize n = 400000;
  g_autofree double *x = g_new (double, n);
  g_autofree double *y = g_new (double, n);
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];
  guint n_line;
  gsize i;

  g_test_summary ("Of many points too, the curve is where most of them are, from the first to the last.");

  /* Each 20th is far away: the mean of 8 neighbours would be so, too, for one in three. */
  for (i = 0; i < n; i++)
    {
      x[i] = scatter (i * 7);
      y[i] = 2 * x[i] - 0.5 + scatter (i * 13) + (i % 20 == 0 ? 1000 : 0);
    }
  x[3] = -0.001;
  x[4] = 1.001;
  n_line = apr_plot_smooth (x, y, n, line_x, line_y);
  g_assert_cmpfloat (line_x[0], ==, x[3]);
  g_assert_cmpfloat (line_x[n_line - 1], ==, x[4]);
  for (i = 0; i < n_line; i++)
    g_assert_cmpfloat_with_epsilon (line_y[i], 2 * line_x[i], 0.03);

  /* Rows that take turns, at places that many of them share. */
  for (i = 0; i < n; i++)
    {
      x[i] = (double) (i / 4 % 3);
      y[i] = x[i] + (i % 2 == 0 ? 1 : -1);
    }
  n_line = apr_plot_smooth (x, y, n, line_x, line_y);
  g_assert_cmpuint (n_line, ==, 3);
  for (i = 0; i < n_line; i++)
    g_assert_cmpfloat_with_epsilon (line_y[i], line_x[i], 0.03);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot-smooth/r", test_r);
  g_test_add_func ("/plot-smooth/line", test_line);
  g_test_add_func ("/plot-smooth/none", test_none);
  g_test_add_func ("/plot-smooth/gap", test_gap);
  g_test_add_func ("/plot-smooth/many", test_many);

  return g_test_run ();
}
