/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/cross-products/apr-cross-products.h>
#include <aprender/estimator/apr-estimator.h>
#include <aprender/inference/apr-regression-diagnostics.h>
#include <aprender/inference/apr-regression-statistics.h>
#include <aprender/linear-model/apr-group-fits.h>

G_BEGIN_DECLS

#define APR_TYPE_LINEAR_REGRESSION (apr_linear_regression_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (AprLinearRegression, apr_linear_regression, APR, LINEAR_REGRESSION, AprEstimator)

/**
 * AprLinearRegressionClass:
 * @parent_class: the parent class
 *
 * A subclass may add hyper-parameters, and override any virtual function of #AprEstimatorClass. Only the methods of
 * #AprEstimator call these functions; those of #AprLinearRegression do not.
 *
 * Since: 0.1
 */
struct _AprLinearRegressionClass
{
  AprEstimatorClass parent_class;

  /*< private >*/
  gpointer padding[8];
};

APR_AVAILABLE_IN_ALL
AprLinearRegression *apr_linear_regression_new (void) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprLinearRegression *apr_linear_regression_load (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprLinearRegression *
apr_linear_regression_from_bytes (GBytes *bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_fit_cross_products (AprLinearRegression *self,
                                                   AprCrossProducts *state,
                                                   GCancellable *cancellable,
                                                   GError **error);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_fit_cross_products_async (AprLinearRegression *self,
                                                     AprCrossProducts *state,
                                                     int io_priority,
                                                     GCancellable *cancellable,
                                                     GAsyncReadyCallback callback,
                                                     gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_fit_cross_products_finish (AprLinearRegression *self,
                                                          GAsyncResult *result,
                                                          GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *apr_linear_regression_score_cross_products (AprLinearRegression *self,
                                                       AprCrossProducts *cross_products,
                                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_score_cross_products_async (AprLinearRegression *self,
                                                       AprCrossProducts *cross_products,
                                                       int io_priority,
                                                       GCancellable *cancellable,
                                                       GAsyncReadyCallback callback,
                                                       gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *apr_linear_regression_score_cross_products_finish (AprLinearRegression *self,
                                                              GAsyncResult *result,
                                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_partial_fit (AprLinearRegression *self,
                                            AprTensor *x,
                                            AprTensor *y,
                                            AprTensor *sample_weight,
                                            GCancellable *cancellable,
                                            GError **error);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_partial_fit_async (AprLinearRegression *self,
                                              AprTensor *x,
                                              AprTensor *y,
                                              AprTensor *sample_weight,
                                              int io_priority,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean
apr_linear_regression_partial_fit_finish (AprLinearRegression *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
AprGroupFits *apr_linear_regression_fit_groups (AprLinearRegression *self,
                                                AprTensor *x,
                                                AprTensor *y,
                                                AprTensor *groups,
                                                AprTensor *sample_weight,
                                                GCancellable *cancellable,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_fit_groups_async (AprLinearRegression *self,
                                             AprTensor *x,
                                             AprTensor *y,
                                             AprTensor *groups,
                                             AprTensor *sample_weight,
                                             int io_priority,
                                             GCancellable *cancellable,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data);

APR_AVAILABLE_IN_ALL
AprGroupFits *
apr_linear_regression_fit_groups_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_predict_into (
  AprLinearRegression *self, AprTensor *x, gpointer predictions, gsize size, GError **error);

APR_AVAILABLE_IN_ALL
double apr_linear_regression_predict_one (AprLinearRegression *self,
                                          const double *x,
                                          gsize n_features,
                                          GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_get_fit_intercept (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_fit_intercept (AprLinearRegression *self, gboolean fit_intercept);

APR_AVAILABLE_IN_ALL
double apr_linear_regression_get_alpha (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_alpha (AprLinearRegression *self, double alpha);

APR_AVAILABLE_IN_ALL
AprTensor *apr_linear_regression_get_alphas (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_alphas (AprLinearRegression *self, AprTensor *alphas);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_get_positive (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_positive (AprLinearRegression *self, gboolean positive);

APR_AVAILABLE_IN_ALL
AprDType apr_linear_regression_get_dtype (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_dtype (AprLinearRegression *self, AprDType dtype);

APR_AVAILABLE_IN_ALL
AprPrecision apr_linear_regression_get_precision (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_precision (AprLinearRegression *self, AprPrecision precision);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_get_keep_state (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_keep_state (AprLinearRegression *self, gboolean keep_state);

APR_AVAILABLE_IN_ALL
guint apr_linear_regression_get_n_threads (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_set_n_threads (AprLinearRegression *self, guint n_threads);

APR_AVAILABLE_IN_ALL
AprTensor *apr_linear_regression_get_coefficients (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_linear_regression_get_intercept (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gssize apr_linear_regression_get_rank (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
double apr_linear_regression_compute_condition_number (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
void apr_linear_regression_compute_condition_number_async (AprLinearRegression *self,
                                                           int io_priority,
                                                           GCancellable *cancellable,
                                                           GAsyncReadyCallback callback,
                                                           gpointer user_data);

APR_AVAILABLE_IN_ALL
double apr_linear_regression_compute_condition_number_finish (AprLinearRegression *self,
                                                              GAsyncResult *result,
                                                              GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_get_has_statistics (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_get_correctly_rounded (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
double apr_linear_regression_get_prediction_rounding (AprLinearRegression *self);

APR_AVAILABLE_IN_ALL
char **apr_linear_regression_get_dependent_features (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprCrossProducts *
apr_linear_regression_get_cross_products (AprLinearRegression *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprRegressionStatistics *
apr_linear_regression_get_statistics (AprLinearRegression *self, gsize target, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_get_statistics_async (AprLinearRegression *self,
                                                 gsize target,
                                                 int io_priority,
                                                 GCancellable *cancellable,
                                                 GAsyncReadyCallback callback,
                                                 gpointer user_data);

APR_AVAILABLE_IN_ALL
AprRegressionStatistics *
apr_linear_regression_get_statistics_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
char *apr_linear_regression_summary (AprLinearRegression *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_summary_async (AprLinearRegression *self,
                                          int io_priority,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

APR_AVAILABLE_IN_ALL
char *apr_linear_regression_summary_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_predict_interval (AprLinearRegression *self,
                                                 AprTensor *x,
                                                 double level,
                                                 AprIntervalKind kind,
                                                 AprTensor **lower,
                                                 AprTensor **upper,
                                                 GError **error);

APR_AVAILABLE_IN_ALL
AprRegressionDiagnostics *apr_linear_regression_diagnose (AprLinearRegression *self,
                                                          AprTensor *x,
                                                          AprTensor *y,
                                                          AprTensor *sample_weight,
                                                          gsize target,
                                                          GCancellable *cancellable,
                                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_diagnose_async (AprLinearRegression *self,
                                           AprTensor *x,
                                           AprTensor *y,
                                           AprTensor *sample_weight,
                                           gsize target,
                                           int io_priority,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

APR_AVAILABLE_IN_ALL
AprRegressionDiagnostics *
apr_linear_regression_diagnose_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprRegressionStatistics *
apr_linear_regression_get_robust_statistics (AprLinearRegression *self,
                                             AprTensor *x,
                                             AprTensor *y,
                                             AprTensor *sample_weight,
                                             AprCovarianceKind kind,
                                             gsize target,
                                             GCancellable *cancellable,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_get_robust_statistics_async (AprLinearRegression *self,
                                                        AprTensor *x,
                                                        AprTensor *y,
                                                        AprTensor *sample_weight,
                                                        AprCovarianceKind kind,
                                                        gsize target,
                                                        int io_priority,
                                                        GCancellable *cancellable,
                                                        GAsyncReadyCallback callback,
                                                        gpointer user_data);

APR_AVAILABLE_IN_ALL
AprRegressionStatistics *
apr_linear_regression_get_robust_statistics_finish (AprLinearRegression *self,
                                                    GAsyncResult *result,
                                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_linear_regression_predict_interval_async (AprLinearRegression *self,
                                                   AprTensor *x,
                                                   double level,
                                                   AprIntervalKind kind,
                                                   int io_priority,
                                                   GCancellable *cancellable,
                                                   GAsyncReadyCallback callback,
                                                   gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_linear_regression_predict_interval_finish (
  AprLinearRegression *self, GAsyncResult *result, AprTensor **lower, AprTensor **upper, GError **error);

G_END_DECLS
