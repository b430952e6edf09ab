/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

static double
r2 (gsize n, const double *y_true, const double *y_pred, const double *weights)
{
  g_autoptr (AprTensor) a = vector_new (n, y_true);
  g_autoptr (AprTensor) b = vector_new (n, y_pred);
  g_autoptr (AprTensor) w = weights != NULL ? vector_new (n, weights) : NULL;
  g_autoptr (GError) error = NULL;
  double score = apr_r2_score (a, b, w, &error);

  g_assert_no_error (error);

  return score;
}

static void
test_r2 (void)
{
  /* scikit-learn 1.9.1: 0.9594665272 for these five. */
  const double y_true[] = { 3, -0.5, 2, 7, 4.2 };
  const double y_pred[] = { 2.5, 0, 2.1, 7.8, 3.9 };

  g_assert_cmpfloat_with_epsilon (r2 (5, y_true, y_pred, NULL), 1 - 1.24 / 30.592, 1e-15);
}

static void
test_r2_by_hand (void)
{
  const double y_true[] = { 1, 2, 3 };
  const double mean[] = { 2, 2, 2 };
  const double worse[] = { 3, 2, 1 };
  const double weights[] = { 1, 0, 1 };
  const double off[] = { 1, 100, 2 };

  assert_same_double (r2 (3, y_true, y_true, NULL), 1);
  assert_same_double (r2 (3, y_true, mean, NULL), 0);
  assert_same_double (r2 (3, y_true, worse, NULL), -3);
  assert_same_double (r2 (3, y_true, off, weights), 0.5);
}

static void
test_r2_of_a_constant (void)
{
  const double y_true[] = { 5, 5, 5 };
  const double y_pred[] = { 5, 5, 6 };

  assert_same_double (r2 (3, y_true, y_true, NULL), 1);
  assert_same_double (r2 (3, y_true, y_pred, NULL), 0);
}

/* One sample has no variance; [n] and [n, 1] are the same. */
static void
test_r2_of_one_sample (void)
{
  const double values[] = { 1, 2, 4 };
  g_autoptr (AprTensor) a = vector_new (3, values);
  g_autoptr (AprTensor) b = matrix_new (3, 1, values);

  g_assert_true (isnan (r2 (1, values, values, NULL)));
  g_assert_true (isnan (r2 (1, values, values + 1, NULL)));
  assert_same_double (apr_r2_score (a, b, NULL, NULL), 1);
  assert_same_double (apr_max_error (b, a, NULL), 0);
}

static void
test_r2_of_extremes (void)
{
  const double y_true[] = { 1e300, 2e300, 3e300 };
  const double off[] = { 1e300, 2e300, 2e300 };
  const double shifted[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
  const double shifted_off[] = { 1e9 + 1, 1e9 + 2, 1e9 + 2 };

  g_test_summary ("Neither the squares of great numbers nor a distance from zero may spoil it.");
  g_assert_cmpfloat_with_epsilon (r2 (3, y_true, off, NULL), 0.5, 1e-12);
  assert_same_double (r2 (3, shifted, shifted_off, NULL), 0.5);
}

static void
test_r2_of_several_targets (void)
{
  const double y_true[] = { 1, 10, 2, 20, 3, 30 };
  const double y_pred[] = { 1, 20, 2, 20, 3, 20 };
  g_autoptr (AprTensor) a = matrix_new (3, 2, y_true);
  g_autoptr (AprTensor) b = matrix_new (3, 2, y_pred);

  assert_same_double (apr_r2_score (a, b, NULL, NULL), 0.5);
}

static void
test_r2_errors (void)
{
  const double values[] = { 1, 2, NAN };
  const double negative[] = { 1, -1, 1 };
  const double zeros[] = { 0, 0, 0 };
  const double targets[] = { 1, 2, 3, 4 };
  const double holes[] = { 1, 2, -INFINITY, 4 };
  const gsize shape[] = { 1 };
  g_autoptr (AprTensor) two = vector_new (2, values);
  g_autoptr (AprTensor) three = vector_new (3, negative);
  g_autoptr (AprTensor) nan = vector_new (3, values);
  g_autoptr (AprTensor) square = matrix_new (2, 2, targets);
  g_autoptr (AprTensor) holed = matrix_new (2, 2, holes);
  g_autoptr (AprTensor) none = vector_new (0, NULL);
  g_autoptr (AprTensor) zero = vector_new (3, zeros);
  g_autoptr (GBytes) bytes = g_bytes_new ("12345678", 8);
  g_autoptr (AprTensor) opaque = apr_tensor_new_from_bytes (APR_DTYPE_C64, shape, 1, bytes, NULL);
  const struct
  {
    AprTensor *y_true;
    AprTensor *y_pred;
    AprTensor *weights;
    gint code;
    const char *text;
  } cases[] = {
    { two, three, NULL, APR_ERROR_SHAPE, "[2]" },
    { three, two, NULL, APR_ERROR_SHAPE, "[3]" },
    { none, none, NULL, APR_ERROR_EMPTY, "[0]" },
    { nan, three, NULL, APR_ERROR_NOT_FINITE, "y_true has a NaN at row 2" },
    { three, nan, NULL, APR_ERROR_NOT_FINITE, "y_pred has a NaN at row 2" },
    { square, holed, NULL, APR_ERROR_NOT_FINITE,
      "y_pred has an infinity at row 1, column 0 (counted from 0)" },
    { three, three, nan, APR_ERROR_NOT_FINITE, "sample_weight has a NaN at row 2" },
    { three, three, two, APR_ERROR_SHAPE, "there are 3 samples" },
    { three, three, three, APR_ERROR_WEIGHTS, "-1 at row 1" },
    { three, three, zero, APR_ERROR_WEIGHTS, "no value above zero" },
    { opaque, opaque, NULL, APR_ERROR_DTYPE, "C64" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      apr_r2_score (cases[i].y_true, cases[i].y_pred, cases[i].weights, &error);
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].text);
    }
}

typedef double (*Metric) (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

static double
measure (Metric metric, gsize n, const double *y_true, const double *y_pred, const double *weights)
{
  g_autoptr (AprTensor) a = vector_new (n, y_true);
  g_autoptr (AprTensor) b = vector_new (n, y_pred);
  g_autoptr (AprTensor) w = weights != NULL ? vector_new (n, weights) : NULL;
  g_autoptr (GError) error = NULL;
  double value = metric (a, b, w, &error);

  g_assert_no_error (error);

  return value;
}

static void
test_errors_by_hand (void)
{
  const double y_true[] = { 3, -0.5, 2, 7 };
  const double y_pred[] = { 2.5, 0, 2, 8 };
  const double weights[] = { 0, 0, 3, 1 };
  g_autoptr (AprTensor) a = vector_new (4, y_true);
  g_autoptr (AprTensor) b = vector_new (4, y_pred);

  /* The errors are 0.5, -0.5, 0 and -1, with the mean -0.25; the targets' squares from their mean sum up to 29.1875. */
  assert_same_double (measure (apr_mean_squared_error, 4, y_true, y_pred, NULL), 0.375);
  assert_same_double (measure (apr_root_mean_squared_error, 4, y_true, y_pred, NULL), sqrt (0.375));
  assert_same_double (measure (apr_mean_absolute_error, 4, y_true, y_pred, NULL), 0.5);
  assert_same_double (measure (apr_explained_variance_score, 4, y_true, y_pred, NULL), 1 - 1.25 / 29.1875);
  assert_same_double (apr_max_error (a, b, NULL), 1);

  assert_same_double (measure (apr_mean_squared_error, 4, y_true, y_pred, weights), 0.25);
  assert_same_double (measure (apr_root_mean_squared_error, 4, y_true, y_pred, weights), 0.5);
  assert_same_double (measure (apr_mean_absolute_error, 4, y_true, y_pred, weights), 0.25);
  /* Means by weight: 3.25 of the targets, -0.25 of the errors; the sums 18.75 and 0.75. */
  assert_same_double (measure (apr_explained_variance_score, 4, y_true, y_pred, weights), 1 - 0.75 / 18.75);
}

static void
test_constant_targets (void)
{
  const double constant[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
  const double shifted[] = { 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3 };
  const double off[] = { 0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1 };

  g_test_summary ("Rounding must not make a variance of what is constant.");
  assert_same_double (measure (apr_explained_variance_score, 7, constant, constant, NULL), 1);
  assert_same_double (measure (apr_explained_variance_score, 7, constant, shifted, NULL), 1);
  assert_same_double (measure (apr_explained_variance_score, 7, constant, off, NULL), 0);
  assert_same_double (measure (apr_r2_score, 7, constant, shifted, NULL), 0);
  assert_same_double (measure (apr_r2_score, 7, constant, off, NULL), 0);
}

static void
test_errors_of_extremes (void)
{
  const double great[] = { 1.5e308, 0 };
  const double other[] = { -1.5e308, 0 };
  const double tiny[] = { 3e-320, 0 };
  const double zeros[] = { 0, 0 };
  const double weights[] = { 1e308, 1e308 };
  const double beside[] = { 1e-170, 1 };
  const double one[] = { 0, 1 };

  g_test_summary ("What the answer can hold comes out, whatever its squares and sums would be.");
  assert_same_double (measure (apr_mean_absolute_error, 2, great, other, NULL), 1.5e308);
  assert_same_double (measure (apr_mean_squared_error, 2, great, other, NULL), INFINITY);
  assert_same_double (measure (apr_mean_absolute_error, 2, great, zeros, weights), 0.75e308);
  assert_same_double (measure (apr_mean_absolute_error, 2, tiny, zeros, NULL), 1.5e-320);
  assert_same_double (measure (apr_root_mean_squared_error, 2, beside, one, NULL), 1e-170 / sqrt (2));
}

static void
test_errors_of_several_targets (void)
{
  g_autoptr (AprTensor) a = matrix_new (2, 2, (double[]){ 1, 10, 2, 20 });
  g_autoptr (AprTensor) b = matrix_new (2, 2, (double[]){ 2, 10, 1, 23 });
  g_autoptr (AprTensor) weights = vector_new (2, (double[]){ 5, 0 });
  g_autoptr (AprTensor) greatest = NULL;
  g_autoptr (AprTensor) without_last = NULL;

  /* Errors 1, 1 and 0, 3. */
  assert_same_double (apr_mean_squared_error (a, b, NULL, NULL), (1 + 4.5) / 2);
  assert_same_double (apr_root_mean_squared_error (a, b, NULL, NULL), (1 + sqrt (4.5)) / 2);
  assert_same_double (apr_mean_absolute_error (a, b, NULL, NULL), (1 + 1.5) / 2);
  assert_same_double (apr_max_error (a, b, NULL), 3);
  greatest = apr_compute_metric (APR_METRIC_MAX_ERROR, APR_MULTIOUTPUT_RAW_VALUES, a, b, NULL, NULL);
  assert_same_double (element (greatest, 0), 1);
  assert_same_double (element (greatest, 1), 3);
  without_last =
    apr_compute_metric (APR_METRIC_MAX_ERROR, APR_MULTIOUTPUT_UNIFORM_AVERAGE, a, b, weights, NULL);
  assert_same_double (element (without_last, 0), 0.5);
}

/* The variances of the targets are 2 and 1400 by 3; the squared errors 1 and 100. */
static void
test_multioutput (void)
{
  g_autoptr (AprTensor) y_true = matrix_new (3, 2, (const double[]){ 1, 10, 2, 20, 3, 60 });
  g_autoptr (AprTensor) y_pred = matrix_new (3, 2, (const double[]){ 1, 20, 2, 20, 4, 60 });
  g_autoptr (AprTensor) bad = vector_new (2, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) raw = NULL;
  g_autoptr (AprTensor) uniform = NULL;
  g_autoptr (AprTensor) weighted = NULL;
  g_autoptr (AprTensor) nothing = NULL;
  g_autoptr (GError) error = NULL;

  raw = apr_compute_metric (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, y_true, y_pred, NULL, &error);
  uniform = apr_compute_metric (APR_METRIC_R2, APR_MULTIOUTPUT_UNIFORM_AVERAGE, y_true, y_pred, NULL, &error);
  weighted =
    apr_compute_metric (APR_METRIC_R2, APR_MULTIOUTPUT_VARIANCE_WEIGHTED, y_true, y_pred, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_n_elements (raw), ==, 2);
  assert_same_double (element (raw, 0), 0.5);
  assert_same_double (element (raw, 1), 13 / 14.);
  assert_same_double (element (uniform, 0), 5 / 7.);
  assert_same_double (element (uniform, 0), apr_r2_score (y_true, y_pred, NULL, NULL));
  assert_same_double (element (weighted, 0), 1301 / 1402.);
  nothing = apr_compute_metric (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, y_true, bad, NULL, &error);
  g_assert_null (nothing);
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);

  assert_same_double (apr_median_absolute_error (y_true, y_pred, NULL, NULL), 0);
  assert_same_double (apr_mean_absolute_percentage_error (y_true, y_pred, NULL, NULL), 2 / 9.);
}

/* How often it may still be asked before it is cancelled. */
static gint n_questions = G_MAXINT;

gboolean __real_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean __wrap_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean
__wrap_g_cancellable_is_cancelled (GCancellable *cancellable)
{
  if (g_atomic_int_dec_and_test (&n_questions))
    g_cancellable_cancel (cancellable);

  return __real_g_cancellable_is_cancelled (cancellable);
}

#define N_ERRORS 131101

static void
test_median_of_many (void)
{
  g_autofree double *truths = g_new0 (double, N_ERRORS);
  g_autofree double *predictions = g_new (double, N_ERRORS);
  g_autoptr (AprTensor) y_true = NULL;
  g_autoptr (AprTensor) y_pred = NULL;
  gboolean cancelled = TRUE;
  gint asked;
  gsize i;

  g_test_summary (
    "The median of more errors than are sorted at once: 0 to N - 1, shuffled; cancelled anywhere.");

  /* N is a prime, so that multiples of 7919 go through all that is below it. */
  for (i = 0; i < N_ERRORS; i++)
    predictions[i] = (i % 2 == 0 ? 1 : -1) * (double) (i * 7919 % N_ERRORS);
  y_true = vector_new (N_ERRORS, truths);
  y_pred = vector_new (N_ERRORS, predictions);
  assert_same_double (apr_median_absolute_error (y_true, y_pred, NULL, NULL), (N_ERRORS - 1) / 2);

  for (asked = 1; cancelled; asked++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      double median;

      g_cancellable_push_current (cancellable);
      n_questions = asked;
      median = apr_median_absolute_error (y_true, y_pred, NULL, &error);
      n_questions = G_MAXINT;
      g_cancellable_pop_current (cancellable);
      cancelled = g_cancellable_is_cancelled (cancellable);
      assert_same_double (median, cancelled ? 0 : (N_ERRORS - 1) / 2);
      g_assert_true (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) == cancelled);
    }

  /* Three looks at each of the two tensors and the errors, three pieces, two rounds of merging, and one at the half. */
  g_assert_cmpint (asked, >=, 3 * 3 + 3 + 2 * 3 + 1);
}

/* How many times there is still memory. */
static gint n_memories = G_MAXINT;

gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gboolean missing = n_memories-- <= 0;

  /* So many bytes that they cannot be counted: nobody is asked for them. */
  return missing ? __real_apr_memory_new (G_MAXSIZE, 2, what, error)
                 : __real_apr_memory_new (n, size, what, error);
}

/* Errors from 0 to N - 1, of two targets. */
static void
test_no_memory (void)
{
  g_autofree double *truths = g_new0 (double, 2 * N_ERRORS);
  g_autofree double *predictions = g_new (double, 2 * N_ERRORS);
  g_autoptr (AprTensor) y_true = NULL;
  g_autoptr (AprTensor) y_pred = NULL;
  AprMultioutput multioutput;
  gsize i;

  for (i = 0; i < 2 * N_ERRORS; i++)
    predictions[i] = (double) (i / 2);
  y_true = matrix_new (N_ERRORS, 2, truths);
  y_pred = matrix_new (N_ERRORS, 2, predictions);

  for (multioutput = APR_MULTIOUTPUT_UNIFORM_AVERAGE; multioutput <= APR_MULTIOUTPUT_RAW_VALUES;
       multioutput++)
    {
      gboolean ended = FALSE;
      gint memory;

      for (memory = 0; !ended; memory++)
        {
          g_autoptr (AprTensor) value = NULL;
          g_autoptr (GError) error = NULL;

          n_memories = memory;
          value =
            apr_compute_metric (APR_METRIC_MEDIAN_ABSOLUTE_ERROR, multioutput, y_true, y_pred, NULL, &error);
          ended = n_memories >= 0;
          n_memories = G_MAXINT;
          if (ended)
            g_assert_no_error (error);
          else
            g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          g_assert_cmpint (value != NULL, ==, ended);
          if (ended)
            assert_same_double (apr_tensor_get_double (value, 0, NULL), (N_ERRORS - 1) / 2);
        }
      /* Two for each target at least. */
      g_assert_cmpint (memory, >, 4);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/metrics/r2", test_r2);
  g_test_add_func ("/metrics/r2/by-hand", test_r2_by_hand);
  g_test_add_func ("/metrics/r2/constant", test_r2_of_a_constant);
  g_test_add_func ("/metrics/r2/one-sample", test_r2_of_one_sample);
  g_test_add_func ("/metrics/r2/extremes", test_r2_of_extremes);
  g_test_add_func ("/metrics/r2/several-targets", test_r2_of_several_targets);
  g_test_add_func ("/metrics/r2/errors", test_r2_errors);
  g_test_add_func ("/metrics/errors/by-hand", test_errors_by_hand);
  g_test_add_func ("/metrics/errors/extremes", test_errors_of_extremes);
  g_test_add_func ("/metrics/errors/several-targets", test_errors_of_several_targets);
  g_test_add_func ("/metrics/constant-targets", test_constant_targets);
  g_test_add_func ("/metrics/multioutput", test_multioutput);
  g_test_add_func ("/metrics/median-of-many", test_median_of_many);
  g_test_add_func ("/metrics/no-memory", test_no_memory);

  return g_test_run ();
}
