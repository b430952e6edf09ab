/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Memory for large tables: all 0 where it is to be @cleared, aligned to 64 bytes, taken from the system as it is
 * touched, and in large pages where it has them. %NULL where there is none. */
gpointer apr_pages_new (gsize size, gboolean cleared);

void apr_pages_free (gpointer pages);

/* As g_malloc_n(), for what is as large as a file or a caller says: fails with %APR_ERROR_NO_MEMORY where there is no
 * memory for @what, such as “a tensor”. For no bytes it is not %NULL. Much memory is in large pages where the system
 * has them. To be freed with g_free(). */
gpointer apr_memory_new (gsize n, gsize size, const char *what, GError **error);

G_END_DECLS
