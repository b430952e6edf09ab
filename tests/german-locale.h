/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include <locale.h>

/* Makes 0,5 of 0.5 from here on, also in programs that this one starts, where there is such a locale, or localedef to
 * make one in @folder. */
static inline void
enter_german_numbers (const char *folder)
{
  g_autofree char *target = g_build_filename (folder, "de_DE.UTF-8", NULL);
  const char *const command[] = {
    "localedef", G_BYTE_ORDER == G_BIG_ENDIAN ? "--big-endian" : "--little-endian",
    "-i",        "de_DE",
    "-f",        "UTF-8",
    target,      NULL
  };
  int status = -1;

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL &&
      g_spawn_sync (NULL, (char **) command, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                    NULL, NULL, &status, NULL) &&
      g_setenv ("LOCPATH", folder, TRUE))
    setlocale (LC_NUMERIC, "de_DE.UTF-8");
}

/* Skips the test where there was none. */
static inline void
leave_german_numbers (void)
{
  gboolean is_german = g_str_equal (setlocale (LC_NUMERIC, NULL), "de_DE.UTF-8");
  g_autofree char *half = g_strdup_printf ("%.1f", 0.5);

  setlocale (LC_NUMERIC, "C");
  if (is_german)
    g_assert_cmpstr (half, ==, "0,5");
  else
    g_test_skip ("there is no locale de_DE.UTF-8, and no localedef to make it");
}
