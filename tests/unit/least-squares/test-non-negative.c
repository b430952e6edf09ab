/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Coefficients that must not be negative, against a search through all sets of features in rational arithmetic. */

#define MAX_FEATURES 6
#define MAX_ROWS 9

typedef struct
{
  gsize n_rows;
  gsize n_features;
  int x[MAX_ROWS][MAX_FEATURES];
  int y[MAX_ROWS];
} Problem;

static void
multiply_columns (const Problem *problem, gsize i, gsize j, mpq_t value)
{
  long sum = 0;
  gsize row;

  for (row = 0; row < problem->n_rows; row++)
    sum += (long) problem->x[row][i] * (j < problem->n_features ? problem->x[row][j] : problem->y[row]);
  mpq_set_si (value, sum, 1);
}

/* Solves for the features in @mask alone, and returns whether that is the answer: no coefficient below 0, and no
 * gradient of another feature above 0. Singular sets are not. */
static gboolean
try_features (const Problem *problem, guint mask, mpq_t *coefficients)
{
  gsize n = 0;
  gsize features[MAX_FEATURES];
  mpq_t matrix[MAX_FEATURES * (MAX_FEATURES + 1)];
  gboolean right;
  mpq_t gradient;
  mpq_t term;
  gsize i;
  gsize j;

  mpq_inits (gradient, term, NULL);
  for (i = 0; i < problem->n_features; i++)
    {
      mpq_set_ui (coefficients[i], 0, 1);
      if ((mask >> i & 1) != 0)
        features[n++] = i;
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_init (matrix[i * (n + 1) + j]);
        multiply_columns (problem, features[i], j < n ? features[j] : problem->n_features,
                          matrix[i * (n + 1) + j]);
      }
  right = eliminate (matrix, n);
  for (i = 0; i < n && right; i++)
    {
      mpq_div (coefficients[features[i]], matrix[i * (n + 1) + n], matrix[i * (n + 1) + i]);
      right = mpq_sgn (coefficients[features[i]]) >= 0;
    }
  for (i = 0; i < problem->n_features && right; i++)
    {
      multiply_columns (problem, i, problem->n_features, gradient);
      for (j = 0; j < problem->n_features; j++)
        {
          multiply_columns (problem, i, j, term);
          mpq_mul (term, term, coefficients[j]);
          mpq_sub (gradient, gradient, term);
        }
      right = mpq_sgn (gradient) <= 0;
    }
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (matrix[i]);
  mpq_clears (gradient, term, NULL);

  return right;
}

/* Returns whether the answer was proven. */
static gboolean
check (const Problem *problem)
{
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  gsize p = problem->n_features;
  mpq_t coefficients[MAX_FEATURES];
  guint mask = 0;
  gsize i;
  gsize j;

  data_init (&data, problem->n_rows, p, FALSE);
  for (i = 0; i < problem->n_rows; i++)
    {
      for (j = 0; j < p; j++)
        data.x[i * p + j] = problem->x[i][j];
      data.y[i] = problem->y[i];
    }
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });

  for (i = 0; i < p; i++)
    mpq_init (coefficients[i]);
  while (!try_features (problem, mask, coefficients))
    g_assert_cmpuint (++mask, <, 1u << p);
  for (i = 0; i < p && answer.correctly_rounded; i++)
    assert_nearest (answer.coefficients[i], coefficients[i], APR_DTYPE_F64);
  for (i = 0; i < p; i++)
    {
      g_assert_false (signbit (answer.coefficients[i]));
      mpq_clear (coefficients[i]);
    }

  return answer.correctly_rounded;
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (130);
  guint n_proven = 0;
  int round;

  g_test_summary ("Features that point in nearly opposite directions, so that many sets have to be tried.");

  for (round = 0; round < 400; round++)
    {
      Problem problem = { .n_features = (gsize) g_rand_int_range (rand, 1, MAX_FEATURES + 1) };
      int common = round % 4 == 0 ? 0 : g_rand_int_range (rand, 1, 40);
      /* In units far from those of the others. */
      gsize far = round % 3 == 0 ? (gsize) round % problem.n_features : MAX_FEATURES;
      gsize i;
      gsize j;

      problem.n_rows = problem.n_features + (gsize) g_rand_int_range (rand, 0, 4);
      for (i = 0; i < problem.n_rows; i++)
        {
          for (j = 0; j < problem.n_features; j++)
            problem.x[i][j] =
              (g_rand_int_range (rand, -9, 10) + (j % 2 == 0 ? common : -common) * (int) (i % 3)) *
              (j == far ? 1 << 20 : 1);
          problem.y[i] = g_rand_int_range (rand, -9, 10);
        }
      n_proven += check (&problem);
    }
  g_assert_cmpuint (n_proven, >, 350);
}

/* Without a coefficient the gradients are known exactly, and may be as small as the unit of the products. */
static void
test_least_gradient (void)
{
  double x[] = { 1 };
  double y[] = { -1 };
  Data data = { 1, 1, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });
  assert_same_double (answer.coefficients[0], 0);
  g_assert_true (answer.correctly_rounded);
}

/* The first feature is a constant by the rule, and has no coefficient, though it rises with the target. */
static void
test_constant (void)
{
  double x[] = { 1, 0, 1 + 0x1p-52, 1, 1, 2, 1 + 0x1p-52, 3 };
  double y[] = { 3, 4, 1, 2 };
  Data data = { 4, 2, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .positive = TRUE });
  g_assert_cmpuint (answer.rank, ==, 1);
  assert_same_double (answer.coefficients[0], 0);
  assert_same_double (answer.coefficients[1], 0);
  assert_same_double (answer.intercepts[0], 2.5);
  g_assert_true (answer.correctly_rounded);
}

/* A feature that depends on another one leaves the search. Its gradient is 0, so that it would do as well, and the
 * coefficients are not the only ones. */
static void
test_dependent (void)
{
  double x[] = { 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1 };
  double y[] = { 3, 2, -1 };
  const Data data = { 3, 4, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });
  assert_same_double (answer.coefficients[0], 3);
  assert_same_double (answer.coefficients[1], 2);
  assert_same_double (answer.coefficients[2], 0);
  assert_same_double (answer.coefficients[3], 0);
  g_assert_false (answer.correctly_rounded);
}

#define MAX_REPORTS 15000

typedef struct
{
  guint n;
  GCancellable *cancellable; /* (unowned) */
} Reports;

static void
count (double fraction, gpointer user_data)
{
  Reports *reports = user_data;

  if (++reports->n > MAX_REPORTS)
    g_cancellable_cancel (reports->cancellable);
}

/* Of entries of very different scale, exchanging features with a wrong sign does not end. Adding the feature that
 * reduces the sum of squares most takes 3,200 reports of progress, and adding the first that does above 20,000. */
static void
test_scales (void)
{
  const AprLeastSquaresOptions options = {
    .alpha = 0.5, .positive = TRUE, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { 0 };
  g_autoptr (AprExactSums) sums = NULL;
  g_autoptr (GError) error = NULL;
  Reports reports = { 0, cancellable };
  const AprRun run = { .cancellable = cancellable, .progress = count, .progress_data = &reports };
  gsize i;

  data_init (&data, 10, 30, FALSE);
  for (i = 0; i < 10 * 30; i++)
    {
      data.x[i] = g_rand_double_range (rand, -1, 1);
      data.x[i] = ldexp (data.x[i], g_rand_int_range (rand, -900, 900));
    }
  for (i = 0; i < 10; i++)
    data.y[i] = g_rand_double_range (rand, -1, 1);
  sums = sum (&data);
  g_assert_true (apr_least_squares_solve (&answer, sums, &options, &run, &error));
  g_assert_no_error (error);
  g_assert_true (answer.correctly_rounded);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/non-negative/random", test_random);
  g_test_add_func ("/non-negative/least-gradient", test_least_gradient);
  g_test_add_func ("/non-negative/constant", test_constant);
  g_test_add_func ("/non-negative/dependent", test_dependent);
  g_test_add_func ("/non-negative/scales", test_scales);

  return g_test_run ();
}
