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

static void
test_phone (void)
{
  const char *const pages[] = { "data", "model", "plots", "predict" };
  g_autoptr (TrendlineApplication) application = NULL;
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;
  GtkWidget *window;
  GtkWidget *content;
  gsize i;

  g_test_summary ("In each language each page fits on a phone, beside the button that closes the window.");
  if (g_str_equal (gettext ("Predict"), "Predict") != g_str_equal (g_getenv ("LANGUAGE"), "en"))
    {
      g_test_skip ("Trendline's messages in this language are not built, or there is no UTF-8 locale");
      return;
    }
  application = trendline_application_new (G_APPLICATION_NON_UNIQUE);
  path = data_path ("nist/longley.csv");
  file = g_file_new_for_path (path);
  g_application_register (G_APPLICATION (application), NULL, NULL);
  /* The button is the one that GNOME has. */
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, "gtk-decoration-layout",
                ":close", NULL);
  window = open_window (application, file);
  wait_for_label (window, "234289");
  wait_for_frames (window, 3);
  content = find_widget (window, ADW_TYPE_TOAST_OVERLAY);
  assert_narrow (content);
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  assert_narrow (content);
  wait_for_label (window, "0.995479");
  wait_until_idle (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  for (i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_test_message ("page %s", pages[i]);
      g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", pages[i]));
      wait_for_frames (window, 3);
      assert_narrow (content);
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

  return g_test_run ();
}
