/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-exact-sums-worker-private.h"
#include "aprender/exact-sums/apr-rows-private.h"

G_BEGIN_DECLS

/* How workers sum blocks of rows into a state, in slices or bytes: what an update of many threads (AprExactSums) and
 * that of groups of rows, one after the other (AprGroupSums), have in common. */
typedef struct
{
  AprExactSums *state;  /* (unowned) */
  const double *shifts; /* (unowned) (nullable) of the columns of X and Y */
  const AprSumsKernel *kernel;
  AprPrecision precision;
  AprRows x;
  AprRows y;
  AprRows weights;
  gboolean weighted;
  gsize n_columns; /* of Z */
  gsize n_behind;  /* rows that come behind X's in memory */
  gsize n_rows;    /* that are to be summed */
  gsize block_rows;
  gsize taken_rows;          /* at once: some blocks */
  guint n_shares;            /* of the matrix */
  GCancellable *cancellable; /* (unowned) (nullable) */

  GMutex lock;
  gboolean stop; /* under the lock: something is wrong, or it is cancelled */
  GError *error; /* (owned) (nullable) under the lock */
} AprSumsJob;

/* Threads that cost less than they bring, and the rows of a block: as many for each thread, but that what is rounded
 * depends on the rows alone. */
guint apr_sums_job_plan (AprSumsJob *job, guint n_threads);

gboolean apr_sums_job_add_block (
  AprSumsJob *job, AprExactSumsWorker *worker, gsize first_row, gsize n_rows, GError **error);

/* Moves a worker's terms to the state; @user_data is the job. */
void apr_sums_job_drain_terms (AprExactSumsWorker *worker, gpointer user_data);

/* Takes @error, which may be %NULL: then the reason is in the data. */
void apr_sums_job_stop (AprSumsJob *job, GError *error);

G_END_DECLS
