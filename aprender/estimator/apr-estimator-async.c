/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"

/* Asynchronous methods run the synchronous ones in a thread, or, where a virtual function is a script's, which must
 * not be called from other threads, when the caller's main context is idle. What takes no cancellable, such as the
 * virtual function predict, finds it by g_cancellable_get_current (). */

AprEstimatorCall *
apr_estimator_call_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight)
{
  AprEstimatorCall *self = g_atomic_rc_box_new0 (AprEstimatorCall);

  self->x = x != NULL ? apr_tensor_ref (x) : NULL;
  self->y = y != NULL ? apr_tensor_ref (y) : NULL;
  self->sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;

  return self;
}

static void
clear_data (AprEstimatorCall *self)
{
  g_clear_pointer (&self->x, apr_tensor_unref);
  g_clear_pointer (&self->y, apr_tensor_unref);
  g_clear_pointer (&self->sample_weight, apr_tensor_unref);
  g_clear_pointer (&self->groups, apr_tensor_unref);
}

static void
clear (gpointer call)
{
  AprEstimatorCall *self = call;
  gsize i;

  clear_data (self);
  g_clear_pointer (&self->fitted, apr_fitted_unref);
  g_clear_object (&self->file);
  g_clear_object (&self->object);
  for (i = 0; i < G_N_ELEMENTS (self->results); i++)
    if (self->results[i] != NULL)
      self->free_result (self->results[i]);
}

static void
unref (gpointer call)
{
  g_atomic_rc_box_release_full (call, clear);
}

static gboolean
run (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  gboolean succeeded;

  if (call->is_update)
    apr_estimator_set_updating (self, TRUE);
  apr_run_push_cancellable (cancellable);
  succeeded = call->run (self, call, cancellable, error);
  apr_run_pop_cancellable (cancellable);
  if (call->is_update)
    apr_estimator_set_updating (self, FALSE);

  return succeeded;
}

static void
run_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;
  gboolean succeeded = run (source_object, task_data, cancellable, &error);

  /* To free much memory takes long: here it stops no main loop. */
  clear_data (task_data);
  if (succeeded)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static gboolean
run_when_idle_cb (gpointer user_data)
{
  GTask *task = user_data;

  if (!g_task_return_error_if_cancelled (task))
    run_in_thread (task, g_task_get_source_object (task), g_task_get_task_data (task),
                   g_task_get_cancellable (task));

  return G_SOURCE_REMOVE;
}

/* In the caller's main context, where an update ends before its callback is called. */
static void
ran_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  AprEstimatorCall *call = g_task_get_task_data (task);
  GError *error = NULL;
  gboolean succeeded = g_task_propagate_boolean (G_TASK (result), &error);

  if (call->is_update)
    apr_estimator_end_update (APR_ESTIMATOR (object), succeeded);
  if (succeeded)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
apr_estimator_call_async_named (AprEstimator *self,
                                AprEstimatorCall *call,
                                const char *name,
                                gpointer source_tag,
                                int io_priority,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (GTask) work = NULL;
  GError *error = NULL;

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, call, unref);

  /* What was committed stays, even if it is cancelled in the same breath. */
  g_task_set_check_cancellable (task, FALSE);

  if (call->is_update && !apr_estimator_begin_update (self, g_task_get_context (task), io_priority, &error))
    {
      g_task_return_error (task, error);
      return;
    }

  work = g_task_new (self, cancellable, ran_cb, g_steal_pointer (&task));
  g_task_set_source_tag (work, apr_estimator_call_async_named);
  g_task_set_priority (work, io_priority);
  g_task_set_task_data (work, g_atomic_rc_box_acquire (call), unref);
  /* A file that was replaced before it could be cancelled is the new one. */
  g_task_set_check_cancellable (work, call->file == NULL);
  if (call->needs_caller)
    {
      g_autoptr (GSource) source = g_idle_source_new ();

      g_source_set_static_name (source, "AprEstimator");
      g_source_set_priority (source, MAX (io_priority, G_PRIORITY_DEFAULT_IDLE));
      g_task_attach_source (work, source, run_when_idle_cb);
    }
  else if (call->is_update || call->file != NULL)
    apr_task_run_in_thread (work, run_in_thread);
  else
    apr_task_run_reader (work, run_in_thread);
}

AprEstimatorCall *
apr_estimator_call_finish_named (
  gpointer self, GAsyncResult *result, gpointer tag, const char *name, GError **error)
{
  GTask *task = apr_task_check_named (result, self, tag, name, error);

  return task != NULL && g_task_propagate_boolean (task, error) ? g_task_get_task_data (task) : NULL;
}

gpointer
apr_estimator_call_take_result_named (
  gpointer self, GAsyncResult *result, gpointer tag, const char *name, GError **error)
{
  AprEstimatorCall *call = apr_estimator_call_finish_named (self, result, tag, name, error);

  return call != NULL ? g_steal_pointer (&call->results[0]) : NULL;
}

void
apr_estimator_return_error_named (AprEstimator *self,
                                  const char *name,
                                  gpointer source_tag,
                                  GError *error,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, callback, user_data);

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_return_error (task, error);
}

/**
 * apr_estimator_fit_async:
 * @self: an estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples]; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the fit has ended
 * @user_data: data to pass to @callback
 *
 * Fits the model to data without blocking.
 *
 * The model changes, and notifies, in the main context that was the caller's thread default, just before
 * @callback is called there. Until then it can be used as it was.
 *
 * Since: 0.1
 */
void
apr_estimator_fit_async (AprEstimator *self,
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

  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (x != NULL);

  if (!apr_estimator_check_fit (x, y, sample_weight, &error))
    {
      apr_estimator_return_error (self, apr_estimator_fit_async, error, callback, user_data);
      return;
    }

  call = apr_estimator_call_new (x, y, sample_weight);
  call->run = apr_estimator_run_fit;
  call->is_update = TRUE;
  call->needs_caller = !APR_ESTIMATOR_IS_THREAD_SAFE (self, fit);
  apr_estimator_call_async (self, call, apr_estimator_fit_async, io_priority, cancellable, callback,
                            user_data);
}

/**
 * apr_estimator_fit_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.fit_async] began.
 *
 * Returns: true, or false with an error as of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_estimator_fit_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  return apr_estimator_call_finish (self, result, apr_estimator_fit_async, error) != NULL;
}

static gboolean
run_predict (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  call->results[0] = apr_estimator_predict (self, call->x, error);
  call->free_result = (GDestroyNotify) apr_tensor_unref;

  return call->results[0] != NULL;
}

/**
 * apr_estimator_predict_async:
 * @self: a fitted estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the predictions are there
 * @user_data: data to pass to @callback
 *
 * Predicts the targets of samples without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_predict_async (AprEstimator *self,
                             AprTensor *x,
                             int io_priority,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (x != NULL);

  call = apr_estimator_call_new (x, NULL, NULL);
  call->run = run_predict;
  call->needs_caller = !APR_ESTIMATOR_IS_THREAD_SAFE (self, predict);
  apr_estimator_call_async (self, call, apr_estimator_predict_async, io_priority, cancellable, callback,
                            user_data);
}

/**
 * apr_estimator_predict_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.predict_async] began.
 *
 * Returns: (transfer full): the predictions, or `NULL` with an error as of [method@Apr.Estimator.predict]
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_predict_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_estimator_predict_async, error);
}

static gboolean
run_score (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  GError *local_error = NULL;

  call->number = apr_estimator_score (self, call->x, call->y, call->sample_weight, &local_error);
  if (local_error == NULL)
    return TRUE;

  g_propagate_error (error, local_error);
  return FALSE;
}

/**
 * apr_estimator_score_async:
 * @self: a fitted estimator
 * @x: the features, [n_samples, n_features]
 * @y: the true targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): how much each sample counts, [n_samples]
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the score is known
 * @user_data: data to pass to @callback
 *
 * Predicts from @x and compares with @y, without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_score_async (AprEstimator *self,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           int io_priority,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (x != NULL);

  call = apr_estimator_call_new (x, y, sample_weight);
  call->run = run_score;
  call->needs_caller = !APR_ESTIMATOR_IS_THREAD_SAFE (self, predict);
  apr_estimator_call_async (self, call, apr_estimator_score_async, io_priority, cancellable, callback,
                            user_data);
}

/**
 * apr_estimator_score_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.score_async] began.
 *
 * Returns: R², at most 1; 0 with an error as of [method@Apr.Estimator.score]
 *
 * Since: 0.1
 */
double
apr_estimator_score_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  AprEstimatorCall *call;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  call = apr_estimator_call_finish (self, result, apr_estimator_score_async, error);

  return call != NULL ? call->number : 0;
}
