/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

/* Target, weight and features, in the order of the columns. */
#define CHOICE "(msmsas)"

static GVariant *
take_choice (TrendlineFitSession *self)
{
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

  return g_variant_ref_sink (g_variant_new (CHOICE, self->target, self->weight, &features));
}

/* Puts what was chosen before a change onto the list, unless the change is to be passed over. */
void
trendline_fit_session_remember_choice (TrendlineFitSession *self)
{
  g_autoptr (GVariant) choice = NULL;

  if (self->is_undoing || self->table == NULL)
    return;
  choice = take_choice (self);
  if (g_variant_equal (choice, self->choice))
    return;
  g_ptr_array_add (self->undo, g_steal_pointer (&self->choice));
  self->choice = g_steal_pointer (&choice);
  g_object_notify (G_OBJECT (self), "can-undo");
}

/* From here on, changes of what is chosen can be undone; what was before cannot. */
void
trendline_fit_session_start_undo (TrendlineFitSession *self)
{
  GListModel *columns;
  guint i;

  self->is_undoing = FALSE;
  g_ptr_array_set_size (self->undo, 0);
  g_clear_pointer (&self->choice, g_variant_unref);
  g_object_notify (G_OBJECT (self), "can-undo");
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

/* Takes the last change of target, weight or features back, if there is one. */
void
trendline_fit_session_undo (TrendlineFitSession *self)
{
  g_autoptr (GVariant) choice = NULL;
  g_autofree const char **features = NULL;
  GListModel *columns;
  const char *target;
  const char *weight;
  guint i;

  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (self->undo->len == 0)
    return;

  choice = g_ptr_array_steal_index (self->undo, self->undo->len - 1);
  g_variant_get (choice, "(m&sm&s^a&s)", &target, &weight, &features);
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
  self->is_undoing = FALSE;

  g_variant_unref (self->choice);
  self->choice = g_steal_pointer (&choice);
  g_object_notify (G_OBJECT (self), "can-undo");
}

/* Chooses all columns that have numbers as features, or none at all, in one change. */
void
trendline_fit_session_choose_all (TrendlineFitSession *self, gboolean is_feature)
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

      trendline_column_set_is_feature (column, is_feature && !trendline_column_get_is_text (column));
    }
  self->is_undoing = FALSE;
  trendline_fit_session_remember_choice (self);
}
