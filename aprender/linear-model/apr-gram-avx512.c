/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>
#include <math.h>

#define KERNEL apr_gram_avx512
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
#define GREATER(a, b) _mm512_max_pd (a, b)
#define MAGNITUDE(a) _mm512_abs_pd (a)
#define IS_NAN(a) (_mm512_cmp_pd_mask (a, a, _CMP_UNORD_Q) != 0)
#define LESSER(a, b) _mm512_min_pd (a, b)
#define MAGNITUDE_UNLESS_0(a)                                                                       \
 _mm512_mask_blend_pd (_mm512_cmp_pd_mask (a, _mm512_setzero_pd (), _CMP_EQ_OQ), _mm512_abs_pd (a), \
                       _mm512_set1_pd (INFINITY))

#include "aprender/linear-model/apr-gram-template.h"
