/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib/gstdio.h>

#include "aprender/serve/apr-serve-handler.h"
#include "aprender/table/apr-decimal-private.h"

/* realizar's own example of a file that the Rust aprender wrote: y = 2 a + 3 b + 1.5 c + 0.5. */
static const double coefficients[] = { 2, 3, 1.5 };

typedef struct
{
  char *folder;
  AprServeModels *models;
  AprServeHandler handler;
} Fixture;

static void
save (const char *path, const double *values, gsize n_values, double intercept, const char *names)
{
  const gsize one = 1;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) b = NULL;
  GError *error = NULL;

  x = apr_tensor_new_from_doubles (values, n_values, &n_values, 1, &error);
  g_assert_no_error (error);
  b = apr_tensor_new_from_doubles (&intercept, 1, &one, 1, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, "coefficients", x, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, "intercept", b, &error);
  g_assert_no_error (error);
  if (names != NULL)
    {
      apr_safetensors_writer_set_metadata (writer, "aprender.model", "AprLinearRegression", &error);
      apr_safetensors_writer_set_metadata (writer, "aprender.format", "1", &error);
      apr_safetensors_writer_set_metadata (writer, "aprender.feature_names", names, &error);
      g_assert_no_error (error);
    }
  apr_safetensors_writer_write_to_path (writer, path, &error);
  g_assert_no_error (error);
}

static void
add (Fixture *fixture, const char *name, const char *names)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  GError *error = NULL;

  save (path, coefficients, G_N_ELEMENTS (coefficients), 0.5, names);
  apr_serve_models_add (fixture->models, name, path, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer names)
{
  GError *error = NULL;

  fixture->folder = g_dir_make_tmp ("aprender-serve-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->models = apr_serve_models_new ();
  fixture->handler.models = fixture->models;
  add (fixture, "plane", names);
}

static void
remove_file (Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

  g_remove (path);
}

static void
tear_down (Fixture *fixture, gconstpointer names)
{
  remove_file (fixture, "plane");
  remove_file (fixture, "other");
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  apr_serve_models_free (fixture->models);
  g_free (fixture->folder);
}

static AprServeResponse
ask_bytes (Fixture *fixture, const char *method, const char *path, const char *body, gsize size)
{
  /* Just as much as is promised, so that a sanitizer sees who reads too far. */
  g_autofree char *padded = g_malloc0 (size + APR_DECIMAL_PADDING);
  AprServeRequest request = { .method = method, .path = path, .body = padded, .body_size = size };
  AprServeResponse response;
  guint i;

  memcpy (padded, body, size);
  apr_serve_handle (&fixture->handler, &request, &response);
  for (i = 0; response.parts != NULL && i < response.parts->len; i++)
    {
      GBytes *part = g_ptr_array_index (response.parts, i);

      g_string_append_len (response.body, g_bytes_get_data (part, NULL), (gssize) g_bytes_get_size (part));
    }
  g_assert_true (g_utf8_validate (response.body->str, (gssize) response.body->len, NULL));

  return response;
}

/* A request for predictions by the JSON of @json_length bytes, and @binary after it. */
static void
assert_binary (Fixture *fixture,
               const char *json,
               const char *json_length,
               gconstpointer binary,
               gsize binary_size,
               guint status,
               const char *part)
{
  gsize size = strlen (json) + binary_size;
  g_autofree char *padded = g_malloc0 (size + APR_DECIMAL_PADDING);
  g_autofree char *length = g_strdup_printf ("%" G_GSIZE_FORMAT, strlen (json));
  AprServeRequest request = { .method = "POST",
                              .path = "/v2/models/plane/infer",
                              .content_type = "application/octet-stream",
                              .json_length = json_length != NULL ? json_length : length,
                              .body = padded,
                              .body_size = size };
  AprServeResponse response;

  memcpy (padded, json, strlen (json));
  memcpy (padded + strlen (json), binary, binary_size);
  apr_serve_handle (&fixture->handler, &request, &response);
  if (strstr (response.body->str, part) == NULL)
    g_error ("“%s” is not in “%s”", part, response.body->str);
  g_assert_cmpuint (response.status, ==, status);
  apr_serve_response_clear (&response);
}

static void
test_v2_binary (Fixture *fixture, gconstpointer data)
{
  /* Little-endian: 1, 2, 3 as INT16, and a float that is a NaN. */
  static const guint8 whole[] = { 1, 0, 2, 0, 3, 0 };
  static const guint8 nan[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x7f };
  static const char good[] = "{\"inputs\":[{\"name\":\"X\",\"shape\":[1,3],\"datatype\":\"INT16\","
                             "\"parameters\":{\"binary_data_size\":6}}]}";
  static const char short_start[] = "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"INT16\"";
  g_autofree char *no_parameters = g_strconcat (short_start, "}]}", NULL);
  g_autofree char *no_size = g_strconcat (short_start, ",\"parameters\":{}}]}", NULL);
  g_autofree char *no_bytes = g_strconcat (short_start, ",\"data\":[1,2,3]}]}", NULL);

  assert_binary (fixture, good, NULL, whole, 6, 200, "\"data\":[13]");
  assert_binary (fixture, good, NULL, whole, 4, 400,
                 "inputs[0].parameters.binary_data_size: 6 bytes, but 4 follow the JSON");
  assert_binary (fixture, good, "1000", whole, 6, 400,
                 "Inference-Header-Content-Length: expected at most the ");
  assert_binary (fixture, good, "-1", whole, 6, 400, "got “-1”");
  assert_binary (fixture, good, "5", whole, 6, 400, "body byte ");
  assert_binary (fixture, no_parameters, NULL, whole, 6, 400, "inputs[0].parameters is missing");
  assert_binary (fixture, no_size, NULL, whole, 6, 400,
                 "inputs[0].parameters.binary_data_size: expected a number of bytes");
  assert_binary (fixture,
                 "{\"inputs\":[{\"shape\":[2,3],\"datatype\":\"INT16\","
                 "\"parameters\":{\"binary_data_size\":6}}]}",
                 NULL, whole, 6, 400, "[2, 3]");
  assert_binary (fixture,
                 "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"FP32\","
                 "\"parameters\":{\"binary_data_size\":12}}]}",
                 NULL, nan, 12, 400, "NaN at row 0, column 2");
  /* No bytes after the JSON: then the numbers are in it. */
  assert_binary (fixture, no_bytes, NULL, whole, 0, 200, "\"data\":[13]");
  assert_binary (fixture, good, NULL, whole, 0, 400,
                 "inputs[0].parameters.binary_data_size: 6 bytes, but 0 follow the JSON");
  assert_binary (fixture, no_parameters, NULL, whole, 0, 400, "inputs[0].data is missing");
}

/* Asks for the predictions of so many rows, where there is room for so many bytes. */
static void
assert_room (Fixture *fixture,
             const char *path,
             const char *before,
             gsize n_rows,
             const char *after,
             gsize max_answer,
             guint64 min,
             guint64 max)
{
  g_autoptr (GString) body = g_string_new (before);
  AprServeRequest request = { .method = "POST", .path = path, .max_answer = max_answer };
  const char *size;
  AprServeResponse response;
  gsize i;

  for (i = 0; i < n_rows; i++)
    g_string_append (body, i > 0 ? ",[0,0,0]" : "[0,0,0]");
  g_string_append (body, after);
  request.body_size = body->len;
  for (i = 0; i < APR_DECIMAL_PADDING; i++)
    g_string_append_c (body, '\0');
  request.body = body->str;
  apr_serve_handle (&fixture->handler, &request, &response);
  size = strstr (response.body->str, "answer: at least ");
  if (max == 0)
    g_assert_cmpuint (response.status, ==, 200);
  else
    {
      g_assert_cmpuint (response.status, ==, 503);
      g_assert_nonnull (strstr (response.body->str, "\"code\":\"E_BUSY\"}"));
      g_assert_nonnull (
        strstr (response.body->str, " bytes, but there is room for 100 beside other requests: "));
      g_assert_nonnull (size);
      size += strlen ("answer: at least ");
      g_assert_cmpuint (g_ascii_strtoull (size, NULL, 10), >=, min);
      g_assert_cmpuint (g_ascii_strtoull (size, NULL, 10), <=, max);
      g_assert_cmpuint (response.body->allocated_len, <, 1000);
    }
  apr_serve_response_clear (&response);
}

/* An answer that has no room ends where that is known: before there are predictions, or while they are written. */
static void
test_room (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *path;
    const char *before;
    const char *after;
  } routes[] = {
    { "/predict", "{\"features\":[", "]}" },
    { "/predict/batch", "{\"instances\":[", "]}" },
    { "/v2/models/plane/infer", "{\"inputs\":[{\"shape\":[40,3],\"datatype\":\"FP64\",\"data\":[", "]}]}" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (routes); i++)
    {
      assert_room (fixture, routes[i].path, routes[i].before, 40, routes[i].after, 100, 101, 200);
      assert_room (fixture, routes[i].path, routes[i].before, 40, routes[i].after, 4000, 0, 0);
      assert_room (fixture, routes[i].path, routes[i].before, 40, routes[i].after, 0, 0, 0);
    }
  assert_room (fixture, routes[0].path, routes[0].before, 1000, routes[0].after, 100, 2000, 2000);
  assert_room (fixture, routes[1].path, routes[1].before, 1000, routes[1].after, 100, 2000, 2000);
}

static void
test_room_for_file (Fixture *fixture, gconstpointer data)
{
  static const double values[30];
  const gsize shape[] = { 10, 3 };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (values, G_N_ELEMENTS (values), shape, 2, NULL);
  g_autoptr (GBytes) bytes = NULL;
  AprServeRequest request = {
    .method = "POST", .path = "/predict", .content_type = "application/octet-stream", .max_answer = 100
  };
  AprServeResponse response;
  GError *error = NULL;

  apr_safetensors_writer_add_tensor (writer, "X", x, &error);
  g_assert_no_error (error);
  bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);
  request.body = g_bytes_get_data (bytes, &request.body_size);
  apr_serve_handle (&fixture->handler, &request, &response);
  g_assert_cmpuint (response.status, ==, 503);
  g_assert_nonnull (strstr (response.body->str, "\"code\":\"E_BUSY\"}"));
  apr_serve_response_clear (&response);

  request.max_answer = 1000;
  apr_serve_handle (&fixture->handler, &request, &response);
  g_assert_cmpuint (response.status, ==, 200);
  /* The file is not copied, but counts. */
  g_assert_nonnull (response.parts);
  g_assert_cmpuint (response.parts->len, ==, 1);
  g_assert_cmpuint (response.body->len, ==, 0);
  g_assert_cmpuint (response.own_size, ==, g_bytes_get_size (g_ptr_array_index (response.parts, 0)));
  apr_serve_response_clear (&response);
}

static void
assert_shape (Fixture *fixture, const char *path, gsize n_rows, gsize n_columns, const char *answer)
{
  const gsize shape[] = { n_rows, n_columns };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (NULL, 0, shape, 2, NULL);
  g_autoptr (GBytes) bytes = NULL;
  AprServeRequest request = {
    .method = "POST", .path = path, .content_type = "application/octet-stream", .max_answer = 100000
  };
  AprServeResponse response;

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "X", x, NULL));
  bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
  request.body = g_bytes_get_data (bytes, &request.body_size);
  apr_serve_handle (&fixture->handler, &request, &response);
  g_assert_cmpuint (response.status, ==, 400);
  if (strstr (response.body->str, answer) == NULL)
    g_error ("“%s” is not in “%s”", answer, response.body->str);
  apr_serve_response_clear (&response);
}

static void
test_no_rows (Fixture *fixture, gconstpointer data)
{
  static const guint8 nothing[1];
  static const char empty[] = "X: expected at least 1 row, got 0\",\"code\":\"E_EMPTY_BATCH\"}";

  g_test_summary (
    "A batch without a row is refused in whatever form it comes; many rows of nothing are no batch.");
  assert_shape (fixture, "/predict", 0, 3, empty);
  assert_shape (fixture, "/v2/models/plane/infer", 0, 3, empty);
  assert_binary (fixture, "{\"inputs\":[{\"shape\":[0,3],\"datatype\":\"FP64\",\"data\":[]}]}", NULL, nothing,
                 0, 400, empty);
  assert_binary (
    fixture, "{\"inputs\":[{\"shape\":[0,3],\"datatype\":\"FP64\",\"parameters\":{\"binary_data_size\":0}}]}",
    NULL, nothing, 0, 400, empty);
  assert_shape (fixture, "/predict", (gsize) 1 << 40, 0, "\"code\":\"E_INVALID_INPUT\"}");
  assert_shape (fixture, "/v2/models/plane/infer", (gsize) 1 << 40, 0, "\"code\":\"E_INVALID_INPUT\"}");
  assert_shape (fixture, "/predict", 0, 2, "\"code\":\"E_INVALID_INPUT\"}");
}

/* Without what differs each time. */
static char *
strip_times (const char *text)
{
  g_autoptr (GRegex) times = g_regex_new (",\"(total_)?latency_ms\":[0-9]+\\.[0-9]{3}", 0, 0, NULL);

  return g_regex_replace_literal (times, text, -1, 0, "", 0, NULL);
}

static void
assert_answer (
  Fixture *fixture, const char *method, const char *path, const char *body, guint status, const char *answer)
{
  AprServeResponse response = ask_bytes (fixture, method, path, body, strlen (body));
  g_autofree char *stripped = strip_times (response.body->str);
  g_autofree char *line = g_strconcat (answer, "\n", NULL);

  g_assert_cmpstr (stripped, ==, line);
  g_assert_cmpuint (response.status, ==, status);
  g_assert_cmpstr (response.content_type, ==, "application/json");
  apr_serve_response_clear (&response);
}

static void
assert_invalid (Fixture *fixture, const char *path, const char *body, const char *message)
{
  g_autofree char *answer = g_strdup_printf ("{\"error\":\"%s\",\"code\":\"E_INVALID_INPUT\"}", message);

  assert_answer (fixture, "POST", path, body, 400, answer);
}

static void
test_realizar (Fixture *fixture, gconstpointer data)
{
  assert_answer (fixture, "POST", "/predict", "{\"features\":[1,2,3]}", 200,
                 "{\"prediction\":13,\"model_version\":\"1\"}");
  assert_answer (
    fixture, "POST", "/predict",
    " {\"options\":{\"top_k\":[{}]},\n\"features\": [ 1 ,2.0, 3e0 ] , \"model_id\":\"pl\\u0061ne\"} ", 200,
    "{\"prediction\":13,\"model_version\":\"1\"}");
  assert_answer (fixture, "POST", "/predict/batch",
                 "{\"instances\":[{\"features\":[1,2,3]},{\"features\":[0,0,0]}]}", 200,
                 "{\"predictions\":[{\"prediction\":13,\"model_version\":\"1\"},"
                 "{\"prediction\":0.5,\"model_version\":\"1\"}]}");
  assert_answer (fixture, "GET", "/models", "", 200,
                 "{\"models\":[{\"id\":\"plane\",\"model_type\":\"LinearRegression\",\"version\":\"1\","
                 "\"loaded\":true}]}");
  assert_answer (fixture, "GET", "/health", "", 200,
                 "{\"status\":\"healthy\",\"version\":\"" PACKAGE_VERSION "\"}");
  assert_answer (fixture, "HEAD", "/health", "", 200,
                 "{\"status\":\"healthy\",\"version\":\"" PACKAGE_VERSION "\"}");
  assert_answer (fixture, "GET", "/ready", "", 200,
                 "{\"ready\":true,\"model_loaded\":true,\"model_name\":\"plane\"}");
}

static void
test_rows (Fixture *fixture, gconstpointer data)
{
  assert_answer (fixture, "POST", "/predict", "{\"features\":[[1,2,3],[0,0,0.1]]}", 200,
                 "{\"prediction\":[13,0.65],\"model_version\":\"1\"}");
  /* As Python has it. */
  assert_answer (fixture, "POST", "/predict", "{\"features\":[[-0.25,0,0.10000000000000002]]}", 200,
                 "{\"prediction\":[0.15000000000000002],\"model_version\":\"1\"}");
}

static void
test_names (Fixture *fixture, gconstpointer data)
{
  assert_answer (fixture, "POST", "/predict", "{\"features\":{\"c\":3,\"a\":1,\"b \\\"\":2}}", 200,
                 "{\"prediction\":13,\"model_version\":\"1\"}");
  assert_answer (fixture, "POST", "/predict",
                 "{\"features\":[{\"a\":1,\"b \\u0022\":2,\"c\":3},[0,0,0],{\"c\":3,\"b \\\"\":2,\"a\":1}]}",
                 200, "{\"prediction\":[13,0.5,13],\"model_version\":\"1\"}");
  assert_answer (
    fixture, "POST", "/predict/batch",
    "{\"instances\":[{\"c\":3,\"a\":1,\"b \\\"\":2},{\"features\":{\"c\":0,\"a\":0,\"b \\\"\":0}}]}", 200,
    "{\"predictions\":[{\"prediction\":13,\"model_version\":\"1\"},"
    "{\"prediction\":0.5,\"model_version\":\"1\"}]}");
  assert_invalid (fixture, "/predict", "{\"features\":[{\"a\":1,\"b \\\"\":2,\"c\":3},{\"a\":1,\"c\":3}]}",
                  "features[1]: the feature “b \\\"” is missing");
  assert_invalid (fixture, "/predict", "{\"features\":{\"a\":1,\"c\":2,\"a\":3}}",
                  "features: the feature “a” is there twice");
  assert_invalid (fixture, "/predict", "{\"features\":{\"a\":1,\"d\\u0000\":2}}",
                  "features: the model has no feature “d\\\\u0000”; its features are: a, b \\\", c");
  assert_invalid (fixture, "/predict", "{\"features\":[{\"a\":null}]}",
                  "features[0].a: expected a number, found “null” at byte 18");
}

static void
test_wrong_rows (Fixture *fixture, gconstpointer data)
{
  assert_invalid (fixture, "/predict", "{\"features\":[1,2]}", "features: expected 3 numbers, got 2");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,3,4]}", "features: expected 3 numbers, got 4");
  assert_invalid (fixture, "/predict", "{\"features\":[]}", "features: expected 3 numbers, got 0");
  assert_invalid (fixture, "/predict", "{\"features\":[[1,2,3],[1]]}",
                  "features[1]: expected 3 numbers, got 1");
  assert_invalid (fixture, "/predict", "{\"features\":[1,NaN,3]}",
                  "features[1]: expected a number, found “NaN” at byte 15");
  assert_invalid (fixture, "/predict", "{\"features\":[[1,2,-Infinity]]}",
                  "features[0][2]: expected a number, found “-Infinity” at byte 18");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,1e309]}",
                  "features[2]: a number beyond a double's range, which ends at byte 22");
  assert_invalid (fixture, "/predict", "{\"features\":[1,\"2\",3]}",
                  "features[1]: expected a number, found a string at byte 15");
  assert_invalid (fixture, "/predict", "{\"features\":[1,01,3]}",
                  "features[1]: expected a number, found “01” at byte 15");
  assert_invalid (fixture, "/predict", "{\"features\":[1,1.,3]}",
                  "features[1]: expected a number, found “1.” at byte 15");
  assert_invalid (fixture, "/predict", "{\"features\":7}",
                  "features: expected a list of numbers or an object of named ones, found “7” at byte 12");
  assert_invalid (fixture, "/predict", "{\"features\":{\"a\":1}}",
                  "features: the model “plane” has no names of features: write a list of 3 numbers");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,3],\"features\":[1,2,3]}",
                  "body byte 30: “features” is there twice");
  assert_invalid (fixture, "/predict", "{\"feature\":[1,2,3]}", "features is missing");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,3]",
                  "body byte 19: expected “,” or “}”, but the text ends");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,3]}]",
                  "body byte 20: expected the end, found “]”");
  assert_invalid (fixture, "/predict", "", "body byte 0: expected an object, but the text ends");
  assert_answer (fixture, "POST", "/predict", "{\"model_id\":\"third\",\"features\":[1,2,3]}", 404,
                 "{\"error\":\"there is no model “third”; the models are: plane\",\"code\":\"E_NO_MODEL\"}");
  assert_invalid (fixture, "/predict", "{\"model_id\":7,\"features\":[1,2,3]}",
                  "model_id: body byte 12: expected a string, found “7”");
  assert_invalid (fixture, "/predict/batch", "{\"instances\":[[1,2,3],[1,2]]}",
                  "instances[1]: expected 3 numbers, got 2");
  assert_answer (fixture, "POST", "/predict/batch", "{\"instances\":[]}", 400,
                 "{\"error\":\"instances: expected at least 1 row, got 0\",\"code\":\"E_EMPTY_BATCH\"}");
}

static void
test_hostile (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) deep = g_string_new ("{\"a\":");
  AprServeResponse response;
  guint i;

  for (i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  assert_invalid (fixture, "/predict", deep->str,
                  "body byte 131: nested deeper than the 127 levels that are allowed");

  response = ask_bytes (fixture, "POST", "/predict", "{\"features\":[1,2,\0]}", 20);
  g_assert_cmpuint (response.status, ==, 400);
  apr_serve_response_clear (&response);
  /* A key that goes on behind a NUL where a name ends. */
  response = ask_bytes (fixture, "POST", "/predict", "{\"features\\u0000\":[1,2,3]}", 26);
  g_assert_cmpuint (response.status, ==, 400);
  apr_serve_response_clear (&response);
  response = ask_bytes (fixture, "POST", "/predict", "{\"f\xff\":[1,2]}", 12);
  g_assert_cmpstr (response.body->str, ==,
                   "{\"error\":\"body byte 3: not UTF-8\",\"code\":\"E_INVALID_INPUT\"}\n");
  apr_serve_response_clear (&response);
}

/* What no client is to blame for. */
static void
test_no_memory (Fixture *fixture, gconstpointer data)
{
  AprServeResponse response = { .body = g_string_new (NULL) };
  g_autoptr (GError) error =
    g_error_new (APR_ERROR, APR_ERROR_NO_MEMORY, "There is no memory for a matrix of 8 bytes");

  g_assert_false (apr_serve_response_fail_with (&response, error));
  g_assert_cmpuint (response.status, ==, 503);
  g_assert_cmpstr (response.body->str, ==,
                   "{\"error\":\"There is no memory for a matrix of 8 bytes\",\"code\":\"E_NO_MEMORY\"}\n");
  apr_serve_response_clear (&response);
}

static void
test_routes (Fixture *fixture, gconstpointer data)
{
  assert_answer (
    fixture, "GET", "/nothing\x1b\xff", "", 404,
    "{\"error\":\"there is no route “/nothing\\\\u001b\xef\xbf\xbd”\",\"code\":\"E_NOT_FOUND\"}");
  assert_answer (fixture, "GET", "/predict", "", 405,
                 "{\"error\":\"/predict is for POST, not for GET\",\"code\":\"E_METHOD\"}");
}

static void
test_models (Fixture *fixture, gconstpointer data)
{
  add (fixture, "other", NULL);
  assert_answer (fixture, "POST", "/predict", "{\"features\":[1,2,3],\"model_id\":\"other\"}", 200,
                 "{\"prediction\":13,\"model_version\":\"1\"}");
  assert_invalid (fixture, "/predict", "{\"features\":[1,2,3]}",
                  "model_id is missing; the models are: plane, other");
  assert_answer (
    fixture, "POST", "/predict", "{\"features\":[1,2,3],\"model_id\":\"third\"}", 404,
    "{\"error\":\"there is no model “third”; the models are: plane, other\",\"code\":\"E_NO_MODEL\"}");
}

/* A request with what only some have. Takes the body of @asked, and leaves the rest of it as it is. */
static void
assert_asked (Fixture *fixture, AprServeRequest asked, guint status, const char *part)
{
  g_autofree char *padded = g_malloc0 (strlen (asked.body) + APR_DECIMAL_PADDING);
  AprServeResponse response;

  asked.method = "POST";
  asked.body_size = strlen (asked.body);
  memcpy (padded, asked.body, asked.body_size);
  asked.body = padded;
  apr_serve_handle (&fixture->handler, &asked, &response);
  if (strstr (response.body->str, part) == NULL)
    g_error ("“%s” is not in “%s”", part, response.body->str);
  g_assert_cmpuint (response.status, ==, status);
  apr_serve_response_clear (&response);
}

static void
test_model_in_query (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *model; /* of the query */
    const char *body_model;
    guint status;
    const char *part;
  } cases[] = {
    { "plane", "", 200, "\"prediction\":13" },
    { "plane", ",\"model_id\":\"plane\"", 200, "\"prediction\":13" },
    { "nope", "", 404, "{\"error\":\"there is no model “nope”; the models are: plane" },
    { "nope", ",\"model_id\":\"nope\"", 404, "\"code\":\"E_NO_MODEL\"}" },
    { "plane", ",\"model_id\":\"other\"", 400,
      "{\"error\":\"model_id: the body has “other”, but the query “plane”\",\"code\":\"E_INVALID_INPUT\"}" },
    { "plane", ",\"model_id\":7", 400, "model_id: body byte " },
  };
  guint round;
  gsize i;

  g_test_summary ("The query names the model of a JSON body too, of one model and of several.");
  for (round = 0; round < 2; round++)
    {
      for (i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *row = g_strdup_printf ("{\"features\":[1,2,3]%s}", cases[i].body_model);
          g_autofree char *batch = g_strdup_printf ("{\"instances\":[[1,2,3]]%s}", cases[i].body_model);

          assert_asked (fixture,
                        (AprServeRequest){ .path = "/predict", .model = cases[i].model, .body = row },
                        cases[i].status, cases[i].part);
          assert_asked (fixture,
                        (AprServeRequest){ .path = "/predict/batch", .model = cases[i].model, .body = batch },
                        cases[i].status, cases[i].part);
        }
      if (round == 0)
        add (fixture, "other", NULL);
    }
}

static void
test_encoding (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *encoding;
    guint status;
    const char *part;
  } cases[] = {
    { "identity", 200, "\"prediction\":13" },
    { " Identity ", 200, "\"prediction\":13" },
    { "Identity", 200, "\"prediction\":13" },
    { "", 200, "\"prediction\":13" },
    { "gzip", 415,
      "{\"error\":\"Content-Encoding: “gzip” is not supported: send the body as it "
      "is\",\"code\":\"E_ENCODING\"}" },
    { "identity, br", 415, "“identity, br”" },
    { "\x1b\xff", 415, "“\\\\u001b\xef\xbf\xbd”" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_asked (fixture,
                  (AprServeRequest){ .path = "/predict",
                                     .content_encoding = cases[i].encoding,
                                     .body = "{\"features\":[1,2,3]}" },
                  cases[i].status, cases[i].part);
}

static void
test_v2 (Fixture *fixture, gconstpointer data)
{
  static const char infer[] = "/v2/models/plane/infer";

  assert_answer (fixture, "GET", "/v2", "", 200,
                 "{\"name\":\"aprender\",\"version\":\"" PACKAGE_VERSION "\",\"extensions\":[]}");
  assert_answer (fixture, "GET", "/v2/health/live", "", 200, "{\"live\":true}");
  assert_answer (fixture, "GET", "/v2/health/ready", "", 200, "{\"ready\":true}");
  assert_answer (fixture, "GET", "/v2/models/plane/ready", "", 200, "{\"name\":\"plane\",\"ready\":true}");
  assert_answer (fixture, "GET", "/v2/models/plane/versions/1", "", 200,
                 "{\"name\":\"plane\",\"versions\":[\"1\"],\"platform\":\"aprender\","
                 "\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP64\",\"shape\":[-1,3],"
                 "\"parameters\":{\"feature_names\":[\"a\",\"b\",\"c\"]}}],"
                 "\"outputs\":[{\"name\":\"predictions\",\"datatype\":\"FP64\",\"shape\":[-1]}]}");
  assert_answer (
    fixture, "POST", infer,
    "{\"inputs\":[{\"data\":[[1,2,3],[0,0,0]],\"name\":\"X\",\"shape\":[2,3],\"datatype\":\"INT64\"}],"
    "\"id\":\"7\"}",
    200,
    "{\"model_name\":\"plane\",\"model_version\":\"1\",\"id\":\"7\",\"outputs\":[{\"name\":"
    "\"predictions\",\"datatype\":\"FP64\",\"shape\":[2],\"data\":[13,0.5]}]}");
  /* 0.1 as a float is 0.100000001490116..., of which 1.5 times and 0.5 more. */
  assert_answer (fixture, "POST", "/v2/models/plane/versions/1/infer",
                 "{\"inputs\":[{\"name\":\"X\",\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":[0,0,0.1]}]}",
                 200,
                 "{\"model_name\":\"plane\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"predictions\","
                 "\"datatype\":\"FP64\",\"shape\":[1],\"data\":[0.6500000022351742]}]}");

  assert_invalid (fixture, infer, "{}", "inputs is missing");
  assert_invalid (fixture, infer, "{\"inputs\":[]}", "inputs: expected 1 input, got 0");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"FP32\"}]}",
                  "inputs[0].data is missing");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[1,2]}]}",
                  "inputs[0].shape: expected 3 columns, got 2");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[3]}]}",
                  "inputs[0].shape: expected 2 dimensions, got 1");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[-1,3]}]}",
                  "inputs[0].shape: expected a list of whole numbers");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"BYTES\"}]}",
                  "inputs[0].datatype: expected FP64, FP32, INT8 to INT64 or UINT8 to UINT64, got “BYTES”");
  assert_invalid (fixture, infer,
                  "{\"inputs\":[{\"shape\":[6148914691236517206,3],\"datatype\":\"FP32\",\"data\":[1,2]}]}",
                  "inputs[0].shape: [6148914691236517206, 3] is too large");
  assert_invalid (fixture, infer, "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"INT8\",\"data\":[1,2,128]}]}",
                  "inputs[0].data[2]: the number that ends at byte 59 is no INT8");
  assert_invalid (fixture, infer,
                  "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"UINT8\",\"data\":[1,2,1.5]}]}",
                  "inputs[0].data[2]: the number that ends at byte 60 is no UINT8");
  assert_invalid (fixture, infer,
                  "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":[1,2,null]}]}",
                  "inputs[0].data[2]: expected a number, found “null”");
  assert_invalid (fixture, infer,
                  "{\"inputs\":[{\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":[1,2,1e39]}]}",
                  "inputs[0].data[2]: the number that ends at byte 60 is no FP32");
  assert_answer (
    fixture, "GET", "/v2/models/plane/versions/2", "", 404,
    "{\"error\":\"there is no version “2” of the model “plane”, but 1\",\"code\":\"E_NO_MODEL\"}");
  assert_answer (fixture, "GET", "/v2/models/third/ready", "", 404,
                 "{\"error\":\"there is no model “third”; the models are: plane\",\"code\":\"E_NO_MODEL\"}");
}

#define ADD(path, names, function) \
 g_test_add ("/serve/handler/" path, Fixture, names, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("realizar", NULL, test_realizar);
  ADD ("rows", NULL, test_rows);
  ADD ("room", NULL, test_room);
  ADD ("room-for-file", NULL, test_room_for_file);
  ADD ("no-rows", NULL, test_no_rows);
  ADD ("names", "[\"a\",\"b \\\"\",\"c\"]", test_names);
  ADD ("wrong-rows", NULL, test_wrong_rows);
  ADD ("hostile", NULL, test_hostile);
  ADD ("no-memory", NULL, test_no_memory);
  ADD ("routes", NULL, test_routes);
  ADD ("models", NULL, test_models);
  ADD ("v2", "[\"a\",\"b\",\"c\"]", test_v2);
  ADD ("model-in-query", NULL, test_model_in_query);
  ADD ("encoding", NULL, test_encoding);
  ADD ("v2-binary", "[\"a\",\"b\",\"c\"]", test_v2_binary);

  return g_test_run ();
}
