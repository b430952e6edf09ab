/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-task-private.h"
#include "aprender/table/apr-table-reader-private.h"

/* The names of the columns. */

static gboolean
load_names (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  return !g_cancellable_set_error_if_cancelled (cancellable, error) &&
         apr_table_reader_load_names (self, cancellable, error);
}

/* The names do not change any more, even where another read has begun since, whose end notifies of the rest. */
static void
tell_names (AprTableReader *self)
{
  if (!self->told.has_names)
    {
      self->told.has_names = TRUE;
      g_object_notify (G_OBJECT (self), "names");
    }
  apr_table_reader_notify_state (self);
}

/**
 * apr_table_reader_read_names:
 * @self: a reader
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Reads the first row, which has the names of the columns, unless that has been done.
 *
 * This blocks until the first block of text has come; [method@Apr.TableReader.read_names_async] does not. It fails with
 * %G_IO_ERROR_INVALID_DATA and a message that has the table's name and the line if a name is there twice, or not UTF-8,
 * or if there is no row at all, and with %G_IO_ERROR_PENDING while another read of this reader is under way.
 *
 * Returns: whether the names are there
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_read_names (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  gboolean read;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!apr_table_reader_enter (self, APR_TABLE_READS_NAMES, error))
    return FALSE;
  read = load_names (self, cancellable, error);
  apr_table_reader_leave (self);
  if (read)
    tell_names (self);

  return read;
}

static void
read_in_thread (GTask *task, gpointer reader, G_GNUC_UNUSED gpointer task_data, GCancellable *cancellable)
{
  AprTableReader *self = reader;
  GError *error = NULL;
  gboolean read = load_names (self, cancellable, &error);

  apr_table_reader_leave (self);
  if (read)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * apr_table_reader_read_names_async:
 * @self: a reader
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (nullable) (scope async) (closure user_data): what to call when the names are there
 * @user_data: data to pass to @callback
 *
 * Reads the names of the columns in another thread, as [method@Apr.TableReader.read_names] does.
 *
 * Since: 0.1
 */
void
apr_table_reader_read_names_async (AprTableReader *self,
                                   int io_priority,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  apr_table_reader_run_async (self, APR_TABLE_READS_NAMES, read_in_thread, NULL, NULL,
                              apr_table_reader_read_names_async, io_priority, cancellable, callback,
                              user_data);
}

/**
 * apr_table_reader_read_names_finish:
 * @self: a reader
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.TableReader.read_names_async] began.
 *
 * Returns: whether the names are there; else @error is set as by [method@Apr.TableReader.read_names]
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_read_names_finish (AprTableReader *self, GAsyncResult *result, GError **error)
{
  GTask *task;
  gboolean read;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  task = apr_task_check (result, self, apr_table_reader_read_names_async, error);
  if (task == NULL)
    return FALSE;

  read = g_task_propagate_boolean (task, error);
  if (read)
    tell_names (self);

  return read;
}

/**
 * apr_table_reader_get_names:
 * @self: a reader
 *
 * Gets the names of all columns.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names in the order of the table, empty where a
 *   column has none, or `NULL` before the first row has been read
 *
 * Since: 0.1
 */
const char *const *
apr_table_reader_get_names (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return self->told.has_names ? (const char *const *) self->columns->names : NULL;
}
