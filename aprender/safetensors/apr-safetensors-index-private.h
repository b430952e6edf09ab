/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-source-private.h"

G_BEGIN_DECLS

/* The suffix of an index of shards */
#define APR_SAFETENSORS_INDEX_SUFFIX ".index.json"

/* More than any checkpoint has; each shard costs a mapping or an open file. */
#define APR_SAFETENSORS_MAX_SHARDS 10000

/*
 * apr_safetensors_index_find_fault:
 * @name: a shard's name
 * @length: its length in bytes
 *
 * Checks the name of a shard. It must be a single plain path component on every system: the name comes with the
 * checkpoint, and must not make us open a file that did not.
 *
 * Returns: (nullable): why it is refused
 */
const char *apr_safetensors_index_find_fault (const char *name, gsize length);

/*
 * AprSafetensorsIndex:
 * @files: the names of the shards, in the order of their first occurrence
 * @owners: from the name of each tensor to the index of its shard in @files
 *
 * A parsed index. The shards have not been looked at yet.
 */
typedef struct
{
  GPtrArray *files;
  GHashTable *owners;
} AprSafetensorsIndex;

AprSafetensorsIndex *apr_safetensors_index_parse (const char *text, gsize length, GError **error);

void apr_safetensors_index_free (AprSafetensorsIndex *self);

/*
 * apr_safetensors_index_open:
 * @file: the index
 * @path: (nullable): its path, if it is local
 * @load_mode: how to read the shards
 * @max_header_size: the limit on each shard's header, and on the index itself
 * @cancellable: (nullable): a cancellable
 * @sources: an array to which the shards are added, sorted by name
 * @owners: (out): from the name of each tensor to its source
 * @error: return location for an error
 *
 * Opens all shards of an index, and checks that they match the index.
 */
gboolean apr_safetensors_index_open (GFile *file,
                                     const char *path,
                                     AprSafetensorsLoadMode load_mode,
                                     guint64 max_header_size,
                                     GCancellable *cancellable,
                                     GPtrArray *sources,
                                     GHashTable **owners,
                                     GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsIndex, apr_safetensors_index_free)

G_END_DECLS
