/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"

#include <math.h>
#include <string.h>

/**
 * AprTensor:
 *
 * An immutable n-dimensional array: a dtype, a shape, and the elements' bytes.
 *
 * Elements stand in row-major order and are little-endian, as in a SafeTensors file, so a tensor that was
 * read from a file *is* the file's bytes, and one that is written goes there as it is. The bytes are shared,
 * never copied: row slices, readers and models hold references to the same memory.
 *
 * F32 and F64 are what the library computes with; [method@Apr.Tensor.cast] makes them from F16, BF16, BOOL
 * and the integers. Tensors of the other dtypes are carried as bytes.
 *
 * ```c
 * const gsize shape[] = { 2, 3 };
 * const double values[] = { 1, 2, 3, 4, 5, 6 };
 * g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (values, 6, shape, 2, &error);
 * ```
 *
 * Since: 0.1
 */
struct _AprTensor
{
  gatomicrefcount ref_count;
  AprDType dtype;
  gsize n_elements;
  GBytes *bytes;    /* (owned) */
  gpointer aligned; /* (owned) (nullable) (atomic) the elements in host order, made where @bytes cannot be
                       read in place */
  gsize n_dims;
  gsize shape[];
};

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

/* Takes @bytes. */
static AprTensor *
apr_tensor_new_internal (AprDType dtype, const gsize *shape, gsize n_dims, gsize n_elements, GBytes *bytes)
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
 * @n_dims: the number of dimensions; none makes a scalar of one element
 * @bytes: the elements, row-major and little-endian
 * @error: return location for an error
 *
 * Makes a tensor from bytes without copying them.
 *
 * Returns: (transfer full): the tensor, or `NULL` with %APR_ERROR_SHAPE where @bytes does not have the size
 * that the dtype and the shape need, %APR_ERROR_RANGE where that size is beyond memory, %APR_ERROR_DTYPE for
 *   %APR_DTYPE_NONE
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

  return apr_tensor_new_internal (dtype, shape, n_dims, n_elements, g_bytes_ref (bytes));
}

#if G_BYTE_ORDER == G_BIG_ENDIAN
static void
swap_elements (guint8 *data, gsize n_elements, gsize width)
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
  swap_elements (data, n_elements, width);
#endif

  return apr_tensor_new_internal (dtype, shape, n_dims, n_elements, g_bytes_new_take (data, size));
}

static AprTensor *
new_from_values (
  AprDType dtype, gconstpointer values, gsize n_values, const gsize *shape, gsize n_dims, GError **error)
{
  g_autofree char *text = NULL;
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

  return apr_tensor_new_take (dtype, shape, n_dims, g_memdup2 (values, n_bytes), n_bytes);
}

/**
 * apr_tensor_new_from_floats: (constructor)
 * @values: (array length=n_values): the elements, row-major
 * @n_values: the number of @values
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions
 * @error: return location for an error
 *
 * Makes an F32 tensor from a copy of @values.
 *
 * Returns: (transfer full): the tensor, or `NULL` with %APR_ERROR_SHAPE where the number of values is not the
 *   product of the shape
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
 * @n_values: the number of @values
 * @shape: (array length=n_dims): the size along each dimension
 * @n_dims: the number of dimensions
 * @error: return location for an error
 *
 * Makes an F64 tensor from a copy of @values.
 *
 * Returns: (transfer full): the tensor, or `NULL` with %APR_ERROR_SHAPE where the number of values is not the
 *   product of the shape
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
 * @release: (type gpointer) (nullable): a #GDestroyNotify that is called once, in whatever thread the last user
 * of the memory is gone, and also when this function fails
 * @user_data: what @release is called with
 * @error: return location for an error
 *
 * Makes a tensor that reads memory that somebody else owns, without copying it.
 *
 * For bindings, whose arrays live in memory of their own: the Python override hands numpy's memory in this
 * way. The memory must not change while the tensor, or anything that was made from it, is in use. In C,
 * [ctor@Apr.Tensor.new_from_bytes] does the same with a #GBytes.
 *
 * Bindings see @release as an address: one function of theirs serves all tensors, which @user_data tells
 * apart. A closure for each could be freed by nobody.
 *
 * Returns: (transfer full): the tensor, or `NULL` as [ctor@Apr.Tensor.new_from_bytes]
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
 * @dtype: (out): the dtype of the elements
 * @shape: (out) (transfer none) (array length=n_dims): the size along each dimension
 * @n_dims: (out): the number of dimensions
 * @memory: (out) (nullable): the elements, row-major and little-endian; may be `NULL` where there are none
 * @size: (out): the number of bytes at @memory
 *
 * Gets at once all that it takes to read a tensor in place.
 *
 * For bindings, where each call has its price: the counterpart of [ctor@Apr.Tensor.new_from_memory]. The
 * memory must not be written to, and is there for as long as the tensor is.
 *
 * Since: 0.1
 */
void
apr_tensor_get_memory (
  AprTensor *self, AprDType *dtype, const gsize **shape, gsize *n_dims, gconstpointer *memory, gsize *size)
{
  g_return_if_fail (self != NULL);

  *dtype = self->dtype;
  *shape = self->shape;
  *n_dims = self->n_dims;
  *memory = g_bytes_get_data (self->bytes, size);
}

/**
 * apr_tensor_ref:
 * @self: a tensor
 *
 * Takes a reference; safe from any thread.
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
 * Gives a reference back; the tensor goes with the last one.
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
 * Returns: (array length=n_dims) (transfer none): the sizes; none for a scalar
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
 * Returns: (transfer none): the bytes
 *
 * Since: 0.1
 */
GBytes *
apr_tensor_get_bytes (AprTensor *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->bytes;
}

/* The elements in host order and aligned to @width: in place where they are so already, else made once. */
static gconstpointer
apr_tensor_get_aligned (AprTensor *self, gsize width)
{
  gconstpointer data = g_bytes_get_data (self->bytes, NULL);
  gpointer copy;

  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && (guintptr) data % width == 0)
    return data;

  copy = g_atomic_pointer_get (&self->aligned);
  if (copy != NULL || data == NULL)
    return copy;

  copy = g_memdup2 (data, g_bytes_get_size (self->bytes));
#if G_BYTE_ORDER == G_BIG_ENDIAN
  swap_elements (copy, self->n_elements, width);
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
 * Gets the elements as C floats, row-major.
 *
 * Nothing is copied where the bytes are aligned, as those of every well-made file are; else one aligned copy
 * is made and kept.
 *
 * Returns: (array length=n_values) (transfer none) (nullable): the elements, valid as long as @self; `NULL`
 * with %APR_ERROR_DTYPE where the dtype is not F32, and `NULL` without an error where there are no elements
 *
 * Since: 0.1
 */
const float *
apr_tensor_get_floats (AprTensor *self, gsize *n_values, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (n_values != NULL)
    *n_values = 0;
  if (!check_dtype (self, APR_DTYPE_F32, error))
    return NULL;
  if (n_values != NULL)
    *n_values = self->n_elements;

  return apr_tensor_get_aligned (self, sizeof (float));
}

/**
 * apr_tensor_get_doubles:
 * @self: a tensor of dtype F64
 * @n_values: (out) (optional): the number of elements
 * @error: return location for an error
 *
 * Gets the elements as C doubles, row-major, like [method@Apr.Tensor.get_floats].
 *
 * Returns: (array length=n_values) (transfer none) (nullable): the elements, valid as long as @self; `NULL`
 * with %APR_ERROR_DTYPE where the dtype is not F64, and `NULL` without an error where there are no elements
 *
 * Since: 0.1
 */
const double *
apr_tensor_get_doubles (AprTensor *self, gsize *n_values, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (n_values != NULL)
    *n_values = 0;
  if (!check_dtype (self, APR_DTYPE_F64, error))
    return NULL;
  if (n_values != NULL)
    *n_values = self->n_elements;

  return apr_tensor_get_aligned (self, sizeof (double));
}

/**
 * apr_tensor_get_double:
 * @self: a tensor of a float, integer or BOOL dtype
 * @index: which element, counted through the rows
 * @error: return location for an error
 *
 * Gets one element as a double. 64-bit integers above 2^53 are rounded to the nearest double.
 *
 * Returns: the element; 0 with %APR_ERROR_RANGE where @index is past the end, or with %APR_ERROR_DTYPE where
 * the dtype has no number (C64 and the floats of 8 bits and less)
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

/**
 * apr_tensor_slice_rows:
 * @self: a tensor of at least one dimension
 * @start: the first row
 * @stop: the row after the last one
 * @error: return location for an error
 *
 * Takes the rows from @start up to, but not with, @stop: the first dimension's entries. Nothing is copied.
 *
 * Returns: (transfer full): the rows, with the same number of dimensions; `NULL` with %APR_ERROR_RANGE where
 * the rows are not there, or with %APR_ERROR_SHAPE for a scalar, or where a row of sub-byte elements does not
 * begin at a byte
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_slice_rows (AprTensor *self, gsize start, gsize stop, GError **error)
{
  gsize row_bits;
  gsize n_rows;
  AprTensor *slice;
  GBytes *bytes;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->n_dims == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "A scalar has no rows");
      return NULL;
    }

  n_rows = self->shape[0];
  if (start > stop || stop > n_rows)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Rows %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT " of a tensor that has %" G_GSIZE_FORMAT,
                   start, stop, n_rows);
      return NULL;
    }

  /* Within the whole, so nothing here can overflow. */
  row_bits = n_rows == 0 ? 0 : self->n_elements / n_rows * apr_dtype_get_bits (self->dtype);
  if (start * row_bits % 8 != 0 || stop * row_bits % 8 != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "Rows of %" G_GSIZE_FORMAT " bits: %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT
                   " do not fill whole bytes",
                   row_bits, start, stop);
      return NULL;
    }

  bytes = g_bytes_new_from_bytes (self->bytes, start * row_bits / 8, (stop - start) * row_bits / 8);
  slice = apr_tensor_new_internal (self->dtype, self->shape, self->n_dims,
                                   n_rows == 0 ? 0 : self->n_elements / n_rows * (stop - start), bytes);
  slice->shape[0] = stop - start;

  return slice;
}

/**
 * apr_tensor_equal:
 * @self: a tensor
 * @other: another one
 *
 * Compares dtype, shape and bytes: equal tensors make equal files.
 *
 * It is a comparison of bits, not of numbers: a NaN equals itself, and 0.0 differs from -0.0.
 *
 * Returns: whether the two are the same
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

static void
format_number (char buffer[G_ASCII_DTOSTR_BUF_SIZE], int digits, double value)
{
  char format[8];

  g_snprintf (format, sizeof format, "%%.%dg", digits);
  g_ascii_formatd (buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
}

/* As many digits as bring the same number back, and no more. */
static void
append_number (GString *string, AprTensor *self, gsize index)
{
  const guint8 *data = g_bytes_get_data (self->bytes, NULL);
  double value = apr_dtype_read_double (self->dtype, data, index);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  guint64 bits;
  int digits;

  /* A double does not hold all of these. */
  if (self->dtype == APR_DTYPE_I64 || self->dtype == APR_DTYPE_U64)
    {
      memcpy (&bits, data + 8 * index, sizeof bits);
      bits = GUINT64_FROM_LE (bits);
      if (self->dtype == APR_DTYPE_U64)
        g_string_append_printf (string, "%" G_GUINT64_FORMAT, bits);
      else
        g_string_append_printf (string, "%" G_GINT64_FORMAT, (gint64) bits);
      return;
    }

  for (digits = 1; digits < 17; digits++)
    {
      double back;

      format_number (buffer, digits, value);
      back = g_ascii_strtod (buffer, NULL);
      if (back == value || (self->dtype != APR_DTYPE_F64 && (float) back == (float) value &&
                            apr_dtype_get_bits (self->dtype) <= 32))
        break;
    }

  /* 1500, not 1.5e+03. */
  if (fabs (value) >= 1 && fabs (value) < 1e15)
    digits = MAX (digits, (int) floor (log10 (fabs (value))) + 1);
  format_number (buffer, digits, value);

  g_string_append (string, buffer);
}

/* At most this many entries of a dimension are shown: the first and the last half of them. */
#define MAX_SHOWN 6

static void
append_elements (GString *string, AprTensor *self, gsize dim, gsize first)
{
  gsize stride = 1;
  gsize i;

  if (dim == self->n_dims)
    {
      append_number (string, self, first);
      return;
    }

  for (i = dim + 1; i < self->n_dims; i++)
    stride *= self->shape[i];

  g_string_append_c (string, '[');
  for (i = 0; i < self->shape[dim]; i++)
    {
      if (i > 0)
        g_string_append (string, ", ");
      if (self->shape[dim] > MAX_SHOWN && i == MAX_SHOWN / 2)
        {
          g_string_append (string, "..., ");
          i = self->shape[dim] - MAX_SHOWN / 2;
        }
      append_elements (string, self, dim + 1, first + i * stride);
    }
  g_string_append_c (string, ']');
}

/**
 * apr_tensor_to_string:
 * @self: a tensor
 *
 * Describes the tensor for a person: `F64 [2, 3] [[1, 2, 3], [4, 5, 6]]`.
 *
 * Long dimensions are shortened. Numbers have as many digits as it takes to tell them from their neighbours,
 * and a point whatever the locale. Dtypes that are carried as bytes, and tensors of more than four
 * dimensions, show no elements.
 *
 * Returns: (transfer full): the text
 *
 * Since: 0.1
 */
char *
apr_tensor_to_string (AprTensor *self)
{
  g_autofree char *shape = NULL;
  GString *string;

  g_return_val_if_fail (self != NULL, NULL);

  shape = apr_shape_to_string (self->shape, self->n_dims);
  string = g_string_new (apr_dtype_to_string (self->dtype));
  g_string_append_printf (string, " %s", shape);

  if (apr_dtype_is_numeric (self->dtype) && self->n_dims <= 4 && self->n_elements > 0)
    {
      g_string_append_c (string, ' ');
      append_elements (string, self, 0, 0);
    }

  return g_string_free (string, FALSE);
}
