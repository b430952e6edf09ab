/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_TABLE_READER (apr_table_reader_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprTableReader, apr_table_reader, APR, TABLE_READER, GObject)

APR_AVAILABLE_IN_ALL
AprTableReader *apr_table_reader_new (GInputStream *stream, const char *name) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTableReader *apr_table_reader_new_for_file (GFile *file, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
const char *apr_table_reader_get_name (AprTableReader *self);

APR_AVAILABLE_IN_ALL
const char *apr_table_reader_get_delimiter (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_delimiter (AprTableReader *self, const char *delimiter);

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_get_decimal_comma (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_decimal_comma (AprTableReader *self, gboolean decimal_comma);

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_get_drop_missing (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_drop_missing (AprTableReader *self, gboolean drop_missing);

APR_AVAILABLE_IN_ALL
guint apr_table_reader_get_n_threads (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_n_threads (AprTableReader *self, guint n_threads);

APR_AVAILABLE_IN_ALL
const char *const *apr_table_reader_get_features (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_features (AprTableReader *self, const char *const *features);

APR_AVAILABLE_IN_ALL
const char *const *apr_table_reader_get_targets (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_targets (AprTableReader *self, const char *const *targets);

APR_AVAILABLE_IN_ALL
const char *apr_table_reader_get_weight (AprTableReader *self);

APR_AVAILABLE_IN_ALL
void apr_table_reader_set_weight (AprTableReader *self, const char *weight);

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_read_names (AprTableReader *self, GCancellable *cancellable, GError **error);

APR_AVAILABLE_IN_ALL
void apr_table_reader_read_names_async (AprTableReader *self,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_read_names_finish (AprTableReader *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
const char *const *apr_table_reader_get_names (AprTableReader *self);

APR_AVAILABLE_IN_ALL
char **apr_table_reader_peek_cells (AprTableReader *self, guint64 max_rows) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
char **apr_table_reader_read_categories (AprTableReader *self,
                                         const char *const *columns,
                                         GCancellable *cancellable,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_table_reader_read_categories_async (AprTableReader *self,
                                             const char *const *columns,
                                             int io_priority,
                                             GCancellable *cancellable,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data);

APR_AVAILABLE_IN_ALL
char **apr_table_reader_read_categories_finish (AprTableReader *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_read (AprTableReader *self,
                                AprTensor **x,
                                AprTensor **y,
                                AprTensor **sample_weight,
                                GCancellable *cancellable,
                                GError **error);

APR_AVAILABLE_IN_ALL
void apr_table_reader_read_async (AprTableReader *self,
                                  int io_priority,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_table_reader_read_finish (AprTableReader *self,
                                       GAsyncResult *result,
                                       AprTensor **x,
                                       AprTensor **y,
                                       AprTensor **sample_weight,
                                       GError **error);

APR_AVAILABLE_IN_ALL
guint64 apr_table_reader_get_n_rows (AprTableReader *self);

APR_AVAILABLE_IN_ALL
guint64 apr_table_reader_get_n_dropped (AprTableReader *self);

APR_AVAILABLE_IN_ALL
guint64 apr_table_reader_get_n_missing (AprTableReader *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_table_reader_get_row_numbers (AprTableReader *self);

APR_AVAILABLE_IN_ALL
guint64 apr_table_reader_get_n_bytes (AprTableReader *self);

APR_AVAILABLE_IN_ALL
double apr_table_reader_get_progress (AprTableReader *self);

G_END_DECLS
