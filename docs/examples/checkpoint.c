/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>
#include <locale.h>

static gboolean
write_checkpoint (GError **error)
{
  const float values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, scales[] = { 0.5F, 1, 1.5F };
  const gsize shape[] = { 4, 3 }, n_scales = 3;
  g_autoptr (AprTensor) floats = apr_tensor_new_from_floats (values, 12, shape, 2, NULL);
  g_autoptr (AprTensor) embeddings = apr_tensor_cast (floats, APR_DTYPE_BF16, NULL);
  g_autoptr (AprTensor) norm = apr_tensor_new_from_floats (scales, 3, &n_scales, 1, NULL);
  g_autoptr (GFile) folder = g_file_new_for_path (".");
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  /* One file, then the same tensors in files of at most 24 bytes of data each, and an index. */
  return apr_safetensors_writer_add_tensor (writer, "embed.weight", embeddings, error) &&
         apr_safetensors_writer_add_tensor (writer, "norm.weight", norm, error) &&
         apr_safetensors_writer_set_metadata (writer, "format", "pt", error) &&
         apr_safetensors_writer_write_to_path (writer, "tiny.safetensors", error) &&
         apr_safetensors_writer_write_shards (writer, folder, "tiny", 24, NULL, error);
}

static AprSafetensorsReader *
open_checkpoint (const char *path, GError **error)
{
  AprSafetensorsReader *reader = apr_safetensors_reader_new_from_path (path, error);
  const char *const *names;

  if (reader == NULL)
    return NULL;

  g_print ("%s: format %s\n", path,
           (char *) g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), "format"));
  names = apr_safetensors_reader_get_names (reader);
  for (gsize i = 0; names[i] != NULL; i++)
    {
      gsize n_dims;
      const gsize *shape = apr_safetensors_reader_get_shape (reader, names[i], &n_dims, NULL);

      g_print ("  %s %s", names[i],
               apr_dtype_to_string (apr_safetensors_reader_get_dtype (reader, names[i], NULL)));
      for (gsize dim = 0; dim < n_dims; dim++)
        g_print (" %zu", shape[dim]);
      g_print ("\n");
    }
  return reader;
}

static gboolean
print_tensors (AprSafetensorsReader *reader, GError **error)
{
  g_autoptr (AprTensor) norm = apr_safetensors_reader_get_tensor (reader, "norm.weight", error);
  g_autoptr (AprTensor) rows = NULL;
  g_autoptr (AprTensor) floats = NULL;
  g_autoptr (AprTensor) bias = NULL;
  g_autoptr (GError) missing = NULL;
  g_autofree char *norm_text = NULL;
  g_autofree char *rows_text = NULL;

  if (norm == NULL ||
      (rows = apr_safetensors_reader_get_slice (reader, "embed.weight", "1:3, ::-1", error)) == NULL ||
      (floats = apr_tensor_cast (rows, APR_DTYPE_F32, error)) == NULL)
    return FALSE;

  norm_text = apr_tensor_to_string (norm);
  rows_text = apr_tensor_to_string (floats);
  bias = apr_safetensors_reader_get_tensor (reader, "bias", &missing);
  g_print ("%s\n%s\n%s\n", norm_text, rows_text, missing->message);
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) file = NULL;
  g_autoptr (AprSafetensorsReader) shards = NULL;

  setlocale (LC_ALL, "");
  if (write_checkpoint (&error) && (file = open_checkpoint ("tiny.safetensors", &error)) != NULL &&
      (shards = open_checkpoint ("tiny.safetensors.index.json", &error)) != NULL &&
      print_tensors (shards, &error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
