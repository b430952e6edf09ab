/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-predictions.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-strings-private.h"
#include "aprender/serve/apr-serve-json.h"
#include "aprender/table/apr-decimal-private.h"

/* More than there is in an answer between two numbers, or behind the last. */
#define MAX_BETWEEN 256

static gboolean
parse_level (const char *interval, double *level, GError **error)
{
  gsize length = strlen (interval);
  g_autofree char *padded = g_malloc0 (length + APR_DECIMAL_PADDING);
  g_autofree char *shown = NULL;
  AprJsonCursor cursor;

  memcpy (padded, interval, length + 1);
  apr_json_cursor_init (&cursor, "interval", padded, length);
  if (apr_serve_json_scan_number (&cursor, level) && cursor.position == cursor.end && *level > 0 &&
      *level < 1)
    return TRUE;

  shown = g_utf8_make_valid (interval, -1);
  g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
               "interval: expected a number between 0 and 1, such as 0.95, got “%s”", shown);
  return FALSE;
}

/* Before there is any prediction: a number takes at least two bytes, in a file or with what separates it from the next.
 * What is not for the model is refused by it. */
static gboolean
check_rows (
  const AprServeRequest *request, const AprServeModel *model, AprTensor *x, gsize n_outputs, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (x, &n_dims);
  gsize size;

  if (n_dims != 2 || shape[1] != model->n_features)
    return TRUE;
  if (shape[0] == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "X: expected at least 1 row, got 0");
      return FALSE;
    }
  if (!g_size_checked_mul (&size, shape[0], model->n_targets) ||
      !g_size_checked_mul (&size, size, 2 * n_outputs))
    size = G_MAXSIZE;

  return apr_serve_request_check_room (request, size, error);
}

gboolean
apr_serve_predictions_make (AprServePredictions *self,
                            const AprServeRequest *request,
                            const AprServeModel *model,
                            AprTensor *x,
                            const char *interval,
                            GError **error)
{
  double level;

  self->request = request;
  if (!check_rows (request, model, x, interval != NULL ? 3 : 1, error))
    return FALSE;
  if (interval != NULL)
    {
      if (!parse_level (interval, &level, error))
        return FALSE;
      if (!apr_linear_regression_predict_interval (model->regression, x, level, APR_INTERVAL_PREDICTION,
                                                   &self->lower, &self->upper, error))
        {
          g_prefix_error (error, "interval: the model “%s”: ", model->name);
          return FALSE;
        }
    }

  self->predictions = apr_estimator_predict (APR_ESTIMATOR (model->regression), x, error);

  return self->predictions != NULL;
}

gboolean
apr_serve_predictions_append (
  const AprServePredictions *self, GString *json, AprTensor *values, gsize index, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (values);
  double value = apr_tensor_get_double (values, index, NULL);

  if (!isfinite (value))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "prediction %" G_GSIZE_FORMAT " (counted from 0) is beyond the range of %s", index,
                   apr_dtype_to_string (dtype));
      return FALSE;
    }
  if (!apr_string_reserve (json, APR_NUMBER_SIZE + MAX_BETWEEN, error))
    return FALSE;
  apr_serve_json_append_number (json, value, dtype);

  return apr_serve_request_check_room (self->request, json->len, error);
}

gboolean
apr_serve_predictions_append_row (const AprServePredictions *self,
                                  GString *json,
                                  AprTensor *values,
                                  gsize n_targets,
                                  gsize row,
                                  GError **error)
{
  gsize i;

  if (apr_tensor_get_n_dims (values) == 1)
    return apr_serve_predictions_append (self, json, values, row, error);

  for (i = 0; i < n_targets; i++)
    {
      g_string_append_c (json, i == 0 ? '[' : ',');
      if (!apr_serve_predictions_append (self, json, values, row * n_targets + i, error))
        return FALSE;
    }
  g_string_append_c (json, ']');

  return TRUE;
}

void
apr_serve_predictions_clear (AprServePredictions *self)
{
  g_clear_pointer (&self->predictions, apr_tensor_unref);
  g_clear_pointer (&self->lower, apr_tensor_unref);
  g_clear_pointer (&self->upper, apr_tensor_unref);
}
