/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-job-private.h"

#include "aprender/base/apr-task-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"

#include <string.h>

/* The limits of one write; between two writes progress is reported and cancellation is checked. */
#define BATCH_PIECES 64
#define BATCH_BYTES ((gsize) 16 << 20)

AprSafetensorsClosure *
apr_safetensors_closure_new (GCallback function, gpointer user_data, GDestroyNotify destroy)
{
  AprSafetensorsClosure *self = g_atomic_rc_box_new0 (AprSafetensorsClosure);

  self->function = function;
  self->user_data = user_data;
  self->destroy = destroy;
  self->thread = g_thread_self ();
  return self;
}

AprSafetensorsClosure *
apr_safetensors_closure_ref (AprSafetensorsClosure *self)
{
  return g_atomic_rc_box_acquire (self);
}

/* The thread of a write can drop the last reference, but the data of a script must be freed in the script's thread. */
static void
closure_clear (gpointer data)
{
  AprSafetensorsClosure *self = data;

  if (self->destroy != NULL && self->context != NULL && g_thread_self () != self->thread)
    apr_task_free_in_context (self->context, self->user_data, self->destroy);
  else if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_clear_pointer (&self->context, g_main_context_unref);
}

void
apr_safetensors_closure_unref (AprSafetensorsClosure *self)
{
  g_atomic_rc_box_release_full (self, closure_clear);
}

void
apr_safetensors_job_clear (AprSafetensorsJob *self)
{
  g_clear_pointer (&self->data_func, apr_safetensors_closure_unref);
  g_clear_pointer (&self->progress_func, apr_safetensors_closure_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_clear_pointer (&self->buffer, g_free);
  g_clear_object (&self->writer);
}

static void
closure_set_context (AprSafetensorsClosure *self, GMainContext *context)
{
  if (self != NULL && self->context == NULL)
    self->context = g_main_context_ref (context);
}

void
apr_safetensors_job_set_context (AprSafetensorsJob *self, GMainContext *context)
{
  self->context = g_main_context_ref (context);
  closure_set_context (self->data_func, context);
  closure_set_context (self->progress_func, context);
}

/* A progress report on its way to the job's context */
typedef struct
{
  AprSafetensorsClosure *function;
  guint64 done;
  guint64 total;
} Progress;

static void
progress_free (gpointer data)
{
  Progress *self = data;

  apr_safetensors_closure_unref (self->function);
  g_free (self);
}

static gboolean
progress_tell (gpointer data)
{
  const Progress *self = data;

  ((GFileProgressCallback) self->function->function) ((goffset) self->done, (goffset) self->total,
                                                      self->function->user_data);
  return G_SOURCE_REMOVE;
}

static void
tell_progress (AprSafetensorsJob *self)
{
  Progress progress = { self->progress_func, self->done, self->total };

  if (self->progress_func == NULL)
    return;
  if (self->context == NULL)
    {
      progress_tell (&progress);
      return;
    }
  apr_safetensors_closure_ref (self->progress_func);
  apr_task_post (self->context, G_PRIORITY_DEFAULT, "AprSafetensorsWriter progress", progress_tell,
                 g_memdup2 (&progress, sizeof progress), progress_free);
}

/* A call of the data function, for which another thread may wait */
typedef struct
{
  AprSafetensorsJob *job;
  const char *name;
  guint64 offset;
  gsize size;
  GBytes *bytes;
  GError *error;
  GMutex mutex;
  GCond cond;
  gboolean is_over;
} Request;

static gboolean
request_answer (gpointer data)
{
  Request *self = data;
  AprSafetensorsClosure *closure = self->job->data_func;

  self->bytes = ((AprSafetensorsDataFunc) closure->function) (self->job->writer, self->name, self->offset,
                                                              self->size, closure->user_data, &self->error);
  return G_SOURCE_REMOVE;
}

/* Also called if the context is freed before the function was called. */
static void
request_end (gpointer data)
{
  Request *self = data;

  g_mutex_lock (&self->mutex);
  self->is_over = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->mutex);
}

static GBytes *
ask (AprSafetensorsJob *self, const char *name, guint64 offset, gsize size, GError **error)
{
  Request request = { self, name, offset, size };

  if (self->context == NULL)
    request_answer (&request);
  else
    {
      g_mutex_init (&request.mutex);
      g_cond_init (&request.cond);
      apr_task_post (self->context, G_PRIORITY_DEFAULT, "AprSafetensorsWriter function", request_answer,
                     &request, request_end);
      g_mutex_lock (&request.mutex);
      while (!request.is_over)
        g_cond_wait (&request.cond, &request.mutex);
      g_mutex_unlock (&request.mutex);
      g_mutex_clear (&request.mutex);
      g_cond_clear (&request.cond);
    }
  if (request.error != NULL)
    {
      g_clear_pointer (&request.bytes, g_bytes_unref);
      g_propagate_error (error, request.error);
    }
  else if (request.bytes == NULL)
    g_set_error_literal (error, APR_ERROR, APR_ERROR_FAILED,
                         "the function that gives data failed without saying why");
  return request.bytes;
}

/* The state of a write */
typedef struct
{
  AprSafetensorsJob *job;
  AprSafetensorsOutput *output;
  GCancellable *cancellable;
  GOutputVector pieces[BATCH_PIECES];
  gsize n_pieces;
  gsize size;
} Batch;

static gboolean
batch_flush (Batch *self, GError **error)
{
  gsize size = self->size;

  if (!apr_safetensors_output_write (self->output, self->pieces, self->n_pieces, self->cancellable, error))
    return FALSE;
  self->n_pieces = 0;
  self->size = 0;
  self->job->done += size;
  if (size > 0)
    tell_progress (self->job);
  return TRUE;
}

/* Adds bytes, which must stay valid until the batch is flushed. */
static gboolean
batch_add (Batch *self, gconstpointer bytes, gsize size, GError **error)
{
  const guint8 *p = bytes;

  while (size > 0)
    {
      gsize n_bytes;

      if ((self->n_pieces == BATCH_PIECES || self->size == BATCH_BYTES) && !batch_flush (self, error))
        return FALSE;
      n_bytes = MIN (size, BATCH_BYTES - self->size);
      self->pieces[self->n_pieces++] = (GOutputVector){ p, n_bytes };
      self->size += n_bytes;
      p += n_bytes;
      size -= n_bytes;
    }
  return TRUE;
}

/* Writes one block. The batch must be empty. */
static gboolean
batch_write (Batch *self, gconstpointer bytes, gsize size, GError **error)
{
  self->pieces[0] = (GOutputVector){ bytes, size };
  self->n_pieces = 1;
  self->size = size;
  return batch_flush (self, error);
}

/* Prefixes the error with the names of the file and the tensor. */
static gboolean
fail (const Batch *batch, const AprSafetensorsItem *item, GError **error)
{
  apr_safetensors_error_prefix_tensor (error, item->name);
  if (batch->output->display != NULL)
    g_prefix_error (error, "%s: ", batch->output->display);
  return FALSE;
}

static gboolean
fail_short (const Batch *batch, const AprSafetensorsItem *item, gsize size, GError **error)
{
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
               "its source gave %" G_GSIZE_FORMAT " of its %" G_GSIZE_FORMAT " bytes", size, item->size);
  return fail (batch, item, error);
}

static gboolean
copy_function (Batch *batch, const AprSafetensorsItem *item, GError **error)
{
  gsize offset = 0;

  while (offset < item->size)
    {
      gsize asked = MIN (item->size - offset, APR_SAFETENSORS_BLOCK_SIZE);
      g_autoptr (GBytes) bytes = NULL;
      gsize size;

      if (g_cancellable_set_error_if_cancelled (batch->cancellable, error))
        return fail (batch, item, error);
      bytes = ask (batch->job, item->name, offset, asked, error);
      if (bytes == NULL)
        return fail (batch, item, error);
      size = g_bytes_get_size (bytes);
      if (size == 0)
        return fail_short (batch, item, offset, error);
      if (size > asked)
        {
          g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                       "its source gave %" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT
                       ", where it was asked for at most %" G_GSIZE_FORMAT,
                       size, offset, asked);
          return fail (batch, item, error);
        }
      if (!batch_write (batch, g_bytes_get_data (bytes, NULL), size, error))
        return FALSE;
      offset += size;
    }
  return TRUE;
}

static gboolean
copy_blocks (Batch *batch, const AprSafetensorsItem *item, GError **error)
{
  AprSafetensorsJob *job = batch->job;
  gsize offset = 0;
  gsize asked, size;

  if (job->buffer == NULL)
    job->buffer = g_malloc (APR_SAFETENSORS_BLOCK_SIZE);
  while (offset < item->size)
    {
      asked = MIN (item->size - offset, APR_SAFETENSORS_BLOCK_SIZE);
      if (!g_input_stream_read_all (item->stream, job->buffer, asked, &size, batch->cancellable, error))
        return fail (batch, item, error);
      if (size < asked)
        return fail_short (batch, item, offset + size, error);
      if (!batch_write (batch, job->buffer, size, error))
        return FALSE;
      offset += size;
    }
  if (!g_input_stream_read_all (item->stream, job->buffer, 1, &size, batch->cancellable, error))
    return fail (batch, item, error);
  if (size > 0)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                   "its source goes on after its %" G_GSIZE_FORMAT " bytes", item->size);
      return fail (batch, item, error);
    }
  return TRUE;
}

static gboolean
copy_stream (Batch *batch, AprSafetensorsItem *item, GError **error)
{
  gboolean succeeded;

  if (!g_atomic_int_compare_and_exchange (&item->stream_state, APR_SAFETENSORS_STREAM_FREE,
                                          APR_SAFETENSORS_STREAM_BUSY))
    {
      gboolean is_spent = g_atomic_int_get (&item->stream_state) == APR_SAFETENSORS_STREAM_SPENT;

      g_set_error (error, G_IO_ERROR, is_spent ? G_IO_ERROR_CLOSED : G_IO_ERROR_PENDING,
                   is_spent ? "its stream has been read, and cannot go back"
                            : "its stream is being read by another write");
      return fail (batch, item, error);
    }
  if (item->start >= 0 &&
      !g_seekable_seek (G_SEEKABLE (item->stream), item->start, G_SEEK_SET, batch->cancellable, error))
    succeeded = fail (batch, item, error);
  else
    succeeded = copy_blocks (batch, item, error);
  g_atomic_int_set (&item->stream_state,
                    item->start >= 0 ? APR_SAFETENSORS_STREAM_FREE : APR_SAFETENSORS_STREAM_SPENT);
  return succeeded;
}

gboolean
apr_safetensors_job_check (AprSafetensorsJob *self, AprSafetensorsLayout *layout, GError **error)
{
  guint i;

  for (i = 0; self->data_func == NULL && i < layout->items->len; i++)
    {
      const AprSafetensorsItem *item = g_ptr_array_index (layout->items, i);

      if (item->bytes == NULL && item->stream == NULL && item->size > 0)
        {
          g_autofree char *display = apr_json_display (item->name, strlen (item->name));

          g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                       "tensor “%s”: it has no source for its %" G_GSIZE_FORMAT " bytes", display,
                       item->size);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
apr_safetensors_job_write (AprSafetensorsJob *self,
                           AprSafetensorsLayout *layout,
                           AprSafetensorsOutput *output,
                           GCancellable *cancellable,
                           GError **error)
{
  Batch batch = { .job = self, .output = output, .cancellable = cancellable };
  guint i;

  if (!batch_add (&batch, layout->header->str, layout->header->len, error))
    return FALSE;
  for (i = 0; i < layout->items->len; i++)
    {
      AprSafetensorsItem *item = g_ptr_array_index (layout->items, i);
      gboolean succeeded;

      if (item->bytes != NULL)
        succeeded = batch_add (&batch, g_bytes_get_data (item->bytes, NULL), item->size, error);
      else if (item->stream != NULL)
        succeeded = batch_flush (&batch, error) && copy_stream (&batch, item, error);
      else
        succeeded = batch_flush (&batch, error) && copy_function (&batch, item, error);
      if (!succeeded)
        return FALSE;
    }
  return batch_flush (&batch, error);
}
