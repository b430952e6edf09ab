/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <string.h>

#define FIT "fit data.csv --target y -o m.safetensors"

/* y = 2x + 1, the answer that all of the well-formed tables below have. */
static const char summary[] = "samples        2\n"
                              "target         y\n"
                              "coefficients\n"
                              "  x            2\n"
                              "intercept      1\n"
                              "R²             1\n";

static void
test_forms (void)
{
  static const struct
  {
    const char *what;
    const char *text;
  } cases[] = {
    { "plain", "x,y\n1,3\n2,5\n" },
    { "no line end at the end", "x,y\n1,3\n2,5" },
    { "CRLF", "x,y\r\n1,3\r\n2,5\r\n" },
    { "CR", "x,y\r1,3\r2,5\r" },
    { "byte order mark", "\xef\xbb\xbfx,y\n1,3\n2,5\n" },
    { "byte order mark before a quote", "\xef\xbb\xbf\"x\",y\n1,3\n2,5\n" },
    { "empty lines", "\n\nx,y\n\n1,3\n\r\n  \n2,5\n\n" },
    { "quotes", "\"x\",\"y\"\n\"1\",3\n2,\"5\"\n" },
    { "a quote that ends with the file", "x,y\n1,3\n2,\"5\"" },
    { "spaces", " x , y\n 1,3\t\n2 ,  5 \n" },
    { "spaces in quotes", "x,y\n\" 1 \",\"3\n\"\n2,5\n" },
    { "signs and exponents", "x,y\n+1,30e-1\n.2E+1,5.\n" },
    { "columns turned round", "y,x\n3,1\n5,2\n" },
    { "semicolons", "x;y\n1;3\n2;5\n" },
    { "tabs", "x\ty\n1\t3\n2 \t 5\n" },
  };
  guint i;

  g_test_summary ("All that RFC 4180 allows, and what spreadsheets write besides.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Run) run = NULL;

      g_test_message ("%s", cases[i].what);
      tool_write ("data.csv", cases[i].text, -1);
      run = tool_run (FIT);
      g_assert_cmpstr (run->output, ==, summary);
    }
}

static void
test_header_quotes (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("Commas, quotes and line ends in names; a control character never reaches the terminal.");

  tool_write ("data.csv", "\"a, \"\"b\"\"\n\x1b[31m\",y\n1,3\n2,5\n", -1);
  run = tool_run (FIT);
  tool_assert_contains (run->output, "\n  a, \"b\"\\u000a\\u001b[31m   2\n");
  g_assert_null (strchr (run->output, 0x1b));
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text;
    gssize length;
    const char *message;
  } cases[] = {
    { "x,y\n1,3\n2,abc\n", -1, "data.csv:3: column “y”: “abc” is not a number" },
    { "x,y\r\n\r\n1,3\r\nq,5\r\n", -1,
      "data.csv:4: column “x”: “q” is not a number; of a column of texts: --one-hot or --drop" },
    { "x,y\r1,3\r2,q\r", -1, "data.csv:3: column “y”: “q” is not a number" },
    { "\"x\ny\",y\n\"1\n\r\n\",3\n2,\"\nq\n\"\n", -1, "data.csv:6: column “y”: “q” is not a number" },
    { "x,y\n\"1\n\",q\n", -1, "data.csv:3: column “y”: “q” is not a number" },
    { "x,y\n1,1.5.2\n", -1, "data.csv:2: column “y”: “1.5.2” is not a number" },
    { "x,y\n1,2 3\n", -1, "data.csv:2: column “y”: “2 3” is not a number" },
    { "x,y\n1,\"2,5\"\n", -1,
      "data.csv:2: column “y”: “2,5” is not a number, unless its comma is a decimal one (--decimal-comma)" },
    { "x,y\n1,2e\n", -1, "data.csv:2: column “y”: “2e” is not a number" },
    { "x,y\n1,-\n", -1, "data.csv:2: column “y”: “-” is not a number" },
    { "x,y\n1,0x1p3\n", -1, "data.csv:2: column “y”: “0x1p3” is not a number" },
    { "x,y\n1,2\0003\n", 10, "data.csv:2: column “y”: “2�3” is not a number" },
    { "x,y\n1,\x1b[2J\n", -1, "data.csv:2: column “y”: “\\u001b[2J” is not a number" },
    { "x,y\n1,\xff\n", -1, "data.csv:2: column “y”: “�” is not a number" },
    { "x,y\n1,nan\n", -1, "data.csv:2: column “y”: “nan” is not a finite number (--drop-missing)" },
    { "x,y\n1,-NaN\n", -1, "data.csv:2: column “y”: “-NaN” is not a finite number (--drop-missing)" },
    { "x,y\n1,+NaN\n", -1, "data.csv:2: column “y”: “+NaN” is not a finite number" },
    { "x,y\n1,inf\n", -1, "data.csv:2: column “y”: “inf” is not a finite number" },
    { "x,y\n1,+Infinity\n", -1, "data.csv:2: column “y”: “+Infinity” is not a finite number" },
    { "x,y\n1,1e999\n", -1, "data.csv:2: column “y”: “1e999” is too large for a double" },
    { "x,y\n1,\n", -1, "data.csv:2: column “y”: the cell is empty (--drop-missing)" },
    { "x,y\n1,\" \"\n", -1, "data.csv:2: column “y”: the cell is empty (--drop-missing)" },
    { "x,y\n,1", -1, "data.csv:2: column “x”: the cell is empty (--drop-missing)" },
    { "x,y\n1,aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde\n", -1,
      "data.csv:2: column “y”: “aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd…” is not a number" },
    { "x,y\n1,3\n\n2\n", -1, "data.csv:4: the row has 1 cell, but the header has 2 columns" },
    { "x,y\n1,2,3\n", -1, "data.csv:2: the row has 3 cells, but the header has 2 columns" },
    { "x,y\n1,q,3\n", -1, "data.csv:2: the row has 3 cells, but the header has 2 columns" },
    { "x,y\n1,2,\n", -1, "data.csv:2: the row has 3 cells, but the header has 2 columns" },
    { "x,y\n\"1\n\"\n", -1, "data.csv:2: the row has 1 cell, but the header has 2 columns" },
    { "x,y,x\n1,2,3\n", -1, "data.csv:1: two columns have the name “x”" },
    { "x,\xc3(,y\n1,2,3\n", -1, "data.csv:1: the name of column 2 is not text in UTF-8" },
    { "x\0z,y\n1,2\n", 10, "data.csv:1: the name of column 1 is not text in UTF-8" },
    { "x,y\n", -1, "data.csv: there are no rows after the header" },
    { "x,y", -1, "data.csv: there are no rows after the header" },
    { "", -1, "data.csv: the file is empty" },
    { "\xef\xbb\xbf", -1, "data.csv: the file is empty" },
    { "\r\n \n", -1, "data.csv: the file is empty" },
    { "x,y\n1,3\n\n2,\"5\n6,7\n", -1,
      "data.csv:4: column “y”: the quote that opens a cell here is never closed" },
    { "x,\"y\n1,3\n", -1, "data.csv:1: the quote that opens a cell here is never closed" },
    { "x,y\n1,3\"4\n", -1,
      "data.csv:2: column “y”: a quote stands in the middle of a cell, or text after a closing quote" },
    { "x,y\n\"1\"2,3\n", -1,
      "data.csv:2: column “x”: a quote stands in the middle of a cell, or text after a closing quote" },
    { "x,z\n1,2\n", -1, "data.csv: no column “y”: there are “x”, “z”" },
    { "x\n1\n", -1, "data.csv: no column “y”: there is only “x”" },
    { "x|y\n1|3\n", -1,
      "data.csv: no column “y”: there is only “x|y”; between cells, only commas, semicolons and tabs are "
      "found, and others must be given (--delimiter)" },
    { "x,y\n1,NA\n2,5\n,n/a\n1,2\n", -1,
      "data.csv:2: column “y”: “NA” stands for a missing value; 3 cells are missing in all "
      "(--drop-missing)" },
    { "x,y\n1,3\n2,\n,\n", -1,
      "data.csv:3: column “y”: the cell is empty; 3 cells are missing in all (--drop-missing)" },
    { "y\n1,2\n", -1, "data.csv: no column is left to be a feature: all are targets or weights" },
    { "y\n1\n", -1, "data.csv: no column is left to be a feature: all are targets or weights" },
  };
  guint i;

  g_test_summary ("The message names the file, the line where the cell begins, and the column.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      tool_write ("data.csv", cases[i].text, cases[i].length);
      tool_assert_fails (FIT, NULL, 0, cases[i].message);
    }
}

static void
test_unnamed (void)
{
  static const char note[] = "aprender: data.csv: left out 1 column without a name\n";
  static const struct
  {
    const char *text;
    const char *more; /* arguments */
    const char *message;
  } cases[] = {
    { ",x,y\n0,1,3\n1,2,5\n", "", note },
    { "\"\",\"x\",\"y\"\n\"first\",1,3\n\"second\",2,5\n", "", note },
    { "x,y,,\n1,3,,\n2,5,,\n", "", "aprender: data.csv: left out 2 columns without a name\n" },
    { ",x,y,z\n0,1,3,a\n1,2,5,b\n", " --drop z", note },
    { ",x,y\n0,1,3\n1,2,5\n", " --features x", "" },
  };
  guint i;

  g_test_summary (
    "The index that pandas and R write is left out; unless the features are named, a line says so.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *arguments = g_strconcat (FIT, cases[i].more, NULL);
      g_autoptr (Run) run = NULL;

      tool_write ("data.csv", cases[i].text, -1);
      run = tool_run_with (arguments, NULL, 0, NULL);
      g_assert_cmpint (run->status, ==, 0);
      g_assert_cmpstr (run->output, ==, summary);
      g_assert_cmpstr (run->messages, ==, cases[i].message);
    }
}

static void
test_numpy (void)
{
  static const char *const commands[] = { "fit t.npz --target y -o m.safetensors",
                                          "fit t.npy --target y -o m.safetensors" };
  guint i;

  g_test_summary ("An array of numpy's is no table; the message has the command that makes it one.");

  for (i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *name = g_strndup (commands[i] + 4, 5);
      g_autofree char *message =
        g_strdup_printf ("%s: convert it first: aprender convert %s t.safetensors", name, name);

      tool_write (name, "PK\3\4", -1);
      tool_assert_fails (commands[i], NULL, 0, message);
    }
  tool_assert_fails ("fit none.npz --target y -o m.safetensors", NULL, 0,
                     "none.npz: No such file or directory");
}

static void
test_many_columns (void)
{
  g_autoptr (GString) table = g_string_new ("c0");
  g_autoptr (Run) run = NULL;
  guint i;

  g_test_summary ("A message stays readable when there are thousands of columns.");

  for (i = 1; i < 3000; i++)
    g_string_append_printf (table, ",c%u", i);
  g_string_append (table, "\n");
  tool_write ("data.csv", table->str, (gssize) table->len);
  run = tool_run_with (FIT, NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 1);
  tool_assert_contains (run->messages, "no column “y”: there are “c0”, “c1”,");
  tool_assert_contains (run->messages, "“c19” and 2980 more\n");
}

static void
test_blocks (void)
{
  g_autoptr (GString) table = g_string_new ("\xef\xbb\xbfx,\"y\"\r\n");
  g_autoptr (Run) run = NULL;
  guint n_rows = 30000;
  guint i;

  g_test_summary ("A table of many blocks from a pipe: rows, quotes and CRLF fall across their ends.");

  for (i = 0; i < n_rows; i++)
    g_string_append_printf (table, "%*u,\"%u\r\n\"\r\n", (int) (1 + i % 13), i, 2 * i + 1);
  g_assert_cmpuint (table->len, >, 2 * 256 * 1024);

  run = tool_run_with ("fit - -t y -o m.safetensors", table->str, (gssize) table->len, NULL);
  g_assert_cmpint (run->status, ==, 0);
  tool_assert_contains (run->output, "samples        30000\n");
  tool_assert_contains (run->output, "  x            2\nintercept      1\nR²             1\n");

  g_string_append (table, "1,q\r\n");
  tool_assert_fails ("fit - -t y -o m.safetensors", table->str, (gssize) table->len,
                     "standard input:60002: column “y”: “q” is not a number");
}

static void
test_long_cell (void)
{
  g_autoptr (GString) table = g_string_new ("x,y\n1,3\n2,5");
  g_autoptr (Run) run = NULL;
  guint i;

  g_test_summary ("One cell that is longer than a block.");

  for (i = 0; i < 300 * 1024; i++)
    g_string_append_c (table, ' ');
  tool_write ("data.csv", table->str, (gssize) table->len);
  run = tool_run (FIT);
  g_assert_cmpstr (run->output, ==, summary);
}

static void
test_files (void)
{
  g_test_summary ("What cannot be read is named.");

  tool_assert_fails ("fit none.csv -t y -o m.safetensors", NULL, 0, "none.csv: No such file or directory");
  tool_assert_fails ("fit . -t y -o m.safetensors", NULL, 0, ".: Is a directory");
  tool_assert_fails ("fit - -t y -o m.safetensors", "", 0, "standard input: the file is empty");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/csv/forms", test_forms);
  g_test_add_func ("/tool/csv/header-quotes", test_header_quotes);
  g_test_add_func ("/tool/csv/errors", test_errors);
  g_test_add_func ("/tool/csv/unnamed", test_unnamed);
  g_test_add_func ("/tool/csv/numpy", test_numpy);
  g_test_add_func ("/tool/csv/many-columns", test_many_columns);
  g_test_add_func ("/tool/csv/blocks", test_blocks);
  g_test_add_func ("/tool/csv/long-cell", test_long_cell);
  g_test_add_func ("/tool/csv/files", test_files);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
