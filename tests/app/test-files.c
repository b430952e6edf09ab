/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/app/opened-window.h"

/* The files that a window writes and opens. */

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
  fit_opened (&opened);
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
  fit_opened (&opened);
  run_until_quit (&opened, predict_and_quit);
}

static void
test_failed_save (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n,5\n1,2\n2,4\n");
  g_autoptr (GFile) nowhere = get_neighbour (&opened, "missing/model.safetensors");

  g_test_summary ("A failure to save is told, whatever the last fit failed of.");
  trendline_fit_session_set_drop_missing (opened.session, TRUE);
  fit_opened (&opened);
  trendline_fit_session_set_drop_missing (opened.session, FALSE);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "Numbers are missing");
  trendline_window_save_model (TRENDLINE_WINDOW (opened.window), nowhere);
  wait_until_gone (opened.window, "Numbers are missing");
  wait_for_label (opened.window, "There is no such file");
}

/* Stands for the desktop, which shows notifications. */
static void
on_desktop_called (GDBusConnection *connection,
                   const char *sender,
                   const char *path,
                   const char *interface,
                   const char *method,
                   GVariant *parameters,
                   GDBusMethodInvocation *invocation,
                   gpointer told)
{
  GVariant **notification = told;

  g_clear_pointer (notification, g_variant_unref);
  *notification = g_variant_ref (parameters);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(u)", 1));
}

static void
show_notifications (GDBusConnection *bus, GVariant **told)
{
  static const GDBusInterfaceVTable calls = { .method_call = on_desktop_called };
  g_autoptr (GDBusNodeInfo) node = NULL;
  g_autoptr (GVariant) owned = NULL;
  g_autoptr (GError) error = NULL;

  node = g_dbus_node_info_new_for_xml (
    "<node><interface name='org.freedesktop.Notifications'><method name='Notify'>"
    "<arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='as' direction='in'/>"
    "<arg type='a{sv}' direction='in'/><arg type='i' direction='in'/><arg type='u' direction='out'/>"
    "</method></interface></node>",
    &error);
  g_assert_no_error (error);
  g_dbus_connection_register_object (bus, "/org/freedesktop/Notifications", node->interfaces[0], &calls, told,
                                     NULL, &error);
  g_assert_no_error (error);
  owned =
    g_dbus_connection_call_sync (bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                 "RequestName", g_variant_new ("(su)", "org.freedesktop.Notifications", 0),
                                 NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  g_assert_no_error (error);
}

static GString *printed;

static void
on_printed (const char *text)
{
  g_string_append (printed, text);
}

/* Tries to save a model where no folder is, closes the window, and asserts what is printed. */
static void
save_in_closed_window (Opened *opened)
{
  g_autoptr (GFile) nowhere = get_neighbour (opened, "missing/model.safetensors");
  GtkWidget *window = g_steal_pointer (&opened->window);
  gpointer pointer = window;
  GPrintFunc before;

  g_object_add_weak_pointer (G_OBJECT (window), &pointer);
  trendline_window_save_model (TRENDLINE_WINDOW (window), nowhere);
  gtk_window_destroy (GTK_WINDOW (window));
  printed = g_string_new (NULL);
  before = g_set_printerr_handler (on_printed);
  while (pointer != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_set_printerr_handler (before);
  g_assert_true (g_str_has_prefix (printed->str, "Could not save “model.safetensors”: "));
  g_assert_nonnull (strstr (printed->str, "No such file"));
  g_string_free (printed, TRUE);
}

static void
test_failed_save_of_closed (void)
{
  g_autofree char *daemon = g_find_program_in_path ("dbus-daemon");
  GTestDBus *buses;
  g_autoptr (GDBusConnection) bus = NULL;
  g_autoptr (GVariant) told = NULL;
  g_autoptr (GError) error = NULL;
  const char *title;
  const char *body;

  g_test_summary ("A failure to save once the window is closed is told on the terminal, and by the desktop.");
  {
    g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");

    fit_opened (&opened);
    save_in_closed_window (&opened);
  }

  if (daemon == NULL)
    {
      g_test_skip ("there is no dbus-daemon");
      return;
    }
  /* It is not freed, which would wait for GTK to give up its connection. */
  buses = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (buses);
  bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_set_exit_on_close (bus, FALSE);
  show_notifications (bus, &told);
  {
    g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");

    fit_opened (&opened);
    save_in_closed_window (&opened);
    while (told == NULL)
      g_main_context_iteration (NULL, TRUE);
  }
  g_variant_get_child (told, 3, "&s", &title);
  g_variant_get_child (told, 4, "&s", &body);
  g_assert_cmpstr (title, ==, "Could not save “model.safetensors”");
  g_assert_nonnull (strstr (body, "No such file"));
  g_test_dbus_stop (buses);
}

static void
pass_over_gaps (Opened *opened)
{
  wait_for_label (opened->window, "Numbers are missing");
  press (opened->window, "Details");
  wait_for_label (find_dialog (opened->window), "Pass Over Gaps");
  press (find_dialog (opened->window), "Pass Over Gaps");
  wait_for_label (opened->window, "The data are added; rows passed over: 1");
  while (find_dialog (opened->window) != NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
assert_n_samples (Opened *opened, guint n_samples)
{
  AprRegressionStatistics *statistics = trendline_fit_session_get_statistics (opened->session);

  g_assert_cmpuint (apr_regression_statistics_get_n_samples (statistics), ==, n_samples);
}

static void
test_gaps_of_added (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  g_autoptr (GFile) gaps = write_neighbour (&opened, "gaps.csv", "x,y\n3,5\n,7\n4,9\n");
  g_autoptr (GFile) more = write_neighbour (&opened, "more.csv", "x,y\n7,8\n");
  g_autoptr (GFile) model = get_neighbour (&opened, "model.safetensors");
  TrendlineWindow *window = TRENDLINE_WINDOW (opened.window);

  g_test_summary ("Rows are added without those that have gaps, to the model of a table or of a file.");
  fit_opened (&opened);
  trendline_window_save_model (window, model);
  wait_for_label (opened.window, "The model is saved");
  trendline_window_add_data (window, gaps);
  pass_over_gaps (&opened);
  assert_n_samples (&opened, 5);
  /* That is no choice for the next fit. */
  g_assert_false (trendline_fit_session_get_drop_missing (opened.session));

  trendline_window_open (window, model);
  wait_until_idle (opened.session);
  g_assert_null (trendline_fit_session_get_table (opened.session));
  trendline_window_add_data (window, gaps);
  pass_over_gaps (&opened);
  assert_n_samples (&opened, 5);
  trendline_window_add_data (window, more);
  wait_for_label (opened.window, "The data are added");
  assert_n_samples (&opened, 6);
}

static void
find_over_gaps (Opened *opened)
{
  g_assert_true (gtk_widget_activate_action (opened->window, "win.find-ridge", NULL));
  wait_for_label (opened->window, "Numbers are missing");
  press (opened->window, "Details");
  wait_for_label (find_dialog (opened->window), "Pass Over Gaps");
  press (find_dialog (opened->window), "Pass Over Gaps");
  while (find_dialog (opened->window) != NULL)
    g_main_context_iteration (NULL, TRUE);
  wait_until_idle (opened->session);
  g_assert_true (trendline_fit_session_get_drop_missing (opened->session));
}

static void
test_find_over_gaps (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n,5\n1,2\n2,4\n3,5\n4,7\n");
  g_autoptr (GFile) more = write_neighbour (&opened, "more.csv", "x,y\n7,8\n");

  g_test_summary ("A search that a gap ends is done again without it: nothing is fitted or added then.");
  find_over_gaps (&opened);
  g_assert_null (trendline_fit_session_get_model (opened.session));

  /* With a penalty there are no statistics. */
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (opened.session), 0);
  fit_opened (&opened);
  trendline_window_add_data (TRENDLINE_WINDOW (opened.window), more);
  wait_for_label (opened.window, "The data are added");
  assert_n_samples (&opened, 6);
  trendline_fit_session_set_drop_missing (opened.session, FALSE);
  find_over_gaps (&opened);
  assert_n_samples (&opened, 6);
}

static void
test_name_of_model (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  TrendlineWindow *window = TRENDLINE_WINDOW (opened.window);
  g_autoptr (GFile) plain = get_neighbour (&opened, "plain.model");
  g_autoptr (GFile) named = get_neighbour (&opened, "plain.model.safetensors");
  g_autoptr (GFile) capital = get_neighbour (&opened, "CAPITAL.SAFETENSORS");
  GtkWidget *dialog;
  GtkWidget *entry;

  g_test_summary ("A model is saved by a name that it can be opened by, which may have capitals.");
  fit_opened (&opened);
  trendline_window_save_model (window, plain);
  wait_for_label (opened.window, "The model is saved");
  g_assert_false (g_file_query_exists (plain, NULL));
  g_assert_true (g_file_query_exists (named, NULL));

  /* Nothing is replaced without a question. */
  trendline_window_save_model (window, plain);
  while ((dialog = find_toplevel ("Save the Model")) == NULL ||
         (entry = find_widget (dialog, GTK_TYPE_ENTRY)) == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "plain.model.safetensors");
  gtk_window_destroy (GTK_WINDOW (dialog));

  g_assert_true (g_file_move (named, capital, G_FILE_COPY_NONE, NULL, NULL, NULL, NULL));
  trendline_window_open (window, capital);
  wait_until_idle (opened.session);
  g_assert_null (trendline_fit_session_get_table (opened.session));
  g_assert_nonnull (trendline_fit_session_get_model (opened.session));
}

static void
test_no_table (void)
{
  static const char *const texts[] = { "", "x,x\n1,2\n", "x,\xe9\n1,2\n", "\xff\xfex", "PAR1\x15" };
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  gsize i;

  g_test_summary (
    "Of a file that is empty, in another encoding or format, or names a column twice, what one can do "
    "about it is told.");
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GFile) file = write_neighbour (&opened, "other.csv", texts[i]);
      GtkWidget *dialog;

      trendline_window_open (TRENDLINE_WINDOW (opened.window), file);
      wait_for_label (opened.window, "The table cannot be read");
      press (opened.window, "Details");
      dialog = find_dialog (opened.window);
      wait_for_label (dialog,
                      "Use a text file in UTF-8 whose first line names each column once, with commas, "
                      "semicolons or tabs between them.");
      gtk_window_destroy (GTK_WINDOW (dialog));
    }
}

static void
test_recent (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  g_autoptr (GFile) wrong = write_neighbour (&opened, "wrong.csv", "x,x\n0,1\n");
  g_autoptr (GFile) right = write_neighbour (&opened, "right.csv", "x,y\n0,1\n");
  g_autofree char *wrong_uri = g_file_get_uri (wrong);
  g_autofree char *right_uri = g_file_get_uri (right);
  GtkRecentManager *manager = gtk_recent_manager_get_default ();

  g_test_summary ("What could be opened is among the recent files.");
  trendline_window_open (TRENDLINE_WINDOW (opened.window), wrong);
  wait_for_label (opened.window, "The table cannot be read");
  trendline_window_open (TRENDLINE_WINDOW (opened.window), right);
  while (!gtk_recent_manager_has_item (manager, right_uri))
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (gtk_recent_manager_has_item (manager, wrong_uri));
}

static void
test_blocked (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  g_autoptr (GFile) pipe_file = get_neighbour (&opened, "pipe.csv");
  GtkWidget *window;
  int fd;

  g_test_summary ("To open a file that nobody writes to can be cancelled, in a window that has nothing yet.");
  g_assert_no_errno (mkfifo (g_file_peek_path (pipe_file), 0600));
  window = GTK_WIDGET (trendline_window_new (GTK_APPLICATION (opened.application)));
  gtk_window_present (GTK_WINDOW (window));
  trendline_window_open (TRENDLINE_WINDOW (window), pipe_file);
  wait_for_label (window, "Opening…");
  /* A pipe can be opened so when the thread that reads it is there. */
  while ((fd = g_open (g_file_peek_path (pipe_file), O_WRONLY | O_NONBLOCK, 0)) < 0)
    g_main_context_iteration (NULL, FALSE);
  wait_for_frames (window, 3);
  press (window, "Cancel");
  wait_for_label (window, "Cancelled");
  g_assert_nonnull (find_label (window, "Fit a Model"));
  g_assert_no_errno (close (fd));
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/files/quit-while-saving", test_quit_while_saving);

  g_test_add_func ("/trendline/files/quit-while-predicting", test_quit_while_predicting);

  g_test_add_func ("/trendline/files/failed-save", test_failed_save);
  g_test_add_func ("/trendline/files/gaps-of-added", test_gaps_of_added);
  g_test_add_func ("/trendline/files/find-over-gaps", test_find_over_gaps);

  g_test_add_func ("/trendline/files/name-of-model", test_name_of_model);

  g_test_add_func ("/trendline/files/no-table", test_no_table);

  g_test_add_func ("/trendline/files/recent", test_recent);

  g_test_add_func ("/trendline/files/blocked", test_blocked);

  /* The last one, as it ends the bus. */
  g_test_add_func ("/trendline/files/failed-save-of-closed", test_failed_save_of_closed);

  return g_test_run ();
}
