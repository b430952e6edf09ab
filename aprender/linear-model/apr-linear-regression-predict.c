/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include "aprender/tensor/apr-tensor-private.h"

/* The elements of an F32 or F64 tensor as doubles. */
static double *
copy_doubles (AprTensor *tensor)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  double *values = g_new (double, n_elements);
  gsize i;

  for (i = 0; i < n_elements; i++)
    values[i] = apr_dtype_read_double (apr_tensor_get_dtype (tensor), data, i);

  return values;
}

/* The products are summed in the order of the features, in double, and rounded once, whatever the dtypes are.
 */
AprTensor *
apr_linear_regression_predict (AprEstimator *estimator, AprTensor *x, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  AprDType dtype = apr_tensor_get_dtype (self->coefficients);
  g_autofree double *coefficients = copy_doubles (self->coefficients);
  g_autofree double *intercept = copy_doubles (self->intercept);
  gsize n_features = apr_estimator_get_n_features (estimator);
  gsize n_targets = apr_estimator_get_n_targets (estimator);
  gsize shape[2] = { apr_tensor_get_shape (x, NULL)[0], n_targets };
  gsize n_dims = apr_tensor_get_n_dims (self->coefficients);
  gboolean wide = apr_tensor_get_dtype (x) == APR_DTYPE_F64;
  const double *doubles = wide ? apr_tensor_get_doubles (x, NULL, NULL) : NULL;
  const float *floats = wide ? NULL : apr_tensor_get_floats (x, NULL, NULL);
  guint8 *data;
  gsize n_elements;
  gsize size;
  gsize row;
  gsize target;
  gsize i;

  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &size, error))
    return NULL;
  data = g_try_malloc (MAX (size, 1));
  if (data == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "No memory for %" G_GSIZE_FORMAT " predictions",
                   n_elements);
      return NULL;
    }

  for (row = 0; row < shape[0]; row++)
    for (target = 0; target < n_targets; target++)
      {
        const double *weights = coefficients + target * n_features;
        gsize element = row * n_targets + target;
        double sum = 0;

        if (wide)
          for (i = 0; i < n_features; i++)
            sum += doubles[row * n_features + i] * weights[i];
        else
          for (i = 0; i < n_features; i++)
            sum += (double) floats[row * n_features + i] * weights[i];
        sum += intercept[target];

        if (dtype == APR_DTYPE_F64)
          ((double *) (gpointer) data)[element] = sum;
        else
          ((float *) (gpointer) data)[element] = (float) sum;
      }

  return apr_tensor_new_take (dtype, shape, n_dims, data, size);
}
