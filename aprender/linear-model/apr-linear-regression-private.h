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
  gboolean keep_state;

  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
  AprCrossProducts *cross_products; /* (owned) (nullable): of all samples that the results are of */
  gboolean fitted_intercept;        /* the hyper-parameter as the results have it */
};

/* What a fit finds, or a file holds. */
typedef struct
{
  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
  AprCrossProducts *cross_products; /* (owned) (nullable) */
  gboolean fitted_intercept;
} AprLinearResults;

void apr_linear_results_clear (AprLinearResults *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprLinearResults, apr_linear_results_clear)

/* Takes what @results owns, and notifies. */
void apr_linear_regression_take_results (AprLinearRegression *self, AprLinearResults *results);

/* False with an error where the model has no sums to @what with. */
gboolean apr_linear_regression_check_state (AprLinearRegression *self, const char *what, GError **error);

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
