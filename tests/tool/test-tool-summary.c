/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include <aprender/aprender.h>
#include <json-glib/json-glib.h>

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
}

static void
test_long_name (void)
{
  g_autofree char *name = g_strnfill (100000, 'x');
  g_autofree char *input = g_strdup_printf ("%s,b,y\n1,2,3\n2,1,5\n3,5,4\n4,3,9\n5,8,8\n", name);
  g_autoptr (Run) fitted = NULL;
  g_autoptr (Run) run = NULL;

  g_test_summary ("A name of a feature that is very long is shown once, and makes no other row as long.");
  fitted = tool_run_with ("fit - --target y --keep-state -o long.safetensors", input, -1, NULL);
  tool_assert_contains (fitted->output, name);
  g_assert_cmpuint (strlen (fitted->output), <, 102000);
  run = tool_run ("summary long.safetensors");
  tool_assert_contains (run->output, name);
  g_assert_cmpuint (strlen (run->output), <, 102000);
}

static void
assert_summary (const char *fit, const char *input, const char *expected)
{
  g_autoptr (Run) fitted = tool_run_with (fit, input, -1, NULL);
  g_autoptr (Run) run = NULL;

  g_assert_cmpint (fitted->status, ==, 0);
  run = tool_run ("summary m.safetensors");
  g_assert_cmpstr (run->output, ==, expected);
}

static void
test_longley (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("APR_EXAMPLES"), "longley.csv", NULL);
  g_autofree char *quoted = g_shell_quote (path);
  g_autofree char *fit = g_strdup_printf ("fit %s -t y --keep-state -o m.safetensors", quoted);

  g_test_summary ("Character by character what R prints, but for the spaces at the ends of its lines.");

  assert_summary (fit, NULL,
                  "Coefficients:\n"
                  "              Estimate Std. Error t value Pr(>|t|)\n"
                  "(Intercept) -3.482e+06  8.904e+05  -3.911 0.003560 **\n"
                  "x1           1.506e+01  8.491e+01   0.177 0.863141\n"
                  "x2          -3.582e-02  3.349e-02  -1.070 0.312681\n"
                  "x3          -2.020e+00  4.884e-01  -4.136 0.002535 **\n"
                  "x4          -1.033e+00  2.143e-01  -4.822 0.000944 ***\n"
                  "x5          -5.110e-02  2.261e-01  -0.226 0.826212\n"
                  "x6           1.829e+03  4.555e+02   4.016 0.003037 **\n"
                  "---\n"
                  "Signif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1\n"
                  "\n"
                  "Residual standard error: 304.9 on 9 degrees of freedom\n"
                  "Multiple R-squared:  0.9955,\tAdjusted R-squared:  0.9925\n"
                  "F-statistic: 330.3 on 6 and 9 DF,  p-value: 4.984e-10\n");
}

/* Ezekiel's data of 1930, which R has as cars. The distances are multiplied by @factor, and end with @power. */
static void
assert_cars (int factor, const char *power, const char *expected)
{
  static const int speeds[] = { 4,  4,  7,  7,  8,  9,  10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13,
                                13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17, 17, 17, 18, 18, 18,
                                18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25 };
  static const int distances[] = { 2,  10, 4,  22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28,  26, 34,
                                   34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42,  56, 76,
                                   84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85 };
  g_autoptr (GString) cars = g_string_new ("speed,dist\n");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (speeds); i++)
    g_string_append_printf (cars, "%d,%d%s\n", speeds[i], factor * distances[i], power);
  assert_summary ("fit - -t dist --keep-state -o m.safetensors", cars->str, expected);
}

#define CODES "---\nSignif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1\n\n"

static void
test_cars (void)
{
  const char rest[] = " on 48 degrees of freedom\n"
                      "Multiple R-squared:  0.6511,\tAdjusted R-squared:  0.6438\n"
                      "F-statistic: 89.57 on 1 and 48 DF,  p-value: 1.49e-12\n";
  static const struct
  {
    int factor;
    const char *power;
    const char *expected;
  } cases[] = {
    { 1, "",
      "Coefficients:\n"
      "            Estimate Std. Error t value Pr(>|t|)\n"
      "(Intercept) -17.5791     6.7584  -2.601   0.0123 *\n"
      "speed         3.9324     0.4155   9.464 1.49e-12 ***\n" CODES "Residual standard error: 15.38" },
    { 1, "e6",
      "Coefficients:\n"
      "             Estimate Std. Error t value Pr(>|t|)\n"
      "(Intercept) -17579095    6758440  -2.601   0.0123 *\n"
      "speed         3932409     415513   9.464 1.49e-12 ***\n" CODES "Residual standard error: 15380000" },
    { 23, "e-30",
      "Coefficients:\n"
      "              Estimate Std. Error t value Pr(>|t|)\n"
      "(Intercept) -4.043e-28  1.554e-28  -2.601   0.0123 *\n"
      "speed        9.044e-29  9.557e-30   9.464 1.49e-12 ***\n" CODES "Residual standard error: 3.537e-28" },
    { 55, "e-30",
      "Coefficients:\n"
      "              Estimate Std. Error t value Pr(>|t|)\n"
      "(Intercept) -9.668e-28  3.717e-28  -2.601   0.0123 *\n"
      "speed        2.163e-28  2.285e-29   9.464 1.49e-12 ***\n" CODES "Residual standard error: 8.459e-28" },
  };
  gsize i;

  g_test_summary ("Character by character what R prints, with the last digits that its own rounding leaves.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *expected = g_strconcat (cases[i].expected, rest, NULL);

      assert_cars (cases[i].factor, cases[i].power, expected);
    }
}

/* Shares of a whole beside an intercept, and in the last model without one of them. */
static void
test_rounding (void)
{
  g_autoptr (GString) table_of_shares = g_string_new ("a,b,c,y\n");
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (Run) run = NULL;
  guint i;

  g_test_summary (
    "Who fits shares that add up to 1 is warned after the fit and in the summary. Only of a model in "
    "F32 another dtype is advised.");

  for (i = 0; i < 60; i++)
    {
      const double parts[] = { 60 + i * 7 % 13, 80 + i * 5 % 17, 90 + i * 11 % 19 };
      double whole = parts[0] + parts[1] + parts[2];

      g_string_append_printf (table_of_shares, "%.17g,%.17g,%.17g,%d\n", parts[0] / whole, parts[1] / whole,
                              parts[2] / whole, i * 29 % 31);
    }
  run = tool_run_with ("fit - -t y --keep-state -o m.safetensors", table_of_shares->str, -1, NULL);
  g_assert_cmpint (run->status, ==, 0);
  tool_assert_contains (run->messages, "aprender: rounding alone may change a prediction by 0.");
  g_assert_null (strstr (run->messages, "f64"));
  g_clear_pointer (&run, tool_run_free);
  run = tool_run ("summary m.safetensors");
  tool_assert_contains (run->output, "\nWarning: rounding alone may change a prediction by 0.");
  g_assert_null (strstr (run->output, "f64"));
  g_clear_pointer (&run, tool_run_free);
  run = tool_run_with ("fit - -t y --json -o m.safetensors", table_of_shares->str, -1, NULL);
  node = json_from_string (run->output, NULL);
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (node), "prediction_rounding"), >,
                     1e-3);
  g_clear_pointer (&run, tool_run_free);

  run =
    tool_run_with ("fit - -t y --dtype f32 --keep-state -o m.safetensors", table_of_shares->str, -1, NULL);
  g_assert_true (g_str_has_suffix (run->messages, "centre these, or use --dtype f64.\n"));
  g_clear_pointer (&run, tool_run_free);
  run = tool_run ("summary m.safetensors");
  g_assert_true (g_str_has_suffix (run->output, "centre these, or use --dtype f64.\n"));
  g_clear_pointer (&run, tool_run_free);

  run = tool_run_with ("fit - -t y --drop c --keep-state -o m.safetensors", table_of_shares->str, -1, NULL);
  g_assert_cmpstr (run->messages, ==, "");
  g_clear_pointer (&run, tool_run_free);
  run = tool_run ("summary m.safetensors");
  g_assert_null (strstr (run->output, "Warning"));
}

static void
test_json (void)
{
  g_autoptr (Run) fitted G_GNUC_UNUSED =
    tool_run_with ("fit - -t y --keep-state -o m.safetensors", "x,y\n0,0\n1,1\n2,3\n", -1, NULL);
  g_autoptr (Run) run = tool_run ("summary m.safetensors --json");
  g_autoptr (JsonNode) node = json_from_string (run->output, NULL);
  JsonObject *target;
  JsonObject *slope;

  g_test_summary ("By hand: the slope is 3/2 with the error √(1/12); its interval comes from t's 12.706.");

  g_assert_nonnull (node);
  target =
    json_array_get_object_element (json_object_get_array_member (json_node_get_object (node), "targets"), 0);
  g_assert_cmpint (json_object_get_int_member (target, "n_samples"), ==, 3);
  g_assert_cmpint (json_object_get_int_member (target, "df_residual"), ==, 1);
  slope = json_array_get_object_element (json_object_get_array_member (target, "terms"), 1);
  g_assert_cmpstr (json_object_get_string_member (slope, "term"), ==, "x");
  g_assert_cmpfloat (json_object_get_double_member (slope, "estimate"), ==, 1.5);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (slope, "standard_error"),
                                  0.28867513459481287, 1e-15);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (slope, "upper"),
                                  1.5 + 0.28867513459481287 * 12.706204736174698, 1e-9);
}

static JsonObject *
get_target (JsonNode *node, guint i)
{
  g_assert_nonnull (node);

  return json_array_get_object_element (json_object_get_array_member (json_node_get_object (node), "targets"),
                                        i);
}

static void
test_target_names (void)
{
  g_autoptr (Run) fitted = tool_run_with ("fit - -t y -t b\x1b --keep-state -o m.safetensors",
                                          "x,y,b\x1b\n0,0,1\n1,1,5\n2,3,2\n", -1, NULL);
  g_autoptr (Run) run = tool_run ("summary m.safetensors");
  g_autoptr (Run) json_run = tool_run ("summary m.safetensors --json");
  g_autoptr (JsonNode) node = json_from_string (json_run->output, NULL);

  g_test_summary ("Each target goes by its name, as in R.");

  g_assert_cmpint (fitted->status, ==, 0);
  g_assert_true (g_str_has_prefix (run->output, "Response y :\n\nCoefficients:\n"));
  tool_assert_contains (run->output, "\n\nResponse b\\u001b :\n\nCoefficients:\n");
  g_assert_cmpstr (json_object_get_string_member (get_target (node, 0), "target"), ==, "y");
  g_assert_cmpstr (json_object_get_string_member (get_target (node, 1), "target"), ==, "b\x1b");
}

static void
test_targets_without_names (void)
{
  const double data[] = { 0, 1, 2, 0, 1, 1, 5, 3, 2 };
  const gsize shape_x[] = { 3, 1 };
  const gsize shape_y[] = { 3, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (data, 3, shape_x, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (data + 3, 6, shape_y, 2, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autofree char *path = tool_get_path ("m.safetensors");
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) json_run = NULL;
  g_autoptr (JsonNode) node = NULL;

  apr_linear_regression_set_keep_state (model, TRUE);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  g_assert_true (apr_estimator_save (APR_ESTIMATOR (model), path, NULL));
  run = tool_run ("summary m.safetensors");
  tool_assert_contains (run->output, "Response 1 :\n");
  tool_assert_contains (run->output, "\nResponse 2 :\n");
  json_run = tool_run ("summary m.safetensors --json");
  node = json_from_string (json_run->output, NULL);
  g_assert_false (json_object_has_member (get_target (node, 1), "target"));
}

static JsonObject *
get_term (JsonObject *target, guint i)
{
  return json_array_get_object_element (json_object_get_array_member (target, "terms"), i);
}

static void
test_json_of_all (void)
{
  g_autoptr (Run) fitted G_GNUC_UNUSED = tool_run_with ("fit - -t y --keep-state -o m.safetensors",
                                                        "x,z,y\n1,1,1\n1,-1,1\n-1,1,1\n-1,-1,2\n", -1, NULL);
  g_autoptr (Run) plain_run = tool_run ("summary m.safetensors --json");
  g_autoptr (Run) run = tool_run ("summary m.safetensors --json --covariance");
  g_autoptr (JsonNode) plain = json_from_string (plain_run->output, NULL);
  g_autoptr (JsonNode) node = json_from_string (run->output, NULL);
  JsonArray *covariance;
  JsonObject *target;
  guint i;
  guint j;

  g_test_summary ("By hand: the columns are orthogonal, both slopes are -1/4, and the residuals ±1/4.");

  target = get_target (node, 0);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (node), "rank"), ==, 2);
  g_assert_cmpfloat (json_object_get_double_member (target, "total_sum_of_squares"), ==, 0.75);
  g_assert_cmpfloat (json_object_get_double_member (target, "residual_variance"), ==, 0.25);
  g_assert_true (json_object_get_null_member (get_term (target, 0), "variance_inflation"));
  for (i = 1; i < 3; i++)
    {
      g_assert_cmpfloat (json_object_get_double_member (get_term (target, i), "variance_inflation"), ==, 1);
      g_assert_cmpfloat (json_object_get_double_member (get_term (target, i), "minimum_norm"), ==, -0.25);
    }
  covariance = json_object_get_array_member (target, "covariance");
  g_assert_cmpuint (json_array_get_length (covariance), ==, 3);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      g_assert_cmpfloat (json_array_get_double_element (json_array_get_array_element (covariance, i), j), ==,
                         i == j ? 0.0625 : 0);

  json_object_remove_member (target, "covariance");
  g_assert_true (json_node_equal (node, plain));
}

static void
test_dependent (void)
{
  g_autoptr (Run) fitted G_GNUC_UNUSED =
    tool_run_with ("fit - -t y --keep-state -o m.safetensors", "x,v,y\n0,0,1\n1,2,3\n2,4,2\n", -1, NULL);
  g_autoptr (Run) run = tool_run ("summary m.safetensors --json --covariance");
  g_autoptr (JsonNode) node = json_from_string (run->output, NULL);
  JsonObject *target = get_target (node, 0);
  JsonArray *covariance = json_object_get_array_member (target, "covariance");

  g_test_summary ("By hand: v is 2x, so that minimum norm has 1/10 and 2/10 of the slope 1/2.");

  g_assert_cmpint (json_object_get_int_member (json_node_get_object (node), "rank"), ==, 1);
  g_assert_cmpfloat (json_object_get_double_member (get_term (target, 1), "estimate"), ==, 0.5);
  g_assert_cmpfloat (json_object_get_double_member (get_term (target, 1), "minimum_norm"), ==, 0.1);
  g_assert_true (json_object_get_null_member (get_term (target, 2), "estimate"));
  g_assert_true (json_object_get_null_member (get_term (target, 2), "variance_inflation"));
  g_assert_cmpfloat (json_object_get_double_member (get_term (target, 2), "minimum_norm"), ==, 0.2);
  g_assert_true (json_object_get_null_member (target, "condition_number"));
  g_assert_true (json_array_get_null_element (json_array_get_array_element (covariance, 2), 2));
  g_assert_cmpfloat (json_array_get_double_element (json_array_get_array_element (covariance, 1), 1), ==,
                     0.75);
}

static void
test_not_finite (void)
{
  g_test_summary ("Character by character what R prints of numbers that are infinite or not defined.");

  assert_summary ("fit - -t y --keep-state -o m.safetensors", "x,y\n0,1\n1,3\n2,5\n3,7\n",
                  "Coefficients:\n"
                  "            Estimate Std. Error t value Pr(>|t|)\n"
                  "(Intercept)        1          0     Inf   <2e-16 ***\n"
                  "x                  2          0     Inf   <2e-16 ***\n"
                  "---\n"
                  "Signif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1\n"
                  "\n"
                  "Residual standard error: 0 on 2 degrees of freedom\n"
                  "Multiple R-squared:      1,\tAdjusted R-squared:      1\n"
                  "F-statistic:   Inf on 1 and 2 DF,  p-value: < 2.2e-16\n");
  assert_summary ("fit - -t y --keep-state -o m.safetensors", "x,v,y\n0,0,1\n1,2,3\n",
                  "The fit goes through all 2 samples: no degrees of freedom are left\n"
                  "\n"
                  "Coefficients: (1 not defined because of singularities)\n"
                  "            Estimate Std. Error t value Pr(>|t|)\n"
                  "(Intercept)        1        NaN     NaN      NaN\n"
                  "x                  2        NaN     NaN      NaN\n"
                  "v                 NA         NA      NA       NA\n"
                  "\n"
                  "Residual standard error: NaN on 0 degrees of freedom\n"
                  "Multiple R-squared:      1,\tAdjusted R-squared:    NaN\n"
                  "F-statistic:   NaN on 1 and 0 DF,  p-value: NA\n");
}

/* The file of a linear regression as other programs write it: y0 = x0/10 - 2 x1 + 5, y1 = 3 x1. */
static void
write_foreign_model (void)
{
  const double coefficients[] = { 0.1, -2, 0, 3 };
  const double intercept[] = { 5, 0 };
  const gsize shape[] = { 2, 2 };
  g_autoptr (AprTensor) first = apr_tensor_new_from_doubles (coefficients, 4, shape, 2, NULL);
  g_autoptr (AprTensor) second = apr_tensor_new_from_doubles (intercept, 2, shape, 1, NULL);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autofree char *path = tool_get_path ("foreign.safetensors");

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "coefficients", first, NULL));
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "intercept", second, NULL));
  g_assert_true (apr_safetensors_writer_write_to_path (writer, path, NULL));
}

static void
test_without_state (void)
{
  g_autoptr (Run) fitted = tool_run_with ("fit - -t y --dtype f32 -o m.safetensors",
                                          "height,\"a\x1b\",y\n0,0,0.1\n1,0,0.3\n0,1,-0.9\n", -1, NULL);
  g_autoptr (Run) run = tool_run ("summary m.safetensors");
  g_autoptr (Run) foreign_run = NULL;

  g_test_summary ("By hand: all digits of the coefficients, of a fit to 1/10 + height/5 - a in F32.");

  g_assert_cmpint (fitted->status, ==, 0);
  g_assert_cmpstr (run->messages, ==, "");
  g_assert_cmpint (run->status, ==, 0);
  g_assert_cmpstr (run->output, ==,
                   "target         y\n"
                   "coefficients\n"
                   "  height       0.2\n"
                   "  a\\u001b     -1\n"
                   "intercept      0.1\n"
                   "\n"
                   "For statistics, fit with --keep-state.\n");

  write_foreign_model ();
  foreign_run = tool_run ("summary foreign.safetensors");
  g_assert_cmpint (foreign_run->status, ==, 0);
  g_assert_cmpstr (foreign_run->output, ==,
                   "target         y0\n"
                   "coefficients\n"
                   "  x0           0.1\n"
                   "  x1          -2\n"
                   "intercept      5\n"
                   "target         y1\n"
                   "coefficients\n"
                   "  x0           0\n"
                   "  x1           3\n"
                   "intercept      0\n"
                   "\n"
                   "For statistics, fit with --keep-state.\n");
}

static void
test_json_without_state (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (JsonNode) expected =
    json_from_string ("{\"dtype\": \"F64\", \"features\": [\"x0\", \"x1\"], \"targets\": ["
                      "{\"target\": \"y0\", \"coefficients\": [0.1, -2], \"intercept\": 5},"
                      "{\"target\": \"y1\", \"coefficients\": [0, 3], \"intercept\": 0}]}",
                      NULL);

  g_test_summary ("A file without sums has neither the number of samples nor statistics.");

  write_foreign_model ();
  run = tool_run ("summary foreign.safetensors --json");
  g_assert_cmpint (run->status, ==, 0);
  node = json_from_string (run->output, NULL);
  g_assert_nonnull (node);
  g_assert_true (json_node_equal (node, expected));
}

/* By hand: of a slope of 2 with 3 rows, alpha 2 leaves 1; and where the target falls, positive leaves 0. */
static void
test_no_statistics (void)
{
  static const struct
  {
    const char *fit;
    const char *input;
    int slope;
    const char *fitted_with;
  } cases[] = {
    { "--alpha 2", "x,y\n-1,-2\n0,0\n1,2\n", 1, "alpha = 2" },
    { "--positive", "x,y\n-1,2\n0,0\n1,-2\n", 0, "positive" },
    { "--positive --alpha 2", "x,y\n-1,2\n0,0\n1,-2\n", 0, "alpha = 2 and positive" },
  };
  const char *const states[] = { "", "--keep-state" };
  const char reason[] =
    "statistics: they are defined for ordinary least squares, but the model was fitted with";
  gsize i;
  gsize j;

  g_test_summary (
    "A model that can have no statistics is shown with its coefficients and the reason, with and "
    "without the sums of its data.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (j = 0; j < G_N_ELEMENTS (states); j++)
      {
        g_autofree char *fit = g_strdup_printf ("fit - -t y %s %s -o m.safetensors", cases[i].fit, states[j]);
        g_autofree char *expected = g_strdup_printf (
          "target         y\ncoefficients\n  x            %d\nintercept      0\n\nNo %s %s.\n",
          cases[i].slope, reason, cases[i].fitted_with);
        g_autofree char *error = g_strdup_printf ("m.safetensors: no %s %s", reason, cases[i].fitted_with);
        g_autoptr (Run) run = NULL;
        g_autoptr (JsonNode) node = NULL;
        JsonObject *object;
        JsonArray *coefficients;

        assert_summary (fit, cases[i].input, expected);
        run = tool_run ("summary m.safetensors --json");
        g_assert_cmpint (run->status, ==, 0);
        node = json_from_string (run->output, NULL);
        coefficients = json_object_get_array_member (get_target (node, 0), "coefficients");
        object = json_node_get_object (node);
        g_assert_cmpstr (json_object_get_string_member (object, "dtype"), ==, "F64");
        g_assert_false (json_object_has_member (object, "samples"));
        g_assert_cmpfloat (json_array_get_double_element (coefficients, 0), ==, cases[i].slope);
        g_assert_cmpfloat (json_object_get_double_member (get_target (node, 0), "intercept"), ==, 0);
        tool_assert_fails ("summary m.safetensors --json --covariance", NULL, 0, error);
      }
}

/* A target like a time stamp, of which F32 keeps steps of 128. */
static void
test_no_statistics_and_rounding (void)
{
  g_autoptr (Run) fitted = tool_run_with ("fit - -t y --alpha 1 --dtype f32 --keep-state -o m.safetensors",
                                          "x,y\n0,1700000000\n1,1700000002\n2,1700000003\n", -1, NULL);
  g_autoptr (Run) run = tool_run ("summary m.safetensors");

  g_assert_cmpint (fitted->status, ==, 0);
  tool_assert_contains (run->output, "\n\nNo statistics: ");
  tool_assert_contains (run->output, ".\n\nWarning: rounding alone may change a prediction by ");
  g_assert_true (g_str_has_suffix (run->output, "centre these, or use --dtype f64.\n"));
}

static void
test_alphas (void)
{
  const double data[] = { -1, 0, 1, -2, -4, 0, 0, 2, 4, 0, 2 };
  const gsize shape_x[] = { 3, 1 };
  const gsize shape_y[] = { 3, 2 };
  const gsize shape_alphas[] = { 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (data, 3, shape_x, 2, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (data + 3, 6, shape_y, 2, NULL);
  g_autoptr (AprTensor) alphas = apr_tensor_new_from_doubles (data + 9, 2, shape_alphas, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autofree char *path = tool_get_path ("m.safetensors");
  g_autoptr (Run) run = NULL;

  apr_linear_regression_set_keep_state (model, TRUE);
  apr_linear_regression_set_alphas (model, alphas);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  g_assert_true (apr_estimator_save (APR_ESTIMATOR (model), path, NULL));
  run = tool_run ("summary m.safetensors");
  g_assert_cmpstr (
    run->output, ==,
    "target         y0\n"
    "coefficients\n"
    "  x0           2\n"
    "intercept      0\n"
    "target         y1\n"
    "coefficients\n"
    "  x0           2\n"
    "intercept      0\n"
    "\n"
    "No statistics: they are defined for ordinary least squares, but the model was fitted with "
    "alphas.\n");
}

static void
test_failures (void)
{
  write_foreign_model ();
  tool_assert_fails ("summary /nonexistent", NULL, 0, "/nonexistent: No such file or directory");
  tool_assert_fails ("summary foreign.safetensors --json --covariance", NULL, 0,
                     "foreign.safetensors: the file has no sums of the data: fit it with --keep-state");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/summary", test_summary);
  g_test_add_func ("/tool/summary/long-name", test_long_name);
  g_test_add_func ("/tool/summary/longley", test_longley);
  g_test_add_func ("/tool/summary/cars", test_cars);
  g_test_add_func ("/tool/summary/rounding", test_rounding);
  g_test_add_func ("/tool/summary/json", test_json);
  g_test_add_func ("/tool/summary/target-names", test_target_names);
  g_test_add_func ("/tool/summary/targets-without-names", test_targets_without_names);
  g_test_add_func ("/tool/summary/json-of-all", test_json_of_all);
  g_test_add_func ("/tool/summary/dependent", test_dependent);
  g_test_add_func ("/tool/summary/not-finite", test_not_finite);
  g_test_add_func ("/tool/summary/without-state", test_without_state);
  g_test_add_func ("/tool/summary/json-without-state", test_json_without_state);
  g_test_add_func ("/tool/summary/no-statistics", test_no_statistics);
  g_test_add_func ("/tool/summary/no-statistics-and-rounding", test_no_statistics_and_rounding);
  g_test_add_func ("/tool/summary/alphas", test_alphas);
  g_test_add_func ("/tool/summary/failures", test_failures);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
