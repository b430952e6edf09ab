/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-sidebar.h"

#include <glib/gi18n.h>

/* Fewer columns are seen at a glance. */
#define MIN_SEARCHED 10

/* Rows of features take a while to make: so many are shown, and as many more each time that is asked for. */
#define PAGE 100

struct _TrendlineSidebar
{
  AdwBin parent_instance;

  AdwComboRow *target_row;
  AdwPreferencesGroup *features_group;
  GtkButton *all_button;
  GtkSearchEntry *features_search;
  GtkListBox *features_list;
  GtkButton *more_button;
  AdwComboRow *weight_row;
  GtkSwitch *drop_missing_switch;
  GtkSwitch *intercept_switch;
  GtkSwitch *positive_switch;
  GtkSpinButton *ridge_button;
  AdwComboRow *dtype_row;

  TrendlineFitSession *session;
  GtkFilterListModel *features; /* what can be chosen, of what is searched for */
  GtkSliceListModel *shown;     /* the first of them */
};

G_DEFINE_FINAL_TYPE (TrendlineSidebar, trendline_sidebar, ADW_TYPE_BIN)

static void
trendline_sidebar_dispose (GObject *object)
{
  TrendlineSidebar *self = TRENDLINE_SIDEBAR (object);

  g_clear_object (&self->session);
  g_clear_object (&self->features);
  g_clear_object (&self->shown);

  G_OBJECT_CLASS (trendline_sidebar_parent_class)->dispose (object);
}

static void
trendline_sidebar_class_init (TrendlineSidebarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = trendline_sidebar_dispose;

  gtk_widget_class_set_template_from_resource (widget_class, "/org/aprender/Trendline/trendline-sidebar.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, target_row);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, features_group);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, all_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, features_search);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, features_list);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, more_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, weight_row);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, drop_missing_switch);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, intercept_switch);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, positive_switch);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, ridge_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineSidebar, dtype_row);
}

/* The wheel scrolls what the widget is in, and does not change its value. */
static void
ignore_wheel (GtkWidget *widget)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  guint i;

  for (i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (controller))
        gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_NONE);
    }
}

static void
trendline_sidebar_init (TrendlineSidebar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  ignore_wheel (GTK_WIDGET (self->ridge_button));
}

/* The target and the weight are no features, whatever is chosen. */
static gboolean
is_available (TrendlineSidebar *self, TrendlineColumn *column)
{
  const char *name = trendline_column_get_name (column);

  return g_strcmp0 (name, trendline_fit_session_get_target (self->session)) != 0 &&
         g_strcmp0 (name, trendline_fit_session_get_weight (self->session)) != 0;
}

static void
count_features (TrendlineSidebar *self)
{
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  GListModel *columns = table != NULL ? trendline_table_get_columns (table) : NULL;
  g_autofree char *text = NULL;
  guint n_chosen = 0;
  guint n_available = 0;
  guint i;

  for (i = 0; columns != NULL && i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      if (!is_available (self, column))
        continue;
      n_available++;
      n_chosen += trendline_column_get_is_feature (column) != 0;
    }
  /* Translators: how many features are chosen, of how many */
  text = g_strdup_printf (_ ("%u of %u are chosen"), n_chosen, n_available);
  adw_preferences_group_set_description (self->features_group, text);
}

static GtkWidget *
create_feature_row (gpointer item, gpointer data)
{
  TrendlineColumn *column = item;
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *check = gtk_check_button_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), trendline_column_get_name (column));
  if (trendline_column_get_is_text (column))
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _ ("Texts: one feature for each"));
  gtk_widget_set_valign (check, GTK_ALIGN_CENTER);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  g_object_bind_property (column, "is-feature", check, "active",
                          G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);

  return row;
}

static const char *
get_searched (TrendlineSidebar *self)
{
  return gtk_editable_get_text (GTK_EDITABLE (self->features_search));
}

static gboolean
is_wanted (gpointer item, gpointer data)
{
  return is_available (data, item) && trendline_column_matches (item, get_searched (data));
}

static void
show_features (TrendlineSidebar *self, guint n)
{
  gtk_slice_list_model_set_size (self->shown, n);
  gtk_widget_set_visible (GTK_WIDGET (self->more_button),
                          g_list_model_get_n_items (G_LIST_MODEL (self->features)) > n);
}

static void
on_choice (TrendlineSidebar *self)
{
  gtk_filter_changed (gtk_filter_list_model_get_filter (self->features), GTK_FILTER_CHANGE_DIFFERENT);
  show_features (self, gtk_slice_list_model_get_size (self->shown));
  count_features (self);
}

static void
on_search (TrendlineSidebar *self)
{
  gtk_slice_list_model_set_size (self->shown, PAGE);
  on_choice (self);
}

static void
on_more (TrendlineSidebar *self)
{
  show_features (self, gtk_slice_list_model_get_size (self->shown) + PAGE);
}

/* What a row of a list of columns shows: the name as it is, or the first entry, which stands for none. */
static gboolean
name_to_position (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_autoptr (GObject) row = g_binding_dup_target (binding);
  GListModel *names = adw_combo_row_get_model (ADW_COMBO_ROW (row));
  const char *name = g_value_get_string (from);
  guint i;

  if (names == NULL || g_list_model_get_n_items (names) == 0)
    return FALSE;
  if (name == NULL)
    {
      g_value_set_uint (to, data != NULL ? 0 : GTK_INVALID_LIST_POSITION);
      return TRUE;
    }
  for (i = data != NULL; i < g_list_model_get_n_items (names); i++)
    if (g_str_equal (gtk_string_list_get_string (GTK_STRING_LIST (names), i), name))
      {
        g_value_set_uint (to, i);
        return TRUE;
      }

  return FALSE;
}

static gboolean
position_to_name (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_autoptr (GObject) row = g_binding_dup_target (binding);
  GListModel *names = adw_combo_row_get_model (ADW_COMBO_ROW (row));
  const guint position = g_value_get_uint (from);

  if (names == NULL || position == GTK_INVALID_LIST_POSITION)
    return FALSE;
  if (data != NULL && position == 0)
    g_value_set_string (to, NULL);
  else
    g_value_set_string (to, gtk_string_list_get_string (GTK_STRING_LIST (names), position));

  return TRUE;
}

static void
on_table (TrendlineFitSession *session, GParamSpec *pspec, TrendlineSidebar *self)
{
  TrendlineTable *table = trendline_fit_session_get_table (session);
  GListModel *columns = table != NULL ? trendline_table_get_columns (table) : NULL;
  g_autofree char *target = g_strdup (trendline_fit_session_get_target (session));
  g_autoptr (GtkStringList) targets = gtk_string_list_new (NULL);
  g_autoptr (GtkStringList) weights = gtk_string_list_new (NULL);
  guint i;

  gtk_string_list_append (weights, _ ("None"));
  for (i = 0; columns != NULL && i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      gtk_string_list_append (targets, trendline_column_get_name (column));
      gtk_string_list_append (weights, trendline_column_get_name (column));
    }
  /* A new list selects its first entry, which chooses it. */
  adw_combo_row_set_model (self->target_row, G_LIST_MODEL (targets));
  adw_combo_row_set_model (self->weight_row, G_LIST_MODEL (weights));
  trendline_fit_session_set_target (session, target);
  gtk_editable_set_text (GTK_EDITABLE (self->features_search), "");
  gtk_widget_set_visible (GTK_WIDGET (self->features_search),
                          columns != NULL && g_list_model_get_n_items (columns) >= MIN_SEARCHED);
  gtk_filter_list_model_set_model (self->features, columns);
  on_search (self);
}

static gboolean
dtype_to_position (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_value_set_uint (to, g_value_get_enum (from) == APR_DTYPE_F32);

  return TRUE;
}

static gboolean
position_to_dtype (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_value_set_enum (to, g_value_get_uint (from) == 1 ? APR_DTYPE_F32 : APR_DTYPE_F64);

  return TRUE;
}

/* All columns of numbers, or none if these are chosen, of those that are searched for. */
static void
on_all (GtkButton *button, TrendlineSidebar *self)
{
  GListModel *columns = trendline_table_get_columns (trendline_fit_session_get_table (self->session));
  gboolean is_complete = TRUE;
  guint i;

  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      is_complete &= trendline_column_get_is_feature (column) || trendline_column_get_is_text (column) ||
                     !is_available (self, column) || !trendline_column_matches (column, get_searched (self));
    }
  trendline_fit_session_choose_all (self->session, get_searched (self), !is_complete);
}

/* Sets the session's choices and options. */
void
trendline_sidebar_set_session (TrendlineSidebar *self, TrendlineFitSession *session)
{
  AprLinearRegression *options = trendline_fit_session_get_options (session);
  const GBindingFlags both = G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE;

  self->session = g_object_ref (session);
  self->features =
    gtk_filter_list_model_new (NULL, GTK_FILTER (gtk_custom_filter_new (is_wanted, self, NULL)));
  self->shown = gtk_slice_list_model_new (G_LIST_MODEL (g_object_ref (self->features)), 0, PAGE);
  gtk_list_box_bind_model (self->features_list, G_LIST_MODEL (self->shown), create_feature_row, NULL, NULL);
  g_signal_connect_object (self->more_button, "clicked", G_CALLBACK (on_more), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->all_button, "clicked", G_CALLBACK (on_all), self, 0);
  g_signal_connect_object (self->features_search, "search-changed", G_CALLBACK (on_search), self,
                           G_CONNECT_SWAPPED);
  g_object_bind_property (session, "drop-missing", self->drop_missing_switch, "active", both);
  g_object_bind_property (options, "fit-intercept", self->intercept_switch, "active", both);
  g_object_bind_property (options, "positive", self->positive_switch, "active", both);
  g_object_bind_property (options, "alpha", self->ridge_button, "value", both);
  g_object_bind_property_full (options, "dtype", self->dtype_row, "selected", both, dtype_to_position,
                               position_to_dtype, NULL, NULL);
  g_object_bind_property_full (session, "target", self->target_row, "selected", both, name_to_position,
                               position_to_name, NULL, NULL);
  g_object_bind_property_full (session, "weight", self->weight_row, "selected", both, name_to_position,
                               position_to_name, GINT_TO_POINTER (TRUE), NULL);
  g_signal_connect_object (session, "notify::table", G_CALLBACK (on_table), self, 0);
  g_signal_connect_object (session, "notify::target", G_CALLBACK (on_choice), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "notify::weight", G_CALLBACK (on_choice), self, G_CONNECT_SWAPPED);
  /* Once for each change, of however many columns. */
  g_signal_connect_object (session, "notify::can-undo", G_CALLBACK (count_features), self, G_CONNECT_SWAPPED);
  on_table (session, NULL, self);
}
