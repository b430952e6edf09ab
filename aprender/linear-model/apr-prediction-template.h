/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predictions, written once over the vectors of an instruction set. Whoever includes this defines VECTOR, of LANES doubles, a lane
 * for each row, and the operations SPLAT, ADD, MULTIPLY and STORE; load_floats () and load_doubles (), which make vectors of the next
 * COLUMNS columns, or of no more than the first n of them; and KERNEL and KERNEL_NAME. */

#include "aprender/linear-model/apr-prediction-private.h"

/* So many targets share the reading and turning of rows. */
#define N_TOGETHER 4

/* How far ahead of what is computed with memory is asked for, in bytes. */
#define PREFETCH 2048
#define CACHE_LINE 64

/* Loops that the compiler unrolls, so that arrays of vectors are registers. */
#define EACH_LANE(i) _Pragma ("GCC unroll 8") for (i = 0; i < LANES; i++)
#define EACH_COLUMN(i) _Pragma ("GCC unroll 4") for (i = 0; i < COLUMNS; i++)
#define EACH_TARGET(t) _Pragma ("GCC unroll 4") for (t = 0; t < n_targets; t++)

static inline G_ALWAYS_INLINE void
load (
  gconstpointer x, gboolean wide, gsize column, const gsize starts[LANES], gsize n, VECTOR columns[COLUMNS])
{
  if (wide)
    load_doubles ((const double *) x + column, starts, n, columns);
  else
    load_floats ((const float *) x + column, starts, n, columns);
}

/* Up to LANES rows, one in each lane, of which @starts are the first elements, and @n_targets targets from @target on. @wide and @n_targets are constants to the
 * compiler. */
static inline G_ALWAYS_INLINE void
predict_rows (const AprPrediction *self,
              gconstpointer x,
              gboolean wide,
              const gsize starts[LANES],
              gsize first_row,
              gsize n_rows,
              gsize target,
              gsize n_targets,
              double *sums)
{
  gsize n = self->n_features;
  const double *coefficients = self->coefficients + target * n;
  VECTOR totals[N_TOGETHER];
  VECTOR columns[COLUMNS];
  double lanes[LANES];
  gsize column;
  gsize i;
  gsize t;

  EACH_TARGET (t)
    totals[t] = SPLAT (0);

  for (column = 0; column + COLUMNS <= n; column += COLUMNS)
    {
      load (x, wide, column, starts, COLUMNS, columns);
      EACH_COLUMN (i)
        EACH_TARGET (t)
          totals[t] = ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * n + column + i])));
    }

  if (column < n && n >= COLUMNS)
    {
      /* With some before them that have been added already, those that are left can be loaded as all others are. */
      load (x, wide, n - COLUMNS, starts, COLUMNS, columns);
      EACH_COLUMN (i)
        if (n - COLUMNS + i >= column)
          EACH_TARGET (t)
            totals[t] = ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * n + n - COLUMNS + i])));
    }
  else if (column < n)
    {
      load (x, wide, 0, starts, n, columns);
      EACH_COLUMN (i)
        if (i < n)
          EACH_TARGET (t)
            totals[t] = ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * n + i])));
    }

  EACH_TARGET (t)
    {
      totals[t] = ADD (totals[t], SPLAT (self->intercept[target + t]));
      if (self->n_targets == 1 && n_rows == LANES)
        STORE (sums + first_row, totals[t]);
      else
        {
          STORE (lanes, totals[t]);
          for (i = 0; i < n_rows; i++)
            sums[(first_row + i) * self->n_targets + target + t] = lanes[i];
        }
    }
}

static inline G_ALWAYS_INLINE void
predict (const AprPrediction *self, gconstpointer x, gboolean wide, gsize n_rows, double *sums)
{
  gsize row_size = self->n_features * (wide ? sizeof (double) : sizeof (float));
  gsize starts[LANES];
  gsize row;
  gsize target;
  gsize i;

  EACH_LANE (i)
    starts[i] = i * self->n_features;

  for (row = 0; row < n_rows; row += LANES)
    {
      gsize n = MIN (n_rows - row, LANES);
      const char *here = (const char *) x + row * row_size;

      /* Where rows are missing, the last one stands in. */
      for (i = n; i < LANES; i++)
        starts[i] = starts[n - 1];
      for (i = 0; i < LANES * row_size; i += CACHE_LINE)
        __builtin_prefetch (here + PREFETCH + i);

      for (target = 0; target + N_TOGETHER <= self->n_targets; target += N_TOGETHER)
        predict_rows (self, here, wide, starts, row, n, target, N_TOGETHER, sums);
      for (; target < self->n_targets; target++)
        predict_rows (self, here, wide, starts, row, n, target, 1, sums);
    }
}

static void
predict_floats (const AprPrediction *self, const float *x, gsize n_rows, double *sums)
{
  predict (self, x, FALSE, n_rows, sums);
}

static void
predict_doubles (const AprPrediction *self, const double *x, gsize n_rows, double *sums)
{
  predict (self, x, TRUE, n_rows, sums);
}

/* Blocks of one length, so that the compiler makes vectors of them. */
static void
round_to_floats (const double *restrict from, gsize n, float *restrict to)
{
  gsize i = 0;
  gsize j;

  for (; i + 8 <= n; i += 8)
    for (j = 0; j < 8; j++)
      to[i + j] = (float) from[i + j];
  for (; i < n; i++)
    to[i] = (float) from[i];
}

const AprPredictionKernel KERNEL = { KERNEL_NAME, predict_floats, predict_doubles, round_to_floats };
