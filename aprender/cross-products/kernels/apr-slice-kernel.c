/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/kernels/apr-slice-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

static const AprSliceKernel *const table[APR_CPU_N_SETS] = {
  [APR_CPU_PORTABLE] = &apr_slice_kernel_portable,
#ifdef APR_KERNELS_X86
  [APR_CPU_AVX2] = &apr_slice_kernel_avx2,
  [APR_CPU_AVX512] = &apr_slice_kernel_avx512,
  [APR_CPU_AVX512_VNNI] = &apr_slice_kernel_avx512vnni,
#endif
#ifdef APR_KERNELS_AMX
  [APR_CPU_AMX] = &apr_slice_kernel_amx,
#endif
};

APR_DEFINE_KERNELS (AprSliceKernel, apr_slice_kernel, table)
