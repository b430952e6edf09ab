/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

#include <glib/gi18n.h>

/* One fit: opens the table, sums its rows up as they are read, solves, and works the statistics out. */
typedef struct
{
  TrendlineRows rows;
  GPtrArray *columns;     /* (element-type utf8): those chosen as features */
  char **texts;           /* those of them whose texts become features */
  AprTableReader *reader; /* (nullable) */
  AprTensor *x;           /* (nullable): with what follows, rows that have been read */
  AprTensor *y;           /* (nullable) */
  AprTensor *weights;     /* (nullable) */
  TrendlineFoldSums *folds;
  AprLinearRegression *model;
  gboolean is_search; /* for the penalty that the model is to have; it is not fitted then */
  GVariant *choice;   /* (nullable): what was chosen when it began; of rows that are added, nothing */
} Fit;

static void
fit_clear_rows (Fit *fit)
{
  g_clear_pointer (&fit->x, apr_tensor_unref);
  g_clear_pointer (&fit->y, apr_tensor_unref);
  g_clear_pointer (&fit->weights, apr_tensor_unref);
}

static void
fit_free (Fit *fit)
{
  trendline_rows_clear (&fit->rows);
  g_clear_pointer (&fit->columns, g_ptr_array_unref);
  g_strfreev (fit->texts);
  g_clear_object (&fit->reader);
  fit_clear_rows (fit);
  g_clear_pointer (&fit->folds, trendline_fold_sums_free);
  g_clear_object (&fit->model);
  g_clear_pointer (&fit->choice, g_variant_unref);
  g_free (fit);
}

/* Only now do the results change. */
static void
succeed (GTask *task, AprRegressionStatistics *statistics)
{
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  GError *error = NULL;

  /* It may have been cancelled when the model was done already. */
  if (g_cancellable_set_error_if_cancelled (g_task_get_cancellable (task), &error))
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  self->n_dropped = apr_table_reader_get_n_dropped (fit->reader);
  g_object_freeze_notify (G_OBJECT (self));
  trendline_fit_session_set_results (self, fit->model, statistics, fit->rows.target, fit->rows.weight);
  if (fit->choice != NULL)
    {
      trendline_fit_session_set_fitted (self, fit->choice);
      trendline_fit_session_begin_score (self, g_steal_pointer (&fit->folds));
    }
  g_object_thaw_notify (G_OBJECT (self));
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_IDLE);
  g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
on_statistics (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  Fit *fit = g_task_get_task_data (task);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  GError *error = NULL;

  statistics = apr_linear_regression_get_statistics_finish (fit->model, result, &error);
  if (statistics != NULL)
    succeed (task, statistics);
  else
    trendline_fit_session_fail (task, error);
}

static void
on_solved (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  const char *const targets[] = { fit->rows.target, NULL };
  GError *error = NULL;

  if (!apr_linear_regression_fit_cross_products_finish (fit->model, result, &error) ||
      !apr_estimator_set_target_names (APR_ESTIMATOR (fit->model), targets, &error))
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  if (apr_linear_regression_get_has_statistics (fit->model))
    {
      apr_linear_regression_get_statistics_async (fit->model, 0, G_PRIORITY_DEFAULT, self->cancellable,
                                                  on_statistics, task);
      return;
    }
  succeed (task, NULL);
}

static void
on_reading (AprTableReader *reader, GParamSpec *pspec, TrendlineFitSession *self)
{
  trendline_fit_session_set_fraction (self, TRENDLINE_READING * apr_table_reader_get_progress (reader));
}

static void
on_solving (AprEstimator *model, GParamSpec *pspec, TrendlineFitSession *self)
{
  trendline_fit_session_set_fraction (self, TRENDLINE_READING +
                                              (1 - TRENDLINE_READING) * apr_estimator_get_progress (model));
}

static void
solve (GTask *task, AprCrossProducts *sums)
{
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  GError *error = NULL;

  if (!apr_cross_products_set_feature_names (sums, (const char *const *) fit->rows.features, &error))
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_SOLVING);
  g_signal_connect_object (fit->model, "notify::progress", G_CALLBACK (on_solving), self, 0);
  apr_linear_regression_fit_cross_products_async (fit->model, sums, G_PRIORITY_DEFAULT, self->cancellable,
                                                  on_solved, task);
}

static void
on_summed (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  g_autoptr (AprCrossProducts) sums = NULL;
  GError *error = NULL;

  sums = g_task_propagate_pointer (G_TASK (result), &error);
  if (sums == NULL && error == NULL)
    error =
      g_error_new (APR_ERROR, APR_ERROR_EMPTY, _ ("%s has no rows"), apr_table_reader_get_name (fit->reader));
  if (error != NULL)
    trendline_fit_session_fail (task, error);
  else if (fit->is_search)
    {
      self->n_dropped = apr_table_reader_get_n_dropped (fit->reader);
      trendline_fit_session_begin_search (task, g_steal_pointer (&fit->folds), fit->model, fit->choice);
    }
  else
    solve (task, sums);
}

static void
finish_in_thread (GTask *thread_task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Fit *fit = data;
  AprCrossProducts *sums;
  GError *error = NULL;

  sums = trendline_fold_sums_finish (fit->folds, cancellable, &error);
  if (error != NULL)
    g_task_return_error (thread_task, error);
  else
    g_task_return_pointer (thread_task, sums, g_object_unref);
}

/* Does something with the fit in a thread, which nothing else touches meanwhile. */
static void
run_in_thread (GTask *task, GTaskThreadFunc run, GAsyncReadyCallback callback)
{
  g_autoptr (GTask) thread_task =
    g_task_new (g_task_get_source_object (task), g_task_get_cancellable (task), callback, task);

  g_task_set_source_tag (thread_task, run_in_thread);
  g_task_set_task_data (thread_task, g_task_get_task_data (task), NULL);
  g_task_run_in_thread (thread_task, run);
}

static void read_rows (GTask *task);

static void
on_added (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    read_rows (task);
  else
    trendline_fit_session_fail (task, error);
}

static void
add_in_thread (GTask *thread_task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Fit *fit = data;
  GError *error = NULL;

  if (trendline_fold_sums_add (fit->folds, fit->x, fit->y, fit->weights, cancellable, &error))
    g_task_return_boolean (thread_task, TRUE);
  else
    g_task_return_error (thread_task, error);
}

static void
on_rows (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  GError *error = NULL;

  fit_clear_rows (fit);
  if (!apr_table_reader_read_finish (fit->reader, result, &fit->x, &fit->y, &fit->weights, &error))
    {
      if (error == NULL)
        run_in_thread (task, finish_in_thread, on_summed);
      else
        {
          self->n_missing = apr_table_reader_get_n_missing (fit->reader);
          trendline_fit_session_fail (task, error);
        }
      return;
    }
  run_in_thread (task, add_in_thread, on_added);
}

static void
read_rows (GTask *task)
{
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);

  apr_table_reader_read_async (fit->reader, G_PRIORITY_DEFAULT, self->cancellable, on_rows, task);
}

static void open_table (GTask *task);

/* The columns in the order of the table, and in place of one of texts a feature for each text. */
static char **
list_features (Fit *fit, char **categories)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  guint i;

  for (i = 0; i < fit->columns->len; i++)
    {
      const char *column = fit->columns->pdata[i];
      g_autofree char *prefix = g_strconcat (column, "=", NULL);
      gsize j;

      if (!g_strv_contains ((const char *const *) fit->texts, column))
        g_strv_builder_add (builder, column);
      else
        for (j = 0; categories != NULL && categories[j] != NULL; j++)
          if (g_str_has_prefix (categories[j], prefix))
            g_strv_builder_add (builder, categories[j]);
    }

  return g_strv_builder_end (builder);
}

static void
on_categories (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  Fit *fit = g_task_get_task_data (task);
  g_auto (GStrv) categories = NULL;
  GError *error = NULL;

  categories = apr_table_reader_read_categories_finish (fit->reader, result, &error);
  if (categories == NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  fit->rows.features = list_features (fit, categories);
  g_clear_object (&fit->reader);
  open_table (task);
}

static void
on_opened (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  g_autoptr (GFileInputStream) stream = NULL;
  GError *error = NULL;

  stream = g_file_read_finish (fit->rows.file, result, &error);
  if (stream == NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  fit->reader = trendline_rows_create_reader (&fit->rows, stream);
  if (fit->rows.features == NULL)
    {
      const char *none[] = { NULL };
      g_auto (GStrv) numbers = list_features (fit, (char **) none);

      /* Texts in rows that are passed over, because one of these is missing, are no features. */
      apr_table_reader_set_features (fit->reader, (const char *const *) numbers);
      apr_table_reader_read_categories_async (fit->reader, (const char *const *) fit->texts,
                                              G_PRIORITY_DEFAULT, self->cancellable, on_categories, task);
      return;
    }
  g_signal_connect_object (fit->reader, "notify::progress", G_CALLBACK (on_reading), self, 0);
  read_rows (task);
}

static void
open_table (GTask *task)
{
  Fit *fit = g_task_get_task_data (task);
  GError *error = NULL;

  if (fit->is_search && fit->rows.features != NULL &&
      !trendline_fold_sums_check_features (g_strv_length (fit->rows.features), &error))
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  g_file_read_async (fit->rows.file, G_PRIORITY_DEFAULT, g_task_get_cancellable (task), on_opened, task);
}

/* Takes down what is chosen now: it may be changed while the fit runs. */
static Fit *
fit_new (TrendlineFitSession *self)
{
  Fit *fit = g_new0 (Fit, 1);
  GListModel *columns = trendline_table_get_columns (self->table);
  g_autoptr (GStrvBuilder) texts = g_strv_builder_new ();
  guint i;

  fit->rows.file = g_object_ref (trendline_table_get_file (self->table));
  fit->rows.decimal_comma = trendline_table_get_decimal_comma (self->table);
  fit->rows.drop_missing = self->drop_missing;
  fit->rows.target = g_strdup (self->target);
  fit->rows.weight = g_strdup (self->weight);
  fit->choice = g_variant_ref (self->choice);
  fit->folds = trendline_fold_sums_new ();
  fit->model = APR_LINEAR_REGRESSION (apr_estimator_clone (APR_ESTIMATOR (self->options)));
  fit->columns = g_ptr_array_new_with_free_func (g_free);
  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);
      const char *name = trendline_column_get_name (column);

      if (!trendline_column_get_is_feature (column) || g_strcmp0 (name, self->target) == 0 ||
          g_strcmp0 (name, self->weight) == 0)
        continue;
      g_ptr_array_add (fit->columns, g_strdup (name));
      if (trendline_column_get_is_text (column))
        g_strv_builder_add (texts, name);
    }
  fit->texts = g_strv_builder_end (texts);
  if (fit->texts[0] == NULL)
    fit->rows.features = list_features (fit, NULL);

  return fit;
}

static void
begin (TrendlineFitSession *self,
       gboolean is_search,
       gpointer source_tag,
       GAsyncReadyCallback callback,
       gpointer user_data)
{
  Fit *fit;
  GTask *task;

  task = trendline_fit_session_begin (self, TRENDLINE_FIT_STATE_READING, source_tag, callback, user_data);
  if (task == NULL)
    return;

  fit = fit_new (self);
  fit->is_search = is_search;
  g_task_set_task_data (task, fit, (GDestroyNotify) fit_free);
  if (fit->rows.target == NULL || fit->columns->len == 0)
    trendline_fit_session_fail (
      task, g_error_new (APR_ERROR, APR_ERROR_EMPTY,
                         fit->rows.target == NULL ? _ ("No target is chosen") : _ ("No feature is chosen")));
  else if (g_strcmp0 (fit->rows.target, fit->rows.weight) == 0)
    {
      /* Translators: the name of a column */
      trendline_fit_session_fail (
        task, g_error_new (APR_ERROR, APR_ERROR_WEIGHTS,
                           _ ("“%s” is the target and the weights: choose another column for "
                              "one of them"),
                           fit->rows.target));
    }
  else
    open_table (task);
}

/*
 * Fits a model to the table with what is chosen and the options as they are now.
 *
 * The model and its statistics change when it succeeds. It fails with %APR_ERROR_EMPTY if no feature is chosen, or if
 * the table has no rows, with %G_IO_ERROR_INVALID_DATA where the table is wrong, with %G_IO_ERROR_CANCELLED, with
 * %G_IO_ERROR_PENDING if the session is busy, and as fits do.
 */
void
trendline_fit_session_fit_async (TrendlineFitSession *self, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (self->table != NULL);

  begin (self, FALSE, trendline_fit_session_fit_async, callback, user_data);
}

gboolean
trendline_fit_session_fit_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/*
 * Finds the ridge penalty with which new rows of the table are predicted best, for what is chosen and the other options
 * as they are now, and sets it. No model is fitted.
 *
 * It fails with %TRENDLINE_FOLDS_ERROR where that cannot be told, as a score cannot, or if other choices have been made
 * meanwhile, and as a fit does.
 */
void
trendline_fit_session_find_ridge_async (TrendlineFitSession *self,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (self->table != NULL);

  begin (self, TRUE, trendline_fit_session_find_ridge_async, callback, user_data);
}

gboolean
trendline_fit_session_find_ridge_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/* The columns of a table that the features are made of; a text's is what is left of “=” in the name of its feature. */
static gboolean
is_of_features (const char *column, char **features)
{
  g_autofree char *prefix = g_strconcat (column, "=", NULL);
  gsize i;

  for (i = 0; features[i] != NULL; i++)
    if (g_str_equal (features[i], column) || g_str_has_prefix (features[i], prefix))
      return TRUE;

  return FALSE;
}

/* A model need not know its target: it is the one column that is no feature then. */
static char *
find_target (TrendlineTable *table, char **features, GError **error)
{
  GListModel *columns = trendline_table_get_columns (table);
  g_autofree char *target = NULL;
  guint n_found = 0;
  guint i;

  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);
      const char *name = trendline_column_get_name (column);

      if (is_of_features (name, features))
        continue;
      n_found++;
      g_free (target);
      target = g_strdup (name);
    }
  if (n_found == 1)
    return g_steal_pointer (&target);

  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
               _ ("The table needs one column beside the features of the model, and has %u"), n_found);

  return NULL;
}

static void
on_table_to_add (GObject *source, GAsyncResult *result, gpointer data)
{
  GTask *task = data;
  TrendlineFitSession *self = g_task_get_source_object (task);
  Fit *fit = g_task_get_task_data (task);
  g_autoptr (TrendlineTable) table = NULL;
  GError *error = NULL;

  table = trendline_table_load_finish (result, &error);
  if (table != NULL && fit->rows.target != NULL &&
      trendline_table_find_column (table, fit->rows.target) == NULL)
    /* Translators: the name of a column */
    g_set_error (&error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                 _ ("The table needs the target of the model, a column “%s”"), fit->rows.target);
  else if (table != NULL && (fit->rows.target == NULL || self->table == NULL))
    {
      /* A file names no column of weights, and a further column may be theirs. */
      g_autofree char *only = find_target (table, fit->rows.features, &error);

      if (fit->rows.target == NULL)
        fit->rows.target = g_steal_pointer (&only);
    }
  if (error != NULL)
    {
      trendline_fit_session_fail (task, error);
      return;
    }
  fit->rows.decimal_comma = trendline_table_get_decimal_comma (table);
  trendline_fit_session_set_state (self, TRENDLINE_FIT_STATE_READING);
  open_table (task);
}

/*
 * Adds the rows of a table to those that the model was fitted to, and fits again, as all of them together would be.
 * Rows of it that miss a number are passed over if drop_missing is set, and an error otherwise.
 *
 * The table needs the columns of the model. It fails with %APR_ERROR_STATE if the model does not have its sums, with
 * %APR_ERROR_FEATURE_NAMES if it does not know its features or the target cannot be told, and as fits do.
 */
void
trendline_fit_session_add_async (TrendlineFitSession *self,
                                 GFile *file,
                                 gboolean drop_missing,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  Fit *fit;
  g_autoptr (AprCrossProducts) sums = NULL;
  GTask *task;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (self->model != NULL);

  task = trendline_fit_session_begin (self, TRENDLINE_FIT_STATE_OPENING, trendline_fit_session_add_async,
                                      callback, user_data);
  if (task == NULL)
    return;

  fit = g_new0 (Fit, 1);
  fit->rows.file = g_object_ref (file);
  fit->rows.drop_missing = drop_missing;
  fit->rows.target = g_strdup (self->model_target);
  fit->rows.weight = g_strdup (self->model_weight);
  fit->rows.features = apr_estimator_get_feature_names (APR_ESTIMATOR (self->model));
  fit->model = APR_LINEAR_REGRESSION (apr_estimator_clone (APR_ESTIMATOR (self->model)));
  g_task_set_task_data (task, fit, (GDestroyNotify) fit_free);
  sums = apr_linear_regression_get_cross_products (self->model);
  if (sums == NULL)
    {
      trendline_fit_session_fail (task, g_error_new (APR_ERROR, APR_ERROR_STATE,
                                                     _ ("The model was saved without the sums of its data")));
      return;
    }
  if (fit->rows.features == NULL)
    {
      trendline_fit_session_fail (task,
                                  g_error_new (APR_ERROR, APR_ERROR_FEATURE_NAMES,
                                               _ ("The model does not know the names of its features")));
      return;
    }
  fit->folds = trendline_fold_sums_new_from (sums);
  trendline_table_load_async (file, self->cancellable, on_table_to_add, task);
}

gboolean
trendline_fit_session_add_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
