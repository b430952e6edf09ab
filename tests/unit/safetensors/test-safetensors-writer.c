/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/writer-test.h"

#include <glib/gstdio.h>
#include <string.h>

/* Fails unless the file is the header's length, the header, and the data. */
static void
assert_file (GBytes *file, const char *header, gconstpointer data, gsize size)
{
  gsize length = strlen (header);
  g_autoptr (GByteArray) expected = g_byte_array_new ();
  guint8 byte;
  guint i;

  for (i = 0; i < 8; i++)
    {
      byte = (guint8) ((guint64) length >> (8 * i));
      g_byte_array_append (expected, &byte, 1);
    }
  g_byte_array_append (expected, (const guint8 *) header, (guint) length);
  if (size > 0)
    g_byte_array_append (expected, data, (guint) size);
  g_assert_cmpmem (g_bytes_get_data (file, NULL), g_bytes_get_size (file), expected->data, expected->len);
}

static void
assert_written (AprSafetensorsWriter *writer, const char *header, gconstpointer data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) file = apr_safetensors_writer_write_to_bytes (writer, &error);

  g_assert_no_error (error);
  assert_file (file, header, data, size);
}

/* The same with the spaces that make the header a multiple of eight. */
static void
assert_padded (AprSafetensorsWriter *writer, const char *header, gconstpointer data, gsize size)
{
  g_autoptr (GString) padded = g_string_new (header);

  while (padded->len % 8 != 0)
    g_string_append_c (padded, ' ');
  assert_written (writer, padded->str, data, size);
}

static void
test_golden_alignment (void)
{
  g_autoptr (AprSafetensorsWriter) exact = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) padded = apr_safetensors_writer_new ();

  add (exact, "attn.0", APR_DTYPE_F32, SHAPE (1, 2, 3), zero_to_five, 24);
  assert_written (exact, "{\"attn.0\":{\"dtype\":\"F32\",\"shape\":[1,2,3],\"data_offsets\":[0,24]}}",
                  zero_to_five, 24);

  add (padded, "attn0", APR_DTYPE_F32, SHAPE (1, 1, 2, 3), zero_to_five, 24);
  assert_written (padded,
                  "{\"attn0\":{\"dtype\":\"F32\",\"shape\":[1,1,2,3],\"data_offsets\":[0,24]}}       ",
                  zero_to_five, 24);
}

static void
test_golden_fp4 (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  add (writer, "attn.0", APR_DTYPE_F4, SHAPE (1, 2), "", 1);
  assert_written (writer, "{\"attn.0\":{\"dtype\":\"F4\",\"shape\":[1,2],\"data_offsets\":[0,1]}}    ", "",
                  1);
}

static void
test_golden_empty (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  assert_written (writer, "{}      ", NULL, 0);
  set (writer, "framework", "pt");
  assert_written (writer, "{\"__metadata__\":{\"framework\":\"pt\"}}     ", NULL, 0);
}

static void
test_golden_test (void)
{
  static const char zeros[24];
  g_autoptr (AprSafetensorsWriter) one = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) with_metadata = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) two = apr_safetensors_writer_new ();
  g_autoptr (GBytes) file = NULL;

  add (one, "test", APR_DTYPE_I32, SHAPE (2, 2), zeros, 16);
  assert_written (one, "{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}    ", zeros,
                  16);
  file = apr_safetensors_writer_write_to_bytes (one, NULL);
  g_assert_cmpmem (g_bytes_get_data (file, NULL), 8, "@\0\0\0\0\0\0\0", 8);

  set (with_metadata, "framework", "pt");
  add (with_metadata, "test1", APR_DTYPE_I32, SHAPE (2, 2), zeros, 16);
  assert_written (with_metadata,
                  "{\"__metadata__\":{\"framework\":\"pt\"},"
                  "\"test1\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}} ",
                  zeros, 16);

  add (two, "test2", APR_DTYPE_F16, SHAPE (2, 2), zeros, 8);
  add (two, "test1", APR_DTYPE_I32, SHAPE (2, 2), zeros, 16);
  assert_written (two,
                  "{\"test1\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
                  "\"test2\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[16,24]}}      ",
                  zeros, 24);
}

static void
test_golden_values (void)
{
  static const char bf16[] = "\x10\x40\x80\x3f\x80\x3f\x80\x3f";
  static const char c64[] = "\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\xbf\0\0\x80\x3f";
  g_autoptr (AprSafetensorsWriter) halves = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsWriter) complex = apr_safetensors_writer_new ();

  add (halves, "test", APR_DTYPE_BF16, SHAPE (2, 2), bf16, 8);
  assert_written (halves, "{\"test\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}    ", bf16,
                  8);
  add (complex, "test", APR_DTYPE_C64, SHAPE (2, 2), c64, 32);
  assert_written (complex, "{\"test\":{\"dtype\":\"C64\",\"shape\":[2,2],\"data_offsets\":[0,32]}}    ", c64,
                  32);
}

static void
test_scalar_and_nothing (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  add (writer, "scalar", APR_DTYPE_U8, 0, NULL, "x", 1);
  add (writer, "none", APR_DTYPE_U8, SHAPE (2, 0), "", 0);
  add (writer, "", APR_DTYPE_U8, SHAPE (0), "", 0);
  assert_padded (writer,
                 "{\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                 "\"none\":{\"dtype\":\"U8\",\"shape\":[2,0],\"data_offsets\":[0,0]},"
                 "\"scalar\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
                 "x", 1);
}

static void
test_huge_dimension (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  g_test_summary ("json-glib's integers have a sign, dimensions have none.");

  if (GLIB_SIZEOF_SIZE_T < 8)
    return;
  add (writer, "-1", APR_DTYPE_U8, SHAPE (0, G_MAXSIZE, G_MAXSIZE / 2 + 1, G_MAXSIZE - 1234566), "", 0);
  assert_padded (
    writer,
    "{\"-1\":{\"dtype\":\"U8\",\"shape\":[0,18446744073709551615,9223372036854775808,18446744073708317049],"
    "\"data_offsets\":[0,0]}}",
    NULL, 0);
}

static void
test_order (void)
{
  /* From the format's first implementation. */
  static const char *const expected[] = {
    "U64", "I64", "F64",     "C64",         "F32",         "U32",     "I32",     "BF16",
    "F16", "U16", "I16",     "F8_E5M2FNUZ", "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3", "F8_E5M2",
    "I8",  "U8",  "F6_E3M2", "F6_E2M3",     "F4",          "BOOL",
  };
  static const char *const names[] = { "é", "a.2", "a", "_", "a.10", "B" };
  static const char *const sorted[] = { "B", "_", "a", "a.10", "a.2", "é" };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GString) header = g_string_new ("{");
  guint i, j;

  g_test_summary ("By dtype downwards and by the bytes of the name upwards, whatever order they come in.");

  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    for (j = 0; j < G_N_ELEMENTS (names); j++)
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *name = g_strdup_printf ("%s%s", expected[i], names[j]);
        AprDType dtype = APR_DTYPE_NONE;

        g_assert_true (apr_dtype_from_string (expected[i], &dtype, &error));
        add (writer, name, dtype, SHAPE (0), "", 0);
      }
  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    for (j = 0; j < G_N_ELEMENTS (sorted); j++)
      g_string_append_printf (header, "%s\"%s%s\":{\"dtype\":\"%s\",\"shape\":[0],\"data_offsets\":[0,0]}",
                              header->len > 1 ? "," : "", expected[i], sorted[j], expected[i]);
  g_string_append_c (header, '}');
  assert_padded (writer, header->str, NULL, 0);
}

/* What serde_json makes of each control character; the others stand for themselves. */
static const char *const escapes[] = {
  "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b",
  "\\t",     "\\n",     "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f", "\\u0010",
  "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018",
  "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
};

static void
test_escapes (void)
{
  guint c;

  for (c = 1; c < 128; c++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GString) header = g_string_new ("{\"__metadata__\":{\"");
      g_autoptr (GString) escaped = g_string_new (NULL);
      const char name[] = { (char) c, '\0' };

      if (c < 0x20)
        g_string_append (escaped, escapes[c - 1]);
      else if (c == '"' || c == '\\')
        g_string_append_printf (escaped, "\\%c", (int) c);
      else
        g_string_append_c (escaped, (char) c);
      g_string_append_printf (
        header, "%s\":\"%s%s\"},\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
        escaped->str, escaped->str, escaped->str, escaped->str);

      add (writer, name, APR_DTYPE_U8, SHAPE (0), "", 0);
      set (writer, name, ((char[]){ (char) c, (char) c, '\0' }));
      assert_padded (writer, header->str, NULL, 0);
    }
}

static void
test_awkward_names (void)
{
  static const struct
  {
    const char *name;
    const char *escaped;
  } cases[] = {
    { "\\u007f", "\\\\u007f" },
    { "\\\\u007f", "\\\\\\\\u007f" },
    { "\\\x7f", "\\\\\x7f" },
    { "\x7f\\", "\x7f\\\\" },
    { "\"-1\"", "\\\"-1\\\"" },
    { "-1", "-1" },
    { "\x1f\x7f\x1f", "\\u001f\x7f\\u001f" },
    { "a/b", "a/b" },
    { "é€😀", "é€😀" },
    { "\xe2\x80\xa8\xef\xbb\xbf\xc2\x80", "\xe2\x80\xa8\xef\xbb\xbf\xc2\x80" },
    { "{}:,[]", "{}:,[]" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (GBytes) file = NULL;
      g_autoptr (GString) header = g_string_new (NULL);

      g_string_printf (header, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                       cases[i].escaped);
      add (writer, cases[i].name, APR_DTYPE_U8, SHAPE (0), "", 0);
      assert_padded (writer, header->str, NULL, 0);

      file = apr_safetensors_writer_write_to_bytes (writer, NULL);
      reader = apr_safetensors_reader_new_from_bytes (file, NULL);
      g_assert_true (apr_safetensors_reader_has_tensor (reader, cases[i].name));
    }
}

static void
test_metadata (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  g_test_summary ("Sorted by bytes; the last value of a key counts.");

  set (writer, "é", "5");
  set (writer, "a.2", "old");
  set (writer, "a.10", "3");
  set (writer, "B", "1");
  set (writer, "a", "2");
  set (writer, "a.2", "4");
  set (writer, "", "0");
  assert_padded (
    writer,
    "{\"__metadata__\":{\"\":\"0\",\"B\":\"1\",\"a\":\"2\",\"a.10\":\"3\",\"a.2\":\"4\",\"é\":\"5\"}}", NULL,
    0);
}

static void
test_unportable_metadata (void)
{
  /* A long s is a small one in Unicode's case folding, and so for Ollama: tests/interop asks it. */
  const char *keys[] = { "dtype", "SHAPE", "Data_Offsets", "\xc5\xbfhape" };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_safetensors_writer_set_metadata (writer, keys[i], "", &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME);
      g_assert_nonnull (strstr (error->message, keys[i]));
      g_assert_nonnull (strstr (error->message, "Ollama"));
    }
  set (writer, "shapes", "1");
  set (writer, "aprender.dtype", "2");
  assert_padded (writer, "{\"__metadata__\":{\"aprender.dtype\":\"2\",\"shapes\":\"1\"}}", NULL, 0);

  g_assert_true (g_value_get_boolean (
    g_param_spec_get_default_value (g_object_class_find_property (G_OBJECT_GET_CLASS (writer), "portable"))));
  apr_safetensors_writer_set_portable (writer, FALSE);
  g_assert_false (apr_safetensors_writer_get_portable (writer));
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    set (writer, keys[i], "");
  apr_safetensors_writer_set_portable (writer, TRUE);
  assert_padded (writer,
                 "{\"__metadata__\":{\"Data_Offsets\":\"\",\"SHAPE\":\"\",\"aprender.dtype\":\"2\","
                 "\"dtype\":\"\",\"shapes\":\"1\",\"\xc5\xbf"
                 "hape\":\"\"}}",
                 NULL, 0);
}

static void
test_refused (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const float value = 1;
  const gsize shape[] = { 1 };
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_floats (&value, 1, shape, 1, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "w", tensor, &error));
  g_assert_false (apr_safetensors_writer_add_tensor (writer, "w", tensor, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE);
  g_assert_nonnull (strstr (error->message, "“w”"));
  g_clear_error (&error);
  g_assert_false (apr_safetensors_writer_add_tensor (writer, "__metadata__", tensor, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME);
  g_assert_nonnull (strstr (error->message, "“__metadata__”"));
  g_clear_error (&error);
  g_assert_false (apr_safetensors_writer_add_tensor (writer, "caf\xe9", tensor, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING);
  g_assert_nonnull (strstr (error->message, "caf"));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_clear_error (&error);
  g_assert_false (apr_safetensors_writer_set_metadata (writer, "k\xff", "v", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING);
  g_clear_error (&error);
  g_assert_false (apr_safetensors_writer_set_metadata (writer, "key", "\xff", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING);
  g_assert_nonnull (strstr (error->message, "“key”"));

  assert_padded (writer, "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "\0\0\x80\x3f",
                 4);
}

static void
test_header_too_large (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (folder, "file", NULL);
  g_autofree char *value = g_strnfill (100000000, 'a');
  g_autoptr (GBytes) file = NULL;
  g_autoptr (GError) error = NULL;

  set (writer, "k", value);
  g_assert_false (apr_safetensors_writer_write_to_path (writer, path, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, "100000032 bytes"));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_no_errno (g_rmdir (folder));

  /* {"__metadata__":{"k":""}} takes 25 bytes. */
  value[100000000 - 25] = '\0';
  set (writer, "k", value);
  g_clear_error (&error);
  file = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (file), ==, 100000008);
}

/* AddressSanitizer asks this, and would else end a program that asks for too much. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

static void
test_too_large (void)
{
  static const char byte;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;
  gsize n_bytes = G_MAXSIZE / 8;

  g_test_summary ("Tensors over memory that is not there: nothing may touch it.");

  if (GLIB_SIZEOF_SIZE_T < 8)
    return;
  tensor = apr_tensor_new_from_memory (APR_DTYPE_U8, &n_bytes, 1, &byte, n_bytes, NULL, NULL, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, "a", tensor, NULL);
  g_assert_null (apr_safetensors_writer_write_to_bytes (writer, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_clear_error (&error);
  apr_safetensors_writer_add_tensor (writer, "b", tensor, NULL);
  apr_safetensors_writer_add_tensor (writer, "c", tensor, NULL);
  apr_safetensors_writer_add_tensor (writer, "d", tensor, NULL);
  g_assert_null (apr_safetensors_writer_write_to_bytes (writer, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW);
  g_assert_nonnull (strstr (error->message, "“d” of 2305843009213693951 bytes"));
}

static void
test_hostile_names (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GBytes) file = NULL;
  const gsize shape[] = { 0 };
  char name[35] = "";
  guint i, j;

  g_test_summary ("These names collide in g_str_hash(): a table that uses it takes time with their square.");

  tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, nothing, NULL);
  for (i = 0; i < 65536; i++)
    {
      for (j = 0; j < 17; j++)
        memcpy (name + 2 * j, (i >> j & 1) != 0 ? "aa" : "b@", 2);
      g_assert_true (apr_safetensors_writer_add_tensor (writer, name, tensor, NULL));
    }
  file = apr_safetensors_writer_write_to_bytes (writer, NULL);
  g_assert_nonnull (file);
}

static guint n_warnings;

static GLogWriterOutput
count_warnings (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer user_data)
{
  gsize i;

  for (i = 0; i < n_fields; i++)
    if (g_str_equal (fields[i].key, "MESSAGE") &&
        strstr (fields[i].value, "invalid property id 99 for \"foreign\"") != NULL)
      {
        n_warnings++;
        return G_LOG_WRITER_HANDLED;
      }
  return g_log_writer_default (level, fields, n_fields, user_data);
}

static void
test_foreign_property (void)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GParamSpec) foreign =
    g_param_spec_ref_sink (g_param_spec_uint ("foreign", NULL, NULL, 0, 100, 0, G_PARAM_READWRITE));
  g_auto (GValue) value = G_VALUE_INIT;

  g_log_set_writer_func (count_warnings, NULL, NULL);
  g_value_init (&value, G_TYPE_UINT);
  g_value_set_uint (&value, 64);
  G_OBJECT_GET_CLASS (writer)->set_property (G_OBJECT (writer), 99, &value, foreign);
  g_assert_cmpuint (n_warnings, ==, 1);
  g_assert_cmpuint (apr_safetensors_writer_get_alignment (writer), ==, 8);
  g_assert_true (apr_safetensors_writer_get_durable (writer));
  G_OBJECT_GET_CLASS (writer)->get_property (G_OBJECT (writer), 99, &value, foreign);
  g_assert_cmpuint (n_warnings, ==, 2);
  g_assert_cmpuint (g_value_get_uint (&value), ==, 64);
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer n_notified)
{
  ++*(guint *) n_notified;
}

static void
test_properties (void)
{
  static const char *const flags[] = { "durable", "portable" };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  guint n_notified = 0;
  gboolean durable, portable;
  guint alignment, i;

  g_object_get (writer, "alignment", &alignment, "durable", &durable, "portable", &portable, NULL);
  g_assert_cmpuint (alignment, ==, 8);
  g_assert_true (durable);
  g_assert_true (portable);
  for (i = 0; i < G_N_ELEMENTS (flags); i++)
    g_assert_true (g_value_get_boolean (
      g_param_spec_get_default_value (g_object_class_find_property (G_OBJECT_GET_CLASS (writer), flags[i]))));
  g_signal_connect (writer, "notify", G_CALLBACK (count_notify), &n_notified);
  apr_safetensors_writer_set_alignment (writer, 8);
  apr_safetensors_writer_set_durable (writer, TRUE);
  apr_safetensors_writer_set_portable (writer, TRUE);
  g_assert_cmpuint (n_notified, ==, 0);
  g_object_set (writer, "alignment", 64, "durable", FALSE, "portable", FALSE, NULL);
  g_assert_cmpuint (n_notified, ==, 3);
  g_assert_cmpuint (apr_safetensors_writer_get_alignment (writer), ==, 64);
  g_assert_false (apr_safetensors_writer_get_durable (writer));
  g_object_set (writer, "alignment", 64, "durable", FALSE, "portable", FALSE, NULL);
  g_assert_cmpuint (n_notified, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/writer/golden/alignment", test_golden_alignment);
  g_test_add_func ("/safetensors/writer/golden/fp4", test_golden_fp4);
  g_test_add_func ("/safetensors/writer/golden/empty", test_golden_empty);
  g_test_add_func ("/safetensors/writer/golden/test", test_golden_test);
  g_test_add_func ("/safetensors/writer/golden/values", test_golden_values);
  g_test_add_func ("/safetensors/writer/scalar-and-nothing", test_scalar_and_nothing);
  g_test_add_func ("/safetensors/writer/huge-dimension", test_huge_dimension);
  g_test_add_func ("/safetensors/writer/order", test_order);
  g_test_add_func ("/safetensors/writer/escapes", test_escapes);
  g_test_add_func ("/safetensors/writer/awkward-names", test_awkward_names);
  g_test_add_func ("/safetensors/writer/metadata", test_metadata);
  g_test_add_func ("/safetensors/writer/unportable-metadata", test_unportable_metadata);
  g_test_add_func ("/safetensors/writer/refused", test_refused);
  g_test_add_func ("/safetensors/writer/header-too-large", test_header_too_large);
  g_test_add_func ("/safetensors/writer/too-large", test_too_large);
  g_test_add_func ("/safetensors/writer/hostile-names", test_hostile_names);
  g_test_add_func ("/safetensors/writer/foreign-property", test_foreign_property);
  g_test_add_func ("/safetensors/writer/properties", test_properties);

  return g_test_run ();
}
