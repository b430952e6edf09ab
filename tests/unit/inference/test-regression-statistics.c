/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/statistics-test.h"

#include <glib/gstdio.h>

static void
test_weighted (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) w = vector_new (8, small_w);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  const double expected[][3] = { { 1.3858843537414902, 2.240306122448983, -0.5836734693877562 },
                                 { 0.5068798949938771, 0.20721955158395594, 0.11827714719471975 },
                                 { 2.734147413280677, 10.811268074486266, -4.934794956010007 },
                                 { 0.0522192903118566, 0.00041521329009037414, 0.007845901326040053 },
                                 { 0.9765136693143357, 0.9647705039715035, 83.15591587155718 },
                                 { 0.000551607729076376, -4.594959267277946, 15.189918534555892 },
                                 { 15.027648981721832, 0.38082482993197314, 64.85897435897435 } };
  gsize i;

  g_assert_cmpuint (apr_regression_statistics_get_n_samples (statistics), ==, 7);
  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==, 4);
  for (i = 0; i < 3; i++)
    {
      assert_close (element (apr_regression_statistics_get_coefficients (statistics), i), expected[0][i],
                    1e-12);
      assert_close (element (apr_regression_statistics_get_standard_errors (statistics), i), expected[1][i],
                    1e-12);
      assert_close (element (apr_regression_statistics_get_t_values (statistics), i), expected[2][i], 1e-12);
      assert_close (element (apr_regression_statistics_get_p_values (statistics), i), expected[3][i], 1e-11);
    }
  assert_close (apr_regression_statistics_get_r_squared (statistics), expected[4][0], 1e-13);
  assert_close (apr_regression_statistics_get_adjusted_r_squared (statistics), expected[4][1], 1e-13);
  assert_close (apr_regression_statistics_get_f_statistic (statistics), expected[4][2], 1e-12);
  assert_close (apr_regression_statistics_get_f_p_value (statistics), expected[5][0], 1e-12);
  assert_close (apr_regression_statistics_get_log_likelihood (statistics), expected[5][1], 1e-13);
  assert_close (apr_regression_statistics_get_aic (statistics), expected[5][2], 1e-13);
  assert_close (apr_regression_statistics_get_bic (statistics), expected[6][0], 1e-13);
  assert_close (apr_regression_statistics_get_residual_variance (statistics), expected[6][1], 1e-12);
  assert_close (apr_regression_statistics_get_total_sum_of_squares (statistics), expected[6][2], 1e-13);
}

static void
test_weighted_any_cut (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) w = vector_new (8, small_w);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autofree char *bits = print_bits (statistics);
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  gsize cut;

  g_test_summary (
    "Statistics of weighted samples, the likelihood too, are the same after partial fits and in a file.");
  for (cut = 1; cut < 8; cut++)
    {
      g_autoptr (AprLinearRegression) parts =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
      g_autoptr (AprLinearRegression) loaded = NULL;
      g_autoptr (AprRegressionStatistics) loaded_statistics = NULL;
      g_autofree char *loaded_bits = NULL;
      const gsize starts[] = { 0, cut, 7 };
      gsize i;

      for (i = 0; i < 2; i++)
        {
          g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, starts[i], starts[i + 1], NULL);
          g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, starts[i], starts[i + 1], NULL);
          g_autoptr (AprTensor) some_w = apr_tensor_slice_rows (w, starts[i], starts[i + 1], NULL);
          GError *error = NULL;

          if (starts[i] == starts[i + 1])
            continue;
          apr_linear_regression_partial_fit (parts, some_x, some_y, some_w, NULL, &error);
          g_assert_no_error (error);
        }
      g_assert_true (apr_estimator_save (APR_ESTIMATOR (parts), path, NULL));
      loaded = apr_linear_regression_load (path, NULL);
      loaded_statistics = statistics_of (loaded, 0);
      loaded_bits = print_bits (loaded_statistics);
      g_assert_cmpstr (loaded_bits, ==, bits);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Scaling by powers of two, as far as doubles go, scales and changes nothing else. */
static void
test_scales (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  int exponent;

  for (exponent = -500; exponent <= 500; exponent += 125)
    {
      double x_values[16];
      double y_values[8];
      g_autoptr (AprTensor) scaled_x = NULL;
      g_autoptr (AprTensor) scaled_y = NULL;
      g_autoptr (AprLinearRegression) scaled = NULL;
      g_autoptr (AprRegressionStatistics) other = NULL;
      gsize i;

      for (i = 0; i < 16; i++)
        x_values[i] = i % 2 == 0 ? ldexp (small_x[i], exponent) : small_x[i];
      for (i = 0; i < 8; i++)
        y_values[i] = ldexp (small_y[i], exponent / 2);
      scaled_x = matrix_new (8, 2, x_values);
      scaled_y = vector_new (8, y_values);
      scaled = fit (TRUE, scaled_x, scaled_y, NULL);
      other = statistics_of (scaled, 0);
      assert_same_double (apr_regression_statistics_get_r_squared (other),
                          apr_regression_statistics_get_r_squared (statistics));
      assert_same_double (apr_regression_statistics_get_f_p_value (other),
                          apr_regression_statistics_get_f_p_value (statistics));
      assert_same_double (
        ldexp (apr_regression_statistics_get_residual_standard_error (other), -(exponent / 2)),
        apr_regression_statistics_get_residual_standard_error (statistics));
      for (i = 0; i < 3; i++)
        {
          assert_same_double (element (apr_regression_statistics_get_t_values (other), i),
                              element (apr_regression_statistics_get_t_values (statistics), i));
          assert_same_double (ldexp (element (apr_regression_statistics_get_standard_errors (other), i),
                                     (i == 1 ? exponent : 0) - exponent / 2),
                              element (apr_regression_statistics_get_standard_errors (statistics), i));
        }
    }
}

static void
test_exact_fit (void)
{
  const double x_values[] = { 3, 6, 12, 21 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 2, 4, 7 });
  g_autoptr (AprTensor) almost = vector_new (4, (const double[]){ 1, 2, 4, nextafter (7, 8) });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprLinearRegression) other_model = fit (TRUE, x, almost, NULL);
  g_autoptr (AprRegressionStatistics) other = statistics_of (other_model, 0);
  g_autofree char *text = apr_regression_statistics_to_string (statistics);

  g_test_summary ("The slope is 1/3, which no double is; still nothing is left.");
  assert_same_double (apr_regression_statistics_get_residual_sum_of_squares (statistics), 0);
  assert_same_double (apr_regression_statistics_get_r_squared (statistics), 1);
  assert_same_double (element (apr_regression_statistics_get_standard_errors (statistics), 1), 0);
  assert_same_double (element (apr_regression_statistics_get_p_values (statistics), 1), 0);
  assert_same_double (apr_regression_statistics_get_aic (statistics), -INFINITY);
  g_assert_nonnull (strstr (text, " -Inf   log-likelihood "));
  g_assert_nonnull (strstr (text, " Inf\nBIC "));
  g_assert_null (strstr (text, "inf"));

  /* One last place of one target: e² (1 - leverage), where the leverage of the last row is 1/4 + (42/4)² / 189. */
  assert_close (apr_regression_statistics_get_residual_sum_of_squares (other),
                ldexp (1 - 0.25 - 10.5 * 10.5 / 189, -100), 1e-15);
}

static void
test_too_few_samples (void)
{
  g_autoptr (AprTensor) x = matrix_new (2, 1, (const double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (const double[]){ 1, 3 });
  g_autoptr (AprTensor) constant = vector_new (2, (const double[]){ 5, 5 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprLinearRegression) flat = fit (TRUE, x, constant, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprRegressionStatistics) flat_statistics = statistics_of (flat, 0);
  g_autofree char *text = apr_regression_statistics_to_string (statistics);

  g_assert_cmpuint (apr_regression_statistics_get_df_residual (statistics), ==, 0);
  g_assert_true (isnan (apr_regression_statistics_get_residual_variance (statistics)));
  g_assert_true (isnan (element (apr_regression_statistics_get_standard_errors (statistics), 0)));
  g_assert_true (isnan (apr_regression_statistics_get_f_statistic (statistics)));
  assert_same_double (apr_regression_statistics_get_r_squared (statistics), 1);
  g_assert_true (isnan (apr_regression_statistics_get_r_squared (flat_statistics)));
  g_assert_nonnull (strstr (text, "NA"));
}

static void
test_several_targets (void)
{
  const double both[] = { 3, 1, 5, 7, 4, 2, 9, 8, 8, 3, 12, 1, 11, 5, 100, 9 };
  double one[8];
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = matrix_new (8, 2, both);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autofree char *summary = apr_linear_regression_summary (model, NULL);
  g_autoptr (GError) error = NULL;
  gsize target;
  gsize i;

  g_assert_true (
    apr_linear_regression_predict_interval (model, x, 0.5, APR_INTERVAL_PREDICTION, &lower, &upper, NULL));
  for (target = 0; target < 2; target++)
    {
      g_autoptr (AprTensor) one_y = NULL;
      g_autoptr (AprLinearRegression) single = NULL;
      g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, target);
      g_autoptr (AprRegressionStatistics) single_statistics = NULL;
      g_autoptr (AprTensor) one_lower = NULL;
      g_autoptr (AprTensor) one_upper = NULL;
      g_autofree char *bits = print_bits (statistics);
      g_autofree char *single_bits = NULL;
      g_autofree char *table = apr_regression_statistics_to_string (statistics);

      for (i = 0; i < 8; i++)
        one[i] = both[2 * i + target];
      one_y = vector_new (8, one);
      single = fit (TRUE, x, one_y, NULL);
      single_statistics = statistics_of (single, 0);
      single_bits = print_bits (single_statistics);
      g_assert_cmpstr (bits, ==, single_bits);
      g_assert_nonnull (strstr (summary, table));
      g_assert_true (apr_linear_regression_predict_interval (single, x, 0.5, APR_INTERVAL_PREDICTION,
                                                             &one_lower, &one_upper, NULL));
      for (i = 0; i < 8; i++)
        {
          assert_same_double (element (lower, 2 * i + target), element (one_lower, i));
          assert_same_double (element (upper, 2 * i + target), element (one_upper, i));
        }
    }

  g_assert_null (apr_linear_regression_get_statistics (model, 2, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static void
test_errors (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);
  g_assert_null (apr_linear_regression_summary (model, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);

  apr_linear_regression_set_alpha (model, 0.5);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  apr_linear_regression_set_alpha (model, 0);
  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "alpha = 0.5");
  g_clear_error (&error);

  /* The hyper-parameters of the fit count, not those of the next one. */
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  apr_linear_regression_set_fit_intercept (model, FALSE);
  statistics = statistics_of (model, 0);
  g_assert_cmpstr (apr_regression_statistics_get_terms (statistics)[0], ==, "(Intercept)");

  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
  loaded = apr_linear_regression_from_bytes (bytes, NULL);
  g_assert_null (apr_linear_regression_get_statistics (loaded, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_STATE);
  assert_message_has (error, "keep-state");
}

/* NIST's numbers, as R's summary (lm) prints them. */
static void
test_summary (void)
{
  const NistSet *longley = &nist_sets[1];
  const char *const names[] = { "deflator", "gnp", "unemployed", "armed", "population", "year", NULL };
  const char *const expected[] = {
    "(Intercept) -3.48226e+06       890420       -3.911      0.00356 -5.49653e+06 -1.46799e+06 **\n",
    "unemployed      -2.02023       0.4884       -4.136      0.00254     -3.12507    -0.915393 **\n",
    "year             1829.15      455.478        4.016      0.00304      798.788      2859.52 **\n",
    "304.8541",
    "0.995479",
    "0.992465",
    "330.2853",
    "4.98e-10",
    "836424.1",
    "233.2349",
    "-109.6174",
    "238.643",
  };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autofree char *text = NULL;
  gsize i;

  nist_load (longley, &x, &y);
  model = fit (TRUE, x, y, NULL);
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  text = apr_linear_regression_summary (model, NULL);
  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    if (strstr (text, expected[i]) == NULL)
      g_error ("“%s” lacks “%s”", text, expected[i]);
}

/* Each number ends where its header does, however long it would be. */
static void
test_wide_summary (void)
{
  const double wide_x[] = { 0, 1e-200, 2e-200, 3e-200, 4e-200 };
  const double wide_y[] = { -7e-120, -7e-120 - 1e-135, -7e-120 - 2e-135, -7e-120 - 3e-135, -7e-120 - 4e-135 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, wide_x);
  g_autoptr (AprTensor) y = vector_new (5, wide_y);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autofree char *text = apr_linear_regression_summary (model, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gsize i;

  g_assert_true (g_str_has_suffix (lines[0], "97.5 %"));
  for (i = 1; i < 3; i++)
    g_assert_cmpuint (strcspn (lines[i], "*"), ==, strlen (lines[0]) + 1);
  g_assert_nonnull (strstr (lines[1], " -7e-120 "));
}

static void
test_intercept_as_name (void)
{
  const char *const names[] = { "area", "(Intercept)", NULL };
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autoptr (AprLinearRegression) other = fit (FALSE, x, y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  GError *error = NULL;

  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "Feature 1 (counted from 0) is called “(Intercept)”");
  g_clear_error (&error);

  /* Without an intercept it may be the column of ones that another program made. */
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (other), names, NULL));
  statistics = statistics_of (other, 0);
  g_assert_cmpstr (apr_regression_statistics_get_terms (statistics)[1], ==, "(Intercept)");
}

static void
test_terms (void)
{
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprTensor) w = vector_new (8, small_w);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprTensor) intervals =
    apr_regression_statistics_get_confidence_intervals (statistics, 0.95, NULL);
  GListModel *list = G_LIST_MODEL (statistics);
  const char *const names[] = { "estimate", "standard-error", "t-value", "p-value", "lower", "upper" };
  gsize i;
  gsize j;

  g_assert_true (g_list_model_get_item_type (list) == APR_TYPE_TERM);
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, 3);
  g_assert_null (g_list_model_get_item (list, 3));
  for (i = 0; i < 3; i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (list, (guint) i);
      g_autoptr (AprTerm) again = g_list_model_get_item (list, (guint) i);
      const double values[] = {
        element (apr_regression_statistics_get_coefficients (statistics), i),
        element (apr_regression_statistics_get_standard_errors (statistics), i),
        element (apr_regression_statistics_get_t_values (statistics), i),
        element (apr_regression_statistics_get_p_values (statistics), i),
        element (intervals, 2 * i),
        element (intervals, 2 * i + 1),
      };
      const double own_values[] = {
        apr_term_get_estimate (term), apr_term_get_standard_error (term), apr_term_get_t_value (term),
        apr_term_get_p_value (term),  apr_term_get_lower (term),          apr_term_get_upper (term),
      };

      /* Selections rely on it. */
      g_assert_true (term == again);
      g_assert_cmpstr (apr_term_get_name (term), ==, apr_regression_statistics_get_terms (statistics)[i]);
      for (j = 0; j < G_N_ELEMENTS (names); j++)
        {
          double value;

          g_object_get (term, names[j], &value, NULL);
          assert_same_double (value, values[j]);
          assert_same_double (own_values[j], values[j]);
        }
    }
}

static void
test_condition_number (void)
{
  /* [1 | X] with X = -h, 0, h has the singular values sqrt (3) and sqrt (2) h. */
  const double sizes[] = { 1, 1024, 0x1p-30, 0x1p500 };
  g_autoptr (AprTensor) y = vector_new (3, (const double[]){ 1, 2, 4 });
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (AprTensor) scaled = matrix_new (3, 1, (const double[]){ -sizes[i], 0, sizes[i] });
      g_autoptr (AprLinearRegression) scaled_model = fit (TRUE, scaled, y, NULL);
      g_autoptr (AprRegressionStatistics) scaled_statistics = statistics_of (scaled_model, 0);
      double expected = sizes[i] * sqrt (2) / sqrt (3);

      assert_close (apr_regression_statistics_get_condition_number (scaled_statistics),
                    expected > 1 ? expected : 1 / expected, 1e-3);
    }

  x = matrix_new (3, 2, (const double[]){ 1, 2, 2, 4, 3, 6 });
  model = fit (TRUE, x, y, NULL);
  statistics = statistics_of (model, 0);
  g_assert_true (isinf (apr_regression_statistics_get_condition_number (statistics)));
}

static void
test_large_condition_numbers (void)
{
  const double sizes[] = { 0x1p-1000, 0x1p-600, 0x1p600, 0x1p1000 };
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 3, 2, 5 });
  gsize i;

  g_test_summary ("The squares of singular values need not be doubles: columns that are orthogonal.");

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      double size = sizes[i];
      double expected = MAX (size, 1 / size);
      const double rows[] = { size, -size, size, -size };
      const double with_ones[] = { 1, size, 1, -size, 1, size, 1, -size };
      g_autoptr (AprTensor) x = matrix_new (4, 1, rows);
      g_autoptr (AprTensor) x_with_ones = matrix_new (4, 2, with_ones);
      g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
      g_autoptr (AprLinearRegression) without_intercept = fit (FALSE, x_with_ones, y, NULL);
      g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
      g_autoptr (AprRegressionStatistics) others = statistics_of (without_intercept, 0);

      assert_close (apr_regression_statistics_get_condition_number (statistics), expected, 1e-6);
      assert_close (apr_regression_statistics_get_condition_number (others), expected, 1e-6);
      assert_close (apr_linear_regression_compute_condition_number (model), expected, 1e-6);
    }
}

static void
test_no_terms (void)
{
  const double zeros[8] = { 0 };
  const double y_values[] = { 1, 2, 3, 4 };
  g_autoptr (AprTensor) x = matrix_new (4, 2, zeros);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, FALSE);
  AprCovarianceKind kind;

  g_test_summary ("Without an intercept and a feature other than 0, all of the target is left.");
  for (kind = APR_COVARIANCE_CLASSICAL; kind <= APR_COVARIANCE_HC3; kind++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, kind, 0, NULL, &error);

      g_assert_no_error (error);
      assert_same_double (apr_regression_statistics_get_residual_sum_of_squares (statistics), 30);
      g_assert_true (isnan (element (apr_regression_statistics_get_standard_errors (statistics), 1)));
    }
}

static void
test_far_without_weight (void)
{
  const double x_values[] = { 1e-100, 2e-100, 3e-100, 5e-100, 1e300 };
  const double y_values[] = { 1, 3, 2, 6, 0 };
  const double weights[] = { 1, 1, 1, 1, 0 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  g_autoptr (AprTensor) more_x = matrix_new (5, 1, x_values);
  g_autoptr (AprTensor) more_y = vector_new (5, y_values);
  g_autoptr (AprTensor) weight = vector_new (5, weights);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprLinearRegression) more = fitted_new (more_x, more_y, weight, TRUE);
  AprCovarianceKind kind;

  g_test_summary ("A sample without weight changes no robust error, however far away it is.");
  for (kind = APR_COVARIANCE_CLASSICAL; kind <= APR_COVARIANCE_HC3; kind++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprRegressionStatistics) expected =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, kind, 0, NULL, &error);
      g_autoptr (AprRegressionStatistics) found = NULL;

      g_assert_no_error (error);
      found =
        apr_linear_regression_get_robust_statistics (more, more_x, more_y, weight, kind, 0, NULL, &error);
      g_assert_no_error (error);
      assert_close (element (apr_regression_statistics_get_standard_errors (found), 0),
                    element (apr_regression_statistics_get_standard_errors (expected), 0), 1e-14);
    }
}

static void
test_empty (void)
{
  g_autoptr (AprRegressionStatistics) statistics = g_object_new (APR_TYPE_REGRESSION_STATISTICS, NULL);
  g_autoptr (AprTensor) intervals = NULL;
  g_autofree char *text = NULL;
  GError *error = NULL;

  g_test_summary (
    "Scripts can make an object that is not of any model: nothing is known in it, and it says so.");
  text = apr_regression_statistics_to_string (statistics);
  g_assert_cmpstr (text, ==, "no statistics: they come from a fitted model\n");
  g_assert_null (apr_regression_statistics_get_terms (statistics)[0]);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (statistics)), ==, 0);
  g_assert_true (isnan (apr_regression_statistics_get_r_squared (statistics)));
  g_assert_cmpuint (apr_tensor_get_n_elements (apr_regression_statistics_get_coefficients (statistics)), ==,
                    0);
  g_assert_cmpuint (apr_tensor_get_n_dims (apr_regression_statistics_get_covariance (statistics)), ==, 2);
  intervals = apr_regression_statistics_get_confidence_intervals (statistics, 0.95, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (intervals, NULL)[0], ==, 0);
}

/* With one feature F is t², and never negative, however little is explained or left. */
static void
test_square_of_t (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ -2, 1, -1, -2 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ -3, 0, 3, 0 });
  g_autoptr (AprTensor) w = vector_new (4, (const double[]){ 1.75e-9, 2.3e-14, 3.6e-29, 1.9e9 });
  g_autoptr (AprTensor) far_x = matrix_new (2, 1, (const double[]){ 1, 0 });
  g_autoptr (AprTensor) far_y = vector_new (2, (const double[]){ 1e160, 1e-30 });
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, w);
  g_autoptr (AprLinearRegression) far = fit (FALSE, far_x, far_y, NULL);
  g_autoptr (AprRegressionStatistics) statistics = statistics_of (model, 0);
  g_autoptr (AprRegressionStatistics) far_statistics = statistics_of (far, 0);
  double t = element (apr_regression_statistics_get_t_values (statistics), 1);

  assert_close (apr_regression_statistics_get_f_statistic (statistics), t * t, 1e-14);
  /* F is R² / (1 - R²) times 2 degrees of freedom. */
  assert_close (apr_regression_statistics_get_r_squared (statistics), t * t / 2, 1e-14);
  assert_same_double (apr_regression_statistics_get_f_statistic (far_statistics), INFINITY);
  assert_close (apr_regression_statistics_get_f_p_value (far_statistics), M_2_PI / 1e190, 1e-14);
}

static void
test_long_name (void)
{
  g_autofree char *long_name = g_strnfill (100000, 'x');
  const char *names[] = { long_name, "b", NULL };
  g_autoptr (AprTensor) x = matrix_new (8, 2, small_x);
  g_autoptr (AprTensor) y = vector_new (8, small_y);
  g_autoptr (AprLinearRegression) model = fit (TRUE, x, y, NULL);
  g_autofree char *summary = NULL;

  g_test_summary (
    "A name of a feature that is very long is in the summary once, and makes no other row as long.");
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  summary = apr_linear_regression_summary (model, NULL);
  g_assert_nonnull (strstr (summary, long_name));
  g_assert_cmpuint (strlen (summary), <, 102000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add_func ("/regression-statistics/" path, function)
  ADD ("weighted", test_weighted);
  ADD ("weighted/any-cut", test_weighted_any_cut);
  ADD ("scales", test_scales);
  ADD ("exact-fit", test_exact_fit);
  ADD ("too-few-samples", test_too_few_samples);
  ADD ("several-targets", test_several_targets);
  ADD ("errors", test_errors);
  ADD ("summary", test_summary);
  ADD ("summary/wide", test_wide_summary);
  ADD ("summary/long-name", test_long_name);
  ADD ("intercept-as-name", test_intercept_as_name);
  ADD ("terms", test_terms);
  ADD ("condition-number", test_condition_number);
  ADD ("large-condition-numbers", test_large_condition_numbers);
  ADD ("no-terms", test_no_terms);
  ADD ("far-without-weight", test_far_without_weight);
  ADD ("empty", test_empty);
  ADD ("square-of-t", test_square_of_t);
#undef ADD

  return g_test_run ();
}
