/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "tool-run.h"

static const char table[] = "height,\"a\x1b"
                            "b\",y\n1,2,3\n2,1,5\n3,5,4\n4,3,9\n5,8,8\n6,5,12\n7,9,11\n";

static void
test_summary (void)
{
  g_autofree char *model = tool_get_path ("summary.safetensors");
  g_autofree char *fit = g_strdup_printf ("fit - --target y --dtype f32 --keep-state -o %s", model);
  g_autofree char *arguments = g_strdup_printf ("summary %s", model);
  g_autoptr (Run) fitted = tool_run_with (fit, table, -1, NULL);
  g_autoptr (Run) run = NULL;

  g_assert_cmpint (fitted->status, ==, 0);
  run = tool_run (arguments);
  g_assert_cmpstr (run->messages, ==, "");
  g_assert_cmpint (run->status, ==, 0);
  tool_assert_contains (run->output, "Pr(>|t|)");
  tool_assert_contains (run->output, "\nheight ");
  tool_assert_contains (run->output, "\na\\u001bb ");
  tool_assert_contains (run->output, "\nsamples ");
}

static void
test_without_state (void)
{
  g_autofree char *model = tool_get_path ("plain.safetensors");
  g_autofree char *fit = g_strdup_printf ("fit - --target y --dtype f32 -o %s", model);
  g_autofree char *arguments = g_strdup_printf ("summary %s", model);
  g_autoptr (Run) fitted = tool_run_with (fit, table, -1, NULL);
  g_autoptr (Run) run = NULL;

  g_assert_cmpint (fitted->status, ==, 0);
  tool_assert_fails ("summary /nonexistent", NULL, 0, "/nonexistent: No such file or directory");
  run = tool_run_with (arguments, NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_cmpstr (run->output, ==, "");
  tool_assert_contains (run->messages, model);
  tool_assert_contains (run->messages, "keep-state is true\n");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/summary", test_summary);
  g_test_add_func ("/tool/summary/without-state", test_without_state);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
