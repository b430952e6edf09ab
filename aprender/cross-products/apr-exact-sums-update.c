/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-exact-sums-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/cross-products/apr-exact-sums-worker-private.h"
#include "aprender/cross-products/apr-group-sums-private.h"
#include "aprender/cross-products/apr-residue-plan-private.h"
#include "aprender/cross-products/apr-residue-sums-private.h"
#include "aprender/cross-products/apr-rows-private.h"
#include "aprender/cross-products/apr-sums-shift-private.h"

/* Where there are many columns, residues go first, and leave what does not suit them. The others are summed in slices,
 * or bytes: rows are cut into blocks that threads take one after the other. Each sums its blocks by itself, and in the
 * end they move what they have to the state, each some of the rows of the matrix; as a sum of whole numbers has no
 * order, it does not matter who took which. Where there are many columns for the rows, so that sums of their own for
 * each thread would cost more than they bring, each thread goes through all blocks, for its share of the matrix. */

/* Multiplications that are worth a thread of their own. */
#define PRODUCTS_PER_THREAD 2000000

/* Entries that are. */
#define ENTRIES_PER_THREAD 10000

/* Entries that are moved between two looks at whether the work is cancelled. */
#define ENTRIES_PER_PART (1 << 15)

/* Blocks that a thread takes at once. */
#define MAX_TAKEN_BLOCKS 16

/* Columns of a share, and how many rows for each column are too many for shares. */
#define COLUMNS_PER_SHARE 128
#define ROWS_PER_COLUMN 20

/* Weights below this part of a block's largest are left for another pass: their products would be too small for a
 * double. */
#define MIN_WEIGHT 0x1p-400

/* The next row of those that are to be summed. */
typedef struct
{
  guint range;
  gsize row;
} Cursor;

typedef struct
{
  AprExactSums *state;  /* (unowned) */
  AprExactSums *told;   /* (unowned) of the progress */
  const double *shifts; /* (unowned) (nullable) of the columns of X and Y */
  const AprSumsKernel *kernel;
  AprPrecision precision;
  AprRows x;
  AprRows y;
  AprRows weights;
  gboolean weighted;
  gsize n_columns; /* of Z */
  gsize n_behind;  /* rows that come behind X's in memory */
  GArray *ranges;  /* (owned) (element-type AprRange) of the rows that are to be summed */
  gsize n_rows;    /* that they have */
  gsize block_rows;
  gsize taken_rows;             /* at once: some blocks */
  guint n_shares;               /* of the matrix */
  GCancellable *cancellable;    /* (unowned) (nullable) */
  GThread *caller;              /* (unowned) which tells the progress */
  AprExactSumsWorker **workers; /* (owned) for each thread or share: %NULL where there were no rows for it */
  guint n_workers;
  gboolean worker_has_all; /* there is one, and nothing in the state */

  GMutex lock;
  Cursor next;   /* under the lock */
  gboolean stop; /* under the lock: something is wrong, or it is cancelled */
  GError *error; /* (owned) (nullable) under the lock */
} Job;

/* The range where the next rows are; %NULL where there are none. */
static const AprRange *
find_range (const Job *job, Cursor *cursor)
{
  const AprRange *range;

  for (; cursor->range < job->ranges->len; cursor->range++)
    {
      range = &g_array_index (job->ranges, AprRange, cursor->range);
      cursor->row = MAX (cursor->row, range->first);
      if (cursor->row < range->end)
        return range;
    }

  return NULL;
}

/* The next rows from @next on, which is under the lock if it is the job's; false where there are none, or it is to
 * stop. */
static gboolean
take_rows (Job *job, Cursor *next, gsize *first_row, gsize *n_rows)
{
  const AprRange *range;

  g_mutex_lock (&job->lock);
  if (g_cancellable_is_cancelled (job->cancellable))
    job->stop = TRUE;
  range = job->stop ? NULL : find_range (job, next);
  if (range != NULL)
    {
      *first_row = next->row;
      *n_rows = MIN (job->taken_rows, range->end - next->row);
      next->row += *n_rows;
    }
  g_mutex_unlock (&job->lock);

  return range != NULL;
}

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
add_columns (Job *job,
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
add_weights (Job *job, AprExactSumsWorker *worker, gsize first_row, gsize n_rows, double limit)
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
empty_worker (Job *job, AprExactSumsWorker *worker, GError **error)
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

/* Takes @error, which may be %NULL: then the reason is in the data. */
static void
stop (Job *job, GError *error)
{
  g_mutex_lock (&job->lock);
  job->stop = TRUE;
  if (job->error == NULL)
    job->error = g_steal_pointer (&error);
  g_mutex_unlock (&job->lock);
  g_clear_error (&error);
}

static void
drain_terms (AprExactSumsWorker *worker, gpointer user_data)
{
  Job *job = user_data;
  GError *error = NULL;
  gboolean moved;

  g_mutex_lock (&job->lock);
  moved = apr_exact_sums_worker_move_terms (worker, job->state, &error);
  g_mutex_unlock (&job->lock);
  if (!moved)
    stop (job, error);
}

static gboolean
add_block (Job *job, AprExactSumsWorker *worker, gsize first_row, gsize n_rows, GError **error)
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
      if (!apr_exact_sums_worker_add_block (worker, n_rows) ||
          (apr_exact_sums_worker_is_full (worker) && !empty_worker (job, worker, error)))
        return FALSE;
    }
  while (limit > 0);

  return TRUE;
}

static gboolean
add_blocks (Job *job, AprExactSumsWorker *worker, GError **error)
{
  Cursor own = { 0, 0 };
  gsize first_row;
  gsize n_rows;
  gsize i;

  while (take_rows (job, job->n_shares > 1 ? &own : &job->next, &first_row, &n_rows))
    {
      if (g_thread_self () == job->caller)
        apr_exact_sums_tell_progress (job->told, first_row, job->x.n_rows);
      for (i = 0; i < n_rows; i += job->block_rows)
        if (!add_block (job, worker, first_row + i, MIN (job->block_rows, n_rows - i), error))
          return FALSE;
    }

  return TRUE;
}

static gboolean
has_rows (Job *job)
{
  gboolean any;

  g_mutex_lock (&job->lock);
  any = !job->stop && find_range (job, &job->next) != NULL;
  g_mutex_unlock (&job->lock);

  return any;
}

/* Sums the blocks that nobody else took, or all for a share of the matrix. */
static void
sum (gpointer data, gsize part, gsize n_parts G_GNUC_UNUSED)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprExactSumsWorker *worker;

  if (!has_rows (job))
    return;

  worker = apr_exact_sums_worker_new (job->kernel, job->n_columns, job->precision, job->weighted,
                                      job->block_rows, (job->n_rows + job->block_rows - 1) / job->block_rows,
                                      (guint) part % job->n_shares, job->n_shares, drain_terms, job, &error);
  job->workers[part] = worker;
  if (worker != NULL)
    apr_exact_sums_worker_set_cancellable (worker, job->cancellable);
  if (worker == NULL || !add_blocks (job, worker, &error))
    stop (job, g_steal_pointer (&error));
}

/* Moves some rows of the matrix, of all workers, after others, and carries them. */
static void
move (gpointer data, gsize part, gsize n_parts)
{
  Job *job = data;
  gsize first_row = apr_exact_sums_find_row (job->state, part, n_parts);
  gsize end_row = apr_exact_sums_find_row (job->state, part + 1, n_parts);
  guint i;

  if (g_cancellable_is_cancelled (job->cancellable))
    return;

  for (i = 0; i < job->n_workers; i++)
    if (job->workers[i] != NULL)
      apr_exact_sums_worker_move_rows (job->workers[i], job->state, job->worker_has_all, first_row, end_row);
  if (!job->worker_has_all)
    apr_exact_sums_carry (job->state, first_row, end_row);
}

/* Moves what the workers have left to the state; fails where that is cancelled, and then the state is of no use. */
static gboolean
move_all (Job *job, guint n_threads, GError **error)
{
  gsize n_entries = apr_exact_sums_get_n_entries (job->state);
  guint i;

  job->worker_has_all = job->n_workers == 1 && apr_exact_sums_worker_has_all (job->workers[0], job->state);
  for (i = 0; i < job->n_workers; i++)
    if (job->workers[i] != NULL && (!apr_exact_sums_worker_cover (job->workers[i], job->state, error) ||
                                    !apr_exact_sums_worker_move_terms (job->workers[i], job->state, error)))
      return FALSE;

  apr_parallel_run_parts (move, job, (guint) CLAMP (n_entries / ENTRIES_PER_THREAD, 1, n_threads),
                          MAX (4 * n_threads, n_entries / ENTRIES_PER_PART));

  return !g_cancellable_set_error_if_cancelled (job->cancellable, error);
}

/* Threads that cost less than they bring, and the rows of a block: as many for each thread, but that what is rounded
 * depends on the rows alone. */
static guint
plan (Job *job, guint n_threads)
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

static gint
compare_ranges (gconstpointer a, gconstpointer b)
{
  const AprRange *one = a;
  const AprRange *other = b;

  return one->first < other->first ? -1 : one->first > other->first;
}

/* Sums what residues do better, and finds the rows that are left. */
static gboolean
sum_residues (Job *job, guint n_threads, GCancellable *cancellable, GError **error)
{
  gsize n_rows = job->x.n_rows;
  const AprResidueKernel *residues =
    apr_sums_kernel_get_residues (job->kernel, n_rows, job->n_columns, FALSE);
  AprRange all = { 0, job->x.n_rows };
  guint i;

  if (residues != NULL && apr_sums_kernel_get_residues (job->kernel, n_rows, job->n_columns, TRUE) == NULL &&
      !job->weighted && apr_residue_plan_suits_whole (&job->x, &job->y))
    residues = NULL;

  if (residues != NULL && job->precision == APR_PRECISION_EXACT)
    {
      if (!apr_residue_sums_update (job->state, residues, &job->x, &job->y,
                                    job->weighted ? &job->weights : NULL, n_threads, cancellable, job->ranges,
                                    error))
        return FALSE;
      g_array_sort (job->ranges, compare_ranges);
    }
  else
    g_array_append_val (job->ranges, all);

  for (i = 0; i < job->ranges->len; i++)
    {
      const AprRange *range = &g_array_index (job->ranges, AprRange, i);

      job->n_rows += range->end - range->first;
    }
  return TRUE;
}

/* Sums the rows that are left. */
static void
sum_rows (Job *job, guint n_threads)
{
  if (job->n_rows == 0)
    return;

  job->n_workers = plan (job, n_threads);
  job->workers = g_new0 (AprExactSumsWorker *, job->n_workers);
  apr_parallel_run_parts (sum, job, job->n_workers, job->n_workers);
}

static void
free_workers (AprExactSumsWorker **workers, guint n_workers)
{
  guint i;

  for (i = 0; i < n_workers; i++)
    apr_exact_sums_worker_free (workers[i]);
  g_free (workers);
}

/* @x and @y are of as many rows. */
static gboolean
update (AprExactSums *self,
        AprRows x,
        AprRows y,
        AprTensor *sample_weight,
        AprPrecision precision,
        const AprSumsKernel *kernel,
        guint n_threads,
        GCancellable *cancellable,
        GError **error)
{
  Job job = { .state = self,
              .told = self,
              .precision = precision,
              .cancellable = cancellable,
              .caller = g_thread_self () };
  g_autofree double *shifts = NULL;
  g_autoptr (AprExactSums) shifted = NULL;
  gboolean summed = FALSE;
  gboolean moved;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  job.kernel = kernel != NULL ? kernel : apr_sums_kernel_choose ();
  job.n_columns = 1 + apr_exact_sums_get_n_features (self) + apr_exact_sums_get_n_targets (self);
  job.weighted = sample_weight != NULL;
  job.x = x;
  job.y = y;
  if (job.weighted)
    {
      apr_rows_init (&job.weights, "sample_weight", sample_weight);
      if (!apr_rows_check_weights (&job.weights, error))
        return FALSE;
    }

  apr_exact_sums_set_cancellable (self, cancellable);
  if (precision == APR_PRECISION_DOUBLE)
    job.shifts = shifts = apr_sums_shift_find (&job.x, &job.y);
  if (shifts != NULL && !apr_exact_sums_is_zero (self))
    {
      /* What is there already is not shifted. */
      shifted =
        apr_exact_sums_new (apr_exact_sums_get_n_features (self), apr_exact_sums_get_n_targets (self), error);
      if (shifted == NULL)
        return FALSE;
      job.state = shifted;
    }

  g_mutex_init (&job.lock);
  job.ranges = g_array_new (FALSE, FALSE, sizeof (AprRange));
  if (sum_residues (&job, n_threads, cancellable, error))
    {
      sum_rows (&job, n_threads);
      summed = TRUE;
    }
  if (summed && !job.stop)
    apr_exact_sums_tell_progress (self, job.x.n_rows, job.x.n_rows);
  if (g_cancellable_is_cancelled (cancellable))
    job.stop = TRUE;
  moved = summed && !job.stop && move_all (&job, n_threads, error) &&
          (shifts == NULL || apr_sums_shift_undo (shifts, job.state, n_threads, error)) &&
          (shifted == NULL || apr_exact_sums_add (self, shifted, 1, error));
  g_mutex_clear (&job.lock);
  g_array_unref (job.ranges);
  free_workers (job.workers, job.n_workers);
  apr_exact_sums_set_cancellable (self, NULL);

  if (moved)
    return TRUE;
  if (job.error != NULL)
    {
      g_propagate_error (error, job.error);
      return FALSE;
    }
  if (!summed || !job.stop || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return apr_rows_check_finite (&job.x, error) && apr_rows_check_finite (&job.y, error);
}

gboolean
apr_exact_sums_update_with (AprExactSums *self,
                            AprTensor *x,
                            AprTensor *y,
                            AprTensor *sample_weight,
                            AprPrecision precision,
                            const AprSumsKernel *kernel,
                            guint n_threads,
                            GCancellable *cancellable,
                            GError **error)
{
  AprRows x_rows;
  AprRows y_rows;

  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);

  return update (self, x_rows, y_rows, sample_weight, precision, kernel, n_threads, cancellable, error);
}

static guint
count_threads (const AprExactSums *self, gsize n_rows, guint n_threads)
{
  double n_columns =
    1.0 + (double) apr_exact_sums_get_n_features (self) + (double) apr_exact_sums_get_n_targets (self);
  double n_products = (double) n_rows * n_columns * n_columns / 2;

  return apr_parallel_count (n_threads, n_products / PRODUCTS_PER_THREAD);
}

gboolean
apr_exact_sums_update (AprExactSums *self,
                       AprTensor *x,
                       AprTensor *y,
                       AprTensor *sample_weight,
                       AprPrecision precision,
                       guint n_threads,
                       GCancellable *cancellable,
                       GError **error)
{
  return apr_exact_sums_update_with (self, x, y, sample_weight, precision, NULL,
                                     count_threads (self, apr_tensor_get_shape (x, NULL)[0], n_threads),
                                     cancellable, error);
}

gboolean
apr_exact_sums_update_columns (AprExactSums *self,
                               const AprRows *x,
                               const AprRows *y,
                               AprTensor *sample_weight,
                               AprPrecision precision,
                               guint n_threads,
                               GCancellable *cancellable,
                               GError **error)
{
  return update (self, *x, *y, sample_weight, precision, NULL, count_threads (self, x->n_rows, n_threads),
                 cancellable, error);
}

struct _AprGroupSums
{
  Job job;
  gsize n_features;
  gsize n_targets;
  AprExactSumsWorker *worker; /* (owned) */
};

gboolean
apr_group_sums_suit (gsize max_rows, gsize n_features, gsize n_targets)
{
  const AprSumsKernel *kernel = apr_sums_kernel_choose ();
  gsize n_columns;

  return g_size_checked_add (&n_columns, n_features, n_targets) &&
         g_size_checked_add (&n_columns, n_columns, 1) &&
         apr_sums_kernel_get_residues (kernel, max_rows, n_columns, FALSE) == NULL;
}

AprGroupSums *
apr_group_sums_new (
  gsize max_rows, gsize n_features, gsize n_targets, gboolean weighted, GCancellable *cancellable)
{
  AprGroupSums *self = g_new0 (AprGroupSums, 1);
  Job *job = &self->job;

  self->n_features = n_features;
  self->n_targets = n_targets;
  job->kernel = apr_sums_kernel_choose ();
  job->precision = APR_PRECISION_EXACT;
  job->n_columns = 1 + n_features + n_targets;
  job->weighted = weighted;
  job->cancellable = cancellable;
  job->n_rows = max_rows;
  g_mutex_init (&job->lock);
  (void) plan (job, 1);

  return self;
}

void
apr_group_sums_free (AprGroupSums *self)
{
  if (self == NULL)
    return;

  apr_exact_sums_worker_free (self->worker);
  g_mutex_clear (&self->job.lock);
  g_clear_error (&self->job.error);
  g_free (self);
}

/* Sums the rows of the job; false without an error where there is a NaN or an infinity. */
static gboolean
sum_group (AprGroupSums *self, GError **error)
{
  Job *job = &self->job;
  gsize n_columns = job->n_columns;
  gboolean has_all;
  gsize i;

  if (self->worker == NULL)
    self->worker =
      apr_exact_sums_worker_new (job->kernel, n_columns, job->precision, job->weighted, job->block_rows,
                                 (job->n_rows - 1) / job->block_rows + 1, 0, 1, drain_terms, job, error);
  if (self->worker == NULL)
    return FALSE;

  for (i = 0; i < job->x.n_rows; i += job->block_rows)
    if (g_cancellable_set_error_if_cancelled (job->cancellable, error) ||
        !add_block (job, self->worker, i, MIN (job->block_rows, job->x.n_rows - i), error))
      return FALSE;
  if (job->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&job->error));
      return FALSE;
    }
  has_all = apr_exact_sums_worker_has_all (self->worker, job->state);
  if (!apr_exact_sums_worker_cover (self->worker, job->state, error) ||
      !apr_exact_sums_worker_move_terms (self->worker, job->state, error))
    return FALSE;
  apr_exact_sums_worker_move_rows (self->worker, job->state, has_all, 0, n_columns);
  if (!has_all)
    apr_exact_sums_carry (job->state, 0, n_columns);

  return TRUE;
}

AprExactSums *
apr_group_sums_sum (AprGroupSums *self,
                    const AprRows *x,
                    const AprRows *y,
                    const AprRows *weights,
                    gsize n_behind,
                    GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (self->n_features, self->n_targets, error);

  if (sums == NULL)
    return NULL;

  self->job.state = sums;
  self->job.x = *x;
  self->job.y = *y;
  self->job.n_behind = n_behind;
  if (weights != NULL)
    self->job.weights = *weights;
  if (sum_group (self, error))
    {
      /* The next group has other sizes of values. */
      apr_exact_sums_worker_forget (self->worker);
      return g_steal_pointer (&sums);
    }

  /* What it holds is of no use. */
  g_clear_pointer (&self->worker, apr_exact_sums_worker_free);
  return NULL;
}
