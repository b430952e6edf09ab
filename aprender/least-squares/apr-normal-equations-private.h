/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* The normal equations of least squares in whole numbers, centred where there is an intercept, with a
 * factorisation of those of their columns that are independent.
 *
 * A feature counts through all of them, a position through the independent ones. A column is a feature, or
 * n_features plus a target. */
typedef struct _AprNormalEquations AprNormalEquations;

/* The features that are not @left_out. A feature of which less than @negligible is left depends on those before it. */
AprNormalEquations *
apr_normal_equations_new (const AprProducts *products, const gboolean *left_out, double negligible);

void apr_normal_equations_free (AprNormalEquations *self);

/* The features that are independent of those before them; their number is the rank. */
const gsize *apr_normal_equations_get_independent (AprNormalEquations *self, gsize *n_independent);

/* The features that depend on independent ones before them. Constant ones are in neither list. */
const gsize *apr_normal_equations_get_dependent (AprNormalEquations *self, gsize *n_dependent);

/* As apr_factor_find_negative (). */
gboolean apr_normal_equations_find_negative (AprNormalEquations *self, gsize *feature);

/* By position, those of the factor. */
const gint64 *apr_normal_equations_get_scales (AprNormalEquations *self);

/* Solves the scaled system for @x, in place. */
void apr_normal_equations_divide (AprNormalEquations *self, double *x);

/* The powers of two between the greatest and the least of the features' scales. */
gint64 apr_normal_equations_get_spread (AprNormalEquations *self);

/* A solution of the independent columns' equations for one right-hand side, refined as far as is wished: the
 * unknown at a position is z 2^-(fraction + scale). */
typedef struct
{
  AprNormalEquations *equations; /* (unowned) */
  gsize column;                  /* whose products are the right-hand side */
  mpz_t *right_side;             /* (owned) by position */
  mpz_t *z;                      /* (owned) by position */
  const gint64 *scale;           /* (unowned) by position */
  gsize n;
  gint64 fraction;
  gint64 error; /* after a step each scaled unknown, z 2^-fraction, is within 2^error */
  gboolean exact;
  gint64 grid;
} AprSolution;

void apr_solution_init (AprSolution *self, AprNormalEquations *equations, gsize column);

void apr_solution_clear (AprSolution *self);

/* One step of refinement with an exact residual: the error gets smaller by the factor's contraction. */
void apr_solution_refine (AprSolution *self);

/* Whether the unknown at @position, and then the intercept, are known well enough to be rounded to @dtype. */
gboolean apr_solution_round (AprSolution *self, gsize position, AprDType dtype, double *value);

gboolean apr_solution_round_intercept (AprSolution *self, AprDType dtype, double *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprNormalEquations, apr_normal_equations_free)

G_END_DECLS
