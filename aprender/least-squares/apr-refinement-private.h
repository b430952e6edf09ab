/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-fixed-private.h"
#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Coefficients of any size and length: whole numbers times powers of two, by feature. */
typedef struct
{
  gsize n;
  gint64 bits;         /* each errs by at most 2^-this of it */
  mpz_t *significands; /* (owned) */
  gint64 *exponents;   /* (owned) */
} AprLongCoefficients;

/* Iterative refinement: unknowns to which corrections are added, and a proven bound on what is missing, until every
 * rounding is certain. The source of the corrections is the caller's step. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  gsize column;                /* the target */
  AprDType dtype;
  const AprRun *run; /* (unowned) */

  gsize n;
  const gsize *features; /* (unowned) whose coefficients the unknowns are */
  gint64 *exponents;     /* (owned) a coefficient is its unknown times 2^exponent */
  const AprFixed *x;     /* (unowned) the unknowns */
  gint64 error;          /* each is within 2^this */
  gboolean exact;        /* they are the solution */

  AprLongCoefficients
    *wanted; /* (unowned) (nullable) instead of what is rounded to @dtype, and of an intercept */

  /* By Cramer's rule a coefficient is a whole number when multiplied by 2^grid and a whole number below
   * 2^denominator_bits; not known where that is 0. */
  gint64 *grids; /* (owned) (nullable) */
  gint64 denominator_bits;
} AprRefinement;

/* Adds one correction, and updates @x, @error and @exact; returns %FALSE where nothing was gained. */
typedef gboolean (*AprRefinementStep) (AprRefinement *self, gpointer data);

/* Leaves @exponents, zeros here, @grids and @x to the caller. */
void apr_refinement_init (AprRefinement *self,
                          const AprProducts *products,
                          gsize column,
                          AprDType dtype,
                          const gsize *features,
                          gsize n,
                          const AprRun *run);

void apr_refinement_clear (AprRefinement *self);

/* Returns the exponent of @value, far below all others for 0. */
gint64 apr_floor_log2 (double value);

/* Returns the bits that the unknowns need behind the point for Cramer's rule to decide every rounding, or every
 * sign. */
gint64 apr_refinement_count_bits (const AprRefinement *self);

/* Refines until every rounding is certain, or no more can be had: then what there is is rounded, and %FALSE is
 * returned, as it is where cancelled. The intercept takes part where the products are centred. */
gboolean apr_refinement_run (
  AprRefinement *self, AprRefinementStep step, gpointer data, double *coefficients, double *intercept);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprRefinement, apr_refinement_clear)

G_END_DECLS
