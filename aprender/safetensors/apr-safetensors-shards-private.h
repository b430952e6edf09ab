/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-writer-private.h"

G_BEGIN_DECLS

/*
 * AprSafetensorsShards:
 *
 * One write to several files and an index of them: a snapshot of the writer, laid out.
 */
typedef struct _AprSafetensorsShards AprSafetensorsShards;

/*
 * apr_safetensors_shards_new:
 * @writer: what to write
 * @job: the job, to which the size of all files is added
 * @folder: the folder to write to
 * @prefix: what the files' names begin with
 * @max_shard_size: how many bytes of tensors a file may have
 * @error: return location for an error
 *
 * Lays out the files, and finds everything that can be wrong before a byte is written.
 */
AprSafetensorsShards *apr_safetensors_shards_new (AprSafetensorsWriter *writer,
                                                  AprSafetensorsJob *job,
                                                  GFile *folder,
                                                  const char *prefix,
                                                  guint64 max_shard_size,
                                                  GError **error);

void apr_safetensors_shards_free (AprSafetensorsShards *self);

/* Writes the files and the index, once. */
gboolean apr_safetensors_shards_write (AprSafetensorsShards *self,
                                       AprSafetensorsJob *job,
                                       GCancellable *cancellable,
                                       GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsShards, apr_safetensors_shards_free)

G_END_DECLS
