/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Dense linear algebra in double. Its results are approximations, which the caller refines with exact residuals.
 *
 * Every instruction set adds in the same order and without fused multiply-add, so all processors get the same bits,
 * except where it is said otherwise.
 * Matrices are row-major. Rows are padded to a multiple of APR_DENSE_PAD doubles and aligned to 64 bytes. */
#define APR_DENSE_PAD 16
#define APR_DENSE_STEP 8
#define APR_DENSE_CUT_BITS 26

/* c[i][j] -= sum over k of a[k][i] b[k][j], in the order of k. @n_columns is a multiple of APR_DENSE_STEP. */
typedef void (*AprDenseSubtractFunc) (double *c,
                                      gsize c_stride,
                                      const double *a,
                                      gsize a_stride,
                                      const double *b,
                                      gsize b_stride,
                                      gsize n_rows,
                                      gsize n_columns,
                                      gsize n_inner);

typedef struct
{
  const char *name;

  AprDenseSubtractFunc subtract_products;

  /* The same, faster: with fused multiply-add, where there is one. All processors get the same bits only where every
   * product is exact in double, as those of floats and of short whole numbers are. */
  AprDenseSubtractFunc subtract_products_fused;

  /* Its n_columns need only be a multiple of this, which is APR_DENSE_STEP or half of it. It is fastest where n_rows is
   * a multiple, too. */
  gsize fused_step;

  /* to -= factor from */
  void (*subtract_scaled) (double *to, const double *from, double factor, gsize n);

  /* The sum over i of a[i] b[i] */
  double (*dot) (const double *a, const double *b, gsize n);

  /* Sums over i of products with v[i] = @factor values[i], which is cut into c[i], its nearest multiple of
   * 2^-APR_DENSE_CUT_BITS, and a rest r[i]: of c and p[0], of c and p[1], and of r and p[0], c and p[2], and r and p[3]
   * together. @n is a multiple of APR_DENSE_PAD, and no v[i] is above 1. */
  void (*dot_in_parts) (
    const double *values, gsize n, double factor, const double *const parts[4], double sums[3]);

  /* The largest of the absolute values, of which none is NaN; 0 where there are none. */
  double (*find_max) (const double *values, gsize n);

  /* to = from, where one may not be the other */
  void (*widen) (double *to, const float *from, gsize n);

  /* products = Xu and high + low += X'Xu in about twice the precision of doubles, where @x has @n_rows rows of @n
   * columns, a multiple of APR_DENSE_PAD, and @products has the leading parts of all rows before the rest of all;
   * returns the sum of squares of Xu. No sum of absolute values of products is above that row's size for Xu, and no
   * norm of a column above its norm. With u = 2^-53, each entry of Xu errs by at most 2.1 n (n / APR_DENSE_PAD + 10)
   * u^2 times its size. Where the sums are 0 before, each entry of X' times the products that were found errs by at
   * most 3.1 (n_rows + 3)^2 u^2 times its norm times theirs. Nothing may be near the ends of the exponents' range. All
   * processors get the same bits only where every product is exact in double. */
  double (*add_products_twice) (const double *x,
                                gsize n_rows,
                                gsize n,
                                const double *u,
                                const double *sizes,
                                const double *norms,
                                double *products,
                                double *high,
                                double *low);
} AprDenseKernel;

extern const AprDenseKernel apr_dense_kernel_portable;
#ifdef APR_KERNELS_ARM
extern const AprDenseKernel apr_dense_kernel_neon;
#endif
#ifdef APR_KERNELS_X86
extern const AprDenseKernel apr_dense_kernel_avx2;
extern const AprDenseKernel apr_dense_kernel_avx512;
#endif

/* The kernel that is used. */
const AprDenseKernel *apr_dense_kernel_choose (void);

/* The kernels that this processor can run, fastest first, NULL-terminated. */
const AprDenseKernel *const *apr_dense_kernels (void);

/* Entry @i of a fixed vector to start an iteration from. It looks random, so that it is orthogonal to no eigenvector
 * that arises in practice. */
static inline double
apr_dense_start (gsize i)
{
  guint32 bits = (guint32) (i + 1) * 2654435769u;

  return ((bits & 0x8000) != 0 ? -1 : 1) * (1 + (double) bits * 0x1p-32);
}

static inline gsize
apr_dense_pad (gsize n)
{
  return (n + APR_DENSE_PAD - 1) & ~(gsize) (APR_DENSE_PAD - 1);
}

G_END_DECLS
