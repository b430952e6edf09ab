/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "app/trendline-fit-session.h"
#include "app/trendline-fold-sums.h"
#include "tests/apr-test.h"
#include "tests/folder.h"
#include "tests/waiting.h"

/* How well a session's models predict rows that they have not seen. */

static TrendlineFitSession *
open_file (GFile *file)
{
  TrendlineFitSession *session = trendline_fit_session_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_open_async (session, file, on_ready, &result);
  trendline_fit_session_open_finish (session, wait_for (&result), &error);
  g_assert_no_error (error);

  return session;
}

static TrendlineFitSession *
open_longley (void)
{
  g_autofree char *path = data_path ("nist/longley.csv");
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return open_file (file);
}

/* Writes a table into a folder, and opens it. */
static TrendlineFitSession *
open_text (const char *folder, const char *text)
{
  g_autofree char *path = g_build_filename (folder, "table.csv", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);

  return open_file (file);
}

static gboolean
fit (TrendlineFitSession *session, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  trendline_fit_session_fit_async (session, on_ready, &result);

  return trendline_fit_session_fit_finish (session, wait_for (&result), error);
}

static gboolean
is_waiting (const TrendlineScore *score)
{
  return score != NULL && isnan (score->error) && score->problem == NULL;
}

/* Fits, and waits for the score, which follows. */
static const TrendlineScore *
score (TrendlineFitSession *session)
{
  g_autoptr (GError) error = NULL;

  fit (session, &error);
  g_assert_no_error (error);
  while (is_waiting (trendline_fit_session_get_score (session)))
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (trendline_fit_session_get_score (session));

  return trendline_fit_session_get_score (session);
}

static void
assert_near (double found, double expected)
{
  g_assert_cmpfloat_with_epsilon (found, expected, 1e-12 * expected);
}

static void
test_longley (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;
  const TrendlineScore *found;

  g_test_summary ("The model comes first, then the errors, which are those of rational arithmetic.");
  g_assert_null (trendline_fit_session_get_score (session));
  fit (session, &error);
  g_assert_no_error (error);
  g_assert_nonnull (trendline_fit_session_get_statistics (session));
  g_assert_true (is_waiting (trendline_fit_session_get_score (session)));

  /* With the Mersenne Twister to deal the rows out, seeded with 5. One of the folds has four rows, others three. */
  found = score (session);
  assert_near (found->error, 411.73006770895455);

  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 100);
  found = score (session);
  assert_near (found->error, 718.1977749516849);
}

static void
test_weights (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (TrendlineFitSession) session =
    open_text (folder, "x,w,y\n0,1,1\n5,0,99\n1,2,3\n3,0,0\n2,1,4\n4,3,8\n6,1,15\n5,0,7\n7,2,13\n8,1,19\n");
  const TrendlineScore *found;

  g_test_summary ("Weights count in fits and errors; rows of weight 0 count for nothing, and take no fold.");
  trendline_fit_session_set_weight (session, "w");
  found = score (session);
  assert_near (found->error, 1.8986762769003416);

  remove_tree (folder);
}

static void
assert_weight_of_row (const char *folder, const char *text, const char *message)
{
  g_autoptr (TrendlineFitSession) session = open_text (folder, text);
  g_autoptr (GError) error = NULL;

  trendline_fit_session_set_weight (session, "w");
  trendline_fit_session_set_drop_missing (session, strstr (text, "\n,") != NULL);
  g_assert_false (fit (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_wrong_weights (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (GString) text = g_string_new ("x,w,y\n");
  guint i;

  g_test_summary ("Of a weight that is wrong, the line of the file is named.");
  assert_weight_of_row (folder, "x,w,y\n0,1,1\n3,1,5\n1,1,2\n2,-1,2\n3,1,4\n4,1,4\n",
                        "table.csv:5: column “w”: the weight -1 is negative");
  assert_weight_of_row (folder, "x,w,y\n0,1,1\n,1,5\n1,1,2\n2,1,2\n3,-0.5,4\n4,1,4\n5,2,6\n",
                        "table.csv:6: column “w”: the weight -0.5 is negative");
  for (i = 0; i < 300000; i++)
    g_string_append_printf (text, "%u,1,%u\n", i % 7, i % 5);
  g_string_append (text, "1,-2,1\n");
  assert_weight_of_row (folder, text->str, "table.csv:300002: column “w”: the weight -2 is negative");

  remove_tree (folder);
}

static void
test_few_rows (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (TrendlineFitSession) session = open_text (folder, "x,y\n0,0\n1,1\n2,1\n3,3\n");
  const TrendlineScore *found = score (session);

  g_test_summary ("Fewer rows than folds have no score, which is said; the model is there all the same.");
  g_assert_true (isnan (found->error));
  g_assert_cmpstr (found->problem, ==, "There are too few rows to tell how well new rows are predicted.");
  g_assert_nonnull (trendline_fit_session_get_model (session));
  g_clear_object (&session);

  /* Each row is a fold. Without one of the ends of a line, the line is the same. */
  session = open_text (folder, "x,y\n0,0\n1,2\n2,4\n3,6\n4,8\n");
  found = score (session);
  g_assert_null (found->problem);
  g_assert_cmpfloat (found->error, ==, 0);

  remove_tree (folder);
}

static void
add (TrendlineFitSession *session, GFile *file)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  trendline_fit_session_add_async (session, file, FALSE, on_ready, &result);
  trendline_fit_session_add_finish (session, wait_for (&result), &error);
  g_assert_no_error (error);
}

static void
test_models_without (void)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (TrendlineFitSession) session = open_text (folder, "x,y\n0,0\n1,1\n2,1\n3,3\n5,4\n");
  g_autoptr (TrendlineFitSession) opened = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A model from a file has no score, nor has one to which rows were added.");
  score (session);
  apr_estimator_save_to_file (APR_ESTIMATOR (trendline_fit_session_get_model (session)), file, NULL, &error);
  g_assert_no_error (error);
  opened = open_file (file);
  g_assert_nonnull (trendline_fit_session_get_model (opened));
  g_assert_null (trendline_fit_session_get_score (opened));

  add (session, trendline_table_get_file (trendline_fit_session_get_table (session)));
  g_assert_cmpuint (apr_regression_statistics_get_n_samples (trendline_fit_session_get_statistics (session)),
                    ==, 10);
  g_assert_null (trendline_fit_session_get_score (session));

  remove_tree (folder);
}

static gboolean
find_ridge (TrendlineFitSession *session, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  trendline_fit_session_find_ridge_async (session, on_ready, &result);

  return trendline_fit_session_find_ridge_finish (session, wait_for (&result), error);
}

static void
test_cancel (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("The score of a fit that is done comes, whatever else is cancelled meanwhile.");
  fit (session, &error);
  g_assert_no_error (error);
  g_assert_true (is_waiting (trendline_fit_session_get_score (session)));
  trendline_fit_session_find_ridge_async (session, on_ready, &result);
  trendline_fit_session_cancel (session);
  g_assert_false (trendline_fit_session_find_ridge_finish (session, wait_for (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  while (is_waiting (trendline_fit_session_get_score (session)))
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (trendline_fit_session_get_score (session));
  assert_near (trendline_fit_session_get_score (session)->error, 411.73006770895455);
}

static void
test_clear (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;

  g_test_summary ("A score that nobody wants is not waited for, and that of another fit takes its place.");
  fit (session, &error);
  g_assert_no_error (error);
  g_assert_true (is_waiting (trendline_fit_session_get_score (session)));
  trendline_fit_session_clear_score (session);
  g_assert_null (trendline_fit_session_get_score (session));
  g_assert_nonnull (trendline_fit_session_get_model (session));

  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 100);
  assert_near (score (session)->error, 718.1977749516849);
}

static void
cancel_at_end (TrendlineFitSession *session)
{
  if (trendline_fit_session_get_fraction (session) == 1)
    trendline_fit_session_cancel (session);
}

static void
test_cancel_at_end (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;

  g_test_summary ("A fit that is cancelled when it is done, but before that is told, changes nothing.");
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 100);
  g_signal_connect (session, "notify::fraction", G_CALLBACK (cancel_at_end), NULL);
  g_assert_false (fit (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (trendline_fit_session_get_model (session));
  g_assert_null (trendline_fit_session_get_score (session));
}

static double
get_alpha (TrendlineFitSession *session)
{
  return apr_linear_regression_get_alpha (trendline_fit_session_get_options (session));
}

static void
on_fraction (TrendlineFitSession *session, GParamSpec *pspec, guint *n)
{
  if (trendline_fit_session_get_state (session) == TRENDLINE_FIT_STATE_SOLVING)
    ++*n;
}

static void
test_ridge (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;
  AprLinearRegression *model;
  guint n_steps = 0;

  g_test_summary ("The penalty with the least error of all that are tried, in one step that can be undone.");
  g_signal_connect (session, "notify::fraction", G_CALLBACK (on_fraction), &n_steps);
  find_ridge (session, &error);
  g_assert_no_error (error);
  /* In rational arithmetic: 403.44 with 0.01, 397.06 with 0.03, 424.55 with 0.1, and 546.40 with 3,000,000, which is
   * less than with its neighbours. */
  g_assert_cmpfloat (get_alpha (session), ==, 0.03);
  g_assert_null (trendline_fit_session_get_model (session));
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  /* One for each penalty. */
  g_assert_cmpuint (n_steps, ==, 26);
  assert_near (score (session)->error, 397.06205660634924);

  model = trendline_fit_session_get_model (session);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (get_alpha (session), ==, 0);
  g_assert_false (trendline_fit_session_get_can_undo (session));
  g_assert_true (trendline_fit_session_get_outdated (session));
  g_assert_true (trendline_fit_session_get_model (session) == model);
}

static void
find_ridge_of_text (const char *folder, const char *text, double expected)
{
  g_autoptr (TrendlineFitSession) session = open_text (folder, text);
  g_autoptr (GError) error = NULL;

  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 5);
  find_ridge (session, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (get_alpha (session), ==, expected);
}

static void
test_least_ridge (void)
{
  g_autofree char *folder = make_folder ();

  g_test_summary ("The least of those that are as good, with 0 where no penalty makes the error less.");
  /* In rational arithmetic 0.1 has the least error, less than that of 0 by 4 parts in 100,000. */
  find_ridge_of_text (folder, "x,y\n0,9\n1,3\n2,26\n3,29\n4,32\n5,41\n6,55\n7,79\n8,86\n9,92\n", 0);
  /* With 1 it is less by 7 parts in 1,000. */
  find_ridge_of_text (folder, "x,y\n0,0\n1,3\n2,11\n3,39\n4,40\n5,54\n6,63\n7,77\n8,82\n9,85\n", 1);
  /* Where the feature tells nothing of the target, the error falls with each penalty, but hardly any more. */
  find_ridge_of_text (folder, "x,y\n0,9\n1,-3\n2,7\n3,-5\n4,0\n5,-5\n6,-6\n7,-1\n8,8\n9,-5\n", 1000);
  /* A line without noise. */
  find_ridge_of_text (folder, "x,y\n0,0\n1,2\n2,4\n3,6\n4,8\n", 0);

  remove_tree (folder);
}

static void
cancel_solving (TrendlineFitSession *session)
{
  if (trendline_fit_session_get_state (session) == TRENDLINE_FIT_STATE_SOLVING)
    trendline_fit_session_cancel (session);
}

static void
test_ridge_failures (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;

  g_test_summary ("A search that is cancelled or cannot succeed leaves the penalty as it was.");
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 7);
  g_signal_connect (session, "notify::state", G_CALLBACK (cancel_solving), NULL);
  g_assert_false (find_ridge (session, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_cmpfloat (get_alpha (session), ==, 7);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_clear_object (&session);

  session = open_text (folder, "x,y\n0,0\n1,1\n2,1\n3,3\n");
  g_assert_false (find_ridge (session, &error));
  g_assert_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_FEW_ROWS);
  g_assert_cmpstr (error->message, ==, "There are too few rows to tell how well new rows are predicted.");
  g_clear_error (&error);
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (session), "x"), FALSE);
  g_assert_false (find_ridge (session, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_assert_cmpfloat (get_alpha (session), ==, 0);

  remove_tree (folder);
}

static void
test_undo_ridge (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GError) error = NULL;

  g_test_summary ("What is found and what is typed, before and after, are changes of their own.");
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 7);
  find_ridge (session, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (get_alpha (session), ==, 0.03);
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 5);
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 6);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (get_alpha (session), ==, 0.03);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (get_alpha (session), ==, 7);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (get_alpha (session), ==, 0);
  g_assert_false (trendline_fit_session_get_can_undo (session));
  g_clear_object (&session);

  session = open_text (folder, "x,y\n0,0\n1,2\n2,4\n3,6\n4,8\n");
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 7);
  find_ridge (session, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (get_alpha (session), ==, 0);
  trendline_fit_session_undo (session);
  g_assert_cmpfloat (get_alpha (session), ==, 7);

  remove_tree (folder);
}

static void
test_change_during_search (void)
{
  g_autoptr (TrendlineFitSession) session = open_longley ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A penalty that was found for other choices is not set.");
  trendline_fit_session_find_ridge_async (session, on_ready, &result);
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (session), 5);
  g_assert_false (trendline_fit_session_find_ridge_finish (session, wait_for (&result), &error));
  g_assert_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_CHANGED);
  g_assert_cmpstr (error->message, ==, "The choices were changed during the search.");
  g_assert_cmpfloat (get_alpha (session), ==, 5);
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_IDLE);
  g_clear_error (&error);
  g_clear_object (&result);

  trendline_fit_session_find_ridge_async (session, on_ready, &result);
  trendline_fit_session_set_target (session, "GNP");
  g_assert_false (trendline_fit_session_find_ridge_finish (session, wait_for (&result), &error));
  g_assert_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_CHANGED);
  g_assert_cmpfloat (get_alpha (session), ==, 5);
}

/* Random numbers, the last of each row the target. */
static AprTensor *
create_rows (gsize n_rows, gsize n_columns)
{
  const gsize shape[] = { n_rows, n_columns };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_autofree double *numbers = g_new (double, n_rows *n_columns);
  AprTensor *rows;
  gsize i;

  for (i = 0; i < n_rows * n_columns; i++)
    numbers[i] = g_rand_int_range (random, -1000, 1000);
  rows = apr_tensor_new_from_doubles (numbers, n_rows * n_columns, shape, 2, NULL);
  g_assert_nonnull (rows);

  return rows;
}

/* A part of the rows and of the columns, as numpy has it. */
static AprTensor *
slice (AprTensor *rows, gsize begin, gsize end, const char *columns)
{
  g_autofree char *text =
    g_strdup_printf ("%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ", %s", begin, end, columns);
  g_autoptr (GError) error = NULL;
  AprTensor *part = apr_tensor_slice (rows, text, &error);

  g_assert_no_error (error);

  return part;
}

/* Adds so many rows at once, and returns the sums of all. */
static AprCrossProducts *
add_rows (TrendlineFoldSums *sums, AprTensor *rows, gsize n_at_once)
{
  const gsize n_rows = apr_tensor_get_shape (rows, NULL)[0];
  g_autoptr (GError) error = NULL;
  AprCrossProducts *total;
  gsize i;

  for (i = 0; i < n_rows; i += n_at_once)
    {
      g_autoptr (AprTensor) x = slice (rows, i, MIN (i + n_at_once, n_rows), ":-1");
      g_autoptr (AprTensor) y = slice (rows, i, MIN (i + n_at_once, n_rows), "-1");

      trendline_fold_sums_add (sums, x, y, NULL, NULL, &error);
      g_assert_no_error (error);
    }
  total = trendline_fold_sums_finish (sums, NULL, &error);
  g_assert_no_error (error);

  return total;
}

static AprTensor *
validate (TrendlineFoldSums *sums)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = NULL;
  g_autoptr (GError) error = NULL;
  AprTensor *errors;

  folds = trendline_fold_sums_create_folds (sums, &error);
  g_assert_no_error (error);
  errors = apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR,
                                         NULL, &error);
  g_assert_no_error (error);

  return errors;
}

static void
test_batches (void)
{
  const gsize n_rows = 30000;
  g_autoptr (AprTensor) rows = create_rows (n_rows, 101);
  g_autoptr (AprTensor) x = slice (rows, 0, n_rows, ":-1");
  g_autoptr (AprTensor) y = slice (rows, 0, n_rows, "-1");
  g_autoptr (TrendlineFoldSums) at_once = trendline_fold_sums_new ();
  g_autoptr (TrendlineFoldSums) in_parts = trendline_fold_sums_new ();
  g_autoptr (AprCrossProducts) expected = apr_cross_products_new (100, 1, NULL);
  g_autoptr (AprCrossProducts) total = add_rows (at_once, rows, n_rows);
  g_autoptr (AprCrossProducts) total_in_parts = add_rows (in_parts, rows, 997);
  g_autoptr (AprTensor) errors = validate (at_once);
  g_autoptr (AprTensor) errors_in_parts = validate (in_parts);
  g_autoptr (GError) error = NULL;

  g_test_summary ("However many rows come at once, the folds are the same, and together all rows, exactly.");
  apr_cross_products_update (expected, x, y, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (total, expected));
  g_assert_true (apr_cross_products_equal (total_in_parts, expected));
  g_assert_true (apr_tensor_equal (errors, errors_in_parts));
}

static void
test_many_features (void)
{
  const gsize n_rows = 20;
  g_autoptr (AprTensor) rows = create_rows (n_rows, 1002);
  g_autoptr (AprTensor) x = slice (rows, 0, n_rows, ":-1");
  g_autoptr (AprTensor) y = slice (rows, 0, n_rows, "-1");
  g_autoptr (TrendlineFoldSums) sums = trendline_fold_sums_new ();
  g_autoptr (AprCrossProducts) expected = apr_cross_products_new (1001, 1, NULL);
  g_autoptr (AprCrossProducts) total = add_rows (sums, rows, 3);
  g_autoptr (GError) error = NULL;

  g_test_summary ("More than a thousand features are in no folds, and the sums are still those of all rows.");
  apr_cross_products_update (expected, x, y, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (total, expected));
  g_assert_null (trendline_fold_sums_create_folds (sums, &error));
  g_assert_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_MANY_FEATURES);
}

static void
test_wide_table (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (TrendlineFitSession) session = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary (
    "A search among more than a thousand features reads no rows: the last one would be an error.");
  for (i = 0; i < 1001; i++)
    g_string_append_printf (text, "x%u,", i);
  g_string_append (text, "y\n");
  for (i = 0; i < 300 * 1002; i++)
    g_string_append_printf (text, "%u%c", i % 7, i % 1002 == 1001 ? '\n' : ',');
  g_string_append (text, "wrong\n");
  session = open_text (folder, text->str);
  g_assert_false (find_ridge (session, &error));
  g_assert_error (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_MANY_FEATURES);
  g_assert_cmpstr (error->message, ==,
                   "There are too many features to tell how well new rows are predicted.");

  remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/scores/longley", test_longley);
  g_test_add_func ("/trendline/scores/weights", test_weights);
  g_test_add_func ("/trendline/scores/wrong-weights", test_wrong_weights);
  g_test_add_func ("/trendline/scores/few-rows", test_few_rows);
  g_test_add_func ("/trendline/scores/models-without", test_models_without);
  g_test_add_func ("/trendline/scores/cancel", test_cancel);
  g_test_add_func ("/trendline/scores/cancel-at-end", test_cancel_at_end);
  g_test_add_func ("/trendline/scores/clear", test_clear);
  g_test_add_func ("/trendline/scores/ridge", test_ridge);
  g_test_add_func ("/trendline/scores/ridge/least", test_least_ridge);
  g_test_add_func ("/trendline/scores/ridge/failures", test_ridge_failures);
  g_test_add_func ("/trendline/scores/ridge/undo", test_undo_ridge);
  g_test_add_func ("/trendline/scores/ridge/change", test_change_during_search);
  g_test_add_func ("/trendline/scores/batches", test_batches);
  g_test_add_func ("/trendline/scores/many-features", test_many_features);
  g_test_add_func ("/trendline/scores/wide-table", test_wide_table);

  return g_test_run ();
}
