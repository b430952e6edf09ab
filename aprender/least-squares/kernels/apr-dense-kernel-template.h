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
  if (FUSED_VECTORS * LANES > APR_DENSE_STEP)
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

/* What the rounded @product of @a and @b lacks, exactly. */
static inline Vector
find_product_error (Vector a, Vector b, Vector product)
{
#ifdef FUSED
  return -SUBTRACT_PRODUCT (product, a, b);
#else
  /* T. J. Dekker, "A floating-point technique for extending the available precision", 1971: halves of 26 bits. */
  Vector a_scaled = a * 0x8000001p0;
  Vector b_scaled = b * 0x8000001p0;
  Vector a_high = a_scaled - (a_scaled - a);
  Vector b_high = b_scaled - (b_scaled - b);
  Vector a_low = a - a_high;
  Vector b_low = b - b_high;

  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
#endif
}

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
ADD_EXACTLY (Pair)
ADD_EXACTLY (Vector)

/* Adds up partial sums and what they lack, in one order whatever LANES is: each half to the other, and so on. */
static inline double
add_up_twice (Vector highs[PARTS], Vector lows[PARTS], double *low)
{
  double high_lanes[LANES] __attribute__ ((aligned (64)));
  double low_lanes[LANES] __attribute__ ((aligned (64)));
  const Pair *high_pairs = (const Pair *) (gconstpointer) high_lanes;
  const Pair *low_pairs = (const Pair *) (gconstpointer) low_lanes;
  Pair high_sums[LANES / 2];
  Pair low_sums[LANES / 2];
  double sum;
  double rest;
  double rounded;
  gsize step;
  gsize k;

  EACH_HALF (step, PARTS)
    EACH_STEP (k, step)
      lows[k] = (lows[k] + lows[k + step]) + add_Vector (&highs[k], highs[k + step]);
  store (high_lanes, highs[0]);
  store (low_lanes, lows[0]);
  EACH_STEP (k, LANES / 2)
    {
      high_sums[k] = high_pairs[k];
      low_sums[k] = low_pairs[k];
    }
  EACH_HALF (step, LANES / 2)
    EACH_STEP (k, step)
      low_sums[k] = (low_sums[k] + low_sums[k + step]) + add_Pair (&high_sums[k], high_sums[k + step]);

  sum = high_sums[0][0];
  rest = add_double (&sum, high_sums[0][1]);
  rest = (low_sums[0][0] + low_sums[0][1]) + rest;
  rounded = sum;
  *low = add_double (&rounded, rest);

  return rounded;
}

static double
add_products_twice (
  const double *x, gsize n_rows, gsize n, const double *u, double *products, double *high, double *low)
{
  double *product_high = products;
  double *product_low = products + n_rows;
  const gsize n_vectors = VECTORS;
  double squares = 0;
  gsize i;
  gsize j;
  gsize k;
  gsize v;

  for (i = 0; i < n_rows; i++)
    {
      const double *row = x + i * n;
      Vector highs[PARTS];
      Vector lows[PARTS];

      EACH_PART (k)
        highs[k] = lows[k] = (Vector){ 0 };
      for (j = 0; j < n; j += APR_DENSE_PAD)
        EACH_PART (k)
          {
            Vector value = load (row + j + k * LANES);
            Vector factor = load (u + j + k * LANES);
            Vector product = value * factor;
            Vector error = find_product_error (value, factor, product);

            lows[k] += add_Vector (&highs[k], product) + error;
          }
      product_high[i] = add_up_twice (highs, lows, &product_low[i]);
      squares += product_high[i] * product_high[i];
    }

  for (j = 0; j < n; j += WIDTH)
    {
      Vector highs[VECTORS];
      Vector lows[VECTORS];

      EACH_VECTOR (v)
        {
          highs[v] = load (high + j + v * LANES);
          lows[v] = load (low + j + v * LANES);
        }
      for (i = 0; i < n_rows; i++)
        {
          Vector factor = product_high[i] - (Vector){ 0 };

          EACH_VECTOR (v)
            {
              Vector value = load (x + i * n + j + v * LANES);
              Vector product = value * factor;
              Vector error = find_product_error (value, factor, product);

              lows[v] += (add_Vector (&highs[v], product) + error) + value * product_low[i];
            }
        }
      EACH_VECTOR (v)
        {
          store (high + j + v * LANES, highs[v]);
          store (low + j + v * LANES, lows[v]);
        }
    }

  return squares;
}

const AprDenseKernel KERNEL = {
  KERNEL_NAME, subtract_products, subtract_products_fused, subtract_scaled, dot, dot_in_parts, find_max,
  widen,       add_products_twice
};
