/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include "aprender/estimator/apr-feature-names-private.h"

/* The names of a model's features. */

gboolean
apr_estimator_check_begun_names (AprEstimator *self, gsize n_features, gsize n_targets, GError **error)
{
  g_autoptr (AprFitted) begun = apr_estimator_ref_begun (self);
  const char *const *names = (const char *const *) begun->feature_names;
  const char *const *target_names = (const char *const *) begun->target_names;

  if (begun->n_features > 0)
    return TRUE;

  return (n_features == 0 || ((names == NULL || apr_feature_names_check (names, error)) &&
                              apr_feature_names_check_n (names, n_features, "X has", error))) &&
         (n_targets == 0 || apr_target_names_check_n (target_names, n_targets, "y has", error));
}

gboolean
apr_estimator_set_names (AprEstimator *self, const char *const *names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (AprFitted) before = NULL;
  g_autoptr (AprFitted) after = NULL;
  g_autoptr (GError) local_error = NULL;
  gboolean is_good = names == NULL || apr_feature_names_check (names, &local_error);
  gboolean is_taken;

  g_mutex_lock (&priv->lock);
  if (priv->fitted->n_features == 0)
    is_taken = is_good || !priv->is_updating;
  else
    is_taken = is_good && apr_feature_names_check_n (names, priv->fitted->n_features,
                                                     "the model was fitted with", &local_error);
  if (is_taken)
    {
      before = priv->fitted;
      after = apr_fitted_new_with (before, before->n_features, before->n_targets, names);
      priv->fitted = apr_fitted_ref (after);
    }
  g_mutex_unlock (&priv->lock);

  if (!is_taken)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (apr_feature_names_equal (before->feature_names, after->feature_names))
    return TRUE;

  g_object_freeze_notify (G_OBJECT (self));
  g_object_notify (G_OBJECT (self), "feature-names");
  if (after->results != NULL)
    after->type->notify_names (self, after->results);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
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
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  fitted = apr_estimator_ref_fitted (self);

  return g_strdupv (fitted->feature_names);
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

  return (feature_names == NULL || apr_feature_names_check (feature_names, error)) &&
         apr_estimator_set_names (self, feature_names, error);
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
  g_autoptr (AprFitted) fitted = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (feature_names != NULL, FALSE);

  fitted = apr_estimator_ref_fitted (self);
  if (!apr_estimator_check_fitted (self, fitted, "check the features of", error))
    return FALSE;
  if (fitted->feature_names == NULL)
    return TRUE;

  return apr_feature_names_compare ((const char *const *) fitted->feature_names, feature_names,
                                    "the model was fitted", error);
}
