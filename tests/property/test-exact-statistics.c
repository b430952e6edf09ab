/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/rational.h"

/* Statistics against the exact ones, by elimination in rational numbers, on random ill-conditioned problems: to the
 * last two places. */

#define N_PROBLEMS 400
#define MAX_TERMS 6
#define TOLERANCE 0x1p-51

/* Gauss-Jordan on [A | I], so that A^-1 stands on the right; false where A is singular. */
static gboolean
invert (mpq_t *matrix, gsize n)
{
  gsize width = 2 * n;
  gboolean regular = TRUE;
  mpq_t factor;
  mpq_t term;
  gsize i;
  gsize j;
  gsize k;

  mpq_inits (factor, term, NULL);
  for (k = 0; k < n && regular; k++)
    {
      regular = mpq_sgn (matrix[k * width + k]) > 0;
      if (!regular)
        break;
      mpq_inv (factor, matrix[k * width + k]);
      for (j = 0; j < width; j++)
        mpq_mul (matrix[k * width + j], matrix[k * width + j], factor);
      for (i = 0; i < n; i++)
        {
          if (i == k)
            continue;
          mpq_set (factor, matrix[i * width + k]);
          for (j = k; j < width; j++)
            {
              mpq_mul (term, factor, matrix[k * width + j]);
              mpq_sub (matrix[i * width + j], matrix[i * width + j], term);
            }
        }
    }
  mpq_clears (factor, term, NULL);

  return regular;
}

static void
assert_close (double actual, double expected, const char *what)
{
  if (actual == expected)
    return;
  if (!(fabs (actual - expected) <= TOLERANCE * fabs (expected)))
    g_error ("%s: %.17g is not %.17g: relative error %.2g", what, actual, expected,
             fabs (actual / expected - 1));
}

static double
draw_feature (GRand *rand, int kind, gsize column, double common)
{
  switch (kind)
    {
    case 0:
      return 1e6 + g_rand_int_range (rand, -5, 6);
    case 1:
      return common + 1e-5 * normal (rand);
    case 2:
      return ldexp (normal (rand), (int) column * 90 - 200);
    case 3:
      return pow (common, (double) column + 1);
    default:
      return g_rand_int_range (rand, -9, 10);
    }
}

/* Whether the problem was one with independent columns. */
static gboolean
run_problem (GRand *rand)
{
  int kind = g_rand_int_range (rand, 0, 5);
  gboolean intercept = g_rand_boolean (rand);
  gboolean weighted = g_rand_boolean (rand);
  gboolean exact = g_rand_int_range (rand, 0, 4) == 0;
  gsize p = (gsize) g_rand_int_range (rand, 1, 5);
  gsize n = p + (gsize) g_rand_int_range (rand, 2, 12);
  gsize m = p + (intercept ? 1 : 0);
  gsize n_used = 0;
  double x_values[MAX_TERMS * 20];
  double y_values[20];
  double w_values[20];
  mpq_t matrix[2 * MAX_TERMS * MAX_TERMS];
  mpq_t right[MAX_TERMS];
  mpq_t solution;
  mpq_t residual;
  mpq_t term;
  mpq_t z;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  g_autoptr (GError) error = NULL;
  gboolean regular;
  gsize row;
  gsize i;
  gsize j;

  for (row = 0; row < n; row++)
    {
      double common = g_rand_double_range (rand, -1, 1);
      double sum = 3;

      for (j = 0; j < p; j++)
        {
          x_values[row * p + j] = draw_feature (rand, kind, j, common);
          sum += (kind == 0 || kind == 4 ? x_values[row * p + j] : 0) * (double) (j + 1);
        }
      y_values[row] = exact && intercept ? sum : normal (rand) * 10;
      w_values[row] = weighted ? (double) g_rand_int_range (rand, 0, 5) / 4 : 1;
      n_used += w_values[row] > 0 ? 1 : 0;
    }
  if (n_used <= m)
    return FALSE;

  mpq_inits (solution, residual, term, z, NULL);
  for (i = 0; i < 2 * m * m; i++)
    mpq_init (matrix[i]);
  for (i = 0; i < m; i++)
    mpq_init (right[i]);

#define Z(column) ((column) == p ? 1.0 : x_values[row * p + (column)])
  for (row = 0; row < n; row++)
    for (i = 0; i < m; i++)
      {
        for (j = 0; j <= m; j++)
          {
            mpq_set_d (term, Z (i));
            mpq_set_d (z, j == m ? y_values[row] : Z (j));
            mpq_mul (term, term, z);
            mpq_set_d (z, w_values[row]);
            mpq_mul (term, term, z);
            if (j == m)
              mpq_add (right[i], right[i], term);
            else
              mpq_add (matrix[i * 2 * m + j], matrix[i * 2 * m + j], term);
          }
      }
  for (i = 0; i < m; i++)
    mpq_set_ui (matrix[i * 2 * m + m + i], 1, 1);
  regular = invert (matrix, m);

  /* y'Wy - c'b. */
  for (row = 0; row < n; row++)
    {
      mpq_set_d (term, y_values[row]);
      mpq_mul (term, term, term);
      mpq_set_d (z, w_values[row]);
      mpq_mul (term, term, z);
      mpq_add (residual, residual, term);
    }
  for (i = 0; i < m && regular; i++)
    for (j = 0; j < m; j++)
      {
        mpq_mul (term, matrix[i * 2 * m + m + j], right[j]);
        mpq_mul (term, term, right[i]);
        mpq_sub (residual, residual, term);
      }

  x = matrix_new (n, p, x_values);
  y = vector_new (n, y_values);
  w = weighted ? vector_new (n, w_values) : NULL;
  apr_linear_regression_set_fit_intercept (model, intercept);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, w, NULL, &error));
  g_assert_no_error (error);
  regular = regular && apr_linear_regression_get_rank (model) == (gssize) p;
  if (regular)
    {
      double df = (double) (n_used - m);

      statistics = apr_linear_regression_get_statistics (model, 0, &error);
      g_assert_no_error (error);
      assert_close (apr_regression_statistics_get_residual_sum_of_squares (statistics), mpq_get_d (residual),
                    "residual sum of squares");
      if (mpq_sgn (residual) == 0)
        assert_same_double (apr_regression_statistics_get_residual_sum_of_squares (statistics), 0);
      for (i = 0; i < m; i++)
        {
          gsize place = i == p ? 0 : i + (intercept ? 1 : 0);

          mpq_mul (term, matrix[i * 2 * m + m + i], residual);
          assert_close (element (apr_regression_statistics_get_standard_errors (statistics), place),
                        sqrt (mpq_get_d (term) / df), "standard error");
          for (j = 0; j < m; j++)
            {
              gsize other = j == p ? 0 : j + (intercept ? 1 : 0);
              double covariance =
                element (apr_regression_statistics_get_covariance (statistics), place * m + other);
              double errors = element (apr_regression_statistics_get_standard_errors (statistics), place) *
                              element (apr_regression_statistics_get_standard_errors (statistics), other);

              mpq_mul (term, matrix[i * 2 * m + m + j], residual);
              g_assert_cmpfloat (fabs (covariance - mpq_get_d (term) / df), <=, TOLERANCE * errors);
            }
        }
    }
#undef Z

  mpq_clears (solution, residual, term, z, NULL);
  for (i = 0; i < 2 * m * m; i++)
    mpq_clear (matrix[i]);
  for (i = 0; i < m; i++)
    mpq_clear (right[i]);

  return regular;
}

static void
test_random_problems (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  gsize n_compared = 0;
  int round;

  for (round = 0; round < N_PROBLEMS; round++)
    n_compared += run_problem (rand) ? 1 : 0;
  g_test_message ("%" G_GSIZE_FORMAT " problems compared", n_compared);
  g_assert_cmpuint (n_compared, >, N_PROBLEMS / 2);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exact-statistics/random-problems", test_random_problems);
  return g_test_run ();
}
