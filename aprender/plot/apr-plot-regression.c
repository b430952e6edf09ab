/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-regression.h"

#include <math.h>

#include "aprender/plot/apr-plot-smooth.h"

/* Marks what an application may translate. */
#define N_(text) (text)

/* How many samples are named. */
#define N_LABELS 3

/* What is said to be far away by Cook's distance, as in R. */
static const double cook_levels[] = { 0.5, 1 };

#define N_CONTOUR 200

static const double *
get_doubles (AprTensor *tensor, gsize *n)
{
  return apr_tensor_get_doubles (tensor, n, NULL);
}

static void
find_range (const double *values, gsize n, double range[2])
{
  gsize i;

  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        range[0] = fmin (range[0], values[i]);
        range[1] = fmax (range[1], values[i]);
      }
}

static void
add_zero_line (AprPlot *plot, const double *x, gsize n)
{
  const double zeros[2] = { 0, 0 };
  double range[2];

  find_range (x, n, range);
  apr_plot_add_line (plot, APR_PLOT_DASHED, range, zeros, 2);
}

/* Through the points that are there to be seen. */
static void
add_smooth (AprPlot *plot, const double *x, const double *y, gsize n)
{
  g_autofree double *seen_x = g_new (double, MAX (n, 1));
  g_autofree double *seen_y = g_new (double, MAX (n, 1));
  double line_x[APR_PLOT_SMOOTH_N];
  double line_y[APR_PLOT_SMOOTH_N];
  gsize n_seen = 0;
  guint n_line;
  gsize i;

  for (i = 0; i < n; i++)
    if (isfinite (x[i]) && isfinite (y[i]))
      {
        seen_x[n_seen] = x[i];
        seen_y[n_seen++] = y[i];
      }
  n_line = apr_plot_smooth (seen_x, seen_y, n_seen, line_x, line_y);
  if (n_line > 0)
    apr_plot_add_line (plot, APR_PLOT_SOLID, line_x, line_y, n_line);
}

/* Names the samples whose @measure is furthest from 0. */
static void
label_extremes (AprPlot *plot, const double *x, const double *y, const double *measure, gsize n)
{
  gsize found[N_LABELS];
  gsize n_found = 0;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      if (!isfinite (measure[i]))
        continue;
      for (j = n_found; j > 0 && fabs (measure[found[j - 1]]) < fabs (measure[i]); j--)
        if (j < N_LABELS)
          found[j] = found[j - 1];
      if (j < N_LABELS)
        {
          found[j] = i;
          n_found = MIN (n_found + 1, N_LABELS);
        }
    }
  for (i = 0; i < n_found; i++)
    {
      g_autofree char *text =
        g_strdup_printf ("%" G_GUINT64_FORMAT, apr_plot_get_row_number (plot, found[i]));

      apr_plot_add_label (plot, x[found[i]], y[found[i]], text);
    }
}

static AprPlot *
plot_new (const char *title, const char *x_label, const char *y_label, AprTensor *rows)
{
  AprPlot *plot = apr_plot_new (title, x_label, y_label);

  if (rows != NULL)
    apr_plot_set_row_numbers (plot, rows);

  return plot;
}

/* Why no sample has a standardized residual. */
static const char *
find_reason (AprRegressionDiagnostics *diagnostics)
{
  gsize n;
  const double *residuals = get_doubles (apr_regression_diagnostics_get_residuals (diagnostics), &n);
  const double *leverages = get_doubles (apr_regression_diagnostics_get_leverages (diagnostics), NULL);
  double left = (double) n;
  gboolean all_zero = TRUE;
  gsize i;

  for (i = 0; i < n; i++)
    {
      /* Leverages sum up to the number of coefficients. */
      left -= leverages[i];
      all_zero = all_zero && residuals[i] == 0;
    }
  if (left < 0.5)
    return N_ ("No residual degrees of freedom");
  if (all_zero)
    return N_ ("All residuals are 0");

  /* Sums in double do not tell so little. */
  return N_ ("The residuals are as small as rounding errors");
}

/* Says which samples are not at their places, and why. Returns: whether none is */
static gboolean
note_left_out (AprPlot *plot, AprRegressionDiagnostics *diagnostics, const double *x, const double *y)
{
  gsize n;
  const double *standardized =
    get_doubles (apr_regression_diagnostics_get_standardized_residuals (diagnostics), &n);
  gsize n_left_out = 0;
  gboolean by_leverage = TRUE;
  gsize i;

  for (i = 0; i < n; i++)
    if (!isfinite (x[i]) || !isfinite (y[i]))
      {
        n_left_out++;
        /* Otherwise the residual is larger than numbers go. */
        by_leverage = by_leverage && isnan (standardized[i]);
      }
  if (n_left_out == n)
    apr_plot_set_note (plot, find_reason (diagnostics));
  else if (n_left_out > 0)
    apr_plot_set_note (plot,
                       by_leverage ? N_ ("Rows left out, as their leverage is 1") : N_ ("Rows left out"));

  return n_left_out == n;
}

AprPlot *
apr_plot_new_actual (const double *actual, const double *predicted, gsize n, const char *target)
{
  g_autofree char *x_label = g_strdup_printf ("Predicted %s", target);
  g_autofree char *y_label = g_strdup_printf ("Actual %s", target);
  AprPlot *plot = apr_plot_new ("Predicted and actual", x_label, y_label);
  double range[2];

  find_range (predicted, n, range);
  apr_plot_add_line (plot, APR_PLOT_DASHED, range, range, 2);
  apr_plot_add_points (plot, predicted, actual, n);

  return plot;
}

AprPlot *
apr_plot_new_residuals (AprRegressionDiagnostics *diagnostics, AprTensor *rows)
{
  AprPlot *plot = plot_new (N_ ("Residuals and fitted values"), N_ ("Fitted values"), N_ ("Residuals"), rows);
  gsize n;
  const double *fitted = get_doubles (apr_regression_diagnostics_get_fitted_values (diagnostics), &n);
  const double *residuals = get_doubles (apr_regression_diagnostics_get_residuals (diagnostics), NULL);

  add_zero_line (plot, fitted, n);
  apr_plot_add_points (plot, fitted, residuals, n);
  add_smooth (plot, fitted, residuals, n);
  label_extremes (plot, fitted, residuals, residuals, n);
  note_left_out (plot, diagnostics, fitted, residuals);

  return plot;
}

/* A number that a share of sorted ones is below, between two of them where need be. */
static double
get_quantile (const double *values, const guint *places, gsize n, double share)
{
  double at = share * (double) (n - 1);
  gsize below = (gsize) floor (at);
  double part = at - (double) below;
  double first = values[places[below]];

  return part > 0 ? first + part * (values[places[below + 1]] - first) : first;
}

AprPlot *
apr_plot_new_quantiles (AprRegressionDiagnostics *diagnostics, AprTensor *rows)
{
  AprPlot *plot = plot_new (N_ ("Normal quantiles"), N_ ("Quantiles of the normal distribution"),
                            N_ ("Standardized residuals"), rows);
  gsize n_all;
  const double *all =
    get_doubles (apr_regression_diagnostics_get_standardized_residuals (diagnostics), &n_all);
  g_autofree double *residuals = g_new (double, MAX (n_all, 1));
  g_autofree double *quantiles = g_new (double, MAX (n_all, 1));
  g_autofree double *extremes = g_new (double, MAX (n_all, 1));
  g_autofree guint *places = NULL;
  gsize n = n_all;
  double offset;
  gsize i;

  /* Samples with the leverage 1 have none: they go to the end, and are not finite. */
  for (i = 0; i < n_all; i++)
    {
      residuals[i] = isfinite (all[i]) ? all[i] : INFINITY;
      n -= !isfinite (all[i]);
    }
  places = apr_plot_sort (residuals, n_all);
  offset = n <= 10 ? 0.375 : 0.5;
  for (i = 0; i < n_all; i++)
    {
      quantiles[places[i]] =
        i < n ? apr_plot_normal_quantile (((double) i + 1 - offset) / ((double) n + 1 - 2 * offset)) : NAN;
      extremes[places[i]] = residuals[places[i]];
    }

  if (n > 1)
    {
      /* Through the quartiles, as R's qqline. */
      double quartile = apr_plot_normal_quantile (0.75);
      double lower = get_quantile (residuals, places, n, 0.25);
      double upper = get_quantile (residuals, places, n, 0.75);
      double slope = (upper - lower) / (2 * quartile);
      double x[2] = { quantiles[places[0]], quantiles[places[n - 1]] };
      double y[2] = { (lower + upper) / 2 + slope * x[0], (lower + upper) / 2 + slope * x[1] };

      apr_plot_add_line (plot, APR_PLOT_DASHED, x, y, 2);
    }
  apr_plot_add_points (plot, quantiles, residuals, n_all);
  label_extremes (plot, quantiles, residuals, extremes, n_all);
  note_left_out (plot, diagnostics, quantiles, residuals);

  return plot;
}

AprPlot *
apr_plot_new_scale_location (AprRegressionDiagnostics *diagnostics, AprTensor *rows)
{
  AprPlot *plot =
    plot_new (N_ ("Scale and location"), N_ ("Fitted values"), N_ ("√|Standardized residuals|"), rows);
  gsize n;
  const double *fitted = get_doubles (apr_regression_diagnostics_get_fitted_values (diagnostics), &n);
  const double *residuals =
    get_doubles (apr_regression_diagnostics_get_standardized_residuals (diagnostics), NULL);
  g_autofree double *roots = g_new (double, MAX (n, 1));
  gsize i;

  for (i = 0; i < n; i++)
    roots[i] = sqrt (fabs (residuals[i]));
  apr_plot_include_zero (plot);
  apr_plot_add_points (plot, fitted, roots, n);
  label_extremes (plot, fitted, roots, roots, n);
  add_smooth (plot, fitted, roots, n);
  note_left_out (plot, diagnostics, fitted, roots);

  return plot;
}

/* Where a standardized residual has a Cook's distance: D = r² h / (p (1 - h)). */
static double
get_contour (double level, gsize rank, double leverage)
{
  return sqrt (level * (double) rank * (1 - leverage) / leverage);
}

static void
add_contour (AprPlot *plot, double level, gsize rank, double begin, double end)
{
  double x[N_CONTOUR];
  double upper[N_CONTOUR];
  double lower[N_CONTOUR];
  gsize i;

  for (i = 0; i < N_CONTOUR; i++)
    {
      x[i] = begin + (end - begin) * (double) i / (N_CONTOUR - 1);
      upper[i] = get_contour (level, rank, x[i]);
      lower[i] = -upper[i];
    }
  apr_plot_add_line (plot, APR_PLOT_DASHED, x, upper, N_CONTOUR);
  apr_plot_add_line (plot, APR_PLOT_DASHED, x, lower, N_CONTOUR);
}

static void
name_contour (AprPlot *plot, double level, gsize rank, double end)
{
  g_autofree char *text = g_strdup_printf ("Cook %g", level);

  apr_plot_add_label (plot, end, get_contour (level, rank, end), text);
  apr_plot_add_label (plot, end, -get_contour (level, rank, end), text);
}

AprPlot *
apr_plot_new_leverage (AprRegressionDiagnostics *diagnostics, gsize rank, AprTensor *rows)
{
  AprPlot *plot =
    plot_new (N_ ("Residuals and leverage"), N_ ("Leverage"), N_ ("Standardized residuals"), rows);
  gsize n;
  const double *leverages = get_doubles (apr_regression_diagnostics_get_leverages (diagnostics), &n);
  const double *residuals =
    get_doubles (apr_regression_diagnostics_get_standardized_residuals (diagnostics), NULL);
  const double *distances = get_doubles (apr_regression_diagnostics_get_cooks_distances (diagnostics), NULL);
  g_autofree double *shown = g_new (double, MAX (n, 1));
  double range[2];
  gboolean has_contours;
  gsize i;

  if (note_left_out (plot, diagnostics, leverages, residuals))
    {
      apr_plot_add_points (plot, leverages, residuals, n);
      return plot;
    }

  /* Nothing is to be seen at leverages without a residual, and so neither are they. */
  for (i = 0; i < n; i++)
    shown[i] = isfinite (residuals[i]) ? leverages[i] : NAN;
  find_range (shown, n, range);
  /* Leverages are known to within 2⁻³⁵, and where they are all the same there is nowhere for a contour to go. */
  has_contours = range[1] - range[0] > 0x1p-34 * range[1];
  add_zero_line (plot, shown, n);
  apr_plot_add_points (plot, shown, residuals, n);
  if (has_contours)
    for (i = 0; i < G_N_ELEMENTS (cook_levels); i++)
      add_contour (plot, cook_levels[i], rank, fmax (range[0], range[1] / 1000), fmin (range[1], 1));
  add_smooth (plot, shown, residuals, n);
  label_extremes (plot, shown, residuals, distances, n);
  /* After the rows, which matter more where there is no room for both. */
  if (has_contours)
    for (i = 0; i < G_N_ELEMENTS (cook_levels); i++)
      name_contour (plot, cook_levels[i], rank, fmin (range[1], 1));

  return plot;
}

AprPlot *
apr_plot_new_feature (const double *values,
                      const double *actual,
                      gsize n,
                      const double *line_x,
                      const double *line_y,
                      const double *lower,
                      const double *upper,
                      gsize n_line,
                      const char *feature,
                      const char *target)
{
  g_autofree char *title = g_strdup_printf ("%s and %s", target, feature);
  AprPlot *plot = apr_plot_new (title, feature, target);

  if (lower != NULL)
    apr_plot_add_band (plot, line_x, lower, upper, n_line);
  apr_plot_add_points (plot, values, actual, n);
  apr_plot_add_line (plot, APR_PLOT_SOLID, line_x, line_y, n_line);

  return plot;
}
