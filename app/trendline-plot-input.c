/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "app/trendline-plot-private.h"

/* What the pointer and the keys do. */

/* How far the pointer may be from a point, in pixels. */
#define REACH 12

#define ZOOM_STEP 1.25
#define PAGE 10

/* The row of the point that a place of the widget is near to, or 0. */
static guint
find_row (TrendlinePlot *self, double x, double y)
{
  double x_unit;
  double y_unit;
  gsize found;

  if (self->picture == NULL || self->content == NULL)
    return 0;
  x_unit = (self->drawn.end[0] - self->drawn.begin[0]) / self->area.width;
  y_unit = (self->drawn.end[1] - self->drawn.begin[1]) / self->area.height;
  if (!trendline_points_find (self->content->points, self->drawn.begin[0] + (x - self->area.x) * x_unit,
                              self->drawn.end[1] - (y - self->area.y) * y_unit, REACH * x_unit,
                              REACH * y_unit, &found))
    return 0;

  return (guint) found + 1;
}

static void
on_motion (GtkEventControllerMotion *controller, double x, double y, gpointer user_data)
{
  TrendlinePlot *self = user_data;
  const graphene_point_t pointer = GRAPHENE_POINT_INIT ((float) x, (float) y);
  const gboolean rests = graphene_point_equal (&pointer, &self->pointer);
  guint row = find_row (self, x, y);

  self->pointer = pointer;
  /* The toolkit tells of a pointer also where the window has changed beneath it. What keys chose stays then. */
  if (row == self->row || (self->pinned && (row == 0 || rests)))
    return;
  trendline_plot_set_row (self, row);
  self->pinned = FALSE;
}

static void
on_leave (GtkEventControllerMotion *controller, gpointer user_data)
{
  TrendlinePlot *self = user_data;

  if (!self->pinned)
    trendline_plot_set_row (self, 0);
}

static gboolean
on_scroll (GtkEventControllerScroll *controller, double dx, double dy, gpointer user_data)
{
  TrendlinePlot *self = user_data;

  trendline_plot_zoom_at (self, &self->view, pow (ZOOM_STEP, -dy), self->pointer.x, self->pointer.y);

  return GDK_EVENT_STOP;
}

static void
on_pressed (GtkGestureClick *gesture, int n_press, double x, double y, gpointer user_data)
{
  TrendlinePlot *self = user_data;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (n_press == 2)
    trendline_plot_show_all (self);
  else if (n_press == 1)
    trendline_plot_set_row (self, find_row (self, x, y));
}

static void
on_gesture_begun (TrendlinePlot *self)
{
  self->before = self->view;
}

static void
on_dragged (GtkGestureDrag *gesture, double x, double y, gpointer user_data)
{
  TrendlinePlot *self = user_data;

  if (self->picture != NULL)
    trendline_plot_move (self, &self->before, -x / self->area.width, y / self->area.height);
}

static void
on_pinched (GtkGestureZoom *gesture, double scale, gpointer user_data)
{
  TrendlinePlot *self = user_data;
  double x;
  double y;

  if (gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    trendline_plot_zoom_at (self, &self->before, scale, x, y);
}

static gboolean
step (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  TrendlinePlot *self = TRENDLINE_PLOT (widget);
  gsize from = self->row > 0 ? self->row - 1 : 0;
  graphene_point_t place;
  gsize found;

  if (self->content == NULL || !trendline_points_step (self->content->points, self->row > 0 ? &from : NULL,
                                                       g_variant_get_int32 (arguments), &found))
    return GDK_EVENT_PROPAGATE;
  trendline_plot_set_row (self, (guint) found + 1);
  if (!trendline_plot_get_place (self, self->row, &place))
    {
      AprPlotView view = self->view;
      double x = (self->content->x[found] - view.begin[0]) / (view.end[0] - view.begin[0]);
      double y = (self->content->y[found] - view.begin[1]) / (view.end[1] - view.begin[1]);

      /* To the middle. */
      trendline_plot_move (self, &view, x - 0.5, y - 0.5);
    }

  return GDK_EVENT_STOP;
}

static gboolean
zoom (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  trendline_plot_zoom (TRENDLINE_PLOT (widget), g_variant_get_double (arguments));

  return GDK_EVENT_STOP;
}

static gboolean
pan (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  TrendlinePlot *self = TRENDLINE_PLOT (widget);
  AprPlotView view = self->view;
  double x;
  double y;

  g_variant_get (arguments, "(dd)", &x, &y);
  trendline_plot_move (self, &view, x, y);

  return GDK_EVENT_STOP;
}

static gboolean
show_all (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  trendline_plot_show_all (TRENDLINE_PLOT (widget));

  return GDK_EVENT_STOP;
}

static gboolean
leave_row (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  TrendlinePlot *self = TRENDLINE_PLOT (widget);

  if (self->row == 0)
    return GDK_EVENT_PROPAGATE;
  trendline_plot_set_row (self, 0);

  return GDK_EVENT_STOP;
}

void
trendline_plot_add_keys (GtkWidgetClass *class)
{
  static const struct
  {
    guint key;
    int step;
  } steps[] = {
    { GDK_KEY_Left, -1 },        { GDK_KEY_Right, 1 },        { GDK_KEY_Page_Up, -PAGE },
    { GDK_KEY_Page_Down, PAGE }, { GDK_KEY_Home, -G_MAXINT }, { GDK_KEY_End, G_MAXINT },
  };
  static const struct
  {
    guint key;
    double x;
    double y;
  } pans[] = {
    { GDK_KEY_Left, -0.1, 0 },
    { GDK_KEY_Right, 0.1, 0 },
    { GDK_KEY_Up, 0, 0.1 },
    { GDK_KEY_Down, 0, -0.1 },
  };
  static const guint in[] = { GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add };
  static const guint out[] = { GDK_KEY_minus, GDK_KEY_KP_Subtract };
  static const guint all[] = { GDK_KEY_0, GDK_KEY_KP_0 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (steps); i++)
    gtk_widget_class_add_binding (class, steps[i].key, 0, step, "i", steps[i].step);
  for (i = 0; i < G_N_ELEMENTS (pans); i++)
    gtk_widget_class_add_binding (class, pans[i].key, GDK_CONTROL_MASK, pan, "(dd)", pans[i].x, pans[i].y);
  for (i = 0; i < G_N_ELEMENTS (in); i++)
    gtk_widget_class_add_binding (class, in[i], 0, zoom, "d", ZOOM_STEP);
  for (i = 0; i < G_N_ELEMENTS (out); i++)
    gtk_widget_class_add_binding (class, out[i], 0, zoom, "d", 1 / ZOOM_STEP);
  for (i = 0; i < G_N_ELEMENTS (all); i++)
    gtk_widget_class_add_binding (class, all[i], 0, show_all, NULL);
  gtk_widget_class_add_binding (class, GDK_KEY_Escape, 0, leave_row, NULL);
}

void
trendline_plot_add_controllers (TrendlinePlot *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkGesture *pinch = gtk_gesture_zoom_new ();

  g_signal_connect (motion, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect_swapped (drag, "drag-begin", G_CALLBACK (on_gesture_begun), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_dragged), self);
  g_signal_connect_swapped (pinch, "begin", G_CALLBACK (on_gesture_begun), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinched), self);
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, scroll);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pinch));
}
