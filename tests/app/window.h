/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <math.h>

#include "app/trendline-application.h"
#include "app/trendline-window.h"

/* What programs do with a window of Trendline. */

/* Opens a file in a window of an application that has none yet. */
static inline GtkWidget *
open_window (TrendlineApplication *application, GFile *file)
{
  /* As g_application_run() does: recent files are remembered by it. */
  g_set_prgname ("trendline");
  g_application_register (G_APPLICATION (application), NULL, NULL);
  g_application_set_default (G_APPLICATION (application));
  g_application_open (G_APPLICATION (application), &file, 1, "");

  return GTK_WIDGET (gtk_application_get_windows (GTK_APPLICATION (application))->data);
}

static inline void
wait_until_idle (TrendlineFitSession *session)
{
  while (trendline_fit_session_get_state (session) != TRENDLINE_FIT_STATE_IDLE)
    g_main_context_iteration (NULL, TRUE);
}

/* Until it is known how well the model predicts new rows, or why that cannot be told. */
static inline void
wait_for_score (TrendlineFitSession *session)
{
  const TrendlineScore *score;

  while ((score = trendline_fit_session_get_score (session)) != NULL && isnan (score->error) &&
         score->problem == NULL)
    g_main_context_iteration (NULL, TRUE);
}

static inline gboolean
count_frame (GtkWidget *widget, GdkFrameClock *clock, gpointer n)
{
  --*(guint *) n;
  gtk_widget_queue_draw (widget);

  return *(guint *) n > 0;
}

/* Until what has changed is drawn. */
static inline void
wait_for_frames (GtkWidget *widget, guint n)
{
  gtk_widget_add_tick_callback (widget, count_frame, &n, NULL);
  while (n > 0)
    g_main_context_iteration (NULL, TRUE);
}

/* The first widget of a type that can be seen, or NULL. */
static inline GtkWidget *
find_mapped (GtkWidget *widget, const char *type)
{
  GtkWidget *child;

  if (!gtk_widget_get_mapped (widget))
    return NULL;
  if (g_str_equal (G_OBJECT_TYPE_NAME (widget), type))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_mapped (child, type);

      if (found != NULL)
        return found;
    }

  return NULL;
}

/* Until a plot is to be seen, and is the one that is wanted. */
static inline void
wait_for_plot (GtkWidget *window)
{
  GtkWidget *plot;
  gboolean busy;

  while ((plot = find_mapped (window, "TrendlinePlot")) == NULL)
    g_main_context_iteration (NULL, TRUE);
  for (;;)
    {
      wait_for_frames (window, 4);
      g_object_get (plot, "busy", &busy, NULL);
      if (!busy)
        return;
    }
}

/* The first widget of a type, or NULL. */
static inline GtkWidget *
find_widget (GtkWidget *widget, GType type)
{
  GtkWidget *child;

  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_widget (child, type);

      if (found != NULL)
        return found;
    }

  return NULL;
}

/* The first label of this text that can be seen. */
static inline GtkWidget *
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
static inline void
wait_for_label (GtkWidget *window, const char *text)
{
  g_test_message ("waiting for “%s”", text);
  while (find_label (window, text) == NULL)
    g_main_context_iteration (NULL, TRUE);
}
