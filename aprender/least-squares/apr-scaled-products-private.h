/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-fixed-private.h"
#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

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

/* Returns the scale of a column: half the bits of its square, so that the scaled square is at least 1/2 and below 2. */
static inline gint64
apr_products_get_scale (const AprProducts *self, gsize column)
{
  return apr_products_get_bits (self, column, column) / 2;
}

/* The products of some columns with each other, times 2^-(the scales of both): they are scaled as they are read. A
 * multiplication uses as many of their fraction bits as leave room for its sums in 192 bits. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  const gint64 *scales;        /* (unowned) of all columns of the products */
  const gsize *columns;        /* (unowned) in order */
  gsize n;
} AprScaledProducts;

/* Returns how many fraction bits a multiplication uses where it adds @n products up. */
static inline gint
apr_scaled_products_get_bits (gsize n)
{
  return 126 - (gint) g_bit_storage (n);
}

/* Writes the upper triangle as doubles to @rows, @stride apart, and to @copy unless it is %NULL. Returns: %FALSE where
 * an entry is 4 or more, which those of samples never are, and where cancelled */
gboolean apr_scaled_products_get_doubles (
  const AprScaledProducts *self, double *rows, double *copy, gsize stride, const AprRun *run);

/* Adds the products with @n whole numbers to @sums, in one thread; their unit has the fraction bits that a
 * multiplication uses, beside those of @x. */
void apr_scaled_products_multiply (const AprScaledProducts *self,
                                   const gint64 *x,
                                   AprLongSum *sums,
                                   const AprRun *run);

/* Subtracts the matrix times @x from @residual, of which row i is held times 2^(the scale of i). Each entry of the
 * matrix is truncated to apr_scaled_products_get_bits(). */
void apr_fixed_subtract_scaled (AprFixed *residual,
                                const AprScaledProducts *matrix,
                                const AprCorrection *x,
                                const AprRun *run);

/* A tall matrix: the products of @n columns with the first @n_first of them. All rows have the same scale, and each
 * column has its own. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  gint64 row_scale;
  const gint64 *scales; /* (unowned) of all columns of the products: none is above that of a row */
  const gsize *columns; /* (unowned) */
  gsize n;
  gsize n_first;
} AprTallProducts;

/* Adds the matrix times @v to @primal, and subtracts its transpose times @b from @dual; the numbers of
 * each are held times 2^(the scale of their row or column), and entries are truncated as above. */
void apr_fixed_add_tall (AprFixed *primal,
                         AprFixed *dual,
                         const AprTallProducts *matrix,
                         const AprCorrection *v,
                         const AprCorrection *b,
                         const AprRun *run);

/* Adds @sign times a matrix times @x, without rounding. The matrix has the products of @rows with @columns, each times
 * 2^(@exponent - the scale of its column); @self must have as many fraction bits as that takes. */
void apr_fixed_add_products (AprFixed *self,
                             const AprProducts *products,
                             const gsize *rows,
                             const gsize *columns,
                             const gint64 *scales,
                             gint64 exponent,
                             const AprCorrection *x,
                             gint sign,
                             const AprRun *run);

G_END_DECLS
