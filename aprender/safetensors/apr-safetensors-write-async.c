/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-task-private.h"
#include "aprender/safetensors/apr-safetensors-shards-private.h"
#include "aprender/safetensors/apr-safetensors-write-private.h"

/* The methods of AprSafetensorsWriter that write in a thread. */

/* A write, from the moment when it is started: nothing here changes when the writer does. It is to shards, to a file or
 * to a stream; where there is none of them, to memory. */
typedef struct
{
  AprSafetensorsJob job;
  AprSafetensorsLayout *layout; /* (owned) (nullable) of one file */
  AprSafetensorsShards *shards; /* (owned) (nullable) */
  GFile *file;                  /* (owned) (nullable) */
  GOutputStream *stream;        /* (owned) (nullable) */
} AsyncWrite;

static void
async_write_free (gpointer data)
{
  AsyncWrite *self = data;

  apr_safetensors_job_clear (&self->job);
  g_clear_pointer (&self->layout, apr_safetensors_layout_free);
  g_clear_pointer (&self->shards, apr_safetensors_shards_free);
  g_clear_object (&self->file);
  g_clear_object (&self->stream);
  g_free (self);
}

static void
write_in_thread (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  AsyncWrite *self = task_data;
  GBytes *bytes = NULL;
  GError *error = NULL;

  if (self->shards != NULL)
    apr_safetensors_shards_write (self->shards, &self->job, cancellable, &error);
  else if (self->file != NULL)
    apr_safetensors_write_file (&self->job, self->layout, self->file, cancellable, &error);
  else if (self->stream != NULL)
    apr_safetensors_write_stream (&self->job, self->layout, self->stream, cancellable, &error);
  else
    bytes = apr_safetensors_write_bytes (&self->job, self->layout, cancellable, &error);
  /* Now, so that the functions' data are freed, and temporary files removed, before the callback runs. */
  apr_safetensors_job_clear (&self->job);
  g_clear_pointer (&self->shards, apr_safetensors_shards_free);
  if (error != NULL)
    g_task_return_error (task, error);
  else if (bytes != NULL)
    g_task_return_pointer (task, bytes, (GDestroyNotify) g_bytes_unref);
  else
    g_task_return_boolean (task, TRUE);
}

/* Runs the write, unless @error says that it could not be laid out. Takes its arguments. */
static void
run (GTask *task, AsyncWrite *self, GError *error)
{
  /* A write that is complete before the cancellation is seen has succeeded. */
  g_task_set_check_cancellable (task, FALSE);
  if (error != NULL)
    {
      async_write_free (self);
      g_task_return_error (task, error);
    }
  else
    {
      apr_safetensors_job_set_context (&self->job, g_task_get_context (task));
      g_task_set_task_data (task, self, async_write_free);
      apr_task_run_in_thread (task, write_in_thread);
    }
  g_object_unref (task);
}

/**
 * apr_safetensors_writer_write_to_file_async:
 * @self: a writer
 * @file: the file to write
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data): called when the write has ended
 * @user_data: data to pass to @callback
 *
 * Writes a file in a thread, replacing any file that is there.
 *
 * It writes what the writer holds now: the writer may be changed, or start other writes, while this one runs. The
 * functions of [method@Apr.SafetensorsWriter.set_data_func] and [method@Apr.SafetensorsWriter.set_progress_func] are
 * called in the thread-default main context of the caller, which must be running.
 *
 * Cancelling leaves the old file, and nothing else. A data function that is running is not interrupted.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_write_to_file_async (AprSafetensorsWriter *self,
                                            GFile *file,
                                            int io_priority,
                                            GCancellable *cancellable,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data)
{
  GTask *task;
  AsyncWrite *data;
  GError *error = NULL;

  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_priority (task, io_priority);
  g_task_set_source_tag (task, apr_safetensors_writer_write_to_file_async); /* GCOVR_EXCL_BR_LINE: macro */
  data = g_new0 (AsyncWrite, 1);
  data->file = g_object_ref (file);
  data->layout = apr_safetensors_write_prepare (self, &data->job, &error);
  if (data->layout == NULL)
    apr_safetensors_prefix_file (file, &error);
  run (task, data, error);
}

/**
 * apr_safetensors_writer_write_to_file_finish:
 * @self: a writer
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsWriter.write_to_file_async] started.
 *
 * Fails like [method@Apr.SafetensorsWriter.write_to_file].
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_file_finish (AprSafetensorsWriter *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return apr_task_take_boolean (result, self, apr_safetensors_writer_write_to_file_async, error);
}

/**
 * apr_safetensors_writer_write_to_stream_async:
 * @self: a writer
 * @stream: the stream to write to
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data): called when the write has ended
 * @user_data: data to pass to @callback
 *
 * Writes to a stream in a thread, see [method@Apr.SafetensorsWriter.write_to_stream]. The stream stays open. Use it
 * for nothing else meanwhile.
 *
 * It writes what the writer holds now, and calls its functions as
 * [method@Apr.SafetensorsWriter.write_to_file_async] does.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_write_to_stream_async (AprSafetensorsWriter *self,
                                              GOutputStream *stream,
                                              int io_priority,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer user_data)
{
  GTask *task;
  AsyncWrite *data;
  GError *error = NULL;

  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));
  g_return_if_fail (G_IS_OUTPUT_STREAM (stream));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_priority (task, io_priority);
  g_task_set_source_tag (task, apr_safetensors_writer_write_to_stream_async); /* GCOVR_EXCL_BR_LINE: macro */
  data = g_new0 (AsyncWrite, 1);
  data->stream = g_object_ref (stream);
  data->layout = apr_safetensors_write_prepare (self, &data->job, &error);
  run (task, data, error);
}

/**
 * apr_safetensors_writer_write_to_stream_finish:
 * @self: a writer
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsWriter.write_to_stream_async] started.
 *
 * Fails like [method@Apr.SafetensorsWriter.write_to_stream].
 *
 * Returns: whether everything was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_stream_finish (AprSafetensorsWriter *self,
                                               GAsyncResult *result,
                                               GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return apr_task_take_boolean (result, self, apr_safetensors_writer_write_to_stream_async, error);
}

/**
 * apr_safetensors_writer_write_to_bytes_async:
 * @self: a writer
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data): called when the write has ended
 * @user_data: data to pass to @callback
 *
 * Writes to memory in a thread, see [method@Apr.SafetensorsWriter.write_to_bytes].
 *
 * It writes what the writer holds now, and calls its functions as
 * [method@Apr.SafetensorsWriter.write_to_file_async] does.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_write_to_bytes_async (AprSafetensorsWriter *self,
                                             int io_priority,
                                             GCancellable *cancellable,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data)
{
  GTask *task;
  AsyncWrite *data;
  GError *error = NULL;

  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_priority (task, io_priority);
  g_task_set_source_tag (task, apr_safetensors_writer_write_to_bytes_async); /* GCOVR_EXCL_BR_LINE: macro */
  data = g_new0 (AsyncWrite, 1);
  data->layout = apr_safetensors_write_prepare (self, &data->job, &error);
  run (task, data, error);
}

/**
 * apr_safetensors_writer_write_to_bytes_finish:
 * @self: a writer
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsWriter.write_to_bytes_async] started.
 *
 * Fails like [method@Apr.SafetensorsWriter.write_to_bytes], and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.1
 */
GBytes *
apr_safetensors_writer_write_to_bytes_finish (AprSafetensorsWriter *self,
                                              GAsyncResult *result,
                                              GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return apr_task_take_pointer (result, self, apr_safetensors_writer_write_to_bytes_async, error);
}

/**
 * apr_safetensors_writer_write_shards_async:
 * @self: a writer
 * @folder: an existing folder
 * @prefix: what the files' names begin with, usually `model`
 * @max_shard_size: the limit on the tensors of one file, in bytes; 5,000,000,000 is usual
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data): called when the write has ended
 * @user_data: data to pass to @callback
 *
 * Writes several files and an index in a thread, see [method@Apr.SafetensorsWriter.write_shards].
 *
 * It writes what the writer holds now, and calls its functions as
 * [method@Apr.SafetensorsWriter.write_to_file_async] does.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_write_shards_async (AprSafetensorsWriter *self,
                                           GFile *folder,
                                           const char *prefix,
                                           guint64 max_shard_size,
                                           int io_priority,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data)
{
  GTask *task;
  AsyncWrite *data;
  GError *error = NULL;

  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));
  g_return_if_fail (G_IS_FILE (folder));
  g_return_if_fail (prefix != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_priority (task, io_priority);
  g_task_set_source_tag (task, apr_safetensors_writer_write_shards_async); /* GCOVR_EXCL_BR_LINE: macro */
  data = g_new0 (AsyncWrite, 1);
  apr_safetensors_writer_init_job (self, &data->job);
  data->shards = apr_safetensors_shards_new (self, &data->job, folder, prefix, max_shard_size, &error);
  run (task, data, error);
}

/**
 * apr_safetensors_writer_write_shards_finish:
 * @self: a writer
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsWriter.write_shards_async] started.
 *
 * Fails like [method@Apr.SafetensorsWriter.write_shards].
 *
 * Returns: whether all files were written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_shards_finish (AprSafetensorsWriter *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return apr_task_take_boolean (result, self, apr_safetensors_writer_write_shards_async, error);
}
