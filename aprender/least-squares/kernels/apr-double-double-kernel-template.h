/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AprDoubleDoubleKernel, in the vectors of LANES doubles that the compiler is told it may use. The file that
 * includes this template defines KERNEL, KERNEL_NAME, LANES, ROWS (how many rows of a product in double-double stay in
 * registers), VECTORS (how many vectors beside each other in a product in double), and MULTIPLY_ADD, which has to round
 * once. */
#include "aprender/least-squares/kernels/apr-double-double-kernel-private.h"

typedef double Vector __attribute__ ((vector_size (8 * LANES)));
typedef double Place __attribute__ ((vector_size (8 * LANES), aligned (8)));
typedef float Floats __attribute__ ((vector_size (4 * LANES), aligned (4)));

/* Products whose low parts are summed before the sum is normalised. */
#define SPAN 8

G_STATIC_ASSERT (APR_DOUBLE_DOUBLE_PAD % LANES == 0);

/* What is accumulated in registers must not be an array for the compiler. */
#ifdef __clang__
# define UNROLL _Pragma ("unroll")
#else
# define UNROLL _Pragma ("GCC unroll 16")
#endif

static inline Vector
load (const double *from)
{
  return *(const Place *) (gconstpointer) from;
}

static inline void
store (double *to, Vector value)
{
  *(Place *) (gpointer) to = value;
}

static inline Vector
repeat (double value)
{
  return value - (Vector){ 0 };
}

/* The exact sum of two numbers that are not normalised. */
static G_ALWAYS_INLINE inline void
normalise (Vector *high, Vector *low)
{
  Vector sum = *high + *low;
  Vector part = sum - *high;

  *low = (*high - (sum - part)) + (*low - part);
  *high = sum;
}

/* @n_rows rows and LANES columns of c. */
static G_ALWAYS_INLINE inline void
subtract_tile (AprDoubleDoubles c, AprDoubleDoubles a, AprDoubleDoubles b, gsize n_rows, gsize n_inner)
{
  Vector high[ROWS];
  Vector low[ROWS];
  gsize end;
  gsize i;
  gsize k;

  UNROLL
  for (i = 0; i < n_rows; i++)
    {
      high[i] = load (c.high + i * c.stride);
      low[i] = load (c.low + i * c.stride);
    }

  for (k = 0; k < n_inner;)
    {
      for (end = MIN (k + SPAN, n_inner); k < end; k++)
        {
          const double *a_high = a.high + k * a.stride;
          const double *a_low = a.low + k * a.stride;
          Vector b_high = load (b.high + k * b.stride);
          Vector b_low = load (b.low + k * b.stride);

          UNROLL
          for (i = 0; i < n_rows; i++)
            {
              Vector factor = repeat (a_high[i]);
              Vector product = factor * b_high;
              Vector error = MULTIPLY_ADD (factor, b_high, -product);
              Vector sum = high[i] - product;
              Vector part = sum - high[i];

              error = MULTIPLY_ADD (factor, b_low, error);
              error = MULTIPLY_ADD (repeat (a_low[i]), b_high, error);
              low[i] += ((high[i] - (sum - part)) - (product + part)) - error;
              high[i] = sum;
            }
        }
      UNROLL
      for (i = 0; i < n_rows; i++)
        normalise (&high[i], &low[i]);
    }

  UNROLL
  for (i = 0; i < n_rows; i++)
    {
      store (c.high + i * c.stride, high[i]);
      store (c.low + i * c.stride, low[i]);
    }
}

static void
subtract_products (
  AprDoubleDoubles c, AprDoubleDoubles a, AprDoubleDoubles b, gsize n_rows, gsize n_columns, gsize n_inner)
{
  gsize i;
  gsize j;

  for (j = 0; j < n_columns; j += LANES)
    {
      AprDoubleDoubles columns = apr_double_doubles_at (b, 0, j);

      for (i = 0; i + ROWS <= n_rows; i += ROWS)
        subtract_tile (apr_double_doubles_at (c, i, j), apr_double_doubles_at (a, 0, i), columns, ROWS,
                       n_inner);
      for (; i < n_rows; i++)
        subtract_tile (apr_double_doubles_at (c, i, j), apr_double_doubles_at (a, 0, i), columns, 1, n_inner);
    }
}

static void
scale (AprDoubleDoubles row, AprDoubleDouble factor, gsize n_columns)
{
  Vector factor_high = repeat (factor.high);
  Vector factor_low = repeat (factor.low);
  gsize j;

  for (j = 0; j < n_columns; j += LANES)
    {
      Vector high = load (row.high + j);
      Vector product = high * factor_high;
      Vector error = MULTIPLY_ADD (high, factor_high, -product);
      Vector sum;

      error = MULTIPLY_ADD (high, factor_low, error);
      error = MULTIPLY_ADD (load (row.low + j), factor_high, error);
      sum = product + error;
      store (row.high + j, sum);
      store (row.low + j, error - (sum - product));
    }
}

/* The element of each of two vectors whose place has not the bit @step is exchanged with that of the other whose place
 * has it: a transposition in as many steps as there are bits. */
#define KEPT(step, i) ((i) & (step) ? LANES + (i) - (step) : (i))
#define MOVED(step, i) ((i) & (step) ? LANES + (i) : (i) + (step))
#if LANES == 8
# define SHUFFLE(a, b, index, s)                                                                       \
  __builtin_shufflevector (a, b, index (s, 0), index (s, 1), index (s, 2), index (s, 3), index (s, 4), \
                           index (s, 5), index (s, 6), index (s, 7))
#elif LANES == 4
# define SHUFFLE(a, b, index, s) \
  __builtin_shufflevector (a, b, index (s, 0), index (s, 1), index (s, 2), index (s, 3))
#else
# define SHUFFLE(a, b, index, s) __builtin_shufflevector (a, b, index (s, 0), index (s, 1))
#endif
#define EXCHANGE(step)                                                   \
 UNROLL                                                                  \
 for (i = 0; i < LANES; i++)                                             \
  if ((i & (step)) == 0)                                                 \
   {                                                                     \
    Vector kept = SHUFFLE (rows[i], rows[i + (step)], KEPT, step);       \
                                                                         \
    rows[i + (step)] = SHUFFLE (rows[i], rows[i + (step)], MOVED, step); \
    rows[i] = kept;                                                      \
   }

static G_ALWAYS_INLINE inline void
transpose (Vector rows[LANES])
{
  gsize i;

  EXCHANGE (1)
#if LANES > 2
  EXCHANGE (2)
#endif
#if LANES > 4
  EXCHANGE (4)
#endif
}

static G_ALWAYS_INLINE inline Vector
load_values (AprPlainRows x, gsize offset, gboolean wide)
{
  if (wide)
    return load (x.doubles + offset);

  return __builtin_convertvector(*(const Floats *) (gconstpointer) (x.floats + offset), Vector);
}

static G_ALWAYS_INLINE inline double
load_value (AprPlainRows x, gsize offset, gboolean wide)
{
  return wide ? x.doubles[offset] : (double) x.floats[offset];
}

/* What is known of the columns, and what is made of those of LANES rows. */
typedef struct
{
  const AprDoubleDouble *centres;
  const double *coefficients;
  double *u;
  Vector products;
} Centring;

static G_ALWAYS_INLINE inline void
centre_column (Centring *self, Vector values, gsize column, gboolean with_products)
{
  Vector centred = (values - self->centres[column].high) - self->centres[column].low;

  store (self->u + column * APR_DOUBLE_DOUBLE_COLUMNS, centred);
  if (with_products) /* GCOVR_EXCL_BR_LINE: a constant */
    self->products += values * repeat (self->coefficients[column]);
}

/* Where this is inlined, these are constants: @wide, whether x has doubles, and @with_products. */
static G_ALWAYS_INLINE inline void
centre_some_rows (Centring *self, AprPlainRows x, gsize start, gsize n, gboolean wide, gboolean with_products)
{
  gsize column;
  gsize i;

  for (column = 0; column + LANES <= n; column += LANES)
    {
      Vector rows[LANES];

      UNROLL
      for (i = 0; i < LANES; i++)
        rows[i] = load_values (x, start + i * x.stride + column, wide); /* GCOVR_EXCL_BR_LINE: a constant */
      transpose (rows);
      UNROLL
      for (i = 0; i < LANES; i++)
        centre_column (self, rows[i], column + i, with_products);
    }
  for (; column < n; column++)
    {
      double values[LANES];

      for (i = 0; i < LANES; i++)
        values[i] = load_value (x, start + i * x.stride + column, wide); /* GCOVR_EXCL_BR_LINE: a constant */
      centre_column (self, load (values), column, with_products);
    }
}

static void
centre_rows (double *u,
             double *products,
             AprPlainRows x,
             const AprDoubleDouble *centres,
             const double *coefficients,
             gsize n)
{
  gsize row;

  for (row = 0; row < APR_DOUBLE_DOUBLE_COLUMNS; row += LANES)
    {
      Centring centring = { centres, coefficients, u + row, repeat (0) };

      if (x.doubles != NULL && coefficients != NULL)
        centre_some_rows (&centring, x, row * x.stride, n, TRUE, TRUE);
      else if (x.doubles != NULL)
        centre_some_rows (&centring, x, row * x.stride, n, TRUE, FALSE);
      else if (coefficients != NULL)
        centre_some_rows (&centring, x, row * x.stride, n, FALSE, TRUE);
      else
        centre_some_rows (&centring, x, row * x.stride, n, FALSE, FALSE);
      if (coefficients != NULL)
        store (products + row, centring.products);
    }
}

/* The sums of a row of the root are begun anew after so many products, so that rounding errors stay few. */
#define SQUARES_SPAN APR_DOUBLE_DOUBLE_SQUARES_SPAN
#define PANEL APR_DOUBLE_DOUBLE_PANEL

/* Memory that is fetched bit by bit: many lines at once would keep the root waiting. */
typedef struct
{
  const guint8 *next;
  gsize step;
} Fetch;

/* Adds to @sums the products of column @k of a panel of the root with row @k of @u, but for the zeros before row
 * @first, which is a constant where this is inlined. */
static G_ALWAYS_INLINE inline void
add_column (
  Vector sums[PANEL][VECTORS], const double *root, const double *u, gsize k, gsize first, Fetch *fetch)
{
  Vector right[VECTORS];
  gsize i;
  gsize v;

  __builtin_prefetch (fetch->next);
  fetch->next += fetch->step;
  UNROLL
  for (v = 0; v < VECTORS; v++)
    right[v] = load (u + k * APR_DOUBLE_DOUBLE_COLUMNS + v * LANES);
  UNROLL
  for (i = 0; i < PANEL; i++)
    UNROLL
  for (v = 0; v < VECTORS; v++)
    if (i >= first) /* GCOVR_EXCL_BR_LINE: a constant */
      sums[i][v] = MULTIPLY_ADD (repeat (root[k * PANEL + i]), right[v], sums[i][v]);
}

/* Adds the squares of the products of a panel of the root, which has @n columns. */
static G_ALWAYS_INLINE inline void
add_squares_of_panel (double *squares, const double *root, const double *u, gsize n, Fetch *fetch_all)
{
  Vector totals[PANEL][VECTORS];
  Vector sums[PANEL][VECTORS];
  Fetch fetch = *fetch_all;
  gsize span = 0;
  gsize i;
  gsize k;
  gsize v;

  do
    {
      gsize end = MIN (span + SQUARES_SPAN, n);
      /* The last columns are a triangle, where they are in one span. */
      gboolean has_triangle = end == n && end >= span + PANEL;
      gsize end_of_whole = has_triangle ? end - PANEL : end;

      UNROLL
      for (i = 0; i < PANEL; i++)
        UNROLL
      for (v = 0; v < VECTORS; v++)
        sums[i][v] = repeat (0);
      for (k = span; k < end_of_whole; k++)
        add_column (sums, root, u, k, 0, &fetch);
      if (has_triangle)
        {
          UNROLL
          for (i = 0; i < PANEL; i++)
            add_column (sums, root, u, k + i, i, &fetch);
        }
      UNROLL
      for (i = 0; i < PANEL; i++)
        UNROLL
      for (v = 0; v < VECTORS; v++)
        totals[i][v] = span == 0 ? sums[i][v] : totals[i][v] + sums[i][v];
      span += SQUARES_SPAN;
    }
  while (span < n);
  *fetch_all = fetch;

  UNROLL
  for (v = 0; v < VECTORS; v++)
    {
      Vector square = load (squares + v * LANES);

      UNROLL
      for (i = 0; i < PANEL; i++)
        square += totals[i][v] * totals[i][v];
      store (squares + v * LANES, square);
    }
}

static void
add_product_squares (double *squares,
                     const double *root,
                     const double *u,
                     gsize n,
                     gsize n_tiles,
                     const guint8 *next,
                     const guint8 *next_end)
{
  gsize end = n == 0 ? 0 : (n - 1) % PANEL + 1;
  gsize n_panels = (n + PANEL - 1) / PANEL;
  gsize n_columns = n_panels * end + n_panels * (n_panels - 1) / 2 * PANEL;
  gsize n_steps = n_tiles * (APR_DOUBLE_DOUBLE_COLUMNS / VECTORS / LANES) * n_columns;
  Fetch fetch = { next, (gsize) (next_end - next) / (n_steps + 1) };
  gsize j;

  for (; end > 0 && end <= n; root += end * PANEL, end += PANEL)
    {
      for (j = 0; j < n_tiles * APR_DOUBLE_DOUBLE_COLUMNS; j += VECTORS * LANES)
        add_squares_of_panel (squares + j, root,
                              u + j / APR_DOUBLE_DOUBLE_COLUMNS * n * APR_DOUBLE_DOUBLE_COLUMNS +
                                j % APR_DOUBLE_DOUBLE_COLUMNS,
                              end, &fetch);
    }
}

const AprDoubleDoubleKernel KERNEL = { KERNEL_NAME, subtract_products, scale, centre_rows,
                                       add_product_squares };
