/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-design-private.h"

#include <float.h>
#include <math.h>

#include "aprender/least-squares/apr-double-doubles-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* The bits of a sum, of which three doubles have up to 159. */
#define SUM_PRECISION 192

gboolean
apr_design_init (AprDesign *self,
                 AprCrossProducts *cross_products,
                 gboolean centred,
                 const gsize *dependent,
                 gsize n_dependent,
                 gboolean relations,
                 GError **error)
{
  gsize n_features = apr_cross_products_get_n_features (cross_products);
  gsize n_found = 0;
  mpz_t square;
  gsize i;

  *self = (AprDesign){ .centred = centred, .n_targets = apr_cross_products_get_n_targets (cross_products) };
  if (apr_cross_products_stays_rows (cross_products))
    apr_row_products_init (&self->rows, apr_cross_products_get_rows (cross_products));
  else
    {
      self->sums = apr_cross_products_ref_sums (cross_products, error);
      if (self->sums == NULL)
        return FALSE;
    }
  self->ones = self->n_targets;
  self->n_targets += centred ? 0 : 1;
  self->n = n_features - n_dependent;
  self->n_columns = self->n + self->n_targets + (relations ? n_dependent : 0);
  self->column = g_new (gsize, self->n_columns);
  for (i = 0; i < n_features; i++)
    if (n_found < n_dependent && dependent[n_found] == i)
      {
        if (relations)
          self->column[self->n + self->n_targets + n_found] = 1 + i;
        n_found++;
      }
    else
      self->column[i - n_found] = 1 + i;
  for (i = 0; i < self->ones; i++)
    self->column[self->n + i] = 1 + n_features + i;
  if (!centred)
    self->column[self->n + self->ones] = 0;

  mpz_init_set_ui (self->weight, 1);
  self->columns = apr_integers_new (self->n_columns);
  if (centred)
    {
      apr_design_get_entry (self, 0, 0, self->weight);
      for (i = 0; i < self->n_columns; i++)
        apr_design_get_entry (self, self->column[i], 0, self->columns[i]);
    }

  self->scale = g_new (gint64, self->n_columns);
  mpz_init (square);
  for (i = 0; i < self->n_columns; i++)
    {
      apr_design_get_product (self, i, i, square);
      self->scale[i] = (gint64) mpz_sizeinbase (square, 2) / 2;
    }
  mpz_clear (square);

  return TRUE;
}

void
apr_design_clear (AprDesign *self)
{
  g_clear_pointer (&self->sums, apr_exact_sums_unref);
  if (self->columns == NULL)
    return;

  apr_integers_free (self->columns, self->n_columns);
  self->columns = NULL;
  mpz_clear (self->weight);
  g_clear_pointer (&self->column, g_free);
  g_clear_pointer (&self->scale, g_free);
}

void
apr_design_get_entry (const AprDesign *self, gsize row, gsize column, mpz_t value)
{
  if (self->sums != NULL)
    apr_exact_sums_get_entry (self->sums, row, column, value);
  else
    apr_row_products_get_entry (&self->rows, row, column, value);
}

gint
apr_design_get_exponent (const AprDesign *self)
{
  return self->sums != NULL ? apr_exact_sums_get_exponent (self->sums)
                            : apr_row_products_get_exponent (&self->rows);
}

AprDoubleDouble
apr_design_get_scaled_sum (const AprDesign *self, gsize i, double *rest)
{
  AprDoubleDouble sum = apr_dd_from_integer (self->columns[i], -self->scale[i]);
  mpf_t number;
  mpf_t part;

  *rest = 0;
  /* Numbers in GMP are finite. */
  if (!isfinite (sum.high))
    return sum;

  mpf_init2 (number, SUM_PRECISION);
  mpf_init2 (part, SUM_PRECISION);
  mpf_set_z (number, self->columns[i]);
  mpf_div_2exp (number, number, (mp_bitcnt_t) self->scale[i]);
  mpf_set_d (part, sum.high);
  mpf_sub (number, number, part);
  mpf_set_d (part, sum.low);
  mpf_sub (number, number, part);
  *rest = mpf_get_d (number);
  mpf_clear (number);
  mpf_clear (part);

  return sum;
}

void
apr_design_get_product (const AprDesign *self, gsize i, gsize j, mpz_t value)
{
  apr_design_get_entry (self, self->column[i], self->column[j], value);
  if (self->centred)
    {
      mpz_mul (value, value, self->weight);
      mpz_submul (value, self->columns[i], self->columns[j]);
    }
}
