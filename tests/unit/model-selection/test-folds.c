/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folds-test.h"
#include "tests/waiting.h"

#include <math.h>

/* Samples in folds, and models that are validated with them. */

static AprFolds *
folds_new (Fixture *fixture, gsize n_folds)
{
  GError *error = NULL;
  AprFolds *folds = apr_folds_new (fixture->x, fixture->y, NULL, n_folds, &error);

  g_assert_no_error (error);

  return folds;
}

static void
assert_near (AprTensor *values, const double *expected, gsize n, double tolerance)
{
  gsize i;

  g_assert_cmpuint (apr_tensor_get_n_elements (values), ==, n);
  for (i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (element (values, i), expected[i], tolerance * fabs (expected[i]));
}

static void
test_scikit_learn (Fixture *fixture, gconstpointer data)
{
  /* cross_val_score (LinearRegression (), X, y, cv=3, scoring=...) of scikit-learn 1.9.1 */
  static const struct
  {
    AprMetric metric;
    double scores[3];
  } expected[] = {
    { APR_METRIC_R2, { -38.705841826163855, -0.8065508519920308, -8.770809119980495 } },
    { APR_METRIC_EXPLAINED_VARIANCE, { -2.2517599493637763, -0.0670319777716788, -0.07395299231762054 } },
    { APR_METRIC_MEAN_SQUARED_ERROR, { 67.0036080816515, 11.290942824950193, 8.685163662204886 } },
    { APR_METRIC_ROOT_MEAN_SQUARED_ERROR, { 8.185573167570583, 3.360199819199774, 2.947060172817122 } },
    { APR_METRIC_MEAN_ABSOLUTE_ERROR, { 7.843230403800473, 2.8989914195393647, 2.7803846460777293 } },
  };
  static const double ridge[] = { -33.7979989864686, -0.8081071734393597, -7.739025459595636 };
  static const double predictions[] = { 11.755344418052255, 11.648456057007124, 8.204275534441804,
                                        8.76484560570071,   3.0211751718601025, 3.2020171609212706,
                                        3.4982186763008674, 3.679060665362035,  6.408067991381376,
                                        6.606176681829066,  8.326909265022746 };
  g_autoptr (AprFolds) folds = folds_new (fixture, 3);
  g_autoptr (AprTensor) predicted = NULL;
  g_autoptr (AprTensor) ridge_scores = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_assert_cmpuint (apr_folds_get_n_folds (folds), ==, 3);
  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr (AprTensor) scores = validate (fixture->model, folds, expected[i].metric);

      assert_near (scores, expected[i].scores, 3, 1e-13);
    }

  predicted = apr_estimator_cross_predict (fixture->model, folds, NULL, &error);
  g_assert_no_error (error);
  assert_near (predicted, predictions, N_ROWS, 1e-13);
  g_assert_false (apr_estimator_get_fitted (fixture->model));
  g_assert_false (apr_estimator_get_busy (fixture->model));

  apr_linear_regression_set_alpha (APR_LINEAR_REGRESSION (fixture->model), 2);
  ridge_scores = validate (fixture->model, folds, APR_METRIC_R2);
  assert_near (ridge_scores, ridge, 3, 1e-13);
}

static void
assert_labels (AprFolds *folds, const gint64 *expected, gsize n)
{
  gsize i;

  g_assert_cmpuint (apr_tensor_get_n_elements (apr_folds_get_labels (folds)), ==, n);
  for (i = 0; i < n; i++)
    g_assert_cmpint ((gint64) element (apr_folds_get_labels (folds), i), ==, expected[i]);
}

static void
test_labels (Fixture *fixture, gconstpointer data)
{
  static const gint64 in_order[] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2 };
  /* The same labels, dealt out by a program in Python with the generator of numpy.random.RandomState ([42, 0]). */
  static const gint64 ten[] = { 2, 2, 1, 0, 0, 0, 2, 0, 1, 1 };
  g_autoptr (AprFolds) folds = folds_new (fixture, 3);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) labels = NULL;
  g_autoptr (AprFolds) shuffled = NULL;
  g_autoptr (AprFolds) again = NULL;
  g_autoptr (AprFolds) others = NULL;
  g_autoptr (GError) error = NULL;
  guint64 n_folds;

  assert_labels (folds, in_order, N_ROWS);
  g_object_get (folds, "n-folds", &n_folds, "labels", &labels, NULL);
  g_assert_cmpuint (n_folds, ==, 3);
  g_assert_true (labels == apr_folds_get_labels (folds));

  x = apr_tensor_slice_rows (fixture->x, 0, 10, &error);
  g_assert_no_error (error);
  y = apr_tensor_slice_rows (fixture->y, 0, 10, &error);
  g_assert_no_error (error);
  shuffled = apr_folds_new_shuffled (x, y, NULL, 3, 42, &error);
  g_assert_no_error (error);
  assert_labels (shuffled, ten, 10);
  again = apr_folds_new_shuffled (x, y, NULL, 3, 42, &error);
  g_assert_true (apr_tensor_equal (apr_folds_get_labels (shuffled), apr_folds_get_labels (again)));
  others = apr_folds_new_shuffled (x, y, NULL, 3, (guint64) 42 << 32, &error);
  g_assert_false (apr_tensor_equal (apr_folds_get_labels (shuffled), apr_folds_get_labels (others)));
}

static void
test_options (Fixture *fixture, gconstpointer data)
{
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  g_autoptr (AprFolds) folds = folds_new (fixture, 4);
  g_autoptr (AprTensor) exact = validate (model, folds, APR_METRIC_R2);
  g_autoptr (AprTensor) rounded = NULL;
  g_autoptr (AprTensor) alphas = NULL;
  g_autoptr (AprTensor) none = NULL;
  g_autoptr (GError) error = NULL;
  const double two[] = { 1, 2 };
  guint n_threads;

  for (n_threads = 1; n_threads < 9; n_threads++)
    {
      g_autoptr (AprTensor) same = NULL;

      apr_linear_regression_set_n_threads (model, n_threads);
      same = validate (model, folds, APR_METRIC_R2);
      g_assert_true (apr_tensor_equal (same, exact));
    }

  apr_linear_regression_set_precision (model, APR_PRECISION_DOUBLE);
  rounded = validate (model, folds, APR_METRIC_R2);
  assert_near (rounded, apr_tensor_get_doubles (exact, NULL, NULL), 4, 1e-12);

  alphas = vector_new (2, two);
  apr_linear_regression_set_alphas (model, alphas);
  none = apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "2 numbers");
}

static void
test_cross_products (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprFolds) folds = folds_new (fixture, 3);
  AprCrossProducts *states[3];
  static const gsize ends[] = { 0, 4, 8, 11 };
  g_autoptr (AprFolds) summed = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;
  AprMetric metric;
  gsize i;

  for (i = 0; i < 3; i++)
    {
      g_autoptr (AprTensor) x = apr_tensor_slice_rows (fixture->x, ends[i], ends[i + 1], &error);
      g_autoptr (AprTensor) y = apr_tensor_slice_rows (fixture->y, ends[i], ends[i + 1], &error);

      states[i] = apr_cross_products_new (2, 1, &error);
      g_assert_true (apr_cross_products_update (states[i], x, y, NULL, NULL, &error));
      g_assert_no_error (error);
    }
  summed = apr_folds_new_from_cross_products (states, 3, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_folds_get_n_folds (summed), ==, 3);
  g_assert_null (apr_folds_get_labels (summed));

  g_test_summary ("Samples that are added to a state later do not count.");
  g_assert_true (apr_cross_products_update (states[0], fixture->x, fixture->y, NULL, NULL, &error));
  for (metric = APR_METRIC_R2; metric <= APR_METRIC_ROOT_MEAN_SQUARED_ERROR; metric++)
    {
      g_autoptr (AprTensor) expected = validate (fixture->model, folds, metric);
      g_autoptr (AprTensor) scores = validate (fixture->model, summed, metric);

      g_assert_true (apr_tensor_equal (scores, expected));
    }

  predictions = apr_estimator_cross_predict (fixture->model, summed, NULL, &error);
  g_assert_null (predictions);
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  g_clear_error (&error);
  g_assert_null (apr_estimator_cross_validate (fixture->model, summed, APR_METRIC_MAX_ERROR, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  assert_message_has (error, "“max-error”");
  for (i = 0; i < 3; i++)
    g_object_unref (states[i]);
}

/* Folds of @n states of one sample, and what a model scores for them. */
static AprTensor *
validate_states (gpointer model, gsize n, gboolean named)
{
  g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      const double value = (double) (i * i % 101);
      g_autoptr (AprTensor) x = matrix_new (1, 1, &value);
      g_autoptr (AprTensor) y = vector_new (1, &value);
      g_autofree char *identity = g_strdup_printf ("part-%05zu", n - i);
      AprCrossProducts *state = apr_cross_products_new (1, 1, NULL);

      g_ptr_array_add (states, state);
      g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, &error));
      if (named)
        g_assert_true (apr_cross_products_set_identity (state, identity, &error));
    }
  folds = apr_folds_new_from_cross_products ((AprCrossProducts **) states->pdata, n, &error);
  g_assert_no_error (error);
  for (i = 0; named && i < n; i++)
    g_assert_nonnull (apr_cross_products_get_identities (states->pdata[i]));

  return validate (model, folds, APR_METRIC_MEAN_SQUARED_ERROR);
}

static void
test_identities (Fixture *fixture, gconstpointer data)
{
  static const char *const identities[] = { "b", "a", "c", "a" };
  AprCrossProducts *states[4];
  g_autoptr (AprFolds) good = NULL;
  g_autoptr (AprTensor) expected = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < 4; i++)
    {
      states[i] = apr_cross_products_new (2, 1, &error);
      g_assert_true (apr_cross_products_update (states[i], fixture->x, fixture->y, NULL, NULL, &error));
      g_assert_true (apr_cross_products_set_identity (states[i], identities[i], &error));
    }
  good = apr_folds_new_from_cross_products (states, 3, &error);
  g_assert_no_error (error);
  assert_fails (apr_folds_new_from_cross_products (states, 4, &failure), APR_ERROR_RANGE,
                "Fold 3 (counted from 0): The samples of “a” are in another fold too");
  g_assert_true (apr_cross_products_merge (states[2], states[1], &error));
  assert_fails (apr_folds_new_from_cross_products (states, 3, &failure), APR_ERROR_RANGE,
                "Fold 2 (counted from 0): The samples of “a” are in another fold too");
  for (i = 0; i < 4; i++)
    g_object_unref (states[i]);

  g_test_summary ("Identities change no score, and the states keep them.");
  expected = validate_states (fixture->model, 20, FALSE);
  scores = validate_states (fixture->model, 20, TRUE);
  g_assert_true (apr_tensor_equal (scores, expected));
}

static void
test_no_folds (Fixture *fixture, gconstpointer data)
{
  const double alike[N_ROWS] = { 0 };
  const double outside[] = { -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1 };
  const double broken[] = { 0, 1, 1.5, 0, 0, 0, 0, 0, 0, 0, 0 };
  g_autoptr (AprTensor) alike_labels = vector_new (N_ROWS, alike);
  g_autoptr (AprTensor) outside_labels = vector_new (N_ROWS, outside);
  g_autoptr (AprTensor) broken_labels = vector_new (N_ROWS, broken);
  g_autoptr (AprTensor) few_labels = vector_new (3, broken);
  AprTensor *x = fixture->x;
  AprTensor *y = fixture->y;
  g_autoptr (AprCrossProducts) empty = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) full = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) wide = apr_cross_products_new (2, 2, NULL);
  AprCrossProducts *states[] = { full, empty };
  AprCrossProducts *others[] = { full, wide };
  g_autoptr (AprFolds) none = g_object_new (APR_TYPE_FOLDS, NULL);

  assert_fails (apr_folds_new (x, y, NULL, 1, &failure), APR_ERROR_RANGE, "11 samples into 1 folds");
  assert_fails (apr_folds_new (x, y, NULL, 0, &failure), APR_ERROR_RANGE, "into 0 folds");
  assert_fails (apr_folds_new (x, y, NULL, 12, &failure), APR_ERROR_RANGE, "11 samples into 12 folds");
  assert_fails (apr_folds_new_shuffled (x, y, NULL, G_MAXSIZE, 1, &failure), APR_ERROR_RANGE, "11 samples");
  assert_fails (apr_folds_new (y, x, NULL, 3, &failure), APR_ERROR_SHAPE, "X");
  assert_fails (apr_folds_new_from_labels (x, y, NULL, alike_labels, &failure), APR_ERROR_EMPTY,
                "in one fold");
  assert_fails (apr_folds_new_from_labels (x, y, NULL, outside_labels, &failure), APR_ERROR_EMPTY, "no fold");
  assert_fails (apr_folds_new_from_labels (x, y, NULL, broken_labels, &failure), APR_ERROR_RANGE,
                "labels has the label 1.5 at row 2");
  assert_fails (apr_folds_new_from_labels (x, y, NULL, few_labels, &failure), APR_ERROR_SHAPE,
                "labels has 3");
  assert_fails (apr_folds_new_from_labels (x, y, NULL, x, &failure), APR_ERROR_SHAPE,
                "labels must have the shape");

  g_assert_true (apr_cross_products_update (full, x, y, NULL, NULL, NULL));
  assert_fails (apr_folds_new_from_cross_products (states, 1, &failure), APR_ERROR_EMPTY, "2 folds");
  assert_fails (apr_folds_new_from_cross_products (NULL, 0, &failure), APR_ERROR_EMPTY, "of 0");
  assert_fails (apr_folds_new_from_cross_products (states, 2, &failure), APR_ERROR_EMPTY, "Fold 1");
  states[1] = NULL;
  assert_fails (apr_folds_new_from_cross_products (states, 2, &failure), APR_ERROR_EMPTY, "NULL");
  g_assert_true (apr_cross_products_update (wide, x, x, NULL, NULL, NULL));
  assert_fails (apr_folds_new_from_cross_products (others, 2, &failure), APR_ERROR_SHAPE, "Fold 1");

  assert_fails (apr_estimator_cross_validate (fixture->model, none, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_EMPTY, "0 folds");
  g_assert_null (apr_folds_get_labels (none));
}

static void
test_bad_samples (Fixture *fixture, gconstpointer data)
{
  static const double labels[] = { 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0 };
  double values[2 * N_ROWS];
  double weights[N_ROWS] = { 1, 1, -3, 1, 1, 1, 1, 1, 1, 1, 1 };
  const double light[] = { 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0 };
  const double single[] = { 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
  g_autoptr (AprTensor) broken = NULL;
  g_autoptr (AprTensor) negative = vector_new (N_ROWS, weights);
  g_autoptr (AprTensor) light_weights = vector_new (N_ROWS, light);
  g_autoptr (AprTensor) single_weight = vector_new (N_ROWS, single);
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprFolds) weighted = NULL;
  g_autoptr (AprFolds) light_folds = NULL;
  g_autoptr (AprFolds) single_folds = NULL;

  memcpy (values, sample_x, sizeof values);
  values[2 * 7] = NAN;
  broken = matrix_new (N_ROWS, 2, values);
  folds = folds_with_labels (broken, fixture->y, NULL, N_ROWS, labels);
  g_test_summary ("Rows are those of X, not of a fold.");
  assert_fails (apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_NOT_FINITE, "row 7");
  weighted = folds_with_labels (fixture->x, fixture->y, negative, N_ROWS, labels);
  assert_fails (apr_estimator_cross_validate (fixture->model, weighted, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_WEIGHTS, "row 2");
  assert_fails (apr_estimator_cross_predict (fixture->model, weighted, NULL, &failure), APR_ERROR_WEIGHTS,
                "-3");

  light_folds = folds_with_labels (fixture->x, fixture->y, light_weights, N_ROWS, labels);
  assert_fails (apr_estimator_cross_validate (fixture->model, light_folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_WEIGHTS,
                "Fold 0 (counted from 0): sample_weight has no value above zero for the samples of the fold");
  single_folds = folds_with_labels (fixture->x, fixture->y, single_weight, N_ROWS, labels);
  assert_fails (apr_estimator_cross_validate (fixture->model, single_folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_WEIGHTS,
                "Fold 0 (counted from 0): sample_weight has no value above zero for the samples outside");
}

static void
test_one_left_out (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprFolds) folds = folds_new (fixture, N_ROWS);
  g_autoptr (AprTensor) shares = validate (fixture->model, folds, APR_METRIC_R2);
  g_autoptr (AprTensor) squares = validate (fixture->model, folds, APR_METRIC_MEAN_SQUARED_ERROR);
  g_autoptr (AprTensor) predictions = apr_estimator_cross_predict (fixture->model, folds, NULL, NULL);
  gsize i;

  for (i = 0; i < N_ROWS; i++)
    {
      double error = element (predictions, i) - sample_y[i];

      g_assert_true (isnan (element (shares, i)));
      g_assert_cmpfloat_with_epsilon (element (squares, i), error * error, 1e-12 * error * error);
    }
}

/* Errors whose squares no double can hold, but their mean's root. */
static void
test_extreme_errors (void)
{
  const double x_values[] = { 0, 1, 2, 3 };
  const double y_values[] = { 1e300, -1e300, -1e300, 1e300 };
  const double tiny[] = { 1e-300, -1e-300, -1e-300, 1e-300 };
  const double labels[] = { -1, -1, 0, 0 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprTensor) small = vector_new (4, tiny);
  g_autoptr (AprFolds) folds = folds_with_labels (x, y, NULL, 4, labels);
  g_autoptr (AprFolds) small_folds = folds_with_labels (x, small, NULL, 4, labels);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) square = validate (model, folds, APR_METRIC_MEAN_SQUARED_ERROR);
  g_autoptr (AprTensor) root = validate (model, folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR);
  g_autoptr (AprTensor) small_root = validate (model, small_folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR);
  g_autoptr (AprTensor) share = validate (model, folds, APR_METRIC_R2);

  /* The line 1e300 (1 - 2 x) is wrong by 2e300 at 2, and by 6e300 at 3: the root of 20. */
  g_assert_true (isinf (element (square, 0)));
  g_assert_cmpfloat_with_epsilon (element (root, 0), 4.47213595499958e300, 1e286);
  g_assert_cmpfloat_with_epsilon (element (small_root, 0), 4.47213595499958e-300, 1e-314);
  g_assert_cmpfloat (element (share, 0), ==, -19);
}

static void
test_async (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprFolds) folds = folds_new (fixture, 3);
  g_autoptr (AprTensor) expected = validate (fixture->model, folds, APR_METRIC_MEDIAN_ABSOLUTE_ERROR);
  g_autoptr (AprTensor) predicted = apr_estimator_cross_predict (fixture->model, folds, NULL, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autoptr (GAsyncResult) third = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) none = NULL;
  g_autoptr (GError) error = NULL;

  apr_estimator_cross_validate_async (fixture->model, folds, APR_METRIC_MEDIAN_ABSOLUTE_ERROR,
                                      G_PRIORITY_DEFAULT, NULL, on_ready, &first);
  g_assert_true (apr_estimator_get_busy (fixture->model));
  /* What is set now is for the next call. */
  apr_linear_regression_set_alpha (APR_LINEAR_REGRESSION (fixture->model), 1e9);
  none = apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  scores = apr_estimator_cross_validate_finish (fixture->model, wait_for (&first), &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (scores, expected));
  g_assert_false (apr_estimator_get_busy (fixture->model));

  apr_linear_regression_set_alpha (APR_LINEAR_REGRESSION (fixture->model), 0);
  apr_estimator_cross_predict_async (fixture->model, folds, G_PRIORITY_DEFAULT, NULL, on_ready, &second);
  predictions = apr_estimator_cross_predict_finish (fixture->model, wait_for (&second), &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (predictions, predicted));

  g_cancellable_cancel (cancellable);
  apr_estimator_cross_predict_async (fixture->model, folds, G_PRIORITY_DEFAULT, cancellable, on_ready,
                                     &third);
  g_assert_null (apr_estimator_cross_predict_finish (fixture->model, wait_for (&third), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
progress_cb (AprEstimator *model, GParamSpec *pspec, double *done)
{
  double progress = apr_estimator_get_progress (model);

  g_assert_cmpfloat (progress, <=, 1);
  if (progress != 0)
    g_assert_cmpfloat (progress, >, *done);
  *done = progress;
}

static void
cancel_cb (AprEstimator *model, GParamSpec *pspec, GCancellable *cancellable)
{
  if (apr_estimator_get_progress (model) > 0)
    g_cancellable_cancel (cancellable);
}

static void
test_progress (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprFolds) folds = folds_new (fixture, 5);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) none = NULL;
  g_autoptr (GError) error = NULL;
  double done = 0;

  apr_linear_regression_set_n_threads (APR_LINEAR_REGRESSION (fixture->model), 1);
  g_signal_connect (fixture->model, "notify::progress", G_CALLBACK (progress_cb), &done);
  scores = validate (fixture->model, folds, APR_METRIC_R2);
  g_assert_cmpfloat (done, ==, 1);

  g_signal_connect (fixture->model, "notify::progress", G_CALLBACK (cancel_cb), cancellable);
  none = apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, cancellable, &error);
  g_assert_null (none);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/folds/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("scikit-learn", test_scikit_learn);
  ADD ("labels", test_labels);
  ADD ("options", test_options);
  ADD ("cross-products", test_cross_products);
  ADD ("identities", test_identities);
  ADD ("no-folds", test_no_folds);
  ADD ("bad-samples", test_bad_samples);
  ADD ("one-left-out", test_one_left_out);
  g_test_add_func ("/folds/extreme-errors", test_extreme_errors);
  ADD ("async", test_async);
  ADD ("progress", test_progress);

  return g_test_run ();
}
