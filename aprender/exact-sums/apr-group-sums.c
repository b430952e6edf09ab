/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-group-sums-private.h"

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/exact-sums/apr-sums-job-private.h"

struct _AprGroupSums
{
  AprSumsJob job;
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
         apr_sums_kernel_get_residues (kernel, max_rows, n_columns, FALSE, FALSE) == NULL;
}

AprGroupSums *
apr_group_sums_new (
  gsize max_rows, gsize n_features, gsize n_targets, gboolean weighted, GCancellable *cancellable)
{
  AprGroupSums *self = g_new0 (AprGroupSums, 1);
  AprSumsJob *job = &self->job;

  self->n_features = n_features;
  self->n_targets = n_targets;
  job->kernel = apr_sums_kernel_choose ();
  job->precision = APR_PRECISION_EXACT;
  job->n_columns = 1 + n_features + n_targets;
  job->weighted = weighted;
  job->cancellable = cancellable;
  job->n_rows = max_rows;
  g_mutex_init (&job->lock);
  (void) apr_sums_job_plan (job, 1);

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
  AprSumsJob *job = &self->job;
  gsize n_columns = job->n_columns;
  gboolean has_all;
  gsize i;

  if (self->worker == NULL)
    self->worker = apr_exact_sums_worker_new (job->kernel, n_columns, job->precision, job->weighted,
                                              job->block_rows, (job->n_rows - 1) / job->block_rows + 1, 0, 1,
                                              apr_sums_job_drain_terms, job, error);
  if (self->worker == NULL)
    return FALSE;

  for (i = 0; i < job->x.n_rows; i += job->block_rows)
    if (g_cancellable_set_error_if_cancelled (job->cancellable, error) ||
        !apr_sums_job_add_block (job, self->worker, i, MIN (job->block_rows, job->x.n_rows - i), error))
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
