/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-metric-private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gio/gio.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Sums are double-double, of values that a power of two has brought below 1: no square of them overflows, or
 * vanishes beside the others. Differences are exact, as pairs of doubles, and means are taken from the first value
 * on: so what a constant differs from its mean is exactly 0, and data far from zero lose nothing. */

/* Rows between two looks at whether the work is cancelled. The functions take no cancellable, but asynchronous methods
 * make theirs the current one. */
#define ROWS_PER_LOOK (1 << 16)

static gboolean
is_cancelled_at (gsize row)
{
  return row % ROWS_PER_LOOK == 0 && g_cancellable_is_cancelled (g_cancellable_get_current ());
}

static inline double
values_get (const AprMetricValues *values, gsize index)
{
  if (values->doubles != NULL)
    return values->doubles[index];
  if (values->floats != NULL)
    return (double) values->floats[index];

  return apr_dtype_read_double (values->dtype, values->data, index);
}

static gboolean
values_init (AprMetricValues *values, AprTensor *tensor, const char *name, GError **error)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  g_autofree char *column = NULL;
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize n_columns = n_dims == 2 ? shape[1] : 1;
  gsize i;

  values->dtype = apr_tensor_get_dtype (tensor);
  values->data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  values->floats = values->dtype == APR_DTYPE_F32 ? apr_tensor_get_floats (tensor, NULL, NULL) : NULL;
  values->doubles = values->dtype == APR_DTYPE_F64 ? apr_tensor_get_doubles (tensor, NULL, NULL) : NULL;

  if (!apr_dtype_is_numeric (values->dtype))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "%s has the dtype %s, which is not one of numbers",
                   name, apr_dtype_to_string (values->dtype));
      return FALSE;
    }

  for (i = 0; i < n_elements && !is_cancelled_at (i); i++)
    if (!isfinite (values_get (values, i)))
      {
        column = n_dims == 2 ? g_strdup_printf (", column %" G_GSIZE_FORMAT, i % n_columns) : g_strdup ("");
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "%s has %s at row %" G_GSIZE_FORMAT "%s (counted from 0)", name,
                     isnan (values_get (values, i)) ? "a NaN" : "an infinity", i / n_columns, column);
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

  if (n_dims < 1 || n_dims > 2 || other_n_dims < 1 || other_n_dims > 2 || shape[0] != other[0] ||
      (n_dims == 2 ? shape[1] : 1) != (other_n_dims == 2 ? other[1] : 1))
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

static gboolean
check_weights (AprMetricData *data, GError **error)
{
  double max = 0;
  gint exponent;
  gsize i;

  for (i = 0; i < data->n_samples && !is_cancelled_at (i); i++)
    {
      double weight = values_get (&data->weights, i);

      max = MAX (max, weight);
      if (weight < 0)
        return apr_rows_check_weight (weight, i, error);
    }
  if (max == 0 && i == data->n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero");
      return FALSE;
    }

  (void) frexp (max, &exponent);
  data->weight_scale = ldexp (1, -MAX (exponent, -1000));
  return TRUE;
}

gboolean
apr_metric_data_init (AprMetricData *data,
                      const char *const names[2],
                      AprTensor *y_true,
                      AprTensor *y_pred,
                      AprTensor *sample_weight,
                      GError **error)
{
  const gsize *shape;
  gsize n_dims;

  *data = (AprMetricData){ 0 };
  if (!check_shapes (y_true, y_pred, sample_weight, error) ||
      !values_init (&data->y_true, y_true, names[0], error) ||
      !values_init (&data->y_pred, y_pred, names[1], error))
    return FALSE;

  shape = apr_tensor_get_shape (y_true, &n_dims);
  data->n_samples = shape[0];
  data->n_targets = n_dims == 2 ? shape[1] : 1;

  return (sample_weight == NULL || (values_init (&data->weights, sample_weight, "sample_weight", error) &&
                                    check_weights (data, error))) &&
         !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error);
}

void
apr_metric_data_set_target (AprMetricData *data, gsize target)
{
  double max = 0;
  gsize row;

  data->target = target;
  for (row = 0; row < data->n_samples && !is_cancelled_at (row); row++)
    {
      gsize i = target + row * data->n_targets;

      max = MAX (max, MAX (fabs (values_get (&data->y_true, i)), fabs (values_get (&data->y_pred, i))));
    }
  data->shift = max >= 0x1p900 ? -128 : 0;
}

static inline double
get_weight (const AprMetricData *data, gsize row)
{
  return data->weights.data != NULL ? data->weight_scale * values_get (&data->weights, row) : 1;
}

/* A sample's target, or what its prediction is off. */
typedef AprDoubleDouble (*GetFunc) (const AprMetricData *data, gsize row);

/* The functions for one sample are inlined, and cost less than the sums. */
static G_ALWAYS_INLINE inline double
get_value (const AprMetricData *data, const AprMetricValues *values, gsize row)
{
  double value = values_get (values, row * data->n_targets + data->target);

  return data->shift == 0 ? value : ldexp (value, data->shift);
}

static G_ALWAYS_INLINE inline AprDoubleDouble
get_truth (const AprMetricData *data, gsize row)
{
  return (AprDoubleDouble){ get_value (data, &data->y_true, row), 0 };
}

static G_ALWAYS_INLINE inline AprDoubleDouble
get_error (const AprMetricData *data, gsize row)
{
  return apr_dd_two_sum (get_value (data, &data->y_true, row), -get_value (data, &data->y_pred, row));
}

static AprDoubleDouble
scale (AprDoubleDouble value, gint exponent)
{
  return (AprDoubleDouble){ ldexp (value.high, exponent), ldexp (value.low, exponent) };
}

typedef enum
{
  MAGNITUDE,
  SQUARE,
  SQUARE_FROM_MEAN,
} Power;

/* What a mean is of, from the origin on and below 1. @factor is 2^-exponent where a double can be that, whose products
 * are those of ldexp(), or else 0. */
static G_ALWAYS_INLINE inline AprDoubleDouble
get_scaled (
  const AprMetricData *data, GetFunc get, gsize row, AprDoubleDouble origin, double factor, gint exponent)
{
  AprDoubleDouble value = apr_dd_subtract (get (data, row), origin);

  return factor != 0 ? (AprDoubleDouble){ value.high * factor, value.low * factor }
                     : scale (value, -exponent);
}

static G_ALWAYS_INLINE inline AprDoubleDouble
weigh (const AprMetricData *data, AprDoubleDouble value, double weight)
{
  return data->weights.data != NULL ? apr_dd_multiply_double (value, weight)
                                    : apr_dd_quick_sum (value.high, value.low);
}

/* The mean of a power, by weight. Rows without weight count for nothing. */
static G_ALWAYS_INLINE inline AprMetricMean
get_mean (const AprMetricData *data, GetFunc get, Power power)
{
  AprDoubleDouble origin = { 0, 0 };
  AprDoubleDouble mean = { 0, 0 };
  AprDoubleDouble weight_sum = { 0, 0 };
  AprDoubleDouble sum = { 0, 0 };
  gboolean weighted = data->weights.data != NULL;
  double max = 0;
  gboolean any = FALSE;
  double factor;
  gint exponent;
  gsize i;

  for (i = 0; i < data->n_samples && !is_cancelled_at (i); i++)
    if (get_weight (data, i) > 0)
      {
        if (!any && power == SQUARE_FROM_MEAN)
          origin = get (data, i);
        any = TRUE;
        max = MAX (max, fabs (apr_dd_subtract (get (data, i), origin).high));
      }
  if (max == 0)
    return (AprMetricMean){ { 0, 0 }, 0 };

  (void) frexp (max, &exponent);
  factor = ABS (exponent) < 1000 ? ldexp (1, -exponent) : 0;
  if (!weighted)
    weight_sum.high = (double) data->n_samples;
  for (i = 0; (weighted || power == SQUARE_FROM_MEAN) && i < data->n_samples && !is_cancelled_at (i); i++)
    {
      double weight = get_weight (data, i);

      if (weight == 0)
        continue;
      if (weighted)
        weight_sum = apr_dd_add (weight_sum, (AprDoubleDouble){ weight, 0 });
      if (power == SQUARE_FROM_MEAN)
        mean = apr_dd_add (mean, weigh (data, get_scaled (data, get, i, origin, factor, exponent), weight));
    }
  mean = apr_dd_divide (mean, weight_sum);

  for (i = 0; i < data->n_samples && !is_cancelled_at (i); i++)
    {
      AprDoubleDouble value = apr_dd_subtract (get_scaled (data, get, i, origin, factor, exponent), mean);
      double weight = get_weight (data, i);

      if (weight == 0)
        continue;
      if (power != MAGNITUDE)
        value = apr_dd_multiply (value, value);
      else if (value.high < 0)
        value = apr_dd_negate (value);
      sum = apr_dd_add (sum, weigh (data, value, weight));
    }

  return (AprMetricMean){ apr_dd_divide (sum, weight_sum),
                          (exponent - data->shift) * (power == MAGNITUDE ? 1 : 2) };
}

/* 1 - error / total; where the total is 0, 1 for no error and 0 for any other. */
static AprDoubleDouble
get_explained_part (const AprMetricData *data, Power error_power)
{
  AprMetricMean error = get_mean (data, get_error, error_power);
  AprMetricMean total = get_mean (data, get_truth, SQUARE_FROM_MEAN);
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

/* One sample has no variance, so that there is no part of it. */
static AprDoubleDouble
get_r2 (const AprMetricData *data)
{
  return data->n_samples < 2 ? (AprDoubleDouble){ NAN, 0 } : get_explained_part (data, SQUARE);
}

static AprDoubleDouble
get_explained_variance (const AprMetricData *data)
{
  return get_explained_part (data, SQUARE_FROM_MEAN);
}

static AprDoubleDouble
get_squared_error (const AprMetricData *data)
{
  AprMetricMean mean = get_mean (data, get_error, SQUARE);

  return scale (mean.value, mean.exponent);
}

static AprDoubleDouble
get_absolute_error (const AprMetricData *data)
{
  AprMetricMean mean = get_mean (data, get_error, MAGNITUDE);

  return scale (mean.value, mean.exponent);
}

/* The square root by one of Newton's steps from that of the higher part; the exponent is even. */
static AprDoubleDouble
get_root_squared_error (const AprMetricData *data)
{
  AprMetricMean mean = get_mean (data, get_error, SQUARE);
  double root = sqrt (mean.value.high);
  AprDoubleDouble rest;

  if (root == 0)
    return (AprDoubleDouble){ 0, 0 };

  rest = apr_dd_subtract (mean.value,
                          apr_dd_multiply ((AprDoubleDouble){ root, 0 }, (AprDoubleDouble){ root, 0 }));
  return scale (apr_dd_quick_sum (root, rest.high / (2 * root)), mean.exponent / 2);
}

/* What a prediction is off, by the magnitude of the target, which counts as 2^-52 at least, as scikit-learn has it. */
static G_ALWAYS_INLINE inline AprDoubleDouble
get_relative_error (const AprMetricData *data, gsize row)
{
  double truth = fabs (values_get (&data->y_true, row * data->n_targets + data->target));

  return apr_dd_divide (get_error (data, row), (AprDoubleDouble){ MAX (truth, DBL_EPSILON), 0 });
}

static AprDoubleDouble
get_absolute_percentage_error (const AprMetricData *data)
{
  AprMetricMean mean = get_mean (data, get_relative_error, MAGNITUDE);

  return scale (mean.value, mean.exponent);
}

typedef struct
{
  AprDoubleDouble error;
  double weight;
} Weighted;

static int
compare_errors (gconstpointer a, gconstpointer b)
{
  const Weighted *x = a;
  const Weighted *y = b;

  if (x->error.high != y->error.high)
    return x->error.high < y->error.high ? -1 : 1;
  return (x->error.low > y->error.low) - (x->error.low < y->error.low);
}

/* Two sorted runs of @from, up to @middle and up to @n, become one of @to. */
static void
merge_errors (Weighted *to, const Weighted *from, gsize middle, gsize n)
{
  gsize left = 0;
  gsize right = middle;
  gsize i;

  for (i = 0; i < n && !is_cancelled_at (i); i++)
    to[i] = right == n || (left < middle && compare_errors (&from[left], &from[right]) <= 0) ? from[left++]
                                                                                             : from[right++];
}

/* Sorts, in pieces that leave time to be cancelled. Returns the sorted ones, @errors or @copy; what is left where
 * cancelled is in no order. */
static Weighted *
sort_errors (Weighted *errors, Weighted *copy, gsize n)
{
  gsize size = ROWS_PER_LOOK;
  gsize i;

  for (i = 0; i < n && !is_cancelled_at (i); i += size)
    qsort (errors + i, MIN (size, n - i), sizeof *errors, compare_errors);
  for (; size < n; size *= 2)
    {
      Weighted *sorted = copy;

      for (i = 0; i < n; i += 2 * size)
        merge_errors (sorted + i, errors + i, MIN (size, n - i), MIN (2 * size, n - i));
      copy = errors;
      errors = sorted;
    }

  return errors;
}

/* Where the weights of the samples, sorted by their errors, reach the half: that error, or the mean of it and the next
 * where they are the half. */
static gboolean
find_median_error (const AprMetricData *data, AprDoubleDouble *median, GError **error)
{
  g_autofree Weighted *errors = apr_memory_new (data->n_samples, sizeof *errors, "errors to sort", error);
  g_autofree Weighted *copy = NULL;
  const Weighted *sorted;
  AprDoubleDouble total = { 0, 0 };
  AprDoubleDouble below = { 0, 0 };
  AprDoubleDouble rest = { -1, 0 };
  gsize n = 0;
  gsize i;

  if (errors == NULL)
    return FALSE;
  for (i = 0; i < data->n_samples && !is_cancelled_at (i); i++)
    {
      Weighted *next = &errors[n];

      next->weight = get_weight (data, i);
      if (next->weight == 0)
        continue;
      next->error = get_error (data, i);
      if (next->error.high < 0)
        next->error = apr_dd_negate (next->error);
      total = apr_dd_add (total, (AprDoubleDouble){ next->weight, 0 });
      n++;
    }
  if (n > ROWS_PER_LOOK)
    {
      copy = apr_memory_new (n, sizeof *copy, "errors to sort", error);
      if (copy == NULL)
        return FALSE;
    }
  sorted = sort_errors (errors, copy, n);
  if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
    return FALSE;

  for (i = 0; i < n && rest.high < 0 && (i == 0 || !is_cancelled_at (i)); i++)
    {
      below = apr_dd_add (below, (AprDoubleDouble){ sorted[i].weight, 0 });
      rest = apr_dd_subtract (apr_dd_add (below, below), total);
    }
  if (rest.high == 0 && i < n)
    *median = scale (apr_dd_add (sorted[i - 1].error, sorted[i].error), -1 - data->shift);
  else
    *median = scale (sorted[i - 1].error, -data->shift);

  return TRUE;
}

/* Rounded as the difference of the two numbers is. */
static AprDoubleDouble
get_max_error (const AprMetricData *data)
{
  double max = 0;
  gsize i;

  for (i = 0; i < data->n_samples && !is_cancelled_at (i); i++)
    if (get_weight (data, i) > 0)
      max = MAX (max, fabs (get_error (data, i).high));

  return scale ((AprDoubleDouble){ max, 0 }, -data->shift);
}

gboolean
apr_metric_compute (const AprMetricData *data, AprMetric metric, AprDoubleDouble *value, GError **error)
{
  gboolean found = TRUE;

  switch (metric)
    {
    case APR_METRIC_R2:
      *value = get_r2 (data);
      break;
    case APR_METRIC_EXPLAINED_VARIANCE:
      *value = get_explained_variance (data);
      break;
    case APR_METRIC_MEAN_SQUARED_ERROR:
      *value = get_squared_error (data);
      break;
    case APR_METRIC_ROOT_MEAN_SQUARED_ERROR:
      *value = get_root_squared_error (data);
      break;
    case APR_METRIC_MEAN_ABSOLUTE_ERROR:
      *value = get_absolute_error (data);
      break;
    case APR_METRIC_MEAN_ABSOLUTE_PERCENTAGE_ERROR:
      *value = get_absolute_percentage_error (data);
      break;
    case APR_METRIC_MEDIAN_ABSOLUTE_ERROR:
      found = find_median_error (data, value, error);
      break;
    case APR_METRIC_MAX_ERROR:
      *value = get_max_error (data);
      break;
    default:
      g_assert_not_reached ();
    }

  return found && !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error);
}

AprMetricMean
apr_metric_get_variance (const AprMetricData *data)
{
  return get_mean (data, get_truth, SQUARE_FROM_MEAN);
}

double
apr_metric_get_max_error (const AprMetricData *data)
{
  double max = 0;
  gsize i;

  for (i = 0; i < data->n_samples * data->n_targets; i++)
    max = MAX (max, fabs (values_get (&data->y_true, i) - values_get (&data->y_pred, i)));

  return max;
}

double
apr_metric_average (const AprDoubleDouble *values, const AprDoubleDouble *weights, gsize n)
{
  AprDoubleDouble sum = { 0, 0 };
  AprDoubleDouble weight_sum = { 0, 0 };
  double max = 0;
  int shift;
  gsize i;

  for (i = 0; i < n; i++)
    if (isfinite (values[i].high))
      max = MAX (max, fabs (values[i].high));
    else
      return values[i].high;

  /* So that the sum is finite, as the mean is. */
  shift = max > 0x1p900 ? 64 : 0;
  for (i = 0; i < n; i++)
    {
      AprDoubleDouble weight = weights != NULL ? weights[i] : (AprDoubleDouble){ 1, 0 };
      AprDoubleDouble value = { ldexp (values[i].high, -shift), ldexp (values[i].low, -shift) };

      if (weight.high == 0)
        continue;
      sum = apr_dd_add (sum, apr_dd_multiply (value, weight));
      weight_sum = apr_dd_add (weight_sum, weight);
    }

  return ldexp (apr_dd_divide (sum, weight_sum).high, shift);
}
