/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-hypothesis-test-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * AprHypothesisTest:
 *
 * What a linear regression says of hypotheses about its coefficients: each by itself, by Student's t, and all of them
 * together, by Snedecor's F.
 *
 * ```c
 * g_autoptr (AprTensor) factors = NULL;
 * g_autoptr (AprTensor) values = NULL;
 * g_autoptr (AprHypothesisTest) test = NULL;
 *
 * if (!apr_regression_statistics_parse_hypothesis (statistics, "x0 = x1", &factors, &values, &error) ||
 *     (test = apr_regression_statistics_test_hypothesis (statistics, factors, values, &error)) == NULL)
 *   return FALSE;
 * g_print ("F = %g, p = %g\n", apr_hypothesis_test_get_f_statistic (test), apr_hypothesis_test_get_f_p_value (test));
 * ```
 *
 * [method@Apr.RegressionStatistics.test_hypothesis] tests R b = q, and has an entry of each vector for each row of R.
 * [method@Apr.RegressionStatistics.compare] tests a model against a smaller one; there the vectors are empty.
 *
 * ## Threads, memory and blocking
 *
 * A test never changes, so that any number of threads may read it at once. It owns its tensors, and refers neither to
 * the statistics nor to the model. Getters take constant time, but for
 * [method@Apr.HypothesisTest.get_confidence_intervals].
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprHypothesisTest, apr_hypothesis_test, G_TYPE_OBJECT)

enum
{
  PROP_F_STATISTIC = 1,
  PROP_F_P_VALUE,
  PROP_DF_HYPOTHESIS,
  PROP_DF_RESIDUAL,
  PROP_FIRST_VECTOR,
  PROP_ESTIMATES = PROP_FIRST_VECTOR,
  PROP_STANDARD_ERRORS,
  PROP_T_VALUES,
  PROP_P_VALUES,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void
apr_hypothesis_test_finalize (GObject *object)
{
  AprHypothesisTest *self = APR_HYPOTHESIS_TEST (object);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (self->vectors); i++)
    apr_tensor_unref (self->vectors[i]);

  G_OBJECT_CLASS (apr_hypothesis_test_parent_class)->finalize (object);
}

static void
apr_hypothesis_test_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprHypothesisTest *self = APR_HYPOTHESIS_TEST (object);

  switch (property_id)
    {
    case PROP_F_STATISTIC:
      g_value_set_double (value, self->f_statistic);
      break;
    case PROP_F_P_VALUE:
      g_value_set_double (value, self->f_p_value);
      break;
    case PROP_DF_HYPOTHESIS:
      g_value_set_uint64 (value, self->df_hypothesis);
      break;
    case PROP_DF_RESIDUAL:
      g_value_set_uint64 (value, self->df_residual);
      break;
    case PROP_ESTIMATES:
    case PROP_STANDARD_ERRORS:
    case PROP_T_VALUES:
    case PROP_P_VALUES:
      g_value_set_boxed (value, self->vectors[property_id - PROP_FIRST_VECTOR]);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_hypothesis_test_class_init (AprHypothesisTestClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_hypothesis_test_finalize;
  object_class->get_property = apr_hypothesis_test_get_property;

  /**
   * AprHypothesisTest:f-statistic: (getter get_f_statistic)
   *
   * The F-statistic of all hypotheses together. Where the fit is exact, it is infinite if a hypothesis is false, and
   * NaN if all are true.
   *
   * Since: 0.1
   */
  properties[PROP_F_STATISTIC] =
    g_param_spec_double ("f-statistic", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprHypothesisTest:f-p-value: (getter get_f_p_value)
   *
   * The probability of an F at least as large where all hypotheses are true.
   *
   * Since: 0.1
   */
  properties[PROP_F_P_VALUE] =
    g_param_spec_double ("f-p-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprHypothesisTest:df-hypothesis: (getter get_df_hypothesis)
   *
   * The degrees of freedom of the hypotheses, F's first: their number, or by how many terms two models differ.
   *
   * Since: 0.1
   */
  properties[PROP_DF_HYPOTHESIS] =
    g_param_spec_uint64 ("df-hypothesis", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprHypothesisTest:df-residual: (getter get_df_residual)
   *
   * The degrees of freedom of the residuals, t's and F's second.
   *
   * Since: 0.1
   */
  properties[PROP_DF_RESIDUAL] = g_param_spec_uint64 ("df-residual", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprHypothesisTest:estimates: (getter get_estimates)
   *
   * The sums of the coefficients, R b, [n_hypotheses].
   *
   * Since: 0.1
   */
  properties[PROP_ESTIMATES] = g_param_spec_boxed ("estimates", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprHypothesisTest:standard-errors: (getter get_standard_errors)
   *
   * The standard errors of the estimates, [n_hypotheses].
   *
   * Since: 0.1
   */
  properties[PROP_STANDARD_ERRORS] =
    g_param_spec_boxed ("standard-errors", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprHypothesisTest:t-values: (getter get_t_values)
   *
   * The distances of the estimates from the values of the hypotheses, by the standard errors, [n_hypotheses]. Where
   * the fit is exact, they are infinite for hypotheses that are false, and NaN for those that are true.
   *
   * Since: 0.1
   */
  properties[PROP_T_VALUES] = g_param_spec_boxed ("t-values", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprHypothesisTest:p-values: (getter get_p_values)
   *
   * The probabilities of t-values at least as far from 0 where the hypothesis is true, [n_hypotheses].
   *
   * Since: 0.1
   */
  properties[PROP_P_VALUES] = g_param_spec_boxed ("p-values", NULL, NULL, APR_TYPE_TENSOR, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_hypothesis_test_init (AprHypothesisTest *self)
{
  gsize n = 0;
  gsize i;

  /* Of an object that a script makes itself nothing is known. */
  self->f_statistic = self->f_p_value = NAN;
  for (i = 0; i < G_N_ELEMENTS (self->vectors); i++)
    self->vectors[i] = apr_tensor_new_from_doubles (NULL, 0, &n, 1, NULL);
}

AprHypothesisTest *
apr_hypothesis_test_new (guint64 df_hypothesis, guint64 df_residual)
{
  AprHypothesisTest *self = g_object_new (APR_TYPE_HYPOTHESIS_TEST, NULL);

  self->df_hypothesis = df_hypothesis;
  self->df_residual = df_residual;

  return self;
}

void
apr_hypothesis_test_take_vectors (AprHypothesisTest *self,
                                  gsize n,
                                  double *estimates,
                                  double *standard_errors,
                                  double *t_values,
                                  double *p_values)
{
  double *values[] = { estimates, standard_errors, t_values, p_values };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (self->vectors); i++)
    {
      apr_tensor_unref (self->vectors[i]);
      self->vectors[i] = apr_tensor_new_take (APR_DTYPE_F64, &n, 1, values[i], n * sizeof (double));
    }
}

/**
 * apr_hypothesis_test_get_f_statistic: (get-property f-statistic)
 * @self: a test
 *
 * Gets the F-statistic.
 *
 * Returns: the F-statistic
 *
 * Since: 0.1
 */
double
apr_hypothesis_test_get_f_statistic (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NAN);

  return self->f_statistic;
}

/**
 * apr_hypothesis_test_get_f_p_value: (get-property f-p-value)
 * @self: a test
 *
 * Gets the p-value of the F-statistic.
 *
 * Returns: the probability
 *
 * Since: 0.1
 */
double
apr_hypothesis_test_get_f_p_value (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NAN);

  return self->f_p_value;
}

/**
 * apr_hypothesis_test_get_df_hypothesis: (get-property df-hypothesis)
 * @self: a test
 *
 * Gets the degrees of freedom of the hypotheses.
 *
 * Returns: the degrees of freedom
 *
 * Since: 0.1
 */
guint64
apr_hypothesis_test_get_df_hypothesis (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), 0);

  return self->df_hypothesis;
}

/**
 * apr_hypothesis_test_get_df_residual: (get-property df-residual)
 * @self: a test
 *
 * Gets the degrees of freedom of the residuals.
 *
 * Returns: the degrees of freedom
 *
 * Since: 0.1
 */
guint64
apr_hypothesis_test_get_df_residual (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), 0);

  return self->df_residual;
}

/**
 * apr_hypothesis_test_get_estimates: (get-property estimates)
 * @self: a test
 *
 * Gets the estimates, F64.
 *
 * Returns: (transfer none): the estimates, [n_hypotheses]
 *
 * Since: 0.1
 */
AprTensor *
apr_hypothesis_test_get_estimates (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NULL);

  return self->vectors[PROP_ESTIMATES - PROP_FIRST_VECTOR];
}

/**
 * apr_hypothesis_test_get_standard_errors: (get-property standard-errors)
 * @self: a test
 *
 * Gets the standard errors, F64.
 *
 * Returns: (transfer none): the standard errors, [n_hypotheses]
 *
 * Since: 0.1
 */
AprTensor *
apr_hypothesis_test_get_standard_errors (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NULL);

  return self->vectors[PROP_STANDARD_ERRORS - PROP_FIRST_VECTOR];
}

/**
 * apr_hypothesis_test_get_t_values: (get-property t-values)
 * @self: a test
 *
 * Gets the t-values, F64.
 *
 * Returns: (transfer none): the t-values, [n_hypotheses]
 *
 * Since: 0.1
 */
AprTensor *
apr_hypothesis_test_get_t_values (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NULL);

  return self->vectors[PROP_T_VALUES - PROP_FIRST_VECTOR];
}

/**
 * apr_hypothesis_test_get_p_values: (get-property p-values)
 * @self: a test
 *
 * Gets the p-values, F64.
 *
 * Returns: (transfer none): the p-values, [n_hypotheses]
 *
 * Since: 0.1
 */
AprTensor *
apr_hypothesis_test_get_p_values (AprHypothesisTest *self)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NULL);

  return self->vectors[PROP_P_VALUES - PROP_FIRST_VECTOR];
}

AprTensor *
apr_find_confidence_intervals (
  AprTensor *estimates, AprTensor *standard_errors, guint64 df, double level, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize shape[] = { apr_tensor_get_n_elements (estimates), 2 };
  double *ends;
  double t;
  gsize i;

  if (!(level > 0 && level < 1))
    {
      char number[APR_NUMBER_SIZE];

      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The level of confidence must be between 0 and 1, but it is %s",
                   apr_number_format (level, FALSE, number));
      return NULL;
    }

  t = apr_t_central_inverse (level, (double) df);
  ends = g_new (double, 2 * shape[0]);
  for (i = 0; i < shape[0]; i++)
    {
      double estimate = apr_tensor_get_double (estimates, i, NULL);
      double reach = t * apr_tensor_get_double (standard_errors, i, NULL);

      ends[2 * i] = estimate - reach;
      ends[2 * i + 1] = estimate + reach;
    }

  return apr_tensor_new_take (APR_DTYPE_F64, shape, 2, ends, 2 * shape[0] * sizeof *ends);
}

/**
 * apr_hypothesis_test_get_confidence_intervals:
 * @self: a test
 * @level: how sure the intervals are, between 0 and 1, such as 0.95
 * @error: return location for an error
 *
 * Gets intervals that hold the true sums of the coefficients with the probability @level each: the estimates, plus and
 * minus as many standard errors as the quantile of Student's t.
 *
 * Returns: (transfer full): the lower and the upper ends, [n_hypotheses, 2]; `NULL` with %APR_ERROR_RANGE where @level
 *   is not between 0 and 1
 *
 * Since: 0.1
 */
AprTensor *
apr_hypothesis_test_get_confidence_intervals (AprHypothesisTest *self, double level, GError **error)
{
  g_return_val_if_fail (APR_IS_HYPOTHESIS_TEST (self), NULL);

  return apr_find_confidence_intervals (self->vectors[PROP_ESTIMATES - PROP_FIRST_VECTOR],
                                        self->vectors[PROP_STANDARD_ERRORS - PROP_FIRST_VECTOR],
                                        self->df_residual, level, error);
}
