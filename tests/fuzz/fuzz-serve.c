/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include <glib/gstdio.h>

#include "aprender/serve/apr-serve-handler.h"
#include "aprender/table/apr-decimal-private.h"

/* A model with names, and one with two targets and sums for intervals. */
static AprServeModels *
make_models (void)
{
  const double x[] = { 1, 2, 2, 1, 3, 5, 4, 4, 5, 7 };
  const double y[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 };
  const gsize shape[] = { 5, 2 };
  static const char *const names[] = { "a", "b", NULL };
  static const char *const files[] = { "named", "sums" };
  g_autofree char *folder = g_dir_make_tmp ("aprender-fuzz-XXXXXX", NULL);
  AprServeModels *models = apr_serve_models_new ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (AprTensor) features = apr_tensor_new_from_doubles (x, 10, shape, 2, NULL);
      g_autoptr (AprTensor) targets =
        apr_tensor_new_from_doubles (y, i == 0 ? 5 : 10, shape, i == 0 ? 1 : 2, NULL);
      g_autofree char *path = g_build_filename (folder, files[i], NULL);
      GError *error = NULL;

      apr_linear_regression_set_keep_state (model, i == 1);
      apr_estimator_fit (APR_ESTIMATOR (model), features, targets, NULL, NULL, &error);
      g_assert_no_error (error);
      apr_estimator_set_feature_names (APR_ESTIMATOR (model), i == 0 ? names : NULL, &error);
      g_assert_no_error (error);
      apr_estimator_save (APR_ESTIMATOR (model), path, &error);
      g_assert_no_error (error);
      apr_serve_models_add (models, files[i], path, &error);
      g_assert_no_error (error);
      g_remove (path);
    }
  g_rmdir (folder);

  return models;
}

/* A request: a line with the method, the path, the model, the Content-Type, the interval and the length of the JSON,
 * between them a space, then the body. Whatever it is, there is an answer: of what it says it is. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static AprServeHandler handler;
  const guint8 *newline = size > 0 ? memchr (data, '\n', size) : NULL;
  gsize n_line = newline != NULL ? (gsize) (newline - data) : size;
  g_autofree char *line = g_strndup (size > 0 ? (const char *) data : "", n_line);
  g_auto (GStrv) words = g_strsplit (line, " ", 6);
  guint n_words = g_strv_length (words);
  gsize body_size = newline != NULL ? size - n_line - 1 : 0;
  g_autofree char *body = g_malloc0 (body_size + APR_DECIMAL_PADDING);
  AprServeRequest request = {
    .method = n_words > 0 ? words[0] : "",
    .path = n_words > 1 ? words[1] : "",
    .model = n_words > 2 && words[2][0] != '\0' ? words[2] : NULL,
    .content_type = n_words > 3 ? words[3] : NULL,
    .interval = n_words > 4 && words[4][0] != '\0' ? words[4] : NULL,
    .json_length = n_words > 5 ? words[5] : NULL,
    .body = body,
    .body_size = body_size,
  };
  AprServeResponse response;
  guint i;

  if (handler.models == NULL)
    handler.models = make_models ();
  if (body_size > 0)
    memcpy (body, newline + 1, body_size);
  apr_serve_handle (&handler, &request, &response);

  g_assert_cmpuint (response.status, >=, 200);
  g_assert_cmpuint (response.status, <, 500);
  /* As they are sent. */
  for (i = 0; response.parts != NULL && i < response.parts->len; i++)
    {
      GBytes *part = g_ptr_array_index (response.parts, i);

      g_string_append_len (response.body, g_bytes_get_data (part, NULL), (gssize) g_bytes_get_size (part));
    }
  touch_bytes (response.body->str, response.body->len);
  if (response.status != 200)
    {
      g_assert_cmpstr (response.content_type, ==, "application/json");
      g_assert_true (g_str_has_prefix (response.body->str, "{\"error\":\""));
      g_assert_cmpuint (response.n_rows, ==, 0);
    }
  if (!g_str_equal (response.content_type, "application/octet-stream"))
    g_assert_true (g_utf8_validate (response.body->str, (gssize) response.body->len, NULL));
  apr_serve_response_clear (&response);

  return 0;
}
