/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

/* However long the table is, no more than some blocks of rows are in memory. */
static gboolean
add_rows (AprCrossProducts *state, AprTableReader *reader, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  AprTensor *x;
  AprTensor *y;
  gboolean ok = TRUE;

  while (ok && apr_table_reader_read (reader, &x, &y, NULL, NULL, &local_error))
    {
      ok = apr_cross_products_update (state, x, y, NULL, NULL, &local_error);
      apr_tensor_unref (x);
      apr_tensor_unref (y);
    }
  /* FALSE without an error is the end of the table. */
  if (local_error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static gboolean
run (GError **error)
{
  const char *columns[] = { "district", NULL }, *targets[] = { "rent", NULL };
  g_autoptr (GFile) file = g_file_new_for_path ("flats.csv");
  g_autoptr (AprTableReader) reader = apr_table_reader_new_for_file (file, NULL, error);
  g_autoptr (AprTableReader) rows = NULL;
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) districts = NULL;
  g_auto (GStrv) features = NULL;
  guint i;

  if (reader == NULL || (rows = apr_table_reader_new_for_file (file, NULL, error)) == NULL ||
      (districts = apr_table_reader_read_categories (reader, columns, NULL, error)) == NULL)
    return FALSE;

  /* Each value of a text column becomes a feature: 1 in the rows that have it, 0 in the others. */
  g_strv_builder_add_many (builder, "area", "rooms", NULL);
  g_strv_builder_addv (builder, (const char **) districts);
  features = g_strv_builder_end (builder);
  apr_table_reader_set_features (rows, (const char *const *) features);
  apr_table_reader_set_targets (rows, targets);

  apr_linear_regression_set_keep_state (model, TRUE);
  if ((state = apr_cross_products_new (g_strv_length (features), 1, error)) == NULL ||
      !apr_cross_products_set_feature_names (state, (const char *const *) features, error) ||
      !add_rows (state, rows, error) ||
      !apr_linear_regression_fit_cross_products (model, state, NULL, error) ||
      (statistics = apr_linear_regression_get_statistics (model, 0, error)) == NULL)
    return FALSE;

  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (statistics)); i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), i);

      g_print ("%-15s %9.3f %8.3f\n", apr_term_get_name (term), apr_term_get_estimate (term),
               apr_term_get_standard_error (term));
    }
  g_print ("%" G_GUINT64_FORMAT " rows\n", apr_table_reader_get_n_rows (rows));
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
