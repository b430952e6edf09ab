/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-least-squares-private.h"

#include <math.h>

#include "aprender/linear-model/apr-minimum-norm-private.h"
#include "aprender/linear-model/apr-normal-equations-private.h"

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

gboolean
apr_least_squares_solve (AprLeastSquares *self,
                         AprExactSums *state,
                         const AprLeastSquaresOptions *options,
                         GError **error)
{
  gboolean fit_intercept = options->fit_intercept;
  AprDType dtype = options->dtype;
  gsize n_features = apr_exact_sums_get_n_features (state);
  gsize n_targets = apr_exact_sums_get_n_targets (state);
  g_autoptr (AprNormalEquations) equations =
    apr_normal_equations_new (state, fit_intercept, options->data_dtype);
  g_autofree double *values = g_new (double, n_features);
  gsize n_dependent;
  gsize target;
  gsize i;
  const gsize *independent = apr_normal_equations_get_independent (equations, &self->rank);

  self->coefficients = g_new0 (double, n_features *n_targets);
  self->intercepts = g_new0 (double, n_targets);

  apr_normal_equations_get_dependent (equations, &n_dependent);
  self->dependent = g_new (gsize, n_features);
  for (i = 0; i < n_features; i++)
    if (i - self->n_dependent < self->rank && independent[i - self->n_dependent] == i)
      continue;
    else
      self->dependent[self->n_dependent++] = i;
  self->condition_number = NAN;
  self->correctly_rounded = n_dependent == 0;
  if (n_dependent > 0)
    apr_minimum_norm_solve (equations, n_features, n_targets, fit_intercept, dtype, self->coefficients,
                            self->intercepts);

  for (target = 0; target < n_targets && n_dependent == 0; target++)
    {
      solve_target (equations, n_features + target, fit_intercept, dtype, values, &self->intercepts[target]);
      for (i = 0; i < self->rank; i++)
        self->coefficients[target * n_features + independent[i]] = values[i];
    }

  return check_range (self, n_features, n_targets, dtype, error);
}
