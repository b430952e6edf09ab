/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sums of products without rounding, in plain floating-point additions.
 *
 * An accumulator that stays within one binade is a counter of units: adding v rounds v to a multiple of the unit, and
 * what was added, d = (A + v) - A, and the rest, v - d, are both exact. A few such accumulators one below the other
 * hold a sum with nothing lost, and the bits of each, less those of its start, are a whole number. So the columns of
 * a block are scaled by powers of two to stay below 1, and:
 *
 * - narrow, for data of 24 bits: x y is a multiple of 2^-90 where x and y are 0 or at least 2^-22. A (start 1.5 2^7, unit
 *   2^-45) takes it rounded, B (start 1.5 2^-39, unit 2^-91) the rest, of at most 2^-46.
 * - wide, for data of 53 bits, 0 or at least 2^-19: the rounded product is a multiple of 2^-90 and goes to A and B, its
 *   error, below 2^-53 and a multiple of 2^-142, to C (start 1.5 2^-47, unit 2^-99) and D (start 1.5 2^-93, unit 2^-145).
 *
 * Sixty-four products of each lane, or their rests, which are at most half a unit of the accumulator above, leave every
 * start by less than half of it, so they stay within the binade.
 *
 * The idea of accumulating in long fixed point is U. Kulisch's; of extracting by addition, that of S. Rump, T. Ogita and
 * S. Oishi, "Accurate floating-point summation", 2008; of sums whose bits do not depend on the order, that of
 * J. Demmel and H. D. Nguyen, "Parallel reproducible summation", 2015.
 */
#define APR_GRAM_PARTS 4
#define APR_GRAM_ROWS_PER_LANE 64
#define APR_GRAM_MAX_LANES 8
#define APR_GRAM_MAX_ROWS (APR_GRAM_ROWS_PER_LANE * APR_GRAM_MAX_LANES)

/* The distance between columns in doubles: not a power of two, whose lines would share few sets of the cache. */
#define APR_GRAM_STRIDE (APR_GRAM_MAX_ROWS + 8)

#define APR_GRAM_NARROW_LEAST 0x1p-22
#define APR_GRAM_WIDE_LEAST 0x1p-19

/* Sum k of a product of columns is a multiple of 2^apr_gram_unit[k] (times the columns' scales). */
static const gint apr_gram_unit[APR_GRAM_PARTS] = { -45, -91, -99, -145 };

/* What one instruction set does with a block of @n_rows rows, which is a multiple of 8, padded with zeros. All columns
 * are aligned to 64 bytes. Every implementation gives the same numbers. */
typedef struct
{
  const char *name;
  gsize n_rows; /* of a block, at the most */

  /* The sums of the products of two columns with two others; the last two parts are zero where the data are narrow. */
  void (*multiply_narrow) (const double *const left[2],
                           const double *const right[2],
                           gsize n_rows,
                           gint64 sums[4][APR_GRAM_PARTS]);
  void (*multiply_wide) (const double *const left[2],
                         const double *const right[2],
                         gsize n_rows,
                         gint64 sums[4][APR_GRAM_PARTS]);

  /* The greatest magnitude of a column, and the least one that is not 0 (an infinity where all are); false where there
   * is a NaN. */
  gboolean (*find_range) (const double *column, gsize n_rows, double *greatest, double *least);

  /* Multiplies a column by a power of two. */
  void (*scale) (double *column, gsize n_rows, double factor);
} AprGramKernel;

extern const AprGramKernel apr_gram_portable;
#ifdef APR_GRAM_X86
extern const AprGramKernel apr_gram_avx2;
extern const AprGramKernel apr_gram_avx512;
#endif

/* Those that this processor can run, the fastest first, NULL-terminated. */
const AprGramKernel *const *apr_gram_kernels (void);

G_END_DECLS
