/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <gmp.h>
#include <math.h>

#include "aprender/least-squares/apr-cholesky-private.h"

/* Every instruction set goes through the same numbers. */

static void
fill (GRand *rand, double *values, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = g_rand_double_range (rand, -1, 1);
}

static void
test_kernels_agree (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (40);
  gsize k;
  int round;

  for (round = 0; round < 100; round++)
    {
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, 20);
      gsize n_inner = (gsize) g_rand_int_range (rand, 0, 40);
      gsize n = (gsize) g_rand_int_range (rand, 1, 70);
      gsize stride = apr_dense_pad (n);
      gsize n_columns = stride - (gsize) (round % 2) * APR_DENSE_STEP;
      g_autofree double *a = g_new (double, 40 * stride + 40);
      g_autofree double *b = g_new (double, 40 * stride);
      g_autofree double *c = g_new (double, 20 * stride);
      g_autofree double *expected = g_new (double, 20 * stride);
      gsize i;
      gsize j;

      fill (rand, a, 40 * stride + 40);
      fill (rand, b, 40 * stride);
      fill (rand, c, 20 * stride);

      /* In the order of k, a product and a difference at a time. */
      memcpy (expected, c, 20 * stride * sizeof *c);
      for (i = 0; i < n_rows; i++)
        for (j = 0; j < n_columns; j++)
          for (k = 0; k < n_inner; k++)
            expected[i * stride + j] -= a[k * stride + i] * b[k * stride + j];

      for (k = 0; kernels[k] != NULL; k++)
        {
          g_autofree double *got = g_memdup2 (c, 20 * stride * sizeof *c);
          g_autofree double *scaled = g_memdup2 (c, 20 * stride * sizeof *c);

          kernels[k]->subtract_products (got, stride, a, stride, b, stride, n_rows, n_columns, n_inner);
          g_assert_cmpmem (got, 20 * stride * sizeof *c, expected, 20 * stride * sizeof *c);

          kernels[k]->subtract_scaled (scaled, b, a[0], n);
          for (i = 0; i < n; i++)
            assert_same_double (scaled[i], c[i] - a[0] * b[i]);
          assert_same_double (scaled[n], c[n]);

          assert_same_double (kernels[k]->dot (a, b, n), kernels[0]->dot (a, b, n));
        }
    }
}

/* Matrix products of whole numbers, in which nothing is rounded: up to 2^53. */
static void
test_whole_matrices (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (43);
  gsize n_rows;

  for (n_rows = 1; n_rows < 20; n_rows++)
    {
      gsize n_inner = (gsize) g_rand_int_range (rand, 1, 60);
      gsize n = APR_DENSE_STEP / 2 * (gsize) g_rand_int_range (rand, 2, 16);
      g_autofree double *a = g_new (double, n_inner *n_rows);
      g_autofree double *b = g_new (double, n_inner *n);
      gsize i;
      gsize j;
      gsize k;
      gsize l;

      for (i = 0; i < n_inner * n_rows; i++)
        a[i] = i < n_rows ? 2097151 : g_rand_int_range (rand, -2097151, 2097152);
      for (i = 0; i < n_inner * n; i++)
        b[i] = i < n ? 1048576 : g_rand_int_range (rand, -67108864, 67108865);
      for (k = 0; kernels[k] != NULL; k++)
        {
          g_autofree double *c = g_new0 (double, n_rows *n);
          gsize step = kernels[k]->fused_step;
          gsize n_columns = n / step * step;

          g_assert_true (step == APR_DENSE_STEP || 2 * step == APR_DENSE_STEP);
          kernels[k]->subtract_products_fused (c, n, a, n_rows, b, n, n_rows, n_columns, n_inner);
          for (i = 0; i < n_rows; i++)
            for (j = 0; j < n; j++)
              {
                gint64 sum = 0;

                for (l = 0; l < n_inner && j < n_columns; l++)
                  sum -= (gint64) a[l * n_rows + i] * (gint64) b[l * n + j];
                g_assert_cmpint ((gint64) c[i * n + j], ==, sum);
              }
        }
    }
}

static void
test_float_matrices (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);
  gsize n_rows;

  g_test_summary ("No product of floats is rounded, so sums of them are rounded alike, fused or not.");
  for (n_rows = 1; n_rows < 20; n_rows++)
    {
      gsize n_inner = (gsize) g_rand_int_range (rand, 1, 60);
      gsize n = APR_DENSE_STEP * (gsize) g_rand_int_range (rand, 1, 8);
      g_autofree double *a = g_new (double, n_inner *n_rows);
      g_autofree double *b = g_new (double, n_inner *n);
      gsize i;
      gsize j;
      gsize k;
      gsize l;

      for (i = 0; i < n_inner * n_rows; i++)
        a[i] = (double) (float) g_rand_double_range (rand, -1, 1);
      for (i = 0; i < n_inner * n; i++)
        b[i] = ldexp ((double) (float) g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -9, 9));
      for (k = 0; kernels[k] != NULL; k++)
        {
          g_autofree double *c = g_new0 (double, n_rows *n);

          kernels[k]->subtract_products_fused (c, n, a, n_rows, b, n, n_rows, n, n_inner);
          for (i = 0; i < n_rows; i++)
            for (j = 0; j < n; j++)
              {
                double sum = 0;

                for (l = 0; l < n_inner; l++)
                  sum -= a[l * n_rows + i] * b[l * n + j];
                assert_same_double (c[i * n + j], sum);
              }
        }
    }
}

static void
add_product (mpq_t sum, double a, const mpq_t b)
{
  mpq_t term;

  mpq_init (term);
  mpq_set_d (term, a);
  mpq_mul (term, term, b);
  mpq_add (sum, sum, term);
  mpq_clear (term);
}

/* X'Xu as fractions, and how far from it sums in twice the precision of doubles may be, with the bounds @sizes and
 * @norms. */
static void
find_products (const double *x,
               gsize n_rows,
               gsize n,
               const double *u,
               const double *sizes,
               const double *norms,
               mpq_t *of_rows,
               double *row_errors,
               mpq_t *products,
               double *errors)
{
  const double unit = 0x1p-53;
  double lanes = (double) n / APR_DENSE_PAD;
  double squares = 0;
  mpq_t factor;
  gsize i;
  gsize j;

  mpq_init (factor);
  memset (errors, 0, n * sizeof *errors);
  for (i = 0; i < n_rows; i++)
    {
      const double *row = x + i * n;

      for (j = 0; j < n; j++)
        {
          mpq_set_d (factor, u[j]);
          add_product (of_rows[i], row[j], factor);
        }
      row_errors[i] = 2.1 * (double) n * (lanes + 10) * unit * unit * sizes[i];
      squares += mpq_get_d (of_rows[i]) * mpq_get_d (of_rows[i]);
      for (j = 0; j < n; j++)
        {
          add_product (products[j], row[j], of_rows[i]);
          errors[j] += fabs (row[j]) * row_errors[i];
        }
    }
  for (j = 0; j < n; j++)
    errors[j] +=
      3.1 * ((double) n_rows + 3) * ((double) n_rows + 3) * unit * unit * norms[j] * sqrt (squares);
  mpq_clear (factor);
}

/* What no sum of absolute values of products in a row, and no norm of a column is above: often just that. */
static void
bound_products (const double *x, gsize n_rows, gsize n, const double *u, double *sizes, double *norms)
{
  gsize i;
  gsize j;

  memset (sizes, 0, n_rows * sizeof *sizes);
  memset (norms, 0, n * sizeof *norms);
  for (i = 0; i < n_rows; i++)
    for (j = 0; j < n; j++)
      {
        sizes[i] += fabs (x[i * n + j] * u[j]);
        norms[j] += x[i * n + j] * x[i * n + j];
      }
  for (j = 0; j < n; j++)
    norms[j] = sqrt (norms[j]);
}

static mpq_t *
new_rationals (gsize n)
{
  mpq_t *numbers = g_new (mpq_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpq_init (numbers[i]);

  return numbers;
}

static void
free_rationals (mpq_t *numbers, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    mpq_clear (numbers[i]);
  g_free (numbers);
}

/* Each number is the sum of a leading part and a rest, to within its error. */
static void
assert_near (const double *leading, const double *rests, mpq_t *expected, const double *errors, gsize n)
{
  mpq_t difference;
  mpq_t part;
  gsize i;

  mpq_inits (difference, part, NULL);
  for (i = 0; i < n; i++)
    {
      mpq_set_d (part, leading[i]);
      mpq_sub (difference, expected[i], part);
      mpq_set_d (part, rests[i]);
      mpq_sub (difference, difference, part);
      g_assert_cmpfloat (fabs (mpq_get_d (difference)), <=, errors[i]);
    }
  mpq_clears (difference, part, NULL);
}

static void
test_products_twice (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (44);
  int round;

  for (round = 0; round < (runs_slowly () ? 5 : 60); round++)
    {
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, 65);
      gsize n = APR_DENSE_PAD * (gsize) g_rand_int_range (rand, 1, 6);
      g_autofree double *x = g_new (double, n_rows *n);
      g_autofree double *u = g_new (double, n);
      g_autofree double *sums = g_new (double, 2 * n);
      g_autofree double *errors = g_new (double, n);
      g_autofree double *row_errors = g_new (double, n_rows);
      g_autofree double *sizes = g_new (double, n_rows);
      g_autofree double *norms = g_new (double, n);
      double squares[2];
      mpq_t *products = new_rationals (n);
      mpq_t *of_rows = new_rationals (n_rows);
      gsize i;
      gsize k;

      /* Numbers of many sizes, and some that cancel each other. */
      for (i = 0; i < n_rows * n; i++)
        x[i] = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, 0, 30));
      for (i = 0; i < n; i++)
        u[i] = i % 2 == 1 ? -u[i - 1] : g_rand_double_range (rand, -1, 1);
      for (i = 0; i + 1 < n_rows * n && round % 3 == 0; i += 2)
        x[i + 1] = x[i] * (1 + 0x1p-40);
      /* All of one sign, so that sums are as large as they may be. */
      for (i = 0; i < n_rows * n && round % 3 == 1; i++)
        x[i] = fabs (x[i]);
      for (i = 0; i < n && round % 3 == 1; i++)
        u[i] = fabs (u[i]);
      /* Products that double holds exactly: all kernels find the same then. */
      for (i = 0; i < n_rows * n && round % 3 == 2; i++)
        x[i] = ldexp (1, g_rand_int_range (rand, -30, 30));
      bound_products (x, n_rows, n, u, sizes, norms);
      find_products (x, n_rows, n, u, sizes, norms, of_rows, row_errors, products, errors);

      for (k = 0; kernels[k] != NULL; k++)
        {
          g_autofree double *got = g_new0 (double, 2 * n);
          g_autofree double *got_of_rows = g_new (double, 2 * n_rows);

          squares[0] =
            kernels[k]->add_products_twice (x, n_rows, n, u, sizes, norms, got_of_rows, got, got + n);
          assert_near (got, got + n, products, errors, n);
          assert_near (got_of_rows, got_of_rows + n_rows, of_rows, row_errors, n_rows);
          if (k == 0)
            {
              memcpy (sums, got, 2 * n * sizeof *got);
              squares[1] = squares[0];
            }
          if (round % 3 != 2)
            continue;
          g_assert_cmpmem (got, 2 * n * sizeof *got, sums, 2 * n * sizeof *got);
          assert_same_double (squares[0], squares[1]);
        }
      free_rationals (products, n);
      free_rationals (of_rows, n_rows);
    }
}

static void
test_values (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  static const float floats[] = { 1, -2.5f, 0x1p-149f, -0x1p127f, 0, 3, 4, 5, -6, 7, 8, -0x1.fffffep127f,
                                  1, 2,     3,         4,         5, 6, 7, 8, 9 };
  gsize n;
  gsize k;

  for (k = 0; kernels[k] != NULL; k++)
    for (n = 0; n <= G_N_ELEMENTS (floats); n++)
      {
        g_autofree double *values = g_new0 (double, n + 1);
        double max = 0;
        gsize i;

        kernels[k]->widen (values, floats, n);
        for (i = 0; i < n; i++)
          {
            assert_same_double (values[i], (double) floats[i]);
            max = MAX (max, fabs (values[i]));
          }
        assert_same_double (values[n], 0);
        assert_same_double (kernels[k]->find_max (values, n), max);
      }
}

/* What can be rounded is no more than whole numbers of 53 bits here, but for the rests. */
static void
test_parts (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);
  gsize n;

  for (n = APR_DENSE_PAD; n <= 6 * APR_DENSE_PAD; n += APR_DENSE_PAD)
    {
      g_autofree double *values = g_new (double, n);
      g_autofree double *of_parts = g_new (double, 4 * n);
      const double *parts[4] = { of_parts, of_parts + n, of_parts + 2 * n, of_parts + 3 * n };
      double expected[3] = { 0 };
      double of_first[3] = { 0 };
      gsize i;
      gsize k;

      fill (rand, values, n);
      fill (rand, of_parts, 4 * n);
      for (i = 0; i < 2 * n; i++)
        of_parts[i] = rint (of_parts[i] * 0x1p20) * 0x1p-20;
      for (i = 0; i < n; i++)
        {
          double cut = rint (values[i] / 4 * 0x1p26) * 0x1p-26;
          double rest = values[i] / 4 - cut;

          expected[0] += cut * parts[0][i];
          expected[1] += cut * parts[1][i];
          expected[2] += rest * parts[0][i] + cut * parts[2][i] + rest * parts[3][i];
        }

      for (k = 0; kernels[k] != NULL; k++)
        {
          double sums[3];

          kernels[k]->dot_in_parts (values, n, 0.25, parts, sums);
          assert_same_double (sums[0], expected[0]);
          assert_same_double (sums[1], expected[1]);
          g_assert_cmpfloat (fabs (sums[2] - expected[2]), <, 0x1p-40);
          if (k == 0)
            memcpy (of_first, sums, sizeof sums);
          assert_same_double (sums[2], of_first[2]);
        }
    }
}

/* The least eigenvalue of tridiagonal matrices with 1 and 1/2 is 1 - cos (pi / (n + 1)). */
static void
test_cholesky (void)
{
  const gsize sizes[] = { 1, 2, 7, 31, 32, 33, 100 };
  gsize k;

  for (k = 0; k < G_N_ELEMENTS (sizes); k++)
    {
      gsize n = sizes[k];
      g_auto (AprCholesky) cholesky = { NULL };
      g_autofree double *least = g_new0 (double, n);
      g_autofree double *x = g_new (double, n);
      g_autofree gsize *independent = g_new (gsize, n);
      double eigenvalue = 1 - cos (G_PI / (double) (n + 1));
      gsize i;

      (void) apr_cholesky_init (&cholesky, n, &(AprRun){ 0 });
      for (i = 0; i < n; i++)
        {
          cholesky.rows[i * cholesky.stride + i] = 1;
          if (i + 1 < n)
            cholesky.rows[i * cholesky.stride + i + 1] = 0.5;
        }
      g_assert_cmpuint (apr_cholesky_factorise (&cholesky, least, independent, &(AprRun){ .n_threads = 1 }),
                        ==, n);
      g_assert_cmpfloat (apr_cholesky_bound_error (&cholesky), <, 1e-12);
      g_assert_cmpfloat (apr_cholesky_bound_error (&cholesky), >, 1e-17);

      for (i = 0; i < n; i++)
        x[i] = (double) (i % 3);
      apr_cholesky_multiply (&cholesky, x);
      for (i = 0; i < n; i++)
        g_assert_cmpfloat_with_epsilon (x[i],
                                        (double) (i % 3) + (i > 0 ? 0.5 * (double) ((i - 1) % 3) : 0) +
                                          (i + 1 < n ? 0.5 * (double) ((i + 1) % 3) : 0),
                                        1e-13);
      apr_cholesky_solve (&cholesky, x);
      for (i = 0; i < n; i++)
        g_assert_cmpfloat_with_epsilon (x[i], (double) (i % 3), 1e-10);

      g_assert_cmpfloat (apr_cholesky_estimate_min_eigenvalue (&cholesky), >, eigenvalue * (1 - 1e-9));
      g_assert_cmpfloat (apr_cholesky_estimate_min_eigenvalue (&cholesky), <, eigenvalue * 2);
    }
}

/* Whatever the blocks, the threads and the instruction set, an entry is what is left of it when products are
 * subtracted one by one, divided by the root of its row. */
static void
test_cholesky_order (void)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (42);
  const gsize sizes[] = { 5, 31, 32, 47, 64, 100, 161, 400 };
  gsize round;

  for (round = 0; round < 2 * G_N_ELEMENTS (sizes); round++)
    {
      gsize n = sizes[round / 2];
      gsize stride = apr_dense_pad (n);
      g_autofree double *x = g_new (double, 2 * n * n);
      g_autofree double *rows = g_new0 (double, n *stride);
      g_autofree double *expected = NULL;
      g_autofree double *least = g_new (double, n);
      g_autofree gsize *passed = g_new0 (gsize, n);
      gsize n_expected = 0;
      gsize i;
      gsize j;
      gsize k;

      /* Every other time, columns that are sums of others. */
      fill (rand, x, 2 * n * n);
      for (i = 0; i < 2 * n; i++)
        for (j = 2; j < n && round % 2 == 1; j++)
          if (j % 7 == 2)
            x[i * n + j] = x[i * n + j - 1] + x[i * n + j - 2];
      for (i = 0; i < n; i++)
        for (j = i; j < n; j++)
          for (k = 0; k < 2 * n; k++)
            rows[i * stride + j] += x[k * n + i] * x[k * n + j] / (double) n;
      for (i = 0; i < n; i++)
        least[i] = 1e-9;

      expected = g_memdup2 (rows, n * stride * sizeof *rows);
      for (i = 0; i < n; i++)
        {
          for (k = 0; k < i; k++)
            for (j = i; j < n && !passed[k]; j++)
              expected[i * stride + j] -= expected[k * stride + i] * expected[k * stride + j];
          passed[i] = !(expected[i * stride + i] > least[i]);
          n_expected += !passed[i];
          expected[i * stride + i] = sqrt (expected[i * stride + i]);
          for (j = i + 1; j < n; j++)
            expected[i * stride + j] /= expected[i * stride + i];
        }
      g_assert_cmpint (n_expected < n, ==, round % 2 == 1);

      for (k = 0; kernels[k] != NULL; k++)
        {
          g_auto (AprCholesky) cholesky = { NULL };
          g_autofree gsize *independent = g_new (gsize, n);
          gsize n_independent = 0;

          (void) apr_cholesky_init (&cholesky, n, &(AprRun){ 0 });
          cholesky.kernel = kernels[k];
          memcpy (cholesky.rows, rows, n * stride * sizeof *rows);
          g_assert_cmpuint (
            apr_cholesky_factorise (&cholesky, least, independent, &(AprRun){ .n_threads = (guint) k + 1 }),
            ==, n_expected);
          for (i = 0; i < n; i++)
            {
              if (passed[i])
                continue;
              g_assert_cmpuint (independent[n_independent++], ==, i);
              for (j = i; j < n; j++)
                assert_same_double (cholesky.rows[i * stride + j], expected[i * stride + j]);
            }

          apr_cholesky_keep (&cholesky, independent, n_independent);
          for (i = 0; i < n_independent; i++)
            for (j = i; j < n_independent; j++)
              assert_same_double (cholesky.rows[i * cholesky.stride + j],
                                  expected[independent[i] * stride + independent[j]]);
        }
    }
}

/* A copy of a column leaves nothing of it, and the rest is as if it were not there. */
static void
test_cholesky_passes_over (void)
{
  g_auto (AprCholesky) cholesky = { NULL };
  const double least[] = { 1e-9, 1e-9, 1e-9 };
  gsize independent[3];

  (void) apr_cholesky_init (&cholesky, 3, &(AprRun){ 0 });
  cholesky.rows[0] = 4;
  cholesky.rows[1] = 4;
  cholesky.rows[2] = 2;
  cholesky.rows[cholesky.stride + 1] = 4;
  cholesky.rows[cholesky.stride + 2] = 2;
  cholesky.rows[2 * cholesky.stride + 2] = 10;
  g_assert_cmpuint (apr_cholesky_factorise (&cholesky, least, independent, &(AprRun){ .n_threads = 1 }), ==,
                    2);
  g_assert_cmpuint (independent[0], ==, 0);
  g_assert_cmpuint (independent[1], ==, 2);
  assert_same_double (cholesky.rows[0], 2);
  assert_same_double (cholesky.rows[2], 1);
  assert_same_double (cholesky.rows[2 * cholesky.stride + 2], 3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dense/kernels-agree", test_kernels_agree);
  g_test_add_func ("/dense/whole-matrices", test_whole_matrices);
  g_test_add_func ("/dense/float-matrices", test_float_matrices);
  g_test_add_func ("/dense/products-twice", test_products_twice);
  g_test_add_func ("/dense/parts", test_parts);
  g_test_add_func ("/dense/values", test_values);
  g_test_add_func ("/dense/cholesky", test_cholesky);
  g_test_add_func ("/dense/cholesky/order", test_cholesky_order);
  g_test_add_func ("/dense/cholesky/passes-over", test_cholesky_passes_over);

  return g_test_run ();
}
