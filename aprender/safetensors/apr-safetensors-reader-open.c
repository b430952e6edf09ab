/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-task-private.h"
#include "aprender/safetensors/apr-safetensors-index-private.h"
#include "aprender/safetensors/apr-safetensors-reader-private.h"

static gboolean
open_index (AprSafetensorsReader *self, GCancellable *cancellable, GError **error)
{
  if (!apr_safetensors_index_open (self->file, self->path, self->load_mode, self->max_header_size,
                                   cancellable, self->sources, &self->owners, error))
    {
      g_ptr_array_set_size (self->sources, 0);
      return FALSE;
    }
  return TRUE;
}

static gboolean
open_single (AprSafetensorsReader *self, const char *display, GCancellable *cancellable, GError **error)
{
  AprSafetensorsSource *source = NULL;
  int fd;

  if (self->path == NULL)
    source = apr_safetensors_source_new_from_file (self->file, display, self->load_mode,
                                                   self->max_header_size, cancellable, error);
  else if ((fd = apr_safetensors_open_regular (self->path, 0, error)) >= 0)
    source = apr_safetensors_source_new_from_fd (fd, display, self->load_mode, self->max_header_size,
                                                 cancellable, error);
  if (source != NULL)
    g_ptr_array_add (self->sources, source);
  return source != NULL;
}

static gboolean
open_file (AprSafetensorsReader *self, GCancellable *cancellable, GError **error)
{
  g_autofree char *display =
    self->path != NULL ? g_filename_display_name (self->path) : g_file_get_uri (self->file);

  if (g_str_has_suffix (display, APR_SAFETENSORS_INDEX_SUFFIX)
        ? open_index (self, cancellable, error)
        : open_single (self, display, cancellable, error))
    return TRUE;
  g_prefix_error (error, "%s: ", display);
  return FALSE;
}

gboolean
apr_safetensors_reader_open (GInitable *initable, GCancellable *cancellable, GError **error)
{
  AprSafetensorsReader *self = APR_SAFETENSORS_READER (initable);
  AprSafetensorsSource *source;

  if (apr_safetensors_reader_is_initialised (self))
    return TRUE;
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if ((self->file != NULL) == (self->bytes != NULL))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "A reader needs a file or bytes, and here are %s",
                   self->file != NULL ? "both" : "neither");
      return FALSE;
    }
  if (self->file != NULL)
    return open_file (self, cancellable, error);
  source = apr_safetensors_source_new_from_bytes (self->bytes, self->max_header_size, error);
  if (source != NULL)
    g_ptr_array_add (self->sources, source);
  return source != NULL;
}

/**
 * apr_safetensors_reader_new_from_file: (constructor)
 * @file: a file
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Opens a SafeTensors file, or all shards of an index (a file whose name ends in `.index.json`).
 *
 * A local file is mapped into memory; any other file is loaded as a whole, which blocks.
 *
 * Fails with %G_IO_ERROR if the file cannot be read, for example with %G_IO_ERROR_NOT_FOUND, %G_IO_ERROR_IS_DIRECTORY
 * or %G_IO_ERROR_NOT_REGULAR_FILE, with %APR_SAFETENSORS_ERROR if it is not a valid SafeTensors file, and with
 * %APR_ERROR_NO_MEMORY if there is not enough memory. The message begins with the file's path or URI.
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_file (GFile *file, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, cancellable, error, "file", file, NULL);
}

/**
 * apr_safetensors_reader_new_from_path: (constructor)
 * @path: (type filename): a local file's path
 * @error: return location for an error
 *
 * Opens a local SafeTensors file, or all shards of an index (a file whose name ends in `.index.json`).
 *
 * Fails like [ctor@Apr.SafetensorsReader.new_from_file].
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_path (const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) self = NULL;
  g_autoptr (GFile) file = NULL;

  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  file = g_file_new_for_path (path);
  self = g_object_new (APR_TYPE_SAFETENSORS_READER, "file", file, NULL);
  /* Keep the path as given, also for messages: a GFile makes it absolute, and turns an empty path into a folder. */
  g_free (self->path);
  self->path = g_strdup (path);
  return g_initable_init (G_INITABLE (self), NULL, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * apr_safetensors_reader_new_from_bytes: (constructor)
 * @bytes: the bytes of a SafeTensors file
 * @error: return location for an error
 *
 * Reads a SafeTensors file that is in memory.
 *
 * The bytes are not copied: the reader and its tensors hold references to them.
 *
 * Fails with %APR_SAFETENSORS_ERROR if the bytes are not a valid SafeTensors file, and with %APR_ERROR_NO_MEMORY if
 * there is not enough memory.
 *
 * Returns: (transfer full): a reader of the bytes
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_bytes (GBytes *bytes, GError **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, error, "bytes", bytes, NULL);
}

/**
 * apr_safetensors_reader_new_from_stream: (constructor)
 * @stream: a stream with a SafeTensors file
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Reads a SafeTensors file from a stream into memory, up to the end of the stream. Blocks meanwhile.
 *
 * The header is checked as soon as it has arrived, so little is read from a stream with anything else, and only one
 * byte after the last tensor. Memory is allocated for what has arrived, not for what the header claims. The stream is
 * not closed.
 *
 * Fails with the stream's error, with %APR_SAFETENSORS_ERROR if the stream is not a valid SafeTensors file, and with
 * %APR_ERROR_NO_MEMORY if there is not enough memory.
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_stream (GInputStream *stream, GCancellable *cancellable, GError **error)
{
  AprSafetensorsReader *self;
  AprSafetensorsSource *source;

  g_return_val_if_fail (G_IS_INPUT_STREAM (stream), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  source =
    apr_safetensors_source_new_from_stream (stream, APR_SAFETENSORS_MAX_HEADER_SIZE, cancellable, error);
  if (source == NULL)
    return NULL;
  self = g_object_new (APR_TYPE_SAFETENSORS_READER, NULL);
  g_ptr_array_add (self->sources, source);
  return self;
}

static void
open_in_thread (GTask *task, gpointer source_object G_GNUC_UNUSED, gpointer file, GCancellable *cancellable)
{
  GError *error = NULL;
  AprSafetensorsReader *reader = apr_safetensors_reader_new_from_file (file, cancellable, &error);

  if (reader != NULL)
    g_task_return_pointer (task, reader, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_safetensors_reader_new_from_file_async:
 * @file: a file
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (nullable): called when the file has been opened, or not
 * @user_data: data to pass to @callback
 *
 * Opens a SafeTensors file, or all shards of an index, in a thread.
 *
 * In @callback, call [ctor@Apr.SafetensorsReader.new_from_file_finish].
 *
 * Since: 0.1
 */
void
apr_safetensors_reader_new_from_file_async (
  GFile *file, int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_safetensors_reader_new_from_file_async); /* GCOVR_EXCL_BR_LINE: macro */
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, g_object_ref (file), g_object_unref);
  apr_task_run_reader (task, open_in_thread);
}

/**
 * apr_safetensors_reader_new_from_file_finish: (constructor)
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [func@Apr.SafetensorsReader.new_from_file_async] started.
 *
 * Fails like [ctor@Apr.SafetensorsReader.new_from_file], and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_file_finish (GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return apr_task_take_pointer (result, NULL, apr_safetensors_reader_new_from_file_async, error);
}
