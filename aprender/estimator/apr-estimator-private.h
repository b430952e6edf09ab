/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"

G_BEGIN_DECLS

/* Records what the model was fitted with, and notifies. */
void apr_estimator_set_fitted (AprEstimator *self, gsize n_features, gsize n_targets);

/* The default of fit_async: calls fit in the caller's main context. */
void apr_estimator_fit_in_context (AprEstimator *self,
                                   AprTensor *x,
                                   AprTensor *y,
                                   AprTensor *sample_weight,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

/* Whether the model is fitted, and to as many features as @x has. */
gboolean apr_estimator_check_predict (AprEstimator *self, AprTensor *x, GError **error);

/* Whether the model is fitted, to so many features and to one target. */
gboolean apr_estimator_check_sample (AprEstimator *self, gsize n_features, GError **error);

G_END_DECLS
