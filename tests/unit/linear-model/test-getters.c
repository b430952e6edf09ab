/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include "aprender/base/apr-parallel-private.h"

/* Reading a property never computes: what takes long goes through these functions, which count their calls, and what is
 * read twice is the same. */

static gint n_computed; /* (atomic) */

void __real_apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);
void __real_apr_parallel_run_parts (AprParallelFunc func, gpointer data, guint n_threads, gsize n_parts);
void __real_apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations);

void __wrap_apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);
void __wrap_apr_parallel_run_parts (AprParallelFunc func, gpointer data, guint n_threads, gsize n_parts);
void __wrap_apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations);

void
__wrap_apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations)
{
  g_atomic_int_inc (&n_computed);
  __real_apr_parallel_run (func, data, n_threads, n_operations);
}

void
__wrap_apr_parallel_run_parts (AprParallelFunc func, gpointer data, guint n_threads, gsize n_parts)
{
  g_atomic_int_inc (&n_computed);
  __real_apr_parallel_run_parts (func, data, n_threads, n_parts);
}

void
__wrap_apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations)
{
  g_atomic_int_inc (&n_computed);
  __real_apr_team_run (func, data, n_threads, n_operations);
}

#define N_FEATURES 300
#define N_SAMPLES 400

/* Each property, twice. */
static void
read_all (gpointer object)
{
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  guint n_read = 0;
  guint i;

  for (i = 0; i < n; i++)
    if (pspecs[i]->flags & G_PARAM_READABLE)
      {
        g_auto (GValue) first = G_VALUE_INIT;
        g_auto (GValue) second = G_VALUE_INIT;

        g_object_get_property (object, pspecs[i]->name, &first);
        g_object_get_property (object, pspecs[i]->name, &second);
        /* A state is a copy, which shares its sums. */
        if (G_VALUE_TYPE (&first) == APR_TYPE_TENSOR)
          g_assert_true (g_value_get_boxed (&first) == g_value_get_boxed (&second));
        else if (!G_VALUE_HOLDS_OBJECT (&first))
          {
            g_autofree char *text = g_strdup_value_contents (&first);
            g_autofree char *again = g_strdup_value_contents (&second);

            g_assert_cmpstr (text, ==, again);
          }
        n_read++;
      }
  g_assert_cmpuint (n_read, >, 0);
}

static void
test_no_getter_computes (void)
{
  g_autofree double *values = g_new (double, N_SAMPLES *N_FEATURES);
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprEstimator) unfitted = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (AprEstimator) model = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (AprHypothesisTest) hypothesis = NULL;
  g_autoptr (AprTerm) term = NULL;
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data ("a,b\n1,2\n", -1, NULL);
  g_autoptr (AprTableReader) table = apr_table_reader_new (stream, "table.csv");
  g_autoptr (GError) error = NULL;
  gpointer objects[11];
  gsize i;

  for (i = 0; i < N_SAMPLES * N_FEATURES; i++)
    values[i] = g_rand_double (rand);
  x = matrix_new (N_SAMPLES, N_FEATURES, values);
  y = vector_new (N_SAMPLES, values + 7);
  factors = matrix_new (1, N_FEATURES + 1, values);
  g_object_set (model, "keep-state", TRUE, NULL);
  g_assert_true (apr_estimator_fit (model, x, y, NULL, NULL, &error));
  state = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (model));
  bytes = apr_estimator_to_bytes (model, &error);
  reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
  /* None has asked for the statistics yet. */
  g_assert_cmpint (g_atomic_int_get (&n_computed), >, 0);
  g_atomic_int_set (&n_computed, 0);
  read_all (model);
  g_assert_cmpint (g_atomic_int_get (&n_computed), ==, 0);

  statistics = apr_linear_regression_get_statistics (APR_LINEAR_REGRESSION (model), 0, &error);
  diagnostics = apr_linear_regression_diagnose (APR_LINEAR_REGRESSION (model), x, y, NULL, 0, NULL, &error);
  hypothesis = apr_regression_statistics_test_hypothesis (statistics, factors, NULL, &error);
  g_assert_no_error (error);
  term = g_list_model_get_item (G_LIST_MODEL (statistics), 1);
  g_assert_cmpint (g_atomic_int_get (&n_computed), >, 0);
  g_atomic_int_set (&n_computed, 0);
  memcpy (objects,
          (gpointer[]){ unfitted, model, state, statistics, diagnostics, hypothesis, term, reader, writer,
                        table, NULL },
          sizeof objects);
  for (i = 0; objects[i] != NULL; i++)
    read_all (objects[i]);
  g_assert_cmpint (g_atomic_int_get (&n_computed), ==, 0);
}

static void
test_defaults (void)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (model), &n);
  guint i;

  g_test_summary ("A new object is what its properties say.");
  for (i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      g_object_get_property (G_OBJECT (model), pspecs[i]->name, &value);
      if (pspecs[i]->flags & G_PARAM_WRITABLE)
        g_assert_true (g_param_value_defaults (pspecs[i], &value));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/getters/compute-nothing", test_no_getter_computes);
  g_test_add_func ("/getters/defaults", test_defaults);

  return g_test_run ();
}
