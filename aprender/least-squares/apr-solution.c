/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-solution-private.h"

#include <math.h>

/* A x = c, where A and c are whole numbers, scaled by powers of two. A factorisation in floating point turns the
 * residual c - A x, which has no rounding, into a correction of x, and a bound on the inverse of A turns the same
 * residual into a bound on the error: |x - A^-1 c| <= |A^-1| |c - A x|. So x can be had to any length, and its
 * rounding is certain as soon as the error is too small to matter (iterative refinement with a posteriori bounds: N.
 * J. Higham, "Accuracy and stability of numerical algorithms", 2002, chapter 12; S. M. Rump, "Verification methods",
 * 2010).
 *
 * Where the error would matter for ever, because an unknown is exactly 0 or halfway between two doubles, Cramer's rule
 * decides: the unknown is a ratio of two determinants, and a ratio that is closer to such a number than the inverse of
 * their common denominator is equal to it.
 */

/* Room for what many corrections add up to, beyond what one may reach. */
#define SPARE_BITS 32

/* Bits of an error that a correction, rounded to double, can take away. */
#define CORRECTION_BITS 51

static gint64
get_scale (const AprSolution *self, gsize i)
{
  return self->equations->scales[self->equations->independent[i]];
}

/* Finds the magnitude of the residual, and its leading digits. */
static void
measure (AprSolution *self)
{
  gsize i;

  self->top = G_MININT64;
  for (i = 0; i < self->residual.n; i++)
    {
      gint64 exponent = apr_fixed_get_exponent (&self->residual, i);

      if (exponent != G_MININT64)
        self->top = MAX (self->top, exponent - get_scale (self, i));
    }
  for (i = 0; i < self->residual.n && self->top != G_MININT64; i++)
    self->leading[i] = apr_fixed_get_double (&self->residual, i, self->top + get_scale (self, i));
}

void
apr_solution_init (
  AprSolution *self, const AprNormalEquations *equations, gsize column, gint64 fraction, gboolean all_bits)
{
  const AprProducts *products = equations->products;
  gsize n = equations->n_independent;
  gint64 log2_n = (gint64) g_bit_storage (n);
  gint64 bits = apr_scaled_products_get_bits (n);
  gint64 min_scale = 0;
  gint64 max_scale = 0;
  gint64 residual_fraction;
  gsize i;

  *self = (AprSolution){ .equations = equations, .column = column, .all_bits = all_bits };
  for (i = 0; i < n; i++)
    {
      min_scale = i == 0 ? get_scale (self, i) : MIN (min_scale, get_scale (self, i));
      max_scale = MAX (max_scale, get_scale (self, i));
    }

  /* |x| <= |A^-1| |c|, with numbers of c that are below 2. */
  self->whole = equations->inverse_bits + log2_n + 4;
  apr_fixed_init (&self->x, n, fraction, self->whole + SPARE_BITS);

  /* As fine as the products of the last bit of x. */
  residual_fraction =
    all_bits ? MAX (fraction + max_scale, equations->scales[column]) : fraction + bits - min_scale;
  apr_fixed_init (&self->residual, n, residual_fraction, self->whole + max_scale + log2_n + SPARE_BITS);
  self->leading = g_new (double, n);
  apr_correction_init (&self->correction, n);
  for (i = 0; i < n; i++)
    apr_fixed_add (&self->residual, i, apr_products_get (products, column, equations->independent[i]),
                   products->n_limbs, -equations->scales[column]);

  measure (self);
  self->error = self->top != G_MININT64 ? self->top + log2_n + equations->inverse_bits : 0;
}

void
apr_solution_clear (AprSolution *self)
{
  apr_fixed_clear (&self->x);
  apr_fixed_clear (&self->residual);
  g_clear_pointer (&self->leading, g_free);
  apr_correction_clear (&self->correction);
}

/* Returns the exponent of a bound on the error that @norm, in the 2-norm, of a residual stands for. */
static gint64
bound_error (const AprSolution *self, double norm)
{
  const AprNormalEquations *equations = self->equations;

  if (equations->ldlt != NULL)
    return apr_floor_log2 (norm) + 1 + equations->inverse_bits;

  return apr_floor_log2 (norm / equations->min_eigenvalue) + 1;
}

/* Returns the exponent of a bound on the error that what the residual has lost stands for; %G_MININT32 where that is
 * nothing. */
static gint64
bound_truncation (const AprSolution *self)
{
  gsize n = self->residual.n;
  double root = 1.01 * sqrt ((double) n);
  gint64 bits = apr_scaled_products_get_bits (n);
  gint64 min_scale = G_MAXINT32;
  gint64 max_scale = 0;
  gint64 truncation = G_MININT32;
  double size = 0;
  gsize i;

  if (self->all_bits)
    return truncation;

  for (i = 0; i < n; i++)
    {
      min_scale = MIN (min_scale, get_scale (self, i));
      max_scale = MAX (max_scale, get_scale (self, i));
      size += fabs (apr_fixed_get_double (&self->x, i, self->whole));
    }
  /* A unit of each product, and one of the right-hand side. */
  if (2 * max_scale > bits && size > 0)
    truncation = bound_error (self, root * size) + self->whole - bits;
  if (self->equations->scales[self->column] > self->residual.fraction)
    truncation = MAX (truncation, bound_error (self, root) - (self->residual.fraction + min_scale)) + 1;

  return truncation;
}

gboolean
apr_solution_refine (AprSolution *self, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  gint64 before = self->error;
  gint64 truncation;
  gint64 error = G_MININT32;
  gsize i;

  self->corrected = FALSE;
  if (self->top != G_MININT64)
    {
      gint64 exponent = self->top;

      if (equations->ldlt != NULL)
        exponent = apr_ldlt_solve (equations->ldlt, &self->residual, self->top, self->leading, run);
      else
        apr_cholesky_solve (&equations->cholesky, self->leading);
      if (!apr_correction_set (&self->correction, self->leading, exponent, self->x.fraction, self->whole))
        return FALSE;
      self->corrected = TRUE;
      apr_fixed_add_correction (&self->x, &self->correction, 0, 1);
      if (self->all_bits)
        apr_fixed_add_products (&self->residual, equations->products, equations->independent,
                                equations->independent, equations->scales, 0, &self->correction, -1, run);
      else
        {
          AprScaledProducts scaled = apr_normal_equations_get_scaled (equations);

          apr_fixed_subtract_scaled (&self->residual, &scaled, &self->correction, run);
        }
      measure (self);
    }

  truncation = bound_truncation (self);
  if (self->top != G_MININT64)
    {
      double sum = 0;

      for (i = 0; i < self->residual.n; i++)
        sum += self->leading[i] * self->leading[i];
      error = bound_error (self, 1.001 * sqrt (sum)) + self->top;
    }
  self->exact = error == G_MININT32 && truncation == G_MININT32;
  self->error = error;
  /* Where A is nearly singular, a residual says little. But a solution for it leaves only a part of the error, and so
   * does rounding that to a correction, which has no bit behind the last of x. */
  if (self->corrected && equations->ldlt != NULL)
    {
      gint64 part = MAX (equations->contraction, -CORRECTION_BITS) + 1 + before;
      gint64 unit = (gint64) g_bit_storage (self->x.n) - self->x.fraction;

      self->error = MIN (self->error, MAX (part, unit));
    }
  /* What the residual has lost counts in either. */
  self->error = MAX (self->error, truncation) + 1;

  return self->error < before - 2;
}

/* Powers of two that can be divided out of rows and columns, and the size of the determinant of what then is left,
 * which is at most the product of its diagonal (Hadamard). */
void
apr_normal_equations_apply_cramer (const AprNormalEquations *self, AprRefinement *refinement)
{
  const AprProducts *products = self->products;
  const gsize *features = self->independent;
  gsize n = self->n_independent;
  gint64 *content = refinement->grids = g_new (gint64, n);
  gint64 whole = G_MAXINT32;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      content[i] = apr_products_count_zeros (products, features[i], features[i]) / 2;
      for (j = 0; j < i; j++)
        {
          gint64 excess =
            content[i] + content[j] - apr_products_count_zeros (products, features[i], features[j]);

          if (excess > 0)
            content[content[i] > content[j] ? i : j] -= excess;
        }
    }
  for (i = 0; i < n; i++)
    {
      refinement->denominator_bits +=
        apr_products_get_bits (products, features[i], features[i]) - 2 * content[i];
      whole = MIN (whole, apr_products_count_zeros (products, refinement->column, features[i]) - content[i]);
    }
  for (i = 0; i < n; i++)
    content[i] -= whole;
}
