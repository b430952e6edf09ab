/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/tensor/apr-dtype.h"

G_BEGIN_DECLS

/* Where the data begin unless somebody wants it otherwise, as the reference has it. */
#define APR_SAFETENSORS_DEFAULT_ALIGNMENT 8
#define APR_SAFETENSORS_MAX_ALIGNMENT 4096

/* Whether an item's stream may be read. */
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
 * @size: how many bytes it takes
 * @bytes: (nullable): the bytes themselves
 * @stream: (nullable): what gives the bytes when it is read
 * @start: where in the stream they begin, or -1 if the stream cannot go back
 * @stream_state: (atomic): a #AprSafetensorsStreamState
 * @n_dims: how many dimensions there are
 * @shape: the shape
 *
 * A tensor that is to be written, ref-counted. All but the state never changes, so that a write in another
 * thread may share it with the writer. Without bytes and stream the writer's function is asked.
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
 * @header: the file's first bytes, up to where the data begin
 * @items: (element-type AprSafetensorsItem): the tensors, in the order of their data
 * @size: the whole file's size
 *
 * What a file consists of.
 */
typedef struct
{
  GString *header;
  GPtrArray *items;
  guint64 size;
} AprSafetensorsLayout;

/*
 * apr_safetensors_layout_new:
 * @items: (transfer full) (element-type AprSafetensorsItem): the tensors, in the reference's order
 * @metadata: (element-type utf8 utf8): the strings of `__metadata__`
 * @alignment: the data are to begin at a multiple of it
 * @error: return location for an error
 *
 * Gives each tensor its place and makes the header.
 */
AprSafetensorsLayout *
apr_safetensors_layout_new (GPtrArray *items, GHashTable *metadata, guint alignment, GError **error);

void apr_safetensors_layout_free (AprSafetensorsLayout *self);

/* Sorts items as the reference does: by dtype downwards, then by the bytes of the name. */
void apr_safetensors_sort_items (GPtrArray *items);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsItem, apr_safetensors_item_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsLayout, apr_safetensors_layout_free)

G_END_DECLS
