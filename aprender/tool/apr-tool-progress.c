/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "aprender/tool/apr-tool-interrupt.h"

#define INTERVAL (G_USEC_PER_SEC / 5)

AprToolProgress
apr_tool_progress_start (void)
{
  AprToolProgress self = { .started = g_get_monotonic_time () };

  self.next = isatty (STDERR_FILENO) ? self.started + G_USEC_PER_SEC : G_MAXINT64;

  return self;
}

/* A line that goes round at the edge of the terminal could not be taken back; each of its characters takes a column. */
static void
print_line (GString *line)
{
  struct winsize size = { 0 };
  glong n_columns = g_utf8_strlen (line->str, -1);

  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    n_columns = MIN (n_columns, size.ws_col - 1);
  g_string_truncate (line, (gsize) (g_utf8_offset_to_pointer (line->str, n_columns) - line->str));
  fprintf (stderr, "\r\033[K%s", line->str);
}

void
apr_tool_progress_show (AprToolProgress *self, AprTableReader *reader)
{
  gint64 now = g_get_monotonic_time ();
  double seconds = (double) (now - self->started) / G_USEC_PER_SEC;
  double progress = apr_table_reader_get_progress (reader);
  guint64 n_bytes = apr_table_reader_get_n_bytes (reader);
  g_autofree char *bytes = NULL;
  g_autofree char *rate = NULL;
  g_autoptr (GString) line = g_string_new (NULL);

  if (now < self->next)
    return;

  self->next = now + INTERVAL;
  self->shown = TRUE;
  apr_tool_interrupt_set_line (TRUE);
  bytes = g_format_size (n_bytes);
  rate = g_format_size ((guint64) ((double) n_bytes / seconds));
  g_string_printf (line, "%s, %" G_GUINT64_FORMAT " rows, %s/s", bytes, apr_table_reader_get_n_rows (reader),
                   rate);
  if (progress > 0)
    g_string_append_printf (line, ", %.0f %%, %.0f s left", progress * 100, seconds * (1 / progress - 1));
  print_line (line);
}

void
apr_tool_progress_end (AprToolProgress *self)
{
  if (!self->shown)
    return;
  fputs ("\r\033[K", stderr);
  apr_tool_interrupt_set_line (FALSE);
}
