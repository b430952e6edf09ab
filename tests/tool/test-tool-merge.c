/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

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
  tool_assert_fails ("merge a.safetensors plain.safetensors -o out.safetensors", NULL, 0,
                     "plain.safetensors: the file has no sums of the data: fit it with --keep-state");
  tool_assert_fails (
    "merge a.safetensors ridge.safetensors -o out.safetensors", NULL, 0,
    "ridge.safetensors: it was fitted with the alpha 2.000000, and the first model with 0.000000");
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
add_tests (void)
{
  g_test_add_func ("/tool/merge", test_merge);
  g_test_add_func ("/tool/merge/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
