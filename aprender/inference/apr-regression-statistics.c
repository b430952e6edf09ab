/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-regression-statistics-private.h"

#include <math.h>

#include "aprender/inference/apr-hypothesis-test-private.h"
#include "aprender/inference/apr-term.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * AprRegressionStatistics:
 *
 * The statistics of a fitted linear regression for one target: standard errors, t-values, p-values and intervals of
 * the coefficients, and how well the model fits as a whole.
 *
 * ```c
 * g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_statistics (model, 0, &error);
 *
 * if (statistics == NULL)
 *   return FALSE;
 * g_print ("R² %g, p %g\n", apr_regression_statistics_get_r_squared (statistics),
 *          apr_regression_statistics_get_f_p_value (statistics));
 * ```
 *
 * [method@Apr.LinearRegression.get_statistics] computes them. Vectors have an entry for each term: the intercept, where
 * there is one, and the features in order.
 *
 * The statistics are also a list of their terms, a [iface@Gio.ListModel] of [class@Apr.Term]: in a program that uses
 * GTK, `gtk_no_selection_new (gtk_sort_list_model_new (statistics, sorter))` is the model of a `GtkColumnView`.
 *
 * Weights are precision weights, as in R's `lm` and statsmodels' `WLS`: the errors of a sample of weight w have the
 * variance σ² / w, and a sample of weight 0 does not count. With W the weights and Z = [1 | X], σ² is the residual sum
 * of squares divided by its degrees of freedom, and the covariance of the coefficients is σ² (Z'WZ)^-1. Tests and
 * intervals assume independent normal errors. All numbers come from the exact cross products of the data: sums of
 * squares, standard errors and variances have a relative error below 2^-51, covariances one below 2^-51 of the product
 * of both standard errors, where what is below 2^-55 of that is 0, and robust errors one of about 1e-15, or of up to
 * 1e-30 times the largest variance inflation, and more where a leverage is near 1 or where the residuals that an error
 * is of are small beside others. Where these are 0, or so small that fewer than three digits may be right, the robust
 * error is NaN, and so is what depends on it.
 *
 * With the precision `DOUBLE` the cross products are rounded. Then the residual sum of squares is off by up to about
 * 2^-50 of the sums of squares of the target and of the terms b x of its predictions, all about their means, and
 * standard errors also by that times the variance inflation factors, relative to themselves. A residual sum of squares
 * that is smaller than its error is NaN, and so is what depends on it; R² is not, as its error is small beside 1.
 *
 * An object that a program creates itself has no terms and NaN for all numbers, and its text says so.
 *
 * ## Threads, memory and blocking
 *
 * Statistics never change, so that any number of threads may read them at once; fitting the model again does not affect
 * them. The object owns its tensors, and refers neither to the samples nor to the model. Getters take constant time,
 * and so does making a term of the list. [method@Apr.RegressionStatistics.test_hypothesis], which has an asynchronous
 * twin, takes time with the number of hypotheses, and [method@Apr.RegressionStatistics.to_string] two microseconds a
 * term.
 *
 * Since: 0.1
 */
static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (AprRegressionStatistics,
                               apr_regression_statistics,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

G_DEFINE_ENUM_TYPE (AprIntervalKind,
                    apr_interval_kind,
                    G_DEFINE_ENUM_VALUE (APR_INTERVAL_PREDICTION, "prediction"),
                    G_DEFINE_ENUM_VALUE (APR_INTERVAL_CONFIDENCE, "confidence"))

static GType
get_item_type (GListModel *list)
{
  return APR_TYPE_TERM;
}

static guint
get_n_items (GListModel *list)
{
  return APR_REGRESSION_STATISTICS (list)->items->len;
}

static gpointer
get_item (GListModel *list, guint position)
{
  AprRegressionStatistics *self = APR_REGRESSION_STATISTICS (list);

  return position < self->items->len ? g_object_ref (g_ptr_array_index (self->items, position)) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_ENUM_TYPE (AprCovarianceKind,
                    apr_covariance_kind,
                    G_DEFINE_ENUM_VALUE (APR_COVARIANCE_CLASSICAL, "classical"),
                    G_DEFINE_ENUM_VALUE (APR_COVARIANCE_HC0, "hc0"),
                    G_DEFINE_ENUM_VALUE (APR_COVARIANCE_HC1, "hc1"),
                    G_DEFINE_ENUM_VALUE (APR_COVARIANCE_HC2, "hc2"),
                    G_DEFINE_ENUM_VALUE (APR_COVARIANCE_HC3, "hc3"))

enum
{
  PROP_TERMS = 1,
  PROP_N_SAMPLES,
  PROP_DF_MODEL,
  PROP_DF_RESIDUAL,
  PROP_COVARIANCE_KIND,
  PROP_RESIDUAL_SUM_OF_SQUARES,
  PROP_TOTAL_SUM_OF_SQUARES,
  PROP_RESIDUAL_VARIANCE,
  PROP_RESIDUAL_STANDARD_ERROR,
  PROP_R_SQUARED,
  PROP_ADJUSTED_R_SQUARED,
  PROP_F_STATISTIC,
  PROP_F_P_VALUE,
  PROP_LOG_LIKELIHOOD,
  PROP_AIC,
  PROP_BIC,
  PROP_CONDITION_NUMBER,
  PROP_PREDICTION_ROUNDING,
  PROP_COEFFICIENTS,
  PROP_MINIMUM_NORM,
  PROP_STANDARD_ERRORS,
  PROP_T_VALUES,
  PROP_P_VALUES,
  PROP_VARIANCE_INFLATION,
  PROP_COVARIANCE,
  N_PROPS,
};

/* The field that is the value of each property. */
#define FIELD(name) G_STRUCT_OFFSET (AprRegressionStatistics, name)
static const gsize fields[N_PROPS] = {
  [PROP_TERMS] = FIELD (terms),
  [PROP_N_SAMPLES] = FIELD (n_samples),
  [PROP_DF_MODEL] = FIELD (df_model),
  [PROP_DF_RESIDUAL] = FIELD (df_residual),
  [PROP_COVARIANCE_KIND] = FIELD (covariance_kind),
  [PROP_RESIDUAL_SUM_OF_SQUARES] = FIELD (residual_sum_of_squares),
  [PROP_TOTAL_SUM_OF_SQUARES] = FIELD (total_sum_of_squares),
  [PROP_RESIDUAL_VARIANCE] = FIELD (residual_variance),
  [PROP_RESIDUAL_STANDARD_ERROR] = FIELD (residual_standard_error),
  [PROP_R_SQUARED] = FIELD (r_squared),
  [PROP_ADJUSTED_R_SQUARED] = FIELD (adjusted_r_squared),
  [PROP_F_STATISTIC] = FIELD (f_statistic),
  [PROP_F_P_VALUE] = FIELD (f_p_value),
  [PROP_LOG_LIKELIHOOD] = FIELD (log_likelihood),
  [PROP_AIC] = FIELD (aic),
  [PROP_BIC] = FIELD (bic),
  [PROP_CONDITION_NUMBER] = FIELD (condition_number),
  [PROP_PREDICTION_ROUNDING] = FIELD (prediction_rounding),
  [PROP_COEFFICIENTS] = FIELD (coefficients),
  [PROP_MINIMUM_NORM] = FIELD (minimum_norm),
  [PROP_STANDARD_ERRORS] = FIELD (standard_errors),
  [PROP_T_VALUES] = FIELD (t_values),
  [PROP_P_VALUES] = FIELD (p_values),
  [PROP_VARIANCE_INFLATION] = FIELD (variance_inflation),
  [PROP_COVARIANCE] = FIELD (covariance),
};
#undef FIELD

static GParamSpec *properties[N_PROPS];

static void
apr_regression_statistics_finalize (GObject *object)
{
  AprRegressionStatistics *self = APR_REGRESSION_STATISTICS (object);

  g_strfreev (self->terms);
  g_ptr_array_unref (self->items);
  apr_covariance_clear (&self->factors);
  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  g_clear_pointer (&self->minimum_norm, apr_tensor_unref);
  g_clear_pointer (&self->standard_errors, apr_tensor_unref);
  g_clear_pointer (&self->t_values, apr_tensor_unref);
  g_clear_pointer (&self->p_values, apr_tensor_unref);
  g_clear_pointer (&self->variance_inflation, apr_tensor_unref);
  g_clear_pointer (&self->covariance, apr_tensor_unref);

  G_OBJECT_CLASS (apr_regression_statistics_parent_class)->finalize (object);
}

static void
apr_regression_statistics_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  gconstpointer field = G_STRUCT_MEMBER_P (object, fields[property_id]);

  if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, *(const double *) field);
  else if (G_VALUE_HOLDS_UINT64 (value))
    g_value_set_uint64 (value, *(const guint64 *) field);
  else if (G_VALUE_HOLDS_ENUM (value))
    g_value_set_enum (value, *(const AprCovarianceKind *) field);
  else
    g_value_set_boxed (value, *(gconstpointer const *) field);
}

static void
apr_regression_statistics_class_init (AprRegressionStatisticsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_regression_statistics_finalize;
  object_class->get_property = apr_regression_statistics_get_property;

  /**
   * AprRegressionStatistics:terms: (getter get_terms)
   *
   * What the entries of the vectors belong to: “(Intercept)”, where there is one, and the names of the features, or
   * “x0”, “x1” and so on where they have none.
   *
   * Since: 0.1
   */
  properties[PROP_TERMS] = g_param_spec_boxed ("terms", NULL, NULL, G_TYPE_STRV, flags);

  /**
   * AprRegressionStatistics:n-samples: (getter get_n_samples)
   *
   * The number of samples that count: those whose weight is not 0.
   *
   * Since: 0.1
   */
  properties[PROP_N_SAMPLES] = g_param_spec_uint64 ("n-samples", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprRegressionStatistics:df-model: (getter get_df_model)
   *
   * The degrees of freedom of the model: the number of independent features, less 1 where these make a constant
   * without an intercept: a column of ones, or all dummies of a category.
   *
   * Since: 0.1
   */
  properties[PROP_DF_MODEL] = g_param_spec_uint64 ("df-model", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprRegressionStatistics:df-residual: (getter get_df_residual)
   *
   * The degrees of freedom of the residuals: the number of samples less that of the independent features, and less 1
   * where there is an intercept; 0 where samples are too few.
   *
   * Since: 0.1
   */
  properties[PROP_DF_RESIDUAL] = g_param_spec_uint64 ("df-residual", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprRegressionStatistics:covariance-kind: (getter get_covariance_kind)
   *
   * How the covariance of the coefficients was estimated, and with it their standard errors, t-values, p-values and
   * intervals, and the F-statistic.
   *
   * Since: 0.1
   */
  properties[PROP_COVARIANCE_KIND] = g_param_spec_enum (
    "covariance-kind", NULL, NULL, APR_TYPE_COVARIANCE_KIND, APR_COVARIANCE_CLASSICAL, flags);

  /**
   * AprRegressionStatistics:residual-sum-of-squares: (getter get_residual_sum_of_squares)
   *
   * The weighted sum of the squared residuals of the exact answer, Σ w (y - a - X b)²; exactly 0 where the fit is
   * exact.
   *
   * Since: 0.1
   */
  properties[PROP_RESIDUAL_SUM_OF_SQUARES] =
    g_param_spec_double ("residual-sum-of-squares", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:total-sum-of-squares: (getter get_total_sum_of_squares)
   *
   * The weighted sum of squares of the target, Σ w y², about its weighted mean where there is an intercept, or where
   * features make a constant without one, as statsmodels has it; R asks for the intercept only.
   *
   * Since: 0.1
   */
  properties[PROP_TOTAL_SUM_OF_SQUARES] =
    g_param_spec_double ("total-sum-of-squares", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:residual-variance: (getter get_residual_variance)
   *
   * The variance of the errors of a sample of weight 1, σ²: the residual sum of squares by its degrees of freedom,
   * and NaN without any.
   *
   * Since: 0.1
   */
  properties[PROP_RESIDUAL_VARIANCE] =
    g_param_spec_double ("residual-variance", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:residual-standard-error: (getter get_residual_standard_error)
   *
   * The root of the residual variance, σ, which R calls the residual standard error, and NIST the residual standard
   * deviation.
   *
   * Since: 0.1
   */
  properties[PROP_RESIDUAL_STANDARD_ERROR] =
    g_param_spec_double ("residual-standard-error", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:r-squared: (getter get_r_squared)
   *
   * The coefficient of determination, R²: 1 minus the residual sum of squares divided by the total one. NaN where the
   * latter is 0.
   *
   * Since: 0.1
   */
  properties[PROP_R_SQUARED] =
    g_param_spec_double ("r-squared", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:adjusted-r-squared: (getter get_adjusted_r_squared)
   *
   * R² with both sums of squares by their degrees of freedom.
   *
   * Since: 0.1
   */
  properties[PROP_ADJUSTED_R_SQUARED] =
    g_param_spec_double ("adjusted-r-squared", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:f-statistic: (getter get_f_statistic)
   *
   * The F-statistic of the model against one that has the intercept or the constant only, or nothing where there is
   * none; NaN without any other feature. By a robust covariance it is that of Wald's test.
   *
   * Since: 0.1
   */
  properties[PROP_F_STATISTIC] =
    g_param_spec_double ("f-statistic", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:f-p-value: (getter get_f_p_value)
   *
   * The probability of an F at least as large where no feature has any effect.
   *
   * Since: 0.1
   */
  properties[PROP_F_P_VALUE] =
    g_param_spec_double ("f-p-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:log-likelihood: (getter get_log_likelihood)
   *
   * The logarithm of the likelihood, where errors are normal with the variance σ² / w and σ² = residual sum of
   * squares / n: Σ log w / 2 - n/2 (1 + log 2π + log σ²), as R and statsmodels have it. Samples whose weight is 0 do
   * not count, as in R; statsmodels gives minus infinity for them.
   *
   * Since: 0.1
   */
  properties[PROP_LOG_LIKELIHOOD] =
    g_param_spec_double ("log-likelihood", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:aic: (getter get_aic)
   *
   * Akaike's criterion, 2 k - 2 log-likelihood, where k counts the coefficients and the intercept, as statsmodels
   * does; R counts σ too, and has 2 more.
   *
   * Since: 0.1
   */
  properties[PROP_AIC] = g_param_spec_double ("aic", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:bic: (getter get_bic)
   *
   * The Bayesian (Schwarz's) criterion, k log n - 2 log-likelihood, with k as of
   * [property@Apr.RegressionStatistics:aic]; R has log n more.
   *
   * Since: 0.1
   */
  properties[PROP_BIC] = g_param_spec_double ("bic", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:condition-number: (getter get_condition_number)
   *
   * The ratio of the largest and the smallest singular value of the data as they are, [1 | X] where there is an
   * intercept, each row times the root of its weight, to three digits at least. Infinity where features depend on each
   * other. By so much an error of the data can grow in the coefficients where the residuals are small; else by up to
   * its square, times the size of the residuals.
   *
   * Since: 0.1
   */
  properties[PROP_CONDITION_NUMBER] =
    g_param_spec_double ("condition-number", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:prediction-rounding: (getter get_prediction_rounding)
   *
   * By how many standard deviations of the target the rounding of numbers may change a prediction of the model:
   * u Σ |b_j| q (x_j) / s (y), where b are the coefficients, the intercept that of a column of ones, q is the root of
   * the mean square, s the standard deviation, and u is 2^-53, or 2^-24 for features in F32 and for all terms of
   * coefficients in F32.
   *
   * It is about 10^-15 for most models. Where it is large, the terms of a prediction are so much larger than what it
   * varies by that this has lost its digits: features depend on each other but for their own rounding, as shares of a
   * whole do, or features or the target are far from 0, in F32 most often. From 0.0001 on,
   * [method@Apr.RegressionStatistics.to_string] warns of it.
   *
   * NaN where it is not known, as there are far more features than samples.
   *
   * Since: 0.1
   */
  properties[PROP_PREDICTION_ROUNDING] =
    g_param_spec_double ("prediction-rounding", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionStatistics:coefficients: (getter get_coefficients)
   *
   * The estimates, [n_terms]. Where features depend on each other, those that depend on features before them are
   * NaN, as R has them, and the others are those of the model without them; see
   * [property@Apr.RegressionStatistics:minimum-norm].
   *
   * Since: 0.1
   */
  properties[PROP_COEFFICIENTS] = g_param_spec_boxed ("coefficients", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:minimum-norm: (getter get_minimum_norm)
   *
   * The intercept and the coefficients of the model itself, [n_terms]: where features depend on each other, those of
   * the least sum of squares among all that fit equally well. They predict the same as
   * [property@Apr.RegressionStatistics:coefficients] for rows that satisfy the same linear relations as the samples of
   * the fit, and are equal to them where features are independent.
   *
   * Since: 0.1
   */
  properties[PROP_MINIMUM_NORM] = g_param_spec_boxed ("minimum-norm", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:standard-errors: (getter get_standard_errors)
   *
   * The standard errors of the coefficients, [n_terms]; NaN for features that are left out, and for robust ones of
   * which rounding leaves fewer than three digits.
   *
   * Since: 0.1
   */
  properties[PROP_STANDARD_ERRORS] =
    g_param_spec_boxed ("standard-errors", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:t-values: (getter get_t_values)
   *
   * The coefficients divided by their standard errors, [n_terms].
   *
   * Since: 0.1
   */
  properties[PROP_T_VALUES] = g_param_spec_boxed ("t-values", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:p-values: (getter get_p_values)
   *
   * The probabilities of t-values at least as far from 0 where the coefficient is 0, [n_terms].
   *
   * Since: 0.1
   */
  properties[PROP_P_VALUES] = g_param_spec_boxed ("p-values", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:variance-inflation: (getter get_variance_inflation)
   *
   * How many times greater the variance of a coefficient is than if its feature were uncorrelated with the others,
   * [n_terms]; NaN for the intercept, or a column that is constant. Where there is neither, correlations are those
   * about 0 instead of the means.
   *
   * Since: 0.1
   */
  properties[PROP_VARIANCE_INFLATION] =
    g_param_spec_boxed ("variance-inflation", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionStatistics:covariance: (getter get_covariance)
   *
   * The covariance matrix of the coefficients, [n_terms, n_terms].
   *
   * It is [0, 0] where there are more than 4,096 terms, and at least half of them are undefined, as there are far more
   * features than samples.
   *
   * Since: 0.1
   */
  properties[PROP_COVARIANCE] = g_param_spec_boxed ("covariance", NULL, NULL, APR_TYPE_TENSOR, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_regression_statistics_init (AprRegressionStatistics *self)
{
  const gsize shape[] = { 0, 0 };

  /* Scripts can make an object that nobody fills in: it has no terms, and nothing is known of the fit. */
  self->terms = g_new0 (char *, 1);
  self->residual_sum_of_squares = self->total_sum_of_squares = NAN;
  self->residual_variance = self->residual_standard_error = NAN;
  self->r_squared = self->adjusted_r_squared = NAN;
  self->f_statistic = self->f_p_value = NAN;
  self->log_likelihood = self->aic = self->bic = NAN;
  self->condition_number = self->prediction_rounding = NAN;
  self->items = g_ptr_array_new_with_free_func (g_object_unref);
  self->coefficients = apr_tensor_new_from_doubles (NULL, 0, shape, 1, NULL);
  self->minimum_norm = apr_tensor_ref (self->coefficients);
  self->standard_errors = apr_tensor_ref (self->coefficients);
  self->t_values = apr_tensor_ref (self->coefficients);
  self->p_values = apr_tensor_ref (self->coefficients);
  self->variance_inflation = apr_tensor_ref (self->coefficients);
  self->covariance = apr_tensor_new_from_doubles (NULL, 0, shape, 2, NULL);
}

AprRegressionStatistics *
apr_regression_statistics_new (void)
{
  return g_object_new (APR_TYPE_REGRESSION_STATISTICS, NULL);
}

/**
 * apr_regression_statistics_get_confidence_intervals:
 * @self: statistics
 * @level: how sure the intervals are, between 0 and 1, such as 0.95
 * @error: return location for an error
 *
 * Gets intervals that hold the true coefficients with the probability @level each: the coefficients, plus and minus
 * as many standard errors as the quantile of Student's t.
 *
 * Returns: (transfer full): the lower and the upper ends, [n_terms, 2]; `NULL` with %APR_ERROR_RANGE where @level is
 *   not between 0 and 1
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_statistics_get_confidence_intervals (AprRegressionStatistics *self,
                                                    double level,
                                                    GError **error)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return apr_find_confidence_intervals (self->coefficients, self->standard_errors, self->df_residual, level,
                                        error);
}
