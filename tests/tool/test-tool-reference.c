/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include <aprender/aprender.h>

#include "tool-run.h"

/* Tippett's data of 1950, which R has as warpbreaks: for each wool and tension, the breaks of nine lengths of yarn. */
static void
write_warpbreaks (void)
{
  static const int breaks[] = { 26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12, 18, 35, 30, 36,
                                36, 21, 24, 18, 10, 43, 28, 15, 26, 27, 14, 29, 19, 29, 31, 41, 20, 44,
                                42, 26, 19, 16, 39, 28, 21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28 };
  g_autoptr (GString) table = g_string_new ("breaks,wool,tension\n");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (breaks); i++)
    g_string_append_printf (table, "%d,%c,%c\n", breaks[i], "AB"[i / 27], "LMH"[i / 9 % 3]);
  tool_write ("warpbreaks.csv", table->str, -1);
}

static void
fit (const char *options)
{
  g_autofree char *line = g_strdup_printf (
    "fit warpbreaks.csv -t breaks --one-hot wool --one-hot tension %s -o m.safetensors", options);
  g_autoptr (Run) run = tool_run (line);

  g_assert_cmpstr (run->messages, ==, "");
  g_assert_cmpint (run->status, ==, 0);
}

static void
assert_warpbreaks (const char *options, const char *terms)
{
  g_autofree char *expected =
    g_strdup_printf ("Coefficients: (2 not defined because of singularities)\n"
                     "%s"
                     "---\n"
                     "Signif. codes:  0 ‘***’ 0.001 ‘**’ 0.01 ‘*’ 0.05 ‘.’ 0.1 ‘ ’ 1\n"
                     "\n"
                     "Residual standard error: 11.62 on 50 degrees of freedom\n"
                     "Multiple R-squared:  0.2691,\tAdjusted R-squared:  0.2253\n"
                     "F-statistic: 6.138 on 3 and 50 DF,  p-value: 0.00123\n",
                     terms);
  g_autoptr (Run) run = NULL;

  fit (options);
  run = tool_run ("summary m.safetensors");
  g_assert_cmpstr (run->output, ==, expected);
}

static void
test_reference (void)
{
  g_test_summary (
    "The numbers of R's summary (lm (breaks ~ wool + tension, warpbreaks)), whose references are A and "
    "L, and after relevel (wool, \"B\") and relevel (tension, \"M\").");

  write_warpbreaks ();
  assert_warpbreaks ("--keep-state --reference tension=L --reference wool=A",
                     "            Estimate Std. Error t value Pr(>|t|)\n"
                     "(Intercept)   39.278      3.162  12.423  < 2e-16 ***\n"
                     "wool=B        -5.778      3.162  -1.827 0.073614 .\n"
                     "wool=A            NA         NA      NA       NA\n"
                     "tension=H    -14.722      3.872  -3.802 0.000391 ***\n"
                     "tension=M    -10.000      3.872  -2.582 0.012787 *\n"
                     "tension=L         NA         NA      NA       NA\n");
  /* Without --reference, the last text in the order of bytes. */
  assert_warpbreaks ("--keep-state", "            Estimate Std. Error t value Pr(>|t|)\n"
                                     "(Intercept)   23.500      3.162   7.433 1.27e-09 ***\n"
                                     "wool=A         5.778      3.162   1.827   0.0736 .\n"
                                     "wool=B            NA         NA      NA       NA\n"
                                     "tension=H     -4.722      3.872  -1.219   0.2284\n"
                                     "tension=L     10.000      3.872   2.582   0.0128 *\n"
                                     "tension=M         NA         NA      NA       NA\n");
}

static void
test_same_model (void)
{
  g_autoptr (Run) predicted = NULL;
  g_autoptr (Run) other = NULL;

  g_test_summary ("With another reference, the model is the same.");

  write_warpbreaks ();
  fit ("");
  predicted = tool_run ("predict m.safetensors warpbreaks.csv");
  fit ("--reference wool=A");
  other = tool_run ("predict m.safetensors warpbreaks.csv");
  g_assert_cmpuint (strlen (predicted->output), >, 54);
  g_assert_cmpstr (other->output, ==, predicted->output);
}

static void
test_names (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("A name of a column and a text may have “=”, and the column may stand among others.");

  tool_write ("data.csv", "x,a=,y\n1,b=c,1\n2,z,2\n5,b=c,5\n3,z,1\n", -1);
  run = tool_run ("fit data.csv -t y --one-hot a= --reference a==b=c --json -o m.safetensors");
  tool_assert_contains (run->output, "\"features\": [\"x\", \"a==z\", \"a==b=c\"]");
}

static void
test_cross_validate (void)
{
  const char line[] = "cross-validate warpbreaks.csv -t breaks --one-hot wool --one-hot tension --alpha 0,1";
  g_autofree char *with = g_strdup_printf ("%s --reference wool=A", line);
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) other = NULL;
  const char *hint;
  const char *other_hint;

  g_test_summary ("The scores are the same, and the hint how to fit has the option.");

  write_warpbreaks ();
  run = tool_run (line);
  other = tool_run (with);
  hint = strstr (run->output, "\nTo fit");
  other_hint = strstr (other->output, "\nTo fit");
  g_assert_nonnull (hint);
  g_assert_nonnull (other_hint);
  g_assert_cmpmem (other->output, other_hint - other->output, run->output, hint - run->output);
  tool_assert_contains (other_hint, " --one-hot tension --reference wool=A --alpha ");
}

static void
test_failures (void)
{
  static const struct
  {
    const char *options;
    const char *message;
  } cases[] = {
    { "--reference wool=A", "--reference needs --one-hot" },
    { "--one-hot wool --one-hot tension --reference wol=A",
      "--reference is COLUMN=TEXT, not “wol=A”, for a column of --one-hot, which names “wool”, “tension”" },
    { "--one-hot wool --drop tension --reference wool",
      "--reference is COLUMN=TEXT, not “wool”, for a column of --one-hot, which names “wool”" },
    { "--one-hot wool --reference wool=A --drop tension --reference wool=B",
      "--reference names two texts of the column “wool”" },
  };
  const char *const commands[] = { "fit", "cross-validate" };
  guint i;
  guint j;

  write_warpbreaks ();
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (j = 0; j < G_N_ELEMENTS (commands); j++)
      {
        g_autofree char *arguments = g_strdup_printf ("%s warpbreaks.csv -t breaks %s%s", commands[j],
                                                      cases[i].options, j == 0 ? " -o m.safetensors" : "");
        g_autofree char *line = g_strdup_printf ("aprender: %s: %s\n", commands[j], cases[i].message);
        g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

        g_assert_cmpint (run->status, ==, 2);
        g_assert_true (g_str_has_prefix (run->messages, line));
      }

  tool_assert_fails (
    "cross-validate warpbreaks.csv -t breaks --one-hot wool --one-hot tension --reference tension=l", NULL, 0,
    "No row has “tension=l”, which --reference names: there are “tension=H”, “tension=L”, “tension=M”");
  tool_write ("none.csv", "a,y\n", -1);
  tool_assert_fails ("fit none.csv -t y --one-hot a --reference a=x -o m.safetensors", NULL, 0,
                     "none.csv: no column is left to be a feature: all are targets or weights");
  tool_write ("one.csv", "a,y\nx,1\nx,2\n,3\n", -1);
  tool_assert_fails ("fit one.csv -t y --one-hot a --reference a= --drop-missing -o m.safetensors", NULL, 0,
                     "No row has “a=”, which --reference names: there is “a=x”");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/reference", test_reference);
  g_test_add_func ("/tool/reference/same-model", test_same_model);
  g_test_add_func ("/tool/reference/names", test_names);
  g_test_add_func ("/tool/reference/cross-validate", test_cross_validate);
  g_test_add_func ("/tool/reference/failures", test_failures);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
