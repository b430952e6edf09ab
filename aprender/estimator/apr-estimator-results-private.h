/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"
#include "aprender/estimator/apr-fitted-private.h"

G_BEGIN_DECLS

/* Whether the results are those that a subclass has given to the base class. */
gboolean apr_estimator_has_results (const AprFitted *fitted);

/* What one thread predicts with, so that all results come from one fit: on the stack of apr_estimator_predict. */
typedef struct _AprEstimatorReading
{
  AprEstimator *self;                 /* (unowned) */
  AprFitted *fitted;                  /* (unowned) */
  struct _AprEstimatorReading *outer; /* (unowned) (nullable): of the model whose predict asks this one */
} AprEstimatorReading;

/* Until the end, apr_estimator_get_result () takes from @fitted in this thread. */
void apr_estimator_begin_reading (AprEstimatorReading *reading, AprEstimator *self, AprFitted *fitted);
void apr_estimator_end_reading (AprEstimatorReading *reading);

/* The virtual functions of the base class. */
gboolean apr_estimator_save_results (AprEstimator *self, AprSafetensorsWriter *writer, GError **error);

gboolean apr_estimator_load_results (
  AprEstimator *self, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error);

G_END_DECLS
