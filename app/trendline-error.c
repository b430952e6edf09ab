/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-error.h"

#include <glib/gi18n.h>

#include <aprender/aprender.h>

/* What happened, by the error's code, in words that fit into a toast; the message has the details. */
const char *
trendline_error_get_title (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return _ ("Cancelled");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA))
    return _ ("The table cannot be read");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return _ ("There is no such file");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return _ ("The file may not be used");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    return _ ("There is no space left");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_EMPTY))
    return _ ("There is nothing to fit");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_WEIGHTS))
    return _ ("The weights cannot be used");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_FEATURE_NAMES))
    return _ ("The features are not those of the model");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_RANGE))
    return _ ("A number is out of range");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_NOT_FINITE))
    return _ ("A number is not finite");
  if (error->domain == APR_SAFETENSORS_ERROR || g_error_matches (error, APR_ERROR, APR_ERROR_MODEL))
    return _ ("This is no model");

  return _ ("That did not work");
}

/* What one can do about it. */
static const char *
get_advice (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA))
    return _ ("Correct the cell that the details name, or choose other columns.");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_EMPTY))
    return _ ("Choose a target and at least one feature of a table with rows.");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_FEATURE_NAMES))
    return _ ("Use a table with the columns that the model was fitted to.");
  if (error->domain == G_IO_ERROR)
    return _ ("Nothing was changed. Try again, or use another file.");

  return _ ("Nothing was changed.");
}

static void
show_details (GtkWidget *toasts, const GError *error)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (gtk_widget_get_root (toasts)),
                                              trendline_error_get_title (error), get_advice (error));
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *row = adw_expander_row_new ();
  GtkWidget *message = gtk_label_new (error->message);

  gtk_label_set_wrap (GTK_LABEL (message), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (message), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (message), TRUE);
  gtk_label_set_xalign (GTK_LABEL (message), 0);
  gtk_widget_set_margin_top (message, 12);
  gtk_widget_set_margin_bottom (message, 12);
  gtk_widget_set_margin_start (message, 12);
  gtk_widget_set_margin_end (message, 12);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Details"));
  adw_expander_row_add_row (ADW_EXPANDER_ROW (row), message);
  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (row), TRUE);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), group);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
on_details (AdwToast *toast, GtkWidget *toasts)
{
  show_details (toasts, g_object_get_data (G_OBJECT (toast), "error"));
}

/* Shows a toast; its button shows the message. That something was cancelled needs none. */
void
trendline_error_show (AdwToastOverlay *toasts, const GError *error)
{
  AdwToast *toast = adw_toast_new (trendline_error_get_title (error));

  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      /* It stays until it is read. */
      adw_toast_set_timeout (toast, 0);
      adw_toast_set_button_label (toast, _ ("_Details"));
      /* It does not wait for others, and leaves time to press the button. */
      adw_toast_set_priority (toast, ADW_TOAST_PRIORITY_HIGH);
      adw_toast_set_timeout (toast, 10);
      g_object_set_data_full (G_OBJECT (toast), "error", g_error_copy (error), (GDestroyNotify) g_error_free);
      g_signal_connect_object (toast, "button-clicked", G_CALLBACK (on_details), toasts, 0);
    }
  adw_toast_overlay_add_toast (toasts, toast);
}
