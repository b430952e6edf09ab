/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/missing-matrices.h"

#include <math.h>

/* What grows with the square of the features or of the samples is taken in ways that can fail. */

/* The linker sends the library's calls of g_new() here, with which the program ends where there is no memory: it must
 * not be asked for so much. */
gpointer __real_g_malloc_n (gsize n, gsize size);
gpointer __wrap_g_malloc_n (gsize n, gsize size);

static gint max_size = G_MAXINT;

gpointer
__wrap_g_malloc_n (gsize n, gsize size)
{
  if (n > (gsize) g_atomic_int_get (&max_size) / size)
    g_error ("g_new() is asked for %" G_GSIZE_FORMAT " times %" G_GSIZE_FORMAT " bytes", n, size);

  return __real_g_malloc_n (n, size);
}

/* So many features that a vector of them is small beside a matrix; and so is what sums take for some hundred rows. */
#define MANY_ROWS 160
#define MANY_FEATURES 130
#define LARGE (MANY_FEATURES * MANY_FEATURES * 4)
#define LARGE_BESIDE_SUMS (MANY_FEATURES * MANY_FEATURES * 6)

static void
test_square (gconstpointer user_data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (78);
  g_autofree double *x_values = g_new (double, MANY_ROWS *MANY_FEATURES);
  double spread = GPOINTER_TO_SIZE (user_data) == 0 ? 1 : 1e-9;
  double y_values[MANY_ROWS];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < MANY_ROWS * MANY_FEATURES; i++)
    {
      x_values[i] = g_rand_double (rand) - 0.5;
      if (i % MANY_FEATURES > 0)
        x_values[i] = x_values[i / MANY_FEATURES * MANY_FEATURES] + spread * x_values[i];
    }
  for (i = 0; i < MANY_ROWS; i++)
    y_values[i] = g_rand_double (rand);
  x = matrix_new (MANY_ROWS, MANY_FEATURES, x_values);
  y = vector_new (MANY_ROWS, y_values);

  g_atomic_int_set (&max_size, LARGE_BESIDE_SUMS);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_atomic_int_set (&max_size, LARGE);
  statistics =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC3, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (isfinite (apr_linear_regression_compute_condition_number (model)));
  g_atomic_int_set (&max_size, G_MAXINT);
  g_assert_true (isfinite (apr_regression_statistics_get_f_statistic (statistics)));
}

/* Fits until each matrix, one after the other, has once not been had. */
static void
fit_when_there_is_memory (AprLinearRegression *model, AprTensor *x, AprTensor *y, AprTensor *weights)
{
  gboolean fitted = FALSE;
  gint matrix;

  g_atomic_int_set (&max_size, LARGE_BESIDE_SUMS);
  for (matrix = 0, fails_once = FALSE; !fitted; matrix++)
    {
      g_autoptr (GError) error = NULL;

      g_atomic_int_set (&n_matrices, matrix);
      fitted = apr_estimator_fit (APR_ESTIMATOR (model), x, y, weights, NULL, &error);
      if (!fitted)
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
    }
  g_atomic_int_set (&n_matrices, G_MAXINT);
  g_atomic_int_set (&max_size, G_MAXINT);
  g_test_message ("%d matrices", matrix);
}

/* Half of the features are the others in another unit, which is so far away that doubles do not tell the solution. */
static void
test_dependent (void)
{
  const gsize half = MANY_FEATURES / 2;
  g_autoptr (GRand) rand = g_rand_new_with_seed (80);
  g_autofree double *x_values = g_new (double, MANY_ROWS *MANY_FEATURES);
  double y_values[MANY_ROWS];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) coefficients = NULL;
  gsize i;

  for (i = 0; i < MANY_ROWS * MANY_FEATURES; i++)
    x_values[i] = i % MANY_FEATURES < half ? g_rand_double (rand) : ldexp (x_values[i - half], 200);
  for (i = 0; i < MANY_ROWS; i++)
    y_values[i] = g_rand_double (rand);
  x = matrix_new (MANY_ROWS, MANY_FEATURES, x_values);
  y = vector_new (MANY_ROWS, y_values);

  fit_when_there_is_memory (model, x, y, NULL);

  /* Of minimum norm: the coefficients have the ratios of the units. */
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, (gint64) half);
  g_object_get (model, "coefficients", &coefficients, NULL);
  for (i = 0; i < half; i++)
    g_assert_cmpfloat (apr_tensor_get_double (coefficients, half + i, NULL), ==,
                       ldexp (apr_tensor_get_double (coefficients, i, NULL), 200));
}

/* Few samples, some of which are there twice. */
static void
test_wide (void)
{
  enum
  {
    N_ALL = 140,
    N_DIFFERENT = 130,
    N_WIDE = 700
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (79);
  g_autofree double *x_values = g_new (double, N_ALL *N_WIDE);
  g_autoptr (AprLinearRegression) expected = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprTensor) different = NULL;
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (AprTensor) others = NULL;
  g_autoptr (AprTensor) targets = NULL;
  g_autoptr (GError) error = NULL;
  double y_values[N_ALL];
  double w_values[N_ALL];
  gsize i;

  for (i = 0; i < N_ALL * N_WIDE; i++)
    x_values[i] = i / N_WIDE < N_DIFFERENT ? g_rand_double (rand) : x_values[i - N_DIFFERENT * N_WIDE];
  for (i = 0; i < N_ALL; i++)
    {
      y_values[i] = i < N_DIFFERENT ? g_rand_double (rand) : y_values[i - N_DIFFERENT];
      w_values[i] = i < N_DIFFERENT ? g_rand_double (rand) : 2;
    }
  x = matrix_new (N_ALL, N_WIDE, x_values);
  y = vector_new (N_ALL, y_values);
  weights = vector_new (N_ALL, w_values);
  different = matrix_new (N_DIFFERENT, N_WIDE, x_values);
  targets = vector_new (N_DIFFERENT, y_values);

  fit_when_there_is_memory (model, x, y, weights);
  /* It goes through all samples, whatever their weights are. */
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (expected), different, targets, NULL, NULL, &error));
  g_assert_no_error (error);
  g_object_get (model, "coefficients", &coefficients, NULL);
  g_object_get (expected, "coefficients", &others, NULL);
  g_assert_true (apr_tensor_equal (coefficients, others));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/linear-regression-large/far", GSIZE_TO_POINTER (0), test_square);
  g_test_add_data_func ("/linear-regression-large/near", GSIZE_TO_POINTER (1), test_square);
  g_test_add_func ("/linear-regression-large/dependent", test_dependent);
  g_test_add_func ("/linear-regression-large/wide", test_wide);

  return g_test_run ();
}
