/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-window.h"

#include <glib/gi18n.h>

#include "app/trendline-data-page.h"
#include "app/trendline-error.h"
#include "app/trendline-file-dialog.h"
#include "app/trendline-format.h"
#include "app/trendline-model-page.h"
#include "app/trendline-plots-page.h"
#include "app/trendline-predict-page.h"
#include "app/trendline-recent.h"
#include "app/trendline-sidebar.h"

struct _TrendlineWindow
{
  AdwApplicationWindow parent_instance;

  AdwToastOverlay *toasts;
  GtkStack *stack;
  AdwViewSwitcherTitle *switcher;
  AdwViewSwitcherBar *bar;
  GtkToggleButton *sidebar_button;
  GtkButton *fit_button;
  GtkWidget *fit_word;
  AdwFlap *flap;
  TrendlineSidebar *sidebar;
  AdwViewStack *pages;
  TrendlineDataPage *data_page;
  TrendlineModelPage *model_page;
  TrendlinePlotsPage *plots_page;
  GtkRevealer *outdated_revealer;
  GtkRevealer *progress_revealer;
  GtkLabel *progress_label;
  GtkProgressBar *progress_bar;
  TrendlinePredictPage *predict_page;
  AdwSplitButton *open_button;
  GtkWidget *open_image;

  TrendlineFitSession *session;
  GFile *file;             /* (nullable): what is open */
  GFile *opening;          /* (nullable): what is being opened, or could not be */
  GFile *table_to_predict; /* (nullable) */
  GFile *table_to_add;     /* (nullable): what is being added, or could not be */
  const char *last_action; /* (nullable): otherwise, what was begun last: a fit or a search */
  AdwToast *toast;         /* (unowned) (nullable): what was said last */
};

G_DEFINE_FINAL_TYPE (TrendlineWindow, trendline_window, ADW_TYPE_APPLICATION_WINDOW)

static void
on_toast_dismissed (TrendlineWindow *self)
{
  g_clear_weak_pointer (&self->toast);
}

/* One at a time: what was said before is not news any more. */
static void
show_toast (TrendlineWindow *self, AdwToast *toast)
{
  if (self->toast != NULL)
    adw_toast_dismiss (self->toast);
  if (toast == NULL)
    return;
  g_set_weak_pointer (&self->toast, toast);
  g_signal_connect_object (toast, "dismissed", G_CALLBACK (on_toast_dismissed), self, G_CONNECT_SWAPPED);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

static gboolean
show_error (TrendlineWindow *self, GError *error, gboolean is_gap)
{
  g_autoptr (GError) owned = error;

  if (!gtk_widget_get_realized (GTK_WIDGET (self)))
    return FALSE;
  if (owned != NULL)
    show_toast (self, trendline_error_create_toast (owned, self->toasts, is_gap));

  return owned == NULL;
}

/* Shows the error, if there is one. Returns: whether there was none, and the window has not been closed meanwhile */
static gboolean
check (TrendlineWindow *self, GError *error)
{
  return show_error (self, error, FALSE);
}

/* The same for a fit: where numbers were missing, the error offers to pass over them. */
static gboolean
check_fit (TrendlineWindow *self, GError *error)
{
  return show_error (self, error, trendline_fit_session_get_n_missing (self->session) > 0);
}

static void
show_message (TrendlineWindow *self, const char *message)
{
  show_toast (self, adw_toast_new (message));
}

/* Of the rows that were passed over. */
static void
show_count (TrendlineWindow *self, const char *format)
{
  g_autofree char *number =
    g_strdup_printf ("%" G_GUINT64_FORMAT, trendline_fit_session_get_n_dropped (self->session));
  g_auto (GStrv) parts = g_strsplit (format, "%s", 2);
  g_autofree char *message = g_strjoinv (number, parts);

  show_message (self, message);
}

static void
on_open_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  g_autofree char *uri = NULL;
  GError *error = NULL;

  trendline_fit_session_open_finish (TRENDLINE_FIT_SESSION (source), result, &error);
  if (!check (self, error))
    return;
  uri = g_file_get_uri (self->file);
  gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
}

/* Opens a table or a model. What goes wrong is shown in the window. */
void
trendline_window_open (TrendlineWindow *self, GFile *file)
{
  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  g_set_object (&self->opening, file);
  trendline_fit_session_open_async (self->session, file, on_open_ready, g_object_ref (self));
}

static void
on_open (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_file_dialog_open (
    GTK_WINDOW (widget), _ ("Open a Table or a Model"), TRENDLINE_WINDOW (widget)->file,
    TRENDLINE_FILES_TABLES | TRENDLINE_FILES_MODELS, (TrendlineFileChosen) trendline_window_open);
}

static void
on_open_recent (GtkWidget *widget, const char *name, GVariant *parameter)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  trendline_window_open (TRENDLINE_WINDOW (widget), file);
}

/* What writes a file: a program that ends would end it too, and waits for it, with no window if need be. */
typedef struct
{
  TrendlineWindow *window;
  GFile *file;
} Writing;

static Writing *
writing_new (TrendlineWindow *window, GFile *file)
{
  Writing *self = g_new (Writing, 1);

  self->window = g_object_ref (window);
  self->file = g_object_ref (file);
  g_application_hold (g_application_get_default ());

  return self;
}

static void
writing_free (Writing *self)
{
  g_object_unref (self->window);
  g_object_unref (self->file);
  g_free (self);
  g_application_release (g_application_get_default ());
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Writing, writing_free)

/* A window that has been closed shows nothing any more: the desktop does, and what the program was started from. */
static void
tell_failure (GFile *file, const GError *error)
{
  GApplication *application = g_application_get_default ();
  g_autofree char *base = g_file_get_basename (file);
  g_autofree char *name = g_filename_display_name (base);
  /* Translators: the name of a file follows */
  g_autofree char *title = g_strdup_printf (_ ("Could not save “%s”"), name);
  g_autoptr (GNotification) notification = g_notification_new (title);

  g_printerr ("%s: %s\n", title, error->message);
  g_notification_set_body (notification, error->message);
  /* Without a bus there is no desktop to tell. */
  if (g_application_get_dbus_connection (application) != NULL)
    g_application_send_notification (application, NULL, notification);
}

static gboolean
check_writing (Writing *writing, GError *error)
{
  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      !gtk_widget_get_realized (GTK_WIDGET (writing->window)))
    tell_failure (writing->file, error);

  return check (writing->window, error);
}

static void
on_saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Writing) writing = data;
  GError *error = NULL;

  apr_estimator_save_to_file_finish (APR_ESTIMATOR (source), result, &error);
  if (check_writing (writing, error))
    show_message (writing->window, _ ("The model is saved"));
}

static void
propose_name (TrendlineWindow *self, const char *name, GFile *neighbour)
{
  trendline_file_dialog_save (GTK_WINDOW (self), _ ("Save the Model"), name, neighbour,
                              TRENDLINE_FILES_MODELS, (TrendlineFileChosen) trendline_window_save_model);
}

/* Saves the model, which must be there. A name that no model would be opened by gets “.safetensors” at its end; if
 * there is such a file, the dialog asks whether to replace it. */
void
trendline_window_save_model (TrendlineWindow *self, GFile *file)
{
  AprLinearRegression *model;

  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  model = trendline_fit_session_get_model (self->session);
  g_return_if_fail (model != NULL);

  if (!trendline_fit_session_is_model_file (file))
    {
      g_autofree char *base = g_file_get_basename (file);
      g_autofree char *name = g_strconcat (base, ".safetensors", NULL);
      g_autoptr (GFile) folder = g_file_get_parent (file);
      g_autoptr (GFile) named = g_file_get_child (folder, name);

      if (g_file_query_exists (named, NULL))
        {
          g_autofree char *display_name = g_filename_display_name (name);

          propose_name (self, display_name, file);
        }
      else
        trendline_window_save_model (self, named);
      return;
    }

  apr_estimator_save_to_file_async (APR_ESTIMATOR (model), file, G_PRIORITY_DEFAULT, NULL, on_saved,
                                    writing_new (self, file));
}

static void
on_save_model (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);
  g_autofree char *stem = self->file != NULL ? trendline_file_dialog_get_stem (self->file) : NULL;
  g_autofree char *proposed =
    stem != NULL ? g_strconcat (stem, ".safetensors", NULL) : g_strdup (_ ("model.safetensors"));

  propose_name (self, proposed, self->file);
}

static void
on_added (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  GError *error = NULL;

  trendline_fit_session_add_finish (TRENDLINE_FIT_SESSION (source), result, &error);
  if (!check_fit (self, error))
    return;
  g_clear_object (&self->table_to_add);
  if (trendline_fit_session_get_n_dropped (self->session) == 0)
    show_message (self, _ ("The data are added"));
  else
    {
      /* Translators: a number follows */
      show_count (self, _ ("The data are added; rows passed over: %s"));
    }
}

/* Adds the rows of a table to the model, which must be there. */
void
trendline_window_add_data (TrendlineWindow *self, GFile *file)
{
  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  g_set_object (&self->table_to_add, file);
  trendline_fit_session_add_async (self->session, file,
                                   trendline_fit_session_get_drop_missing (self->session), on_added,
                                   g_object_ref (self));
}

static void
on_add_data (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_file_dialog_open (GTK_WINDOW (widget), _ ("Add More Data"), TRENDLINE_WINDOW (widget)->file,
                              TRENDLINE_FILES_TABLES, (TrendlineFileChosen) trendline_window_add_data);
}

static void
on_predicted (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Writing) writing = data;
  TrendlineWindow *self = writing->window;
  GError *error = NULL;

  trendline_fit_session_predict_finish (TRENDLINE_FIT_SESSION (source), result, &error);
  if (!check_writing (writing, error))
    return;
  if (trendline_fit_session_get_n_dropped (self->session) == 0)
    show_message (self, _ ("The predictions are saved"));
  else
    {
      /* Translators: a number follows */
      show_count (self, _ ("The predictions are saved; rows with gaps, which have none: %s"));
    }
}

/* Predicts for each row of a table with the model, which must be there. */
void
trendline_window_predict_table (TrendlineWindow *self, GFile *table, GFile *output)
{
  g_return_if_fail (TRENDLINE_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (table));
  g_return_if_fail (G_IS_FILE (output));

  trendline_fit_session_predict_async (self->session, table, output, on_predicted,
                                       writing_new (self, output));
}

static void
save_predictions (TrendlineWindow *self, GFile *file)
{
  trendline_window_predict_table (self, self->table_to_predict, file);
}

static void
predict_table (TrendlineWindow *self, GFile *file)
{
  g_set_object (&self->table_to_predict, file);
  trendline_file_dialog_save (GTK_WINDOW (self), _ ("Save the Predictions"), _ ("predictions.csv"), file,
                              TRENDLINE_FILES_TABLES, (TrendlineFileChosen) save_predictions);
}

static void
on_predict_table (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_file_dialog_open (GTK_WINDOW (widget), _ ("Predict a Table"), TRENDLINE_WINDOW (widget)->file,
                              TRENDLINE_FILES_TABLES, (TrendlineFileChosen) predict_table);
}

static void
on_undo (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_fit_session_undo (TRENDLINE_WINDOW (widget)->session);
}

static void
on_fit_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  GError *error = NULL;

  trendline_fit_session_fit_finish (TRENDLINE_FIT_SESSION (source), result, &error);
  if (!check_fit (self, error))
    return;

  if (trendline_fit_session_get_n_dropped (self->session) > 0)
    {
      /* Translators: a number follows */
      show_count (self, _ ("Rows passed over: %s"));
    }
  if (g_strcmp0 (adw_view_stack_get_visible_child_name (self->pages), "data") == 0)
    adw_view_stack_set_visible_child_name (self->pages, "model");
}

static void
on_fit (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);

  g_clear_object (&self->table_to_add);
  self->last_action = "win.fit";
  trendline_fit_session_fit_async (self->session, on_fit_ready, g_object_ref (self));
}

static void
on_ridge_found (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (TrendlineWindow) self = data;
  g_autofree char *message = NULL;
  GError *error = NULL;

  trendline_fit_session_find_ridge_finish (TRENDLINE_FIT_SESSION (source), result, &error);
  if (!check_fit (self, error))
    return;

  message = trendline_format_found (
    apr_linear_regression_get_alpha (trendline_fit_session_get_options (self->session)),
    trendline_fit_session_get_n_dropped (self->session));
  show_message (self, message);
}

static void
on_find_ridge (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);

  g_clear_object (&self->table_to_add);
  self->last_action = "win.find-ridge";
  trendline_fit_session_find_ridge_async (self->session, on_ridge_found, g_object_ref (self));
}

/* What an error of a gap offers: what failed is done again, a fit, a search or the adding of data. */
static void
on_pass_over_gaps (GtkWidget *widget, const char *name, GVariant *parameter)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (widget);

  if (trendline_fit_session_get_state (self->session) != TRENDLINE_FIT_STATE_IDLE)
    return;
  if (self->table_to_add != NULL)
    trendline_fit_session_add_async (self->session, self->table_to_add, TRUE, on_added, g_object_ref (self));
  else if (self->last_action != NULL)
    {
      trendline_fit_session_set_drop_missing (self->session, TRUE);
      gtk_widget_activate_action (widget, self->last_action, NULL);
    }
}

static void
on_cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  trendline_fit_session_cancel (TRENDLINE_WINDOW (widget)->session);
}

static void
on_show_page (GtkWidget *widget, const char *name, GVariant *parameter)
{
  AdwViewStack *pages = TRENDLINE_WINDOW (widget)->pages;
  GtkWidget *page = adw_view_stack_get_child_by_name (pages, g_variant_get_string (parameter, NULL));

  /* Without a table there are no rows to see. */
  if (adw_view_stack_page_get_visible (adw_view_stack_get_page (pages, page)))
    adw_view_stack_set_visible_child (pages, page);
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

  if (files == NULL || files->next != NULL ||
      trendline_fit_session_get_state (self->session) != TRENDLINE_FIT_STATE_IDLE)
    return FALSE;
  trendline_window_open (self, files->data);

  return TRUE;
}

static void
on_state (TrendlineWindow *self)
{
  const TrendlineFitState state = trendline_fit_session_get_state (self->session);
  const gboolean has_table = trendline_fit_session_get_table (self->session) != NULL;
  const gboolean has_model = trendline_fit_session_get_model (self->session) != NULL;
  const gboolean busy = state != TRENDLINE_FIT_STATE_IDLE;
  const char *const labels[] = { "", _ ("Opening…"), _ ("Reading Rows…"), _ ("Solving…"), _ ("Predicting…") };

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.open", !busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.open-recent", !busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.fit", !busy && has_table);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.find-ridge", !busy && has_table);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.sidebar", has_table);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.cancel", busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save-model", has_model);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.add-data", !busy && has_model);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.predict-table", !busy && has_model);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.undo",
                                 trendline_fit_session_get_can_undo (self->session));
  gtk_revealer_set_reveal_child (self->progress_revealer, busy);
  if (busy)
    {
      show_toast (self, NULL);
      gtk_label_set_label (self->progress_label, labels[state]);
    }
}

/* Where the header has no room for the pages, they are at the bottom. */
static gboolean
update_width (gpointer data)
{
  TrendlineWindow *self = data;

  adw_view_switcher_bar_set_reveal (self->bar,
                                    adw_view_switcher_title_get_view_switcher_enabled (self->switcher) &&
                                      adw_view_switcher_title_get_title_visible (self->switcher));
  gtk_widget_set_visible (self->fit_word, !adw_flap_get_folded (self->flap));

  return G_SOURCE_REMOVE;
}

/* The header and the flap know it once they have been laid out; to change others then would be lost. */
static void
on_width (TrendlineWindow *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, update_width, g_object_ref (self), g_object_unref);
}

/* Without a table there is nothing to choose, and no rows to see. */
static void
on_content (TrendlineWindow *self)
{
  const gboolean has_table = trendline_fit_session_get_table (self->session) != NULL;
  const gboolean has_content = has_table || trendline_fit_session_get_model (self->session) != NULL;
  AdwViewStackPage *data = adw_view_stack_get_page (self->pages, GTK_WIDGET (self->data_page));
  g_autofree char *name = self->file != NULL ? g_file_get_basename (self->file) : NULL;
  g_autofree char *title =
    has_content && name != NULL ? g_filename_display_name (name) : g_strdup (_ ("Trendline"));

  gtk_window_set_title (GTK_WINDOW (self), title);
  adw_view_switcher_title_set_title (self->switcher, title);
  adw_view_switcher_title_set_view_switcher_enabled (self->switcher, has_content);
  on_width (self);
  gtk_stack_set_visible_child_name (self->stack, has_content ? "content" : "welcome");
  gtk_widget_set_visible (GTK_WIDGET (self->fit_button), has_table);
  gtk_widget_set_visible (GTK_WIDGET (self->sidebar_button), has_table);
  if (has_table != adw_view_stack_page_get_visible (data))
    {
      adw_view_stack_page_set_visible (data, has_table);
      adw_flap_set_swipe_to_open (self->flap, has_table);
      adw_flap_set_reveal_flap (self->flap, has_table);
    }
  on_state (self);
}

/* Of what was opened, the first page. */
static void
on_table (TrendlineWindow *self)
{
  g_set_object (&self->file, self->opening);
  g_clear_object (&self->table_to_add);
  self->last_action = NULL;
  on_content (self);
  adw_view_stack_set_visible_child_name (
    self->pages, trendline_fit_session_get_table (self->session) != NULL ? "data" : "model");
}

/* The window is being closed. What is under way has references to it, and ends soon. */
static void
trendline_window_unrealize (GtkWidget *widget)
{
  TrendlineFitSession *session = TRENDLINE_WINDOW (widget)->session;

  trendline_fit_session_cancel (session);
  trendline_fit_session_clear_score (session);

  GTK_WIDGET_CLASS (trendline_window_parent_class)->unrealize (widget);
}

static void
trendline_window_dispose (GObject *object)
{
  TrendlineWindow *self = TRENDLINE_WINDOW (object);

  g_clear_object (&self->session);
  g_clear_object (&self->file);
  g_clear_object (&self->opening);
  g_clear_object (&self->table_to_predict);
  g_clear_object (&self->table_to_add);
  g_clear_weak_pointer (&self->toast);

  G_OBJECT_CLASS (trendline_window_parent_class)->dispose (object);
}

static void
trendline_window_class_init (TrendlineWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = trendline_window_dispose;
  widget_class->unrealize = trendline_window_unrealize;

  g_type_ensure (TRENDLINE_TYPE_SIDEBAR);
  g_type_ensure (TRENDLINE_TYPE_DATA_PAGE);
  g_type_ensure (TRENDLINE_TYPE_MODEL_PAGE);
  g_type_ensure (TRENDLINE_TYPE_PLOTS_PAGE);
  g_type_ensure (TRENDLINE_TYPE_PREDICT_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/aprender/Trendline/trendline-window.ui");
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, switcher);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, bar);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, sidebar_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, fit_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, fit_word);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, flap);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, sidebar);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, pages);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, data_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, model_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, plots_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, predict_page);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, open_button);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, open_image);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, outdated_revealer);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_revealer);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_label);
  gtk_widget_class_bind_template_child (widget_class, TrendlineWindow, progress_bar);

  gtk_widget_class_install_action (widget_class, "win.open", NULL, on_open);
  gtk_widget_class_install_action (widget_class, "win.open-recent", "s", on_open_recent);
  gtk_widget_class_install_action (widget_class, "win.add-data", NULL, on_add_data);
  gtk_widget_class_install_action (widget_class, "win.predict-table", NULL, on_predict_table);
  gtk_widget_class_install_action (widget_class, "win.show-page", "s", on_show_page);
  gtk_widget_class_install_action (widget_class, "win.undo", NULL, on_undo);
  gtk_widget_class_install_action (widget_class, "win.save-model", NULL, on_save_model);
  gtk_widget_class_install_action (widget_class, "win.fit", NULL, on_fit);
  gtk_widget_class_install_action (widget_class, "win.find-ridge", NULL, on_find_ridge);
  gtk_widget_class_install_action (widget_class, "win.pass-over-gaps", NULL, on_pass_over_gaps);
  gtk_widget_class_install_action (widget_class, "win.cancel", NULL, on_cancel);
  gtk_widget_class_install_action (widget_class, "win.sidebar", NULL, on_sidebar);
  /* An accelerator of the application would come before what the entry that has the focus does with the key. */
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_z, GDK_CONTROL_MASK, "win.undo", NULL);
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
  trendline_predict_page_set_session (self->predict_page, self->session);
  adw_split_button_set_menu_model (self->open_button, trendline_recent_get_menu ());
  /* The button within it is what is pressed, and what is read out. */
  gtk_accessible_update_relation (
    GTK_ACCESSIBLE (gtk_widget_get_ancestor (self->open_image, GTK_TYPE_BUTTON)),
    GTK_ACCESSIBLE_RELATION_LABELLED_BY, self->open_image, NULL, -1);
  g_signal_connect_object (self->switcher, "notify::title-visible", G_CALLBACK (on_width), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->flap, "notify::folded", G_CALLBACK (on_width), self, G_CONNECT_SWAPPED);
  g_object_bind_property (self->session, "fraction", self->progress_bar, "fraction", G_BINDING_SYNC_CREATE);
  g_object_bind_property (self->session, "outdated", self->outdated_revealer, "reveal-child",
                          G_BINDING_SYNC_CREATE);
  g_signal_connect_object (self->session, "notify::table", G_CALLBACK (on_table), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session, "notify::state", G_CALLBACK (on_state), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session, "notify::model", G_CALLBACK (on_content), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session, "notify::can-undo", G_CALLBACK (on_state), self, G_CONNECT_SWAPPED);
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
