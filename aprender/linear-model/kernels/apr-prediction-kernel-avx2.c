/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_prediction_kernel_avx2
#define KERNEL_NAME "avx2"
#define VECTOR __m256d
#define LANES 4
#define SPLAT(value) _mm256_set1_pd (value)
#define ADD(a, b) _mm256_add_pd (a, b)
#define MULTIPLY(a, b) _mm256_mul_pd (a, b)
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_pd (a, b, c)
#define STORE(place, a) _mm256_storeu_pd (place, a)
#define STORE_FLOATS(place, a) _mm_storeu_ps (place, _mm256_cvtpd_ps (a))
#define COLUMNS 4

static inline void
transpose (__m256d row_0, __m256d row_1, __m256d row_2, __m256d row_3, __m256d columns[COLUMNS])
{
  __m256d low_01 = _mm256_unpacklo_pd (row_0, row_1);
  __m256d high_01 = _mm256_unpackhi_pd (row_0, row_1);
  __m256d low_23 = _mm256_unpacklo_pd (row_2, row_3);
  __m256d high_23 = _mm256_unpackhi_pd (row_2, row_3);

  columns[0] = _mm256_permute2f128_pd (low_01, low_23, 0x20);
  columns[1] = _mm256_permute2f128_pd (high_01, high_23, 0x20);
  columns[2] = _mm256_permute2f128_pd (low_01, low_23, 0x31);
  columns[3] = _mm256_permute2f128_pd (high_01, high_23, 0x31);
}

static inline __m256d
load_four_doubles (const double *place, size_t n)
{
  __m256i first = _mm256_cmpgt_epi64 (_mm256_set1_epi64x ((long long) n), _mm256_setr_epi64x (0, 1, 2, 3));

  return n >= COLUMNS ? _mm256_loadu_pd (place) : _mm256_maskload_pd (place, first);
}

static inline __m256d
load_four_floats (const float *place, size_t n)
{
  __m128i first = _mm_cmpgt_epi32 (_mm_set1_epi32 ((int) n), _mm_setr_epi32 (0, 1, 2, 3));

  return _mm256_cvtps_pd (n >= COLUMNS ? _mm_loadu_ps (place) : _mm_maskload_ps (place, first));
}

static inline void
load_doubles (const double *x, const size_t starts[LANES], size_t n, __m256d columns[COLUMNS])
{
  transpose (load_four_doubles (x + starts[0], n), load_four_doubles (x + starts[1], n),
             load_four_doubles (x + starts[2], n), load_four_doubles (x + starts[3], n), columns);
}

static inline void
load_floats (const float *x, const size_t starts[LANES], size_t n, __m256d columns[COLUMNS])
{
  transpose (load_four_floats (x + starts[0], n), load_four_floats (x + starts[1], n),
             load_four_floats (x + starts[2], n), load_four_floats (x + starts[3], n), columns);
}

#include "aprender/linear-model/kernels/apr-prediction-kernel-template.h"
