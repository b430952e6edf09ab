/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "machine.h"

/*
 * What fits.py and predictions.py ask for: how long linear regression takes a program in C, and what the machine can
 * do. Each line of the standard input is a question, and the answer a number.
 *
 *   fit SAMPLES FEATURES DTYPE THREADS REPEATS       nanoseconds for a fit, after one that is not counted; DTYPE is
 *                                                    float32 or float64
 *   groups GROUPS SAMPLES FEATURES DTYPE THREADS     nanoseconds for each of so many groups of samples, in one call
 *   predict SAMPLES FEATURES DTYPE THREADS REPEATS   nanoseconds for predictions, into memory that is there
 *   predict-one FEATURES DTYPE REPEATS               nanoseconds of processor time for a prediction
 *   intervals SAMPLES FEATURES DTYPE REPEATS         how many times as long as predictions intervals of them take
 *   read BYTES THREADS REPEATS                       nanoseconds to read so many bytes, again and again
 *   products SAMPLES FEATURES DTYPE THREADS          products of exact sums in a second, at the kernel's best
 */

static AprTensor *
make_tensor (AprDType dtype, const gsize *shape, gsize n_dims)
{
  gsize n_elements = shape[0] * (n_dims == 2 ? shape[1] : 1);
  g_autofree double *values = g_new (double, n_elements);
  g_autoptr (GRand) source = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) doubles = NULL;
  AprTensor *tensor;
  gsize i;

  for (i = 0; i < n_elements; i++)
    values[i] = g_rand_double_range (source, -1, 1);
  doubles = apr_tensor_new_from_doubles (values, n_elements, shape, n_dims, &error);
  tensor = doubles != NULL ? apr_tensor_cast (doubles, dtype, &error) : NULL;
  if (tensor == NULL)
    g_error ("%s", error->message);
  return tensor;
}

static AprEstimator *
fit (AprTensor *x, AprTensor *y, guint n_threads)
{
  AprEstimator *model = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (GError) error = NULL;

  g_object_set (model, "n-threads", n_threads, NULL);
  if (!apr_estimator_fit (model, x, y, NULL, NULL, &error))
    g_error ("%s", error->message);
  return model;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double one = *(const double *) a;
  double other = *(const double *) b;

  return (one > other) - (one < other);
}

static double
time_fit (gsize n_samples, gsize n_features, AprDType dtype, guint n_threads, guint n_repeats)
{
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ n_samples, n_features }, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, (gsize[]){ n_samples }, 1);
  gint64 start;
  guint i;

  g_object_unref (fit (x, y, n_threads));
  start = clock_read (CLOCK_MONOTONIC);
  for (i = 0; i < n_repeats; i++)
    g_object_unref (fit (x, y, n_threads));

  return (double) (clock_read (CLOCK_MONOTONIC) - start) / n_repeats;
}

static double
time_groups (gsize n_groups, gsize n_samples, gsize n_features, AprDType dtype, guint n_threads)
{
  gsize n_rows = n_groups * n_samples;
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ n_rows, n_features }, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, (gsize[]){ n_rows }, 1);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gint32 *numbers = g_new (gint32, n_rows);
  g_autoptr (GBytes) bytes = g_bytes_new_take (numbers, n_rows * sizeof *numbers);
  g_autoptr (AprTensor) labels = apr_tensor_new_from_bytes (APR_DTYPE_I32, &n_rows, 1, bytes, NULL);
  g_autoptr (GError) error = NULL;
  double least = G_MAXDOUBLE;
  gsize i;

  for (i = 0; i < n_rows; i++)
    numbers[i] = (gint32) GUINT32_TO_LE ((guint32) (i / n_samples));
  apr_linear_regression_set_n_threads (model, n_threads);
  for (i = 0; i < 3; i++)
    {
      gint64 start = clock_read (CLOCK_MONOTONIC);
      g_autoptr (AprGroupFits) fits =
        apr_linear_regression_fit_groups (model, x, y, labels, NULL, NULL, &error);

      if (fits == NULL)
        g_error ("%s", error->message);
      least = MIN (least, (double) (clock_read (CLOCK_MONOTONIC) - start) / (double) n_groups);
    }

  return least;
}

static double
time_predict (gsize n_samples, gsize n_features, AprDType dtype, guint n_threads, guint n_repeats)
{
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ n_samples, n_features }, 2);
  g_autoptr (AprTensor) few = apr_tensor_slice_rows (x, 0, MIN (n_samples, 2 * n_features + 2), NULL);
  g_autoptr (AprTensor) y = make_tensor (dtype, apr_tensor_get_shape (few, NULL), 1);
  g_autoptr (AprEstimator) model = fit (few, y, n_threads);
  gsize size = n_samples * (dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double));
  g_autofree gpointer predictions = g_malloc0 (size);
  g_autoptr (GError) error = NULL;
  gint64 start = 0;
  guint i;

  /* The first call, which the memory is new to, is not counted. */
  for (i = 0; i <= n_repeats; i++)
    {
      if (i == 1)
        start = clock_read (CLOCK_MONOTONIC);
      if (!apr_linear_regression_predict_into (APR_LINEAR_REGRESSION (model), x, predictions, size, &error))
        g_error ("%s", error->message);
    }

  return (double) (clock_read (CLOCK_MONOTONIC) - start) / n_repeats;
}

static double
time_predict_one (gsize n_features, AprDType dtype, guint n_repeats)
{
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ 2 * n_features + 2, n_features }, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, (gsize[]){ 2 * n_features + 2 }, 1);
  g_autoptr (AprEstimator) model = fit (x, y, 1);
  g_autofree double *row = g_new0 (double, n_features);
  g_autoptr (GError) error = NULL;
  gint64 start;
  guint i;

  row[0] = 1;
  start = clock_read (CLOCK_PROCESS_CPUTIME_ID);
  for (i = 0; i < n_repeats && error == NULL; i++)
    row[0] += apr_linear_regression_predict_one (APR_LINEAR_REGRESSION (model), row, n_features, &error) > 0;
  if (error != NULL)
    g_error ("%s", error->message);

  return (double) (clock_read (CLOCK_PROCESS_CPUTIME_ID) - start) / n_repeats;
}

/* The median, over pairs, of the processor time of intervals divided by that of predictions. */
static double
compare_intervals (gsize n_samples, gsize n_features, AprDType dtype, guint n_repeats)
{
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ n_samples, n_features }, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, (gsize[]){ n_samples }, 1);
  g_autoptr (AprEstimator) model = fit (x, y, 1);
  g_autofree double *ratios = g_new (double, n_repeats);
  g_autoptr (GError) error = NULL;
  guint i;

  /* What the statistics need is worked out once, before. */
  for (i = 0; i <= n_repeats; i++)
    {
      gint64 start = clock_read (CLOCK_PROCESS_CPUTIME_ID);
      gint64 middle;
      AprTensor *lower;
      AprTensor *upper;

      apr_tensor_unref (apr_estimator_predict (model, x, NULL));
      middle = clock_read (CLOCK_PROCESS_CPUTIME_ID);
      if (!apr_linear_regression_predict_interval (APR_LINEAR_REGRESSION (model), x, 0.95,
                                                   APR_INTERVAL_PREDICTION, &lower, &upper, &error))
        g_error ("%s", error->message);
      if (i > 0)
        ratios[i - 1] = (double) (clock_read (CLOCK_PROCESS_CPUTIME_ID) - middle) / (double) (middle - start);
      apr_tensor_unref (lower);
      apr_tensor_unref (upper);
    }
  qsort (ratios, n_repeats, sizeof *ratios, compare_doubles);

  return ratios[n_repeats / 2];
}

static double
time_reading (gsize n_bytes, guint n_threads, guint n_repeats)
{
  g_autofree guint8 *memory = g_malloc (n_bytes);
  double sum = 0;
  guint i;

  memset (memory, 1, n_bytes);
  for (i = 0; i < n_repeats; i++)
    sum += machine_time_reading (memory, n_bytes, n_threads);

  return sum / n_repeats;
}

/* The greatest of a few rates. */
static double
measure_products (gsize n_samples, gsize n_features, AprDType dtype, guint n_threads)
{
  const gsize shape[] = { n_samples, n_features };
  g_autoptr (AprTensor) x = make_tensor (dtype, shape, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, shape, 1);
  double greatest = 0;
  guint i;

  for (i = 0; i < 5; i++)
    greatest = MAX (
      greatest, machine_measure_products (apr_sums_kernel_choose (), APR_PRECISION_EXACT, x, y, n_threads));

  return greatest;
}

static guint64
number (const char *word)
{
  return word != NULL ? g_ascii_strtoull (word, NULL, 10) : 0;
}

static AprDType
get_dtype (const char *word)
{
  if (g_str_equal (word, "float32"))
    return APR_DTYPE_F32;
  if (g_str_equal (word, "float64"))
    return APR_DTYPE_F64;

  g_error ("No dtype: %s", word);
}

static double
answer (char **words)
{
  if (g_str_equal (words[0], "fit"))
    return time_fit (number (words[1]), number (words[2]), get_dtype (words[3]), (guint) number (words[4]),
                     (guint) number (words[5]));
  if (g_str_equal (words[0], "groups"))
    return time_groups (number (words[1]), number (words[2]), number (words[3]), get_dtype (words[4]),
                        (guint) number (words[5]));
  if (g_str_equal (words[0], "predict"))
    return time_predict (number (words[1]), number (words[2]), get_dtype (words[3]),
                         (guint) number (words[4]), (guint) number (words[5]));
  if (g_str_equal (words[0], "predict-one"))
    return time_predict_one (number (words[1]), get_dtype (words[2]), (guint) number (words[3]));
  if (g_str_equal (words[0], "intervals"))
    return compare_intervals (number (words[1]), number (words[2]), get_dtype (words[3]),
                              MAX ((guint) number (words[4]), 1));
  if (g_str_equal (words[0], "read"))
    return time_reading (number (words[1]), (guint) number (words[2]), (guint) number (words[3]));
  if (g_str_equal (words[0], "products"))
    return measure_products (number (words[1]), number (words[2]), get_dtype (words[3]),
                             (guint) number (words[4]));

  g_error ("No question: %s", words[0]);
}

int
main (void)
{
  char line[256];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_auto (GStrv) words = g_strsplit (g_strchomp (line), " ", -1);

      printf ("%.1f\n", answer (words));
      fflush (stdout);
    }
  return 0;
}
