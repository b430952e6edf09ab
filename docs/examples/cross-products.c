/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

static AprCrossProducts *
sum (const double *rows, const double *targets, GError **error)
{
  const gsize shape[] = { 2, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 4, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (targets, 2, shape, 1, NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, error);

  if (state == NULL || !apr_cross_products_update (state, x, y, NULL, NULL, error))
    return NULL;
  return g_steal_pointer (&state);
}

static gboolean
run (GError **error)
{
  const double rows[] = { 1, 2, 2, 1, 3, 4, 4, 3 }, targets[] = { 5, 4, 11, 10 };
  g_autoptr (AprCrossProducts) state = sum (rows, targets, error);
  g_autoptr (AprCrossProducts) other = state == NULL ? NULL : sum (rows + 4, targets + 2, error);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) coefficients = NULL;
  g_autofree char *text = NULL;

  if (other == NULL || !apr_cross_products_merge (state, other, error) ||
      !apr_linear_regression_fit_cross_products (model, state, error))
    return FALSE;

  coefficients = apr_linear_regression_get_coefficients (model);
  text = apr_tensor_to_string (coefficients);
  g_print ("%" G_GUINT64_FORMAT " %s\n", apr_cross_products_get_n_samples (state), text);
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
