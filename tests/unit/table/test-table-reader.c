/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/table-test.h"
#include "tests/waiting.h"

#include <unistd.h>

#include <gio/gunixinputstream.h>

static void
test_decimal_comma (void)
{
  g_autoptr (AprTableReader) reader = reader_new ("a;b\n1,5;-2,25\n\"3\";,5e1\n", -1);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  g_test_summary ("As spreadsheets in half of Europe write them.");

  apr_table_reader_set_decimal_comma (reader, TRUE);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), ((double[]){ 1.5, -2.25, 3, 5 }),
                   4 * sizeof (double));
}

static void
test_quoted_decimal_comma (void)
{
  const char *const text = "a,b,c\n\"1,5\",2,x\n3,\"-0,25\" ,\"y,z\"\n\" 4 \",5e1,\"\"\n";
  const char *const features[] = { "a", "b", NULL };
  const double expected[] = { 1.5, 2, 3, -0.25, 4, 50 };
  g_autoptr (AprTableReader) reader = reader_new (text, -1);
  g_autoptr (AprTableReader) finding = reader_new (text, -1);
  g_autoptr (AprTableReader) points = reader_new ("a,b\n\"1,5\",2.5\n", -1);
  g_autoptr (AprTableReader) unquoted = reader_new ("a,b\n1,5,2\n", -1);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  g_test_summary (
    "Cells are separated by commas, and numbers with a comma are quoted, where both are asked for.");

  apr_table_reader_set_decimal_comma (reader, TRUE);
  apr_table_reader_set_delimiter (reader, ",");
  apr_table_reader_set_features (reader, features);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), expected, sizeof expected);

  /* As the comma may be that of thousands, it is not guessed. */
  apr_table_reader_set_decimal_comma (finding, TRUE);
  apr_table_reader_set_features (finding, features);
  g_assert_null (read_all (finding, &error));
  g_assert_cmpstr (
    error->message, ==,
    "data: no column “a”: there is only “a,b,c”; between cells, only semicolons and tabs are found, and "
    "others must be given (delimiter)");
  g_clear_error (&error);

  apr_table_reader_set_decimal_comma (points, TRUE);
  apr_table_reader_set_delimiter (points, ",");
  g_assert_null (read_all (points, &error));
  g_assert_cmpstr (error->message, ==, "data:2: column “b”: “2.5” is not a number");
  g_clear_error (&error);

  apr_table_reader_set_decimal_comma (unquoted, TRUE);
  apr_table_reader_set_delimiter (unquoted, ",");
  g_assert_null (read_all (unquoted, &error));
  g_assert_cmpstr (error->message, ==, "data:2: the row has 3 cells, but the header has 2 columns");
  g_clear_error (&error);
}

static void
assert_cells (AprTableReader *reader, guint64 max_rows, const char *expected)
{
  g_auto (GStrv) cells = apr_table_reader_peek_cells (reader, max_rows);
  g_autofree char *joined = cells != NULL ? g_strjoinv ("|", cells) : NULL;

  g_assert_cmpstr (joined, ==, expected);
}

static void
test_peek (void)
{
  static const char text[] = "a;;b\r 1 ;\"x;\"\"y\";\xff\r\r2;;\r3;4\r5;6;7\r";
  g_autoptr (AprTableReader) reader = reader_new (text, -1);
  g_autoptr (AprTableReader) blank = reader_new ("a,b\n\n", -1);
  g_autoptr (AprTableReader) unclosed = reader_new ("a,b\n1,2\n3,\"4\n", -1);
  g_autoptr (AprTensor) x = NULL;
  GError *error = NULL;

  g_test_summary ("The first rows can be looked at as they are written, and are read all the same.");

  assert_cells (reader, 9, NULL);
  g_assert_true (apr_table_reader_read_names (reader, NULL, &error));
  assert_cells (reader, 0, "");
  assert_cells (reader, 1, "1|x;\"y|\357\277\275");
  /* The third row has two cells. */
  assert_cells (reader, 9, "1|x;\"y|\357\277\275|2||");

  g_assert_true (apr_table_reader_read_names (blank, NULL, &error));
  assert_cells (blank, 9, "");
  g_assert_true (apr_table_reader_read_names (unclosed, NULL, &error));
  assert_cells (unclosed, 9, "1|2");

  apr_table_reader_set_features (reader, (const char *const[]){ "a", NULL });
  g_assert_false (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_nonnull (strstr (error->message, "2 cells"));
  g_clear_error (&error);
  assert_cells (reader, 9, NULL);
}

static void
test_delimiter (void)
{
  static const char *const refused[] = { "", "ab", "\"", "1", ".", "é", "-", "\n" };
  g_autoptr (AprTableReader) reader = reader_new ("a|b,c\n1|2\n", -1);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;
  guint i;

  apr_table_reader_set_delimiter (reader, "|");
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (values->len, ==, 2);
  g_assert_cmpstr (apr_table_reader_get_names (reader)[1], ==, "b,c");

  for (i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (AprTableReader) other = reader_new ("a\n1\n", -1);

      apr_table_reader_set_delimiter (other, refused[i]);
      g_assert_false (apr_table_reader_read_names (other, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
      g_clear_error (&error);
    }
}

static void
test_blocks (void)
{
  const char *const features[] = { "a", "b", NULL };
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) text = write_table (150000, expected);
  guint n_threads;

  g_test_summary ("Quotes and line ends fall across the ends of blocks; threads do not show.");

  for (n_threads = 1; n_threads <= 3; n_threads++)
    {
      g_autoptr (AprTableReader) reader = reader_new (text->str, (gssize) text->len);
      g_autoptr (GArray) values = NULL;
      GError *error = NULL;

      apr_table_reader_set_n_threads (reader, n_threads);
      apr_table_reader_set_features (reader, features);
      values = read_all (reader, &error);
      g_assert_no_error (error);
      g_assert_cmpmem (values->data, values->len * sizeof (double), expected->data,
                       expected->len * sizeof (double));
      g_assert_cmpuint (apr_table_reader_get_n_bytes (reader), ==, text->len);
    }
}

static void
test_line_of_error (void)
{
  g_autoptr (GString) text = g_string_new ("a,b\n");
  g_autoptr (AprTableReader) reader = NULL;
  GError *error = NULL;
  guint i;

  g_test_summary (
    "Lines are counted across blocks, and the first error is told, whichever thread finds one first.");

  for (i = 0; i < 400000; i++)
    g_string_append_printf (text, "%u,\"%u\"\r\n", i, i);
  g_string_append (text, "1,x\n");
  for (i = 0; i < 400000; i++)
    g_string_append (text, "y,1\n");
  reader = reader_new (text->str, (gssize) text->len);
  g_assert_null (read_all (reader, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==, "data:400002: column “b”: “x” is not a number");
  g_clear_error (&error);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_cmpstr (error->message, ==, "data:400002: column “b”: “x” is not a number");
  g_clear_error (&error);
}

/* So many bytes, of which no cell ends behind @beginning. */
static char *
begin_with (const char *beginning, gsize size)
{
  char *text = g_strnfill (size, 'x');

  memcpy (text, beginning, strlen (beginning));

  return text;
}

static void
test_hostile (void)
{
  gsize size = 5 << 20;
  g_autofree char *zeros = g_malloc0 (size);
  g_autofree char *quotes = g_strnfill (size, '"');
  g_autofree char *second = begin_with ("a,", size);
  g_autofree char *cell = begin_with ("a,b\n1,2\n3,", size);
  g_autofree char *lines = begin_with ("a,b\n1,2\n\"\n3\",\"\n", size);
  const struct
  {
    const char *text;
    gsize length;
    const char *message;
  } cases[] = {
    { zeros, size, "data:1: the name of column 1 is longer than the 1048576 bytes that are allowed" },
    { quotes, size, "data:1: the name of column 1 is longer than the 1048576 bytes that are allowed" },
    { second, size, "data:1: the name of column 2 is longer than the 1048576 bytes that are allowed" },
    { cell, size, "data:3: column “b”: a cell is longer than the 1048576 bytes that are allowed" },
    { lines, size, "data:4: column “b”: a cell is longer than the 1048576 bytes that are allowed" },
    { "a\n\"", 3, "data:2: column “a”: the quote that opens a cell here is never closed" },
  };
  guint i;

  g_test_summary ("What would take memory without end is refused.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTableReader) reader = reader_new (cases[i].text, (gssize) cases[i].length);
      GError *error = NULL;

      g_assert_null (read_all (reader, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_assert_cmpstr (error->message, ==, cases[i].message);
      g_clear_error (&error);
    }
}

static void
test_missing_words (void)
{
  const char *const missing[] = { "",     "NA",   "na",       "N/A",    "n/a",  "NaN",      "nan",
                                  "NAN",  "#N/A", "<NA>",     "NULL",   "Null", "null",     "\\N",
                                  "None", "none", "\"NULL\"", " null ", "-nan", "\" NA\n\"" };
  const char *const wrong[] = { "\\n", "N", "-", "nul", "nulls", "#NULL", "?", "NA NA", "<na", "nil" };
  guint i;

  g_test_summary (
    "What R, pandas, databases and spreadsheets write is missing; whatever else is no number is wrong.");

  for (i = 0; i < G_N_ELEMENTS (missing) + G_N_ELEMENTS (wrong); i++)
    {
      gboolean is_missing = i < G_N_ELEMENTS (missing);
      const char *word = is_missing ? missing[i] : wrong[i - G_N_ELEMENTS (missing)];
      g_autofree char *text = g_strdup_printf ("a,b\n1,2\n%s,4\n5,6\n", word);
      g_autoptr (AprTableReader) reader = reader_new (text, -1);
      g_autoptr (AprTableReader) counting = reader_new (text, -1);
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", word);
      apr_table_reader_set_drop_missing (reader, TRUE);
      g_assert_cmpint (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error), ==, is_missing);
      g_assert_cmpuint (apr_table_reader_get_n_dropped (reader), ==, is_missing ? 1 : 0);
      g_assert_true (is_missing ? apr_tensor_get_shape (x, NULL)[0] == 2
                                : g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA));

      g_assert_false (apr_table_reader_read (counting, NULL, NULL, NULL, NULL, NULL));
      g_assert_cmpuint (apr_table_reader_get_n_missing (counting), ==, is_missing ? 1 : 0);
    }
}

static void
test_row_numbers (void)
{
  g_autoptr (AprTableReader) reader = reader_new ("a,b\n1,\n2,3\n\nNA,4\n5,6\n7,8\n,\n", -1);
  g_autoptr (AprTableReader) all = reader_new ("a\n1\n", -1);
  const gint64 expected[] = { GINT64_TO_LE (1), GINT64_TO_LE (3), GINT64_TO_LE (4) };
  AprTensor *numbers;
  GError *error = NULL;

  g_test_summary ("Rows that are passed over count; a blank line is no row.");

  apr_table_reader_set_drop_missing (reader, TRUE);
  g_assert_null (apr_table_reader_get_row_numbers (reader));
  g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  numbers = apr_table_reader_get_row_numbers (reader);
  g_assert_cmpint (apr_tensor_get_dtype (numbers), ==, APR_DTYPE_I64);
  g_assert_cmpmem (g_bytes_get_data (apr_tensor_get_bytes (numbers), NULL),
                   g_bytes_get_size (apr_tensor_get_bytes (numbers)), expected, sizeof expected);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_null (apr_table_reader_get_row_numbers (reader));
  g_assert_cmpuint (apr_table_reader_get_n_dropped (reader), ==, 3);

  g_assert_true (apr_table_reader_read (all, NULL, NULL, NULL, NULL, &error));
  g_assert_null (apr_table_reader_get_row_numbers (all));
}

static void
test_row_numbers_while_reading (void)
{
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  AprTensor *numbers = NULL;
  GError *error = NULL;
  guint i;

  g_test_summary ("The numbers are those of the last read until the next one is finished.");

  reader = reader_new ("a,b\n1,\n2,3\n", -1);
  apr_table_reader_set_drop_missing (reader, TRUE);
  for (i = 0; i < 2; i++)
    {
      apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &result);
      wait_for (&result);
      g_assert_true (apr_table_reader_get_row_numbers (reader) == numbers);
      g_assert_true (apr_table_reader_read_finish (reader, result, NULL, NULL, NULL, &error) == (i == 0));
      g_assert_no_error (error);
      g_clear_object (&result);
      numbers = apr_table_reader_get_row_numbers (reader);
      g_assert_true ((numbers != NULL) == (i == 0));
    }
}

static void
test_row_numbers_of_blocks (void)
{
  g_autoptr (GString) text = g_string_new ("a,b\n");
  g_autoptr (AprTableReader) reader = NULL;
  gint64 row = 0;
  GError *error = NULL;
  guint n_batches = 0;
  guint i;

  g_test_summary ("The numbers go on from block to block; b is the number of its row.");

  for (i = 0; i < 200000; i++)
    g_string_append_printf (text, "%s,%u\n", i % 7 == 3 || (i > 50000 && i < 120000) ? "" : "1.5", i);
  reader = reader_new (text->str, (gssize) text->len);
  apr_table_reader_set_drop_missing (reader, TRUE);
  for (;;)
    {
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) numbers = NULL;
      gsize n;
      gsize j;

      if (!apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error))
        break;
      n = apr_tensor_get_shape (x, NULL)[0];
      n_batches++;
      g_assert_cmpuint (apr_tensor_get_n_elements (apr_table_reader_get_row_numbers (reader)), ==, n);
      numbers = apr_tensor_cast (apr_table_reader_get_row_numbers (reader), APR_DTYPE_F64, &error);
      for (j = 0; j < n; j++)
        {
          g_assert_cmpfloat (apr_tensor_get_double (numbers, j, NULL), ==,
                             apr_tensor_get_double (x, 2 * j + 1, NULL));
          row = (gint64) apr_tensor_get_double (numbers, j, NULL);
        }
    }
  g_assert_no_error (error);
  g_assert_cmpint (row, ==, 199999);
  g_assert_cmpuint (n_batches, >, 1);
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  (*(guint *) data)++;
}

static void
test_async (void)
{
  static const char text[] = "a,y\n1,2\n3,4\n";
  const char *const targets[] = { "y", NULL };
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autoptr (GAsyncResult) third = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  AprTensor *none;
  GError *error = NULL;
  guint n_notifies = 0;
  int fds[2];

  g_test_summary ("One read at a time; rows, then none. The first waits until the second has been refused.");

  g_assert_cmpint (pipe (fds), ==, 0);
  stream = g_unix_input_stream_new (fds[0], TRUE);
  reader = apr_table_reader_new (stream, NULL);

  apr_table_reader_set_targets (reader, targets);
  g_signal_connect (reader, "notify::n-rows", G_CALLBACK (count_notify), &n_notifies);
  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &first);
  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &second);
  wait_for (&second);
  g_assert_null (first);
  g_assert_cmpint (write (fds[1], text, strlen (text)), ==, (gssize) strlen (text));
  g_assert_cmpint (close (fds[1]), ==, 0);
  wait_for (&first);
  g_assert_true (apr_table_reader_read_finish (reader, first, &x, &y, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (x, NULL)[0], ==, 2);
  g_assert_cmpuint (apr_tensor_get_n_dims (y), ==, 1);
  g_assert_cmpuint (n_notifies, ==, 1);
  g_assert_false (apr_table_reader_read_finish (reader, second, &none, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_assert_null (none);
  g_clear_error (&error);

  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &third);
  wait_for (&third);
  g_assert_false (apr_table_reader_read_finish (reader, third, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
test_finish_is_misused (void)
{
  const char *const columns[] = { "a", NULL };
  g_autoptr (AprTableReader) reader = reader_new ("a,b\n1,2\n", -1);
  g_autoptr (AprTableReader) other = reader_new ("a,b\nx,2\n", -1);
  AprTensor *none;
  GAsyncResult *results[3] = { NULL };
  GError *error = NULL;
  guint i;

  g_test_summary ("The result of another call or reader fails, and the right one is still there.");

  apr_table_reader_read_categories_async (other, columns, G_PRIORITY_DEFAULT, NULL, on_ready, &results[2]);
  apr_table_reader_read_names_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &results[0]);
  wait_for (&results[0]);
  wait_for (&results[2]);
  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &results[1]);
  wait_for (&results[1]);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    {
      if (i != 0)
        {
          g_assert_false (apr_table_reader_read_names_finish (reader, results[i], &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
          g_clear_error (&error);
        }
      if (i != 1)
        {
          g_assert_false (apr_table_reader_read_finish (reader, results[i], &none, NULL, NULL, &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
          g_assert_null (none);
          g_clear_error (&error);
        }
      g_assert_null (apr_table_reader_read_categories_finish (reader, results[i], &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
      g_clear_error (&error);
    }
  g_assert_true (apr_table_reader_read_names_finish (reader, results[0], &error));
  g_assert_true (apr_table_reader_read_finish (reader, results[1], NULL, NULL, NULL, &error));
  g_assert_false (apr_table_reader_read_finish (reader, results[1], &none, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_null (none);
  g_clear_error (&error);
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 1);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

static void
test_left_early (void)
{
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) text = write_table (150000, expected);
  const char *const features[] = { "a", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text->str, (gssize) text->len);

  g_test_summary ("A reader that is dropped while its thread reads ahead takes nothing with it.");

  apr_table_reader_set_features (reader, features);
  g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
}

/* Of a file that is there, and empty. */
static char *
make_path (void)
{
  char *path = NULL;
  int fd = g_file_open_tmp ("aprender-XXXXXX.csv", &path, NULL);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (close (fd), ==, 0);

  return path;
}

static void
test_file (void)
{
  g_autofree char *path = make_path ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFile) missing = g_file_new_for_path ("/nonexistent/table.csv");
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GInputStream) wrong = NULL;
  GError *error = NULL;

  g_assert_null (apr_table_reader_new_for_file (missing, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "/nonexistent/table.csv"));
  g_clear_error (&error);

  g_assert_true (g_file_set_contents (path, "a\n1\n2\nx\n", -1, NULL));
  reader = apr_table_reader_new_for_file (file, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_true (g_str_has_prefix (error->message, path));
  g_clear_error (&error);
  g_object_get (reader, "stream", &wrong, NULL);
  g_assert_true (g_input_stream_is_closed (wrong));
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_true (g_str_has_prefix (error->message, path));
  g_clear_error (&error);
  g_assert_finalize_object (g_steal_pointer (&reader));

  /* At its end the file is closed, as where it is wrong, however long the reader lives. */
  g_assert_true (g_file_set_contents (path, "a\n1\n2\n", -1, NULL));
  reader = apr_table_reader_new_for_file (file, NULL, &error);
  g_object_get (reader, "stream", &stream, NULL);
  while (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error))
    g_assert_false (g_input_stream_is_closed (stream));
  g_assert_no_error (error);
  g_assert_true (g_input_stream_is_closed (stream));
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_delete (file, NULL, NULL));
}

static void
test_progress (void)
{
  g_autofree char *path = make_path ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) text = write_table (150000, expected);
  const char *const features[] = { "a", NULL };
  g_autoptr (GFileInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;

  g_test_summary ("A reader of a file that is made by its properties alone knows how much of it is read.");
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
  stream = g_file_read (file, NULL, NULL);
  reader = g_object_new (APR_TYPE_TABLE_READER, "stream", stream, NULL);
  apr_table_reader_set_features (reader, features);
  g_assert_cmpfloat (apr_table_reader_get_progress (reader), ==, 0);
  g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  g_assert_cmpfloat (apr_table_reader_get_progress (reader), >, 0);
  g_assert_cmpfloat (apr_table_reader_get_progress (reader), <=, 1);
  g_assert_true (g_file_delete (file, NULL, NULL));
}

static void
note_name (GObject *object, GParamSpec *pspec, gpointer names)
{
  g_ptr_array_add (names, (gpointer) pspec->name);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Forgets them. */
static void
assert_notified (GPtrArray *names, const char *expected)
{
  g_autofree char *joined = NULL;

  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  joined = g_strjoinv (" ", (char **) names->pdata);
  g_assert_cmpstr (joined, ==, expected);
  g_ptr_array_set_size (names, 0);
}

static void
test_notify (void)
{
  static const char text[] = "a,b\n1,2\n3,4\n";
  const char *const columns[] = { "a", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text, -1);
  g_autoptr (AprTableReader) dropping = reader_new ("a,b\n1,2\nNA,4\n", -1);
  g_autoptr (AprTableReader) wrong = reader_new ("a,b\n1,NA\n", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  guint i;

  g_test_summary ("A read notifies the properties that it changes, and no others.");

  g_signal_connect (reader, "notify", G_CALLBACK (note_name), names);
  g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "features n-bytes n-rows names");
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "progress");
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "");

  apr_table_reader_set_drop_missing (dropping, TRUE);
  g_assert_true (apr_table_reader_read_names (dropping, NULL, NULL));
  g_signal_connect (dropping, "notify", G_CALLBACK (note_name), names);
  g_assert_true (apr_table_reader_read (dropping, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "features n-bytes n-dropped n-rows row-numbers");
  g_assert_false (apr_table_reader_read (dropping, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "progress row-numbers");

  g_signal_connect (wrong, "notify", G_CALLBACK (note_name), names);
  g_assert_false (apr_table_reader_read (wrong, NULL, NULL, NULL, NULL, NULL));
  assert_notified (names, "features n-bytes n-missing names progress");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprTableReader) collecting = reader_new (text, -1);
      g_autoptr (GAsyncResult) result = NULL;
      g_auto (GStrv) found = NULL;

      g_signal_connect (collecting, "notify", G_CALLBACK (note_name), names);
      if (i == 0)
        found = apr_table_reader_read_categories (collecting, columns, NULL, NULL);
      else
        {
          apr_table_reader_read_categories_async (collecting, columns, G_PRIORITY_DEFAULT, NULL, on_ready,
                                                  &result);
          wait_for (&result);
          assert_notified (names, "");
          found = apr_table_reader_read_categories_finish (collecting, result, NULL);
        }
      g_assert_cmpuint (g_strv_length (found), ==, 2);
      assert_notified (names, "n-bytes names progress");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-reader/decimal-comma", test_decimal_comma);
  g_test_add_func ("/table-reader/quoted-decimal-comma", test_quoted_decimal_comma);
  g_test_add_func ("/table-reader/peek", test_peek);
  g_test_add_func ("/table-reader/delimiter", test_delimiter);
  g_test_add_func ("/table-reader/blocks", test_blocks);
  g_test_add_func ("/table-reader/line-of-error", test_line_of_error);
  g_test_add_func ("/table-reader/hostile", test_hostile);
  g_test_add_func ("/table-reader/missing-words", test_missing_words);
  g_test_add_func ("/table-reader/row-numbers", test_row_numbers);
  g_test_add_func ("/table-reader/row-numbers/while-reading", test_row_numbers_while_reading);
  g_test_add_func ("/table-reader/row-numbers/blocks", test_row_numbers_of_blocks);
  g_test_add_func ("/table-reader/async", test_async);
  g_test_add_func ("/table-reader/notify", test_notify);
  g_test_add_func ("/table-reader/finish-is-misused", test_finish_is_misused);
  g_test_add_func ("/table-reader/left-early", test_left_early);
  g_test_add_func ("/table-reader/file", test_file);
  g_test_add_func ("/table-reader/progress", test_progress);

  return g_test_run ();
}
