/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/safetensors/apr-safetensors-reader-private.h"

/* The methods of AprSafetensorsReader that read a tensor without blocking. */

typedef struct
{
  char *name;    /* (owned) */
  char *indices; /* (owned) (nullable) what to take of it, or all */
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;

  g_free (self->name);
  g_free (self->indices);
  g_free (self);
}

static void
read_in_thread (GTask *task, gpointer reader, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  GError *error = NULL;
  AprTensor *tensor;

  apr_run_push_cancellable (cancellable);
  if (request->indices != NULL)
    tensor = apr_safetensors_reader_get_slice (reader, request->name, request->indices, &error);
  else
    tensor = apr_safetensors_reader_get_tensor (reader, request->name, &error);
  apr_run_pop_cancellable (cancellable);

  if (tensor != NULL)
    g_task_return_pointer (task, tensor, (GDestroyNotify) apr_tensor_unref);
  else
    g_task_return_error (task, error);
}

static void
begin (AprSafetensorsReader *self,
       const char *function,
       gpointer tag,
       const char *name,
       const char *indices,
       int io_priority,
       GCancellable *cancellable,
       GAsyncReadyCallback callback,
       gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  Request *request = g_new (Request, 1);

  *request = (Request){ g_strdup (name), g_strdup (indices) };
  g_task_set_name (task, function);
  g_task_set_source_tag (task, tag); /* GCOVR_EXCL_BR_LINE: macro */
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, request, request_free);
  apr_task_run_reader (task, read_in_thread);
}

/**
 * apr_safetensors_reader_get_tensor_async:
 * @self: a reader
 * @name: a tensor's name
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the tensor is there, or not
 * @user_data: data to pass to @callback
 *
 * Gets a tensor without blocking: in the load mode %APR_SAFETENSORS_LOAD_MODE_READ a thread reads it from the file.
 *
 * In the load mode %APR_SAFETENSORS_LOAD_MODE_MAP the tensor is a view of the mapping here too, and what reads its
 * elements waits for the disk.
 *
 * Since: 0.1
 */
void
apr_safetensors_reader_get_tensor_async (AprSafetensorsReader *self,
                                         const char *name,
                                         int io_priority,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data)
{
  g_return_if_fail (APR_IS_SAFETENSORS_READER (self));
  g_return_if_fail (name != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  begin (self, G_STRFUNC, apr_safetensors_reader_get_tensor_async, name, NULL, io_priority, cancellable,
         callback, user_data);
}

/**
 * apr_safetensors_reader_get_tensor_finish:
 * @self: a reader
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsReader.get_tensor_async] began.
 *
 * Fails like [method@Apr.SafetensorsReader.get_tensor], and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_safetensors_reader_get_tensor_finish (AprSafetensorsReader *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return apr_task_take_pointer (result, self, apr_safetensors_reader_get_tensor_async, error);
}

/**
 * apr_safetensors_reader_get_slice_async:
 * @self: a reader
 * @name: a tensor's name
 * @indices: what to take along each dimension, such as `1:3, ::-2, -1`; see [method@Apr.Tensor.slice]
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the slice is there, or not
 * @user_data: data to pass to @callback
 *
 * Gets a part of a tensor without blocking: a thread reads it from the file, and copies what is not contiguous.
 *
 * Since: 0.1
 */
void
apr_safetensors_reader_get_slice_async (AprSafetensorsReader *self,
                                        const char *name,
                                        const char *indices,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data)
{
  g_return_if_fail (APR_IS_SAFETENSORS_READER (self));
  g_return_if_fail (name != NULL);
  g_return_if_fail (indices != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  begin (self, G_STRFUNC, apr_safetensors_reader_get_slice_async, name, indices, io_priority, cancellable,
         callback, user_data);
}

/**
 * apr_safetensors_reader_get_slice_finish:
 * @self: a reader
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.SafetensorsReader.get_slice_async] began.
 *
 * Fails like [method@Apr.SafetensorsReader.get_slice], and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the slice
 *
 * Since: 0.1
 */
AprTensor *
apr_safetensors_reader_get_slice_finish (AprSafetensorsReader *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return apr_task_take_pointer (result, self, apr_safetensors_reader_get_slice_async, error);
}
