/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <aprender/aprender.h>

/* The names of the targets: kept, checked, copied and saved as those of the features are. */

static const char *const names[] = { "rent", "heating", NULL };

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprEstimator *model;
  guint n_notified;
} Fixture;

static void
on_notify (AprEstimator *model, GParamSpec *pspec, Fixture *fixture)
{
  fixture->n_notified++;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const double features[] = { 1, 2, 4 };
  const double targets[] = { 1, 3, 2, 5, 4, 9 };

  fixture->x = matrix_new (3, 1, features);
  fixture->y = matrix_new (3, 2, targets);
  fixture->model = APR_ESTIMATOR (apr_linear_regression_new ());
  g_signal_connect (fixture->model, "notify::target-names", G_CALLBACK (on_notify), fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_assert_finalize_object (fixture->model);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
}

static void
fit (Fixture *fixture, AprTensor *y)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_names (AprEstimator *model, const char *const *expected)
{
  g_auto (GStrv) found = apr_estimator_get_target_names (model);
  g_auto (GStrv) property = NULL;

  g_object_get (model, "target-names", &property, NULL);
  g_assert_true ((found == NULL) == (expected == NULL) && (property == NULL) == (expected == NULL));
  if (expected != NULL)
    g_assert_true (g_strv_equal ((const char *const *) found, expected) &&
                   g_strv_equal ((const char *const *) property, expected));
}

static void
test_check (Fixture *fixture, gconstpointer data)
{
  const struct
  {
    const char *names[4];
    const char *message;
  } cases[] = {
    { { "heating", "rent", NULL },
      "Target 0 (counted from 0) is “heating”, but the model was fitted with “rent” there" },
    { { "rent", NULL }, "The target “heating”, which the model was fitted with, is missing" },
    { { "rent", "heating", "water", NULL },
      "There is a target “water”, but the model was fitted with 2 others" },
  };
  g_autoptr (GError) error = NULL;
  gsize i;

  g_assert_false (apr_estimator_check_target_names (fixture->model, names, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  fit (fixture, fixture->y);
  assert_names (fixture->model, NULL);
  g_assert_true (apr_estimator_check_target_names (fixture->model, cases[0].names, &error));
  g_assert_true (apr_estimator_set_target_names (fixture->model, names, &error));
  g_assert_true (apr_estimator_set_target_names (fixture->model, names, &error));
  g_assert_cmpuint (fixture->n_notified, ==, 1);
  g_assert_true (apr_estimator_check_target_names (fixture->model, names, &error));
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_false (apr_estimator_check_target_names (fixture->model, cases[i].names, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
      g_assert_cmpstr (error->message, ==, cases[i].message);
      g_clear_error (&error);
    }
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  const struct
  {
    const char *names[4];
    const char *message;
  } cases[] = {
    { { "a", NULL }, "There is 1 target name, but the model was fitted with 2 targets" },
    { { "a", "a", NULL }, "Two targets have the name “a”" },
    { { "a", "\xff", NULL }, "The name of target 1 (counted from 0) is not UTF-8" },
  };
  gsize i;

  fit (fixture, fixture->y);
  g_assert_true (apr_estimator_set_target_names (fixture->model, names, NULL));
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_estimator_set_target_names (fixture->model, cases[i].names, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
      g_assert_cmpstr (error->message, ==, cases[i].message);
      assert_names (fixture->model, names);
    }
  g_assert_true (apr_estimator_set_target_names (fixture->model, NULL, NULL));
  assert_names (fixture->model, NULL);
}

static void
test_stay (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprTensor) one = matrix_new (3, 1, (const double[]){ 1, 2, 3 });
  g_autoptr (AprEstimator) copy = NULL;
  g_autoptr (AprEstimator) clone = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Names given before the first fit must be as many as the targets; a further fit keeps them.");

  g_assert_true (apr_estimator_set_target_names (fixture->model, names, &error));
  g_assert_false (apr_estimator_fit (fixture->model, fixture->x, one, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_assert_cmpstr (error->message, ==, "There are 2 target names, but y has 1 target");
  fit (fixture, fixture->y);
  fit (fixture, fixture->y);
  g_assert_true (apr_estimator_set_feature_names (fixture->model, (const char *const[]){ "x", NULL }, NULL));
  assert_names (fixture->model, names);
  copy = apr_estimator_copy (fixture->model, NULL);
  assert_names (copy, names);
  clone = apr_estimator_clone (fixture->model);
  assert_names (clone, NULL);

  g_assert_cmpuint (fixture->n_notified, ==, 1);
  fit (fixture, one);
  assert_names (fixture->model, NULL);
  g_assert_cmpuint (fixture->n_notified, ==, 2);
}

static void
test_file (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) without = NULL;
  g_autoptr (GBytes) with = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autofree char *summary = NULL;
  GHashTable *metadata;

  g_test_summary (
    "A file has the names where there are some, and its bytes are what they were where there are none.");

  fit (fixture, fixture->y);
  without = apr_estimator_to_bytes (fixture->model, NULL);
  g_assert_true (apr_estimator_set_target_names (fixture->model, names, NULL));
  with = apr_estimator_to_bytes (fixture->model, NULL);
  reader = apr_safetensors_reader_new_from_bytes (with, NULL);
  metadata = apr_safetensors_reader_get_metadata (reader);
  g_assert_cmpstr (g_hash_table_lookup (metadata, "aprender.target_names"), ==, "[\"rent\",\"heating\"]");
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, with, NULL);
  assert_names (loaded, names);
  again = apr_estimator_to_bytes (loaded, NULL);
  g_assert_true (g_bytes_equal (with, again));

  summary = apr_linear_regression_summary (APR_LINEAR_REGRESSION (fixture->model), NULL);
  g_assert_true (g_str_has_prefix (summary, "Target rent\n\n"));
  g_assert_nonnull (strstr (summary, "\nTarget heating\n\n"));

  g_assert_true (apr_estimator_set_target_names (fixture->model, NULL, NULL));
  g_clear_pointer (&again, g_bytes_unref);
  again = apr_estimator_to_bytes (fixture->model, NULL);
  g_assert_true (g_bytes_equal (without, again));
}

/* A file of a model of two targets, with this as their names. */
static GBytes *
file_with_names (Fixture *fixture, const char *json)
{
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (fixture->model, NULL);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const char *const *tensors = apr_safetensors_reader_get_names (reader);
  gsize i;

  for (i = 0; tensors[i] != NULL; i++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, tensors[i], NULL);

      g_assert_true (apr_safetensors_writer_add_tensor (writer, tensors[i], tensor, NULL));
    }
  g_assert_true (apr_safetensors_writer_set_metadata (writer, "aprender.target_names", json, NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_hostile_files (Fixture *fixture, gconstpointer data)
{
  const struct
  {
    const char *json;
    const char *text;
  } cases[] = {
    { "[\"a\"]", "There is 1 target name, but the model was fitted with 2 targets" },
    { "[\"a\",\"a\"]", "Two targets have the name “a”" },
    { "[[[[", "The metadata “aprender.target_names”: " },
  };
  gsize i;

  fit (fixture, fixture->y);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = file_with_names (fixture, cases[i].json);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error));
      assert_message_has (error, cases[i].text);
    }
}

static void
on_notify_state (AprCrossProducts *state, GParamSpec *pspec, guint *n_notified)
{
  (*n_notified)++;
}

static AprCrossProducts *
state_new (Fixture *fixture, const char *const *target_names)
{
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (1, 2, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_cross_products_set_target_names (state, target_names, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_update (state, fixture->x, fixture->y, NULL, NULL, &error));

  return g_steal_pointer (&state);
}

static void
assert_state_names (AprCrossProducts *state, const char *const *expected)
{
  const char *const *found = apr_cross_products_get_target_names (state);
  g_auto (GStrv) property = NULL;

  g_object_get (state, "target-names", &property, NULL);
  g_assert_true (g_strv_equal (found, expected) && g_strv_equal ((const char *const *) property, expected));
}

/* Sums have them too, and models that are fitted to these. */
static void
test_state (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprCrossProducts) state = state_new (fixture, names);
  g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (state);
  g_autoptr (AprCrossProducts) nameless = state_new (fixture, NULL);
  g_autoptr (AprCrossProducts) of_model = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (AprTensor) scores = NULL;
  AprLinearRegression *model = APR_LINEAR_REGRESSION (fixture->model);
  guint n_notified = 0;

  assert_state_names (copy, names);
  loaded = apr_cross_products_from_bytes (bytes, NULL);
  assert_state_names (loaded, names);
  g_assert_true (apr_cross_products_equal (loaded, state));
  g_assert_false (apr_cross_products_equal (nameless, state));

  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
  assert_names (fixture->model, names);
  of_model = apr_linear_regression_get_cross_products (model);
  g_assert_true (apr_cross_products_equal (of_model, state));

  g_signal_connect (nameless, "notify::target-names", G_CALLBACK (on_notify_state), &n_notified);
  g_assert_true (apr_cross_products_merge (nameless, state, NULL));
  assert_state_names (nameless, names);
  g_assert_cmpuint (n_notified, ==, 1);
  g_assert_true (apr_cross_products_set_target_names (nameless, NULL, NULL));
  g_assert_null (apr_cross_products_get_target_names (nameless));
  g_assert_cmpuint (n_notified, ==, 2);
  g_assert_true (apr_cross_products_check_target_names (nameless, names + 1, NULL));
  scores = apr_linear_regression_score_cross_products (model, nameless, NULL);
  g_assert_nonnull (scores);
}

static void
test_state_refuses (Fixture *fixture, gconstpointer data)
{
  const char *const swapped[] = { "heating", "rent", NULL };
  const char *const twice[] = { "rent", "rent", NULL };
  const char *differs =
    "Target 0 (counted from 0) is “heating”, but the cross products were summed with “rent” there";
  g_autoptr (AprCrossProducts) state = state_new (fixture, names);
  g_autoptr (AprCrossProducts) other = state_new (fixture, swapped);
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (other, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_cross_products_check_target_names (state, swapped, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_assert_cmpstr (error->message, ==, differs);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_merge (state, other, &error));
  g_assert_cmpstr (error->message, ==, differs);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_merge_bytes (state, bytes, &error));
  assert_message_has (error, differs);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_set_target_names (state, twice, &error));
  assert_message_has (error, "Two targets have the name “rent”");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_set_target_names (state, names + 1, &error));
  assert_message_has (error, "There is 1 target name, but the cross products are of 2 targets");
  g_clear_error (&error);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 3);
  assert_state_names (state, names);

  g_assert_true (
    apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (fixture->model), state, NULL, NULL));
  g_assert_null (
    apr_linear_regression_score_cross_products (APR_LINEAR_REGRESSION (fixture->model), other, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
}

static void
test_property (Fixture *fixture, gconstpointer data)
{
  const char *const one[] = { "rent", NULL };
  g_autoptr (AprLinearRegression) made = NULL;

  if (g_test_subprocess ())
    {
      fit (fixture, fixture->y);
      g_object_set (fixture->model, "target-names", one, NULL);
      return;
    }

  g_test_summary ("The property takes what the setter takes; what that refuses is left out, with a warning.");
  made = g_object_new (APR_TYPE_LINEAR_REGRESSION, "target-names", names, NULL);
  assert_names (APR_ESTIMATOR (made), names);

  fit (fixture, fixture->y);
  g_object_set (fixture->model, "target-names", names, NULL);
  assert_names (fixture->model, names);
  g_assert_cmpuint (fixture->n_notified, ==, 1);
  g_object_set (fixture->model, "target-names", NULL, NULL);
  assert_names (fixture->model, NULL);

  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_stderr ("*AprLinearRegression*1 target name, but the model was fitted with 2*");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(name, function) g_test_add ("/target-names/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("property", test_property);
  ADD ("check", test_check);
  ADD ("refused", test_refused);
  ADD ("stay", test_stay);
  ADD ("file", test_file);
  ADD ("hostile-files", test_hostile_files);
  ADD ("state", test_state);
  ADD ("state-refuses", test_state_refuses);

  return g_test_run ();
}
