/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-validation-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-metric-private.h"
#include "aprender/linear-model/apr-linear-score-private.h"
#include "aprender/tensor/apr-tensor-private.h"

gboolean
apr_validation_is_linear (AprEstimator *model)
{
  return APR_IS_LINEAR_REGRESSION (model) &&
         APR_ESTIMATOR_GET_CLASS (model)->fit == apr_linear_regression_fit &&
         APR_ESTIMATOR_GET_CLASS (model)->predict == apr_linear_regression_predict;
}

/* Whether the scores follow from the sums of the fold. */
static gboolean
scores_sums (const AprValidation *self)
{
  /* Sums that were rounded may hold less of small errors than predictions do. */
  return self->sums != NULL && !self->predicts && apr_linear_score_has (self->metric) &&
         (self->folds->data[0] == NULL ||
          apr_cross_products_get_precision (self->sums->total) == APR_PRECISION_EXACT);
}

static gboolean
check_weight (AprCrossProducts *state, const char *which, GError **error)
{
  if (apr_cross_products_has_weight (state))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero for %s", which);
  return FALSE;
}

static gboolean
fit_sums (
  const AprValidation *self, gsize fold, AprEstimator *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprCrossProducts) others = apr_cross_products_copy (self->sums->total);

  return apr_cross_products_combine (others, self->sums->states[fold], -1, cancellable, error) &&
         check_weight (others, "the samples outside the fold", error) &&
         apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (model), others, cancellable, error);
}

static gboolean
fit_samples (
  const AprValidation *self, gsize fold, AprEstimator *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprTensor) x = apr_folds_gather_others (self->folds, 0, fold, cancellable, error);
  g_autoptr (AprTensor) y =
    x != NULL ? apr_folds_gather_others (self->folds, 1, fold, cancellable, error) : NULL;
  g_autoptr (AprTensor) weights =
    y != NULL ? apr_folds_gather_others (self->folds, 2, fold, cancellable, error) : NULL;

  return y != NULL && (weights != NULL || self->folds->data[2] == NULL) &&
         apr_estimator_fit (model, x, y, weights, cancellable, error);
}

static gboolean
score_sums (const AprValidation *self,
            gsize fold,
            AprEstimator *model,
            GCancellable *cancellable,
            double *score,
            GError **error)
{
  AprCrossProducts *state = self->sums->states[fold];
  g_autoptr (AprLinearResults) results = apr_linear_regression_ref_results (APR_LINEAR_REGRESSION (model));
  gsize n = results->n_targets;
  g_autofree double *scores = NULL;
  g_autofree AprDoubleDouble *values = NULL;
  gsize i;

  if (!check_weight (state, "the samples of the fold", error))
    return FALSE;

  scores = apr_memory_new (n, sizeof *scores, "scores", error);
  values = scores != NULL ? apr_memory_new (n, sizeof *values, "scores", error) : NULL;
  if (values == NULL || !apr_linear_score_results (results, state, apr_folds_count (self->folds, fold),
                                                   self->metric, cancellable, scores, error))
    return FALSE;

  for (i = 0; i < n; i++)
    values[i] = (AprDoubleDouble){ scores[i], 0 };
  *score = apr_metric_average (values, NULL, n);
  return TRUE;
}

static gboolean
score_predictions (const AprValidation *self,
                   gsize fold,
                   AprTensor *predictions,
                   GCancellable *cancellable,
                   double *score,
                   GError **error)
{
  gsize n = apr_folds_count (self->folds, fold);
  g_autoptr (AprTensor) y = apr_folds_gather (self->folds, 1, fold, 0, n, cancellable, error);
  g_autoptr (AprTensor) weights =
    y != NULL ? apr_folds_gather (self->folds, 2, fold, 0, n, cancellable, error) : NULL;
  g_autoptr (AprTensor) value = NULL;

  if (y == NULL || (weights == NULL && self->folds->data[2] != NULL))
    return FALSE;

  value = apr_compute_metric (self->metric, APR_MULTIOUTPUT_UNIFORM_AVERAGE, y, predictions, weights, error);
  if (value != NULL)
    *score = apr_tensor_get_double (value, 0, NULL);

  return value != NULL;
}

/* Predictions for some of the samples of a fold, of the shape of y: a regression on cross products of one target does
 * not know whether y is a matrix. */
static AprTensor *
predict_some (const AprValidation *self,
              gsize fold,
              AprEstimator *model,
              gsize first,
              gsize n_rows,
              GCancellable *cancellable,
              GError **error)
{
  g_autoptr (AprTensor) x = apr_folds_gather (self->folds, 0, fold, first, n_rows, cancellable, error);
  g_autoptr (AprTensor) predictions = x != NULL ? apr_estimator_predict (model, x, error) : NULL;
  const gsize column[] = { n_rows, 1 };

  return predictions != NULL &&
             apr_tensor_get_n_dims (self->folds->data[1]) > apr_tensor_get_n_dims (predictions)
         ? apr_tensor_new_unchecked (apr_tensor_get_dtype (predictions), column, 2, n_rows,
                                     g_bytes_ref (apr_tensor_get_bytes (predictions)))
         : g_steal_pointer (&predictions);
}

/* The same for all of them. So that a regression needs no copy of the fold, it predicts for some at a time. */
static AprTensor *
predict (
  const AprValidation *self, gsize fold, AprEstimator *model, GCancellable *cancellable, GError **error)
{
  gsize n_rows = apr_folds_count (self->folds, fold);
  gsize n_at_once = self->sums != NULL ? apr_folds_count_at_once (self->folds) : n_rows;
  g_autoptr (AprTensor) some =
    predict_some (self, fold, model, 0, MIN (n_at_once, n_rows), cancellable, error);
  g_autofree guint8 *all = NULL;
  gsize shape[2];
  gsize n_dims;
  gsize size;
  gsize first;

  if (some == NULL || n_at_once >= n_rows)
    return g_steal_pointer (&some);

  memcpy (shape, apr_tensor_get_shape (some, &n_dims), sizeof *shape);
  shape[1] = n_dims > 1 ? apr_tensor_get_shape (some, NULL)[1] : 1;
  size = apr_dtype_get_bits (apr_tensor_get_dtype (some)) / 8 * shape[1];
  all = apr_memory_new (n_rows, size, "predictions", error);
  for (first = 0; all != NULL && first < n_rows; first += n_at_once)
    {
      gsize n = MIN (n_at_once, n_rows - first);

      if (first > 0)
        {
          g_clear_pointer (&some, apr_tensor_unref);
          some = predict_some (self, fold, model, first, n, cancellable, error);
        }
      if (some == NULL)
        return NULL;
      memcpy (all + first * size, g_bytes_get_data (apr_tensor_get_bytes (some), NULL), n * size);
    }
  if (all == NULL)
    return NULL;

  shape[0] = n_rows;
  return apr_tensor_new_unchecked (apr_tensor_get_dtype (some), shape, n_dims, n_rows * shape[1],
                                   g_bytes_new_take (g_steal_pointer (&all), n_rows * size));
}

static gboolean
find (const AprValidation *self,
      gsize fold,
      AprEstimator *model,
      GCancellable *cancellable,
      double *score,
      AprTensor **predictions,
      GError **error)
{
  g_autoptr (AprTensor) found = NULL;

  if (!(self->sums != NULL ? fit_sums : fit_samples) (self, fold, model, cancellable, error))
    return FALSE;
  if (scores_sums (self))
    return score_sums (self, fold, model, cancellable, score, error);

  found = predict (self, fold, model, cancellable, error);
  if (found == NULL)
    return FALSE;
  if (!self->predicts)
    return score_predictions (self, fold, found, cancellable, score, error);

  *predictions = g_steal_pointer (&found);
  return TRUE;
}

static void
progress_cb (AprEstimator *model, GParamSpec *pspec, const AprRun *run)
{
  apr_run_report (run, apr_estimator_get_progress (model));
}

gboolean
apr_validation_run_fold (const AprValidation *self,
                         gsize fold,
                         const AprRun *run,
                         double *score,
                         AprTensor **predictions,
                         GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  /* Whatever a fit makes of its model's hyper-parameters, the next fold does not see it. */
  g_autoptr (AprEstimator) model = apr_clone_source_clone (&self->model, error);
  gboolean found;

  if (model == NULL)
    return FALSE;

  if (run->progress != NULL)
    g_signal_connect (model, "notify::progress", G_CALLBACK (progress_cb), (gpointer) run);
  apr_run_push_cancellable (run->cancellable);
  found = find (self, fold, model, run->cancellable, score, predictions, error);
  apr_run_pop_cancellable (run->cancellable);
  g_signal_handlers_disconnect_by_data (model, (gpointer) run);

  return found;
}
