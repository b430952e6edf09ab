/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-format.h"

#include <math.h>

/* Six digits with the decimal mark of the user's language, and a real minus sign; a dash for what there is not. */
char *
trendline_format_number (double number)
{
  g_autofree char *text = NULL;
  g_autoptr (GString) pretty = NULL;

  if (isnan (number))
    return g_strdup ("–");
  text = g_strdup_printf ("%.6g", number);
  pretty = g_string_new (text);
  g_string_replace (pretty, "-", "−", 0);

  return g_string_free (g_steal_pointer (&pretty), FALSE);
}

/* A p-value as papers print it: below 0.0001 nobody wants to know. */
char *
trendline_format_p_value (double p)
{
  if (isnan (p))
    return g_strdup ("–");
  if (p < 0.0001)
    return g_strdup_printf ("< %.4f", 0.0001);

  return g_strdup_printf ("%.4f", p);
}

/* R's stars of significance. */
const char *
trendline_format_stars (double p)
{
  if (p < 0.001)
    return "***";
  if (p < 0.01)
    return "**";
  if (p < 0.05)
    return "*";
  if (p < 0.1)
    return ".";

  return "";
}
