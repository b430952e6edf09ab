/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/app/opened-window.h"

/* The files that a window writes and opens. */

static void
fit (Opened *opened)
{
  g_assert_true (gtk_widget_activate_action (opened->window, "win.fit", NULL));
  wait_until_idle (opened->session);
  g_assert_nonnull (trendline_fit_session_get_model (opened->session));
}

static gboolean
save_and_quit (gpointer data)
{
  Opened *opened = data;
  g_autoptr (GFile) file = get_neighbour (opened, "model.safetensors");

  trendline_window_save_model (TRENDLINE_WINDOW (opened->window), file);
  g_action_group_activate_action (G_ACTION_GROUP (opened->application), "quit", NULL);

  return G_SOURCE_REMOVE;
}

/* What is under way has a reference to its window, and lets it go when it ends. */
static void
assert_ended (gpointer *window)
{
  g_assert_null (*window);
}

static void
run_until_quit (Opened *opened, GSourceFunc start_and_quit)
{
  gpointer window = opened->window;

  g_object_add_weak_pointer (G_OBJECT (opened->window), &window);
  g_signal_connect_swapped (opened->application, "shutdown", G_CALLBACK (assert_ended), &window);
  g_idle_add (start_and_quit, opened);
  g_assert_cmpint (g_application_run (opened->application, 0, NULL), ==, 0);
  opened->window = NULL;
}

static void
test_quit_while_saving (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  g_autoptr (GFile) file = get_neighbour (&opened, "model.safetensors");
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A program that is quit ends when the model is saved.");
  fit (&opened);
  run_until_quit (&opened, save_and_quit);
  model = apr_linear_regression_load (g_file_peek_path (file), &error);
  g_assert_no_error (error);
}

static gboolean
predict_and_quit (gpointer data)
{
  Opened *opened = data;
  g_autoptr (GFile) output = get_neighbour (opened, "predictions.csv");

  trendline_window_predict_table (TRENDLINE_WINDOW (opened->window), opened->file, output);
  g_action_group_activate_action (G_ACTION_GROUP (opened->application), "quit", NULL);

  return G_SOURCE_REMOVE;
}

static void
test_quit_while_predicting (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");

  g_test_summary (
    "A program that is quit ends when predictions are cancelled, and what they wrote is removed.");
  fit (&opened);
  run_until_quit (&opened, predict_and_quit);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/files/quit-while-saving", test_quit_while_saving);

  g_test_add_func ("/trendline/files/quit-while-predicting", test_quit_while_predicting);

  return g_test_run ();
}
