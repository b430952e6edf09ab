/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-regression-statistics-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/inference/apr-hypothesis-test-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* By which total sums of squares of the same targets may differ, as fractions, where they were summed in double. */
#define MAX_ROUNDING 1e-6

static gboolean
check_known (AprRegressionStatistics *self, GError **error)
{
  if (self->factors.inference != NULL)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED,
               "Cannot test these statistics: they do not come from a fitted model");
  return FALSE;
}

static gboolean
check_numbers (const char *name, AprTensor *tensor, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (tensor);

  if (!apr_dtype_is_numeric (dtype))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "%s has the dtype %s, which is not one of numbers",
                   name, apr_dtype_to_string (dtype));
      return FALSE;
    }

  return apr_estimator_check_finite (name, tensor, error);
}

static gboolean
check_shapes (
  const AprInference *inference, AprTensor *factors, AprTensor *values, gsize *n_hypotheses, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (factors, &n_dims);

  *n_hypotheses = n_dims == 2 ? shape[0] : 1;
  if (n_dims < 1 || n_dims > 2 || shape[n_dims - 1] != inference->n_terms || *n_hypotheses == 0)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The factors have the shape %s, but must have [n_terms] or [n_hypotheses, n_terms], with "
                   "one hypothesis "
                   "at least, and there are %" G_GSIZE_FORMAT " terms",
                   text, inference->n_terms);
      return FALSE;
    }

  if (values == NULL)
    return TRUE;

  shape = apr_tensor_get_shape (values, &n_dims);
  if (n_dims > 1 || apr_tensor_get_n_elements (values) != *n_hypotheses)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The values have the shape %s, but there are %" G_GSIZE_FORMAT " hypotheses", text,
                   *n_hypotheses);
      return FALSE;
    }

  return TRUE;
}

/* The rows by position. A term that depends on others has no coefficient. */
static double *
read_factors (
  const AprInference *inference, AprTensor *factors, gsize n_rows, const AprRun *run, GError **error)
{
  g_autofree gsize *position = g_new (gsize, inference->n_terms);
  g_autofree double *rows = apr_run_new_doubles (run, n_rows, inference->n);
  gsize i;
  gsize j;

  if (apr_run_set_error_if_cancelled (run, error))
    return NULL;
  for (i = 0; i < inference->n_terms; i++)
    position[i] = G_MAXSIZE;
  for (i = 0; i < inference->n; i++)
    position[inference->term[i]] = i;

  for (i = 0; i < n_rows; i++)
    {
      gboolean any = FALSE;

      for (j = 0; j < inference->n_terms; j++)
        {
          double factor = apr_tensor_get_double (factors, i * inference->n_terms + j, NULL);

          any = any || factor != 0;
          if (position[j] != G_MAXSIZE)
            rows[i * inference->n + position[j]] = factor;
          else if (factor != 0)
            {
              g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                           "Hypothesis %" G_GSIZE_FORMAT
                           " (counted from 0) is about “%s”, which depends on features before it and has no "
                           "coefficient of its own: leave “%s” out, as the other estimates are those of the "
                           "model without it, in which it counts as 0",
                           i, inference->names[j], inference->names[j]);
              return NULL;
            }
        }
      if (!any)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                       "Hypothesis %" G_GSIZE_FORMAT " (counted from 0) has only factors of 0", i);
          return NULL;
        }
    }

  return g_steal_pointer (&rows);
}

static AprHypothesisTest *
test_hypothesis (AprRegressionStatistics *self,
                 AprTensor *factors,
                 AprTensor *values,
                 GCancellable *cancellable,
                 GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun run = { .cancellable = cancellable, .missing = &missing };
  const AprInference *inference = self->factors.inference;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autofree double *rows = NULL;
  g_autofree double *sums = NULL;
  gboolean independent;
  gsize n_rows;
  gsize i;

  if (!check_known (self, error) || !check_shapes (inference, factors, values, &n_rows, error) ||
      !check_numbers ("The tensor of the factors", factors, error) ||
      (values != NULL && !check_numbers ("The tensor of the values", values, error)))
    return NULL;
  rows = read_factors (inference, factors, n_rows, &run, error);
  if (rows == NULL)
    return NULL;

  sums = g_new0 (double, n_rows);
  for (i = 0; i < n_rows && values != NULL; i++)
    sums[i] = apr_tensor_get_double (values, i, NULL);
  test = apr_covariance_test (&self->factors, self->coefficients, rows, sums, n_rows, &independent, &run);
  if (apr_run_set_error_if_cancelled (&run, error))
    return NULL;
  if (independent && n_rows > 1 && isnan (test->f_statistic) && !self->factors.unknown &&
      self->factors.factor.high != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot test these %" G_GSIZE_FORMAT
                   " hypotheses together: the errors of their estimates depend on each other, or so nearly "
                   "that their covariance has too few digits",
                   n_rows);
      return NULL;
    }
  if (!independent)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot test these %" G_GSIZE_FORMAT
                   " hypotheses together: some follow from the others, or "
                   "contradict them",
                   n_rows);
      return NULL;
    }

  return g_steal_pointer (&test);
}

/**
 * apr_regression_statistics_test_hypothesis:
 * @self: statistics
 * @factors: R, the factors of the terms, [n_terms] for one hypothesis or [n_hypotheses, n_terms]
 * @values: (nullable): q, what the hypotheses say of the sums, [n_hypotheses]; `NULL` for 0
 * @error: return location for an error
 *
 * Tests the hypotheses R b = q about the coefficients b: each by Student's t, and all together by Snedecor's F.
 *
 * With the terms (Intercept), x0 and x1, the factors [0, 1, -1] say that the coefficients of x0 and x1 are the
 * same; [method@Apr.RegressionStatistics.parse_hypothesis] makes factors of texts. The covariance is that of these
 * statistics, so that tests of robust statistics are robust too. This is the
 * Wald test of R's `car::linearHypothesis ()` and of `t_test ()` and `f_test ()` in statsmodels. It takes time in
 * proportion to the number of hypotheses and to the square of the number of terms.
 *
 * Returns: (transfer full): the test; `NULL` with %APR_ERROR_SHAPE, %APR_ERROR_DTYPE, %APR_ERROR_NOT_FINITE,
 *   %APR_ERROR_RANGE where a hypothesis has no term, is about a term that depends on others, or follows from the other
 *   hypotheses, %APR_ERROR_NO_MEMORY, or %APR_ERROR_NOT_FITTED where the statistics come from no model
 *
 * Since: 0.1
 */
AprHypothesisTest *
apr_regression_statistics_test_hypothesis (AprRegressionStatistics *self,
                                           AprTensor *factors,
                                           AprTensor *values,
                                           GError **error)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);
  g_return_val_if_fail (factors != NULL, NULL);

  return test_hypothesis (self, factors, values, g_cancellable_get_current (), error);
}

typedef struct
{
  AprTensor *factors; /* (owned) */
  AprTensor *values;  /* (owned) (nullable) */
} Hypothesis;

static void
hypothesis_free (gpointer data)
{
  Hypothesis *self = data;

  apr_tensor_unref (self->factors);
  g_clear_pointer (&self->values, apr_tensor_unref);
  g_free (self);
}

static void
test_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  const Hypothesis *hypothesis = task_data;
  GError *error = NULL;
  AprHypothesisTest *test =
    test_hypothesis (source_object, hypothesis->factors, hypothesis->values, cancellable, &error);

  if (test != NULL)
    g_task_return_pointer (task, test, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_regression_statistics_test_hypothesis_async:
 * @self: statistics
 * @factors: the factors of the terms, [n_terms] for one hypothesis or [n_hypotheses, n_terms]
 * @values: (nullable): what the hypotheses say of the sums, [n_hypotheses]; `NULL` for 0
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the test is there
 * @user_data: data to pass to @callback
 *
 * Tests hypotheses without blocking.
 *
 * Since: 0.1
 */
void
apr_regression_statistics_test_hypothesis_async (AprRegressionStatistics *self,
                                                 AprTensor *factors,
                                                 AprTensor *values,
                                                 int io_priority,
                                                 GCancellable *cancellable,
                                                 GAsyncReadyCallback callback,
                                                 gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Hypothesis *hypothesis;

  g_return_if_fail (APR_IS_REGRESSION_STATISTICS (self));
  g_return_if_fail (factors != NULL);

  hypothesis = g_new0 (Hypothesis, 1);
  hypothesis->factors = apr_tensor_ref (factors);
  hypothesis->values = values != NULL ? apr_tensor_ref (values) : NULL;
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_regression_statistics_test_hypothesis_async);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, hypothesis, hypothesis_free);
  apr_task_run_reader (task, test_in_thread);
}

/**
 * apr_regression_statistics_test_hypothesis_finish:
 * @self: statistics
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.RegressionStatistics.test_hypothesis_async] began.
 *
 * Returns: (transfer full): the test, or `NULL` with an error as of
 *   [method@Apr.RegressionStatistics.test_hypothesis]
 *
 * Since: 0.1
 */
AprHypothesisTest *
apr_regression_statistics_test_hypothesis_finish (AprRegressionStatistics *self,
                                                  GAsyncResult *result,
                                                  GError **error)
{
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  return apr_task_take_pointer (result, self, apr_regression_statistics_test_hypothesis_async, error);
}

/* The names of the features, without that of the intercept, which comes first; or NULL where they have none. */
static const char *const *
get_known_names (AprRegressionStatistics *self)
{
  const AprInference *inference = self->factors.inference;

  return inference->has_names ? (const char *const *) inference->names + inference->first : NULL;
}

/* That the features of the smaller model are among the others, where both have names. */
static gboolean
check_nested (AprRegressionStatistics *self, AprRegressionStatistics *restricted, GError **error)
{
  const char *const *names = get_known_names (self);
  const char *const *others = get_known_names (restricted);
  gsize i;

  for (i = 0; names != NULL && others != NULL && others[i] != NULL; i++)
    if (!g_strv_contains (names, others[i]))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                     "The other model is no part of this one, which has no feature “%s”", others[i]);
        return FALSE;
      }

  return TRUE;
}

/* The sums of squares of two models in a unit of both, as they may be beyond doubles: the total ones, or those of the
 * residuals, which are NaN where they are not known. */
static void
get_sums (AprRegressionStatistics *self,
          AprRegressionStatistics *restricted,
          gboolean total,
          double *sum,
          double *restricted_sum)
{
  const AprCovariance *of[] = { &self->factors, &restricted->factors };
  double *sums[] = { sum, restricted_sum };
  gint64 unit = 0;
  gsize i;

  /* The unit is about the first, or the second where that is 0. */
  for (i = 2; i-- > 0;)
    {
      const AprInference *inference = of[i]->inference;
      const mpf_t *number = (total ? inference->totals : inference->residuals) + of[i]->target;
      signed long exponent;

      if (mpf_get_d_2exp (&exponent, *number) != 0)
        unit = exponent + inference->exponent;
    }
  for (i = 0; i < 2; i++)
    {
      const AprInference *inference = of[i]->inference;
      const mpf_t *number = (total ? inference->totals : inference->residuals) + of[i]->target;

      *sums[i] = !total && apr_inference_is_uncertain (inference, of[i]->target)
                 ? (double) NAN
                 : apr_inference_to_double (*number, inference->exponent - unit);
    }
}

/* Whether the total sums of squares show that the targets are not the same. They can be compared where both are about
 * the mean, or neither is, and differ by rounding where sums were taken in double. */
static gboolean
has_other_targets (AprRegressionStatistics *self, AprRegressionStatistics *restricted)
{
  gboolean has_mean = self->df_model + self->df_residual < self->n_samples;
  double sum;
  double restricted_sum;

  get_sums (self, restricted, TRUE, &sum, &restricted_sum);

  return has_mean == (restricted->df_model + restricted->df_residual < restricted->n_samples) &&
         fabs (sum - restricted_sum) > MAX_ROUNDING * sum;
}

/* @rest and @restricted_rest are set to the residual sums of squares, in a unit of both. */
static gboolean
check_comparable (AprRegressionStatistics *self,
                  AprRegressionStatistics *restricted,
                  double *rest,
                  double *restricted_rest,
                  GError **error)
{
  char number[APR_NUMBER_SIZE];
  char other_number[APR_NUMBER_SIZE];

  if (!check_known (self, error) || !check_known (restricted, error) ||
      !check_nested (self, restricted, error))
    return FALSE;

  get_sums (self, restricted, FALSE, rest, restricted_rest);
  if (self->n_samples != restricted->n_samples)
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                 "Cannot compare a model of %" G_GUINT64_FORMAT " samples with one of %" G_GUINT64_FORMAT,
                 self->n_samples, restricted->n_samples);
  else if (has_other_targets (self, restricted))
    g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                 "Cannot compare models of other targets: their total sums of squares are %s and %s",
                 apr_number_format (self->total_sum_of_squares, FALSE, number),
                 apr_number_format (restricted->total_sum_of_squares, FALSE, other_number));
  else if (self->covariance_kind != APR_COVARIANCE_CLASSICAL ||
           restricted->covariance_kind != APR_COVARIANCE_CLASSICAL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                 "Cannot compare models by their sums of squares where the covariance is robust: test the "
                 "hypothesis that the coefficients are 0");
  else if (restricted->df_residual <= self->df_residual || *restricted_rest < *rest)
    g_set_error (
      error, APR_ERROR, APR_ERROR_RANGE,
      "The other model is no part of this one: it has %" G_GUINT64_FORMAT
      " degrees of freedom and the residual sum of squares %s, and this one %" G_GUINT64_FORMAT " and %s",
      restricted->df_residual, apr_number_format (restricted->residual_sum_of_squares, FALSE, other_number),
      self->df_residual, apr_number_format (self->residual_sum_of_squares, FALSE, number));
  else
    return TRUE;

  return FALSE;
}

/**
 * apr_regression_statistics_compare:
 * @self: statistics of a model
 * @restricted: statistics of a smaller model of the same samples, whose features are some of those of the other, or
 *   sums of them
 * @error: return location for an error
 *
 * Tests a model against a smaller one that is nested in it: whether the features that the smaller one lacks have
 * any effect.
 *
 * The F-statistic is ((RSS₀ - RSS₁) / (df₀ - df₁)) / (RSS₁ / df₁) of the residual sums of squares and their degrees
 * of freedom, as of R's `anova (restricted, self)`.
 *
 * Where the features of both have names, those of @restricted must be among the others; features that are sums of them
 * must have none. Of models without names, and of the samples, only what shows in the sums of squares is found out: the
 * caller has to know whether they are nested, and the same.
 *
 * Returns: (transfer full): the test, which has no entries for single hypotheses; `NULL` with %APR_ERROR_SHAPE
 *   where the numbers of samples differ, %APR_ERROR_FEATURE_NAMES where @restricted has a feature that @self has not,
 *   %APR_ERROR_RANGE where it cannot be a part of @self or their targets differ, %APR_ERROR_FAILED where a
 *   covariance is robust, or %APR_ERROR_NOT_FITTED where the statistics come from no model
 *
 * Since: 0.1
 */
AprHypothesisTest *
apr_regression_statistics_compare (AprRegressionStatistics *self,
                                   AprRegressionStatistics *restricted,
                                   GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprHypothesisTest *test;
  double rest;
  double restricted_rest;

  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);
  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (restricted), NULL);

  if (!check_comparable (self, restricted, &rest, &restricted_rest, error))
    return NULL;

  test = apr_hypothesis_test_new (restricted->df_residual - self->df_residual, self->df_residual);
  test->f_statistic =
    (restricted_rest - rest) / (double) test->df_hypothesis / (rest / (double) self->df_residual);
  test->f_p_value = apr_f_upper (test->f_statistic, (double) test->df_hypothesis, (double) self->df_residual);

  return test;
}
