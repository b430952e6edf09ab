/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* How long what is cancelled goes on: each call is cancelled at many times between its begin and its end, and the
 * longest wait is printed, and the most processor time that all threads together had in one, which other processes
 * do not count in. Arguments: a part of the names of the cases, the number of times, and the number of features. */

typedef enum
{
  FIT,
  STATISTICS,
  CONDITION,
  DIAGNOSE,
  PREDICT,
  SCORE,
  INTERVALS,
} Method;

typedef struct
{
  const char *name;
  Method method;
  gsize n_rows;
  gsize n_features;
  gsize n_repeated; /* columns that are sums of others */
  double noise;     /* that is added to these */
  gboolean positive;
  double alpha;
  AprPrecision precision;
  AprDType dtype;
} Case;

static const Case cases[] = {
  { "fit", FIT, 3000, 1000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit in double", FIT, 3000, 1000, 0, 0, FALSE, 0, APR_PRECISION_DOUBLE, APR_DTYPE_F64 },
  { "fit, n < p", FIT, 300, 1000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit, rank-deficient", FIT, 3000, 1000, 5, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit, ill-conditioned", FIT, 3000, 1000, 5, 1e-7, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit, positive", FIT, 3000, 1000, 0, 0, TRUE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit", FIT, 3000, 2000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit, ill-conditioned", FIT, 3000, 2000, 5, 1e-7, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "fit", FIT, 3000, 2500, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "fit in double", FIT, 3000, 2500, 0, 0, FALSE, 0, APR_PRECISION_DOUBLE, APR_DTYPE_F32 },
  { "fit, n < p", FIT, 700, 2500, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "fit, rank-deficient", FIT, 3000, 2500, 5, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "fit, positive", FIT, 3000, 2500, 0, 0, TRUE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "statistics", STATISTICS, 3000, 1000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "statistics", STATISTICS, 3000, 2000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "statistics", STATISTICS, 3000, 2500, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "statistics, rank-deficient", STATISTICS, 3000, 1000, 5, 0, FALSE, 0, APR_PRECISION_EXACT,
    APR_DTYPE_F64 },
  { "condition number", CONDITION, 3000, 1000, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "condition number", CONDITION, 3000, 2500, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "diagnose", DIAGNOSE, 200000, 100, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "predict", PREDICT, 5000000, 10, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "predict", PREDICT, 200000, 300, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
  { "score", SCORE, 5000000, 10, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F32 },
  { "intervals", INTERVALS, 200000, 100, 0, 0, FALSE, 0, APR_PRECISION_EXACT, APR_DTYPE_F64 },
};

typedef struct
{
  AprLinearRegression *model;
  AprTensor *x;
  AprTensor *y;
} Data;

static void
data_init (Data *self, const Case *c)
{
  gsize shape[2] = { c->n_rows, c->n_features };
  gsize n_values = c->n_rows * c->n_features;
  double *x = g_new (double, n_values);
  g_autofree double *y = g_new (double, c->n_rows);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  gsize i;
  gsize j;

  for (i = 0; i < c->n_rows; i++)
    {
      double *row = x + i * c->n_features;

      y[i] = g_rand_double (rand);
      for (j = 0; j < c->n_features; j++)
        {
          row[j] = j < c->n_features - c->n_repeated ? g_rand_double (rand) : row[j - 10] + row[j - 20];
          if (j >= c->n_features - c->n_repeated && c->noise > 0)
            row[j] += c->noise * g_rand_double (rand);
          y[i] += row[j] * (double) (j % 3) * (c->positive && j % 2 == 0 ? -1 : 1);
        }
    }
  doubles = apr_tensor_new_from_doubles (x, n_values, shape, 2, NULL);
  g_free (x);
  self->x = apr_tensor_cast (doubles, c->dtype, NULL);
  self->y = apr_tensor_new_from_doubles (y, c->n_rows, shape, 1, NULL);
  self->model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", c->precision, "positive", c->positive,
                              "alpha", c->alpha, NULL);
}

static void
data_clear (Data *self)
{
  g_object_unref (self->model);
  apr_tensor_unref (self->x);
  apr_tensor_unref (self->y);
}

static gint64 cancelled_at;
static gint64 cancelled_time; /* the process's processor time by then */
static gint ended;            /* (atomic) the call */

static gint64
get_processor_time (void)
{
  return clock_read (CLOCK_PROCESS_CPUTIME_ID) / 1000;
}

typedef struct
{
  GCancellable *cancellable;
  gint64 time; /* the process's processor time */
} Alarm;

static gpointer
cancel_later (gpointer data)
{
  Alarm *alarm = data;

  /* Where it is in its work depends on the processor time that it has had. */
  while (get_processor_time () < alarm->time && !g_atomic_int_get (&ended))
    g_usleep (500);
  cancelled_at = g_get_monotonic_time ();
  cancelled_time = get_processor_time ();
  g_cancellable_cancel (alarm->cancellable);

  return NULL;
}

static gboolean
call (const Case *c, const Data *data, GCancellable *cancellable, GError **error)
{
  AprEstimator *estimator = APR_ESTIMATOR (data->model);
  g_autoptr (GObject) object = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) upper = NULL;

  switch (c->method)
    {
    case STATISTICS:
      object = (GObject *) apr_linear_regression_get_statistics (data->model, 0, error);
      return object != NULL;
    case CONDITION:
      return !isnan (apr_linear_regression_compute_condition_number (data->model));
    case DIAGNOSE:
      object = (GObject *) apr_linear_regression_diagnose (data->model, data->x, data->y, NULL, 0,
                                                           cancellable, error);
      return object != NULL;
    case PREDICT:
      predictions = apr_estimator_predict (estimator, data->x, error);
      return predictions != NULL;
    case SCORE:
      return apr_estimator_score (estimator, data->x, data->y, NULL, error) != 0;
    case INTERVALS:
      return apr_linear_regression_predict_interval (data->model, data->x, 0.9, APR_INTERVAL_PREDICTION,
                                                     &predictions, &upper, error);
    case FIT:
    default:
      return apr_estimator_fit (estimator, data->x, data->y, NULL, cancellable, error);
    }
}

/* Returns how long a call takes until it ends, or from where it is cancelled after @delay microseconds of processor
 * time; @used is the processor time. */
static double
measure (const Case *c, Data *data, gint64 delay, gboolean *was_cancelled, double *used)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Alarm alarm = { cancellable };
  GThread *thread = NULL;
  gint64 start;
  gint64 end;
  gboolean done;

  if (c->method != FIT)
    {
      /* What was found before would be known. */
      g_autoptr (AprLinearRegression) fitted G_GNUC_UNUSED = data->model;

      data->model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", c->precision, NULL);
      if (!apr_estimator_fit (APR_ESTIMATOR (data->model), data->x, data->y, NULL, NULL, NULL))
        g_error ("no fit");
    }
  g_atomic_int_set (&ended, 0);
  start = g_get_monotonic_time ();
  cancelled_time = get_processor_time ();
  alarm.time = cancelled_time + delay;
  if (delay > 0)
    thread = g_thread_new ("alarm", cancel_later, &alarm);
  g_cancellable_push_current (cancellable);
  done = call (c, data, cancellable, NULL);
  end = g_get_monotonic_time ();
  g_atomic_int_set (&ended, 1);
  *used = (double) (get_processor_time () - cancelled_time) * 1e-3;
  g_cancellable_pop_current (cancellable);
  g_cancellable_cancel (cancellable);
  if (thread != NULL)
    g_thread_join (thread);
  *was_cancelled = !done;

  return (double) (end - (done ? start : cancelled_at)) * 1e-3;
}

int
main (int argc, char *argv[])
{
  int n_times = argc > 2 ? atoi (argv[2]) : 20;
  gsize n_features = argc > 3 ? (gsize) atoi (argv[3]) : 0;
  gsize i;
  int k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *c = &cases[i];
      Data data;
      gboolean was_cancelled;
      double whole;
      double longest = 0;
      double whole_used;
      double used;
      double most_used = 0;
      double where = 0;
      int n_cancelled = 0;

      if ((argc > 1 && !strstr (c->name, argv[1])) || (n_features > 0 && c->n_features != n_features))
        continue;
      data_init (&data, c);
      /* The first call takes longer: its memory is new. */
      whole = measure (c, &data, 0, &was_cancelled, &whole_used);
      whole = measure (c, &data, 0, &was_cancelled, &whole_used);
      for (k = 0; k < n_times; k++)
        {
          double part = (k + 0.5) / n_times;
          double wait = measure (c, &data, (gint64) (1e3 * whole_used * part), &was_cancelled, &used);

          n_cancelled += was_cancelled ? 1 : 0;
          g_debug ("%s: after %.2f of the time, %.1f ms, %.1f ms of processor time", c->name, part, wait,
                   used);
          if (was_cancelled)
            most_used = MAX (most_used, used);
          if (was_cancelled && wait > longest)
            {
              longest = wait;
              where = part;
            }
        }
      g_print ("%-28s %7" G_GSIZE_FORMAT " x %4" G_GSIZE_FORMAT
               " %s: %8.1f ms, %8.1f of processor time; cancelled %d times: longest wait %6.1f ms, at %.2f "
               "of the time, most "
               "processor time %6.1f ms\n",
               c->name, c->n_rows, c->n_features, apr_dtype_to_string (c->dtype), whole, whole_used,
               n_cancelled, longest, where, most_used);
      data_clear (&data);
    }

  return 0;
}
