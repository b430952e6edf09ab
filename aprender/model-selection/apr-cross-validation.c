/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-cross-validation.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-linear-score-private.h"
#include "aprender/linear-model/apr-linear-solve-private.h"
#include "aprender/model-selection/apr-validation-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* One call: the folds, which threads take in turns. */
typedef struct
{
  AprEstimator *model; /* (unowned) */
  AprValidation validation;
  AprRun run;
  double told;

  /* What is found of each fold. */
  double *scores;          /* (owned) (nullable) */
  AprTensor **predictions; /* (owned) (nullable) */
  GError **errors;         /* (owned) */

  GThread *caller; /* (unowned) who hears of the progress */
  gsize n_done;    /* atomic: folds */
  gsize n_left;    /* atomic: the folds after these many are left, since the last of them has failed */
} Call;

static void
call_clear (Call *self)
{
  gsize i;

  for (i = 0; i < self->validation.folds->n_folds; i++)
    {
      if (self->predictions != NULL)
        g_clear_pointer (&self->predictions[i], apr_tensor_unref);
      if (self->errors != NULL)
        g_clear_error (&self->errors[i]);
    }
  g_free (self->scores);
  g_free (self->predictions);
  g_free (self->errors);
  apr_clone_source_clear (&self->validation.model);
  g_clear_pointer (&self->validation.sums, apr_fold_sums_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, call_clear)

/* Says which fold it is, and what its label is if that is another number. */
static void
prefix_error (const Call *call, gsize fold, GError **error)
{
  const AprRowGroups *groups = &call->validation.folds->groups;
  gsize group = groups->n_groups - call->validation.folds->n_folds + fold;
  g_autoptr (GString) label = g_string_new (NULL);

  if (groups->labels != NULL && apr_tensor_get_double (groups->labels, group, NULL) != (double) fold)
    {
      g_string_append (label, ", label ");
      apr_tensor_append_number (groups->labels, group, label);
    }
  g_prefix_error (error, "Fold %" G_GSIZE_FORMAT " (counted from 0)%s: ", fold, label->str);
}

/* Where an error says of X, y or the weights that a value is not finite, it has told the row of a copy: tells that of
 * the samples. Predictions that are not finite come from the first such value, for all that is known. False where it is
 * another error. */
static gboolean
name_row (const Call *call, GError **error)
{
  AprFolds *folds = call->validation.folds;
  g_autofree char *told = NULL;
  const char *message;
  gboolean is_of_predictions;
  AprRows rows[3];
  gsize i;

  /* The sums of linear regressions tell the right row. */
  if (!g_error_matches (*error, APR_ERROR, APR_ERROR_NOT_FINITE) || call->validation.sums != NULL)
    return FALSE;

  message = (*error)->message;
  is_of_predictions = g_str_has_prefix (message, "y_pred has ");
  /* The metrics' name of y. */
  told = g_str_has_prefix (message, "y_true has ") ? g_strconcat ("y", message + strlen ("y_true"), NULL)
                                                   : g_strdup (message);
  apr_folds_init_rows (folds, rows);
  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) found = NULL;

      if (folds->data[i] == NULL || apr_rows_check_finite (&rows[i], &found))
        continue;
      if (is_of_predictions ||
          strncmp (told, found->message, (gsize) (strstr (found->message, " has ") - found->message)) == 0)
        {
          g_clear_error (error);
          g_propagate_error (error, g_steal_pointer (&found));
          return TRUE;
        }
    }

  return FALSE;
}

/* Threads take folds in ascending order: what a fold before has to say is never lost. */
static void
leave_after (Call *call, gsize fold)
{
  gsize before;

  do
    before = (gsize) g_atomic_pointer_get (&call->n_left);
  while (fold < before && !g_atomic_pointer_compare_and_exchange (&call->n_left, before, fold));
}

static void
validate_part (gpointer data, gsize part, gsize n_parts)
{
  Call *call = data;
  double done = (double) g_atomic_pointer_get (&call->n_done);
  AprRun run = { .cancellable = call->run.cancellable };

  if (apr_run_is_cancelled (&call->run) || part > (gsize) g_atomic_pointer_get (&call->n_left))
    return;

  if (g_thread_self () == call->caller)
    run = apr_run_get_part (&call->run, done / (double) n_parts, (done + 1) / (double) n_parts);
  if (!apr_validation_run_fold (&call->validation, part, &run, &call->scores[part], &call->predictions[part],
                                &call->errors[part]))
    {
      if (!name_row (call, &call->errors[part]))
        prefix_error (call, part, &call->errors[part]);
      leave_after (call, part);
    }
  (void) g_atomic_pointer_add (&call->n_done, 1);
  apr_run_report (&run, 1);
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
  AprFolds *folds = call->validation.folds;
  AprLinearOptions options;
  g_autoptr (AprTensor) alphas =
    apr_linear_regression_ref_kept (APR_LINEAR_REGRESSION (call->model), &options);
  g_autoptr (AprLinearRegression) model = NULL;
  double share = 0;
  AprRun run;

  if (!apr_linear_options_check (&options, alphas, error))
    return FALSE;

  call->run.n_threads = apr_parallel_count (options.n_threads, G_MAXUINT);
  options.n_threads = MAX (call->run.n_threads / (guint) MIN (folds->n_folds, G_MAXUINT), 1);
  model = apr_linear_regression_new_with (&options, alphas);
  apr_clone_source_init (&call->validation.model, APR_ESTIMATOR (model));

  /* To solve for p coefficients takes about as long as to sum 3 p rows. */
  if (!apr_folds_have_sums (folds, options.precision))
    {
      const gsize *shape = apr_tensor_get_shape (folds->data[0], NULL);

      share = (double) shape[0] / ((double) shape[0] + 3 * (double) shape[1] * (double) folds->n_folds);
    }
  run = apr_run_get_part (&call->run, 0, share);
  call->validation.sums = apr_folds_ref_sums (folds, options.precision, &run, error);
  call->run = apr_run_get_part (&call->run, share, 1);

  return call->validation.sums != NULL &&
         apr_linear_options_check_targets (
           alphas, apr_cross_products_get_n_targets (call->validation.sums->total), error);
}

/* That there are folds, with what is asked for. */
static gboolean
check_folds (const Call *call, GError **error)
{
  if (call->validation.folds->n_folds == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "There are 0 folds");
      return FALSE;
    }
  if (call->validation.folds->data[0] != NULL)
    return TRUE;

  if (!apr_validation_is_linear (call->model))
    g_set_error (
      error, APR_ERROR, APR_ERROR_STATE,
      "The folds were made of cross products, but %s needs the samples: it is no linear regression",
      G_OBJECT_TYPE_NAME (call->model));
  else if (call->validation.predicts)
    g_set_error (error, APR_ERROR, APR_ERROR_STATE,
                 "The folds were made of cross products: there are no samples to predict for");
  else if (!apr_linear_score_has (call->validation.metric))
    {
      g_autoptr (GEnumClass) metrics = g_type_class_ref (APR_TYPE_METRIC);

      g_set_error (
        error, APR_ERROR, APR_ERROR_STATE,
        "The folds were made of cross products, which do not tell the metric “%s”: it needs the samples",
        g_enum_get_value (metrics, (int) call->validation.metric)->value_nick);
    }
  else
    return TRUE;

  return FALSE;
}

/* The predictions of all folds, in the order of the samples, in the shape of y. */
static AprTensor *
join_predictions (const Call *call, GError **error)
{
  const AprRowGroups *groups = &call->validation.folds->groups;
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (call->validation.folds->data[1], &n_dims);
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
  for (fold = 0; fold < call->validation.folds->n_folds; fold++)
    {
      AprTensor *predictions = call->predictions[fold];
      gsize group = groups->n_groups - call->validation.folds->n_folds + fold;

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
  g_auto (Call) call = {
    .model = self,
    .validation = { .folds = folds, .predicts = predicts, .metric = (AprMetric) arguments->kind },
    .caller = g_thread_self (),
    .n_left = G_MAXSIZE,
  };
  gsize n_folds = folds->n_folds;
  gsize i;

  call.run = (AprRun){
    .n_threads = 1, .cancellable = cancellable, .progress = report, .progress_data = &call, .told = &call.told
  };
  if (!check_folds (&call, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (!apr_validation_is_linear (self))
    apr_clone_source_init (&call.validation.model, self);
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

  /* Models of scripts, which are no matter for other threads, have one. */
  apr_parallel_run_parts (validate_part, &call, (guint) MIN (call.run.n_threads, n_folds), n_folds);
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
 * Of several targets a score is the plain mean. R² of a fold with one sample is a NaN. The weights of the samples
 * count in the fits, and in the scores; %APR_METRIC_MAX_ERROR takes none.
 *
 * The model stays as it is. While this runs, it is [property@Apr.Estimator:busy] and tells its
 * [property@Apr.Estimator:progress].
 *
 * Linear regressions take the sums of the samples that the folds keep: each fit is that of
 * [method@Apr.Estimator.fit] with the samples outside the fold, bit for bit with the precision %APR_PRECISION_EXACT,
 * and needs no further pass over them. With that precision, the metrics that follow from sums of squares (R², the
 * explained variance, the mean squared error and its root) are worked out exactly from the sums too, and rounded once,
 * so that predictions are not rounded on the way. Rounded sums would lose small errors: with %APR_PRECISION_DOUBLE
 * they are only scored by if the folds were made of them. Those sums are off by up to some 10^-15 of the sums of
 * squares of the target and of the terms of its predictions, about their means: R² by about as much, and errors below
 * 3·10^-8 of the target's spread may have no right digit. Less than nothing that is left of squares counts as nothing,
 * so that no error is below 0, and neither R² nor the explained variance above 1. Any other model is cloned, fitted to
 * a copy of the samples, and asked for predictions, one fold after the other.
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
  call->needs_caller = !apr_validation_is_linear (self) && (!APR_ESTIMATOR_IS_THREAD_SAFE (self, fit) ||
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
