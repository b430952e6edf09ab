/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-normal-equations-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-scratch-private.h"
#include "aprender/least-squares/apr-minimum-norm-private.h"
#include "aprender/least-squares/apr-solution-private.h"

/* Bits behind the point: of a first attempt with the leading bits of the products, and of one with all bits where what
 * Cramer's rule needs would take too long. */
#define FIRST_BITS 192
#define MAX_UNPROVEN_BITS 512

/* A first attempt cannot succeed where more than this is lost to the inverse. */
#define MAX_INVERSE_BITS 44

/* The part of the work that is done when the rank is known. */
#define RANK_SHARE 0.7

static void
find_rank_in_long_numbers (AprNormalEquations *self, const AprRun *run)
{
  gsize p = self->products->n_features;
  mpz_t *matrix = apr_integers_new (apr_triangle (p, 0));
  const gsize *features;
  const gint64 *scales;
  gsize i;
  gsize j;

  for (i = 0; i < p && !apr_run_is_cancelled (run); i++)
    for (j = 0; j <= i; j++)
      apr_products_get_integer (self->products, i, j, matrix[apr_triangle (i, j)]);

  self->ldlt = apr_ldlt_new (matrix, p, self->excluded, self->rank_tolerance, run);
  apr_integers_free (matrix, apr_triangle (p, 0));
  features = apr_ldlt_get_independent (self->ldlt, &self->n_independent);
  memcpy (self->independent, features, self->n_independent * sizeof *features);
  scales = apr_ldlt_get_scales (self->ldlt);
  for (i = 0; i < self->n_independent; i++)
    self->scales[features[i]] = scales[i];
  features = apr_ldlt_get_dependent (self->ldlt, &self->n_dependent);
  memcpy (self->dependent, features, self->n_dependent * sizeof *features);
  if (apr_ldlt_find_negative (self->ldlt, &i))
    self->negative = (gssize) i;
  self->inverse_bits = apr_ldlt_get_inverse_bits (self->ldlt);
  self->contraction = apr_ldlt_get_contraction (self->ldlt);
}

AprNormalEquations *
apr_normal_equations_new (const AprProducts *products,
                          const gboolean *excluded,
                          double rank_tolerance,
                          const AprRun *run)
{
  AprNormalEquations *self = g_new0 (AprNormalEquations, 1);
  AprRun of_rank = apr_run_get_part (run, 0, RANK_SHARE);
  gsize p = products->n_features;

  self->products = products;
  self->rank_tolerance = rank_tolerance;
  self->run = *run;
  /* All in one piece. */
  self->scales = g_malloc0 ((p + products->n_targets) * sizeof *self->scales +
                            p * (sizeof *self->independent + sizeof *self->dependent + sizeof *excluded));
  self->independent = (gsize *) (self->scales + p + products->n_targets);
  self->dependent = self->independent + p;
  self->excluded = (gboolean *) (self->dependent + p);
  memcpy (self->excluded, excluded, p * sizeof *excluded);
  self->negative = -1;
  if (!apr_normal_equations_find_rank_in_doubles (self, &of_rank) && !apr_run_is_cancelled (run))
    find_rank_in_long_numbers (self, &of_rank);

  return self;
}

void
apr_normal_equations_free (AprNormalEquations *self)
{
  if (self == NULL)
    return;

  apr_minimum_norm_free (self->minimum_norm);
  apr_ldlt_free (self->ldlt);
  apr_cholesky_clear (&self->cholesky);
  g_aligned_free (self->combinations);
  g_free (self->doubles);
  g_free (self->scales);
  g_free (self);
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
  refinement->exact = solution->exact;

  return more;
}

/* With the leading bits of the products, or with all and as far as it takes to tell what is exactly 0 or halfway
 * between two numbers. */
static gboolean
solve_with (AprNormalEquations *self,
            gsize column,
            AprDType dtype,
            gboolean all_bits,
            const AprRun *run,
            AprLongCoefficients *wanted,
            double *unknowns,
            double *intercept)
{
  gsize n = self->n_independent;
  gint64 fraction = FIRST_BITS;
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (AprSolution) solution = { 0 };
  gsize i;

  apr_refinement_init (&refinement, self->products, column, dtype, self->independent, n, run);
  refinement.wanted = wanted;
  for (i = 0; i < n; i++)
    refinement.exponents[i] = self->scales[column] - self->scales[self->independent[i]];
  if (all_bits)
    {
      double work = (double) n * (double) n * (double) self->products->n_limbs / 64;

      apr_normal_equations_apply_cramer (self, &refinement);
      fraction = MAX (fraction, apr_refinement_count_bits (&refinement) + self->inverse_bits);
      if ((double) fraction * work > APR_NORMAL_EQUATIONS_MAX_WORK)
        /* Some thousand features are too many for even this: GCOVR_EXCL_BR_START */
        fraction = MIN (fraction, MAX_UNPROVEN_BITS + self->inverse_bits);
      /* GCOVR_EXCL_BR_STOP */
    }
  apr_solution_init (&solution, self, column, fraction, all_bits);
  refinement.x = &solution.x;

  return apr_refinement_run (&refinement, refine, &solution, unknowns, intercept);
}

/* @wanted may be %NULL. */
static gboolean
solve (AprNormalEquations *self,
       gsize target,
       AprDType dtype,
       AprLongCoefficients *wanted,
       double *coefficients,
       double *intercept)
{
  gsize column = self->products->n_features + target;
  double share = (1 - RANK_SHARE) / (double) self->products->n_targets;
  double begin = RANK_SHARE + share * (double) target;
  AprRun run = apr_run_get_part (&self->run, begin, begin + share);
  g_autofree gpointer heap = NULL;
  double *unknowns;
  gboolean certain;
  gsize i;

  memset (coefficients, 0, self->products->n_features * sizeof *coefficients);
  apr_normal_equations_scale_column (self, column);
  if (self->n_dependent > 0)
    {
      if (self->minimum_norm == NULL)
        {
          AprRun of_factors = apr_run_get_part (&run, 0, 0.5);

          run = apr_run_get_part (&run, 0.5, 1);
          self->minimum_norm = apr_minimum_norm_new (self, &of_factors);
        }
      return !apr_run_is_cancelled (&run) && apr_minimum_norm_solve (self->minimum_norm, column, dtype, &run,
                                                                     wanted, coefficients, intercept);
    }

  unknowns = apr_scratch_new (double, self->n_independent, &heap);
  certain = (self->inverse_bits < MAX_INVERSE_BITS &&
             solve_with (self, column, dtype, FALSE, &run, wanted, unknowns, intercept)) ||
            solve_with (self, column, dtype, TRUE, &run, wanted, unknowns, intercept);
  for (i = 0; i < self->n_independent; i++)
    coefficients[self->independent[i]] = unknowns[i];

  return certain;
}

gboolean
apr_normal_equations_solve (
  AprNormalEquations *self, gsize target, AprDType dtype, double *coefficients, double *intercept)
{
  return solve (self, target, dtype, NULL, coefficients, intercept);
}

gboolean
apr_normal_equations_approximate (AprNormalEquations *self, gsize target, AprLongCoefficients *coefficients)
{
  g_autofree double *unused = g_new (double, self->products->n_features);
  gsize i;

  for (i = 0; i < coefficients->n; i++)
    mpz_set_ui (coefficients->significands[i], 0);

  return solve (self, target, APR_DTYPE_F64, coefficients, unused, NULL);
}

void
apr_normal_equations_multiply (AprNormalEquations *self, double *x)
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
      self->doubles = g_new (double, n *n);
      (void) apr_scaled_products_get_doubles (&scaled, self->doubles, NULL, n, &self->run);
    }
  product = g_new0 (double, n);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      product[i] += self->doubles[MIN (i, j) * n + MAX (i, j)] * x[j];
  memcpy (x, product, n * sizeof *x);
}

gint64
apr_normal_equations_divide (const AprNormalEquations *self, double *x)
{
  if (self->ldlt != NULL)
    return apr_ldlt_divide (self->ldlt, x, &self->run);

  apr_cholesky_solve (&self->cholesky, x);
  return 0;
}
