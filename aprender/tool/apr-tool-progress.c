/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-progress.h"

#include <stdio.h>
#include <unistd.h>

#define INTERVAL (G_USEC_PER_SEC / 5)

AprToolProgress
apr_tool_progress_start (void)
{
  AprToolProgress self = { .started = g_get_monotonic_time () };

  self.next = isatty (STDERR_FILENO) ? self.started + G_USEC_PER_SEC : G_MAXINT64;

  return self;
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

  if (now < self->next)
    return;

  self->next = now + INTERVAL;
  self->shown = TRUE;
  bytes = g_format_size (n_bytes);
  rate = g_format_size ((guint64) ((double) n_bytes / seconds));
  fprintf (stderr, "\r\033[K%s, %" G_GUINT64_FORMAT " rows, %s/s", bytes,
           apr_table_reader_get_n_rows (reader), rate);
  if (progress > 0)
    fprintf (stderr, ", %.0f %%, %.0f s left", progress * 100, seconds * (1 / progress - 1));
}

void
apr_tool_progress_end (AprToolProgress *self)
{
  if (self->shown)
    fputs ("\r\033[K", stderr);
}
