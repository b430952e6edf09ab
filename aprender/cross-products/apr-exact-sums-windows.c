/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-exact-sums-parts-private.h"

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
  guint n_threads;
  GCancellable *cancellable; /* (unowned) (nullable) */

  /* What is told of the progress, of all rows and, once more, those that are copied. */
  AprExactSumsProgress progress; /* (nullable) */
  gpointer progress_data;        /* (unowned) */
  guint64 n_done;                /* rows before those that are being summed */
  guint64 n_all;
  guint64 n_told;
} Job;

static void
tell_part (guint64 n_done, guint64 n_rows G_GNUC_UNUSED, gpointer user_data)
{
  Job *job = user_data;

  n_done += job->n_done;
  if (n_done <= job->n_told ||
      (n_done < job->n_all && n_done <= job->n_told + job->n_all / APR_EXACT_SUMS_MAX_TOLD))
    return;

  job->n_told = n_done;
  job->progress (n_done, job->n_all, job->progress_data);
}

/* Before some more rows are summed, after others have been. */
static void
begin (Job *job)
{
  if (job->progress != NULL)
    apr_exact_sums_set_progress (job->sums, tell_part, job);
}

/* The rows of all others count with the weight 0. */
static gboolean
sum_main (Job *job, const AprWeightWindows *windows, GError **error)
{
  g_autoptr (AprTensor) weights = apr_weight_windows_get_main (windows, job->weights, error);
  AprRows rows;

  if (weights == NULL)
    return FALSE;

  begin (job);
  apr_rows_init (&rows, job->weights->name, weights);
  if (!apr_exact_sums_add_rows (job->sums, job->x, job->y, &rows, APR_PRECISION_EXACT, job->kernel,
                                job->n_threads, job->cancellable, error))
    return FALSE;

  job->n_done += job->x->n_rows;
  return TRUE;
}

/* All values have been found finite by now. */
static gboolean
sum_copies (Job *job, const gsize *rows, gsize n_rows, GError **error)
{
  g_autoptr (AprTensor) x = apr_rows_gather (job->x, rows, n_rows, job->cancellable, error);
  g_autoptr (AprTensor) y =
    x != NULL ? apr_rows_gather (job->y, rows, n_rows, job->cancellable, error) : NULL;
  g_autoptr (AprTensor) weights =
    y != NULL ? apr_rows_gather (job->weights, rows, n_rows, job->cancellable, error) : NULL;
  AprRows parts[3];
  gboolean summed;

  if (weights == NULL)
    return FALSE;

  begin (job);
  apr_rows_init (&parts[0], job->x->name, x);
  apr_rows_init (&parts[1], job->y->name, y);
  apr_rows_init (&parts[2], job->weights->name, weights);
  apr_exact_sums_set_cancellable (job->sums, job->cancellable);
  summed = apr_exact_sums_are_few_rows (n_rows)
           ? apr_exact_sums_add_few_rows (job->sums, x, y, weights, job->n_threads, job->cancellable, error)
           : apr_exact_sums_add_rows (
               job->sums, &parts[0], &parts[1], &parts[2], APR_PRECISION_EXACT, job->kernel,
               apr_exact_sums_count_threads (job->sums, n_rows, job->n_threads), job->cancellable, error);
  apr_exact_sums_set_cancellable (job->sums, NULL);
  if (!summed)
    return FALSE;

  /* Few rows do not tell it. */
  apr_exact_sums_tell_progress (job->sums, n_rows, n_rows);
  job->n_done += n_rows;
  return TRUE;
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
                               guint n_threads,
                               GCancellable *cancellable,
                               GError **error)
{
  Job job = { .sums = self,
              .x = x,
              .y = y,
              .weights = weights,
              .kernel = kernel,
              .n_threads = n_threads,
              .cancellable = cancellable,
              .progress = self->progress,
              .progress_data = self->progress_data,
              .n_all = x->n_rows };
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
  apr_exact_sums_set_progress (self, job.progress, job.progress_data);

  return summed;
}
