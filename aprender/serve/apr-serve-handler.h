/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-metrics.h"
#include "aprender/serve/apr-serve-model.h"
#include "aprender/serve/apr-serve-request.h"

G_BEGIN_DECLS

/* Answers requests, without knowing what carries them. Any number of threads may call it at once; it blocks for as long
 * as the predictions take. */
typedef struct
{
  AprServeModels *models; /* (unowned) */
  const char *token;      /* (nullable) (unowned) what clients have to know, but for questions about health */
  AprServeMetrics metrics;
} AprServeHandler;

/* Whether a client may ask for @path. Takes as long whatever the client sends. */
gboolean apr_serve_is_authorized (const AprServeHandler *self, const char *path, const char *authorization);

/* What those who may not are told. */
#define APR_SERVE_UNAUTHORIZED "Authorization: expected “Bearer” and the server's token"

/* The caller clears the response. */
void apr_serve_handle (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

G_END_DECLS
