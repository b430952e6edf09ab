/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/*
 * What fits.py and predictions.py ask for: how long linear regression takes a program in C, and what the machine can
 * do. Each line of the standard input is a question, and the answer a number.
 *
 *   fit SAMPLES FEATURES DTYPE THREADS REPEATS   nanoseconds for a fit
 *   read BYTES THREADS                           nanoseconds to read so many bytes that are not in the cache
 *   peak THREADS                                 multiply-adds in a second
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

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (model), "n-threads") != NULL)
    g_object_set (model, "n-threads", n_threads, NULL);
  if (!apr_estimator_fit (model, x, y, NULL, NULL, &error))
    g_error ("%s", error->message);
  return model;
}

static double
time_fit (gsize n_samples, gsize n_features, AprDType dtype, guint n_threads, guint n_repeats)
{
  g_autoptr (AprTensor) x = make_tensor (dtype, (gsize[]){ n_samples, n_features }, 2);
  g_autoptr (AprTensor) y = make_tensor (dtype, (gsize[]){ n_samples }, 1);
  gint64 start = machine_now ();
  guint i;

  for (i = 0; i < n_repeats; i++)
    g_object_unref (fit (x, y, n_threads));

  return (double) (machine_now () - start) / n_repeats;
}

/* The least of a few times, each of memory that is not in the cache by then. */
static double
time_reading (gsize n_bytes, guint n_threads)
{
  gsize n_all = MAX (2 * n_bytes, (gsize) 1 << 30);
  g_autofree guint8 *memory = g_malloc (n_all);
  double least = G_MAXDOUBLE;
  guint i;

  memset (memory, 1, n_all);
  for (i = 0; i < 5; i++)
    least = MIN (least, machine_time_reading (memory + (i % 2) * (n_all - n_bytes), n_bytes, n_threads));

  return least;
}

/* The greatest of a few rates. */
static double
measure_peak (guint n_threads)
{
  double greatest = 0;
  guint i;

  for (i = 0; i < 5; i++)
    greatest = MAX (greatest, machine_measure_peak (n_threads));

  return greatest;
}

static guint64
number (const char *word)
{
  return word != NULL ? g_ascii_strtoull (word, NULL, 10) : 0;
}

static double
answer (char **words)
{
  if (g_str_equal (words[0], "fit"))
    {
      AprDType dtype = g_str_equal (words[3], "float32") ? APR_DTYPE_F32 : APR_DTYPE_F64;

      return time_fit (number (words[1]), number (words[2]), dtype, (guint) number (words[4]),
                       (guint) number (words[5]));
    }
  if (g_str_equal (words[0], "read"))
    return time_reading (number (words[1]), (guint) number (words[2]));
  if (g_str_equal (words[0], "peak"))
    return measure_peak ((guint) number (words[1]));

  g_error ("No question: %s", words[0]);
}

int
main (void)
{
  char line[256];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_auto (GStrv) words = g_strsplit (g_strchomp (line), " ", -1);

      printf ("%.0f\n", answer (words));
      fflush (stdout);
    }
  return 0;
}
