/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/inference/apr-regression-diagnostics-private.h"

/* What needs the samples of the fit once more, which the model does not keep. */

/* Those without a weight of 0. */
static guint64
count_samples (AprTensor *x, AprTensor *sample_weight)
{
  guint64 n = apr_tensor_get_shape (x, NULL)[0];
  guint64 n_counted = 0;
  gsize i;

  if (sample_weight == NULL)
    return n;
  for (i = 0; i < n; i++)
    n_counted += apr_tensor_get_double (sample_weight, i, NULL) != 0;

  return n_counted;
}

/* Whether the samples are those of the fit: as many, and with the same sums, where those are exact. */
static gboolean
check_sums (AprCrossProducts *fitted,
            AprTensor *x,
            AprTensor *y,
            AprTensor *sample_weight,
            const AprRun *run,
            GError **error)
{
  g_autoptr (AprCrossProducts) state = NULL;
  guint64 n_samples = count_samples (x, sample_weight);
  guint64 n_fitted = apr_cross_products_get_n_samples (fitted);
  GError *no_memory = NULL;

  if (n_samples != n_fitted)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "X has %" G_GUINT64_FORMAT " samples%s, but the model was fitted to %" G_GUINT64_FORMAT
                   ": they must be the samples of the fit",
                   n_samples, sample_weight != NULL ? " with a weight above 0" : "", n_fitted);
      return FALSE;
    }
  if (apr_cross_products_get_precision (fitted) != APR_PRECISION_EXACT)
    return apr_exact_sums_check_rows (x, y, sample_weight, error);

  state = apr_cross_products_new (apr_cross_products_get_n_features (fitted),
                                  apr_cross_products_get_n_targets (fitted), error);
  if (state == NULL)
    return FALSE;
  apr_cross_products_set_n_threads (state, run->n_threads);
  if (!apr_cross_products_update (state, x, y, sample_weight, run->cancellable, error))
    return FALSE;
  if (apr_cross_products_have_same_samples (state, fitted, &no_memory))
    return TRUE;

  if (no_memory != NULL)
    g_propagate_error (error, no_memory);
  else
    g_set_error_literal (
      error, APR_ERROR, APR_ERROR_STATE,
      "X, y and the weights are not those that the model was fitted to: the sums of their products differ");
  return FALSE;
}

static gboolean
check_samples (const AprInference *inference,
               const AprLinearResults *results,
               AprTensor *x,
               AprTensor *y,
               AprTensor *sample_weight,
               gsize target,
               const AprRun *run,
               GError **error)
{
  gsize n_targets;

  if (!apr_estimator_check_fit (x, y, sample_weight, error) ||
      !apr_estimator_check_n_features ("X", apr_tensor_get_shape (x, NULL)[1],
                                       inference->n_terms - inference->first, error))
    return FALSE;
  n_targets = apr_estimator_count_targets (y);
  if (n_targets == inference->n_targets && target < n_targets)
    return check_sums (results->cross_products, x, y, sample_weight, run, error);

  g_set_error (error, APR_ERROR, n_targets != inference->n_targets ? APR_ERROR_SHAPE : APR_ERROR_RANGE,
               "There is no target %" G_GSIZE_FORMAT " (counted from 0) in a y of %" G_GSIZE_FORMAT
               " targets for a model of %" G_GSIZE_FORMAT,
               target, n_targets, inference->n_targets);
  return FALSE;
}

/**
 * apr_linear_regression_diagnose:
 * @self: a fitted linear regression
 * @x: the features of the samples that the model was fitted to, [n_samples, n_features]
 * @y: their targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): their weights, [n_samples]; `NULL` for equal weights
 * @target: which target, counted from 0
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Computes how well each sample is fitted, and how much the fit depends on it.
 *
 * The samples must be those of the fit, in any order. The model keeps only their sums. Other samples are noticed by
 * their number and, where the [property@Apr.LinearRegression:precision] of the fit was exact, by comparing all sums,
 * which takes as long as the fit.
 *
 * Returns: (transfer full): the diagnostics; `NULL` with %APR_ERROR_SHAPE where @x and @y do not have the shapes of
 *   the fit, %APR_ERROR_STATE where they are other samples, or another error of [method@Apr.Estimator.fit] or
 *   [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
AprRegressionDiagnostics *
apr_linear_regression_diagnose (AprLinearRegression *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                gsize target,
                                GCancellable *cancellable,
                                GError **error)
{
  AprRun run = { .cancellable = cancellable };
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprInference) inference = NULL;
  AprInferenceSource source;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  inference = apr_linear_regression_infer (self, fitted, "diagnose", FALSE, cancellable, error);
  run.n_threads = apr_linear_regression_get_n_threads (self);
  if (inference == NULL ||
      !check_samples (inference, fitted->results, x, y, sample_weight, target, &run, error))
    return NULL;

  source = apr_linear_regression_get_source (fitted);
  return apr_inference_diagnose (inference, &source, x, y, sample_weight, target, &run, error);
}

static gboolean
run_diagnose (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  call->results[0] = apr_linear_regression_diagnose (APR_LINEAR_REGRESSION (self), call->x, call->y,
                                                     call->sample_weight, call->target, cancellable, error);
  call->free_result = g_object_unref;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_diagnose_async:
 * @self: a fitted linear regression
 * @x: the features of the samples that the model was fitted to, [n_samples, n_features]
 * @y: their targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): their weights, [n_samples]; `NULL` for equal weights
 * @target: which target, counted from 0
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the diagnostics are there
 * @user_data: data to pass to @callback
 *
 * Diagnoses the samples without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_diagnose_async (AprLinearRegression *self,
                                      AprTensor *x,
                                      AprTensor *y,
                                      AprTensor *sample_weight,
                                      gsize target,
                                      int io_priority,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (x != NULL);

  call = apr_estimator_call_new (x, y, sample_weight);
  call->run = run_diagnose;
  call->target = target;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_diagnose_async, io_priority,
                            cancellable, callback, user_data);
}

/**
 * apr_linear_regression_diagnose_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.diagnose_async] began.
 *
 * Returns: (transfer full): the diagnostics, or `NULL` with an error as of [method@Apr.LinearRegression.diagnose]
 *
 * Since: 0.1
 */
AprRegressionDiagnostics *
apr_linear_regression_diagnose_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_diagnose_async, error);
}

/**
 * apr_linear_regression_get_robust_statistics:
 * @self: a fitted linear regression
 * @x: the features of the samples that the model was fitted to, [n_samples, n_features]
 * @y: their targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): their weights, [n_samples]; `NULL` for equal weights
 * @kind: how the covariance is estimated, such as %APR_COVARIANCE_HC3
 * @target: which target, counted from 0
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Computes the statistics with a covariance that is consistent whatever the variances of the errors are:
 * heteroscedasticity-consistent standard errors, t-values, p-values and intervals, and the F-statistic of Wald's
 * test.
 *
 * The coefficients, the sums of squares and what follows from them are those of
 * [method@Apr.LinearRegression.get_statistics]. Weights are those of the fit, so that the sandwich's middle has the
 * squares of w e, as in statsmodels' `WLS`; tests use Student's t and Snedecor's F, as `coeftest ()` of R's package
 * lmtest does, and as statsmodels does with `use_t`.
 *
 * It goes through the samples as a fit with weights does, which takes several times as long as one without, and for
 * HC2 and HC3 once more for the leverages; in threads. The samples must be those of the fit, and are compared with it
 * as by [method@Apr.LinearRegression.diagnose]. Sums have the [property@Apr.LinearRegression:precision] of the fit:
 * where they are exact, so are the residuals, but for their own rounding.
 *
 * Returns: (transfer full): the statistics; `NULL` with %APR_ERROR_SHAPE where these are not the shapes of the fit,
 *   %APR_ERROR_STATE where they are other samples, %APR_ERROR_RANGE where a leverage is 1 to within 2⁻³⁴, for which
 *   HC2 and HC3 are not known, %APR_ERROR_NOT_FINITE, or another error of [method@Apr.Estimator.fit] or
 *   [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_robust_statistics (AprLinearRegression *self,
                                             AprTensor *x,
                                             AprTensor *y,
                                             AprTensor *sample_weight,
                                             AprCovarianceKind kind,
                                             gsize target,
                                             GCancellable *cancellable,
                                             GError **error)
{
  AprRun run = { .cancellable = cancellable };
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprInference) inference = NULL;
  AprRegressionStatistics *statistics;
  AprInferenceSource source;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);
  g_return_val_if_fail (kind >= APR_COVARIANCE_CLASSICAL && kind <= APR_COVARIANCE_HC3, NULL);

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  inference = apr_linear_regression_infer (self, fitted, "tell the statistics of", FALSE, cancellable, error);
  run.n_threads = apr_linear_regression_get_n_threads (self);
  if (inference == NULL ||
      !check_samples (inference, fitted->results, x, y, sample_weight, target, &run, error))
    return NULL;

  source = apr_linear_regression_get_source (fitted);
  statistics =
    apr_inference_get_robust_statistics (inference, &source, x, y, sample_weight, kind, target, &run, error);
  if (statistics == NULL)
    g_prefix_error (error, "Cannot tell the robust statistics of this %s: ", G_OBJECT_TYPE_NAME (self));

  return statistics;
}

static gboolean
run_get_robust_statistics (AprEstimator *self,
                           AprEstimatorCall *call,
                           GCancellable *cancellable,
                           GError **error)
{
  call->results[0] = apr_linear_regression_get_robust_statistics (
    APR_LINEAR_REGRESSION (self), call->x, call->y, call->sample_weight, (AprCovarianceKind) call->kind,
    call->target, cancellable, error);
  call->free_result = g_object_unref;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_get_robust_statistics_async:
 * @self: a fitted linear regression
 * @x: the features of the samples that the model was fitted to, [n_samples, n_features]
 * @y: their targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): their weights, [n_samples]; `NULL` for equal weights
 * @kind: how the covariance is estimated, such as %APR_COVARIANCE_HC3
 * @target: which target, counted from 0
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the statistics are there
 * @user_data: data to pass to @callback
 *
 * Computes the robust statistics without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_get_robust_statistics_async (AprLinearRegression *self,
                                                   AprTensor *x,
                                                   AprTensor *y,
                                                   AprTensor *sample_weight,
                                                   AprCovarianceKind kind,
                                                   gsize target,
                                                   int io_priority,
                                                   GCancellable *cancellable,
                                                   GAsyncReadyCallback callback,
                                                   gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (x != NULL);
  g_return_if_fail (kind >= APR_COVARIANCE_CLASSICAL && kind <= APR_COVARIANCE_HC3);

  call = apr_estimator_call_new (x, y, sample_weight);
  call->run = run_get_robust_statistics;
  call->kind = kind;
  call->target = target;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_get_robust_statistics_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_get_robust_statistics_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.get_robust_statistics_async] began.
 *
 * Returns: (transfer full): the statistics, or `NULL` with an error as of
 *   [method@Apr.LinearRegression.get_robust_statistics]
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_robust_statistics_finish (AprLinearRegression *self,
                                                    GAsyncResult *result,
                                                    GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_get_robust_statistics_async,
                                         error);
}
