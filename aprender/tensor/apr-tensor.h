/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <gio/gio.h>

#include <aprender/tensor/apr-dtype.h>

G_BEGIN_DECLS

#define APR_TYPE_TENSOR (apr_tensor_get_type ())

typedef struct _AprTensor AprTensor;

APR_AVAILABLE_IN_ALL
GType apr_tensor_get_type (void);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_tensor_new_from_bytes (AprDType dtype, const gsize *shape, gsize n_dims, GBytes *bytes, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_new_from_floats (const float *values,
                                       gsize n_values,
                                       const gsize *shape,
                                       gsize n_dims,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_new_from_doubles (const double *values,
                                        gsize n_values,
                                        const gsize *shape,
                                        gsize n_dims,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_new_from_memory (AprDType dtype,
                                       const gsize *shape,
                                       gsize n_dims,
                                       gconstpointer memory,
                                       gsize size,
                                       GDestroyNotify release,
                                       gpointer user_data,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_ref (AprTensor *self);

APR_AVAILABLE_IN_ALL
void apr_tensor_unref (AprTensor *self);

APR_AVAILABLE_IN_ALL
void apr_tensor_get_memory (
  AprTensor *self, AprDType *dtype, const gsize **shape, gsize *n_dims, gconstpointer *memory, gsize *size);

APR_AVAILABLE_IN_ALL
AprDType apr_tensor_get_dtype (AprTensor *self);

APR_AVAILABLE_IN_ALL
const gsize *apr_tensor_get_shape (AprTensor *self, gsize *n_dims);

APR_AVAILABLE_IN_ALL
gsize apr_tensor_get_n_dims (AprTensor *self);

APR_AVAILABLE_IN_ALL
gsize apr_tensor_get_n_elements (AprTensor *self);

APR_AVAILABLE_IN_ALL
GBytes *apr_tensor_get_bytes (AprTensor *self);

APR_AVAILABLE_IN_ALL
const float *apr_tensor_get_floats (AprTensor *self, gsize *n_values, GError **error);

APR_AVAILABLE_IN_ALL
const double *apr_tensor_get_doubles (AprTensor *self, gsize *n_values, GError **error);

APR_AVAILABLE_IN_ALL
double apr_tensor_get_double (AprTensor *self, gsize index, GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_tensor_slice_rows (AprTensor *self, gsize start, gsize stop, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_slice (AprTensor *self, const char *indices, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprTensor *apr_tensor_cast (AprTensor *self, AprDType dtype, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_tensor_cast_async (AprTensor *self,
                            AprDType dtype,
                            int io_priority,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_tensor_cast_finish (AprTensor *self, GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_tensor_equal (AprTensor *self, AprTensor *other);

APR_AVAILABLE_IN_ALL
char *apr_tensor_to_string (AprTensor *self) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprTensor, apr_tensor_unref)

G_END_DECLS
