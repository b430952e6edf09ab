/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-writer-private.h"
#include "aprender/tensor/apr-tensor-private.h"

#include <string.h>

/* The methods of AprSafetensorsWriter that say what to write: tensors, their sources, and metadata. */

static gboolean
check_utf8 (const char *what, const char *string, GError **error)
{
  g_autofree char *valid = NULL;
  g_autofree char *display = NULL;

  if (g_utf8_validate (string, -1, NULL))
    return TRUE;
  valid = g_utf8_make_valid (string, -1);
  display = apr_json_display (valid, strlen (valid));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING, "%s “%s” is not UTF-8", what,
               display);
  return FALSE;
}

gboolean
apr_safetensors_check_name (const char *name, GError **error)
{
  if (!check_utf8 ("the tensor's name", name, error))
    return FALSE;
  if (g_str_equal (name, APR_SAFETENSORS_METADATA_NAME))
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
                   "no tensor can be called “%s”: the format keeps this name for the metadata", name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_name (AprSafetensorsWriter *self, const char *name, GError **error)
{
  if (!apr_safetensors_check_name (name, error))
    return FALSE;
  if (g_hash_table_contains (self->items, name))
    {
      g_autofree char *display = apr_json_display (name, strlen (name));

      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE,
                   "there is a tensor called “%s” already", display);
      return FALSE;
    }
  return TRUE;
}

/**
 * apr_safetensors_writer_add_tensor:
 * @self: a writer
 * @name: the tensor's name: any UTF-8 except `__metadata__`
 * @tensor: the tensor; the writer takes a reference
 * @error: return location for an error
 *
 * Adds a tensor.
 *
 * Fails with %APR_SAFETENSORS_ERROR_DUPLICATE if the writer already has a tensor of this name, with
 * %APR_SAFETENSORS_ERROR_NAME if the name is reserved, and with %APR_SAFETENSORS_ERROR_ENCODING if it is not UTF-8. A
 * failure leaves the writer unchanged.
 *
 * Returns: whether the tensor was added
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_add_tensor (AprSafetensorsWriter *self,
                                   const char *name,
                                   AprTensor *tensor,
                                   GError **error)
{
  AprSafetensorsItem *item;
  const gsize *shape;
  gsize n_dims;
  GBytes *bytes;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (tensor != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_name (self, name, error))
    return FALSE;
  shape = apr_tensor_get_shape (tensor, &n_dims);
  bytes = apr_tensor_get_bytes (tensor);
  item =
    apr_safetensors_item_new (name, apr_tensor_get_dtype (tensor), shape, n_dims, g_bytes_get_size (bytes));
  item->bytes = g_bytes_ref (bytes);
  g_hash_table_insert (self->items, item->name, item);
  return TRUE;
}

/**
 * apr_safetensors_writer_declare_tensor:
 * @self: a writer
 * @name: the tensor's name: any UTF-8 except `__metadata__`
 * @dtype: the dtype of its elements
 * @shape: (array length=n_dims) (nullable): the size along each dimension
 * @n_dims: the number of dimensions; 0 for a scalar
 * @error: return location for an error
 *
 * Adds a tensor whose data are supplied later, while it is written.
 *
 * The data come from the source that [method@Apr.SafetensorsWriter.set_source_stream] or
 * [method@Apr.SafetensorsWriter.set_source_bytes] sets, or else from the function that
 * [method@Apr.SafetensorsWriter.set_data_func] sets. They are little-endian and in row-major order.
 *
 * Fails like [method@Apr.SafetensorsWriter.add_tensor] if there is something wrong with the name, with %APR_ERROR_DTYPE
 * for %APR_DTYPE_NONE, with %APR_ERROR_RANGE if the size overflows, and with %APR_ERROR_SHAPE if sub-byte elements do
 * not fill whole bytes. A failure leaves the writer unchanged.
 *
 * Returns: whether the tensor was declared
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_declare_tensor (AprSafetensorsWriter *self,
                                       const char *name,
                                       AprDType dtype,
                                       const gsize *shape,
                                       gsize n_dims,
                                       GError **error)
{
  AprSafetensorsItem *item;
  gsize n_elements, n_bytes;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (shape != NULL || n_dims == 0, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_name (self, name, error))
    return FALSE;
  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &n_bytes, error))
    {
      apr_safetensors_error_prefix_tensor (error, name);
      return FALSE;
    }
  item = apr_safetensors_item_new (name, dtype, shape, n_dims, n_bytes);
  g_hash_table_insert (self->items, item->name, item);
  return TRUE;
}

/* A copy that the caller may change: an asynchronous write may be using the item itself. */
static AprSafetensorsItem *
copy_item (AprSafetensorsWriter *self, const char *name, GError **error)
{
  const AprSafetensorsItem *item = g_hash_table_lookup (self->items, name);
  g_autofree char *display = NULL;

  if (item != NULL)
    return apr_safetensors_item_copy (item);
  display = apr_json_display (name, strlen (name));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND,
               "there is no tensor called “%s”: declare it before its source", display);
  return NULL;
}

/**
 * apr_safetensors_writer_set_source_bytes:
 * @self: a writer
 * @name: the name of a tensor that was declared or added
 * @bytes: its data; the writer takes a reference
 * @error: return location for an error
 *
 * Sets a tensor's data, replacing any other source of the tensor.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no tensor of this name, and with
 * %APR_SAFETENSORS_ERROR_SIZE_MISMATCH if @bytes does not have the size that the dtype and shape need. A failure leaves
 * the writer unchanged.
 *
 * Returns: whether they were set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_source_bytes (AprSafetensorsWriter *self,
                                         const char *name,
                                         GBytes *bytes,
                                         GError **error)
{
  g_autoptr (AprSafetensorsItem) item = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  item = copy_item (self, name, error);
  if (item == NULL)
    return FALSE;
  if (g_bytes_get_size (bytes) != item->size)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                   "%" G_GSIZE_FORMAT " bytes are given, but its dtype and shape need %" G_GSIZE_FORMAT,
                   g_bytes_get_size (bytes), item->size);
      apr_safetensors_error_prefix_tensor (error, name);
      return FALSE;
    }
  item->bytes = g_bytes_ref (bytes);
  g_hash_table_replace (self->items, item->name, item);
  item = NULL;
  return TRUE;
}

/**
 * apr_safetensors_writer_set_source_stream:
 * @self: a writer
 * @name: the name of a tensor that was declared or added
 * @stream: the stream to read its data from; nothing else may read it
 * @error: return location for an error
 *
 * Sets a stream that supplies a tensor's data, replacing any other source of the tensor.
 *
 * The stream is read while the tensor is written, from its current position, and must then end exactly where the tensor
 * does. A seekable stream serves any number of writes, any other stream serves one. The stream is never closed.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no tensor of this name. A failure leaves the writer
 * unchanged.
 *
 * Returns: whether it was set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_source_stream (AprSafetensorsWriter *self,
                                          const char *name,
                                          GInputStream *stream,
                                          GError **error)
{
  g_autoptr (AprSafetensorsItem) item = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (G_IS_INPUT_STREAM (stream), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  item = copy_item (self, name, error);
  if (item == NULL)
    return FALSE;
  item->stream = g_object_ref (stream);
  if (G_IS_SEEKABLE (stream) && /* GCOVR_EXCL_BR_LINE: branches of the macro's own */
      g_seekable_can_seek (G_SEEKABLE (stream)))
    item->start = g_seekable_tell (G_SEEKABLE (stream));
  g_hash_table_replace (self->items, item->name, item);
  item = NULL;
  return TRUE;
}

/* Ollama reads the metadata as a tensor's entry, and matches the names of the fields in any case. */
static gboolean
check_portable (const char *key, GError **error)
{
  static const char *const fields[] = { "dtype", "shape", "data_offsets", NULL };
  g_autofree char *folded = g_utf8_casefold (key, -1);

  if (!g_strv_contains (fields, folded))
    return TRUE;
  g_set_error (
    error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
    "the metadata key “%s” makes Ollama refuse the file, for it takes the metadata for a tensor and "
    "the key for its %s: give it a prefix, or set the property portable to false",
    key, folded);
  return FALSE;
}

/**
 * apr_safetensors_writer_set_metadata:
 * @self: a writer
 * @key: a key: any UTF-8 except the keys that [property@Apr.SafetensorsWriter:portable] excludes
 * @value: its value: any UTF-8
 * @error: return location for an error
 *
 * Sets a string of the file's `__metadata__`, replacing any former value of the key.
 *
 * Fails with %APR_SAFETENSORS_ERROR_ENCODING if the key or the value is not UTF-8, and with
 * %APR_SAFETENSORS_ERROR_NAME if the key is not portable. A failure leaves the writer unchanged.
 *
 * Returns: whether it was set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_metadata (AprSafetensorsWriter *self,
                                     const char *key,
                                     const char *value,
                                     GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (key != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_utf8 ("the metadata key", key, error) || (self->portable && !check_portable (key, error)))
    return FALSE;
  if (!check_utf8 ("the metadata value", value, error))
    {
      g_autofree char *display = apr_json_display (key, strlen (key));

      g_prefix_error (error, "“%s”: ", display);
      return FALSE;
    }
  g_hash_table_insert (self->metadata, g_strdup (key), g_strdup (value));
  return TRUE;
}
