/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* Texts in the font that is set. */

double apr_plot_get_text_width (cairo_t *cairo, const char *text);

/* @align: 0 for text that begins at x, 0.5 for text around it, 1 for text that ends there. */
void apr_plot_show_text (cairo_t *cairo, double x, double y, double align, const char *text);

/* Shows a text around a place, or beside it where it would not fit between two others. One that is too long is smaller,
 * and cut where that is not enough. @size is that of the font. */
void apr_plot_show_text_between (
  cairo_t *cairo, double begin, double end, double around, double y, double size, const char *text);

/* Breaks a text at its spaces into lines that fit, but for those of one word that does not. */
char **apr_plot_break_text (cairo_t *cairo, const char *text, double width) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
