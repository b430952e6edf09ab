/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <math.h>

#include <glib/gi18n.h>

/* Penalties that are tried, which the entry can show. Features and targets of any units need all of them; and the error
 * may have several minima. */
static const double penalties[] = {
  0,   0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1,   3,   1e1, 3e1, 1e2, 3e2,
  1e3, 3e3,   1e4,   3e4,  1e5,  3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8, TRENDLINE_GREATEST_PENALTY,
};

/* An error that is greater by less than one part in a thousand is no worse. */
#define NO_WORSE 1.001

/* Finds out how well a model predicts rows that are not in its fit: one of each fold in turn is set aside. */
typedef struct
{
  TrendlineFoldSums *sums;
  AprFolds *folds;            /* (nullable): until they are made */
  AprLinearRegression *model; /* how to fit */
  GVariant *choice;           /* (nullable): what was chosen when a search began */
} Validation;

static void
validation_free (Validation *validation)
{
  trendline_fold_sums_free (validation->sums);
  g_clear_object (&validation->folds);
  g_object_unref (validation->model);
  g_clear_pointer (&validation->choice, g_variant_unref);
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

/* Forgets the score, and does not wait for it if it is not known yet: nobody wants it any more. */
void
trendline_fit_session_clear_score (TrendlineFitSession *self)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (self->scoring != NULL)
    g_cancellable_cancel (self->scoring);
  g_clear_object (&self->scoring);
  if (self->score != NULL)
    set_score (self, NULL);
}

static void
on_scored (GObject *source, GAsyncResult *result, gpointer data)
{
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (source);
  Validation *validation = g_task_get_task_data (G_TASK (result));
  g_autoptr (AprTensor) errors = NULL;
  g_autoptr (GError) error = NULL;
  TrendlineScore *score;

  errors = g_task_propagate_pointer (G_TASK (result), &error);
  /* Nobody may want it any more. */
  if (g_task_get_cancellable (G_TASK (result)) != self->scoring)
    return;
  g_clear_object (&self->scoring);

  score = g_new0 (TrendlineScore, 1);
  if (errors != NULL)
    score->error = trendline_fold_sums_combine (validation->sums, errors);
  else
    {
      score->error = NAN;
      /* What other errors say is not for people. */
      score->problem = g_strdup (error->domain == TRENDLINE_FOLDS_ERROR
                                   ? error->message
                                   : _ ("It cannot be told how well new rows are predicted."));
    }
  set_score (self, score);
}

/* The errors of the folds, or NULL. */
static AprTensor *
validate (Validation *self, GCancellable *cancellable, GError **error)
{
  if (self->folds == NULL)
    self->folds = trendline_fold_sums_create_folds (self->sums, error);

  return self->folds != NULL
         ? apr_estimator_cross_validate (APR_ESTIMATOR (self->model), self->folds,
                                         APR_METRIC_ROOT_MEAN_SQUARED_ERROR, cancellable, error)
         : NULL;
}

static void
score_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  AprTensor *errors;
  GError *error = NULL;

  errors = validate (data, cancellable, &error);
  if (errors != NULL)
    g_task_return_pointer (task, errors, (GDestroyNotify) apr_tensor_unref);
  else
    g_task_return_error (task, error);
}

static Validation *
validation_new (TrendlineFoldSums *sums, AprLinearRegression *model)
{
  Validation *self = g_new0 (Validation, 1);

  self->sums = sums;
  self->model = APR_LINEAR_REGRESSION (apr_estimator_clone (APR_ESTIMATOR (model)));

  return self;
}

/* Begins to find out how well the model, which is there already, predicts rows that it has not seen. Takes the sums. */
void
trendline_fit_session_begin_score (TrendlineFitSession *self, TrendlineFoldSums *sums)
{
  g_autoptr (GTask) task = NULL;
  TrendlineScore *score = g_new0 (TrendlineScore, 1);

  self->scoring = g_cancellable_new ();
  task = g_task_new (self, self->scoring, on_scored, NULL);
  g_task_set_source_tag (task, trendline_fit_session_begin_score);
  g_task_set_task_data (task, validation_new (sums, self->model), (GDestroyNotify) validation_free);
  score->error = NAN;
  set_score (self, score);
  g_task_run_in_thread (task, score_in_thread);
}

static void
on_found (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (source);
  Validation *validation = g_task_get_task_data (G_TASK (result));
  const double *best;
  GError *error = NULL;

  best = g_task_propagate_pointer (G_TASK (result), &error);
  /* The penalty need not be the best for other choices, and one that was typed meanwhile is meant. */
  if (best != NULL && !g_variant_equal (validation->choice, self->choice))
    g_set_error (&error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_CHANGED,
                 _ ("The choices were changed during the search."));
  if (best == NULL || error != NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  trendline_fit_session_set_ridge (self, *best);
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_IDLE);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
search_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const gsize n = G_N_ELEMENTS (penalties);
  Validation *validation = data;
  double found[G_N_ELEMENTS (penalties)];
  double least = G_MAXDOUBLE;
  GError *error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      g_autoptr (AprTensor) errors = NULL;

      apr_linear_regression_set_alpha (validation->model, penalties[i]);
      errors = validate (validation, cancellable, &error);
      if (errors == NULL)
        {
          g_task_return_error (task, error);
          return;
        }
      found[i] = trendline_fold_sums_combine (validation->sums, errors);
      least = MIN (least, found[i]);
      trendline_fit_session_send_fraction (task, TRENDLINE_READING +
                                                   (1 - TRENDLINE_READING) * (double) (i + 1) / (double) n);
    }

  /* The least penalty: with 0 there are standard errors and intervals, which others do not have. */
  for (i = 0; i + 1 < n && found[i] > NO_WORSE * least; i++)
    ;
  g_task_return_pointer (task, (gpointer) &penalties[i], NULL);
}

/* Goes on with a task of the session: finds the best penalty for the model, and sets the option if the choice is
 * still the same. Takes the sums. */
void
trendline_fit_session_begin_search (GTask *task,
                                    TrendlineFoldSums *sums,
                                    AprLinearRegression *model,
                                    GVariant *choice)
{
  TrendlineFitSession *self = g_task_get_source_object (task);
  g_autoptr (GTask) thread_task = g_task_new (self, self->cancellable, on_found, task);
  Validation *validation = validation_new (sums, model);

  validation->choice = g_variant_ref (choice);
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_SOLVING);
  g_task_set_source_tag (thread_task, trendline_fit_session_begin_search);
  g_task_set_task_data (thread_task, validation, (GDestroyNotify) validation_free);
  g_task_run_in_thread (thread_task, search_in_thread);
}
