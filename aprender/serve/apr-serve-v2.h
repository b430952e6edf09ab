/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-handler.h"

G_BEGIN_DECLS

/* The model of a request's path; NULL where there is none, which @response then says. */
AprServeModel *
apr_serve_v2_find_model (AprServeHandler *self, const AprServeRequest *request, AprServeResponse *response);

/* What the protocol calls the dtype of a model's predictions. */
const char *apr_serve_v2_get_datatype (const AprServeModel *model);

/* What the protocol says of a model. */
GBytes *apr_serve_v2_describe (const AprServeModel *model);

G_END_DECLS
