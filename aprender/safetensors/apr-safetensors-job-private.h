/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-layout-private.h"
#include "aprender/safetensors/apr-safetensors-output-private.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

/* What is kept in memory of a tensor whose bytes come from a stream or a function. */
#define APR_SAFETENSORS_BLOCK_SIZE ((gsize) 1 << 20)

/*
 * AprSafetensorsClosure:
 * @function: what to call
 * @user_data: what it gets
 * @destroy: (nullable): what frees the data
 * @thread: (not owned): who made it
 * @context: (owned) (nullable): where to free the data if another thread is the last to need it
 *
 * A caller's function, ref-counted: it may be replaced while it is called.
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
 * @writer: (owned): the writer, for the function that gives data
 * @data_func: (owned) (nullable): what gives the bytes of tensors that have no other source
 * @progress_func: (owned) (nullable): what hears of the progress
 * @context: (owned) (nullable): where the functions are called if not where the job is done
 * @buffer: (owned) (nullable): a block
 * @durable: whether what is written must outlast a power cut
 * @done: how many bytes are written
 * @total: how many there will be
 *
 * One write, to one file or to several.
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

/* Makes a write in another thread call the functions in @context, and have them freed there. */
void apr_safetensors_job_set_context (AprSafetensorsJob *self, GMainContext *context);

/* Whether each tensor has something to take its bytes from. */
gboolean apr_safetensors_job_check (AprSafetensorsJob *self, AprSafetensorsLayout *layout, GError **error);

/* Writes a file's bytes, without a commit. */
gboolean apr_safetensors_job_write (AprSafetensorsJob *self,
                                    AprSafetensorsLayout *layout,
                                    AprSafetensorsOutput *output,
                                    GCancellable *cancellable,
                                    GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprSafetensorsJob, apr_safetensors_job_clear)

G_END_DECLS
