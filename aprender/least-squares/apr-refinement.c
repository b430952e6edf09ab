/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-refinement-private.h"

#include <math.h>
#include <string.h>

#include "aprender/least-squares/apr-rounding-private.h"
#include "aprender/base/apr-double-double-private.h"

/* Of what the intercept is worked out from in double-double. */
#define MAX_SUM_BITS 256
#define MAX_EXPONENT 300

void
apr_refinement_init (AprRefinement *self,
                     const AprProducts *products,
                     gsize column,
                     AprDType dtype,
                     const gsize *features,
                     gsize n)
{
  *self =
    (AprRefinement){ .products = products, .column = column, .dtype = dtype, .n = n, .features = features };
  self->exponents = g_new0 (gint64, n);
  self->error = G_MAXINT32;
}

void
apr_refinement_clear (AprRefinement *self)
{
  apr_fixed_clear (&self->x);
  g_clear_pointer (&self->exponents, g_free);
  g_clear_pointer (&self->grids, g_free);
}

gint64
apr_floor_log2 (double value)
{
  return value > 0 ? (gint64) ilogb (value) : G_MININT32;
}

static void
get_unknown (const AprRefinement *self, gsize position, mpz_t z)
{
  const gint64 *limbs = self->x.limbs + position * self->x.n_limbs;
  gsize n = self->x.n_limbs - self->top;
  g_autofree guint32 *digits = g_new (guint32, n);
  gint64 rest = 0;
  mpz_t above;
  gsize q;

  /* Digits that are not below 0, and what they leave above them. */
  for (q = n; q-- > 0;)
    {
      rest += limbs[self->top + q];
      digits[q] = (guint32) rest & ((1 << APR_SLICES_BITS) - 1);
      rest >>= APR_SLICES_BITS;
    }
  mpz_import (z, n, 1, sizeof *digits, 0, 8 * sizeof *digits - APR_SLICES_BITS, digits);
  if (rest == 0)
    return;

  mpz_init_set_d (above, (double) rest);
  mpz_mul_2exp (above, above, (mp_bitcnt_t) (APR_SLICES_BITS * n));
  mpz_add (z, z, above);
  mpz_clear (above);
}

/* The exponent of the last limb of x. */
static gint64
last_exponent (const AprRefinement *self)
{
  return -APR_SLICES_BITS * ((gint64) self->x.n_limbs - 1 - (gint64) self->x.lead);
}

/* Halfway between two floats, so that one rounding to double may hide which is nearer. */
static gboolean
is_between_floats (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);

  return (bits & 0x1fffffff) == 0x10000000;
}

/* An unknown's first five limbs, in units of 2^@exponent: within 2^-40, and what its error is, of x. False where there are
 * fewer, or the error is too large for that. */
static gboolean
get_leading (const AprRefinement *self, gsize position, AprDoubleDouble *leading, gint64 *exponent)
{
  const gint64 *limbs = self->x.limbs + position * self->x.n_limbs;
  gint64 whole;
  double rest;
  gsize q;

  for (q = self->top; q < self->x.n_limbs && limbs[q] == 0; q++)
    ;
  if (q + 5 > self->x.n_limbs)
    return FALSE;
  *exponent = -APR_SLICES_BITS * ((gint64) q + 2 - (gint64) self->x.lead);
  if (self->error - *exponent > 20 || ABS (limbs[q]) >= 1 << APR_SLICES_BITS)
    return FALSE;

  whole = (limbs[q] * (1 << APR_SLICES_BITS) + limbs[q + 1]) * (1 << APR_SLICES_BITS) + limbs[q + 2];
  rest = ((double) limbs[q + 3] + (double) limbs[q + 4] * (1.0 / (1 << APR_SLICES_BITS))) *
         (1.0 / (1 << APR_SLICES_BITS));
  *leading = apr_dd_quick_sum ((double) whole, (double) (whole - (gint64) (double) whole) + rest);
  return TRUE;
}

/* How far an unknown may be from its first five limbs, in their units. */
static double
bound_leading (const AprRefinement *self, gint64 exponent)
{
  return 0x1p-40 + ldexp (1, (gint) MAX (self->error - exponent, -100));
}

/* Rounds @value 2^@exponent where all that is within @error of @value is rounded alike. */
static gboolean
round_leading (
  const AprRefinement *self, AprDoubleDouble value, double error, gint64 exponent, double *rounded)
{
  gboolean narrow = self->dtype == APR_DTYPE_F32;
  double least = value.high + (value.low - error);
  double most = value.high + (value.low + error);

  if (least != most || exponent < (narrow ? -120 : -1000) || exponent > (narrow ? 60 : 900) ||
      (narrow && is_between_floats (least)))
    return FALSE;

  *rounded = ldexp (narrow ? (double) (float) least : least, (gint) exponent);
  return TRUE;
}

/* Where it is not @last, @value is not set if more steps are sure to be needed. */
static gboolean
round_unknown (const AprRefinement *self, gsize position, gboolean last, double *value)
{
  AprDoubleDouble leading;
  AprApproximation unknown;
  gint64 exponent;
  gboolean rounded;

  if (get_leading (self, position, &leading, &exponent))
    {
      double error = bound_leading (self, exponent);

      if (round_leading (self, leading, error, exponent + self->exponents[position], value))
        return TRUE;
      /* The long way knows the error better by 2^-40 only, and the grids. */
      if (!last && error > 0x1p-36 && self->grids == NULL)
        return FALSE;
    }

  mpz_init (unknown.significand);
  get_unknown (self, position, unknown.significand);
  unknown.exponent = last_exponent (self) + self->exponents[position];
  if (self->exact)
    {
      *value = apr_round_dyadic (unknown.significand, unknown.exponent, self->dtype);
      rounded = TRUE;
    }
  else
    {
      unknown.error = self->error + self->exponents[position];
      unknown.grid = self->grids != NULL ? self->grids[position] : 0;
      unknown.denominator_bits = self->grids != NULL ? self->denominator_bits : G_MAXINT32;
      rounded = apr_approximation_round (&unknown, self->dtype, value);
      if (!rounded)
        *value = apr_approximation_guess (&unknown, self->dtype);
    }
  mpz_clear (unknown.significand);

  return rounded;
}

/* Errs by a few units of 2^-104. */
static AprDoubleDouble
lead_integer (const mpz_t integer)
{
  const mp_limb_t *limbs = mpz_limbs_read (integer);
  const double base = ldexp (1, GMP_NUMB_BITS / 2);
  AprDoubleDouble sum = { 0 };
  gsize i;

  for (i = mpz_size (integer); i-- > 0;)
    {
      sum = apr_dd_add (sum, (AprDoubleDouble){ (double) (limbs[i] >> (GMP_NUMB_BITS / 2)), 0 });
      sum.high *= base;
      sum.low *= base;
      sum = apr_dd_add (
        sum, (AprDoubleDouble){ (double) (limbs[i] & (((mp_limb_t) 1 << (GMP_NUMB_BITS / 2)) - 1)), 0 });
      if (i > 0)
        {
          sum.high *= base;
          sum.low *= base;
        }
    }

  return mpz_sgn (integer) < 0 ? apr_dd_negate (sum) : sum;
}

/* The intercept in double-double, which is enough as a rule. */
static gboolean
round_intercept_quickly (const AprRefinement *self, double *value)
{
  mpz_t *sums = self->products->sums;
  AprDoubleDouble weight;
  AprDoubleDouble sum;
  double size;
  double error = 0;
  gsize i;

  /* No number is then so large or so small that a double cannot hold it, nor what an operation with it leaves. */
  if (mpz_sizeinbase (sums[0], 2) > MAX_SUM_BITS || mpz_sizeinbase (sums[1 + self->column], 2) > MAX_SUM_BITS)
    return FALSE;

  weight = lead_integer (sums[0]);
  sum = lead_integer (sums[1 + self->column]);
  size = fabs (sum.high);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *feature = &sums[1 + self->features[i]];
      AprDoubleDouble factor;
      AprDoubleDouble leading;
      gint64 exponent;
      double unit;

      if (mpz_sizeinbase (*feature, 2) > MAX_SUM_BITS || !get_leading (self, i, &leading, &exponent) ||
          ABS (exponent + self->exponents[i]) > MAX_EXPONENT)
        return FALSE;
      unit = ldexp (1, (gint) (exponent + self->exponents[i]));
      factor = lead_integer (*feature);
      factor.high *= unit;
      factor.low *= unit;
      leading = apr_dd_multiply (factor, leading);
      size += fabs (leading.high);
      error += fabs (factor.high) * bound_leading (self, exponent);
      sum = apr_dd_subtract (sum, leading);
    }

  /* The errors of the operations are below 2^-103 of the parts for each, and below 2^-100 of the quotient. */
  error = (error + ((double) self->n + 64) * 0x1p-102 * size) / weight.high;
  sum = apr_dd_divide (sum, weight);
  if (!(fabs (sum.high) > 0x1p-100 && fabs (sum.high) < 0x1p100))
    return FALSE;

  return round_leading (self, sum, 1.001 * error + fabs (sum.high) * 0x1p-100, 0, value);
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights. */
static gboolean
round_intercept (const AprRefinement *self, double *value)
{
  mpz_t *sums = self->products->sums;
  gint64 weight_bits = (gint64) mpz_sizeinbase (sums[0], 2);
  gint64 sum_bits = G_MININT32;
  gint64 unit = 0;
  gboolean rounded = TRUE;
  AprApproximation intercept = { .denominator_bits = G_MAXINT32 };
  mpz_t part;
  gsize i;

  if (round_intercept_quickly (self, value))
    return TRUE;

  for (i = 0; i < self->n; i++)
    unit = MIN (unit, last_exponent (self) + self->exponents[i]);

  mpz_init (part);
  mpz_init (intercept.significand);
  mpz_mul_2exp (intercept.significand, sums[1 + self->column], (mp_bitcnt_t) -unit);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *sum = &sums[1 + self->features[i]];

      if (mpz_sgn (*sum) == 0)
        continue;
      get_unknown (self, i, part);
      mpz_mul_2exp (part, part, (mp_bitcnt_t) (last_exponent (self) + self->exponents[i] - unit));
      mpz_submul (intercept.significand, part, *sum);
      sum_bits = MAX (sum_bits, (gint64) mpz_sizeinbase (*sum, 2) + self->exponents[i]);
      if (self->grids != NULL)
        intercept.grid = MAX (intercept.grid, self->grids[i]);
    }

  if (self->exact || sum_bits == G_MININT32)
    *value = apr_round_rational (intercept.significand, sums[0], unit, self->dtype);
  else
    {
      gint64 shift;

      /* The error is that of the sum of n products, and what the division cuts off. */
      intercept.error = self->error + sum_bits + (gint64) g_bit_storage (self->n) - (weight_bits - 1) + 1;
      if (self->grids != NULL)
        intercept.denominator_bits = self->denominator_bits + weight_bits;
      shift = MAX (0, unit - intercept.error);
      mpz_mul_2exp (intercept.significand, intercept.significand, (mp_bitcnt_t) shift);
      mpz_tdiv_q (intercept.significand, intercept.significand, sums[0]);
      intercept.exponent = unit - shift;
      intercept.error = MAX (intercept.error, intercept.exponent) + 1;
      rounded = apr_approximation_round (&intercept, self->dtype, value);
      if (!rounded)
        *value = apr_approximation_guess (&intercept, self->dtype);
    }

  mpz_clear (part);
  mpz_clear (intercept.significand);
  return rounded;
}

gboolean
apr_refinement_run (
  AprRefinement *self, AprRefinementStep step, gpointer data, double *coefficients, double *intercept)
{
  gboolean certain = FALSE;
  gboolean more = TRUE;
  gsize doubted = 0;
  gsize i;

  while (more && !certain)
    {
      more = step (self, data) && !self->exact;
      self->top = apr_fixed_carry (&self->x);

      /* The one that was in doubt first. */
      if (more && doubted < self->n && !round_unknown (self, doubted, FALSE, &coefficients[doubted]))
        continue;
      certain = TRUE;
      for (i = 0; i < self->n && (certain || !more); i++)
        if (!round_unknown (self, i, !more, &coefficients[i]))
          {
            certain = FALSE;
            doubted = i;
          }
      if (self->products->centred && (certain || !more))
        certain = round_intercept (self, intercept) && certain;
    }

  return certain;
}
