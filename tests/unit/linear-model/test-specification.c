/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/folder.h"

#include <json-glib/json-glib.h>
#include <math.h>

/* The tests of the specification, a chapter on saving models in the SafeTensors format, by their names there. Its
 * data are 32-bit floats, and so are these; the answers are exact, and so must ours be. The files of the systems
 * that it names stand here as they write them. */

typedef struct
{
  char *folder;
  char *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
}

static AprLinearRegression *
fit (gsize n_rows, gsize n_columns, const float *x_values, const float *y_values)
{
  g_autoptr (AprTensor) x = float_matrix_new (n_rows, n_columns, x_values);
  g_autoptr (AprTensor) y = float_vector_new (n_rows, y_values);
  AprLinearRegression *model = apr_linear_regression_new ();
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  return model;
}

static void
save (AprLinearRegression *model, const char *path)
{
  GError *error = NULL;

  g_assert_true (apr_estimator_save (APR_ESTIMATOR (model), path, &error));
  g_assert_no_error (error);
}

static GBytes *
read_bytes (const char *path)
{
  char *contents = NULL;
  gsize length;
  GError *error = NULL;

  g_assert_true (g_file_get_contents (path, &contents, &length, &error));
  g_assert_no_error (error);

  return g_bytes_new_take (contents, length);
}

/* The length in the first eight bytes, read by hand, least byte first. */
static guint64
header_length (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  guint64 length = 0;
  int i;

  g_assert_cmpuint (size, >=, 8);
  for (i = 7; i >= 0; i--)
    length = length << 8 | data[i];

  return length;
}

static JsonNode *
header (GBytes *bytes)
{
  const char *data = g_bytes_get_data (bytes, NULL);
  g_autofree char *text = g_strndup (data + 8, header_length (bytes));
  GError *error = NULL;
  JsonNode *node = json_from_string (text, &error);

  g_assert_no_error (error);

  return node;
}

static void
test_linear_regression_save_safetensors_creates_file (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 2, 2, 1, 3, 4, 4, 3 };
  const float y[] = { 5, 4, 11, 10 };
  g_autoptr (AprLinearRegression) model = fit (4, 2, x, y);

  save (model, fixture->path);
  g_assert_true (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
  assert_same_double (element (coefficients_of (model), 0), 1);
  assert_same_double (element (coefficients_of (model), 1), 2);
  assert_same_double (element (intercept_of (model), 0), 0);
}

static void
test_safetensors_header_format (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 2 };
  const float y[] = { 3, 4 };
  g_autoptr (AprLinearRegression) model = fit (2, 1, x, y);
  g_autoptr (GBytes) bytes = NULL;

  save (model, fixture->path);
  bytes = read_bytes (fixture->path);
  g_assert_cmpuint (header_length (bytes), >, 0);
  g_assert_cmpuint (header_length (bytes), <, 10000);
}

static void
test_safetensors_json_metadata_structure (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 0, 0, 1, 1, 1 };
  const float y[] = { 1, 2, 3 };
  const char *const names[] = { "coefficients", "intercept" };
  const gint64 sizes[] = { 2, 1 };
  g_autoptr (AprLinearRegression) model = fit (3, 2, x, y);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (JsonNode) root = NULL;
  gsize i;

  save (model, fixture->path);
  bytes = read_bytes (fixture->path);
  root = header (bytes);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      JsonObject *entry = json_object_get_object_member (json_node_get_object (root), names[i]);
      JsonArray *shape;

      g_assert_nonnull (entry);
      g_assert_cmpstr (json_object_get_string_member (entry, "dtype"), ==, "F32");
      g_assert_true (json_object_has_member (entry, "data_offsets"));
      shape = json_object_get_array_member (entry, "shape");
      g_assert_cmpuint (json_array_get_length (shape), ==, 1);
      g_assert_cmpint (json_array_get_int_element (shape, 0), ==, sizes[i]);
    }
}

static void
test_safetensors_coefficients_serialization (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 0, 0, 1, 1, 1 };
  const float y[] = { 2, 3, 5 };
  const float expected[] = { 2, 3 };
  g_autoptr (AprLinearRegression) model = fit (3, 2, x, y);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonArray *offsets;
  const guint8 *coefficients;
  gsize begin;
  gsize end;
  gsize i;

  save (model, fixture->path);
  bytes = read_bytes (fixture->path);
  root = header (bytes);
  offsets = json_object_get_array_member (
    json_object_get_object_member (json_node_get_object (root), "coefficients"), "data_offsets");
  begin = (gsize) json_array_get_int_element (offsets, 0);
  end = (gsize) json_array_get_int_element (offsets, 1);
  g_assert_cmpuint (end - begin, ==, 8);

  coefficients = (const guint8 *) g_bytes_get_data (bytes, NULL) + 8 + header_length (bytes) + begin;
  for (i = 0; i < 2; i++)
    {
      guint32 bits = (guint32) coefficients[4 * i] | (guint32) coefficients[4 * i + 1] << 8 |
                     (guint32) coefficients[4 * i + 2] << 16 | (guint32) coefficients[4 * i + 3] << 24;
      float value;

      memcpy (&value, &bits, sizeof value);
      g_assert_true (value == expected[i]);
    }
}

static void
test_safetensors_roundtrip (Fixture *fixture, gconstpointer data)
{
  const float x_values[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1 };
  const float y_values[] = { 2, 3, 4, 5, 6 };
  g_autoptr (AprLinearRegression) original = fit (5, 3, x_values, y_values);
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) x = float_matrix_new (5, 3, x_values);
  g_autoptr (AprTensor) y = float_vector_new (5, y_values);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) loaded_predictions = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "The chapter allows 1e-6 and 1e-5; here nothing may change, and the predictions are exact.");
  save (original, fixture->path);
  loaded = apr_linear_regression_load (fixture->path, &error);
  g_assert_no_error (error);

  g_assert_true (apr_tensor_equal (coefficients_of (loaded), coefficients_of (original)));
  g_assert_true (apr_tensor_equal (intercept_of (loaded), intercept_of (original)));
  predictions = apr_estimator_predict (APR_ESTIMATOR (original), x, &error);
  g_assert_no_error (error);
  loaded_predictions = apr_estimator_predict (APR_ESTIMATOR (loaded), x, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (predictions, loaded_predictions));
  g_assert_true (apr_tensor_equal (predictions, y));
}

static void
test_safetensors_file_does_not_exist_error (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_linear_regression_load (fixture->path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_message_has (error, "No such file");
  assert_message_has (error, fixture->path);
}

static void
test_safetensors_corrupted_header_error (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (fixture->path, "\1\2\3", 3, NULL));
  g_assert_null (apr_linear_regression_load (fixture->path, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  assert_message_has (error, "3 bytes");
}

static void
test_linear_regression_save_unfitted_error (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_estimator_save (APR_ESTIMATOR (model), fixture->path, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  assert_message_has (error, "unfitted");
  g_assert_false (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
}

static void
test_header_is_little_endian (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 2, 3 };
  g_autoptr (AprLinearRegression) model = fit (3, 1, x, x);
  g_autoptr (GBytes) bytes = NULL;
  const char *text;
  guint64 length;

  save (model, fixture->path);
  bytes = read_bytes (fixture->path);
  length = header_length (bytes);
  text = g_bytes_get_data (bytes, NULL);

  /* The header is what the length says: an object, spaces up to a multiple of 8, then 2 floats, and the end. */
  g_assert_cmpint (text[8], ==, '{');
  g_assert_cmpuint (length % 8, ==, 0);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 8 + length + 8);
  while (text[8 + length - 1] == ' ')
    length--;
  g_assert_cmpint (text[8 + length - 1], ==, '}');
}

static void
test_safetensors_roundtrip_property (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  int round;

  g_test_summary (
    "Random shapes and data, fewer samples than features among them: nothing changes, not even a bit.");
  for (round = 0; round < 200; round++)
    {
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, 10);
      gsize n_columns = (gsize) g_rand_int_range (rand, 1, 5);
      g_autofree float *x_values = g_new (float, n_rows *n_columns);
      g_autofree float *y_values = g_new (float, n_rows);
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (AprLinearRegression) loaded = NULL;
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) predictions = NULL;
      g_autoptr (AprTensor) loaded_predictions = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GBytes) again = NULL;
      g_autoptr (GError) error = NULL;
      gsize i;

      for (i = 0; i < n_rows * n_columns; i++)
        x_values[i] = (float) g_rand_double_range (rand, -100, 100);
      for (i = 0; i < n_rows; i++)
        y_values[i] = (float) g_rand_double_range (rand, -100, 100);

      model = fit (n_rows, n_columns, x_values, y_values);
      save (model, fixture->path);
      loaded = apr_linear_regression_load (fixture->path, &error);
      g_assert_no_error (error);
      x = float_matrix_new (n_rows, n_columns, x_values);
      predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
      loaded_predictions = apr_estimator_predict (APR_ESTIMATOR (loaded), x, &error);
      g_assert_no_error (error);
      g_assert_true (apr_tensor_equal (predictions, loaded_predictions));
      bytes = read_bytes (fixture->path);
      again = apr_estimator_to_bytes (APR_ESTIMATOR (loaded), &error);
      g_assert_no_error (error);
      g_assert_true (g_bytes_equal (bytes, again));
    }
}

static void
test_safetensors_deterministic_serialization (Fixture *fixture, gconstpointer data)
{
  const float x[] = { 1, 2, 2, 1, 3, 4, 4, 3 };
  const float y[] = { 5, 4, 11, 10 };
  g_autoptr (AprLinearRegression) model = fit (4, 2, x, y);
  g_autoptr (AprLinearRegression) other = fit (4, 2, x, y);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) other_bytes = NULL;

  save (model, fixture->path);
  bytes = read_bytes (fixture->path);
  save (other, fixture->path);
  other_bytes = read_bytes (fixture->path);
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
test_safetensors_file_size (Fixture *fixture, gconstpointer data)
{
  gsize n;

  for (n = 1; n <= 1000; n += n < 12 ? 1 : 76)
    {
      g_autofree float *x_values = g_new0 (float, 2 * n);
      const float y_values[] = { 1, 2 };
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (GBytes) bytes = NULL;

      x_values[n - 1] = 1;
      model = fit (2, n, x_values, y_values);
      bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      g_assert_cmpuint (g_bytes_get_size (bytes), <=, 308 + 4 * n);
    }
}

/* A file with @text as its header, unpadded, and the floats after it, as the Rust aprender writes them. */
static GBytes *
foreign_file (const char *text, const float *values, gsize n_values)
{
  guint64 length = strlen (text);
  GByteArray *bytes = g_byte_array_new ();
  guint8 byte;
  gsize i;

  for (i = 0; i < 8; i++)
    {
      byte = (guint8) (length >> (8 * i));
      g_byte_array_append (bytes, &byte, 1);
    }
  g_byte_array_append (bytes, (const guint8 *) text, (guint) length);
  for (i = 0; i < n_values; i++)
    {
      guint32 bits;

      memcpy (&bits, &values[i], sizeof bits);
      bits = GUINT32_TO_LE (bits);
      g_byte_array_append (bytes, (const guint8 *) &bits, sizeof bits);
    }

  return g_byte_array_free_to_bytes (bytes);
}

static void
assert_predicts_13 (GBytes *bytes)
{
  const float features[] = { 1, 2, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_from_bytes (bytes, &error);
  g_autoptr (AprTensor) x = float_matrix_new (1, 3, features);
  g_autoptr (AprTensor) prediction = NULL;

  g_assert_no_error (error);
  g_assert_true (apr_linear_regression_get_fit_intercept (model));
  prediction = apr_estimator_predict (APR_ESTIMATOR (model), x, &error);
  g_assert_no_error (error);
  assert_same_double (element (prediction, 0), 13.0);
}

static void
test_rust_aprender_file (Fixture *fixture, gconstpointer data)
{
  const float values[] = { 2, 3, 1.5f, 0.5f };
  g_autoptr (GBytes) plain =
    foreign_file ("{\"coefficients\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
                  "\"intercept\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}",
                  values, 4);
  g_autoptr (GBytes) with_metadata =
    foreign_file ("{\"__metadata__\":{\"who\":\"me\"},"
                  "\"coefficients\":{\"data_offsets\":[0,12],\"dtype\":\"F32\",\"shape\":[3]},"
                  "\"intercept\":{\"data_offsets\":[12,16],\"dtype\":\"F32\",\"shape\":[1]}}",
                  values, 4);

  g_test_summary ("Unpadded, so unaligned: the floats begin at byte 137.");
  g_assert_cmpuint (g_bytes_get_size (plain), ==, 8 + 129 + 16);
  assert_predicts_13 (plain);
  assert_predicts_13 (with_metadata);
}

static void
test_realizar_vector (Fixture *fixture, gconstpointer data)
{
  const float values[] = { 2, 3, 1.5f, 0.5f };
  g_autoptr (GBytes) bytes = foreign_file ("{\n"
                                           "  \"coefficients\": {\n"
                                           "    \"dtype\": \"F32\",\n"
                                           "    \"shape\": [3],\n"
                                           "    \"data_offsets\": [0, 12]\n"
                                           "  },\n"
                                           "  \"intercept\": {\n"
                                           "    \"dtype\": \"F32\",\n"
                                           "    \"shape\": [1],\n"
                                           "    \"data_offsets\": [12, 16]\n"
                                           "  }\n"
                                           "}",
                                           values, 4);

  g_test_summary ("2 x 1 + 3 x 2 + 1.5 x 3 + 0.5, from a header with line breaks inside.");
  assert_predicts_13 (bytes);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(name) g_test_add ("/specification/" #name, Fixture, NULL, set_up, name, tear_down)
  ADD (test_linear_regression_save_safetensors_creates_file);
  ADD (test_safetensors_header_format);
  ADD (test_safetensors_json_metadata_structure);
  ADD (test_safetensors_coefficients_serialization);
  ADD (test_safetensors_roundtrip);
  ADD (test_safetensors_file_does_not_exist_error);
  ADD (test_safetensors_corrupted_header_error);
  ADD (test_linear_regression_save_unfitted_error);
  ADD (test_header_is_little_endian);
  ADD (test_safetensors_roundtrip_property);
  ADD (test_safetensors_deterministic_serialization);
  ADD (test_safetensors_file_size);
  ADD (test_rust_aprender_file);
  ADD (test_realizar_vector);
#undef ADD

  return g_test_run ();
}
