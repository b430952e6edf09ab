/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <immintrin.h>
#include <math.h>

static inline void
count_lanes (const __m256d sum[8], gint64 *sums)
{
  double lanes[4];
  gsize i;

  for (i = 0; i < 8; i++)
    {
      _mm256_storeu_pd (lanes, sum[i]);
      sums[i] = (gint64) lanes[0] + (gint64) lanes[1] + (gint64) lanes[2] + (gint64) lanes[3];
    }
}

static inline void
count_each (__m256d sum, gint64 *to)
{
  double lanes[4];
  gsize i;

  _mm256_storeu_pd (lanes, sum);
  for (i = 0; i < 4; i++)
    to[i] += (gint64) lanes[i];
}

static inline double
add_lanes (__m256d sum)
{
  double lanes[4];

  _mm256_storeu_pd (lanes, sum);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
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
#define ADD_LANES(sum) add_lanes (sum)
#define TRANSPOSE_DOUBLES NULL
#define TRANSPOSE_FLOATS NULL

#include "aprender/cross-products/kernels/apr-slice-kernel-template.h"
