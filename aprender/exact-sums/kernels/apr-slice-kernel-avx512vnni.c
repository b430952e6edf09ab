/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define KERNEL apr_slice_kernel_avx512vnni
#define KERNEL_NAME "avx512vnni"
#define MULTIPLY_ADD_BITS(sum, a, b) _mm512_madd52lo_epu64 (sum, a, b)

#include "aprender/exact-sums/kernels/apr-slice-kernel-512bit-template.h"
