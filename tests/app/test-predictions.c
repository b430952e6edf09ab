/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>

#include "app/trendline-fit-session.h"
#include "tests/apr-test.h"
#include "tests/waiting.h"

/* The file of a session's predictions. */

#define N_ROWS 100000

typedef struct
{
  TrendlineFitSession *session;
  char *folder;
  GFile *table;
  GFile *output;
} Fixture;

/* With a model of the table. */
static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("x,y\n");
  g_autoptr (GAsyncResult) opened = NULL;
  g_autoptr (GAsyncResult) fitted = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  fixture->folder = g_dir_make_tmp ("trendline-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->table = g_file_new_build_filename (fixture->folder, "table.csv", NULL);
  fixture->output = g_file_new_build_filename (fixture->folder, "predictions.csv", NULL);
  for (i = 0; i < N_ROWS; i++)
    g_string_append (text, i % 2 == 0 ? "1,2\n" : "2,3\n");
  g_file_set_contents (g_file_peek_path (fixture->table), text->str, -1, &error);
  g_assert_no_error (error);

  fixture->session = trendline_fit_session_new ();
  trendline_fit_session_open_async (fixture->session, fixture->table, on_ready, &opened);
  trendline_fit_session_open_finish (fixture->session, wait_for (&opened), &error);
  g_assert_no_error (error);
  trendline_fit_session_fit_async (fixture->session, on_ready, &fitted);
  trendline_fit_session_fit_finish (fixture->session, wait_for (&fitted), &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_unlink (g_file_peek_path (fixture->output));
  g_unlink (g_file_peek_path (fixture->table));
  /* Nothing else is left. */
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_object_unref (fixture->session);
  g_object_unref (fixture->table);
  g_object_unref (fixture->output);
  g_free (fixture->folder);
}

static guint
count_lines (GFile *file)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  const char *end;
  guint n = 0;

  g_file_load_contents (file, NULL, &text, NULL, NULL, &error);
  g_assert_no_error (error);
  for (end = text; (end = strchr (end, '\n')) != NULL; end++)
    n++;

  return n;
}

static void
check_output (TrendlineFitSession *session, GParamSpec *pspec, GFile *output)
{
  if (g_file_query_exists (output, NULL))
    g_assert_cmpuint (count_lines (output), ==, N_ROWS + 1);
}

static void
test_complete (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A new file has its name once it has all rows.");
  g_signal_connect (fixture->session, "notify::fraction", G_CALLBACK (check_output), fixture->output);
  trendline_fit_session_predict_async (fixture->session, fixture->table, fixture->output, on_ready, &result);
  trendline_fit_session_predict_finish (fixture->session, wait_for (&result), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_lines (fixture->output), ==, N_ROWS + 1);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("What is cancelled leaves no file, unless it was done before.");
  g_signal_connect (fixture->session, "notify::fraction", G_CALLBACK (trendline_fit_session_cancel), NULL);
  trendline_fit_session_predict_async (fixture->session, fixture->table, fixture->output, on_ready, &result);
  trendline_fit_session_predict_finish (fixture->session, wait_for (&result), &error);
  check_output (fixture->session, NULL, fixture->output);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/predictions/complete", Fixture, NULL, set_up, test_complete, tear_down);
  g_test_add ("/predictions/cancelled", Fixture, NULL, set_up, test_cancelled, tear_down);

  return g_test_run ();
}
