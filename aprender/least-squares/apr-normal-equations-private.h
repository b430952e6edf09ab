/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-ldlt-private.h"
#include "aprender/least-squares/apr-least-squares-private.h"
#include "aprender/least-squares/apr-refinement-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"

G_BEGIN_DECLS

/* The normal equations of some features: which of them are independent, and a factorisation of the products of those
 * with each other. It is Cholesky's in double where that can be proven to be good enough, else L D L' in longer
 * numbers. */
struct _AprNormalEquations
{
  const AprProducts *products; /* (unowned) */
  gboolean *excluded;          /* features that take no part */
  double rank_tolerance;

  /* (owned) by column of the products: a scaled product is the product times 2^-(the scales of its row and column). The
   * other arrays are parts of the same allocation. */
  gint64 *scales;

  gsize *independent; /* features, in order: a position counts through these. Their number is the rank */
  gsize n_independent;
  gsize *dependent; /* features that depend on independent ones before them, in order */
  gsize n_dependent;

  /* The first feature whose Schur complement is clearly negative, or too small for a penalty, so that no samples have
   * such products, or -1. */
  gssize negative;

  AprLdlt *ldlt;         /* (owned) (nullable) L D L' of the scaled products, or: */
  AprCholesky cholesky;  /* the Cholesky factor of the same */
  double min_eigenvalue; /* a lower bound of the eigenvalues of the scaled products, with @cholesky */

  /* (owned) (nullable), with @cholesky: a row for each dependent feature, with the stride of @cholesky: the scaled
   * coefficients of the independent features whose combination is nearly the dependent one */
  double *combinations;

  double *doubles;    /* (owned) (nullable) the scaled products, from the first multiplication with them on */
  gint64 contraction; /* with @ldlt: a solution with it errs by at most 2^this of the largest unknown */
  gint64 inverse_bits; /* the inverse of the scaled products has a norm of at most 2^this */

  /* (owned) (nullable): what solves where features depend on each other, from the first solution on */
  struct _AprMinimumNorm *minimum_norm;
};

/* Finds the rank of the features that are not @excluded: one whose Schur complement is less than @rank_tolerance of
 * its square depends on those before it. Where @run is cancelled, what is found means nothing, and nothing may be
 * solved. */
void apr_normal_equations_init (AprNormalEquations *self,
                                const AprProducts *products,
                                const gboolean *excluded,
                                double rank_tolerance,
                                const AprRun *run);

void apr_normal_equations_clear (AprNormalEquations *self);

/* Returns the rank tolerance for exact sums, (4 p u)^2: a feature is dependent where its Schur complement is below this
 * part of its square. It is 0 with a penalty, which makes the products definite. */
double apr_rank_find_tolerance (const AprLeastSquaresOptions *options, gsize n_features);

/* What apr_normal_equations_init() does first. */
void apr_normal_equations_find_rank (AprNormalEquations *self, const AprRun *run);

/* Returns whether the first of the dependent features is evidently none, as what is left of it by the features before
 * it is neither below the rank tolerance nor from rounding: no proof can show that it is dependent then. */
gboolean apr_normal_equations_look_independent (const AprNormalEquations *self, const AprRun *run);

/* Finds the combinations; returns %FALSE where it is not certain that each dependent feature's Schur complement is
 * below the rank tolerance. */
gboolean apr_normal_equations_prove_dependence (AprNormalEquations *self, const AprRun *run);

/* The same, for each feature on its own. */
void apr_normal_equations_find_combinations (AprNormalEquations *self, gboolean *proven, const AprRun *run);

/* Returns the products of the independent features. */
AprScaledProducts apr_normal_equations_get_scaled (const AprNormalEquations *self);

/* Sets the scale of a target such that its scaled products with the independent features are below 2. */
void apr_normal_equations_scale_column (AprNormalEquations *self, gsize column);

/* Finds the coefficients of all features for one target, 0 for those that are excluded, and the intercept. Where
 * features depend on others, the solution of minimum norm. Returns: %FALSE where it is not certain that all are rounded
 * to nearest, or have as many bits as are wanted, or where cancelled */
gboolean apr_normal_equations_solve (AprNormalEquations *self, const AprTarget *target, const AprRun *run);

/* The same in double, where no feature depends on others, from the Cholesky factor. Returns: %FALSE where that does not
 * prove every rounding, and then what was found means nothing */
gboolean apr_normal_equations_solve_in_doubles (const AprNormalEquations *self,
                                                const AprTarget *target,
                                                const AprRun *run);

/* Multiplies @x, by position, with the scaled products. */
void apr_normal_equations_multiply (AprNormalEquations *self, double *x, const AprRun *run);

/* Multiplies @x with the inverse of the scaled products, approximately. Returns: e, where the result is @x 2^e */
gint64 apr_normal_equations_divide (const AprNormalEquations *self, double *x, const AprRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprNormalEquations, apr_normal_equations_clear)

G_END_DECLS
