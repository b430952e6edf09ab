/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Few features, as thousands of small fits have them, beside eliminations in rational numbers. */

#define MAX_FEATURES 12
#define MAX_TARGETS 3

/* Returns whether all coefficients and intercepts are proven. */
static gboolean
solve_sums (AprExactSums *sums, gboolean fit_intercept, AprDType dtype, AprLeastSquares *answer)
{
  const AprLeastSquaresOptions options = { .fit_intercept = fit_intercept,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = dtype };

  return apr_least_squares_solve (answer, sums, &options, &(AprRun){ .n_threads = 1 }, NULL) &&
         answer->correctly_rounded;
}

static void
get_entry (const AprExactSums *sums, gsize row, gsize column, mpq_t value)
{
  mpz_t whole;

  mpz_init (whole);
  apr_exact_sums_get_entry (sums, row, column, whole);
  mpq_set_z (value, whole);
  mpz_clear (whole);
}

/* Solves for the features @first to @p, of which 0 is the intercept's column of ones. */
static void
compare_target (
  const AprExactSums *sums, gsize target, gsize first, AprDType dtype, const AprLeastSquares *answer)
{
  gsize p = apr_exact_sums_get_n_features (sums);
  gsize n = p + 1 - first;
  mpq_t matrix[(MAX_FEATURES + 1) * (MAX_FEATURES + 2)];
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_init (matrix[i * (n + 1) + j]);
        get_entry (sums, first + i, j < n ? first + j : 1 + p + target, matrix[i * (n + 1) + j]);
      }
  g_assert_true (eliminate (matrix, n));
  for (i = 0; i < n; i++)
    {
      mpq_div (matrix[i * (n + 1) + n], matrix[i * (n + 1) + n], matrix[i * (n + 1) + i]);
      assert_nearest (first + i == 0 ? answer->intercepts[target]
                                     : answer->coefficients[target * p + first + i - 1],
                      matrix[i * (n + 1) + n], dtype);
    }
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (matrix[i]);
}

/* Whether no feature depends on others, and all is proven; then it must be right. */
static gboolean
compare (AprExactSums *sums, gboolean fit_intercept, AprDType dtype)
{
  g_auto (AprLeastSquares) answer = { NULL };
  gsize target;

  if (!solve_sums (sums, fit_intercept, dtype, &answer) || answer.rank < apr_exact_sums_get_n_features (sums))
    return FALSE;

  for (target = 0; target < apr_exact_sums_get_n_targets (sums); target++)
    compare_target (sums, target, fit_intercept ? 0 : 1, dtype, &answer);
  return TRUE;
}

static AprExactSums *
sum_targets (const double *x, const double *y, gsize n, gsize p, gsize n_targets)
{
  g_autoptr (AprTensor) features = matrix_new (n, p, x);
  g_autoptr (AprTensor) targets = matrix_new (n, n_targets, y);
  g_autoptr (GError) error = NULL;
  AprExactSums *sums = apr_exact_sums_new (p, n_targets, &error);

  g_assert_no_error (error);
  g_assert_true (apr_exact_sums_update (sums, features, targets, NULL, APR_PRECISION_EXACT,
                                        &(AprRun){ .n_threads = 1 }, &error));
  g_assert_no_error (error);
  return sums;
}

static void
test_any (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (40);
  guint n_solved = 0;
  int round;

  g_test_summary (
    "Data of every kind, with weights, constants, sums of others: where it answers, it is right.");

  for (round = 0; round < 1000; round++)
    {
      gsize p = (gsize) g_rand_int_range (rand, 1, 9);
      g_auto (Data) data = { 0 };
      g_autoptr (AprExactSums) sums = NULL;

      data_init_random (&data, rand, (gsize) g_rand_int_range (rand, 1, 30), p);
      sums = sum (&data);
      n_solved += compare (sums, g_rand_boolean (rand),
                           g_rand_int_range (rand, 0, 3) == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64);
    }

  /* About half are of full rank. */
  g_assert_cmpuint (n_solved, >, 300);
}

static void
test_ordinary (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (41);
  int round;

  g_test_summary (
    "Features of many digits and of every scale, far from depending on each other, are proven.");

  for (round = 0; round < 96; round++)
    {
      gsize p = 1 + (gsize) round % MAX_FEATURES;
      gsize n = 3 * p + 10;
      gsize n_targets = (gsize) g_rand_int_range (rand, 1, MAX_TARGETS + 1);
      double shift = round % 3 == 0 ? 0 : g_rand_double_range (rand, -5, 5);
      gboolean single = round % 4 == 0;
      g_autofree double *x = g_new (double, n *p);
      g_autofree double *y = g_new0 (double, n *n_targets);
      g_autoptr (AprExactSums) sums = NULL;
      gsize i;
      gsize j;

      for (i = 0; i < n * p; i++)
        {
          x[i] = (normal (rand) + shift) * ldexp (1, (int) (i % p % 7) * 4 - 12);
          x[i] = single ? (double) (float) x[i] : x[i];
        }
      for (i = 0; i < n * n_targets; i++)
        {
          y[i] = normal (rand);
          for (j = 0; j < p; j++)
            y[i] += (double) (j + 1) * x[i / n_targets * p + j];
        }
      sums = sum_targets (x, y, n, p, n_targets);
      g_assert_true (compare (sums, g_rand_boolean (rand), round % 5 == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64));
    }
}

static void
test_far (void)
{
  const int exponents[] = { -520, -300, -150, -60, 60, 150, 300, 500 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (42);
  guint n_solved = 0;
  int round;

  g_test_summary ("Coefficients at the ends of what a dtype holds, and sums of many words.");

  for (round = 0; round < 400; round++)
    {
      int x_exponent = exponents[g_rand_int_range (rand, 0, G_N_ELEMENTS (exponents))];
      int y_exponent = exponents[g_rand_int_range (rand, 0, G_N_ELEMENTS (exponents))];
      double x[20];
      double y[10];
      g_autoptr (AprExactSums) sums = NULL;
      gsize i;

      if (round % 2 == 0)
        {
          /* Between the greatest and the least of a float, and of what it has as subnormals. */
          x_exponent = g_rand_int_range (rand, -4, 5);
          y_exponent =
            g_rand_boolean (rand) ? g_rand_int_range (rand, -156, -120) : g_rand_int_range (rand, 118, 132);
        }
      for (i = 0; i < 20; i++)
        x[i] = ldexp ((double) (float) normal (rand), x_exponent);
      for (i = 0; i < 10; i++)
        y[i] = ldexp ((double) (float) (3 * x[2 * i] / x[0] + normal (rand)), y_exponent);
      sums = sum_targets (x, y, 10, 2, 1);
      n_solved += compare (sums, g_rand_boolean (rand), round % 4 < 2 ? APR_DTYPE_F32 : APR_DTYPE_F64);
    }
  g_assert_cmpuint (n_solved, >, 50);
}

static void
test_units (void)
{
  int exponent;

  g_test_summary ("A product that is -1 in the unit of the words, which one of these is.");

  for (exponent = 0; exponent < 32; exponent++)
    {
      double unit = ldexp (1, exponent);
      const double x[] = { unit, 0, unit, unit, 0, 2 * unit };
      const double y[] = { -unit, 0, 2 * unit };
      g_autoptr (AprExactSums) sums = sum_targets (x, y, 3, 2, 1);
      g_auto (AprLeastSquares) answer = { NULL };

      g_assert_true (solve_sums (sums, FALSE, APR_DTYPE_F64, &answer));
      assert_same_double (answer.coefficients[0], -1);
      assert_same_double (answer.coefficients[1], 1);
    }
}

static void
test_near_ties (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (43);
  double x[9];
  int round;
  int i;

  g_test_summary ("Answers beside the middle of two numbers: t + delta / 9, with a t that is odd.");

  for (i = 0; i < 9; i++)
    x[i] = 1;
  for (round = 0; round < 600; round++)
    {
      /* Valgrind rounds an integer to a float by way of a double, and so twice. */
      AprDType dtype = round % 3 == 0 && !runs_in_valgrind () ? APR_DTYPE_F32 : APR_DTYPE_F64;
      double base = dtype == APR_DTYPE_F32 ? 0x1p24 : 0x1p53;
      int odd = 2 * g_rand_int_range (rand, 0, 1000) + 1;
      int sign = g_rand_boolean (rand) ? 1 : -1;
      double delta = sign * ldexp (1, -(round / 2));
      /* The sum is 9 t + delta. */
      const double y[] = { base, base, base, base, base, 2 * base, 2 * base, 9.0 * odd, delta };
      g_autoptr (AprExactSums) sums = sum_targets (x, y, 9, 1, 1);
      g_auto (AprLeastSquares) answer = { NULL };

      g_assert_true (solve_sums (sums, FALSE, dtype, &answer));
      assert_same_double (answer.coefficients[0], base + (double) (odd + sign));
    }
}

static void
test_near_ties_of_two (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);
  int round;
  int i;

  g_test_summary (
    "The same where the features are nearly alike, so that a small residual leaves a larger error.");

  for (round = 0; round < 300; round++)
    {
      const double base = 0x1p53;
      int odd = 2 * g_rand_int_range (rand, 0, 1000) + 1;
      int sign = g_rand_boolean (rand) ? 1 : -1;
      double delta = sign * ldexp (1, -(round / 2));
      double x[36];
      double y[18] = { 0 };
      g_autoptr (AprExactSums) sums = NULL;
      g_auto (AprLeastSquares) answer = { NULL };

      /* Two samples, nine times each, with the coefficients base and t + delta / 9. */
      for (i = 0; i < 18; i++)
        if (i % 9 == 0)
          {
            x[2 * i] = 1 + g_rand_int_range (rand, 0, 1000) * 0x1p-20;
            x[2 * i + 1] = 1 + g_rand_int_range (rand, 0, 1000) * 0x1p-20;
            y[i] = 9 * base * x[2 * i];
            y[i + 1] = 9 * base * x[2 * i + 1];
            y[i + 2] = 9.0 * odd * x[2 * i + 1];
            y[i + 3] = delta * x[2 * i + 1];
          }
        else
          {
            x[2 * i] = x[2 * i - 2];
            x[2 * i + 1] = x[2 * i - 1];
          }
      sums = sum_targets (x, y, 18, 2, 1);
      g_assert_true (solve_sums (sums, FALSE, APR_DTYPE_F64, &answer));
      assert_same_double (answer.coefficients[0], base);
      assert_same_double (answer.coefficients[1], base + (double) (odd + sign));
    }
}

static void
test_small_whole_numbers (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);
  guint n_solved = 0;
  int round;

  g_test_summary ("Products of -1, 0 and 1 in units of the words, so that -1 is nothing but sign.");
  for (round = 0; round < 300; round++)
    {
      gsize p = (gsize) g_rand_int_range (rand, 1, 5);
      double x[10 * 4];
      double y[10];
      g_autoptr (AprExactSums) summed = NULL;
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (p, 1, NULL);
      g_autofree guint32 *words = NULL;
      gsize n_words;
      gint first_word;
      gsize i;

      for (i = 0; i < 10 * p; i++)
        x[i] = (double) g_rand_int_range (rand, -1, 2);
      for (i = 0; i < 10; i++)
        y[i] = (double) g_rand_int_range (rand, -1, 2);
      summed = sum_targets (x, y, 10, p, 1);
      words = apr_exact_sums_to_words (summed, &n_words, &first_word, NULL, NULL);
      g_assert_cmpint (first_word, ==, 0);
      g_assert_true (apr_exact_sums_set_words (sums, words, n_words, first_word, NULL, NULL));
      n_solved += compare (sums, g_rand_boolean (rand), APR_DTYPE_F64);
    }
  g_assert_cmpuint (n_solved, >, 100);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/small-systems/any", test_any);
  g_test_add_func ("/small-systems/ordinary", test_ordinary);
  g_test_add_func ("/small-systems/far", test_far);
  g_test_add_func ("/small-systems/units", test_units);
  g_test_add_func ("/small-systems/near-ties", test_near_ties);
  g_test_add_func ("/small-systems/near-ties/of-two", test_near_ties_of_two);
  g_test_add_func ("/small-systems/small-whole-numbers", test_small_whole_numbers);

  return g_test_run ();
}
