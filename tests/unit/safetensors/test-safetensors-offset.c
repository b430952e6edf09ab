/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/index-test.h"

#include <unistd.h>

/* At which byte of a file an error is. The offsets are counted by hand. */

#define ENTRY(name, shape, begin, end) \
 "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"

static void
assert_offset (const GError *error, guint64 expected)
{
  guint64 offset = 12345;

  g_assert_nonnull (error);
  if (!apr_safetensors_error_get_offset (error, &offset) || offset != expected)
    g_error ("“%s” is at %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, error->message, offset, expected);
  g_assert_true (apr_safetensors_error_get_offset (error, NULL));
}

static void
test_headers (void)
{
  static const struct
  {
    const char *header;
    gsize n_bytes;
    AprSafetensorsError code;
    guint64 offset;
  } cases[] = {
    { "{\"a\";{}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, 8 + 4 },
    { "{\"\xff\":{}}", 0, APR_SAFETENSORS_ERROR_ENCODING, 8 + 2 },
    { "{\"a\":{\"dtype\":\"U7\",\"shape\":[],\"data_offsets\":[0,0]}}", 0, APR_SAFETENSORS_ERROR_DTYPE,
      8 + 18 },
    /* Each header of one entry has 53 bytes, and one of two has 105. */
    { "{" ENTRY ("a", "2", "1", "3") "}", 3, APR_SAFETENSORS_ERROR_GAP, 8 + 53 },
    { "{" ENTRY ("a", "2", "0", "2") "," ENTRY ("b", "2", "3", "5") "}", 5, APR_SAFETENSORS_ERROR_GAP,
      8 + 105 + 2 },
    { "{" ENTRY ("a", "3", "0", "3") "," ENTRY ("b", "2", "1", "3") "}", 3, APR_SAFETENSORS_ERROR_OVERLAP,
      8 + 105 + 1 },
    { "{" ENTRY ("a", "2", "0", "3") "}", 3, APR_SAFETENSORS_ERROR_SIZE_MISMATCH, 8 + 53 },
    { "{" ENTRY ("a", "2", "0", "2") "," ENTRY ("b", "9", "2", "4") "}", 4,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, 8 + 105 + 2 },
    { "{" ENTRY ("a", "4", "0", "4") "}", 3, APR_SAFETENSORS_ERROR_TRUNCATED, 8 + 53 + 3 },
    { "{" ENTRY ("a", "4", "0", "4") "}", 7, APR_SAFETENSORS_ERROR_TRAILING_DATA, 8 + 53 + 4 },
    { "{}", 7, APR_SAFETENSORS_ERROR_TRAILING_DATA, 8 + 2 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = make_file (cases[i].header, "12345678", cases[i].n_bytes);
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) copy = NULL;

      g_assert_null (apr_safetensors_reader_new_from_bytes (bytes, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, (int) cases[i].code);
      assert_offset (error, cases[i].offset);
      copy = g_error_copy (error);
      assert_offset (copy, cases[i].offset);
      g_assert_null (apr_safetensors_reader_new_from_bytes (bytes, NULL));
    }
}

static void
test_lengths (void)
{
  static const struct
  {
    const char *file;
    gsize size;
    guint64 offset;
  } cases[] = {
    { "", 0, 0 }, { "\2\0\0", 3, 3 }, { "\3\0\0\0\0\0\0\0{}", 10, 10 }, { "\1\2\3\4\5\6\7\x8{}", 10, 0 }
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (cases[i].file, cases[i].size);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_safetensors_reader_new_from_bytes (bytes, &error));
      assert_offset (error, cases[i].offset);
    }
}

static void
test_streams (void)
{
  const gsize whole = 2305843009213693951; /* A tensor of more bytes has more bits than 64 bits can count. */
  g_autoptr (GString) endless = g_string_new ("{");
  struct
  {
    const char *header;
    guint64 offset;
  } cases[] = {
    { "{" ENTRY ("a", "4", "0", "4") "}", 8 + 53 + 4 },
    { "{" ENTRY ("a", "9", "0", "9") "}", 8 + 53 + 8 },
    { NULL, G_MAXUINT64 },
  };
  guint i;

  g_test_summary (
    "A stream says its end itself; an offset that takes more than 64 bits is the largest of them.");

  for (i = 0; i < 8; i++)
    g_string_append_printf (endless, "\"%u\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]},",
                            i, whole, whole * i, whole * (i + 1));
  g_string_append (endless, ENTRY ("z", "0", "18446744073709551615", "18446744073709551615") "}");
  cases[2].header = endless->str;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = make_file (cases[i].header, "12345678", 8);
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_safetensors_reader_new_from_stream (stream, NULL, &error));
      assert_offset (error, cases[i].offset);
    }
}

static void
test_shrunk (Folder *folder, gconstpointer unused)
{
  g_autoptr (GBytes) bytes = make_file ("{" ENTRY ("a", "8", "0", "8") "}", "12345678", 8);
  g_autofree char *path = folder_write (folder, "shrunk.safetensors", bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);

  g_assert_no_error (error);
  g_assert_no_errno (truncate (path, 8 + 53 + 5));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "a", &error));
  assert_offset (error, 8 + 53 + 5);
}

static void
test_index (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    const char *index;
    guint64 offset;
  } cases[] = { { "{\"weight_map\";{}}", 13 }, { "{\"weight_map\":{\"\xff\":1}}", 16 } };
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) refusal = NULL;

      write_text (folder, INDEX, cases[i].index);
      g_assert_null (open_index (folder, APR_SAFETENSORS_LOAD_MODE_MAP, &refusal));
      assert_offset (refusal, cases[i].offset);
    }

  write_shards (folder);
  write_text (folder, INDEX, "{\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\"}}");
  g_assert_null (open_index (folder, APR_SAFETENSORS_LOAD_MODE_MAP, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_INDEX);
  g_assert_false (apr_safetensors_error_get_offset (error, NULL));
}

static void
test_others (void)
{
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "no file");
  guint64 offset = 7;

  g_test_summary ("Errors of other domains have no offset.");

  g_assert_false (apr_safetensors_error_get_offset (error, &offset));
  g_assert_cmpuint (offset, ==, 7);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/offset/headers", test_headers);
  g_test_add_func ("/safetensors/offset/lengths", test_lengths);
  g_test_add_func ("/safetensors/offset/streams", test_streams);
  g_test_add_func ("/safetensors/offset/others", test_others);
#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/offset/shrunk", test_shrunk);
  ADD ("/safetensors/offset/index", test_index);

  return g_test_run ();
}
