/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-safetensors.h"

#include <string.h>

#include "aprender/serve/apr-serve-predictions.h"

/* What Hugging Face serves such files as. */
#define CONTENT_TYPE "application/octet-stream"

/* What is read of a longer header could take much memory. */
#define MAX_HEADER_SIZE (1024 * 1024)

gboolean
apr_serve_is_safetensors (const AprServeRequest *request)
{
  static const char *const types[] = { CONTENT_TYPE, "application/vnd.safetensors",
                                       "application/x-safetensors" };
  gsize length = request->content_type != NULL ? strcspn (request->content_type, "; ") : 0;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (types); i++)
    if (length == strlen (types[i]) && g_ascii_strncasecmp (request->content_type, types[i], length) == 0)
      return TRUE;

  return FALSE;
}

/* The one tensor of the file, or the one that is called “X”. */
static AprTensor *
read_x (const AprServeRequest *request, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (request->body, request->body_size);
  g_autoptr (AprSafetensorsReader) reader =
    g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, error, "bytes", bytes, "max-header-size",
                    (guint64) MAX_HEADER_SIZE, NULL);
  const char *const *names;

  if (reader == NULL)
    {
      g_prefix_error (error, "body: ");
      return NULL;
    }
  names = apr_safetensors_reader_get_names (reader);

  return apr_safetensors_reader_get_tensor (reader, g_strv_length ((char **) names) == 1 ? names[0] : "X",
                                            error);
}

static gboolean
add_file (const AprServePredictions *predictions, AprServeResponse *response, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GBytes) bytes = NULL;

  if (!apr_safetensors_writer_add_tensor (writer, "predictions", predictions->predictions, error) ||
      (predictions->lower != NULL &&
       (!apr_safetensors_writer_add_tensor (writer, "lower", predictions->lower, error) ||
        !apr_safetensors_writer_add_tensor (writer, "upper", predictions->upper, error))))
    return FALSE;
  bytes = apr_safetensors_writer_write_to_bytes (writer, error);
  if (bytes == NULL || !apr_serve_request_check_room (predictions->request, g_bytes_get_size (bytes), error))
    return FALSE;
  apr_serve_response_add_part (response, bytes);
  response->own_size = g_bytes_get_size (bytes);

  return TRUE;
}

void
apr_serve_predict_safetensors (const AprServeModel *model,
                               const AprServeRequest *request,
                               AprServeResponse *response)
{
  g_auto (AprServePredictions) predictions = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) x = read_x (request, &error);

  if (x == NULL || !apr_serve_predictions_make (&predictions, request, model, x, request->interval, &error) ||
      !add_file (&predictions, response, &error))
    {
      apr_serve_response_fail_with (response, error);
      return;
    }

  response->content_type = CONTENT_TYPE;
  response->n_rows = apr_tensor_get_shape (predictions.predictions, NULL)[0];
}
