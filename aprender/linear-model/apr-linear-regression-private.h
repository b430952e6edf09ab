/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-linear-regression.h"

G_BEGIN_DECLS

#define APR_RANK_UNKNOWN (-1)

struct _AprLinearRegression
{
  AprEstimator parent_instance;

  gboolean fit_intercept;
  AprDType dtype;

  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
};

/* Takes references, and notifies. */
void apr_linear_regression_set_results (AprLinearRegression *self,
                                        AprTensor *coefficients,
                                        AprTensor *intercept,
                                        int rank);

/* The virtual functions of the class, each with its own file: fit, predict, file. */
gboolean apr_linear_regression_fit (AprEstimator *estimator,
                                    AprTensor *x,
                                    AprTensor *y,
                                    AprTensor *sample_weight,
                                    GCancellable *cancellable,
                                    GError **error);

void apr_linear_regression_fit_async (AprEstimator *estimator,
                                      AprTensor *x,
                                      AprTensor *y,
                                      AprTensor *sample_weight,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);

gboolean apr_linear_regression_fit_finish (AprEstimator *estimator, GAsyncResult *result, GError **error);

AprTensor *apr_linear_regression_predict (AprEstimator *estimator, AprTensor *x, GError **error);

gboolean
apr_linear_regression_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error);

gboolean apr_linear_regression_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error);

G_END_DECLS
