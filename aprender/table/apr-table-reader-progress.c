/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-reader-private.h"

#include <sys/stat.h>

#include <gio/gfiledescriptorbased.h>

/* How far a reader has come, and what it has met. */

guint64
apr_table_reader_find_size (GInputStream *stream)
{
  struct stat status;

  return G_IS_FILE_DESCRIPTOR_BASED (stream) &&
             fstat (g_file_descriptor_based_get_fd (G_FILE_DESCRIPTOR_BASED (stream)), &status) == 0 &&
             S_ISREG (status.st_mode)
         ? (guint64) status.st_size
         : 0;
}

static double
find_progress (const AprTableReader *self)
{
  if (self->finished)
    return 1;

  return self->size == 0 ? 0 : MIN ((double) self->n_bytes / (double) self->size, 1);
}

void
apr_table_reader_notify_state (AprTableReader *self)
{
  GObject *object = G_OBJECT (self);
  const AprTableState before = self->told;
  AprTableState now;

  /* Another read has begun since, in whose thread these are changing: its end notifies of all. */
  if ((g_atomic_int_get (&self->busy) & ~(guint) APR_TABLE_CHOOSES) != 0)
    return;

  now = (AprTableState){
    .has_names = self->columns != NULL,
    .has_features = self->columns != NULL && self->columns->features != NULL,
    .n_rows = self->n_rows,
    .n_dropped = self->n_dropped,
    .n_missing = self->n_missing,
    .n_bytes = self->n_bytes,
    .progress = find_progress (self),
  };

  self->told = now;
  g_object_freeze_notify (object);
  if (now.has_names != before.has_names)
    g_object_notify (object, "names");
  if (now.has_features != before.has_features && self->chosen_features == NULL)
    g_object_notify (object, "features");
  if (now.n_rows != before.n_rows)
    g_object_notify (object, "n-rows");
  if (now.n_dropped != before.n_dropped)
    g_object_notify (object, "n-dropped");
  if (now.n_missing != before.n_missing)
    g_object_notify (object, "n-missing");
  if (now.n_bytes != before.n_bytes)
    g_object_notify (object, "n-bytes");
  if (now.progress > before.progress)
    g_object_notify (object, "progress");
  g_object_thaw_notify (object);
}

/**
 * apr_table_reader_get_n_rows:
 * @self: a reader
 *
 * Gets how many rows have been handed out.
 *
 * Returns: the number of rows
 *
 * Since: 0.1
 */
guint64
apr_table_reader_get_n_rows (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return self->told.n_rows;
}

/**
 * apr_table_reader_get_n_dropped:
 * @self: a reader
 *
 * Gets how many rows have been passed over because they miss a number.
 *
 * Returns: the number of rows
 *
 * Since: 0.1
 */
guint64
apr_table_reader_get_n_dropped (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return self->told.n_dropped;
}

/**
 * apr_table_reader_get_n_missing:
 * @self: a reader
 *
 * Gets how many numbers are missing in a table that was found wrong because of that.
 *
 * Returns: the number of cells; 0 where the table has not been found wrong, or is wrong otherwise
 *
 * Since: 0.1
 */
guint64
apr_table_reader_get_n_missing (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return self->told.n_missing;
}

/**
 * apr_table_reader_get_n_bytes:
 * @self: a reader
 *
 * Gets how many bytes of the stream had been read when the last rows were handed out.
 *
 * Returns: the number of bytes
 *
 * Since: 0.1
 */
guint64
apr_table_reader_get_n_bytes (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return self->told.n_bytes;
}

/**
 * apr_table_reader_get_progress:
 * @self: a reader
 *
 * Gets how much of the table has been read.
 *
 * Returns: from 0 to 1; 0 until the end where the size of the stream is not known
 *
 * Since: 0.1
 */
double
apr_table_reader_get_progress (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return self->told.progress;
}
