/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Digits of six bits are taken from anywhere in a number at once (VBMI). */
#define KERNEL apr_residue_kernel_avx512vnni
#define KERNEL_NAME "avx512vnni"

#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-dots-template.h"
