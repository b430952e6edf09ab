/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-file.h"

#include <math.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>

static cairo_status_t
write_bytes (void *closure, const unsigned char *bytes, unsigned int length)
{
  return fwrite (bytes, 1, length, closure) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *
create_surface (AprPlotFormat format, double width, double height, FILE *stream)
{
  switch (format)
    {
    case APR_PLOT_SVG:
      return cairo_svg_surface_create_for_stream (write_bytes, stream, width, height);
    case APR_PLOT_PDF:
      return cairo_pdf_surface_create_for_stream (write_bytes, stream, width, height);
    case APR_PLOT_PNG:
    default:
      return cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) ceil (width), (int) ceil (height));
    }
}

gboolean
apr_plot_write (AprPlot *const *plots,
                guint n_plots,
                AprPlotFormat format,
                double width,
                double height,
                const AprPlotStyle *style,
                FILE *stream,
                GError **error)
{
  cairo_surface_t *surface = create_surface (format, width, height, stream);
  cairo_t *cairo = cairo_create (surface);
  guint n_columns = n_plots > 1 ? 2 : 1;
  guint n_rows = (n_plots + n_columns - 1) / n_columns;
  cairo_status_t status;
  guint i;

  for (i = 0; i < n_plots; i++)
    {
      guint row = i / n_columns;
      guint column = i % n_columns;
      const AprPlotArea paper = {
        .x = width / n_columns * column,
        .y = height / n_rows * row,
        .width = width / n_columns,
        .height = height / n_rows,
      };

      apr_plot_draw (plots[i], cairo, &paper, style, NULL);
    }
  cairo_show_page (cairo);
  status = cairo_status (cairo);
  cairo_destroy (cairo);
  if (status == CAIRO_STATUS_SUCCESS && format == APR_PLOT_PNG)
    status = cairo_surface_write_to_png_stream (surface, write_bytes, stream);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);

  /* What is wrong with the stream is said when it is closed. */
  if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_WRITE_ERROR)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "the plot cannot be drawn: %s",
               cairo_status_to_string (status));
  return FALSE;
}
