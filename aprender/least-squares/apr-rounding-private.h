/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>

#include "aprender/least-squares/apr-limbs-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* Errors are bounded by powers of two, and told by their exponents: this is that of a number without an error. */
#define APR_EXACT G_MININT32

/* Returns the error of 2^@exponent times a number whose error is @error. */
static inline gint64
apr_scale_error (gint64 error, gint64 exponent)
{
  return error == APR_EXACT ? APR_EXACT : error + exponent;
}

/* Returns the exponent of the smallest positive number of @dtype. */
gint apr_rounding_get_smallest_exponent (AprDType dtype);

/* Rounds a number in two's complement, times 2^@exponent and known to within 2^@error, where its leading bits are
 * enough for that. */
gboolean apr_round_leading (
  const mp_limb_t *limbs, gsize n_limbs, gint64 exponent, gint64 error, AprDType dtype, double *value);

/* The same of @high + @low times 2^@exponent, where the sum is known to within @error. It is below 2^100, and @error is
 * at least 2^-110, or 2^-900 where @exponent is 0, so that only what is not certain is subnormal. */
gboolean
apr_round_bounds (double high, double low, double error, gint64 exponent, AprDType dtype, double *rounded);

/* The same of @significand. */
gboolean apr_round_leading_integer (
  const mpz_t significand, gint64 exponent, gint64 error, AprDType dtype, double *value);

/* Returns the value of @dtype, F32 or F64, that is nearest to @significand 2^@exponent, ties to even; an infinity
 * where it is too large. */
double apr_round_dyadic (const mpz_t significand, gint64 exponent, AprDType dtype);

/* The same for @numerator / @denominator, with @denominator > 0. */
double apr_round_rational (const mpz_t numerator, const mpz_t denominator, gint64 exponent, AprDType dtype);

/* What is known of a number: it is within 2^@error of @significand 2^@exponent, or is that where @error is APR_EXACT;
 * and it is a whole number when multiplied by 2^@grid and by some whole number below 2^@denominator_bits, unless that
 * is 0. */
typedef struct
{
  mpz_t significand;
  gint64 exponent;
  gint64 error;
  gint64 grid;
  gint64 denominator_bits;
} AprApproximation;

/* Returns whether a number whose error is larger than @significand 2^@exponent is known to be 0. */
gboolean apr_approximation_is_zero (const AprApproximation *self);

/* Returns whether what is known determines the nearest value of @dtype, and sets @value to it; otherwise to the value
 * nearest to @significand 2^@exponent, or to 0 where not even its first bit is known. */
gboolean apr_approximation_round (const AprApproximation *self, AprDType dtype, double *value);

/* The same of its quotient by @divisor, a whole number above 0. The number is lost. */
gboolean
apr_approximation_round_quotient (AprApproximation *self, const mpz_t divisor, AprDType dtype, double *value);

G_END_DECLS
