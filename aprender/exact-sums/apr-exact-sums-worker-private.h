/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

G_BEGIN_DECLS

/* What one thread needs to sum the products of columns, block after block. */
typedef struct _AprExactSumsWorker AprExactSumsWorker;

/* Called where so many terms wait that they should be moved. */
typedef void (*AprExactSumsDrain) (AprExactSumsWorker *worker, gpointer user_data);

/* The rows that a block may have. */
#define APR_EXACT_SUMS_WORKER_ROWS MAX (APR_SLICE_ROWS, APR_BYTE_ROWS)

/* There are @n_blocks blocks at most, of at most @n_rows rows. Of the products of each, @share of @n_shares are
 * taken. */
AprExactSumsWorker *apr_exact_sums_worker_new (const AprSumsKernel *kernel,
                                               gsize n_columns,
                                               AprPrecision precision,
                                               gboolean weighted,
                                               gsize n_rows,
                                               gsize n_blocks,
                                               guint share,
                                               guint n_shares,
                                               AprExactSumsDrain drain,
                                               gpointer user_data,
                                               GError **error);

void apr_exact_sums_worker_free (AprExactSumsWorker *self);

/* Once @cancellable is cancelled, the sums are of no use: a block of wide data that is summed in double takes long, and
 * is not taken to the end, nor is room made where the sums are moved to. It may be %NULL, and is not owned. */
void apr_exact_sums_worker_set_cancellable (AprExactSumsWorker *self, GCancellable *cancellable);

/* Forgets the exponents of a worker whose sums have been moved: what comes next has others. */
void apr_exact_sums_worker_forget (AprExactSumsWorker *self);

/* Has the first column of a block be of ones, as it must be, before the others are set. */
void apr_exact_sums_worker_set_ones (AprExactSumsWorker *self, gsize n_rows);

/* Where the caller puts the rows of the other columns of a block; the values are lost when it is added. */
double *apr_exact_sums_worker_get_column (AprExactSumsWorker *self, gsize column);

/* Where what is known of this column, and of those that follow, is to be written; it is forgotten with the block. */
AprColumnRange *apr_exact_sums_worker_get_ranges (AprExactSumsWorker *self, gsize column);

/* Has the columns from @first on read where @rows has them, where they are doubles that can be; false where not. They
 * are not changed, and must stay until the block has been added. */
gboolean apr_exact_sums_worker_set_places (
  AprExactSumsWorker *self, gsize first, const AprRows *rows, gsize first_row, gsize n_rows);

/* The distance between columns. */
gsize apr_exact_sums_worker_get_stride (AprExactSumsWorker *self);

/* What the values of a column lack, in another one, all 0 at first. */
double *apr_exact_sums_worker_add_rest (AprExactSumsWorker *self, gsize column);

/* The same for the weights, of which none may be below 2^-400 of the largest but those that are 0. */
double *apr_exact_sums_worker_get_weights (AprExactSumsWorker *self);

/* Tells which rows the caller reads after the next block, to have them in the caches by the time that is multiplied. To
 * be called once for each operand at most before a block. */
void
apr_exact_sums_worker_add_next (AprExactSumsWorker *self, const AprRows *rows, gsize first_row, gsize n_rows);

/* Adds a block; false where there is a NaN or an infinity, or else @error is set. */
gboolean apr_exact_sums_worker_add_block (AprExactSumsWorker *self, gsize n_rows, GError **error);

/* Whether the worker must be emptied before another block is added. */
gboolean apr_exact_sums_worker_is_full (AprExactSumsWorker *self);

/* Widens @sums to all rows of the matrix, which are then to be moved to it. */
gboolean apr_exact_sums_worker_cover (AprExactSumsWorker *self, AprExactSums *sums, GError **error);

/* Whether nothing is in @sums, nor will be but the rows of this worker, so that they need not be added. */
gboolean apr_exact_sums_worker_has_all (const AprExactSumsWorker *self, const AprExactSums *sums);

/* Moves the sums of some rows of the matrix to @sums, which has been widened. Threads may do so for different rows. If
 * the worker has @all, they are carried, too. */
void apr_exact_sums_worker_move_rows (
  AprExactSumsWorker *self, AprExactSums *sums, gboolean all, gsize first_row, gsize end_row);

/* Moves what does not fit into rows, the terms. */
gboolean apr_exact_sums_worker_move_terms (AprExactSumsWorker *self, AprExactSums *sums, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprExactSumsWorker, apr_exact_sums_worker_free)

G_END_DECLS
