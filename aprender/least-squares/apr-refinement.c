/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-refinement-private.h"

#include <math.h>

#include "aprender/least-squares/apr-rounding-private.h"

/* Bits that Cramer's rule needs beyond its own count: those of a sum, and of a division. */
#define SPARE_BITS 64

/* Of a long coefficient: it may be a fourth of 2^(its bits). */
#define LONG_SPARE_BITS 2

void
apr_refinement_init (AprRefinement *self,
                     const AprProducts *products,
                     gsize column,
                     AprDType dtype,
                     const gsize *features,
                     gsize n,
                     const AprRun *run)
{
  *self = (AprRefinement){
    .products = products, .column = column, .dtype = dtype, .run = run, .n = n, .features = features
  };
  self->exponents = g_new0 (gint64, n);
  self->error = G_MAXINT32;
}

void
apr_refinement_clear (AprRefinement *self)
{
  g_clear_pointer (&self->exponents, g_free);
  g_clear_pointer (&self->grids, g_free);
}

gint64
apr_floor_log2 (double value)
{
  return value > 0 ? (gint64) ilogb (value) : G_MININT32;
}

/* Returns b such that the sum of the column of unknown @i times its coefficient is below 2^b times the unknown. */
static gint64
get_sum_exponent (const AprRefinement *self, gsize i)
{
  mpz_t *sum = &self->products->sums[1 + self->features[i]];

  return mpz_sgn (*sum) != 0 ? (gint64) mpz_sizeinbase (*sum, 2) + self->exponents[i] : G_MININT32;
}

gint64
apr_refinement_count_bits (const AprRefinement *self)
{
  /* Halfway between two numbers there is a multiple of half the smallest one. */
  gint64 smallest = -apr_rounding_get_smallest_exponent (self->dtype) + 1;
  gint64 max_grid = smallest;
  gint64 max_sum = 0;
  gint64 bits = 0;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      max_grid = MAX (max_grid, self->grids[i]);
      max_sum = MAX (max_sum, self->products->centred ? get_sum_exponent (self, i) : 0);
      bits = MAX (bits, self->exponents[i] + (self->wanted != NULL ? self->grids[i] + self->wanted->bits
                                                                   : MAX (smallest, self->grids[i])));
    }
  if (self->products->centred && self->wanted == NULL)
    bits = MAX (bits, max_grid + max_sum);

  return bits + self->denominator_bits + (gint64) g_bit_storage (self->n) + SPARE_BITS;
}

/* Returns whether the coefficient is known to as many bits as are wanted, or known to be 0. */
static gboolean
keep_unknown (const AprRefinement *self, gsize i)
{
  gsize feature = self->features[i];
  gint64 bits = apr_fixed_get_exponent (self->x, i);

  apr_limbs_get_integer (apr_fixed_get (self->x, i), self->x->n_limbs, self->wanted->significands[feature]);
  self->wanted->exponents[feature] = self->exponents[i] - self->x->fraction;
  if (self->exact)
    return TRUE;
  if (bits > self->error)
    return bits - LONG_SPARE_BITS - self->wanted->bits >= self->error;

  mpz_set_ui (self->wanted->significands[feature], 0);
  return self->grids != NULL &&
         self->error + self->exponents[i] + 1 < -(self->denominator_bits + self->grids[i]);
}

/* Where it is not @last, @value is not set if more steps are sure to be needed. */
static gboolean
round_unknown (const AprRefinement *self, gsize i, gboolean last, double *value)
{
  const mp_limb_t *limbs = apr_fixed_get (self->x, i);
  AprApproximation unknown = { .exponent = self->exponents[i] - self->x->fraction,
                               .error = self->error + self->exponents[i],
                               .denominator_bits = G_MAXINT32 };
  gboolean rounded;

  if (self->wanted != NULL)
    return keep_unknown (self, i);
  if (!self->exact &&
      apr_round_leading (limbs, self->x->n_limbs, unknown.exponent, unknown.error, self->dtype, value))
    return TRUE;
  if (!last && self->grids == NULL)
    return FALSE;

  mpz_init (unknown.significand);
  apr_limbs_get_integer (limbs, self->x->n_limbs, unknown.significand);
  if (self->exact)
    {
      *value = apr_round_dyadic (unknown.significand, unknown.exponent, self->dtype);
      rounded = TRUE;
    }
  else
    {
      if (self->grids != NULL)
        {
          unknown.grid = self->grids[i];
          unknown.denominator_bits = self->denominator_bits;
        }
      rounded = apr_approximation_round (&unknown, self->dtype, value);
      if (!rounded)
        *value = apr_approximation_guess (&unknown, self->dtype);
    }
  mpz_clear (unknown.significand);

  return rounded;
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights. */
static gboolean
round_intercept (const AprRefinement *self, double *value)
{
  mpz_t *sums = self->products->sums;
  gint64 weight_bits = (gint64) mpz_sizeinbase (sums[0], 2);
  gint64 sum_exponent = G_MININT32;
  gint64 unit = 0;
  gint64 room = 2 * GMP_NUMB_BITS + (gint64) mpz_sizeinbase (sums[1 + self->column], 2);
  gboolean rounded = TRUE;
  AprApproximation intercept = { .denominator_bits = G_MAXINT32 };
  mpz_t part;
  gsize i;

  for (i = 0; i < self->n; i++)
    unit = MIN (unit, self->exponents[i] - self->x->fraction);

  /* Where all is about as large as the greatest term, nothing is allocated again. */
  room += MAX (-unit, 0);
  mpz_init2 (part, (mp_bitcnt_t) room);
  mpz_init2 (intercept.significand, (mp_bitcnt_t) room);
  mpz_mul_2exp (intercept.significand, sums[1 + self->column], (mp_bitcnt_t) -unit);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *sum = &sums[1 + self->features[i]];

      if (mpz_sgn (*sum) == 0)
        continue;
      apr_limbs_get_integer (apr_fixed_get (self->x, i), self->x->n_limbs, part);
      mpz_mul_2exp (part, part, (mp_bitcnt_t) (self->exponents[i] - self->x->fraction - unit));
      mpz_submul (intercept.significand, part, *sum);
      sum_exponent = MAX (sum_exponent, get_sum_exponent (self, i));
      if (self->grids != NULL)
        intercept.grid = MAX (intercept.grid, self->grids[i]);
    }

  if (self->exact || sum_exponent == G_MININT32)
    *value = apr_round_rational (intercept.significand, sums[0], unit, self->dtype);
  else
    {
      gint64 shift;

      /* The error is that of the sum of n products, and what the division cuts off. */
      intercept.error = self->error + sum_exponent + (gint64) g_bit_storage (self->n) - (weight_bits - 1) + 1;
      if (self->grids != NULL)
        intercept.denominator_bits = self->denominator_bits + weight_bits;
      shift = MAX (0, unit - intercept.error);
      mpz_mul_2exp (intercept.significand, intercept.significand, (mp_bitcnt_t) shift);
      mpz_tdiv_q (intercept.significand, intercept.significand, sums[0]);
      intercept.exponent = unit - shift;
      intercept.error = MAX (intercept.error, intercept.exponent) + 1;
      rounded = apr_round_leading_integer (intercept.significand, intercept.exponent, intercept.error,
                                           self->dtype, value) ||
                apr_approximation_round (&intercept, self->dtype, value);
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
  double left = 1;
  gsize i;

  while (more && !certain)
    {
      more = step (self, data) && !self->exact;
      if (apr_run_is_cancelled (self->run))
        return FALSE;
      /* How many steps there will be is not known: each is a fourth of what is left. */
      left *= 0.75;
      apr_run_report (self->run, 1 - left);

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
      if (self->products->centred && self->wanted == NULL && (certain || !more))
        certain = round_intercept (self, intercept) && certain;
    }

  return certain;
}
