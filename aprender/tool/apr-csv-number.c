/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-csv-number.h"

#include <math.h>
#include <string.h>

#include "aprender/tool/apr-tool-text.h"

static gboolean
is_space (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static gboolean
names_no_finite_number (const char *text, gsize length)
{
  static const char *const names[] = { "nan", "inf", "infinity" };
  guint i;

  if (length > 0 && (*text == '+' || *text == '-'))
    {
      text++;
      length--;
    }
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    if (strlen (names[i]) == length && g_ascii_strncasecmp (text, names[i], length) == 0)
      return TRUE;

  return FALSE;
}

/* Reads a cell that ends with a NUL, as a decimal number whatever the locale. Neither hexadecimal numbers nor the
 * names of infinity and NaN are numbers here, though strtod() takes them. */
gboolean
apr_csv_parse_number (const char *text, gsize length, double *value, char **complaint)
{
  g_autofree char *shown = NULL;
  char *end = NULL;

  while (length > 0 && is_space (*text))
    {
      text++;
      length--;
    }
  while (length > 0 && is_space (text[length - 1]))
    length--;

  if (length == 0)
    {
      *complaint = g_strdup ("the cell is empty");
      return FALSE;
    }

  if (strspn (text, "+-.0123456789eE") >= length)
    {
      *value = g_ascii_strtod (text, &end);
      if (end == text + length && isfinite (*value))
        return TRUE;
    }

  shown = apr_tool_shorten (text, length);
  if (end == text + length)
    *complaint = g_strdup_printf ("“%s” is too large for a double", shown);
  else if (names_no_finite_number (text, length))
    *complaint = g_strdup_printf ("“%s” is not a finite number", shown);
  else
    *complaint = g_strdup_printf ("“%s” is not a number", shown);

  return FALSE;
}
