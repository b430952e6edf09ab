/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"
#include "aprender/serve/apr-serve-request.h"

G_BEGIN_DECLS

/* Answers requests, without knowing what carries them. Any number of threads may call it at once; it blocks for as long
 * as the predictions take. */
typedef struct
{
  AprServeModels *models; /* (unowned) */
} AprServeHandler;

/* The caller frees the response's body. */
void apr_serve_handle (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

G_END_DECLS
