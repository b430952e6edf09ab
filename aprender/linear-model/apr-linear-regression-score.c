/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <gmp.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/exact-sums/apr-row-products-private.h"
#include "aprender/least-squares/apr-rounding-private.h"
#include "aprender/linear-model/apr-linear-regression-private.h"

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
  Combination *self, AprTensor *coefficients, AprTensor *intercept, gsize n_features, gsize target)
{
  g_autofree int *exponents = g_new (int, n_features + 2);
  gsize i;

  self->values = g_new (mpz_t, n_features + 2);
  self->columns = g_new (gsize, n_features + 2);
  self->exponent = 0;
  for (i = 0; i < n_features + 2; i++)
    {
      double value = i == 0 ? -apr_tensor_get_double (intercept, target, NULL)
                   : i == n_features + 1
                     ? 1
                     : -apr_tensor_get_double (coefficients, target * n_features + i - 1, NULL);
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

/* Fails where cancelled, and where @exact sums leave less than nothing of squares. */
static gboolean
score_target (const Entries *entries,
              gboolean exact,
              const AprLinearResults *results,
              gsize target,
              GCancellable *cancellable,
              double *score,
              GError **error)
{
  g_auto (Combination) combination = { 0 };
  gsize column = results->n_features + 1 + target;
  gboolean done;
  mpz_t residual;
  mpz_t total;
  mpz_t n;
  mpz_t sum;

  mpz_inits (residual, total, n, sum, NULL);
  combination_init (&combination, results->coefficients, results->intercept, results->n_features, target);
  done = get_residual_sum (entries, &combination, cancellable, residual);
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

  /* W Σ w y² - (Σ w y)², where the sum of squares about the mean is this divided by W = Σ w. */
  get_entry (entries, 0, 0, n);
  get_entry (entries, column, 0, sum);
  get_entry (entries, column, column, total);
  mpz_mul (total, total, n);
  mpz_submul (total, sum, sum);

  /* Less than nothing is what rounding left of sums. */
  if (mpz_sgn (total) <= 0)
    *score = mpz_sgn (residual) == 0 ? 1 : 0;
  else
    {
      mpz_mul (residual, residual, n);
      mpz_mul_2exp (total, total, 2 * (mp_bitcnt_t) -combination.exponent);
      mpz_sub (residual, total, residual);
      *score = apr_round_rational (residual, total, 0, APR_DTYPE_F64);
    }
  mpz_clears (residual, total, n, sum, NULL);

  return done;
}

static AprTensor *
score_cross_products (AprLinearRegression *self,
                      AprCrossProducts *cross_products,
                      GCancellable *cancellable,
                      GError **error)
{
  g_autoptr (AprFitted) fitted = NULL;
  const AprLinearResults *results;
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  g_autofree double *scores = NULL;
  g_auto (Entries) entries = { NULL };
  const AprRun run = { .cancellable = cancellable };
  gboolean exact = apr_cross_products_get_precision (cross_products) == APR_PRECISION_EXACT;
  gsize n_features;
  gsize n_targets;
  AprNames kind;
  gsize i;

  if (!apr_cross_products_check (cross_products, error))
    return NULL;
  fitted = apr_estimator_ref_fitted (APR_ESTIMATOR (self));
  results = fitted->results;
  if (results == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "The model has not been fitted yet");
      return NULL;
    }
  n_features = results->n_features;
  n_targets = results->n_targets;
  if (n_features != apr_cross_products_get_n_features (cross_products) ||
      n_targets != apr_cross_products_get_n_targets (cross_products))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The cross products are of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets, but the model has %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
                   apr_cross_products_get_n_features (cross_products),
                   apr_cross_products_get_n_targets (cross_products), n_features, n_targets);
      return NULL;
    }
  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (!apr_cross_products_check_names (cross_products, kind, (const char *const *) fitted->names[kind],
                                         error))
      return NULL;
  if (apr_cross_products_get_n_samples (cross_products) == 0 ||
      !apr_cross_products_has_weight (cross_products))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "The cross products are of no samples with a weight above 0");
      return NULL;
    }
  if (!apr_cross_products_check_possible (cross_products, &run, error))
    return NULL;

  if (apr_cross_products_get_rows (cross_products) != NULL)
    apr_row_products_init (&entries.rows, apr_cross_products_get_rows (cross_products));
  else
    entries.sums = apr_cross_products_ref_sums (cross_products, NULL);

  scores = g_new (double, n_targets);
  for (i = 0; i < n_targets; i++)
    if (apr_cross_products_get_n_samples (cross_products) == 1)
      scores[i] = NAN;
    else if (!score_target (&entries, exact, results, i, cancellable, &scores[i], error))
      return NULL;

  return apr_tensor_new_from_doubles (scores, n_targets, &n_targets, 1, error);
}

/**
 * apr_linear_regression_score_cross_products:
 * @self: a linear regression
 * @cross_products: the cross products of some samples, which need not be those of the fit
 * @error: return location for an error
 *
 * Computes the coefficient of determination R² of the predictions from the cross products of the samples alone.
 *
 * So a model is scored for data that went by in a stream, or for the part that cross-validation has set aside. For
 * each target, R² = 1 - Σ w (y - prediction)² / Σ w (y - mean)², worked out exactly and rounded once; predictions
 * are not rounded on the way. Where all values of a target are equal, R² is 1 if the predictions are right, and 0
 * otherwise; of one sample it is a NaN. The time grows with the square of the number of features.
 *
 * Fails with %APR_ERROR_NOT_FITTED before the first fit, with %APR_ERROR_SHAPE if the numbers of features or
 * targets are not the model's, with %APR_ERROR_FEATURE_NAMES if both have names and these differ, with
 * %APR_ERROR_EMPTY if there are no samples, and with %APR_ERROR_MODEL if no samples can have such sums.
 *
 * Returns: (transfer full): R² for each target, F64 [n_targets]
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_score_cross_products (AprLinearRegression *self,
                                            AprCrossProducts *cross_products,
                                            GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (cross_products), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return score_cross_products (self, cross_products, g_cancellable_get_current (), error);
}

static gboolean
run_score_cross_products (AprEstimator *self,
                          AprEstimatorCall *call,
                          GCancellable *cancellable,
                          GError **error)
{
  call->results[0] = score_cross_products (APR_LINEAR_REGRESSION (self), APR_CROSS_PRODUCTS (call->object),
                                           cancellable, error);
  call->free_result = (GDestroyNotify) apr_tensor_unref;

  return call->results[0] != NULL;
}

/**
 * apr_linear_regression_score_cross_products_async:
 * @self: a linear regression
 * @cross_products: the cross products of some samples; samples that are added after the call do not count
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the scores are there
 * @user_data: data to pass to @callback
 *
 * Scores the model for samples that have been summed before, without blocking.
 *
 * Since: 0.1
 */
void
apr_linear_regression_score_cross_products_async (AprLinearRegression *self,
                                                  AprCrossProducts *cross_products,
                                                  int io_priority,
                                                  GCancellable *cancellable,
                                                  GAsyncReadyCallback callback,
                                                  gpointer user_data)
{
  AprEstimatorCall *call;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (cross_products));

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_score_cross_products;
  call->object = G_OBJECT (apr_cross_products_copy (cross_products));
  apr_estimator_call_async (APR_ESTIMATOR (self), call, apr_linear_regression_score_cross_products_async,
                            io_priority, cancellable, callback, user_data);
}

/**
 * apr_linear_regression_score_cross_products_finish:
 * @self: a linear regression
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.LinearRegression.score_cross_products_async] began.
 *
 * Returns: (transfer full): R² for each target, or `NULL` with an error as of
 *   [method@Apr.LinearRegression.score_cross_products]
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_score_cross_products_finish (AprLinearRegression *self,
                                                   GAsyncResult *result,
                                                   GError **error)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_linear_regression_score_cross_products_async,
                                         error);
}
