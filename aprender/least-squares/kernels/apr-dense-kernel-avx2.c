/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_dense_kernel_avx2
#define KERNEL_NAME "avx2"
#define LANES 4
#define ROWS 4
#define FUSED_VECTORS 3
#define SUBTRACT_PRODUCT(c, a, b) _mm256_fnmadd_pd (a, b, c)
#define FUSED
#define WIDEN(from) _mm256_cvtps_pd (_mm_loadu_ps (from))

#include "aprender/least-squares/kernels/apr-dense-kernel-template.h"
