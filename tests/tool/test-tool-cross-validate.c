/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#define N_ROWS 11
#define N_FOLDS 3

static const char flats[] = "area,rooms,day,w,rent\n"
                            "54,2,mon,1,1010\n"
                            "38,1,tue,2,765\n"
                            "81,3,wed,1,1420\n"
                            "61,2,tue,0.5,790\n"
                            "72,3,tue,1,905\n"
                            "45,2,wed,3,640\n"
                            "95,4,mon,1,1130\n"
                            "50,2,wed,2,735\n"
                            "66,3,mon,1,910\n"
                            "84,3,mon,1.5,1105\n"
                            "40,1,tue,1,640\n";

/* What one run printed as JSON. */
static JsonNode *
validate (const char *arguments)
{
  g_autofree char *line = g_strdup_printf ("cross-validate --json %s", arguments);
  g_autoptr (Run) run = tool_run (line);
  JsonNode *node = json_from_string (run->output, NULL);

  g_assert_nonnull (node);

  return node;
}

static JsonObject *
get_result (JsonNode *node, guint i)
{
  return json_array_get_object_element (json_object_get_array_member (json_node_get_object (node), "alphas"),
                                        i);
}

static double
get_score (JsonNode *node, guint i, guint fold)
{
  return json_array_get_double_element (json_object_get_array_member (get_result (node, i), "scores"), fold);
}

static void
assert_near (double value, double expected)
{
  g_assert_cmpfloat_with_epsilon (value / expected, 1, 1e-12);
}

static void
test_peer (void)
{
  /* As scikit-learn 1.9 has them, with a file of the table:
   *
   * import numpy, pandas
   * from sklearn import metrics
   * from sklearn.linear_model import LinearRegression, Ridge
   * from sklearn.model_selection import PredefinedSplit
   * table = pandas.read_csv("flats.csv")
   * x, y, w = table[["area", "rooms"]].to_numpy(float), table["rent"].to_numpy(float), table["w"].to_numpy()
   * def show(metric, alpha, folds, w=numpy.ones(len(y))):
   *     model = Ridge(alpha, solver="cholesky") if alpha else LinearRegression()
   *     scores = numpy.array([metric(y[test], model.fit(x[train], y[train], w[train]).predict(x[test]),
   *                                  sample_weight=w[test]) for train, test in PredefinedSplit(folds).split()])
   *     print(scores.tolist(), scores.mean(), scores.std(ddof=1) / len(scores) ** 0.5)
   * in_turn = numpy.arange(len(y)) % 3
   * for metric in (metrics.r2_score, metrics.explained_variance_score, metrics.mean_squared_error,
   *                metrics.root_mean_squared_error):
   *     show(metric, 0, in_turn)
   *     show(metric, 10, in_turn)
   * show(metrics.r2_score, 10, in_turn, w)
   * show(metrics.r2_score, 10, numpy.unique(table["day"], return_inverse=True)[1])
   */
  static const struct
  {
    const char *options;
    double scores[N_FOLDS];
    double mean;
    double standard_error;
  } cases[] = {
    { "--folds 3",
      { -2.695890467400041, 0.11606101801155388, 0.47283942178149896 },
      -0.7023300092023294,
      1.0020870192946085 },
    { "--folds 3 --alpha 10",
      { -0.9933108250127254, 0.17322145866681427, 0.47099015521997134 },
      -0.11636640370864659,
      0.44681845220924676 },
    { "--folds 3 --metric explained-variance",
      { -1.0919773556048962, 0.6255338495772376, 0.5467734295536155 },
      0.02677664117531897,
      0.5598388696533892 },
    { "--folds 3 --metric explained-variance --alpha 10",
      { -0.49819545131300846, 0.31241232285008436, 0.5448536275173637 },
      0.11969016635147985,
      0.3161456507246444 },
    { "--folds 3 --metric mean-squared-error",
      { 66358.55837639667, 7970.643539148941, 55140.9964816552 },
      43156.73279906694,
      17888.581849611746 },
    { "--folds 3 --metric mean-squared-error --alpha 10",
      { 35789.27295347067, 7455.217128177836, 55334.429763991 },
      32859.6399485465,
      13898.942559466032 },
    { "--folds 3 --metric root-mean-squared-error",
      { 257.601549638966, 89.27846066744733, 234.8212010906494 },
      193.9004037990209,
      52.7227000714283 },
    { "--folds 3 --metric root-mean-squared-error --alpha 10",
      { 189.18053005917565, 86.34359923108276, 235.2327140599092 },
      170.25228111672254,
      44.01023019196209 },
    { "--folds 3 --alpha 10 --weight w",
      { -1.7238346120706756, -0.40895072328362403, 0.5842393697938207 },
      -0.5161819885201596,
      0.6684373031240176 },
    { "--fold-column day --alpha 10",
      { -3.1188986775986285, -0.31164078549729046, 0.5201934263330865 },
      -0.9701153455876108,
      1.1008995405181385 },
  };
  guint i;
  guint fold;

  g_test_summary ("The scores, their mean and its standard error are those of scikit-learn.");

  tool_write ("flats.csv", flats, -1);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *arguments =
        g_strdup_printf ("flats.csv -t rent --features area --features rooms %s", cases[i].options);
      g_autoptr (JsonNode) node = validate (arguments);

      g_test_message ("%s", cases[i].options);
      g_assert_cmpint (json_object_get_int_member (json_node_get_object (node), "samples"), ==, N_ROWS);
      g_assert_cmpint (json_object_get_int_member (json_node_get_object (node), "folds"), ==, N_FOLDS);
      for (fold = 0; fold < N_FOLDS; fold++)
        assert_near (get_score (node, 0, fold), cases[i].scores[fold]);
      assert_near (json_object_get_double_member (get_result (node, 0), "mean"), cases[i].mean);
      assert_near (json_object_get_double_member (get_result (node, 0), "standard_error"),
                   cases[i].standard_error);
    }
}

static void
test_text (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) one = NULL;

  g_test_summary ("What people see, of several penalties and of one.");

  tool_write ("flats.csv", flats, -1);
  run = tool_run ("cross-validate flats.csv -t rent --drop day --drop w --folds 3 --alpha 0,10");
  g_assert_cmpstr (
    run->output, ==,
    "samples  11\n"
    "folds    3\n"
    "metric   r2\n"
    "\n"
    "alpha     mean Std. Error\n"
    "0     -0.70233    1.00209\n"
    "10    -0.11637    0.44682 best\n"
    "\n"
    "To fit with the best alpha:\n"
    "  aprender fit flats.csv --target rent --drop day --drop w --alpha 10 -o MODEL.safetensors\n");
  g_assert_cmpstr (run->messages, ==, "");

  one = tool_run ("cross-validate flats.csv -t rent --drop w --fold-column day --alpha 10 --metric "
                  "Mean-Squared-Error");
  tool_assert_contains (one->output, "metric   mean-squared-error\n\nalpha  mean Std. Error\n10    ");
  g_assert_null (strstr (one->output, "best"));
}

static void
test_best (void)
{
  g_autoptr (JsonNode) r2 = NULL;
  g_autoptr (JsonNode) squares = NULL;

  g_test_summary ("The greatest R² is the best, and the least error, in whatever order they come.");

  tool_write ("flats.csv", flats, -1);
  r2 = validate ("flats.csv -t rent --drop day --drop w --alpha 1e9,10,0 --folds 3");
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (r2), "best_alpha"), ==, 10);
  squares = validate (
    "flats.csv -t rent --drop day --drop w --alpha 1e9 --alpha 10,0 --folds 3 --metric mean-squared-error");
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (squares), "best_alpha"), ==, 10);
}

static void
test_alphas (void)
{
  static const char *const same[] = { "--alpha 0 --alpha 0.5 --alpha 2", "--alpha=0,5e-1 --alpha 2",
                                      "--alpha '0, 0.5, 2'" };
  g_autofree char *first = NULL;
  guint i;

  g_test_summary ("Penalties one by one, or in lists.");

  tool_write ("flats.csv", flats, -1);
  for (i = 0; i < G_N_ELEMENTS (same); i++)
    {
      g_autofree char *arguments =
        g_strdup_printf ("cross-validate flats.csv -t rent --fold-column day %s", same[i]);
      g_autoptr (Run) run = tool_run (arguments);

      if (first == NULL)
        first = g_strdup (run->output);
      g_assert_cmpstr (run->output, ==, first);
    }
}

/* Writes the rows of a table that are in a fold, or all others. */
static void
write_part (const char *name, const char *table, guint n_folds, guint fold, gboolean others)
{
  g_auto (GStrv) lines = g_strsplit (table, "\n", -1);
  g_autoptr (GString) part = g_string_new (lines[0]);
  guint i;

  g_string_append_c (part, '\n');
  for (i = 1; *lines[i] != '\0'; i++)
    if (((i - 1) % n_folds == fold) != others)
      g_string_append_printf (part, "%s\n", lines[i]);
  tool_write (name, part->str, -1);
}

static void
test_fit_and_score (void)
{
  /* Only the first row, and so only the first fold, is of a Sunday. */
  g_autofree char *table = g_strdup_printf ("%s", flats);
  static const char *const cases[] = { "",
                                       "--alpha 10",
                                       "--alpha 0.5 --no-intercept",
                                       "--alpha 0.5 --positive",
                                       "--dtype f32 --alpha 0.5",
                                       "--weight w --alpha 0.5" };
  guint i;
  guint fold;

  g_test_summary ("A score is bit for bit that of “aprender score” for the rows of the fold, with the model "
                  "that “aprender fit” makes of all others; also where a category is in one fold alone.");

  memcpy (strstr (table, "mon"), "sun", 3);
  tool_write ("table.csv", table, -1);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *weight = strstr (cases[i], "--weight") != NULL ? "--weight w" : "";
      g_autofree char *arguments = g_strdup_printf (
        "table.csv -t rent --features area --features rooms --one-hot day --folds 4 %s", cases[i]);
      g_autoptr (JsonNode) node = validate (arguments);

      g_test_message ("%s", cases[i]);
      for (fold = 0; fold < 4; fold++)
        {
          g_autofree char *fit = g_strdup_printf (
            "fit others.csv -t rent --features area --features rooms --features day=mon --features day=sun "
            "--features day=tue --features day=wed -o m.safetensors %s",
            cases[i]);
          g_autofree char *score = g_strdup_printf ("score m.safetensors fold.csv -t rent --json %s", weight);
          g_autoptr (Run) fitted = NULL;
          g_autoptr (Run) scored = NULL;
          g_autoptr (JsonNode) scores = NULL;

          write_part ("fold.csv", table, 4, fold, FALSE);
          write_part ("others.csv", table, 4, fold, TRUE);
          fitted = tool_run (fit);
          scored = tool_run (score);
          scores = json_from_string (scored->output, NULL);
          g_assert_cmpfloat (get_score (node, 0, fold), ==,
                             json_object_get_double_member (
                               json_array_get_object_element (
                                 json_object_get_array_member (json_node_get_object (scores), "targets"), 0),
                               "r_squared"));
        }
    }
}

static void
test_several_targets (void)
{
  g_autoptr (JsonNode) both = NULL;
  g_autoptr (JsonNode) rent = NULL;
  g_autoptr (JsonNode) area = NULL;
  guint fold;

  g_test_summary ("The score of several targets is the mean of theirs.");

  tool_write ("flats.csv", flats, -1);
  both = validate ("flats.csv -t rent -t area --features rooms --folds 3");
  rent = validate ("flats.csv -t rent --features rooms --folds 3");
  area = validate ("flats.csv -t area --features rooms --folds 3");
  for (fold = 0; fold < N_FOLDS; fold++)
    assert_near (get_score (both, 0, fold), (get_score (rent, 0, fold) + get_score (area, 0, fold)) / 2);
}

/* A table that comes in several parts, as its text is longer than what is read at once: rows from @first on. */
static char *
make_long_table (guint first, guint end)
{
  GString *text = g_string_new ("turn,a,b,y\n");
  guint i;

  for (i = first; i < end; i++)
    {
      guint hash = i * 2654435761U;

      g_string_append_printf (text, "%u,%u,%u.5,%u\n", i % 7, hash >> 12, hash % 1013, (hash >> 9) % 99991);
    }

  return g_string_free (text, FALSE);
}

static void
write_gzip (const char *name, const char *text)
{
  g_autofree char *path = tool_get_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GConverter) gzip = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr (GFileOutputStream) output = g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, NULL);
  g_autoptr (GOutputStream) stream = NULL;

  g_assert_nonnull (output);
  stream = g_converter_output_stream_new (G_OUTPUT_STREAM (output), gzip);
  g_assert_true (g_output_stream_write_all (stream, text, strlen (text), NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
}

static void
test_sources (void)
{
  static const guint cuts[] = { 0, 12345, 100000 };
  g_autofree char *text = make_long_table (cuts[0], cuts[2]);
  g_autoptr (Run) plain = NULL;
  g_autoptr (Run) gzip = NULL;
  g_autoptr (Run) input = NULL;
  g_autoptr (Run) parts = NULL;
  g_autoptr (Run) in_turn = NULL;
  g_autoptr (Run) labelled = NULL;
  guint i;

  g_test_summary (
    "A long table: plain, compressed, from the standard input, in two files, and with a column of folds.");

  tool_write ("long.csv", text, -1);
  write_gzip ("long.csv.gz", text);
  for (i = 0; i < 2; i++)
    {
      g_autofree char *part = make_long_table (cuts[i], cuts[i + 1]);

      tool_write (i == 0 ? "part0.csv" : "part1.csv", part, -1);
    }
  plain = tool_run ("cross-validate long.csv -t y --drop turn --alpha 1e9 --folds 7 --json");
  gzip = tool_run ("cross-validate long.csv.gz -t y --drop turn --alpha 1e9 --folds 7 --json");
  input = tool_run_with ("cross-validate - -t y --drop turn --alpha 1e9 --folds 7 --json", text, -1, NULL);
  parts = tool_run ("cross-validate part0.csv part1.csv -t y --drop turn --alpha 1e9 --folds 7 --json");
  g_assert_cmpstr (gzip->output, ==, plain->output);
  g_assert_cmpstr (input->output, ==, plain->output);
  g_assert_cmpstr (parts->output, ==, plain->output);
  tool_assert_contains (plain->output, "\"samples\": 100000,\n  \"folds\": 7,\n  \"metric\"");

  in_turn = tool_run ("cross-validate long.csv -t y --drop turn --alpha 1e9 --folds 7");
  labelled = tool_run ("cross-validate long.csv -t y --fold-column turn --alpha 1e9");
  g_assert_cmpstr (labelled->output, ==, in_turn->output);
  g_clear_pointer (&labelled, tool_run_free);
  labelled = tool_run ("cross-validate part1.csv part0.csv -t y --fold-column turn --alpha 1e9 --json");
  tool_assert_contains (labelled->output,
                        "\"fold_values\": [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\"],\n");
  tool_assert_contains (labelled->output, strstr (plain->output, "\"metric\""));
}

static void
test_default_folds (void)
{
  g_autoptr (Run) five = NULL;
  g_autoptr (Run) none = NULL;

  tool_write ("flats.csv", flats, -1);
  five = tool_run ("cross-validate flats.csv -t rent --drop day --folds 5");
  none = tool_run ("cross-validate flats.csv -t rent --drop day");
  g_assert_cmpstr (none->output, ==, five->output);
}

static void
test_missing (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) rest = NULL;

  g_test_summary ("Rows that miss a number are in no fold, nor is there one that has only such rows.");

  tool_write ("holes.csv", "f,x,y\na,1,3\nb,,4\na,2,5\nc,3,8\nd,4,\nc,4,9\nc,7,12\n", -1);
  tool_write ("whole.csv", "f,x,y\na,1,3\na,2,5\nc,3,8\nc,4,9\nc,7,12\n", -1);
  run = tool_run ("cross-validate holes.csv -t y --fold-column f --drop-missing --json");
  rest = tool_run ("cross-validate whole.csv -t y --fold-column f --json");
  g_assert_cmpstr (run->output, ==, rest->output);
  tool_assert_contains (run->output, "\"fold_values\": [\"a\", \"c\"],\n");
  g_assert_cmpstr (run->messages, ==, "aprender: holes.csv: passed over 2 of 7 rows, which miss a number\n");
}

static void
test_range (void)
{
  static const char *const options[] = {
    "cross-validate near.csv -t y --folds 3 --json --metric mean-squared-error",
    "cross-validate far.csv -t y --folds 3 --json --metric mean-squared-error"
  };
  static const int values[] = { 1, 5, -4, 1, 5, -6, 1 };
  g_autoptr (GString) near = g_string_new ("x,y\n");
  g_autoptr (GString) far = g_string_new ("x,y\n");
  double found[2][2];
  guint i;

  g_test_summary (
    "With targets 2^509 times as great, errors whose sum and squares are beyond a double are 2^1018 times.");

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append_printf (near, "%u,%d\n", i * i, values[i]);
      g_string_append_printf (far, "%u,%s\n", i * i,
                              g_ascii_dtostr (buffer, sizeof buffer, ldexp (values[i], 509)));
    }
  tool_write ("near.csv", near->str, -1);
  tool_write ("far.csv", far->str, -1);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (Run) run = tool_run (options[i]);
      g_autoptr (JsonNode) node = json_from_string (run->output, NULL);

      found[i][0] = json_object_get_double_member (get_result (node, 0), "mean");
      found[i][1] = json_object_get_double_member (get_result (node, 0), "standard_error");
    }
  g_assert_cmpfloat (found[1][0], ==, ldexp (found[0][0], 1018));
  g_assert_cmpfloat (found[1][1], ==, ldexp (found[0][1], 1018));
}

static void
test_command (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (Run) fitted = NULL;
  g_autoptr (Run) expected = NULL;
  const char *command;

  g_test_summary (
    "The command that is printed fits the model that was validated, whatever columns are called.");

  tool_write ("it's.csv",
              "the y;$a;b;f;w\n1,5;1;2;p;1\n2;3;1;q;1\n4;2;6;q;2\n3;5;1;p;1\n7;1;1;p;1\n5;2;3;q;2\n", -1);
  run =
    tool_run ("cross-validate \"it's.csv\" -t 'the y' --fold-column f -w w --decimal-comma --delimiter ';' "
              "--dtype f32 --no-intercept --positive --alpha 0.5,0.25");
  command = strstr (run->output, "aprender fit ");
  g_assert_nonnull (command);
  fitted = tool_run (command + strlen ("aprender "));
  expected = tool_run ("fit \"it's.csv\" -t 'the y' --drop f -w w --decimal-comma --dtype f32 --no-intercept "
                       "--positive --alpha 0.5 -o other.safetensors");
  tool_assert_contains (command, " --alpha 0.5 -o MODEL.safetensors\n");
  g_assert_cmpstr (fitted->output, ==, expected->output);
  tool_assert_contains (fitted->output, "samples        6\n");
}

static void
test_errors (void)
{
  static const char table[] = "x,f,w,y\n1,a,1,3\n2,a,0,5\n3,b,0,8\n4,b,0,9\n";
  static const struct
  {
    const char *arguments;
    const char *message;
  } cases[] = {
    { "- -t y --features x --folds 5",
      "standard input: 4 rows for 5 folds: there must be 2 folds at least, and a row in each (--folds)" },
    { "- -t z", "standard input: no column “z”: there are “x”, “f”, “w”, “y”" },
    { "- -t y",
      "standard input:2: column “f”: “a” is not a number; of a column of texts: --one-hot or --drop" },
    { "- -t y --features x --folds 4",
      "standard input: fold 0 (counted from 0): r2 needs 2 samples at least: take fewer folds, or another "
      "metric (--metric)" },
    { "- -t y --features x --folds 3 --metric explained-variance",
      "standard input: fold 1 (counted from 0): explained-variance needs 2 samples at least: take fewer "
      "folds, "
      "or another metric (--metric)" },
    { "t.csv -t y --features w --fold-column x",
      "t.csv: column “x”, fold “1”: r2 needs 2 samples at least: take another metric (--metric)" },
    { "- -t y --features x --folds 2 -w w",
      "standard input: fold 1 (counted from 0): no weight in column “w” is above 0" },
    { "t.csv -t y --features x --fold-column f -w w",
      "t.csv: column “f”, fold “b”: no weight in column “w” is above 0" },
    { "t.csv -t y --features x --fold-column g", "t.csv: no column “g”: there are “x”, “f”, “w”, “y”" },
    { "one.csv -t y --fold-column f", "one.csv: column “f” has 1 value: there must be 2 folds at least" },
    { "t.csv -t y -t x -w w --fold-column f",
      "t.csv: no column is left to be a feature: all are targets, weights or --fold-column" },
    { "- -t y --drop f --drop g", "standard input: no column “g”, which --drop names" },
    { "none.csv -t y", "none.csv: No such file or directory" },
    { "large.csv -t y --folds 2 --metric mean-squared-error",
      "large.csv: fold 0 (counted from 0): the mean-squared-error of 2 samples is beyond the range of a "
      "double" },
    { "large.csv -t y --folds 4 --metric mean-squared-error",
      "large.csv: fold 0 (counted from 0): the mean-squared-error of 1 sample is beyond the range of a "
      "double" },
  };
  guint i;

  tool_write ("t.csv", table, -1);
  tool_write ("one.csv", "x,f,y\n1,a,3\n2,a,5\n", -1);
  tool_write ("large.csv", "x,y\n1,1e200\n2,-1e200\n3,2e200\n4,-1e200\n", -1);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *arguments = g_strdup_printf ("cross-validate %s", cases[i].arguments);

      tool_assert_fails (arguments, table, -1, cases[i].message);
    }
}

static void
test_usage (void)
{
  static const struct
  {
    const char *arguments;
    const char *message;
  } cases[] = {
    { "", "DATA.csv is missing" },
    { "d.csv", "--target COLUMN is missing" },
    { "d.csv -t y --folds 1", "--folds is a number from 2 to 10000, not 1" },
    { "d.csv -t y --folds 0", "--folds is a number from 2 to 10000, not 0" },
    { "d.csv -t y --folds 10001", "--folds is a number from 2 to 10000, not 10001" },
    { "d.csv -t y --fold-column f --folds 5",
      "--fold-column reads a table twice, so it must be a file: d.csv" },
    { "flats.csv -t rent --fold-column day --folds 5", "--folds and --fold-column exclude each other" },
    { "- -t y --fold-column f", "--fold-column reads a table twice, so it must be a file: -" },
    { "- -t y --one-hot f", "--one-hot reads a table twice, so it must be a file: -" },
    { "flats.csv ./flats.csv -t rent", "a table must not be read twice: ./flats.csv" },
    { "flats.csv -t rent --fold-column rent", "the column “rent” is named by --target and --fold-column" },
    { "flats.csv -t rent --fold-column day --one-hot day",
      "the column “day” is named by --fold-column and --one-hot" },
    { "flats.csv -t rent --fold-column day --drop day",
      "the column “day” is named by --fold-column and --drop" },
    { "d.csv -t y --metric max-error", "--metric is r2 or explained-variance or mean-squared-error or "
                                       "root-mean-squared-error, not “max-error”" },
    { "d.csv -t y --alpha 1,,2",
      "--alpha is a finite number of at least 0, or several with commas between them, not “1,,2”" },
    { "d.csv -t y --alpha ''",
      "--alpha is a finite number of at least 0, or several with commas between them, not “”" },
    { "d.csv -t y --alpha 1 --alpha 2,-1",
      "--alpha is a finite number of at least 0, or several with commas between them, not “2,-1”" },
    { "d.csv -t y --alpha inf",
      "--alpha is a finite number of at least 0, or several with commas between them, not “inf”" },
    { "d.csv -t y --alpha 1x",
      "--alpha is a finite number of at least 0, or several with commas between them, not “1x”" },
  };
  guint i;

  g_test_summary ("Status 2, and what was wrong.");

  tool_write ("flats.csv", flats, -1);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *arguments = g_strdup_printf ("cross-validate %s", cases[i].arguments);
      g_autofree char *message = g_strdup_printf (
        "aprender: cross-validate: %s\nTry “aprender cross-validate --help”.\n", cases[i].message);
      g_autoptr (Run) run = tool_run_with (arguments, NULL, 0, NULL);

      g_assert_cmpstr (run->messages, ==, message);
      g_assert_cmpstr (run->output, ==, "");
      g_assert_cmpint (run->status, ==, 2);
    }
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/cross-validate/peer", test_peer);
  g_test_add_func ("/tool/cross-validate/text", test_text);
  g_test_add_func ("/tool/cross-validate/best", test_best);
  g_test_add_func ("/tool/cross-validate/alphas", test_alphas);
  g_test_add_func ("/tool/cross-validate/fit-and-score", test_fit_and_score);
  g_test_add_func ("/tool/cross-validate/several-targets", test_several_targets);
  g_test_add_func ("/tool/cross-validate/sources", test_sources);
  g_test_add_func ("/tool/cross-validate/default-folds", test_default_folds);
  g_test_add_func ("/tool/cross-validate/missing", test_missing);
  g_test_add_func ("/tool/cross-validate/range", test_range);
  g_test_add_func ("/tool/cross-validate/command", test_command);
  g_test_add_func ("/tool/cross-validate/errors", test_errors);
  g_test_add_func ("/tool/cross-validate/usage", test_usage);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
