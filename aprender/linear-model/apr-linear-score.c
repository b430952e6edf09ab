/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-score-private.h"

#include <math.h>

#include <gmp.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/exact-sums/apr-row-products-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

/* The coefficients of one target with the opposite sign, and 1 for the target, as whole numbers times 2^exponent. */
typedef struct
{
  mpz_t *values;  /* (owned) */
  gsize *columns; /* (owned) of the matrix of [1 | X | Y] */
  gsize n;
  int exponent;
} Combination;

static void
combination_clear (Combination *self)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    mpz_clear (self->values[i]);
  g_free (self->values);
  g_free (self->columns);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Combination, combination_clear)

static void
combination_init (
  Combination *self, const double *coefficients, double intercept, gsize n_features, gsize target)
{
  g_autofree int *exponents = g_new (int, n_features + 2);
  gsize i;

  self->values = g_new (mpz_t, n_features + 2);
  self->columns = g_new (gsize, n_features + 2);
  self->exponent = 0;
  for (i = 0; i < n_features + 2; i++)
    {
      double value = i == 0 ? -intercept : i == n_features + 1 ? 1 : -coefficients[i - 1];
      int exponent;

      if (value == 0)
        continue;
      mpz_init_set_d (self->values[self->n], ldexp (frexp (value, &exponent), 53));
      exponents[self->n] = exponent - 53;
      self->exponent = MIN (self->exponent, exponent - 53);
      self->columns[self->n++] = i <= n_features ? i : n_features + 1 + target;
    }
  for (i = 0; i < self->n; i++)
    mpz_mul_2exp (self->values[i], self->values[i], (mp_bitcnt_t) (exponents[i] - self->exponent));
}

/* What is scored: the entries of the matrix, from sums or from samples. */
typedef struct
{
  AprExactSums *sums;  /* (owned) (nullable) */
  AprRowProducts rows; /* without sums */
} Entries;

static void
entries_clear (Entries *self)
{
  g_clear_pointer (&self->sums, apr_exact_sums_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Entries, entries_clear)

static void
get_entry (const Entries *self, gsize row, gsize column, mpz_t value)
{
  if (self->sums != NULL)
    apr_exact_sums_get_entry (self->sums, row, column, value);
  else
    apr_row_products_get_entry (&self->rows, row, column, value);
}

/* The sum of squares of residuals, each from its sample; false where cancelled. */
static gboolean
sum_residuals (const AprRowProducts *rows,
               const Combination *combination,
               GCancellable *cancellable,
               mpz_t sum)
{
  gboolean cancelled = FALSE;
  mpz_t residual;
  mpz_t value;
  gsize i;
  gsize j;

  g_assert (rows->rows != NULL);
  mpz_inits (residual, value, NULL);
  mpz_set_ui (sum, 0);
  for (i = 0; i < rows->rows->n && !cancelled; i++)
    {
      mpz_set_ui (residual, 0);
      for (j = 0; j < combination->n; j++)
        {
          apr_row_products_get_value (rows, combination->columns[j], i, value);
          mpz_addmul (residual, value, combination->values[j]);
        }
      mpz_mul (residual, residual, residual);
      apr_row_products_get_weight (rows, i, value);
      mpz_addmul (sum, residual, value);
      cancelled = g_cancellable_is_cancelled (cancellable);
    }
  mpz_clears (residual, value, NULL);

  return !cancelled;
}

/* The weighted sum of the squares of the residuals, in units of the matrix times 2^(2 exponent); false where
 * cancelled. */
static gboolean
get_residual_sum (const Entries *entries,
                  const Combination *combination,
                  GCancellable *cancellable,
                  mpz_t sum)
{
  gboolean cancelled = FALSE;
  mpz_t row;
  mpz_t entry;
  gsize i;
  gsize j;

  if (entries->sums == NULL)
    return sum_residuals (&entries->rows, combination, cancellable, sum);

  mpz_inits (row, entry, NULL);
  mpz_set_ui (sum, 0);
  for (i = 0; i < combination->n && !cancelled; i++)
    {
      /* The matrix is symmetric: what is left of the diagonal is also above it. */
      mpz_set_ui (row, 0);
      for (j = 0; j < i; j++)
        {
          get_entry (entries, combination->columns[i], combination->columns[j], entry);
          mpz_addmul (row, entry, combination->values[j]);
        }
      mpz_mul_2exp (row, row, 1);
      get_entry (entries, combination->columns[i], combination->columns[i], entry);
      mpz_addmul (row, entry, combination->values[i]);
      mpz_addmul (sum, row, combination->values[i]);
      cancelled = g_cancellable_is_cancelled (cancellable);
    }
  mpz_clears (row, entry, NULL);

  return !cancelled;
}

/* The weighted sum of the residuals, in units of the matrix times 2^exponent. */
static void
get_residual_mean (const Entries *entries, const Combination *combination, mpz_t sum)
{
  mpz_t entry;
  gsize i;

  mpz_init (entry);
  mpz_set_ui (sum, 0);
  for (i = 0; i < combination->n; i++)
    {
      get_entry (entries, combination->columns[i], 0, entry);
      mpz_addmul (sum, entry, combination->values[i]);
    }
  mpz_clear (entry);
}

/* The square root of @sum / @n 2^@exponent, which need not be a double itself. */
static double
get_root (const mpz_t sum, const mpz_t n, gint64 exponent)
{
  gint64 size = (gint64) mpz_sizeinbase (sum, 2) - (gint64) mpz_sizeinbase (n, 2) + exponent;
  gint64 half = size / 2;

  return ldexp (sqrt (apr_round_rational (sum, n, exponent - 2 * half, APR_DTYPE_F64)), (int) half);
}

/* R², or the explained variance: 1 less the share that is left of the squares about the mean. */
static double
get_share (const Entries *entries,
           const Combination *combination,
           AprMetric metric,
           gsize column,
           const mpz_t n,
           const mpz_t residual)
{
  double share;
  mpz_t total;
  mpz_t left;
  mpz_t sum;

  /* W Σ w y² - (Σ w y)², where the sum of squares about the mean is this divided by W = Σ w. */
  mpz_inits (total, left, sum, NULL);
  get_entry (entries, column, 0, sum);
  get_entry (entries, column, column, total);
  mpz_mul (total, total, n);
  mpz_submul (total, sum, sum);

  mpz_mul (left, residual, n);
  if (metric == APR_METRIC_EXPLAINED_VARIANCE)
    {
      get_residual_mean (entries, combination, sum);
      mpz_submul (left, sum, sum);
    }

  /* Less than nothing is what rounding left of sums. */
  if (mpz_sgn (total) <= 0)
    share = mpz_sgn (left) == 0 ? 1 : 0;
  else
    {
      mpz_mul_2exp (total, total, 2 * (mp_bitcnt_t) -combination->exponent);
      mpz_sub (left, total, left);
      share = apr_round_rational (left, total, 0, APR_DTYPE_F64);
    }
  mpz_clears (total, left, sum, NULL);

  return share;
}

gboolean
apr_linear_score_has (AprMetric metric)
{
  return metric == APR_METRIC_R2 || metric == APR_METRIC_EXPLAINED_VARIANCE ||
         metric == APR_METRIC_MEAN_SQUARED_ERROR || metric == APR_METRIC_ROOT_MEAN_SQUARED_ERROR;
}

/* Fails where cancelled, and where @exact sums leave less than nothing of squares. */
static gboolean
score_target (const Entries *entries,
              gboolean exact,
              const Combination *combination,
              AprMetric metric,
              gsize n_features,
              gsize target,
              GCancellable *cancellable,
              double *score,
              GError **error)
{
  gboolean done;
  mpz_t residual;
  mpz_t n;

  mpz_inits (residual, n, NULL);
  get_entry (entries, 0, 0, n);
  done = get_residual_sum (entries, combination, cancellable, residual);
  if (!done)
    g_cancellable_set_error_if_cancelled (cancellable, error);
  else if (exact && mpz_sgn (residual) < 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The sums are not those of any samples: the sum of squares of the residuals of target "
                   "%" G_GSIZE_FORMAT " (counted from 0) is negative",
                   target);
      done = FALSE;
    }
  else if (metric == APR_METRIC_R2 || metric == APR_METRIC_EXPLAINED_VARIANCE)
    *score = get_share (entries, combination, metric, n_features + 1 + target, n, residual);
  else if (mpz_sgn (residual) <= 0)
    *score = 0;
  else if (metric == APR_METRIC_MEAN_SQUARED_ERROR)
    *score = apr_round_rational (residual, n, 2 * (gint64) combination->exponent, APR_DTYPE_F64);
  else
    *score = get_root (residual, n, 2 * (gint64) combination->exponent);
  mpz_clears (residual, n, NULL);

  return done;
}

/* The elements of coefficients, as doubles. */
static double *
get_doubles (AprTensor *tensor, gsize n, GError **error)
{
  double *values = apr_memory_new (n, sizeof *values, "coefficients", error);
  gsize i;

  for (i = 0; values != NULL && i < n; i++)
    values[i] = apr_tensor_get_double (tensor, i, NULL);

  return values;
}

gboolean
apr_linear_score_results (const AprLinearResults *results,
                          AprCrossProducts *state,
                          AprMetric metric,
                          GCancellable *cancellable,
                          double *scores,
                          GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  gboolean exact = apr_cross_products_get_precision (state) == APR_PRECISION_EXACT;
  gsize n_features = results->n_features;
  gsize n_targets = results->n_targets;
  g_autofree double *coefficients = get_doubles (results->coefficients, n_targets * n_features, error);
  g_autofree double *intercepts =
    coefficients != NULL ? get_doubles (results->intercept, n_targets, error) : NULL;
  g_auto (Entries) entries = { NULL };
  gsize i;

  g_assert (apr_linear_score_has (metric));
  if (intercepts == NULL)
    return FALSE;

  if (apr_cross_products_get_rows (state) != NULL)
    apr_row_products_init (&entries.rows, apr_cross_products_get_rows (state));
  else
    entries.sums = apr_cross_products_ref_sums (state, NULL);

  for (i = 0; i < n_targets; i++)
    {
      g_auto (Combination) combination = { 0 };

      if (metric == APR_METRIC_R2 && apr_cross_products_get_n_samples (state) == 1)
        {
          scores[i] = NAN;
          continue;
        }
      combination_init (&combination, coefficients + i * n_features, intercepts[i], n_features, i);
      if (!score_target (&entries, exact, &combination, metric, n_features, i, cancellable, &scores[i],
                         error))
        return FALSE;
    }

  return TRUE;
}
