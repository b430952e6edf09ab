/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/apr-test.h"
#include "tests/german-locale.h"
#include "tool-run.h"

/* Longley's data as doubles: the exact solution in fractions of Python, Fraction (float (cell)), rounded once. */
static const double longley_coefficients[] = {
  0x1.e1fadb8ec27c3p+3,  -0x1.256e4374331bdp-5, -0x1.0296e3e4e61d0p+1,
  -0x1.08818e53dbeeep+0, -0x1.a2a513cf26911p-5, 0x1.c949b198a26d4p+10,
};
static const double longley_intercept = -0x1.a9149513a6f8fp+21;
static const double longley_r2 = 0x1.fdaf6c91073aap-1;

static char *
get_longley (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("APR_EXAMPLES"), "longley.csv", NULL);

  return g_shell_quote (path);
}

static Run *
fit_longley (const char *options, const char *locale)
{
  g_autofree char *longley = get_longley ();
  g_autofree char *arguments = g_strdup_printf ("fit %s --target y %s", longley, options);

  return tool_run_with (arguments, NULL, 0, locale);
}

/* The number that stands after a label. */
static double
find_number (const char *summary, const char *label)
{
  g_autofree char *line = g_strdup_printf ("\n%s ", label);
  const char *found = strstr (summary, line);

  g_assert_nonnull (found);

  return g_ascii_strtod (found + strlen (line), NULL);
}

static AprLinearRegression *
load (const char *name)
{
  g_autofree char *path = tool_get_path (name);
  GError *error = NULL;
  AprLinearRegression *model = apr_linear_regression_load (path, &error);

  g_assert_no_error (error);

  return model;
}

static double
get_element (AprTensor *tensor, gsize index)
{
  GError *error = NULL;
  double value = apr_tensor_get_double (tensor, index, &error);

  g_assert_no_error (error);

  return value;
}

static void
test_longley (void)
{
  g_autoptr (Run) run = fit_longley ("-o longley.safetensors", NULL);
  g_autoptr (AprLinearRegression) model = NULL;
  g_auto (GStrv) names = NULL;
  guint i;

  g_test_summary ("The printed digits and the file bring back the doubles nearest to the exact answer.");

  g_assert_cmpint (run->status, ==, 0);
  g_assert_cmpstr (run->messages, ==, "");
  model = load ("longley.safetensors");
  names = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  g_assert_cmpuint (g_strv_length (names), ==, 6);

  g_assert_cmpfloat (find_number (run->output, "intercept"), ==, longley_intercept);
  g_assert_cmpfloat (get_element (intercept_of (model), 0), ==, longley_intercept);
  g_assert_cmpfloat_with_epsilon (find_number (run->output, "R²"), longley_r2, 1e-15);
  g_assert_true (g_str_has_prefix (run->output, "samples        16\ntarget         y\n"));
  for (i = 0; i < 6; i++)
    {
      g_autofree char *name = g_strdup_printf ("x%u", i + 1);
      g_autofree char *label = g_strdup_printf ("  %s", name);

      g_assert_cmpstr (names[i], ==, name);
      g_assert_cmpfloat (find_number (run->output, label), ==, longley_coefficients[i]);
      g_assert_cmpfloat (get_element (coefficients_of (model), i), ==, longley_coefficients[i]);
    }
}

static void
test_f32 (void)
{
  g_autoptr (Run) run = fit_longley ("--dtype F32 -o longley.safetensors", NULL);
  g_autoptr (AprLinearRegression) model = NULL;
  AprTensor *coefficients;
  guint i;

  g_test_summary ("The sums stay those of the doubles: the answer is rounded once, to F32.");

  g_assert_cmpint (run->status, ==, 0);
  /* The intercept is a thousand times the standard deviation of y: 2^-24 Σ |b| rms (x) / sd (y) is 0.000124. */
  tool_assert_contains (run->messages,
                        "rounding alone may change a prediction by 0.00012 standard deviations");
  model = load ("longley.safetensors");
  coefficients = coefficients_of (model);
  g_assert_cmpint (apr_tensor_get_dtype (coefficients), ==, APR_DTYPE_F32);
  g_assert_cmpint (apr_linear_regression_get_dtype (model), ==, APR_DTYPE_F32);
  for (i = 0; i < 6; i++)
    {
      g_autofree char *label = g_strdup_printf ("  x%u", i + 1);

      g_assert_cmpfloat (get_element (coefficients, i), ==, (float) longley_coefficients[i]);
      g_assert_cmpfloat ((float) find_number (run->output, label), ==, (float) longley_coefficients[i]);
    }
  tool_assert_contains (run->output, "\n  x1           15.0618725\n");
}

static void
test_targets_and_weights (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("a = 2x + 1 and b = 4 - x, but for a row that weighs nothing; all numbers are exact.");

  tool_write ("data.csv", "b,weight,x,a\n3,1,1,3\n2,2.5,2,5\n1,1,3,7\n900,0,4,900\n", -1);
  run = tool_run ("fit data.csv --target a --target b --weight weight -o m.safetensors");
  g_assert_cmpstr (run->output, ==,
                   "samples        3\n"
                   "target         a\n"
                   "coefficients\n"
                   "  x            2\n"
                   "intercept      1\n"
                   "R²             1\n"
                   "target         b\n"
                   "coefficients\n"
                   "  x           -1\n"
                   "intercept      4\n"
                   "R²             1\n");
  g_assert_cmpstr (run->messages, ==, "");
}

static void
test_f64_remark (void)
{
  g_autoptr (Run) run = fit_longley ("-o longley.safetensors --dtype f64", NULL);

  g_test_summary ("Who asks for F64 is told who does not read it, once.");

  g_assert_cmpint (run->status, ==, 0);
  g_assert_cmpstr (
    run->messages, ==,
    "aprender: longley.safetensors holds F64; the Rust aprender, realizar and Ollama read F32, but not F64 "
    "(--dtype f32)\n");
}

static void
test_columns (void)
{
  g_autoptr (Run) only = NULL;
  g_autoptr (Run) dropped = NULL;

  g_test_summary ("Columns that hold text are kept out by name, either way.");

  tool_write ("data.csv", "name;x;y;z\nanna;1;3;q\nbert;2;5;r\n", -1);
  only = tool_run ("fit data.csv --target y --features x -o m.safetensors");
  tool_assert_contains (only->output, "coefficients\n  x            2\nintercept      1\n");
  dropped = tool_run ("fit data.csv --target y --drop name --drop z -o m.safetensors");
  g_assert_cmpstr (dropped->output, ==, only->output);
  tool_assert_fails ("fit data.csv --target y --drop w -o m.safetensors", NULL, 0,
                     "data.csv: no column “w”, which --drop names");
  tool_assert_fails ("fit data.csv --target y --features w -o m.safetensors", NULL, 0,
                     "data.csv: no column “w”: there are “name”, “x”, “y”, “z”");
  tool_assert_fails (
    "fit data.csv --target y --features x,z -o m.safetensors", NULL, 0,
    "data.csv: no column “x,z”: there are “name”, “x”, “y”, “z”; of several columns, give the "
    "option again for each");
}

static void
test_long_name (void)
{
  g_autofree char *name = g_strnfill (70, 'n');
  g_autofree char *table = g_strdup_printf ("%s,y\n1,3\n2,1\n", name);
  g_autofree char *row = g_strdup_printf ("\n  %s  -2\n", name);
  g_autoptr (Run) run = NULL;

  g_test_summary ("Spaces stand behind a name, however long it is.");

  tool_write ("long.csv", table, -1);
  run = tool_run ("fit long.csv --target y -o m.safetensors");
  tool_assert_contains (run->output, row);
}

static void
test_several_tables (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("The rows of all tables are taken, each with its columns in its own order.");

  tool_write ("a.csv", "x,y\n1,3\n", -1);
  tool_write ("b.csv", "y;x\n5;2\n7;3\n", -1);
  run = tool_run ("fit a.csv b.csv --target y -o m.safetensors");
  g_assert_cmpstr (run->output, ==,
                   "samples        3\n"
                   "target         y\n"
                   "coefficients\n"
                   "  x            2\n"
                   "intercept      1\n"
                   "R²             1\n");
  tool_write ("c.csv", "y,z\n5,2\n", -1);
  tool_assert_fails ("fit a.csv c.csv --target y -o m.safetensors", NULL, 0,
                     "c.csv: no column “x”: there are “y”, “z”");
}

static void
test_different_columns (void)
{
  static const char *const chosen[] = {
    "fit a.csv xz.csv -t y --features x -o m.safetensors",
    "fit xz.csv a.csv -t y --features x -o m.safetensors",
    "fit a.csv xz.csv -t y --drop z -o m.safetensors",
    "fit xz.csv a.csv -t y --drop z -o m.safetensors",
  };
  guint i;

  g_test_summary ("A feature that not all tables have is an error, whichever table comes first.");

  tool_write ("a.csv", "x,y\n1,3\n2,5\n", -1);
  tool_write ("xz.csv", "x,z,y\n3,1,7\n4,1,9\n", -1);
  tool_assert_fails ("fit a.csv xz.csv -t y -o m.safetensors", NULL, 0,
                     "xz.csv: column “z” is not in the first table; of a column to leave out: --drop");
  tool_assert_fails ("fit xz.csv a.csv -t y -o m.safetensors", NULL, 0,
                     "a.csv: no column “z”: there are “x”, “y”");
  for (i = 0; i < G_N_ELEMENTS (chosen); i++)
    {
      g_autoptr (Run) run = tool_run (chosen[i]);

      tool_assert_contains (run->output, "samples        4\n");
      tool_assert_contains (run->output, "coefficients\n  x            2\nintercept      1\n");
    }
  tool_assert_fails ("fit a.csv xz.csv -t y --drop z --drop q -o m.safetensors", NULL, 0,
                     "xz.csv: no column “q”, which --drop names");
}

static void
test_roles (void)
{
  static const struct
  {
    const char *options;
    const char *message;
  } cases[] = {
    { "-t y --features x --features z --drop z", "the column “z” is named by --features and --drop" },
    { "-t y --drop y", "the column “y” is named by --target and --drop" },
    { "-t y -w z --drop z", "the column “z” is named by --weight and --drop" },
    { "-t y --one-hot z --drop z", "the column “z” is named by --one-hot and --drop" },
    { "-t y --one-hot y", "the column “y” is named by --target and --one-hot" },
    { "-t y -w z --one-hot z", "the column “z” is named by --weight and --one-hot" },
    { "-t y --features y", "the column “y” is named by --target and --features" },
    { "-t y -w z --features x --features z", "the column “z” is named by --weight and --features" },
    { "-t y -w y", "the column “y” is named by --target and --weight" },
    { "-t y -t y", "the column “y” is named twice by --target" },
    { "-t y --features x --features x", "the column “x” is named twice by --features" },
    { "-t y --one-hot z --one-hot x --one-hot z", "the column “z” is named twice by --one-hot" },
  };
  guint i;

  g_test_summary ("A column that is named has one role; nothing that the command line says is passed over.");

  tool_write ("data.csv", "x,z,y\n1,1,3\n2,1,5\n", -1);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *arguments = g_strdup_printf ("fit data.csv %s -o m.safetensors", cases[i].options);
      g_autofree char *line = g_strdup_printf ("aprender: fit: %s\n", cases[i].message);
      g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

      g_assert_cmpint (run->status, ==, 2);
      g_assert_true (g_str_has_prefix (run->messages, line));
    }
}

static void
test_same_table (void)
{
  g_autofree char *path = tool_get_path ("data.csv");
  g_autofree char *link = tool_get_path ("table-link.csv");
  const char *const others[] = { "./data.csv", "table-link.csv", path };
  guint i;

  g_test_summary ("A table that is named twice, under whatever names, would count twice.");

  tool_write ("data.csv", "x,y\n1,1\n2,3\n", -1);
  tool_write ("more.csv", "x,y\n1,1\n2,3\n", -1);
  g_assert_cmpint (symlink ("data.csv", link), ==, 0);
  for (i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *arguments =
        g_strdup_printf ("fit data.csv more.csv %s -t y -o m.safetensors", others[i]);
      g_autofree char *message =
        g_strdup_printf ("aprender: fit: a table must not be read twice: %s\n", others[i]);
      g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

      g_assert_true (g_str_has_prefix (run->messages, message));
      g_assert_cmpint (run->status, ==, 2);
    }
}

static void
test_one_hot (void)
{
  g_autoptr (Run) fitted = NULL;
  g_autoptr (Run) predicted = NULL;
  g_autoptr (Run) gaps = NULL;
  g_autoptr (Run) piped = NULL;

  g_test_summary ("Texts of all tables become features, which the model's names tell again; a new text is an "
                  "error. Those of rows that are passed over are none.");

  /* Two more for blue, five more for green; 2 x. */
  tool_write ("a.csv", "color,x,y\nred,1,12\nblue,1,14\n", -1);
  tool_write ("b.csv", "x,color,y\n3,red,16\n4,green,23\n", -1);
  fitted = tool_run ("fit a.csv b.csv -t y --one-hot color --json -o m.safetensors");
  tool_assert_contains (fitted->output,
                        "\"features\": [\"color=blue\", \"color=green\", \"color=red\", \"x\"],");
  tool_assert_contains (fitted->output, "\"rank\": 3,");
  predicted = tool_run_with ("predict m.safetensors -", "x,color\n0,green\n0,\"blue\"\n", -1, NULL);
  g_assert_cmpstr (predicted->output, ==, "15\n12\n");
  tool_assert_fails ("predict m.safetensors -", "x,color\n0,pink\n", -1,
                     "standard input:2: column “color”: “pink” is none of the 3 categories that are known");
  tool_write ("gaps.csv", "c,x,y\na,1,1\nb,,2\na,2,3\nd,4,\ne,3,4\n,1,2\n", -1);
  gaps = tool_run ("fit gaps.csv -t y --one-hot c --drop-missing --json -o g.safetensors");
  tool_assert_contains (gaps->output, "\"features\": [\"c=a\", \"c=e\", \"x\"],");
  tool_assert_contains (gaps->messages, "passed over 3 of 6 rows");

  tool_write ("same.csv", "c,c=x,y\nx,1,1\nz,2,2\n", -1);
  tool_assert_fails ("fit same.csv -t y --drop c=x --one-hot c -o m.safetensors", NULL, 0,
                     "same.csv: “c=x” can be a category of “c” as well as the column “c=x”");

  piped = tool_run_with ("fit - -t y --one-hot color -o m.safetensors", "color,y\nred,1\n", -1, NULL);
  g_assert_cmpint (piped->status, ==, 2);
  tool_assert_contains (piped->messages, "--one-hot reads a table twice, so it must be a file: -\n");
  tool_assert_fails ("fit a.csv -t y --one-hot colour -o m.safetensors", NULL, 0,
                     "a.csv: no column “colour”: there are “color”, “x”, “y”");
}

static void
test_drop_missing (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("Rows that miss a number are passed over on request, and counted.");

  tool_write ("data.csv", "x,y\n1,3\n,4\n2,5\n3,NA\n4,nan\n", -1);
  run = tool_run ("fit data.csv --target y --drop-missing -o m.safetensors");
  tool_assert_contains (run->output, "samples        2\n");
  g_assert_cmpstr (run->messages, ==, "aprender: data.csv: passed over 3 of 5 rows, which miss a number\n");
  tool_assert_fails (
    "fit data.csv --target y -o m.safetensors", NULL, 0,
    "data.csv:3: column “x”: the cell is empty; 3 cells are missing in all (--drop-missing)");
  tool_write ("data.csv", "x,y\n1,\n", -1);
  tool_assert_fails ("fit data.csv --target y --drop-missing -o m.safetensors", NULL, 0,
                     "data.csv: each of the 1 rows misses a number");
}

static void
test_no_intercept (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (AprLinearRegression) model = NULL;

  g_test_summary ("Through the origin: (1·3 + 2·6) / (1 + 4) = 3.");

  tool_write ("data.csv", "x,y\n1,3\n2,6\n", -1);
  run = tool_run ("fit --no-intercept -t y -o m.safetensors -- data.csv");
  tool_assert_contains (run->output, "  x            3\nintercept      0\n");
  model = load ("m.safetensors");
  g_assert_false (apr_linear_regression_get_fit_intercept (model));
}

static void
test_dependent_features (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("z = 2x says nothing new: of all answers the shortest, (2/5, 4/5), and a word about it.");

  tool_write ("data.csv", "x,z,y\n1,2,3\n2,4,5\n", -1);
  run = tool_run ("fit data.csv -t y -o m.safetensors");
  tool_assert_contains (run->output, "\nrank           1 of 2 features");
  tool_assert_contains (run->output, "\n  x            0.4\n  z            0.8\nintercept      1\n");
  g_clear_pointer (&run, tool_run_free);

  tool_write ("data.csv", "x,y\n1,3\n1,5\n", -1);
  run = tool_run ("fit data.csv -t y -o m.safetensors");
  tool_assert_contains (run->output, "\nrank           0 of 1 feature: ");
}

static void
test_names (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary (
    "Names that are wider than others, and not ASCII, keep the numbers aligned in every locale.");

  tool_write ("data.csv", "größe in cm,長さ,weiß\n1,0,-2\n0,1,3\n0,0,1\n1,1,0\n", -1);
  run = tool_run_with ("fit data.csv --target weiß -o m.safetensors", NULL, 0, "C");
  g_assert_cmpstr (run->output, ==,
                   "samples         4\n"
                   "target          weiß\n"
                   "coefficients\n"
                   "  größe in cm  -3\n"
                   "  長さ          2\n"
                   "intercept       1\n"
                   "R²              1\n");
}

static void
test_errors (void)
{
  g_test_summary ("A failure says what failed in one line; the file that was there stays.");

  tool_write ("data.csv", "x,w,y\n1,1,3\n2,-1,5\n", -1);
  tool_write ("m.safetensors", "old", -1);
  tool_assert_fails ("fit data.csv -t z -o m.safetensors", NULL, 0,
                     "data.csv: no column “z”: there are “x”, “w”, “y”");
  tool_assert_fails ("fit data.csv -t y -w v -o m.safetensors", NULL, 0,
                     "data.csv: no column “v”: there are “x”, “w”, “y”");
  tool_assert_fails ("fit data.csv -t y -w w -o m.safetensors", NULL, 0,
                     "data.csv:3: column “w”: the weight -1 is negative");
  tool_assert_fails ("fit data.csv -t y -o none/m.safetensors", NULL, 0,
                     "none/m.safetensors: No such file or directory");
  /* Before the table is read, which may take long. */
  tool_assert_fails ("fit none.csv -t y -o none/m.safetensors", NULL, 0,
                     "none/m.safetensors: No such file or directory");
  tool_assert_fails ("fit none.csv -t y -o data.csv/m.safetensors", NULL, 0,
                     "data.csv/m.safetensors: Not a directory");
  tool_assert_fails ("fit none.csv -t y -o .", NULL, 0, ".: Is a directory");
  {
    g_autofree char *old = tool_read ("m.safetensors");

    g_assert_cmpstr (old, ==, "old");
  }
}

static void
test_alpha_and_positive (void)
{
  g_autoptr (Run) ridge = NULL;
  static const char *const wrong[] = { "-1", "nan", "inf" };
  g_autoptr (Run) positive = NULL;
  guint i;

  g_test_summary (
    "Worked out by hand: with alpha 2 the slope is 2 / (2 + 2) of that without; the best slope that is "
    "not negative, of a line that falls, is 0.");
  tool_write ("data.csv", "x,y\n0,1\n1,3\n2,5\n", -1);
  ridge = tool_run ("fit data.csv -t y --alpha 2 --dtype f32 -o m.safetensors");
  g_assert_cmpstr (ridge->messages, ==, "");
  tool_assert_contains (ridge->output, "\n  x            1\n");
  tool_assert_contains (ridge->output, "\nintercept      2\n");
  for (i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autofree char *arguments =
        g_strdup_printf ("fit data.csv -t y --alpha %s -o m.safetensors", wrong[i]);
      g_autofree char *message =
        g_strdup_printf ("fit: --alpha must be a finite number of at least 0, got %s\n", wrong[i]);
      g_autoptr (Run) refused = tool_run_with (arguments, NULL, 0, NULL);

      g_assert_cmpint (refused->status, ==, 2);
      tool_assert_contains (refused->messages, message);
    }

  tool_write ("data.csv", "x,y\n0,5\n1,3\n2,1\n", -1);
  positive = tool_run ("fit data.csv -t y --positive --dtype f32 -o m.safetensors");
  g_assert_cmpstr (positive->messages, ==, "");
  tool_assert_contains (positive->output, "\n  x            0\n");
  tool_assert_contains (positive->output, "\nintercept      3\n");
}

static void
test_weights (void)
{
  g_test_summary ("A weight that is wrong is named by its file, line and column, before anything is fitted.");

  tool_write ("data.csv", "x,w,y\n1,1,3\n\n2,-1,5\n3,-2,7\n", -1);
  tool_assert_fails ("fit data.csv -t y -w w -o m.safetensors", NULL, 0,
                     "data.csv:4: column “w”: the weight -1 is negative");
  tool_write ("data.csv", "w,x,y\n-1e-300,q,3\n", -1);
  tool_assert_fails ("fit data.csv -t y -w w -o m.safetensors", NULL, 0,
                     "data.csv:2: column “w”: the weight -1e-300 is negative");
  tool_write ("data.csv", "x,w,y\n1,0,3\n2,-0.0,5\n", -1);
  tool_assert_fails ("fit data.csv -t y -w w -o m.safetensors", NULL, 0,
                     "data.csv: column “w”: no weight is above 0");
}

static void
test_same_file (void)
{
  g_autofree char *kept = NULL;
  guint i;
  static const char *const outputs[] = { "data.csv", "./data.csv", "link.csv" };
  g_autofree char *link = tool_get_path ("link.csv");

  g_test_summary ("A model never takes the place of the table that it is fitted to, under whatever name.");

  tool_write ("data.csv", "x,y\n1,3\n2,5\n", -1);
  g_assert_cmpint (symlink ("data.csv", link), ==, 0);
  for (i = 0; i < G_N_ELEMENTS (outputs); i++)
    {
      g_autofree char *arguments = g_strdup_printf ("fit data.csv -t y -o %s", outputs[i]);
      g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

      g_assert_cmpint (run->status, ==, 2);
      tool_assert_contains (run->messages, "fit: --output must not be the file that is read: ");
    }
  kept = tool_read ("data.csv");
  g_assert_cmpstr (kept, ==, "x,y\n1,3\n2,5\n");
}

static void
test_descriptor (void)
{
  static const char script[] = "aprender () { $APR_TOOL_WRAPPER \"$APR_TOOL\" \"$@\"; }\n"
                               "refuses () { aprender \"$@\" >> log 2> messages; test $? = 2 || exit 1; }\n"
                               "aprender fit line.csv -t y --keep-state -o m.safetensors > summary\n"
                               "ln -s /proc/self/fd/1 link.safetensors\n"
                               "refuses fit line.csv -t y -o /proc/self/fd/1\n"
                               "refuses fit line.csv -t y -o link.safetensors\n"
                               "refuses merge m.safetensors -o link.safetensors\n"
                               "refuses convert m.safetensors link.safetensors\n"
                               "cat messages\n";
  g_autofree char *folder = tool_get_path ("");
  const char *const argv[] = { "sh", "-c", script, NULL };
  g_autofree char *output = NULL;
  g_autofree char *log = NULL;
  int status = -1;
  GError *error = NULL;

  g_test_summary ("A file that is open as the standard output keeps what others have written.");

  if (!g_file_test ("/proc/self/fd", G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("there is no /proc");
      return;
    }
  tool_write ("line.csv", "x,y\n1,3\n2,5\n", -1);
  tool_write ("log", "first\n", -1);
  g_spawn_sync (folder, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, &status,
                &error);
  g_assert_no_error (error);
  log = tool_read ("log");
  g_assert_cmpstr (log, ==, "first\n");
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpstr (output, ==,
                   "aprender: convert: SafeTensors need a file to replace, not one that is open: "
                   "link.safetensors\nTry “aprender convert --help”.\n");
}

static void
test_file_too_large (void)
{
  g_autofree char *folder = tool_get_path ("");
  g_autofree char *kept = NULL;
  g_autoptr (GDir) dir = NULL;
  g_autoptr (Run) run = NULL;
  struct rlimit limit, small;
  const char *name;

  g_test_summary (
    "Under a limit on files (ulimit -f) there is an error; the old model stays, and nothing beside it.");

  tool_write ("data.csv", "x,y\n1,3\n2,5\n", -1);
  tool_write ("kept.safetensors", "old", -1);
  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limit));
  small = limit;
  small.rlim_cur = 64;
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &small));
  run = tool_run_with ("fit data.csv -t y -o kept.safetensors", NULL, 0, NULL);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
  g_assert_cmpint (run->status, ==, 1);
  tool_assert_contains (run->messages, "kept.safetensors: ");
  tool_assert_contains (run->messages, g_strerror (EFBIG));
  kept = tool_read ("kept.safetensors");
  g_assert_cmpstr (kept, ==, "old");
  dir = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_assert_cmpint (name[0], !=, '.');
}

static void
test_full_disk (void)
{
  g_autofree char *wrapper = g_strdup (g_getenv ("APR_TOOL_WRAPPER"));
  g_autofree char *redirected =
    g_strdup_printf ("sh -c '\"$@\" > /dev/full' sh %s", wrapper != NULL ? wrapper : "");

  g_test_summary ("A summary that cannot be written is a failure, with the reason.");

  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("there is no /dev/full");
      return;
    }
  tool_write ("data.csv", "x,y\n1,3\n2,5\n3,8\n", -1);
  g_setenv ("APR_TOOL_WRAPPER", redirected, TRUE);
  tool_assert_fails ("fit data.csv -t y -o m.safetensors", NULL, 0,
                     "standard output: No space left on device");
  if (wrapper != NULL)
    g_setenv ("APR_TOOL_WRAPPER", wrapper, TRUE);
  else
    g_unsetenv ("APR_TOOL_WRAPPER");
}

static void
test_locale (void)
{
  g_autofree char *folder = tool_get_path ("");
  g_autoptr (Run) expected = NULL;
  g_autoptr (Run) run = NULL;

  g_test_summary ("Where people write 0,5, the points in tables and summaries stay points.");

  enter_german_numbers (folder);
  expected = fit_longley ("-o m.safetensors", "C.UTF-8");
  run = fit_longley ("-o m.safetensors", "de_DE.UTF-8");
  g_assert_cmpint (run->status, ==, 0);
  g_assert_cmpstr (run->output, ==, expected->output);
  leave_german_numbers ();
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/fit/longley", test_longley);
  g_test_add_func ("/tool/fit/f32", test_f32);
  g_test_add_func ("/tool/fit/targets-and-weights", test_targets_and_weights);
  g_test_add_func ("/tool/fit/f64-remark", test_f64_remark);
  g_test_add_func ("/tool/fit/columns", test_columns);
  g_test_add_func ("/tool/fit/long-name", test_long_name);
  g_test_add_func ("/tool/fit/several-tables", test_several_tables);
  g_test_add_func ("/tool/fit/different-columns", test_different_columns);
  g_test_add_func ("/tool/fit/roles", test_roles);
  g_test_add_func ("/tool/fit/same-table", test_same_table);
  g_test_add_func ("/tool/fit/one-hot", test_one_hot);
  g_test_add_func ("/tool/fit/drop-missing", test_drop_missing);
  g_test_add_func ("/tool/fit/no-intercept", test_no_intercept);
  g_test_add_func ("/tool/fit/alpha-and-positive", test_alpha_and_positive);
  g_test_add_func ("/tool/fit/dependent-features", test_dependent_features);
  g_test_add_func ("/tool/fit/names", test_names);
  g_test_add_func ("/tool/fit/errors", test_errors);
  g_test_add_func ("/tool/fit/weights", test_weights);
  g_test_add_func ("/tool/fit/same-file", test_same_file);
  g_test_add_func ("/tool/fit/descriptor", test_descriptor);
  g_test_add_func ("/tool/fit/file-too-large", test_file_too_large);
  g_test_add_func ("/tool/fit/full-disk", test_full_disk);
  g_test_add_func ("/tool/fit/locale", test_locale);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
