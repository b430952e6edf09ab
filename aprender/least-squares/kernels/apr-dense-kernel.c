/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

static const AprDenseKernel *const table[APR_CPU_N_SETS] = {
  [APR_CPU_PORTABLE] = &apr_dense_kernel_portable,
#ifdef APR_KERNELS_ARM
  [APR_CPU_NEON] = &apr_dense_kernel_neon,
#endif
#ifdef APR_KERNELS_X86
  [APR_CPU_AVX2] = &apr_dense_kernel_avx2,
  [APR_CPU_AVX512] = &apr_dense_kernel_avx512,
#endif
};

APR_DEFINE_KERNELS (AprDenseKernel, apr_dense_kernel, table)
