/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

/* The hyper-parameters of a linear regression that are single numbers: getters and setters. */

#define SET_OPTION(self, member, value, property)                                              \
 apr_linear_regression_set_option (self, G_STRUCT_OFFSET (AprLinearOptions, member), &(value), \
                                   sizeof (value), property)

/**
 * apr_linear_regression_get_fit_intercept: (get-property fit-intercept)
 * @self: a linear regression
 *
 * Tells whether a fit looks for an intercept.
 *
 * Returns: whether there is one
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_fit_intercept (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return apr_linear_regression_get_options (self).solver.fit_intercept;
}

/**
 * apr_linear_regression_set_fit_intercept: (set-property fit-intercept)
 * @self: a linear regression
 * @fit_intercept: whether there is an intercept
 *
 * Sets whether the next fit has an intercept; without one, the model passes through the origin.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_fit_intercept (AprLinearRegression *self, gboolean fit_intercept)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  fit_intercept = !!fit_intercept;
  SET_OPTION (self, solver.fit_intercept, fit_intercept, "fit-intercept");
}

/**
 * apr_linear_regression_get_alpha: (get-property alpha)
 * @self: a linear regression
 *
 * Gets how much large coefficients cost.
 *
 * Returns: the factor of the sum of their squares
 *
 * Since: 0.1
 */
double
apr_linear_regression_get_alpha (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);

  return apr_linear_regression_get_options (self).solver.alpha;
}

/**
 * apr_linear_regression_set_alpha: (set-property alpha)
 * @self: a linear regression
 * @alpha: a finite number of at least 0
 *
 * Sets the ridge penalty: 0 is ordinary least squares. A negative or non-finite value makes the next fit fail with
 * %APR_ERROR_RANGE.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_alpha (AprLinearRegression *self, double alpha)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  SET_OPTION (self, solver.alpha, alpha, "alpha");
}

/**
 * apr_linear_regression_get_positive: (get-property positive)
 * @self: a linear regression
 *
 * Tells whether no coefficient may be below 0.
 *
 * Returns: whether that is so
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_positive (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return apr_linear_regression_get_options (self).solver.positive;
}

/**
 * apr_linear_regression_set_positive: (set-property positive)
 * @self: a linear regression
 * @positive: whether coefficients must be at least 0
 *
 * Sets whether the next fit is restricted to coefficients of at least 0.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_positive (AprLinearRegression *self, gboolean positive)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  positive = !!positive;
  SET_OPTION (self, solver.positive, positive, "positive");
}

/**
 * apr_linear_regression_get_dtype: (get-property dtype)
 * @self: a linear regression
 *
 * Gets the dtype that was asked for; that of a fitted model is its coefficients'.
 *
 * Returns: F32, F64, or %APR_DTYPE_NONE to follow X
 *
 * Since: 0.1
 */
AprDType
apr_linear_regression_get_dtype (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_DTYPE_NONE);

  return apr_linear_regression_get_options (self).solver.dtype;
}

/**
 * apr_linear_regression_set_dtype: (set-property dtype)
 * @self: a linear regression
 * @dtype: F32, F64, or %APR_DTYPE_NONE to follow X
 *
 * Chooses the dtype that the next fit rounds to. Any other dtype makes it fail.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_dtype (AprLinearRegression *self, AprDType dtype)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (dtype >= APR_DTYPE_NONE && dtype <= APR_DTYPE_U64);

  SET_OPTION (self, solver.dtype, dtype, "dtype");
}

/**
 * apr_linear_regression_get_precision: (get-property precision)
 * @self: a linear regression
 *
 * Gets how the products of the data are summed.
 *
 * Returns: the precision
 *
 * Since: 0.1
 */
AprPrecision
apr_linear_regression_get_precision (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_PRECISION_EXACT);

  return apr_linear_regression_get_options (self).precision;
}

/**
 * apr_linear_regression_set_precision: (set-property precision)
 * @self: a linear regression
 * @precision: the precision
 *
 * Sets how the next fit sums the products of the data.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_precision (AprLinearRegression *self, AprPrecision precision)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (precision >= APR_PRECISION_EXACT && precision <= APR_PRECISION_DOUBLE);

  SET_OPTION (self, precision, precision, "precision");
}

/**
 * apr_linear_regression_get_keep_state: (get-property keep-state)
 * @self: a linear regression
 *
 * Tells whether a file holds the sums of the samples too.
 *
 * Returns: whether they are kept
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_keep_state (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return apr_linear_regression_get_options (self).keep_state;
}

/**
 * apr_linear_regression_set_keep_state: (set-property keep-state)
 * @self: a linear regression
 * @keep_state: whether to keep them
 *
 * Sets whether files hold the cross products of the samples too. Saving a model that was itself loaded without
 * them then fails with %APR_ERROR_STATE.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_keep_state (AprLinearRegression *self, gboolean keep_state)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  keep_state = !!keep_state;
  SET_OPTION (self, keep_state, keep_state, "keep-state");
}

/**
 * apr_linear_regression_get_n_threads: (get-property n-threads)
 * @self: a linear regression
 *
 * Gets how many threads a fit, or a prediction, uses at the most.
 *
 * Returns: their number, 0 for as many as there are processors
 *
 * Since: 0.1
 */
guint
apr_linear_regression_get_n_threads (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);

  return apr_linear_regression_get_options (self).n_threads;
}

/**
 * apr_linear_regression_set_n_threads: (set-property n-threads)
 * @self: a linear regression
 * @n_threads: any number, 0 for as many as there are processors
 *
 * Limits the threads of each fit and prediction from now on. No more are started than the work is worth, nor more than
 * 1024. Answers do not depend on it.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_n_threads (AprLinearRegression *self, guint n_threads)
{
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  SET_OPTION (self, n_threads, n_threads, "n-threads");
}
