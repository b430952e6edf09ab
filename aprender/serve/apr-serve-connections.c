/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-connections.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "aprender/serve/apr-serve-request.h"

/* So many connections are closed before others may be closed or begun. */
#define N_CLOSED_AT_ONCE 32

/* Microseconds that connections may take to be closed when the server stops. */
#define CLOSING_TIME (5 * G_USEC_PER_SEC)

struct _AprServeConnections
{
  GMutex lock;
  GHashTable *open;  /* of AprServeConnection, as a set */
  gssize n_expected; /* connections that libmicrohttpd has not begun yet, or failed to */
};

AprServeConnections *
apr_serve_connections_new (void)
{
  AprServeConnections *self = g_new0 (AprServeConnections, 1);

  g_mutex_init (&self->lock);
  self->open = g_hash_table_new_full (NULL, NULL, g_free, NULL);

  return self;
}

void
apr_serve_connections_free (AprServeConnections *self)
{
  g_hash_table_unref (self->open);
  g_mutex_clear (&self->lock);
  g_free (self);
}

void
apr_serve_connections_expect (AprServeConnections *self, gssize n)
{
  g_mutex_lock (&self->lock);
  self->n_expected += n;
  g_mutex_unlock (&self->lock);
}

AprServeConnection *
apr_serve_connections_add (AprServeConnections *self, int fd, gint64 deadline)
{
  AprServeConnection *connection = g_new0 (AprServeConnection, 1);

  connection->fd = fd;
  connection->deadline = deadline;
  connection->owed = TRUE;
  g_mutex_lock (&self->lock);
  g_hash_table_add (self->open, connection);
  self->n_expected--;
  g_mutex_unlock (&self->lock);

  return connection;
}

void
apr_serve_connections_remove (AprServeConnections *self, AprServeConnection *connection)
{
  g_mutex_lock (&self->lock);
  g_hash_table_remove (self->open, connection);
  g_mutex_unlock (&self->lock);
}

gsize
apr_serve_connections_count (AprServeConnections *self)
{
  gsize n;

  g_mutex_lock (&self->lock);
  n = g_hash_table_size (self->open) + (gsize) MAX (self->n_expected, 0);
  g_mutex_unlock (&self->lock);

  return n;
}

/* Tells a client that it has been too slow, if it still waits for an answer. libmicrohttpd cannot: it has no
 * request yet. */
static void
send_timeout (AprServeConnection *connection, AprServeMetrics *metrics, guint timeout)
{
  AprServeResponse response = { .body = g_string_new (NULL) };
  g_autofree char *message = g_strdup_printf ("the request was not complete after %u s", timeout);
  g_autofree char *text = NULL;

  apr_serve_response_fail (&response, MHD_HTTP_REQUEST_TIMEOUT, "E_TIMEOUT", message);
  text = g_strdup_printf ("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: %s\r\n"
                          "Content-Length: %" G_GSIZE_FORMAT "\r\n\r\n%s",
                          response.content_type, response.body->len, response.body->str);
  send (connection->fd, text, strlen (text), MSG_DONTWAIT | MSG_NOSIGNAL);
  apr_serve_metrics_add (metrics, response.status, g_get_monotonic_time (), 0);
  g_string_free (response.body, TRUE);
}

gboolean
apr_serve_connections_check_deadlines (AprServeConnections *self, AprServeMetrics *metrics, guint timeout)
{
  gint64 now = g_get_monotonic_time ();
  GHashTableIter iter;
  gpointer element;
  guint n_closed = 0;

  /* While the lock is held, no connection is closed, so that none of these numbers is a file of somebody else. */
  g_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->open);
  while (n_closed < N_CLOSED_AT_ONCE && g_hash_table_iter_next (&iter, &element, NULL))
    {
      AprServeConnection *connection = element;

      if (__atomic_load_n (&connection->deadline, __ATOMIC_RELAXED) >= now)
        continue;
      if (apr_serve_connection_take_answer (connection))
        send_timeout (connection, metrics, timeout);
      shutdown (connection->fd, SHUT_RDWR);
      __atomic_store_n (&connection->deadline, G_MAXINT64, __ATOMIC_RELAXED);
      n_closed++;
    }
  g_mutex_unlock (&self->lock);

  return n_closed == N_CLOSED_AT_ONCE;
}

guint
apr_serve_connections_end_idle (AprServeConnections *self)
{
  GHashTableIter iter;
  gpointer element;
  guint n;

  /* While the lock is held, none of these files is closed. */
  g_mutex_lock (&self->lock);
  n = g_hash_table_size (self->open);
  g_hash_table_iter_init (&iter, self->open);
  while (g_hash_table_iter_next (&iter, &element, NULL))
    {
      AprServeConnection *connection = element;
      int n_unread = 0;

      /* In this order: what is unread now may make it busy next. */
      if (ioctl (connection->fd, FIONREAD, &n_unread) == 0 && n_unread == 0 &&
          !__atomic_load_n (&connection->busy, __ATOMIC_ACQUIRE))
        shutdown (connection->fd, SHUT_RD);
    }
  g_mutex_unlock (&self->lock);

  return n;
}

/* libmicrohttpd would close the connections itself when it stops, but version 0.9.75 crashes if it then gets a request
 * that it refuses by itself, such as one without a host. */
void
apr_serve_connections_close (AprServeConnections *self)
{
  gint64 deadline = g_get_monotonic_time () + CLOSING_TIME;
  gssize n;

  do
    {
      GHashTableIter iter;
      gpointer connection;

      /* While the lock is held, none of these files is closed. */
      g_mutex_lock (&self->lock);
      n = (gssize) g_hash_table_size (self->open) + self->n_expected;
      g_hash_table_iter_init (&iter, self->open);
      while (g_hash_table_iter_next (&iter, &connection, NULL))
        shutdown (((AprServeConnection *) connection)->fd, SHUT_RDWR);
      g_mutex_unlock (&self->lock);
      if (n > 0)
        g_usleep (1000);
    }
  while (n > 0 && g_get_monotonic_time () < deadline);
}
