/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_dense_kernel_avx512
#define KERNEL_NAME "avx512"
#define LANES 8
#define ROWS 8
#define SUBTRACT_PRODUCT(c, a, b) _mm512_fnmadd_pd (a, b, c)
#define FUSED
#define WIDEN(from) _mm512_cvtps_pd (_mm256_loadu_ps (from))

#include "aprender/least-squares/kernels/apr-dense-kernel-template.h"
