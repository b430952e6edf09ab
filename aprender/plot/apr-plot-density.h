/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* Draws how many points there are in each cell of @size, darker where there are more, in the colour that @cairo has. */
void apr_plot_draw_density (cairo_t *cairo,
                            const double *x,
                            const double *y,
                            gsize n,
                            const double origin[2],
                            const double begin[2],
                            const double scale[2],
                            const double end[2],
                            double size);

G_END_DECLS
