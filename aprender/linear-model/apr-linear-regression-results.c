/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/base/apr-strings-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-private.h"

AprLinearResults *
apr_linear_regression_ref_results (AprLinearRegression *self)
{
  /* Predictions take some nanoseconds, of which a checked cast would be a third. */
  return apr_estimator_ref_results ((AprEstimator *) self);
}

void
apr_linear_regression_take_pending (AprLinearRegression *self,
                                    AprLinearResults *results,
                                    const char *const *feature_names,
                                    const char *const *target_names)
{
  AprFitted *fitted =
    apr_fitted_new (results->n_features, results->n_targets, &apr_linear_results_type, results);

  fitted->names[APR_FEATURE_NAMES] = g_strdupv ((char **) feature_names);
  fitted->names[APR_TARGET_NAMES] = g_strdupv ((char **) target_names);
  apr_estimator_take_pending (APR_ESTIMATOR (self), fitted);
}

gboolean
apr_linear_regression_check_state (AprLinearRegression *self,
                                   const AprLinearResults *results,
                                   const char *what,
                                   GError **error)
{
  if (results != NULL && results->cross_products != NULL)
    return TRUE;

  if (results == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot %s an unfitted %s: call fit first", what,
                 G_OBJECT_TYPE_NAME (self));
  else
    g_set_error (error, APR_ERROR, APR_ERROR_STATE,
                 "Cannot %s this %s: it was saved and loaded without the sums of its samples, which are "
                 "saved where the hyper-parameter keep-state is true",
                 what, G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

/**
 * apr_linear_regression_get_coefficients: (get-property coefficients)
 * @self: a linear regression
 *
 * Gets the fitted weights, one per feature, in units of the target per unit of the feature.
 *
 * The shape is [n_features], or [n_targets, n_features] when the model was fitted with a matrix of targets.
 *
 * Returns: (transfer full) (nullable): the weights, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_coefficients (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  results = apr_linear_regression_ref_results (self);

  return results != NULL ? apr_tensor_ref (results->coefficients) : NULL;
}

/**
 * apr_linear_regression_get_intercept: (get-property intercept)
 * @self: a linear regression
 *
 * Gets the prediction for a sample whose features are all 0, in units of the target.
 *
 * The shape is [1], or [n_targets] when the model was fitted with a matrix of targets.
 *
 * Returns: (transfer full) (nullable): the intercept, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_intercept (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  results = apr_linear_regression_ref_results (self);

  return results != NULL ? apr_tensor_ref (results->intercept) : NULL;
}

/**
 * apr_linear_regression_get_rank: (get-property rank)
 * @self: a linear regression
 *
 * Gets the number of independent features, after centring where there is an intercept.
 *
 * Returns: the rank; -1 before the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
gssize
apr_linear_regression_get_rank (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_RANK_UNKNOWN);

  results = apr_linear_regression_ref_results (self);

  return results != NULL ? results->rank : APR_RANK_UNKNOWN;
}

static gboolean
compute_condition_number (AprLinearRegression *self,
                          GCancellable *cancellable,
                          double *number,
                          GError **error)
{
  const AprRun run = { .n_threads = apr_linear_regression_get_n_threads (self), .cancellable = cancellable };
  g_autoptr (AprLinearResults) results = apr_linear_regression_ref_results (self);

  *number = NAN;

  return results != NULL ? apr_linear_results_find_condition_number (results, &run, number, error)
                         : !apr_run_set_error_if_cancelled (&run, error);
}

/**
 * apr_linear_regression_compute_condition_number:
 * @self: a linear regression
 *
 * Computes the condition number: the ratio of the largest to the smallest singular value of the data as they are,
 * [1 | X] where there is an intercept, each row times the root of its weight, to at least three digits. By so much an
 * error of the data can grow in the coefficients where the residuals are small; else by up to its square, times the
 * size of the residuals.
 *
 * The first call after a fit takes about as long as solving for the coefficients; then the number is known.
 * [method@Apr.LinearRegression.compute_condition_number_async] does not block.
 *
 * It is not computed, but NaN, with a penalty where there are at least 1,024 features and at most half as many samples.
 *
 * Returns: the condition number, infinity where features depend on each other; NaN before the first fit, where a file
 *   does not tell, and where there is no memory
 *
 * Since: 0.1
 */
double
apr_linear_regression_compute_condition_number (AprLinearRegression *self)
{
  double number = NAN;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NAN);

  return compute_condition_number (self, g_cancellable_get_current (), &number, NULL) ? number : (double) NAN;
}

static gboolean
run_compute_condition_number (AprEstimator *self,
                              AprEstimatorCall *call,
                              GCancellable *cancellable,
                              GError **error)
{
  return compute_condition_number (APR_LINEAR_REGRESSION (self), cancellable, &call->number, error);
}

/**
 * apr_linear_regression_compute_condition_number_async:
 * @self: a linear regression
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the number is known
 * @user_data: data to pass to @callback
 *
 * Computes the condition number without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_compute_condition_number_async (AprLinearRegression *self,
                                                      int io_priority,
                                                      GCancellable *cancellable,
                                                      GAsyncReadyCallback callback,
                                                      gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_compute_condition_number;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_compute_condition_number_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_compute_condition_number_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.compute_condition_number_async] began.
 *
 * Returns: the number as [method@Apr.LinearRegression.compute_condition_number] has it; 0 with
 *   %G_IO_ERROR_CANCELLED, or %APR_ERROR_NO_MEMORY where there is no memory
 *
 * Since: 0.1
 */
double
apr_linear_regression_compute_condition_number_finish (AprLinearRegression *self,
                                                       GAsyncResult *result,
                                                       GError **error)
{
  AprEstimatorCall *call;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);

  call =
    apr_estimator_call_finish (self, result, apr_linear_regression_compute_condition_number_async, error);

  return call != NULL ? call->number : 0;
}

/**
 * apr_linear_regression_get_has_statistics: (get-property has-statistics)
 * @self: a linear regression
 *
 * Tells whether [method@Apr.LinearRegression.get_statistics] has something to tell.
 *
 * Returns: whether that is so
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_has_statistics (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  results = apr_linear_regression_ref_results (self);

  return apr_linear_results_has_statistics (results);
}

/**
 * apr_linear_regression_get_correctly_rounded: (get-property correctly-rounded)
 * @self: a linear regression
 *
 * Tells whether it is proven that each coefficient and intercept is the number of its dtype that is nearest to the
 * exact answer for the data.
 *
 * Returns: whether that is known; false before the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_correctly_rounded (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  results = apr_linear_regression_ref_results (self);

  return results != NULL ? results->correctly_rounded : FALSE;
}

/**
 * apr_linear_regression_get_prediction_rounding: (get-property prediction-rounding)
 * @self: a linear regression
 *
 * Gets by how many standard deviations of its target the rounding of numbers may change a prediction, as
 * [property@Apr.RegressionStatistics:prediction-rounding] explains it. It was computed with the fit.
 *
 * Returns: how many, the most of all targets; NaN where that is not known
 *
 * Since: 0.1
 */
double
apr_linear_regression_get_prediction_rounding (AprLinearRegression *self)
{
  g_autoptr (AprLinearResults) results = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NAN);

  results = apr_linear_regression_ref_results (self);

  return results != NULL ? results->prediction_rounding : (double) NAN;
}

/**
 * apr_linear_regression_get_dependent_features: (get-property dependent-features)
 * @self: a linear regression
 *
 * Gets the names of the features that depend on others before them, or are constant where there is an intercept: those
 * that the rank lacks. Where the features have no names, they are “x0”, “x1” and so on.
 *
 * Returns: (array zero-terminated=1) (transfer full) (nullable): the names in the order of the features; `NULL` before
 *   the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
char **
apr_linear_regression_get_dependent_features (AprLinearRegression *self)
{
  g_autoptr (AprFitted) fitted = NULL;
  const AprLinearResults *results;
  char **names;
  guint i;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  results = fitted->results;
  if (results == NULL || results->dependent == NULL)
    return NULL;

  names = g_new0 (char *, (gsize) results->dependent->len + 1);
  for (i = 0; i < results->dependent->len; i++)
    names[i] = apr_string_new_name ((const char *const *) fitted->names[APR_FEATURE_NAMES], "x",
                                    g_array_index (results->dependent, gsize, i));

  return names;
}

/**
 * apr_linear_regression_get_cross_products: (get-property cross-products)
 * @self: a linear regression
 *
 * Gets the sums of all samples that the model was fitted to, as an object of the caller's own, who may update it.
 *
 * It shares the memory of the model's sums until it is updated, so this takes no time, however many features there
 * are; [method@Apr.CrossProducts.copy] explains it.
 *
 * Returns: (transfer full) (nullable): the sums; `NULL` before the first fit, and where a file holds none
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_linear_regression_get_cross_products (AprLinearRegression *self)
{
  g_autoptr (AprFitted) fitted = NULL;
  const AprLinearResults *results;
  AprCrossProducts *copy;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  results = fitted->results;
  if (results == NULL || results->cross_products == NULL)
    return NULL;

  copy = apr_cross_products_copy (results->cross_products);
  (void) apr_cross_products_set_feature_names (copy, (const char *const *) fitted->names[APR_FEATURE_NAMES],
                                               NULL);
  (void) apr_cross_products_set_target_names (copy, (const char *const *) fitted->names[APR_TARGET_NAMES],
                                              NULL);

  return copy;
}
