/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/exact-sums/apr-row-products-private.h"

/* Sums of products of samples, against rational arithmetic. */

#define N_FEATURES 3
#define MAX_SAMPLES 20

/* A double of any bits, or a short one, or 0, whose exponent is up to some @reach from 0. */
static double
draw (GRand *rand, gint reach)
{
  double value = g_rand_double_range (rand, -1, 1);

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      value = 0;
      break;
    case 1:
      value = g_rand_boolean (rand) ? -1 : 1;
      break;
    case 2:
      value = g_rand_int_range (rand, -1000, 1000);
      break;
    default:
      break;
    }

  value = ldexp (value, g_rand_int_range (rand, -reach, reach + 1));

  return CLAMP (value, -G_MAXDOUBLE, G_MAXDOUBLE);
}

static double
get_value (const double *x, const double *y, gsize sample, gsize column)
{
  return column == 0 ? 1 : column > N_FEATURES ? y[sample] : x[sample * N_FEATURES + column - 1];
}

static void
check_entry (const AprRowProducts *products,
             const double *x,
             const double *y,
             const double *weights,
             gsize n,
             gsize row,
             gsize column)
{
  gint exponent = apr_row_products_get_exponent (products);
  mpq_t expected;
  mpq_t term;
  mpq_t factor;
  mpz_t value;
  gsize i;

  mpq_inits (expected, term, factor, NULL);
  mpz_init_set_si (value, -7);
  for (i = 0; i < n; i++)
    {
      mpq_set_d (term, get_value (x, y, i, row));
      mpq_set_d (factor, get_value (x, y, i, column));
      mpq_mul (term, term, factor);
      mpq_set_d (factor, weights != NULL ? weights[i] : 1);
      mpq_mul (term, term, factor);
      mpq_add (expected, expected, term);
    }
  if (exponent < 0)
    mpq_mul_2exp (expected, expected, (mp_bitcnt_t) -exponent);
  else
    mpq_div_2exp (expected, expected, (mp_bitcnt_t) exponent);
  apr_row_products_get_entry (products, row, column, value);
  g_assert_cmpint (mpz_cmp_ui (mpq_denref (expected), 1), ==, 0);
  g_assert_cmpint (mpz_cmp (mpq_numref (expected), value), ==, 0);
  mpq_clears (expected, term, factor, NULL);
  mpz_clear (value);
}

static void
test_entries (void)
{
  const gint reaches[] = { 0, 5, 60, 300, 1000, 1023 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (15);
  const int n_rounds = runs_slowly () ? 60 : 600;
  int round;

  g_test_summary ("Each entry is the sum of all products, whatever their exponents are.");

  for (round = 0; round < n_rounds; round++)
    {
      gint reach = reaches[(gsize) round % G_N_ELEMENTS (reaches)];
      gboolean weighted = round % 4 == 1;
      gboolean floats = round % 5 == 2 && reach < 100;
      gsize n = (gsize) g_rand_int_range (rand, 1, MAX_SAMPLES + 1);
      double x[MAX_SAMPLES * N_FEATURES];
      double y[MAX_SAMPLES];
      double weights[MAX_SAMPLES];
      double columns[N_FEATURES * MAX_SAMPLES];
      float narrow[N_FEATURES * MAX_SAMPLES];
      AprSampleRows rows = { .n = n, .n_features = N_FEATURES, .n_targets = 1, .y = y };
      AprRowProducts products;
      gsize i;
      gsize j;

      for (i = 0; i < n; i++)
        {
          for (j = 0; j < N_FEATURES; j++)
            {
              double value = draw (rand, reach);

              narrow[j * n + i] = (float) value;
              columns[j * n + i] = x[i * N_FEATURES + j] = floats ? (double) narrow[j * n + i] : value;
            }
          y[i] = draw (rand, reach);
          weights[i] = fabs (draw (rand, reach));
          weights[i] = weights[i] > 0 ? weights[i] : 1;
        }
      if (floats)
        rows.floats = narrow;
      else
        rows.doubles = columns;
      rows.weights = weighted ? weights : NULL;

      apr_row_products_init (&products, &rows);
      for (i = 0; i < N_FEATURES + 2; i++)
        for (j = 0; j <= i; j++)
          check_entry (&products, x, y, rows.weights, n, i, j);
    }
}

/* The largest products, and the smallest, with a sign that changes all limbs. */
static void
test_extremes (void)
{
  double x[] = { G_MAXDOUBLE, 0x1p-1074, -G_MAXDOUBLE, 0, 0, 0x1p-1074 };
  double columns[6];
  double y[] = { G_MAXDOUBLE, -0x1p-1074 };
  double weights[] = { 0x1p-1074, G_MAXDOUBLE };
  AprSampleRows rows = { .n = 2, .n_features = N_FEATURES, .n_targets = 1, .doubles = columns, .y = y };
  gsize i;
  gsize j;
  int weighted;

  for (i = 0; i < 2; i++)
    for (j = 0; j < N_FEATURES; j++)
      columns[j * 2 + i] = x[i * N_FEATURES + j];
  for (weighted = 0; weighted < 2; weighted++)
    {
      AprRowProducts products;

      rows.weights = weighted != 0 ? weights : NULL;
      apr_row_products_init (&products, &rows);
      for (i = 0; i < N_FEATURES + 2; i++)
        for (j = 0; j <= i; j++)
          check_entry (&products, x, y, rows.weights, 2, i, j);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/row-products/entries", test_entries);
  g_test_add_func ("/row-products/extremes", test_extremes);

  return g_test_run ();
}
