/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-log.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "aprender/serve/apr-serve-json.h"

#define MAX_PAIRS 8

/* Milliseconds until a line is lost that nobody takes. */
#define PATIENCE 1000

typedef struct
{
  const char *key;
  const char *value;
} Pair;

static const char *
get_level_name (GLogLevelFlags level)
{
  return (level & G_LOG_LEVEL_CRITICAL) != 0 ? "error"
       : (level & G_LOG_LEVEL_WARNING) != 0  ? "warning"
                                             : "info";
}

/* A word stands as it is, anything else in quotes as JSON has it, so that a value is never taken for more than one. */
static void
append_value (GString *line, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  const char *p = valid;

  while (g_ascii_isgraph (*p) && strchr ("\"=\\", *p) == NULL)
    p++;
  if (p > valid && *p == '\0')
    g_string_append (line, valid);
  else
    apr_serve_json_append_string (line, valid);
}

static void
append_pairs (GString *line, const Pair *pairs, guint n_pairs)
{
  guint i;

  for (i = 0; i < n_pairs; i++)
    {
      g_string_append_printf (line, " %s=", pairs[i].key);
      append_value (line, pairs[i].value);
    }
}

/* The message holds the values too, which journalctl does not show unless it is asked for all fields. */
static void
write_to_journal (GLogLevelFlags level, const Pair *pairs, guint n_pairs)
{
  const char *priority = (level & G_LOG_LEVEL_CRITICAL) != 0 ? "3"
                       : (level & G_LOG_LEVEL_WARNING) != 0  ? "4"
                                                             : "6";
  g_autoptr (GString) message = g_string_new (pairs[0].value);
  GLogField fields[MAX_PAIRS + 2] = { { "PRIORITY", priority, -1 }, { "SYSLOG_IDENTIFIER", "aprender", -1 } };
  char *keys[MAX_PAIRS];
  guint i;

  append_pairs (message, pairs + 1, n_pairs - 1);
  fields[2] = (GLogField){ "MESSAGE", message->str, -1 };
  for (i = 1; i < n_pairs; i++)
    {
      keys[i] = g_strconcat ("APRENDER_", pairs[i].key, NULL);
      for (char *p = keys[i]; *p != '\0'; p++)
        *p = g_ascii_toupper (*p);
      fields[i + 2] = (GLogField){ keys[i], pairs[i].value, -1 };
    }
  g_log_writer_journald (level, fields, n_pairs + 2, NULL);
  for (i = 1; i < n_pairs; i++)
    g_free (keys[i]);
}

/* Those of several threads do not mix. Gives up after PATIENCE, and at once where the line before was given up. */
static void
write_text (GString *line)
{
  static GMutex lock;
  static gboolean is_stuck;
  static gboolean is_cut; /* the last that was begun is not whole */
  gsize n_written = 0;
  GPollFD polled = { .fd = STDERR_FILENO, .events = G_IO_OUT };
  int ready = 1;
  gssize n = 0;

  g_mutex_lock (&lock);
  if (is_cut)
    g_string_prepend_c (line, '\n');
  while (n_written < line->len && n >= 0 && ready != 0)
    {
      ready = g_poll (&polled, 1, is_stuck ? 0 : PATIENCE);
      if (ready >= 0)
        is_stuck = ready == 0;
      if (ready <= 0)
        continue;
      /* There is room for so much. */
      n = write (STDERR_FILENO, line->str + n_written, MIN (line->len - n_written, PIPE_BUF));
      n_written += (gsize) MAX (n, 0);
    }
  if (n_written > 0)
    is_cut = n_written < line->len;
  g_mutex_unlock (&lock);
}

static void
write_line (GLogLevelFlags level, const Pair *pairs, guint n_pairs)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%S");
  g_autoptr (GString) line = g_string_new (NULL);

  g_string_append_printf (line, "time=%s.%03dZ level=%s", time, g_date_time_get_microsecond (now) / 1000,
                          get_level_name (level));
  append_pairs (line, pairs, n_pairs);
  g_string_append_c (line, '\n');
  write_text (line);
}

void
apr_serve_log (GLogLevelFlags level, const char *message, ...)
{
  Pair pairs[MAX_PAIRS] = { { "message", message } };
  guint n_pairs = 1;
  const char *key;
  va_list arguments;

  va_start (arguments, message);
  while (n_pairs < MAX_PAIRS && (key = va_arg (arguments, const char *)) != NULL)
    pairs[n_pairs++] = (Pair){ key, va_arg (arguments, const char *) };
  va_end (arguments);

  if (g_log_writer_is_journald (STDERR_FILENO))
    write_to_journal (level, pairs, n_pairs);
  else
    write_line (level, pairs, n_pairs);
}
