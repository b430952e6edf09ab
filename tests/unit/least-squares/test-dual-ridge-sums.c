/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <float.h>
#include <math.h>

#include "aprender/least-squares/apr-dual-ridge-sums-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* What the dual form sums in double and in twice its precision, beside the same sums in whole numbers: errors must be
 * within their bounds, and bounds must be of about the size that the theorems give. */

/* X is in whole numbers of 2^-X_BITS, u in whole numbers. */
#define X_BITS 100

/* So many features, of 40 samples, are worth two threads. */
#define N_MANY 5200

typedef enum
{
  EASY,
  OFFSET,
  ALIKE,
  CONSTANT,
  WHOLE,
  N_KINDS
} Kind;

static AprSampleRows *
draw_rows (GRand *rand, Kind kind, gsize n, gsize p)
{
  g_autofree double *x_values = g_new (double, n *p);
  g_autofree double *y_values = g_new0 (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (n, y_values);
  AprSampleRows *rows = NULL;
  gsize i;

  for (i = 0; i < n * p; i++)
    {
      double value = g_rand_double_range (rand, -1, 1);

      if (kind == OFFSET)
        value += 1e4;
      else if (kind == ALIKE && i >= p)
        value = x_values[i % p] + value * 0x1p-20;
      else if (kind == CONSTANT && i % p % 3 == 0)
        value = 0.7;
      else if (kind == WHOLE)
        value = g_rand_int_range (rand, -2, 3);
      x_values[i] = value;
    }
  doubles = matrix_new (n, p, x_values);
  x = apr_tensor_cast (doubles, g_rand_boolean (rand) ? APR_DTYPE_F32 : APR_DTYPE_F64, NULL);
  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, NULL));

  return rows;
}

/* Whole numbers, whose sum may be 0. */
static void
draw_u (GRand *rand, gboolean of_sum_0, double *u, gsize n)
{
  gint64 sum = 0;
  gsize i;

  for (i = 0; i < n; i++)
    {
      u[i] = rint (g_rand_double_range (rand, of_sum_0 ? -0x1p49 : 0, 0x1p49));
      sum += (gint64) u[i];
    }
  for (i = 0; i < n && of_sum_0; i++)
    u[i] -= (double) (sum / (gint64) n + (i == 0 ? sum % (gint64) n : 0));
}

/* Reads a feature of whole numbers, and what is to be subtracted from it as that of one more sample. */
static void
read_exactly (const AprDualRidge *ridge, gsize feature, double *values, mpz_t *x)
{
  gsize n = ridge->n;
  double shift;
  gsize i;

  apr_sample_rows_read_feature (ridge->rows, feature, values);
  /* Where no value is less than half of the first, or more than twice as much. */
  shift = ridge->centred ? values[0] : 0;
  for (i = 0; i < n; i++)
    if (!(values[i] / values[0] >= 0.5 && values[i] / values[0] <= 2))
      shift = 0;
  for (i = 0; i < n; i++)
    values[i] -= shift;
  values[n] = shift;
  for (i = 0; i <= n; i++)
    {
      double whole = ldexp (values[i], X_BITS);

      g_assert_cmpfloat (whole, ==, rint (whole));
      mpz_set_d (x[i], whole);
    }
}

/* The largest errors, relative to their bounds. */
typedef struct
{
  double products;
  double shift_products;
  double of_features;
  double sums;
  double shift;
} Worst;

static void
note_error (double *worst, double error, double bound)
{
  g_assert_cmpfloat (error, <=, bound);
  if (error > 0)
    *worst = MAX (*worst, error / bound);
}

static double
find_error (double high, double low, const mpz_t expected, gint bits)
{
  double error;
  mpz_t number;
  mpz_t rest;

  mpz_init_set_d (number, ldexp (high, bits));
  mpz_init_set_d (rest, ldexp (low, bits));
  mpz_add (number, number, rest);
  mpz_sub (number, number, expected);
  error = ldexp (fabs (mpz_get_d (number)), -bits);
  mpz_clears (number, rest, NULL);

  return error;
}

/* Checks X'u and norms of features, while it finds K and K u, with what was subtracted as one more sample. Returns the
 * norm of X'u. */
static double
check_features (const AprDualRidge *ridge,
                const double *u,
                const AprDoubleDouble *of_features,
                const double *norms,
                mpz_t *products,
                mpz_t *sums,
                Worst *worst)
{
  gsize n = ridge->n;
  double bound = apr_dual_ridge_bound_product_error (ridge) * apr_dual_ridge_find_norm (u, n);
  double squares = 0;
  g_autofree double *values = g_new (double, n + 1);
  mpz_t *x = apr_integers_new (n + 1);
  mpz_t factor;
  mpz_t product;
  gsize feature;
  gsize i;
  gsize j;

  mpz_inits (factor, product, NULL);
  for (feature = 0; feature < ridge->rows->n_features; feature++)
    {
      double norm = 0;

      read_exactly (ridge, feature, values, x);
      mpz_set_ui (product, 0);
      for (i = 0; i < n; i++)
        {
          norm += values[i] * values[i];
          mpz_set_d (factor, u[i]);
          mpz_addmul (product, x[i], factor);
        }
      for (i = 0; i <= n; i++)
        {
          mpz_addmul (sums[i], x[i], product);
          for (j = 0; j <= i; j++)
            mpz_addmul (products[i * (n + 1) + j], x[i], x[j]);
        }
      norm = sqrt (norm);
      g_assert_cmpfloat_with_epsilon (norms[feature], norm * (1 + 0x1p-30), norm * 0x1p-31 + DBL_MIN);
      note_error (&worst->of_features,
                  find_error (of_features[feature].high, of_features[feature].low, product, X_BITS),
                  bound * norms[feature]);
      squares += pow (ldexp (mpz_get_d (product), -X_BITS), 2);
    }
  mpz_clears (factor, product, NULL);
  apr_integers_free (x, n + 1);

  return sqrt (squares);
}

/* T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product", 2005: of m products summed in twice the precision,
 * the error is about (m u)^2 of their absolute values. For X times X'u, m is at least the features of a batch; and as
 * many as are summed in one go are enough, with room for each column's bound. */
static void
check_size (const AprDualRidge *ridge, const AprDualRidgeSize *size, double u_norm, double norm)
{
  double n = (double) ridge->stride;
  double of_products = 2.1 * n * (n / 16 + 10) * sqrt (ridge->trace) * u_norm;

  g_assert_cmpfloat (size->error, >=, 0x1p-106 * (of_products + 32 * 32 * norm));
  g_assert_cmpfloat (size->error, <=, 1.1 * 0x1p-106 * (of_products + 256 * 256 * sqrt (n) * norm));
}

static void
check (GRand *rand,
       const AprDenseKernel *kernel,
       const AprSampleRows *rows,
       gboolean centred,
       guint n_threads,
       Worst *worst)
{
  const AprRun run = { .n_threads = n_threads };
  gsize n = rows->n;
  gsize width = n + 1;
  g_autofree gboolean *excluded = g_new0 (gboolean, rows->n_features);
  g_autofree AprDoubleDouble *of_features = g_new (AprDoubleDouble, rows->n_features);
  g_autofree double *norms = g_new (double, rows->n_features);
  g_autofree AprDoubleDouble *sums = g_new (AprDoubleDouble, width);
  g_auto (AprDualRidge) ridge = { .rows = rows,
                                  .excluded = excluded,
                                  .run = &run,
                                  .kernel = kernel,
                                  .centred = centred,
                                  .n = n,
                                  .width = centred ? width : n,
                                  .stride = apr_dense_pad (centred ? width : n) };
  g_autofree double *u = g_new0 (double, ridge.stride);
  mpz_t *exact_products = apr_integers_new (width * width);
  mpz_t *exact_sums = apr_integers_new (width);
  double products_error = 0;
  double shift_products_error = 0;
  double sums_error = 0;
  AprDualRidgeSize size;
  double u_norm;
  double norm;
  gsize i;
  gsize j;

  draw_u (rand, centred || g_rand_boolean (rand), u, n);
  u_norm = apr_dual_ridge_find_norm (u, n);
  apr_dual_ridge_multiply_samples (&ridge);
  apr_dual_ridge_multiply (&ridge, u, u_norm, sums, of_features, norms, &size);
  g_assert_cmpuint (size.n_parts, ==, rows->n_features == N_MANY ? n_threads : 1);

  norm = check_features (&ridge, u, of_features, norms, exact_products, exact_sums, worst);
  check_size (&ridge, &size, u_norm, norm);
  for (i = 0; i < n; i++)
    {
      for (j = 0; j < n; j++)
        products_error =
          hypot (products_error, find_error (ridge.products[i * ridge.stride + j], 0,
                                             exact_products[MAX (i, j) * width + MIN (i, j)], 2 * X_BITS));
      shift_products_error =
        hypot (shift_products_error,
               find_error (ridge.shift_products[i], 0, exact_products[n * width + i], 2 * X_BITS));
      sums_error = hypot (sums_error, find_error (sums[i].high, sums[i].low, exact_sums[i], 2 * X_BITS));
    }
  note_error (&worst->products, products_error, ridge.error);
  note_error (&worst->shift_products, shift_products_error, ridge.shift_error);
  note_error (&worst->sums, sums_error, size.error * sqrt (ridge.trace));
  if (centred)
    note_error (&worst->shift, find_error (sums[n].high, sums[n].low, exact_sums[n], 2 * X_BITS),
                size.error * ridge.shift_size);
  apr_integers_free (exact_products, width * width);
  apr_integers_free (exact_sums, width);
}

static void
test_sums (gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (51);
  guint n_problems = runs_in_valgrind () ? 10 : 100;
  Worst worst = { 0 };
  guint i;

  g_test_summary ("Errors are within their bounds, and not so small that the bounds mean nothing.");
  for (i = 0; i < n_problems; i++)
    {
      gboolean many = i % 32 == 31;
      gsize n = many ? 40 : (gsize) g_rand_int_range (rand, 3, 41);
      gsize p = many ? N_MANY : (gsize) g_rand_int_range (rand, 50, 401);
      g_autoptr (AprSampleRows) rows = draw_rows (rand, i % N_KINDS, n, p);

      check (rand, data, rows, g_rand_boolean (rand), many ? 2 : 1 + i % 2, &worst);
    }
  g_test_message ("errors / bounds: K %g, with shifts %g; X'u %g; K u %g, with shifts %g", worst.products,
                  worst.shift_products, worst.of_features, worst.sums, worst.shift);

  if (runs_in_valgrind ())
    return;

  /* Half of what they were when this was written. */
  g_assert_cmpfloat (worst.products, >, 0.015);
  g_assert_cmpfloat (worst.shift_products, >, 0.0007);
  g_assert_cmpfloat (worst.of_features, >, 0.037);
  g_assert_cmpfloat (worst.sums, >, 0.0023);
  g_assert_cmpfloat (worst.shift, >, 0.00015);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/dual-ridge-sums/chosen", apr_dense_kernel_choose (), test_sums);
  g_test_add_data_func ("/dual-ridge-sums/portable", &apr_dense_kernel_portable, test_sums);

  return g_test_run ();
}
