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
