/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-scaled-products-private.h"

#include <math.h>
#include <string.h>

#include "aprender/linear-model/apr-parallel-private.h"

/* A line of the cache, so that what is written across rows fills lines. */
#define SQUARE 16

double
apr_scaled_products_get_truncation (const AprScaledProducts *self)
{
  return ldexp (1, -apr_scaled_products_get_bits (self));
}

gsize
apr_scaled_products_count_slices (const AprScaledProducts *self)
{
  return (gsize) (apr_scaled_products_get_bits (self) - APR_SLICE_TOP + APR_SLICE_BITS - 1) / APR_SLICE_BITS +
         1;
}

/* A limb of a number in two's complement, with zeros before it and its sign behind. */
static inline guint64
limb_at (const mp_limb_t *limbs, gint64 n_limbs, gint64 limb)
{
  if (limb < 0)
    return 0;

  return limb < n_limbs ? limbs[limb] : (guint64) ((gint64) limbs[n_limbs - 1] >> 63);
}

/* 64 bits, from the one at @shift of @low on. */
static inline guint64
join (guint64 low, guint64 high, guint shift)
{
  return low >> shift | high << 1 << (63 - shift);
}

typedef struct
{
  const AprScaledProducts *matrix;
  double *rows;
  gsize stride;
  gint too_large;
} Conversion;

/* The bits behind the point that an entry below 4 leaves room for in 64. */
#define BITS 61

static inline double
convert_entry (const mp_limb_t *limbs, gint64 n_limbs, gint64 place, guint64 *too_large)
{
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 high = limb_at (limbs, n_limbs, limb + 1);
  gint64 value = (gint64) join (limb_at (limbs, n_limbs, limb), high, shift);
  guint64 sign = (guint64) (value >> 63);

  *too_large |= (guint64) ((gint64) high >> shift) ^ sign;
  for (limb += 2; limb < n_limbs; limb++)
    *too_large |= limbs[limb] ^ sign;

  return (double) value * (1.0 / ((gint64) 1 << BITS));
}

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
      for (i = row; i < MIN (row + SQUARE, matrix->n); i++)
        {
          const mp_limb_t *limbs = apr_products_get (products, matrix->columns[i], 0);
          gint64 place = matrix->scales[matrix->columns[i]] - BITS;
          double *to = conversion->rows + i;

          for (j = column; j < MIN (column + SQUARE, i + 1); j++)
            to[j * conversion->stride] =
              convert_entry (limbs + matrix->columns[j] * products->n_limbs, (gint64) products->n_limbs,
                             place + matrix->scales[matrix->columns[j]], &too_large);
        }

  if (too_large != 0)
    g_atomic_int_set (&conversion->too_large, TRUE);
}

gboolean
apr_scaled_products_get_doubles (const AprScaledProducts *self, double *rows, gsize stride, guint n_threads)
{
  Conversion conversion = { self, rows, stride };

  apr_parallel_run (convert_rows, &conversion, n_threads, 8.0 * (double) (self->n * self->n));

  return !conversion.too_large;
}

/* low + 2^64 high */
typedef struct
{
  __int128 high;
  guint64 low;
} Sum;

typedef struct
{
  const AprScaledProducts *matrix;
  const gint64 *x;
  Sum *sums; /* of each part a vector */
} Product;

static G_ALWAYS_INLINE inline void
add_product (Sum *sum, unsigned __int128 value, gint64 x)
{
  guint64 low = (guint64) value;
  unsigned __int128 product = (unsigned __int128) low * (guint64) x;
  gint64 carried = (gint64) ((guint64) (product >> 64) - (low & (guint64) (x >> 63)));

  sum->low += (guint64) product;
  sum->high += (__int128) (gint64) (value >> 64) * x + carried + (sum->low < (guint64) product);
}

/* The 128 bits of an entry from @place up; there is a limb for each of them, where it is @inside. */
static G_ALWAYS_INLINE inline unsigned __int128
get_part (const mp_limb_t *limbs, gint64 n_limbs, gint64 place, gboolean inside)
{
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 low = inside ? limbs[limb] : limb_at (limbs, n_limbs, limb);
  guint64 middle = inside ? limbs[limb + 1] : limb_at (limbs, n_limbs, limb + 1);
  guint64 high = inside ? limbs[limb + 2] : limb_at (limbs, n_limbs, limb + 2);

  return (unsigned __int128) join (middle, high, shift) << 64 | join (low, middle, shift);
}

static G_ALWAYS_INLINE inline void
multiply_row (const Product *product, gsize row, Sum *sums, gboolean inside)
{
  const AprScaledProducts *matrix = product->matrix;
  gsize n_limbs = matrix->products->n_limbs;
  const gsize *columns = matrix->columns;
  const mp_limb_t *limbs = apr_products_get (matrix->products, columns[row], 0);
  gint64 place = matrix->scales[columns[row]] - apr_scaled_products_get_bits (matrix);
  gint64 x = product->x[row];
  Sum sum = sums[row];
  gsize i;

  for (i = 0; i < row; i++)
    {
      unsigned __int128 value =
        get_part (limbs + columns[i] * n_limbs, (gint64) n_limbs, place + matrix->scales[columns[i]], inside);

      add_product (&sum, value, product->x[i]);
      add_product (&sums[i], value, x);
    }
  add_product (
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
add_sum (gint64 *limbs, gsize n_limbs, Sum sum, guint below, gint sign)
{
  const guint64 mask = (1 << APR_SLICE_BITS) - 1;
  gsize q;

  for (q = n_limbs; --q > 0;)
    {
      guint n = APR_SLICE_BITS - below;

      limbs[q] += sign * (gint64) (sum.low << below & mask);
      sum.low = sum.low >> n | (guint64) sum.high << (64 - n);
      sum.high >>= n;
      below = 0;
    }
  limbs[0] += sign * (gint64) sum.low;
}

void
apr_fixed_add_scaled_product (
  AprFixed *self, const AprScaledProducts *matrix, const AprDigits *digits, gint sign, guint n_threads)
{
  gsize n = matrix->n;
  gsize first = (gsize) ((gint) self->lead + digits->place);
  gsize n_slices = apr_scaled_products_count_slices (matrix);
  /* What is above the first two digits and slices fills a limb. */
  gsize n_limbs = n_slices + 2;
  guint below =
    (guint) (APR_SLICE_TOP + APR_SLICE_BITS * ((gint) n_slices - 1) - apr_scaled_products_get_bits (matrix));
  double n_operations = 4 * (double) (n * n);
  gsize n_parts = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree gint64 *x = g_new (gint64, n);
  Product product = { matrix, x, NULL };
  gsize part;
  gsize i;

  g_assert ((gint) self->lead + digits->place >= 0 && first + n_limbs <= self->n_limbs);

  for (i = 0; i < n; i++)
    x[i] = ((gint64) digits->digits[0][i] * (1 << APR_SLICE_BITS) + (gint64) digits->digits[1][i]) *
             (1 << APR_SLICE_BITS) +
           (gint64) digits->digits[2][i];
  product.sums = g_new0 (Sum, n_parts * n);
  apr_parallel_run (multiply_rows, &product, n_threads, n_operations);
  for (part = 0; part < n_parts; part++)
    for (i = 0; i < n; i++)
      add_sum (self->limbs + i * self->n_limbs + first, n_limbs, product.sums[part * n + i], below, sign);
  g_free (product.sums);
}
