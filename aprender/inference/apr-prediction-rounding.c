/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-prediction-rounding-private.h"

#include <math.h>

/* The sum of squares of a column; about its mean, and times the weight, where there is an intercept. */
static void
get_square (const AprExactSums *sums, gsize column, gboolean centred, const mpz_t weight, mpz_t square)
{
  mpz_t sum;

  apr_exact_sums_get_entry (sums, column, column, square);
  if (!centred)
    return;

  mpz_init (sum);
  apr_exact_sums_get_entry (sums, column, 0, sum);
  mpz_mul (square, square, weight);
  mpz_submul (square, sum, sum);
  mpz_clear (sum);
}

/* The root of numerator / denominator, which may be far outside the range of a double. */
static double
divide_root (const mpz_t numerator, const mpz_t denominator)
{
  signed long exponent;
  signed long other_exponent;
  double quotient = mpz_get_d_2exp (&exponent, numerator) / mpz_get_d_2exp (&other_exponent, denominator);

  exponent -= other_exponent;
  if (exponent % 2 != 0)
    {
      quotient *= 2;
      exponent--;
    }

  return ldexp (sqrt (quotient), (int) (exponent / 2));
}

double
apr_find_prediction_rounding (
  const AprExactSums *sums, AprDType dtype, gboolean fit_intercept, AprTensor *coefficients, gsize target)
{
  gboolean is_float = dtype == APR_DTYPE_F32 || apr_tensor_get_dtype (coefficients) == APR_DTYPE_F32;
  double size = 0;
  gsize n_features;
  mpz_t weight;
  mpz_t spread;
  mpz_t square;
  gsize i;

  if (sums == NULL)
    return NAN;

  n_features = apr_exact_sums_get_n_features (sums);
  mpz_init (weight);
  mpz_init (spread);
  mpz_init (square);
  apr_exact_sums_get_entry (sums, 0, 0, weight);
  get_square (sums, 1 + n_features + target, fit_intercept, weight, spread);
  for (i = 0; i < n_features && mpz_sgn (spread) > 0; i++)
    {
      double coefficient = apr_tensor_get_double (coefficients, target * n_features + i, NULL);

      apr_exact_sums_get_entry (sums, 1 + i, 1 + i, square);
      if (fit_intercept)
        mpz_mul (square, square, weight);
      size += fabs (coefficient) * divide_root (square, spread);
    }
  mpz_clear (weight);
  mpz_clear (spread);
  mpz_clear (square);

  return size * (is_float ? 0x1p-24 : 0x1p-53);
}
