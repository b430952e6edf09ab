/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

typedef struct
{
  gsize count;
  gint64 stride;
} AprSliceAxis;

/*
 * AprSlice:
 * @dtype: the type of the elements
 * @begin: the offset of the first byte of the tensor that the slice needs
 * @end: the offset after the last byte that it needs; equal to @begin if it needs none
 * @first: the offset of the first piece, from @begin
 * @piece: the number of contiguous bytes in a piece
 * @n_bytes: the number of bytes in all pieces
 * @axes: (array length=n_axes): how to get from piece to piece: count and stride in bytes, outermost axis first
 * @n_axes: the number of axes; 0 if the slice is one piece
 * @shape: (array length=n_dims): the shape of the slice
 * @n_dims: the number of its dimensions
 *
 * What a string of indices takes from a tensor, computed before any byte is touched.
 */
typedef struct
{
  AprDType dtype;
  gsize begin;
  gsize end;
  gsize first;
  gsize piece;
  gsize n_bytes;
  AprSliceAxis *axes;
  gsize n_axes;
  gsize *shape;
  gsize n_dims;
} AprSlice;

/*
 * apr_slice_new:
 * @dtype: the tensor's dtype
 * @shape: (array length=n_dims): its shape; the size in bytes must not overflow
 * @n_dims: the number of its dimensions
 * @indices: see apr_tensor_slice()
 * @error: return location for an error
 */
AprSlice *
apr_slice_new (AprDType dtype, const gsize *shape, gsize n_dims, const char *indices, GError **error);

void apr_slice_free (AprSlice *self);

/* Makes the slice. @bytes are those from @begin to @end of the tensor; a slice of one piece shares them. */
AprTensor *apr_slice_take (const AprSlice *self, GBytes *bytes, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSlice, apr_slice_free)

G_END_DECLS
