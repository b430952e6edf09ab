/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/inference/apr-design-private.h"
#include "aprender/least-squares/apr-double-doubles-private.h"
#include "aprender/least-squares/apr-ldlt-private.h"

G_BEGIN_DECLS

/* The inverse of the products A of the independent features of a design, and the least squares solutions of its
 * right-hand sides.
 *
 * The products are scaled by powers of two, so that their diagonal is between 1/2 and 2. Computed from the exact
 * products, the inverse, as a quadratic form, is within a relative error of 2^-55, and the residual sums of squares
 * are too; double-double numbers are used where it can be proven that they suffice, and longer ones elsewhere. */
typedef struct
{
  const AprDoubleDoubleKernel *kernel; /* the fastest, unless it is set before */
  gsize n;
  gsize n_targets;
  gsize n_right;         /* right-hand sides: the targets first */
  AprDoubleDoubles root; /* (owned) n rows, lower triangular, zeros above: the scaled inverse is root' root */
  double *inverse;       /* (owned) packed lower triangle of the scaled inverse */
  AprDoubleDoubles solutions; /* (owned) n_right rows of scaled solutions */
  /* (owned) by target: the least sum of squares, in the unit of the products; exactly 0 where that is 0, and where
   * rounded products make it less */
  mpf_t *residuals;
  GPtrArray *
    exact; /* (owned) (nullable) by target: (nullable) the solution where nothing is left, see apr-exact-fit */
  AprLdlt *factor; /* (owned) (nullable) where longer numbers were needed, as long as this is computed */
} AprInverse;

/* False where cancelled, and where the columns are not independent or no samples have such products: then a file is
 * wrong. */
gboolean apr_inverse_init (AprInverse *self, const AprDesign *design, const AprRun *run);

void apr_inverse_clear (AprInverse *self);

/* root u, the sum of whose squares is u' A^-1 u; @product may not be @u. */
void apr_inverse_multiply_root (const AprInverse *self, const AprDoubleDouble *u, AprDoubleDouble *product);

/* The steps of the work, in files of their own. Each returns false where cancelled, or where it cannot tell. */

/* Cholesky's factors in double-double; false too where they are not proven to be good enough. */
gboolean apr_inverse_factorise (AprInverse *self, const AprDesign *design, const AprRun *run);

/* The root in numbers as long as it takes. */
gboolean apr_inverse_factorise_long (AprInverse *self, const AprDesign *design, const AprRun *run);

/* Adds to @z 2^-@fraction the scaled solution for @right[i] 2^-(@unit + scale of i), in long numbers, which mean
 * nothing where it is cancelled. */
void apr_inverse_correct_long (const AprInverse *self,
                               const AprDesign *design,
                               mpz_t *right,
                               gint64 unit,
                               mpz_t *z,
                               gint64 fraction,
                               const AprRun *run);

/* The solution and the residual sum of squares of @target by exact residuals, from a solution that is near. */
gboolean apr_inverse_refine (AprInverse *self, const AprDesign *design, gsize target, const AprRun *run);

/* The scaled solution of @target times 2^fraction, from one that is @near, by the @root of an inverse: so exactly that
 * what it leaves of each sample errs by less than 2^-53 of the root of the sum of squares. It means nothing where
 * cancelled. Returns: the fraction */
gint64 apr_inverse_solve_exactly (AprDoubleDoubles root,
                                  const AprDesign *design,
                                  gsize target,
                                  const double *near,
                                  mpz_t *numbers,
                                  const AprRun *run);

/* inverse = root' root */
gboolean apr_inverse_square_root (AprInverse *self, const AprRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprInverse, apr_inverse_clear)

G_END_DECLS
