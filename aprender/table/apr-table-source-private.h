/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/table/apr-table-block-private.h"

G_BEGIN_DECLS

/* Cuts a stream of text, compressed or not, into blocks of whole rows, which threads read and parse ahead. A text whose
 * numbers are too many for one block becomes several. */
typedef struct _AprTableSource AprTableSource;

typedef struct
{
  char *text; /* (owned) with APR_DECIMAL_PADDING bytes behind it */
  gsize length;
  gsize n_taken;     /* bytes of it that are in blocks, or in the header */
  gsize size;        /* of the memory, without the padding */
  gboolean too_long; /* the beginning of a row that is not read to its end, as nothing behind it is */
} AprTableText;

AprTableSource *apr_table_source_new (GInputStream *stream);
void apr_table_source_free (AprTableSource *self);

/* The first block, which @cancellable can stop; it stays the next one to be taken. Returns: (transfer none) (nullable):
 * %NULL where there is no text, or after an error */
const AprTableText *apr_table_source_peek (AprTableSource *self, GCancellable *cancellable, GError **error);

/* Moves the beginning of the first block. */
void apr_table_source_skip (AprTableSource *self, gsize length);

/* From now on, up to @n_threads threads read ahead, or one for each processor if it is 0, and blocks are parsed as
 * @format says, which must stay as it is. */
void apr_table_source_start (AprTableSource *self, const AprTableFormat *format, guint n_threads);

/* Waits for the next block. Returns: (transfer full) (nullable): %NULL at the end, and after an error */
AprTableBlock *apr_table_source_take (AprTableSource *self, GCancellable *cancellable, GError **error);

/* Makes a block that was taken the next one to be taken, one at a time. @block is (transfer full). */
void apr_table_source_put_back (AprTableSource *self, AprTableBlock *block);

/* The bytes taken from the stream so far, before they were decompressed. */
guint64 apr_table_source_get_n_bytes (AprTableSource *self);

static inline void
apr_table_text_clear (AprTableText *text)
{
  g_clear_pointer (&text->text, g_free);
  text->length = 0;
  text->n_taken = 0;
  text->size = 0;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprTableSource, apr_table_source_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprTableText, apr_table_text_clear)

G_END_DECLS
