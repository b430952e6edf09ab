/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/table-test.h"
#include "tests/waiting.h"

#include <unistd.h>

#include <gio/gunixinputstream.h>

/* Which columns of a table are read, and as what. */

static void
count_calls (guint *n)
{
  ++*n;
}

static void
test_roles (void)
{
  const char *const targets[] = { "y", NULL };
  const char *const features[] = { "b", "a", NULL };
  const char *const left[] = { "a", "b", NULL };
  g_autoptr (AprTableReader) reader = reader_new ("a,y,name,w,b\n1,2,anna,3,4\n5,6,bert,7,8\n", -1);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weight = NULL;
  g_autoptr (AprTensor) expected_x = matrix_new (2, 2, (double[]){ 4, 1, 8, 5 });
  g_autoptr (AprTensor) expected_y = vector_new (2, (double[]){ 2, 6 });
  g_autoptr (AprTensor) expected_weight = vector_new (2, (double[]){ 3, 7 });
  GError *error = NULL;

  g_test_summary (
    "Features in the order that was asked for, one target as a vector, and columns of text passed over.");

  g_assert_true (apr_table_reader_read_names (reader, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((char **) apr_table_reader_get_names (reader)), ==, 5);
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_features (reader, features);
  apr_table_reader_set_weight (reader, "w");
  g_assert_true (apr_table_reader_read (reader, &x, &y, &weight, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (x, expected_x));
  g_assert_true (apr_tensor_equal (y, expected_y));
  g_assert_true (apr_tensor_equal (weight, expected_weight));
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 2);
  g_assert_cmpfloat (apr_table_reader_get_progress (reader), ==, 1);

  g_clear_object (&reader);
  reader = reader_new ("y,a,b,w\n1,2,3,4\n", -1);
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_weight (reader, "w");
  g_clear_pointer (&x, apr_tensor_unref);
  g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
  g_assert_cmpstrv (apr_table_reader_get_features (reader), left);
}

static void
test_two_roles (void)
{
  static const struct
  {
    const char *target;
    const char *weight;
    const char *feature;
    const char *message;
  } cases[] = {
    { "a", "a", "b", "data: the column “a” cannot be both a target and the weight" },
    { "a", NULL, "a", "data: the column “a” cannot be both a target and a feature" },
    { "a", "b", "b", "data: the column “b” cannot be both the weight and a feature" },
    { "a", "b", "b=c", "data: the column “b” cannot be both the weight and a feature" },
  };
  guint i;

  g_test_summary (
    "A message names both, as they may come from different places, such as a model and a person.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const targets[] = { cases[i].target, NULL };
      const char *const features[] = { cases[i].feature, NULL };
      g_autoptr (AprTableReader) reader = reader_new ("a,b\n1,2\n", -1);
      g_autoptr (GError) error = NULL;

      apr_table_reader_set_targets (reader, targets);
      apr_table_reader_set_weight (reader, cases[i].weight);
      apr_table_reader_set_features (reader, features);
      g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
      g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

static void
test_names_of_x (void)
{
  const char *targets[] = { "y", NULL };
  const char *expected[] = { "b", "a", NULL };
  g_autoptr (GInputStream) stream =
    g_memory_input_stream_new_from_data ("b,y,w,a\n1,2,3,4\n5,6,7,8\n", -1, NULL);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  guint n_notified = 0;

  g_test_summary ("The names of X's columns that were not chosen are told once, with the first rows.");
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_weight (reader, "w");
  g_signal_connect_swapped (reader, "notify::features", G_CALLBACK (count_calls), &n_notified);
  g_assert_null (apr_table_reader_get_features (reader));
  g_assert_true (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  g_assert_cmpstrv ((char **) apr_table_reader_get_features (reader), (char **) expected);
  g_assert_cmpuint (n_notified, ==, 1);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, NULL));
  g_assert_cmpuint (n_notified, ==, 1);
}

static void
test_unnamed (void)
{
  static const char text[] = ",b,y, ,\"\"\n0,1,2,x,\n1,5,6,,\n";
  static const char *const targets[] = { "y", NULL };
  static const char *const nothing[] = { "", NULL };
  static const char *const features[] = { "b", NULL };
  static const char *const names[] = { "", "b", "y", "", "", NULL };
  static const struct
  {
    const char *text;
    const char *message;
  } cases[] = {
    { ",b\n1,2\n", "data: no column “y”: there is only “b”" },
    { ",,\n1,2,3\n", "data: no column “y”: no column has a name" },
    { ",y\n1,2\n", "data: no column is left to be a feature: all that have a name are targets or weights" },
    { "b,y,\n1,2\n", "data:2: the row has 2 cells, but the header has 3 columns" },
    { "b,y,\n1,2,\"3\n", "data:2: column 3: the quote that opens a cell here is never closed" },
  };
  guint i;

  g_test_summary ("A column without a name is left out, whatever is in it, and cannot be chosen.");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprTableReader) reader = reader_new (text, -1);
      g_autoptr (GArray) values = NULL;
      GError *error = NULL;

      apr_table_reader_set_targets (reader, targets);
      apr_table_reader_set_features (reader, i == 0 ? NULL : features);
      values = read_all (reader, &error);
      g_assert_no_error (error);
      g_assert_cmpmem (values->data, values->len * sizeof (double), ((double[]){ 1, 5 }),
                       2 * sizeof (double));
      g_assert_cmpstrv (apr_table_reader_get_features (reader), features);
      g_assert_cmpstrv (apr_table_reader_get_names (reader), names);
    }
  for (i = 0; i < 4; i++)
    {
      g_autoptr (AprTableReader) reader = reader_new (text, -1);
      g_autoptr (GError) error = NULL;

      if (i == 0)
        apr_table_reader_set_features (reader, nothing);
      else if (i == 1)
        apr_table_reader_set_targets (reader, nothing);
      else if (i == 2)
        apr_table_reader_set_weight (reader, "");
      if (i < 3)
        g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
      else
        g_assert_null (apr_table_reader_read_categories (reader, nothing, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
      g_assert_cmpstr (error->message, ==, "data: no column “”: there are “b”, “y”");
    }
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTableReader) reader = reader_new (cases[i].text, -1);
      g_autoptr (GError) error = NULL;

      apr_table_reader_set_targets (reader, targets);
      g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
      g_assert_nonnull (error);
      g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

static void
test_late_choice (void)
{
  static const char *const targets[] = { "y", NULL };
  static const char *const a[] = { "a", NULL };
  static const char *const b[] = { "b", NULL };
  static const char *const properties[] = { "delimiter", "decimal-comma", "drop-missing",
                                            "features",  "targets",       "weight" };
  guint i;

  g_test_summary (
    "What is set too late is not ignored unseen: it stays as it was, and the next read says so.");

  for (i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      g_autoptr (AprTableReader) reader = reader_new ("y,a,b\n1,2,3\n4,5,6\n", -1);
      g_autoptr (AprTensor) x = NULL;
      GError *error = NULL;
      guint n_notified = 0;
      guint time;

      apr_table_reader_set_targets (reader, targets);
      apr_table_reader_set_features (reader, a);
      g_assert_true (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error));
      g_signal_connect_swapped (reader, "notify", G_CALLBACK (count_calls), &n_notified);

      /* The same again changes nothing. */
      apr_table_reader_set_delimiter (reader, NULL);
      apr_table_reader_set_decimal_comma (reader, FALSE);
      apr_table_reader_set_drop_missing (reader, FALSE);
      apr_table_reader_set_features (reader, apr_table_reader_get_features (reader));
      apr_table_reader_set_targets (reader, targets);
      apr_table_reader_set_weight (reader, NULL);
      g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
      g_assert_no_error (error);
      n_notified = 0;

      apr_table_reader_set_delimiter (reader, i == 0 ? ";" : NULL);
      apr_table_reader_set_decimal_comma (reader, i == 1);
      apr_table_reader_set_drop_missing (reader, i == 2);
      apr_table_reader_set_features (reader, i == 3 ? b : a);
      apr_table_reader_set_targets (reader, i == 4 ? NULL : targets);
      apr_table_reader_set_weight (reader, i == 5 ? "b" : NULL);
      g_assert_cmpuint (n_notified, ==, 0);
      g_assert_null (apr_table_reader_get_delimiter (reader));
      g_assert_false (apr_table_reader_get_decimal_comma (reader));
      g_assert_false (apr_table_reader_get_drop_missing (reader));
      g_assert_cmpstrv (apr_table_reader_get_features (reader), a);
      g_assert_cmpstrv (apr_table_reader_get_targets (reader), targets);
      g_assert_null (apr_table_reader_get_weight (reader));
      for (time = 0; time < 2; time++)
        {
          g_autofree char *text = g_strdup_printf ("the property “%s” was set after", properties[i]);

          g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
          g_assert_nonnull (strstr (error->message, text));
          g_clear_error (&error);
        }
    }
}

static void
test_truth (void)
{
  g_autoptr (AprTableReader) reader = reader_new ("a,b\n1,2\n", -1);
  guint n_notified = 0;

  g_test_summary ("Any number that is not 0 is true.");

  g_signal_connect_swapped (reader, "notify", G_CALLBACK (count_calls), &n_notified);
  apr_table_reader_set_drop_missing (reader, 1);
  apr_table_reader_set_drop_missing (reader, 2);
  g_assert_cmpint (apr_table_reader_get_drop_missing (reader), ==, TRUE);
  apr_table_reader_set_decimal_comma (reader, 2);
  apr_table_reader_set_decimal_comma (reader, 1);
  g_assert_cmpint (apr_table_reader_get_decimal_comma (reader), ==, TRUE);
  g_assert_cmpuint (n_notified, ==, 2);
}

static void
test_own_choice (void)
{
  static const char *const names[] = { "first column", "second column", "third column", NULL };
  g_autoptr (AprTableReader) reader = reader_new ("a,b\n1,2\n", -1);
  const char *targets[] = { NULL, NULL };

  g_test_summary ("A reader takes names, and ends of lists and of texts, that it returned itself.");

  apr_table_reader_set_features (reader, names);
  apr_table_reader_set_features (reader, apr_table_reader_get_features (reader) + 1);
  g_assert_cmpstrv (apr_table_reader_get_features (reader), names + 1);

  apr_table_reader_set_targets (reader, names);
  targets[0] = apr_table_reader_get_targets (reader)[1];
  apr_table_reader_set_targets (reader, targets);
  g_assert_cmpuint (g_strv_length ((char **) apr_table_reader_get_targets (reader)), ==, 1);
  g_assert_cmpstr (apr_table_reader_get_targets (reader)[0], ==, "second column");

  apr_table_reader_set_weight (reader, "the weight");
  apr_table_reader_set_weight (reader, apr_table_reader_get_weight (reader) + 4);
  g_assert_cmpstr (apr_table_reader_get_weight (reader), ==, "weight");

  apr_table_reader_set_delimiter (reader, ",;");
  apr_table_reader_set_delimiter (reader, apr_table_reader_get_delimiter (reader) + 1);
  g_assert_cmpstr (apr_table_reader_get_delimiter (reader), ==, ";");
}

static void
test_choice_after_names (void)
{
  static const char *const columns[] = { "a", NULL };
  g_autoptr (AprTableReader) reader = reader_new ("a;b\n1;2\n", -1);
  g_autoptr (AprTableReader) other = reader_new ("a;b\n1;2\n", -1);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  g_test_summary (
    "When the names are known the columns can still be chosen, but not what names were told apart by.");

  g_assert_true (apr_table_reader_read_names (reader, NULL, &error));
  apr_table_reader_set_features (reader, columns);
  apr_table_reader_set_drop_missing (reader, TRUE);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (values->len, ==, 1);

  g_assert_true (apr_table_reader_read_names (other, NULL, &error));
  apr_table_reader_set_delimiter (other, ",");
  g_assert_null (apr_table_reader_read_categories (other, columns, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "“delimiter”"));
  g_clear_error (&error);
  g_assert_false (apr_table_reader_read (other, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_clear_error (&error);
}

static void
choose_all (AprTableReader *reader)
{
  static const char *const columns[] = { "b", NULL };

  apr_table_reader_set_features (reader, columns);
  apr_table_reader_set_targets (reader, columns);
  apr_table_reader_set_weight (reader, "b");
  apr_table_reader_set_drop_missing (reader, TRUE);
  apr_table_reader_set_delimiter (reader, ";");
  apr_table_reader_set_decimal_comma (reader, TRUE);
}

static void
test_choice_while_reading (void)
{
  static const char text[] = "a,b,y\n1,2,3\n";
  static const char *const targets[] = { "y", NULL };
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  GError *error = NULL;
  int fds[2];

  g_test_summary (
    "What is chosen while a read is under way does not change it, and makes the next one fail.");

  g_assert_cmpint (pipe (fds), ==, 0);
  stream = g_unix_input_stream_new (fds[0], TRUE);
  reader = apr_table_reader_new (stream, "pipe");
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_read_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &result);
  choose_all (reader);
  apr_table_reader_set_targets (reader, targets);
  g_assert_cmpstrv (apr_table_reader_get_targets (reader), targets);
  g_assert_null (apr_table_reader_get_weight (reader));
  g_assert_null (apr_table_reader_get_delimiter (reader));
  g_assert_cmpint (write (fds[1], text, strlen (text)), ==, (gssize) strlen (text));
  g_assert_cmpint (close (fds[1]), ==, 0);
  wait_for (&result);
  /* Until it is finished, nothing is told of what has been read. */
  g_assert_null (apr_table_reader_get_features (reader));
  g_assert_null (apr_table_reader_get_names (reader));
  g_assert_cmpuint (apr_table_reader_get_n_rows (reader), ==, 0);
  g_assert_true (apr_table_reader_read_finish (reader, result, &x, &y, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (x, NULL)[1], ==, 2);
  g_assert_cmpuint (g_strv_length ((char **) apr_table_reader_get_features (reader)), ==, 2);

  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_true (g_str_has_prefix (error->message, "pipe: the property “"));
  g_clear_error (&error);
}

static void
test_choice_while_reading_names (void)
{
  static const char text[] = "a,b,y\n1,2,3\n";
  static const char *const targets[] = { "y", NULL };
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (AprTensor) y = NULL;
  GError *error = NULL;
  int fds[2];

  g_test_summary (
    "While names are read, it can be chosen how rows are made, but not how names are told apart.");

  g_assert_cmpint (pipe (fds), ==, 0);
  stream = g_unix_input_stream_new (fds[0], TRUE);
  reader = apr_table_reader_new (stream, "pipe");
  apr_table_reader_read_names_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &result);
  apr_table_reader_set_targets (reader, targets);
  g_assert_cmpstrv (apr_table_reader_get_targets (reader), targets);
  g_assert_cmpint (write (fds[1], text, strlen (text)), ==, (gssize) strlen (text));
  g_assert_cmpint (close (fds[1]), ==, 0);
  wait_for (&result);
  g_assert_true (apr_table_reader_read_names_finish (reader, result, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((char **) apr_table_reader_get_names (reader)), ==, 3);
  g_assert_true (apr_table_reader_read (reader, NULL, &y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (y);
}

static void
test_delimiter_while_reading_names (void)
{
  static const char text[] = "a;b\n1;2\n";
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;
  int fds[2];

  g_assert_cmpint (pipe (fds), ==, 0);
  stream = g_unix_input_stream_new (fds[0], TRUE);
  reader = apr_table_reader_new (stream, "pipe");
  apr_table_reader_read_names_async (reader, G_PRIORITY_DEFAULT, NULL, on_ready, &result);
  apr_table_reader_set_delimiter (reader, ",");
  g_assert_null (apr_table_reader_get_delimiter (reader));
  g_assert_cmpint (write (fds[1], text, strlen (text)), ==, (gssize) strlen (text));
  g_assert_cmpint (close (fds[1]), ==, 0);
  wait_for (&result);
  g_assert_true (apr_table_reader_read_names_finish (reader, result, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((char **) apr_table_reader_get_names (reader)), ==, 2);
  g_assert_false (apr_table_reader_read (reader, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "“delimiter”"));
  g_clear_error (&error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-choice/roles", test_roles);
  g_test_add_func ("/table-choice/two-roles", test_two_roles);
  g_test_add_func ("/table-choice/names-of-x", test_names_of_x);
  g_test_add_func ("/table-choice/unnamed", test_unnamed);
  g_test_add_func ("/table-choice/late", test_late_choice);
  g_test_add_func ("/table-choice/truth", test_truth);
  g_test_add_func ("/table-choice/own", test_own_choice);
  g_test_add_func ("/table-choice/after-names", test_choice_after_names);
  g_test_add_func ("/table-choice/while-reading", test_choice_while_reading);
  g_test_add_func ("/table-choice/while-reading-names", test_choice_while_reading_names);
  g_test_add_func ("/table-choice/delimiter-while-reading-names", test_delimiter_while_reading_names);

  return g_test_run ();
}
