/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels, written once over the vectors of an instruction set. Whoever includes this defines VECTOR, LANES, and the
 * operations LOAD, STORE, SPLAT, ADD, SUBTRACT, MULTIPLY, MULTIPLY_ADD (a b + c), MULTIPLY_SUBTRACT (a b - c), GREATER
 * and LESSER (of magnitudes), MAGNITUDE, MAGNITUDE_UNLESS_0 (which makes an infinity of 0), IS_NAN (of any lane), and
 * KERNEL and KERNEL_NAME. */

#include "aprender/linear-model/apr-gram-private.h"

#include <math.h>
#include <string.h>

#define START_A 0x1.8p7
#define START_B 0x1.8p-39
#define START_C 0x1.8p-47
#define START_D 0x1.8p-93

/* The units that an accumulator has counted in all its lanes. */
static inline gint64
count_units (VECTOR accumulator, double start)
{
  double lanes[LANES];
  gint64 first;
  gint64 sum = 0;
  gsize i;

  memcpy (&first, &start, sizeof first);
  STORE (lanes, accumulator);
  for (i = 0; i < LANES; i++)
    {
      gint64 bits;

      memcpy (&bits, &lanes[i], sizeof bits);
      sum += bits - first;
    }

  return sum;
}

#define STEP_NARROW(i, x, y)                          \
 {                                                    \
  VECTOR sum = MULTIPLY_ADD (x, y, a[i]);             \
  VECTOR added = SUBTRACT (sum, a[i]);                \
                                                      \
  a[i] = sum;                                         \
  b[i] = ADD (b[i], MULTIPLY_SUBTRACT (x, y, added)); \
 }

static void
multiply_narrow (const double *const left[2],
                 const double *const right[2],
                 gsize n_rows,
                 gint64 sums[4][APR_GRAM_PARTS])
{
  VECTOR a[4];
  VECTOR b[4];
  gsize row;
  gsize i;

  g_assert (n_rows <= APR_GRAM_ROWS_PER_LANE * LANES);

  for (i = 0; i < 4; i++)
    {
      a[i] = SPLAT (START_A);
      b[i] = SPLAT (START_B);
    }

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR x0 = LOAD (left[0] + row);
      VECTOR x1 = LOAD (left[1] + row);
      VECTOR y0 = LOAD (right[0] + row);
      VECTOR y1 = LOAD (right[1] + row);

      STEP_NARROW (0, x0, y0)
      STEP_NARROW (1, x0, y1)
      STEP_NARROW (2, x1, y0)
      STEP_NARROW (3, x1, y1)
    }

  for (i = 0; i < 4; i++)
    {
      sums[i][0] = count_units (a[i], START_A);
      sums[i][1] = count_units (b[i], START_B);
      sums[i][2] = sums[i][3] = 0;
    }
}

#define STEP_WIDE(i, x, y)                          \
 {                                                  \
  VECTOR product = MULTIPLY (x, y);                 \
  VECTOR error = MULTIPLY_SUBTRACT (x, y, product); \
  VECTOR sum = ADD (a[i], product);                 \
  VECTOR added = SUBTRACT (sum, a[i]);              \
                                                    \
  a[i] = sum;                                       \
  b[i] = ADD (b[i], SUBTRACT (product, added));     \
  sum = ADD (c[i], error);                          \
  added = SUBTRACT (sum, c[i]);                     \
  c[i] = sum;                                       \
  d[i] = ADD (d[i], SUBTRACT (error, added));       \
 }

static void
multiply_wide (const double *const left[2],
               const double *const right[2],
               gsize n_rows,
               gint64 sums[4][APR_GRAM_PARTS])
{
  VECTOR a[4];
  VECTOR b[4];
  VECTOR c[4];
  VECTOR d[4];
  gsize row;
  gsize i;

  g_assert (n_rows <= APR_GRAM_ROWS_PER_LANE * LANES);

  for (i = 0; i < 4; i++)
    {
      a[i] = SPLAT (START_A);
      b[i] = SPLAT (START_B);
      c[i] = SPLAT (START_C);
      d[i] = SPLAT (START_D);
    }

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR x0 = LOAD (left[0] + row);
      VECTOR x1 = LOAD (left[1] + row);
      VECTOR y0 = LOAD (right[0] + row);
      VECTOR y1 = LOAD (right[1] + row);

      STEP_WIDE (0, x0, y0)
      STEP_WIDE (1, x0, y1)
      STEP_WIDE (2, x1, y0)
      STEP_WIDE (3, x1, y1)
    }

  for (i = 0; i < 4; i++)
    {
      sums[i][0] = count_units (a[i], START_A);
      sums[i][1] = count_units (b[i], START_B);
      sums[i][2] = count_units (c[i], START_C);
      sums[i][3] = count_units (d[i], START_D);
    }
}

static gboolean
find_range (const double *column, gsize n_rows, double *greatest, double *least)
{
  VECTOR most = SPLAT (0.0);
  VECTOR fewest = SPLAT (INFINITY);
  double lanes[LANES];
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR value = LOAD (column + row);

      if (G_UNLIKELY (IS_NAN (value)))
        return FALSE;
      most = GREATER (MAGNITUDE (value), most);
      fewest = LESSER (MAGNITUDE_UNLESS_0 (value), fewest);
    }

  *greatest = 0;
  *least = INFINITY;
  STORE (lanes, most);
  for (i = 0; i < LANES; i++)
    *greatest = MAX (*greatest, lanes[i]);
  STORE (lanes, fewest);
  for (i = 0; i < LANES; i++)
    *least = MIN (*least, lanes[i]);

  return TRUE;
}

static void
scale (double *column, gsize n_rows, double factor)
{
  VECTOR factors = SPLAT (factor);
  gsize row;

  for (row = 0; row < n_rows; row += LANES)
    STORE (column + row, MULTIPLY (LOAD (column + row), factors));
}

const AprGramKernel KERNEL = {
  KERNEL_NAME, APR_GRAM_ROWS_PER_LANE *LANES, multiply_narrow, multiply_wide, find_range, scale,
};
