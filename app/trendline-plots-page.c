/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-plots-page.h"

#include <glib/gi18n.h>

#include "app/trendline-plot.h"
#include "aprender/plot/apr-plot-regression.h"

struct _TrendlinePlotsPage
{
  AdwBin parent_instance;

  GtkStack *stack;
  AdwStatusPage *status;
  GtkDropDown *kind;
  TrendlinePlot *plot;

  TrendlineFitSession *session;
  AprLinearRegression *model; /* (nullable): which the plots are, or are to be, of */
  AprRegressionDiagnostics *diagnostics;
  AprTensor *rows;           /* (nullable): of the table, which the samples are */
  GCancellable *cancellable; /* (nullable): while rows are read */
};

G_DEFINE_FINAL_TYPE (TrendlinePlotsPage, trendline_plots_page, ADW_TYPE_BIN)

/* In the order of the list. */
typedef enum
{
  RESIDUALS,
  QUANTILES,
  SCALE_LOCATION,
  LEVERAGE,
} Kind;

typedef struct
{
  AprRegressionDiagnostics *diagnostics;
  AprTensor *rows; /* (nullable) */
  Kind kind;
  gsize rank;
} Order;

static void
order_free (gpointer data)
{
  Order *order = data;

  g_object_unref (order->diagnostics);
  g_clear_pointer (&order->rows, apr_tensor_unref);
  g_free (order);
}

static AprPlot *
make_original (const Order *order)
{
  switch (order->kind)
    {
    case QUANTILES:
      return apr_plot_new_quantiles (order->diagnostics, order->rows);
    case SCALE_LOCATION:
      return apr_plot_new_scale_location (order->diagnostics, order->rows);
    case LEVERAGE:
      return apr_plot_new_leverage (order->diagnostics, order->rank, order->rows);
    case RESIDUALS:
    default:
      return apr_plot_new_residuals (order->diagnostics, order->rows);
    }
}

/* In the user's language. */
static AprPlot *
make_plot (gconstpointer data)
{
  AprPlot *plot = make_original (data);

  apr_plot_set_texts (plot, _ (apr_plot_get_title (plot)), _ (apr_plot_get_axis_label (plot, 0)),
                      _ (apr_plot_get_axis_label (plot, 1)));
  if (apr_plot_get_note (plot) != NULL)
    apr_plot_set_note (plot, _ (apr_plot_get_note (plot)));

  return plot;
}

static void
show_plot (TrendlinePlotsPage *self)
{
  Order *order;

  if (self->diagnostics == NULL)
    return;
  order = g_new (Order, 1);
  order->diagnostics = g_object_ref (self->diagnostics);
  order->rows = self->rows != NULL ? apr_tensor_ref (self->rows) : NULL;
  order->kind = (Kind) gtk_drop_down_get_selected (self->kind);
  order->rank = (gsize) apr_linear_regression_get_rank (self->model) +
                apr_linear_regression_get_fit_intercept (self->model);
  trendline_plot_make (self->plot, make_plot, order, order_free);
}

static void
show_status (TrendlinePlotsPage *self, const char *title, const char *description)
{
  adw_status_page_set_title (self->status, title);
  adw_status_page_set_description (self->status, description);
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

static void
on_diagnosed (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlinePlotsPage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) rows = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics =
    trendline_fit_session_diagnose_finish (TRENDLINE_FIT_SESSION (source), result, &rows, &error);

  /* Another model is there by now, or the page is gone. */
  if (g_task_get_cancellable (G_TASK (result)) != self->cancellable)
    return;
  g_clear_object (&self->cancellable);
  if (diagnostics == NULL)
    {
      g_autofree char *message = g_markup_escape_text (error->message, -1);

      show_status (self, _ ("No Plots of This Model"), message);
      return;
    }
  g_set_object (&self->diagnostics, diagnostics);
  self->rows = g_steal_pointer (&rows);
  gtk_stack_set_visible_child_name (self->stack, "plot");
  show_plot (self);
}

/* The rows are read once somebody looks: they take time, and memory. */
static void
update (TrendlinePlotsPage *self)
{
  AprLinearRegression *model;

  if (self->session == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  model = trendline_fit_session_get_model (self->session);
  if (model == self->model)
    return;

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->diagnostics);
  g_clear_pointer (&self->rows, apr_tensor_unref);
  g_set_object (&self->model, model);
  if (model == NULL)
    {
      show_status (self, _ ("No Model Yet"), _ ("Choose a target and features, then fit."));
      return;
    }
  self->cancellable = g_cancellable_new ();
  gtk_stack_set_visible_child_name (self->stack, "busy");
  trendline_fit_session_diagnose_async (self->session, self->cancellable, on_diagnosed, g_object_ref (self));
}

static void
trendline_plots_page_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (trendline_plots_page_parent_class)->map (widget);
  update (TRENDLINE_PLOTS_PAGE (widget));
}

static void
trendline_plots_page_dispose (GObject *object)
{
  TrendlinePlotsPage *self = TRENDLINE_PLOTS_PAGE (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->diagnostics);
  g_clear_pointer (&self->rows, apr_tensor_unref);
  g_clear_object (&self->model);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (trendline_plots_page_parent_class)->dispose (object);
}

static void
trendline_plots_page_class_init (TrendlinePlotsPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = trendline_plots_page_dispose;
  widget_class->map = trendline_plots_page_map;

  g_type_ensure (TRENDLINE_TYPE_PLOT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/aprender/Trendline/trendline-plots-page.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlinePlotsPage, stack);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePlotsPage, status);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePlotsPage, kind);
  gtk_widget_class_bind_template_child (widget_class, TrendlinePlotsPage, plot);
}

static void
trendline_plots_page_init (TrendlinePlotsPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  show_status (self, _ ("No Model Yet"), _ ("Choose a target and features, then fit."));
  g_signal_connect_swapped (self->kind, "notify::selected", G_CALLBACK (show_plot), self);
}

/* Shows the plots by which what the session's last fit found is judged. */
void
trendline_plots_page_set_session (TrendlinePlotsPage *self, TrendlineFitSession *session)
{
  g_set_object (&self->session, session);
  g_signal_connect_object (session, "notify::model", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
}
