/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-predictions.h"

#include <math.h>
#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/table/apr-decimal-private.h"

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

gboolean
apr_serve_predictions_make (
  AprServePredictions *self, const AprServeModel *model, AprTensor *x, const char *interval, GError **error)
{
  double level;

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
apr_serve_predictions_append (GString *json, AprTensor *values, gsize index, GError **error)
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
  apr_serve_json_append_number (json, value, dtype);

  return TRUE;
}

gboolean
apr_serve_predictions_append_row (
  GString *json, AprTensor *values, gsize n_targets, gsize row, GError **error)
{
  gsize i;

  if (apr_tensor_get_n_dims (values) == 1)
    return apr_serve_predictions_append (json, values, row, error);

  for (i = 0; i < n_targets; i++)
    {
      g_string_append_c (json, i == 0 ? '[' : ',');
      if (!apr_serve_predictions_append (json, values, row * n_targets + i, error))
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
