/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AprDoubleDoubleKernel, in the vectors of LANES doubles that the compiler is told it may use. */
#include "aprender/inference/kernels/apr-double-double-kernel-private.h"

typedef double Vector __attribute__ ((vector_size (8 * LANES)));
typedef double Place __attribute__ ((vector_size (8 * LANES), aligned (8)));

/* Products whose low parts are summed before the sum is normalised. */
#define SPAN 8

G_STATIC_ASSERT (APR_DOUBLE_DOUBLE_PAD % LANES == 0);

/* What is accumulated in registers must not be an array for the compiler. */
#ifdef __clang__
# define UNROLL _Pragma ("unroll")
#else
# define UNROLL _Pragma ("GCC unroll 16")
#endif

static inline Vector
load (const double *from)
{
  return *(const Place *) (gconstpointer) from;
}

static inline void
store (double *to, Vector value)
{
  *(Place *) (gpointer) to = value;
}

static inline Vector
repeat (double value)
{
  return value - (Vector){ 0 };
}

/* The exact sum of two numbers that are not normalised. */
static G_ALWAYS_INLINE inline void
normalise (Vector *high, Vector *low)
{
  Vector sum = *high + *low;
  Vector part = sum - *high;

  *low = (*high - (sum - part)) + (*low - part);
  *high = sum;
}

/* @n_rows rows and LANES columns of c. */
static G_ALWAYS_INLINE inline void
subtract_tile (AprDoubleDoubles c, AprDoubleDoubles a, AprDoubleDoubles b, gsize n_rows, gsize n_inner)
{
  Vector high[ROWS];
  Vector low[ROWS];
  gsize end;
  gsize i;
  gsize k;

  UNROLL
  for (i = 0; i < n_rows; i++)
    {
      high[i] = load (c.high + i * c.stride);
      low[i] = load (c.low + i * c.stride);
    }

  for (k = 0; k < n_inner;)
    {
      for (end = MIN (k + SPAN, n_inner); k < end; k++)
        {
          const double *a_high = a.high + k * a.stride;
          const double *a_low = a.low + k * a.stride;
          Vector b_high = load (b.high + k * b.stride);
          Vector b_low = load (b.low + k * b.stride);

          UNROLL
          for (i = 0; i < n_rows; i++)
            {
              Vector factor = repeat (a_high[i]);
              Vector product = factor * b_high;
              Vector error = MULTIPLY_ADD (factor, b_high, -product);
              Vector sum = high[i] - product;
              Vector part = sum - high[i];

              error = MULTIPLY_ADD (factor, b_low, error);
              error = MULTIPLY_ADD (repeat (a_low[i]), b_high, error);
              low[i] += ((high[i] - (sum - part)) - (product + part)) - error;
              high[i] = sum;
            }
        }
      UNROLL
      for (i = 0; i < n_rows; i++)
        normalise (&high[i], &low[i]);
    }

  UNROLL
  for (i = 0; i < n_rows; i++)
    {
      store (c.high + i * c.stride, high[i]);
      store (c.low + i * c.stride, low[i]);
    }
}

static void
subtract_products (
  AprDoubleDoubles c, AprDoubleDoubles a, AprDoubleDoubles b, gsize n_rows, gsize n_columns, gsize n_inner)
{
  gsize i;
  gsize j;

  for (j = 0; j < n_columns; j += LANES)
    {
      AprDoubleDoubles columns = apr_double_doubles_at (b, 0, j);

      for (i = 0; i + ROWS <= n_rows; i += ROWS)
        subtract_tile (apr_double_doubles_at (c, i, j), apr_double_doubles_at (a, 0, i), columns, ROWS,
                       n_inner);
      for (; i < n_rows; i++)
        subtract_tile (apr_double_doubles_at (c, i, j), apr_double_doubles_at (a, 0, i), columns, 1, n_inner);
    }
}

static void
scale (AprDoubleDoubles row, AprDoubleDouble factor, gsize n_columns)
{
  Vector factor_high = repeat (factor.high);
  Vector factor_low = repeat (factor.low);
  gsize j;

  for (j = 0; j < n_columns; j += LANES)
    {
      Vector high = load (row.high + j);
      Vector product = high * factor_high;
      Vector error = MULTIPLY_ADD (high, factor_high, -product);
      Vector sum;

      error = MULTIPLY_ADD (high, factor_low, error);
      error = MULTIPLY_ADD (load (row.low + j), factor_high, error);
      sum = product + error;
      store (row.high + j, sum);
      store (row.low + j, error - (sum - product));
    }
}

static void
subtract_centre (double *x, AprDoubleDouble factor, AprDoubleDouble centre, gsize n)
{
  Vector factor_high = repeat (factor.high);
  Vector factor_low = repeat (factor.low);
  gsize j;

  for (j = 0; j < n; j += LANES)
    {
      Vector value = load (x + j);
      Vector product = value * factor_high;
      Vector error = MULTIPLY_ADD (value, factor_high, -product);

      error = MULTIPLY_ADD (value, factor_low, error);
      store (x + j, (product - centre.high) + (error - centre.low));
    }
}

static void
add_squares (double *squares, const double *x, gsize n)
{
  gsize j;

  for (j = 0; j < n; j += LANES)
    store (squares + j, load (squares + j) + load (x + j) * load (x + j));
}

const AprDoubleDoubleKernel KERNEL = { KERNEL_NAME, subtract_products, scale, subtract_centre, add_squares };
