/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-metrics.h"

#include <math.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Sums are double-double, of values that a power of two has brought below 1: no square of them overflows, or
 * vanishes beside the others. Differences are exact, as pairs of doubles, and means are taken from the first value
 * on: so what a constant differs from its mean is exactly 0, and data far from zero lose nothing. */

/* The elements of a tensor, read as doubles. */
typedef struct
{
  AprDType dtype;
  const guint8 *data;
} Values;

static double
values_get (const Values *values, gsize index)
{
  return apr_dtype_read_double (values->dtype, values->data, index);
}

static gboolean
values_init (Values *values, AprTensor *tensor, const char *name, GError **error)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  gsize i;

  values->dtype = apr_tensor_get_dtype (tensor);
  values->data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);

  if (!apr_dtype_is_numeric (values->dtype))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "%s has the dtype %s, which is not one of numbers",
                   name, apr_dtype_to_string (values->dtype));
      return FALSE;
    }

  for (i = 0; i < n_elements; i++)
    if (!isfinite (values_get (values, i)))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "%s has %s at element %" G_GSIZE_FORMAT " (counted from 0)", name,
                     isnan (values_get (values, i)) ? "a NaN" : "an infinity", i);
        return FALSE;
      }

  return TRUE;
}

static gboolean
check_shapes (AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  gsize n_dims;
  gsize other_n_dims;
  const gsize *shape = apr_tensor_get_shape (y_true, &n_dims);
  const gsize *other = apr_tensor_get_shape (y_pred, &other_n_dims);
  g_autofree char *text = apr_shape_to_string (shape, n_dims);
  g_autofree char *other_text = apr_shape_to_string (other, other_n_dims);
  g_autofree char *weights_text = NULL;

  if (n_dims < 1 || n_dims > 2 || n_dims != other_n_dims || shape[0] != other[0] ||
      (n_dims == 2 && shape[1] != other[1]))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The targets %s and the predictions %s must both be [n_samples] or [n_samples, n_targets]",
                   text, other_text);
      return FALSE;
    }

  if (apr_tensor_get_n_elements (y_true) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "The targets %s are empty", text);
      return FALSE;
    }

  if (sample_weight == NULL)
    return TRUE;

  other = apr_tensor_get_shape (sample_weight, &other_n_dims);
  if (other_n_dims == 1 && other[0] == shape[0])
    return TRUE;

  weights_text = apr_shape_to_string (other, other_n_dims);
  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "sample_weight has the shape %s, but there are %" G_GSIZE_FORMAT " samples", weights_text,
               shape[0]);
  return FALSE;
}

/* One target of the data. */
typedef struct
{
  Values y_true;
  Values y_pred;
  Values weights; /* without data where there are none */
  double weight_scale;
  gsize n_samples;
  gsize n_targets;
  gsize target;
  gint shift; /* the exponent of what the values are multiplied by, so that their differences are finite */
} Data;

static gboolean
check_weights (Data *data, GError **error)
{
  double greatest = 0;
  gint exponent;
  gsize i;

  for (i = 0; i < data->n_samples; i++)
    {
      double weight = values_get (&data->weights, i);

      greatest = MAX (greatest, weight);
      if (weight >= 0)
        continue;
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                   "sample_weight has the negative value %g at row %" G_GSIZE_FORMAT " (counted from 0)",
                   weight, i);
      return FALSE;
    }
  if (greatest == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero");
      return FALSE;
    }

  (void) frexp (greatest, &exponent);
  data->weight_scale = ldexp (1, -MAX (exponent, -1000));
  return TRUE;
}

static gboolean
data_init (Data *data, AprTensor *y_true, AprTensor *y_pred, AprTensor *sample_weight, GError **error)
{
  const gsize *shape;
  gsize n_dims;

  *data = (Data){ 0 };
  if (!check_shapes (y_true, y_pred, sample_weight, error) ||
      !values_init (&data->y_true, y_true, "y_true", error) ||
      !values_init (&data->y_pred, y_pred, "y_pred", error))
    return FALSE;

  shape = apr_tensor_get_shape (y_true, &n_dims);
  data->n_samples = shape[0];
  data->n_targets = n_dims == 2 ? shape[1] : 1;

  return sample_weight == NULL ||
         (values_init (&data->weights, sample_weight, "sample_weight", error) && check_weights (data, error));
}

static void
data_set_target (Data *data, gsize target)
{
  double greatest = 0;
  gsize i;

  data->target = target;
  for (i = target; i < data->n_samples * data->n_targets; i += data->n_targets)
    greatest =
      MAX (greatest, MAX (fabs (values_get (&data->y_true, i)), fabs (values_get (&data->y_pred, i))));
  data->shift = greatest >= 0x1p1000 ? -4 : 0;
}

static double
get_weight (const Data *data, gsize row)
{
  return data->weights.data != NULL ? data->weight_scale * values_get (&data->weights, row) : 1;
}

/* A sample's target, or what its prediction is off. */
typedef AprDoubleDouble (*GetFunc) (const Data *data, gsize row);

static AprDoubleDouble
get_truth (const Data *data, gsize row)
{
  return (AprDoubleDouble){
    ldexp (values_get (&data->y_true, row * data->n_targets + data->target), data->shift), 0
  };
}

static AprDoubleDouble
get_error (const Data *data, gsize row)
{
  AprDoubleDouble truth = get_truth (data, row);

  return apr_dd_two_sum (
    truth.high, -ldexp (values_get (&data->y_pred, row * data->n_targets + data->target), data->shift));
}

static AprDoubleDouble
scale (AprDoubleDouble value, gint exponent)
{
  return (AprDoubleDouble){ ldexp (value.high, exponent), ldexp (value.low, exponent) };
}

/* value 2^exponent */
typedef struct
{
  AprDoubleDouble value;
  gint exponent;
} Scaled;

typedef enum
{
  MAGNITUDE,
  SQUARE,
  SQUARE_FROM_MEAN,
} Power;

/* The mean of a power, by weight. Rows without weight count for nothing. */
static Scaled
get_mean (const Data *data, GetFunc get, Power power)
{
  AprDoubleDouble origin = { 0, 0 };
  AprDoubleDouble mean = { 0, 0 };
  AprDoubleDouble weight_sum = { 0, 0 };
  AprDoubleDouble sum = { 0, 0 };
  double greatest = 0;
  gboolean any = FALSE;
  gint exponent;
  gsize i;

  for (i = 0; i < data->n_samples; i++)
    if (get_weight (data, i) > 0)
      {
        if (!any && power == SQUARE_FROM_MEAN)
          origin = get (data, i);
        any = TRUE;
        greatest = MAX (greatest, fabs (apr_dd_subtract (get (data, i), origin).high));
      }
  if (greatest == 0)
    return (Scaled){ { 0, 0 }, 0 };

  (void) frexp (greatest, &exponent);
  for (i = 0; i < data->n_samples; i++)
    {
      AprDoubleDouble value = scale (apr_dd_subtract (get (data, i), origin), -exponent);
      double weight = get_weight (data, i);

      if (weight == 0)
        continue;
      weight_sum = apr_dd_add (weight_sum, (AprDoubleDouble){ weight, 0 });
      if (power == SQUARE_FROM_MEAN)
        mean = apr_dd_add (mean, apr_dd_multiply_double (value, weight));
    }
  mean = apr_dd_divide (mean, weight_sum);

  for (i = 0; i < data->n_samples; i++)
    {
      AprDoubleDouble value =
        apr_dd_subtract (scale (apr_dd_subtract (get (data, i), origin), -exponent), mean);
      double weight = get_weight (data, i);

      if (weight == 0)
        continue;
      if (power != MAGNITUDE)
        value = apr_dd_multiply (value, value);
      else if (value.high < 0)
        value = apr_dd_negate (value);
      sum = apr_dd_add (sum, apr_dd_multiply_double (value, weight));
    }

  return (Scaled){ apr_dd_divide (sum, weight_sum), (exponent - data->shift) * (power == MAGNITUDE ? 1 : 2) };
}

/* 1 - error / total; where the total is 0, 1 for no error and 0 for any other. */
static AprDoubleDouble
get_explained_part (const Data *data, Power error_power)
{
  Scaled error = get_mean (data, get_error, error_power);
  Scaled total = get_mean (data, get_truth, SQUARE_FROM_MEAN);
  AprDoubleDouble quotient;

  if (error.value.high == 0)
    return (AprDoubleDouble){ 1, 0 };
  if (total.value.high == 0)
    return (AprDoubleDouble){ 0, 0 };

  quotient = scale (apr_dd_divide (error.value, total.value), error.exponent - total.exponent);
  if (isinf (quotient.high))
    return (AprDoubleDouble){ -INFINITY, 0 };
  return apr_dd_subtract ((AprDoubleDouble){ 1, 0 }, quotient);
}

static AprDoubleDouble
get_r2 (const Data *data)
{
  return get_explained_part (data, SQUARE);
}

static AprDoubleDouble
get_explained_variance (const Data *data)
{
  return get_explained_part (data, SQUARE_FROM_MEAN);
}

static AprDoubleDouble
get_squared_error (const Data *data)
{
  Scaled mean = get_mean (data, get_error, SQUARE);

  return scale (mean.value, mean.exponent);
}

static AprDoubleDouble
get_absolute_error (const Data *data)
{
  Scaled mean = get_mean (data, get_error, MAGNITUDE);

  return scale (mean.value, mean.exponent);
}

/* The square root by one of Newton's steps from that of the higher part; the exponent is even. */
static AprDoubleDouble
get_root_squared_error (const Data *data)
{
  Scaled mean = get_mean (data, get_error, SQUARE);
  double root = sqrt (mean.value.high);
  AprDoubleDouble rest;

  if (root == 0)
    return (AprDoubleDouble){ 0, 0 };

  rest = apr_dd_subtract (mean.value,
                          apr_dd_multiply ((AprDoubleDouble){ root, 0 }, (AprDoubleDouble){ root, 0 }));
  return scale (apr_dd_quick_sum (root, rest.high / (2 * root)), mean.exponent / 2);
}

/* The plain mean over the targets. */
static double
average (AprTensor *y_true,
         AprTensor *y_pred,
         AprTensor *sample_weight,
         AprDoubleDouble (*metric) (const Data *data),
         GError **error)
{
  AprDoubleDouble sum = { 0, 0 };
  Data data;
  gsize i;

  if (!data_init (&data, y_true, y_pred, sample_weight, error))
    return 0;

  for (i = 0; i < data.n_targets; i++)
    {
      AprDoubleDouble value;

      data_set_target (&data, i);
      value = metric (&data);
      if (isinf (value.high))
        return value.high;
      sum = apr_dd_add (sum, value);
    }

  return apr_dd_divide (sum, (AprDoubleDouble){ (double) data.n_targets, 0 }).high;
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
 * it is 1 for perfect predictions and 0 for all others. Sums are taken in double-double arithmetic.
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

  return average (y_true, y_pred, sample_weight, get_r2, error);
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

  return average (y_true, y_pred, sample_weight, get_explained_variance, error);
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

  return average (y_true, y_pred, sample_weight, get_squared_error, error);
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

  return average (y_true, y_pred, sample_weight, get_root_squared_error, error);
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

  return average (y_true, y_pred, sample_weight, get_absolute_error, error);
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
  double greatest = 0;
  Data data;
  gsize i;

  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  if (!data_init (&data, y_true, y_pred, NULL, error))
    return 0;

  for (i = 0; i < data.n_samples * data.n_targets; i++)
    greatest = MAX (greatest, fabs (values_get (&data.y_true, i) - values_get (&data.y_pred, i)));

  return greatest;
}
