/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <math.h>

/* Finds out how well a model predicts rows that are not in its fit: one of each fold in turn is set aside. */
typedef struct
{
  TrendlineFoldSums *sums;
  AprFolds *folds;            /* (nullable): until they are made */
  AprLinearRegression *model; /* how to fit */
} Validation;

static void
validation_free (Validation *validation)
{
  trendline_fold_sums_free (validation->sums);
  g_clear_object (&validation->folds);
  g_object_unref (validation->model);
  g_free (validation);
}

void
trendline_score_free (TrendlineScore *score)
{
  g_free (score->problem);
  g_free (score);
}

static void
set_score (TrendlineFitSession *self, TrendlineScore *score)
{
  g_clear_pointer (&self->score, trendline_score_free);
  self->score = score;
  g_object_notify (G_OBJECT (self), "score");
}

/* Ends the search for the score, and forgets it: it is of results that are going. */
void
trendline_fit_session_clear_score (TrendlineFitSession *self)
{
  if (self->scoring != NULL)
    g_cancellable_cancel (self->scoring);
  g_clear_object (&self->scoring);
  if (self->score != NULL)
    set_score (self, NULL);
}

/* The root of the mean of the squared errors; roots of squares are added so that none is too large for a double. */
static TrendlineScore
summarise (AprTensor *errors)
{
  TrendlineScore score = { 0 };
  const gsize n = apr_tensor_get_n_elements (errors);
  gsize i;

  score.least = score.greatest = apr_tensor_get_double (errors, 0, NULL);
  for (i = 0; i < n; i++)
    {
      const double error = apr_tensor_get_double (errors, i, NULL);

      score.error = hypot (score.error, error / sqrt ((double) n));
      score.least = MIN (score.least, error);
      score.greatest = MAX (score.greatest, error);
    }

  return score;
}

static void
on_scored (GObject *source, GAsyncResult *result, gpointer data)
{
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (source);
  g_autoptr (AprTensor) errors = NULL;
  g_autoptr (GError) error = NULL;
  TrendlineScore *score;

  errors = g_task_propagate_pointer (G_TASK (result), &error);
  /* Other results may have come meanwhile. */
  if (g_task_get_cancellable (G_TASK (result)) != self->scoring)
    return;
  g_clear_object (&self->scoring);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      set_score (self, NULL);
      return;
    }

  score = g_new0 (TrendlineScore, 1);
  if (errors != NULL)
    *score = summarise (errors);
  else
    {
      score->error = NAN;
      score->problem = g_strdup (error->message);
    }
  set_score (self, score);
}

static void
score_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Validation *validation = data;
  AprTensor *errors = NULL;
  GError *error = NULL;

  validation->folds = trendline_fold_sums_create_folds (validation->sums, &error);
  if (validation->folds != NULL)
    errors = apr_estimator_cross_validate (APR_ESTIMATOR (validation->model), validation->folds,
                                           APR_METRIC_ROOT_MEAN_SQUARED_ERROR, cancellable, &error);
  if (errors != NULL)
    g_task_return_pointer (task, errors, (GDestroyNotify) apr_tensor_unref);
  else
    g_task_return_error (task, error);
}

/* Begins to find out how well the model, which is there already, predicts rows that it has not seen. Takes the sums. */
void
trendline_fit_session_begin_score (TrendlineFitSession *self, TrendlineFoldSums *sums)
{
  g_autoptr (GTask) task = NULL;
  Validation *validation = g_new0 (Validation, 1);
  TrendlineScore *score = g_new0 (TrendlineScore, 1);

  validation->sums = sums;
  validation->model = APR_LINEAR_REGRESSION (apr_estimator_clone (APR_ESTIMATOR (self->model)));
  self->scoring = g_cancellable_new ();
  task = g_task_new (self, self->scoring, on_scored, NULL);
  g_task_set_source_tag (task, trendline_fit_session_begin_score);
  g_task_set_task_data (task, validation, (GDestroyNotify) validation_free);
  score->error = NAN;
  set_score (self, score);
  g_task_run_in_thread (task, score_in_thread);
}
