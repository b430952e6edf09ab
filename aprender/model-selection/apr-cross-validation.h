/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/estimator/apr-estimator.h>
#include <aprender/estimator/apr-metrics.h>
#include <aprender/model-selection/apr-folds.h>

G_BEGIN_DECLS

APR_AVAILABLE_IN_ALL
AprTensor *apr_estimator_cross_validate (AprEstimator *self,
                                         AprFolds *folds,
                                         AprMetric metric,
                                         GCancellable *cancellable,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_cross_validate_async (AprEstimator *self,
                                         AprFolds *folds,
                                         AprMetric metric,
                                         int io_priority,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *apr_estimator_cross_validate_finish (AprEstimator *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *
apr_estimator_cross_predict (AprEstimator *self, AprFolds *folds, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_cross_predict_async (AprEstimator *self,
                                        AprFolds *folds,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *apr_estimator_cross_predict_finish (AprEstimator *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
