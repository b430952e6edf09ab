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

/* The sum of squares of a column about its mean. */
static Wide
get_spread (const AprExactSums *sums, gsize column)
{
  Wide numerator;
  Wide denominator;
  mpz_t square;
  mpz_t weight;
  mpz_t sum;

  mpz_init (square);
  mpz_init (weight);
  mpz_init (sum);
  apr_exact_sums_get_entry (sums, column, column, square);
  apr_exact_sums_get_entry (sums, 0, 0, weight);
  apr_exact_sums_get_entry (sums, column, 0, sum);
  mpz_mul (square, square, weight);
  mpz_submul (square, sum, sum);
  numerator = get_wide (square);
  denominator = get_wide (weight);
  mpz_clear (square);
  mpz_clear (weight);
  mpz_clear (sum);

  return divide (numerator, denominator);
}

/* A term b x of a prediction errs by u |b x| as b is rounded, and what is rounded to the dtype of the model, the
 * prediction, is at most the sum of all |b x|, whose root of the mean square is at most Σ |b| rms (x), by Minkowski's
 * inequality. So there is no part for the prediction by itself: it would be no more than the rest. */
double
apr_find_prediction_rounding (
  const AprExactSums *sums, AprDType dtype, AprTensor *coefficients, AprTensor *intercept, gsize target)
{
  double unit = apr_tensor_get_dtype (coefficients) == APR_DTYPE_F32 ? 0x1p-24 : 0x1p-53;
  double feature_unit = dtype == APR_DTYPE_F32 ? 0x1p-24 : unit;
  double size = 0;
  gsize n_features;
  Wide spread;
  mpz_t square;
  gsize i;

  if (sums == NULL)
    return NAN;

  n_features = apr_exact_sums_get_n_features (sums);
  spread = get_spread (sums, 1 + n_features + target);
  mpz_init (square);
  /* Column 0 is that of the ones. */
  for (i = 0; i <= n_features && spread.fraction > 0; i++)
    {
      double coefficient = i == 0 ? apr_tensor_get_double (intercept, target, NULL)
                                  : apr_tensor_get_double (coefficients, target * n_features + i - 1, NULL);

      apr_exact_sums_get_entry (sums, i, i, square);
      size += (i == 0 ? unit : feature_unit) *
              multiply_root (fabs (coefficient), divide (get_wide (square), spread));
    }
  mpz_clear (square);

  return size;
}
