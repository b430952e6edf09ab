/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>
#include <gtk/gtk.h>

/* A fit and what shows it, which the fit keeps even if the window is closed before it ends. */
typedef struct
{
  AprTableReader *reader;
  AprLinearRegression *model;
  GCancellable *cancellable;
  GtkLabel *label;
  GtkWidget *button;
} Fit;

/* Shows the text, or else the error, and ends the fit. */
static void
end (Fit *fit, const char *text, const GError *error)
{
  gtk_label_set_text (fit->label, text != NULL ? text : error->message);
  gtk_widget_set_sensitive (fit->button, FALSE);
  g_clear_object (&fit->reader);
  g_clear_object (&fit->model);
  g_clear_object (&fit->cancellable);
  g_clear_object (&fit->label);
  g_clear_object (&fit->button);
  g_free (fit);
}

static void
on_summary (GObject *model, GAsyncResult *result, gpointer fit)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text =
    apr_linear_regression_summary_finish (APR_LINEAR_REGRESSION (model), result, &error);

  end (fit, text, error);
}

static void on_read (GObject *reader, GAsyncResult *result, gpointer data);

static void
on_added (GObject *model, GAsyncResult *result, gpointer data)
{
  Fit *fit = data;
  g_autoptr (GError) error = NULL;

  if (apr_linear_regression_partial_fit_finish (APR_LINEAR_REGRESSION (model), result, &error))
    apr_table_reader_read_async (fit->reader, G_PRIORITY_DEFAULT, fit->cancellable, on_read, fit);
  else
    end (fit, NULL, error);
}

/* Adds the samples to the model as they are read, so that the file may be of any size. */
static void
on_read (GObject *reader, GAsyncResult *result, gpointer data)
{
  Fit *fit = data;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;

  if (apr_table_reader_read_finish (APR_TABLE_READER (reader), result, &x, &y, NULL, &error))
    apr_linear_regression_partial_fit_async (fit->model, x, y, NULL, G_PRIORITY_DEFAULT, fit->cancellable,
                                             on_added, fit);
  else if (error == NULL &&
           apr_estimator_set_feature_names (APR_ESTIMATOR (fit->model),
                                            apr_table_reader_get_features (fit->reader), &error))
    apr_linear_regression_summary_async (fit->model, G_PRIORITY_DEFAULT, fit->cancellable, on_summary, fit);
  else
    end (fit, NULL, error);
}

static void
begin (Fit *fit, GFile *file, GtkWidget *bar)
{
  const char *targets[] = { "rent", NULL };
  g_autoptr (GError) error = NULL;

  fit->reader = apr_table_reader_new_for_file (file, NULL, &error);
  if (fit->reader == NULL)
    {
      end (fit, NULL, error);
      return;
    }
  apr_table_reader_set_targets (fit->reader, targets);
  g_object_bind_property (fit->reader, "progress", bar, "fraction", G_BINDING_DEFAULT);
  apr_table_reader_read_async (fit->reader, G_PRIORITY_DEFAULT, fit->cancellable, on_read, fit);
}

static void
on_open (GtkApplication *application,
         GFile **files,
         G_GNUC_UNUSED int n_files,
         G_GNUC_UNUSED const char *hint,
         G_GNUC_UNUSED gpointer data)
{
  GtkWidget *window = gtk_application_window_new (application);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *bar = gtk_progress_bar_new ();
  GtkWidget *button = gtk_button_new_with_label ("Cancel");
  GtkWidget *label = gtk_label_new (NULL);
  Fit *fit = g_new0 (Fit, 1);

  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, "monospace");
  gtk_box_append (GTK_BOX (box), bar);
  gtk_box_append (GTK_BOX (box), button);
  gtk_box_append (GTK_BOX (box), label);
  gtk_window_set_child (GTK_WINDOW (window), box);
  gtk_window_set_title (GTK_WINDOW (window), "Rents");
  gtk_window_present (GTK_WINDOW (window));

  fit->model = apr_linear_regression_new ();
  fit->cancellable = g_cancellable_new ();
  fit->label = g_object_ref (GTK_LABEL (label));
  fit->button = g_object_ref (button);
  g_signal_connect_object (button, "clicked", G_CALLBACK (g_cancellable_cancel), fit->cancellable,
                           G_CONNECT_SWAPPED);
  begin (fit, files[0], bar);
}

int
main (int argc, char **argv)
{
  g_autoptr (GtkApplication) application =
    gtk_application_new ("org.example.Rents", G_APPLICATION_HANDLES_OPEN);

  g_signal_connect (application, "open", G_CALLBACK (on_open), NULL);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
