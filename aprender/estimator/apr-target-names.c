/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-feature-names-private.h"

/* The names of the targets, which are kept as those of the features are. */

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
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  fitted = apr_estimator_ref_fitted (self);

  return g_strdupv (fitted->target_names);
}

/* @before under these names. */
static AprFitted *
rename_targets (AprFitted *before, const char *const *target_names)
{
  AprFitted *after = apr_fitted_new_with (before, before->n_features, before->n_targets,
                                          (const char *const *) before->feature_names);

  g_strfreev (after->target_names);
  after->target_names = g_strdupv ((char **) target_names);

  return after;
}

gboolean
apr_estimator_set_pending_target_names (AprEstimator *self, const char *const *target_names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *before;

  if (!apr_target_names_check (target_names, error) ||
      !apr_target_names_check_n (target_names, priv->pending->n_targets, "the model was fitted with", error))
    return FALSE;

  g_mutex_lock (&priv->lock);
  before = priv->pending;
  priv->pending = rename_targets (before, target_names);
  g_mutex_unlock (&priv->lock);

  apr_fitted_unref (before);
  return TRUE;
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
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (AprFitted) before = NULL;
  g_autoptr (AprFitted) after = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  if (target_names != NULL && !apr_target_names_check (target_names, error))
    return FALSE;

  g_mutex_lock (&priv->lock);
  if (priv->fitted->n_features == 0 ||
      apr_target_names_check_n (target_names, priv->fitted->n_targets, "the model was fitted with", error))
    {
      before = priv->fitted;
      after = rename_targets (before, target_names);
      priv->fitted = apr_fitted_ref (after);
    }
  g_mutex_unlock (&priv->lock);

  if (after == NULL)
    return FALSE;
  if (!apr_feature_names_equal (before->target_names, after->target_names))
    g_object_notify (G_OBJECT (self), "target-names");
  return TRUE;
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
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (target_names != NULL, FALSE);

  fitted = apr_estimator_ref_fitted (self);
  if (!apr_estimator_check_fitted (self, fitted, "check the targets of", error))
    return FALSE;
  if (fitted->target_names == NULL)
    return TRUE;

  return apr_target_names_compare ((const char *const *) fitted->target_names, target_names,
                                   "the model was fitted", error);
}
