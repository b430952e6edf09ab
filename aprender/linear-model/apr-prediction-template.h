/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predictions, written once over the vectors of an instruction set. Whoever includes this defines VECTOR, of LANES doubles,
 * and the operations SPLAT, ADD, MULTIPLY and STORE; LOAD_FLOATS and LOAD_DOUBLES, which read LANES numbers from anywhere;
 * LOAD_SOME_FLOATS and LOAD_SOME_DOUBLES, which read no more than the first n and put anything behind them; transpose (), of LANES
 * vectors in place; and KERNEL and KERNEL_NAME. */

#include "aprender/linear-model/apr-prediction-private.h"

/* So many targets share the reading and turning of rows. */
#define N_TOGETHER 4

/* Loops that the compiler unrolls, so that arrays of vectors are registers. */
#define EACH_LANE(i) _Pragma ("GCC unroll 8") for (i = 0; i < LANES; i++)
#define EACH_TARGET(t) _Pragma ("GCC unroll 4") for (t = 0; t < n_targets; t++)

static inline G_ALWAYS_INLINE VECTOR
load (gconstpointer x, gboolean wide, gsize at, gsize n)
{
  if (n >= LANES)
    return wide ? LOAD_DOUBLES ((const double *) x + at) : LOAD_FLOATS ((const float *) x + at);
  return wide ? LOAD_SOME_DOUBLES ((const double *) x + at, n) : LOAD_SOME_FLOATS ((const float *) x + at, n);
}

/* Up to LANES rows, one in each lane, and @n_targets targets from @target on. @wide and @n_targets are constants to the
 * compiler. */
static inline G_ALWAYS_INLINE void
predict_rows (const AprPrediction *self,
              gconstpointer x,
              gboolean wide,
              gsize first_row,
              gsize n_rows,
              gsize target,
              gsize n_targets,
              double *sums)
{
  gsize n = self->n_features;
  const double *coefficients = self->coefficients + target * n;
  VECTOR totals[N_TOGETHER];
  VECTOR columns[LANES];
  gsize starts[LANES];
  double lanes[LANES];
  gsize column;
  gsize i;
  gsize t;

  EACH_TARGET (t)
    totals[t] = SPLAT (0);

  /* Where rows are missing, the last one stands in. */
  EACH_LANE (i)
    starts[i] = (first_row + MIN (i, n_rows - 1)) * n;

  for (column = 0; column + LANES <= n; column += LANES)
    {
      EACH_LANE (i)
        columns[i] = load (x, wide, starts[i] + column, LANES);
      transpose (columns);
      EACH_LANE (i)
        EACH_TARGET (t)
          totals[t] = ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * n + column + i])));
    }

  if (column < n)
    {
      EACH_LANE (i)
        columns[i] = load (x, wide, starts[i] + column, n - column);
      transpose (columns);
      EACH_LANE (i)
        if (column + i < n)
          EACH_TARGET (t)
            totals[t] = ADD (totals[t], MULTIPLY (columns[i], SPLAT (coefficients[t * n + column + i])));
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
  gsize row;
  gsize target;

  for (row = 0; row < n_rows; row += LANES)
    {
      gsize n = MIN (n_rows - row, LANES);

      for (target = 0; target + N_TOGETHER <= self->n_targets; target += N_TOGETHER)
        predict_rows (self, x, wide, row, n, target, N_TOGETHER, sums);
      for (; target < self->n_targets; target++)
        predict_rows (self, x, wide, row, n, target, 1, sums);
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

const AprPredictionKernel KERNEL = { KERNEL_NAME, predict_floats, predict_doubles };
