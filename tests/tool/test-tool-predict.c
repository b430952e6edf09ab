/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "tool-run.h"

static void
fit (const char *table, const char *options)
{
  g_autofree char *arguments = g_strdup_printf ("fit - -o m.safetensors %s", options);
  g_autoptr (Run) run = tool_run_with (arguments, table, -1, NULL);

  g_assert_cmpint (run->status, ==, 0);
}

static void
assert_predicts (const char *arguments, const char *input, const char *output)
{
  g_autoptr (Run) run = tool_run_with (arguments, input, -1, NULL);

  g_assert_cmpstr (run->messages, ==, "");
  g_assert_cmpstr (run->output, ==, output);
  g_assert_cmpint (run->status, ==, 0);
}

static void
test_round_trip (void)
{
  g_autofree char *written = NULL;

  g_test_summary ("y = 2x + 1: the predictions of the table it was fitted to are its targets.");

  tool_write ("data.csv", "x,y\n1,3\n2,5\n-3.5,-6\n", -1);
  fit ("x,y\n1,3\n2,5\n-3.5,-6\n", "-t y");
  assert_predicts ("predict m.safetensors data.csv", NULL, "3\n5\n-6\n");
  assert_predicts ("predict m.safetensors -", "x\n0.25\n1e300\n1e-300\n", "1.5\n2e+300\n1\n");
  assert_predicts ("predict m.safetensors data.csv --output -", NULL, "3\n5\n-6\n");
  assert_predicts ("predict m.safetensors data.csv -o out.txt", NULL, "");
  written = tool_read ("out.txt");
  g_assert_cmpstr (written, ==, "3\n5\n-6\n");
}

static void
test_any_order (void)
{
  g_test_summary ("Columns are found by name; others may stand between them, with text in them.");

  /* y = a + 10 b + 100 c. */
  fit ("a,b,y,c\n0,0,0,0\n1,0,1,0\n0,1,10,0\n0,0,100,1\n", "-t y");
  assert_predicts ("predict m.safetensors -", "c,note,a,y,b\n3,\"some\n\"\"text\"\", nan\",1,,2\n0,,4,?,5\n",
                   "321\n54\n");
}

static void
test_several_targets (void)
{
  g_test_summary ("One line for each row, commas between the targets in the order of the fit.");

  fit ("p,x,q\n4,1,1.5\n3,2,2\n", "-t q -t p");
  assert_predicts ("predict m.safetensors -", "x\n1\n3\n", "1.5,4\n2.5,2\n");
}

static void
test_digits (void)
{
  g_test_summary ("As few digits as bring the number back, in the dtype of the model.");

  fit ("x,y\n0,0\n1,1\n", "-t y");
  assert_predicts ("predict m.safetensors -",
                   "x\n0.1\n0.30000000000000004\n5e-324\n123456789012345678\n-0.0\n",
                   "0.1\n0.30000000000000004\n5e-324\n1.2345678901234568e+17\n0\n");
  fit ("x,y\n0,0\n1,1\n", "-t y --dtype f32");
  assert_predicts ("predict m.safetensors -", "x\n0.1\n0.30000000000000004\n1e-45\n16777217\n",
                   "0.1\n0.3\n1e-45\n16777216\n");
}

static void
test_intervals (void)
{
  /* By hand: the line through (0, 0), (1, 1), (2, 3) is -1/6 + 3/2 x, s² is 1/6 with one degree of freedom, whose
   * quantile of 0.975 is tan (0.475 π); at x = 1 the variance of the mean is s²/3. */
  const double quantile = 12.706204736174698;
  const double mean = quantile * sqrt (1.0 / 18);
  const double sample = quantile * sqrt (4.0 / 18);
  g_autoptr (Run) confidence = NULL;
  g_autoptr (Run) prediction = NULL;
  double values[3];

  g_test_summary (
    "The bounds stand behind the prediction; they are those of the mean, or of one more sample.");

  tool_write ("data.csv", "x\n1\n", -1);
  fit ("x,y\n0,0\n1,1\n2,3\n", "-t y --keep-state");
  confidence = tool_run ("predict m.safetensors data.csv --interval confidence");
  g_assert_cmpint (sscanf (confidence->output, "%lf,%lf,%lf\n", &values[0], &values[1], &values[2]), ==, 3);
  g_assert_cmpfloat_with_epsilon (values[0], 4.0 / 3, 1e-14);
  g_assert_cmpfloat_with_epsilon (values[1], 4.0 / 3 - mean, 1e-9);
  g_assert_cmpfloat_with_epsilon (values[2], 4.0 / 3 + mean, 1e-9);
  prediction = tool_run ("predict m.safetensors data.csv --interval prediction --json");
  g_assert_cmpint (sscanf (prediction->output, "{\"prediction\": %lf, \"lower\": %lf, \"upper\": %lf}\n",
                           &values[0], &values[1], &values[2]),
                   ==, 3);
  g_assert_cmpfloat_with_epsilon (values[1], 4.0 / 3 - sample, 1e-9);
  g_assert_cmpfloat_with_epsilon (values[2], 4.0 / 3 + sample, 1e-9);
}

static void
test_json (void)
{
  g_test_summary ("An object for each row; several targets are an array.");

  fit ("x,y\n0,1\n1,3\n", "-t y");
  tool_assert_fails ("predict m.safetensors - --interval confidence", NULL, 0,
                     "m.safetensors: the file has no sums of the data: fit it with --keep-state");
  assert_predicts ("predict m.safetensors - --json", "x\n0.1\n2\n",
                   "{\"prediction\": 1.2}\n{\"prediction\": 5}\n");
  fit ("p,x,q\n4,1,1.5\n3,2,2\n", "-t q -t p --dtype f32");
  assert_predicts ("predict m.safetensors - --json", "x\n1.2\n", "{\"prediction\": [1.6, 3.8]}\n");
}

/* A model as the Rust aprender writes it: F32, without metadata. */
static void
write_nameless_model (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autofree char *path = tool_get_path ("nameless.safetensors");
  const float coefficients[] = { 2, 3 };
  const float intercept = 1;
  const gsize n_features = 2;
  const gsize one = 1;
  g_autoptr (AprTensor) a = NULL;
  g_autoptr (AprTensor) b = NULL;
  GError *error = NULL;

  a = apr_tensor_new_from_floats (coefficients, 2, &n_features, 1, &error);
  b = apr_tensor_new_from_floats (&intercept, 1, &one, 1, &error);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "coefficients", a, &error));
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "intercept", b, &error));
  g_assert_true (apr_safetensors_writer_write_to_path (writer, path, &error));
  g_assert_no_error (error);
}

static void
test_nameless_model (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("A model without names takes all columns as they stand.");

  write_nameless_model ();
  assert_predicts ("predict nameless.safetensors -", "q,r\n1,1\n0,0.5\n", "6\n2.5\n");
  tool_assert_fails (
    "predict nameless.safetensors -", "q,r,s\n1,1,1\n", -1,
    "standard input: there are 3 columns, but the model has 2 features, and no names to find "
    "them by");
  tool_assert_fails (
    "predict nameless.safetensors -", "q\n1\n", -1,
    "standard input: there is 1 column, but the model has 2 features, and no names to find them by");
  run = tool_run_with ("predict nameless.safetensors -", ",q,r\n7,1,1\n", -1, NULL);
  g_assert_cmpint (run->status, ==, 0);
  g_assert_cmpstr (run->output, ==, "6\n");
  g_assert_cmpstr (run->messages, ==, "aprender: standard input: left out 1 column without a name\n");
}

static void
test_errors (void)
{
  g_test_summary ("The message names the file and the column.");

  fit ("a,x3,y\n0,0,1\n1,0,2\n0,1,3\n", "-t y");
  tool_write ("data.csv", "a,b\n1,2\n", -1);
  tool_assert_fails ("predict m.safetensors data.csv", NULL, 0,
                     "data.csv: no column “x3”: there are “a”, “b”");
  tool_write ("data.csv", "x3,note,a\n1,,2\n1,,\n", -1);
  tool_assert_fails ("predict m.safetensors data.csv", NULL, 0,
                     "data.csv:3: column “a”: the cell is empty (--drop-missing)");
  tool_write ("data.csv", "x3,note,a\n1,2\n", -1);
  tool_assert_fails ("predict m.safetensors data.csv", NULL, 0,
                     "data.csv:2: the row has 2 cells, but the header has 3 columns");
  tool_write ("data.csv", "x3,a\n1,2\n", -1);
  tool_assert_fails ("predict m.safetensors none.csv", NULL, 0, "none.csv: No such file or directory");
  tool_assert_fails ("predict none.safetensors data.csv", NULL, 0,
                     "none.safetensors: No such file or directory");
  tool_assert_fails ("predict m.safetensors data.csv -o none/out", NULL, 0,
                     "none/out: No such file or directory");
}

static void
test_not_a_model (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("Neither a table nor three bytes are a model.");

  tool_write ("data.csv", "x\n1\n", -1);
  tool_write ("three.safetensors", "abc", -1);
  run = tool_run_with ("predict three.safetensors data.csv", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_true (g_str_has_prefix (run->messages, "aprender: three.safetensors: 3 bytes"));
  g_assert_cmpstr (run->output, ==, "");
  g_clear_pointer (&run, tool_run_free);

  tool_write ("data.csv", "x1,x2,x3\n1,2,3\n", -1);
  run = tool_run_with ("predict data.csv data.csv", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_true (g_str_has_prefix (run->messages, "aprender: data.csv: the header claims "));
  tool_assert_contains (run->messages, "this is no SafeTensors file, as it begins with “x1,x2,x3”");
}

static void
test_same_file (void)
{
  static const char *const cases[] = {
    "predict m.safetensors data.csv -o m.safetensors",
    "predict m.safetensors data.csv -o data.csv",
    "predict m.safetensors data.csv -o ./../$folder/data.csv",
    "predict m.safetensors data.csv -o hard.csv",
  };
  g_autofree char *folder = tool_get_path ("");
  g_autofree char *folder_name = g_path_get_basename (folder);
  g_autofree char *data = tool_get_path ("data.csv");
  g_autofree char *hard = tool_get_path ("hard.csv");
  g_autofree char *model = NULL;
  g_autofree char *kept = NULL;
  g_autofree char *kept_model = NULL;
  guint i;

  g_test_summary ("Predictions never take the place of what they are made from, under whatever name.");

  fit ("x,y\n1,3\n2,5\n", "-t y");
  model = tool_read ("m.safetensors");
  tool_write ("data.csv", "x\n1\n", -1);
  g_assert_cmpint (link (data, hard), ==, 0);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) arguments = g_string_new (cases[i]);
      g_autoptr (Run) run = NULL;

      g_string_replace (arguments, "$folder", folder_name, 0);
      run = tool_run_with (arguments->str, NULL, 0, NULL);
      g_assert_cmpint (run->status, ==, 2);
      g_assert_cmpstr (run->output, ==, "");
      tool_assert_contains (run->messages, "predict: --output must not be a file that is read: ");
    }
  kept = tool_read ("data.csv");
  g_assert_cmpstr (kept, ==, "x\n1\n");
  kept_model = tool_read ("m.safetensors");
  g_assert_cmpmem (kept_model, 8, model, 8);
  assert_predicts ("predict m.safetensors data.csv -o other.csv", NULL, "");
}

static mode_t
get_mode (const char *name)
{
  g_autofree char *path = tool_get_path (name);
  GStatBuf status;

  g_assert_cmpint (g_lstat (path, &status), ==, 0);

  return status.st_mode;
}

static void
assert_holds (const char *name, const char *expected)
{
  g_autofree char *contents = tool_read (name);

  g_assert_cmpstr (contents, ==, expected);
}

/* Runs a script in the folder of the files. In it, “predict” stands for the predictions 3 and 5. */
static void
run_script (const char *script)
{
  g_autofree char *folder = tool_get_path ("");
  g_autofree char *text = g_strconcat (
    "set -e\npredict () { $APR_TOOL_WRAPPER \"$APR_TOOL\" predict m.safetensors new.csv \"$@\"; }\n", script,
    NULL);
  const char *const argv[] = { "sh", "-c", text, NULL };
  int status = -1;

  fit ("x,y\n1,3\n2,5\n", "-t y");
  tool_write ("new.csv", "x\n1\n2\n", -1);
  g_assert_true (
    g_spawn_sync (folder, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
}

static void
test_output_link (void)
{
  g_test_summary ("A symbolic link stays, and what it leads to is replaced or made.");

  run_script ("mkdir there\n"
              "echo old > there/file\n"
              "ln -s ../there/file there/second\n"
              "ln -s there/second first\n"
              "predict -o first\n"
              "ln -s there/new dangling\n"
              "predict -o dangling\n"
              "ln -s circle circle\n"
              "! predict -o circle\n");
  g_assert_true (S_ISLNK (get_mode ("first")));
  g_assert_true (S_ISLNK (get_mode ("there/second")));
  assert_holds ("there/file", "3\n5\n");
  g_assert_true (S_ISLNK (get_mode ("dangling")));
  assert_holds ("there/new", "3\n5\n");
  g_assert_true (S_ISLNK (get_mode ("circle")));
}

static void
test_output_mode (void)
{
  g_test_summary ("A file that is replaced keeps its mode; a new one has what the umask leaves.");

  run_script ("umask 027\n"
              "echo old > secret\n"
              "chmod 600 secret\n"
              "echo old > open\n"
              "chmod 666 open\n"
              "predict -o secret\n"
              "predict -o open\n"
              "predict -o made\n");
  assert_holds ("secret", "3\n5\n");
  g_assert_cmpint (get_mode ("secret") & 0777, ==, 0600);
  g_assert_cmpint (get_mode ("open") & 0777, ==, 0666);
  g_assert_cmpint (get_mode ("made") & 0777, ==, 0640);
}

static void
test_output_no_file (void)
{
  g_test_summary ("What is no file that a path leads to is written to, and stays what it is.");

  if (!g_file_test ("/proc/self/fd", G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("there is no /proc");
      return;
    }
  run_script ("ln -s /proc/self/fd/1 output\n"
              "echo first > appended\n"
              "predict -o output >> appended\n"
              "{ echo before; predict -o output; echo after; } > around\n"
              "mkfifo pipe\n"
              "ln -s pipe to-pipe\n"
              "cat pipe > piped &\n"
              "predict -o to-pipe\n"
              "wait $!\n"
              /* A file of another process that has no name any more. */
              "exec 3<> gone\n"
              "echo older and longer >&3\n"
              "rm gone\n"
              "predict -o /proc/$$/fd/3\n"
              "cat /proc/$$/fd/3 > back\n"
              "! ls gone*\n");
  g_assert_true (S_ISLNK (get_mode ("output")));
  assert_holds ("appended", "first\n3\n5\n");
  assert_holds ("around", "before\n3\n5\nafter\n");
  g_assert_true (S_ISFIFO (get_mode ("pipe")));
  assert_holds ("piped", "3\n5\n");
  assert_holds ("back", "3\n5\n");
}

static void
test_full_disk (void)
{
  g_test_summary ("Predictions that could not be written are a failure.");

  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("there is no /dev/full");
      return;
    }
  fit ("x,y\n1,3\n2,5\n", "-t y");
  tool_assert_fails ("predict m.safetensors - -o /dev/full", "x\n1\n", -1,
                     "/dev/full: No space left on device");
}

static void
test_range (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("10 times 1e308 is more than a double holds: an error, and no “inf”.");

  tool_write ("line.csv", "x,y\n1,10\n2,20\n", -1);
  run = tool_run ("fit line.csv -t y -o m.safetensors");
  tool_assert_fails (
    "predict m.safetensors -", "x\n1\n-1e308\n1e308\n", -1,
    "standard input: row 2 (counted from 1 below the names): the prediction is beyond the range "
    "of F64");
  g_clear_pointer (&run, tool_run_free);
  run = tool_run_with ("predict m.safetensors - --drop-missing --json", "x\nNA\n1\n1e308\n", -1, NULL);
  g_assert_cmpint (run->status, ==, 1);
  tool_assert_contains (run->messages, "standard input: row 3 (");
}

static void
test_rows (void)
{
  g_autoptr (Run) fitted = NULL;
  g_autoptr (Run) run = NULL;

  g_test_summary ("Where rows are passed over, each prediction tells its row.");

  tool_write ("line.csv", "x,y\n1,10\n2,20\n", -1);
  fitted = tool_run ("fit line.csv -t y -o m.safetensors");
  run = tool_run_with ("predict m.safetensors - --drop-missing --json", "x\nNA\n1\n3\n\nNA\n2\n", -1, NULL);
  g_assert_cmpstr (run->output, ==,
                   "{\"row\": 2, \"prediction\": 10}\n{\"row\": 3, \"prediction\": 30}\n"
                   "{\"row\": 5, \"prediction\": 20}\n");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/predict/round-trip", test_round_trip);
  g_test_add_func ("/tool/predict/any-order", test_any_order);
  g_test_add_func ("/tool/predict/several-targets", test_several_targets);
  g_test_add_func ("/tool/predict/digits", test_digits);
  g_test_add_func ("/tool/predict/intervals", test_intervals);
  g_test_add_func ("/tool/predict/json", test_json);
  g_test_add_func ("/tool/predict/rows", test_rows);
  g_test_add_func ("/tool/predict/nameless-model", test_nameless_model);
  g_test_add_func ("/tool/predict/errors", test_errors);
  g_test_add_func ("/tool/predict/not-a-model", test_not_a_model);
  g_test_add_func ("/tool/predict/same-file", test_same_file);
  g_test_add_func ("/tool/predict/output-link", test_output_link);
  g_test_add_func ("/tool/predict/output-mode", test_output_mode);
  g_test_add_func ("/tool/predict/output-no-file", test_output_no_file);
  g_test_add_func ("/tool/predict/full-disk", test_full_disk);
  g_test_add_func ("/tool/predict/range", test_range);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
