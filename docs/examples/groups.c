/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

/* Rents by square metres, each in its city: 0 is Bern, 1 is Oslo, 2 is Rome. */
static AprGroupFits *
fit (GError **error)
{
  const double areas[] = { 50, 80, 60, 120, 65, 95, 30 }, rents[] = { 510, 810, 740, 1210, 800, 960, 450 };
  const gsize shape[] = { 7, 1 };
  g_autoptr (GBytes) cities = g_bytes_new ("\2\2\1\2\1\2\0", 7);
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (areas, 7, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, 7, shape, 1, NULL);
  g_autoptr (AprTensor) groups = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, cities, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  return apr_linear_regression_fit_groups (model, x, y, groups, NULL, NULL, error);
}

int
main (void)
{
  static const char *const names[] = { "Bern", "Oslo", "Rome" };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprGroupFits) fits = fit (&error);
  gsize i;

  if (fits == NULL)
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  for (i = 0; i < apr_group_fits_get_n_groups (fits); i++)
    {
      gsize city = (gsize) apr_tensor_get_double (apr_group_fits_get_labels (fits), i, NULL);

      g_print ("%s: %g + %g x, rank %g\n", names[city],
               apr_tensor_get_double (apr_group_fits_get_intercepts (fits), i, NULL),
               apr_tensor_get_double (apr_group_fits_get_coefficients (fits), i, NULL),
               apr_tensor_get_double (apr_group_fits_get_ranks (fits), i, NULL));
    }
  return 0;
}
