/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-normal-equations-private.h"

#include <math.h>

#include "aprender/least-squares/apr-factor-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

/* G b = c, where G and c are whole numbers. An approximate inverse of G, from a factorisation L D L', turns the exact residual
 * c - G b into a correction of b, and a bound on the inverse turns the same residual into a bound on the error that is left.
 * So b can be had to any length, and its rounding to a double is known for certain as soon as the error is too small to
 * matter. Where it would matter for ever, because b lies exactly halfway between two doubles or is exactly 0, Cramer's rule
 * tells: b is a ratio of two determinants, and a ratio that is closer to a dyadic number than the inverse of their
 * common denominator is equal to it.
 */
struct _AprNormalEquations
{
  const AprProducts *products; /* (unowned) */
  gsize n_entries;
  mpz_t *integers; /* (owned) lower triangle of the features' and the targets' products */

  AprFactor *factor;        /* (owned) */
  const gsize *independent; /* (unowned) the factor's */
  gsize n_independent;
  const gint64 *scale;     /* (unowned) the factor's */
  gint64 max_scale;        /* of all positions, 0 without any */
  gint64 *content;         /* (owned) by position: G 2^-(content + content) is still whole */
  gint64 determinant_bits; /* the determinant of that is below 2^this */
};

/* Powers of two that can be divided out of rows and columns, and the size of the determinant of what then is
 * left. */
static void
bound_determinant (AprNormalEquations *self)
{
  /* Rounding has changed the pivots by less than a thousandth each. */
  double bits = 1 + (double) self->n_independent * 0x1p-9;
  gsize i;
  gsize j;

  for (i = 0; i < self->n_independent; i++)
    {
      gsize row = self->independent[i];

      self->content[i] = (gint64) mpz_scan1 (self->integers[apr_triangle (row, row)], 0) / 2;
      for (j = 0; j < i; j++)
        {
          mpz_t *entry = &self->integers[apr_triangle (row, self->independent[j])];
          gint64 excess;

          if (mpz_sgn (*entry) == 0)
            continue;
          excess = self->content[i] + self->content[j] - (gint64) mpz_scan1 (*entry, 0);
          if (excess > 0)
            self->content[self->content[i] > self->content[j] ? i : j] -= excess;
        }
    }

  for (i = 0; i < self->n_independent; i++)
    bits += apr_factor_get_log2_pivot (self->factor, i) + 2 * (double) (self->scale[i] - self->content[i]);
  self->determinant_bits = (gint64) ceil (bits);
}

AprNormalEquations *
apr_normal_equations_new (const AprProducts *products, const gboolean *left_out, double negligible)
{
  AprNormalEquations *self = g_new0 (AprNormalEquations, 1);
  gsize n_columns = products->n_features + products->n_targets;
  gsize i;
  gsize j;

  self->products = products;
  self->n_entries = apr_triangle (n_columns, 0);
  self->integers = apr_integers_new (self->n_entries);
  for (i = 0; i < n_columns; i++)
    for (j = 0; j <= i; j++)
      apr_products_get_integer (products, i, j, self->integers[apr_triangle (i, j)]);

  self->factor = apr_factor_new (self->integers, products->n_features, left_out, negligible);
  self->independent = apr_factor_get_independent (self->factor, &self->n_independent);
  self->scale = apr_factor_get_scales (self->factor);
  for (i = 0; i < self->n_independent; i++)
    self->max_scale = i == 0 ? self->scale[i] : MAX (self->max_scale, self->scale[i]);
  self->content = g_new (gint64, products->n_features);
  bound_determinant (self);

  return self;
}

void
apr_normal_equations_free (AprNormalEquations *self)
{
  if (self == NULL)
    return;

  apr_integers_free (self->integers, self->n_entries);
  apr_factor_free (self->factor);
  g_free (self->content);
  g_free (self);
}

const gsize *
apr_normal_equations_get_independent (AprNormalEquations *self, gsize *n_independent)
{
  *n_independent = self->n_independent;

  return self->independent;
}

const gsize *
apr_normal_equations_get_dependent (AprNormalEquations *self, gsize *n_dependent)
{
  return apr_factor_get_dependent (self->factor, n_dependent);
}

gboolean
apr_normal_equations_find_negative (AprNormalEquations *self, gsize *feature)
{
  return apr_factor_find_negative (self->factor, feature);
}

const gint64 *
apr_normal_equations_get_scales (AprNormalEquations *self)
{
  return self->scale;
}

void
apr_normal_equations_divide (AprNormalEquations *self, double *x)
{
  apr_factor_divide (self->factor, x);
}

gint64
apr_normal_equations_get_spread (AprNormalEquations *self)
{
  gint64 least = G_MAXINT64;
  gint64 most = 0;
  gsize i;

  for (i = 0; i < self->products->n_features; i++)
    {
      mpz_t *diagonal = &self->integers[apr_triangle (i, i)];

      if (mpz_sgn (*diagonal) <= 0)
        continue;
      least = MIN (least, (gint64) mpz_sizeinbase (*diagonal, 2));
      most = MAX (most, (gint64) mpz_sizeinbase (*diagonal, 2));
    }

  return most > 0 ? (most - least) / 2 : 0;
}

void
apr_solution_init (AprSolution *self, AprNormalEquations *equations, gsize column)
{
  gboolean any = FALSE;
  gsize i;

  *self = (AprSolution){ 0 };
  self->equations = equations;
  self->column = column;
  self->n = equations->n_independent;
  self->right_side = apr_integers_new (self->n);
  self->z = apr_integers_new (self->n);
  self->scale = equations->scale;
  self->fraction = -equations->max_scale;

  for (i = 0; i < self->n; i++)
    {
      gint64 whole;

      mpz_set (self->right_side[i], equations->integers[apr_triangle (column, equations->independent[i])]);
      if (mpz_sgn (self->right_side[i]) == 0)
        continue;
      whole = (gint64) mpz_scan1 (self->right_side[i], 0) - equations->content[i];
      self->grid = any ? MIN (self->grid, whole) : whole;
      any = TRUE;
    }
}

void
apr_solution_clear (AprSolution *self)
{
  apr_integers_free (self->right_side, self->n);
  apr_integers_free (self->z, self->n);
}

/* residual = (right_side - G b) 2^(fraction + max_scale), which is whole. */
static void
compute_residual (AprSolution *self, mpz_t *residual)
{
  AprNormalEquations *equations = self->equations;
  mpz_t scaled;
  gsize i;
  gsize j;

  mpz_init (scaled);
  for (i = 0; i < self->n; i++)
    mpz_mul_2exp (residual[i], self->right_side[i], (mp_bitcnt_t) (self->fraction + equations->max_scale));

  for (j = 0; j < self->n; j++)
    {
      if (mpz_sgn (self->z[j]) == 0)
        continue;
      mpz_mul_2exp (scaled, self->z[j], (mp_bitcnt_t) (equations->max_scale - self->scale[j]));
      for (i = 0; i < self->n; i++)
        mpz_submul (residual[i],
                    equations->integers[apr_triangle (equations->independent[i], equations->independent[j])],
                    scaled);
    }
  mpz_clear (scaled);
}

void
apr_solution_refine (AprSolution *self)
{
  AprNormalEquations *equations = self->equations;
  mpz_t *residual = apr_integers_new (self->n);
  gint64 unit = self->fraction + equations->max_scale;
  gint64 top = G_MININT64;
  gint64 fraction;
  gsize i;

  compute_residual (self, residual);
  for (i = 0; i < self->n; i++)
    if (mpz_sgn (residual[i]) != 0)
      top = MAX (top, (gint64) mpz_sizeinbase (residual[i], 2) - unit - self->scale[i]);

  self->exact = top == G_MININT64;
  if (!self->exact)
    {
      gint64 inverse_bits = apr_factor_get_inverse_bits (equations->factor);

      /* The residual bounds the error before the correction, and the contraction what is left of it. The correction is cut
       * so far behind that the next residual speaks of this error, not of the cut. */
      self->error = top + inverse_bits + apr_factor_get_contraction (equations->factor) + 1;
      fraction = MAX (self->fraction, inverse_bits + (gint64) g_bit_storage (self->n) + 4 - self->error);
      for (i = 0; i < self->n; i++)
        mpz_mul_2exp (self->z[i], self->z[i], (mp_bitcnt_t) (fraction - self->fraction));
      self->fraction = fraction;
      apr_factor_correct (equations->factor, residual, unit, top, self->z, fraction);
    }
  apr_integers_free (residual, self->n);
}

gboolean
apr_solution_round (AprSolution *self, gsize position, AprDType dtype, double *value)
{
  AprNormalEquations *equations = self->equations;
  AprApproximation unknown;
  gboolean rounded;

  if (self->exact)
    {
      *value = apr_round_dyadic (self->z[position], -(self->fraction + self->scale[position]), dtype);
      return TRUE;
    }

  mpz_init_set (unknown.significand, self->z[position]);
  unknown.exponent = -(self->fraction + self->scale[position]);
  unknown.error = self->error - self->scale[position];
  unknown.grid = equations->content[position] - self->grid;
  unknown.denominator_bits = equations->determinant_bits;
  rounded = apr_approximation_round (&unknown, dtype, value);
  mpz_clear (unknown.significand);

  return rounded;
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights.
 */
gboolean
apr_solution_round_intercept (AprSolution *self, AprDType dtype, double *value)
{
  AprNormalEquations *equations = self->equations;
  gint64 unit = self->fraction + equations->max_scale;
  gint64 weight_bits = (gint64) mpz_sizeinbase (equations->products->sums[0], 2);
  gint64 sum_bits = G_MININT32;
  gint64 shift;
  gboolean rounded = TRUE;
  AprApproximation intercept;
  mpz_t part;
  gsize i;

  mpz_init (part);
  mpz_init (intercept.significand);
  intercept.grid = 0;

  mpz_mul_2exp (intercept.significand, equations->products->sums[1 + self->column], (mp_bitcnt_t) unit);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *sum = &equations->products->sums[1 + equations->independent[i]];

      mpz_mul_2exp (part, self->z[i], (mp_bitcnt_t) (equations->max_scale - self->scale[i]));
      mpz_submul (intercept.significand, part, *sum);
      sum_bits = MAX (sum_bits, (gint64) mpz_sizeinbase (*sum, 2) - self->scale[i]);
      intercept.grid = MAX (intercept.grid, equations->content[i] - self->grid);
    }

  if (self->exact)
    *value = apr_round_rational (intercept.significand, equations->products->sums[0], -unit, dtype);
  else
    {
      /* The error is that of the sum of @n products, and what the division cuts off. */
      intercept.error = self->error + sum_bits + g_bit_storage (self->n) - (weight_bits - 1) + 1;
      intercept.denominator_bits = equations->determinant_bits + weight_bits;
      shift = MAX (0, -unit - intercept.error);
      mpz_mul_2exp (intercept.significand, intercept.significand, (mp_bitcnt_t) shift);
      mpz_tdiv_q (intercept.significand, intercept.significand, equations->products->sums[0]);
      intercept.exponent = -unit - shift;
      intercept.error = MAX (intercept.error, intercept.exponent) + 1;
      rounded = apr_approximation_round (&intercept, dtype, value);
    }

  mpz_clear (part);
  mpz_clear (intercept.significand);
  return rounded;
}
