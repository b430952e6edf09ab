/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels, written once over the vectors of an instruction set. Whoever includes this defines:
 *
 *   KERNEL                the structure that this file makes
 *   KERNEL_NAME           its name
 *   VECTOR                a vector of doubles
 *   LANES                 how many: 4 or 8
 *   LOAD                  from an aligned place
 *   STORE                 to any place
 *   SPLAT                 one value in all lanes
 *   ADD                   a + b
 *   SUBTRACT              a - b
 *   MULTIPLY              a b
 *   MULTIPLY_ADD          a b + c, rounded once or twice
 *   MULTIPLY_SUBTRACT     a b - c, rounded once or twice
 *   FUSED_ADD             a b + c, rounded once
 *   FUSED_SUBTRACT        a b - c, rounded once
 *   EITHER                something that ANY finds, or NaN, where it finds it in one of both
 *   GREATER               the larger magnitude
 *   LESSER                the smaller magnitude
 *   MAGNITUDE             without the sign
 *   MAGNITUDE_UNLESS_0    the same, with an infinity for 0
 *   IS_NAN                whether a lane is one
 *   ANY                   whether a lane is not 0
 *   COUNT_LANES           the sums of the lanes of 8 vectors of whole numbers, as integers
 *   COUNT_EACH            adds the lanes of a vector of whole numbers to integers
 *   COUNT_DIFFERENCE      adds the difference of two vectors' bits to integers, and
 *   SUM_WHOLE             what sums whole columns; without the two, columns are not multiplied whole
 *   MULTIPLY_FIXED        what multiplies columns as numbers of fixed point, and
 *   CUT_FIXED             what makes such columns; without the two, columns that are not whole are cut in two
 *   REDUCE_LANES          the sums of eight times APR_SLICE_LANES integers, where plain C is not as fast
 *   KEEP                  has four vectors stay in registers, where the compiler would load each for every use; may be
 *                         left out
 *   ADD_LANES             of 8 lanes, the sums of the lanes of 8 vectors, in double
 *   ADD_LANES_OF_FOUR     of 4 lanes, (a0 + a1) + (a2 + a3) for each of four vectors a
 *   TRANSPOSE_DOUBLES     makes four columns of LANES rows of n values,
 *   TRANSPOSE_FLOATS      the same of floats,
 *   LOAD_FLOATS           from any place; none of the three where plain C is as fast
 *   TRANSPOSE_AND_RANGE   makes four columns of all rows of n floats, and finds their ranges; may be left out
 *   LOAD_DOUBLES          the same, where LOAD needs an aligned place
 */

#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

#include <math.h>
#include <string.h>

/* Adding and subtracting it rounds to a whole number what is at most 2^51. */
#define ROUNDER 0x1.8p52

#ifndef LOAD_DOUBLES
# define LOAD_DOUBLES(place) LOAD (place)
#endif

#define COLUMN(panel, i) LOAD ((panel) + (i) *APR_SLICE_STRIDE + row)

/* The products of two columns with y0 to y3, added by OPERATION. */
#define STEP(OPERATION, sum, x0, x1)  \
 sum[0] = OPERATION (x0, y0, sum[0]); \
 sum[1] = OPERATION (x0, y1, sum[1]); \
 sum[2] = OPERATION (x0, y2, sum[2]); \
 sum[3] = OPERATION (x0, y3, sum[3]); \
 sum[4] = OPERATION (x1, y0, sum[4]); \
 sum[5] = OPERATION (x1, y1, sum[5]); \
 sum[6] = OPERATION (x1, y2, sum[6]); \
 sum[7] = OPERATION (x1, y3, sum[7]);

#if LANES == 8
/* Of all four columns with four: as many sums as there are registers for. */
# define MULTIPLY_PANELS(OPERATION, REDUCE_LANES, first, end, results) \
  {                                                                    \
   VECTOR upper[8];                                                    \
   VECTOR lower[8];                                                    \
                                                                       \
   for (i = 0; i < 8; i++)                                             \
    upper[i] = lower[i] = SPLAT (0.0);                                 \
   for (row = first; row < end; row += LANES)                          \
    {                                                                  \
     VECTOR y0 = COLUMN (right, 0);                                    \
     VECTOR y1 = COLUMN (right, 1);                                    \
     VECTOR y2 = COLUMN (right, 2);                                    \
     VECTOR y3 = COLUMN (right, 3);                                    \
     VECTOR x0 = COLUMN (left, 0);                                     \
     VECTOR x1 = COLUMN (left, 1);                                     \
                                                                       \
     STEP (OPERATION, upper, x0, x1)                                   \
     x0 = COLUMN (left, 2);                                            \
     x1 = COLUMN (left, 3);                                            \
     STEP (OPERATION, lower, x0, x1)                                   \
    }                                                                  \
   REDUCE_LANES (upper, results);                                      \
   REDUCE_LANES (lower, results + 8);                                  \
  }
#else
# ifndef KEEP
#  define KEEP(a, b, c, d)
# endif

# define MULTIPLY_PANELS(OPERATION, REDUCE_LANES, first, end, results) \
  for (i = 0; i < APR_SLICE_PANEL; i += 2)                             \
   {                                                                   \
    VECTOR sum[8];                                                     \
    gsize j;                                                           \
                                                                       \
    for (j = 0; j < 8; j++)                                            \
     sum[j] = SPLAT (0.0);                                             \
    for (row = first; row < end; row += LANES)                         \
     {                                                                 \
      VECTOR y0 = COLUMN (right, 0);                                   \
      VECTOR y1 = COLUMN (right, 1);                                   \
      VECTOR y2 = COLUMN (right, 2);                                   \
      VECTOR y3 = COLUMN (right, 3);                                   \
      VECTOR x0 = COLUMN (left, i);                                    \
      VECTOR x1 = COLUMN (left, i + 1);                                \
                                                                       \
      KEEP (y0, y1, y2, y3)                                            \
      STEP (OPERATION, sum, x0, x1)                                    \
     }                                                                 \
    REDUCE_LANES (sum, results + i * APR_SLICE_PANEL);                 \
   }
#endif

static inline void
add_counted (const gint64 counted[APR_SLICE_TILE], const gint8 signs[APR_SLICE_PARTS], gint64 *sums)
{
  gsize part;
  gsize i;

  for (part = 0; part < APR_SLICE_PARTS; part++)
    {
      guint64 *to = (guint64 *) sums + part * APR_SLICE_TILE;

      if (signs[part] > 0)
        for (i = 0; i < APR_SLICE_TILE; i++)
          to[i] += (guint64) counted[i];
      else if (signs[part] < 0)
        for (i = 0; i < APR_SLICE_TILE; i++)
          to[i] -= (guint64) counted[i];
    }
}

/* The products of one panel with itself, of which those above the diagonal are not needed: row after row. */
static inline void
sum_triangle (const double *panel, gsize first, gsize end, VECTOR sum[10])
{
  gsize row;
  gsize i;

  for (i = 0; i < 10; i++)
    sum[i] = SPLAT (0.0);
  for (row = first; row < end; row += LANES)
    {
      VECTOR x0 = COLUMN (panel, 0);
      VECTOR x1 = COLUMN (panel, 1);
      VECTOR x2 = COLUMN (panel, 2);
      VECTOR x3 = COLUMN (panel, 3);

      sum[0] = MULTIPLY_ADD (x0, x0, sum[0]);
      sum[1] = MULTIPLY_ADD (x1, x0, sum[1]);
      sum[2] = MULTIPLY_ADD (x1, x1, sum[2]);
      sum[3] = MULTIPLY_ADD (x2, x0, sum[3]);
      sum[4] = MULTIPLY_ADD (x2, x1, sum[4]);
      sum[5] = MULTIPLY_ADD (x2, x2, sum[5]);
      sum[6] = MULTIPLY_ADD (x3, x0, sum[6]);
      sum[7] = MULTIPLY_ADD (x3, x1, sum[7]);
      sum[8] = MULTIPLY_ADD (x3, x2, sum[8]);
      sum[9] = MULTIPLY_ADD (x3, x3, sum[9]);
    }
}

static void
count_triangle (const double *panel, gsize first, gsize end, gint64 counted[APR_SLICE_TILE])
{
  VECTOR sum[16];
  gint64 lower[16];
  gsize i;
  gsize j;
  gsize k;

  sum_triangle (panel, first, end, sum);
  for (i = 10; i < 16; i++)
    sum[i] = SPLAT (0.0);
  COUNT_LANES (sum, lower);
  COUNT_LANES (sum + 8, (lower + 8));
  for (i = 0, k = 0; i < APR_SLICE_PANEL; i++)
    for (j = 0; j < APR_SLICE_PANEL; j++)
      counted[i * APR_SLICE_PANEL + j] = j <= i ? lower[k++] : 0;
}

static void
multiply (const double *left,
          const double *right,
          gsize n_rows,
          gsize n_steps,
          const gint8 signs[APR_SLICE_PARTS],
          gint64 *sums)
{
  gint64 counted[APR_SLICE_TILE];
  gsize first;
  gsize end;
  gsize row;
  gsize i;

  for (first = 0; first < n_rows; first = end)
    {
      end = MIN (first + n_steps * LANES, n_rows);
      if (left == right)
        count_triangle (left, first, end, counted);
      else
        MULTIPLY_PANELS (MULTIPLY_ADD, COUNT_LANES, first, end, counted)
      add_counted (counted, signs, sums);
    }
}

static void
multiply_triangle (const double *panel, gsize first, gsize end, gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES])
{
  VECTOR sum[10];
  gsize i;
  gsize j;
  gsize k;

  sum_triangle (panel, first, end, sum);
  for (i = 0, k = 0; i < APR_SLICE_PANEL; i++)
    for (j = 0; j <= i; j++, k++)
      COUNT_EACH (sum[k], lanes[i * APR_SLICE_PANEL + j]);
}

static inline void
count_eight (const VECTOR sum[8], gint64 (*lanes)[APR_SLICE_LANES])
{
  gsize i;

  for (i = 0; i < 8; i++)
    COUNT_EACH (sum[i], lanes[i]);
}

static void
multiply_lanes (const double *left,
                const double *right,
                gsize n_rows,
                gsize n_steps,
                gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES])
{
  gsize first;
  gsize end;
  gsize row;
  gsize i;

  for (first = 0; first < n_rows; first = end)
    {
      end = MIN (first + n_steps * LANES, n_rows);
      if (left == right)
        multiply_triangle (left, first, end, lanes);
      else
        MULTIPLY_PANELS (MULTIPLY_ADD, count_eight, first, end, lanes)
    }
}

/* Of lanes that are not below 0. */
static inline double
find_max_lane (VECTOR values)
{
  double lanes[LANES];
  double max = 0;
  gsize i;

  STORE (lanes, values);
  for (i = 0; i < LANES; i++)
    max = MAX (max, lanes[i]);

  return max;
}

#ifdef COUNT_DIFFERENCE
# include "aprender/exact-sums/kernels/apr-slice-kernel-whole-template.h"
#endif

static void
add_up (gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES], const gint8 signs[APR_SLICE_PARTS], gint64 *sums)
{
  gint64 counted[APR_SLICE_TILE];

#ifdef REDUCE_LANES
  REDUCE_LANES ((const gint64 (*)[APR_SLICE_LANES]) lanes, counted);
  REDUCE_LANES ((const gint64 (*)[APR_SLICE_LANES]) (lanes + 8), counted + 8);
#else
  gsize i;
  gsize j;

  for (i = 0; i < APR_SLICE_TILE; i++)
    {
      guint64 sum = 0;

      for (j = 0; j < APR_SLICE_LANES; j++)
        sum += (guint64) lanes[i][j];
      counted[i] = (gint64) sum;
    }
#endif
  add_counted (counted, signs, sums);
}

#if LANES == 4
/* The products of n columns with one, added by FUSED_ADD. */
# define ADD_PRODUCTS(column)                           \
  {                                                     \
   VECTOR y = COLUMN (right, column);                   \
                                                        \
   KEEP (x0, x1, x2, y)                                 \
   sum[0][column] = FUSED_ADD (x0, y, sum[0][column]);  \
   sum[1][column] = FUSED_ADD (x1, y, sum[1][column]);  \
   if (n == 3)                                          \
    sum[2][column] = FUSED_ADD (x2, y, sum[2][column]); \
  }

/* Of two or three columns with four, every other four rows. Those of three are, with what is multiplied, as many sums
 * at once as there are registers for, so that none waits for the one before. */
static inline G_ALWAYS_INLINE void
multiply_every_other (gsize n, const double *left, const double *right, gsize n_rows, VECTOR *products)
{
  VECTOR sum[3][APR_SLICE_PANEL];
  gsize row;
  gsize i;

  for (i = 0; i < 3 * APR_SLICE_PANEL; i++)
    sum[i / APR_SLICE_PANEL][i % APR_SLICE_PANEL] = SPLAT (0.0);
  for (row = 0; row < n_rows; row += 8)
    {
      VECTOR x0 = COLUMN (left, 0);
      VECTOR x1 = COLUMN (left, 1);
      VECTOR x2 = COLUMN (left, n - 1);

      ADD_PRODUCTS (0)
      ADD_PRODUCTS (1)
      ADD_PRODUCTS (2)
      ADD_PRODUCTS (3)
    }
  for (i = 0; i < n; i++)
    products[i] = ADD_LANES_OF_FOUR (sum[i]);
}

/* Rows are added in two sums of four lanes, as one of eight lanes would have them. */
static inline G_ALWAYS_INLINE void
multiply_few_columns (gsize n, const double *left, const double *right, gsize n_rows, double *products)
{
  VECTOR low[3];
  VECTOR high[3];
  gsize i;

  multiply_every_other (n, left, right, n_rows, low);
  multiply_every_other (n, left + 4, right + 4, n_rows, high);
  for (i = 0; i < n; i++)
    STORE (products + i * APR_SLICE_PANEL, ADD (low[i], high[i]));
}
#endif

static void
multiply_double (const double *left, gsize n_left, const double *right, gsize n_rows, double *products)
{
  gsize i;
#if LANES == 8
  gsize row;

  for (; n_left > 0; n_left -= APR_SLICE_PANEL)
    {
      MULTIPLY_PANELS (FUSED_ADD, ADD_LANES, 0, n_rows, products)
      left += APR_SLICE_PANEL * APR_SLICE_STRIDE;
      products += APR_SLICE_TILE;
    }
#else
  gsize n;

  for (i = 0; i < n_left; i += n)
    {
      const double *columns = left + i * APR_SLICE_STRIDE;

      /* Three by three, and the last two or four two by two. */
      n = n_left - i == 2 || n_left - i == 4 ? 2 : 3;
      if (n == 3)
        multiply_few_columns (3, columns, right, n_rows, products + i * APR_SLICE_PANEL);
      else
        multiply_few_columns (2, columns, right, n_rows, products + i * APR_SLICE_PANEL);
    }
#endif
}

static gboolean
collect (const double *products, const double *left, const double *right, gint64 *sums)
{
  G_STATIC_ASSERT (sizeof (double) == sizeof (gint64));
  const VECTOR rounder = SPLAT (ROUNDER);
  const double start = ROUNDER;
  double scales[APR_SLICE_TILE] __attribute__ ((aligned (64)));
  gint64 parts[APR_SLICE_DOUBLE_PARTS * APR_SLICE_TILE];
  double lanes[LANES];
  VECTOR min_lanes = SPLAT (INFINITY);
  VECTOR any = SPLAT (0.0);
  guint64 *to = (guint64 *) sums;
  gint64 bias;
  gsize i;

  for (i = 0; i < APR_SLICE_TILE; i++)
    scales[i] = left[i / APR_SLICE_PANEL] * 0x1p40 * right[i % APR_SLICE_PANEL];

  for (i = 0; i < APR_SLICE_TILE; i += LANES)
    {
      /* Below 2^8 2^40; where it is not tiny, these powers of two have not rounded it. */
      VECTOR scale = LOAD (scales + i);
      VECTOR value = MULTIPLY (LOAD (products + i), scale);
      VECTOR high = ADD (value, rounder);
      VECTOR rest = MULTIPLY (SUBTRACT (value, SUBTRACT (high, rounder)), SPLAT (0x1p50));
      VECTOR low = ADD (rest, rounder);

      min_lanes = LESSER (MULTIPLY (MAGNITUDE_UNLESS_0 (LOAD (products + i)), scale), min_lanes);
      any = GREATER (MAGNITUDE (SUBTRACT (rest, SUBTRACT (low, rounder))), any);
      STORE ((double *) parts + i, high);
      STORE ((double *) parts + APR_SLICE_TILE + i, low);
    }
  STORE (lanes, min_lanes);
  for (i = 0; i < LANES; i++)
    if (lanes[i] < 0x1p-50)
      return FALSE;
  if (ANY (any))
    return FALSE;

  memcpy (&bias, &start, sizeof bias);
  for (i = 0; i < APR_SLICE_DOUBLE_PARTS * APR_SLICE_TILE; i++)
    to[i] += (guint64) (parts[i] - bias);
  return TRUE;
}

static gboolean
find_range (const double *column, gsize n_rows, double *max, double *min)
{
  VECTOR max_lanes = SPLAT (0.0);
  VECTOR min_lanes = SPLAT (INFINITY);
  double lanes[LANES];
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR value = LOAD_DOUBLES (column + row);

      if (G_UNLIKELY (IS_NAN (value)))
        return FALSE;
      max_lanes = GREATER (MAGNITUDE (value), max_lanes);
      min_lanes = LESSER (MAGNITUDE_UNLESS_0 (value), min_lanes);
    }

  *max = find_max_lane (max_lanes);
  *min = INFINITY;
  STORE (lanes, min_lanes);
  for (i = 0; i < LANES; i++)
    *min = MIN (*min, lanes[i]);

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

static gboolean
weigh (const double *column, const double *weights, gsize n_rows, double factor, double *high, double *low)
{
  VECTOR factors = SPLAT (factor);
  VECTOR any = SPLAT (0.0);
  gsize row;

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR value = MULTIPLY (LOAD (column + row), factors);
      VECTOR weight = LOAD (weights + row);
      VECTOR product = MULTIPLY (value, weight);
      VECTOR error = FUSED_SUBTRACT (value, weight, product);

      STORE (high + row, product);
      STORE (low + row, error);
      any = GREATER (MAGNITUDE (error), any);
    }

  return ANY (any);
}

static inline guint
cut (const double *column, gsize n_rows, double factor, double *slices, gsize distance, gboolean thirds)
{
  const VECTOR factors = SPLAT (factor);
  const VECTOR finer = SPLAT (factor * 0x1p24);
  const VECTOR rounder = SPLAT (ROUNDER);
  const VECTOR next = SPLAT (0x1p24);
  VECTOR max_lanes = SPLAT (0.0);
  VECTOR any_second = SPLAT (0.0);
  VECTOR any_third = SPLAT (0.0);
  VECTOR any_rest = SPLAT (0.0);
  double max;
  gsize row;

  for (row = 0; row < n_rows; row += LANES)
    {
      /* Powers of two: the only operations that round are those with the rounder. */
      VECTOR value = LOAD_DOUBLES (column + row);
      VECTOR first = SUBTRACT (MULTIPLY_ADD (value, factors, rounder), rounder);
      VECTOR rest = MULTIPLY_SUBTRACT (value, finer, MULTIPLY (first, next));
      VECTOR second = SUBTRACT (ADD (rest, rounder), rounder);
      VECTOR left = SUBTRACT (rest, second);

      STORE (slices + APR_SLICE_S0 * distance + row, first);
      STORE (slices + APR_SLICE_S1 * distance + row, second);
      STORE (slices + APR_SLICE_S01 * distance + row, ADD (first, second));
      max_lanes = GREATER (MAGNITUDE (value), max_lanes);
      any_second = EITHER (rest, any_second);
      any_third = EITHER (left, any_third);
      if (thirds)
        {
          VECTOR third = SUBTRACT (MULTIPLY_ADD (left, next, rounder), rounder);

          STORE (slices + APR_SLICE_S2 * distance + row, third);
          STORE (slices + APR_SLICE_S02 * distance + row, ADD (first, third));
          STORE (slices + APR_SLICE_S12 * distance + row, ADD (second, third));
          any_rest = EITHER (MULTIPLY_SUBTRACT (left, next, third), any_rest);
        }
    }

  max = find_max_lane (max_lanes);
  if (!(max * factor < 0x1p23))
    return APR_SLICE_OUTSIDE;

  return ANY (any_rest) ? 4 : ANY (any_third) ? 3 : ANY (any_second) ? 2 : max > 0 ? 1 : 0;
}

static guint
slice (const double *column, gsize n_rows, double factor, double *slices, gsize distance)
{
  return cut (column, n_rows, factor, slices, distance, FALSE);
}

static guint
slice_all (const double *column, gsize n_rows, double factor, double *slices, gsize distance)
{
  return cut (column, n_rows, factor, slices, distance, TRUE);
}

#ifdef TRANSPOSE_DOUBLES
/* The last four columns may be some that were made already. */
# define TRANSPOSE_ROWS(Type, LOAD_VALUES, TRANSPOSE)                                                 \
  const Type *values = rows;                                                                          \
  gsize row;                                                                                          \
  gsize column;                                                                                       \
  gsize i;                                                                                            \
                                                                                                      \
  for (row = 0; row < n_rows; row += LANES, values += LANES * n_columns)                              \
   {                                                                                                  \
    for (column = 0; column + 4 <= n_columns; column += 4)                                            \
     TRANSPOSE (values + column, n_columns, stride, columns + column * stride + row);                 \
    if (n_columns == 1)                                                                               \
     STORE (columns + row, LOAD_VALUES (values));                                                     \
    else if (n_columns >= 4 && column < n_columns)                                                    \
     TRANSPOSE (values + n_columns - 4, n_columns, stride, columns + (n_columns - 4) * stride + row); \
    else                                                                                              \
     for (; column < n_columns; column++)                                                             \
      for (i = 0; i < LANES; i++)                                                                     \
       columns[column * stride + row + i] = values[i * n_columns + column];                           \
   }

static void
transpose_doubles (gconstpointer rows,
                   gsize n_rows,
                   gsize n_columns,
                   gsize stride,
                   double *columns,
                   AprColumnRange *ranges G_GNUC_UNUSED)
{
  TRANSPOSE_ROWS (double, LOAD_DOUBLES, TRANSPOSE_DOUBLES)
}

static void
transpose_floats (gconstpointer rows,
                  gsize n_rows,
                  gsize n_columns,
                  gsize stride,
                  double *columns,
                  AprColumnRange *ranges G_GNUC_UNUSED)
{
# ifdef TRANSPOSE_AND_RANGE
  if (ranges != NULL && n_columns >= 4)
    {
      gsize i;

      for (i = 0; i < n_columns; i += 4)
        {
          gsize first = MIN (i, n_columns - 4);

          TRANSPOSE_AND_RANGE ((const float *) rows + first, n_rows, n_columns, stride,
                               columns + first * stride, ranges + first);
        }
      return;
    }
# endif
  {
    TRANSPOSE_ROWS (float, LOAD_FLOATS, TRANSPOSE_FLOATS)
  }
}
#endif

const AprSliceKernel KERNEL = {
  .name = KERNEL_NAME,
  .multiply = multiply,
  .multiply_lanes = multiply_lanes,
  .add_up = add_up,
#ifdef COUNT_DIFFERENCE
  .multiply_whole = multiply_whole,
  .sum_whole = SUM_WHOLE,
  .cut_weighted = cut_weighted,
# ifdef MULTIPLY_FIXED
  .multiply_fixed = MULTIPLY_FIXED,
  .cut_fixed = CUT_FIXED,
# else
  .multiply_tails = multiply_tails,
  .cut_in_two = cut_in_two,
# endif
#endif
  .multiply_double = multiply_double,
  .collect = collect,
#ifdef TRANSPOSE_DOUBLES
  .transpose_doubles = transpose_doubles,
  .transpose_floats = transpose_floats,
#endif
  .find_range = find_range,
  .scale = scale,
  .weigh = weigh,
  .slice = slice,
  .slice_all = slice_all,
};
