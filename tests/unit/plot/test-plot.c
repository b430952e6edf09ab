/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/plot/apr-plot-file.h"
#include "aprender/plot/apr-plot-smooth.h"
#include "aprender/plot/apr-plot-ticks.h"
#include "tests/folder.h"
#include "tests/german-locale.h"

static void
assert_ticks (double begin, double end, guint max_n, const char *expected)
{
  AprPlotTicks ticks = apr_plot_ticks_choose (begin, end, max_n);
  g_autoptr (GString) found = g_string_new (NULL);
  guint i;

  for (i = 0; i < ticks.n; i++)
    {
      g_autofree char *text = apr_plot_ticks_format (&ticks, i);

      g_string_append_printf (found, "%s%s", i > 0 ? " " : "", text);
    }
  g_assert_cmpstr (found->str, ==, expected);
}

static void
test_ticks (void)
{
  g_test_summary ("Multiples of 1, 2 or 5, two at least, as few digits as tell them apart, and 0 as itself.");

  assert_ticks (0, 10, 6, "0 2 4 6 8 10");
  assert_ticks (-0.13, 0.34, 6, "−0.1 0.0 0.1 0.2 0.3");
  assert_ticks (3.2, 97, 5, "20 40 60 80");
  assert_ticks (1947, 1962, 5, "1950 1955 1960");
  assert_ticks (640, 1400, 3, "800 1000 1200 1400");
  assert_ticks (0.55, 1.45, 2, "0.6 0.8 1.0 1.2 1.4");
  assert_ticks (0, 3.4e6, 5, "0 1e+06 2e+06 3e+06");
  assert_ticks (1e-9, 9e-9, 5, "2e-09 4e-09 6e-09 8e-09");
  assert_ticks (5, 5, 5, "5");
  assert_ticks (-1e300, 1e300, 3, "−1e+300 0 1e+300");
}

static void
test_locale (Folder *folder, gconstpointer data)
{
  g_test_summary ("Where people write 0,5, so do the axes.");

  enter_german_numbers (folder->folder);
  if (g_str_equal (localeconv ()->decimal_point, ","))
    {
      assert_ticks (-0.13, 0.34, 6, "−0,1 0,0 0,1 0,2 0,3");
      assert_ticks (2e6, 4.2e6, 5, "2,0e+06 2,5e+06 3,0e+06 3,5e+06 4,0e+06");
    }
  leave_german_numbers ();
}

static void
test_sort (void)
{
  const double values[] = { 3, -0.0, INFINITY, -2.5, 0, 1e-310, -INFINITY, 3, -1e300, 2.5 };
  const guint expected[] = { 6, 8, 3, 1, 4, 5, 9, 0, 7, 2 };
  g_autofree guint *places = apr_plot_sort (values, G_N_ELEMENTS (values));

  g_test_summary ("What is equal stays in its order, and so do the two zeros.");

  g_assert_cmpmem (places, G_N_ELEMENTS (values) * sizeof (guint), expected, sizeof expected);
}

static void
test_normal_quantiles (void)
{
  g_test_summary ("Against the tables: 97.5 % are below 1.96.");

  g_assert_cmpfloat_with_epsilon (apr_plot_normal_quantile (0.5), 0, 1e-15);
  g_assert_cmpfloat_with_epsilon (apr_plot_normal_quantile (0.975), 1.959963984540054, 1e-12);
  g_assert_cmpfloat_with_epsilon (apr_plot_normal_quantile (0.1), -1.2815515655446004, 1e-12);
  g_assert_cmpfloat_with_epsilon (apr_plot_normal_quantile (1e-6), -4.753424308822899, 1e-11);
}

#define WIDTH 400
#define HEIGHT 300
#define CELL 10
#define N_CELLS ((WIDTH / CELL) * (HEIGHT / CELL))

/* The mean brightness of each cell of a picture, from 0 to 255: fonts differ from machine to machine, but not where
 * the text is. */
static void
draw_cells (const AprPlot *plot, const AprPlotStyle *style, int cells[N_CELLS])
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cairo = cairo_create (surface);
  const guchar *pixels = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);
  int i;
  int row;
  int column;

  apr_plot_draw (plot, cairo, &(AprPlotArea){ 0, 0, WIDTH, HEIGHT }, style, NULL);
  cairo_surface_flush (surface);
  for (i = 0; i < N_CELLS; i++)
    {
      int sum = 0;

      for (row = 0; row < CELL; row++)
        for (column = 0; column < CELL; column++)
          {
            int y = i / (WIDTH / CELL) * CELL + row;
            int x = i % (WIDTH / CELL) * CELL + column;
            guint32 pixel;

            memcpy (&pixel, pixels + y * stride + 4 * x, sizeof pixel);
            sum += (int) ((pixel >> 16 & 0xff) + (pixel >> 8 & 0xff) + (pixel & 0xff)) / 3;
          }
      cells[i] = sum / (CELL * CELL);
    }
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
}

static void
write_reference (const char *path, const int cells[N_CELLS])
{
  g_autoptr (GString) text = g_string_new (NULL);
  int i;

  g_string_append_printf (text, "P2\n%d %d\n255\n", WIDTH / CELL, HEIGHT / CELL);
  for (i = 0; i < N_CELLS; i++)
    g_string_append_printf (text, "%d%c", cells[i], (i + 1) % (WIDTH / CELL) == 0 ? '\n' : ' ');
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
}

/* The reference is a PGM file, which is text. APRENDER_UPDATE_PICTURES=1 writes it anew: look at it then. */
static void
assert_picture (const AprPlot *plot, gboolean dark, const char *name)
{
  const AprPlotStyle style = { dark, 11 };
  g_autofree char *file = g_strconcat (name, ".pgm", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "plot", file, NULL);
  g_autofree char *contents = NULL;
  g_auto (GStrv) words = NULL;
  int cells[N_CELLS];
  int sum = 0;
  int n_different = 0;
  int i;

  draw_cells (plot, &style, cells);
  if (g_getenv ("APRENDER_UPDATE_PICTURES") != NULL)
    write_reference (path, cells);
  g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
  words = g_strsplit_set (g_strstrip (contents), " \n", -1);
  g_assert_cmpuint (g_strv_length (words), ==, N_CELLS + 4);
  for (i = 0; i < N_CELLS; i++)
    {
      int difference = abs (atoi (words[i + 4]) - cells[i]);

      sum += difference;
      n_different += difference > 40;
    }
  g_test_message ("%s: %d different cells, a mean difference of %g", name, n_different,
                  (double) sum / N_CELLS);
  g_assert_cmpint (n_different, <, N_CELLS / 50);
  g_assert_cmpfloat ((double) sum / N_CELLS, <, 3);
}

static AprPlot *
make_plot (void)
{
  AprPlot *plot = apr_plot_new ("A title", "Years", "Kilometres");
  double x[60];
  double y[60];
  double lower[60];
  double upper[60];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (x); i++)
    {
      x[i] = i / 6.0;
      y[i] = 20 * x[i] - x[i] * x[i] + 15 * sin (i * i);
      lower[i] = 18 * x[i] - x[i] * x[i] - 5;
      upper[i] = 22 * x[i] - x[i] * x[i] + 5;
    }
  apr_plot_add_band (plot, x, lower, upper, G_N_ELEMENTS (x));
  apr_plot_add_points (plot, x, y, G_N_ELEMENTS (x));
  apr_plot_add_label (plot, x[59], y[59], "last");
  for (i = 0; i < G_N_ELEMENTS (x); i++)
    y[i] = 20 * x[i] - x[i] * x[i];
  apr_plot_add_line (plot, APR_PLOT_SOLID, x, y, G_N_ELEMENTS (x));

  return plot;
}

static void
test_pictures (void)
{
  g_autoptr (AprPlot) plot = make_plot ();

  g_test_summary (
    "Points, line and band, on light and on dark, look as they did when somebody looked at them.");

  assert_picture (plot, FALSE, "light");
  assert_picture (plot, TRUE, "dark");
}

static void
test_density (void)
{
  g_autoptr (AprPlot) plot = apr_plot_new ("Density", "x", "y");
  const gsize n = 200000;
  g_autofree double *x = g_new (double, n);
  g_autofree double *y = g_new (double, n);
  gsize i;

  g_test_summary ("Many points are darkest where there are most; what is not finite is left out.");

  for (i = 0; i < n; i++)
    {
      x[i] = sin ((double) i) * fmod ((double) i * 0.6180339887498949, 1);
      y[i] = cos ((double) i) * fmod ((double) i * 0.6180339887498949, 1);
    }
  x[7] = NAN;
  y[8] = INFINITY;
  apr_plot_add_points (plot, x, y, n);
  assert_picture (plot, FALSE, "density");
}

/* A plot of one point with labels at it. */
static void
draw_labels (guint n, const char *x_label, int cells[N_CELLS])
{
  static const char *const texts[] = { "1111", "888", "MMMMMMM" };
  const AprPlotStyle style = { FALSE, 11 };
  const double x[] = { 0, 1, 2 };
  g_autoptr (AprPlot) plot = apr_plot_new ("Labels", x_label, "y");
  guint i;

  apr_plot_add_points (plot, x, x, G_N_ELEMENTS (x));
  for (i = 0; i < n; i++)
    apr_plot_add_label (plot, x[1], x[1], texts[i]);
  draw_cells (plot, &style, cells);
}

static void
test_labels (void)
{
  int cells[4][N_CELLS];
  guint i;

  g_test_summary ("Labels in one place go to either side of it, and are left out where both are taken.");

  for (i = 0; i < G_N_ELEMENTS (cells); i++)
    draw_labels (i, "x", cells[i]);
  g_assert_cmpint (memcmp (cells[0], cells[1], sizeof cells[0]), !=, 0);
  g_assert_cmpint (memcmp (cells[1], cells[2], sizeof cells[0]), !=, 0);
  g_assert_cmpmem (cells[2], sizeof cells[2], cells[3], sizeof cells[3]);
}

/* Draws a name of an axis that is @width times as wide as the paper, and whose last letter is given. */
static void
draw_long_name (double width, char last, int cells[N_CELLS])
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 10, 10);
  cairo_t *cairo = cairo_create (surface);
  g_autoptr (GString) name = g_string_new (NULL);
  cairo_text_extents_t extents = { 0 };

  cairo_select_font_face (cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cairo, 11);
  for (; extents.x_advance < width * WIDTH; cairo_text_extents (cairo, name->str, &extents))
    g_string_append_c (name, 'x');
  g_string_append_c (name, last);
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
  draw_labels (0, name->str, cells);
}

static void
test_long_names (void)
{
  int cells[4][N_CELLS];

  g_test_summary (
    "The letters of a name that is too long are smaller; of one far too long, the last are left out.");

  draw_long_name (1.05, 'l', cells[0]);
  draw_long_name (1.05, 'W', cells[1]);
  draw_long_name (1.5, 'l', cells[2]);
  draw_long_name (1.5, 'W', cells[3]);
  g_assert_cmpint (memcmp (cells[0], cells[1], sizeof cells[0]), !=, 0);
  g_assert_cmpmem (cells[2], sizeof cells[2], cells[3], sizeof cells[3]);
}

static void
test_extremes (void)
{
  const double nothing[] = { NAN, INFINITY };
  const double same[] = { 7, 7 };
  const double far[] = { -G_MAXDOUBLE, G_MAXDOUBLE };
  const AprPlotStyle style = { FALSE, 11 };
  const double *const cases[] = { nothing, same, far };
  guint i;
  int cells[N_CELLS];

  g_test_summary ("There is a picture of anything, in any size.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprPlot) plot =
        apr_plot_new ("", "a very long name that does not fit below an axis of 400 pixels", "\xff\xfe");
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 10, 10);
      cairo_t *cairo = cairo_create (surface);

      apr_plot_add_points (plot, cases[i], cases[i], 2);
      apr_plot_add_line (plot, APR_PLOT_SOLID, cases[i], cases[i], 2);
      draw_cells (plot, &style, cells);
      apr_plot_draw (plot, cairo, &(AprPlotArea){ 0, 0, 10, 10 }, &style, NULL);
      g_assert_cmpint (cairo_status (cairo), ==, CAIRO_STATUS_SUCCESS);
      cairo_destroy (cairo);
      cairo_surface_destroy (surface);
    }
}

static guint32
get_pixel (cairo_surface_t *surface, double x, double y)
{
  const guchar *pixels = cairo_image_surface_get_data (surface);
  guint32 pixel;

  cairo_surface_flush (surface);
  memcpy (&pixel, pixels + (int) y * cairo_image_surface_get_stride (surface) + 4 * (int) x, sizeof pixel);

  return pixel & 0xffffff;
}

static void
test_views (void)
{
  const double x[] = { 0, 5, 10, NAN };
  const double y[] = { 0, 5, 10, 2 };
  const AprPlotArea paper = { 20, 10, WIDTH - 20, HEIGHT - 10 };
  const AprPlotView view = { { 4, 2 }, { 6, 6 } };
  const AprPlotStyle styles[] = { { FALSE, 11 }, { FALSE, 11, TRUE }, { TRUE, 11 }, { TRUE, 11, TRUE } };
  const guint32 backgrounds[] = { 0xffffff, 0xffffff, 0x1e1e1e, 0x000000 };
  g_autoptr (AprPlot) plot = apr_plot_new ("", "", "");
  const double *found_x = NULL;
  const double *found_y = NULL;
  AprPlotView all;
  guint i;

  g_test_summary (
    "A part of a plot is drawn where it is said to be: a point at a place of it has its pixel.");

  g_assert_cmpuint (apr_plot_get_points (plot, &found_x, &found_y), ==, 0);
  apr_plot_add_points (plot, x, y, G_N_ELEMENTS (x));
  g_assert_cmpuint (apr_plot_get_points (plot, &found_x, &found_y), ==, G_N_ELEMENTS (x));
  g_assert_cmpmem (found_x, sizeof x, x, sizeof x);
  g_assert_cmpmem (found_y, sizeof y, y, sizeof y);
  apr_plot_get_view (plot, &all);
  for (i = 0; i < 2; i++)
    {
      g_assert_cmpfloat (all.begin[i], <, 0);
      g_assert_cmpfloat (all.end[i], >, 10);
    }

  for (i = 0; i < G_N_ELEMENTS (styles); i++)
    {
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
      cairo_t *cairo = cairo_create (surface);
      AprPlotArea area = apr_plot_draw (plot, cairo, &paper, &styles[i], &view);

      g_assert_cmpfloat (area.x, >, paper.x);
      g_assert_cmpfloat (area.y, >, paper.y);
      g_assert_cmpfloat (area.x + area.width, <, paper.x + paper.width);
      g_assert_cmpfloat (area.y + area.height, <, paper.y + paper.height);
      g_assert_cmphex (get_pixel (surface, area.x + 0.5 * area.width, area.y + 0.25 * area.height), !=,
                       backgrounds[i]);
      /* Between the grid's lines there is nothing else. */
      g_assert_cmphex (get_pixel (surface, area.x + 0.45 * area.width, area.y + 0.67 * area.height), ==,
                       backgrounds[i]);
      g_assert_cmphex (get_pixel (surface, paper.x + 1, paper.y + 1), ==, backgrounds[i]);
      /* What is not the paper's is left as it was. */
      g_assert_cmphex (get_pixel (surface, 1, 1), ==, 0x000000);
      cairo_destroy (cairo);
      cairo_surface_destroy (surface);
    }
}

static void
test_numbers_at_the_ends (void)
{
  /* The axes are a tenth longer to either side. */
  const double places[] = { 0.02, -2e-9, 2e-9, 0.00002, 1000000.5 };
  const AprPlotStyle style = { FALSE, 11 };
  const double y[] = { 0 };
  gsize i;
  int edge;
  int row;

  g_test_summary ("Numbers at the ends of an axis are all on the paper.");

  for (i = 0; i < G_N_ELEMENTS (places); i++)
    {
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
      cairo_t *cairo = cairo_create (surface);
      g_autoptr (AprPlot) plot = apr_plot_new ("", "", "");

      apr_plot_add_points (plot, &places[i], y, 1);
      apr_plot_draw (plot, cairo, &(AprPlotArea){ 0, 0, WIDTH, HEIGHT }, &style, NULL);
      for (edge = 0; edge < 2; edge++)
        for (row = 0; row < HEIGHT; row++)
          g_assert_cmphex (get_pixel (surface, edge == 0 ? 0 : WIDTH - 1, row), ==, 0xffffff);
      cairo_destroy (cairo);
      cairo_surface_destroy (surface);
    }
}

/* How many cells of a picture a note changes; all must be around the middle, @half_height above and below. */
static guint
count_note_cells (const char *note, const AprPlotStyle *style, int half_height)
{
  const double places[] = { 0, 9 };
  const double nowhere[] = { NAN, NAN };
  g_autoptr (AprPlot) plot = apr_plot_new ("A title", "Years", "Kilometres");
  int without[N_CELLS];
  int with[N_CELLS];
  guint n_different = 0;
  guint n_left = 0;
  int i;

  apr_plot_add_line (plot, APR_PLOT_SOLID, places, places, 2);
  apr_plot_add_points (plot, places, nowhere, 2);
  draw_cells (plot, style, without);
  g_assert_null (apr_plot_get_note (plot));
  g_assert_null (apr_plot_describe_note (plot));
  apr_plot_set_note (plot, "Another note");
  apr_plot_set_note (plot, note);
  g_assert_cmpstr (apr_plot_get_note (plot), ==, note);
  draw_cells (plot, style, with);
  for (i = 0; i < N_CELLS; i++)
    if (without[i] != with[i])
      {
        int x = i % (WIDTH / CELL) * CELL;
        int y = i / (WIDTH / CELL) * CELL;

        n_different++;
        /* On the left there are the numbers of the axis. */
        n_left += x < WIDTH * 11 / 20;
        g_assert_cmpint (y, >=, HEIGHT / 2 - half_height - CELL);
        g_assert_cmpint (y, <=, HEIGHT / 2 + half_height);
        g_assert_cmpint (x, >, 30);
      }
  g_assert_cmpuint (n_left, >, 0);
  g_assert_cmpuint (n_left, <, n_different);

  return n_different;
}

static void
test_note (void)
{
  const AprPlotStyle styles[] = { { FALSE, 11 }, { TRUE, 11 }, { FALSE, 11, TRUE }, { TRUE, 11, TRUE } };
  guint i;

  g_test_summary ("A note is in the middle, in as many lines as it needs; a word that is too long is cut.");

  for (i = 0; i < G_N_ELEMENTS (styles); i++)
    {
      guint n_short = count_note_cells ("Why", &styles[i], 20);
      guint n_line = count_note_cells ("Why there is nothing to see", &styles[i], 20);
      guint n_lines =
        count_note_cells ("Why there is nothing to see here, and nothing there, and nowhere else either, "
                          "not even where nobody would think of looking for it",
                          &styles[i], 40);
      guint n_word = count_note_cells (
        "Whythereisnothingtoseehereandnothingthereandnowhereelseeithernotevenwherenobodywouldthink",
        &styles[i], 20);

      g_assert_cmpuint (n_line, >, n_short);
      g_assert_cmpuint (n_word, >, n_line);
      g_assert_cmpuint (n_lines, >, n_word);
    }
}

static void
test_note_on_some (void)
{
  const double x[] = { 0, 1, 2, NAN, 4, 5, 6 };
  const double y[] = { 0, 1, NAN, 3, INFINITY, NAN, 6 };
  const gint64 numbers[] = { 7, 8, 9, 10, 11, 12, 13 };
  const AprPlotStyle style = { FALSE, 11 };
  const AprPlotArea paper = { 0, 0, WIDTH, HEIGHT };
  const char *const expected[] = {
    NULL, "Left out", "Left out", "Left out: 3", "Left out: 3, 4", "Left out: 3, 4, 5", "Left out: 3, 4, 5, …"
  };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cairo = cairo_create (surface);
  g_autoptr (GBytes) bytes = NULL;
  gint64 little[7];
  gsize n;

  g_test_summary ("A note on points that are left out is above the others, and names the first.");

  for (n = 1; n < G_N_ELEMENTS (expected); n++)
    {
      g_autoptr (AprPlot) plot = apr_plot_new ("", "", "");
      g_autofree char *note = NULL;
      AprPlotArea area;
      AprPlotArea area_with;
      guint n_ink = 0;
      int i;

      apr_plot_add_points (plot, x, y, n);
      g_assert_cmpuint (apr_plot_get_n_shown (plot), ==, MIN (n, 2));
      area = apr_plot_draw (plot, cairo, &paper, &style, NULL);
      apr_plot_set_note (plot, "Left out");
      area_with = apr_plot_draw (plot, cairo, &paper, &style, NULL);
      g_assert_cmpfloat (area_with.y, >, area.y + style.font_size);
      g_assert_cmpfloat (area_with.y + area_with.height, ==, area.y + area.height);
      for (i = 0; i < WIDTH; i++)
        n_ink += get_pixel (surface, i, area.y + 0.6 * style.font_size) != 0xffffff;
      g_assert_cmpuint (n_ink, >, 10);
      note = apr_plot_describe_note (plot);
      g_assert_cmpstr (note, ==, expected[n]);
    }
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);

  for (n = 0; n < G_N_ELEMENTS (little); n++)
    little[n] = GINT64_TO_LE (numbers[n]);
  bytes = g_bytes_new (little, sizeof little);
  {
    g_autoptr (AprPlot) plot = apr_plot_new ("", "", "");
    g_autoptr (AprTensor) tensor =
      apr_tensor_new_from_bytes (APR_DTYPE_I64, (const gsize[]){ 7 }, 1, bytes, NULL);
    g_autofree char *note = NULL;

    apr_plot_set_row_numbers (plot, tensor);
    apr_plot_add_points (plot, x, y, 7);
    apr_plot_set_note (plot, "Left out");
    note = apr_plot_describe_note (plot);
    g_assert_cmpstr (note, ==, "Left out: 10, 11, 12, …");
  }
}

static void
assert_format (AprPlotFormat format, const char *begin)
{
  const AprPlotStyle style = { FALSE, 11 };
  g_autoptr (AprPlot) plot = make_plot ();
  AprPlot *plots[] = { plot, plot, plot, plot };
  GError *error = NULL;
  char buffer[9] = { 0 };
  FILE *stream = tmpfile ();

  g_assert_true (apr_plot_write (plots, 4, format, 400, 300, &style, stream, &error));
  g_assert_no_error (error);
  g_assert_cmpint (ftell (stream), >, 5000);
  rewind (stream);
  g_assert_cmpuint (fread (buffer, 1, 8, stream), ==, 8);
  g_assert_true (g_str_has_prefix (buffer, begin));
  fclose (stream);
}

static void
test_formats (void)
{
  assert_format (APR_PLOT_SVG, "<?xml");
  assert_format (APR_PLOT_PNG, "\x89PNG");
  assert_format (APR_PLOT_PDF, "%PDF-");
}

static void
test_row_numbers (void)
{
  const gint64 numbers[] = { GINT64_TO_LE (0), GINT64_TO_LE (4), GINT64_TO_LE ((gint64) 1 << 40) };
  const gsize shape[] = { 3 };
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, sizeof numbers);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, 1, bytes, NULL);
  g_autoptr (AprPlot) plot = apr_plot_new ("Points", "x", "y");

  g_test_summary ("Points are called by their places, counted from 1, or by the rows that they are of.");
  g_assert_cmpuint (apr_plot_get_row_number (plot, 2), ==, 3);
  apr_plot_set_row_numbers (plot, tensor);
  g_assert_cmpuint (apr_plot_get_row_number (plot, 0), ==, 1);
  g_assert_cmpuint (apr_plot_get_row_number (plot, 1), ==, 5);
  g_assert_cmpuint (apr_plot_get_row_number (plot, 2), ==, ((guint64) 1 << 40) + 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/ticks", test_ticks);
  g_test_add ("/plot/locale", Folder, NULL, folder_set_up, test_locale, folder_tear_down);
  g_test_add_func ("/plot/sort", test_sort);
  g_test_add_func ("/plot/labels", test_labels);
  g_test_add_func ("/plot/long-names", test_long_names);
  g_test_add_func ("/plot/normal-quantiles", test_normal_quantiles);
  g_test_add_func ("/plot/pictures", test_pictures);
  g_test_add_func ("/plot/density", test_density);
  g_test_add_func ("/plot/extremes", test_extremes);
  g_test_add_func ("/plot/views", test_views);
  g_test_add_func ("/plot/numbers-at-the-ends", test_numbers_at_the_ends);
  g_test_add_func ("/plot/note", test_note);
  g_test_add_func ("/plot/note-on-some", test_note_on_some);
  g_test_add_func ("/plot/formats", test_formats);
  g_test_add_func ("/plot/row-numbers", test_row_numbers);

  return g_test_run ();
}
