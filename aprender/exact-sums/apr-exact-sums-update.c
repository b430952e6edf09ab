/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-parts-private.h"

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-triangle-private.h"
#include "aprender/exact-sums/apr-residue-plan-private.h"
#include "aprender/exact-sums/apr-residue-sums-private.h"
#include "aprender/exact-sums/apr-sums-job-private.h"
#include "aprender/exact-sums/apr-sums-shift-private.h"

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

/* The next row of those that are to be summed. */
typedef struct
{
  guint range;
  gsize row;
} Cursor;

typedef struct
{
  AprSumsJob base;
  const AprRun *run;
  GThread *caller;              /* (unowned) which tells the progress */
  GArray *ranges;               /* (owned) (element-type AprRange) of the rows that are to be summed */
  AprExactSumsWorker **workers; /* (owned) for each thread or share: %NULL where there were no rows for it */
  guint n_workers;
  gboolean worker_has_all; /* there is one, and nothing in the state */
  Cursor next;             /* under the lock of the base */
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

  g_mutex_lock (&job->base.lock);
  if (g_cancellable_is_cancelled (job->base.cancellable))
    job->base.stop = TRUE;
  range = job->base.stop ? NULL : find_range (job, next);
  if (range != NULL)
    {
      *first_row = next->row;
      *n_rows = MIN (job->base.taken_rows, range->end - next->row);
      next->row += *n_rows;
    }
  g_mutex_unlock (&job->base.lock);

  return range != NULL;
}

static gboolean
add_blocks (Job *job, AprExactSumsWorker *worker, GError **error)
{
  Cursor own = { 0, 0 };
  gsize first_row;
  gsize n_rows;
  gsize i;

  while (take_rows (job, job->base.n_shares > 1 ? &own : &job->next, &first_row, &n_rows))
    {
      if (g_thread_self () == job->caller)
        apr_run_report (job->run, (double) first_row / (double) job->base.x.n_rows);
      for (i = 0; i < n_rows; i += job->base.block_rows)
        if (!apr_sums_job_add_block (&job->base, worker, first_row + i,
                                     MIN (job->base.block_rows, n_rows - i), error))
          return FALSE;
    }

  return TRUE;
}

static gboolean
has_rows (Job *job)
{
  gboolean any;

  g_mutex_lock (&job->base.lock);
  any = !job->base.stop && find_range (job, &job->next) != NULL;
  g_mutex_unlock (&job->base.lock);

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

  worker = apr_exact_sums_worker_new (
    job->base.kernel, job->base.n_columns, job->base.precision, job->base.weighted, job->base.block_rows,
    (job->base.n_rows + job->base.block_rows - 1) / job->base.block_rows, (guint) part % job->base.n_shares,
    job->base.n_shares, apr_sums_job_drain_terms, &job->base, &error);
  job->workers[part] = worker;
  if (worker != NULL)
    apr_exact_sums_worker_set_cancellable (worker, job->base.cancellable);
  if (worker == NULL || !add_blocks (job, worker, &error))
    apr_sums_job_stop (&job->base, g_steal_pointer (&error));
}

/* Moves some rows of the matrix, of all workers, after others, and carries them. */
static void
move (gpointer data, gsize part, gsize n_parts)
{
  Job *job = data;
  gsize first_row = apr_triangle_part (job->base.n_columns, part, n_parts);
  gsize end_row = apr_triangle_part (job->base.n_columns, part + 1, n_parts);
  guint i;

  if (g_cancellable_is_cancelled (job->base.cancellable))
    return;

  for (i = 0; i < job->n_workers; i++)
    if (job->workers[i] != NULL)
      apr_exact_sums_worker_move_rows (job->workers[i], job->base.state, job->worker_has_all, first_row,
                                       end_row);
  if (!job->worker_has_all)
    apr_exact_sums_carry (job->base.state, first_row, end_row);
}

/* Moves what the workers have left to the state; fails where that is cancelled, and then the state is of no use. */
static gboolean
move_all (Job *job, guint n_threads, GError **error)
{
  gsize n_entries = apr_exact_sums_get_n_entries (job->base.state);
  guint i;

  job->worker_has_all =
    job->n_workers == 1 && apr_exact_sums_worker_has_all (job->workers[0], job->base.state);
  for (i = 0; i < job->n_workers; i++)
    if (job->workers[i] != NULL &&
        (!apr_exact_sums_worker_cover (job->workers[i], job->base.state, error) ||
         !apr_exact_sums_worker_move_terms (job->workers[i], job->base.state, error)))
      return FALSE;

  apr_parallel_run_parts (move, job, (guint) CLAMP (n_entries / ENTRIES_PER_THREAD, 1, n_threads),
                          MAX (4 * n_threads, n_entries / ENTRIES_PER_PART));

  return !g_cancellable_set_error_if_cancelled (job->base.cancellable, error);
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
sum_residues (Job *job, GError **error)
{
  gsize n_rows = job->base.x.n_rows;
  const AprResidueKernel *residues =
    apr_sums_kernel_get_residues (job->base.kernel, n_rows, job->base.n_columns, job->base.weighted, FALSE);
  AprRange all = { 0, job->base.x.n_rows };
  guint i;

  if (residues != NULL &&
      apr_sums_kernel_get_residues (job->base.kernel, n_rows, job->base.n_columns, job->base.weighted,
                                    TRUE) == NULL &&
      apr_residue_plan_suits_whole (&job->base.x, &job->base.y))
    residues = NULL;

  if (residues != NULL && job->base.precision == APR_PRECISION_EXACT)
    {
      if (!apr_residue_sums_update (job->base.state, residues, &job->base.x, &job->base.y,
                                    job->base.weighted ? &job->base.weights : NULL, job->run, job->ranges,
                                    error))
        return FALSE;
      g_array_sort (job->ranges, compare_ranges);
    }
  else
    g_array_append_val (job->ranges, all);

  for (i = 0; i < job->ranges->len; i++)
    {
      const AprRange *range = &g_array_index (job->ranges, AprRange, i);

      job->base.n_rows += range->end - range->first;
    }
  return TRUE;
}

/* Sums the rows that are left. */
static void
sum_rows (Job *job, guint n_threads)
{
  if (job->base.n_rows == 0)
    return;

  job->n_workers = apr_sums_job_plan (&job->base, n_threads);
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

guint
apr_exact_sums_count_threads (const AprExactSums *self, gsize n_rows, guint n_threads)
{
  double n_columns = (double) self->n_columns;
  double n_products = (double) n_rows * n_columns * n_columns / 2;

  return apr_parallel_count (n_threads, n_products / PRODUCTS_PER_THREAD);
}

gboolean
apr_exact_sums_add_rows (AprExactSums *self,
                         const AprRows *x,
                         const AprRows *y,
                         const AprRows *weights,
                         AprPrecision precision,
                         const AprSumsKernel *kernel,
                         const AprRun *run,
                         GError **error)
{
  Job job = { .base = { .state = self, .precision = precision, .cancellable = run->cancellable },
              .run = run,
              .caller = g_thread_self () };
  g_autofree double *shifts = NULL;
  g_autoptr (AprExactSums) shifted = NULL;
  gboolean summed = FALSE;
  gboolean moved;

  job.base.kernel = kernel != NULL ? kernel : apr_sums_kernel_choose ();
  job.base.n_columns = self->n_columns;
  job.base.weighted = weights != NULL;
  job.base.x = *x;
  job.base.y = *y;
  if (weights != NULL)
    job.base.weights = *weights;

  if (precision == APR_PRECISION_DOUBLE)
    job.base.shifts = shifts =
      apr_sums_shift_find (&job.base.x, &job.base.y, job.base.weighted ? &job.base.weights : NULL);
  if (shifts != NULL && !apr_exact_sums_is_zero (self))
    {
      /* What is there already is not shifted. */
      shifted =
        apr_exact_sums_new (apr_exact_sums_get_n_features (self), apr_exact_sums_get_n_targets (self), error);
      if (shifted == NULL)
        return FALSE;
      job.base.state = shifted;
    }

  g_mutex_init (&job.base.lock);
  job.ranges = g_array_new (FALSE, FALSE, sizeof (AprRange));
  if (sum_residues (&job, error))
    {
      sum_rows (&job, run->n_threads);
      summed = TRUE;
    }
  if (summed && !job.base.stop)
    apr_run_report (run, 1);
  if (g_cancellable_is_cancelled (run->cancellable))
    job.base.stop = TRUE;
  moved = summed && !job.base.stop && move_all (&job, run->n_threads, error) &&
          (shifts == NULL || apr_sums_shift_undo (shifts, job.base.state, run, error)) &&
          (shifted == NULL || apr_exact_sums_add (self, shifted, 1, run->cancellable, error));
  g_mutex_clear (&job.base.lock);
  g_array_unref (job.ranges);
  free_workers (job.workers, job.n_workers);

  if (moved)
    return TRUE;
  if (job.base.error != NULL)
    {
      g_propagate_error (error, job.base.error);
      return FALSE;
    }
  if (!summed || !job.base.stop || g_cancellable_set_error_if_cancelled (run->cancellable, error))
    return FALSE;

  apr_rows_set_error (&job.base.x, &job.base.y, weights, error);
  return FALSE;
}

/* @x and @y are of as many rows. */
static gboolean
update (AprExactSums *self,
        const AprRows *x,
        const AprRows *y,
        AprTensor *sample_weight,
        AprPrecision precision,
        const AprSumsKernel *kernel,
        const AprRun *run,
        GError **error)
{
  /* Weights may be subnormal. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprRows weights;
  AprWeightWindows windows = { NULL, NULL };
  gboolean summed;

  if (g_cancellable_set_error_if_cancelled (run->cancellable, error))
    return FALSE;
  if (sample_weight == NULL)
    return apr_exact_sums_add_rows (self, x, y, NULL, precision, kernel, run, error);

  apr_rows_init (&weights, "sample_weight", sample_weight);
  if (!apr_rows_check_weights (&weights, error) ||
      (precision == APR_PRECISION_EXACT && !apr_weight_windows_init (&windows, &weights, error)))
    return FALSE;
  if (windows.windows == NULL)
    return apr_exact_sums_add_rows (self, x, y, &weights, precision, kernel, run, error);

  summed = apr_exact_sums_update_windows (self, x, y, &weights, &windows, kernel, run, error);
  apr_weight_windows_clear (&windows);

  return summed;
}

gboolean
apr_exact_sums_update_with (AprExactSums *self,
                            AprTensor *x,
                            AprTensor *y,
                            AprTensor *sample_weight,
                            AprPrecision precision,
                            const AprSumsKernel *kernel,
                            const AprRun *run,
                            GError **error)
{
  AprRows x_rows;
  AprRows y_rows;

  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);

  return update (self, &x_rows, &y_rows, sample_weight, precision, kernel, run, error);
}

gboolean
apr_exact_sums_update (AprExactSums *self,
                       AprTensor *x,
                       AprTensor *y,
                       AprTensor *sample_weight,
                       AprPrecision precision,
                       const AprRun *run,
                       GError **error)
{
  AprRun counted = *run;

  counted.n_threads = apr_exact_sums_count_threads (self, apr_tensor_get_shape (x, NULL)[0], run->n_threads);

  return apr_exact_sums_update_with (self, x, y, sample_weight, precision, NULL, &counted, error);
}

gboolean
apr_exact_sums_update_columns (AprExactSums *self,
                               const AprRows *x,
                               const AprRows *y,
                               AprTensor *sample_weight,
                               AprPrecision precision,
                               const AprRun *run,
                               GError **error)
{
  AprRun counted = *run;

  counted.n_threads = apr_exact_sums_count_threads (self, x->n_rows, run->n_threads);

  return update (self, x, y, sample_weight, precision, NULL, &counted, error);
}
