/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator.h"

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-estimator-results-private.h"
#include "aprender/estimator/apr-metric-private.h"

/**
 * AprEstimator:
 *
 * A model: it is fitted to data, predicts, is scored, copied, saved and loaded.
 *
 * ```c
 * if (!apr_estimator_fit (model, x, y, NULL, NULL, &error) ||
 *     (predictions = apr_estimator_predict (model, more_x, &error)) == NULL)
 *   g_warning ("%s", error->message);
 * ```
 *
 * A sample is a row of X [n_samples, n_features]; its target is a number in y [n_samples], or a row of y
 * [n_samples, n_targets].
 *
 * ## Hyper-parameters and results
 *
 * Hyper-parameters are properties that can be written. They say how the next fit is done; changing one after a fit
 * does not change the results. A file holds both. Results of a fit are read-only properties, and notify together.
 *
 * ## Threads, memory and blocking
 *
 * Any number of threads may use one estimator at once. Readers (predict, score, copy, save, getters) take no notice
 * of a fit that runs in another thread: each works with the results of before or after it, never with a mixture.
 * Only one fit runs at a time; a second that overlaps it fails with %G_IO_ERROR_PENDING, and so does one that is asked
 * for from within it: by a subclass's own `fit`, or by a handler that hears of its progress or of its results. Another
 * can begin when [property@Apr.Estimator:busy] notifies. Hyper-parameters may be set beside a fit, which uses the
 * values that it began with; names become the model's at its end, where they are as many as the features or targets.
 *
 * This holds for a subclass as far as its own virtual functions allow it; see
 * [method@Apr.EstimatorClass.set_thread_safe].
 *
 * What can take more than a millisecond has an asynchronous twin, with one rule: `name_async` takes the
 * arguments of `name`, then a priority, a cancellable, and a callback, which calls `name_finish`. The work is done
 * in a thread, and the arguments are kept alive meanwhile. The model changes, and notifies, in the main context
 * that was the thread default of the caller, before the callback is called there. Where a virtual function comes
 * from a subclass that has not said that it is thread-safe, as a script's, it is called in that main context
 * instead.
 *
 * [property@Apr.Estimator:busy] and [property@Apr.Estimator:progress] tell of a fit. They can be bound to a widget if
 * the model is fitted asynchronously; a synchronous fit notifies in the thread that calls it. No getter computes.
 *
 * A fitted or loaded estimator owns its numbers: it keeps neither the data nor the file. A fit that fails or is
 * cancelled leaves the estimator as it was, and so does a save that fails with its file.
 *
 * ## Subclasses
 *
 * The public methods check their arguments against each other and against the model, then call the subclass's
 * virtual functions. So a subclass holds only its mathematics, `fit` and `predict`, and may be written in C, Vala,
 * Python or JavaScript. What a fit finds it gives to [method@Apr.Estimator.set_result]: that is copied, saved and
 * loaded without further code. Loading makes a new object.
 *
 * Since: 0.1
 */
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AprEstimator, apr_estimator, G_TYPE_OBJECT)

enum
{
  PROP_FITTED = 1,
  PROP_N_FEATURES,
  PROP_N_TARGETS,
  PROP_FEATURE_NAMES,
  PROP_TARGET_NAMES,
  PROP_BUSY,
  PROP_PROGRESS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

AprEstimatorPrivate *
apr_estimator_get_private (AprEstimator *self)
{
  return apr_estimator_get_instance_private (self);
}

static void
apr_estimator_finalize (GObject *object)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (APR_ESTIMATOR (object));

  apr_fitted_unref (priv->fitted);
  g_clear_pointer (&priv->pending, apr_fitted_unref);
  g_clear_pointer (&priv->begun, apr_fitted_unref);
  g_clear_pointer (&priv->context, g_main_context_unref);
  g_mutex_clear (&priv->lock);

  G_OBJECT_CLASS (apr_estimator_parent_class)->finalize (object);
}

static void
apr_estimator_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprEstimator *self = APR_ESTIMATOR (object);

  switch (property_id)
    {
    case PROP_FITTED:
      g_value_set_boolean (value, apr_estimator_get_fitted (self));
      break;
    case PROP_N_FEATURES:
      g_value_set_uint64 (value, apr_estimator_get_n_features (self));
      break;
    case PROP_N_TARGETS:
      g_value_set_uint64 (value, apr_estimator_get_n_targets (self));
      break;
    case PROP_FEATURE_NAMES:
      g_value_take_boxed (value, apr_estimator_get_feature_names (self));
      break;
    case PROP_TARGET_NAMES:
      g_value_take_boxed (value, apr_estimator_get_target_names (self));
      break;
    case PROP_BUSY:
      g_value_set_boolean (value, apr_estimator_get_busy (self));
      break;
    case PROP_PROGRESS:
      g_value_set_double (value, apr_estimator_get_progress (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_estimator_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  g_autoptr (GError) error = NULL;

  switch (property_id)
    {
    case PROP_FEATURE_NAMES:
      if (!apr_estimator_set_names (APR_ESTIMATOR (object), APR_FEATURE_NAMES, g_value_get_boxed (value),
                                    &error))
        g_warning ("The feature names of this %s stay as they were: %s", G_OBJECT_TYPE_NAME (object),
                   error->message);
      break;
    case PROP_TARGET_NAMES:
      if (!apr_estimator_set_target_names (APR_ESTIMATOR (object), g_value_get_boxed (value), &error))
        g_warning ("The target names of this %s stay as they were: %s", G_OBJECT_TYPE_NAME (object),
                   error->message);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

void
apr_estimator_set_failed (AprEstimator *self, const char *function, GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "%s of %s failed without giving a reason", function,
                 G_OBJECT_TYPE_NAME (self));
}

/**
 * apr_estimator_class_set_thread_safe: (skip)
 * @klass: the class of a subclass, in its class initialiser
 *
 * Says that the virtual functions that @klass has now may be called in any thread, and in several at once.
 *
 * Then asynchronous methods call them in a thread, else in the caller's main context. A virtual function that a
 * further subclass overrides counts as not thread-safe until that class says so too.
 *
 * Since: 0.1
 */
void
apr_estimator_class_set_thread_safe (AprEstimatorClass *klass)
{
  g_return_if_fail (APR_IS_ESTIMATOR_CLASS (klass));

  klass->thread_safe = klass;
}

/**
 * AprEstimatorClass::load_tensors:
 * @self: an estimator
 * @reader: the file
 * @n_features: (out): the number of features that the tensors are for
 * @n_targets: (out): the number of targets
 * @error: return location for an error
 *
 * Takes the fitted tensors from a file. The base class takes the results that its own `save_tensors` has added.
 *
 * Returns: whether they were there, and fit each other
 *
 * Since: 0.1
 */

/**
 * AprEstimatorClass::save_tensors:
 * @self: a fitted estimator
 * @writer: the file to be
 * @error: return location for an error
 *
 * Adds the fitted tensors to a file. The base class adds what was given to [method@Apr.Estimator.set_result].
 *
 * Returns: whether they were added
 *
 * Since: 0.1
 */
static void
apr_estimator_class_init (AprEstimatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->finalize = apr_estimator_finalize;
  object_class->get_property = apr_estimator_get_property;
  object_class->set_property = apr_estimator_set_property;
  klass->save_tensors = apr_estimator_save_results;
  klass->load_tensors = apr_estimator_load_results;

  /**
   * AprEstimator:fitted: (getter get_fitted)
   *
   * Whether the model has been fitted, or loaded.
   *
   * Since: 0.1
   */
  properties[PROP_FITTED] = g_param_spec_boolean ("fitted", NULL, NULL, FALSE, flags);

  /**
   * AprEstimator:n-features: (getter get_n_features)
   *
   * The number of features of the data that the model was fitted with; 0 before the first fit.
   *
   * Since: 0.1
   */
  properties[PROP_N_FEATURES] = g_param_spec_uint64 ("n-features", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprEstimator:n-targets: (getter get_n_targets)
   *
   * The number of targets that the model predicts for a sample; 0 before the first fit.
   *
   * Since: 0.1
   */
  properties[PROP_N_TARGETS] = g_param_spec_uint64 ("n-targets", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprEstimator:feature-names: (getter get_feature_names)
   *
   * The names of the features, where they have names: those that were set, or that came with the data or the file.
   *
   * Before the first fit they are taken as they are, and the fit fails with %APR_ERROR_FEATURE_NAMES where they are not
   * as many as the features, or not as [method@Apr.Estimator.set_feature_names] takes them. What a fitted model cannot
   * be given is left out, with a warning; so are, while it is busy before it is fitted, names that no model can have.
   *
   * Since: 0.1
   */
  properties[PROP_FEATURE_NAMES] = g_param_spec_boxed ("feature-names", NULL, NULL, G_TYPE_STRV,
                                                       (flags & ~G_PARAM_READABLE) | G_PARAM_READWRITE);

  /**
   * AprEstimator:target-names: (getter get_target_names)
   *
   * The names of the targets, in the order of y's columns.
   *
   * What [method@Apr.Estimator.set_target_names] would refuse is left out, with a warning.
   *
   * Since: 0.1
   */
  properties[PROP_TARGET_NAMES] = g_param_spec_boxed ("target-names", NULL, NULL, G_TYPE_STRV,
                                                      (flags & ~G_PARAM_READABLE) | G_PARAM_READWRITE);

  /**
   * AprEstimator:busy: (getter get_busy)
   *
   * Whether a fit runs, synchronous or not. Another one would fail with %G_IO_ERROR_PENDING.
   *
   * Since: 0.1
   */
  properties[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, flags);

  /**
   * AprEstimator:progress: (getter get_progress)
   *
   * How much of the running fit is done, or how far the last one came: from 0 to 1, over all its phases. It notifies
   * a few dozen times at most, unless a subclass reports more, in the main context of the caller of the fit; of the
   * end, while the model is still busy.
   * A handler may cancel the fit.
   *
   * Since: 0.1
   */
  properties[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_estimator_init (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);

  g_mutex_init (&priv->lock);
  priv->fitted = apr_fitted_new (0, 0, NULL, NULL);
}

void
apr_estimator_notify_fitted (AprEstimator *self, const AprFitted *before, const AprFitted *after)
{
  GObject *object = G_OBJECT (self);
  const AprResultsType *type = after->type != NULL ? after->type : before->type;

  if (before->n_features == 0)
    g_object_notify_by_pspec (object, properties[PROP_FITTED]);
  if (before->n_features != after->n_features)
    g_object_notify_by_pspec (object, properties[PROP_N_FEATURES]);
  if (before->n_targets != after->n_targets)
    g_object_notify_by_pspec (object, properties[PROP_N_TARGETS]);
  if (!apr_names_equal (before->names[APR_FEATURE_NAMES], after->names[APR_FEATURE_NAMES]))
    g_object_notify_by_pspec (object, properties[PROP_FEATURE_NAMES]);
  if (!apr_names_equal (before->names[APR_TARGET_NAMES], after->names[APR_TARGET_NAMES]))
    g_object_notify_by_pspec (object, properties[PROP_TARGET_NAMES]);
  if (type != NULL && type->notify != NULL)
    type->notify (self, before->results, after->results);
}

void
apr_estimator_notify_busy (AprEstimator *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

void
apr_estimator_notify_progress (AprEstimator *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROGRESS]);
}

/**
 * apr_estimator_get_fitted: (get-property fitted)
 * @self: an estimator
 *
 * Tells whether the model can predict.
 *
 * Returns: whether it was fitted, or loaded
 *
 * Since: 0.1
 */
gboolean
apr_estimator_get_fitted (AprEstimator *self)
{
  return apr_estimator_get_n_features (self) > 0;
}

/**
 * apr_estimator_get_n_features: (get-property n-features)
 * @self: an estimator
 *
 * Gets the number of features that X must have.
 *
 * Returns: the number of features, 0 before the first fit
 *
 * Since: 0.1
 */
gsize
apr_estimator_get_n_features (AprEstimator *self)
{
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  fitted = apr_estimator_ref_fitted (self);

  return fitted->n_features;
}

/**
 * apr_estimator_get_n_targets: (get-property n-targets)
 * @self: an estimator
 *
 * Gets the number of targets that are predicted for each sample.
 *
 * Returns: the number of targets, 0 before the first fit
 *
 * Since: 0.1
 */
gsize
apr_estimator_get_n_targets (AprEstimator *self)
{
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  fitted = apr_estimator_ref_fitted (self);

  return fitted->n_targets;
}

/**
 * apr_estimator_get_busy: (get-property busy)
 * @self: an estimator
 *
 * Tells whether a fit runs.
 *
 * Returns: whether that is so
 *
 * Since: 0.1
 */
gboolean
apr_estimator_get_busy (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  gboolean busy;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  g_mutex_lock (&priv->lock);
  busy = priv->is_updating;
  g_mutex_unlock (&priv->lock);

  return busy;
}

/**
 * apr_estimator_get_progress: (get-property progress)
 * @self: an estimator
 *
 * Gets how much of a fit is done.
 *
 * Returns: a fraction, from 0 to 1
 *
 * Since: 0.1
 */
double
apr_estimator_get_progress (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  double progress;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  g_mutex_lock (&priv->lock);
  progress = priv->progress;
  g_mutex_unlock (&priv->lock);

  return progress;
}

gboolean
apr_estimator_check_fitted (AprEstimator *self, const AprFitted *fitted, const char *what, GError **error)
{
  if (fitted->n_features > 0)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot %s an unfitted %s: call fit first", what,
               G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

/* The class has no such virtual function, which scripts call do_fit or vfunc_fit. */
static void
set_missing (AprEstimator *self, const char *function, GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "%s has no %s", G_OBJECT_TYPE_NAME (self), function);
}

gboolean
apr_estimator_run_fit (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprEstimatorClass *klass = APR_ESTIMATOR_GET_CLASS (self);
  g_autoptr (GError) local_error = NULL;
  gsize n_features = apr_tensor_get_shape (call->x, NULL)[1];
  gsize n_targets = apr_estimator_count_targets (call->y);

  if (!apr_estimator_check_begun_names (self, n_features, n_targets, error))
    return FALSE;

  if (klass->fit == NULL)
    {
      set_missing (self, "fit", error);
      return FALSE;
    }

  if (klass->fit (self, call->x, call->y, call->sample_weight, cancellable, &local_error))
    {
      apr_estimator_complete_pending (self, n_features, n_targets);
      return TRUE;
    }

  apr_estimator_set_failed (self, "fit", &local_error);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

/**
 * apr_estimator_fit: (virtual fit)
 * @self: an estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal
 * weights
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Fits the model to data, in place of what it was fitted to before.
 *
 * This blocks; [method@Apr.Estimator.fit_async] does not.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_SHAPE, %APR_ERROR_DTYPE, %APR_ERROR_EMPTY,
 *   %APR_ERROR_NOT_FINITE, %APR_ERROR_WEIGHTS, %APR_ERROR_RANGE, %APR_ERROR_NO_MEMORY, %APR_ERROR_FEATURE_NAMES,
 *   %G_IO_ERROR_PENDING where another fit of this model runs, %G_IO_ERROR_CANCELLED, or what the subclass gives
 *
 * Since: 0.1
 */
gboolean
apr_estimator_fit (AprEstimator *self,
                   AprTensor *x,
                   AprTensor *y,
                   AprTensor *sample_weight,
                   GCancellable *cancellable,
                   GError **error)
{
  AprEstimatorCall call = { .x = x, .y = y, .sample_weight = sample_weight };

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);

  return apr_estimator_check_fit (x, y, sample_weight, error) &&
         apr_estimator_update (self, apr_estimator_run_fit, &call, cancellable, error);
}

gboolean
apr_estimator_check_n_features (const char *what, gsize n_features, gsize n_fitted, GError **error)
{
  if (n_features == n_fitted)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s has %" G_GSIZE_FORMAT " features, but this model was fitted with %" G_GSIZE_FORMAT, what,
               n_features, n_fitted);
  return FALSE;
}

/**
 * apr_estimator_predict: (virtual predict)
 * @self: a fitted estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @error: return location for an error
 *
 * Predicts the targets of samples.
 *
 * Returns: (transfer full): the predictions, [n_samples], or [n_samples, n_targets] where the model was
 * fitted with a matrix of targets; `NULL` with %APR_ERROR_NOT_FITTED, %APR_ERROR_SHAPE where X has another
 * number of features, %APR_ERROR_DTYPE, %APR_ERROR_NOT_FINITE, or %APR_ERROR_FAILED where a subclass gives a number of
 * predictions that is not that of the samples and targets
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  AprEstimatorClass *klass;
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) local_error = NULL;
  AprEstimatorReading reading;
  gsize n_samples;
  gsize n_features;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);

  fitted = apr_estimator_ref_fitted (self);
  if (!apr_estimator_check_fitted (self, fitted, "predict with", error) ||
      !apr_estimator_check_x (x, &n_samples, &n_features, error) ||
      !apr_estimator_check_n_features ("X", n_features, fitted->n_features, error))
    return NULL;

  klass = APR_ESTIMATOR_GET_CLASS (self);
  if (klass->predict == NULL)
    {
      set_missing (self, "predict", error);
      return NULL;
    }

  apr_estimator_begin_reading (&reading, self, fitted);
  predictions = klass->predict (self, x, &local_error);
  apr_estimator_end_reading (&reading);
  if (predictions == NULL)
    {
      apr_estimator_set_failed (self, "predict", &local_error);
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }

  if (!apr_estimator_check_predictions (G_OBJECT_TYPE_NAME (self), x, fitted->n_targets,
                                        apr_estimator_get_n_targets (self), predictions, error))
    return NULL;

  return g_steal_pointer (&predictions);
}

/**
 * apr_estimator_score:
 * @self: a fitted estimator
 * @x: the features, [n_samples, n_features]
 * @y: the true targets, [n_samples] or [n_samples, n_targets]
 * @sample_weight: (nullable): how much each sample counts, [n_samples]
 * @error: return location for an error
 *
 * Predicts from @x and compares with @y: the coefficient of determination, R², as [func@Apr.r2_score] has it.
 *
 * Returns: R², at most 1; 0 with an error of either of the two functions
 *
 * Since: 0.1
 */
double
apr_estimator_score (AprEstimator *self, AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error)
{
  g_autoptr (AprTensor) predictions = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);
  g_return_val_if_fail (x != NULL, 0);

  if (!apr_estimator_check_y (y, error))
    return 0;
  predictions = apr_estimator_predict (self, x, error);
  if (predictions == NULL)
    return 0;

  return apr_metric_score (y, predictions, sample_weight, error);
}
