/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folds-test.h"
#include "tests/waiting.h"

#include <math.h>

/* Cross-validation beside fits to the samples one by one, of linear regressions and of another class. */

/* Random samples, whose label is that of a fold from -1 to 3. */
typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprTensor *weights; /* (nullable) */
  double *labels;
  gsize n;
} Samples;

static void
samples_clear (Samples *self)
{
  apr_tensor_unref (self->x);
  apr_tensor_unref (self->y);
  g_clear_pointer (&self->weights, apr_tensor_unref);
  g_free (self->labels);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Samples, samples_clear)

static Samples
samples_new (GRand *rand,
             gsize n,
             gsize n_features,
             gsize n_targets,
             AprDType dtype,
             gboolean in_order,
             gboolean weighted)
{
  g_autofree double *x = g_new (double, n *n_features);
  g_autofree double *y = g_new (double, n *MAX (n_targets, 1));
  g_autofree double *weights = g_new (double, n);
  double *labels = g_new (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n * n_features; i++)
    x[i] = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -3, 4));
  for (i = 0; i < n * MAX (n_targets, 1); i++)
    y[i] = x[i % (n * n_features)] + g_rand_double (rand);
  for (i = 0; i < n; i++)
    {
      weights[i] = g_rand_int_range (rand, 0, 4) * 0.3;
      labels[i] = in_order ? (double) (i * 5 / n) - 1 : (double) g_rand_int_range (rand, -1, 4);
    }
  doubles = matrix_new (n, n_features, x);

  return (Samples){ .x = apr_tensor_cast (doubles, dtype, &error),
                    .y = n_targets > 0 ? matrix_new (n, n_targets, y) : vector_new (n, y),
                    .weights = weighted ? vector_new (n, weights) : NULL,
                    .labels = labels,
                    .n = n };
}

/* What cross-validation finds, found by fits to the samples one after the other. */
static void
assert_as_fitted (AprEstimator *model, AprFolds *folds, const Samples *samples)
{
  AprTensor *labels = apr_folds_get_labels (folds);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;
  AprMetric metric;
  gsize fold;

  predictions = apr_estimator_cross_predict (model, folds, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (predictions, NULL)[0], ==, samples->n);

  for (metric = APR_METRIC_R2; metric <= APR_METRIC_MAX_ERROR; metric++)
    {
      g_autoptr (AprTensor) scores = validate (model, folds, metric);

      for (fold = 0; fold < 4; fold++)
        {
          double label = (double) fold;
          g_autoptr (AprTensor) x = rows_with (samples->x, labels, label, TRUE);
          g_autoptr (AprTensor) y = rows_with (samples->y, labels, label, TRUE);
          g_autoptr (AprTensor) weights =
            samples->weights != NULL ? rows_with (samples->weights, labels, label, TRUE) : NULL;
          g_autoptr (AprTensor) fold_x = rows_with (samples->x, labels, label, FALSE);
          g_autoptr (AprTensor) fold_y = rows_with (samples->y, labels, label, FALSE);
          g_autoptr (AprTensor) fold_weights =
            samples->weights != NULL ? rows_with (samples->weights, labels, label, FALSE) : NULL;
          g_autoptr (AprTensor) own = rows_with (predictions, labels, label, FALSE);
          g_autoptr (AprEstimator) fitted = apr_estimator_clone (model);
          g_autoptr (AprTensor) expected = NULL;
          g_autoptr (AprTensor) score = NULL;

          g_assert_true (apr_estimator_fit (fitted, x, y, weights, NULL, &error));
          expected = apr_estimator_predict (fitted, fold_x, &error);
          g_assert_no_error (error);
          g_assert_true (apr_tensor_equal (own, expected));

          score = apr_compute_metric (metric, APR_MULTIOUTPUT_UNIFORM_AVERAGE, fold_y, expected, fold_weights,
                                      &error);
          g_assert_no_error (error);
          /* Predictions of the dtype F32 are rounded to it on the way to the metric, but not in sums. */
          g_assert_cmpfloat_with_epsilon (element (scores, fold), element (score, 0),
                                          (apr_tensor_get_dtype (expected) == APR_DTYPE_F32 ? 1e-6 : 1e-13) *
                                            (1 + fabs (element (score, 0))));
        }
    }

  for (fold = 0; fold < samples->n; fold++)
    g_assert_cmpint (
      isnan (element (predictions, fold * apr_tensor_get_n_elements (predictions) / samples->n)), ==,
      samples->labels[fold] < 0);
}

static void
test_laws (void)
{
  static const struct
  {
    gsize n;
    gsize n_features;
    gsize n_targets;
    AprDType dtype;
    gboolean in_order;
    gboolean weighted;
  } cases[] = {
    { 60, 3, 0, APR_DTYPE_F64, TRUE, FALSE },   { 60, 3, 0, APR_DTYPE_F64, FALSE, TRUE },
    { 500, 5, 2, APR_DTYPE_F32, FALSE, FALSE }, { 500, 5, 1, APR_DTYPE_F32, TRUE, TRUE },
    { 300, 50, 3, APR_DTYPE_F64, FALSE, TRUE }, { 25, 60, 0, APR_DTYPE_F64, FALSE, FALSE },
    { 30, 1100, 0, APR_DTYPE_F64, TRUE, TRUE }, { 40, 4, 0, APR_DTYPE_BF16, FALSE, FALSE },
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Samples) samples = samples_new (rand, cases[i].n, cases[i].n_features, cases[i].n_targets,
                                              cases[i].dtype, cases[i].in_order, cases[i].weighted);
      g_autoptr (AprFolds) folds =
        folds_with_labels (samples.x, samples.y, samples.weights, samples.n, samples.labels);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

      g_test_message ("%zu samples of %zu features", cases[i].n, cases[i].n_features);
      g_assert_cmpuint (apr_folds_get_n_folds (folds), ==, 4);
      assert_as_fitted (APR_ESTIMATOR (model), folds, &samples);
      apr_linear_regression_set_alpha (model, 0.5);
      apr_linear_regression_set_fit_intercept (model, FALSE);
      assert_as_fitted (APR_ESTIMATOR (model), folds, &samples);
      if (cases[i].n_features < 10)
        {
          apr_linear_regression_set_positive (model, TRUE);
          assert_as_fitted (APR_ESTIMATOR (model), folds, &samples);
        }
    }
}

static void
test_penalties_of_targets (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);
  g_auto (Samples) samples = samples_new (rand, 80, 4, 2, APR_DTYPE_F64, FALSE, FALSE);
  g_autoptr (AprFolds) folds = folds_with_labels (samples.x, samples.y, NULL, samples.n, samples.labels);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  const double values[] = { 0.25, 4 };
  g_autoptr (AprTensor) alphas = vector_new (2, values);

  apr_linear_regression_set_alphas (model, alphas);
  assert_as_fitted (APR_ESTIMATOR (model), folds, &samples);
}

/* A model that predicts the mean of y, as a class that is no linear regression. */

G_DECLARE_FINAL_TYPE (Mean, mean, TEST, MEAN, AprEstimator)

struct _Mean
{
  AprEstimator parent_instance;
};

G_DEFINE_FINAL_TYPE (Mean, mean, APR_TYPE_ESTIMATOR)

static GThread *fitting_thread;
static const char *refusal; /* (nullable) of a NaN in y */
static GString *fitted_to;  /* the first feature of each sample, in order */

static gboolean
mean_fit (AprEstimator *self,
          AprTensor *x,
          AprTensor *y,
          AprTensor *sample_weight,
          GCancellable *cancellable,
          GError **error)
{
  g_autoptr (AprTensor) result = NULL;
  gsize n = apr_tensor_get_n_elements (y);
  double sum = 0;
  double weights = 0;
  gsize i;

  fitting_thread = g_thread_self ();
  for (i = 0; i < n; i++)
    {
      double weight = sample_weight != NULL ? element (sample_weight, i) : 1;

      g_string_append_printf (fitted_to, "%g ", element (x, 2 * i));
      sum += weight * element (y, i);
      weights += weight;
    }
  g_string_append (fitted_to, "; ");
  if (isnan (sum) && refusal != NULL)
    {
      g_set_error_literal (error, APR_ERROR, APR_ERROR_NOT_FINITE, refusal);
      return FALSE;
    }
  if (sum == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "The sum is 0");
      return FALSE;
    }
  sum /= weights;
  result = vector_new (1, &sum);

  return apr_estimator_set_result (self, "mean", result, error);
}

static AprTensor *
mean_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  g_autoptr (AprTensor) result = apr_estimator_get_result (self, "mean", error);
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  g_autofree double *values = g_new (double, n);
  gsize i;

  for (i = 0; result != NULL && i < n; i++)
    values[i] = element (result, 0);

  return result != NULL ? vector_new (n, values) : NULL;
}

static void
mean_class_init (MeanClass *klass)
{
  APR_ESTIMATOR_CLASS (klass)->fit = mean_fit;
  APR_ESTIMATOR_CLASS (klass)->predict = mean_predict;
}

static void
mean_init (Mean *self)
{
}

static void
test_other_models (Fixture *fixture, gconstpointer data)
{
  static const double labels[] = { 1, 0, 1, -1, 0, 0, -1, 1, -1, -1, 0 };
  static const double weights[] = { 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 1 };
  const double nothing[N_ROWS] = { 0 };
  double broken_y[N_ROWS] = { 1, 2 };
  g_autoptr (AprTensor) broken = NULL;
  g_autoptr (AprFolds) broken_folds = NULL;
  g_autoptr (AprTensor) weight = vector_new (N_ROWS, weights);
  g_autoptr (AprTensor) zeros = vector_new (N_ROWS, nothing);
  g_autoptr (AprFolds) folds = folds_with_labels (fixture->x, fixture->y, weight, N_ROWS, labels);
  g_autoptr (AprFolds) failing = folds_with_labels (fixture->x, zeros, NULL, N_ROWS, labels);
  g_autoptr (AprEstimator) model = g_object_new (mean_get_type (), NULL);
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (AprTensor) later = NULL;
  g_autoptr (AprFolds) summed = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  AprCrossProducts *states[] = { state, state };
  g_autoptr (GError) error = NULL;
  gsize i;

  fitted_to = g_string_new (NULL);
  scores = validate (model, folds, APR_METRIC_MEAN_ABSOLUTE_ERROR);
  /* By hand: outside fold 0 y is 3, 4, 1, 2, 6, 5 and, of weight 0, 3; outside fold 1 twice 1, and 1, 5, 9, 2, 5, 5. */
  g_assert_cmpfloat_with_epsilon (element (scores, 0), (2 * 2.5 + 1.5 + 5.5 + 1.5) / 5, 1e-15);
  g_assert_cmpfloat_with_epsilon (element (scores, 1), (0.625 + 0.375 + 2.375) / 3, 1e-15);
  g_assert_cmpstr (fitted_to->str, ==, "1 3 4 7 8 9 10 ; 2 4 5 6 7 9 10 11 ; ");

  predictions = apr_estimator_cross_predict (model, folds, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < N_ROWS; i++)
    if (labels[i] < 0)
      g_assert_true (isnan (element (predictions, i)));
    else
      g_assert_cmpfloat (element (predictions, i), ==, labels[i] == 0 ? 3.5 : 29.0 / 8);

  g_test_summary ("A function of a script is called in the caller's thread.");
  fitting_thread = NULL;
  apr_estimator_cross_validate_async (model, folds, APR_METRIC_MEAN_ABSOLUTE_ERROR, G_PRIORITY_DEFAULT, NULL,
                                      on_ready, &result);
  g_assert_null (fitting_thread);
  later = apr_estimator_cross_validate_finish (model, wait_for (&result), &error);
  g_assert_no_error (error);
  g_assert_true (fitting_thread == g_thread_self ());
  g_assert_true (apr_tensor_equal (later, scores));

  assert_fails (apr_estimator_cross_validate (model, failing, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_FAILED, "Fold 0 (counted from 0): The sum is 0");
  g_test_summary ("Rows are those of y, not of a fold.");
  broken_y[8] = NAN;
  broken = vector_new (N_ROWS, broken_y);
  broken_folds = folds_with_labels (fixture->x, broken, NULL, N_ROWS, labels);
  assert_fails (apr_estimator_cross_validate (model, broken_folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_NOT_FINITE, "y has a NaN at row 8");
  g_assert_true (apr_cross_products_update (state, fixture->x, fixture->y, NULL, NULL, &error));
  summed = apr_folds_new_from_cross_products (states, 2, &error);
  g_assert_no_error (error);
  assert_fails (apr_estimator_cross_validate (model, summed, APR_METRIC_R2, NULL, &failure), APR_ERROR_STATE,
                "Mean needs the samples");
  g_string_free (g_steal_pointer (&fitted_to), TRUE);
}

/* A class that takes NaN in X, and not in y: the error is about y. */
static void
test_not_finite (Fixture *fixture, gconstpointer data)
{
  static const double labels[] = { 1, 0, 1, -1, 0, 0, -1, 1, -1, -1, 0 };
  double x_values[2 * N_ROWS];
  double y_values[N_ROWS];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (AprEstimator) model = g_object_new (mean_get_type (), NULL);

  memcpy (x_values, sample_x, sizeof x_values);
  memcpy (y_values, sample_y, sizeof y_values);
  x_values[2 * 1] = NAN;
  y_values[8] = NAN;
  x = matrix_new (N_ROWS, 2, x_values);
  y = vector_new (N_ROWS, y_values);
  folds = folds_with_labels (x, y, NULL, N_ROWS, labels);
  fitted_to = g_string_new (NULL);

  g_test_summary ("A row of a copy is told as that of the samples.");
  refusal = "y has a NaN at row 5 (counted from 0)";
  assert_fails (apr_estimator_cross_validate (model, folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_NOT_FINITE, "y has a NaN at row 8 (counted from 0)");
  refusal = "A target is unknown";
  assert_fails (apr_estimator_cross_predict (model, folds, NULL, &failure), APR_ERROR_NOT_FINITE,
                "Fold 0 (counted from 0): A target is unknown");
  refusal = "y has an infinity at row 5 (counted from 0)";
  assert_fails (apr_estimator_cross_predict (model, folds, NULL, &failure), APR_ERROR_NOT_FINITE,
                "y has a NaN at row 8 (counted from 0)");

  g_test_summary ("What the predictions come from is not known.");
  refusal = NULL;
  assert_fails (apr_estimator_cross_validate (model, folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_NOT_FINITE, "X has a NaN at row 1, column 0");

  g_test_summary ("The metric refuses the targets of a fold.");
  g_clear_object (&folds);
  g_clear_pointer (&y, apr_tensor_unref);
  y_values[8] = 1;
  y_values[10] = NAN;
  y = vector_new (N_ROWS, y_values);
  folds = folds_with_labels (x, y, NULL, N_ROWS, labels);
  assert_fails (apr_estimator_cross_validate (model, folds, APR_METRIC_R2, NULL, &failure),
                APR_ERROR_NOT_FINITE, "y has a NaN at row 10");
  g_string_free (g_steal_pointer (&fitted_to), TRUE);
}

/* Those that no double holds, too. */
static void
test_labels_in_errors (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    AprDType dtype;
    guint64 label;
    const char *expected;
  } cases[] = {
    { APR_DTYPE_I64, ((guint64) 1 << 62) + 1, "Fold 2 (counted from 0), label 4611686018427387905: " },
    { APR_DTYPE_I64, ((guint64) 1 << 53) + 1, "Fold 2 (counted from 0), label 9007199254740993: " },
    { APR_DTYPE_I64, 1500000, "Fold 2 (counted from 0), label 1500000: " },
    { APR_DTYPE_I64, 2, "Fold 2 (counted from 0): " },
    { APR_DTYPE_U64, G_MAXUINT64, "Fold 2 (counted from 0), label 18446744073709551615: " },
  };
  static const double weights[N_ROWS] = { 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0 };
  g_autoptr (AprTensor) weight = vector_new (N_ROWS, weights);
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 values[N_ROWS];
      gsize n = N_ROWS;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprTensor) labels = NULL;
      g_autoptr (AprFolds) folds = NULL;
      g_autoptr (GError) error = NULL;

      for (j = 0; j < n; j++)
        values[j] = GUINT64_TO_LE (j < 8 ? j / 4 : cases[i].label);
      bytes = g_bytes_new (values, sizeof values);
      labels = apr_tensor_new_from_bytes (cases[i].dtype, &n, 1, bytes, &error);
      folds = apr_folds_new_from_labels (fixture->x, fixture->y, weight, labels, &error);
      g_assert_no_error (error);
      assert_fails (apr_estimator_cross_validate (fixture->model, folds, APR_METRIC_R2, NULL, &failure),
                    APR_ERROR_WEIGHTS, cases[i].expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cross-validation/laws", test_laws);
  g_test_add_func ("/cross-validation/penalties-of-targets", test_penalties_of_targets);
  g_test_add ("/cross-validation/other-models", Fixture, NULL, set_up, test_other_models, tear_down);
  g_test_add ("/cross-validation/not-finite", Fixture, NULL, set_up, test_not_finite, tear_down);
  g_test_add ("/cross-validation/labels-in-errors", Fixture, NULL, set_up, test_labels_in_errors, tear_down);

  return g_test_run ();
}
