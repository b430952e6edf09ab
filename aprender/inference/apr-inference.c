/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* Fills in the terms, and for each position, and then for each target, the column of the cross products. Returns: (transfer full) */
static gsize *
find_columns (AprInference *self, const AprInferenceSource *source, gsize n_features, gsize n_targets)
{
  gsize *columns = g_new (gsize, n_features + n_targets + 1);
  gsize n_dependent = 0;
  gsize i;

  self->first = source->fit_intercept ? 1 : 0;
  self->n_terms = n_features + self->first;
  self->term = g_new0 (gsize, self->n_terms + 1);
  self->names = g_new0 (char *, self->n_terms + 1);
  self->n = self->first;
  columns[0] = 0;
  if (source->fit_intercept)
    self->names[0] = g_strdup ("(Intercept)");
  for (i = 0; i < n_features; i++)
    {
      self->names[self->first + i] = source->feature_names != NULL ? g_strdup (source->feature_names[i])
                                                                   : g_strdup_printf ("x%" G_GSIZE_FORMAT, i);
      if (n_dependent < source->n_dependent && source->dependent[n_dependent] == i)
        n_dependent++;
      else
        {
          self->term[self->n] = i + self->first;
          columns[self->n++] = 1 + i;
        }
    }
  for (i = 0; i < n_targets; i++)
    columns[self->n + i] = 1 + n_features + i;

  return columns;
}

/* The sum of squares of a column, about its mean where there is an intercept. */
static void
find_total (const AprInference *self, mpz_t *matrix, gsize position, mpf_t total)
{
  mpf_t weights;
  mpz_t product;

  mpf_set_z (total, matrix[apr_triangle (position, position)]);
  if (self->first == 0)
    return;

  mpz_init (product);
  mpz_mul (product, matrix[apr_triangle (position, position)], matrix[0]);
  mpz_submul (product, matrix[apr_triangle (position, 0)], matrix[apr_triangle (position, 0)]);
  mpf_set_z (total, product);
  mpz_clear (product);
  mpf_init2 (weights, APR_INFERENCE_PRECISION);
  mpf_set_z (weights, matrix[0]);
  mpf_div (total, total, weights);
  mpf_clear (weights);
}

AprInference *
apr_inference_new (const AprInferenceSource *source, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprExactSums *sums = apr_cross_products_get_sums (source->cross_products);
  gsize n_targets = apr_exact_sums_get_n_targets (sums);
  g_autoptr (AprInference) self = g_new0 (AprInference, 1);
  g_autofree gsize *columns = NULL;
  mpz_t *matrix;
  gboolean known;
  gsize n;
  gsize i;
  gsize j;

  g_atomic_ref_count_init (&self->ref_count);
  self->n_samples = apr_cross_products_get_n_samples (source->cross_products);
  self->exponent = apr_exact_sums_get_exponent (sums);
  self->weight_logs = apr_cross_products_get_weight_logs (source->cross_products);
  self->coefficients = apr_tensor_ref (source->coefficients);
  self->intercept = apr_tensor_ref (source->intercept);
  columns = find_columns (self, source, apr_exact_sums_get_n_features (sums), n_targets);
  self->df_residual = self->n_samples > self->n ? self->n_samples - self->n : 0;

  n = self->n + n_targets;
  matrix = apr_integers_new (apr_triangle (n, 0));
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      apr_exact_sums_get_entry (sums, columns[i], columns[j], matrix[apr_triangle (i, j)]);
  known = apr_inverse_init (&self->inverse, matrix, self->n, n_targets);
  self->totals = g_new (mpf_t, n);
  for (i = 0; i < n; i++)
    {
      mpf_init2 (self->totals[i], APR_INFERENCE_PRECISION);
      find_total (self, matrix, i, self->totals[i]);
    }
  apr_integers_free (matrix, apr_triangle (n, 0));

  if (!known)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The sums are not those of any samples with %" G_GSIZE_FORMAT " independent features",
                   self->n - self->first);
      return NULL;
    }

  return g_steal_pointer (&self);
}

AprInference *
apr_inference_ref (AprInference *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
apr_inference_unref (AprInference *self)
{
  gsize i;

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  for (i = 0; self->totals != NULL && i < self->n + self->inverse.n_targets; i++)
    mpf_clear (self->totals[i]);
  g_free (self->totals);
  apr_inverse_clear (&self->inverse);
  g_free (self->term);
  g_strfreev (self->names);
  apr_tensor_unref (self->coefficients);
  apr_tensor_unref (self->intercept);
  g_free (self);
}

double
apr_inference_to_double (const mpf_t number, gint64 exponent)
{
  signed long own_exponent;
  double mantissa = mpf_get_d_2exp (&own_exponent, number);
  mpf_t scaled;
  mpf_t rest;

  /* What GMP has cut off. */
  mpf_init2 (scaled, APR_INFERENCE_PRECISION);
  mpf_init2 (rest, APR_INFERENCE_PRECISION);
  if (own_exponent >= 0)
    mpf_div_2exp (scaled, number, (mp_bitcnt_t) own_exponent);
  else
    mpf_mul_2exp (scaled, number, (mp_bitcnt_t) -own_exponent);
  mpf_set_d (rest, mantissa);
  mpf_sub (rest, scaled, rest);
  mantissa += mpf_get_d (rest);
  mpf_clear (scaled);
  mpf_clear (rest);

  return ldexp (mantissa, (int) CLAMP (own_exponent + exponent, -5000, 5000));
}
