/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-least-squares-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/least-squares/apr-condition-private.h"
#include "aprender/least-squares/apr-dual-private.h"
#include "aprender/least-squares/apr-dual-ridge-private.h"
#include "aprender/least-squares/apr-indefinite-private.h"
#include "aprender/least-squares/apr-non-negative-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"

/* From exact cross products to correctly rounded coefficients, in the order of the files to read:
 *
 *   apr-products           centring, in whole numbers
 *   apr-indefinite         whether a file's sums are those of any samples
 *   apr-normal-equations   the equations of the features, and the way to their solution
 *   apr-rank               which features are independent: Cholesky's factorisation in double, and proofs that they
 *                          are, or not (apr-rank-proof); apr-ldlt where there are none, in longer numbers
 *   apr-double-solution    one correction in double, with a bound, of small systems; where that is not enough:
 *   apr-refinement         residuals without rounding (apr-scaled-products, apr-fixed), corrections, and bounds, until
 *                          every rounding is certain (apr-rounding)
 *   apr-minimum-norm       where features depend on each other; apr-squared-equations where double is not enough
 *   apr-non-negative       where no coefficient may be negative
 *   apr-condition          the condition number
 *   apr-dual-*             more features than samples: the dual form, from the samples; with a penalty apr-dual-ridge
 *                          in double, with a bound, and apr-dual-system where that is not enough
 *
 * The method is iterative refinement of the normal equations with residuals of all digits and verified bounds: N. J.
 * Higham, "Accuracy and stability of numerical algorithms", 2002, chapters 10, 12 and 20; S. M. Rump, "Verification
 * methods: rigorous results using floating-point arithmetic", 2010.
 */

void
apr_least_squares_clear (AprLeastSquares *self)
{
  g_clear_pointer (&self->coefficients, g_free);
  g_clear_pointer (&self->intercepts, g_free);
  g_clear_pointer (&self->dependent, g_free);
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

static double
find_rank_tolerance (const AprLeastSquaresOptions *options, gsize n_features)
{
  return MAX (apr_rank_find_tolerance (options, n_features),
              options->rounded ? (double) n_features * 0x1p-50 : 0);
}

/* Finds the constant features. Sums are rounded about a shift near the mean, so that how far a feature varies is known
 * however large the mean is beside it. */
static gboolean *
find_constant (const AprProducts *products, const AprLeastSquaresOptions *options)
{
  double tolerance = apr_rank_find_tolerance (options, products->n_features);
  gboolean *constant = g_new0 (gboolean, products->n_features);
  gsize i;

  for (i = 0; i < products->n_features && options->alpha == 0; i++)
    constant[i] = apr_products_is_constant (products, i, tolerance);

  return constant;
}

static void
set_rank (AprLeastSquares *self, gsize n_features, const gsize *independent, gsize rank)
{
  gsize i;

  self->rank = rank;
  self->dependent = g_new (gsize, n_features);
  for (i = 0; i < n_features; i++)
    if (i - self->n_dependent == self->rank || independent[i - self->n_dependent] != i)
      self->dependent[self->n_dependent++] = i;
}

/* Fails for sums that no samples have, such as those from which others were subtracted that they did not contain.
 * Rounded sums may be slightly negative. */
static gboolean
check_squares (const AprProducts *products, GError **error)
{
  gsize i;

  for (i = 0; i < products->n_features; i++)
    if (apr_products_is_negative (products, i, i))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                     "The sums are not those of any samples: the sum of squares of feature %" G_GSIZE_FORMAT
                     " (counted from 0)%s is negative",
                     i, products->centred ? " about its mean" : "");
        return FALSE;
      }

  return TRUE;
}

/* @feature is %-1 where there is none. */
static gboolean
check_complement (gssize feature, GError **error)
{
  if (feature < 0)
    return TRUE;

  g_set_error (
    error, APR_ERROR, APR_ERROR_MODEL,
    "The sums are not those of any samples: without the features before it, the sum of squares of feature "
    "%" G_GSIZE_FORMAT " (counted from 0) is negative",
    (gsize) feature);
  return FALSE;
}

/* Products of no samples could keep the solver busy for minutes. */
static gboolean
check_definite (const AprProducts *products, const gboolean *constant, const AprRun *run, GError **error)
{
  gsize feature;
  gboolean indefinite =
    products->doubtful && apr_products_prove_indefinite (products, constant, run, &feature);

  return !apr_run_set_error_if_cancelled (run, error) &&
         check_complement (indefinite ? (gssize) feature : -1, error);
}

gboolean
apr_least_squares_solve (AprLeastSquares *self,
                         const AprExactSums *sums,
                         const AprLeastSquaresOptions *options,
                         const AprRun *caller,
                         GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  double begin = options->positive ? 0.5 : 0.75;
  AprRun of_rank = apr_run_get_part (run, 0.2, begin);
  AprRun of_targets = apr_run_get_part (run, begin, 1);
  g_auto (AprProducts) products = { 0 };
  gsize n_features;
  double rank_tolerance;
  g_autofree gboolean *constant = NULL;
  g_auto (AprNormalEquations) equations = { 0 };
  gsize i;

  apr_products_init (&products, sums, options->fit_intercept, options->alpha, run);
  n_features = products.n_features;
  rank_tolerance = find_rank_tolerance (options, n_features);
  self->coefficients = apr_run_new_doubles (run, products.n_targets, n_features);
  self->intercepts = apr_run_new_doubles (run, products.n_targets, 1);
  self->rank = n_features;
  self->correctly_rounded = !options->rounded;

  if (apr_run_set_error_if_cancelled (run, error) || (!options->rounded && !check_squares (&products, error)))
    return FALSE;

  constant = find_constant (&products, options);
  if (!options->rounded && !check_definite (&products, constant, run, error))
    return FALSE;
  apr_run_report (run, 0.2);
  apr_normal_equations_init (&equations, &products, constant, rank_tolerance, &of_rank);
  if (apr_run_set_error_if_cancelled (run, error) ||
      (!options->rounded && !check_complement (equations.negative, error)))
    return FALSE;

  set_rank (self, n_features, equations.independent, equations.n_independent);

  for (i = 0; i < products.n_targets; i++)
    {
      AprTarget target = { i, options->dtype, self->coefficients + i * n_features, &self->intercepts[i] };
      double n_targets = (double) products.n_targets;
      AprRun part = apr_run_get_part (&of_targets, (double) i / n_targets, (double) (i + 1) / n_targets);
      /* To find what is not negative takes longer. */
      AprRun of_solution = apr_run_get_part (&part, 0, options->positive ? 0.2 : 1);
      AprRun of_signs = apr_run_get_part (&part, 0.2, 1);
      gboolean certain;

      if (options->targets != NULL && !options->targets[i])
        continue;
      /* What is short does not report itself. */
      if (i > 0)
        apr_run_report (&part, 0);
      certain = apr_normal_equations_solve (&equations, &target, &of_solution);
      if (options->positive && !apr_run_is_cancelled (run))
        certain = apr_non_negative_solve (&products, constant, rank_tolerance, &target, &of_signs, certain);
      if (apr_run_set_error_if_cancelled (run, error))
        return FALSE;
      if (!certain)
        self->correctly_rounded = FALSE;
    }

  return check_range (self, n_features, products.n_targets, options->dtype, error);
}

/* Solves for the targets that are not hard, which are few; returns those that are left. (transfer full) */
static gboolean *
solve_ridge (AprLeastSquares *self,
             const AprSampleRows *rows,
             const AprLeastSquaresOptions *options,
             const gboolean *excluded,
             const AprRun *run,
             gsize *n_left)
{
  g_auto (AprDualRidge) ridge = { NULL };
  gboolean *left = g_new0 (gboolean, rows->n_targets);
  gboolean use;
  gsize i;

  *n_left = 0;
  for (i = 0; i < rows->n_targets; i++)
    {
      left[i] = options->targets == NULL || options->targets[i];
      *n_left += left[i];
    }
  use = *n_left <= APR_DUAL_RIDGE_MAX_TARGETS && apr_dual_ridge_init (&ridge, rows, options, excluded, run);
  for (i = 0; use && i < rows->n_targets; i++)
    if (left[i] && apr_dual_ridge_solve (&ridge, i, options->dtype, self->coefficients + i * rows->n_features,
                                         &self->intercepts[i]))
      {
        left[i] = FALSE;
        (*n_left)--;
      }

  return left;
}

gboolean
apr_least_squares_solve_rows (AprLeastSquares *self,
                              const AprSampleRows *rows,
                              const AprLeastSquaresOptions *options,
                              const AprRun *caller,
                              GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  gsize n_features = rows->n_features;
  AprRun of_rank = apr_run_get_part (run, 0.1, 0.4);
  AprRun of_system = apr_run_get_part (run, 0.4, 1);
  double rank_tolerance = find_rank_tolerance (options, n_features);
  g_autofree gboolean *excluded = g_new0 (gboolean, n_features);
  g_autofree gsize *independent = g_new (gsize, rows->n);
  gsize n_independent = 0;
  g_auto (AprDualSystem) system = { NULL };
  g_autofree gboolean *left = NULL;
  gsize n_left;
  gsize i;

  self->coefficients = apr_run_new_doubles (run, rows->n_targets, n_features);
  self->intercepts = apr_run_new_doubles (run, rows->n_targets, 1);
  self->rank = n_features;
  self->correctly_rounded = TRUE;
  if (!apr_dual_find_constants (rows, options->fit_intercept, rank_tolerance, run, excluded, error))
    return FALSE;
  apr_run_report (run, 0.1);
  if (options->alpha == 0)
    {
      if (!apr_dual_find_rank (rows, options->fit_intercept, rank_tolerance, &of_rank, excluded, independent,
                               &n_independent, error))
        return FALSE;
      set_rank (self, n_features, independent, n_independent);
    }

  left = solve_ridge (self, rows, options, excluded, run, &n_left);
  if (apr_run_set_error_if_cancelled (run, error))
    return FALSE;
  if (n_left > 0 &&
      !apr_dual_system_init (&system, rows, options, excluded, independent, n_independent, &of_system, error))
    return FALSE;
  for (i = 0; i < rows->n_targets; i++)
    if (left[i] && !apr_dual_system_solve (&system, i, options->dtype, &of_system, excluded,
                                           self->coefficients + i * n_features, &self->intercepts[i]))
      self->correctly_rounded = FALSE;

  return !apr_run_set_error_if_cancelled (run, error) &&
         check_range (self, n_features, rows->n_targets, options->dtype, error);
}

double
apr_least_squares_find_condition (const AprExactSums *sums,
                                  const AprLeastSquaresOptions *options,
                                  const AprRun *caller)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  g_auto (AprProducts) products = { 0 };
  double rank_tolerance;
  g_autofree gboolean *constant = NULL;
  g_auto (AprNormalEquations) equations = { 0 };

  apr_products_init (&products, sums, options->fit_intercept, options->alpha, run);
  if (apr_run_is_cancelled (run))
    return NAN;

  rank_tolerance = find_rank_tolerance (options, products.n_features);
  constant = find_constant (&products, options);
  apr_normal_equations_init (&equations, &products, constant, rank_tolerance, run);

  return apr_run_is_cancelled (run) ? NAN : apr_condition_find (&equations, run);
}
