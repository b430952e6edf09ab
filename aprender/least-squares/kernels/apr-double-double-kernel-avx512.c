/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#define KERNEL apr_double_double_kernel_avx512
#define KERNEL_NAME "avx512"
#define LANES 8
#define ROWS 8
#define VECTORS 2
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd (a, b, c)

#include "aprender/least-squares/kernels/apr-double-double-kernel-template.h"
