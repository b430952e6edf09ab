/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/safetensors/apr-safetensors-error.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_SAFETENSORS_READER (apr_safetensors_reader_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprSafetensorsReader, apr_safetensors_reader, APR, SAFETENSORS_READER, GObject)

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *apr_safetensors_reader_new_from_file (GFile *file,
                                                            GCancellable *cancellable,
                                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *apr_safetensors_reader_new_from_path (const char *path,
                                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *apr_safetensors_reader_new_from_bytes (GBytes *bytes,
                                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
const char *const *apr_safetensors_reader_get_names (AprSafetensorsReader *self);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_reader_has_tensor (AprSafetensorsReader *self, const char *name);

APR_AVAILABLE_IN_ALL
AprDType apr_safetensors_reader_get_dtype (AprSafetensorsReader *self, const char *name, GError **error);

APR_AVAILABLE_IN_ALL
const gsize *apr_safetensors_reader_get_shape (AprSafetensorsReader *self,
                                               const char *name,
                                               gsize *n_dims,
                                               GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *apr_safetensors_reader_get_tensor (AprSafetensorsReader *self,
                                              const char *name,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
GHashTable *apr_safetensors_reader_get_metadata (AprSafetensorsReader *self);

G_END_DECLS
