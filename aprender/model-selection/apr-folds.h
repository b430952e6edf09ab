/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/cross-products/apr-cross-products.h>
#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_FOLDS (apr_folds_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprFolds, apr_folds, APR, FOLDS, GObject)

APR_AVAILABLE_IN_ALL
AprFolds *apr_folds_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight, gsize n_folds, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprFolds *apr_folds_new_shuffled (
  AprTensor *x, AprTensor *y, AprTensor *sample_weight, gsize n_folds, guint64 seed, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprFolds *apr_folds_new_from_labels (AprTensor *x,
                                     AprTensor *y,
                                     AprTensor *sample_weight,
                                     AprTensor *labels,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprFolds *apr_folds_new_from_cross_products (AprCrossProducts **states, gsize n_states, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gsize apr_folds_get_n_folds (AprFolds *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_folds_get_labels (AprFolds *self);

G_END_DECLS
