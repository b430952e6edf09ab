/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session.h"
#include "tests/apr-test.h"
#include "tests/folder.h"
#include "tests/waiting.h"

/* This and what follows must succeed where no error is asked for. */
static gboolean
open_table (TrendlineFitSession *session, GFile *file, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) unexpected = NULL;
  gboolean done;

  trendline_fit_session_open_async (session, file, on_ready, &result);
  done = trendline_fit_session_open_finish (session, wait_for (&result), error != NULL ? error : &unexpected);
  g_assert_no_error (unexpected);

  return done;
}

static gboolean
fit (TrendlineFitSession *session, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) unexpected = NULL;
  gboolean done;

  trendline_fit_session_fit_async (session, on_ready, &result);
  done = trendline_fit_session_fit_finish (session, wait_for (&result), error != NULL ? error : &unexpected);
  g_assert_no_error (unexpected);

  return done;
}

/* A file in a folder that is removed with it. */
static GFile *
write_table (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);

  return g_file_new_for_path (path);
}

static GFile *
find_longley (void)
{
  g_autofree char *path = data_path ("nist/longley.csv");

  return g_file_new_for_path (path);
}

static void
count (guint *n)
{
  ++*n;
}

static void
on_fraction (TrendlineFitSession *session, GParamSpec *pspec, GArray *fractions)
{
  const double fraction = trendline_fit_session_get_fraction (session);

  g_array_append_val (fractions, fraction);
}

static void
test_longley (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autoptr (GFile) file = find_longley ();
  g_autoptr (GArray) fractions = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (AprTerm) term = NULL;
  AprRegressionStatistics *statistics;
  guint n_results = 0;
  guint i;

  g_test_summary ("The chosen columns, what NIST certifies, and a progress that rises to 1.");
  g_signal_connect (session, "notify::fraction", G_CALLBACK (on_fraction), fractions);
  g_signal_connect_swapped (session, "notify::model", G_CALLBACK (count), &n_results);

  open_table (session, file, NULL);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_assert_cmpstr (trendline_fit_session_get_target (session), ==, "y");
  g_assert_null (trendline_fit_session_get_model (session));
  g_assert_cmpuint (trendline_table_get_n_rows (trendline_fit_session_get_table (session)), ==, 16);

  n_results = 0;
  g_array_set_size (fractions, 0);
  fit (session, NULL);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_assert_cmpuint (n_results, ==, 1);
  g_assert_cmpstr (trendline_fit_session_get_model_target (session), ==, "y");

  statistics = trendline_fit_session_get_statistics (session);
  g_assert_cmpfloat_with_epsilon (apr_regression_statistics_get_r_squared (statistics), 0.995479004577296,
                                  1e-14);
  g_assert_cmpfloat_with_epsilon (apr_regression_statistics_get_f_statistic (statistics), 330.285339234588,
                                  1e-10);
  term = g_list_model_get_item (G_LIST_MODEL (statistics), 0);
  g_assert_cmpfloat_with_epsilon (apr_term_get_estimate (term), -3482258.63459582, 1e-7);
  g_assert_cmpfloat_with_epsilon (apr_term_get_standard_error (term), 890420.383607373, 1e-8);

  g_assert_cmpuint (fractions->len, >=, 3);
  for (i = 1; i < fractions->len - 1; i++)
    g_assert_cmpfloat (g_array_index (fractions, double, i), >=, g_array_index (fractions, double, i - 1));
  g_assert_cmpfloat (g_array_index (fractions, double, fractions->len - 2), ==, 1);
}

static void
test_choice (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = write_table (folder, "rents.csv",
                                        ";district;area;rooms;share;rent\n0;north;50;1;1;520\n"
                                        "1;south;80;2;1;840\n2;\"so;uth\";90,5;2;1;947,5\n"
                                        "3;north;120;3;1;1260\n4;south;66;3;1;720\n");
  g_auto (GStrv) names = NULL;
  TrendlineTable *table;

  g_test_summary ("Decimal commas are found; no feature is a text unless chosen, a weight, or unnamed.");
  open_table (session, file, NULL);
  table = trendline_fit_session_get_table (session);
  g_assert_true (trendline_table_get_decimal_comma (table));
  g_assert_cmpstr (trendline_table_get_cell (table, 2, 0), ==, "so;uth");
  g_assert_cmpstr (trendline_fit_session_get_target (session), ==, "rent");
  g_assert_true (trendline_column_get_is_text (trendline_table_find_column (table, "district")));
  g_assert_false (trendline_column_get_is_feature (trendline_table_find_column (table, "district")));

  trendline_column_set_is_feature (trendline_table_find_column (table, "district"), TRUE);
  trendline_column_set_is_feature (trendline_table_find_column (table, "rooms"), FALSE);
  trendline_fit_session_set_weight (session, "share");
  fit (session, NULL);
  names = apr_estimator_get_feature_names (APR_ESTIMATOR (trendline_fit_session_get_model (session)));
  g_assert_cmpuint (g_strv_length (names), ==, 4);
  g_assert_cmpstr (names[0], ==, "district=north");
  g_assert_cmpstr (names[1], ==, "district=so;uth");
  g_assert_cmpstr (names[2], ==, "district=south");
  g_assert_cmpstr (names[3], ==, "area");

  remove_tree (folder);
}

static void
test_options (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = write_table (folder, "line.csv", "x,y\n1,2\n2,4\n3,6\n");
  g_autoptr (AprTensor) coefficients = NULL;
  AprLinearRegression *old;

  g_test_summary ("The options are for the next fit: the results of the last one stay as they are.");
  open_table (session, file, NULL);
  fit (session, NULL);
  old = g_object_ref (trendline_fit_session_get_model (session));

  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 14);
  apr_linear_regression_set_fit_intercept (trendline_fit_session_get_options (session), FALSE);
  g_assert_true (trendline_fit_session_get_model (session) == old);
  g_assert_cmpfloat (apr_linear_regression_get_alpha (old), ==, 0);
  fit (session, NULL);
  g_assert_true (trendline_fit_session_get_model (session) != old);
  g_object_unref (old);

  /* Σxy / (Σx² + 14) */
  coefficients = apr_linear_regression_get_coefficients (trendline_fit_session_get_model (session));
  g_assert_cmpfloat (apr_tensor_get_double (coefficients, 0, NULL), ==, 1);

  remove_tree (folder);
}

static void
cancel (TrendlineFitSession *session)
{
  if (trendline_fit_session_get_state (session) == TRENDLINE_FIT_STATE_READING)
    trendline_fit_session_cancel (session);
}

static void
test_cancel (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autoptr (GFile) file = find_longley ();
  g_autoptr (GError) error = NULL;
  AprLinearRegression *model;
  AprRegressionStatistics *statistics;

  g_test_summary ("What is cancelled leaves the results as they were, and the session can be used again.");
  open_table (session, file, NULL);
  fit (session, NULL);
  model = trendline_fit_session_get_model (session);
  statistics = trendline_fit_session_get_statistics (session);

  g_signal_connect (session, "notify::state", G_CALLBACK (cancel), NULL);
  g_assert_false (fit (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_assert_true (trendline_fit_session_get_model (session) == model);
  g_assert_true (trendline_fit_session_get_statistics (session) == statistics);

  g_signal_handlers_disconnect_by_func (session, cancel, NULL);
  fit (session, NULL);
}

static void
test_busy (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autoptr (GFile) file = find_longley ();
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_open_async (session, file, on_ready, &first);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_OPENING);
  g_assert_false (open_table (session, file, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_true (trendline_fit_session_open_finish (session, wait_for (&first), &error));
  g_assert_no_error (error);
}

static void
test_errors (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) missing = g_file_new_build_filename (folder, "missing.csv", NULL);
  g_autoptr (GFile) file =
    write_table (folder, "rents.csv", "area,rooms,rent\n50,1,520\n80,,840\n120,3,1260\n");
  g_autoptr (GError) error = NULL;
  TrendlineTable *table;

  g_test_summary ("A failure names the file and the place, and leaves the session as it was.");
  g_assert_false (open_table (session, missing, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (trendline_fit_session_get_table (session));

  open_table (session, file, NULL);
  table = trendline_fit_session_get_table (session);
  g_assert_false (fit (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_nonnull (strstr (error->message, "rents.csv:3"));
  g_clear_error (&error);
  g_assert_null (trendline_fit_session_get_model (session));

  trendline_fit_session_set_weight (session, "rent");
  g_assert_false (fit (session, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  g_assert_nonnull (strstr (error->message, "“rent”"));
  g_clear_error (&error);
  trendline_fit_session_set_weight (session, NULL);

  trendline_column_set_is_feature (trendline_table_find_column (table, "area"), FALSE);
  trendline_column_set_is_feature (trendline_table_find_column (table, "rooms"), FALSE);
  g_assert_false (fit (session, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_clear_error (&error);

  trendline_column_set_is_feature (trendline_table_find_column (table, "area"), TRUE);
  fit (session, NULL);
  g_assert_false (open_table (session, missing, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (trendline_fit_session_get_table (session) == table);
  g_assert_nonnull (trendline_fit_session_get_model (session));

  remove_tree (folder);
}

static gboolean
add (TrendlineFitSession *session, GFile *file, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) unexpected = NULL;
  gboolean done;

  trendline_fit_session_add_async (session, file, FALSE, on_ready, &result);
  done = trendline_fit_session_add_finish (session, wait_for (&result), error != NULL ? error : &unexpected);
  g_assert_no_error (unexpected);

  return done;
}

static double
get_coefficient (TrendlineFitSession *session, gsize index)
{
  g_autoptr (AprTensor) coefficients = NULL;

  coefficients = apr_linear_regression_get_coefficients (trendline_fit_session_get_model (session));

  return apr_tensor_get_double (coefficients, index, NULL);
}

/* Adding @file fails, and leaves the coefficient. */
static void
refuse_to_add (TrendlineFitSession *session, GFile *file, const char *reason)
{
  double coefficient = get_coefficient (session, 0);
  GError *error = NULL;

  g_assert_false (add (session, file, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_assert_nonnull (strstr (error->message, reason));
  g_assert_cmpfloat (get_coefficient (session, 0), ==, coefficient);
  g_error_free (error);
}

static gboolean
predict (TrendlineFitSession *session, GFile *table, GFile *output, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) unexpected = NULL;
  gboolean done;

  trendline_fit_session_predict_async (session, table, output, on_ready, &result);
  done =
    trendline_fit_session_predict_finish (session, wait_for (&result), error != NULL ? error : &unexpected);
  g_assert_no_error (unexpected);

  return done;
}

static void
test_gzip_members (void)
{
  static const char *const parts[] = { "x,name,y\n0,a", ",0\n1,b,1\n", "", "2,c,1" };
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = g_file_new_build_filename (folder, "members.csv.gz", NULL);
  g_autoptr (GFileOutputStream) stream = g_file_create (file, G_FILE_CREATE_NONE, NULL, NULL);
  TrendlineTable *table;
  gsize i;

  g_test_summary ("The rows that are shown, and fitted, are those of all members of a compressed file.");
  for (i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (GConverter) converter =
        G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
      g_autoptr (GInputStream) part = g_memory_input_stream_new_from_data (parts[i], -1, NULL);
      g_autoptr (GInputStream) member = g_converter_input_stream_new (part, converter);

      g_assert_cmpint (
        g_output_stream_splice (G_OUTPUT_STREAM (stream), member, G_OUTPUT_STREAM_SPLICE_NONE, NULL, NULL), >,
        0);
    }
  g_assert_true (g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, NULL));

  open_table (session, file, NULL);
  table = trendline_fit_session_get_table (session);
  g_assert_cmpuint (trendline_table_get_n_rows (table), ==, 3);
  g_assert_cmpstr (trendline_table_get_cell (table, 0, 1), ==, "a");
  g_assert_cmpstr (trendline_table_get_cell (table, 2, 2), ==, "1");
  g_assert_true (trendline_column_get_is_text (trendline_table_find_column (table, "name")));
  fit (session, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 0.5);

  remove_tree (folder);
}

static void
test_add (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) first = write_table (folder, "first.csv", "x,y\n0,0\n1,1\n2,1\n");
  g_autoptr (GFile) second = write_table (folder, "second.csv", "y,x\n3,3\n5,4\n");
  g_autoptr (GFile) wrong = write_table (folder, "wrong.csv", "z,y\n1,2\n");
  g_autoptr (GFile) other = write_table (folder, "other.csv", "x,z\n1,2\n");
  g_autoptr (GFile) more = write_table (folder, "more.csv", "x,y,z\n3,3,0\n4,5,0\n");
  g_autoptr (GFile) file = g_file_new_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("Rows that are added count as those before; a model from a file can be added to as well.");
  open_table (session, first, NULL);
  fit (session, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 0.5);
  apr_estimator_save_to_file (APR_ESTIMATOR (trendline_fit_session_get_model (session)), file, NULL, &error);
  g_assert_no_error (error);

  refuse_to_add (session, wrong, "“x”");
  /* Of (0, 0), (1, 1), (2, 1), (3, 3) and (4, 5): Σ(x - 2)y / Σ(x - 2)² = 12 / 10. */
  add (session, second, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 1.2);
  g_assert_cmpuint (apr_regression_statistics_get_n_samples (trendline_fit_session_get_statistics (session)),
                    ==, 5);

  open_table (session, file, NULL);
  g_assert_null (trendline_fit_session_get_table (session));
  g_assert_cmpstr (trendline_fit_session_get_model_target (session), ==, "y");
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 0.5);
  g_assert_cmpuint (apr_regression_statistics_get_n_samples (trendline_fit_session_get_statistics (session)),
                    ==, 3);
  refuse_to_add (session, wrong, "has 2");
  refuse_to_add (session, other, "the target of the model, a column “y”");
  /* Its column z may be weights, which the file tells nothing of. */
  refuse_to_add (session, more, "one column beside the features of the model, and has 2");
  add (session, second, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 1.2);
  g_assert_cmpstr (trendline_fit_session_get_model_target (session), ==, "y");

  /* A file that names no target: it is the one column that is no feature. */
  open_table (session, first, NULL);
  fit (session, NULL);
  apr_estimator_set_target_names (APR_ESTIMATOR (trendline_fit_session_get_model (session)), NULL, NULL);
  apr_estimator_save_to_file (APR_ESTIMATOR (trendline_fit_session_get_model (session)), file, NULL, &error);
  g_assert_no_error (error);
  open_table (session, file, NULL);
  g_assert_null (trendline_fit_session_get_model_target (session));
  refuse_to_add (session, more, "one column beside the features of the model, and has 2");
  add (session, second, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 1.2);
  g_assert_cmpstr (trendline_fit_session_get_model_target (session), ==, "y");

  remove_tree (folder);
}

static void
test_predict (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = write_table (folder, "line.csv", "x,y\n0,0\n1,1\n2,1\n3,3\n4,5\n");
  g_autoptr (GFile) new = write_table (folder, "new.csv", "name;x\na;2\nb;4,5\n");
  g_autoptr (GFile) wrong = write_table (folder, "wrong.csv", "x\n1\none\n");
  g_autoptr (GFile) output = write_table (folder, "predictions.csv", "before\n");
  g_auto (GStrv) lines = NULL;
  g_auto (GStrv) cells = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "A row for each, with the interval that the formula has; a failure leaves the file as it was.");
  open_table (session, file, NULL);
  fit (session, NULL);

  g_assert_false (predict (session, wrong, output, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_clear_error (&error);
  g_file_load_contents (output, NULL, &text, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "before\n");
  g_clear_pointer (&text, g_free);
  g_assert_true (g_file_delete (output, NULL, NULL));
  g_assert_false (predict (session, wrong, output, &error));
  g_clear_error (&error);
  g_assert_false (g_file_query_exists (output, NULL));

  predict (session, new, output, NULL);
  g_file_load_contents (output, NULL, &text, NULL, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 4);
  g_assert_cmpstr (lines[0], ==, "prediction,lower,upper");
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (lines[2], NULL), 5, 1e-14);
  /* At the mean of x: 2 ± t(0.975, 3) s √(1 + 1/5), and s² = 1.6 / 3. */
  cells = g_strsplit (lines[1], ",", -1);
  g_assert_cmpfloat (g_ascii_strtod (cells[0], NULL), ==, 2);
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[1], NULL), 2 - 3.1824463052837078 * 0.8, 1e-12);
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[2], NULL), 2 + 3.1824463052837078 * 0.8, 1e-12);

  remove_tree (folder);
}

static void
test_predict_gaps (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = write_table (folder, "line.csv", "x,y\n0,0\n1,2\n2,4\n");
  g_autoptr (GFile) new = write_table (folder, "new.csv", "n,x\n1,\n2,3\n3,NA\n4,\n5,4\n6,\n");
  g_autoptr (GFile) none = write_table (folder, "none.csv", "n,x\n1,\n");
  g_autoptr (GFile) output = g_file_new_build_filename (folder, "predictions.csv", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("Each row of the table has a line: NA where a number is missing.");
  open_table (session, file, NULL);
  apr_linear_regression_set_positive (trendline_fit_session_get_options (session), TRUE);
  fit (session, NULL);
  predict (session, new, output, NULL);
  g_file_load_contents (output, NULL, &text, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "prediction\nNA\n6\nNA\nNA\n8\nNA\n");
  g_assert_cmpuint (trendline_fit_session_get_n_dropped (session), ==, 4);

  g_assert_true (g_file_delete (output, NULL, NULL));
  g_assert_false (predict (session, none, output, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_false (g_file_query_exists (output, NULL));

  remove_tree (folder);
}

static void
test_undo_options (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  AprLinearRegression *options = trendline_fit_session_get_options (session);
  g_autoptr (GFile) file = find_longley ();

  g_test_summary ("Options are choices too; the steps of a penalty are one; another table begins anew.");
  open_table (session, file, NULL);
  trendline_fit_session_set_drop_missing (session, TRUE);
  apr_linear_regression_set_alpha (options, 0.1);
  apr_linear_regression_set_alpha (options, 0.2);
  apr_linear_regression_set_alpha (options, 0.3);
  apr_linear_regression_set_fit_intercept (options, FALSE);
  apr_linear_regression_set_positive (options, TRUE);
  apr_linear_regression_set_dtype (options, APR_DTYPE_F32);

  trendline_fit_session_undo (session);
  g_assert_cmpint (apr_linear_regression_get_dtype (options), ==, APR_DTYPE_F64);
  g_assert_true (apr_linear_regression_get_positive (options));
  trendline_fit_session_undo (session);
  g_assert_false (apr_linear_regression_get_positive (options));
  g_assert_false (apr_linear_regression_get_fit_intercept (options));
  trendline_fit_session_undo (session);
  g_assert_true (apr_linear_regression_get_fit_intercept (options));
  g_assert_cmpfloat (apr_linear_regression_get_alpha (options), ==, 0.3);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (apr_linear_regression_get_alpha (options), ==, 0);
  g_assert_true (trendline_fit_session_get_drop_missing (session));
  trendline_fit_session_undo (session);
  g_assert_false (trendline_fit_session_get_drop_missing (session));
  g_assert_false (trendline_fit_session_get_can_undo (session));

  /* A penalty that comes back is no change. */
  apr_linear_regression_set_alpha (options, 1);
  apr_linear_regression_set_alpha (options, 0);
  g_assert_false (trendline_fit_session_get_can_undo (session));

  trendline_fit_session_set_drop_missing (session, TRUE);
  apr_linear_regression_set_alpha (options, 2);
  apr_linear_regression_set_fit_intercept (options, FALSE);
  apr_linear_regression_set_positive (options, TRUE);
  apr_linear_regression_set_dtype (options, APR_DTYPE_F32);
  open_table (session, file, NULL);
  g_assert_false (trendline_fit_session_get_drop_missing (session));
  g_assert_cmpfloat (apr_linear_regression_get_alpha (options), ==, 0);
  g_assert_true (apr_linear_regression_get_fit_intercept (options));
  g_assert_false (apr_linear_regression_get_positive (options));
  g_assert_cmpint (apr_linear_regression_get_dtype (options), ==, APR_DTYPE_F64);
  g_assert_false (trendline_fit_session_get_can_undo (session));
}

static void
test_outdated (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autoptr (GFile) file = find_longley ();
  guint n_changes = 0;

  g_test_summary ("Results are outdated while other choices are made than those that they come from.");
  g_signal_connect_swapped (session, "notify::outdated", G_CALLBACK (count), &n_changes);
  open_table (session, file, NULL);
  trendline_fit_session_set_target (session, "x1");
  g_assert_false (trendline_fit_session_get_outdated (session));
  fit (session, NULL);
  g_assert_false (trendline_fit_session_get_outdated (session));

  n_changes = 0;
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 1);
  g_assert_true (trendline_fit_session_get_outdated (session));
  g_assert_cmpuint (n_changes, >, 0);
  trendline_fit_session_undo (session);
  g_assert_false (trendline_fit_session_get_outdated (session));
  trendline_fit_session_set_target (session, "y");
  g_assert_true (trendline_fit_session_get_outdated (session));
  fit (session, NULL);
  g_assert_false (trendline_fit_session_get_outdated (session));
}

static void
test_undo (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autoptr (GFile) file = find_longley ();
  TrendlineTable *table;

  g_test_summary (
    "Each choice is taken back by itself, all or none of the features together; opening is no choice.");
  open_table (session, file, NULL);
  table = trendline_fit_session_get_table (session);
  g_assert_false (trendline_fit_session_get_can_undo (session));

  trendline_fit_session_set_target (session, "x1");
  trendline_column_set_is_feature (trendline_table_find_column (table, "x2"), FALSE);
  trendline_fit_session_set_weight (session, "x3");
  trendline_fit_session_choose_all (session, "", FALSE);
  g_assert_false (trendline_column_get_is_feature (trendline_table_find_column (table, "x4")));

  trendline_fit_session_undo (session);
  g_assert_true (trendline_column_get_is_feature (trendline_table_find_column (table, "x4")));
  g_assert_false (trendline_column_get_is_feature (trendline_table_find_column (table, "x2")));
  g_assert_cmpstr (trendline_fit_session_get_weight (session), ==, "x3");
  trendline_fit_session_undo (session);
  g_assert_null (trendline_fit_session_get_weight (session));
  trendline_fit_session_undo (session);
  g_assert_true (trendline_column_get_is_feature (trendline_table_find_column (table, "x2")));
  g_assert_cmpstr (trendline_fit_session_get_target (session), ==, "x1");
  trendline_fit_session_undo (session);
  g_assert_cmpstr (trendline_fit_session_get_target (session), ==, "y");
  g_assert_false (trendline_fit_session_get_can_undo (session));
}

static void
test_gaps (void)
{
  g_autoptr (TrendlineFitSession) session = trendline_fit_session_new ();
  g_autofree char *folder = make_folder ();
  g_autoptr (GFile) file = write_table (folder, "gaps.csv", "x,y\n0,1\nNA,7\n1,3\n2,\n2,5\n");
  g_autoptr (GError) error = NULL;

  open_table (session, file, NULL);
  g_assert_false (fit (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_clear_error (&error);
  g_assert_cmpuint (trendline_fit_session_get_n_missing (session), ==, 2);
  trendline_fit_session_set_drop_missing (session, TRUE);
  fit (session, NULL);
  g_assert_cmpfloat (get_coefficient (session, 0), ==, 2);
  g_assert_cmpuint (trendline_fit_session_get_n_dropped (session), ==, 2);
  g_assert_cmpuint (trendline_fit_session_get_n_missing (session), ==, 0);
  g_assert_cmpuint (apr_regression_statistics_get_n_samples (trendline_fit_session_get_statistics (session)),
                    ==, 3);

  remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/fit-session/longley", test_longley);
  g_test_add_func ("/fit-session/choice", test_choice);
  g_test_add_func ("/fit-session/options", test_options);
  g_test_add_func ("/fit-session/cancel", test_cancel);
  g_test_add_func ("/fit-session/busy", test_busy);
  g_test_add_func ("/fit-session/errors", test_errors);
  g_test_add_func ("/fit-session/gzip-members", test_gzip_members);
  g_test_add_func ("/fit-session/add", test_add);
  g_test_add_func ("/fit-session/predict", test_predict);
  g_test_add_func ("/fit-session/predict/gaps", test_predict_gaps);
  g_test_add_func ("/fit-session/undo", test_undo);
  g_test_add_func ("/fit-session/undo/options", test_undo_options);
  g_test_add_func ("/fit-session/outdated", test_outdated);
  g_test_add_func ("/fit-session/gaps", test_gaps);

  return g_test_run ();
}
