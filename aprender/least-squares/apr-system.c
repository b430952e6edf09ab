/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-system-private.h"

#include <string.h>

#include "aprender/least-squares/apr-least-norm-private.h"
#include "aprender/least-squares/apr-minimum-norm-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"
#include "aprender/least-squares/apr-preconditioned-private.h"

/* As many as a double holds. */
#define SLICES_OF_DOUBLE 4

struct _AprSystem
{
  const AprProducts *products; /* (unowned) */
  gboolean *left_out;          /* (owned) */
  double negligible;

  /* One of the two, or both where the former was not enough after all. */
  AprPreconditioned *doubles;  /* (owned) (nullable) */
  AprLeastNorm *norm;          /* (owned) (nullable) of @doubles, where features depend on others */
  AprNormalEquations *numbers; /* (owned) (nullable) */
  AprSlices *slices;           /* (owned) (nullable) of @numbers, when they are multiplied with */
};

static void
factorise_in_numbers (AprSystem *self)
{
  if (self->numbers == NULL)
    self->numbers = apr_normal_equations_new (self->products, self->left_out, self->negligible);
}

AprSystem *
apr_system_new (const AprProducts *products, const gboolean *left_out, double negligible, guint n_threads)
{
  AprSystem *self = g_new0 (AprSystem, 1);

  self->products = products;
  self->left_out = g_memdup2 (left_out, products->n_features * sizeof *left_out);
  self->negligible = negligible;

  self->doubles = apr_preconditioned_new (products, left_out, negligible, n_threads);
  if (self->doubles != NULL && self->doubles->n_dependent > 0)
    {
      self->norm = apr_least_norm_new (self->doubles);
      if (self->norm == NULL)
        g_clear_pointer (&self->doubles, apr_preconditioned_free);
    }
  if (self->doubles == NULL)
    factorise_in_numbers (self);

  return self;
}

void
apr_system_free (AprSystem *self)
{
  if (self == NULL)
    return;

  apr_least_norm_free (self->norm);
  apr_preconditioned_free (self->doubles);
  apr_normal_equations_free (self->numbers);
  apr_slices_free (self->slices);
  g_free (self->left_out);
  g_free (self);
}

const gsize *
apr_system_get_independent (AprSystem *self, gsize *n_independent)
{
  if (self->doubles == NULL)
    return apr_normal_equations_get_independent (self->numbers, n_independent);

  *n_independent = self->doubles->n_independent;
  return self->doubles->independent;
}

const gsize *
apr_system_get_dependent (AprSystem *self, gsize *n_dependent)
{
  if (self->doubles == NULL)
    return apr_normal_equations_get_dependent (self->numbers, n_dependent);

  *n_dependent = self->doubles->n_dependent;
  return self->doubles->dependent;
}

gboolean
apr_system_find_negative (AprSystem *self, gsize *feature)
{
  if (self->doubles == NULL)
    return apr_normal_equations_find_negative (self->numbers, feature);

  *feature = (gsize) self->doubles->negative;
  return self->doubles->negative >= 0;
}

/* Refines until every rounding is certain: two steps as a rule, more where an answer is exactly zero or lies halfway between
 * two doubles, which takes as many as there are bits in the determinant. */
static void
refine_numbers (AprSystem *self, gsize target, AprDType dtype, double *coefficients, double *intercept)
{
  gsize n;
  const gsize *independent = apr_normal_equations_get_independent (self->numbers, &n);
  AprSolution solution;
  gboolean certain = FALSE;
  gsize i;

  apr_solution_init (&solution, self->numbers, self->products->n_features + target);
  while (!certain)
    {
      apr_solution_refine (&solution);

      certain = TRUE;
      for (i = 0; i < n && certain; i++)
        certain = apr_solution_round (&solution, i, dtype, &coefficients[independent[i]]);
      if (certain && self->products->centred)
        certain = apr_solution_round_intercept (&solution, dtype, intercept);
    }
  apr_solution_clear (&solution);
}

gboolean
apr_system_solve (AprSystem *self, gsize target, AprDType dtype, double *coefficients, double *intercept)
{
  gsize n_dependent;

  memset (coefficients, 0, self->products->n_features * sizeof *coefficients);
  if (self->doubles != NULL && self->norm == NULL)
    return apr_preconditioned_solve (self->doubles, target, dtype, coefficients, intercept);
  if (self->norm != NULL)
    {
      gboolean accurate;
      gboolean certain = apr_least_norm_solve (self->norm, target, dtype, coefficients, intercept, &accurate);

      if (accurate)
        return certain;
    }

  factorise_in_numbers (self);
  (void) apr_normal_equations_get_dependent (self->numbers, &n_dependent);
  if (n_dependent == 0)
    refine_numbers (self, target, dtype, coefficients, intercept);
  else
    apr_minimum_norm_solve (self->numbers, self->products, target, dtype, coefficients, intercept);

  return n_dependent == 0;
}

gint64
apr_system_get_scale (AprSystem *self, gsize position)
{
  if (self->doubles != NULL)
    return self->doubles->scales[self->doubles->independent[position]];

  return apr_normal_equations_get_scales (self->numbers)[position];
}

void
apr_system_multiply (AprSystem *self, double *x)
{
  g_autofree double *product = NULL;
  g_autofree gint64 *scales = NULL;
  gsize n;
  const gsize *independent = apr_system_get_independent (self, &n);
  gsize i;
  gsize j;

  if (self->doubles != NULL)
    {
      apr_cholesky_multiply (&self->doubles->cholesky, x);
      return;
    }

  if (self->slices == NULL)
    {
      scales = g_new0 (gint64, self->products->n_features);
      for (i = 0; i < n; i++)
        scales[independent[i]] = apr_system_get_scale (self, i);
      self->slices =
        apr_slices_new (self->products, scales, independent, n, scales, independent, n, SLICES_OF_DOUBLE, 1);
    }
  product = g_new0 (double, n);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      product[i] += apr_slices_get_double (self->slices, i, j) * x[j];
  memcpy (x, product, n * sizeof *x);
}

void
apr_system_divide (AprSystem *self, double *x)
{
  if (self->doubles != NULL)
    apr_cholesky_solve (&self->doubles->cholesky, x);
  else
    apr_normal_equations_divide (self->numbers, x);
}
