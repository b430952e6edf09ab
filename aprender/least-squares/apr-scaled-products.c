/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-scaled-products-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"

/* A line of the cache, so that what is written across rows fills lines. */
#define SQUARE 16

/* The slices that hold @bits behind the point. */
static gsize
count_slices (gint bits)
{
  return (gsize) (bits - APR_SLICES_TOP + APR_SLICES_BITS - 1) / APR_SLICES_BITS + 1;
}

double
apr_scaled_products_get_truncation (const AprScaledProducts *self)
{
  return ldexp (1, -apr_scaled_products_get_bits (self));
}

gsize
apr_scaled_products_count_slices (const AprScaledProducts *self)
{
  return count_slices (apr_scaled_products_get_bits (self));
}

typedef struct
{
  const AprScaledProducts *matrix;
  double *rows;
  double *copy; /* (nullable) */
  gsize stride;
  gint too_large;
} Conversion;

static void
convert_rows (gpointer data, gsize part, gsize n_parts)
{
  Conversion *conversion = data;
  const AprScaledProducts *matrix = conversion->matrix;
  const AprProducts *products = matrix->products;
  guint64 too_large = 0;
  gsize row;
  gsize column;
  gsize i;
  gsize j;

  for (row = part * SQUARE; row < matrix->n; row += n_parts * SQUARE)
    for (column = 0; column <= row; column += SQUARE)
      {
        gsize last_row = MIN (row + SQUARE, matrix->n);

        for (i = row; i < last_row; i++)
          {
            const mp_limb_t *limbs = apr_products_get (products, matrix->columns[i], 0);
            gint64 scale = matrix->scales[matrix->columns[i]];
            double *to = conversion->rows + i;

            for (j = column; j < MIN (column + SQUARE, i + 1); j++)
              to[j * conversion->stride] = apr_limbs_get_double (
                limbs + matrix->columns[j] * products->n_limbs, (gint64) products->n_limbs,
                scale + matrix->scales[matrix->columns[j]], &too_large);
          }
        for (j = column; j < MIN (column + SQUARE, last_row) && conversion->copy != NULL; j++)
          memcpy (conversion->copy + j * conversion->stride + row,
                  conversion->rows + j * conversion->stride + row, (last_row - row) * sizeof (double));
      }

  if (too_large != 0)
    g_atomic_int_set (&conversion->too_large, TRUE);
}

gboolean
apr_scaled_products_get_doubles (
  const AprScaledProducts *self, double *rows, double *copy, gsize stride, guint n_threads)
{
  Conversion conversion = { self, rows, copy, stride };

  apr_parallel_run (convert_rows, &conversion, n_threads, 8.0 * (double) (self->n * self->n));

  return !conversion.too_large;
}

typedef struct
{
  const AprScaledProducts *matrix;
  const gint64 *x;
  AprLongSum *sums; /* of each part a vector */
} Product;

/* As apr_limbs_get_part(), where there is a limb for each bit if it is @inside. */
static G_ALWAYS_INLINE inline unsigned __int128
get_part (const mp_limb_t *limbs, gint64 n_limbs, gint64 place, gboolean inside)
{
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);

  if (!inside)
    return apr_limbs_get_part (limbs, n_limbs, place);

  return (unsigned __int128) apr_limbs_join (limbs[limb + 1], limbs[limb + 2], shift) << 64 |
         apr_limbs_join (limbs[limb], limbs[limb + 1], shift);
}

static G_ALWAYS_INLINE inline void
multiply_row (const Product *product, gsize row, AprLongSum *sums, gboolean inside)
{
  const AprScaledProducts *matrix = product->matrix;
  gsize n_limbs = matrix->products->n_limbs;
  const gsize *columns = matrix->columns;
  const mp_limb_t *limbs = apr_products_get (matrix->products, columns[row], 0);
  gint64 place = matrix->scales[columns[row]] - apr_scaled_products_get_bits (matrix);
  gint64 x = product->x[row];
  AprLongSum sum = sums[row];
  gsize i;

  for (i = 0; i < row; i++)
    {
      unsigned __int128 value =
        get_part (limbs + columns[i] * n_limbs, (gint64) n_limbs, place + matrix->scales[columns[i]], inside);

      apr_products_prefetch (limbs + columns[i] * n_limbs);
      apr_long_sum_add (&sum, value, product->x[i]);
      apr_long_sum_add (&sums[i], value, x);
    }
  apr_long_sum_add (
    &sum,
    get_part (limbs + columns[row] * n_limbs, (gint64) n_limbs, place + matrix->scales[columns[row]], inside),
    x);
  sums[row] = sum;
}

static void
multiply_rows (gpointer data, gsize part, gsize n_parts)
{
  const Product *product = data;
  const AprScaledProducts *matrix = product->matrix;
  gint64 n_limbs = (gint64) matrix->products->n_limbs;
  gint64 first = -apr_scaled_products_get_bits (matrix);
  gint64 least = G_MAXINT64;
  gint64 greatest = G_MININT64;
  gsize i;

  for (i = 0; i < matrix->n; i++)
    {
      least = MIN (least, matrix->scales[matrix->columns[i]]);
      greatest = MAX (greatest, matrix->scales[matrix->columns[i]]);
    }
  for (i = part; i < matrix->n; i += n_parts)
    {
      gint64 place = first + matrix->scales[matrix->columns[i]];

      if (place + least >= 0 && (place + greatest) / 64 + 2 < n_limbs)
        multiply_row (product, i, product->sums + part * matrix->n, TRUE);
      else
        multiply_row (product, i, product->sums + part * matrix->n, FALSE);
    }
}

/* A sum of products, in limbs of which the last one counts 2^-@below units of it. */
static void
add_sum (gint64 *limbs, gsize n_limbs, AprLongSum sum, guint below, gint sign)
{
  const guint64 mask = (1 << APR_SLICES_BITS) - 1;
  gsize q;

  for (q = n_limbs; --q > 0;)
    {
      guint n = APR_SLICES_BITS - below;

      limbs[q] += sign * (gint64) (sum.low << below & mask);
      sum.low = sum.low >> n | (guint64) sum.high << (64 - n);
      sum.high >>= n;
      below = 0;
    }
  limbs[0] += sign * (gint64) sum.low;
}

/* Adds @sign times sums of products of entries that have @bits behind the point and the digits; there are @n_parts of them for each
 * number, @distance apart. */
static void
add_sums (AprFixed *self,
          const AprLongSum *sums,
          gsize n_parts,
          gsize distance,
          gint bits,
          const AprDigits *digits,
          gint sign)
{
  gsize first = (gsize) ((gint) self->lead + digits->place);
  gsize n_slices = count_slices (bits);
  /* What is above the first two digits and slices fills a limb. */
  gsize n_limbs = n_slices + 2;
  guint below = (guint) (APR_SLICES_TOP + APR_SLICES_BITS * ((gint) n_slices - 1) - bits);
  gsize part;
  gsize i;

  g_assert ((gint) self->lead + digits->place >= 0 && first + n_limbs <= self->n_limbs);

  for (part = 0; part < n_parts; part++)
    for (i = 0; i < self->n; i++)
      add_sum (self->limbs + i * self->n_limbs + first, n_limbs, sums[part * distance + i], below, sign);
}

/* The digits joined to whole numbers, of 2^62 and a bit more at the most. */
static gint64 *
join_digits (const AprDigits *digits)
{
  gint64 *x = g_new (gint64, digits->n);
  gsize i;

  for (i = 0; i < digits->n; i++)
    x[i] = ((gint64) digits->digits[0][i] * (1 << APR_SLICES_BITS) + (gint64) digits->digits[1][i]) *
             (1 << APR_SLICES_BITS) +
           (gint64) digits->digits[2][i];

  return x;
}

void
apr_fixed_add_scaled_product (
  AprFixed *self, const AprScaledProducts *matrix, const AprDigits *digits, gint sign, guint n_threads)
{
  gsize n = matrix->n;
  double n_operations = 4 * (double) (n * n);
  gsize n_parts = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree gint64 *x = join_digits (digits);
  g_autofree AprLongSum *sums = g_new0 (AprLongSum, n_parts * n);
  Product product = { matrix, x, sums };

  apr_parallel_run (multiply_rows, &product, n_threads, n_operations);
  add_sums (self, sums, n_parts, n, apr_scaled_products_get_bits (matrix), digits, sign);
}

static gint
get_tall_bits (const AprTallProducts *self)
{
  return 126 - (gint) g_bit_storage (self->n);
}

double
apr_tall_products_get_truncation (const AprTallProducts *self)
{
  return ldexp (1, -get_tall_bits (self));
}

gsize
apr_tall_products_count_slices (const AprTallProducts *self)
{
  return count_slices (get_tall_bits (self));
}

typedef struct
{
  const AprTallProducts *matrix;
  const gint64 *v;
  const gint64 *b;
  AprLongSum *sums; /* of each part a vector of the rows, and one of the columns */
} TallProduct;

static void
multiply_tall_rows (gpointer data, gsize part, gsize n_parts)
{
  const TallProduct *product = data;
  const AprTallProducts *matrix = product->matrix;
  const gint64 *scales = matrix->scales;
  gint64 n_limbs = (gint64) matrix->products->n_limbs;
  gint64 first = matrix->row_scale - get_tall_bits (matrix);
  AprLongSum *outward = product->sums + part * (matrix->n + matrix->n_first);
  AprLongSum *inward = outward + matrix->n;
  gsize i;
  gsize j;

  for (i = part; i < matrix->n; i += n_parts)
    {
      gsize row = matrix->columns[i];
      gboolean mirrored = i < matrix->n_first;
      AprLongSum row_sum = outward[i];
      AprLongSum column_sum = { 0 };

      for (j = 0; j < MIN (i + 1, matrix->n_first); j++)
        {
          gsize column = matrix->columns[j];
          const mp_limb_t *limbs = apr_products_get (matrix->products, row, column);
          unsigned __int128 value = apr_limbs_get_part (limbs, n_limbs, first + scales[column]);

          apr_products_prefetch (limbs);
          apr_long_sum_add (&row_sum, value, product->v[j]);
          apr_long_sum_add (&inward[j], value, product->b[i]);
          if (!mirrored || i == j)
            continue;
          if (scales[row] != scales[column])
            value = apr_limbs_get_part (limbs, n_limbs, first + scales[row]);
          apr_long_sum_add (&outward[j], value, product->v[i]);
          apr_long_sum_add (&column_sum, value, product->b[j]);
        }
      outward[i] = row_sum;
      if (mirrored)
        {
          inward[i].low += column_sum.low;
          inward[i].high += column_sum.high + (inward[i].low < column_sum.low);
        }
    }
}

void
apr_fixed_add_tall_products (AprFixed *outward,
                             AprFixed *inward,
                             const AprTallProducts *matrix,
                             const AprDigits *v,
                             const AprDigits *b,
                             guint n_threads)
{
  gsize distance = matrix->n + matrix->n_first;
  double n_operations = 8 * (double) (matrix->n * matrix->n_first);
  gsize n_parts = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree gint64 *v_joined = join_digits (v);
  g_autofree gint64 *b_joined = join_digits (b);
  g_autofree AprLongSum *sums = g_new0 (AprLongSum, n_parts * distance);
  TallProduct product = { matrix, v_joined, b_joined, sums };

  apr_parallel_run (multiply_tall_rows, &product, n_threads, n_operations);
  add_sums (outward, sums, n_parts, distance, get_tall_bits (matrix), v, 1);
  add_sums (inward, sums + matrix->n, n_parts, distance, get_tall_bits (matrix), b, -1);
}
