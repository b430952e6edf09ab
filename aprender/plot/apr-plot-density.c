/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-density.h"

#include <math.h>

/* A cell with a single point must still be seen. */
#define MIN_ALPHA 0.3

void
apr_plot_draw_density (cairo_t *cairo,
                       const double *x,
                       const double *y,
                       gsize n,
                       const double origin[2],
                       const double begin[2],
                       const double scale[2],
                       const double end[2],
                       double size)
{
  guint width = (guint) CLAMP ((end[0] - begin[0]) * scale[0] / size, 1, 4096);
  guint height = (guint) CLAMP (-(end[1] - begin[1]) * scale[1] / size, 1, 4096);
  double x_factor = width / (end[0] - begin[0]);
  double y_factor = height / (end[1] - begin[1]);
  g_autofree guint32 *counts = g_new0 (guint32, (gsize) width * height);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, (int) width, (int) height);
  guchar *pixels = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);
  guint32 most = 1;
  guint row;
  guint column;
  gsize i;

  for (i = 0; i < n; i++)
    {
      double at_x = (x[i] - begin[0]) * x_factor;
      double at_y = (y[i] - begin[1]) * y_factor;

      /* Also false where one is not a number. */
      if (at_x >= 0 && at_x < width && at_y >= 0 && at_y < height)
        {
          guint32 *count = &counts[(gsize) at_y * width + (gsize) at_x];

          *count += 1;
          most = MAX (most, *count);
        }
    }

  /* By the logarithm: single points beside heaps are to be seen too. */
  cairo_surface_flush (surface);
  for (row = 0; row < height; row++)
    for (column = 0; column < width; column++)
      {
        guint32 count = counts[(gsize) (height - 1 - row) * width + column];
        double alpha = count == 0 ? 0 : MIN_ALPHA + (1 - MIN_ALPHA) * log (count) / log (MAX (most, 2));

        pixels[(gsize) row * (gsize) stride + column] = (guchar) (255 * fmin (alpha, 1));
      }
  cairo_surface_mark_dirty (surface);

  cairo_save (cairo);
  cairo_translate (cairo, origin[0], origin[1] + (end[1] - begin[1]) * scale[1]);
  cairo_scale (cairo, (end[0] - begin[0]) * scale[0] / width, -(end[1] - begin[1]) * scale[1] / height);
  cairo_mask_surface (cairo, surface, 0, 0);
  cairo_restore (cairo);
  cairo_surface_destroy (surface);
}
