/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cairo-svg.h>

#include "tests/app/window.h"

/*
 * Draws the windows of the pages, light and dark: NAME.svg and NAME-dark.svg.
 *
 * Usage: draw-windows TABLE OUTPUT, on a display
 */

#define WIDTH 1140
#define HEIGHT 700
#define N_FRAMES 4

static int
draw (GtkWidget *window, const char *folder, const char *name, gboolean is_dark)
{
  g_autofree char *file = g_strdup_printf ("%s%s.svg", name, is_dark ? "-dark" : "");
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autoptr (GdkPaintable) paintable = NULL;
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  cairo_surface_t *surface;
  cairo_t *cairo;
  cairo_status_t status;

  wait_for_frames (window, N_FRAMES);
  paintable = gtk_widget_paintable_new (window);
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (window), gtk_widget_get_height (window));
  node = gtk_snapshot_free_to_node (g_steal_pointer (&snapshot));
  surface = cairo_svg_surface_create (path, gtk_widget_get_width (window), gtk_widget_get_height (window));
  cairo = cairo_create (surface);
  gsk_render_node_draw (node, cairo);
  cairo_destroy (cairo);
  cairo_surface_finish (surface);
  status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (status != CAIRO_STATUS_SUCCESS)
    g_printerr ("%s: %s\n", path, cairo_status_to_string (status));

  return status != CAIRO_STATUS_SUCCESS;
}

int
main (int argc, char **argv)
{
  static const char *const pages[] = { "data", "model", "plots", "predict" };
  g_autoptr (TrendlineApplication) application = trendline_application_new (G_APPLICATION_NON_UNIQUE);
  g_autoptr (GFile) file = NULL;
  TrendlineFitSession *session;
  GtkWidget *window;
  int n_failed = 0;
  int is_dark;
  gsize i;

  if (argc != 3)
    {
      g_printerr ("Usage: draw-windows TABLE OUTPUT\n");
      return 2;
    }
  file = g_file_new_for_path (argv[1]);
  window = open_window (application, file);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH, HEIGHT);
  session = trendline_window_get_session (TRENDLINE_WINDOW (window));
  wait_until_idle (session);
  gtk_widget_activate_action (window, "win.fit", NULL);
  wait_until_idle (session);
  wait_for_score (session);

  for (is_dark = 0; is_dark < 2; is_dark++)
    {
      adw_style_manager_set_color_scheme (adw_style_manager_get_default (), is_dark
                                                                              ? ADW_COLOR_SCHEME_FORCE_DARK
                                                                              : ADW_COLOR_SCHEME_FORCE_LIGHT);
      for (i = 0; i < G_N_ELEMENTS (pages); i++)
        {
          g_autofree char *name = g_strconcat ("trendline-", pages[i], NULL);

          gtk_widget_activate_action (window, "win.show-page", "s", pages[i]);
          if (g_str_equal (pages[i], "plots"))
            wait_for_plot (window);
          n_failed += draw (window, argv[2], name, is_dark);
        }
    }
  gtk_window_destroy (GTK_WINDOW (window));

  return n_failed > 0;
}
