/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-plot-private.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "app/trendline-format.h"

#define RING 6

enum
{
  PROP_0,
  PROP_BUSY,
  PROP_ROW,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_TYPE (TrendlinePlot, trendline_plot, GTK_TYPE_WIDGET)

static void
content_clear (gpointer data)
{
  TrendlinePlotContent *content = data;

  trendline_points_free (content->points);
  apr_plot_free (content->plot);
}

static void
content_unref (gpointer content)
{
  g_atomic_rc_box_release_full (content, content_clear);
}

static TrendlinePlotContent *
content_new (AprPlot *plot)
{
  TrendlinePlotContent *content = g_atomic_rc_box_new0 (TrendlinePlotContent);

  content->plot = plot;
  content->n = apr_plot_get_points (plot, &content->x, &content->y);
  content->n_shown = apr_plot_get_n_shown (plot);
  content->points = trendline_points_new (content->x, content->y, content->n);

  return content;
}

/* One drawing: what is drawn, how, and the picture. */
typedef struct
{
  TrendlinePlotContent *content;
  AprPlotView view;
  AprPlotStyle style;
  int width;
  int height;
  int scale;
  AprPlotArea area;
} Drawing;

static void
drawing_free (gpointer data)
{
  Drawing *drawing = data;

  content_unref (drawing->content);
  g_free (drawing);
}

static GdkTexture *
create_texture (cairo_surface_t *surface)
{
  gsize stride = (gsize) cairo_image_surface_get_stride (surface);
  int height = cairo_image_surface_get_height (surface);
  g_autoptr (GBytes) bytes = NULL;

  cairo_surface_flush (surface);
  bytes = g_bytes_new_with_free_func (cairo_image_surface_get_data (surface), stride * (gsize) height,
                                      (GDestroyNotify) cairo_surface_destroy, surface);

  return gdk_memory_texture_new (cairo_image_surface_get_width (surface), height, GDK_MEMORY_DEFAULT, bytes,
                                 stride);
}

static void
draw_in_thread (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  Drawing *drawing = task_data;
  const AprPlotArea paper = { 0, 0, drawing->width, drawing->height };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, drawing->width * drawing->scale,
                                                         drawing->height * drawing->scale);
  cairo_t *cairo;

  cairo_surface_set_device_scale (surface, drawing->scale, drawing->scale);
  cairo = cairo_create (surface);
  drawing->area = apr_plot_draw (drawing->content->plot, cairo, &paper, &drawing->style, &drawing->view);
  cairo_destroy (cairo);
  g_task_return_pointer (task, create_texture (surface), g_object_unref);
}

/* The size of captions, in pixels, as the user has set it. */
static double
get_font_size (TrendlinePlot *self)
{
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  const PangoFontDescription *font = pango_context_get_font_description (context);
  double size = 0.85 * pango_font_description_get_size (font) / PANGO_SCALE;
  double resolution = pango_cairo_context_get_resolution (context);

  if (pango_font_description_get_size_is_absolute (font))
    return size;

  return size * (resolution > 0 ? resolution : 96) / 72;
}

static void
on_drawn (GObject *source, GAsyncResult *result, gpointer user_data)
{
  TrendlinePlot *self = TRENDLINE_PLOT (source);
  const Drawing *drawing = g_task_get_task_data (G_TASK (result));
  GdkTexture *texture = g_task_propagate_pointer (G_TASK (result), NULL);

  self->drawing = FALSE;
  g_set_object (&self->picture, texture);
  g_object_unref (texture);
  self->drawn = drawing->view;
  self->area = drawing->area;
  self->size = GRAPHENE_SIZE_INIT ((float) drawing->width, (float) drawing->height);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (self->stale)
    trendline_plot_draw (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

void
trendline_plot_draw (TrendlinePlot *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  AdwStyleManager *manager = adw_style_manager_get_default ();
  g_autoptr (GTask) task = NULL;
  Drawing *drawing;

  self->stale = self->drawing;
  if (self->drawing || self->content == NULL || gtk_widget_get_width (widget) < 1 ||
      gtk_widget_get_height (widget) < 1)
    return;

  drawing = g_new0 (Drawing, 1);
  drawing->content = g_atomic_rc_box_acquire (self->content);
  drawing->view = self->view;
  drawing->style.dark = adw_style_manager_get_dark (manager);
  drawing->style.high_contrast = adw_style_manager_get_high_contrast (manager);
  drawing->style.font_size = get_font_size (self);
  drawing->width = gtk_widget_get_width (widget);
  drawing->height = gtk_widget_get_height (widget);
  drawing->scale = gtk_widget_get_scale_factor (widget);

  self->drawing = TRUE;
  task = g_task_new (self, NULL, on_drawn, NULL);
  g_task_set_source_tag (task, trendline_plot_draw);
  g_task_set_task_data (task, drawing, drawing_free);
  g_task_run_in_thread (task, draw_in_thread);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

static void
describe (TrendlinePlot *self)
{
  g_autofree char *row = trendline_plot_describe_row (self);
  g_autofree char *points = NULL;
  g_autofree char *description = NULL;
  g_autofree char *note = NULL;
  g_autofree char *both = NULL;
  const TrendlinePlotContent *content = self->content;

  if (content == NULL)
    return;
  note = apr_plot_describe_note (content->plot);
  points =
    g_strdup_printf (ngettext ("%lu point", "%lu points", content->n_shown), (gulong) content->n_shown);
  description = g_strdup_printf (
    /* Translators: of a plot: the names of the axes, how many points there are. */
    _ ("%s by %s, %s"), apr_plot_get_axis_label (content->plot, 1),
    apr_plot_get_axis_label (content->plot, 0), points);
  both = note == NULL         ? g_strdup (description)
       : content->n_shown > 0 ? g_strdup_printf ("%s. %s", description, note)
                              : g_strdup (note);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  apr_plot_get_title (content->plot), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  self->row > 0 ? row : both, -1);
}

typedef struct
{
  TrendlinePlotMake make;
  gpointer data;
  GDestroyNotify free_data;
} Making;

static void
make_in_thread (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  const Making *making = task_data;
  AprPlot *plot = making->make (making->data);

  g_task_return_pointer (task, plot != NULL ? content_new (plot) : NULL, content_unref);
}

static void
on_made (GObject *source, GAsyncResult *result, gpointer user_data)
{
  TrendlinePlot *self = TRENDLINE_PLOT (source);
  Making *making = g_task_get_task_data (G_TASK (result));
  TrendlinePlotContent *content = g_task_propagate_pointer (G_TASK (result), NULL);

  if (making->free_data != NULL)
    making->free_data (making->data);
  if (self->making != G_TASK (result))
    {
      /* Another one is wanted by now. */
      g_clear_pointer (&content, content_unref);
      return;
    }

  self->making = NULL;
  g_clear_pointer (&self->content, content_unref);
  self->content = content;
  trendline_plot_set_row (self, 0);
  if (content == NULL)
    {
      g_clear_object (&self->picture);
      gtk_widget_queue_draw (GTK_WIDGET (self));
    }
  else
    trendline_plot_show_all (self);
  describe (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

void
trendline_plot_make (TrendlinePlot *self, TrendlinePlotMake make, gpointer data, GDestroyNotify free_data)
{
  g_autoptr (GTask) task = NULL;
  Making *making;

  g_return_if_fail (TRENDLINE_IS_PLOT (self));
  g_return_if_fail (make != NULL);

  making = g_new (Making, 1);
  *making = (Making){ make, data, free_data };
  task = g_task_new (self, NULL, on_made, NULL);
  g_task_set_source_tag (task, trendline_plot_make);
  g_task_set_task_data (task, making, g_free);
  self->making = task;
  g_task_run_in_thread (task, make_in_thread);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

gboolean
trendline_plot_get_busy (TrendlinePlot *self)
{
  g_return_val_if_fail (TRENDLINE_IS_PLOT (self), FALSE);

  return self->making != NULL || self->drawing;
}

guint
trendline_plot_get_row (TrendlinePlot *self)
{
  g_return_val_if_fail (TRENDLINE_IS_PLOT (self), 0);

  return self->row;
}

void
trendline_plot_set_row (TrendlinePlot *self, guint row)
{
  g_return_if_fail (TRENDLINE_IS_PLOT (self));

  if (self->content == NULL || row > self->content->n)
    row = 0;
  self->pinned = row > 0;
  if (row == self->row)
    return;
  self->row = row;
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ROW]);
}

char *
trendline_plot_describe_row (TrendlinePlot *self)
{
  const TrendlinePlotContent *content;
  g_autofree char *row = NULL;
  g_autofree char *x = NULL;
  g_autofree char *y = NULL;

  g_return_val_if_fail (TRENDLINE_IS_PLOT (self), NULL);

  content = self->content;
  if (self->row == 0)
    return g_strdup ("");
  row = g_strdup_printf ("%" G_GUINT64_FORMAT, apr_plot_get_row_number (content->plot, self->row - 1));
  x = trendline_format_number (content->x[self->row - 1]);
  y = trendline_format_number (content->y[self->row - 1]);

  return g_strdup_printf (
    /* Translators: of a point of a plot: its row in the table, the names of the axes and where it is on them. */
    _ ("Row %s: %s %s, %s %s"), row, apr_plot_get_axis_label (content->plot, 0), x,
    apr_plot_get_axis_label (content->plot, 1), y);
}

/* A ring around the point, and beside it, towards the middle, what there is to say about it. */
static void
snapshot_row (TrendlinePlot *self, GtkSnapshot *snapshot, const graphene_point_t *place)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  const GdkRGBA paper = dark ? (GdkRGBA){ 0, 0, 0, 1 } : (GdkRGBA){ 1, 1, 1, 1 };
  const GdkRGBA ink = dark ? (GdkRGBA){ 1, 1, 1, 1 } : (GdkRGBA){ 0, 0, 0, 1 };
  const float widths[] = { 2, 2, 2, 2 };
  const GdkRGBA inks[] = { ink, ink, ink, ink };
  g_autofree char *text = trendline_plot_describe_row (self);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  GskRoundedRect shape;
  int width;
  int height;
  float x;
  float y;

  gsk_rounded_rect_init_from_rect (
    &shape, &GRAPHENE_RECT_INIT (place->x - RING, place->y - RING, 2 * RING, 2 * RING), RING);
  gtk_snapshot_append_border (snapshot, &shape, widths, inks);

  pango_layout_get_pixel_size (layout, &width, &height);
  x = place->x > self->size.width / 2 ? place->x - 2 * RING - (float) width : place->x + 2 * RING;
  x = CLAMP (x, RING, MAX (RING, self->size.width - (float) width - RING));
  y = place->y > self->size.height / 2 ? place->y - 2 * RING - (float) height : place->y + 2 * RING;
  gsk_rounded_rect_init_from_rect (
    &shape, &GRAPHENE_RECT_INIT (x - RING, y - RING / 2, (float) width + 2 * RING, (float) height + RING),
    RING);
  gtk_snapshot_push_rounded_clip (snapshot, &shape);
  gtk_snapshot_append_color (snapshot, &ink, &shape.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y));
  gtk_snapshot_append_layout (snapshot, layout, &paper);
  gtk_snapshot_restore (snapshot);
}

static void
trendline_plot_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  TrendlinePlot *self = TRENDLINE_PLOT (widget);
  graphene_point_t place;

  if (self->picture == NULL)
    return;
  gtk_snapshot_append_texture (snapshot, self->picture,
                               &GRAPHENE_RECT_INIT (0, 0, self->size.width, self->size.height));
  if (trendline_plot_get_place (self, self->row, &place))
    snapshot_row (self, snapshot, &place);
}

static void
trendline_plot_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 200;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 480 : 360;
}

static void
trendline_plot_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  trendline_plot_draw (TRENDLINE_PLOT (widget));
}

static void
trendline_plot_system_setting_changed (GtkWidget *widget, GtkSystemSetting setting)
{
  GTK_WIDGET_CLASS (trendline_plot_parent_class)->system_setting_changed (widget, setting);
  trendline_plot_draw (TRENDLINE_PLOT (widget));
}

static void
trendline_plot_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  TrendlinePlot *self = TRENDLINE_PLOT (object);

  switch (property_id)
    {
    case PROP_BUSY:
      g_value_set_boolean (value, trendline_plot_get_busy (self));
      break;
    case PROP_ROW:
      g_value_set_uint (value, self->row);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
trendline_plot_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  switch (property_id)
    {
    case PROP_ROW:
      trendline_plot_set_row (TRENDLINE_PLOT (object), g_value_get_uint (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
trendline_plot_dispose (GObject *object)
{
  TrendlinePlot *self = TRENDLINE_PLOT (object);

  /* What is being made or drawn still holds the widget, and is dropped. */
  self->making = NULL;
  self->stale = FALSE;
  g_clear_pointer (&self->content, content_unref);
  g_clear_object (&self->picture);

  G_OBJECT_CLASS (trendline_plot_parent_class)->dispose (object);
}

static void
trendline_plot_finalize (GObject *object)
{
  TrendlinePlot *self = TRENDLINE_PLOT (object);

  g_clear_object (&self->picture);

  G_OBJECT_CLASS (trendline_plot_parent_class)->finalize (object);
}

static void
trendline_plot_class_init (TrendlinePlotClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->get_property = trendline_plot_get_property;
  object_class->set_property = trendline_plot_set_property;
  object_class->dispose = trendline_plot_dispose;
  object_class->finalize = trendline_plot_finalize;
  widget_class->snapshot = trendline_plot_snapshot;
  widget_class->measure = trendline_plot_measure;
  widget_class->size_allocate = trendline_plot_size_allocate;
  widget_class->system_setting_changed = trendline_plot_system_setting_changed;

  properties[PROP_BUSY] =
    g_param_spec_boolean ("busy", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_ROW] = g_param_spec_uint (
    "row", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);

  gtk_widget_class_set_css_name (widget_class, "plot");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  trendline_plot_add_keys (widget_class);
}

static void
trendline_plot_init (TrendlinePlot *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  AdwStyleManager *manager = adw_style_manager_get_default ();

  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);

  trendline_plot_add_controllers (self);
  g_signal_connect_object (manager, "notify::dark", G_CALLBACK (trendline_plot_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (manager, "notify::high-contrast", G_CALLBACK (trendline_plot_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self, "notify::scale-factor", G_CALLBACK (trendline_plot_draw), NULL);
}

GtkWidget *
trendline_plot_new (void)
{
  return g_object_new (TRENDLINE_TYPE_PLOT, NULL);
}
