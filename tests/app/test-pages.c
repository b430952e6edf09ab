/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/app/opened-window.h"

/* The pages of a window, and what keys and the pointer do there. */

/* As a person does with keys and pointer. */
static void
run_xdotool (const char *arguments)
{
  g_autofree char *line = g_strconcat ("xdotool ", arguments, NULL);

  g_assert_true (g_spawn_command_line_sync (line, NULL, NULL, NULL, NULL));
}

static void
show_page (Opened *opened, const char *name)
{
  g_assert_true (gtk_widget_activate_action (opened->window, "win.show-page", "s", name));
}

static void
wait_for_text (GtkWidget *entry, const char *text)
{
  g_test_message ("waiting for “%s” in the entry", text);
  while (!g_str_equal (gtk_editable_get_text (GTK_EDITABLE (entry)), text))
    g_main_context_iteration (NULL, TRUE);
}

static void
test_undo_of_entry (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  AprLinearRegression *options = trendline_fit_session_get_options (opened.session);
  GtkWidget *entry;

  g_test_summary ("The key takes back what was typed in an entry; elsewhere, the last choice.");
  fit_opened (&opened);
  apr_linear_regression_set_fit_intercept (options, FALSE);
  show_page (&opened, "predict");
  wait_for_label (opened.window, "Prediction of y");
  entry = find_entry (opened.window, "x");
  g_assert_true (gtk_widget_grab_focus (entry));
  wait_for_frames (opened.window, 3);
  run_xdotool ("mousemove 600 300 key End type 5");
  wait_for_text (entry, "05");
  run_xdotool ("key ctrl+z");
  while (g_str_equal (gtk_editable_get_text (GTK_EDITABLE (entry)), "05"))
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (apr_linear_regression_get_fit_intercept (options));

  gtk_window_set_focus (GTK_WINDOW (opened.window), NULL);
  run_xdotool ("key ctrl+z");
  while (!apr_linear_regression_get_fit_intercept (options))
    g_main_context_iteration (NULL, TRUE);
}

static void
test_equals_in_name (void)
{
  g_auto (Opened) opened =
    open_text ("dose=1,dose=2,kind,y\n0,0,a,0\n1,1,b,5\n2,4,a,16\n3,9,b,33\n4,5,a,23\n5,3,b,19\n");

  g_test_summary ("Columns of numbers whose names look like those of texts are typed.");
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (opened.session), "kind"), TRUE);
  fit_opened (&opened);
  show_page (&opened, "predict");
  wait_for_label (opened.window, "Prediction of y");
  g_assert_nonnull (find_entry (opened.window, "dose=1"));
  g_assert_nonnull (find_entry (opened.window, "dose=2"));
  wait_for_label (opened.window, "kind");
}

static void
test_without_table (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  GtkWidget *sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  AdwFlap *flap = ADW_FLAP (gtk_widget_get_ancestor (sidebar, ADW_TYPE_FLAP));
  AdwViewStack *pages = ADW_VIEW_STACK (find_widget (opened.window, ADW_TYPE_VIEW_STACK));
  g_autoptr (GFile) model = get_neighbour (&opened, "model.safetensors");

  g_test_summary ("A model from a file shows neither rows nor choices, whatever key is pressed.");
  fit_opened (&opened);
  g_assert_true (adw_flap_get_reveal_flap (flap));
  trendline_window_save_model (TRENDLINE_WINDOW (opened.window), model);
  wait_for_label (opened.window, "The model is saved");
  trendline_window_open (TRENDLINE_WINDOW (opened.window), model);
  wait_until_idle (opened.session);
  g_assert_false (adw_flap_get_reveal_flap (flap));
  gtk_widget_activate_action (opened.window, "win.sidebar", NULL);
  g_assert_false (adw_flap_get_reveal_flap (flap));
  g_assert_false (adw_flap_get_swipe_to_open (flap));
  show_page (&opened, "data");
  g_assert_cmpstr (adw_view_stack_get_visible_child_name (pages), ==, "model");
  show_page (&opened, "predict");
  g_assert_cmpstr (adw_view_stack_get_visible_child_name (pages), ==, "predict");

  trendline_window_open (TRENDLINE_WINDOW (opened.window), opened.file);
  wait_until_idle (opened.session);
  g_assert_true (adw_flap_get_reveal_flap (flap));
  gtk_widget_activate_action (opened.window, "win.sidebar", NULL);
  g_assert_false (adw_flap_get_reveal_flap (flap));
  show_page (&opened, "data");
  g_assert_cmpstr (adw_view_stack_get_visible_child_name (pages), ==, "data");
}

static void
test_dependent (void)
{
  g_auto (Opened) opened = open_text ("a,b,c,d,e,f,g,h,y\n0,0,0,0,0,0,0,0,1\n1,1,1,1,1,1,1,1,2\n"
                                      "2,2,2,2,2,2,2,2,4\n");

  g_test_summary ("Of many features that follow from others, the first are named.");
  fit_opened (&opened);
  show_page (&opened, "model");
  wait_for_label (opened.window, "These features follow from the others: b, c, d, e, f, and 2 more");
  trendline_fit_session_choose_all (opened.session, "h", FALSE);
  trendline_fit_session_choose_all (opened.session, "g", FALSE);
  fit_opened (&opened);
  wait_for_label (opened.window, "These features follow from the others: b, c, d, e, f");
}

static void
test_score (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,0\n1,2\n2,1\n3,4\n4,4\n");
  g_autoptr (GFile) model = get_neighbour (&opened, "model.safetensors");
  g_autoptr (GFile) few = write_neighbour (&opened, "few.csv", "x,y\n0,0\n1,2\n2,1\n");
  GtkWidget *label;

  g_test_summary (
    "How far predictions are off for new rows, or why that cannot be told, comes after the fit.");
  fit_opened (&opened);
  show_page (&opened, "model");
  wait_for_label (opened.window, "Error for New Rows");
  /* Each row is set aside once: the residuals, divided by 1 less the leverages, are those of the other lines. */
  wait_for_label (opened.window, "1.03559");
  label = find_label (opened.window, "1.03559");
  g_assert_true (
    gtk_test_accessible_has_relation (GTK_ACCESSIBLE (label), GTK_ACCESSIBLE_RELATION_LABELLED_BY));
  g_assert_true (
    gtk_test_accessible_has_property (GTK_ACCESSIBLE (label), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION));

  trendline_window_save_model (TRENDLINE_WINDOW (opened.window), model);
  wait_for_label (opened.window, "The model is saved");
  trendline_window_open (TRENDLINE_WINDOW (opened.window), model);
  wait_until_idle (opened.session);
  wait_for_label (opened.window, "Rank");
  wait_until_gone (opened.window, "Error for New Rows");

  trendline_window_open (TRENDLINE_WINDOW (opened.window), few);
  wait_until_idle (opened.session);
  fit_opened (&opened);
  show_page (&opened, "model");
  wait_for_label (opened.window, "There are too few rows to tell how well new rows are predicted.");
  wait_for_label (opened.window, "–");
}

static void
test_penalty (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,0\n1,2\n2,1\n3,4\n4,4\n");

  g_test_summary ("The coefficients of a model that has no statistics are listed, too.");
  apr_linear_regression_set_alpha (trendline_fit_session_get_options (opened.session), 10);
  fit_opened (&opened);
  show_page (&opened, "model");
  /* The slope is 10 / (10 + 10), and the means are 2 and 2.2. */
  wait_for_label (opened.window, "0.5");
  wait_for_label (opened.window, "1.2");
  wait_for_label (opened.window,
                  "There are no errors and no intervals for a model with a penalty or with bounds.");
}

static void
test_find (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,9\n1,-3\n2,7\n3,-5\n4,0\n5,-5\n6,-6\n7,-1\n8,8\n9,-5\n");
  GtkWidget *sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  GtkSpinButton *spin = GTK_SPIN_BUTTON (find_widget (sidebar, GTK_TYPE_SPIN_BUTTON));
  g_autoptr (GFile) line = write_neighbour (&opened, "line.csv", "x,y\n0,0\n1,2\n2,4\n3,6\n4,8\n");
  g_autoptr (GFile) few = write_neighbour (&opened, "few.csv", "x,y\n0,0\n1,2\n2,1\n");

  g_test_summary ("A button finds the penalty, and sets the entry, which can be undone.");
  press (sidebar, "Find");
  g_assert_cmpint (trendline_fit_session_get_state (opened.session), !=, TRENDLINE_FIT_STATE_IDLE);
  wait_for_label (opened.window, "Best penalty: 1000");
  g_assert_cmpfloat (gtk_spin_button_get_value (spin), ==, 1000);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.undo", NULL));
  g_assert_cmpfloat (gtk_spin_button_get_value (spin), ==, 0);

  trendline_window_open (TRENDLINE_WINDOW (opened.window), line);
  wait_until_idle (opened.session);
  gtk_spin_button_set_value (spin, 3);
  press (sidebar, "Find");
  wait_for_label (opened.window, "Best without a penalty");
  g_assert_cmpfloat (gtk_spin_button_get_value (spin), ==, 0);

  trendline_window_open (TRENDLINE_WINDOW (opened.window), few);
  wait_until_idle (opened.session);
  press (sidebar, "Find");
  wait_for_label (opened.window, "There are too few rows");
}

static void
test_find_more (void)
{
  g_auto (Opened) opened = open_text (
    "x,y\n0,9\n2000,-3\n4000,7\n6000,-5\n8000,0\n10000,-5\n12000,-6\n14000,-1\n16000,8\n18000,-5\n");
  g_autoptr (GFile) gaps = write_neighbour (&opened, "gaps.csv", "x,y\n0,0\n,8\n1,2\n2,4\n3,\n3,6\n4,8\n");

  g_test_summary ("It is said that a greater penalty may be better, and that rows were passed over.");
  g_assert_true (gtk_widget_activate_action (opened.window, "win.find-ridge", NULL));
  wait_for_label (opened.window, "Best penalty: 1000000000, the greatest that is tried");

  trendline_window_open (TRENDLINE_WINDOW (opened.window), gaps);
  wait_until_idle (opened.session);
  trendline_fit_session_set_drop_missing (opened.session, TRUE);
  g_assert_true (gtk_widget_activate_action (opened.window, "win.find-ridge", NULL));
  wait_for_label (opened.window, "Best without a penalty; rows passed over: 2");
}

static void
test_many_features (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (Opened) opened = { NULL };
  guint i;

  g_test_summary ("Too many features are not typed, which is said.");
  for (i = 0; i < 600; i++)
    g_string_append_printf (text, "x%u,", i);
  g_string_append (text, "y\n");
  for (i = 0; i < 2 * 601; i++)
    g_string_append_printf (text, "%u%s", i % 7, i % 601 == 600 ? "\n" : ",");
  opened = open_text (text->str);
  fit_opened (&opened);
  show_page (&opened, "predict");
  wait_for_label (opened.window, "There are too many features to type. Predict a table instead.");
  g_assert_null (
    find_label (find_widget (opened.window, g_type_from_name ("TrendlinePredictPage")), "Features"));
}

static void
test_many_texts (void)
{
  g_autoptr (GString) text = g_string_new ("kind,y\n");
  g_auto (Opened) opened = { NULL };
  guint i;

  g_test_summary ("Many texts are one choice.");
  for (i = 0; i < 600; i++)
    g_string_append_printf (text, "text %u,%u\n", i, i);
  opened = open_text (text->str);
  trendline_column_set_is_feature (
    trendline_table_find_column (trendline_fit_session_get_table (opened.session), "kind"), TRUE);
  fit_opened (&opened);
  show_page (&opened, "predict");
  wait_for_label (opened.window, "Prediction of y");
  g_assert_nonnull (
    find_label (find_widget (opened.window, g_type_from_name ("TrendlinePredictPage")), "kind"));
}

static void
test_wheel (void)
{
  g_auto (Opened) opened = open_text ("a,b,c,d,e,f,g,h,i,y\n0,0,0,0,0,0,0,0,0,1\n1,1,1,1,1,1,1,1,1,2\n");
  AprLinearRegression *options = trendline_fit_session_get_options (opened.session);
  GtkWidget *sidebar = find_widget (opened.window, g_type_from_name ("TrendlineSidebar"));
  GtkWidget *spin = find_widget (sidebar, GTK_TYPE_SPIN_BUTTON);
  GtkWidget *scrolled = find_widget (sidebar, GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  g_autofree char *arguments = NULL;
  double value;
  double x;
  double y;

  g_test_summary ("The wheel scrolls the choices, and does not change the penalty below the pointer.");
  wait_for_frames (opened.window, 3);
  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
  wait_for_frames (opened.window, 3);
  value = gtk_adjustment_get_value (adjustment);
  g_assert_cmpfloat (value, >, 0);
  g_assert_true (gtk_widget_translate_coordinates (spin, opened.window, gtk_widget_get_width (spin) / 2.0,
                                                   gtk_widget_get_height (spin) / 2.0, &x, &y));
  arguments = g_strdup_printf ("mousemove %d %d sleep 0.1 click 4", (int) x, (int) y);
  run_xdotool (arguments);
  while (gtk_adjustment_get_value (adjustment) >= value && apr_linear_regression_get_alpha (options) <= 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpfloat (apr_linear_regression_get_alpha (options), ==, 0);
}

static void
test_toasts (void)
{
  g_auto (Opened) opened = open_text ("x,y\n0,1\n1,2\n2,4\n");
  GtkWidget *bar = find_widget (opened.window, ADW_TYPE_VIEW_SWITCHER_BAR);

  g_test_summary ("An error, which stays until it is closed, does not cover the bar of the pages.");
  g_assert_nonnull (find_widget (opened.window, ADW_TYPE_TOAST_OVERLAY));
  g_assert_null (gtk_widget_get_ancestor (bar, ADW_TYPE_TOAST_OVERLAY));
}

/* The first label that can be seen and has a part. */
static GtkWidget *
find_part (GtkWidget *widget, const char *part)
{
  GtkWidget *found = NULL;
  GtkWidget *child;

  if (!gtk_widget_get_mapped (widget))
    return NULL;
  if (GTK_IS_LABEL (widget) && strstr (gtk_label_get_text (GTK_LABEL (widget)), part) != NULL)
    return widget;
  for (child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_part (child, part);

  return found;
}

/* Waits for a label that has a part, and asserts that the part is drawn from left to right. */
static void
assert_left_to_right (GtkWidget *window, const char *part)
{
  PangoLayout *layout;
  PangoRectangle first;
  PangoRectangle last;
  GtkWidget *label;
  const char *text;
  int begin;

  g_test_message ("waiting for “%s”", part);
  while ((label = find_part (window, part)) == NULL)
    g_main_context_iteration (NULL, TRUE);
  /* With the room that it needs. */
  wait_for_frames (window, 3);
  layout = gtk_label_get_layout (GTK_LABEL (label));
  text = pango_layout_get_text (layout);
  begin = (int) (strstr (text, part) - text);
  pango_layout_index_to_pos (layout, begin, &first);
  pango_layout_index_to_pos (layout, begin + (int) strlen (part) - 1, &last);
  g_assert_cmpint (MIN (first.x, first.x + first.width), <, MIN (last.x, last.x + last.width));
}

static void
test_right_to_left (void)
{
  g_auto (Opened) opened = { NULL };
  graphene_rect_t begin;
  graphene_rect_t end;
  GtkText *entry;

  g_test_summary ("Where texts are read from right to left, signs are before their numbers all the same.");
  /* It sets the direction of the locale. */
  gtk_init ();
  gtk_widget_set_default_direction (GTK_TEXT_DIR_RTL);
  opened = open_text ("x,y\n-1.5,1576\n2,-2099\n-4,4201\n6,-6301\n-8,8401\n3,-3149\n1,-1051\n");
  assert_left_to_right (opened.window, "-1.5");
  fit_opened (&opened);
  show_page (&opened, "model");
  assert_left_to_right (opened.window, "< 0.0001");
  /* The slope. */
  assert_left_to_right (opened.window, "−10");

  show_page (&opened, "predict");
  wait_for_label (opened.window, "Prediction of y");
  assert_left_to_right (opened.window, "95 %: ");
  entry = GTK_TEXT (gtk_editable_get_delegate (GTK_EDITABLE (find_entry (opened.window, "x"))));
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "-1.5");
  gtk_text_compute_cursor_extents (entry, 0, &begin, NULL);
  gtk_text_compute_cursor_extents (entry, 4, &end, NULL);
  g_assert_cmpfloat (begin.origin.x, <, end.origin.x);
  gtk_editable_set_text (GTK_EDITABLE (entry), "5");
  assert_left_to_right (opened.window, "−5");
  gtk_widget_set_default_direction (GTK_TEXT_DIR_LTR);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/trendline/pages/undo-of-entry", test_undo_of_entry);

  g_test_add_func ("/trendline/pages/equals-in-name", test_equals_in_name);

  g_test_add_func ("/trendline/pages/without-table", test_without_table);

  g_test_add_func ("/trendline/pages/dependent", test_dependent);

  g_test_add_func ("/trendline/pages/score", test_score);
  g_test_add_func ("/trendline/pages/penalty", test_penalty);

  g_test_add_func ("/trendline/pages/find", test_find);
  g_test_add_func ("/trendline/pages/find-more", test_find_more);

  g_test_add_func ("/trendline/pages/many-features", test_many_features);
  g_test_add_func ("/trendline/pages/many-texts", test_many_texts);

  g_test_add_func ("/trendline/pages/wheel", test_wheel);

  g_test_add_func ("/trendline/pages/toasts", test_toasts);

  g_test_add_func ("/trendline/pages/right-to-left", test_right_to_left);

  return g_test_run ();
}
