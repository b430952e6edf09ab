/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

#include "aprender/plot/apr-plot.h"

G_BEGIN_DECLS

/* The plots by which a regression is judged, each of one target; @n numbers for each sample. */

AprPlot *apr_plot_new_actual (const double *actual, const double *predicted, gsize n, const char *target);

/* Those of R's plot (lm). The three samples that stand out most are named by their rows, counted from 1. @rows
 * (nullable) are the samples' rows, counted from 0, as AprTableReader has them; without them, each sample is a row. */
AprPlot *apr_plot_new_residuals (AprRegressionDiagnostics *diagnostics, AprTensor *rows);
AprPlot *apr_plot_new_quantiles (AprRegressionDiagnostics *diagnostics, AprTensor *rows);
AprPlot *apr_plot_new_scale_location (AprRegressionDiagnostics *diagnostics, AprTensor *rows);

/* With the contours of Cook's distance at 0.5 and 1; @rank is the number of coefficients, with the intercept. */
AprPlot *apr_plot_new_leverage (AprRegressionDiagnostics *diagnostics, gsize rank, AprTensor *rows);

/* One feature against a target: the samples, and the predictions at @n_line places with their bounds. */
AprPlot *apr_plot_new_feature (const double *values,
                               const double *actual,
                               gsize n,
                               const double *line_x,
                               const double *line_y,
                               const double *lower,
                               const double *upper,
                               gsize n_line,
                               const char *feature,
                               const char *target);

G_END_DECLS
