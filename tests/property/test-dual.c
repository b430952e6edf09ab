/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/exact-solution.h"

#include <fenv.h>
#include <math.h>

#include "aprender/least-squares/apr-least-squares-private.h"

/* The dual form, which models take where features are many beside the samples, on problems of any shape: against
 * whole numbers, and against the way of the cross products. */

#define N_PROBLEMS 1500
#define N_WIDE_PROBLEMS 120

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
                                       problem->dtype != APR_DTYPE_NONE ? problem->dtype : problem->x_dtype };
  const AprRun run = { .n_threads = 1 };
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

  g_assert_true (apr_sample_rows_new (x, y, weights, 1, &rows, &error));
  g_assert_no_error (error);
  random_problem_enter_environment (problem);
  solved = apr_least_squares_solve_rows (&dual, rows, &options, &run, &error);
  fesetenv (FE_DFL_ENV);
  g_assert_true (
    apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
  if (apr_least_squares_solve (&primal, sums, &options, &run, &primal_error) != solved)
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
  guint32 seeds[2] = { random_problem_get_seed (14), 0 };
  guint n_problems = random_problem_get_number (runs_slowly () ? 50 : N_PROBLEMS);
  guint n_proven = 0;
  guint n = 0;

  for (; seeds[1] < n_problems; seeds[1]++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
      g_autoptr (RandomProblem) problem = random_problem_new (rand);

      /* One penalty at a time is solved for, and signs are left to the cross products. */
      if (problem->positive || problem->alphas != NULL)
        continue;
      n_proven += judge (problem, seeds[1]) ? 1 : 0;
      n++;
    }
  g_test_message ("%u of %u are proven", n_proven, n);
  g_assert_cmpuint (100 * n_proven, >, 98 * n);
}

/* Problems that were wrong once. */
static void
test_known_problems (void)
{
  const RandomProblem nearly_constant = {
    .n_rows = 4,
    .n_features = 2,
    .n_targets = 1,
    .x = (double[]){ 0x1p-1, 0, 0x1p-1 + 0x1p-52, 1, 0x1p-1 + 0x7p-53, 0, 0x1p-1 + 0xap-53, 0 },
    .y = (double[]){ 1, 0, 0, 0 },
    .x_dtype = APR_DTYPE_F64,
    .y_dtype = APR_DTYPE_F64,
    .dtype = APR_DTYPE_F64,
    .fit_intercept = TRUE,
  };

  g_test_summary ("A feature that is constant by the rule, but not if the rounded mean counts as the mean.");
  g_assert_true (judge (&nearly_constant, 0));
}

/* Wide problems, as models solve them: some with samples that are copies, features that are constant or nearly
 * dependent, weights, and offsets. */
static RandomProblem *
draw_wide_problem (GRand *rand)
{
  const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  RandomProblem *self = g_new0 (RandomProblem, 1);
  gboolean floats = g_rand_boolean (rand);
  gint kind = g_rand_int_range (rand, 0, 6);
  double offset = kind == 1 ? 1e6 : 0;
  gsize i;
  gsize j;

  self->n_rows = (gsize) g_rand_int_range (rand, 1, 33);
  self->n_features = (gsize) g_rand_int_range (rand, 64, 100);
  self->n_targets = (gsize) g_rand_int_range (rand, 1, 3);
  self->x = g_new (double, self->n_rows * self->n_features);
  self->y = g_new (double, self->n_rows * self->n_targets);
  for (i = 0; i < self->n_rows; i++)
    for (j = 0; j < self->n_features; j++)
      {
        double value = offset + g_rand_double (rand) - 0.5;

        if (kind == 2)
          value = g_rand_int_range (rand, -1, 2);
        if (kind == 3 && i > 3)
          value = self->x[(i % 3) * self->n_features + j];
        if (kind == 4 && j > 2)
          value = (self->x[i * self->n_features + j % 2] + (double) j) * (1 + 0x1p-40 * value);
        if (kind == 5 && j % 3 == 0)
          value = 0.7;
        self->x[i * self->n_features + j] = floats ? (double) (float) value : value;
      }
  for (i = 0; i < self->n_rows * self->n_targets; i++)
    self->y[i] = kind == 2 ? g_rand_int_range (rand, -2, 3) : (double) (float) (g_rand_double (rand) - 0.3);
  if (g_rand_int_range (rand, 0, 3) == 0)
    {
      self->weights = g_new (double, self->n_rows);
      for (i = 0; i < self->n_rows; i++)
        self->weights[i] = i == 0 ? 1.5 : ldexp (g_rand_int_range (rand, 0, 9), -2);
    }
  self->x_dtype = self->y_dtype = floats ? APR_DTYPE_F32 : APR_DTYPE_F64;
  self->dtype = g_rand_boolean (rand) ? APR_DTYPE_NONE : APR_DTYPE_F64;
  self->fit_intercept = g_rand_boolean (rand);
  self->alpha = g_rand_boolean (rand) ? 0 : g_rand_double (rand);
  self->rounding = modes[g_rand_int_range (rand, 0, G_N_ELEMENTS (modes))];
  self->flush = g_rand_boolean (rand);

  return self;
}

/* A model, which solves in the dual form, beside the cross products. */
static void
judge_model (const RandomProblem *problem, guint index)
{
  AprLeastSquaresOptions options = { .fit_intercept = problem->fit_intercept,
                                     .alpha = problem->alpha,
                                     .data_dtype = problem->x_dtype,
                                     .dtype =
                                       problem->dtype != APR_DTYPE_NONE ? problem->dtype : problem->x_dtype };
  const AprRun run = { .n_threads = 1 };
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", problem->fit_intercept, "alpha",
                  problem->alpha, "dtype", problem->dtype, NULL);
  g_autoptr (AprTensor) x = tensor_new (problem->x, problem->n_rows, problem->n_features, problem->x_dtype);
  g_autoptr (AprTensor) y = tensor_new (problem->y, problem->n_rows, problem->n_targets, problem->y_dtype);
  g_autoptr (AprTensor) weights =
    problem->weights != NULL ? vector_new (problem->n_rows, problem->weights) : NULL;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (problem->n_features, problem->n_targets, NULL);
  g_auto (AprLeastSquares) primal = { NULL };
  g_auto (GStrv) dependent = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  random_problem_enter_environment (problem);
  apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error);
  fesetenv (FE_DFL_ENV);
  g_assert_no_error (error);
  g_assert_true (
    apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
  g_assert_true (apr_least_squares_solve (&primal, sums, &options, &run, &error));
  dependent = apr_linear_regression_get_dependent_features (model);
  if (apr_linear_regression_get_rank (model) != (gssize) primal.rank ||
      g_strv_length (dependent) != primal.n_dependent)
    fail (problem, index, "another rank");
  if (!apr_linear_regression_get_correctly_rounded (model))
    fail (problem, index, "not proven");
  for (i = 0; i < problem->n_features * problem->n_targets && primal.correctly_rounded; i++)
    if (element (coefficients_of (model), i) != primal.coefficients[i])
      {
        fail (problem, index, "another coefficient");
        break;
      }
  for (i = 0; i < problem->n_targets && primal.correctly_rounded; i++)
    if (element (intercept_of (model), i) != primal.intercepts[i])
      fail (problem, index, "another intercept");
}

static void
test_wide_problems (void)
{
  guint32 seeds[2] = { random_problem_get_seed (15), 0 };
  guint n_problems = random_problem_get_number (runs_slowly () ? 6 : N_WIDE_PROBLEMS);

  for (; seeds[1] < n_problems; seeds[1]++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
      g_autoptr (RandomProblem) problem = draw_wide_problem (rand);

      judge_model (problem, seeds[1]);
    }
}

/* Cross products would not fit into memory. */
static void
test_very_wide (void)
{
  const gsize n = 3;
  const gsize p = 100000;
  g_autofree double *values = g_new (double, n *p);
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (n, (double[]){ 1, 2, 4 });
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n * p; i++)
    values[i] = g_rand_double (rand) - 0.5;
  x = matrix_new (n, p, values);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_get_correctly_rounded (model));
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 2);
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
  g_assert_no_error (error);
  for (i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (element (predictions, i), element (y, i), 1e-12);

  state = apr_linear_regression_get_cross_products (model);
  scores = apr_linear_regression_score_cross_products (model, state, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (element (scores, 0), 1, 1e-12);
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==, 0);
  g_assert_cmpuint (apr_tensor_get_n_elements (apr_regression_statistics_get_covariance (statistics)), ==, 0);

  apr_linear_regression_set_keep_state (model, TRUE);
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
  g_assert_no_error (error);
  g_assert_true (
    apr_linear_regression_partial_fit (APR_LINEAR_REGRESSION (loaded), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (
    apr_tensor_equal (coefficients_of (model), coefficients_of (APR_LINEAR_REGRESSION (loaded))));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dual/random-problems", test_random_problems);
  g_test_add_func ("/dual/known-problems", test_known_problems);
  g_test_add_func ("/dual/wide-problems", test_wide_problems);
  g_test_add_func ("/dual/very-wide", test_very_wide);

  return g_test_run ();
}
