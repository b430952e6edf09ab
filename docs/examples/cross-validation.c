/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

/* The rents of flats by square metres and rooms, in districts: 0 is the centre, 1 the north, 2 the south. */
static AprFolds *
make_folds (GError **error)
{
  const double flats[] = {
    54, 2, 38, 1, 81, 3, 61, 2, 72, 3, 45, 2, 95, 4, 50, 2, 66, 3, 84, 3, 40, 1, 70, 3
  };
  const double rents[] = { 1010, 765, 1420, 790, 905, 640, 1130, 735, 910, 1105, 640, 1260 };
  const gsize shape[] = { 12, 2 };
  g_autoptr (GBytes) districts = g_bytes_new ("\0\0\0\1\1\1\1\2\2\2\2\0", 12);
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (flats, 24, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, 12, shape, 1, NULL);
  g_autoptr (AprTensor) labels = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, districts, NULL);

  return apr_folds_new_from_labels (x, y, NULL, labels, error);
}

static gboolean
run (GError **error)
{
  const double alphas[] = { 0, 1000, 10000 };
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprFolds) folds = make_folds (error);
  gsize i;

  for (i = 0; folds != NULL && i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprTensor) errors = NULL;

      apr_linear_regression_set_alpha (model, alphas[i]);
      errors = apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, APR_METRIC_ROOT_MEAN_SQUARED_ERROR,
                                             NULL, error);
      if (errors == NULL)
        return FALSE;
      g_print ("alpha %g: wrong by %.1f, %.1f and %.1f\n", alphas[i], apr_tensor_get_double (errors, 0, NULL),
               apr_tensor_get_double (errors, 1, NULL), apr_tensor_get_double (errors, 2, NULL));
    }

  return folds != NULL;
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
