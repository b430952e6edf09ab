/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One instruction multiplies 32 numbers of 16 bits, and adds them to sums two by two. */
#define KERNEL apr_residue_kernel_avx512dot
#define KERNEL_NAME "avx512dot"
#define RATE 56

/* As GCC 12 copies every sum around the intrinsic. */
#define ADD_PAIRS(sum, a, b) __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define ADD_PRODUCTS(sum, a, b) ADD_PAIRS (sum, a, b)

#include "aprender/cross-products/kernels/apr-residue-kernel-512bit-words-template.h"
