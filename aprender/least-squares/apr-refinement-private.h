/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-fixed-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

G_BEGIN_DECLS

typedef struct _AprNormalEquations AprNormalEquations;

/* Fraction bits of a first attempt, which uses the leading bits of the products. It cannot succeed where the inverse
 * loses more than APR_REFINEMENT_MAX_INVERSE_BITS. */
#define APR_REFINEMENT_FIRST_BITS 192
#define APR_REFINEMENT_MAX_INVERSE_BITS 44

/* Coefficients of any size and length: whole numbers times powers of two, by feature. */
typedef struct
{
  gsize n;
  gint64 bits;         /* the relative error of each is at most 2^-this */
  mpz_t *significands; /* (owned) */
  gint64 *exponents;   /* (owned) */
} AprLongCoefficients;

/* A target to solve for, and where its coefficients go to. */
typedef struct
{
  gsize index; /* of all targets */
  AprDType dtype;
  double *coefficients; /* (unowned) by feature: values of @dtype */
  double *intercept;    /* (unowned) the same, set where the products are centred */

  /* (unowned) (nullable): where the coefficients go to instead, unrounded and without an intercept */
  AprLongCoefficients *wanted;
} AprTarget;

/* Iterative refinement: corrections, which the caller's step finds, are added to the unknowns until a proven bound on
 * the error makes every rounding certain. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  const AprTarget *target;     /* (unowned) */
  gsize column;                /* of the products, that of the target */
  const AprRun *run;           /* (unowned) */

  gsize n;
  const gsize *features; /* (unowned) whose coefficients the unknowns are */
  gint64 *exponents;     /* (owned) a coefficient is its unknown times 2^exponent */
  const AprFixed *x;     /* (unowned) the unknowns */
  gint64 error;          /* each is within 2^this, or APR_EXACT */

  /* By Cramer's rule, a coefficient times 2^(its grid) times some whole number below 2^denominator_bits is a whole
   * number. Not known where @denominator_bits is 0. */
  gint64 *grids; /* (owned) (nullable) */
  gint64 denominator_bits;
} AprRefinement;

/* Adds one correction, and updates @x and @error; returns %FALSE where nothing was gained. */
typedef gboolean (*AprRefinementStep) (AprRefinement *self, gpointer data);

/* The caller sets @x, and @exponents, which are zeros at first. */
void apr_refinement_init (AprRefinement *self,
                          const AprProducts *products,
                          const AprTarget *target,
                          const gsize *features,
                          gsize n,
                          const AprRun *run);

void apr_refinement_clear (AprRefinement *self);

/* Returns the exponent of @value, far below all others for 0. */
gint64 apr_floor_log2 (double value);

/* Finds @grids and @denominator_bits, where the unknowns are those v with A v = c, or b = G v with G'G v = c: A are the
 * products of the @n @features with each other, which are those of the unknowns then, G those of all unknowns' features
 * with them, and c those with the target. */
void apr_refinement_apply_cramer (AprRefinement *self, const gsize *features, gsize n);

/* Returns the largest of @grids. */
gint64 apr_refinement_get_max_grid (const AprRefinement *self);

/* Returns how many fraction bits the unknowns need for Cramer's rule to decide every rounding, or every sign. */
gint64 apr_refinement_count_bits (const AprRefinement *self);

/* Returns @bits, or fewer where multiplications by so many would take more than some seconds: then as many as are
 * enough unless something is exactly 0 or halfway between two numbers, where the inverse loses @lost_bits. A
 * multiplication by 64 bits takes @n_products products of limbs. */
gint64 apr_refinement_limit_bits (gint64 bits, gint64 lost_bits, double n_products);

/* Refines until every rounding is certain, or until that no longer helps: then it rounds what there is and returns
 * %FALSE, as it does where cancelled. */
gboolean apr_refinement_run (AprRefinement *self, AprRefinementStep step, gpointer data);

/* A solution of the scaled normal equations of the independent features, A x = c, and its residual: the factor turns
 * the residual into a correction of x, and the bound on the inverse of A turns it into a bound on the error of x. */
typedef struct
{
  const AprNormalEquations *equations; /* (unowned) */
  gsize column;                        /* whose products are c */
  gboolean all_bits;                   /* multiply with all bits of the products, not the leading 128 */

  AprFixed x;
  gint64 error; /* each number of x is within 2^this, or APR_EXACT */

  AprFixed residual; /* c - A x: number i is held times 2^(the scale of i) */
  gint64 top;        /* no number of the residual is above 2^this; %G_MININT64 where it is 0 */
  double *leading;   /* (owned) the residual times 2^-top */
  gint64 whole;      /* no correction reaches 2^this */
  AprCorrection correction;
  gboolean corrected; /* the last step has added @correction */
} AprSolution;

/* Starts from x = 0, with @fraction fraction bits. Column @column must have been scaled. */
void apr_solution_init (
  AprSolution *self, const AprNormalEquations *equations, gsize column, gint64 fraction, gboolean all_bits);

void apr_solution_clear (AprSolution *self);

/* Adds one correction to x; returns %FALSE where the error did not become smaller. Where @run is cancelled, x means
 * nothing. */
gboolean apr_solution_refine (AprSolution *self, const AprRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprRefinement, apr_refinement_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprSolution, apr_solution_clear)

G_END_DECLS
