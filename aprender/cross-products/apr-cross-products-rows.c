/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <math.h>

#include "aprender/base/apr-number-private.h"

/* With fewer features, sums are small, and what is made of them is what it always was. */
#define MIN_FEATURES 1024

/* What a state holds: sums, or, while they are few beside the features, the samples themselves. Which of the two
 * depends on the samples alone, not on their way into the state. */

const AprSampleRows *
apr_cross_products_get_rows (AprCrossProducts *self)
{
  return self->rows;
}

AprExactSums *
apr_cross_products_ref_sums (AprCrossProducts *self, GError **error)
{
  /* In one thread, so that the exponent of the sums is the same each time. */
  return self->rows != NULL ? apr_sample_rows_sum (self->rows, 1, error) : apr_exact_sums_ref (self->sums);
}

gboolean
apr_cross_products_has_weight (AprCrossProducts *self)
{
  return self->rows != NULL || apr_exact_sums_has_weight (self->sums);
}

gboolean
apr_cross_products_check_weight (AprCrossProducts *self, GError **error)
{
  char number[APR_NUMBER_SIZE];
  mpz_t weight;
  double value;

  if (self->n_samples > 0 && apr_cross_products_has_weight (self))
    return TRUE;

  mpz_init (weight);
  apr_exact_sums_get_entry (self->sums, 0, 0, weight);
  value = ldexp (mpz_get_d (weight), apr_exact_sums_get_exponent (self->sums));
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The sums are not those of any samples: of %" G_GUINT64_FORMAT
               " samples, the sum of the weights is %s",
               self->n_samples, apr_number_format (value, FALSE, number));
  mpz_clear (weight);
  return FALSE;
}

gboolean
apr_cross_products_check_possible (AprCrossProducts *self, const AprRun *run, GError **error)
{
  return apr_cross_products_check_weight (self, error) &&
         (self->rows != NULL || self->precision != APR_PRECISION_EXACT ||
          apr_exact_sums_check (self->sums, run, error));
}

gboolean
apr_cross_products_can_have_rows (AprCrossProducts *self, guint64 n_added)
{
  return self->precision == APR_PRECISION_EXACT && n_added <= G_MAXINT64 &&
         apr_sample_rows_are_few (self->n_samples + n_added, apr_exact_sums_get_n_features (self->sums)) &&
         (self->rows != NULL || (self->n_samples == 0 && apr_exact_sums_is_zero (self->sums)));
}

gboolean
apr_cross_products_add_rows (AprCrossProducts *self,
                             AprSampleRows *added,
                             AprSampleRows **rows,
                             GError **error)
{
  *rows = NULL;
  if (added == NULL || !apr_cross_products_can_have_rows (self, added->n))
    return TRUE;

  *rows = self->rows != NULL ? apr_sample_rows_merge (self->rows, added, error) : apr_sample_rows_ref (added);
  return *rows != NULL;
}

void
apr_cross_products_take (AprCrossProducts *self, AprExactSums *sums, AprSampleRows *rows)
{
  if (rows != NULL)
    sums = apr_exact_sums_new (apr_exact_sums_get_n_features (self->sums),
                               apr_exact_sums_get_n_targets (self->sums), NULL);
  apr_exact_sums_unref (self->sums);
  self->sums = sums;
  apr_sample_rows_unref (self->rows);
  self->rows = NULL;
  if (rows != NULL && rows->n == 0)
    apr_sample_rows_unref (rows);
  else
    self->rows = rows;
}

gboolean
apr_cross_products_stays_rows (AprCrossProducts *self)
{
  return self->rows != NULL && self->rows->n_features >= MIN_FEATURES;
}

/**
 * apr_cross_products_get_n_bytes:
 * @self: a state
 *
 * Gets how much memory the state takes, for those who decide where to keep it. Copies share most of it.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
gsize
apr_cross_products_get_n_bytes (AprCrossProducts *self)
{
  const AprSampleRows *rows;
  gsize n_limbs;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  (void) apr_exact_sums_get_limbs (self->sums, &n_limbs);

  rows = self->rows;
  if (rows == NULL)
    return sizeof *self + apr_exact_sums_get_n_entries (self->sums) * n_limbs * sizeof (gint64);

  return sizeof *self +
         rows->n * (rows->n_features * (rows->floats != NULL ? sizeof (float) : sizeof (double)) +
                    (rows->n_targets + (rows->weights != NULL)) * sizeof (double));
}
