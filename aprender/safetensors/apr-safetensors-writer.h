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

/**
 * AprSafetensorsDataFunc:
 * @writer: the writer
 * @name: the name of a declared tensor
 * @offset: the offset in the tensor's data, in bytes
 * @size: the maximum number of bytes to return, at least one
 * @user_data: the data given to [method@Apr.SafetensorsWriter.set_data_func]
 * @error: return location for an error
 *
 * Supplies some of a tensor's data while it is written.
 *
 * It is called for each tensor from the first byte to the last. It may return fewer bytes than @size, and is then
 * called again for the rest. Returning no bytes means that there are no more, which makes the write fail.
 *
 * Returns: (transfer full) (nullable): from one to @size bytes, or `NULL` with an error
 *
 * Since: 0.1
 */
typedef GBytes *(*AprSafetensorsDataFunc) (AprSafetensorsWriter *writer,
                                           const char *name,
                                           guint64 offset,
                                           gsize size,
                                           gpointer user_data,
                                           GError **error);

APR_AVAILABLE_IN_ALL
AprSafetensorsWriter *apr_safetensors_writer_new (void) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
guint apr_safetensors_writer_get_alignment (AprSafetensorsWriter *self);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_set_alignment (AprSafetensorsWriter *self, guint alignment);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_get_durable (AprSafetensorsWriter *self);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_set_durable (AprSafetensorsWriter *self, gboolean durable);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_get_portable (AprSafetensorsWriter *self);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_set_portable (AprSafetensorsWriter *self, gboolean portable);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_add_tensor (AprSafetensorsWriter *self,
                                            const char *name,
                                            AprTensor *tensor,
                                            GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_declare_tensor (AprSafetensorsWriter *self,
                                                const char *name,
                                                AprDType dtype,
                                                const gsize *shape,
                                                gsize n_dims,
                                                GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_set_source_bytes (AprSafetensorsWriter *self,
                                                  const char *name,
                                                  GBytes *bytes,
                                                  GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_set_source_stream (AprSafetensorsWriter *self,
                                                   const char *name,
                                                   GInputStream *stream,
                                                   GError **error);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_set_data_func (AprSafetensorsWriter *self,
                                           AprSafetensorsDataFunc function,
                                           gpointer user_data,
                                           GDestroyNotify destroy);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_set_progress_func (AprSafetensorsWriter *self,
                                               GFileProgressCallback function,
                                               gpointer user_data,
                                               GDestroyNotify destroy);

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
void apr_safetensors_writer_write_to_file_async (AprSafetensorsWriter *self,
                                                 GFile *file,
                                                 int io_priority,
                                                 GCancellable *cancellable,
                                                 GAsyncReadyCallback callback,
                                                 gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_to_file_finish (AprSafetensorsWriter *self,
                                                      GAsyncResult *result,
                                                      GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_to_path (AprSafetensorsWriter *self, const char *path, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_to_stream (AprSafetensorsWriter *self,
                                                 GOutputStream *stream,
                                                 GCancellable *cancellable,
                                                 GError **error);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_write_to_stream_async (AprSafetensorsWriter *self,
                                                   GOutputStream *stream,
                                                   int io_priority,
                                                   GCancellable *cancellable,
                                                   GAsyncReadyCallback callback,
                                                   gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_to_stream_finish (AprSafetensorsWriter *self,
                                                        GAsyncResult *result,
                                                        GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_writer_write_shards (AprSafetensorsWriter *self,
                                              GFile *folder,
                                              const char *prefix,
                                              guint64 max_shard_size,
                                              GCancellable *cancellable,
                                              GError **error);

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_write_shards_async (AprSafetensorsWriter *self,
                                                GFile *folder,
                                                const char *prefix,
                                                guint64 max_shard_size,
                                                int io_priority,
                                                GCancellable *cancellable,
                                                GAsyncReadyCallback callback,
                                                gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean
apr_safetensors_writer_write_shards_finish (AprSafetensorsWriter *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
GBytes *
apr_safetensors_writer_write_to_bytes (AprSafetensorsWriter *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_safetensors_writer_write_to_bytes_async (AprSafetensorsWriter *self,
                                                  int io_priority,
                                                  GCancellable *cancellable,
                                                  GAsyncReadyCallback callback,
                                                  gpointer user_data);

APR_AVAILABLE_IN_ALL
GBytes *apr_safetensors_writer_write_to_bytes_finish (AprSafetensorsWriter *self,
                                                      GAsyncResult *result,
                                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
