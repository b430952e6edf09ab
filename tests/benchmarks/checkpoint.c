/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>
#include <time.h>

/*
 * Opens a checkpoint and takes every tensor, as a program in C does. Each line of the standard input is a path, and the
 * answer the nanoseconds that it took.
 */

static gint64
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

static gsize
take_all (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, &error);
  const char *const *names;
  gsize n_bytes = 0;
  guint i;

  if (reader == NULL)
    g_error ("%s", error->message);
  names = apr_safetensors_reader_get_names (reader);
  for (i = 0; names[i] != NULL; i++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, names[i], &error);

      if (tensor == NULL)
        g_error ("%s", error->message);
      n_bytes += g_bytes_get_size (apr_tensor_get_bytes (tensor));
    }
  return n_bytes;
}

int
main (void)
{
  char line[4096];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      gint64 time = now ();
      gsize n_bytes = take_all (g_strchomp (line));

      printf ("%" G_GINT64_FORMAT " %" G_GSIZE_FORMAT "\n", now () - time, n_bytes);
      fflush (stdout);
    }
  return 0;
}
