/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

static gboolean
run (GError **error)
{
  const float rows[] = { 1, 2, 2, 1, 3, 4, 4, 3 }, targets[] = { 5, 4, 11, 10 }, new_row[] = { 5, 6 };
  const gsize shape[] = { 4, 2 }, new_shape[] = { 1, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_floats (rows, 8, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_floats (targets, 4, shape, 1, NULL);
  g_autoptr (AprTensor) x_new = apr_tensor_new_from_floats (new_row, 2, new_shape, 2, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) slopes = NULL;
  g_autoptr (AprTensor) offset = NULL;
  g_autoptr (AprTensor) predicted = NULL;
  g_autofree char *coefficients = NULL;
  g_autofree char *intercept = NULL;
  g_autofree char *prediction = NULL;

  apr_linear_regression_set_dtype (model, APR_DTYPE_F32);
  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, error))
    return FALSE;

  slopes = apr_linear_regression_get_coefficients (model);
  offset = apr_linear_regression_get_intercept (model);
  coefficients = apr_tensor_to_string (slopes);
  intercept = apr_tensor_to_string (offset);
  g_print ("%s %s %g\n", coefficients, intercept,
           apr_estimator_score (APR_ESTIMATOR (model), x, y, NULL, NULL));

  if (!apr_estimator_save (APR_ESTIMATOR (model), "first.safetensors", error) ||
      (loaded = apr_linear_regression_load ("first.safetensors", error)) == NULL ||
      (predicted = apr_estimator_predict (APR_ESTIMATOR (loaded), x_new, error)) == NULL)
    return FALSE;

  prediction = apr_tensor_to_string (predicted);
  g_print ("%s\n", prediction);
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (run (&error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
