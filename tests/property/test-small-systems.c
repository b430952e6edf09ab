/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include "aprender/least-squares/apr-normal-equations-private.h"
#include "aprender/least-squares/apr-small-system-private.h"

/* The short way for few features, beside the way for any number of them, which shares no arithmetic with it. The
 * other tests of least squares compare with exact answers, whichever way is taken. */

#define MAX_FEATURES 32
#define MAX_TARGETS 3

typedef struct
{
  double coefficients[MAX_TARGETS * (MAX_FEATURES + 1)];
  double intercepts[MAX_TARGETS];
} Answer;

static double
negligible_for (gsize p)
{
  return 16 * (double) (p * p) * 0x1p-106;
}

static gboolean
solve_shortly (AprExactSums *sums, gboolean fit_intercept, AprDType dtype, Answer *answer)
{
  const AprLeastSquaresOptions options = { .fit_intercept = fit_intercept,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = dtype };

  *answer = (Answer){ { 0 } };
  return apr_small_system_solve (sums, &options, negligible_for (apr_exact_sums_get_n_features (sums)),
                                 answer->coefficients, answer->intercepts);
}

/* Asserts that nothing depends on anything, and that all is certain. */
static void
solve_generally (AprExactSums *sums, gboolean fit_intercept, AprDType dtype, Answer *answer)
{
  gsize p = apr_exact_sums_get_n_features (sums);
  const AprRun run = { .n_threads = 1 };
  g_autoptr (AprProducts) products = apr_products_new (sums, fit_intercept, 0, &run);
  gboolean none[MAX_FEATURES] = { FALSE };
  g_autoptr (AprNormalEquations) equations =
    apr_normal_equations_new (products, none, negligible_for (p), &run);
  gsize i;

  g_assert_cmpuint (equations->n_independent, ==, p);
  for (i = 0; i < p; i++)
    g_assert_false (apr_products_is_constant (products, i, negligible_for (p)));
  *answer = (Answer){ { 0 } };
  for (i = 0; i < products->n_targets; i++)
    g_assert_true (
      apr_normal_equations_solve (equations, i, dtype, answer->coefficients + i * p, &answer->intercepts[i]));
}

static void
assert_same_answers (const Answer *answer, const Answer *expected, gsize p, gsize n_targets)
{
  gsize i;

  for (i = 0; i < n_targets * p; i++)
    assert_same_double (answer->coefficients[i] + 0.0, expected->coefficients[i] + 0.0);
  for (i = 0; i < n_targets; i++)
    assert_same_double (answer->intercepts[i] + 0.0, expected->intercepts[i] + 0.0);
}

/* Whether the short way is one for these sums; then the general one must come to the same. */
static gboolean
compare (AprExactSums *sums, gboolean fit_intercept, AprDType dtype)
{
  Answer answer;
  Answer expected;

  if (!solve_shortly (sums, fit_intercept, dtype, &answer))
    return FALSE;

  solve_generally (sums, fit_intercept, dtype, &expected);
  assert_same_answers (&answer, &expected, apr_exact_sums_get_n_features (sums),
                       apr_exact_sums_get_n_targets (sums));
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
  g_assert_true (apr_exact_sums_update (sums, features, targets, NULL, APR_PRECISION_EXACT, 1, NULL, &error));
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
    "Features of many digits and of every scale, far from depending on each other, are its own.");

  for (round = 0; round < 200; round++)
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
      Answer answer;

      g_assert_true (solve_shortly (sums, FALSE, APR_DTYPE_F64, &answer));
      assert_same_double (answer.coefficients[0], -1);
      assert_same_double (answer.coefficients[1], 1);
    }
}

static void
test_near_ties (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (43);
  double x[9];
  guint n_solved = 0;
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
      Answer answer;

      if (!solve_shortly (sums, FALSE, dtype, &answer))
        continue;
      assert_same_double (answer.coefficients[0], base + (double) (odd + sign));
      n_solved++;
    }

  /* Where delta is not too small. */
  g_assert_cmpuint (n_solved, >, 80);
  g_assert_cmpuint (n_solved, <, 400);
}

static void
test_near_ties_of_two (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);
  guint n_solved = 0;
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
      Answer answer;

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
      if (!solve_shortly (sums, FALSE, APR_DTYPE_F64, &answer))
        continue;
      assert_same_double (answer.coefficients[0], base);
      assert_same_double (answer.coefficients[1], base + (double) (odd + sign));
      n_solved++;
    }
  g_assert_cmpuint (n_solved, >, 30);
  g_assert_cmpuint (n_solved, <, 250);
}

static void
test_not_its_own (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (44);
  g_autofree double *x = g_new (double, 200 * (MAX_FEATURES + 1));
  double y[200];
  Answer answer;
  gsize i;
  int kind;

  for (i = 0; i < 200; i++)
    y[i] = normal (rand);

  for (kind = 0; kind < 4; kind++)
    {
      gsize p = kind == 0 ? MAX_FEATURES + 1 : 3;
      g_autoptr (AprExactSums) sums = NULL;

      for (i = 0; i < 200 * p; i++)
        x[i] = normal (rand);
      for (i = 0; i < 200 && kind > 0; i++)
        x[3 * i + 2] = kind == 1 ? 2.5 : kind == 2 ? x[3 * i] + 1 : x[3 * i] + x[3 * i + 1] * 0x1p-52;
      sums = sum_targets (x, y, 200, p, 1);
      g_assert_false (solve_shortly (sums, TRUE, APR_DTYPE_F64, &answer));
    }
}

static void
test_negligible (void)
{
  const AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (46);
  g_autoptr (AprExactSums) sums = NULL;
  double x[200];
  double y[100];
  Answer answer;
  gsize i;

  g_test_summary ("A part of 2^-22 of a feature is left: whether that counts is for the caller to say.");

  for (i = 0; i < 100; i++)
    {
      x[2 * i] = normal (rand);
      x[2 * i + 1] = x[2 * i] + 0x1p-11 * normal (rand);
      y[i] = normal (rand);
    }
  sums = sum_targets (x, y, 100, 2, 1);
  g_assert_false (apr_small_system_solve (sums, &options, 0x1p-20, answer.coefficients, answer.intercepts));
  g_assert_true (apr_small_system_solve (sums, &options, 0x1p-30, answer.coefficients, answer.intercepts));
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
      words = apr_exact_sums_to_words (summed, &n_words, &first_word);
      g_assert_cmpint (first_word, ==, 0);
      g_assert_true (apr_exact_sums_set_words (sums, words, n_words, first_word, NULL));
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
  g_test_add_func ("/small-systems/not-its-own", test_not_its_own);
  g_test_add_func ("/small-systems/negligible", test_negligible);

  return g_test_run ();
}
