/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels of vectors of 512 bits. Whoever includes this defines:
 *
 *   KERNEL             the structure that this file makes
 *   KERNEL_NAME        its name
 *   MULTIPLY_ADD_BITS  (sum, a, b): sum and the last 52 bits of the product of the last 52 bits of a and b, all
 *                      integers of 64 bits; left out where there is no instruction that does so
 */

#include <immintrin.h>
#include <math.h>

#include "aprender/exact-sums/kernels/apr-slice-kernel-float-ranges.h"
#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

/* Neighbour with neighbour, until lane i is the sum of vector i. */
#define REDUCE(TYPE, UNPACK_LOW, UNPACK_HIGH, SHUFFLE, SUM, v, sums)                           \
 TYPE a = SUM (UNPACK_LOW (v[0], v[1]), UNPACK_HIGH (v[0], v[1]));                             \
 TYPE b = SUM (UNPACK_LOW (v[2], v[3]), UNPACK_HIGH (v[2], v[3]));                             \
 TYPE c = SUM (UNPACK_LOW (v[4], v[5]), UNPACK_HIGH (v[4], v[5]));                             \
 TYPE d = SUM (UNPACK_LOW (v[6], v[7]), UNPACK_HIGH (v[6], v[7]));                             \
                                                                                               \
 a = SUM (SHUFFLE (a, b, _MM_SHUFFLE (2, 0, 2, 0)), SHUFFLE (a, b, _MM_SHUFFLE (3, 1, 3, 1))); \
 c = SUM (SHUFFLE (c, d, _MM_SHUFFLE (2, 0, 2, 0)), SHUFFLE (c, d, _MM_SHUFFLE (3, 1, 3, 1))); \
 a = SUM (SHUFFLE (a, c, _MM_SHUFFLE (2, 0, 2, 0)), SHUFFLE (a, c, _MM_SHUFFLE (3, 1, 3, 1))); \
 _mm512_storeu_si512 ((void *) (sums), (__m512i) a)

static inline void
count_lanes (const __m512d sum[8], gint64 *sums)
{
  const __m512i whole[8] = {
    _mm512_cvtpd_epi64 (sum[0]), _mm512_cvtpd_epi64 (sum[1]), _mm512_cvtpd_epi64 (sum[2]),
    _mm512_cvtpd_epi64 (sum[3]), _mm512_cvtpd_epi64 (sum[4]), _mm512_cvtpd_epi64 (sum[5]),
    _mm512_cvtpd_epi64 (sum[6]), _mm512_cvtpd_epi64 (sum[7]),
  };
  REDUCE (__m512i, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64, _mm512_shuffle_i64x2, _mm512_add_epi64,
          whole, sums);
}

static inline void
count_each (__m512d sum, gint64 *lanes)
{
  _mm512_storeu_si512 (lanes, _mm512_add_epi64 (_mm512_loadu_si512 (lanes), _mm512_cvtpd_epi64 (sum)));
}

static inline void
count_difference (__m512d a, __m512d b, gint64 *lanes)
{
  __m512i difference = _mm512_sub_epi64 (_mm512_castpd_si512 (a), _mm512_castpd_si512 (b));

  _mm512_storeu_si512 (lanes, _mm512_add_epi64 (_mm512_loadu_si512 (lanes), difference));
}

static inline void
reduce_lanes (const gint64 (*lanes)[APR_SLICE_LANES], gint64 *sums)
{
  const __m512i whole[8] = {
    _mm512_loadu_si512 (lanes[0]), _mm512_loadu_si512 (lanes[1]), _mm512_loadu_si512 (lanes[2]),
    _mm512_loadu_si512 (lanes[3]), _mm512_loadu_si512 (lanes[4]), _mm512_loadu_si512 (lanes[5]),
    _mm512_loadu_si512 (lanes[6]), _mm512_loadu_si512 (lanes[7]),
  };
  REDUCE (__m512i, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64, _mm512_shuffle_i64x2, _mm512_add_epi64,
          whole, sums);
}

static inline void
add_lanes (const __m512d sum[8], double *sums)
{
  REDUCE (__m512d, _mm512_unpacklo_pd, _mm512_unpackhi_pd, _mm512_shuffle_f64x2, _mm512_add_pd, sum, sums);
}

/* Each operand has four columns of two rows, each result one column of eight rows: elements are interleaved within
 * pairs of rows, then quarters are exchanged. */
static inline void
transpose_four (
  __m512d rows_02, __m512d rows_13, __m512d rows_46, __m512d rows_57, gsize stride, double *columns)
{
  __m512d low_0123 = _mm512_unpacklo_pd (rows_02, rows_13);
  __m512d high_0123 = _mm512_unpackhi_pd (rows_02, rows_13);
  __m512d low_4567 = _mm512_unpacklo_pd (rows_46, rows_57);
  __m512d high_4567 = _mm512_unpackhi_pd (rows_46, rows_57);

  _mm512_store_pd (columns, _mm512_shuffle_f64x2 (low_0123, low_4567, 0x88));
  _mm512_store_pd (columns + stride, _mm512_shuffle_f64x2 (high_0123, high_4567, 0x88));
  _mm512_store_pd (columns + 2 * stride, _mm512_shuffle_f64x2 (low_0123, low_4567, 0xdd));
  _mm512_store_pd (columns + 3 * stride, _mm512_shuffle_f64x2 (high_0123, high_4567, 0xdd));
}

static inline __m512d
load_two_doubles (const double *place, const double *other)
{
  return _mm512_insertf64x4 (_mm512_castpd256_pd512 (_mm256_loadu_pd (place)), _mm256_loadu_pd (other), 1);
}

static inline __m512d
load_two_floats (const float *place, const float *other)
{
  return _mm512_cvtps_pd (
    _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (place)), _mm_loadu_ps (other), 1));
}

/* What is found of floats: see set_float_ranges (). */
typedef struct
{
  __m256i max;
  __m256i min;
  __m512d sum;
} FloatsFound;

static inline G_ALWAYS_INLINE __m512d
widen_two_floats (const float *place, const float *other, FloatsFound *found)
{
  __m256 floats =
    _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (place)), _mm_loadu_ps (other), 1);
  __m256i magnitudes = _mm256_and_si256 (_mm256_castps_si256 (floats), _mm256_set1_epi32 (G_MAXINT32));
  __m512d values = _mm512_cvtps_pd (floats);

  found->max = _mm256_max_epu32 (magnitudes, found->max);
  found->min = _mm256_min_epu32 (_mm256_sub_epi32 (magnitudes, _mm256_set1_epi32 (1)), found->min);
  found->sum = _mm512_add_pd (values, found->sum);
  return values;
}

static void
transpose_and_range (
  const float *rows, gsize n_rows, gsize n, gsize stride, double *columns, AprColumnRange ranges[4])
{
  FloatsFound even = { _mm256_setzero_si256 (), _mm256_set1_epi32 (-1), _mm512_setzero_pd () };
  FloatsFound odd = even;
  __m512d sum;
  gsize row;

  for (row = 0; row < n_rows; row += 8, rows += 8 * n)
    {
      __m512d rows_02 = widen_two_floats (rows, rows + 2 * n, &even);
      __m512d rows_13 = widen_two_floats (rows + n, rows + 3 * n, &odd);
      __m512d rows_46 = widen_two_floats (rows + 4 * n, rows + 6 * n, &even);
      __m512d rows_57 = widen_two_floats (rows + 5 * n, rows + 7 * n, &odd);

      transpose_four (rows_02, rows_13, rows_46, rows_57, stride, columns + row);
    }

  sum = _mm512_add_pd (even.sum, odd.sum);
  set_float_ranges (_mm256_max_epu32 (even.max, odd.max), _mm256_min_epu32 (even.min, odd.min),
                    _mm256_add_pd (_mm512_castpd512_pd256 (sum), _mm512_extractf64x4_pd (sum, 1)), ranges);
}

#define TRANSPOSE_FOUR(LOAD_TWO, rows, n, stride, columns)                                     \
 transpose_four (LOAD_TWO (rows, (rows) + 2 * (n)), LOAD_TWO ((rows) + (n), (rows) + 3 * (n)), \
                 LOAD_TWO ((rows) + 4 * (n), (rows) + 6 * (n)),                                \
                 LOAD_TWO ((rows) + 5 * (n), (rows) + 7 * (n)), stride, columns)

#include "aprender/exact-sums/kernels/apr-slice-kernel-512bit-fixed.h"

#define VECTOR __m512d
#define LANES 8
#define LOAD(place) _mm512_load_pd (place)
#define STORE(place, a) _mm512_storeu_pd (place, a)
#define SPLAT(value) _mm512_set1_pd (value)
#define ADD(a, b) _mm512_add_pd (a, b)
#define SUBTRACT(a, b) _mm512_sub_pd (a, b)
#define MULTIPLY(a, b) _mm512_mul_pd (a, b)
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd (a, b, c)
#define MULTIPLY_SUBTRACT(a, b, c) _mm512_fmsub_pd (a, b, c)
#define EITHER(a, b) _mm512_or_pd (a, b)
#define FUSED_ADD(a, b, c) _mm512_fmadd_pd (a, b, c)
#define FUSED_SUBTRACT(a, b, c) _mm512_fmsub_pd (a, b, c)
#define GREATER(a, b) _mm512_max_pd (a, b)
#define LESSER(a, b) _mm512_min_pd (a, b)
#define MAGNITUDE(a) _mm512_abs_pd (a)
#define MAGNITUDE_UNLESS_0(a)                                                                       \
 _mm512_mask_blend_pd (_mm512_cmp_pd_mask (a, _mm512_setzero_pd (), _CMP_EQ_OQ), _mm512_abs_pd (a), \
                       _mm512_set1_pd (INFINITY))
#define IS_NAN(a) (_mm512_cmp_pd_mask (a, a, _CMP_UNORD_Q) != 0)
#define ANY(a) (_mm512_cmp_pd_mask (a, _mm512_setzero_pd (), _CMP_NEQ_UQ) != 0)
#define COUNT_LANES(sum, sums) count_lanes (sum, sums)
#define COUNT_EACH(sum, lanes) count_each (sum, lanes)
#define COUNT_DIFFERENCE(a, b, lanes) count_difference (a, b, lanes)
#define MULTIPLY_FIXED multiply_fixed
#define CUT_FIXED cut_fixed
#define SUM_WHOLE sum_whole
#define REDUCE_LANES(lanes, sums) reduce_lanes (lanes, sums)
#define ADD_LANES(sum, sums) add_lanes (sum, sums)
#define LOAD_DOUBLES(place) _mm512_loadu_pd (place)
#define LOAD_FLOATS(place) _mm512_cvtps_pd (_mm256_loadu_ps (place))
#define TRANSPOSE_DOUBLES(rows, n, stride, columns) \
 TRANSPOSE_FOUR (load_two_doubles, rows, n, stride, columns)
#define TRANSPOSE_FLOATS(rows, n, stride, columns) TRANSPOSE_FOUR (load_two_floats, rows, n, stride, columns)
#define TRANSPOSE_AND_RANGE(rows, n_rows, n, stride, columns, ranges) \
 transpose_and_range (rows, n_rows, n, stride, columns, ranges)

#include "aprender/exact-sums/kernels/apr-slice-kernel-template.h"
