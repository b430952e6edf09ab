/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>

#include "app/trendline-table.h"
#include "tests/apr-test.h"

/* What is shown of a table before it is fitted. */

static TrendlineTable *
load (const void *data, gsize length, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("trendline-XXXXXX", NULL);
  g_autoptr (GFile) file = g_file_new_build_filename (folder, "table", NULL);
  TrendlineTable *table;

  g_assert_true (g_file_set_contents (g_file_peek_path (file), data, (gssize) length, NULL));
  table = trendline_table_load (file, NULL, error);
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);

  return table;
}

/* A frame of zstd of one block that is stored as it is, without a checksum (RFC 8878). */
static void
append_frame (GByteArray *data, const char *text)
{
  const gsize length = strlen (text);
  const gsize block = length << 3 | 1;
  const guint8 header[] = {
    0x28,
    0xb5,
    0x2f,
    0xfd,
    0x20,
    (guint8) length,
    (guint8) block,
    (guint8) (block >> 8),
    (guint8) (block >> 16),
  };

  g_assert_cmpuint (length, <, 256);
  g_byte_array_append (data, header, sizeof header);
  g_byte_array_append (data, (const guint8 *) text, (guint) length);
}

static void
test_zstd (void)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();
  g_autoptr (TrendlineTable) table = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("The first rows of all frames of a file that is compressed by zstd.");
  append_frame (data, "x;name;y\n0,5;so");
  append_frame (data, "uth;1\n1,5;north;2\n2;north;3");
  table = load (data->data, data->len, &error);
#ifndef APR_ZSTD
  g_assert_error (error, TRENDLINE_TABLE_ERROR, TRENDLINE_TABLE_ERROR_FORMAT);
  g_test_skip ("aprender was built without zstd");
  return;
#endif
  g_assert_no_error (error);
  g_assert_cmpuint (trendline_table_get_n_rows (table), ==, 3);
  g_assert_cmpstr (trendline_table_get_cell (table, 0, 1), ==, "south");
  g_assert_cmpstr (trendline_table_get_cell (table, 2, 2), ==, "3");
  g_assert_true (trendline_table_get_decimal_comma (table));
  g_assert_true (trendline_column_get_is_text (trendline_table_find_column (table, "name")));
}

static void
assert_long_header (const void *data, gsize length, guint n_columns)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TrendlineTable) table = load (data, length, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (g_list_model_get_n_items (trendline_table_get_columns (table)), ==, n_columns);
  g_assert_cmpuint (trendline_table_get_n_rows (table), >=, 10);
  g_assert_cmpstr (trendline_table_get_cell (table, 9, n_columns - 1), ==, "text 9");
  g_assert_true (trendline_table_get_decimal_comma (table));
  g_assert_false (trendline_column_get_is_text (trendline_table_find_column (table, "the column 0")));
  g_assert_true (trendline_column_get_is_text (trendline_table_find_column (table, "name")));
}

static void
test_long_header (void)
{
  const guint n_columns = 7000;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GInputStream) plain = NULL;
  g_autoptr (GInputStream) compressed = NULL;
  g_autoptr (GOutputStream) output = g_memory_output_stream_new_resizable ();
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  guint i;
  guint j;

  g_test_summary ("A header of more than 64 KB has rows below it, also in a compressed file.");
  for (j = 0; j < n_columns - 1; j++)
    g_string_append_printf (text, "the column %u;", j);
  g_string_append (text, "name\n");
  g_assert_cmpuint (text->len, >, 64 * 1024);
  for (i = 0; i < 30; i++)
    {
      for (j = 0; j < n_columns - 1; j++)
        g_string_append_printf (text, "%u,5;", i);
      g_string_append_printf (text, "text %u\n", i);
    }
  assert_long_header (text->str, text->len, n_columns);

  plain = g_memory_input_stream_new_from_data (text->str, (gssize) text->len, NULL);
  compressed = g_converter_input_stream_new (plain, converter);
  g_assert_cmpint (
    g_output_stream_splice (output, compressed, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, NULL), >, 0);
  assert_long_header (g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (output)),
                      g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (output)), n_columns);
}

static void
test_line_ends (void)
{
  const char *const texts[] = { "a,\"b\"\r1,x\r3,\"y \"\"z\"\r",
                                "\xef\xbb\xbf\r\n\na,b\r\n 1 , x\r\n\r\n3,\"y \"\"z\"" };
  guint i;

  g_test_summary ("Rows are what a fit reads, whatever their lines end with.");
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (TrendlineTable) table = load (texts[i], strlen (texts[i]), &error);

      g_assert_no_error (error);
      g_assert_cmpuint (trendline_table_get_n_rows (table), ==, 2);
      g_assert_cmpstr (trendline_table_get_cell (table, 0, 0), ==, "1");
      g_assert_cmpstr (trendline_table_get_cell (table, 0, 1), ==, "x");
      g_assert_cmpstr (trendline_table_get_cell (table, 1, 1), ==, "y \"z");
    }
}

static void
test_decimal_comma (void)
{
  const struct
  {
    const char *text;
    gboolean decimal_comma;
  } cases[] = {
    { "a;b\n1,5;2\n", TRUE },   { "a;b\n1,5;2.5\n", FALSE },      { "a\tb\n1\t2,5\n", TRUE },
    { "a,b\n1,5\n", FALSE },    { "a,b\n\"1,500\",2\n", FALSE },  { "a;b\n1,x;2\n", FALSE },
    { "a;b;\n1,5;2;\n", TRUE }, { ";a\n\"1,5\";\"2\"\n", FALSE },
  };
  guint i;

  g_test_summary ("Commas are decimal ones where numbers have them, and nothing else is read otherwise.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (TrendlineTable) table = load (cases[i].text, strlen (cases[i].text), &error);

      g_assert_no_error (error);
      g_assert_cmpint (trendline_table_get_decimal_comma (table), ==, cases[i].decimal_comma);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/preview/line-ends", test_line_ends);
  g_test_add_func ("/preview/decimal-comma", test_decimal_comma);
  g_test_add_func ("/preview/zstd", test_zstd);
  g_test_add_func ("/preview/long-header", test_long_header);

  return g_test_run ();
}
