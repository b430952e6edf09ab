/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"
#include "aprender/serve/apr-serve-request.h"

G_BEGIN_DECLS

/* Whether a request's body is a SafeTensors file, as its Content-Type says. */
gboolean apr_serve_is_safetensors (const AprServeRequest *request);

/* Answers a SafeTensors file with one. */
void apr_serve_predict_safetensors (const AprServeModel *model,
                                    const AprServeRequest *request,
                                    AprServeResponse *response);

G_END_DECLS
