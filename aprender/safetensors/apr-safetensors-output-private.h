/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/safetensors/apr-atomic-file-private.h"

G_BEGIN_DECLS

/*
 * AprSafetensorsOutput:
 * @file: (owned) (nullable): a local file that is being replaced
 * @stream: (owned) (nullable): a stream
 * @memory: (nullable): where in memory the next byte goes
 * @display: (owned) (nullable): a file's path or URI, for messages
 * @is_file: whether the stream stands for a file, which a commit puts in its place
 *
 * Where a write goes to: a local file, another file, a caller's stream, or memory. Make one with an
 * initializer or with one of the functions that open; to clear a file that is not committed is to give it up.
 */
typedef struct
{
  AprAtomicFile *file;
  GOutputStream *stream;
  guint8 *memory;
  char *display;
  gboolean is_file;
} AprSafetensorsOutput;

/* Puts the file's name before the message. */
void apr_safetensors_prefix_file (GFile *file, GError **error);
void apr_safetensors_prefix_path (const char *path, GError **error);

gboolean apr_safetensors_output_open_path (AprSafetensorsOutput *self, const char *path, GError **error);

gboolean apr_safetensors_output_open_file (AprSafetensorsOutput *self,
                                           GFile *file,
                                           GCancellable *cancellable,
                                           GError **error);

gboolean apr_safetensors_output_write (AprSafetensorsOutput *self,
                                       const GOutputVector *pieces,
                                       gsize n_pieces,
                                       GCancellable *cancellable,
                                       GError **error);

/* Ends the writing of a file that is committed later, after @neighbour. */
gboolean apr_safetensors_output_finish (AprSafetensorsOutput *self,
                                        const AprSafetensorsOutput *neighbour,
                                        gboolean durable,
                                        GError **error);

gboolean apr_safetensors_output_commit (AprSafetensorsOutput *self,
                                        gboolean durable,
                                        GCancellable *cancellable,
                                        GError **error);

void apr_safetensors_output_clear (AprSafetensorsOutput *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprSafetensorsOutput, apr_safetensors_output_clear)

G_END_DECLS
