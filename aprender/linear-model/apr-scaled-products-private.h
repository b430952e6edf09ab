/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-slices-private.h"

G_BEGIN_DECLS

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

/* The upper triangle in double, in rows @stride apart; false where an entry is 4 or more, which none is of sums that were not
 * rounded. */
gboolean
apr_scaled_products_get_doubles (const AprScaledProducts *self, double *rows, gsize stride, guint n_threads);

/* Adds @sign times the products of a matrix whose entries are below 4 and the digits, exactly but for the truncation. */
void apr_fixed_add_scaled_product (
  AprFixed *self, const AprScaledProducts *matrix, const AprDigits *digits, gint sign, guint n_threads);

G_END_DECLS
