/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-covariance-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/inference/apr-residuals-private.h"
#include "aprender/least-squares/apr-products-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The middle of the covariance is a matrix of cross products, of the samples times their residuals: what sums samples
 * in threads sums these too. The rows are centred and multiplied once, and then summed as they are, which takes a part
 * of the time that weights do. Each entry is two doubles, the second of which has what rounding left of the first, so
 * that terms which nearly depend on each other leave enough digits. What the centres lack is put right in the sums.
 * After H. White, "A heteroskedasticity-consistent covariance matrix estimator and a direct test for
 * heteroskedasticity", 1980, and, for HC1 to HC3, J. G. MacKinnon and H. White, "Some heteroskedasticity-consistent
 * covariance matrix estimators with improved finite sample properties", 1985. */

/* From here on a leverage is 1, but for rounding, or cannot be told from it. */
#define MIN_LEFT 0x1p-34

static gboolean
check_residual (
  double residual, double weight, AprTensor *x, AprTensor *y, gsize row, gsize target, GError **error)
{
  gsize n_targets = apr_tensor_get_n_elements (y) / apr_tensor_get_shape (y, NULL)[0];
  gboolean narrow = apr_tensor_get_dtype (y) == APR_DTYPE_F32;
  char number[APR_NUMBER_SIZE];
  char residual_number[APR_NUMBER_SIZE];
  double value;

  if (!apr_rows_check_weight (weight, row, error))
    return FALSE;
  if (isfinite (residual))
    return TRUE;
  if (!apr_estimator_check_finite ("X", x, error))
    return FALSE;

  /* A sample without weight may be far away. */
  value = apr_tensor_get_double (y, row * n_targets + target, NULL);
  if (weight == 0 && isfinite (value))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
               "y is %s at row %" G_GSIZE_FORMAT " (counted from 0), and its residual is %s",
               apr_number_format (value, narrow, number), row,
               apr_number_format (residual, FALSE, residual_number));
  return FALSE;
}

/* The roots of the weights of the samples in the middle: the weighted residuals, corrected for the leverages, times
 * 2^-exponent, so that they are at most 1. Samples without weight do not count. */
static double *
find_roots (const AprInference *inference,
            const AprInferenceSource *source,
            AprTensor *x,
            AprTensor *y,
            AprTensor *sample_weight,
            AprCovarianceKind kind,
            gsize target,
            const AprRun *run,
            gint64 *exponent,
            gboolean *any,
            GError **error)
{
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  gboolean corrected = kind == APR_COVARIANCE_HC2 || kind == APR_COVARIANCE_HC3;
  g_autofree double *values = apr_memory_new (n, sizeof *values, "residuals", error);
  g_autofree double *leverages = NULL;
  double max = 0;
  double max_weight = 0;
  int unit = 0;
  int top;
  gsize i;

  if (values == NULL || !apr_inference_find_residuals (inference, source, x, y, sample_weight, target, run,
                                                       values, NULL, exponent, error))
    return NULL;
  if (corrected)
    {
      leverages = apr_memory_new (n, sizeof *leverages, "leverages", error);
      if (leverages == NULL ||
          !apr_inference_get_leverages (inference, x, sample_weight, run, leverages, error))
        return NULL;
    }
  /* Weights that are all very small have too few digits beside residuals. */
  for (i = 0; i < n && sample_weight != NULL; i++)
    max_weight = fmax (max_weight, apr_tensor_get_double (sample_weight, i, NULL));
  if (isfinite (max_weight))
    (void) frexp (max_weight, &unit);
  for (i = 0; i < n; i++)
    {
      double weight = sample_weight != NULL ? apr_tensor_get_double (sample_weight, i, NULL) : 1;
      double left = corrected ? 1 - leverages[i] : 1;

      if (!check_residual (values[i], weight, x, y, i, target, error))
        return NULL;
      if (weight == 0)
        {
          values[i] = 0;
          continue;
        }
      if (left <= MIN_LEFT)
        {
          g_set_error (
            error, APR_ERROR, APR_ERROR_RANGE,
            "The leverage of sample %" G_GSIZE_FORMAT
            " (counted from 0) is 1, or so near to it that rounding hides the difference: it alone "
            "determines a coefficient, or nearly, so that HC2 and HC3 are not known; HC0 and HC1 are",
            i);
          return NULL;
        }
      values[i] = ldexp (weight, -unit) * values[i] / (kind == APR_COVARIANCE_HC2 ? sqrt (left) : left);
      max = fmax (max, fabs (values[i]));
    }

  *any = max > 0;
  (void) frexp (max, &top);
  for (i = 0; i < n; i++)
    values[i] = ldexp (values[i], -top);
  *exponent += top + unit;

  return g_steal_pointer (&values);
}

/* How h = [1 ; 2^-scale (W x - S)], or 2^-scale x without an intercept, comes from a row x: entry i is @weight times
 * the column times 2^shift, less the sum of centre and rest. */
typedef struct
{
  const AprInference *inference;
  AprRows rows;
  const double *roots; /* by row of X */
  gsize first;         /* 1 where h begins with 1 */
  gsize n;             /* entries of h */
  gsize n_parts;       /* doubles that an entry has: two where the sums keep what one lacks */
  AprDoubleDouble weight;
  gint64 exponent;        /* of the unit of h without an intercept */
  double *shifts;         /* (owned) two factors of each feature by position, whose product is 2^shift */
  double *centres;        /* (owned) by position */
  AprDoubleDouble *rests; /* (owned) by position: what the centres lack */
  gsize start;            /* of the block of rows */
  gsize n_rows;
  /* (owned) n_rows of [1 ; column 2^shift - centre] times the root, and then of what they lack */
  double *block;
} Scores;

static void
scores_init (Scores *self,
             const AprInference *inference,
             const AprDesign *design,
             AprPrecision precision,
             AprTensor *x,
             const double *roots)
{
  gint64 bits = (gint64) mpz_sizeinbase (design->weight, 2) - 1;
  gsize n = design->n;
  mpf_t mean;
  mpf_t part;
  gsize i;

  *self =
    (Scores){ .inference = inference, .roots = roots, .first = inference->first, .n = inference->first + n };
  self->n_parts = precision == APR_PRECISION_EXACT ? 2 : 1;
  apr_rows_init (&self->rows, "X", x);
  self->weight = apr_dd_from_integer (design->weight, -bits);
  self->exponent = self->first > 0 ? 0 : apr_design_get_exponent (design) / 2;
  self->shifts = g_new (double, 2 * n + 1);
  self->centres = g_new (double, n + 1);
  self->rests = g_new (AprDoubleDouble, n + 1);
  mpf_init2 (mean, APR_INFERENCE_PRECISION);
  mpf_init2 (part, APR_INFERENCE_PRECISION);
  for (i = 0; i < n; i++)
    {
      gint64 shift = CLAMP (bits - design->scale[i] - self->exponent, -2 * DBL_MAX_EXP, 2 * DBL_MAX_EXP);

      self->shifts[2 * i] = ldexp (1, (int) (shift / 2));
      self->shifts[2 * i + 1] = ldexp (1, (int) (shift - shift / 2));
      mpf_set_z (mean, design->columns[i]);
      mpf_set_z (part, design->weight);
      mpf_div (mean, mean, part);
      apr_inference_shift (mean, mean, shift);
      self->centres[i] = apr_inference_to_double (mean, 0);
      /* Numbers in GMP are finite. */
      if (isfinite (self->centres[i]))
        mpf_set_d (part, self->centres[i]);
      mpf_sub (mean, mean, part);
      self->rests[i] = apr_inference_to_double_double (mean, 0);
    }
  mpf_clear (mean);
  mpf_clear (part);
}

static void
scores_clear (Scores *self)
{
  g_free (self->shifts);
  g_free (self->centres);
  g_free (self->rests);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scores, scores_clear)

/* An element less the centre, in the unit of h. */
static AprDoubleDouble
centre_value (const Scores *self, gsize row, gsize column, gsize i, double value)
{
  double shift = self->shifts[2 * i];
  double more = self->shifts[2 * i + 1];
  AprDoubleDouble centred = apr_dd_two_sum (value * shift * more, -self->centres[i]);
  double rest;

  if (apr_rows_may_exceed_double (&self->rows) && apr_rows_get_rests (&self->rows, column, row, 1, &rest))
    centred.low += rest * shift * more;

  return centred;
}

static void
fill_block (gpointer data, gsize part, gsize n_parts)
{
  Scores *self = data;
  const AprInference *inference = self->inference;
  gsize n = self->n - self->first;
  g_autofree double *row = g_new (double, self->rows.n_columns + 1);
  gsize end = self->n_rows / n_parts * (part + 1) + (part + 1 == n_parts ? self->n_rows % n_parts : 0);
  gsize i;
  gsize j;

  for (i = self->n_rows / n_parts * part; i < end; i++)
    {
      double *high = self->block + i * self->n_parts * self->n;
      double *low = self->n_parts > 1 ? high + self->n : NULL;
      double root = self->roots[self->start + i];

      /* What is beyond all numbers in the unit of h, such as a sample without weight may be, does not count either. */
      if (root == 0)
        {
          memset (high, 0, self->n_parts * self->n * sizeof *high);
          continue;
        }
      apr_rows_read (&self->rows, self->start + i, 1, 0, self->rows.n_columns, self->rows.n_columns, row);
      high[0] = root;
      if (low != NULL)
        low[0] = 0;
      for (j = 0; j < n; j++)
        {
          gsize column = inference->term[self->first + j] - self->first;
          AprDoubleDouble entry =
            apr_dd_multiply_double (centre_value (self, self->start + i, column, j, row[column]), root);

          high[self->first + j] = entry.high;
          if (low != NULL)
            low[self->first + j] = entry.low;
        }
    }
}

/* So many bytes of rows are added to the sums at a time; and at least so many rows for each entry that they have, as
 * each time ends with going through all sums. */
#define BLOCK_SIZE (8 << 20)
#define ROWS_PER_ENTRY 4
/* What the precision DOUBLE sums at a time. */
#define ROWS_AT_A_TIME 256

/* The cross products of the rows of h, each times its root. */
static AprCrossProducts *
sum_scores (Scores *self, AprPrecision precision, const AprRun *run, GError **error)
{
  gsize width = self->n_parts * self->n;
  g_autoptr (AprCrossProducts) state = apr_cross_products_new_with_precision (width, 1, precision, error);
  gsize n_together = MAX (BLOCK_SIZE / (width * sizeof (double)), ROWS_PER_ENTRY * width);

  if (state == NULL)
    return NULL;

  n_together = (n_together + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
  apr_cross_products_set_n_threads (state, run->n_threads);
  for (self->start = 0; self->start < self->rows.n_rows; self->start += self->n_rows)
    {
      g_autoptr (AprTensor) block = NULL;
      g_autoptr (AprTensor) nothing = NULL;
      gsize shape[2] = { MIN (n_together, self->rows.n_rows - self->start), width };

      self->n_rows = shape[0];
      self->block = apr_run_new_doubles (run, shape[0], shape[1]);
      if (self->block == NULL)
        {
          (void) apr_run_set_error_if_cancelled (run, error);
          return NULL;
        }
      apr_parallel_run (fill_block, self, run->n_threads, 4 * (double) shape[0] * (double) shape[1]);
      block =
        apr_tensor_new_take (APR_DTYPE_F64, shape, 2, self->block, shape[0] * shape[1] * sizeof (double));
      nothing = apr_tensor_new_take (APR_DTYPE_BOOL, shape, 1, g_malloc0 (shape[0]), shape[0]);
      if (!apr_cross_products_update (state, block, nothing, NULL, run->cancellable, error))
        return NULL;
    }

  return g_steal_pointer (&state);
}

static AprDoubleDouble
correct (AprDoubleDouble entry, AprDoubleDouble column, AprDoubleDouble rest)
{
  return apr_dd_subtract (entry, apr_dd_multiply (column, rest));
}

/* Σ h h', each h times its root, in units of 2^(exponent of @sums + @shift), and of the scores. */
static AprDoubleDoubles
read_products (const Scores *self, const AprDesign *sums, gint64 shift, const AprRun *run)
{
  AprDoubleDoubles products = apr_double_doubles_new (self->n, self->n, run);
  AprDoubleDouble square = apr_dd_multiply (self->weight, self->weight);
  mpz_t product;
  mpz_t entry;
  gsize i;
  gsize j;
  gsize k;

  if (products.high == NULL)
    return products;
  mpz_init (product);
  mpz_init (entry);
  for (i = 0; i < self->n; i++)
    for (j = 0; j <= i; j++)
      {
        /* Of all parts of both columns. */
        mpz_set_ui (product, 0);
        for (k = 0; k < self->n_parts * self->n_parts; k++)
          {
            apr_design_get_entry (sums, 1 + i + k / self->n_parts * self->n,
                                  1 + j + k % self->n_parts * self->n, entry);
            mpz_add (product, product, entry);
          }
        apr_double_doubles_set (products, i, j, apr_dd_from_integer (product, -shift));
      }
  mpz_clear (product);
  mpz_clear (entry);

  /* From the last on, as each needs the first column as it is. */
  for (i = self->n; i-- > 0;)
    for (j = i + 1; j-- > 0;)
      {
        AprDoubleDouble value = apr_double_doubles_get (products, i, j);

        if (self->first > 0 && i > 0)
          {
            AprDoubleDouble left = apr_double_doubles_get (products, i, 0);
            AprDoubleDouble ones = apr_double_doubles_get (products, 0, 0);

            if (j > 0)
              {
                left = correct (left, ones, self->rests[i - 1]);
                value = correct (value, apr_double_doubles_get (products, j, 0), self->rests[i - 1]);
                value = correct (value, left, self->rests[j - 1]);
              }
            else
              value = correct (value, ones, self->rests[i - 1]);
          }
        if (i >= self->first)
          value = apr_dd_multiply (value, j >= self->first ? square : self->weight);
        apr_double_doubles_set (products, i, j, value);
        apr_double_doubles_set (products, j, i, value);
      }

  return products;
}

/* root @products root', where the first row of the root is [1, 0, ...] with an intercept. */
static AprDoubleDoubles
transform (const AprInference *inference, AprDoubleDoubles products, const AprRun *run)
{
  gsize n = inference->n;
  AprDoubleDoubles root = apr_double_doubles_new (n, n, run);
  AprDoubleDoubles half = apr_double_doubles_new (n, n, run);
  AprDoubleDoubles scores = apr_double_doubles_new (n, n, run);
  gsize i;
  gsize j;

  if (products.high == NULL || root.high == NULL || half.high == NULL || scores.high == NULL)
    {
      apr_double_doubles_free (&root);
      apr_double_doubles_free (&half);
      apr_double_doubles_free (&scores);
      return scores;
    }

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

/* How far the scores are rounded, beside the largest: the more the more the terms depend on each other. The residual of
 * a sample that is fitted exactly is such rounding too. */
#define EXACT_ROUNDING 0x1p-98
#define DOUBLE_ROUNDING 0x1p-50

static double
find_rounding (const AprInference *inference, AprPrecision precision)
{
  double inflation = 1;
  gsize i;

  for (i = inference->first; i < inference->n; i++)
    inflation = fmax (inflation, inference->inflation[i]);

  return (precision == APR_PRECISION_EXACT ? EXACT_ROUNDING : DOUBLE_ROUNDING) * (double) inference->n *
         inflation;
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
  g_autofree double *roots = NULL;
  g_auto (AprDesign) design = { NULL };
  g_auto (AprDesign) sums = { NULL };
  g_auto (Scores) scores = { NULL };
  AprPrecision precision = apr_cross_products_get_precision (source->cross_products);
  AprDoubleDoubles products;
  gboolean any;
  gint64 shift = 0;
  gint64 exponent;
  mpf_t squares;
  mpz_t entry;
  gsize i;

  *self = (AprCovariance){
    .target = target,
    .unknown = inference->df_residual == 0 || apr_inference_is_uncertain (inference, target),
  };
  roots = find_roots (inference, source, x, y, sample_weight, kind, target, run, &exponent, &any, error);
  if (roots == NULL)
    return FALSE;

  self->inference = apr_inference_ref (inference);
  if (mpf_sgn (inference->residuals[target]) == 0 || !any || inference->n == 0)
    return TRUE;

  if (!apr_estimator_check_finite ("X", x, error) ||
      !apr_design_init (&design, source->cross_products, source->fit_intercept, source->dependent,
                        source->n_dependent, TRUE, error))
    return FALSE;
  scores_init (&scores, inference, &design, precision, x, roots);
  state = sum_scores (&scores, precision, run, error);
  if (state == NULL || !apr_design_init (&sums, state, FALSE, NULL, 0, FALSE, error))
    return FALSE;

  mpz_init (entry);
  for (i = 1; i <= scores.n; i++)
    {
      apr_design_get_entry (&sums, i, i, entry);
      shift = MAX (shift, (gint64) mpz_sizeinbase (entry, 2));
    }
  mpz_clear (entry);
  shift += (shift + apr_design_get_exponent (&sums)) % 2;
  products = read_products (&scores, &sums, shift, run);
  self->scores = transform (inference, products, run);
  apr_double_doubles_free (&products);

  self->rounding = find_rounding (inference, precision);
  self->factor = (AprDoubleDouble){ 1, 0 };
  if (kind == APR_COVARIANCE_HC1)
    self->factor = apr_dd_divide ((AprDoubleDouble){ (double) inference->n_samples, 0 },
                                  (AprDoubleDouble){ (double) inference->df_residual, 0 });
  self->exponent =
    2 * (exponent + scores.exponent - (gint64) inference->exponent) + shift + apr_design_get_exponent (&sums);
  mpf_init2 (squares, APR_INFERENCE_PRECISION);
  mpf_mul (squares, inference->residuals[target], inference->weight);
  self->squares = apr_inference_to_double (squares, -self->exponent);
  mpf_clear (squares);

  return !apr_run_set_error_if_cancelled (run, error);
}
