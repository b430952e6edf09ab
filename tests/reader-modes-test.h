/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/safetensors-test.h"

/* A model to be read in every mode. */

/* Three tensors whose order in the header, in the data and by name is different each time, and one of no bytes. */
static const char header[] = "{\"__metadata__\":{\"b\":\"2\",\"a\":\"1\"},"
                             "\"m\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[4,10]},"
                             "\"z\":{\"dtype\":\"U16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                             "\"none\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[4,4]},"
                             "\"a\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[10,11]}}";
static const char data[] = "zzZZmnopqra";

static inline GBytes *
model_new (void)
{
  return make_file (header, data, strlen (data));
}

static inline void
assert_model (AprSafetensorsReader *reader)
{
  static const char *const in_file_order[] = { "z", "none", "m", "a", NULL };
  static const char *const by_name[] = { "a", "m", "none", "z", NULL };
  static const char *const keys[] = { "a", "b", NULL };
  static const struct
  {
    const char *name;
    guint64 size, offset;
    const char *bytes;
  } tensors[] = { { "z", 4, 0, "zzZZ" }, { "none", 0, 4, "" }, { "m", 6, 4, "mnopqr" }, { "a", 1, 10, "a" } };
  static const struct
  {
    const char *indices;
    const char *bytes;
  } slices[] = {
    { "1", "pqr" }, { ":, 1", "nq" }, { "::-1, ::2", "prmo" }, { "0, 2:0:-1", "on" }, { "2:", "" }
  };
  guint i;

  g_assert_true (g_strv_equal ((const char *const *) apr_safetensors_reader_get_names_in_file_order (reader),
                               in_file_order));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_names (reader), by_name));
  g_assert_true (g_strv_equal (apr_safetensors_reader_get_metadata_keys (reader), keys));
  for (i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, tensors[i].name, &error);

      g_assert_no_error (error);
      assert_bytes (tensor, tensors[i].bytes);
      g_assert_cmpuint (apr_safetensors_reader_get_size (reader, tensors[i].name, &error), ==,
                        tensors[i].size);
      g_assert_no_error (error);
      g_assert_cmpuint (apr_safetensors_reader_get_offset (reader, tensors[i].name, &error), ==,
                        8 + strlen (header) + tensors[i].offset);
      g_assert_no_error (error);
    }
  for (i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) slice = apr_safetensors_reader_get_slice (reader, "m", slices[i].indices, &error);

      g_assert_no_error (error);
      assert_bytes (slice, slices[i].bytes);
    }
}
