/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

/* Target, weight, features in the order of the columns, and the options: whether gaps are passed over, intercept,
 * positive, numbers of 32 bits, and the ridge penalty. */
#define CHOICE "(msmsasbbbbd)"
#define DROP_MISSING 3
#define RIDGE 7

static GVariant *
take_choice (TrendlineFitSession *self)
{
  AprLinearRegression *options = self->options;
  GListModel *columns = trendline_table_get_columns (self->table);
  GVariantBuilder features;
  guint i;

  g_variant_builder_init (&features, G_VARIANT_TYPE_STRING_ARRAY);
  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      if (trendline_column_get_is_feature (column))
        g_variant_builder_add (&features, "s", trendline_column_get_name (column));
    }

  return g_variant_ref_sink (g_variant_new (
    CHOICE, self->target, self->weight, &features, self->drop_missing,
    apr_linear_regression_get_fit_intercept (options), apr_linear_regression_get_positive (options),
    apr_linear_regression_get_dtype (options) == APR_DTYPE_F32, apr_linear_regression_get_alpha (options)));
}

static gboolean
differ_in_ridge_only (GVariant *one, GVariant *other)
{
  gsize i;

  for (i = 0; i < g_variant_n_children (one); i++)
    {
      g_autoptr (GVariant) value = g_variant_get_child_value (one, i);
      g_autoptr (GVariant) other_value = g_variant_get_child_value (other, i);

      if (g_variant_equal (value, other_value) == (i == RIDGE))
        return FALSE;
    }

  return TRUE;
}

static void
notify_choice (TrendlineFitSession *self)
{
  g_object_notify (G_OBJECT (self), "can-undo");
  g_object_notify (G_OBJECT (self), "outdated");
}

/* Puts what was chosen before a change onto the list, unless the change is to be passed over. */
void
trendline_fit_session_remember_choice (TrendlineFitSession *self)
{
  g_autoptr (GVariant) choice = NULL;
  gboolean is_step;

  if (self->is_undoing || self->table == NULL)
    return;
  choice = take_choice (self);
  if (g_variant_equal (choice, self->choice))
    return;
  is_step = differ_in_ridge_only (self->choice, choice);
  /* The penalty is changed in steps, which make one change. */
  if (is_step && self->is_step)
    {
      g_variant_unref (self->choice);
      if (g_variant_equal (g_ptr_array_index (self->undo, self->undo->len - 1), choice))
        {
          g_ptr_array_set_size (self->undo, (int) self->undo->len - 1);
          is_step = FALSE;
        }
    }
  else
    g_ptr_array_add (self->undo, self->choice);
  self->is_step = is_step;
  self->choice = g_steal_pointer (&choice);
  notify_choice (self);
}

/* Sets a penalty that is no step of others. */
void
trendline_fit_session_set_ridge (TrendlineFitSession *self, double alpha)
{
  self->is_step = FALSE;
  apr_linear_regression_set_alpha (self->options, alpha);
  self->is_step = FALSE;
}

/* Whether the results are of other choices than those of now. */
gboolean
trendline_fit_session_get_outdated (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), FALSE);

  return self->model != NULL && self->fitted != NULL && !g_variant_equal (self->fitted, self->choice);
}

/* Whether the fit that made the model passed over gaps. */
gboolean
trendline_fit_session_has_dropped_missing (TrendlineFitSession *self)
{
  gboolean drop_missing = self->drop_missing;

  if (self->fitted != NULL)
    g_variant_get_child (self->fitted, DROP_MISSING, "b", &drop_missing);

  return drop_missing;
}

/* From here on, changes of what is chosen can be undone; what was before cannot. */
void
trendline_fit_session_start_undo (TrendlineFitSession *self)
{
  GListModel *columns;
  guint i;

  self->is_undoing = FALSE;
  self->is_step = FALSE;
  g_ptr_array_set_size (self->undo, 0);
  g_clear_pointer (&self->choice, g_variant_unref);
  notify_choice (self);
  if (self->table == NULL)
    return;

  self->choice = take_choice (self);
  columns = trendline_table_get_columns (self->table);
  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      g_signal_connect_object (column, "notify::is-feature",
                               G_CALLBACK (trendline_fit_session_remember_choice), self, G_CONNECT_SWAPPED);
    }
}

gboolean
trendline_fit_session_get_can_undo (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), FALSE);

  return self->undo->len > 0;
}

/* Takes the last change of target, weight, features or options back, if there is one. */
void
trendline_fit_session_undo (TrendlineFitSession *self)
{
  g_autoptr (GVariant) choice = NULL;
  g_autofree const char **features = NULL;
  GListModel *columns;
  const char *target;
  const char *weight;
  gboolean drop_missing;
  gboolean intercept;
  gboolean positive;
  gboolean is_float;
  double alpha;
  guint i;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (self->undo->len == 0)
    return;

  choice = g_ptr_array_steal_index (self->undo, self->undo->len - 1);
  g_variant_get (choice, "(m&sm&s^a&sbbbbd)", &target, &weight, &features, &drop_missing, &intercept,
                 &positive, &is_float, &alpha);
  self->is_undoing = TRUE;
  columns = trendline_table_get_columns (self->table);
  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      trendline_column_set_is_feature (column,
                                       g_strv_contains (features, trendline_column_get_name (column)));
    }
  trendline_fit_session_set_target (self, target);
  trendline_fit_session_set_weight (self, weight);
  trendline_fit_session_set_drop_missing (self, drop_missing);
  apr_linear_regression_set_fit_intercept (self->options, intercept);
  apr_linear_regression_set_positive (self->options, positive);
  apr_linear_regression_set_dtype (self->options, is_float ? APR_DTYPE_F32 : APR_DTYPE_F64);
  apr_linear_regression_set_alpha (self->options, alpha);
  self->is_undoing = FALSE;
  self->is_step = FALSE;

  g_variant_unref (self->choice);
  self->choice = g_steal_pointer (&choice);
  notify_choice (self);
}

/* Chooses all columns of numbers as features, or no column, of those whose names contain a text, in one change. */
void
trendline_fit_session_choose_all (TrendlineFitSession *self, const char *text, gboolean is_feature)
{
  GListModel *columns;
  guint i;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));
  g_return_if_fail (self->table != NULL);

  self->is_undoing = TRUE;
  columns = trendline_table_get_columns (self->table);
  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      if (trendline_column_matches (column, text))
        trendline_column_set_is_feature (column, is_feature && !trendline_column_get_is_text (column));
    }
  self->is_undoing = FALSE;
  trendline_fit_session_remember_choice (self);
}
