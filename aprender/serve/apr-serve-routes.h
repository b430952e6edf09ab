/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-handler.h"

G_BEGIN_DECLS

/* One function for each route, which fills in a response that is 200, JSON and empty. */

/* for people, and for Prometheus */
void apr_serve_show_page (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_show_metrics (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

/* realizar's */
void apr_serve_health (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_list_models (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_predict (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_predict_batch (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

/* those of the Open Inference Protocol, version 2 */
void apr_serve_v2_server (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_v2_live (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_v2_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_v2_model (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_v2_model_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_v2_infer (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

G_END_DECLS
