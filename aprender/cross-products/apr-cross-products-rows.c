/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

/* What a state holds: sums, or, while they are few beside the features, the samples themselves. Which of the two depends
 * on the samples alone, not on their way into the state. */

const AprSampleRows *
apr_cross_products_get_rows (AprCrossProducts *self)
{
  return self->rows;
}

AprExactSums *
apr_cross_products_ref_sums (AprCrossProducts *self, GError **error)
{
  /* In one thread, so that the exponent of the sums is the same each time. */
  return self->rows != NULL ? apr_sample_rows_sum (self->rows, 1, error)
                            : apr_exact_sums_ref (self->sums);
}

gboolean
apr_cross_products_has_weight (AprCrossProducts *self)
{
  return self->rows != NULL || apr_exact_sums_has_weight (self->sums);
}

gboolean
apr_cross_products_can_have_rows (AprCrossProducts *self, guint64 n_added)
{
  return self->precision == APR_PRECISION_EXACT && n_added <= G_MAXINT64 &&
         apr_sample_rows_are_few (self->n_samples + n_added, apr_exact_sums_get_n_features (self->sums)) &&
         (self->rows != NULL || (self->n_samples == 0 && apr_exact_sums_is_zero (self->sums)));
}

AprSampleRows *
apr_cross_products_add_rows (AprCrossProducts *self, AprSampleRows *added)
{
  if (added == NULL || !apr_cross_products_can_have_rows (self, added->n))
    return NULL;

  return self->rows != NULL ? apr_sample_rows_merge (self->rows, added) : apr_sample_rows_ref (added);
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
