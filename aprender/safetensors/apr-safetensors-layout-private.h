/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/tensor/apr-dtype.h"

G_BEGIN_DECLS

/* The default alignment of the data, which is that of the reference */
#define APR_SAFETENSORS_DEFAULT_ALIGNMENT 8
#define APR_SAFETENSORS_MAX_ALIGNMENT 4096

/* Whether an item's stream can be read */
typedef enum
{
  APR_SAFETENSORS_STREAM_FREE,
  APR_SAFETENSORS_STREAM_BUSY,
  APR_SAFETENSORS_STREAM_SPENT,
} AprSafetensorsStreamState;

/*
 * AprSafetensorsItem:
 * @name: the tensor's name
 * @dtype: its dtype
 * @size: the size of its data in bytes
 * @bytes: (nullable): the data
 * @stream: (nullable): otherwise a stream that supplies the data
 * @start: the position in the stream where they begin, or -1 if the stream cannot seek
 * @stream_state: (atomic): an #AprSafetensorsStreamState
 * @n_dims: the number of dimensions
 * @shape: the shape
 *
 * A tensor to write, ref-counted. Nothing but the state ever changes, so an asynchronous write can share it with the
 * writer. Without bytes and stream, the writer's data function supplies the data.
 */
typedef struct
{
  char *name;
  AprDType dtype;
  gsize size;
  GBytes *bytes;
  GInputStream *stream;
  goffset start;
  int stream_state;
  gsize n_dims;
  gsize shape[];
} AprSafetensorsItem;

AprSafetensorsItem *
apr_safetensors_item_new (const char *name, AprDType dtype, const gsize *shape, gsize n_dims, gsize size);

AprSafetensorsItem *apr_safetensors_item_copy (const AprSafetensorsItem *self);

void apr_safetensors_item_unref (AprSafetensorsItem *self);

/*
 * AprSafetensorsLayout:
 * @header: everything before the data, including the length of the header
 * @items: (element-type AprSafetensorsItem): the tensors, in the order of their data
 * @size: the size of the whole file
 *
 * The contents of a file.
 */
typedef struct
{
  GString *header;
  GPtrArray *items;
  guint64 size;
} AprSafetensorsLayout;

/*
 * apr_safetensors_layout_new:
 * @items: (transfer full) (element-type AprSafetensorsItem): the tensors, sorted
 * @metadata: (element-type utf8 utf8): the strings of `__metadata__`
 * @alignment: the alignment of the data
 * @error: return location for an error
 *
 * Computes the offsets of the tensors, and makes the header.
 */
AprSafetensorsLayout *
apr_safetensors_layout_new (GPtrArray *items, GHashTable *metadata, guint alignment, GError **error);

void apr_safetensors_layout_free (AprSafetensorsLayout *self);

/* Sorts items as the reference does: by descending dtype, then by the bytes of the name. */
void apr_safetensors_sort_items (GPtrArray *items);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsItem, apr_safetensors_item_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsLayout, apr_safetensors_layout_free)

G_END_DECLS
