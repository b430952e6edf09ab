/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* For setters: a caller may pass a string, or an end of a list, that a getter of the same object returned. So the copy
 * is made before the old value is freed. */

static inline void
apr_string_set (char **place, const char *text)
{
  char *before = *place;

  *place = g_strdup (text);
  g_free (before);
}

static inline void
apr_strings_set (char ***place, const char *const *texts)
{
  char **before = *place;

  *place = g_strdupv ((char **) texts);
  g_strfreev (before);
}

G_END_DECLS
