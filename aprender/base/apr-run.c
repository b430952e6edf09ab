/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-run-private.h"

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"

static void
tell_missing (const AprRun *self, gsize n_bytes)
{
  if (self->missing == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " bytes", n_bytes);

  /* Of several, the first is told. */
  (void) g_atomic_pointer_compare_and_exchange (self->missing, (gsize) 0, MAX (n_bytes, 1));
}

gpointer
apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared)
{
  gsize n_bytes;
  gpointer pages = NULL;

  if (g_size_checked_mul (&n_bytes, n, size))
    pages = apr_pages_new (n_bytes, cleared);
  else
    n_bytes = G_MAXSIZE;
  if (pages == NULL)
    tell_missing (self, n_bytes);

  return pages;
}

double *
apr_run_new_doubles (const AprRun *self, gsize n_rows, gsize n_columns)
{
  gsize n;
  double *doubles = NULL;

  if (g_size_checked_mul (&n, n_rows, n_columns))
    doubles = g_try_new0 (double, MAX (n, 1));
  else
    n = G_MAXSIZE / sizeof *doubles;
  if (doubles == NULL)
    tell_missing (self, n * sizeof *doubles);

  return doubles;
}

gboolean
apr_run_set_error_if_cancelled (const AprRun *self, GError **error)
{
  gsize missing = self->missing != NULL ? g_atomic_pointer_get (self->missing) : 0;

  if (missing == 0)
    return g_cancellable_set_error_if_cancelled (self->cancellable, error);

  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
               "There is no memory for a matrix of %" G_GSIZE_FORMAT " bytes", missing);
  return TRUE;
}
