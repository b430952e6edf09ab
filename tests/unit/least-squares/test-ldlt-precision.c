/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/ldlt-test.h"

static const AprRun usual = { 0 };

/* How many bits the factors have, and what their bound on the inverse says, where few bits would do harm. */

#define N_ROWS 6

/* c is a sum of the columns before it, with coefficients up to 2^90, so that numbers of a few hundred bits leave
 * rounding errors of it that are above the tolerance. */
static void
test_large_combinations (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (102);
  const gboolean excluded[4] = { FALSE };
  int round;

  for (round = 0; round < 50; round++)
    {
      mpz_t x[4][N_ROWS];
      mpz_t *matrix = apr_integers_new (apr_triangle (4, 0));
      g_autoptr (AprLdlt) ldlt = NULL;
      gsize n_dependent;
      gsize i;
      gsize j;
      gsize row;

      /* a, 2^45 a + b, 2^45 (a + b) + c, c */
      for (row = 0; row < N_ROWS; row++)
        {
          for (i = 0; i < 4; i++)
            mpz_init (x[i][row]);
          mpz_set_si (x[0][row], g_rand_int_range (rand, 1, 4));
          mpz_set_si (x[1][row], g_rand_int_range (rand, -99, 100));
          mpz_set_si (x[3][row], g_rand_int_range (rand, -99, 100));
          mpz_add (x[2][row], x[0][row], x[1][row]);
          mpz_mul_2exp (x[2][row], x[2][row], 45);
          mpz_add (x[2][row], x[2][row], x[3][row]);
          mpz_addmul_ui (x[1][row], x[0][row], (gulong) 1 << 45);
        }
      for (i = 0; i < 4; i++)
        for (j = 0; j <= i; j++)
          for (row = 0; row < N_ROWS; row++)
            mpz_addmul (matrix[apr_triangle (i, j)], x[i][row], x[j][row]);

      ldlt = ldlt_new (matrix, 4, excluded, 0x1p-102, FALSE);
      g_assert_cmpuint (apr_ldlt_get_dependent (ldlt, &n_dependent)[0], ==, 3);
      g_assert_cmpuint (n_dependent, ==, 1);

      for (i = 0; i < 4; i++)
        for (row = 0; row < N_ROWS; row++)
          mpz_clear (x[i][row]);
      apr_integers_free (matrix, apr_triangle (4, 0));
    }
}

/* The first column is 1, and the others are 1 + e, with an e of their own each, of length 2^-10: the first entry of
 * the inverse is 1 + (N - 1) 2^20. */
static void
test_large_first_column (void)
{
  enum
  {
    N = 300
  };
  mpz_t *matrix = apr_integers_new (apr_triangle (N, 0));
  g_autoptr (AprLdlt) ldlt = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < N; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_setbit (matrix[apr_triangle (i, j)], 20);
        if (i == j && i > 0)
          mpz_setbit (matrix[apr_triangle (i, j)], 0);
      }
  ldlt = apr_ldlt_new_long (matrix, N, 256, &usual);
  /* With all that it may use. */
  g_assert_nonnull (ldlt);
  g_assert_cmpint (apr_ldlt_get_scales (ldlt)[0], ==, 10);
  g_assert_cmpfloat (ldexp (1, (gint) apr_ldlt_get_inverse_bits (ldlt)), >=, 1 + (N - 1) * 0x1p20);
  apr_integers_free (matrix, apr_triangle (N, 0));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ldlt-precision/large-combinations", test_large_combinations);
  g_test_add_func ("/ldlt-precision/large-first-column", test_large_first_column);

  return g_test_run ();
}
