/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/tensor/apr-tensor.h>
#include <gio/gio.h>

G_BEGIN_DECLS

#define APR_TYPE_METRIC (apr_metric_get_type ())

/**
 * AprMetric:
 * @APR_METRIC_R2: the coefficient of determination
 * @APR_METRIC_EXPLAINED_VARIANCE: the part of the variance that is explained
 * @APR_METRIC_MEAN_SQUARED_ERROR: the mean of the squared errors
 * @APR_METRIC_ROOT_MEAN_SQUARED_ERROR: its root
 * @APR_METRIC_MEAN_ABSOLUTE_ERROR: the mean of the errors' magnitudes
 * @APR_METRIC_MEAN_ABSOLUTE_PERCENTAGE_ERROR: the mean of the errors' magnitudes by the targets'
 * @APR_METRIC_MEDIAN_ABSOLUTE_ERROR: the median of the errors' magnitudes
 * @APR_METRIC_MAX_ERROR: the greatest of the errors' magnitudes; samples of the weight 0 do not count
 *
 * How good predictions are: what [func@Apr.compute_metric] computes of each target.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_METRIC_R2,
  APR_METRIC_EXPLAINED_VARIANCE,
  APR_METRIC_MEAN_SQUARED_ERROR,
  APR_METRIC_ROOT_MEAN_SQUARED_ERROR,
  APR_METRIC_MEAN_ABSOLUTE_ERROR,
  APR_METRIC_MEAN_ABSOLUTE_PERCENTAGE_ERROR,
  APR_METRIC_MEDIAN_ABSOLUTE_ERROR,
  APR_METRIC_MAX_ERROR,
} AprMetric;

APR_AVAILABLE_IN_ALL
GType apr_metric_get_type (void);

#define APR_TYPE_MULTIOUTPUT (apr_multioutput_get_type ())

/**
 * AprMultioutput:
 * @APR_MULTIOUTPUT_UNIFORM_AVERAGE: their mean
 * @APR_MULTIOUTPUT_RAW_VALUES: one for each target
 * @APR_MULTIOUTPUT_VARIANCE_WEIGHTED: their mean, weighted by the variances of the targets
 *
 * How the values of several targets become the result of a metric, as scikit-learn calls it.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_MULTIOUTPUT_UNIFORM_AVERAGE,
  APR_MULTIOUTPUT_RAW_VALUES,
  APR_MULTIOUTPUT_VARIANCE_WEIGHTED,
} AprMultioutput;

APR_AVAILABLE_IN_ALL
GType apr_multioutput_get_type (void);

APR_AVAILABLE_IN_ALL
AprTensor *apr_compute_metric (AprMetric metric,
                               AprMultioutput multioutput,
                               AprTensor *y_true,
                               AprTensor *y_pred,
                               AprTensor *sample_weight,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_compute_metric_async (AprMetric metric,
                               AprMultioutput multioutput,
                               AprTensor *y_true,
                               AprTensor *y_pred,
                               AprTensor *sample_weight,
                               int io_priority,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *apr_compute_metric_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

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
double apr_mean_absolute_percentage_error (AprTensor *y_true,
                                           AprTensor *y_pred,
                                           AprTensor *sample_weight,
                                           GError **error);

APR_AVAILABLE_IN_ALL
double
apr_median_absolute_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
double apr_max_error (AprTensor *y_true, AprTensor *y_pred, GError **error);

G_END_DECLS
