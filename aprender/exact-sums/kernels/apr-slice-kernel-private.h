/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sums of products without rounding, in plain floating-point operations on whole numbers.
 *
 * A block of rows is transposed to columns. A column, divided by a power of two 2^e that is above all its values, is
 * cut into slices, each a whole number times a power of two that all rows share:
 *
 *   x = 2^e (s0 2^-23 + s1 2^-47 + s2 2^-71 + rest),  |s0|, |s1|, |s2| <= 2^23
 *
 * as x 2^(23 - e) is below 2^23, and what rounding to a whole number leaves is at most 1/2. So a product of two
 * slices is at most 2^46, and one of two sums of two slices at most 2^48; 32 of them are at most 2^53, and every
 * whole number up to there is a double: none of the additions of APR_SLICE_STEPS products rounds, in whatever order
 * they are done, fused with the multiplication or not. Then the sum goes, as an integer, to those of its matrix
 * entry.
 *
 * Data of 24 bits have no s2 as long as the values of a column do not differ by more than 2^23, small whole numbers
 * have s0 alone, and normal deviates of 53 bits a rest in one of 50,000 values. A rest is put into a column of its
 * own, with an e of its own, a remainder column.
 *
 * Nine products of three slices with three are six by A. A. Karatsuba's identity,
 * a b' + b a' = (a + b) (a' + b') - a a' - b b'; four of two slices with two are three.
 *
 * Columns of few enough bits need no slices. Where each is 2^(e - 47) times whole numbers below 2^47, a fused
 * multiplication adds a product to an upper sum, which is kept to multiples of 2^48 (APR_SLICE_WHOLE_UPPER) by what it
 * begins with, and another one finds what rounding took from the product: at most 2^47, and exact. After
 * APR_SLICE_STEPS products the upper sum is below 2^51 2^48; the lower one is at most 2^53 after twice as many. That is
 * two multiplications and two additions for a product, which go to different units of some processors, in place of
 * three multiplications, and nothing is cut.
 *
 * Where multiplications are fused, columns of more bits are cut in two,
 *
 *   x = 2^e (h 2^-47 + t 2^-71 + rest),  |h|, |h + t| < 2^47,  |t| <= 2^23
 *
 * and three products, h h', t t' and (h + t) (h' + t'), of which the first and the last are multiplied whole, take five
 * multiplications and four additions in place of six multiplications.
 *
 * In a weighted product w x x', the factor w x has the bits of the weight, too. Where the columns themselves have few
 * enough bits, it is cut into three parts,
 *
 *   w x = 2^e (h 2^-47 + m 2^-95 + t 2^-143),  |h|, |m|, |t| <= 2^47
 *
 * and each part is multiplied by x' whole.
 *
 * Where integers of 64 bits can be multiplied as well, columns are not cut: they are multiplied as numbers of fixed
 * point, x = 2^e 2^-47 v, where v is below 2^47 and a multiple of 2^-24. A fused multiplication adds a product to an
 * upper sum, of multiples of 2^48, as above; another one finds what that left, rounded, which is added to a lower sum,
 * of multiples of 2. The first of these roundings takes at most 2^-7 from a row, as the rest is at most 2^47, and the
 * second at most 1: less than 2^15 in all rows, and a multiple of 2^-48. So what they took is known as soon as it is
 * known modulo 2^16, and that takes one multiplication of the integers 2^24 v, of which only the last 64 bits count: it
 * is the sum of their products modulo 2^64, less 2^48 times the lower sum. The upper sum is a multiple of 2^96 there,
 * and drops out. Three multiplications and three additions do for what took five and four.
 *
 * Where one instruction multiplies integers and adds the last 52 bits of the product, which saves an addition and most
 * of what the multiplication takes, 2^48 times what was taken is known modulo 2^52. Then the lower sum is one of whole
 * numbers, whose rounding takes at most 1/2 from a row, and is counted after 15 rows at most: these lose less than 2^3,
 * and what is known modulo 2^4 is enough.
 *
 * Cutting numbers so that products and their sums are exact is the idea of K. Ozaki, T. Ogita, S. Oishi and S. M. Rump,
 * "Error-free transformations of matrix multiplication by using fast routines of matrix multiplication", 2012; sums
 * whose bits do not depend on the order, that of J. Demmel and H. D. Nguyen, "Parallel reproducible summation", 2015.
 */
#define APR_SLICE_ROWS 256      /* of a block, at most */
#define APR_SLICE_MANY_ROWS 240 /* where there are many blocks: two times 15 rows in each lane */
#define APR_SLICE_STEPS 32
#define APR_SLICE_PLAIN_STEPS 128

/* The distance between columns in doubles: not a power of two, whose lines would share few sets of the cache. */
#define APR_SLICE_STRIDE (APR_SLICE_ROWS + 8)

/* Columns are multiplied four by four. */
#define APR_SLICE_PANEL 4
#define APR_SLICE_TILE (APR_SLICE_PANEL * APR_SLICE_PANEL)

/* Of the widest vectors. */
#define APR_SLICE_LANES 8

/* The slices, and the sums of two of them. */
enum
{
  APR_SLICE_S0,
  APR_SLICE_S1,
  APR_SLICE_S2,
  APR_SLICE_S01,
  APR_SLICE_S02,
  APR_SLICE_S12,
  APR_SLICE_N_SLICES,
};

/* In the same places, what a column is that is cut in two: h, t and h + t. One of fixed point is a head, v, and in
 * the next place the integers. */
enum
{
  APR_SLICE_HEAD,
  APR_SLICE_TAIL,
  APR_SLICE_BOTH,
  APR_SLICE_FIXED, /* of products: of columns of fixed point */
  APR_SLICE_WHOLE, /* of products: of columns that are not cut */
};

/* In the same places, the parts of a weighted column: h, m and t. */
enum
{
  APR_SLICE_WEIGHTED_HEAD,
  APR_SLICE_WEIGHTED_MIDDLE,
  APR_SLICE_WEIGHTED_TAIL,
  APR_SLICE_WEIGHTED_N_PARTS,
};

/* Sum k of a tile counts products in units of 2^(APR_SLICE_FIRST_UNIT - k APR_SLICE_BITS), times the columns' 2^e. */
#define APR_SLICE_PARTS 5
#define APR_SLICE_TOP 23
#define APR_SLICE_BITS 24
#define APR_SLICE_FIRST_UNIT (-2 * APR_SLICE_TOP)

/* What cutting returns for a column that does not suit its exponent. */
#define APR_SLICE_OUTSIDE 255

/* Columns that are multiplied whole: the unit of a column is 2^(e - APR_SLICE_WHOLE_BITS), upper sums are those of part
 * 0, and lower sums of part 2. */
#define APR_SLICE_WHOLE_BITS 47
#define APR_SLICE_WEIGHTED_BITS 48 /* from a part of a weighted column to the next */
#define APR_SLICE_WHOLE_LIMIT 0x1p47
#define APR_SLICE_WHOLE_UPPER 0x1p48

/* The same for sums in double, which are below 2^8. */
#define APR_SLICE_DOUBLE_PARTS 2
#define APR_SLICE_DOUBLE_BITS 50
#define APR_SLICE_DOUBLE_FIRST_UNIT (-40)

/* What is known of a column that was made of floats: the largest magnitude, which may be an infinity or a NaN, the
 * smallest one that is not 0, or an infinity, and the sum, which may be rounded. Of other columns, @max is infinite. */
typedef struct
{
  double max;
  double min;
  double sum;
} AprColumnRange;

/* Makes columns, @stride apart, and finds the ranges of some where @ranges is not %NULL. @n_rows is a multiple of 8. */
typedef void (*AprTransposeFunc) (
  gconstpointer rows, gsize n_rows, gsize n_columns, gsize stride, double *columns, AprColumnRange *ranges);

/* A line of the cache. */
#define APR_SLICE_LINE 64

/* What is read later, from @next to before @end. It is fetched line by line while columns are multiplied: many lines at
 * once would wait for the memory. */
typedef struct
{
  const guint8 *next;
  const guint8 *end;
} AprSliceFetch;

/* The distance between the places where the next @n lines are fetched. It is less than a line where fewer lines are
 * left, so that the last place is near the end, and loops need not compare. Fetching a line twice, or one behind the
 * end, does no harm. */
static inline gsize
apr_slice_fetch_step (const AprSliceFetch *fetch, gsize n)
{
  return MIN ((gsize) (fetch->end - fetch->next) / n + 1, APR_SLICE_LINE);
}

/* Fetches the line at @place. */
static inline void
apr_slice_fetch_line (const guint8 *place)
{
  __builtin_prefetch (place, 0, 2);
}

/* What one instruction set does. @n_rows is a multiple of 8, padded with zeros, and at most APR_SLICE_ROWS. Columns are
 * aligned to 64 bytes, except where their range is found, or they are cut or sliced: those may begin wherever a double
 * can. The columns of a panel are APR_SLICE_STRIDE apart. Every implementation gives the same numbers. */
typedef struct
{
  const char *name;

  /* Adds the products of the columns of two panels, of slices, times @signs[k], to @sums[k APR_SLICE_TILE + 4 left +
   * right], modulo 2^64; where the panels are the same one, only those of left >= right. @n_steps is
   * APR_SLICE_PLAIN_STEPS where neither is of sums of slices, else APR_SLICE_STEPS. */
  void (*multiply) (const double *left,
                    const double *right,
                    gsize n_rows,
                    gsize n_steps,
                    const gint8 signs[APR_SLICE_PARTS],
                    gint64 *sums);

  /* Adds the same products to @lanes, those of the rows r of left and right to lane r mod 8 or r mod 4 of entry 4
   * left + right, modulo 2^64; where the panels are the same one, only those of left >= right. */
  void (*multiply_lanes) (const double *left,
                          const double *right,
                          gsize n_rows,
                          gsize n_steps,
                          gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES]);

  /* The same of columns of which sum_whole () is true, or on the left of parts that cut_weighted () made, in the
   * products of their units, powers of two: upper and lower sums. Those of left < right are left out where @triangle
   * says so, and columns of the right panel before @first, which is 0 or 1. Of what @fetch says, at least a line is
   * fetched for each 8 rows. %NULL where no multiplication is fused. */
  void (*multiply_whole) (const double *left,
                          const double *right,
                          const double left_units[APR_SLICE_PANEL],
                          const double right_units[APR_SLICE_PANEL],
                          gsize n_rows,
                          gboolean triangle,
                          gsize first,
                          AprSliceFetch *fetch,
                          gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                          gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES]);

  /* The same of columns that cut_fixed () made, whose integers are @distance behind their values: to the upper and the
   * lower sums, and in units of 2^-48 of the lower ones what these lack, at most 1.01 in each row. Where the panels are
   * the same one, those of left < right are left out. %NULL where columns are cut in two. */
  void (*multiply_fixed) (const double *left,
                          const double *right,
                          gsize distance,
                          gsize n_rows,
                          gsize first,
                          AprSliceFetch *fetch,
                          gint64 upper[APR_SLICE_TILE][APR_SLICE_LANES],
                          gint64 lower[APR_SLICE_TILE][APR_SLICE_LANES],
                          gint64 wrapped[APR_SLICE_TILE][APR_SLICE_LANES]);

  /* The same of the tails of columns that are cut in two, which have one sum. %NULL where cut_in_two () is. */
  void (*multiply_tails) (const double *left,
                          const double *right,
                          gsize n_rows,
                          gsize first,
                          gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES]);

  /* The sum of a column in units of @unit, a power of two; false where a value is not a multiple of it, or larger than
   * APR_SLICE_WHOLE_LIMIT units. One of exactly the limit may be accepted or refused. %NULL where multiply_whole ()
   * is. */
  gboolean (*sum_whole) (const double *column, gsize n_rows, double unit, gint64 *sum);

  /* Cuts a column times @factor, a power of two, in two; the three parts are @distance apart, and @sums are those of
   * the heads and of the tails. Returns 2, 3 where there is a rest, or a NaN, 0 where all is 0, or APR_SLICE_OUTSIDE
   * where h or h + t may not be below APR_SLICE_WHOLE_LIMIT. No value times @factor 2^24 may be too small for a double.
   * %NULL where multiply_whole () is, or multiply_fixed () is not. */
  guint (*cut_in_two) (
    const double *column, gsize n_rows, double factor, double *parts, gsize distance, gint64 sums[2]);

  /* The same, but that it makes h + 2^-24 t, and @distance behind it as many of the last bits of 2^24 h + t as
   * multiply_fixed () takes, at least 52. */
  guint (*cut_fixed) (
    const double *column, gsize n_rows, double factor, double *parts, gsize distance, gint64 sums[2]);

  /* Multiplies a column by the weights and by @factor, a power of two, and cuts each product v into three whole numbers
   * of at most APR_SLICE_WHOLE_LIMIT, v = h + 2^-48 m + 2^-96 t. The three parts are @distance apart. Returns how many
   * parts there are before the rest, all 0; or APR_SLICE_OUTSIDE where three do not suffice, or there is a NaN. No v
   * may be above 2^46. What rounding a product leaves must not be too small for a double. %NULL where multiply_whole ()
   * is. */
  guint (*cut_weighted) (
    const double *column, const double *weights, gsize n_rows, double factor, double *parts, gsize distance);

  /* Adds the sums of @lanes, times @signs[k], to @sums[k APR_SLICE_TILE + i], modulo 2^64. */
  void (*add_up) (gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES],
                  const gint8 signs[APR_SLICE_PARTS],
                  gint64 *sums);

  /* The same products in double, of columns below 1: of @n_left columns, one or more panels' that follow each other,
   * with those of a panel, product 4 left + right. Rows r are added in their order for each r mod 8, fused, and then
   * these eight sums, neighbour with neighbour. */
  void (*multiply_double) (
    const double *left, gsize n_left, const double *right, gsize n_rows, double *products);

  /* Adds @products, aligned to 64 bytes, times the factors, powers of two of at most 1, to the two parts of @sums;
   * false, and nothing done, where they do not fit. */
  gboolean (*collect) (const double *products, const double *left, const double *right, gint64 *sums);

  /* Of rows of doubles, and of floats; %NULL where plain C does as well. */
  AprTransposeFunc transpose_doubles;
  AprTransposeFunc transpose_floats;

  /* The largest magnitude of a column, and the smallest one that is not 0 (an infinity where all are); false where
   * there is a NaN. */
  gboolean (*find_range) (const double *column, gsize n_rows, double *max, double *min);

  /* Multiplies a column by a power of two. */
  void (*scale) (double *column, gsize n_rows, double factor);

  /* The weights times a column times a power of two, as two doubles; whether any of the second is not 0. */
  gboolean (*weigh) (
    const double *column, const double *weights, gsize n_rows, double factor, double *high, double *low);

  /* Cuts the first two slices of a column times @factor, a power of two; the slices are @distance apart. Returns how
   * many slices it has, up to 3 where there may be more, or APR_SLICE_OUTSIDE where one of the products is not below
   * 2^23. A column with a NaN has more than 2. No value times @factor 2^24 may be too small for a double. */
  guint (*slice) (const double *column, gsize n_rows, double factor, double *slices, gsize distance);

  /* Cuts all three; 4 where there is a rest, or a NaN. */
  guint (*slice_all) (const double *column, gsize n_rows, double factor, double *slices, gsize distance);
} AprSliceKernel;

extern const AprSliceKernel apr_slice_kernel_portable;
#ifdef APR_KERNELS_ARM
extern const AprSliceKernel apr_slice_kernel_neon;
#endif
#ifdef APR_KERNELS_X86
extern const AprSliceKernel apr_slice_kernel_avx2;
extern const AprSliceKernel apr_slice_kernel_avx512;
extern const AprSliceKernel apr_slice_kernel_avx512vnni;
#endif

G_END_DECLS
