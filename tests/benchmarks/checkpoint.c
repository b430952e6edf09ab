/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <stdio.h>

#include "clock.h"

/*
 * Does with a checkpoint what a program in C does. Each line of the standard input is one path, to open and take every
 * tensor, or two with a tab between them, to save at the second what was opened at the first, without waiting for the
 * disk. The answer is the nanoseconds that it took, and the number of bytes.
 */

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

/* Returns the nanoseconds: to open the source is not among them. */
static gint64
save (const char *source, const char *target, gsize *n_bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (source, &error);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_tensor_unref);
  const char *const *names = reader != NULL ? apr_safetensors_reader_get_names (reader) : NULL;
  gint64 start;
  guint i;

  for (i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_ptr_array_add (tensors, apr_safetensors_reader_get_tensor (reader, names[i], NULL));
      *n_bytes += g_bytes_get_size (apr_tensor_get_bytes (tensors->pdata[i]));
    }
  start = clock_read (CLOCK_MONOTONIC);
  apr_safetensors_writer_set_durable (writer, FALSE);
  for (i = 0; i < tensors->len && error == NULL; i++)
    apr_safetensors_writer_add_tensor (writer, names[i], tensors->pdata[i], &error);
  if (error != NULL || !apr_safetensors_writer_write_to_path (writer, target, &error))
    g_error ("%s", error->message);
  return clock_read (CLOCK_MONOTONIC) - start;
}

int
main (void)
{
  char line[4096];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_auto (GStrv) paths = g_strsplit (g_strchomp (line), "\t", 2);
      gsize n_bytes = 0;
      gint64 time = clock_read (CLOCK_MONOTONIC);

      if (paths[1] != NULL)
        time = save (paths[0], paths[1], &n_bytes);
      else
        {
          n_bytes = take_all (paths[0]);
          time = clock_read (CLOCK_MONOTONIC) - time;
        }
      printf ("%" G_GINT64_FORMAT " %" G_GSIZE_FORMAT "\n", time, n_bytes);
      fflush (stdout);
    }
  return 0;
}
