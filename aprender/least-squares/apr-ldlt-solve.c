/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-ldlt-parts-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"

/* x[j] -= factor row[j] */
static void
subtract_row (
  const AprLdlt *self, AprDoubleDoubles x, AprDoubleDouble factor, gsize row, gsize first, gsize end)
{
  AprDoubleDoubles multiplier = { &factor.high, &factor.low, 1 };
  gsize n_columns = (end - first) / APR_DOUBLE_DOUBLE_PAD * APR_DOUBLE_DOUBLE_PAD;
  gsize j;

  self->kernel->subtract_products (apr_double_doubles_at (x, 0, first), multiplier,
                                   apr_double_doubles_at (self->doubles, row, first), 1, n_columns, 1);
  for (j = first + n_columns; j < end; j++)
    apr_double_doubles_set (
      x, 0, j,
      apr_dd_subtract (apr_double_doubles_get (x, 0, j),
                       apr_dd_multiply (factor, apr_double_doubles_get (self->doubles, row, j))));
}

static void
solve_in_doubles (const AprLdlt *self, AprDoubleDoubles x)
{
  gsize n = self->n_independent;
  gsize i;

  for (i = 0; i < n; i++)
    {
      AprDoubleDouble value =
        apr_dd_divide (apr_double_doubles_get (x, 0, i), apr_double_doubles_get (self->doubles, i, i));

      apr_double_doubles_set (x, 0, i, value);
      subtract_row (self, x, value, i, i + 1, n);
    }
  for (i = n; i-- > 0;)
    {
      AprDoubleDouble value =
        apr_dd_divide (apr_double_doubles_get (x, 0, i), apr_double_doubles_get (self->doubles, i, i));

      apr_double_doubles_set (x, 0, i, value);
      subtract_row (self, x, value, i, 0, i);
    }
}

void
apr_ldlt_solve_numbers (const AprLdlt *self, mpf_t *x, const AprRun *run)
{
  gsize n = self->n_independent;
  mpf_t *factor = self->numbers;
  mpf_t product;
  gsize i;
  gsize j;

  mpf_init2 (product, (mp_bitcnt_t) self->precision);
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j < i; j++)
      {
        mpf_mul (product, factor[apr_triangle (i, j)], x[j]);
        mpf_sub (x[i], x[i], product);
      }
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    mpf_div (x[i], x[i], factor[apr_triangle (i, i)]);
  for (i = n; i-- > 0 && !apr_run_is_cancelled (run);)
    for (j = i + 1; j < n; j++)
      {
        mpf_mul (product, factor[apr_triangle (j, i)], x[j]);
        mpf_sub (x[i], x[i], product);
      }
  mpf_clear (product);
}

/* Writes @numbers 2^-e to @x. Returns: e, with which none is above 1 */
static gint64
take_doubles (mpf_t *numbers, gsize n, double *x)
{
  gint64 exponent = 0;
  signed long own_exponent;
  gboolean any = FALSE;
  gsize i;

  for (i = 0; i < n; i++)
    if (mpf_sgn (numbers[i]) != 0)
      {
        (void) mpf_get_d_2exp (&own_exponent, numbers[i]);
        exponent = any ? MAX (exponent, own_exponent) : own_exponent;
        any = TRUE;
      }
  for (i = 0; i < n; i++)
    {
      x[i] = mpf_get_d_2exp (&own_exponent, numbers[i]);
      x[i] = ldexp (x[i], (gint) MAX (own_exponent - exponent, -4 * DBL_MAX_EXP));
    }

  return exponent;
}

gint64
apr_ldlt_divide (AprLdlt *self, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  AprDoubleDoubles doubles;
  mpf_t *numbers;
  gint64 exponent;
  gsize i;

  if (self->doubles.high != NULL)
    {
      doubles = apr_double_doubles_new (1, n, run);
      if (doubles.high == NULL)
        return 0;
      memcpy (doubles.high, x, n * sizeof *x);
      solve_in_doubles (self, doubles);
      memcpy (x, doubles.high, n * sizeof *x);
      apr_double_doubles_free (&doubles);
      return 0;
    }

  numbers = apr_numbers_new (n, self->precision, run);
  if (numbers == NULL)
    return 0;
  for (i = 0; i < n; i++)
    mpf_set_d (numbers[i], x[i]);
  apr_ldlt_solve_numbers (self, numbers, run);
  exponent = take_doubles (numbers, n, x);
  apr_pages_free (numbers);

  return exponent;
}

gint64
apr_ldlt_solve (AprLdlt *self, const AprFixed *right_side, gint64 top, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  gboolean in_doubles = self->doubles.high != NULL;
  AprDoubleDoubles doubles = { NULL };
  mpf_t *numbers = NULL;
  gint64 exponent = 0;
  mpz_t value;
  gsize i;

  if (in_doubles)
    doubles = apr_double_doubles_new (1, n, run);
  else
    numbers = apr_numbers_new (n, self->precision, run);
  if (doubles.high == NULL && numbers == NULL)
    {
      memset (x, 0, n * sizeof *x);
      return 0;
    }

  mpz_init (value);
  for (i = 0; i < n; i++)
    {
      gint64 scale = -right_side->fraction - self->scale[i] - top;

      apr_limbs_get_integer (apr_fixed_get (right_side, i), right_side->n_limbs, value);
      if (in_doubles)
        apr_double_doubles_set (doubles, 0, i, apr_dd_from_integer (value, scale));
      else
        apr_number_from_integer (numbers[i], value, scale);
    }
  mpz_clear (value);

  if (in_doubles)
    {
      solve_in_doubles (self, doubles);
      memcpy (x, doubles.high, n * sizeof *x);
      apr_double_doubles_free (&doubles);
    }
  else
    {
      apr_ldlt_solve_numbers (self, numbers, run);
      exponent = take_doubles (numbers, n, x);
      apr_pages_free (numbers);
    }

  return exponent + top;
}
