/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot.h"

#include <math.h>

#include "aprender/plot/apr-plot-colour.h"
#include "aprender/plot/apr-plot-density.h"
#include "aprender/plot/apr-plot-text.h"
#include "aprender/plot/apr-plot-ticks.h"

/* More points than this are drawn as their density. */
#define MAX_POINTS 5000

/* How many points that are left out are named. */
#define MAX_NAMES 3

/* In units of the size of the font. */
#define TICK 0.4
#define POINT_RADIUS 0.2
#define MARGIN 0.6
#define LINE_HEIGHT 1.4

typedef enum
{
  POINTS,
  LINE,
  BAND,
  LABEL,
} Kind;

typedef struct
{
  Kind kind;
  AprPlotLine line;
  double *x;
  double *y;
  double *upper; /* (nullable) of a band */
  gsize n;
  char *text; /* (nullable) of a label */
} Item;

struct _AprPlot
{
  char *title;
  char *x_label;
  char *y_label;
  char *note;       /* (nullable) */
  GPtrArray *items; /* (element-type Item) */
  gint64 *numbers;  /* (nullable) of the points */
  gsize n_numbers;
  double limits[2][2];
};

/* Where numbers are on the paper. */
typedef struct
{
  double origin[2];
  double scale[2]; /* the second is below 0, as paper begins at the top */
  AprPlotView view;
  GArray *labels; /* (element-type AprPlotArea) where there are some */
} Frame;

static void
item_free (gpointer data)
{
  Item *item = data;

  g_free (item->x);
  g_free (item->y);
  g_free (item->upper);
  g_free (item->text);
  g_free (item);
}

AprPlot *
apr_plot_new (const char *title, const char *x_label, const char *y_label)
{
  AprPlot *self = g_new0 (AprPlot, 1);
  guint i;

  self->title = g_strdup (title);
  self->x_label = g_strdup (x_label);
  self->y_label = g_strdup (y_label);
  self->items = g_ptr_array_new_with_free_func (item_free);
  for (i = 0; i < 2; i++)
    {
      self->limits[i][0] = INFINITY;
      self->limits[i][1] = -INFINITY;
    }

  return self;
}

void
apr_plot_free (AprPlot *self)
{
  g_free (self->title);
  g_free (self->x_label);
  g_free (self->y_label);
  g_free (self->note);
  g_ptr_array_unref (self->items);
  g_free (self->numbers);
  g_free (self);
}

static void
widen (AprPlot *self, guint axis, const double *values, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        self->limits[axis][0] = fmin (self->limits[axis][0], values[i]);
        self->limits[axis][1] = fmax (self->limits[axis][1], values[i]);
      }
}

static Item *
add (AprPlot *self, Kind kind, const double *x, const double *y, gsize n)
{
  Item *item = g_new0 (Item, 1);

  item->kind = kind;
  item->x = g_memdup2 (x, n * sizeof (double));
  item->y = g_memdup2 (y, n * sizeof (double));
  item->n = n;
  g_ptr_array_add (self->items, item);

  return item;
}

void
apr_plot_add_points (AprPlot *self, const double *x, const double *y, gsize n)
{
  add (self, POINTS, x, y, n);
  widen (self, 0, x, n);
  widen (self, 1, y, n);
}

void
apr_plot_set_row_numbers (AprPlot *self, AprTensor *numbers)
{
  GBytes *bytes = apr_tensor_get_bytes (numbers);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  gsize i;

  g_return_if_fail (apr_tensor_get_dtype (numbers) == APR_DTYPE_I64);

  g_free (self->numbers);
  /* The bytes of a tensor need not be aligned, and are little-endian. */
  self->numbers = g_memdup2 (data, size);
  self->n_numbers = size / sizeof (gint64);
  for (i = 0; i < self->n_numbers; i++)
    self->numbers[i] = GINT64_FROM_LE (self->numbers[i]);
}

guint64
apr_plot_get_row_number (const AprPlot *self, gsize point)
{
  return point < self->n_numbers ? (guint64) self->numbers[point] + 1 : (guint64) point + 1;
}

void
apr_plot_set_texts (AprPlot *self, const char *title, const char *x_label, const char *y_label)
{
  char *texts[] = { g_strdup (title), g_strdup (x_label), g_strdup (y_label) };

  g_free (self->title);
  g_free (self->x_label);
  g_free (self->y_label);
  self->title = texts[0];
  self->x_label = texts[1];
  self->y_label = texts[2];
}

void
apr_plot_set_note (AprPlot *self, const char *text)
{
  char *note = g_strdup (text);

  g_free (self->note);
  self->note = note;
}

const char *
apr_plot_get_note (const AprPlot *self)
{
  return self->note;
}

void
apr_plot_add_label (AprPlot *self, double x, double y, const char *text)
{
  add (self, LABEL, &x, &y, 1)->text = g_strdup (text);
}

void
apr_plot_add_line (AprPlot *self, AprPlotLine kind, const double *x, const double *y, gsize n)
{
  add (self, LINE, x, y, n)->line = kind;
  if (kind == APR_PLOT_DASHED)
    return;
  widen (self, 0, x, n);
  widen (self, 1, y, n);
}

void
apr_plot_add_band (AprPlot *self, const double *x, const double *lower, const double *upper, gsize n)
{
  add (self, BAND, x, lower, n)->upper = g_memdup2 (upper, n * sizeof (double));
  widen (self, 0, x, n);
  widen (self, 1, lower, n);
  widen (self, 1, upper, n);
}

gsize
apr_plot_get_points (const AprPlot *self, const double **x, const double **y)
{
  guint i;

  for (i = 0; i < self->items->len; i++)
    {
      const Item *item = g_ptr_array_index (self->items, i);

      if (item->kind == POINTS)
        {
          *x = item->x;
          *y = item->y;
          return item->n;
        }
    }

  return 0;
}

static gboolean
is_finite (const double *x, const double *y, gsize i)
{
  return isfinite (x[i]) && isfinite (y[i]);
}

gsize
apr_plot_get_n_shown (const AprPlot *self)
{
  const double *x;
  const double *y;
  gsize n = apr_plot_get_points (self, &x, &y);
  gsize n_shown = 0;
  gsize i;

  for (i = 0; i < n; i++)
    n_shown += is_finite (x, y, i);

  return n_shown;
}

char *
apr_plot_describe_note (const AprPlot *self)
{
  g_autoptr (GString) text = g_string_new (self->note);
  const double *x;
  const double *y;
  gsize n = apr_plot_get_points (self, &x, &y);
  guint n_names = 0;
  gsize i;

  if (self->note == NULL)
    return NULL;
  if (apr_plot_get_n_shown (self) == 0)
    return g_strdup (self->note);
  for (i = 0; i < n && n_names <= MAX_NAMES; i++)
    if (!is_finite (x, y, i) && n_names++ < MAX_NAMES)
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, n_names == 1 ? ": " : ", ",
                              apr_plot_get_row_number (self, i));
  if (n_names > MAX_NAMES)
    g_string_append (text, ", …");

  return g_strdup (text->str);
}

const char *
apr_plot_get_title (const AprPlot *self)
{
  return self->title;
}

const char *
apr_plot_get_axis_label (const AprPlot *self, guint axis)
{
  return axis == 0 ? self->x_label : self->y_label;
}

void
apr_plot_include_zero (AprPlot *self)
{
  const double zero = 0;

  widen (self, 1, &zero, 1);
}

static double
to_x (const Frame *frame, double x)
{
  return frame->origin[0] + (x - frame->view.begin[0]) * frame->scale[0];
}

static double
to_y (const Frame *frame, double y)
{
  return frame->origin[1] + (y - frame->view.begin[1]) * frame->scale[1];
}

void
apr_plot_get_view (const AprPlot *self, AprPlotView *view)
{
  guint i;

  for (i = 0; i < 2; i++)
    {
      /* The difference of two that are far apart must be a number still. */
      double begin = fmax (self->limits[i][0], -G_MAXDOUBLE / 8);
      double end = fmin (self->limits[i][1], G_MAXDOUBLE / 8);
      double margin;

      if (!(begin <= end))
        begin = end = 0;
      margin = (end / 2 - begin / 2) * 0.08;
      if (!(margin > fmax (fabs (begin), fabs (end)) * 1e-13))
        margin = begin == 0 ? 1 : fabs (begin) * 0.1;
      view->begin[i] = begin - margin;
      view->end[i] = end + margin;
    }
}

static AprPlotTicks
choose_x_ticks (cairo_t *cairo, const Frame *frame, double size)
{
  const AprPlotView *view = &frame->view;

  return apr_plot_ticks_choose_beside (view->begin[0], view->end[0], cairo,
                                       (view->end[0] - view->begin[0]) * frame->scale[0], size);
}

static void
place_x (Frame *frame, double left, double right)
{
  frame->origin[0] = left;
  frame->scale[0] = fmax (right - left, 1) / (frame->view.end[0] - frame->view.begin[0]);
}

/* Where the line through the baseline of the numbers along the x axis is, and so on: the frame is what is left. */
static void
place_frame (Frame *frame,
             cairo_t *cairo,
             const AprPlotArea *paper,
             double size,
             const AprPlotTicks *y_ticks,
             gboolean has_line_above)
{
  double left =
    paper->x + MARGIN * size + 1.6 * size + apr_plot_ticks_measure (y_ticks, cairo) + 2 * TICK * size;
  double top = paper->y + MARGIN * size + 1.9 * size + (has_line_above ? LINE_HEIGHT * size : 0);
  double right = paper->x + paper->width - 1.2 * size;
  double bottom = paper->y + paper->height - MARGIN * size - 3.2 * size;
  AprPlotTicks x_ticks;
  double overhang;

  frame->origin[1] = bottom;
  frame->scale[1] = -fmax (bottom - top, 1) / (frame->view.end[1] - frame->view.begin[1]);
  place_x (frame, left, right);
  /* A number can stand at either end. Where less room is left for them, they get no longer. */
  x_ticks = choose_x_ticks (cairo, frame, size);
  overhang = apr_plot_ticks_measure (&x_ticks, cairo) / 2 + 0.3 * size;
  place_x (frame, fmax (left, paper->x + overhang), fmin (right, paper->x + paper->width - overhang));
}

static void
draw_x_axis (cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  double size = style->font_size;
  AprPlotTicks ticks = choose_x_ticks (cairo, frame, size);
  guint every;
  guint i;

  every = (guint) fmin (
    ceil ((apr_plot_ticks_measure (&ticks, cairo) + size / 2) / (ticks.step * frame->scale[0])), 1e6);
  for (i = 0; i < ticks.n; i++)
    {
      double place = to_x (frame, apr_plot_ticks_get (&ticks, i));
      g_autofree char *text = apr_plot_ticks_format (&ticks, i);

      apr_plot_set_colour (cairo, style, APR_PLOT_FAINT, 1);
      cairo_move_to (cairo, place, to_y (frame, frame->view.begin[1]));
      cairo_line_to (cairo, place, to_y (frame, frame->view.end[1]));
      cairo_stroke (cairo);
      apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
      if (every < 2 || i % every == 0)
        apr_plot_show_text (cairo, place, frame->origin[1] + 1.4 * size, 0.5, text);
    }
}

static void
draw_y_axis (cairo_t *cairo, const Frame *frame, const AprPlotTicks *ticks, const AprPlotStyle *style)
{
  double size = style->font_size;
  guint i;

  for (i = 0; i < ticks->n; i++)
    {
      double place = to_y (frame, apr_plot_ticks_get (ticks, i));
      g_autofree char *text = apr_plot_ticks_format (ticks, i);

      apr_plot_set_colour (cairo, style, APR_PLOT_FAINT, 1);
      cairo_move_to (cairo, to_x (frame, frame->view.begin[0]), place);
      cairo_line_to (cairo, to_x (frame, frame->view.end[0]), place);
      cairo_stroke (cairo);
      apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
      apr_plot_show_text (cairo, frame->origin[0] - 2 * TICK * size, place + 0.35 * size, 1, text);
    }
}

static void
draw_names (const AprPlot *self,
            cairo_t *cairo,
            const Frame *frame,
            const AprPlotArea *paper,
            const AprPlotStyle *style)
{
  double size = style->font_size;
  double margin = MARGIN * size;
  double left = paper->x + margin;
  double right = paper->x + paper->width - margin;
  double middle = frame->origin[0] + (frame->view.end[0] - frame->view.begin[0]) * frame->scale[0] / 2;
  double height = -(frame->view.end[1] - frame->view.begin[1]) * frame->scale[1];

  apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
  apr_plot_show_text_between (cairo, left, right, middle, frame->origin[1] + 3 * size, size, self->x_label);

  cairo_save (cairo);
  cairo_translate (cairo, left + size, paper->y + paper->height);
  cairo_rotate (cairo, -M_PI / 2);
  apr_plot_show_text_between (cairo, margin, paper->height - margin,
                              paper->y + paper->height - frame->origin[1] + height / 2, 0, size,
                              self->y_label);
  cairo_restore (cairo);

  cairo_select_font_face (cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
  apr_plot_show_text_between (cairo, left, right, middle, paper->y + margin + size, size, self->title);
  cairo_select_font_face (cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

static gboolean
is_visible (const Frame *frame, double x, double y)
{
  const AprPlotView *view = &frame->view;

  /* Also false where one is not a number. */
  return x >= view->begin[0] && x <= view->end[0] && y >= view->begin[1] && y <= view->end[1];
}

static void
draw_points (const Item *item, cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  double radius = POINT_RADIUS * style->font_size;
  gsize n_visible = 0;
  gsize i;

  for (i = 0; i < item->n; i++)
    n_visible += is_visible (frame, item->x[i], item->y[i]);
  if (n_visible > MAX_POINTS)
    {
      apr_plot_set_colour (cairo, style, APR_PLOT_POINT, 1);
      apr_plot_draw_density (cairo, item->x, item->y, item->n, frame->origin, frame->view.begin, frame->scale,
                             frame->view.end, style->font_size / 4);
      return;
    }
  apr_plot_set_colour (cairo, style, APR_PLOT_POINT, style->high_contrast ? 1 : n_visible > 500 ? 0.5 : 0.8);
  for (i = 0; i < item->n; i++)
    if (is_visible (frame, item->x[i], item->y[i]))
      {
        cairo_new_sub_path (cairo);
        cairo_arc (cairo, to_x (frame, item->x[i]), to_y (frame, item->y[i]), radius, 0, 2 * M_PI);
        cairo_fill (cairo);
      }
}

static void
draw_line (const Item *item, cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  const double dashes[] = { style->font_size * 0.5, style->font_size * 0.35 };
  gboolean dashed = item->line == APR_PLOT_DASHED;
  gboolean begun = FALSE;
  gsize i;

  if (dashed)
    apr_plot_set_colour (cairo, style, APR_PLOT_GUIDE, 1);
  else
    apr_plot_set_colour (cairo, style, APR_PLOT_CURVE, 1);
  cairo_set_dash (cairo, dashes, dashed ? 2 : 0, 0);
  cairo_set_line_width (cairo, style->font_size * (dashed ? 0.09 : 0.15));
  for (i = 0; i < item->n; i++)
    {
      if (isfinite (item->x[i]) && isfinite (item->y[i]) && begun)
        cairo_line_to (cairo, to_x (frame, item->x[i]), to_y (frame, item->y[i]));
      else if (isfinite (item->x[i]) && isfinite (item->y[i]))
        cairo_move_to (cairo, to_x (frame, item->x[i]), to_y (frame, item->y[i]));
      begun = isfinite (item->x[i]) && isfinite (item->y[i]);
    }
  cairo_stroke (cairo);
  cairo_set_dash (cairo, dashes, 0, 0);
}

static void
draw_band (const Item *item, cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  gsize i;

  for (i = 0; i < item->n; i++)
    if (isfinite (item->y[i]))
      cairo_line_to (cairo, to_x (frame, item->x[i]), to_y (frame, item->y[i]));
  for (i = item->n; i-- > 0;)
    if (isfinite (item->upper[i]))
      cairo_line_to (cairo, to_x (frame, item->x[i]), to_y (frame, item->upper[i]));
  apr_plot_set_colour (cairo, style, APR_PLOT_CURVE, 0.18);
  cairo_fill (cairo);
}

/* Whether a text has room within the frame and beside the texts that are there. */
static gboolean
has_room (const Frame *frame, const AprPlotArea *area)
{
  guint i;

  if (area->x < frame->origin[0] || area->x + area->width > to_x (frame, frame->view.end[0]))
    return FALSE;
  for (i = 0; i < frame->labels->len; i++)
    {
      const AprPlotArea *other = &g_array_index (frame->labels, AprPlotArea, i);

      if (area->x < other->x + other->width && other->x < area->x + area->width &&
          area->y < other->y + other->height && other->y < area->y + area->height)
        return FALSE;
    }

  return TRUE;
}

static void
draw_label (const Item *item, cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  double size = style->font_size;
  double y = to_y (frame, item->y[0]) + 0.35 * size;
  double width = apr_plot_get_text_width (cairo, item->text);
  double right = to_x (frame, item->x[0]) + 0.4 * size;
  double left = to_x (frame, item->x[0]) - 0.4 * size - width;
  /* Towards the middle, or else on the other side. Two texts in one place could be read as a third. */
  gboolean begins_left = item->x[0] > frame->view.begin[0] / 2 + frame->view.end[0] / 2;
  AprPlotArea area = { begins_left ? left : right, y - size, width, 1.2 * size };
  double x;

  if (!has_room (frame, &area))
    area.x = begins_left ? right : left;
  if (!has_room (frame, &area))
    return;
  g_array_append_val (frame->labels, area);
  x = area.x;
  /* An edge of paper keeps lines apart from the letters. */
  cairo_save (cairo);
  cairo_move_to (cairo, x, y);
  cairo_text_path (cairo, item->text);
  apr_plot_set_colour (cairo, style, APR_PLOT_PAPER, 1);
  cairo_set_line_join (cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_width (cairo, size * 0.3);
  cairo_stroke (cairo);
  cairo_restore (cairo);
  apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
  apr_plot_show_text (cairo, x, y, 0, item->text);
}

static void
draw_items (const AprPlot *self, cairo_t *cairo, const Frame *frame, const AprPlotStyle *style)
{
  static void (*const draw[]) (const Item *, cairo_t *, const Frame *, const AprPlotStyle *) = {
    [POINTS] = draw_points,
    [LINE] = draw_line,
    [BAND] = draw_band,
    [LABEL] = draw_label,
  };
  guint i;

  for (i = 0; i < self->items->len; i++)
    {
      const Item *item = g_ptr_array_index (self->items, i);

      draw[item->kind](item, cairo, frame, style);
    }
}

/* In the middle of an area, in as many lines as need be. */
static void
draw_note (const char *note, cairo_t *cairo, const AprPlotArea *area, const AprPlotStyle *style)
{
  double size = style->font_size;
  double begin = area->x + size / 2;
  double end = area->x + area->width - size / 2;
  g_auto (GStrv) lines = apr_plot_break_text (cairo, note, end - begin);
  double y = area->y + area->height / 2 - (double) g_strv_length (lines) * LINE_HEIGHT / 2 * size;
  guint i;

  for (i = 0; lines[i] != NULL; i++, y += LINE_HEIGHT * size)
    {
      double width = fmin (apr_plot_get_text_width (cairo, lines[i]) + size, area->width);

      /* The grid's lines would go through the letters. */
      apr_plot_set_colour (cairo, style, APR_PLOT_PAPER, 1);
      cairo_rectangle (cairo, area->x + (area->width - width) / 2, y, width, LINE_HEIGHT * size);
      cairo_fill (cairo);
      apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
      apr_plot_show_text_between (cairo, begin, end, (begin + end) / 2, y + 1.05 * size, size, lines[i]);
    }
}

/* In one line above an area. */
static void
draw_line_above (const char *note,
                 cairo_t *cairo,
                 const AprPlotArea *area,
                 const AprPlotArea *paper,
                 const AprPlotStyle *style)
{
  double size = style->font_size;

  apr_plot_set_colour (cairo, style, APR_PLOT_INK, 1);
  apr_plot_show_text_between (cairo, paper->x + MARGIN * size, paper->x + paper->width - MARGIN * size,
                              area->x + area->width / 2, area->y - 0.6 * size, size, note);
}

AprPlotArea
apr_plot_draw (const AprPlot *self,
               cairo_t *cairo,
               const AprPlotArea *paper,
               const AprPlotStyle *style,
               const AprPlotView *view)
{
  double size = style->font_size;
  g_autoptr (GArray) labels = g_array_new (FALSE, FALSE, sizeof (AprPlotArea));
  g_autofree char *note = apr_plot_describe_note (self);
  gboolean has_line_above = note != NULL && apr_plot_get_n_shown (self) > 0;
  AprPlotView all;
  Frame frame;
  AprPlotTicks y_ticks;
  AprPlotArea area;

  cairo_save (cairo);
  cairo_rectangle (cairo, paper->x, paper->y, paper->width, paper->height);
  cairo_clip (cairo);
  apr_plot_set_colour (cairo, style, APR_PLOT_PAPER, 1);
  cairo_paint (cairo);
  cairo_select_font_face (cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cairo, size);
  cairo_set_line_width (cairo, size * 0.07);

  apr_plot_get_view (self, &all);
  frame.view = view != NULL ? *view : all;
  frame.labels = labels;
  y_ticks = apr_plot_ticks_choose (frame.view.begin[1], frame.view.end[1],
                                   (guint) CLAMP (paper->height / (4 * size), 2, 8));
  place_frame (&frame, cairo, paper, size, &y_ticks, has_line_above);
  draw_x_axis (cairo, &frame, style);
  draw_y_axis (cairo, &frame, &y_ticks, style);
  draw_names (self, cairo, &frame, paper, style);

  area.x = frame.origin[0];
  area.y = to_y (&frame, frame.view.end[1]);
  area.width = to_x (&frame, frame.view.end[0]) - area.x;
  area.height = frame.origin[1] - area.y;
  if (has_line_above)
    draw_line_above (note, cairo, &area, paper, style);
  cairo_rectangle (cairo, area.x, area.y, area.width, area.height);
  apr_plot_set_colour (cairo, style, APR_PLOT_GUIDE, 1);
  cairo_stroke_preserve (cairo);
  cairo_clip (cairo);
  draw_items (self, cairo, &frame, style);
  if (note != NULL && !has_line_above)
    draw_note (note, cairo, &area, style);
  cairo_restore (cairo);

  return area;
}
