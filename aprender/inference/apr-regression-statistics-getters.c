/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-regression-statistics-private.h"

#include <math.h>

/**
 * apr_regression_statistics_get_terms: (get-property terms)
 * @self: statistics
 *
 * Gets what the entries of the vectors belong to.
 *
 * Returns: (array zero-terminated=1) (transfer none): “(Intercept)”, where there is one, and the names of the features
 *
 * Since: 0.1
 */
const char *const *
apr_regression_statistics_get_terms (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return (const char *const *) self->terms;
}

/**
 * apr_regression_statistics_get_n_samples: (get-property n-samples)
 * @self: statistics
 *
 * Gets the number of samples that count: those whose weight is not 0.
 *
 * Returns: the number of samples
 *
 * Since: 0.1
 */
guint64
apr_regression_statistics_get_n_samples (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), 0);

  return self->n_samples;
}

/**
 * apr_regression_statistics_get_df_model: (get-property df-model)
 * @self: statistics
 *
 * Gets the degrees of freedom of the model: the number of independent features, less 1 where there is no intercept and
 * they make a constant.
 *
 * Returns: the degrees of freedom
 *
 * Since: 0.1
 */
guint64
apr_regression_statistics_get_df_model (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), 0);

  return self->df_model;
}

/**
 * apr_regression_statistics_get_df_residual: (get-property df-residual)
 * @self: statistics
 *
 * Gets the degrees of freedom of the residuals: the number of samples less that of the independent features, and less 1
 * where there is an intercept; 0 where samples are too few.
 *
 * Returns: the degrees of freedom
 *
 * Since: 0.1
 */
guint64
apr_regression_statistics_get_df_residual (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), 0);

  return self->df_residual;
}

/**
 * apr_regression_statistics_get_covariance_kind: (get-property covariance-kind)
 * @self: statistics
 *
 * Gets how the covariance of the coefficients was estimated.
 *
 * Returns: the kind
 *
 * Since: 0.1
 */
AprCovarianceKind
apr_regression_statistics_get_covariance_kind (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), APR_COVARIANCE_CLASSICAL);

  return self->covariance_kind;
}

/**
 * apr_regression_statistics_get_residual_sum_of_squares: (get-property residual-sum-of-squares)
 * @self: statistics
 *
 * Gets the weighted sum of the squared residuals of the exact answer, Σ w (y - a - X b)²; exactly 0 where the fit is
 * exact.
 *
 * Returns: the sum of squares
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_residual_sum_of_squares (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->residual_sum_of_squares;
}

/**
 * apr_regression_statistics_get_total_sum_of_squares: (get-property total-sum-of-squares)
 * @self: statistics
 *
 * Gets the weighted sum of squares of the target, Σ w y², about its weighted mean where there is an intercept, or where
 * features make a constant without one.
 *
 * Returns: the sum of squares
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_total_sum_of_squares (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->total_sum_of_squares;
}

/**
 * apr_regression_statistics_get_residual_variance: (get-property residual-variance)
 * @self: statistics
 *
 * Gets the variance of the errors of a sample of weight 1, σ²: the residual sum of squares by its degrees of
 * freedom, and NaN without any.
 *
 * Returns: the variance
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_residual_variance (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->residual_variance;
}

/**
 * apr_regression_statistics_get_residual_standard_error: (get-property residual-standard-error)
 * @self: statistics
 *
 * Gets the root of the residual variance, σ, which R calls the residual standard error, and NIST the residual
 * standard deviation.
 *
 * Returns: the standard error
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_residual_standard_error (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->residual_standard_error;
}

/**
 * apr_regression_statistics_get_r_squared: (get-property r-squared)
 * @self: statistics
 *
 * Gets the coefficient of determination, R²: 1 minus the residual sum of squares divided by the total one. NaN where
 * the latter is 0.
 *
 * Returns: R²
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_r_squared (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->r_squared;
}

/**
 * apr_regression_statistics_get_adjusted_r_squared: (get-property adjusted-r-squared)
 * @self: statistics
 *
 * Gets R² with both sums of squares by their degrees of freedom.
 *
 * Returns: the adjusted R²
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_adjusted_r_squared (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->adjusted_r_squared;
}

/**
 * apr_regression_statistics_get_f_statistic: (get-property f-statistic)
 * @self: statistics
 *
 * Gets the F-statistic of the model against one that has the intercept or the constant only, or nothing where there
 * is none; NaN without independent features.
 *
 * Returns: F
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_f_statistic (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->f_statistic;
}

/**
 * apr_regression_statistics_get_f_p_value: (get-property f-p-value)
 * @self: statistics
 *
 * Gets the probability of an F at least as large where no feature has any effect.
 *
 * Returns: the p-value
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_f_p_value (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->f_p_value;
}

/**
 * apr_regression_statistics_get_log_likelihood: (get-property log-likelihood)
 * @self: statistics
 *
 * Gets the logarithm of the likelihood, where errors are normal with the variance σ² / w: that of σ² = residual sum
 * of squares / n.
 *
 * Returns: the log-likelihood
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_log_likelihood (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->log_likelihood;
}

/**
 * apr_regression_statistics_get_aic: (get-property aic)
 * @self: statistics
 *
 * Gets Akaike's criterion, 2 k - 2 log-likelihood, where k counts the coefficients and the intercept, as statsmodels
 * does; R counts σ too, and has 2 more.
 *
 * Returns: the criterion
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_aic (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->aic;
}

/**
 * apr_regression_statistics_get_bic: (get-property bic)
 * @self: statistics
 *
 * Gets the Bayesian (Schwarz's) criterion, k log n - 2 log-likelihood, with k as of
 * [property@Apr.RegressionStatistics:aic]; R has log n more.
 *
 * Returns: the criterion
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_bic (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->bic;
}

/**
 * apr_regression_statistics_get_condition_number: (get-property condition-number)
 * @self: statistics
 *
 * Gets the condition number of the data: by how much an error of them can grow in the coefficients where the residuals
 * are small.
 *
 * Returns: the condition number, infinity where features depend on each other
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_condition_number (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->condition_number;
}

/**
 * apr_regression_statistics_get_prediction_rounding: (get-property prediction-rounding)
 * @self: statistics
 *
 * Gets by how many standard deviations of the target the rounding of numbers may change a prediction of the model, as
 * [property@Apr.RegressionStatistics:prediction-rounding] explains it.
 *
 * Returns: how many, or NaN where it is not known
 *
 * Since: 0.1
 */
double
apr_regression_statistics_get_prediction_rounding (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NAN);

  return self->prediction_rounding;
}

/**
 * apr_regression_statistics_get_coefficients: (get-property coefficients)
 * @self: statistics
 *
 * Gets the estimates, [n_terms], with NaN for features that depend on features before them.
 *
 * Returns: (transfer none): the estimates
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_coefficients (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->coefficients;
}

/**
 * apr_regression_statistics_get_minimum_norm: (get-property minimum-norm)
 * @self: statistics
 *
 * Gets the intercept and the coefficients of the model itself, [n_terms].
 *
 * Returns: (transfer none): the coefficients of minimum norm
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_minimum_norm (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->minimum_norm;
}

/**
 * apr_regression_statistics_get_standard_errors: (get-property standard-errors)
 * @self: statistics
 *
 * Gets the standard errors of the coefficients, [n_terms]; NaN for features that are left out.
 *
 * Returns: (transfer none): the standard errors
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_standard_errors (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->standard_errors;
}

/**
 * apr_regression_statistics_get_t_values: (get-property t-values)
 * @self: statistics
 *
 * Gets the coefficients divided by their standard errors, [n_terms].
 *
 * Returns: (transfer none): the t-values
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_t_values (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->t_values;
}

/**
 * apr_regression_statistics_get_p_values: (get-property p-values)
 * @self: statistics
 *
 * Gets the probabilities of t-values at least as far from 0 where the coefficient is 0, [n_terms].
 *
 * Returns: (transfer none): the p-values
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_p_values (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->p_values;
}

/**
 * apr_regression_statistics_get_variance_inflation: (get-property variance-inflation)
 * @self: statistics
 *
 * Gets how many times greater the variance of a coefficient is than if its feature were uncorrelated with the
 * others, [n_terms]; NaN for the intercept. Without an intercept, correlations are those about 0 instead of the
 * means.
 *
 * Returns: (transfer none): the factors
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_variance_inflation (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->variance_inflation;
}

/**
 * apr_regression_statistics_get_covariance: (get-property covariance)
 * @self: statistics
 *
 * Gets the covariance matrix of the coefficients, [n_terms, n_terms].
 *
 * Returns: (transfer none): the matrix; [0, 0] where there are more than 4,096 terms, and at least half of them are
 *   undefined
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_covariance (AprRegressionStatistics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return self->covariance;
}
