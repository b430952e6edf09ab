/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-double-doubles-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Larger systems are multiplied by threads, and what long numbers take is little beside their factorisation. */
#define APR_DOUBLE_SOLUTION_MAX_UNKNOWNS 64

/* A solution of small normal equations in double, with one correction and a bound of the error that is left. */
typedef struct
{
  const AprNormalEquations *equations; /* (unowned) */
  gsize column;                        /* of the products, that of the target */
  double first[APR_DOUBLE_SOLUTION_MAX_UNKNOWNS];
  double correction[APR_DOUBLE_SOLUTION_MAX_UNKNOWNS];
  double error; /* of the sum of both, at most, in each unknown */
} AprDoubleSolution;

/* Solves, and corrects. There are at most APR_DOUBLE_SOLUTION_MAX_UNKNOWNS unknowns, with a Cholesky factor, and the
 * target's column has been scaled. Returns: %FALSE where the solution is 0, or none; where cancelled, it means
 * nothing */
gboolean apr_double_solution_init (AprDoubleSolution *self,
                                   const AprNormalEquations *equations,
                                   const AprTarget *target,
                                   const AprRun *run);

/* Returns an unknown, by position; it is times 2^@exponent that it is a coefficient. */
AprDoubleDouble apr_double_solution_get_unknown (const AprDoubleSolution *self, gsize i, gint64 *exponent);

/* Returns the intercept, of which the value, and @error, are times 2^@exponent. */
AprDoubleDouble
apr_double_solution_find_intercept (const AprDoubleSolution *self, double *error, gint64 *exponent);

G_END_DECLS
