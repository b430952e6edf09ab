/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-normal-equations-private.h"

#include <float.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-scratch-private.h"

/* The rank: which features are independent. Cholesky's factorisation in double tells it where a bound on the
 * eigenvalues proves that the independent ones are, and apr-rank-proof that the others are not; else L D L' in longer
 * numbers does. */

double
apr_rank_find_tolerance (const AprLeastSquaresOptions *options, gsize n_features)
{
  double p = (double) n_features;
  double unit_roundoff = options->data_dtype == APR_DTYPE_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;

  return options->alpha > 0 ? 0 : 16 * p * p * unit_roundoff * unit_roundoff;
}

/* A pivot below this part of its diagonal may be rounding errors alone. Where features are nearly singular, what
 * rounding leaves of those that depend on them is larger. */
#define DOUBTFUL 0x1p-34
#define MORE_DOUBTFUL 0x1p-27

/* Where the smallest eigenvalue is below this, a correction in double may have no correct digit, for any size that fits
 * into memory. */
#define MIN_EIGENVALUE 0x1p-36

/* Where the inverse of few columns' factor tells as much, no sharper bound is worth its time. */
#define LARGE_EIGENVALUE 0x1p-20

/* Rounding the entries to double changed each by far less than this. */
#define ENTRY_ERROR 0x1p-50

/* Returns a lower bound of the eigenvalues of the scaled products, which @shifted holds and loses, or 0. If the
 * Cholesky factorisation of A - s I succeeds, the eigenvalues of A are at least s less its backward error (S. M. Rump,
 * "Verification of positive definiteness", 2006). */
static double
bound_min_eigenvalue (const AprNormalEquations *self, AprCholesky *shifted, const AprRun *run)
{
  AprScaledProducts scaled = apr_normal_equations_get_scaled (self);
  gsize n = self->n_independent;
  g_autofree gpointer of_positions = NULL;
  g_autofree gpointer of_zeros = NULL;
  gsize *positions = apr_scratch_new (gsize, n, &of_positions);
  double *zeros = apr_scratch_new (double, n, &of_zeros);
  double estimate;
  double bound;
  int tries;
  gsize i;

  bound = n <= APR_CHOLESKY_FEW
          ? apr_cholesky_bound_min_eigenvalue (&self->cholesky) - (double) n * ENTRY_ERROR
          : 0;
  if (bound > LARGE_EIGENVALUE)
    return bound;

  bound = 0;
  estimate = apr_cholesky_estimate_min_eigenvalue (&self->cholesky);
  for (i = 0; i < n; i++)
    zeros[i] = 0;
  for (tries = 0; tries < 3 && bound == 0 && estimate > MIN_EIGENVALUE && !apr_run_is_cancelled (run);
       tries++)
    {
      double shift = estimate / (tries == 0 ? 2 : 1 << (3 * tries));

      if (tries > 0)
        (void) apr_scaled_products_get_doubles (&scaled, shifted->rows, NULL, shifted->stride, run);
      for (i = 0; i < n; i++)
        shifted->rows[i * shifted->stride + i] -= shift;
      if (apr_cholesky_factorise (shifted, zeros, positions, run) == n)
        bound = shift - apr_cholesky_bound_error (shifted) - (double) n * ENTRY_ERROR;
      if (bound < shift / 4)
        bound = 0;
    }

  return bound;
}

static void
list_features (AprNormalEquations *self)
{
  gsize i;

  for (i = 0; i < self->products->n_features; i++)
    if (!self->excluded[i])
      {
        self->scales[i] = apr_products_get_scale (self->products, i);
        self->independent[self->n_independent++] = i;
      }
}

/* Splits the features into the independent ones, whose @positions are followed by the number of features, and the
 * others. */
static void
split_features (AprNormalEquations *self, const gsize *positions)
{
  gsize n = self->n_independent;
  gsize i;

  self->n_independent = 0;
  for (i = 0; i < n; i++)
    {
      gsize column = self->independent[i];

      if (positions[self->n_independent] == i)
        self->independent[self->n_independent++] = column;
      else
        self->dependent[self->n_dependent++] = column;
    }
}

static void
clear_rank (AprNormalEquations *self)
{
  apr_cholesky_clear (&self->cholesky);
  g_clear_pointer (&self->combinations, apr_pages_free);
  self->n_independent = 0;
  self->n_dependent = 0;
}

/* Finds the rank in double, with a proof; where a pivot is below the part @doubtful of its diagonal, a feature is taken
 * for dependent. Returns %FALSE where there is none, and clears what it found; and where it is cancelled: what it
 * leaves then means nothing. */
static gboolean
find_rank_in_doubles (AprNormalEquations *self, double doubtful, const AprRun *run)
{
  AprRun of_factors = apr_run_get_part (run, 0.05, 0.4);
  AprRun of_bound = apr_run_get_part (run, 0.4, 0.7);
  AprRun of_dependence = apr_run_get_part (run, 0.7, 1);
  AprScaledProducts scaled;
  g_auto (AprCholesky) copy = { NULL };
  g_autofree gpointer of_limits = NULL;
  g_autofree gpointer of_positions = NULL;
  double *limits;
  gsize *positions;
  gsize n;
  gsize n_independent;
  gsize i;

  list_features (self);
  n = self->n_independent;
  scaled = apr_normal_equations_get_scaled (self);
  if (!apr_cholesky_init (&self->cholesky, n, run) || !apr_cholesky_init (&copy, n, run) ||
      !apr_scaled_products_get_doubles (&scaled, self->cholesky.rows, copy.rows, self->cholesky.stride, run))
    {
      clear_rank (self);
      return FALSE;
    }

  limits = apr_scratch_new (double, n, &of_limits);
  positions = apr_scratch_new (gsize, n, &of_positions);
  for (i = 0; i < n; i++)
    limits[i] = self->cholesky.rows[i * self->cholesky.stride + i] * MAX (doubtful, 4 * self->rank_tolerance);
  n_independent = apr_cholesky_factorise (&self->cholesky, limits, positions, &of_factors);
  if (apr_run_is_cancelled (run))
    return FALSE;
  if (n_independent < n)
    {
      positions[n_independent] = n;
      split_features (self, positions);
      apr_cholesky_keep (&self->cholesky, positions, n_independent);
      apr_cholesky_keep (&copy, positions, n_independent);
      /* With a penalty none counts as dependent. */
      if (self->rank_tolerance == 0 || apr_normal_equations_look_independent (self, run))
        {
          clear_rank (self);
          return FALSE;
        }
    }

  self->min_eigenvalue = n_independent > 0 ? bound_min_eigenvalue (self, &copy, &of_bound) : 1;
  self->inverse_bits = -apr_floor_log2 (self->min_eigenvalue);
  if (!(self->min_eigenvalue > 4 * self->rank_tolerance))
    {
      clear_rank (self);
      return n_independent < n && doubtful < MORE_DOUBTFUL && find_rank_in_doubles (self, MORE_DOUBTFUL, run);
    }
  if (n_independent < n && !apr_normal_equations_prove_dependence (self, &of_dependence))
    {
      clear_rank (self);
      return FALSE;
    }

  return TRUE;
}

static void
find_rank_in_long_numbers (AprNormalEquations *self, const AprRun *run)
{
  const gsize *features;
  gsize i;

  self->ldlt = apr_ldlt_new (self->products, self->excluded, self->rank_tolerance, run);
  features = apr_ldlt_get_independent (self->ldlt, &self->n_independent);
  memcpy (self->independent, features, self->n_independent * sizeof *features);
  features = apr_ldlt_get_dependent (self->ldlt, &self->n_dependent);
  memcpy (self->dependent, features, self->n_dependent * sizeof *features);
  if (apr_ldlt_find_negative (self->ldlt, &i))
    self->negative = (gssize) i;
  self->inverse_bits = apr_ldlt_get_inverse_bits (self->ldlt);
  self->contraction = apr_ldlt_get_contraction (self->ldlt);
}

void
apr_normal_equations_find_rank (AprNormalEquations *self, const AprRun *run)
{
  if (!find_rank_in_doubles (self, DOUBTFUL, run) && !apr_run_is_cancelled (run))
    find_rank_in_long_numbers (self, run);
}
