/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-parts-private.h"

/* Rows whose weights are of very different sizes, one window of weights after the other. Those of the largest window
 * are summed where they are, with all other rows as if their weights were 0; the others are copied, so that there are
 * many side by side whose weights are alike. */

/* Bytes of rows that are copied at once; as many rows as there are columns take no more memory than the sums do. */
#define COPIED_BYTES ((gsize) 1 << 20)

typedef struct
{
  AprExactSums *sums; /* (unowned) */
  const AprRows *x;
  const AprRows *y;
  const AprRows *weights;
  const AprSumsKernel *kernel; /* (nullable) */
  const AprRun *run;
  gsize n_done; /* rows */
  gsize n_all;  /* rows that are to be summed: all, and once more those that are copied */
} Job;

/* How the next rows are summed: their part of the whole. */
static AprRun
begin (Job *job, gsize n_rows)
{
  double done = (double) job->n_done / (double) job->n_all;

  job->n_done += n_rows;

  return apr_run_get_part (job->run, done, (double) job->n_done / (double) job->n_all);
}

/* The rows of all others count with the weight 0. */
static gboolean
sum_main (Job *job, const AprWeightWindows *windows, GError **error)
{
  g_autoptr (AprTensor) weights = apr_weight_windows_get_main (windows, job->weights, error);
  AprRun run = begin (job, job->x->n_rows);
  AprRows rows;

  if (weights == NULL)
    return FALSE;

  apr_rows_init (&rows, job->weights->name, weights);

  return apr_exact_sums_add_rows (job->sums, job->x, job->y, &rows, APR_PRECISION_EXACT, job->kernel, &run,
                                  error);
}

/* All values have been found finite by now. */
static gboolean
sum_copies (Job *job, const gsize *rows, gsize n_rows, GError **error)
{
  GCancellable *cancellable = job->run->cancellable;
  g_autoptr (AprTensor) x = apr_rows_gather (job->x, rows, n_rows, cancellable, error);
  g_autoptr (AprTensor) y = x != NULL ? apr_rows_gather (job->y, rows, n_rows, cancellable, error) : NULL;
  g_autoptr (AprTensor) weights =
    y != NULL ? apr_rows_gather (job->weights, rows, n_rows, cancellable, error) : NULL;
  AprRun run = begin (job, n_rows);
  AprRows parts[3];
  gboolean summed;

  if (weights == NULL)
    return FALSE;

  if (apr_exact_sums_are_few_rows (n_rows))
    {
      summed = apr_exact_sums_add_few_rows (job->sums, x, y, weights, &run, error);
      /* Few rows do not tell it. */
      if (summed)
        apr_run_report (&run, 1);
      return summed;
    }

  apr_rows_init (&parts[0], job->x->name, x);
  apr_rows_init (&parts[1], job->y->name, y);
  apr_rows_init (&parts[2], job->weights->name, weights);
  run.n_threads = apr_exact_sums_count_threads (job->sums, n_rows, run.n_threads);

  return apr_exact_sums_add_rows (job->sums, &parts[0], &parts[1], &parts[2], APR_PRECISION_EXACT,
                                  job->kernel, &run, error);
}

static gboolean
sum_window (Job *job, const gsize *rows, gsize n_rows, GError **error)
{
  gsize n_columns = job->x->n_columns + job->y->n_columns;
  gsize n_copied = MAX (COPIED_BYTES / (n_columns * sizeof (double)), n_columns);
  gsize i;

  for (i = 0; i < n_rows; i += n_copied)
    if (!sum_copies (job, rows + i, MIN (n_copied, n_rows - i), error))
      return FALSE;

  return TRUE;
}

gboolean
apr_exact_sums_update_windows (AprExactSums *self,
                               const AprRows *x,
                               const AprRows *y,
                               const AprRows *weights,
                               const AprWeightWindows *windows,
                               const AprSumsKernel *kernel,
                               const AprRun *run,
                               GError **error)
{
  Job job = {
    .sums = self, .x = x, .y = y, .weights = weights, .kernel = kernel, .run = run, .n_all = x->n_rows
  };
  gboolean summed;
  guint i;

  for (i = 0; i < windows->windows->len; i++)
    {
      const AprRange *window = &g_array_index (windows->windows, AprRange, i);

      job.n_all += window->end - window->first;
    }

  summed = sum_main (&job, windows, error);
  for (i = 0; i < windows->windows->len && summed; i++)
    {
      const AprRange *window = &g_array_index (windows->windows, AprRange, i);

      summed = sum_window (&job, windows->rows + window->first, window->end - window->first, error);
    }

  return summed;
}
