/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Dense linear algebra in double, for approximations that exact residuals put right.
 *
 * Whatever the instruction set, every sum is taken in the same order, without fused multiply-add: all processors go through
 * the same numbers. Matrices are row-major, with rows that are padded to a multiple of APR_DENSE_PAD and aligned to 64
 * bytes. */
#define APR_DENSE_PAD 16

typedef struct
{
  const char *name;

  /* c[i][j] -= sum over k of a[k][i] b[k][j], in the order of k; @n_columns is a multiple of APR_DENSE_PAD. */
  void (*subtract_products) (double *c,
                             gsize c_stride,
                             const double *a,
                             gsize a_stride,
                             const double *b,
                             gsize b_stride,
                             gsize n_rows,
                             gsize n_columns,
                             gsize n_inner);

  /* The same for whole numbers, whose sums must be exact. */
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

  double (*dot) (const double *a, const double *b, gsize n);

  /* The products of @n_rows rows of whole numbers, @stride apart, with three vectors of the same, which must be exact; @n is a
   * multiple of APR_DENSE_PAD. */
  void (*multiply_whole) (
    const float *a, gsize stride, gsize n_rows, const double *const b[3], gsize n, double (*results)[3]);
} AprDenseKernel;

extern const AprDenseKernel apr_dense_kernel_portable;
#ifdef APR_KERNELS_X86
extern const AprDenseKernel apr_dense_kernel_avx2;
extern const AprDenseKernel apr_dense_kernel_avx512;
#endif

/* The one that runs. */
const AprDenseKernel *apr_dense_kernel_choose (void);

/* All that this processor can run, the fastest first, NULL-terminated. */
const AprDenseKernel *const *apr_dense_kernels (void);

/* A vector to start an iteration from, without any pattern that might make it orthogonal to what is looked for. */
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
