/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/tensor/apr-tensor-private.h"

typedef struct
{
  AprTensor *tensor; /* (owned) */
  AprDType dtype;
} Cast;

static void
cast_free (gpointer data)
{
  Cast *self = data;

  apr_tensor_unref (self->tensor);
  g_free (self);
}

static void
cast_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Cast *cast = data;
  GError *error = NULL;
  AprTensor *tensor;

  apr_run_push_cancellable (cancellable);
  tensor = apr_tensor_cast (cast->tensor, cast->dtype, &error);
  apr_run_pop_cancellable (cancellable);

  if (tensor != NULL)
    g_task_return_pointer (task, tensor, (GDestroyNotify) apr_tensor_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_tensor_cast_async:
 * @self: a tensor of a float, integer or BOOL dtype, but not of the packed F4 and F6
 * @dtype: F16, BF16, F32 or F64
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the tensor is there, or not; its source object
 *   is `NULL`
 * @user_data: data to pass to @callback
 *
 * Converts the elements to another dtype without blocking, as [method@Apr.Tensor.cast] does.
 *
 * Since: 0.1
 */
void
apr_tensor_cast_async (AprTensor *self,
                       AprDType dtype,
                       int io_priority,
                       GCancellable *cancellable,
                       GAsyncReadyCallback callback,
                       gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Cast *cast;

  g_return_if_fail (self != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  cast = g_new (Cast, 1);
  *cast = (Cast){ apr_tensor_ref (self), dtype };
  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_tensor_cast_async);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, cast, cast_free);
  apr_task_run_reader (task, cast_in_thread);
}

static gboolean
is_of_other_tensor (GAsyncResult *result, AprTensor *self)
{
  return g_task_is_valid (result, NULL) && g_task_get_source_tag (G_TASK (result)) == apr_tensor_cast_async &&
         ((const Cast *) g_task_get_task_data (G_TASK (result)))->tensor != self;
}

/**
 * apr_tensor_cast_finish:
 * @self: the tensor that is cast
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Tensor.cast_async] began.
 *
 * Fails like [method@Apr.Tensor.cast], and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the tensor with the other dtype
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_cast_finish (AprTensor *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (is_of_other_tensor (result, self))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                   "The result is not that of apr_tensor_cast_async () of this tensor");
      return NULL;
    }
  return apr_task_take_pointer (result, NULL, apr_tensor_cast_async, error);
}
