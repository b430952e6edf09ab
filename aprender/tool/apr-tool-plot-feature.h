/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/plot/apr-plot-samples.h"
#include "aprender/plot/apr-plot.h"

G_BEGIN_DECLS

/* The numbers of a column of a matrix, or those of a vector. */
double *apr_tool_plot_get_column (AprTensor *tensor, gsize column);

/* A target against a feature, with the line of a model and, where it has statistics, their band. Fails with
 * %APR_ERROR_RANGE where the samples do not tell the line, since features depend on each other. */
AprPlot *apr_tool_plot_feature (AprLinearRegression *model,
                                AprTensor *const samples[APR_PLOT_N_TENSORS],
                                const char *feature,
                                const char *target,
                                GError **error);

G_END_DECLS
