/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-slices-private.h"

G_BEGIN_DECLS

/* A limb of a number in two's complement, with zeros before it and its sign behind. */
static inline guint64
apr_limbs_get (const mp_limb_t *limbs, gint64 n_limbs, gint64 limb)
{
  if (limb < 0)
    return 0;

  return limb < n_limbs ? limbs[limb] : (guint64) ((gint64) limbs[n_limbs - 1] >> 63);
}

/* 64 bits, from the one at @shift of @low on. */
static inline guint64
apr_limbs_join (guint64 low, guint64 high, guint shift)
{
  return low >> shift | high << 1 << (63 - shift);
}

/* The 128 bits of a number from @place up. */
static inline unsigned __int128
apr_limbs_get_part (const mp_limb_t *limbs, gint64 n_limbs, gint64 place)
{
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 middle = apr_limbs_get (limbs, n_limbs, limb + 1);

  return (unsigned __int128) apr_limbs_join (middle, apr_limbs_get (limbs, n_limbs, limb + 2), shift) << 64 |
         apr_limbs_join (apr_limbs_get (limbs, n_limbs, limb), middle, shift);
}

/* An entry below 4, whose unit is 2^-@scale, in double; sets bits of @too_large where it is 4 or more. */
static inline double
apr_limbs_get_double (const mp_limb_t *limbs, gint64 n_limbs, gint64 scale, guint64 *too_large)
{
  gint64 place = scale - 61;
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 high = apr_limbs_get (limbs, n_limbs, limb + 1);
  gint64 value = (gint64) apr_limbs_join (apr_limbs_get (limbs, n_limbs, limb), high, shift);
  guint64 sign = (guint64) (value >> 63);

  *too_large |= (guint64) ((gint64) high >> shift) ^ sign;
  for (limb = MAX (limb + 2, 0); limb < n_limbs; limb++)
    *too_large |= limbs[limb] ^ sign;

  return (double) value * 0x1p-61;
}

/* A sum of products of 128 bits and 64: low + 2^64 high */
typedef struct
{
  __int128 high;
  guint64 low;
} AprLongSum;

static inline void
apr_long_sum_add (AprLongSum *self, unsigned __int128 value, gint64 factor)
{
  guint64 low = (guint64) value;
  unsigned __int128 product = (unsigned __int128) low * (guint64) factor;
  gint64 carried = (gint64) ((guint64) (product >> 64) - (low & (guint64) (factor >> 63)));

  self->low += (guint64) product;
  self->high += (__int128) (gint64) (value >> 64) * factor + carried + (self->low < (guint64) product);
}

/* The products of some columns with each other, scaled as AprSlices are, but read where they lie: an entry has as many bits
 * behind the point as leave room for a sum of its products with whole numbers in 192 bits. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  const gint64 *scales;        /* (unowned) of all columns of the products */
  const gsize *columns;        /* (unowned) in order */
  gsize n;
} AprScaledProducts;

/* The bits behind the point. */
static inline gint
apr_scaled_products_get_bits (const AprScaledProducts *self)
{
  return 126 - (gint) g_bit_storage (self->n);
}

/* As of AprSlices. */
double apr_scaled_products_get_truncation (const AprScaledProducts *self);

/* As many slices would hold these bits. */
gsize apr_scaled_products_count_slices (const AprScaledProducts *self);

/* The upper triangle in double, in rows @stride apart, and once more in @copy, where that is not %NULL; false where an entry is 4 or more, which none is of sums that were not
 * rounded. */
gboolean apr_scaled_products_get_doubles (
  const AprScaledProducts *self, double *rows, double *copy, gsize stride, guint n_threads);

/* Adds @sign times the products of a matrix whose entries are below 4 and the digits, exactly but for the truncation. */
void apr_fixed_add_scaled_product (
  AprFixed *self, const AprScaledProducts *matrix, const AprDigits *digits, gint sign, guint n_threads);

/* The products of all of some columns with the first ones of them. A row has one scale for all, a column its own. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  gint64 row_scale;
  const gint64 *scales; /* (unowned) of all columns of the products: none is greater than that of a row */
  const gsize *columns; /* (unowned) */
  gsize n;
  gsize n_first;
} AprTallProducts;

double apr_tall_products_get_truncation (const AprTallProducts *self);

gsize apr_tall_products_count_slices (const AprTallProducts *self);

/* Adds the products of a matrix, whose entries are below 4, with @v to @outward, and subtracts those of its transpose with @b
 * from @inward, exactly but for the truncation. */
void apr_fixed_add_tall_products (AprFixed *outward,
                                  AprFixed *inward,
                                  const AprTallProducts *matrix,
                                  const AprDigits *v,
                                  const AprDigits *b,
                                  guint n_threads);

G_END_DECLS
