/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-row-products-private.h"

#include <float.h>
#include <math.h>

/* The exponent of the lowest bit of @value, which is not 0. */
static gint
find_lowest_bit (double value)
{
  gint exponent;
  gint64 significand = (gint64) ldexp (frexp (value, &exponent), DBL_MANT_DIG);

  return exponent - DBL_MANT_DIG + __builtin_ctzll ((guint64) significand);
}

void
apr_row_products_init (AprRowProducts *self, const AprSampleRows *rows)
{
  gsize n_values = rows->n_features * rows->n;
  gsize i;

  /* The first column of Z has ones. */
  *self = (AprRowProducts){ rows, 0, rows->weights != NULL ? G_MAXINT32 : 0 };
  for (i = 0; i < n_values; i++)
    {
      double value = rows->floats != NULL ? (double) rows->floats[i] : rows->doubles[i];

      if (value != 0)
        self->unit = MIN (self->unit, find_lowest_bit (value));
    }
  for (i = 0; i < rows->n_targets * rows->n; i++)
    if (rows->y[i] != 0)
      self->unit = MIN (self->unit, find_lowest_bit (rows->y[i]));
  for (i = 0; i < rows->n && rows->weights != NULL; i++)
    self->weight_unit = MIN (self->weight_unit, find_lowest_bit (rows->weights[i]));
}

gint
apr_row_products_get_exponent (const AprRowProducts *self)
{
  return 2 * self->unit + self->weight_unit;
}

static double
get_double (const AprRowProducts *self, gsize column, gsize sample)
{
  const AprSampleRows *rows = self->rows;
  gsize feature = column - 1;

  if (column == 0)
    return 1;
  if (column > rows->n_features)
    return rows->y[(feature - rows->n_features) * rows->n + sample];

  return rows->floats != NULL ? (double) rows->floats[feature * rows->n + sample]
                              : rows->doubles[feature * rows->n + sample];
}

static void
set_number (mpz_t number, double value, gint unit)
{
  gint exponent;
  double fraction = frexp (value, &exponent);

  mpz_set_d (number, ldexp (fraction, DBL_MANT_DIG));
  exponent -= DBL_MANT_DIG + unit;
  if (exponent > 0)
    mpz_mul_2exp (number, number, (mp_bitcnt_t) exponent);
  else if (value != 0)
    mpz_tdiv_q_2exp (number, number, (mp_bitcnt_t) -exponent);
}

void
apr_row_products_get_value (const AprRowProducts *self, gsize column, gsize sample, mpz_t value)
{
  set_number (value, get_double (self, column, sample), self->unit);
}

void
apr_row_products_get_weight (const AprRowProducts *self, gsize sample, mpz_t value)
{
  set_number (value, self->rows->weights != NULL ? self->rows->weights[sample] : 1, self->weight_unit);
}

void
apr_row_products_get_entry (const AprRowProducts *self, gsize row, gsize column, mpz_t value)
{
  mpz_t one;
  mpz_t other;
  gsize i;

  mpz_inits (one, other, NULL);
  mpz_set_ui (value, 0);
  for (i = 0; i < self->rows->n; i++)
    {
      apr_row_products_get_value (self, row, i, one);
      apr_row_products_get_value (self, column, i, other);
      if (self->rows->weights != NULL)
        {
          mpz_mul (one, one, other);
          apr_row_products_get_weight (self, i, other);
        }
      mpz_addmul (value, one, other);
    }
  mpz_clears (one, other, NULL);
}
