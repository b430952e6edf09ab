/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* What several threads may do with one state that nobody updates. Each function reads what all share, and gives bytes
 * that must be those that one thread alone gets. */

#define N_THREADS 4
#define N_ROUNDS 40
#define N_ROWS 300
#define N_FEATURES 12

typedef struct
{
  AprCrossProducts *state;    /* (owned) */
  AprCrossProducts *other;    /* (owned) of other rows */
  AprLinearRegression *model; /* (owned) fitted */
} Shared;

typedef struct
{
  GBytes *(*read) (Shared *shared);
} Reader;

typedef struct
{
  const Reader *reader; /* (unowned) */
  Shared shared;
  gint n_missing; /* threads that are not there yet */
} Round;

static void
draw_data (GRand *rand, AprTensor **x, AprTensor **y)
{
  g_autofree double *x_values = g_new (double, N_ROWS *N_FEATURES);
  g_autofree double *y_values = g_new (double, N_ROWS);
  int i;

  for (i = 0; i < N_ROWS * N_FEATURES; i++)
    x_values[i] = g_rand_double_range (rand, -3, 1);
  for (i = 0; i < N_ROWS; i++)
    y_values[i] = g_rand_double_range (rand, -2, 1);
  *x = matrix_new (N_ROWS, N_FEATURES, x_values);
  *y = vector_new (N_ROWS, y_values);
}

static AprCrossProducts *
draw_state (GRand *rand)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  AprCrossProducts *state = apr_cross_products_new (N_FEATURES, 1, &error);

  draw_data (rand, &x, &y);
  apr_cross_products_update (state, x, y, NULL, NULL, &error);
  g_assert_no_error (error);

  return state;
}

static void
shared_init (Shared *shared)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;

  shared->state = draw_state (rand);
  shared->other = draw_state (rand);
  draw_data (rand, &x, &y);
  shared->model = apr_linear_regression_new ();
  g_object_set (shared->model, "keep-state", TRUE, NULL);
  apr_estimator_fit (APR_ESTIMATOR (shared->model), x, y, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
shared_clear (Shared *shared)
{
  g_object_unref (shared->state);
  g_object_unref (shared->other);
  g_object_unref (shared->model);
}

static GBytes *
read_bytes (Shared *shared)
{
  return apr_cross_products_to_bytes (shared->state, NULL);
}

static GBytes *
read_copy (Shared *shared)
{
  g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (shared->state);

  g_assert_true (apr_cross_products_equal (copy, shared->state));
  g_assert_false (apr_cross_products_equal (shared->state, shared->other));

  return apr_cross_products_to_bytes (copy, NULL);
}

static GBytes *
read_merged (Shared *shared)
{
  g_autoptr (AprCrossProducts) merged = apr_cross_products_copy (shared->other);

  g_assert_true (apr_cross_products_merge (merged, shared->state, NULL));

  return apr_cross_products_to_bytes (merged, NULL);
}

static GBytes *
read_solution (Shared *shared)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  g_assert_true (apr_linear_regression_fit_cross_products (model, shared->state, NULL, NULL));

  return apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
}

static GBytes *
read_model (Shared *shared)
{
  return apr_estimator_to_bytes (APR_ESTIMATOR (shared->model), NULL);
}

static GBytes *
read_statistics (Shared *shared)
{
  g_autoptr (AprRegressionStatistics) statistics =
    apr_linear_regression_get_statistics (shared->model, 0, NULL);
  char *text;

  g_assert_nonnull (statistics);
  text = apr_regression_statistics_to_string (statistics);

  return g_bytes_new_take (text, strlen (text));
}

static gpointer
read_with_others (gpointer data)
{
  Round *round = data;

  g_atomic_int_add (&round->n_missing, -1);
  while (g_atomic_int_get (&round->n_missing) > 0)
    g_thread_yield ();

  return round->reader->read (&round->shared);
}

static void
test_readers (gconstpointer user_data)
{
  const Reader *reader = user_data;
  g_autoptr (GBytes) expected = NULL;
  Shared alone;
  guint n_rounds = runs_in_valgrind () ? 1 : N_ROUNDS;
  guint i;
  guint j;

  shared_init (&alone);
  expected = reader->read (&alone);
  shared_clear (&alone);

  /* Each time anew, as it is after an update: a reader that changed something would have done so the first time. */
  for (i = 0; i < n_rounds; i++)
    {
      Round round = { .reader = reader, .n_missing = N_THREADS };
      GThread *threads[N_THREADS];

      shared_init (&round.shared);
      for (j = 0; j < N_THREADS; j++)
        threads[j] = g_thread_new ("read", read_with_others, &round);
      for (j = 0; j < N_THREADS; j++)
        {
          g_autoptr (GBytes) bytes = g_thread_join (threads[j]);

          g_assert_true (g_bytes_equal (bytes, expected));
        }
      shared_clear (&round.shared);
    }
}

int
main (int argc, char *argv[])
{
  static const Reader bytes = { read_bytes };
  static const Reader copy = { read_copy };
  static const Reader merged = { read_merged };
  static const Reader solution = { read_solution };
  static const Reader model = { read_model };
  static const Reader statistics = { read_statistics };

  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/cross-products-threads/to-bytes", &bytes, test_readers);
  g_test_add_data_func ("/cross-products-threads/copy-and-equal", &copy, test_readers);
  g_test_add_data_func ("/cross-products-threads/merge", &merged, test_readers);
  g_test_add_data_func ("/cross-products-threads/solve", &solution, test_readers);
  g_test_add_data_func ("/cross-products-threads/model-to-bytes", &model, test_readers);
  g_test_add_data_func ("/cross-products-threads/model-statistics", &statistics, test_readers);

  return g_test_run ();
}
