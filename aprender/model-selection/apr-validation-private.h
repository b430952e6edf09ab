/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-metrics.h"
#include "aprender/linear-model/apr-linear-regression-private.h"
#include "aprender/model-selection/apr-folds-private.h"

G_BEGIN_DECLS

/* What the folds of one call have in common. */
typedef struct
{
  AprFolds *folds;      /* (unowned) */
  AprCloneSource model; /* with the hyper-parameters of the beginning */
  AprFoldSums *sums;    /* (owned) (nullable) of a linear regression */
  gboolean predicts;    /* whether it is the predictions that are wanted, or: */
  AprMetric metric;
} AprValidation;

/* Whether @model is fitted and predicts as linear regressions do, also if a script has made a subclass of them. */
gboolean apr_validation_is_linear (AprEstimator *model);

/* Fits to all samples but those of @fold, and finds its @score or its @predictions. */
gboolean apr_validation_run_fold (const AprValidation *self,
                                  gsize fold,
                                  const AprRun *run,
                                  double *score,
                                  AprTensor **predictions,
                                  GError **error);

G_END_DECLS
