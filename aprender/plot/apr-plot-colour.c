/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-colour.h"

/* As red, green, blue: light, dark, and both with high contrast. Those of points and lines can be told apart also by
 * who sees fewer colours. */
static const guint32 colours[][4] = {
  [APR_PLOT_PAPER] = { 0xffffff, 0x1e1e1e, 0xffffff, 0x000000 }, /**/
  [APR_PLOT_INK] = { 0x222222, 0xe6e6e6, 0x000000, 0xffffff },   /**/
  [APR_PLOT_FAINT] = { 0xd8d8d8, 0x404040, 0x949494, 0x767676 }, /**/
  [APR_PLOT_POINT] = { 0x1c5fa8, 0x62a0ea, 0x0b3d75, 0x99c1f1 }, /**/
  [APR_PLOT_CURVE] = { 0xc01c28, 0xff7b63, 0x8f0a15, 0xff9a86 }, /**/
  [APR_PLOT_GUIDE] = { 0x6a6a6a, 0xa0a0a0, 0x333333, 0xdddddd }, /**/
};

void
apr_plot_set_colour (cairo_t *cairo, const AprPlotStyle *style, AprPlotColour colour, double alpha)
{
  guint32 rgb = colours[colour][(style->high_contrast ? 2 : 0) + (style->dark ? 1 : 0)];

  cairo_set_source_rgba (cairo, (rgb >> 16 & 0xff) / 255.0, (rgb >> 8 & 0xff) / 255.0, (rgb & 0xff) / 255.0,
                         alpha);
}
