/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/reader-test.h"

static void
test_rust_aprender (void)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  const char *const *names;

  g_test_summary (
    "The bytes that the Rust aprender writes: 129 of header, no spaces, so the floats are unaligned.");

  g_assert_cmpuint (strlen (rust_header), ==, 129);
  reader = open_bytes (rust_header, model_data, 16);
  assert_model (reader);
  names = apr_safetensors_reader_get_names (reader);
  g_assert_cmpstr (names[0], ==, "coefficients");
  g_assert_cmpstr (names[1], ==, "intercept");
  g_assert_null (names[2]);
  g_assert_cmpuint (g_hash_table_size (apr_safetensors_reader_get_metadata (reader)), ==, 0);
}

static void
test_realizar (void)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  static const float features[] = { 1, 2, 3 };
  float prediction = intercept[0];
  guint i;

  g_test_summary ("realizar's vector, with new lines and spaces within the header: [1, 2, 3] predicts 13.");

  reader = open_bytes ("{\n  \"coefficients\": {\n    \"dtype\": \"F32\",\n    \"shape\": [3],\n"
                       "    \"data_offsets\": [0, 12]\n  },\n  \"intercept\": {\n    \"dtype\": \"F32\",\n"
                       "    \"shape\": [1],\n    \"data_offsets\": [12, 16]\n  }\n}",
                       model_data, 16);
  assert_model (reader);
  for (i = 0; i < 3; i++)
    prediction += coefficients[i] * features[i];
  g_assert_cmpfloat (prediction, ==, 13);
}

static void
test_reference_vectors (void)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    AprDType dtype;
    gsize n_dims;
    gsize shape[2];
    gsize n_bytes;
  } cases[] = {
    { "8\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[0,4]}}\0\0\0\0",
      68,
      APR_DTYPE_I32,
      0,
      { 0 },
      4 },
    { "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      84,
      APR_DTYPE_I32,
      2,
      { 2, 2 },
      16 },
    { "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,0],\"data_offsets\":[0, 0]}}",
      68,
      APR_DTYPE_I32,
      2,
      { 2, 0 },
      0 },
  };
  guint i;

  g_test_summary ("The literal files of the first implementation's own tests.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) file = g_bytes_new (cases[i].bytes, cases[i].size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (file, &error);
      g_autoptr (AprTensor) tensor = NULL;
      const gsize *shape;
      gsize n_dims = 99;

      g_assert_no_error (error);
      g_assert_cmpint (apr_safetensors_reader_get_dtype (reader, "test", &error), ==, cases[i].dtype);
      shape = apr_safetensors_reader_get_shape (reader, "test", &n_dims, &error);
      g_assert_no_error (error);
      g_assert_nonnull (shape);
      g_assert_cmpmem (shape, n_dims * sizeof (gsize), cases[i].shape, cases[i].n_dims * sizeof (gsize));
      tensor = apr_safetensors_reader_get_tensor (reader, "test", &error);
      g_assert_no_error (error);
      g_assert_cmpint (apr_tensor_get_dtype (tensor), ==, cases[i].dtype);
      g_assert_cmpuint (g_bytes_get_size (apr_tensor_get_bytes (tensor)), ==, cases[i].n_bytes);
    }
}

static void
test_reference_refusals (void)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    AprSafetensorsError code;
  } cases[] = {
    { "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0extra_bogus_data_for_polyglot_file",
      118, APR_SAFETENSORS_ERROR_TRAILING_DATA },
    { "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      82, APR_SAFETENSORS_ERROR_TRUNCATED },
    { "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0, 4]}}", 68,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH },
    { "O\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,18446744073709551614],\"data_offsets\":[0,16]"
      "}}"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      103, APR_SAFETENSORS_ERROR_OVERFLOW },
    { "N\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,9223372036854775807],\"data_offsets\":[0,16]}"
      "}"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      102, APR_SAFETENSORS_ERROR_OVERFLOW },
    { "", 0, APR_SAFETENSORS_ERROR_TRUNCATED },
    { "<\0\0\0\0\xff\xff\xff", 8, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE },
    { "<\0\0\0\0\0\0\0", 8, APR_SAFETENSORS_ERROR_TRUNCATED },
    { "\1\0\0\0\0\0\0\0\xff", 9, APR_SAFETENSORS_ERROR_ENCODING },
    { "\1\0\0\0\0\0\0\0{", 9, APR_SAFETENSORS_ERROR_SYNTAX },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) file = g_bytes_new (cases[i].bytes, cases[i].size);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_safetensors_reader_new_from_bytes (file, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, (int) cases[i].code);
    }
}

static void
test_reference_attack (void)
{
  g_autoptr (GString) header = g_string_new ("{");
  g_autoptr (GBytes) file = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("Ten tensors over the same sixteen bytes.");

  for (i = 0; i < 10; i++)
    g_string_append_printf (header,
                            "%s\"weight_%u\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}",
                            i > 0 ? "," : "", i);
  g_string_append_c (header, '}');
  file = make_file (header->str, "0123456789abcdef", 16);
  g_assert_null (apr_safetensors_reader_new_from_bytes (file, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERLAP);
  g_assert_nonnull (strstr (error->message, "“weight_0” at [0, 16)"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/reader/rust-aprender", test_rust_aprender);
  g_test_add_func ("/safetensors/reader/realizar", test_realizar);
  g_test_add_func ("/safetensors/reader/reference/vectors", test_reference_vectors);
  g_test_add_func ("/safetensors/reader/reference/refusals", test_reference_refusals);
  g_test_add_func ("/safetensors/reader/reference/attack", test_reference_attack);

  return g_test_run ();
}
