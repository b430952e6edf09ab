/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folds-test.h"

#include <fenv.h>
#include <math.h>

/* Scores where they are hard to get right: small errors, great ones, weights of 0, many folds, and rounding. */

static AprFolds *
with_labels (
  gsize n, gsize n_features, const double *x, const double *y, const double *weights, const double *labels)
{
  g_autoptr (AprTensor) x_tensor = matrix_new (n, n_features, x);
  g_autoptr (AprTensor) y_tensor = vector_new (n, y);
  g_autoptr (AprTensor) weight = weights != NULL ? vector_new (n, weights) : NULL;

  return folds_with_labels (x_tensor, y_tensor, weight, n, labels);
}

/* Samples of a line that are 1e-7 beside it, in units of which the sums of squares have 15 digits less. */
static void
test_rounded_sums (void)
{
  enum
  {
    N = 500
  };
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprTensor) roots = NULL;
  g_autoptr (AprTensor) errors = NULL;
  double x[N];
  double y[N];
  double labels[N];
  gsize i;

  for (i = 0; i < N; i++)
    {
      x[i] = (double) i;
      y[i] = 3 * x[i] + (i % 3 == 0 ? 1e-7 : -1e-7);
      labels[i] = (double) (i % 5);
    }
  folds = with_labels (N, 1, x, y, NULL, labels);
  apr_linear_regression_set_precision (model, APR_PRECISION_DOUBLE);
  roots = validate (model, folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR);
  errors = validate (model, folds, APR_METRIC_MEAN_ABSOLUTE_ERROR);
  for (i = 0; i < 5; i++)
    {
      g_assert_cmpfloat (element (roots, i), >=, element (errors, i));
      g_assert_cmpfloat_with_epsilon (element (roots, i), 1e-7, 2e-8);
    }
}

/* Samples of a plane, so far from 0 that the squares have more digits than sums of the precision DOUBLE keep: what is
 * left of the squares of the residuals may be anything near 0. */
static void
test_bounds_of_rounded_sums (void)
{
  enum
  {
    N = 300,
    N_FOLDS = 3
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (35);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gsize round;

  for (round = 0; round < 40; round++)
    {
      gsize n_features = 1 + round % 3;
      double offset = pow (10, (double) (round % 7));
      AprCrossProducts *states[N_FOLDS];
      g_autoptr (AprFolds) folds = NULL;
      g_autoptr (GError) error = NULL;
      AprMetric metric;
      gsize i;
      gsize j;

      for (i = 0; i < N_FOLDS; i++)
        {
          double x[3 * N];
          double y[N];
          g_autoptr (AprTensor) x_tensor = NULL;
          g_autoptr (AprTensor) y_tensor = NULL;

          for (j = 0; j < N; j++)
            y[j] = 0.3;
          for (j = 0; j < N * n_features; j++)
            {
              x[j] = offset + g_rand_double (rand);
              y[j / n_features] += 0.1 * x[j];
            }
          x_tensor = matrix_new (N, n_features, x);
          y_tensor = vector_new (N, y);
          states[i] = g_object_new (APR_TYPE_CROSS_PRODUCTS, "n-features", (guint64) n_features, "n-targets",
                                    (guint64) 1, "precision", APR_PRECISION_DOUBLE, NULL);
          g_assert_true (apr_cross_products_update (states[i], x_tensor, y_tensor, NULL, NULL, &error));
        }
      folds = apr_folds_new_from_cross_products (states, N_FOLDS, &error);
      g_assert_no_error (error);

      for (metric = APR_METRIC_R2; metric <= APR_METRIC_ROOT_MEAN_SQUARED_ERROR; metric++)
        {
          g_autoptr (AprTensor) scores = validate (model, folds, metric);
          gboolean is_share = metric == APR_METRIC_R2 || metric == APR_METRIC_EXPLAINED_VARIANCE;

          for (i = 0; i < N_FOLDS; i++)
            g_assert_true (is_share ? element (scores, i) <= 1 : element (scores, i) >= 0);
        }
      g_assert_true (apr_linear_regression_fit_cross_products (model, states[0], NULL, &error));
      for (i = 0; i < N_FOLDS; i++)
        {
          g_autoptr (AprTensor) score = apr_linear_regression_score_cross_products (model, states[i], &error);

          g_assert_no_error (error);
          g_assert_cmpfloat (element (score, 0), <=, 1);
          g_object_unref (states[i]);
        }
    }
}

/* The line y = x, and samples of a fold that are whole numbers beside it. */
static void
test_rounded_once (void)
{
  /* Whole errors for which the root of the rounded mean of squares is not the nearest double, and that, by Python's
   * fractions. */
  static const struct
  {
    gsize n;
    double errors[7];
    double root;
  } cases[] = {
    { 3, { 583, 868, 822 }, 767.8969114840004 },
    { 7, { 457, 273, 739, 822, 235, 606, 968 }, 639.717348298673 },
    { 3, { 924, 326, 32 }, 566.0023557077008 },
    { 7, { 513, 959, 991, 433, 520, 850, 933 }, 776.0531093755302 },
    { 5, { 973, 58, 493, 891, 374 }, 652.2114687737406 },
    { 5, { 425, 355, 2, 552, 554 }, 428.5496470655413 },
  };
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      double x[9] = { 0, 1 };
      double y[9] = { 0, 1 };
      double labels[9] = { -1, -1 };
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprFolds) folds = NULL;
      g_autoptr (AprTensor) root = NULL;

      for (j = 0; j < cases[i].n; j++)
        {
          x[j + 2] = (double) j;
          y[j + 2] = (double) j + cases[i].errors[j];
        }
      folds = with_labels (cases[i].n + 2, 1, x, y, NULL, labels);
      root = validate (model, folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR);
      g_assert_cmpfloat (element (root, 0), ==, cases[i].root);
    }
}

static void
test_weights_of_zero (Fixture *fixture, gconstpointer data)
{
  static const double labels[] = { 0, 0, 1, 1, 1, 1, -1, -1, -1, -1, -1 };
  static const double weights[] = { 1, 0, 0, 2, 0, 0, 1, 1, 1, 1, 1 };
  static const double single[] = { 0, -1, 1, 1, 1, 1, -1, -1, -1, -1, -1 };
  g_autoptr (AprTensor) weight = vector_new (N_ROWS, weights);
  g_autoptr (AprFolds) folds = folds_with_labels (fixture->x, fixture->y, weight, N_ROWS, labels);
  g_autoptr (AprFolds) others = folds_with_labels (fixture->x, fixture->y, NULL, N_ROWS, single);
  g_autoptr (AprTensor) scores = validate (fixture->model, folds, APR_METRIC_R2);
  g_autoptr (AprTensor) of_single = validate (fixture->model, others, APR_METRIC_R2);

  /* As score () and scikit-learn have it: the targets do not vary, and are not predicted. */
  g_assert_cmpfloat (element (scores, 0), ==, 0);
  g_assert_cmpfloat (element (scores, 1), ==, 0);
  g_assert_true (isnan (element (of_single, 0)));
  g_assert_false (isnan (element (of_single, 1)));
}

/* States of one sample are put together before they are added up. */
static void
test_many_folds (void)
{
  enum
  {
    N = 150,
    N_FEATURES = 40
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (33);
  g_autofree double *x = g_new (double, N *N_FEATURES);
  double y[N];
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < N * N_FEATURES; i++)
    x[i] = g_rand_double (rand);
  for (i = 0; i < N; i++)
    y[i] = g_rand_double (rand);
  x_tensor = matrix_new (N, N_FEATURES, x);
  y_tensor = vector_new (N, y);
  folds = apr_folds_new (x_tensor, y_tensor, NULL, N, &error);
  g_assert_no_error (error);
  predictions = apr_estimator_cross_predict (APR_ESTIMATOR (model), folds, NULL, &error);
  g_assert_no_error (error);

  for (i = 0; i < N; i += 49)
    {
      double weights[N];
      gsize j;
      g_autoptr (AprTensor) weight = NULL;
      g_autoptr (AprTensor) row = apr_tensor_slice_rows (x_tensor, i, i + 1, NULL);
      g_autoptr (AprTensor) prediction = NULL;

      for (j = 0; j < N; j++)
        weights[j] = j != i;
      weight = vector_new (N, weights);
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x_tensor, y_tensor, weight, NULL, &error));
      prediction = apr_estimator_predict (APR_ESTIMATOR (model), row, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (element (predictions, i), ==, element (prediction, 0));
    }
}

/* Samples of a fold that are predicted for in several pieces. */
static void
test_large_fold (void)
{
  const gsize n = runs_slowly () ? 30000 : 4500000;
  g_autofree double *x = g_new (double, n);
  g_autofree double *labels = g_new (double, n);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      x[i] = (double) i;
      labels[i] = (double) (i % 2);
    }
  folds = with_labels (n, 1, x, x, NULL, labels);
  predictions = apr_estimator_cross_predict (APR_ESTIMATOR (model), folds, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < n; i++)
    if (element (predictions, i) != x[i])
      g_error ("%g is predicted for %g", element (predictions, i), x[i]);
}

/* Two targets whose errors are finite, and their mean, but not the sum. */
static void
test_great_errors (void)
{
  const double x_values[] = { 0, 1, 2, 3 };
  const double y_values[] = { 0, 0, 0, 0, 1e154, 1e154, 1e154, 1e154 };
  const double labels[] = { -1, -1, 0, 0 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, x_values);
  g_autoptr (AprTensor) y = matrix_new (4, 2, y_values);
  g_autoptr (AprFolds) folds = folds_with_labels (x, y, NULL, 4, labels);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) scores = validate (model, folds, APR_METRIC_MEAN_SQUARED_ERROR);
  g_autoptr (AprTensor) zeros = matrix_new (4, 2, (const double[8]){ 0 });
  g_autoptr (GError) error = NULL;

  g_assert_cmpfloat_with_epsilon (element (scores, 0), 1e308, 1e293);
  g_assert_cmpfloat_with_epsilon (apr_mean_squared_error (y, zeros, NULL, &error), 5e307, 1e292);
  g_assert_no_error (error);
}

static void
test_rounding_modes (void)
{
  static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  static const double labels[] = { 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1 };
  g_autoptr (AprTensor) x = matrix_new (N_ROWS, 2, sample_x);
  double y_values[3 * N_ROWS];
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  AprMetric metric;
  gsize i;

  for (i = 0; i < 3 * N_ROWS; i++)
    y_values[i] = sqrt ((double) (i * i % 7));
  y = matrix_new (N_ROWS, 3, y_values);
  folds = folds_with_labels (x, y, NULL, N_ROWS, labels);
  for (metric = APR_METRIC_R2; metric <= APR_METRIC_MAX_ERROR; metric++)
    {
      g_autoptr (AprTensor) expected = validate (model, folds, metric);

      for (i = 0; i < G_N_ELEMENTS (modes); i++)
        {
          g_autoptr (AprTensor) scores = NULL;

          if (fesetround (modes[i]) != 0)
            continue;
          scores = validate (model, folds, metric);
          g_assert_cmpint (fegetround (), ==, modes[i]);
          fesetround (FE_TONEAREST);
          g_assert_true (apr_tensor_equal (scores, expected));
        }
    }
}

static void
count_cb (AprEstimator *model, GParamSpec *pspec, guint *n_told)
{
  if (apr_estimator_get_progress (model) > 0)
    (*n_told)++;
}

/* The progress of a fit is that of its fold. */
static void
test_progress_of_fits (void)
{
  enum
  {
    N = 900,
    N_FEATURES = 150
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (34);
  g_autofree double *x = g_new (double, N *N_FEATURES);
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (GError) error = NULL;
  guint n_told = 0;
  gsize i;

  for (i = 0; i < N * N_FEATURES; i++)
    x[i] = g_rand_double (rand);
  x_tensor = matrix_new (N, N_FEATURES, x);
  y_tensor = vector_new (N, x);
  folds = apr_folds_new (x_tensor, y_tensor, NULL, 2, &error);
  apr_linear_regression_set_n_threads (model, 1);
  g_signal_connect (model, "notify::progress", G_CALLBACK (count_cb), &n_told);
  scores = validate (model, folds, APR_METRIC_R2);
  g_assert_cmpuint (n_told, >, 5);
}

typedef struct
{
  GCancellable *cancellable;
  guint n_left;
} Countdown;

static void
countdown_cb (AprEstimator *model, GParamSpec *pspec, Countdown *countdown)
{
  if (countdown->n_left-- == 0)
    g_cancellable_cancel (countdown->cancellable);
}

/* Wherever it is, also where sums of samples that are in no fold are added up: what is cancelled is no fold. */
static void
test_cancelled (void)
{
  enum
  {
    N = 1700
  };
  double values[N];
  double labels[N];
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gboolean ended = FALSE;
  guint n;

  for (n = 0; n < N; n++)
    {
      values[n] = sqrt (n);
      labels[n] = n % 34 - 30.0;
    }
  apr_linear_regression_set_n_threads (model, 1);
  for (n = 0; !ended; n++)
    {
      g_autoptr (AprFolds) folds = with_labels (N, 1, values, values, NULL, labels);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Countdown countdown = { cancellable, n };
      gulong id = g_signal_connect (model, "notify::progress", G_CALLBACK (countdown_cb), &countdown);
      g_autoptr (AprTensor) scores = NULL;
      g_autoptr (GError) error = NULL;

      scores =
        apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, APR_METRIC_R2, cancellable, &error);
      g_signal_handler_disconnect (model, id);
      ended = scores != NULL;
      if (ended)
        continue;
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpstr (error->message, ==, "Operation was cancelled");
    }
  g_assert_cmpuint (n, >, 40);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fold-scores/rounded-sums", test_rounded_sums);
  g_test_add_func ("/fold-scores/bounds-of-rounded-sums", test_bounds_of_rounded_sums);
  g_test_add_func ("/fold-scores/rounded-once", test_rounded_once);
  g_test_add ("/fold-scores/weights-of-zero", Fixture, NULL, set_up, test_weights_of_zero, tear_down);
  g_test_add_func ("/fold-scores/many-folds", test_many_folds);
  g_test_add_func ("/fold-scores/large-fold", test_large_fold);
  g_test_add_func ("/fold-scores/great-errors", test_great_errors);
  g_test_add_func ("/fold-scores/rounding-modes", test_rounding_modes);
  g_test_add_func ("/fold-scores/progress-of-fits", test_progress_of_fits);
  g_test_add_func ("/fold-scores/cancelled", test_cancelled);

  return g_test_run ();
}
