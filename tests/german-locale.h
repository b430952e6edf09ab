/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include <locale.h>

/* Makes 0,5 of 0.5 from here on, also in programs that this one starts; false where there is no such locale, and no
 * localedef to make one in @folder. */
static inline gboolean
set_german_numbers (const char *folder)
{
  g_autofree char *target = g_build_filename (folder, "de_DE.UTF-8", NULL);
  const char *const command[] = {
    "localedef", G_BYTE_ORDER == G_BIG_ENDIAN ? "--big-endian" : "--little-endian",
    "-i",        "de_DE",
    "-f",        "UTF-8",
    target,      NULL
  };
  int status = -1;

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") != NULL)
    return TRUE;

  return g_spawn_sync (NULL, (char **) command, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                       NULL, NULL, NULL, &status, NULL) &&
         g_setenv ("LOCPATH", folder, TRUE) && setlocale (LC_NUMERIC, "de_DE.UTF-8") != NULL;
}
