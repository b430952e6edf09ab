/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-rounding-private.h"

#include <float.h>
#include <math.h>

/* Rounds numbers of any length to the nearest float or double, once and at the end. */

gint
apr_rounding_get_smallest_exponent (AprDType dtype)
{
  return dtype == APR_DTYPE_F32 ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG;
}

static gint
precision_of (AprDType dtype)
{
  return dtype == APR_DTYPE_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
}

static double
max_of (AprDType dtype)
{
  return dtype == APR_DTYPE_F32 ? (double) FLT_MAX : DBL_MAX;
}

double
apr_round_dyadic (const mpz_t significand, gint64 exponent, AprDType dtype)
{
  gint64 top;
  gint64 last_place;
  gint64 shift;
  double value;
  mpz_t kept;

  if (mpz_sgn (significand) == 0)
    return 0.0;

  top = (gint64) mpz_sizeinbase (significand, 2) - 1 + exponent;
  if (top > DBL_MAX_EXP)
    return mpz_sgn (significand) < 0 ? -INFINITY : INFINITY;
  last_place = MAX (top - precision_of (dtype) + 1, apr_rounding_get_smallest_exponent (dtype));
  shift = last_place - exponent;

  mpz_init (kept);
  mpz_abs (kept, significand);
  if (shift <= 0)
    mpz_mul_2exp (kept, kept, (mp_bitcnt_t) -shift);
  else
    {
      gboolean half = mpz_tstbit (kept, (mp_bitcnt_t) shift - 1) != 0;
      gboolean more = (gint64) mpz_scan1 (kept, 0) < shift - 1;

      mpz_tdiv_q_2exp (kept, kept, (mp_bitcnt_t) shift);
      if (half && (more || mpz_odd_p (kept)))
        mpz_add_ui (kept, kept, 1);
    }
  value = ldexp (mpz_get_d (kept), (gint) last_place);
  mpz_clear (kept);

  if (value > max_of (dtype))
    value = INFINITY;
  return mpz_sgn (significand) < 0 ? -value : value;
}

double
apr_round_rational (const mpz_t numerator, const mpz_t denominator, gint64 exponent, AprDType dtype)
{
  /* The quotient needs all bits of a double and one more. */
  gint64 shift =
    MAX (0, (gint64) mpz_sizeinbase (denominator, 2) - (gint64) mpz_sizeinbase (numerator, 2) + 66);
  double value;
  mpz_t quotient;
  mpz_t rest;

  mpz_init (quotient);
  mpz_init (rest);
  mpz_mul_2exp (quotient, numerator, (mp_bitcnt_t) shift);
  mpz_tdiv_qr (quotient, rest, quotient, denominator);

  /* A remainder counts as one bit far below. */
  mpz_mul_2exp (quotient, quotient, 1);
  if (mpz_sgn (rest) > 0)
    mpz_add_ui (quotient, quotient, 1);
  else if (mpz_sgn (rest) < 0)
    mpz_sub_ui (quotient, quotient, 1);
  value = apr_round_dyadic (quotient, exponent - shift - 1, dtype);

  mpz_clear (quotient);
  mpz_clear (rest);
  return value;
}

/* Returns the exponent of the last place of a finite @value. */
static gint64
last_place_of (double value, AprDType dtype)
{
  if (value == 0)
    return apr_rounding_get_smallest_exponent (dtype);

  return MAX (ilogb (value) - precision_of (dtype) + 1, apr_rounding_get_smallest_exponent (dtype));
}

/* Returns whether the number must be equal to a multiple of 2^@last_place that is within the bounds: two such numbers
 * are equal, or at least a unit of their common denominator apart. */
static gboolean
is_exactly (const AprApproximation *self, gint64 last_place)
{
  return self->denominator_bits > 0 &&
         self->error + 1 < -(self->denominator_bits + MAX (self->grid, -last_place));
}

gboolean
apr_approximation_is_zero (const AprApproximation *self)
{
  return is_exactly (self, G_MAXINT32);
}

/* Rounds @value 2^@exponent, with a value of at least 2^100. */
static double
round_short (unsigned __int128 value, gint64 exponent, AprDType dtype)
{
  guint64 high = (guint64) (value >> 64);
  gint64 top = 127 - __builtin_clzll (high) + exponent;
  gint64 last_place = MAX (top - precision_of (dtype) + 1, apr_rounding_get_smallest_exponent (dtype));
  gint64 shift = last_place - exponent;
  unsigned __int128 half;
  unsigned __int128 rest;
  guint64 kept;
  double rounded;

  /* Below half of the smallest number. */
  if (shift > 127)
    return 0;

  kept = (guint64) (value >> shift);
  half = (unsigned __int128) 1 << (shift - 1);
  rest = value & (2 * half - 1);
  if (rest > half || (rest == half && (kept & 1) != 0))
    kept++;
  rounded = apr_scale_double ((double) kept, last_place);

  return rounded > max_of (dtype) ? INFINITY : rounded;
}

/* Rounds a number within 2^@error_bits of a magnitude, whose lower bits were cut off. */
static gboolean
round_magnitude (unsigned __int128 magnitude,
                 gboolean negative,
                 gint64 exponent,
                 gint64 error_bits,
                 AprDType dtype,
                 double *value)
{
  unsigned __int128 radius;
  double min;
  double max;

  if (magnitude >> 120 == 0 || error_bits > 110)
    return FALSE;

  /* One more for the bits that are cut off. */
  radius = ((unsigned __int128) 1 << MAX (error_bits, 0)) + 1;
  min = round_short (magnitude - radius, exponent, dtype);
  max = round_short (magnitude + radius, exponent, dtype);
  if (min != max)
    return FALSE;

  *value = negative ? -min : min;
  return TRUE;
}

gboolean
apr_round_bounds (double high, double low, double error, gint64 exponent, AprDType dtype, double *rounded)
{
  double min;
  double max;

  /* A double may be halfway between two floats, where the sum is not. */
  if (dtype == APR_DTYPE_F32)
    error += 0x1p-50 * fabs (high);
  error += 0x1p-51 * fabs (low);
  min = high + (low - error);
  max = high + (low + error);
  if (dtype == APR_DTYPE_F32)
    {
      min = (double) (float) min;
      max = (double) (float) max;
    }
  *rounded = apr_scale_double (min, exponent);

  /* Neither scaling may round. What is certain is larger than the error. */
  return min == max && exponent > -900 && exponent < 900 &&
         (dtype == APR_DTYPE_F64 || (fabs (*rounded) > 0x1p-120 && fabs (*rounded) < 0x1p120));
}

gboolean
apr_round_leading (
  const mp_limb_t *limbs, gsize n_limbs, gint64 exponent, gint64 error, AprDType dtype, double *value)
{
  gint64 place = apr_limbs_get_bits (limbs, n_limbs) - 124;
  gboolean negative = limbs[n_limbs - 1] >> 63 != 0;
  unsigned __int128 magnitude = apr_limbs_get_part (limbs, (gint64) n_limbs, place);

  return round_magnitude (negative ? -magnitude : magnitude, negative, exponent + place,
                          error - exponent - place, dtype, value);
}

gboolean
apr_round_leading_integer (
  const mpz_t significand, gint64 exponent, gint64 error, AprDType dtype, double *value)
{
  gint64 n_limbs = (gint64) mpz_size (significand);
  gint64 place = (gint64) mpz_sizeinbase (significand, 2) - 124;
  unsigned __int128 magnitude;

  if (n_limbs == 0)
    return FALSE;

  /* What is above its 124 bits would be the sign of two's complement. */
  magnitude = apr_limbs_get_part (mpz_limbs_read (significand), n_limbs, place) << 4 >> 4;

  return round_magnitude (magnitude, mpz_sgn (significand) < 0, exponent + place, error - exponent - place,
                          dtype, value);
}

/* Rounds a number whose error is not larger than it. */
static gboolean
round_between (const AprApproximation *self, AprDType dtype, double *value)
{
  gint64 unit = MIN (self->error, self->exponent);
  gboolean rounded = FALSE;
  gint sign_of_min;
  gint sign_of_max;
  double min;
  double max;
  mpz_t radius;
  mpz_t bound;

  mpz_init_set_ui (radius, 1);
  mpz_init (bound);
  mpz_mul_2exp (radius, radius, (mp_bitcnt_t) (self->error - unit));
  mpz_mul_2exp (bound, self->significand, (mp_bitcnt_t) (self->exponent - unit));
  mpz_sub (bound, bound, radius);
  min = apr_round_dyadic (bound, unit, dtype);
  sign_of_min = mpz_sgn (bound);
  mpz_addmul_ui (bound, radius, 2);
  max = apr_round_dyadic (bound, unit, dtype);
  sign_of_max = mpz_sgn (bound);
  mpz_clear (radius);
  mpz_clear (bound);

  if (sign_of_min < 0 && sign_of_max >= 0)
    {
      /* Both bounds may round to a zero, but its sign is only known where the number is exactly zero. */
      rounded = apr_approximation_is_zero (self);
      *value = 0.0;
    }
  else if (min == max)
    {
      rounded = TRUE;
      *value = min;
    }
  else if (isfinite (min) != isfinite (max))
    {
      /* Infinity begins half a last place above the largest finite value. */
      rounded = is_exactly (self, last_place_of (max_of (dtype), dtype) - 1);
      *value = isfinite (min) ? max : min;
    }
  else
    {
      gint64 place_of_min = last_place_of (min, dtype);
      gint64 middle = MIN (place_of_min, last_place_of (max, dtype)) - 1;

      /* Halfway between the two: the one with an even significand. Where there are numbers between them, the error is
       * too large for anything to be exactly so. */
      rounded = is_exactly (self, middle);
      *value = fmod (ldexp (min, (gint) -place_of_min), 2.0) == 0 ? min : max;
    }

  return rounded;
}

gboolean
apr_approximation_round (const AprApproximation *self, AprDType dtype, double *value)
{
  if ((gint64) mpz_sizeinbase (self->significand, 2) + self->exponent <= self->error)
    {
      /* It may have either sign, and need not be made as long as its error. */
      *value = 0.0;
      return apr_approximation_is_zero (self);
    }
  if (self->error != APR_EXACT && round_between (self, dtype, value))
    return TRUE;

  *value = apr_round_dyadic (self->significand, self->exponent, dtype);
  return self->error == APR_EXACT;
}

gboolean
apr_approximation_round_quotient (AprApproximation *self, const mpz_t divisor, AprDType dtype, double *value)
{
  gint64 divisor_bits = (gint64) mpz_sizeinbase (divisor, 2);
  gint64 shift;

  if (self->error == APR_EXACT)
    {
      *value = apr_round_rational (self->significand, divisor, self->exponent, dtype);
      return TRUE;
    }

  /* As many bits as are known, and one for what the division cuts off. */
  self->error += 1 - (divisor_bits - 1);
  if (self->denominator_bits > 0)
    self->denominator_bits += divisor_bits;
  shift = MAX (0, self->exponent - self->error);
  mpz_mul_2exp (self->significand, self->significand, (mp_bitcnt_t) shift);
  mpz_tdiv_q (self->significand, self->significand, divisor);
  self->exponent -= shift;
  self->error = MAX (self->error, self->exponent) + 1;

  return apr_round_leading_integer (self->significand, self->exponent, self->error, dtype, value) ||
         apr_approximation_round (self, dtype, value);
}
