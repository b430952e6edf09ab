/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-fixed-private.h"
#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* L D L' of a symmetric matrix of whole numbers that is positive semidefinite, scaled by powers of two to have a diagonal
 * of about 1: column by column, leaving out those that depend on the columns before them.
 *
 * It is done in double-double where that is good enough for what is asked of it, and in longer numbers where not: where a
 * pivot is small, so that rounding might pass for what is left of a column, or the bound below is too weak. */
typedef struct _AprFactor AprFactor;

/* @matrix is a packed lower triangle of at least @n columns; those that are @left_out take no part. A column of which less
 * than @negligible of its diagonal is left depends on others; where that is 0, the matrix must be positive definite. */
AprFactor *apr_factor_new (mpz_t *matrix, gsize n, const gboolean *left_out, double negligible);

/* The same without excluded columns, of a matrix that must be definite, in numbers so long that the inverse of the factors is
 * within a relative error of 2^-100 of that of the matrix. %NULL where cancelled, and where @max_precision bits do not
 * suffice: then the matrix is not definite, or nearly so. */
AprFactor *apr_factor_new_long (mpz_t *matrix, gsize n, gint64 max_precision, GCancellable *cancellable);

void apr_factor_free (AprFactor *self);

/* The columns that are independent, in order; a position counts through these. */
const gsize *apr_factor_get_independent (AprFactor *self, gsize *n_independent);

const gsize *apr_factor_get_dependent (AprFactor *self, gsize *n_dependent);

/* Whether the matrix is not semidefinite after all, and the first dependent column of which clearly less than nothing is left. */
gboolean apr_factor_find_negative (AprFactor *self, gsize *column);

/* Of factors in long numbers: the packed lower triangle of L by position, with D in place of the unit diagonal. */
const mpf_t *apr_factor_get_numbers (const AprFactor *self);

/* By position: the scaled matrix has the entries 2^-(scale + scale) times the independent ones of the matrix. */
const gint64 *apr_factor_get_scales (AprFactor *self);

/* No entry of the solution of a scaled system is more than 2^this of the greatest one of its right-hand side. */
gint64 apr_factor_get_inverse_bits (AprFactor *self);

/* A solution errs by at most 2^this of its greatest entry; this is below 0. */
gint64 apr_factor_get_contraction (const AprFactor *self);

/* Solves the scaled system for @x, in place, approximately. Returns: e, where the solution is @x 2^e */
gint64 apr_factor_divide (AprFactor *self, double *x);

/* The same for @right_side 2^-@top, of which number i is held times 2^(the scale of i), to as many digits as the factors have:
 * what is ill-conditioned magnifies a rounding of it. */
gint64 apr_factor_solve (AprFactor *self, const AprFixed *right_side, gint64 top, double *x);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprFactor, apr_factor_free)

G_END_DECLS
