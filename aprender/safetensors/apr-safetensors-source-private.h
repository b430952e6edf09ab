/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"

G_BEGIN_DECLS

/*
 * AprSafetensorsSource:
 * @header: the header, parsed and checked
 * @name: (nullable): the file's path or URI, or its name as a shard, for messages
 * @bytes: (nullable): the whole file, mapped or in memory
 * @fd: otherwise the open file, or -1
 * @stream: (nullable): otherwise a seekable stream
 * @lock: protects the position of @stream
 *
 * One valid file of tensors, and the way to its bytes. Any number of threads may use it at once.
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

/* Reads the stream to its end. Memory is allocated for what has arrived, not for what the header claims. */
AprSafetensorsSource *apr_safetensors_source_new_from_stream (GInputStream *stream,
                                                              guint64 max_header_size,
                                                              GCancellable *cancellable,
                                                              GError **error);

/* Takes the descriptor, which must be of a regular file. */
AprSafetensorsSource *apr_safetensors_source_new_from_fd (int fd,
                                                          const char *name,
                                                          AprSafetensorsLoadMode load_mode,
                                                          guint64 max_header_size,
                                                          GCancellable *cancellable,
                                                          GError **error);

/* For a file that is not local. Only errors of later reads begin with @name, here and above. */
AprSafetensorsSource *apr_safetensors_source_new_from_file (GFile *file,
                                                            const char *name,
                                                            AprSafetensorsLoadMode load_mode,
                                                            guint64 max_header_size,
                                                            GCancellable *cancellable,
                                                            GError **error);

void apr_safetensors_source_free (AprSafetensorsSource *self);

/* Gets the bytes of a tensor from @begin up to @end, counted from the tensor's first byte. */
GBytes *apr_safetensors_source_read (
  AprSafetensorsSource *self, const AprSafetensorsEntry *entry, gsize begin, gsize end, GError **error);

/* Opens a regular file. Does not wait for a writer if it is a FIFO. @flags can be O_NOFOLLOW. */
int apr_safetensors_open_regular (const char *path, int flags, GError **error);

/* Reads all of @stream, which must not have more than @limit bytes. */
GBytes *
apr_safetensors_load_stream (GInputStream *stream, guint64 limit, GCancellable *cancellable, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsSource, apr_safetensors_source_free)

G_END_DECLS
