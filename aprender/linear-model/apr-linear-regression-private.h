/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-linear-regression.h"
#include "aprender/linear-model/apr-linear-results-private.h"

G_BEGIN_DECLS

/* The hyper-parameters, as the next fit has them. */
typedef struct
{
  AprLeastSquaresOptions solver; /* without what the data decide */
  gboolean keep_state;
  AprPrecision precision;
  guint n_threads;
} AprLinearOptions;

/* As they are now. */
AprLinearOptions apr_linear_regression_get_options (AprLinearRegression *self);

/* Keeps them, and the penalties of the targets, for the fit that begins: it uses these whatever is set beside it. */
void apr_linear_regression_keep_options (AprEstimator *estimator);

/* Those of the fit that runs. Returns: (transfer full) (nullable): the penalties */
AprTensor *apr_linear_regression_ref_kept (AprLinearRegression *self, AprLinearOptions *options);

/* A regression of no subclass with these hyper-parameters. @alphas may be %NULL. */
AprLinearRegression *apr_linear_regression_new_with (const AprLinearOptions *options, AprTensor *alphas);

/* Sets what is at @offset of the options, and notifies @property where it was another value. */
void apr_linear_regression_set_option (
  AprLinearRegression *self, gsize offset, gconstpointer value, gsize size, const char *property);

/* What the last fit found. Returns: (nullable): %NULL before the first fit */
AprLinearResults *apr_linear_regression_ref_results (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

/* Takes @results for the end of the update that runs. */
void apr_linear_regression_take_pending (AprLinearRegression *self,
                                         AprLinearResults *results,
                                         const char *const *feature_names,
                                         const char *const *target_names);

/* False with an error where there are no results, or none with cross products, to @what with. */
gboolean apr_linear_regression_check_state (AprLinearRegression *self,
                                            const AprLinearResults *results,
                                            const char *what,
                                            GError **error);

/* The functions of the class and of its results, each with its own file: fit, predict, file. */
gboolean apr_linear_regression_fit (AprEstimator *estimator,
                                    AprTensor *x,
                                    AprTensor *y,
                                    AprTensor *sample_weight,
                                    GCancellable *cancellable,
                                    GError **error);

AprTensor *apr_linear_regression_predict (AprEstimator *estimator, AprTensor *x, GError **error);

gboolean
apr_linear_regression_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error);

gboolean apr_linear_regression_save_results (AprEstimator *estimator,
                                             gconstpointer results,
                                             AprSafetensorsWriter *writer,
                                             GError **error);

gboolean apr_linear_regression_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error);

void
apr_linear_regression_notify_results (AprEstimator *estimator, gconstpointer before, gconstpointer after);

void apr_linear_regression_notify_names (AprEstimator *estimator, gconstpointer results);

/* What inference is computed from; @fitted has results with cross products. */
AprInferenceSource apr_linear_regression_get_source (const AprFitted *fitted);

/* What statistics and intervals are computed from, once for a fit; but the relations of features to others, by which
 * rows are checked, are there for sure only where @relations are asked for. Returns: (transfer full): %NULL with an
 * error that says that it cannot @what the model */
AprInference *apr_linear_regression_infer (AprLinearRegression *self,
                                           const AprFitted *fitted,
                                           const char *what,
                                           gboolean relations,
                                           GCancellable *cancellable,
                                           GError **error);

G_END_DECLS
