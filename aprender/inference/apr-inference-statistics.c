/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/inference/apr-covariance-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/inference/apr-hypothesis-test-private.h"
#include "aprender/inference/apr-regression-statistics-private.h"
#include "aprender/inference/apr-term-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/tensor/apr-tensor-private.h"

static double
natural_log (const mpf_t number, gint64 exponent)
{
  signed long own_exponent;
  double mantissa = mpf_get_d_2exp (&own_exponent, number);

  return log (mantissa) + (double) (own_exponent + exponent) * G_LN2;
}

/* What says how well the model fits as a whole. */
static void
describe_fit (const AprInference *self, gsize target, AprRegressionStatistics *statistics)
{
  double n = (double) self->n_samples;
  double df_residual = (double) self->df_residual;
  double n_constants = self->first > 0 || self->constant != NULL ? 1 : 0;
  double df_model = (double) self->n - n_constants;
  gboolean certain = !apr_inference_is_uncertain (self, target);
  const mpf_t *residual = &self->residuals[target];
  const mpf_t *total = &self->totals[target];
  mpf_t ratio;
  mpf_t explained;

  mpf_init2 (ratio, APR_INFERENCE_PRECISION);
  mpf_init2 (explained, APR_INFERENCE_PRECISION);

  if (df_model > 0)
    mpf_set (explained, self->explained[target]);
  statistics->residual_sum_of_squares =
    certain ? apr_inference_to_double (*residual, self->exponent) : (double) NAN;
  statistics->total_sum_of_squares = apr_inference_to_double (*total, self->exponent);

  if (self->df_residual > 0 && certain)
    {
      mpf_set_d (ratio, df_residual);
      mpf_div (ratio, *residual, ratio);
      statistics->residual_variance = apr_inference_to_double (ratio, self->exponent);
      mpf_sqrt (ratio, ratio);
      statistics->residual_standard_error = apr_inference_to_double (ratio, self->exponent / 2);
    }

  if (mpf_sgn (*total) > 0)
    {
      mpf_div (ratio, explained, *total);
      statistics->r_squared = apr_inference_to_double (ratio, 0);
      if (self->df_residual > 0)
        {
          mpf_t factor;

          mpf_init2 (factor, APR_INFERENCE_PRECISION);
          mpf_set_d (factor, n - n_constants);
          mpf_div (ratio, *residual, *total);
          mpf_mul (ratio, ratio, factor);
          mpf_set_d (factor, df_residual);
          mpf_div (ratio, ratio, factor);
          mpf_ui_sub (ratio, 1, ratio);
          /* Of the mean alone nothing is explained: not even what rounding leaves of it. */
          if (df_model == 0)
            mpf_set_ui (ratio, 0);
          statistics->adjusted_r_squared = apr_inference_to_double (ratio, 0);
          mpf_clear (factor);
        }
    }

  if (self->df_residual > 0 && certain && df_model > 0 && mpf_sgn (*total) > 0)
    {
      statistics->f_statistic = INFINITY;
      if (mpf_sgn (*residual) > 0)
        {
          mpf_set_d (ratio, df_residual);
          mpf_mul (explained, explained, ratio);
          mpf_set_d (ratio, df_model);
          mpf_mul (ratio, ratio, *residual);
          mpf_div (ratio, explained, ratio);
          statistics->f_statistic = apr_inference_to_double (ratio, 0);
        }
    }
  statistics->f_p_value = apr_f_upper (statistics->f_statistic, df_model, df_residual);
  /* What is t² may be too large for a double where t is not. */
  if (isinf (statistics->f_statistic) && df_model == 1 && mpf_sgn (*residual) > 0)
    {
      mpf_sqrt (ratio, ratio);
      statistics->f_p_value = apr_t_two_sided (apr_inference_to_double (ratio, 0), df_residual);
    }

  statistics->log_likelihood = certain ? INFINITY : NAN;
  if (mpf_sgn (*residual) > 0 && certain)
    statistics->log_likelihood =
      self->weight_logs / 2 -
      n / 2 * (log (2 * G_PI) + 1 + natural_log (*residual, self->exponent) - log (n));
  statistics->aic = 2 * (double) self->n - 2 * statistics->log_likelihood;
  statistics->bic = log (n) * (double) self->n - 2 * statistics->log_likelihood;

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

/* Takes *@values. */
static void
take_vector (AprTensor **tensor, double **values, gsize n)
{
  apr_tensor_unref (*tensor);
  *tensor = apr_tensor_new_take (APR_DTYPE_F64, &n, 1, g_steal_pointer (values), n * sizeof (double));
}

double *
apr_inference_get_solutions (const AprInference *self, gsize target)
{
  gsize n_features = self->n_terms - self->first;
  double *values = g_new (double, self->n + 1);
  gsize i;

  /* Those of the model are rounded to the nearest, where it has these and has them in double. */
  for (i = 0; i < self->n; i++)
    if (self->n < self->n_terms || apr_tensor_get_dtype (self->coefficients) != APR_DTYPE_F64)
      values[i] = self->solutions[target * self->n + i];
    else if (self->term[i] < self->first)
      values[i] = apr_tensor_get_double (self->intercept, target, NULL);
    else
      values[i] =
        apr_tensor_get_double (self->coefficients, target * n_features + self->term[i] - self->first, NULL);

  return values;
}

/* The coefficients of the model, which are those of minimum norm where terms depend on each other. */
static void
describe_minimum_norm (const AprInference *self, gsize target, AprRegressionStatistics *statistics)
{
  gsize n_features = self->n_terms - self->first;
  g_autofree double *values = new_undefined (self->n_terms);
  gsize i;

  if (self->first > 0)
    values[0] = apr_tensor_get_double (self->intercept, target, NULL);
  for (i = 0; i < n_features; i++)
    values[self->first + i] = apr_tensor_get_double (self->coefficients, target * n_features + i, NULL);
  take_vector (&statistics->minimum_norm, &values, self->n_terms);
}

/* A matrix of more terms is not made where most of it would be undefined. */
#define MAX_UNDEFINED_TERMS 4096

/* Terms that are mirrored together, so that what is read and written stays in the nearest cache. */
#define MIRRORED 32

/* Makes the matrix symmetric. The terms are in order, so what is left of the diagonal is there. */
static void
mirror (double *matrix, gsize n)
{
  gsize block;
  gsize i;
  gsize j;

  for (block = 0; block < n; block += MIRRORED)
    for (i = block; i < n; i++)
      for (j = block; j < MIN (block + MIRRORED, i); j++)
        matrix[j * n + i] = matrix[i * n + j];
}

/* By term: those of errors of one variance; @covariances may be %NULL. */
static void
find_covariances (const AprInference *self, gsize target, double *standard_errors, double *covariances)
{
  gsize n_terms = self->n_terms;
  AprDoubleDouble scaled_variance;
  gint64 exponent;
  mpf_t variance;
  mpf_t number;
  gsize i;
  gsize j;

  mpf_init2 (variance, APR_INFERENCE_PRECISION);
  mpf_init2 (number, APR_INFERENCE_PRECISION);
  mpf_mul (variance, self->residuals[target], self->weight);
  mpf_set_d (number, (double) self->df_residual);
  mpf_div (variance, variance, number);
  scaled_variance = apr_inference_split (variance, &exponent);
  for (i = 0; i < self->n; i++)
    {
      gsize term = self->term[i];

      for (j = 0; j <= i && covariances != NULL; j++)
        {
          double entry =
            apr_covariance_trim (self->inverse[apr_triangle (i, j)], self->inverse[apr_triangle (i, i)],
                                 self->inverse[apr_triangle (j, j)]);
          double factor = apr_dd_multiply_double (scaled_variance, entry).high;
          double covariance =
            ldexp (factor, (int) CLAMP (exponent - self->scale[i] - self->scale[j], -5000, 5000));

          covariances[term * n_terms + self->term[j]] = covariance;
        }
      mpf_set_d (number, self->inverse[apr_triangle (i, i)]);
      mpf_mul (number, variance, number);
      mpf_sqrt (number, number);
      standard_errors[term] = apr_inference_to_double (number, -self->scale[i]);
    }
  if (covariances != NULL)
    mirror (covariances, n_terms);
  mpf_clear (variance);
  mpf_clear (number);
}

static void
describe_terms (const AprInference *self,
                gsize target,
                const AprRun *run,
                AprRegressionStatistics *statistics)
{
  gsize n_terms = self->n_terms;
  gboolean has_covariances = n_terms <= MAX_UNDEFINED_TERMS || self->n > n_terms / 2;
  gsize square[2] = { has_covariances ? n_terms : 0, has_covariances ? n_terms : 0 };
  double t = apr_t_two_sided_inverse (1 - 0.95, (double) self->df_residual);
  g_autofree double *solutions = apr_inference_get_solutions (self, target);
  g_autofree double *coefficients = new_undefined (n_terms);
  g_autofree double *standard_errors = new_undefined (n_terms);
  g_autofree double *t_values = new_undefined (n_terms);
  g_autofree double *p_values = new_undefined (n_terms);
  g_autofree double *inflation = new_undefined (n_terms);
  g_autofree double *covariances = NULL;
  g_autofree double *units = g_new0 (double, self->n + 1);
  gsize n_covariances = square[0] * square[1];
  gsize i;

  if (has_covariances)
    covariances = apr_run_new_doubles (run, n_terms, n_terms);
  if (has_covariances && covariances == NULL)
    return;
  for (i = 0; i < n_covariances; i++)
    covariances[i] = NAN;

  if (!statistics->factors.unknown && statistics->covariance_kind != APR_COVARIANCE_CLASSICAL)
    apr_covariance_describe (&statistics->factors, run, standard_errors, covariances);
  else if (!statistics->factors.unknown)
    find_covariances (self, target, standard_errors, covariances);

  /* A p-value takes tens of microseconds. */
  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    {
      gsize term = self->term[i];

      coefficients[term] = solutions[i];
      if (term >= self->first)
        inflation[term] = self->inflation[i];
      t_values[term] = coefficients[term] / standard_errors[term];
      units[i] = 1;
      if (statistics->factors.factor.high == 0 && !apr_inference_contradicts (self, target, units, 0))
        t_values[term] = NAN;
      units[i] = 0;
      p_values[term] = apr_t_two_sided (t_values[term], (double) self->df_residual);
    }

  for (i = 0; i < n_terms; i++)
    {
      double reach = t * standard_errors[i];
      const double values[APR_TERM_N_VALUES] = {
        coefficients[i], standard_errors[i],      t_values[i],
        p_values[i],     coefficients[i] - reach, coefficients[i] + reach,
      };

      g_ptr_array_add (statistics->items, apr_term_new (self->names[i], values));
    }

  take_vector (&statistics->coefficients, &coefficients, n_terms);
  take_vector (&statistics->standard_errors, &standard_errors, n_terms);
  take_vector (&statistics->t_values, &t_values, n_terms);
  take_vector (&statistics->p_values, &p_values, n_terms);
  take_vector (&statistics->variance_inflation, &inflation, n_terms);
  apr_tensor_unref (statistics->covariance);
  statistics->covariance = apr_tensor_new_take (APR_DTYPE_F64, square, 2, g_steal_pointer (&covariances),
                                                n_covariances * sizeof (double));
}

/* Takes @factors. */
static AprRegressionStatistics *
describe (const AprInference *self,
          gsize target,
          AprCovarianceKind kind,
          const AprCovariance *factors,
          const AprRun *run)
{
  AprRegressionStatistics *statistics = apr_regression_statistics_new ();

  statistics->n_samples = self->n_samples;
  statistics->df_model = self->n - (self->first > 0 || self->constant != NULL ? 1 : 0);
  statistics->df_residual = self->df_residual;
  statistics->covariance_kind = kind;
  statistics->factors = *factors;
  g_strfreev (statistics->terms);
  statistics->terms = g_strdupv (self->names);
  statistics->condition_number = self->condition_number;
  statistics->prediction_rounding = self->prediction_rounding[target];
  describe_fit (self, target, statistics);
  describe_terms (self, target, run, statistics);
  describe_minimum_norm (self, target, statistics);

  return statistics;
}

/* Names tell the terms apart, in hypotheses and wherever a term is looked up. */
static gboolean
check_names (const AprInference *self, GError **error)
{
  gsize i;

  for (i = 1; self->first > 0 && i < self->n_terms; i++)
    if (strcmp (self->names[i], self->names[0]) == 0)
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                     "Feature %" G_GSIZE_FORMAT
                     " (counted from 0) is called “%s”, as the term of the intercept "
                     "is: give it another name, or, if it is a column of ones, fit without an intercept",
                     i - 1, self->names[i]);
        return FALSE;
      }

  return TRUE;
}

AprRegressionStatistics *
apr_inference_get_statistics (AprInference *self, gsize target, const AprRun *caller, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  AprCovariance factors;

  g_assert (target < self->n_targets);

  if (!check_names (self, error))
    return NULL;
  apr_covariance_init_classical (&factors, self, target);

  statistics = describe (self, target, APR_COVARIANCE_CLASSICAL, &factors, run);

  return apr_run_set_error_if_cancelled (run, error) ? NULL : g_steal_pointer (&statistics);
}

/* The F-statistic by the covariance as it is: whether all predictions are the same, or 0 where features make no
 * constant. With c the coefficients that make it, and k a feature among them, that is b_i = c_i / c_k b_k for all i. */
static void
test_features (const AprInference *self, const AprRun *run, AprRegressionStatistics *statistics)
{
  gsize n_rows = statistics->df_model;
  gsize left_out = self->first > 0 ? 0 : self->n;
  g_autofree double *factors = NULL;
  g_autofree double *values = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  gboolean independent;
  gsize i;

  if (isnan (statistics->f_statistic))
    return;

  factors = apr_run_new_doubles (run, n_rows, self->n);
  values = apr_run_new_doubles (run, n_rows, 1);
  if (factors == NULL || values == NULL)
    return;

  for (i = 0; i < self->n && self->constant != NULL; i++)
    if (left_out == self->n || fabs (self->constant[i]) > fabs (self->constant[left_out]))
      left_out = i;
  for (i = 0; i < n_rows; i++)
    {
      gsize position = i < left_out ? i : i + 1;

      factors[i * self->n + position] = 1;
      if (self->constant != NULL)
        factors[i * self->n + left_out] = -self->constant[position] / self->constant[left_out];
    }
  test = apr_covariance_test (&statistics->factors, statistics->coefficients, factors, values, n_rows,
                              &independent, run);
  statistics->f_statistic = apr_hypothesis_test_get_f_statistic (test);
  statistics->f_p_value = apr_hypothesis_test_get_f_p_value (test);
}

AprRegressionStatistics *
apr_inference_get_robust_statistics (AprInference *self,
                                     const AprInferenceSource *source,
                                     AprTensor *x,
                                     AprTensor *y,
                                     AprTensor *sample_weight,
                                     AprCovarianceKind kind,
                                     gsize target,
                                     const AprRun *caller,
                                     GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  AprCovariance factors;

  g_assert (target < self->n_targets);

  if (!check_names (self, error))
    return NULL;
  if (kind == APR_COVARIANCE_CLASSICAL || self->df_residual == 0)
    apr_covariance_init_classical (&factors, self, target);
  else if (!apr_covariance_init_robust (&factors, self, source, x, y, sample_weight, kind, target, run,
                                        error))
    {
      apr_covariance_clear (&factors);
      return NULL;
    }

  statistics = describe (self, target, kind, &factors, run);
  if (kind != APR_COVARIANCE_CLASSICAL && !apr_run_is_cancelled (run))
    test_features (self, run, statistics);

  return apr_run_set_error_if_cancelled (run, error) ? NULL : g_steal_pointer (&statistics);
}
