/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"

#if G_BYTE_ORDER == G_BIG_ENDIAN
void
apr_tensor_swap_bytes (guint8 *data, gsize n_elements, gsize width)
{
  gsize i;
  gsize j;

  for (i = 0; i < n_elements; i++, data += width)
    for (j = 0; j < width / 2; j++)
      {
        guint8 byte = data[j];

        data[j] = data[width - 1 - j];
        data[width - 1 - j] = byte;
      }
}
#endif

/* The elements in host byte order and aligned to @width: in place if possible, otherwise an aligned copy that is made
 * once and kept. Fails where there is no memory for it. */
static gconstpointer
apr_tensor_get_aligned (AprTensor *self, gsize width, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (self->bytes, &size);
  gpointer copy;

  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && (guintptr) data % width == 0)
    return data;

  copy = g_atomic_pointer_get (&self->aligned);
  if (copy != NULL || size == 0)
    return copy;

  copy = apr_memory_new (size, 1, "an aligned copy", error);
  if (copy == NULL)
    return NULL;
  memcpy (copy, data, size);
#if G_BYTE_ORDER == G_BIG_ENDIAN
  apr_tensor_swap_bytes (copy, self->n_elements, width);
#endif
  if (!g_atomic_pointer_compare_and_exchange (&self->aligned, NULL, copy))
    {
      g_free (copy);
      copy = g_atomic_pointer_get (&self->aligned);
    }

  return copy;
}

static gboolean
check_dtype (AprTensor *self, AprDType dtype, GError **error)
{
  if (self->dtype == dtype)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "The tensor is %s, not %s: cast it first",
               apr_dtype_to_string (self->dtype), apr_dtype_to_string (dtype));
  return FALSE;
}

/**
 * apr_tensor_get_floats:
 * @self: a tensor of dtype F32
 * @n_values: (out) (optional): the number of elements
 * @error: return location for an error
 *
 * Gets the elements as C floats, in row-major order.
 *
 * Nothing is copied if the bytes are aligned, as they are in every file that this library writes. Otherwise the first
 * call makes an aligned copy, which the tensor keeps.
 *
 * Fails with %APR_ERROR_DTYPE if the dtype is not F32, and with %APR_ERROR_NO_MEMORY if there is none for the copy.
 *
 * Returns: (array length=n_values) (transfer none) (nullable): the elements, owned by the tensor; `NULL` on failure, or
 *   without an error if there are no elements
 *
 * Since: 0.1
 */
const float *
apr_tensor_get_floats (AprTensor *self, gsize *n_values, GError **error)
{
  const float *values;

  g_return_val_if_fail (self != NULL, NULL);

  if (n_values != NULL)
    *n_values = 0;
  if (!check_dtype (self, APR_DTYPE_F32, error))
    return NULL;

  values = apr_tensor_get_aligned (self, sizeof (float), error);
  if (n_values != NULL && values != NULL)
    *n_values = self->n_elements;

  return values;
}

/**
 * apr_tensor_get_doubles:
 * @self: a tensor of dtype F64
 * @n_values: (out) (optional): the number of elements
 * @error: return location for an error
 *
 * Gets the elements as C doubles, in row-major order, like [method@Apr.Tensor.get_floats].
 *
 * Fails with %APR_ERROR_DTYPE if the dtype is not F64, and with %APR_ERROR_NO_MEMORY if there is none for the copy.
 *
 * Returns: (array length=n_values) (transfer none) (nullable): the elements, owned by the tensor; `NULL` on failure, or
 *   without an error if there are no elements
 *
 * Since: 0.1
 */
const double *
apr_tensor_get_doubles (AprTensor *self, gsize *n_values, GError **error)
{
  const double *values;

  g_return_val_if_fail (self != NULL, NULL);

  if (n_values != NULL)
    *n_values = 0;
  if (!check_dtype (self, APR_DTYPE_F64, error))
    return NULL;

  values = apr_tensor_get_aligned (self, sizeof (double), error);
  if (n_values != NULL && values != NULL)
    *n_values = self->n_elements;

  return values;
}

/**
 * apr_tensor_get_double:
 * @self: a tensor of a float, integer or BOOL dtype
 * @index: the index of the element in row-major order
 * @error: return location for an error
 *
 * Gets one element as a double. 64-bit integers above 2^53 are rounded to the nearest double.
 *
 * Fails with %APR_ERROR_RANGE if @index is past the end, and with %APR_ERROR_DTYPE for C64 and for floats of at most 8
 * bits.
 *
 * Returns: the element, or 0 on failure
 *
 * Since: 0.1
 */
double
apr_tensor_get_double (AprTensor *self, gsize index, GError **error)
{
  g_return_val_if_fail (self != NULL, 0);

  if (index >= self->n_elements)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Element %" G_GSIZE_FORMAT " of a tensor that has %" G_GSIZE_FORMAT, index,
                   self->n_elements);
      return 0;
    }

  if (!apr_dtype_is_numeric (self->dtype))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "An element of dtype %s cannot be read as a number",
                   apr_dtype_to_string (self->dtype));
      return 0;
    }

  return apr_dtype_read_double (self->dtype, g_bytes_get_data (self->bytes, NULL), index);
}
