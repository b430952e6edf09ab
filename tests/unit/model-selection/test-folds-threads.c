/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folds-test.h"

/* Any number of threads use the same folds, each with a model of its own: whoever comes first makes the sums. */

#define N_THREADS 4
#define N_SCORES 3

typedef struct
{
  AprFolds *folds;
  AprTensor *scores[N_SCORES];
} Worker;

static AprTensor *
score (AprFolds *folds, gsize i)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  apr_linear_regression_set_alpha (model, (double) i);
  apr_linear_regression_set_precision (model, i == 1 ? APR_PRECISION_DOUBLE : APR_PRECISION_EXACT);
  return validate (model, folds, i == 2 ? APR_METRIC_MEAN_ABSOLUTE_ERROR : APR_METRIC_R2);
}

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  gsize i;

  for (i = 0; i < N_SCORES; i++)
    worker->scores[i] = score (worker->folds, i);

  return NULL;
}

static void
test_many_models (Fixture *fixture, gconstpointer data)
{
  gsize round;
  /* GLib's making of a class, which ThreadSanitizer does not see into, is no matter of this test. */
  g_autoptr (GTypeClass) products G_GNUC_UNUSED = g_type_class_ref (APR_TYPE_CROSS_PRODUCTS);

  for (round = 0; round < 10; round++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprFolds) folds = apr_folds_new_shuffled (fixture->x, fixture->y, NULL, 3, round, &error);
      Worker workers[N_THREADS] = { { NULL } };
      GThread *threads[N_THREADS];
      gsize i;
      gsize j;

      g_assert_no_error (error);
      for (i = 0; i < N_THREADS; i++)
        {
          workers[i].folds = folds;
          threads[i] = g_thread_new ("folds", work, &workers[i]);
        }
      for (i = 0; i < N_THREADS; i++)
        g_thread_join (threads[i]);
      for (j = 0; j < N_SCORES; j++)
        {
          g_autoptr (AprTensor) expected = score (folds, j);

          for (i = 0; i < N_THREADS; i++)
            {
              g_assert_true (apr_tensor_equal (workers[i].scores[j], expected));
              apr_tensor_unref (workers[i].scores[j]);
            }
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/folds-threads/many-models", Fixture, NULL, set_up, test_many_models, tear_down);

  return g_test_run ();
}
