/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AprDenseKernel over vectors of LANES doubles. The file that includes this template defines KERNEL, KERNEL_NAME,
 * LANES, ROWS (how many rows of a tile stay in registers), SUBTRACT_PRODUCT (c, a, b), which is c - a b, and FUSED
 * where that rounds once. Some define WIDEN, which loads floats as doubles, where compilers take several instructions
 * for that, and FUSED_VECTORS, where there are registers for more than VECTORS. It is compiled for the instruction set.
 */
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

typedef double Vector __attribute__ ((vector_size (8 * LANES)));
typedef double Place __attribute__ ((vector_size (8 * LANES), aligned (8)));

#define VECTORS 2
#define WIDTH (VECTORS * LANES)

/* As many where multiply-adds are fused: a product that is not rounded needs no register of its own, which leaves room
 * for more sums. */
#ifndef FUSED_VECTORS
# define FUSED_VECTORS VECTORS
#endif

/* No row and no vector of a tile is left over. */
#if ROWS > LANES
# define FUSED_STEP ROWS
#else
# define FUSED_STEP LANES
#endif

/* A dot product keeps APR_DENSE_PAD partial sums, whatever LANES is, and adds them up in one order. */
#define PARTS (APR_DENSE_PAD / LANES)

/* Unrolled, so that the compiler keeps arrays of vectors in registers. One that is initialised as a whole would be
 * cleared in memory. */
#ifdef __clang__
# define UNROLL _Pragma ("unroll")
#else
# define UNROLL _Pragma ("GCC unroll 16")
#endif
#define EACH_ROW(i) UNROLL for (i = 0; i < n_rows; i++)
#define EACH_VECTOR(v) UNROLL for (v = 0; v < n_vectors; v++)
#define EACH_PART(k) UNROLL for (k = 0; k < PARTS; k++)
#define EACH_STEP(k, n) UNROLL for (k = 0; k < (n); k++)
#define EACH_HALF(step, n) UNROLL for (step = (n) / 2; step > 0; step /= 2)

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

/* c -= a'b for a tile of C. With @fused, no product is rounded where there is a fused multiply-add. */
static G_ALWAYS_INLINE inline void
subtract_tile (gboolean fused,
               double *c,
               gsize c_stride,
               const double *a,
               gsize a_stride,
               const double *b,
               gsize b_stride,
               gsize n_rows,
               gsize n_vectors,
               gsize n_inner)
{
  Vector sums[ROWS][FUSED_VECTORS];
  gsize i;
  gsize k;
  gsize v;

  EACH_ROW (i)
    EACH_VECTOR (v)
      sums[i][v] = load (c + i * c_stride + v * LANES);

  for (k = 0; k < n_inner; k++)
    {
      Vector right[FUSED_VECTORS];

      EACH_VECTOR (v)
        right[v] = load (b + k * b_stride + v * LANES);
      EACH_ROW (i)
        EACH_VECTOR (v)
          if (fused) /* GCOVR_EXCL_BR_LINE: a constant, where it is inlined */
            sums[i][v] = SUBTRACT_PRODUCT (sums[i][v], a[k * a_stride + i] - (Vector){ 0 }, right[v]);
          else
            sums[i][v] -= a[k * a_stride + i] * right[v];
    }

  EACH_ROW (i)
    EACH_VECTOR (v)
      store (c + i * c_stride + v * LANES, sums[i][v]);
}

/* The same for as many columns of tiles as there are from @first on, @n_vectors wide each; returns where they end. */
static G_ALWAYS_INLINE inline gsize
subtract_tiles (gboolean fused,
                double *c,
                gsize c_stride,
                const double *a,
                gsize a_stride,
                const double *b,
                gsize b_stride,
                gsize n_rows,
                gsize first,
                gsize n_columns,
                gsize n_vectors,
                gsize n_inner)
{
  gsize i;
  gsize j;

  for (j = first; j + n_vectors * LANES <= n_columns; j += n_vectors * LANES)
    {
      for (i = 0; i + ROWS <= n_rows; i += ROWS)
        subtract_tile (fused, c + i * c_stride + j, c_stride, a + i, a_stride, b + j, b_stride, ROWS,
                       n_vectors, n_inner);
      for (; i < n_rows; i++)
        subtract_tile (fused, c + i * c_stride + j, c_stride, a + i, a_stride, b + j, b_stride, 1, n_vectors,
                       n_inner);
    }

  return j;
}

static void
subtract_products (double *c,
                   gsize c_stride,
                   const double *a,
                   gsize a_stride,
                   const double *b,
                   gsize b_stride,
                   gsize n_rows,
                   gsize n_columns,
                   gsize n_inner)
{
  gsize end =
    subtract_tiles (FALSE, c, c_stride, a, a_stride, b, b_stride, n_rows, 0, n_columns, VECTORS, n_inner);

  /* Only then is there anything left. */
  if (WIDTH > APR_DENSE_STEP)
    (void) subtract_tiles (FALSE, c, c_stride, a, a_stride, b, b_stride, n_rows, end, n_columns, 1, n_inner);
}

static void
subtract_products_fused (double *c,
                         gsize c_stride,
                         const double *a,
                         gsize a_stride,
                         const double *b,
                         gsize b_stride,
                         gsize n_rows,
                         gsize n_columns,
                         gsize n_inner)
{
  gsize end = subtract_tiles (TRUE, c, c_stride, a, a_stride, b, b_stride, n_rows, 0, n_columns,
                              FUSED_VECTORS, n_inner);

  if (FUSED_VECTORS > VECTORS)
    end =
      subtract_tiles (TRUE, c, c_stride, a, a_stride, b, b_stride, n_rows, end, n_columns, VECTORS, n_inner);
  if (FUSED_VECTORS * LANES > FUSED_STEP)
    (void) subtract_tiles (TRUE, c, c_stride, a, a_stride, b, b_stride, n_rows, end, n_columns, 1, n_inner);
}

static void
subtract_scaled (double *to, const double *from, double factor, gsize n)
{
  gsize i;

  for (i = 0; i + LANES <= n; i += LANES)
    store (to + i, load (to + i) - factor * load (from + i));
  for (; i < n; i++)
    to[i] -= factor * from[i];
}

/* For the halves of vectors: every instruction set has as many lanes. */
typedef double Pair __attribute__ ((vector_size (16)));

/* Each half to the other, and so on. */
static inline double
add_up (Vector parts[PARTS])
{
  double lanes[LANES] __attribute__ ((aligned (64)));
  const Pair *pairs = (const Pair *) (gconstpointer) lanes;
  Pair sums[LANES / 2];
  gsize step;
  gsize k;

  EACH_HALF (step, PARTS)
    EACH_STEP (k, step)
      parts[k] += parts[k + step];
  store (lanes, parts[0]);
  EACH_STEP (k, LANES / 2)
    sums[k] = pairs[k];
  EACH_HALF (step, LANES / 2)
    EACH_STEP (k, step)
      sums[k] += sums[k + step];

  return sums[0][0] + sums[0][1];
}

static double
dot (const double *a, const double *b, gsize n)
{
  Vector parts[PARTS];
  double rest = 0;
  gsize i;
  gsize k;

  EACH_PART (k)
    parts[k] = (Vector){ 0 };
  for (i = 0; i + APR_DENSE_PAD <= n; i += APR_DENSE_PAD)
    EACH_PART (k)
      parts[k] += load (a + i + k * LANES) * load (b + i + k * LANES);
  for (; i < n; i++)
    rest += a[i] * b[i];

  /* The partial sums of a short vector are still zero. */
  return n < APR_DENSE_PAD ? rest : add_up (parts) + rest;
}

static void
dot_in_parts (const double *values, gsize n, double factor, const double *const parts[4], double sums[3])
{
  const double shift = 1.5 * ((gint64) 1 << (52 - APR_DENSE_CUT_BITS));
  Vector first[PARTS];
  Vector second[PARTS];
  Vector rests[PARTS];
  gsize i;
  gsize k;

  EACH_PART (k)
    first[k] = second[k] = rests[k] = (Vector){ 0 };
  for (i = 0; i < n; i += APR_DENSE_PAD)
    EACH_PART (k)
      {
        gsize place = i + k * LANES;
        Vector value = load (values + place) * factor;
        Vector cut = value + shift - shift;
        Vector rest = value - cut;
        Vector part = load (parts[0] + place);

        first[k] += cut * part;
        second[k] += cut * load (parts[1] + place);
        rests[k] += rest * part + cut * load (parts[2] + place) + rest * load (parts[3] + place);
      }
  sums[0] = add_up (first);
  sums[1] = add_up (second);
  sums[2] = add_up (rests);
}

typedef gint64 Bits __attribute__ ((vector_size (8 * LANES)));

static double
find_max (const double *values, gsize n)
{
  Vector max = { 0 };
  double result = 0;
  gsize i;
  gsize k;

  for (i = 0; i + LANES <= n; i += LANES)
    {
      Vector value = (Vector) ((Bits) load (values + i) & G_MAXINT64);
      Bits larger = (Bits) (value > max);

      max = (Vector) (((Bits) value & larger) | ((Bits) max & ~larger));
    }
  for (k = 0; k < LANES; k++)
    result = max[k] > result ? max[k] : result;
  for (; i < n; i++)
    result = __builtin_fabs (values[i]) > result ? __builtin_fabs (values[i]) : result;

  return result;
}

#ifndef WIDEN
typedef float Floats __attribute__ ((vector_size (4 * LANES), aligned (4)));

# define WIDEN(from) __builtin_convertvector(*(const Floats *) (gconstpointer) (from), Vector)
#endif

static void
widen (double *to, const float *from, gsize n)
{
  gsize i;

  for (i = 0; i + LANES <= n; i += LANES)
    store (to + i, WIDEN (from + i));
  for (; i < n; i++)
    to[i] = (double) from[i];
}

#ifndef FUSED
/* What the rounded @product of @a and @b lacks, exactly: T. J. Dekker, "A floating-point technique for extending the
 * available precision", 1971: halves of 26 bits. */
static inline Vector
find_product_error (Vector a, Vector b, Vector product)
{
  Vector a_scaled = a * 0x8000001p0;
  Vector b_scaled = b * 0x8000001p0;
  Vector a_high = a_scaled - (a_scaled - a);
  Vector b_high = b_scaled - (b_scaled - b);
  Vector a_low = a - a_high;
  Vector b_low = b - b_high;

  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}
#endif

/* Adds @value to @sum; returns what rounding took away, exactly. */
#define ADD_EXACTLY(Type)                              \
 static inline Type add_##Type (Type *sum, Type value) \
 {                                                     \
  Type before = *sum;                                  \
  Type part;                                           \
                                                       \
  *sum = before + value;                               \
  part = *sum - before;                                \
                                                       \
  return (before - (*sum - part)) + (value - part);    \
 }

ADD_EXACTLY (double)
ADD_EXACTLY (Vector)

/* Subtracts a product from @sum; returns what rounding took away, which is added to the sum to get the difference
 * itself. @sum keeps its exponent: it changes by a multiple of its last bit, which is exact, and what it loses of the
 * product is known without a rounding but that of what is returned. */
static inline Vector
subtract_twice (Vector *sum, Vector a, Vector b)
{
  Vector before = *sum;
#ifdef FUSED
  *sum = SUBTRACT_PRODUCT (before, a, b);

  return SUBTRACT_PRODUCT (before - *sum, a, b);
#else
  Vector product = a * b;
  Vector error = find_product_error (a, b, product);

  *sum = before - product;

  return ((before - *sum) - product) - error;
#endif
}

/* What a sum begins with, so that it keeps its exponent while what is added to it stays below @sizes, and 2^-10 of that
 * for roundings: where 2^e is the power of two next below, 6 2^e is in the middle of what has that exponent, from 4 2^e
 * to 8 2^e. */
static inline Vector
find_starts (Vector sizes)
{
  const gint64 exponent = (gint64) 0x7ff << 52;

  return (Vector) ((Bits) (sizes * (1 + 0x1p-10)) & exponent) * 6;
}

/* Columns that are added to at a time: as many vectors as hide how long an addition takes. */
#define TWICE_VECTORS (PARTS < 4 ? PARTS : 4)

static double
add_products_twice (const double *x,
                    gsize n_rows,
                    gsize n,
                    const double *u,
                    const double *sizes,
                    const double *norms,
                    double *products,
                    double *high,
                    double *low)
{
  double *product_high = products;
  double *product_low = products + n_rows;
  double squares = 0;
  double norm;
  gsize i;
  gsize j;
  gsize k;
  gsize v;

  for (i = 0; i < n_rows; i++)
    {
      const double *row = x + i * n;
      const Vector start = find_starts (sizes[i] - (Vector){ 0 });
      Vector highs[PARTS];
      Vector lows[PARTS];
      double rest;

      EACH_PART (k)
        {
          highs[k] = start;
          lows[k] = (Vector){ 0 };
        }
      for (j = 0; j < n; j += APR_DENSE_PAD)
        EACH_PART (k)
          lows[k] += subtract_twice (&highs[k], load (row + j + k * LANES), load (u + j + k * LANES));

      /* All of these are multiples of one unit, and so are their sums. */
      EACH_PART (k)
        highs[k] = start - highs[k];
      product_high[i] = add_up (highs);
      rest = -add_up (lows);
      product_low[i] = add_double (&product_high[i], rest);
      squares += product_high[i] * product_high[i];
    }

  /* Above 0, for starts that are numbers. */
  norm = __builtin_sqrt (squares) + 0x1p-400;
  for (j = 0; j < n; j += TWICE_VECTORS * LANES)
    {
      Vector starts[TWICE_VECTORS];
      Vector highs[TWICE_VECTORS];
      Vector lows[TWICE_VECTORS];

      EACH_STEP (v, TWICE_VECTORS)
        {
          starts[v] = find_starts (load (norms + j + v * LANES) * norm);
          highs[v] = starts[v];
          lows[v] = (Vector){ 0 };
        }
      for (i = 0; i < n_rows; i++)
        {
          Vector factor = product_high[i] - (Vector){ 0 };
          Vector rest = product_low[i] - (Vector){ 0 };

          EACH_STEP (v, TWICE_VECTORS)
            {
              Vector value = load (x + i * n + j + v * LANES);

              lows[v] += SUBTRACT_PRODUCT (subtract_twice (&highs[v], value, factor), value, rest);
            }
        }
      EACH_STEP (v, TWICE_VECTORS)
        {
          Vector sum = load (high + j + v * LANES);
          Vector lost = add_Vector (&sum, starts[v] - highs[v]);

          store (high + j + v * LANES, sum);
          store (low + j + v * LANES, load (low + j + v * LANES) + (lost - lows[v]));
        }
    }

  return squares;
}

const AprDenseKernel KERNEL = {
  .name = KERNEL_NAME,
  .subtract_products = subtract_products,
  .subtract_products_fused = subtract_products_fused,
  .fused_step = FUSED_STEP,
  .subtract_scaled = subtract_scaled,
  .dot = dot,
  .dot_in_parts = dot_in_parts,
  .find_max = find_max,
  .widen = widen,
  .add_products_twice = add_products_twice,
};
