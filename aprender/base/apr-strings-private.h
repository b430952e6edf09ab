/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-error.h"

G_BEGIN_DECLS

/* Makes room for @n_more bytes, so that g_string_append() does not end the program where there is no memory for them.
 * Fails with %APR_ERROR_NO_MEMORY, and then the text is as it was. */
static inline gboolean
apr_string_reserve (GString *self, gsize n_more, GError **error)
{
  gsize size = self->allocated_len;
  char *larger = NULL;

  if (n_more < size - self->len)
    return TRUE;

  /* As GString grows. */
  while (size - self->len <= n_more && size <= G_MAXSIZE / 2)
    size *= 2;
  if (size - self->len > n_more)
    larger = g_try_realloc (self->str, size);
  if (larger == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "There is no memory for %" G_GSIZE_FORMAT " bytes of text after %" G_GSIZE_FORMAT, n_more,
                   self->len);
      return FALSE;
    }
  self->str = larger;
  self->allocated_len = size;

  return TRUE;
}

/* The name of column @i, or @prefix and its number, counted from 0, where columns have no names. */
static inline char *
apr_string_new_name (const char *const *names, const char *prefix, gsize i)
{
  return names != NULL ? g_strdup (names[i]) : g_strdup_printf ("%s%" G_GSIZE_FORMAT, prefix, i);
}

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
