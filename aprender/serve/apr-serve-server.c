/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* accept4() */
#include "aprender/serve/apr-serve-server.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <microhttpd.h>

#include "aprender/base/apr-processors-private.h"
#include "aprender/serve/apr-serve-connections.h"
#include "aprender/serve/apr-serve-framing.h"
#include "aprender/table/apr-decimal-private.h"

/* What a connection takes, for its headers above all. */
#define CONNECTION_MEMORY (16 * 1024)

/* Milliseconds until it is tried again to accept connections, when there may be no more of them. */
#define PAUSE 10

/* File descriptors that are not connections: of the process, and of each thread. */
#define N_OTHER_FILES 64
#define N_FILES_OF_THREAD 2

#define MIN_THREADS 2

/* All bodies, and the answers that were not sent yet, may together take as much as so many of the longest bodies. */
#define N_LONGEST_BODIES 16

/* So many of the longest are read of a body that is refused: most clients look at the answer only when they have sent
 * all of it. */
#define N_REFUSED_BODIES 2

/* What is longer is answered by a thread of its own, so that what came meanwhile need not wait; and there is room for
 * any body and any answer that is not. */
#define LONG (64 * 1024)

struct _AprServeServer
{
  AprServeHandler *handler;
  GThreadPool *pool; /* answers requests with long bodies */
  AprServeLimits limits;
  GPtrArray *daemons; /* of struct MHD_Daemon, each with a thread */
  guint next_daemon;  /* who is given the next connection */
  GCancellable *stopping;
  GArray *listeners;   /* of AprServeListener */
  GArray *polled;      /* of GPollFD: stopping, and then the listeners */
  GThread *accepting;  /* (nullable) */
  guint n_connections; /* at most */
  AprServeConnections *connections;
  gssize n_bytes; /* (atomic) of bodies and answers */
};

typedef struct
{
  AprServeConnection *connection;
  gsize path;     /* where it begins in what libmicrohttpd calls the path */
  gboolean begun; /* whether its headers are there */
  gboolean unauthorized;
  gboolean too_large;
  gboolean busy;
  gboolean no_memory; /* which is why it is busy */
  char *body;         /* (owned) followed by APR_DECIMAL_PADDING bytes */
  gsize size;
  gsize capacity; /* of the body, or of the answer */

  /* What the pool needs. */
  struct MHD_Connection *mhd_connection;
  AprServeRequest asked;
  AprServeResponse response; /* its body is %NULL until it has been answered */
} Request;

static gint64
get_deadline (AprServeServer *self)
{
  return g_get_monotonic_time () + (gint64) self->limits.timeout * G_USEC_PER_SEC;
}

static void
set_deadline (AprServeServer *self, AprServeConnection *connection)
{
  __atomic_store_n (&connection->deadline, get_deadline (self), __ATOMIC_RELAXED);
}

static void
notify_connection (gpointer data,
                   struct MHD_Connection *mhd_connection,
                   void **socket_context,
                   enum MHD_ConnectionNotificationCode code)
{
  AprServeServer *self = data;

  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    {
      int fd = MHD_get_connection_info (mhd_connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

      *socket_context = apr_serve_connections_add (self->connections, fd, get_deadline (self));
    }
  else
    {
      apr_serve_connections_remove (self->connections, *socket_context);
    }
}

static AprServeConnection *
get_connection (struct MHD_Connection *connection)
{
  return *(AprServeConnection **) MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
}

static void
free_parts (gpointer parts)
{
  g_ptr_array_unref (parts);
}

static struct MHD_Response *
create_answer (AprServeResponse *response)
{
  GString *body = g_steal_pointer (&response->body);
  GPtrArray *parts = g_steal_pointer (&response->parts);
  g_autofree struct MHD_IoVec *vectors = NULL;
  gsize size = body->len;
  guint i;

  if (parts == NULL)
    return MHD_create_response_from_buffer (size, g_string_free (body, FALSE), MHD_RESPMEM_MUST_FREE);

  g_string_free (body, TRUE);
  vectors = g_new (struct MHD_IoVec, parts->len);
  for (i = 0; i < parts->len; i++)
    vectors[i].iov_base = g_bytes_get_data (g_ptr_array_index (parts, i), &vectors[i].iov_len);

  return MHD_create_response_from_iovec (vectors, parts->len, free_parts, parts);
}

static enum MHD_Result
respond (struct MHD_Connection *connection, AprServeResponse *response, gboolean close)
{
  struct MHD_Response *answer = create_answer (response);
  enum MHD_Result result = MHD_NO;

  if (answer == NULL)
    return MHD_NO;
  MHD_add_response_header (answer, MHD_HTTP_HEADER_CONTENT_TYPE, response->content_type);
  if (response->allow != NULL)
    MHD_add_response_header (answer, MHD_HTTP_HEADER_ALLOW, response->allow);
  if (response->status == MHD_HTTP_UNSUPPORTED_MEDIA_TYPE)
    MHD_add_response_header (answer, MHD_HTTP_HEADER_ACCEPT_ENCODING, "identity");
  if (response->status == MHD_HTTP_UNAUTHORIZED)
    MHD_add_response_header (answer, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  if (close)
    MHD_add_response_header (answer, MHD_HTTP_HEADER_CONNECTION, "close");
  if (apr_serve_connection_take_answer (get_connection (connection)))
    result = MHD_queue_response (connection, response->status, answer);
  MHD_destroy_response (answer);

  return result;
}

/* Refuses a request before its body is read, or after. */
static enum MHD_Result
refuse (AprServeServer *self,
        struct MHD_Connection *connection,
        guint status,
        const char *code,
        const char *message)
{
  AprServeResponse response = { .body = g_string_new (NULL) };

  apr_serve_response_fail (&response, status, code, message);
  apr_serve_metrics_add (&self->handler->metrics, status, g_get_monotonic_time (), 0);

  return respond (connection, &response, TRUE);
}

static enum MHD_Result
refuse_unauthorized (AprServeServer *self, struct MHD_Connection *connection)
{
  return refuse (self, connection, MHD_HTTP_UNAUTHORIZED, "E_UNAUTHORIZED", APR_SERVE_UNAUTHORIZED);
}

static enum MHD_Result
refuse_size (AprServeServer *self, struct MHD_Connection *connection, guint64 size)
{
  g_autofree char *message =
    g_strdup_printf ("body: at most %" G_GSIZE_FORMAT " bytes are allowed, got %s%" G_GUINT64_FORMAT,
                     self->limits.max_body, size > self->limits.max_body ? "" : "more than ", size);

  return refuse (self, connection, MHD_HTTP_CONTENT_TOO_LARGE, "E_TOO_LARGE", message);
}

/* The first line is there. Returns: (transfer full): what libmicrohttpd keeps until complete(). */
static gpointer
notice (gpointer data, const char *uri, struct MHD_Connection *connection)
{
  AprServeServer *self = data;
  Request *request = g_new0 (Request, 1);

  request->connection = get_connection (connection);
  /* The first answer is owed since the connection was made, and its time runs. */
  if (!__atomic_exchange_n (&request->connection->owed, TRUE, __ATOMIC_ACQ_REL))
    set_deadline (self, request->connection);
  request->path = apr_serve_framing_find_path (uri);
  __atomic_store_n (&request->connection->busy, TRUE, __ATOMIC_RELEASE);

  return request;
}

/* The headers are there, the body is not. */
static enum MHD_Result
begin (AprServeServer *self,
       struct MHD_Connection *connection,
       const char *path,
       const char *version,
       Request *request)
{
  g_autofree char *problem = NULL;
  guint64 length;

  request->begun = TRUE;
  set_deadline (self, request->connection);
  problem = apr_serve_framing_read (connection, version, &length);
  if (problem != NULL)
    return refuse (self, connection, MHD_HTTP_BAD_REQUEST, "E_INVALID_INPUT", problem);
  request->unauthorized = !apr_serve_is_authorized (
    self->handler, path,
    MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION));
  request->too_large = length > self->limits.max_body;
  /* Whoever waits to be asked for the body need not send it. */
  if (length / N_REFUSED_BODIES <= self->limits.max_body &&
      MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) == NULL)
    return MHD_YES;
  if (request->unauthorized)
    return refuse_unauthorized (self, connection);

  return request->too_large ? refuse_size (self, connection, length) : MHD_YES;
}

static gssize
get_limit (AprServeServer *self)
{
  return (gssize) MIN (self->limits.max_body, G_MAXSSIZE / 32) * N_LONGEST_BODIES;
}

static gboolean
reserve (AprServeServer *self, Request *request, gsize size)
{
  gsize capacity = MAX (size, 2 * request->capacity);
  gpointer body = NULL;

  if (size <= request->capacity)
    return TRUE;
  capacity = MIN (MAX (capacity, 1024), size <= LONG ? LONG : self->limits.max_body);
  if (__atomic_add_fetch (&self->n_bytes, (gssize) (capacity - request->capacity), __ATOMIC_RELAXED) <=
        get_limit (self) ||
      size <= LONG)
    {
      body = g_try_realloc (request->body, capacity + APR_DECIMAL_PADDING);
      request->no_memory = body == NULL;
    }
  if (body == NULL)
    {
      __atomic_sub_fetch (&self->n_bytes, (gssize) (capacity - request->capacity), __ATOMIC_RELAXED);
      return FALSE;
    }
  request->body = body;
  request->capacity = capacity;

  return TRUE;
}

static void
drop_body (AprServeServer *self, Request *request)
{
  __atomic_sub_fetch (&self->n_bytes, (gssize) request->capacity, __ATOMIC_RELAXED);
  g_clear_pointer (&request->body, g_free);
  request->capacity = 0;
}

static enum MHD_Result
receive (AprServeServer *self, Request *request, const char *data, gsize size)
{
  gsize before = request->size;

  request->size += size;
  if (!request->unauthorized && !request->too_large && !request->busy)
    {
      request->too_large = request->size > self->limits.max_body;
      request->busy = !request->too_large && !reserve (self, request, request->size);
      if (request->too_large || request->busy)
        drop_body (self, request);
      else
        memcpy (request->body + before, data, size);
    }

  return request->size / N_REFUSED_BODIES <= self->limits.max_body ? MHD_YES : MHD_NO;
}

/* Answers a request, whose body is needed no more then. */
static void
handle (AprServeServer *self, Request *request)
{
  gssize left = get_limit (self) - __atomic_load_n (&self->n_bytes, __ATOMIC_RELAXED);
  AprServeResponse response;

  request->asked.max_answer = (gsize) MAX (left, LONG);
  apr_serve_handle (self->handler, &request->asked, &response);
  drop_body (self, request);
  request->response = response;
  request->capacity = response.body->allocated_len + response.own_size;
  __atomic_add_fetch (&self->n_bytes, (gssize) request->capacity, __ATOMIC_RELAXED);
}

/* In a thread of the pool, while libmicrohttpd leaves the connection alone. */
static void
answer_long (gpointer data, gpointer user_data)
{
  Request *request = data;
  AprServeServer *self = user_data;

  handle (self, request);
  MHD_resume_connection (request->mhd_connection);
}

/* Answers a request. Once the server stops, the client is to send none on this connection any more (RFC 9112, 9.6). */
static enum MHD_Result
deliver (AprServeServer *self, struct MHD_Connection *connection, Request *request)
{
  return respond (connection, &request->response, g_cancellable_is_cancelled (self->stopping));
}

static enum MHD_Result
finish (AprServeServer *self,
        struct MHD_Connection *connection,
        const char *method,
        const char *path,
        Request *request)
{
  static const char no_body[APR_DECIMAL_PADDING];

  if (request->unauthorized)
    return refuse_unauthorized (self, connection);
  if (request->too_large)
    return refuse_size (self, connection, request->size);
  if (request->no_memory)
    return refuse (self, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "E_NO_MEMORY",
                   "body: there is no memory for it");
  if (request->busy)
    return refuse (self, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "E_BUSY",
                   "body: too many long requests at once, try again");

  set_deadline (self, request->connection);
  if (request->response.body != NULL)
    return deliver (self, connection, request);

  if (request->body != NULL)
    memset (request->body + request->size, 0, APR_DECIMAL_PADDING);
  request->mhd_connection = connection;
  request->asked = (AprServeRequest){
    .method = method,
    .path = path,
    .interval = MHD_lookup_connection_value (connection, MHD_GET_ARGUMENT_KIND, "interval"),
    .model = MHD_lookup_connection_value (connection, MHD_GET_ARGUMENT_KIND, "model_id"),
    .content_type = MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE),
    .content_encoding =
      MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_ENCODING),
    .authorization = MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
    .json_length =
      MHD_lookup_connection_value (connection, MHD_HEADER_KIND, "Inference-Header-Content-Length"),
    .body = request->body != NULL ? request->body : no_body,
    .body_size = request->size,
    .began = g_get_monotonic_time (),
  };
  if (request->size > LONG)
    {
      MHD_suspend_connection (connection);
      g_thread_pool_push (self->pool, request, NULL);
      return MHD_YES;
    }

  handle (self, request);

  return deliver (self, connection, request);
}

static enum MHD_Result
answer (gpointer data,
        struct MHD_Connection *connection,
        const char *path,
        const char *method,
        const char *version,
        const char *upload,
        size_t *upload_size,
        void **context)
{
  AprServeServer *self = data;
  Request *request = *context;

  path += MIN (request->path, strlen (path));
  if (*path == '\0')
    path = "/";
  if (!request->begun)
    return begin (self, connection, path, version, request);

  if (*upload_size > 0)
    {
      enum MHD_Result result = receive (self, request, upload, *upload_size);

      *upload_size = 0;
      return result;
    }

  return finish (self, connection, method, path, request);
}

static void
complete (gpointer data,
          struct MHD_Connection *connection,
          void **context,
          enum MHD_RequestTerminationCode code)
{
  AprServeServer *self = data;
  Request *request = *context;

  if (request == NULL)
    return;
  set_deadline (self, request->connection);
  __atomic_store_n (&request->connection->busy, FALSE, __ATOMIC_RELEASE);
  drop_body (self, request);
  apr_serve_response_clear (&request->response);
  g_free (request);
  *context = NULL;
}

/* As many as there may be files, so that whoever holds some does not lock others out. */
static guint
count_connections (guint n_threads)
{
  const rlim_t n_others = N_OTHER_FILES + (rlim_t) N_FILES_OF_THREAD * n_threads;
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
    return 1024 - N_OTHER_FILES;
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
  getrlimit (RLIMIT_NOFILE, &limit);

  return (guint) MIN (MAX (limit.rlim_cur, n_others + N_OTHER_FILES) - n_others, 65536);
}

/* Gives a connection to libmicrohttpd, which closes it if that fails. */
static void
hand_over (
  AprServeServer *self, struct MHD_Daemon *daemon, int fd, const struct sockaddr *address, socklen_t size)
{
  apr_serve_connections_expect (self->connections, 1);
  if (MHD_add_connection (daemon, fd, address, size) != MHD_YES)
    apr_serve_connections_expect (self->connections, -1);
}

/* Returns whether there may be more connections. */
static gboolean
accept_connection (AprServeServer *self, int listener)
{
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  int fd = accept4 (listener, (struct sockaddr *) &address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

  if (fd < 0)
    return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
  hand_over (self, g_ptr_array_index (self->daemons, self->next_daemon), fd,
             (const struct sockaddr *) &address, size);
  self->next_daemon = (self->next_daemon + 1) % self->daemons->len;

  return TRUE;
}

static gboolean
is_full (AprServeServer *self)
{
  return apr_serve_connections_count (self->connections) >= self->n_connections;
}

/* Accepts the connections that the kernel has, as their clients believe that they are being served. No more than may
 * wait at once, so that those who connect without a pause do not keep the server from stopping. */
static void
accept_last (AprServeServer *self)
{
  guint i;

  for (i = 1; i < self->polled->len; i++)
    {
      GPollFD *polled = &g_array_index (self->polled, GPollFD, i);
      guint n = 0;

      while (n < APR_SERVE_BACKLOG && !is_full (self) && g_poll (polled, 1, 0) == 1 &&
             accept_connection (self, polled->fd))
        n++;
    }
}

/* Accepts connections until the server stops. libmicrohttpd could do it, but then each of its threads may remove the
 * listener from what it waits for while MHD_quiesce_daemon() does so too, which aborts the program. */
static gpointer
accept_connections (gpointer data)
{
  AprServeServer *self = data;
  GPollFD *polled = (GPollFD *) (gpointer) self->polled->data;
  gboolean pause = FALSE;

  for (;;)
    {
      guint n = pause || is_full (self) ? 1 : self->polled->len;
      guint i;

      if (g_poll (polled, n, n == 1 ? PAUSE : -1) < 0)
        continue;
      if (polled[0].revents != 0)
        break;
      pause = FALSE;
      for (i = 1; i < n; i++)
        if (polled[i].revents != 0 && !accept_connection (self, polled[i].fd))
          pause = TRUE;
    }
  accept_last (self);

  return NULL;
}

/* Each thread has a daemon of its own, rather than all a pool's, so that stopping can wait for each. */
static gboolean
start_daemons (AprServeServer *self, GError **error)
{
  while (self->daemons->len < self->limits.n_threads)
    {
      struct MHD_Daemon *daemon = MHD_start_daemon (
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, answer, self, MHD_OPTION_CONNECTION_LIMIT, self->n_connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (gsize) CONNECTION_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
        notify_connection, self, MHD_OPTION_URI_LOG_CALLBACK, notice, self, MHD_OPTION_NOTIFY_COMPLETED,
        complete, self, MHD_OPTION_UNESCAPE_CALLBACK, apr_serve_framing_unescape, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);

      if (daemon == NULL)
        {
          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "libmicrohttpd does not start: %s",
                       g_strerror (errno));
          return FALSE;
        }
      g_ptr_array_add (self->daemons, daemon);
    }

  return TRUE;
}

/* The pool has all its threads from the start: a request that is given to one without any would wait for ever. */
static gboolean
start_pool (AprServeServer *self, GError **error)
{
  GError *pool_error = NULL;

  /* There is a pool even where it has fewer threads. */
  self->pool = g_thread_pool_new (answer_long, self, (int) self->limits.n_threads, TRUE, &pool_error);
  if (pool_error == NULL)
    return TRUE;

  g_propagate_prefixed_error (error, pool_error,
                              "There are fewer than %u threads for long requests: ", self->limits.n_threads);
  return FALSE;
}

/* Begins to accept connections. */
static gboolean
start_accepting (AprServeServer *self, GError **error)
{
  GPollFD polled = { 0 };
  guint i;

  if (!g_cancellable_make_pollfd (self->stopping, &polled))
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "There is no file for an event: %s",
                   g_strerror (errno));
      return FALSE;
    }
  g_array_append_val (self->polled, polled);
  for (i = 0; i < self->listeners->len; i++)
    {
      polled = (GPollFD){ .fd = g_array_index (self->listeners, AprServeListener, i).fd, .events = G_IO_IN };
      g_array_append_val (self->polled, polled);
    }
  self->accepting = g_thread_try_new ("serve-accept", accept_connections, self, error);
  if (self->accepting == NULL)
    g_prefix_error (error, "There is no thread that accepts connections: ");

  return self->accepting != NULL;
}

AprServeServer *
apr_serve_server_start (AprServeHandler *handler,
                        GArray *listeners,
                        const AprServeLimits *limits,
                        GError **error)
{
  AprServeServer *self = g_new0 (AprServeServer, 1);

  self->handler = handler;
  self->listeners = g_array_ref (listeners);
  self->limits = *limits;
  self->connections = apr_serve_connections_new ();
  self->daemons = g_ptr_array_new ();
  self->stopping = g_cancellable_new ();
  self->polled = g_array_new (FALSE, FALSE, sizeof (GPollFD));
  if (self->limits.n_threads == 0)
    self->limits.n_threads = MAX (MIN_THREADS, apr_processors_count ());
  self->n_connections = count_connections (self->limits.n_threads);

  if (!start_pool (self, error) || !start_daemons (self, error) || !start_accepting (self, error))
    {
      apr_serve_server_stop (self);
      return NULL;
    }

  return self;
}

guint
apr_serve_server_get_n_threads (AprServeServer *self)
{
  return self->limits.n_threads;
}

gboolean
apr_serve_server_check_deadlines (AprServeServer *self)
{
  return apr_serve_connections_check_deadlines (self->connections, &self->handler->metrics,
                                                self->limits.timeout);
}

/* Waits until each thread of libmicrohttpd has been around its loop. There it begins the connections that it was given,
 * and then reads what has come on each that it had begun. A connection that is at its end at once takes it around. */
static void
wait_for_threads (AprServeServer *self, gint64 deadline)
{
  guint i;

  for (i = 0; i < self->daemons->len; i++)
    {
      const struct sockaddr address = { .sa_family = AF_UNIX };
      int pair[2];
      GPollFD polled = { .events = G_IO_IN };
      gint64 left;

      if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return;
      shutdown (pair[1], SHUT_WR);
      hand_over (self, g_ptr_array_index (self->daemons, i), pair[0], &address, sizeof address.sa_family);
      polled.fd = pair[1];
      do
        left = MAX (deadline - g_get_monotonic_time (), 0) / 1000;
      while (g_poll (&polled, 1, (int) MIN (left, G_MAXINT)) < 0);
      close (pair[1]);
    }
}

void
apr_serve_server_stop (AprServeServer *self)
{
  gint64 deadline = get_deadline (self);
  guint i;

  g_cancellable_cancel (self->stopping);
  g_clear_pointer (&self->accepting, g_thread_join);
  /* Clients are refused, or wait where systemd has the sockets, and the next server can listen there. */
  g_array_set_size (self->listeners, 0);
  /* All connections are begun after the first time around, and after the second it is known which have a request. */
  wait_for_threads (self, deadline);
  wait_for_threads (self, deadline);
  while (apr_serve_connections_end_idle (self->connections) > 0 && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  /* No connection may be suspended any more. */
  g_thread_pool_free (self->pool, FALSE, TRUE);
  apr_serve_connections_close (self->connections);
  for (i = 0; i < self->daemons->len; i++)
    MHD_stop_daemon (g_ptr_array_index (self->daemons, i));

  if (self->polled->len > 0)
    g_cancellable_release_fd (self->stopping);
  g_array_unref (self->polled);
  g_array_unref (self->listeners);
  g_object_unref (self->stopping);
  g_ptr_array_unref (self->daemons);
  apr_serve_connections_free (self->connections);
  g_free (self);
}
