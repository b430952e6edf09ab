/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-window.h"

#include <glib/gi18n.h>

#include "app/trendline-data-page.h"
#include "app/trendline-error.h"
#include "app/trendline-model-page.h"
#include "app/trendline-plots-page.h"
#include "app/trendline-sidebar.h"

struct _TrendlineWindow
{
  AdwApplicationWindow parent_instance;

  AdwToastOverlay *toasts;
  GtkStack *stack;
  AdwViewSwitcherTitle *switcher;
  GtkToggleButton *sidebar_button;
  GtkButton *fit_button;
  AdwFlap *flap;
  TrendlineSidebar *sidebar;
  AdwViewStack *pages;
  TrendlineDataPage *data_page;
  TrendlineModelPage *model_page;
  TrendlinePlotsPage *plots_page;
  GtkRevealer *progress_revealer;
  GtkLabel *progress_label;
  GtkProgressBar *progress_bar;

  TrendlineFitSession *session;
};

G_DEFINE_FINAL_TYPE (TrendlineWindow, trendline_window, ADW_TYPE_APPLICATION_WINDOW)

static void
show_error (TrendlineWindow *self, GError *error)
{
  trendline_error_show (self->toasts, error);
  g_error_free (error);
}

static void
on_open_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  GError *error = NULL;

  if (trendline_fit_session_open_finish (self->session, result, &error))
    adw_view_stack_set_visible_child_name (self->pages, "data");
  else
    show_error (self, error);
}

/* Opens a table. What goes wrong is shown in the window. */
void
trendline_window_open (TrendlineWindow *self, GFile *file)
{
  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  trendline_fit_session_open_async (self->session, file, on_open_ready, g_object_ref (self));
}

static void
on_file_to_open (GtkNativeDialog *dialog, int response, TrendlineWindow *self)
{
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      trendline_window_open (self, file);
    }
  g_object_unref (dialog);
}

static void
add_filter (GtkFileChooserNative *dialog, const char *name, const char *const *suffixes)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  gsize i;

  gtk_file_filter_set_name (filter, name);
  for (i = 0; suffixes != NULL && suffixes[i] != NULL; i++)
    gtk_file_filter_add_suffix (filter, suffixes[i]);
  if (suffixes == NULL)
    gtk_file_filter_add_pattern (filter, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
}

static const char *const table_suffixes[] = { "csv",    "tsv",     "txt",     "csv.gz",
                                              "tsv.gz", "csv.zst", "tsv.zst", NULL };
static const char *const model_suffixes[] = { "safetensors", NULL };

static void
on_open (GtkWidget *widget, const char *name, GVariant *parameter)
{
  GtkFileChooserNative *dialog;

  dialog = gtk_file_chooser_native_new (_ ("Open a Table"), GTK_WINDOW (widget), GTK_FILE_CHOOSER_ACTION_OPEN,
                                        NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  add_filter (dialog, _ ("Tables"), table_suffixes);
  add_filter (dialog, _ ("All Files"), NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_file_to_open), widget, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
on_saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  GError *error = NULL;

  if (apr_estimator_save_to_file_finish (APR_ESTIMATOR (source), result, &error))
    adw_toast_overlay_add_toast (self->toasts, adw_toast_new (_ ("The model is saved")));
  else
    show_error (self, error);
}

/* Saves the model, which must be there. */
void
trendline_window_save_model (TrendlineWindow *self, GFile *file)
{
  AprLinearRegression *model;

  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  model = trendline_fit_session_get_model (self->session);
  g_return_if_fail (model != NULL);

  apr_estimator_save_to_file_async (APR_ESTIMATOR (model), file, G_PRIORITY_DEFAULT, NULL, on_saved,
                                    g_object_ref (self));
}

static void
on_file_to_save (GtkNativeDialog *dialog, int response, TrendlineWindow *self)
{
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      trendline_window_save_model (self, file);
    }
  g_object_unref (dialog);
}

static void
on_save_model (GtkWidget *widget, const char *name, GVariant *parameter)
{
  GtkFileChooserNative *dialog;

  dialog = gtk_file_chooser_native_new (_ ("Save the Model"), GTK_WINDOW (widget),
                                        GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), _ ("model.safetensors"));
  add_filter (dialog, _ ("Models"), model_suffixes);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_file_to_save), widget, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
on_fit_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  GError *error = NULL;

  if (trendline_fit_session_fit_finish (self->session, result, &error))
    adw_view_stack_set_visible_child_name (self->pages, "model");
  else
    show_error (self, error);
}

static void
on_fit (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);

  trendline_fit_session_fit_async (self->session, on_fit_ready, g_object_ref (self));
}

static void
on_cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_fit_session_cancel (TRENDLINE_WINDOW (widget)->session);
}

static void
on_sidebar (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);

  adw_flap_set_reveal_flap (self->flap, !adw_flap_get_reveal_flap (self->flap));
}

static gboolean
on_drop (GtkDropTarget *target, const GValue *value, double x, double y, TrendlineWindow *self)
{
  GSList *files = g_value_get_boxed (value);

  if (files == NULL || files->next != NULL)
    return FALSE;
  trendline_window_open (self, files->data);

  return TRUE;
}

static void
on_state (TrendlineWindow *self)
{
  const TrendlineFitState state = trendline_fit_session_get_state (self->session);
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  const gboolean busy = state != TRENDLINE_FIT_STATE_IDLE;
  const char *const labels[] = { "", _ ("Opening…"), _ ("Reading Rows…"), _ ("Solving…") };

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.open", !busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.fit", !busy && table != NULL);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.cancel", busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save-model",
                                 trendline_fit_session_get_model (self->session) != NULL);
  gtk_revealer_set_reveal_child (self->progress_revealer, busy);
  if (busy)
    gtk_label_set_label (self->progress_label, labels[state]);
}

static void
on_table (TrendlineWindow *self)
{
  TrendlineTable *table = trendline_fit_session_get_table (self->session);
  g_autofree char *name = NULL;
  g_autofree char *display_name = NULL;

  if (table != NULL)
    {
      name = g_file_get_basename (trendline_table_get_file (table));
      display_name = g_filename_display_name (name);
    }
  gtk_window_set_title (GTK_WINDOW (self), table != NULL ? display_name : _ ("Trendline"));
  adw_view_switcher_title_set_title (self->switcher, gtk_window_get_title (GTK_WINDOW (self)));
  adw_view_switcher_title_set_view_switcher_enabled (self->switcher, table != NULL);
  gtk_stack_set_visible_child_name (self->stack, table != NULL ? "content" : "welcome");
  gtk_widget_set_visible (GTK_WIDGET (self->fit_button), table != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->sidebar_button), table != NULL);
  on_state (self);
}

static void
trendline_window_dispose (GObject *object)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (object);

  if (self->session != NULL)
    trendline_fit_session_cancel (self->session);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (trendline_window_parent_class)->dispose (object);
}

static void
trendline_window_class_init (TrendlineWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = trendline_window_dispose;

  g_type_ensure (TRENDLINE_TYPE_SIDEBAR);
  g_type_ensure (TRENDLINE_TYPE_DATA_PAGE);
  g_type_ensure (TRENDLINE_TYPE_MODEL_PAGE);
  g_type_ensure (TRENDLINE_TYPE_PLOTS_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/aprender/Trendline/trendline-window.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, switcher);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, sidebar_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, fit_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, flap);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, sidebar);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, pages);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, data_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, model_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, plots_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_revealer);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_label);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_bar);

  gtk_widget_class_install_action (widget_class, "win.open", NULL, on_open);
  gtk_widget_class_install_action (widget_class, "win.save-model", NULL, on_save_model);
  gtk_widget_class_install_action (widget_class, "win.fit", NULL, on_fit);
  gtk_widget_class_install_action (widget_class, "win.cancel", NULL, on_cancel);
  gtk_widget_class_install_action (widget_class, "win.sidebar", NULL, on_sidebar);
}

static void
trendline_window_init (TrendlineWindow *self)
{
  GtkDropTarget *drop_target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  self->session = trendline_fit_session_new ();
  gtk_widget_init_template (GTK_WIDGET (self));

  trendline_sidebar_set_session (self->sidebar, self->session);
  trendline_data_page_set_session (self->data_page, self->session);
  trendline_model_page_set_session (self->model_page, self->session);
  trendline_plots_page_set_session (self->plots_page, self->session);
  g_object_bind_property (self->session, "fraction", self->progress_bar, "fraction", G_BINDING_SYNC_CREATE);
  g_signal_connect_object (self->session, "notify::table", G_CALLBACK (on_table), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session, "notify::state", G_CALLBACK (on_state), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session, "notify::model", G_CALLBACK (on_state), self, G_CONNECT_SWAPPED);
  on_table (self);

  g_signal_connect (drop_target, "drop", G_CALLBACK (on_drop), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop_target));
}

TrendlineWindow *
trendline_window_new (GtkApplication *application)
{
  return g_object_new (TRENDLINE_TYPE_WINDOW, "application", application, NULL);
}

TrendlineFitSession *
trendline_window_get_session (TrendlineWindow *self)
{
  g_return_val_if_fail (TRENDLINE_IS_WINDOW (self), NULL);

  return self->session;
}
