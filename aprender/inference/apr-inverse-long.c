/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inverse-private.h"

#include <math.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-ldlt-private.h"

/* Independent columns of doubles never need so much; what a file claims might. */
#define MAX_PRECISION (1 << 14)

/* Bits of a solution behind its point. */
#define FRACTION 256

static AprDoubleDouble
dd_from_number (const mpf_t number)
{
  double high = mpf_get_d (number);
  double low;
  mpf_t rest;

  if (!isfinite (high))
    return (AprDoubleDouble){ high, 0 };

  mpf_init2 (rest, 192);
  mpf_set_d (rest, high);
  mpf_sub (rest, number, rest);
  low = mpf_get_d (rest);
  mpf_clear (rest);

  return apr_dd_quick_sum (high, low);
}

/* root = D^-1/2 L^-1, row by row. */
static gboolean
invert (AprInverse *self, const mpf_t *factor, const AprRun *run)
{
  mp_bitcnt_t precision = mpf_get_prec (factor[0]);
  mpf_t *numbers = apr_numbers_new (apr_triangle (self->n, 0), (gint64) precision, run);
  mpf_t product;
  gsize i;
  gsize j;
  gsize k;

  mpf_init2 (product, precision);
  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    {
      mpf_t *row = numbers + apr_triangle (i, 0);

      mpf_set_ui (row[i], 1);
      for (k = 0; k < i && !apr_run_is_cancelled (run); k++)
        for (j = 0; j <= k; j++)
          {
            mpf_mul (product, factor[apr_triangle (i, k)], numbers[apr_triangle (k, j)]);
            mpf_sub (row[j], row[j], product);
          }
    }
  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    {
      mpf_t *row = numbers + apr_triangle (i, 0);

      mpf_sqrt (product, factor[apr_triangle (i, i)]);
      for (j = 0; j <= i; j++)
        {
          mpf_div (row[j], row[j], product);
          apr_double_doubles_set (self->root, i, j, dd_from_number (row[j]));
        }
    }
  mpf_clear (product);
  apr_pages_free (numbers);

  return !apr_run_is_cancelled (run);
}

/* The inverse and its squares can be told in doubles, as they can for columns of doubles that are independent. */
static gboolean
is_root_small (const AprInverse *self)
{
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    for (j = 0; j <= i; j++)
      if (!(fabs (self->root.high[i * self->root.stride + j]) < 0x1p400))
        return FALSE;

  return TRUE;
}

void
apr_inverse_correct_long (const AprInverse *self,
                          const AprDesign *design,
                          mpz_t *right,
                          gint64 unit,
                          mpz_t *z,
                          gint64 fraction,
                          const AprRun *run)
{
  const mpf_t *factor = apr_ldlt_get_numbers (self->factor);
  mpf_t *x = g_new (mpf_t, self->n);
  mpz_t addend;
  gsize i;

  mpz_init (addend);
  for (i = 0; i < self->n; i++)
    {
      mpf_init2 (x[i], mpf_get_prec (factor[0]));
      mpf_set_z (x[i], right[i]);
      if (unit + design->scale[i] >= 0)
        mpf_div_2exp (x[i], x[i], (mp_bitcnt_t) (unit + design->scale[i]));
      else
        mpf_mul_2exp (x[i], x[i], (mp_bitcnt_t) - (unit + design->scale[i]));
    }
  apr_ldlt_solve_numbers (self->factor, x, run);
  for (i = 0; i < self->n; i++)
    {
      mpf_mul_2exp (x[i], x[i], (mp_bitcnt_t) fraction);
      mpz_set_f (addend, x[i]);
      mpz_add (z[i], z[i], addend);
      mpf_clear (x[i]);
    }
  mpz_clear (addend);
  g_free (x);
}

/* The solutions of all right-hand sides. */
static void
solve (AprInverse *self, const AprDesign *design, const AprRun *run)
{
  mpz_t *right = apr_integers_new (self->n);
  mpz_t *z = apr_integers_new (self->n);
  gsize k;
  gsize i;

  for (k = 0; k < self->n_right && !apr_run_is_cancelled (run); k++)
    {
      gsize column = self->n + k;

      for (i = 0; i < self->n; i++)
        {
          apr_design_get_product (design, i, column, right[i]);
          mpz_set_ui (z[i], 0);
        }
      apr_inverse_correct_long (self, design, right, design->scale[column], z, FRACTION, run);
      for (i = 0; i < self->n; i++)
        apr_double_doubles_set (self->solutions, k, i, apr_dd_from_integer (z[i], -FRACTION));
      if (k < self->n_targets)
        mpf_set_si (self->residuals[k], -1);
    }
  apr_integers_free (right, self->n);
  apr_integers_free (z, self->n);
}

gboolean
apr_inverse_factorise_long (AprInverse *self, const AprDesign *design, const AprRun *run)
{
  AprIntegerTable matrix;
  gsize max_bits = 0;
  mpz_t product;
  gsize i;
  gsize j;

  mpz_init (product);
  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j <= i; j++)
      {
        apr_design_get_product (design, i, j, product);
        max_bits = MAX (max_bits, mpz_sizeinbase (product, 2));
      }
  if (apr_integer_table_init (&matrix, apr_triangle (self->n, 0), max_bits, run))
    for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
      for (j = 0; j <= i; j++)
        {
          apr_design_get_product (design, i, j, product);
          apr_integer_table_set (&matrix, apr_triangle (i, j), product);
        }
  mpz_clear (product);
  self->factor = apr_ldlt_new_long (matrix.numbers, self->n, MAX_PRECISION, run);
  apr_pages_free (matrix.numbers);
  if (self->factor == NULL || !invert (self, apr_ldlt_get_numbers (self->factor), run) ||
      !is_root_small (self))
    return FALSE;
  solve (self, design, run);

  return !apr_run_is_cancelled (run);
}
