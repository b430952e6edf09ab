/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

APR_AVAILABLE_IN_ALL
double apr_r2_score (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double
apr_explained_variance_score (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double
apr_mean_squared_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double
apr_root_mean_squared_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double
apr_mean_absolute_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double apr_max_error (AprTensor *y_true, AprTensor *y_pred, GError **error);

G_END_DECLS
