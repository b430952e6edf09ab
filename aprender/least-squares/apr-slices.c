/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-slices-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"

#define MASK ((1 << APR_SLICES_BITS) - 1)
#define MAX_FIRST (1 << (APR_SLICES_BITS - 1))
#define MAX_TERMS 4096
#define SQUARE 16

gint64
apr_slices_scale_of (const AprProducts *products, gsize column)
{
  return apr_products_get_bits (products, column, column) / 2;
}

typedef struct
{
  AprSlices *slices;
  const AprProducts *products;
  const gint64 *row_scales;
  const gsize *rows;
  const gint64 *column_scales;
  const gsize *columns;
} Cutting;

/* A limb of a number in two's complement, with zeros before it and its sign behind. */
static inline mp_limb_t
limb_at (const mp_limb_t *limbs, gint64 n_limbs, mp_limb_t sign, gint64 limb)
{
  return limb < 0 ? 0 : limb < n_limbs ? limbs[limb] : sign;
}

static inline void
cut_entry (const Cutting *cutting, gsize i, gsize j, gboolean mirrored)
{
  AprSlices *self = cutting->slices;
  gint64 n_limbs = (gint64) cutting->products->n_limbs;
  const mp_limb_t *limbs = apr_products_get (cutting->products, cutting->rows[i], cutting->columns[j]);
  mp_limb_t sign = (mp_limb_t) ((mp_limb_signed_t) limbs[n_limbs - 1] >> (GMP_NUMB_BITS - 1));
  gint64 place =
    cutting->row_scales[cutting->rows[i]] + cutting->column_scales[cutting->columns[j]] - APR_SLICES_TOP;
  /* The bits from @place up begin at @shift of @low. */
  gint64 limb = place >= 0 ? place / GMP_NUMB_BITS : -((-place + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS);
  gint shift = (gint) (place - limb * GMP_NUMB_BITS);
  mp_limb_t low = limb_at (limbs, n_limbs, sign, limb);
  mp_limb_t high = limb_at (limbs, n_limbs, sign, limb + 1);
  gint64 first =
    (gint64) (mp_limb_signed_t) (shift == 0 ? low : low >> shift | high << (GMP_NUMB_BITS - shift));
  float *to = self->values + i * self->n_slices * self->stride + j;
  float *mirror = self->values + j * self->n_slices * self->stride + i;
  float value = (float) first;
  gsize k;

  for (k = 0; k < self->n_slices; k++)
    {
      mp_limb_t bits;

      to[k * self->stride] = value;
      if (mirrored)
        mirror[k * self->stride] = value;

      shift -= APR_SLICES_BITS;
      if (shift < 0)
        {
          shift += GMP_NUMB_BITS;
          high = low;
          low = limb_at (limbs, n_limbs, sign, --limb);
        }
      bits = low >> shift;
      if (shift + APR_SLICES_BITS > GMP_NUMB_BITS)
        bits |= high << (GMP_NUMB_BITS - shift);
      value = (float) (gint32) (bits & MASK);
    }
}

/* In squares of a line of the cache, so that what is mirrored fills lines too. */
static void
cut_rows (gpointer data, gsize part, gsize n_parts)
{
  const Cutting *cutting = data;
  const AprSlices *self = cutting->slices;
  gboolean symmetric = cutting->rows == cutting->columns && cutting->row_scales == cutting->column_scales;
  gsize row;
  gsize column;
  gsize i;
  gsize j;

  for (row = part * SQUARE; row < self->n_rows; row += n_parts * SQUARE)
    for (column = 0; column < (symmetric ? row + SQUARE : self->n_columns); column += SQUARE)
      for (i = row; i < MIN (row + SQUARE, self->n_rows); i++)
        for (j = column; j < MIN (column + SQUARE, symmetric ? i + 1 : self->n_columns); j++)
          cut_entry (cutting, i, j, symmetric);
}

static AprSlices *
slices_new (gsize n_rows, gsize n_columns, gsize n_slices, gboolean exact)
{
  AprSlices *self = g_new0 (AprSlices, 1);
  gsize i;

  self->kernel = apr_dense_kernel_choose ();
  self->n_rows = n_rows;
  self->n_columns = n_columns;
  self->n_slices = n_slices;
  self->exact = exact;
  self->stride = apr_dense_pad (n_columns);
  self->values = g_aligned_alloc (MAX (n_rows * n_slices * self->stride, 1), sizeof (float), 64);
  /* One call takes less than many where rows are short. */
  if (n_columns < 4 * APR_DENSE_PAD)
    memset (self->values, 0, n_rows * n_slices * self->stride * sizeof (float));
  for (i = 0; i < n_rows * n_slices && n_columns >= 4 * APR_DENSE_PAD; i++)
    memset (self->values + i * self->stride + n_columns, 0, (self->stride - n_columns) * sizeof (float));

  return self;
}

AprSlices *
apr_slices_new (const AprProducts *products,
                const gint64 *row_scales,
                const gsize *rows,
                gsize n_rows,
                const gint64 *column_scales,
                const gsize *columns,
                gsize n_columns,
                gsize n_slices,
                guint n_threads)
{
  Cutting cutting = { NULL, products, row_scales, rows, column_scales, columns };
  gint64 row_scale = 0;
  gint64 column_scale = 0;
  gsize needed;
  gsize i;

  for (i = 0; i < n_rows; i++)
    row_scale = MAX (row_scale, row_scales[rows[i]]);
  for (i = 0; i < n_columns; i++)
    column_scale = MAX (column_scale, column_scales[columns[i]]);
  needed =
    (gsize) MAX (0, row_scale + column_scale - APR_SLICES_TOP + APR_SLICES_BITS - 1) / APR_SLICES_BITS + 1;

  cutting.slices = slices_new (n_rows, n_columns, MIN (needed, n_slices), needed <= n_slices);
  apr_parallel_run (cut_rows, &cutting, n_threads,
                    2.0 * (double) (n_rows * n_columns * (cutting.slices->n_slices + 4)));

  return cutting.slices;
}

AprSlices *
apr_slices_new_transposed (const AprSlices *slices)
{
  AprSlices *self = slices_new (slices->n_columns, slices->n_rows, slices->n_slices, slices->exact);
  gsize begin;
  gsize i;
  gsize j;
  gsize k;

  for (begin = 0; begin < self->n_columns; begin += SQUARE)
    for (i = 0; i < self->n_rows; i++)
      for (k = 0; k < self->n_slices; k++)
        for (j = begin; j < MIN (begin + SQUARE, self->n_columns); j++)
          self->values[(i * self->n_slices + k) * self->stride + j] =
            slices->values[(j * self->n_slices + k) * slices->stride + i];

  return self;
}

void
apr_slices_free (AprSlices *self)
{
  if (self == NULL)
    return;

  g_aligned_free (self->values);
  g_free (self);
}

double
apr_slices_get_truncation (const AprSlices *self)
{
  gint bits = APR_SLICES_TOP + APR_SLICES_BITS * ((gint) self->n_slices - 1);

  /* A bound must not underflow to 0, which stands for exact. */
  return self->exact ? 0 : ldexp (1, -MIN (bits, -DBL_MIN_EXP));
}

double
apr_slices_get_double (const AprSlices *self, gsize row, gsize column)
{
  const float *values = self->values + row * self->n_slices * self->stride + column;
  double value = 0;
  gsize k;

  /* Four slices are more than a double holds. */
  for (k = MIN (self->n_slices, 4); k-- > 0;)
    value = value * (1.0 / (1 << APR_SLICES_BITS)) + (double) values[k * self->stride];

  return value * (1.0 / (1 << APR_SLICES_TOP));
}

void
apr_fixed_init (AprFixed *self, gsize n, gsize n_limbs, gsize lead)
{
  self->n = n;
  self->n_limbs = n_limbs;
  self->lead = lead;
  self->limbs = g_new0 (gint64, n * n_limbs);
}

void
apr_fixed_clear (AprFixed *self)
{
  g_clear_pointer (&self->limbs, g_free);
}

gsize
apr_fixed_carry (AprFixed *self)
{
  gsize top = self->n_limbs;
  gsize i;
  gsize q;

  for (i = 0; i < self->n; i++)
    {
      gint64 *limbs = self->limbs + i * self->n_limbs;

      for (q = self->n_limbs; q > 1 && limbs[q - 1] == 0; q--)
        ;
      for (; --q > 0;)
        {
          gint64 carry = (limbs[q] + MAX_FIRST) >> APR_SLICES_BITS;

          limbs[q] -= carry * (1 << APR_SLICES_BITS);
          limbs[q - 1] += carry;
        }
      for (q = 0; q < top && limbs[q] == 0; q++)
        ;
      top = q;
    }

  return top;
}

double
apr_fixed_get_double (const AprFixed *self, gsize i, gsize top)
{
  const gint64 *limbs = self->limbs + i * self->n_limbs;
  double value = 0;
  gsize q;

  /* As many limbs as a double reaches over, after those that may be 0. */
  for (q = top; q < self->n_limbs && limbs[q] == 0; q++)
    ;
  for (q = MIN (q + 4, self->n_limbs); q-- > top;)
    value = value * (1.0 / (1 << APR_SLICES_BITS)) + (double) limbs[q];

  return value;
}

double
apr_fixed_get_norm (const AprFixed *self, gsize top)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < self->n && top < self->n_limbs; i++)
    {
      double value = apr_fixed_get_double (self, i, top);

      sum += value * value;
    }

  return sqrt (sum) * 1.001;
}

double
apr_fixed_get_size (AprFixed *self)
{
  gsize top = apr_fixed_carry (self);
  double sum = 0;
  gsize i;

  for (i = 0; i < self->n && top < self->n_limbs; i++)
    sum += fabs (apr_fixed_get_double (self, i, top));

  return sum * 1.001 * ldexp (1, APR_SLICES_BITS * ((gint) self->lead - (gint) top));
}

void
apr_fixed_add_column (AprFixed *self, const AprSlices *slices, gsize column)
{
  gsize i;
  gsize k;

  g_assert (self->lead + slices->n_slices <= self->n_limbs);

  for (i = 0; i < self->n; i++)
    for (k = 0; k < slices->n_slices; k++)
      self->limbs[i * self->n_limbs + self->lead + k] +=
        (gint64) slices->values[(i * slices->n_slices + k) * slices->stride + column];
}

void
apr_fixed_add_row (AprFixed *self, const AprSlices *slices, gsize row)
{
  gsize i;
  gsize k;

  g_assert (self->lead + slices->n_slices <= self->n_limbs);

  for (i = 0; i < self->n; i++)
    for (k = 0; k < slices->n_slices; k++)
      self->limbs[i * self->n_limbs + self->lead + k] +=
        (gint64) slices->values[(row * slices->n_slices + k) * slices->stride + i];
}

void
apr_digits_init (AprDigits *self, gsize n)
{
  gsize stride = apr_dense_pad (n);
  gsize m;

  self->n = n;
  self->digits[0] = g_aligned_alloc0 (MAX (3 * stride, 1), sizeof (double), 64);
  for (m = 1; m < 3; m++)
    self->digits[m] = self->digits[0] + m * stride;
}

void
apr_digits_clear (AprDigits *self)
{
  g_clear_pointer (&self->digits[0], g_aligned_free);
}

void
apr_digits_set (AprDigits *self, const double *values, gint64 exponent)
{
  const double base = 1 << APR_SLICES_BITS;
  double greatest = 0;
  double factor;
  gint bits;
  gint64 place;
  gsize i;
  gsize m;

  for (i = 0; i < self->n; i++)
    greatest = MAX (greatest, fabs (values[i]));
  (void) frexp (greatest, &bits);

  /* The greatest is below 2^(bits + exponent): below 2^20 in units of 2^-(21 place). */
  place = APR_SLICES_BITS - 1 - (bits + exponent);
  place = place >= 0 ? place / APR_SLICES_BITS : -((APR_SLICES_BITS - 1 - place) / APR_SLICES_BITS);
  self->place = (gint) place;
  factor = ldexp (1, (gint) (exponent + APR_SLICES_BITS * place));

  for (i = 0; i < self->n; i++)
    {
      double rest = values[i] * factor;

      for (m = 0; m < 3; m++)
        {
          self->digits[m][i] = rint (rest);
          rest = (rest - self->digits[m][i]) * base;
        }
    }
}

static void
add_digits (AprFixed *self, const AprDigits *digits, gint64 factor)
{
  gsize first = (gsize) ((gint) self->lead + digits->place);
  gsize i;
  gsize m;

  g_assert ((gint) self->lead + digits->place >= 0 && first + 3 <= self->n_limbs);

  for (i = 0; i < self->n; i++)
    for (m = 0; m < 3; m++)
      self->limbs[i * self->n_limbs + first + m] += factor * (gint64) digits->digits[m][i];
}

void
apr_fixed_add_digits (AprFixed *self, const AprDigits *digits)
{
  add_digits (self, digits, 1);
}

void
apr_fixed_add_digits_as_residual (AprFixed *self, const AprDigits *digits, gint sign)
{
  add_digits (self, digits, sign * (1 << APR_SLICES_TOP));
}

typedef struct
{
  AprFixed *fixed;
  const AprSlices *slices;
  const AprDigits *digits;
  gsize first; /* the limb that the product of the first slice and the first digit goes to */
  gint sign;
} Product;

static void
multiply_rows (gpointer data, gsize part, gsize n_parts)
{
  const Product *product = data;
  const AprSlices *slices = product->slices;
  double *const *digits = product->digits->digits;
  gsize n_limbs = product->fixed->n_limbs;
  double (*sums)[3] = g_alloca (slices->n_slices * sizeof *sums);
  gsize i;
  gsize j;
  gsize k;
  gsize m;

  for (i = part; i < slices->n_rows; i += n_parts)
    for (j = 0; j < slices->stride; j += MAX_TERMS)
      {
        const double *const vectors[3] = { digits[0] + j, digits[1] + j, digits[2] + j };
        gint64 *limbs = product->fixed->limbs + i * n_limbs + product->first;

        slices->kernel->multiply_whole (slices->values + i * slices->n_slices * slices->stride + j,
                                        slices->stride, slices->n_slices, vectors,
                                        MIN (MAX_TERMS, slices->stride - j), sums);
        for (k = 0; k < slices->n_slices; k++)
          for (m = 0; m < 3; m++)
            limbs[k + m] += product->sign * (gint64) sums[k][m];
      }
}

void
apr_fixed_add_product (
  AprFixed *self, const AprSlices *slices, const AprDigits *digits, gint sign, guint n_threads)
{
  Product product = { self, slices, digits, (gsize) ((gint) self->lead + digits->place), sign };

  g_assert ((gint) self->lead + digits->place >= 0 && product.first + slices->n_slices + 2 <= self->n_limbs);

  apr_parallel_run (multiply_rows, &product, n_threads,
                    0.25 * (double) (slices->n_rows * slices->n_slices * slices->stride));
}
