/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/base/apr-strings-private.h"
#include "aprender/estimator/apr-feature-names-private.h"

/* The names of the columns of X and y. */

/**
 * apr_cross_products_get_feature_names: (get-property feature-names)
 * @self: a state
 *
 * Gets the names of the features.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names, or `NULL`
 *
 * Since: 0.1
 */
const char *const *
apr_cross_products_get_feature_names (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  return (const char *const *) self->feature_names;
}

/* Makes @place, which is that of the property @property, a copy of @names. */
static void
take_names (AprCrossProducts *self, char ***place, const char *const *names, const char *property)
{
  if (apr_feature_names_equal (*place, (char **) names))
    return;

  apr_strings_set (place, names);
  g_object_notify (G_OBJECT (self), property);
}

void
apr_cross_products_take_feature_names (AprCrossProducts *self, const char *const *feature_names)
{
  take_names (self, &self->feature_names, feature_names, "feature-names");
}

void
apr_cross_products_take_target_names (AprCrossProducts *self, const char *const *target_names)
{
  take_names (self, &self->target_names, target_names, "target-names");
}

/**
 * apr_cross_products_set_feature_names:
 * @self: a state
 * @feature_names: (array zero-terminated=1) (nullable): a name for each feature, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the features. The names are saved with the state, and given to the models that are fitted to it.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES where their number is wrong, one is there twice, or one is not
 *   UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_feature_names (AprCrossProducts *self,
                                      const char *const *feature_names,
                                      GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  if (!apr_cross_products_check (self, error) ||
      !apr_feature_names_check_n (feature_names, apr_exact_sums_get_n_features (self->sums),
                                  "the cross products are of", error))
    return FALSE;
  if (feature_names != NULL && !apr_feature_names_check (feature_names, error))
    return FALSE;

  if (!apr_cross_products_begin (self, error))
    return FALSE;

  apr_cross_products_take_feature_names (self, feature_names);
  apr_cross_products_end (self);
  return TRUE;
}

/**
 * apr_cross_products_check_feature_names:
 * @self: a state
 * @feature_names: (array zero-terminated=1): the names of the columns of some X
 * @error: return location for an error
 *
 * Compares names with those of the state, which must be the same in the same order.
 *
 * A state whose features have no names takes any.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES, whose message holds the first name that differs
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_check_feature_names (AprCrossProducts *self,
                                        const char *const *feature_names,
                                        GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (feature_names != NULL, FALSE);

  return self->feature_names == NULL ||
         apr_feature_names_compare ((const char *const *) self->feature_names, feature_names,
                                    "the cross products were summed", error);
}

/**
 * apr_cross_products_get_target_names: (get-property target-names)
 * @self: a state
 *
 * Gets the names of the targets.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names, or `NULL`
 *
 * Since: 0.1
 */
const char *const *
apr_cross_products_get_target_names (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  return (const char *const *) self->target_names;
}

/**
 * apr_cross_products_set_target_names:
 * @self: a state
 * @target_names: (array zero-terminated=1) (nullable): a name for each target, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the targets. The names are saved with the state, and given to the models that are fitted to it.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES where their number is wrong, one is there twice, or one is not
 *   UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_target_names (AprCrossProducts *self, const char *const *target_names, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  if (!apr_cross_products_check (self, error) ||
      !apr_target_names_check_n (target_names, apr_exact_sums_get_n_targets (self->sums),
                                 "the cross products are of", error))
    return FALSE;
  if (target_names != NULL && !apr_target_names_check (target_names, error))
    return FALSE;

  if (!apr_cross_products_begin (self, error))
    return FALSE;

  apr_cross_products_take_target_names (self, target_names);
  apr_cross_products_end (self);
  return TRUE;
}

/**
 * apr_cross_products_check_target_names:
 * @self: a state
 * @target_names: (array zero-terminated=1): the names of the columns of some y
 * @error: return location for an error
 *
 * Compares names with those of the state, which must be the same in the same order.
 *
 * A state whose targets have no names takes any.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES, whose message holds the first name that differs
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_check_target_names (AprCrossProducts *self,
                                       const char *const *target_names,
                                       GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (target_names != NULL, FALSE);

  return self->target_names == NULL ||
         apr_target_names_compare ((const char *const *) self->target_names, target_names,
                                   "the cross products were summed", error);
}
