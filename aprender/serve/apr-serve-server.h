/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-handler.h"
#include "aprender/serve/apr-serve-listen.h"

G_BEGIN_DECLS

/* HTTP/1.1 by libmicrohttpd: brings requests to a handler, in threads of its own. */
typedef struct _AprServeServer AprServeServer;

typedef struct
{
  guint n_threads; /* 0 for one per processor, at least 2 */
  gsize max_body;  /* bytes */
  guint timeout;   /* seconds that a client may take for its headers, its body, and to read the answer */
} AprServeLimits;

/* Starts to answer at all listeners, of which the array is empty once the server stops. */
AprServeServer *apr_serve_server_start (AprServeHandler *handler,
                                        GArray *listeners,
                                        const AprServeLimits *limits,
                                        GError **error);

guint apr_serve_server_get_n_threads (AprServeServer *self);

/* Closes some of the connections whose time is over. Returns whether there may be more: then it is to be called again
 * in a moment, otherwise every second or so. */
gboolean apr_serve_server_check_deadlines (AprServeServer *self);

/* Closes the listeners and the connections that have sent no request, waits until all requests that have come are
 * answered, at most for the time-out, and ends. */
void apr_serve_server_stop (AprServeServer *self);

G_END_DECLS
