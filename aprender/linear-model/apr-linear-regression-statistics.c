/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/least-squares/apr-factor-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/inference/apr-regression-statistics-private.h"
#include "aprender/tensor/apr-tensor-private.h"

#define PRECISION 192

/* Of one target: the columns [1 | independent features | target] of the matrix, and what follows from it. */
typedef struct
{
  gsize n_terms;
  gsize first;   /* 1 where term 0 is the intercept, else 0 */
  gsize *column; /* (owned) by position in the matrix: of Z */
  gsize *term;   /* (owned) by position */
  gsize n;       /* positions, without the target */
  mpz_t *matrix; /* (owned) */
  AprInference inference;
  guint64 df_residual;
} Analysis;

static void
analysis_clear (Analysis *self)
{
  apr_integers_free (self->matrix, apr_triangle (self->n + 1, 0));
  self->matrix = NULL;
  g_clear_pointer (&self->column, g_free);
  g_clear_pointer (&self->term, g_free);
  apr_inference_clear (&self->inference);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Analysis, analysis_clear)

static gboolean
check_method (AprLinearRegression *self, const char *what, GError **error)
{
  if (self->fitted.alpha == 0 && !self->fitted.positive)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "Cannot %s this %s: that is defined for ordinary least squares, but the model was fitted with "
               "the hyper-parameters alpha = %g and positive = %s",
               what, G_OBJECT_TYPE_NAME (self), self->fitted.alpha, self->fitted.positive ? "true" : "false");
  return FALSE;
}

static gboolean
analyse (Analysis *self, AprLinearRegression *model, gsize target, const char *what, GError **error)
{
  AprExactSums *sums;
  gsize n_features;
  gsize n_dependent = 0;
  guint64 n_samples;
  gsize feature;
  gsize i;
  gsize j;

  if (!apr_linear_regression_check_state (model, what, error) || !check_method (model, what, error))
    return FALSE;

  n_features = apr_estimator_get_n_features (APR_ESTIMATOR (model));
  if (target >= apr_estimator_get_n_targets (APR_ESTIMATOR (model)))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "There is no target %" G_GSIZE_FORMAT " (counted from 0): the model has %" G_GSIZE_FORMAT,
                   target, apr_estimator_get_n_targets (APR_ESTIMATOR (model)));
      return FALSE;
    }

  self->first = model->fitted.fit_intercept ? 1 : 0;
  self->n_terms = n_features + self->first;
  self->column = g_new0 (gsize, n_features + 2);
  self->term = g_new0 (gsize, n_features + 2);
  self->n = self->first;
  for (feature = 0; feature < n_features; feature++)
    if (n_dependent < model->dependent->len &&
        g_array_index (model->dependent, gsize, n_dependent) == feature)
      n_dependent++;
    else
      {
        self->term[self->n] = feature + self->first;
        self->column[self->n++] = 1 + feature;
      }
  self->column[self->n] = 1 + n_features + target;

  n_samples = apr_cross_products_get_n_samples (model->cross_products);
  self->df_residual = n_samples > self->n ? n_samples - self->n : 0;

  sums = apr_cross_products_get_sums (model->cross_products);
  self->matrix = apr_integers_new (apr_triangle (self->n + 1, 0));
  for (i = 0; i <= self->n; i++)
    for (j = 0; j <= i; j++)
      apr_exact_sums_get_entry (sums, self->column[i], self->column[j], self->matrix[apr_triangle (i, j)]);

  if (!apr_inference_init (&self->inference, self->matrix, self->n, 1))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "Cannot %s this %s: its sums are not those of any samples with %" G_GSIZE_FORMAT
                   " independent features",
                   what, G_OBJECT_TYPE_NAME (model), self->n - self->first);
      return FALSE;
    }

  return TRUE;
}

/* @number 2^@exponent as the nearest double. */
static double
to_double (const mpf_t number, gint64 exponent)
{
  signed long own_exponent;
  double mantissa = mpf_get_d_2exp (&own_exponent, number);
  mpf_t scaled;
  mpf_t rest;

  /* What GMP has cut off. */
  mpf_init2 (scaled, PRECISION);
  mpf_init2 (rest, PRECISION);
  if (own_exponent >= 0)
    mpf_div_2exp (scaled, number, (mp_bitcnt_t) own_exponent);
  else
    mpf_mul_2exp (scaled, number, (mp_bitcnt_t) -own_exponent);
  mpf_set_d (rest, mantissa);
  mpf_sub (rest, scaled, rest);
  mantissa += mpf_get_d (rest);
  mpf_clear (scaled);
  mpf_clear (rest);

  return ldexp (mantissa, (int) CLAMP (own_exponent + exponent, -5000, 5000));
}

static double
natural_log (const mpf_t number, gint64 exponent)
{
  signed long own_exponent;
  double mantissa = mpf_get_d_2exp (&own_exponent, number);

  return log (mantissa) + (double) (own_exponent + exponent) * G_LN2;
}

/* The sum of squares of a column, about its mean where there is an intercept. */
static void
get_total (const Analysis *self, gsize position, mpf_t total)
{
  mpf_t weights;
  mpz_t product;

  mpf_set_z (total, self->matrix[apr_triangle (position, position)]);
  if (self->first == 0)
    return;

  mpz_init (product);
  mpz_mul (product, self->matrix[apr_triangle (position, position)], self->matrix[0]);
  mpz_submul (product, self->matrix[apr_triangle (position, 0)], self->matrix[apr_triangle (position, 0)]);
  mpf_set_z (total, product);
  mpz_clear (product);
  mpf_init2 (weights, PRECISION);
  mpf_set_z (weights, self->matrix[0]);
  mpf_div (total, total, weights);
  mpf_clear (weights);
}

/* What says how well the model fits as a whole. */
static void
describe_fit (const Analysis *self, AprRegressionStatistics *statistics, gint exponent, double weight_logs)
{
  double n = (double) statistics->n_samples;
  double df_residual = (double) self->df_residual;
  double df_model = (double) (self->n - self->first);
  const mpf_t *residual = &self->inference.residuals[0];
  mpf_t total;
  mpf_t ratio;
  mpf_t explained;

  mpf_init2 (total, PRECISION);
  mpf_init2 (ratio, PRECISION);
  mpf_init2 (explained, PRECISION);

  get_total (self, self->n, total);
  mpf_sub (explained, total, *residual);
  statistics->residual_sum_of_squares = to_double (*residual, exponent);
  statistics->total_sum_of_squares = to_double (total, exponent);

  statistics->residual_variance = statistics->residual_standard_error = NAN;
  if (self->df_residual > 0)
    {
      mpf_set_d (ratio, df_residual);
      mpf_div (ratio, *residual, ratio);
      statistics->residual_variance = to_double (ratio, exponent);
      mpf_sqrt (ratio, ratio);
      statistics->residual_standard_error = to_double (ratio, exponent / 2);
    }

  statistics->r_squared = statistics->adjusted_r_squared = NAN;
  if (mpf_sgn (total) > 0)
    {
      mpf_div (ratio, explained, total);
      statistics->r_squared = to_double (ratio, 0);
      if (self->df_residual > 0)
        {
          mpf_t factor;

          mpf_init2 (factor, PRECISION);
          mpf_set_d (factor, n - (double) self->first);
          mpf_div (ratio, *residual, total);
          mpf_mul (ratio, ratio, factor);
          mpf_set_d (factor, df_residual);
          mpf_div (ratio, ratio, factor);
          mpf_ui_sub (ratio, 1, ratio);
          statistics->adjusted_r_squared = to_double (ratio, 0);
          mpf_clear (factor);
        }
    }

  statistics->f_statistic = NAN;
  if (self->df_residual > 0 && df_model > 0 && mpf_sgn (total) > 0)
    {
      statistics->f_statistic = INFINITY;
      if (mpf_sgn (*residual) > 0)
        {
          mpf_set_d (ratio, df_residual);
          mpf_mul (explained, explained, ratio);
          mpf_set_d (ratio, df_model);
          mpf_mul (ratio, ratio, *residual);
          mpf_div (ratio, explained, ratio);
          statistics->f_statistic = to_double (ratio, 0);
        }
    }
  statistics->f_p_value = apr_f_upper (statistics->f_statistic, df_model, df_residual);

  statistics->log_likelihood = INFINITY;
  if (mpf_sgn (*residual) > 0)
    statistics->log_likelihood =
      weight_logs / 2 - n / 2 * (log (2 * G_PI) + 1 + natural_log (*residual, exponent) - log (n));
  statistics->aic = 2 * (double) self->n - 2 * statistics->log_likelihood;
  statistics->bic = log (n) * (double) self->n - 2 * statistics->log_likelihood;

  mpf_clear (total);
  mpf_clear (ratio);
  mpf_clear (explained);
}

static double *
new_undefined (gsize n)
{
  double *values = g_new (double, n);
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = NAN;

  return values;
}

static AprTensor *
new_vector (const double *values, gsize n)
{
  return apr_tensor_new_from_doubles (values, n, &n, 1, NULL);
}

/* The covariance of two coefficients by position; without degrees of freedom it is not known. */
static void
get_covariance (const Analysis *self, gsize i, gsize j, mpf_t covariance, gint64 *exponent)
{
  mpf_t factor;

  mpf_init2 (factor, PRECISION);
  mpf_set_d (covariance, (double) self->df_residual);
  mpf_div (covariance, self->inference.residuals[0], covariance);
  mpf_set_d (factor, apr_inference_get_inverse (&self->inference, i, j));
  mpf_mul (covariance, covariance, factor);
  *exponent = -(self->inference.scale[i] + self->inference.scale[j]);
  mpf_clear (factor);
}

static void
describe_terms (const Analysis *self,
                AprLinearRegression *model,
                gsize target,
                AprRegressionStatistics *statistics)
{
  gsize n_terms = self->n_terms;
  gsize n_features = n_terms - self->first;
  gsize square[2] = { n_terms, n_terms };
  gboolean exact = model->dependent->len == 0 && apr_tensor_get_dtype (model->coefficients) == APR_DTYPE_F64;
  g_autofree double *coefficients = new_undefined (n_terms);
  g_autofree double *standard_errors = new_undefined (n_terms);
  g_autofree double *t_values = new_undefined (n_terms);
  g_autofree double *p_values = new_undefined (n_terms);
  g_autofree double *inflation = new_undefined (n_terms);
  g_autofree double *covariances = NULL;
  gsize n_covariances;
  mpf_t number;
  mpf_t factor;
  gint64 exponent;
  gsize i;
  gsize j;

  if (!g_size_checked_mul (&n_covariances, n_terms, n_terms))
    g_assert_not_reached ();
  covariances = new_undefined (n_covariances);

  mpf_init2 (number, PRECISION);
  mpf_init2 (factor, PRECISION);
  for (i = 0; i < self->n; i++)
    {
      gsize term = self->term[i];

      if (!exact)
        coefficients[term] = self->inference.solutions[i];
      else if (term < self->first)
        coefficients[term] = apr_tensor_get_double (model->intercept, target, NULL);
      else
        coefficients[term] =
          apr_tensor_get_double (model->coefficients, target * n_features + term - self->first, NULL);

      if (term >= self->first)
        {
          get_total (self, i, number);
          mpf_set_d (factor, apr_inference_get_inverse (&self->inference, i, i));
          mpf_mul (number, number, factor);
          inflation[term] = to_double (number, -2 * self->inference.scale[i]);
        }

      if (self->df_residual == 0)
        continue;

      for (j = 0; j <= i; j++)
        {
          get_covariance (self, i, j, number, &exponent);
          covariances[term * n_terms + self->term[j]] = covariances[self->term[j] * n_terms + term] =
            to_double (number, exponent);
        }
      /* The last one is the variance; its exponent is even. */
      mpf_sqrt (number, number);
      standard_errors[term] = to_double (number, exponent / 2);
      t_values[term] = coefficients[term] / standard_errors[term];
      p_values[term] = apr_t_two_sided (t_values[term], (double) self->df_residual);
    }
  mpf_clear (number);
  mpf_clear (factor);

  statistics->coefficients = new_vector (coefficients, n_terms);
  statistics->standard_errors = new_vector (standard_errors, n_terms);
  statistics->t_values = new_vector (t_values, n_terms);
  statistics->p_values = new_vector (p_values, n_terms);
  statistics->variance_inflation = new_vector (inflation, n_terms);
  statistics->covariance = apr_tensor_new_from_doubles (covariances, n_covariances, square, 2, NULL);
}

/**
 * apr_linear_regression_get_statistics:
 * @self: a fitted linear regression
 * @target: which target, counted from 0
 * @error: return location for an error
 *
 * Works out what the fit says beside the coefficients: how well they are known, and how well the model fits.
 *
 * It takes time in proportion to the third power of the number of features, whatever the number of samples. That works after
 * any kind of fit, and after loading where the file holds the sums ([property@Apr.LinearRegression:keep-state]).
 *
 * Where features depend on each other, the dependent ones are left out, as R does, and the statistics are those of the rest.
 *
 * Returns: (transfer full): the statistics; `NULL` with %APR_ERROR_NOT_FITTED, %APR_ERROR_STATE where the model was loaded
 *   from a file without its sums, %APR_ERROR_RANGE where there is no such target, or %APR_ERROR_FAILED where the fit
 *   was not one of ordinary least squares: with alpha or positive
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_statistics (AprLinearRegression *self, gsize target, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_auto (Analysis) analysis = { 0 };
  gsize i;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  if (!analyse (&analysis, self, target, "tell the statistics of", error))
    return NULL;

  statistics = apr_regression_statistics_new ();
  statistics->n_samples = apr_cross_products_get_n_samples (self->cross_products);
  statistics->df_model = analysis.n - analysis.first;
  statistics->df_residual = analysis.df_residual;
  statistics->terms = g_new0 (char *, analysis.n_terms + 1);
  for (i = 0; i < analysis.n_terms; i++)
    statistics->terms[i] = i < analysis.first
                           ? g_strdup ("(Intercept)")
                           : apr_linear_regression_get_feature_name (self, i - analysis.first);
  describe_fit (&analysis, statistics,
                apr_exact_sums_get_exponent (apr_cross_products_get_sums (self->cross_products)),
                apr_cross_products_get_weight_logs (self->cross_products));
  describe_terms (&analysis, self, target, statistics);

  return g_steal_pointer (&statistics);
}

/**
 * apr_linear_regression_summary:
 * @self: a fitted linear regression
 * @error: return location for an error
 *
 * Writes the statistics of all targets as a text of tables, as [method@Apr.RegressionStatistics.to_string] does for one.
 *
 * Returns: (transfer full): the text; `NULL` as of [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
char *
apr_linear_regression_summary (AprLinearRegression *self, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gsize n_targets;
  gsize target;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  if (!apr_linear_regression_check_state (self, "summarise", error))
    return NULL;

  n_targets = apr_estimator_get_n_targets (APR_ESTIMATOR (self));
  for (target = 0; target < n_targets; target++)
    {
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_statistics (self, target, error);
      g_autofree char *part = NULL;

      if (statistics == NULL)
        return NULL;
      part = apr_regression_statistics_to_string (statistics);
      if (n_targets > 1)
        g_string_append_printf (text, "%sTarget %" G_GSIZE_FORMAT "\n\n", target > 0 ? "\n" : "", target);
      g_string_append (text, part);
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* So much of the exponents of doubles that squares of what is below it, and its sums, are no infinities. */
#define MAX_EXPONENT 100

/* The standard error of the prediction for one row; @z has a place for each position. Without degrees of freedom it is not known.
 */
static double
get_prediction_error (const Analysis *self, AprIntervalKind kind, const double *row, double *z, gint exponent)
{
  gint64 shift = 0;
  double variance;
  double error;
  mpf_t number;
  gsize i;

  if (self->df_residual == 0)
    return NAN;

  for (i = 0; i < self->n; i++)
    {
      double value = i < self->first ? 1 : row[self->column[i] - 1];

      if (value != 0)
        shift = MAX (shift, ilogb (value) - self->inference.scale[i] - exponent / 2 - MAX_EXPONENT);
    }
  for (i = 0; i < self->n; i++)
    {
      gint64 scale = self->inference.scale[i] + exponent / 2 + shift;

      z[i] = ldexp (i < self->first ? 1 : row[self->column[i] - 1], (int) CLAMP (-scale, -5000, 5000));
    }

  /* Beside what had to be made smaller, 1 is nothing. */
  variance = apr_inference_get_leverage (&self->inference, z) +
             (kind == APR_INTERVAL_PREDICTION && shift == 0 ? 1 : 0);
  mpf_init2 (number, PRECISION);
  mpf_set_d (number, variance / (double) self->df_residual);
  mpf_mul (number, number, self->inference.residuals[0]);
  mpf_sqrt (number, number);
  error = to_double (number, exponent / 2 + shift);
  mpf_clear (number);

  return error;
}

/* Ends of the intervals of one target, which stand @stride apart. */
static void
fill_intervals (const Analysis *self,
                AprIntervalKind kind,
                double level,
                gint exponent,
                AprTensor *x,
                const double *predictions,
                gsize stride,
                double *lower,
                double *upper)
{
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (x), NULL);
  g_autofree double *values = g_new (double, shape[1]);
  g_autofree double *z = g_new (double, self->n + 1);
  double t = apr_t_two_sided_inverse (1 - level, (double) self->df_residual);
  gsize row;
  gsize i;

  for (row = 0; row < shape[0]; row++)
    {
      double reach;

      for (i = 0; i < shape[1]; i++)
        values[i] = apr_dtype_read_double (apr_tensor_get_dtype (x), data, row * shape[1] + i);
      reach = t * get_prediction_error (self, kind, values, z, exponent);
      lower[row * stride] = predictions[row * stride] - reach;
      upper[row * stride] = predictions[row * stride] + reach;
    }
}

static gboolean
check_interval (AprLinearRegression *self, double level, GError **error)
{
  g_auto (GStrv) dependent = NULL;
  g_autofree char *names = NULL;

  if (!(level > 0 && level < 1))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The level of confidence must be between 0 and 1, but it is %g", level);
      return FALSE;
    }

  if (!apr_linear_regression_check_state (self, "give intervals with", error))
    return FALSE;

  if (self->dependent->len == 0)
    return TRUE;
  dependent = apr_linear_regression_get_dependent_features (self);
  names = g_strjoinv ("”, “", dependent);
  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "Cannot give intervals with this %s: these features depend on others, so that the data do not "
               "say what each does: “%s”",
               G_OBJECT_TYPE_NAME (self), names);
  return FALSE;
}

/**
 * apr_linear_regression_predict_interval:
 * @self: a fitted linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @level: how sure the intervals are, between 0 and 1, such as 0.95
 * @kind: what is to be within them
 * @lower: (out) (transfer full): the lower ends, F64, in the shape of the predictions
 * @upper: (out) (transfer full): the upper ends
 * @error: return location for an error
 *
 * Predicts, and says within which bounds the truth is with the probability @level: the mean of samples with these features, or
 * one more sample of weight 1. The prediction is in the middle. Where the samples are no more than the terms, nothing is known of
 * the bounds, and they are NaN.
 *
 * Returns: true, or false with %APR_ERROR_RANGE where @level is not between 0 and 1, %APR_ERROR_FAILED where features
 *   depend on each other, or another error of [method@Apr.Estimator.predict] or
 *   [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_predict_interval (AprLinearRegression *self,
                                        AprTensor *x,
                                        double level,
                                        AprIntervalKind kind,
                                        AprTensor **lower,
                                        AprTensor **upper,
                                        GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) middle = NULL;
  g_autofree double *lower_values = NULL;
  g_autofree double *upper_values = NULL;
  const double *values;
  const gsize *shape;
  gsize n_values;
  gsize n_dims;
  gsize n_targets;
  gsize target;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (kind == APR_INTERVAL_CONFIDENCE || kind == APR_INTERVAL_PREDICTION, FALSE);
  g_return_val_if_fail (lower != NULL, FALSE);
  g_return_val_if_fail (upper != NULL, FALSE);

  if (!check_interval (self, level, error))
    return FALSE;
  predictions = apr_estimator_predict (APR_ESTIMATOR (self), x, error);
  if (predictions == NULL)
    return FALSE;
  middle = apr_tensor_cast (predictions, APR_DTYPE_F64, error);
  if (middle == NULL)
    return FALSE;

  n_targets = apr_estimator_get_n_targets (APR_ESTIMATOR (self));
  values = apr_tensor_get_doubles (middle, &n_values, NULL);
  lower_values = g_new (double, n_values);
  upper_values = g_new (double, n_values);
  for (target = 0; target < n_targets; target++)
    {
      g_auto (Analysis) analysis = { 0 };

      if (!analyse (&analysis, self, target, "give intervals with", error))
        return FALSE;
      fill_intervals (&analysis, kind, level,
                      apr_exact_sums_get_exponent (apr_cross_products_get_sums (self->cross_products)), x,
                      values + target, n_targets, lower_values + target, upper_values + target);
    }

  shape = apr_tensor_get_shape (middle, &n_dims);
  *lower = apr_tensor_new_from_doubles (lower_values, n_values, shape, n_dims, NULL);
  *upper = apr_tensor_new_from_doubles (upper_values, n_values, shape, n_dims, NULL);
  return TRUE;
}
