/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-private.h"

#include <math.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-triangle-private.h"

/* What sums of samples must be like, as far as one entry and the squares of its row and column tell: in time that is
 * linear in the number of words. */

/* A number as fraction 2^exponent, the fraction 0 or from 1/2 to 1 in size, and within a part of 2^-31. */
typedef struct
{
  double fraction;
  gint exponent;
} Approximation;

/* How much a square and a product of such numbers can differ where the exact ones are equal. */
#define TOLERANCE 0x1p-28

/* The limbs are carried: the topmost has the sign. */
static Approximation
approximate (const gint64 *limbs, gsize n_limbs)
{
  Approximation self = { 0, 0 };
  gint64 sign = limbs[n_limbs - 1] < 0 ? 0xffffffff : 0;
  __int128 top;
  gsize i = n_limbs - 1;
  gsize j;

  if (limbs[i] == 0 || limbs[i] == -1)
    while (i > 0 && limbs[i - 1] == sign)
      i--;
  /* The one above, which may be the sign alone, and three others. */
  if (i + 1 < n_limbs)
    i++;
  top = i == n_limbs - 1 ? limbs[i] : sign != 0 ? -1 : limbs[i];
  for (j = 0; j < 3; j++)
    top = top * ((gint64) 1 << 32) + (i > j ? limbs[i - j - 1] : 0);
  self.fraction = frexp ((double) top, &self.exponent);
  self.exponent += 32 * ((gint) i - 3);

  return self;
}

/* Whether the square of an entry is at most the product of two: Cauchy's inequality. */
static gboolean
is_bounded (
  const AprExactSums *self, Approximation entry, const Approximation *squares, gsize row, gsize column)
{
  gint distance = 2 * entry.exponent - squares[row].exponent - squares[column].exponent;
  double left = entry.fraction * entry.fraction;
  double right = squares[row].fraction * squares[column].fraction;
  gboolean bounded;
  mpz_t exact;
  mpz_t one;
  mpz_t other;

  if (left == 0 || right == 0)
    return left == 0;
  if (distance < -2 || distance > 2)
    return distance < 0;
  left = ldexp (left, distance);
  if (fabs (left - right) > right * TOLERANCE)
    return left < right;

  mpz_inits (exact, one, other, NULL);
  apr_exact_sums_get_entry (self, row, column, exact);
  apr_exact_sums_get_entry (self, row, row, one);
  apr_exact_sums_get_entry (self, column, column, other);
  mpz_mul (exact, exact, exact);
  mpz_mul (one, one, other);
  bounded = mpz_cmp (exact, one) <= 0;
  mpz_clears (exact, one, other, NULL);

  return bounded;
}

/* The number itself, for a message: no more of it is certain than a float has. */
static const char *
format (const AprExactSums *self, Approximation number, char buffer[APR_NUMBER_SIZE])
{
  return g_ascii_formatd (buffer, APR_NUMBER_SIZE, "%g",
                          ldexp (number.fraction, number.exponent + apr_exact_sums_get_exponent (self)));
}

/* A column of Z. Returns: (transfer full) */
static char *
describe (const AprExactSums *self, gsize column)
{
  gsize n_features = apr_exact_sums_get_n_features (self);

  if (column == 0)
    return g_strdup ("the weights");
  if (column <= n_features)
    return g_strdup_printf ("feature %" G_GSIZE_FORMAT, column - 1);

  return g_strdup_printf ("target %" G_GSIZE_FORMAT, column - 1 - n_features);
}

/* The limbs are those of the row. */
static gboolean
check_row (const AprExactSums *self,
           const gint64 *limbs,
           gsize n_limbs,
           gsize row,
           Approximation *squares,
           GError **error)
{
  g_autofree char *name = NULL;
  g_autofree char *other_name = NULL;
  char numbers[3][APR_NUMBER_SIZE];
  Approximation product;
  gsize column;

  squares[row] = approximate (limbs + row * n_limbs, n_limbs);
  if (squares[row].fraction < 0)
    {
      name = describe (self, row);
      g_set_error (
        error, APR_ERROR, APR_ERROR_MODEL,
        "The sums are not those of any samples: the sum of squares of %s (counted from 0) is negative, %s",
        name, format (self, squares[row], numbers[0]));
      return FALSE;
    }

  for (column = 0; column < row; column++)
    {
      product = approximate (limbs + column * n_limbs, n_limbs);
      if (is_bounded (self, product, squares, row, column))
        continue;
      name = describe (self, row);
      other_name = describe (self, column);
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The sums are not those of any samples: the product of %s and %s (counted from 0) is "
                   "larger than their squares allow: %s beside %s and %s",
                   name, other_name, format (self, product, numbers[0]),
                   format (self, squares[row], numbers[1]), format (self, squares[column], numbers[2]));
      return FALSE;
    }

  return TRUE;
}

gboolean
apr_exact_sums_check (const AprExactSums *self, const AprRun *run, GError **error)
{
  gsize n_columns = apr_exact_sums_get_n_columns (self);
  g_autofree Approximation *squares = NULL;
  gsize n_limbs;
  const gint64 *limbs = apr_exact_sums_get_limbs (self, &n_limbs);
  gsize row;

  /* Without samples, there is nothing that takes memory. */
  if (limbs == NULL || !apr_exact_sums_is_doubtful (self))
    return TRUE;

  squares = g_new (Approximation, n_columns);
  for (row = 0; row < n_columns; row++)
    if (g_cancellable_set_error_if_cancelled (run->cancellable, error) ||
        !check_row (self, limbs + apr_triangle (row, 0) * n_limbs, n_limbs, row, squares, error))
      return FALSE;

  return TRUE;
}
