/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/table/apr-table-columns-private.h"
#include "aprender/table/apr-table-reader.h"
#include "aprender/table/apr-table-source-private.h"

G_BEGIN_DECLS

/* What properties say of the rows that have been read. */
typedef struct
{
  gboolean has_names;
  gboolean has_features; /* that are those of the table, not chosen */
  guint64 n_rows;
  guint64 n_dropped;
  guint64 n_missing;
  guint64 n_bytes;
  double progress;
} AprTableState;

struct _AprTableReader
{
  GObject parent_instance;

  GInputStream *stream; /* (owned) */
  char *name;           /* (owned) */
  char *delimiter;      /* (owned) (nullable) */
  gboolean decimal_comma;
  gboolean drop_missing;
  guint n_threads;
  char **chosen_features; /* (owned) (nullable) */
  char **targets;         /* (owned) (nullable) */
  char *weight;           /* (owned) (nullable) */

  AprTableSource *source;   /* (owned) */
  AprTableColumns *columns; /* (owned) (nullable) */
  AprTableFormat format;
  gboolean started;
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

  gint busy; /* atomic */
};

/* Reads the first row, unless that has been done. */
gboolean apr_table_reader_load_names (AprTableReader *self, GCancellable *cancellable, GError **error);

/* One call at a time reads. */
gboolean apr_table_reader_enter (AprTableReader *self, GError **error);
void apr_table_reader_leave (AprTableReader *self);

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
