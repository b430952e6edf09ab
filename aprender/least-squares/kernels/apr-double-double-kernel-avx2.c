/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_double_double_kernel_avx2
#define KERNEL_NAME "avx2"
#define LANES 4
#define ROWS 4
#define VECTORS 2
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_pd (a, b, c)

#include "aprender/least-squares/kernels/apr-double-double-kernel-template.h"
