/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"
#include "aprender/safetensors/apr-safetensors-reader-private.h"
#include "aprender/tensor/apr-tensor-private.h"
#include "aprender/tensor/apr-tensor-slice-private.h"

/* The methods of AprSafetensorsReader that are asked about one tensor by its name. */

gsize
apr_safetensors_reader_count_tensors (AprSafetensorsReader *self)
{
  gsize n = 0;
  guint i;

  for (i = 0; i < self->sources->len; i++)
    n += ((AprSafetensorsSource *) self->sources->pdata[i])->header->n_entries;
  return n;
}

static const AprSafetensorsEntry *
look_up (AprSafetensorsReader *self, const char *name, AprSafetensorsSource **source)
{
  if (self->owners != NULL)
    *source = g_hash_table_lookup (self->owners, name);
  else
    *source = self->sources->len > 0 ? self->sources->pdata[0] : NULL;
  return *source != NULL ? apr_safetensors_header_find ((*source)->header, name) : NULL;
}

/**
 * apr_safetensors_reader_has_tensor:
 * @self: a reader
 * @name: a name
 *
 * Checks whether there is a tensor of this name.
 *
 * Returns: whether there is such a tensor
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_reader_has_tensor (AprSafetensorsReader *self, const char *name)
{
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return look_up (self, name, &source) != NULL;
}

static const AprSafetensorsEntry *
find_entry (AprSafetensorsReader *self, const char *name, AprSafetensorsSource **source, GError **error)
{
  const AprSafetensorsEntry *entry = look_up (self, name, source);
  g_autofree char *valid = NULL;
  g_autofree char *display = NULL;

  if (entry != NULL)
    return entry;
  valid = g_utf8_make_valid (name, -1);
  display = apr_json_display (valid, strlen (valid));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND,
               "no tensor is called “%s” among the %" G_GSIZE_FORMAT " that there are", display,
               apr_safetensors_reader_count_tensors (self));
  return NULL;
}

/**
 * apr_safetensors_reader_get_dtype:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets a tensor's dtype, without reading its data.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no such tensor.
 *
 * Returns: the dtype, or %APR_DTYPE_NONE on failure
 *
 * Since: 0.1
 */
AprDType
apr_safetensors_reader_get_dtype (AprSafetensorsReader *self, const char *name, GError **error)
{
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), APR_DTYPE_NONE);
  g_return_val_if_fail (name != NULL, APR_DTYPE_NONE);
  g_return_val_if_fail (error == NULL || *error == NULL, APR_DTYPE_NONE);

  entry = find_entry (self, name, &source, error);
  return entry != NULL ? entry->dtype : APR_DTYPE_NONE;
}

/**
 * apr_safetensors_reader_get_shape:
 * @self: a reader
 * @name: a tensor's name
 * @n_dims: (out): the number of dimensions
 * @error: return location for an error
 *
 * Gets a tensor's size along each dimension, without reading its data.
 *
 * For a scalar @n_dims is 0, and no error is set.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no such tensor.
 *
 * Returns: (array length=n_dims) (transfer none): the shape, owned by the reader, or `NULL` on failure
 *
 * Since: 0.1
 */
const gsize *
apr_safetensors_reader_get_shape (AprSafetensorsReader *self, const char *name, gsize *n_dims, GError **error)
{
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  *n_dims = 0;
  entry = find_entry (self, name, &source, error);
  if (entry == NULL)
    return NULL;
  *n_dims = entry->n_dims;
  return apr_safetensors_header_get_shape (source->header, entry);
}

/**
 * apr_safetensors_reader_get_size:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets the size of a tensor's data, without reading them.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no such tensor.
 *
 * Returns: the size in bytes, or 0 on failure; an empty tensor has size 0, too
 *
 * Since: 0.1
 */
guint64
apr_safetensors_reader_get_size (AprSafetensorsReader *self, const char *name, GError **error)
{
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), 0);
  g_return_val_if_fail (name != NULL, 0);
  g_return_val_if_fail (error == NULL || *error == NULL, 0);

  entry = find_entry (self, name, &source, error);
  return entry != NULL ? entry->end - entry->begin : 0;
}

/**
 * apr_safetensors_reader_get_offset:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets the offset of a tensor's data in the file, without reading them.
 *
 * The offset is counted from the first byte of the file, while the `data_offsets` in the header are counted from the
 * end of the header. If there are shards, the file is the tensor's shard.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no such tensor.
 *
 * Returns: the offset in bytes, or 0 on failure
 *
 * Since: 0.1
 */
guint64
apr_safetensors_reader_get_offset (AprSafetensorsReader *self, const char *name, GError **error)
{
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), 0);
  g_return_val_if_fail (name != NULL, 0);
  g_return_val_if_fail (error == NULL || *error == NULL, 0);

  entry = find_entry (self, name, &source, error);
  return entry != NULL ? source->header->data_start + entry->begin : 0;
}

/* With 32-bit addresses, a file can have a tensor that does not fit in memory. */
static const AprSafetensorsEntry *
find_readable_entry (AprSafetensorsReader *self,
                     const char *name,
                     AprSafetensorsSource **source,
                     GError **error)
{
  const AprSafetensorsEntry *entry = find_entry (self, name, source, error);
  gsize n_elements, n_bytes;
  gboolean fits;

  if (entry == NULL)
    return NULL;
  fits = apr_dtype_count_bytes (entry->dtype, apr_safetensors_header_get_shape ((*source)->header, entry),
                                entry->n_dims, &n_elements, &n_bytes, error);
  return fits ? entry : NULL; /* GCOVR_EXCL_BR_LINE: with 64 bits what is in a file fits */
}

/**
 * apr_safetensors_reader_get_tensor:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets a tensor.
 *
 * Its data are not copied: the tensor keeps the file's mapping, or the reader's bytes, alive. In the load mode
 * %APR_SAFETENSORS_LOAD_MODE_READ each call reads the data from the file, and blocks meanwhile.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no such tensor. In the load mode
 * %APR_SAFETENSORS_LOAD_MODE_READ it also fails with %G_IO_ERROR if the file cannot be read, with
 * %APR_SAFETENSORS_ERROR_TRUNCATED if the file has been truncated, and with %APR_ERROR_NO_MEMORY if there is not
 * enough memory. With 32-bit addresses it fails with %APR_ERROR_RANGE for a tensor that is larger than memory can be.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_safetensors_reader_get_tensor (AprSafetensorsReader *self, const char *name, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  entry = find_readable_entry (self, name, &source, error);
  if (entry == NULL)
    return NULL;
  bytes = apr_safetensors_source_read (source, entry, 0, (gsize) (entry->end - entry->begin), error);
  if (bytes == NULL)
    return NULL;
  return apr_tensor_new_from_bytes (entry->dtype, apr_safetensors_header_get_shape (source->header, entry),
                                    entry->n_dims, bytes, error);
}

/**
 * apr_safetensors_reader_get_slice:
 * @self: a reader
 * @name: a tensor's name
 * @indices: what to take along each dimension, such as `1:3, ::-2, -1`; see [method@Apr.Tensor.slice]
 * @error: return location for an error
 *
 * Gets a part of a tensor.
 *
 * A contiguous slice is not copied. In the load mode %APR_SAFETENSORS_LOAD_MODE_READ the file is read from the first
 * element of the slice to the last.
 *
 * Fails like [method@Apr.SafetensorsReader.get_tensor] and [method@Apr.Tensor.slice].
 *
 * Returns: (transfer full): the slice
 *
 * Since: 0.1
 */
AprTensor *
apr_safetensors_reader_get_slice (AprSafetensorsReader *self,
                                  const char *name,
                                  const char *indices,
                                  GError **error)
{
  g_autoptr (AprSlice) slice = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const AprSafetensorsEntry *entry;
  AprSafetensorsSource *source;
  AprTensor *tensor = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (indices != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  entry = find_readable_entry (self, name, &source, error);
  if (entry == NULL)
    return NULL;
  slice = apr_slice_new (entry->dtype, apr_safetensors_header_get_shape (source->header, entry),
                         entry->n_dims, indices, error);
  if (slice != NULL)
    {
      bytes = apr_safetensors_source_read (source, entry, slice->begin, slice->end, error);
      if (bytes == NULL)
        return NULL;
      tensor = apr_slice_take (slice, bytes, error);
    }
  if (tensor == NULL)
    apr_safetensors_error_prefix_tensor (error, name);
  return tensor;
}
