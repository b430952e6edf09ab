/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

#include <json-glib/json-glib.h>

static JsonObject *
load_certified (JsonParser *parser, const char *name)
{
  g_autofree char *path = data_path ("nist" G_DIR_SEPARATOR_S "certified.json");
  GError *error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);

  return json_object_get_object_member (
    json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "datasets"), name);
}

static void
test_nist (gconstpointer data)
{
  const NistSet *set = data;
  gboolean filip = strcmp (set->name, "filip") == 0;
  double tolerance = filip ? 1e-8 : 1e-13;
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *certified = load_certified (parser, set->name);
  JsonArray *standard_errors = json_object_get_array_member (certified, "std_err");
  JsonObject *anova = json_object_get_object_member (certified, "anova");
  JsonObject *residual = json_object_get_object_member (anova, "residual");
  JsonObject *regression = json_object_get_object_member (anova, "regression");
  double residual_sd = json_object_get_double_member (certified, "residual_sd");
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  AprTensor *own_errors;
  guint i;

  g_test_summary ("Filip's powers are rounded on entry, which leaves 8 digits; Wampler2's decimals are too.");
  nist_load (set, &x, &y);
  model = fit (set->fit_intercept, x, y, NULL);
  statistics = statistics_of (model, 0);
  own_errors = apr_regression_statistics_get_standard_errors (statistics);

  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==,
                    (guint64) json_object_get_int_member (residual, "df"));
  g_assert_cmpuint (apr_regression_statistics_get_df_model (statistics), ==,
                    (guint64) json_object_get_int_member (regression, "df"));
  g_assert_cmpuint (apr_tensor_get_n_elements (own_errors), ==, json_array_get_length (standard_errors));
  for (i = 0; i < json_array_get_length (standard_errors); i++)
    {
      double expected = json_array_get_double_element (standard_errors, i);

      if (strcmp (set->name, "wampler2") == 0)
        g_assert_cmpfloat (element (own_errors, i), <, 1e-14);
      else if (expected == 0)
        assert_same_double (element (own_errors, i), 0);
      else
        assert_close (element (own_errors, i), expected, tolerance);
    }
  assert_close (apr_regression_statistics_get_r_squared (statistics),
                json_object_get_double_member (certified, "r_squared"), filip ? 1e-10 : 1e-14);
  if (residual_sd > 0)
    {
      assert_close (apr_regression_statistics_get_residual_standard_error (statistics), residual_sd,
                    filip ? 1e-8 : 1e-13);
      assert_close (apr_regression_statistics_get_residual_sum_of_squares (statistics),
                    json_object_get_double_member (residual, "ss"), filip ? 1e-8 : 1e-13);
      assert_close (apr_regression_statistics_get_f_statistic (statistics),
                    json_object_get_double_member (regression, "f"), filip ? 1e-8 : 5e-14);
    }
  else if (strcmp (set->name, "wampler1") == 0)
    {
      assert_same_double (apr_regression_statistics_get_residual_sum_of_squares (statistics), 0);
      g_assert_true (isinf (apr_regression_statistics_get_f_statistic (statistics)));
      assert_same_double (apr_regression_statistics_get_f_p_value (statistics), 0);
    }
}

/* In pieces, saved and loaded between them, and merged: not a bit may differ. */
static void
test_bits (gconstpointer data)
{
  const NistSet *set = data;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) whole = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprLinearRegression) merged = NULL;
  g_autoptr (AprRegressionStatistics) merged_statistics = NULL;
  g_autoptr (AprCrossProducts) sums = NULL;
  g_autofree char *bits = NULL;
  g_autofree char *merged_bits = NULL;
  gsize chunk;
  gsize n;

  nist_load (set, &x, &y);
  n = apr_tensor_get_shape (x, NULL)[0];
  whole = fit (set->fit_intercept, x, y, NULL);
  statistics = statistics_of (whole, 0);
  bits = print_bits (statistics);

  for (chunk = 1; chunk <= 7; chunk += 6)
    {
      g_autoptr (AprLinearRegression) model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept",
                                                            set->fit_intercept, "keep-state", TRUE, NULL);
      g_autoptr (AprRegressionStatistics) other = NULL;
      g_autofree char *other_bits = NULL;
      gsize end;

      /* From the last row to the first. */
      for (end = n; end > 0; end -= MIN (chunk, end))
        {
          gsize start = end - MIN (chunk, end);
          g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, start, end, NULL);
          g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, start, end, NULL);
          g_autoptr (GBytes) bytes = NULL;
          AprLinearRegression *loaded;

          g_assert_true (apr_linear_regression_partial_fit (model, some_x, some_y, NULL, NULL, NULL));
          bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
          loaded = apr_linear_regression_from_bytes (bytes, NULL);
          g_object_unref (model);
          model = loaded;
        }
      other = statistics_of (model, 0);
      other_bits = print_bits (other);
      g_assert_cmpstr (other_bits, ==, bits);
    }

  sums = apr_cross_products_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);
  for (chunk = 0; chunk < 2; chunk++)
    {
      g_autoptr (AprTensor) some_x =
        apr_tensor_slice_rows (x, chunk == 0 ? n / 2 : 0, chunk == 0 ? n : n / 2, NULL);
      g_autoptr (AprTensor) some_y =
        apr_tensor_slice_rows (y, chunk == 0 ? n / 2 : 0, chunk == 0 ? n : n / 2, NULL);
      g_autoptr (AprCrossProducts) part = apr_cross_products_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);

      g_assert_true (apr_cross_products_update (part, some_x, some_y, NULL, NULL, NULL));
      g_assert_true (apr_cross_products_merge (sums, part, NULL));
    }
  merged = g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", set->fit_intercept, NULL);
  g_assert_true (apr_linear_regression_fit_cross_products (merged, sums, NULL, NULL));
  merged_statistics = statistics_of (merged, 0);
  merged_bits = print_bits (merged_statistics);
  g_assert_cmpstr (merged_bits, ==, bits);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (nist_sets); i++)
    {
      g_autofree char *path = g_strconcat ("/certified-statistics/nist/", nist_sets[i].name, NULL);
      g_autofree char *bits_path = g_strconcat ("/certified-statistics/bits/", nist_sets[i].name, NULL);

      g_test_add_data_func (path, &nist_sets[i], test_nist);
      g_test_add_data_func (bits_path, &nist_sets[i], test_bits);
    }

  return g_test_run ();
}
