/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-score-private.h"

#include <math.h>

#include <gmp.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/exact-sums/apr-row-products-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

/* The intercept and the coefficients of one target with the opposite sign, and 1 for the target, as whole numbers times
 * 2^exponent. */
typedef struct
{
  mpz_t *values; /* (owned) */
  gsize n;
  gsize
    target; /* the column of the matrix of [1 | X | Y] that the last value is of; the others are of the first */
  int exponent;
} Combination;

static void
combination_clear (Combination *self)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    mpz_clear (self->values[i]);
  g_free (self->values);
}

static void
combination_init (
  Combination *self, const double *coefficients, double intercept, gsize n_features, gsize target)
{
  g_autofree int *exponents = g_new (int, n_features + 2);
  gsize i;

  self->values = g_new (mpz_t, n_features + 2);
  self->n = n_features + 2;
  self->target = n_features + 1 + target;
  self->exponent = 0;
  for (i = 0; i < self->n; i++)
    {
      double value = i == 0 ? -intercept : i == n_features + 1 ? 1 : -coefficients[i - 1];

      mpz_init_set_d (self->values[i], ldexp (frexp (value, &exponents[i]), 53));
      exponents[i] -= 53;
      if (value != 0)
        self->exponent = MIN (self->exponent, exponents[i]);
    }
  for (i = 0; i < self->n; i++)
    if (mpz_sgn (self->values[i]) != 0)
      mpz_mul_2exp (self->values[i], self->values[i], (mp_bitcnt_t) (exponents[i] - self->exponent));
}

static gsize
get_column (const Combination *self, gsize i)
{
  return i + 1 < self->n ? i : self->target;
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
          apr_row_products_get_value (rows, get_column (combination, j), i, value);
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

/* Adds twice the products of a row of the matrix left of its diagonal with the first values of each combination, and
 * that with the diagonal, times the combination's value of the row: the matrix is symmetric. */
static void
add_row (
  const Entries *entries, const Combination *combinations, gsize n, gsize row, mpz_t *rows, mpz_t *sums)
{
  gsize column = get_column (combinations, row);
  mpz_t entry;
  gsize i;
  gsize j;

  mpz_init (entry);
  for (i = 0; i < n; i++)
    mpz_set_ui (rows[i], 0);
  for (j = 0; j < row; j++)
    {
      get_entry (entries, column, j, entry);
      for (i = 0; i < n; i++)
        mpz_addmul (rows[i], entry, combinations[i].values[j]);
    }
  get_entry (entries, column, column, entry);
  for (i = 0; i < n; i++)
    {
      mpz_mul_2exp (rows[i], rows[i], 1);
      mpz_addmul (rows[i], entry, combinations[i].values[row]);
      mpz_addmul (sums[i], rows[i], combinations[i].values[row]);
    }
  mpz_clear (entry);
}

/* The weighted sum of the squares of the residuals of each target, in units of the matrix times 2^(2 exponent), where
 * @sums are 0 at first; false where cancelled. */
static gboolean
find_residual_sums (const Entries *entries,
                    const Combination *combinations,
                    gsize n,
                    GCancellable *cancellable,
                    mpz_t *rows,
                    mpz_t *sums)
{
  gboolean cancelled = FALSE;
  gsize i;

  /* Each entry is read once for all targets. */
  for (i = 0; i + 1 < combinations->n && entries->sums != NULL && !cancelled; i++)
    {
      add_row (entries, combinations, n, i, rows, sums);
      cancelled = g_cancellable_is_cancelled (cancellable);
    }
  for (i = 0; i < n && !cancelled; i++)
    if (entries->sums != NULL)
      add_row (entries, &combinations[i], 1, combinations->n - 1, &rows[i], &sums[i]);
    else
      cancelled = !sum_residuals (&entries->rows, &combinations[i], cancellable, sums[i]);

  return !cancelled;
}

/* The weighted sum of the residuals, in units of the matrix times 2^exponent. */
static void
get_residual_sum (const Entries *entries, const Combination *combination, mpz_t sum)
{
  mpz_t entry;
  gsize i;

  mpz_init (entry);
  mpz_set_ui (sum, 0);
  for (i = 0; i < combination->n; i++)
    {
      get_entry (entries, get_column (combination, i), 0, entry);
      mpz_addmul (sum, entry, combination->values[i]);
    }
  mpz_clear (entry);
}

/* The square root of @sum / @n 2^@exponent, rounded to nearest. */
static double
get_root (const mpz_t sum, const mpz_t n, gint64 exponent)
{
  gint64 n_missing = 128 + (gint64) mpz_sizeinbase (n, 2) - (gint64) mpz_sizeinbase (sum, 2);
  mp_bitcnt_t shift = (mp_bitcnt_t) MAX (n_missing, 0);
  gboolean inexact;
  double result;
  mpz_t quotient;
  mpz_t rest;

  /* A root of more bits than a double, and one that tells whether it is all: none where the exponent would be odd. */
  shift += (mp_bitcnt_t) ((exponent - (gint64) shift) & 1);
  mpz_inits (quotient, rest, NULL);
  mpz_mul_2exp (quotient, sum, shift);
  mpz_tdiv_qr (quotient, rest, quotient, n);
  inexact = mpz_sgn (rest) != 0;
  mpz_sqrtrem (quotient, rest, quotient);
  inexact = inexact || mpz_sgn (rest) != 0;
  mpz_mul_2exp (quotient, quotient, 1);
  if (inexact)
    mpz_setbit (quotient, 0);
  result = apr_round_dyadic (quotient, (exponent - (gint64) shift) / 2 - 1, APR_DTYPE_F64);
  mpz_clears (quotient, rest, NULL);

  return result;
}

/* R², or the explained variance: 1 less the share that is left of the squares about the mean. */
static double
get_share (const Entries *entries,
           const Combination *combination,
           AprMetric metric,
           const mpz_t n,
           const mpz_t residual)
{
  gsize column = combination->target;
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
      get_residual_sum (entries, combination, sum);
      mpz_submul (left, sum, sum);
    }

  /* Less than nothing is what rounding left of sums. */
  if (mpz_sgn (left) < 0)
    mpz_set_ui (left, 0);
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

/* Fails where @exact sums leave less than nothing of squares. */
static gboolean
score_target (const Entries *entries,
              gboolean exact,
              const Combination *combination,
              AprMetric metric,
              const mpz_t residual,
              double *score,
              GError **error)
{
  mpz_t n;

  if (exact && mpz_sgn (residual) < 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The sums are not those of any samples: the sum of squares of the residuals of target "
                   "%" G_GSIZE_FORMAT " (counted from 0) is negative",
                   combination->target + 1 - combination->n);
      return FALSE;
    }

  mpz_init (n);
  get_entry (entries, 0, 0, n);
  if (metric == APR_METRIC_R2 || metric == APR_METRIC_EXPLAINED_VARIANCE)
    *score = get_share (entries, combination, metric, n, residual);
  else if (mpz_sgn (residual) <= 0)
    *score = 0;
  else if (metric == APR_METRIC_MEAN_SQUARED_ERROR)
    *score = apr_round_rational (residual, n, 2 * (gint64) combination->exponent, APR_DTYPE_F64);
  else
    *score = get_root (residual, n, 2 * (gint64) combination->exponent);
  mpz_clear (n);

  return TRUE;
}

/* Of each target a combination, and the sums that are found of it. */
typedef struct
{
  Combination *combinations; /* (owned) */
  mpz_t *sums;               /* (owned) */
  mpz_t *rows;               /* (owned) */
  gsize n;
} Targets;

static void
targets_clear (Targets *self)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      combination_clear (&self->combinations[i]);
      mpz_clears (self->sums[i], self->rows[i], NULL);
    }
  g_free (self->combinations);
  g_free (self->sums);
  g_free (self->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Targets, targets_clear)

static void
targets_init (Targets *self, const AprLinearResults *results)
{
  gsize n_features = results->n_features;
  g_autofree double *coefficients = g_new (double, n_features);
  gsize i;
  gsize j;

  self->n = results->n_targets;
  self->combinations = g_new0 (Combination, self->n);
  self->sums = g_new (mpz_t, self->n);
  self->rows = g_new (mpz_t, self->n);
  for (i = 0; i < self->n; i++)
    {
      for (j = 0; j < n_features; j++)
        coefficients[j] = apr_tensor_get_double (results->coefficients, i * n_features + j, NULL);
      combination_init (&self->combinations[i], coefficients,
                        apr_tensor_get_double (results->intercept, i, NULL), n_features, i);
      mpz_inits (self->sums[i], self->rows[i], NULL);
    }
}

gboolean
apr_linear_score_results (const AprLinearResults *results,
                          AprCrossProducts *state,
                          guint64 n_samples,
                          AprMetric metric,
                          GCancellable *cancellable,
                          double *scores,
                          GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  gboolean exact = apr_cross_products_get_precision (state) == APR_PRECISION_EXACT;
  g_auto (Entries) entries = { NULL };
  g_auto (Targets) targets = { NULL };
  gsize i;

  g_assert (apr_linear_score_has (metric));
  if (metric == APR_METRIC_R2 && n_samples == 1)
    {
      for (i = 0; i < results->n_targets; i++)
        scores[i] = NAN;
      return TRUE;
    }

  if (apr_cross_products_get_rows (state) != NULL)
    apr_row_products_init (&entries.rows, apr_cross_products_get_rows (state));
  else
    entries.sums = apr_cross_products_ref_sums (state, NULL);

  targets_init (&targets, results);
  if (!find_residual_sums (&entries, targets.combinations, targets.n, cancellable, targets.rows,
                           targets.sums))
    {
      g_cancellable_set_error_if_cancelled (cancellable, error);
      return FALSE;
    }
  for (i = 0; i < targets.n; i++)
    if (!score_target (&entries, exact, &targets.combinations[i], metric, targets.sums[i], &scores[i], error))
      return FALSE;

  return TRUE;
}
