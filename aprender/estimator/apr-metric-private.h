/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-double-double-private.h"
#include "aprender/estimator/apr-metrics.h"

G_BEGIN_DECLS

/* The elements of a tensor, read as doubles. */
typedef struct
{
  AprDType dtype;
  const guint8 *data;
  const float *floats;   /* (unowned) (nullable) the same, where they are floats */
  const double *doubles; /* (unowned) (nullable) the same, where they are doubles */
} AprMetricValues;

/* One target of the data. */
typedef struct
{
  AprMetricValues y_true;
  AprMetricValues y_pred;
  AprMetricValues weights; /* without data where there are none */
  double weight_scale;
  gsize n_samples;
  gsize n_targets;
  gsize target;
  gint shift; /* the exponent of what the values are multiplied by, so that their differences are finite */
} AprMetricData;

/* value 2^exponent */
typedef struct
{
  AprDoubleDouble value;
  gint exponent;
} AprMetricMean;

/* Checks the data, where errors call @y_true and @y_pred by @names; a target is to be set next. */
gboolean apr_metric_data_init (AprMetricData *data,
                               const char *const names[2],
                               AprTensor *y_true,
                               AprTensor *y_pred,
                               AprTensor *sample_weight,
                               GError **error);

void apr_metric_data_set_target (AprMetricData *data, gsize target);

/* The metric of the target. Fails where cancelled, and where there is no memory. */
gboolean
apr_metric_compute (const AprMetricData *data, AprMetric metric, AprDoubleDouble *value, GError **error);

/* The variance of the target, by weight. */
AprMetricMean apr_metric_get_variance (const AprMetricData *data);

/* The mean of R² over the targets, of which errors speak as y, and as of the model's predictions. */
double apr_metric_score (AprTensor *y, AprTensor *predictions, AprTensor *sample_weight, GError **error);

/* The mean of some values by @weights, of which the greatest is 1, or the plain one where that is %NULL; the first
 * value that is not finite, where there is one. */
double apr_metric_average (const AprDoubleDouble *values, const AprDoubleDouble *weights, gsize n);

/* Of all targets. */
double apr_metric_get_max_error (const AprMetricData *data);

G_END_DECLS
