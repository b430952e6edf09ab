/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-predictions.h"
#include "aprender/serve/apr-serve-routes.h"
#include "aprender/serve/apr-serve-safetensors.h"
#include "aprender/serve/apr-serve-v2.h"

/* The Open Inference Protocol's request for predictions: one input, a matrix of numbers. They are JSON, or follow it,
 * as Triton's extension for binary tensors has them; answers are always JSON, which its clients take too. */

/* 2^53 - 1: up to here no two whole numbers are the same double. */
#define MAX_WHOLE G_GUINT64_CONSTANT (9007199254740991)
#define WITHIN_WHOLE " between -9007199254740991 and 9007199254740991"

static const struct
{
  const char *name;
  double min;
  double max;
  gboolean whole;
  AprDType dtype; /* of binary data */
} datatypes[] = {
  { "FP64", -G_MAXDOUBLE, G_MAXDOUBLE, FALSE, APR_DTYPE_F64 },
  { "FP32", -G_MAXFLOAT, G_MAXFLOAT, FALSE, APR_DTYPE_F32 },
  { "INT8", -0x1p7, 0x1p7 - 1, TRUE, APR_DTYPE_I8 },
  { "INT16", -0x1p15, 0x1p15 - 1, TRUE, APR_DTYPE_I16 },
  { "INT32", -0x1p31, 0x1p31 - 1, TRUE, APR_DTYPE_I32 },
  { "INT64", -(double) MAX_WHOLE, (double) MAX_WHOLE, TRUE, APR_DTYPE_I64 },
  { "UINT8", 0, 0x1p8 - 1, TRUE, APR_DTYPE_U8 },
  { "UINT16", 0, 0x1p16 - 1, TRUE, APR_DTYPE_U16 },
  { "UINT32", 0, 0x1p32 - 1, TRUE, APR_DTYPE_U32 },
  { "UINT64", 0, (double) MAX_WHOLE, TRUE, APR_DTYPE_U64 },
};

/* A request that is being read. */
typedef struct
{
  AprJsonCursor cursor;
  const AprServeModel *model;
  char *id;       /* (owned) (nullable) */
  char *interval; /* (owned) (nullable) */
  guint datatype; /* an index of datatypes */
  gsize n_rows;
  double *values; /* (owned) (nullable) those that were read */
  gsize n_values;
  gsize capacity;
  const guint8 *binary; /* (nullable) what follows the JSON, where the request says that something may */
  gsize binary_size;
  AprTensor *x; /* (owned) (nullable) the rows */
} Inference;

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error != NULL)
    *error = g_error_new_valist (APR_ERROR, APR_ERROR_SHAPE, format, arguments);
  va_end (arguments);

  return FALSE;
}

static gboolean
scan_datatype (Inference *self, GError **error)
{
  g_autofree char *name = apr_serve_json_scan_text (&self->cursor, "inputs[0].datatype", error);
  g_autofree char *shown = NULL;

  if (name == NULL)
    return FALSE;
  for (self->datatype = 0; self->datatype < G_N_ELEMENTS (datatypes); self->datatype++)
    if (strcmp (datatypes[self->datatype].name, name) == 0)
      return TRUE;

  shown = apr_serve_json_display (name);
  return fail (error, "inputs[0].datatype: expected FP64, FP32, INT8 to INT64 or UINT8 to UINT64, got “%s”",
               shown);
}

static gboolean
scan_shape (Inference *self, GError **error)
{
  AprJsonCursor *cursor = &self->cursor;
  guint64 shape[2] = { 0 };
  guint64 dim;
  gsize n_dims = 0;

  if (!apr_json_cursor_take (cursor, '['))
    return fail (error, "inputs[0].shape: expected a list of whole numbers");
  while (apr_json_cursor_scan_u64 (cursor, &dim))
    {
      if (n_dims < 2)
        shape[n_dims] = dim;
      n_dims++;
      if (!apr_json_cursor_take (cursor, ','))
        break;
    }
  if (!apr_json_cursor_take (cursor, ']'))
    return fail (error, "inputs[0].shape: expected a list of whole numbers");
  if (n_dims != 2)
    return fail (error, "inputs[0].shape: expected 2 dimensions, got %" G_GSIZE_FORMAT, n_dims);
  if (shape[1] != self->model->n_features)
    return fail (error, "inputs[0].shape: expected %" G_GSIZE_FORMAT " columns, got %" G_GUINT64_FORMAT,
                 self->model->n_features, shape[1]);
  self->n_rows = shape[0];

  return TRUE;
}

static gboolean
scan_element (Inference *self, GError **error)
{
  gboolean is_number;
  double value;

  if (!apr_serve_json_reserve_numbers (&self->values, &self->capacity, self->n_values, 1, error))
    return FALSE;

  is_number = apr_serve_json_scan_number (&self->cursor, &value);
  if (!is_number)
    {
      g_autofree char *found = apr_serve_json_describe (&self->cursor);

      return fail (error, "inputs[0].data[%" G_GSIZE_FORMAT "]: expected a number, found %s", self->n_values,
                   found);
    }
  if (!(value >= datatypes[self->datatype].min && value <= datatypes[self->datatype].max) ||
      (datatypes[self->datatype].whole && value != floor (value)))
    return fail (
      error,
      "inputs[0].data[%" G_GSIZE_FORMAT "]: the number that ends at byte %" G_GSIZE_FORMAT " is no %s%s",
      self->n_values, (gsize) (self->cursor.position - self->cursor.start), datatypes[self->datatype].name,
      datatypes[self->datatype].max == (double) MAX_WHOLE ? WITHIN_WHOLE : "");
  if (strcmp (datatypes[self->datatype].name, "FP32") == 0)
    value = (double) (float) value;
  self->values[self->n_values++] = value;

  return TRUE;
}

/* The numbers may be in lists of lists, or in one. That they are JSON has been found out before. */
static gboolean
scan_data (Inference *self, GError **error)
{
  AprJsonCursor *cursor = &self->cursor;
  guint depth = 0;
  gsize n_expected;

  do
    {
      while (apr_json_cursor_take (cursor, '['))
        depth++;
      if (depth == 0)
        return fail (error, "inputs[0].data: expected a list of numbers");
      if (!apr_json_cursor_take (cursor, ']'))
        {
          if (!scan_element (self, error))
            return FALSE;
        }
      else
        depth--;
      while (depth > 0 && apr_json_cursor_take (cursor, ']'))
        depth--;
    }
  while (depth > 0 && apr_json_cursor_take (cursor, ','));
  if (depth > 0)
    return apr_json_cursor_expected (cursor, "“,” or “]”", error);

  if (!g_size_checked_mul (&n_expected, self->n_rows, self->model->n_features))
    return fail (error, "inputs[0].shape: [%" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT "] is too large",
                 self->n_rows, self->model->n_features);
  if (self->n_values != n_expected)
    return fail (error,
                 "inputs[0].data: the shape [%" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT "] needs %" G_GSIZE_FORMAT
                 " numbers, got %" G_GSIZE_FORMAT,
                 self->n_rows, self->model->n_features, n_expected, self->n_values);

  return TRUE;
}

/* The rows of the values that were read. */
static gboolean
make_rows (Inference *self, GError **error)
{
  gsize shape[2] = { self->n_rows, self->model->n_features };

  self->x = apr_tensor_new_from_doubles (self->values, self->n_values, shape, 2, error);
  return self->x != NULL;
}

/* Checks what binary data hold that a double may not. */
static gboolean
check_binary (const Inference *self, GError **error)
{
  AprDType dtype = datatypes[self->datatype].dtype;
  guint64 below = dtype == APR_DTYPE_I64 ? MAX_WHOLE : 0;
  guint64 bits;
  gsize i;

  if (dtype != APR_DTYPE_I64 && dtype != APR_DTYPE_U64)
    return TRUE;
  for (i = 0; i < self->binary_size / sizeof bits; i++)
    {
      memcpy (&bits, self->binary + i * sizeof bits, sizeof bits);
      /* What is negative comes around. */
      if (GUINT64_FROM_LE (bits) + below > MAX_WHOLE + below)
        return fail (error, "inputs[0].data[%" G_GSIZE_FORMAT "]: the number is no %s" WITHIN_WHOLE, i,
                     datatypes[self->datatype].name);
    }

  return TRUE;
}

/* The rows of the bytes after the JSON, which are little-endian as those of a tensor. */
static gboolean
take_binary (Inference *self, const char *parameters, GError **error)
{
  AprServeMember member = { "binary_data_size" };
  /* The request outlives the rows. */
  g_autoptr (GBytes) bytes = g_bytes_new_static (self->binary, self->binary_size);
  gsize shape[2] = { self->n_rows, self->model->n_features };
  guint64 size;

  self->cursor.position = parameters;
  if (!apr_serve_json_scan_members (&self->cursor, &member, 1, 3, error))
    return FALSE;
  self->cursor.position = member.value;
  if (member.value == NULL || !apr_json_cursor_scan_u64 (&self->cursor, &size))
    return fail (error, "inputs[0].parameters.binary_data_size: expected a number of bytes");
  if (size != self->binary_size)
    return fail (error,
                 "inputs[0].parameters.binary_data_size: %" G_GUINT64_FORMAT " bytes, but %" G_GSIZE_FORMAT
                 " follow the JSON",
                 size, self->binary_size);

  if (!check_binary (self, error))
    return FALSE;
  self->x = apr_tensor_new_from_bytes (datatypes[self->datatype].dtype, shape, 2, bytes, error);
  return self->x != NULL;
}

static gboolean
scan_input (Inference *self, const char *inputs, GError **error)
{
  AprServeMember members[] = { { "shape" }, { "datatype" }, { "data" }, { "parameters" } };
  gboolean (*const scan[]) (Inference * self, GError * *error) = { scan_shape, scan_datatype, scan_data };
  gboolean is_binary;
  guint n;
  AprJsonCursor *cursor = &self->cursor;
  g_autoptr (GError) syntax_error = NULL;
  guint i;

  cursor->position = inputs;
  if (!apr_json_cursor_take (cursor, '['))
    return fail (error, "inputs: expected a list");
  if (apr_json_cursor_take (cursor, ']'))
    return fail (error, "inputs: expected 1 input, got 0");
  /* What is no JSON inside the data is reported with its place. */
  if (apr_serve_json_scan_members (cursor, members, G_N_ELEMENTS (members), 2, &syntax_error) &&
      apr_json_cursor_take (cursor, ','))
    return fail (error, "inputs: expected 1 input, got more");
  /* Some clients say where the JSON ends though the data are in it; and of no rows there are no bytes. */
  is_binary =
    self->binary != NULL && (self->binary_size > 0 || (members[2].value == NULL && members[3].value != NULL));
  n = is_binary ? 2 : 3;
  for (i = 0; i < n && members[i].value != NULL; i++)
    {
      cursor->position = members[i].value;
      if (!scan[i](self, error))
        return FALSE;
    }
  if (syntax_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&syntax_error));
      return FALSE;
    }

  if (i < n)
    return fail (error, "inputs[0].%s is missing", members[i].name);
  if (!is_binary)
    return make_rows (self, error);

  return members[3].value != NULL ? take_binary (self, members[3].value, error)
                                  : fail (error, "inputs[0].parameters is missing");
}

static gboolean
scan_parameters (Inference *self, const char *parameters, GError **error)
{
  AprServeMember interval = { "interval" };
  double level;

  self->cursor.position = parameters;
  if (!apr_serve_json_scan_members (&self->cursor, &interval, 1, 1, error))
    return FALSE;
  if (interval.value == NULL)
    return TRUE;

  self->cursor.position = interval.value;
  apr_json_cursor_skip_space (&self->cursor);
  interval.value = self->cursor.position;
  if (!apr_serve_json_scan_number (&self->cursor, &level))
    return fail (error, "parameters.interval: expected a number");
  if (self->cursor.position - interval.value > APR_SERVE_MAX_TEXT)
    return fail (error, "parameters.interval: expected a number of at most %d bytes", APR_SERVE_MAX_TEXT);
  g_free (self->interval);
  self->interval = g_strndup (interval.value, (gsize) (self->cursor.position - interval.value));

  return TRUE;
}

static gboolean
scan (Inference *self, GError **error)
{
  AprServeMember members[] = { { "inputs" }, { "id" }, { "parameters" } };
  g_autoptr (GError) syntax_error = NULL;

  if (!apr_serve_json_scan_request (&self->cursor, members, G_N_ELEMENTS (members), &syntax_error) &&
      members[0].value == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&syntax_error));
      return FALSE;
    }
  if (members[0].value == NULL)
    return fail (error, "inputs is missing");
  if (!scan_input (self, members[0].value, error))
    return FALSE;
  if (syntax_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&syntax_error));
      return FALSE;
    }
  if (members[1].value != NULL)
    {
      self->cursor.position = members[1].value;
      self->id = apr_serve_json_scan_text (&self->cursor, "id", error);
      if (self->id == NULL)
        return FALSE;
    }

  return members[2].value == NULL || scan_parameters (self, members[2].value, error);
}

static gboolean
append_output (const Inference *self,
               const AprServePredictions *predictions,
               GString *json,
               const char *name,
               AprTensor *values,
               GError **error)
{
  gboolean matrix = apr_tensor_get_n_dims (values) == 2;
  gsize i;

  g_string_append_printf (json, "%s{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":[%" G_GSIZE_FORMAT,
                          json->str[json->len - 1] == '[' ? "" : ",", name,
                          apr_serve_v2_get_datatype (self->model), self->n_rows);
  if (matrix)
    g_string_append_printf (json, ",%" G_GSIZE_FORMAT, self->model->n_targets);
  g_string_append (json, "],\"data\":[");
  for (i = 0; i < self->n_rows * self->model->n_targets; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      if (!apr_serve_predictions_append (predictions, json, values, i, error))
        return FALSE;
    }
  g_string_append (json, "]}");

  return TRUE;
}

static gboolean
infer (Inference *self, const AprServeRequest *request, AprServeResponse *response, GError **error)
{
  g_auto (AprServePredictions) predictions = { 0 };
  GString *json = response->body;

  if (!scan (self, error))
    return FALSE;
  if (!apr_serve_predictions_make (&predictions, request, self->model, self->x, self->interval, error))
    return FALSE;

  g_string_assign (json, "{\"model_name\":");
  apr_serve_json_append_string (json, self->model->name);
  g_string_append_printf (json, ",\"model_version\":\"%s\"", self->model->version);
  if (self->id != NULL)
    {
      g_string_append (json, ",\"id\":");
      apr_serve_json_append_string (json, self->id);
    }
  g_string_append (json, ",\"outputs\":[");
  if (!append_output (self, &predictions, json, "predictions", predictions.predictions, error) ||
      (predictions.lower != NULL &&
       (!append_output (self, &predictions, json, "lower", predictions.lower, error) ||
        !append_output (self, &predictions, json, "upper", predictions.upper, error))))
    return FALSE;
  g_string_append (json, "]}\n");
  response->n_rows = self->n_rows;

  return TRUE;
}

/* Where the JSON ends, and binary data begin. */
static gboolean
find_json (Inference *self, const AprServeRequest *request, gsize *size, GError **error)
{
  guint64 length;

  *size = request->body_size;
  if (request->json_length == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (request->json_length, 10, 0, request->body_size, &length, NULL))
    {
      g_autofree char *shown = apr_serve_json_display (request->json_length);

      return fail (error,
                   "Inference-Header-Content-Length: expected at most the %" G_GSIZE_FORMAT
                   " bytes of the body, got “%s”",
                   request->body_size, shown);
    }

  *size = (gsize) length;
  self->binary = (const guint8 *) request->body + *size;
  self->binary_size = request->body_size - *size;

  return TRUE;
}

void
apr_serve_v2_infer (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (AprServeModel) model = apr_serve_v2_find_model (self, request, response);
  g_autoptr (GError) error = NULL;
  Inference inference = { .model = model };
  gsize json_size;

  if (model == NULL)
    return;
  if (request->json_length == NULL && apr_serve_is_safetensors (request))
    {
      apr_serve_predict_safetensors (model, request, response);
      return;
    }
  if (!find_json (&inference, request, &json_size, &error))
    {
      apr_serve_response_fail_with (response, error);
      return;
    }

  inference.interval = g_strdup (request->interval);
  apr_json_cursor_init (&inference.cursor, "body", request->body, json_size);
  if (!infer (&inference, request, response, &error))
    apr_serve_response_fail_with (response, error);

  apr_json_cursor_clear (&inference.cursor);
  g_free (inference.values);
  g_clear_pointer (&inference.x, apr_tensor_unref);
  g_free (inference.interval);
  g_free (inference.id);
}
