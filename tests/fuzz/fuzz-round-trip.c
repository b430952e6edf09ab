/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

static GBytes *
write_all (AprSafetensorsReader *reader)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const char *const *names = apr_safetensors_reader_get_names (reader);
  g_autoptr (GError) error = NULL;
  GHashTableIter iter;
  gpointer key, value;
  GBytes *bytes;

  apr_safetensors_writer_set_portable (writer, FALSE);
  for (; *names != NULL; names++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, *names, &error);

      g_assert_no_error (error);
      apr_safetensors_writer_add_tensor (writer, *names, tensor, &error);
      g_assert_no_error (error);
    }
  g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      apr_safetensors_writer_set_metadata (writer, key, value, &error);
      g_assert_no_error (error);
    }
  bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);
  return bytes;
}

static void
assert_same_tensor (AprSafetensorsReader *one, AprSafetensorsReader *other, const char *name)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (one, name, NULL);
  g_autoptr (AprTensor) copy = apr_safetensors_reader_get_tensor (other, name, NULL);
  gsize n_dims, n_copied_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  const gsize *copied_shape = apr_tensor_get_shape (copy, &n_copied_dims);

  g_assert_cmpint (apr_tensor_get_dtype (tensor), ==, apr_tensor_get_dtype (copy));
  g_assert_cmpmem (shape, n_dims * sizeof *shape, copied_shape, n_copied_dims * sizeof *shape);
  g_assert_true (g_bytes_equal (apr_tensor_get_bytes (tensor), apr_tensor_get_bytes (copy)));
}

static void
assert_same_metadata (AprSafetensorsReader *one, AprSafetensorsReader *other)
{
  GHashTable *metadata = apr_safetensors_reader_get_metadata (one);
  GHashTable *copy = apr_safetensors_reader_get_metadata (other);
  GHashTableIter iter;
  gpointer key, value;

  g_assert_cmpuint (g_hash_table_size (metadata), ==, g_hash_table_size (copy));
  g_hash_table_iter_init (&iter, metadata);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_assert_cmpstr (g_hash_table_lookup (copy, key), ==, value);
}

/* A file: what is read from it, written, and read again is the same; what is written from that is the same bytes. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (AprSafetensorsReader) copy = NULL;
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;
  const char *const *names;
  const char *const *copied_names;
  gsize i;

  if (reader == NULL)
    return 0;
  written = write_all (reader);
  copy = apr_safetensors_reader_new_from_bytes (written, &error);
  g_assert_no_error (error);

  names = apr_safetensors_reader_get_names (reader);
  copied_names = apr_safetensors_reader_get_names (copy);
  for (i = 0; names[i] != NULL; i++)
    {
      g_assert_cmpstr (names[i], ==, copied_names[i]);
      assert_same_tensor (reader, copy, names[i]);
    }
  g_assert_null (copied_names[i]);
  assert_same_metadata (reader, copy);

  again = write_all (copy);
  g_assert_true (g_bytes_equal (written, again));
  return 0;
}
