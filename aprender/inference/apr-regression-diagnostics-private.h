/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-inference-private.h"
#include "aprender/inference/apr-regression-diagnostics.h"

G_BEGIN_DECLS

/* The diagnostics of one target for the samples of the fit, which have been checked; %NULL where cancelled. */
AprRegressionDiagnostics *apr_inference_diagnose (const AprInference *self,
                                                  const AprInferenceSource *source,
                                                  AprTensor *x,
                                                  AprTensor *y,
                                                  AprTensor *sample_weight,
                                                  gsize target,
                                                  const AprRun *run,
                                                  GError **error);

G_END_DECLS
