/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-file.h"

#include <errno.h>
#include <math.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>

typedef struct
{
  FILE *stream;
  int code; /* why it could not be written to */
} Output;

static cairo_status_t
write_bytes (void *closure, const unsigned char *bytes, unsigned int length)
{
  Output *output = closure;

  if (fwrite (bytes, 1, length, output->stream) == length)
    return CAIRO_STATUS_SUCCESS;
  output->code = errno;
  return CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *
create_surface (AprPlotFormat format, double width, double height, Output *output)
{
  switch (format)
    {
    case APR_PLOT_SVG:
      return cairo_svg_surface_create_for_stream (write_bytes, output, width, height);
    case APR_PLOT_PDF:
      return cairo_pdf_surface_create_for_stream (write_bytes, output, width, height);
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
  Output output = { stream, 0 };
  cairo_surface_t *surface = create_surface (format, width, height, &output);
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
    status = cairo_surface_write_to_png_stream (surface, write_bytes, &output);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);

  if (output.code != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (output.code), "the plot cannot be written: %s",
                   g_strerror (output.code));
      return FALSE;
    }
  if (status == CAIRO_STATUS_SUCCESS)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "the plot cannot be drawn: %s",
               cairo_status_to_string (status));
  return FALSE;
}
