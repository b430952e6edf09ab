/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "tests/app/window.h"
#include "tests/apr-test.h"

/*
 * What the window looks like, compared with what it looked like when somebody looked at it.
 *
 * Each page is drawn light and dark, and its picture brought down to the mean brightness of cells of 20 x 20 pixels.
 * The references are PGM files in tests/data/trendline, which are text. To write them anew, where a page was meant to
 * change:
 *
 *   APRENDER_UPDATE_PICTURES=1 meson test -C BUILD trendline-pictures
 *
 * Then look at the pages, which trendline shows, and at the references, which a viewer of pictures shows. They are of
 * Debian 12: another GTK, libadwaita or font draws other pictures, which are not compared.
 */

#define GTK_MINOR 8
#define ADW_MINOR 2
#define FONT "DejaVu Sans"

#define WIDTH 960
#define HEIGHT 640
#define BORDER 5 /* of a window on a display without shadows */
#define CELL 20
#define N_COLUMNS (WIDTH / CELL)
#define N_CELLS (N_COLUMNS * (HEIGHT / CELL))

/* Another hinting changes no cell by more than 13. A list that is hidden, another page, black text on dark, or rows
 * that overlap change between 33 and 260 cells by more than 16. */
#define MAX_DIFFERENCE 16
#define MAX_DIFFERENT 8

#define N_FRAMES 4

typedef int Cells[N_CELLS];

/* The mean brightness of each cell, from 0 to 255. */
static void
draw_cells (GtkWidget *window, Cells cells)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (window);
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cairo = cairo_create (surface);
  const guchar *pixels;
  int stride = cairo_image_surface_get_stride (surface);
  int x;
  int y;

  g_assert_cmpint (gtk_widget_get_width (window), ==, WIDTH);
  g_assert_cmpint (gtk_widget_get_height (window), ==, HEIGHT);
  gdk_paintable_snapshot (paintable, snapshot, WIDTH, HEIGHT);
  node = gtk_snapshot_free_to_node (g_steal_pointer (&snapshot));
  gsk_render_node_draw (node, cairo);
  cairo_surface_flush (surface);
  pixels = cairo_image_surface_get_data (surface);
  memset (cells, 0, sizeof (Cells));
  for (y = 0; y < HEIGHT; y++)
    for (x = 0; x < WIDTH; x++)
      {
        guint32 pixel;

        memcpy (&pixel, pixels + y * stride + 4 * x, sizeof pixel);
        cells[y / CELL * N_COLUMNS + x / CELL] +=
          (int) ((pixel >> 16 & 0xff) + (pixel >> 8 & 0xff) + (pixel & 0xff));
      }
  for (x = 0; x < N_CELLS; x++)
    cells[x] /= 3 * CELL * CELL;
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
}

/* Until nothing moves any more. */
static void
draw_settled_cells (GtkWidget *window, Cells cells)
{
  Cells before;

  wait_for_frames (window, N_FRAMES);
  draw_cells (window, cells);
  do
    {
      memcpy (before, cells, sizeof before);
      wait_for_frames (window, N_FRAMES);
      draw_cells (window, cells);
    }
  while (memcmp (before, cells, sizeof before) != 0);
}

static char *
format_pgm (const Cells cells)
{
  GString *text = g_string_new (NULL);
  int i;

  g_string_append_printf (text, "P2\n%d %d\n255\n", N_COLUMNS, HEIGHT / CELL);
  for (i = 0; i < N_CELLS; i++)
    g_string_append_printf (text, "%d%c", cells[i], (i + 1) % N_COLUMNS == 0 ? '\n' : ' ');

  return g_string_free (text, FALSE);
}

static void
read_reference (const char *path, Cells cells)
{
  g_autofree char *contents = NULL;
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) error = NULL;
  int i;

  g_file_get_contents (path, &contents, NULL, &error);
  g_assert_no_error (error);
  words = g_strsplit_set (g_strstrip (contents), " \n", -1);
  g_assert_cmpuint (g_strv_length (words), ==, N_CELLS + 4);
  for (i = 0; i < N_CELLS; i++)
    cells[i] = atoi (words[i + 4]);
}

/* Says where the pictures differ, and goes on, so that all that differ are named. */
static void
check_picture (GtkWidget *window, const char *page, gboolean dark)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.pgm", page, dark ? "dark" : "light");
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "trendline", file, NULL);
  g_autofree char *pgm = NULL;
  Cells cells;
  Cells reference;
  int left = N_COLUMNS;
  int top = HEIGHT / CELL;
  int right = 0;
  int bottom = 0;
  int worst = 0;
  int n_different = 0;
  int i;

  draw_settled_cells (window, cells);
  pgm = format_pgm (cells);
  if (g_getenv ("APRENDER_UPDATE_PICTURES") != NULL)
    g_assert_true (g_file_set_contents (path, pgm, -1, NULL));
  read_reference (path, reference);
  for (i = 0; i < N_CELLS; i++)
    {
      int difference = abs (reference[i] - cells[i]);

      worst = MAX (worst, difference);
      if (difference <= MAX_DIFFERENCE)
        continue;
      n_different++;
      left = MIN (left, i % N_COLUMNS);
      right = MAX (right, i % N_COLUMNS + 1);
      top = MIN (top, i / N_COLUMNS);
      bottom = MAX (bottom, i / N_COLUMNS + 1);
    }
  g_test_message ("%s: %d of %d cells differ, the worst by %d", file, n_different, N_CELLS, worst);
  if (n_different <= MAX_DIFFERENT)
    return;
  g_test_message ("%s: they lie between the pixels %d, %d and %d, %d", file, CELL * left, CELL * top,
                  CELL * right, CELL * bottom);
  g_test_fail ();
}

static void
check_pictures (GtkWidget *window, const char *page)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  int dark;

  for (dark = 0; dark < 2; dark++)
    {
      adw_style_manager_set_color_scheme (style,
                                          dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
      if (g_str_equal (page, "plots"))
        wait_for_plot (window);
      check_picture (window, page, dark);
    }
}

/* Why the pictures are not of this machine, or NULL. */
static char *
find_difference (GtkWidget *widget)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  g_autoptr (PangoFontDescription) wanted = pango_font_description_from_string (FONT);
  g_autoptr (PangoFont) font = pango_context_load_font (context, wanted);
  g_autoptr (PangoFontDescription) found = pango_font_describe (font);
  GtkIconTheme *icons = gtk_icon_theme_get_for_display (gtk_widget_get_display (widget));

  if (gtk_get_minor_version () != GTK_MINOR || adw_get_minor_version () != ADW_MINOR)
    return g_strdup_printf ("GTK 4.%u and libadwaita 1.%u draw other pictures than 4.%d and 1.%d",
                            gtk_get_minor_version (), adw_get_minor_version (), GTK_MINOR, ADW_MINOR);
  if (!g_str_equal (pango_font_description_get_family (found), FONT))
    return g_strdup ("there is no " FONT);
  if (!gtk_icon_theme_has_icon (icons, "x-office-spreadsheet-symbolic"))
    return g_strdup ("there are no icons of Adwaita");

  return NULL;
}

static void
test_pictures (void)
{
  g_autoptr (TrendlineApplication) application = trendline_application_new (G_APPLICATION_NON_UNIQUE);
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = data_path ("nist/longley.csv");
  g_autofree char *difference = NULL;
  g_autoptr (GError) error = NULL;
  TrendlineFitSession *session;
  GtkWidget *window;

  g_test_summary ("Each page, light and dark, looks as it did when somebody looked at it.");
  g_application_register (G_APPLICATION (application), NULL, &error);
  g_assert_no_error (error);
  g_application_set_default (G_APPLICATION (application));
  /* What moves, and what the settings of a user can change. */
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, "gtk-cursor-blink", FALSE,
                "gtk-decoration-layout", ":close", "gtk-font-name", FONT " 10", "gtk-xft-dpi", 96 * 1024,
                "gtk-xft-antialias", 1, "gtk-xft-hinting", 1, "gtk-xft-hintstyle", "hintslight",
                "gtk-xft-rgba", "none", NULL);
  window = GTK_WIDGET (trendline_window_new (GTK_APPLICATION (application)));
  difference = find_difference (window);
  if (difference != NULL)
    {
      gtk_window_destroy (GTK_WINDOW (window));
      g_test_skip (difference);
      return;
    }
  /* Nothing is under the pointer. */
  gtk_widget_set_can_target (find_widget (window, ADW_TYPE_TOAST_OVERLAY), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH + 2 * BORDER, HEIGHT + 2 * BORDER);
  gtk_window_present (GTK_WINDOW (window));
  wait_for_label (window, "Fit a Model");
  check_pictures (window, "welcome");

  file = g_file_new_for_path (path);
  session = trendline_window_get_session (TRENDLINE_WINDOW (window));
  trendline_window_open (TRENDLINE_WINDOW (window), file);
  wait_for_label (window, "234289");
  wait_until_idle (session);
  check_pictures (window, "data");

  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "0.995479");
  wait_until_idle (session);
  wait_for_score (session);
  check_pictures (window, "model");

  g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", "plots"));
  check_pictures (window, "plots");

  g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", "predict"));
  /* The first row's. */
  wait_for_label (window, "95 %: 59232.6 to 60878.8");
  check_pictures (window, "predict");
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/pictures", test_pictures);

  return g_test_run ();
}
