/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folds-test.h"
#include "tests/missing-matrices.h"

/* Cross-validation where there is no memory for each of the things that it needs: it fails, and the next call finds
 * what it would have found before. */

/* The linker sends the library's calls of this function here: how many are left that find memory. */
gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

static gint n_memories = G_MAXINT;

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gboolean missing = g_atomic_int_add (&n_memories, -1) <= 0;

  /* So many bytes that they cannot be counted: nobody is asked for them. */
  return missing ? __real_apr_memory_new (G_MAXSIZE, 2, what, error)
                 : __real_apr_memory_new (n, size, what, error);
}

/* New folds each time, whose sums are not there yet. */
static AprTensor *
call (Fixture *fixture, AprTensor *labels, gint kind, GError **error)
{
  g_autoptr (AprFolds) folds = apr_folds_new_from_labels (fixture->x, fixture->y, fixture->y, labels, error);

  if (folds == NULL)
    return NULL;

  return kind == 0 ? apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, NULL, error)
       : kind == 1
         ? apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_MEDIAN_ABSOLUTE_ERROR, NULL, error)
         : apr_estimator_cross_predict (fixture->model, folds, NULL, error);
}

static void
test_missing (Fixture *fixture, gconstpointer data)
{
  static const double labels[] = { 1, 0, 1, -1, 0, 0, -1, 1, -1, -1, 0 };
  g_autoptr (AprTensor) tensor = vector_new (N_ROWS, labels);
  gint *const counters[] = { &n_memories, &n_matrices };
  gint kind;
  gsize i;

  fails_once = TRUE;
  apr_linear_regression_set_n_threads (APR_LINEAR_REGRESSION (fixture->model), 1);
  for (kind = 0; kind < 3; kind++)
    for (i = 0; i < G_N_ELEMENTS (counters); i++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (AprTensor) expected = call (fixture, tensor, kind, &error);
        gboolean ended = FALSE;
        gint n;

        g_assert_no_error (error);
        for (n = 0; !ended; n++)
          {
            g_autoptr (AprTensor) found = NULL;

            g_atomic_int_set (counters[i], n);
            found = call (fixture, tensor, kind, &error);
            ended = g_atomic_int_get (counters[i]) >= 0;
            g_atomic_int_set (counters[i], G_MAXINT);
            g_assert_false (apr_estimator_get_busy (fixture->model));
            if (ended)
              {
                g_assert_no_error (error);
                g_assert_true (apr_tensor_equal (found, expected));
                continue;
              }
            g_assert_null (found);
            g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
            g_clear_error (&error);
          }
        g_assert_cmpint (n, >, i == 0 ? 5 : 1);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/folds-no-memory/missing", Fixture, NULL, set_up, test_missing, tear_down);

  return g_test_run ();
}
