/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/plot/apr-plot-ticks.h"

#include <math.h>

#include "aprender/plot/apr-plot-text.h"

/* Plain numbers have no more digits than this. */
#define MAX_DIGITS 6

AprPlotTicks
apr_plot_ticks_choose (double begin, double end, guint max_n)
{
  static const double mantissas[] = { 1, 2, 5, 10 };
  AprPlotTicks self = { .step = 1, .first = begin, .n = 1 };
  double power;
  double largest = fmax (fabs (begin), fabs (end));
  int exponent;
  guint i;

  /* Where the numbers themselves can no longer tell one from the next, there is but one. */
  if (!(end - begin > largest * 1e-12) || max_n < 2)
    return self;
  power = pow (10, floor (log10 ((end - begin) / max_n)));
  for (i = 0; i < G_N_ELEMENTS (mantissas); i++)
    {
      self.step = mantissas[i] * power;
      self.first = ceil (begin / self.step - 1e-9);
      self.n = (guint) fmax (0, floor (end / self.step + 1e-9) - self.first + 1);
      if (self.n <= max_n)
        break;
    }
  /* One number alone shows no scale. */
  for (; self.n < 2 && i > 0; i--)
    {
      self.step = mantissas[i - 1] * power;
      self.first = ceil (begin / self.step - 1e-9);
      self.n = (guint) fmax (0, floor (end / self.step + 1e-9) - self.first + 1);
    }
  exponent = (int) floor (log10 (self.step) + 1e-9);
  self.n_decimals = MAX (0, -exponent);
  self.scientific = largest >= pow (10, MAX_DIGITS) || self.n_decimals > MAX_DIGITS - 1;
  if (self.scientific)
    self.n_decimals = CLAMP ((int) floor (log10 (largest) + 1e-9) - exponent, 0, 15);
  self.first *= self.step;

  return self;
}

double
apr_plot_ticks_get (const AprPlotTicks *self, guint i)
{
  double value = self->first + i * self->step;

  /* Not 1e-17. */
  return fabs (value) < self->step * 1e-9 ? 0 : value;
}

char *
apr_plot_ticks_format (const AprPlotTicks *self, guint i)
{
  const double value = apr_plot_ticks_get (self, i);
  g_autofree char *text = NULL;

  if (self->scientific && value == 0)
    return g_strdup ("0");
  if (self->scientific)
    text = g_strdup_printf ("%.*e", self->n_decimals, value);
  else
    text = g_strdup_printf ("%.*f", self->n_decimals, value);
  /* A minus, not a hyphen. */
  if (text[0] == '-')
    return g_strconcat ("−", text + 1, NULL);

  return g_steal_pointer (&text);
}

double
apr_plot_ticks_measure (const AprPlotTicks *self, cairo_t *cairo)
{
  double width = 0;
  guint i;

  for (i = 0; i < self->n; i++)
    {
      g_autofree char *text = apr_plot_ticks_format (self, i);

      width = fmax (width, apr_plot_get_text_width (cairo, text));
    }

  return width;
}

AprPlotTicks
apr_plot_ticks_choose_beside (double begin, double end, cairo_t *cairo, double width, double font_size)
{
  guint max_n = (guint) CLAMP (width / (3.5 * font_size), 2, 10);
  AprPlotTicks self = apr_plot_ticks_choose (begin, end, max_n);

  /* Long numbers need more room each. */
  while (max_n > 2 && apr_plot_ticks_measure (&self, cairo) + font_size > self.step / (end - begin) * width)
    self = apr_plot_ticks_choose (begin, end, --max_n);

  return self;
}
