/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"

/**
 * AprTensor:
 *
 * An immutable n-dimensional array of numbers: a dtype, a shape, and the bytes of the elements.
 *
 * Create one from C arrays or from bytes, pass it to an estimator or a [class@Apr.SafetensorsWriter], and read it with
 * [method@Apr.Tensor.get_double], [method@Apr.Tensor.get_doubles] or [method@Apr.Tensor.get_bytes]:
 *
 * ```c
 * const gsize shape[] = { 2, 3 };
 * const double values[] = { 1, 2, 3, 4, 5, 6 };
 * g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (values, 6, shape, 2, &error);
 * ```
 *
 * Elements are stored in row-major order and little-endian, as in a SafeTensors file. So a tensor that was read from a
 * file is a view of the file's bytes, and writing one copies nothing. [method@Apr.Tensor.slice_rows], readers and
 * models share the same memory.
 *
 * Models read F16, BF16, F32, F64, BOOL and the integers as they are. [method@Apr.Tensor.cast] converts these, and the
 * F8 dtypes, to F16, BF16, F32 and F64. C64, F4 and F6 can be read, sliced and written, but not computed with.
 *
 * ## Threads, memory and blocking
 *
 * A tensor never changes, so any number of threads may use one at once, and take and drop references.
 *
 * A tensor holds a reference to its bytes, and what a getter returns lives as long as the tensor. If the bytes are
 * those of a mapped file, reading them reads the file: that may block, and ends the program with SIGBUS if another
 * program has truncated the file meanwhile.
 *
 * Getters take constant time, except for the first [method@Apr.Tensor.get_floats] or [method@Apr.Tensor.get_doubles] on
 * unaligned bytes, which copies them.
 *
 * Since: 0.1
 */
G_DEFINE_BOXED_TYPE (AprTensor, apr_tensor, apr_tensor_ref, apr_tensor_unref)

char *
apr_shape_to_string (const gsize *shape, gsize n_dims)
{
  GString *string = g_string_new ("[");
  gsize i;

  for (i = 0; i < n_dims; i++)
    g_string_append_printf (string, "%s%" G_GSIZE_FORMAT, i > 0 ? ", " : "", shape[i]);
  g_string_append_c (string, ']');

  return g_string_free (string, FALSE);
}

gboolean
apr_dtype_count_bytes (
  AprDType dtype, const gsize *shape, gsize n_dims, gsize *n_elements, gsize *n_bytes, GError **error)
{
  g_autofree char *text = NULL;
  gsize product = 1;
  gsize bits;
  gsize i;

  if ((guint) dtype > APR_DTYPE_U64 || apr_dtype_get_bits (dtype) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "A tensor cannot have the dtype %d", (int) dtype);
      return FALSE;
    }

  for (i = 0; i < n_dims; i++)
    if (!g_size_checked_mul (&product, product, shape[i]))
      break;

  if (i < n_dims || !g_size_checked_mul (&bits, product, apr_dtype_get_bits (dtype)))
    {
      text = apr_shape_to_string (shape, n_dims);
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "A tensor %s %s is larger than memory can be",
                   apr_dtype_to_string (dtype), text);
      return FALSE;
    }

  if (bits % 8 != 0)
    {
      text = apr_shape_to_string (shape, n_dims);
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "A tensor %s %s has %" G_GSIZE_FORMAT " bits, which do not fill whole bytes",
                   apr_dtype_to_string (dtype), text, bits);
      return FALSE;
    }

  *n_elements = product;
  *n_bytes = bits / 8;
  return TRUE;
}

AprTensor *
apr_tensor_new_unchecked (AprDType dtype, const gsize *shape, gsize n_dims, gsize n_elements, GBytes *bytes)
{
  AprTensor *self = g_malloc0 (sizeof (AprTensor) + n_dims * sizeof (gsize));

  g_atomic_ref_count_init (&self->ref_count);
  self->dtype = dtype;
  self->n_elements = n_elements;
  self->bytes = bytes;
  self->n_dims = n_dims;
  if (n_dims > 0)
    memcpy (self->shape, shape, n_dims * sizeof (gsize));

  return self;
}

/**
 * apr_tensor_new_from_bytes: (constructor)
 * @dtype: the dtype of the elements
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions; 0 for a scalar, which has one element
 * @bytes: the elements, row-major and little-endian; the tensor takes a reference
 * @error: return location for an error
 *
 * Creates a tensor from bytes without copying them.
 *
 * Fails with %APR_ERROR_SHAPE if @bytes does not have the size that the dtype and the shape need, or if sub-byte
 * elements do not fill whole bytes; with %APR_ERROR_RANGE if that size overflows; and with %APR_ERROR_DTYPE for
 * %APR_DTYPE_NONE.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_new_from_bytes (AprDType dtype, const gsize *shape, gsize n_dims, GBytes *bytes, GError **error)
{
  g_autofree char *text = NULL;
  gsize n_elements;
  gsize n_bytes;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (bytes != NULL, NULL);

  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &n_bytes, error))
    return NULL;

  if (g_bytes_get_size (bytes) != n_bytes)
    {
      text = apr_shape_to_string (shape, n_dims);
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "A tensor %s %s needs %" G_GSIZE_FORMAT " bytes, but there are %" G_GSIZE_FORMAT,
                   apr_dtype_to_string (dtype), text, n_bytes, g_bytes_get_size (bytes));
      return NULL;
    }

  return apr_tensor_new_unchecked (dtype, shape, n_dims, n_elements, g_bytes_ref (bytes));
}

AprTensor *
apr_tensor_new_take (AprDType dtype, const gsize *shape, gsize n_dims, gpointer data, gsize size)
{
  gsize width = apr_dtype_get_bits (dtype) / 8;
  gsize n_elements = 1;
  gsize i;

  for (i = 0; i < n_dims; i++)
    n_elements *= shape[i];
  g_assert (n_elements * width == size);
#if G_BYTE_ORDER == G_BIG_ENDIAN
  apr_tensor_swap_bytes (data, n_elements, width);
#endif

  return apr_tensor_new_unchecked (dtype, shape, n_dims, n_elements, g_bytes_new_take (data, size));
}

static gpointer
copy_bytes (gconstpointer data, gsize size, GError **error)
{
  gpointer copy = apr_memory_new (size, 1, "a tensor", error);

  if (copy != NULL && size > 0)
    memcpy (copy, data, size);

  return copy;
}

AprTensor *
apr_tensor_copy (AprTensor *self, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (self->bytes, &size);
  gpointer copy = copy_bytes (data, size, error);

  if (copy == NULL)
    return NULL;

  return apr_tensor_new_unchecked (self->dtype, self->shape, self->n_dims, self->n_elements,
                                   g_bytes_new_take (copy, size));
}

static AprTensor *
new_from_values (
  AprDType dtype, gconstpointer values, gsize n_values, const gsize *shape, gsize n_dims, GError **error)
{
  g_autofree char *text = NULL;
  gpointer copy;
  gsize n_elements;
  gsize n_bytes;

  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &n_bytes, error))
    return NULL;

  if (n_elements != n_values)
    {
      text = apr_shape_to_string (shape, n_dims);
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The shape %s needs %" G_GSIZE_FORMAT " values, but there are %" G_GSIZE_FORMAT, text,
                   n_elements, n_values);
      return NULL;
    }

  copy = copy_bytes (values, n_bytes, error);

  return copy != NULL ? apr_tensor_new_take (dtype, shape, n_dims, copy, n_bytes) : NULL;
}

/**
 * apr_tensor_new_from_floats: (constructor)
 * @values: (array length=n_values): the elements, row-major
 * @n_values: the number of values
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions
 * @error: return location for an error
 *
 * Creates an F32 tensor from a copy of @values.
 *
 * Fails with %APR_ERROR_SHAPE if the number of values is not the product of the shape, with %APR_ERROR_RANGE if that
 * product overflows, and with %APR_ERROR_NO_MEMORY if there is no memory.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_new_from_floats (
  const float *values, gsize n_values, const gsize *shape, gsize n_dims, GError **error)
{
  g_return_val_if_fail (values != NULL || n_values == 0, NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return new_from_values (APR_DTYPE_F32, values, n_values, shape, n_dims, error);
}

/**
 * apr_tensor_new_from_doubles: (constructor)
 * @values: (array length=n_values): the elements, row-major
 * @n_values: the number of values
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions
 * @error: return location for an error
 *
 * Creates an F64 tensor from a copy of @values.
 *
 * Fails with %APR_ERROR_SHAPE if the number of values is not the product of the shape, with %APR_ERROR_RANGE if that
 * product overflows, and with %APR_ERROR_NO_MEMORY if there is no memory.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_new_from_doubles (
  const double *values, gsize n_values, const gsize *shape, gsize n_dims, GError **error)
{
  g_return_val_if_fail (values != NULL || n_values == 0, NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return new_from_values (APR_DTYPE_F64, values, n_values, shape, n_dims, error);
}

typedef struct
{
  GDestroyNotify release;
  gpointer user_data;
} Owner;

static void
owner_release (gpointer data)
{
  Owner *owner = data;

  if (owner->release != NULL)
    owner->release (owner->user_data);
  g_free (owner);
}

/**
 * apr_tensor_new_from_memory: (constructor)
 * @dtype: the dtype of the elements
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions
 * @memory: the elements, row-major and little-endian
 * @size: the number of bytes at @memory
 * @release: (type gpointer) (nullable): a #GDestroyNotify to call when the memory is no longer used, or `NULL` where
 *   nothing is to be done then
 * @user_data: data to pass to @release
 * @error: return location for an error
 *
 * Creates a tensor that uses the caller's memory, without copying it.
 *
 * On a big-endian processor, an array of your own is not little-endian: [ctor@Apr.Tensor.new_from_doubles] takes one.
 *
 * This is for memory that something else owns, such as an array of numpy's, a mapping or an array of your own. Where
 * there is a #GBytes already, use [ctor@Apr.Tensor.new_from_bytes].
 *
 * The memory must not change while the tensor, or a slice of it, exists. @release is called exactly once: in the thread
 * that drops the last reference, or before this function returns if it fails.
 *
 * To bindings of other languages, @release is an address: use one function for all tensors there and tell them apart by
 * @user_data, because nothing would free a closure made for each of them.
 *
 * Fails like [ctor@Apr.Tensor.new_from_bytes].
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_new_from_memory (AprDType dtype,
                            const gsize *shape,
                            gsize n_dims,
                            gconstpointer memory,
                            gsize size,
                            GDestroyNotify release,
                            gpointer user_data,
                            GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  Owner *owner;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (memory != NULL || size == 0, NULL);

  owner = g_new (Owner, 1);
  owner->release = release;
  owner->user_data = user_data;
  bytes = g_bytes_new_with_free_func (memory, size, owner_release, owner);

  return apr_tensor_new_from_bytes (dtype, shape, n_dims, bytes, error);
}

/**
 * apr_tensor_get_memory:
 * @self: a tensor
 * @dtype: (out) (optional): the dtype of the elements
 * @shape: (out) (optional) (transfer none) (array length=n_dims): the size along each dimension
 * @n_dims: (out) (optional): the number of dimensions
 * @memory: (out) (optional) (nullable): the elements, row-major and little-endian; may be `NULL` if there are none
 * @size: (out) (optional): the number of bytes at @memory
 *
 * Gets everything that is needed to read a tensor in place, in one call.
 *
 * This is for bindings, where every call is costly; it is the counterpart of [ctor@Apr.Tensor.new_from_memory]. The
 * memory is read-only and lives as long as the tensor.
 *
 * Since: 0.1
 */
void
apr_tensor_get_memory (
  AprTensor *self, AprDType *dtype, const gsize **shape, gsize *n_dims, gconstpointer *memory, gsize *size)
{
  gconstpointer data;

  g_return_if_fail (self != NULL);

  data = g_bytes_get_data (self->bytes, size);
  if (dtype != NULL)
    *dtype = self->dtype;
  if (shape != NULL)
    *shape = self->shape;
  if (n_dims != NULL)
    *n_dims = self->n_dims;
  if (memory != NULL)
    *memory = data;
}

/**
 * apr_tensor_ref:
 * @self: a tensor
 *
 * Takes a reference. Any thread may do so.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_ref (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * apr_tensor_unref:
 * @self: (transfer full): a tensor
 *
 * Drops a reference, and frees the tensor if it was the last one. Any thread may do so.
 *
 * Since: 0.1
 */
void
apr_tensor_unref (AprTensor *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_bytes_unref (self->bytes);
  g_free (self->aligned);
  g_free (self);
}

/**
 * apr_tensor_get_dtype:
 * @self: a tensor
 *
 * Gets the dtype of the elements.
 *
 * Returns: the dtype, never %APR_DTYPE_NONE
 *
 * Since: 0.1
 */
AprDType
apr_tensor_get_dtype (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, APR_DTYPE_NONE);

  return self->dtype;
}

/**
 * apr_tensor_get_shape:
 * @self: a tensor
 * @n_dims: (out) (optional): the number of dimensions
 *
 * Gets the size along each dimension.
 *
 * Returns: (array length=n_dims) (transfer none): the shape, owned by the tensor; empty for a scalar
 *
 * Since: 0.1
 */
const gsize *
apr_tensor_get_shape (AprTensor *self, gsize *n_dims)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (n_dims != NULL)
    *n_dims = self->n_dims;

  return self->shape;
}

/**
 * apr_tensor_get_n_dims:
 * @self: a tensor
 *
 * Gets the number of dimensions, 0 for a scalar.
 *
 * Returns: the number of dimensions
 *
 * Since: 0.1
 */
gsize
apr_tensor_get_n_dims (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_dims;
}

/**
 * apr_tensor_get_n_elements:
 * @self: a tensor
 *
 * Gets the number of elements: the product of the shape, 1 for a scalar.
 *
 * Returns: the number of elements
 *
 * Since: 0.1
 */
gsize
apr_tensor_get_n_elements (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_elements;
}

/**
 * apr_tensor_get_bytes:
 * @self: a tensor
 *
 * Gets the elements, row-major and little-endian, without copying them.
 *
 * Returns: (transfer none): the bytes, owned by the tensor
 *
 * Since: 0.1
 */
GBytes *
apr_tensor_get_bytes (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->bytes;
}

/**
 * apr_tensor_equal:
 * @self: a tensor
 * @other: another tensor
 *
 * Compares the dtype, the shape and the bytes of two tensors.
 *
 * It compares bits, not numbers: a NaN equals itself, and 0.0 differs from -0.0.
 *
 * Returns: whether they are the same
 *
 * Since: 0.1
 */
gboolean
apr_tensor_equal (AprTensor *self, AprTensor *other)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (other != NULL, FALSE);

  if (self == other)
    return TRUE;

  return self->dtype == other->dtype && self->n_dims == other->n_dims &&
         (self->n_dims == 0 || memcmp (self->shape, other->shape, self->n_dims * sizeof (gsize)) == 0) &&
         g_bytes_equal (self->bytes, other->bytes);
}
