/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predictions over the vectors of one instruction set, with a row of X in each lane.
 *
 * The file that includes this template defines
 * - KERNEL and KERNEL_NAME;
 * - VECTOR, a vector of LANES doubles, and COLUMNS, how many columns of X are loaded at a time, at most 4;
 * - SPLAT, ADD, MULTIPLY, STORE and STORE_FLOATS, the last two to any place;
 * - MULTIPLY_ADD, of two floats and a sum: fused with the addition where that is faster;
 * - load_floats () and load_doubles (), which load the next COLUMNS columns, or only the first n where n is less: then
 *   they read nothing beyond those, and the other columns may hold anything. */

#include "aprender/linear-model/kernels/apr-prediction-kernel-private.h"

#include <math.h>

/* How many targets share one loading of rows. */
#define N_TOGETHER 4

/* How many vectors of rows share the coefficients of a single target: additions to one sum wait for each other. */
#define N_BLOCKS 2

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
  AprPrediction model;
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

/* A product of two floats is @exact: it has at most 48 bits, of which the least is worth 2^-298 or more, and is below
 * 2^256, so that it is a double. Rounding it before it is added changes nothing. */
static inline G_ALWAYS_INLINE VECTOR
add_product (VECTOR total, VECTOR column, VECTOR coefficient, gboolean exact)
{
  return exact ? MULTIPLY_ADD (column, coefficient, total) : ADD (total, MULTIPLY (column, coefficient));
}

/* Adds the products of the loaded columns @first up to @end, which is excluded. */
static inline G_ALWAYS_INLINE void
add_columns (const Call *call,
             const double *coefficients,
             VECTOR columns[][COLUMNS],
             gsize first,
             gsize end,
             gsize n_blocks,
             gsize n_targets,
             VECTOR totals[][N_TOGETHER])
{
  /* Coefficients are floats where predictions are. A single sum would wait longer for fused additions. */
  gboolean exact = !call->wide && call->narrow && n_blocks * n_targets > 1;
  gsize i;
  gsize t;

  EACH_COLUMN (i)
    if (i >= first && i < end)
      EACH_TARGET (t)
        {
          VECTOR coefficient = SPLAT (coefficients[t * call->model.n_features + i]);

          totals[0][t] = add_product (totals[0][t], columns[0][i], coefficient, exact);
          if (n_blocks > 1)
            totals[1][t] = add_product (totals[1][t], columns[1][i], coefficient, exact);
        }
}

/* Adds the intercepts and writes the predictions of the first @n_rows lanes. */
static inline G_ALWAYS_INLINE void
finish (
  Call *call, gsize first_row, gsize n_rows, gsize target, gsize n_targets, const VECTOR totals[N_TOGETHER])
{
  gsize stride = call->model.n_targets;
  double lanes[LANES];
  gsize i;
  gsize t;

  EACH_TARGET (t)
    {
      VECTOR sum = ADD (totals[t], SPLAT (call->model.intercept[target + t]));

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

/* Predicts LANES rows from @x on, or N_BLOCKS times as many, for @n_targets targets from @target on. X has at least
 * COLUMNS columns. If @fetch, prefetches a part at each step: all at once would wait for the memory.
 * There is no loop over the blocks, as GCC 12 then loads the rows of a single block in an order that takes longer. */
static inline G_ALWAYS_INLINE void
predict_rows (
  Call *call, gconstpointer x, gsize first_row, gsize n_blocks, gsize target, gsize n_targets, gboolean fetch)
{
  gsize n = call->model.n_features;
  const double *coefficients = call->model.coefficients + target * n;
  const double *last = coefficients + n - COLUMNS;
  VECTOR totals[N_BLOCKS][N_TOGETHER];
  VECTOR columns[N_BLOCKS][COLUMNS];
  gsize starts[LANES];
  gsize size = LANES * (call->wide ? sizeof (double) : sizeof (float));
  guintptr next = (guintptr) x + n_blocks * n * size;
  /* Not where a step takes no more than a line, as it would take longer than the memory, nor where rows are shorter
   * than one, which the processor fetches by itself. */
  gboolean second = COLUMNS * size > CACHE_LINE && n * size >= LANES * CACHE_LINE;
  gsize column;
  gsize i;
  gsize t;

  EACH_LANE (i)
    starts[i] = i * n;
  EACH_TARGET (t)
    totals[0][t] = totals[1][t] = SPLAT (0);

  for (column = 0; column + COLUMNS <= n; column += COLUMNS)
    {
      if (fetch)
        prefetch (next + n_blocks * column * size, n_blocks * COLUMNS * size, second);
      load (call, x, column, starts, COLUMNS, columns[0]);
      if (n_blocks > 1)
        load (call, (const guint8 *) x + n * size, column, starts, COLUMNS, columns[1]);
      add_columns (call, coefficients + column, columns, 0, COLUMNS, n_blocks, n_targets, totals);
    }

  /* The last columns are loaded together with some that have been added already, so that the load is a full one. */
  if (column < n)
    {
      if (fetch)
        prefetch (next + n_blocks * column * size, n_blocks * (n - column) * size, second);
      load (call, x, n - COLUMNS, starts, COLUMNS, columns[0]);
      if (n_blocks > 1)
        load (call, (const guint8 *) x + n * size, n - COLUMNS, starts, COLUMNS, columns[1]);
      if (n - column == 1)
        add_columns (call, last, columns, COLUMNS - 1, COLUMNS, n_blocks, n_targets, totals);
      else if (n - column == 2)
        add_columns (call, last, columns, COLUMNS - 2, COLUMNS, n_blocks, n_targets, totals);
      else
        add_columns (call, last, columns, 1, COLUMNS, n_blocks, n_targets, totals);
    }

  finish (call, first_row, LANES, target, n_targets, totals[0]);
  if (n_blocks > 1)
    finish (call, first_row + LANES, LANES, target, n_targets, totals[1]);
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
  gsize n = call->model.n_features;
  const double *coefficients = call->model.coefficients + target * n;
  VECTOR totals[1][N_TOGETHER];
  VECTOR columns[1][COLUMNS];
  gsize column;
  gsize t;

  EACH_TARGET (t)
    totals[0][t] = SPLAT (0);

  for (column = 0; column < n; column += COLUMNS)
    {
      load (call, x, column, starts, n - column, columns[0]);
      add_columns (call, coefficients + column, columns, 0, n - column, 1, n_targets, totals);
    }

  finish (call, first_row, n_rows, target, n_targets, totals[0]);
}

/* Predicts one target of a multiple of N_BLOCKS * LANES rows. */
static inline G_ALWAYS_INLINE void
predict_together (Call *call, gconstpointer x, gsize n_rows)
{
  gsize row_size = call->model.n_features * (call->wide ? sizeof (double) : sizeof (float));
  gsize row;

  for (row = 0; row < n_rows; row += N_BLOCKS * LANES)
    predict_rows (call, (const guint8 *) x + row * row_size, row, N_BLOCKS, 0, 1, !call->model.fetched);
}

static inline G_ALWAYS_INLINE void
predict_all (Call *call, gconstpointer x, gsize n_rows)
{
  gsize n_features = call->model.n_features;
  gsize n_targets = call->model.n_targets;
  gsize row_size = n_features * (call->wide ? sizeof (double) : sizeof (float));
  gsize starts[LANES];
  gsize row = 0;
  gsize target;
  gsize i;

  for (; n_features >= COLUMNS && row + LANES <= n_rows; row += LANES)
    {
      const char *here = (const char *) x + row * row_size;

      for (target = 0; target + N_TOGETHER <= n_targets; target += N_TOGETHER)
        predict_rows (call, here, row, 1, target, N_TOGETHER, target == 0 && !call->model.fetched);
      for (; target < n_targets; target++)
        predict_rows (call, here, row, 1, target, 1, target == 0 && !call->model.fetched);
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
         gpointer predictions,
         gboolean together)
{
  Call call = { *self, wide, narrow, predictions, SPLAT (0) };
  double lanes[LANES];
  double sum = 0;
  gsize i;

  if (together)
    predict_together (&call, x, n_rows);
  else
    predict_all (&call, x, n_rows);
  STORE (lanes, call.nothing);
  for (i = 0; i < LANES; i++)
    sum += lanes[i];

  return !isnan (sum);
}

/* How many of the rows to predict N_BLOCKS * LANES at a time. Long rows of doubles take longer that way: they wait for
 * the memory, not for additions. */
static inline gsize
count_together (const AprPrediction *self, gboolean wide, gsize n_rows)
{
  gboolean together = self->n_targets == 1 && self->n_features >= COLUMNS &&
                      (!wide || self->n_features * sizeof (double) < 2 * CACHE_LINE);

  return together ? n_rows / (N_BLOCKS * LANES) * N_BLOCKS * LANES : 0;
}

/* Two functions, as GCC 12 finds better registers for one such loop than for both. */
#define DEFINE_PREDICT(name, TYPE, WIDE)                                                              \
 static G_NO_INLINE gboolean name##_together (const AprPrediction *self, const TYPE *x, gsize n_rows, \
                                              gpointer predictions)                                   \
 {                                                                                                    \
  return self->narrow ? predict (self, x, WIDE, n_rows, TRUE, predictions, TRUE)                      \
                      : predict (self, x, WIDE, n_rows, FALSE, predictions, TRUE);                    \
 }                                                                                                    \
                                                                                                      \
 static G_NO_INLINE gboolean name##_apart (const AprPrediction *self, const TYPE *x, gsize n_rows,    \
                                           gpointer predictions)                                      \
 {                                                                                                    \
  return self->narrow ? predict (self, x, WIDE, n_rows, TRUE, predictions, FALSE)                     \
                      : predict (self, x, WIDE, n_rows, FALSE, predictions, FALSE);                   \
 }                                                                                                    \
                                                                                                      \
 static gboolean name (const AprPrediction *self, const TYPE *x, gsize n_rows, gpointer predictions)  \
 {                                                                                                    \
  gsize n = count_together (self, WIDE, n_rows);                                                      \
  gboolean finite = n == 0 || name##_together (self, x, n, predictions);                              \
  guint8 *rest = (guint8 *) predictions + n * (self->narrow ? sizeof (float) : sizeof (double));      \
                                                                                                      \
  return (n == n_rows || name##_apart (self, x + n * self->n_features, n_rows - n, rest)) && finite;  \
 }

DEFINE_PREDICT (predict_floats, float, FALSE)
DEFINE_PREDICT (predict_doubles, double, TRUE)

const AprPredictionKernel KERNEL = { KERNEL_NAME, predict_floats, predict_doubles };
