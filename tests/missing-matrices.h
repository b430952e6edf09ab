/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

#include "aprender/base/apr-run-private.h"

/* Matrices that there is no memory for, in programs that are linked with
 * --wrap=apr_run_new_pages,--wrap=apr_run_new_doubles. */

/* How many matrices there is still memory for, and whether there is memory again after the one that failed. */
static gint n_matrices = G_MAXINT;
static gboolean fails_once;

gpointer __real_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared);

double *__real_apr_run_new_doubles (const AprRun *self, gsize n_rows, gsize n_columns);

gpointer __wrap_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared);

double *__wrap_apr_run_new_doubles (const AprRun *self, gsize n_rows, gsize n_columns);

static gboolean
is_missing (void)
{
  gint left = g_atomic_int_add (&n_matrices, -1);

  return left == 0 || (left < 0 && !fails_once);
}

gpointer
__wrap_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared)
{
  return __real_apr_run_new_pages (self, is_missing () ? G_MAXSIZE : n, MAX (size, 2), cleared);
}

double *
__wrap_apr_run_new_doubles (const AprRun *self, gsize n_rows, gsize n_columns)
{
  return __real_apr_run_new_doubles (self, is_missing () ? G_MAXSIZE : n_rows, MAX (n_columns, 2));
}
