/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/safetensors-test.h"

/* An index, and the shards that it names. */

#define INDEX "model.safetensors.index.json"
#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"

static const char good_index[] = "{\"metadata\":{\"total_size\":9,\"made_by\":{\"x\":[1,null]}},\"else\":[],"
                                 "\"weight_map\":{\"b\":\"" TWO "\",\"w\":\"" ONE "\",\"a\":\"" ONE "\"}}";

static inline void
write_text (Folder *folder, const char *name, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  g_free (folder_write (folder, name, bytes));
}

static inline void
write_shard (Folder *folder, const char *name, const char *header, const char *data)
{
  g_autoptr (GBytes) bytes = make_file (header, data, strlen (data));

  g_free (folder_write (folder, name, bytes));
}

static inline void
write_shards (Folder *folder)
{
  write_shard (folder, ONE,
               "{\"__metadata__\":{\"format\":\"pt\",\"part\":\"1\",\"first\":\"only\"},"
               "\"w\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]},"
               "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]}}",
               "wxyzabc");
  write_shard (folder, TWO,
               "{\"__metadata__\":{\"part\":\"2\",\"format\":\"pt\"},"
               "\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
               "BC");
}

static inline AprSafetensorsReader *
open_index (Folder *folder, AprSafetensorsLoadMode load_mode, GError **error)
{
  g_autofree char *path = g_build_filename (folder->folder, INDEX, NULL);

  return reader_open (path, load_mode, error);
}

/* Fails in both load modes, and the message begins with the index's path and has all of these. */
static inline void
assert_refused (Folder *folder, GQuark domain, int code, const char *message)
{
  guint mode;

  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (open_index (folder, (AprSafetensorsLoadMode) mode, &error));
      g_assert_error (error, domain, code);
      assert_message_has (error, message);
      g_assert_true (g_str_has_prefix (error->message, folder->folder));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}

static inline void
assert_model (AprSafetensorsReader *reader)
{
  static const char *const names[] = { "a", "b", "w", NULL };
  static const char *const in_file_order[] = { "w", "a", "b", NULL };
  static const char *const keys[] = { "first", "format", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) a = apr_safetensors_reader_get_tensor (reader, "a", &error);
  g_autoptr (AprTensor) b = apr_safetensors_reader_get_tensor (reader, "b", &error);
  g_autoptr (AprTensor) slice = apr_safetensors_reader_get_slice (reader, "w", "::-1, 0", &error);
  gsize n_dims;

  g_assert_no_error (error);
  assert_bytes (a, "abc");
  assert_bytes (b, "BC");
  assert_bytes (slice, "yw");
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_names (reader), names));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_names_in_file_order (reader), in_file_order));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_metadata_keys (reader), keys));
  g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, "b", &error), ==, APR_DTYPE_I8);
  g_assert_cmpuint (apr_safetensors_reader_get_shape (reader, "w", &n_dims, &error)[1], ==, 2);
  g_assert_cmpuint (apr_safetensors_reader_get_size (reader, "w", &error), ==, 4);
  g_assert_cmpuint (apr_safetensors_reader_get_offset (reader, "a", &error) -
                      apr_safetensors_reader_get_offset (reader, "w", &error),
                    ==, 4);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "w"));
  g_assert_false (apr_safetensors_reader_has_tensor (reader, "x"));
  g_assert_null (apr_safetensors_reader_get_tensor (reader, "x", &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND);
  assert_message_has (error, "“x” among the 3");
}
