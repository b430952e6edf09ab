/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-run-private.h"

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"

gpointer
apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared)
{
  gsize n_bytes = G_MAXSIZE;
  gpointer pages = g_size_checked_mul (&n_bytes, n, size) ? apr_pages_new (n_bytes, cleared) : NULL;

  if (pages == NULL && self->missing == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " elements of %" G_GSIZE_FORMAT " bytes", n, size);
  /* Of several, the first is told. */
  if (pages == NULL)
    (void) g_atomic_pointer_compare_and_exchange (self->missing, (gsize) 0, MAX (n_bytes, 1));

  return pages;
}

gboolean
apr_run_set_error_if_cancelled (const AprRun *self, GError **error)
{
  gsize missing = self->missing != NULL ? g_atomic_pointer_get (self->missing) : 0;

  if (missing == 0)
    return g_cancellable_set_error_if_cancelled (self->cancellable, error);

  g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
               "There is no memory for a matrix of %" G_GSIZE_FORMAT " bytes", missing);
  return TRUE;
}
