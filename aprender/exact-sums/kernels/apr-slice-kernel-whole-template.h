/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Columns that are multiplied whole, or cut in two: a part of apr-slice-kernel-template.h, for instruction sets that
 * fuse multiplications. */

/* What an upper sum begins with, times the units of both columns, so that it is a whole number of its last bits. */
#define UPPER_START (0x1.8p52 * APR_SLICE_WHOLE_UPPER)

/* The lower sums of all rows are at most 2^53. */
G_STATIC_ASSERT (APR_SLICE_ROWS / LANES <= 64);

#define EACH_PRODUCT \
 _Pragma ("GCC unroll 16") for (i = 0; i < APR_SLICE_TILE; i++) if ((products >> i & 1) != 0)

/* Some of the products of two panels: bit 4 i + j of @products is for column i of the left one and j of the right one.
 * The upper part of a sum rounds to a multiple of APR_SLICE_WHOLE_UPPER, and the fused multiplication finds what that
 * took from each product. */
static inline G_ALWAYS_INLINE void
multiply_whole_columns (const double *left,
                        const double *right,
                        const double units[APR_SLICE_TILE],
                        guint products,
                        gsize n_rows,
                        AprSliceFetch *fetch,
                        gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                        gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES])
{
  VECTOR high[APR_SLICE_TILE];
  VECTOR low[APR_SLICE_TILE];
  const guint8 *next = fetch != NULL ? fetch->next : NULL;
  gsize step = fetch != NULL ? apr_slice_fetch_step (fetch, n_rows / LANES) : 0;
  gsize row = 0;
  gsize i;

  EACH_PRODUCT
  {
    low[i] = SPLAT (0.0);
  }
  while (row < n_rows)
    {
      gsize end = MIN (row + APR_SLICE_STEPS * LANES, n_rows);

      EACH_PRODUCT
      {
        high[i] = SPLAT (UPPER_START * units[i]);
      }
      for (; row < end; row += LANES)
        {
          if (fetch != NULL)
            {
              apr_slice_fetch_line (next);
              next += step;
            }
          EACH_PRODUCT
          {
            VECTOR x = COLUMN (left, i / APR_SLICE_PANEL);
            VECTOR y = COLUMN (right, i % APR_SLICE_PANEL);
            VECTOR old = high[i];

            high[i] = FUSED_ADD (x, y, old);
            low[i] = ADD (low[i], FUSED_ADD (x, y, SUBTRACT (old, high[i])));
          }
        }
      EACH_PRODUCT
      {
        COUNT_DIFFERENCE (high[i], SPLAT (UPPER_START * units[i]), upper[i]);
      }
    }
  EACH_PRODUCT
  {
    COUNT_EACH (MULTIPLY (low[i], SPLAT (1 / units[i])), lower[i]);
  }
  if (fetch != NULL)
    fetch->next = MIN (next, fetch->end);
}

#ifndef MULTIPLY_FIXED
/* The same, whose sums need no second part. */
static inline G_ALWAYS_INLINE void
multiply_tail_columns (const double *left,
                       const double *right,
                       guint products,
                       gsize n_rows,
                       gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES])
{
  VECTOR sum[APR_SLICE_TILE];
  gsize row;
  gsize i;

  EACH_PRODUCT
  {
    sum[i] = SPLAT (0.0);
  }
  for (row = 0; row < n_rows; row += LANES)
    EACH_PRODUCT
    {
      sum[i] = FUSED_ADD (COLUMN (left, i / APR_SLICE_PANEL), COLUMN (right, i % APR_SLICE_PANEL), sum[i]);
    }
  EACH_PRODUCT
  {
    COUNT_EACH (sum[i], lanes[i]);
  }
}
#endif
#undef EACH_PRODUCT

#define MULTIPLY_WHOLE(products) \
 multiply_whole_columns (left, right, units, products, n_rows, NULL, upper, lower)
/* The same, and fetches: one call of a few is enough. */
#define MULTIPLY_FIRST(products) \
 multiply_whole_columns (left, right, units, products, n_rows, fetch, upper, lower)
#define MULTIPLY_TAILS(products) multiply_tail_columns (left, right, products, n_rows, lanes)

/* As many products at a time as there are registers for their sums and what is multiplied. Where the panels are the
 * same one, those right of the diagonal are left out. */
static void
multiply_whole (const double *left,
                const double *right,
                const double *left_units,
                const double *right_units,
                gsize n_rows,
                gboolean triangle,
                gsize first,
                AprSliceFetch *fetch,
                gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES])
{
  double units[APR_SLICE_TILE];
  gsize i;

  for (i = 0; i < APR_SLICE_TILE; i++)
    units[i] = left_units[i / APR_SLICE_PANEL] * right_units[i % APR_SLICE_PANEL];
#if LANES == 8
  if (triangle && first == 0)
    {
      MULTIPLY_FIRST (0xf731);
    }
  else if (triangle)
    {
      MULTIPLY_FIRST (0xe620);
    }
  else if (first == 0)
    {
      MULTIPLY_FIRST (0x00ff);
      MULTIPLY_WHOLE (0xff00);
    }
  else
    {
      MULTIPLY_FIRST (0x00ee);
      MULTIPLY_WHOLE (0xee00);
    }
#else
  if (triangle && first == 0)
    {
      MULTIPLY_FIRST (0x0331);
      MULTIPLY_WHOLE (0xf400);
    }
  else if (triangle)
    {
      MULTIPLY_FIRST (0x0620);
      MULTIPLY_WHOLE (0xe000);
    }
  else if (first == 0)
    {
      MULTIPLY_FIRST (0x0033);
      MULTIPLY_WHOLE (0x3300);
      MULTIPLY_WHOLE (0xcc00);
      MULTIPLY_WHOLE (0x00cc);
    }
  else
    {
      MULTIPLY_FIRST (0x0066);
      MULTIPLY_WHOLE (0x6600);
      MULTIPLY_WHOLE (0x8888);
    }
#endif
}

#define ROUND(value) SUBTRACT (ADD (value, rounder), rounder)

/* A product is the sum of a rounded one and of its error, which is at most half of the last bit of that. So the head of
 * the rounded one is that of the sum, unless the rest is a tie: then the error decides, and the head may be one off.
 * The carry mends that, as the middle would be too large. What is left of the rounded product after the head and the
 * middle is exact. */
static guint
cut_weighted (
  const double *column, const double *weights, gsize n_rows, double factor, double *parts, gsize distance)
{
  const VECTOR rounder = SPLAT (ROUNDER);
  const VECTOR factors = SPLAT (factor);
  const VECTOR finer = SPLAT (ldexp (factor, APR_SLICE_WEIGHTED_BITS));
  const VECTOR next = SPLAT (ldexp (1.0, APR_SLICE_WEIGHTED_BITS));
  const VECTOR back = SPLAT (ldexp (1.0, -APR_SLICE_WEIGHTED_BITS));
  VECTOR any_head = SPLAT (0.0);
  VECTOR any_middle = SPLAT (0.0);
  VECTOR any_rest = SPLAT (0.0);
  VECTOR max_tails = SPLAT (0.0);
  double max_tail;
  gsize row;

  for (row = 0; row < n_rows; row += LANES)
    {
      VECTOR value = LOAD (column + row);
      VECTOR weight = LOAD (weights + row);
      VECTOR product = MULTIPLY (value, weight);
      VECTOR error = MULTIPLY (FUSED_SUBTRACT (value, weight, product), finer);
      VECTOR scaled = MULTIPLY (product, factors);
      VECTOR head = ROUND (scaled);
      VECTOR rest = MULTIPLY (SUBTRACT (scaled, head), next);
      VECTOR carry = ROUND (MULTIPLY (ADD (rest, error), back));
      VECTOR middle;
      VECTOR coarse;
      VECTOR fine;
      VECTOR tail;
      VECTOR grown;
      VECTOR lost;

      head = ADD (head, carry);
      rest = SUBTRACT (rest, MULTIPLY (carry, next));
      middle = ROUND (ADD (rest, error));
      coarse = MULTIPLY (SUBTRACT (rest, middle), next);
      fine = MULTIPLY (error, next);
      tail = ADD (coarse, fine);
      /* What that addition loses by rounding, by D. E. Knuth. */
      grown = SUBTRACT (tail, coarse);
      lost = ADD (SUBTRACT (coarse, SUBTRACT (tail, grown)), SUBTRACT (fine, grown));
      any_rest = EITHER (EITHER (SUBTRACT (tail, ROUND (tail)), lost), any_rest);
      any_head = EITHER (head, any_head);
      any_middle = EITHER (middle, any_middle);
      max_tails = GREATER (MAGNITUDE (tail), max_tails);
      STORE (parts + APR_SLICE_WEIGHTED_HEAD * distance + row, head);
      STORE (parts + APR_SLICE_WEIGHTED_MIDDLE * distance + row, middle);
      STORE (parts + APR_SLICE_WEIGHTED_TAIL * distance + row, tail);
    }

  max_tail = find_max_lane (max_tails);
  if (ANY (any_rest) || max_tail > APR_SLICE_WHOLE_LIMIT)
    return APR_SLICE_OUTSIDE;

  return max_tail > 0 ? 3 : ANY (any_middle) ? 2 : ANY (any_head) ? 1 : 0;
}
#undef ROUND

#ifndef MULTIPLY_FIXED
/* Of whole numbers that are at most 2^53. */
static inline gint64
add_whole_lanes (VECTOR values)
{
  gint64 lanes[LANES] = { 0 };
  guint64 sum = 0;
  gsize i;

  COUNT_EACH (values, lanes);
  for (i = 0; i < LANES; i++)
    sum += (guint64) lanes[i];

  return (gint64) sum;
}

static void
multiply_tails (const double *left,
                const double *right,
                gsize n_rows,
                gsize first,
                gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES])
{
  if (left == right && first == 0)
    {
      MULTIPLY_TAILS (0x0331);
      MULTIPLY_TAILS (0xf400);
    }
  else if (left == right)
    MULTIPLY_TAILS (0xe620);
  else if (first == 0)
    {
      MULTIPLY_TAILS (0x00ff);
      MULTIPLY_TAILS (0xff00);
    }
  else
    {
      MULTIPLY_TAILS (0x00ee);
      MULTIPLY_TAILS (0xee00);
    }
}

static guint
cut_in_two (const double *column, gsize n_rows, double factor, double *parts, gsize distance, gint64 sums[2])
{
  VECTOR heads = SPLAT (0.0);
  VECTOR tails = SPLAT (0.0);
  const VECTOR factors = SPLAT (factor);
  const VECTOR finer = SPLAT (factor * 0x1p24);
  const VECTOR rounder = SPLAT (ROUNDER);
  const VECTOR next = SPLAT (0x1p24);
  VECTOR max_lanes = SPLAT (0.0);
  VECTOR any_rest = SPLAT (0.0);
  double max;
  gsize row;

  for (row = 0; row < n_rows; row += LANES)
    {
      /* Powers of two: the only operations that round are those with the rounder. */
      VECTOR value = LOAD_DOUBLES (column + row);
      VECTOR head = SUBTRACT (MULTIPLY_ADD (value, factors, rounder), rounder);
      VECTOR rest = MULTIPLY_SUBTRACT (value, finer, MULTIPLY (head, next));
      VECTOR tail = SUBTRACT (ADD (rest, rounder), rounder);

      STORE (parts + APR_SLICE_HEAD * distance + row, head);
      STORE (parts + APR_SLICE_TAIL * distance + row, tail);
      STORE (parts + APR_SLICE_BOTH * distance + row, ADD (head, tail));
      heads = ADD (head, heads);
      tails = ADD (tail, tails);
      max_lanes = GREATER (MAGNITUDE (value), max_lanes);
      any_rest = EITHER (SUBTRACT (rest, tail), any_rest);
    }
  sums[0] = add_whole_lanes (heads);
  sums[1] = add_whole_lanes (tails);
  max = find_max_lane (max_lanes);
  if (!(max * factor < APR_SLICE_WHOLE_LIMIT - 0x1p24))
    return APR_SLICE_OUTSIDE;

  return ANY (any_rest) ? 3 : max > 0 ? 2 : 0;
}
#endif
