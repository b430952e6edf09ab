/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include <aprender/aprender.h>

#include "tool-run.h"

#define COLORS "--features color=blue --features color=green --features color=red --features x --keep-state"

static void
fit (const char *arguments)
{
  g_autofree char *line = g_strdup_printf ("fit %s", arguments);
  g_autoptr (Run) run G_GNUC_UNUSED = tool_run (line);
}

static void
assert_same_files (const char *a, const char *b)
{
  g_autofree char *path_a = tool_get_path (a);
  g_autofree char *path_b = tool_get_path (b);
  g_autofree char *contents_a = NULL;
  g_autofree char *contents_b = NULL;
  gsize length_a;
  gsize length_b;

  g_assert_true (g_file_get_contents (path_a, &contents_a, &length_a, NULL));
  g_assert_true (g_file_get_contents (path_b, &contents_b, &length_b, NULL));
  g_assert_cmpmem (contents_a, length_a, contents_b, length_b);
}

static void
test_merge (void)
{
  g_autoptr (Run) whole = NULL;
  g_autoptr (Run) merged = NULL;
  g_autoptr (Run) same_when_shown = NULL;

  g_test_summary ("Models of parts make the file that one fit to all rows makes, in whatever order.");

  tool_write ("a.csv", "x,z,y\n0.1,3,1\n0.2,1,4\n0.7,2,2\n", -1);
  tool_write ("b.csv", "x,z,y\n1e-300,7,1\n3,0.3,9\n", -1);
  tool_write ("c.csv", "x,z,y\n5,5,5\n", -1);
  fit ("a.csv -t y --alpha 0.5 --keep-state -o a.safetensors");
  fit ("b.csv -t y --alpha 0.5 --keep-state -o b.safetensors");
  fit ("c.csv -t y --alpha 0.5 --keep-state -o c.safetensors");
  whole = tool_run ("fit a.csv b.csv c.csv -t y --alpha 0.5 --keep-state -o whole.safetensors --json");
  merged = tool_run ("merge b.safetensors c.safetensors a.safetensors -o merged.safetensors");
  assert_same_files ("whole.safetensors", "merged.safetensors");
  tool_assert_contains (whole->output, "\"samples\": 6,");
  g_assert_true (g_str_has_prefix (merged->output, "samples        6\ntarget         y\ncoefficients\n  x "));

  /* Names that are no text, and look the same where they are shown, are those of two files. */
  fit ("a.csv -t y --alpha 0.5 --keep-state -o a\376.safetensors");
  fit ("b.csv -t y --alpha 0.5 --keep-state -o a\377.safetensors");
  same_when_shown = tool_run ("merge a\376.safetensors a\377.safetensors -o two.safetensors");
  tool_assert_contains (same_when_shown->output, "samples        5\n");
}

static void
test_weights (void)
{
  g_autoptr (Run) whole = NULL;
  g_autoptr (Run) merged = NULL;

  g_test_summary ("A row of weight 0 is no sample, for a fit no more than for a merge.");

  tool_write ("a.csv", "x,w,y\n1,1,3\n2,2,4\n3,0,9\n", -1);
  tool_write ("b.csv", "x,w,y\n4,1,8\n5,3,11\n6,1,10\n", -1);
  fit ("a.csv -t y -w w --keep-state -o a.safetensors");
  fit ("b.csv -t y -w w --keep-state -o b.safetensors");
  whole = tool_run ("fit a.csv b.csv -t y -w w --keep-state -o whole.safetensors");
  merged = tool_run ("merge a.safetensors b.safetensors -o merged.safetensors");
  assert_same_files ("whole.safetensors", "merged.safetensors");
  g_assert_true (g_str_has_prefix (whole->output, "samples        5\n"));
  g_assert_cmpstr (merged->output, ==, whole->output);
}

static void
test_links (void)
{
  static const char *const links[] = { "symbolic.safetensors", "hard.safetensors" };
  g_autofree char *path = NULL;
  g_autofree char *contents = NULL;
  g_autoptr (Run) run = NULL;
  gsize length;
  guint i;

  g_test_summary ("A file is there twice under whatever names; a copy is another file.");

  tool_write ("a.csv", "x,y\n1,1\n2,4\n3,2\n", -1);
  fit ("a.csv -t y --keep-state -o linked.safetensors");
  path = tool_get_path ("linked.safetensors");
  for (i = 0; i < G_N_ELEMENTS (links); i++)
    {
      g_autofree char *other = tool_get_path (links[i]);
      g_autofree char *arguments =
        g_strdup_printf ("merge linked.safetensors %s -o out.safetensors", links[i]);
      g_autofree char *message =
        g_strdup_printf ("%s: The samples of “%s” have been merged before", links[i], path);

      g_assert_no_errno (i == 0 ? symlink (path, other) : link (path, other));
      tool_assert_fails (arguments, NULL, 0, message);
    }

  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  tool_write ("copy.safetensors", contents, (gssize) length);
  run = tool_run ("merge linked.safetensors copy.safetensors -o out.safetensors");
  tool_assert_contains (run->output, "samples        6\n");
}

static void
test_errors (void)
{
  g_test_summary ("What has no sums, other features, or other settings, or is there twice, is not merged; "
                  "the old file stays.");

  tool_write ("a.csv", "x,y\n1,1\n2,4\n3,2\n", -1);
  tool_write ("b.csv", "z,y\n1,1\n2,4\n3,2\n", -1);
  tool_write ("c.csv", "x,price\n1,1\n2,4\n3,2\n", -1);
  tool_write ("out.safetensors", "old", -1);
  fit ("a.csv -t y --keep-state -o a.safetensors");
  fit ("a.csv -t y -o plain.safetensors");
  fit ("a.csv -t y --alpha 2 --keep-state -o ridge.safetensors");
  fit ("b.csv -t y --keep-state -o b.safetensors");
  fit ("c.csv -t price --keep-state -o c.safetensors");
  tool_assert_fails (
    "merge a.safetensors c.safetensors -o out.safetensors", NULL, 0,
    "c.safetensors: Target 0 (counted from 0) is “price”, but the model was fitted with “y” there");
  {
    g_autofree char *path = tool_get_path ("a.safetensors");
    g_autofree char *message =
      g_strdup_printf ("./a.safetensors: The samples of “%s” have been merged before", path);

    tool_assert_fails ("merge a.safetensors ./a.safetensors -o out.safetensors", NULL, 0, message);
  }
  tool_assert_fails ("merge none.safetensors -o none/out.safetensors", NULL, 0,
                     "none/out.safetensors: No such file or directory");
  tool_assert_fails ("merge a.safetensors plain.safetensors -o out.safetensors", NULL, 0,
                     "plain.safetensors: the file has no sums of the data: fit it with --keep-state");
  tool_assert_fails ("merge a.safetensors ridge.safetensors -o out.safetensors", NULL, 0,
                     "ridge.safetensors: it was fitted with the alpha 2, and the first model with 0");
  fit ("a.csv -t y --no-intercept --keep-state -o origin.safetensors");
  tool_assert_fails (
    "merge a.safetensors origin.safetensors -o out.safetensors", NULL, 0,
    "origin.safetensors: it was fitted with the fit-intercept false, and the first model with true");
  fit ("a.csv -t y --dtype f32 --keep-state -o f32.safetensors");
  tool_assert_fails ("merge a.safetensors f32.safetensors -o out.safetensors", NULL, 0,
                     "f32.safetensors: it was fitted with the dtype F32, and the first model with F64");
  {
    g_autoptr (Run) run =
      tool_run_with ("merge a.safetensors b.safetensors -o out.safetensors", NULL, 0, NULL);
    g_autofree char *old = tool_read ("out.safetensors");

    g_assert_cmpint (run->status, ==, 1);
    g_assert_true (g_str_has_prefix (run->messages, "aprender: b.safetensors: "));
    tool_assert_contains (run->messages, "“z”");
    g_assert_cmpstr (old, ==, "old");
  }
}

static void
test_dtypes (void)
{
  g_test_summary ("F64 that was asked for and F64 that follows the data are the same.");

  tool_write ("a.csv", "x,y\n1,1\n2,4\n3,2\n", -1);
  tool_write ("b.csv", "x,y\n4,1\n5,4\n", -1);
  fit ("a.csv -t y --keep-state -o a.safetensors");
  fit ("b.csv -t y --dtype f64 --keep-state -o b.safetensors");
  fit ("a.csv b.csv -t y --dtype f64 --keep-state -o whole.safetensors");
  {
    g_autoptr (Run) one G_GNUC_UNUSED = tool_run ("merge a.safetensors b.safetensors -o one.safetensors");
    g_autoptr (Run) other G_GNUC_UNUSED = tool_run ("merge b.safetensors a.safetensors -o other.safetensors");
  }
  assert_same_files ("whole.safetensors", "one.safetensors");
  assert_same_files ("whole.safetensors", "other.safetensors");
}

/* A model of two features and two targets, none of which has a name. */
static void
save_nameless (const char *name, const double *x, const double *y)
{
  static const gsize shape[] = { 3, 2 };
  g_autoptr (AprTensor) x_tensor = apr_tensor_new_from_doubles (x, 6, shape, 2, NULL);
  g_autoptr (AprTensor) y_tensor = apr_tensor_new_from_doubles (y, 6, shape, 2, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autofree char *path = tool_get_path (name);
  g_autoptr (GError) error = NULL;

  apr_linear_regression_set_keep_state (model, TRUE);
  apr_estimator_fit (APR_ESTIMATOR (model), x_tensor, y_tensor, NULL, NULL, &error);
  g_assert_no_error (error);
  apr_estimator_save (APR_ESTIMATOR (model), path, &error);
  g_assert_no_error (error);
}

static void
test_nameless (void)
{
  g_autoptr (Run) merged = NULL;
  g_autoptr (Run) json = NULL;

  g_test_summary ("Features without names are called x0, x1 and so on, as everywhere, and targets likewise.");

  save_nameless ("a.safetensors", (const double[]){ 0, 0, 1, 0, 0, 1 }, (const double[]){ 1, 2, 3, 6, 4, 7 });
  save_nameless ("b.safetensors", (const double[]){ 1, 1, 2, 1, 0, 2 },
                 (const double[]){ 6, 11, 8, 15, 7, 12 });
  merged = tool_run ("merge a.safetensors b.safetensors -o m.safetensors");
  json = tool_run ("merge a.safetensors b.safetensors -o m.safetensors --json");
  /* y0 = 1 + 2 x0 + 3 x1 and y1 = 2 + 4 x0 + 5 x1 */
  g_assert_cmpstr (merged->output, ==,
                   "samples        6\n"
                   "target         y0\n"
                   "coefficients\n"
                   "  x0           2\n"
                   "  x1           3\n"
                   "intercept      1\n"
                   "R²             1\n"
                   "target         y1\n"
                   "coefficients\n"
                   "  x0           4\n"
                   "  x1           5\n"
                   "intercept      2\n"
                   "R²             1\n");
  tool_assert_contains (json->output, "\"features\": [\"x0\", \"x1\"]");
  tool_assert_contains (json->output, "\"target\": \"y1\"");
}

static void
test_categories (void)
{
  g_autoptr (Run) merged = NULL;

  g_test_summary ("Parts with other texts in a column have other features, unless these are named.");

  tool_write ("red.csv", "color,x,y\nred,1,1\nblue,2,4\nred,3,2\n", -1);
  tool_write ("more.csv", "color,x,y\nred,1,1\nblue,2,4\ngreen,3,2\n", -1);
  tool_write ("green.csv", "color,x,y\nred,1,1\ngreen,2,4\nred,3,2\n", -1);
  fit ("red.csv -t y --one-hot color --keep-state -o red.safetensors");
  fit ("more.csv -t y --one-hot color --keep-state -o more.safetensors");
  fit ("green.csv -t y --one-hot color --keep-state -o green.safetensors");
  tool_assert_fails (
    "merge red.safetensors more.safetensors -o m.safetensors", NULL, 0,
    "more.safetensors: it has the feature “color=green”, which the first model does not have");
  tool_assert_fails ("merge more.safetensors red.safetensors -o m.safetensors", NULL, 0,
                     "red.safetensors: it has no feature “color=green”, which the first model has");
  tool_assert_fails ("merge red.safetensors green.safetensors -o m.safetensors", NULL, 0,
                     "green.safetensors: it has the feature “color=green”, but not “color=blue”, which the "
                     "first model has");

  fit ("red.csv -t y " COLORS " -o red.safetensors");
  fit ("green.csv -t y " COLORS " -o green.safetensors");
  fit ("red.csv green.csv -t y --one-hot color --keep-state -o whole.safetensors");
  merged = tool_run ("merge red.safetensors green.safetensors -o m.safetensors");
  assert_same_files ("whole.safetensors", "m.safetensors");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/merge", test_merge);
  g_test_add_func ("/tool/merge/weights", test_weights);
  g_test_add_func ("/tool/merge/dtypes", test_dtypes);
  g_test_add_func ("/tool/merge/categories", test_categories);
  g_test_add_func ("/tool/merge/nameless", test_nameless);
  g_test_add_func ("/tool/merge/links", test_links);
  g_test_add_func ("/tool/merge/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
