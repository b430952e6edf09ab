/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include "aprender/least-squares/apr-dual-private.h"

/* Which features of few samples are constant, by the rule, against rational numbers. */

#define N_FEATURES 40
#define MAX_SAMPLES 12
#define MANY_SAMPLES 1000

/* The sum of squares about the mean, as a part of the sum of squares. */
static void
find_part (const double *x, const double *weights, gsize n, mpq_t part)
{
  mpq_t total;
  mpq_t sum;
  mpq_t squares;
  mpq_t value;
  mpq_t weight;
  gsize i;

  mpq_inits (total, sum, squares, value, weight, NULL);
  for (i = 0; i < n; i++)
    {
      mpq_set_d (weight, weights != NULL ? weights[i] : 1);
      mpq_add (total, total, weight);
      mpq_set_d (value, x[i * N_FEATURES]);
      mpq_mul (weight, weight, value);
      mpq_add (sum, sum, weight);
      mpq_mul (weight, weight, value);
      mpq_add (squares, squares, weight);
    }
  mpq_mul (sum, sum, sum);
  mpq_div (sum, sum, total);
  mpq_sub (part, squares, sum);
  if (mpq_sgn (part) != 0)
    mpq_div (part, part, squares);
  mpq_clears (total, sum, squares, value, weight, NULL);
}

/* Whether that is 0, or less than @tolerance. */
static gboolean
is_constant (const double *x, const double *weights, gsize n, double tolerance)
{
  mpq_t part;
  mpq_t limit;
  gboolean constant;

  mpq_inits (part, limit, NULL);
  find_part (x, weights, n, part);
  mpq_set_d (limit, tolerance);
  constant = mpq_sgn (part) == 0 || mpq_cmp (part, limit) < 0;
  mpq_clears (part, limit, NULL);

  return constant;
}

static void
find_constants (
  const double *x, const double *weights, gsize n, gboolean centred, double tolerance, gboolean *constant)
{
  const double zeros[MANY_SAMPLES] = { 0 };
  const AprRun run = { .n_threads = 1 };
  g_autoptr (AprTensor) matrix = matrix_new (n, N_FEATURES, x);
  g_autoptr (AprTensor) y = vector_new (n, zeros);
  g_autoptr (AprTensor) w = weights != NULL ? vector_new (n, weights) : NULL;
  g_autoptr (AprSampleRows) rows = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_sample_rows_new (matrix, y, w, 1, &rows, &error));
  g_assert_true (apr_dual_find_constants (rows, centred, tolerance, &run, constant, &error));
  g_assert_no_error (error);
}

/* Values that differ by about as much as the rule allows. */
static void
draw_feature (GRand *rand, double *x, gsize n, double tolerance)
{
  double mean = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -40, 40));
  double size = fabs (mean) * sqrt (tolerance) * g_rand_double_range (rand, 0.5, 3);
  gboolean two_values = g_rand_boolean (rand);
  gsize i;

  for (i = 0; i < n; i++)
    x[i * N_FEATURES] =
      mean + size * (two_values ? g_rand_int_range (rand, -1, 2) : g_rand_double_range (rand, -1, 1));
}

static void
test_edge (void)
{
  const double factors[] = { 0, 4 * 0x1p-53, 8 * 0x1p-53, 0x1p-46, 16 * 0x1p-24, 0x1p-18, 0x1p-8, 0.8, 1, 4 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (130);
  gsize n_constant = 0;
  gsize n_features = 0;
  int round;

  for (round = 0; round < 160; round++)
    {
      double factor = factors[(gsize) round % G_N_ELEMENTS (factors)];
      double tolerance = factor * factor;
      gsize n = (gsize) g_rand_int_range (rand, 1, MAX_SAMPLES + 1);
      g_autofree double *x = g_new (double, n *N_FEATURES);
      g_autofree double *weights = round % 3 == 0 ? g_new (double, n) : NULL;
      gboolean constant[N_FEATURES];
      gsize i;

      for (i = 0; i < N_FEATURES; i++)
        draw_feature (rand, x + i, n, tolerance);
      for (i = 0; i < n && weights != NULL; i++)
        weights[i] = ldexp (g_rand_double_range (rand, 0.5, 1), g_rand_int_range (rand, -20, 3));
      find_constants (x, weights, n, TRUE, tolerance, constant);
      for (i = 0; i < N_FEATURES; i++)
        {
          g_assert_true (constant[i] == is_constant (x + i, weights, n, tolerance));
          n_constant += constant[i] ? 1 : 0;
          n_features++;
        }
    }
  g_test_message ("%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " are constant", n_constant, n_features);
  g_assert_cmpuint (n_constant, >, n_features / 5);
  g_assert_cmpuint (n_constant, <, n_features * 4 / 5);
}

/* Many samples, whose sums have larger rounding errors, and a tolerance that is next to a feature's own part. */
static void
test_many_samples (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (131);
  g_autofree double *x = g_new (double, MANY_SAMPLES *N_FEATURES);
  gsize i;
  gsize k;

  for (k = 0; k < MANY_SAMPLES * N_FEATURES; k++)
    x[k] = g_rand_double_range (rand, -0.5, 1);
  for (i = 0; i < N_FEATURES; i += 4)
    {
      gboolean constant[N_FEATURES];
      double tolerance;
      mpq_t part;

      mpq_init (part);
      find_part (x + i, NULL, MANY_SAMPLES, part);
      tolerance = mpq_get_d (part);
      mpq_clear (part);
      g_assert_cmpfloat (tolerance, >, 0.5);
      /* It was cut off. */
      find_constants (x, NULL, MANY_SAMPLES, TRUE, tolerance, constant);
      g_assert_false (constant[i]);
      find_constants (x, NULL, MANY_SAMPLES, TRUE, nextafter (tolerance, 1), constant);
      g_assert_true (constant[i]);
    }
}

static void
test_ties (void)
{
  const double weights[] = { 3, 3 };
  double x[2 * N_FEATURES];
  gboolean constant[N_FEATURES];
  gsize i;
  gsize j;

  g_test_summary ("Of 0 and another value, half the squares are about the mean: exactly, or but for 2^-52.");

  for (i = 0; i < N_FEATURES; i++)
    {
      x[i] = ldexp (1 - (double) (i % 3), -52);
      x[N_FEATURES + i] = i % 2 == 0 ? 1 : 1.5;
    }
  for (j = 0; j < 2; j++)
    {
      find_constants (x, j == 0 ? NULL : weights, 2, TRUE, 0.5, constant);
      for (i = 0; i < N_FEATURES; i++)
        {
          g_assert_true (constant[i] == (i % 3 == 0));
          g_assert_true (constant[i] == is_constant (x + i, NULL, 2, 0.5));
        }
      for (i = 0; i < 2 * N_FEATURES; i++)
        x[i] = -x[i];
    }
}

static void
test_without_intercept (void)
{
  double x[2 * N_FEATURES];
  gboolean constant[N_FEATURES];
  gsize i;

  g_test_summary ("Without an intercept, only a feature that is 0 everywhere takes no part.");

  for (i = 0; i < N_FEATURES; i++)
    {
      x[i] = i % 4 == 1 ? 0 : 3;
      x[N_FEATURES + i] = i % 4 == 1 || i % 4 == 2 ? 0 : 3;
    }
  find_constants (x, NULL, 2, FALSE, 0x1p-60, constant);
  for (i = 0; i < N_FEATURES; i++)
    g_assert_true (constant[i] == (i % 4 == 1));
  find_constants (x, NULL, 2, FALSE, 0, constant);
  for (i = 0; i < N_FEATURES; i++)
    g_assert_true (constant[i] == (i % 4 == 1));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dual-rank/edge", test_edge);
  g_test_add_func ("/dual-rank/many-samples", test_many_samples);
  g_test_add_func ("/dual-rank/ties", test_ties);
  g_test_add_func ("/dual-rank/without-intercept", test_without_intercept);

  return g_test_run ();
}
