/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"

/* What a fit works on and what comes of it; nothing of the model, so that it may run in a thread. */
typedef struct
{
  AprTensor *x;             /* (owned) (nullable) */
  AprTensor *y;             /* (owned) (nullable) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  AprPrecision precision;
  AprLeastSquaresOptions options; /* but for data_dtype and noisy; the dtype may be NONE */

  AprLinearRegression *model; /* (unowned) whose progress it is */
  GTask *task;                /* (unowned) (nullable) in whose context it is told */

  AprLinearResults results;
} Fit;

static Fit *
fit_new (AprLinearRegression *self, AprTensor *x, AprTensor *y, AprTensor *sample_weight)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);
  Fit *fit = g_new0 (Fit, 1);

  fit->x = x != NULL ? apr_tensor_ref (x) : NULL;
  fit->y = y != NULL ? apr_tensor_ref (y) : NULL;
  fit->sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;
  fit->precision = priv->precision;
  fit->options.fit_intercept = priv->fit_intercept;
  fit->options.alpha = priv->alpha;
  fit->options.positive = priv->positive;
  fit->options.dtype = priv->dtype;
  fit->options.n_threads = priv->n_threads;
  fit->model = self;

  return fit;
}

static void
fit_free (Fit *fit)
{
  g_clear_pointer (&fit->x, apr_tensor_unref);
  g_clear_pointer (&fit->y, apr_tensor_unref);
  g_clear_pointer (&fit->sample_weight, apr_tensor_unref);
  apr_linear_results_clear (&fit->results);
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

static gboolean
check_options (const AprLeastSquaresOptions *options, GError **error)
{
  AprDType dtype = options->dtype;

  if (dtype != APR_DTYPE_NONE && dtype != APR_DTYPE_F32 && dtype != APR_DTYPE_F64)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "The hyper-parameter “dtype” is %s, but it must be F32, F64 or NONE",
                   apr_dtype_to_string (dtype));
      return FALSE;
    }

  if (!isfinite (options->alpha) || options->alpha < 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The hyper-parameter “alpha” is %g, but it must be a finite number of at least 0",
                   options->alpha);
      return FALSE;
    }

  return TRUE;
}

/* Takes @state, and solves it; @n_dims is that of y, 1 where there is one target that is no matrix. */
static gboolean
fit_solve (Fit *fit, AprCrossProducts *state, gsize n_dims, GError **error)
{
  /* Also for the results' way from double to float, where a subnormal number would be flushed to zero. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprExactSums *sums = apr_cross_products_get_sums (state);
  AprDType data_dtype = apr_cross_products_get_dtype (state);
  gsize shape[2] = { apr_exact_sums_get_n_targets (sums), apr_exact_sums_get_n_features (sums) };
  AprDType dtype = fit->options.dtype != APR_DTYPE_NONE ? fit->options.dtype : data_dtype;
  g_auto (AprLeastSquares) solution = { NULL };

  /* The names are the model's to give. */
  fit->results.cross_products = state;
  (void) apr_cross_products_set_feature_names (state, NULL, NULL);
  if (!apr_exact_sums_has_weight (sums))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero");
      return FALSE;
    }

  fit->options.data_dtype = data_dtype;
  fit->options.noisy = apr_cross_products_get_precision (state) == APR_PRECISION_DOUBLE;
  fit->options.dtype = dtype;
  /* What comes from a file could keep the solver busy for minutes. */
  if (!fit->options.noisy && !apr_exact_sums_check (sums, error))
    return FALSE;
  if (!apr_least_squares_solve (&solution, sums, &fit->options, error))
    return FALSE;

  fit->results.coefficients = n_dims == 2 ? new_result (dtype, solution.coefficients, shape, 2)
                                          : new_result (dtype, solution.coefficients, shape + 1, 1);
  fit->results.intercept = new_result (dtype, solution.intercepts, shape, 1);
  fit->results.rank = (int) solution.rank;
  fit->results.condition_number = APR_CONDITION_PENDING;
  fit->results.correctly_rounded = solution.correctly_rounded;
  fit->results.dependent = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_array_append_vals (fit->results.dependent, solution.dependent, (guint) solution.n_dependent);
  fit->results.fitted = fit->options;
  return TRUE;
}

/* Progress that is on its way to the context of a task. */
typedef struct
{
  AprLinearRegression *model; /* (owned) */
  guint64 n_done;
  guint64 n_samples;
} Progress;

static void
progress_free (gpointer data)
{
  Progress *self = data;

  g_object_unref (self->model);
  g_free (self);
}

static gboolean
progress_emit (gpointer data)
{
  const Progress *self = data;

  apr_linear_regression_emit_progress (self->model, self->n_done, self->n_samples);

  return G_SOURCE_REMOVE;
}

static void
tell_progress (guint64 n_done, guint64 n_samples, gpointer user_data)
{
  Fit *fit = user_data;
  Progress *progress;
  g_autoptr (GSource) source = NULL;

  if (fit->task == NULL)
    {
      apr_linear_regression_emit_progress (fit->model, n_done, n_samples);
      return;
    }

  if (!apr_linear_regression_tells_progress (fit->model))
    return;
  progress = g_new (Progress, 1);
  *progress = (Progress){ g_object_ref (fit->model), n_done, n_samples };
  source = g_idle_source_new ();
  g_source_set_name (source, "AprLinearRegression progress");
  /* That of the task's end, which comes after it. */
  g_source_set_priority (source, g_task_get_priority (fit->task));
  g_source_set_callback (source, progress_emit, progress, progress_free);
  g_source_attach (source, g_task_get_context (fit->task));
}

/* Adds the samples to those of @state, where there is one. */
static gboolean
fit_run (Fit *fit, AprCrossProducts *state, GCancellable *cancellable, GError **error)
{
  gsize n_dims;
  const gsize *y_shape = apr_tensor_get_shape (fit->y, &n_dims);
  gsize n_features = apr_tensor_get_shape (fit->x, NULL)[1];
  g_autoptr (AprCrossProducts) sums = NULL;

  if (!check_options (&fit->options, error))
    return FALSE;

  sums = state != NULL ? apr_cross_products_copy (state)
                       : apr_cross_products_new (n_features, n_dims == 2 ? y_shape[1] : 1, error);

  return sums != NULL &&
         apr_cross_products_update_with (sums, fit->x, fit->y, fit->sample_weight, fit->precision,
                                         fit->options.n_threads, cancellable, tell_progress, fit, error) &&
         fit_solve (fit, g_steal_pointer (&sums), n_dims, error);
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

  if (!fit_run (fit, NULL, cancellable, error))
    return FALSE;

  apr_linear_regression_take_results (self, &fit->results);
  return TRUE;
}

static void
fit_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  Fit *fit = task_data;
  GError *error = NULL;

  fit->task = task;
  if (fit_run (fit, NULL, cancellable, &error))
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
  g_autoptr (GTask) task = NULL;

  /* A subclass's own fit may be a script's, which must not be called in a thread. */
  if (APR_ESTIMATOR_GET_CLASS (estimator)->fit != apr_linear_regression_fit)
    {
      apr_estimator_fit_in_context (estimator, x, y, sample_weight, cancellable, callback, user_data);
      return;
    }

  task = g_task_new (estimator, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_linear_regression_fit_async);
  g_task_set_task_data (task, fit_new (APR_LINEAR_REGRESSION (estimator), x, y, sample_weight),
                        (GDestroyNotify) fit_free);
  g_task_run_in_thread (task, fit_in_thread);
}

gboolean
apr_linear_regression_fit_finish (AprEstimator *estimator, GAsyncResult *result, GError **error)
{
  Fit *fit;

  if (g_task_get_source_tag (G_TASK (result)) != apr_linear_regression_fit_async)
    return g_task_propagate_boolean (G_TASK (result), error);

  fit = g_task_get_task_data (G_TASK (result));
  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;

  apr_linear_regression_take_results (APR_LINEAR_REGRESSION (estimator), &fit->results);
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
 * Returns: true, or false with the model as it was: %APR_ERROR_EMPTY where the state has no samples, %APR_ERROR_MODEL where it is
 *   found that its sums are not those of any samples, as when others were subtracted than were in them, or another error
 *   of [method@Apr.Estimator.fit]
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
  if (!check_options (&fit->options, error) ||
      !fit_solve (fit, apr_cross_products_copy (state), n_targets > 1 ? 2 : 1, error))
    return FALSE;

  g_object_freeze_notify (G_OBJECT (self));
  apr_linear_regression_take_results (self, &fit->results);
  apr_estimator_set_fitted (APR_ESTIMATOR (self), apr_cross_products_get_n_features (state), n_targets);
  (void) apr_estimator_set_feature_names (APR_ESTIMATOR (self), apr_cross_products_get_feature_names (state),
                                          NULL);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
}

/**
 * apr_linear_regression_partial_fit:
 * @self: a linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Fits the model to more samples, beside those that it was fitted to before.
 *
 * The model is that of one fit with all of them, bit for bit, however they are cut. An unfitted model begins with these
 * samples. The hyper-parameters that hold now are those of the whole fit; the names of the features stay.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_SHAPE where the numbers of features and targets are not
 *   those of before, %APR_ERROR_STATE where the model was loaded from a file without its sums, or another error of
 *   [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_partial_fit (AprLinearRegression *self,
                                   AprTensor *x,
                                   AprTensor *y,
                                   AprTensor *sample_weight,
                                   GCancellable *cancellable,
                                   GError **error)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);
  AprEstimator *estimator = APR_ESTIMATOR (self);
  g_autoptr (Fit) fit = NULL;
  gsize n_features;
  gsize n_targets;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (y != NULL, FALSE);

  if (!apr_estimator_check_fit (x, y, sample_weight, &n_features, &n_targets, error) ||
      (apr_estimator_get_fitted (estimator) &&
       !apr_linear_regression_check_state (self, "add samples to", error)))
    return FALSE;

  fit = fit_new (self, x, y, sample_weight);
  if (!fit_run (fit, results->cross_products, cancellable, error))
    return FALSE;

  g_object_freeze_notify (G_OBJECT (self));
  apr_linear_regression_take_results (self, &fit->results);
  if (!apr_estimator_get_fitted (estimator))
    apr_estimator_set_fitted (estimator, n_features, n_targets);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
}
