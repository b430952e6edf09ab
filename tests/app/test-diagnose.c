/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib/gstdio.h>

#include "app/trendline-fit-session.h"
#include "tests/waiting.h"

static TrendlineFitSession *
open_table (const char *text)
{
  TrendlineFitSession *session = trendline_fit_session_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GFileIOStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = g_file_new_tmp ("trendline-XXXXXX.csv", &stream, &error);

  g_assert_no_error (error);
  g_assert_true (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (stream)), text,
                                            strlen (text), NULL, NULL, &error));
  g_assert_true (g_io_stream_close (G_IO_STREAM (stream), NULL, &error));
  trendline_fit_session_open_async (session, file, on_ready, &result);
  g_assert_true (trendline_fit_session_open_finish (session, wait_for (&result), &error));
  g_assert_no_error (error);

  return session;
}

static void
fit (TrendlineFitSession *session)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_fit_async (session, on_ready, &result);
  trendline_fit_session_fit_finish (session, wait_for (&result), &error);
  g_assert_no_error (error);
}

/* (owned) (nullable): of the last diagnosis */
static AprTensor *rows;

static AprRegressionDiagnostics *
diagnose (TrendlineFitSession *session, GCancellable *cancellable, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  g_clear_pointer (&rows, apr_tensor_unref);
  trendline_fit_session_diagnose_async (session, cancellable, on_ready, &result);

  return trendline_fit_session_diagnose_finish (session, wait_for (&result), &rows, error);
}

static void
close_table (TrendlineFitSession *session)
{
  g_assert_true (
    g_file_delete (trendline_table_get_file (trendline_fit_session_get_table (session)), NULL, NULL));
  g_object_unref (session);
}

static void
test_rows (void)
{
  const gint64 expected[] = { 0, 2, 3, 5 };
  TrendlineFitSession *session = open_table ("x,y\n1,2\n,3\n3,5\n4,8\n5,\n6,9\n");
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Samples are told by their rows of the table, as the fit read it, whatever is chosen since.");

  trendline_fit_session_set_drop_missing (session, TRUE);
  fit (session);
  trendline_fit_session_set_drop_missing (session, FALSE);
  diagnostics = diagnose (session, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (apr_tensor_get_bytes (rows), NULL),
                   g_bytes_get_size (apr_tensor_get_bytes (rows)), expected, sizeof expected);
  close_table (session);
}

static void
assert_numbers (AprTensor *tensor, const double *expected, gsize n_expected)
{
  gsize n;
  const double *values = apr_tensor_get_doubles (tensor, &n, NULL);
  gsize i;

  g_assert_cmpuint (n, ==, n_expected);
  for (i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (values[i], expected[i], 1e-12);
}

static void
test_numbers (void)
{
  /* A leverage is 1/n and the square of the distance to the mean, over the sum of those squares; the line is 1.8 x -
   * 0.2. */
  const double leverages[] = { 0.6, 0.3, 0.2, 0.3, 0.6 };
  const double residuals[] = { 0.4, -0.4, -0.2, -0.0, 0.2 };
  TrendlineFitSession *session = open_table ("x;y\n1;2,0\n2;3,0\n3;5,0\n4;7,0\n5;9,0\n");
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("The rows of the table, read as they were for the fit, with the decimal comma.");

  fit (session);
  diagnostics = diagnose (session, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (rows);
  assert_numbers (apr_regression_diagnostics_get_leverages (diagnostics), leverages,
                  G_N_ELEMENTS (leverages));
  assert_numbers (apr_regression_diagnostics_get_residuals (diagnostics), residuals,
                  G_N_ELEMENTS (residuals));
  close_table (session);
}

static void
test_texts_and_weights (void)
{
  /* In a group of texts a row has its share of the group's weights. */
  const double leverages[] = { 0.25, 0.75, 0.5, 0.5 };
  TrendlineFitSession *session = open_table ("kind,w,y\na,1,2\na,3,4\nb,1,6\nb,1,9\n");
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_set_target (session, "y");
  trendline_fit_session_set_weight (session, "w");
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (session), "kind"), TRUE);
  fit (session);
  /* What is chosen since then is for the next fit. */
  trendline_fit_session_set_weight (session, NULL);
  trendline_fit_session_set_target (session, "w");
  diagnostics = diagnose (session, NULL, &error);
  g_assert_no_error (error);
  assert_numbers (apr_regression_diagnostics_get_leverages (diagnostics), leverages,
                  G_N_ELEMENTS (leverages));
  close_table (session);
}

static void
test_texts_and_gaps (void)
{
  /* The means of two groups: the texts c and d are in no row that is not passed over. */
  const double leverages[] = { 0.5, 0.5, 0.5, 0.5 };
  TrendlineFitSession *session = open_table ("kind,x,y\na,0,2\na,0,4\nc,,4\nb,0,6\nd,0,\n,0,1\nb,0,9\n");
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_auto (GStrv) names = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_set_target (session, "y");
  trendline_fit_session_set_drop_missing (session, TRUE);
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (session), "kind"), TRUE);
  fit (session);
  names = apr_estimator_get_feature_names (APR_ESTIMATOR (trendline_fit_session_get_model (session)));
  g_assert_cmpstrv (names, ((const char *const[]){ "kind=a", "kind=b", "x", NULL }));
  diagnostics = diagnose (session, NULL, &error);
  g_assert_no_error (error);
  assert_numbers (apr_regression_diagnostics_get_leverages (diagnostics), leverages,
                  G_N_ELEMENTS (leverages));
  close_table (session);
}

static void
test_rows_of_weight_0 (void)
{
  /* Those of the mean and a line through four points, as in test_numbers. */
  const double leverages[] = { 0.7, 0.3, 0.3, 0.7 };
  const gint64 expected[] = { 1, 2, 4, 5 };
  TrendlineFitSession *session = open_table ("x,w,y\n9,0,99\n1,1,2\n2,1,3\n-7,0,-5\n3,1,5\n4,1,7\n");
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "Rows of weight 0, which were not in the fit, are left out, and the others keep their numbers.");

  trendline_fit_session_set_weight (session, "w");
  fit (session);
  diagnostics = diagnose (session, NULL, &error);
  g_assert_no_error (error);
  assert_numbers (apr_regression_diagnostics_get_leverages (diagnostics), leverages,
                  G_N_ELEMENTS (leverages));
  g_assert_nonnull (rows);
  g_assert_cmpmem (g_bytes_get_data (apr_tensor_get_bytes (rows), NULL),
                   g_bytes_get_size (apr_tensor_get_bytes (rows)), expected, sizeof expected);
  close_table (session);
}

static void
test_failures (void)
{
  TrendlineFitSession *session = open_table ("x,y\n1,2\n2,3\n3,5\n");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GFile *file = trendline_table_get_file (trendline_fit_session_get_table (session));
  g_autofree char *path = g_file_get_path (file);
  GError *error = NULL;

  g_test_summary ("Without a model, cancelled, without the file: an error, and the session is as it was.");

  g_assert_null (diagnose (session, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  fit (session);
  g_cancellable_cancel (cancellable);
  g_assert_null (diagnose (session, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (path, "x,y\n1,2\n2,oops\n", -1, NULL));
  g_assert_null (diagnose (session, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_clear_error (&error);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_null (diagnose (session, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_assert_nonnull (trendline_fit_session_get_model (session));
  g_object_unref (session);
}

int
main (int argc, char **argv)
{
  int n_failed;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trendline/diagnose/numbers", test_numbers);
  g_test_add_func ("/trendline/diagnose/rows", test_rows);
  g_test_add_func ("/trendline/diagnose/texts-and-weights", test_texts_and_weights);
  g_test_add_func ("/trendline/diagnose/texts-and-gaps", test_texts_and_gaps);
  g_test_add_func ("/trendline/diagnose/rows-of-weight-0", test_rows_of_weight_0);
  g_test_add_func ("/trendline/diagnose/failures", test_failures);

  n_failed = g_test_run ();
  g_clear_pointer (&rows, apr_tensor_unref);

  return n_failed;
}
