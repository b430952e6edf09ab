/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-exact-sums-private.h"
#include "aprender/linear-model/apr-gram-private.h"

G_BEGIN_DECLS

/* What one thread needs to sum the products of columns, block after block. */
typedef struct _AprGramWorker AprGramWorker;

/* Called where so many terms wait that they should be moved. */
typedef void (*AprGramDrain) (AprGramWorker *worker, gpointer user_data);

/* The rows that a block may have. */
#define APR_GRAM_WORKER_ROWS MAX (APR_GRAM_ROWS, APR_DIGITS_ROWS)

/* Blocks have at most @n_rows rows. Of the products of each, @share of @n_shares are taken. */
AprGramWorker *apr_gram_worker_new (const AprGramKernel *kernel,
                                    gsize n_columns,
                                    AprPrecision precision,
                                    gboolean weighted,
                                    gsize n_rows,
                                    guint share,
                                    guint n_shares,
                                    AprGramDrain drain,
                                    gpointer user_data,
                                    GError **error);

void apr_gram_worker_free (AprGramWorker *self);

/* Where the caller puts the rows of a block, column by column; the values are lost when it is added. */
double *apr_gram_worker_get_column (AprGramWorker *self, gsize column);

/* The distance between columns. */
gsize apr_gram_worker_get_stride (AprGramWorker *self);

/* What the values of a column lack, in another one, all 0 at first. */
double *apr_gram_worker_add_rest (AprGramWorker *self, gsize column);

/* The same for the weights, of which none may be below 2^-400 of the greatest but those that are 0. */
double *apr_gram_worker_get_weights (AprGramWorker *self);

/* Adds a block; false where there is a NaN or an infinity. */
gboolean apr_gram_worker_add_block (AprGramWorker *self, gsize n_rows);

/* Whether the worker must be emptied before another block is added. */
gboolean apr_gram_worker_is_full (AprGramWorker *self);

/* Widens @sums to all rows of the matrix, which are then to be moved to it. */
gboolean apr_gram_worker_cover (AprGramWorker *self, AprExactSums *sums, GError **error);

/* Moves the sums of some rows of the matrix to @sums, which has been widened. Threads may do so for different rows. */
void apr_gram_worker_move_rows (AprGramWorker *self, AprExactSums *sums, gsize first_row, gsize end_row);

/* Moves what does not fit into rows, the terms. */
gboolean apr_gram_worker_move_terms (AprGramWorker *self, AprExactSums *sums, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprGramWorker, apr_gram_worker_free)

G_END_DECLS
