/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-least-squares-private.h"
#include "aprender/linear-model/apr-linear-regression.h"

G_BEGIN_DECLS

#define APR_RANK_UNKNOWN (-1)

/* In place of a condition number that is worked out from the cross products when it is first asked for. */
#define APR_CONDITION_PENDING (-1)

/* What a fit finds, or a file holds. */
typedef struct
{
  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
  double condition_number; /* pending, or NaN where it is not known */
  gboolean correctly_rounded;
  GArray *dependent;                /* (owned) (nullable): of gsize, the features in order */
  AprCrossProducts *cross_products; /* (owned) (nullable): of all samples that the results are of */
  AprLeastSquaresOptions fitted;    /* the hyper-parameters as the results have them */
} AprLinearResults;

typedef struct
{
  gboolean fit_intercept;
  double alpha;
  gboolean positive;
  AprDType dtype;
  gboolean keep_state;
  AprPrecision precision;
  guint n_threads;

  AprLinearResults results;
} AprLinearRegressionPrivate;

AprLinearRegressionPrivate *apr_linear_regression_get_private (AprLinearRegression *self);

const AprLinearResults *apr_linear_regression_get_results (AprLinearRegression *self);

void apr_linear_results_clear (AprLinearResults *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprLinearResults, apr_linear_results_clear)

/* Takes what @results owns, and notifies. */
void apr_linear_regression_take_results (AprLinearRegression *self, AprLinearResults *results);

/* Notifies of all properties that are results, but of these two only where they are others. */
void apr_linear_regression_notify_results (AprLinearRegression *self,
                                           gboolean other_rounding,
                                           gboolean other_rank);

/* Whether anybody listens to the progress; any thread may ask. */
gboolean apr_linear_regression_tells_progress (AprLinearRegression *self);

/* Where that is so. */
void apr_linear_regression_emit_progress (AprLinearRegression *self, guint64 n_done, guint64 n_samples);

/* The name of a feature, or one made of its number. Returns: (transfer full) */
char *apr_linear_regression_get_feature_name (AprLinearRegression *self, gsize feature);

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
