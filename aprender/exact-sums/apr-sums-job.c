/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-sums-job-private.h"

#include <math.h>
#include <string.h>

/* Blocks that a thread takes at once. */
#define MAX_TAKEN_BLOCKS 16

/* Columns of a share, and how many rows for each column are too many for shares. */
#define COLUMNS_PER_SHARE 128
#define ROWS_PER_COLUMN 20

/* Weights below this part of a block's largest are left for another pass: their products would be too small for a
 * double. */
#define MIN_WEIGHT 0x1p-400

static void
shift_columns (
  AprExactSumsWorker *worker, const double *shifts, gsize first_column, gsize n_columns, gsize n_rows)
{
  gsize i;
  gsize row;

  for (i = 0; i < n_columns; i++)
    {
      double *column = apr_exact_sums_worker_get_column (worker, first_column + i);
      double shift = shifts[i];

      for (row = 0; row < n_rows && shift != 0; row++)
        column[row] -= shift;
    }
}

static void
add_columns (AprSumsJob *job,
             AprExactSumsWorker *worker,
             const AprRows *rows,
             gsize first_column,
             gsize first_row,
             gsize n_rows)
{
  double rests[APR_EXACT_SUMS_WORKER_ROWS];
  gsize i;

  if (apr_exact_sums_worker_set_places (worker, first_column, rows, first_row, n_rows))
    return;

  apr_rows_transpose (rows, job->kernel->slices, first_row, n_rows, apr_exact_sums_worker_get_stride (worker),
                      apr_exact_sums_worker_get_column (worker, first_column),
                      apr_exact_sums_worker_get_ranges (worker, first_column));
  if (job->shifts != NULL)
    shift_columns (worker, job->shifts + first_column - 1, first_column, rows->n_columns, n_rows);
  if (job->precision == APR_PRECISION_DOUBLE || !apr_rows_may_exceed_double (rows))
    return;

  for (i = 0; i < rows->n_columns; i++)
    if (apr_rows_get_rests (rows, i, first_row, n_rows, rests))
      memcpy (apr_exact_sums_worker_add_rest (worker, first_column + i), rests, n_rows * sizeof (double));
}

/* Adds those rows of a block whose weight is not too small beside the largest one; returns that below which the others
 * are, 0 where there are none. */
static double
add_weights (AprSumsJob *job, AprExactSumsWorker *worker, gsize first_row, gsize n_rows, double limit)
{
  double *weights = apr_exact_sums_worker_get_weights (worker);
  double max = 0;
  double min = 0;
  gsize row;

  apr_rows_transpose (&job->weights, job->kernel->slices, first_row, n_rows, 0, weights, NULL);
  for (row = 0; row < n_rows; row++)
    if (weights[row] < limit)
      max = MAX (max, weights[row]);
  for (row = 0; row < n_rows; row++)
    {
      gboolean small = weights[row] != 0 && weights[row] < max * MIN_WEIGHT;

      if (small)
        min = max * MIN_WEIGHT;
      if (small || weights[row] >= limit)
        weights[row] = 0;
    }

  return min;
}

/* Moves all that a worker has to the state. */
static gboolean
empty_worker (AprSumsJob *job, AprExactSumsWorker *worker, GError **error)
{
  gboolean moved;

  g_mutex_lock (&job->lock);
  moved = apr_exact_sums_worker_cover (worker, job->state, error);
  if (moved)
    {
      apr_exact_sums_worker_move_rows (worker, job->state, FALSE, 0, job->n_columns);
      moved = apr_exact_sums_worker_move_terms (worker, job->state, error);
    }
  g_mutex_unlock (&job->lock);

  return moved;
}

void
apr_sums_job_stop (AprSumsJob *job, GError *error)
{
  g_mutex_lock (&job->lock);
  job->stop = TRUE;
  if (job->error == NULL)
    job->error = g_steal_pointer (&error);
  g_mutex_unlock (&job->lock);
  g_clear_error (&error);
}

void
apr_sums_job_drain_terms (AprExactSumsWorker *worker, gpointer user_data)
{
  AprSumsJob *job = user_data;
  GError *error = NULL;
  gboolean moved;

  g_mutex_lock (&job->lock);
  moved = apr_exact_sums_worker_move_terms (worker, job->state, &error);
  g_mutex_unlock (&job->lock);
  if (!moved)
    apr_sums_job_stop (job, error);
}

gboolean
apr_sums_job_add_block (
  AprSumsJob *job, AprExactSumsWorker *worker, gsize first_row, gsize n_rows, GError **error)
{
  double limit = INFINITY;
  gsize next_row = first_row + n_rows;
  gsize n_next = MIN (n_rows, job->x.n_rows + job->n_behind - next_row);

  apr_exact_sums_worker_add_next (worker, &job->x, next_row, n_next);
  apr_exact_sums_worker_add_next (worker, &job->y, next_row, n_next);
  do
    {
      apr_exact_sums_worker_set_ones (worker, n_rows);
      add_columns (job, worker, &job->x, 1, first_row, n_rows);
      add_columns (job, worker, &job->y, 1 + job->x.n_columns, first_row, n_rows);
      limit = job->weighted ? add_weights (job, worker, first_row, n_rows, limit) : 0;
      if (!apr_exact_sums_worker_add_block (worker, n_rows, error) ||
          (apr_exact_sums_worker_is_full (worker) && !empty_worker (job, worker, error)))
        return FALSE;
    }
  while (limit > 0);

  return TRUE;
}

guint
apr_sums_job_plan (AprSumsJob *job, guint n_threads)
{
  gboolean exact = job->precision == APR_PRECISION_EXACT;
  gsize max_rows = exact
                   ? apr_sums_kernel_get_block_rows (job->kernel, job->n_rows, job->n_columns, job->weighted)
                   : APR_SLICE_ROWS;
  gboolean shared =
    job->n_columns / COLUMNS_PER_SHARE >= n_threads && job->n_rows / ROWS_PER_COLUMN < job->n_columns;
  guint n_parts = shared ? 1 : n_threads; /* of the rows */
  gsize n_blocks = (job->n_rows - 1) / (n_parts * max_rows) * n_parts + n_parts;

  job->n_shares = shared ? n_threads : 1;
  job->block_rows = max_rows;
  if (exact)
    job->block_rows = MIN (((job->n_rows + n_blocks - 1) / n_blocks + 7) / 8 * 8, max_rows);

  /* Some microseconds' work, so that the threads do not wait for each other, and the shares are still even. */
  job->taken_rows =
    job->block_rows * CLAMP (MIN (n_blocks / n_parts / 16, 1000 / job->n_columns), 1, MAX_TAKEN_BLOCKS);

  return shared ? n_threads : (guint) MIN (n_threads, (job->n_rows + job->block_rows - 1) / job->block_rows);
}
