/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-prediction-private.h"

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The least that a thread takes at a time, and what makes it worth starting, in elements of X. */
#define ELEMENTS_PER_TURN (1 << 15)
#define ELEMENTS_PER_THREAD (1 << 17)

/* Between two looks at whether the work is cancelled: about a millisecond. */
#define ELEMENTS_PER_LOOK (1 << 20)

/* What is converted to doubles at a time, so that it is still in the nearest cache when it is used. */
#define ELEMENTS_PER_CALL (1 << 11)

/* A multiple of the most rows that a kernel takes at a time. */
#define ROWS_AT_A_TIME 16

static gsize
count_rows (gsize n_elements, gsize n_columns)
{
  return MAX (n_elements / n_columns / ROWS_AT_A_TIME, 1) * ROWS_AT_A_TIME;
}

/* The elements of an F32 or F64 tensor as doubles: its own, or those of @copy. NULL where there is no memory. */
static const double *
get_doubles (AprTensor *tensor, const AprRun *run, double **copy)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  AprDType dtype = apr_tensor_get_dtype (tensor);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  const double *doubles = dtype == APR_DTYPE_F64 ? apr_tensor_get_doubles (tensor, NULL, NULL) : NULL;
  const float *floats = dtype == APR_DTYPE_F32 ? apr_tensor_get_floats (tensor, NULL, NULL) : NULL;
  gsize i;

  if (doubles != NULL)
    return doubles;

  *copy = apr_run_new_doubles (run, n_elements, 1);
  for (i = 0; i < n_elements && *copy != NULL; i++)
    (*copy)[i] = floats != NULL ? (double) floats[i] : apr_dtype_read_double (dtype, data, i);

  return *copy;
}

void
apr_prediction_rows_init (AprPredictionRows *self,
                          AprTensor *coefficients,
                          AprTensor *intercept,
                          AprTensor *x,
                          const AprPredictionKernel *kernel,
                          const AprRun *run)
{
  *self = (AprPredictionRows){ .kernel = kernel != NULL ? kernel : apr_prediction_kernel_choose (),
                               .x_dtype = apr_tensor_get_dtype (x) };
  self->model = (AprPrediction){ .n_features = apr_tensor_get_shape (x, NULL)[1],
                                 .n_targets = apr_tensor_get_n_elements (intercept),
                                 .coefficients = get_doubles (coefficients, run, &self->copies[0]),
                                 .intercept = get_doubles (intercept, run, &self->copies[1]),
                                 .narrow = apr_tensor_get_dtype (coefficients) == APR_DTYPE_F32 };
  if (self->x_dtype == APR_DTYPE_F32)
    self->floats = apr_tensor_get_floats (x, NULL, NULL);
  else if (self->x_dtype == APR_DTYPE_F64)
    self->doubles = apr_tensor_get_doubles (x, NULL, NULL);
  self->bytes = g_bytes_get_data (apr_tensor_get_bytes (x), NULL);
}

void
apr_prediction_rows_clear (AprPredictionRows *self)
{
  g_free (self->copies[0]);
  g_free (self->copies[1]);
}

/* Rows that kernels do not read where they are, as doubles. */
static gboolean
predict_bytes (const AprPredictionRows *self,
               const AprPrediction *model,
               gsize first_row,
               gsize n_rows,
               guint8 *predictions)
{
  gsize n_columns = model->n_features;
  gsize rows_per_call = count_rows (ELEMENTS_PER_CALL, n_columns);
  gsize row_size = model->n_targets * (model->narrow ? sizeof (float) : sizeof (double));
  g_autofree double *rows = g_new (double, rows_per_call *n_columns);
  gboolean finite = TRUE;
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += rows_per_call)
    {
      gsize n = MIN (rows_per_call, n_rows - row);

      for (i = 0; i < n * n_columns; i++)
        rows[i] = apr_dtype_read_double (self->x_dtype, self->bytes, (first_row + row) * n_columns + i);
      if (!self->kernel->predict_doubles (model, rows, n, predictions + row * row_size))
        finite = FALSE;
    }

  return finite;
}

static gboolean
predict_rows (const AprPredictionRows *self,
              const AprPrediction *model,
              gsize first_row,
              gsize n_rows,
              gpointer predictions)
{
  gsize first = first_row * model->n_features;

  if (self->floats != NULL)
    return self->kernel->predict_floats (model, self->floats + first, n_rows, predictions);
  if (self->doubles != NULL)
    return self->kernel->predict_doubles (model, self->doubles + first, n_rows, predictions);

  return predict_bytes (self, model, first_row, n_rows, predictions);
}

void
apr_prediction_rows_predict_doubles (
  const AprPredictionRows *self, gsize first_row, gsize n_rows, const double *products, double *predictions)
{
  AprPrediction wide = self->model;
  gsize i;

  wide.narrow = FALSE;
  wide.fetched = TRUE;
  for (i = 0; i < n_rows && products != NULL; i++)
    predictions[i] = products[i] + wide.intercept[0];
  if (products == NULL)
    predict_rows (self, &wide, first_row, n_rows, predictions);
  for (i = 0; i < n_rows * wide.n_targets && self->model.narrow; i++)
    predictions[i] = (double) (float) predictions[i];
}

/* All rows, which threads share out. */
typedef struct
{
  const AprPredictionRows *rows;
  const AprRun *run;
  gsize n_rows;
  guint8 *predictions;
  gsize row_size; /* of the predictions for a row, in bytes */

  guint n_threads;
  gsize least_rows;    /* that a thread takes at a time */
  gsize rows_per_look; /* between two looks at whether the work is cancelled */

  GMutex lock;
  gsize next_row;  /* under the lock */
  gboolean finite; /* under the lock */
} Job;

/* Part of what is left, less each time: memory is best read in long stretches, and in the end no thread waits long for
 * another. */
static gboolean
take_rows (Job *job, gsize *first_row, gsize *n_rows)
{
  gsize n_left;

  g_mutex_lock (&job->lock);
  n_left = job->n_rows - job->next_row;
  *first_row = job->next_row;
  *n_rows = n_left / (2 * job->n_threads) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
  *n_rows = MIN (MAX (*n_rows, job->least_rows), n_left);
  job->next_row += *n_rows;
  g_mutex_unlock (&job->lock);

  return *n_rows > 0;
}

static void
work (gpointer data, gsize part G_GNUC_UNUSED, gsize n_parts G_GNUC_UNUSED)
{
  Job *job = data;
  gboolean finite = TRUE;
  gsize first_row;
  gsize n_rows;

  while (take_rows (job, &first_row, &n_rows))
    for (; n_rows > 0 && !apr_run_is_cancelled (job->run);)
      {
        gsize n = MIN (n_rows, job->rows_per_look);

        finite = predict_rows (job->rows, &job->rows->model, first_row, n,
                               job->predictions + first_row * job->row_size) &&
                 finite;
        first_row += n;
        n_rows -= n;
      }

  if (!finite)
    {
      g_mutex_lock (&job->lock);
      job->finite = FALSE;
      g_mutex_unlock (&job->lock);
    }
}

gboolean
apr_prediction_run (AprTensor *coefficients,
                    AprTensor *intercept,
                    AprTensor *x,
                    const AprPredictionKernel *kernel,
                    const AprRun *run,
                    gpointer predictions)
{
  g_auto (AprPredictionRows) rows = { 0 };
  Job job = { .rows = &rows, .run = run, .predictions = predictions, .finite = TRUE };
  gsize n_features = apr_tensor_get_shape (x, NULL)[1];
  gsize n_targets = apr_tensor_get_n_elements (intercept);
  double n_worth = (double) apr_tensor_get_n_elements (x) / ELEMENTS_PER_THREAD;
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();

  job.n_rows = apr_tensor_get_shape (x, NULL)[0];
  if (job.n_rows == 0)
    return TRUE;

  apr_prediction_rows_init (&rows, coefficients, intercept, x, kernel, run);
  job.row_size = n_targets * apr_dtype_get_bits (apr_tensor_get_dtype (coefficients)) / 8;
  job.least_rows = count_rows (ELEMENTS_PER_TURN, MAX (MAX (n_features, n_targets), 1));
  job.rows_per_look = count_rows (ELEMENTS_PER_LOOK, MAX (n_features * n_targets, 1));

  job.n_threads = apr_parallel_count (run->n_threads, n_worth);
  g_mutex_init (&job.lock);
  apr_parallel_run_parts (work, &job, job.n_threads, job.n_threads);
  g_mutex_clear (&job.lock);

  return job.finite;
}
