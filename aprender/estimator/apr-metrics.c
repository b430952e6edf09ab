/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-metrics.h"

#include <math.h>

#include "aprender/tensor/apr-double-double-private.h"
#include "aprender/tensor/apr-tensor-private.h"

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

/* A power of two that brings the target and its predictions below 1, so that no square overflows. */
static double
scale_of_target (const Values *y_true, const Values *y_pred, gsize n_samples, gsize n_targets, gsize target)
{
  double greatest = 0;
  gint exponent;
  gsize i;

  for (i = target; i < n_samples * n_targets; i += n_targets)
    greatest = MAX (greatest, MAX (fabs (values_get (y_true, i)), fabs (values_get (y_pred, i))));
  (void) frexp (greatest, &exponent);

  return ldexp (1, -MAX (exponent, -1000));
}

static AprDoubleDouble
weigh (AprDoubleDouble value, const Values *weights, gsize row)
{
  return weights != NULL ? apr_dd_multiply_double (value, values_get (weights, row)) : value;
}

static double
r2_of_target (const Values *y_true,
              const Values *y_pred,
              const Values *weights,
              gsize n_samples,
              gsize n_targets,
              gsize target)
{
  double scale = scale_of_target (y_true, y_pred, n_samples, n_targets, target);
  AprDoubleDouble weight_sum = { 0, 0 };
  AprDoubleDouble sum = { 0, 0 };
  AprDoubleDouble total = { 0, 0 };
  AprDoubleDouble residual = { 0, 0 };
  AprDoubleDouble mean;
  gsize i;

  for (i = 0; i < n_samples; i++)
    {
      AprDoubleDouble value = { scale * values_get (y_true, i * n_targets + target), 0 };

      weight_sum = apr_dd_add (weight_sum, weigh ((AprDoubleDouble){ 1, 0 }, weights, i));
      sum = apr_dd_add (sum, weigh (value, weights, i));
    }
  mean = apr_dd_divide (sum, weight_sum);

  for (i = 0; i < n_samples; i++)
    {
      double value = scale * values_get (y_true, i * n_targets + target);
      AprDoubleDouble distance = apr_dd_subtract ((AprDoubleDouble){ value, 0 }, mean);
      AprDoubleDouble error = apr_dd_two_sum (value, -scale * values_get (y_pred, i * n_targets + target));

      total = apr_dd_add (total, weigh (apr_dd_multiply (distance, distance), weights, i));
      residual = apr_dd_add (residual, weigh (apr_dd_multiply (error, error), weights, i));
    }

  if (residual.high == 0)
    return 1;
  if (total.high == 0)
    return 0;

  return 1 - residual.high / total.high;
}

/**
 * apr_r2_score:
 * @y_true: the targets, [n_samples] or [n_samples, n_targets]
 * @y_pred: what was predicted for them, of the same shape
 * @sample_weight: (nullable): a weight for each sample, [n_samples]; `NULL` for equal weights
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
  Values truth;
  Values predicted;
  Values weights;
  const gsize *shape;
  gsize n_dims;
  gsize n_targets;
  gboolean any_weight = FALSE;
  double sum = 0;
  gsize i;

  g_return_val_if_fail (y_true != NULL, 0);
  g_return_val_if_fail (y_pred != NULL, 0);

  if (!check_shapes (y_true, y_pred, sample_weight, error) ||
      !values_init (&truth, y_true, "y_true", error) || !values_init (&predicted, y_pred, "y_pred", error) ||
      (sample_weight != NULL && !values_init (&weights, sample_weight, "sample_weight", error)))
    return 0;

  shape = apr_tensor_get_shape (y_true, &n_dims);
  n_targets = n_dims == 2 ? shape[1] : 1;

  for (i = 0; i < shape[0] && sample_weight != NULL; i++)
    {
      double weight = values_get (&weights, i);

      any_weight = any_weight || weight > 0;
      if (weight >= 0)
        continue;
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                   "sample_weight has the negative value %g at row %" G_GSIZE_FORMAT " (counted from 0)",
                   weight, i);
      return 0;
    }
  if (sample_weight != NULL && !any_weight)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above 0");
      return 0;
    }

  for (i = 0; i < n_targets; i++)
    sum += r2_of_target (&truth, &predicted, sample_weight != NULL ? &weights : NULL, shape[0], n_targets, i);

  return sum / (double) n_targets;
}
