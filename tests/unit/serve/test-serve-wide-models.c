/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib/gstdio.h>

#include "aprender/serve/apr-serve-handler.h"
#include "aprender/table/apr-decimal-private.h"

/* Models of very many features, or with very long names of them. */

#define N_BITS 18

/* The linker sends the server's and the library's calls of these functions here, of which all fail from the nth on. */
gpointer __real_g_try_malloc (gsize size);
gpointer __wrap_g_try_malloc (gsize size);
gpointer __real_g_try_malloc0_n (gsize n, gsize size);
gpointer __wrap_g_try_malloc0_n (gsize n, gsize size);
gpointer __real_g_try_realloc (gpointer memory, gsize size);
gpointer __wrap_g_try_realloc (gpointer memory, gsize size);
gpointer __real_g_try_realloc_n (gpointer memory, gsize n, gsize size);
gpointer __wrap_g_try_realloc_n (gpointer memory, gsize n, gsize size);

static guint n_calls;
static guint n_good = G_MAXUINT;
static guint n_texts; /* calls to make a text longer */
static guint n_names; /* calls to copy one, or to note which there were */

gpointer
__wrap_g_try_malloc (gsize size)
{
  n_names++;
  return n_calls++ < n_good ? __real_g_try_malloc (size) : NULL;
}

gpointer
__wrap_g_try_malloc0_n (gsize n, gsize size)
{
  n_names++;
  return n_calls++ < n_good ? __real_g_try_malloc0_n (n, size) : NULL;
}

gpointer
__wrap_g_try_realloc (gpointer memory, gsize size)
{
  n_texts++;
  return n_calls++ < n_good ? __real_g_try_realloc (memory, size) : NULL;
}

gpointer
__wrap_g_try_realloc_n (gpointer memory, gsize n, gsize size)
{
  return n_calls++ < n_good ? __real_g_try_realloc_n (memory, n, size) : NULL;
}

typedef struct
{
  char *path;
  AprServeModels *models;
  AprServeHandler handler;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  GError *error = NULL;
  int fd = g_file_open_tmp ("aprender-serve-XXXXXX", &fixture->path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  fixture->models = apr_serve_models_new ();
  fixture->handler.models = fixture->models;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_remove (fixture->path);
  apr_serve_models_free (fixture->models);
  g_free (fixture->path);
}

/* Serves a model with the coefficients 0, 1, 2, .... */
static void
add (Fixture *fixture, const char *name, const char *names, gsize n)
{
  const gsize one = 1;
  const double zero = 0;
  g_autofree double *values = g_new (double, n);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (AprTensor) intercept = apr_tensor_new_from_doubles (&zero, 1, &one, 1, NULL);
  GError *error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = (double) i;
  coefficients = apr_tensor_new_from_doubles (values, n, &n, 1, NULL);
  apr_safetensors_writer_add_tensor (writer, "coefficients", coefficients, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, "intercept", intercept, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_set_metadata (writer, "aprender.model", "AprLinearRegression", &error);
  apr_safetensors_writer_set_metadata (writer, "aprender.format", "1", &error);
  apr_safetensors_writer_set_metadata (writer, "aprender.feature_names", names, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_write_to_path (writer, fixture->path, &error);
  g_assert_no_error (error);
  apr_serve_models_add (fixture->models, name, fixture->path, &error);
  g_assert_no_error (error);
}

/* “aR” and “b1” have the same hash in g_str_hash(), and so have all texts that are made of as many of them. */
static void
append_colliding (GString *text, gsize i)
{
  guint bit;

  for (bit = 0; bit < N_BITS; bit++)
    g_string_append (text, (i >> bit & 1) != 0 ? "aR" : "b1");
}

/* Looked for in a hash table of g_str_hash(), each of these would be compared with all before it, for half an hour. */
static void
test_colliding_names (Fixture *fixture, gconstpointer data)
{
  static const gsize columns[] = { 0, 1, 77, (1 << N_BITS) - 1 };
  g_autoptr (GString) names = g_string_new ("[");
  g_autoptr (AprServeModel) model = NULL;
  gsize column;
  gsize i;

  for (i = 0; i < 1 << N_BITS; i++)
    {
      g_string_append (names, i > 0 ? ",\"" : "\"");
      append_colliding (names, i);
      g_string_append_c (names, '"');
    }
  g_string_append_c (names, ']');
  add (fixture, "wide", names->str, 1 << N_BITS);

  model = apr_serve_models_get (fixture->models, 0);
  for (i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      g_autoptr (GString) name = g_string_new (NULL);

      append_colliding (name, columns[i]);
      g_assert_true (apr_serve_model_find_column (model, name->str, &column));
      g_assert_cmpuint (column, ==, columns[i]);
      g_string_append_c (name, 'b');
      g_assert_false (apr_serve_model_find_column (model, name->str, &column));
    }
}

/* So long that a few answers with all of them are longer than what all answers together may be. */
static void
add_long_names (Fixture *fixture, const char *name)
{
  g_autofree char *padding = g_strnfill (100000, 'x');
  g_autofree char *names = g_strdup_printf ("[\"a%s\",\"b%s\"]", padding, padding);

  add (fixture, name, names, 2);
}

static AprServeResponse
ask (Fixture *fixture, const char *method, const char *path, const char *body)
{
  g_autofree char *padded = g_malloc0 (strlen (body) + APR_DECIMAL_PADDING);
  AprServeRequest request = {
    .method = method, .path = path, .body = padded, .body_size = strlen (body), .max_answer = 64 * 1024
  };
  AprServeResponse response;

  memcpy (padded, body, request.body_size);
  apr_serve_handle (&fixture->handler, &request, &response);

  return response;
}

/* The parts that the answer has and those of the same request again are the same bytes, and all that is long. */
static void
assert_shared (Fixture *fixture, const char *path, gsize min)
{
  AprServeResponse response = ask (fixture, "GET", path, "");
  AprServeResponse again = ask (fixture, "GET", path, "");
  gsize size = 0;
  guint i;

  g_assert_cmpuint (response.status, ==, 200);
  g_assert_nonnull (response.parts);
  g_assert_cmpuint (response.parts->len, ==, again.parts->len);
  for (i = 0; i < response.parts->len; i++)
    {
      GBytes *part = g_ptr_array_index (response.parts, i);

      g_assert_true (g_bytes_get_data (part, NULL) ==
                     g_bytes_get_data (g_ptr_array_index (again.parts, i), NULL));
      size += g_bytes_get_size (part);
    }
  g_assert_cmpuint (size, >=, min);
  g_assert_cmpuint (response.body->allocated_len, <, 1000);
  apr_serve_response_clear (&response);
  apr_serve_response_clear (&again);
}

/* Whoever asks for what is said of a model takes no memory for it, nor time of others. */
static void
test_shared_answers (Fixture *fixture, gconstpointer data)
{
  add_long_names (fixture, "long");
  assert_shared (fixture, "/", 400000);
  assert_shared (fixture, "/v2/models/long", 200000);
  add_long_names (fixture, "other");
  assert_shared (fixture, "/", 800000);
  assert_shared (fixture, "/v2/models/other", 200000);
}

/* A short request has no long error. */
static void
test_short_errors (Fixture *fixture, gconstpointer data)
{
  g_autofree char *padding = g_strnfill (100000, 'x');
  g_autofree char *incomplete = g_strdup_printf ("{\"features\":{\"a%s\":1}}", padding);
  g_autofree char *twice = g_strdup_printf ("{\"features\":{\"a%s\":1,\"a%s\":2}}", padding, padding);
  g_autofree char *text = g_strdup_printf ("{\"features\":{\"a%s\":\"\"}}", padding);
  const struct
  {
    const char *body;
    const char *part;
  } cases[] = {
    { "{\"features\":{\"c\":1}}", "the model has no feature “c”; its features are: axxx" },
    { incomplete, "xxx… (100001 bytes)” is missing" },
    { twice, "xxx… (100001 bytes)” is there twice" },
    { text, "xxx… (100001 bytes): expected a number" },
  };
  gsize i;

  add_long_names (fixture, "long");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprServeResponse response = ask (fixture, "POST", "/predict", cases[i].body);

      g_assert_cmpuint (response.status, ==, 400);
      if (strstr (response.body->str, cases[i].part) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].part, response.body->str);
      g_assert_cmpuint (response.body->len, <, 1000);
      apr_serve_response_clear (&response);
    }
}

/* Wherever a request finds no memory, it is told so; then there is memory again, and the same request is answered. */
static void
test_no_memory (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *path;
    const char *before;
    const char *row;
    guint n_rows;
    const char *after;
    guint n_texts; /* at least */
    guint n_names;
  } requests[] = {
    { "/predict", "{\"features\":[", "[3,4]", 1, "]}", 0, 0 },
    { "/predict", "{\"features\":[", "[3,4]", 500, "]}", 2, 0 },
    { "/predict", "{\"features\":[", "{\"b\":4,\"a\":3}", 1, "]}", 0, 3 },
    { "/predict", "{\"features\":[", "[3,4]", 1,
      "],\"\\u0061 name so long that it does not fit where escapes are replaced at first, of some 100 "
      "bytes\":0}",
      1, 0 },
    { "/predict/batch", "{\"instances\":[", "[3,4]", 500, "]}", 5, 0 },
    { "/v2/models/small/infer", "{\"inputs\":[{\"shape\":[500,2],\"datatype\":\"FP64\",\"data\":[", "3,4",
      500, "]}]}", 2, 0 },
  };
  gsize i;
  guint j;

  add (fixture, "small", "[\"a\",\"b\"]", 2);
  for (i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      g_autoptr (GString) body = g_string_new (requests[i].before);

      for (j = 0; j < requests[i].n_rows; j++)
        g_string_append_printf (body, "%s%s", j > 0 ? "," : "", requests[i].row);
      g_string_append (body, requests[i].after);
      for (n_good = 0;; n_good++)
        {
          AprServeResponse response;
          gboolean all_good;

          n_calls = n_texts = n_names = 0;
          response = ask (fixture, "POST", requests[i].path, body->str);
          all_good = n_calls <= n_good;
          g_assert_cmpuint (response.status, ==, all_good ? 200 : 503);
          if (!all_good && strstr (response.body->str, "\"code\":\"E_NO_MEMORY\"}") == NULL)
            g_error ("%s", response.body->str);
          apr_serve_response_clear (&response);
          if (all_good)
            break;
        }
      n_good = G_MAXUINT;
      g_assert_cmpuint (n_texts, >=, requests[i].n_texts);
      g_assert_cmpuint (n_names, >=, requests[i].n_names);
    }
}

#define INFER "{\"inputs\":[{\"shape\":[1,2],\"datatype\":\"FP64\",\"data\":[3,4]}]"

/* Texts that are copied, or numbers, are no longer than anybody needs. */
static void
test_long_texts (Fixture *fixture, gconstpointer data)
{
  static const char infer[] = "/v2/models/small/infer";
  g_autofree char *fits = g_strnfill (4096, 'a');
  g_autofree char *zeros = g_strnfill (4096, '0');
  const struct
  {
    const char *path;
    const char *before;
    const char *text;
    const char *after;
    guint status;
    const char *part;
  } cases[] = {
    { infer, INFER ",\"id\":\"", fits, "\"}", 200, "\"data\":[4]" },
    { infer, INFER ",\"id\":\"b", fits, "\"}", 400, "\"id: expected at most 4096 bytes, got 4097\"" },
    { "/predict", "{\"features\":[3,4],\"model_id\":\"", fits, "\"}", 404, "there is no model “aaa" },
    { "/predict", "{\"features\":[3,4],\"model_id\":\"b", fits, "\"}", 400,
      "\"model_id: expected at most 4096 bytes, got 4097\"" },
    { infer, INFER ",\"id\":\"\",\"parameters\":{\"interval\":0.9", zeros, "}}", 400,
      "\"parameters.interval: expected a number of at most 4096 bytes\"" },
  };
  gsize i;

  add (fixture, "small", "[\"a\",\"b\"]", 2);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *body = g_strconcat (cases[i].before, cases[i].text, cases[i].after, NULL);
      AprServeResponse response = ask (fixture, "POST", cases[i].path, body);

      if (strstr (response.body->str, cases[i].part) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].part, response.body->str);
      g_assert_cmpuint (response.status, ==, cases[i].status);
      apr_serve_response_clear (&response);
    }
}

/* As there is one tensor to read of a file, its header need not be long. */
static void
test_long_header (Fixture *fixture, gconstpointer data)
{
  const double zeros[2] = { 0 };
  const gsize shape[] = { 1, 2 };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles (zeros, 2, shape, 2, NULL);
  guint i;

  add (fixture, "small", "[\"a\",\"b\"]", 2);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "X", x, NULL));
  for (i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strnfill ((i + 1) * 1000 * 1000, 'a');
      g_autoptr (GBytes) bytes = NULL;
      AprServeRequest request = { .method = "POST",
                                  .path = "/predict",
                                  .content_type = "application/octet-stream" };
      AprServeResponse response;

      g_assert_true (apr_safetensors_writer_set_metadata (writer, "a", text, NULL));
      bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
      request.body = g_bytes_get_data (bytes, &request.body_size);
      apr_serve_handle (&fixture->handler, &request, &response);
      g_assert_cmpuint (response.status, ==, i == 0 ? 200 : 400);
      g_assert_true (i == 0 || strstr (response.body->str, "1048576") != NULL);
      apr_serve_response_clear (&response);
    }
}

/* What JSON's readers agree on (RFC 7493, 2.2): beyond, two whole numbers may be one double. */
static void
test_whole_numbers (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *datatype;
    const char *number;
    guint status;
  } cases[] = {
    { "INT64", "9007199254740991", 200 },
    { "INT64", "-9007199254740991", 200 },
    { "INT64", "9007199254740992", 400 },
    { "INT64", "9007199254740993", 400 },
    { "INT64", "-9007199254740992", 400 },
    { "INT64", "-9007199254740993", 400 },
    { "UINT64", "9007199254740991", 200 },
    { "UINT64", "9007199254740993", 400 },
    { "UINT64", "0", 200 },
    { "UINT64", "18446744073709551615", 400 },
    { "INT64", "-1", 200 },
    { "INT64", "-9223372036854775808", 400 },
  };
  gsize i;

  add (fixture, "small", "[\"a\",\"b\"]", 2);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *data_of_json =
        g_strdup_printf ("{\"inputs\":[{\"shape\":[1,2],\"datatype\":\"%s\",\"data\":[0,%s]}]}",
                         cases[i].datatype, cases[i].number);
      g_autofree char *head = g_strdup_printf ("{\"inputs\":[{\"shape\":[1,2],\"datatype\":\"%s\","
                                               "\"parameters\":{\"binary_data_size\":16}}]}",
                                               cases[i].datatype);
      g_autofree char *json_length = g_strdup_printf ("%" G_GSIZE_FORMAT, strlen (head));
      g_autofree char *answer = g_strdup_printf ("\"data\":[%s]}]}", cases[i].number);
      guint64 bits = cases[i].number[0] == '-' ? (guint64) g_ascii_strtoll (cases[i].number, NULL, 10)
                                               : g_ascii_strtoull (cases[i].number, NULL, 10);
      guint64 row[2] = { 0, GUINT64_TO_LE (bits) };
      g_autoptr (GByteArray) body = g_byte_array_new ();
      AprServeRequest request = { .method = "POST",
                                  .path = "/v2/models/small/infer",
                                  .json_length = json_length };
      AprServeResponse responses[2];
      guint k;

      g_byte_array_append (body, (const guint8 *) head, (guint) strlen (head));
      g_byte_array_append (body, (const guint8 *) row, sizeof row);
      request.body_size = body->len;
      g_byte_array_set_size (body, body->len + APR_DECIMAL_PADDING);
      memset (body->data + request.body_size, 0, APR_DECIMAL_PADDING);
      request.body = (const char *) body->data;
      responses[0] = ask (fixture, "POST", request.path, data_of_json);
      apr_serve_handle (&fixture->handler, &request, &responses[1]);
      for (k = 0; k < 2; k++)
        {
          const char *part =
            cases[i].status == 200 ? answer : " between -9007199254740991 and 9007199254740991\"";

          if (responses[k].status != cases[i].status || strstr (responses[k].body->str, part) == NULL)
            g_error ("%s %s: %s", cases[i].datatype, cases[i].number, responses[k].body->str);
          apr_serve_response_clear (&responses[k]);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/serve/wide-models/colliding-names", Fixture, NULL, set_up, test_colliding_names, tear_down);
  g_test_add ("/serve/wide-models/shared-answers", Fixture, NULL, set_up, test_shared_answers, tear_down);
  g_test_add ("/serve/wide-models/short-errors", Fixture, NULL, set_up, test_short_errors, tear_down);
  g_test_add ("/serve/wide-models/long-texts", Fixture, NULL, set_up, test_long_texts, tear_down);
  g_test_add ("/serve/wide-models/long-header", Fixture, NULL, set_up, test_long_header, tear_down);
  g_test_add ("/serve/wide-models/whole-numbers", Fixture, NULL, set_up, test_whole_numbers, tear_down);
  g_test_add ("/serve/wide-models/no-memory", Fixture, NULL, set_up, test_no_memory, tear_down);

  return g_test_run ();
}
