/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>

#include <glib/gi18n.h>

#include "tests/app/window.h"
#include "tests/apr-test.h"

/* The width of a phone. */
#define WIDTH 360

/* Asserts that the widget can be as narrow as a phone, and names what within it cannot. */
static void
assert_narrow (GtkWidget *widget)
{
  GtkWidget *child;
  int width;

  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
  if (width <= WIDTH)
    return;
  g_test_message ("%s: %d", G_OBJECT_TYPE_NAME (widget), width);
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_get_visible (child))
      assert_narrow (child);
  g_test_fail ();
}

/* Opens a table in the language of the test; NULL where that cannot be. */
static GtkWidget *
open_longley (TrendlineApplication **application, const char *decoration_layout, double text_scale)
{
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;
  GtkWidget *window;

  if (g_str_equal (gettext ("Predict"), "Predict") != g_str_equal (g_getenv ("LANGUAGE"), "en"))
    {
      g_test_skip ("Trendline's messages in this language are not built, or there is no UTF-8 locale");
      return NULL;
    }
  *application = trendline_application_new (G_APPLICATION_NON_UNIQUE);
  path = data_path ("nist/longley.csv");
  file = g_file_new_for_path (path);
  g_application_register (G_APPLICATION (*application), NULL, NULL);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, "gtk-decoration-layout",
                decoration_layout, "gtk-xft-dpi", (int) (text_scale * 96 * 1024), NULL);
  window = open_window (*application, file);
  wait_for_label (window, "234289");
  wait_for_frames (window, 3);

  return window;
}

/* The word on the button that fits, or NULL where there is a picture instead. */
static GtkWidget *
find_fit (GtkWidget *window)
{
  g_auto (GStrv) parts = g_strsplit (gettext ("_Fit"), "_", -1);
  g_autofree char *word = g_strjoinv (NULL, parts);

  return find_label (find_widget (window, ADW_TYPE_HEADER_BAR), word);
}

static void
test_phone (void)
{
  const char *const pages[] = { "data", "model", "plots", "predict" };
  g_autoptr (TrendlineApplication) application = NULL;
  GtkWidget *window;
  GtkWidget *content;
  GtkWidget *flap;
  gsize i;

  g_test_summary ("In each language each page fits on a phone, beside the button that closes the window.");
  /* The button is the one that GNOME has. */
  window = open_longley (&application, ":close", 1);
  if (window == NULL)
    return;
  content = find_widget (window, ADW_TYPE_TOAST_OVERLAY);
  assert_narrow (content);
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  assert_narrow (content);
  wait_for_label (window, "0.995479");
  g_assert_nonnull (find_label (window, gettext ("(Intercept)")));
  g_assert_true (g_str_equal (gettext ("(Intercept)"), "(Intercept)") ==
                 g_str_equal (g_getenv ("LANGUAGE"), "en"));
  wait_until_idle (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  wait_for_score (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  for (i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_test_message ("page %s", pages[i]);
      g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", pages[i]));
      wait_for_frames (window, 3);
      assert_narrow (content);
    }
  flap = find_widget (window, ADW_TYPE_FLAP);
  adw_flap_set_fold_policy (ADW_FLAP (flap), ADW_FLAP_FOLD_POLICY_ALWAYS);
  while (find_fit (window) != NULL)
    g_main_context_iteration (NULL, TRUE);
  assert_narrow (find_widget (window, ADW_TYPE_HEADER_BAR));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_fit_button (void)
{
  g_autoptr (TrendlineApplication) application = NULL;
  GtkWidget *window;

  g_test_summary (
    "In a window of the first size, the button says what it does, beside three buttons of the window.");
  window = open_longley (&application, "menu:minimize,maximize,close", 1);
  if (window == NULL)
    return;
  g_assert_nonnull (find_fit (window));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Asserts that no text is cut, and names those that are. */
static void
assert_whole (GtkWidget *widget)
{
  GtkWidget *child;

  if (!gtk_widget_get_mapped (widget))
    return;
  if (GTK_IS_LABEL (widget) && pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (widget))))
    {
      g_test_message ("“%s” is cut", gtk_label_get_text (GTK_LABEL (widget)));
      g_test_fail ();
    }
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    assert_whole (child);
}

static void
test_large_text (void)
{
  const char *const pages[] = { "data", "model", "plots", "predict" };
  g_autoptr (TrendlineApplication) application = NULL;
  GtkWidget *window;
  gsize i;

  g_test_summary ("In letters of twice the size, no text is cut in a window of the first size.");
  window = open_longley (&application, ":close", 2);
  if (window == NULL)
    return;
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "0.995479");
  wait_until_idle (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  wait_for_score (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  for (i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_test_message ("page %s", pages[i]);
      g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", pages[i]));
      wait_for_frames (window, 3);
      assert_whole (find_widget (window, ADW_TYPE_FLAP));
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char **argv)
{
  /* As the application does, but with the messages of the build. */
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, g_getenv ("APR_MESSAGES"));
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/phone", test_phone);
  g_test_add_func ("/trendline/fit-button", test_fit_button);
  g_test_add_func ("/trendline/large-text", test_large_text);

  return g_test_run ();
}
