/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-inference-private.h"

G_BEGIN_DECLS

/* What the exact solution leaves of one target, in units of 2^@exponent in which most are at most about 1: with errors
 * that are small beside the residuals, however large the terms of the predictions are. @source is what @self was made
 * of, and the samples, which have been checked, are those of the fit. A residual is NaN where a sample is not finite.
 * @rests, which may be %NULL, has what rounding them to doubles took away. Fails where there is no memory, or where
 * cancelled. */
gboolean apr_inference_find_residuals (const AprInference *self,
                                       const AprInferenceSource *source,
                                       AprTensor *x,
                                       AprTensor *y,
                                       AprTensor *sample_weight,
                                       gsize target,
                                       const AprRun *run,
                                       double *residuals,
                                       double *rests,
                                       gint64 *exponent,
                                       GError **error);

G_END_DECLS
