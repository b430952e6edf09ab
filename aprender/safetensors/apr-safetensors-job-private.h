/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-layout-private.h"
#include "aprender/safetensors/apr-safetensors-output-private.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

/* How much of a tensor is in memory at a time if a stream or a function supplies its data */
#define APR_SAFETENSORS_BLOCK_SIZE ((gsize) 1 << 20)

/*
 * AprSafetensorsClosure:
 * @function: the function
 * @user_data: its data
 * @destroy: (nullable): frees the data
 * @thread: (not owned): the thread that set the function
 * @context: (owned) (nullable): where to free the data if another thread drops the last reference
 *
 * A caller's function, ref-counted because it can be replaced while it is being called.
 */
typedef struct
{
  GCallback function;
  gpointer user_data;
  GDestroyNotify destroy;
  GThread *thread;
  GMainContext *context;
} AprSafetensorsClosure;

AprSafetensorsClosure *
apr_safetensors_closure_new (GCallback function, gpointer user_data, GDestroyNotify destroy);

AprSafetensorsClosure *apr_safetensors_closure_ref (AprSafetensorsClosure *self);

void apr_safetensors_closure_unref (AprSafetensorsClosure *self);

/*
 * AprSafetensorsJob:
 * @writer: (owned): the writer, an argument of the data function
 * @data_func: (owned) (nullable): supplies the data of tensors without another source
 * @progress_func: (owned) (nullable): is told about the progress
 * @context: (owned) (nullable): where to call the functions; NULL for the thread of the job
 * @buffer: (owned) (nullable): one block
 * @durable: whether to flush files to the disk
 * @done: the number of bytes written
 * @total: the number of bytes to write
 *
 * One write, to one or several files.
 */
typedef struct
{
  AprSafetensorsWriter *writer;
  AprSafetensorsClosure *data_func;
  AprSafetensorsClosure *progress_func;
  GMainContext *context;
  guint8 *buffer;
  gboolean durable;
  guint64 done;
  guint64 total;
} AprSafetensorsJob;

void apr_safetensors_job_clear (AprSafetensorsJob *self);

/* Makes a job in another thread call the functions, and free their data, in @context. */
void apr_safetensors_job_set_context (AprSafetensorsJob *self, GMainContext *context);

/* Checks that every tensor has a source. */
gboolean apr_safetensors_job_check (AprSafetensorsJob *self, AprSafetensorsLayout *layout, GError **error);

/* Writes the bytes of one file; does not commit it. */
gboolean apr_safetensors_job_write (AprSafetensorsJob *self,
                                    AprSafetensorsLayout *layout,
                                    AprSafetensorsOutput *output,
                                    GCancellable *cancellable,
                                    GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprSafetensorsJob, apr_safetensors_job_clear)

G_END_DECLS
