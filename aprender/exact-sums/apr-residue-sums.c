/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-sums-private.h"

#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/exact-sums/apr-residue-plan-private.h"
#include "aprender/exact-sums/apr-residue-team-private.h"

/* Threads take blocks of rows. Where there are many columns, all threads go through a block together, so that its
 * columns are cut once, and there is one set of sums; else each has sums of its own. */

/* Columns from which on threads work together. */
#define COLUMNS_TOGETHER 200

/* Rows of a block of many columns: the three panels on the right stay in the first cache while those on the left are
 * multiplied by them. Kernels that multiply pairs take the longest blocks: they reduce sums beside the products, and
 * the fewer blocks there are, the less often tiles come from far. */
#define ROWS_OF_MANY_COLUMNS 512

G_STATIC_ASSERT (ROWS_OF_MANY_COLUMNS <= APR_RESIDUE_ROWS);

/* Rows of a block that one thread goes through by itself: there are many where their residues take no more than so many
 * bytes. Then the second cache has room for them, and for the block that is fetched meanwhile. */
#define ROWS_ALONE 256
#define MANY_ROWS_ALONE 384
#define MANY_ROWS_BYTES ((gsize) 7 << 16)

/* Rows from which on a thread works by itself. */
#define MIN_ROWS_ALONE 512

typedef struct
{
  AprExactSums *state; /* (unowned) */
  const AprResidueKernel *kernel;
  AprResidueModuli moduli;
  const AprRows *x;
  const AprRows *y;
  AprWholeWeights weights;
  gboolean any_short; /* whether rests may be short */
  gsize block_rows;
  guint n_teams;
  const AprRun *run;
  GThread *caller; /* (unowned) which tells the progress */
  GArray *left;    /* (unowned) under the lock */

  GMutex lock;
  gsize next_row; /* under the lock */
  GError *error;  /* (owned) (nullable) under the lock */
} Job;

/* The next rows; none where there are no more, or it is to stop. */
static AprRange
take_rows (Job *job)
{
  AprRange rows;

  g_mutex_lock (&job->lock);
  if (job->error == NULL)
    (void) g_cancellable_set_error_if_cancelled (job->run->cancellable, &job->error);
  rows.first = job->next_row;
  if (job->error == NULL)
    job->next_row = MIN (job->next_row + job->block_rows, job->x->n_rows);
  rows.end = job->next_row;
  g_mutex_unlock (&job->lock);

  return rows;
}

/* Gives a team its next block, and takes the one after it, which is fetched meanwhile: no rows where there is none, or
 * where there has been an error. */
static void
take_block (Job *job, AprResidueTeam *self)
{
  /* At first none has been taken. */
  AprRange rows = self->next.end > 0 ? self->next : take_rows (job);

  self->first_row = rows.first;
  self->n_rows = self->error == NULL ? rows.end - rows.first : 0;
  self->n_expected = (job->x->n_rows - rows.first) / job->n_teams;
  self->next = take_rows (job);

  if (g_thread_self () == job->caller)
    apr_run_report (job->run, (double) self->first_row / (double) job->x->n_rows);
  self->unsuited = 0;
  memset (self->next_task, 0, sizeof self->next_task);
}

static void
leave_block (Job *job, const AprResidueTeam *self)
{
  AprRange range = { self->first_row, self->first_row + self->n_rows };

  g_mutex_lock (&job->lock);
  g_array_append_val (job->left, range);
  g_mutex_unlock (&job->lock);
}

static void
stop (Job *job, GError *error)
{
  g_mutex_lock (&job->lock);
  if (job->error == NULL)
    job->error = error;
  else
    g_error_free (error);
  g_mutex_unlock (&job->lock);
}

typedef struct
{
  Job *job;
  AprResidueTeam self;
} TeamJob;

/* What each thread of a team does. */
static void
sum_blocks (AprTeam *team, gpointer data, gsize part)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  TeamJob *team_job = data;
  Job *job = team_job->job;
  AprResidueTeam *self = &team_job->self;

  for (;;)
    {
      /* Nobody uses the last block any more, and everybody has seen this one. */
      apr_team_barrier (team);
      if (part == 0)
        take_block (job, self);
      apr_team_barrier (team);
      if (self->n_rows == 0)
        break;

      apr_residue_team_add_block (self, team, part);
      apr_team_barrier (team);
      if (part == 0 && self->unsuited)
        leave_block (job, self);
    }

  apr_residue_team_flush (self, team, part);
  apr_team_barrier (team);
  /* What stopped may no longer be cancelled now. */
  if (part == 0 && self->stopped && self->error == NULL)
    g_set_error_literal (&self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "Operation was cancelled");
  if (part == 0 && self->error != NULL)
    stop (job, g_steal_pointer (&self->error));
}

static void
set_no_memory (GError **error, gsize n_columns)
{
  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
               "No memory for the cross products of %" G_GSIZE_FORMAT " columns", n_columns);
}

/* All rows that come, in sums of a team's own. */
static gboolean
sum_alone (Job *job, AprExactSums *state, GError **error)
{
  TeamJob team_job = { .job = job };
  AprTeam team = { .n_parts = 1 };
  gboolean ready = apr_residue_team_init (&team_job.self, state, job->kernel, &job->moduli, job->x, job->y,
                                          &job->weights, job->any_short, job->block_rows, 1);

  team_job.self.cancellable = job->run->cancellable;
  if (ready)
    sum_blocks (&team, &team_job, 0);
  else
    set_no_memory (error, team_job.self.n_columns);
  apr_residue_team_clear (&team_job.self);

  return ready;
}

static void
run_team (gpointer data, gsize part G_GNUC_UNUSED, gsize n_parts G_GNUC_UNUSED)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AprExactSums) own = apr_exact_sums_new (apr_exact_sums_get_n_features (job->state),
                                                     apr_exact_sums_get_n_targets (job->state), &error);

  if (own != NULL && sum_alone (job, own, &error))
    {
      apr_exact_sums_carry (own, 0, job->x->n_columns + job->y->n_columns + 1);
      g_mutex_lock (&job->lock);
      if (job->error == NULL)
        (void) apr_exact_sums_add (job->state, own, 1, job->run->cancellable, &job->error);
      g_mutex_unlock (&job->lock);
    }
  if (error != NULL)
    stop (job, g_steal_pointer (&error));
}

static void
run_together (Job *job, guint n_threads)
{
  TeamJob team_job = { .job = job };
  GError *error = NULL;

  if (apr_residue_team_init (&team_job.self, job->state, job->kernel, &job->moduli, job->x, job->y,
                             &job->weights, job->any_short, job->block_rows, n_threads))
    {
      team_job.self.cancellable = job->run->cancellable;
      apr_team_run (sum_blocks, &team_job, n_threads, (double) n_threads * APR_PARALLEL_OPERATIONS);
    }
  else
    {
      set_no_memory (&error, team_job.self.n_columns);
      stop (job, error);
    }
  apr_residue_team_clear (&team_job.self);
}

gboolean
apr_residue_sums_update (AprExactSums *state,
                         const AprResidueKernel *kernel,
                         const AprRows *x,
                         const AprRows *y,
                         const AprRows *weights,
                         const AprRun *run,
                         GArray *left,
                         GError **error)
{
  AprRange all = { 0, x->n_rows };
  Job job = {
    .state = state, .kernel = kernel, .x = x, .y = y, .run = run, .caller = g_thread_self (), .left = left
  };
  gsize n_columns = x->n_columns + y->n_columns + 1;
  gboolean wide = x->n_columns >= COLUMNS_TOGETHER;
  guint n_threads = run->n_threads;
  gboolean together = n_threads == 1 || wide || x->n_rows / n_threads < MIN_ROWS_ALONE;
  AprResiduePlan plan = { 0, FALSE };

  job.n_teams = together ? 1 : n_threads;
  job.block_rows = !wide                          ? MANY_ROWS_ALONE
                 : kernel->multiply_pairs != NULL ? APR_RESIDUE_ROWS
                                                  : ROWS_OF_MANY_COLUMNS;
  job.block_rows = MIN (job.block_rows, x->n_rows);
  if (apr_whole_weights_init (&job.weights, weights))
    plan = apr_residue_plan_find (kernel, x, y, job.weights.n_bits);
  if (plan.n_moduli == 0)
    {
      g_array_append_val (left, all);
      return TRUE;
    }

  if (!wide && n_columns * plan.n_moduli * kernel->residue_size > MANY_ROWS_BYTES / MANY_ROWS_ALONE)
    job.block_rows = MIN (x->n_rows, ROWS_ALONE);
  apr_residue_moduli_init (&job.moduli, kernel->residue_size, kernel->long_words, plan.n_moduli);
  job.any_short = plan.any_short;
  apr_residue_moduli_prepare (&job.moduli);
  g_mutex_init (&job.lock);
  if (together)
    run_together (&job, n_threads);
  else
    apr_parallel_run_parts (run_team, &job, n_threads, n_threads);
  g_mutex_clear (&job.lock);

  if (job.error != NULL)
    {
      g_propagate_error (error, job.error);
      return FALSE;
    }
  return TRUE;
}
