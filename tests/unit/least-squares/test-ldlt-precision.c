/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/ldlt-test.h"

static const AprRun usual = { 0 };

/* How many bits the factors have, and what their bound on the inverse says, where few bits would do harm. */

#define N_ROWS 6
#define N_COLUMNS 5

/* The last column is a sum of others, with coefficients that are up to 2^84 for columns of the same length. In every
 * other round it also has a 1 in a row of its own, which is well above the tolerance; but rounding errors of 256 bits
 * can leave less than nothing of it, and the bound on the inverse of the other columns does not show that. */
static void
test_large_combinations (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (102);
  const gboolean excluded[N_COLUMNS] = { FALSE };
  int round;

  for (round = 0; round < 2000; round++)
    {
      gboolean own_row = round % 2 != 0;
      mpz_t x[N_COLUMNS][N_ROWS];
      mpz_t *matrix = apr_integers_new (apr_triangle (N_COLUMNS, 0));
      g_autoptr (AprLdlt) ldlt = NULL;
      gsize n_dependent;
      gsize i;
      gsize j;
      gsize row;

      /* a, b, 2^42 b + c, 2^42 (b + c) + d, 2^40 d */
      for (row = 0; row < N_ROWS; row++)
        {
          for (i = 0; i < N_COLUMNS; i++)
            mpz_init_set_si (x[i][row], g_rand_int_range (rand, -99, 100));
          mpz_add (x[3][row], x[1][row], x[2][row]);
          mpz_mul_2exp (x[3][row], x[3][row], 42);
          mpz_add (x[3][row], x[3][row], x[4][row]);
          mpz_addmul_ui (x[2][row], x[1][row], (gulong) 1 << 42);
          mpz_mul_2exp (x[4][row], x[4][row], 40);
        }
      for (i = 0; i < N_COLUMNS; i++)
        for (j = 0; j <= i; j++)
          for (row = 0; row < N_ROWS; row++)
            mpz_addmul (matrix[apr_triangle (i, j)], x[i][row], x[j][row]);
      if (own_row)
        mpz_add_ui (matrix[apr_triangle (4, 4)], matrix[apr_triangle (4, 4)], 1);

      ldlt = ldlt_new (matrix, N_COLUMNS, excluded, 0x1p-102, FALSE);
      g_assert_true (apr_ldlt_get_dependent (ldlt, &n_dependent)[0] == 4 || own_row);
      g_assert_cmpuint (n_dependent, ==, own_row ? 0 : 1);

      for (i = 0; i < N_COLUMNS; i++)
        for (row = 0; row < N_ROWS; row++)
          mpz_clear (x[i][row]);
      apr_integers_free (matrix, apr_triangle (N_COLUMNS, 0));
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

/* Rows are begun by several threads where there are many: what is found is the same. Dependent columns are beside each
 * other, and last; each of the others is nearly the first one, so that the numbers are long. */
static void
test_threads (void)
{
  enum
  {
    N = 75,
    N_VALUES = 80
  };
  const gsize dependent[] = { 10, 11, 40, N - 1 };
  const AprRun runs[] = { { .n_threads = 1 }, { .n_threads = 3 } };
  const gboolean excluded[N] = { [7] = TRUE, [72] = TRUE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (103);
  mpz_t *x = apr_integers_new (N * N_VALUES);
  mpz_t *matrix = apr_integers_new (apr_triangle (N, 0));
  AprLdlt *ldlts[2];
  AprLdlt *without[2];
  gsize n_independent;
  gsize n;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < N; i++)
    for (k = 0; k < N_VALUES; k++)
      {
        mpz_set_si (x[i * N_VALUES + k], g_rand_int_range (rand, -99, 100));
        if (i > 0)
          mpz_addmul_ui (x[i * N_VALUES + k], x[k], (gulong) 1 << 45);
      }
  for (i = 0; i < G_N_ELEMENTS (dependent); i++)
    for (k = 0; k < N_VALUES; k++)
      mpz_add (x[dependent[i] * N_VALUES + k], x[(i + 1) * N_VALUES + k], x[(i + 2) * N_VALUES + k]);
  for (i = 0; i < N; i++)
    for (j = 0; j <= i; j++)
      for (k = 0; k < N_VALUES; k++)
        mpz_addmul (matrix[apr_triangle (i, j)], x[i * N_VALUES + k], x[j * N_VALUES + k]);

  for (i = 0; i < 2; i++)
    {
      const gsize *columns;

      ldlts[i] = ldlt_new_with (matrix, N, excluded, 0x1p-102, FALSE, &runs[i]);
      columns = apr_ldlt_get_dependent (ldlts[i], &n);
      g_assert_cmpmem (columns, n * sizeof *columns, dependent, sizeof dependent);
      (void) apr_ldlt_get_independent (ldlts[i], &n_independent);
      g_assert_cmpuint (n_independent, ==, N - 2 - n);

      g_assert_null (apr_ldlt_new_long (matrix, N, 512, &runs[i]));

      /* Without a tolerance, the first of these is where it ends, whatever rows were begun together. */
      without[i] = ldlt_new_with (matrix, N, excluded, 0, FALSE, &runs[i]);
      columns = apr_ldlt_get_dependent (without[i], &n);
      g_assert_cmpmem (columns, n * sizeof *columns, dependent, sizeof dependent[0]);
      columns = apr_ldlt_get_independent (without[i], &n);
      g_assert_cmpuint (n, ==, 9);
    }
  for (i = 0; i < apr_triangle (n_independent, 0); i++)
    g_assert_cmpint (mpf_cmp (apr_ldlt_get_numbers (ldlts[0])[i], apr_ldlt_get_numbers (ldlts[1])[i]), ==, 0);
  g_assert_cmpint (apr_ldlt_get_inverse_bits (ldlts[0]), ==, apr_ldlt_get_inverse_bits (ldlts[1]));

  for (i = 0; i < 2; i++)
    {
      g_clear_pointer (&ldlts[i], apr_ldlt_free);
      g_clear_pointer (&without[i], apr_ldlt_free);
    }
  apr_integers_free (x, N * N_VALUES);
  apr_integers_free (matrix, apr_triangle (N, 0));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ldlt-precision/large-combinations", test_large_combinations);
  g_test_add_func ("/ldlt-precision/large-first-column", test_large_first_column);
  g_test_add_func ("/ldlt-precision/threads", test_threads);

  return g_test_run ();
}
