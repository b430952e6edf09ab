/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gio/gio.h>

#include "clock.h"

/* Asks a server over HTTP, and prints how long it took.
 *
 * Usage: load PORT CONNECTIONS RATE SECONDS PATH TYPE BODY EXPECTED
 *
 * Posts the file BODY of a Content-Type to PATH, RATE times a second at random moments, or without a pause where RATE
 * is 0. A request that has to wait for a connection waits from the moment when it was due. An answer is right if it is
 * 200 and holds EXPECTED. Prints the numbers of answers and of wrong ones, the seconds, and the 50th, 99th and 99.9th
 * percentile and the maximum of the time from when a request was due to its answer, in microseconds. */

#define BUFFER_SIZE (1 << 20)

typedef struct
{
  int fd;
  gint64 due; /* of the request under way, or 0 */
  char *buffer;
  gsize size;
  gsize n_sent;
} Connection;

static char *request;
static gsize request_size;
static const char *expected;
static GArray *latencies; /* of double */
static guint n_wrong;

static int
open_connection (int port)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons ((guint16) port) };
  int one = 1;
  int fd = socket (AF_INET, SOCK_STREAM, 0);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  if (fd < 0 || connect (fd, (struct sockaddr *) &address, sizeof address) != 0)
    {
      perror ("connect");
      exit (1);
    }
  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);

  return fd;
}

static void
send_more (Connection *connection)
{
  while (connection->n_sent < request_size)
    {
      gssize n = send (connection->fd, request + connection->n_sent, request_size - connection->n_sent,
                       MSG_DONTWAIT | MSG_NOSIGNAL);

      if (n < 0 && errno == EAGAIN)
        return;
      if (n < 0)
        {
          perror ("send");
          exit (1);
        }
      connection->n_sent += (gsize) n;
    }
}

static void
start (Connection *connection, gint64 due)
{
  connection->due = due;
  connection->size = 0;
  connection->n_sent = 0;
  send_more (connection);
}

/* The size of the whole answer, once its head is there, else 0. */
static gsize
find_size (const Connection *connection)
{
  const char *end = strstr (connection->buffer, "\r\n\r\n");
  const char *length = strcasestr (connection->buffer, "content-length:");

  if (end == NULL || length == NULL || length > end)
    return 0;

  return (gsize) (end + 4 - connection->buffer) + strtoul (length + strlen ("content-length:"), NULL, 10);
}

/* Returns whether the answer is complete. */
static gboolean
receive (Connection *connection)
{
  gsize size;
  gssize n = recv (connection->fd, connection->buffer + connection->size, BUFFER_SIZE - 1 - connection->size,
                   MSG_DONTWAIT);

  if (n < 0 && errno == EAGAIN)
    return FALSE;
  if (n <= 0)
    {
      fprintf (stderr, "the server closed a connection\n");
      exit (1);
    }
  connection->size += (gsize) n;
  connection->buffer[connection->size] = '\0';
  size = find_size (connection);
  if (size == 0 || connection->size < size)
    return FALSE;

  if (strncmp (connection->buffer, "HTTP/1.1 200", 12) != 0 ||
      memmem (connection->buffer, connection->size, expected, strlen (expected)) == NULL)
    {
      if (n_wrong++ == 0)
        fprintf (stderr, "wrong: %s\n", connection->buffer);
    }

  return TRUE;
}

static gint64
draw_interval (double rate)
{
  return (gint64) (-log (1 - drand48 ()) / rate * 1e9);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
percentile (double part)
{
  return g_array_index (latencies, double, MIN (latencies->len - 1, (guint) (part * latencies->len)));
}

static void
run (Connection *connections, guint n_connections, double rate, double seconds)
{
  int epoll = epoll_create1 (0);
  gint64 began = clock_read (CLOCK_MONOTONIC);
  gint64 end = began + (gint64) (seconds * 1e9);
  gint64 next = began;
  g_autoptr (GPtrArray) idle = g_ptr_array_new ();
  guint n_waiting = 0;
  GQueue due = G_QUEUE_INIT;
  guint i;

  for (i = 0; i < n_connections; i++)
    {
      struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };

      epoll_ctl (epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
      g_ptr_array_add (idle, &connections[i]);
    }

  for (;;)
    {
      struct epoll_event events[64];
      gint64 now = clock_read (CLOCK_MONOTONIC);
      gint64 left;
      struct timespec timeout;
      int n;

      for (; rate > 0 && next <= now && next < end; next += draw_interval (rate))
        {
          gint64 *moment = g_new (gint64, 1);

          *moment = next;
          g_queue_push_tail (&due, moment);
        }
      for (; rate == 0 && now < end && idle->len > 0; n_waiting++)
        start (g_ptr_array_steal_index_fast (idle, idle->len - 1), now);
      while (idle->len > 0 && !g_queue_is_empty (&due))
        {
          g_autofree gint64 *moment = g_queue_pop_head (&due);

          start (g_ptr_array_steal_index_fast (idle, idle->len - 1), *moment);
          n_waiting++;
        }
      if (n_waiting == 0 && g_queue_is_empty (&due) && (rate > 0 ? next >= end : now >= end))
        break;

      left = rate > 0 && next < end ? MAX (next - clock_read (CLOCK_MONOTONIC), 0) : 100000000;
      timeout = (struct timespec){ left / 1000000000, left % 1000000000 };
      n = epoll_pwait2 (epoll, events, G_N_ELEMENTS (events), &timeout, NULL);
      now = clock_read (CLOCK_MONOTONIC);
      for (i = 0; (int) i < n; i++)
        {
          Connection *connection = events[i].data.ptr;

          send_more (connection);
          if (receive (connection))
            {
              double latency = (double) (now - connection->due) / 1e3;

              g_array_append_val (latencies, latency);
              g_ptr_array_add (idle, connection);
              n_waiting--;
            }
        }
    }

  g_array_sort (latencies, compare);
  printf ("%u %u %.3f %.1f %.1f %.1f %.1f\n", latencies->len, n_wrong,
          (double) (clock_read (CLOCK_MONOTONIC) - began) / 1e9, percentile (.5), percentile (.99),
          percentile (.999), percentile (1));
}

int
main (int argc, char **argv)
{
  g_autofree char *body = NULL;
  g_autofree char *head = NULL;
  g_autofree Connection *connections = NULL;
  guint n_connections;
  gsize body_size;
  guint i;

  if (argc != 9 || !g_file_get_contents (argv[7], &body, &body_size, NULL))
    {
      fprintf (stderr, "Usage: %s PORT CONNECTIONS RATE SECONDS PATH TYPE BODY EXPECTED\n", argv[0]);
      return 2;
    }
  head = g_strdup_printf (
    "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n",
    argv[5], argv[6], body_size);
  request_size = strlen (head) + body_size;
  request = g_malloc (request_size);
  memcpy (request, head, strlen (head));
  memcpy (request + strlen (head), body, body_size);
  expected = argv[8];
  latencies = g_array_new (FALSE, FALSE, sizeof (double));

  n_connections = (guint) atoi (argv[2]);
  connections = g_new0 (Connection, n_connections);
  for (i = 0; i < n_connections; i++)
    {
      connections[i].fd = open_connection (atoi (argv[1]));
      connections[i].buffer = g_malloc (BUFFER_SIZE);
    }
  run (connections, n_connections, atof (argv[3]), atof (argv[4]));

  return n_wrong > 0;
}
