/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-covariance-private.h"

#include <math.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-limbs-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* The distance of hypotheses R b = q from the estimates, (R b - q)' (R V R')^-1 (R b - q), is the same for T R and T q
 * with any regular T. Rows that say nearly the same of a term whose scale is large would leave few digits of R V R', so
 * they are reduced before: each has then a term in which it alone has a factor, which is the largest of the row in the
 * scales of the terms. */

/* The bits in which rows are reduced. What is left of an entry is rounding where it is below this part of the largest
 * that the entry has been. */
#define PRECISION 320
#define ROUNDING (-200)

/* A column of which less is left is rounding error. */
#define MIN_LEFT 0x1p-90

static gint64
find_exponent (const mpf_t number)
{
  signed long exponent;

  return mpf_get_d_2exp (&exponent, number) != 0 ? exponent : G_MININT32;
}

/* The position with the largest factor of a row, in the scales of the positions. */
static gsize
find_largest (const AprInference *inference, mpf_t *row, gint64 *exponent)
{
  gsize largest = 0;
  gsize j;

  *exponent = G_MININT32;
  for (j = 0; j < inference->n; j++)
    if (mpf_sgn (row[j]) != 0 && find_exponent (row[j]) - inference->scale[j] > *exponent)
      {
        *exponent = find_exponent (row[j]) - inference->scale[j];
        largest = j;
      }

  return largest;
}

/* row -= @factor other, from the position @pivot of which nothing is left; @tops are how large the entries of the row
 * have been. */
static void
subtract_row (mpf_t *row, gint64 *tops, mpf_t *other, const mpf_t factor, gsize width, gsize pivot)
{
  mpf_t part;
  gsize j;

  mpf_init2 (part, PRECISION);
  for (j = 0; j < width; j++)
    if (mpf_sgn (other[j]) != 0)
      {
        mpf_mul (part, other[j], factor);
        tops[j] = MAX (tops[j], find_exponent (part));
        mpf_sub (row[j], row[j], part);
        if (j == pivot || find_exponent (row[j]) < tops[j] + ROUNDING)
          mpf_set_ui (row[j], 0);
      }
  mpf_clear (part);
}

/* Rows of the factors and then the value; false where some depend on others, or where cancelled. */
static gboolean
reduce (const AprInference *inference, mpf_t *rows, gsize n_rows, const AprRun *run)
{
  gsize width = inference->n + 1;
  gint64 *tops = apr_run_new_pages (run, n_rows * width, sizeof *tops, FALSE);
  gboolean independent = TRUE;
  mpf_t factor;
  gsize i;
  gsize k;

  mpf_init2 (factor, PRECISION);
  for (i = 0; i < n_rows * width && tops != NULL; i++)
    tops[i] = find_exponent (rows[i]);
  for (k = 0; k < n_rows && independent && !apr_run_is_cancelled (run); k++)
    {
      mpf_t *row = rows + k * width;
      gint64 exponent;
      gsize pivot = find_largest (inference, row, &exponent);

      independent = mpf_sgn (row[pivot]) != 0;
      for (i = 0; i < n_rows && independent; i++)
        if (i != k && mpf_sgn (rows[i * width + pivot]) != 0)
          {
            mpf_div (factor, rows[i * width + pivot], row[pivot]);
            subtract_row (rows + i * width, tops + i * width, row, factor, width, pivot);
          }
    }
  mpf_clear (factor);
  apr_pages_free (tops);

  return independent && !apr_run_is_cancelled (run);
}

/* What a row says of the coefficients, less its value. */
static void
find_difference (mpf_t difference, const AprCovariance *self, AprTensor *coefficients, mpf_t *row)
{
  gsize n = self->inference->n;
  mpf_t estimate;
  mpf_t part;
  gsize j;

  mpf_init2 (estimate, PRECISION);
  mpf_init2 (part, PRECISION);
  mpf_neg (difference, row[n]);
  for (j = 0; j < n; j++)
    if (mpf_sgn (row[j]) != 0)
      {
        AprDoubleDouble value = apr_covariance_get_estimate (self, coefficients, j);

        mpf_set_d (estimate, value.high);
        mpf_set_d (part, value.low);
        mpf_add (estimate, estimate, part);
        mpf_mul (part, estimate, row[j]);
        mpf_add (difference, difference, part);
      }
  mpf_clear (estimate);
  mpf_clear (part);
}

static AprDoubleDouble
multiply_columns (AprDoubleDoubles g, gsize a, gsize b, gsize begin, gsize end)
{
  AprDoubleDouble product = { 0, 0 };
  gsize i;

  for (i = begin; i < end; i++)
    product = apr_dd_add (
      product, apr_dd_multiply (apr_double_doubles_get (g, i, a), apr_double_doubles_get (g, i, b)));

  return product;
}

/* Makes the columns of @g = G U orthonormal, by Gram and Schmidt, and z of @differences = U' z; false where columns
 * depend on each other, or where cancelled. From the last column on, as those of the root are then unit vectors, which
 * have one entry each. */
static gboolean
orthonormalise (AprDoubleDoubles g, gsize n, AprDoubleDouble *differences, gsize n_rows, const AprRun *run)
{
  g_autofree gsize *begins = g_new (gsize, n_rows + 1);
  g_autofree gsize *ends = g_new (gsize, n_rows + 1);
  gsize i;
  gsize j;
  gsize k;

  for (k = n_rows; k-- > 0 && !apr_run_is_cancelled (run);)
    {
      double square = 0;
      AprDoubleDouble rest;
      AprDoubleDouble root;

      for (i = 0; i < n; i++)
        square += g.high[i * g.stride + k] * g.high[i * g.stride + k];
      for (j = n_rows; --j > k;)
        {
          AprDoubleDouble product = multiply_columns (g, j, k, begins[j], ends[j]);

          for (i = begins[j]; i < ends[j]; i++)
            apr_double_doubles_set (
              g, i, k,
              apr_dd_subtract (apr_double_doubles_get (g, i, k),
                               apr_dd_multiply (product, apr_double_doubles_get (g, i, j))));
          differences[k] = apr_dd_subtract (differences[k], apr_dd_multiply (product, differences[j]));
        }
      begins[k] = 0;
      ends[k] = n;
      while (begins[k] < n && g.high[begins[k] * g.stride + k] == 0)
        begins[k]++;
      while (ends[k] > begins[k] && g.high[(ends[k] - 1) * g.stride + k] == 0)
        ends[k]--;
      rest = multiply_columns (g, k, k, begins[k], ends[k]);
      if (!(sqrt (rest.high) > MIN_LEFT * sqrt (square)))
        return FALSE;

      root = (AprDoubleDouble){ sqrt (rest.high), 0 };
      root.low = apr_dd_subtract (rest, apr_dd_multiply (root, root)).high / (2 * root.high);
      root = apr_dd_quick_sum (root.high, root.low);
      for (i = begins[k]; i < ends[k]; i++)
        apr_double_doubles_set (g, i, k, apr_dd_divide (apr_double_doubles_get (g, i, k), root));
      differences[k] = apr_dd_divide (differences[k], root);
    }

  return !apr_run_is_cancelled (run);
}

static AprDoubleDouble
sum_squares (const AprDoubleDouble *v, gsize n)
{
  AprDoubleDouble sum = { 0, 0 };
  gsize i;

  for (i = 0; i < n; i++)
    sum = apr_dd_add (sum, apr_dd_multiply (v[i], v[i]));

  return sum;
}

/* v' @matrix^-1 v, where @matrix has @n rows and is overwritten; NaN where they depend on each other, or so nearly that
 * a @limit of pivots leaves too few digits. */
static AprDoubleDouble
find_distance (AprDoubleDoubles matrix, const AprDoubleDouble *v, gsize n, double limit)
{
  g_autofree AprDoubleDouble *rest = g_new (AprDoubleDouble, n + 1);
  g_autofree AprDoubleDouble *row = g_new (AprDoubleDouble, n + 1);
  g_autofree AprDoubleDouble *pivots = g_new (AprDoubleDouble, n + 1);
  AprDoubleDouble sum = { 0, 0 };
  gsize i;
  gsize j;
  gsize k;

  /* L D L', row by row: L below the diagonal. The row of L D is kept until the next one. */
  for (i = 0; i < n; i++)
    {
      pivots[i] = apr_double_doubles_get (matrix, i, i);
      rest[i] = v[i];
      for (j = 0; j < i; j++)
        {
          AprDoubleDouble factor;

          row[j] = apr_double_doubles_get (matrix, i, j);
          for (k = 0; k < j; k++)
            row[j] =
              apr_dd_subtract (row[j], apr_dd_multiply (row[k], apr_double_doubles_get (matrix, j, k)));
          factor = apr_dd_divide (row[j], pivots[j]);
          apr_double_doubles_set (matrix, i, j, factor);
          pivots[i] = apr_dd_subtract (pivots[i], apr_dd_multiply (row[j], factor));
          rest[i] = apr_dd_subtract (rest[i], apr_dd_multiply (factor, rest[j]));
        }
      if (!(pivots[i].high > limit))
        return (AprDoubleDouble){ NAN, 0 };
      sum = apr_dd_add (sum, apr_dd_divide (apr_dd_multiply (rest[i], rest[i]), pivots[i]));
    }

  return sum;
}

/* Reads the rows, reduces them, and puts what each says of the estimates in the place of its value. */
static gboolean
prepare (const AprCovariance *self,
         AprTensor *coefficients,
         const double *factors,
         const double *values,
         mpf_t *rows,
         gsize n_rows,
         const AprRun *run)
{
  const AprInference *inference = self->inference;
  gsize width = inference->n + 1;
  mpf_t difference;
  gsize i;
  gsize j;

  for (i = 0; i < n_rows; i++)
    {
      for (j = 0; j < inference->n; j++)
        mpf_set_d (rows[i * width + j], factors[i * inference->n + j]);
      mpf_set_d (rows[i * width + inference->n], values[i]);
    }
  if (!reduce (inference, rows, n_rows, run))
    return FALSE;

  mpf_init2 (difference, PRECISION);
  for (i = 0; i < n_rows; i++)
    {
      find_difference (difference, self, coefficients, rows + i * width);
      mpf_set (rows[i * width + inference->n], difference);
    }
  mpf_clear (difference);

  return TRUE;
}

/* The distance of reduced rows, in units of 2^(2 @unit). */
static AprDoubleDouble
find_distance_of_rows (const AprCovariance *self,
                       mpf_t *rows,
                       const gint64 *exponents,
                       gsize n_rows,
                       gint64 unit,
                       const AprRun *run)
{
  const AprInference *inference = self->inference;
  gsize n = inference->n;
  g_autofree AprDoubleDouble *differences = g_new (AprDoubleDouble, n_rows + 1);
  AprDoubleDoubles scaled = apr_double_doubles_new (n, n_rows, run);
  AprDoubleDoubles g = apr_double_doubles_new (n, n_rows, run);
  AprDoubleDoubles basis = apr_covariance_get_basis (inference, TRUE, run);
  AprDoubleDouble distance = { NAN, 0 };
  gboolean have_memory = scaled.high != NULL && g.high != NULL && basis.high != NULL;
  gboolean reduced;
  gsize i;
  gsize j;

  for (i = 0; i < n_rows && have_memory; i++)
    {
      mpf_t *row = rows + i * (n + 1);

      for (j = 0; j < n; j++)
        apr_double_doubles_set (scaled, j, i,
                                apr_inference_to_double_double (row[j], -inference->scale[j] - exponents[i]));
      differences[i] = apr_inference_to_double_double (row[n], -exponents[i] - self->exponent / 2 - unit);
    }
  if (have_memory)
    apr_double_doubles_subtract_product (g, basis, scaled, n, n_rows, n, run);
  reduced = have_memory && orthonormalise (g, n, differences, n_rows, run);
  if (reduced && self->scores.high == NULL)
    distance = apr_dd_divide (sum_squares (differences, n_rows), self->factor);
  else if (reduced)
    {
      AprDoubleDoubles matrix = apr_covariance_transform (self, g, n_rows, run);

      if (matrix.high != NULL)
        distance = find_distance (matrix, differences, n_rows, apr_covariance_find_limit (self));
      apr_double_doubles_free (&matrix);
    }
  apr_double_doubles_free (&scaled);
  apr_double_doubles_free (&g);
  apr_double_doubles_free (&basis);

  return distance;
}

/* Numbers in GMP are finite. */
static gboolean
is_finite (const AprInference *inference, AprTensor *coefficients, const double *factors, gsize n_rows)
{
  gsize i;

  for (i = 0; i < n_rows * inference->n; i++)
    if (!isfinite (factors[i]) ||
        (factors[i] != 0 &&
         !isfinite (apr_tensor_get_double (coefficients, inference->term[i % inference->n], NULL))))
      return FALSE;

  return TRUE;
}

double
apr_covariance_find_distance (const AprCovariance *self,
                              AprTensor *coefficients,
                              const double *factors,
                              const double *values,
                              gsize n_rows,
                              gboolean *independent,
                              const AprRun *run)
{
  const AprInference *inference = self->inference;
  g_autofree gint64 *exponents = NULL;
  mpf_t *rows;
  gint64 top = G_MININT32;
  double distance = NAN;
  gsize i;

  *independent = TRUE;
  if (!is_finite (inference, coefficients, factors, n_rows))
    return NAN;

  exponents = g_new (gint64, n_rows + 1);
  /* It cannot be too many to count: the factors are in memory. */
  rows = apr_numbers_new (n_rows * (inference->n + 1), PRECISION, run);
  *independent = rows != NULL && prepare (self, coefficients, factors, values, rows, n_rows, run);
  for (i = 0; i < n_rows && *independent; i++)
    {
      mpf_t *row = rows + i * (inference->n + 1);

      (void) find_largest (inference, row, &exponents[i]);
      if (mpf_sgn (row[inference->n]) != 0)
        top = MAX (top, find_exponent (row[inference->n]) - exponents[i] - self->exponent / 2);
    }

  if (*independent && self->factor.high == 0)
    {
      for (i = 0; i < n_rows; i++)
        if (apr_inference_contradicts (inference, self->target, factors + i * inference->n, values[i]))
          distance = INFINITY;
    }
  else if (*independent && top == G_MININT32)
    distance = 0;
  else if (*independent)
    /* Differences of at most 1 have no infinite squares. */
    distance =
      apr_scale_double (find_distance_of_rows (self, rows, exponents, n_rows, top, run).high, 2 * top);
  apr_pages_free (rows);

  return distance;
}
