/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-routes.h"

#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-predictions.h"
#include "aprender/serve/apr-serve-rows.h"
#include "aprender/serve/apr-serve-safetensors.h"

/* The routes and shapes of realizar's server (its src/serve.rs), so that its clients can be served. What goes
 * beyond it: features may be rows and may have names, and predictions may have intervals. */

void
apr_serve_health (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_string_assign (response->body, "{\"status\":\"healthy\",\"version\":\"" PACKAGE_VERSION "\"}\n");
}

void
apr_serve_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, 0);

  g_string_assign (response->body, "{\"ready\":true,\"model_loaded\":true,\"model_name\":");
  apr_serve_json_append_string (response->body, model->name);
  g_string_append (response->body, "}\n");
}

void
apr_serve_list_models (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  guint i;

  g_string_assign (response->body, "{\"models\":[");
  for (i = 0; i < apr_serve_models_get_size (self->models); i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self->models, i);

      g_string_append (response->body, i > 0 ? ",{\"id\":" : "{\"id\":");
      apr_serve_json_append_string (response->body, model->name);
      g_string_append_printf (response->body,
                              ",\"model_type\":\"LinearRegression\",\"version\":\"%s\",\"loaded\":true}",
                              model->version);
    }
  g_string_append (response->body, "]}\n");
}

/* What comes before the row of an instance that is {"features": ROW}, not ROW itself; NULL where it is the latter. The
 * value of a feature that has the name “features” would be a number. */
static const char *
find_wrapped_row (const AprJsonCursor *cursor)
{
  AprJsonCursor copy = *cursor;
  AprJsonString key;
  gboolean wrapped;

  copy.scratch = NULL;
  wrapped = apr_json_cursor_take (&copy, '{') && apr_json_cursor_scan_string (&copy, &key, NULL) &&
            apr_serve_json_equal (&key, "features") && apr_json_cursor_take (&copy, ':');
  apr_json_cursor_skip_space (&copy);
  wrapped = wrapped && copy.position < copy.end && (*copy.position == '[' || *copy.position == '{');
  apr_json_cursor_clear (&copy);

  return wrapped ? copy.position : NULL;
}

static gboolean
scan_instance (AprServeRows *rows, AprJsonCursor *cursor, const AprServeModel *model, GError **error)
{
  const char *wrapped = find_wrapped_row (cursor);

  if (wrapped != NULL)
    cursor->position = wrapped;
  if (!apr_serve_rows_scan_row (rows, cursor, model, "instances", error))
    return FALSE;
  if (wrapped != NULL && !apr_json_cursor_take (cursor, '}'))
    return apr_json_cursor_expected (cursor, "“}”", error);

  return TRUE;
}

static gboolean
scan_instances (AprServeRows *rows, AprJsonCursor *cursor, const AprServeModel *model, GError **error)
{
  if (!apr_json_cursor_take (cursor, '['))
    return apr_json_cursor_expected (cursor, "a list of instances", error);
  if (apr_json_cursor_take (cursor, ']'))
    return TRUE;
  do
    if (!scan_instance (rows, cursor, model, error))
      return FALSE;
  while (apr_json_cursor_take (cursor, ','));
  if (!apr_json_cursor_take (cursor, ']'))
    return apr_json_cursor_expected (cursor, "“,” or “]”", error);

  return TRUE;
}

/* The member of a request that has the rows. */
typedef struct
{
  const char *name;
  gboolean (*scan) (AprServeRows *rows, AprJsonCursor *cursor, const AprServeModel *model, GError **error);
} Field;

typedef struct
{
  const Field *field;
  const AprServeModel *model;
  AprServeRows *rows;
} Reading;

static gboolean
scan_rows (AprJsonCursor *cursor, gpointer data, GError **error)
{
  Reading *self = data;

  return self->field->scan (self->rows, cursor, self->model, error);
}

/* Finds the model that a request names, in its query or its body. The body may do so behind the rows; but they cannot
 * be read without knowing it. */
static AprServeModel *
find_model (AprServeHandler *self, const AprServeRequest *request, AprJsonCursor cursor, GError **error)
{
  AprServeMember model_id = { "model_id" };
  g_autoptr (AprServeModel) model = NULL;
  g_autofree char *name = NULL;

  if (request->model != NULL || apr_serve_models_get_size (self->models) == 1)
    return apr_serve_models_find (self->models, request->model, error);

  if (!apr_serve_json_scan_request (&cursor, &model_id, 1, error))
    goto out;
  if (model_id.value != NULL)
    {
      cursor.position = model_id.value;
      name = apr_serve_json_scan_text (&cursor, model_id.name, error);
      if (name == NULL)
        goto out;
    }
  model = apr_serve_models_find (self->models, name, error);

out:
  apr_json_cursor_clear (&cursor);
  return g_steal_pointer (&model);
}

/* Whether a body that names a model names the one that was found. */
static gboolean
check_model_id (AprServeHandler *self,
                const AprServeRequest *request,
                AprJsonCursor *cursor,
                const char *model_id,
                GError **error)
{
  g_autoptr (AprServeModel) model = NULL;
  g_autofree char *name = NULL;

  if (model_id == NULL)
    return TRUE;
  cursor->position = model_id;
  name = apr_serve_json_scan_text (cursor, "model_id", error);
  if (name != NULL && request->model != NULL && strcmp (name, request->model) != 0)
    {
      g_autofree char *shown = apr_serve_json_display (name);
      g_autofree char *other = apr_serve_json_display (request->model);

      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "model_id: the body has “%s”, but the query “%s”",
                   shown, other);
      return FALSE;
    }
  model = name != NULL ? apr_serve_models_find (self->models, name, error) : NULL;

  return model != NULL;
}

/* Reads the rows of a request, and finds the model that they are for. */
static AprServeModel *
scan_request (AprServeHandler *self,
              const AprServeRequest *request,
              const Field *field,
              AprServeRows *rows,
              GError **error)
{
  Reading reading = { .field = field, .rows = rows };
  AprServeMember members[] = { { field->name, .scan = scan_rows, .data = &reading }, { "model_id" } };
  g_autoptr (AprServeModel) model = NULL;
  AprJsonCursor cursor;
  gboolean succeeded;

  apr_json_cursor_init (&cursor, "body", request->body, request->body_size);
  reading.model = model = find_model (self, request, cursor, error);
  succeeded = model != NULL &&
              apr_serve_json_scan_request (&cursor, members, G_N_ELEMENTS (members), error) &&
              check_model_id (self, request, &cursor, members[1].value, error);
  if (succeeded && members[0].value == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "%s is missing", field->name);
      succeeded = FALSE;
    }
  apr_json_cursor_clear (&cursor);

  return succeeded ? g_steal_pointer (&model) : NULL;
}

static gboolean
scan_features (AprServeRows *rows, AprJsonCursor *cursor, const AprServeModel *model, GError **error)
{
  return apr_serve_rows_scan (rows, cursor, model, "features", error);
}

static const Field features = { "features", scan_features };
static const Field instances = { "instances", scan_instances };

/* Appends a tensor's rows, as the request had them. */
static gboolean
append_rows (const AprServePredictions *predictions,
             GString *json,
             const char *name,
             AprTensor *values,
             const AprServeRows *rows,
             gsize n_targets,
             GError **error)
{
  gsize i;

  g_string_append_printf (json, "%s\"%s\":%s", json->len == 1 ? "" : ",", name, rows->single ? "" : "[");
  for (i = 0; i < rows->n_rows; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      if (!apr_serve_predictions_append_row (predictions, json, values, n_targets, i, error))
        return FALSE;
    }
  if (!rows->single)
    g_string_append_c (json, ']');

  return TRUE;
}

static gboolean
append_predictions (GString *json,
                    const AprServePredictions *predictions,
                    const AprServeRows *rows,
                    gsize n_targets,
                    GError **error)
{
  g_string_append_c (json, '{');

  return append_rows (predictions, json, "prediction", predictions->predictions, rows, n_targets, error) &&
         (predictions->lower == NULL ||
          (append_rows (predictions, json, "lower", predictions->lower, rows, n_targets, error) &&
           append_rows (predictions, json, "upper", predictions->upper, rows, n_targets, error)));
}

static void
append_milliseconds (GString *json, const char *name, gint64 began)
{
  gint64 elapsed = g_get_monotonic_time () - began;

  g_string_append_printf (json, ",\"%s\":%" G_GINT64_FORMAT ".%03d", name, elapsed / 1000,
                          (int) (elapsed % 1000));
}

void
apr_serve_predict (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  gint64 began = g_get_monotonic_time ();
  g_auto (AprServeRows) rows = { 0 };
  g_auto (AprServePredictions) predictions = { 0 };
  g_autoptr (AprServeModel) model = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (GError) error = NULL;

  if (apr_serve_is_safetensors (request))
    {
      model = apr_serve_models_find (self->models, request->model, &error);
      if (model != NULL)
        apr_serve_predict_safetensors (model, request, response);
      else
        apr_serve_response_fail_with (response, error);
      return;
    }

  model = scan_request (self, request, &features, &rows, &error);
  x = model != NULL ? apr_serve_rows_to_tensor (&rows, model, &error) : NULL;
  if (x == NULL || !apr_serve_predictions_make (&predictions, request, model, x, request->interval, &error) ||
      !append_predictions (response->body, &predictions, &rows, model->n_targets, &error))
    {
      apr_serve_response_fail_with (response, error);
      return;
    }

  append_milliseconds (response->body, "latency_ms", began);
  g_string_append_printf (response->body, ",\"model_version\":\"%s\"}\n", model->version);
  response->n_rows = rows.n_rows;
}

/* A list of answers as apr_serve_predict() gives them, each for one row. */
static gboolean
append_answers (GString *json,
                const AprServePredictions *predictions,
                gsize n_rows,
                const AprServeModel *model,
                gint64 began,
                GError **error)
{
  const struct
  {
    const char *name;
    AprTensor *values;
  } columns[] = { { "{\"prediction\":", predictions->predictions },
                  { ",\"lower\":", predictions->lower },
                  { ",\"upper\":", predictions->upper } };
  gsize i;
  guint k;

  g_string_append (json, "{\"predictions\":[");
  for (i = 0; i < n_rows; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      for (k = 0; k < G_N_ELEMENTS (columns) && columns[k].values != NULL; k++)
        {
          g_string_append (json, columns[k].name);
          if (!apr_serve_predictions_append_row (predictions, json, columns[k].values, model->n_targets, i,
                                                 error))
            return FALSE;
        }
      append_milliseconds (json, "latency_ms", began);
      g_string_append_printf (json, ",\"model_version\":\"%s\"}", model->version);
    }
  g_string_append_c (json, ']');

  return TRUE;
}

void
apr_serve_predict_batch (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  gint64 began = g_get_monotonic_time ();
  g_auto (AprServeRows) rows = { 0 };
  g_auto (AprServePredictions) predictions = { 0 };
  g_autoptr (AprServeModel) model = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (GError) error = NULL;

  model = scan_request (self, request, &instances, &rows, &error);
  if (model != NULL && rows.n_rows == 0)
    {
      apr_serve_response_fail (response, 400, "E_EMPTY_BATCH", "instances: expected at least 1 row, got 0");
      return;
    }
  x = model != NULL ? apr_serve_rows_to_tensor (&rows, model, &error) : NULL;
  if (x == NULL || !apr_serve_predictions_make (&predictions, request, model, x, request->interval, &error) ||
      !append_answers (response->body, &predictions, rows.n_rows, model, began, &error))
    {
      apr_serve_response_fail_with (response, error);
      return;
    }

  append_milliseconds (response->body, "total_latency_ms", began);
  g_string_append (response->body, "}\n");
  response->n_rows = rows.n_rows;
}
