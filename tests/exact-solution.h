/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/random-problem.h"

/* What the documentation promises for a problem, found in whole numbers of any length: by an elimination without
 * fractions, where the library refines approximate solutions. */

typedef struct
{
  gsize rank;          /* with a penalty for each target, the least */
  gboolean *dependent; /* (owned) by feature: those that depend on others before them, or are constant */
  double *
    coefficients; /* (owned) n_targets x n_features, rounded to the dtype; infinities where they are too large */
  double *intercepts; /* (owned) n_targets */
} ExactSolution;

ExactSolution *exact_solution_find (const RandomProblem *problem);

void exact_solution_free (ExactSolution *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ExactSolution, exact_solution_free)
