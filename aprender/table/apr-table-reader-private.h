/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/table/apr-table-columns-private.h"
#include "aprender/table/apr-table-reader.h"
#include "aprender/table/apr-table-source-private.h"

G_BEGIN_DECLS

/* What properties say of the rows that have been read, while others may be read in another thread. */
typedef struct
{
  gboolean has_names;
  gboolean has_features; /* those of the table, in place of those that were chosen */
  guint64 n_rows;
  guint64 n_dropped;
  guint64 n_missing;
  guint64 n_bytes;
  double progress;
} AprTableState;

/* What is under way. While names are read, it can be chosen how rows are made; otherwise only one of these is. */
typedef enum
{
  APR_TABLE_READS_NAMES = 1 << 0,
  APR_TABLE_READS_ROWS = 1 << 1,
  APR_TABLE_CHOOSES = 1 << 2,
} AprTableBusy;

struct _AprTableReader
{
  GObject parent_instance;

  GInputStream *stream; /* (owned) */
  gboolean closes;      /* the stream, at its end */
  char *name;           /* (owned) */
  char *delimiter;      /* (owned) (nullable) */
  gboolean decimal_comma;
  gboolean drop_missing;
  guint n_threads;        /* atomic */
  char **chosen_features; /* (owned) (nullable) */
  char **targets;         /* (owned) (nullable) */
  char *weight;           /* (owned) (nullable) */

  AprTableSource *source;   /* (owned) */
  AprTableColumns *columns; /* (owned) (nullable) */
  AprTableFormat format;
  gboolean started;
  GPtrArray
    *collected;       /* (owned) (nullable) (element-type AprTableCategories) what is read in place of rows */
  char **collects;    /* (owned) (nullable) the columns that they are of */
  guint64 size;       /* of the stream, 0 where it is not known */
  AprTableState told; /* when properties were notified last */

  guint64 n_lines; /* before the next block */
  guint64 n_rows;
  guint64 n_dropped;
  guint64 n_missing;
  AprTensor *row_numbers; /* (owned) (nullable) of the rows that were handed out last */
  guint64 n_bytes;
  gboolean finished;
  GError *error; /* (owned) (nullable) what the table has shown to be wrong with it */

  guint busy;       /* atomic: what is done, bits of AprTableBusy */
  const char *late; /* (nullable) (atomic) a property that was set too late, static */
};

/* Reads the first row, unless that has been done. */
gboolean apr_table_reader_load_names (AprTableReader *self, GCancellable *cancellable, GError **error);

/* One call at a time reads: it enters with what it reads. */
gboolean apr_table_reader_enter (AprTableReader *self, AprTableBusy what, GError **error);
void apr_table_reader_leave (AprTableReader *self);

/* Enters with @what, and has @run read in a thread and leave; it gets @data, which is freed with @free_data. Returns an
 * error to @callback where another call reads. Tasks have the name of the function that calls. */
#define apr_table_reader_run_async(self, ...) apr_table_reader_run_async_named (self, G_STRFUNC, __VA_ARGS__)
void apr_table_reader_run_async_named (AprTableReader *self,
                                       const char *name,
                                       AprTableBusy what,
                                       GTaskThreadFunc run,
                                       gpointer data,
                                       GDestroyNotify free_data,
                                       gpointer source_tag,
                                       int io_priority,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

/* Begins a choice of how rows, or also the names of columns, are made; false where these are being read, or have been.
 * Then the choice has to stay what it was, and the next read fails with why: rows that are not what was asked for last
 * would be wrong unseen. @property is static. */
gboolean apr_table_reader_begin_choice (AprTableReader *self, const char *property, gboolean of_names);
void apr_table_reader_end_choice (AprTableReader *self);

/* Fails with what has been found to be wrong, @self->error, and closes a file that the reader has opened. */
gboolean apr_table_reader_fail (AprTableReader *self, GError **error);

/* Takes the next block. Returns: (transfer full) (nullable): %NULL after an error, and at the end, where the table is
 * finished */
AprTableBlock *apr_table_reader_load_block (AprTableReader *self, GCancellable *cancellable, GError **error);

/* Fails with what is wrong with a block, or because it is cancelled meanwhile: then the block is the next one again.
 * @block is (transfer full). */
gboolean apr_table_reader_fail_with_block (AprTableReader *self,
                                           AprTableBlock *block,
                                           GCancellable *cancellable,
                                           GError **error);

/* Notifies the properties that have changed since it did so last, in the caller's thread. */
void apr_table_reader_notify_state (AprTableReader *self);

/* Of a file, in bytes; 0 where the size is not known. @stream is nullable. */
guint64 apr_table_reader_find_size (GInputStream *stream);

G_END_DECLS
