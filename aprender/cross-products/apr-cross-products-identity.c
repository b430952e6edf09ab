/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <string.h>

#include "aprender/base/apr-strings-private.h"

/* The parts that a state is made of, for those who might be given the same one twice. */

/**
 * apr_cross_products_set_identity:
 * @self: a state
 * @identity: (nullable): a name of the samples that were added so far, or `NULL` for none
 * @error: return location for an error
 *
 * Names the samples, so that merging them twice is an error: as the name of a part of the data, which an engine may
 * send again after a failure.
 *
 * A state that others are merged into has the identities of all of them. They are in its file and in its bytes, but not
 * in a model's. This replaces those that the state has.
 *
 * Returns: true, or false with %APR_ERROR_RANGE where @identity is empty or not UTF-8, or %G_IO_ERROR_PENDING while a
 *   write is under way
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_identity (AprCrossProducts *self, const char *identity, GError **error)
{
  const char *const identities[] = { identity, NULL };

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  if (identity != NULL && (identity[0] == '\0' || !g_utf8_validate (identity, -1, NULL)))
    {
      g_autofree char *valid = g_utf8_make_valid (identity, -1);

      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "The identity of a state is text, but got “%s”", valid);
      return FALSE;
    }
  if (!apr_cross_products_begin (self, error))
    return FALSE;

  apr_strings_set (&self->identities, identity != NULL ? identities : NULL);
  apr_cross_products_end (self);

  return TRUE;
}

/**
 * apr_cross_products_get_identities:
 * @self: a state
 *
 * Gets the identities of the parts that the state was made of.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the identities, sorted by their bytes, or `NULL`
 *
 * Since: 0.1
 */
const char *const *
apr_cross_products_get_identities (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  return (const char *const *) self->identities;
}

gboolean
apr_cross_products_have_equal_identities (AprCrossProducts *self, AprCrossProducts *other)
{
  if (self->identities == NULL || other->identities == NULL)
    return self->identities == other->identities;

  return g_strv_equal ((const char *const *) self->identities, (const char *const *) other->identities);
}

/* Goes through two sorted lists; @added gets the names of both, or those of @self without those of @other. */
static gboolean
combine (AprCrossProducts *self, AprCrossProducts *other, gint sign, GPtrArray *combined, GError **error)
{
  char *none[] = { NULL };
  char **own = self->identities != NULL ? self->identities : none;
  char **others = other->identities != NULL ? other->identities : none;

  while (*own != NULL || *others != NULL)
    {
      gint order = *own == NULL ? 1 : *others == NULL ? -1 : strcmp (*own, *others);

      if (sign > 0 && order == 0)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "The samples of “%s” have been merged before",
                       *own);
          return FALSE;
        }
      if (sign < 0 && order > 0)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "The samples of “%s” have not been merged",
                       *others);
          return FALSE;
        }
      if (order != 0)
        g_ptr_array_add (combined, g_strdup (order < 0 ? *own : *others));
      own += order <= 0;
      others += order >= 0;
    }

  return TRUE;
}

gboolean
apr_cross_products_combine_identities (
  AprCrossProducts *self, AprCrossProducts *other, gint sign, char ***identities, GError **error)
{
  g_autoptr (GPtrArray) combined = g_ptr_array_new_with_free_func (g_free);

  if (!combine (self, other, sign, combined, error))
    return FALSE;

  if (identities == NULL)
    return TRUE;
  if (combined->len > 0)
    g_ptr_array_add (combined, NULL);
  *identities = (char **) g_ptr_array_steal (combined, NULL);
  return TRUE;
}

gboolean
apr_cross_products_take_identities (AprCrossProducts *self, char **identities, GError **error)
{
  gsize i;

  for (i = 0; identities[i] != NULL; i++)
    if (identities[i][0] == '\0' || (i > 0 && strcmp (identities[i - 1], identities[i]) >= 0))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                     "The metadata “aprender.identities” must be sorted texts, but “%s” is there",
                     identities[i]);
        g_strfreev (identities);
        return FALSE;
      }

  g_strfreev (self->identities);
  self->identities = identities;
  return TRUE;
}
