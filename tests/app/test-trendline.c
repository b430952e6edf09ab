/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>

#include "app/trendline-application.h"
#include "app/trendline-window.h"
#include "tests/apr-test.h"

/* The first label of this text that can be seen. */
static GtkWidget *
find_label (GtkWidget *widget, const char *text)
{
  GtkWidget *child;

  if (!gtk_widget_get_mapped (widget))
    return NULL;
  if (GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), text))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *label = find_label (child, text);

      if (label != NULL)
        return label;
    }

  return NULL;
}

/* Runs the main loop until the text is to be seen. */
static void
wait_for_label (GtkWidget *window, const char *text)
{
  g_test_message ("waiting for “%s”", text);
  while (find_label (window, text) == NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
wait_until_idle (TrendlineFitSession *session)
{
  while (trendline_fit_session_get_state (session) != TRENDLINE_FIT_STATE_IDLE)
    g_main_context_iteration (NULL, TRUE);
}

static GApplication *
start (void)
{
  GApplication *application = G_APPLICATION (trendline_application_new (G_APPLICATION_NON_UNIQUE));
  g_autoptr (GError) error = NULL;

  g_application_register (application, NULL, &error);
  g_assert_no_error (error);
  g_application_set_default (application);

  return application;
}

static GtkWidget *
get_window (GApplication *application)
{
  GList *windows = gtk_application_get_windows (GTK_APPLICATION (application));

  g_assert_cmpuint (g_list_length (windows), ==, 1);

  return windows->data;
}

static GFile *
find_longley (void)
{
  g_autofree char *path = data_path ("nist/longley.csv");

  return g_file_new_for_path (path);
}

static void
test_longley (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  g_autoptr (GFile) model_file = NULL;
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  TrendlineFitSession *session;
  GtkWidget *window;

  g_test_summary (
    "Opens a table, fits, shows what NIST certifies, saves the model, and outlives a file that is missing.");
  folder = g_dir_make_tmp ("trendline-XXXXXX", &error);
  g_assert_no_error (error);
  path = g_build_filename (folder, "longley.safetensors", NULL);
  model_file = g_file_new_for_path (path);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = trendline_window_get_session (TRENDLINE_WINDOW (window));
  wait_for_label (window, "234289");

  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "0.995479");
  wait_for_label (window, "330.285");
  wait_for_label (window, "(Intercept)");
  wait_for_label (window, "−3.48226e+06");
  wait_for_label (window, "−4.82199");
  wait_for_label (window, "***");

  trendline_window_save_model (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "The model is saved");
  loaded = apr_linear_regression_load (path, &error);
  g_assert_no_error (error);
  coefficients = apr_linear_regression_get_coefficients (loaded);
  g_assert_cmpfloat_with_epsilon (apr_tensor_get_double (coefficients, 5, NULL), 1829.15146461355, 1e-10);

  g_assert_true (g_file_delete (model_file, NULL, NULL));
  trendline_window_open (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "There is no such file");
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_until_idle (session);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "longley.csv");
  gtk_window_destroy (GTK_WINDOW (window));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* The entry of this title that can be seen. */
static GtkWidget *
find_entry (GtkWidget *widget, const char *title)
{
  GtkWidget *child;

  if (ADW_IS_ENTRY_ROW (widget) &&
      g_str_equal (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (widget)), title))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *entry = find_entry (child, title);

      if (entry != NULL)
        return entry;
    }

  return NULL;
}

static void
test_predict (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = NULL;
  g_autoptr (GFile) model_file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  g_autofree char *model_path = NULL;
  GtkWidget *window;

  g_test_summary ("A model from a file predicts, and gives the interval of the formula, as one types.");
  folder = g_dir_make_tmp ("trendline-XXXXXX", &error);
  g_assert_no_error (error);
  path = g_build_filename (folder, "line.csv", NULL);
  model_path = g_build_filename (folder, "line.safetensors", NULL);
  g_file_set_contents (path, "x,y\n0,0\n1,1\n2,1\n3,3\n4,5\n", -1, &error);
  g_assert_no_error (error);
  file = g_file_new_for_path (path);
  model_file = g_file_new_for_path (model_path);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  wait_for_label (window, "x");
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "(Intercept)");
  trendline_window_save_model (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "The model is saved");
  trendline_window_open (TRENDLINE_WINDOW (window), model_file);
  while (trendline_fit_session_get_table (trendline_window_get_session (TRENDLINE_WINDOW (window))) != NULL)
    g_main_context_iteration (NULL, TRUE);

  g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", "predict"));
  wait_for_label (window, "Prediction");
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "2");
  /* 2 ± t(0.975, 3) 0.8 */
  wait_for_label (window, "95 %: −0.545957 to 4.54596");
  g_assert_nonnull (find_label (window, "2"));
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "4.5");
  wait_for_label (window, "5");
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "four");
  wait_for_label (window, "–");

  gtk_window_destroy (GTK_WINDOW (window));
  g_assert_true (g_file_delete (file, NULL, NULL));
  g_assert_true (g_file_delete (model_file, NULL, NULL));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_missing_file (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = g_file_new_for_path ("/nowhere/missing.csv");
  GtkWidget *window;

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  wait_for_label (window, "There is no such file");
  g_assert_nonnull (find_label (window, "Fit a Model"));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Takes the caller's reference; the others are given up as callbacks are called. */
static void
wait_until_finalized (TrendlineFitSession *session)
{
  gpointer pointer = session;

  g_object_add_weak_pointer (G_OBJECT (session), &pointer);
  g_object_unref (session);
  while (pointer != NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_close (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  TrendlineFitSession *session;
  GtkWidget *window;

  g_test_summary (
    "A window can be closed while it opens or fits: that is cancelled, and nothing is shown any more.");
  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = g_object_ref (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_OPENING);
  gtk_window_destroy (GTK_WINDOW (window));
  wait_until_idle (session);
  wait_until_finalized (session);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = g_object_ref (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  wait_until_idle (session);
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_READING);
  gtk_window_destroy (GTK_WINDOW (window));
  wait_until_idle (session);
  g_assert_null (trendline_fit_session_get_model (session));
  wait_until_finalized (session);
}

static void
test_keys (void)
{
  g_autoptr (GApplication) application = start ();
  const char *const names[] = {
    "app.new-window",
    "app.quit",
    "window.close",
    "win.open",
    "win.add-data",
    "win.fit",
    "win.cancel",
    "win.predict-table",
    "win.save-model",
    "win.undo",
    "win.sidebar",
    "win.show-page::data",
    "win.show-page::model",
    "win.show-page::plots",
    "win.show-page::predict",
  };
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  gsize i;

  g_test_summary ("Each action has a key of its own, so that nothing needs a pointer.");
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto (GStrv) accels = gtk_application_get_accels_for_action (GTK_APPLICATION (application), names[i]);

      g_test_message ("%s", names[i]);
      g_assert_nonnull (accels[0]);
      g_assert_true (g_hash_table_add (keys, (gpointer) g_intern_string (accels[0])));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/longley", test_longley);
  g_test_add_func ("/trendline/predict", test_predict);
  g_test_add_func ("/trendline/close", test_close);
  g_test_add_func ("/trendline/keys", test_keys);
  g_test_add_func ("/trendline/missing-file", test_missing_file);

  return g_test_run ();
}
