/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-reader-private.h"

#include <string.h>

#include "aprender/base/apr-task-private.h"
#include "aprender/estimator/apr-names-private.h"

/* Adds the categories of a block to those before. */
static gboolean
merge (AprTableReader *self, const AprTableBlock *block)
{
  guint column;
  guint i;

  for (column = 0; column < self->collected->len; column++)
    {
      AprTableCategories *known = g_ptr_array_index (self->collected, column);
      const AprTableCategories *found = g_ptr_array_index (block->collected, column);

      for (i = 0; i < found->names->len; i++)
        {
          const char *name = g_ptr_array_index (found->names, i);
          gsize length = strlen (name);
          guint place;

          if (apr_table_categories_find (known, name, length, &place))
            continue;
          if (known->names->len == APR_TABLE_MAX_CATEGORIES)
            {
              g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                           "%s: a column has more than the %d categories that are allowed", self->name,
                           APR_TABLE_MAX_CATEGORIES);
              return FALSE;
            }
          apr_table_categories_insert (known, name, length, place);
        }
    }

  return TRUE;
}

/* Reads to the end; after it has been cancelled, reading can go on. */
static gboolean
collect (AprTableReader *self, GCancellable *cancellable, GError **error)
{
  while (!self->finished)
    {
      AprTableBlock *block = apr_table_reader_load_block (self, cancellable, error);
      gboolean merged;

      if (block == NULL)
        return self->finished;
      if (block->error != NULL || block->no_memory)
        return apr_table_reader_fail_with_block (self, block, cancellable, error);
      merged = merge (self, block);
      self->n_lines += block->n_lines;
      apr_table_block_free (block);
      if (!merged)
        return apr_table_reader_fail (self, error);
    }

  return TRUE;
}

/* Starts to read ahead, unless these columns are being read already. */
static gboolean
start (AprTableReader *self, const char *const *columns, GError **error)
{
  const char *const weights[] = { self->weight, NULL };
  guint i;

  if (self->collected != NULL && !self->finished && apr_names_equal (self->collects, (char **) columns))
    return TRUE;
  if (self->started)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", self->name,
                   self->collected == NULL ? "rows have been read already"
                   : self->finished        ? "categories have been read already"
                                           : "the categories of other columns are being read");
      return FALSE;
    }
  if (!apr_table_columns_collect (self->columns, columns, error) ||
      (self->drop_missing &&
       (!apr_table_columns_need (self->columns, (const char *const *) self->chosen_features, error) ||
        !apr_table_columns_need (self->columns, (const char *const *) self->targets, error) ||
        !apr_table_columns_need (self->columns, weights, error))))
    {
      g_prefix_error (error, "%s: ", self->name);
      return FALSE;
    }

  self->collects = g_strdupv ((char **) columns);
  self->collected = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_table_categories_free);
  for (i = 0; columns[i] != NULL; i++)
    g_ptr_array_add (self->collected, apr_table_categories_new ());
  self->format.slots = self->columns->slots;
  self->format.drop_missing = self->drop_missing;
  self->format.n_collected = self->collected->len;
  apr_table_source_start (self->source, &self->format, apr_table_reader_get_n_threads (self));
  self->started = TRUE;

  return TRUE;
}

static char **
load_categories (AprTableReader *self, const char *const *columns, GCancellable *cancellable, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  guint i;
  guint j;

  if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !apr_table_reader_load_names (self, cancellable, error))
    return NULL;
  if (self->error != NULL)
    {
      apr_table_reader_fail (self, error);
      return NULL;
    }
  if (!start (self, columns, error) || !collect (self, cancellable, error))
    return NULL;

  for (i = 0; columns[i] != NULL; i++)
    {
      const AprTableCategories *categories = g_ptr_array_index (self->collected, i);

      for (j = 0; j < categories->names->len; j++)
        {
          g_autofree char *name = g_strdup_printf ("%s%c%s", columns[i], APR_TABLE_CATEGORY_SIGN,
                                                   (const char *) g_ptr_array_index (categories->names, j));

          if (!apr_table_columns_check_category (self->columns, name, columns[i], error))
            {
              g_prefix_error (error, "%s: ", self->name);
              return NULL;
            }
          g_strv_builder_add (builder, name);
        }
    }

  return g_strv_builder_end (builder);
}

/**
 * apr_table_reader_read_categories:
 * @self: a reader that has not read rows yet
 * @columns: (array zero-terminated=1): the names of columns that hold texts
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Reads the whole table for the different texts in some columns, and names a feature for each, such as `color=red`.
 *
 * Such names, given to [method@Apr.TableReader.set_features] of a second reader of the same table, or of any other,
 * make the columns into numbers (one-hot encoding): the feature `color=red` is 1 in the rows whose cell in the column
 * `color` is `red`, and 0 in the others. A cell whose text has no feature is an error. A model that is fitted to them
 * needs no more than its feature names to predict. A cell that holds what stands for a missing value, such as `NA`, is
 * no category, but an error, or passed over: see [property@Apr.TableReader:drop-missing]. With that property, rows in
 * which one of the features, the targets or the weight that have been set is missing have no category either: so that
 * the categories are those of the rows that are read, set what is needed of them in this reader too.
 *
 * This blocks; [method@Apr.TableReader.read_categories_async] does not. The reader is at the end of its table
 * afterwards. After it has been cancelled, the next call, for the same columns, goes on. It fails with
 * %G_IO_ERROR_INVALID_DATA as [method@Apr.TableReader.read] does, and where a column has more than 10,000 categories,
 * or one of more than 1,024 bytes, and with %G_IO_ERROR_PENDING while another read of this reader is under way.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names, in the order of @columns, those of each column sorted
 *   by their bytes
 *
 * Since: 0.1
 */
char **
apr_table_reader_read_categories (AprTableReader *self,
                                  const char *const *columns,
                                  GCancellable *cancellable,
                                  GError **error)
{
  char **names;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);
  g_return_val_if_fail (columns != NULL, NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!apr_table_reader_enter (self, APR_TABLE_READS_ROWS, error))
    return NULL;
  names = load_categories (self, columns, cancellable, error);
  apr_table_reader_leave (self);
  apr_table_reader_notify_state (self);

  return names;
}

static void
read_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;
  char **names = load_categories (source_object, task_data, cancellable, &error);

  apr_table_reader_leave (source_object);
  if (names != NULL)
    g_task_return_pointer (task, names, (GDestroyNotify) g_strfreev);
  else
    g_task_return_error (task, error);
}

/**
 * apr_table_reader_read_categories_async:
 * @self: a reader that has not read rows yet
 * @columns: (array zero-terminated=1): the names of columns that hold texts
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (nullable) (scope async) (closure user_data): what to call when the categories are known
 * @user_data: data to pass to @callback
 *
 * Reads the whole table in another thread, as [method@Apr.TableReader.read_categories] does.
 *
 * Since: 0.1
 */
void
apr_table_reader_read_categories_async (AprTableReader *self,
                                        const char *const *columns,
                                        int io_priority,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));
  g_return_if_fail (columns != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  apr_table_reader_run_async (self, APR_TABLE_READS_ROWS, read_in_thread, g_strdupv ((char **) columns),
                              (GDestroyNotify) g_strfreev, apr_table_reader_read_categories_async,
                              io_priority, cancellable, callback, user_data);
}

/**
 * apr_table_reader_read_categories_finish:
 * @self: a reader
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.TableReader.read_categories_async] began.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of the features
 *
 * Since: 0.1
 */
char **
apr_table_reader_read_categories_finish (AprTableReader *self, GAsyncResult *result, GError **error)
{
  GError *local_error = NULL;
  char **names;
  GTask *task;

  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  task = apr_task_check (result, self, apr_table_reader_read_categories_async, error);

  if (task == NULL)
    return NULL;

  names = g_task_propagate_pointer (task, &local_error);
  if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_PENDING))
    apr_table_reader_notify_state (self);
  if (local_error != NULL)
    g_propagate_error (error, local_error);

  return names;
}
