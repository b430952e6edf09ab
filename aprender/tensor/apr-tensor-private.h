/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

struct _AprTensor
{
  gatomicrefcount ref_count;
  AprDType dtype;
  gsize n_elements;
  GBytes *bytes; /* (owned) */
  /* (owned) (nullable) (atomic): a copy that C can read, where the bytes are not aligned or have another byte order */
  gpointer aligned;
  gsize n_dims;
  gsize shape[];
};

/* Takes @bytes, which must have the right size. */
AprTensor *
apr_tensor_new_unchecked (AprDType dtype, const gsize *shape, gsize n_dims, gsize n_elements, GBytes *bytes);

/* Reverses the bytes of elements of @width bytes. */
void apr_tensor_swap_bytes (guint8 *data, gsize n_elements, gsize width);

/* Computes the size of a tensor, multiplying from the left as the format does. Fails on overflow, and if sub-byte
 * elements do not fill whole bytes. */
gboolean apr_dtype_count_bytes (
  AprDType dtype, const gsize *shape, gsize n_dims, gsize *n_elements, gsize *n_bytes, GError **error);

/* “[2, 3]”, for messages. */
char *apr_shape_to_string (const gsize *shape, gsize n_dims);

/* Takes @data: elements of whole bytes, in host byte order, of the right size. */
AprTensor *apr_tensor_new_take (AprDType dtype, const gsize *shape, gsize n_dims, gpointer data, gsize size);

/* The same tensor in memory of its own, so that a file may change. Fails where there is no memory. */
AprTensor *apr_tensor_copy (AprTensor *self, GError **error);

/* Whether models compute with the dtype, and get_double () reads it. cast () reads F8 too. */
gboolean apr_dtype_is_numeric (AprDType dtype);

/* One element as a double. Exact, except for 64-bit integers above 2^53, which are rounded to nearest. */
double apr_dtype_read_double (AprDType dtype, const guint8 *data, gsize index);

/* Appends the shortest decimal number that reads back as the same element, which is numeric. */
void apr_tensor_append_number (AprTensor *self, gsize index, GString *string);

/* The index of the first NaN or infinity, or @n_elements if there is none. */
gsize apr_dtype_find_not_finite (AprDType dtype, const guint8 *data, gsize n_elements);

G_END_DECLS
