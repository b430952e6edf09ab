/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

static gsize
touch_tensor (AprSafetensorsReader *reader, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, &error);
  const gsize *shape, *header_shape;
  const double *doubles;
  gsize n_dims, header_n_dims, n_doubles, size, i;
  gconstpointer bytes;
  guint64 n_bits;

  g_assert_no_error (error);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, name));
  shape = apr_tensor_get_shape (tensor, &n_dims);
  header_shape = apr_safetensors_reader_get_shape (reader, name, &header_n_dims, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (shape, n_dims * sizeof *shape, header_shape, header_n_dims * sizeof *shape);
  g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, name, &error), ==,
                   apr_tensor_get_dtype (tensor));

  bytes = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  touch_bytes (bytes, size);
  n_bits = apr_dtype_get_bits (apr_tensor_get_dtype (tensor));
  for (i = 0; i < n_dims; i++)
    n_bits *= shape[i];
  g_assert_cmpuint (n_bits, ==, 8 * (guint64) size);

  doubles = apr_tensor_get_doubles (tensor, &n_doubles, NULL);
  if (doubles != NULL)
    touch_bytes (doubles, n_doubles * sizeof *doubles);
  return size;
}

/* A file: if it opens, every byte of every tensor is there, and each belongs to one tensor. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
  gsize header_length = 0;
  gsize total = 0;
  const char *const *names;
  GHashTableIter iter;
  gpointer key, value;
  gsize i;

  assert_verdict (reader, error);
  if (reader == NULL)
    return 0;
  for (i = 0; i < 8; i++)
    header_length |= (gsize) data[i] << (8 * i);
  names = apr_safetensors_reader_get_names (reader);
  for (i = 0; names[i] != NULL; i++)
    {
      g_assert_true (i == 0 || strcmp (names[i - 1], names[i]) < 0);
      total += touch_tensor (reader, names[i]);
    }
  g_assert_cmpuint (8 + header_length + total, ==, size);
  g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_assert_true (g_utf8_validate (key, -1, NULL) && g_utf8_validate (value, -1, NULL));
  return 0;
}
