/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-covariance-private.h"

#include <math.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The middle of the covariance is a matrix of cross products, of the samples weighted by their squared residuals: what
 * sums the samples exactly and in threads sums them for this too. After H. White, "A heteroskedasticity-consistent
 * covariance matrix estimator and a direct test for heteroskedasticity", 1980, and, for HC1 to HC3, J. G. MacKinnon
 * and H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
 * properties", 1985. */

/* From here on a leverage is 1, but for rounding. */
#define MIN_LEFT 0x1p-34

typedef struct
{
  const AprInference *inference;
  const double *solutions; /* by position */
  AprTensor *x;
  AprTensor *y;
  gsize n_targets;
  gsize target;
  double *residuals;
} Residuals;

static void
find_residuals (gpointer data, gsize part, gsize n_parts)
{
  const Residuals *self = data;
  const AprInference *inference = self->inference;
  const gsize *shape = apr_tensor_get_shape (self->x, NULL);
  const guint8 *x = g_bytes_get_data (apr_tensor_get_bytes (self->x), NULL);
  const guint8 *y = g_bytes_get_data (apr_tensor_get_bytes (self->y), NULL);
  AprDType dtype = apr_tensor_get_dtype (self->x);
  AprDType y_dtype = apr_tensor_get_dtype (self->y);
  gsize end = shape[0] / n_parts * (part + 1) + (part + 1 == n_parts ? shape[0] % n_parts : 0);
  gsize i;
  gsize j;

  for (i = shape[0] / n_parts * part; i < end; i++)
    {
      double fitted = 0;

      for (j = inference->first; j < inference->n; j++)
        {
          gsize feature = inference->term[j] - inference->first;

          fitted += self->solutions[j] * apr_dtype_read_double (dtype, x, i * shape[1] + feature);
        }
      if (inference->first > 0)
        fitted += self->solutions[0];
      self->residuals[i] = apr_dtype_read_double (y_dtype, y, i * self->n_targets + self->target) - fitted;
    }
}

static gboolean
check_residual (
  double residual, double weight, AprTensor *x, AprTensor *y, gsize row, gsize target, GError **error)
{
  gsize n_targets = apr_tensor_get_n_elements (y) / apr_tensor_get_shape (y, NULL)[0];

  if (!(weight >= 0 && isfinite (weight)))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                   "sample_weight has %g at row %" G_GSIZE_FORMAT " (counted from 0)", weight, row);
      return FALSE;
    }
  if (isfinite (residual))
    return TRUE;

  if (apr_estimator_check_finite ("X", x, error))
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "y is %g at row %" G_GSIZE_FORMAT " (counted from 0), and its residual is %g",
                 apr_tensor_get_double (y, row * n_targets + target, NULL), row, residual);
  return FALSE;
}

/* The weights of the samples in the middle: the weighted residuals, corrected for the leverages, times 2^-exponent, so
 * that they are at most 1, and squared. Samples without weight do not count. */
static AprTensor *
find_weights (const AprInference *inference,
              AprTensor *x,
              AprTensor *y,
              AprTensor *sample_weight,
              AprCovarianceKind kind,
              gsize target,
              const AprRun *run,
              int *exponent,
              gboolean *any,
              GError **error)
{
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  gboolean corrected = kind == APR_COVARIANCE_HC2 || kind == APR_COVARIANCE_HC3;
  g_autofree double *values = g_new (double, n);
  g_autofree double *leverages = corrected ? g_new (double, n) : NULL;
  g_autofree double *solutions = apr_inference_get_solutions (inference, target);
  Residuals residuals = { inference, solutions, x, y, inference->n_targets, target, values };
  guint64 n_samples = 0;
  double max = 0;
  gsize i;

  apr_parallel_run (find_residuals, &residuals, run->n_threads, 4 * (double) n * (double) inference->n);
  if (corrected && !apr_inference_get_leverages (inference, x, run, leverages, error))
    return NULL;
  for (i = 0; i < n; i++)
    {
      double weight = sample_weight != NULL ? apr_tensor_get_double (sample_weight, i, NULL) : 1;
      double left = corrected ? 1 - weight * leverages[i] : 1;

      if (!check_residual (values[i], weight, x, y, i, target, error))
        return NULL;
      n_samples += weight > 0 ? 1 : 0;
      if (left <= MIN_LEFT)
        {
          g_set_error (
            error, APR_ERROR, APR_ERROR_FAILED,
            "The leverage of sample %" G_GSIZE_FORMAT
            " (counted from 0) is 1: it alone determines a coefficient, so that HC2 and HC3 are not "
            "defined; HC0 and HC1 are",
            i);
          return NULL;
        }
      values[i] = weight * values[i] / (kind == APR_COVARIANCE_HC2 ? sqrt (left) : left);
      max = fmax (max, fabs (values[i]));
    }
  if (n_samples != inference->n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "These are %" G_GUINT64_FORMAT
                   " samples with a weight above 0, but the model was fitted to "
                   "%" G_GUINT64_FORMAT,
                   n_samples, inference->n_samples);
      return NULL;
    }

  *any = max > 0;
  (void) frexp (max, exponent);
  for (i = 0; i < n; i++)
    {
      double value = ldexp (values[i], -*exponent);

      values[i] = value * value;
    }

  return apr_tensor_new_take (APR_DTYPE_F64, &n, 1, g_steal_pointer (&values), n * sizeof (double));
}

/* Σ ω h h', where h is [1 ; 2^-scale (W x - S)], or 2^-scale x without an intercept, by exact products of the columns,
 * in units of 2^(exponent of @sums + @shift). */
static AprDoubleDoubles
read_products (const AprDesign *design, const AprDesign *sums, gsize first, gint64 shift)
{
  gsize n = first + design->n;
  AprDoubleDoubles products = apr_double_doubles_new (n, n);
  mpz_t entry;
  mpz_t total;
  mpz_t *columns = apr_integers_new (design->n + 1);
  gsize i;
  gsize j;

  mpz_init (entry);
  mpz_init (total);
  apr_design_get_entry (sums, 0, 0, total);
  for (i = 0; i < design->n; i++)
    apr_design_get_entry (sums, design->column[i], 0, columns[i]);
  if (first > 0)
    apr_double_doubles_set (products, 0, 0, apr_dd_from_integer (total, -shift));

  for (i = 0; i < design->n; i++)
    {
      /* The column's sum about its mean in the fit, times the sum of weights. */
      mpz_mul (entry, columns[i], design->weight);
      mpz_submul (entry, total, design->columns[i]);
      if (first > 0)
        {
          AprDoubleDouble value = apr_dd_from_integer (entry, -shift - design->scale[i]);

          apr_double_doubles_set (products, 0, 1 + i, value);
          apr_double_doubles_set (products, 1 + i, 0, value);
        }
      mpz_neg (columns[i], columns[i]);
    }
  for (i = 0; i < design->n; i++)
    for (j = 0; j <= i; j++)
      {
        AprDoubleDouble value;

        apr_design_get_entry (sums, design->column[i], design->column[j], entry);
        mpz_mul (entry, entry, design->weight);
        mpz_addmul (entry, design->columns[i], columns[j]);
        mpz_addmul (entry, columns[i], design->columns[j]);
        mpz_mul (entry, entry, design->weight);
        mpz_mul (columns[design->n], design->columns[i], design->columns[j]);
        mpz_addmul (entry, columns[design->n], total);
        value = apr_dd_from_integer (entry, -shift - design->scale[i] - design->scale[j]);
        apr_double_doubles_set (products, first + i, first + j, value);
        apr_double_doubles_set (products, first + j, first + i, value);
      }
  apr_integers_free (columns, design->n + 1);
  mpz_clear (entry);
  mpz_clear (total);

  return products;
}

/* root @products root', where the first row of the root is [1, 0, ...] with an intercept. */
static AprDoubleDoubles
transform (const AprInference *inference, AprDoubleDoubles products, const AprRun *run)
{
  gsize n = inference->n;
  AprDoubleDoubles root = apr_double_doubles_new (n, n);
  AprDoubleDoubles half = apr_double_doubles_new (n, n);
  AprDoubleDoubles scores = apr_double_doubles_new (n, n);
  gsize i;
  gsize j;

  if (inference->first > 0)
    apr_double_doubles_set (root, 0, 0, (AprDoubleDouble){ 1, 0 });
  for (i = inference->first; i < n; i++)
    for (j = inference->first; j <= i; j++)
      apr_double_doubles_set (
        root, j, i, apr_double_doubles_get (inference->root, i - inference->first, j - inference->first));
  apr_double_doubles_subtract_product (half, products, root, n, n, n, run);
  apr_double_doubles_subtract_product (scores, root, half, n, n, n, run);
  apr_double_doubles_free (&root);
  apr_double_doubles_free (&half);

  return scores;
}

gboolean
apr_covariance_init_robust (AprCovariance *self,
                            AprInference *inference,
                            const AprInferenceSource *source,
                            AprTensor *x,
                            AprTensor *y,
                            AprTensor *sample_weight,
                            AprCovarianceKind kind,
                            gsize target,
                            const AprRun *run,
                            GError **error)
{
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprTensor) nothing = NULL;
  g_auto (AprDesign) design = { NULL };
  g_auto (AprDesign) sums = { NULL };
  AprDoubleDoubles products;
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  gboolean any;
  gint64 shift;
  int exponent;
  mpz_t total;

  *self = (AprCovariance){ NULL };
  weights = find_weights (inference, x, y, sample_weight, kind, target, run, &exponent, &any, error);
  if (weights == NULL)
    return FALSE;

  self->inference = apr_inference_ref (inference);
  if (mpf_sgn (inference->residuals[target]) == 0 || !any)
    return TRUE;

  nothing = apr_tensor_new_take (APR_DTYPE_BOOL, shape, 1, g_malloc0 (shape[0]), shape[0]);
  state = apr_cross_products_new_with_precision (
    shape[1], 1, apr_cross_products_get_precision (source->cross_products), error);
  if (state == NULL)
    return FALSE;
  apr_cross_products_set_n_threads (state, run->n_threads);
  if (!apr_cross_products_update (state, x, nothing, weights, run->cancellable, error))
    return FALSE;

  if (!apr_design_init (&sums, state, FALSE, NULL, 0, error) ||
      !apr_design_init (&design, source->cross_products, source->fit_intercept, source->dependent,
                        source->n_dependent, error))
    return FALSE;

  mpz_init (total);
  apr_design_get_entry (&sums, 0, 0, total);
  shift = (gint64) mpz_sizeinbase (total, 2);
  shift += (shift + apr_design_get_exponent (&sums)) % 2;
  mpz_clear (total);
  products = read_products (&design, &sums, inference->first, shift);
  self->scores = transform (inference, products, run);
  apr_double_doubles_free (&products);

  self->factor = (AprDoubleDouble){ 1, 0 };
  if (kind == APR_COVARIANCE_HC1)
    self->factor = apr_dd_divide ((AprDoubleDouble){ (double) inference->n_samples, 0 },
                                  (AprDoubleDouble){ (double) inference->df_residual, 0 });
  self->exponent =
    2 * (gint64) exponent + shift + apr_design_get_exponent (&sums) - 2 * (gint64) inference->exponent;

  return !g_cancellable_set_error_if_cancelled (run->cancellable, error);
}
