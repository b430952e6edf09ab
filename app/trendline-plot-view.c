/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-plot-private.h"

/* Which part of the plot is seen. */

/* Beyond this, lines would leave what cairo counts with. */
#define MAX_ZOOM 1000

/* Has a part be seen, which is moved to where there are points, and made as large as all at most. */
static void
set_view (TrendlinePlot *self, const AprPlotView *wanted)
{
  AprPlotView all;
  AprPlotView view;
  guint i;

  if (self->content == NULL)
    return;
  apr_plot_get_view (self->content->plot, &all);
  for (i = 0; i < 2; i++)
    {
      double size = all.end[i] - all.begin[i];
      double part = CLAMP (wanted->end[i] - wanted->begin[i], size / MAX_ZOOM, size);

      view.begin[i] = CLAMP (wanted->begin[i], all.begin[i], all.end[i] - part);
      view.end[i] = view.begin[i] + part;
    }
  self->view = view;
  trendline_plot_draw (self);
}

/* The number at a share of an axis. */
static double
get_number (const AprPlotView *view, guint axis, double share)
{
  return view->begin[axis] + share * (view->end[axis] - view->begin[axis]);
}

void
trendline_plot_zoom_at (TrendlinePlot *self, const AprPlotView *view, double factor, double x, double y)
{
  const double shares[2] = { (x - self->area.x) / self->area.width,
                             1 - (y - self->area.y) / self->area.height };
  AprPlotView zoomed;
  guint i;

  if (self->picture == NULL || !(factor > 0))
    return;
  factor = CLAMP (factor, 1.0 / MAX_ZOOM, MAX_ZOOM);
  for (i = 0; i < 2; i++)
    {
      double share = CLAMP (shares[i], 0, 1);
      double fixed = get_number (view, i, share);
      double size = (view->end[i] - view->begin[i]) / factor;

      zoomed.begin[i] = fixed - share * size;
      zoomed.end[i] = zoomed.begin[i] + size;
    }
  set_view (self, &zoomed);
}

void
trendline_plot_move (TrendlinePlot *self, const AprPlotView *view, double x, double y)
{
  const double shares[2] = { x, y };
  AprPlotView moved;
  guint i;

  for (i = 0; i < 2; i++)
    {
      moved.begin[i] = get_number (view, i, shares[i]);
      moved.end[i] = get_number (view, i, shares[i] + 1);
    }
  set_view (self, &moved);
}

void
trendline_plot_zoom (TrendlinePlot *self, double factor)
{
  g_return_if_fail (TRENDLINE_IS_PLOT (self));

  trendline_plot_zoom_at (self, &self->view, factor, self->area.x + self->area.width / 2,
                          self->area.y + self->area.height / 2);
}

void
trendline_plot_show_all (TrendlinePlot *self)
{
  g_return_if_fail (TRENDLINE_IS_PLOT (self));

  if (self->content == NULL)
    return;
  apr_plot_get_view (self->content->plot, &self->view);
  trendline_plot_draw (self);
}

gboolean
trendline_plot_get_place (TrendlinePlot *self, guint row, graphene_point_t *place)
{
  double shares[2];
  guint i;

  g_return_val_if_fail (TRENDLINE_IS_PLOT (self), FALSE);
  g_return_val_if_fail (place != NULL, FALSE);

  if (self->picture == NULL || self->content == NULL || row == 0 || row > self->content->n)
    return FALSE;
  for (i = 0; i < 2; i++)
    {
      double number = (i == 0 ? self->content->x : self->content->y)[row - 1];

      shares[i] = (number - self->drawn.begin[i]) / (self->drawn.end[i] - self->drawn.begin[i]);
      /* Also where it is not a number. */
      if (!(shares[i] >= 0 && shares[i] <= 1))
        return FALSE;
    }
  graphene_point_init (place, (float) (self->area.x + shares[0] * self->area.width),
                       (float) (self->area.y + (1 - shares[1]) * self->area.height));

  return TRUE;
}
