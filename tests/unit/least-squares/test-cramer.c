/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/rational.h"

#include "aprender/least-squares/apr-refinement-private.h"

/* What Cramer's rule says of the solutions of products, against rational arithmetic. */

#define MAX_INDEPENDENT 3
#define MAX_FEATURES 5
#define N_ROWS 4

/* Products of some columns of whole numbers times 2^@exponents, the last of them the target. */
static void
set_products (AprProducts *products, gint columns[][N_ROWS], const gint *exponents, gsize n_features)
{
  mpz_t sum;
  gsize i;
  gsize j;
  gsize k;

  (void) apr_products_init_zeros (products, n_features, 1, 2, &(AprRun){ 0 });
  mpz_init (sum);
  for (i = 0; i <= n_features; i++)
    for (j = 0; j <= i; j++)
      {
        glong product = 0;

        for (k = 0; k < N_ROWS; k++)
          product += (glong) columns[i][k] * columns[j][k];
        mpz_set_si (sum, product);
        mpz_mul_2exp (sum, sum, (mp_bitcnt_t) (exponents[i] + exponents[j]));
        apr_products_set_integer (products, i, j, sum);
      }
  mpz_clear (sum);
}

/* Solves A v = c of the first @n features, or where there are more, G'G v = c for G v; false where that is singular. */
static gboolean
solve_exactly (const AprProducts *products, gsize n, mpq_t *unknowns)
{
  gsize n_features = products->n_features;
  mpq_t matrix[MAX_INDEPENDENT * (MAX_INDEPENDENT + 1)];
  gboolean found;
  mpz_t left;
  mpz_t right;
  mpz_t sum;
  gsize i;
  gsize j;
  gsize k;

  mpz_inits (left, right, sum, NULL);
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        gsize column = j < n ? j : n_features;

        apr_products_get_integer (products, column, i, sum);
        if (n < n_features && j < n)
          mpz_set_ui (sum, 0);
        for (k = 0; k < n_features && n < n_features && j < n; k++)
          {
            apr_products_get_integer (products, k, i, left);
            apr_products_get_integer (products, k, j, right);
            mpz_addmul (sum, left, right);
          }
        mpq_init (matrix[i * (n + 1) + j]);
        mpq_set_z (matrix[i * (n + 1) + j], sum);
      }
  found = eliminate (matrix, n);
  for (i = 0; i < n && found; i++)
    mpq_div (matrix[i * (n + 1) + n], matrix[i * (n + 1) + n], matrix[i * (n + 1) + i]);
  for (k = 0; k < n_features && found; k++)
    {
      mpq_t term;

      mpq_init (term);
      mpq_set_ui (unknowns[k], 0, 1);
      if (n == n_features)
        mpq_set (unknowns[k], matrix[k * (n + 1) + n]);
      for (i = 0; i < n && n < n_features; i++)
        {
          apr_products_get_integer (products, k, i, left);
          mpq_set_z (term, left);
          mpq_mul (term, term, matrix[i * (n + 1) + n]);
          mpq_add (unknowns[k], unknowns[k], term);
        }
      mpq_clear (term);
    }
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (matrix[i]);
  mpz_clears (left, right, sum, NULL);

  return found;
}

static void
test_random (void)
{
  const gsize features[] = { 0, 1, 2, 3, 4 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  gint64 spare[2] = { 0 }; /* of all features, and of the minimum norm */
  gint64 n_checked[2] = { 0 };
  mpq_t unknowns[MAX_FEATURES];
  int round;
  gsize i;
  gsize k;

  g_test_summary (
    "What Cramer's rule says of the denominators of unknowns holds, whatever the unit of the columns is.");

  for (i = 0; i < MAX_FEATURES; i++)
    mpq_init (unknowns[i]);
  for (round = 0; round < 3000; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, MAX_INDEPENDENT + 1);
      gsize n_features = n + (gsize) g_rand_int_range (rand, 0, MAX_FEATURES - MAX_INDEPENDENT + 1);
      gint columns[MAX_FEATURES + 1][N_ROWS] = { 0 };
      gint exponents[MAX_FEATURES + 1] = { 0 };
      g_auto (AprRefinement) refinement = { 0 };
      g_auto (AprRefinement) scaled = { 0 };
      AprTarget target = { .dtype = APR_DTYPE_F64 };
      AprProducts products;
      gint unit = g_rand_int_range (rand, 1, 9);

      for (i = 0; i <= n_features; i++)
        for (k = 0; k < N_ROWS; k++)
          columns[i][k] = i < n || i == n_features
                          ? g_rand_int_range (rand, -20, 21)
                          : columns[0][k] * (gint) (i - n + 1) - (n > 1 ? columns[1][k] : 0);
      set_products (&products, columns, exponents, n_features);
      /* Zeros have no denominator. */
      if (solve_exactly (&products, n, unknowns) && mpq_sgn (unknowns[0]) != 0)
        {
          apr_refinement_init (&refinement, &products, &target, features, n_features, &(AprRun){ 0 });
          apr_refinement_apply_cramer (&refinement, features, n);
          for (i = 0; i < n_features; i++)
            {
              if (refinement.grids[i] >= 0)
                mpq_mul_2exp (unknowns[i], unknowns[i], (mp_bitcnt_t) refinement.grids[i]);
              else
                mpq_div_2exp (unknowns[i], unknowns[i], (mp_bitcnt_t) -refinement.grids[i]);
              g_assert_cmpint ((gint64) mpz_sizeinbase (mpq_denref (unknowns[i]), 2), <=,
                               refinement.denominator_bits);
              g_assert_cmpint (refinement.grids[i], <=, apr_refinement_get_max_grid (&refinement));
              spare[n < n_features] +=
                refinement.denominator_bits - (gint64) mpz_sizeinbase (mpq_denref (unknowns[i]), 2);
              n_checked[n < n_features]++;
            }

          /* Another unit divides the unknowns by a power of two. */
          apr_products_clear (&products);
          for (i = 0; i < n_features; i++)
            exponents[i] = unit;
          set_products (&products, columns, exponents, n_features);
          apr_refinement_init (&scaled, &products, &target, features, n_features, &(AprRun){ 0 });
          apr_refinement_apply_cramer (&scaled, features, n);
          g_assert_cmpint (scaled.denominator_bits, ==, refinement.denominator_bits);
          for (i = 0; i < n_features; i++)
            g_assert_cmpint (scaled.grids[i], ==, refinement.grids[i] + exponents[i]);
        }
      apr_products_clear (&products);
    }
  for (i = 0; i < MAX_FEATURES; i++)
    mpq_clear (unknowns[i]);

  /* A bound that is far too large would prove as much, but take longer. */
  for (i = 0; i < 2; i++)
    {
      g_test_message ("%.1f bits more than needed", (double) spare[i] / (double) n_checked[i]);
      g_assert_cmpint (n_checked[i], >, 1000);
      g_assert_cmpint (spare[i], <, (i == 0 ? 6 : 40) * n_checked[i]);
    }
}

static void
test_copies (void)
{
  const gsize features[] = { 0, 1, 2 };
  gint columns[][N_ROWS] = { { 1, 1, 1, 2 }, { 1, 1, 1, 2 }, { 1, 1, 1, 2 }, { 1, 0, 0, 0 } };
  const gint exponents[] = { 0, 0, 0, 0 };
  g_auto (AprRefinement) refinement = { 0 };
  AprTarget target = { .dtype = APR_DTYPE_F64 };
  AprProducts products;

  g_test_summary ("Three copies of one feature whose square is 7 have coefficients of 1 / 21.");

  set_products (&products, columns, exponents, 3);
  apr_refinement_init (&refinement, &products, &target, features, 3, &(AprRun){ 0 });
  apr_refinement_apply_cramer (&refinement, features, 1);
  g_assert_cmpint (refinement.grids[0], ==, 0);
  g_assert_cmpint (refinement.denominator_bits, >=, 5);
  g_assert_cmpint (refinement.denominator_bits, <=, 8);
  apr_products_clear (&products);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cramer/random", test_random);
  g_test_add_func ("/cramer/copies", test_copies);

  return g_test_run ();
}
