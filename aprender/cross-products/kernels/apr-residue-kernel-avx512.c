/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One instruction multiplies 32 numbers of 16 bits, and adds two by two. */
#define KERNEL apr_residue_kernel_avx512
#define KERNEL_NAME "avx512"
#define RATE 48
#define ADD_PAIRS(sum, a, b) (sum) = _mm512_add_epi32 (sum, _mm512_madd_epi16 (a, b))

/* In assembler, as GCC 12 puts sums into memory. */
#define ADD_PRODUCTS(sum, a, b)                                                                     \
 {                                                                                                  \
  __m512i product;                                                                                  \
                                                                                                    \
  __asm__("vpmaddwd %3, %2, %0\n\tvpaddd %0, %1, %1" : "=&v"(product), "+v"(sum) : "v"(a), "v"(b)); \
 }

#include "aprender/cross-products/kernels/apr-residue-kernel-512bit-words-template.h"
