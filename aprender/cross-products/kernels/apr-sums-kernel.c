/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/kernels/apr-sums-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

/* Which kernel serves which shape, for each family of processors. Residues are for rows without weights; what is
 * narrower or shorter, and what residues leave, is for bytes or slices. The limits are where both took as long, on an
 * AMD Zen 4 for those that it has. */
static const AprSumsKernel *const table[APR_CPU_N_SETS] = {
  [APR_CPU_PORTABLE] = &(const AprSumsKernel){ "portable", &apr_slice_kernel_portable, NULL, NULL, 0, 0 },
#ifdef APR_KERNELS_X86
  /* From Haswell and Zen on: slices in FMA, residues in products of 16 bits. */
  [APR_CPU_AVX2] =
    &(const AprSumsKernel){ "avx2", &apr_slice_kernel_avx2, NULL, &apr_residue_kernel_avx2, 192, 45 },
  /* Skylake's servers: their FMA is twice as wide, and residues bring nothing. */
  [APR_CPU_AVX512] = &(const AprSumsKernel){ "avx512", &apr_slice_kernel_avx512, NULL, NULL, 0, 0 },
  /* Ice Lake's and later servers, Zen 4 and later: residues in products of bytes. */
  [APR_CPU_AVX512_VNNI] = &(const AprSumsKernel){ "avx512vnni", &apr_slice_kernel_avx512, NULL,
                                                  &apr_residue_kernel_avx512vnni, 192, 45 },
#endif
#ifdef APR_KERNELS_AMX
  /* Sapphire Rapids' servers and later: products of matrices of bytes. */
  [APR_CPU_AMX] = &(const AprSumsKernel){ "amx", &apr_slice_kernel_avx512, &apr_byte_kernel_amx, NULL, 0, 0 },
#endif
};

APR_DEFINE_KERNELS (AprSumsKernel, apr_sums_kernel, table)
