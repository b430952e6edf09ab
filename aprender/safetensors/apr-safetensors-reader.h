/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/safetensors/apr-safetensors-error.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_SAFETENSORS_LOAD_MODE (apr_safetensors_load_mode_get_type ())

/**
 * AprSafetensorsLoadMode:
 * @APR_SAFETENSORS_LOAD_MODE_MAP: map a local file into memory, so that tensors are not copied
 * @APR_SAFETENSORS_LOAD_MODE_READ: keep the file open and read each tensor when it is asked for. Suits network file
 *   systems, and files that may be truncated while they are in use
 *
 * How a reader reads the tensors of a file.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_SAFETENSORS_LOAD_MODE_MAP,
  APR_SAFETENSORS_LOAD_MODE_READ,
} AprSafetensorsLoadMode;

APR_AVAILABLE_IN_ALL
GType apr_safetensors_load_mode_get_type (void);

#define APR_TYPE_SAFETENSORS_READER (apr_safetensors_reader_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprSafetensorsReader, apr_safetensors_reader, APR, SAFETENSORS_READER, GObject)

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *
apr_safetensors_reader_new_from_file (GFile *file, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *
apr_safetensors_reader_new_from_path (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *
apr_safetensors_reader_new_from_bytes (GBytes *bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *
apr_safetensors_reader_new_from_stream (GInputStream *stream, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_safetensors_reader_new_from_file_async (
  GFile *file, int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

APR_AVAILABLE_IN_ALL
AprSafetensorsReader *
apr_safetensors_reader_new_from_file_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
const char *const *apr_safetensors_reader_get_names (AprSafetensorsReader *self);

APR_AVAILABLE_IN_ALL
const char *const *apr_safetensors_reader_get_names_in_file_order (AprSafetensorsReader *self);

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
guint64 apr_safetensors_reader_get_size (AprSafetensorsReader *self, const char *name, GError **error);

APR_AVAILABLE_IN_ALL
guint64 apr_safetensors_reader_get_offset (AprSafetensorsReader *self, const char *name, GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *apr_safetensors_reader_get_tensor (AprSafetensorsReader *self, const char *name, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_safetensors_reader_get_slice (AprSafetensorsReader *self,
                                             const char *name,
                                             const char *indices,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_safetensors_reader_get_tensor_async (AprSafetensorsReader *self,
                                              const char *name,
                                              int io_priority,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_safetensors_reader_get_tensor_finish (AprSafetensorsReader *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_safetensors_reader_get_slice_async (AprSafetensorsReader *self,
                                             const char *name,
                                             const char *indices,
                                             int io_priority,
                                             GCancellable *cancellable,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_safetensors_reader_get_slice_finish (AprSafetensorsReader *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
GHashTable *apr_safetensors_reader_get_metadata (AprSafetensorsReader *self);

APR_AVAILABLE_IN_ALL
const char *const *apr_safetensors_reader_get_metadata_keys (AprSafetensorsReader *self);

G_END_DECLS
