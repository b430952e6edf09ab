/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <errno.h>
#include <sys/resource.h>

static const char table[] = "x,z,y\n1,5,3\n2,1,4\n3,4,9\n4,4,8\n5,2,11\n6,3,10\n";

static void
fit (const char *options)
{
  g_autofree char *arguments = g_strdup_printf ("fit data.csv -t y -o m.safetensors %s", options);
  g_autoptr (Run) run = NULL;

  tool_write ("data.csv", table, -1);
  run = tool_run (arguments);
}

static void
assert_plots (const char *options, const char *name, const char *begin)
{
  g_autofree char *arguments = g_strdup_printf ("plot m.safetensors data.csv -t y -o %s %s", name, options);
  g_autoptr (Run) run = tool_run (arguments);
  g_autofree char *picture = tool_read (name);

  g_assert_cmpstr (run->output, ==, "");
  g_assert_cmpstr (run->messages, ==, "");
  g_assert_true (g_str_has_prefix (picture, begin));
}

static void
test_kinds (void)
{
  g_test_summary ("Each plot, in each format; those that need no sums do without.");

  fit ("--keep-state");
  assert_plots ("", "all.svg", "<?xml");
  assert_plots ("--kind residuals --dark", "r.png", "\x89PNG");
  assert_plots ("--kind quantiles", "q.pdf", "%PDF-");
  assert_plots ("--kind scale --width 400 --height 300", "s.svg", "<?xml");
  assert_plots ("--kind leverage", "l.svg", "<?xml");
  assert_plots ("--feature x", "f.svg", "<?xml");
  fit ("");
  assert_plots ("--kind actual", "a.svg", "<?xml");
  assert_plots ("--feature z", "z.svg", "<?xml");
}

static void
test_rows (void)
{
  g_autoptr (Run) fit_run = NULL;
  g_autoptr (Run) run = NULL;
  g_autofree char *picture = NULL;
  g_autofree char *whole = NULL;

  g_test_summary ("Points are named by the rows of the table, whether or not some are passed over.");

  /* The point that stands out is in the sixth row, and the fourth sample. */
  tool_write ("gaps.csv", "x,y\n1,1\n,2\n2,2\n3,\n3,3\n4,40\n5,5\n6,6\n", -1);
  fit_run = tool_run_with ("fit gaps.csv -t y -o g.safetensors --keep-state --drop-missing", NULL, 0, NULL);
  g_assert_cmpint (fit_run->status, ==, 0);
  run = tool_run_with ("plot g.safetensors gaps.csv -t y --drop-missing --kind residuals -o rows.svg", NULL,
                       0, NULL);
  g_assert_cmpint (run->status, ==, 0);
  picture = tool_read ("rows.svg");
  /* Each digit is a glyph of its own: without the rows between, the labels would be 4, 6 and 1. */
  tool_write ("whole.csv", "x,y\n1,1\n2,2\n3,3\n4,40\n5,5\n6,6\n", -1);
  g_clear_pointer (&run, tool_run_free);
  run = tool_run_with ("plot g.safetensors whole.csv -t y --kind residuals -o whole.svg", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 0);
  whole = tool_read ("whole.svg");
  g_assert_cmpstr (picture, !=, whole);
}

static void
test_weights (void)
{
  static const char *const tables[] = { "x,w,y\n1,1,3\n2,2,4\n3,0,9\n4,1,8\n5,3,11\n",
                                        "x,w,y\n1,1,3\n2,2,4\n3,1,9\n4,1,8\n5,3,11\n" };
  static const char *const messages[] = {
    "m.safetensors: X has 5 samples, but the model was fitted to 4: they must be the samples of the fit; "
    "if the fit had weights, give them by --weight",
    "m.safetensors: X, y and the weights are not those that the model was fitted to: the sums of their "
    "products differ; if the fit had weights, give them by --weight",
  };
  guint i;

  g_test_summary ("Who forgets the weights of the fit is told of the option.");

  for (i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (Run) fit_run = NULL;
      g_autoptr (Run) run = NULL;

      tool_write ("data.csv", tables[i], -1);
      fit_run = tool_run ("fit data.csv -t y -w w --keep-state -o m.safetensors");
      tool_assert_fails ("plot m.safetensors data.csv -t y -o p.svg", NULL, 0, messages[i]);
      run = tool_run ("plot m.safetensors data.csv -t y -w w -o p.svg");
      g_assert_cmpstr (run->messages, ==, "");
      g_assert_cmpint (run->status, ==, 0);
    }
  /* Weights that were given are not the reason. */
  tool_write ("data.csv", table, -1);
  tool_assert_fails ("plot m.safetensors data.csv -t y -w z -o p.svg", NULL, 0,
                     "m.safetensors: X has 6 samples with a weight above 0, but the model was fitted to 5: "
                     "they must be the samples of the fit");
}

/* What the command draws of a table. */
static char *
draw (const char *data, const char *options)
{
  g_autofree char *arguments = g_strdup_printf ("plot m.safetensors %s -t y -o drawn.svg %s", data, options);
  g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

  g_assert_cmpint (run->status, ==, 0);

  return tool_read ("drawn.svg");
}

static void
test_rows_of_weight_0 (void)
{
  static const char *const kinds[] = {
    "",           "--kind residuals", "--kind quantiles", "--kind scale", "--kind leverage", "--kind actual",
    "--feature x"
  };
  g_autoptr (Run) fit_run = NULL;
  guint i;

  g_test_summary (
    "Rows of weight 0, which were not in the fit, are in no plot, and the others keep their numbers.");

  tool_write ("used.csv", "x,z,w,y\n1,5,1,3\n2,1,2,4\n3,4,1,9\n4,4,1,8\n5,2,1,20\n", -1);
  tool_write ("after.csv", "x,z,w,y\n1,5,1,3\n2,1,2,4\n3,4,1,9\n4,4,1,8\n5,2,1,20\n9,1,0,99\n-7,30,0,-5\n",
              -1);
  tool_write ("among.csv", "x,z,w,y\n9,1,0,99\n1,5,1,3\n2,1,2,4\n-7,30,0,-5\n3,4,1,9\n4,4,1,8\n5,2,1,20\n",
              -1);
  /* Rows that are passed over are numbered too. */
  tool_write ("gaps.csv", "x,z,w,y\n9,1,,99\n1,5,1,3\n2,1,2,4\n-7,30,,-5\n3,4,1,9\n4,4,1,8\n5,2,1,20\n", -1);
  tool_write ("both.csv", "x,z,w,y\n9,1,0,99\n1,5,1,3\n2,1,2,4\n-7,30,,-5\n3,4,1,9\n4,4,1,8\n5,2,1,20\n", -1);
  fit_run = tool_run ("fit among.csv -t y -w w --keep-state -o m.safetensors");
  for (i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      /* Pictures are too long to be printed where they differ. */
      g_autofree char *options = g_strdup_printf ("-w w %s", kinds[i]);
      g_autofree char *dropping = g_strdup_printf ("-w w --drop-missing %s", kinds[i]);
      g_autofree char *used = draw ("used.csv", options);
      g_autofree char *after = draw ("after.csv", options);
      g_autofree char *among = draw ("among.csv", options);
      g_autofree char *gaps = draw ("gaps.csv", dropping);
      g_autofree char *both = draw ("both.csv", dropping);

      g_assert_true (strcmp (after, used) == 0);
      g_assert_true (strcmp (among, gaps) == 0);
      g_assert_true (strcmp (both, gaps) == 0);
    }

  tool_write ("none.csv", "x,z,w,y\n9,1,0,99\n-7,30,0,-5\n", -1);
  tool_assert_fails ("plot m.safetensors none.csv -t y -w w -o p.svg --kind actual", NULL, 0,
                     "none.csv: column “w”: no weight is above 0");
}

static void
test_errors (void)
{
  static const struct
  {
    const char *arguments;
    const char *message;
  } usage[] = {
    { "plot m d -o p.svg", "plot: --target COLUMN is missing\n" },
    { "plot m d -t y", "plot: --output FILE is missing\n" },
    { "plot m d -t y -o p.jpg", "plot: p.jpg ends with none of .svg, .png and .pdf\n" },
    { "plot m d -t y -o p.svg --width 99", "plot: --width and --height are from 100 to 10000\n" },
    { "plot m d -t y -o p.svg --kind x",
      "plot: --kind is actual or residuals or quantiles or scale or leverage, not “x”\n" },
    { "plot m d -t y -o p.svg --kind scale --feature x", "plot: --feature and --kind exclude each other\n" },
    { "plot m d -t y -w y -o p.svg", "plot: the column “y” is named by --target and --weight\n" },
  };
  g_autofree char *old = NULL;
  g_autoptr (Run) run = NULL;
  struct rlimit limit, small;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (usage); i++)
    {
      g_autoptr (Run) wrong = tool_run_with (usage[i].arguments, NULL, 0, NULL);

      g_assert_cmpint (wrong->status, ==, 2);
      tool_assert_contains (wrong->messages, usage[i].message);
    }

  fit ("");
  tool_write ("p.svg", "old", -1);
  tool_assert_fails ("plot none.safetensors none.csv -t y -o none/p.svg", NULL, 0,
                     "none/p.svg: No such file or directory");
  tool_assert_fails ("plot m.safetensors data.csv -t y -o p.svg --feature w", NULL, 0,
                     "m.safetensors: the model has no feature “w”");
  tool_assert_fails ("plot m.safetensors data.csv -t y -o p.svg", NULL, 0,
                     "m.safetensors: the file has no sums of the data: fit it with --keep-state");
  tool_assert_fails ("plot m.safetensors data.csv -t x -o p.svg --kind actual", NULL, 0,
                     "data.csv: --target names “x”, but the model was fitted to “y”");
  /* A limit on files stands for a full disk. */
  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limit));
  small = limit;
  small.rlim_cur = 1024;
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &small));
  run = tool_run_with ("plot m.safetensors data.csv -t y -o p.svg --kind actual", NULL, 0, NULL);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
  g_assert_cmpint (run->status, ==, 1);
  tool_assert_contains (run->messages, "p.svg: ");
  tool_assert_contains (run->messages, g_strerror (EFBIG));
  old = tool_read ("p.svg");
  g_assert_cmpstr (old, ==, "old");
}

static void
assert_no_line (const char *options, const char *feature, const char *message)
{
  g_autofree char *fit_arguments = g_strdup_printf ("fit parts.csv -t y -o m.safetensors %s", options);
  g_autofree char *arguments =
    g_strdup_printf ("plot m.safetensors parts.csv -t y -o none.svg --feature %s", feature);
  g_autofree char *expected = g_strconcat ("m.safetensors: ", message, NULL);
  g_autoptr (Run) fit_run = tool_run (fit_arguments);

  g_assert_cmpint (fit_run->status, ==, 0);
  tool_assert_fails (arguments, NULL, 0, expected);
  g_assert_false (g_file_test ("none.svg", G_FILE_TEST_EXISTS));
}

static void
test_dependent_features (void)
{
  static const char *const options[] = {
    "", "--keep-state", "--positive", "--positive --keep-state", "--no-intercept", "-w v --keep-state"
  };
  static const char alone[] = "the data do not tell what “%s” alone does: it depends on %s";
  guint i;

  g_test_summary ("Of a feature that depends on others, the data tell no line.");

  /* The sum is that of the first two columns, and c is the same as a. */
  tool_write ("parts.csv",
              "a,b,sum,c,z,v,y\n1,5,6,1,2,1,3\n2,1,3,2,7,2,4\n3,4,7,3,1,1,9\n4,4,8,4,8,1,8\n"
              "5,2,7,5,2,1,11\n6,3,9,6,8,3,10\n",
              -1);
  for (i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autofree char *two = g_strdup_printf ("--features a --features c --features z %s", options[i]);
      g_autofree char *three =
        g_strdup_printf ("--features a --features b --features sum --features z %s", options[i]);
      g_autofree char *a = g_strdup_printf (alone, "a", "“c”");
      g_autofree char *c = g_strdup_printf (alone, "c", "“a”");
      g_autofree char *b = g_strdup_printf (alone, "b", "“a”, “sum”");
      const char *weight = strstr (options[i], "-w v") != NULL ? "-w v" : "";
      g_autofree char *others = g_strdup_printf ("%s --feature z", weight);
      g_autofree char *other_arguments =
        g_strdup_printf ("plot m.safetensors parts.csv -t y -o z.svg %s", others);
      g_autoptr (Run) run = NULL;

      if (weight[0] != '\0')
        {
          assert_no_line (two, "a -w v", a);
          assert_no_line (three, "b -w v", b);
        }
      else
        {
          assert_no_line (two, "a", a);
          assert_no_line (two, "c", c);
          assert_no_line (three, "b", b);
        }
      /* What does not take part has a line. */
      run = tool_run (other_arguments);
      g_assert_cmpstr (run->messages, ==, "");
      g_assert_cmpint (run->status, ==, 0);
    }
  /* Of all answers a penalty prefers one. */
  {
    g_autoptr (Run) fit_run =
      tool_run ("fit parts.csv -t y --features a --features c --features z --alpha 1 -o m.safetensors");
    g_autoptr (Run) run = tool_run ("plot m.safetensors parts.csv -t y -o a.svg --feature a");

    g_assert_cmpint (fit_run->status, ==, 0);
    g_assert_cmpint (run->status, ==, 0);
  }
}

/* What the command draws of a feature, in a table of its own, of a model of the columns in it. */
static char *
draw_fitted (const char *data, const char *fit_options)
{
  g_autofree char *arguments = g_strdup_printf ("fit cells.csv -t y -o m.safetensors %s", fit_options);
  g_autoptr (Run) run = NULL;

  tool_write ("cells.csv", data, -1);
  run = tool_run (arguments);
  g_assert_cmpint (run->status, ==, 0);

  return draw ("cells.csv", "--feature s=a");
}

static void
test_categories (void)
{
  static const char texts[] = "s,y\na,1\nb,5\nb,6\nc,9\na,2\nb,4\nc,8\nb,7\nc,10\na,3.5\n";
  /* Ones and zeros: the least squares of one such feature go through the means of both groups. */
  static const char ones[] = "s=a,y\n1,1\n0,5\n0,6\n0,9\n1,2\n0,4\n0,8\n0,7\n0,10\n1,3.5\n";
  static const char two[] =
    "s=a,s=b,y\n1,0,1\n0,1,5\n0,1,6\n0,0,9\n1,0,2\n0,1,4\n0,0,8\n0,1,7\n0,0,10\n1,0,3.5\n";
  /* These are no categories, as a row has both. */
  static const char both[] =
    "s=a,s=b,y\n1,1,1\n0,1,5\n0,1,6\n0,0,9\n1,0,2\n0,1,4\n0,0,8\n0,1,7\n0,0,10\n1,0,3.5\n";
  static const char other[] =
    "s=a,t=b,y\n1,1,1\n0,1,5\n0,1,6\n0,0,9\n1,0,2\n0,1,4\n0,0,8\n0,1,7\n0,0,10\n1,0,3.5\n";
  g_autofree char *expected = draw_fitted (ones, "");
  g_autofree char *all = draw_fitted (texts, "--one-hot s");
  g_autofree char *without_reference = draw_fitted (two, "");
  g_autofree char *no_categories = draw_fitted (both, "");
  g_autofree char *others = draw_fitted (other, "");
  g_autofree char *band = draw_fitted (texts, "--one-hot s --keep-state");
  guint i;

  g_test_summary ("The line of a category begins at the mean of the others, and ends at its own.");

  g_assert_true (strcmp (all, expected) == 0);
  g_assert_true (strcmp (without_reference, expected) == 0);
  g_assert_true (strcmp (no_categories, others) == 0);
  g_assert_true (strcmp (no_categories, expected) != 0);
  g_assert_true (strcmp (band, expected) != 0);

  /* Each town is in one land, so that a town cannot be in a mean of lands. */
  tool_write ("parts.csv", "town,land,y\nA,x,1\nB,x,2\nC,y,4\nD,y,3\nA,x,2\nB,x,4\nC,y,5\nD,y,1\n", -1);
  for (i = 0; i < 2; i++)
    assert_no_line (i == 0 ? "--one-hot town --one-hot land" : "--one-hot town --one-hot land --keep-state",
                    "town=A",
                    "the data do not tell what “town=A” alone does: features depend on each other, such as "
                    "“town=D”, “land=x”, “land=y”");
}

static void
test_no_names (void)
{
  g_autoptr (Run) run = NULL;
  g_autofree char *picture = NULL;

  g_test_summary ("The target is no feature of a model that has no names.");

  tool_save_nameless ("bare.safetensors");
  tool_write ("bare.csv", "a,y,b\n1,6,1\n2,8,1\n5,11,0\n", -1);
  run = tool_run ("plot bare.safetensors bare.csv -t y --kind actual -o bare.svg");
  picture = tool_read ("bare.svg");
  g_assert_true (g_str_has_prefix (picture, "<?xml"));
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/plot/no-names", test_no_names);
  g_test_add_func ("/tool/plot/kinds", test_kinds);
  g_test_add_func ("/tool/plot/dependent-features", test_dependent_features);
  g_test_add_func ("/tool/plot/categories", test_categories);
  g_test_add_func ("/tool/plot/rows", test_rows);
  g_test_add_func ("/tool/plot/weights", test_weights);
  g_test_add_func ("/tool/plot/rows-of-weight-0", test_rows_of_weight_0);
  g_test_add_func ("/tool/plot/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
