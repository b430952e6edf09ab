/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"

void
apr_linear_results_clear (AprLinearResults *self)
{
  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  g_clear_pointer (&self->intercept, apr_tensor_unref);
  g_clear_pointer (&self->dependent, g_array_unref);
  g_clear_object (&self->cross_products);
}

void
apr_linear_regression_take_results (AprLinearRegression *self, AprLinearResults *results)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);
  gboolean other_rounding = priv->results.correctly_rounded != results->correctly_rounded;
  gboolean other_rank = priv->results.rank != results->rank;

  apr_linear_results_clear (&priv->results);
  priv->results = *results;
  *results = (AprLinearResults){ NULL };

  apr_linear_regression_notify_results (self, other_rounding, other_rank);
}

gboolean
apr_linear_regression_check_state (AprLinearRegression *self, const char *what, GError **error)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  if (results->cross_products != NULL)
    return TRUE;

  if (!apr_estimator_get_fitted (APR_ESTIMATOR (self)))
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot %s an unfitted %s: call fit first", what,
                 G_OBJECT_TYPE_NAME (self));
  else
    g_set_error (error, APR_ERROR, APR_ERROR_STATE,
                 "Cannot %s this %s: it was loaded from a file without the sums of its samples, which a "
                 "file holds where the hyper-parameter keep-state is true",
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
 * Returns: (transfer none) (nullable): the weights, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_coefficients (AprLinearRegression *self)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return results->coefficients;
}

/**
 * apr_linear_regression_get_intercept: (get-property intercept)
 * @self: a linear regression
 *
 * Gets the prediction for a sample whose features are all 0, in units of the target.
 *
 * The shape is [1], or [n_targets] when the model was fitted with a matrix of targets.
 *
 * Returns: (transfer none) (nullable): the intercept, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_intercept (AprLinearRegression *self)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return results->intercept;
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
int
apr_linear_regression_get_rank (AprLinearRegression *self)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_RANK_UNKNOWN);

  return results->rank;
}

/**
 * apr_linear_regression_get_condition_number: (get-property condition-number)
 * @self: a linear regression
 *
 * Gets how much an error of the data can grow in the coefficients, at the most: the ratio of the greatest and the least singular value
 * of the data as they are, [1 | X] where there is an intercept, to three digits at least.
 *
 * A fit does not need it: it is worked out from the sums of the samples when it is first asked for, which takes about as
 * long as to solve for the coefficients.
 *
 * Returns: the condition number, an infinity where features depend on each other; NaN before the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
double
apr_linear_regression_get_condition_number (AprLinearRegression *self)
{
  AprLinearResults *results = &apr_linear_regression_get_private (self)->results;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NAN);

  if (results->condition_number == APR_CONDITION_PENDING)
    results->condition_number = apr_least_squares_find_condition (
      apr_cross_products_get_sums (results->cross_products), &results->fitted);

  return results->condition_number;
}

/**
 * apr_linear_regression_get_correctly_rounded: (get-property correctly-rounded)
 * @self: a linear regression
 *
 * Tells whether it is proven that each coefficient and intercept is the number of its dtype that is nearest to the exact answer
 * for the data.
 *
 * Returns: whether that is known; false before the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_correctly_rounded (AprLinearRegression *self)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return results->correctly_rounded;
}

char *
apr_linear_regression_get_feature_name (AprLinearRegression *self, gsize feature)
{
  const char *const *names = apr_estimator_get_feature_names (APR_ESTIMATOR (self));

  return names != NULL ? g_strdup (names[feature]) : g_strdup_printf ("x%" G_GSIZE_FORMAT, feature);
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
  const AprLinearResults *results = apr_linear_regression_get_results (self);
  char **names;
  guint i;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  if (results->dependent == NULL)
    return NULL;

  names = g_new0 (char *, (gsize) results->dependent->len + 1);
  for (i = 0; i < results->dependent->len; i++)
    names[i] = apr_linear_regression_get_feature_name (self, g_array_index (results->dependent, gsize, i));

  return names;
}

/**
 * apr_linear_regression_get_cross_products: (get-property cross-products)
 * @self: a linear regression
 *
 * Gets the sums of all samples that the model was fitted to, in a copy, which the caller may change.
 *
 * Returns: (transfer full) (nullable): the sums; `NULL` before the first fit, and where a file holds none
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_linear_regression_get_cross_products (AprLinearRegression *self)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);
  AprCrossProducts *copy;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  if (results->cross_products == NULL)
    return NULL;

  copy = apr_cross_products_copy (results->cross_products);
  (void) apr_cross_products_set_feature_names (copy, apr_estimator_get_feature_names (APR_ESTIMATOR (self)),
                                               NULL);

  return copy;
}
