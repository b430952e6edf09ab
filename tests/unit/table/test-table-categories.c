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
                   "data:3: column “color”: “NULL” stands for a missing number; 4 numbers are missing in all "
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
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GString) text = g_string_new ("color,size\n");
  GError *error = NULL;
  guint i;

  g_test_summary ("Texts that are not known, names that can mean two things, and too much of either.");

  assert_fails ("size,color\nL,red\nL,pink\n", names,
                "data:3: column “color”: “pink” is none of the 3 categories that are known");
  assert_fails ("size,color\nL,red\n,red\nL,\n", names,
                "data:3: column “size”: the cell is empty; 2 numbers are missing in all (drop-missing)");
  assert_fails ("a,a=b\n1,2\n", one, "data: “a=b=c” can be a category of “a” as well as of “a=b”");
  assert_fails ("a,c\n1,2\n", twice, "data: the column “a” is named twice");
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
  g_test_add_func ("/table-categories/missing", test_missing);
  g_test_add_func ("/table-categories/matrix", test_matrix);
  g_test_add_func ("/table-categories/errors", test_errors);
  g_test_add_func ("/table-categories/async", test_async);

  return g_test_run ();
}
