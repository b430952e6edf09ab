/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-exact-sums-parts-private.h"

/* Rows whose weights are of very different sizes, one window of weights after the other. Those of the largest window
 * are summed where they are, with all other rows as if their weights were 0; the others are copied, so that there are
 * many side by side whose weights are alike. */

/* Bytes of rows that are copied at once; as many rows as there are columns take no more memory than the sums do. */
#define COPIED_BYTES ((gsize) 1 << 24)

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
} Job;

static void
tell_part (guint64 n_done, guint64 n_rows G_GNUC_UNUSED, gpointer user_data)
{
  Job *job = user_data;

  job->progress (job->n_done + n_done, job->n_all, job->progress_data);
}

static gboolean
set_no_memory (gsize n_rows, GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
               "No memory for a copy of %" G_GSIZE_FORMAT
               " samples whose weights are many powers of two away from the others'",
               n_rows);
  return FALSE;
}

/* The rows of all others count with the weight 0. */
static gboolean
sum_main (Job *job, const AprWeightWindows *windows, GError **error)
{
  g_autoptr (AprTensor) weights = apr_weight_windows_get_main (windows, job->weights);

  if (weights == NULL)
    return set_no_memory (job->weights->n_rows, error);
  if (!apr_exact_sums_update_rows (job->sums, job->x, job->y, weights, APR_PRECISION_EXACT, job->kernel,
                                   job->n_threads, job->cancellable, error))
    return FALSE;

  job->n_done += job->x->n_rows;
  return TRUE;
}

static gboolean
sum_copies (Job *job, const gsize *rows, gsize n_rows, GError **error)
{
  g_autoptr (AprTensor) x = apr_rows_gather (job->x, rows, n_rows);
  g_autoptr (AprTensor) y = apr_rows_gather (job->y, rows, n_rows);
  g_autoptr (AprTensor) weights = apr_rows_gather (job->weights, rows, n_rows);

  if (x == NULL || y == NULL || weights == NULL)
    return set_no_memory (n_rows, error);
  /* An error of the copies would say which row of them it is. */
  if (!apr_exact_sums_check_rows (x, y, NULL, NULL))
    return apr_rows_check_finite (job->x, error) && apr_rows_check_finite (job->y, error);
  if (!(apr_exact_sums_are_few_rows (n_rows)
          ? apr_exact_sums_add_few_rows (job->sums, x, y, weights, job->n_threads, job->cancellable, error)
          : apr_exact_sums_update_with (job->sums, x, y, weights, APR_PRECISION_EXACT, job->kernel,
                                        job->n_threads, job->cancellable, error)))
    return FALSE;

  /* An update has told it, but few rows do not. */
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
              .n_all = windows->n_main > 0 ? x->n_rows : 0 };
  gboolean summed;
  guint i;

  for (i = 0; i < windows->windows->len; i++)
    {
      const AprRange *window = &g_array_index (windows->windows, AprRange, i);

      job.n_all += window->end - window->first;
    }
  if (job.progress != NULL)
    apr_exact_sums_set_progress (self, tell_part, &job);

  summed = windows->n_main == 0 || sum_main (&job, windows, error);
  for (i = 0; i < windows->windows->len && summed; i++)
    {
      const AprRange *window = &g_array_index (windows->windows, AprRange, i);

      summed = sum_window (&job, windows->rows + window->first, window->end - window->first, error);
    }
  apr_exact_sums_set_progress (self, job.progress, job.progress_data);

  return summed;
}
