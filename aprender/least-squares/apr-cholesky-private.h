/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

G_BEGIN_DECLS

/* U'U of a symmetric positive semidefinite matrix whose diagonal is about 1, in double. */
typedef struct
{
  const AprDenseKernel *kernel;
  gsize n;
  gsize stride;
  double *rows; /* (owned) the upper triangle, row-major; the rest is of no meaning */
} AprCholesky;

/* For a matrix of @n rows, not yet set. */
void apr_cholesky_init (AprCholesky *self, gsize n);

void apr_cholesky_clear (AprCholesky *self);

/* Factorises the upper triangle in @rows. A column of which no more than its part of @least is left is passed over; the others
 * go to @independent, and their rows are those of U. Returns: the number of them */
gsize apr_cholesky_factorise (AprCholesky *self, const double *least, gsize *independent, guint n_threads);

/* Keeps @n rows and columns, those at @positions. */
void apr_cholesky_keep (AprCholesky *self, const gsize *positions, gsize n);

/* What factorising can have changed about the matrix, in the 2-norm, at the most. */
double apr_cholesky_bound_error (const AprCholesky *self);

/* Solves U'U x = @x in place. */
void apr_cholesky_solve (const AprCholesky *self, double *x);

/* Multiplies @x with U'U in place. */
void apr_cholesky_multiply (const AprCholesky *self, double *x);

/* The least eigenvalue of U'U, by inverse iteration: never less than it is, but for rounding, and often near. */
double apr_cholesky_estimate_least (const AprCholesky *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCholesky, apr_cholesky_clear)

G_END_DECLS
