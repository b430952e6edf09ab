/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

/* All rows of X as one matrix. */
static inline GArray *
read_all (AprTableReader *reader, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) local_error = NULL;
  AprTensor *x;

  while (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &local_error))
    {
      gsize n;
      const double *doubles = apr_tensor_get_doubles (x, &n, NULL);

      g_array_append_vals (values, doubles, (guint) n);
      apr_tensor_unref (x);
    }
  if (local_error == NULL)
    return g_steal_pointer (&values);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
