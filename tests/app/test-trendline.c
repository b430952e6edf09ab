/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "tests/app/opened-window.h"

static void
test_longley (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  g_autoptr (GFile) model_file = NULL;
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  TrendlineFitSession *session;
  GtkWidget *window;

  g_test_summary (
    "Opens a table, fits, shows what NIST certifies, saves the model, and outlives a file that is missing.");
  folder = g_dir_make_tmp ("trendline-XXXXXX", &error);
  g_assert_no_error (error);
  path = g_build_filename (folder, "longley.safetensors", NULL);
  model_file = g_file_new_for_path (path);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = trendline_window_get_session (TRENDLINE_WINDOW (window));
  wait_for_label (window, "234289");

  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "0.995479");
  wait_for_label (window, "330.285");
  wait_for_label (window, "(Intercept)");
  wait_for_label (window, "−3.48226e+06");
  wait_for_label (window, "−4.82199");
  wait_for_label (window, "***");

  trendline_window_save_model (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "The model is saved");
  loaded = apr_linear_regression_load (path, &error);
  g_assert_no_error (error);
  coefficients = apr_linear_regression_get_coefficients (loaded);
  g_assert_cmpfloat_with_epsilon (apr_tensor_get_double (coefficients, 5, NULL), 1829.15146461355, 1e-10);

  g_assert_true (g_file_delete (model_file, NULL, NULL));
  trendline_window_open (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "There is no such file");
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_until_idle (session);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "longley.csv");
  gtk_window_destroy (GTK_WINDOW (window));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_predict (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = NULL;
  g_autoptr (GFile) model_file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  g_autofree char *model_path = NULL;
  GtkWidget *window;

  g_test_summary ("A model from a file predicts, and gives the interval of the formula, as one types.");
  folder = g_dir_make_tmp ("trendline-XXXXXX", &error);
  g_assert_no_error (error);
  path = g_build_filename (folder, "line.csv", NULL);
  model_path = g_build_filename (folder, "line.safetensors", NULL);
  g_file_set_contents (path, "x,y\n0,0\n1,1\n2,1\n3,3\n4,5\n", -1, &error);
  g_assert_no_error (error);
  file = g_file_new_for_path (path);
  model_file = g_file_new_for_path (model_path);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  wait_for_label (window, "x");
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "(Intercept)");
  trendline_window_save_model (TRENDLINE_WINDOW (window), model_file);
  wait_for_label (window, "The model is saved");
  trendline_window_open (TRENDLINE_WINDOW (window), model_file);
  while (trendline_fit_session_get_table (trendline_window_get_session (TRENDLINE_WINDOW (window))) != NULL)
    g_main_context_iteration (NULL, TRUE);

  g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", "predict"));
  wait_for_label (window, "Prediction of y");
  /* Without the table no number is better than another. */
  wait_for_label (window, "Type a number for each feature.");
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (find_entry (window, "x"))), ==, "");
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "2");
  /* 2 ± t(0.975, 3) 0.8 */
  wait_for_label (window, "95 %: −0.545957 to 4.54596");
  g_assert_nonnull (find_label (window, "2"));
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "4.5");
  wait_for_label (window, "5");
  gtk_editable_set_text (GTK_EDITABLE (find_entry (window, "x")), "four");
  wait_for_label (window, "–");

  gtk_window_destroy (GTK_WINDOW (window));
  g_assert_true (g_file_delete (file, NULL, NULL));
  g_assert_true (g_file_delete (model_file, NULL, NULL));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_missing_file (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = g_file_new_for_path ("/nowhere/missing.csv");
  GtkWidget *window;

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  wait_for_label (window, "There is no such file");
  g_assert_nonnull (find_label (window, "Fit a Model"));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Takes the caller's reference; the others are given up as callbacks are called. */
static void
wait_until_finalized (TrendlineFitSession *session)
{
  gpointer pointer = session;

  g_object_add_weak_pointer (G_OBJECT (session), &pointer);
  g_object_unref (session);
  while (pointer != NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_close (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  TrendlineFitSession *session;
  GtkWidget *window;

  g_test_summary (
    "A window can be closed while it opens or fits: that is cancelled, and nothing is shown any more.");
  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = g_object_ref (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_OPENING);
  gtk_window_destroy (GTK_WINDOW (window));
  wait_until_idle (session);
  wait_until_finalized (session);

  g_application_open (application, &file, 1, "");
  window = get_window (application);
  session = g_object_ref (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  wait_until_idle (session);
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  g_assert_cmpint (trendline_fit_session_get_state (session), ==, TRENDLINE_FIT_STATE_READING);
  gtk_window_destroy (GTK_WINDOW (window));
  wait_until_idle (session);
  g_assert_null (trendline_fit_session_get_model (session));
  wait_until_finalized (session);
}

static void
test_outdated (void)
{
  g_auto (Opened) opened = open_text ("x,z,y\n0,1,0\n1,0,1\n2,1,1\n3,0,3\n4,1,5\n");
  const char *const text = "The choices have changed since this fit.";

  g_test_summary ("Results of other choices are marked, until these come back.");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "(Intercept)");
  g_assert_null (find_label (opened.window, text));
  apr_linear_regression_set_fit_intercept (trendline_fit_session_get_options (opened.session), FALSE);
  wait_for_label (opened.window, text);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.undo", NULL));
  wait_until_gone (opened.window, text);
  g_assert_true (
    apr_linear_regression_get_fit_intercept (trendline_fit_session_get_options (opened.session)));
}

static void
test_gap (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\nNULL,7\n1,3\n2,\n2,5\n");

  g_test_summary ("An error of a gap offers to pass over such rows, and goes when something is done.");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "Numbers are missing");
  press (opened.window, "Details");
  wait_for_label (find_dialog (opened.window), "Pass Over Gaps");
  press (find_dialog (opened.window), "Pass Over Gaps");
  wait_for_label (opened.window, "Rows passed over: 2");
  g_assert_true (trendline_fit_session_get_drop_missing (opened.session));
  wait_until_gone (opened.window, "Numbers are missing");
  while (find_dialog (opened.window) != NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_search (void)
{
  g_auto (Opened) opened = open_text ("Height,width,heights,d,e,f,g,h,i,j,y\n1,2,3,4,5,6,7,8,9,10,11\n");
  TrendlineTable *table = trendline_fit_session_get_table (opened.session);
  GtkWidget *sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  GtkWidget *search = find_widget (sidebar, GTK_TYPE_SEARCH_ENTRY);

  g_test_summary ("Among many features, those whose names have a text are shown, and chosen together.");
  wait_for_label (sidebar, "width");
  g_assert_true (gtk_widget_get_visible (search));
  gtk_editable_set_text (GTK_EDITABLE (search), "HEIGHT");
  wait_until_gone (sidebar, "width");
  g_assert_nonnull (find_label (sidebar, "Height"));
  g_assert_nonnull (find_label (sidebar, "heights"));
  press (sidebar, "All or None");
  g_assert_false (trendline_column_get_is_feature (trendline_table_find_column (table, "Height")));
  g_assert_false (trendline_column_get_is_feature (trendline_table_find_column (table, "heights")));
  g_assert_true (trendline_column_get_is_feature (trendline_table_find_column (table, "width")));
  gtk_editable_set_text (GTK_EDITABLE (search), "");
  wait_for_label (sidebar, "width");
}

static guint
count_widgets (GtkWidget *widget, GType type)
{
  guint n = G_TYPE_CHECK_INSTANCE_TYPE (widget, type);
  GtkWidget *child;

  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += count_widgets (child, type);

  return n;
}

static void
test_many_columns (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (Opened) opened = { NULL };
  GtkWidget *sidebar;
  GtkWidget *page;
  guint n_columns = 250;
  guint n_rows = 150;
  guint i;

  g_test_summary ("Of many columns the first are shown, and more when that is asked for; all can be chosen.");
  for (i = 0; i < n_columns; i++)
    g_string_append_printf (text, "c%u%c", i, i < n_columns - 1 ? ',' : '\n');
  for (i = 0; i < n_columns * n_rows; i++)
    g_string_append_printf (text, "%u%c", i % 7, i % n_columns < n_columns - 1 ? ',' : '\n');
  opened = open_text (text->str);
  sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  page = find_widget (opened.window, g_type_from_name ("TrendlineDataPage"));
  wait_for_label (sidebar, "249 of 249 are chosen");
  wait_for_frames (opened.window, 3);
  g_assert_cmpuint (count_widgets (page, GTK_TYPE_LABEL), <=, 3000);
  g_assert_cmpuint (count_widgets (sidebar, GTK_TYPE_CHECK_BUTTON), ==, 100);
  g_assert_null (find_label (sidebar, "c100"));
  press (sidebar, "Show More");
  wait_for_label (sidebar, "c199");
  g_assert_null (find_label (sidebar, "c200"));
  /* One of them less, they stay as many. */
  trendline_fit_session_set_weight (opened.session, "c3");
  wait_for_label (sidebar, "248 of 248 are chosen");
  wait_for_label (sidebar, "c200");
  trendline_fit_session_set_weight (opened.session, NULL);
  wait_for_label (sidebar, "249 of 249 are chosen");
  press (sidebar, "Show More");
  wait_for_label (sidebar, "c248");
  g_assert_cmpuint (count_widgets (sidebar, GTK_TYPE_CHECK_BUTTON), ==, 249);
  wait_until_gone (sidebar, "Show More");
  gtk_editable_set_text (GTK_EDITABLE (find_widget (sidebar, GTK_TYPE_SEARCH_ENTRY)), "c1");
  wait_for_label (sidebar, "Show More");
  press (sidebar, "All or None");
  /* All but c1, c10 to c19 and c100 to c199. */
  wait_for_label (sidebar, "138 of 249 are chosen");
}

/* Whether assistive technology can say what a control is for. */
static gboolean
has_name (GtkWidget *widget)
{
  GtkWidget *label = find_widget (widget, GTK_TYPE_LABEL);

  return gtk_test_accessible_has_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL) ||
         gtk_test_accessible_has_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY) ||
         (label != NULL && *gtk_label_get_text (GTK_LABEL (label)) != '\0') ||
         (ADW_IS_PREFERENCES_ROW (widget) &&
          *adw_preferences_row_get_title (ADW_PREFERENCES_ROW (widget)) != '\0');
}

/* Whether it would be said twice: two names are said one after the other. What GTK makes of a button's label or icon is
 * not looked at. */
static gboolean
has_two_names (GtkWidget *widget)
{
  if (GTK_IS_BUTTON (widget) && (gtk_button_get_label (GTK_BUTTON (widget)) != NULL ||
                                 gtk_button_get_icon_name (GTK_BUTTON (widget)) != NULL))
    return FALSE;

  return gtk_test_accessible_has_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL) &&
         gtk_test_accessible_has_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}

static gboolean
is_control (GtkWidget *widget)
{
  static const GtkAccessibleRole roles[] = {
    GTK_ACCESSIBLE_ROLE_BUTTON,      GTK_ACCESSIBLE_ROLE_CHECKBOX,   GTK_ACCESSIBLE_ROLE_COMBO_BOX,
    GTK_ACCESSIBLE_ROLE_IMG,         GTK_ACCESSIBLE_ROLE_LINK,       GTK_ACCESSIBLE_ROLE_LIST_ITEM,
    GTK_ACCESSIBLE_ROLE_RADIO,       GTK_ACCESSIBLE_ROLE_SEARCH_BOX, GTK_ACCESSIBLE_ROLE_SLIDER,
    GTK_ACCESSIBLE_ROLE_SPIN_BUTTON, GTK_ACCESSIBLE_ROLE_SWITCH,     GTK_ACCESSIBLE_ROLE_TAB,
    GTK_ACCESSIBLE_ROLE_TEXT_BOX,
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (roles); i++)
    if (gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (widget)) == roles[i])
      return gtk_widget_get_focusable (widget);

  return FALSE;
}

/* What GTK and libadwaita build their controls of is named with the control that contains it. */
static guint
assert_named (GtkWidget *widget, gboolean is_named)
{
  GtkWidget *child;
  guint n = 0;

  if (is_control (widget))
    {
      n++;
      is_named |= has_name (widget);
      if (!is_named)
        g_test_message ("%s has no name", G_OBJECT_TYPE_NAME (widget));
      g_assert_true (is_named);
      if (has_two_names (widget))
        g_test_message ("%s has two names", G_OBJECT_TYPE_NAME (widget));
      g_assert_false (has_two_names (widget));
    }
  else if (GTK_IS_MENU_BUTTON (widget) || ADW_IS_SPLIT_BUTTON (widget) || GTK_IS_DROP_DOWN (widget) ||
           ADW_IS_PREFERENCES_ROW (widget))
    is_named |= has_name (widget);
  for (child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += assert_named (child, is_named);

  return n;
}

static void
test_names (void)
{
  g_auto (Opened) opened =
    open_text ("kind,a,b,c,d,e,f,g,h,y\np,1,2,3,4,5,6,7,8,1\nq,2,2,1,1,1,0,5,5,2\np,1,3,4,5,6,7,5,3,1\n");
  TrendlineTable *table = trendline_fit_session_get_table (opened.session);
  const char *const pages[] = { "data", "model", "plots", "predict" };
  gsize i;

  g_test_summary ("Each control of each page has a name that can be said, and is said once.");
  trendline_column_set_is_feature (trendline_table_find_column (table, "kind"), TRUE);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "(Intercept)");
  for (i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_assert_true (gtk_widget_activate_action (opened.window, "win.show-page", "s", pages[i]));
      g_assert_cmpuint (assert_named (opened.window, FALSE), >, 20);
    }
}

static void
assert_heading (GtkWidget *window, const char *text, GtkAlign align)
{
  GtkWidget *view =
    find_widget (find_widget (window, g_type_from_name ("TrendlineModelPage")), GTK_TYPE_COLUMN_VIEW);
  GtkWidget *label = find_label (view, text);

  g_assert_nonnull (label);
  g_assert_cmpint (gtk_widget_get_halign (gtk_widget_get_parent (label)), ==, align);
  g_assert_true ((gtk_widget_get_next_sibling (label) == NULL) == (align == GTK_ALIGN_END));
}

static void
test_headings (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,0\n1,1\n2,1\n3,3\n4,5\n");

  g_test_summary ("A heading is where its column's texts or numbers are.");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "(Intercept)");
  assert_heading (opened.window, "Estimate", GTK_ALIGN_END);
  assert_heading (opened.window, "Upper 95 %", GTK_ALIGN_END);
  assert_heading (opened.window, "Term", GTK_ALIGN_FILL);
  assert_heading (opened.window, "Stars", GTK_ALIGN_FILL);
}

/* Whether nothing shows through the middle of a widget's left edge. */
static gboolean
is_opaque (GtkWidget *widget)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  const graphene_rect_t edge = GRAPHENE_RECT_INIT (1, (float) gtk_widget_get_height (widget) / 2.0F, 1, 1);
  guint32 pixel = 0;

  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  node = gtk_snapshot_to_node (snapshot);
  if (node == NULL)
    return FALSE;
  texture =
    gsk_renderer_render_texture (gtk_native_get_renderer (gtk_widget_get_native (widget)), node, &edge);
  gdk_texture_download (texture, (guchar *) &pixel, sizeof pixel);

  return pixel >> 24 == 0xff;
}

/* Resizes each window that is shown: without a window manager, GTK does not once it is. */
static void
resize_windows (int width, int height)
{
  g_autofree char *line = g_strdup_printf (
    "sh -c 'for id in $(xdotool search --onlyvisible --pid %d); do xdotool windowsize $id %d %d; done'",
    (int) getpid (), width, height);

  g_assert_true (g_spawn_command_line_sync (line, NULL, NULL, NULL, NULL));
}

static void
test_decimal_commas (void)
{
  g_auto (Opened) opened = open_text ("x;y\n0,5;0\n1;1\n2;1\n3;3\n4;5\n");
  GtkWidget *entry;

  g_test_summary ("Of a table with decimal commas, numbers are shown and typed with them.");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "(Intercept)");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.show-page", "s", "predict"));
  entry = find_entry (opened.window, "x");
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "0,5");
  gtk_editable_set_text (GTK_EDITABLE (entry), "");
  wait_for_label (opened.window, "Type a number for each feature.");
  gtk_editable_set_text (GTK_EDITABLE (entry), "2,1");
  wait_until_gone (opened.window, "Type a number for each feature.");
  g_assert_false (gtk_widget_has_css_class (entry, "error"));
}

static void
test_narrow (void)
{
  g_auto (Opened) opened = open_text ("x,yyyyyyyyyyyy,z\n123456.789012,2,1234567890123\n1,3,3\n2,4,5\n"
                                      "3,1,7\n4,7,9\n5,5,1\n");
  GtkWidget *sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  GtkWidget *flap = gtk_widget_get_ancestor (sidebar, ADW_TYPE_FLAP);

  g_test_summary ("As wide as a phone, numbers are not cut, and the choices cover what is below them.");
  wait_for_label (opened.window, "1234567890123");
  /* As GNOME has it. */
  g_object_set (gtk_settings_get_default (), "gtk-decoration-layout", ":close", NULL);
  /* With its shadow. */
  wait_for_frames (opened.window, 3);
  resize_windows (380, 640);
  while (!adw_flap_get_folded (ADW_FLAP (flap)))
    g_main_context_iteration (NULL, TRUE);
  wait_for_frames (opened.window, 3);
  g_assert_false (pango_layout_is_ellipsized (
    gtk_label_get_layout (GTK_LABEL (find_label (opened.window, "123456.789012")))));
  g_assert_false (pango_layout_is_ellipsized (
    gtk_label_get_layout (GTK_LABEL (find_label (opened.window, "1234567890123")))));
  adw_flap_set_reveal_flap (ADW_FLAP (flap), TRUE);
  wait_for_frames (opened.window, 3);
  g_assert_true (gtk_widget_get_mapped (sidebar));
  g_assert_true (is_opaque (sidebar));
}

static void
test_bar (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  GtkWidget *window;
  GtkWidget *bar;

  g_test_summary ("A wide window that was empty shows its table down to its lower edge.");
  g_application_activate (application);
  window = get_window (application);
  wait_for_frames (window, 3);
  trendline_window_open (TRENDLINE_WINDOW (window), file);
  wait_for_label (window, "234289");
  bar = find_widget (window, ADW_TYPE_VIEW_SWITCHER_BAR);
  /* On a busy machine it may take some more frames to go. */
  while (gtk_widget_get_mapped (bar) && gtk_widget_get_height (bar) > 0)
    g_main_context_iteration (NULL, TRUE);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_proposed_name (void)
{
  g_autoptr (GApplication) application = start ();
  g_autoptr (GFile) file = find_longley ();
  GtkWidget *window;
  GtkWidget *dialog;
  GtkWidget *entry;

  g_test_summary ("A model is called as its table is.");
  g_application_open (application, &file, 1, "");
  window = get_window (application);
  wait_for_label (window, "234289");
  g_assert_true (gtk_widget_activate_action (window, "win.fit", NULL));
  wait_for_label (window, "0.995479");
  wait_until_idle (trendline_window_get_session (TRENDLINE_WINDOW (window)));
  g_assert_true (gtk_widget_activate_action (window, "win.save-model", NULL));
  while ((dialog = find_toplevel ("Save the Model")) == NULL ||
         (entry = find_widget (dialog, GTK_TYPE_ENTRY)) == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "longley.safetensors");
  gtk_window_destroy (GTK_WINDOW (dialog));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_single_text (void)
{
  g_auto (Opened) opened = open_text ("color,x,y\nred,0,1\nred,1,2\nred,2,3\n");
  TrendlineFitSession *session = trendline_window_get_session (TRENDLINE_WINDOW (opened.window));

  g_test_summary (
    "A column that is the same text in each row has nothing to type, and does not keep from predicting.");
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (session), "color"), TRUE);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.fit", NULL));
  wait_for_label (opened.window, "(Intercept)");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.show-page", "s", "predict"));
  wait_for_label (opened.window, "color");
  gtk_editable_set_text (GTK_EDITABLE (find_entry (opened.window, "x")), "4");
  wait_for_label (opened.window, "5");
}

static void
test_keys (void)
{
  g_autoptr (GApplication) application = start ();
  const char *const names[] = {
    "app.new-window",       "app.quit",
    "window.close",         "win.open",
    "win.add-data",         "win.fit",
    "win.cancel",           "win.predict-table",
    "win.save-model",       "win.sidebar",
    "win.show-page::data",  "win.show-page::model",
    "win.show-page::plots", "win.show-page::predict",
  };
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  gsize i;

  g_test_summary ("Each action has a key of its own, so that nothing needs a pointer.");
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto (GStrv) accels = gtk_application_get_accels_for_action (GTK_APPLICATION (application), names[i]);

      g_test_message ("%s", names[i]);
      g_assert_nonnull (accels[0]);
      g_assert_true (g_hash_table_add (keys, (gpointer) g_intern_string (accels[0])));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/longley", test_longley);
  g_test_add_func ("/trendline/predict", test_predict);
  g_test_add_func ("/trendline/close", test_close);
  g_test_add_func ("/trendline/outdated", test_outdated);
  g_test_add_func ("/trendline/gap", test_gap);
  g_test_add_func ("/trendline/search", test_search);
  g_test_add_func ("/trendline/many-columns", test_many_columns);
  g_test_add_func ("/trendline/names", test_names);
  g_test_add_func ("/trendline/headings", test_headings);
  g_test_add_func ("/trendline/bar", test_bar);
  g_test_add_func ("/trendline/proposed-name", test_proposed_name);
  g_test_add_func ("/trendline/decimal-commas", test_decimal_commas);
  g_test_add_func ("/trendline/single-text", test_single_text);
  g_test_add_func ("/trendline/narrow", test_narrow);
  g_test_add_func ("/trendline/keys", test_keys);
  g_test_add_func ("/trendline/missing-file", test_missing_file);

  return g_test_run ();
}
