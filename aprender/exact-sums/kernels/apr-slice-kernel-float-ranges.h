/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <immintrin.h>
#include <math.h>

#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

static inline __m256d
widen_floats (__m128i bits)
{
  return _mm256_cvtps_pd (_mm_castsi128_ps (bits));
}

/* The ranges of four columns of floats, of two rows' maxima and minima and one row's sums. Magnitudes are compared as
 * integers, in whose order that of floats is. For the smallest, 1 is taken away first, which makes 0 the largest
 * integer. */
static inline void
set_float_ranges (__m256i max, __m256i min, __m256d sum, AprColumnRange ranges[4])
{
  __m128i largest = _mm_max_epu32 (_mm256_castsi256_si128 (max), _mm256_extracti128_si256 (max, 1));
  __m128i smallest = _mm_min_epu32 (_mm256_castsi256_si128 (min), _mm256_extracti128_si256 (min, 1));
  double found[3][4];
  gsize i;

  _mm256_storeu_pd (found[0], widen_floats (largest));
  _mm256_storeu_pd (found[1], widen_floats (_mm_add_epi32 (smallest, _mm_set1_epi32 (1))));
  _mm256_storeu_pd (found[2], sum);
  for (i = 0; i < 4; i++)
    ranges[i] = (AprColumnRange){ found[0][i], found[1][i] > 0 ? found[1][i] : INFINITY, found[2][i] };
}
