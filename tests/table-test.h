/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

static inline AprTableReader *
reader_new (const char *text, gssize length)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, length < 0 ? strlen (text) : (gsize) length);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);

  return apr_table_reader_new (stream, "data");
}

/* Numbers in all forms, over many blocks: some quoted, with line ends in the quotes, and lines of all three kinds. */
static inline GString *
write_table (guint n_rows, GArray *expected)
{
  GString *text = g_string_new ("a,\"te\"\"xt\n\",b\r\n");
  guint i;

  for (i = 0; i < n_rows; i++)
    {
      double a = g_test_rand_double_range (-1e3, 1e3);
      double b = g_test_rand_int_range (-100000, 100000);

      g_string_append_printf (text, i % 7 == 0 ? " \"%.17g\" ," : "%.17g,", a);
      g_string_append (text, i % 11 == 0 ? "\"x,\"\"\r\n\n\"" : i % 3 == 0 ? "" : "some text");
      g_string_append_printf (text, i % 5 == 0 ? ",\"%.0f\n\"%s" : ",%.0f%s", b,
                              i % 13 == 0   ? "\r\n"
                              : i % 17 == 0 ? "\n\n"
                                            : "\n");
      g_array_append_val (expected, a);
      g_array_append_val (expected, b);
    }

  return text;
}

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
