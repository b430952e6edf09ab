/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-covariance-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/inference/apr-hypothesis-test-private.h"
#include "aprender/least-squares/apr-limbs-private.h"

/* Products that are summed at a time, and rows that a thread works on at a time. */
#define INNER 64
#define ROWS 16

typedef struct
{
  AprDoubleDoubles c;
  AprDoubleDoubles a;
  AprDoubleDoubles b;
  gsize n_rows;
  gsize n_columns;
  gsize n_inner;
  const AprDoubleDoubleKernel *kernel;
  const AprRun *run;
  gint next; /* (atomic) */
} Product;

static void
subtract_rows (gpointer data, gsize part, gsize n_parts)
{
  Product *product = data;
  gint n_blocks = (gint) ((product->n_rows + ROWS - 1) / ROWS);
  gint block;

  while ((block = g_atomic_int_add (&product->next, 1)) < n_blocks && !apr_run_is_cancelled (product->run))
    {
      gsize row = (gsize) block * ROWS;
      gsize n_rows = MIN (ROWS, product->n_rows - row);
      gsize k;

      for (k = 0; k < product->n_inner; k += INNER)
        product->kernel->subtract_products (apr_double_doubles_at (product->c, row, 0),
                                            apr_double_doubles_at (product->a, k, row),
                                            apr_double_doubles_at (product->b, k, 0), n_rows,
                                            product->n_columns, MIN (INNER, product->n_inner - k));
    }
}

void
apr_double_doubles_subtract_product (AprDoubleDoubles c,
                                     AprDoubleDoubles a,
                                     AprDoubleDoubles b,
                                     gsize n_rows,
                                     gsize n_columns,
                                     gsize n_inner,
                                     const AprRun *run)
{
  Product product = {
    .c = c,
    .a = a,
    .b = b,
    .n_rows = n_rows,
    .n_columns = (n_columns + APR_DOUBLE_DOUBLE_PAD - 1) / APR_DOUBLE_DOUBLE_PAD * APR_DOUBLE_DOUBLE_PAD,
    .n_inner = n_inner,
    .kernel = apr_double_double_kernel_choose (),
    .run = run,
  };

  apr_parallel_run (subtract_rows, &product, run->n_threads,
                    4 * (double) n_rows * (double) n_columns * (double) n_inner);
}

void
apr_covariance_init_classical (AprCovariance *self, AprInference *inference, gsize target)
{
  mpf_t variance;
  mpf_t df;

  *self = (AprCovariance){
    .inference = apr_inference_ref (inference),
    .target = target,
    .unknown = inference->df_residual == 0 || apr_inference_is_uncertain (inference, target),
  };
  mpf_init2 (variance, APR_INFERENCE_PRECISION);
  mpf_init2 (df, APR_INFERENCE_PRECISION);
  mpf_mul (variance, inference->residuals[target], inference->weight);
  mpf_set_d (df, (double) MAX (inference->df_residual, 1));
  mpf_div (variance, variance, df);
  self->factor = apr_inference_split (variance, &self->exponent);
  if (self->exponent % 2 != 0)
    {
      self->factor = apr_dd_add (self->factor, self->factor);
      self->exponent--;
    }
  mpf_clear (variance);
  mpf_clear (df);
}

void
apr_covariance_clear (AprCovariance *self)
{
  g_clear_pointer (&self->inference, apr_inference_unref);
  apr_double_doubles_free (&self->scores);
}

AprDoubleDoubles
apr_covariance_transform (const AprCovariance *self, AprDoubleDoubles g, gsize n_columns, const AprRun *run)
{
  AprDoubleDoubles result = apr_double_doubles_new (n_columns, n_columns, run);
  AprDoubleDouble factor = self->factor;
  gsize n = self->inference->n;
  gsize i;
  gsize j;

  if (result.high == NULL)
    return result;
  if (self->scores.high == NULL)
    {
      apr_double_doubles_subtract_product (result, g, g, n_columns, n_columns, n, run);
      factor = apr_dd_negate (factor);
    }
  else
    {
      AprDoubleDoubles product = apr_double_doubles_new (n, n_columns, run);

      if (product.high == NULL)
        {
          apr_double_doubles_free (&result);
          return result;
        }
      apr_double_doubles_subtract_product (product, self->scores, g, n, n_columns, n, run);
      apr_double_doubles_subtract_product (result, g, product, n_columns, n_columns, n, run);
      apr_double_doubles_free (&product);
    }
  for (i = 0; i < n_columns; i++)
    for (j = 0; j <= i; j++)
      {
        AprDoubleDouble entry = apr_dd_multiply (apr_double_doubles_get (result, i, j), factor);

        apr_double_doubles_set (result, i, j, entry);
        apr_double_doubles_set (result, j, i, entry);
      }

  return result;
}

/* The root of g' H g errs in two ways, for g of the length 1: H is off by no more than the rounding of the scores times
 * the largest entry of its diagonal; and a residual times the root of its weight errs by less than 2^-51 of the root of
 * the residual sum of squares, so that the sum of squares does too. A variance that is so many times as large as the
 * first, and its square times as the second, is right to about 2^-9. Most are far better, as both bound the worst. */
#define MARGIN 0x1p10
#define RESIDUALS_ROUNDING 0x1p-102

double
apr_covariance_find_limit (const AprCovariance *self)
{
  double largest = 0;
  gsize i;

  if (self->scores.high == NULL)
    return 0;

  for (i = 0; i < self->inference->n; i++)
    largest = fmax (largest, apr_double_doubles_get (self->scores, i, i).high);

  return fmax (MARGIN * self->rounding * largest * self->factor.high,
               MARGIN * MARGIN * RESIDUALS_ROUNDING * self->squares);
}

/* Entry @i of the diagonal of @matrix = G' H G, or NaN where it is below the limit. */
static double
get_variance (AprDoubleDoubles matrix, AprDoubleDoubles g, gsize n, gsize i, double limit)
{
  double variance = apr_double_doubles_get (matrix, i, i).high;
  double square = 0;
  gsize k;

  for (k = 0; k < n; k++)
    square += g.high[k * g.stride + i] * g.high[k * g.stride + i];

  return variance >= limit * square ? variance : (double) NAN;
}

AprDoubleDouble
apr_covariance_get_estimate (const AprCovariance *self, AprTensor *coefficients, gsize position)
{
  const AprInference *inference = self->inference;
  AprDoubleDouble exact = inference->exact[self->target * inference->n + position];
  double value = apr_tensor_get_double (coefficients, inference->term[position], NULL);
  double rest = (exact.high - value) + exact.low;

  /* A model need not be the solution of the sums: they are rounded where its precision is DOUBLE. */
  return (AprDoubleDouble){ value, fabs (rest) <= fabs (value) * DBL_EPSILON ? rest : 0 };
}

static void
set_entry (AprDoubleDoubles matrix, gsize row, gsize column, gboolean transposed, AprDoubleDouble value)
{
  apr_double_doubles_set (matrix, transposed ? column : row, transposed ? row : column, value);
}

AprDoubleDoubles
apr_covariance_get_basis (const AprInference *inference, gboolean transposed, const AprRun *run)
{
  AprInverse inverse = { .n = inference->n - inference->first, .root = inference->root };
  AprDoubleDoubles basis = apr_double_doubles_new (inference->n, inference->n, run);
  gsize i;
  gsize j;

  if (basis.high == NULL)
    return basis;
  for (i = 0; i < inverse.n; i++)
    for (j = 0; j <= i; j++)
      set_entry (basis, inference->first + i, inference->first + j, transposed,
                 apr_double_doubles_get (inference->root, i, j));
  if (inference->first > 0)
    {
      g_autofree AprDoubleDouble *product = g_new (AprDoubleDouble, inverse.n + 1);
      gint64 exponent;
      AprDoubleDouble weight = apr_inference_split (inference->weight, &exponent);
      int shift = (int) (exponent - inference->scale[0]);

      weight = (AprDoubleDouble){ ldexp (weight.high, shift), ldexp (weight.low, shift) };
      apr_inverse_multiply_root (&inverse, inference->centre, product);
      set_entry (basis, 0, 0, transposed, apr_dd_divide ((AprDoubleDouble){ 1, 0 }, weight));
      for (i = 0; i < inverse.n; i++)
        set_entry (basis, 1 + i, 0, transposed, apr_dd_divide (apr_dd_negate (product[i]), weight));
    }

  return basis;
}

double
apr_covariance_trim (double covariance, double variance, double other_variance)
{
  return fabs (covariance) < 0x1p-55 * sqrt (variance) * sqrt (other_variance) ? 0 : covariance;
}

void
apr_covariance_describe (const AprCovariance *self,
                         const AprRun *run,
                         double *standard_errors,
                         double *covariances)
{
  const AprInference *inference = self->inference;
  AprDoubleDoubles basis = apr_covariance_get_basis (inference, FALSE, run);
  AprDoubleDoubles matrix = { NULL };
  double limit = apr_covariance_find_limit (self);
  gsize i;
  gsize j;

  if (basis.high != NULL)
    matrix = apr_covariance_transform (self, basis, inference->n, run);
  for (i = 0; i < inference->n && matrix.high != NULL; i++)
    {
      gsize term = inference->term[i];
      double variance = get_variance (matrix, basis, inference->n, i, limit);

      standard_errors[term] = apr_scale_double (sqrt (variance), self->exponent / 2 - inference->scale[i]);
      for (j = 0; j <= i && covariances != NULL; j++)
        {
          gsize other = inference->term[j];
          double covariance = apr_covariance_trim (apr_double_doubles_get (matrix, i, j).high, variance,
                                                   apr_double_doubles_get (matrix, j, j).high);

          if (isnan (variance) || isnan (standard_errors[other]))
            covariance = NAN;
          covariances[term * inference->n_terms + other] = covariances[other * inference->n_terms + term] =
            apr_scale_double (covariance, self->exponent - inference->scale[i] - inference->scale[j]);
        }
    }
  apr_double_doubles_free (&basis);
  apr_double_doubles_free (&matrix);
}

/* Rows of factors in the scales of the positions, and the exponents of what they were divided by for that. */
static AprDoubleDoubles
scale_rows (
  const AprInference *inference, const double *factors, gsize n_rows, gint64 *exponents, const AprRun *run)
{
  AprDoubleDoubles rows = apr_double_doubles_new (inference->n, n_rows, run);
  gsize i;
  gsize j;

  for (i = 0; i < n_rows && rows.high != NULL; i++)
    {
      const double *row = factors + i * inference->n;

      exponents[i] = G_MININT64 / 2;
      for (j = 0; j < inference->n; j++)
        if (row[j] != 0)
          exponents[i] = MAX (exponents[i], ilogb (row[j]) - inference->scale[j]);
      for (j = 0; j < inference->n; j++)
        apr_double_doubles_set (
          rows, j, i, (AprDoubleDouble){ apr_scale_double (row[j], -inference->scale[j] - exponents[i]), 0 });
    }

  return rows;
}

AprHypothesisTest *
apr_covariance_test (const AprCovariance *self,
                     AprTensor *coefficients,
                     const double *factors,
                     const double *values,
                     gsize n_rows,
                     gboolean *independent,
                     const AprRun *run)
{
  const AprInference *inference = self->inference;
  double df = (double) inference->df_residual;
  AprHypothesisTest *test = apr_hypothesis_test_new (n_rows, inference->df_residual);
  double *estimates = g_new (double, n_rows);
  double *standard_errors = g_new (double, n_rows);
  double *t_values = g_new (double, n_rows);
  double *p_values = g_new (double, n_rows);
  g_autofree gint64 *exponents = g_new (gint64, n_rows + 1);
  AprDoubleDoubles rows = scale_rows (inference, factors, n_rows, exponents, run);
  AprDoubleDoubles basis = apr_covariance_get_basis (inference, TRUE, run);
  AprDoubleDoubles g = apr_double_doubles_new (inference->n, n_rows, run);
  AprDoubleDoubles matrix = { NULL };
  double limit = apr_covariance_find_limit (self);
  gboolean known;
  gsize i;
  gsize j;

  if (rows.high != NULL && basis.high != NULL && g.high != NULL)
    {
      apr_double_doubles_subtract_product (g, basis, rows, inference->n, n_rows, inference->n, run);
      matrix = apr_covariance_transform (self, g, n_rows, run);
    }
  for (i = 0; i < n_rows && matrix.high != NULL; i++)
    {
      gint64 shift = exponents[i] + self->exponent / 2;
      double error = apr_scale_double (sqrt (get_variance (matrix, g, inference->n, i, limit)), shift);
      gboolean unclear =
        self->factor.high == 0 &&
        !apr_inference_contradicts (inference, self->target, factors + i * inference->n, values[i]);
      AprDoubleDouble sum = { 0, 0 };

      for (j = 0; j < inference->n; j++)
        sum = apr_dd_add (sum, apr_dd_multiply_double (apr_covariance_get_estimate (self, coefficients, j),
                                                       factors[i * inference->n + j]));
      estimates[i] = sum.high;
      sum = apr_dd_subtract (sum, (AprDoubleDouble){ values[i], 0 });
      standard_errors[i] = self->unknown ? (double) NAN : error;
      t_values[i] = unclear ? (double) NAN : sum.high / standard_errors[i];
      p_values[i] = apr_t_two_sided (t_values[i], df);
    }
  *independent = TRUE;
  known = !self->unknown && !apr_run_is_cancelled (run);
  if (known && n_rows == 1)
    {
      test->f_statistic = t_values[0] * t_values[0];
      test->f_p_value = p_values[0];
    }
  else if (known)
    {
      test->f_statistic =
        apr_covariance_find_distance (self, coefficients, factors, values, n_rows, independent, run) /
        (double) n_rows;
      test->f_p_value = apr_f_upper (test->f_statistic, (double) n_rows, df);
    }
  apr_hypothesis_test_take_vectors (test, n_rows, estimates, standard_errors, t_values, p_values);
  apr_double_doubles_free (&rows);
  apr_double_doubles_free (&basis);
  apr_double_doubles_free (&g);
  apr_double_doubles_free (&matrix);

  return test;
}
