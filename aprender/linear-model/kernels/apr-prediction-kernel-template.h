/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predictions over the vectors of one instruction set, with a row of X in each lane.
 *
 * The file that includes this template defines
 * - KERNEL and KERNEL_NAME;
 * - VECTOR, a vector of LANES doubles, and COLUMNS, how many columns of X are loaded at a time, at most 4;
 * - SPLAT, ADD, MULTIPLY, STORE and STORE_FLOATS, the last two to any place;
 * - load_floats () and load_doubles (), which load the next COLUMNS columns, or only the first n where n is less: then
 *   they read nothing beyond those, and the other columns may hold anything. */

#include "aprender/linear-model/apr-prediction-private.h"

#include <math.h>

/* How many targets share one loading of rows. */
#define N_TOGETHER 4

/* How far beyond the next rows to prefetch, in bytes: into the nearest cache, and into the second */
#define PREFETCH 2048
#define PREFETCH_SECOND 24576
#define CACHE_LINE 64

/* Unrolled, so that the compiler keeps arrays of vectors in registers. */
#define EACH_LANE(i) _Pragma ("GCC unroll 8") for (i = 0; i < LANES; i++)
#define EACH_COLUMN(i) _Pragma ("GCC unroll 4") for (i = 0; i < COLUMNS; i++)
#define EACH_TARGET(t) _Pragma ("GCC unroll 4") for (t = 0; t < n_targets; t++)

/* The arguments of one call. Inlining turns @wide and @narrow into constants. */
typedef struct
{
  const AprPrediction *self;
  gboolean wide;   /* whether X has doubles, not floats */
  gboolean narrow; /* whether to write floats, not doubles */
  gpointer predictions;
  VECTOR nothing; /* zeros, until a sum is not finite */
} Call;

static inline G_ALWAYS_INLINE void
load (const Call *call,
      gconstpointer x,
      gsize column,
      const gsize starts[LANES],
      gsize n,
      VECTOR columns[COLUMNS])
{
  if (call->wide)
    load_doubles ((const double *) x + column, starts, n, columns);
  else
    load_floats ((const float *) x + column, starts, n, columns);
}

/* Adds the products of the loaded columns @first up to @end, which is excluded. */
static inline G_ALWAYS_INLINE void
add_columns (const Call *call,
             const double *coefficients,
             const VECTOR columns[COLUMNS],
             gsize first,
             gsize end,
             gsize n_targets,
             VECTOR totals[N_TOGETHER])
{
  gsize i;
  gsize t;

  EACH_COLUMN (i)
    if (i >= first && i < end)
      EACH_TARGET (t)
        totals[t] =
          ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * call->self->n_features + i])));
}

/* Adds the intercepts and writes the predictions of the first @n_rows lanes. */
static inline G_ALWAYS_INLINE void
finish (
  Call *call, gsize first_row, gsize n_rows, gsize target, gsize n_targets, const VECTOR totals[N_TOGETHER])
{
  gsize stride = call->self->n_targets;
  double lanes[LANES];
  gsize i;
  gsize t;

  EACH_TARGET (t)
    {
      VECTOR sum = ADD (totals[t], SPLAT (call->self->intercept[target + t]));

      call->nothing = ADD (call->nothing, MULTIPLY (sum, SPLAT (0)));
      if (stride == 1 && n_rows == LANES)
        {
          if (call->narrow)
            STORE_FLOATS ((float *) call->predictions + first_row, sum);
          else
            STORE ((double *) call->predictions + first_row, sum);
        }
      else
        {
          STORE (lanes, sum);
          for (i = 0; i < n_rows; i++)
            if (call->narrow)
              ((float *) call->predictions)[(first_row + i) * stride + target + t] = (float) lanes[i];
            else
              ((double *) call->predictions)[(first_row + i) * stride + target + t] = lanes[i];
        }
    }
}

/* From an address on that may be beyond the end of X, and so is an integer. */
static inline G_ALWAYS_INLINE void
prefetch (guintptr place, gsize size, gboolean second)
{
  gsize i;

  for (i = 0; i < size; i += CACHE_LINE)
    {
      __builtin_prefetch ((gconstpointer) (place + PREFETCH + i));
      if (second)
        __builtin_prefetch ((gconstpointer) (place + PREFETCH_SECOND + i), 0, 2);
    }
}

/* Predicts LANES rows from @x on for @n_targets targets from @target on. X has at least COLUMNS columns.
 * If @fetch, prefetches a part at each step: all at once would wait for the memory. */
static inline G_ALWAYS_INLINE void
predict_rows (Call *call, gconstpointer x, gsize first_row, gsize target, gsize n_targets, gboolean fetch)
{
  gsize n = call->self->n_features;
  const double *coefficients = call->self->coefficients + target * n;
  const double *last = coefficients + n - COLUMNS;
  VECTOR totals[N_TOGETHER];
  VECTOR columns[COLUMNS];
  gsize starts[LANES];
  gsize size = LANES * (call->wide ? sizeof (double) : sizeof (float));
  guintptr next = (guintptr) x + n * size;
  /* Not where a step takes no more than a line, as it would take longer than the memory, nor where rows are shorter
   * than one, which the processor fetches by itself. */
  gboolean second = COLUMNS * size > CACHE_LINE && n * size >= LANES * CACHE_LINE;
  gsize column;
  gsize i;
  gsize t;

  EACH_LANE (i)
    starts[i] = i * n;
  EACH_TARGET (t)
    totals[t] = SPLAT (0);

  for (column = 0; column + COLUMNS <= n; column += COLUMNS)
    {
      if (fetch)
        prefetch (next + column * size, COLUMNS * size, second);
      load (call, x, column, starts, COLUMNS, columns);
      add_columns (call, coefficients + column, columns, 0, COLUMNS, n_targets, totals);
    }

  /* The last columns are loaded together with some that have been added already, so that the load is a full one. */
  if (column < n)
    {
      if (fetch)
        prefetch (next + column * size, (n - column) * size, second);
      load (call, x, n - COLUMNS, starts, COLUMNS, columns);
      if (n - column == 1)
        add_columns (call, last, columns, COLUMNS - 1, COLUMNS, n_targets, totals);
      else if (n - column == 2)
        add_columns (call, last, columns, COLUMNS - 2, COLUMNS, n_targets, totals);
      else
        add_columns (call, last, columns, 1, COLUMNS, n_targets, totals);
    }

  finish (call, first_row, LANES, target, n_targets, totals);
}

/* Predicts up to LANES rows with any number of columns. @starts are the offsets of the rows' first elements. */
static inline G_ALWAYS_INLINE void
predict_some_rows (Call *call,
                   gconstpointer x,
                   const gsize starts[LANES],
                   gsize first_row,
                   gsize n_rows,
                   gsize target,
                   gsize n_targets)
{
  gsize n = call->self->n_features;
  const double *coefficients = call->self->coefficients + target * n;
  VECTOR totals[N_TOGETHER];
  VECTOR columns[COLUMNS];
  gsize column;
  gsize t;

  EACH_TARGET (t)
    totals[t] = SPLAT (0);

  for (column = 0; column < n; column += COLUMNS)
    {
      load (call, x, column, starts, n - column, columns);
      add_columns (call, coefficients + column, columns, 0, n - column, n_targets, totals);
    }

  finish (call, first_row, n_rows, target, n_targets, totals);
}

static inline G_ALWAYS_INLINE void
predict_all (Call *call, gconstpointer x, gsize n_rows)
{
  gsize n_features = call->self->n_features;
  gsize n_targets = call->self->n_targets;
  gsize row_size = n_features * (call->wide ? sizeof (double) : sizeof (float));
  gsize starts[LANES];
  gsize row = 0;
  gsize target;
  gsize i;

  for (; n_features >= COLUMNS && row + LANES <= n_rows; row += LANES)
    {
      const char *here = (const char *) x + row * row_size;

      for (target = 0; target + N_TOGETHER <= n_targets; target += N_TOGETHER)
        predict_rows (call, here, row, target, N_TOGETHER, target == 0 && !call->self->fetched);
      for (; target < n_targets; target++)
        predict_rows (call, here, row, target, 1, target == 0 && !call->self->fetched);
    }

  EACH_LANE (i)
    starts[i] = i * n_features;

  for (; row < n_rows; row += LANES)
    {
      gsize n = MIN (n_rows - row, LANES);
      const char *here = (const char *) x + row * row_size;

      /* The spare lanes repeat the last row. */
      for (i = n; i < LANES; i++)
        starts[i] = starts[n - 1];

      prefetch ((guintptr) here + LANES * row_size, LANES * row_size, FALSE);
      for (target = 0; target + N_TOGETHER <= n_targets; target += N_TOGETHER)
        predict_some_rows (call, here, starts, row, n, target, N_TOGETHER);
      for (; target < n_targets; target++)
        predict_some_rows (call, here, starts, row, n, target, 1);
    }
}

static inline G_ALWAYS_INLINE gboolean
predict (const AprPrediction *self,
         gconstpointer x,
         gboolean wide,
         gsize n_rows,
         gboolean narrow,
         gpointer predictions)
{
  Call call = { self, wide, narrow, predictions, SPLAT (0) };
  double lanes[LANES];
  double sum = 0;
  gsize i;

  predict_all (&call, x, n_rows);
  STORE (lanes, call.nothing);
  for (i = 0; i < LANES; i++)
    sum += lanes[i];

  return !isnan (sum);
}

static gboolean
predict_floats (const AprPrediction *self, const float *x, gsize n_rows, gpointer predictions)
{
  return self->narrow ? predict (self, x, FALSE, n_rows, TRUE, predictions)
                      : predict (self, x, FALSE, n_rows, FALSE, predictions);
}

static gboolean
predict_doubles (const AprPrediction *self, const double *x, gsize n_rows, gpointer predictions)
{
  return self->narrow ? predict (self, x, TRUE, n_rows, TRUE, predictions)
                      : predict (self, x, TRUE, n_rows, FALSE, predictions);
}

const AprPredictionKernel KERNEL = { KERNEL_NAME, predict_floats, predict_doubles };
