/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include "aprender/base/apr-strings-private.h"

/* The names of a model's features and targets. */

gboolean
apr_estimator_check_begun_names (AprEstimator *self, gsize n_features, gsize n_targets, GError **error)
{
  g_autoptr (AprFitted) begun = apr_estimator_ref_begun (self);
  const char *const *features = (const char *const *) begun->names[APR_FEATURE_NAMES];
  const char *const *targets = (const char *const *) begun->names[APR_TARGET_NAMES];

  if (begun->n_features > 0)
    return TRUE;

  return (n_features == 0 || (apr_names_check (features, APR_FEATURE_NAMES, error) &&
                              apr_names_check_n (features, APR_FEATURE_NAMES, n_features, "X has", error))) &&
         (n_targets == 0 || apr_names_check_n (targets, APR_TARGET_NAMES, n_targets, "y has", error));
}

gboolean
apr_estimator_set_names (AprEstimator *self, AprNames kind, const char *const *names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (AprFitted) before = NULL;
  g_autoptr (AprFitted) after = NULL;
  g_autoptr (GError) local_error = NULL;
  gboolean is_good = apr_names_check (names, kind, &local_error);
  gboolean is_taken;

  g_mutex_lock (&priv->lock);
  if (priv->fitted->n_features == 0)
    is_taken = is_good || !priv->is_updating;
  else
    is_taken = is_good && apr_names_check_n (names, kind, apr_fitted_get_n (priv->fitted, kind),
                                             "the model was fitted with", &local_error);
  if (is_taken)
    {
      before = priv->fitted;
      after = apr_fitted_copy (before);
      apr_strings_set (&after->names[kind], names);
      priv->fitted = apr_fitted_ref (after);
    }
  g_mutex_unlock (&priv->lock);

  if (!is_taken)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (apr_names_equal (before->names[kind], after->names[kind]))
    return TRUE;

  g_object_freeze_notify (G_OBJECT (self));
  g_object_notify (G_OBJECT (self), apr_names_get_property (kind));
  if (kind == APR_FEATURE_NAMES && after->type != NULL && after->type->notify_names != NULL)
    after->type->notify_names (self, after->results);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
}

static char **
get_names (AprEstimator *self, AprNames kind)
{
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (self);

  return g_strdupv (fitted->names[kind]);
}

static gboolean
check_names (AprEstimator *self, AprNames kind, const char *const *names, const char *what, GError **error)
{
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (self);

  return apr_estimator_check_fitted (self, fitted, what, error) &&
         (fitted->names[kind] == NULL || apr_names_compare ((const char *const *) fitted->names[kind], names,
                                                            kind, "the model was fitted", error));
}

/**
 * apr_estimator_get_feature_names: (get-property feature-names)
 * @self: an estimator
 *
 * Gets the names of the features, in the order of X's columns.
 *
 * Returns: (array zero-terminated=1) (transfer full) (nullable): the names, or `NULL` where none were given
 *
 * Since: 0.1
 */
char **
apr_estimator_get_feature_names (AprEstimator *self)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return get_names (self, APR_FEATURE_NAMES);
}

/**
 * apr_estimator_set_feature_names:
 * @self: an estimator
 * @feature_names: (array zero-terminated=1) (nullable): a name for each feature, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the features, as the property does, but says what is wrong at once. The names are saved with the model.
 *
 * Before the first fit any number of names can be given; a fit to another number of features then fails with
 * %APR_ERROR_FEATURE_NAMES. A further fit keeps the names if it has as many features, unless its data have names.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES where their number is not that of a fitted model's
 *   features, one is there twice, or one is not UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_estimator_set_feature_names (AprEstimator *self, const char *const *feature_names, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  return apr_names_check (feature_names, APR_FEATURE_NAMES, error) &&
         apr_estimator_set_names (self, APR_FEATURE_NAMES, feature_names, error);
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
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (feature_names != NULL, FALSE);

  return check_names (self, APR_FEATURE_NAMES, feature_names, "check the features of", error);
}

/**
 * apr_estimator_get_target_names: (get-property target-names)
 * @self: an estimator
 *
 * Gets the names of the targets, in the order of y's columns.
 *
 * Returns: (array zero-terminated=1) (transfer full) (nullable): the names, or `NULL` where none were given
 *
 * Since: 0.1
 */
char **
apr_estimator_get_target_names (AprEstimator *self)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return get_names (self, APR_TARGET_NAMES);
}

/**
 * apr_estimator_set_target_names:
 * @self: an estimator
 * @target_names: (array zero-terminated=1) (nullable): a name for each target, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the targets. The names are saved with the model.
 *
 * Before the first fit any number of names can be given; a fit to another number of targets then fails with
 * %APR_ERROR_FEATURE_NAMES. A further fit keeps the names if it has as many targets.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES where their number is not that of a fitted model's
 *   targets, one is there twice, or one is not UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_estimator_set_target_names (AprEstimator *self, const char *const *target_names, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  return apr_names_check (target_names, APR_TARGET_NAMES, error) &&
         apr_estimator_set_names (self, APR_TARGET_NAMES, target_names, error);
}

/**
 * apr_estimator_check_target_names:
 * @self: a fitted estimator
 * @target_names: (array zero-terminated=1): the names of the columns of some y
 * @error: return location for an error
 *
 * Compares names with those that the model was fitted with, which must be the same in the same order.
 *
 * A model whose targets have no names takes any.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES, whose message holds the first name that differs, or
 * with %APR_ERROR_NOT_FITTED
 *
 * Since: 0.1
 */
gboolean
apr_estimator_check_target_names (AprEstimator *self, const char *const *target_names, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (target_names != NULL, FALSE);

  return check_names (self, APR_TARGET_NAMES, target_names, "check the targets of", error);
}
