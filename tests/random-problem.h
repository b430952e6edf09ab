/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

/* Regression problems of every hostile kind. The numbers come from g_rand and from arithmetic that is exact, so that a
 * seed means the same problem on every processor. */

typedef enum
{
  FAMILY_PLAIN,          /* all bits of a double, features of similar scale, some of them far from zero */
  FAMILY_SMALL_INTEGERS, /* many answers are zero, or ratios of small numbers */
  FAMILY_SCALES,         /* a scale for each feature and target, up to 2^2000 apart */
  FAMILY_ENTRIES,        /* a scale for each entry, up to 2^2000 apart */
  FAMILY_SUBNORMAL,      /* data or answers are subnormal, or underflow */
  FAMILY_OVERFLOW,       /* answers about the greatest number of the dtype */
  FAMILY_ALIKE,          /* features that differ a little: about the edge of the rank rule */
  FAMILY_CONSTANT,  /* features that vary a little about a mean: about the edge of the rule for constants */
  FAMILY_DEPENDENT, /* copies, sums and constants, or fewer samples than features */
  FAMILY_HALFWAY,   /* answers halfway between two numbers, or close to that */
  N_FAMILIES
} Family;

typedef struct
{
  Family family;
  gsize n_rows;
  gsize n_features;
  gsize n_targets;
  double *x;       /* n_rows x n_features */
  double *y;       /* n_rows x n_targets */
  double *weights; /* (nullable) */
  AprDType x_dtype;
  AprDType y_dtype;
  AprDType dtype; /* of the model, or NONE */
  gboolean fit_intercept;
  gboolean positive;
  double alpha;
  double *alphas; /* (nullable) n_targets: a penalty for each target in place of alpha */
  int rounding;   /* the rounding mode of the program around, as of fenv.h */
  gboolean flush; /* the program around flushes subnormal numbers to zero */
} RandomProblem;

/* What APRENDER_SEED and APRENDER_PROBLEMS say. */
guint32 random_problem_get_seed (guint32 otherwise);

guint random_problem_get_number (guint otherwise);

RandomProblem *random_problem_new (GRand *rand);

RandomProblem *random_problem_copy (const RandomProblem *self);

void random_problem_free (RandomProblem *self);

char *random_problem_to_string (const RandomProblem *self);

/* Goes to the arithmetic of the program around, which fesetenv (FE_DFL_ENV) leaves. */
void random_problem_enter_environment (const RandomProblem *self);

/* The smallest problem found on the way from @self of which @fails says the same. */
RandomProblem *random_problem_shrink (const RandomProblem *self, gboolean (*fails) (const RandomProblem *));

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RandomProblem, random_problem_free)
