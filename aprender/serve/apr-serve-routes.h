/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-handler.h"

G_BEGIN_DECLS

/* One function for each route, which fills in a response that is 200, JSON and empty. */

/* realizar's */
void apr_serve_health (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_ready (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_list_models (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void apr_serve_predict (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);
void
apr_serve_predict_batch (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

G_END_DECLS
