/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/linear-model/apr-prediction-private.h"

static gboolean
check_method (AprLinearRegression *self, const AprLinearResults *results, const char *what, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autofree char *text = NULL;
  char number[APR_NUMBER_SIZE];

  if (apr_linear_results_has_statistics (results))
    return TRUE;

  if (isnan (results->fitted.alpha))
    text = g_strdup ("hyper-parameter alphas");
  else if (results->fitted.alpha == 0)
    text = g_strdup ("hyper-parameter positive");
  else
    text = g_strdup_printf ("hyper-parameter%s alpha = %s%s", results->fitted.positive ? "s" : "",
                            apr_number_format (results->fitted.alpha, FALSE, number),
                            results->fitted.positive ? " and positive" : "");
  g_set_error (
    error, APR_ERROR, APR_ERROR_FAILED,
    "Cannot %s this %s: that is defined for ordinary least squares, but the model was fitted with the %s",
    what, G_OBJECT_TYPE_NAME (self), text);
  return FALSE;
}

AprInferenceSource
apr_linear_regression_get_source (const AprFitted *fitted)
{
  const AprLinearResults *results = fitted->results;

  return (AprInferenceSource){
    .cross_products = results->cross_products,
    .fit_intercept = results->fitted.fit_intercept,
    .dependent = (const gsize *) (gconstpointer) results->dependent->data,
    .n_dependent = results->dependent->len,
    .feature_names = (const char *const *) fitted->names[APR_FEATURE_NAMES],
    .coefficients = results->coefficients,
    .intercept = results->intercept,
  };
}

AprInference *
apr_linear_regression_infer (AprLinearRegression *self,
                             const AprFitted *fitted,
                             const char *what,
                             gboolean relations,
                             GCancellable *cancellable,
                             GError **error)
{
  AprLinearResults *results = fitted->results;
  AprRun run = { .n_threads = apr_linear_regression_get_n_threads (self), .cancellable = cancellable };
  AprInferenceSource source;
  AprInference *inference;

  if (!apr_linear_regression_check_state (self, results, what, error))
    return NULL;
  g_assert (results != NULL);
  if (!check_method (self, results, what, error))
    return NULL;

  inference = apr_linear_results_ref_inference (results, fitted->names[APR_FEATURE_NAMES]);
  if (inference != NULL && (inference->has_relations || !relations))
    return inference;
  g_clear_pointer (&inference, apr_inference_unref);

  source = apr_linear_regression_get_source (fitted);
  source.relations = relations;
  inference = apr_inference_new (&source, &run, error);
  if (inference != NULL)
    apr_linear_results_keep_inference (results, inference, fitted->names[APR_FEATURE_NAMES]);
  else
    g_prefix_error (error, "Cannot %s this %s: ", what, G_OBJECT_TYPE_NAME (self));

  return inference;
}

static AprRegressionStatistics *
get_statistics (AprLinearRegression *self, gsize target, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprInference) inference = NULL;
  const AprRun run = { .cancellable = cancellable };
  const AprLinearResults *results;

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  results = fitted->results;
  if (results != NULL && results->cross_products != NULL && target >= results->n_targets)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "There is no target %" G_GSIZE_FORMAT " (counted from 0): the model has %" G_GSIZE_FORMAT,
                   target, results->n_targets);
      return NULL;
    }

  inference = apr_linear_regression_infer (self, fitted, "tell the statistics of", FALSE, cancellable, error);

  return inference != NULL ? apr_inference_get_statistics (inference, target, &run, error) : NULL;
}

/**
 * apr_linear_regression_get_statistics:
 * @self: a fitted linear regression
 * @target: which target, counted from 0
 * @error: return location for an error
 *
 * Works out what the fit says beside the coefficients: how well they are known, and how well the model fits.
 *
 * It takes time in proportion to the third power of the number of features, whatever the number of samples. That
 * works after any kind of fit, and after loading where the file holds the sums
 * ([property@Apr.LinearRegression:keep-state]).
 *
 * Where features depend on each other, the dependent ones are left out, as R does, and the statistics are those of
 * the rest.
 *
 * Returns: (transfer full): the statistics; `NULL` with %APR_ERROR_NOT_FITTED, %APR_ERROR_STATE where the model was
 *   loaded from a file without its sums, %APR_ERROR_MODEL where no samples can have the sums of its file,
 *   %APR_ERROR_RANGE where there is no such target, %APR_ERROR_NO_MEMORY, %APR_ERROR_FEATURE_NAMES where a feature is
 *   called “(Intercept)” beside an intercept, or %APR_ERROR_FAILED where the fit was not one of ordinary least squares:
 *   with alpha, alphas or positive
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_statistics (AprLinearRegression *self, gsize target, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return get_statistics (self, target, g_cancellable_get_current (), error);
}

static gboolean
run_get_statistics (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  call->results[0] = apr_linear_regression_get_statistics (APR_LINEAR_REGRESSION (self), call->target, error);
  call->free_result = g_object_unref;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_get_statistics_async:
 * @self: a fitted linear regression
 * @target: which target, counted from 0
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the statistics are there
 * @user_data: data to pass to @callback
 *
 * Works out the statistics without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_get_statistics_async (AprLinearRegression *self,
                                            gsize target,
                                            int io_priority,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_get_statistics;
  call->target = target;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_get_statistics_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_get_statistics_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.get_statistics_async] began.
 *
 * Returns: (transfer full): the statistics, or `NULL` with an error as of [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_statistics_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_get_statistics_async, error);
}

static void
append_heading (GString *text, const AprFitted *fitted, gsize target)
{
  g_string_append (text, target > 0 ? "\n" : "");
  if (fitted->names[APR_TARGET_NAMES] != NULL)
    g_string_append_printf (text, "Target %s\n\n", fitted->names[APR_TARGET_NAMES][target]);
  else
    g_string_append_printf (text, "Target %" G_GSIZE_FORMAT "\n\n", target);
}

/**
 * apr_linear_regression_summary:
 * @self: a fitted linear regression
 * @error: return location for an error
 *
 * Writes the statistics of all targets as a text of tables, as [method@Apr.RegressionStatistics.to_string] does for
 * one.
 *
 * Returns: (transfer full): the text; `NULL` as of [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
char *
apr_linear_regression_summary (AprLinearRegression *self, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprInference) inference = NULL;
  const AprRun run = { .cancellable = g_cancellable_get_current () };
  gsize n_targets;
  gsize target;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  inference = apr_linear_regression_infer (self, fitted, "summarise", FALSE, run.cancellable, error);
  if (inference == NULL)
    return NULL;

  n_targets = ((const AprLinearResults *) fitted->results)->n_targets;
  for (target = 0; target < n_targets; target++)
    {
      g_autoptr (AprRegressionStatistics) statistics =
        apr_inference_get_statistics (inference, target, &run, error);
      g_autofree char *part = NULL;

      if (statistics == NULL)
        return NULL;
      part = apr_regression_statistics_to_string (statistics);
      if (n_targets > 1)
        append_heading (text, fitted, target);
      g_string_append (text, part);
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
run_summary (AprEstimator *self,
             AprEstimatorCall *call,
             GCancellable *cancellable G_GNUC_UNUSED,
             GError **error)
{
  call->results[0] = apr_linear_regression_summary (APR_LINEAR_REGRESSION (self), error);
  call->free_result = g_free;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_summary_async:
 * @self: a fitted linear regression
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the text is there
 * @user_data: data to pass to @callback
 *
 * Works out the statistics of all targets, and writes them as a text, without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_summary_async (AprLinearRegression *self,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_summary;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_summary_async, io_priority,
                            cancellable, callback, user_data);
}

/**
 * apr_linear_regression_summary_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.summary_async] began.
 *
 * Returns: (transfer full): the text; `NULL` with an error as of [method@Apr.LinearRegression.summary]
 *
 * Since: 0.1
 */
char *
apr_linear_regression_summary_finish (AprLinearRegression *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_summary_async, error);
}

static gboolean
check_interval (AprLinearRegression *self, const AprFitted *fitted, double level, GError **error)
{
  if (!(level > 0 && level < 1))
    {
      char number[APR_NUMBER_SIZE];

      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The level of confidence must be between 0 and 1, but it is %s",
                   apr_number_format (level, FALSE, number));
      return FALSE;
    }

  return apr_linear_regression_check_state (self, fitted->results, "give intervals with", error);
}

static void
predict_rows (gconstpointer data, gsize first_row, gsize n_rows, const double *products, double *predictions)
{
  apr_prediction_rows_predict_doubles (data, first_row, n_rows, products, predictions);
}

static gboolean
predict_interval (AprLinearRegression *self,
                  AprTensor *x,
                  double level,
                  AprIntervalKind kind,
                  GCancellable *cancellable,
                  AprTensor **lower,
                  AprTensor **upper,
                  GError **error)
{
  gsize missing = 0;
  AprRun run = { .n_threads = apr_linear_regression_get_n_threads (self),
                 .cancellable = cancellable,
                 .missing = &missing };
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  const AprLinearResults *results = fitted->results;
  g_autoptr (AprInference) inference = NULL;
  g_auto (AprPredictionRows) rows = { 0 };
  AprInferencePredictor predictor = { predict_rows, &rows, NULL };
  gsize n_samples;
  gsize n_features;

  if (!check_interval (self, fitted, level, error) ||
      !apr_estimator_check_x (x, &n_samples, &n_features, error) ||
      !apr_estimator_check_n_features ("X", n_features, results->n_features, error))
    return FALSE;
  inference = apr_linear_regression_infer (self, fitted, "give intervals with", TRUE, cancellable, error);
  if (inference == NULL)
    return FALSE;

  apr_prediction_rows_init (&rows, results->coefficients, results->intercept, x, NULL, &run);
  if (apr_run_set_error_if_cancelled (&run, error))
    return FALSE;
  if (rows.model.n_targets == 1)
    predictor.coefficients = rows.model.coefficients;
  return apr_inference_predict_interval (inference, x, &predictor, level, kind, &run, lower, upper, error);
}

/**
 * apr_linear_regression_predict_interval:
 * @self: a fitted linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @level: how sure the intervals are, between 0 and 1, such as 0.95
 * @kind: what is to be within them
 * @lower: (out) (optional) (transfer full): the lower ends, F64, in the shape of the predictions
 * @upper: (out) (optional) (transfer full): the upper ends
 * @error: return location for an error
 *
 * Predicts, with an interval of the probability @level: for the mean of all samples with these features, or for one
 * more sample of weight 1. It assumes independent normal errors of one variance. The bounds are NaN where the fit
 * leaves no degrees of freedom.
 *
 * The distance of the bounds from the middle is that of the exact solution, with a relative error below 2^-36. The
 * middle is what [method@Apr.Estimator.predict] gives, from coefficients that are rounded once each: it errs by up to
 * (n_features + 2) u Σ |b x|, where the intercept is among the terms b x, with u = 2^-53, or 2^-24 for coefficients in
 * F32. Far from the samples, or where features nearly depend on each other, these terms cancel, and that may be more
 * than the bounds are apart. Both bounds are rounded to F64.
 *
 * Returns: true, or false with %APR_ERROR_RANGE where @level is not between 0 and 1 or where the
 *   prediction for a sample is not estimable, since a feature that depends on others in the samples of the fit does
 *   not do so in it, or another error of [method@Apr.Estimator.predict] or
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
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (kind == APR_INTERVAL_CONFIDENCE || kind == APR_INTERVAL_PREDICTION, FALSE);

  return predict_interval (self, x, level, kind, g_cancellable_get_current (), lower, upper, error);
}

static gboolean
run_predict_interval (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprTensor *lower = NULL;
  AprTensor *upper = NULL;

  if (!predict_interval (APR_LINEAR_REGRESSION (self), call->x, call->level, (AprIntervalKind) call->kind,
                         cancellable, &lower, &upper, error))
    return FALSE;

  call->results[0] = lower;
  call->results[1] = upper;
  call->free_result = (GDestroyNotify) apr_tensor_unref;
  return TRUE;
}

/**
 * apr_linear_regression_predict_interval_async:
 * @self: a fitted linear regression
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @level: how sure the intervals are, between 0 and 1, such as 0.95
 * @kind: what is to be within them
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the intervals are there
 * @user_data: data to pass to @callback
 *
 * Predicts intervals without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_predict_interval_async (AprLinearRegression *self,
                                              AprTensor *x,
                                              double level,
                                              AprIntervalKind kind,
                                              int io_priority,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (x != NULL);
  g_return_if_fail (kind == APR_INTERVAL_CONFIDENCE || kind == APR_INTERVAL_PREDICTION);

  call = apr_estimator_call_new (x, NULL, NULL);
  call->run = run_predict_interval;
  call->level = level;
  call->kind = (guint) kind;
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_predict_interval_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_predict_interval_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @lower: (out) (optional) (transfer full): the lower ends, F64, in the shape of the predictions
 * @upper: (out) (optional) (transfer full): the upper ends
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.predict_interval_async] began.
 *
 * Returns: true, or false with an error as of [method@Apr.LinearRegression.predict_interval]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_predict_interval_finish (
  AprLinearRegression *self, GAsyncResult *result, AprTensor **lower, AprTensor **upper, GError **error)
{
  AprEstimatorCall *call;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  call = apr_estimator_call_finish (self, result, apr_linear_regression_predict_interval_async, error);
  if (call == NULL)
    return FALSE;

  if (lower != NULL)
    *lower = g_steal_pointer (&call->results[0]);
  if (upper != NULL)
    *upper = g_steal_pointer (&call->results[1]);
  return TRUE;
}
