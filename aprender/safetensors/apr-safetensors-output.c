/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-output-private.h"

#include <string.h>

void
apr_safetensors_prefix_path (const char *path, GError **error)
{
  g_autofree char *display = g_filename_display_name (path);

  g_prefix_error (error, "%s: ", display);
}

void
apr_safetensors_prefix_file (GFile *file, GError **error)
{
  g_autofree char *uri = NULL;

  if (g_file_peek_path (file) != NULL)
    {
      apr_safetensors_prefix_path (g_file_peek_path (file), error);
      return;
    }
  uri = g_file_get_uri (file);
  g_prefix_error (error, "%s: ", uri);
}

gboolean
apr_safetensors_output_open_path (AprSafetensorsOutput *self, const char *path, GError **error)
{
  self->file = apr_atomic_file_open (path, error);
  self->display = g_filename_display_name (path);
  return self->file != NULL;
}

gboolean
apr_safetensors_output_open_file (AprSafetensorsOutput *self,
                                  GFile *file,
                                  GCancellable *cancellable,
                                  GError **error)
{
  if (g_file_peek_path (file) != NULL)
    return apr_safetensors_output_open_path (self, g_file_peek_path (file), error);
  self->display = g_file_get_uri (file);
  self->is_file = TRUE;
  self->stream = G_OUTPUT_STREAM (g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, cancellable, error));
  if (self->stream == NULL)
    g_prefix_error (error, "%s: ", self->display);
  return self->stream != NULL;
}

static gboolean
fail (AprSafetensorsOutput *self, GError **error)
{
  if (self->display != NULL)
    g_prefix_error (error, "%s: ", self->display);
  return FALSE;
}

gboolean
apr_safetensors_output_write (AprSafetensorsOutput *self,
                              const GOutputVector *pieces,
                              gsize n_pieces,
                              GCancellable *cancellable,
                              GError **error)
{
  gsize i;

  if (self->file != NULL)
    return apr_atomic_file_write (self->file, pieces, n_pieces, cancellable, error);
  /* Not every stream looks at the cancellable. */
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return fail (self, error);
  for (i = 0; i < n_pieces; i++)
    {
      /* Not g_output_stream_writev(): GLib 2.74 logs a warning if it fails on a Unix stream. */
      if (self->stream != NULL)
        {
          if (!g_output_stream_write_all (self->stream, pieces[i].buffer, pieces[i].size, NULL, cancellable,
                                          error))
            return fail (self, error);
          continue;
        }
      memcpy (self->memory, pieces[i].buffer, pieces[i].size);
      self->memory += pieces[i].size;
    }
  return TRUE;
}

/* Closes a stream without replacing the file. */
static void
abandon_stream (GOutputStream *stream)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  g_output_stream_close (stream, cancelled, NULL);
}

gboolean
apr_safetensors_output_finish (AprSafetensorsOutput *self,
                               const AprSafetensorsOutput *neighbour,
                               gboolean durable,
                               GError **error)
{
  return self->file == NULL || apr_atomic_file_finish (self->file, neighbour->file, durable, error);
}

gboolean
apr_safetensors_output_commit (AprSafetensorsOutput *self,
                               gboolean durable,
                               GCancellable *cancellable,
                               GError **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return fail (self, error);
  if (self->file != NULL)
    return apr_atomic_file_commit (self->file, durable, error);
  if (!g_output_stream_close (self->stream, cancellable, error))
    return fail (self, error);
  return TRUE;
}

void
apr_safetensors_output_clear (AprSafetensorsOutput *self)
{
  g_clear_pointer (&self->file, apr_atomic_file_free);
  if (self->stream != NULL && self->is_file && !g_output_stream_is_closed (self->stream))
    abandon_stream (self->stream);
  g_clear_object (&self->stream);
  g_clear_pointer (&self->display, g_free);
}
