/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <adwaita.h>

#include "app/trendline-plot.h"
#include "tests/app/window.h"

/* The widget on a display, with pointer and keys that xdotool moves. Each step waits for what the widget says. */

#define WIDTH 640
#define HEIGHT 480
#define N 40

typedef struct
{
  gsize n;
  GThread *thread;    /* that made the plot */
  AprTensor *numbers; /* (nullable) */
} Data;

/* Points that are far enough from each other to be told apart. */
static void
get_point (gsize i, gsize n, double *x, double *y)
{
  *x = (double) i;
  *y = (double) ((i * 7) % n);
}

static AprPlot *
make_plot (gconstpointer data)
{
  Data *self = (Data *) data;
  g_autofree double *x = g_new (double, self->n);
  g_autofree double *y = g_new (double, self->n);
  AprPlot *plot = apr_plot_new ("Points", "Across", "Up");
  gsize i;

  for (i = 0; i < self->n; i++)
    get_point (i, self->n, &x[i], &y[i]);
  apr_plot_add_points (plot, x, y, self->n);
  if (self->numbers != NULL)
    apr_plot_set_row_numbers (plot, self->numbers);
  self->thread = g_thread_self ();

  return plot;
}

/* The fourth of four is left out. */
static AprPlot *
make_part (gconstpointer data)
{
  const double x[] = { 1, 2, 3, 4 };
  const double y[] = { 1, 2, 3, NAN };
  AprPlot *plot = apr_plot_new ("Points", "Across", "Up");

  apr_plot_add_points (plot, x, y, G_N_ELEMENTS (x));
  apr_plot_set_note (plot, "Left out");

  return plot;
}

static AprPlot *
make_none (gconstpointer data)
{
  return NULL;
}

static AprPlot *
make_empty (gconstpointer data)
{
  const double nothing[] = { NAN, NAN };
  AprPlot *plot = apr_plot_new ("Points", "Across", "Up");

  apr_plot_add_points (plot, nothing, nothing, G_N_ELEMENTS (nothing));
  apr_plot_set_note (plot, "There is nothing");

  return plot;
}

static void
wait (TrendlinePlot *plot)
{
  while (trendline_plot_get_busy (plot))
    g_main_context_iteration (NULL, TRUE);
}

static void
wait_for_row (TrendlinePlot *plot, guint row)
{
  while (trendline_plot_get_row (plot) != row)
    g_main_context_iteration (NULL, TRUE);
  wait (plot);
}

G_GNUC_PRINTF (1, 2)
static void
xdotool (const char *format, ...)
{
  g_autofree char *arguments = NULL;
  g_autofree char *command = NULL;
  g_autoptr (GError) error = NULL;
  int status;
  va_list list;

  va_start (list, format);
  arguments = g_strdup_vprintf (format, list);
  va_end (list);
  command = g_strconcat ("xdotool ", arguments, NULL);
  g_spawn_command_line_sync (command, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
}

/* Where a point of the widget is on the screen: the window is in its corner, as there is nobody to move it. */
static void
move_pointer (TrendlinePlot *plot, const graphene_point_t *place)
{
  GtkNative *native = gtk_widget_get_native (GTK_WIDGET (plot));
  graphene_point_t at;
  double x;
  double y;

  g_assert_true (gtk_widget_compute_point (GTK_WIDGET (plot), GTK_WIDGET (native), place, &at));
  gtk_native_get_surface_transform (native, &x, &y);
  xdotool ("mousemove %d %d", (int) round (at.x + x), (int) round (at.y + y));
}

static graphene_point_t
get_place (TrendlinePlot *plot, guint row)
{
  graphene_point_t place;

  g_assert_true (trendline_plot_get_place (plot, row, &place));

  return place;
}

static TrendlinePlot *
show (Data *data, GtkWindow **window)
{
  TrendlinePlot *plot = TRENDLINE_PLOT (trendline_plot_new ());

  *window = GTK_WINDOW (gtk_window_new ());
  gtk_window_set_default_size (*window, WIDTH, HEIGHT);
  gtk_window_set_decorated (*window, FALSE);
  gtk_window_set_child (*window, GTK_WIDGET (plot));
  gtk_window_present (*window);
  trendline_plot_make (plot, make_plot, data, NULL);
  g_assert_true (trendline_plot_get_busy (plot));
  wait (plot);
  /* It is drawn once it has a size. */
  while (!trendline_plot_get_place (plot, 1, &(graphene_point_t){ 0, 0 }))
    g_main_context_iteration (NULL, TRUE);
  wait (plot);

  return plot;
}

static void
test_pointer (void)
{
  Data data = { N };
  GtkWindow *window;
  TrendlinePlot *plot = show (&data, &window);
  const guint rows[] = { 1, 17, N, 23 };
  graphene_point_t place;
  graphene_point_t moved;
  graphene_point_t outside;
  guint i;

  g_test_summary (
    "Pointing tells the row, scrolling zooms around the pointer, dragging moves, a double click undoes.");

  g_assert_true (data.thread != g_thread_self ());
  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *expected = NULL;
      g_autofree char *text = NULL;
      double x;
      double y;

      place = get_place (plot, rows[i]);
      move_pointer (plot, &place);
      wait_for_row (plot, rows[i]);
      get_point (rows[i] - 1, N, &x, &y);
      expected = g_strdup_printf ("Row %u: Across %g, Up %g", rows[i], x, y);
      text = trendline_plot_describe_row (plot);
      g_assert_cmpstr (text, ==, expected);
      g_assert_null (gtk_test_accessible_check_property (GTK_ACCESSIBLE (plot),
                                                         GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, expected));
    }
  /* Where there is no point there is no row. */
  move_pointer (plot, &GRAPHENE_POINT_INIT (3, 3));
  wait_for_row (plot, 0);

  place = get_place (plot, 23);
  move_pointer (plot, &place);
  wait_for_row (plot, 23);
  for (i = 0; i < 4; i++)
    {
      graphene_point_t before = get_place (plot, 22);

      xdotool ("click 4");
      do
        {
          g_main_context_iteration (NULL, TRUE);
          wait (plot);
        }
      while (!trendline_plot_get_place (plot, 22, &outside) || outside.x == before.x);
      moved = get_place (plot, 23);
      /* The pointer is on a whole pixel. */
      g_assert_cmpfloat_with_epsilon (moved.x, place.x, 2);
      g_assert_cmpfloat_with_epsilon (moved.y, place.y, 2);
    }
  g_assert_false (trendline_plot_get_place (plot, 1, &outside));
  g_assert_false (trendline_plot_get_place (plot, N, &outside));

  xdotool ("mousedown 1 mousemove_relative 30 0 mousemove_relative 0 20 mouseup 1");
  do
    {
      g_main_context_iteration (NULL, TRUE);
      wait (plot);
      moved = get_place (plot, 23);
    }
  while (fabsf (moved.x - place.x - 30) > 2 || fabsf (moved.y - place.y - 20) > 2);

  xdotool ("click 1 click 1");
  while (!trendline_plot_get_place (plot, 1, &outside) || !trendline_plot_get_place (plot, N, &outside))
    g_main_context_iteration (NULL, TRUE);
  wait (plot);
  moved = get_place (plot, 23);
  g_assert_cmpfloat_with_epsilon (moved.x, place.x, 0.1);
  gtk_window_destroy (window);
}

static void
test_keys (void)
{
  Data data = { N };
  GtkWindow *window;
  TrendlinePlot *plot = show (&data, &window);
  graphene_point_t first;
  graphene_point_t place;
  guint i;

  g_test_summary ("All that the pointer does, the keys do.");

  move_pointer (plot, &GRAPHENE_POINT_INIT (3, 3));
  gtk_widget_grab_focus (GTK_WIDGET (plot));
  xdotool ("key Right");
  wait_for_row (plot, 1);
  xdotool ("key Right Right");
  wait_for_row (plot, 3);
  xdotool ("key Left");
  wait_for_row (plot, 2);
  xdotool ("key Next");
  wait_for_row (plot, 12);
  xdotool ("key End");
  wait_for_row (plot, N);
  xdotool ("key Escape");
  wait_for_row (plot, 0);

  /* Where the pointer rests on a point, keys go on from it, and the row stays when the plot is drawn anew. */
  place = get_place (plot, 20);
  move_pointer (plot, &place);
  wait_for_row (plot, 20);
  xdotool ("key Right Right");
  wait_for_row (plot, 22);
  trendline_plot_zoom (plot, 1.1);
  xdotool ("key Right");
  wait_for_row (plot, 23);
  for (i = 0; i < 3; i++)
    {
      trendline_plot_zoom (plot, i == 1 ? 1.1 : 0.9);
      wait (plot);
      gtk_widget_queue_resize (GTK_WIDGET (plot));
      wait_for_frames (GTK_WIDGET (plot), 3);
      while (g_main_context_iteration (NULL, FALSE))
        ;
      g_assert_cmpuint (trendline_plot_get_row (plot), ==, 23);
    }
  trendline_plot_show_all (plot);
  wait (plot);
  move_pointer (plot, &GRAPHENE_POINT_INIT (3, 3));
  xdotool ("key Escape");
  wait_for_row (plot, 0);

  first = get_place (plot, 1);
  xdotool ("key plus plus plus plus plus plus");
  while (trendline_plot_get_place (plot, 1, &place))
    g_main_context_iteration (NULL, TRUE);
  wait (plot);
  /* A point outside is moved to where it is seen. */
  xdotool ("key Home");
  wait_for_row (plot, 1);
  while (!trendline_plot_get_place (plot, 1, &place))
    g_main_context_iteration (NULL, TRUE);
  wait (plot);
  place = get_place (plot, 1);
  xdotool ("key ctrl+Right");
  do
    {
      g_main_context_iteration (NULL, TRUE);
      wait (plot);
    }
  while (trendline_plot_get_place (plot, 1, &first) && first.x == place.x);
  xdotool ("key 0");
  while (!trendline_plot_get_place (plot, N, &place))
    g_main_context_iteration (NULL, TRUE);
  gtk_window_destroy (window);
}

static void
test_row_numbers (void)
{
  const gint64 numbers[] = { 0, 4, 6 };
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, sizeof numbers);
  Data data = { 3, NULL, apr_tensor_new_from_bytes (APR_DTYPE_I64, (gsize[]){ 3 }, 1, bytes, NULL) };
  g_autofree char *text = NULL;
  GtkWindow *window;
  TrendlinePlot *plot = show (&data, &window);

  g_test_summary ("A point is told by its row in the table, of which some are passed over.");

  trendline_plot_set_row (plot, 2);
  text = trendline_plot_describe_row (plot);
  g_assert_cmpstr (text, ==, "Row 5: Across 1, Up 1");
  gtk_window_destroy (window);
  apr_tensor_unref (data.numbers);
}

static guint32
get_corner (GtkWidget *widget)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autofree guint32 *pixels = NULL;
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);

  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_to_node (snapshot);
  if (node == NULL)
    return 0;
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (gtk_widget_get_native (widget)), node,
                                         &GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height));
  pixels = g_new (guint32, (gsize) width * (gsize) height);
  gdk_texture_download (texture, (guchar *) pixels, (gsize) width * 4);

  return pixels[width + 1] & 0xffffff;
}

static void
test_style (void)
{
  Data data = { N };
  GtkWindow *window;
  TrendlinePlot *plot = show (&data, &window);
  AdwStyleManager *manager = adw_style_manager_get_default ();

  g_test_summary ("The plot is dark where the desktop is.");

  adw_style_manager_set_color_scheme (manager, ADW_COLOR_SCHEME_FORCE_LIGHT);
  wait (plot);
  while (get_corner (GTK_WIDGET (plot)) != 0xffffff)
    g_main_context_iteration (NULL, TRUE);
  adw_style_manager_set_color_scheme (manager, ADW_COLOR_SCHEME_FORCE_DARK);
  while (get_corner (GTK_WIDGET (plot)) != 0x1e1e1e)
    g_main_context_iteration (NULL, TRUE);
  adw_style_manager_set_color_scheme (manager, ADW_COLOR_SCHEME_DEFAULT);
  wait (plot);
  gtk_window_destroy (window);
}

static void
test_contents (void)
{
  Data data = { N };
  Data other = { 1000000 };
  GtkWindow *window;
  TrendlinePlot *plot = show (&data, &window);
  graphene_point_t place;

  g_test_summary ("Another plot takes the place of the one before, of any size, and none leaves nothing.");

  g_assert_null (
    gtk_test_accessible_check_property (GTK_ACCESSIBLE (plot), GTK_ACCESSIBLE_PROPERTY_LABEL, "Points"));
  g_assert_null (gtk_test_accessible_check_property (
    GTK_ACCESSIBLE (plot), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "Up by Across, 40 points"));
  trendline_plot_set_row (plot, N);
  g_assert_cmpuint (trendline_plot_get_row (plot), ==, N);
  trendline_plot_set_row (plot, N + 1);
  g_assert_cmpuint (trendline_plot_get_row (plot), ==, 0);

  /* Of two that are wanted, the last is shown. */
  trendline_plot_make (plot, make_none, NULL, NULL);
  trendline_plot_make (plot, make_plot, &other, NULL);
  wait (plot);
  g_assert_true (other.thread != g_thread_self ());
  trendline_plot_set_row (plot, 777777);
  g_assert_cmpuint (trendline_plot_get_row (plot), ==, 777777);
  g_assert_true (trendline_plot_get_place (plot, 777777, &place));

  trendline_plot_make (plot, make_none, NULL, NULL);
  wait (plot);
  g_assert_cmpuint (trendline_plot_get_row (plot), ==, 0);
  g_assert_false (trendline_plot_get_place (plot, 1, &place));

  /* What is left out is said too. */
  trendline_plot_make (plot, make_part, NULL, NULL);
  wait (plot);
  g_assert_null (gtk_test_accessible_check_property (
    GTK_ACCESSIBLE (plot), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "Up by Across, 3 points. Left out: 4"));

  /* A plot that has only a note is described by it, and no key finds a point. */
  trendline_plot_make (plot, make_empty, NULL, NULL);
  wait (plot);
  g_assert_null (gtk_test_accessible_check_property (
    GTK_ACCESSIBLE (plot), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "There is nothing"));
  gtk_widget_grab_focus (GTK_WIDGET (plot));
  xdotool ("key Right End plus");
  /* It zooms, and so has had the keys before. */
  while (!trendline_plot_get_busy (plot))
    g_main_context_iteration (NULL, TRUE);
  wait (plot);
  g_assert_cmpuint (trendline_plot_get_row (plot), ==, 0);

  /* What is still being made when the window goes is dropped. */
  trendline_plot_make (plot, make_plot, &data, NULL);
  g_object_ref (plot);
  gtk_window_destroy (window);
  wait (plot);
  g_object_unref (plot);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* GTK warns of each bus and theme that a machine lacks. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  adw_init ();
  /* Two clicks are a double click, however long the machine takes. */
  g_object_set (gtk_settings_get_default (), "gtk-double-click-time", G_MAXINT, NULL);
  g_test_add_func ("/trendline/plot/pointer", test_pointer);
  g_test_add_func ("/trendline/plot/keys", test_keys);
  g_test_add_func ("/trendline/plot/row-numbers", test_row_numbers);
  g_test_add_func ("/trendline/plot/style", test_style);
  g_test_add_func ("/trendline/plot/contents", test_contents);

  return g_test_run ();
}
