/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AprDenseKernel, in the vectors of LANES doubles that the compiler is told it may use. */
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

#include <string.h>

typedef double Vector __attribute__ ((vector_size (8 * LANES)));
typedef double Half __attribute__ ((vector_size (4 * LANES)));
typedef double Place __attribute__ ((vector_size (8 * LANES), aligned (8)));
typedef float Floats __attribute__ ((vector_size (4 * LANES), aligned (4)));

#define VECTORS 2
#define WIDTH (VECTORS * LANES)

/* Sums of products keep APR_DENSE_PAD partial sums, and add them up in one order. */
#define PARTS (APR_DENSE_PAD / LANES)

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

/* Where nothing is rounded, it makes no difference that a product is fused with the subtraction. */
static G_ALWAYS_INLINE inline void
subtract_tile (gboolean whole,
               double *c,
               gsize c_stride,
               const double *a,
               gsize a_stride,
               const double *b,
               gsize b_stride,
               gsize n_rows,
               gsize n_inner)
{
  Vector sums[ROWS][VECTORS];
  gsize i;
  gsize k;
  gsize v;

  UNROLL
  for (i = 0; i < n_rows; i++)
    UNROLL
  for (v = 0; v < VECTORS; v++)
    sums[i][v] = load (c + i * c_stride + v * LANES);

  for (k = 0; k < n_inner; k++)
    {
      Vector right[VECTORS];

      UNROLL
      for (v = 0; v < VECTORS; v++)
        right[v] = load (b + k * b_stride + v * LANES);
      UNROLL
      for (i = 0; i < n_rows; i++)
        UNROLL
      for (v = 0; v < VECTORS; v++)
        if (whole)
          sums[i][v] = MULTIPLY_ADD (a[k * a_stride + i] - (Vector){ 0 }, -right[v], sums[i][v]);
        else
          sums[i][v] -= a[k * a_stride + i] * right[v];
    }

  UNROLL
  for (i = 0; i < n_rows; i++)
    UNROLL
  for (v = 0; v < VECTORS; v++)
    store (c + i * c_stride + v * LANES, sums[i][v]);
}

static G_ALWAYS_INLINE inline void
subtract_tiles (gboolean whole,
                double *c,
                gsize c_stride,
                const double *a,
                gsize a_stride,
                const double *b,
                gsize b_stride,
                gsize n_rows,
                gsize n_columns,
                gsize n_inner)
{
  gsize i;
  gsize j;

  for (j = 0; j < n_columns; j += WIDTH)
    {
      for (i = 0; i + ROWS <= n_rows; i += ROWS)
        subtract_tile (whole, c + i * c_stride + j, c_stride, a + i, a_stride, b + j, b_stride, ROWS,
                       n_inner);
      for (; i < n_rows; i++)
        subtract_tile (whole, c + i * c_stride + j, c_stride, a + i, a_stride, b + j, b_stride, 1, n_inner);
    }
}

static void
subtract_products (double *c,
                   gsize c_stride,
                   const double *a,
                   gsize a_stride,
                   const double *b,
                   gsize b_stride,
                   gsize n_rows,
                   gsize n_columns,
                   gsize n_inner)
{
  subtract_tiles (FALSE, c, c_stride, a, a_stride, b, b_stride, n_rows, n_columns, n_inner);
}

static void
subtract_whole_products (double *c,
                         gsize c_stride,
                         const double *a,
                         gsize a_stride,
                         const double *b,
                         gsize b_stride,
                         gsize n_rows,
                         gsize n_columns,
                         gsize n_inner)
{
  subtract_tiles (TRUE, c, c_stride, a, a_stride, b, b_stride, n_rows, n_columns, n_inner);
}

static void
subtract_scaled (double *to, const double *from, double factor, gsize n)
{
  gsize i;

  for (i = 0; i + LANES <= n; i += LANES)
    store (to + i, load (to + i) - factor * load (from + i));
  for (; i < n; i++)
    to[i] -= factor * from[i];
}

static double
add_up (const Vector parts[PARTS])
{
  double sums[APR_DENSE_PAD];
  gsize i;
  gsize step;

  for (i = 0; i < PARTS; i++)
    store (sums + i * LANES, parts[i]);
  for (step = APR_DENSE_PAD / 2; step > 0; step /= 2)
    for (i = 0; i < step; i++)
      sums[i] += sums[i + step];

  return sums[0];
}

static double
dot (const double *a, const double *b, gsize n)
{
  Vector parts[PARTS] = { 0 };
  double rest = 0;
  gsize i;
  gsize k;

  for (i = 0; i + APR_DENSE_PAD <= n; i += APR_DENSE_PAD)
    UNROLL
  for (k = 0; k < PARTS; k++)
    parts[k] += load (a + i + k * LANES) * load (b + i + k * LANES);
  for (; i < n; i++)
    rest += a[i] * b[i];

  /* Nothing was added to the parts of a short one. */
  return n < APR_DENSE_PAD ? rest : add_up (parts) + rest;
}

/* Nothing is rounded here, so that the order makes no difference, nor whether the multiplication is fused with the addition. */
static G_ALWAYS_INLINE inline void
multiply_whole_rows (
  const float *a, gsize stride, gsize n_rows, const double *const b[3], gsize n, double (*results)[3])
{
  Vector sums[2][3] = { 0 };
  gsize i;
  gsize m;
  gsize row;
  gsize lane;

  for (i = 0; i < n; i += LANES)
    {
      const Vector factors[3] = { load (b[0] + i), load (b[1] + i), load (b[2] + i) };

      UNROLL
      for (row = 0; row < n_rows; row++)
        {
          Vector value =
            __builtin_convertvector(*(const Floats *) (gconstpointer) (a + row * stride + i), Vector);

          UNROLL
          for (m = 0; m < 3; m++)
            sums[row][m] = MULTIPLY_ADD (value, factors[m], sums[row][m]);
        }
    }

  for (row = 0; row < n_rows; row++)
    for (m = 0; m < 3; m++)
      {
        Half low;
        Half high;
        double sum = 0;

        memcpy (&low, &sums[row][m], sizeof low);
        memcpy (&high, (const char *) &sums[row][m] + sizeof low, sizeof high);
        low += high;
        for (lane = 0; lane < LANES / 2; lane++)
          sum += low[lane];
        results[row][m] = sum;
      }
}

static void
multiply_whole (
  const float *a, gsize stride, gsize n_rows, const double *const b[3], gsize n, double (*results)[3])
{
  gsize row;

  for (row = 0; row + 2 <= n_rows; row += 2)
    multiply_whole_rows (a + row * stride, stride, 2, b, n, results + row);
  if (row < n_rows)
    multiply_whole_rows (a + row * stride, stride, 1, b, n, results + row);
}

const AprDenseKernel KERNEL = { KERNEL_NAME, subtract_products, subtract_whole_products, subtract_scaled,
                                dot,         multiply_whole };
