/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/exact-sums/apr-precision.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_CROSS_PRODUCTS (apr_cross_products_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprCrossProducts, apr_cross_products, APR, CROSS_PRODUCTS, GObject)

APR_AVAILABLE_IN_ALL
AprCrossProducts *
apr_cross_products_new (gsize n_features, gsize n_targets, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprCrossProducts *apr_cross_products_new_with_precision (gsize n_features,
                                                         gsize n_targets,
                                                         AprPrecision precision,
                                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprCrossProducts *apr_cross_products_load (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprCrossProducts *apr_cross_products_load_from_file (GFile *file, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_cross_products_load_from_file_async (
  GFile *file, int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

APR_AVAILABLE_IN_ALL
AprCrossProducts *
apr_cross_products_load_from_file_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprCrossProducts *apr_cross_products_from_bytes (GBytes *bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_cross_products_from_bytes_async (GBytes *bytes,
                                          int io_priority,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

APR_AVAILABLE_IN_ALL
AprCrossProducts *
apr_cross_products_from_bytes_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gsize apr_cross_products_get_n_features (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gsize apr_cross_products_get_n_targets (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
guint64 apr_cross_products_get_n_samples (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
AprPrecision apr_cross_products_get_precision (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
guint apr_cross_products_get_n_threads (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
void apr_cross_products_set_n_threads (AprCrossProducts *self, guint n_threads);

APR_AVAILABLE_IN_ALL
const char *const *apr_cross_products_get_feature_names (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_set_feature_names (AprCrossProducts *self,
                                               const char *const *feature_names,
                                               GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_check_feature_names (AprCrossProducts *self,
                                                 const char *const *feature_names,
                                                 GError **error);

APR_AVAILABLE_IN_ALL
const char *const *apr_cross_products_get_target_names (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gboolean
apr_cross_products_set_target_names (AprCrossProducts *self, const char *const *target_names, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_check_target_names (AprCrossProducts *self,
                                                const char *const *target_names,
                                                GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_set_identity (AprCrossProducts *self, const char *identity, GError **error);

APR_AVAILABLE_IN_ALL
const char *const *apr_cross_products_get_identities (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gsize apr_cross_products_get_n_bytes (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_update (AprCrossProducts *self,
                                    AprTensor *x,
                                    AprTensor *y,
                                    AprTensor *sample_weight,
                                    GCancellable *cancellable,
                                    GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_update_async (AprCrossProducts *self,
                                      AprTensor *x,
                                      AprTensor *y,
                                      AprTensor *sample_weight,
                                      int io_priority,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_update_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_update_arrow (AprCrossProducts *self,
                                          gpointer stream,
                                          const char *const *targets,
                                          const char *sample_weight,
                                          GCancellable *cancellable,
                                          GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_update_arrow_async (AprCrossProducts *self,
                                            gpointer stream,
                                            const char *const *targets,
                                            const char *sample_weight,
                                            int io_priority,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean
apr_cross_products_update_arrow_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_reserve (AprCrossProducts *self, GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_release (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
double apr_cross_products_get_progress (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_get_busy (AprCrossProducts *self);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_merge (AprCrossProducts *self, AprCrossProducts *other, GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_merge_async (AprCrossProducts *self,
                                     AprCrossProducts *other,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_merge_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_merge_bytes (AprCrossProducts *self, GBytes *bytes, GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_merge_bytes_async (AprCrossProducts *self,
                                           GBytes *bytes,
                                           int io_priority,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_merge_bytes_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_subtract (AprCrossProducts *self, AprCrossProducts *other, GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_subtract_async (AprCrossProducts *self,
                                        AprCrossProducts *other,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_subtract_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
AprCrossProducts *apr_cross_products_copy (AprCrossProducts *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_equal (AprCrossProducts *self, AprCrossProducts *other);

APR_AVAILABLE_IN_ALL
void apr_cross_products_equal_async (AprCrossProducts *self,
                                     AprCrossProducts *other,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_equal_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_save_to_file (AprCrossProducts *self,
                                          GFile *file,
                                          GCancellable *cancellable,
                                          GError **error);

APR_AVAILABLE_IN_ALL
void apr_cross_products_save_to_file_async (AprCrossProducts *self,
                                            GFile *file,
                                            int io_priority,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean
apr_cross_products_save_to_file_finish (AprCrossProducts *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
gboolean apr_cross_products_save (AprCrossProducts *self, const char *path, GError **error);

APR_AVAILABLE_IN_ALL
GBytes *apr_cross_products_to_bytes (AprCrossProducts *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_cross_products_to_bytes_async (AprCrossProducts *self,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);

APR_AVAILABLE_IN_ALL
GBytes *apr_cross_products_to_bytes_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
