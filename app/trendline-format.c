/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-format.h"

#include <math.h>

#include <glib/gi18n.h>
#include <gtk/gtk.h>

#include "app/trendline-fit-session.h"

/* A number as it is read from left to right, with its sign before it, also where texts are read from right to left. */
char *
trendline_format_isolate (const char *number)
{
  if (gtk_widget_get_default_direction () != GTK_TEXT_DIR_RTL)
    return g_strdup (number);

  return g_strconcat ("\u2066", number, "\u2069", NULL);
}

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

  return trendline_format_isolate (pretty->str);
}

/* A p-value as papers print it: below 0.0001 nobody wants to know. */
char *
trendline_format_p_value (double p)
{
  g_autofree char *text = NULL;

  if (isnan (p))
    return g_strdup ("–");
  if (p < 0.0001)
    text = g_strdup_printf ("< %.4f", 0.0001);
  else
    text = g_strdup_printf ("%.4f", p);

  return trendline_format_isolate (text);
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

static char *
tell_penalty (double penalty)
{
  /* The entry shows it in full, too. */
  g_autofree char *plain = g_strdup_printf ("%.10g", penalty);
  g_autofree char *number = trendline_format_isolate (plain);

  if (penalty == 0)
    return g_strdup (_ ("Best without a penalty"));
  if (penalty == TRENDLINE_GREATEST_PENALTY)
    {
      /* Translators: a number follows */
      return g_strdup_printf (_ ("Best penalty: %s, the greatest that is tried"), number);
    }

  /* Translators: a number follows */
  return g_strdup_printf (_ ("Best penalty: %s"), number);
}

/* What a search found, and how many rows it passed over. */
char *
trendline_format_found (double penalty, guint64 n_dropped)
{
  g_autofree char *found = tell_penalty (penalty);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, n_dropped);

  if (n_dropped == 0)
    return g_steal_pointer (&found);

  /* Translators: what is said of a penalty, and a number */
  return g_strdup_printf (_ ("%s; rows passed over: %s"), found, number);
}
