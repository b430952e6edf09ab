/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/inference/apr-hypothesis-test.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_INTERVAL_KIND (apr_interval_kind_get_type ())

/**
 * AprIntervalKind:
 * @APR_INTERVAL_PREDICTION: one more sample
 * @APR_INTERVAL_CONFIDENCE: the mean of all samples with the same features
 *
 * What is within the bounds of an interval, with the probability that was asked for.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_INTERVAL_PREDICTION,
  APR_INTERVAL_CONFIDENCE,
} AprIntervalKind;

APR_AVAILABLE_IN_ALL
GType apr_interval_kind_get_type (void);

#define APR_TYPE_COVARIANCE_KIND (apr_covariance_kind_get_type ())

/**
 * AprCovarianceKind:
 * @APR_COVARIANCE_CLASSICAL: all errors have one variance, but for the weights: σ² (Z'WZ)⁻¹
 * @APR_COVARIANCE_HC0: the squared residuals as they are
 * @APR_COVARIANCE_HC1: the same times n / df, with n samples and df degrees of freedom of the residuals
 * @APR_COVARIANCE_HC2: the squared residuals divided by 1 - h, where h are the leverages
 * @APR_COVARIANCE_HC3: the squared residuals divided by (1 - h)², which is the usual choice for few samples
 *
 * How the covariance of the coefficients is estimated. Those that begin with HC are consistent whatever the
 * variances of the errors (heteroscedasticity): (Z'WZ)⁻¹ Z'ΩZ (Z'WZ)⁻¹, where Ω has w² e² on its diagonal,
 * corrected as said.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_COVARIANCE_CLASSICAL,
  APR_COVARIANCE_HC0,
  APR_COVARIANCE_HC1,
  APR_COVARIANCE_HC2,
  APR_COVARIANCE_HC3,
} AprCovarianceKind;

APR_AVAILABLE_IN_ALL
GType apr_covariance_kind_get_type (void);

#define APR_TYPE_REGRESSION_STATISTICS (apr_regression_statistics_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprRegressionStatistics, apr_regression_statistics, APR, REGRESSION_STATISTICS, GObject)

APR_AVAILABLE_IN_ALL
const char *const *apr_regression_statistics_get_terms (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
guint64 apr_regression_statistics_get_n_samples (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
guint64 apr_regression_statistics_get_df_model (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
guint64 apr_regression_statistics_get_df_residual (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprCovarianceKind apr_regression_statistics_get_covariance_kind (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_residual_sum_of_squares (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_total_sum_of_squares (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_residual_variance (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_residual_standard_error (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_r_squared (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_adjusted_r_squared (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_f_statistic (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_f_p_value (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_log_likelihood (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_aic (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_bic (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_condition_number (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
double apr_regression_statistics_get_prediction_rounding (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_coefficients (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_minimum_norm (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_standard_errors (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_t_values (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_p_values (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_variance_inflation (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_covariance (AprRegressionStatistics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_statistics_get_confidence_intervals (AprRegressionStatistics *self,
                                                               double level,
                                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprHypothesisTest *apr_regression_statistics_test_hypothesis (AprRegressionStatistics *self,
                                                              AprTensor *factors,
                                                              AprTensor *values,
                                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_regression_statistics_test_hypothesis_async (AprRegressionStatistics *self,
                                                      AprTensor *factors,
                                                      AprTensor *values,
                                                      int io_priority,
                                                      GCancellable *cancellable,
                                                      GAsyncReadyCallback callback,
                                                      gpointer user_data);

APR_AVAILABLE_IN_ALL
AprHypothesisTest *
apr_regression_statistics_test_hypothesis_finish (AprRegressionStatistics *self,
                                                  GAsyncResult *result,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_regression_statistics_parse_hypothesis (AprRegressionStatistics *self,
                                                     const char *text,
                                                     AprTensor **factors,
                                                     AprTensor **values,
                                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprHypothesisTest *apr_regression_statistics_compare (AprRegressionStatistics *self,
                                                      AprRegressionStatistics *restricted,
                                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
char *apr_regression_statistics_to_string (AprRegressionStatistics *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
