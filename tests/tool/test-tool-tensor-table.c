/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <math.h>
#include <string.h>

#include <aprender/aprender.h>

/* SafeTensors files as tables. */

#define N_ROWS 6

static const double areas[N_ROWS] = { 50.1, 70.7, 1e-300, 90, 0.1, 1.0 / 3 };
static const double rents[N_ROWS] = { 500, 700.25, 650, -0.0, 901, 1e17 };

static void
add_doubles (
  AprSafetensorsWriter *writer, const char *name, const double *values, const gsize *shape, gsize n_dims)
{
  gsize n_values = shape[0] * (n_dims == 1 ? 1 : shape[1]);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_doubles (values, n_values, shape, n_dims, NULL);
  gboolean added = apr_safetensors_writer_add_tensor (writer, name, tensor, NULL);

  g_assert_true (added);
}

static void
save (AprSafetensorsWriter *writer, const char *name)
{
  g_autofree char *path = tool_get_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  gboolean written = apr_safetensors_writer_write_to_file (writer, file, NULL, NULL);

  g_assert_true (written);
}

static void
test_commands (void)
{
  static const gsize n_rows = N_ROWS;
  static const gint64 floors[N_ROWS] = { 1, 2, 3, 4, -5, 6 };
  const gint64 stored[N_ROWS] = { GINT64_TO_LE (1), GINT64_TO_LE (2),  GINT64_TO_LE (3),
                                  GINT64_TO_LE (4), GINT64_TO_LE (-5), GINT64_TO_LE (6) };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GBytes) bytes = g_bytes_new (stored, sizeof stored);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_I64, &n_rows, 1, bytes, NULL);
  g_autoptr (GString) table = g_string_new ("\"a \"\"b\"\", c\",floor,y\n");
  static const char *const commands[] = { "score m.safetensors -t y --json",
                                          "predict m.safetensors --interval prediction" };
  guint i;

  g_test_summary ("The commands do with them what they do with the same table as CSV.");

  add_doubles (writer, "y", rents, &n_rows, 1);
  add_doubles (writer, "a \"b\", c", areas, &n_rows, 1);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "floor", tensor, NULL));
  save (writer, "data.safetensors");
  for (i = 0; i < N_ROWS; i++)
    g_string_append_printf (table, "%.17g,%d,%.17g\n", areas[i], (int) floors[i], rents[i]);
  tool_write ("data.csv", table->str, (gssize) table->len);

  {
    g_autoptr (Run) one = tool_run ("fit data.safetensors -t y -o m.safetensors --keep-state");
    g_autoptr (Run) other = tool_run ("fit data.csv -t y -o n.safetensors --keep-state");
    g_autofree char *expected = tool_read ("n.safetensors");
    g_autofree char *found = tool_read ("m.safetensors");

    g_assert_cmpstr (one->output, ==, other->output);
    tool_assert_contains (one->output, "a \"b\", c");
    /* The files are of one length, which begins them. */
    g_assert_cmpmem (found, 8, expected, 8);
    g_assert_cmpstr (found + 8, ==, expected + 8);
  }
  for (i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *with_tensors = g_strconcat (commands[i], " data.safetensors", NULL);
      g_autofree char *with_text = g_strconcat (commands[i], " data.csv", NULL);
      g_autoptr (Run) one = tool_run (with_tensors);
      g_autoptr (Run) other = tool_run (with_text);

      g_assert_cmpstr (one->output, ==, other->output);
    }
}

static void
test_matrix (void)
{
  const gsize n_rows = N_ROWS / 2;
  const gsize shape[2] = { N_ROWS / 2, 2 };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (Run) run = NULL;

  add_doubles (writer, "X", areas, shape, 2);
  add_doubles (writer, "y", rents, &n_rows, 1);
  save (writer, "matrix.safetensors");
  run = tool_run ("fit matrix.safetensors -t y -o m.safetensors --no-intercept");
  tool_assert_contains (run->output, "  X[0] ");
  tool_assert_contains (run->output, "  X[1] ");
}

static void
test_long_integers (void)
{
  static const struct
  {
    AprDType dtype;
    guint64 values[N_ROWS];
    const char *names;
  } cases[] = {
    { APR_DTYPE_I64,
      { 9007199254740992, 9007199254740993, (guint64) G_MININT64, (guint64) G_MININT64 + 1, G_MAXINT64, 7 },
      "\"features\": [\"id=-9223372036854775807\", \"id=-9223372036854775808\", \"id=7\", "
      "\"id=9007199254740992\", \"id=9007199254740993\", \"id=9223372036854775807\"]," },
    { APR_DTYPE_U64,
      { G_MAXUINT64, G_MAXUINT64 - 1, 100000000000000000, 100000000000000001, (guint64) G_MAXINT64 + 1, 7 },
      "\"features\": [\"id=100000000000000000\", \"id=100000000000000001\", \"id=18446744073709551614\", "
      "\"id=18446744073709551615\", \"id=7\", \"id=9223372036854775808\"]," },
  };
  static const double targets[N_ROWS] = { 1, 2, 3, 4, 5, 6 };
  static const gsize n_rows = N_ROWS;
  guint i;
  guint j;

  g_test_summary (
    "Each integer is a text of its own, also where a double has no digits left to tell it from the next.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 stored[N_ROWS];
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprTensor) tensor = NULL;
      g_autoptr (Run) fitted = NULL;
      g_autoptr (Run) predicted = NULL;

      for (j = 0; j < N_ROWS; j++)
        stored[j] = GUINT64_TO_LE (cases[i].values[j]);
      bytes = g_bytes_new (stored, sizeof stored);
      tensor = apr_tensor_new_from_bytes (cases[i].dtype, &n_rows, 1, bytes, NULL);
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "id", tensor, NULL));
      add_doubles (writer, "y", targets, &n_rows, 1);
      save (writer, "ids.safetensors");
      fitted = tool_run ("fit ids.safetensors -t y --one-hot id --json -o m.safetensors");
      tool_assert_contains (fitted->output, cases[i].names);
      predicted = tool_run ("predict m.safetensors ids.safetensors");
      g_assert_cmpstr (predicted->output, ==, "1\n2\n3\n4\n5\n6\n");
    }
}

static void
test_long (void)
{
  const gsize n_rows = 20000;
  g_autofree double *values = g_new (double, n_rows);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (Run) run = NULL;
  gsize i;

  g_test_summary ("More rows than are made at a time.");

  for (i = 0; i < n_rows; i++)
    values[i] = (double) i / 3;
  add_doubles (writer, "x", values, &n_rows, 1);
  add_doubles (writer, "y", values, &n_rows, 1);
  save (writer, "long.safetensors");
  run = tool_run ("fit long.safetensors -t y -o m.safetensors");
  tool_assert_contains (run->output, "samples        20000\n");
  tool_assert_contains (run->output, "  x            1\n");
}

static void
test_errors (void)
{
  const double gaps[N_ROWS] = { 1, 2, (double) NAN, 4, 5, 6 };
  const gsize n_rows = N_ROWS;
  const gsize fewer = N_ROWS - 1;
  const gsize cube[3] = { 1, 1, 1 };
  g_autoptr (AprSafetensorsWriter) gap = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) different = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) deep = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) eighth = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) nothing = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) three = apr_tensor_new_from_doubles (gaps, 1, cube, 3, NULL);
  g_autoptr (GBytes) byte = g_bytes_new_static ("\1", 1);
  g_autoptr (AprTensor) small = apr_tensor_new_from_bytes (APR_DTYPE_F8_E4M3, cube, 1, byte, NULL);
  g_autoptr (Run) run = NULL;

  add_doubles (gap, "x", gaps, &n_rows, 1);
  add_doubles (gap, "y", rents, &n_rows, 1);
  save (gap, "gap.safetensors");
  tool_assert_fails ("fit gap.safetensors -t y -o m.safetensors", NULL, 0,
                     "gap.safetensors:4: column “x”: “NA” stands for a missing value (--drop-missing)");
  run = tool_run_with ("fit gap.safetensors -t y -o m.safetensors --drop-missing", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 0);
  tool_assert_contains (run->messages, "passed over 1 of 6 rows");

  add_doubles (different, "x", areas, &fewer, 1);
  add_doubles (different, "y", rents, &n_rows, 1);
  save (different, "different.safetensors");
  tool_assert_fails ("fit different.safetensors -t y -o m.safetensors", NULL, 0,
                     "different.safetensors: tensor “y” has 6 rows, but those before it have 5");

  g_assert_true (apr_safetensors_writer_add_tensor (deep, "x", three, NULL));
  save (deep, "deep.safetensors");
  tool_assert_fails (
    "fit deep.safetensors -t y -o m.safetensors", NULL, 0,
    "deep.safetensors: tensor “x” has 3 dimensions: one is a column of a table, two are several");

  g_assert_true (apr_safetensors_writer_add_tensor (eighth, "x", small, NULL));
  save (eighth, "eighth.safetensors");
  tool_assert_fails (
    "fit eighth.safetensors -t y -o m.safetensors", NULL, 0,
    "eighth.safetensors: tensor “x”: An element of dtype F8_E4M3 cannot be read as a number");

  save (nothing, "nothing.safetensors");
  tool_assert_fails ("fit nothing.safetensors -t y -o m.safetensors", NULL, 0,
                     "nothing.safetensors: the file is empty");
  tool_assert_fails ("fit missing.safetensors -t y -o m.safetensors", NULL, 0,
                     "missing.safetensors: No such file or directory");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/tensor-table", test_commands);
  g_test_add_func ("/tool/tensor-table/matrix", test_matrix);
  g_test_add_func ("/tool/tensor-table/long", test_long);
  g_test_add_func ("/tool/tensor-table/long-integers", test_long_integers);
  g_test_add_func ("/tool/tensor-table/errors", test_errors);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
