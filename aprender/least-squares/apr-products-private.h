/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-exact-sums-private.h"
#include "aprender/least-squares/apr-limbs-private.h"

G_BEGIN_DECLS

/* The matrix of the normal equations in whole numbers: the products of the features and the targets, centred and times
 * the sum of the weights where there is an intercept. No division, no rounding.
 *
 * A column is a feature, or n_features plus a target. */
typedef struct
{
  gsize n_features;
  gsize n_targets;
  gboolean centred;

  gsize n_limbs;    /* of an entry */
  mp_limb_t *limbs; /* (owned) packed lower triangle of the columns, two's complement, the least limb first */

  gint finer;  /* the unit of the products is 2^(-2 finer) of that of the sums' squares: for alpha */
  mpz_t *sums; /* (owned) the weights' sum and those of the columns, in one unit; zeros where not centred */
} AprProducts;

/* Asks for what lies some entries behind @from, which no longer is on the page that the processor looks ahead on. */
static inline void
apr_products_prefetch (gconstpointer from)
{
  __builtin_prefetch ((gconstpointer) ((guintptr) from + 2048));
}

/* The place of an entry in a packed lower triangle. */
static inline gsize
apr_triangle (gsize row, gsize column)
{
  return row >= column ? row * (row + 1) / 2 + column : column * (column + 1) / 2 + row;
}

mpz_t *apr_integers_new (gsize n);

void apr_integers_free (mpz_t *integers, gsize n);

/* Adds @alpha to the sum of the squares of every feature. */
AprProducts *apr_products_new (AprExactSums *state, gboolean centred, double alpha, guint n_threads);

void apr_products_free (AprProducts *self);

static inline const mp_limb_t *
apr_products_get (const AprProducts *self, gsize row, gsize column)
{
  return self->limbs + apr_triangle (row, column) * self->n_limbs;
}

void apr_products_get_integer (const AprProducts *self, gsize row, gsize column, mpz_t value);

/* The length of the magnitude of an entry in bits, 0 for zero alone. */
gint64 apr_products_get_bits (const AprProducts *self, gsize row, gsize column);

/* The zeros below an entry's lowest bit, and more than any other has for zero. */
gint64 apr_products_count_zeros (const AprProducts *self, gsize row, gsize column);

/* Whether an entry is below 0, which the square of a column of samples never is. */
gboolean apr_products_is_negative (const AprProducts *self, gsize row, gsize column);

/* Whether the centred second moment of @feature is less than @negligible of its plain one, so that it is nothing but what
 * rounding of its values can make of a constant. */
gboolean apr_products_is_constant (const AprProducts *self, gsize feature, double negligible);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprProducts, apr_products_free)

G_END_DECLS
