/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define KERNEL apr_slice_kernel_avx512
#define KERNEL_NAME "avx512"

#include "aprender/exact-sums/kernels/apr-slice-kernel-512bit-template.h"
