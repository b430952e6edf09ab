/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"
#include "tests/rational.h"

#include "aprender/least-squares/apr-least-squares-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* Samples, and what is solved for them. */

typedef struct
{
  gsize n_rows;
  gsize n_features;
  double *x;
  double *y;
  double *weights; /* (nullable) */
} Data;

static inline void
data_clear (Data *data)
{
  g_clear_pointer (&data->x, g_free);
  g_clear_pointer (&data->y, g_free);
  g_clear_pointer (&data->weights, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Data, data_clear)

static inline void
data_init (Data *data, gsize n_rows, gsize n_features, gboolean weighted)
{
  *data = (Data){ n_rows, n_features };
  data->x = g_new0 (double, n_rows *n_features);
  data->y = g_new0 (double, n_rows);
  if (weighted)
    data->weights = g_new0 (double, n_rows);
}

/* Small whole numbers, or numbers of all digits, with columns that may be sums of others, constant, or nearly
 * the same. */
static inline void
data_init_random (Data *data, GRand *rand, gsize n_rows, gsize n_features)
{
  gboolean whole = g_rand_boolean (rand);
  int kind = g_rand_int_range (rand, 0, 4);
  gsize i;
  gsize j;

  data_init (data, n_rows, n_features, g_rand_int_range (rand, 0, 3) == 0);
  for (i = 0; i < n_rows; i++)
    {
      double *row = data->x + i * n_features;

      for (j = 0; j < n_features; j++)
        if (kind == 1 && j == n_features - 1 && j >= 2)
          row[j] = whole ? row[0] + row[1] : row[0];
        else if (kind == 2 && j == n_features / 2)
          row[j] = 3;
        else if (kind == 3 && j > 0 && !whole)
          row[j] = row[0] + 1e-5 * normal (rand);
        else
          row[j] = whole ? (double) g_rand_int_range (rand, -4, 5) : normal (rand);
      data->y[i] = whole ? (double) g_rand_int_range (rand, -9, 10) : normal (rand);
      if (data->weights != NULL)
        data->weights[i] =
          g_rand_boolean (rand) ? (double) g_rand_int_range (rand, 0, 4) : fabs (normal (rand));
    }
  if (data->weights != NULL)
    data->weights[0] = 1;
}

static inline AprExactSums *
sum (const Data *data)
{
  g_autoptr (AprTensor) x = matrix_new (data->n_rows, data->n_features, data->x);
  g_autoptr (AprTensor) y = vector_new (data->n_rows, data->y);
  g_autoptr (AprTensor) w = data->weights != NULL ? vector_new (data->n_rows, data->weights) : NULL;
  g_autoptr (GError) error = NULL;
  AprExactSums *sums = apr_exact_sums_new (data->n_features, 1, &error);

  g_assert_no_error (error);
  g_assert_true (apr_exact_sums_update (sums, x, y, w, APR_PRECISION_EXACT, &(AprRun){ 0 }, &error));
  g_assert_no_error (error);

  return sums;
}

static inline void
solve_in_threads (AprLeastSquares *answer, const Data *data, AprLeastSquaresOptions options, guint n_threads)
{
  g_autoptr (AprExactSums) sums = sum (data);
  g_autoptr (GError) error = NULL;

  options.data_dtype = options.data_dtype == APR_DTYPE_NONE ? APR_DTYPE_F64 : options.data_dtype;
  options.dtype = options.dtype == APR_DTYPE_NONE ? APR_DTYPE_F64 : options.dtype;
  g_assert_true (
    apr_least_squares_solve (answer, sums, &options, &(AprRun){ .n_threads = n_threads }, &error));
  g_assert_no_error (error);
}

static inline void
solve (AprLeastSquares *answer, const Data *data, AprLeastSquaresOptions options)
{
  solve_in_threads (answer, data, options, 0);
}

static inline double
find_condition_in_threads (const Data *data, AprLeastSquaresOptions options, guint n_threads)
{
  g_autoptr (AprExactSums) sums = sum (data);

  options.data_dtype = options.dtype = APR_DTYPE_F64;
  return apr_least_squares_find_condition (sums, &options, &(AprRun){ .n_threads = n_threads });
}

static inline double
find_condition (const Data *data, AprLeastSquaresOptions options)
{
  return find_condition_in_threads (data, options, 0);
}

/* Asserts that no other value of @dtype is nearer to @exact. */
static inline void
assert_nearest (double value, const mpq_t exact, AprDType dtype)
{
  mpq_t own;
  mpq_t other;
  int side;

  mpq_inits (own, other, NULL);
  mpq_set_d (own, value);
  mpq_sub (own, own, exact);
  mpq_abs (own, own);
  for (side = -1; side <= 1; side += 2)
    {
      double next = dtype == APR_DTYPE_F32 ? (double) nextafterf ((float) value, (float) side * INFINITY)
                                           : nextafter (value, side * INFINITY);

      if (isinf (next))
        continue;
      mpq_set_d (other, next);
      mpq_sub (other, other, exact);
      mpq_abs (other, other);
      g_assert_cmpint (mpq_cmp (own, other), <=, 0);
    }
  mpq_clears (own, other, NULL);
}

/* What is solved, beyond plain coefficients, against exact arithmetic, and the laws that it obeys. */

static inline double
z_at (const Data *data, gsize row, gsize column)
{
  if (column == 0)
    return 1;

  return column <= data->n_features ? data->x[row * data->n_features + column - 1] : data->y[row];
}

/* The entry of Z'WZ with Z = [1 | X | Y], and alpha on the features' diagonal. */
static inline void
get_product (const Data *data, gsize i, gsize j, double alpha, mpq_t product)
{
  mpq_t term;
  mpq_t factor;
  gsize row;

  mpq_inits (term, factor, NULL);
  mpq_set_d (product, i == j && i > 0 && i <= data->n_features ? alpha : 0.0);
  for (row = 0; row < data->n_rows; row++)
    {
      mpq_set_d (term, z_at (data, row, i));
      mpq_set_d (factor, z_at (data, row, j));
      mpq_mul (term, term, factor);
      mpq_set_d (factor, data->weights != NULL ? data->weights[row] : 1);
      mpq_mul (term, term, factor);
      mpq_add (product, product, term);
    }
  mpq_clears (term, factor, NULL);
}

/* X'X of n whole numbers in each row of X, the rows @stride apart, where column i is times 2^exponents[i], if there are
 * exponents. */
static inline void
set_products (
  AprProducts *products, const gint64 *x, gsize n_rows, gsize stride, gsize n, const mp_bitcnt_t *exponents)
{
  mpz_t sum;
  mpz_t term;
  gsize i;
  gsize j;
  gsize k;

  mpz_inits (sum, term, NULL);
  (void) apr_products_init_zeros (products, n, 0, exponents != NULL ? 40 : 4, &(AprRun){ 0 });
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_set_ui (sum, 0);
        for (k = 0; k < n_rows; k++)
          {
            mpz_set_si (term, x[k * stride + i]);
            mpz_mul_si (term, term, x[k * stride + j]);
            mpz_add (sum, sum, term);
          }
        if (exponents != NULL)
          mpz_mul_2exp (sum, sum, exponents[i] + exponents[j]);
        apr_products_set_integer (products, i, j, sum);
      }
  mpz_clears (sum, term, NULL);
}
