/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>

#include "aprender/serve/apr-serve-log.h"
#include "aprender/serve/apr-serve-notify.h"
#include "aprender/serve/apr-serve-server.h"
#include "aprender/serve/apr-serve-watch.h"
#include "aprender/tool/apr-tool.h"

#define DEFAULT_ADDRESS "127.0.0.1:8080"

typedef struct
{
  char *listen;     /* (nullable) */
  char *token_file; /* (nullable) */
  gint64 n_threads;
  gint64 max_body;
  gint64 timeout;
} ServeOptions;

static const ServeOptions defaults = { .max_body = 16 * 1024 * 1024, .timeout = 10 };

static const AprToolOption options_of_serve[] = {
  { "listen", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (ServeOptions, listen),
    "Where: HOST:PORT or unix:PATH (default: " DEFAULT_ADDRESS ", or systemd's sockets)", "ADDRESS" },
  { "threads", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (ServeOptions, n_threads),
    "How many threads answer (default: 0, which is one for each processor, at least 2)", "N" },
  { "token-file", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (ServeOptions, token_file),
    "Answer only those who send the first line of this file as their bearer token", "FILE" },
  { "max-body", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (ServeOptions, max_body),
    "The longest request that is accepted (default: 16777216)", "BYTES" },
  { "timeout", 0, APR_TOOL_INTEGER, G_STRUCT_OFFSET (ServeOptions, timeout),
    "How long a client has for its headers, again for its body, and again to read the answer (default: 10)",
    "SECONDS" },
  { NULL },
};

/* Splits [NAME=]FILE. */
static char *
get_name (const char *argument, const char **path, GError **error)
{
  const char *equals = strchr (argument, '=');
  g_autofree char *base = NULL;
  g_autofree char *name = NULL;

  /* A file of such a name is found by its folder, as ./a=b. */
  if (equals != NULL && equals > argument && memchr (argument, '/', (gsize) (equals - argument)) == NULL)
    {
      *path = equals + 1;
      if (g_utf8_validate (argument, equals - argument, NULL))
        return g_strndup (argument, (gsize) (equals - argument));

      name = g_utf8_make_valid (argument, equals - argument);
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "“%s” is not UTF-8, as the name of a model must be",
                   name);
      return NULL;
    }

  *path = argument;
  base = g_path_get_basename (argument);
  if (g_str_has_suffix (base, ".safetensors"))
    base[strlen (base) - strlen (".safetensors")] = '\0';

  return g_utf8_make_valid (base, -1);
}

static gboolean
add_models (AprServeModels *models, char **arguments, GError **error)
{
  guint i;

  for (i = 0; arguments[i] != NULL; i++)
    {
      const char *path;
      g_autofree char *name = get_name (arguments[i], &path, error);

      if (name == NULL || !apr_serve_models_add (models, name, path, error))
        return FALSE;
    }

  return TRUE;
}

/* The sockets that systemd has opened, or else the one that the command line names. */
static gboolean
open_listeners (GArray *listeners, const char *address, GError **error)
{
  AprServeListener listener;

  if (address == NULL && !apr_serve_listen_activated (listeners, error))
    return FALSE;
  if (listeners->len > 0)
    return TRUE;
  if (!apr_serve_listen (&listener, address != NULL ? address : DEFAULT_ADDRESS, error))
    return FALSE;
  g_array_append_val (listeners, listener);

  return TRUE;
}

static void
log_listeners (const GArray *listeners, guint n_threads)
{
  g_autofree char *threads = g_strdup_printf ("%u", n_threads);
  guint i;

  for (i = 0; i < listeners->len; i++)
    {
      const AprServeListener *listener = &g_array_index (listeners, AprServeListener, i);

      apr_serve_log (G_LOG_LEVEL_INFO, "listening", "address", listener->address, "threads", threads, NULL);
      if (listener->exposed)
        apr_serve_log (
          G_LOG_LEVEL_WARNING,
          "other machines can connect, and there is no TLS: whoever is in between reads and changes "
          "what is sent",
          "address", listener->address, NULL);
    }
}

static gboolean
check_deadlines (gpointer data)
{
  /* In between, those who are in time get their turn. */
  g_timeout_add (apr_serve_server_check_deadlines (data) ? 1 : 1000, check_deadlines, data);

  return G_SOURCE_REMOVE;
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);

  return G_SOURCE_CONTINUE;
}

static gboolean
reload (gpointer data)
{
  apr_serve_watch_reload_all (data);

  return G_SOURCE_CONTINUE;
}

/* The first line of a file. */
static char *
read_token (const char *path, GError **error)
{
  g_autofree char *contents = NULL;

  if (!g_file_get_contents (path, &contents, NULL, error))
    return NULL;
  contents[strcspn (contents, "\r\n")] = '\0';
  if (contents[0] == '\0')
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: the first line is to be the token, but it is empty", path);
      return NULL;
    }

  return g_steal_pointer (&contents);
}

/* Returns: %FALSE with the status in @status, which is %APR_TOOL_USAGE where --listen is no address. */
static gboolean
serve (char **arguments, const ServeOptions *options, AprToolStatus *status, GError **error)
{
  g_autoptr (AprServeModels) models = apr_serve_models_new ();
  g_autoptr (AprServeWatch) watch = NULL;
  g_autofree char *token = NULL;
  g_autoptr (GArray) listeners = g_array_new (FALSE, TRUE, sizeof (AprServeListener));
  AprServeHandler handler = { .models = models };
  AprServeLimits limits = {
    .n_threads = (guint) options->n_threads,
    .max_body = (gsize) options->max_body,
    .timeout = (guint) options->timeout,
  };
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  AprServeServer *server;

  g_array_set_clear_func (listeners, apr_serve_listener_clear);
  *status = APR_TOOL_FAILED;
  if (!add_models (models, arguments, error))
    return FALSE;
  if (options->token_file != NULL)
    {
      handler.token = token = read_token (options->token_file, error);
      if (token == NULL)
        return FALSE;
    }

  /* Before anybody can connect, but not while files are read: the loop, which looks at signals, does not run then, and
   * a file may take for ever. */
  g_unix_signal_add (SIGTERM, quit, loop);
  g_unix_signal_add (SIGINT, quit, loop);
  if (!open_listeners (listeners, options->listen, error))
    {
      if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
        *status = APR_TOOL_USAGE;
      return FALSE;
    }
  server = apr_serve_server_start (&handler, listeners, &limits, error);
  if (server == NULL)
    return FALSE;

  /* While requests are answered already: the first look at a folder may take the kernel some 10 ms. */
  watch = apr_serve_watch_new (models);
  g_unix_signal_add (SIGHUP, reload, watch);
  log_listeners (listeners, apr_serve_server_get_n_threads (server));
  apr_serve_notify ("READY=1");
  check_deadlines (server);
  g_main_loop_run (loop);
  /* Who does not want to wait says so again. */
  signal (SIGTERM, SIG_DFL);
  signal (SIGINT, SIG_DFL);
  apr_serve_log (G_LOG_LEVEL_INFO, "stopping", NULL);
  apr_serve_notify ("STOPPING=1");
  apr_serve_server_stop (server);

  return TRUE;
}

static gboolean
check_options (const ServeOptions *options, AprToolStatus *status)
{
  if (options->n_threads < 0 || options->n_threads > G_MAXUINT16)
    *status = apr_tool_usage_error ("serve", "--threads must be from 0 to 65535, got %" G_GINT64_FORMAT,
                                    options->n_threads);
  else if (options->timeout < 1 || options->timeout > G_MAXINT)
    *status = apr_tool_usage_error ("serve", "--timeout must be from 1 to %d seconds, got %" G_GINT64_FORMAT,
                                    G_MAXINT, options->timeout);
  else if (options->max_body < 1 || (guint64) options->max_body > G_MAXSSIZE / 32)
    *status = apr_tool_usage_error (
      "serve", "--max-body must be from 1 to %" G_GSSIZE_FORMAT " bytes, got %" G_GINT64_FORMAT,
      G_MAXSSIZE / 32, options->max_body);
  else
    return TRUE;

  return FALSE;
}

/* Signals and files as a server needs them, whoever started it. */
static void
prepare_process (void)
{
  int fd;

  /* Neither who asks for new models while the first ones are read, nor who reads no more of the log, ends it. */
  signal (SIGHUP, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);
  /* A file that is opened later is not to be the log. */
  do
    fd = open ("/dev/null", O_RDWR);
  while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO)
    close (fd);
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const ServeOptions *options = data;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  if (!check_options (options, &status))
    return status;

  prepare_process ();
  if (serve (arguments, options, &status, &error))
    return APR_TOOL_OK;

  return status == APR_TOOL_USAGE ? apr_tool_usage_error ("serve", "--listen: %s", error->message)
                                  : apr_tool_fail (error);
}

const AprToolCommand apr_tool_serve = {
  .name = "serve",
  .title = "Answer requests for predictions over HTTP",
  .summary = "Answers requests for predictions over HTTP.",
  .parameters = { "[NAME=]MODEL.safetensors" },
  .repeats = TRUE,
  .options = options_of_serve,
  .size = sizeof (ServeOptions),
  .defaults = &defaults,
  .notes = "A model is called NAME, or what its file is called without “.safetensors”. Ask it with:\n"
           "  curl http://127.0.0.1:8080/predict --json '{\"features\": [50, 1]}'",
  .example = "aprender serve rents.safetensors",
  .run = run,
};
