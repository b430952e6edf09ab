/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

static gboolean
show (const double *areas, const double *rents, const double *weights, gsize n, GError **error)
{
  const gsize shape[] = { n, 1 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (areas, n, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, n, shape, 1, NULL);
  g_autoptr (AprTensor) sample_weight =
    weights == NULL ? NULL : apr_tensor_new_from_doubles (weights, n, shape, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  guint i;

  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, sample_weight, NULL, error) ||
      (statistics = apr_linear_regression_get_statistics (model, 0, error)) == NULL)
    return FALSE;

  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (statistics)); i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), i);

      g_print ("%s %.4f, standard error %.4f\n", apr_term_get_name (term), apr_term_get_estimate (term),
               apr_term_get_standard_error (term));
    }
  g_print ("%" G_GUINT64_FORMAT " degrees of freedom\n",
           apr_regression_statistics_get_df_residual (statistics));
  return TRUE;
}

int
main (void)
{
  /* Rents by square metres. The third is the mean of two flats: it has the weight 2. */
  const double areas[] = { 50, 65, 80, 120, 80 }, rents[] = { 523, 671, 835, 1214, 835 };
  const double weights[] = { 1, 1, 2, 1 };
  g_autoptr (GError) error = NULL;

  /* The first four rows with weights, and all five, of which two are the third, without. */
  if (show (areas, rents, weights, 4, &error) && show (areas, rents, NULL, 5, &error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
