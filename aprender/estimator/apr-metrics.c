/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-metric-private.h"

#include <math.h>

#include <gio/gio.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"

G_DEFINE_ENUM_TYPE (AprMetric,
                    apr_metric,
                    G_DEFINE_ENUM_VALUE (APR_METRIC_R2, "r2"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_EXPLAINED_VARIANCE, "explained-variance"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_MEAN_SQUARED_ERROR, "mean-squared-error"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_ROOT_MEAN_SQUARED_ERROR, "root-mean-squared-error"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_MEAN_ABSOLUTE_ERROR, "mean-absolute-error"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_MEAN_ABSOLUTE_PERCENTAGE_ERROR,
                                         "mean-absolute-percentage-error"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_MEDIAN_ABSOLUTE_ERROR, "median-absolute-error"),
                    G_DEFINE_ENUM_VALUE (APR_METRIC_MAX_ERROR, "max-error"))

G_DEFINE_ENUM_TYPE (AprMultioutput,
                    apr_multioutput,
                    G_DEFINE_ENUM_VALUE (APR_MULTIOUTPUT_UNIFORM_AVERAGE, "uniform_average"),
                    G_DEFINE_ENUM_VALUE (APR_MULTIOUTPUT_RAW_VALUES, "raw_values"),
                    G_DEFINE_ENUM_VALUE (APR_MULTIOUTPUT_VARIANCE_WEIGHTED, "variance_weighted"))

/* The weights of the targets: their variances by the greatest of them, or 1 where none varies. */
static gboolean
find_weights (AprMetricData *data, AprDoubleDouble *weights, GError **error)
{
  g_autofree AprMetricMean *variances =
    apr_memory_new (data->n_targets, sizeof *variances, "variances", error);
  gint max_exponent = G_MININT / 2;
  gsize i;

  if (variances == NULL)
    return FALSE;

  for (i = 0; i < data->n_targets; i++)
    {
      apr_metric_data_set_target (data, i);
      variances[i] = apr_metric_get_variance (data);
      if (variances[i].value.high > 0)
        max_exponent = MAX (max_exponent, variances[i].exponent);
    }
  for (i = 0; i < data->n_targets; i++)
    {
      const AprDoubleDouble *variance = &variances[i].value;
      gint shift = variances[i].exponent - max_exponent;

      weights[i] = max_exponent > G_MININT / 2
                   ? (AprDoubleDouble){ ldexp (variance->high, shift), ldexp (variance->low, shift) }
                   : (AprDoubleDouble){ 1, 0 };
    }

  return TRUE;
}

static gboolean
find_average (
  AprMetricData *data, AprMetric metric, AprMultioutput multioutput, double *average, GError **error)
{
  gboolean is_weighted = multioutput == APR_MULTIOUTPUT_VARIANCE_WEIGHTED;
  g_autofree AprDoubleDouble *values =
    apr_memory_new (data->n_targets, sizeof *values, "values of a metric", error);
  g_autofree AprDoubleDouble *weights = NULL;
  gsize i;

  if (values == NULL)
    return FALSE;
  if (is_weighted)
    weights = apr_memory_new (data->n_targets, sizeof *weights, "weights of targets", error);
  if (is_weighted && (weights == NULL || !find_weights (data, weights, error)))
    return FALSE;

  for (i = 0; i < data->n_targets; i++)
    {
      /* A target without a weight may have a value that is not finite. */
      if (is_weighted && weights[i].high == 0)
        {
          values[i] = (AprDoubleDouble){ 0, 0 };
          continue;
        }
      apr_metric_data_set_target (data, i);
      if (!apr_metric_compute (data, metric, &values[i], error))
        return FALSE;
    }
  *average = apr_metric_average (values, weights, data->n_targets);

  return TRUE;
}

/* What errors call the tensors. */
static const char *const argument_names[] = { "y_true", "y_pred" };
static const char *const score_names[] = { "y", "The prediction" };

/* The plain mean over the targets. */
static double
average_named (const char *const names[2],
               AprTensor *y_true,
               AprTensor *y_pred,
               AprTensor *sample_weight,
               AprMetric metric,
               GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  AprMetricData data;
  double mean;

  return apr_metric_data_init (&data, names, y_true, y_pred, sample_weight, error) &&
             find_average (&data, metric, APR_MULTIOUTPUT_UNIFORM_AVERAGE, &mean, error)
         ? mean
         : 0;
}

static double
average (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, AprMetric metric, GError **error)
{
  return average_named (argument_names, y_true, y_pred, sample_weight, metric, error);
}

double
apr_metric_score (AprTensor *y, AprTensor *predictions, AprTensor *sample_weight, GError **error)
{
  return average_named (score_names, y, predictions, sample_weight, APR_METRIC_R2, error);
}

/**
 * apr_r2_score:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the coefficient of determination, R² = 1 - Σ w (y - prediction)² / Σ w (y - mean)².
 *
 * It is 1 for perfect predictions, 0 for those that are as good as the mean, and below 0 for worse ones. Of
 * several targets it is the plain mean. Where all targets are the same, so that the quotient has no meaning,
 * it is 1 for perfect predictions and 0 for all others. Of one sample it is not defined, and a NaN. Sums are taken in
 * double-double arithmetic.
 *
 * Returns: R²; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE, %APR_ERROR_NOT_FINITE or
 *   %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_r2_score (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_R2, error);
}

/**
 * apr_explained_variance_score:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the part of the targets' variance that is explained: 1 - Var (y - prediction) / Var (y), with variances
 * by weight.
 *
 * It is R² for predictions that are right in the mean; an error that all predictions share costs nothing. Of
 * several targets it is the plain mean. Where all targets are the same it is 1 for errors that are the same too,
 * and 0 for all others.
 *
 * Returns: the explained variance; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_explained_variance_score (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_EXPLAINED_VARIANCE, error);
}

/**
 * apr_mean_squared_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the mean of the squared errors, Σ w (y - prediction)² / Σ w.
 *
 * Of several targets it is the plain mean. Where it is too large for a double, it is an infinity.
 *
 * Returns: the error, in squared units of the target; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_mean_squared_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_MEAN_SQUARED_ERROR, error);
}

/**
 * apr_root_mean_squared_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the square root of the mean of the squared errors.
 *
 * Of several targets it is the plain mean of their roots.
 *
 * Returns: the error, in units of the target; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_root_mean_squared_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_ROOT_MEAN_SQUARED_ERROR, error);
}

/**
 * apr_mean_absolute_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the mean of the errors' magnitudes, Σ w |y - prediction| / Σ w.
 *
 * Of several targets it is the plain mean.
 *
 * Returns: the error, in units of the target; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_mean_absolute_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_MEAN_ABSOLUTE_ERROR, error);
}

/**
 * apr_mean_absolute_percentage_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes the mean of the errors' magnitudes relative to the targets', Σ w |y - prediction| / |y| / Σ w: 0.1 for 10 %.
 *
 * The magnitude of a target counts as 2^-52 at least, as in scikit-learn. Of several targets it is the plain mean.
 *
 * Returns: the error, without a unit; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_mean_absolute_percentage_error (AprTensor *y_true,
                                    AprTensor *y_pred,
                                    AprTensor *sample_weight,
                                    GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_MEAN_ABSOLUTE_PERCENTAGE_ERROR, error);
}

/**
 * apr_median_absolute_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Finds the median of the errors' magnitudes, which a few wild samples do not move.
 *
 * It is the error at which the weights of the samples, sorted by their errors, reach the half, or the mean of it
 * and the next where they are the half. Of several targets it is the plain mean of their medians.
 *
 * Returns: the error, in units of the target; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE,
 *   %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none, or %APR_ERROR_NO_MEMORY
 *
 * Since: 0.1
 */
double
apr_median_absolute_error (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return average (y_true, y_pred, sample_weight, APR_METRIC_MEDIAN_ABSOLUTE_ERROR, error);
}

/**
 * apr_compute_metric:
 * @metric: which metric
 * @multioutput: how the values of several targets become the result
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @error: return location for an error
 *
 * Computes a metric of each target, or their mean.
 *
 * [func@Apr.r2_score] and the like are the same with %APR_MULTIOUTPUT_UNIFORM_AVERAGE.
 *
 * Returns: (transfer full): F64, [n_targets] with %APR_MULTIOUTPUT_RAW_VALUES, else [1]; `NULL` with %APR_ERROR_SHAPE,
 *   %APR_ERROR_EMPTY, %APR_ERROR_DTYPE, %APR_ERROR_NOT_FINITE or %APR_ERROR_WEIGHTS where the arguments allow none, or
 *   %APR_ERROR_NO_MEMORY
 *
 * Since: 0.1
 */
AprTensor *
apr_compute_metric (AprMetric metric,
                    AprMultioutput multioutput,
                    AprTensor *y_true,
                    AprTensor *y_pred,
                    AprTensor *sample_weight,
                    GError **error)
{
  G_GNUC_UNUSED g_auto (AprArithmetic) arithmetic = apr_arithmetic_enter ();
  g_autofree double *values = NULL;
  AprMetricData data;
  AprDoubleDouble value;
  double mean;
  gsize n = 1;
  gsize i;

  g_return_val_if_fail (metric >= APR_METRIC_R2 && metric <= APR_METRIC_MAX_ERROR, NULL);
  g_return_val_if_fail (
    multioutput >= APR_MULTIOUTPUT_UNIFORM_AVERAGE && multioutput <= APR_MULTIOUTPUT_VARIANCE_WEIGHTED, NULL);
  g_return_val_if_fail (y_true != NULL, NULL);
  g_return_val_if_fail (y_pred != NULL, NULL);

  if (!apr_metric_data_init (&data, argument_names, y_true, y_pred, sample_weight, error))
    return NULL;
  if (multioutput != APR_MULTIOUTPUT_RAW_VALUES)
    {
      return find_average (&data, metric, multioutput, &mean, error)
             ? apr_tensor_new_from_doubles (&mean, 1, &n, 1, error)
             : NULL;
    }

  values = apr_memory_new (data.n_targets, sizeof *values, "values of a metric", error);
  for (i = 0; i < data.n_targets && values != NULL; i++)
    {
      apr_metric_data_set_target (&data, i);
      if (!apr_metric_compute (&data, metric, &value, error))
        return NULL;
      values[i] = value.high;
    }

  return values != NULL ? apr_tensor_new_from_doubles (values, data.n_targets, &data.n_targets, 1, error)
                        : NULL;
}

typedef struct
{
  AprMetric metric;
  AprMultioutput multioutput;
  AprTensor *tensors[3]; /* (owned) y_true, y_pred, sample_weight, of which the last may be NULL */
} Computation;

static void
computation_free (gpointer data)
{
  Computation *self = data;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (self->tensors); i++)
    g_clear_pointer (&self->tensors[i], apr_tensor_unref);
  g_free (self);
}

static void
compute_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  const Computation *self = task_data;
  GError *error = NULL;
  AprTensor *values;

  apr_run_push_cancellable (cancellable);
  values = apr_compute_metric (self->metric, self->multioutput, self->tensors[0], self->tensors[1],
                               self->tensors[2], &error);
  apr_run_pop_cancellable (cancellable);
  if (values != NULL)
    g_task_return_pointer (task, values, (GDestroyNotify) apr_tensor_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_compute_metric_async:
 * @metric: which metric
 * @multioutput: how the values of several targets become the result
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples], none below 0; `NULL` for equal weights
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the metric is known
 * @user_data: data to pass to @callback
 *
 * Computes a metric without blocking.
 *
 * Since: 0.1
 */
void
apr_compute_metric_async (AprMetric metric,
                          AprMultioutput multioutput,
                          AprTensor *y_true,
                          AprTensor *y_pred,
                          AprTensor *sample_weight,
                          int io_priority,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Computation *computation;

  g_return_if_fail (metric >= APR_METRIC_R2 && metric <= APR_METRIC_MAX_ERROR);
  g_return_if_fail (multioutput >= APR_MULTIOUTPUT_UNIFORM_AVERAGE &&
                    multioutput <= APR_MULTIOUTPUT_VARIANCE_WEIGHTED);
  g_return_if_fail (y_true != NULL);
  g_return_if_fail (y_pred != NULL);

  computation = g_new (Computation, 1);
  *computation = (Computation){ metric,
                                multioutput,
                                { apr_tensor_ref (y_true), apr_tensor_ref (y_pred),
                                  sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL } };
  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_compute_metric_async);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, computation, computation_free);
  apr_task_run_reader (task, compute_in_thread);
}

/**
 * apr_compute_metric_finish:
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [func@Apr.compute_metric_async] began.
 *
 * Returns: (transfer full): the metric, or `NULL` with an error as of [func@Apr.compute_metric]
 *
 * Since: 0.1
 */
AprTensor *
apr_compute_metric_finish (GAsyncResult *result, GError **error)
{
  return apr_task_take_pointer (result, NULL, apr_compute_metric_async, error);
}

/**
 * apr_max_error:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @error: return location for an error
 *
 * Finds the greatest error, max |y - prediction|, of all samples and targets.
 *
 * Returns: the error, in units of the target; 0 with %APR_ERROR_SHAPE, %APR_ERROR_EMPTY, %APR_ERROR_DTYPE or
 *   %APR_ERROR_NOT_FINITE where the arguments allow none
 *
 * Since: 0.1
 */
double
apr_max_error (AprTensor *y_true, AprTensor *y_pred, GError **error)
{
  AprMetricData data;

  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  return apr_metric_data_init (&data, argument_names, y_true, y_pred, NULL, error)
         ? apr_metric_get_max_error (&data)
         : 0;
}
