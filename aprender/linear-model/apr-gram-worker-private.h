/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-gram-private.h"

G_BEGIN_DECLS

/* What one thread needs to sum the products of columns, block after block. Its results are whole numbers, each a multiple
 * of a power of two, for an entry of the packed lower triangle. */
typedef struct _AprGramWorker AprGramWorker;

typedef struct
{
  gsize entry;
  gint64 value;
  gint exponent;
} AprGramTerm;

AprGramWorker *
apr_gram_worker_new (const AprGramKernel *kernel, gsize n_columns, gboolean narrow, gboolean weighted);

void apr_gram_worker_free (AprGramWorker *self);

/* Where the caller puts the rows of a block, column by column; the values are lost when it is added. */
double *apr_gram_worker_get_column (AprGramWorker *self, gsize column);

/* The same for the weights, of which none may be below 2^-400 of the greatest but those that are 0. */
double *apr_gram_worker_get_weights (AprGramWorker *self);

/* Adds a block; false where there is a NaN or an infinity. */
gboolean apr_gram_worker_add_block (AprGramWorker *self, gsize n_rows);

/* Ends what has been begun, so that all is among the terms. */
void apr_gram_worker_finish (AprGramWorker *self);

/* The terms so far, which the caller takes over, and then forgets by setting the length to 0. */
GArray *apr_gram_worker_get_terms (AprGramWorker *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprGramWorker, apr_gram_worker_free)

G_END_DECLS
