/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/safetensors/apr-safetensors-error.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_SAFETENSORS_WRITER (apr_safetensors_writer_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprSafetensorsWriter, apr_safetensors_writer, APR, SAFETENSORS_WRITER, GObject)

APR_AVAILABLE_IN_ALL
AprSafetensorsWriter *apr_safetensors_writer_new (void) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_add_tensor (AprSafetensorsWriter *self,
                                            const char *name,
                                            AprTensor *tensor,
                                            GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_set_metadata (AprSafetensorsWriter *self,
                                              const char *key,
                                              const char *value,
                                              GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_to_file (AprSafetensorsWriter *self,
                                               GFile *file,
                                               GCancellable *cancellable,
                                               GError **error);

APR_AVAILABLE_IN_ALL
gboolean
apr_safetensors_writer_write_to_path (AprSafetensorsWriter *self, const char *path, GError **error);

APR_AVAILABLE_IN_ALL
GBytes *apr_safetensors_writer_write_to_bytes (AprSafetensorsWriter *self,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
