/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-linear-solve-private.h"

/* One fit: how it is done, and what it finds. */
typedef struct
{
  AprLinearRegression *model; /* (unowned) */
  AprLinearOptions options;
  AprTensor *alphas;         /* (owned) (nullable) */
  AprLinearResults *results; /* (owned): with the options of the solver, but for those that the data decide */
  AprRun sums;               /* how the rows are summed, and the sums solved: parts of one whole */
  AprRun solution;
  double told; /* the progress */
} Fit;

static void
fit_clear (Fit *fit)
{
  g_clear_pointer (&fit->results, apr_linear_results_unref);
  g_clear_pointer (&fit->alphas, apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fit, fit_clear)

static void
tell_progress (double fraction, gpointer user_data)
{
  const Fit *fit = user_data;

  /* The end is told with the results. */
  if (fraction < 1)
    apr_estimator_report_progress (APR_ESTIMATOR (fit->model), fraction);
}

/* @sums is the part of the sums in the work. */
static gboolean
fit_init (Fit *fit, AprLinearRegression *model, double sums, GCancellable *cancellable, GError **error)
{
  AprRun run = {
    .cancellable = cancellable, .progress = tell_progress, .progress_data = fit, .told = &fit->told
  };

  fit->model = model;
  fit->alphas = apr_linear_regression_ref_kept (model, &fit->options);
  fit->results = apr_linear_results_new (&fit->options.solver);
  run.n_threads = fit->options.n_threads;
  fit->sums = apr_run_get_part (&run, 0, sums);
  fit->solution = apr_run_get_part (&run, sums, 1);

  return apr_linear_options_check (&fit->options, fit->alphas, error);
}

/* Takes @state, solves it, and leaves what is found to the end of the update; @n_dims is that of y, 1 where there
 * is one target that is no matrix. */
static gboolean
fit_solve (Fit *fit, AprCrossProducts *state, gsize n_dims, GError **error)
{
  AprLinearResults *results = fit->results;
  AprLeastSquaresOptions *options = &results->fitted;
  gsize shape[2] = { apr_cross_products_get_n_targets (state), apr_cross_products_get_n_features (state) };
  g_auto (AprLeastSquares) solution = { NULL };
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (AprTensor) intercepts = NULL;
  g_auto (GStrv) feature_names = g_strdupv ((char **) apr_cross_products_get_feature_names (state));
  g_auto (GStrv) target_names = g_strdupv ((char **) apr_cross_products_get_target_names (state));

  /* The names are the model's to give. */
  results->cross_products = state;
  apr_cross_products_take_names (state, APR_FEATURE_NAMES, NULL);
  apr_cross_products_take_names (state, APR_TARGET_NAMES, NULL);
  apr_linear_options_complete (options, apr_cross_products_get_dtype (state),
                               apr_cross_products_get_precision (state));
  if (!apr_linear_solve_state (&solution, state, fit->alphas, options, &fit->solution, error))
    return FALSE;

  if (fit->alphas != NULL)
    options->alpha = NAN;
  coefficients = n_dims == 2
                 ? apr_linear_result_new (options->dtype, solution.coefficients, shape, 2, error)
                 : apr_linear_result_new (options->dtype, solution.coefficients, shape + 1, 1, error);
  intercepts = coefficients != NULL
               ? apr_linear_result_new (options->dtype, solution.intercepts, shape, 1, error)
               : NULL;
  if (intercepts == NULL || !apr_linear_results_take_tensors (results, g_steal_pointer (&coefficients),
                                                              g_steal_pointer (&intercepts), error))
    return FALSE;
  results->rank = (gint64) solution.rank;
  results->condition_number = APR_CONDITION_PENDING;
  results->correctly_rounded = solution.correctly_rounded;
  results->dependent = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_array_append_vals (results->dependent, solution.dependent, (guint) solution.n_dependent);
  apr_linear_results_find_prediction_rounding (results);
  apr_linear_regression_take_pending (fit->model, g_steal_pointer (&fit->results),
                                      (const char *const *) feature_names,
                                      (const char *const *) target_names);
  return TRUE;
}

/* Adds the samples to those of @state, where there is one. */
static gboolean
fit_samples (AprLinearRegression *self,
             AprCrossProducts *state,
             AprTensor *x,
             AprTensor *y,
             AprTensor *sample_weight,
             GCancellable *cancellable,
             GError **error)
{
  g_auto (Fit) fit = { NULL };
  g_autoptr (AprCrossProducts) sums = NULL;
  const gsize *x_shape = apr_tensor_get_shape (x, NULL);

  /* To solve for p coefficients takes about as long as to sum 3 p rows. */
  if (!fit_init (&fit, self, (double) x_shape[0] / ((double) x_shape[0] + 3 * (double) x_shape[1]),
                 cancellable, error))
    return FALSE;

  sums = state != NULL ? apr_cross_products_copy (state)
                       : apr_cross_products_new (x_shape[1], apr_estimator_count_targets (y), error);
  if (sums == NULL)
    return FALSE;

  return apr_cross_products_update_with (sums, x, y, sample_weight, fit.options.precision, &fit.sums,
                                         error) &&
         fit_solve (&fit, g_steal_pointer (&sums), apr_tensor_get_n_dims (y), error);
}

gboolean
apr_linear_regression_fit (AprEstimator *estimator,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  return fit_samples (APR_LINEAR_REGRESSION (estimator), NULL, x, y, sample_weight, cancellable, error);
}

static gboolean
run_fit_cross_products (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprCrossProducts *state = APR_CROSS_PRODUCTS (call->object);
  gsize n_targets = apr_cross_products_get_n_targets (state);
  gboolean has_names = apr_cross_products_get_feature_names (state) != NULL;
  gboolean has_target_names = apr_cross_products_get_target_names (state) != NULL;
  g_auto (Fit) fit = { NULL };

  return apr_estimator_check_begun_names (self, has_names ? 0 : apr_cross_products_get_n_features (state),
                                          has_target_names ? 0 : n_targets, error) &&
         fit_init (&fit, APR_LINEAR_REGRESSION (self), 0, cancellable, error) &&
         fit_solve (&fit, apr_cross_products_copy (state), n_targets > 1 ? 2 : 1, error);
}

static gboolean
check_state_to_fit (AprCrossProducts *state, GError **error)
{
  if (!apr_cross_products_check (state, error))
    return FALSE;
  if (apr_cross_products_get_n_samples (state) > 0)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "Cannot fit cross products of 0 samples");
  return FALSE;
}

/**
 * apr_linear_regression_fit_cross_products:
 * @self: a linear regression
 * @state: the cross products of the samples
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Fits the model to samples that have been summed before.
 *
 * The model is that of [method@Apr.Estimator.fit] with the same samples, bit for bit, however they were cut into
 * updates and merges. Where the state has one target, the coefficients have the shape [n_features]; F32 counts as
 * the samples' dtype where all X were F32. Names that the state has take the place of the model's.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_EMPTY where the state has no samples,
 *   %APR_ERROR_MODEL where it is found that its sums are not those of any samples, as when others were subtracted
 *   than were in them, or another error of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_fit_cross_products (AprLinearRegression *self,
                                          AprCrossProducts *state,
                                          GCancellable *cancellable,
                                          GError **error)
{
  AprEstimatorCall call = { .object = G_OBJECT (state) };

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (state), FALSE);

  return check_state_to_fit (state, error) &&
         apr_estimator_update (APR_ESTIMATOR (self), run_fit_cross_products, &call, cancellable, error);
}

/**
 * apr_linear_regression_fit_cross_products_async:
 * @self: a linear regression
 * @state: the cross products of the samples; samples that are added after the call do not count
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the fit has ended
 * @user_data: data to pass to @callback
 *
 * Fits the model to samples that have been summed before, without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_fit_cross_products_async (AprLinearRegression *self,
                                                AprCrossProducts *state,
                                                int io_priority,
                                                GCancellable *cancellable,
                                                GAsyncReadyCallback callback,
                                                gpointer user_data)
{
  AprEstimatorCall *call;
  GError *error = NULL;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (state));

  if (!check_state_to_fit (state, &error))
    {
      apr_estimator_return_error (APR_ESTIMATOR (self), apr_linear_regression_fit_cross_products_async, error,
                                  callback, user_data);
      return;
    }

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_fit_cross_products;
  call->is_update = TRUE;
  call->object = G_OBJECT (apr_cross_products_copy (state));
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_fit_cross_products_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_fit_cross_products_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.fit_cross_products_async] began.
 *
 * Returns: true, or false with an error as of [method@Apr.LinearRegression.fit_cross_products]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_fit_cross_products_finish (AprLinearRegression *self,
                                                 GAsyncResult *result,
                                                 GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return apr_estimator_call_finish (self, result, apr_linear_regression_fit_cross_products_async, error) !=
         NULL;
}

static gboolean
run_partial_fit (AprEstimator *estimator, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autoptr (AprLinearResults) results = apr_linear_regression_ref_results (self);
  const gsize *x_shape = apr_tensor_get_shape (call->x, NULL);
  gsize n_targets = apr_estimator_count_targets (call->y);

  if (results != NULL && !apr_linear_regression_check_state (self, results, "add samples to", error))
    return FALSE;
  if (x_shape[0] == 0)
    return (results == NULL || apr_cross_products_check_widths (results->cross_products, x_shape[1],
                                                                n_targets, "Samples", error)) &&
           !g_cancellable_set_error_if_cancelled (cancellable, error);

  return apr_estimator_check_begun_names (estimator, x_shape[1], n_targets, error) &&
         fit_samples (self, results != NULL ? results->cross_products : NULL, call->x, call->y,
                      call->sample_weight, cancellable, error);
}

/**
 * apr_linear_regression_partial_fit:
 * @self: a linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Fits the model to more samples, beside those that it was fitted to before.
 *
 * The model is that of one fit with all of them, bit for bit, however they are cut. An unfitted model begins with these
 * samples. The hyper-parameters that hold now are those of the whole fit; the names of the features stay. Where there
 * are no samples, [0, n_features], as in a batch of a stream may be, the model stays as it is.
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
  AprEstimatorCall call = { .x = x, .y = y, .sample_weight = sample_weight };

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);

  return apr_estimator_check_more (x, y, sample_weight, error) &&
         apr_estimator_update (APR_ESTIMATOR (self), run_partial_fit, &call, cancellable, error);
}

/**
 * apr_linear_regression_partial_fit_async:
 * @self: a linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples]; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the fit has ended
 * @user_data: data to pass to @callback
 *
 * Fits the model to more samples without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_partial_fit_async (AprLinearRegression *self,
                                         AprTensor *x,
                                         AprTensor *y,
                                         AprTensor *sample_weight,
                                         int io_priority,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data)
{
  AprEstimatorCall *call;
  GError *error = NULL;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (x != NULL);

  if (!apr_estimator_check_more (x, y, sample_weight, &error))
    {
      apr_estimator_return_error (APR_ESTIMATOR (self), apr_linear_regression_partial_fit_async, error,
                                  callback, user_data);
      return;
    }

  call = apr_estimator_call_new (x, y, sample_weight);
  call->run = run_partial_fit;
  call->is_update = TRUE;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_partial_fit_async, io_priority,
                            cancellable, callback, user_data);
}

/**
 * apr_linear_regression_partial_fit_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.partial_fit_async] began.
 *
 * Returns: true, or false with an error as of [method@Apr.LinearRegression.partial_fit]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_partial_fit_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return apr_estimator_call_finish (self, result, apr_linear_regression_partial_fit_async, error) != NULL;
}
