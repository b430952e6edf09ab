/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Dense linear algebra in double. Its results are approximations, which the caller refines with exact residuals.
 *
 * Every instruction set adds in the same order and without fused multiply-add, so all processors get the same bits.
 * Matrices are row-major. Rows are padded to a multiple of APR_DENSE_PAD doubles and aligned to 64 bytes. */
#define APR_DENSE_PAD 16

typedef struct
{
  const char *name;

  /* c[i][j] -= sum over k of a[k][i] b[k][j], in the order of k. @n_columns is a multiple of APR_DENSE_PAD. */
  void (*subtract_products) (double *c,
                             gsize c_stride,
                             const double *a,
                             gsize a_stride,
                             const double *b,
                             gsize b_stride,
                             gsize n_rows,
                             gsize n_columns,
                             gsize n_inner);

  /* The same for whole numbers. The caller makes sure that every sum is exact in double. */
  void (*subtract_whole_products) (double *c,
                                   gsize c_stride,
                                   const double *a,
                                   gsize a_stride,
                                   const double *b,
                                   gsize b_stride,
                                   gsize n_rows,
                                   gsize n_columns,
                                   gsize n_inner);

  /* to -= factor from */
  void (*subtract_scaled) (double *to, const double *from, double factor, gsize n);

  /* The sum over i of a[i] b[i] */
  double (*dot) (const double *a, const double *b, gsize n);
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
