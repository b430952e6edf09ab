/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <locale.h>

/* Sums two samples up, and names them. */
static AprCrossProducts *
sum (const double *rows, const double *targets, const char *identity, GError **error)
{
  const gsize shape[] = { 2, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 4, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (targets, 2, shape, 1, NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, error);

  if (state == NULL || !apr_cross_products_update (state, x, y, NULL, NULL, error) ||
      !apr_cross_products_set_identity (state, identity, error))
    return NULL;
  return g_steal_pointer (&state);
}

/* A part of the samples is summed up where it is, and sent as bytes. */
static GBytes *
send_part (GError **error)
{
  const double rows[] = { 3, 4, 4, 3 }, targets[] = { 11, 10 };
  g_autoptr (AprCrossProducts) state = sum (rows, targets, "Tuesday", error);

  return state == NULL ? NULL : apr_cross_products_to_bytes (state, error);
}

static gboolean
run (GError **error)
{
  const double rows[] = { 1, 2, 2, 1 }, targets[] = { 5, 4 }, new_row[] = { 5, 6 };
  g_autoptr (GBytes) sent = send_part (error);
  g_autoptr (AprCrossProducts) state = sent == NULL ? NULL : sum (rows, targets, "Monday", error);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (GError) refusal = NULL;
  g_autofree char *identities = NULL;
  g_autofree char *text = NULL;

  if (state == NULL || !apr_cross_products_merge_bytes (state, sent, error))
    return FALSE;
  if (!apr_cross_products_merge_bytes (state, sent, &refusal))
    g_print ("%s\n", refusal->message);

  if (!apr_linear_regression_fit_cross_products (model, state, NULL, error))
    return FALSE;
  coefficients = apr_linear_regression_get_coefficients (model);
  text = apr_tensor_to_string (coefficients);
  identities = g_strjoinv (", ", (char **) apr_cross_products_get_identities (state));
  g_print ("%s: %" G_GUINT64_FORMAT " samples, %s\n", identities, apr_cross_products_get_n_samples (state),
           text);
  g_print ("%g\n", apr_linear_regression_predict_one (model, new_row, 2, NULL));
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "");
  if (run (&error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
