/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include <glib-unix.h>

#include "aprender/serve/apr-serve-log.h"
#include "aprender/serve/apr-serve-server.h"
#include "aprender/tool/apr-tool.h"

#define DEFAULT_ADDRESS "127.0.0.1:8080"
#define MIN_THREADS 2

static const AprToolCommand command = {
  .name = "serve",
  .summary = "Answers requests for predictions over HTTP.",
  .parameters = { "[NAME=]MODEL.safetensors" },
  .description = "A model is called NAME, or what its file is called without “.safetensors”.\n\n"
                 "Example:\n"
                 "  aprender serve rent.safetensors &\n"
                 "  curl http://127.0.0.1:8080/predict --json '{\"features\": [50, 1]}'",
  .repeats = TRUE,
};

typedef struct
{
  char *listen;
  int n_threads;
  gint64 max_body;
  int timeout;
} Options;

/* Splits [NAME=]FILE. */
static char *
get_name (const char *argument, const char **path)
{
  const char *equals = strchr (argument, '=');
  g_autofree char *base = NULL;

  /* A file of such a name is found by its folder, as ./a=b. */
  if (equals != NULL && equals > argument && memchr (argument, '/', (gsize) (equals - argument)) == NULL)
    {
      *path = equals + 1;
      return g_strndup (argument, (gsize) (equals - argument));
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
      g_autofree char *name = get_name (arguments[i], &path);

      if (!apr_serve_models_add (models, name, path, error))
        return FALSE;
    }

  return TRUE;
}

/* The sockets that systemd has opened, or else the one that the command line names. */
static gboolean
open_listeners (GArray *listeners, const char *address, GError **error)
{
  AprServeListener listener;

  if (address == NULL && apr_serve_listen_activated (listeners) > 0)
    return TRUE;
  if (!apr_serve_listen (&listener, address != NULL ? address : DEFAULT_ADDRESS, error))
    return FALSE;
  g_array_append_val (listeners, listener);

  return TRUE;
}

static void
log_listeners (const GArray *listeners)
{
  guint i;

  for (i = 0; i < listeners->len; i++)
    {
      const AprServeListener *listener = &g_array_index (listeners, AprServeListener, i);

      apr_serve_log (G_LOG_LEVEL_INFO, "listening", "address", listener->address, NULL);
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
  apr_serve_server_check_deadlines (data);

  return G_SOURCE_CONTINUE;
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);

  return G_SOURCE_CONTINUE;
}

static gboolean
serve (char **arguments, const Options *options, GError **error)
{
  g_autoptr (AprServeModels) models = apr_serve_models_new ();
  g_autoptr (GArray) listeners = g_array_new (FALSE, TRUE, sizeof (AprServeListener));
  AprServeHandler handler = { .models = models };
  AprServeLimits limits = {
    .n_threads =
      options->n_threads > 0 ? (guint) options->n_threads : MAX (MIN_THREADS, g_get_num_processors ()),
    .max_body = (gsize) options->max_body,
    .timeout = (guint) options->timeout,
  };
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  AprServeServer *server;

  /* Before anybody is told that the program is there. */
  g_unix_signal_add (SIGTERM, quit, loop);
  g_unix_signal_add (SIGINT, quit, loop);
  g_array_set_clear_func (listeners, apr_serve_listener_clear);
  if (!add_models (models, arguments, error) || !open_listeners (listeners, options->listen, error))
    return FALSE;
  server = apr_serve_server_start (&handler, listeners, &limits, error);
  if (server == NULL)
    return FALSE;

  log_listeners (listeners);
  g_timeout_add_seconds (1, check_deadlines, server);
  g_main_loop_run (loop);
  apr_serve_log (G_LOG_LEVEL_INFO, "stopping", NULL);
  apr_serve_server_stop (server);

  return TRUE;
}

static gboolean
check_options (const Options *options, AprToolStatus *status)
{
  if (options->n_threads < 0)
    *status = apr_tool_usage_error ("serve", "--threads must be at least 1, got %d", options->n_threads);
  else if (options->timeout < 1)
    *status = apr_tool_usage_error ("serve", "--timeout must be at least 1 second, got %d", options->timeout);
  else if (options->max_body < 1 || (guint64) options->max_body > G_MAXSSIZE / 32)
    *status = apr_tool_usage_error ("serve", "--max-body must be at least 1 byte, got %" G_GINT64_FORMAT,
                                    options->max_body);
  else
    return TRUE;

  return FALSE;
}

AprToolStatus
apr_tool_serve (int argc, char **argv)
{
  Options options = { .max_body = 16 * 1024 * 1024, .timeout = 10 };
  const GOptionEntry entries[] = {
    { "listen", 0, 0, G_OPTION_ARG_STRING, &options.listen,
      "Where: HOST:PORT or unix:PATH (default: " DEFAULT_ADDRESS ", or systemd's sockets)", "ADDRESS" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options.n_threads,
      "How many threads answer (default: one for each processor, at least 2)", "N" },
    { "max-body", 0, 0, G_OPTION_ARG_INT64, &options.max_body,
      "The longest request that is accepted (default: 16777216)", "BYTES" },
    { "timeout", 0, 0, G_OPTION_ARG_INT, &options.timeout,
      "How long a client may take for its headers, and again for its body (default: 10)", "SECONDS" },
    { NULL },
  };
  g_auto (GStrv) arguments = NULL;
  g_autofree char *listen = NULL;
  g_autoptr (GError) error = NULL;
  AprToolStatus status;
  gboolean parsed = apr_tool_parse (&command, entries, argc, argv, &arguments, &status);

  listen = options.listen;
  if (!parsed || !check_options (&options, &status))
    return status;

  return serve (arguments, &options, &error) ? APR_TOOL_OK : apr_tool_fail (error);
}
