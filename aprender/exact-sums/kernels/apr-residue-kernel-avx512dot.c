/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Digits of six bits are shifted to their places. */
#define KERNEL apr_residue_kernel_avx512dot
#define KERNEL_NAME "avx512dot"

#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-dots-template.h"
