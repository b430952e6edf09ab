/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-slice-kernel-float-ranges.h"
#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

/* Whole numbers of at most 2^53 as integers: multiples of 2^10 and what these leave, each as the last bits of a double.
 * To convert lane after lane took as long as a third of the products. */
static inline __m256i
to_integers (__m256d numbers)
{
  const __m256d upper_start = _mm256_set1_pd (0x1.8p62);
  const __m256d lower_start = _mm256_set1_pd (0x1.8p52);
  __m256d upper = _mm256_add_pd (numbers, upper_start);
  __m256d rest = _mm256_sub_pd (numbers, _mm256_sub_pd (upper, upper_start));
  __m256d lower = _mm256_add_pd (rest, lower_start);
  __m256i high = _mm256_sub_epi64 (_mm256_castpd_si256 (upper), _mm256_castpd_si256 (upper_start));
  __m256i low = _mm256_sub_epi64 (_mm256_castpd_si256 (lower), _mm256_castpd_si256 (lower_start));

  return _mm256_add_epi64 (_mm256_slli_epi64 (high, 10), low);
}

/* Of two vectors, the sums of their first lanes and of their last. */
static inline __m256i
add_pairs (__m256i a, __m256i b)
{
  return _mm256_add_epi64 (_mm256_unpacklo_epi64 (a, b), _mm256_unpackhi_epi64 (a, b));
}

/* The sums of the lanes of four vectors. */
static inline void
add_four (__m256i a, __m256i b, __m256i c, __m256i d, gint64 *sums)
{
  __m256i first = add_pairs (a, b);
  __m256i last = add_pairs (c, d);

  _mm256_storeu_si256 ((void *) sums, _mm256_add_epi64 (_mm256_permute2x128_si256 (first, last, 0x20),
                                                        _mm256_permute2x128_si256 (first, last, 0x31)));
}

static inline void
count_lanes (const __m256d sum[8], gint64 *sums)
{
  gsize i;

  for (i = 0; i < 8; i += 4)
    add_four (to_integers (sum[i]), to_integers (sum[i + 1]), to_integers (sum[i + 2]),
              to_integers (sum[i + 3]), sums + i);
}

static inline __m256i
add_halves (const gint64 *lanes)
{
  return _mm256_add_epi64 (_mm256_loadu_si256 ((const void *) lanes),
                           _mm256_loadu_si256 ((const void *) (lanes + 4)));
}

static inline void
reduce_lanes (const gint64 (*lanes)[8], gint64 *sums)
{
  gsize i;

  for (i = 0; i < 8; i += 4)
    add_four (add_halves (lanes[i]), add_halves (lanes[i + 1]), add_halves (lanes[i + 2]),
              add_halves (lanes[i + 3]), sums + i);
}

static inline void
count_each (__m256d sum, gint64 *to)
{
  __m256i counted = _mm256_loadu_si256 ((const void *) to);

  _mm256_storeu_si256 ((void *) to, _mm256_add_epi64 (counted, to_integers (sum)));
}

static inline void
count_difference (__m256d a, __m256d b, gint64 *lanes)
{
  __m256i difference = _mm256_sub_epi64 (_mm256_castpd_si256 (a), _mm256_castpd_si256 (b));
  __m256i counted = _mm256_loadu_si256 ((const void *) lanes);

  _mm256_storeu_si256 ((void *) lanes, _mm256_add_epi64 (counted, difference));
}

/* Of four vectors, (the first lane + the second) + (the third + the last). */
static inline __m256d
add_lanes (const __m256d sum[4])
{
  __m256d first = _mm256_hadd_pd (sum[0], sum[1]);
  __m256d last = _mm256_hadd_pd (sum[2], sum[3]);

  return _mm256_add_pd (_mm256_permute2f128_pd (first, last, 0x20),
                        _mm256_permute2f128_pd (first, last, 0x31));
}

/* Two columns of four rows. */
static inline void
transpose_two (__m256d rows_02, __m256d rows_13, gsize stride, double *columns)
{
  _mm256_store_pd (columns, _mm256_unpacklo_pd (rows_02, rows_13));
  _mm256_store_pd (columns + stride, _mm256_unpackhi_pd (rows_02, rows_13));
}

static inline __m256d
load_two_doubles (const double *place, const double *other)
{
  return _mm256_insertf128_pd (_mm256_castpd128_pd256 (_mm_loadu_pd (place)), _mm_loadu_pd (other), 1);
}

static inline void
transpose_doubles_of_four (const double *rows, gsize n, gsize stride, double *columns)
{
  transpose_two (load_two_doubles (rows, rows + 2 * n), load_two_doubles (rows + n, rows + 3 * n), stride,
                 columns);
  transpose_two (load_two_doubles (rows + 2, rows + 2 + 2 * n),
                 load_two_doubles (rows + 2 + n, rows + 2 + 3 * n), stride, columns + 2 * stride);
}

static inline void
transpose_floats_of_four (const float *rows, gsize n, gsize stride, double *columns)
{
  __m128 a = _mm_loadu_ps (rows);
  __m128 b = _mm_loadu_ps (rows + n);
  __m128 c = _mm_loadu_ps (rows + 2 * n);
  __m128 d = _mm_loadu_ps (rows + 3 * n);

  _MM_TRANSPOSE4_PS (a, b, c, d);
  _mm256_store_pd (columns, _mm256_cvtps_pd (a));
  _mm256_store_pd (columns + stride, _mm256_cvtps_pd (b));
  _mm256_store_pd (columns + 2 * stride, _mm256_cvtps_pd (c));
  _mm256_store_pd (columns + 3 * stride, _mm256_cvtps_pd (d));
}

/* See set_float_ranges (): eight magnitudes at a time, of two rows. */
static void
transpose_and_range (
  const float *rows, gsize n_rows, gsize n, gsize stride, double *columns, AprColumnRange ranges[4])
{
  const __m256i without_sign = _mm256_set1_epi32 (G_MAXINT32);
  const __m256i one = _mm256_set1_epi32 (1);
  __m256i max = _mm256_setzero_si256 ();
  __m256i min = _mm256_set1_epi32 (-1);
  __m256d sum = _mm256_setzero_pd ();
  gsize row;

  for (row = 0; row < n_rows; row += 4, rows += 4 * n)
    {
      __m128 first = _mm_loadu_ps (rows);
      __m128 second = _mm_loadu_ps (rows + n);
      __m128 third = _mm_loadu_ps (rows + 2 * n);
      __m128 fourth = _mm_loadu_ps (rows + 3 * n);
      __m256i early = _mm256_and_si256 (_mm256_castps_si256 (_mm256_set_m128 (second, first)), without_sign);
      __m256i late = _mm256_and_si256 (_mm256_castps_si256 (_mm256_set_m128 (fourth, third)), without_sign);
      __m256d a = _mm256_cvtps_pd (first);
      __m256d b = _mm256_cvtps_pd (second);
      __m256d c = _mm256_cvtps_pd (third);
      __m256d d = _mm256_cvtps_pd (fourth);
      __m256d even_ab = _mm256_unpacklo_pd (a, b);
      __m256d odd_ab = _mm256_unpackhi_pd (a, b);
      __m256d even_cd = _mm256_unpacklo_pd (c, d);
      __m256d odd_cd = _mm256_unpackhi_pd (c, d);

      max = _mm256_max_epu32 (max, _mm256_max_epu32 (early, late));
      min = _mm256_min_epu32 (min,
                              _mm256_min_epu32 (_mm256_sub_epi32 (early, one), _mm256_sub_epi32 (late, one)));
      sum = _mm256_add_pd (sum, _mm256_add_pd (_mm256_add_pd (a, b), _mm256_add_pd (c, d)));
      _mm256_store_pd (columns + row, _mm256_permute2f128_pd (even_ab, even_cd, 0x20));
      _mm256_store_pd (columns + stride + row, _mm256_permute2f128_pd (odd_ab, odd_cd, 0x20));
      _mm256_store_pd (columns + 2 * stride + row, _mm256_permute2f128_pd (even_ab, even_cd, 0x31));
      _mm256_store_pd (columns + 3 * stride + row, _mm256_permute2f128_pd (odd_ab, odd_cd, 0x31));
    }

  set_float_ranges (max, min, sum, ranges);
}

/* Adding it, times the unit, rounds to a multiple of the unit. Then all that is from -APR_SLICE_WHOLE_LIMIT units up to
 * below APR_SLICE_WHOLE_LIMIT has the upper bits of WHOLE_START, and the bits count units. */
#define WHOLE_START 0x1.8p52
#define WHOLE_ROUNDER (WHOLE_START + APR_SLICE_WHOLE_LIMIT)
#define WHOLE_BITS 48

static gboolean
sum_whole (const double *column, gsize n_rows, double unit, gint64 *sum)
{
  const __m256d rounder = _mm256_set1_pd (WHOLE_ROUNDER * unit);
  const __m256i start = _mm256_castpd_si256 (_mm256_set1_pd (WHOLE_START * unit));
  __m256i total = _mm256_setzero_si256 ();
  __m256i any_far = _mm256_setzero_si256 ();
  __m256d any_rest = _mm256_setzero_pd ();
  const double first = WHOLE_ROUNDER * unit;
  guint64 lanes[4];
  guint64 bits_of_first;
  gsize row;

  memcpy (&bits_of_first, &first, sizeof bits_of_first);
  for (row = 0; row < n_rows; row += 4)
    {
      __m256d value = _mm256_load_pd (column + row);
      __m256d rounded = _mm256_add_pd (value, rounder);
      __m256d rest = _mm256_sub_pd (value, _mm256_sub_pd (rounded, rounder));
      __m256i bits = _mm256_castpd_si256 (rounded);

      total = _mm256_add_epi64 (bits, total);
      any_far = _mm256_or_si256 (_mm256_xor_si256 (bits, start), any_far);
      any_rest = _mm256_or_pd (rest, any_rest);
    }
  _mm256_storeu_si256 ((void *) lanes, total);
  *sum = (gint64) (lanes[0] + lanes[1] + lanes[2] + lanes[3] - n_rows * bits_of_first);

  return _mm256_testz_si256 (any_far, _mm256_set1_epi64x (-(G_GINT64_CONSTANT (1) << WHOLE_BITS))) &&
         _mm256_movemask_pd (_mm256_cmp_pd (any_rest, _mm256_setzero_pd (), _CMP_NEQ_UQ)) == 0;
}

#define KERNEL apr_slice_kernel_avx2
#define KERNEL_NAME "avx2"
#define VECTOR __m256d
#define LANES 4
#define LOAD(place) _mm256_load_pd (place)
#define STORE(place, a) _mm256_storeu_pd (place, a)
#define SPLAT(value) _mm256_set1_pd (value)
#define ADD(a, b) _mm256_add_pd (a, b)
#define SUBTRACT(a, b) _mm256_sub_pd (a, b)
#define MULTIPLY(a, b) _mm256_mul_pd (a, b)
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_pd (a, b, c)
#define MULTIPLY_SUBTRACT(a, b, c) _mm256_fmsub_pd (a, b, c)
#define EITHER(a, b) _mm256_or_pd (a, b)
#define FUSED_ADD(a, b, c) _mm256_fmadd_pd (a, b, c)
#define FUSED_SUBTRACT(a, b, c) _mm256_fmsub_pd (a, b, c)
#define GREATER(a, b) _mm256_max_pd (a, b)
#define LESSER(a, b) _mm256_min_pd (a, b)
#define MAGNITUDE(a) _mm256_andnot_pd (_mm256_set1_pd (-0.0), a)
#define MAGNITUDE_UNLESS_0(a)                                \
 _mm256_blendv_pd (MAGNITUDE (a), _mm256_set1_pd (INFINITY), \
                   _mm256_cmp_pd (a, _mm256_setzero_pd (), _CMP_EQ_OQ))
#define IS_NAN(a) (_mm256_movemask_pd (_mm256_cmp_pd (a, a, _CMP_UNORD_Q)) != 0)
#define ANY(a) (_mm256_movemask_pd (_mm256_cmp_pd (a, _mm256_setzero_pd (), _CMP_NEQ_UQ)) != 0)
#define COUNT_LANES(sum, sums) count_lanes (sum, sums)
#define COUNT_EACH(sum, lanes) count_each (sum, lanes)
#define COUNT_DIFFERENCE(a, b, lanes) count_difference (a, b, lanes)
#define SUM_WHOLE sum_whole
#define REDUCE_LANES(lanes, sums) reduce_lanes (lanes, sums)
/* GCC would have each multiplication load what it multiplies, which is more loads than a cycle has. */
#define KEEP(a, b, c, d) __asm__("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
#define ADD_LANES_OF_FOUR(a) add_lanes (a)
#define LOAD_DOUBLES(place) _mm256_loadu_pd (place)
#define LOAD_FLOATS(place) _mm256_cvtps_pd (_mm_loadu_ps (place))
#define TRANSPOSE_DOUBLES(rows, n, stride, columns) transpose_doubles_of_four (rows, n, stride, columns)
#define TRANSPOSE_FLOATS(rows, n, stride, columns) transpose_floats_of_four (rows, n, stride, columns)
#define TRANSPOSE_AND_RANGE(rows, n_rows, n, stride, columns, ranges) \
 transpose_and_range (rows, n_rows, n, stride, columns, ranges)

#include "aprender/exact-sums/kernels/apr-slice-kernel-template.h"
