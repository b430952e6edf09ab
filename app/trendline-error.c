/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-error.h"

#include <glib/gi18n.h>

#include <aprender/aprender.h>

#include "app/trendline-fold-sums.h"
#include "app/trendline-table.h"

/* What happened, by the error's code, in words that fit into a toast; the message has the details. */
static const char *
get_title (const GError *error, gboolean is_gap)
{
  if (is_gap)
    return _ ("Numbers are missing");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return _ ("Cancelled");
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA) || error->domain == TRENDLINE_TABLE_ERROR)
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
  if (g_error_matches (error, APR_ERROR, APR_ERROR_NO_MEMORY))
    return _ ("There is not enough memory");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_NOT_FINITE))
    return _ ("A number is not finite");
  if (g_error_matches (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_FEW_ROWS))
    return _ ("There are too few rows");
  if (g_error_matches (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_MANY_FEATURES))
    return _ ("There are too many features");
  if (g_error_matches (error, TRENDLINE_FOLDS_ERROR, TRENDLINE_FOLDS_ERROR_CHANGED))
    return _ ("The choices were changed");
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
  if (error->domain == TRENDLINE_TABLE_ERROR)
    return _ (
      "Use a text file in UTF-8 whose first line names each column once, with commas, semicolons or tabs "
      "between them.");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_EMPTY))
    return _ ("Choose a target and at least one feature of a table with rows.");
  if (g_error_matches (error, APR_ERROR, APR_ERROR_FEATURE_NAMES))
    return _ ("Use a table with the columns that the model was fitted to.");
  if (error->domain == G_IO_ERROR)
    return _ ("Nothing was changed. Try again, or use another file.");

  return _ ("Nothing was changed.");
}

static void
on_response (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  GtkWindow *window = gtk_window_get_transient_for (GTK_WINDOW (dialog));

  if (g_str_equal (response, "pass-over") && window != NULL)
    gtk_widget_activate_action (GTK_WIDGET (window), "win.pass-over-gaps", NULL);
}

/* The message without the property, in parentheses, that it ends with for programs. */
static char *
get_details (const GError *error)
{
  const char *property = g_strrstr (error->message, " (drop-missing)");

  return property != NULL ? g_strndup (error->message, (gsize) (property - error->message))
                          : g_strdup (error->message);
}

static void
show_details (GtkWidget *toasts, const GError *error, gboolean is_gap)
{
  const char *advice =
    is_gap ? _ ("Fill in what is missing, or pass over rows with gaps.") : get_advice (error);
  GtkWidget *dialog =
    adw_message_dialog_new (GTK_WINDOW (gtk_widget_get_root (toasts)), get_title (error, is_gap), advice);
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *row = adw_expander_row_new ();
  g_autofree char *details = get_details (error);
  GtkWidget *message = gtk_label_new (details);

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
  if (is_gap)
    {
      adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "pass-over", _ ("_Pass Over Gaps"));
      adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "pass-over",
                                                  ADW_RESPONSE_SUGGESTED);
      g_signal_connect (dialog, "response", G_CALLBACK (on_response), NULL);
    }
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
on_details (AdwToast *toast, GtkWidget *toasts)
{
  show_details (toasts, g_object_get_data (G_OBJECT (toast), "error"),
                GPOINTER_TO_INT (g_object_get_data (G_OBJECT (toast), "is-gap")));
}

/*
 * Makes a toast, whose button shows the message over the window of the toasts. That something was cancelled needs none.
 *
 * If the error is that numbers are missing, the message offers to pass over such rows, by “win.pass-over-gaps”.
 */
AdwToast *
trendline_error_create_toast (const GError *error, AdwToastOverlay *toasts, gboolean is_gap)
{
  AdwToast *toast = adw_toast_new (get_title (error, is_gap));

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return toast;
  adw_toast_set_button_label (toast, _ ("_Details"));
  /* It does not wait for others, and stays until it is closed or something else is said: who reads slowly, or hears the
   * window, needs time to reach the button. */
  adw_toast_set_priority (toast, ADW_TOAST_PRIORITY_HIGH);
  adw_toast_set_timeout (toast, 0);
  g_object_set_data_full (G_OBJECT (toast), "error", g_error_copy (error), (GDestroyNotify) g_error_free);
  g_object_set_data (G_OBJECT (toast), "is-gap", GINT_TO_POINTER (is_gap));
  g_signal_connect_object (toast, "button-clicked", G_CALLBACK (on_details), toasts, 0);

  return toast;
}
