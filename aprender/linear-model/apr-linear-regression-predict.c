/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-prediction-private.h"
#include "aprender/tensor/apr-tensor-private.h"

static gboolean
predict (
  const AprLinearResults *self, AprTensor *x, const AprRun *caller, gpointer predictions, GError **error)
{
  gsize missing = 0;
  const AprRun run = apr_run_watch_memory (caller, &missing);
  gboolean finite = apr_prediction_run (self->coefficients, self->intercept, x, NULL, &run, predictions);

  return !apr_run_set_error_if_cancelled (&run, error) &&
         (finite || apr_estimator_check_finite ("X", x, error));
}

/* The virtual function predict takes no cancellable. */
static AprRun
get_run (AprLinearRegression *self)
{
  return (AprRun){ .n_threads = apr_linear_regression_get_n_threads (self),
                   .cancellable = g_cancellable_get_current () };
}

/* The shape of the predictions for @x: as many dimensions as the coefficients have. */
static gboolean
count_predictions (
  const AprLinearResults *self, AprTensor *x, gsize shape[2], gsize *n_elements, gsize *size, GError **error)
{
  const gsize *x_shape = apr_tensor_get_shape (x, NULL);

  shape[0] = x_shape[0];
  shape[1] = self->n_targets;

  return apr_estimator_check_n_features ("X", x_shape[1], self->n_features, error) &&
         apr_dtype_count_bytes (apr_tensor_get_dtype (self->coefficients), shape,
                                apr_tensor_get_n_dims (self->coefficients), n_elements, size, error);
}

static AprTensor *
predict_samples (const AprLinearResults *self, AprTensor *x, const AprRun *run, GError **error)
{
  g_autofree gpointer data = NULL;
  gsize shape[2];
  gsize n_elements;
  gsize size;

  if (!count_predictions (self, x, shape, &n_elements, &size, error))
    return NULL;

  data = g_try_malloc (MAX (size, 1));
  if (data == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " predictions",
                   n_elements);
      return NULL;
    }

  if (!predict (self, x, run, data, error))
    return NULL;

  return apr_tensor_new_take (apr_tensor_get_dtype (self->coefficients), shape,
                              apr_tensor_get_n_dims (self->coefficients), g_steal_pointer (&data), size);
}

/* A subclass may be fitted without any results of this class. */
static gboolean
check_results (AprLinearRegression *self, const AprLinearResults *results, GError **error)
{
  if (results != NULL)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot predict with an unfitted %s: call fit first",
               G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

AprTensor *
apr_linear_regression_predict (AprEstimator *estimator, AprTensor *x, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autoptr (AprLinearResults) results = apr_linear_regression_ref_results (self);
  AprRun run = get_run (self);

  return check_results (self, results, error) ? predict_samples (results, x, &run, error) : NULL;
}

/**
 * apr_linear_regression_predict_into:
 * @self: a fitted linear regression
 * @x: the features, [n_samples, n_features], as [method@Apr.Estimator.predict] takes them
 * @predictions: where the predictions go: floats or doubles, as the coefficients are; one for each sample and
 *   target
 * @size: the number of bytes there
 * @error: return location for an error
 *
 * Predicts the targets of samples into memory of the caller's, which is aligned for its elements. As
 * [method@Apr.LinearRegression.predict_one], it does not call a subclass's `predict`, which may call it.
 *
 * In one thread, a model in F64 takes no memory for samples in F32 or F64. A model in F32 takes some for its
 * coefficients in double, and samples of other dtypes take some for a few of them, which are freed again.
 *
 * Returns: true, or false with an error of [method@Apr.Estimator.predict], or with %APR_ERROR_SHAPE where @size is
 *   not that of the predictions; where X has a NaN or an infinity, what is in the memory means nothing
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_predict_into (
  AprLinearRegression *self, AprTensor *x, gpointer predictions, gsize size, GError **error)
{
  g_autoptr (AprHeldResults) results = NULL;
  AprRun run;
  gsize shape[2];
  gsize n_elements;
  gsize n_bytes;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (predictions != NULL || size == 0, FALSE);

  results = apr_linear_regression_ref_results (self);
  if (!check_results (self, results, error) || !apr_estimator_check_x (x, &shape[0], &shape[1], error) ||
      !count_predictions (results, x, shape, &n_elements, &n_bytes, error))
    return FALSE;

  if (size != n_bytes)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "%" G_GSIZE_FORMAT " predictions of the dtype %s are %" G_GSIZE_FORMAT
                   " bytes, but there is memory for %" G_GSIZE_FORMAT,
                   n_elements, apr_dtype_to_string (apr_tensor_get_dtype (results->coefficients)), n_bytes,
                   size);
      return FALSE;
    }

  run = get_run (self);
  return predict (results, x, &run, predictions, error);
}

/* As a kernel does it for the same row. */
static G_NO_INLINE double
predict_row (const AprLinearResults *self, const double *x)
{
  double sum = 0;
  gsize i;

  if (self->doubles != NULL)
    {
      for (i = 0; i < self->n_features; i++)
        sum += x[i] * self->doubles[i];

      return sum + self->intercept_double;
    }

  for (i = 0; i < self->n_features; i++)
    sum += x[i] * (double) self->floats[i];

  return (double) (float) (sum + self->intercept_double);
}

static gboolean
check_row (const double *x, gsize n_features, GError **error)
{
  gsize i;

  for (i = 0; i < n_features; i++)
    if (!isfinite (x[i]))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "The sample has %s at feature %" G_GSIZE_FORMAT " (counted from 0)",
                     isnan (x[i]) ? "a NaN" : "an infinity", i);
        return FALSE;
      }

  return TRUE;
}

static void
set_sample_error (AprLinearRegression *self,
                  const AprLinearResults *results,
                  gsize n_features,
                  GError **error)
{
  if (check_results (self, results, error) &&
      apr_estimator_check_n_features ("The sample", n_features, results->n_features, error))
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                 "This model was fitted with %" G_GSIZE_FORMAT
                 " targets, not one: predict a matrix of one row",
                 results->n_targets);
}

/**
 * apr_linear_regression_predict_one:
 * @self: a linear regression that has been fitted to one target
 * @x: (array length=n_features): the features of one sample
 * @n_features: how many there are
 * @error: return location for an error
 *
 * Predicts the target of one sample, and neither allocates nor frees memory, even where another thread fits the model
 * meanwhile.
 *
 * The prediction is that of linear regression itself: a `predict` of a subclass is not called, but may call this. It is
 * what [method@Apr.Estimator.predict] gives for the same row, to the last bit: the products are added in the order of
 * the features, then the intercept, in double, and the sum is rounded to the model's dtype.
 *
 * Returns: the prediction; 0 with %APR_ERROR_NOT_FITTED, %APR_ERROR_SHAPE where the model has another number of
 *   features or more targets than one, or %APR_ERROR_NOT_FINITE
 *
 * Since: 0.1
 */
double
apr_linear_regression_predict_one (AprLinearRegression *self,
                                   const double *x,
                                   gsize n_features,
                                   GError **error)
{
  g_autoptr (AprHeldResults) results = NULL;
  double prediction;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);
  g_return_val_if_fail (x != NULL || n_features == 0, 0);

  results = apr_linear_regression_ref_results (self);
  if (G_UNLIKELY (results == NULL || n_features != results->n_features || results->n_targets != 1))
    {
      set_sample_error (self, results, n_features, error);
      return 0;
    }

  if (G_LIKELY (apr_arithmetic_is_usual ()))
    prediction = predict_row (results, x);
  else
    {
      /* To keep what there was takes as long as a prediction. */
      AprArithmetic arithmetic = apr_arithmetic_enter ();

      prediction = predict_row (results, x);
      apr_arithmetic_leave (&arithmetic);
    }

  if (!isfinite (prediction) && !check_row (x, n_features, error))
    return 0;

  return prediction;
}
