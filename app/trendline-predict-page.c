/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-predict-page.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "app/trendline-format.h"

#define LEVEL 0.95
/* More are not typed by hand; the button for tables stays. */
#define MAX_INPUTS 500

/* A row of the list: an entry for a number, or a choice of texts, which makes several features. */
typedef struct
{
  GtkWidget *row;
  gsize first; /* among the features */
  gsize n;     /* 1 for a number */
  gboolean is_text;
} Input;

struct _TrendlinePredictPage
{
  AdwBin parent_instance;

  GtkStack *stack;
  GtkLabel *title;
  GtkLabel *prediction;
  GtkLabel *interval;
  GtkDropDown *kind_drop_down;
  AdwPreferencesGroup *features_group;
  GtkListBox *features_list;

  TrendlineFitSession *session;
  AprLinearRegression *model; /* (nullable) */
  char **names;               /* (nullable): the features that the rows are for */
  GArray *inputs;             /* (element-type Input) */
  gboolean has_too_many;      /* for rows */
  GCancellable *cancellable;  /* of the interval that is being worked out */
};

G_DEFINE_FINAL_TYPE (TrendlinePredictPage, trendline_predict_page, ADW_TYPE_BIN)

static void
trendline_predict_page_dispose (GObject *object)
{
  TrendlinePredictPage *self = TRENDLINE_PREDICT_PAGE (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->session);
  g_clear_object (&self->model);
  g_clear_pointer (&self->names, g_strfreev);
  g_clear_pointer (&self->inputs, g_array_unref);

  G_OBJECT_CLASS (trendline_predict_page_parent_class)->dispose (object);
}

/* A number as the user's language, a program or the table writes it. */
static gboolean
parse_number (TrendlinePredictPage *self, const char *text, double *number)
{
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  g_autoptr (GString) number_alone = g_string_new (text);
  char *stripped;
  char *end;

  /* What was copied from a label may be isolated from text that is read from right to left. */
  g_string_replace (number_alone, "\u2066", "", 0);
  g_string_replace (number_alone, "\u2069", "", 0);
  stripped = g_strstrip (number_alone->str);

  if (table != NULL && trendline_table_get_decimal_comma (table))
    g_strdelimit (stripped, ",", '.');
  *number = g_strtod (stripped, &end);

  return end != stripped && *end == '\0' && isfinite (*number);
}

/* What is typed, as a row of features; NULL if an entry is empty, or holds no number, which it shows. */
static double *
read_features (TrendlinePredictPage *self, gsize n_features)
{
  g_autofree double *features = g_new0 (double, n_features);
  gboolean complete = TRUE;
  guint i;

  for (i = 0; i < self->inputs->len; i++)
    {
      const Input *input = &g_array_index (self->inputs, Input, i);

      if (ADW_IS_COMBO_ROW (input->row))
        features[input->first + adw_combo_row_get_selected (ADW_COMBO_ROW (input->row))] = 1;
      else
        {
          const char *text = gtk_editable_get_text (GTK_EDITABLE (input->row));
          const gboolean is_number = parse_number (self, text, &features[input->first]);

          if (is_number || *text == '\0')
            gtk_widget_remove_css_class (input->row, "error");
          else
            gtk_widget_add_css_class (input->row, "error");
          complete &= is_number;
        }
    }

  return complete ? g_steal_pointer (&features) : NULL;
}

static void
on_interval (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlinePredictPage) self = data;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (!apr_linear_regression_predict_interval_finish (APR_LINEAR_REGRESSION (source), result, &lower, &upper,
                                                      &error))
    {
      /* Another is being worked out. */
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        gtk_label_set_label (self->interval, error->message);
      return;
    }
  /* What was typed meanwhile has an interval of its own. */
  if (self->cancellable == NULL || g_task_get_cancellable (G_TASK (result)) != self->cancellable)
    return;

  from = trendline_format_number (apr_tensor_get_double (lower, 0, NULL));
  to = trendline_format_number (apr_tensor_get_double (upper, 0, NULL));
  /* Translators: an interval, such as “95 %: 12.3 to 14.5” */
  text = g_strdup_printf (_ ("95 %%: %s to %s"), from, to);
  gtk_label_set_label (self->interval, text);
}

static void
show_prediction (TrendlinePredictPage *self)
{
  gsize n_features;
  g_autofree double *features = NULL;
  g_autofree char *text = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (GError) error = NULL;
  AprIntervalKind kind;
  double prediction;

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  /* The rows are being made, or there are too many. */
  if (self->model == NULL || self->inputs->len == 0)
    {
      gtk_label_set_label (self->prediction, "–");
      gtk_label_set_label (
        self->interval,
        self->has_too_many ? _ ("There are too many features to type. Predict a table instead.") : "");
      return;
    }

  n_features = apr_estimator_get_n_features (APR_ESTIMATOR (self->model));
  features = read_features (self, n_features);
  gtk_label_set_label (self->interval, "");
  if (features == NULL)
    {
      gtk_label_set_label (self->prediction, "–");
      gtk_label_set_label (self->interval, _ ("Type a number for each feature."));
      return;
    }

  prediction = apr_linear_regression_predict_one (self->model, features, n_features, &error);
  if (error != NULL)
    {
      gtk_label_set_label (self->prediction, "–");
      gtk_label_set_label (self->interval, error->message);
      return;
    }
  text = trendline_format_number (prediction);
  gtk_label_set_label (self->prediction, text);

  if (!apr_linear_regression_get_has_statistics (self->model))
    return;
  x = apr_tensor_new_from_doubles (features, n_features, (const gsize[]){ 1, n_features }, 2, &error);
  kind = gtk_drop_down_get_selected (self->kind_drop_down) == 0 ? APR_INTERVAL_PREDICTION
                                                                : APR_INTERVAL_CONFIDENCE;
  self->cancellable = g_cancellable_new ();
  apr_linear_regression_predict_interval_async (self->model, x, LEVEL, kind, G_PRIORITY_DEFAULT,
                                                self->cancellable, on_interval, g_object_ref (self));
}

/* How many features, from the first on, are texts of one column, as in “color=red” and “color=blue”. */
static gsize
count_texts (char **names, gsize first)
{
  const char *equals = strchr (names[first], '=');
  gsize n = 1;

  if (equals != NULL)
    while (names[first + n] != NULL &&
           strncmp (names[first + n], names[first], (gsize) (equals - names[first]) + 1) == 0)
      n++;

  return n;
}

/* Whether a feature, as “color=red”, is a text of a column of the table. */
static gboolean
has_text_column (TrendlineTable *table, const char *feature)
{
  const char *equals = strchr (feature, '=');
  g_autofree char *name = equals != NULL ? g_strndup (feature, (gsize) (equals - feature)) : NULL;
  TrendlineColumn *column = name != NULL ? trendline_table_find_column (table, name) : NULL;

  return column != NULL && trendline_column_get_is_text (column);
}

/* Of one feature alone, or of columns that are called “dose=1” and “dose=2”, only the table tells what they are.
 * Without a table, several that begin alike are texts. */
static Input
find_input (TrendlinePredictPage *self, gsize first)
{
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  Input input = { .first = first, .n = count_texts (self->names, first) };

  input.is_text = table != NULL ? has_text_column (table, self->names[first]) : input.n > 1;
  if (!input.is_text)
    input.n = 1;

  return input;
}

static GtkWidget *
create_text_row (TrendlinePredictPage *self, char **names, gsize first, gsize n)
{
  const gsize length = (gsize) (strchr (names[first], '=') - names[first]);
  g_autofree char *column = g_strndup (names[first], length);
  g_autoptr (GtkStringList) texts = gtk_string_list_new (NULL);
  GtkWidget *row = adw_combo_row_new ();
  gsize i;

  for (i = 0; i < n; i++)
    gtk_string_list_append (texts, names[first + i] + length + 1);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), column);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (texts));
  g_signal_connect_object (row, "notify::selected", G_CALLBACK (show_prediction), self, G_CONNECT_SWAPPED);

  return row;
}

/* The first number of the column in the table is a place to start from. Without a table, no number is. */
static char *
find_first_number (TrendlinePredictPage *self, const char *name)
{
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  GListModel *columns = table != NULL ? trendline_table_get_columns (table) : NULL;
  double number;
  gsize row;
  guint i;

  for (i = 0; columns != NULL && i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      if (!g_str_equal (trendline_column_get_name (column), name))
        continue;
      for (row = 0; row < trendline_table_get_n_rows (table); row++)
        {
          const char *cell = trendline_table_get_cell (table, row, i);

          if (parse_number (self, cell, &number))
            return g_strdup (cell);
        }
    }

  return g_strdup ("");
}

static GtkWidget *
create_number_row (TrendlinePredictPage *self, const char *name)
{
  g_autofree char *text = find_first_number (self, name);
  GtkWidget *row = adw_entry_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), name);
  adw_entry_row_set_input_purpose (ADW_ENTRY_ROW (row), GTK_INPUT_PURPOSE_NUMBER);
  gtk_editable_set_text (GTK_EDITABLE (row), text);
  /* A sign is before its number, also where texts are read from right to left. */
  if (gtk_widget_get_direction (row) == GTK_TEXT_DIR_RTL)
    {
      gtk_widget_set_direction (GTK_WIDGET (gtk_editable_get_delegate (GTK_EDITABLE (row))),
                                GTK_TEXT_DIR_LTR);
      gtk_editable_set_alignment (GTK_EDITABLE (row), 1);
    }
  g_signal_connect_object (row, "changed", G_CALLBACK (show_prediction), self, G_CONNECT_SWAPPED);

  return row;
}

/* Names that features have in the statistics, too, where they have none of their own. */
static char **
name_features (AprLinearRegression *model)
{
  char **names = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  g_autoptr (GStrvBuilder) builder = NULL;
  gsize i;

  if (names != NULL)
    return names;
  builder = g_strv_builder_new ();
  for (i = 0; i < apr_estimator_get_n_features (APR_ESTIMATOR (model)); i++)
    {
      g_autofree char *name = g_strdup_printf ("x%" G_GSIZE_FORMAT, i);

      g_strv_builder_add (builder, name);
    }

  return g_strv_builder_end (builder);
}

/* How many rows there would be: the texts of a column are one. */
static gsize
count_inputs (TrendlinePredictPage *self)
{
  gsize n = 0;
  gsize i;

  for (i = 0; self->names[i] != NULL; i += find_input (self, i).n)
    n++;

  return n;
}

/* A further fit to the same features leaves what is typed. */
static void
fill_list (TrendlinePredictPage *self)
{
  g_auto (GStrv) names = name_features (self->model);
  GtkListBoxRow *row;
  gsize i;

  if (self->names != NULL && g_strv_equal ((const char *const *) names, (const char *const *) self->names))
    return;
  g_array_set_size (self->inputs, 0);
  while ((row = gtk_list_box_get_row_at_index (self->features_list, 0)) != NULL)
    gtk_list_box_remove (self->features_list, GTK_WIDGET (row));
  g_strfreev (self->names);
  self->names = g_steal_pointer (&names);

  self->has_too_many = count_inputs (self) > MAX_INPUTS;
  gtk_widget_set_visible (GTK_WIDGET (self->features_group), !self->has_too_many);
  if (self->has_too_many)
    return;
  for (i = 0; self->names[i] != NULL; i += g_array_index (self->inputs, Input, self->inputs->len - 1).n)
    {
      Input input = find_input (self, i);

      input.row = input.is_text ? create_text_row (self, self->names, i, input.n)
                                : create_number_row (self, self->names[i]);
      gtk_list_box_append (self->features_list, input.row);
      g_array_append_val (self->inputs, input);
    }
}

static void
on_model (TrendlineFitSession *session, GParamSpec *pspec, TrendlinePredictPage *self)
{
  const char *target = trendline_fit_session_get_model_target (session);
  g_autofree char *title = NULL;

  g_set_object (&self->model, trendline_fit_session_get_model (session));
  gtk_stack_set_visible_child_name (self->stack, self->model != NULL ? "model" : "empty");
  if (self->model == NULL)
    {
      g_clear_pointer (&self->names, g_strfreev);
      return;
    }

  /* Translators: the name of a column follows */
  title = target != NULL ? g_strdup_printf (_ ("Prediction of %s"), target) : g_strdup (_ ("Prediction"));
  gtk_label_set_label (self->title, title);
  gtk_widget_set_visible (GTK_WIDGET (self->kind_drop_down),
                          apr_linear_regression_get_has_statistics (self->model));
  fill_list (self);
  show_prediction (self);
}

static void
trendline_predict_page_class_init (TrendlinePredictPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = trendline_predict_page_dispose;

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/aprender/Trendline/trendline-predict-page.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, stack);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, title);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, prediction);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, interval);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, kind_drop_down);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, features_group);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePredictPage, features_list);
}

static void
trendline_predict_page_init (TrendlinePredictPage *self)
{
  self->inputs = g_array_new (FALSE, FALSE, sizeof (Input));
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_object (self->kind_drop_down, "notify::selected", G_CALLBACK (show_prediction), self,
                           G_CONNECT_SWAPPED);
}

/* Predicts with the session's model as one types. */
void
trendline_predict_page_set_session (TrendlinePredictPage *self, TrendlineFitSession *session)
{
  self->session = g_object_ref (session);
  g_signal_connect_object (session, "notify::model", G_CALLBACK (on_model), self, 0);
  on_model (session, NULL, self);
}
