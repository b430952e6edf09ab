/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"
#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Numbers in fixed point, cut into slices of 21 bits, so that a sum of products of slices is exact in double: 2^21 times
 * 2^20 times 2^12 terms is 2^53. K. Ozaki, T. Ogita, S. Oishi and S. Rump, "Error-free transformations of matrix
 * multiplication", 2012, multiply matrices so. */
#define APR_SLICES_BITS 21

/* The first slice counts units of 2^-APR_SLICES_TOP. */
#define APR_SLICES_TOP 18

/* A part of the products, scaled so that no entry is 4 or more: the entry at (i, j) is that of rows[i] and columns[j] times 2^-(the row's and the column's
 * scale). */
typedef struct
{
  const AprDenseKernel *kernel;
  gsize n_rows;
  gsize n_columns;
  gsize n_slices;
  gsize stride;
  float *values;  /* (owned) n_rows x n_slices x stride */
  gboolean exact; /* nothing is left behind the last slice */
} AprSlices;

/* Half the length of the column's square: the scale that makes it at least 1/2 and below 2. */
gint64 apr_slices_scale_of (const AprProducts *products, gsize column);

/* Scales are those of all columns of the products. With @n_slices slices at most. */
AprSlices *apr_slices_new (const AprProducts *products,
                           const gint64 *row_scales,
                           const gsize *rows,
                           gsize n_rows,
                           const gint64 *column_scales,
                           const gsize *columns,
                           gsize n_columns,
                           gsize n_slices,
                           guint n_threads);

AprSlices *apr_slices_new_transposed (const AprSlices *slices);

void apr_slices_free (AprSlices *self);

/* No more than this is left out of an entry. */
double apr_slices_get_truncation (const AprSlices *self);

double apr_slices_get_double (const AprSlices *self, gsize row, gsize column);

/* Numbers in the same fixed point, a row of @n_limbs for each: limb q counts 2^-(APR_SLICES_TOP + APR_SLICES_BITS (q - lead)). */
typedef struct
{
  gsize n;
  gsize n_limbs;
  gsize lead;
  gint64 *limbs; /* (owned) */
} AprFixed;

void apr_fixed_init (AprFixed *self, gsize n, gsize n_limbs, gsize lead);

void apr_fixed_clear (AprFixed *self);

/* Makes every limb at most 2^(APR_SLICES_BITS - 1), either side of 0, but the first, and returns the first limb that is
 * not 0 in all the numbers, n_limbs where all are 0. */
gsize apr_fixed_carry (AprFixed *self);

/* The exponent of limb @q. */
static inline gint64
apr_fixed_get_unit (const AprFixed *self, gsize q)
{
  return -(APR_SLICES_TOP + APR_SLICES_BITS * ((gint64) q - (gint64) self->lead));
}

/* A number in units of limb @top, before which there must be nothing. */
double apr_fixed_get_double (const AprFixed *self, gsize i, gsize top);

/* The 2-norm of all numbers in units of limb @top, or a bit more. */
double apr_fixed_get_norm (const AprFixed *self, gsize top);

/* The sum of all magnitudes where limb q counts 2^-(APR_SLICES_BITS (q - lead)), or a bit more. Carries. */
double apr_fixed_get_size (AprFixed *self);

/* Adds the column @column of the slices. */
void apr_fixed_add_column (AprFixed *self, const AprSlices *slices, gsize column);

/* A vector in three digits of at most 2^20 either side of 0, in units of 2^-(21 place) and the two that follow. */
typedef struct
{
  gsize n;
  gint place;
  double *digits[3]; /* (owned) padded with zeros, in one piece */
} AprDigits;

void apr_digits_init (AprDigits *self, gsize n);

void apr_digits_clear (AprDigits *self);

/* Rounds @values 2^@exponent. */
void apr_digits_set (AprDigits *self, const double *values, gint64 exponent);

/* Adds the row @row of the slices, as many columns of it as there are numbers. */
void apr_fixed_add_row (AprFixed *self, const AprSlices *slices, gsize row);

/* Whether there are limbs for digits at @place. */
static inline gboolean
apr_fixed_has_place (const AprFixed *self, gint place)
{
  return place >= -(gint) self->lead && place + (gint) self->lead + 3 <= (gint) self->n_limbs;
}

/* Adds the digits: for this, limb q counts 2^-(APR_SLICES_BITS (q - lead)). */
void apr_fixed_add_digits (AprFixed *self, const AprDigits *digits);

/* Adds @sign times the digits, to numbers whose limbs count as the residuals' do. */
void apr_fixed_add_digits_as_residual (AprFixed *self, const AprDigits *digits, gint sign);

/* Adds @sign times the products of the slices and the digits. */
void apr_fixed_add_product (
  AprFixed *self, const AprSlices *slices, const AprDigits *digits, gint sign, guint n_threads);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSlices, apr_slices_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprFixed, apr_fixed_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprDigits, apr_digits_clear)

G_END_DECLS
