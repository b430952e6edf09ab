/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/safetensors/apr-atomic-file-private.h"

G_BEGIN_DECLS

/*
 * AprSafetensorsOutput:
 * @file: (owned) (nullable): a local file
 * @stream: (owned) (nullable): a stream
 * @memory: (nullable): where the next byte goes in memory
 * @display: (owned) (nullable): the file's path or URI, for messages
 * @is_file: whether @stream writes a file that is not local
 *
 * The destination of a write: a local file, any other file, a caller's stream, or memory. Make one with an
 * initializer or with one of the functions that open a file. Clearing an uncommitted file discards it.
 */
typedef struct
{
  AprAtomicFile *file;
  GOutputStream *stream;
  guint8 *memory;
  char *display;
  gboolean is_file;
} AprSafetensorsOutput;

/* Prefix the error with the file's path or URI. */
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

/* Ends the writing of a file that is committed later, together with @neighbour. */
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
