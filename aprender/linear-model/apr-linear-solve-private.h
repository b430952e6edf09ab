/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-linear-regression-private.h"

G_BEGIN_DECLS

/* What a fit to all samples and the fits to groups of them have in common. */

/* Whether the hyper-parameters can be; @alphas may be %NULL. */
gboolean apr_linear_options_check (const AprLinearOptions *options, AprTensor *alphas, GError **error);

/* Whether there are as many @alphas, which may be %NULL, as targets. */
gboolean apr_linear_options_check_targets (AprTensor *alphas, gsize n_targets, GError **error);

/* Fills in what the data decide. */
void
apr_linear_options_complete (AprLeastSquaresOptions *options, AprDType data_dtype, AprPrecision precision);

/* Solves a state, with one penalty for each target where there are @alphas. */
gboolean apr_linear_solve_state (AprLeastSquares *solution,
                                 AprCrossProducts *state,
                                 AprTensor *alphas,
                                 const AprLeastSquaresOptions *options,
                                 const AprRun *run,
                                 GError **error);

/* The same of sums of samples. */
gboolean apr_linear_solve_sums (AprLeastSquares *solution,
                                const AprExactSums *sums,
                                AprTensor *alphas,
                                const AprLeastSquaresOptions *options,
                                const AprRun *run,
                                GError **error);

/* Values that are already those of @dtype. */
AprTensor *apr_linear_result_new (
  AprDType dtype, const double *values, const gsize *shape, gsize n_dims, GError **error);

G_END_DECLS
