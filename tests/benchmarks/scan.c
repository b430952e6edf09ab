/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>

#include "clock.h"

/*
 * Scans files with AprSafetensorsReader. Each line of the standard input is a number of seconds and a path; the
 * answer is a line with the verdict, and the nanoseconds of processor time that each call took until the time was
 * over.
 */

static void
measure (GBytes *bytes, double seconds)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 end = clock_read (CLOCK_THREAD_CPUTIME_ID) + (gint64) (seconds * 1e9);
  gboolean accepted = FALSE;
  guint i;

  while (times->len < 3 || clock_read (CLOCK_THREAD_CPUTIME_ID) < end)
    {
      g_autoptr (GError) error = NULL;
      gint64 time = clock_read (CLOCK_THREAD_CPUTIME_ID);
      AprSafetensorsReader *reader = apr_safetensors_reader_new_from_bytes (bytes, &error);

      accepted = reader != NULL;
      g_clear_object (&reader);
      time = clock_read (CLOCK_THREAD_CPUTIME_ID) - time;
      g_array_append_val (times, time);
    }
  fputs (accepted ? "accept" : "reject", stdout);
  for (i = 0; i < times->len; i++)
    printf (" %" G_GINT64_FORMAT, g_array_index (times, gint64, i));
  putchar ('\n');
  fflush (stdout);
}

int
main (void)
{
  char line[4096];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      char *path;
      char *content;
      gsize length;
      double seconds = g_ascii_strtod (line, &path);

      if (!g_file_get_contents (g_strstrip (path), &content, &length, &error))
        g_error ("%s", error->message);
      bytes = g_bytes_new_take (content, length);
      measure (bytes, seconds);
    }
  return 0;
}
