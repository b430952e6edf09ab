/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uses summary-window.c, or summary-window.vala, as a user would, under X. */
#include <gtk/gtk.h>

/* The build calls that of the program run_program(). */
#undef main

/* Rents that depend on area and rooms exactly, and on noise that is -1 and 1 equally often for each of four kinds of
 * flats: the estimates are what the rents are made of. */
#define N_ROUNDS 50000

int run_program (int argc, char **argv);

typedef struct
{
  gboolean cancel;
  char *text;
  double fraction;
} Use;

static GtkWidget *
find (GtkWidget *widget, GType type)
{
  GtkWidget *child;

  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find (child, type);

      if (found != NULL)
        return found;
    }

  return NULL;
}

static GtkWidget *
get_window (void)
{
  GApplication *application = g_application_get_default ();

  return application == NULL ? NULL
                             : GTK_WIDGET (gtk_application_get_active_window (GTK_APPLICATION (application)));
}

/* In the first turn of the main loop, when there is a window, and nothing has been read yet. */
static gboolean
click (gpointer data)
{
  Use *use = data;
  GtkWidget *window = get_window ();

  g_assert_nonnull (window);
  if (use->cancel)
    g_signal_emit_by_name (find (window, GTK_TYPE_BUTTON), "clicked");

  return G_SOURCE_REMOVE;
}

/* When the fit has ended, what is shown is kept, and the window closed, which ends the program. */
static gboolean
look (gpointer data)
{
  Use *use = data;
  GtkWidget *window = get_window ();
  GtkWidget *button = window == NULL ? NULL : find (window, GTK_TYPE_BUTTON);

  if (button == NULL || gtk_widget_get_sensitive (button))
    return G_SOURCE_CONTINUE;

  /* A button has a label of its own. */
  use->text = g_strdup (gtk_label_get_text (GTK_LABEL (gtk_widget_get_next_sibling (button))));
  use->fraction = gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (find (window, GTK_TYPE_PROGRESS_BAR)));
  gtk_window_destroy (GTK_WINDOW (window));

  return G_SOURCE_REMOVE;
}

/* Runs the program with a table. */
static void
use_with (Use *use, const char *table)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "rents.csv", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFile) parent = g_file_new_for_path (folder);
  char program[] = "summary-window";
  char *arguments[] = { program, path, NULL };
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, table, -1, &error);
  g_assert_no_error (error);
  g_idle_add_full (G_PRIORITY_HIGH, click, use, NULL);
  g_timeout_add (1, look, use);
  g_assert_cmpint (run_program (2, arguments), ==, 0);
  g_file_delete (file, NULL, NULL);
  g_file_delete (parent, NULL, NULL);
}

static char *
make_rents (void)
{
  GString *table = g_string_new ("area,rooms,rent\n");
  guint i;

  for (i = 0; i < N_ROUNDS; i++)
    g_string_append (table, "50,1,524\n50,3,534\n150,1,1524\n150,3,1534\n"
                            "50,1,526\n50,3,536\n150,1,1526\n150,3,1536\n");

  return g_string_free (table, FALSE);
}

static void
test_fit (void)
{
  Use use = { FALSE };
  g_autofree char *table = make_rents ();
  const char *const lines[] = { "^\\(Intercept\\) +20 ", "^area +10 ", "^rooms +5 ", "^samples +400000 " };
  guint i;

  use_with (&use, table);
  for (i = 0; i < G_N_ELEMENTS (lines); i++)
    if (!g_regex_match_simple (lines[i], use.text, G_REGEX_MULTILINE, 0))
      g_error ("%s is not in\n%s", lines[i], use.text);
  g_assert_cmpfloat (use.fraction, ==, 1);
  g_free (use.text);
}

static void
test_cancel (void)
{
  Use use = { TRUE };
  g_autofree char *table = make_rents ();

  use_with (&use, table);
  g_assert_nonnull (strstr (use.text, "cancelled"));
  g_free (use.text);
}

static void
test_error (void)
{
  Use use = { FALSE };

  use_with (&use, "area,rooms,rent\n50,1,525\n150,one,1525\n");
  g_assert_nonnull (strstr (use.text, "“one”"));
  g_free (use.text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* GTK warns of each bus and theme that a machine lacks. */
  g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL));
  g_test_add_func ("/summary-window/fit", test_fit);
  g_test_add_func ("/summary-window/cancel", test_cancel);
  g_test_add_func ("/summary-window/error", test_error);

  return g_test_run ();
}
