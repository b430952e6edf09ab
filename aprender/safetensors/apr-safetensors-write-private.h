/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-writer-private.h"

G_BEGIN_DECLS

/* The layout of the writer's one file, and the job of writing it. */
AprSafetensorsLayout *
apr_safetensors_write_prepare (AprSafetensorsWriter *self, AprSafetensorsJob *job, GError **error);

/* Writes to a file and puts it in its place. */
gboolean apr_safetensors_write_file (AprSafetensorsJob *job,
                                     AprSafetensorsLayout *layout,
                                     GFile *file,
                                     GCancellable *cancellable,
                                     GError **error);

/* Writes to a stream, which stays open. */
gboolean apr_safetensors_write_stream (AprSafetensorsJob *job,
                                       AprSafetensorsLayout *layout,
                                       GOutputStream *stream,
                                       GCancellable *cancellable,
                                       GError **error);

/* Writes to memory. */
GBytes *apr_safetensors_write_bytes (AprSafetensorsJob *job,
                                     AprSafetensorsLayout *layout,
                                     GCancellable *cancellable,
                                     GError **error);

G_END_DECLS
