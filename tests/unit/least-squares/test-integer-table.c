/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* Whole numbers that share memory, against numbers of GMP that have their own. */

#define N 7

static void
test_numbers (void)
{
  const gsize max_bits[] = { 1, 63, 64, 65, 127, 128, 1000 };
  gsize k;
  gsize i;

  for (k = 0; k < G_N_ELEMENTS (max_bits); k++)
    {
      AprIntegerTable table;
      mpz_t values[N];

      g_assert_true (apr_integer_table_init (&table, N, max_bits[k], &(AprRun){ 0 }));
      for (i = 0; i < N; i++)
        {
          /* Some functions of GMP read the first limb of 0. */
          g_assert_cmpint (mpz_sgn (table.numbers[i]), ==, 0);
          g_assert_cmpuint (*mpz_limbs_read (table.numbers[i]), ==, 0);
        }

      /* The largest numbers of so many bits, and others. */
      for (i = 0; i < N; i++)
        {
          mpz_init (values[i]);
          mpz_setbit (values[i], max_bits[k]);
          mpz_sub_ui (values[i], values[i], 1);
          if (i >= N - 2)
            mpz_tdiv_q_2exp (values[i], values[i], i == N - 1 ? max_bits[k] : max_bits[k] / 2);
          if (i % 2 == 1)
            mpz_neg (values[i], values[i]);
          apr_integer_table_set (&table, i, values[i]);
        }
      for (i = 0; i < N; i++)
        {
          g_assert_cmpint (mpz_cmp (table.numbers[i], values[i]), ==, 0);
          apr_integer_table_set (&table, i, values[N - 1 - i]);
        }
      for (i = 0; i < N; i++)
        g_assert_cmpint (mpz_cmp (table.numbers[i], values[N - 1 - i]), ==, 0);
      for (i = 0; i < N; i++)
        mpz_clear (values[i]);
      apr_pages_free (table.numbers);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/integer-table/numbers", test_numbers);

  return g_test_run ();
}
