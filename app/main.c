/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>

#include <glib/gi18n.h>

#include "app/trendline-application.h"

int
main (int argc, char **argv)
{
  g_autoptr (TrendlineApplication) application = NULL;

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  /* Recent files are found by it. */
  g_set_application_name (_ ("Trendline"));
  application = trendline_application_new (G_APPLICATION_DEFAULT_FLAGS);

  return g_application_run (G_APPLICATION (application), argc, argv);
}
