/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"

G_BEGIN_DECLS

/*
 * AprSafetensorsSource:
 * @header: what the file's header says; valid
 * @name: (nullable): the file's path, URI or name as a shard, for messages
 * @bytes: (nullable): the whole file, mapped or in memory
 * @fd: or else the open file, or -1
 * @stream: (nullable): or else what can be read from where it is sought
 * @lock: held while somebody moves @stream
 *
 * One file of tensors, and the way to its bytes. Once made, it may be used from several threads.
 */
typedef struct
{
  AprSafetensorsHeader *header;
  char *name;
  GBytes *bytes;
  int fd;
  GInputStream *stream;
  GMutex lock;
} AprSafetensorsSource;

AprSafetensorsSource *
apr_safetensors_source_new_from_bytes (GBytes *bytes, guint64 max_header_size, GError **error);

/* Reads to the end; the memory that it takes grows with what arrives. */
AprSafetensorsSource *apr_safetensors_source_new_from_stream (GInputStream *stream,
                                                              guint64 max_header_size,
                                                              GCancellable *cancellable,
                                                              GError **error);

/* Takes the descriptor, of a regular file. */
AprSafetensorsSource *apr_safetensors_source_new_from_fd (int fd,
                                                          const char *name,
                                                          AprSafetensorsLoadMode load_mode,
                                                          guint64 max_header_size,
                                                          GCancellable *cancellable,
                                                          GError **error);

/* Of a file that is not local. Messages do not begin with its name here and above, but when it is read later. */
AprSafetensorsSource *apr_safetensors_source_new_from_file (GFile *file,
                                                            const char *name,
                                                            AprSafetensorsLoadMode load_mode,
                                                            guint64 max_header_size,
                                                            GCancellable *cancellable,
                                                            GError **error);

void apr_safetensors_source_free (AprSafetensorsSource *self);

/* The bytes of a tensor from @begin up to @end, counted from its own first one. */
GBytes *apr_safetensors_source_read (
  AprSafetensorsSource *self, const AprSafetensorsEntry *entry, gsize begin, gsize end, GError **error);

/* Opens a regular file without waiting for a writer where it turns out to be a FIFO; @flags may be O_NOFOLLOW. */
int apr_safetensors_open_regular (const char *path, int flags, GError **error);

/* The whole of what @stream brings, unless that is more than @limit. */
GBytes *
apr_safetensors_load_stream (GInputStream *stream, guint64 limit, GCancellable *cancellable, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsSource, apr_safetensors_source_free)

G_END_DECLS
