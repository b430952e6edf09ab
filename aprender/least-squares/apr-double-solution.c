/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-double-solution-private.h"

#include <math.h>

/* The usual case of a small system: one correction of a first solution in double proves every rounding. It takes a
 * fraction of the time of long numbers, which cost more to handle than to multiply.
 *
 * With A x = c, r = c - A x' for the first solution x', and d the solution of A d = r by the same Cholesky factor U,
 * the error of x' + d is at most |r - A d| / m, where m bounds the eigenvalues of A from below. Only the last bits of
 * the products are missing in r, and r - A d is at most (3 n + 1) u / (1 - (3 n + 1) u) |U'||U||d| (N. J. Higham,
 * "Accuracy and stability of numerical algorithms", 2002, theorem 10.4). */

/* Below all other errors, and above what underflows. */
#define MIN_ERROR 0x1p-110

static gint64
get_scale (const AprDoubleSolution *self, gsize i)
{
  return self->equations->scales[self->equations->independent[i]];
}

static gint64
get_exponent (const AprDoubleSolution *self, gsize i)
{
  return self->equations->scales[self->column] - get_scale (self, i);
}

AprDoubleDouble
apr_double_solution_get_unknown (const AprDoubleSolution *self, gsize i, gint64 *exponent)
{
  *exponent = get_exponent (self, i);
  return apr_dd_two_sum (self->first[i], self->correction[i]);
}

/* Solves in double; the solution in whole numbers, too. Returns FALSE where it is 0. */
static gboolean
find_first (AprDoubleSolution *self, AprCorrection *numbers)
{
  const AprNormalEquations *equations = self->equations;
  const AprProducts *products = equations->products;
  guint64 too_large = 0;
  gsize i;

  for (i = 0; i < numbers->n; i++)
    self->first[i] = apr_limbs_get_double (
      apr_products_get (products, self->column, equations->independent[i]), (gint64) products->n_limbs,
      equations->scales[self->column] + get_scale (self, i), &too_large);
  apr_cholesky_solve (&equations->cholesky, self->first);
  if (!apr_correction_set (numbers, self->first, 0, G_MAXINT32, G_MAXINT32))
    return FALSE;

  for (i = 0; i < numbers->n; i++)
    self->first[i] = apr_scale_double ((double) numbers->values[i], -numbers->place);
  return TRUE;
}

/* Returns the residual of an unknown, where @sum is that of the products with the whole numbers. */
static double
find_residual (const AprDoubleSolution *self, const AprCorrection *numbers, gsize i, AprLongSum sum)
{
  const AprProducts *products = self->equations->products;
  const mp_limb_t *limbs = apr_products_get (products, self->column, self->equations->independent[i]);
  gint64 n_limbs = (gint64) products->n_limbs;
  gint64 bits = apr_scaled_products_get_bits (numbers->n) + numbers->place;
  gint64 place = self->equations->scales[self->column] + get_scale (self, i) - bits;
  guint64 low = (guint64) apr_limbs_get_part (limbs, n_limbs, place);
  __int128 high = (__int128) apr_limbs_get_part (limbs, n_limbs, place + 64);

  high -= sum.high + (low < sum.low);
  low -= sum.low;

  return apr_scale_double ((double) high * 0x1p64 + (double) low, -bits);
}

/* Finds the correction, and the error that is left. */
static void
correct (AprDoubleSolution *self, const AprCorrection *numbers, const AprRun *run)
{
  AprScaledProducts scaled = apr_normal_equations_get_scaled (self->equations);
  gsize n = numbers->n;
  double root = sqrt ((double) n);
  double size = 0;
  double residual = 0;
  double correction = 0;
  double truncation;
  AprLongSum sums[APR_DOUBLE_SOLUTION_MAX_UNKNOWNS];
  gsize i;

  for (i = 0; i < n; i++)
    sums[i] = (AprLongSum){ 0 };
  apr_scaled_products_multiply (&scaled, numbers->values, sums, run);
  for (i = 0; i < n; i++)
    {
      self->correction[i] = find_residual (self, numbers, i, sums[i]);
      residual += self->correction[i] * self->correction[i];
      size += fabs (self->first[i]);
    }
  apr_cholesky_solve (&self->equations->cholesky, self->correction);
  for (i = 0; i < n; i++)
    correction += self->correction[i] * self->correction[i];

  /* A unit of each product, and one of the right-hand side. */
  truncation = root * ldexp (size + 1, -apr_scaled_products_get_bits (n));
  /* Rounding the products to double changed each by less than 2^-50. The residual is rounded, too: by 2^-52 of it, and
   * by 2^10 of its last bits, which are far below 0.01 of what the products lack. */
  self->error =
    (truncation + 0x1p-50 * sqrt (residual) +
     (2 * apr_cholesky_bound_error (&self->equations->cholesky) + (double) n * 0x1p-50) * sqrt (correction)) *
      1.01 / self->equations->min_eigenvalue +
    MIN_ERROR;
}

gboolean
apr_double_solution_init (AprDoubleSolution *self,
                          const AprNormalEquations *equations,
                          const AprTarget *target,
                          const AprRun *run)
{
  gint64 values[APR_DOUBLE_SOLUTION_MAX_UNKNOWNS];
  AprCorrection numbers = { equations->n_independent, values };

  self->equations = equations;
  self->column = equations->products->n_features + target->index;
  if (!find_first (self, &numbers))
    return FALSE;

  correct (self, &numbers, run);
  return TRUE;
}

/* It is (sum of the target - sums of the features times their coefficients) / sum of the weights. */
AprDoubleDouble
apr_double_solution_find_intercept (const AprDoubleSolution *self, double *error, gint64 *exponent)
{
  mpz_t *sums = self->equations->products->sums;
  const gsize *independent = self->equations->independent;
  gsize n = self->equations->n_independent;
  gint64 top = (gint64) mpz_sizeinbase (sums[1 + self->column], 2);
  gint64 divisor_bits = (gint64) mpz_sizeinbase (sums[0], 2);
  AprDoubleDouble value;
  double size;
  double sizes_of_sums = 0;
  gsize i;

  for (i = 0; i < n; i++)
    top = MAX (top, (gint64) mpz_sizeinbase (sums[1 + independent[i]], 2) + get_exponent (self, i));
  value = apr_dd_from_integer (sums[1 + self->column], -top);
  size = fabs (value.high);
  for (i = 0; i < n; i++)
    {
      gint64 of_unknown;
      AprDoubleDouble unknown = apr_double_solution_get_unknown (self, i, &of_unknown);
      AprDoubleDouble sum = apr_dd_from_integer (sums[1 + independent[i]], of_unknown - top);
      AprDoubleDouble product = apr_dd_multiply (sum, unknown);

      value = apr_dd_subtract (value, product);
      size += fabs (product.high);
      sizes_of_sums += fabs (sum.high);
    }

  /* The divisor is at least 1/2. */
  *error = 2.1 * (sizes_of_sums * self->error + (double) (n + 8) * 0x1p-98 * size) + MIN_ERROR;
  *exponent = top - divisor_bits;

  return apr_dd_divide (value, apr_dd_from_integer (sums[0], -divisor_bits));
}

gboolean
apr_normal_equations_solve_in_doubles (const AprNormalEquations *self,
                                       const AprTarget *target,
                                       const AprRun *run)
{
  AprDoubleSolution solution;
  AprDoubleDouble value;
  double error;
  gint64 exponent;
  gsize i;

  if (self->n_independent > APR_DOUBLE_SOLUTION_MAX_UNKNOWNS ||
      !apr_double_solution_init (&solution, self, target, run))
    return FALSE;

  /* Then there is no residual. */
  if (apr_run_is_cancelled (run))
    return FALSE;

  for (i = 0; i < self->n_independent; i++)
    {
      value = apr_double_solution_get_unknown (&solution, i, &exponent);
      if (!apr_round_bounds (value.high, value.low, solution.error, exponent, target->dtype,
                             &target->coefficients[self->independent[i]]))
        return FALSE;
    }
  if (!self->products->centred)
    return TRUE;

  value = apr_double_solution_find_intercept (&solution, &error, &exponent);
  return apr_round_bounds (value.high, value.low, error, exponent, target->dtype, target->intercept);
}
