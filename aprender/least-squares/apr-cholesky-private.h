/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

G_BEGIN_DECLS

/* The factorisation U'U, in double, of a symmetric positive semidefinite matrix whose diagonal is about 1. */
typedef struct
{
  const AprDenseKernel *kernel;
  gsize n;
  gsize stride;
  double *rows; /* (owned) the upper triangle, row-major; the rest is of no meaning */
} AprCholesky;

/* Allocates a matrix of @n rows, all zero. Returns FALSE where there is no memory, and @run is cancelled. */
gboolean apr_cholesky_init (AprCholesky *self, gsize n, const AprRun *run);

void apr_cholesky_clear (AprCholesky *self);

/* Factorises the upper triangle in @rows. A column whose Schur complement is not above its entry of @limits is
 * skipped; the positions of the others go to @independent, and their rows become those of U. Returns: how many those
 * are; some number where cancelled */
gsize apr_cholesky_factorise (AprCholesky *self, const double *limits, gsize *independent, const AprRun *run);

/* Removes all rows and columns but the @n at @positions. */
void apr_cholesky_keep (AprCholesky *self, const gsize *positions, gsize n);

/* Returns a bound on the backward error of the factorisation in the 2-norm. */
double apr_cholesky_bound_error (const AprCholesky *self);

/* Returns a lower bound of the eigenvalues of what was factorised, for at most APR_CHOLESKY_FEW rows: it is at most the
 * smallest one, and seldom below that divided by their number. It is not above 0 where there is none. */
#define APR_CHOLESKY_FEW 16
double apr_cholesky_bound_min_eigenvalue (const AprCholesky *self);

/* Solves U'U x = @x in place. */
void apr_cholesky_solve (const AprCholesky *self, double *x);

/* Solves U'Z = X where @transposed is set, else U Z = X, in place. The rows of X are @stride apart, and its first
 * @n_columns columns are solved for, a multiple of APR_DENSE_STEP. Where cancelled, they mean nothing. */
void apr_cholesky_solve_many (
  const AprCholesky *self, gboolean transposed, double *x, gsize stride, gsize n_columns, const AprRun *run);

/* Makes U'^-1, whose rows are @stride apart, a multiple of APR_DENSE_STEP, of zeros. Where cancelled, it means
 * nothing. */
void apr_cholesky_invert (const AprCholesky *self, double *inverse, gsize stride, const AprRun *run);

/* Multiplies @x with U'U in place. */
void apr_cholesky_multiply (const AprCholesky *self, double *x);

/* Estimates the smallest eigenvalue of U'U from above, by inverse iteration. */
double apr_cholesky_estimate_min_eigenvalue (const AprCholesky *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCholesky, apr_cholesky_clear)

G_END_DECLS
