/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-checks-private.h"

#include <math.h>

#include "aprender/tensor/apr-tensor-private.h"

static gboolean
check_number (const char *name, AprTensor *tensor, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (tensor);

  if (apr_dtype_is_numeric (dtype))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
               "%s has the dtype %s, but models compute with F16, BF16, F32, F64, BOOL and integers", name,
               apr_dtype_to_string (dtype));
  return FALSE;
}

AprDType
apr_estimator_choose_dtype (AprDType x)
{
  return x == APR_DTYPE_F16 || x == APR_DTYPE_BF16 || x == APR_DTYPE_F32 ? APR_DTYPE_F32 : APR_DTYPE_F64;
}

static gboolean
check_matrix (AprTensor *x, gsize *n_samples, gsize *n_features, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (x, &n_dims);

  if (n_dims != 2)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);
      g_autofree char *advice = n_dims == 1
                                ? g_strdup_printf (": the samples of one feature are [%" G_GSIZE_FORMAT
                                                   ", 1], one sample is [1, %" G_GSIZE_FORMAT "]",
                                                   shape[0], shape[0])
                                : g_strdup ("");

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "X must have the shape [n_samples, n_features], but it has %s%s", text, advice);
      return FALSE;
    }

  *n_samples = shape[0];
  *n_features = shape[1];
  return TRUE;
}

gboolean
apr_estimator_check_x (AprTensor *x, gsize *n_samples, gsize *n_features, GError **error)
{
  return check_matrix (x, n_samples, n_features, error) && check_number ("X", x, error);
}

static gboolean
check_sample_weight (AprTensor *sample_weight, gsize n_samples, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (sample_weight, &n_dims);

  if (n_dims != 1)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "sample_weight must have the shape [n_samples], but it has %s", text);
      return FALSE;
    }

  if (shape[0] != n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "X has %" G_GSIZE_FORMAT " samples, but sample_weight has %" G_GSIZE_FORMAT, n_samples,
                   shape[0]);
      return FALSE;
    }

  return check_number ("sample_weight", sample_weight, error);
}

gboolean
apr_estimator_check_y (AprTensor *y, GError **error)
{
  if (y != NULL)
    return TRUE;

  g_set_error_literal (
    error, APR_ERROR, APR_ERROR_EMPTY,
    "There is no y: no targets. An AprTableReader reads them if its property “targets” names "
    "them before the first row is read");
  return FALSE;
}

gsize
apr_estimator_count_targets (AprTensor *y)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (y, &n_dims);

  return n_dims == 2 ? shape[1] : 1;
}

gboolean
apr_estimator_check_samples (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error)
{
  gsize n_dims;
  gsize n_samples;
  gsize n_features;
  const gsize *shape;

  if (!check_matrix (x, &n_samples, &n_features, error) || !apr_estimator_check_y (y, error))
    return FALSE;

  shape = apr_tensor_get_shape (y, &n_dims);
  if (n_dims != 1 && n_dims != 2)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "y must have the shape [n_samples] or [n_samples, n_targets], but it has %s", text);
      return FALSE;
    }

  if (shape[0] != n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "X has %" G_GSIZE_FORMAT " samples, but y has %" G_GSIZE_FORMAT, n_samples, shape[0]);
      return FALSE;
    }

  return check_number ("X", x, error) && check_number ("y", y, error) &&
         (sample_weight == NULL || check_sample_weight (sample_weight, n_samples, error));
}

/* That there are features and targets, and at least so many samples. */
static gboolean
check_sizes (AprTensor *x, AprTensor *y, gsize min_samples, GError **error)
{
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  gsize n_samples = shape[0];
  gsize n_features = shape[1];
  gsize n_targets = apr_estimator_count_targets (y);

  if (n_samples >= min_samples && n_features > 0 && n_targets > 0)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
               "Cannot fit %" G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
               " targets: at least one of each is needed%s",
               n_samples, n_features, n_targets,
               n_samples > 0 && n_features == 0 ? ". The feature of the mean alone is a column of ones" : "");
  return FALSE;
}

gboolean
apr_estimator_check_fit (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error)
{
  return apr_estimator_check_samples (x, y, sample_weight, error) && check_sizes (x, y, 1, error);
}

gboolean
apr_estimator_check_more (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error)
{
  return apr_estimator_check_samples (x, y, sample_weight, error) && check_sizes (x, y, 0, error);
}

static gboolean
is_finite (AprTensor *tensor, gsize *index)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);

  *index = apr_dtype_find_not_finite (apr_tensor_get_dtype (tensor),
                                      g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL), n_elements);

  return *index == n_elements;
}

gboolean
apr_estimator_check_finite (const char *name, AprTensor *tensor, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  const char *what;
  gsize i;

  if (is_finite (tensor, &i))
    return TRUE;

  what = isnan (apr_tensor_get_double (tensor, i, NULL)) ? "a NaN" : "an infinity";
  if (n_dims == 2)
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "%s has %s at row %" G_GSIZE_FORMAT ", column %" G_GSIZE_FORMAT " (counted from 0)", name,
                 what, i / shape[1], i % shape[1]);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "%s has %s at element %" G_GSIZE_FORMAT " (counted from 0)", name, what, i);
  return FALSE;
}

gboolean
apr_estimator_check_predictions (
  const char *type_name, AprTensor *x, gsize n_targets, gsize n_now, AprTensor *predictions, GError **error)
{
  gsize n_samples = apr_tensor_get_shape (x, NULL)[0];
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (predictions, &n_dims);
  gsize n_given = n_dims == 2 ? shape[1] : 1;
  gsize i;

  if (n_dims == 0 || n_dims > 2 || shape[0] != n_samples || (n_given != n_targets && n_given != n_now))
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                   "predict of %s gave predictions of the shape %s for %" G_GSIZE_FORMAT
                   " samples and %" G_GSIZE_FORMAT " targets",
                   type_name, text, n_samples, n_now);
      return FALSE;
    }

  /* A NaN or an infinity in X shows in the predictions: only then is it looked for. */
  return !apr_dtype_is_numeric (apr_tensor_get_dtype (predictions)) || is_finite (predictions, &i) ||
         apr_estimator_check_finite ("X", x, error);
}
