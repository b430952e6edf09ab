/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-slices-private.h"

G_BEGIN_DECLS

/* Unknowns that are refined digit by digit, with a bound on what is missing, until it is certain what they round to. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  gsize column;                /* the target */
  AprDType dtype;

  gsize n;
  const gsize *features; /* (unowned) whose coefficients the unknowns are */
  gint64 *exponents;     /* (owned) a coefficient is 2^exponent times its unknown */
  AprFixed x;            /* limb q counts 2^-(21 (q - lead)) */
  gsize top;             /* of x */
  gint64 error;          /* x is within 2^this */
  gboolean exact;        /* x is the solution */

  /* By Cramer's rule an unknown's coefficient is a whole number when multiplied by 2^grid and a whole number below
   * 2^denominator_bits; not known where that is 0. */
  gint64 *grids; /* (owned) (nullable) */
  gint64 denominator_bits;
} AprRefinement;

/* Takes one step, updating @x, @top, @error and @exact; false where nothing was gained. */
typedef gboolean (*AprRefinementStep) (AprRefinement *self, gpointer data);

/* @exponents and @x are the caller's to set. */
void apr_refinement_init (AprRefinement *self,
                          const AprProducts *products,
                          gsize column,
                          AprDType dtype,
                          const gsize *features,
                          gsize n);

void apr_refinement_clear (AprRefinement *self);

/* The place of @value among powers of two; far below all others for 0. */
gint64 apr_floor_log2 (double value);

/* Refines until every rounding is certain, or no more can be had: then what there is is rounded, and false is returned. The intercept
 * takes part where the products are centred. */
gboolean apr_refinement_run (
  AprRefinement *self, AprRefinementStep step, gpointer data, double *coefficients, double *intercept);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprRefinement, apr_refinement_clear)

G_END_DECLS
