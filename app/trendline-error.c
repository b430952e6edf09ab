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

static void
on_details (AdwToast *toast, GtkWidget *toasts)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (gtk_widget_get_root (toasts)),
                                              g_object_get_data (G_OBJECT (toast), "title"),
                                              g_object_get_data (G_OBJECT (toast), "message"));

  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_present (GTK_WINDOW (dialog));
}

/* Shows a toast; its button shows the message. That something was cancelled needs none. */
void
trendline_error_show (AdwToastOverlay *toasts, const GError *error)
{
  AdwToast *toast = adw_toast_new (trendline_error_get_title (error));

  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      adw_toast_set_button_label (toast, _ ("_Details"));
      g_object_set_data_full (G_OBJECT (toast), "title", g_strdup (adw_toast_get_title (toast)), g_free);
      g_object_set_data_full (G_OBJECT (toast), "message", g_strdup (error->message), g_free);
      g_signal_connect_object (toast, "button-clicked", G_CALLBACK (on_details), toasts, 0);
    }
  adw_toast_overlay_add_toast (toasts, toast);
}
