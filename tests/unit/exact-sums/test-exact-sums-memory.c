/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <stdio.h>

#include "aprender/exact-sums/apr-exact-sums-private.h"

/* What a fit takes of memory beside its data: as much for ten times the samples. */

#define N_FEATURES 60

/* A line of /proc/self/status in kB. */
static gsize
get_status (const char *name)
{
  g_autofree char *text = NULL;
  const char *line;

  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  line = strstr (text, name);
  g_assert_nonnull (line);
  return (gsize) g_ascii_strtoull (line + strlen (name) + 1, NULL, 10);
}

/* Sums in this process, and prints by how much the peak is above what was there before. */
static void
measure (gsize n_rows)
{
  const gsize shape[] = { n_rows, N_FEATURES };
  gsize n = n_rows * N_FEATURES;
  float *values = g_new (float, n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (41);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (N_FEATURES, 1, NULL);
  FILE *clear;
  gsize before;
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = (float) g_rand_double_range (rand, -1, 1);
  swap_on_big_endian (values, n, sizeof *values);
  x = apr_tensor_new_from_memory (APR_DTYPE_F32, shape, 2, values, n * sizeof (float), g_free, values, NULL);
  y = apr_tensor_new_from_memory (APR_DTYPE_F32, shape, 1, values, n_rows * sizeof (float), NULL, NULL, NULL);

  /* The peak until now is of no interest. */
  clear = fopen ("/proc/self/clear_refs", "w");
  g_assert_nonnull (clear);
  g_assert_cmpint (fputs ("5", clear), >=, 0);
  g_assert_cmpint (fclose (clear), ==, 0);
  before = get_status ("VmRSS");
  /* In one thread: whether another one finds rows left to take depends on what else runs. */
  g_assert_true (
    apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
  printf ("%" G_GSIZE_FORMAT "\n", get_status ("VmHWM") - before);
}

static gsize
measure_in_child (const char *program, const char *n_rows)
{
  const char *argv[] = { program, "--measure", n_rows, NULL };
  g_autofree char *output = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_assert_true (
    g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, &error));
  g_assert_no_error (error);
  g_assert_true (g_spawn_check_wait_status (status, NULL));
  return (gsize) g_ascii_strtoull (output, NULL, 10);
}

static void
test_peak (gconstpointer program)
{
  gsize few;
  gsize many;

  if (!g_file_test ("/proc/self/clear_refs", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the system does not tell the peak of a process in /proc");
      return;
    }

  few = measure_in_child (program, "20000");
  many = measure_in_child (program, "200000");
  g_test_message ("beside 20,000 x %d in F32 (4,688 kB) %" G_GSIZE_FORMAT
                  " kB, beside 200,000 (46,875 kB) %" G_GSIZE_FORMAT " kB",
                  N_FEATURES, few, many);
  g_assert_cmpuint (few, >, 0);
  g_assert_cmpuint (many, <, few + 1024);
}

int
main (int argc, char *argv[])
{
  if (argc == 3 && strcmp (argv[1], "--measure") == 0)
    {
      measure ((gsize) g_ascii_strtoull (argv[2], NULL, 10));
      return 0;
    }

  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/exact-sums-memory/peak", argv[0], test_peak);

  return g_test_run ();
}
