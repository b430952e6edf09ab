/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/least-squares/apr-fixed-private.h"
#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Sets @number to @value 2^@exponent. */
void apr_number_from_integer (mpf_t number, const mpz_t value, gint64 exponent);

/* The factorisation L D L' of a positive semidefinite matrix of whole numbers, scaled by powers of two to a diagonal
 * of about 1. Columns that depend on those before them are skipped.
 *
 * It is computed in double-double, as U'U, where that is proven to be accurate enough, else in longer numbers: where a
 * pivot is so small that it might be rounding errors alone, or the bound on the inverse is too weak. */
typedef struct _AprLdlt AprLdlt;

/* The matrix is that of the products of the features, of which the @excluded ones are ignored. A column whose Schur
 * complement is less than @rank_tolerance of its diagonal is dependent; where that is 0, the matrix must be positive
 * definite, and the first column that shows that it is not ends the factorisation. Where @run is cancelled, the factors
 * mean nothing. */
AprLdlt *apr_ldlt_new (const AprProducts *products,
                       const gboolean *excluded,
                       double rank_tolerance,
                       const AprRun *run);

/* The same of a matrix whose packed lower triangle is given, without excluded columns, that must be definite, in
 * numbers so long that the inverse of the factors is within a relative error of 2^-100 of that of the matrix. %NULL
 * where cancelled, and where @max_precision bits do not suffice: then the matrix is not definite, or nearly so. */
AprLdlt *apr_ldlt_new_long (mpz_t *matrix, gsize n, gint64 max_precision, const AprRun *run);

void apr_ldlt_free (AprLdlt *self);

/* Returns the independent columns, in order; a position is an index into these. */
const gsize *apr_ldlt_get_independent (AprLdlt *self, gsize *n_independent);

const gsize *apr_ldlt_get_dependent (AprLdlt *self, gsize *n_dependent);

/* Returns whether a dependent column shows that the matrix is not what it must be, semidefinite, or definite without a
 * rank tolerance, and the first that does. */
gboolean apr_ldlt_find_negative (AprLdlt *self, gsize *column);

/* Returns, of factors in long numbers, the packed lower triangle of L by position, with D in place of the unit
 * diagonal. */
const mpf_t *apr_ldlt_get_numbers (const AprLdlt *self);

/* Returns the scales by position: entry (i, j) of the scaled matrix is that of the matrix times 2^-(scale i + scale
 * j). */
const gint64 *apr_ldlt_get_scales (AprLdlt *self);

/* Returns b, where the inverse of the scaled matrix has a max-norm of at most 2^b. */
gint64 apr_ldlt_get_inverse_bits (AprLdlt *self);

/* Returns b, where the error of a solution is at most 2^b of its largest entry; b is negative. */
gint64 apr_ldlt_get_contraction (const AprLdlt *self);

/* Solves the scaled system for the right-hand side @x, in place, with factors in long numbers. */
void apr_ldlt_solve_numbers (const AprLdlt *self, mpf_t *x, const AprRun *run);

/* Solves the scaled system for the right-hand side @x, in place. Returns: e, where the solution is @x 2^e */
gint64 apr_ldlt_divide (AprLdlt *self, double *x, const AprRun *run);

/* Solves the scaled system for @right_side, of which number i is held times 2^(the scale of i), and none is above
 * 2^@top. All its digits are used, as an ill-conditioned matrix would magnify their rounding. Returns: e, where the
 * solution is @x 2^e */
gint64 apr_ldlt_solve (AprLdlt *self, const AprFixed *right_side, gint64 top, double *x, const AprRun *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprLdlt, apr_ldlt_free)

G_END_DECLS
