/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-normal-equations-private.h"

#include <float.h>
#include <math.h>

#include "aprender/linear-model/apr-factor-private.h"
#include "aprender/linear-model/apr-rounding-private.h"

/* G b = c, where G and c are whole numbers. An approximate inverse of G, from a factorisation L D L', turns the exact residual
 * c - G b into a correction of b, and a bound on the inverse turns the same residual into a bound on the error that is left.
 * So b can be had to any length, and its rounding to a double is known for certain as soon as the error is too small to
 * matter. Where it would matter for ever, because b lies exactly halfway between two doubles or is exactly 0, Cramer's rule
 * tells: b is a ratio of two determinants, and a ratio that is closer to a dyadic number than the inverse of their
 * common denominator is equal to it.
 */
struct _AprNormalEquations
{
  gsize n_features;
  gsize n_targets;
  gboolean centred;
  mpz_t *products; /* (owned) lower triangle of the features' and the targets' products */
  mpz_t *sums;     /* (owned) the weights' sum, then those of the columns */

  AprFactor *factor;        /* (owned) */
  const gsize *independent; /* (unowned) the factor's */
  gsize n_independent;
  const gint64 *scale;     /* (unowned) the factor's */
  gint64 max_scale;        /* of all positions, 0 without any */
  gint64 *content;         /* (owned) by position: G 2^-(content + content) is still whole */
  gint64 determinant_bits; /* the determinant of that is below 2^this */
};

mpz_t *
apr_integers_new (gsize n)
{
  mpz_t *integers = g_new (mpz_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpz_init (integers[i]);

  return integers;
}

void
apr_integers_free (mpz_t *integers, gsize n)
{
  gsize i;

  if (integers == NULL)
    return;

  for (i = 0; i < n; i++)
    mpz_clear (integers[i]);
  g_free (integers);
}

static void
load_products (AprNormalEquations *self, AprExactSums *state)
{
  gsize n_columns = self->n_features + self->n_targets;
  mpz_t product;
  gsize i;
  gsize j;

  mpz_init (product);
  for (i = 0; i <= n_columns && self->centred; i++)
    apr_exact_sums_get_entry (state, i, 0, self->sums[i]);

  for (i = 0; i < n_columns; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_t *entry = &self->products[apr_triangle (i, j)];

        apr_exact_sums_get_entry (state, 1 + i, 1 + j, *entry);
        if (!self->centred)
          continue;

        /* The centred products, times the sum of the weights: no division, no rounding. */
        mpz_mul (*entry, *entry, self->sums[0]);
        mpz_mul (product, self->sums[1 + i], self->sums[1 + j]);
        mpz_sub (*entry, *entry, product);
      }
  mpz_clear (product);
}

/* Whether the centred second moment of @feature is nothing but what rounding of its values can make of a
 * constant. */
static gboolean
is_constant (AprNormalEquations *self, AprExactSums *state, gsize feature, double negligible)
{
  signed long exponent;
  signed long raw_exponent;
  double moment = mpz_get_d_2exp (&exponent, self->products[apr_triangle (feature, feature)]);
  double raw;
  mpz_t value;

  if (moment <= 0)
    return TRUE;
  if (!self->centred)
    return FALSE;

  mpz_init (value);
  apr_exact_sums_get_entry (state, 1 + feature, 1 + feature, value);
  mpz_mul (value, value, self->sums[0]);
  raw = mpz_get_d_2exp (&raw_exponent, value);
  mpz_clear (value);

  return ldexp (moment / raw, (gint) MAX (exponent - raw_exponent, -4 * DBL_MAX_EXP)) < negligible;
}

static void
factorise (AprNormalEquations *self, AprExactSums *state, AprDType data_dtype)
{
  gsize p = self->n_features;
  double unit_roundoff = data_dtype == APR_DTYPE_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  double negligible = 16 * (double) p * (double) p * unit_roundoff * unit_roundoff;
  g_autofree gboolean *constant = g_new (gboolean, p);
  gsize i;

  for (i = 0; i < p; i++)
    constant[i] = is_constant (self, state, i, negligible);

  self->factor = apr_factor_new (self->products, p, constant, negligible);
  self->independent = apr_factor_get_independent (self->factor, &self->n_independent);
  self->scale = apr_factor_get_scales (self->factor);
  for (i = 0; i < self->n_independent; i++)
    self->max_scale = i == 0 ? self->scale[i] : MAX (self->max_scale, self->scale[i]);
}

/* Powers of two that can be divided out of rows and columns, and the size of the determinant of what then is
 * left. */
static void
bound_determinant (AprNormalEquations *self)
{
  double bits = 1;
  gsize i;
  gsize j;

  for (i = 0; i < self->n_independent; i++)
    {
      gsize row = self->independent[i];

      self->content[i] = (gint64) mpz_scan1 (self->products[apr_triangle (row, row)], 0) / 2;
      for (j = 0; j < i; j++)
        {
          mpz_t *entry = &self->products[apr_triangle (row, self->independent[j])];
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
apr_normal_equations_new (AprExactSums *state, gboolean fit_intercept, AprDType data_dtype)
{
  AprNormalEquations *self = g_new0 (AprNormalEquations, 1);
  gsize p = apr_exact_sums_get_n_features (state);
  gsize n_columns = p + apr_exact_sums_get_n_targets (state);

  self->n_features = p;
  self->n_targets = apr_exact_sums_get_n_targets (state);
  self->centred = fit_intercept;
  self->products = apr_integers_new (apr_triangle (n_columns, 0));
  self->sums = apr_integers_new (1 + n_columns);
  self->content = g_new (gint64, p);

  load_products (self, state);
  factorise (self, state, data_dtype);
  bound_determinant (self);

  return self;
}

void
apr_normal_equations_free (AprNormalEquations *self)
{
  if (self == NULL)
    return;

  apr_integers_free (self->products, apr_triangle (self->n_features + self->n_targets, 0));
  apr_integers_free (self->sums, 1 + self->n_features + self->n_targets);
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

void
apr_normal_equations_get_sums (AprNormalEquations *self, gsize column, mpz_t weights, mpz_t sum)
{
  mpz_set (weights, self->sums[0]);
  mpz_set (sum, self->sums[1 + column]);
}

gint64
apr_normal_equations_get_spread (AprNormalEquations *self)
{
  gint64 least = G_MAXINT64;
  gint64 most = 0;
  gsize i;

  for (i = 0; i < self->n_features; i++)
    {
      mpz_t *diagonal = &self->products[apr_triangle (i, i)];

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

      mpz_set (self->right_side[i], equations->products[apr_triangle (column, equations->independent[i])]);
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
                    equations->products[apr_triangle (equations->independent[i], equations->independent[j])],
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
  gint64 weight_bits = (gint64) mpz_sizeinbase (equations->sums[0], 2);
  gint64 sum_bits = G_MININT32;
  gint64 shift;
  gboolean rounded = TRUE;
  AprApproximation intercept;
  mpz_t part;
  gsize i;

  mpz_init (part);
  mpz_init (intercept.significand);
  intercept.grid = 0;

  mpz_mul_2exp (intercept.significand, equations->sums[1 + self->column], (mp_bitcnt_t) unit);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *sum = &equations->sums[1 + equations->independent[i]];

      mpz_mul_2exp (part, self->z[i], (mp_bitcnt_t) (equations->max_scale - self->scale[i]));
      mpz_submul (intercept.significand, part, *sum);
      sum_bits = MAX (sum_bits, (gint64) mpz_sizeinbase (*sum, 2) - self->scale[i]);
      intercept.grid = MAX (intercept.grid, equations->content[i] - self->grid);
    }

  if (self->exact)
    *value = apr_round_rational (intercept.significand, equations->sums[0], -unit, dtype);
  else
    {
      /* The error is that of the sum of @n products, and what the division cuts off. */
      intercept.error = self->error + sum_bits + g_bit_storage (self->n) - (weight_bits - 1) + 1;
      intercept.denominator_bits = equations->determinant_bits + weight_bits;
      shift = MAX (0, -unit - intercept.error);
      mpz_mul_2exp (intercept.significand, intercept.significand, (mp_bitcnt_t) shift);
      mpz_tdiv_q (intercept.significand, intercept.significand, equations->sums[0]);
      intercept.exponent = -unit - shift;
      intercept.error = MAX (intercept.error, intercept.exponent) + 1;
      rounded = apr_approximation_round (&intercept, dtype, value);
    }

  mpz_clear (part);
  mpz_clear (intercept.significand);
  return rounded;
}
