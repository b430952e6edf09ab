/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>

/* Rents, by square metres and rooms. */
static gboolean
fit_and_save (GError **error)
{
  const double rows[] = { 50, 1, 80, 2, 120, 3, 65, 2, 95, 4 }, rents[] = { 520, 840, 1260, 690, 1030 };
  const gsize shape[] = { 5, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 10, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, 5, shape, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  apr_linear_regression_set_keep_state (model, TRUE);
  return apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, error) &&
         apr_estimator_save (APR_ESTIMATOR (model), "rents.safetensors", error);
}

static gboolean
continue_later (GError **error)
{
  const double rows[] = { 70, 2, 100, 3 }, rents[] = { 735, 1050 }, flat[] = { 85, 3 };
  const gsize shape[] = { 2, 2 }, flat_shape[] = { 1, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 4, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, 2, shape, 1, NULL);
  g_autoptr (AprTensor) x_new = apr_tensor_new_from_doubles (flat, 2, flat_shape, 2, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_load ("rents.safetensors", error);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprTensor) predicted = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autofree char *summary = NULL;
  guint i;

  if (model == NULL || !apr_linear_regression_partial_fit (model, x, y, NULL, NULL, error) ||
      (summary = apr_linear_regression_summary (model, error)) == NULL ||
      (statistics = apr_linear_regression_get_statistics (model, 0, error)) == NULL ||
      (predicted = apr_estimator_predict (APR_ESTIMATOR (model), x_new, error)) == NULL ||
      !apr_linear_regression_predict_interval (model, x_new, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper,
                                               error))
    return FALSE;

  puts (summary);
  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (statistics)); i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), i);

      printf ("%s %.6f\n", apr_term_get_name (term), apr_term_get_standard_error (term));
    }
  printf ("%.3f %.3f %.3f\n", apr_tensor_get_double (lower, 0, NULL),
          apr_tensor_get_double (predicted, 0, NULL), apr_tensor_get_double (upper, 0, NULL));
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (fit_and_save (&error) && continue_later (&error))
    return 0;

  fprintf (stderr, "%s\n", error->message);
  return 1;
}
