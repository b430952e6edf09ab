/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include "aprender/base/apr-task-private.h"

/* The asynchronous twins of what takes milliseconds for a thousand features: merge, subtract, compare, and bytes. All
 * work on copies, so that every state may be written to meanwhile. */

/* What a call needs of these, as they were when it was called. */
typedef struct
{
  AprCrossProducts *state; /* (owned) (nullable): that is compared */
  AprCrossProducts *other; /* (owned) (nullable) */
  GBytes *bytes;           /* (owned) (nullable) */
  gint sign;
} Operands;

static Operands *
operands_new (AprCrossProducts *state, AprCrossProducts *other, GBytes *bytes, gint sign)
{
  Operands *self = g_new (Operands, 1);

  *self = (Operands){ state != NULL ? apr_cross_products_copy (state) : NULL,
                      other != NULL ? apr_cross_products_copy (other) : NULL,
                      bytes != NULL ? g_bytes_ref (bytes) : NULL, sign };

  return self;
}

static void
operands_free (gpointer data)
{
  Operands *self = data;

  g_clear_object (&self->state);
  g_clear_object (&self->other);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self);
}

static gboolean
write_combination (AprCrossProducts *updated, gpointer data, const AprRun *run, GError **error)
{
  const Operands *operands = data;
  g_autoptr (AprCrossProducts) other = operands->other != NULL
                                       ? g_object_ref (operands->other)
                                       : apr_cross_products_from_bytes_for (operands->bytes, updated, error);

  return other != NULL && !apr_run_set_error_if_cancelled (run, error) &&
         apr_cross_products_combine (updated, other, operands->sign, run->cancellable, error);
}

static void
combine_async (AprCrossProducts *self,
               AprCrossProducts *other,
               GBytes *bytes,
               gint sign,
               gpointer source_tag,
               int io_priority,
               GCancellable *cancellable,
               GAsyncReadyCallback callback,
               gpointer user_data)
{
  apr_cross_products_write_async (self, write_combination, operands_new (NULL, other, bytes, sign),
                                  operands_free, source_tag, io_priority, cancellable, callback, user_data);
}

/**
 * apr_cross_products_merge_async:
 * @self: a state
 * @other: a state of as many features and targets
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when it has ended
 * @user_data: data to pass to @callback
 *
 * Adds the samples of another state, as it is now, without blocking.
 *
 * The state changes in the main context that is the caller's thread default, just before @callback is called there.
 * Until then it can be read as it was, but other writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_merge_async (AprCrossProducts *self,
                                AprCrossProducts *other,
                                int io_priority,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (other));

  combine_async (self, other, NULL, 1, apr_cross_products_merge_async, io_priority, cancellable, callback,
                 user_data);
}

/**
 * apr_cross_products_merge_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.merge_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.merge]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_merge_async, error);
}

/**
 * apr_cross_products_merge_bytes_async:
 * @self: a state
 * @bytes: what [method@Apr.CrossProducts.to_bytes] made of another one
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when it has ended
 * @user_data: data to pass to @callback
 *
 * Adds the samples of a state that was sent without blocking.
 *
 * The state changes in the main context that is the caller's thread default, just before @callback is called there.
 * Until then it can be read as it was, but other writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_merge_bytes_async (AprCrossProducts *self,
                                      GBytes *bytes,
                                      int io_priority,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (bytes != NULL);

  combine_async (self, NULL, bytes, 1, apr_cross_products_merge_bytes_async, io_priority, cancellable,
                 callback, user_data);
}

/**
 * apr_cross_products_merge_bytes_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.merge_bytes_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.merge_bytes]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge_bytes_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_merge_bytes_async, error);
}

/**
 * apr_cross_products_subtract_async:
 * @self: a state
 * @other: a state whose samples were added to @self
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when it has ended
 * @user_data: data to pass to @callback
 *
 * Takes the samples of another state, as it is now, away again without blocking.
 *
 * The state changes in the main context that is the caller's thread default, just before @callback is called there.
 * Until then it can be read as it was, but other writes fail with %G_IO_ERROR_PENDING.
 *
 * Since: 0.1
 */
void
apr_cross_products_subtract_async (AprCrossProducts *self,
                                   AprCrossProducts *other,
                                   int io_priority,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (other));

  combine_async (self, other, NULL, -1, apr_cross_products_subtract_async, io_priority, cancellable, callback,
                 user_data);
}

/**
 * apr_cross_products_subtract_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.subtract_async] ended.
 *
 * Returns: true, or false with the state as it was and an error as of [method@Apr.CrossProducts.subtract]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_subtract_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_subtract_async, error);
}

void
apr_cross_products_read_async_named (gpointer self,
                                     const char *name,
                                     GTaskThreadFunc run,
                                     gpointer data,
                                     GDestroyNotify free_data,
                                     gpointer source_tag,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, io_priority);
  g_task_set_task_data (task, data, free_data);
  apr_task_run_reader (task, run);
}

static void
equal_in_thread (GTask *task,
                 gpointer source_object G_GNUC_UNUSED,
                 gpointer task_data,
                 GCancellable *cancellable G_GNUC_UNUSED)
{
  const Operands *operands = task_data;

  g_task_return_boolean (task, apr_cross_products_equal (operands->state, operands->other));
}

static void
to_bytes_in_thread (GTask *task,
                    gpointer source_object G_GNUC_UNUSED,
                    gpointer task_data,
                    GCancellable *cancellable G_GNUC_UNUSED)
{
  GError *error = NULL;
  GBytes *bytes = apr_cross_products_to_bytes (task_data, &error);

  if (bytes != NULL)
    g_task_return_pointer (task, bytes, (GDestroyNotify) g_bytes_unref);
  else
    g_task_return_error (task, error);
}

static void
from_bytes_in_thread (GTask *task,
                      gpointer source_object G_GNUC_UNUSED,
                      gpointer task_data,
                      GCancellable *cancellable G_GNUC_UNUSED)
{
  GError *error = NULL;
  AprCrossProducts *state = apr_cross_products_from_bytes (task_data, &error);

  if (state != NULL)
    g_task_return_pointer (task, state, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_cross_products_equal_async:
 * @self: a state
 * @other: another one
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the two have been compared
 * @user_data: data to pass to @callback
 *
 * Compares the two states, as they are now, without blocking.
 *
 * Since: 0.1
 */
void
apr_cross_products_equal_async (AprCrossProducts *self,
                                AprCrossProducts *other,
                                int io_priority,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (other));

  apr_cross_products_read_async (self, equal_in_thread, operands_new (self, other, NULL, 0), operands_free,
                                 apr_cross_products_equal_async, io_priority, cancellable, callback,
                                 user_data);
}

/**
 * apr_cross_products_equal_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets what [method@Apr.CrossProducts.equal_async] found.
 *
 * Returns: whether the two would make the same file; false with %G_IO_ERROR_CANCELLED where it was cancelled
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_equal_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_equal_async, error);
}

/**
 * apr_cross_products_to_bytes_async:
 * @self: a state
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the bytes are made
 * @user_data: data to pass to @callback
 *
 * Makes the bytes of the state, as it is now, without blocking.
 *
 * Since: 0.1
 */
void
apr_cross_products_to_bytes_async (AprCrossProducts *self,
                                   int io_priority,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));

  apr_cross_products_read_async (self, to_bytes_in_thread, apr_cross_products_copy (self), g_object_unref,
                                 apr_cross_products_to_bytes_async, io_priority, cancellable, callback,
                                 user_data);
}

/**
 * apr_cross_products_to_bytes_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets what [method@Apr.CrossProducts.to_bytes_async] made.
 *
 * Returns: (transfer full): the bytes of a SafeTensors file, or `NULL` with an error
 *
 * Since: 0.1
 */
GBytes *
apr_cross_products_to_bytes_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  return apr_task_take_pointer (result, self, apr_cross_products_to_bytes_async, error);
}

/**
 * apr_cross_products_from_bytes_async:
 * @bytes: the bytes of a SafeTensors file
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the state is made
 * @user_data: data to pass to @callback
 *
 * Makes a state from bytes without blocking.
 *
 * Since: 0.1
 */
void
apr_cross_products_from_bytes_async (
  GBytes *bytes, int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (bytes != NULL);

  apr_cross_products_read_async (NULL, from_bytes_in_thread, g_bytes_ref (bytes),
                                 (GDestroyNotify) g_bytes_unref, apr_cross_products_from_bytes_async,
                                 io_priority, cancellable, callback, user_data);
}

/**
 * apr_cross_products_from_bytes_finish:
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets what [func@Apr.CrossProducts.from_bytes_async] made.
 *
 * Returns: (transfer full): the state, or `NULL` as of [ctor@Apr.CrossProducts.load]
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_from_bytes_finish (GAsyncResult *result, GError **error)
{
  return apr_task_take_pointer (result, NULL, apr_cross_products_from_bytes_async, error);
}
