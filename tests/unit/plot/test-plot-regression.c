/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static AprTensor *
matrix_new (gsize n_rows, gsize n_columns, const double *values)
{
  const gsize shape[] = { n_rows, n_columns };

  return apr_tensor_new_from_doubles (values, n_rows * n_columns, shape, 2, NULL);
}

static AprRegressionDiagnostics *
diagnose (
  AprPrecision precision, gsize n_rows, gsize n_columns, const double *x_values, const double *y_values)
{
  g_autoptr (AprTensor) x = matrix_new (n_rows, n_columns, x_values);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (y_values, n_rows, &n_rows, 1, NULL);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", precision, NULL);
  AprRegressionDiagnostics *diagnostics;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  diagnostics = apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
  g_assert_no_error (error);

  return diagnostics;
}

static void
assert_notes (AprRegressionDiagnostics *diagnostics, gsize rank, const char *expected)
{
  g_autoptr (AprPlot) residuals = apr_plot_new_residuals (diagnostics, NULL);
  AprPlot *plots[] = { apr_plot_new_quantiles (diagnostics, NULL),
                       apr_plot_new_scale_location (diagnostics, NULL),
                       apr_plot_new_leverage (diagnostics, rank, NULL) };
  guint i;

  /* The residuals themselves are there to be seen. */
  g_assert_cmpstr (apr_plot_get_note (residuals), ==, NULL);
  for (i = 0; i < G_N_ELEMENTS (plots); i++)
    {
      g_autofree char *note = apr_plot_describe_note (plots[i]);

      g_assert_cmpstr (note, ==, expected);
      apr_plot_free (plots[i]);
    }
}

static void
test_notes (void)
{
  const double x[] = { 1, 2, 3, 4, 5, 6 };
  const double exact[] = { 2, 4, 6, 8, 10, 12 };
  const double inexact[] = { 2, 4, 6, 8, 10, 13 };
  /* Thirds and sevenths are rounded, and the residuals are what rounding leaves. */
  const double thirds[] = { 1 / 3.0, 2 / 3.0, 4 / 3.0, 5 / 3.0, 7 / 3.0, 8 / 3.0 };
  double sevenths[6];
  /* The last row is alone in its group: its leverage is 1, and it has no standardized residual. */
  const double groups[] = { 0, 0, 0, 0, 0, 1 };
  const struct
  {
    AprPrecision precision;
    gsize n_rows;
    const double *x;
    const double *y;
    gsize rank;
    const char *note;
  } cases[] = {
    { APR_PRECISION_EXACT, 1, x, exact, 1, "No residual degrees of freedom" },
    { APR_PRECISION_EXACT, 2, x, exact, 2, "No residual degrees of freedom" },
    { APR_PRECISION_DOUBLE, 2, x, inexact, 2, "No residual degrees of freedom" },
    { APR_PRECISION_EXACT, 3, x, exact, 2, "All residuals are 0" },
    { APR_PRECISION_EXACT, 6, x, exact, 2, "All residuals are 0" },
    { APR_PRECISION_EXACT, 6, x, inexact, 2, NULL },
    { APR_PRECISION_EXACT, 6, thirds, sevenths, 2, NULL },
    { APR_PRECISION_DOUBLE, 6, thirds, sevenths, 2, "The residuals are as small as rounding errors" },
    { APR_PRECISION_EXACT, 6, groups, inexact, 2, "Rows left out, as their leverage is 1: 6" },
  };
  guint i;

  g_test_summary ("A plot without a single sample says why, and one without some of them which and why.");

  for (i = 0; i < G_N_ELEMENTS (sevenths); i++)
    sevenths[i] = thirds[i] / 7;
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprRegressionDiagnostics) diagnostics =
        diagnose (cases[i].precision, cases[i].n_rows, 1, cases[i].x, cases[i].y);

      assert_notes (diagnostics, cases[i].rank, cases[i].note);
    }
}

static void
test_large_residuals (void)
{
  /* The mean is 3/5 of the largest number, and the second target is further below it than numbers go. */
  const double x[] = { -2, 0, 2, 1, -1 };
  const double y[] = { G_MAXDOUBLE, -G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE };
  g_autoptr (AprRegressionDiagnostics) diagnostics = diagnose (APR_PRECISION_EXACT, 5, 1, x, y);
  g_autoptr (AprPlot) residuals = apr_plot_new_residuals (diagnostics, NULL);
  g_autoptr (AprPlot) quantiles = apr_plot_new_quantiles (diagnostics, NULL);
  g_autofree char *note = apr_plot_describe_note (residuals);

  g_test_summary ("A plot says that a sample is left out whose residual is no number; its quantile is one.");

  g_assert_cmpstr (note, ==, "Rows left out: 2");
  g_assert_null (apr_plot_get_note (quantiles));
}

#define WIDTH 400
#define HEIGHT 300

static void
draw (const AprPlot *plot, guint32 pixels[WIDTH * HEIGHT])
{
  const AprPlotStyle style = { FALSE, 11 };
  cairo_surface_t *surface =
    cairo_image_surface_create_for_data ((guchar *) pixels, CAIRO_FORMAT_RGB24, WIDTH, HEIGHT, 4 * WIDTH);
  cairo_t *cairo = cairo_create (surface);

  memset (pixels, 0, sizeof (guint32) * WIDTH * HEIGHT);
  apr_plot_draw (plot, cairo, &(AprPlotArea){ 0, 0, WIDTH, HEIGHT }, &style, NULL);
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
}

static void
assert_same_picture (const AprPlot *plot, const AprPlot *expected)
{
  g_autofree guint32 *pixels = g_new (guint32, WIDTH * HEIGHT);
  g_autofree guint32 *expected_pixels = g_new (guint32, WIDTH * HEIGHT);

  draw (plot, pixels);
  draw (expected, expected_pixels);
  g_assert_true (memcmp (pixels, expected_pixels, sizeof (guint32) * WIDTH * HEIGHT) == 0);
}

static void
test_no_contours (void)
{
  /* Two groups of two rows, each of the leverage 1/2, whose residuals are 1, -1, 1/2 and -1/2. With σ² = 5/4, these
   * over √(5/8) are the standardized ones, so that the contours of 0.5, at 1, would be within the plot. */
  const double x[] = { 0, 0, 1, 1 };
  const double y[] = { 4, 2, 7.5, 6.5 };
  const double leverages[] = { 0.5, 0.5, 0.5, 0.5 };
  const double zeros[] = { 0, 0 };
  g_autoptr (AprRegressionDiagnostics) diagnostics = diagnose (APR_PRECISION_EXACT, 4, 1, x, y);
  g_autoptr (AprPlot) plot = apr_plot_new_leverage (diagnostics, 2, NULL);
  g_autoptr (AprPlot) expected =
    apr_plot_new ("Residuals and leverage", "Leverage", "Standardized residuals");
  double residuals[4];
  guint i;

  g_test_summary (
    "Where all leverages are the same there are no contours, and nothing is called by their names.");

  for (i = 0; i < 4; i++)
    residuals[i] = (i % 2 == 0 ? 1 : -1) * (i < 2 ? 1 : 0.5) / sqrt (0.625);
  apr_plot_add_line (expected, APR_PLOT_DASHED, leverages, zeros, 2);
  apr_plot_add_points (expected, leverages, residuals, 4);
  for (i = 0; i < 3; i++)
    apr_plot_add_label (expected, leverages[i], residuals[i], (const char *const[]){ "1", "2", "3" }[i]);
  assert_same_picture (plot, expected);
}

static void
test_nothing_but_the_note (void)
{
  const double x[] = { 1, 2, 3, 4 };
  const double y[] = { 2, 4, 6, 8 };
  const double leverages[] = { 0.7, 0.3, 0.3, 0.7 };
  const double nothing[] = { NAN, NAN, NAN, NAN };
  g_autoptr (AprRegressionDiagnostics) diagnostics = diagnose (APR_PRECISION_EXACT, 4, 1, x, y);
  g_autoptr (AprPlot) plot = apr_plot_new_leverage (diagnostics, 2, NULL);
  g_autoptr (AprPlot) expected =
    apr_plot_new ("Residuals and leverage", "Leverage", "Standardized residuals");

  g_test_summary ("No line goes through the note, and no contour is there for samples that are not.");

  apr_plot_add_points (expected, leverages, nothing, 4);
  apr_plot_set_note (expected, "All residuals are 0");
  assert_same_picture (plot, expected);
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double first = *(const double *) a;
  double second = *(const double *) b;

  return (first > second) - (first < second);
}

static void
test_quantiles (void)
{
  /* Anscombe's fourth set. The eighth row alone determines the slope. */
  const double x[] = { 8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8 };
  const double y[] = { 6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.5, 5.56, 7.91, 6.89 };
  /* R's qqnorm (rstandard (lm (y4 ~ x4, anscombe))). */
  const double expected[] = { -1.54663527139923, -1.00049054561931516, -0.65542350523442672,
                              -0.37546177023551841, -0.1225808438888024 };
  g_autoptr (AprRegressionDiagnostics) diagnostics = diagnose (APR_PRECISION_EXACT, 11, 1, x, y);
  g_autoptr (AprPlot) plot = apr_plot_new_quantiles (diagnostics, NULL);
  g_autoptr (AprPlot) leverage = apr_plot_new_leverage (diagnostics, 2, NULL);
  AprPlotView view;
  const double *quantiles;
  const double *residuals;
  double shown[11];
  gsize n_shown = 0;
  gsize i;

  g_test_summary ("Quantiles are those of as many samples as are shown, and axes end where these do.");

  apr_plot_get_view (leverage, &view);
  g_assert_cmpfloat (view.begin[0], <, 0.1);
  g_assert_cmpfloat (view.end[0], >, 0.1);
  g_assert_cmpfloat (view.end[0], <, 0.2);

  g_assert_cmpuint (apr_plot_get_points (plot, &quantiles, &residuals), ==, 11);
  for (i = 0; i < 11; i++)
    if (isfinite (quantiles[i]) && isfinite (residuals[i]))
      shown[n_shown++] = quantiles[i];
  g_assert_cmpuint (n_shown, ==, 10);
  qsort (shown, n_shown, sizeof *shown, compare_doubles);
  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_cmpfloat_with_epsilon (shown[i], expected[i], 1e-12);
      g_assert_cmpfloat_with_epsilon (shown[9 - i], -expected[i], 1e-12);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot-regression/notes", test_notes);
  g_test_add_func ("/plot-regression/no-contours", test_no_contours);
  g_test_add_func ("/plot-regression/large-residuals", test_large_residuals);
  g_test_add_func ("/plot-regression/quantiles", test_quantiles);
  g_test_add_func ("/plot-regression/nothing-but-the-note", test_nothing_but_the_note);

  return g_test_run ();
}
