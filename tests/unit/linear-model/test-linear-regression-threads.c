/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <stdlib.h>

/* Eight threads use one model in every way while a ninth fits it over and over, to one of two sets of targets:
 * every answer is one of the two right ones. APRENDER_TEST_FITS says how many fits; ThreadSanitizer watches 10,000
 * in continuous integration. */

#define N_SAMPLES 40
#define N_FEATURES 3
#define N_READERS 8
#define N_WAYS 10 /* to use a model */

typedef struct
{
  AprTensor *coefficients;
  AprTensor *predictions;
  AprTensor *upper; /* ends of intervals */
  GBytes *bytes;
  double score;
  double r_squared;
  double prediction;
} Answers;

typedef struct
{
  AprEstimator *model;
  AprTensor *x;
  AprTensor *y[2];
  Answers answers[2];
  int done;    /* atomic */
  int n_turns; /* atomic */
} Shared;

static double row[N_FEATURES] = { 1, -2, 0.5 };

static AprTensor *
find_upper (AprEstimator *model, AprTensor *x)
{
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (GError) error = NULL;
  AprTensor *upper;

  apr_linear_regression_predict_interval (APR_LINEAR_REGRESSION (model), x, 0.9, APR_INTERVAL_PREDICTION,
                                          &lower, &upper, &error);
  g_assert_no_error (error);

  return upper;
}

static void
answers_init (Answers *self, AprEstimator *model, AprTensor *x, AprTensor *y)
{
  g_autoptr (AprRegressionStatistics) statistics =
    apr_linear_regression_get_statistics (APR_LINEAR_REGRESSION (model), 0, NULL);

  self->coefficients = apr_linear_regression_get_coefficients (APR_LINEAR_REGRESSION (model));
  self->predictions = apr_estimator_predict (model, x, NULL);
  self->upper = find_upper (model, x);
  self->bytes = apr_estimator_to_bytes (model, NULL);
  self->score = apr_estimator_score (model, x, y, NULL, NULL);
  self->r_squared = apr_regression_statistics_get_r_squared (statistics);
  self->prediction = apr_linear_regression_predict_one (APR_LINEAR_REGRESSION (model), row, N_FEATURES, NULL);
}

static void
answers_clear (Answers *self)
{
  apr_tensor_unref (self->coefficients);
  apr_tensor_unref (self->predictions);
  apr_tensor_unref (self->upper);
  g_bytes_unref (self->bytes);
}

static void
assert_one_of (double value, double first, double second)
{
  if (value != first)
    assert_same_double (value, second);
}

/* Of the scores against the first targets. */
static double score_of_other;

static void
use (Shared *shared, guint turn)
{
  AprLinearRegression *regression = APR_LINEAR_REGRESSION (shared->model);
  const Answers *a = &shared->answers[0];
  const Answers *b = &shared->answers[1];
  GError *error = NULL;

  switch (turn % N_WAYS)
    {
    case 0:
      {
        g_autoptr (AprTensor) predictions = apr_estimator_predict (shared->model, shared->x, &error);

        g_assert_no_error (error);
        g_assert_true (apr_tensor_equal (predictions, a->predictions) ||
                       apr_tensor_equal (predictions, b->predictions));
        break;
      }
    case 1:
      assert_one_of (apr_linear_regression_predict_one (regression, row, N_FEATURES, &error), a->prediction,
                     b->prediction);
      g_assert_no_error (error);
      break;
    case 2:
      assert_one_of (apr_estimator_score (shared->model, shared->x, shared->y[0], NULL, &error), a->score,
                     score_of_other);
      g_assert_no_error (error);
      break;
    case 3:
      {
        g_autoptr (AprRegressionStatistics) statistics =
          apr_linear_regression_get_statistics (regression, 0, &error);

        g_assert_no_error (error);
        assert_one_of (apr_regression_statistics_get_r_squared (statistics), a->r_squared, b->r_squared);
        break;
      }
    case 4:
      {
        g_autoptr (GBytes) bytes = apr_estimator_to_bytes (shared->model, &error);

        g_assert_no_error (error);
        g_assert_true (g_bytes_equal (bytes, a->bytes) || g_bytes_equal (bytes, b->bytes));
        break;
      }
    case 5:
      {
        g_autoptr (AprEstimator) clone = apr_estimator_clone (shared->model);
        g_autoptr (AprEstimator) copy = apr_estimator_copy (shared->model, &error);
        g_autoptr (GBytes) bytes = apr_estimator_to_bytes (copy, &error);

        g_assert_no_error (error);
        g_assert_true (g_bytes_equal (bytes, a->bytes) || g_bytes_equal (bytes, b->bytes));
        g_assert_false (apr_estimator_get_fitted (clone));
        break;
      }
    case 6:
      {
        g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (regression);
        g_autoptr (AprCrossProducts) cross_products = NULL;
        g_auto (GStrv) names = NULL;
        g_auto (GStrv) dependent = NULL;
        gboolean has_statistics;
        gint64 rank;

        g_assert_true (apr_tensor_equal (coefficients, a->coefficients) ||
                       apr_tensor_equal (coefficients, b->coefficients));
        g_object_get (shared->model, "cross-products", &cross_products, "feature-names", &names,
                      "dependent-features", &dependent, "has-statistics", &has_statistics, "rank", &rank,
                      NULL);
        g_assert_cmpuint (apr_cross_products_get_n_samples (cross_products), ==, N_SAMPLES);
        g_assert_cmpstr (names[0], ==, "a");
        g_assert_cmpuint (g_strv_length (dependent), ==, 0);
        g_assert_cmpint (rank, ==, N_FEATURES);
        g_assert_true (has_statistics);
        break;
      }
    case 7:
      {
        /* The intervals' middle and width are of one model. */
        g_autoptr (AprTensor) upper = find_upper (shared->model, shared->x);

        g_assert_true (apr_tensor_equal (upper, a->upper) || apr_tensor_equal (upper, b->upper));
        break;
      }
    case 8:
      {
        const Answers *answers = &shared->answers[turn / N_WAYS % 2];
        g_autoptr (AprLinearRegression) loaded = apr_linear_regression_from_bytes (answers->bytes, &error);
        g_autoptr (AprTensor) predictions = NULL;

        g_assert_no_error (error);
        predictions = apr_estimator_predict (APR_ESTIMATOR (loaded), shared->x, &error);
        g_assert_no_error (error);
        g_assert_true (apr_tensor_equal (predictions, answers->predictions));
        break;
      }
    default:
      /* Not what decides about the answer. */
      apr_linear_regression_set_n_threads (regression, turn % 3);
      g_assert_cmpuint (apr_linear_regression_get_n_threads (regression), <, 3);
      apr_estimator_set_feature_names (shared->model, (const char *const[]){ "a", "b", "c", NULL }, &error);
      g_assert_no_error (error);
      break;
    }
}

static gpointer
read_model (gpointer user_data)
{
  Shared *shared = user_data;
  guint turn = 0;

  while (!g_atomic_int_get (&shared->done))
    {
      use (shared, turn++);
      g_atomic_int_inc (&shared->n_turns);
    }

  return NULL;
}

static int
get_n_fits (void)
{
  const char *text = g_getenv ("APRENDER_TEST_FITS");

  return text != NULL ? atoi (text) : 200;
}

static void
test_readers_beside_a_writer (void)
{
  g_autofree double *values = g_new (double, N_SAMPLES *(N_FEATURES + 2));
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  Shared shared = { NULL };
  GThread *readers[N_READERS];
  gsize i;
  int n;

  for (i = 0; i < N_SAMPLES * (N_FEATURES + 2); i++)
    values[i] = g_rand_double (rand);
  shared.x = matrix_new (N_SAMPLES, N_FEATURES, values);
  shared.model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_assert_true (
    apr_estimator_set_feature_names (shared.model, (const char *const[]){ "a", "b", "c", NULL }, NULL));
  for (i = 0; i < 2; i++)
    {
      shared.y[i] = vector_new (N_SAMPLES, values + N_SAMPLES * (N_FEATURES + i));
      g_assert_true (apr_estimator_fit (shared.model, shared.x, shared.y[i], NULL, NULL, NULL));
      answers_init (&shared.answers[i], shared.model, shared.x, shared.y[i]);
    }
  score_of_other = apr_estimator_score (shared.model, shared.x, shared.y[0], NULL, NULL);

  for (i = 0; i < N_READERS; i++)
    readers[i] = g_thread_new ("reader", read_model, &shared);
  for (n = get_n_fits (); n > 0; n--)
    {
      GError *error = NULL;

      apr_estimator_fit (shared.model, shared.x, shared.y[n % 2], NULL, NULL, &error);
      g_assert_no_error (error);
    }
  while (g_atomic_int_get (&shared.n_turns) < N_WAYS * N_READERS)
    g_thread_yield ();
  g_atomic_int_set (&shared.done, TRUE);
  for (i = 0; i < N_READERS; i++)
    g_thread_join (readers[i]);
  g_test_message ("%d answers", g_atomic_int_get (&shared.n_turns));

  apr_tensor_unref (shared.x);
  for (i = 0; i < 2; i++)
    {
      apr_tensor_unref (shared.y[i]);
      answers_clear (&shared.answers[i]);
    }
  g_assert_finalize_object (shared.model);
}

typedef struct
{
  AprEstimator *model;
  AprTensor *x;
  AprTensor *y;
  int n_fitted; /* atomic */
} Writers;

static gpointer
fit_model (gpointer user_data)
{
  Writers *writers = user_data;
  int i;

  for (i = 0; i < 50; i++)
    {
      g_autoptr (GError) error = NULL;

      if (apr_estimator_fit (writers->model, writers->x, writers->y, NULL, NULL, &error))
        g_atomic_int_inc (&writers->n_fitted);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
    }

  return NULL;
}

static void
test_writers_exclude_each_other (void)
{
  Writers writers = {
    APR_ESTIMATOR (apr_linear_regression_new ()),
    matrix_new (3, 1, (double[]){ 0, 1, 2 }),
    vector_new (3, (double[]){ 1, 3, 5 }),
    0,
  };
  GThread *threads[4];
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("writer", fit_model, &writers);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (writers.n_fitted, >, 0);
  assert_same_double (element (coefficients_of (APR_LINEAR_REGRESSION (writers.model)), 0), 2);

  apr_tensor_unref (writers.x);
  apr_tensor_unref (writers.y);
  g_assert_finalize_object (writers.model);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/linear-regression-threads/readers-beside-a-writer", test_readers_beside_a_writer);
  g_test_add_func ("/linear-regression-threads/writers-exclude-each-other", test_writers_exclude_each_other);

  return g_test_run ();
}
