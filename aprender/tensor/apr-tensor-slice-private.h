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
 * @begin: the first byte of the tensor that the slice needs
 * @end: the byte after the last one that it needs; @begin where it needs none
 * @first: where the slice's first piece is, from @begin
 * @piece: how many bytes are together in a piece
 * @n_bytes: how many bytes all pieces have
 * @axes: (array length=n_axes): how to get from piece to piece: how often, and how far in bytes; the outermost first
 * @n_axes: none where the slice is one piece
 * @shape: (array length=n_dims): the shape of the slice
 * @n_dims: how many dimensions it has
 *
 * What a text of indices takes from a tensor, worked out before a byte of it is touched.
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
 * @shape: (array length=n_dims): its shape, whose size in bytes has been found to fit in memory
 * @n_dims: how many dimensions it has
 * @indices: as in apr_tensor_slice()
 * @error: return location for an error
 */
AprSlice *
apr_slice_new (AprDType dtype, const gsize *shape, gsize n_dims, const char *indices, GError **error);

void apr_slice_free (AprSlice *self);

/* The slice of a tensor of which @bytes is just what is between @begin and @end: the same bytes if it is one piece. */
AprTensor *apr_slice_take (const AprSlice *self, GBytes *bytes, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSlice, apr_slice_free)

G_END_DECLS
