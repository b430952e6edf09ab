/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-prediction-rounding-private.h"

#include <math.h>

/* A number that may be far outside the range of a double: @fraction 2^@exponent. */
typedef struct
{
  double fraction;
  signed long exponent;
} Wide;

static Wide
get_wide (const mpz_t integer)
{
  Wide wide;

  wide.fraction = mpz_get_d_2exp (&wide.exponent, integer);
  return wide;
}

static Wide
divide (Wide numerator, Wide denominator)
{
  return (Wide){ numerator.fraction / denominator.fraction, numerator.exponent - denominator.exponent };
}

/* @factor times the root of @square. */
static double
multiply_root (double factor, Wide square)
{
  gboolean is_odd = square.exponent % 2 != 0;
  int exponent;

  factor = frexp (factor, &exponent) * sqrt (is_odd ? 2 * square.fraction : square.fraction);

  return ldexp (factor, (int) CLAMP ((square.exponent - is_odd) / 2 + exponent, -5000, 5000));
}

/* The sum of squares of a target; about its mean where there is an intercept. */
static Wide
get_spread (const AprExactSums *sums, gsize column, gboolean centred)
{
  Wide spread;
  mpz_t square;
  mpz_t weight;
  mpz_t sum;

  mpz_init (square);
  mpz_init (weight);
  mpz_init (sum);
  apr_exact_sums_get_entry (sums, column, column, square);
  apr_exact_sums_get_entry (sums, 0, 0, weight);
  if (centred)
    {
      apr_exact_sums_get_entry (sums, column, 0, sum);
      mpz_mul (square, square, weight);
      mpz_submul (square, sum, sum);
    }
  spread = centred ? divide (get_wide (square), get_wide (weight)) : get_wide (square);
  mpz_clear (square);
  mpz_clear (weight);
  mpz_clear (sum);

  return spread;
}

double
apr_find_prediction_rounding (
  const AprExactSums *sums, AprDType dtype, gboolean fit_intercept, AprTensor *coefficients, gsize target)
{
  gboolean is_float = dtype == APR_DTYPE_F32 || apr_tensor_get_dtype (coefficients) == APR_DTYPE_F32;
  double size = 0;
  gsize n_features;
  Wide spread;
  mpz_t square;
  gsize i;

  if (sums == NULL)
    return NAN;

  n_features = apr_exact_sums_get_n_features (sums);
  spread = get_spread (sums, 1 + n_features + target, fit_intercept);
  mpz_init (square);
  for (i = 0; i < n_features && spread.fraction > 0; i++)
    {
      double coefficient = apr_tensor_get_double (coefficients, target * n_features + i, NULL);

      apr_exact_sums_get_entry (sums, 1 + i, 1 + i, square);
      size += multiply_root (fabs (coefficient), divide (get_wide (square), spread));
    }
  mpz_clear (square);

  return size * (is_float ? 0x1p-24 : 0x1p-53);
}
