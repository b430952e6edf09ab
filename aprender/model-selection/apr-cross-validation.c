/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-cross-validation.h"

#include <math.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-linear-regression-private.h"
#include "aprender/linear-model/apr-linear-score-private.h"
#include "aprender/linear-model/apr-linear-solve-private.h"
#include "aprender/model-selection/apr-folds-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* One call. */
typedef struct
{
  AprEstimator *model; /* (unowned) */
  AprEstimator
    *cloned;         /* (owned) (nullable) with the hyper-parameters of the beginning; none of regressions */
  AprFolds *folds;   /* (unowned) */
  gboolean predicts; /* whether it is the predictions that are wanted, or: */
  AprMetric metric;
  AprRun run;
  double told;

  /* Of linear regressions alone. */
  AprFoldSums *sums; /* (owned) (nullable) */
  AprLinearOptions options;
  AprTensor *alphas; /* (owned) (nullable) */

  /* What is found of each fold. */
  double *scores;          /* (owned) (nullable) */
  AprTensor **predictions; /* (owned) (nullable) */
  GError **errors;         /* (owned) */
  gboolean has_failed;     /* of models that are fitted one after the other: then none follows */

  GThread *caller; /* (unowned) who hears of the progress */
  gint n_done;     /* atomic: folds */
} Call;

static void
call_clear (Call *self)
{
  gsize i;

  for (i = 0; i < self->folds->n_folds; i++)
    {
      if (self->predictions != NULL)
        g_clear_pointer (&self->predictions[i], apr_tensor_unref);
      if (self->errors != NULL)
        g_clear_error (&self->errors[i]);
    }
  g_free (self->scores);
  g_free (self->predictions);
  g_free (self->errors);
  g_clear_object (&self->cloned);
  g_clear_pointer (&self->alphas, apr_tensor_unref);
  g_clear_pointer (&self->sums, apr_fold_sums_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, call_clear)

/* Whether the model is fitted and predicts as linear regressions do, also if a script has made a subclass of them. */
static gboolean
is_linear (AprEstimator *model)
{
  return APR_IS_LINEAR_REGRESSION (model) &&
         APR_ESTIMATOR_GET_CLASS (model)->fit == apr_linear_regression_fit &&
         APR_ESTIMATOR_GET_CLASS (model)->predict == apr_linear_regression_predict;
}

static gboolean
check_weight (AprCrossProducts *state, GError **error)
{
  if (apr_cross_products_has_weight (state))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero");
  return FALSE;
}

/* Fits a new regression, which no script knows, to all sums but those of the fold. */
static AprEstimator *
fit_sums (const Call *call, gsize fold, GError **error)
{
  const AprLinearOptions *options = &call->options;
  g_autoptr (AprCrossProducts) others = apr_cross_products_copy (call->sums->total);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "alpha", options->solver.alpha, "alphas", call->alphas,
                  "fit-intercept", options->solver.fit_intercept, "positive", options->solver.positive,
                  "dtype", options->solver.dtype, "precision", options->precision, "n-threads",
                  MAX (call->run.n_threads / (guint) MIN (call->folds->n_folds, G_MAXUINT), 1), NULL);

  return apr_cross_products_combine (others, call->sums->states[fold], -1, call->run.cancellable, error) &&
             check_weight (others, error) &&
             apr_linear_regression_fit_cross_products (model, others, call->run.cancellable, error)
         ? APR_ESTIMATOR (g_steal_pointer (&model))
         : NULL;
}

/* Fits a new model of the same class to all samples but those of the fold. */
static AprEstimator *
fit_samples (const Call *call, gsize fold, GError **error)
{
  GCancellable *cancellable = call->run.cancellable;
  g_autoptr (AprEstimator) model = NULL;
  g_autoptr (AprTensor) x = apr_folds_gather (call->folds, 0, fold, TRUE, cancellable, error);
  g_autoptr (AprTensor) y =
    x != NULL ? apr_folds_gather (call->folds, 1, fold, TRUE, cancellable, error) : NULL;
  g_autoptr (AprTensor) weights = NULL;

  if (y != NULL && call->folds->data[2] != NULL &&
      (weights = apr_folds_gather (call->folds, 2, fold, TRUE, cancellable, error)) == NULL)
    return NULL;
  if (y != NULL)
    model = apr_estimator_try_clone (call->cloned, error);

  return model != NULL && apr_estimator_fit (model, x, y, weights, cancellable, error)
         ? g_steal_pointer (&model)
         : NULL;
}

/* The plain mean. */
static double
average (const double *values, gsize n)
{
  AprDoubleDouble sum = { 0, 0 };
  gsize i;

  for (i = 0; i < n; i++)
    {
      if (!isfinite (values[i]))
        return values[i];
      sum = apr_dd_add (sum, (AprDoubleDouble){ values[i], 0 });
    }

  return apr_dd_divide (sum, (AprDoubleDouble){ (double) n, 0 }).high;
}

static gboolean
score_sums (const Call *call, gsize fold, AprEstimator *model, double *score, GError **error)
{
  AprCrossProducts *state = call->sums->states[fold];
  g_autoptr (AprLinearResults) results = apr_linear_regression_ref_results (APR_LINEAR_REGRESSION (model));
  g_autofree double *scores = NULL;

  if (!check_weight (state, error))
    return FALSE;

  scores = apr_memory_new (results->n_targets, sizeof *scores, "scores", error);
  if (scores == NULL ||
      !apr_linear_score_results (results, state, call->metric, call->run.cancellable, scores, error))
    return FALSE;

  *score = average (scores, results->n_targets);
  return TRUE;
}

static gboolean
score_predictions (const Call *call, gsize fold, AprTensor *predictions, double *score, GError **error)
{
  GCancellable *cancellable = call->run.cancellable;
  g_autoptr (AprTensor) y = apr_folds_gather (call->folds, 1, fold, FALSE, cancellable, error);
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprTensor) value = NULL;

  if (y == NULL || (call->folds->data[2] != NULL &&
                    (weights = apr_folds_gather (call->folds, 2, fold, FALSE, cancellable, error)) == NULL))
    return FALSE;

  value = apr_compute_metric (call->metric, APR_MULTIOUTPUT_UNIFORM_AVERAGE, y, predictions, weights, error);
  if (value != NULL)
    *score = apr_tensor_get_double (value, 0, NULL);

  return value != NULL;
}

/* Predictions of the model for a fold, of the shape of its y: a regression on cross products of one target does not
 * know whether y is a matrix. */
static AprTensor *
predict (const Call *call, gsize fold, AprEstimator *model, GError **error)
{
  g_autoptr (AprTensor) x = apr_folds_gather (call->folds, 0, fold, FALSE, call->run.cancellable, error);
  g_autoptr (AprTensor) predictions = x != NULL ? apr_estimator_predict (model, x, error) : NULL;
  gsize n = predictions != NULL ? apr_tensor_get_n_elements (predictions) : 0;
  const gsize column[] = { n, 1 };

  return predictions != NULL &&
             apr_tensor_get_n_dims (call->folds->data[1]) > apr_tensor_get_n_dims (predictions)
         ? apr_tensor_new_unchecked (apr_tensor_get_dtype (predictions), column, 2, n,
                                     g_bytes_ref (apr_tensor_get_bytes (predictions)))
         : g_steal_pointer (&predictions);
}

static gboolean
validate (const Call *call, gsize fold, GError **error)
{
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprEstimator) model =
    call->sums != NULL ? fit_sums (call, fold, error) : fit_samples (call, fold, error);

  if (model == NULL)
    return FALSE;
  if (call->sums != NULL && !call->predicts && apr_linear_score_has (call->metric))
    return score_sums (call, fold, model, &call->scores[fold], error);

  predictions = predict (call, fold, model, error);
  if (predictions == NULL)
    return FALSE;
  if (!call->predicts)
    return score_predictions (call, fold, predictions, &call->scores[fold], error);

  call->predictions[fold] = g_steal_pointer (&predictions);
  return TRUE;
}

static void
validate_part (gpointer data, gsize part, gsize n_parts)
{
  Call *call = data;

  if (apr_run_is_cancelled (&call->run) || call->has_failed)
    return;

  apr_run_push_cancellable (call->run.cancellable);
  if (!validate (call, part, &call->errors[part]))
    {
      g_prefix_error (&call->errors[part], "Fold %" G_GSIZE_FORMAT " (counted from 0): ", part);
      if (call->sums == NULL)
        call->has_failed = TRUE;
    }
  apr_run_pop_cancellable (call->run.cancellable);

  g_atomic_int_inc (&call->n_done);
  if (g_thread_self () == call->caller)
    apr_run_report (&call->run, (double) g_atomic_int_get (&call->n_done) / (double) call->folds->n_folds);
}

static void
report (double fraction, gpointer user_data)
{
  const Call *call = user_data;

  apr_estimator_report_progress (call->model, fraction);
}

/* What linear regressions need. */
static gboolean
prepare_sums (Call *call, GError **error)
{
  AprFolds *folds = call->folds;
  double share = 0;
  AprRun run;

  call->alphas = apr_linear_regression_ref_kept (APR_LINEAR_REGRESSION (call->model), &call->options);
  call->run.n_threads = apr_parallel_count (call->options.n_threads, G_MAXUINT);
  if (!apr_linear_options_check (&call->options, call->alphas, error))
    return FALSE;

  /* To solve for p coefficients takes about as long as to sum 3 p rows. */
  if (!apr_folds_have_sums (folds, call->options.precision))
    {
      const gsize *shape = apr_tensor_get_shape (folds->data[0], NULL);

      share = (double) shape[0] / ((double) shape[0] + 3 * (double) shape[1] * (double) folds->n_folds);
    }
  run = apr_run_get_part (&call->run, 0, share);
  call->sums = apr_folds_ref_sums (folds, call->options.precision, &run, error);
  call->run = apr_run_get_part (&call->run, share, 1);

  return call->sums != NULL && apr_linear_options_check_targets (
                                 call->alphas, apr_cross_products_get_n_targets (call->sums->total), error);
}

/* That there are folds, with what is asked for. */
static gboolean
check_folds (const Call *call, GError **error)
{
  if (call->folds->n_folds == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "There are 0 folds");
      return FALSE;
    }
  if (call->folds->data[0] != NULL)
    return TRUE;

  if (!is_linear (call->model))
    g_set_error (
      error, APR_ERROR, APR_ERROR_STATE,
      "The folds were made of cross products, but %s needs the samples: it is no linear regression",
      G_OBJECT_TYPE_NAME (call->model));
  else if (call->predicts)
    g_set_error (error, APR_ERROR, APR_ERROR_STATE,
                 "The folds were made of cross products: there are no samples to predict for");
  else if (!apr_linear_score_has (call->metric))
    {
      g_autoptr (GEnumClass) metrics = g_type_class_ref (APR_TYPE_METRIC);

      g_set_error (
        error, APR_ERROR, APR_ERROR_STATE,
        "The folds were made of cross products, which do not tell the metric “%s”: it needs the samples",
        g_enum_get_value (metrics, (int) call->metric)->value_nick);
    }
  else
    return TRUE;

  return FALSE;
}

/* The predictions of all folds, in the order of the samples, in the shape of y. */
static AprTensor *
join_predictions (const Call *call, GError **error)
{
  const AprRowGroups *groups = &call->folds->groups;
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (call->folds->data[1], &n_dims);
  gsize n_targets = n_dims > 1 ? shape[1] : 1;
  AprDType dtype = APR_DTYPE_F32;
  g_autoptr (AprTensor) joined = NULL;
  double *values;
  gsize fold;
  gsize i;
  gsize j;

  values = apr_memory_new (groups->n_rows, n_targets * sizeof *values, "predictions", error);
  if (values == NULL)
    return NULL;

  /* For samples in no fold, there is no prediction. */
  for (i = 0; i < groups->n_rows * n_targets; i++)
    values[i] = NAN;
  for (fold = 0; fold < call->folds->n_folds; fold++)
    {
      AprTensor *predictions = call->predictions[fold];
      gsize group = groups->n_groups - call->folds->n_folds + fold;

      if (apr_tensor_get_dtype (predictions) != APR_DTYPE_F32)
        dtype = APR_DTYPE_F64;
      for (i = 0; i < apr_row_groups_count (groups, group); i++)
        for (j = 0; j < n_targets; j++)
          values[apr_row_groups_get_row (groups, groups->starts[group] + i) * n_targets + j] =
            apr_tensor_get_double (predictions, i * n_targets + j, NULL);
    }
  joined =
    apr_tensor_new_take (APR_DTYPE_F64, shape, n_dims, values, groups->n_rows * n_targets * sizeof *values);

  return apr_tensor_cast (joined, dtype, error);
}

static gboolean
run_folds (AprEstimator *self,
           AprEstimatorCall *arguments,
           gboolean predicts,
           GCancellable *cancellable,
           GError **error)
{
  AprFolds *folds = APR_FOLDS (arguments->object);
  g_auto (Call) call = { .model = self,
                         .folds = folds,
                         .predicts = predicts,
                         .metric = (AprMetric) arguments->kind,
                         .caller = g_thread_self () };
  gsize n_folds = folds->n_folds;
  gsize i;

  call.run =
    (AprRun){ .cancellable = cancellable, .progress = report, .progress_data = &call, .told = &call.told };
  if (!check_folds (&call, error))
    return FALSE;
  if (!is_linear (self))
    {
      call.cloned = apr_estimator_try_clone (self, error);
      if (call.cloned == NULL)
        return FALSE;
    }
  else if (!prepare_sums (&call, error))
    return FALSE;

  call.scores = g_try_new0 (double, n_folds);
  call.predictions = g_try_new0 (AprTensor *, n_folds);
  call.errors = g_try_new0 (GError *, n_folds);
  if (call.scores == NULL || call.predictions == NULL || call.errors == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " folds", n_folds);
      return FALSE;
    }

  /* Models of scripts are no matter for other threads. */
  apr_parallel_run_parts (validate_part, &call, call.sums != NULL ? MIN (call.run.n_threads, n_folds) : 1,
                          n_folds);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  for (i = 0; i < n_folds; i++)
    if (call.errors[i] != NULL)
      {
        g_propagate_error (error, g_steal_pointer (&call.errors[i]));
        return FALSE;
      }

  arguments->results[0] = predicts ? join_predictions (&call, error)
                                   : apr_tensor_new_from_doubles (call.scores, n_folds, &n_folds, 1, error);
  arguments->free_result = (GDestroyNotify) apr_tensor_unref;
  return arguments->results[0] != NULL;
}

static gboolean
run_cross_validate (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  return run_folds (self, call, FALSE, cancellable, error);
}

static gboolean
run_cross_predict (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  return run_folds (self, call, TRUE, cancellable, error);
}

/**
 * apr_estimator_cross_validate:
 * @self: an estimator, whose hyper-parameters count; it need not be fitted
 * @folds: samples in folds
 * @metric: the metric that each fold is scored by
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Scores the model for samples that it has not seen: for each fold, a new model with these hyper-parameters is fitted
 * to all other samples, and scored for the fold.
 *
 * The mean of the scores tells how good the model is, and their standard deviation, divided by the root of their
 * number, how well that is known. Of R² and the explained variance the greatest is the best, of the errors the least.
 * Of several targets a score is the plain mean. R² of a fold with one sample is a NaN.
 *
 * The model stays as it is. While this runs, it is [property@Apr.Estimator:busy] and tells its
 * [property@Apr.Estimator:progress].
 *
 * Linear regressions take the sums of the samples that the folds keep: each fit is that of
 * [method@Apr.Estimator.fit] with the samples outside the fold, bit for bit with the precision %APR_PRECISION_EXACT,
 * and needs no further pass over them. The metrics that follow from sums of squares (R², the explained variance, the
 * mean squared error and its root) are worked out exactly from the sums too, and rounded once, so that predictions are
 * not rounded on the way. Any other model is cloned, fitted to a copy of the samples, and asked for predictions, one
 * fold after the other.
 *
 * Returns: (transfer full): the score of each fold, F64 [n_folds], or `NULL` with %APR_ERROR_STATE where the folds were
 *   made of cross products and the samples themselves are needed; or with another error of [method@Apr.Estimator.fit],
 *   which names the fold where it is of one, such as %APR_ERROR_WEIGHTS where all its samples weigh nothing
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_cross_validate (
  AprEstimator *self, AprFolds *folds, AprMetric metric, GCancellable *cancellable, GError **error)
{
  AprEstimatorCall call = { .object = G_OBJECT (folds), .kind = metric };

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);
  g_return_val_if_fail (APR_IS_FOLDS (folds), NULL);
  g_return_val_if_fail (metric >= APR_METRIC_R2 && metric <= APR_METRIC_MAX_ERROR, NULL);

  return apr_estimator_update (self, run_cross_validate, &call, cancellable, error) ? call.results[0] : NULL;
}

static AprEstimatorCall *
new_call (AprEstimator *self, AprFolds *folds, AprEstimatorRunFunc run)
{
  AprEstimatorCall *call = apr_estimator_call_new (NULL, NULL, NULL);

  call->run = run;
  call->is_update = TRUE;
  call->needs_caller = !is_linear (self) && (!APR_ESTIMATOR_IS_THREAD_SAFE (self, fit) ||
                                             !APR_ESTIMATOR_IS_THREAD_SAFE (self, predict));
  call->object = g_object_ref (G_OBJECT (folds));

  return call;
}

/**
 * apr_estimator_cross_validate_async:
 * @self: an estimator, whose hyper-parameters count; it need not be fitted
 * @folds: samples in folds
 * @metric: the metric that each fold is scored by
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the scores are there
 * @user_data: data to pass to @callback
 *
 * Scores the model for samples that it has not seen, without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_cross_validate_async (AprEstimator *self,
                                    AprFolds *folds,
                                    AprMetric metric,
                                    int io_priority,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (APR_IS_FOLDS (folds));
  g_return_if_fail (metric >= APR_METRIC_R2 && metric <= APR_METRIC_MAX_ERROR);

  call = new_call (self, folds, run_cross_validate);
  call->kind = metric;
  apr_estimator_call_async (self, call, apr_estimator_cross_validate_async, io_priority, cancellable,
                            callback, user_data);
}

/**
 * apr_estimator_cross_validate_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.cross_validate_async] began.
 *
 * Returns: (transfer full): the score of each fold, or `NULL` with an error as of
 *   [method@Apr.Estimator.cross_validate]
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_cross_validate_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_estimator_cross_validate_async, error);
}

/**
 * apr_estimator_cross_predict:
 * @self: an estimator, whose hyper-parameters count; it need not be fitted
 * @folds: samples in folds
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Predicts for each sample by a model that has not seen it: that of all samples but those of its fold, as
 * [method@Apr.Estimator.cross_validate] fits it.
 *
 * Such predictions can be plotted beside the targets, or given to any metric.
 *
 * Returns: (transfer full): the predictions in the order of the samples and the shape of y, NaN for samples that are in
 *   no fold; or `NULL` with an error as of [method@Apr.Estimator.cross_validate]
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_cross_predict (AprEstimator *self, AprFolds *folds, GCancellable *cancellable, GError **error)
{
  AprEstimatorCall call = { .object = G_OBJECT (folds) };

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);
  g_return_val_if_fail (APR_IS_FOLDS (folds), NULL);

  return apr_estimator_update (self, run_cross_predict, &call, cancellable, error) ? call.results[0] : NULL;
}

/**
 * apr_estimator_cross_predict_async:
 * @self: an estimator, whose hyper-parameters count; it need not be fitted
 * @folds: samples in folds
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the predictions are there
 * @user_data: data to pass to @callback
 *
 * Predicts for each sample by a model that has not seen it, without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_cross_predict_async (AprEstimator *self,
                                   AprFolds *folds,
                                   int io_priority,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (APR_IS_FOLDS (folds));

  apr_estimator_call_async (self, new_call (self, folds, run_cross_predict),
                            apr_estimator_cross_predict_async, io_priority, cancellable, callback, user_data);
}

/**
 * apr_estimator_cross_predict_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.cross_predict_async] began.
 *
 * Returns: (transfer full): the predictions, or `NULL` with an error as of [method@Apr.Estimator.cross_predict]
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_cross_predict_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_estimator_cross_predict_async, error);
}
