/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-metrics.h"

G_BEGIN_DECLS

/* The connections that are open. Any thread may use them at any time. */
typedef struct _AprServeConnections AprServeConnections;

typedef struct
{
  int fd;
  gint64 deadline; /* (atomic) */
  gboolean owed;   /* (atomic) whether there will be an answer; who sets it to false gives it */
  gboolean busy;   /* (atomic) whether a request is under way: its first line has been read */
} AprServeConnection;

AprServeConnections *apr_serve_connections_new (void);
void apr_serve_connections_free (AprServeConnections *self);

/* Counts @n connections that are about to be given to libmicrohttpd, until they are added; -1 takes one back. */
void apr_serve_connections_expect (AprServeConnections *self, gssize n);

/* Returns: (transfer none): the connection, which is there until it is removed. */
AprServeConnection *apr_serve_connections_add (AprServeConnections *self, int fd, gint64 deadline);
void apr_serve_connections_remove (AprServeConnections *self, AprServeConnection *connection);

/* Those that are expected count, too. */
gsize apr_serve_connections_count (AprServeConnections *self);

/* Closes some of the connections whose time is over: @timeout seconds, which those are told who wait for an answer.
 * Returns whether there may be more. */
gboolean
apr_serve_connections_check_deadlines (AprServeConnections *self, AprServeMetrics *metrics, guint timeout);

/* Ends the reading of connections that have nothing to read and no request under way: libmicrohttpd closes them then,
 * yet answers a request that comes at this very moment. Returns how many connections are still open. */
guint apr_serve_connections_end_idle (AprServeConnections *self);

/* Closes all connections, and waits until libmicrohttpd has done with them. */
void apr_serve_connections_close (AprServeConnections *self);

/* Returns whether there was to be an answer, which the caller gives. */
static inline gboolean
apr_serve_connection_take_answer (AprServeConnection *self)
{
  return __atomic_exchange_n (&self->owed, FALSE, __ATOMIC_ACQ_REL);
}

G_END_DECLS
