/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* What every estimator asks of its arguments: of any dtype that is a number. */

gboolean apr_estimator_check_x (AprTensor *x, gsize *n_samples, gsize *n_features, GError **error);

/* That there is a y: a table whose targets nobody has named has none, and NULL arrives here. */
gboolean apr_estimator_check_y (AprTensor *y, GError **error);

/* Of a vector, or a matrix. */
gsize apr_estimator_count_targets (AprTensor *y);

gboolean apr_estimator_check_samples (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error);

/* The same, and that there are any. */
gboolean apr_estimator_check_fit (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error);

/* The same of samples that come beside others: there may be none, as in a batch of a stream from which a filter took
 * all rows away. */
gboolean apr_estimator_check_more (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error);

/* What a model of such data is computed in: F32 for F16, BF16 and F32, else F64. */
AprDType apr_estimator_choose_dtype (AprDType x);

/* Of a tensor of numbers: the message says where. */
gboolean apr_estimator_check_finite (const char *name, AprTensor *tensor, GError **error);

/* That the class @type_name gave a prediction for each sample, and for each of @n_targets, or of @n_now, since a model
 * may be fitted to others while it predicts. */
gboolean apr_estimator_check_predictions (
  const char *type_name, AprTensor *x, gsize n_targets, gsize n_now, AprTensor *predictions, GError **error);

G_END_DECLS
