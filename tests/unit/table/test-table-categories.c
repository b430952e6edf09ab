/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

static AprTableReader *
reader_new (const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);

  return apr_table_reader_new (stream, "data");
}

static const char *const columns[] = { "color", "size", NULL };
static const char *const names[] = {
  "color=\xc3\xb6l", "color=blue", "color=red", "size=L", "size=a=b", NULL
};

static void
test_names (void)
{
  const char *const expected[] = { "color=blue", "color=red", "color=\xc3\xb6l", "size=L", "size=a=b", NULL };
  g_autoptr (AprTableReader) reader =
    reader_new ("x,color,size\n1,red,L\n?,\"blue\",a=b\n3, red ,L\n4,\xc3\xb6l,L\n");
  g_auto (GStrv) found = NULL;
  g_autoptr (GString) many = g_string_new ("color,size\n");
  GError *error = NULL;
  guint i;

  g_test_summary (
    "The different texts, sorted by their bytes; columns that are not asked for may hold anything.");

  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (found, expected);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_clear_error (&error);

  /* Several blocks, which have some in common. */
  for (i = 0; i < 200000; i++)
    g_string_append_printf (many, "c%u,s%u\n", i % 700, i / 50000);
  g_clear_object (&reader);
  g_clear_pointer (&found, g_strfreev);
  reader = reader_new (many->str);
  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (found), ==, 704);
  g_assert_cmpstr (found[0], ==, "color=c0");
  g_assert_cmpstr (found[703], ==, "size=s3");
}

static void
test_spaces (void)
{
  const char *const text =
    "color,size\n\" red\",L\nred,\"L\n\"\n red\t, L\n\"\tred \",\"\nL\"\n\" NA \",\" \"\n";
  const char *const expected[] = { "color=\tred ", "color= red", "color=red", "size=\nL",
                                   "size=L",       "size=L\n",   NULL };
  const char *const features[] = { "color=\tred ", "color= red", "color=red", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) matrix = matrix_new (4, 3, (double[]){ 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0 });
  g_auto (GStrv) found = NULL;
  GError *error = NULL;

  g_test_summary (
    "A text in quotes is kept as it is, unless it is nothing or a missing value with spaces around.");

  apr_table_reader_set_drop_missing (reader, TRUE);
  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (found, expected);
  g_clear_object (&reader);

  reader = reader_new (text);
  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_features (reader, features);
  g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (x, matrix));
}

static void
assert_reads_no_rows (AprTableReader *reader, const char *message)
{
  g_autoptr (GError) error = NULL;
  AprTensor *x = NULL;

  g_assert_false (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_null (x);
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 0);
}

static void
test_no_rows (void)
{
  const char *const none[] = { NULL };
  const char *const read = "data: categories have been read, and no rows: make another reader for these";
  const char *const many = "data: a column has more than the 10000 categories that are allowed";
  g_autoptr (AprTableReader) reader = reader_new ("color,size\nred,L\n");
  g_autoptr (GString) text = g_string_new ("color,size\n");
  g_auto (GStrv) found = NULL;
  GError *error = NULL;
  guint i;

  g_test_summary ("A reader of categories has no rows, whether it has found them or failed.");

  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  assert_reads_no_rows (reader, read);
  g_clear_object (&reader);
  g_clear_pointer (&found, g_strfreev);

  reader = reader_new ("color,size\nred,L\n");
  found = apr_table_reader_read_categories (reader, none, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (found), ==, 0);
  assert_reads_no_rows (reader, read);
  g_clear_object (&reader);

  /* More than are allowed, in several blocks. */
  for (i = 0; i < 30000; i++)
    g_string_append_printf (text, "c%u-%0200d,s\n", i % 12000, 0);
  reader = reader_new (text->str);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==, many);
  g_clear_error (&error);
  assert_reads_no_rows (reader, many);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_cmpstr (error->message, ==, many);
  g_clear_error (&error);
}

static void
test_missing (void)
{
  const char *const text = "color,size\nred,L\nNULL,L\nred,None\n\\N,L\nred,<NA>\nnil,S\n";
  const char *const expected[] = { "color=nil", "color=red", "size=L", "size=S", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text);
  g_auto (GStrv) found = NULL;
  GError *error = NULL;

  g_test_summary ("What stands for a missing value is no category.");

  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==,
                   "data:3: column “color”: “NULL” stands for a missing value; 4 cells are missing in all "
                   "(drop-missing)");
  g_clear_error (&error);

  g_clear_object (&reader);
  reader = reader_new (text);
  apr_table_reader_set_drop_missing (reader, TRUE);
  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (found, expected);
}

static void
test_rows_passed_over (void)
{
  const char *const text = "color,x,kind=a,kind,size,w,y,z\n"
                           "red,1,1,a,L,1,1,\n"
                           "blue,,1,a,M,1,1,1\n"
                           "green,1,1,a,S,1,NaN,1\n"
                           "white,1,1,a,S,,1,1\n"
                           "black,1,1,,XL,1,1,1\n"
                           "grey,1,NA,a,XS,1,1,1\n"
                           ",1,1,a,XXL,1,1,1\n"
                           "red,1,1,b,L,1,1,1\n"
                           "pink,?,?,a,L,?,?,?\n";
  const char *const all[] = { "color=black", "color=blue",  "color=green", "color=grey", "color=pink",
                              "color=red",   "color=white", "size=L",      "size=M",     "size=S",
                              "size=XL",     "size=XS",     NULL };
  const char *const kept[] = { "color=pink", "color=red", "size=L", NULL };
  const char *const features[] = { "color", "x", "kind=a", "kind=b", NULL };
  const char *const lacking[] = { "x", "v", NULL };
  const char *const targets[] = { "y", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text);
  g_auto (GStrv) found = NULL;
  GError *error = NULL;

  g_test_summary (
    "Rows that are passed over, as something else is missing that is needed, have no categories.");

  apr_table_reader_set_drop_missing (reader, TRUE);
  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (found, all);
  g_clear_pointer (&found, g_strfreev);
  g_clear_object (&reader);

  reader = reader_new (text);
  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_features (reader, features);
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_weight (reader, "w");
  found = apr_table_reader_read_categories (reader, columns, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (found, kept);
  g_clear_object (&reader);

  reader = reader_new (text);
  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_features (reader, lacking);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_clear_error (&error);
}

static void
test_unknown (void)
{
  const char *const text = "color,size,x\nred,L,1\npink,L,\nred,M,2\n";
  const char *const features[] = { "x", "color=red", "size=L", "size=M", NULL };
  g_autoptr (AprTableReader) reader = reader_new (text);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) expected = matrix_new (2, 4, (double[]){ 1, 1, 1, 0, 2, 1, 0, 1 });
  GError *error = NULL;

  g_test_summary ("A text without a feature is no error in a row that is passed over, but in any other.");

  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_features (reader, features);
  g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (x, expected));
  g_assert_cmpuint (apr_table_reader_get_n_dropped (reader), ==, 1);
  g_clear_object (&reader);

  reader = reader_new ("color,size,x\npink,L,\nred,L,1\npink,S,1\n");
  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_features (reader, features);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==,
                   "data:4: column “color”: “pink” is not the one category that is known");
  g_clear_error (&error);
}

static void
test_matrix (void)
{
  g_autoptr (AprTableReader) reader = reader_new ("size,x,color\nL,7,red\na=b,8,blue\n");
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) expected = matrix_new (2, 5, (double[]){ 0, 0, 1, 1, 0, 0, 1, 0, 0, 1 });
  GError *error = NULL;

  g_test_summary ("1 where a row has the category, in the order of the features; the other columns are 0.");

  apr_table_reader_set_features (reader, names);
  g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (x, expected));
}

#define MAX_NUMBERS (1 << 25)
#define N_MANY 1000

/* Rows whose numbers take much more memory than their text; a cell that is not read makes them as long as @pad. */
static char *
write_many (guint n_rows, int pad)
{
  GString *text = g_string_new ("c,y,pad\n");
  guint i;

  for (i = 0; i < n_rows; i++)
    g_string_append_printf (text, "c%u,%u,%*s\n%s", i % N_MANY, i, pad, "x", i % 100 == 0 ? "\n" : "");

  return g_string_free (text, FALSE);
}

static char **
name_many (void)
{
  char **features = g_new0 (char *, N_MANY + 1);
  guint i;

  for (i = 0; i < N_MANY; i++)
    features[i] = g_strdup_printf ("c=c%u", i);

  return features;
}

/* Reads batches up to the end, or an error, and looks at each. Returns: the number of rows */
static guint
read_many (AprTableReader *reader, gboolean dropped, GError **error)
{
  AprTensor *x;
  AprTensor *y;
  guint row = 0;

  while (apr_table_reader_read (reader, &x, &y, NULL, NULL, error))
    {
      g_autoptr (AprTensor) numbers =
        dropped ? apr_tensor_cast (apr_table_reader_get_row_numbers (reader), APR_DTYPE_F64, NULL) : NULL;
      const double *row_numbers = dropped ? apr_tensor_get_doubles (numbers, NULL, NULL) : NULL;
      gsize n_numbers;
      gsize n_rows;
      const double *values = apr_tensor_get_doubles (x, &n_numbers, NULL);
      const double *targets = apr_tensor_get_doubles (y, &n_rows, NULL);
      gsize i;

      g_assert_cmpuint (n_numbers, ==, n_rows * N_MANY);
      g_assert_cmpuint ((n_numbers + n_rows) * sizeof (double), <=, MAX_NUMBERS);
      for (i = 0; i < n_rows; i++, row++)
        {
          /* One in each thousand is dropped. */
          guint written = dropped ? row + row / (N_MANY - 1) + 1 : row;

          g_assert_cmpfloat (targets[i], ==, written);
          g_assert_cmpfloat (values[i * N_MANY + written % N_MANY], ==, 1);
          g_assert_cmpfloat (values[i * N_MANY + (written + 1) % N_MANY], ==, 0);
          if (dropped)
            g_assert_cmpfloat (row_numbers[i], ==, written);
        }
      apr_tensor_unref (x);
      apr_tensor_unref (y);
    }

  return row;
}

static AprTableReader *
reader_new_of_many (const char *text, const char *const *features, guint n_threads)
{
  const char *const targets[] = { "y", NULL };
  AprTableReader *reader = reader_new (text);

  apr_table_reader_set_features (reader, features);
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_n_threads (reader, n_threads);

  return reader;
}

static void
test_batches (void)
{
  static const int pads[] = { 1, 60 };
  static const guint threads[] = { 1, 3 };
  const guint n_rows = 30000;
  g_auto (GStrv) features = name_many ();
  GError *error = NULL;
  guint i;
  guint j;

  g_test_summary (
    "The numbers of a batch take 32 MB at most, however few bytes of text they are of: in a table that is "
    "read at once, and in one of several blocks. Lines and rows are counted as before.");

  for (i = 0; i < G_N_ELEMENTS (pads); i++)
    for (j = 0; j < G_N_ELEMENTS (threads); j++)
      {
        g_autofree char *text = write_many (n_rows, pads[i]);
        g_autofree char *wrong = g_strconcat (text, "c1,?,x\n", NULL);
        /* Lines are the header, the rows and the blank ones. */
        g_autofree char *message =
          g_strdup_printf ("data:%u: column “y”: “?” is not a number", n_rows + n_rows / 100 + 2);
        g_autoptr (AprTableReader) reader =
          reader_new_of_many (text, (const char *const *) features, threads[j]);

        g_assert_cmpuint (read_many (reader, FALSE, &error), ==, n_rows);
        g_assert_no_error (error);
        g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, n_rows);
        g_assert_cmpfloat (apr_table_reader_get_progress (reader), ==, 1);
        g_clear_object (&reader);

        reader = reader_new_of_many (wrong, (const char *const *) features, threads[j]);
        g_assert_cmpuint (read_many (reader, FALSE, &error), <=, n_rows);
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
        g_assert_cmpstr (error->message, ==, message);
        g_clear_error (&error);
        g_clear_object (&reader);

        /* A reader that is dropped while threads have more for it. */
        reader = reader_new_of_many (text, (const char *const *) features, threads[j]);
        g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
        g_assert_no_error (error);
      }
}

static void
test_dropped (void)
{
  const guint n_rows = 30000;
  g_auto (GStrv) features = name_many ();
  g_autofree char *text = write_many (n_rows, 60);
  g_auto (GStrv) parts = g_strsplit (text, "\nc0,", -1);
  g_autofree char *lacking = g_strjoinv ("\n,", parts);
  g_autoptr (AprTableReader) reader = reader_new_of_many (lacking, (const char *const *) features, 2);
  GError *error = NULL;

  g_test_summary (
    "Rows without a category are passed over, and the numbers of the others tell where they were.");

  apr_table_reader_set_drop_missing (reader, TRUE);
  g_assert_cmpuint (read_many (reader, TRUE, &error), ==, n_rows - n_rows / N_MANY);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_table_reader_get_n_dropped (reader), ==, n_rows / N_MANY);
}

static void
assert_fails (const char *text, const char *const *features, const char *message)
{
  g_autoptr (AprTableReader) reader = reader_new (text);
  g_autoptr (GError) error = NULL;

  apr_table_reader_set_features (reader, features);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_errors (void)
{
  const char *const one[] = { "a=b=c", NULL };
  const char *const twice[] = { "a=b", "a", NULL };
  const char *const same[] = { "a=b", "a=b", NULL };
  const char *const none[] = { "d=b", NULL };
  const char *const column[] = { "c=x", "c=z", NULL };
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GString) text = g_string_new ("color,size\n");
  GError *error = NULL;
  guint i;

  g_test_summary ("Texts that are not known, names that can mean two things, and too much of either.");

  assert_fails ("size,color\nL,red\nL,pink\n", names,
                "data:3: column “color”: “pink” is none of the 3 categories that are known");
  assert_fails ("size,color\nL,red\n,red\nL,\n", names,
                "data:3: column “size”: the cell is empty; 2 cells are missing in all (drop-missing)");
  assert_fails ("a,a=b\n1,2\n", one, "data: “a=b=c” can be a category of “a” as well as of “a=b”");
  assert_fails ("a,c\n1,2\n", twice, "data: the column “a” is named twice");
  assert_fails ("c,c=x\nx,1\nz,2\n", column,
                "data: “c=x” can be a category of “c” as well as the column “c=x”");
  reader = reader_new ("c,c=x,d\nx,1,x\n");
  g_assert_null (apr_table_reader_read_categories (reader, (const char *const[]){ "c", NULL }, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "data: “c=x” can be a category of “c” as well as the column “c=x”");
  g_clear_error (&error);
  g_clear_object (&reader);
  assert_fails ("a,c\n1,2\n", same, "data: the column “a=b” is named twice");
  reader = reader_new ("a,c\n1,2\n");
  apr_table_reader_set_features (reader, none);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_assert_cmpstr (error->message, ==, "data: no column “d=b”: there are “a”, “c”");
  g_clear_error (&error);
  g_clear_object (&reader);

  for (i = 0; i < 10001; i++)
    g_string_append_printf (text, "c%u,s\n", i);
  reader = reader_new (text->str);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_nonnull (strstr (error->message, "10000 categories"));
  g_clear_error (&error);
  g_clear_object (&reader);

  g_string_assign (text, "color,size\n");
  for (i = 0; i < 1025; i++)
    g_string_append_c (text, 'c');
  g_string_append (text, ",s\n");
  reader = reader_new (text->str);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, &error));
  g_assert_cmpstr (
    error->message, ==,
    "data:2: column “color”: a category of 1025 bytes is longer than the 1024 that are allowed");
  g_clear_error (&error);
}

static void
test_signs (void)
{
  const char *const features[] = { "\xc3\xbf=z", "===q", "a==", "ab=a=", "=a=x", "a=x", NULL };
  g_autofree char *signs = g_strnfill (16000000, '=');
  const char *const unknown[] = { signs, NULL };
  g_autoptr (AprTableReader) reader = reader_new ("a,=a,==,,ab,\xc3\xbf\n=,x,q,,a=,z\n");
  g_autoptr (AprTensor) expected = matrix_new (1, 6, (double[]){ 1, 1, 1, 1, 1, 0 });
  g_autoptr (AprTensor) x = NULL;
  GError *error = NULL;

  g_test_summary (
    "Columns and categories can have the sign that stands between them, and a name millions of it.");

  apr_table_reader_set_features (reader, features);
  g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (x, expected));
  g_clear_object (&reader);

  reader = reader_new ("a,=a\n1,2\n");
  apr_table_reader_set_features (reader, unknown);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_clear_error (&error);
}

static void
test_descending (void)
{
  const guint n = 2000000;
  g_autofree char *characters = g_malloc ((gsize) n * 10);
  g_autofree char **features = g_new0 (char *, n + 1);
  g_autoptr (AprTableReader) reader = reader_new ("c\nx\n");
  GError *error = NULL;
  guint i;

  g_test_summary (
    "Millions of categories in the opposite of their order are sorted at once; the last is there twice.");

  for (i = 0; i < n; i++)
    {
      features[i] = characters + (gsize) i * 10;
      g_snprintf (features[i], 10, "c=%07u", MAX (n - i, 2) - 1);
    }
  apr_table_reader_set_features (reader, (const char *const *) features);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "data: the column “c=0000001” is named twice");
  g_clear_error (&error);
}

static void
test_long (void)
{
  const guint n_rows = 1000000;
  g_autofree char *end = g_strnfill (32000000, 'x');
  g_autofree char *feature = g_strconcat ("c=", end, NULL);
  const char *const features[] = { feature, "c=a", "c=b", "c=y", NULL };
  g_autoptr (GString) text = g_string_new ("c\n");
  g_autoptr (AprTableReader) reader = NULL;
  AprTensor *x;
  GError *error = NULL;
  gsize row = 0;
  gsize i;

  g_test_summary ("A category of millions of bytes is not looked through for each short cell.");

  for (i = 0; i < n_rows; i++)
    g_string_append (text, i % 2 == 0 ? "a\n" : "b\n");
  reader = reader_new (text->str);
  apr_table_reader_set_features (reader, features);
  apr_table_reader_set_n_threads (reader, 1);
  while (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error))
    {
      gsize n;
      const double *values = apr_tensor_get_doubles (x, &n, NULL);

      for (i = 0; i < n; i++)
        {
          g_assert_cmpfloat (values[i], ==, i % 4 == 1 + row % 2);
          row += i % 4 == 3;
        }
      apr_tensor_unref (x);
    }
  g_assert_no_error (error);
  g_assert_cmpuint (row, ==, n_rows);
}

static void
take_names (GObject *reader, GAsyncResult *result, gpointer data)
{
  GError *error = NULL;

  *(char ***) data = apr_table_reader_read_categories_finish (APR_TABLE_READER (reader), result, &error);
  g_assert_no_error (error);
}

static void
test_async (void)
{
  g_autoptr (AprTableReader) reader = reader_new ("color,size\nred,L\n");
  g_auto (GStrv) found = NULL;

  apr_table_reader_read_categories_async (reader, columns, G_PRIORITY_DEFAULT, NULL, take_names, &found);
  g_assert_null (apr_table_reader_read_categories (reader, columns, NULL, NULL));
  while (found == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (g_strv_length (found), ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-categories/names", test_names);
  g_test_add_func ("/table-categories/spaces", test_spaces);
  g_test_add_func ("/table-categories/no-rows", test_no_rows);
  g_test_add_func ("/table-categories/missing", test_missing);
  g_test_add_func ("/table-categories/rows-passed-over", test_rows_passed_over);
  g_test_add_func ("/table-categories/unknown", test_unknown);
  g_test_add_func ("/table-categories/matrix", test_matrix);
  g_test_add_func ("/table-categories/batches", test_batches);
  g_test_add_func ("/table-categories/dropped", test_dropped);
  g_test_add_func ("/table-categories/errors", test_errors);
  g_test_add_func ("/table-categories/signs", test_signs);
  g_test_add_func ("/table-categories/descending", test_descending);
  g_test_add_func ("/table-categories/long", test_long);
  g_test_add_func ("/table-categories/async", test_async);

  return g_test_run ();
}
