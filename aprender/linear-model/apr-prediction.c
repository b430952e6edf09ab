/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-prediction-private.h"

#include <fenv.h>

#include "aprender/linear-model/apr-parallel-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* What a thread takes at a time, and what makes it worth starting, in elements of X. */
#define ELEMENTS_PER_TURN (1 << 15)
#define ELEMENTS_PER_THREAD (1 << 17)

/* What a kernel is given at a time, so that what it leaves is still in the nearest cache. */
#define ELEMENTS_PER_CALL (1 << 11)

const AprPredictionKernel *const *
apr_prediction_kernels (void)
{
  static const AprPredictionKernel *kernels[4];
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      gsize n = 0;

#ifdef APR_GRAM_X86
      __builtin_cpu_init ();
      if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq"))
        kernels[n++] = &apr_prediction_avx512;
      if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
        kernels[n++] = &apr_prediction_avx2;
#endif
      kernels[n++] = &apr_prediction_portable;
      g_once_init_leave (&initialized, 1);
    }

  return kernels;
}

typedef struct
{
  const AprPrediction *self;
  const AprPredictionKernel *kernel;

  AprDType x_dtype;
  const float *floats; /* those of X, one of the three */
  const double *doubles;
  const guint8 *bytes;
  gsize n_rows;
  gsize rows_per_call;
  gsize rows_per_turn;

  AprDType dtype;
  gpointer predictions;

  GMutex lock;
  gsize next_row;  /* under the lock */
  gboolean finite; /* under the lock */
} Job;

/* What a thread needs to itself: the rows as doubles where X has neither floats nor doubles, and the sums where they are to
 * be rounded to floats. */
typedef struct
{
  double *rows; /* (owned) (nullable) */
  double *sums; /* (owned) (nullable) */
} Scratch;

static gboolean
predict_rows (Job *job, Scratch *scratch, gsize first_row, gsize n_rows)
{
  gsize n = job->self->n_features;
  gsize n_predictions = n_rows * job->self->n_targets;
  gsize first = first_row * job->self->n_targets;
  guint8 *predictions = (guint8 *) job->predictions + first * apr_dtype_get_bits (job->dtype) / 8;
  double *sums = job->dtype == APR_DTYPE_F64 ? (double *) (gpointer) predictions : scratch->sums;
  gsize i;

  if (job->floats != NULL)
    job->kernel->predict_floats (job->self, job->floats + first_row * n, n_rows, sums);
  else if (job->doubles != NULL)
    job->kernel->predict_doubles (job->self, job->doubles + first_row * n, n_rows, sums);
  else
    {
      for (i = 0; i < n_rows * n; i++)
        scratch->rows[i] = apr_dtype_read_double (job->x_dtype, job->bytes, first_row * n + i);
      job->kernel->predict_doubles (job->self, scratch->rows, n_rows, sums);
    }

  if (job->dtype == APR_DTYPE_F32)
    job->kernel->round_to_floats (sums, n_predictions, (float *) (gpointer) predictions);

  return apr_dtype_find_not_finite (job->dtype, predictions, n_predictions) == n_predictions;
}

static gboolean
take_rows (Job *job, gsize *first_row, gsize *n_rows)
{
  g_mutex_lock (&job->lock);
  *first_row = job->next_row;
  *n_rows = MIN (job->rows_per_turn, job->n_rows - job->next_row);
  job->next_row += *n_rows;
  g_mutex_unlock (&job->lock);

  return *n_rows > 0;
}

/* A thread starts with the floating-point environment of the one that made it. */
static gpointer
work (gpointer data)
{
  Job *job = data;
  Scratch scratch = { NULL, NULL };
  gboolean finite = TRUE;
  gsize first_row;
  gsize n_rows;
  gsize i;

  if (job->bytes != NULL)
    scratch.rows = g_new (double, job->rows_per_call * job->self->n_features);
  if (job->dtype != APR_DTYPE_F64)
    scratch.sums = g_new (double, job->rows_per_call * job->self->n_targets);

  while (take_rows (job, &first_row, &n_rows))
    for (i = 0; i < n_rows; i += job->rows_per_call)
      finite = predict_rows (job, &scratch, first_row + i, MIN (job->rows_per_call, n_rows - i)) && finite;

  if (!finite)
    {
      g_mutex_lock (&job->lock);
      job->finite = FALSE;
      g_mutex_unlock (&job->lock);
    }

  g_free (scratch.rows);
  g_free (scratch.sums);
  return NULL;
}

/* The caller's thread works too, and alone where no other can be had. They live as long as the call: nothing is left for a forked
 * child to miss. */
static void
run (Job *job, guint n_threads)
{
  g_autofree GThread **threads = g_new0 (GThread *, n_threads);
  guint i;

  for (i = 1; i < n_threads; i++)
    threads[i] = g_thread_try_new ("aprender", work, job, NULL);
  work (job);
  for (i = 1; i < n_threads; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
}

/* A multiple of 8, as many rows as vectors take. */
static gsize
count_rows (gsize n_elements, gsize n_columns)
{
  return MAX (n_elements / n_columns / 8, 1) * 8;
}

/* The elements of an F32 or F64 tensor as doubles: its own, or those of @copy. */
static const double *
get_doubles (AprTensor *tensor, double **copy)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  const float *floats;
  gsize i;

  if (apr_tensor_get_dtype (tensor) == APR_DTYPE_F64)
    return apr_tensor_get_doubles (tensor, NULL, NULL);

  floats = apr_tensor_get_floats (tensor, NULL, NULL);
  *copy = g_new (double, n_elements);
  for (i = 0; i < n_elements; i++)
    (*copy)[i] = (double) floats[i];

  return *copy;
}

gboolean
apr_prediction_run (AprTensor *coefficients,
                    AprTensor *intercept,
                    AprTensor *x,
                    const AprPredictionKernel *kernel,
                    guint n_threads,
                    gpointer predictions)
{
  g_autofree double *copy_of_coefficients = NULL;
  g_autofree double *copy_of_intercept = NULL;
  AprPrediction self = { 0 };
  Job job = { .self = &self, .predictions = predictions, .finite = TRUE };
  gsize n_columns;
  double n_worth;
  fenv_t environment;

  job.n_rows = apr_tensor_get_shape (x, NULL)[0];
  if (job.n_rows == 0)
    return TRUE;

  /* To nearest, and no number that is flushed to zero, whatever the program around does. */
  fegetenv (&environment);
  fesetenv (FE_DFL_ENV);

  self.n_features = apr_tensor_get_shape (x, NULL)[1];
  self.n_targets = apr_tensor_get_n_elements (intercept);
  self.coefficients = get_doubles (coefficients, &copy_of_coefficients);
  self.intercept = get_doubles (intercept, &copy_of_intercept);

  job.kernel = kernel != NULL ? kernel : apr_prediction_kernels ()[0];
  job.dtype = apr_tensor_get_dtype (coefficients);
  n_columns = MAX (MAX (self.n_features, self.n_targets), 1);
  job.rows_per_call = count_rows (ELEMENTS_PER_CALL, n_columns);
  job.rows_per_turn = MAX (count_rows (ELEMENTS_PER_TURN, n_columns), job.rows_per_call);
  job.x_dtype = apr_tensor_get_dtype (x);
  if (job.x_dtype == APR_DTYPE_F32)
    job.floats = apr_tensor_get_floats (x, NULL, NULL);
  else if (job.x_dtype == APR_DTYPE_F64)
    job.doubles = apr_tensor_get_doubles (x, NULL, NULL);
  else
    job.bytes = g_bytes_get_data (apr_tensor_get_bytes (x), NULL);

  n_worth = (double) apr_tensor_get_n_elements (x) / ELEMENTS_PER_THREAD;
  g_mutex_init (&job.lock);
  run (&job, apr_parallel_count (n_threads, n_worth));
  g_mutex_clear (&job.lock);

  fesetenv (&environment);
  return job.finite;
}
