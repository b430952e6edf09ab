/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/table-test.h"

static void
assert_converted (GConverter *converter)
{
  const char *const features[] = { "a", "b", NULL };
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) text = write_table (30000, expected);
  g_autoptr (GInputStream) plain = g_memory_input_stream_new_from_data (text->str, (gssize) text->len, NULL);
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (plain, converter);
  g_autoptr (AprTableReader) reader = apr_table_reader_new (stream, NULL);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  apr_table_reader_set_features (reader, features);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), expected->data,
                   expected->len * sizeof (double));
}

static void
test_gzip (void)
{
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr (AprTableReader) broken = reader_new ("\x1f\x8b\x08 this is no gzip", -1);
  GError *error = NULL;

  assert_converted (converter);
  g_assert_null (read_all (broken, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_true (g_str_has_prefix (error->message, "data: "));
  g_clear_error (&error);
}

static void
append_member (GByteArray *data, const char *text, gsize length)
{
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  guint8 member[256];
  gsize n_read;
  gsize n_written;
  GError *error = NULL;

  g_assert_cmpint (g_converter_convert (converter, text, length, member, sizeof member,
                                        G_CONVERTER_INPUT_AT_END, &n_read, &n_written, &error),
                   ==, G_CONVERTER_FINISHED);
  g_assert_no_error (error);
  g_byte_array_append (data, member, (guint) n_written);
}

static void
assert_numbers (const GByteArray *data, const double *expected, gsize n)
{
  g_autoptr (AprTableReader) reader = reader_new ((const char *) data->data, data->len);
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), expected, n * sizeof (double));
}

static void
test_gzip_members (void)
{
  static const char text[] = "a,b\n1,\"20\"\n-3.5,4\n";
  const gsize length = strlen (text);
  g_autoptr (GByteArray) many = g_byte_array_new ();
  gsize cut;

  g_test_summary ("A file of several members is all of them, wherever they end (RFC 1952, 2.2).");

  for (cut = 0; cut <= length; cut++)
    {
      g_autoptr (GByteArray) data = g_byte_array_new ();

      append_member (data, text, cut);
      append_member (data, "", 0);
      append_member (data, text + cut, length - cut);
      assert_numbers (data, (double[]){ 1, 20, -3.5, 4 }, 4);
      g_byte_array_append (data, (const guint8[3]){ 0 }, 3);
      assert_numbers (data, (double[]){ 1, 20, -3.5, 4 }, 4);
    }

  for (cut = 0; cut < length; cut++)
    append_member (many, text + cut, 1);
  assert_numbers (many, (double[]){ 1, 20, -3.5, 4 }, 4);
}

static void
test_gzip_many_members (void)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) text = write_table (20000, expected);
  const char *const features[] = { "a", "b", NULL };
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;
  gsize i;

  g_test_summary ("Members end wherever the buffers do.");

  for (i = 0; i < text->len; i += 97)
    append_member (data, text->str + i, MIN (97, text->len - i));
  reader = reader_new ((const char *) data->data, data->len);
  apr_table_reader_set_features (reader, features);
  values = read_all (reader, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), expected->data,
                   expected->len * sizeof (double));
}

static void
assert_refused (const void *data, gsize length, int code, const char *message)
{
  g_autoptr (AprTableReader) reader = reader_new (data, (gssize) length);
  GError *error = NULL;

  g_assert_null (read_all (reader, &error));
  g_assert_error (error, G_IO_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);
}

static void
test_gzip_broken (void)
{
  static const char cut_off[] = "data: the gzip data end in the middle of a member";
  static const char garbage[] = "data: what follows the gzip data is no gzip data itself";
  g_autoptr (GByteArray) data = g_byte_array_new ();
  gsize first;
  gsize length;

  append_member (data, "a,b\n1,2\n", 8);
  first = data->len;
  append_member (data, "3,4\n", 4);
  for (length = 2; length < data->len; length++)
    if (length == first + 1)
      assert_refused (data->data, length, G_IO_ERROR_INVALID_DATA, garbage);
    else if (length != first)
      assert_refused (data->data, length, G_IO_ERROR_INVALID_DATA, cut_off);

  data->data[first + 12] ^= 1;
  assert_refused (data->data, data->len, G_IO_ERROR_INVALID_DATA, "data: invalid gzip data");
  data->data[first + 12] ^= 1;
  g_byte_array_append (data, (const guint8 *) "\0\0x", 3);
  assert_refused (data->data, data->len, G_IO_ERROR_INVALID_DATA, garbage);
  data->data[data->len - 1] = 0x1f;
  assert_refused (data->data, data->len, G_IO_ERROR_INVALID_DATA, garbage);
}

static void
test_unsupported_compression (void)
{
  static const char xz[] = "\xfd"
                           "7zXZ\0\0\4";
  static const char bzip2[] = "BZh91AY&SY\x59\xcd";

  assert_refused (xz, sizeof xz - 1, G_IO_ERROR_NOT_SUPPORTED,
                  "data: the data are compressed by xz, which is not supported; gzip and zstd are");
  assert_refused (bzip2, sizeof bzip2 - 1, G_IO_ERROR_NOT_SUPPORTED,
                  "data: the data are compressed by bzip2, which is not supported; gzip and zstd are");
}

static void
test_other_formats (void)
{
  static const struct
  {
    const char *text;
    gsize length;
    const char *message;
  } cases[] = {
    { "PAR1\x15\x04\x15", 7, "data: this is a Parquet file, not a table in CSV" },
    { "ARROW1\0\0\xff", 9, "data: this is an Arrow file, not a table in CSV" },
    { "PK\3\4\x14", 5, "data: this is a zip archive, as .npz and .xlsx files are, not a table in CSV" },
    { "\x93NUMPY\1\0", 8, "data: this is an array of numpy's (.npy), not a table in CSV" },
    { "\x80\4\x95", 3, "data: this is a pickle of Python's, not a table in CSV" },
  };
  static const char *const tables[] = { "PAR1\n1\n", "PAR1,PAR2\n1,2\n", "ARROW1\n1\n", "PK,ARROW\n1,2\n" };
  gsize i;

  g_test_summary ("What begins as a file of another format is no table; a name alone makes it none.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, cases[i].length, G_IO_ERROR_NOT_SUPPORTED, cases[i].message);
  for (i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (AprTableReader) reader = reader_new (tables[i], -1);
      g_autoptr (GArray) values = NULL;
      GError *error = NULL;

      values = read_all (reader, &error);
      g_assert_no_error (error);
    }
}

/* "a,b\n1,2\n3,4\n" as a frame of one block that is stored as it is, without a checksum (RFC 8878). */
static const guint8 frame[] = {
  0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x0c, 0x61, 0x00, 0x00, 0x61, 0x2c,
  0x62, 0x0a, 0x31, 0x2c, 0x32, 0x0a, 0x33, 0x2c, 0x34, 0x0a,
};

static void
test_zstd (void)
{
  g_autoptr (AprTableReader) reader = NULL;
  g_autoptr (AprTableReader) cut = NULL;
  g_autoptr (GArray) values = NULL;
  GError *error = NULL;

  reader = reader_new ((const char *) frame, sizeof frame);
  values = read_all (reader, &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    {
      g_test_skip ("aprender was built without zstd");
      g_clear_error (&error);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpmem (values->data, values->len * sizeof (double), ((double[]){ 1, 2, 3, 4 }),
                   4 * sizeof (double));

  cut = reader_new ((const char *) frame, sizeof frame - 3);
  g_assert_null (read_all (cut, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-compression/gzip", test_gzip);
  g_test_add_func ("/table-compression/gzip/members", test_gzip_members);
  g_test_add_func ("/table-compression/gzip/many-members", test_gzip_many_members);
  g_test_add_func ("/table-compression/gzip/broken", test_gzip_broken);
  g_test_add_func ("/table-compression/zstd", test_zstd);
  g_test_add_func ("/table-compression/unsupported", test_unsupported_compression);
  g_test_add_func ("/table-compression/other-formats", test_other_formats);

  return g_test_run ();
}
