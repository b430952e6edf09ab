/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <json-glib/json-glib.h>

/* y = 2x + 1, compared with 3, 4, 9 at x = 1, 2, 3: the residuals are 0, -1, 2. */
static const char line[] = "x,y\n0,1\n1,3\n";
static const char truth[] = "x,w,y\n1,1,3\n2,2,4\n3,1,9\n";

static void
fit (const char *options)
{
  g_autofree char *arguments = g_strdup_printf ("fit - -o m.safetensors %s", options);
  g_autoptr (Run) run = tool_run_with (arguments, line, -1, NULL);

  g_assert_cmpint (run->status, ==, 0);
}

static void
test_score (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("By hand: R² is 1 - 5 / (62/3), and the mean of the squares is 5/3.");

  fit ("-t y");
  run = tool_run_with ("score m.safetensors - -t y", truth, -1, NULL);
  g_assert_cmpstr (run->output, ==,
                   "samples                  3\n"
                   "target                   y\n"
                   "R²                       0.7580645161290323\n"
                   "root mean squared error  1.2909944487358056\n"
                   "mean absolute error      1\n");
}

static void
test_weights (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *target;

  g_test_summary ("By hand, with the weights 1, 2, 1: the mean is 5, and R² is 1 - 6 / 22.");

  fit ("-t y");
  run = tool_run_with ("score m.safetensors - -t y -w w --json", truth, -1, NULL);
  node = json_from_string (run->output, NULL);
  g_assert_nonnull (node);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (node), "samples"), ==, 3);
  target =
    json_array_get_object_element (json_object_get_array_member (json_node_get_object (node), "targets"), 0);
  g_assert_cmpfloat (json_object_get_double_member (target, "r_squared"), ==, 16.0 / 22);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (target, "root_mean_squared_error"),
                                  1.224744871391589, 1e-15);
  g_assert_cmpfloat (json_object_get_double_member (target, "mean_absolute_error"), ==, 1);
}

static void
test_weights_of_zero (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("A row of weight 0 is no sample: the output is that without it.");

  fit ("-t y");
  run = tool_run_with ("score m.safetensors - -t y -w w", "x,w,y\n1,1,3\n2,0,700\n2,1,4\n3,1,9\n", -1, NULL);
  g_assert_cmpstr (run->output, ==,
                   "samples                  3\n"
                   "target                   y\n"
                   "R²                       0.7580645161290323\n"
                   "root mean squared error  1.2909944487358056\n"
                   "mean absolute error      1\n");
}

static void
test_range (void)
{
  /* The numbers as Python's fractions have them; those with weights are by hand, of y = 2.3x - 2. */
  static const struct
  {
    const char *fitted;
    const char *table;
    double root_mean_squared_error;
    double mean_absolute_error;
  } cases[] = {
    { "x,y\n0,0\n1,0\n", "x,w,y\n1,1,1e-200\n2,1,1e-200\n", 1e-200, 1e-200 },
    { "x,y\n0,0\n1,0\n", "x,w,y\n1,1,1e200\n2,1,-1e200\n3,1,1e200\n", 1e200, 1e200 },
    { "x,y\n0,0\n1,0\n", "x,w,y\n1,1,0\n2,1,1e308\n3,1,-1e308\n", 8.164965809277261e+307,
      6.666666666666667e+307 },
    /* One residual is beyond the range. */
    { "x,y\n0,1e308\n1,1e308\n", "x,w,y\n1,1,-1e308\n2,1,1e308\n3,1,1e308\n4,1,1e308\n", 1e308, 5e307 },
    { "x,y\n0,-2\n10,21\n", "x,w,y\n1,1e308,1\n2,1e308,3\n3,1e308,2\n4,1e308,9\n", 1.753567791675018, 1.45 },
    { "x,y\n0,-2\n10,21\n", "x,w,y\n1,1e-320,1\n2,1e-320,3\n3,1e-320,2\n4,1e-320,9\n", 1.753567791675018,
      1.45 },
  };
  guint i;

  g_test_summary ("Squares, sums and weights beyond the range of a double, or below its smallest.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Run) fitted = tool_run_with ("fit - -t y -o m.safetensors", cases[i].fitted, -1, NULL);
      g_autoptr (Run) run =
        tool_run_with ("score m.safetensors - -t y -w w --json", cases[i].table, -1, NULL);
      g_autoptr (JsonNode) node = json_from_string (run->output, NULL);
      JsonObject *target;

      g_test_message ("%s", run->output);
      g_assert_cmpint (fitted->status, ==, 0);
      g_assert_nonnull (node);
      target = json_array_get_object_element (
        json_object_get_array_member (json_node_get_object (node), "targets"), 0);
      g_assert_cmpfloat_with_epsilon (json_object_get_double_member (target, "root_mean_squared_error") /
                                        cases[i].root_mean_squared_error,
                                      1, 1e-14);
      g_assert_cmpfloat_with_epsilon (json_object_get_double_member (target, "mean_absolute_error") /
                                        cases[i].mean_absolute_error,
                                      1, 1e-14);
    }
}

static void
test_errors (void)
{
  g_autoptr (Run) run = NULL;

  fit ("-t y");
  tool_assert_fails ("score m.safetensors - -t y -t x", truth, -1,
                     "standard input: --target names “y”, “x”, but the model was fitted to “y”");
  tool_assert_fails ("score m.safetensors - -t x", truth, -1,
                     "standard input: --target names “x”, but the model was fitted to “y”");
  tool_assert_fails ("score m.safetensors - -t y", "x,v\n1,2\n", -1,
                     "standard input: no column “y”: there are “x”, “v”");
  tool_assert_fails ("score m.safetensors - -t y -w x", truth, -1,
                     "standard input: the column “x” cannot be both the weight and a feature");
  run = tool_run_with ("score m.safetensors -", truth, -1, NULL);
  g_assert_cmpint (run->status, ==, 2);
}

static void
test_target_names (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("The model's targets in another order would be compared with each other's predictions.");

  tool_write ("two.csv", "x,u,v\n1,2,50\n2,4,10\n3,6,70\n", -1);
  run = tool_run ("fit two.csv -t u -t v -o two.safetensors");
  g_clear_pointer (&run, tool_run_free);
  run = tool_run ("score two.safetensors two.csv -t u -t v");
  tool_assert_contains (run->output, "target                   u\nR²                       1\n");
  tool_assert_fails ("score two.safetensors two.csv -t v -t u", NULL, 0,
                     "two.csv: --target names “v”, “u”, but the model was fitted to “u”, “v”, in this order");
}

static void
test_no_names (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("A model without names takes the columns that are neither the target nor the weight.");

  tool_save_nameless ("bare.safetensors");
  run = tool_run_with ("score bare.safetensors - -t y", "a,y,b\n1,6,1\n2,8,1\n5,11,0\n", -1, NULL);
  tool_assert_contains (run->output, "target                   y\nR²                       1\n");
  g_clear_pointer (&run, tool_run_free);
  run = tool_run_with ("score bare.safetensors - -t y -w w", "w,a,y,,b\n1,1,6,,1\n0,2,7,,1\n2,5,11,,0\n", -1,
                       NULL);
  tool_assert_contains (
    run->output, "samples                  2\ntarget                   y\nR²                       1\n");
  g_assert_cmpstr (run->messages, ==, "aprender: standard input: left out 1 column without a name\n");

  tool_assert_fails (
    "score bare.safetensors - -t y", "a,b,c,y\n1,1,1,6\n", -1,
    "standard input: there are 3 columns beside the target, but the model has 2 features, and no "
    "names to find them by");
  tool_assert_fails (
    "score bare.safetensors - -t y -w w", "a,w,y\n1,1,6\n", -1,
    "standard input: there is 1 column beside the target and the weight, but the model has 2 "
    "features, and no names to find them by");
  tool_assert_fails ("score bare.safetensors - -t z", "a,b,y\n1,1,6\n", -1,
                     "standard input: no column “z”: there are “a”, “b”, “y”");
  tool_assert_fails ("score bare.safetensors - -t y -w v", "a,b,c,y\n1,1,1,6\n", -1,
                     "standard input: no column “v”: there are “a”, “b”, “c”, “y”");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/score", test_score);
  g_test_add_func ("/tool/score/weights", test_weights);
  g_test_add_func ("/tool/score/weights-of-zero", test_weights_of_zero);
  g_test_add_func ("/tool/score/range", test_range);
  g_test_add_func ("/tool/score/target-names", test_target_names);
  g_test_add_func ("/tool/score/no-names", test_no_names);
  g_test_add_func ("/tool/score/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
