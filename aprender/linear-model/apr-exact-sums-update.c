/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-exact-sums-private.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "aprender/linear-model/apr-gram-worker-private.h"

/* Rows are cut into blocks that threads take one after the other. Each sums its blocks by itself, and adds whole numbers to
 * the state under a lock; as a sum of whole numbers has no order, it does not matter who took which. */

/* Multiplications that are worth a thread of their own. */
#define PRODUCTS_PER_THREAD 2000000

/* Weights below this part of a block's greatest are summed row by row: their products would be too small for a double. */
#define LEAST_WEIGHT 0x1p-400

/* Terms that may wait for the lock. */
#define MAX_TERMS 4096

/* The elements of a tensor, whichever of the two float types they have. */
typedef struct
{
  const char *name;
  const float *floats;
  const double *doubles;
  gsize n_columns;
  gboolean is_matrix;
} Rows;

static void
rows_init (Rows *rows, const char *name, AprTensor *tensor)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);

  rows->name = name;
  rows->floats = NULL;
  rows->doubles = NULL;
  rows->n_columns = n_dims == 2 ? shape[1] : 1;
  rows->is_matrix = n_dims == 2;

  if (apr_tensor_get_dtype (tensor) == APR_DTYPE_F32)
    rows->floats = apr_tensor_get_floats (tensor, NULL, NULL);
  else
    rows->doubles = apr_tensor_get_doubles (tensor, NULL, NULL);
}

static double
rows_get (const Rows *rows, gsize row, gsize column)
{
  gsize i = row * rows->n_columns + column;

  return rows->floats != NULL ? (double) rows->floats[i] : rows->doubles[i];
}

/* Sets the error for the first NaN or infinity, if there is one. */
static gboolean
check_finite (const Rows *rows, gsize n_rows, GError **error)
{
  g_autofree char *text = NULL;
  gsize row;
  gsize column;

  for (row = 0; row < n_rows; row++)
    for (column = 0; column < rows->n_columns; column++)
      {
        double value = rows_get (rows, row, column);

        if (G_LIKELY (isfinite (value)))
          continue;

        text = rows->is_matrix ? g_strdup_printf (", column %" G_GSIZE_FORMAT, column) : g_strdup ("");
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "%s has %s at row %" G_GSIZE_FORMAT "%s (counted from 0)", rows->name,
                     isnan (value) ? "a NaN" : "an infinity", row, text);
        return FALSE;
      }

  return TRUE;
}

/* Columns of @n_rows rows from @first_row on: eight rows at a time, so that the columns are written line by line and the rows
 * are still read in their order. */
#define TRANSPOSE(values)                                                               \
 for (row = 0; row + 8 <= n_rows; row += 8)                                             \
  for (column = 0; column < n; column++)                                                \
   for (i = 0; i < 8; i++)                                                              \
    to[column * APR_GRAM_STRIDE + row + i] = (double) (values)[(row + i) * n + column]; \
 for (; row < n_rows; row++)                                                            \
  for (column = 0; column < n; column++)                                                \
   to[column * APR_GRAM_STRIDE + row] = (double) (values)[row * n + column];

static void
transpose (const Rows *rows, gsize first_row, gsize n_rows, double *to)
{
  gsize n = rows->n_columns;
  gsize row;
  gsize column;
  gsize i;

  if (rows->floats != NULL)
    {
      const float *values = rows->floats + first_row * n;

      TRANSPOSE (values)
    }
  else
    {
      const double *values = rows->doubles + first_row * n;

      TRANSPOSE (values)
    }
}

typedef struct
{
  AprExactSums *state; /* (unowned) under the lock */
  const AprGramKernel *kernel;
  Rows x;
  Rows y;
  Rows weights; /* without values where there are none */
  gsize n_rows;
  gsize block_rows;
  GCancellable *cancellable; /* (unowned) (nullable) */

  GMutex lock;
  gsize next_row; /* under the lock */
  gboolean stop;  /* under the lock: something is wrong, or it is cancelled */
  GError *error;  /* (owned) (nullable) under the lock */
} Job;

static gboolean
has_weights (const Job *job)
{
  return job->weights.floats != NULL || job->weights.doubles != NULL;
}

/* Sums the rows of a block whose weight is too small beside the greatest one, and takes them out of it. */
static gboolean
add_rows_of_small_weight (Job *job, double *weights, gsize first_row, gsize n_rows, GError **error)
{
  gsize n = job->x.n_columns + job->y.n_columns;
  g_autofree double *z = NULL;
  double greatest = 0;
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row++)
    greatest = MAX (greatest, weights[row]);

  for (row = 0; row < n_rows; row++)
    {
      gboolean added;

      if (weights[row] == 0 || weights[row] >= greatest * LEAST_WEIGHT)
        continue;

      if (z == NULL)
        z = g_new (double, n);
      for (i = 0; i < n; i++)
        {
          z[i] = i < job->x.n_columns ? rows_get (&job->x, first_row + row, i)
                                      : rows_get (&job->y, first_row + row, i - job->x.n_columns);
          if (!isfinite (z[i]))
            return TRUE; /* found, and told, by all */
        }
      g_mutex_lock (&job->lock);
      added = apr_exact_sums_add_row (job->state, z, weights[row], error);
      g_mutex_unlock (&job->lock);
      if (!added)
        return FALSE;
      weights[row] = 0;
    }

  return TRUE;
}

static gboolean
take_terms (Job *job, AprGramWorker *worker, GError **error)
{
  GArray *terms = apr_gram_worker_get_terms (worker);
  gboolean added = TRUE;
  guint i;

  g_mutex_lock (&job->lock);
  for (i = 0; i < terms->len && added; i++)
    {
      AprGramTerm *term = &g_array_index (terms, AprGramTerm, i);

      added = apr_exact_sums_add_term (job->state, term->entry, term->value, term->exponent, error);
    }
  g_mutex_unlock (&job->lock);
  g_array_set_size (terms, 0);

  return added;
}

/* The next rows that nobody has taken; false where there are none, or it is to stop. */
static gboolean
take_rows (Job *job, gsize *first_row, gsize *n_rows)
{
  gboolean taken;

  g_mutex_lock (&job->lock);
  if (g_cancellable_is_cancelled (job->cancellable))
    job->stop = TRUE;
  taken = !job->stop && job->next_row < job->n_rows;
  if (taken)
    {
      *first_row = job->next_row;
      *n_rows = MIN (job->block_rows, job->n_rows - job->next_row);
      job->next_row += *n_rows;
    }
  g_mutex_unlock (&job->lock);

  return taken;
}

static gboolean
add_block (Job *job, AprGramWorker *worker, gsize first_row, gsize n_rows, GError **error)
{
  double *ones = apr_gram_worker_get_column (worker, 0);
  gsize row;

  for (row = 0; row < n_rows; row++)
    ones[row] = 1.0;
  transpose (&job->x, first_row, n_rows, apr_gram_worker_get_column (worker, 1));
  transpose (&job->y, first_row, n_rows, apr_gram_worker_get_column (worker, 1 + job->x.n_columns));
  if (has_weights (job))
    {
      double *weights = apr_gram_worker_get_weights (worker);

      transpose (&job->weights, first_row, n_rows, weights);
      if (!add_rows_of_small_weight (job, weights, first_row, n_rows, error))
        return FALSE;
    }

  return apr_gram_worker_add_block (worker, n_rows);
}

static gpointer
work (gpointer data)
{
  Job *job = data;
  g_autoptr (AprGramWorker) worker = NULL;
  g_autoptr (GError) error = NULL;
  gboolean good = TRUE;
  fenv_t environment;
  gsize first_row;
  gsize n_rows;

  /* To nearest, and no number that is flushed to zero, whatever the program around does. */
  fegetenv (&environment);
  fesetenv (FE_DFL_ENV);

  worker = apr_gram_worker_new (job->kernel, 1 + job->x.n_columns + job->y.n_columns,
                                job->x.floats != NULL && job->y.floats != NULL, has_weights (job));
  while (good && take_rows (job, &first_row, &n_rows))
    good = add_block (job, worker, first_row, n_rows, &error) &&
           (apr_gram_worker_get_terms (worker)->len < MAX_TERMS || take_terms (job, worker, &error));

  if (good)
    {
      apr_gram_worker_finish (worker);
      good = take_terms (job, worker, &error);
    }
  if (!good)
    {
      g_mutex_lock (&job->lock);
      job->stop = TRUE;
      if (job->error == NULL)
        job->error = g_steal_pointer (&error);
      g_mutex_unlock (&job->lock);
    }

  fesetenv (&environment);
  return NULL;
}

/* Threads that cost less than they bring. They live as long as the call: nothing is left for a forked child to miss. */
static guint
count_threads (const Job *job, guint n_threads)
{
  double n_columns = (double) (1 + job->x.n_columns + job->y.n_columns);
  double n_products = (double) job->n_rows * n_columns * n_columns / 2;
  gsize n_blocks = (job->n_rows + job->block_rows - 1) / job->block_rows;

  if (n_threads == 0)
    n_threads = (guint) CLAMP (n_products / PRODUCTS_PER_THREAD, 1, (double) g_get_num_processors ());

  return (guint) MIN (n_threads, MAX (n_blocks, 1));
}

static void
run (Job *job, guint n_threads)
{
  g_autofree GThread **threads = g_new0 (GThread *, n_threads);
  guint i;

  /* The caller's thread works too, and alone where no other can be had. */
  for (i = 1; i < n_threads; i++)
    threads[i] = g_thread_try_new ("aprender", work, job, NULL);
  work (job);
  for (i = 1; i < n_threads; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
}

/* None below 0. */
static gboolean
check_weights (const Rows *weights, gsize n_rows, GError **error)
{
  gsize row;

  for (row = 0; row < n_rows; row++)
    if (rows_get (weights, row, 0) < 0)
      {
        g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                     "sample_weight has the negative value %g at row %" G_GSIZE_FORMAT " (counted from 0)",
                     rows_get (weights, row, 0), row);
        return FALSE;
      }

  return TRUE;
}

gboolean
apr_exact_sums_update_with (AprExactSums *self,
                            AprTensor *x,
                            AprTensor *y,
                            AprTensor *sample_weight,
                            const AprGramKernel *kernel,
                            guint n_threads,
                            GCancellable *cancellable,
                            GError **error)
{
  Job job = { .state = self, .cancellable = cancellable };

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  job.kernel = kernel != NULL ? kernel : apr_gram_kernels ()[0];
  job.block_rows = job.kernel->n_rows;
  job.n_rows = apr_tensor_get_shape (x, NULL)[0];
  rows_init (&job.x, "X", x);
  rows_init (&job.y, "y", y);
  if (sample_weight != NULL)
    {
      rows_init (&job.weights, "sample_weight", sample_weight);
      if (!check_finite (&job.weights, job.n_rows, error) || !check_weights (&job.weights, job.n_rows, error))
        return FALSE;
    }

  g_mutex_init (&job.lock);
  run (&job, count_threads (&job, n_threads));
  g_mutex_clear (&job.lock);

  if (job.error != NULL)
    {
      g_propagate_error (error, job.error);
      return FALSE;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  return !job.stop || (check_finite (&job.x, job.n_rows, error) && check_finite (&job.y, job.n_rows, error));
}

gboolean
apr_exact_sums_update (AprExactSums *self,
                       AprTensor *x,
                       AprTensor *y,
                       AprTensor *sample_weight,
                       GCancellable *cancellable,
                       GError **error)
{
  return apr_exact_sums_update_with (self, x, y, sample_weight, NULL, 0, cancellable, error);
}
