/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/tensor/apr-tensor-private.h"

#define COEFFICIENTS "coefficients"
#define INTERCEPT "intercept"
#define KEY_RANK "aprender.rank"

gboolean
apr_linear_regression_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autofree char *rank = g_strdup_printf ("%d", self->rank);

  return apr_safetensors_writer_add_tensor (writer, COEFFICIENTS, self->coefficients, error) &&
         apr_safetensors_writer_add_tensor (writer, INTERCEPT, self->intercept, error) &&
         (self->rank == APR_RANK_UNKNOWN ||
          apr_safetensors_writer_set_metadata (writer, KEY_RANK, rank, error));
}

/* A tensor of F32 or F64 whose numbers are finite. */
static AprTensor *
load_tensor (AprSafetensorsReader *reader, const char *name, GError **error)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, error);
  g_autoptr (AprTensor) computed = NULL;
  AprDType dtype;
  gsize n_elements;
  gsize i;

  if (tensor == NULL)
    return NULL;

  dtype = apr_tensor_get_dtype (tensor);
  if (dtype == APR_DTYPE_F16 || dtype == APR_DTYPE_BF16)
    computed = apr_tensor_cast (tensor, APR_DTYPE_F32, error);
  else if (dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64)
    computed = apr_tensor_ref (tensor);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                 "The tensor “%s” is %s, but a linear regression has F64, F32, F16 or BF16", name,
                 apr_dtype_to_string (dtype));
  if (computed == NULL)
    return NULL;

  n_elements = apr_tensor_get_n_elements (computed);
  for (i = 0; i < n_elements; i++)
    if (!isfinite (apr_tensor_get_double (computed, i, NULL)))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "The tensor “%s” has a NaN or an infinity at element %" G_GSIZE_FORMAT
                     " (counted from 0)",
                     name, i);
        return NULL;
      }

  return g_steal_pointer (&computed);
}

static gboolean
check_tensors (
  AprTensor *coefficients, AprTensor *intercept, gsize *n_features, gsize *n_targets, GError **error)
{
  gsize n_dims;
  gsize intercept_n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients, &n_dims);
  const gsize *intercept_shape = apr_tensor_get_shape (intercept, &intercept_n_dims);
  g_autofree char *text = apr_shape_to_string (shape, n_dims);
  g_autofree char *intercept_text = apr_shape_to_string (intercept_shape, intercept_n_dims);

  if (n_dims < 1 || n_dims > 2 || apr_tensor_get_n_elements (coefficients) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" COEFFICIENTS
                   "” must have the shape [n_features] or [n_targets, n_features], but it has %s",
                   text);
      return FALSE;
    }

  *n_features = shape[n_dims - 1];
  *n_targets = n_dims == 2 ? shape[0] : 1;

  if (intercept_n_dims != 1 || intercept_shape[0] != *n_targets)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" INTERCEPT "” must have the shape [%" G_GSIZE_FORMAT
                   "] beside coefficients %s, but it has %s",
                   *n_targets, text, intercept_text);
      return FALSE;
    }

  if (apr_tensor_get_dtype (coefficients) != apr_tensor_get_dtype (intercept))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "The tensor “" COEFFICIENTS "” is %s, but “" INTERCEPT "” is %s",
                   apr_dtype_to_string (apr_tensor_get_dtype (coefficients)),
                   apr_dtype_to_string (apr_tensor_get_dtype (intercept)));
      return FALSE;
    }

  return TRUE;
}

gboolean
apr_linear_regression_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error)
{
  g_autoptr (AprTensor) coefficients = load_tensor (reader, COEFFICIENTS, error);
  g_autoptr (AprTensor) intercept = NULL;
  const char *text = g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), KEY_RANK);
  guint64 rank = 0;

  if (coefficients == NULL)
    return FALSE;
  intercept = load_tensor (reader, INTERCEPT, error);
  if (intercept == NULL || !check_tensors (coefficients, intercept, n_features, n_targets, error))
    return FALSE;

  if (text != NULL && !g_ascii_string_to_unsigned (text, 10, 0, MIN (*n_features, G_MAXINT), &rank, NULL))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The metadata “" KEY_RANK "” cannot be “%s” with %" G_GSIZE_FORMAT " features", text,
                   *n_features);
      return FALSE;
    }

  apr_linear_regression_set_results (APR_LINEAR_REGRESSION (estimator), coefficients, intercept,
                                     text != NULL ? (int) rank : APR_RANK_UNKNOWN);
  return TRUE;
}
