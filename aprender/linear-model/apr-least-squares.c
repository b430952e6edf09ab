/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-least-squares-private.h"

#include <float.h>
#include <math.h>

#include "aprender/linear-model/apr-minimum-norm-private.h"
#include "aprender/linear-model/apr-normal-equations-private.h"
#include "aprender/linear-model/apr-preconditioned-private.h"

void
apr_least_squares_clear (AprLeastSquares *self)
{
  g_clear_pointer (&self->coefficients, g_free);
  g_clear_pointer (&self->intercepts, g_free);
  g_clear_pointer (&self->dependent, g_free);
}

/* Refines until every rounding is certain: two steps as a rule, more where an answer is exactly zero or lies halfway between
 * two doubles, which takes as many as there are bits in the determinant. */
static void
solve_target (AprNormalEquations *equations,
              gsize column,
              gboolean fit_intercept,
              AprDType dtype,
              double *values,
              double *intercept)
{
  AprSolution solution;
  gboolean certain = FALSE;
  gsize i;

  apr_solution_init (&solution, equations, column);
  while (!certain)
    {
      apr_solution_refine (&solution);

      certain = TRUE;
      for (i = 0; i < solution.n && certain; i++)
        certain = apr_solution_round (&solution, i, dtype, &values[i]);
      if (certain && fit_intercept)
        certain = apr_solution_round_intercept (&solution, dtype, intercept);
    }
  apr_solution_clear (&solution);
}

static gboolean
check_range (AprLeastSquares *self, gsize n_features, gsize n_targets, AprDType dtype, GError **error)
{
  gsize i;

  for (i = 0; i < n_features * n_targets; i++)
    if (!isfinite (self->coefficients[i]))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "The coefficient of feature %" G_GSIZE_FORMAT " (counted from 0) is too large for %s",
                     i % n_features, apr_dtype_to_string (dtype));
        return FALSE;
      }

  for (i = 0; i < n_targets; i++)
    if (!isfinite (self->intercepts[i]))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "The intercept of target %" G_GSIZE_FORMAT " (counted from 0) is too large for %s", i,
                     apr_dtype_to_string (dtype));
        return FALSE;
      }

  return TRUE;
}

/* The part of a column that counts as nothing. */
static double
find_negligible (const AprLeastSquaresOptions *options, gsize n_features)
{
  double p = (double) n_features;
  double unit_roundoff = options->data_dtype == APR_DTYPE_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;

  if (options->alpha > 0)
    return 0;

  return MAX (16 * p * p * unit_roundoff * unit_roundoff, options->noisy ? p * 0x1p-50 : 0);
}

gboolean
apr_least_squares_solve (AprLeastSquares *self,
                         AprExactSums *state,
                         const AprLeastSquaresOptions *options,
                         GError **error)
{
  g_autoptr (AprProducts) products =
    apr_products_new (state, options->fit_intercept, options->alpha, options->n_threads);
  gsize n_features = products->n_features;
  gsize n_targets = products->n_targets;
  double negligible = find_negligible (options, n_features);
  g_autofree gboolean *constant = g_new0 (gboolean, n_features);
  g_autofree double *values = g_new (double, n_features);
  g_autoptr (AprPreconditioned) preconditioned = NULL;
  g_autoptr (AprNormalEquations) equations = NULL;
  const gsize *independent;
  gsize n_dependent = 0;
  gsize target;
  gsize i;

  for (i = 0; i < n_features && options->alpha == 0; i++)
    constant[i] = apr_products_is_constant (products, i, negligible);

  preconditioned = apr_preconditioned_new (products, constant, negligible, options->n_threads);
  if (preconditioned != NULL)
    {
      independent = preconditioned->independent;
      self->rank = preconditioned->n_independent;
    }
  else
    {
      equations = apr_normal_equations_new (products, constant, negligible);
      independent = apr_normal_equations_get_independent (equations, &self->rank);
      apr_normal_equations_get_dependent (equations, &n_dependent);
    }

  self->coefficients = g_new0 (double, n_features *n_targets);
  self->intercepts = g_new0 (double, n_targets);
  self->dependent = g_new (gsize, n_features);
  for (i = 0; i < n_features; i++)
    if (i - self->n_dependent < self->rank && independent[i - self->n_dependent] == i)
      continue;
    else
      self->dependent[self->n_dependent++] = i;
  self->condition_number = NAN;
  self->correctly_rounded = n_dependent == 0 && !options->noisy;

  if (n_dependent > 0)
    apr_minimum_norm_solve (equations, products, options->dtype, self->coefficients, self->intercepts);

  for (target = 0; target < n_targets && n_dependent == 0; target++)
    {
      if (preconditioned == NULL)
        solve_target (equations, n_features + target, options->fit_intercept, options->dtype, values,
                      &self->intercepts[target]);
      else if (!apr_preconditioned_solve (preconditioned, target, options->dtype, values,
                                          &self->intercepts[target]))
        self->correctly_rounded = FALSE;
      for (i = 0; i < self->rank; i++)
        self->coefficients[target * n_features + independent[i]] = values[i];
    }

  return check_range (self, n_features, n_targets, options->dtype, error);
}
