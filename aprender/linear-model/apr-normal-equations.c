/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-normal-equations-private.h"

#include <float.h>
#include <math.h>

#include "aprender/linear-model/apr-rounding-private.h"
#include "aprender/tensor/apr-double-double-private.h"

/* G b = c, where G and c are whole numbers. An approximate inverse of G, from a factorisation L D L' in
 * double-double, turns the exact residual c - G b into a correction of b; each correction brings some 100
 * bits less the logarithm of the condition number. So b can be had to any length, and its rounding to a
 * double is known for certain as soon as the error is too small to matter. Where it would matter for ever,
 * because b lies exactly halfway between two doubles or is exactly 0, Cramer's rule tells: b is a ratio of
 * two determinants, and a ratio that is closer to a dyadic number than the inverse of their common
 * denominator is equal to it.
 */
struct _AprNormalEquations
{
  gsize n_features;
  gsize n_targets;
  gboolean centred;
  mpz_t *products; /* (owned) lower triangle of the features' and the targets' products */
  mpz_t *sums;     /* (owned) the weights' sum, then those of the columns */

  gsize *independent; /* (owned) */
  gsize n_independent;
  gsize *dependent; /* (owned) */
  gsize n_dependent;

  AprDoubleDouble *factor; /* (owned) by position, lower triangle of L with D in place of the unit diagonal */
  gint64 *scale;           /* (owned) by position: the factorised matrix is G 2^-(scale + scale) */
  gint64 max_scale;        /* of all positions, 0 without any */
  gint64 *content;         /* (owned) by position: G 2^-(content + content) is still whole */
  gint64 determinant_bits; /* the determinant of that is below 2^this */
};

static gsize
triangle (gsize row, gsize column)
{
  return row >= column ? row * (row + 1) / 2 + column : column * (column + 1) / 2 + row;
}

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

/* @value 2^@exponent, to 106 bits at least. */
static AprDoubleDouble
double_double_from_integer (const mpz_t value, gint64 exponent)
{
  gint64 shift = (gint64) mpz_sizeinbase (value, 2) - 120;
  double high;
  double low;
  mpz_t part;
  mpz_t rest;

  if (mpz_sgn (value) == 0)
    return (AprDoubleDouble){ 0, 0 };

  mpz_init (part);
  mpz_init (rest);
  if (shift > 0)
    mpz_tdiv_q_2exp (part, value, (mp_bitcnt_t) shift);
  else
    {
      mpz_set (part, value);
      shift = 0;
    }
  high = mpz_get_d (part);
  mpz_set_d (rest, high);
  mpz_sub (rest, part, rest);
  low = mpz_get_d (rest);
  mpz_clear (part);
  mpz_clear (rest);

  exponent = CLAMP (exponent + shift, -4 * DBL_MAX_EXP, 4 * DBL_MAX_EXP);
  return apr_dd_quick_sum (ldexp (high, (gint) exponent), ldexp (low, (gint) exponent));
}

/* Adds @value 2^@exponent to @sum; less than 1 is lost. */
static void
add_double (mpz_t sum, double value, gint64 exponent)
{
  gint value_exponent;
  mpz_t addend;

  if (value == 0)
    return;

  mpz_init_set_d (addend, ldexp (frexp (value, &value_exponent), DBL_MANT_DIG));
  exponent += value_exponent - DBL_MANT_DIG;
  if (exponent >= 0)
    mpz_mul_2exp (addend, addend, (mp_bitcnt_t) exponent);
  else
    mpz_tdiv_q_2exp (addend, addend, (mp_bitcnt_t) -exponent);
  mpz_add (sum, sum, addend);
  mpz_clear (addend);
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
        mpz_t *entry = &self->products[triangle (i, j)];

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
  double moment = mpz_get_d_2exp (&exponent, self->products[triangle (feature, feature)]);
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

/* Sorts the features into independent, dependent and constant ones while it factorises: a column's pivot is
 * what is left of it when the columns before it have been taken out. */
static void
factorise (AprNormalEquations *self, AprExactSums *state, AprDType data_dtype)
{
  gsize p = self->n_features;
  double unit_roundoff = data_dtype == APR_DTYPE_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  double negligible = 16 * (double) p * (double) p * unit_roundoff * unit_roundoff;
  g_autofree AprDoubleDouble *unscaled = g_new (AprDoubleDouble, p);
  gsize feature;
  gsize i;
  gsize j;

  for (feature = 0; feature < p; feature++)
    {
      mpz_t *diagonal = &self->products[triangle (feature, feature)];
      gsize n = self->n_independent;
      AprDoubleDouble *row = self->factor + triangle (n, 0);
      gint64 scale = (gint64) mpz_sizeinbase (*diagonal, 2) / 2;
      AprDoubleDouble pivot = double_double_from_integer (*diagonal, -2 * scale);
      double whole = pivot.high;

      if (is_constant (self, state, feature, negligible))
        continue;

      for (i = 0; i < n; i++)
        {
          const AprDoubleDouble *factor = self->factor + triangle (i, 0);
          AprDoubleDouble sum = double_double_from_integer (
            self->products[triangle (feature, self->independent[i])], -(scale + self->scale[i]));

          for (j = 0; j < i; j++)
            sum = apr_dd_subtract (sum, apr_dd_multiply (unscaled[j], factor[j]));
          unscaled[i] = sum;
          row[i] = apr_dd_divide (sum, factor[i]);
          pivot = apr_dd_subtract (pivot, apr_dd_multiply (sum, row[i]));
        }

      if (pivot.high <= negligible * whole)
        {
          self->dependent[self->n_dependent++] = feature;
          continue;
        }

      row[n] = pivot;
      self->scale[n] = scale;
      self->max_scale = n == 0 ? scale : MAX (self->max_scale, scale);
      self->independent[n] = feature;
      self->n_independent++;
    }
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

      self->content[i] = (gint64) mpz_scan1 (self->products[triangle (row, row)], 0) / 2;
      for (j = 0; j < i; j++)
        {
          mpz_t *entry = &self->products[triangle (row, self->independent[j])];
          gint64 excess;

          if (mpz_sgn (*entry) == 0)
            continue;
          excess = self->content[i] + self->content[j] - (gint64) mpz_scan1 (*entry, 0);
          if (excess > 0)
            self->content[self->content[i] > self->content[j] ? i : j] -= excess;
        }
    }

  for (i = 0; i < self->n_independent; i++)
    bits += log2 (self->factor[triangle (i, i)].high) + 2 * (double) (self->scale[i] - self->content[i]);
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
  self->products = apr_integers_new (triangle (n_columns, 0));
  self->sums = apr_integers_new (1 + n_columns);
  self->independent = g_new (gsize, p);
  self->dependent = g_new (gsize, p);
  self->factor = g_new (AprDoubleDouble, triangle (p, 0));
  self->scale = g_new (gint64, p);
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

  apr_integers_free (self->products, triangle (self->n_features + self->n_targets, 0));
  apr_integers_free (self->sums, 1 + self->n_features + self->n_targets);
  g_free (self->independent);
  g_free (self->dependent);
  g_free (self->factor);
  g_free (self->scale);
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
  *n_dependent = self->n_dependent;

  return self->dependent;
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
      mpz_t *diagonal = &self->products[triangle (i, i)];

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

      mpz_set (self->right_side[i], equations->products[triangle (column, equations->independent[i])]);
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
                    equations->products[triangle (equations->independent[i], equations->independent[j])],
                    scaled);
    }
  mpz_clear (scaled);
}

static void
solve_factorised (AprNormalEquations *self, AprDoubleDouble *x)
{
  gsize n = self->n_independent;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    for (j = 0; j < i; j++)
      x[i] = apr_dd_subtract (x[i], apr_dd_multiply (self->factor[triangle (i, j)], x[j]));
  for (i = 0; i < n; i++)
    x[i] = apr_dd_divide (x[i], self->factor[triangle (i, i)]);
  for (i = n; i-- > 0;)
    for (j = i + 1; j < n; j++)
      x[i] = apr_dd_subtract (x[i], apr_dd_multiply (self->factor[triangle (j, i)], x[j]));
}

/* A correction is believed to 108 of its bits; the last of them that the factorisation gets right are what
 * remains to be corrected. A factor of 2^8 is allowed for the norms of vectors that are not the worst ones.
 */
#define CORRECTION_BITS 108
#define ERROR_ALLOWANCE 8
#define LEAST_GAIN 12

gboolean
apr_solution_refine (AprSolution *self)
{
  AprNormalEquations *equations = self->equations;
  mpz_t *residual = apr_integers_new (self->n);
  g_autofree AprDoubleDouble *correction = g_new (AprDoubleDouble, self->n);
  gint64 unit = self->fraction + equations->max_scale;
  gint64 top = G_MININT64;
  gint64 fraction;
  gint64 size;
  double norm = 0;
  gint norm_exponent;
  gsize i;

  compute_residual (self, residual);
  for (i = 0; i < self->n; i++)
    if (mpz_sgn (residual[i]) != 0)
      top = MAX (top, (gint64) mpz_sizeinbase (residual[i], 2) - unit - self->scale[i]);

  if (top == G_MININT64)
    {
      self->exact = TRUE;
      apr_integers_free (residual, self->n);
      return TRUE;
    }

  for (i = 0; i < self->n; i++)
    correction[i] = double_double_from_integer (residual[i], -unit - self->scale[i] - top);
  apr_integers_free (residual, self->n);
  solve_factorised (equations, correction);

  for (i = 0; i < self->n; i++)
    norm = MAX (norm, fabs (correction[i].high));
  if (norm == 0 || !isfinite (norm))
    return FALSE;
  (void) frexp (norm, &norm_exponent);
  size = top + norm_exponent;
  if (self->n_steps > 0 && size > self->last_size - LEAST_GAIN)
    return FALSE;

  fraction = MAX (self->fraction, CORRECTION_BITS - size);
  for (i = 0; i < self->n; i++)
    {
      mpz_mul_2exp (self->z[i], self->z[i], (mp_bitcnt_t) (fraction - self->fraction));
      add_double (self->z[i], correction[i].high, top + fraction);
      add_double (self->z[i], correction[i].low, top + fraction);
    }
  self->fraction = fraction;

  /* The first step knows nothing of how fast the corrections shrink. */
  self->error = size + ERROR_ALLOWANCE;
  if (self->n_steps > 0)
    self->error += MAX (size - self->last_size, 4 - CORRECTION_BITS);
  self->last_size = size;
  self->n_steps++;

  return TRUE;
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

/* E. H. Bareiss, "Sylvester's identity and multistep integer-preserving Gaussian elimination", 1968: every
 * quotient below is whole, and at the end each row reads determinant times unknown = right side. */
static gboolean
eliminate (mpz_t *matrix, gsize n)
{
  gsize width = n + 1;
  gboolean regular = TRUE;
  mpz_t previous;
  gsize i;
  gsize j;
  gsize k;

  mpz_init_set_ui (previous, 1);
  for (k = 0; k < n && regular; k++)
    {
      mpz_t *pivot = &matrix[k * width + k];

      regular = mpz_sgn (*pivot) > 0;
      for (i = 0; i < n && regular; i++)
        {
          mpz_t *row = matrix + i * width;

          if (i == k)
            continue;
          for (j = 0; j < width; j++)
            {
              if (j == k)
                continue;
              mpz_mul (row[j], row[j], *pivot);
              mpz_submul (row[j], row[k], matrix[k * width + j]);
              mpz_divexact (row[j], row[j], previous);
            }
          mpz_set_ui (row[k], 0);
        }
      mpz_set (previous, *pivot);
    }
  mpz_clear (previous);

  return regular;
}

gboolean
apr_solution_eliminate (
  AprSolution *self, gboolean fit_intercept, AprDType dtype, double *values, double *intercept)
{
  AprNormalEquations *equations = self->equations;
  gsize n = self->n;
  mpz_t *matrix = apr_integers_new (n * (n + 1));
  gboolean regular;
  mpz_t numerator;
  mpz_t denominator;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      for (j = 0; j < n; j++)
        mpz_set (matrix[i * (n + 1) + j],
                 equations->products[triangle (equations->independent[i], equations->independent[j])]);
      mpz_set (matrix[i * (n + 1) + n], self->right_side[i]);
    }

  regular = eliminate (matrix, n);
  if (regular && n > 0)
    {
      mpz_t *determinant = &matrix[n * (n + 1) - 2];

      mpz_init (numerator);
      mpz_init_set (denominator, *determinant);
      for (i = 0; i < n; i++)
        values[i] = apr_round_rational (matrix[i * (n + 1) + n], denominator, 0, dtype);

      if (fit_intercept)
        {
          mpz_mul (numerator, equations->sums[1 + self->column], denominator);
          for (i = 0; i < n; i++)
            mpz_submul (numerator, equations->sums[1 + equations->independent[i]], matrix[i * (n + 1) + n]);
          mpz_mul (denominator, denominator, equations->sums[0]);
          *intercept = apr_round_rational (numerator, denominator, 0, dtype);
        }
      mpz_clear (numerator);
      mpz_clear (denominator);
    }
  apr_integers_free (matrix, n * (n + 1));

  return regular;
}
