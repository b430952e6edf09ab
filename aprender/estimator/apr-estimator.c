/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator.h"

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-feature-names-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-metrics.h"

/**
 * AprEstimator:
 *
 * What every model has in common: it is fitted to data, it predicts, it is scored, cloned, saved and loaded.
 *
 * Hyper-parameters, which say how to fit, are properties that can be written; results of a fit are read-only
 * properties, and notify. A sample is a row of X [n_samples, n_features]; its target is a number in y
 * [n_samples], or a row of y [n_samples, n_targets].
 *
 * Hyper-parameters say how the next fit is done: they may be changed after a fit, which the results do not
 * follow, and a file holds both as they are. So a loaded model equals the saved one.
 *
 * The methods check their arguments against each other and against the model, then call the subclass's
 * virtual functions. So a subclass holds only its mathematics and its tensors, and may be written in C, Vala,
 * Python or JavaScript. A fit that fails leaves the model as it was. Loading makes a new object: there is no
 * way to load a file into a model that exists.
 *
 * Since: 0.1
 */
typedef struct
{
  gboolean fitted;
  gsize n_features;
  gsize n_targets;
  char **feature_names; /* (owned) (nullable) */
} AprEstimatorPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AprEstimator, apr_estimator, G_TYPE_OBJECT)

enum
{
  PROP_FITTED = 1,
  PROP_N_FEATURES,
  PROP_N_TARGETS,
  PROP_FEATURE_NAMES,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void
apr_estimator_finalize (GObject *object)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (APR_ESTIMATOR (object));

  g_strfreev (priv->feature_names);

  G_OBJECT_CLASS (apr_estimator_parent_class)->finalize (object);
}

static void
apr_estimator_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (APR_ESTIMATOR (object));

  switch (property_id)
    {
    case PROP_FITTED:
      g_value_set_boolean (value, priv->fitted);
      break;
    case PROP_N_FEATURES:
      g_value_set_uint64 (value, priv->n_features);
      break;
    case PROP_N_TARGETS:
      g_value_set_uint64 (value, priv->n_targets);
      break;
    case PROP_FEATURE_NAMES:
      g_value_set_boxed (value, priv->feature_names);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

/* Says that a virtual function failed without saying why, as a script does that raises an exception of its
 * own kind or returns nothing. */
static void
set_failed (AprEstimator *self, const char *function, GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "%s of %s failed without giving a reason", function,
                 G_OBJECT_TYPE_NAME (self));
}

static gboolean
call_fit (AprEstimator *self,
          AprTensor *x,
          AprTensor *y,
          AprTensor *sample_weight,
          GCancellable *cancellable,
          GError **error)
{
  AprEstimatorClass *klass = APR_ESTIMATOR_GET_CLASS (self);

  if (klass->fit == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "%s has no fit", G_OBJECT_TYPE_NAME (self));
      return FALSE;
    }

  if (klass->fit (self, x, y, sample_weight, cancellable, error))
    return TRUE;

  set_failed (self, "fit", error);
  return FALSE;
}

typedef struct
{
  AprTensor *x;             /* (owned) */
  AprTensor *y;             /* (owned) */
  AprTensor *sample_weight; /* (owned) (nullable) */
} FitArguments;

static FitArguments *
fit_arguments_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight)
{
  FitArguments *arguments = g_new (FitArguments, 1);

  arguments->x = apr_tensor_ref (x);
  arguments->y = apr_tensor_ref (y);
  arguments->sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;

  return arguments;
}

static void
fit_arguments_free (gpointer data)
{
  FitArguments *arguments = data;

  apr_tensor_unref (arguments->x);
  apr_tensor_unref (arguments->y);
  g_clear_pointer (&arguments->sample_weight, apr_tensor_unref);
  g_free (arguments);
}

static gboolean
fit_when_idle_cb (gpointer user_data)
{
  GTask *task = user_data;
  FitArguments *arguments = g_task_get_task_data (task);
  GError *error = NULL;

  if (call_fit (g_task_get_source_object (task), arguments->x, arguments->y, arguments->sample_weight,
                g_task_get_cancellable (task), &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);

  return G_SOURCE_REMOVE;
}

/* In the caller's context, not in a thread: a script's function must not be called from another one. */
void
apr_estimator_fit_in_context (AprEstimator *self,
                              AprTensor *x,
                              AprTensor *y,
                              AprTensor *sample_weight,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (GSource) source = g_idle_source_new ();

  g_task_set_source_tag (task, apr_estimator_fit_in_context);
  g_task_set_task_data (task, fit_arguments_new (x, y, sample_weight), fit_arguments_free);
  g_source_set_name (source, "AprEstimator fit");
  g_task_attach_source (task, source, fit_when_idle_cb);
}

static gboolean
apr_estimator_real_fit_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * AprEstimatorClass::load_tensors:
 * @self: an estimator
 * @reader: the file
 * @n_features: (out): the number of features that the tensors are for
 * @n_targets: (out): the number of targets
 * @error: return location for an error
 *
 * Takes the fitted tensors from a file.
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
 * Adds the fitted tensors to a file.
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

  klass->fit_async = apr_estimator_fit_in_context;
  klass->fit_finish = apr_estimator_real_fit_finish;

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
   * The names of the features, where they have names.
   *
   * Since: 0.1
   */
  properties[PROP_FEATURE_NAMES] = g_param_spec_boxed ("feature-names", NULL, NULL, G_TYPE_STRV, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_estimator_init (AprEstimator *self)
{
}

static void
take_feature_names (AprEstimator *self, char **feature_names)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  if (priv->feature_names == NULL && feature_names == NULL)
    return;

  g_strfreev (priv->feature_names);
  priv->feature_names = feature_names;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FEATURE_NAMES]);
}

void
apr_estimator_set_fitted (AprEstimator *self, gsize n_features, gsize n_targets)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);
  GObject *object = G_OBJECT (self);
  gboolean other_fitted = !priv->fitted;
  gboolean other_features = priv->n_features != n_features;
  gboolean other_targets = priv->n_targets != n_targets;

  priv->fitted = TRUE;
  priv->n_features = n_features;
  priv->n_targets = n_targets;
  take_feature_names (self, NULL);
  if (other_fitted)
    g_object_notify_by_pspec (object, properties[PROP_FITTED]);
  if (other_features)
    g_object_notify_by_pspec (object, properties[PROP_N_FEATURES]);
  if (other_targets)
    g_object_notify_by_pspec (object, properties[PROP_N_TARGETS]);
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
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  return priv->fitted;
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
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  return priv->n_features;
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
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), 0);

  return priv->n_targets;
}

/**
 * apr_estimator_get_feature_names: (get-property feature-names)
 * @self: an estimator
 *
 * Gets the names of the features, in the order of X's columns.
 *
 * Returns: (array zero-terminated=1) (transfer none) (nullable): the names, or `NULL` where none were given
 *
 * Since: 0.1
 */
const char *const *
apr_estimator_get_feature_names (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return (const char *const *) priv->feature_names;
}

static gboolean
check_fitted (AprEstimator *self, const char *what, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  if (priv->fitted)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot %s an unfitted %s: call fit first", what,
               G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

/**
 * apr_estimator_set_feature_names:
 * @self: a fitted estimator
 * @feature_names: (array zero-terminated=1) (nullable): a name for each feature, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the features. The names are saved with the model; a fit forgets them.
 *
 * Returns: true, or false with %APR_ERROR_NOT_FITTED, or with %APR_ERROR_FEATURE_NAMES where their number is
 * wrong, one is there twice, or one is not UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_estimator_set_feature_names (AprEstimator *self, const char *const *feature_names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  if (!check_fitted (self, "name the features of", error))
    return FALSE;

  if (feature_names != NULL && g_strv_length ((char **) feature_names) != priv->n_features)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                   "There are %u feature names, but the model was fitted with %" G_GSIZE_FORMAT " features",
                   g_strv_length ((char **) feature_names), priv->n_features);
      return FALSE;
    }

  if (feature_names != NULL && !apr_feature_names_check (feature_names, error))
    return FALSE;

  take_feature_names (self, g_strdupv ((char **) feature_names));
  return TRUE;
}

/**
 * apr_estimator_check_feature_names:
 * @self: a fitted estimator
 * @feature_names: (array zero-terminated=1): the names of the columns of some X
 * @error: return location for an error
 *
 * Compares names with those that the model was fitted with, which must be the same in the same order.
 *
 * A model whose features have no names takes any.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES, whose message holds the first name that differs, or
 * with %APR_ERROR_NOT_FITTED
 *
 * Since: 0.1
 */
gboolean
apr_estimator_check_feature_names (AprEstimator *self, const char *const *feature_names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (feature_names != NULL, FALSE);

  if (!check_fitted (self, "check the features of", error))
    return FALSE;
  if (priv->feature_names == NULL)
    return TRUE;

  return apr_feature_names_compare ((const char *const *) priv->feature_names, feature_names,
                                    "the model was fitted", error);
}

/**
 * apr_estimator_fit: (virtual fit)
 * @self: an estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal
 * weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Fits the model to data, in place of what it was fitted to before.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_SHAPE, %APR_ERROR_DTYPE, %APR_ERROR_EMPTY,
 *   %APR_ERROR_NOT_FINITE, %APR_ERROR_WEIGHTS, %APR_ERROR_RANGE, or what the subclass gives
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
  g_autoptr (GError) local_error = NULL;
  gsize n_features;
  gsize n_targets;
  gboolean fitted;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (y != NULL, FALSE);

  if (!apr_estimator_check_fit (x, y, sample_weight, &n_features, &n_targets, error))
    return FALSE;

  g_object_freeze_notify (G_OBJECT (self));
  fitted = call_fit (self, x, y, sample_weight, cancellable, &local_error);
  if (fitted)
    apr_estimator_set_fitted (self, n_features, n_targets);
  g_object_thaw_notify (G_OBJECT (self));

  if (!fitted)
    g_propagate_error (error, g_steal_pointer (&local_error));
  return fitted;
}

static void
fit_async_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  AprEstimator *self = APR_ESTIMATOR (object);
  g_autoptr (GTask) task = user_data;
  gsize *sizes = g_task_get_task_data (task);
  GError *error = NULL;
  gboolean fitted;

  g_object_freeze_notify (object);
  fitted = APR_ESTIMATOR_GET_CLASS (self)->fit_finish (self, result, &error);
  if (fitted)
    apr_estimator_set_fitted (self, sizes[0], sizes[1]);
  g_object_thaw_notify (object);

  if (!fitted)
    set_failed (self, "fit_finish", &error);
  if (fitted)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * apr_estimator_fit_async: (virtual fit_async)
 * @self: an estimator
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples]; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @callback: (scope async) (closure user_data) (nullable): called when the fit has ended
 * @user_data: what @callback is called with
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
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  GError *error = NULL;
  gsize *sizes;

  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (x != NULL);
  g_return_if_fail (y != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_estimator_fit_async);
  sizes = g_new0 (gsize, 2);
  g_task_set_task_data (task, sizes, g_free);

  /* What was committed stays, even if it is cancelled in the same breath. */
  g_task_set_check_cancellable (task, FALSE);

  if (!apr_estimator_check_fit (x, y, sample_weight, &sizes[0], &sizes[1], &error))
    {
      g_task_return_error (task, error);
      return;
    }

  APR_ESTIMATOR_GET_CLASS (self)->fit_async (self, x, y, sample_weight, cancellable, fit_async_cb,
                                             g_steal_pointer (&task));
}

/**
 * apr_estimator_fit_finish: (virtual fit_finish)
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
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

static gboolean
check_n_features (AprEstimator *self, const char *what, gsize n_features, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  if (n_features == priv->n_features)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s has %" G_GSIZE_FORMAT " features, but this model was fitted with %" G_GSIZE_FORMAT, what,
               n_features, priv->n_features);
  return FALSE;
}

gboolean
apr_estimator_check_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  gsize n_samples;
  gsize n_features;

  return check_fitted (self, "predict with", error) &&
         apr_estimator_check_x (x, &n_samples, &n_features, error) &&
         check_n_features (self, "X", n_features, error);
}

gboolean
apr_estimator_check_sample (AprEstimator *self, gsize n_features, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_instance_private (self);

  if (!check_fitted (self, "predict with", error) ||
      !check_n_features (self, "The sample", n_features, error))
    return FALSE;
  if (priv->n_targets == 1)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "This model was fitted with %" G_GSIZE_FORMAT " targets, not one: predict a matrix of one row",
               priv->n_targets);
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
 * number of features, %APR_ERROR_DTYPE, or %APR_ERROR_NOT_FINITE
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  AprEstimatorClass *klass;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) local_error = NULL;
  gsize n_samples;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);
  g_return_val_if_fail (x != NULL, NULL);

  if (!apr_estimator_check_predict (self, x, error))
    return NULL;

  klass = APR_ESTIMATOR_GET_CLASS (self);
  if (klass->predict != NULL)
    predictions = klass->predict (self, x, &local_error);
  if (predictions == NULL)
    {
      set_failed (self, "predict", &local_error);
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }

  n_samples = apr_tensor_get_shape (x, NULL)[0];
  if (apr_tensor_get_n_dims (predictions) == 0 || apr_tensor_get_shape (predictions, NULL)[0] != n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                   "predict of %s gave a wrong number of predictions for %" G_GSIZE_FORMAT " samples",
                   G_OBJECT_TYPE_NAME (self), n_samples);
      return NULL;
    }

  if (!apr_estimator_check_predictions (x, predictions, error))
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
  g_return_val_if_fail (y != NULL, 0);

  predictions = apr_estimator_predict (self, x, error);
  if (predictions == NULL)
    return 0;

  return apr_r2_score (y, predictions, sample_weight, error);
}
