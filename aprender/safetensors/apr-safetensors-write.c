/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-write-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/safetensors/apr-safetensors-shards-private.h"

/* The methods of AprSafetensorsWriter that write and block; apr-safetensors-write-async.c has their twins. */

AprSafetensorsLayout *
apr_safetensors_write_prepare (AprSafetensorsWriter *self, AprSafetensorsJob *job, GError **error)
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

gboolean
apr_safetensors_write_file (AprSafetensorsJob *job,
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
 * @file: the file to write
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes a file, replacing any file that is there.
 *
 * A local file is replaced atomically, see [class@Apr.SafetensorsWriter]. Any other file is as safe as
 * [method@Gio.File.replace] makes it. Blocks until the file is written;
 * [method@Apr.SafetensorsWriter.write_to_file_async] does not.
 *
 * Fails with
 *
 * - %G_IO_ERROR if the file cannot be written or a source cannot be read, or if the write was cancelled;
 * - %APR_SAFETENSORS_ERROR_SIZE_MISMATCH if a declared tensor has no source, or a source of another size;
 * - %APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE if the header would take more than 100,000,000 bytes;
 * - %APR_SAFETENSORS_ERROR_OVERFLOW if the file would be larger than any file can be;
 * - %APR_ERROR_RANGE if [property@Apr.SafetensorsWriter:alignment] has an invalid value;
 * - the error of the data function.
 *
 * The message begins with the file's path or URI. A failure leaves the old file, and nothing else.
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

  layout = apr_safetensors_write_prepare (self, &job, error);
  if (layout == NULL)
    {
      apr_safetensors_prefix_file (file, error);
      return FALSE;
    }
  return apr_safetensors_write_file (&job, layout, file, cancellable, error);
}

/**
 * apr_safetensors_writer_write_to_path:
 * @self: a writer
 * @path: (type filename): a local file's path
 * @error: return location for an error
 *
 * Writes a local file, replacing any file that is there.
 *
 * Works and fails like [method@Apr.SafetensorsWriter.write_to_file].
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

  layout = apr_safetensors_write_prepare (self, &job, error);
  if (layout == NULL)
    {
      apr_safetensors_prefix_path (path, error);
      return FALSE;
    }
  return apr_safetensors_output_open_path (&output, path, error) &&
         write_and_commit (&job, layout, &output, NULL, error);
}

gboolean
apr_safetensors_write_stream (AprSafetensorsJob *job,
                              AprSafetensorsLayout *layout,
                              GOutputStream *stream,
                              GCancellable *cancellable,
                              GError **error)
{
  g_auto (AprSafetensorsOutput) output = { NULL };

  output.stream = g_object_ref (stream);
  return apr_safetensors_job_write (job, layout, &output, cancellable, error);
}

/**
 * apr_safetensors_writer_write_to_stream:
 * @self: a writer
 * @stream: the stream to write to
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes to a stream, which stays open. Blocks until everything is written;
 * [method@Apr.SafetensorsWriter.write_to_stream_async] does not.
 *
 * Fails with the stream's errors, and otherwise like [method@Apr.SafetensorsWriter.write_to_file]. After a failure a
 * part may have been written.
 *
 * Returns: whether everything was written
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
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (G_IS_OUTPUT_STREAM (stream), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  layout = apr_safetensors_write_prepare (self, &job, error);

  return layout != NULL && apr_safetensors_write_stream (&job, layout, stream, cancellable, error);
}

GBytes *
apr_safetensors_write_bytes (AprSafetensorsJob *job,
                             AprSafetensorsLayout *layout,
                             GCancellable *cancellable,
                             GError **error)
{
  g_auto (AprSafetensorsOutput) output = { NULL };
  guint8 *bytes = layout->size > G_MAXSIZE ? NULL : apr_pages_new ((gsize) layout->size, FALSE);

  if (bytes == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "there is no memory for the %" G_GUINT64_FORMAT " bytes", layout->size);
      return NULL;
    }
  output.memory = bytes;
  if (!apr_safetensors_job_write (job, layout, &output, cancellable, error))
    {
      apr_pages_free (bytes);
      return NULL;
    }
  return g_bytes_new_with_free_func (bytes, (gsize) layout->size, apr_pages_free, bytes);
}

/**
 * apr_safetensors_writer_write_to_bytes:
 * @self: a writer
 * @error: return location for an error
 *
 * Writes to memory: returns the bytes that a file would have.
 *
 * Blocks while the tensors are copied and their sources are read;
 * [method@Apr.SafetensorsWriter.write_to_bytes_async] does not.
 *
 * Fails with %APR_ERROR_NO_MEMORY if there is not enough memory, and otherwise like
 * [method@Apr.SafetensorsWriter.write_to_file].
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.1
 */
GBytes *
apr_safetensors_writer_write_to_bytes (AprSafetensorsWriter *self, GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_autoptr (AprSafetensorsLayout) layout = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  layout = apr_safetensors_write_prepare (self, &job, error);
  return layout != NULL ? apr_safetensors_write_bytes (&job, layout, NULL, error) : NULL;
}

/**
 * apr_safetensors_writer_write_shards:
 * @self: a writer
 * @folder: an existing folder
 * @prefix: what the files' names begin with, usually `model`
 * @max_shard_size: the limit on the tensors of one file, in bytes; 5,000,000,000 is usual
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes several files of limited size, and an index of them, as the libraries of Hugging Face do.
 *
 * The tensors are split in the order in which one file would have them: each goes into the same file as the one before
 * it, unless that would exceed the limit. A tensor larger than the limit gets a file of its own, ahead of the current
 * one. Headers do not count. The files are called `model-00001-of-00003.safetensors` and so on, and each has the
 * metadata. `model.safetensors.index.json` says which tensor is in which file, and how many bytes the tensors have in
 * all. If one file is enough, it is called `model.safetensors`, and there is no index.
 *
 * All files are complete, next to those that they replace, before the first is renamed; the index is renamed last. So a
 * failure leaves the old files, and no new ones, with one exception: if a rename fails after others have succeeded, the
 * replaced files stay replaced. Files of an earlier write under other names are left alone, for example an index where
 * there is none now.
 *
 * Fails with %G_IO_ERROR_INVALID_FILENAME if the prefix is empty, is not UTF-8, or contains what
 * [class@Apr.SafetensorsReader] refuses in a shard's name, such as a slash or a colon; with
 * %APR_SAFETENSORS_ERROR_INDEX if there would be more than 10,000 shards; and otherwise like
 * [method@Apr.SafetensorsWriter.write_to_file].
 *
 * Returns: whether all files were written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_shards (AprSafetensorsWriter *self,
                                     GFile *folder,
                                     const char *prefix,
                                     guint64 max_shard_size,
                                     GCancellable *cancellable,
                                     GError **error)
{
  g_auto (AprSafetensorsJob) job = { NULL };
  g_autoptr (AprSafetensorsShards) shards = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (folder), FALSE);
  g_return_val_if_fail (prefix != NULL, FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  apr_safetensors_writer_init_job (self, &job);
  shards = apr_safetensors_shards_new (self, &job, folder, prefix, max_shard_size, error);
  return shards != NULL && apr_safetensors_shards_write (shards, &job, cancellable, error);
}
