/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

#include "aprender/least-squares/kernels/apr-double-double-kernel-private.h"

#define N_ROWS 13
#define N_COLUMNS 40
#define N_INNER 64
#define N_VALUES (N_INNER * N_COLUMNS)

typedef struct
{
  double high[N_VALUES];
  double low[N_VALUES];
} Matrix;

static AprDoubleDoubles
view (Matrix *matrix)
{
  return (AprDoubleDoubles){ matrix->high, matrix->low, N_COLUMNS };
}

static void
fill (Matrix *matrix, GRand *rand, int spread)
{
  gsize i;

  for (i = 0; i < N_VALUES; i++)
    {
      double high = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -spread, spread + 1));
      AprDoubleDouble value = apr_dd_quick_sum (high, ldexp (high, -53) * g_rand_double_range (rand, -1, 1));

      matrix->high[i] = value.high;
      matrix->low[i] = value.low;
    }
}

static void
set_number (mpf_t number, AprDoubleDouble value)
{
  mpf_t low;

  mpf_init2 (low, 600);
  mpf_set_d (number, value.high);
  mpf_set_d (low, value.low);
  mpf_add (number, number, low);
  mpf_clear (low);
}

/* Against exact arithmetic: within the bound that the header states. */
static void
assert_products (Matrix *result, Matrix *c, Matrix *a, Matrix *b, gsize n_inner)
{
  mpf_t sum;
  mpf_t left;
  mpf_t right;
  gsize i;
  gsize j;
  gsize k;

  mpf_init2 (sum, 600);
  mpf_init2 (left, 600);
  mpf_init2 (right, 600);
  for (i = 0; i < N_ROWS; i++)
    for (j = 0; j < N_COLUMNS; j++)
      {
        double magnitudes = fabs (c->high[i * N_COLUMNS + j]);
        double bound;

        set_number (sum, apr_double_doubles_get (view (c), i, j));
        for (k = 0; k < n_inner; k++)
          {
            set_number (left, apr_double_doubles_get (view (a), k, i));
            set_number (right, apr_double_doubles_get (view (b), k, j));
            mpf_mul (left, left, right);
            mpf_sub (sum, sum, left);
            magnitudes += fabs (mpf_get_d (left));
          }
        set_number (left, apr_double_doubles_get (view (result), i, j));
        mpf_sub (sum, sum, left);
        bound = (3 * (double) n_inner + 16) * 0x1p-104 * magnitudes;
        g_assert_cmpfloat (fabs (mpf_get_d (sum)), <=, bound);
      }
  mpf_clear (sum);
  mpf_clear (left);
  mpf_clear (right);
}

static void
test_products (void)
{
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  const gsize lengths[] = { 0, 1, 2, 7, 33, N_INNER };
  g_autoptr (GRand) rand = g_rand_new_with_seed (51);
  g_autofree Matrix *a = g_new (Matrix, 1);
  g_autofree Matrix *b = g_new (Matrix, 1);
  g_autofree Matrix *c = g_new (Matrix, 1);
  g_autofree Matrix *first = g_new (Matrix, 1);
  g_autofree Matrix *other = g_new (Matrix, 1);
  gsize length;
  int spread;
  gsize i;

  for (spread = 0; spread <= 40; spread += 20)
    for (length = 0; length < G_N_ELEMENTS (lengths); length++)
      for (i = 0; kernels[i] != NULL; i++)
        {
          if (i == 0)
            {
              fill (a, rand, spread);
              fill (b, rand, spread);
              fill (c, rand, spread);
            }
          *other = *c;
          kernels[i]->subtract_products (view (other), view (a), view (b), N_ROWS, N_COLUMNS,
                                         lengths[length]);
          if (i == 0)
            {
              *first = *other;
              assert_products (first, c, a, b, lengths[length]);
            }
          if (memcmp (first, other, sizeof *first) != 0)
            g_error ("%s and %s differ", kernels[0]->name, kernels[i]->name);
        }
}

static void
test_scale (void)
{
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (52);
  g_autofree Matrix *row = g_new (Matrix, 1);
  g_autofree Matrix *first = g_new (Matrix, 1);
  g_autofree Matrix *other = g_new (Matrix, 1);
  const AprDoubleDouble factor = apr_dd_divide ((AprDoubleDouble){ 1, 0 }, (AprDoubleDouble){ 3, 0 });
  gsize i;
  gsize j;

  fill (row, rand, 4);
  for (i = 0; kernels[i] != NULL; i++)
    {
      *other = *row;
      kernels[i]->scale (view (other), factor, N_COLUMNS);
      if (i == 0)
        *first = *other;
      g_assert_cmpmem (first, sizeof *first, other, sizeof *other);
      for (j = 0; j < N_COLUMNS; j++)
        {
          AprDoubleDouble expected = apr_dd_multiply (apr_double_doubles_get (view (row), 0, j), factor);
          AprDoubleDouble difference =
            apr_dd_subtract (expected, apr_double_doubles_get (view (other), 0, j));

          g_assert_cmpfloat (fabs (difference.high), <=, 0x1p-102 * fabs (expected.high));
        }
    }
}

#define TILE APR_DOUBLE_DOUBLE_COLUMNS
#define STRIDE 41

/* Against double-double arithmetic, for numbers of columns that fill vectors and those that do not. */
static void
assert_centred (const double *u,
                const double *products,
                const double *x,
                const AprDoubleDouble *centres,
                const double *coefficients,
                gsize n)
{
  gsize i;
  gsize j;

  for (j = 0; j < TILE; j++)
    {
      double product = 0;

      for (i = 0; i < n; i++)
        {
          double value = x[j * STRIDE + i];
          double expected = apr_dd_subtract ((AprDoubleDouble){ value, 0 }, centres[i]).high;

          g_assert_cmpfloat (fabs (u[i * TILE + j] - expected), <=, 0x1p-52 * fabs (expected));
          if (coefficients != NULL)
            product += value * coefficients[i];
        }
      g_assert_cmpfloat (products[j], ==, coefficients != NULL ? product : 5);
    }
}

/* Rows of doubles and of floats, with products and without, are the same in every kernel. */
static void
test_centre_rows (void)
{
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  const gsize lengths[] = { 0, 1, 3, 8, 13, STRIDE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (53);
  AprDoubleDouble centres[STRIDE];
  double coefficients[STRIDE];
  double x[TILE * STRIDE];
  float floats[TILE * STRIDE];
  gsize length;
  gsize i;
  gsize k;
  guint way;

  for (i = 0; i < TILE * STRIDE; i++)
    {
      floats[i] = (float) g_rand_double_range (rand, -4, 4);
      x[i] = (double) floats[i];
    }
  for (i = 0; i < STRIDE; i++)
    {
      centres[i] = apr_dd_divide ((AprDoubleDouble){ 1, 0 }, (AprDoubleDouble){ 7 + (double) i, 0 });
      coefficients[i] = g_rand_double_range (rand, -1, 1);
    }

  for (length = 0; length < G_N_ELEMENTS (lengths); length++)
    {
      gsize n = lengths[length];
      double first[STRIDE * TILE];

      for (k = 0; kernels[k] != NULL; k++)
        for (way = 0; way < 4; way++)
          {
            AprPlainRows rows = { way < 2 ? floats : NULL, way < 2 ? NULL : x, STRIDE };
            const double *factor = way % 2 == 0 ? coefficients : NULL;
            double u[STRIDE * TILE] = { 0 };
            double products[TILE];

            for (i = 0; i < TILE; i++)
              products[i] = 5;
            kernels[k]->centre_rows (u, products, rows, centres, factor, n);
            if (k == 0 && way == 0)
              memcpy (first, u, sizeof first);
            g_assert_cmpmem (first, sizeof first, u, sizeof u);
            assert_centred (u, products, x, centres, factor, n);
          }
    }
}

/* Against sums in double-double. */
static void
assert_product_squares (const double *squares, const double *root, const double *u, gsize n, gsize n_tiles)
{
  gsize column;
  gsize i;
  gsize k;

  for (column = 0; column < n_tiles * TILE; column++)
    {
      const double *x = u + column / TILE * n * TILE + column % TILE;
      AprDoubleDouble expected = { 1, 0 };
      double magnitudes = 1;

      for (i = 0; i < n; i++)
        {
          AprDoubleDouble sum = { 0, 0 };
          double magnitude = 0;

          for (k = 0; k <= i; k++)
            {
              double factor = root[apr_packed_root_offset (n, i, k)];

              sum = apr_dd_add (sum, apr_dd_multiply_double ((AprDoubleDouble){ factor, 0 }, x[k * TILE]));
              magnitude += fabs (factor * x[k * TILE]);
            }
          expected = apr_dd_add (expected, apr_dd_multiply (sum, sum));
          magnitudes += magnitude * magnitude;
        }
      g_assert_cmpfloat (fabs (squares[column] - expected.high), <=, 0x1p-43 * magnitudes);
    }
}

/* Zeros but for the triangle; what is behind the last panel is not read. */
static void
pack_root (double *root, gsize n_entries, gsize n, GRand *rand)
{
  gsize i;
  gsize k;

  for (i = 0; i < n_entries; i++)
    root[i] = i < apr_packed_root_offset (n, n, 0) ? 0 : NAN;
  for (i = 0; i < n; i++)
    for (k = 0; k <= i; k++)
      root[apr_packed_root_offset (n, i, k)] = g_rand_double_range (rand, -1, 1);
}

static void
test_product_squares (void)
{
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  const gsize lengths[] = { 0, 1, 4, 6, 7, 8, 21, 128, 129, 132, 135, 270 };
  const gsize max = lengths[G_N_ELEMENTS (lengths) - 1];
  g_autoptr (GRand) rand = g_rand_new_with_seed (54);
  gsize n_entries = apr_packed_root_offset (max, max, 0) + 1;
  g_autofree double *root = g_new (double, n_entries);
  g_autofree double *u = g_new (double, 3 * TILE * max);
  gsize n_tiles;
  gsize length;
  gsize i;

  for (length = 0; length < G_N_ELEMENTS (lengths); length++)
    for (n_tiles = 1; n_tiles <= 3; n_tiles += 2)
      {
        double first[3 * TILE];

        pack_root (root, n_entries, lengths[length], rand);
        for (i = 0; i < 3 * TILE * max; i++)
          u[i] = i < n_tiles * TILE * lengths[length] ? g_rand_double_range (rand, -1, 1) : NAN;
        for (i = 0; kernels[i] != NULL; i++)
          {
            double squares[3 * TILE];
            gsize j;

            for (j = 0; j < 3 * TILE; j++)
              squares[j] = 1;
            kernels[i]->add_product_squares (squares, root, u, lengths[length], n_tiles,
                                             (const guint8 *) root,
                                             (const guint8 *) (root + lengths[length]));
            if (i == 0)
              {
                memcpy (first, squares, sizeof first);
                assert_product_squares (squares, root, u, lengths[length], n_tiles);
              }
            g_assert_cmpmem (first, sizeof first, squares, sizeof squares);
          }
      }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/double-double-kernel/products", test_products);
  g_test_add_func ("/double-double-kernel/scale", test_scale);
  g_test_add_func ("/double-double-kernel/centre-rows", test_centre_rows);
  g_test_add_func ("/double-double-kernel/product-squares", test_product_squares);

  return g_test_run ();
}
