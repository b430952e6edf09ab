/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>

#include "aprender/base/apr-run-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/least-squares/kernels/apr-double-double-kernel-private.h"

G_BEGIN_DECLS

/* Matrices of double-double numbers are worked on in blocks of so many rows: few, as within a block one thread goes row
 * by row. */
#define APR_DOUBLE_DOUBLES_BLOCK 32

/* @value 2^@exponent, with an error of less than 2^-105 of it. */
AprDoubleDouble apr_dd_from_integer (const mpz_t value, gint64 exponent);

/* A matrix of zeros; where there is no memory, it has NULL for them, and @run is cancelled. */
AprDoubleDoubles apr_double_doubles_new (gsize n_rows, gsize n_columns, const AprRun *run);

void apr_double_doubles_free (AprDoubleDoubles *self);

static inline gsize
apr_double_doubles_pad (gsize n)
{
  return (n + APR_DOUBLE_DOUBLE_PAD - 1) & ~(gsize) (APR_DOUBLE_DOUBLE_PAD - 1);
}

/* Reads the upper half of the @n x @n products of some columns with each other. Entry i, j is multiplied by
 * 2^-(scales[i] + scales[j]), with an error below 2^-104. Returns: %FALSE where one is 4 or more, which those of
 * samples never are if they are scaled to a diagonal below 4, and where cancelled */
gboolean apr_double_doubles_read (AprDoubleDoubles self,
                                  gsize n,
                                  const AprProducts *products,
                                  const gsize *columns,
                                  const gint64 *scales,
                                  const AprRun *run);

/* c[i][j] -= sum over k of a[k][i] b[k][j], for the rows i from @first_row to @end_row, the columns j before
 * @n_columns, of which those before the diagonal mean nothing where @upper, and k from @k to @end_k. FALSE where
 * cancelled. */
gboolean apr_double_doubles_subtract (const AprRun *run,
                                      const AprDoubleDoubleKernel *kernel,
                                      AprDoubleDoubles c,
                                      AprDoubleDoubles a,
                                      AprDoubleDoubles b,
                                      gsize first_row,
                                      gsize end_row,
                                      gboolean upper,
                                      gsize n_columns,
                                      gsize k,
                                      gsize end_k);

/* Cholesky's factors: U in place of the upper triangle of a matrix U'U of @n rows, and U'^-1 times the columns beside
 * it, up to @n_columns. What is below the diagonal means nothing then. FALSE where a pivot is not above its limit, and
 * where cancelled. Where the diagonal is at most 2, U'U differs from the matrix by at most (3 n + 32) 2^-103 times
 * |U'||U|, entry by entry. */
gboolean apr_double_doubles_factorise (AprDoubleDoubles u,
                                       gsize n,
                                       gsize n_columns,
                                       const double *limits,
                                       const AprDoubleDoubleKernel *kernel,
                                       const AprRun *run);

G_END_DECLS
