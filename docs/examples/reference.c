/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the comments of the classes show are lines of this program, which a test compares and runs. */
#include <aprender/aprender.h>

#include <glib/gstdio.h>
#include <string.h>

static gboolean
use_estimator (AprEstimator *model, AprTensor *x, AprTensor *y, AprTensor *more_x)
{
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (GError) error = NULL;

  if (!apr_estimator_fit (model, x, y, NULL, NULL, &error) ||
      (predictions = apr_estimator_predict (model, more_x, &error)) == NULL)
    g_warning ("%s", error->message);

  return error == NULL && predictions != NULL;
}

static gboolean
save_model (AprTensor *x, AprTensor *y)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error) ||
      !apr_estimator_save (APR_ESTIMATOR (model), "model.safetensors", &error))
    g_printerr ("%s\n", error->message);

  return error == NULL;
}

static void
on_fitted (GObject *model, GAsyncResult *result, gpointer loop)
{
  g_autoptr (GError) error = NULL;

  if (!apr_estimator_fit_finish (APR_ESTIMATOR (model), result, &error))
    g_warning ("%s", error->message);
  g_main_loop_quit (loop);
}

static gboolean
fit_what_was_prepared (AprEstimator *model, AprTensor *x, AprTensor *y)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  GCancellable *cancellable = NULL;
  GAsyncReadyCallback callback = on_fitted;
  gpointer user_data = loop;

  if (!apr_estimator_reserve (model, NULL))
    return FALSE;
  g_object_freeze_notify (G_OBJECT (model));
  apr_estimator_release (model);
  apr_estimator_fit_async (model, x, y, NULL, G_PRIORITY_DEFAULT, cancellable, callback, user_data);
  g_object_thaw_notify (G_OBJECT (model));
  g_main_loop_run (loop);

  return apr_estimator_get_fitted (model);
}

static gboolean
use_cross_products (AprLinearRegression *model,
                    AprTensor *x,
                    AprTensor *y,
                    AprCrossProducts *from_another_machine)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, &error);

  if (state == NULL || !apr_cross_products_update (state, x, y, NULL, NULL, &error) ||
      !apr_cross_products_merge (state, from_another_machine, &error) ||
      !apr_linear_regression_fit_cross_products (model, state, NULL, &error))
    g_printerr ("%s\n", error->message);

  return error == NULL && apr_cross_products_get_n_samples (state) == 12;
}

static gboolean
show_statistics (AprLinearRegression *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_statistics (model, 0, &error);
  guint i;

  if (statistics == NULL)
    return FALSE;
  g_print ("R² %g, p %g\n", apr_regression_statistics_get_r_squared (statistics),
           apr_regression_statistics_get_f_p_value (statistics));

  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (statistics)); i++)
    {
      g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), i);

      g_print ("%s: %g, from %g to %g\n", apr_term_get_name (term), apr_term_get_estimate (term),
               apr_term_get_lower (term), apr_term_get_upper (term));
    }

  return i == 3;
}

static gboolean
test_hypothesis (AprRegressionStatistics *statistics)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;

  if (!apr_regression_statistics_parse_hypothesis (statistics, "x0 = x1", &factors, &values, &error) ||
      (test = apr_regression_statistics_test_hypothesis (statistics, factors, values, &error)) == NULL)
    return FALSE;
  g_print ("F = %g, p = %g\n", apr_hypothesis_test_get_f_statistic (test),
           apr_hypothesis_test_get_f_p_value (test));

  return TRUE;
}

static gboolean
diagnose (AprLinearRegression *model, AprTensor *x, AprTensor *y)
{
  g_autoptr (GError) error = NULL;
  AprTensor *distances;
  g_autoptr (AprRegressionDiagnostics) diagnostics =
    apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);

  if (diagnostics == NULL)
    return FALSE;
  distances = apr_regression_diagnostics_get_cooks_distances (diagnostics);

  return apr_tensor_get_n_elements (distances) == 5;
}

static gboolean
compare_penalties (AprTensor *x, AprTensor *y)
{
  g_autoptr (GError) error = NULL;
  const double alphas[] = { 0.01, 1, 100 };
  g_autoptr (AprFolds) folds = apr_folds_new_shuffled (x, y, NULL, 5, 42, &error);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gsize i;

  for (i = 0; folds != NULL && i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprTensor) errors = NULL;

      apr_linear_regression_set_alpha (model, alphas[i]);
      errors = apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, APR_METRIC_MEAN_SQUARED_ERROR,
                                             NULL, &error);
      if (errors == NULL)
        return FALSE;
      g_print ("%g: %g in the first fold\n", alphas[i], apr_tensor_get_double (errors, 0, NULL));
    }

  return folds != NULL;
}

static gboolean
fit_groups (AprLinearRegression *model, AprTensor *x, AprTensor *y)
{
  const gsize n = 5;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\1\1\0\1\0", n);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) cities = apr_tensor_new_from_bytes (APR_DTYPE_U8, &n, 1, bytes, &error);
  AprTensor *coefficients;
  g_autoptr (AprGroupFits) fits = apr_linear_regression_fit_groups (model, x, y, cities, NULL, NULL, &error);

  if (fits == NULL)
    return FALSE;
  coefficients = apr_group_fits_get_coefficients (fits);

  return apr_tensor_get_n_elements (coefficients) == 4;
}

static GBytes *
camera_read (gpointer camera, const char *name, guint64 offset, gsize size, GError **error)
{
  guint8 *bytes = g_malloc (size);

  if (offset > 24 || strcmp (name, "film") != 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no frame at %" G_GUINT64_FORMAT,
                   name, offset);
      g_free (bytes);
      return NULL;
    }
  memset (bytes, *(const guint8 *) camera, size);
  return g_bytes_new_take (bytes, size);
}

static GBytes *
read_block (G_GNUC_UNUSED AprSafetensorsWriter *writer,
            const char *name,
            guint64 offset,
            gsize size,
            gpointer camera,
            GError **error)
{
  return camera_read (camera, name, offset, size, error);
}

static gboolean
write_tensors (AprTensor *weights)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  if (!apr_safetensors_writer_add_tensor (writer, "weights", weights, &error) ||
      !apr_safetensors_writer_set_metadata (writer, "format", "pt", &error) ||
      !apr_safetensors_writer_write_to_path (writer, "model.safetensors", &error))
    return FALSE;

  return TRUE;
}

static gboolean
write_film (guint8 *camera)
{
  const gsize shape[] = { 2, 2, 2, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  apr_safetensors_writer_set_data_func (writer, read_block, camera, NULL);
  if (!apr_safetensors_writer_declare_tensor (writer, "film", APR_DTYPE_U8, shape, 4, &error) ||
      !apr_safetensors_writer_write_to_path (writer, "film.safetensors", &error))
    return FALSE;

  return TRUE;
}

static gboolean
read_tensors (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader =
    apr_safetensors_reader_new_from_path ("model.safetensors", &error);
  g_autoptr (AprTensor) weights = NULL;

  if (reader == NULL)
    return FALSE;
  weights = apr_safetensors_reader_get_tensor (reader, "weights", &error);

  return weights != NULL;
}

static gboolean
read_slice (GFile *file, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader =
    g_initable_new (APR_TYPE_SAFETENSORS_READER, cancellable, &error, "file", file, "load-mode",
                    APR_SAFETENSORS_LOAD_MODE_READ, NULL);
  g_autoptr (AprTensor) rows = NULL;

  if (reader == NULL)
    return FALSE;
  rows = apr_safetensors_reader_get_slice (reader, "weights", "1:3, ::-1", &error);

  return rows != NULL;
}

static gboolean
read_table (AprCrossProducts *sums)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = g_file_new_for_path ("rents.csv");
  g_autoptr (AprTableReader) reader = apr_table_reader_new_for_file (file, NULL, &error);
  const char *targets[] = { "rent", NULL };
  AprTensor *x;
  AprTensor *y;

  if (reader == NULL)
    return FALSE;
  apr_table_reader_set_targets (reader, targets);
  while (error == NULL && apr_table_reader_read (reader, &x, &y, NULL, NULL, &error))
    {
      apr_cross_products_update (sums, x, y, NULL, NULL, &error);
      apr_tensor_unref (x);
      apr_tensor_unref (y);
    }

  return error == NULL;
}

static AprTensor *
make_tensor (GError **error_out)
{
  g_autoptr (GError) error = NULL;
  const gsize shape[] = { 2, 3 };
  const double values[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (values, 6, shape, 2, &error);

  if (error != NULL)
    g_propagate_error (error_out, g_steal_pointer (&error));
  return g_steal_pointer (&x);
}

int
main (void)
{
  const double rows[] = { 50, 1, 80, 2, 120, 3, 65, 2, 95, 4 }, rents[] = { 520, 840, 1260, 690, 1030 };
  const gsize shape[] = { 5, 2 };
  guint8 camera = 7;
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (rows, 10, shape, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (rents, 5, shape, 1, NULL);
  g_autoptr (AprTensor) tensor = make_tensor (NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprCrossProducts) sums = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (GFile) file = g_file_new_for_path ("model.safetensors");

  /* What the examples read is not there yet, and at the end no longer. */
  if (read_tensors () || read_slice (file, NULL))
    return 1;

  if (!use_estimator (APR_ESTIMATOR (model), x, y, x) ||
      !fit_what_was_prepared (APR_ESTIMATOR (model), x, y) || !save_model (x, y) ||
      !show_statistics (model) || !diagnose (model, x, y) || !fit_groups (model, x, y) ||
      !compare_penalties (x, y) ||
      (statistics = apr_linear_regression_get_statistics (model, 0, NULL)) == NULL ||
      !test_hypothesis (statistics) || !read_table (sums) || !use_cross_products (model, x, y, sums) ||
      tensor == NULL || !write_tensors (x) || !write_film (&camera) || !read_tensors () ||
      !read_slice (file, NULL))
    return 1;

  return g_remove ("rents.csv") != 0 || read_table (sums) ? 1 : 0;
}
