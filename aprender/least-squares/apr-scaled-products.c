/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-scaled-products-private.h"

#include <string.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-scratch-private.h"

/* A line of the cache, so that what is written across rows fills lines. */
#define SQUARE 16

typedef struct
{
  const AprScaledProducts *matrix;
  const AprRun *run;
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
  gsize n_squares = (matrix->n + SQUARE - 1) / SQUARE;
  gsize end = apr_triangle_part (n_squares, part + 1, n_parts) * SQUARE;
  guint64 too_large = 0;
  gsize row;
  gsize column;
  gsize i;
  gsize j;

  for (row = apr_triangle_part (n_squares, part, n_parts) * SQUARE;
       row < end && !apr_run_is_cancelled (conversion->run); row += SQUARE)
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
  const AprScaledProducts *self, double *rows, double *copy, gsize stride, const AprRun *run)
{
  Conversion conversion = { self, run, rows, copy, stride };

  apr_parallel_run (convert_rows, &conversion, run->n_threads, 8.0 * (double) (self->n * self->n));

  return !conversion.too_large && !apr_run_is_cancelled (run);
}

typedef struct
{
  const AprScaledProducts *matrix;
  const AprRun *run;
  const gint64 *x;
  AprLongSum *sums; /* of each part a vector */
} Product;

/* As apr_limbs_get_part(), where there is a limb for each bit if it is @inside, which is a constant where this is
 * inlined: GCOVR_EXCL_BR_START */
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
  gint64 place = matrix->scales[columns[row]] - apr_scaled_products_get_bits (matrix->n);
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
/* GCOVR_EXCL_BR_STOP */

static void
multiply_rows (gpointer data, gsize part, gsize n_parts)
{
  const Product *product = data;
  const AprScaledProducts *matrix = product->matrix;
  gint64 n_limbs = (gint64) matrix->products->n_limbs;
  gint64 first = -apr_scaled_products_get_bits (matrix->n);
  gint64 min_scale = G_MAXINT64;
  gint64 max_scale = G_MININT64;
  gsize end = apr_triangle_part (matrix->n, part + 1, n_parts);
  gsize i;

  for (i = 0; i < matrix->n; i++)
    {
      min_scale = MIN (min_scale, matrix->scales[matrix->columns[i]]);
      max_scale = MAX (max_scale, matrix->scales[matrix->columns[i]]);
    }
  for (i = apr_triangle_part (matrix->n, part, n_parts); i < end && !apr_run_is_cancelled (product->run); i++)
    {
      gint64 place = first + matrix->scales[matrix->columns[i]];

      if (place + min_scale >= 0 && (place + max_scale) / 64 + 2 < n_limbs)
        multiply_row (product, i, product->sums + part * matrix->n, TRUE);
      else
        multiply_row (product, i, product->sums + part * matrix->n, FALSE);
    }
}

void
apr_scaled_products_multiply (const AprScaledProducts *self,
                              const gint64 *x,
                              AprLongSum *sums,
                              const AprRun *run)
{
  Product product = { self, run, x, sums };

  multiply_rows (&product, 0, 1);
}

/* Adds @sign 2^@exponent times the sum of @n_parts sums, @distance apart, to number @i. */
static void
add_sum (
  AprFixed *self, gsize i, const AprLongSum *sums, gsize n_parts, gsize distance, gint64 exponent, gint sign)
{
  AprLongSum sum = sums[i];
  mp_limb_t limbs[3];
  gsize part;

  for (part = 1; part < n_parts; part++)
    {
      const AprLongSum *other = &sums[part * distance + i];

      sum.low += other->low;
      sum.high += other->high + (sum.low < other->low);
    }
  limbs[0] = sum.low;
  limbs[1] = (mp_limb_t) sum.high;
  limbs[2] = (mp_limb_t) (sum.high >> 64);
  if (sign < 0)
    (void) mpn_neg (limbs, limbs, 3);
  apr_fixed_add (self, i, limbs, 3, exponent);
}

void
apr_fixed_subtract_scaled (AprFixed *residual,
                           const AprScaledProducts *matrix,
                           const AprCorrection *x,
                           const AprRun *run)
{
  gsize n = matrix->n;
  double n_operations = 4 * (double) (n * n);
  gsize n_parts = apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree gpointer heap = NULL;
  AprLongSum *sums = apr_scratch_new (AprLongSum, n_parts * n, &heap);
  Product product = { matrix, run, x->values, sums };
  gsize i;

  for (i = 0; i < n_parts * n; i++)
    sums[i] = (AprLongSum){ 0 };
  apr_parallel_run (multiply_rows, &product, run->n_threads, n_operations);
  for (i = 0; i < n; i++)
    add_sum (residual, i, sums, n_parts, n,
             matrix->scales[matrix->columns[i]] - apr_scaled_products_get_bits (n) - x->place, -1);
}

typedef struct
{
  const AprTallProducts *matrix;
  const AprRun *run;
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
  gint64 first = matrix->row_scale - apr_scaled_products_get_bits (matrix->n);
  AprLongSum *outward = product->sums + part * (matrix->n + matrix->n_first);
  AprLongSum *inward = outward + matrix->n;
  gsize i;
  gsize j;

  for (i = part; i < matrix->n && !apr_run_is_cancelled (product->run); i += n_parts)
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
apr_fixed_add_tall (AprFixed *primal,
                    AprFixed *dual,
                    const AprTallProducts *matrix,
                    const AprCorrection *v,
                    const AprCorrection *b,
                    const AprRun *run)
{
  gsize distance = matrix->n + matrix->n_first;
  gint bits = apr_scaled_products_get_bits (matrix->n);
  double n_operations = 8 * (double) (matrix->n * matrix->n_first);
  gsize n_parts = apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree AprLongSum *sums = g_new0 (AprLongSum, n_parts * distance);
  TallProduct product = { matrix, run, v->values, b->values, sums };
  gsize i;

  apr_parallel_run (multiply_tall_rows, &product, run->n_threads, n_operations);
  for (i = 0; i < matrix->n; i++)
    add_sum (primal, i, sums, n_parts, distance, matrix->row_scale - bits - v->place, 1);
  for (i = 0; i < matrix->n_first; i++)
    add_sum (dual, i, sums + matrix->n, n_parts, distance,
             matrix->scales[matrix->columns[i]] - bits - b->place, -1);
}

/* A correction's number times a power of two, as two limbs of a longer number. */
typedef struct
{
  gsize offset;
  mp_limb_t low;
  mp_limb_t high;
  gboolean subtract;
} Factor;

typedef struct
{
  AprFixed *fixed;
  const AprRun *run;
  const AprProducts *products;
  const gsize *rows;
  const gsize *columns;
  const Factor *factors; /* of each column */
  gsize n_columns;
  gsize n_sum;     /* limbs of a sum of products */
  gint64 exponent; /* of its unit */
} ExactProduct;

/* GMP's function for this costs more to call than so few limbs take. */
#define MAX_FEW_LIMBS 4

/* Adds @n limbs times @factor to @to; returns the carry. @n is a constant where this is inlined for few limbs:
 * GCOVR_EXCL_BR_START */
static G_ALWAYS_INLINE inline mp_limb_t
add_multiple (mp_limb_t *to, const mp_limb_t *from, gsize n, mp_limb_t factor)
{
  mp_limb_t carry = 0;
  gsize i;

  if (n > MAX_FEW_LIMBS)
    return mpn_addmul_1 (to, from, (mp_size_t) n, factor);

  for (i = 0; i < n; i++)
    {
      unsigned __int128 sum = (unsigned __int128) from[i] * factor + to[i] + carry;

      to[i] = (mp_limb_t) sum;
      carry = (mp_limb_t) (sum >> 64);
    }

  return carry;
}
/* GCOVR_EXCL_BR_STOP */

/* Adds to a number that has room for the sum. */
static inline void
add_limb (mp_limb_t *to, mp_limb_t value)
{
  for (*to += value; *to < value; *to += value)
    {
      to++;
      value = 1;
    }
}

/* Adds an entry times @factor to @to, which is longer, or what it is too little to @opposite. */
static G_ALWAYS_INLINE inline void
add_product (mp_limb_t *to, mp_limb_t *opposite, const mp_limb_t *entry, gsize n_entry, mp_limb_t factor)
{
  add_limb (to + n_entry, add_multiple (to, entry, n_entry, factor));
  /* A negative entry was taken for one that is 2^(its bits) more. Signs are random, so no branch depends on them. */
  add_limb (opposite + n_entry, factor & -(entry[n_entry - 1] >> 63));
}

/* Rows that are multiplied side by side: above the diagonal their entries are beside each other. Columns are fetched so
 * many ahead, as the processor does not foresee where they are. */
#define EXACT_ROWS 8
#define COLUMNS_AHEAD 6

/* Adds to @sums, of each row those that are added and those that are subtracted. */
static G_ALWAYS_INLINE inline void
multiply_rows_exactly (const ExactProduct *product, gsize begin, gsize n_rows, mp_limb_t *sums, gsize n_entry)
{
  gsize n_sum = product->n_sum;
  gsize i;
  gsize j;

  for (j = 0; j < product->n_columns; j++)
    for (i = 0; i < n_rows; i++)
      {
        const Factor *factor = &product->factors[j];
        gsize row = product->rows[begin + i];
        gsize later = product->columns[MIN (j + COLUMNS_AHEAD, product->n_columns - 1)];
        const mp_limb_t *limbs = product->products->limbs;
        const mp_limb_t *entry = limbs + apr_triangle (row, product->columns[j]) * n_entry;
        mp_limb_t *sum = sums + i * 2 * n_sum + factor->offset;
        mp_limb_t *to = sum + (factor->subtract ? n_sum : 0);
        mp_limb_t *opposite = sum + (factor->subtract ? 0 : n_sum);

        __builtin_prefetch (limbs + apr_triangle (row, later) * n_entry);
        /* Whether there are few limbs is no question where @n_entry is a constant. */
        if (factor->low != 0)
          add_product (to, opposite, entry, n_entry, factor->low); /* GCOVR_EXCL_BR_LINE: see above */
        if (factor->high != 0)
          add_product (to + 1, opposite + 1, entry, n_entry, factor->high); /* GCOVR_EXCL_BR_LINE */
      }
}

/* The sums of a row's products that are added, and of those that are subtracted, are short; their difference is added
 * to the long number only once. */
static void
multiply_exactly (gpointer data, gsize part, gsize n_parts)
{
  const ExactProduct *product = data;
  gsize n_sum = product->n_sum;
  g_autofree mp_limb_t *sums = g_new (mp_limb_t, EXACT_ROWS * 2 * n_sum);
  gsize begin;
  gsize i;

  for (begin = part * EXACT_ROWS; begin < product->fixed->n && !apr_run_is_cancelled (product->run);
       begin += n_parts * EXACT_ROWS)
    {
      gsize n_rows = MIN (EXACT_ROWS, product->fixed->n - begin);

      memset (sums, 0, n_rows * 2 * n_sum * sizeof *sums);
      switch (product->products->n_limbs)
        {
          /* Common lengths, which the compiler unrolls. */
        case 3:
          multiply_rows_exactly (product, begin, n_rows, sums, 3);
          break;
        case 4:
          multiply_rows_exactly (product, begin, n_rows, sums, 4);
          break;
        default:
          multiply_rows_exactly (product, begin, n_rows, sums, product->products->n_limbs);
          break;
        }
      for (i = 0; i < n_rows; i++)
        {
          mp_limb_t *sum = sums + i * 2 * n_sum;

          (void) mpn_sub_n (sum, sum, sum + n_sum, (mp_size_t) n_sum);
          apr_fixed_add (product->fixed, begin + i, sum, n_sum, product->exponent);
        }
    }
}

void
apr_fixed_add_products (AprFixed *self,
                        const AprProducts *products,
                        const gsize *rows,
                        const gsize *columns,
                        const gint64 *scales,
                        gint64 exponent,
                        const AprCorrection *x,
                        gint sign,
                        const AprRun *run)
{
  g_autofree Factor *factors = g_new (Factor, x->n);
  ExactProduct product = { self, run, products, rows, columns, factors, x->n };
  gint64 max_scale = G_MININT32;
  gsize j;

  for (j = 0; j < x->n; j++)
    max_scale = MAX (max_scale, scales[columns[j]]);
  product.exponent = exponent - max_scale - x->place;
  g_assert (x->n == 0 || self->fraction + product.exponent >= 0);
  for (j = 0; j < x->n; j++)
    {
      gint64 shift = max_scale - scales[columns[j]];
      guint64 magnitude = (guint64) ABS (x->values[j]);

      factors[j] = (Factor){ (gsize) shift / 64, magnitude << shift % 64, magnitude >> 1 >> (63 - shift % 64),
                             (x->values[j] < 0) != (sign < 0) };
      product.n_sum = MAX (product.n_sum, factors[j].offset);
    }
  /* Two limbs of a factor, and one for the sum of as many products as there can be. */
  product.n_sum += products->n_limbs + 3;
  apr_parallel_run (multiply_exactly, &product, run->n_threads,
                    4.0 * (double) (self->n * x->n * products->n_limbs));
}
