/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-normal-equations-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-minimum-norm-private.h"

void
apr_normal_equations_init (AprNormalEquations *self,
                           const AprProducts *products,
                           const gboolean *excluded,
                           double rank_tolerance,
                           const AprRun *run)
{
  gsize p = products->n_features;

  *self = (AprNormalEquations){ .products = products, .rank_tolerance = rank_tolerance, .negative = -1 };
  /* All in one piece. */
  self->scales = g_malloc0 ((p + products->n_targets) * sizeof *self->scales +
                            p * (sizeof *self->independent + sizeof *self->dependent + sizeof *excluded));
  self->independent = (gsize *) (self->scales + p + products->n_targets);
  self->dependent = self->independent + p;
  self->excluded = (gboolean *) (self->dependent + p);
  memcpy (self->excluded, excluded, p * sizeof *excluded);
  apr_normal_equations_find_rank (self, run);
}

void
apr_normal_equations_clear (AprNormalEquations *self)
{
  g_clear_pointer (&self->minimum_norm, apr_minimum_norm_free);
  g_clear_pointer (&self->ldlt, apr_ldlt_free);
  apr_cholesky_clear (&self->cholesky);
  g_clear_pointer (&self->combinations, apr_pages_free);
  g_clear_pointer (&self->doubles, apr_pages_free);
  g_clear_pointer (&self->scales, g_free);
}

AprScaledProducts
apr_normal_equations_get_scaled (const AprNormalEquations *self)
{
  return (AprScaledProducts){ self->products, self->scales, self->independent, self->n_independent };
}

void
apr_normal_equations_scale_column (AprNormalEquations *self, gsize column)
{
  gint64 scale = G_MININT64;
  gsize i;

  for (i = 0; i < self->n_independent; i++)
    {
      gsize feature = self->independent[i];
      gint64 bits = apr_products_get_bits (self->products, column, feature);

      if (bits > 0)
        scale = MAX (scale, bits - self->scales[feature]);
    }

  self->scales[column] = scale == G_MININT64 ? 0 : scale;
}

static gboolean
refine (AprRefinement *refinement, gpointer data)
{
  AprSolution *solution = data;
  gboolean more = apr_solution_refine (solution, refinement->run);

  refinement->error = solution->error;

  return more;
}

typedef enum
{
  LEADING_BITS, /* of the products */
  ALL_BITS,
  AS_FAR_AS_IT_TAKES, /* with all bits, to tell what is exactly 0 or halfway between two numbers */
} Effort;

static gboolean
solve_with (AprNormalEquations *self, const AprTarget *target, Effort effort, const AprRun *run)
{
  gsize n = self->n_independent;
  gint64 fraction = APR_REFINEMENT_FIRST_BITS + (effort == ALL_BITS ? self->inverse_bits : 0);
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (AprSolution) solution = { 0 };
  gsize i;

  apr_refinement_init (&refinement, self->products, target, self->independent, n, run);
  for (i = 0; i < n; i++)
    refinement.exponents[i] = self->scales[refinement.column] - self->scales[self->independent[i]];
  if (effort == AS_FAR_AS_IT_TAKES)
    {
      double n_products = (double) n * (double) n * (double) self->products->n_limbs;

      apr_refinement_apply_cramer (&refinement, self->independent, n);
      fraction = MAX (fraction, apr_refinement_count_bits (&refinement) + self->inverse_bits);
      fraction = apr_refinement_limit_bits (fraction, self->inverse_bits, n_products);
    }
  apr_solution_init (&solution, self, refinement.column, fraction, effort != LEADING_BITS);
  refinement.x = &solution.x;

  return apr_refinement_run (&refinement, refine, &solution);
}

static gboolean
solve_dependent (AprNormalEquations *self, const AprTarget *target, const AprRun *run)
{
  AprRun of_solution = *run;

  if (self->minimum_norm == NULL)
    {
      AprRun of_factors = apr_run_get_part (run, 0, 0.5);

      of_solution = apr_run_get_part (run, 0.5, 1);
      self->minimum_norm = apr_minimum_norm_new (self, &of_factors);
    }

  return !apr_run_is_cancelled (run) && apr_minimum_norm_solve (self->minimum_norm, target, &of_solution);
}

gboolean
apr_normal_equations_solve (AprNormalEquations *self, const AprTarget *target, const AprRun *run)
{
  gsize p = self->products->n_features;
  gsize i;

  for (i = 0; i < p; i++)
    if (target->wanted != NULL)
      mpz_set_ui (target->wanted->significands[i], 0);
    else
      target->coefficients[i] = 0;

  apr_normal_equations_scale_column (self, p + target->index);
  if (self->n_dependent > 0)
    return solve_dependent (self, target, run);

  if (self->ldlt == NULL && target->wanted == NULL &&
      apr_normal_equations_solve_in_doubles (self, target, run))
    return TRUE;

  /* Long coefficients need as many bits as they are told to have. */
  return (self->inverse_bits < APR_REFINEMENT_MAX_INVERSE_BITS
            ? solve_with (self, target, LEADING_BITS, run)
            : target->wanted == NULL && solve_with (self, target, ALL_BITS, run)) ||
         solve_with (self, target, AS_FAR_AS_IT_TAKES, run);
}

void
apr_normal_equations_multiply (AprNormalEquations *self, double *x, const AprRun *run)
{
  AprScaledProducts scaled = apr_normal_equations_get_scaled (self);
  gsize n = self->n_independent;
  g_autofree double *product = NULL;
  gsize i;
  gsize j;

  if (self->ldlt == NULL)
    {
      apr_cholesky_multiply (&self->cholesky, x);
      return;
    }

  if (self->doubles == NULL)
    {
      self->doubles = apr_run_new_pages (run, n, n * sizeof *self->doubles, FALSE);
      if (self->doubles == NULL)
        return;
      (void) apr_scaled_products_get_doubles (&scaled, self->doubles, NULL, n, run);
    }
  product = g_new0 (double, n);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      product[i] += self->doubles[MIN (i, j) * n + MAX (i, j)] * x[j];
  memcpy (x, product, n * sizeof *x);
}

gint64
apr_normal_equations_divide (const AprNormalEquations *self, double *x, const AprRun *run)
{
  if (self->ldlt != NULL)
    return apr_ldlt_divide (self->ldlt, x, run);

  apr_cholesky_solve (&self->cholesky, x);
  return 0;
}
