/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The bytes that @n_dims sizes of @dtype fill, multiplied from the left as the format does; false with an
 * error on overflow, or where sub-byte elements leave a byte half filled. */
gboolean apr_dtype_count_bytes (
  AprDType dtype, const gsize *shape, gsize n_dims, gsize *n_elements, gsize *n_bytes, GError **error);

/* “[2, 3]”, for messages. */
char *apr_shape_to_string (const gsize *shape, gsize n_dims);

/* Takes @data, elements of whole bytes in the host's order, whose size must be that of the shape. */
AprTensor *apr_tensor_new_take (AprDType dtype, const gsize *shape, gsize n_dims, gpointer data, gsize size);

/* Whether get_double () and cast () know the dtype. */
gboolean apr_dtype_is_numeric (AprDType dtype);

/* One element as a double: exact but for 64-bit integers above 2^53, which round to nearest. */
double apr_dtype_read_double (AprDType dtype, const guint8 *data, gsize index);

/* The index of the first NaN or infinity, or @n_elements where there is none. */
gsize apr_dtype_find_not_finite (AprDType dtype, const guint8 *data, gsize n_elements);

G_END_DECLS
