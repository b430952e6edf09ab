/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_prediction_avx512
#define KERNEL_NAME "avx512"
#define VECTOR __m512d
#define LANES 8
#define SPLAT(value) _mm512_set1_pd (value)
#define ADD(a, b) _mm512_add_pd (a, b)
#define MULTIPLY(a, b) _mm512_mul_pd (a, b)
#define STORE(place, a) _mm512_storeu_pd (place, a)
#define LOAD_FLOATS(place) _mm512_cvtps_pd (_mm256_loadu_ps (place))
#define LOAD_DOUBLES(place) _mm512_loadu_pd (place)
#define MASK(n) ((1u << (n)) - 1)
#define LOAD_SOME_FLOATS(place, n) \
 _mm512_cvtps_pd (_mm512_castps512_ps256 (_mm512_maskz_loadu_ps ((__mmask16) MASK (n), place)))
#define LOAD_SOME_DOUBLES(place, n) _mm512_maskz_loadu_pd ((__mmask8) MASK (n), place)

/* Within pairs of rows, then of quarters of the vectors, then of their halves. */
static inline void
transpose (__m512d v[8])
{
  __m512d pairs[8];
  __m512d quarters[8];
  int i;

  for (i = 0; i < 4; i++)
    {
      pairs[i] = _mm512_unpacklo_pd (v[2 * i], v[2 * i + 1]);
      pairs[4 + i] = _mm512_unpackhi_pd (v[2 * i], v[2 * i + 1]);
    }
  for (i = 0; i < 4; i++)
    {
      quarters[2 * i] = _mm512_shuffle_f64x2 (pairs[2 * i], pairs[2 * i + 1], 0x88);
      quarters[2 * i + 1] = _mm512_shuffle_f64x2 (pairs[2 * i], pairs[2 * i + 1], 0xdd);
    }
  for (i = 0; i < 2; i++)
    {
      v[i] = _mm512_shuffle_f64x2 (quarters[4 * i], quarters[4 * i + 2], 0x88);
      v[i + 4] = _mm512_shuffle_f64x2 (quarters[4 * i], quarters[4 * i + 2], 0xdd);
      v[i + 2] = _mm512_shuffle_f64x2 (quarters[4 * i + 1], quarters[4 * i + 3], 0x88);
      v[i + 6] = _mm512_shuffle_f64x2 (quarters[4 * i + 1], quarters[4 * i + 3], 0xdd);
    }
}

#include "aprender/linear-model/apr-prediction-template.h"
