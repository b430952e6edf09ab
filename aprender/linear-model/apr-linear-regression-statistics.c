/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/inference/apr-regression-diagnostics-private.h"

static gboolean
check_method (AprLinearRegression *self, const char *what, GError **error)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);

  if (results->fitted.alpha == 0 && !results->fitted.positive)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "Cannot %s this %s: that is defined for ordinary least squares, but the model was fitted with "
               "the hyper-parameters alpha = %g and positive = %s",
               what, G_OBJECT_TYPE_NAME (self), results->fitted.alpha,
               results->fitted.positive ? "true" : "false");
  return FALSE;
}

/* What the statistics and the intervals are computed from. Returns: (transfer full) (nullable) */
static AprInference *
infer (AprLinearRegression *self, const char *what, GError **error)
{
  const AprLinearResults *results = apr_linear_regression_get_results (self);
  AprInferenceRun run = { .n_threads = apr_linear_regression_get_n_threads (self) };
  AprInferenceSource source;
  AprInference *inference;

  if (!apr_linear_regression_check_state (self, what, error) || !check_method (self, what, error))
    return NULL;

  source = (AprInferenceSource){
    .cross_products = results->cross_products,
    .fit_intercept = results->fitted.fit_intercept,
    .dependent = (const gsize *) (gconstpointer) results->dependent->data,
    .n_dependent = results->dependent->len,
    .feature_names = apr_estimator_get_feature_names (APR_ESTIMATOR (self)),
    .coefficients = results->coefficients,
    .intercept = results->intercept,
  };
  inference = apr_inference_new (&source, &run, error);
  if (inference == NULL)
    g_prefix_error (error, "Cannot %s this %s: ", what, G_OBJECT_TYPE_NAME (self));

  return inference;
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
 *   loaded from a file without its sums, %APR_ERROR_RANGE where there is no such target, or %APR_ERROR_FAILED where
 *   the fit was not one of ordinary least squares: with alpha or positive
 *
 * Since: 0.1
 */
AprRegressionStatistics *
apr_linear_regression_get_statistics (AprLinearRegression *self, gsize target, GError **error)
{
  g_autoptr (AprInference) inference = NULL;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  if (apr_linear_regression_check_state (self, "tell the statistics of", NULL) &&
      target >= apr_estimator_get_n_targets (APR_ESTIMATOR (self)))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "There is no target %" G_GSIZE_FORMAT " (counted from 0): the model has %" G_GSIZE_FORMAT,
                   target, apr_estimator_get_n_targets (APR_ESTIMATOR (self)));
      return NULL;
    }

  inference = infer (self, "tell the statistics of", error);

  return inference != NULL ? apr_inference_get_statistics (inference, target) : NULL;
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
  g_autoptr (AprInference) inference = NULL;
  gsize n_targets;
  gsize target;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  inference = infer (self, "summarise", error);
  if (inference == NULL)
    return NULL;

  n_targets = apr_estimator_get_n_targets (APR_ESTIMATOR (self));
  for (target = 0; target < n_targets; target++)
    {
      g_autoptr (AprRegressionStatistics) statistics = apr_inference_get_statistics (inference, target);
      g_autofree char *part = apr_regression_statistics_to_string (statistics);

      if (n_targets > 1)
        g_string_append_printf (text, "%sTarget %" G_GSIZE_FORMAT "\n\n", target > 0 ? "\n" : "", target);
      g_string_append (text, part);
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
check_interval (AprLinearRegression *self, double level, GError **error)
{
  if (!(level > 0 && level < 1))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The level of confidence must be between 0 and 1, but it is %g", level);
      return FALSE;
    }

  return apr_linear_regression_check_state (self, "give intervals with", error);
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
 * Predicts, with bounds that hold the truth with the probability @level: the mean of all samples with these features,
 * or one more sample of weight 1. The prediction is in the middle, and the distance of the bounds from it has a
 * relative error below 2^-36. The bounds are NaN where the fit leaves no degrees of freedom.
 *
 * Returns: true, or false with %APR_ERROR_RANGE where @level is not between 0 and 1, %APR_ERROR_FAILED where the
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
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprInference) inference = NULL;
  AprInferenceRun run = { 0 };

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
  inference = infer (self, "give intervals with", error);

  run.n_threads = apr_linear_regression_get_n_threads (self);

  return inference != NULL &&
         apr_inference_predict_interval (inference, x, predictions, level, kind, &run, lower, upper, error);
}

/**
 * apr_linear_regression_diagnose:
 * @self: a fitted linear regression
 * @x: the features of the samples that the model was fitted to, [n_samples, n_features]
 * @y: their targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): their weights, [n_samples]; `NULL` for equal weights
 * @target: which target, counted from 0
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Computes how well each sample is fitted, and how much the fit depends on it.
 *
 * The samples must be those of the fit, which the model does not keep; for others, the results have no meaning.
 *
 * Returns: (transfer full): the diagnostics; `NULL` with %APR_ERROR_SHAPE where @x and @y do not have the features
 *   and the targets of the model, or another error of [method@Apr.Estimator.fit] or
 *   [method@Apr.LinearRegression.get_statistics]
 *
 * Since: 0.1
 */
AprRegressionDiagnostics *
apr_linear_regression_diagnose (AprLinearRegression *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                gsize target,
                                GCancellable *cancellable,
                                GError **error)
{
  AprInferenceRun run = { .cancellable = cancellable };
  g_autoptr (AprInference) inference = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  gsize n_features;
  gsize n_targets;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);
  g_return_val_if_fail (y != NULL, NULL);

  inference = infer (self, "diagnose", error);
  if (inference == NULL || !apr_estimator_check_fit (x, y, sample_weight, &n_features, &n_targets, error))
    return NULL;
  if (n_targets != inference->n_targets || target >= n_targets)
    {
      g_set_error (error, APR_ERROR, n_targets != inference->n_targets ? APR_ERROR_SHAPE : APR_ERROR_RANGE,
                   "Cannot diagnose target %" G_GSIZE_FORMAT " (counted from 0) with a y of %" G_GSIZE_FORMAT
                   " targets: the model has %" G_GSIZE_FORMAT,
                   target, n_targets, inference->n_targets);
      return NULL;
    }

  predictions = apr_estimator_predict (APR_ESTIMATOR (self), x, error);
  run.n_threads = apr_linear_regression_get_n_threads (self);

  return predictions != NULL
         ? apr_inference_diagnose (inference, x, y, sample_weight, predictions, target, &run, error)
         : NULL;
}
