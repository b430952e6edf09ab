/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-text.h"

#include <math.h>

double
apr_plot_get_text_width (cairo_t *cairo, const char *text)
{
  cairo_text_extents_t extents;

  cairo_text_extents (cairo, text, &extents);

  return extents.x_advance;
}

void
apr_plot_show_text (cairo_t *cairo, double x, double y, double align, const char *text)
{
  cairo_move_to (cairo, x - align * apr_plot_get_text_width (cairo, text), y);
  cairo_show_text (cairo, text);
}

/* Makes the font as much smaller as a text needs to fit, to four fifths at most. */
static void
shrink_font (cairo_t *cairo, const char *text, double width, double size)
{
  double full = apr_plot_get_text_width (cairo, text);

  if (full > width)
    cairo_set_font_size (cairo, size * fmax (width / full * 0.99, 0.8));
}

/* The beginning of a text that fits, with dots if it is not all. */
static char *
fit_text (cairo_t *cairo, const char *text, double width)
{
  glong length = g_utf8_strlen (text, -1);

  if (apr_plot_get_text_width (cairo, text) <= width)
    return g_strdup (text);
  /* A glyph that is a twentieth of the font's size is none that can be read. */
  for (length = MIN (length, 1000); length > 1; length--)
    {
      g_autofree char *head = g_utf8_substring (text, 0, length - 1);
      g_autofree char *cut = g_strconcat (head, "…", NULL);

      if (apr_plot_get_text_width (cairo, cut) <= width)
        return g_steal_pointer (&cut);
    }

  return g_strdup ("");
}

void
apr_plot_show_text_between (
  cairo_t *cairo, double begin, double end, double around, double y, double size, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *fitting = NULL;
  double width;

  shrink_font (cairo, valid, end - begin, size);
  fitting = fit_text (cairo, valid, end - begin);
  width = apr_plot_get_text_width (cairo, fitting);
  apr_plot_show_text (cairo, fmax (fmin (around - width / 2, end - width), begin), y, 0, fitting);
  cairo_set_font_size (cairo, size);
}

char **
apr_plot_break_text (cairo_t *cairo, const char *text, double width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();
  char *line = NULL;
  guint i;

  for (i = 0; words[i] != NULL; i++)
    {
      char *longer = line != NULL ? g_strconcat (line, " ", words[i], NULL) : g_strdup (words[i]);

      if (line != NULL && apr_plot_get_text_width (cairo, longer) > width)
        {
          g_ptr_array_add (lines, g_steal_pointer (&line));
          g_free (longer);
          longer = g_strdup (words[i]);
        }
      g_free (line);
      line = longer;
    }
  if (line != NULL)
    g_ptr_array_add (lines, line);
  g_ptr_array_add (lines, NULL);

  return (char **) g_ptr_array_steal (lines, NULL);
}
