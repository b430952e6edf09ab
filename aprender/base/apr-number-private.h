/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include <math.h>

G_BEGIN_DECLS

/* Enough for the longest, such as -1.2345678901234567e-308, and a NUL. */
#define APR_NUMBER_SIZE 32

/* Writes a number with the fewest digits that bring it back when they are read, as "%g" lays them out, but with a point
 * in every locale. @narrow says that it is a float, and is to be read as one. Returns: @buffer */
static inline const char *
apr_number_format (double value, gboolean narrow, char buffer[APR_NUMBER_SIZE])
{
  /* Up to as many digits as every decimal survives, "%g" leaves out those that say nothing; near zero, fewer do. */
  int n_digits = fabs (value) < (narrow ? 0x1p-126 : 0x1p-1022) ? 1 : narrow ? 6 : 15;
  int max_digits = narrow ? 9 : 17;

  for (;; n_digits++)
    {
      char format[8];
      double again;

      g_snprintf (format, sizeof format, "%%.%dg", n_digits);
      g_ascii_formatd (buffer, APR_NUMBER_SIZE, format, value);
      again = g_ascii_strtod (buffer, NULL);
      if (n_digits >= max_digits || (narrow ? (float) again == (float) value : again == value))
        return buffer;
    }
}

G_END_DECLS
