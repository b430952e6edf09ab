/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* The dual form, on problems whose answers are known by hand. */

static gboolean
solve_rows (AprLeastSquares *answer, AprTensor *x, AprTensor *y, AprLeastSquaresOptions options)
{
  const AprRun run = { .n_threads = 1 };
  g_autoptr (AprSampleRows) rows = NULL;
  g_autoptr (GError) error = NULL;

  options.data_dtype = options.dtype = APR_DTYPE_F64;
  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, &error));
  g_assert_no_error (error);

  return apr_least_squares_solve_rows (answer, rows, &options, &run, NULL);
}

static void
solve_sums (AprLeastSquares *answer, AprTensor *x, AprTensor *y, AprLeastSquaresOptions options)
{
  const AprRun run = { .n_threads = 1 };
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 2, NULL);

  options.data_dtype = options.dtype = APR_DTYPE_F64;
  g_assert_true (
    apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
  g_assert_true (apr_least_squares_solve (answer, sums, &options, &run, NULL));
}

static void
test_targets (void)
{
  static const double values[2][3] = { { 1, 2, 2 }, { 0, 3, -4 } };
  static const double both[2][2] = { { 9, 1 }, { 25, 3 } };
  static const gboolean second[2] = { FALSE, TRUE };
  g_autoptr (AprTensor) x = matrix_new (2, 3, &values[0][0]);
  g_autoptr (AprTensor) y = matrix_new (2, 2, &both[0][0]);
  gsize way;

  g_test_summary ("Only the targets that are asked for are solved for; the others are 0.");
  for (way = 0; way < 2; way++)
    {
      g_auto (AprLeastSquares) all = { NULL };
      g_auto (AprLeastSquares) some = { NULL };
      gsize i;

      if (way == 0)
        {
          g_assert_true (solve_rows (&all, x, y, (AprLeastSquaresOptions){ .alpha = 0 }));
          g_assert_true (solve_rows (&some, x, y, (AprLeastSquaresOptions){ .targets = second }));
        }
      else
        {
          solve_sums (&all, x, y, (AprLeastSquaresOptions){ .alpha = 0 });
          solve_sums (&some, x, y, (AprLeastSquaresOptions){ .targets = second });
        }
      g_assert_true (all.correctly_rounded && some.correctly_rounded);
      /* XX' = [[9, -2], [-2, 25]], with the determinant 221: u = XX'^-1 y = [275, 243] / 221 and [31, 29] / 221. */
      assert_same_double (all.coefficients[0], 275.0 / 221);
      assert_same_double (all.coefficients[1], 1279.0 / 221);
      assert_same_double (all.coefficients[2], -422.0 / 221);
      for (i = 0; i < 3; i++)
        assert_same_double (some.coefficients[i], 0);
      for (i = 0; i < 2; i++)
        {
          const AprLeastSquares *solved = i == 0 ? &all : &some;

          assert_same_double (solved->coefficients[3], 31.0 / 221);
          assert_same_double (solved->coefficients[4], 149.0 / 221);
          assert_same_double (solved->coefficients[5], -54.0 / 221);
        }
    }
}

static void
test_nothing (void)
{
  static const double zeros[3] = { 0 };
  g_autoptr (AprTensor) x = matrix_new (1, 3, zeros);
  g_autoptr (AprTensor) y = vector_new (1, (const double[]){ 5 });
  gboolean fit_intercept;

  g_test_summary ("Zeros leave nothing to solve for but the mean.");
  for (fit_intercept = FALSE; fit_intercept <= TRUE; fit_intercept++)
    {
      g_auto (AprLeastSquares) solved = { NULL };
      gsize i;

      g_assert_true (solve_rows (&solved, x, y, (AprLeastSquaresOptions){ .fit_intercept = fit_intercept }));
      g_assert_true (solved.correctly_rounded);
      g_assert_cmpuint (solved.rank, ==, 0);
      for (i = 0; i < 3; i++)
        assert_same_double (solved.coefficients[i], 0);
      assert_same_double (solved.intercepts[0], fit_intercept ? 5 : 0);
    }
}

static void
test_one_sample (void)
{
  static const double values[2][3] = { { 1, -2, 2 }, { 0, 4, 0 } };
  static const double targets[2] = { 18, 2 };
  gsize i;

  g_test_summary ("Of one sample, each coefficient is its value times the target, divided by its square.");
  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprTensor) x = matrix_new (1, 3, values[i]);
      g_autoptr (AprTensor) y = vector_new (1, &targets[i]);
      g_auto (AprLeastSquares) solved = { NULL };

      g_assert_true (solve_rows (&solved, x, y, (AprLeastSquaresOptions){ .alpha = 0 }));
      g_assert_true (solved.correctly_rounded);
      g_assert_cmpuint (solved.rank, ==, 1);
      assert_same_double (solved.coefficients[0], i == 0 ? 2 : 0);
      assert_same_double (solved.coefficients[1], i == 0 ? -4 : 0.5);
      assert_same_double (solved.coefficients[2], i == 0 ? 4 : 0);
    }
}

static void
test_far_apart (void)
{
  static const double values[2][4] = { { 1, 0, 1, 0 }, { 0, 1, 0, 1 } };
  g_autoptr (AprTensor) x = matrix_new (2, 4, &values[0][0]);
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 0x1p-115 });
  g_auto (AprLeastSquares) solved = { NULL };

  g_test_summary ("A coefficient that is small beside the others has all its digits.");
  g_assert_true (solve_rows (&solved, x, y, (AprLeastSquaresOptions){ .alpha = 0 }));
  g_assert_true (solved.correctly_rounded);
  assert_same_double (solved.coefficients[0], 0.5);
  assert_same_double (solved.coefficients[1], 0x1p-116);
  assert_same_double (solved.coefficients[2], 0.5);
  assert_same_double (solved.coefficients[3], 0x1p-116);
}

static void
test_too_much_work (void)
{
#define N_PAIRS 120
  const double n = 0x1p24;
  g_autofree double *x_values = g_new0 (double, 2 * N_PAIRS * 4 * N_PAIRS);
  double y_values[2 * N_PAIRS];
  g_auto (AprLeastSquares) solved = { NULL };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;
  gsize j;

  g_test_summary ("Where Cramer's rule would need too many digits, zeros are not certain.");
  /* Pairs of rows 2^k (n, n, n, n) and 2^k (n, n, n, n + 3), and the coefficients 0, 0, 0 and -1, which are the
   * difference of the rows by 3. */
  for (i = 0; i < N_PAIRS; i++)
    {
      double scale = ldexp (1, (gint) (i * 1980 / N_PAIRS) - 1000);
      double *row = x_values + 2 * i * 4 * N_PAIRS + 4 * i;

      for (j = 0; j < 4; j++)
        row[j] = row[4 * N_PAIRS + j] = scale * n;
      row[4 * N_PAIRS + 3] += 3 * scale;
      y_values[2 * i] = -scale * n;
      y_values[2 * i + 1] = -scale * (n + 3);
    }
  x = matrix_new (2 * N_PAIRS, 4 * N_PAIRS, x_values);
  y = vector_new (2 * N_PAIRS, y_values);
  g_assert_true (solve_rows (&solved, x, y, (AprLeastSquaresOptions){ .alpha = 0 }));
  g_assert_cmpuint (solved.rank, ==, 2 * N_PAIRS);
  g_test_message ("correctly rounded: %d", solved.correctly_rounded);
  for (i = 0; i < 4 * N_PAIRS; i++)
    {
      double expected = i % 4 == 3 ? -1 : 0;

      if (solved.correctly_rounded)
        assert_same_double (solved.coefficients[i], expected);
      /* All of u is known to within the same error, which matters least where features are small. */
      else if (i < N_PAIRS / 2)
        g_assert_cmpfloat (fabs (solved.coefficients[i] - expected), <, 0x1p-60);
    }
}

/* Samples (x, 1, 1, 1) and (0, 1, 1, 1), where the square of x is 3 2^200: the coefficients are 9 2^-875 x / (3 2^200),
 * which is 3/2 2^-1074 x, and thirds of the second target. Where x is 1, that is halfway between the smallest numbers.
 * The targets are multiples of a much larger number, so that it is not they that say how many bits it takes to tell. */
static void
test_smallest_tie (void)
{
#define MAX_FEATURES 20
  double x_values[2 * MAX_FEATURES] = { 1 };
  gsize n = 1; /* of x */
  mpz_t left;
  mpz_t root;
  double sign;
  gsize i;

  mpz_init_set_ui (left, 3);
  mpz_init (root);
  mpz_mul_2exp (left, left, 200);
  for (mpz_sub_ui (left, left, 1); mpz_sgn (left) > 0; mpz_submul (left, root, root))
    {
      g_assert_cmpuint (n + 3, <, MAX_FEATURES);
      mpz_sqrt (root, left);
      /* Cut to what a double can hold. */
      x_values[n] = mpz_get_d (root);
      mpz_set_d (root, x_values[n++]);
    }
  mpz_clears (left, root, NULL);
  for (i = n; i < n + 3; i++)
    x_values[i] = x_values[n + 3 + i] = 1;

  for (sign = -1; sign <= 1; sign += 2)
    {
      double targets[] = { sign * 10 * 0x1p-875, sign * 0x1p-875 };
      g_autoptr (AprTensor) x = matrix_new (2, n + 3, x_values);
      g_autoptr (AprTensor) y = matrix_new (2, 1, targets);
      g_auto (AprLeastSquares) answer = { NULL };

      g_assert_true (solve_rows (&answer, x, y, (AprLeastSquaresOptions){ .alpha = 0 }));
      g_assert_true (answer.correctly_rounded);
      assert_same_double (answer.coefficients[0], sign * 0x1p-1073);
      for (i = 0; i < n; i++)
        assert_same_double (answer.coefficients[i], sign * ldexp (3 * x_values[i], -1075));
      for (i = n; i < n + 3; i++)
        assert_same_double (answer.coefficients[i], targets[1] / 3);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dual-solve/targets", test_targets);
  g_test_add_func ("/dual-solve/nothing", test_nothing);
  g_test_add_func ("/dual-solve/one-sample", test_one_sample);
  g_test_add_func ("/dual-solve/far-apart", test_far_apart);
  g_test_add_func ("/dual-solve/too-much-work", test_too_much_work);
  g_test_add_func ("/dual-solve/smallest-tie", test_smallest_tie);

  return g_test_run ();
}
