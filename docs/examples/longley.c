/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predicts with a saved model: longley MODEL.safetensors DATA.csv prints the SHA-256 of the predictions' bytes. */

#include <aprender/aprender.h>

/* The columns of a plain CSV that the model was fitted with, as a matrix. */
static AprTensor *
read_features (AprEstimator *model, const char *path, GError **error)
{
  g_auto (GStrv) names = apr_estimator_get_feature_names (model);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_auto (GStrv) header = NULL;
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  gsize shape[2] = { 0, apr_estimator_get_n_features (model) };

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  lines = g_strsplit (g_strstrip (text), "\n", -1);
  header = g_strsplit (g_strchomp (lines[0]), ",", -1);

  for (gsize row = 1; lines[row] != NULL; row++, shape[0]++)
    {
      g_auto (GStrv) cells = g_strsplit (g_strchomp (lines[row]), ",", -1);

      for (gsize i = 0; i < shape[1]; i++)
        for (gsize column = 0; header[column] != NULL; column++)
          if (g_str_equal (header[column], names[i]))
            {
              double value = g_ascii_strtod (cells[column], NULL);

              g_array_append_val (values, value);
            }
    }

  return apr_tensor_new_from_doubles ((double *) (gpointer) values->data, values->len, shape, 2, error);
}

int
main (int argc, char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autofree char *hash = NULL;

  if (argc != 3)
    g_error ("Usage: %s MODEL.safetensors DATA.csv", argv[0]);

  if ((model = apr_linear_regression_load (argv[1], &error)) == NULL ||
      (x = read_features (APR_ESTIMATOR (model), argv[2], &error)) == NULL ||
      (predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, &error)) == NULL)
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  hash = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, apr_tensor_get_bytes (predictions));
  g_print ("sha256  %s\n", hash);
  return 0;
}
