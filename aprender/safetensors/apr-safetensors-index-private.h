/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-source-private.h"

G_BEGIN_DECLS

/* What the name of an index of shards ends with. */
#define APR_SAFETENSORS_INDEX_SUFFIX ".index.json"

/* More shards than any checkpoint has; each costs a mapping or an open file. */
#define APR_SAFETENSORS_MAX_SHARDS 10000

/*
 * apr_safetensors_index_find_fault:
 * @name: a shard's name
 * @length: its length in bytes
 *
 * Finds out whether a shard may have the name. It must be one plain component of a path on every system: the name
 * comes with the checkpoint, and opening what it says must not reach anything that did not.
 *
 * Returns: (nullable): why it is refused
 */
const char *apr_safetensors_index_find_fault (const char *name, gsize length);

/*
 * AprSafetensorsIndex:
 * @files: the names of the shards, in the order in which the text has them first
 * @owners: from each tensor's name to the number of its shard in @files
 * @has_total_size: whether the index says how large all tensors are together
 * @total_size: what it says
 *
 * The text of an index, found well-formed. The shards have not been seen.
 */
typedef struct
{
  GPtrArray *files;
  GHashTable *owners;
  gboolean has_total_size;
  guint64 total_size;
} AprSafetensorsIndex;

AprSafetensorsIndex *apr_safetensors_index_parse (const char *text, gsize length, GError **error);

void apr_safetensors_index_free (AprSafetensorsIndex *self);

/*
 * apr_safetensors_index_open:
 * @file: the index
 * @path: (nullable): its path, if it is local
 * @load_mode: how to get at the shards' bytes
 * @max_header_size: the limit for each shard's header, and for the index itself
 * @cancellable: (nullable): a cancellable
 * @sources: where the shards are added, sorted by their names
 * @owners: (out): from each tensor's name to the source that has it
 * @error: return location for an error
 *
 * Opens all shards of an index, and checks that they and the index agree.
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
