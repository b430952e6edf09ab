/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/exact-solution.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/least-squares/apr-least-squares-private.h"

/* The dual form, which models take where features are many beside the samples, on problems of any shape: against
 * whole numbers, and against the way of the cross products. */

#define N_PROBLEMS 1500

static AprTensor *
tensor_new (const double *values, gsize n_rows, gsize n_columns, AprDType dtype)
{
  g_autoptr (AprTensor) doubles = matrix_new (n_rows, n_columns, values);

  return apr_tensor_cast (doubles, dtype, NULL);
}

static gboolean
is_same (const double *actual, const double *expected, gsize n)
{
  return memcmp (actual, expected, n * sizeof *actual) == 0;
}

static void
fail (const RandomProblem *problem, guint index, const char *message)
{
  g_autofree char *text = random_problem_to_string (problem);

  g_test_message ("problem %u: %s\n%s", index, message, text);
  g_test_fail ();
}

/* What is @solved, beside the exact solution. */
static void
compare (const RandomProblem *problem, guint index, const AprLeastSquares *solved)
{
  g_autoptr (ExactSolution) exact = exact_solution_find (problem);
  gsize n_dependent = 0;
  gsize i;

  if (solved->rank != exact->rank)
    fail (problem, index, "another rank");
  for (i = 0; i < problem->n_features && problem->alpha == 0; i++)
    if (exact->dependent[i] && (n_dependent == solved->n_dependent || solved->dependent[n_dependent++] != i))
      fail (problem, index, "other dependent features");
  if (solved->correctly_rounded &&
      (!is_same (solved->coefficients, exact->coefficients, problem->n_features * problem->n_targets) ||
       !is_same (solved->intercepts, exact->intercepts, problem->n_targets)))
    fail (problem, index, "a wrong bit");
}

/* Returns whether all is proven. */
static gboolean
judge (const RandomProblem *problem, guint index)
{
  AprLeastSquaresOptions options = { .fit_intercept = problem->fit_intercept,
                                     .alpha = problem->alpha,
                                     .data_dtype = problem->x_dtype,
                                     .dtype =
                                       problem->dtype != APR_DTYPE_NONE ? problem->dtype : problem->x_dtype,
                                     .n_threads = 1 };
  g_autoptr (AprTensor) x = tensor_new (problem->x, problem->n_rows, problem->n_features, problem->x_dtype);
  g_autoptr (AprTensor) y = tensor_new (problem->y, problem->n_rows, problem->n_targets, problem->y_dtype);
  g_autoptr (AprTensor) weights =
    problem->weights != NULL ? vector_new (problem->n_rows, problem->weights) : NULL;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (problem->n_features, problem->n_targets, NULL);
  g_autoptr (AprSampleRows) rows = NULL;
  g_auto (AprLeastSquares) primal = { NULL };
  g_auto (AprLeastSquares) dual = { NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) primal_error = NULL;
  gboolean solved;

  g_assert_true (apr_sample_rows_new (x, y, weights, &rows, &error));
  g_assert_no_error (error);
  solved = apr_least_squares_solve_rows (&dual, rows, &options, &error);
  g_assert_true (apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT, 1, NULL, NULL));
  if (apr_least_squares_solve (&primal, sums, &options, &primal_error) != solved)
    fail (problem, index, solved ? primal_error->message : error->message);
  if (!solved)
    {
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      return TRUE;
    }

  compare (problem, index, &dual);
  if (primal.correctly_rounded && !dual.correctly_rounded)
    fail (problem, index, "not proven, but with the cross products");

  return dual.correctly_rounded;
}

static void
test_random_problems (void)
{
  guint32 seeds[2] = { 14, 0 };
  guint n_proven = 0;
  guint n = 0;

  for (; seeds[1] < (runs_in_valgrind () ? 50 : N_PROBLEMS); seeds[1]++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
      g_autoptr (RandomProblem) problem = random_problem_new (rand);

      if (problem->positive)
        continue;
      n_proven += judge (problem, seeds[1]) ? 1 : 0;
      n++;
    }
  g_test_message ("%u of %u are proven", n_proven, n);
  g_assert_cmpuint (100 * n_proven, >, 98 * n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dual/random-problems", test_random_problems);

  return g_test_run ();
}
