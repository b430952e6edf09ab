/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_prediction_avx2
#define KERNEL_NAME "avx2"
#define VECTOR __m256d
#define LANES 4
#define SPLAT(value) _mm256_set1_pd (value)
#define ADD(a, b) _mm256_add_pd (a, b)
#define MULTIPLY(a, b) _mm256_mul_pd (a, b)
#define STORE(place, a) _mm256_storeu_pd (place, a)
#define LOAD_FLOATS(place) _mm256_cvtps_pd (_mm_loadu_ps (place))
#define LOAD_DOUBLES(place) _mm256_loadu_pd (place)
#define FIRST(n) _mm256_cmpgt_epi64 (_mm256_set1_epi64x ((long long) (n)), _mm256_setr_epi64x (0, 1, 2, 3))
#define FIRST_OF_4(n) _mm_cmpgt_epi32 (_mm_set1_epi32 ((int) (n)), _mm_setr_epi32 (0, 1, 2, 3))
#define LOAD_SOME_FLOATS(place, n) _mm256_cvtps_pd (_mm_maskload_ps (place, FIRST_OF_4 (n)))
#define LOAD_SOME_DOUBLES(place, n) _mm256_maskload_pd (place, FIRST (n))

static inline void
transpose (__m256d v[4])
{
  __m256d low_01 = _mm256_unpacklo_pd (v[0], v[1]);
  __m256d high_01 = _mm256_unpackhi_pd (v[0], v[1]);
  __m256d low_23 = _mm256_unpacklo_pd (v[2], v[3]);
  __m256d high_23 = _mm256_unpackhi_pd (v[2], v[3]);

  v[0] = _mm256_permute2f128_pd (low_01, low_23, 0x20);
  v[1] = _mm256_permute2f128_pd (high_01, high_23, 0x20);
  v[2] = _mm256_permute2f128_pd (low_01, low_23, 0x31);
  v[3] = _mm256_permute2f128_pd (high_01, high_23, 0x31);
}

#include "aprender/linear-model/apr-prediction-template.h"
