/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>
#include <math.h>

#include "aprender/cross-products/kernels/apr-slice-kernel-private.h"

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

/* Eight rows of eight columns. */
static inline __attribute__ ((always_inline)) void
transpose (__m512d r[8], gsize n, gsize stride, double *columns)
{
  gsize i;

  for (i = 0; i < 8; i += 2)
    {
      __m512d low = _mm512_unpacklo_pd (r[i], r[i + 1]);

      r[i + 1] = _mm512_unpackhi_pd (r[i], r[i + 1]);
      r[i] = low;
    }

  /* Now pairs: columns 0, 2, 4, 6 of rows i and i + 1 in r[i], the others in r[i + 1]. */
  for (i = 0; i < 2; i++)
    {
      __m512d a = _mm512_shuffle_f64x2 (r[i], r[i + 2], _MM_SHUFFLE (2, 0, 2, 0));
      __m512d b = _mm512_shuffle_f64x2 (r[i + 4], r[i + 6], _MM_SHUFFLE (2, 0, 2, 0));
      __m512d c = _mm512_shuffle_f64x2 (r[i], r[i + 2], _MM_SHUFFLE (3, 1, 3, 1));
      __m512d d = _mm512_shuffle_f64x2 (r[i + 4], r[i + 6], _MM_SHUFFLE (3, 1, 3, 1));

      if (i < n)
        _mm512_store_pd (columns + i * stride, _mm512_shuffle_f64x2 (a, b, _MM_SHUFFLE (2, 0, 2, 0)));
      if (i + 2 < n)
        _mm512_store_pd (columns + (i + 2) * stride, _mm512_shuffle_f64x2 (c, d, _MM_SHUFFLE (2, 0, 2, 0)));
      if (i + 4 < n)
        _mm512_store_pd (columns + (i + 4) * stride, _mm512_shuffle_f64x2 (a, b, _MM_SHUFFLE (3, 1, 3, 1)));
      if (i + 6 < n)
        _mm512_store_pd (columns + (i + 6) * stride, _mm512_shuffle_f64x2 (c, d, _MM_SHUFFLE (3, 1, 3, 1)));
    }
}

/* Those shuffles that two columns need, where there are no more. */
static inline void
transpose_some (__m512d r[8], gsize n, gsize stride, double *columns)
{
  if (n == 2)
    transpose (r, 2, stride, columns);
  else
    transpose (r, n, stride, columns);
}

/* Two values of every second row, from @place on. */
static inline __m512d
load_pairs (const double *place, gsize n_columns)
{
  __m512d pairs = _mm512_castpd128_pd512 (_mm_loadu_pd (place));

  pairs = _mm512_insertf64x2 (pairs, _mm_loadu_pd (place + 2 * n_columns), 1);
  pairs = _mm512_insertf64x2 (pairs, _mm_loadu_pd (place + 4 * n_columns), 2);
  return _mm512_insertf64x2 (pairs, _mm_loadu_pd (place + 6 * n_columns), 3);
}

static inline void
transpose_eight_doubles (const double *values, gsize n_columns, gsize stride, double *columns)
{
  gsize column;

  for (column = 0; column + 2 <= n_columns; column += 2)
    {
      __m512d even = load_pairs (values + column, n_columns);
      __m512d odd = load_pairs (values + column + n_columns, n_columns);

      _mm512_store_pd (columns + column * stride, _mm512_unpacklo_pd (even, odd));
      _mm512_store_pd (columns + (column + 1) * stride, _mm512_unpackhi_pd (even, odd));
    }
  if (column < n_columns)
    _mm512_store_pd (columns + column * stride,
                     _mm512_setr_pd (values[column], values[n_columns + column],
                                     values[2 * n_columns + column], values[3 * n_columns + column],
                                     values[4 * n_columns + column], values[5 * n_columns + column],
                                     values[6 * n_columns + column], values[7 * n_columns + column]));
}

static inline void
transpose_eight_floats (const float *values, gsize n_columns, gsize stride, double *columns)
{
  gsize column;
  gsize i;

  for (column = 0; column < n_columns; column += 8)
    {
      gsize n = MIN (n_columns - column, 8);
      __mmask16 mask = (__mmask16) ((1u << n) - 1);
      __m512d r[8];

      for (i = 0; i < 8; i++)
        r[i] = _mm512_cvtps_pd (
          _mm512_castps512_ps256 (_mm512_maskz_loadu_ps (mask, values + i * n_columns + column)));
      transpose_some (r, n, stride, columns + column * stride);
    }
}

static inline void
fetch (gconstpointer values, gsize size, gsize ahead)
{
  gsize i;

  for (i = 0; i < size && ahead > 0; i += 64)
    _mm_prefetch ((const guint8 *) values + ahead + i, _MM_HINT_T0);
}

static void
transpose_doubles (
  gconstpointer rows, gsize n_rows, gsize n_columns, gsize ahead, gsize stride, double *columns)
{
  const double *values = rows;
  gsize row;

  for (row = 0; row < n_rows; row += 8, values += 8 * n_columns)
    {
      fetch (values, 8 * n_columns * sizeof *values, ahead);
      if (n_columns == 1)
        _mm512_store_pd (columns + row, _mm512_loadu_pd (values));
      else
        transpose_eight_doubles (values, n_columns, stride, columns + row);
    }
}

static void
transpose_floats (
  gconstpointer rows, gsize n_rows, gsize n_columns, gsize ahead, gsize stride, double *columns)
{
  const float *values = rows;
  gsize row;

  for (row = 0; row < n_rows; row += 8, values += 8 * n_columns)
    {
      fetch (values, 8 * n_columns * sizeof *values, ahead);
      if (n_columns == 1)
        _mm512_store_pd (columns + row, _mm512_cvtps_pd (_mm256_loadu_ps (values)));
      else
        transpose_eight_floats (values, n_columns, stride, columns + row);
    }
}

#define KERNEL apr_slice_kernel_avx512
#define KERNEL_NAME "avx512"
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
#define REDUCE_LANES(lanes, sums) reduce_lanes (lanes, sums)
#define ADD_LANES(sum, sums) add_lanes (sum, sums)
#define TRANSPOSE_DOUBLES transpose_doubles
#define TRANSPOSE_FLOATS transpose_floats

#include "aprender/cross-products/kernels/apr-slice-kernel-template.h"
