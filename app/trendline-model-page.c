/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-model-page.h"

#include <math.h>

#include <glib/gi18n.h>

#include "app/trendline-format.h"
#include "app/trendline-heading.h"
#include "app/trendline-term.h"

/* More names would leave no room for the terms. */
#define MAX_NAMES 5

struct _TrendlineModelPage
{
  AdwBin parent_instance;

  GtkStack *stack;
  GtkFlowBox *figures;
  GtkLabel *note;
  GtkColumnView *view;
  GtkSortListModel *terms; /* (unowned) the list that the view shows */
  GtkLabel *score;         /* (unowned) (nullable) how well new rows are predicted */
};

G_DEFINE_FINAL_TYPE (TrendlineModelPage, trendline_model_page, ADW_TYPE_BIN)

/* A column of the list of terms: what it shows is a property of TrendlineTerm. */
typedef struct
{
  const char *title;
  const char *property;
  char *(*format) (double value);
} TermColumn;

static char *
format_stars (double p)
{
  return g_strdup (trendline_format_stars (p));
}

/* What is not a number begins where its column begins. */
static gboolean
is_number (const TermColumn *column)
{
  return column->format != NULL && column->format != format_stars;
}

static const TermColumn term_columns[] = {
  { N_ ("Term"), "name", NULL },
  { N_ ("Estimate"), "estimate", trendline_format_number },
  { N_ ("Std. Error"), "standard-error", trendline_format_number },
  { N_ ("t"), "t-value", trendline_format_number },
  { N_ ("p"), "p-value", trendline_format_p_value },
  { N_ ("Stars"), "p-value", format_stars },
  { N_ ("Lower 95 %"), "lower", trendline_format_number },
  { N_ ("Upper 95 %"), "upper", trendline_format_number },
};

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const TermColumn *column = data;
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), is_number (column) ? 1 : 0);
  gtk_label_set_selectable (GTK_LABEL (label), FALSE);
  if (column->format != NULL)
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const TermColumn *column = data;
  GObject *term = gtk_list_item_get_item (item);
  g_autofree char *text = NULL;
  double value;

  if (column->format == NULL)
    {
      g_autofree char *name = NULL;

      g_object_get (term, column->property, &name, NULL);
      text = g_strdup (g_strcmp0 (name, "(Intercept)") == 0 ? _ ("(Intercept)") : name);
    }
  else
    {
      g_object_get (term, column->property, &value, NULL);
      text = column->format (value);
    }
  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)), text);
}

static void
add_column (TrendlineModelPage *self, const TermColumn *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkExpression *expression = gtk_property_expression_new (TRENDLINE_TYPE_TERM, NULL, column->property);
  g_autoptr (GtkColumnViewColumn) view_column = NULL;
  g_autoptr (GtkSorter) sorter = NULL;

  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), (gpointer) column);
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), (gpointer) column);
  if (column->format == NULL)
    sorter = GTK_SORTER (gtk_string_sorter_new (expression));
  else
    sorter = GTK_SORTER (gtk_numeric_sorter_new (expression));
  view_column = gtk_column_view_column_new (_ (column->title), factory);
  gtk_column_view_column_set_sorter (view_column, sorter);
  gtk_column_view_column_set_expand (view_column, column->format == NULL);
  gtk_column_view_column_set_resizable (view_column, TRUE);
  gtk_column_view_append_column (self->view, view_column);
}

static void
trendline_model_page_class_init (TrendlineModelPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/aprender/Trendline/trendline-model-page.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlineModelPage, stack);
  gtk_widget_class_bind_template_child (widget_class, TrendlineModelPage, figures);
  gtk_widget_class_bind_template_child (widget_class, TrendlineModelPage, note);
  gtk_widget_class_bind_template_child (widget_class, TrendlineModelPage, view);
}

static void
trendline_model_page_init (TrendlineModelPage *self)
{
  gsize i;

  gtk_widget_init_template (GTK_WIDGET (self));
  for (i = 0; i < G_N_ELEMENTS (term_columns); i++)
    {
      add_column (self, &term_columns[i]);
      if (is_number (&term_columns[i]))
        trendline_heading_align_end (self->view, (guint) i);
    }
}

/* Returns: (transfer none): the label of the value */
static GtkLabel *
add_figure (TrendlineModelPage *self, const char *name, char *value)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *caption = gtk_label_new (name);
  GtkWidget *figure = gtk_label_new (value);
  GtkWidget *child = gtk_flow_box_child_new ();

  gtk_label_set_xalign (GTK_LABEL (caption), 0);
  gtk_label_set_xalign (GTK_LABEL (figure), 0);
  gtk_label_set_selectable (GTK_LABEL (figure), TRUE);
  gtk_widget_add_css_class (caption, "caption");
  gtk_widget_add_css_class (caption, "dim-label");
  gtk_widget_add_css_class (figure, "title-4");
  gtk_widget_add_css_class (figure, "numeric");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (figure), GTK_ACCESSIBLE_RELATION_LABELLED_BY, caption, NULL,
                                  -1);
  gtk_box_append (GTK_BOX (box), caption);
  gtk_box_append (GTK_BOX (box), figure);
  gtk_widget_set_focusable (child, FALSE);
  gtk_flow_box_child_set_child (GTK_FLOW_BOX_CHILD (child), box);
  gtk_flow_box_append (self->figures, child);
  g_free (value);

  return GTK_LABEL (figure);
}

/* The score comes later than the other figures, which do not move then. */
static void
show_score (TrendlineModelPage *self, const TrendlineScore *score)
{
  const gboolean is_known = score->problem != NULL || !isnan (score->error);
  g_autofree char *error = trendline_format_number (score->error);

  gtk_label_set_label (self->score, is_known ? error : "…");
}

static void
add_score (TrendlineModelPage *self, const TrendlineScore *score)
{
  const char *meaning = _ ("How far predictions are off for rows that the model has not seen");

  self->score = add_figure (self, _ ("Error for New Rows"), g_strdup (""));
  gtk_widget_set_tooltip_text (gtk_widget_get_parent (GTK_WIDGET (self->score)), meaning);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->score), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, meaning,
                                  -1);
  show_score (self, score);
}

static void
show_figures (TrendlineModelPage *self,
              AprLinearRegression *model,
              AprRegressionStatistics *statistics,
              const TrendlineScore *score)
{
  GtkWidget *child;

  self->score = NULL;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->figures))) != NULL)
    gtk_flow_box_remove (self->figures, child);

  if (statistics != NULL)
    {
      add_figure (
        self, _ ("Rows"),
        g_strdup_printf ("%" G_GUINT64_FORMAT, apr_regression_statistics_get_n_samples (statistics)));
      add_figure (self, _ ("R²"),
                  trendline_format_number (apr_regression_statistics_get_r_squared (statistics)));
      add_figure (self, _ ("Adjusted R²"),
                  trendline_format_number (apr_regression_statistics_get_adjusted_r_squared (statistics)));
      add_figure (self, _ ("F"),
                  trendline_format_number (apr_regression_statistics_get_f_statistic (statistics)));
      add_figure (self, _ ("p of F"),
                  trendline_format_p_value (apr_regression_statistics_get_f_p_value (statistics)));
      add_figure (
        self, _ ("Residual Error"),
        trendline_format_number (apr_regression_statistics_get_residual_standard_error (statistics)));
    }
  if (score != NULL)
    add_score (self, score);
  if (statistics != NULL)
    add_figure (self, _ ("AIC"), trendline_format_number (apr_regression_statistics_get_aic (statistics)));
  add_figure (self, _ ("Rank"),
              g_strdup_printf ("%" G_GSSIZE_FORMAT, apr_linear_regression_get_rank (model)));
}

/* The first names, and how many more there are. */
static char *
tell_dependent (char **names)
{
  const guint n_names = g_strv_length (names);
  g_autoptr (GString) list = g_string_new (names[0]);
  guint i;

  for (i = 1; i < MIN (n_names, MAX_NAMES); i++)
    g_string_append_printf (list, ", %s", names[i]);
  if (n_names <= MAX_NAMES)
    {
      /* Translators: names of features follow */
      return g_strdup_printf (_ ("These features follow from the others: %s"), list->str);
    }

  /* Translators: the first names of features, and how many more there are */
  return g_strdup_printf (_ ("These features follow from the others: %s, and %u more"), list->str,
                          n_names - MAX_NAMES);
}

static void
show_note (TrendlineModelPage *self,
           AprLinearRegression *model,
           AprRegressionStatistics *statistics,
           const TrendlineScore *score)
{
  g_auto (GStrv) dependent = apr_linear_regression_get_dependent_features (model);
  g_autoptr (GString) text = g_string_new (NULL);

  if (dependent != NULL && dependent[0] != NULL)
    {
      g_autofree char *names = tell_dependent (dependent);

      g_string_append (text, names);
    }
  else if (statistics == NULL)
    g_string_append (text,
                     _ ("There are no errors and no intervals for a model with a penalty or with bounds."));
  if (score != NULL && score->problem != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", score->problem);
  gtk_label_set_label (self->note, text->str);
  gtk_widget_set_visible (GTK_WIDGET (self->note), text->len > 0);
}

static void
on_results (TrendlineFitSession *session, GParamSpec *pspec, TrendlineModelPage *self)
{
  AprLinearRegression *model = trendline_fit_session_get_model (session);
  AprRegressionStatistics *statistics = trendline_fit_session_get_statistics (session);
  const TrendlineScore *score = trendline_fit_session_get_score (session);
  g_autoptr (GListModel) terms = model != NULL ? trendline_term_list_new (model, statistics) : NULL;

  gtk_stack_set_visible_child_name (self->stack, model != NULL ? "model" : "empty");
  /* The view keeps its rows, and fills them anew: to make them takes longer than a frame has. */
  gtk_sort_list_model_set_model (self->terms, terms);
  if (model == NULL)
    return;

  show_figures (self, model, statistics, score);
  show_note (self, model, statistics, score);
}

static void
on_score (TrendlineFitSession *session, GParamSpec *pspec, TrendlineModelPage *self)
{
  AprLinearRegression *model = trendline_fit_session_get_model (session);
  AprRegressionStatistics *statistics = trendline_fit_session_get_statistics (session);
  const TrendlineScore *score = trendline_fit_session_get_score (session);

  if (model == NULL)
    return;

  if (score != NULL && self->score != NULL)
    show_score (self, score);
  else
    show_figures (self, model, statistics, score);
  show_note (self, model, statistics, score);
}

/* Shows what the session's last fit found. */
void
trendline_model_page_set_session (TrendlineModelPage *self, TrendlineFitSession *session)
{
  GtkSorter *sorter = g_object_ref (gtk_column_view_get_sorter (self->view));
  g_autoptr (GtkNoSelection) selection = NULL;

  self->terms = gtk_sort_list_model_new (NULL, sorter);
  selection = gtk_no_selection_new (G_LIST_MODEL (self->terms));
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (selection));
  g_signal_connect_object (session, "notify::statistics", G_CALLBACK (on_results), self, 0);
  g_signal_connect_object (session, "notify::score", G_CALLBACK (on_score), self, 0);
  on_results (session, NULL, self);
}
