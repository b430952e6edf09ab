/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-cross-products-private.h"
#include "aprender/linear-model/apr-least-squares-private.h"

/* What a fit works on and what comes of it; nothing of the model, so that it may run in a thread. */
typedef struct
{
  AprTensor *x;             /* (owned) (nullable) */
  AprTensor *y;             /* (owned) (nullable) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  gboolean fit_intercept;
  AprDType dtype;

  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
} Fit;

static Fit *
fit_new (AprLinearRegression *self, AprTensor *x, AprTensor *y, AprTensor *sample_weight)
{
  Fit *fit = g_new0 (Fit, 1);

  fit->x = x != NULL ? apr_tensor_ref (x) : NULL;
  fit->y = y != NULL ? apr_tensor_ref (y) : NULL;
  fit->sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;
  fit->fit_intercept = self->fit_intercept;
  fit->dtype = self->dtype;

  return fit;
}

static void
fit_free (Fit *fit)
{
  g_clear_pointer (&fit->x, apr_tensor_unref);
  g_clear_pointer (&fit->y, apr_tensor_unref);
  g_clear_pointer (&fit->sample_weight, apr_tensor_unref);
  g_clear_pointer (&fit->coefficients, apr_tensor_unref);
  g_clear_pointer (&fit->intercept, apr_tensor_unref);
  g_free (fit);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fit, fit_free)

/* Values that are already those of @dtype. */
static AprTensor *
new_result (AprDType dtype, const double *values, const gsize *shape, gsize n_dims)
{
  gsize n_values = shape[0] * (n_dims == 2 ? shape[1] : 1);
  g_autofree float *floats = NULL;
  gsize i;

  if (dtype == APR_DTYPE_F64)
    return apr_tensor_new_from_doubles (values, n_values, shape, n_dims, NULL);

  floats = g_new (float, n_values);
  for (i = 0; i < n_values; i++)
    floats[i] = (float) values[i];

  return apr_tensor_new_from_floats (floats, n_values, shape, n_dims, NULL);
}

/* Solves for @fit's results; @n_dims is that of y, 1 where there is one target that is no matrix. */
static gboolean
fit_solve (Fit *fit, AprExactSums *sums, AprDType data_dtype, gsize n_dims, GError **error)
{
  gsize shape[2] = { apr_exact_sums_get_n_targets (sums), apr_exact_sums_get_n_features (sums) };
  AprDType dtype = fit->dtype != APR_DTYPE_NONE ? fit->dtype : data_dtype;
  g_auto (AprLeastSquares) solution = { NULL };
  gboolean any_weight;
  mpz_t weights;

  mpz_init (weights);
  apr_exact_sums_get_entry (sums, 0, 0, weights);
  any_weight = mpz_sgn (weights) > 0;
  mpz_clear (weights);
  if (!any_weight)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above 0");
      return FALSE;
    }

  if (!apr_least_squares_solve (&solution, sums, fit->fit_intercept, data_dtype, dtype, error))
    return FALSE;

  fit->coefficients = n_dims == 2 ? new_result (dtype, solution.coefficients, shape, 2)
                                  : new_result (dtype, solution.coefficients, shape + 1, 1);
  fit->intercept = new_result (dtype, solution.intercepts, shape, 1);
  fit->rank = (int) solution.rank;
  return TRUE;
}

static gboolean
check_dtype (AprDType dtype, GError **error)
{
  if (dtype == APR_DTYPE_NONE || dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
               "The hyper-parameter “dtype” is %s, but it must be F32, F64 or NONE",
               apr_dtype_to_string (dtype));
  return FALSE;
}

static gboolean
fit_run (Fit *fit, GCancellable *cancellable, GError **error)
{
  gsize n_dims;
  const gsize *y_shape = apr_tensor_get_shape (fit->y, &n_dims);
  g_autoptr (AprExactSums) sums = NULL;

  if (!check_dtype (fit->dtype, error))
    return FALSE;

  sums = apr_exact_sums_new (apr_tensor_get_shape (fit->x, NULL)[1], n_dims == 2 ? y_shape[1] : 1, error);

  return sums != NULL &&
         apr_exact_sums_update (sums, fit->x, fit->y, fit->sample_weight, APR_PRECISION_EXACT, 0, cancellable,
                                error) &&
         fit_solve (fit, sums, apr_estimator_choose_dtype (fit->x), n_dims, error);
}

gboolean
apr_linear_regression_fit (AprEstimator *estimator,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autoptr (Fit) fit = fit_new (self, x, y, sample_weight);

  if (!fit_run (fit, cancellable, error))
    return FALSE;

  apr_linear_regression_set_results (self, fit->coefficients, fit->intercept, fit->rank);
  return TRUE;
}

static void
fit_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;

  if (fit_run (task_data, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
apr_linear_regression_fit_async (AprEstimator *estimator,
                                 AprTensor *x,
                                 AprTensor *y,
                                 AprTensor *sample_weight,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (estimator, cancellable, callback, user_data);

  g_task_set_source_tag (task, apr_linear_regression_fit_async);
  g_task_set_task_data (task, fit_new (APR_LINEAR_REGRESSION (estimator), x, y, sample_weight),
                        (GDestroyNotify) fit_free);
  g_task_run_in_thread (task, fit_in_thread);
}

gboolean
apr_linear_regression_fit_finish (AprEstimator *estimator, GAsyncResult *result, GError **error)
{
  Fit *fit = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;

  apr_linear_regression_set_results (APR_LINEAR_REGRESSION (estimator), fit->coefficients, fit->intercept,
                                     fit->rank);
  return TRUE;
}

/**
 * apr_linear_regression_fit_cross_products:
 * @self: a linear regression
 * @state: the cross products of the samples
 * @error: return location for an error
 *
 * Fits the model to samples that have been summed before.
 *
 * The model is that of [method@Apr.Estimator.fit] with the same samples, bit for bit, however they were cut into updates
 * and merges. Where the state has one target, the coefficients have the shape [n_features]; F32 counts as the samples' dtype
 * where all X were F32.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_EMPTY where the state has no samples, or another error of
 *   [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_fit_cross_products (AprLinearRegression *self, AprCrossProducts *state, GError **error)
{
  g_autoptr (Fit) fit = NULL;
  gsize n_targets;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (state), FALSE);

  if (apr_cross_products_get_n_samples (state) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "Cannot fit cross products of 0 samples");
      return FALSE;
    }

  fit = fit_new (self, NULL, NULL, NULL);
  n_targets = apr_cross_products_get_n_targets (state);
  if (!check_dtype (fit->dtype, error) ||
      !fit_solve (fit, apr_cross_products_get_sums (state), apr_cross_products_get_dtype (state),
                  n_targets > 1 ? 2 : 1, error))
    return FALSE;

  g_object_freeze_notify (G_OBJECT (self));
  apr_linear_regression_set_results (self, fit->coefficients, fit->intercept, fit->rank);
  apr_estimator_set_fitted (APR_ESTIMATOR (self), apr_cross_products_get_n_features (state), n_targets);
  (void) apr_estimator_set_feature_names (APR_ESTIMATOR (self), apr_cross_products_get_feature_names (state),
                                          NULL);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
}
