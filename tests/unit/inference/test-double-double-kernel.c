/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

#include "aprender/inference/kernels/apr-double-double-kernel-private.h"

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
test_rows (void)
{
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (52);
  g_autofree Matrix *row = g_new (Matrix, 1);
  g_autofree Matrix *first = g_new (Matrix, 1);
  g_autofree Matrix *other = g_new (Matrix, 1);
  const AprDoubleDouble factor = apr_dd_divide ((AprDoubleDouble){ 1, 0 }, (AprDoubleDouble){ 3, 0 });
  const AprDoubleDouble centre = apr_dd_divide ((AprDoubleDouble){ 1, 0 }, (AprDoubleDouble){ 7, 0 });
  gsize i;
  gsize j;

  fill (row, rand, 4);
  for (i = 0; kernels[i] != NULL; i++)
    {
      double centred[N_COLUMNS];

      *other = *row;
      kernels[i]->scale (view (other), factor, N_COLUMNS);
      memcpy (centred, row->high, sizeof centred);
      kernels[i]->subtract_centre (centred, factor, centre, N_COLUMNS);
      if (i == 0)
        *first = *other;
      g_assert_cmpmem (first, sizeof *first, other, sizeof *other);
      for (j = 0; j < N_COLUMNS; j++)
        {
          AprDoubleDouble expected = apr_dd_multiply (apr_double_doubles_get (view (row), 0, j), factor);
          AprDoubleDouble difference =
            apr_dd_subtract (expected, apr_double_doubles_get (view (other), 0, j));

          g_assert_cmpfloat (fabs (difference.high), <=, 0x1p-102 * fabs (expected.high));
          expected = apr_dd_subtract (apr_dd_multiply_double (factor, row->high[j]), centre);
          g_assert_cmpfloat (fabs (centred[j] - expected.high), <=, 0x1p-52 * fabs (expected.high));
        }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/double-double-kernel/products", test_products);
  g_test_add_func ("/double-double-kernel/rows", test_rows);

  return g_test_run ();
}
