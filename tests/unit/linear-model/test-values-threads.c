/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <stdlib.h>

/* What is told of a fit are values: eight threads read all properties of the same ones at once. And a ninth sets each
 * property of a model, over and over, while the eight predict with it. */

#define N_SAMPLES 40
#define N_FEATURES 3
#define N_THREADS 8
#define N_ROUNDS 60

typedef struct
{
  AprEstimator *model;
  AprTensor *x;
  AprTensor *expected; /* predictions */
  AprRegressionStatistics *statistics;
  AprRegressionDiagnostics *diagnostics;
  AprHypothesisTest *hypothesis;
  AprCrossProducts *state;
  char *text;     /* of all of these */
  GBytes *bytes;  /* of the state */
  gint n_missing; /* (atomic) threads that are not there yet */
  gint done;      /* (atomic) */
} Shared;

static AprTensor *
tensor_of (gsize n_columns, guint32 seed)
{
  g_autofree double *values = g_new (double, N_SAMPLES *n_columns);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gsize i;

  for (i = 0; i < N_SAMPLES * n_columns; i++)
    values[i] = g_rand_double_range (rand, -2, 3);

  return matrix_new (N_SAMPLES, n_columns, values);
}

static void
append_value (GString *text, const GValue *value)
{
  g_autofree char *contents = NULL;

  if (G_VALUE_TYPE (value) == APR_TYPE_TENSOR)
    contents = g_value_get_boxed (value) != NULL ? apr_tensor_to_string (g_value_get_boxed (value)) : NULL;
  else if (!G_VALUE_HOLDS_OBJECT (value))
    contents = g_strdup_value_contents (value);
  g_string_append_printf (text, " %s", contents != NULL ? contents : "-");
}

static void
append_properties (GString *text, gpointer object)
{
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  guint i;

  for (i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      g_object_get_property (object, pspecs[i]->name, &value);
      append_value (text, &value);
    }
}

/* All that can be read of the values. */
static char *
read_values (const Shared *shared)
{
  GString *text = g_string_new (NULL);
  g_autofree char *summary = apr_regression_statistics_to_string (shared->statistics);
  guint n_terms = g_list_model_get_n_items (G_LIST_MODEL (shared->statistics));
  guint i;

  g_string_append (text, summary);
  append_properties (text, shared->statistics);
  append_properties (text, shared->diagnostics);
  append_properties (text, shared->hypothesis);
  append_properties (text, shared->state);
  for (i = 0; i < n_terms; i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (shared->statistics), i);

      append_properties (text, term);
    }

  return g_string_free (text, FALSE);
}

static void
set_up (Shared *shared)
{
  g_autoptr (AprTensor) y = tensor_of (1, 2);
  g_autoptr (AprTensor) factors = matrix_new (1, N_FEATURES + 1, (const double[]){ 0, 1, -2, 0 });
  g_autoptr (GError) error = NULL;
  AprLinearRegression *model = apr_linear_regression_new ();

  *shared = (Shared){ .model = APR_ESTIMATOR (model), .x = tensor_of (N_FEATURES, 1) };
  g_assert_true (apr_estimator_fit (shared->model, shared->x, y, NULL, NULL, &error));
  shared->expected = apr_estimator_predict (shared->model, shared->x, &error);
  shared->statistics = apr_linear_regression_get_statistics (model, 0, &error);
  shared->diagnostics = apr_linear_regression_diagnose (model, shared->x, y, NULL, 0, NULL, &error);
  shared->hypothesis = apr_regression_statistics_test_hypothesis (shared->statistics, factors, NULL, &error);
  shared->state = apr_linear_regression_get_cross_products (model);
  g_assert_no_error (error);
  shared->text = read_values (shared);
  shared->bytes = apr_cross_products_to_bytes (shared->state, NULL);
}

static void
tear_down (Shared *shared)
{
  g_object_unref (shared->model);
  apr_tensor_unref (shared->x);
  apr_tensor_unref (shared->expected);
  g_object_unref (shared->statistics);
  g_object_unref (shared->diagnostics);
  g_object_unref (shared->hypothesis);
  g_object_unref (shared->state);
  g_free (shared->text);
  g_bytes_unref (shared->bytes);
}

/* All go on at once, so that each is the first for something. */
static void
wait_for_all (Shared *shared)
{
  g_atomic_int_add (&shared->n_missing, -1);
  while (g_atomic_int_get (&shared->n_missing) > 0)
    g_thread_yield ();
}

static gpointer
read_in_thread (gpointer data)
{
  Shared *shared = data;
  int i;

  wait_for_all (shared);
  for (i = 0; i < N_ROUNDS; i++)
    {
      g_autofree char *text = read_values (shared);
      g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (shared->state, NULL);

      g_assert_cmpstr (text, ==, shared->text);
      g_assert_true (g_bytes_equal (bytes, shared->bytes));
    }

  return NULL;
}

static void
run_threads (Shared *shared, GThreadFunc function, GThread *threads[N_THREADS])
{
  gsize i;

  shared->n_missing = N_THREADS;
  for (i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new (NULL, function, shared);
}

static void
test_values (void)
{
  Shared shared;
  GThread *threads[N_THREADS];
  gsize i;

  set_up (&shared);
  run_threads (&shared, read_in_thread, threads);
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  tear_down (&shared);
}

static gpointer
predict_in_thread (gpointer data)
{
  Shared *shared = data;

  wait_for_all (shared);
  while (!g_atomic_int_get (&shared->done))
    {
      g_autoptr (AprTensor) predictions = apr_estimator_predict (shared->model, shared->x, NULL);
      g_autoptr (AprEstimator) copy = apr_estimator_copy (shared->model, NULL);
      g_autoptr (GBytes) bytes = apr_estimator_to_bytes (shared->model, NULL);
      g_autoptr (GString) text = g_string_new (NULL);

      g_assert_true (apr_tensor_equal (predictions, shared->expected));
      g_assert_nonnull (bytes);
      append_properties (text, shared->model);
      append_properties (text, copy);
    }

  return NULL;
}

/* Two values that a property can have. */
static void
set_value (GValue *value, GParamSpec *pspec, gboolean first)
{
  const double alphas[] = { 1 };
  const char *const names[] = { "a", "b", "c", NULL };
  const char *const target_names[] = { "y", NULL };

  g_value_init (value, pspec->value_type);
  if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, first);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, first ? 1 : 2);
  else if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, first ? 0 : 0.5);
  else if (G_VALUE_HOLDS_ENUM (value))
    g_value_set_enum (value, first ? APR_DTYPE_F64 : G_PARAM_SPEC_ENUM (pspec)->default_value);
  else if (G_VALUE_TYPE (value) == G_TYPE_STRV)
    g_value_set_boxed (value, !first                                      ? NULL
                              : strcmp (pspec->name, "target-names") == 0 ? target_names
                                                                          : names);
  else if (G_VALUE_TYPE (value) == APR_TYPE_TENSOR)
    g_value_take_boxed (value, first ? vector_new (1, alphas) : NULL);
  else
    g_error ("No values for %s", pspec->name);
  /* Not each number is one of every enumeration. */
  (void) g_param_value_validate (pspec, value);
}

static void
test_setters (void)
{
  Shared shared;
  GThread *threads[N_THREADS];
  GParamSpec **pspecs;
  guint n_set = 0;
  guint n;
  guint i;
  int round;

  set_up (&shared);
  pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (shared.model), &n);
  run_threads (&shared, predict_in_thread, threads);
  while (g_atomic_int_get (&shared.n_missing) > 0)
    g_thread_yield ();
  for (round = 0; round < N_ROUNDS; round++)
    for (i = 0; i < n; i++)
      if ((pspecs[i]->flags & (G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY)) == G_PARAM_WRITABLE)
        {
          g_auto (GValue) value = G_VALUE_INIT;

          set_value (&value, pspecs[i], round % 2 == 0);
          g_object_set_property (G_OBJECT (shared.model), pspecs[i]->name, &value);
          n_set++;
        }
  g_assert_cmpuint (n_set, >=, 10 * N_ROUNDS);
  g_atomic_int_set (&shared.done, TRUE);
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_free (pspecs);
  tear_down (&shared);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/values-threads/values", test_values);
  g_test_add_func ("/values-threads/setters", test_setters);

  return g_test_run ();
}
