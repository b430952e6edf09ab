/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>
#include <math.h>

#define KERNEL apr_gram_avx2
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
#define GREATER(a, b) _mm256_max_pd (a, b)
#define MAGNITUDE(a) _mm256_andnot_pd (_mm256_set1_pd (-0.0), a)
#define IS_NAN(a) (_mm256_movemask_pd (_mm256_cmp_pd (a, a, _CMP_UNORD_Q)) != 0)
#define LESSER(a, b) _mm256_min_pd (a, b)
#define MAGNITUDE_UNLESS_0(a)                                \
 _mm256_blendv_pd (MAGNITUDE (a), _mm256_set1_pd (INFINITY), \
                   _mm256_cmp_pd (a, _mm256_setzero_pd (), _CMP_EQ_OQ))

#include "aprender/linear-model/apr-gram-template.h"
