/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aprender/serve/apr-serve-server.h"

static const AprServeLimits limits = { .n_threads = 4, .max_body = 1024, .timeout = 60 };

/* libmicrohttpd's calls come here. Two threads that remove the same file are seen to, as the first takes its time. */
int
epoll_ctl (int epoll, int operation, int file, struct epoll_event *event)
{
  if (operation == EPOLL_CTL_DEL)
    g_usleep (1000);

  return (int) syscall (SYS_epoll_ctl, epoll, operation, file, event);
}

static GThread *checking; /* (nullable) who looks at deadlines */
static guint n_shut_down; /* by that thread */

int
shutdown (int file, int how)
{
  if (g_thread_self () == checking)
    n_shut_down++;

  return (int) syscall (SYS_shutdown, file, how);
}

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_suppressions (void);

/* Once libmicrohttpd's threads see that it is stopped, they close the connections that nobody has begun to serve. What
 * orders that is a plain variable of its own, which ThreadSanitizer does not see. Races of handlers are looked for by
 * the tests of the program `aprender serve`. */
const char *
__tsan_default_suppressions (void)
{
  return "race:libmicrohttpd\n";
}
#endif

typedef struct
{
  AprServeListener listener; /* at a port of the loopback interface */
  AprServeModels *models;
  AprServeHandler handler;
  int enough; /* (atomic) whether the clients are to end */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  GError *error = NULL;

  apr_serve_listen (&fixture->listener, "127.0.0.1:0", &error);
  g_assert_no_error (error);
  fixture->models = apr_serve_models_new ();
  fixture->handler = (AprServeHandler){ .models = fixture->models };
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_serve_listener_clear (&fixture->listener);
  apr_serve_models_free (fixture->models);
}

/* The socket stays for the next server, as where systemd has it. */
static AprServeServer *
try_to_start (Fixture *fixture, const AprServeLimits *own_limits, GError **error)
{
  g_autoptr (GArray) listeners = g_array_new (FALSE, FALSE, sizeof (AprServeListener));
  const AprServeListener listener = { .fd = dup (fixture->listener.fd) };
  AprServeServer *server;

  g_array_set_clear_func (listeners, apr_serve_listener_clear);
  g_array_append_val (listeners, listener);
  server = apr_serve_server_start (&fixture->handler, listeners, own_limits, error);
  g_assert_cmpuint (listeners->len, ==, server != NULL ? 1 : 0);

  return server;
}

static AprServeServer *
start_with (Fixture *fixture, const AprServeLimits *own_limits)
{
  GError *error = NULL;
  AprServeServer *server = try_to_start (fixture, own_limits, &error);

  g_assert_no_error (error);

  return server;
}

static AprServeServer *
start (Fixture *fixture)
{
  return start_with (fixture, &limits);
}

/* A connection that has sent a request. */
static GSocketConnection *
send_request (Fixture *fixture, const char *request)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  GSocketConnection *connection;
  GError *error = NULL;

  connection =
    g_socket_client_connect_to_host (client, fixture->listener.address + strlen ("http://"), 0, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), request,
                             strlen (request), NULL, NULL, &error);
  g_assert_no_error (error);

  return connection;
}

static GSocketConnection *
ask (Fixture *fixture)
{
  return send_request (fixture, "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n");
}

static gpointer
keep_asking (gpointer data)
{
  Fixture *fixture = data;

  while (!g_atomic_int_get (&fixture->enough))
    {
      g_object_unref (ask (fixture));
      g_usleep (200);
    }

  return NULL;
}

/* A server that is stopped while its threads see their first connections: each ends in peace. */
static void
test_stop_at_once (Fixture *fixture, gconstpointer data)
{
  GThread *client = g_thread_new ("client", keep_asking, fixture);
  guint i;

  for (i = 0; i < 200; i++)
    {
      AprServeServer *server = start (fixture);

      g_usleep (i * 10);
      apr_serve_server_stop (server);
    }
  g_atomic_int_set (&fixture->enough, TRUE);
  g_thread_join (client);
}

static void
assert_status (GSocketConnection *connection, const char *status)
{
  char answer[13] = "";
  gsize size;
  GError *error = NULL;

  g_input_stream_read_all (g_io_stream_get_input_stream (G_IO_STREAM (connection)), answer, sizeof answer - 1,
                           &size, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (answer, "HTTP/1.1 "));
  g_assert_cmpstr (answer + strlen ("HTTP/1.1 "), ==, status);
}

static void
assert_answered (GSocketConnection *connection)
{
  assert_status (connection, "200");
}

/* The linker sends the server's calls of this function here. */
gpointer __real_g_try_realloc (gpointer memory, gsize size);
gpointer __wrap_g_try_realloc (gpointer memory, gsize size);

static int has_no_memory; /* (atomic) */

gpointer
__wrap_g_try_realloc (gpointer memory, gsize size)
{
  return g_atomic_int_get (&has_no_memory) ? NULL : __real_g_try_realloc (memory, size);
}

/* Without memory for what a client sends, it is told to try again, and others are answered. */
static void
test_no_memory (Fixture *fixture, gconstpointer data)
{
  static const char request[] =
    "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  AprServeServer *server = start (fixture);
  char rest[1024] = "";
  g_autoptr (GSocketConnection) refused = NULL;
  g_autoptr (GSocketConnection) connection = NULL;

  g_atomic_int_set (&has_no_memory, TRUE);
  refused = send_request (fixture, request);
  assert_status (refused, "503");
  while (strstr (rest, "\"E_") == NULL)
    {
      gsize length = strlen (rest);
      gssize n = g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (refused)), rest + length,
                                      sizeof rest - 1 - length, NULL, NULL);

      g_assert_cmpint (n, >, 0);
    }
  g_assert_nonnull (strstr (rest, "\"E_NO_MEMORY"));
  g_atomic_int_set (&has_no_memory, FALSE);
  connection = ask (fixture);
  assert_answered (connection);
  apr_serve_server_stop (server);
}

/* And of these: as if there were a thread no more. */
GThreadPool *
__real_g_thread_pool_new (GFunc function, gpointer data, int max_threads, gboolean exclusive, GError **error);
GThreadPool *
__wrap_g_thread_pool_new (GFunc function, gpointer data, int max_threads, gboolean exclusive, GError **error);
GThread *__real_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error);
GThread *__wrap_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error);

gboolean __real_g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error);
gboolean __wrap_g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error);
gint64 __real_g_get_monotonic_time (void);
gint64 __wrap_g_get_monotonic_time (void);

/* What no thread is free for waits at least so many microseconds. */
#define WAIT 20000

gboolean
__wrap_g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error)
{
  g_usleep (WAIT);

  return __real_g_thread_pool_push (pool, data, error);
}

static int n_seconds; /* (atomic) that the clock is fast */

gint64
__wrap_g_get_monotonic_time (void)
{
  return __real_g_get_monotonic_time () + (gint64) g_atomic_int_get (&n_seconds) * G_USEC_PER_SEC;
}

static gboolean has_no_pool;
static gboolean has_no_thread;

/* Only an exclusive pool has its threads from the start. GLib gives one that has fewer, too. */
GThreadPool *
__wrap_g_thread_pool_new (GFunc function, gpointer data, int max_threads, gboolean exclusive, GError **error)
{
  if (has_no_pool && exclusive)
    g_set_error_literal (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN, "no thread for the pool");

  return __real_g_thread_pool_new (function, data, max_threads, exclusive, has_no_pool ? NULL : error);
}

GThread *
__wrap_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error)
{
  if (!has_no_thread)
    return __real_g_thread_try_new (name, function, data, error);

  g_set_error_literal (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN, "no thread at all");
  return NULL;
}

static void
assert_no_server (Fixture *fixture, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (try_to_start (fixture, &limits, &error));
  g_assert_error (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN);
  g_assert_cmpstr (error->message, ==, message);
}

/* Without the threads that a server needs it does not start, rather than leave requests without an answer. */
static void
test_no_threads (Fixture *fixture, gconstpointer data)
{
  AprServeServer *server;
  g_autoptr (GSocketConnection) connection = NULL;

  has_no_pool = TRUE;
  assert_no_server (fixture, "There are fewer than 4 threads for long requests: no thread for the pool");
  has_no_pool = FALSE;
  has_no_thread = TRUE;
  assert_no_server (fixture, "There is no thread that accepts connections: no thread at all");
  has_no_thread = FALSE;
  server = start (fixture);
  connection = ask (fixture);
  assert_answered (connection);
  apr_serve_server_stop (server);
}

/* Whoever connects while no server runs is answered by the next one, as systemd promises for a restart. */
static void
test_wait_for_next (Fixture *fixture, gconstpointer data)
{
  AprServeServer *server = start (fixture);
  g_autoptr (GSocketConnection) connection = NULL;

  apr_serve_server_stop (server);
  connection = ask (fixture);
  server = start (fixture);
  assert_answered (connection);
  apr_serve_server_stop (server);
}

/* However many connections are to be closed at the same moment, it is done to few at a time: until it is, no thread of
 * the server may close or begin another. */
static void
test_close_few_at_a_time (Fixture *fixture, gconstpointer data)
{
  const AprServeLimits no_time = { .n_threads = 2, .max_body = 1024, .timeout = 0 };
  AprServeServer *server = start_with (fixture, &no_time);
  g_autoptr (GPtrArray) connections = g_ptr_array_new_with_free_func (g_object_unref);
  guint n_before = 0;
  gboolean more;
  guint i;

  for (i = 0; i < 300; i++)
    {
      g_ptr_array_add (connections, ask (fixture));
      assert_answered (g_ptr_array_index (connections, i));
    }
  /* The last deadlines have passed, or are about to be set: a client may have its answer before that. */
  g_usleep (1000);

  n_shut_down = 0;
  checking = g_thread_self ();
  do
    {
      more = apr_serve_server_check_deadlines (server);
      g_assert_cmpuint (n_shut_down - n_before, <=, 64);
      n_before = n_shut_down;
    }
  while (more || n_shut_down < connections->len);
  checking = NULL;
  /* Each one once, but for those, one of each thread, whose time began anew as their answer was on its way. */
  g_assert_cmpuint (n_shut_down, <=, connections->len + no_time.n_threads);
  apr_serve_server_stop (server);
}

/* How long a request took is counted from its last byte, so that operators see when there are too few threads. */
static void
test_duration (Fixture *fixture, gconstpointer data)
{
  const AprServeLimits long_bodies = { .n_threads = 1, .max_body = 100000, .timeout = 60 };
  AprServeServer *server = start_with (fixture, &long_bodies);
  g_autofree char *body = g_strnfill (long_bodies.max_body, ' ');
  g_autofree char *request =
    g_strconcat ("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", body, NULL);
  g_autoptr (GSocketConnection) connection = send_request (fixture, request);

  assert_status (connection, "404");
  apr_serve_server_stop (server);
  g_assert_cmpuint (fixture->handler.metrics.microseconds, >=, WAIT);
}

/* Asks more often than there are threads: each one has read then what was sent before. */
static void
wait_for_threads (Fixture *fixture, guint n_threads)
{
  guint i;

  for (i = 0; i < 4 * n_threads; i++)
    {
      g_autoptr (GSocketConnection) connection = ask (fixture);

      assert_answered (connection);
    }
}

/* The next request on a kept connection has as much time as the first one, and is answered when it is over. */
static void
test_kept_connection (Fixture *fixture, gconstpointer data)
{
  const AprServeLimits one_minute = { .n_threads = 1, .max_body = 1024, .timeout = 60 };
  AprServeServer *server = start_with (fixture, &one_minute);
  g_autoptr (GSocketConnection) kept = ask (fixture);
  GInputStream *input = g_io_stream_get_input_stream (G_IO_STREAM (kept));
  GOutputStream *output = g_io_stream_get_output_stream (G_IO_STREAM (kept));
  char answer[4096] = "";
  gsize size = 0;
  GError *error = NULL;

  while (!g_str_has_suffix (answer, "}\n"))
    {
      gssize n = g_input_stream_read (input, answer + size, sizeof answer - 1 - size, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (n, >, 0);
      size += (gsize) n;
    }
  wait_for_threads (fixture, one_minute.n_threads);

  g_atomic_int_set (&n_seconds, 50);
  g_output_stream_write_all (output, "GET / HTTP/1.1\r\n", strlen ("GET / HTTP/1.1\r\n"), NULL, NULL, &error);
  g_assert_no_error (error);
  wait_for_threads (fixture, one_minute.n_threads);
  g_atomic_int_set (&n_seconds, 100);
  n_shut_down = 0;
  checking = g_thread_self ();
  apr_serve_server_check_deadlines (server);
  checking = NULL;
  g_assert_cmpuint (n_shut_down, ==, 0);
  g_atomic_int_set (&n_seconds, 150);
  apr_serve_server_check_deadlines (server);
  assert_status (kept, "408");
  g_atomic_int_set (&n_seconds, 0);
  apr_serve_server_stop (server);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/serve-server/stop-at-once", Fixture, NULL, set_up, test_stop_at_once, tear_down);
  g_test_add ("/serve-server/wait-for-next", Fixture, NULL, set_up, test_wait_for_next, tear_down);
  g_test_add ("/serve-server/no-memory", Fixture, NULL, set_up, test_no_memory, tear_down);
  g_test_add ("/serve-server/no-threads", Fixture, NULL, set_up, test_no_threads, tear_down);
  g_test_add ("/serve-server/close-few-at-a-time", Fixture, NULL, set_up, test_close_few_at_a_time,
              tear_down);
  g_test_add ("/serve-server/duration", Fixture, NULL, set_up, test_duration, tear_down);
  g_test_add ("/serve-server/kept-connection", Fixture, NULL, set_up, test_kept_connection, tear_down);

  return g_test_run ();
}
