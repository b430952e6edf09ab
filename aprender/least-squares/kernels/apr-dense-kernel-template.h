/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AprDenseKernel over vectors of LANES doubles. The file that includes this template defines KERNEL, KERNEL_NAME,
 * LANES, ROWS (how many rows of a tile stay in registers) and MULTIPLY_ADD, and is compiled for the instruction set. */
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

typedef double Vector __attribute__ ((vector_size (8 * LANES)));
typedef double Place __attribute__ ((vector_size (8 * LANES), aligned (8)));

#define VECTORS 2
#define WIDTH (VECTORS * LANES)

/* A dot product keeps APR_DENSE_PAD partial sums, whatever LANES is, and adds them up in one order. */
#define PARTS (APR_DENSE_PAD / LANES)

/* Unrolled, so that the compiler keeps arrays of vectors in registers. */
#ifdef __clang__
# define UNROLL _Pragma ("unroll")
#else
# define UNROLL _Pragma ("GCC unroll 16")
#endif
#define EACH_ROW(i) UNROLL for (i = 0; i < n_rows; i++)
#define EACH_VECTOR(v) UNROLL for (v = 0; v < VECTORS; v++)
#define EACH_PART(k) UNROLL for (k = 0; k < PARTS; k++)

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

/* c -= a'b for a tile of C. With @whole all products and sums are exact integers, so a fused multiply-add gives the
 * same result. */
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

  EACH_ROW (i)
    EACH_VECTOR (v)
      sums[i][v] = load (c + i * c_stride + v * LANES);

  for (k = 0; k < n_inner; k++)
    {
      Vector right[VECTORS];

      EACH_VECTOR (v)
        right[v] = load (b + k * b_stride + v * LANES);
      EACH_ROW (i)
        EACH_VECTOR (v)
          if (whole) /* GCOVR_EXCL_BR_LINE: a constant, where it is inlined */
            sums[i][v] = MULTIPLY_ADD (a[k * a_stride + i] - (Vector){ 0 }, -right[v], sums[i][v]);
          else
            sums[i][v] -= a[k * a_stride + i] * right[v];
    }

  EACH_ROW (i)
    EACH_VECTOR (v)
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
    EACH_PART (k)
      parts[k] += load (a + i + k * LANES) * load (b + i + k * LANES);
  for (; i < n; i++)
    rest += a[i] * b[i];

  /* The partial sums of a short vector are still zero. */
  return n < APR_DENSE_PAD ? rest : add_up (parts) + rest;
}

const AprDenseKernel KERNEL = { KERNEL_NAME, subtract_products, subtract_whole_products, subtract_scaled,
                                dot };
