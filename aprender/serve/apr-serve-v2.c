/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-v2.h"

#include <string.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-routes.h"

/* The Open Inference Protocol, which clients of KServe and Triton speak: what it says about the server and its
 * models. */

void
apr_serve_v2_server (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_string_assign (response->body,
                   "{\"name\":\"aprender\",\"version\":\"" PACKAGE_VERSION "\",\"extensions\":[]}\n");
}

void
apr_serve_v2_live (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_string_assign (response->body, "{\"live\":true}\n");
}

void
apr_serve_v2_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_string_assign (response->body, "{\"ready\":true}\n");
}

AprServeModel *
apr_serve_v2_find_model (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprServeModel) model = apr_serve_models_find (self->models, request->model, &error);

  if (model != NULL && request->version != NULL && strcmp (request->version, model->version) != 0)
    {
      g_autofree char *version = apr_serve_json_display (request->version);

      g_set_error (&error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                   "there is no version “%s” of the model “%s”, but %s", version, model->name,
                   model->version);
    }
  if (error != NULL)
    {
      apr_serve_response_fail_with (response, error);
      return NULL;
    }

  return g_steal_pointer (&model);
}

const char *
apr_serve_v2_get_datatype (const AprServeModel *model)
{
  return model->dtype == APR_DTYPE_F32 ? "FP32" : "FP64";
}

GBytes *
apr_serve_v2_describe (const AprServeModel *model)
{
  const char *datatype = apr_serve_v2_get_datatype (model);
  GString *json = g_string_new ("{\"name\":");
  guint i;

  apr_serve_json_append_string (json, model->name);
  g_string_append_printf (json,
                          ",\"versions\":[\"%s\"],\"platform\":\"aprender\","
                          "\"inputs\":[{\"name\":\"X\",\"datatype\":\"%s\",\"shape\":[-1,%" G_GSIZE_FORMAT
                          "]",
                          model->version, datatype, model->n_features);
  if (model->feature_names != NULL)
    {
      g_string_append (json, ",\"parameters\":{\"feature_names\":[");
      for (i = 0; model->feature_names[i] != NULL; i++)
        {
          if (i > 0)
            g_string_append_c (json, ',');
          apr_serve_json_append_string (json, model->feature_names[i]);
        }
      g_string_append (json, "]}");
    }
  g_string_append_printf (json, "}],\"outputs\":[{\"name\":\"predictions\",\"datatype\":\"%s\",\"shape\":[-1",
                          datatype);
  if (model->n_dims == 2)
    g_string_append_printf (json, ",%" G_GSIZE_FORMAT, model->n_targets);
  g_string_append (json, "]}]}\n");

  return g_string_free_to_bytes (json);
}

void
apr_serve_v2_model (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (AprServeModel) model = apr_serve_v2_find_model (self, request, response);

  if (model != NULL)
    apr_serve_response_add_part (response, model->metadata);
}

void
apr_serve_v2_model_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response)
{
  g_autoptr (AprServeModel) model = apr_serve_v2_find_model (self, request, response);

  if (model == NULL)
    return;

  g_string_assign (response->body, "{\"name\":");
  apr_serve_json_append_string (response->body, model->name);
  g_string_append (response->body, ",\"ready\":true}\n");
}
