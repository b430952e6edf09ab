/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-digits.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 15

/* From here up, R writes a p-value in fixed notation beside others: 0.000944. */
#define MIN_FIXED_P_VALUE 1e-4

/* The digits that a number needs, of @digits at most, and its power of ten. */
static void
measure (double value, int digits, int *n_digits, int *power)
{
  char text[32];
  char format[8];
  int last;

  g_snprintf (format, sizeof format, "%%.%de", digits - 1);
  g_ascii_formatd (text, sizeof text, format, fabs (value));
  *power = atoi (strchr (text, 'e') + 1);
  /* The digits are at 0 and from 2. */
  for (last = digits; last > 1 && text[last] == '0'; last--)
    ;
  *n_digits = value == 0 ? 1 : last;
}

static char *
format_number (double value, const char *kind, int n_decimals)
{
  char format[16];
  char text[400];

  if (!isfinite (value))
    return g_strdup (isnan (value) ? "NaN" : value > 0 ? "Inf" : "-Inf");
  g_snprintf (format, sizeof format, "%%.%d%s", n_decimals, kind);

  return g_strdup (g_ascii_formatd (text, sizeof text, format, value));
}

char **
apr_tool_format_column (const double *values, gsize n_values, int digits)
{
  char **texts = g_new0 (char *, n_values + 1);
  int max_left = 1;
  int max_right = 0;
  int max_digits = 1;
  gboolean negative = FALSE;
  gboolean long_power = FALSE;
  gboolean fixed;
  gsize i;

  digits = CLAMP (digits, 1, MAX_DIGITS);
  for (i = 0; i < n_values; i++)
    {
      int n_digits;
      int power;

      if (!isfinite (values[i]))
        continue;
      measure (values[i], digits, &n_digits, &power);
      negative = negative || values[i] < 0;
      long_power = long_power || abs (power) >= 100;
      max_left = MAX (max_left, MAX (power + 1, 1) + (values[i] < 0));
      max_right = MAX (max_right, n_digits - power - 1);
      max_digits = MAX (max_digits, n_digits);
    }
  fixed = max_left + max_right + (max_right > 0) <= negative + (max_digits > 1) + max_digits + 4 + long_power;

  for (i = 0; i < n_values; i++)
    texts[i] =
      fixed ? format_number (values[i], "f", max_right) : format_number (values[i], "e", max_digits - 1);

  return texts;
}

/* Formats the p-values of one kind, and puts them where they stand. */
static void
format_some (const double *values, gsize n_values, int digits, gboolean fixed, char **texts)
{
  g_autofree double *some = g_new (double, MAX (n_values, 1));
  g_auto (GStrv) formatted = NULL;
  gsize n_some = 0;
  gsize i;

  for (i = 0; i < n_values; i++)
    if (values[i] >= DBL_EPSILON && (values[i] >= MIN_FIXED_P_VALUE) == fixed)
      some[n_some++] = values[i];
  formatted = apr_tool_format_column (some, n_some, digits);
  n_some = 0;
  for (i = 0; i < n_values; i++)
    if (values[i] >= DBL_EPSILON && (values[i] >= MIN_FIXED_P_VALUE) == fixed)
      texts[i] = g_strdup (formatted[n_some++]);
}

char **
apr_tool_format_p_values (const double *values, gsize n_values, int digits)
{
  const double resolution = DBL_EPSILON;
  char **texts = g_new0 (char *, n_values + 1);
  int own_digits = MAX (1, digits - 2);
  g_auto (GStrv) limit = apr_tool_format_column (&resolution, 1, own_digits);
  gsize width = 0;
  gsize i;

  format_some (values, n_values, digits, TRUE, texts);
  format_some (values, n_values, digits, FALSE, texts);
  for (i = 0; i < n_values; i++)
    width = MAX (width, texts[i] != NULL ? strlen (texts[i]) : 0);
  for (i = 0; i < n_values; i++)
    if (isnan (values[i]))
      texts[i] = g_strdup ("NA");
    else if (texts[i] == NULL)
      texts[i] = g_strconcat (own_digits == 1 && width <= 6 ? "<" : "< ", limit[0], NULL);

  return texts;
}
