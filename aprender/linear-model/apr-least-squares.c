/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-least-squares-private.h"

#include <float.h>
#include <math.h>

#include "aprender/linear-model/apr-least-norm-private.h"
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

/* The features that are not among the @independent ones. */
static void
set_rank (AprLeastSquares *self, const gsize *independent, gsize rank, gsize n_features)
{
  gsize i;

  self->rank = rank;
  self->n_dependent = 0;
  self->dependent = g_renew (gsize, self->dependent, n_features);
  for (i = 0; i < n_features; i++)
    if (i - self->n_dependent == rank || independent[i - self->n_dependent] != i)
      self->dependent[self->n_dependent++] = i;
}

/* False where that is not enough. */
static gboolean
solve_in_doubles (AprLeastSquares *self,
                  const AprProducts *products,
                  const gboolean *left_out,
                  double negligible,
                  const AprLeastSquaresOptions *options)
{
  g_autoptr (AprPreconditioned) system =
    apr_preconditioned_new (products, left_out, negligible, options->n_threads);
  g_autoptr (AprLeastNorm) norm = NULL;
  gsize target;

  if (system == NULL)
    return FALSE;
  if (system->n_dependent > 0 && (norm = apr_least_norm_new (system)) == NULL)
    return FALSE;

  set_rank (self, system->independent, system->n_independent, products->n_features);
  self->correctly_rounded = TRUE;
  for (target = 0; target < products->n_targets; target++)
    {
      double *coefficients = self->coefficients + target * products->n_features;
      double *intercept = &self->intercepts[target];
      gboolean accurate = TRUE;

      if (norm != NULL
            ? !apr_least_norm_solve (norm, target, options->dtype, coefficients, intercept, &accurate)
            : !apr_preconditioned_solve (system, target, options->dtype, coefficients, intercept))
        self->correctly_rounded = FALSE;
      if (!accurate)
        return FALSE;
    }

  return TRUE;
}

static void
solve_in_numbers (AprLeastSquares *self,
                  const AprProducts *products,
                  const gboolean *left_out,
                  double negligible,
                  const AprLeastSquaresOptions *options)
{
  g_autoptr (AprNormalEquations) equations = apr_normal_equations_new (products, left_out, negligible);
  gsize p = products->n_features;
  g_autofree double *values = g_new (double, p);
  gsize rank;
  gsize n_dependent;
  const gsize *independent = apr_normal_equations_get_independent (equations, &rank);
  gsize target;
  gsize i;

  apr_normal_equations_get_dependent (equations, &n_dependent);
  set_rank (self, independent, rank, p);
  self->correctly_rounded = n_dependent == 0;
  if (n_dependent > 0)
    {
      apr_minimum_norm_solve (equations, products, options->dtype, self->coefficients, self->intercepts);
      return;
    }

  for (target = 0; target < products->n_targets; target++)
    {
      solve_target (equations, p + target, products->centred, options->dtype, values,
                    &self->intercepts[target]);
      for (i = 0; i < rank; i++)
        self->coefficients[target * p + independent[i]] = values[i];
    }
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
  gsize i;

  for (i = 0; i < n_features && options->alpha == 0; i++)
    constant[i] = apr_products_is_constant (products, i, negligible);

  self->coefficients = g_new0 (double, n_features *n_targets);
  self->intercepts = g_new0 (double, n_targets);
  self->condition_number = NAN;
  if (!solve_in_doubles (self, products, constant, negligible, options))
    solve_in_numbers (self, products, constant, negligible, options);
  if (options->noisy)
    self->correctly_rounded = FALSE;

  return check_range (self, n_features, n_targets, options->dtype, error);
}
