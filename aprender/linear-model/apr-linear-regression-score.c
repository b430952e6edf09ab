/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-linear-regression-private.h"
#include "aprender/linear-model/apr-linear-score-private.h"

static AprTensor *
score_cross_products (AprLinearRegression *self,
                      AprCrossProducts *cross_products,
                      GCancellable *cancellable,
                      GError **error)
{
  g_autoptr (AprFitted) fitted = NULL;
  const AprLinearResults *results;
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  g_autofree double *scores = NULL;
  const AprRun run = { .cancellable = cancellable };
  gsize n_features;
  gsize n_targets;
  AprNames kind;

  if (!apr_cross_products_check (cross_products, error))
    return NULL;
  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  results = fitted->results;
  if (results == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "The model has not been fitted yet");
      return NULL;
    }
  n_features = results->n_features;
  n_targets = results->n_targets;
  if (n_features != apr_cross_products_get_n_features (cross_products) ||
      n_targets != apr_cross_products_get_n_targets (cross_products))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The cross products are of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets, but the model has %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
                   apr_cross_products_get_n_features (cross_products),
                   apr_cross_products_get_n_targets (cross_products), n_features, n_targets);
      return NULL;
    }
  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (!apr_cross_products_check_names (cross_products, kind, (const char *const *) fitted->names[kind],
                                         error))
      return NULL;
  if (apr_cross_products_get_n_samples (cross_products) == 0 ||
      !apr_cross_products_has_weight (cross_products))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "The cross products are of no samples with a weight above 0");
      return NULL;
    }
  if (!apr_cross_products_check_possible (cross_products, &run, error))
    return NULL;

  scores = apr_memory_new (n_targets, sizeof *scores, "scores", error);
  if (scores == NULL ||
      !apr_linear_score_results (results, cross_products, apr_cross_products_get_n_samples (cross_products),
                                 APR_METRIC_R2, cancellable, scores, error))
    return NULL;

  return apr_tensor_new_from_doubles (scores, n_targets, &n_targets, 1, error);
}

/**
 * apr_linear_regression_score_cross_products:
 * @self: a linear regression
 * @cross_products: the cross products of some samples, which need not be those of the fit
 * @error: return location for an error
 *
 * Computes the coefficient of determination R² of the predictions from the cross products of the samples alone.
 *
 * So a model is scored for data that went by in a stream, or for the part that cross-validation has set aside. For
 * each target, R² = 1 - Σ w (y - prediction)² / Σ w (y - mean)², worked out exactly and rounded once; predictions
 * are not rounded on the way. Where all values of a target are equal, R² is 1 if the predictions are right, and 0
 * otherwise; of one sample it is a NaN. The time grows with the square of the number of features.
 *
 * From sums of the precision %APR_PRECISION_DOUBLE R² is as exact as these are, off by some 10^-15 where no term of the
 * predictions varies more than the target, and at most 1.
 *
 * Fails with %APR_ERROR_NOT_FITTED before the first fit, with %APR_ERROR_SHAPE if the numbers of features or
 * targets are not the model's, with %APR_ERROR_FEATURE_NAMES if both have names and these differ, with
 * %APR_ERROR_EMPTY if there are no samples, and with %APR_ERROR_MODEL if no samples can have such sums.
 *
 * Returns: (transfer full): R² for each target, F64 [n_targets]
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_score_cross_products (AprLinearRegression *self,
                                            AprCrossProducts *cross_products,
                                            GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (cross_products), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return score_cross_products (self, cross_products, g_cancellable_get_current (), error);
}

static gboolean
run_score_cross_products (AprEstimator *self,
                          AprEstimatorCall *call,
                          GCancellable *cancellable,
                          GError **error)
{
  call->results[0] = score_cross_products (APR_LINEAR_REGRESSION (self), APR_CROSS_PRODUCTS (call->object),
                                           cancellable, error);
  call->free_result = (GDestroyNotify) apr_tensor_unref;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_score_cross_products_async:
 * @self: a linear regression
 * @cross_products: the cross products of some samples; samples that are added after the call do not count
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the scores are there
 * @user_data: data to pass to @callback
 *
 * Scores the model for samples that have been summed before, without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_score_cross_products_async (AprLinearRegression *self,
                                                  AprCrossProducts *cross_products,
                                                  int io_priority,
                                                  GCancellable *cancellable,
                                                  GAsyncReadyCallback callback,
                                                  gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (cross_products));

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_score_cross_products;
  call->object = G_OBJECT (apr_cross_products_copy (cross_products));
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_score_cross_products_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_score_cross_products_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.score_cross_products_async] began.
 *
 * Returns: (transfer full): R² for each target, or `NULL` with an error as of
 *   [method@Apr.LinearRegression.score_cross_products]
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_score_cross_products_finish (AprLinearRegression *self,
                                                   GAsyncResult *result,
                                                   GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_score_cross_products_async,
                                         error);
}
