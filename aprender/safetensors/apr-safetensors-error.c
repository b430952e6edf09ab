/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-error-private.h"

#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/safetensors/apr-json-scanner-private.h"

/* What an error has beside its code and message: the offset, where it is known. GLib puts it before the error, aligned
 * to two words, which its size is a multiple of. */
typedef struct
{
  guint64 has_offset;
  guint64 offset;
} Place;

static Place *
get_place (const GError *error)
{
  return (Place *) (gpointer) error - 1;
}

static void
place_init (GError *error)
{
  get_place (error)->has_offset = FALSE;
}

static void
place_copy (const GError *source, GError *copy)
{
  *get_place (copy) = *get_place (source);
}

static void
place_clear (GError *error)
{
}

/**
 * apr_safetensors_error_quark:
 *
 * Gets the domain of the errors about SafeTensors files.
 *
 * In C, compare with %APR_SAFETENSORS_ERROR instead.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
/* What G_DEFINE_EXTENDED_ERROR defines, but with a name that ends as those of domains do. */
GQuark
apr_safetensors_error_quark (void)
{
  static gsize domain;

  if (g_once_init_enter (&domain))
    g_once_init_leave (&domain, g_error_domain_register_static ("apr-safetensors-error-quark", sizeof (Place),
                                                                place_init, place_copy, place_clear));
  return (GQuark) domain;
}

/* clang-format off */
G_DEFINE_ENUM_TYPE (AprSafetensorsError, apr_safetensors_error,
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_TRUNCATED, "truncated"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_TRAILING_DATA, "trailing-data"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE, "header-too-large"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_ENCODING, "encoding"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_SYNTAX, "syntax"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_DEPTH, "depth"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_FIELD, "field"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_METADATA, "metadata"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_DUPLICATE, "duplicate"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_NAME, "name"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_DTYPE, "dtype"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_OVERFLOW, "overflow"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_OVERLAP, "overlap"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_GAP, "gap"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_MISALIGNED, "misaligned"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "size-mismatch"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_NOT_FOUND, "not-found"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_SHARD_NAME, "shard-name"),
  G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_ERROR_INDEX, "index"))
/* clang-format on */

void
apr_safetensors_error_set_offset (GError **error, guint64 offset)
{
  Place *place;

  /* That there is no memory has no place. */
  if (error == NULL || g_error_matches (*error, APR_ERROR, APR_ERROR_NO_MEMORY))
    return;
  /* What callers have just set. */
  g_assert ((*error)->domain == APR_SAFETENSORS_ERROR);
  place = get_place (*error);
  place->has_offset = TRUE;
  place->offset = offset;
}

void
apr_safetensors_error_prefix_tensor (GError **error, const char *name)
{
  g_autofree char *display = apr_json_display (name, strlen (name));

  g_prefix_error (error, "tensor “%s”: ", display);
}

/**
 * apr_safetensors_error_get_offset: (skip)
 * @error: an error
 * @offset: (out) (optional): return location for the offset, counted from 0
 *
 * Gets at which byte of the file an error is: the first byte that breaks a rule, or the size of a file that is too
 * short.
 *
 * Errors of reading have it, but for those that are about no place in a file, such as an index that does not match
 * its shards. If a shard is wrong, it is an offset in the shard that the message names. Scripts, which copy errors as
 * domain, code and message, do not have this function.
 *
 * Returns: whether @error is an %APR_SAFETENSORS_ERROR with an offset
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_error_get_offset (const GError *error, guint64 *offset)
{
  const Place *place;

  g_return_val_if_fail (error != NULL, FALSE);

  if (error->domain != APR_SAFETENSORS_ERROR)
    return FALSE;
  place = get_place (error);
  if (place->has_offset && offset != NULL)
    *offset = place->offset;
  return place->has_offset != FALSE;
}
