/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_prediction_kernel_avx512
#define KERNEL_NAME "avx512"
#define VECTOR __m512d
#define LANES 8
#define SPLAT(value) _mm512_set1_pd (value)
#define ADD(a, b) _mm512_add_pd (a, b)
#define MULTIPLY(a, b) _mm512_mul_pd (a, b)
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd (a, b, c)
#define STORE(place, a) _mm512_storeu_pd (place, a)
#define STORE_FLOATS(place, a) _mm256_storeu_ps (place, _mm512_cvtpd_ps (a))
#define COLUMNS 4

/* Each operand holds four columns of two rows; each result holds one column of eight rows. Elements are interleaved
 * within pairs of rows first, then quarters are exchanged between vectors. */
static inline void
transpose (__m512d rows_02, __m512d rows_13, __m512d rows_46, __m512d rows_57, __m512d columns[COLUMNS])
{
  __m512d low_0123 = _mm512_unpacklo_pd (rows_02, rows_13);
  __m512d high_0123 = _mm512_unpackhi_pd (rows_02, rows_13);
  __m512d low_4567 = _mm512_unpacklo_pd (rows_46, rows_57);
  __m512d high_4567 = _mm512_unpackhi_pd (rows_46, rows_57);

  columns[0] = _mm512_shuffle_f64x2 (low_0123, low_4567, 0x88);
  columns[1] = _mm512_shuffle_f64x2 (high_0123, high_4567, 0x88);
  columns[2] = _mm512_shuffle_f64x2 (low_0123, low_4567, 0xdd);
  columns[3] = _mm512_shuffle_f64x2 (high_0123, high_4567, 0xdd);
}

static inline __m256d
load_four_doubles (const double *place, size_t n)
{
  __m256i first = _mm256_cmpgt_epi64 (_mm256_set1_epi64x ((long long) n), _mm256_setr_epi64x (0, 1, 2, 3));

  return n >= COLUMNS ? _mm256_loadu_pd (place) : _mm256_maskload_pd (place, first);
}

static inline __m128
load_four_floats (const float *place, size_t n)
{
  __m128i first = _mm_cmpgt_epi32 (_mm_set1_epi32 ((int) n), _mm_setr_epi32 (0, 1, 2, 3));

  return n >= COLUMNS ? _mm_loadu_ps (place) : _mm_maskload_ps (place, first);
}

#define TWO_DOUBLES(i, j)                                                           \
 _mm512_insertf64x4 (_mm512_castpd256_pd512 (load_four_doubles (x + starts[i], n)), \
                     load_four_doubles (x + starts[j], n), 1)
#define TWO_FLOATS(i, j)                                                             \
 _mm256_insertf128_ps (_mm256_castps128_ps256 (load_four_floats (x + starts[i], n)), \
                       load_four_floats (x + starts[j], n), 1)

static inline void
load_doubles (const double *x, const size_t starts[LANES], size_t n, __m512d columns[COLUMNS])
{
  transpose (TWO_DOUBLES (0, 2), TWO_DOUBLES (1, 3), TWO_DOUBLES (4, 6), TWO_DOUBLES (5, 7), columns);
}

/* Floats are turned into columns before they are widened. */
static inline void
load_floats (const float *x, const size_t starts[LANES], size_t n, __m512d columns[COLUMNS])
{
  __m256 rows_04 = TWO_FLOATS (0, 4);
  __m256 rows_15 = TWO_FLOATS (1, 5);
  __m256 rows_26 = TWO_FLOATS (2, 6);
  __m256 rows_37 = TWO_FLOATS (3, 7);
  __m256d low_02 = _mm256_castps_pd (_mm256_unpacklo_ps (rows_04, rows_15));
  __m256d high_02 = _mm256_castps_pd (_mm256_unpackhi_ps (rows_04, rows_15));
  __m256d low_13 = _mm256_castps_pd (_mm256_unpacklo_ps (rows_26, rows_37));
  __m256d high_13 = _mm256_castps_pd (_mm256_unpackhi_ps (rows_26, rows_37));

  columns[0] = _mm512_cvtps_pd (_mm256_castpd_ps (_mm256_unpacklo_pd (low_02, low_13)));
  columns[1] = _mm512_cvtps_pd (_mm256_castpd_ps (_mm256_unpackhi_pd (low_02, low_13)));
  columns[2] = _mm512_cvtps_pd (_mm256_castpd_ps (_mm256_unpacklo_pd (high_02, high_13)));
  columns[3] = _mm512_cvtps_pd (_mm256_castpd_ps (_mm256_unpackhi_pd (high_02, high_13)));
}

#include "aprender/linear-model/kernels/apr-prediction-kernel-template.h"
