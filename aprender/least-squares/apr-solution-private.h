/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"
#include "aprender/least-squares/apr-refinement-private.h"

G_BEGIN_DECLS

/* A solution of the scaled normal equations of the independent features, A x = c, and its residual: the factor turns
 * the residual into a correction of x, and the bound on the inverse of A turns it into a bound on the error of x. */
typedef struct
{
  const AprNormalEquations *equations; /* (unowned) */
  gsize column;                        /* whose products are c */
  gboolean all_bits;                   /* multiply with all bits of the products, not the leading 128 */

  AprFixed x;
  gint64 error;   /* each number of x is within 2^this */
  gboolean exact; /* x is the solution */

  AprFixed residual; /* c - A x: number i is held times 2^(the scale of i) */
  gint64 top;        /* no number of the residual is above 2^this; %G_MININT64 where it is 0 */
  double *leading;   /* (owned) the residual times 2^-top */
  gint64 whole;      /* no correction reaches 2^this */
  AprCorrection correction;
  gboolean corrected; /* with it, in the last step */
} AprSolution;

/* Starts from x = 0, with @fraction bits behind the point. Column @column must have been scaled. */
void apr_solution_init (
  AprSolution *self, const AprNormalEquations *equations, gsize column, gint64 fraction, gboolean all_bits);

void apr_solution_clear (AprSolution *self);

/* Adds one correction to x; returns %FALSE where the error did not become smaller. Where @run is cancelled, x means
 * nothing. */
gboolean apr_solution_refine (AprSolution *self, const AprRun *run);

/* Writes to @refinement what Cramer's rule says of the coefficients of the independent features. */
void apr_normal_equations_apply_cramer (const AprNormalEquations *self, AprRefinement *refinement);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprSolution, apr_solution_clear)

G_END_DECLS
