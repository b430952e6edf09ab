/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-job-private.h"

/* The methods of AprSafetensorsWriter that write one file. */

/* Lays the one file out, and makes the job of writing it. */
static AprSafetensorsLayout *
prepare (AprSafetensorsWriter *self, AprSafetensorsJob *job, GError **error)
{
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  apr_safetensors_writer_init_job (self, job);
  layout = apr_safetensors_writer_lay_out (self, apr_safetensors_writer_list_items (self), error);
  if (layout == NULL || !apr_safetensors_job_check (job, layout, error))
    return NULL;
  job->total = layout->size;
  return g_steal_pointer (&layout);
}

static gboolean
write_and_commit (AprSafetensorsJob *job,
                  AprSafetensorsLayout *layout,
                  AprSafetensorsOutput *output,
                  GCancellable *cancellable,
                  GError **error)
{
  return apr_safetensors_job_write (job, layout, output, cancellable, error) &&
         apr_safetensors_output_commit (output, job->durable, cancellable, error);
}

static gboolean
write_file (AprSafetensorsJob *job,
            AprSafetensorsLayout *layout,
            GFile *file,
            GCancellable *cancellable,
            GError **error)
{
  g_auto (AprSafetensorsOutput) output = { NULL };

  return apr_safetensors_output_open_file (&output, file, cancellable, error) &&
         write_and_commit (job, layout, &output, cancellable, error);
}

/**
 * apr_safetensors_writer_write_to_file:
 * @self: a writer
 * @file: where to write
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes a file, in place of one that may be there.
 *
 * A local file is replaced all at once and safely, see [class@Apr.SafetensorsWriter]; for another it is as
 * good as [method@Gio.File.replace].
 *
 * Fails with an error of %G_IO_ERROR if the file cannot be written or a source cannot be read, with
 * %APR_SAFETENSORS_ERROR_SIZE_MISMATCH if a declared tensor has no source, or one that gives fewer bytes or
 * more than the tensor has, with %APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE if the header would take more than
 * 100,000,000 bytes, with %APR_SAFETENSORS_ERROR_OVERFLOW if the file would be larger than any file can be,
 * and with %APR_ERROR_RANGE if [property@Apr.SafetensorsWriter:alignment] is not what it may be. An error of
 * the function that gives data is passed on. The message begins with the file's path or URI.
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_file (AprSafetensorsWriter *self,
                                      GFile *file,
                                      GCancellable *cancellable,
                                      GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  layout = prepare (self, &job, error);
  if (layout == NULL)
    {
      apr_safetensors_prefix_file (file, error);
      return FALSE;
    }
  return write_file (&job, layout, file, cancellable, error);
}

/* What a write in another thread needs, from the moment on that it was begun. */
typedef struct
{
  AprSafetensorsJob job;
  AprSafetensorsLayout *layout;
  GFile *file;
} AsyncWrite;

static void
async_write_free (gpointer data)
{
  AsyncWrite *self = data;

  apr_safetensors_job_clear (&self->job);
  g_clear_pointer (&self->layout, apr_safetensors_layout_free);
  g_object_unref (self->file);
  g_free (self);
}

static void
write_in_thread (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  AsyncWrite *data = task_data;
  g_autoptr (GError) error = NULL;
  gboolean succeeded;

  succeeded = write_file (&data->job, data->layout, data->file, cancellable, &error);
  /* Now, so that the functions' data are freed before the callback hears of the end. */
  apr_safetensors_job_clear (&data->job);
  if (succeeded)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * apr_safetensors_writer_write_to_file_async:
 * @self: a writer
 * @file: where to write
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data): called when the write has ended
 * @user_data: what it gets
 *
 * Writes a file in another thread, in place of one that may be there.
 *
 * What is written is what the writer holds now: it may be changed, and be told to write again, while this
 * goes on. The functions of [method@Apr.SafetensorsWriter.set_data_func] and
 * [method@Apr.SafetensorsWriter.set_progress_func] are called in the thread-default main context of this
 * call, which is to be iterated.
 *
 * After a cancellation the old file is there, and nothing else.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_write_to_file_async (AprSafetensorsWriter *self,
                                            GFile *file,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  g_autoptr (GError) error = NULL;
  AsyncWrite *data;

  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_safetensors_writer_write_to_file_async); /* GCOVR_EXCL_BR_LINE: macro */
  /* A file that was written before it could be cancelled is written. */
  g_task_set_check_cancellable (task, FALSE);
  data = g_new0 (AsyncWrite, 1);
  data->file = g_object_ref (file);
  data->layout = prepare (self, &data->job, &error);
  if (data->layout == NULL)
    {
      apr_safetensors_prefix_file (file, &error);
      async_write_free (data);
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  apr_safetensors_job_set_context (&data->job, g_task_get_context (task));
  g_task_set_task_data (task, data, async_write_free);
  g_task_run_in_thread (task, write_in_thread);
}

/**
 * apr_safetensors_writer_write_to_file_finish:
 * @self: a writer
 * @result: what the callback got
 * @error: return location for an error
 *
 * Gets how [method@Apr.SafetensorsWriter.write_to_file_async] ended.
 *
 * Fails as [method@Apr.SafetensorsWriter.write_to_file] does.
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_file_finish (AprSafetensorsWriter *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * apr_safetensors_writer_write_to_path:
 * @self: a writer
 * @path: (type filename): a local file's path
 * @error: return location for an error
 *
 * Writes a local file, in place of one that may be there.
 *
 * Replaces it, and fails, as [method@Apr.SafetensorsWriter.write_to_file] does.
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_path (AprSafetensorsWriter *self, const char *path, GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_auto (AprSafetensorsOutput) output = { NULL };
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  layout = prepare (self, &job, error);
  if (layout == NULL)
    {
      apr_safetensors_prefix_path (path, error);
      return FALSE;
    }
  return apr_safetensors_output_open_path (&output, path, error) &&
         write_and_commit (&job, layout, &output, NULL, error);
}

/**
 * apr_safetensors_writer_write_to_stream:
 * @self: a writer
 * @stream: where to write
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes to a stream, which is left open.
 *
 * Fails with the stream's errors, and else as [method@Apr.SafetensorsWriter.write_to_file] does. A part may
 * have been written then.
 *
 * Returns: whether all was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_stream (AprSafetensorsWriter *self,
                                        GOutputStream *stream,
                                        GCancellable *cancellable,
                                        GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_auto (AprSafetensorsOutput) output = { NULL };
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (G_IS_OUTPUT_STREAM (stream), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  layout = prepare (self, &job, error);
  if (layout == NULL)
    return FALSE;
  output.stream = g_object_ref (stream);
  return apr_safetensors_job_write (&job, layout, &output, cancellable, error);
}

/**
 * apr_safetensors_writer_write_to_bytes:
 * @self: a writer
 * @error: return location for an error
 *
 * Makes the bytes that a file would have.
 *
 * Fails with %APR_SAFETENSORS_ERROR_OVERFLOW if memory cannot hold the whole, and else as
 * [method@Apr.SafetensorsWriter.write_to_file] does.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.1
 */
GBytes *
apr_safetensors_writer_write_to_bytes (AprSafetensorsWriter *self, GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_auto (AprSafetensorsOutput) output = { NULL };
  g_autoptr (AprSafetensorsLayout) layout = NULL;
  g_autofree guint8 *bytes = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  layout = prepare (self, &job, error);
  if (layout == NULL)
    return NULL;
  bytes = layout->size > G_MAXSIZE ? NULL : g_try_malloc ((gsize) layout->size);
  if (bytes == NULL)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW,
                   "there is no memory for the %" G_GUINT64_FORMAT " bytes", layout->size);
      return NULL;
    }
  output.memory = bytes;
  if (!apr_safetensors_job_write (&job, layout, &output, NULL, error))
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&bytes), (gsize) layout->size);
}
