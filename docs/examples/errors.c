/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <math.h>

int
main (void)
{
  const double rows[] = { 1, 2, 3, NAN }, targets[] = { 1, 2 };
  const gsize shape[] = { 2, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 4, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (targets, 2, shape, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) predicted = NULL;
  g_autoptr (GError) error = NULL;

  predicted = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
  if (g_error_matches (error, APR_ERROR, APR_ERROR_NOT_FITTED))
    g_print ("%s\n", error->message);
  g_clear_error (&error);

  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error))
    g_print ("%s\n%d %d\n", error->message, g_error_matches (error, APR_ERROR, APR_ERROR_NOT_FINITE),
             apr_estimator_get_fitted (APR_ESTIMATOR (model)));
  g_clear_error (&error);

  loaded = apr_linear_regression_load ("missing.safetensors", &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    g_print ("%s\n", error->message);
  return 0;
}
