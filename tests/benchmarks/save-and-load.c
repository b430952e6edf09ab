/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"

/*
 * How long a fitted linear model takes to be saved and loaded: on the disk, where a save waits until the bytes are
 * there, and in a folder of memory, where there is nothing to wait for. Fails where a load, or a save that does not
 * wait, takes a millisecond or more in the median.
 */

#define N_ROUNDS 1000
#define N_SAMPLES 200
#define N_FEATURES 20

static AprEstimator *
make_model (void)
{
  g_autofree double *x = g_new (double, N_SAMPLES *N_FEATURES);
  g_autofree double *y = g_new (double, N_SAMPLES);
  g_autoptr (GRand) source = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;
  AprEstimator *model = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (AprTensor) features = NULL;
  g_autoptr (AprTensor) targets = NULL;
  gsize i;

  for (i = 0; i < N_SAMPLES * N_FEATURES; i++)
    x[i] = g_rand_double (source);
  for (i = 0; i < N_SAMPLES; i++)
    y[i] = g_rand_double (source);
  features =
    apr_tensor_new_from_doubles (x, N_SAMPLES * N_FEATURES, (gsize[]){ N_SAMPLES, N_FEATURES }, 2, &error);
  targets = apr_tensor_new_from_doubles (y, N_SAMPLES, (gsize[]){ N_SAMPLES }, 1, &error);
  if (!apr_estimator_fit (model, features, targets, NULL, NULL, &error))
    g_error ("%s", error->message);
  return model;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 one = *(const gint64 *) a;
  gint64 other = *(const gint64 *) b;

  return (one > other) - (one < other);
}

/* Prints the median and the 99th percentile; returns the median. */
static double
report (const char *title, gint64 *times)
{
  double median;

  qsort (times, N_ROUNDS, sizeof *times, compare_times);
  median = (double) times[N_ROUNDS / 2] / 1e6;
  printf ("| %-28s | %8.4f ms | %8.4f ms |\n", title, median, (double) times[N_ROUNDS * 99 / 100] / 1e6);
  return median;
}

static gboolean
measure (AprEstimator *model, const char *parent, const char *where, gboolean waits)
{
  g_autofree char *folder = g_build_filename (parent, "aprender-benchmark-XXXXXX", NULL);
  g_autofree char *save = g_strdup_printf ("save, %s", where);
  g_autofree char *load = g_strdup_printf ("load, %s", where);
  g_autofree gint64 *saves = g_new (gint64, N_ROUNDS);
  g_autofree gint64 *loads = g_new (gint64, N_ROUNDS);
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  double median_save, median_load;
  guint i;

  if (g_mkdtemp (folder) == NULL)
    g_error ("%s: no folder can be made there", parent);
  path = g_build_filename (folder, "model.safetensors", NULL);
  for (i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (AprLinearRegression) loaded = NULL;
      gint64 start = clock_read (CLOCK_MONOTONIC);

      if (!apr_estimator_save (model, path, &error))
        g_error ("%s", error->message);
      saves[i] = clock_read (CLOCK_MONOTONIC) - start;
      start = clock_read (CLOCK_MONOTONIC);
      loaded = apr_linear_regression_load (path, &error);
      loads[i] = clock_read (CLOCK_MONOTONIC) - start;
      if (loaded == NULL)
        g_error ("%s", error->message);
    }
  g_unlink (path);
  g_rmdir (folder);
  median_save = report (save, saves);
  median_load = report (load, loads);
  return median_load < 1 && (waits || median_save < 1);
}

int
main (void)
{
  g_autoptr (AprEstimator) model = make_model ();
  const char *memory = "/dev/shm";
  gboolean ok;

  printf ("# a model of %d features, %d rounds\n", N_FEATURES, N_ROUNDS);
  printf ("| %-28s | %11s | %11s |\n| --- | ---: | ---: |\n", "operation", "median", "p99");
  ok = measure (model, g_get_tmp_dir (), "with the disk's flush", TRUE);
  if (g_access (memory, W_OK) == 0)
    ok = measure (model, memory, "without it (in memory)", FALSE) && ok;
  else
    printf ("# %s is not there: nothing to tell what a save takes without the disk's flush\n", memory);
  printf ("medians of loads, and of saves that do not wait, bar 1 ms: %s\n", ok ? "met" : "missed");
  return ok ? 0 : 1;
}
