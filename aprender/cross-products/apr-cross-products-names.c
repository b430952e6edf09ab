/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/base/apr-strings-private.h"

/* The names of the columns of X and y. */

void
apr_cross_products_take_names (AprCrossProducts *self, AprNames kind, const char *const *names)
{
  if (apr_names_equal (self->names[kind], (char **) names))
    return;

  apr_strings_set (&self->names[kind], names);
  g_object_notify (G_OBJECT (self), apr_names_get_property (kind));
}

void
apr_cross_products_inherit_names (AprCrossProducts *self, AprCrossProducts *other)
{
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (self->names[kind] == NULL)
      apr_cross_products_take_names (self, kind, (const char *const *) other->names[kind]);
}

gboolean
apr_cross_products_set_names (AprCrossProducts *self, AprNames kind, const char *const *names, GError **error)
{
  gsize n = kind == APR_FEATURE_NAMES ? apr_exact_sums_get_n_features (self->sums)
                                      : apr_exact_sums_get_n_targets (self->sums);

  if (!apr_cross_products_check (self, error) ||
      !apr_names_check_n (names, kind, n, "the cross products are of", error) ||
      !apr_names_check (names, kind, error) || !apr_cross_products_begin (self, error))
    return FALSE;

  apr_cross_products_take_names (self, kind, names);
  apr_cross_products_end (self);
  return TRUE;
}

gboolean
apr_cross_products_check_names (AprCrossProducts *self,
                                AprNames kind,
                                const char *const *names,
                                GError **error)
{
  return self->names[kind] == NULL || names == NULL ||
         apr_names_compare ((const char *const *) self->names[kind], names, kind,
                            "the cross products were summed", error);
}

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

  return (const char *const *) self->names[APR_FEATURE_NAMES];
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
 *   UTF-8, or with %G_IO_ERROR_PENDING while a write is under way
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_feature_names (AprCrossProducts *self,
                                      const char *const *feature_names,
                                      GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_cross_products_set_names (self, APR_FEATURE_NAMES, feature_names, error);
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

  return apr_cross_products_check_names (self, APR_FEATURE_NAMES, feature_names, error);
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

  return (const char *const *) self->names[APR_TARGET_NAMES];
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
 *   UTF-8, or with %G_IO_ERROR_PENDING while a write is under way
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_target_names (AprCrossProducts *self, const char *const *target_names, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_cross_products_set_names (self, APR_TARGET_NAMES, target_names, error);
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

  return apr_cross_products_check_names (self, APR_TARGET_NAMES, target_names, error);
}
